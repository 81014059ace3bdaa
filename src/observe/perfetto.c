/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file, in the Chrome trace-event JSON that Perfetto and chrome://tracing open.
 *
 *   process "tile 0"
 *     B NC T0 T1 T2            executing, stalled because …
 *     thread 0..2              each instruction that passed, each stall with its reason
 *     Matrix Unit, …           each instruction from acceptance to completion, in as many lanes as overlap
 *
 * One cycle is one microsecond of the viewer's time. Facts: the trace-event format's public description.
 */
#include "observe/sinks.h"

#include <string.h>

enum { LANES_PER_TRACK = WG_TRACE_LANES + 1 };

static unsigned lane_tid(unsigned track, unsigned lane) { return track * LANES_PER_TRACK + lane + 1; }

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

static void interval(void *user, const wg_interval *i)
{
    wg_trace *t = user;
    if (i->doing == WG_DOING_IDLE || wg_track_is_unit(i->track))
        return;
    unsigned tid = lane_tid(i->track, 0);
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

static void unit_lane_end(wg_trace *t, unsigned unit, unsigned lane, uint64_t cycle)
{
    wg_trace_lane *l = &t->lane[unit][lane];
    unsigned tid = lane_tid(unit, lane);
    if (!l->named) {
        char name[48];
        snprintf(name, sizeof name, lane ? "%s (%u)" : "%s", wg_agent_name(unit), lane + 1);
        name_thread(t, tid, name);
        l->named = true;
    }
    char room[160];
    const char *text = instruction(t, WG_AGENT_THREAD0 + l->thread % WG_THREADS, l->pc, l->word, room, sizeof room);
    slice(t, tid, text, "executing", l->since, cycle > l->since ? cycle : l->since + 1);
    wg_sink_printf(&t->out, "\"thread\":%u,", l->thread);
    instruction_args(t, text, l->word, l->id, l->parent);
    wg_sink_printf(&t->out, "}}");
    l->used = false;
}

static void unit_enter(wg_trace *t, const wg_event *e)
{
    if (e->b >= WG_TRACKS || !wg_track_is_unit((unsigned)e->b))
        return;
    unsigned unit = (unsigned)e->b, lane = 0;
    while (lane + 1 < WG_TRACE_LANES && t->lane[unit][lane].used)
        lane++;
    wg_trace_lane *l = &t->lane[unit][lane];
    bool named = l->named;
    *l = (wg_trace_lane){.id = e->id,
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
    for (unsigned lane = 0; lane < WG_TRACE_LANES; lane++) {
        const wg_trace_lane *l = &t->lane[e->agent][lane];
        if (l->used && l->id == e->id && l->thread == e->thread) {
            unit_lane_end(t, e->agent, lane, e->cycle);
            return;
        }
    }
}

static void instant(wg_trace *t, const wg_event *e, const char *name)
{
    unsigned tid = e->agent < WG_TRACKS ? lane_tid(e->agent, 0) : 0;
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
    memset(t->lane, 0, sizeof t->lane);
    memset(t->named, 0, sizeof t->named);
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
    case WG_EV_ISSUED: unit_enter(t, e); break;
    case WG_EV_COMPLETED: unit_leave(t, e); break;
    case WG_EV_SEMAPHORE:
        snprintf(name, sizeof name, "semaphore %u", (unsigned)e->a & 7);
        counter(t, e, name, "value");
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
        for (unsigned lane = 0; lane < WG_TRACE_LANES; lane++)
            if (t->lane[unit][lane].used)
                unit_lane_end(t, unit, lane, cycle);
    wg_sink_printf(&t->out, "\n]}\n");
    wg_sink_flush(&t->out);
}
