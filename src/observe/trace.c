/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a tile: a process with these tracks.
 *
 *   process "tile 1-2"
 *     B NC T0 T1 T2            executing, stalled because …; below each, the functions that it runs
 *     thread 0..2              each instruction that passed, each stall with its reason
 *     Matrix Unit, …           each instruction from acceptance to completion, on as many tracks as overlap
 *     NIU 0, NIU 1             each packet while it leaves, and each one in flight to this tile (trace_noc.c)
 *
 * Arrows lead from a push to the instruction passing its gate, from there to its unit, from there to who waited for it, from the last change of a
 * semaphore to the SEMWAIT that it released, and from a packet's departure to its arrival and to its answer.
 */
#include "observe/trace_internal.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "machine/device.h"
#include "noc/floorplan.h"

enum { SLOTS_PER_TRACK = WG_TRACE_SLOTS + 1 };
/* Counters are tracks after those of agents. */
enum { COUNTERS = 1000, COUNTER_SEMAPHORE = 0, COUNTER_BANK = 8, COUNTER_METER = 12 };

wg_trace_at wg_trace_track(const wg_trace *t, unsigned agent, unsigned slot)
{
    return (wg_trace_at){t->tile.pid, agent * SLOTS_PER_TRACK + slot + 1};
}

void wg_trace_name_track(wg_trace *t, unsigned agent, unsigned slot, const char *name)
{
    if (t->named[agent] >> slot & 1)
        return;
    t->named[agent] |= 1u << slot;
    t->file->format->track(t->file, wg_trace_track(t, agent, slot), name);
}

/* A track is described before anything refers to it. */
static void name_agent(wg_trace *t, unsigned agent)
{
    wg_trace_name_track(t, agent, 0, wg_sink_agent(&t->words, agent));
}

void wg_trace_arrow(wg_trace *t, const char *name, wg_trace_at from, uint64_t from_cycle, wg_trace_at to,
                    uint64_t to_cycle)
{
    t->file->flows++;
    t->file->format->arrow(t->file, name, from, from_cycle, to, to_cycle);
}

static void count(wg_trace *t, unsigned counter, const char *name, uint64_t cycle, uint64_t value)
{
    wg_trace_at at = {t->tile.pid, COUNTERS + counter};
    if (!(t->counted >> counter & 1))
        t->file->format->counter(t->file, at, name);
    t->counted |= 1u << counter;
    t->file->format->value(t->file, at, name, cycle, value);
}

/* ---- Texts ---- */

static wg_trace_text *text_slot(wg_trace_text *all, unsigned who, uint32_t pc, uint32_t word)
{
    uint32_t h = (pc ^ word * 0x9E3779B1u ^ who << 7) * 0x85EBCA6Bu;
    return &all[(h >> 16) % WG_TRACE_TEXTS];
}

static bool is_known(wg_trace_text *k, unsigned who, uint32_t pc, uint32_t word)
{
    bool known = k->who == 1 + who && k->pc == pc && k->word == word;
    k->who = (uint8_t)(1 + who);
    k->pc = pc;
    k->word = word;
    return known;
}

static const char *instruction(wg_trace *t, unsigned agent, uint32_t pc, uint32_t word)
{
    if (!wg_track_is_core(agent)) { /* its text depends on the word only */
        agent = WG_AGENT_THREAD0;
        pc = 0;
    }
    wg_trace_text *k = text_slot(t->text, agent, pc, word);
    if (!is_known(k, agent, pc, word))
        wg_sink_insn(&t->words, agent, pc, word, k->text, sizeof k->text);
    return k->text;
}

/* "" if unknown. */
static const char *place(wg_trace *t, unsigned core, uint32_t pc)
{
    if (!t->words.place || (!pc && core >= WG_CORES))
        return "";
    wg_trace_text *k = text_slot(t->place, core, pc, 0);
    if (!is_known(k, core, pc, 0))
        wg_sink_place(&t->words, core, pc, k->text, sizeof k->text);
    return k->text;
}

/* ---- Slices ---- */

enum { MOST_ARGS = 8 };
typedef struct details {
    wg_trace_arg arg[MOST_ARGS];
    unsigned count;
    char word[16];
    uint64_t arrow_out, arrow_in;
} details;

static void add_text(details *d, const char *key, const char *text)
{
    if (text && *text)
        d->arg[d->count++] = (wg_trace_arg){key, text, 0};
}
static void add_number(details *d, const char *key, uint64_t n) { d->arg[d->count++] = (wg_trace_arg){key, NULL, n}; }

/* At most three arguments. */
static void add_instruction(details *d, uint32_t word, uint64_t id, uint64_t parent)
{
    uint32_t rest = word; /* snprintf() would take most of a trace's time */
    memcpy(d->word, "0x00000000", sizeof "0x00000000");
    for (unsigned i = 9; rest; rest >>= 4)
        d->word[i--] = "0123456789abcdef"[rest & 15];
    add_text(d, "word", d->word);
    add_number(d, "id", id);
    if (parent)
        add_number(d, "parent", parent);
}

static void slice(wg_trace *t, wg_trace_at at, const char *name, const char *category, uint64_t from, uint64_t to,
                  const details *d)
{
    t->file->format->slice(t->file,
                           &(wg_trace_box){at, name, category, from, to, d->arg, d->count, d->arrow_out, d->arrow_in});
}

static wg_trace_at name_slot(wg_trace *t, unsigned unit, unsigned slot)
{
    char name[48];
    snprintf(name, sizeof name, slot ? "%s (%u)" : "%s", wg_agent_name(unit), slot + 1);
    wg_trace_name_track(t, unit, slot, name);
    return wg_trace_track(t, unit, slot);
}

/* The unit's instruction that was the last one to complete in these cycles, or that still executes. */
static wg_trace_end_point worked_until(wg_trace *t, unsigned unit, uint64_t from, uint64_t to)
{
    const wg_trace_end_point *done = &t->done[unit];
    if (done->tid && done->cycle >= from && done->cycle < to)
        return *done;
    for (unsigned slot = 0; slot < WG_TRACE_SLOTS; slot++)
        if (t->slot[unit][slot].used && t->slot[unit][slot].since < to)
            return (wg_trace_end_point){.cycle = to - 1, .tid = name_slot(t, unit, slot).tid};
    return (wg_trace_end_point){.tid = 0};
}

/* A thread has waited for what a unit does; it has waited for the unit itself if that is busy. */
static void arrow_from_unit(wg_trace *t, const wg_interval *i, wg_trace_at at)
{
    const unsigned reason = i->doing - (unsigned)WG_DOING_STALL;
    if (i->doing < WG_DOING_STALL || !wg_track_is_thread(i->track) || !wg_track_is_unit(i->stall.holder) ||
        reason == WG_STALL_UNIT_BUSY)
        return;
    const wg_trace_end_point from = worked_until(t, i->stall.holder, i->from, i->to);
    if (from.tid)
        wg_trace_arrow(t, "result", (wg_trace_at){t->tile.pid, from.tid}, from.cycle, at, i->to - 1);
}

/* A unit has waited for what another one does, a source bank say. */
static void arrow_to_unit(wg_trace *t, const wg_interval *i)
{
    if (i->doing < WG_DOING_STALL || !wg_track_is_unit(i->stall.holder) || i->stall.holder == i->track)
        return;
    const wg_trace_end_point from = worked_until(t, i->stall.holder, i->from, i->to);
    for (unsigned slot = 0; from.tid && slot < WG_TRACE_SLOTS; slot++)
        if (t->slot[i->track][slot].used && t->slot[i->track][slot].since < i->to) {
            wg_trace_arrow(t, "result", (wg_trace_at){t->tile.pid, from.tid}, from.cycle, name_slot(t, i->track, slot),
                           i->to - 1);
            return;
        }
}

static void interval(void *user, const wg_interval *i)
{
    wg_trace *t = user;
    if (wg_track_is_unit(i->track))
        arrow_to_unit(t, i);
    if (i->doing == WG_DOING_IDLE || wg_track_is_unit(i->track))
        return;
    wg_trace_at at = wg_trace_track(t, i->track, 0);
    const unsigned core = wg_track_is_core(i->track) ? i->track : i->core;
    details d = {.count = 0};
    char reason[64];
    name_agent(t, i->track);
    arrow_from_unit(t, i, at);
    if (i->doing == WG_DOING_WORK && wg_track_is_thread(i->track)) {
        const char *text = instruction(t, i->track, i->pc, i->word);
        add_instruction(&d, i->word, i->id, i->parent);
        add_text(&d, "at", place(t, core, i->pc));
        d.arrow_out = t->passes;
        slice(t, at, text, "issued", i->from, i->to, &d);
        return;
    }
    if (i->doing >= WG_DOING_STALL)
        add_text(&d, "because", wg_doing_text(i->track, i->doing));
    if (i->doing >= WG_DOING_STALL && i->stall.holder < WG_AGENT_COUNT)
        add_text(&d, "holder", wg_sink_agent(&t->words, i->stall.holder));
    if (i->id) {
        add_instruction(&d, i->word, i->id, i->parent);
        add_text(&d, "text", instruction(t, i->track, i->pc, i->word));
    }
    if (i->pc)
        add_text(&d, "at", place(t, core, i->pc));
    slice(t, at, wg_doing_name(i->track, i->doing, reason, sizeof reason),
          i->doing >= WG_DOING_STALL ? "stall" : "state", i->from, i->to, &d);
}

/* ---- Functions of cores ---- */

static void function_ends(wg_trace *t, unsigned core, uint64_t cycle)
{
    wg_trace_code *k = &t->code[core];
    if (k->name[0] && cycle > k->since) {
        char name[32];
        details none = {.count = 0};
        snprintf(name, sizeof name, "%s functions", wg_sink_agent(&t->words, core));
        wg_trace_name_track(t, core, 1, name);
        slice(t, wg_trace_track(t, core, 1), k->name, "function", k->since, cycle, &none);
    }
    k->name[0] = 0;
    k->high = 0;
}

static void core_retires(wg_trace *t, const wg_event *e)
{
    wg_trace_code *k = &t->code[e->agent];
    uint32_t pc = (uint32_t)e->a;
    if ((k->high && pc - k->low < k->high - k->low) || !t->words.function)
        return;
    function_ends(t, e->agent, e->cycle);
    k->low = pc;
    k->high = pc + 4;
    k->since = e->cycle;
    t->words.function(t->words.user, e->agent, pc, &k->low, &k->high, k->name, sizeof k->name);
}

/* ---- Pushes and posts ---- */

/* A core's push; the host's have no track. */
static void note_push(wg_trace *t, const wg_event *e)
{
    if (e->thread >= 3 || e->c >= WG_AGENT_THREAD0 || WG_IS_HOST_PC(e->pc))
        return;
    name_agent(t, (unsigned)e->c);
    t->push[e->thread][e->id % WG_TRACE_PUSHES] =
        (wg_trace_end_point){.id = e->id, .cycle = e->cycle, .tid = wg_trace_track(t, (unsigned)e->c, 0).tid};
}

/* The instruction was pushed, or it is the first one expanded from a MOP or REPLAY that was pushed. */
static void arrow_from_push(wg_trace *t, const wg_event *e)
{
    uint64_t id = e->parent ? e->parent : e->id;
    if (e->thread >= 3)
        return;
    wg_trace_end_point *push = &t->push[e->thread][id % WG_TRACE_PUSHES];
    if (push->tid && push->id == id) {
        wg_trace_arrow(t, "push", (wg_trace_at){t->tile.pid, push->tid}, push->cycle,
                       wg_trace_track(t, WG_AGENT_THREAD0 + e->thread, 0), e->cycle);
        push->tid = 0;
    }
}

/* A thread's SEMPOST, SEMGET or SEMINIT passes, or a core's access is processed. */
static void note_post(wg_trace *t, const wg_event *e)
{
    if (!wg_track_is_thread(e->agent) && !wg_track_is_core(e->agent))
        return;
    name_agent(t, e->agent);
    t->post[e->a & 7] = (wg_trace_end_point){.id = e->id, .cycle = e->cycle, .tid = wg_trace_track(t, e->agent, 0).tid};
}

static void arrow_to_wait(wg_trace *t, const wg_event *e)
{
    const wg_trace_end_point *last = NULL;
    if (wg_opcode(e->word) != WG_OPCODE_SEMWAIT || !wg_track_is_thread(e->agent))
        return;
    for (uint32_t rest = WG_GET(SEMWAIT, sem_sel, e->word); rest; rest &= rest - 1) {
        const wg_trace_end_point *post = &t->post[__builtin_ctz(rest)];
        if (post->tid && (!last || post->cycle > last->cycle))
            last = post;
    }
    const wg_trace_at at = wg_trace_track(t, e->agent, 0);
    const wg_interval *now = &t->tracks.track[e->agent].now;
    if (last && last->tid != at.tid && now->doing >= WG_DOING_STALL && now->from < e->cycle)
        wg_trace_arrow(t, "post", (wg_trace_at){t->tile.pid, last->tid}, last->cycle, at, e->cycle - 1);
}

/* ---- Units ---- */

static void unit_slot_end(wg_trace *t, unsigned unit, unsigned slot, uint64_t cycle)
{
    wg_trace_slot *l = &t->slot[unit][slot];
    const wg_trace_at at = name_slot(t, unit, slot);
    const unsigned thread = WG_AGENT_THREAD0 + l->thread % WG_THREADS;
    const char *text = instruction(t, thread, l->pc, l->word);
    details d = {.count = 0, .arrow_in = l->arrow};
    add_number(&d, "thread", l->thread);
    add_number(&d, "id", l->id);
    add_text(&d, "at", place(t, l->core, l->pc));
    const uint64_t end = cycle > l->since ? cycle : l->since + 1;
    slice(t, at, text, "executing", l->since, end, &d);
    t->done[unit] = (wg_trace_end_point){.id = l->id, .cycle = end - 1, .tid = at.tid};
    l->used = false;
}

static void unit_enter(wg_trace *t, const wg_event *e)
{
    if (e->b >= WG_TRACKS || !wg_track_is_unit((unsigned)e->b))
        return;
    unsigned unit = (unsigned)e->b, slot = 0;
    while (slot + 1 < WG_TRACE_SLOTS && t->slot[unit][slot].used)
        slot++;
    t->slot[unit][slot] = (wg_trace_slot){.id = e->id,
                                          .parent = e->parent,
                                          .since = e->cycle,
                                          .arrow = t->passes,
                                          .word = e->word,
                                          .pc = e->pc,
                                          .thread = e->thread,
                                          .core = (uint8_t)e->c,
                                          .used = true};
}

static void unit_leave(wg_trace *t, const wg_event *e)
{
    if (!wg_track_is_unit(e->agent))
        return;
    for (unsigned slot = 0; slot < WG_TRACE_SLOTS; slot++) {
        const wg_trace_slot *l = &t->slot[e->agent][slot];
        if (l->used && l->id == e->id && l->thread == e->thread) {
            unit_slot_end(t, e->agent, slot, e->cycle);
            return;
        }
    }
}

/* ---- Bytes ---- */

static const char *const meter_names[WG_TRACE_METERS] = {
    "NoC 0 bytes sent in 64 cycles",    "NoC 0 bytes arrived in 64 cycles", "NoC 1 bytes sent in 64 cycles",
    "NoC 1 bytes arrived in 64 cycles", "L1 bytes read in 64 cycles",       "L1 bytes written in 64 cycles"};

/* The span that ends before `cycle` gets its value; a zero value is written once. */
static void meter_runs(wg_trace *t, unsigned i, uint64_t cycle)
{
    wg_trace_meter *m = &t->meter[i];
    uint64_t span = cycle - cycle % WG_TRACE_SPAN;
    if (span == m->since)
        return;
    if (m->bytes != m->last)
        count(t, COUNTER_METER + i, meter_names[i], m->since, m->bytes);
    m->last = m->bytes;
    if (m->bytes && span > m->since + WG_TRACE_SPAN) {
        count(t, COUNTER_METER + i, meter_names[i], m->since + WG_TRACE_SPAN, 0);
        m->last = 0;
    }
    m->bytes = 0;
    m->since = span;
}

void wg_trace_meter_add(wg_trace *t, unsigned meter, uint64_t cycle, uint64_t bytes)
{
    meter_runs(t, meter, cycle);
    t->meter[meter].bytes += bytes;
}

static void touched(wg_trace *t, const wg_event *e)
{
    if (e->a != WG_TOUCH_L1 || e->how & WG_TOUCH_CACHED)
        return;
    if (e->how & WG_TOUCH_READ)
        wg_trace_meter_add(t, WG_METER_L1_READ, e->cycle, e->c);
    if (e->how & WG_TOUCH_WRITE)
        wg_trace_meter_add(t, WG_METER_L1_WRITTEN, e->cycle, e->c);
}

/* ---- All of them ---- */

static void instant(wg_trace *t, const wg_event *e, const char *name)
{
    if (e->agent < WG_TRACKS)
        name_agent(t, e->agent);
    wg_trace_at at =
        e->agent < WG_TRACKS ? wg_trace_track(t, e->agent, 0) : (wg_trace_at){.pid = t->tile.pid, .tid = 0};
    t->file->format->instant(t->file, at, name, e->cycle);
}

void wg_trace_begin(wg_trace *t, uint64_t cycle, unsigned held)
{
    wg_tracks_begin(&t->tracks, cycle, held, interval, t);
    t->width = wg_floorplan_of(t->tile.arch)->width;
    t->flit_bytes = wg_arch_of(t->tile.arch)->noc.flit_bytes;
    t->l1_bytes = wg_arch_of(t->tile.arch)->tensix.l1_bytes;
    for (unsigned i = 0; i < WG_TRACE_METERS; i++)
        t->meter[i].since = cycle - cycle % WG_TRACE_SPAN;
    t->file->traced[t->tile.number % sizeof t->file->traced] = true;
    t->file->format->process(t->file, t->tile.pid, t->tile.name);
}

void wg_trace_event(void *user, const wg_event *e)
{
    wg_trace *t = user;
    static const char *const bank[4] = {
        "SrcA bank 0 belongs to the Matrix Unit", "SrcA bank 1 belongs to the Matrix Unit",
        "SrcB bank 0 belongs to the Matrix Unit", "SrcB bank 1 belongs to the Matrix Unit"};
    char name[64];
    bool enters = e->kind == WG_EV_ISSUED && e->b < WG_TRACKS && wg_track_is_unit((unsigned)e->b);
    t->passes = enters ? ++t->file->flows : 0;
    wg_tracks_event(&t->tracks, e);
    switch (e->kind) {
    case WG_EV_PUSHED: note_push(t, e); break;
    case WG_EV_RELEASED: arrow_to_wait(t, e); break;
    case WG_EV_ISSUED:
        arrow_from_push(t, e);
        unit_enter(t, e);
        break;
    case WG_EV_COMPLETED: unit_leave(t, e); break;
    case WG_EV_SEMAPHORE:
        snprintf(name, sizeof name, "semaphore %u", (unsigned)e->a & 7);
        count(t, COUNTER_SEMAPHORE + (e->a & 7), name, e->cycle, e->b);
        note_post(t, e);
        break;
    case WG_EV_MUTEX:
        snprintf(name, sizeof name, "mutex %u %s", (unsigned)e->a & 15, e->b ? "taken" : "released");
        instant(t, e, name);
        break;
    case WG_EV_BANK: count(t, COUNTER_BANK + (e->a & 3), bank[e->a & 3], e->cycle, e->b); break;
    case WG_EV_LOST: instant(t, e, "instruction lost"); break;
    case WG_EV_FINDING: {
        const wg_finding_info *info = wg_finding_info_at((unsigned)e->b);
        instant(t, e, info ? info->code : "finding");
        break;
    }
    case WG_EV_CORE_RETIRE: core_retires(t, e); break;
    case WG_EV_CORE_STATE:
        if (wg_track_is_core(e->agent) && (e->a == 0 || e->a == 2))
            function_ends(t, e->agent, e->cycle);
        break;
    case WG_EV_TOUCH: touched(t, e); break;
    case WG_EV_NOC_SENT: wg_trace_sent(t, e); break;
    case WG_EV_NOC_ARRIVED: wg_trace_arrived(t, e); break;
    default: break;
    }
}

void wg_trace_end(wg_trace *t, uint64_t cycle)
{
    wg_tracks_end(&t->tracks, cycle);
    for (unsigned unit = WG_AGENT_SYNC; unit <= WG_AGENT_MISC; unit++)
        for (unsigned slot = 0; slot < WG_TRACE_SLOTS; slot++)
            if (t->slot[unit][slot].used)
                unit_slot_end(t, unit, slot, cycle);
    for (unsigned core = 0; core < WG_CORES; core++)
        function_ends(t, core, cycle);
    for (unsigned i = 0; i < WG_TRACE_METERS; i++)
        meter_runs(t, i, cycle + WG_TRACE_SPAN);
    wg_trace_left(t, 0, cycle);
    wg_trace_left(t, 1, cycle);
}
