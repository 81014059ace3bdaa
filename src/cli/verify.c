/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the remedies work? For each race the program is run again with its remedy inserted (patch.h), unperturbed and
 * under a few seeds, with its own race detector. The remedy is verified if in every such run the race is gone, no other
 * has appeared, the run ends as it should and the program's expectations of values hold; and, unless other races
 * remain, if all these runs leave the same L1. Other races that disappear with it have the same cause: they are shown
 * with this one.
 */
#include "cli/again.h"
#include "cli/meter.h"
#include "cli/patch.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 4 };

typedef struct trial {
    uint64_t cycles, l1;    /* l1: a hash */
    bool ran, good, others; /* others: other races remain */
} trial;

static bool same_party(const wg_patch *p, const wg_race_party *before, const wg_race_party *now)
{
    return before->agent == now->agent && before->thread == now->thread && before->core == now->core &&
           before->word == now->word && before->pc == wg_patch_original(p, now->pc);
}

static bool same_race(const wg_patch *p, const wg_race *before, const wg_race *now)
{
    if (before->kind != now->kind || before->has_a != now->has_a || before->space != now->space)
        return false;
    if (!before->has_a)
        return same_party(p, &before->b, &now->b);
    return (same_party(p, &before->a, &now->a) && same_party(p, &before->b, &now->b)) ||
           (same_party(p, &before->a, &now->b) && same_party(p, &before->b, &now->a));
}

/* Are the races of this run a subset of the original ones, without this race? */
static bool race_is_gone(const wg_session *s, const wg_session *v, const wg_patch *p, const wg_race *race, bool *others)
{
    for (size_t i = 0; i < wg_races_count(v->races); i++) {
        const wg_race *now = wg_races_at(v->races, i);
        bool known = false;
        if (wg_race_severity(now->kind) <= WG_SEVERITY_NOTE && wg_race_severity(race->kind) > WG_SEVERITY_NOTE)
            continue;
        for (size_t k = 0; k < wg_races_count(s->races) && !known; k++)
            known = wg_races_at(s->races, k) != race && same_race(p, wg_races_at(s->races, k), now);
        if (!known)
            return false;
        *others = true;
    }
    return true;
}

/* Clears gone[] for races that remain with this remedy. */
static void strike_out(const wg_session *s, const wg_session *v, const wg_patch *p, bool *gone)
{
    for (size_t k = 0; k < wg_races_count(s->races); k++)
        for (size_t i = 0; i < wg_races_count(v->races) && gone[k]; i++)
            gone[k] = !same_race(p, wg_races_at(s->races, k), wg_races_at(v->races, i));
}

/* gone[i]: race i was in none of the runs so far. */
static trial run_with(wg_session *s, const wg_race *race, uint64_t seed, bool *gone, wg_text *error)
{
    wg_session v;
    wg_patch patch = {0};
    trial t = {0};
    if (wg_again_begin(&v, s, seed, NULL, error) && wg_patch_apply(&patch, &v, s->races, race) &&
        wg_drive_silently(&v)) {
        bool ended = v.ended == WG_ENDED_DONE || v.ended == WG_ENDED_UNTIL || v.ended == s->ended;
        t.cycles = wg_cycle(v.dev);
        t.ran = true;
        t.good = ended && race_is_gone(s, &v, &patch, race, &t.others) && wg_again_values_hold(&v);
        t.l1 = t.good ? wg_outcome_l1(v.dev) : 0;
        strike_out(s, &v, &patch, gone);
    }
    wg_again_end(&v);
    wg_patch_free(&patch);
    return t;
}

/* Tries one remedy, within the budget; returns the outcome. */
static wg_remedy_is try_remedy(wg_session *s, const wg_race *race, uint64_t *spent, bool *gone, wg_text *error)
{
    trial first = {0};
    memset(gone, true, wg_races_count(s->races) * sizeof *gone);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        trial t = *spent < s->verify_cycles ? run_with(s, race, seed, gone, error) : (trial){0};
        *spent += t.cycles;
        if (!t.ran)
            return WG_REMEDY_SUGGESTED;
        if (!seed)
            first = t;
        if (!t.good || (t.l1 != first.l1 && !t.others && !first.others))
            return WG_REMEDY_NOT_ENOUGH;
    }
    return WG_REMEDY_VERIFIED;
}

bool wg_verify_races(wg_session *s, wg_text *error)
{
    uint64_t spent = 0;
    size_t complaints = error->size, count = wg_races_count(s->races);
    wg_meter meter = wg_meter_begin("trying remedies", 0, s->verify_cycles);
    s->meter = &meter;
    bool *gone = wg_calloc(count ? count : 1, sizeof *gone);
    for (size_t i = 0; gone && i < count && error->size == complaints; i++) {
        const wg_race *race = wg_races_at(s->races, i);
        if (!race->inserts || race->explained_by)
            continue;
        wg_remedy_is outcome = try_remedy(s, race, &spent, gone, error);
        if (outcome == WG_REMEDY_NOT_ENOUGH && wg_races_widen(s->races, i))
            outcome = try_remedy(s, race, &spent, gone, error);
        wg_races_tried(s->races, i, outcome);
        for (size_t k = 0; outcome == WG_REMEDY_VERIFIED && k < count; k++) {
            const wg_race *other = wg_races_at(s->races, k);
            if (k != i && gone[k] && !other->explains && !other->explained_by && wg_race_same_parties(race, other))
                wg_races_explain(s->races, i, k);
        }
    }
    wg_meter_end(&meter);
    s->meter = NULL;
    free(gone);
    return gone && error->size == complaints;
}
