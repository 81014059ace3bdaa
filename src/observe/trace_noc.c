/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets in the trace of a tile.
 *
 *   NIU 0 sends       |read 64 B from 2-2|                    |data 64 B to 1-3|
 *                                     ╲ request
 *   NIU 0 arriving    |data 64 B from 2-2 …………………………|  ←── answer
 *
 * A packet is drawn twice: while it occupies its sender's link, and in flight, from its departure to the arrival of its
 * last flit, at its recipient.
 */
#include "observe/trace_internal.h"

#include <stdio.h>
#include <string.h>

#include "machine/packet.h"

static const char *const packet_names[] = {
    [WG_PACKET_READ] = "read",     [WG_PACKET_WRITE] = "write", [WG_PACKET_INLINE] = "inline write",
    [WG_PACKET_ATOMIC] = "atomic", [WG_PACKET_DATA] = "data",   [WG_PACKET_ACK] = "acknowledgement",
    [WG_PACKET_RESULT] = "result"};

static unsigned kind_of(const wg_event *e)
{
    unsigned kind = e->c & 0xFF;
    return kind <= WG_PACKET_RESULT ? kind : WG_PACKET_WRITE;
}
static bool is_answer(unsigned kind) { return kind >= WG_PACKET_DATA; }
static uint64_t bytes_of(const wg_event *e) { return e->c >> 8 & UINT64_C(0xFFFFFFFFFF); }
static bool has_data(unsigned kind) { return kind == WG_PACKET_WRITE || kind == WG_PACKET_DATA; }

/* "read 64 B from 2-2" */
static void name_packet(const wg_trace *t, const wg_event *e, bool arrives, char *room, size_t bytes)
{
    unsigned kind = kind_of(e), tile = (unsigned)(e->c >> 48);
    bool sized = has_data(kind) || kind == WG_PACKET_READ;
    char size[24] = "";
    if (sized)
        snprintf(size, sizeof size, " %llu B", (unsigned long long)bytes_of(e));
    bool from = arrives ? kind != WG_PACKET_READ : kind == WG_PACKET_READ;
    snprintf(room, bytes, "%s%s%s%u-%u", packet_names[kind], size,
             from      ? " from "
             : arrives ? " for "
                       : " to ",
             tile % t->width, tile / t->width);
}

static wg_trace_end_point *of_transaction(wg_trace_end_point *all, uint64_t transaction)
{
    return &all[(transaction ^ transaction >> 47) % WG_TRACE_REQUESTS];
}

void wg_trace_left(wg_trace *t, unsigned noc, uint64_t end)
{
    wg_trace_leaving *l = &t->leaving[noc];
    unsigned agent = WG_AGENT_NIU0 + noc;
    if (!l->to)
        return;
    if (l->to > end)
        l->to = end > l->from ? end : l->from + 1;
    const wg_trace_arg arg = {"transaction", NULL, l->transaction};
    t->file->format->slice(t->file,
                           &(wg_trace_box){wg_trace_track(t, agent, 0), l->name, "noc", l->from, l->to, &arg, 1});
    l->to = 0;
}

void wg_trace_sent(wg_trace *t, const wg_event *e)
{
    unsigned noc = (e->agent - WG_AGENT_NIU0) & 1, kind = kind_of(e);
    wg_trace_at at = wg_trace_track(t, WG_AGENT_NIU0 + noc, 0);
    char name[32];
    snprintf(name, sizeof name, "%s sends", wg_agent_name(e->agent));
    wg_trace_name_track(t, WG_AGENT_NIU0 + noc, 0, name);
    wg_trace_left(t, noc, e->cycle);
    wg_trace_leaving *l = &t->leaving[noc];
    l->from = e->cycle;
    l->to = e->cycle + 1 + (has_data(kind) ? (bytes_of(e) + t->flit_bytes - 1) / t->flit_bytes : 0);
    l->transaction = e->a;
    name_packet(t, e, false, l->name, sizeof l->name);
    if (has_data(kind))
        wg_trace_meter_add(t, WG_METER_SENT + 2 * noc, e->cycle, bytes_of(e));
    if (has_data(kind) && e->parent < t->l1_bytes)
        wg_trace_meter_add(t, WG_METER_L1_READ, e->cycle, bytes_of(e));
    if (!is_answer(kind)) {
        *of_transaction(t->request, e->a) = (wg_trace_end_point){e->a, e->cycle, at.tid};
        return;
    }
    const wg_trace_end_point *arrival = of_transaction(t->arrival, e->a);
    if (arrival->tid && arrival->id == e->a)
        wg_trace_arrow(t, "answer", (wg_trace_at){t->tile.pid, arrival->tid}, arrival->cycle, at, e->cycle);
}

/* A free track for a packet that has been in flight since `from`; its slice may have to begin later. */
static unsigned slot_for(wg_trace *t, unsigned noc, uint64_t *from)
{
    for (unsigned slot = 1; slot < WG_TRACE_SLOTS; slot++)
        if (t->taken[noc][slot] <= *from)
            return slot;
    unsigned last = WG_TRACE_SLOTS - 1;
    *from = t->taken[noc][last];
    return last;
}

void wg_trace_arrived(wg_trace *t, const wg_event *e)
{
    unsigned noc = (e->agent - WG_AGENT_NIU0) & 1, agent = WG_AGENT_NIU0 + noc, kind = kind_of(e);
    unsigned sender = (unsigned)(e->c >> 48);
    uint64_t left = e->parent, from = left, to = e->cycle;
    unsigned slot = slot_for(t, noc, &from);
    if (has_data(kind))
        wg_trace_meter_add(t, WG_METER_ARRIVED + 2 * noc, e->cycle, bytes_of(e));
    if (has_data(kind) && e->b < t->l1_bytes)
        wg_trace_meter_add(t, WG_METER_L1_WRITTEN, e->cycle, bytes_of(e));
    if (from >= to)
        return; /* more are in flight than there are tracks */
    char name[48];
    snprintf(name, sizeof name, slot > 1 ? "%s arriving (%u)" : "%s arriving", wg_agent_name(agent), slot);
    wg_trace_name_track(t, agent, slot, name);
    name_packet(t, e, true, name, sizeof name);
    const wg_trace_at at = wg_trace_track(t, agent, slot);
    const wg_trace_arg arg[] = {{"transaction", NULL, e->a},
                                {"links", NULL, WG_NOC_LINKS(e->word)},
                                {"waited for links", NULL, WG_NOC_WAITED(e->word)},
                                {"address", NULL, e->b}};
    t->file->format->slice(t->file, &(wg_trace_box){at, name, "noc", from, to, arg, sizeof arg / sizeof *arg});
    t->taken[noc][slot] = to;
    const char *what = is_answer(kind) ? "answer" : "request";
    const bool itself = t->tile.alone || sender == t->tile.number;
    if (itself)
        wg_trace_arrow(t, what, wg_trace_track(t, agent, 0), left, at, to - 1);
    else if (t->file->traced[sender % sizeof t->file->traced])
        wg_trace_arrow(t, what, (wg_trace_at){t->tile.pid - t->tile.number + sender, wg_trace_track(t, agent, 0).tid},
                       left, at, to - 1);
    else if (is_answer(kind)) { /* the tile that answers has no trace */
        const wg_trace_end_point *request = of_transaction(t->request, e->a);
        if (request->tid && request->id == e->a)
            wg_trace_arrow(t, what, (wg_trace_at){t->tile.pid, request->tid}, request->cycle, at, to - 1);
    }
    if (!is_answer(kind))
        *of_transaction(t->arrival, e->a) = (wg_trace_end_point){e->a, to - 1, at.tid};
}
