/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file, in the Chrome trace-event JSON that Perfetto and chrome://tracing open.
 *
 *   process "tile 0"
 *     B NC T0 T1 T2            executing, stalled because …
 *     thread 0..2              each instruction that passed, each stall with its reason
 *     Matrix Unit, …           each instruction from acceptance to completion, on as many tracks as overlap
 *
 * Flow arrows lead from a push to the instruction passing its gate, from there to its unit, and from what last changed a
 * semaphore to the SEMWAIT that it released.
 *
 * One cycle is one microsecond of the viewer's time. Facts: the trace-event format's public description.
 */
#include "observe/sinks.h"

#include <string.h>

enum { SLOTS_PER_TRACK = WG_TRACE_SLOTS + 1 };

static unsigned slot_tid(unsigned track, unsigned slot) { return track * SLOTS_PER_TRACK + slot + 1; }

static void open_record(wg_trace *t, const char *phase, const char *name, unsigned tid)
{
    wg_sink_printf(&t->out, "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"name\":", t->comma ? ",\n" : "", phase, tid);
    wg_sink_json(&t->out, name);
    t->comma = true;
}

static void name_thread(wg_trace *t, unsigned tid, const char *name)
{
    open_record(t, "M", "thread_name", tid);
    wg_sink_printf(&t->out, ",\"args\":{\"name\":");
    wg_sink_json(&t->out, name);
    wg_sink_printf(&t->out, "}}");
    open_record(t, "M", "thread_sort_index", tid);
    wg_sink_printf(&t->out, ",\"args\":{\"sort_index\":%u}}", tid);
}

static const char *instruction(wg_trace *t, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes)
{
    if (t->out.text)
        return t->out.text(t->out.text_user, agent, pc, word, room, bytes);
    snprintf(room, bytes, "0x%08x", word);
    return room;
}

static void instruction_args(wg_trace *t, const char *text, uint32_t word, uint64_t id, uint64_t parent)
{
    wg_sink_printf(&t->out, "\"word\":\"0x%08x\",\"id\":%llu", word, (unsigned long long)id);
    if (parent)
        wg_sink_printf(&t->out, ",\"parent\":%llu", (unsigned long long)parent);
    wg_sink_printf(&t->out, ",\"text\":");
    wg_sink_json(&t->out, text);
}

static void slice(wg_trace *t, unsigned tid, const char *name, const char *category, uint64_t from, uint64_t to)
{
    open_record(t, "X", name, tid);
    wg_sink_printf(&t->out, ",\"cat\":\"%s\",\"ts\":%llu,\"dur\":%llu,\"args\":{", category, (unsigned long long)from,
                   (unsigned long long)(to - from));
}

/* ---- Flow arrows ---- */

static void flow_end(wg_trace *t, const char *phase, const char *name, unsigned tid, uint64_t cycle)
{
    open_record(t, phase, name, tid);
    wg_sink_printf(&t->out, ",\"cat\":\"flow\",\"id\":%llu,\"ts\":%llu%s}", (unsigned long long)t->flows,
                   (unsigned long long)cycle, *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* An arrow between the slices that these tracks have in these cycles. */
static void flow(wg_trace *t, const char *name, unsigned from, uint64_t from_cycle, unsigned to, uint64_t to_cycle)
{
    t->flows++;
    flow_end(t, "s", name, from, from_cycle);
    flow_end(t, "f", name, to, to_cycle);
}

/* A core's push; the host's have no track. */
static void note_push(wg_trace *t, const wg_event *e)
{
    if (e->thread < 3 && e->c < WG_AGENT_THREAD0 && !WG_IS_HOST_PC(e->pc))
        t->push[e->thread][e->id % WG_TRACE_PUSHES] =
            (wg_trace_end_point){.id = e->id, .cycle = e->cycle, .tid = slot_tid((unsigned)e->c, 0)};
}

/* The instruction, or the MOP or REPLAY that made it, was pushed. */
static void flow_from_push(wg_trace *t, const wg_event *e)
{
    uint64_t id = e->parent ? e->parent : e->id;
    if (e->thread >= 3)
        return;
    const wg_trace_end_point *push = &t->push[e->thread][id % WG_TRACE_PUSHES];
    if (push->tid && push->id == id)
        flow(t, "push", push->tid, push->cycle, slot_tid(WG_AGENT_THREAD0 + e->thread, 0), e->cycle);
}

/* A thread's SEMPOST, SEMGET or SEMINIT passes, or a core's access is processed. */
static void note_post(wg_trace *t, const wg_event *e)
{
    if (wg_track_is_thread(e->agent) || wg_track_is_core(e->agent))
        t->post[e->a & 7] = (wg_trace_end_point){.id = e->id, .cycle = e->cycle, .tid = slot_tid(e->agent, 0)};
}

static void flow_to_wait(wg_trace *t, const wg_event *e)
{
    const wg_trace_end_point *last = NULL;
    if (wg_opcode(e->word) != WG_OPCODE_SEMWAIT || !wg_track_is_thread(e->agent))
        return;
    for (uint32_t rest = WG_GET(SEMWAIT, sem_sel, e->word); rest; rest &= rest - 1) {
        const wg_trace_end_point *post = &t->post[__builtin_ctz(rest)];
        if (post->tid && (!last || post->cycle > last->cycle))
            last = post;
    }
    const unsigned tid = slot_tid(e->agent, 0);
    const wg_interval *now = &t->tracks.track[e->agent].now;
    if (last && last->tid != tid && now->doing >= WG_DOING_STALL && now->from < e->cycle)
        flow(t, "post", last->tid, last->cycle, tid, e->cycle - 1);
}

static void interval(void *user, const wg_interval *i)
{
    wg_trace *t = user;
    if (i->doing == WG_DOING_IDLE || wg_track_is_unit(i->track))
        return;
    unsigned tid = slot_tid(i->track, 0);
    if (!t->named[i->track]) {
        name_thread(t, tid, wg_agent_name(i->track));
        t->named[i->track] = true;
    }
    char room[160], reason[64];
    if (i->doing == WG_DOING_WORK && wg_track_is_thread(i->track)) {
        const char *text = instruction(t, i->track, i->pc, i->word, room, sizeof room);
        slice(t, tid, text, "issued", i->from, i->to);
        instruction_args(t, text, i->word, i->id, i->parent);
    } else {
        const char *name = wg_doing_name(i->track, i->doing, reason, sizeof reason);
        slice(t, tid, name, i->doing >= WG_DOING_STALL ? "stall" : "state", i->from, i->to);
        wg_sink_printf(&t->out, "\"because\":");
        wg_sink_json(&t->out, wg_doing_text(i->track, i->doing));
        if (i->doing >= WG_DOING_STALL && i->stall.holder < WG_AGENT_COUNT) {
            wg_sink_printf(&t->out, ",\"holder\":");
            wg_sink_json(&t->out, wg_agent_name(i->stall.holder));
        }
        if (i->id) {
            wg_sink_printf(&t->out, ",");
            instruction_args(t, instruction(t, i->track, i->pc, i->word, room, sizeof room), i->word, i->id, i->parent);
        }
    }
    wg_sink_printf(&t->out, "}}");
}

static void unit_slot_end(wg_trace *t, unsigned unit, unsigned slot, uint64_t cycle)
{
    wg_trace_slot *l = &t->slot[unit][slot];
    unsigned tid = slot_tid(unit, slot);
    if (!l->named) {
        char name[48];
        snprintf(name, sizeof name, slot ? "%s (%u)" : "%s", wg_agent_name(unit), slot + 1);
        name_thread(t, tid, name);
        l->named = true;
    }
    char room[160];
    const char *text = instruction(t, WG_AGENT_THREAD0 + l->thread % WG_THREADS, l->pc, l->word, room, sizeof room);
    slice(t, tid, text, "executing", l->since, cycle > l->since ? cycle : l->since + 1);
    wg_sink_printf(&t->out, "\"thread\":%u,", l->thread);
    instruction_args(t, text, l->word, l->id, l->parent);
    wg_sink_printf(&t->out, "}}");
    flow(t, "pass", slot_tid(WG_AGENT_THREAD0 + l->thread % WG_THREADS, 0), l->since, tid, l->since);
    l->used = false;
}

static void unit_enter(wg_trace *t, const wg_event *e)
{
    if (e->b >= WG_TRACKS || !wg_track_is_unit((unsigned)e->b))
        return;
    unsigned unit = (unsigned)e->b, slot = 0;
    while (slot + 1 < WG_TRACE_SLOTS && t->slot[unit][slot].used)
        slot++;
    wg_trace_slot *l = &t->slot[unit][slot];
    bool named = l->named;
    *l = (wg_trace_slot){.id = e->id,
                         .parent = e->parent,
                         .since = e->cycle,
                         .word = e->word,
                         .pc = e->pc,
                         .thread = e->thread,
                         .used = true,
                         .named = named};
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

static void instant(wg_trace *t, const wg_event *e, const char *name)
{
    unsigned tid = e->agent < WG_TRACKS ? slot_tid(e->agent, 0) : 0;
    open_record(t, "i", name, tid);
    wg_sink_printf(&t->out, ",\"s\":\"t\",\"ts\":%llu}", (unsigned long long)e->cycle);
}

static void counter(wg_trace *t, const wg_event *e, const char *name, const char *value)
{
    open_record(t, "C", name, 0);
    wg_sink_printf(&t->out, ",\"ts\":%llu,\"args\":{\"%s\":%llu}}", (unsigned long long)e->cycle, value,
                   (unsigned long long)e->b);
}

void wg_trace_begin(wg_trace *t, uint64_t cycle, unsigned held, const char *arch)
{
    wg_tracks_begin(&t->tracks, cycle, held, interval, t);
    memset(t->slot, 0, sizeof t->slot);
    memset(t->named, 0, sizeof t->named);
    memset(t->push, 0, sizeof t->push);
    memset(t->post, 0, sizeof t->post);
    t->flows = 0;
    t->comma = false;
    wg_sink_printf(&t->out,
                   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"waitgate %s\",\"arch\":\"%s\","
                   "\"time\":\"one cycle is one microsecond\"},\"traceEvents\":[\n",
                   wg_version(), arch);
    open_record(t, "M", "process_name", 0);
    wg_sink_printf(&t->out, ",\"args\":{\"name\":\"tile 0\"}}");
}

void wg_trace_event(void *user, const wg_event *e)
{
    wg_trace *t = user;
    static const char *const bank[4] = {"SrcA bank 0 owner", "SrcA bank 1 owner", "SrcB bank 0 owner",
                                        "SrcB bank 1 owner"};
    char name[64];
    wg_tracks_event(&t->tracks, e);
    switch (e->kind) {
    case WG_EV_PUSHED: note_push(t, e); break;
    case WG_EV_RELEASED: flow_to_wait(t, e); break;
    case WG_EV_ISSUED:
        flow_from_push(t, e);
        unit_enter(t, e);
        break;
    case WG_EV_COMPLETED: unit_leave(t, e); break;
    case WG_EV_SEMAPHORE:
        snprintf(name, sizeof name, "semaphore %u", (unsigned)e->a & 7);
        counter(t, e, name, "value");
        note_post(t, e);
        break;
    case WG_EV_MUTEX:
        snprintf(name, sizeof name, "mutex %u %s", (unsigned)e->a & 15, e->b ? "taken" : "released");
        instant(t, e, name);
        break;
    case WG_EV_BANK: counter(t, e, bank[e->a & 3], "matrix"); break;
    case WG_EV_LOST: instant(t, e, "instruction lost"); break;
    case WG_EV_FINDING: {
        const wg_finding_info *info = wg_finding_info_at((unsigned)e->b);
        instant(t, e, info ? info->code : "finding");
        break;
    }
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
    wg_sink_printf(&t->out, "\n]}\n");
    wg_sink_flush(&t->out);
}
