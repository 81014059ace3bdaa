/* SPDX-License-Identifier: Apache-2.0 */
/* Whole chips under many legal timings: the plan, which the command `explore` shares, and wg_grid_explore(). */
#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "explain/exploration.h"
#include "machine/device.h"

/* ---- the plan ----------------------------------------------------------------------------------------- */

/* The delays at one tile's races (`at_races`), or at its other sites. */
static void take(wg_chip_plan *p, const wg_exploration *of_tile, const wg_chip_site *t, bool at_races, size_t most)
{
    const size_t from = at_races ? 0 : of_tile->at_races, to = at_races ? of_tile->at_races : of_tile->directed;
    for (size_t i = from; i < to && p->trials < most; i++) {
        wg_trial *trial = &p->trial[p->trials++];
        *trial = of_tile->trial[i];
        const unsigned number = trial->delay.tile ? trial->delay.tile - 1u : t->number;
        trial->delay.tile = wg_delay_tile(number % p->width, number / p->width);
        if (trial->race)
            trial->race += (uint32_t)t->first_race;
    }
}

bool wg_plan_chip(wg_chip_plan *p, wg_chip_site *tile, size_t tiles, wg_race_ignored_fn ignores, size_t runs,
                  uint64_t seed)
{
    wg_exploration *of = calloc(tiles + 1, sizeof *of);
    wg_sites *by_number[WG_GRID_MAX_TILES] = {NULL};
    bool ok = of && (p->trial = calloc(runs + 1, sizeof *p->trial));
    for (size_t i = 0; ok && i < tiles; i++) {
        by_number[tile[i].number] = tile[i].sites;
        wg_sites_of_chip(tile[i].sites, by_number);
        tile[i].first_race = p->races;
        p->races += tile[i].races ? wg_races_count(tile[i].races) : 0;
    }
    for (size_t i = 0; ok && i < tiles; i++)
        if ((ok = (of[i].trial = calloc(runs + 1, sizeof *of[i].trial)) != NULL))
            wg_plan(&of[i], tile[i].sites, tile[i].races, ignores, tile[i].user, runs, seed);
    for (size_t i = 0; ok && i < tiles; i++)
        take(p, &of[i], &tile[i], true, (i + 1) * (runs + 1) / 2 / tiles);
    p->at_races = p->trials;
    const size_t left = p->trials < 3 * runs / 4 ? 3 * runs / 4 - p->trials : 0;
    for (size_t i = 0; ok && i < tiles; i++)
        take(p, &of[i], &tile[i], false, p->at_races + (i + 1) * left / tiles);
    p->directed = p->trials;
    while (ok && p->trials < runs)
        p->trial[p->trials++] = (wg_trial){.seed = seed++};
    for (size_t i = 0; of && i < tiles; i++)
        free(of[i].trial);
    for (size_t i = 0; i < tiles; i++)
        wg_sites_of_chip(tile[i].sites, NULL);
    free(of);
    return ok;
}

/* ---- wg_grid_explore() -------------------------------------------------------------------------------- */

typedef struct explored_tile {
    wg_device *dev;
    wg_sites *sites;
    wg_races *races;
    int detector, listener;
    uint8_t *expected; /* result memory of the unperturbed run */
} explored_tile;

typedef struct chip_explorer {
    wg_grid *grid;
    wg_explore_desc desc;
    explored_tile *tile; /* those that exist at the start */
    size_t tiles;
    wg_races_group *group;
    void *start; /* a snapshot */
    size_t start_bytes;
    uint8_t *found; /* result memory of the present run's tile */
    wg_outcome base;
    uint64_t limit;
} chip_explorer;

static wg_status no_memory(chip_explorer *e) { return wg_grid_fail(e->grid, WG_ERR_NO_MEMORY, "out of memory"); }

static bool code_at(void *dev, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_code_word(((wg_device *)dev)->tile, pc, word);
}

static void bytes_of(const chip_explorer *e, const explored_tile *t, uint32_t *address, uint32_t *bytes)
{
    const uint32_t l1 = wg_l1_bytes(t->dev);
    *address = e->desc.bytes ? e->desc.address : 0;
    *bytes = e->desc.bytes ? e->desc.bytes : l1;
}

/* Room, detectors and listeners for each tile. */
static wg_status prepare(chip_explorer *e)
{
    const unsigned width = wg_grid_width(e->grid), height = wg_grid_height(e->grid);
    uint32_t most = 0, address, bytes;
    e->tile = calloc((size_t)width * height, sizeof *e->tile);
    e->group = wg_races_group_new();
    if (!e->tile || !e->group)
        return no_memory(e);
    for (unsigned i = 0; i < width * height; i++) {
        wg_device *dev = wg_grid_peek(e->grid, i % width, i / width);
        if (!dev)
            continue;
        explored_tile *t = &e->tile[e->tiles++];
        *t = (explored_tile){.dev = dev, .detector = -1, .listener = -1};
        bytes_of(e, t, &address, &bytes);
        if (address > wg_l1_bytes(dev) || bytes > wg_l1_bytes(dev) - address)
            return wg_grid_fail(e->grid, WG_ERR_ARGUMENT, "the result memory is not in the L1 of the tile at (%u, %u)",
                                i % width, i / width);
        most = bytes > most ? bytes : most;
        t->expected = malloc(bytes + 1);
        t->sites = wg_sites_new();
        t->races = wg_races_new(dev->arch->id, code_at, dev);
        if (!t->expected || !t->sites || !t->races)
            return no_memory(e);
        wg_races_group_add(e->group, t->races, i);
        wg_status status = wg_observe(dev, wg_races_events(t->races), wg_races_event, t->races, &t->detector);
        if (status == WG_OK)
            status = wg_observe(dev, WG_SITES_EVENTS, wg_sites_event, t->sites, &t->listener);
        if (status != WG_OK)
            return wg_grid_fail(e->grid, status, "%s", wg_error(dev));
    }
    if (!e->tiles)
        return wg_grid_fail(e->grid, WG_ERR_ARGUMENT, "no tile of the chip has been used");
    e->start_bytes = wg_grid_snapshot_size(e->grid);
    e->start = malloc(e->start_bytes + 1);
    e->found = malloc(most + 1);
    return e->start && e->found ? wg_grid_snapshot(e->grid, e->start, e->start_bytes) : no_memory(e);
}

static void forget_observers(chip_explorer *e)
{
    for (size_t i = 0; i < e->tiles; i++) {
        explored_tile *t = &e->tile[i];
        wg_unobserve(t->dev, t->listener);
        wg_unobserve(t->dev, t->detector);
        t->listener = t->detector = -1;
    }
}

static void clear_findings(chip_explorer *e)
{
    for (unsigned y = 0; y < wg_grid_height(e->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(e->grid); x++)
            if (wg_grid_peek(e->grid, x, y))
                wg_findings_clear(wg_grid_peek(e->grid, x, y));
}

/* Result memory, findings and length of a run that has ended. The unperturbed one's memory is kept. */
static wg_status inspect(chip_explorer *e, wg_outcome *o)
{
    for (size_t i = 0; i < e->tiles; i++) {
        explored_tile *t = &e->tile[i];
        uint32_t address, bytes;
        bytes_of(e, t, &address, &bytes);
        uint8_t *to = e->base.valid ? e->found : t->expected;
        const wg_status status = wg_read(t->dev, address, to, bytes);
        if (status != WG_OK)
            return wg_grid_fail(e->grid, status, "%s", wg_error(t->dev));
        if (e->base.valid && memcmp(e->found, t->expected, bytes) != 0)
            o->memory |= 1;
    }
    for (unsigned y = 0; y < wg_grid_height(e->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(e->grid); x++) {
            const wg_device *dev = wg_grid_peek(e->grid, x, y);
            if (dev && wg_finding_count(dev))
                o->findings = wg_outcome_mix(wg_outcome_mix(o->findings, wg_delay_tile(x, y)), wg_findings_hash(dev));
        }
    o->cycles = wg_grid_cycle(e->grid);
    o->valid = true;
    return WG_OK;
}

static wg_status run(chip_explorer *e, wg_outcome *o)
{
    wg_stop stop = WG_STOP_CYCLES;
    const wg_status status = wg_grid_run(e->grid, e->limit, &stop);
    o->ended = (uint8_t)stop;
    return status == WG_OK ? inspect(e, o) : status;
}

static wg_status run_base(chip_explorer *e)
{
    wg_outcome base = {0};
    wg_status status = wg_grid_perturb(e->grid, 0);
    if (status == WG_OK)
        status = run(e, &base);
    if (status != WG_OK)
        return status;
    if (base.ended == WG_STOP_CYCLES)
        return wg_grid_fail(e->grid, WG_ERR_STATE, "the unperturbed run does not end within %llu cycles",
                            (unsigned long long)e->limit);
    for (size_t i = 0; i < e->tiles; i++)
        wg_races_end(e->tile[i].races, wg_grid_cycle(e->grid), base.ended == WG_STOP_DONE);
    e->base = base;
    if (!e->desc.max_cycles)
        e->limit = wg_exploration_limit(&(wg_exploration){.base = base});
    return WG_OK;
}

/* Runs once more from the start. */
static wg_status run_again(chip_explorer *e, const wg_trial *trial, wg_outcome *o)
{
    *o = (wg_outcome){0};
    wg_status status = wg_grid_restore(e->grid, e->start, e->start_bytes);
    clear_findings(e);
    if (status == WG_OK)
        status = wg_grid_perturb(e->grid, trial->seed);
    if (status == WG_OK && trial->directed) {
        wg_device *dev = wg_grid_peek(e->grid, wg_delay_x(trial->delay.tile), wg_delay_y(trial->delay.tile));
        if (dev && (status = wg_perturb_with(dev, 0, &trial->delay, 1)) != WG_OK)
            return wg_grid_fail(e->grid, status, "%s", wg_error(dev));
    }
    return status == WG_OK ? run(e, o) : status;
}

static bool tell(chip_explorer *e, size_t number, const wg_trial *trial, const wg_outcome *o, wg_grid_explored_fn fn,
                 void *user)
{
    const wg_explored timing = {.number = number,
                                .seed = trial->seed,
                                .delay = trial->directed ? &trial->delay : NULL,
                                .cycles = o->cycles,
                                .ended = (wg_stop)o->ended,
                                .memory = o->memory != e->base.memory,
                                .findings = o->findings != e->base.findings,
                                .stops = o->ended != e->base.ended,
                                .x = (uint8_t)(trial->directed ? wg_delay_x(trial->delay.tile) : 0),
                                .y = (uint8_t)(trial->directed ? wg_delay_y(trial->delay.tile) : 0)};
    return fn(user, e->grid, &timing);
}

static wg_status run_plan(chip_explorer *e, wg_grid_explored_fn fn, void *user)
{
    wg_chip_plan plan = {.width = wg_grid_width(e->grid)};
    wg_chip_site *site = calloc(e->tiles + 1, sizeof *site);
    for (size_t i = 0; site && i < e->tiles; i++)
        site[i] = (wg_chip_site){e->tile[i].sites, e->tile[i].races, e->tile[i].dev->tile->index, NULL, 0};
    wg_status status = WG_OK;
    if (!site || !wg_plan_chip(&plan, site, e->tiles, NULL, wg_explore_runs(&e->desc),
                               e->desc.first_seed ? e->desc.first_seed : 1))
        status = no_memory(e);
    for (size_t i = 0; status == WG_OK && i < plan.trials; i++) {
        wg_outcome o;
        status = run_again(e, &plan.trial[i], &o);
        if (status == WG_OK && !tell(e, i + 1, &plan.trial[i], &o, fn, user))
            break;
    }
    free(plan.trial);
    free(site);
    return status;
}

wg_status wg_grid_explore(wg_grid *grid, const wg_explore_desc *desc, wg_grid_explored_fn fn, void *user)
{
    chip_explorer e = {.grid = grid};
    if (desc)
        memcpy(&e.desc, desc, desc->struct_size < sizeof e.desc ? desc->struct_size : sizeof e.desc);
    if (!fn || !wg_explore_runs(&e.desc))
        return wg_grid_fail(grid, WG_ERR_ARGUMENT,
                            "wg_grid_explore() needs a callback, and not more runs than there are");
    e.limit = e.desc.max_cycles ? e.desc.max_cycles : wg_exploration_limit(&(wg_exploration){0});
    wg_status status = prepare(&e);
    if (status == WG_OK)
        status = run_base(&e);
    forget_observers(&e);
    if (status == WG_OK && tell(&e, 0, &(wg_trial){0}, &e.base, fn, user))
        status = run_plan(&e, fn, user);
    wg_status back = WG_OK;
    if (e.start) {
        back = wg_grid_restore(grid, e.start, e.start_bytes);
        clear_findings(&e);
        if (back == WG_OK)
            back = wg_grid_perturb(grid, 0);
    }
    for (size_t i = 0; i < e.tiles; i++) {
        wg_sites_free(e.tile[i].sites);
        wg_races_free(e.tile[i].races);
        free(e.tile[i].expected);
    }
    wg_races_group_free(e.group);
    free(e.tile);
    free(e.start);
    free(e.found);
    return status == WG_OK ? back : status;
}
