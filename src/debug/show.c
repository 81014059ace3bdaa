/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as text: positions of all cores and threads, pipelines, code, memory, semaphores, the NoC, findings. */
#include "debug/commands.h"

#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "isa/asm.h"
#include "machine/overlay.h"
#include "text/finding_words.h"
#include "text/hang_text.h"

static unsigned thread_of(wg_who who) { return who.agent - (unsigned)WG_AGENT_THREAD0; }

/* A Tensix instruction. */
static const char *insn_text(const wg_debug *d, uint32_t word, char *room, size_t bytes)
{
    return wg_debug_insn_text(d, (wg_who){.agent = WG_AGENT_THREAD0}, 0, word, room, bytes);
}

/* ---- Where ---- */

/* An instruction of a thread, by its number, and its text if it has been seen. */
typedef struct sought {
    uint64_t id, parent;
    uint32_t word;
    uint8_t thread;
    bool found;
} sought;

static void look_for(void *user, const wg_event *e)
{
    sought *s = user;
    if (e->id != s->id || e->thread != s->thread)
        return;
    s->word = e->word;
    s->parent = e->parent;
    s->found = true;
}

/* When the expander has finished, the history tells what it expanded: the latest part of it first. */
static bool find_made(wg_debug *d, wg_who who, sought *s)
{
    enum { LATELY = 1 << 12, WIDER = 16 };
    const uint64_t now = wg_debug_now(d), kinds = WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED);
    for (uint64_t reach = LATELY; !s->found; reach *= WIDER) {
        const uint64_t from = now > reach ? now - reach : 0;
        if (!wg_debug_replay(d, wg_debug_index(d, who), from, kinds, look_for, s) || !from)
            break;
    }
    return s->found;
}

/* The MOP or REPLAY that this instruction comes from, and the MOP that this comes from. */
static void origin_text(wg_debug *d, wg_who who, const wg_gate_info *g, const wg_insn *insn, wg_text *out)
{
    char text[WG_DIS_MAX];
    uint64_t parent = insn->parent;
    while (parent) {
        const wg_insn *from = g->mop.id == parent ? &g->mop : g->replay.id == parent ? &g->replay : NULL;
        sought s = {.id = parent, .thread = insn->thread};
        if (from)
            s = (sought){.word = from->word, .parent = from->parent, .found = true};
        if (!from && !find_made(d, who, &s)) {
            wg_textf(out, "      made by instruction %llu of this thread, before the history begins\n",
                     (unsigned long long)parent);
            return;
        }
        wg_textf(out, "      %smade by %s\n", parent == insn->parent ? "" : "itself ",
                 insn_text(d, s.word, text, sizeof text));
        parent = s.parent < parent ? s.parent : 0;
    }
}

static void pushed_text(wg_debug *d, wg_who who, const wg_insn *insn, wg_text *out)
{
    char text[WG_DIS_MAX], place[256] = "";
    unsigned core = insn->source < WG_CORES ? insn->source : (unsigned)(WG_CORE_T0 + insn->thread);
    wg_debug_place(d, who, core, insn->pc, place, sizeof place);
    wg_textf(out, "%s, pushed by core %s", insn_text(d, insn->word, text, sizeof text), wg_agent_name(core));
    if (*place)
        wg_textf(out, " at %s", place);
    else if (insn->pc)
        wg_textf(out, " at 0x%08x", insn->pc);
    wg_textf(out, "\n");
}

static void where_core(wg_debug *d, wg_who who, wg_text *out)
{
    char place[256] = "";
    wg_core_info info;
    wg_device *dev = wg_debug_device(d, who);
    if (wg_core_state(dev, (wg_core_id)who.agent, &info) != WG_OK)
        return;
    wg_textf(out, "  core %-3s ", wg_debug_agent(d, who));
    if (info.in_reset) {
        wg_textf(out, "in reset\n");
        return;
    }
    wg_debug_place(d, who, who.agent, info.pc, place, sizeof place);
    wg_textf(out, "at 0x%08x%s%s: %s\n", info.pc, *place ? " in " : "", place, wg_debug_doing(d, who));
}

static void where_thread(wg_debug *d, wg_who who, wg_text *out)
{
    wg_gate_info g;
    wg_gate_state(wg_debug_device(d, who)->tile, thread_of(who), &g);
    wg_textf(out, "  thread %u ", thread_of(who));
    if (!g.has_head) {
        wg_textf(out, "%s\n", wg_debug_doing(d, who));
        return;
    }
    pushed_text(d, who, &g.head, out);
    origin_text(d, who, &g, &g.head, out);
    if (g.stall.reason != WG_STALL_NONE)
        wg_textf(out, "      waits since cycle %llu: %s\n", (unsigned long long)g.stalled_since,
                 wg_stall_text(g.stall.reason));
}

void wg_show_where(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    wg_who tile;
    const bool all = wg_is_word(rest, strlen(rest), "all");
    for (unsigned i = 0; wg_debug_tile(d, i, &tile); i++) {
        bool mine = tile.x == who.x && tile.y == who.y, idle = true;
        for (unsigned core = 0; core < WG_CORES; core++)
            idle &= wg_core_parked(wg_debug_device(d, tile)->tile, core);
        if (!mine && (idle || !all))
            continue;
        if (d->desc.grid)
            wg_textf(out, "tile %u-%u\n", tile.x, tile.y);
        for (unsigned agent = WG_AGENT_CORE_B; agent <= WG_AGENT_THREAD2; agent++) {
            tile.agent = (uint8_t)agent;
            if (!wg_debug_has(d, tile))
                continue;
            if (agent <= WG_AGENT_CORE_T2)
                where_core(d, tile, out);
            else
                where_thread(d, tile, out);
        }
    }
}

/* ---- Pipelines ---- */

static void queue_text(wg_debug *d, const char *name, unsigned count, unsigned room, const wg_frontend *f,
                       const wg_insn *(*at)(const wg_frontend *, unsigned), wg_text *out)
{
    enum { SHOWN = 4 };
    char text[WG_DIS_MAX];
    wg_textf(out, "  %s: %u of %u", name, count, room);
    for (unsigned i = 0; i < count && i < SHOWN; i++)
        wg_textf(out, "%s%s", i ? "; " : ": ", insn_text(d, at(f, i)->word, text, sizeof text));
    wg_textf(out, "%s\n", count > SHOWN ? "; …" : "");
}

static void pipeline(wg_debug *d, wg_who who, wg_text *out)
{
    const wg_tile *t = wg_debug_device(d, who)->tile;
    const wg_frontend *f = &t->frontend[thread_of(who)];
    char text[WG_DIS_MAX];
    wg_gate_info g;
    wg_gate_state(t, thread_of(who), &g);
    wg_textf(out, "thread %u\n", thread_of(who));
    queue_text(d, "FIFO", f->fifo_count, d->arch->fifo_depth[thread_of(who)], f, wg_fifo_at, out);
    if (g.expanding)
        wg_textf(out, "  MOP Expander: %s, outer %u, inner %u\n", insn_text(d, g.mop.word, text, sizeof text),
                 g.mop_outer, g.mop_inner);
    else
        wg_textf(out, "  MOP Expander: idle\n");
    queue_text(d, "FIFO before the Replay Expander", wg_replay_count(f), WG_REPLAY_FIFO, f, wg_replay_fifo_at, out);
    if (g.replaying || g.recording)
        wg_textf(out, "  Replay Expander: %s, %u to come\n", g.replaying ? "plays" : "records",
                 g.replaying ? g.replaying : g.recording);
    else
        wg_textf(out, "  Replay Expander: idle\n");
    queue_text(d, "FIFO before the gate", wg_gate_count(f), WG_GATE_FIFO, f, wg_gate_fifo_at, out);
    if (g.latch.block) {
        char words[WG_HANG_WORDS];
        wg_latch_text(d->arch, &g.latch, words, sizeof words);
        wg_textf(out, "  latched wait: %s: %s\n", insn_text(d, g.latch.word, text, sizeof text), words);
    }
    if (!g.has_head) {
        wg_textf(out, "  gate: nothing waits\n");
        return;
    }
    wg_textf(out, "  gate: ");
    pushed_text(d, who, &g.head, out);
    if (g.stall.reason == WG_STALL_NONE)
        return;
    wg_textf(out, "    waits since cycle %llu: %s", (unsigned long long)g.stalled_since, wg_stall_text(g.stall.reason));
    if (g.stall.holder < WG_AGENT_COUNT)
        wg_textf(out, " (%s)", wg_agent_name(g.stall.holder));
    wg_textf(out, "\n");
}

void wg_show_pipelines(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t thread = WG_THREADS;
    if (*rest && (!wg_number(&rest, &thread) || *rest || thread >= WG_THREADS)) {
        wg_textf(out, "pipelines [THREAD]; THREAD is 0, 1 or 2\n");
        return;
    }
    for (unsigned i = 0; i < WG_THREADS; i++) {
        who.agent = (uint8_t)(WG_AGENT_THREAD0 + i);
        if (thread == WG_THREADS || thread == i)
            pipeline(d, who, out);
    }
}

/* ---- Memory and code ---- */

void wg_show_memory(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t address, words = 8;
    if (!wg_number(&rest, &address) || (*rest && !wg_number(&rest, &words)) || *rest || address > UINT32_MAX ||
        words > 1024) {
        wg_textf(out, "memory ADDRESS [WORDS]; at most 1024 words\n");
        return;
    }
    for (uint32_t i = 0; i < words; i++) {
        uint32_t at = (uint32_t)address + 4 * i, word;
        if (wg_debug_read(d, who, at, &word, 4) != WG_OK) {
            wg_textf(out, "%s%s\n", i % 4 ? "\n" : "", d->error);
            return;
        }
        if (i % 4 == 0)
            wg_textf(out, "0x%08x:", at);
        wg_textf(out, " %08x%s", word, i % 4 == 3 || i + 1 == words ? "\n" : "");
    }
}

void wg_show_code(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    enum { AROUND = 4, ALL = 12 };
    uint64_t from = 0, count = ALL;
    uint32_t pc = 0;
    char text[WG_DIS_MAX], place[256];
    wg_source last = {0};
    bool has_pc = wg_debug_pc(d, who, &pc);
    if (*rest ? (!wg_number(&rest, &from) || (*rest && !wg_number(&rest, &count)) || *rest || from > UINT32_MAX ||
                 count > 1024)
              : !has_pc) {
        wg_textf(out, "dis [PC [INSTRUCTIONS]]; at most 1024 instructions\n");
        return;
    }
    if (!from)
        from = pc >= 4 * AROUND ? pc - 4 * AROUND : 0;
    for (uint32_t at = (uint32_t)from & ~3u; count--; at += 4) {
        uint32_t word;
        if (wg_debug_read(d, who, at, &word, 4) != WG_OK) {
            wg_textf(out, "%s\n", d->error);
            return;
        }
        wg_source here = wg_debug_source(d, who, wg_debug_core(who), at);
        if (here.file && (here.file != last.file || here.line != last.line))
            wg_textf(out, "%s:\n", wg_source_text(&here, place, sizeof place));
        last = here;
        wg_debug_insn_text(d, (wg_who){.agent = (uint8_t)wg_debug_core(who)}, at, word, text, sizeof text);
        wg_textf(out, "%s 0x%08x  %08x  %s\n", has_pc && at == pc ? "=>" : "  ", at, word, text);
    }
}

/* ---- Semaphores, mutexes ---- */

void wg_show_semaphores(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    wg_device *dev = wg_debug_device(d, who);
    (void)rest;
    for (unsigned i = 0; i < WG_SEMAPHORES; i++) {
        uint32_t value = 0, most = 0;
        wg_peek(dev, WG_SPACE_SEM_VALUE, i, &value);
        wg_peek(dev, WG_SPACE_SEM_MAX, i, &most);
        wg_textf(out, "semaphore %u: %u of %u\n", i, value, most);
    }
    for (unsigned i = 0; i < WG_MUTEXES; i++) {
        uint32_t holder = 0;
        if (wg_peek(dev, WG_SPACE_MUTEX, i, &holder) != WG_OK)
            continue;
        if (holder)
            wg_textf(out, "mutex %u: held by thread %u\n", i, holder - 1);
        else
            wg_textf(out, "mutex %u: free\n", i);
    }
}

/* ---- NoC ---- */

static void packet_text(wg_debug *d, const wg_packet *p, const char *doing, wg_text *out)
{
    static const char *const kinds[] = {[WG_PACKET_READ] = "read request",   [WG_PACKET_WRITE] = "write",
                                        [WG_PACKET_INLINE] = "inline write", [WG_PACKET_ATOMIC] = "atomic request",
                                        [WG_PACKET_DATA] = "read answer",    [WG_PACKET_ACK] = "write acknowledgement",
                                        [WG_PACKET_RESULT] = "atomic answer"};
    unsigned width = d->desc.grid ? wg_grid_width(d->desc.grid) : 1;
    wg_textf(out, "  NoC %u, %s, %u bytes", p->noc, p->kind <= WG_PACKET_RESULT ? kinds[p->kind] : "packet", p->bytes);
    if (d->desc.grid && p->flags & WG_PACKET_BROADCAST)
        wg_textf(out, " from %u-%u to a rectangle of tiles", p->from % width, p->from / width);
    else if (d->desc.grid)
        wg_textf(out, " from %u-%u to %u-%u", p->from % width, p->from / width, p->to % width, p->to / width);
    wg_textf(out, ", address 0x%llx: %s %llu\n", (unsigned long long)p->address, doing, (unsigned long long)p->at);
}

typedef struct under_way {
    wg_debug *d;
    wg_text *out;
    unsigned tile; /* only from and to this one */
} under_way;

static void packet_of(const under_way *u, const wg_packet *p, const char *doing)
{
    if (!u->d->desc.grid || p->from == u->tile || (p->to == u->tile && !(p->flags & WG_PACKET_BROADCAST)))
        packet_text(u->d, p, doing, u->out);
}

static void between_tiles(void *user, const wg_packet *p, wg_under_way where)
{
    static const char *const doing[] = {[WG_UNDER_WAY] = "under way since cycle",
                                        [WG_UNDER_WAY_IN] = "arrives in cycle",
                                        [WG_UNDER_WAY_OUT] = "leaves in cycle"};
    packet_of(user, p, doing[where]);
}

static void inbox(const under_way *u, const wg_noc_box *box, unsigned index, uint32_t entry, unsigned depth)
{
    enum { DEEPEST = 64 };
    for (; entry && entry <= WG_NOC_POOL && depth < DEEPEST; entry = box->pool[entry].next) {
        wg_packet p = box->pool[entry];
        p.to = (uint16_t)index;
        p.flags &= (uint16_t)~WG_PACKET_BROADCAST; /* this is the tile's own copy */
        packet_of(u, &p, "arrives in cycle");
        inbox(u, box, index, p.child, depth + 1);
    }
}

/* Packets that are about to arrive at a tile, or to leave it. */
static void at_tile(const under_way *u, const wg_noc_box *box, unsigned index)
{
    for (unsigned noc = 0; noc < 2; noc++) {
        inbox(u, box, index, box->inbox[noc], 0);
        for (uint32_t p = box->answers[noc], n = 0; p && p <= WG_NOC_POOL && n < WG_NOC_POOL;
             p = box->pool[p].next, n++) {
            wg_packet answer = box->pool[p];
            answer.from = (uint16_t)index;
            packet_of(u, &answer, "leaves in cycle");
        }
    }
    for (unsigned i = 0; i < box->outgoing && i < WG_NOC_OUT; i++)
        packet_of(u, &box->out[i], "leaves in cycle");
}

void wg_show_noc(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    const wg_tile *t = wg_debug_device(d, who)->tile;
    under_way u = {d, out, wg_debug_index(d, who)};
    size_t before = out->size;
    (void)rest;
    for (unsigned noc = 0; noc < 2; noc++) {
        const wg_niu_unit *unit = &t->regions.niu.unit[noc];
        const uint32_t *counter = &t->regions.niu.word[noc][WG_NIU_COUNTERS / 4];
        for (unsigned i = 0; i < unit->queued; i++)
            wg_textf(out, "  NIU %u: the request of initiator %u has not left\n", noc, unit->queue[i]);
        for (unsigned id = 0; id < 16; id++)
            if (counter[WG_MST_REQS_OUTSTANDING + id])
                wg_textf(out, "  NIU %u: %u requests with transaction id %u are not answered\n", noc,
                         counter[WG_MST_REQS_OUTSTANDING + id], id);
    }
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        if (wg_debug_dev(d, i))
            at_tile(&u, wg_debug_dev(d, i)->tile->box, i);
    if (d->desc.grid)
        wg_grid_packets(d->desc.grid, between_tiles, &u);
    if (out->size == before)
        wg_textf(out, "nothing is in flight\n");
}

/*
 * Circular buffers in the public kernel library's layout: stream i's registers for the remote buffer's size and start
 * count the tiles pushed and popped (16 bits).
 */
void wg_show_buffers(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    wg_tile *t = wg_debug_device(d, who)->tile;
    bool any = false;
    (void)rest;
    for (unsigned i = 0; i < WG_OVERLAY_STREAMS; i++) {
        uint32_t received = wg_overlay_stream_read(t, i, wg_overlay_number(t->arch, WG_SR_DEST_BUF_SIZE)) & 0xFFFF;
        uint32_t acked = wg_overlay_stream_read(t, i, wg_overlay_number(t->arch, WG_SR_DEST_BUF_START)) & 0xFFFF;
        if (!received && !acked)
            continue;
        any = true;
        wg_textf(out, "buffer %u: %u tiles received, %u acknowledged, %u in it\n", i, received, acked,
                 (received - acked) & 0xFFFF);
    }
    if (!any)
        wg_textf(out, "no stream counts tiles\n");
}

/* ---- Findings ---- */

void wg_show_findings(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    const wg_device *dev = wg_debug_device(d, who);
    (void)rest;
    for (size_t i = 0; i < wg_finding_count(dev); i++) {
        const wg_finding *f = wg_finding_at(dev, i);
        const wg_finding_info *info = wg_finding_info_at(f->code);
        char place[256] = "", words[256];
        unsigned core = f->agent <= WG_AGENT_CORE_T2   ? f->agent
                        : f->agent <= WG_AGENT_THREAD2 ? f->agent - (unsigned)WG_AGENT_THREAD0 + WG_CORE_T0
                                                       : (unsigned)WG_CORES;
        wg_textf(out, "%s: %s at cycle %llu", wg_severity_names[info->severity], info->code,
                 (unsigned long long)f->cycle);
        if (f->agent < WG_AGENT_COUNT)
            wg_textf(out, ", %s", wg_agent_name(f->agent));
        if (f->count > 1)
            wg_textf(out, ", %llu times", (unsigned long long)f->count);
        if (f->has_pc) {
            wg_debug_place(d, who, core, f->pc, place, sizeof place);
            wg_textf(out, "\n    at 0x%08x%s%s", f->pc, *place ? " in " : "", place);
        }
        if (*wg_finding_words(d->arch->id, f, words, sizeof words))
            wg_textf(out, "\n    %s", words);
        wg_textf(out, "\n    %s\n    %s\n", info->cause, info->remedy);
    }
    if (!wg_finding_count(dev))
        wg_textf(out, "no findings\n");
}
