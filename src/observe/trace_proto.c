/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in Perfetto's protocol buffers: a sequence of packets, each written as soon as it is known.
 *
 *   Trace { TracePacket { timestamp, track_event { type, track_uuid, name, … } } … }
 *
 * One cycle is 1000 ns of the viewer's time. Texts that recur are written once and then referred to by number. An arrow
 * leads between the beginnings of two slices, or, where an end of it is later in its slice, between two instants.
 *
 * Facts: field numbers from Perfetto's trace_packet.proto, track_event.proto, track_descriptor.proto, debug_annotation.proto and
 * interned_data.proto.
 */
#include "observe/trace_file.h"

#include <string.h>

#include <waitgate/waitgate.h>

enum { /* wire types */
       VARINT = 0,
       FIXED64 = 1,
       BYTES = 2
};
enum { /* Trace */
       TRACE_PACKET = 1
};
enum { /* TracePacket */
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE = 10,
       PACKET_EVENT = 11,
       PACKET_INTERNED = 12,
       PACKET_FLAGS = 13,
       PACKET_TRACK = 60,
       FLAG_CLEARED = 1, /* names restart */
       FLAG_NEEDS = 2    /* names refer to earlier packets */
};
enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_ORDERING = 11,
       TRACK_RANK = 12,
       ORDER_EXPLICIT = 3,
       PROCESS_PID = 1,
       PROCESS_NAME = 6
};
enum { /* TrackEvent */
       EVENT_CATEGORY_NUMBER = 3,
       EVENT_ARG = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_NUMBER = 10,
       EVENT_TRACK = 11,
       EVENT_NAME = 23,
       EVENT_COUNTER = 30,
       EVENT_FLOW = 47,
       EVENT_FLOW_END = 48,
       TYPE_BEGIN = 1,
       TYPE_END = 2,
       TYPE_INSTANT = 3,
       TYPE_COUNTER = 4
};
enum { /* DebugAnnotation */
       ARG_NAME_NUMBER = 1,
       ARG_NUMBER = 3,
       ARG_TEXT = 6,
       ARG_TEXT_NUMBER = 17
};
enum { /* InternedData: its lists, each with entries of a number and a text */
       LIST_CATEGORIES = 1,
       LIST_NAMES = 2,
       LIST_ARG_NAMES = 3,
       LIST_ARG_TEXTS = 29,
       ENTRY_NUMBER = 1,
       ENTRY_TEXT = 2
};
enum { NS_PER_CYCLE = 1000, SEQUENCE = 1, ROOM = 4096 };

/* A message in progress. What does not fit is dropped: texts are truncated so that everything fits. */
typedef struct message {
    size_t used;
    uint8_t bytes[ROOM];
} message;

static void put(message *m, const void *from, size_t count)
{
    if (count > sizeof m->bytes - m->used)
        return;
    memcpy(m->bytes + m->used, from, count);
    m->used += count;
}

static void varint(message *m, uint64_t value)
{
    uint8_t bytes[10];
    unsigned n = 0;
    for (; value > 0x7F; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    put(m, bytes, n);
}

static void number(message *m, unsigned field, uint64_t value)
{
    varint(m, field << 3 | VARINT);
    varint(m, value);
}

static void fixed64(message *m, unsigned field, uint64_t value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    varint(m, field << 3 | FIXED64);
    put(m, bytes, sizeof bytes);
}

static void bytes_of(message *m, unsigned field, const void *from, size_t count)
{
    varint(m, field << 3 | BYTES);
    varint(m, count);
    put(m, from, count);
}

enum { LONGEST_TEXT = 160 };
static void text(message *m, unsigned field, const char *from)
{
    size_t n = strlen(from);
    bytes_of(m, field, from, n < LONGEST_TEXT ? n : LONGEST_TEXT);
}

static uint64_t uuid_of(wg_trace_at at) { return (uint64_t)at.pid << 32 | at.tid; }

static void write_packet(wg_trace_file *f, const message *m)
{
    message head;
    head.used = 0;
    varint(&head, TRACE_PACKET << 3 | BYTES);
    varint(&head, m->used);
    wg_sink_bytes(&f->out, head.bytes, head.used);
    wg_sink_bytes(&f->out, m->bytes, m->used);
}

static void begin_packet(wg_trace_file *f, message *packet)
{
    packet->used = 0;
    number(packet, PACKET_SEQUENCE, SEQUENCE);
    number(packet, PACKET_FLAGS, f->begun ? FLAG_NEEDS : FLAG_CLEARED);
    f->begun = true;
}

/* The number of a recurring text of a list; the first packet that uses it contains the text. 0: too long for that. */
static uint32_t number_of(wg_trace_file *f, unsigned list, const char *name, message *interned)
{
    uint64_t h = list, piece;
    const size_t n = strlen(name);
    if (n >= WG_TRACE_NAME_BYTES)
        return 0;
    for (size_t i = 0; i < n; i += 8) {
        piece = 0;
        memcpy(&piece, name + i, n - i < 8 ? n - i : 8);
        h = (h ^ piece) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    wg_trace_name *known = &f->name[h % WG_TRACE_NAMES];
    if (known->number && known->list == list && memcmp(known->text, name, n + 1) == 0)
        return known->number;
    known->number = ++f->names;
    known->list = list;
    memcpy(known->text, name, n + 1);
    message entry;
    entry.used = 0;
    number(&entry, ENTRY_NUMBER, known->number);
    text(&entry, ENTRY_TEXT, name);
    bytes_of(interned, list, entry.bytes, entry.used);
    return known->number;
}

static void name_event(wg_trace_file *f, message *interned, message *event, const char *name)
{
    uint32_t n = number_of(f, LIST_NAMES, name, interned);
    if (n)
        number(event, EVENT_NAME_NUMBER, n);
    else
        text(event, EVENT_NAME, name);
}

static void add_arg(wg_trace_file *f, message *interned, message *event, const wg_trace_arg *from)
{
    message arg;
    arg.used = 0;
    number(&arg, ARG_NAME_NUMBER, number_of(f, LIST_ARG_NAMES, from->key, interned));
    uint32_t n = from->text ? number_of(f, LIST_ARG_TEXTS, from->text, interned) : 0;
    if (!from->text)
        number(&arg, ARG_NUMBER, from->number);
    else if (n)
        number(&arg, ARG_TEXT_NUMBER, n);
    else
        text(&arg, ARG_TEXT, from->text);
    bytes_of(event, EVENT_ARG, arg.bytes, arg.used);
}

static void begin_event(message *event, unsigned type, wg_trace_at at)
{
    event->used = 0;
    number(event, EVENT_TYPE, type);
    number(event, EVENT_TRACK, uuid_of(at));
}

static void write_event(wg_trace_file *f, message *packet, const message *interned, const message *event,
                        uint64_t cycle)
{
    if (interned && interned->used)
        bytes_of(packet, PACKET_INTERNED, interned->bytes, interned->used);
    number(packet, PACKET_TIMESTAMP, cycle * NS_PER_CYCLE);
    bytes_of(packet, PACKET_EVENT, event->bytes, event->used);
    write_packet(f, packet);
}

/* ---- The format ---- */

static void write_track(wg_trace_file *f, const message *track)
{
    message packet;
    begin_packet(f, &packet);
    bytes_of(&packet, PACKET_TRACK, track->bytes, track->used);
    write_packet(f, &packet);
}

static void proto_begin(wg_trace_file *f, const char *arch)
{
    (void)arch; /* each process is named after its tile and architecture */
    memset(f->name, 0, sizeof f->name);
}

static void proto_process(wg_trace_file *f, unsigned pid, const char *name)
{
    message track, process;
    track.used = process.used = 0;
    number(&process, PROCESS_PID, pid);
    text(&process, PROCESS_NAME, name);
    number(&track, TRACK_UUID, uuid_of((wg_trace_at){pid, 0}));
    bytes_of(&track, TRACK_PROCESS, process.bytes, process.used);
    number(&track, TRACK_ORDERING, ORDER_EXPLICIT);
    write_track(f, &track);
}

static void describe(wg_trace_file *f, wg_trace_at at, const char *name, bool counter)
{
    message track;
    track.used = 0;
    number(&track, TRACK_UUID, uuid_of(at));
    text(&track, TRACK_NAME, name);
    number(&track, TRACK_PARENT, uuid_of((wg_trace_at){at.pid, 0}));
    if (counter)
        bytes_of(&track, TRACK_COUNTER, "", 0);
    number(&track, TRACK_RANK, at.tid);
    write_track(f, &track);
}

static void proto_track(wg_trace_file *f, wg_trace_at at, const char *name) { describe(f, at, name, false); }
static void proto_counter(wg_trace_file *f, wg_trace_at at, const char *name) { describe(f, at, name, true); }

static void proto_slice(wg_trace_file *f, const wg_trace_box *box)
{
    message packet, interned, event;
    interned.used = 0;
    begin_packet(f, &packet);
    begin_event(&event, TYPE_BEGIN, box->at);
    name_event(f, &interned, &event, box->name);
    number(&event, EVENT_CATEGORY_NUMBER, number_of(f, LIST_CATEGORIES, box->category, &interned));
    for (unsigned i = 0; i < box->args; i++)
        add_arg(f, &interned, &event, &box->arg[i]);
    if (box->arrow_out || box->arrow_in)
        fixed64(&event, box->arrow_out ? EVENT_FLOW : EVENT_FLOW_END, box->arrow_out ? box->arrow_out : box->arrow_in);
    write_event(f, &packet, &interned, &event, box->from);
    begin_packet(f, &packet);
    begin_event(&event, TYPE_END, box->at);
    write_event(f, &packet, NULL, &event, box->to);
}

static void instant(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle, unsigned flow_field)
{
    message packet, interned, event;
    interned.used = 0;
    begin_packet(f, &packet);
    begin_event(&event, TYPE_INSTANT, at);
    name_event(f, &interned, &event, name);
    if (flow_field)
        fixed64(&event, flow_field, f->flows);
    write_event(f, &packet, &interned, &event, cycle);
}

static void proto_instant(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle)
{
    instant(f, at, name, cycle, 0);
}

static void proto_value(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle, uint64_t value)
{
    message packet, event;
    (void)name;
    begin_packet(f, &packet);
    begin_event(&event, TYPE_COUNTER, at);
    number(&event, EVENT_COUNTER, value);
    write_event(f, &packet, NULL, &event, cycle);
}

static void proto_arrow(wg_trace_file *f, const char *name, wg_trace_at from, uint64_t from_cycle, wg_trace_at to,
                        uint64_t to_cycle)
{
    instant(f, from, name, from_cycle, EVENT_FLOW);
    instant(f, to, name, to_cycle, EVENT_FLOW_END);
}

static void proto_end(wg_trace_file *f) { (void)f; }

const wg_trace_format wg_trace_proto = {proto_begin,   proto_process, proto_track, proto_slice, proto_instant,
                                        proto_counter, proto_value,   proto_arrow, proto_end};
