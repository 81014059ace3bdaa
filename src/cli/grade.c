/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a race matter? For each race the program is run again with a delay at one of its parties, as `explore` does. If
 * such a run leaves other values in memory or registers, or ends differently, the race is graded wrong, with the delay
 * as its witness; otherwise it is graded unordered.
 */
#include "cli/again.h"
#include "cli/meter.h"
#include "cli/explore.h"

#include <stdlib.h>

enum { TIMINGS = 48 /* that wg_plan() has for a race, twice: half of them may be at races */ };

typedef struct grading {
    wg_session *s;
    wg_session v; /* the same program again */
    wg_range range;
    wg_exploration x;
    uint64_t spent; /* cycles */
    bool clocked;
    uint32_t *tried;
    bool *found, *unclear;
} grading;

/* Runs the program, and records everything that it leaves behind. */
static bool run(void *session, wg_outcome *out)
{
    if (!wg_explore_run(session, out))
        return false;
    out->others = wg_outcome_registers(((wg_session *)session)->dev, out->others);
    return true;
}

bool wg_grade_leaves_out(wg_session *s, const wg_race *race)
{
    return race->explained_by || wg_race_check(race->kind) != WG_CHECK_RACE || wg_check_ignores(s, race);
}

static bool left_out(void *session, const wg_race *race) { return wg_grade_leaves_out(session, race); }

static bool any_to_grade(wg_session *s)
{
    for (size_t i = 0; i < wg_races_count(s->races); i++)
        if (!left_out(s, wg_races_at(s->races, i)))
            return true;
    return false;
}

/* The unperturbed run, whose sites the delays are at. False: the host failed. */
static bool run_base(grading *g, wg_sites *sites, wg_text *error)
{
    int id;
    wg_outcome base = {0};
    wg_unobserve(g->v.dev, g->v.races_observer);
    if (wg_observe(g->v.dev, WG_SITES_EVENTS, wg_sites_event, sites, &id) != WG_OK ||
        wg_perturb_with(g->v.dev, 0, NULL, 0) != WG_OK || !run(&g->v, &base)) {
        wg_textf(error, "waitgate: %s\n", wg_error(g->v.dev));
        return false;
    }
    wg_unobserve(g->v.dev, id);
    wg_exploration_base(&g->x, &base);
    g->v.max_cycles = wg_exploration_limit(&g->x);
    g->clocked = wg_sites_clocked(sites);
    return true;
}

static bool run_timings(grading *g, wg_text *error)
{
    for (size_t i = 0; i < g->x.at_races && g->spent < g->s->verify_cycles; i++) {
        const wg_trial *t = &g->x.trial[i];
        const size_t race = t->race - 1;
        wg_outcome outcome;
        if (g->found[race])
            continue;
        if (!wg_exploration_once(&g->x, 0, &t->delay, 1, &outcome)) {
            wg_textf(error, "waitgate: %s\n", wg_error(g->v.dev));
            return false;
        }
        g->spent += outcome.cycles;
        g->tried[race]++;
        g->found[race] = wg_outcome_shows(&outcome, &g->x.base, g->clocked);
        g->unclear[race] |= !g->found[race] && !wg_outcome_same(&outcome, &g->x.base);
        if (g->found[race] || !g->unclear[race])
            wg_races_grade(g->s->races, race, g->tried[race], g->found[race] ? &t->delay : NULL);
        else
            wg_races_ungraded(g->s->races, race, WG_UNGRADED_CLOCK);
    }
    return true;
}

bool wg_grade_races(wg_session *s, wg_text *error)
{
    const size_t count = wg_races_count(s->races), runs = TIMINGS * (count < 256 ? count : 256);
    const bool ended = s->ended == WG_ENDED_DONE || s->ended == WG_ENDED_UNTIL;
    if (!s->verify_cycles || !ended || !any_to_grade(s)) {
        wg_races_ungraded(s->races, SIZE_MAX, ended ? "--verify 0" : "the run does not end by itself");
        return true;
    }
    grading g = {.s = s};
    wg_sites *sites = wg_sites_new();
    wg_meter meter = wg_meter_begin("looking for races that show", 0, s->verify_cycles);
    s->meter = &meter;
    g.tried = wg_calloc(count, sizeof *g.tried);
    g.found = wg_calloc(count, sizeof *g.found);
    g.unclear = wg_calloc(count, sizeof *g.unclear);
    bool ok = wg_again_begin(&g.v, s, 0, NULL, error) && sites && g.tried && g.found && g.unclear;
    if (ok) {
        g.range.bytes = wg_l1_bytes(g.v.dev);
        g.x = (wg_exploration){.dev = g.v.dev, .run = run, .user = &g.v, .range = &g.range, .ranges = 1};
        ok = wg_exploration_begin(&g.x, runs) && run_base(&g, sites, error);
    }
    if (ok) {
        wg_plan(&g.x, sites, s->races, left_out, s, runs, 1);
        ok = run_timings(&g, error);
        wg_races_ungraded(s->races, SIZE_MAX, WG_UNGRADED_UNTRIED);
    }
    wg_meter_end(&meter);
    s->meter = NULL;
    wg_exploration_end(&g.x);
    wg_again_end(&g.v);
    wg_sites_free(sites);
    free(g.tried);
    free(g.found);
    free(g.unclear);
    if (!ok && !error->size)
        wg_textf(error, "waitgate: out of memory\n");
    return ok;
}
