/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Superfluous waits of a chip's programs (waits.h): the whole chip runs again, with a wait changed in every tile that runs its
 * program.
 */
#include <stdlib.h>

#include "cli/again.h"
#include "cli/chip_internal.h"
#include "cli/waits.h"

static bool judged(const wg_chip_run *r, size_t tile) { return r->tile[tile].s.races; }

/* The file again, under check, with this seed. */
static bool run_again(wg_chip_run *v, const wg_chip_run *r, uint64_t seed, wg_text *error)
{
    return wg_chip_open_again(v, r, seed, NULL, 0, wg_again_limit(wg_grid_cycle(r->grid)), error);
}

static bool collect(void *of, wg_waits *w, uint64_t seed, wg_text *error)
{
    wg_chip_run *r = of, v;
    wg_waits_watch *watch = wg_calloc(r->tiles + 1, sizeof *watch);
    bool ok = run_again(&v, r, seed, error) && watch;
    for (size_t i = 0; ok && i < r->tiles; i++)
        ok = !judged(r, i) || wg_waits_watch_begin(&watch[i], w, &r->tile[i].s, v.tile[i].s.dev);
    ok = ok && wg_chip_drive(&v, error);
    for (size_t i = 0; watch && i < r->tiles; i++)
        if (judged(r, i) && !wg_waits_watch_end(&watch[i]))
            ok = false;
    wg_chip_end(&v);
    free(watch);
    return ok;
}

/* What programs leave: L1 and registers of their tiles, and what the file dumps from others. */
static uint64_t results(wg_chip_run *v)
{
    uint64_t h = 0;
    for (size_t i = 0; i < v->tiles; i++)
        h = wg_outcome_registers(v->tile[i].s.dev, wg_outcome_mix(h, wg_outcome_l1(v->tile[i].s.dev)));
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
static bool as_good(const wg_chip_run *v, const wg_chip_run *r)
{
    bool good = v->ended == r->ended && wg_card_finding_count(v->card) <= wg_card_finding_count(r->card);
    for (size_t i = 0; good && i < r->tiles; i++) {
        const wg_session *now = &v->tile[i].s, *before = &r->tile[i].s;
        good = wg_finding_count(now->dev) <= wg_finding_count(before->dev);
        if (good && judged(r, i))
            good = !wg_waits_any_race(now) && wg_races_forgotten(now->races) <= wg_races_forgotten(before->races);
    }
    return good;
}

static wg_wait_outcome run_changed(void *of, const wg_wait_change *c, uint64_t seed, wg_text *error)
{
    wg_chip_run *r = of, v;
    const wg_wait_site *site = c->site;
    wg_wait_outcome o = {0};
    wg_wait_changed *done = wg_calloc(r->tiles + 1, sizeof *done);
    bool ok = run_again(&v, r, seed, error) && done, changed = !site;
    for (size_t i = 0; ok && site && i < r->tiles; i++)
        if (judged(r, i) && site->core < WG_CORES && site->program && r->tile[i].s.elf[site->core] == site->program)
            ok = changed = wg_wait_change_code(v.tile[i].s.dev, c, &done[i]);
    if (ok && changed && wg_chip_drive(&v, error)) {
        o.ran = true;
        o.cycles = wg_grid_cycle(v.grid);
        for (size_t i = 0; i < v.tiles; i++)
            if (v.tile[i].s.races)
                wg_races_end(v.tile[i].s.races, o.cycles, v.ended == WG_ENDED_DONE);
        o.good = as_good(&v, r);
        for (size_t i = 0; i < v.tiles; i++)
            wg_wait_restore_code(v.tile[i].s.dev, &done[i]);
        o.results = o.good ? results(&v) : 0;
    }
    wg_chip_end(&v);
    free(done);
    return o;
}

bool wg_chip_judge_waits(wg_chip_run *r, wg_text *error)
{
    wg_waits_of of = {.of = r, .cycles = wg_grid_cycle(r->grid), .collect = collect, .run = run_changed};
    if (!r->args->value[WG_OPT_WAITS])
        return true;
    for (size_t i = 0; i < r->tiles; i++)
        if (judged(r, i)) {
            of.s = of.s ? of.s : &r->tile[i].s;
            if (wg_waits_any_race(&r->tile[i].s))
                of.why_not = "the program has races; what a wait is for shows only without them";
        }
    if (r->ended != WG_ENDED_DONE && r->ended != WG_ENDED_UNTIL)
        of.why_not = "the run does not end by itself";
    else if (r->metal)
        of.why_not = "the host loads programs of tt-metal while it runs";
    if (of.s)
        r->waits = wg_waits_judged(&of, error);
    else
        wg_textf(error, "waitgate: --waits: no Tensix tile of %s runs a program\n", r->file.name);
    return r->waits;
}
