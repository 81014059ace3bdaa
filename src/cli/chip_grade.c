/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a race of a chip file matter? For each race the whole chip is run again with a delay at one of its parties, as `explore`
 * does. grade.c is the same for the programs of one tile.
 */
#include <stdlib.h>

#include "cli/chip_explore.h"
#include "cli/metal_run.h"

enum {
    TIMINGS = 48,       /* that wg_plan() has for a race, twice: half of them may be at races */
    MOST_RACES = 256,   /* … for which there is room */
    OPENING = 20 * 1000 /* cycles that opening the file again counts as */
};

static bool left_out(void *session, const wg_race *race) { return wg_grade_leaves_out(session, race); }

static size_t count_races(const wg_chip_run *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->tiles; i++)
        for (size_t k = 0; r->tile[i].s.races && k < wg_races_count(r->tile[i].s.races); k++)
            count += !left_out(&r->tile[i].s, wg_races_at(r->tile[i].s.races, k));
    return count;
}

/* Why no race of this run gets a grade; NULL: they do. */
static const char *reason_against(const wg_chip_run *r, uint64_t budget)
{
    if (r->ended != WG_ENDED_DONE && r->ended != WG_ENDED_UNTIL)
        return "the run does not end by itself";
    if (r->of_cluster)
        return "chips of a cluster are not run again";
    if (!wg_metal_as_expected(r->metal))
        return "the program's results are wrong already";
    if (r->saved.file)
        return "the run began with a snapshot";
    return budget ? NULL : "--verify 0";
}

/* The unperturbed run, whose sites the delays are at. */
static bool run_base(wg_chip_explorer *x, wg_sites **sites)
{
    static const wg_delay none;
    for (size_t i = 0; i < x->base->tiles; i++)
        if (!(sites[i] = wg_sites_new())) {
            wg_textf(x->error, "waitgate: out of memory\n");
            return false;
        }
    x->limit = x->base->file.max_cycles;
    if (!wg_chip_timing(x, 0, &none, 0, sites, &x->base_result))
        return false;
    const wg_exploration base = {.base = x->base_result.outcome};
    x->limit = wg_exploration_limit(&base);
    return true;
}

static bool run_timings(wg_chip_explorer *x, uint64_t budget, bool clocked)
{
    uint64_t spent = 0;
    for (size_t i = 0; i < x->at_races && spent < budget; i++) {
        const wg_trial *t = &x->trial[i];
        const size_t k = t->race - 1;
        wg_chip_result result;
        if (x->race[k].witness)
            continue;
        if (!wg_chip_timing(x, 0, &t->delay, 1, NULL, &result))
            return false;
        spent += OPENING + x->base->tiles * result.outcome.cycles;
        const wg_outcome *o = &result.outcome, *base = &x->base_result.outcome;
        const bool shows = wg_outcome_shows(o, base, clocked);
        x->race[k].tried++;
        x->race[k].witness = shows ? t : NULL;
        x->race[k].unclear |= !shows && !wg_outcome_same(o, base);
        if (shows || !x->race[k].unclear)
            wg_races_grade(x->base->tile[x->race[k].tile].s.races, x->race[k].race, (uint32_t)x->race[k].tried,
                           shows ? &t->delay : NULL);
        else
            wg_races_ungraded(x->base->tile[x->race[k].tile].s.races, x->race[k].race, WG_UNGRADED_CLOCK);
    }
    return true;
}

static bool any_clocked(wg_sites *const *sites, size_t tiles)
{
    bool any = false;
    for (size_t i = 0; i < tiles; i++)
        any |= wg_sites_clocked(sites[i]);
    return any;
}

static void give_reasons(wg_chip_run *r, const char *reason)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].s.races)
            wg_races_ungraded(r->tile[i].s.races, SIZE_MAX, reason);
}

bool wg_chip_grade_races(wg_chip_run *r, wg_text *error)
{
    const size_t count = count_races(r), runs = TIMINGS * (count < MOST_RACES ? count : MOST_RACES);
    uint64_t budget = 0;
    for (size_t i = 0; i < r->tiles; i++)
        budget = r->tile[i].s.verify_cycles > budget ? r->tile[i].s.verify_cycles : budget;
    const char *against = reason_against(r, budget);
    if (!count || against) {
        give_reasons(r, against);
        return true;
    }
    wg_chip_explorer x = {.args = r->args, .base = r, .error = error, .registers = true};
    wg_sites **sites = wg_calloc(r->tiles + 1, sizeof *sites);
    bool ok = sites != NULL, clocked = false;
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    ok = ok && wg_chip_regions(&x) && run_base(&x, sites) && wg_chip_plan_timings(&x, sites, left_out, runs, 1) &&
         run_timings(&x, budget, (clocked = any_clocked(sites, r->tiles)));
    if (ok)
        give_reasons(r, WG_UNGRADED_UNTRIED);
    for (size_t i = 0; sites && i < r->tiles; i++)
        wg_sites_free(sites[i]);
    free(sites);
    wg_chip_timings_end(&x);
    return ok;
}
