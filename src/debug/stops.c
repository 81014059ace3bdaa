/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that stop a run: breakpoints, watches, conditions, steps. Most are seen in the event stream, so that the machine
 * runs in long stretches. The contents of own RAM and of memory-mapped registers are compared after every cycle (watch.c).
 */
#include "debug/debug.h"

#include <string.h>

wg_whereabouts wg_debug_where(const wg_debug *d, unsigned index, unsigned core)
{
    wg_core_info info;
    if (wg_core_state(wg_debug_dev(d, index), (wg_core_id)core, &info) != WG_OK)
        return (wg_whereabouts){0};
    return (wg_whereabouts){info.pc, info.instructions, !info.in_reset && !info.parked};
}

static bool is_breakpoint(const wg_debug *d, uint32_t pc)
{
    for (unsigned i = 0; i < d->breakpoints; i++)
        if (d->breakpoint[i] == pc)
            return true;
    return false;
}

static bool is_stepping(const wg_debug *d, unsigned index, unsigned agent)
{
    const wg_who *who = &d->stops.stepping;
    return who->agent == agent && wg_debug_index(d, *who) == index;
}

static bool is_postponed(wg_debug *d, wg_debug_state what, uint64_t at)
{
    wg_stops *s = &d->stops;
    if (!s->postpones || what.who.agent == WG_AGENT_NONE || is_stepping(d, wg_debug_index(d, what.who), what.who.agent))
        return false;
    if (!s->others || at < s->other_at) {
        s->other = what;
        s->other_at = at;
    }
    s->others = true;
    return true;
}

bool wg_stops_already(wg_debug *d)
{
    for (unsigned i = 0; d->breakpoints && i < wg_debug_tiles(d); i++)
        for (unsigned core = 0; wg_debug_dev(d, i) && core < WG_CORES; core++) {
            const wg_debug_state what = {.pause = WG_PAUSE_BREAK, .who = wg_debug_who(d, i, core)};
            wg_whereabouts now = wg_debug_where(d, i, core);
            const wg_whereabouts *told = &d->told[i][core];
            if (!now.runs || !is_breakpoint(d, now.pc) || !wg_holds_moves(d, i, core) || is_stepping(d, i, core) ||
                (told->runs && told->pc == now.pc && told->instructions == now.instructions) ||
                is_postponed(d, what, wg_debug_now(d)))
                continue;
            d->stops.found = true;
            d->stops.at = wg_debug_now(d);
            d->stops.what = what;
            return true;
        }
    return false;
}

void wg_stops_begin(wg_debug *d)
{
    for (unsigned i = 0; d->breakpoints && i < wg_debug_tiles(d); i++)
        for (unsigned core = 0; wg_debug_dev(d, i) && core < WG_CORES; core++) {
            wg_whereabouts now = wg_debug_where(d, i, core);
            uint8_t bit = (uint8_t)(1u << core);
            d->stops.waiting[i] &= (uint8_t)~bit;
            if (now.runs && is_breakpoint(d, now.pc))
                d->stops.waiting[i] |= bit;
        }
}

void wg_stops_note(wg_debug *d, wg_debug_state what, uint64_t at)
{
    wg_stops *s = &d->stops;
    if (is_postponed(d, what, at))
        return;
    /* Of two at one boundary a step counts less: whoever steps wants to know of the other one. */
    const bool stops = what.pause != WG_PAUSE_STEP, stopped = s->what.pause != WG_PAUSE_STEP, same = at == s->at;
    const bool better = !s->found || (s->backwards ? at > s->at || (same && stops >= stopped)
                                                   : at < s->at || (same && stops > stopped));
    if (!better || (s->backwards && at >= s->end))
        return;
    s->found = true;
    s->at = at;
    s->what = what;
}

uint64_t wg_stops_beside(const wg_debug *d, uint64_t cycle) { return d->stops.backwards ? cycle : cycle + 1; }

/* ---- Events ---- */

static void retired(wg_debug *d, const wg_event *e)
{
    const wg_core_run *run = &wg_debug_dev(d, e->tile)->tile->core[e->agent].run;
    const uint8_t bit = (uint8_t)(1u << e->agent);
    wg_debug_state at_break = {.pause = WG_PAUSE_BREAK, .who = wg_debug_who(d, e->tile, e->agent)};
    uint8_t *waiting = &d->stops.waiting[e->tile];
    if (is_stepping(d, e->tile, e->agent))
        wg_stops_note(d, (wg_debug_state){.pause = WG_PAUSE_STEP, .who = at_break.who}, wg_stops_beside(d, e->cycle));
    wg_watch_retired(d, e);
    if (!(*waiting & bit) && is_breakpoint(d, (uint32_t)e->a)) /* it did not arrive there by executing */
        wg_stops_note(d, at_break, e->cycle);
    *waiting &= (uint8_t)~bit;
    if (!run->halt && is_breakpoint(d, run->pc)) {
        *waiting |= bit;
        wg_stops_note(d, at_break, e->cycle + 1);
    }
}

/* Is it a step? Then the condition of `until` does not count. */
static bool is_step(const wg_debug *d) { return d->stops.stepping.agent != WG_AGENT_NONE; }

static bool is_named(const wg_debug *d, uint32_t word)
{
    const char *name = d->until.name;
    if (!*name)
        return true;
    return wg_isa_decode(d->arch->id, word) == wg_isa_by_name(d->arch->id, name, strlen(name));
}

static bool holds(const wg_debug *d, const wg_event *e)
{
    const wg_condition *c = &d->until;
    if (is_step(d))
        return false;
    switch (c->kind) {
    case WG_UNTIL_FINDING: return e->kind == WG_EV_FINDING;
    case WG_UNTIL_SEMAPHORE: return e->kind == WG_EV_SEMAPHORE && e->a == c->index && e->b == c->value;
    case WG_UNTIL_GATE: return (e->kind == WG_EV_ISSUED || e->kind == WG_EV_LATCHED) && is_named(d, e->word);
    case WG_UNTIL_UNIT: return e->kind == WG_EV_ISSUED && e->b == c->index && is_named(d, e->word);
    case WG_UNTIL_BANK: return e->kind == WG_EV_BANK && e->a == c->index;
    case WG_UNTIL_NOC: return e->kind == WG_EV_NOC_SENT || e->kind == WG_EV_NOC_ARRIVED;
    default: return false;
    }
}

static void event(void *user, const wg_event *e)
{
    wg_debug *d = user;
    if (e->kind == WG_EV_CORE_RETIRE)
        retired(d, e);
    if ((e->kind == WG_EV_ISSUED || e->kind == WG_EV_LATCHED) &&
        is_stepping(d, e->tile, (unsigned)WG_AGENT_THREAD0 + e->thread))
        wg_stops_note(d, (wg_debug_state){.pause = WG_PAUSE_STEP, .who = d->stops.stepping},
                      wg_stops_beside(d, e->cycle));
    wg_watch_event(d, e);
    if (holds(d, e))
        wg_stops_note(d, (wg_debug_state){.pause = WG_PAUSE_UNTIL, .who = wg_stops_doer(d, e)},
                      wg_stops_beside(d, e->cycle));
    if (d->stops.found && !d->stops.backwards) /* the run need not continue */
        wg_debug_dev(d, e->tile)->stop_requested = true;
}

/* ---- Observers ---- */

static uint64_t kinds_of(const wg_debug *d)
{
    static const uint64_t of_condition[] = {[WG_UNTIL_FINDING] = WG_EV_BIT(WG_EV_FINDING),
                                            [WG_UNTIL_SEMAPHORE] = WG_EV_BIT(WG_EV_SEMAPHORE),
                                            [WG_UNTIL_GATE] = WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_LATCHED),
                                            [WG_UNTIL_UNIT] = WG_EV_BIT(WG_EV_ISSUED),
                                            [WG_UNTIL_BANK] = WG_EV_BIT(WG_EV_BANK),
                                            [WG_UNTIL_NOC] = WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED)};
    uint64_t kinds = of_condition[d->until.kind];
    if (is_step(d))
        kinds = d->stops.stepping.agent <= WG_AGENT_CORE_T2 ? WG_EV_BIT(WG_EV_CORE_RETIRE)
                                                            : WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_LATCHED);
    if (d->breakpoints)
        kinds |= WG_EV_BIT(WG_EV_CORE_RETIRE);
    return kinds | wg_watch_kinds(d);
}

bool wg_stops_any(const wg_debug *d) { return kinds_of(d) != 0; }

bool wg_stops_watch(wg_debug *d)
{
    uint64_t kinds = kinds_of(d);
    if (!d->watching)
        for (unsigned i = 0; i < WG_DEBUG_TILES; i++)
            d->observer[i] = -1;
    d->watching = kinds;
    for (unsigned i = 0; kinds && i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        if (!dev || d->observer[i] >= 0)
            continue;
        if (wg_observe(dev, kinds, event, d, &d->observer[i]) != WG_OK) {
            d->observer[i] = -1;
            wg_debug_fail(d, WG_ERR_STATE, "%s", wg_error(dev));
            wg_stops_unwatch(d);
            return false;
        }
    }
    return true;
}

void wg_stops_unwatch(wg_debug *d)
{
    for (unsigned i = 0; d->watching && i < wg_debug_tiles(d); i++)
        if (d->observer[i] >= 0)
            wg_unobserve(wg_debug_dev(d, i), d->observer[i]);
    d->watching = 0;
}

/* ---- Setting conditions ---- */

wg_status wg_debug_break(wg_debug *d, uint32_t pc, bool set)
{
    unsigned i = 0;
    while (i < d->breakpoints && d->breakpoint[i] != pc)
        i++;
    if (!set && i < d->breakpoints)
        d->breakpoint[i] = d->breakpoint[--d->breakpoints];
    if (!set || i < d->breakpoints)
        return WG_OK;
    if (d->breakpoints == WG_DEBUG_BREAKPOINTS)
        return wg_debug_fail(d, WG_ERR_ARGUMENT, "there are %d breakpoints already", WG_DEBUG_BREAKPOINTS);
    d->breakpoint[d->breakpoints++] = pc;
    return WG_OK;
}

wg_status wg_debug_until(wg_debug *d, const wg_condition *given)
{
    wg_condition own = {0};
    const wg_condition *c = &own;
    memcpy(&own, given, given->struct_size < sizeof own ? given->struct_size : sizeof own);
    size_t length = strnlen(c->name, sizeof c->name);
    if (c->kind > WG_UNTIL_NOC || length == sizeof c->name ||
        (length && !wg_isa_by_name(d->arch->id, c->name, length)) || (c->kind == WG_UNTIL_SEMAPHORE && c->index >= 8) ||
        (c->kind == WG_UNTIL_BANK && c->index >= 4))
        return wg_debug_fail(d, WG_ERR_ARGUMENT, "there is no such condition on %s", d->arch->long_name);
    d->until = *c;
    return WG_OK;
}
