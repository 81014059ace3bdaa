/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of a group of cores through L1: once a common period has been recorded, it is replayed (period.c).
 *
 *     back edge of one core ── is the state of all that of some iterations earlier, moved? ──> replay
 *
 * Addresses of different cores may move by different distances, in whole lines, if the distances are equal modulo the banks.
 * Only the fast paths of core_groups.c are recorded; a slow path spoils the period.
 */
#include "fast/rounds.h"

#include <string.h>

enum { PERIOD = 4 /* iterations, at most */, PERIOD_CYCLES = 4096, TRIES = 6, PATIENCE = 255 };

/* ---- the same state again? --------------------------------------------------------------------------------- */

static bool same_core(const wg_tile *t, core_group *w, unsigned core)
{
    struct wg_rounds *r = w->rounds;
    wg_period *p = &r->period;
    const core_slot *m = &w->at[core];
    const wg_core_run *a = &p->shot.run[core], *b = m->run;
    p->by.number[core] = b->number - a->number;
    p->by.further[core] = r->base[core] == NO_BASE ? 0 : b->r[r->base[core]] - a->r[r->base[core]];
    if (m->mixed || m->odd || p->by.further[core] % WG_L1_LINE || !wg_period_holds(a) || !wg_period_holds(b) ||
        (r->base[core] == NO_BASE && (b->sq_count || b->loads || m->queue->count)) || wg_period_flushed(t, p, core))
        return false;
    if (b->ex1.kind && (a->wait_e == a->ex1.entered || b->wait_e == b->ex1.entered))
        return false;
    return wg_same_run(a, b, &p->by, core) && wg_same_requests(t, &p->shot, &p->by, core, false) &&
           wg_period_same_l0(t, a, b, p->by.further[core], !r->dropped, &p->turned[core]);
}

/* Is the present state that of the shot, moved? */
static bool same_state(const wg_tile *t, core_group *w)
{
    struct wg_rounds *r = w->rounds;
    wg_period *p = &r->period;
    const uint32_t around = (uint32_t)t->arch->l1_banks * WG_L1_LINE - 1; /* banks: a power of two */
    uint32_t further = 0;
    bool any = false;
    p->by = (wg_moves){.now = t->sched.now, .then = p->shot.now, .later = t->sched.now - p->shot.now};
    for (unsigned left = w->awake; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        if (!same_core(t, w, c))
            return false;
        if (r->base[c] == NO_BASE)
            continue;
        if (any && (p->by.further[c] ^ further) & around)
            return false;
        further = p->by.further[c];
        any = true;
    }
    if (!any ||
        !wg_same_ports(t, &p->shot, &p->by, WG_L1_CORE_PORT, WG_L1_CORE_PORT + WG_L1_CORE_PORTS - 1, further & around))
        return false;
    wg_period_end(t, p, w->awake);
    return true;
}

/* The number of periods that can be replayed, as far as that is known in advance. */
static uint64_t periods(const wg_tile *t, const core_group *w)
{
    const wg_period *p = &w->rounds->period;
    if (p->by.now + p->by.later + WG_PERIOD_SLACK > w->until)
        return 0;
    uint64_t n = (w->until - WG_PERIOD_SLACK - p->by.now) / p->by.later;
    for (unsigned left = p->cores; left; left &= left - 1)
        n = wg_min64(n, wg_period_before_flush(t, p, (unsigned)__builtin_ctz(left)));
    return n;
}

/* Moves the group on by so many periods. */
static void arrive(wg_tile *t, core_group *w, uint64_t done)
{
    struct wg_rounds *r = w->rounds;
    const wg_period *p = &r->period;
    wg_l1_ports *l1 = &t->regions.memory.l1;
    const uint64_t later = done * p->by.later;
    uint8_t ring[RING];
    for (unsigned left = p->cores; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        core_slot *m = &w->at[c];
        wg_period_arrive(t, p, c, done);
        if (m->waits_for != ANY && m->waits_for)
            m->waits_for += done * p->by.number[c];
        note_loads(m);
        note_stores(m);
        w->seen_at[c] = wg_queue_seen_at(m->queue);
    }
    for (unsigned i = WG_L1_CORE_PORT; i < WG_L1_CORE_PORT + WG_L1_CORE_PORTS; i++)
        l1->port_free[i] += later;
    w->served += done * (w->served - r->served);
    memcpy(ring, w->ring, sizeof ring);
    t->sched.now += later;
    for (unsigned i = 0; i < RING; i++)
        w->ring[(t->sched.now + i) % RING] = ring[(p->by.now + i) % RING];
}

/* ---- recording --------------------------------------------------------------------------------------------- */

static void begin_record(wg_tile *t, core_group *w, unsigned lead)
{
    struct wg_rounds *r = w->rounds;
    r->records = true;
    r->spoilt = r->dropped = false;
    r->lead = (uint8_t)lead;
    r->rounds = 0;
    r->served = w->served;
    r->period.step = r->step;
    r->period.steps = 0;
    r->period.undoes = true;
    r->period.owns = 0;
    memset(r->base, NO_BASE, sizeof r->base);
    for (unsigned c = 0; c < WG_CORES; c++) {
        r->period.run[c] = w->at[c].run;
        r->period.queue[c] = w->at[c].queue;
    }
    wg_shot_take(t, w->awake, &r->period.shot);
}

void wg_rounds_edge(wg_tile *t, core_group *w, unsigned edges)
{
    struct wg_rounds *r = w->rounds;
    wg_period *p = &r->period;
    const bool over = !r->records || r->spoilt || t->sched.now - p->shot.now > PERIOD_CYCLES;
    if (!over && !(edges >> r->lead & 1))
        return;
    if (!over && same_state(t, w)) {
        const uint64_t n = periods(t, w);
        r->step[p->steps++] = (wg_step_of){.code = WG_STEP_END, .core = r->lead};
        const uint64_t done = n ? wg_period_replay(t, p, p->by.now, p->by.further, n) : 0;
        if (done) {
            arrive(t, w, done);
            wg_fast_used(t, WG_FAST_ROUNDS);
            r->records = false;
            r->tries = 0;
            r->patience = 0;
            return;
        }
    } else if (!over && ++r->rounds < r->longest) {
        return;
    }
    r->records = false;
    if (r->wait) {
        r->wait--;
    } else if (r->tries == TRIES) {
        r->tries = 0;
        r->patience = (uint16_t)(r->patience < PATIENCE ? 2 * r->patience + 1 : PATIENCE);
        r->wait = r->patience;
    } else { /* mostly a period is one iteration */
        r->longest = ++r->tries % TRIES ? 1 : PERIOD;
        begin_record(t, w, (unsigned)__builtin_ctz(edges));
    }
}
