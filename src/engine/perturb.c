/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perturbation (time.md rule 13): extra delay = hash(seed, site, agent, that agent's event number).
 * Most events are not delayed; some are delayed a little, a few by a lot, so that both near misses and
 * long overtaking occur.
 *
 * Why no delay causes a timing that the pages forbid, site by site (test_race_delays checks them against the detector):
 *
 *     accept, FIFO take      a thread's instructions stay in order, and no page says how soon one passes
 *     travel                 a queue's requests stay in order (wg_memory_emit); Scalar Unit: last_reach
 *     complete: unpackers    one queue each, in order; a bank that is given without waiting is not delayed
 *               Matrix Unit  one-cycle instructions are not delayed; writes of a Dst block, of Src, and bank flips land in
 *                            order; issue gaps last until the write has landed; the Vector Unit's access waits for it even
 *                            three instructions later (wg_matrix_settles)
 *               Vector Unit  in order; only the time of completion is delayed
 *               packers      in order, each
 *               Scalar Unit  answers in order
 *               Config. Unit RDCFG's result stays in its stage; WH: the thread waits for it
 *               Mover        one transfer at a time
 *     NoC                    packets of one tile leave in order (network.c)
 */
#include "engine/delay.h"
#include "machine/device.h"
#include "machine/fast.h"
#include "machine/sized.h"
#include "report/emit.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t draw(uint64_t seed, wg_site site, unsigned agent, uint64_t event)
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

uint32_t wg_perturb_delay(wg_tile *t, wg_site site, unsigned agent, uint64_t event)
{
    uint32_t cycles = 0;
    if (t->delay) {
        wg_delay key = {.event = event, .site = (uint8_t)site, .agent = (uint8_t)agent};
        const wg_delay *found = bsearch(&key, t->delay, t->delays, sizeof key, wg_delay_order);
        cycles = found ? found->cycles : 0;
    } else {
        cycles = draw(t->seed, site, agent, event);
    }
    if (cycles)
        WG_EMIT(t, WG_EV_DELAYED, agent, .a = event, .b = cycles, .c = site);
    return cycles;
}

/* The caller's list; own[] has room for it. */
static wg_status take_delays(wg_device *dev, const wg_delay *delays, size_t count, wg_delay *own)
{
    for (size_t i = 0; i < count; i++) {
        if (!wg_take_sized(&own[i], sizeof *own, delays, i, offsetof(wg_delay, tile)))
            return wg_fail(dev, WG_ERR_ARGUMENT, "wg_delay.struct_size is %u, which is not that of any version",
                           wg_size_given(delays));
        if (own[i].site >= WG_SITE_COUNT || own[i].agent >= WG_AGENT_COUNT || own[i].cycles > WG_MAX_DELAY)
            return wg_fail(dev, WG_ERR_ARGUMENT, "delay %zu names no site or agent, or is over %u cycles", i,
                           WG_MAX_DELAY);
    }
    return WG_OK;
}

wg_status wg_perturb_with(wg_device *dev, uint64_t seed, const wg_delay *delays, size_t count)
{
    wg_delay *own = NULL;
    if (delays) {
        own = malloc((count + 1) * sizeof *own); /* one more: a list without entries is a list */
        if (!own)
            return wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
        const wg_status status = take_delays(dev, delays, count, own);
        if (status != WG_OK) {
            free(own);
            return status;
        }
        qsort(own, count, sizeof *own, wg_delay_order);
    }
    free(dev->delay);
    dev->delay = own;
    dev->tile->delay = own;
    dev->tile->delays = own ? count : 0;
    dev->tile->seed = seed;
    dev->tile->perturbed = seed != 0 || count != 0;
    wg_fast_update(dev->tile);
    wg_threads_listen(&dev->tile->sched);
    wg_poll_reset(dev->tile);
    return WG_OK;
}
