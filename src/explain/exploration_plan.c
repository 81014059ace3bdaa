/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the timings to try, from the instructions, requests and races of the unperturbed run.
 *
 *     1. a delay at either party of each race, as long as the distance of the two, short, and long
 *     2. a delay at every instruction of the Sync Unit, and at the completion of the work before it
 *     3. seeds
 */
#include <stdlib.h>
#include <string.h>

#include "explain/exploration.h"
#include "machine/tile_regs.h"

enum { SLOTS = 4096, BEYOND = 20 };

/* A distinct instruction of a thread, or request of a core, by place and word. */
typedef struct site {
    uint64_t first, last; /* event numbers: ids of the instruction, counts of the core's requests */
    uint32_t pc, word;
    uint8_t thread, unit;   /* thread, or SITE_OF_CORE | core */
    bool used, before_sync; /* before_sync: an instruction of the Sync Unit follows in its thread */
} site;
enum { SITE_OF_CORE = 0x80 };

struct wg_sites {
    site at[SLOTS];
    size_t count;
    uint16_t order[SLOTS]; /* in order of appearance */
    site *previous[WG_THREADS];
    uint64_t requests[WG_CORES];
    bool clocked;          /* a core has read the wall clock */
    wg_sites *const *chip; /* by number of the tile; NULL: one tile alone */
};

wg_sites *wg_sites_new(void) { return calloc(1, sizeof(wg_sites)); }
void wg_sites_free(wg_sites *sites) { free(sites); }
void wg_sites_of_chip(wg_sites *sites, wg_sites *const *by_number) { sites->chip = by_number; }

bool wg_sites_clocked(const wg_sites *sites) { return sites->clocked; }

/* The slot of a site; an empty one if it is new; NULL if it is new and there is no room. */
static site *find(wg_sites *all, unsigned thread, uint32_t pc, uint32_t word)
{
    uint64_t h = (((uint64_t)pc << 32 | word) ^ (uint64_t)thread << 20) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    for (unsigned i = 0; i < SLOTS; i++) {
        site *s = &all->at[(h + i) % SLOTS];
        if (!s->used)
            return all->count < SLOTS / 2 ? s : NULL;
        if (s->thread == thread && s->pc == pc && s->word == word)
            return s;
    }
    return NULL;
}

static site *seen(wg_sites *all, unsigned thread, uint32_t pc, uint32_t word, unsigned unit, uint64_t event)
{
    site *s = find(all, thread, pc, word);
    if (!s)
        return NULL;
    if (!s->used) {
        *s = (site){
            .first = event, .pc = pc, .word = word, .thread = (uint8_t)thread, .unit = (uint8_t)unit, .used = true};
        all->order[all->count++] = (uint16_t)(s - all->at);
    }
    s->last = event;
    return s;
}

void wg_sites_event(void *sites, const wg_event *e)
{
    wg_sites *all = sites;
    if (e->kind == WG_EV_CORE_REQUEST) {
        unsigned core = e->agent % WG_CORES;
        all->clocked |= wg_is_wall_clock((uint32_t)e->a);
        seen(all, SITE_OF_CORE | core, e->pc, 0, 0, ++all->requests[core]);
        return;
    }
    unsigned thread = e->thread % WG_THREADS;
    site *s = seen(all, thread, e->pc, e->word, (unsigned)e->b, e->id);
    if (e->b == WG_AGENT_SYNC && all->previous[thread])
        all->previous[thread]->before_sync = true;
    all->previous[thread] = s;
}

static void add(wg_exploration *x, size_t most, wg_delay delay, size_t race)
{
    if (delay.cycles > WG_MAX_DELAY)
        delay.cycles = WG_MAX_DELAY;
    if (x->trials < most)
        x->trial[x->trials++] = (wg_trial){.directed = true, .delay = delay, .race = (uint32_t)race};
}

static bool works(unsigned unit)
{
    return unit >= WG_AGENT_UNPACK0 && unit <= WG_AGENT_CONFIG && unit != WG_AGENT_SCALAR;
}

enum { LATE_END, LATE_START, WAYS };
/* The delay of a site: its end (completion, or a request's transit) or its start. False: there is none. */
static bool delay_of(const site *s, bool last, unsigned way, uint32_t cycles, wg_delay *out)
{
    uint64_t event = last ? s->last : s->first;
    *out = (wg_delay){.struct_size = sizeof *out, .event = event, .cycles = cycles};
    if (s->thread & SITE_OF_CORE) {
        out->site = WG_SITE_TRAVEL;
        out->agent = (uint8_t)(WG_AGENT_CORE_B + (s->thread & 0x7F));
        return way == LATE_END;
    }
    if (way == LATE_END && !works(s->unit))
        return false;
    out->site = way == LATE_END ? WG_SITE_COMPLETE : WG_SITE_ACCEPT;
    out->agent = (uint8_t)(way == LATE_END ? s->unit : (unsigned)WG_AGENT_THREAD0 + s->thread);
    if (way == LATE_END)
        out->event = event << 2 | s->thread;
    return true;
}

static const site *site_of(wg_sites *all, const wg_race_party *p)
{
    bool insn = p->thread < WG_THREADS;
    if (p->tile)
        all = all->chip ? all->chip[p->tile - 1u] : NULL;
    if (!all || (!insn && p->core >= WG_CORES))
        return NULL;
    const site *s = find(all, insn ? p->thread : SITE_OF_CORE | p->core, p->pc, insn ? p->word : 0);
    return s && s->used ? s : NULL;
}

bool wg_race_is_delayed(const wg_race *race, unsigned thread, uint32_t pc, uint32_t word)
{
    const wg_race_party *side[2] = {&race->a, &race->b};
    for (unsigned i = race->has_a ? 0 : 1; i < 2; i++)
        if (side[i]->thread == thread && side[i]->pc == pc && side[i]->word == word)
            return true;
    return false;
}

/* A delay at one party of a race; variants: which party, how long, where, which occurrence. */
static void plan_race(wg_exploration *x, wg_sites *all, const wg_race *race, size_t most, size_t index,
                      unsigned variant)
{
    const wg_race_party *p = variant & 1 ? &race->b : &race->a;
    uint64_t apart = race->a.cycle < race->b.cycle ? race->b.cycle - race->a.cycle : race->a.cycle - race->b.cycle;
    const uint32_t cycles[3] = {(uint32_t)(apart < WG_MAX_DELAY ? apart + BEYOND : WG_MAX_DELAY), 30, 500};
    const site *s = !(variant & 1) && !race->has_a ? NULL : site_of(all, p);
    bool last = variant / (2 * 3 * WAYS) != 0;
    wg_delay delay;
    if (s && (!last || s->last != s->first) && delay_of(s, last, variant / 6 % WAYS, cycles[variant / 2 % 3], &delay)) {
        delay.tile = p->tile;
        add(x, most, delay, index + 1);
    }
}

void wg_plan(wg_exploration *x, wg_sites *all, const wg_races *races, wg_race_ignored_fn ignores, void *user,
             size_t runs, uint64_t seed)
{
    size_t count = races ? wg_races_count(races) : 0, half = (runs + 1) / 2, three_quarters = (3 * runs + 3) / 4;
    for (unsigned variant = 0; variant < 2 * 3 * WAYS * 2; variant++)
        for (size_t i = 0; i < count && x->trials < half; i++) {
            const wg_race *race = wg_races_at(races, i);
            if (!ignores || !ignores(user, race))
                plan_race(x, all, race, half, i, variant);
        }
    x->at_races = x->trials;
    size_t most = x->at_races > half / 2 ? three_quarters : half;
    for (size_t k = 0; k < all->count; k++) {
        const site *s = &all->at[all->order[k]];
        if (s->thread & SITE_OF_CORE || (s->unit != WG_AGENT_SYNC && !(s->before_sync && works(s->unit))))
            continue;
        for (unsigned last = 0; last < (s->last != s->first ? 2u : 1u); last++)
            for (unsigned i = 0; i < 2; i++) {
                wg_delay delay;
                if (delay_of(s, last, s->unit == WG_AGENT_SYNC ? LATE_START : LATE_END, i ? 500 : 30, &delay))
                    add(x, most, delay, 0);
            }
    }
    x->directed = x->trials;
    while (x->trials < runs)
        x->trial[x->trials++] = (wg_trial){.seed = seed++};
}
