/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/again.h"

#include <stdlib.h>

/* A run that takes longer than this is considered stuck. */
enum { SLOWER = 4, SLOWER_AND = 100000 };

uint64_t wg_again_limit(uint64_t cycles)
{
    return cycles < (UINT64_MAX - SLOWER_AND) / SLOWER ? SLOWER * cycles + SLOWER_AND : UINT64_MAX;
}

bool wg_again_begin(wg_session *v, const wg_session *s, uint64_t seed, const wg_what_if *scaled, wg_text *error)
{
    *v = *s;
    v->dev = NULL;
    v->races = NULL;
    v->expect_holds = NULL;
    v->expect_found = NULL;
    v->inputs = (wg_inputs){0};
    v->desc.seed = seed;
    v->max_cycles = wg_again_limit(wg_cycle(s->dev));
    return wg_create(&v->desc, &v->dev) == WG_OK && (!scaled || wg_device_what_if(v->dev, scaled) == WG_OK) &&
           wg_session_load(v, error);
}

void wg_again_end(wg_session *v)
{
    for (size_t i = 0; v->expect_found && i < v->tasm.expects; i++)
        wg_text_free(&v->expect_found[i]);
    free(v->expect_found);
    free(v->expect_holds);
    free(v->inputs.list);
    wg_races_free(v->races);
    wg_destroy(v->dev);
}

uint64_t wg_again_hash(wg_device *dev)
{
    uint64_t h = 0, block[512];
    for (uint32_t at = 0; at + sizeof block <= wg_l1_bytes(dev); at += sizeof block) {
        wg_read(dev, at, block, sizeof block);
        for (size_t i = 0; i < sizeof block / sizeof *block; i++)
            h = wg_outcome_mix(h, block[i]);
    }
    return h;
}

uint64_t wg_again_registers(wg_device *dev, uint64_t h)
{
    static const struct {
        wg_space space;
        uint32_t first, count;
    } spaces[] = {{WG_SPACE_GPR, 0, 192},
                  {WG_SPACE_SEM_VALUE, 0, 8},
                  {WG_SPACE_DST, 0, 16384},
                  {WG_SPACE_LREG, 0, 8 * 32},
                  {WG_SPACE_CONFIG, 0, 180},
                  {WG_SPACE_CONFIG, 1 << 16, 180},
                  {WG_SPACE_THREAD_CONFIG, 0, 48},
                  {WG_SPACE_THREAD_CONFIG, 1 << 16, 48},
                  {WG_SPACE_THREAD_CONFIG, 2 << 16, 48}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (uint32_t k = 0; k < spaces[i].count; k++) {
            uint32_t value = 0;
            wg_peek(dev, spaces[i].space, spaces[i].first + k, &value);
            h = wg_outcome_mix(h, value);
        }
    return h;
}

bool wg_again_values_hold(wg_session *v)
{
    if (!wg_check_expectations(v))
        return false;
    for (size_t i = 0; v->has_tasm && i < v->tasm.expects; i++)
        if (v->tasm.expect[i].kind <= WG_EXPECT_MUTEX && !v->expect_holds[i])
            return false;
    return true;
}
