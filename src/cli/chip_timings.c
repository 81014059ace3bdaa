/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip file under one timing of many, for chip_explore.c and chip_grade.c: result memory, the outcome of a run, and the
 * plan of the delays to try.
 *
 * Every run opens the file again, so it is the run that the printed command repeats.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/chip_explore.h"
#include "machine/device.h"

/* ---- Outcomes ---------------------------------------------------------------------------------------------- */

/* L1 of the tiles of a chip that run a program, or --result there; and what the file dumps from other tiles. */
static bool add_regions(wg_chip_explorer *x, const wg_chip_run *r)
{
    const unsigned chip = r->number;
    size_t most = x->regions + r->tiles;
    uint64_t address = 0, bytes = 0;
    const char *text = x->args->value[WG_OPT_RESULT], *colon = text ? strchr(text, ':') : NULL;
    for (size_t i = 0, given = 0; i < x->args->givens; i++)
        if (x->args->given[i].option == WG_OPT_RESULT && given++) {
            wg_textf(x->error, "waitgate: --result: a chip file takes one\n");
            return false;
        }
    if (text && (!colon || !wg_parse_number(text, (size_t)(colon - text), &address) ||
                 !wg_parse_number(colon + 1, strlen(colon + 1), &bytes) || !bytes)) {
        wg_textf(x->error, "waitgate: --result: `%s` is not ADDR:LEN\n", text);
        return false;
    }
    for (size_t i = 0; i < r->file.tiles; i++)
        most += r->file.tile[i].dumps * r->file.tile[i].places;
    wg_chip_region *more = wg_realloc(x->region, (most + 1) * sizeof *more);
    if (!more) {
        wg_textf(x->error, "waitgate: out of memory\n");
        return false;
    }
    x->region = more;
    for (size_t i = 0; i < r->tiles; i++) {
        const uint32_t l1 = wg_l1_bytes(r->tile[i].s.dev);
        if (address > l1 || bytes > l1 - address) {
            wg_textf(x->error, "waitgate: --result: `%s` is not within L1 (0x%x bytes)\n", text, l1);
            return false;
        }
        more[x->regions++] = (wg_chip_region){chip, r->tile[i].x, r->tile[i].y, address, text ? bytes : l1, NULL};
    }
    for (size_t i = 0; i < r->file.tiles; i++)
        for (size_t k = 0; k < r->file.tile[i].places; k++) {
            const wg_chip_place at = r->file.tile[i].place[k];
            for (size_t d = 0; !wg_grid_peek(r->grid, at.x, at.y) && d < r->file.tile[i].dumps; d++)
                more[x->regions++] = (wg_chip_region){
                    chip, at.x, at.y, r->file.tile[i].dump[d].address, r->file.tile[i].dump[d].length, NULL};
        }
    return true;
}

bool wg_chip_regions(wg_chip_explorer *x) { return add_regions(x, x->base); }

/* Codes and places of findings, without times and counts: order does not matter. */
static uint64_t hash_findings(const wg_chip_run *r)
{
    uint64_t h = 0;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            const wg_device *dev = wg_grid_peek(r->grid, x, y);
            for (size_t i = 0; dev && i < wg_finding_count(dev); i++) {
                const wg_finding *f = wg_finding_at(dev, i);
                const uint64_t at = wg_outcome_mix(wg_outcome_mix(1 + wg_delay_tile(x, y), f->code), f->agent);
                h += wg_outcome_mix(at, f->has_pc ? f->pc : 0);
            }
        }
    for (size_t i = 0; i < wg_card_finding_count(r->card); i++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(r->card, i, &at);
        h += wg_outcome_mix(wg_outcome_mix(2, f->code), (uint64_t)at.x << 8 | at.y);
    }
    return h;
}

static void compare(const wg_chip_region *g, const uint8_t *found, wg_chip_result *out)
{
    for (uint64_t k = 0; k < g->bytes; k += 4) {
        uint32_t want = 0, is = 0, n = g->bytes - k < 4 ? (uint32_t)(g->bytes - k) : 4;
        memcpy(&want, g->expected + k, n);
        memcpy(&is, found + k, n);
        if (want != is && out->words++ < WG_DIFFERENT_WORDS)
            out->word[out->words - 1] = (wg_chip_word){g->chip, g->x, g->y, g->address + k, want, is};
    }
}

/* The result memory of a chip. The first run's is kept. False: out of memory. */
static bool add_memory(wg_chip_explorer *x, wg_chip_run *r, wg_chip_result *out)
{
    wg_outcome *o = &out->outcome;
    for (size_t i = 0; i < x->regions; i++) {
        wg_chip_region *g = &x->region[i];
        if (g->chip != r->number)
            continue;
        uint8_t *found = wg_malloc((size_t)g->bytes);
        if (!found || wg_grid_read(r->grid, g->x, g->y, g->address, found, (size_t)g->bytes) != WG_OK) {
            wg_textf(x->error, "waitgate: %s\n", found ? wg_grid_error(r->grid) : "out of memory");
            free(found);
            return false;
        }
        if (!g->expected) {
            g->expected = found;
            continue;
        }
        if (memcmp(g->expected, found, (size_t)g->bytes)) {
            uint64_t h = ~(uint64_t)i; /* no byte makes it zero */
            for (uint64_t k = 0; k < g->bytes; k++)
                h = wg_outcome_mix(h, found[k]);
            o->memory += h;
            compare(g, found, out);
        }
        free(found);
    }
    return true;
}

static uint8_t ended_as(wg_ended ended) { return (uint8_t)(ended == WG_ENDED_UNTIL ? WG_ENDED_DONE : ended); }

bool wg_chip_outcome(wg_chip_explorer *x, wg_chip_run *r, wg_chip_result *out)
{
    wg_outcome *o = &out->outcome;
    *out = (wg_chip_result){.outcome = {.valid = true, .cycles = wg_grid_cycle(r->grid), .findings = hash_findings(r)}};
    o->ended = ended_as(r->ended);
    if (!add_memory(x, r, out))
        return false;
    for (size_t i = 0; x->registers && i < r->tiles; i++)
        o->others = wg_outcome_registers(r->tile[i].s.dev, o->others);
    return true;
}

/* The outcome of a cluster's run that has ended. */
static bool outcome_of(wg_chip_explorer *x, wg_cluster_job *v, wg_chip_result *out)
{
    *out = (wg_chip_result){.outcome = {.valid = true, .cycles = wg_cluster_cycle(v->cluster)}};
    out->outcome.ended = ended_as(v->ended);
    for (unsigned i = 0; i < v->file.chips; i++) {
        const uint64_t findings = hash_findings(v->chip[i]);
        out->outcome.findings += findings ? wg_outcome_mix(i, findings) : 0;
        if (!add_memory(x, v->chip[i], out))
            return false;
    }
    return true;
}

/* A run of the cluster with this seed; of the first one, result memory is found and kept. */
static bool run_cluster(wg_chip_explorer *x, const uint64_t *seed, wg_chip_result *out)
{
    wg_cluster_job v;
    bool ok = wg_cluster_open_unseen(&v, x->args, seed, x->limit, NULL, x->error);
    for (unsigned i = 0; ok && !x->base_result.outcome.valid && i < v.file.chips; i++)
        ok = add_regions(x, v.chip[i]);
    ok = ok && wg_cluster_drive(&v, x->error) && outcome_of(x, &v, out);
    wg_cluster_end_run(&v, x->error);
    return ok;
}

bool wg_cluster_explored(wg_chip_explorer *x)
{
    const wg_exploration none = {.base = {.valid = false}};
    const bool limited = x->limit != 0;
    x->limit = limited ? x->limit : wg_exploration_limit(&none);
    if (!run_cluster(x, NULL, &x->base_result))
        return false;
    const wg_outcome *o = &x->base_result.outcome;
    if (o->ended == WG_ENDED_LIMIT || o->ended == WG_ENDED_INTERRUPT) {
        wg_textf(x->error,
                 "waitgate: the unperturbed run does not end within %llu cycles; give an `until` condition or a larger "
                 "--max-cycles\n",
                 (unsigned long long)o->cycles);
        return false;
    }
    const wg_exploration base = {.base = *o};
    x->limit = limited ? x->limit : wg_exploration_limit(&base);
    return true;
}

/* Delays of a tile, into the list of the chip. */
typedef struct collector {
    wg_delay_list *list;
    uint16_t tile;
} collector;
static void collect(void *user, const wg_event *event)
{
    const collector *c = user;
    size_t before = c->list->count;
    wg_shrink_collect(c->list, event);
    if (c->list->count > before)
        c->list->item[before].tile = c->tile;
}

bool wg_chip_timing(wg_chip_explorer *x, uint64_t seed, const wg_delay *delays, size_t count, wg_sites **sites,
                    wg_chip_result *out)
{
    wg_chip_run v;
    if (x->of_cluster)
        return run_cluster(x, &seed, out);
    bool ok = wg_chip_open_again(&v, x->base, seed, delays, count, x->limit, x->error);
    collector *c = ok && x->drawn ? wg_calloc(v.tiles + 1, sizeof *c) : NULL;
    for (size_t i = 0; c && ok && i < v.tiles; i++) {
        c[i] = (collector){x->drawn, wg_delay_tile(v.tile[i].x, v.tile[i].y)};
        ok = wg_observe(v.tile[i].s.dev, WG_EV_BIT(WG_EV_DELAYED), collect, &c[i], NULL) == WG_OK;
    }
    for (size_t i = 0; sites && ok && i < v.tiles; i++)
        ok = wg_observe(v.tile[i].s.dev, WG_SITES_EVENTS, wg_sites_event, sites[i], NULL) == WG_OK;
    ok = ok && wg_chip_drive(&v, x->error) && wg_chip_outcome(x, &v, out);
    wg_text_add(x->error, wg_text_of(&v.file.report), v.file.report.size);
    wg_chip_end(&v);
    free(c);
    return ok;
}

/* ---- The plan --------------------------------------------------------------------------------------------------- */

bool wg_chip_plan_timings(wg_chip_explorer *x, wg_sites **sites, wg_race_ignored_fn ignores, size_t runs, uint64_t seed)
{
    wg_chip_run *r = x->base;
    wg_chip_plan p = {.width = wg_grid_width(r->grid)};
    wg_chip_site *site = wg_calloc(r->tiles + 1, sizeof *site);
    for (size_t i = 0; site && i < r->tiles; i++)
        site[i] = (wg_chip_site){sites[i], r->tile[i].s.races, r->tile[i].s.tile, &r->tile[i].s, 0};
    bool ok = site && wg_plan_chip(&p, site, r->tiles, ignores, runs, seed) &&
              (x->race = wg_calloc(p.races + 1, sizeof *x->race));
    x->trial = p.trial;
    x->trials = p.trials;
    x->directed = p.directed;
    x->at_races = p.at_races;
    x->races = ok ? p.races : 0;
    for (size_t i = 0; ok && i < r->tiles; i++) {
        const size_t end = i + 1 < r->tiles ? site[i + 1].first_race : x->races;
        for (size_t k = site[i].first_race; k < end; k++) {
            x->race[k].tile = i;
            x->race[k].race = k - site[i].first_race;
        }
    }
    free(site);
    if (!ok)
        wg_textf(x->error, "waitgate: out of memory\n");
    return ok;
}

void wg_chip_timings_end(wg_chip_explorer *x)
{
    for (size_t i = 0; i < x->regions; i++)
        free(x->region[i].expected);
    free(x->region);
    free(x->trial);
    free(x->race);
}
