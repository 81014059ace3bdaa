/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     record ──► replay ──► the same? ──► slower hosts: the same? ──► delays at each race ──► wrong, unordered, or no grade
 *
 * A race is wrong if with a delay the host reads something else, however long it waits, or if memory ends otherwise. Where a
 * slower host changes what is read, time alone does, and no race has a grade; words of L1 that it changes do not count. If cores
 * read the clock, words that differ by no more than the delay may be times, too, and registers do not count.
 */
#include "abi/abi_grade.h"

#include <stdlib.h>

enum {
    TIMINGS = 48,         /* that wg_plan() has for a race, twice: half of them may be at races */
    MOST_RACES = 256,     /* … for which there is room */
    LEAST_REPLAYS = 8,    /* that the budget must allow */
    PATIENCE = 50 * 1000, /* cycles for which a read that differs is repeated */
    SETTLING = 5 * 1000,  /* cycles after the last call, before memory is compared */
    MOST_TILES = 32,      /* of which L1 is compared by words; of more, as a whole */
    SLACK = 64            /* cycles by which a time differs beyond the delay */
};

/* What a replay is for. */
typedef enum purpose { BASE, SLOWER, TRIAL } purpose;

typedef struct grader {
    const wg_abi_replays *how;
    const wg_abi_graded *tile;
    wg_race_ignored_fn ignores;
    unsigned tiles, width;
    const wg_delay *delay; /* of this replay; NULL: none */
    wg_sites *sites[WG_GRID_MAX_TILES];
    bool listens, failed;                         /* failed: no memory */
    bool memory_counts, registers_count, unclear; /* unclear: words have differed that may be times */
    bool clocked;                                 /* cores have read the clock */
    uint32_t *l1[MOST_TILES];                     /* of each tile at the end of the base, in the grid's order … */
    uint8_t *time[MOST_TILES];                    /* … and which words of it depend on time */
    uint16_t number[MOST_TILES];                  /* of the tile */
    unsigned kept;                                /* tiles */
    wg_outcome base;
    uint64_t spent;
} grader;

void wg_abi_delay(const wg_delay_list *list, uint64_t seed, wg_device *dev, unsigned x, unsigned y)
{
    wg_delay *own = list->count ? malloc(list->count * sizeof *own) : NULL;
    size_t n = 0;
    for (size_t i = 0; own && i < list->count; i++)
        if (list->item[i].tile == wg_delay_tile(x, y))
            own[n++] = list->item[i];
    if (n)
        wg_perturb_with(dev, seed, own, n);
    free(own);
}

/* ---- One replay -------------------------------------------------------------------------------------------------- */

static void made(void *user, wg_device *dev, unsigned x, unsigned y)
{
    grader *g = user;
    const unsigned number = y * g->width + x;
    if (dev->tile->spec->kind != WG_TILE_TENSIX)
        return;
    if (g->delay && g->delay->tile == wg_delay_tile(x, y))
        g->failed |= wg_perturb_with(dev, 0, g->delay, 1) != WG_OK;
    if (!g->listens || g->sites[number])
        return;
    g->sites[number] = wg_sites_new();
    g->failed |= !g->sites[number] || wg_observe(dev, WG_SITES_EVENTS, wg_sites_event, g->sites[number], NULL) != WG_OK;
}

/* May two values of a word be times, of which one is later by the delay? */
static bool maybe_time(const grader *g, uint32_t a, uint32_t b)
{
    const uint32_t apart = a > b ? a - b : b - a;
    return g->clocked && g->delay && apart <= 2 * g->delay->cycles + SLACK;
}

/* L1 of a tile: keeps it, notes what depends on time, or returns a hash of the words that differ otherwise (0: none does). */
static uint64_t compare_l1(grader *g, unsigned k, unsigned number, wg_device *dev, purpose why)
{
    const uint32_t bytes = wg_l1_bytes(dev);
    uint32_t block[1024];
    uint64_t h = 0;
    if (why == BASE) {
        g->l1[k] = malloc(bytes);
        g->time[k] = calloc(bytes / 4, 1);
        g->failed |= !g->l1[k] || !g->time[k] || wg_read(dev, 0, g->l1[k], bytes) != WG_OK;
        g->number[k] = (uint16_t)number;
        g->kept = k + 1;
        return 0;
    }
    if (g->number[k] != number)
        return 1; /* a tile that the base has not used */
    for (uint32_t at = 0; at < bytes; at += sizeof block) {
        const uint32_t size = bytes - at < sizeof block ? bytes - at : (uint32_t)sizeof block;
        wg_read(dev, at, block, size);
        for (uint32_t i = 0; i < size / 4; i++) {
            const uint32_t word = at / 4 + i;
            if (block[i] == g->l1[k][word])
                continue;
            if (why == SLOWER)
                g->time[k][word] = 1;
            else if (!g->time[k][word] && !maybe_time(g, block[i], g->l1[k][word]))
                h = wg_outcome_mix(h, (uint64_t)word << 32 | block[i]);
            else
                g->unclear = true;
        }
    }
    return h;
}

static void inspect(grader *g, wg_grid *grid, purpose why, wg_outcome *out)
{
    g->unclear = false;
    out->memory = wg_dram_hash(&grid->dram);
    for (unsigned k = 0; k < grid->made_tiles && !g->failed; k++) {
        wg_device *dev = grid->tile[grid->made_at[k]];
        if (k < MOST_TILES && (why == BASE || k < g->kept))
            out->memory += compare_l1(g, k, grid->made_at[k], dev, why);
        else
            out->memory = wg_outcome_mix(out->memory, wg_outcome_l1(dev));
        out->others = wg_outcome_registers(dev, out->others);
        out->findings = wg_outcome_mix(out->findings, wg_findings_hash(dev));
    }
    out->cycles = wg_grid_cycle(grid);
    out->valid = true;
}

/* `ended` of the outcome: 0, or 1 + a hash of the read that differs. False: no memory. */
static bool replay(grader *g, purpose why, const wg_delay *delay, uint32_t slower, wg_outcome *out)
{
    const wg_card_desc desc = {.struct_size = sizeof desc, .grid = &g->how->grid};
    wg_card *card = NULL;
    *out = (wg_outcome){0};
    g->delay = delay;
    if (wg_card_create(&desc, &card) != WG_OK)
        return false;
    g->width = wg_grid_width(card->grid);
    card->grid->made = made;
    card->grid->made_user = g;
    const wg_abi_call *differs = wg_abi_record_replay(g->how->record, card, why == BASE ? 0 : PATIENCE, slower);
    out->ended = differs != NULL;
    if (!differs)
        wg_grid_advance(card->grid, SETTLING);
    inspect(g, card->grid, why, out);
    g->spent += out->cycles;
    wg_card_destroy(card);
    return !g->failed;
}

/* ---- Grades -------------------------------------------------------------------------------------------------------- */

static const char NO_MEMORY[] = "no memory";

/* The replay without delays; NULL: it repeats what the host has read, whatever the host's speed. */
static const char *base_differs(grader *g)
{
    static const uint32_t slower[] = {97, 1009};
    g->listens = true;
    if (!replay(g, BASE, NULL, 0, &g->base))
        return NO_MEMORY;
    g->listens = false;
    if (g->base.ended)
        return "a replay of the host's calls does not give the host the same bytes";
    for (size_t i = 0; i < WG_GRID_MAX_TILES; i++)
        g->clocked |= g->sites[i] && wg_sites_clocked(g->sites[i]);
    g->memory_counts = true;
    g->registers_count = !g->clocked;
    for (size_t i = 0; i < sizeof slower / sizeof *slower; i++) {
        wg_outcome o;
        if (!replay(g, SLOWER, NULL, slower[i], &o))
            return NO_MEMORY;
        if (o.ended)
            return "what the host reads depends on how fast it is";
        g->memory_counts &= o.memory == g->base.memory;
        g->registers_count &= o.others == g->base.others;
    }
    return NULL;
}

/* The delays of all tiles; the caller frees plan->trial. */
static bool plan(grader *g, size_t runs, wg_chip_plan *to)
{
    wg_chip_site *site = calloc(g->tiles + 1, sizeof *site);
    bool ok = site != NULL;
    for (unsigned i = 0; ok && i < g->tiles; i++) {
        const wg_abi_graded *t = &g->tile[i];
        const unsigned number = t->y * g->width + t->x;
        if (!g->sites[number])
            g->sites[number] = wg_sites_new();
        ok = g->sites[number] != NULL;
        site[i] = (wg_chip_site){.sites = g->sites[number], .races = t->races, .number = number, .user = t->user};
    }
    *to = (wg_chip_plan){.width = g->width};
    ok = ok && wg_plan_chip(to, site, g->tiles, g->ignores, runs, 1);
    free(site);
    return ok;
}

/* What is known of a race. */
typedef struct graded {
    unsigned tile;
    uint32_t index, tried;
    bool found, unclear;
} graded;

static bool shows(const grader *g, const wg_outcome *o)
{
    return o->ended || o->findings != g->base.findings || (g->memory_counts && o->memory != g->base.memory) ||
           (g->registers_count && o->others != g->base.others);
}

static bool run_trials(grader *g, const wg_trial *trial, size_t trials, graded *race)
{
    for (size_t i = 0; i < trials && g->spent < g->how->budget; i++) {
        graded *r = &race[trial[i].race - 1];
        wg_outcome o;
        if (r->found)
            continue;
        if (!replay(g, TRIAL, &trial[i].delay, 0, &o))
            return false;
        r->tried++;
        r->found = shows(g, &o);
        r->unclear |= !r->found && (g->unclear || !wg_outcome_same(&o, &g->base));
        if (r->found || !r->unclear)
            wg_races_grade(g->tile[r->tile].races, r->index, r->tried, r->found ? &trial[i].delay : NULL);
        else
            wg_races_ungraded(g->tile[r->tile].races, r->index, WG_UNGRADED_CLOCK);
    }
    return true;
}

static const char *grade(grader *g, size_t count, size_t to_grade)
{
    const size_t runs = TIMINGS * (to_grade < MOST_RACES ? to_grade : MOST_RACES);
    const char *against = base_differs(g);
    if (against)
        return against;
    graded *race = calloc(count + 1, sizeof *race);
    for (size_t i = 0, k = 0; race && i < g->tiles; i++)
        for (size_t n = 0; n < wg_races_count(g->tile[i].races); n++)
            race[k++] = (graded){.tile = (unsigned)i, .index = (uint32_t)n};
    wg_chip_plan all = {0};
    const bool ok = race && plan(g, runs, &all) && run_trials(g, all.trial, all.at_races, race);
    free(all.trial);
    free(race);
    return !ok ? NO_MEMORY : WG_UNGRADED_UNTRIED;
}

void wg_abi_grade(const wg_abi_replays *how, const wg_abi_graded *tile, unsigned tiles, wg_race_ignored_fn ignores)
{
    size_t count = 0, to_grade = 0;
    const char *reason = NULL;
    for (unsigned i = 0; i < tiles; i++) {
        count += wg_races_count(tile[i].races);
        for (size_t k = 0; k < wg_races_count(tile[i].races); k++)
            to_grade += !ignores(tile[i].user, wg_races_at(tile[i].races, k));
    }
    if (!how->budget)
        reason = "WAITGATE_VERIFY=0";
    else if (!how->record)
        reason = NO_MEMORY;
    else if (wg_abi_record_spoiled(how->record))
        reason = wg_abi_record_spoiled(how->record);
    else if (how->grid.seed)
        reason = "WAITGATE_SEED is set";
    else if (wg_abi_record_cycles(how->record) > how->budget / LEAST_REPLAYS)
        reason = "the run is too long to be replayed within WAITGATE_VERIFY";
    grader *g = reason || !to_grade ? NULL : calloc(1, sizeof *g);
    if (g) {
        g->how = how;
        g->tile = tile;
        g->tiles = tiles;
        g->ignores = ignores;
        reason = grade(g, count, to_grade);
        for (size_t i = 0; i < WG_GRID_MAX_TILES; i++)
            wg_sites_free(g->sites[i]);
        for (size_t i = 0; i < MOST_TILES; i++) {
            free(g->l1[i]);
            free(g->time[i]);
        }
    } else if (!reason && to_grade) {
        reason = NO_MEMORY;
    }
    free(g);
    for (unsigned i = 0; i < tiles; i++)
        wg_races_ungraded(tile[i].races, SIZE_MAX, reason);
}
