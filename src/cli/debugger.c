/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/debugger.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_DISTANCE = 4096, LOOK_EVERY = 4096 };

static uint64_t now(const wg_debugger *d) { return wg_cycle(d->s->dev); }

/* ---- Checkpoints ---- */

static bool take_checkpoint(wg_debugger *d)
{
    size_t bytes = wg_snapshot_size(d->s->dev);
    if (d->checkpoints == d->most) { /* every other one goes, but the first */
        size_t kept = 0;
        for (size_t i = 0; i < d->checkpoints; i++)
            if (i % 2 == 0)
                d->checkpoint[kept++] = d->checkpoint[i];
            else
                free(d->checkpoint[i].snapshot);
        d->checkpoints = kept;
        d->distance *= 2;
    }
    wg_checkpoint c = {.cycle = now(d), .snapshot = wg_malloc(bytes)};
    memcpy(c.feed, d->drive.feed, sizeof c.feed);
    if (!c.snapshot || wg_snapshot(d->s->dev, c.snapshot, bytes) != WG_OK) {
        free(c.snapshot);
        return false;
    }
    d->checkpoint[d->checkpoints++] = c;
    return true;
}

static void forget_checkpoints(wg_debugger *d)
{
    for (size_t i = 0; i < d->checkpoints; i++)
        free(d->checkpoint[i].snapshot);
    d->checkpoints = 0;
}

/* The cycle at which the next checkpoint is due. */
static uint64_t due(const wg_debugger *d) { return d->checkpoint[d->checkpoints - 1].cycle + d->distance; }

static bool return_to(wg_debugger *d, const wg_checkpoint *c)
{
    if (wg_restore(d->s->dev, c->snapshot, wg_snapshot_size(d->s->dev)) != WG_OK)
        return false;
    memcpy(d->drive.feed, c->feed, sizeof c->feed);
    return true;
}

bool wg_debug_changed(wg_debugger *d)
{
    forget_checkpoints(d);
    d->distance = FIRST_DISTANCE;
    return take_checkpoint(d);
}

bool wg_debug_open(wg_debugger *d, wg_session *s, uint64_t memory)
{
    *d = (wg_debugger){.s = s, .drive = wg_drive_begin(s), .distance = FIRST_DISTANCE};
    d->most = (size_t)(memory / wg_snapshot_size(s->dev));
    d->most = d->most < 4 ? 4 : d->most;
    d->checkpoint = wg_calloc(d->most, sizeof *d->checkpoint);
    return d->checkpoint && take_checkpoint(d);
}

void wg_debug_close(wg_debugger *d)
{
    if (d->checkpoint)
        forget_checkpoints(d);
    free(d->checkpoint);
}

/* ---- What is looked at between two cycles ---- */

typedef struct moment {
    wg_whereabouts core[WG_CORES];
    uint8_t value[WG_DEBUG_WATCHES][WG_DEBUG_WATCH_BYTES];
} moment;

static wg_whereabouts whereabouts(const wg_debugger *d, unsigned core)
{
    wg_core_info info;
    if (wg_core_state(d->s->dev, (wg_core_id)core, &info) != WG_OK)
        return (wg_whereabouts){0};
    return (wg_whereabouts){info.pc, info.instructions, !info.in_reset && !info.parked};
}

static void read_watch(const wg_debugger *d, const wg_watch *w, uint8_t *value)
{
    for (uint32_t i = 0; i < w->bytes; i++) {
        uint32_t byte = 0;
        wg_peek(d->s->dev, WG_SPACE_L1, w->address + i, &byte);
        value[i] = (uint8_t)byte;
    }
}

static void look(const wg_debugger *d, moment *m)
{
    for (unsigned i = 0; i < WG_CORES; i++)
        m->core[i] = whereabouts(d, i);
    for (unsigned i = 0; i < d->watches; i++)
        read_watch(d, &d->watch[i], m->value[i]);
}

static bool at_breakpoint(const wg_debugger *d, const wg_whereabouts *w)
{
    for (unsigned i = 0; w->runs && i < d->breakpoints; i++)
        if (d->breakpoint[i] == w->pc)
            return true;
    return false;
}

static bool same_place(const wg_whereabouts *a, const wg_whereabouts *b)
{
    return a->runs == b->runs && a->pc == b->pc && a->instructions == b->instructions;
}

/* A core that came to a breakpoint between the two; WG_CORES if none did. */
static unsigned arrived(const wg_debugger *d, const wg_whereabouts *before, const wg_whereabouts *after)
{
    for (unsigned i = 0; i < WG_CORES; i++)
        if (at_breakpoint(d, &after[i]) && !same_place(&before[i], &after[i]))
            return i;
    return WG_CORES;
}

/* A watch whose word changed between the two; d->watches if none did. */
static unsigned changed(const wg_debugger *d, const moment *before, const moment *after)
{
    unsigned i = 0;
    while (i < d->watches && memcmp(before->value[i], after->value[i], d->watch[i].bytes) == 0)
        i++;
    return i;
}

/* ---- Forwards ---- */

static wg_pause forwards(wg_debugger *d, unsigned stepping, uint64_t target)
{
    moment m, next;
    bool failed = false;
    look(d, &m);
    const uint64_t count = stepping < WG_CORES ? m.core[stepping].instructions : 0;
    const bool closely = d->breakpoints || d->watches || stepping < WG_CORES;
    for (uint64_t n = 1; now(d) < target; n++) {
        unsigned core = stepping < WG_CORES ? WG_CORES : arrived(d, d->told, m.core);
        if (core < WG_CORES) { /* already there, and not told yet */
            d->core = core;
            d->told[core] = m.core[core];
            return WG_PAUSE_BREAK;
        }
        if (now(d) >= due(d) && !take_checkpoint(d))
            return WG_PAUSE_FAILED;
        uint64_t until = closely ? now(d) + 1 : now(d) + LOOK_EVERY;
        until = until < due(d) ? until : due(d);
        until = until < target ? until : target;
        bool ended = wg_drive_to(&d->drive, until, &failed);
        if (failed)
            return WG_PAUSE_FAILED;
        look(d, &next);
        unsigned watch = changed(d, &m, &next);
        m = next;
        if (watch < d->watches) {
            d->address = d->watch[watch].address;
            return WG_PAUSE_WATCH;
        }
        if (stepping < WG_CORES && m.core[stepping].instructions != count) {
            d->core = stepping;
            d->told[stepping] = m.core[stepping];
            return WG_PAUSE_STEP;
        }
        if (ended)
            return WG_PAUSE_ENDED;
        if ((!closely || n % LOOK_EVERY == 0) && d->interrupted && d->interrupted(d->user))
            return WG_PAUSE_INTERRUPT;
    }
    return WG_PAUSE_STEP;
}

wg_pause wg_debug_continue(wg_debugger *d) { return forwards(d, WG_CORES, UINT64_MAX); }
wg_pause wg_debug_step(wg_debugger *d, unsigned core) { return forwards(d, core, UINT64_MAX); }

/* ---- Backwards ---- */

/* The last place that is wanted in [from, to], found by running through it. */
typedef struct search {
    unsigned stepping;     /* a core; WG_CORES: breakpoints and watches */
    uint64_t instructions; /* stepping: how many the core has executed there */
    uint64_t end;          /* where the search began */
    bool found;
    uint64_t at;
    wg_pause why;
    unsigned core;
    uint32_t address;
} search;

static void note(const wg_debugger *d, search *f, const moment *before, const moment *after, uint64_t cycle)
{
    if (f->stepping < WG_CORES) {
        if (cycle < f->end && after->core[f->stepping].instructions == f->instructions) {
            f->found = true;
            f->at = cycle;
            f->why = WG_PAUSE_STEP;
            f->core = f->stepping;
        }
        return;
    }
    unsigned watch = changed(d, before, after), core = arrived(d, before->core, after->core);
    if (watch < d->watches) { /* the word is about to change */
        f->found = true;
        f->at = cycle - 1;
        f->why = WG_PAUSE_WATCH;
        f->address = d->watch[watch].address;
    }
    if (core < WG_CORES && cycle < f->end) {
        f->found = true;
        f->at = cycle;
        f->why = WG_PAUSE_BREAK;
        f->core = core;
    }
}

static bool run_through(wg_debugger *d, search *f, const wg_checkpoint *from, uint64_t to)
{
    moment before, after;
    bool failed = false;
    if (!return_to(d, from))
        return false;
    look(d, &before);
    if (f->stepping < WG_CORES)
        note(d, f, &before, &before, now(d));
    while (now(d) < to && !failed) {
        bool ended = wg_drive_to(&d->drive, now(d) + 1, &failed);
        look(d, &after);
        note(d, f, &before, &after, now(d));
        before = after;
        if (ended)
            break;
    }
    return !failed;
}

/* The state at an earlier cycle, or a later one that nothing stands in the way of. */
static bool go_to(wg_debugger *d, uint64_t cycle)
{
    bool failed = false;
    size_t i = d->checkpoints;
    while (i > 1 && d->checkpoint[i - 1].cycle > cycle)
        i--;
    if (cycle < now(d) && !return_to(d, &d->checkpoint[i - 1]))
        return false;
    while (now(d) < cycle && !wg_drive_to(&d->drive, cycle, &failed))
        ;
    return !failed;
}

static wg_pause search_back(wg_debugger *d, search *f)
{
    uint64_t to = f->end;
    size_t i = d->checkpoints;
    while (i > 1 && d->checkpoint[i - 1].cycle >= to)
        i--;
    for (; i > 0 && !f->found; i--) {
        if (!run_through(d, f, &d->checkpoint[i - 1], to))
            return WG_PAUSE_FAILED;
        to = d->checkpoint[i - 1].cycle;
        if (!f->found && d->interrupted && d->interrupted(d->user))
            return go_to(d, to) ? WG_PAUSE_INTERRUPT : WG_PAUSE_FAILED;
    }
    uint64_t at = f->found ? f->at : d->checkpoint[0].cycle;
    if (!go_to(d, at))
        return WG_PAUSE_FAILED;
    for (unsigned k = 0; k < WG_CORES; k++)
        d->told[k] = whereabouts(d, k);
    d->core = f->core;
    d->address = f->address;
    return f->found ? f->why : WG_PAUSE_BEGIN;
}

wg_pause wg_debug_back(wg_debugger *d) { return search_back(d, &(search){.stepping = WG_CORES, .end = now(d)}); }

wg_pause wg_debug_step_back(wg_debugger *d, unsigned core)
{
    wg_whereabouts here = whereabouts(d, core);
    d->core = core;
    if (here.instructions == 0)
        return WG_PAUSE_BEGIN;
    return search_back(d,
                       &(search){.stepping = core, .instructions = here.instructions - 1, .end = now(d), .core = core});
}

wg_pause wg_debug_go(wg_debugger *d, uint64_t cycle)
{
    if (cycle >= now(d))
        return forwards(d, WG_CORES, cycle);
    if (cycle < d->checkpoint[0].cycle)
        return go_to(d, d->checkpoint[0].cycle) ? WG_PAUSE_BEGIN : WG_PAUSE_FAILED;
    return go_to(d, cycle) ? WG_PAUSE_STEP : WG_PAUSE_FAILED;
}

/* ---- Breakpoints and watches ---- */

bool wg_debug_break(wg_debugger *d, uint32_t pc, bool set)
{
    unsigned i = 0;
    while (i < d->breakpoints && d->breakpoint[i] != pc)
        i++;
    if (!set && i < d->breakpoints)
        d->breakpoint[i] = d->breakpoint[--d->breakpoints];
    if (!set || i < d->breakpoints)
        return true;
    if (d->breakpoints == WG_DEBUG_BREAKPOINTS)
        return false;
    d->breakpoint[d->breakpoints++] = pc;
    return true;
}

bool wg_debug_watch(wg_debugger *d, uint32_t address, uint32_t bytes, bool set)
{
    unsigned i = 0;
    while (i < d->watches && !(d->watch[i].address == address && d->watch[i].bytes == bytes))
        i++;
    if (!set && i < d->watches)
        d->watch[i] = d->watch[--d->watches];
    if (!set || i < d->watches)
        return true;
    uint32_t l1 = wg_l1_bytes(d->s->dev);
    if (d->watches == WG_DEBUG_WATCHES || bytes == 0 || bytes > WG_DEBUG_WATCH_BYTES || address >= l1 ||
        bytes > l1 - address)
        return false;
    d->watch[d->watches++] = (wg_watch){.address = address, .bytes = bytes};
    return true;
}
