/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate profile --what-if` of a cluster file: all chips run again, with costs scaled for each of their tiles. */
#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/cluster_run.h"

/*
 * The length of a run. A cluster stops at the end of a window; its work is over when the last core stops, if that ends the
 * run.
 */
static void core_stops(void *user, const wg_event *e)
{
    uint64_t *last = user;
    if (e->agent < WG_CORES && e->cycle + 1 > *last)
        *last = e->cycle + 1;
}

static bool watch(wg_cluster_job *v, uint64_t *last)
{
    bool ok = true;
    for (unsigned i = 0; i < v->file.chips; i++)
        for (size_t k = 0; ok && k < v->chip[i]->tiles; k++)
            ok = wg_observe(v->chip[i]->tile[k].s.dev, WG_EV_BIT(WG_EV_CORE_STATE), core_stops, last, NULL) == WG_OK;
    return ok;
}

/* `of_tile`: for the tiles of all chips; NULL: as they are. */
static bool run_again(wg_cluster_job *r, const wg_what_if *of_tile, wg_scaled_run *result, wg_text *error)
{
    const wg_what_if **scaled = of_tile ? wg_calloc(r->file.chips, sizeof *scaled) : NULL;
    uint64_t last = 0;
    size_t at = 0;
    wg_cluster_job v;
    for (unsigned i = 0; scaled && i < r->file.chips; i++) {
        scaled[i] = r->chip[i]->tiles ? of_tile + at : of_tile; /* a chip without programs: the same NoCs and DRAM */
        at += r->chip[i]->tiles;
    }
    bool ok = (!of_tile || scaled) && wg_cluster_open_again(&v, r, r->file.base.grid.seed, scaled, error);
    if (of_tile && !scaled) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    ok = ok && watch(&v, &last) && wg_cluster_drive(&v, error);
    if (ok) {
        result->cycles = v.ended == WG_ENDED_DONE ? last : wg_cluster_cycle(v.cluster);
        result->ended = v.ended;
        result->equal = v.ended == r->ended;
    }
    for (unsigned i = 0; ok && i < r->file.chips; i++)
        for (size_t k = 0; k < r->chip[i]->tiles; k++)
            result->equal &= wg_outcome_l1(v.chip[i]->tile[k].s.dev) == wg_outcome_l1(r->chip[i]->tile[k].s.dev);
    wg_cluster_end_run(&v, error);
    free(scaled);
    return ok;
}

static bool again(void *job, const wg_what_if *of_tile, wg_scaled_run *result, wg_text *error)
{
    return run_again(job, of_tile, result, error);
}

bool wg_cluster_what_if(wg_cluster_job *r, wg_text *error)
{
    wg_scaled_run unscaled = {.what = NULL};
    if (!r->args->value[WG_OPT_WHAT_IF])
        return true;
    if (!r->path.tiles) {
        wg_textf(error, "waitgate: --what-if: no tile of %s runs a program\n", r->file.base.name);
        return false;
    }
    const bool ok = run_again(r, NULL, &unscaled, error) && wg_what_if_run(&r->path, unscaled.cycles, again, r, error);
    r->what_if = r->profiled[0]->scaled;
    r->profiled[0]->scaled = NULL;
    return ok;
}

bool wg_cluster_profile_end(wg_cluster_job *r, wg_text *error)
{
    size_t tiles = 0, n = 0;
    for (unsigned i = 0; i < r->file.chips; i++)
        tiles += r->chip[i] && r->chip[i]->profiled ? r->chip[i]->tiles : 0;
    if (!tiles)
        return true;
    if (!(r->profiled = wg_calloc(tiles, sizeof(wg_session *)))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    for (unsigned i = 0; i < r->file.chips; i++)
        for (size_t k = 0; r->chip[i] && r->chip[i]->profiled && k < r->chip[i]->tiles; k++)
            r->profiled[n++] = r->chip[i]->profiled[k];
    r->path = (wg_profiled){r->profiled, (unsigned)tiles};
    return true;
}

void wg_cluster_profile_part(const wg_cluster_job *r, uint64_t *from, uint64_t *to)
{
    bool any = false;
    *from = *to = 0;
    for (unsigned i = 0; i < r->file.chips; i++) {
        uint64_t begin, end;
        if (!r->chip[i] || !r->chip[i]->profiled)
            continue;
        wg_chip_profile_part(r->chip[i], &begin, &end);
        if (begin >= end)
            continue;
        *from = any && *from < begin ? *from : begin;
        *to = any && *to > end ? *to : end;
        any = true;
    }
}
