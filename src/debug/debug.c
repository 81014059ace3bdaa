/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, forwards and backwards. Forwards, observers record the first match; backwards, stretches between checkpoints are run
 * again, the latest first, and the observers record the last match.
 */
#include "debug/debug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * FIRST_DISTANCE: initial cycles between checkpoints. SHARE: the machine runs at least this many times as long as checkpoints
 * take. STRETCH: cycles between two checks for other work.
 */
enum { FIRST_DISTANCE = 1 << 14, SHARE = 12, STRETCH = 1 << 14, CLOSE = 64, ATTENTIVE = 1 << 12 };

/* ---- The machine ---- */

wg_status wg_debug_fail(wg_debug *d, wg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->error, sizeof d->error, format, args);
    va_end(args);
    return status;
}

const char *wg_debug_error(const wg_debug *d) { return d->error; }

static unsigned width(const wg_debug *d) { return d->desc.grid ? wg_grid_width(d->desc.grid) : 1; }

unsigned wg_debug_tiles(const wg_debug *d) { return d->desc.grid ? width(d) * wg_grid_height(d->desc.grid) : 1; }

wg_device *wg_debug_dev(const wg_debug *d, unsigned index)
{
    return d->desc.grid ? wg_grid_peek(d->desc.grid, index % width(d), index / width(d)) : d->desc.device;
}

unsigned wg_debug_index(const wg_debug *d, wg_who who)
{
    unsigned index = d->desc.grid ? who.y * width(d) + who.x : 0;
    return index < wg_debug_tiles(d) ? index : 0;
}

wg_who wg_debug_who(const wg_debug *d, unsigned index, unsigned agent)
{
    return (wg_who){.x = (uint8_t)(index % width(d)), .y = (uint8_t)(index / width(d)), .agent = (uint8_t)agent};
}

uint64_t wg_debug_now(const wg_debug *d)
{
    return d->desc.grid ? wg_grid_cycle(d->desc.grid) : wg_cycle(d->desc.device);
}

wg_device *wg_debug_device(wg_debug *d, wg_who who) { return wg_debug_dev(d, wg_debug_index(d, who)); }

bool wg_debug_tile(wg_debug *d, unsigned index, wg_who *out)
{
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        if (wg_debug_dev(d, i) && index-- == 0) {
            *out = wg_debug_who(d, i, WG_AGENT_CORE_B);
            return true;
        }
    return false;
}

wg_who wg_debug_first(wg_debug *d)
{
    wg_who who = {.agent = WG_AGENT_THREAD0}, tile;
    for (unsigned n = 0; wg_debug_tile(d, n, &tile); n++) {
        if (n == 0)
            who = (wg_who){tile.x, tile.y, WG_AGENT_THREAD0};
        for (; tile.agent < WG_CORES; tile.agent++)
            if (wg_debug_device(d, tile)->tile->core[tile.agent].run.halt != WG_IN_RESET)
                return tile;
    }
    return who;
}

/* With the same agents moving throughout. */
static bool advance_part(wg_debug *d, uint64_t cycle, wg_stop *stop)
{
    wg_status status;
    uint64_t now = wg_debug_now(d);
    *stop = WG_STOP_CYCLES;
    if (d->host.advance)
        status = d->host.advance(d->desc.user, cycle, stop);
    else if (d->desc.grid)
        status = wg_grid_run(d->desc.grid, cycle - now, stop);
    else
        status = wg_run(d->desc.device, cycle - now, stop);
    if (status == WG_OK)
        return *stop != WG_STOP_CYCLES || wg_debug_now(d) < cycle;
    wg_debug_fail(d, status, "%s", d->desc.grid ? wg_grid_error(d->desc.grid) : wg_error(d->desc.device));
    return true;
}

bool wg_debug_advance(wg_debug *d, uint64_t cycle, wg_stop *stop)
{
    bool ended = false;
    do {
        const uint64_t next = wg_holds_next(d);
        wg_holds_apply(d);
        ended = advance_part(d, cycle < next ? cycle : next, stop);
    } while (!ended && wg_debug_now(d) < cycle);
    return ended;
}

/* ---- Checkpoints: a snapshot, the host's state, and the findings of every tile ---- */

static size_t machine_bytes(const wg_debug *d)
{
    return d->desc.grid ? wg_grid_snapshot_size(d->desc.grid) : wg_snapshot_size(d->desc.device);
}

static size_t findings_bytes(const wg_debug *d)
{
    size_t all = 0;
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        const wg_device *dev = wg_debug_dev(d, i);
        all += sizeof(uint64_t) * 2 + (dev ? dev->findings * sizeof *dev->finding : 0);
    }
    return all;
}

static void save_findings(const wg_debug *d, uint8_t *to)
{
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        const wg_device *dev = wg_debug_dev(d, i);
        uint64_t head[2] = {dev ? dev->findings : 0, dev ? dev->findings_dropped : 0};
        memcpy(to, head, sizeof head);
        to += sizeof head;
        if (dev)
            memcpy(to, dev->finding, (size_t)head[0] * sizeof *dev->finding);
        to += head[0] * sizeof(wg_finding);
    }
}

static void load_findings(const wg_debug *d, const uint8_t *from)
{
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        uint64_t head[2];
        memcpy(head, from, sizeof head);
        from += sizeof head;
        if (dev) {
            memcpy(dev->finding, from, (size_t)head[0] * sizeof *dev->finding);
            dev->findings = (size_t)head[0];
            dev->findings_dropped = head[1];
        }
        from += head[0] * sizeof(wg_finding);
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Before the snapshot: its length, since that of a chip varies. */
enum { HEAD = 64 };

bool wg_debug_save(wg_debug *d)
{
    if (!d->desc.history)
        return true;
    uint64_t began = nanoseconds();
    size_t machine = machine_bytes(d), bytes = HEAD + machine + d->host.bytes + findings_bytes(d);
    uint8_t *state = calloc(1, bytes);
    wg_status status = !state         ? WG_ERR_NO_MEMORY
                       : d->desc.grid ? wg_grid_snapshot(d->desc.grid, state + HEAD, machine)
                                      : wg_snapshot(d->desc.device, state + HEAD, machine);
    if (status != WG_OK) {
        free(state);
        wg_debug_fail(d, status, "no memory for a checkpoint");
        return false;
    }
    memcpy(state, &machine, sizeof machine);
    if (d->host.save)
        d->host.save(d->desc.user, state + HEAD + machine);
    save_findings(d, state + HEAD + machine + d->host.bytes);
    if (!wg_checkpoints_add(&d->past, wg_debug_now(d), state, bytes)) {
        wg_debug_fail(d, WG_ERR_NO_MEMORY, "no memory for a checkpoint");
        return false;
    }
    if (d->past.thinned) {
        d->past.thinned = false;
        d->distance *= 2;
    }
    d->saving += nanoseconds() - began;
    return true;
}

static bool restore(wg_debug *d, size_t index)
{
    size_t bytes, machine;
    const uint8_t *state = wg_checkpoints_get(&d->past, index, &bytes);
    memcpy(&machine, state, sizeof machine);
    state += HEAD;
    wg_status status =
        d->desc.grid ? wg_grid_restore(d->desc.grid, state, machine) : wg_restore(d->desc.device, state, machine);
    if (status != WG_OK) {
        wg_debug_fail(d, status, "%s", d->desc.grid ? wg_grid_error(d->desc.grid) : wg_error(d->desc.device));
        return false;
    }
    if (d->host.load)
        d->host.load(d->desc.user, state + machine);
    load_findings(d, state + machine + d->host.bytes);
    wg_holds_restored(d);
    return true;
}

/* The cycle at which the next checkpoint is due. */
static uint64_t due(const wg_debug *d)
{
    return d->past.count ? d->past.list[d->past.count - 1].cycle + d->distance : UINT64_MAX;
}

/* Forwards, beyond the last checkpoint: takes one if enough cycles and enough host time have passed. */
static bool remember(wg_debug *d)
{
    uint64_t now = wg_debug_now(d);
    if (now < due(d) || d->saving * SHARE > d->running)
        return true;
    return wg_debug_save(d);
}

wg_status wg_debug_changed(wg_debug *d)
{
    if (d->before)
        d->before->known = UINT64_MAX;
    wg_holds_end(d);
    wg_checkpoints_free(&d->past);
    d->distance = FIRST_DISTANCE;
    return wg_debug_save(d) ? WG_OK : WG_ERR_NO_MEMORY;
}

bool wg_debug_goto(wg_debug *d, uint64_t cycle)
{
    wg_stop stop;
    if (cycle < wg_debug_now(d) &&
        (!d->past.count || !restore(d, wg_checkpoints_before(&d->past, cycle)) || wg_debug_now(d) > cycle))
        return false;
    while (wg_debug_now(d) < cycle)
        if (wg_debug_advance(d, cycle, &stop))
            return !*d->error;
    return true;
}

/* ---- Life ---- */

wg_status wg_debug_open(const wg_debug_desc *desc, wg_debug **out)
{
    *out = NULL;
    wg_debug *d = calloc(1, sizeof *d);
    if (!d)
        return WG_ERR_NO_MEMORY;
    memcpy(&d->desc, desc, desc->struct_size < sizeof d->desc ? desc->struct_size : sizeof d->desc);
    if (!d->desc.device == !d->desc.grid) {
        free(d);
        return WG_ERR_ARGUMENT;
    }
    if (d->desc.host)
        memcpy(&d->host, d->desc.host,
               d->desc.host->struct_size < sizeof d->host ? d->desc.host->struct_size : sizeof d->host);
    d->arch = wg_arch_of(d->desc.grid ? wg_grid_arch(d->desc.grid) : d->desc.device->arch->id);
    d->distance = FIRST_DISTANCE;
    d->past.budget = d->desc.history;
    d->interrupted = d->desc.interrupted;
    d->interrupted_user = d->desc.user;
    d->limit = UINT64_MAX;
    d->state.who.agent = WG_AGENT_NONE;
    if (!wg_debug_save(d)) {
        wg_debug_close(d);
        return WG_ERR_NO_MEMORY;
    }
    *out = d;
    return WG_OK;
}

void wg_debug_close(wg_debug *d)
{
    if (!d)
        return;
    wg_stops_unwatch(d);
    wg_holds_end(d);
    wg_checkpoints_free(&d->past);
    free(d->before);
    free(d);
}

void wg_debug_state_get(const wg_debug *d, wg_debug_state *out)
{
    *out = d->state;
    out->cycle = wg_debug_now(d);
    out->begins = d->past.count ? d->past.list[0].cycle : out->cycle;
}

/* ---- Forwards ---- */

static wg_pause paused(wg_debug *d, wg_pause why)
{
    d->state.pause = why;
    return why;
}

/* Where the core is now, its stop has been reported. */
static void note_told(wg_debug *d, wg_who who)
{
    if (who.agent <= WG_AGENT_CORE_T2)
        d->told[wg_debug_index(d, who)][who.agent] = wg_debug_where(d, wg_debug_index(d, who), who.agent);
}

static wg_pause stopped(wg_debug *d)
{
    /* Without a history, a core that reaches a breakpoint other than by executing is detected a cycle late. */
    if (d->past.count && !wg_debug_goto(d, d->stops.at))
        return paused(d, WG_PAUSE_FAILED);
    d->state = d->stops.what;
    note_told(d, d->state.who);
    return d->state.pause;
}

bool wg_debug_stop_other(wg_debug *d)
{
    d->stops.what = d->stops.other;
    d->stops.at = d->stops.other_at;
    if (!d->past.count || stopped(d) == WG_PAUSE_FAILED)
        return false;
    note_told(d, d->stops.stepping);
    return true;
}

/* How far to run before the next check: not beyond what can be rolled back. */
static uint64_t stretch_from(const wg_debug *d, uint64_t target, uint64_t n)
{
    const bool steps = d->stops.stepping.agent != WG_AGENT_NONE;
    uint64_t now = wg_debug_now(d), cycles = STRETCH;
    if (wg_stops_any(d)) {
        cycles = ATTENTIVE;
        /* A step takes only a few cycles; without a history nothing can be rolled back. */
        if (!d->past.count || wg_stops_closely(d) || (steps && n < CLOSE))
            cycles = 1;
    }
    uint64_t to = target - now < cycles ? target : now + cycles;
    return now < due(d) && due(d) < to ? due(d) : to;
}

static wg_pause forwards(wg_debug *d, wg_who stepping, uint64_t target)
{
    wg_stop stop = WG_STOP_CYCLES;
    bool may_be_limited = target > d->limit;
    target = may_be_limited ? d->limit : target;
    d->limited = false;
    d->error[0] = 0;
    d->stops = (wg_stops){.stepping = stepping, .postpones = d->postpones};
    d->state = (wg_debug_state){.who = {.agent = WG_AGENT_NONE}};
    if (wg_debug_now(d) < target && wg_stops_already(d))
        return stopped(d);
    wg_stops_begin(d);
    if (!wg_stops_watch(d))
        return paused(d, WG_PAUSE_FAILED);
    wg_pause why = WG_PAUSE_STEP;
    for (uint64_t n = 0; wg_debug_now(d) < target; n++) {
        uint64_t began = nanoseconds();
        wg_stops_before(d);
        bool ended = wg_debug_advance(d, stretch_from(d, target, n), &stop);
        wg_stops_behind(d);
        d->running += nanoseconds() - began;
        if (*d->error || !wg_stops_watch(d)) {
            why = WG_PAUSE_FAILED;
            break;
        }
        if (d->stops.found)
            break;
        if (ended) {
            why = WG_PAUSE_ENDED;
            break;
        }
        if (!remember(d)) {
            why = WG_PAUSE_FAILED;
            break;
        }
        if (n % CLOSE == 0 && d->interrupted && d->interrupted(d->interrupted_user)) {
            why = WG_PAUSE_INTERRUPT;
            break;
        }
    }
    wg_stops_unwatch(d);
    if (d->stops.found && why == WG_PAUSE_STEP)
        return stopped(d);
    d->limited = may_be_limited && why == WG_PAUSE_STEP;
    d->state.stop = stop;
    return paused(d, why);
}

static const wg_who nobody = {.agent = WG_AGENT_NONE};

wg_pause wg_debug_continue(wg_debug *d) { return forwards(d, nobody, UINT64_MAX); }
wg_pause wg_debug_continue_to(wg_debug *d, uint64_t cycle) { return forwards(d, nobody, cycle); }
wg_pause wg_debug_step(wg_debug *d, wg_who who) { return forwards(d, who, UINT64_MAX); }

/* ---- Backwards ---- */

/* Runs from a checkpoint to `to`, recording the last match. */
static bool run_through(wg_debug *d, uint64_t to)
{
    wg_stop stop;
    wg_stops_begin(d);
    if (!wg_stops_watch(d))
        return false;
    bool ended = false;
    while (wg_debug_now(d) < to && !ended) {
        wg_stops_before(d);
        ended = wg_debug_advance(d, wg_stops_closely(d) ? wg_debug_now(d) + 1 : to, &stop);
        wg_stops_behind(d);
    }
    wg_stops_unwatch(d);
    return !*d->error;
}

static wg_pause came_to(wg_debug *d, wg_pause why, uint64_t cycle)
{
    if (!wg_debug_goto(d, cycle))
        return paused(d, WG_PAUSE_FAILED);
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        for (unsigned core = 0; wg_debug_dev(d, i) && core < WG_CORES; core++)
            d->told[i][core] = wg_debug_where(d, i, core);
    d->state = d->stops.found ? d->stops.what : (wg_debug_state){.who = d->stops.stepping};
    return paused(d, why);
}

/* Short stretches first: the match is often close. Then from checkpoint to checkpoint. */
static wg_pause backwards(wg_debug *d, wg_who stepping)
{
    uint64_t end = wg_debug_now(d), to = end;
    d->limited = false;
    d->error[0] = 0;
    d->stops = (wg_stops){.backwards = true, .stepping = stepping, .end = end};
    if (!d->past.count)
        return came_to(d, WG_PAUSE_BEGIN, end);
    uint64_t begin = d->past.list[0].cycle;
    uint64_t reach = stepping.agent != WG_AGENT_NONE ? CLOSE : ATTENTIVE;
    for (; to > begin && !d->stops.found; reach *= reach > d->distance ? 1 : 8) {
        uint64_t from = to - begin > reach ? to - reach : begin;
        uint64_t before = d->past.list[wg_checkpoints_before(&d->past, to - 1)].cycle;
        from = before > from || reach > d->distance ? before : from;
        if (!wg_debug_goto(d, from) || !run_through(d, to))
            return paused(d, WG_PAUSE_FAILED);
        to = from;
        if (!d->stops.found && d->interrupted && d->interrupted(d->interrupted_user))
            return came_to(d, WG_PAUSE_INTERRUPT, to);
    }
    if (!d->stops.found)
        return came_to(d, WG_PAUSE_BEGIN, begin);
    return came_to(d, d->stops.what.pause, d->stops.at);
}

wg_pause wg_debug_back(wg_debug *d) { return backwards(d, nobody); }
wg_pause wg_debug_step_back(wg_debug *d, wg_who who) { return backwards(d, who); }

wg_pause wg_debug_go(wg_debug *d, uint64_t cycle)
{
    uint64_t now = wg_debug_now(d), begin = d->past.count ? d->past.list[0].cycle : now;
    if (cycle >= now)
        return forwards(d, nobody, cycle);
    d->error[0] = 0;
    d->stops = (wg_stops){.stepping = nobody};
    return came_to(d, cycle < begin ? WG_PAUSE_BEGIN : WG_PAUSE_STEP, cycle < begin ? begin : cycle);
}

bool wg_debug_replay(wg_debug *d, unsigned tile, uint64_t from, uint64_t kinds, wg_observer_fn fn, void *user)
{
    uint64_t now = wg_debug_now(d);
    int id[WG_DEBUG_TILES];
    bool ok = true;
    d->error[0] = 0;
    if (!d->past.count || from >= now)
        return true;
    if (!restore(d, wg_checkpoints_before(&d->past, from)))
        return false;
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        id[i] = -1;
        if (ok && dev && (tile == i || tile == WG_DEBUG_EVERY_TILE) &&
            wg_observe(dev, kinds, fn, user, &id[i]) != WG_OK) {
            wg_debug_fail(d, WG_ERR_STATE, "%s", wg_error(dev));
            id[i] = -1;
            ok = false;
        }
    }
    bool there = wg_debug_goto(d, now);
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        if (id[i] >= 0)
            wg_unobserve(wg_debug_dev(d, i), id[i]);
    return ok && there;
}

bool wg_debug_what_if(wg_debug *d, void (*change)(void *user), void (*look)(void *user), void *user)
{
    const uint64_t now = wg_debug_now(d);
    wg_stop stop;
    d->error[0] = 0;
    if (!d->past.count || !restore(d, 0))
        return false;
    change(user);
    while (wg_debug_now(d) < now && !wg_debug_advance(d, now, &stop))
        ;
    const bool ran = !*d->error;
    if (ran)
        look(user);
    return restore(d, 0) && wg_debug_goto(d, now) && ran;
}
