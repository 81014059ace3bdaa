/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wait-for graph. Every waiting party has an edge to the resource it waits for, and every resource has edges to the
 * parties that could change it: a mutex to its holder, a semaphore to the threads that still have a SEMPOST or SEMGET of it
 * to issue, a source bank to the threads that still have an UNPACR or a releasing instruction, a FIFO to its own gate. A
 * resource that no party can change is a dead end.
 *
 * Facts: the gate's and the cores' own stall reasons (stalls.def), GATE-07, GATE-10…GATE-19, GATE-27, SEM-09.
 */
#include "explain/hang_graph.h"

#include <string.h>

#include "backend/scalar.h"
#include "explain/reachable.h"
#include "machine/unit.h"
#include "machine/device.h"
#include "machine/poll.h"
#include "machine/stall.h"
#include "report/findings.h"

static void stalls_at(wg_stalls *s, uint32_t pc, uint64_t cycle)
{
    unsigned at = 0, oldest = 0;
    while (at < WG_STALL_PLACES && s->place[at].pc != pc)
        at++;
    for (unsigned i = 1; i < WG_STALL_PLACES; i++)
        if (s->place[i].last < s->place[oldest].last)
            oldest = i;
    if (at == WG_STALL_PLACES) {
        at = oldest;
        if (s->place[at].pc)
            s->forgotten = s->place[at].last;
        memset(&s->place[at], 0, sizeof s->place[at]);
        s->place[at].pc = pc;
        s->place[at].after[at] = cycle + 1;
    }
    s->place[at].last = cycle;
    for (unsigned i = 0; i < WG_STALL_PLACES; i++) {
        if (i == at)
            continue;
        s->place[i].after[at] = 0;
        if (s->place[i].pc && !s->place[at].after[i])
            s->place[at].after[i] = cycle + 1;
    }
}

uint64_t wg_stalls_since(const wg_stalls *s, uint32_t from, uint32_t to)
{
    unsigned outside = WG_STALL_PLACES;
    uint64_t since = 0;
    for (unsigned i = 0; i < WG_STALL_PLACES; i++) {
        const uint32_t pc = s->place[i].pc;
        if (pc && (pc < from || pc > to) && (outside == WG_STALL_PLACES || s->place[i].last > s->place[outside].last))
            outside = i;
    }
    for (unsigned i = 0; i < WG_STALL_PLACES; i++) {
        const uint32_t pc = s->place[i].pc;
        const uint64_t first = s->place[i].after[outside < WG_STALL_PLACES ? outside : i];
        if (pc && pc >= from && pc <= to && first && (!since || first < since))
            since = first;
    }
    return since && outside == WG_STALL_PLACES && since <= s->forgotten ? s->forgotten + 1 : since;
}

static void semaphore_acts(wg_semaphore_past *past, const wg_event *e)
{
    const unsigned opcode = wg_opcode(e->word);
    const wg_semaphore_act act = !e->word                      ? e->b > past->value ? WG_SEM_POST : WG_SEM_GET
                                 : opcode == WG_OPCODE_SEMINIT ? WG_SEM_INIT
                                 : opcode == WG_OPCODE_SEMPOST ? WG_SEM_POST
                                                               : WG_SEM_GET;
    past->value = (uint8_t)e->b;
    past->change[past->changes++ % WG_SEM_CHANGES] =
        (wg_semaphore_change){e->cycle, e->pc, e->agent, (uint8_t)act, (uint8_t)e->b};
    past->count[act]++;
    past->last[act].cycle = e->cycle;
    past->last[act].pc = e->pc;
    past->last[act].agent = e->agent;
    past->last[act].left = (uint8_t)e->b;
}

void wg_history_event(void *user, const wg_event *e)
{
    wg_history *h = user;
    if (e->kind == WG_EV_ISSUED) {
        unsigned thread = e->thread % WG_THREADS;
        h->last[thread][h->count[thread]++ % WG_HISTORY] =
            (wg_history_entry){e->cycle, e->id, e->parent, e->word, e->pc};
    } else if (e->kind == WG_EV_SEMAPHORE) {
        unsigned i = e->a & 7;
        bool now = e->b != 0;
        semaphore_acts(&h->semaphore[i], e);
        if (now == h->nonzero[i])
            return;
        h->was[i][h->nonzero[i]].to = e->cycle;
        h->was[i][now].from = e->cycle;
        h->was[i][now].to = 0;
        h->nonzero[i] = now;
    } else if (e->kind == WG_EV_MUTEX) {
        h->mutex_pc[e->a & 7] = !e->b ? 0 : h->mutex_pc[e->a & 7] ? h->mutex_pc[e->a & 7] : e->pc;
    } else if (e->kind == WG_EV_STALL_BEGIN && e->agent <= WG_AGENT_CORE_T2) {
        stalls_at(&h->stalls[e->agent - WG_AGENT_CORE_B], e->pc, e->cycle);
        if (!h->stall[e->agent].left)
            h->stall[e->agent].pc[h->stall[e->agent].count++ % 4] = e->pc;
    } else if (e->kind == WG_EV_FINDING && e->b == WG_F_CORE_NO_CODE && e->agent <= WG_AGENT_CORE_T2) {
        h->stall[e->agent].left = true;
    } else if (e->kind == WG_EV_CORE_STATE && e->a == 1 && e->agent <= WG_AGENT_CORE_T2) {
        h->entry[e->agent] = e->pc;
    }
}

static wg_node node(wg_node_kind kind, unsigned index) { return (wg_node){(uint8_t)kind, (uint8_t)index}; }

static wg_node node_of_agent(unsigned agent)
{
    if (agent <= WG_AGENT_CORE_T2)
        return node(WG_NODE_CORE, agent);
    if (agent <= WG_AGENT_THREAD2)
        return node(WG_NODE_THREAD, agent - WG_AGENT_THREAD0);
    return agent <= WG_AGENT_MISC ? node(WG_NODE_UNIT, agent) : node(WG_NODE_NOBODY, 0);
}

const char *wg_hang_act_text(const graph *g, const wg_semaphore_past *past, unsigned act, char *room, size_t bytes)
{
    const unsigned agent = past->last[act].agent;
    char place[272], name[80];
    const bool thread = agent >= WG_AGENT_THREAD0 && agent <= WG_AGENT_THREAD2;
    at_place(g, thread ? WG_CORE_T0 + agent - WG_AGENT_THREAD0 : agent, past->last[act].pc, place, sizeof place);
    snprintf(room, bytes, "%s%s in cycle %llu", wg_node_name(g->out, node_of_agent(agent), name, sizeof name), place,
             (unsigned long long)past->last[act].cycle);
    return room;
}

/* ---- the graph ---- */

wg_hang_edge *wg_hang_edge_add(graph *g, wg_node from, wg_node to, const char *format, ...)
{
    for (unsigned i = 0; i < g->out->edges; i++)
        if (same_node(g->out->edge[i].from, from) && same_node(g->out->edge[i].to, to))
            return &g->unused;
    if (g->out->edges == WG_HANG_EDGES)
        return &g->unused;
    wg_hang_edge *e = &g->out->edge[g->out->edges++];
    e->from = from;
    e->to = to;
    va_list args;
    va_start(args, format);
    vsnprintf(e->reason, sizeof e->reason, format, args);
    va_end(args);
    return e;
}

/* Adds an edge from the resource to a core whose program can still reach an instruction that changes it. */
static bool core_could(graph *g, wg_node thing, unsigned core, const wg_wanted *wanted, const char *what)
{
    uint32_t pc = 0;
    char place[272];
    switch (wg_core_reaches(g->dev, core, g->out->core[core].info.pc, wanted, &pc)) {
    case WG_REACH_NO: return false;
    case WG_REACH_SURELY:
        wg_hang_edge_add(g, thing, node(WG_NODE_CORE, core), "core %s would come to a %s%s",
                         wg_agent_name_of(g->dev, core), what, at_place(g, core, pc, place, sizeof place));
        return true;
    case WG_REACH_MAYBE:
        wg_hang_edge_add(g, thing, node(WG_NODE_CORE, core),
                         "core %s contains no %s, but stores or jumps through pointers that might lead to one",
                         wg_agent_name_of(g->dev, core), what)
            ->guess = true;
        return true;
    }
    return false;
}

bool wg_hang_post_was_wiped(const graph *g, unsigned semaphore)
{
    const wg_semaphore_past *past = &g->history->semaphore[semaphore];
    return past->count[WG_SEM_POST] && past->count[WG_SEM_INIT] && !past->last[WG_SEM_INIT].left &&
           past->last[WG_SEM_POST].cycle <= past->last[WG_SEM_INIT].cycle &&
           past->last[WG_SEM_GET].cycle <= past->last[WG_SEM_POST].cycle;
}

int wg_hang_recorder(const graph *g, unsigned semaphore, bool post)
{
    const wg_tile *t = g->dev->tile;
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        for (unsigned slot = 0; slot < WG_REPLAY_SLOTS; slot++)
            if ((post ? wg_word_posts : wg_word_gets)(t->arch, t->frontend[thread].replay.slot[slot], semaphore))
                return (int)thread;
    return -1;
}

/* It happened before, but will not again; or a program contains such an instruction, which the core has passed. False: neither. */
static bool was_changed(graph *g, wg_node thing, const wg_wanted *wanted, const char *what)
{
    const bool posts = wanted->test == wg_word_raises;
    const wg_wanted plainly = {posts                            ? wg_word_posts
                               : wanted->test == wg_word_lowers ? wg_word_gets
                                                                : wanted->test,
                               wanted->argument, WG_SEMAPHORES};
    const unsigned act = posts ? WG_SEM_POST : WG_SEM_GET;
    char place[272], by[320], times[48] = "once, by";
    if (thing.kind == WG_NODE_SEMAPHORE && g->history->semaphore[thing.index].count[act]) {
        const wg_semaphore_past *past = &g->history->semaphore[thing.index];
        char init[320];
        if (posts && wg_hang_post_was_wiped(g, thing.index)) {
            wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "%s posted it, and then a SEMINIT by %s set it to 0",
                             wg_hang_act_text(g, past, act, by, sizeof by),
                             wg_hang_act_text(g, past, WG_SEM_INIT, init, sizeof init));
            return true;
        }
        if (past->count[act] > 1)
            snprintf(times, sizeof times, "%llu times, last by", (unsigned long long)past->count[act]);
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "it was %s %s %s; no other %s is to come",
                         posts ? "posted" : "taken from", times, wg_hang_act_text(g, past, act, by, sizeof by), what);
        return true;
    }
    for (unsigned i = 0; i < WG_CORES; i++) {
        uint32_t pc = 0;
        if (!g->history->entry[i] || wg_core_reaches(g->dev, i, g->history->entry[i], &plainly, &pc) != WG_REACH_SURELY)
            continue;
        const int recorder = thing.kind == WG_NODE_SEMAPHORE ? wg_hang_recorder(g, thing.index, posts) : -1;
        if (recorder >= 0)
            snprintf(times, sizeof times, "thread %d recorded it for REPLAY", recorder);
        else
            snprintf(times, sizeof times, "went past it");
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "core %s's program contains a %s%s, %s%s",
                         wg_agent_name_of(g->dev, i), what, at_place(g, i, pc, place, sizeof place),
                         recorder < 0 ? "and " : "but ", times);
        return true;
    }
    return false;
}

/*
 * Adds an edge from the resource to every thread that can still change it; else to every core whose program can; else to
 * nobody.
 */
void wg_hang_changers(graph *g, wg_node thing, unsigned waiter, unsigned except_core, const wg_wanted *wanted,
                      const char *what)
{
    bool any = false, running = false;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (wg_thread_will_issue(g->dev->tile, &g->history->pending[i], i, wanted->test, wanted->argument)) {
            wg_hang_edge_add(g, thing, node(WG_NODE_THREAD, i), "a %s is queued in thread %u%s", what, i,
                             i == waiter ? ", behind the wait itself" : "");
            any = true;
        }
    bool queued = any;
    for (unsigned i = 0; !queued && i < WG_CORES; i++)
        if (i != WG_CORE_NC && i != except_core && g->out->core[i].waits) {
            running = true;
            any |= core_could(g, thing, i, wanted, what);
        }
    if (!any && !was_changed(g, thing, wanted, what))
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0),
                         running ? "no %s is queued anywhere, and no program that can still run contains one"
                                 : "no %s is queued anywhere, and every core that could push one is parked",
                         what);
}

static void bank_edge(graph *g, wg_node from, unsigned waiter, unsigned matrix_wants, bool srcb)
{
    const wg_src *src = &g->dev->tile->regs.src;
    unsigned bank = matrix_wants ? (srcb ? src->matrix_bank_b : src->matrix_bank_a)
                                 : (srcb ? src->unpack_bank_b : src->unpack_bank_a);
    wg_node thing = node(WG_NODE_BANK, (srcb ? 2u : 0u) + (bank & 1));
    wg_hang_edge_add(g, from, thing,
                     matrix_wants ? "Src%c bank %u is not the Matrix Unit's" : "Src%c bank %u is not the unpackers'",
                     srcb ? 'B' : 'A', bank & 1);
    if (matrix_wants)
        wg_hang_changers(g, thing, waiter, WG_CORES, &(wg_wanted){wg_word_gives_to_matrix, srcb, WG_SEMAPHORES},
                         "UNPACR or SETDVALID");
    else
        wg_hang_changers(g, thing, waiter, WG_CORES, &(wg_wanted){wg_word_gives_to_unpackers, srcb, WG_SEMAPHORES},
                         "CLEARDVALID or Matrix Unit instruction that gives the bank back");
}

static void semaphore_edges(graph *g, unsigned thread, unsigned semaphores, unsigned conditions)
{
    for (unsigned i = 0; i < 8; i++) {
        if (!(semaphores >> i & 1))
            continue;
        unsigned value = g->out->semaphore_value[i], max = g->out->semaphore_max[i];
        wg_node thing = node(WG_NODE_SEMAPHORE, i);
        if (conditions & 1 && value == 0) {
            wg_hang_edge_add(g, node(WG_NODE_THREAD, thread), thing, "semaphore %u (%s) is zero", i,
                             wg_semaphore_name(i))
                ->need = WG_NEEDS_POST;
            wg_hang_changers(g, thing, thread, WG_CORES, &(wg_wanted){wg_word_raises, i, i}, "SEMPOST of it");
        } else if (conditions & 2 && !max) { /* whatever is taken from it */
            wg_hang_edge_add(g, node(WG_NODE_THREAD, thread), thing, "semaphore %u (%s) has no room: its maximum is 0",
                             i, wg_semaphore_name(i))
                ->need = WG_NEEDS_ROOM;
            wg_hang_edge_add(g, node(WG_NODE_THREAD, thread), node(WG_NODE_NOBODY, 0),
                             "semaphore %u (%s) was never initialised", i, wg_semaphore_name(i))
                ->need = WG_NEEDS_ROOM;
        } else if (conditions & 2 && value >= max) {
            wg_hang_edge_add(g, node(WG_NODE_THREAD, thread), thing,
                             "semaphore %u (%s) has reached its maximum (%u of %u)", i, wg_semaphore_name(i), value,
                             max)
                ->need = WG_NEEDS_ROOM;
            wg_hang_changers(g, thing, thread, WG_CORES, &(wg_wanted){wg_word_lowers, i, i}, "SEMGET of it");
        }
    }
}

/* The edge of a condition of STALLWAIT that is not met. */
static void condition_edge(graph *g, wg_node from, unsigned thread, wg_wait_condition condition)
{
    switch (condition) {
    case WG_WAIT_SRCA_UNPACKERS: bank_edge(g, from, thread, false, false); break;
    case WG_WAIT_SRCB_UNPACKERS: bank_edge(g, from, thread, false, true); break;
    case WG_WAIT_SRCA_MATRIX: bank_edge(g, from, thread, true, false); break;
    case WG_WAIT_SRCB_MATRIX: bank_edge(g, from, thread, true, true); break;
    case WG_WAIT_RISCV_REQUESTS:
        wg_hang_edge_add(g, from, node(WG_NODE_CORE, WG_CORE_T0 + thread),
                         "the core has requests that are not processed");
        break;
    case WG_WAIT_SCALAR_MEMORY:
    case WG_WAIT_UNPACK0:
    case WG_WAIT_UNPACK1:
    case WG_WAIT_PACK0:
    case WG_WAIT_PACK1:
    case WG_WAIT_PACK2:
    case WG_WAIT_PACK3:
    case WG_WAIT_MATRIX:
    case WG_WAIT_MOVER:
    case WG_WAIT_VECTOR:
    case WG_WAIT_CONFIG:
        wg_hang_edge_add(g, from, node(WG_NODE_UNIT, wg_hang_conditions[condition].agent), "it waits until %s",
                         wg_hang_conditions[condition].text);
        break;
    case WG_WAIT_NOTHING:
    case WG_WAIT_COUNT: break;
    }
}

/* Edges of the thread's latched wait. */
static void latch_edges(graph *g, unsigned thread)
{
    const wg_gate_info *gate = &g->out->thread[thread].gate;
    wg_node from = node(WG_NODE_THREAD, thread);
    if (gate->latch.kind == WG_LATCH_SEMWAIT) {
        semaphore_edges(g, thread, gate->latch.semaphores, gate->latch.conditions);
        return;
    }
    for (unsigned i = 0; gate->latch.kind == WG_LATCH_STALLWAIT && i < g->dev->arch->wait_condition_bits; i++) {
        if (!(gate->unmet >> i & 1))
            continue;
        condition_edge(g, from, thread, (wg_wait_condition)g->dev->arch->wait_conditions[i]);
    }
    if (gate->latch.kind == WG_LATCH_STREAMWAIT)
        wg_hang_edge_add(g, from, node(WG_NODE_NOBODY, 0), "stream %u never reaches %u: no packet is under way",
                         gate->latch.stream_select, gate->latch.target);
}

static void gate_edges(graph *g, unsigned thread)
{
    const wg_gate_info *gate = &g->out->thread[thread].gate;
    wg_node from = node(WG_NODE_THREAD, thread);
    const wg_stall *stall = &gate->stall;
    if (!gate->has_head)
        return;
    switch (wg_stall_ended_by(stall)) {
    case WG_ENDED_BY_NOTHING: break;
    case WG_ENDED_BY_LATCH: latch_edges(g, thread); break;
    case WG_ENDED_BY_MUTEX: {
        unsigned mutex = stall->resource & 7, holder = g->out->mutex[mutex];
        char place[272];
        const uint32_t pc = g->history->mutex_pc[mutex];
        const char *taken = pc && holder ? at_place(g, WG_CORE_T0 + holder - 1, pc, place, sizeof place) : "";
        wg_hang_edge_add(g, from, node(WG_NODE_MUTEX, mutex), "mutex %u is held", mutex);
        if (holder)
            wg_hang_edge_add(g, node(WG_NODE_MUTEX, mutex), node(WG_NODE_THREAD, holder - 1), "thread %u holds it%s%s",
                             holder - 1, *taken ? ", since its ATGETM" : "", taken);
        break;
    }
    case WG_ENDED_BY_NO_MUTEX:
        wg_hang_edge_add(g, from, node(WG_NODE_NOBODY, 0), "mutex %u does not exist; hardware waits for it forever",
                         stall->resource);
        break;
    case WG_ENDED_BY_SCALAR:
        wg_hang_edge_add(g, from, node(WG_NODE_UNIT, WG_AGENT_SCALAR), "%s", wg_stall_text(stall->reason));
        break;
    case WG_ENDED_BY_UNIT:
        if (stall->resource >= WG_UNIT_SYNC && stall->resource < WG_UNIT_COUNT)
            wg_hang_edge_add(g, from, node(WG_NODE_UNIT, wg_units[stall->resource]->agent), "%s",
                             wg_stall_text(stall->reason));
        else
            wg_hang_edge_add(g, from, node_of_agent(stall->holder), "%s", wg_stall_text(stall->reason));
        break;
    case WG_ENDED_BY_SRCA: bank_edge(g, from, thread, true, false); break;
    case WG_ENDED_BY_SRCB: bank_edge(g, from, thread, true, true); break;
    case WG_ENDED_BY_HOLDER:
    case WG_ENDED_BY_NOBODY:
    case WG_ENDED_BY_UNPACKERS:
    case WG_ENDED_BY_DST:
    case WG_ENDED_BY_FIFO:
    case WG_ENDED_BY_THREAD:
    case WG_ENDED_BY_CORE_B:
        wg_hang_edge_add(g, from, node_of_agent(stall->holder), "%s", wg_stall_text(stall->reason));
        break;
    }
}

/* The next request of the core, from *queue on, that is stalled in its region. */
static const wg_stall *held_request(const graph *g, unsigned core, unsigned *queue)
{
    const wg_memory *m = &g->dev->tile->regions.memory;
    for (; *queue < WG_REQUEST_QUEUES; ++*queue)
        if (m->queue[core][*queue].count && m->queue[core][*queue].why.reason != WG_STALL_NONE &&
            m->queue[core][*queue].why.retry_at == WG_NEVER)
            return &m->queue[core][(*queue)++].why;
    return NULL;
}

/* What a core's stall says about it. */
typedef enum core_state {
    EXECUTES,
    FOR_ITSELF, /* it waits for its own requests: their stall, if there is one, is the true reason */
    PARKED,
    FOR_OTHERS
} core_state;
static core_state state_of(unsigned reason)
{
    switch ((wg_stall_reason)reason) {
    case WG_STALL_NONE:
    case WG_STALL_BRANCH_BUBBLE:
    case WG_STALL_MULTI_CYCLE:
    case WG_STALL_INSTRUCTION_FETCH: return EXECUTES;
    case WG_STALL_OPERAND:
    case WG_STALL_LOAD_RESPONSE:
    case WG_STALL_RETIRE_QUEUE_FULL:
    case WG_STALL_STORE_QUEUE_FULL:
    case WG_STALL_STORE_CONFLICT:
    case WG_STALL_FENCE:
    case WG_STALL_CSR_SYNC: return FOR_ITSELF;
    case WG_STALL_CORE_PARKED: return PARKED;
    /* In its region */
    case WG_STALL_CORE_IN_RESET:
    case WG_STALL_CORE_HALTED:
    case WG_STALL_PUSH_FIFO_FULL:
    case WG_STALL_MAILBOX_EMPTY:
    case WG_STALL_MAILBOX_FULL:
    case WG_STALL_PCBUF_EMPTY:
    case WG_STALL_PCBUF_FULL:
    case WG_STALL_PCBUF_IDLE:
    case WG_STALL_TTSYNC_DRAIN:
    case WG_STALL_TTSYNC_MOP:
    case WG_STALL_AUTO_TTSYNC_CORE:
    case WG_STALL_SEMAPHORE_SLOT:
    case WG_STALL_L1_PORT:
    case WG_STALL_RAM_CLEARING:
    case WG_STALL_HANGING_ACCESS:
    /* Not of cores */
    case WG_STALL_LATCHED_WAIT:
    case WG_STALL_LATCH_OCCUPIED:
    case WG_STALL_UNIT_BUSY:
    case WG_STALL_ARBITRATION:
    case WG_STALL_SCALAR_EXECUTING:
    case WG_STALL_UNPACK_ADDRESS_PHASE:
    case WG_STALL_MUTEX_HELD:
    case WG_STALL_MUTEX_INVALID:
    case WG_STALL_SRCA_NOT_HANDED_OVER:
    case WG_STALL_SRCB_NOT_HANDED_OVER:
    case WG_STALL_DST_BLOCK_WRITTEN:
    case WG_STALL_MATRIX_ISSUE_GAP:
    case WG_STALL_VECTOR_INTERLOCK:
    case WG_STALL_CONFIG_STAGE_TAKEN:
    case WG_STALL_AUTO_TTSYNC:
    case WG_STALL_FIFO_FULL:
    case WG_STALL_SRC_BANK_NOT_UNPACKERS:
    case WG_STALL_MEMORY:
    case WG_STALL_COUNT: break;
    }
    return FOR_OTHERS;
}
static bool is_consequence(unsigned reason) { return state_of(reason) == FOR_ITSELF || state_of(reason) == PARKED; }

/*
 * Does the core poll? In a hang, a core that still executes repeats a loop. So does one that waits for its own requests, if no
 * region holds any of them.
 */
static bool polls(const graph *g, unsigned core)
{
    const unsigned reason = g->out->core[core].info.stall.reason;
    unsigned queue = 0;
    if (!g->hung)
        return g->history->repeating >> core & 1;
    if (state_of(reason) == FOR_ITSELF && !held_request(g, core, &queue))
        return true;
    return wg_core_is_polling(g->dev->tile, core) || state_of(reason) == EXECUTES;
}

/* The core's last access to nowhere, which hardware never answers; NULL: none was reported. */
static const wg_finding *bad_access(const graph *g, unsigned core)
{
    const wg_device *dev = g->dev;
    const wg_finding *last = NULL;
    for (size_t i = 0; i < dev->findings; i++) {
        const wg_finding *f = &dev->finding[i];
        if ((f->code == WG_F_CORE_UNMAPPED || f->code == WG_F_CORE_HANGING_STORE) && f->agent == core &&
            f->tile == dev->tile->index && f->has_pc && (!last || f->cycle >= last->cycle))
            last = f;
    }
    return last;
}

static void stall_edges(graph *g, unsigned core, const wg_stall *stall)
{
    wg_node from = node(WG_NODE_CORE, core);
    unsigned thread = core >= WG_CORE_T0 ? core - WG_CORE_T0 : 0;
    if (stall->holder >= WG_AGENT_THREAD0 && stall->holder <= WG_AGENT_THREAD2)
        thread = stall->holder - WG_AGENT_THREAD0;
    switch (wg_stall_ended_by(stall)) {
    case WG_ENDED_BY_FIFO:
        wg_hang_edge_add(g, from, node(WG_NODE_FIFO, thread), "it pushes, and thread %u's FIFO is full", thread);
        wg_hang_edge_add(g, node(WG_NODE_FIFO, thread), node(WG_NODE_THREAD, thread),
                         "it empties through thread %u's gate", thread);
        break;
    case WG_ENDED_BY_THREAD:
        wg_hang_edge_add(g, from, node(WG_NODE_THREAD, thread), "%s", wg_stall_text(stall->reason));
        break;
    case WG_ENDED_BY_CORE_B:
        wg_hang_edge_add(g, from, node(WG_NODE_CORE, WG_CORE_B), "only core B fills the PC buffer, and it is empty");
        break;
    case WG_ENDED_BY_NOBODY: {
        const wg_finding *f = bad_access(g, core);
        if (f)
            wg_hang_edge_add(g, from, node(WG_NODE_NOBODY, 0), "%s", f->detail);
        else
            wg_hang_edge_add(g, from, node(WG_NODE_NOBODY, 0), "%s", wg_stall_text(stall->reason));
        break;
    }
    case WG_ENDED_BY_NOTHING:
    case WG_ENDED_BY_HOLDER:
    case WG_ENDED_BY_LATCH:
    case WG_ENDED_BY_UNIT:
    case WG_ENDED_BY_SCALAR:
    case WG_ENDED_BY_UNPACKERS:
    case WG_ENDED_BY_MUTEX:
    case WG_ENDED_BY_NO_MUTEX:
    case WG_ENDED_BY_SRCA:
    case WG_ENDED_BY_SRCB:
    case WG_ENDED_BY_DST:
        /* A core that waits for itself would have to send the word it reads, or read the word it sends. */
        wg_hang_edge_add(g, from, stall->holder == core ? node(WG_NODE_NOBODY, 0) : node_of_agent(stall->holder), "%s",
                         wg_stall_text(stall->reason));
        break;
    }
}

/* A stalled store counts as the core's wait, even if the core has run on to its final loop. */
static void core_edges(graph *g, unsigned core)
{
    const wg_hang_core *c = &g->out->core[core];
    if (!c->waits || (!g->hung && c->info.stall.reason == WG_STALL_NONE && !polls(g, core)))
        return;
    /* A stall that ends by itself is not a wait for another party. */
    if (!g->hung && !polls(g, core) && wg_stall_ended_by(&c->info.stall) == WG_ENDED_BY_HOLDER &&
        c->info.stall.holder >= WG_AGENT_COUNT)
        return;
    bool any = false;
    unsigned queue = 0;
    for (const wg_stall *held; g->hung && (held = held_request(g, core, &queue)); any = true)
        stall_edges(g, core, held);
    if (polls(g, core)) {
        if (!wg_hang_pages_edges(g, core))
            wg_hang_poll_edges(g, core);
    } else if (!any || !is_consequence(c->info.stall.reason)) {
        stall_edges(g, core, &c->info.stall);
    }
}

/* An atomic that keeps retrying on a word that nobody changes. */
static void retry_edge(graph *g, wg_node from)
{
    const wg_scalar *u = &g->dev->tile->backend.scalar;
    char place[272];
    at_place(g, u->insn.source < WG_CORES ? u->insn.source : WG_CORE_T0 + u->insn.thread, u->insn.pc, place,
             sizeof place);
    bool compares = u->insn.op == WG_I_ATCAS;
    uint32_t word = 0, address = u->address * 16 + (compares ? WG_GET(ATCAS, Sel32b, u->insn.word) * 4 : 0);
    if (address <= g->dev->tile->spec->l1_bytes - 4)
        memcpy(&word, g->dev->tile->l1 + address, sizeof word);
    if (compares)
        wg_hang_edge_add(
            g, from, node(WG_NODE_NOBODY, 0),
            "thread %u's ATCAS%s wants %u at 0x%05x of L1 and finds %u each time; nothing that can still act writes it",
            u->insn.thread, place, WG_GET(ATCAS, CmpVal, u->insn.word), address, word);
    else
        wg_hang_edge_add(
            g, from, node(WG_NODE_NOBODY, 0),
            "thread %u's ATINCGETPTR%s finds the queue at 0x%05x of L1 %s each time; nothing that can still act "
            "changes it",
            u->insn.thread, place, address, WG_GET(ATINCGETPTR, Sel32b, u->insn.word) & 1 ? "full" : "empty");
}

static void unit_edges(graph *g, unsigned agent)
{
    const wg_backend *b = &g->dev->tile->backend;
    wg_node from = node(WG_NODE_UNIT, agent);
    if (agent == WG_AGENT_SCALAR && g->hung && wg_scalar_retrying(g->dev->tile)) {
        retry_edge(g, from);
        return;
    }
    if (agent == WG_AGENT_SCALAR && b->scalar.stall.reason != WG_STALL_NONE)
        wg_hang_edge_add(g, from, node_of_agent(b->scalar.stall.holder), "%s", wg_stall_text(b->scalar.stall.reason));
    else if ((agent == WG_AGENT_UNPACK0 && b->unpack.stalled[0]) || (agent == WG_AGENT_UNPACK1 && b->unpack.stalled[1]))
        bank_edge(g, from, WG_THREADS, false, agent == WG_AGENT_UNPACK1);
}

/* A thread that has issued everything, while a unit still executes some of it. */
static void busy_edges(graph *g, unsigned thread)
{
    const wg_tile *t = g->dev->tile;
    if (g->out->thread[thread].idle || g->out->thread[thread].gate.has_head)
        return;
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++) {
        const wg_unit_ops *ops = wg_units[unit];
        if (!ops->busy(t, thread))
            continue;
        for (unsigned part = 0; part < (unit == WG_UNIT_UNPACK ? 2u : 1u); part++)
            if (unit != WG_UNIT_UNPACK || !ops->part_busy || ops->part_busy(t, thread, part))
                wg_hang_edge_add(g, node(WG_NODE_THREAD, thread), node(WG_NODE_UNIT, ops->agent + part),
                                 "one of its instructions is still in flight");
    }
}

/*
 * Dead ends: a parked core, and a thread to which nobody pushes, wait for nothing; a party that waits for one of them waits
 * forever.
 */
static void ends(graph *g)
{
    for (unsigned i = 0; i < g->out->edges; i++) {
        wg_node to = g->out->edge[i].to;
        if (to.kind == WG_NODE_CORE && !g->out->core[to.index].waits)
            wg_hang_edge_add(g, to, node(WG_NODE_NOBODY, 0),
                             g->out->core[to.index].info.in_reset ? "it is in reset" : "it is parked");
        if (to.kind == WG_NODE_THREAD && g->history->repeating >> (WG_CORE_T0 + to.index) & 1 &&
            g->out->thread[to.index].gate.latch.kind == WG_LATCH_EMPTY)
            wg_hang_edge_add(g, to, node(WG_NODE_CORE, WG_CORE_T0 + to.index),
                             "it does what core %s pushes in its loop",
                             wg_agent_name_of(g->dev, WG_CORE_T0 + to.index));
        if (to.kind != WG_NODE_THREAD || !g->out->thread[to.index].idle)
            continue;
        bool any = false;
        for (unsigned core = 0; core < WG_CORES; core++)
            if ((core == WG_CORE_B || core == (unsigned)WG_CORE_T0 + to.index) && g->out->core[core].waits) {
                wg_hang_edge_add(g, to, node(WG_NODE_CORE, core),
                                 "it has nothing left to do; core %s could still push to it",
                                 wg_agent_name_of(g->dev, core));
                any = true;
            }
        if (!any)
            wg_hang_edge_add(g, to, node(WG_NODE_NOBODY, 0), "it has nothing left to do");
    }
}

/* ---- collecting ---- */

static void inspect_thread(graph *g, unsigned thread)
{
    wg_hang_thread *out = &g->out->thread[thread];
    const wg_history *h = g->history;
    wg_gate_state(g->dev->tile, thread, &out->gate);
    out->idle = wg_thread_idle(g->dev->tile, thread);
    wg_latch_text(g->dev->arch, &out->gate.latch, out->latch, sizeof out->latch);
    if (out->gate.has_head && out->gate.stall.reason != WG_STALL_NONE)
        snprintf(out->why, sizeof out->why, "%s", wg_stall_text(out->gate.stall.reason));
    out->history_count = h->count[thread] < WG_HISTORY ? (unsigned)h->count[thread] : WG_HISTORY;
    for (unsigned i = 0; i < out->history_count; i++)
        out->history[i] = h->last[thread][(h->count[thread] - out->history_count + i) % WG_HISTORY];
}

/* "posted 3 times, last by thread 0 at kernel.c:12 in cycle 40; …" */
static void inspect_semaphore(graph *g, unsigned semaphore)
{
    static const char *const acts[WG_SEM_ACTS] = {"posted", "taken from", "initialised"};
    const wg_semaphore_past *past = &g->history->semaphore[semaphore];
    phrase p = {g->out->semaphore_past[semaphore], sizeof g->out->semaphore_past[semaphore], 0};
    const uint64_t kept = past->changes < WG_SEM_CHANGES ? past->changes : WG_SEM_CHANGES;
    g->out->semaphore_changes[semaphore] = past->changes;
    for (uint64_t i = 0; i < kept; i++)
        g->out->semaphore_change[semaphore][i] = past->change[(past->changes - kept + i) % WG_SEM_CHANGES];
    for (unsigned i = 0; i < WG_SEM_ACTS; i++) {
        char by[320];
        if (!past->count[i])
            continue;
        say(&p, "%s%s ", p.used ? "; " : "", acts[i]);
        if (past->count[i] == 1)
            say(&p, "once, ");
        else
            say(&p, "%llu times, last ", (unsigned long long)past->count[i]);
        say(&p, "by %s", wg_hang_act_text(g, past, i, by, sizeof by));
    }
}

static void inspect_core(graph *g, unsigned core)
{
    wg_hang_core *out = &g->out->core[core];
    unsigned queue = 0;
    const wg_stall *held = NULL;
    if (core >= g->dev->tile->spec->cores) {
        out->info.in_reset = out->info.parked = true;
        return;
    }
    wg_core_state(g->dev, (wg_core_id)core, &out->info);
    if (g->hung)
        held = held_request(g, core, &queue);
    if (out->info.parked && !held)
        return;
    out->waits = true;
    if (held && is_consequence(out->info.stall.reason))
        out->info.stall = *held;
    const wg_stall *stall = &out->info.stall;
    snprintf(out->why, sizeof out->why, "%s",
             polls(g, core)  ? "it polls"
             : stall->reason ? wg_stall_text(stall->reason)
                             : "executing");
    if (stall->reason && !polls(g, core) && stall->holder < WG_AGENT_COUNT && stall->holder != core) {
        size_t used = strlen(out->why);
        snprintf(out->why + used, sizeof out->why - used, " (%s)", wg_agent_name_of(g->dev, stall->holder));
    }
}

void wg_hang_inspect(wg_device *dev, const wg_history *history, bool hung, wg_hang *out)
{
    memset(out, 0, sizeof *out);
    graph g = {.dev = dev, .history = history, .hung = hung, .out = out};
    const wg_tile *t = dev->tile;
    out->dev = dev;
    out->cycle = wg_cycle(dev);
    memcpy(out->semaphore_value, t->backend.sync.value, sizeof out->semaphore_value);
    memcpy(out->semaphore_max, t->backend.sync.max, sizeof out->semaphore_max);
    memcpy(out->mutex, t->backend.sync.mutex, sizeof out->mutex);
    out->mutex_valid = dev->arch->mutex_valid;
    for (unsigned i = 0; i < 2; i++) {
        out->bank_owner[i] = t->regs.src.owner_a[i];
        out->bank_owner[2 + i] = t->regs.src.owner_b[i];
    }
    out->matrix_bank[0] = t->regs.src.matrix_bank_a;
    out->matrix_bank[1] = t->regs.src.matrix_bank_b;
    out->unpack_bank[0] = t->regs.src.unpack_bank_a;
    out->unpack_bank[1] = t->regs.src.unpack_bank_b;
    for (unsigned i = 0; i < 8; i++)
        inspect_semaphore(&g, i);
    for (unsigned i = 0; i < WG_CORES; i++)
        inspect_core(&g, i);
    for (unsigned i = 0; i < WG_THREADS; i++)
        inspect_thread(&g, i);
    wg_hang_find_kernels(&g);
    for (unsigned i = 0; i < WG_CORES; i++)
        core_edges(&g, i);
    for (unsigned i = 0; i < WG_THREADS; i++)
        gate_edges(&g, i);
    for (unsigned agent = WG_AGENT_SYNC; agent <= WG_AGENT_MISC; agent++)
        unit_edges(&g, agent);
    for (unsigned i = 0; i < WG_THREADS; i++)
        busy_edges(&g, i);
    ends(&g);
    wg_hang_verdict(&g);
}
