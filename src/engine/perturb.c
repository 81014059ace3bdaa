/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perturbation (time.md rule 13): extra delay = hash(seed, site, agent, that agent's event number).
 * Most events are left alone; some are delayed a little, few by a lot, so that both near misses and
 * long overtakings come up.
 */
#include "tile/tile.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint32_t wg_perturb_draw(uint64_t seed, wg_site site, unsigned agent, uint64_t event)
{
    uint64_t h = mix(mix(seed + UINT64_C(0x9E3779B97F4A7C15)) ^ (uint64_t)site << 56 ^ (uint64_t)agent << 48 ^ event);
    uint32_t kind = (uint32_t)(h & 31);
    uint32_t amount = (uint32_t)(h >> 32);
    if (kind < 20)
        return 0;
    if (kind < 30)
        return 1 + amount % 7;
    return kind == 30 ? 8 + amount % 56 : 64 + amount % 448;
}
