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

bool wg_again_values_hold(wg_session *v)
{
    if (!wg_check_expectations(v))
        return false;
    for (size_t i = 0; v->has_tasm && i < v->tasm.expects; i++)
        if (v->tasm.expect[i].kind <= WG_EXPECT_MUTEX && !v->expect_holds[i])
            return false;
    return true;
}
