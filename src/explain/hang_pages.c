/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hangs of tt-metal's kernels: who waits for pages, or for space, in which circular buffer, and who should have pushed or
 * popped; who waits for a semaphore of the program.
 *
 *     core B ──1 page of CB 1──► CB 1 ──core T2 pushed 5──► core T2 ──1 page of CB 0──► CB 0 ──core NC pushed 5──► core NC: its kernel has ended
 */
#include <string.h>

#include "explain/hang_graph.h"
#include "explain/pages.h"
#include "explain/stores.h"
#include "machine/device.h"

/* How the reason of a wait for a semaphore begins. */
#define POLLS "it polls the program's semaphore"

static wg_node node(wg_node_kind kind, unsigned index) { return (wg_node){(uint8_t)kind, (uint8_t)index}; }

static bool in_kernel(const graph *g, unsigned core)
{
    return g->out->core[core].info.pc - g->launched.kernel[core].address < g->launched.kernel[core].bytes;
}

void wg_hang_find_kernels(graph *g)
{
    const wg_tile *t = g->dev->tile;
    g->has_launched =
        t->spec->kind == WG_TILE_TENSIX &&
        wg_metal_read_launch(g->dev->arch->id, g->history->metal_layout, t->l1, t->spec->l1_bytes, &g->launched);
    g->out->launched = g->has_launched;
    bool rest =
        g->has_launched || (t->spec->kind == WG_TILE_TENSIX &&
                            wg_metal_is_unused(g->dev->arch->id, g->history->metal_layout, t->l1, t->spec->l1_bytes));
    for (unsigned core = 0; core < WG_CORES; core++)
        rest = rest && !in_kernel(g, core);
    for (unsigned i = 0; i < WG_THREADS; i++) /* firmware waits for what a kernel has left there */
        rest = rest && g->out->thread[i].idle;
    g->out->at_rest = rest;
}

/* Its kernel was launched, and it is back in the firmware. */
static bool has_ended(const graph *g, unsigned core)
{
    return g->has_launched && g->launched.kernel[core].bytes && !in_kernel(g, core);
}

static uint32_t capacity(void *graph_of, unsigned cb)
{
    const graph *g = graph_of;
    return g->has_launched ? wg_metal_cb_pages(&g->launched, g->dev->tile->l1, g->dev->tile->spec->l1_bytes, cb) : 0;
}

static bool waits(const graph *g, unsigned core, wg_pages_wait *out)
{
    const wg_hang_core *c = &g->out->core[core];
    return c->waits && wg_pages_waits(g->dev->tile, core, c->info.pc, capacity, (void *)(uintptr_t)g, out);
}

/* " at reader.c:21", or whatever is known. */
static const char *at_line(const graph *g, unsigned core, uint32_t pc, char room[272])
{
    wg_source source = {.struct_size = sizeof source};
    const char *file;
    unsigned line;
    if (!pc || !g->history->source || !g->history->source(g->history->place_user, core, pc, &source) ||
        !wg_pages_line(&source, &file, &line))
        return at_place(g, core, pc, room, 272);
    const char *slash = strrchr(file, '/');
    snprintf(room, 272, " at %.200s:%u", slash ? slash + 1 : file, line);
    return room;
}

/* "1 page", "no pages" … */
static const char *pages(uint32_t count, char room[24])
{
    if (count)
        snprintf(room, 24, "%u page%s", count, count == 1 ? "" : "s");
    else
        snprintf(room, 24, "no pages");
    return room;
}

/* ---- Who should have moved ------------------------------------------------------------------------------- */

/* The core that waits at the other side of the same buffer; it pushes, or pops, once it is unblocked. 0xFF if there is none. */
static unsigned opposite(const graph *g, unsigned cb, bool space)
{
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_pages_wait w;
        if (waits(g, core, &w) && w.cb == cb && w.space != space)
            return core;
    }
    return 0xFF;
}

static void kernels_here(const graph *g, char *out, size_t bytes)
{
    phrase p = {out, bytes, 0};
    unsigned last = WG_CORES, count = 0;
    for (unsigned core = 0; core < WG_CORES; core++)
        if (g->launched.kernel[core].bytes) {
            last = core;
            count++;
        }
    out[0] = 0;
    for (unsigned core = 0; core < WG_CORES; core++)
        if (g->launched.kernel[core].bytes)
            say(&p, "%s%s", !p.used ? "" : core == last ? " and " : ", ", wg_agent_name_of(g->dev, core));
    if (!count)
        snprintf(out, bytes, "none");
}

/* A core whose kernel comes to a push of the buffer, or a pop, when it gets on. WG_CORES: none. */
static unsigned would_move(const graph *g, unsigned cb, bool pop, char room[272])
{
    const uint32_t address = wg_pages_count_at(g->dev->arch, cb, pop);
    for (unsigned core = 0; g->has_launched && core < WG_CORES; core++) {
        uint32_t pc = 0;
        if (g->out->core[core].waits && in_kernel(g, core) &&
            wg_core_stores_to(g->dev, core, g->out->core[core].info.pc, address, &pc) == WG_REACH_SURELY &&
            pc - g->launched.kernel[core].address < g->launched.kernel[core].bytes) {
            at_line(g, core, pc, room);
            return core;
        }
    }
    return WG_CORES;
}

/* The party that changed the count last; a thread that is held at its gate represents its core. */
static wg_node mover(const graph *g, const wg_pages_by *by, unsigned *core)
{
    const bool thread = by->agent >= WG_AGENT_THREAD0 && by->agent <= WG_AGENT_THREAD2;
    *core = thread ? WG_CORE_T0 + by->agent - WG_AGENT_THREAD0 : by->agent;
    if (thread && g->out->thread[*core - WG_CORE_T0].gate.has_head)
        return node(WG_NODE_THREAD, *core - WG_CORE_T0);
    return node(WG_NODE_CORE, *core);
}

/* From pages, or space, to who should make some. */
static void maker(graph *g, wg_node thing, const wg_pages_wait *w)
{
    const char *const did = w->space ? "popped" : "pushed";
    if (g->has_launched && !(g->launched.cb_mask >> w->cb & 1)) {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "the program has no circular buffer %u on this tile", w->cb)
            ->cause = true;
        return;
    }
    const uint32_t moved = w->space ? w->popped : w->pushed, all = capacity(g, w->cb);
    const wg_pages_by none = {0}, *by = &none;
    char count[24], place[272], here[80];
    if (g->history->pages)
        by = w->space ? &g->history->pages->popped[w->cb] : &g->history->pages->pushed[w->cb];
    if (all && w->known && w->wanted > all) {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "the buffer has %s in all", pages(all, count));
        return;
    }
    unsigned core = opposite(g, w->cb, w->space);
    if (by->cycle) {
        const wg_node to = mover(g, by, &core);
        char of[40] = "";
        if (w->known && !w->space)
            snprintf(of, sizeof of, " of %u", (unsigned)w->popped + w->wanted);
        wg_hang_edge_add(g, thing, to, "core %s %s %u%s, the last%s in cycle %llu", wg_agent_name_of(g->dev, core), did,
                         moved, of, at_line(g, core, by->pc, place), (unsigned long long)by->cycle);
        if (to.kind == WG_NODE_CORE && has_ended(g, core))
            wg_hang_edge_add(g, to, node(WG_NODE_NOBODY, 0), "its kernel has ended");
    } else if (core < WG_CORES) {
        wg_hang_edge_add(g, thing, node(WG_NODE_CORE, core), "core %s has not %s a page yet",
                         wg_agent_name_of(g->dev, core), did);
    } else if (!moved && (core = would_move(g, w->cb, w->space, place)) < WG_CORES) {
        wg_hang_edge_add(g, thing, node(WG_NODE_CORE, core), "core %s, which would do so%s, has not %s a page yet",
                         wg_agent_name_of(g->dev, core), place, did);
    } else if (!g->history->pages || moved) {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "%s %s so far", pages(moved, count), did);
    } else {
        kernels_here(g, here, sizeof here);
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0),
                         "no page was ever %s; kernels run on this tile's cores %s, and no other", did, here);
    }
}

static void tell_wait(graph *g, unsigned core, const wg_pages_wait *w)
{
    const wg_node from = node(WG_NODE_CORE, core), thing = node(w->space ? WG_NODE_SPACE : WG_NODE_PAGES, w->cb);
    const uint16_t used = (uint16_t)(w->pushed - w->popped);
    char wanted[24] = "pages", has[24];
    if (w->known)
        pages(w->wanted, wanted);
    char why[WG_HANG_WORDS];
    if (w->space)
        snprintf(why, sizeof why, "waits for space for %s in circular buffer %u, where %u of %u are occupied", wanted,
                 w->cb, used, capacity(g, w->cb));
    if (w->space)
        snprintf(
            g->out->core[core].advice, sizeof g->out->core[core].advice,
            "Of circular buffer %u, %u page%s pushed and %u popped: pop as many as are pushed (cb_pop_front), or push "
            "(cb_push_back) as many as are popped.",
            w->cb, w->pushed, w->pushed == 1 ? " was" : "s were", w->popped);
    else
        snprintf(why, sizeof why, "waits for %s of circular buffer %u, which has %s", wanted, w->cb,
                 used ? pages(used, has) : "none");
    wg_hang_edge_add(g, from, thing, "%s", why);
    memcpy(g->out->core[core].why, why, sizeof why);
    maker(g, thing, w);
}

/* ---- Semaphores of the program --------------------------------------------------------------------------- */

static bool semaphore_edges(graph *g, unsigned core)
{
    const wg_metal_launched *m = &g->launched;
    const wg_node from = node(WG_NODE_CORE, core), thing = node(WG_NODE_MEMORY, core);
    unsigned i, by_core = WG_CORES;
    bool known;
    uint32_t wanted, value = 0;
    char place[272], until[60] = "it changes";
    if (!wg_pages_semaphore(g->dev->tile, core, g->out->core[core].info.pc, m->semaphores, m->semaphore_end,
                            m->semaphore_step, &i, &known, &wanted))
        return false;
    memcpy(&value, g->dev->tile->l1 + m->semaphores + i * m->semaphore_step, 4);
    if (known)
        snprintf(until, sizeof until, "it is %u", wanted);
    wg_hang_edge_add(g, from, thing, POLLS " %u until %s; it is %u", i, until, value);
    const wg_pages_by *by = g->history->pages ? &g->history->pages->semaphore[i] : NULL;
    if (by && by->cycle && by->agent <= WG_AGENT_CORE_T2) {
        mover(g, by, &by_core);
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "core %s changed it last%s, in cycle %llu",
                         wg_agent_name_of(g->dev, by_core), at_line(g, by_core, by->pc, place),
                         (unsigned long long)by->cycle);
    } else if (by && by->cycle) {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "tile number %u changed it last, in cycle %llu", by->tile,
                         (unsigned long long)by->cycle);
    } else {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "nobody has changed it since the launch");
    }
    return true;
}

bool wg_hang_pages_edges(graph *g, unsigned core)
{
    wg_pages_wait w;
    if (waits(g, core, &w)) {
        tell_wait(g, core, &w);
        return true;
    }
    if (!g->has_launched)
        return false;
    if (!in_kernel(g, core)) { /* its firmware waits for work */
        snprintf(g->out->core[core].why, sizeof g->out->core[core].why, "%s",
                 has_ended(g, core) ? "its kernel has ended" : "no kernel was launched on it");
        return true;
    }
    return semaphore_edges(g, core);
}

/* ---- Verdict ----------------------------------------------------------------------------------------------- */

static bool is_pages(wg_node n) { return n.kind == WG_NODE_PAGES || n.kind == WG_NODE_SPACE; }
static bool is_party(wg_node n) { return n.kind == WG_NODE_CORE || n.kind == WG_NODE_THREAD || n.kind == WG_NODE_UNIT; }

/* "core T2 at compute.c:22 waits for 1 page of circular buffer 0", or the edge's reason if no party waits. */
static void say_edge(phrase *p, const graph *g, const wg_hang_edge *e)
{
    char name[80], place[272], to[80];
    unsigned core;
    if (!is_party(e->from)) {
        say(p, "%s", e->reason);
        return;
    }
    const uint32_t pc = wg_hang_pc(g->out, e->from, &core);
    wg_node_name(g->out, e->from, name, sizeof name);
    at_line(g, core, pc, place);
    if (is_pages(e->to))
        say(p, "%s%s %s", name, place, e->reason);
    else if (is_party(e->to))
        say(p, "%s%s waits for %s (%s)", name, place, wg_node_name(g->out, e->to, to, sizeof to), e->reason);
    else
        say(p, "%s%s: %s", name, place, e->reason);
}

/* The story of a path that contains a party: the last wait first, then who should have ended it, then who waits behind it. */
bool wg_hang_pages_story(const graph *g, phrase *p)
{
    const wg_hang *out = g->out;
    const unsigned n = out->path_length;
    unsigned last = n, behind = 0;
    for (unsigned i = 0; i < n; i++)
        if (is_pages(out->edge[out->path[i]].to))
            last = i;
    if (last == n)
        return false;
    if (out->circular)
        say(p, "They wait for each other in a circle: ");
    const unsigned tail = last + 2; /* behind the wait, and what is said of its buffer */
    const bool ended = tail < n && out->edge[out->path[tail]].to.kind == WG_NODE_NOBODY;
    const size_t begin = p->used;
    unsigned first = out->circular ? 0 : tail < n && !ended ? tail : last;
    for (unsigned i = first; i < n; i++) {
        const wg_hang_edge *e = &out->edge[out->path[i]];
        say(p, "%s", i == first ? "" : "; ");
        if (ended && i == tail)
            say(p, "%s", e->reason);
        else
            say_edge(p, g, e);
    }
    if (!out->circular && p->used > begin && p->out[begin] >= 'a' && p->out[begin] <= 'z')
        p->out[begin] = (char)(p->out[begin] - 'a' + 'A');
    for (unsigned i = first; i-- > 0 && !out->circular;) {
        const wg_hang_edge *e = &out->edge[out->path[i]];
        if (!is_party(e->from))
            continue;
        say(p, "%s", behind++ ? "; " : ". Behind it, ");
        say_edge(p, g, e);
    }
    say(p, ". ");
    return true;
}

/* ---- Advice ---------------------------------------------------------------------------------------------- */

const char *wg_hang_pages_remedy(const wg_hang *out)
{
    const wg_hang_edge *last = NULL, *end = &out->edge[out->path[out->path_length - 1]];
    for (unsigned i = 0; i < out->path_length; i++)
        if (out->edge[out->path[i]].to.kind == WG_NODE_PAGES || out->edge[out->path[i]].to.kind == WG_NODE_SPACE) {
            last = &out->edge[out->path[i]];
        } else if (!strncmp(out->edge[out->path[i]].reason, POLLS, sizeof POLLS - 1)) {
            return "Let somebody set or increment it, on this tile, to the awaited value; or reset it before it is "
                   "used again.";
        }
    if (!last)
        return NULL;
    if (out->circular)
        return "The counts of pages do not fit each other: reserve, push, wait and pop in numbers that divide the "
               "buffer's "
               "pages, the same on both sides.";
    if (end->to.kind != WG_NODE_NOBODY)
        return NULL;
    if (end->from.kind == WG_NODE_CORE && last->from.kind == WG_NODE_CORE)
        return last->to.kind == WG_NODE_PAGES
                   ? "Push as many pages as are waited for (cb_push_back), or wait for as many as are pushed."
                   : out->core[last->from.index].advice;
    if (end->from.kind != WG_NODE_PAGES && end->from.kind != WG_NODE_SPACE)
        return NULL;
    if (end->cause)
        return "Give the program a circular buffer with this number on this tile, or use the number of one that it "
               "has.";
    if (!strncmp(end->reason, "the buffer has", 14))
        return "Give the circular buffer at least as many pages as are waited for at once.";
    return end->from.kind == WG_NODE_PAGES
               ? "Let a kernel on this tile push to it: check the kernel's range of cores, and the buffer's number."
               : "Let a kernel on this tile pop from it: check the kernel's range of cores, and the buffer's number.";
}
