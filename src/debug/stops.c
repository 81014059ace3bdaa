/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that stop a run: breakpoints, watches, conditions, steps. All but watches of own RAM are seen in the event stream,
 * so that the machine runs in long stretches.
 */
#include "debug/debug.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "isa/riscv_word.h"

#define RAM_BASE UINT32_C(0xFFB00000)
enum { RAM_REACH = 0x10000 };

typedef enum place { IN_L1, IN_RAM, IN_REGISTERS } place;

static place place_of(const wg_debug *d, const wg_watch *w)
{
    if (w->address < d->arch->tensix.l1_bytes)
        return IN_L1;
    return w->address - RAM_BASE < RAM_REACH ? IN_RAM : IN_REGISTERS;
}

static bool overlaps(const wg_watch *w, uint64_t first, uint64_t count)
{
    return first < (uint64_t)w->address + w->bytes && w->address < first + count;
}

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

bool wg_stops_already(wg_debug *d)
{
    for (unsigned i = 0; d->breakpoints && i < wg_debug_tiles(d); i++)
        for (unsigned core = 0; wg_debug_dev(d, i) && core < WG_CORES; core++) {
            wg_whereabouts now = wg_debug_where(d, i, core);
            const wg_whereabouts *told = &d->told[i][core];
            if (!now.runs || !is_breakpoint(d, now.pc) || !wg_holds_moves(d, i, core) ||
                (told->runs && told->pc == now.pc && told->instructions == now.instructions))
                continue;
            d->stops.found = true;
            d->stops.at = wg_debug_now(d);
            d->stops.what = (wg_debug_state){.pause = WG_PAUSE_BREAK, .who = wg_debug_who(d, i, core)};
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

/* Forwards the first counts, backwards the last before the end. */
static void note(wg_debug *d, wg_debug_state what, uint64_t at)
{
    wg_stops *s = &d->stops;
    bool better = s->backwards ? at < s->end && (!s->found || at >= s->at) : !s->found || at < s->at;
    if (!better)
        return;
    s->found = true;
    s->at = at;
    s->what = what;
}

/* The boundary next to the cycle: after it forwards, before it backwards. */
static uint64_t beside(const wg_debug *d, uint64_t cycle) { return d->stops.backwards ? cycle : cycle + 1; }

static bool is_stepping(const wg_debug *d, const wg_event *e, unsigned agent)
{
    const wg_who *who = &d->stops.stepping;
    return who->agent == agent && wg_debug_index(d, *who) == e->tile;
}

/* ---- Loads and stores of own RAM ---- */

/* The address of a load (of a vector, its first bytes), from the registers before it; false: the instruction is no load. */
static bool load_address(const wg_debug *d, const wg_event *e, uint32_t *address, uint32_t *bytes)
{
    enum { VECTOR = 16 };
    const unsigned opcode = wg_rv_opcode(e->word), width = wg_rv_funct3(e->word);
    const bool vector = opcode == WG_RV_LOAD_FP && width != 1 && width != 2;
    if ((opcode != WG_RV_LOAD && opcode != WG_RV_LOAD_FP) || e->agent >= WG_CORES)
        return false;
    *address = d->before->x[e->tile][e->agent][wg_rv_rs1(e->word)] + (vector ? 0 : wg_rv_imm_i(e->word));
    *bytes = vector ? VECTOR : 1u << (width & 3);
    return true;
}

static void note_ram_read(wg_debug *d, const wg_event *e)
{
    uint32_t address, bytes;
    if (!load_address(d, e, &address, &bytes))
        return;
    for (unsigned i = 0; i < d->watches; i++)
        if (place_of(d, &d->watch[i]) == IN_RAM && d->watch[i].how & WG_WATCH_READ &&
            overlaps(&d->watch[i], address, bytes))
            note(d,
                 (wg_debug_state){.pause = WG_PAUSE_WATCH,
                                  .who = wg_debug_who(d, e->tile, e->agent),
                                  .watch = d->watch[i].how,
                                  .address = d->watch[i].address},
                 beside(d, e->cycle));
}

static void read_ram(const wg_debug *d, unsigned tile, unsigned core, const wg_watch *w, uint8_t *to)
{
    wg_who who = wg_debug_who(d, tile, core);
    memset(to, 0, WG_DEBUG_WATCH_BYTES);
    for (uint32_t i = 0; i < w->bytes; i++) {
        uint32_t byte = 0;
        wg_peek(wg_debug_dev(d, tile), WG_SPACE_CORE_RAM, (uint32_t)who.agent << 16 | ((w->address + i) & 0xFFFF),
                &byte);
        to[i] = (uint8_t)byte;
    }
}

void wg_stops_before(wg_debug *d)
{
    if (!d->before)
        return;
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        for (unsigned core = 0; dev && core < WG_CORES; core++) {
            for (unsigned r = 0; r < 32; r++)
                wg_peek(dev, WG_SPACE_CORE_X, core * 32 + r, &d->before->x[i][core][r]);
            for (unsigned w = 0; w < d->watches; w++)
                if (place_of(d, &d->watch[w]) == IN_RAM)
                    read_ram(d, i, core, &d->watch[w], d->before->value[i][core][w]);
            const wg_core_run *run = &dev->tile->core[core].run;
            d->before->store[i][core] = run->sq_count ? run->sq[run->sq_head] : (wg_store){.path = WG_PATH_L1};
            d->before->store_at[i][core] = run->sq_head;
        }
    }
}

/* Has the store that was next reached the watched bytes? It may have written what was there already. */
static bool has_stored(const wg_debug *d, unsigned tile, unsigned core, const wg_watch *w)
{
    const wg_store *s = &d->before->store[tile][core];
    return s->path == WG_PATH_OWN_RAM && overlaps(w, s->address, s->bytes) &&
           wg_debug_dev(d, tile)->tile->core[core].run.sq_head != d->before->store_at[tile][core];
}

void wg_stops_behind(wg_debug *d)
{
    if (!d->before || d->stops.only_steps)
        return;
    uint8_t now[WG_DEBUG_WATCH_BYTES];
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        for (unsigned core = 0; wg_debug_dev(d, i) && core < WG_CORES; core++)
            for (unsigned w = 0; w < d->watches; w++) {
                if (place_of(d, &d->watch[w]) != IN_RAM || !(d->watch[w].how & WG_WATCH_WRITE))
                    continue;
                read_ram(d, i, core, &d->watch[w], now);
                const bool stored = has_stored(d, i, core, &d->watch[w]);
                if (stored || memcmp(now, d->before->value[i][core][w], sizeof now) != 0)
                    note(d,
                         (wg_debug_state){.pause = WG_PAUSE_WATCH,
                                          .who = wg_debug_who(d, i, core),
                                          .watch = d->watch[w].how,
                                          .address = d->watch[w].address,
                                          .pc = stored ? d->before->store[i][core].pc : 0},
                         beside(d, wg_debug_now(d) - 1));
            }
}

/* ---- Events ---- */

static void retired(wg_debug *d, const wg_event *e)
{
    const wg_core_run *run = &wg_debug_dev(d, e->tile)->tile->core[e->agent].run;
    const uint8_t bit = (uint8_t)(1u << e->agent);
    wg_debug_state at_break = {.pause = WG_PAUSE_BREAK, .who = wg_debug_who(d, e->tile, e->agent)};
    uint8_t *waiting = &d->stops.waiting[e->tile];
    if (is_stepping(d, e, e->agent))
        note(d, (wg_debug_state){.pause = WG_PAUSE_STEP, .who = at_break.who}, beside(d, e->cycle));
    if (d->stops.only_steps)
        return;
    if (d->before)
        note_ram_read(d, e);
    if (!(*waiting & bit) && is_breakpoint(d, (uint32_t)e->a)) /* it did not arrive there by executing */
        note(d, at_break, e->cycle);
    *waiting &= (uint8_t)~bit;
    if (!run->halt && is_breakpoint(d, run->pc)) {
        *waiting |= bit;
        note(d, at_break, e->cycle + 1);
    }
}

/* The party responsible: a core, or the instruction's thread; else none that could be stepped. */
static wg_who doer(const wg_debug *d, const wg_event *e)
{
    unsigned agent = e->agent <= WG_AGENT_THREAD2      ? e->agent
                     : e->id && e->thread < WG_THREADS ? (unsigned)WG_AGENT_THREAD0 + e->thread
                                                       : (unsigned)WG_AGENT_NONE;
    return wg_debug_who(d, e->tile, agent);
}

static void touched(wg_debug *d, const wg_event *e, place where, uint64_t first, uint64_t count, unsigned how)
{
    for (unsigned i = 0; i < d->watches; i++)
        if (place_of(d, &d->watch[i]) == where && d->watch[i].how & how && overlaps(&d->watch[i], first, count))
            note(d,
                 (wg_debug_state){.pause = WG_PAUSE_WATCH,
                                  .who = doer(d, e),
                                  .watch = d->watch[i].how,
                                  .address = d->watch[i].address,
                                  .pc = e->pc},
                 beside(d, e->cycle));
}

/* A packet whose data is read from L1, or written to it. */
static void carried(wg_debug *d, const wg_event *e)
{
    const unsigned kind = (uint8_t)e->c;
    const uint32_t bytes = (uint32_t)(e->c >> 8) ? (uint32_t)(e->c >> 8) : 4;
    if (e->kind == WG_EV_NOC_SENT && (kind == WG_PACKET_WRITE || kind == WG_PACKET_DATA))
        touched(d, e, IN_L1, e->parent, bytes, WG_WATCH_READ);
    if (e->kind == WG_EV_NOC_ARRIVED && kind != WG_PACKET_READ && kind != WG_PACKET_ACK)
        touched(d, e, IN_L1, e->b, bytes, WG_WATCH_WRITE);
}

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
        is_stepping(d, e, (unsigned)WG_AGENT_THREAD0 + e->thread))
        note(d, (wg_debug_state){.pause = WG_PAUSE_STEP, .who = d->stops.stepping}, beside(d, e->cycle));
    if (!d->stops.only_steps) {
        unsigned how = (e->how & WG_TOUCH_READ ? WG_WATCH_READ : 0u) | (e->how & WG_TOUCH_WRITE ? WG_WATCH_WRITE : 0u);
        if (e->kind == WG_EV_TOUCH && e->a == WG_TOUCH_L1 && !(e->how & WG_TOUCH_BUFFERED))
            touched(d, e, IN_L1, e->b, e->c, how);
        if (e->kind == WG_EV_NOC_ARRIVED || e->kind == WG_EV_NOC_SENT)
            carried(d, e);
        if (e->kind == WG_EV_CORE_RESPONSE)
            touched(d, e, IN_REGISTERS, e->a, e->word >> 16 & 0xFF,
                    e->c == WG_REQ_READ    ? WG_WATCH_READ
                    : e->c == WG_REQ_WRITE ? WG_WATCH_WRITE
                                           : WG_WATCH_READ | WG_WATCH_WRITE);
        if (holds(d, e))
            note(d, (wg_debug_state){.pause = WG_PAUSE_UNTIL, .who = doer(d, e)}, beside(d, e->cycle));
    }
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
    if (d->stops.only_steps)
        return d->stops.stepping.agent <= WG_AGENT_CORE_T2 ? WG_EV_BIT(WG_EV_CORE_RETIRE)
                                                           : WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_LATCHED);
    uint64_t kinds = of_condition[d->until.kind];
    if (d->breakpoints)
        kinds |= WG_EV_BIT(WG_EV_CORE_RETIRE);
    for (unsigned i = 0; i < d->watches; i++) {
        place where = place_of(d, &d->watch[i]);
        kinds |= where == IN_L1    ? WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED)
                 : where == IN_RAM ? WG_EV_BIT(WG_EV_CORE_RETIRE)
                                   : WG_EV_BIT(WG_EV_CORE_RESPONSE);
    }
    return kinds;
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

static wg_status watch_ram(wg_debug *d)
{
    bool any = false;
    for (unsigned i = 0; i < d->watches; i++)
        any |= place_of(d, &d->watch[i]) == IN_RAM;
    if (!any) {
        free(d->before);
        d->before = NULL;
    } else if (!d->before && !(d->before = calloc(1, sizeof *d->before))) {
        d->watches--;
        return wg_debug_fail(d, WG_ERR_NO_MEMORY, "out of memory");
    }
    return WG_OK;
}

wg_status wg_debug_watch(wg_debug *d, uint32_t address, uint32_t bytes, unsigned how, bool set)
{
    unsigned i = 0;
    while (i < d->watches && !(d->watch[i].address == address && d->watch[i].bytes == bytes && d->watch[i].how == how))
        i++;
    if (!set && i < d->watches) {
        d->watch[i] = d->watch[--d->watches];
        return watch_ram(d);
    }
    if (!set || i < d->watches)
        return WG_OK;
    if (d->watches == WG_DEBUG_WATCHES)
        return wg_debug_fail(d, WG_ERR_ARGUMENT, "there are %d watches already", WG_DEBUG_WATCHES);
    const wg_watch w = {.address = address, .bytes = bytes, .how = (uint8_t)how};
    uint64_t end = (uint64_t)address + bytes;
    if (!how || how > (WG_WATCH_READ | WG_WATCH_WRITE) || !bytes || bytes > WG_DEBUG_WATCH_BYTES || end > UINT32_MAX ||
        (place_of(d, &w) == IN_L1 && end > d->arch->tensix.l1_bytes))
        return wg_debug_fail(d, WG_ERR_ADDRESS, "%u bytes at 0x%08x cannot be watched", bytes, address);
    d->watch[d->watches++] = w;
    return watch_ram(d);
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
