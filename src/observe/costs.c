/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/costs.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "isa/riscv_word.h"
#include "machine/request.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

/* The number of cycles of [from, to) that count. */
static uint64_t counted(const wg_costs *p, uint64_t from, uint64_t to)
{
    from = from > p->from ? from : p->from;
    to = to < p->to ? to : p->to;
    return to > from ? to - from : 0;
}

/* Charges cycles of one track to one instruction and one cause. */
static void spend(wg_costs *p, uint64_t from, uint64_t to, const wg_cost *what)
{
    wg_cost c = *what;
    wg_chain_note(&p->chain, from, to, what);
    c.cycles = counted(p, from, to);
    c.times = !p->cutting;
    if (c.cycles)
        wg_cost_add(&p->table, &c);
}

/* ---- The part of the run that counts ---- */

bool wg_milestone_is(const wg_milestone *stone, const wg_event *e, const uint8_t *l1)
{
    uint32_t value;
    if (stone->kind == WG_MILESTONE_PC)
        return e->kind == WG_EV_CORE_RETIRE && e->a == stone->address;
    if (stone->kind != WG_MILESTONE_STORE)
        return false;
    if (e->kind == WG_EV_CORE_REQUEST)
        return e->c == WG_REQ_WRITE && WG_REQUEST_PATH(e->word) != WG_PATH_L1 && e->a == stone->address &&
               (uint32_t)e->b == stone->value;
    if (e->kind != WG_EV_TOUCH || e->a != WG_TOUCH_L1 || !(e->how & WG_TOUCH_WRITE) || !wg_track_is_core(e->agent) ||
        e->b > stone->address || stone->address + UINT64_C(4) > e->b + e->c)
        return false;
    memcpy(&value, l1 + stone->address, 4);
    return value == stone->value;
}

static void window(wg_costs *p, const wg_event *e)
{
    if (wg_milestone_is(&p->from_stone, e, p->l1)) {
        p->from = e->cycle;
        p->from_stone.kind = WG_MILESTONE_NONE;
    }
    if (p->from_stone.kind == WG_MILESTONE_NONE && e->cycle > p->from && wg_milestone_is(&p->to_stone, e, p->l1)) {
        p->to = e->cycle;
        p->to_stone.kind = WG_MILESTONE_NONE;
        p->ended_by = e->agent;
    }
}

/* ---- Cores ---- */

enum { FEW_BYTES = 16 }; /* longer writes are not recorded word by word */

static unsigned writer_slot(uint32_t address) { return (address >> 2) * 0x9E3779B1u >> 20 & (WG_COSTS_WRITERS - 1); }
static bool is_own_ram(uint32_t address) { return address >> 16 == WG_MMIO_BASE >> 16; }

/* NULL: not known. */
static const wg_costs_write *last_write(const wg_costs *p, uint32_t address)
{
    const wg_costs_write *word = &p->word[writer_slot(address)], *last = word->address == address ? word : NULL;
    for (unsigned i = 0; i < WG_COSTS_BLOCKS; i++) {
        const wg_costs_write *b = &p->block[i];
        if (address - b->address < b->bytes && (!last || b->cycle > last->cycle))
            last = b;
    }
    return last;
}

/* Finds what ended the polling: the last writer of the word, or the packet that changed the NIU's register. */
static void find_holder(wg_costs *p, wg_costs_core *k, uint64_t now)
{
    const uint32_t address = k->polled.what.address;
    const wg_arrival *a = wg_packets_ended(&p->chain.packets, address, k->polled.from, now);
    const wg_costs_write *w = address ? last_write(p, address) : NULL;
    if (wg_packets_niu(address) < 2) {
        k->polled.what.holder = (uint8_t)(WG_AGENT_NIU0 + wg_packets_niu(address));
    } else if (w && (!a || w->cycle > a->cycle)) {
        k->polled.what.holder = w->agent;
        k->polled.what.ended_pc = w->pc;
        k->polled.what.ended_core = w->core;
    } else if (a) {
        k->polled.what.holder = (uint8_t)(a->noc == WG_PACKETS_LINK ? WG_AGENT_LINK : WG_AGENT_NIU0 + a->noc);
    }
    if (a && wg_track_is_niu(k->polled.what.holder) && !p->chain.packets.alone)
        k->polled.what.tile = (uint16_t)(1 + a->sender);
}

static void polling_ends(wg_costs *p, wg_costs_core *k, uint64_t now)
{
    if (k->polled.from == k->polled.to)
        return;
    find_holder(p, k, now);
    spend(p, k->polled.from, k->polled.to, &k->polled.what);
    k->polled.to = k->polled.from;
}

/* The iteration is over; whether it only repeated the previous one is now known. */
static void iteration_ends(wg_costs *p, wg_costs_core *k, bool polled, uint64_t now)
{
    if (polled && k->steps) {
        wg_cost what = k->step[0].what;
        what.pc = k->load_pc;
        what.word = k->load_word;
        what.address = k->address;
        what.doing = WG_DOING_POLLING;
        what.ended_pc = what.ended_core = 0;
        what.holder = WG_AGENT_NONE;
        what.tile = 0;
        if (k->polled.from == k->polled.to)
            k->polled = (wg_link){k->step[0].from, 0, what};
        k->polled.to = k->step[k->steps - 1].to;
    } else {
        polling_ends(p, k, now);
        for (unsigned i = 0; i < k->steps; i++)
            spend(p, k->step[i].from, k->step[i].to, &k->step[i].what);
    }
    k->steps = 0;
}

/* Charges cycles of a core to its current iteration. */
static void core_spends(wg_costs *p, const wg_interval *i, uint64_t to)
{
    wg_costs_core *k = &p->core[i->track];
    uint64_t from = i->from > k->done ? i->from : k->done;
    if (to <= from)
        return;
    k->done = to;
    const bool working = i->doing == WG_DOING_WORK, stalls = i->doing >= WG_DOING_STALL;
    const bool executes = stalls && i->stall.reason == WG_STALL_MULTI_CYCLE;
    const uint32_t pc = executes ? k->executing_pc : working ? k->pc : i->pc;
    const uint32_t word = executes ? k->executing_word : working ? k->word : 0;
    if (k->steps == WG_COSTS_STEPS) { /* too long to be a poll */
        iteration_ends(p, k, false, from);
        k->signature = 0;
    }
    k->step[k->steps++] = (wg_link){from,
                                    to,
                                    {.pc = pc,
                                     .word = word,
                                     .track = i->track,
                                     .core = i->track,
                                     .doing = i->doing,
                                     .resource = stalls ? i->stall.resource : 0,
                                     .holder = stalls ? i->stall.holder : WG_AGENT_NONE}};
}

static void core_retires(wg_costs *p, const wg_event *e)
{
    wg_costs_core *k = &p->core[e->agent];
    uint32_t pc = (uint32_t)e->a;
    if (pc <= k->pc) { /* a new iteration, perhaps */
        iteration_ends(p, k, k->signature && k->signature == k->before && k->load_pc, e->cycle);
        k->before = k->signature;
        k->signature = 1;
        k->load_pc = 0;
    }
    k->pc = pc;
    k->word = e->word;
    if (k->signature)
        k->signature = mix(mix(k->signature, pc), e->b) | 1;
    bool load = wg_rv_opcode(e->word) == WG_RV_LOAD;
    unsigned base = wg_rv_rs1(e->word);
    if (load && (!k->load_pc || is_own_ram(k->address))) { /* the first one that other agents can answer */
        k->load_pc = pc;
        k->load_word = e->word;
        k->address = k->known >> base & 1 ? k->r[base] + wg_rv_imm_i(e->word) : 0;
    }
    if (e->c && e->c < 32) {
        k->r[e->c] = (uint32_t)e->b;
        k->known = load ? k->known & ~(1u << e->c) : k->known | 1u << e->c;
    }
    wg_interval now = p->tracks.track[e->agent].now;
    if (now.doing == WG_DOING_WORK)
        core_spends(p, &now, e->cycle + 1);
}

static void wrote(wg_costs *p, uint32_t address, uint32_t bytes, const wg_event *e, unsigned core)
{
    wg_costs_write w = {e->cycle, address & ~3u, bytes, e->pc, e->agent, (uint8_t)core};
    if (bytes > FEW_BYTES) {
        p->block[p->blocks++ % WG_COSTS_BLOCKS] = w;
        return;
    }
    for (; w.address < address + bytes; w.address += 4)
        p->word[writer_slot(w.address)] = w;
}

/* A core or a unit writes to L1. */
static void touched(wg_costs *p, const wg_event *e)
{
    const unsigned thread = e->thread % WG_THREADS;
    wg_event by = *e;
    if (!(e->how & WG_TOUCH_WRITE))
        return;
    if (e->agent == WG_AGENT_SCALAR) /* the earlier wait of its thread is the cause */
        by.agent = (uint8_t)(WG_AGENT_THREAD0 + thread);
    wrote(p, (uint32_t)e->b, (uint32_t)e->c, &by, wg_track_is_core(e->agent) ? e->agent : p->pusher[thread]);
}

/* Requests show the address that a load polls, and the writers of words. */
static void core_requests(wg_costs *p, const wg_event *e)
{
    wg_costs_core *k = &p->core[e->agent];
    uint32_t address = (uint32_t)e->a;
    if (e->kind == WG_EV_CORE_REQUEST && k->load_pc && !k->address && e->c == WG_REQ_READ)
        k->address = address;
    if (e->kind == WG_EV_CORE_RESPONSE && e->c != WG_REQ_READ && WG_REQUEST_PATH(e->word) != WG_PATH_L1 &&
        !is_own_ram(address))
        wrote(p, address, 4, e, e->agent);
}

/* ---- Units ---- */

static void unit_spends(wg_costs *p, const wg_interval *i, uint64_t to)
{
    wg_costs_unit *u = &p->unit[i->track];
    uint64_t from = i->from > u->done ? i->from : u->done;
    u->done = to > u->done ? to : u->done;
    if (i->doing != WG_DOING_IDLE && counted(p, from, to)) {
        u->last = to < p->to ? to : p->to;
        u->first = u->busy ? u->first : from > p->from ? from : p->from;
        u->busy += i->doing == WG_DOING_WORK ? counted(p, from, to) : 0;
    }
    wg_cost c = {.track = i->track, .doing = i->doing, .holder = WG_AGENT_NONE};
    if (i->doing == WG_DOING_IDLE) {
        c.holder = u->fed_by;
    } else {
        c.pc = u->inside[0].pc;
        c.word = u->inside[0].word;
        c.core = u->inside[0].core;
    }
    if (i->doing >= WG_DOING_STALL) {
        c.resource = i->stall.resource;
        c.holder = i->stall.holder;
    }
    spend(p, from, to, &c);
}

static void unit_accepts(wg_costs *p, const wg_event *e)
{
    wg_costs_unit *u = &p->unit[e->b];
    wg_costs_insn insn = {e->id, e->pc, e->word, e->thread, (uint8_t)e->c};
    if (u->count == 0)
        u->inside[0] = insn;
    else if (u->count < WG_COSTS_INSIDE)
        u->inside[u->count] = insn;
    else
        return;
    u->count++;
}

static void unit_completes(wg_costs *p, const wg_event *e)
{
    wg_costs_unit *u = &p->unit[e->agent];
    unsigned i = 0;
    while (i < u->count && !(u->inside[i].id == e->id && u->inside[i].thread == e->thread))
        i++;
    if (i == u->count)
        return;
    if (i == 0) /* the next one's time begins */
        unit_spends(p, &p->tracks.track[e->agent].now, e->cycle);
    u->count--;
    if (u->count) /* keep the last one's start: its cycle of acceptance is charged to the instruction itself */
        memmove(&u->inside[i], &u->inside[i + 1], (u->count - i) * sizeof u->inside[0]);
}

/* ---- Gates ---- */

/* The agent that ended a wait for semaphores: the one that changed one of them last. */
static uint8_t poster_of(const wg_costs *p, unsigned semaphores)
{
    uint8_t who = WG_AGENT_NONE;
    uint64_t latest = 0;
    for (unsigned i = 0; i < 8; i++)
        if (semaphores >> i & 1 && p->posted[i] > latest) {
            latest = p->posted[i];
            who = p->poster[i];
        }
    return who;
}

static void gate_spends(wg_costs *p, const wg_interval *i)
{
    unsigned thread = i->track - (unsigned)WG_AGENT_THREAD0;
    const wg_costs_insn *whose = i->doing == WG_DOING_IDLE ? &p->arriving[thread] : &p->blamed[thread];
    wg_cost c = {
        .pc = i->pc, .word = i->word, .core = i->core, .track = i->track, .doing = i->doing, .holder = WG_AGENT_NONE};
    if (i->doing != WG_DOING_WORK) {
        c.pc = whose->pc;
        c.word = whose->word;
        c.core = whose->core;
    }
    if (i->doing == WG_DOING_IDLE && c.word && !WG_IS_HOST_PC(c.pc))
        c.holder = c.core;
    if (i->doing >= WG_DOING_STALL) {
        c.resource = i->stall.resource;
        c.holder = i->stall.holder;
        bool latched = i->stall.reason == WG_STALL_LATCHED_WAIT || i->stall.reason == WG_STALL_LATCH_OCCUPIED;
        if (latched && p->unmet[thread]) { /* the lowest of them is charged */
            c.resource = p->unmet[thread] & (uint16_t)-p->unmet[thread];
            c.holder = p->unmet_by[thread];
        }
        if (latched && wg_opcode(c.word) == WG_OPCODE_SEMWAIT)
            c.holder = poster_of(p, c.resource);
    }
    spend(p, i->from, i->to, &c);
}

/* Determines the next instruction at an empty gate, and the owner of a stall, before the tracks see the event. */
static void gate_sees(wg_costs *p, const wg_event *e, bool before)
{
    unsigned thread = e->agent - (unsigned)WG_AGENT_THREAD0;
    wg_costs_insn insn = {e->id, e->pc, e->word, e->thread, (uint8_t)e->c};
    if (e->kind == WG_EV_LATCHED) {
        p->latch[thread] = insn;
        p->unmet[thread] = 0;
        return;
    }
    if (e->kind == WG_EV_STALL_BEGIN && e->stall.reason == WG_STALL_FIFO_FULL)
        return;
    if (before)
        p->arriving[thread] = insn;
    else if (e->kind == WG_EV_STALL_BEGIN)
        p->blamed[thread] = e->stall.reason == WG_STALL_LATCHED_WAIT || e->stall.reason == WG_STALL_LATCH_OCCUPIED
                                ? p->latch[thread]
                                : insn;
}

/* One of several things that the thread's wait is for has come true. */
static void gate_waits_for(wg_costs *p, const wg_event *e)
{
    const unsigned thread = e->agent - (unsigned)WG_AGENT_THREAD0, doing = p->tracks.track[e->agent].now.doing;
    const uint16_t before = p->unmet[thread] & (uint16_t)-p->unmet[thread], lowest = (uint16_t)(e->a & -e->a);
    if (before != lowest &&
        (doing == WG_DOING_STALL + WG_STALL_LATCHED_WAIT || doing == WG_DOING_STALL + WG_STALL_LATCH_OCCUPIED)) {
        p->cutting = true;
        wg_tracks_cut(&p->tracks, e->agent, e->cycle);
        p->cutting = false;
    }
    p->unmet[thread] = (uint16_t)e->a;
    p->unmet_by[thread] = (uint8_t)e->b;
}

/* ---- All of them ---- */

static void interval(void *user, const wg_interval *i)
{
    wg_costs *p = user;
    if (wg_track_is_core(i->track))
        core_spends(p, i, i->to);
    else if (wg_track_is_thread(i->track))
        gate_spends(p, i);
    else
        unit_spends(p, i, i->to);
}

void wg_costs_begin(wg_costs *p, uint64_t cycle, unsigned held)
{
    memset(p, 0, sizeof *p);
    p->from = cycle;
    p->to = UINT64_MAX;
    p->ended_by = WG_AGENT_NONE;
    wg_tracks_begin(&p->tracks, cycle, held, interval, p);
}

void wg_costs_place(wg_costs *p, wg_arch_id arch, unsigned tile, bool alone, const uint8_t *l1)
{
    p->l1 = l1;
    p->chain.packets.arch = arch;
    p->chain.packets.tile = (uint16_t)tile;
    p->chain.packets.alone = alone;
}

void wg_costs_event(void *user, const wg_event *e)
{
    wg_costs *p = user;
    wg_packets_event(&p->chain.packets, e);
    if (e->kind == WG_EV_TOUCH) {
        window(p, e);
        touched(p, e);
    }
    if (e->agent >= WG_TRACKS || e->kind == WG_EV_TOUCH)
        return;
    bool core = wg_track_is_core(e->agent), gate = wg_track_is_thread(e->agent);
    if (core && e->kind == WG_EV_CORE_RETIRE) {
        window(p, e);
        core_retires(p, e);
    } else if (core && (e->kind == WG_EV_CORE_REQUEST || e->kind == WG_EV_CORE_RESPONSE)) {
        window(p, e);
        core_requests(p, e);
    } else if (core && e->kind == WG_EV_STALL_BEGIN) {
        p->core[e->agent].executing_pc = p->core[e->agent].pc;
        p->core[e->agent].executing_word = p->core[e->agent].word;
    } else if (e->kind == WG_EV_SEMAPHORE) {
        p->poster[e->a & 7] = e->agent;
        p->posted[e->a & 7] = e->cycle + 1;
    } else if (gate && e->kind == WG_EV_UNMET) {
        gate_waits_for(p, e);
        return;
    } else if (gate && (e->kind == WG_EV_ISSUED || e->kind == WG_EV_STALL_BEGIN || e->kind == WG_EV_LATCHED)) {
        gate_sees(p, e, true);
    } else if (e->kind == WG_EV_COMPLETED && wg_track_is_unit(e->agent)) {
        unit_completes(p, e);
    }
    if (gate && e->kind == WG_EV_ISSUED)
        p->pusher[e->agent - WG_AGENT_THREAD0] = (uint8_t)e->c;
    if (gate && e->kind == WG_EV_ISSUED && wg_opcode(e->word) == WG_OPCODE_STOREREG)
        wrote(p, wg_reg_address(e->word), 4, e, (unsigned)e->c);
    bool feeds = gate && e->kind == WG_EV_ISSUED && e->b < WG_TRACKS && wg_track_is_unit((unsigned)e->b);
    if (feeds)
        p->unit[e->b].fed_by = e->agent;
    wg_tracks_event(&p->tracks, e);
    if (gate && e->kind == WG_EV_STALL_BEGIN)
        gate_sees(p, e, false);
    if (feeds)
        unit_accepts(p, e);
}

static int dearest(const void *left, const void *right)
{
    const wg_cost *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    if (a->doing != b->doing)
        return a->doing < b->doing ? -1 : 1;
    if (a->holder != b->holder)
        return a->holder < b->holder ? -1 : 1;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    if (a->ended_pc != b->ended_pc)
        return a->ended_pc < b->ended_pc ? -1 : 1;
    uint64_t x = (uint64_t)a->resource << 32 | a->address, y = (uint64_t)b->resource << 32 | b->address;
    if (x != y)
        return x < y ? -1 : 1;
    return a->word < b->word ? -1 : a->word > b->word;
}

void wg_costs_end(wg_costs *p, uint64_t cycle)
{
    for (unsigned i = 0; i < 3; i++) /* no further instruction arrived */
        p->arriving[i] = (wg_costs_insn){0};
    for (unsigned i = 0; i < WG_TRACKS; i++)
        p->unit[i].fed_by = WG_AGENT_NONE;
    wg_tracks_end(&p->tracks, cycle);
    for (unsigned i = 0; i < WG_TRACKS; i++)
        if (wg_track_is_core(i))
            iteration_ends(p, &p->core[i], false, cycle);
    if (p->from_stone.kind != WG_MILESTONE_NONE) /* it was never reached */
        p->from = cycle;
    p->to = p->to < cycle ? p->to : cycle;
    p->from = p->from < p->to ? p->from : p->to;
    if (p->table.count)
        qsort(p->table.cost, p->table.count, sizeof *p->table.cost, dearest);
}

void wg_costs_free(wg_costs *p)
{
    wg_cost_table_free(&p->table);
    wg_chain_free(&p->chain);
}
