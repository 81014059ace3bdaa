/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict of a hang: the path through the wait-for graph that is the cause, and its description.
 */
#include "explain/hang_graph.h"

#include <string.h>

#include "machine/device.h"
#include "report/findings.h"

/* ---- the cycle, or the dead end ---- */

/* The kinds of paths searched for, in order. */
typedef enum search_for { CERTAIN_END, CERTAIN_CIRCLE, ANY_CIRCLE, ANY_END } search_for;

/*
 * Is it the end of a certain chain? Memory that a core polls, or an atomic retries, is not: its writer may itself be waiting
 * for the true cause.
 */
static bool is_certain_end(const wg_hang *out, unsigned depth)
{
    wg_node last = depth ? out->edge[out->path[depth - 1]].from : (wg_node){WG_NODE_MEMORY, 0};
    return last.kind != WG_NODE_MEMORY && !(last.kind == WG_NODE_UNIT && last.index == WG_AGENT_SCALAR);
}

/* Walks from `at`; edges so far are in out->path. True: found. */
static bool walk(wg_hang *out, wg_node at, search_for what, unsigned depth, uint64_t explored[WG_NODE_NOBODY + 1])
{
    bool circle = what == CERTAIN_CIRCLE || what == ANY_CIRCLE, certain = what == CERTAIN_END || what == CERTAIN_CIRCLE;
    if (depth >= WG_HANG_EDGES || explored[at.kind] >> (at.index & 63) & 1)
        return false;
    for (unsigned i = 0; i < depth; i++)
        if (same_node(out->edge[out->path[i]].from, at)) {
            if (!circle)
                return false;
            memmove(out->path, out->path + i, depth - i);
            out->path_length = depth - i;
            return true;
        }
    bool leads_on = false;
    for (unsigned i = 0; i < out->edges; i++) {
        if (!same_node(out->edge[i].from, at))
            continue;
        leads_on = true;
        out->path[depth] = (uint8_t)i;
        if (!(certain && out->edge[i].guess) && walk(out, out->edge[i].to, what, depth + 1, explored))
            return true;
    }
    if (!circle && !leads_on && depth && (!certain || is_certain_end(out, depth))) {
        out->path_length = depth;
        return true;
    }
    if (at.kind != WG_NODE_NOBODY) /* one path to it may count where another does not */
        explored[at.kind] |= UINT64_C(1) << (at.index & 63);
    return false;
}

/* A resource with several edges is not a dead end if one of them is not. */
static bool has_other_way(const wg_hang *out)
{
    for (unsigned i = 0; i < out->path_length; i++) {
        unsigned ways = 0;
        wg_node from = out->edge[out->path[i]].from;
        for (unsigned k = 0; k < out->edges; k++)
            ways += same_node(out->edge[k].from, from);
        if (ways > 1 && from.kind != WG_NODE_CORE && from.kind != WG_NODE_THREAD && from.kind != WG_NODE_UNIT)
            return true;
    }
    return false;
}

/* A wait whose cause is known without looking at anything else. */
static bool find_cause(wg_hang *out)
{
    for (unsigned i = 0; i < out->edges; i++)
        for (unsigned k = 0; out->edge[i].cause && k < out->edges; k++)
            if (same_node(out->edge[k].to, out->edge[i].from)) {
                out->path[0] = (uint8_t)k;
                out->path[1] = (uint8_t)i;
                out->path_length = 2;
                out->circular = false;
                out->certain = true;
                return true;
            }
    return false;
}

/* A certain dead end comes first, then a cycle, then guesses. Of several chains, the longest is the most informative. */
static void find_path(wg_hang *out)
{
    if (find_cause(out))
        return;
    for (search_for what = CERTAIN_END; what <= ANY_END; what++) {
        uint8_t best[WG_HANG_EDGES];
        unsigned length = 0;
        out->circular = what == CERTAIN_CIRCLE || what == ANY_CIRCLE;
        out->certain = what == CERTAIN_END || what == CERTAIN_CIRCLE;
        for (unsigned i = 0; i < out->edges; i++) {
            uint64_t explored[WG_NODE_NOBODY + 1] = {0};
            if (!walk(out, out->edge[i].from, what, 0, explored) || (what == CERTAIN_END && has_other_way(out)))
                continue;
            if (out->circular)
                return;
            if (out->path_length > length) {
                length = out->path_length;
                memcpy(best, out->path, length);
            }
        }
        if (length) {
            out->path_length = length;
            memcpy(out->path, best, length);
            return;
        }
    }
    out->circular = out->certain = false;
    out->path_length = 0;
}

static bool leads_to_nobody(const wg_hang *out)
{
    return out->path_length && out->edge[out->path[out->path_length - 1]].to.kind == WG_NODE_NOBODY;
}

/* The last resource on the path; false: there is none. */
static bool last_thing(const wg_hang *out, wg_node *thing)
{
    for (unsigned i = out->path_length; i--;) {
        *thing = out->edge[out->path[i]].from;
        if (thing->kind != WG_NODE_CORE && thing->kind != WG_NODE_THREAD && thing->kind != WG_NODE_UNIT)
            return true;
    }
    return false;
}

/* What the wait for the semaphore on the path needs. */
static wg_semaphore_need need_of(const wg_hang *out, unsigned semaphore)
{
    for (unsigned i = out->path_length; i--;) {
        const wg_hang_edge *e = &out->edge[out->path[i]];
        if (e->to.kind == WG_NODE_SEMAPHORE && e->to.index == semaphore)
            return (wg_semaphore_need)e->need;
    }
    return WG_NEEDS_POST;
}

static const char *semaphore_remedy(const wg_hang *out, unsigned semaphore)
{
    switch (need_of(out, semaphore)) {
    case WG_NEEDS_ROOM:
        if (!out->semaphore_max[semaphore])
            return "Initialise it with SEMINIT, with its capacity as the maximum, before the first wait.";
        return out->circular ? "SEMGET it before the wait in the circle, or initialise it with a larger maximum."
                             : "SEMGET it once for each SEMPOST, or initialise it with a larger maximum.";
    case WG_NEEDS_GET:
        return out->circular ? "SEMGET it before the wait in the circle, or wait for another value."
                             : "SEMGET it once for each SEMPOST, or wait for another value.";
    case WG_NEEDS_NOTHING:
    case WG_NEEDS_POST: break;
    }
    if (out->circular)
        return "Post the semaphore before the wait in the circle, or initialise it with one unit more.";
    return "SEMPOST it once for each wait, or initialise it with SEMINIT to a value above zero.";
}

static bool all_wait_because(const wg_hang *out, wg_stall_reason reason)
{
    for (unsigned i = 0; i < out->path_length; i++)
        if (strcmp(out->edge[out->path[i]].reason, wg_stall_text(reason)) != 0)
            return false;
    return true;
}

static const char *remedy(const wg_hang *out)
{
    wg_node thing = {0};
    if (!out->path_length)
        return "No wait has a known cause; check where each core is.";
    const char *pages = wg_hang_pages_remedy(out);
    if (pages)
        return pages;
    bool any = last_thing(out, &thing), atomic = false, own;
    for (unsigned i = 0; i < out->path_length; i++)
        atomic |= out->edge[out->path[i]].from.kind == WG_NODE_UNIT &&
                  out->edge[out->path[i]].from.index == WG_AGENT_SCALAR && leads_to_nobody(out);
    for (unsigned i = 0; i < out->path_length; i++)
        if (out->edge[out->path[i]].from.kind == WG_NODE_MUTEX)
            return out->circular ? "Take mutexes in the same order everywhere, and release one before waiting for what "
                                   "its next holder does."
                                 : "Release the mutex with ATRELM on every path that took it.";
    wg_node last = out->edge[out->path[out->path_length - 1]].from;
    if (leads_to_nobody(out) && last.kind == WG_NODE_CORE)
        return out->core[last.index].info.in_reset
                   ? "Release it from reset, or do not wait for it."
                   : "Let it do what is waited for before it stops, or do not wait for it.";
    if (leads_to_nobody(out) && last.kind == WG_NODE_THREAD)
        return "Push to it what is waited for, or do not wait for it.";
    switch (any ? (wg_node_kind)thing.kind : WG_NODE_NOBODY) {
    case WG_NODE_SEMAPHORE: return semaphore_remedy(out, thing.index);
    case WG_NODE_BANK:
        return out->bank_owner[thing.index & 3] ? "Give the bank back to the unpackers: SETRWC or CLEARDVALID, or the "
                                                  "bits of the last instruction that "
                                                  "reads it."
                                                : "Hand the bank over to the Matrix Unit: UNPACR, or SETDVALID.";
    case WG_NODE_MEMORY:
        if (strstr(out->edge[out->path[out->path_length - 1]].reason, "request") &&
            strstr(out->edge[out->path[out->path_length - 1]].reason, " was lost, "))
            return "Check the request's coordinates, and the NoC that they are meant for.";
        if (wg_hang_counter_remedy(out->core[thing.index].polled, &own))
            return wg_hang_counter_remedy(out->core[thing.index].polled, &own);
        if (out->circular)
            return "Write one of the polled words before the wait in the circle.";
        if (strstr(out->edge[out->path[out->path_length - 1]].reason, " own RAM"))
            return "Poll a word of L1 or a mailbox: a core's own RAM is out of reach of the others.";
        return strstr(out->edge[out->path[out->path_length - 1]].reason, " wrote it last")
                   ? "Write the awaited value, or wait for the one that is written."
                   : "Write the polled word, and make the write visible to the poll (fence, cache).";
    case WG_NODE_NOBODY:
        if (out->circular && all_wait_because(out, WG_STALL_MAILBOX_EMPTY))
            return "Let one of them send before it receives.";
        if (out->circular && all_wait_because(out, WG_STALL_MAILBOX_FULL))
            return "Let one of them receive before it sends on.";
        break;
    case WG_NODE_FIFO: return "The pushed instructions cannot pass the gate; look at what its head waits for.";
    case WG_NODE_CORE:
    case WG_NODE_THREAD:
    case WG_NODE_UNIT:
    case WG_NODE_MUTEX:
    case WG_NODE_PAGES:
    case WG_NODE_SPACE: break;
    }
    if (atomic)
        return "Somebody must write the word in L1 that the atomic waits for: release the lock, or fill (empty) the "
               "queue.";
    return "Make the last party in the chain able to move.";
}

/* The first post of the semaphore that was lost; NULL: none. */
static const wg_finding *lost_post(const wg_device *dev, unsigned semaphore)
{
    for (size_t i = 0; i < dev->findings; i++)
        if (dev->finding[i].code == WG_F_SEMAPHORE_POST_LOST && dev->finding[i].subject == semaphore &&
            dev->finding[i].tile == dev->tile->index)
            return &dev->finding[i];
    return NULL;
}

/* Did the value that the path waits for occur earlier? */
static void explain_semaphore(const graph *g)
{
    wg_hang *out = g->out;
    for (unsigned i = 0; i < out->path_length; i++) {
        const wg_hang_edge *e = &out->edge[out->path[i]];
        if (e->to.kind != WG_NODE_SEMAPHORE)
            continue;
        unsigned semaphore = e->to.index, value = out->semaphore_value[semaphore];
        const wg_finding *lost = lost_post(g->dev, semaphore);
        if (!value && lost) {
            snprintf(
                out->note, sizeof out->note,
                "At cycle %llu a post of it was lost, because the value was 15. Wait for room (SEMWAIT on the maximum) "
                "before posting.",
                (unsigned long long)lost->cycle);
            return;
        }
        if (e->need == WG_NEEDS_POST && !value && wg_hang_post_was_wiped(g, semaphore)) {
            snprintf(out->note, sizeof out->note, "Initialise it before anybody posts it.");
            return;
        }
        const int recorder = wg_hang_recorder(g, semaphore, e->need == WG_NEEDS_POST);
        if (!g->history->semaphore[semaphore].count[e->need == WG_NEEDS_POST ? WG_SEM_POST : WG_SEM_GET] &&
            recorder >= 0) {
            snprintf(out->note, sizeof out->note,
                     "Check the length of the REPLAY of thread %d that records it, or replay what it recorded.",
                     recorder);
            return;
        }
        if (e->from.kind != WG_NODE_CORE || e->from.index >= WG_CORES)
            continue;
        const wg_hang_core *c = &out->core[e->from.index];
        const uint64_t since = wg_stalls_since(&g->history->stalls[e->from.index], c->loop_from, c->loop_to),
                       from = g->history->was[semaphore][!value].from, to = g->history->was[semaphore][!value].to;
        /* The core must wait for the value that the semaphore no longer has. */
        const bool meant = value ? e->need == WG_NEEDS_GET && strstr(e->reason, " until it is 0;")
                                 : e->need == WG_NEEDS_POST && !strstr(e->reason, " at least ");
        if (!meant || !since || since - 1 >= to)
            continue;
        snprintf(
            out->note, sizeof out->note,
            "A lost wake-up: semaphore %u was %s0 from cycle %llu to cycle %llu, while core %s polled, and changed "
            "again before the core looked. Let nobody %s it again before the core has said that it has seen it.",
            semaphore, value ? "" : "not ", (unsigned long long)(from > since - 1 ? from : since - 1),
            (unsigned long long)to, wg_agent_name_of(out->dev, e->from.index), value ? "post" : "get");
        return;
    }
}

static bool is_party(wg_node n) { return n.kind == WG_NODE_CORE || n.kind == WG_NODE_THREAD || n.kind == WG_NODE_UNIT; }

uint32_t wg_hang_pc(const wg_hang *h, wg_node n, unsigned *core)
{
    *core = n.kind == WG_NODE_THREAD ? WG_CORE_T0 + n.index : n.index;
    if (n.kind == WG_NODE_CORE)
        return h->core[n.index].poll_pc ? h->core[n.index].poll_pc : h->core[n.index].info.pc;
    if (n.kind != WG_NODE_THREAD)
        return 0;
    const wg_gate_info *gate = &h->thread[n.index].gate;
    bool latched = gate->latch.kind != WG_LATCH_EMPTY;
    return latched ? gate->latch.pc : gate->has_head ? gate->head.pc : 0;
}

static const char *stands(const graph *g, wg_node n, char *room, size_t bytes)
{
    unsigned core;
    uint32_t pc = wg_hang_pc(g->out, n, &core);
    return at_place(g, core, pc, room, bytes);
}

/* A wait for a semaphore that nobody changes: the common case, in one sentence. */
static bool say_semaphore(phrase *p, const graph *g)
{
    const wg_hang *out = g->out;
    const wg_hang_edge *wait = &out->edge[out->path[0]], *end = &out->edge[out->path[out->path_length - 1]];
    char name[80], waiter[80], place[272];
    if (out->circular || out->path_length != 2 || !leads_to_nobody(out) || wait->to.kind != WG_NODE_SEMAPHORE)
        return false;
    unsigned i = wait->to.index, value = out->semaphore_value[i], max = out->semaphore_max[i];
    wg_node_name(out, wait->to, name, sizeof name);
    wg_node_name(out, wait->from, waiter, sizeof waiter);
    stands(g, wait->from, place, sizeof place);
    switch (need_of(out, i)) {
    case WG_NEEDS_ROOM:
        say(p, "S%s has reached its maximum (%u of %u), and nobody takes from it: %s waits%s for room, and %s.",
            name + 1, value, max, waiter, place, end->reason);
        break;
    case WG_NEEDS_GET:
    case WG_NEEDS_POST:
    case WG_NEEDS_NOTHING: {
        const char *does = need_of(out, i) == WG_NEEDS_GET ? "takes from" : "posts";
        if (wait->from.kind == WG_NODE_CORE)
            say(p, "C%s%s %s, and nobody %s it: %s.", waiter + 1, place, wait->reason + strlen("it "), does,
                end->reason);
        else
            say(p, "Nobody %s %s, for which %s waits%s: %s.", does, name, waiter, place, end->reason);
        break;
    }
    }
    return true;
}

/*
 * A wait for room in a semaphore whose maximum is 0 never ends, whatever is taken from it: this is the cause, whatever else
 * is on the path.
 */
static bool say_uninitialised(phrase *p, const graph *g)
{
    const wg_hang *out = g->out;
    char name[80], waiter[80], place[272];
    for (unsigned i = 0; i < out->edges; i++) {
        const wg_hang_edge *e = &out->edge[i],
                           *end = out->path_length ? &out->edge[out->path[out->path_length - 1]] : e;
        if (e->to.kind != WG_NODE_SEMAPHORE || e->need != WG_NEEDS_ROOM || out->semaphore_max[e->to.index] ||
            !same_node(e->from, end->from))
            continue;
        wg_node_name(out, e->to, name, sizeof name);
        wg_node_name(out, e->from, waiter, sizeof waiter);
        stands(g, e->from, place, sizeof place);
        say(p, "S%s was never initialised: its maximum is 0, so that the wait for room of %s%s never ends. ", name + 1,
            waiter, place);
        g->out->remedy_at = (unsigned)p->used;
        say(p, "Initialise it with SEMINIT, with its capacity as the maximum, before the first wait.");
        return true;
    }
    return false;
}

/* One core polls a word that nobody writes any more. */
static bool say_poll(phrase *p, const graph *g)
{
    const wg_hang *out = g->out;
    const wg_hang_edge *wait = &out->edge[out->path[0]], *end = &out->edge[out->path[out->path_length - 1]];
    char waiter[80], place[272];
    if (out->circular || out->path_length != 2 || !leads_to_nobody(out) || wait->to.kind != WG_NODE_MEMORY ||
        strncmp(wait->reason, "it polls ", 9) != 0)
        return false;
    wg_node_name(out, wait->from, waiter, sizeof waiter);
    stands(g, wait->from, place, sizeof place);
    say(p, "C%s%s %s, and %s%s.", waiter + 1, place, wait->reason + 3,
        strncmp(end->reason, "no", 2) == 0 ? "" : "nobody will write it again: ", end->reason);
    return true;
}

/* A core waits for an access that hardware never answers. */
static bool say_bad_access(phrase *p, const graph *g)
{
    const wg_hang *out = g->out;
    const wg_hang_edge *end = &out->edge[out->path[out->path_length - 1]];
    char waiter[80], place[272];
    if (out->circular || end->to.kind != WG_NODE_NOBODY || end->from.kind != WG_NODE_CORE ||
        out->core[end->from.index].info.stall.reason != WG_STALL_HANGING_ACCESS ||
        strcmp(end->reason, wg_stall_text(WG_STALL_HANGING_ACCESS)) == 0)
        return false;
    wg_node_name(out, end->from, waiter, sizeof waiter);
    stands(g, end->from, place, sizeof place);
    say(p, "C%s%s waits for an access that is never answered: %s. Check the pointer", waiter + 1, place, end->reason);
    const uint32_t sp = out->dev->tile->core[end->from.index].run.r[2];
    if (sp < 0xFFB00000u && sp >= 0xFF000000u)
        say(p, "; the stack pointer is 0x%08x, below the core's RAM: its stack has overflowed", sp);
    say(p, ".");
    g->out->remedy_at = (unsigned)p->used;
    return true;
}

/* The cause, in one sentence. */
static void say_cause(phrase *p, const graph *g)
{
    const wg_hang *out = g->out;
    wg_node thing = {0}, last = out->edge[out->path[out->path_length - 1]].from;
    char name[80];
    if (out->circular) {
        unsigned parties = 0;
        for (unsigned i = 0; i < out->path_length; i++)
            parties += is_party(out->edge[out->path[i]].from);
        if (parties > 1)
            say(p, "They wait for each other in a circle: ");
        else
            say(p, "It waits for itself: ");
        return;
    }
    bool any = last_thing(out, &thing) && same_node(thing, last);
    wg_node_name(out, any ? thing : last, name, sizeof name);
    name[0] = (char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0]);
    if (!leads_to_nobody(out))
        say(p, "The chain of waiting ends where nobody can move: ");
    else if (any && thing.kind == WG_NODE_SEMAPHORE && need_of(out, thing.index) == WG_NEEDS_ROOM) {
        say(p, "%s is full, and nobody takes from it: ", name);
    } else if (any && thing.kind == WG_NODE_SEMAPHORE && need_of(out, thing.index) == WG_NEEDS_GET) {
        say(p, "%s does not fall, because nobody takes from it: ", name);
    } else if (any && thing.kind == WG_NODE_SEMAPHORE) {
        say(p, "Nobody posts s%s: ", name + 1);
    } else if (any && thing.kind == WG_NODE_BANK) {
        say(p, "Nobody hands %s over: ", name);
    } else if (any && thing.kind == WG_NODE_MEMORY) {
        say(p, "Nobody writes what core %s polls: ", wg_agent_name_of(out->dev, thing.index));
    } else if (last.kind == WG_NODE_UNIT && last.index == WG_AGENT_SCALAR && leads_to_nobody(out)) {
        say(p, "An atomic is retried forever: ");
    } else if (!any && last.kind == WG_NODE_CORE && out->core[last.index].info.parked) {
        say(p,
            out->core[last.index].info.in_reset ? "%s is in reset, and cannot do what is waited for: "
                                                : "%s has stopped, and has not done what is waited for: ",
            name);
    } else {
        say(p, "%s can never move again: ", name);
    }
}

/* One clause per edge: a party waits; for a resource the edge's reason suffices. */
static void tell(const graph *g)
{
    wg_hang *out = g->out;
    phrase p = {out->story, sizeof out->story, 0};
    char from[80], to[80], place[272];
    if (out->path_length == 0) {
        say(&p, "%s", remedy(out));
        return;
    }
    if (say_uninitialised(&p, g) || say_bad_access(&p, g))
        return;
    if (say_semaphore(&p, g) || say_poll(&p, g)) {
        say(&p, " ");
        out->remedy_at = (unsigned)p.used;
        say(&p, "%s", out->note[0] ? out->note : remedy(out));
        return;
    }
    if (wg_hang_pages_story(g, &p)) {
        out->remedy_at = (unsigned)p.used;
        say(&p, "%s", remedy(out));
        return;
    }
    say_cause(&p, g);
    for (unsigned i = 0; i < out->path_length; i++) {
        const wg_hang_edge *e = &out->edge[out->path[i]];
        wg_node_name(out, e->from, from, sizeof from);
        wg_node_name(out, e->to, to, sizeof to);
        stands(g, e->from, place, sizeof place);
        if (is_party(e->from) && (e->to.kind == WG_NODE_NOBODY || !strncmp(e->reason, "it polls ", 9)) &&
            !strncmp(e->reason, "it ", 3))
            say(&p, "%s%s%s %s", i ? "; " : "", from, place, e->reason + 3);
        else if (is_party(e->from) && is_party(e->to))
            say(&p, "%s%s waits%s for %s (%s)", i ? "; " : "", from, place, to, e->reason);
        else if (is_party(e->from))
            say(&p, "%s%s waits%s: %s", i ? "; " : "", from, place, e->reason);
        else
            say(&p, "%s%s", i ? "; " : "", e->reason);
    }
    say(&p, ". ");
    out->remedy_at = (unsigned)p.used;
    say(&p, "%s", out->note[0] ? out->note : remedy(out));
}

void wg_hang_verdict(graph *g)
{
    wg_hang *out = g->out;
    find_path(out);
    const wg_node last =
        out->path_length ? out->edge[out->path[out->path_length - 1]].from : (wg_node){WG_NODE_MEMORY, 0};
    bool own = false;
    out->outside = last.kind == WG_NODE_MEMORY &&
                   !(out->path_length && wg_hang_counter_remedy(out->core[last.index].polled, &own) && own);
    explain_semaphore(g);
    tell(g);
}
