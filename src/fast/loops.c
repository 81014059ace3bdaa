/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of a solo core through L1: once a period has been recorded, it is replayed (period.c).
 *
 *     back edge ── is the state that of some iterations earlier, moved in time and address? ──> replay
 *
 * The load/store unit logs loads, stores and stores that leave while a period is recorded. The replay need not check
 * addresses: their base registers are constant, or move by additions of constants. A period is one to WG_LOOP_PERIOD
 * iterations.
 *
 * The loop may hold arithmetic, accesses to L1 and the one branch. Facts: as in lsu.c and exec.c.
 */
#include "fast/loops.h"

#include <string.h>

enum { LINE = WG_L1_LINE, LEAST_CYCLES = 192, MISSES = 6 };

/* ---- loops that qualify ------------------------------------------------------------------------------------ */

/* By how much an iteration moves the register; false if not by a constant. */
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

/* Reads the instructions from the branch's target to the branch; false if the loop does not qualify. */
static bool take_body(const wg_tile *t, unsigned core, wg_loop *l)
{
    unsigned memory = 0;
    uint32_t by, first = 0;
    l->ops = 0;
    if (l->branch - l->target >= 4 * WG_LOOP_OPS || l->target >= t->spec->l1_bytes)
        return false;
    for (uint32_t pc = l->target; pc <= l->branch; pc += 4) {
        const wg_icache_line *line = wg_fetch_peek(t, core, pc);
        if (!line || (line->tag & WG_LINE_STALE) || line->checked != t->core[core].epoch)
            return false;
        const wg_op *op = &line->op[pc >> 2 & 3];
        bool reaches = op->code == WG_OP_LOAD || op->code == WG_OP_STORE;
        if (pc < l->branch && !reaches && !wg_is_arithmetic(op))
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

static void take_shot(const wg_tile *t, unsigned core, wg_loop *l)
{
    const wg_core *k = &t->core[core];
    wg_shot_take(t, 1u << core, &l->period.shot);
    memcpy(l->solo_at, k->solo_at, sizeof l->solo_at);
    l->solo_next = k->solo_next;
}

/* Is the present state that of the shot, moved? *v: by how much. */
static bool same_state(const wg_tile *t, unsigned core, wg_loop *l, wg_moves *v)
{
    const wg_core *k = &t->core[core];
    const wg_shot *s = &l->period.shot;
    const wg_core_run *a = &s->run[core], *b = &k->run;
    const unsigned port = wg_l1_port((wg_l1_client)core);
    const uint32_t further = b->r[l->base] - a->r[l->base];
    uint8_t turned;
    if (a->sq_count != b->sq_count || a->loads != b->loads || a->history != b->history || further % LINE ||
        b->ex1.kind || !wg_period_holds(b))
        return false;
    /* A queued store may leave before `at`: ports and banks that were busy then matter. */
    const uint64_t past = a->sq_count ? wg_min64(wg_sq_peek(a, 0)->entered, a->at) : a->at;
    *v = (wg_moves){.then = past, .now = past + b->at - a->at, .later = b->at - a->at};
    v->number[core] = b->number - a->number;
    v->further[core] = further;
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        if (!wg_same_time(v, l->solo_at[(l->solo_next + i) % WG_SOLO_RECENT],
                          k->solo_at[(k->solo_next + i) % WG_SOLO_RECENT]))
            return false;
    return wg_same_run(a, b, v, core) && wg_same_requests(t, s, v, core, false) &&
           wg_same_ports(t, s, v, port, port, further) && wg_period_same_l0(t, a, b, further, false, &turned);
}

/* ---- what a period does ------------------------------------------------------------------------------------ */

static wg_step_of *next_step(wg_loop *l, unsigned core, uint8_t code)
{
    wg_step_of *x = &l->step[l->period.steps++];
    *x = (wg_step_of){.code = code, .core = (uint8_t)core};
    return x;
}

/* … stores that left the queue before the next access. */
static bool take_leaves(wg_loop *l, unsigned core, unsigned *e)
{
    const wg_core_run *run = &l->period.shot.run[core];
    for (; *e < l->events && l->event[*e].kind == WG_LOOP_LEAVES; ++*e) {
        const wg_loop_event *v = &l->event[*e];
        if (l->period.steps + 2u >= WG_LOOP_STEPS)
            return false;
        wg_step_of *x = next_step(l, core, WG_STEP_DRAIN);
        x->address = v->address;
        x->mask = v->mask;
        x->slot = (uint8_t)(((unsigned)v->slot - run->sq_head) % WG_STORE_QUEUE);
        x->free_at = (int32_t)(v->free_at - run->at);
        l->period.own[l->period.owns++] = v->address;
    }
    return true;
}

/* Turns an iteration into steps: its instructions, and their events from `e` on. */
static bool take_round(const wg_tile *t, unsigned core, wg_loop *l, unsigned *e)
{
    const wg_core_run *run = &l->period.shot.run[core];
    const bool cached = t->arch->l0_lines && !(t->core[core].csr.cfg0 & WG_CFG0_DIS_LOW_CASH);
    for (const wg_op *op = l->body; op < l->body + l->ops; op++) {
        const bool loads = op->code == WG_OP_LOAD, stores = op->code == WG_OP_STORE;
        if ((loads || stores) && !take_leaves(l, core, e))
            return false;
        if (l->period.steps + 2u >= WG_LOOP_STEPS)
            return false;
        wg_step_of *x = &l->step[l->period.steps++];
        *x = wg_step_from(op, core);
        x->flag = true; /* of the branch: taken */
        if (!loads && !stores)
            continue;
        if (*e == l->events || loads != (l->event[*e].kind == WG_LOOP_LOADS))
            return false;
        const wg_loop_event *v = &l->event[(*e)++];
        l->low = v->address < l->low ? v->address : l->low;
        l->high = v->address > l->high ? v->address : l->high;
        x->free_at = v->free_at ? (int32_t)(v->free_at - run->at) : 0;
        if (loads) {
            x->code = op->spare == 2 ? WG_STEP_LW : WG_STEP_LOAD;
            x->size = op->spare;
            x->flag = cached;
        } else {
            x->code = WG_STEP_STORE;
            x->size = wg_store_bytes[op->spare % 3];
            x->slot = (uint8_t)(((unsigned)v->slot - run->sq_head) % WG_STORE_QUEUE);
            x->flag = v->fresh;
            l->period.own[l->period.owns++] = v->address;
        }
    }
    return true;
}

static bool take_period(wg_tile *t, unsigned core, wg_loop *l)
{
    wg_period *p = &l->period;
    unsigned e = 0;
    p->steps = 0;
    p->step = l->step;
    p->owns = 0;
    l->low = UINT32_MAX;
    l->high = 0;
    for (unsigned round = 0; round < l->rounds; round++)
        if (!take_round(t, core, l, &e) || e != l->events_of[round])
            return false;
    next_step(l, core, WG_STEP_END);
    p->undoes = l->rounds > 1;
    for (unsigned c = 0; c < WG_CORES; c++) {
        p->run[c] = &t->core[c].run;
        p->queue[c] = &t->regions.memory.queue[c][WG_PATH_L1];
    }
    wg_period_end(t, p, 1u << core);
    p->turned[core] = 0;
    l->solo_moves = (uint8_t)(t->core[core].solo_next - l->solo_next);
    return true;
}

/* The number of periods that end before the run-ahead does, stay inside L1, and fit into the undo log. */
static uint64_t periods(const wg_tile *t, unsigned core, const wg_loop *l, uint64_t stop)
{
    const wg_core *k = &t->core[core];
    const wg_period *p = &l->period;
    const uint64_t cycles = p->by.later;
    const uint32_t further = p->by.further[core], moved = k->run.r[l->base] - p->shot.run[core].r[l->base];
    stop = wg_min64(stop, wg_min64(k->stop, k->solo_until));
    if (k->run.at + cycles + WG_PERIOD_SLACK > stop)
        return 0;
    uint64_t n = wg_min64((stop - WG_PERIOD_SLACK - k->run.at) / cycles, wg_period_before_flush(t, p, core));
    if (k->solo_saved && p->owns)
        n = wg_min64(n, (WG_L1_UNDO - t->l1_undos) / p->owns);
    if (further) { /* addresses stay inside L1 */
        uint64_t low = (uint32_t)(l->low + moved), high = (uint32_t)(l->high + moved);
        if (low > high || high >= t->spec->l1_bytes)
            return 0;
        if ((int32_t)further > 0)
            n = wg_min64(n, (t->spec->l1_bytes - 1 - high) / further);
        else
            n = wg_min64(n, low / (0 - further));
    }
    return n;
}

/* ---- replay ------------------------------------------------------------------------------------------------ */

/* Replays from the present state, which is the shot's, moved by v. False if not one period went as recorded. */
static bool repeat(wg_tile *t, unsigned core, wg_loop *l, const wg_moves *v, uint64_t n)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_period *p = &l->period;
    wg_l1_ports *l1 = &t->regions.memory.l1;
    uint64_t solo_at[WG_SOLO_RECENT], done = wg_period_replay(t, p, run->at, v->further, n);
    const bool leaves = p->at && !p->undoes; /* the branch at the period's end has fallen through */
    const unsigned port = wg_l1_port((wg_l1_client)core);
    done += leaves;
    if (!done)
        return false;
    wg_period_arrive(t, p, core, done);
    l1->port_free[port] += done * p->by.later;
    memcpy(solo_at, k->solo_at, sizeof solo_at);
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        k->solo_at[(k->solo_next + i + done * l->solo_moves) % WG_SOLO_RECENT] =
            solo_at[(k->solo_next + i) % WG_SOLO_RECENT] + done * p->by.later;
    k->solo_next = (uint8_t)(k->solo_next + done * l->solo_moves);
    if (!leaves)
        return true;
    /* The branch was predicted taken, if the predictor is on: it is mispredicted, and the predictor learns. */
    const wg_predicts how = wg_predictor(t, core);
    unsigned bubble = t->timing->mispredict_bubble;
    run->at = how != WG_PREDICTS_NOT ? run->at + bubble : run->at - bubble;
    run->pc = l->branch + 4;
    wg_predict_branch(k, how, l->branch, true, false);
    return true;
}

/* Is its branch foreseen, and teaches the predictor nothing? */
static bool foreseen(wg_tile *t, unsigned core, const wg_loop *l)
{
    wg_core *k = &t->core[core];
    const wg_predicts how = wg_predictor(t, core);
    if (how == WG_PREDICTS_NOT)
        return true;
    return (how == WG_PREDICTS_LAST || k->run.history == 0xFF) && wg_predict_settled(k, how, l->branch, true);
}

static void start_over(wg_tile *t, unsigned core, wg_loop *l)
{
    l->events = 0;
    l->rounds = 0;
    l->wrong = false;
    l->state = WG_LOOP_RECORDS;
    take_shot(t, core, l);
    t->loop = l;
}

void wg_loop_loaded(wg_loop *l, uint32_t address) { wg_loop_note(l, WG_LOOP_LOADS, address, 0, false, 0, 0); }

void wg_loop_stored(wg_loop *l, uint32_t address, unsigned slot, bool fresh)
{
    wg_loop_note(l, WG_LOOP_STORES, address, slot, fresh, 0, 0);
}

void wg_loop_spoil(wg_loop *l) { l->wrong = true; }

/* An iteration of the recorded period ends. True if the period does; *v: the moves from the shot to now. */
static bool records(wg_tile *t, unsigned core, wg_loop *l, wg_moves *v)
{
    const bool flushed = wg_period_flushed(t, &l->period, core);
    if (l->wrong || flushed || l->rounds == WG_LOOP_PERIOD) {
        l->state = !flushed && ++l->misses > MISSES ? WG_LOOP_REFUSED : WG_LOOP_FITS;
        return false;
    }
    l->events_of[l->rounds++] = l->events;
    if (!same_state(t, core, l, v)) {
        t->loop = l;
        return false;
    }
    l->period.by = *v;
    l->state = take_period(t, core, l) ? WG_LOOP_KNOWN : WG_LOOP_REFUSED;
    return true;
}

bool wg_fast_loop_edge(wg_tile *t, unsigned core, uint32_t branch, uint64_t stop, wg_loop *l)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_moves v;
    bool same = false;
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
    if (l->state == WG_LOOP_RECORDS) {
        same = records(t, core, l, &v);
        if (t->loop || l->state == WG_LOOP_REFUSED)
            return false;
    }
    if (l->state == WG_LOOP_KNOWN) {
        uint64_t n = periods(t, core, l, stop);
        if (n < 2)
            return false;
        if ((same || same_state(t, core, l, &v)) && wg_period_lines_own(t, &l->period, v.further[core]) &&
            repeat(t, core, l, &v, n)) {
            wg_fast_used(t, WG_FAST_LOOPS);
            return true;
        }
        if (++l->misses <= MISSES)
            return false;
        l->misses = 0;
        l->state = WG_LOOP_FITS;
    }
    if (l->state == WG_LOOP_FITS && run->at + LEAST_CYCLES <= stop)
        start_over(t, core, l);
    return false;
}
