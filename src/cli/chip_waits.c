/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Superfluous waits of the programs of a chip or of the chips of a cluster (waits.h): all of it runs again, with a wait changed
 * in every tile that runs its program.
 */
#include <stdlib.h>

#include "cli/again.h"
#include "cli/cluster_run.h"
#include "cli/metal_run.h"
#include "cli/waits.h"

static bool judged(const wg_chip_run *r, size_t tile) { return r->tile[tile].s.races; }

/* What is judged. */
typedef struct subject {
    wg_chip_run *const *chip;
    unsigned chips;
    const wg_cluster_job *job; /* NULL: a chip alone */
} subject;

/* The same, once more. */
typedef struct again {
    subject of;
    wg_chip_run alone, *one;
    wg_cluster_job job;
    wg_wait_changed **changed; /* by chip and tile */
} again;

static uint64_t cycle_of(const subject *u) { return wg_grid_cycle(u->chip[0]->grid); }

/* Under check, with this seed. end_again() either way. */
static bool open_again(again *v, const subject *u, uint64_t seed, wg_text *error)
{
    bool ok;
    *v = (again){.of = {.chips = u->chips}};
    if (u->job) {
        ok = wg_cluster_open_again(&v->job, u->job, seed, NULL, error);
        v->of.chip = v->job.chip;
        v->of.job = &v->job;
    } else {
        ok = wg_chip_open_again(&v->alone, u->chip[0], seed, NULL, 0, wg_again_limit(cycle_of(u)), error);
        v->one = &v->alone;
        v->of.chip = &v->one;
    }
    ok = ok && (v->changed = wg_calloc(u->chips, sizeof *v->changed));
    for (unsigned i = 0; ok && i < u->chips; i++)
        ok = (v->changed[i] = wg_calloc(u->chip[i]->tiles + 1, sizeof **v->changed)) != NULL;
    return ok;
}

static bool drive_again(again *v, wg_text *error)
{
    const bool ok = v->of.job ? wg_cluster_drive(&v->job, error) : wg_chip_drive(&v->alone, error);
    for (unsigned i = 0; ok && v->of.job && i < v->of.chips; i++)
        v->of.chip[i]->ended = v->job.ended;
    return ok;
}

static void end_again(again *v, wg_text *error)
{
    for (unsigned i = 0; v->changed && i < v->of.chips; i++)
        free(v->changed[i]);
    free(v->changed);
    if (v->of.job)
        wg_cluster_end_run(&v->job, error);
    else
        wg_chip_end(&v->alone);
}

/* The programs of sites are those of the run that is reported, which lives longer. */
static void use_own_programs(const subject *u, wg_waits *w)
{
    for (size_t i = 0; i < w->count; i++) {
        wg_wait_site *site = &w->site[i];
        wg_elf *own = NULL;
        for (unsigned c = 0; site->program && !own && c < u->chips; c++)
            for (size_t k = 0; !own && k < u->chip[c]->elfs; k++)
                if (wg_wait_program_is(u->chip[c]->elf[k].elf, site->program))
                    own = u->chip[c]->elf[k].elf;
        site->program = own;
        for (unsigned c = 0; own && !site->foreign && c < u->chips; c++)
            site->foreign = wg_metal_is_firmware_file(u->chip[c], own);
    }
}

static bool collect(void *of, wg_waits *w, uint64_t seed, wg_text *error)
{
    const subject *u = of;
    again v;
    bool ok = open_again(&v, u, seed, error);
    wg_waits_watch **watch = wg_calloc(u->chips, sizeof *watch);
    ok = ok && watch;
    for (unsigned c = 0; ok && c < u->chips; c++) {
        const wg_chip_run *r = u->chip[c];
        ok = (watch[c] = wg_calloc(r->tiles + 1, sizeof **watch)) != NULL;
        for (size_t i = 0; ok && i < r->tiles; i++)
            ok = !judged(r, i) || wg_waits_watch_begin(&watch[c][i], w, &r->tile[i].s, &v.of.chip[c]->tile[i].s);
    }
    ok = ok && drive_again(&v, error);
    for (unsigned c = 0; watch && c < u->chips; c++) {
        for (size_t i = 0; watch[c] && i < u->chip[c]->tiles; i++)
            if (judged(u->chip[c], i) && !wg_waits_watch_end(&watch[c][i]))
                ok = false;
        free(watch[c]);
    }
    use_own_programs(u, w);
    end_again(&v, error);
    free(watch);
    return ok;
}

/* What programs leave: L1 and registers of their tiles, and what the file dumps from others. */
static uint64_t results(wg_chip_run *v)
{
    uint64_t h = 0;
    for (size_t i = 0; i < v->tiles; i++)
        h = wg_outcome_registers(v->tile[i].s.dev, wg_outcome_mix(h, wg_outcome_l1(v->tile[i].s.dev)));
    if (v->metal)
        h = wg_metal_results(v, h);
    for (size_t i = 0; i < v->file.tiles; i++) {
        const wg_chip_tiles *entry = &v->file.tile[i];
        for (size_t k = 0; k < entry->places; k++)
            for (size_t d = 0; !wg_grid_peek(v->grid, entry->place[k].x, entry->place[k].y) && d < entry->dumps; d++)
                for (uint64_t at = 0; at < entry->dump[d].length; at += 4) {
                    uint32_t word = 0;
                    wg_grid_read(v->grid, entry->place[k].x, entry->place[k].y, entry->dump[d].address + at, &word, 4);
                    h = wg_outcome_mix(h, word);
                }
    }
    return h;
}

/* Did it end as the unchanged program did, without a new report? */
static bool as_good(wg_chip_run *v, const wg_chip_run *r)
{
    bool good = v->ended == r->ended && wg_card_finding_count(v->card) <= wg_card_finding_count(r->card);
    for (size_t i = 0; good && i < r->tiles; i++) {
        wg_session *now = &v->tile[i].s;
        const wg_session *before = &r->tile[i].s;
        good = wg_finding_count(now->dev) <= wg_finding_count(before->dev);
        if (good && judged(r, i))
            good = !wg_waits_any_race(now);
    }
    return good;
}

/* Makes the change in every tile that runs the wait's program. False: it is out of reach. */
static bool change(again *v, const subject *u, const wg_wait_change *c)
{
    const wg_wait_site *site = c->site;
    bool changed = false;
    for (unsigned k = 0; k < u->chips; k++) {
        const wg_chip_run *r = u->chip[k];
        for (size_t i = 0; i < r->tiles; i++) {
            const bool loaded = site->core < WG_CORES && site->program &&
                                wg_wait_program_is(r->tile[i].s.elf[site->core], site->program),
                       launched = r->metal && site->made && wg_metal_runs(r, site->program);
            if (!judged(r, i) || (!loaded && !launched))
                continue;
            if (!wg_wait_change_code(v->of.chip[k]->tile[i].s.dev, c, &v->changed[k][i]))
                return false;
            changed = true;
        }
        if (r->metal && !site->made && wg_metal_runs(r, site->program)) {
            if (!wg_metal_change(v->of.chip[k], c))
                return false;
            changed = true;
        }
    }
    return changed;
}

static void restore(again *v)
{
    for (unsigned k = 0; k < v->of.chips; k++) {
        wg_chip_run *r = v->of.chip[k];
        for (size_t i = 0; i < r->tiles; i++)
            wg_wait_restore_code(r->tile[i].s.dev, &v->changed[k][i]);
        wg_metal_restore(r);
    }
}

static wg_wait_outcome run_changed(void *of, const wg_wait_change *c, uint64_t seed, wg_text *error)
{
    const subject *u = of;
    again v;
    wg_wait_outcome o = {0};
    const bool ok = open_again(&v, u, seed, error) && (!c->site || change(&v, u, c));
    if (ok && drive_again(&v, error)) {
        o.ran = o.good = true;
        o.cycles = cycle_of(&v.of);
        for (unsigned k = 0; k < u->chips; k++) {
            wg_chip_run *r = v.of.chip[k];
            for (size_t i = 0; i < r->tiles; i++)
                if (r->tile[i].s.races) {
                    wg_races_end(r->tile[i].s.races, o.cycles, r->ended == WG_ENDED_DONE);
                    o.forgotten += wg_races_forgotten(r->tile[i].s.races);
                }
            o.good = o.good && as_good(r, u->chip[k]);
        }
        restore(&v);
        for (unsigned k = 0; o.good && k < u->chips; k++)
            o.results = wg_outcome_mix(o.results, results(v.of.chip[k]));
    }
    end_again(&v, error);
    return o;
}

/* NULL: `error` says why. */
static wg_waits *judge(subject *u, const char *name, wg_text *error)
{
    wg_waits_of of = {.of = u, .cycles = cycle_of(u), .collect = collect, .run = run_changed};
    for (unsigned k = 0; k < u->chips; k++) {
        wg_chip_run *r = u->chip[k];
        for (size_t i = 0; i < r->tiles; i++)
            if (judged(r, i)) {
                of.s = of.s ? of.s : &r->tile[i].s;
                if (wg_waits_any_race(&r->tile[i].s))
                    of.why_not = "the program has races; what a wait is for shows only without them";
            }
        if (r->ended != WG_ENDED_DONE && r->ended != WG_ENDED_UNTIL)
            of.why_not = "the run does not end by itself";
    }
    if (of.s)
        return wg_waits_judged(&of, error);
    wg_textf(error, "waitgate: --waits: no Tensix tile of %s runs a program\n", name);
    return NULL;
}

bool wg_chip_judge_waits(wg_chip_run *r, wg_text *error)
{
    subject u = {.chip = &r, .chips = 1};
    if (!r->args->value[WG_OPT_WAITS])
        return true;
    r->waits = judge(&u, r->file.name, error);
    return r->waits;
}

bool wg_cluster_judge_waits(wg_cluster_job *r, wg_text *error)
{
    subject u = {.chip = r->chip, .chips = r->file.chips, .job = r};
    if (!r->args->value[WG_OPT_WAITS])
        return true;
    r->waits = judge(&u, r->file.base.name, error);
    return r->waits;
}
