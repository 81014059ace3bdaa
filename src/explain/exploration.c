/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/exploration.h"

#include <stdlib.h>
#include <string.h>

#include "engine/return_point.h"
#include "machine/device.h"

enum {
    RUNS = 1000,
    MOST_RUNS = 1 << 22,
    BASE_CYCLES = 20 * 1000 * 1000, /* the unperturbed run's limit, if none is given */
    SLOWER = 50,        /* a run that takes this many times longer than the unperturbed one counts as endless */
    SLOWER_AND = 100000 /* … plus this many cycles */
};

bool wg_outcome_same(const wg_outcome *a, const wg_outcome *b)
{
    return a->memory == b->memory && a->findings == b->findings && a->others == b->others && a->ended == b->ended;
}

bool wg_outcome_shows(const wg_outcome *o, const wg_outcome *base, bool clocked)
{
    return o->ended != base->ended || o->findings != base->findings || (!clocked && !wg_outcome_same(o, base));
}

bool wg_exploration_begin(wg_exploration *x, size_t trials)
{
    x->start = wg_return_point_new(x->dev);
    x->trial = calloc(trials, sizeof *x->trial);
    bool ok = x->start && x->trial;
    for (size_t i = 0; i < x->ranges && ok; i++) {
        wg_range *r = &x->range[i];
        r->expected = wg_l1_copy_new(x->dev, r->address, r->bytes);
        r->found = wg_l1_copy_new(x->dev, r->address, r->bytes);
        ok = r->expected && r->found;
    }
    return ok;
}

void wg_exploration_end(wg_exploration *x)
{
    for (size_t i = 0; i < x->ranges; i++) {
        wg_l1_copy_free(x->range[i].expected);
        wg_l1_copy_free(x->range[i].found);
    }
    wg_return_point_free(x->start);
    free(x->trial);
}

static uint64_t hash_memory(wg_exploration *x)
{
    uint64_t h = 0;
    x->differs = !x->base.valid;
    for (size_t i = 0; i < x->ranges && !x->differs; i++)
        x->differs = !wg_l1_is(x->dev, x->range[i].expected);
    if (!x->differs)
        return x->base.memory; /* the common case */
    for (size_t i = 0; i < x->ranges; i++) {
        wg_l1_copy_renew(x->dev, x->range[i].found);
        h = wg_outcome_mix(h, wg_l1_copy_hash(x->range[i].found));
    }
    return h;
}

uint64_t wg_findings_hash(const wg_device *dev)
{
    uint64_t h = 0;
    for (size_t i = 0; i < wg_finding_count(dev); i++) {
        const wg_finding *f = wg_finding_at(dev, i);
        h += wg_outcome_mix(wg_outcome_mix(wg_outcome_mix(1, f->code), f->agent), f->has_pc ? f->pc : 0);
    }
    return h;
}

static void inspect(wg_exploration *x, wg_outcome *out)
{
    out->cycles = wg_cycle(x->dev);
    out->memory = hash_memory(x);
    out->findings = wg_findings_hash(x->dev);
    out->valid = true;
}

void wg_exploration_base(wg_exploration *x, wg_outcome *out)
{
    inspect(x, out);
    x->base = *out;
    for (size_t i = 0; i < x->ranges; i++)
        wg_l1_copy_renew(x->dev, x->range[i].expected);
    for (size_t i = 0; i < wg_finding_count(x->dev); i++)
        x->base_findings[wg_finding_at(x->dev, i)->code] = true;
}

bool wg_exploration_once(wg_exploration *x, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    *out = (wg_outcome){0};
    wg_findings_clear(x->dev);
    wg_return_to(x->dev, x->start);
    if (wg_perturb_with(x->dev, seed, delays, count) != WG_OK || !x->run(x->user, out))
        return false;
    inspect(x, out);
    return true;
}

uint64_t wg_exploration_limit(const wg_exploration *x)
{
    return x->base.valid ? SLOWER * x->base.cycles + SLOWER_AND : BASE_CYCLES;
}

uint64_t wg_outcome_l1(wg_device *dev)
{
    uint64_t h = 0, block[512];
    for (uint32_t at = 0; at + sizeof block <= wg_l1_bytes(dev); at += sizeof block) {
        wg_read(dev, at, block, sizeof block);
        for (size_t i = 0; i < sizeof block / sizeof *block; i++)
            h = wg_outcome_mix(h, block[i]);
    }
    return h;
}

uint64_t wg_outcome_registers(wg_device *dev, uint64_t h)
{
    static const struct {
        wg_space space;
        uint32_t first, count;
    } spaces[] = {{WG_SPACE_GPR, 0, 192},
                  {WG_SPACE_SEM_VALUE, 0, 8},
                  {WG_SPACE_DST, 0, 16384},
                  {WG_SPACE_LREG, 0, 8 * 32},
                  {WG_SPACE_CONFIG, 0, 180},
                  {WG_SPACE_CONFIG, 1 << 16, 180},
                  {WG_SPACE_THREAD_CONFIG, 0, 48},
                  {WG_SPACE_THREAD_CONFIG, 1 << 16, 48},
                  {WG_SPACE_THREAD_CONFIG, 2 << 16, 48}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (uint32_t k = 0; k < spaces[i].count; k++) {
            uint32_t value = 0;
            wg_peek(dev, spaces[i].space, spaces[i].first + k, &value);
            h = wg_outcome_mix(h, value);
        }
    return h;
}

/* ---- wg_explore() ------------------------------------------------------------------------------------ */

typedef struct explorer {
    wg_exploration x;
    wg_range range;
    uint64_t limit; /* in cycles from the start */
    wg_status status;
} explorer;

static bool run(void *user, wg_outcome *out)
{
    explorer *e = user;
    wg_stop stop;
    e->status = wg_run(e->x.dev, e->limit, &stop);
    out->ended = (uint8_t)stop;
    return e->status == WG_OK;
}

static bool code_at(void *dev, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_code_word(((wg_device *)dev)->tile, pc, word);
}

/* The unperturbed run, with the race detector and the sites of the plan. */
static wg_status run_base(explorer *e, wg_sites *sites, wg_races *races, wg_outcome *out)
{
    wg_device *dev = e->x.dev;
    int detector = -1, listener = -1;
    wg_status status = wg_observe(dev, wg_races_events(races), wg_races_event, races, &detector);
    if (status == WG_OK)
        status = wg_observe(dev, WG_SITES_EVENTS, wg_sites_event, sites, &listener);
    if (status == WG_OK)
        status = wg_perturb_with(dev, 0, NULL, 0);
    if (status == WG_OK && !run(e, out))
        status = e->status;
    wg_unobserve(dev, listener);
    wg_unobserve(dev, detector);
    if (status != WG_OK)
        return status;
    if (out->ended == WG_STOP_CYCLES)
        return wg_fail(dev, WG_ERR_STATE, "the unperturbed run does not end within %llu cycles",
                       (unsigned long long)e->limit);
    wg_races_end(races, wg_cycle(dev), out->ended == WG_STOP_DONE);
    wg_exploration_base(&e->x, out);
    return WG_OK;
}

static bool tell(explorer *e, size_t number, const wg_trial *trial, const wg_outcome *o, wg_explored_fn fn, void *user)
{
    const wg_outcome *base = &e->x.base;
    const wg_explored timing = {.number = number,
                                .seed = trial->seed,
                                .delay = trial->directed ? &trial->delay : NULL,
                                .cycles = o->cycles,
                                .ended = (wg_stop)o->ended,
                                .memory = o->memory != base->memory,
                                .findings = o->findings != base->findings,
                                .stops = o->ended != base->ended};
    return fn(user, e->x.dev, &timing);
}

/* All timings after the unperturbed one. */
static wg_status run_plan(explorer *e, wg_explored_fn fn, void *user)
{
    for (size_t i = 0; i < e->x.trials; i++) {
        const wg_trial *trial = &e->x.trial[i];
        wg_outcome o;
        if (!wg_exploration_once(&e->x, trial->seed, trial->directed ? &trial->delay : NULL, trial->directed, &o))
            return e->status != WG_OK ? e->status : wg_fail(e->x.dev, WG_ERR_NO_MEMORY, "out of memory");
        if (!tell(e, i + 1, trial, &o, fn, user))
            break;
    }
    return WG_OK;
}

size_t wg_explore_runs(const wg_explore_desc *desc)
{
    return desc->runs > MOST_RUNS ? 0 : desc->runs ? desc->runs : RUNS;
}

wg_status wg_explore(wg_device *dev, const wg_explore_desc *desc, wg_explored_fn fn, void *user)
{
    wg_explore_desc d = {0};
    if (desc)
        memcpy(&d, desc, desc->struct_size < sizeof d ? desc->struct_size : sizeof d);
    const uint32_t l1 = wg_l1_bytes(dev);
    const size_t runs = wg_explore_runs(&d);
    if (!fn || !runs || d.address > l1 || d.bytes > l1 - d.address)
        return wg_fail(dev, WG_ERR_ARGUMENT, "wg_explore() needs a callback, at most %d runs, and result memory in L1",
                       MOST_RUNS);
    explorer e = {.range = {.address = d.bytes ? d.address : 0, .bytes = d.bytes ? d.bytes : l1}, .status = WG_OK};
    e.x = (wg_exploration){.dev = dev, .run = run, .user = &e, .range = &e.range, .ranges = 1};
    e.limit = d.max_cycles ? d.max_cycles : wg_exploration_limit(&e.x);
    wg_sites *sites = wg_sites_new();
    wg_races *races = wg_races_new(dev->arch->id, code_at, dev);
    wg_outcome base = {0};
    wg_status status = sites && races && wg_exploration_begin(&e.x, runs)
                           ? run_base(&e, sites, races, &base)
                           : wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
    if (status == WG_OK && tell(&e, 0, &(wg_trial){0}, &base, fn, user)) {
        if (!d.max_cycles)
            e.limit = wg_exploration_limit(&e.x);
        wg_plan(&e.x, sites, races, NULL, NULL, runs, d.first_seed ? d.first_seed : 1);
        status = run_plan(&e, fn, user);
    }
    wg_findings_clear(dev);
    if (e.x.start)
        wg_return_to(dev, e.x.start);
    wg_exploration_end(&e.x);
    wg_sites_free(sites);
    wg_races_free(races);
    const wg_status calm = wg_perturb_with(dev, 0, NULL, 0);
    return status == WG_OK ? calm : status;
}
