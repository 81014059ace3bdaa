/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop through L1 of a core that is alone: once it has gone round in step, only its results are worked out.
 *
 *     back edge ── the state as one round earlier, moved in time (and address)? ──> the next rounds take as long
 *
 * What a round costs follows from the state at its start: retire queue, loads in flight, store queue, L0 cache, when
 * port and banks are free, and how the addresses lie to each other. If all of that is as it was a period earlier, but
 * for the same number of cycles (and of bytes, in whole lines, for every address), the period repeats itself. While it
 * was gone through for the first time, loads, stores and what left the store queue were written down in order; from then
 * on these are done, and the arithmetic, without asking when. Addresses need no look: their registers are constant, or
 * move by additions of constants. A period is one to WG_LOOP_PERIOD rounds; a branch that falls through leaves the loop
 * in any of them.
 *
 * Not in here: rounds in which the L0 cache empties itself, stores to lines that are in other caches, anything that is
 * not arithmetic, L1, or the one branch. Facts: as in lsu.c and exec.c.
 */
#include "fast/loops.h"

#include <string.h>

enum { LINE = 16, LEAST_CYCLES = 192, MISSES = 6 };
enum { SLACK = 24 /* what is under way at a period's end is over so soon */ };

/* Codes of steps beside those of instructions. */
enum { DO_LW = WG_OP_COUNT, DO_LOAD, DO_STORE, DO_LEAVE_WORD, DO_LEAVE, DO_END, DO_COUNT };

/* ---- which loops ------------------------------------------------------------------------------------------- */

/* By how much a round moves the register; false if not by a constant. */
static bool moves_by(const wg_loop *l, unsigned reg, uint32_t *by)
{
    *by = 0;
    for (unsigned i = 0; i < l->ops; i++) {
        const wg_op *op = &l->body[i];
        if (op->rd != reg || op->code == WG_OP_STORE)
            continue;
        if (op->code != WG_OP_ADDI || op->rs1 != reg)
            return false;
        *by += op->imm;
    }
    return true;
}

/* The instructions from the branch's target to the branch; false if the loop is not one for here. */
static bool take_body(const wg_tile *t, unsigned core, wg_loop *l)
{
    unsigned memory = 0;
    uint32_t by, first = 0;
    l->ops = 0;
    if (l->branch - l->target >= 4 * WG_LOOP_OPS || l->target >= t->arch->l1_bytes)
        return false;
    for (uint32_t pc = l->target; pc <= l->branch; pc += 4) {
        const wg_icache_line *line = wg_fetch_peek(t, core, pc);
        if (!line || (line->tag & WG_LINE_STALE) || line->checked != t->core[core].epoch)
            return false;
        const wg_op *op = &line->op[pc >> 2 & 3];
        bool reaches = op->code == WG_OP_LOAD || op->code == WG_OP_STORE;
        if (pc < l->branch && !reaches && !wg_is_arithmetic(op->code))
            return false;
        memory += reaches;
        l->body[l->ops++] = *op;
    }
    for (unsigned i = 0; i < l->ops; i++) {
        const wg_op *op = &l->body[i];
        if (op->code != WG_OP_LOAD && op->code != WG_OP_STORE)
            continue;
        if (!moves_by(l, op->rs1, &by) || (l->base && by != first))
            return false;
        first = by;
        l->base = l->base ? l->base : op->rs1;
    }
    return memory && l->base;
}

/* ---- the same state again? --------------------------------------------------------------------------------- */

static void take_shot(const wg_tile *t, unsigned core, const wg_loop *l, wg_loop_shot *s)
{
    const wg_core *k = &t->core[core];
    const wg_memory *m = &t->regions.memory;
    unsigned port = wg_l1_port((wg_l1_client)core);
    s->run = k->run;
    s->port_free = m->l1.port_free[port];
    s->turn = m->l1.turn[port];
    s->last_seen_at = m->lane[core][WG_PATH_L1].last_seen_at;
    s->emitted = m->emitted[core];
    memcpy(s->bank_free, m->l1.bank_free, sizeof s->bank_free);
    memcpy(s->solo_at, k->solo_at, sizeof s->solo_at);
    s->solo_next = k->solo_next;
    s->base = k->run.r[l->base];
    s->events = l->events;
}

/* Times that have both passed (by the `past` of their state) make no difference any more. */
static inline bool same_time(uint64_t a, uint64_t b, uint64_t later, uint64_t past)
{
    return b == a + later || (a <= past && b <= past + later);
}

static bool same_queues(const wg_core_run *a, const wg_core_run *b, uint64_t later, uint32_t further)
{
    for (unsigned i = 0; i < WG_LOADS; i++) {
        const wg_load *x = &a->load[i], *y = &b->load[i];
        if (x->used != y->used)
            return false;
        if (x->used && (y->done != x->done + later || y->address != x->address + further || x->rd != y->rd ||
                        x->fills != y->fills || x->flushed != y->flushed || x->stale || y->stale))
            return false;
    }
    for (unsigned i = 0; i < a->sq_count; i++) {
        const wg_store *x = wg_sq_peek(a, i), *y = wg_sq_peek(b, i);
        if ((i && y->first != x->first + later) /* the first one's is past use */ || y->entered != x->entered + later ||
            y->address != x->address + further || x->mask != y->mask || x->path != WG_PATH_L1 || y->path != WG_PATH_L1)
            return false;
    }
    for (unsigned i = 0; i < WG_L0_LINES; i++) {
        const wg_l0_line *x = &a->l0[i], *y = &b->l0[i];
        if (y->tag != (x->tag ? x->tag + further : 0) || (x->tag && (x->stale || y->stale)))
            return false;
    }
    return true;
}

/* What the L0 cache holds is what L1 holds: a vector store of its own passes it by. */
static bool l0_agrees(const wg_tile *t, const wg_core_run *run)
{
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag && memcmp(run->l0[i].data, t->l1 + (run->l0[i].tag & ~1u), LINE) != 0)
            return false;
    for (unsigned i = 0; i < WG_LOADS; i++) {
        const wg_load *l = &run->load[i];
        if (l->used && !l->flushed && memcmp(l->line, t->l1 + (l->address & ~(uint32_t)(LINE - 1)), LINE) != 0)
            return false;
    }
    return true;
}

/* Is the present state that of `s`, moved? */
static bool same_state(const wg_tile *t, unsigned core, const wg_loop *l, const wg_loop_shot *s)
{
    const wg_core *k = &t->core[core];
    const wg_core_run *a = &s->run, *b = &k->run;
    const wg_memory *m = &t->regions.memory;
    const uint64_t later = b->at - a->at;
    const uint32_t further = b->r[l->base] - s->base;
    const unsigned port = wg_l1_port((wg_l1_client)core), banks = t->arch->l1_banks;
    if (b->last != a->last + later || a->sq_count != b->sq_count || a->loads != b->loads ||
        a->l0_victim != b->l0_victim || a->history != b->history || further % LINE || s->turn != m->l1.turn[port] ||
        b->ordered || b->ex1.kind || b->fetch[0].used || b->fetch[1].used)
        return false;
    /* A store that waits has its time before this: what was free then counts. */
    const uint64_t past = a->sq_count ? wg_min64(wg_sq_peek(a, 0)->entered, a->at) : a->at;
    for (unsigned i = 1; i <= WG_RETIRE_QUEUE; i++) {
        unsigned x = (unsigned)((a->number - i) % WG_RETIRE_RING), y = (unsigned)((b->number - i) % WG_RETIRE_RING);
        if (!same_time(a->retired[x], b->retired[y], later, a->at) ||
            !same_time(a->filled[x], b->filled[y], later, a->at))
            return false;
        if (((a->dests ^ b->dests) >> 8 * (i - 1) & 0xFF) && b->retired[y] > b->at) /* else it is no matter */
            return false;
    }
    if (!same_time(a->mux_free, b->mux_free, later, past) || !same_time(a->wait_e, b->wait_e, later, a->at - 1) ||
        !same_time(s->port_free, m->l1.port_free[port], later, past) ||
        !same_time(s->last_seen_at, m->lane[core][WG_PATH_L1].last_seen_at, later, past) ||
        (a->wait_e >= a->at && b->wait_m != a->wait_m + later) || !same_queues(a, b, later, further))
        return false;
    unsigned differ = 0; /* same_time() without branches */
    for (unsigned i = 0; i < banks; i++) {
        const uint64_t x = s->bank_free[i], y = m->l1.bank_free[(i + further / LINE) & (banks - 1)];
        differ |= ((x > past) | (y > past + later)) & (y != x + later);
    }
    if (differ)
        return false;
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        if (!same_time(s->solo_at[(s->solo_next + i) % WG_SOLO_RECENT], k->solo_at[(k->solo_next + i) % WG_SOLO_RECENT],
                       later, past))
            return false;
    return l0_agrees(t, b);
}

/* ---- what a period does ------------------------------------------------------------------------------------ */

/* A round's instructions, with what was written down of them, from event `e` on. */
static bool take_round(wg_loop *l, unsigned *e, unsigned round)
{
    const wg_loop_shot *s = &l->shot[0];
    for (unsigned i = 0; i < l->ops; i++) {
        const wg_op *op = &l->body[i];
        bool reaches = op->code == WG_OP_LOAD || op->code == WG_OP_STORE;
        for (; reaches && *e < l->events && l->event[*e].kind == WG_LOOP_LEAVES; ++*e) {
            const wg_loop_event *v = &l->event[*e];
            if (l->steps == WG_LOOP_STEPS)
                return false;
            wg_loop_step *x = &l->step[l->steps++];
            unsigned word = (unsigned)__builtin_ctz(v->mask | 0x10000u) & 15;
            *x = (wg_loop_step){.code = v->mask == 0xFu << word && word % 4 == 0 ? DO_LEAVE_WORD : DO_LEAVE,
                                .imm = (v->address & ~(uint32_t)(LINE - 1)) + word,
                                .mask = v->mask,
                                .slot = (uint8_t)(((unsigned)v->slot - s->run.sq_head) % WG_STORE_QUEUE),
                                .free_at = v->free_at - s->run.at};
            l->leave[l->leaves++] = x->imm;
        }
        if (l->steps + 1u >= WG_LOOP_STEPS)
            return false;
        wg_loop_step *x = &l->step[l->steps++];
        *x = (wg_loop_step){.code = op->code, .rd = op->rd, .rs1 = op->rs1, .rs2 = op->rs2, .imm = op->imm};
        x->slot = (uint8_t)(round + 1); /* of the branch */
        if (!reaches)
            continue;
        if (*e == l->events)
            return false;
        const wg_loop_event *v = &l->event[(*e)++];
        if ((op->code == WG_OP_LOAD) != (v->kind == WG_LOOP_LOADS))
            return false;
        l->low = v->address < l->low ? v->address : l->low;
        l->high = v->address > l->high ? v->address : l->high;
        x->size = op->spare;
        x->free_at = v->free_at ? v->free_at - s->run.at : 0;
        if (op->code == WG_OP_LOAD) {
            x->code = op->spare == 2 || op->spare == 8 ? DO_LW : DO_LOAD;
        } else {
            x->code = DO_STORE;
            x->size = wg_store_bytes[op->spare % 3];
            x->slot = (uint8_t)(((unsigned)v->slot - s->run.sq_head) % WG_STORE_QUEUE);
            x->fresh = v->fresh;
            l->leave[l->leaves++] = v->address;
        }
    }
    return true;
}

static bool take_period(wg_loop *l)
{
    unsigned e = 0;
    l->steps = 0;
    l->leaves = 0;
    l->low = UINT32_MAX;
    l->high = 0;
    for (unsigned round = 0; round < l->rounds; round++)
        if (!take_round(l, &e, round) || e != l->shot[round + 1].events)
            return false;
    l->step[l->steps++] = (wg_loop_step){.code = DO_END};
    return true;
}

/* Every so many requests the L0 cache empties itself: none of these in the periods that repeat. 0: it does not. */
static uint32_t flush_period(const wg_tile *t, const wg_core *k)
{
    return k->csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH ? 0 : t->arch->l0_flush_period;
}

static bool has_flushed(const wg_tile *t, unsigned core, const wg_loop *l)
{
    uint32_t every = flush_period(t, &t->core[core]);
    return every && t->core[core].run.l0_requests / every != l->shot[0].run.l0_requests / every;
}

/* Everything in the period takes place so long before the end of the run ahead, and the lines it writes are its own. */
static uint64_t periods(const wg_tile *t, unsigned core, const wg_loop *l, uint64_t stop)
{
    const wg_core *k = &t->core[core];
    const wg_loop_shot *first = &l->shot[0], *last = &l->shot[l->rounds];
    const uint64_t long_ = last->run.at - first->run.at;
    const uint32_t further = last->base - first->base, moved = k->run.r[l->base] - first->base;
    stop = wg_min64(stop, wg_min64(k->stop, k->solo_until));
    if (k->run.at + long_ + SLACK > stop)
        return 0;
    uint64_t n = (stop - SLACK - k->run.at) / long_;
    uint32_t requests = last->run.l0_requests - first->run.l0_requests, every = flush_period(t, k);
    if (requests && every)
        n = wg_min64(n, (every - 1 - k->run.l0_requests % every) / requests);
    if (k->solo_saved && l->leaves)
        n = wg_min64(n, (WG_L1_UNDO - t->l1_undos) / l->leaves);
    if (further) { /* far from both ends of L1 */
        uint64_t low = (uint32_t)(l->low + moved), high = (uint32_t)(l->high + moved);
        if (low > high || high >= t->arch->l1_bytes)
            return 0;
        if ((int32_t)further > 0)
            n = wg_min64(n, (t->arch->l1_bytes - 1 - high) / further);
        else
            n = wg_min64(n, low / (0 - further));
    }
    return n;
}

static bool lines_are_own(const wg_tile *t, unsigned core, const wg_loop *l, uint32_t moved)
{
    unsigned others = 0;
    for (unsigned i = 0; i < l->leaves; i++)
        others |= t->regions.memory.l1.watch[(l->leave[i] + moved) / LINE % WG_L1_MAX_LINES];
    return !(others & ~(1u << core));
}

/* ---- going round ------------------------------------------------------------------------------------------- */

static void leave(wg_tile *t, const wg_loop_step *x, uint32_t address, const uint32_t data[4])
{
    uint8_t bytes[LINE], *line = t->l1 + (address & ~(uint32_t)(LINE - 1));
    memcpy(bytes, data, LINE);
    if (x->mask == 0xFFFF)
        memcpy(line, bytes, LINE);
    else
        for (unsigned i = 0; i < LINE; i++)
            if (x->mask >> i & 1)
                line[i] = bytes[i];
}

static void log_line(wg_tile *t, uint32_t address)
{
    wg_l1_undo *u = &t->l1_undo[t->l1_undos++];
    u->line = address & ~(uint32_t)(LINE - 1);
    memcpy(u->old, t->l1 + u->line, LINE);
}

#define A r[x->rs1]
#define B r[x->rs2]
#define I x->imm

/*
 * Up to n periods, from a state that is the first shot's, moved. Returns how many were gone through; *round is how many
 * rounds of a further one, whose last branch has then fallen through.
 */
WG_THREADED static uint64_t go_round(wg_tile *t, unsigned core, const wg_loop *l, uint64_t n, unsigned *round)
{
    static const void *const labels[DO_COUNT] = {
#define ALU(name, expression) [WG_OP_##name] = &&L_##name,
#define MULTIPLY(name, expression) [WG_OP_##name] = &&L_##name,
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
        [WG_OP_NOP] = &&L_NOP,
        [WG_OP_BEQ] = &&L_BEQ,
        [WG_OP_BNE] = &&L_BNE,
        [WG_OP_BLT] = &&L_BLT,
        [WG_OP_BGE] = &&L_BGE,
        [WG_OP_BLTU] = &&L_BLTU,
        [WG_OP_BGEU] = &&L_BGEU,
        [DO_LW] = &&L_lw,
        [DO_LOAD] = &&L_load,
        [DO_STORE] = &&L_store,
        [DO_LEAVE_WORD] = &&L_leave_word,
        [DO_LEAVE] = &&L_leave,
        [DO_END] = &&L_end,
    };
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint32_t *r = run->r;
    uint8_t *l1 = t->l1, *watch = t->regions.memory.l1.watch;
    uint64_t *bank_free = t->regions.memory.l1.bank_free;
    const uint32_t banks = t->arch->l1_banks - 1;
    const uint8_t mark = t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH) ? (uint8_t)(1u << core) : 0;
    const wg_loop_shot *first = &l->shot[0], *last = &l->shot[l->rounds];
    const uint64_t long_ = last->run.at - first->run.at;
    const uint32_t further = last->base - first->base;
    const unsigned pops = last->run.sq_head - first->run.sq_head;
    const bool saved = k->solo_saved;
    uint64_t began = run->at, done = 0;
    uint32_t moved = r[l->base] - first->base;
    unsigned head = run->sq_head;
    const wg_loop_step *x = l->step;
    *round = 0;
    goto *labels[x->code];
#define NEXT \
    do { \
        x++; \
        goto *labels[x->code]; \
    } while (0)
#define ALU(name, expression) \
    L_##name : r[x->rd] = (expression); \
    NEXT;
#define MULTIPLY(name, expression) ALU(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
L_NOP:
    NEXT;
L_lw : {
    uint32_t address = A + I;
    memcpy(&r[x->rd], l1 + address, 4);
    if (x->free_at) {
        bank_free[address / LINE & banks] = began + x->free_at;
        watch[address / LINE] |= mark;
    }
    NEXT;
}
L_load : {
    uint32_t address = A + I, line[4];
    memcpy(line, l1 + (address & ~(uint32_t)(LINE - 1)), LINE);
    r[x->rd] = wg_load_value(line, address, x->size);
    if (x->free_at) {
        bank_free[address / LINE & banks] = began + x->free_at;
        watch[address / LINE] |= mark;
    }
    NEXT;
}
L_store : {
    uint32_t address = A + I;
    uint32_t *data = run->sq[(head + x->slot) % WG_STORE_QUEUE].data;
    if (x->fresh)
        memset(data, 0, LINE);
    wg_put_bytes((uint8_t *)data + (address & (LINE - 1)), &B, x->size);
    NEXT;
}
L_leave_word : {
    uint32_t address = x->imm + moved;
    if (saved)
        log_line(t, address);
    memcpy(l1 + address, (const uint8_t *)run->sq[(head + x->slot) % WG_STORE_QUEUE].data + (address & (LINE - 1)), 4);
    bank_free[address / LINE & banks] = began + x->free_at;
    NEXT;
}
L_leave : {
    uint32_t address = x->imm + moved;
    if (saved)
        log_line(t, address);
    leave(t, x, address, run->sq[(head + x->slot) % WG_STORE_QUEUE].data);
    bank_free[address / LINE & banks] = began + x->free_at;
    NEXT;
}
#define BRANCH(name, condition) \
    L_##name : if (__builtin_expect(!(condition), 0)) goto falls_through; \
    NEXT;
#include "riscv/branch.inc"
#undef BRANCH
L_end:
    began += long_;
    moved += further;
    head += pops;
    if (++done < n && (!further || lines_are_own(t, core, l, moved))) {
        x = l->step;
        goto *labels[x->code];
    }
    return done;
falls_through:
    *round = x->slot;
    return done;
#undef NEXT
}
#undef A
#undef B
#undef I

/* What has to be known of the state from which repeating starts: the rest is as in the first shot. */
typedef struct start {
    uint64_t at, number, emitted;
    uint32_t base, l0_requests;
    uint8_t sq_head, solo_next;
} start;

/* The state after `done` periods and `round` rounds more. */
static void arrive(wg_tile *t, unsigned core, const wg_loop *l, uint64_t done, unsigned round, const start *now)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_memory *m = &t->regions.memory;
    const wg_loop_shot *zero = &l->shot[0], *last = &l->shot[l->rounds], *s = &l->shot[round];
    const wg_core_run *from = &s->run;
    const unsigned port = wg_l1_port((wg_l1_client)core);
    const uint64_t later = now->at - zero->run.at + done * (last->run.at - zero->run.at);
    const uint64_t more = now->number - zero->run.number + done * (last->run.number - zero->run.number);
    const uint32_t further = now->base - zero->base + (uint32_t)done * (last->base - zero->base);
    run->at = from->at + later;
    run->last = from->last + later;
    if (last->run.stored != zero->run.stored)
        run->stored = from->stored + later;
    run->number = from->number + more;
    run->dests = from->dests;
    run->mux_free = from->mux_free + later;
    run->wait_e = from->wait_e + later;
    run->wait_m = from->wait_m + later;
    run->l0_requests = now->l0_requests + (uint32_t)done * (last->run.l0_requests - zero->run.l0_requests) +
                       from->l0_requests - zero->run.l0_requests;
    run->l0_victim = from->l0_victim;
    run->loads = from->loads;
    run->sq_count = from->sq_count;
    run->sq_head = (uint8_t)((now->sq_head + done * (last->run.sq_head - zero->run.sq_head + 4u) + from->sq_head -
                              zero->run.sq_head) %
                             WG_STORE_QUEUE);
    for (unsigned i = 1; i <= WG_RETIRE_QUEUE; i++) {
        unsigned to = (unsigned)((run->number - i) % WG_RETIRE_RING);
        unsigned of = (unsigned)((from->number - i) % WG_RETIRE_RING);
        run->retired[to] = from->retired[of] + later;
        run->filled[to] = from->filled[of] + later;
    }
    for (unsigned i = 0; i < WG_LOADS; i++) {
        wg_load *x = &run->load[i];
        *x = from->load[i];
        if (!x->used)
            continue;
        x->done += later;
        x->number += more;
        x->address += further;
        memcpy(x->line, t->l1 + (x->address & ~(uint32_t)(LINE - 1)), LINE); /* or it is flushed */
    }
    wg_sq_repeat(run, from, later, further);
    for (unsigned i = 0; i < WG_L0_LINES; i++) {
        wg_l0_line *x = &run->l0[i];
        x->stale = false;
        x->tag = from->l0[i].tag ? from->l0[i].tag + further : 0;
        if (x->tag) /* what it holds is what L1 holds, or it would be stale */
            memcpy(x->data, t->l1 + (x->tag & ~1u), LINE);
    }
    m->l1.port_free[port] = s->port_free + later;
    m->l1.turn[port] = s->turn;
    m->lane[core][WG_PATH_L1].last_seen_at = s->last_seen_at + later;
    m->emitted[core] = now->emitted + done * (last->emitted - zero->emitted) + s->emitted - zero->emitted;
    k->solo_next = (uint8_t)(now->solo_next + done * (uint8_t)(last->solo_next - zero->solo_next) + s->solo_next -
                             zero->solo_next);
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        k->solo_at[(k->solo_next + i) % WG_SOLO_RECENT] = s->solo_at[(s->solo_next + i) % WG_SOLO_RECENT] + later;
}

static void repeat(wg_tile *t, unsigned core, wg_loop *l, uint64_t n)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned round;
    const start now = {.at = run->at,
                       .number = run->number,
                       .emitted = t->regions.memory.emitted[core],
                       .base = run->r[l->base],
                       .l0_requests = run->l0_requests,
                       .sq_head = run->sq_head,
                       .solo_next = k->solo_next};
    uint64_t done = go_round(t, core, l, n, &round);
    bool leaves = round != 0;
    if (round == l->rounds) {
        round = 0;
        done++;
    }
    arrive(t, core, l, done, round, &now);
    if (!leaves)
        return;
    /* The branch was foreseen to be taken, if anything is foreseen; and is no longer quite so sure. */
    bool on = wg_predictor_on(t, core);
    unsigned bubble = t->timing->mispredict_bubble;
    run->at = on ? run->at + bubble : run->at - bubble;
    run->pc = l->branch + 4;
    wg_predict_branch(k, on, l->branch, true, false);
}

/* Are all its branches foreseen, without anything left to learn? */
static bool foreseen(const wg_tile *t, unsigned core, const wg_loop *l)
{
    const wg_core *k = &t->core[core];
    if (!wg_predictor_on(t, core))
        return true;
    return k->run.history == 0xFF && k->predictor[(l->branch >> 2 ^ 0xFFu << 2) % WG_PREDICTOR] == 4;
}

static void start_over(const wg_tile *t, unsigned core, wg_loop *l)
{
    l->events = 0;
    l->rounds = 0;
    l->wrong = false;
    l->state = WG_LOOP_RECORDS;
    take_shot(t, core, l, &l->shot[0]);
}

void wg_loop_loaded(wg_loop *l, uint32_t address) { wg_loop_note(l, WG_LOOP_LOADS, address, 0, false, 0, 0); }

void wg_loop_stored(wg_loop *l, uint32_t address, unsigned slot, bool fresh)
{
    wg_loop_note(l, WG_LOOP_STORES, address, slot, fresh, 0, 0);
}

void wg_loop_spoil(wg_loop *l) { l->wrong = true; }

bool wg_fast_loop_edge(wg_tile *t, unsigned core, uint32_t branch, uint64_t stop, wg_loop *l)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    t->loop = NULL;
    if (l->state == WG_LOOP_NONE || l->branch != branch || l->target != run->pc || l->epoch != k->epoch) {
        if (run->at + LEAST_CYCLES > stop)
            return false;
        l->branch = branch;
        l->target = run->pc;
        l->epoch = k->epoch;
        l->base = 0;
        l->misses = 0;
        l->state = take_body(t, core, l) ? WG_LOOP_FITS : WG_LOOP_REFUSED;
    }
    if (l->state == WG_LOOP_REFUSED || !foreseen(t, core, l))
        return false;
    bool same = false;
    if (l->state == WG_LOOP_RECORDS) {
        bool flushed = has_flushed(t, core, l);
        if (l->wrong || flushed || l->rounds == WG_LOOP_PERIOD) {
            if (!flushed && ++l->misses > MISSES) {
                l->state = WG_LOOP_REFUSED;
                return false;
            }
            l->state = WG_LOOP_FITS;
        } else {
            take_shot(t, core, l, &l->shot[++l->rounds]);
            same = same_state(t, core, l, &l->shot[0]);
            if (same) {
                l->state = take_period(l) ? WG_LOOP_KNOWN : WG_LOOP_REFUSED;
            } else {
                t->loop = l;
                return false;
            }
        }
    }
    if (l->state == WG_LOOP_KNOWN) {
        uint64_t n = periods(t, core, l, stop);
        if (n < 2)
            return false;
        if ((same || same_state(t, core, l, &l->shot[0])) &&
            lines_are_own(t, core, l, run->r[l->base] - l->shot[0].base)) {
            repeat(t, core, l, n);
            wg_fast_used(t, WG_FAST_LOOPS);
            return true;
        }
        if (++l->misses <= MISSES)
            return false;
        l->misses = 0;
        l->state = WG_LOOP_FITS;
    }
    if (l->state == WG_LOOP_FITS && run->at + LEAST_CYCLES <= stop) {
        start_over(t, core, l);
        t->loop = l;
    }
    return false;
}
