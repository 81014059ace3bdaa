/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches. Touches of L1, loads of registers and stores to them are seen in the event stream. The contents of own RAM and of
 * registers are compared after every cycle: units, the NoC and delayed stores change them, too.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/config.h"
#include "debug/debug.h"
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

/* Are its contents compared after every cycle? */
static bool is_compared(const wg_debug *d, const wg_watch *w)
{
    const place where = place_of(d, w);
    return where == IN_RAM || (where == IN_REGISTERS && w->how & WG_WATCH_WRITE);
}

static bool overlaps(const wg_watch *w, uint64_t first, uint64_t count)
{
    return first < (uint64_t)w->address + w->bytes && w->address < first + count;
}

static void note(wg_debug *d, const wg_watch *w, wg_writer by, uint64_t cycle)
{
    wg_stops_note(
        d,
        (wg_debug_state){.pause = WG_PAUSE_WATCH, .who = by.who, .watch = w->how, .address = w->address, .pc = by.pc},
        wg_stops_beside(d, cycle));
}

/* ---- Loads of own RAM ---- */

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

void wg_watch_retired(wg_debug *d, const wg_event *e)
{
    uint32_t address, bytes;
    if (!d->before || !load_address(d, e, &address, &bytes))
        return;
    for (unsigned i = 0; i < d->watches; i++)
        if (place_of(d, &d->watch[i]) == IN_RAM && d->watch[i].how & WG_WATCH_READ &&
            overlaps(&d->watch[i], address, bytes))
            note(d, &d->watch[i], (wg_writer){.who = wg_debug_who(d, e->tile, e->agent)}, e->cycle);
}

/* ---- Events ---- */

wg_who wg_stops_doer(const wg_debug *d, const wg_event *e)
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
            note(d, &d->watch[i], (wg_writer){wg_stops_doer(d, e), e->pc}, e->cycle);
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

/* Is the location that the event's instruction writes behind this word of a core's address space? */
static bool is_behind(const wg_debug *d, const wg_event *e, unsigned core, uint32_t address)
{
    const wg_tile *t = wg_debug_dev(d, e->tile)->tile;
    const wg_route r = wg_address_route(t->spec, core, address, false);
    const uint32_t word = (address & 0xFFFF) / 4, half = (r.index * (uint32_t)WG_GPRS + r.offset / 4) * 2;
    if (r.path == WG_PATH_SYNC)
        return e->kind == WG_EV_SEMAPHORE && core != WG_CORE_B && (address & 0xFFFF) == WG_SEMAPHORE_WINDOW + 4 * e->a;
    if (e->kind != WG_EV_TOUCH)
        return false;
    if (r.path == WG_PATH_GPR)
        return e->a == WG_TOUCH_GPR && e->b < half + 2 && half < e->b + e->c;
    if (r.path != WG_PATH_CONFIG || wg_config_window_word(t, word) != e->b % WG_CONFIG_WORDS)
        return false;
    return e->a == WG_TOUCH_THREAD_CONFIG
               ? wg_config_window_thread(t, word) == e->b / WG_CONFIG_WORDS
               : e->a == WG_TOUCH_CONFIG && wg_config_window_banks(t, word) >> e->b / WG_CONFIG_WORDS & 1;
}

/* Notes who writes to a watched register. The register changes in this cycle, or later. */
static void wrote(wg_debug *d, const wg_event *e)
{
    for (unsigned i = 0; i < d->watches; i++) {
        const wg_watch *w = &d->watch[i];
        if (place_of(d, w) != IN_REGISTERS || !is_compared(d, w))
            continue;
        bool found = e->kind == WG_EV_CORE_RESPONSE && overlaps(w, e->a, e->word >> 16 & 0xFF);
        for (unsigned core = 0; core < WG_CORES && !found && e->kind != WG_EV_CORE_RESPONSE; core++)
            for (uint32_t at = w->address & ~3u; at < w->address + w->bytes && !found; at += 4)
                found = is_behind(d, e, core, at);
        if (found)
            d->before->writer[e->tile][i] = (wg_writer){wg_stops_doer(d, e), e->pc};
    }
}

void wg_watch_event(wg_debug *d, const wg_event *e)
{
    const unsigned how =
        (e->how & WG_TOUCH_READ ? WG_WATCH_READ : 0u) | (e->how & WG_TOUCH_WRITE ? WG_WATCH_WRITE : 0u);
    if (e->kind == WG_EV_TOUCH && e->a == WG_TOUCH_L1 && !(e->how & WG_TOUCH_BUFFERED))
        touched(d, e, IN_L1, e->b, e->c, how);
    if (e->kind == WG_EV_NOC_ARRIVED || e->kind == WG_EV_NOC_SENT)
        carried(d, e);
    /* A store to configuration enters the Configuration Unit's pipeline, and has no effect yet. */
    if (e->kind == WG_EV_CORE_RESPONSE && (e->c == WG_REQ_READ || WG_REQUEST_PATH(e->word) != WG_PATH_CONFIG))
        touched(d, e, IN_REGISTERS, e->a, e->word >> 16 & 0xFF,
                (e->c == WG_REQ_WRITE ? 0u : WG_WATCH_READ) | (e->c == WG_REQ_READ ? 0u : WG_WATCH_WRITE));
    if (d->before && (e->kind == WG_EV_SEMAPHORE || (e->kind == WG_EV_CORE_RESPONSE && e->c != WG_REQ_READ) ||
                      (e->kind == WG_EV_TOUCH && how & WG_WATCH_WRITE)))
        wrote(d, e);
}

uint64_t wg_watch_kinds(const wg_debug *d)
{
    static const uint64_t kinds_of[] = {
        [IN_L1] = WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED),
        [IN_RAM] = WG_EV_BIT(WG_EV_CORE_RETIRE),
        [IN_REGISTERS] = WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_SEMAPHORE)};
    uint64_t kinds = 0;
    for (unsigned i = 0; i < d->watches; i++)
        kinds |= kinds_of[place_of(d, &d->watch[i])];
    return kinds;
}

/* ---- After every cycle ---- */

static void read_watched(const wg_debug *d, unsigned tile, unsigned core, const wg_watch *w, uint8_t *to)
{
    wg_device *dev = wg_debug_dev(d, tile);
    const bool registers = place_of(d, w) == IN_REGISTERS;
    memset(to, 0, WG_DEBUG_WATCH_BYTES);
    for (uint32_t i = 0, n; i < w->bytes; i += n) {
        const uint32_t address = w->address + i, room = 4 - (address & 3);
        uint32_t value = 0;
        n = !registers ? 1 : w->bytes - i < room ? w->bytes - i : room;
        if (registers && wg_debug_register(dev, core, address, &value))
            value >>= 8 * (address & 3);
        else if (registers || !wg_debug_byte(dev, core, address, &value))
            value = 0;
        for (uint32_t k = 0; k < n; k++)
            to[i + k] = (uint8_t)(value >> 8 * k);
    }
}

/* For watches of own RAM: a core's next store, and the registers, from which addresses of loads are computed. */
static void note_core(wg_debug *d, wg_device *dev, unsigned tile, unsigned core, bool reads)
{
    const wg_core_run *run = &dev->tile->core[core].run;
    for (unsigned r = 0; r < 32 && reads; r++)
        wg_peek(dev, WG_SPACE_CORE_X, core * 32 + r, &d->before->x[tile][core][r]);
    d->before->store[tile][core] = run->sq_count ? run->sq[run->sq_head] : (wg_store){.path = WG_PATH_L1};
    d->before->store_at[tile][core] = run->sq_head;
}

void wg_stops_before(wg_debug *d)
{
    unsigned ram = 0;
    for (unsigned w = 0; d->before && w < d->watches; w++)
        ram |= place_of(d, &d->watch[w]) == IN_RAM ? d->watch[w].how : 0u;
    const bool known = d->before && d->before->known == wg_debug_now(d);
    for (unsigned i = 0; d->before && i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        for (unsigned core = 0; dev && core < WG_CORES; core++) {
            if (ram)
                note_core(d, dev, i, core, ram & WG_WATCH_READ);
            for (unsigned w = 0; w < d->watches && !known; w++)
                if (is_compared(d, &d->watch[w]))
                    read_watched(d, i, core, &d->watch[w], d->before->value[i][core][w]);
        }
    }
}

/* Has the pending store reached the watched bytes? It may not have changed their value. */
static bool has_stored(const wg_debug *d, unsigned tile, unsigned core, const wg_watch *w)
{
    const wg_store *s = &d->before->store[tile][core];
    return s->path == WG_PATH_OWN_RAM && overlaps(w, s->address, s->bytes) &&
           wg_debug_dev(d, tile)->tile->core[core].run.sq_head != d->before->store_at[tile][core];
}

/* Has a watch's contents, as the core sees them, changed in the cycle that has just ended? They are those before the next one. */
static bool has_changed(wg_debug *d, unsigned tile, unsigned core, unsigned watch)
{
    uint8_t now[WG_DEBUG_WATCH_BYTES], *before = d->before->value[tile][core][watch];
    read_watched(d, tile, core, &d->watch[watch], now);
    const bool changed = memcmp(now, before, sizeof now) != 0;
    memcpy(before, now, sizeof now);
    return changed;
}

static void compare_ram(wg_debug *d, unsigned tile, unsigned watch)
{
    const wg_watch *w = &d->watch[watch];
    for (unsigned core = 0; core < WG_CORES; core++) {
        const bool stored = has_stored(d, tile, core, w), changed = has_changed(d, tile, core, watch);
        if (stored || changed)
            note(d, w, (wg_writer){wg_debug_who(d, tile, core), stored ? d->before->store[tile][core].pc : 0},
                 wg_debug_now(d) - 1);
    }
}

static void compare_registers(wg_debug *d, unsigned tile, unsigned watch)
{
    bool changed = false;
    for (unsigned core = 0; core < WG_CORES; core++)
        changed |= has_changed(d, tile, core, watch);
    if (!changed)
        return;
    wg_writer *writer = &d->before->writer[tile][watch];
    note(d, &d->watch[watch], *writer, wg_debug_now(d) - 1);
    *writer = (wg_writer){.who = wg_debug_who(d, tile, WG_AGENT_NONE)};
}

void wg_stops_behind(wg_debug *d)
{
    if (!d->before || d->stops.only_steps)
        return;
    d->before->known = wg_debug_now(d);
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        for (unsigned w = 0; wg_debug_dev(d, i) && w < d->watches; w++) {
            if (!is_compared(d, &d->watch[w]) || !(d->watch[w].how & WG_WATCH_WRITE))
                continue;
            if (place_of(d, &d->watch[w]) == IN_RAM)
                compare_ram(d, i, w);
            else
                compare_registers(d, i, w);
        }
}

/* ---- Setting them ---- */

/* The list has changed. */
static wg_status prepare(wg_debug *d)
{
    bool any = false;
    for (unsigned i = 0; i < d->watches; i++)
        any |= is_compared(d, &d->watch[i]);
    if (!any) {
        free(d->before);
        d->before = NULL;
        return WG_OK;
    }
    if (!d->before && !(d->before = calloc(1, sizeof *d->before))) {
        d->watches--;
        return wg_debug_fail(d, WG_ERR_NO_MEMORY, "out of memory");
    }
    d->before->known = UINT64_MAX;
    for (unsigned i = 0; i < WG_DEBUG_TILES; i++)
        for (unsigned w = 0; w < WG_DEBUG_WATCHES; w++)
            d->before->writer[i][w] = (wg_writer){.who = wg_debug_who(d, i, WG_AGENT_NONE)};
    return WG_OK;
}

wg_status wg_debug_watch(wg_debug *d, uint32_t address, uint32_t bytes, unsigned how, bool set)
{
    unsigned i = 0;
    while (i < d->watches && !(d->watch[i].address == address && d->watch[i].bytes == bytes && d->watch[i].how == how))
        i++;
    if (!set && i < d->watches) {
        d->watch[i] = d->watch[--d->watches];
        return prepare(d);
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
    return prepare(d);
}
