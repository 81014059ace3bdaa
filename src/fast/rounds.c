/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of a group of cores through L1. Once a common period has been recorded, it is replayed (period.c).
 *
 *     back edge of one core ── does the group's state equal that of some iterations earlier, moved? ──> replay
 *
 * Addresses of different cores may move by different distances, in whole lines, if the distances are equal modulo the banks.
 * Only the fast paths of core_groups.c are recorded; a slow path spoils the period.
 */
#include "fast/rounds.h"

#include <string.h>

enum { PERIOD = 4 /* iterations, at most */, PERIOD_CYCLES = 4096, TRIES = 6, MISSES = 6, PATIENCE = 255 };

/* ---- the same state again? --------------------------------------------------------------------------------- */

static bool same_core(const wg_tile *t, const core_group *w, unsigned core, wg_moves *v, uint8_t *turned)
{
    const struct wg_rounds *r = w->rounds;
    const core_slot *m = &w->at[core];
    const wg_core_run *a = &r->period.shot.run[core], *b = m->run;
    v->number[core] = b->number - a->number;
    v->further[core] = r->base[core] == NO_BASE ? 0 : b->r[r->base[core]] - a->r[r->base[core]];
    if (m->mixed || m->odd || v->further[core] % WG_L1_LINE || !wg_period_holds(a) || !wg_period_holds(b) ||
        (r->base[core] == NO_BASE && (b->sq_count || b->loads || m->queue->count)))
        return false;
    if (b->ex1.kind && (a->wait_e == a->ex1.entered || b->wait_e == b->ex1.entered))
        return false;
    return wg_same_run(a, b, v, core) && wg_same_requests(t, &r->period.shot, v, core, false) &&
           wg_period_same_l0(t, a, b, v->further[core], !r->dropped, turned);
}

static unsigned active(const core_group *w) { return w->awake & ~(unsigned)w->resting; }

/* Does the present state equal the shot, moved? *v: by how much; turned: by how much L0 caches have rotated. */
static bool same_state(const wg_tile *t, const core_group *w, wg_moves *v, uint8_t turned[WG_CORES])
{
    const struct wg_rounds *r = w->rounds;
    const wg_shot *s = &r->period.shot;
    const uint32_t around = (uint32_t)t->arch->l1_banks * WG_L1_LINE - 1; /* banks: a power of two */
    uint32_t further = 0;
    bool any = false;
    if (r->cores != active(w))
        return false;
    *v = (wg_moves){.now = t->sched.now, .then = s->now, .later = t->sched.now - s->now};
    for (unsigned left = r->cores; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        if (!same_core(t, w, c, v, &turned[c]))
            return false;
        if (r->base[c] == NO_BASE)
            continue;
        if (any && (v->further[c] ^ further) & around)
            return false;
        further = v->further[c];
        any = true;
    }
    return any && wg_same_ports(t, s, v, WG_L1_CORE_PORT, WG_L1_CORE_PORT + WG_L1_CORE_PORTS - 1, further & around);
}

/* An upper bound on the number of periods that can be replayed. */
static uint64_t periods(const wg_tile *t, const core_group *w)
{
    const wg_period *p = &w->rounds->period;
    const uint64_t now = t->sched.now;
    uint64_t n = w->until > now + WG_PERIOD_SLACK ? (w->until - WG_PERIOD_SLACK - now) / p->by.later : 0;
    for (unsigned left = p->cores; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        const uint64_t at = t->core[c].run.at; /* a core that is alone may be far ahead of the clock */
        n = at < w->until ? wg_min64(n, (w->until - at) / p->by.later) : 0;
        n = wg_min64(n, wg_period_before_flush(t, p, c));
        if (t->core[c].l1_ahead) /* each write is logged */
            n = wg_min64(n, group_log_room(t) / (p->writes + 1u));
    }
    return n;
}

/* Advances the group by `done` periods. */
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
    w->served += done * r->served;
    memcpy(ring, w->ring, sizeof ring);
    const uint64_t then = t->sched.now;
    t->sched.now += later;
    w->busy = 0;
    for (unsigned i = 0; i < RING; i++) {
        const uint64_t to = (t->sched.now + i) % RING;
        w->ring[to] = ring[(then + i) % RING];
        w->busy |= (uint64_t)(w->ring[to] != 0) << to;
    }
}

/* ---- recording --------------------------------------------------------------------------------------------- */

static void begin_record(wg_tile *t, core_group *w, unsigned lead)
{
    struct wg_rounds *r = w->rounds;
    r->records = true;
    r->known = r->spoilt = r->dropped = false;
    r->lead = (uint8_t)lead;
    r->rounds = 0;
    r->served = w->served;
    r->cores = (uint8_t)active(w);
    r->period.step = r->step;
    r->period.steps = 0;
    r->period.undoes = true;
    memset(r->base, NO_BASE, sizeof r->base);
    for (unsigned c = 0; c < WG_CORES; c++) {
        r->period.run[c] = w->at[c].run;
        r->period.queue[c] = w->at[c].queue;
    }
    wg_shot_take(t, r->cores, &r->period.shot);
}

/* The recorded period ends here, if the present state equals that of its start, moved. */
static bool ends(wg_tile *t, core_group *w, wg_moves *v)
{
    struct wg_rounds *r = w->rounds;
    wg_period *p = &r->period;
    for (unsigned left = r->cores; left; left &= left - 1)
        if (wg_period_flushed(t, p, (unsigned)__builtin_ctz(left)))
            return false;
    if (!same_state(t, w, v, p->turned))
        return false;
    p->by = *v;
    wg_period_end(t, p, r->cores);
    r->step[p->steps++] = (wg_step_of){.code = WG_STEP_END, .core = r->lead};
    p->writes = 0;
    for (unsigned i = 0; i < p->steps; i++)
        p->writes = (uint16_t)(p->writes + (p->step[i].code == WG_STEP_WRITE));
    r->served = w->served - r->served;
    r->records = false;
    r->known = true;
    r->misses = 0;
    return true;
}

/* Replays the period from the present state, which equals that of its start, moved by v. */
static bool replays(wg_tile *t, core_group *w, const wg_moves *v)
{
    struct wg_rounds *r = w->rounds;
    const uint64_t n = periods(t, w), done = n ? wg_period_replay(t, &r->period, t->sched.now, v->further, n) : 0;
    if (!done)
        return false;
    arrive(t, w, done);
    wg_fast_used(t, WG_FAST_ROUNDS, done * r->period.by.later);
    r->misses = r->tries = 0;
    r->patience = 0;
    return true;
}

static void edge(wg_tile *t, core_group *w, unsigned edges)
{
    struct wg_rounds *r = w->rounds;
    uint8_t turned[WG_CORES];
    wg_moves v;
    if (r->known) {
        if (!(edges >> r->lead & 1) || (same_state(t, w, &v, turned) && replays(t, w, &v)) || ++r->misses <= MISSES)
            return;
        r->known = false;
    } else if (r->records && !r->spoilt && t->sched.now - r->period.shot.now <= PERIOD_CYCLES) {
        if (!(edges >> r->lead & 1))
            return;
        if (ends(t, w, &v)) {
            if (replays(t, w, &v))
                return;
        } else if (++r->rounds < r->longest) {
            return;
        }
    }
    r->records = r->known = false;
    if (r->wait) {
        r->wait--;
    } else if (r->tries == TRIES) {
        r->tries = 0;
        r->patience = (uint16_t)(r->patience < PATIENCE ? 2 * r->patience + 1 : PATIENCE);
        r->wait = r->patience;
    } else { /* most periods are one iteration */
        r->longest = ++r->tries % TRIES ? 1 : PERIOD;
        begin_record(t, w, (unsigned)__builtin_ctz(edges));
    }
}

void wg_rounds_edge(wg_tile *t, core_group *w, unsigned edges)
{
    edge(t, w, edges);
    w->rounds->watches = w->rounds->records || w->rounds->known;
}
