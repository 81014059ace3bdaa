/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sync Unit: mutexes, semaphores, and the latching of waits. See sync.h for a diagram.
 *
 * One slot per cycle for everything that is not a mutex instruction, round-robin over threads 0 to 2 and
 * then the stores of cores T0 to T2 (SYNC-03). Each mutex grants one instruction per cycle, round-robin
 * over the threads that are ready: an ATGETM of a mutex held by another thread is not. A grant advances the turn, so after
 * thread i's ATRELM, thread (i + 1) mod 3 comes first (SYNC-07). Decided here: only ready instructions delay each other, so
 * the holder's ATGETM and any ATRELM lose a cycle only to these.
 *
 * Facts: SyncUnit.md, ATGETM.md, ATRELM.md, SEMINIT.md, SEMPOST.md, SEMGET.md; SYNC-*, SEM-*.
 */
#include "machine/sync.h"

#include "backend/insn_finding.h"
#include "machine/unit.h"
#include "report/touch.h"

enum { SLOT_USERS = 6, FIRST_CORE = 3 };

const char *wg_semaphore_name(unsigned semaphore)
{
    static const char *const names[WG_SEMAPHORES] = {
        "FPU_SFPU",  "MATH_PACK",   "UNPACK_TO_DEST",   "UNPACK_OPERAND_SYNC",
        "PACK_DONE", "UNPACK_SYNC", "UNPACK_MATH_DONE", "MATH_DONE"};
    return semaphore < WG_SEMAPHORES ? names[semaphore] : "";
}

/* ---- Semaphores ------------------------------------------------------------------------------------- */

static void note_changed(wg_tile *t, unsigned agent, unsigned semaphore, const wg_insn *insn)
{
    const wg_sync *s = &t->backend.sync;
    WG_EMIT(t, WG_EV_SEMAPHORE, agent, .a = semaphore, .b = s->value[semaphore], .c = s->max[semaphore],
            .word = insn ? insn->word : 0, .id = insn ? insn->id : 0, .pc = insn ? insn->pc : 0);
}

static void post(wg_tile *t, unsigned semaphore, const wg_finding *who)
{
    wg_sync *s = &t->backend.sync;
    if (s->value[semaphore] < 15)
        s->value[semaphore]++;
    else
        wg_findf(t, WG_F_SEMAPHORE_POST_LOST, *who, "semaphore %u (%s)", semaphore, wg_semaphore_name(semaphore));
}

static void get(wg_sync *s, unsigned semaphore)
{
    if (s->value[semaphore] > 0)
        s->value[semaphore]--;
}

static void execute_semaphores(wg_tile *t, const wg_insn *insn, bool observed)
{
    wg_sync *s = &t->backend.sync;
    wg_wake_waiting(&t->sched, WG_AGENT_BIT(WG_AGENT_SYNC));
    for (unsigned mask = WG_GET(SEMPOST, sem_sel, insn->word); mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        if (insn->op == WG_I_SEMPOST) {
            wg_finding who = wg_insn_finding(insn, i, 0);
            post(t, i, &who);
        } else if (insn->op == WG_I_SEMGET) {
            get(s, i);
        } else {
            s->value[i] = (uint8_t)WG_GET(SEMINIT, init_value, insn->word);
            s->max[i] = (uint8_t)WG_GET(SEMINIT, max_value, insn->word);
        }
        if (observed)
            note_changed(t, WG_AGENT_THREAD0 + insn->thread, i, insn);
    }
    if (!observed || !wg_touch_watched(t))
        return;
    if (insn->op == WG_I_SEMINIT) {
        wg_touch(t, WG_TOUCH_WRITE | WG_TOUCH_INIT, WG_TOUCH_SEM_VALUE, 0, WG_GET(SEMPOST, sem_sel, insn->word));
        wg_touch(t, WG_TOUCH_WRITE | WG_TOUCH_INIT, WG_TOUCH_SEM_MAX, 0, WG_GET(SEMPOST, sem_sel, insn->word));
    } else {
        wg_touch(t, WG_TOUCH_ATOMIC | (insn->op == WG_I_SEMPOST ? WG_TOUCH_POST : WG_TOUCH_GET), WG_TOUCH_SEM_VALUE, 0,
                 WG_GET(SEMPOST, sem_sel, insn->word));
    }
}

uint32_t wg_sync_core_read(wg_tile *t, unsigned core, unsigned semaphore)
{
    (void)core;
    return t->backend.sync.value[semaphore % WG_SEMAPHORES];
}

wg_region_answer wg_sync_core_write(wg_tile *t, unsigned core, unsigned semaphore, uint32_t value, wg_stall *why)
{
    wg_sync *s = &t->backend.sync;
    unsigned i = core - WG_CORE_T0;
    if (core < WG_CORE_T0 || core > WG_CORE_T2)
        return WG_REGION_DONE;
    if (s->core_waits >> i & 1) {
        *why = (wg_stall){WG_STALL_SEMAPHORE_SLOT, (uint16_t)semaphore, WG_AGENT_SYNC, WG_NEVER};
        return WG_REGION_WAIT;
    }
    s->core_waits |= (uint8_t)(1u << i);
    s->core_semaphore[i] = semaphore % WG_SEMAPHORES;
    s->core_gets[i] = value & 1;
    wg_wake(&t->sched, WG_AGENT_THREAD0); /* phase E serves the slot */
    return WG_REGION_DONE;
}

static void serve_core(wg_tile *t, unsigned i)
{
    wg_sync *s = &t->backend.sync;
    s->core_waits &= (uint8_t) ~(1u << i);
    if (s->core_gets[i])
        get(s, s->core_semaphore[i]);
    else
        post(t, s->core_semaphore[i],
             &(wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_T0 + i), .subject = s->core_semaphore[i]});
    wg_wake_waiting(&t->sched, WG_AGENT_BIT(WG_AGENT_SYNC));
    note_changed(t, WG_AGENT_CORE_T0 + i, s->core_semaphore[i], NULL);
    if (wg_touch_watched(t))
        wg_touch_core(t, WG_CORE_T0 + i, 0, WG_TOUCH_ATOMIC | (s->core_gets[i] ? WG_TOUCH_GET : WG_TOUCH_POST),
                      WG_TOUCH_SEM_VALUE, 0, 1u << s->core_semaphore[i]);
    wg_wake(&t->sched, WG_AGENT_REGIONS); /* its next access may be waiting for this one */
}

/* ---- Mutexes ---------------------------------------------------------------------------------------- */

static uint16_t mutex_of(const wg_insn *insn) { return (uint16_t)WG_GET(ATGETM, mutex_index, insn->word); }

static void execute_mutex(wg_tile *t, const wg_insn *insn, bool observed)
{
    uint8_t *holder = &t->backend.sync.mutex[mutex_of(insn) % WG_MUTEXES];
    uint8_t me = (uint8_t)(insn->thread + 1);
    bool takes = insn->op == WG_I_ATGETM;
    if (!takes && *holder != me)
        return;
    *holder = takes ? me : 0;
    wg_wake_waiting(&t->sched, WG_AGENT_BIT(WG_AGENT_SYNC));
    if (observed)
        WG_EMIT_INSN(t, WG_EV_MUTEX, WG_AGENT_THREAD0 + insn->thread, insn, .a = mutex_of(insn) % WG_MUTEXES,
                     .b = takes);
}

static bool is_mutex(const wg_insn *insn) { return insn->op == WG_I_ATGETM || insn->op == WG_I_ATRELM; }

void wg_sync_execute(wg_tile *t, const wg_insn *insn, bool observed)
{
    if (is_mutex(insn))
        execute_mutex(t, insn, observed);
    else
        execute_semaphores(t, insn, observed);
}

/* ---- Arbitration ------------------------------------------------------------------------------------ */

static const wg_insn *head_of(const wg_tile *t, unsigned thread) { return wg_gate_fifo_at(&t->frontend[thread], 0); }

/* Is the mutex instruction ready, other threads aside? */
static bool mutex_free(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    uint16_t index = mutex_of(insn);
    if (index >= 16 || !(t->arch->mutex_valid >> index & 1)) {
        *why = (wg_stall){WG_STALL_MUTEX_INVALID, index, WG_AGENT_NONE, WG_NEVER};
        return false;
    }
    uint8_t holder = t->backend.sync.mutex[index];
    if (insn->op == WG_I_ATGETM && holder && holder != insn->thread + 1) {
        *why = (wg_stall){WG_STALL_MUTEX_HELD, index, (uint8_t)(WG_AGENT_THREAD0 + holder - 1), WG_NEVER};
        return false;
    }
    return true;
}

/* The first of `wanting` at or after `turn`, cyclically. */
static unsigned choose(unsigned wanting, unsigned turn)
{
    unsigned at_or_after = wanting >> turn << turn;
    return (unsigned)__builtin_ctz(at_or_after ? at_or_after : wanting);
}

static wg_stall beaten_by(const wg_tile *t, uint8_t winner)
{
    return (wg_stall){WG_STALL_ARBITRATION, WG_UNIT_SYNC, winner, t->sched.now + 1};
}

static unsigned grant_mutexes(wg_tile *t, unsigned wanting, wg_stall why[3])
{
    unsigned granted = 0;
    while (wanting) {
        unsigned first = (unsigned)__builtin_ctz(wanting);
        unsigned index = mutex_of(head_of(t, first)), mates = 0;
        for (unsigned i = first; i < WG_THREADS; i++)
            if ((wanting >> i & 1) && mutex_of(head_of(t, i)) == index)
                mates |= 1u << i;
        wanting &= ~mates;
        uint8_t *turn = &t->backend.sync.mutex_turn[index % WG_MUTEXES];
        unsigned winner = choose(mates, *turn);
        *turn = (uint8_t)((winner + 1) % WG_THREADS);
        for (unsigned i = 0; i < WG_THREADS; i++)
            if (i != winner && (mates >> i & 1))
                why[i] = beaten_by(t, (uint8_t)(WG_AGENT_THREAD0 + winner));
        granted |= 1u << winner;
    }
    return granted;
}

bool wg_sync_grant(wg_tile *t, unsigned thread, const wg_insn *insn, wg_stall *why)
{
    wg_sync *s = &t->backend.sync;
    if (!is_mutex(insn)) {
        s->slot_turn = (uint8_t)(thread + 1);
    } else {
        if (!mutex_free(t, insn, why))
            return false;
        s->mutex_turn[mutex_of(insn) % WG_MUTEXES] = (uint8_t)((thread + 1) % WG_THREADS);
    }
    return true;
}

unsigned wg_sync_arbitrate(wg_tile *t, unsigned wanting, wg_stall why[3])
{
    wg_sync *s = &t->backend.sync;
    unsigned mutex = 0, slot = 0, granted = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if (!(wanting >> i & 1))
            continue;
        const wg_insn *insn = head_of(t, i);
        if (!is_mutex(insn))
            slot |= 1u << i;
        else if (mutex_free(t, insn, &why[i]))
            mutex |= 1u << i;
    }
    if (mutex)
        granted = grant_mutexes(t, mutex, why);
    unsigned all = slot | (unsigned)s->core_waits << FIRST_CORE;
    if (!all)
        return granted;
    unsigned winner = choose(all, s->slot_turn);
    s->slot_turn = (uint8_t)((winner + 1) % SLOT_USERS);
    uint8_t agent = (uint8_t)(winner < FIRST_CORE ? WG_AGENT_THREAD0 + winner : WG_AGENT_CORE_T0 + winner - FIRST_CORE);
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != winner && (slot >> i & 1))
            why[i] = beaten_by(t, agent);
    if (winner < FIRST_CORE)
        granted |= 1u << winner;
    else
        serve_core(t, winner - FIRST_CORE);
    if (s->core_waits)
        wg_wake(&t->sched, WG_AGENT_THREAD0);
    return granted;
}

/* ---- The unit's entry in the table of units: every instruction completes in its cycle of acceptance. -------- */

static void sync_reset(wg_tile *t) { t->backend.sync = (wg_sync){0}; }
static void sync_tick(wg_tile *t) { (void)t; }

static bool sync_busy(const wg_tile *t, unsigned thread)
{
    (void)t;
    (void)thread;
    return false;
}

/* The gates call wg_sync_arbitrate() instead. */
static bool sync_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    return !is_mutex(insn) || mutex_free(t, insn, why);
}

static void sync_accept(wg_tile *t, const wg_insn *insn)
{
    (void)t;
    (void)insn;
}

const wg_unit_ops wg_sync_unit = {.name = "Sync Unit",
                                  .agent = WG_AGENT_SYNC,
                                  .reset = sync_reset,
                                  .check = sync_check,
                                  .accept = sync_accept,
                                  .tick = sync_tick,
                                  .busy = sync_busy};
