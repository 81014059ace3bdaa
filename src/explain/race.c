/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector's reading of the event stream: the threads' clocks, waits, semaphores, mutexes, source banks and
 * Auto TTSync. race_core.c has the cores, race_spin.c their loads that spin, race_units.c the units, race_shadow.c the
 * locations, race_order.c the test, race_report.c the reports, race_words.c their words.
 *
 * Decided here: a core's stores to MOP configuration are processed before its later pushes; every kernel relies on that, and
 * no page says otherwise.
 */
#include "explain/race_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine/auto_ttsync.h"
#include "machine/memory.h"

/* ---- Instructions --------------------------------------------------------------------------------------------- */

wg_race_insn *wg_race_insn_at(wg_races *r, unsigned thread, uint64_t id)
{
    wg_race_insn *i = &r->thread[thread].insn[id % WG_INSNS];
    return i->id == id ? i : NULL;
}

static wg_race_insn *make(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_insn *i = &r->thread[thread].insn[e->id % WG_INSNS];
    *i =
        (wg_race_insn){.id = e->id, .word = e->word, .pc = e->pc, .source = e->c < WG_CORES ? (uint8_t)e->c : WG_CORES};
    return i;
}

static void keep_parent(wg_races *r, unsigned thread, const wg_race_insn *i)
{
    if (wg_opcode(i->word) == WG_OPCODE_MOP || wg_opcode(i->word) == WG_OPCODE_REPLAY)
        r->thread[thread].parent[i->id % WG_PARENTS] = *i;
}

static void pushed(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_thread *t = &r->thread[thread];
    wg_race_insn *i = make(r, thread, e);
    bool host =
        i->source == WG_CORES || WG_IS_HOST_PC(e->pc) || (!e->pc && !r->core[i->source].queue[WG_PATH_PUSH].count);
    t->pushes++;
    if (host) {
        i->source = WG_CORES;
        for (unsigned k = 0; k < WG_WAITED_QUEUES; k++)
            i->push_before[k] = r->core[WG_CORE_T0 + thread].queue[wg_race_waited_queue[k]].emitted;
    } else {
        const wg_race_queue *l = &r->core[i->source].queue[WG_PATH_PUSH];
        const wg_race_request *q = &l->ring[l->head % 16];
        i->push_number = l->processed + 1;
        if (l->count) {
            i->push_snap = q->snap;
            i->push_p = q->p;
            i->push_mop = q->mop;
            memcpy(i->push_before, q->before, sizeof i->push_before);
        }
        /*
         * Instructions that B pushes before it releases the T cores are complete long before those start (boot code
         * relies on it).
         */
        i->boot = i->source == WG_CORE_B && !r->core[WG_CORE_T0].released && !r->core[WG_CORE_T0 + 1].released &&
                  !r->core[WG_CORE_T0 + 2].released;
    }
    keep_parent(r, thread, i);
}

static void expanded(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_insn *i = make(r, thread, e);
    const wg_race_insn *p = &r->thread[thread].parent[e->parent % WG_PARENTS];
    if (p->id == e->parent) {
        uint32_t word = i->word;
        uint64_t id = i->id;
        *i = *p;
        i->id = id;
        i->parent = p->word;
        i->word = word;
        i->seq = i->party[0] = i->party[1] = 0;
    }
    keep_parent(r, thread, i);
}

wg_ref wg_race_insn_ref(const wg_race_insn *i, unsigned thread)
{
    return (wg_ref){i->snap, (uint16_t)(WG_K_I + thread),
                    (uint16_t)(i->source < WG_CORES ? WG_K_P + i->source : WG_K_NONE), i->seq,
                    i->source < WG_CORES ? i->push_p : 0};
}

uint32_t wg_race_insn_party(wg_races *r, unsigned agent, unsigned thread, wg_race_insn *i, bool write, uint64_t cycle)
{
    if (i->party[write] && i->party_agent[write] == agent)
        return i->party[write];
    i->party_agent[write] = (uint8_t)agent;
    i->party[write] = wg_race_party_of(r, &(wg_race_party){.agent = (uint8_t)agent,
                                                           .thread = (uint8_t)thread,
                                                           .core = i->source,
                                                           .word = i->word,
                                                           .pc = i->pc,
                                                           .parent = i->parent,

                                                           .write = write,
                                                           .cycle = cycle});
    return i->party[write];
}

/* Joins a clock into the thread's gate; the instruction being issued gets it, too. */
void wg_race_learnt(wg_races *r, unsigned thread, wg_race_insn *i)
{
    r->thread[thread].snap = 0;
    if (i)
        i->snap = wg_race_thread_snap(r, thread);
}

static uint32_t block_of(const wg_races *r, uint32_t word)
{
    const wg_isa_insn *record = wg_isa_decode(r->arch_id, word);
    return record->unit > WG_UNIT_INVALID ? record->block_bits : 1u << 15;
}

static void unit_done(wg_clock *c, unsigned unit, unsigned thread, uint32_t seq)
{
    static const uint8_t reads[WG_RACE_UNITS] = {[WG_RU_UNPACK0] = WG_RU_READ_UNPACK0,
                                                 [WG_RU_UNPACK1] = WG_RU_READ_UNPACK1,
                                                 [WG_RU_MATRIX] = WG_RU_READ_MATRIX,
                                                 [WG_RU_VECTOR] = WG_RU_READ_VECTOR,
                                                 [WG_RU_PACK0] = WG_RU_READ_PACK};
    wg_clock_see(c, wg_k_d(unit, thread), seq);
    if (reads[unit])
        wg_clock_see(c, wg_k_d(reads[unit], thread), seq);
}

/* FLUSHDMA stalls its thread until the conditions in its word hold. */
static void flushed(wg_race_thread *t, unsigned thread)
{
    static const uint8_t units[4] = {WG_RU_MEMORY, WG_RU_UNPACK0, WG_RU_UNPACK1, WG_RU_PACK0};
    uint32_t mask = t->flush & 15 ? t->flush & 15 : 15;
    for (unsigned i = 0; i < 4; i++)
        if (mask >> i & 1)
            unit_done(&t->clock, units[i], thread, t->seq);
    t->snap = 0;
    t->flush = 0;
}

/* WH: if several threads issue RDCFG in one cycle, all but one are lost (RDCFG.md). */
static void rdcfg(wg_races *r, unsigned thread, wg_race_insn *i, uint64_t cycle)
{
    wg_race_thread *t = &r->thread[thread];
    t->rdcfg = i->seq;
    t->rdcfg_party = wg_race_insn_party(r, WG_AGENT_CONFIG, thread, i, false, cycle);
    for (unsigned k = 0; k < WG_THREADS; k++) {
        const wg_race_thread *other = &r->thread[k];
        if (k != thread && other->rdcfg && wg_race_clock(r, i->snap)->v[WG_K_I + k] < other->rdcfg)
            wg_race_rule(r, WG_RACE_RDCFG_COLLISION, other->rdcfg_party, t->rdcfg_party, cycle,
                         "the Configuration Unit",
                         "Nothing keeps the two apart: if they are issued in one cycle, one of them is lost.",
                         "ATGETM and ATRELM of one mutex around both.");
    }
}

static void issued(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_thread *t = &r->thread[thread];
    if (t->flush)
        flushed(t, thread);
    if (wg_opcode(e->word) == WG_OPCODE_FLUSHDMA)
        t->flush = e->word;
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if (!i) {
        i = make(r, thread, e);
        r->forgotten++;
    }
    if (i->push_snap && i->push_snap != t->push_snap) {
        t->push_snap = i->push_snap;
        if (wg_clock_join(&t->clock, wg_race_clock(r, i->push_snap)))
            t->snap = 0;
    }
    if (t->held && t->latch_block & block_of(r, e->word)) {
        if (wg_clock_join(&t->clock, &t->release))
            t->snap = 0;
        t->held = false;
    }
    i->seq = ++t->seq;
    t->by_seq[i->seq % WG_INSNS] = i->id;
    i->snap = wg_race_thread_snap(r, thread);
    if (r->arch->rdcfg_holds_thread && wg_opcode(e->word) == WG_OPCODE_RDCFG && !i->boot)
        rdcfg(r, thread, i, e->cycle);
}

/* ---- Waits ---------------------------------------------------------------------------------------------------- */

/* Are all conditions of the latched wait about what this thread has in flight? */
static bool waits_for_itself(const wg_races *r, const wg_race_thread *t)
{
    if (wg_opcode(t->latch_word) != WG_OPCODE_STALLWAIT)
        return false;
    uint32_t left = wg_wait_conditions(r->arch, t->latch_word);
    for (left = left ? left : r->arch->wait_default; left; left &= left - 1)
        switch ((wg_wait_condition)r->arch->wait_conditions[__builtin_ctz(left)]) {
        case WG_WAIT_SCALAR_MEMORY:
        case WG_WAIT_UNPACK0:
        case WG_WAIT_UNPACK1:
        case WG_WAIT_PACK0:
        case WG_WAIT_PACK1:
        case WG_WAIT_PACK2:
        case WG_WAIT_PACK3:
        case WG_WAIT_MATRIX:
        case WG_WAIT_VECTOR: break;
        case WG_WAIT_MOVER:
        case WG_WAIT_CONFIG:
        case WG_WAIT_RISCV_REQUESTS:
        case WG_WAIT_SRCA_UNPACKERS:
        case WG_WAIT_SRCB_UNPACKERS:
        case WG_WAIT_SRCA_MATRIX:
        case WG_WAIT_SRCB_MATRIX:
        case WG_WAIT_NOTHING:
        case WG_WAIT_COUNT: return false;
        }
    return true;
}

/*
 * Whoever pushed the instruction knew that the thread had nothing in flight, the latched wait included (manual TTSync): its
 * condition held by then, and it was forgotten.
 */
static bool pushed_when_idle(wg_races *r, unsigned thread, const wg_race_insn *i)
{
    const wg_race_thread *t = &r->thread[thread];
    const wg_clock *known = wg_race_clock(r, i->push_snap);
    bool all = waits_for_itself(r, t);
    for (unsigned unit = 0; unit < WG_RACE_UNITS; unit++)
        all &= unit == WG_RU_MOVER || known->v[wg_k_d(unit, thread)] >= t->latch_seq;
    return all;
}

static void latched(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_thread *t = &r->thread[thread];
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if ((t->latched || t->held) && i && !pushed_when_idle(r, thread, i)) {
        wg_race_insn *old = wg_race_insn_at(r, thread, t->latch_id);
        wg_race_rule(r, WG_RACE_WAIT_ERASED,
                     old ? wg_race_insn_party(r, WG_AGENT_SYNC, thread, old, true, e->cycle) : 0,
                     wg_race_insn_party(r, WG_AGENT_SYNC, thread, i, true, e->cycle), e->cycle, "the latched wait",
                     "SEMWAIT is caught by block bit B1 alone; the wait before it lacks B1 and is replaced if its "
                     "condition does not hold yet.",
                     "Set STALL_SYNC (B1) in the block mask of the first wait.");
    }
    uint32_t block = WG_GET(STALLWAIT, stall_res, e->word);
    t->latched = true;
    t->held = false;
    t->latch_word = e->word;
    t->latch_id = e->id;
    t->latch_seq = i ? i->seq : t->seq;
    t->latch_block = block == 0x1FF ? block | 1u << 15 : block ? block : WG_B6;
}

/*
 * The unit is idle: everything that the waiting thread knows to have been issued there is complete. Instructions of
 * other threads that it does not know of are complete by chance.
 */
static void all_threads_done(wg_races *r, wg_clock *c, unsigned thread, const wg_race_insn *wait, unsigned unit)
{
    const wg_clock *known = wg_race_clock(r, wait ? wait->snap : 0);
    for (unsigned k = 0; k < WG_THREADS; k++)
        unit_done(c, unit, k, k == thread ? r->thread[k].seq : known->v[WG_K_I + k]);
}

/* A bank condition reads the unit's bank pointer and acquires the handover of that bank. */
static void bank_condition(wg_races *r, unsigned thread, const wg_event *e, unsigned pointer, wg_clock *c)
{
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if (i) {
        wg_actor b = {.k = (uint16_t)(WG_K_I + thread),
                      .unit = WG_RACE_UNITS,
                      .thread = (uint8_t)thread,
                      .value = i->seq,
                      .seq = i->seq,
                      .clock = wg_race_clock(r, i->snap),
                      .clock2 = c,
                      .own_k = i->source < WG_CORES ? WG_K_P + i->source : WG_K_NONE,
                      .own_v = i->source < WG_CORES ? i->push_p : 0,
                      .party = wg_race_insn_party(r, WG_AGENT_SYNC, thread, i, false, e->cycle),
                      .cycle = e->cycle};
        wg_race_touch(r, &b, WG_TOUCH_BANK_POINTER, pointer, 1, WG_TOUCH_READ);
    }
    unsigned bank = (pointer & 1) * 2 + (e->a >> pointer & 1);
    wg_race_join(r, c, pointer < 2 ? &r->valid[bank] : &r->freed[bank]);
}

static void stallwait_met(wg_races *r, unsigned thread, const wg_event *e, uint32_t conditions, wg_clock *c)
{
    uint32_t seq = r->thread[thread].seq, banks = 0;
    bool mover = false;
    const wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    for (; conditions; conditions &= conditions - 1) {
        unsigned condition = r->arch->wait_conditions[__builtin_ctz(conditions)];
        switch ((wg_wait_condition)condition) {
        case WG_WAIT_SCALAR_MEMORY: unit_done(c, WG_RU_MEMORY, thread, seq); break;
        case WG_WAIT_UNPACK0:
        case WG_WAIT_UNPACK1: unit_done(c, WG_RU_UNPACK0 + condition - WG_WAIT_UNPACK0, thread, seq); break;
        case WG_WAIT_PACK0:
        case WG_WAIT_PACK1:
        case WG_WAIT_PACK2:
        case WG_WAIT_PACK3: unit_done(c, WG_RU_PACK0 + condition - WG_WAIT_PACK0, thread, seq); break;
        case WG_WAIT_MATRIX: unit_done(c, WG_RU_MATRIX, thread, seq); break;
        case WG_WAIT_VECTOR: unit_done(c, WG_RU_VECTOR, thread, seq); break;
        case WG_WAIT_MOVER:
            all_threads_done(r, c, thread, i, WG_RU_MOVER);
            mover = true;
            break;
        case WG_WAIT_CONFIG:
            all_threads_done(r, c, thread, i, WG_RU_CONFIG);
            all_threads_done(r, c, thread, i, WG_RU_CONFIG_LATE);
            all_threads_done(r, c, thread, i, WG_RU_CONFIG_SLOW);
            all_threads_done(r, c, thread, i, WG_RU_CONFIG_RESULT);
            break;
        case WG_WAIT_RISCV_REQUESTS: /* requests before it; later ones are complete by chance */
            for (unsigned k = 0; i && k < WG_WAITED_QUEUES; k++)
                wg_clock_see(c, wg_k_m(WG_CORE_T0 + thread, wg_race_waited_queue[k]), i->push_before[k]);
            break;
        case WG_WAIT_SRCA_MATRIX: banks |= 1; break;
        case WG_WAIT_SRCB_MATRIX: banks |= 2; break;
        case WG_WAIT_SRCA_UNPACKERS: banks |= 4; break;
        case WG_WAIT_SRCB_UNPACKERS: banks |= 8; break;
        case WG_WAIT_NOTHING:
        case WG_WAIT_COUNT: break;
        }
    }
    const wg_ref *command = &r->tdma_by.ref; /* of TDMA-RISC: complete if it is known to have arrived before */
    if (mover && r->tdma_by.known &&
        (c->v[command->k2] >= command->v2 || (i && wg_race_clock(r, i->snap)->v[command->k2] >= command->v2)))
        wg_clock_see(c, WG_K_TDMA, r->tdma);
    for (; banks; banks &= banks - 1) /* with the clocks of the wait's other conditions */
        bank_condition(r, thread, e, (unsigned)__builtin_ctz(banks), c);
}

static void semwait_met(wg_races *r, unsigned thread, const wg_event *e, wg_clock *c)
{
    uint32_t mask = WG_GET(SEMWAIT, sem_sel, e->word), condition = WG_GET(SEMWAIT, wait_sem_cond, e->word);
    for (uint32_t left = mask; left; left &= left - 1) {
        wg_race_semaphore *s = &r->semaphore[__builtin_ctz(left)];
        if (condition & 1 && s->posts > s->gets)
            wg_race_join(r, c, &s->post[s->gets % WG_SEM_LOG]);
        if (condition & 2) {
            if (s->posts + 1 > s->max && s->posts + 1 - s->max <= s->gets)
                wg_race_join(r, c, &s->get[(s->posts - s->max) % WG_SEM_LOG]);
            if (s->inits == 1) /* before the first SEMINIT, Max is 0 and the wait does not end */
                wg_clock_join(c, &s->init);
        }
    }
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if (!i)
        return;
    wg_actor b = {.k = (uint16_t)(WG_K_I + thread),
                  .unit = WG_RU_SYNC,
                  .thread = (uint8_t)thread,
                  .value = i->seq,
                  .seq = i->seq,
                  .clock = wg_race_clock(r, i->snap),
                  .clock2 = c,
                  .own_k = i->source < WG_CORES ? WG_K_P + i->source : WG_K_NONE,
                  .own_v = i->source < WG_CORES ? i->push_p : 0,
                  .cycle = e->cycle,
                  .party = wg_race_insn_party(r, WG_AGENT_SYNC, thread, i, false, e->cycle)};
    wg_race_touch(r, &b, WG_TOUCH_SEM_VALUE, 0, mask, WG_TOUCH_READ | WG_TOUCH_ATOMIC);
    if (condition & 2) {
        wg_race_semaphores(r, &b, mask, WG_TOUCH_READ, NULL, i->source);
        wg_race_touch(r, &b, WG_TOUCH_SEM_MAX, 0, mask, WG_TOUCH_READ | WG_TOUCH_ATOMIC);
    }
}

static void released(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_thread *t = &r->thread[thread];
    memset(&t->release, 0, sizeof t->release);
    if (wg_opcode(e->word) == WG_OPCODE_STALLWAIT) {
        uint32_t conditions = wg_wait_conditions(r->arch, e->word);
        stallwait_met(r, thread, e, conditions ? conditions : r->arch->wait_default, &t->release);
    } else if (wg_opcode(e->word) == WG_OPCODE_SEMWAIT && WG_GET(SEMWAIT, wait_sem_cond, e->word)) {
        semwait_met(r, thread, e, &t->release);
    } else if (wg_opcode(e->word) == WG_OPCODE_SEMWAIT) {
        stallwait_met(r, thread, e, r->arch->wait_default, &t->release);
    }
    t->latched = false;
    t->held = true;
}

/* ---- Semaphores, mutexes, banks -------------------------------------------------------------------------------- */

/*
 * Does b know of the post? It suffices that the posting core pushed it, or emitted the store, before it synchronised
 * with anybody: a post takes almost no time, and kernels rely on posting first. A get without such synchronisation
 * may come too early.
 */
static bool knows(const wg_actor *b, const wg_ref *ref)
{
    uint32_t v1 = b->clock->v[ref->k1], v2 = ref->v2 ? b->clock->v[ref->k2] : 0;
    if (b->own_k == ref->k1 && b->own_v > v1)
        v1 = b->own_v;
    if (b->seq && ref->k1 == (unsigned)WG_K_I + b->thread && b->seq > v1)
        v1 = b->seq;
    if (b->k == ref->k2 && b->value > v2)
        v2 = b->value;
    return v1 >= ref->v1 || (ref->v2 && v2 >= ref->v2);
}

static void semaphore_rule(wg_races *r, wg_race_kind kind, uint32_t a, const wg_actor *b, unsigned index,
                           const char *why, const char *remedy)
{
    char place[64];
    snprintf(place, sizeof place, "semaphore %u (%s)", index, wg_race_semaphore_name(index));
    wg_race_rule(r, kind, a, b->party, b->cycle, place, why, remedy);
}

void wg_race_semaphores(wg_races *r, const wg_actor *b, uint32_t mask, unsigned how, const wg_ref *ref, unsigned core)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned index = (unsigned)__builtin_ctz(left);
        wg_race_semaphore *s = &r->semaphore[index];
        if (how & WG_TOUCH_INIT) {
            s->posts = s->value = b->value2;
            s->gets = 0;
            s->max = b->max2;
            s->inits++;
            memset(&s->init, 0, sizeof s->init);
            wg_race_join(r, &s->init, ref);
            for (unsigned i = 0; i < s->posts && i < WG_SEM_LOG; i++) {
                s->post[i] = *ref;
                s->post_party[i] = b->party;
                s->post_core[i] = (uint8_t)core;
            }
            continue;
        }
        if (!s->inits && !(how & WG_TOUCH_GET) && !b->boot)
            semaphore_rule(r, WG_RACE_SEMAPHORE_UNINIT, 0, b, index,
                           "Nothing has initialised it: its value and maximum are whatever was left there.",
                           "SEMINIT by the semaphore's owner before anybody uses it.");
        if (how & WG_TOUCH_POST) {
            if (s->posts - s->gets >= 15)
                continue; /* saturates */
            s->post[s->posts % WG_SEM_LOG] = *ref;
            s->post_party[s->posts % WG_SEM_LOG] = b->party;
            s->post_core[s->posts % WG_SEM_LOG] = (uint8_t)core;
            s->posts++;
        } else if (how & WG_TOUCH_GET) {
            unsigned slot = s->gets % WG_SEM_LOG;
            bool lost = s->posts == s->gets;
            bool own = !lost && core < WG_CORES && s->post_core[slot] == core;
            if (!b->boot && (lost || (!own && !knows(b, &s->post[slot]))))
                semaphore_rule(r, WG_RACE_SEMAPHORE_GET, lost ? 0 : s->post_party[slot], b, index,
                               lost ? "Its value is 0: this get changes nothing, and the post that it was meant for is "
                                      "never taken back."
                                    : "Nothing makes the get wait for the post: at value 0 it is lost.",
                               "SEMWAIT(STALL_SYNC, the semaphore, STALL_ON_ZERO) before the get, and post before "
                               "telling anybody.");
            if (lost)
                continue;
            s->get[slot] = *ref;
            s->gets++;
        }
    }
}

static void mutex(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    r->mutex_party[e->a & 7] = e->b && i ? wg_race_insn_party(r, WG_AGENT_SYNC, thread, i, true, e->cycle) : 0;
    if (!i)
        return;
    if (e->b) {
        if (wg_race_join(r, &r->thread[thread].clock, &r->mutex[e->a & 7]))
            wg_race_learnt(r, thread, i);
    } else {
        r->mutex[e->a & 7] = wg_race_insn_ref(i, thread);
    }
}

static void bank(wg_races *r, const wg_event *e)
{
    wg_race_insn *i = e->thread < WG_THREADS ? wg_race_insn_at(r, e->thread, e->id) : NULL;
    unsigned unit = e->agent == WG_AGENT_UNPACK0   ? WG_RU_UNPACK0
                    : e->agent == WG_AGENT_UNPACK1 ? WG_RU_UNPACK1
                    : e->agent == WG_AGENT_MATRIX  ? WG_RU_MATRIX
                                                   : WG_RU_MISC;
    r->bank_given[e->a & 3] += e->b != 0;
    r->bank_party[e->a & 3] = e->b && i ? wg_race_insn_party(r, e->agent, e->thread, i, true, e->cycle) : 0;
    if (!i || !i->seq)
        return;
    wg_ref ref = wg_race_insn_ref(i, e->thread);
    ref.k2 = (uint16_t)wg_k_d(unit, e->thread);
    ref.v2 = i->seq;
    *(e->b ? &r->valid[e->a & 3] : &r->freed[e->a & 3]) = ref;
}

/* ---- Auto TTSync ------------------------------------------------------------------------------------------------ */

static unsigned queue_of_resource(unsigned resource)
{
    return resource == 6 ? WG_PATH_GPR : resource == 7 ? WG_PATH_TDMA : WG_PATH_CONFIG;
}

static void tracked_insn(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_thread *t = &r->thread[thread];
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    uint32_t both = (uint32_t)(e->a | e->b);
    t->tracks = true;
    if (!i)
        return;
    for (unsigned k = 0; k < 8; k++) {
        if (e->c & WG_TTS_FIRST && both >> k & 1)
            wg_clock_see(&t->clock, wg_k_m(WG_CORE_T0 + thread, queue_of_resource(k)), t->store_n[k]);
        if (e->c & WG_TTS_FIRST && e->b >> k & 1 && i->push_number > t->load_pushes[k]) /* not one that overtook it */
            wg_clock_see(&t->clock, wg_k_m(WG_CORE_T0 + thread, queue_of_resource(k)), t->load_n[k]);
    }
    if (e->c & WG_TTS_FIRST)
        wg_race_learnt(r, thread, i);
    for (unsigned k = 0; e->c & WG_TTS_LAST && k < 8; k++) {
        if (both >> k & 1)
            t->passed[k].snap = i->snap, t->passed[k].seq = i->seq, t->passed[k].push = i->push_number;
        if (e->b >> k & 1)
            t->wrote[k] = t->passed[k];
    }
}

static void tracked_core(wg_races *r, unsigned core, const wg_event *e)
{
    if (core < WG_CORE_T0)
        return;
    unsigned thread = core - WG_CORE_T0;
    wg_race_thread *t = &r->thread[thread];
    wg_race_core *c = &r->core[core];
    const wg_race_queue *l = &c->queue[wg_queue_of(e->word, 0)];
    uint32_t n = l->processed + 1, fenced = l->count ? l->ring[l->head % 16].fences : 0;
    memset(&c->tracked, 0, sizeof c->tracked);
    for (unsigned k = 0; k < 8; k++) {
        if (e->b >> k & 1)
            t->store_n[k] = n;
        if (e->a >> k & 1) {
            t->load_n[k] = n;
            t->load_pushes[k] = l->count ? l->ring[l->head % 16].pushes : 0;
        }
        /* Earlier pushes hold a load only if they had left the store queue. A fence makes sure of that. */
        bool load = e->a >> k & 1 && t->wrote[k].push <= fenced;
        if (!load && !(e->b >> k & 1))
            continue;
        uint32_t seq = load ? t->wrote[k].seq : t->passed[k].seq, snap = load ? t->wrote[k].snap : t->passed[k].snap;
        if (!seq)
            continue;
        /* Covers reads at the gate and writes a bounded time later (TTS-21), not results from memory. */
        static const uint8_t covered[] = {WG_RU_SCALAR,        WG_RU_CONFIG,      WG_RU_CONFIG_LATE,
                                          WG_RU_CONFIG_RESULT, WG_RU_MISC,        WG_RU_READ_UNPACK0,
                                          WG_RU_READ_UNPACK1,  WG_RU_READ_MATRIX, WG_RU_READ_VECTOR};
        wg_clock_join(&c->tracked, wg_race_clock(r, snap));
        wg_clock_see(&c->tracked, WG_K_I + thread, seq);
        for (unsigned u = 0; u < sizeof covered; u++)
            wg_clock_see(&c->tracked, wg_k_d(covered[u], thread), seq);
    }
    c->fresh_tracked = true;
}

/* ---- The stream ---------------------------------------------------------------------------------------------------
 */

void wg_races_event(void *races, const wg_event *e)
{
    wg_races *r = races;
    unsigned thread =
        e->agent >= WG_AGENT_THREAD0 && e->agent <= WG_AGENT_THREAD2 ? e->agent - WG_AGENT_THREAD0 : e->thread;
    bool core = e->agent <= WG_AGENT_CORE_T2;
    if (e->kind == WG_EV_NOC_SENT) {
        wg_race_noc_sent(r, e);
        return;
    }
    if (e->kind == WG_EV_NOC_ARRIVED) {
        wg_race_noc_arrived(r, e);
        return;
    }
    if (thread >= WG_THREADS && !core && e->kind != WG_EV_TOUCH && e->kind != WG_EV_HOST && e->kind != WG_EV_BANK)
        return;
    switch (e->kind) {
    case WG_EV_PUSHED: pushed(r, thread, e); break;
    case WG_EV_EXPANDED: expanded(r, thread, e); break;
    case WG_EV_ISSUED: issued(r, thread, e); break;
    case WG_EV_LATCHED: latched(r, thread, e); break;
    case WG_EV_RELEASED: released(r, thread, e); break;
    case WG_EV_MUTEX: mutex(r, thread, e); break;
    case WG_EV_BANK: bank(r, e); break;
    case WG_EV_TRACKED:
        if (core)
            tracked_core(r, e->agent - WG_AGENT_CORE_B, e);
        else
            tracked_insn(r, thread, e);
        break;
    case WG_EV_CORE_RETIRE: wg_race_init_retire(r, e); break;
    case WG_EV_TOUCH:
        if (!core && e->a == WG_TOUCH_L1) {
            wg_race_given(r, e->b, e->c);
            if (e->how & WG_TOUCH_WRITE)
                wg_race_init_written(r, e->b, e->c);
        }
        if (core) {
            wg_race_init_touch(r, e);
            wg_race_core_touch(r, e);
        } else
            wg_race_unit_touch(r, e);
        break;
    case WG_EV_HOST:
        wg_race_given_by_host(r, e->a, e->b);
        if (e->c) {
            wg_race_init_written(r, e->a, e->b);
            wg_race_host_write(r, e->a, e->b);
        }
        break;
    default:
        if (core)
            wg_race_core_event(r, e);
        break;
    }
}

static void *room(wg_races *r, size_t count, size_t bytes)
{
    r->bytes += count * bytes;
    return calloc(count, bytes);
}

wg_races *wg_races_new(wg_arch_id arch, wg_races_code_fn code, void *user)
{
    wg_races *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->bytes = sizeof *r;
    r->arch_id = arch;
    r->arch = wg_arch_of(arch);
    r->code = code;
    r->user = user;
    r->snap = room(r, WG_SNAPS, sizeof *r->snap);
    r->thread = room(r, WG_THREADS, sizeof *r->thread);
    r->core = room(r, WG_CORES, sizeof *r->core);
    r->party = room(r, WG_PARTIES, sizeof *r->party);
    r->party_index = room(r, 2 * WG_PARTIES, sizeof *r->party_index);
    r->race = room(r, WG_MAX_RACES, sizeof *r->race);
    r->race_key = room(r, WG_MAX_RACES, sizeof *r->race_key);
    r->sent = room(r, WG_RACE_SENT, sizeof *r->sent);
    r->packet = room(r, WG_RACE_PACKETS, sizeof *r->packet);
    r->parties = 1;
    r->checks = WG_CHECK_RACE;
    if (!r->snap || !r->thread || !r->core || !r->party || !r->party_index || !r->race || !r->race_key || !r->sent ||
        !r->packet || !wg_shadow_make(r) || !wg_race_code_make(r)) {
        wg_races_free(r);
        return NULL;
    }
    return r;
}

void wg_races_free(wg_races *r)
{
    if (!r)
        return;
    wg_shadow_free(r);
    wg_race_noc_free(r);
    wg_race_code_free(r);
    wg_race_init_free(r);
    wg_race_far_free(r);
    free(r->given);
    free(r->strays);
    free(r->sent);
    free(r->packet);
    free(r->snap);
    free(r->thread);
    free(r->core);
    free(r->party);
    free(r->party_index);
    free(r->race);
    free(r->race_key);
    free(r);
}

size_t wg_races_count(const wg_races *r) { return r->races; }
const wg_race *wg_races_at(const wg_races *r, size_t index) { return index < r->races ? &r->race[index] : NULL; }
uint64_t wg_races_forgotten(const wg_races *r) { return r->forgotten; }
size_t wg_races_bytes(const wg_races *r) { return r->bytes; }

/* ---- Unused resources of the program ----------------------------------------------------------------------------- */

bool wg_races_l1_touched(const wg_races *r, uint32_t address, uint32_t bytes)
{
    const wg_shadow *l1 = &r->shadow[WG_TOUCH_L1];
    for (uint32_t at = address / 16; at <= (address + bytes - 1) / 16; at++)
        if (at >= l1->granules || l1->granule[at].cells || l1->granule[at].written)
            return true;
    return false;
}

unsigned wg_races_free_semaphore(const wg_races *r)
{
    unsigned i = 0;
    while (i < 8 && (r->semaphore[i].inits || r->semaphore[i].posts || r->semaphore[i].gets))
        i++;
    return i;
}

/* Mutex 1 does not exist. Decided here: a mutex that was never released is unused. */
unsigned wg_races_free_mutex(const wg_races *r)
{
    for (unsigned i = 0; i < 5; i++)
        if (i != 1 && !r->mutex[i].snap)
            return i;
    return 8;
}

void wg_races_initialised(wg_races *r, unsigned semaphore, unsigned max)
{
    r->semaphore[semaphore & 7].inits = 1;
    r->semaphore[semaphore & 7].max = max;
}
