/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises polling loops, and the hangs they may be; see poll.h.
 *
 * While only cores and their requests are scheduled, the tile's state is compared with a reference state (Brent's
 * algorithm: the intervals between references double). If the state equals the reference, some cycles later (engine/repeat.h),
 * and no core has read the time or written anything but memory, it repeats forever. The comparison covers everything that
 * determines the future: registers, queues, caches, predictor, ports, arbitration.
 *
 * If a core has stored meanwhile, memory is compared, too: it is copied when the rest first repeats, and compared when the rest
 * repeats again.
 *
 * The times of references depend only on the last disturbance. The state compared is that of K, the first cycle from the
 * reference on in which a request reaches its region: the clock stops there in every mode. A period P is recognised in K + P.
 * If no request arrives (private loops), K is the reference itself, and every cycle is compared for a while. No other state is
 * compared, so an endless run ends in the same cycle in every mode.
 */
#include "machine/poll.h"

#include <string.h>

#include "backend/scalar.h"
#include "machine/device.h"
#include "riscv/internal.h"

enum {
    GRID = 1024,     /* the first reference is taken at a multiple of this many cycles, */
    PATIENCE = 3072, /* at least this many cycles after the last disturbance */
    /*
     * A period is seen only while no core runs ahead through L1. None does up to reference OBSERVED; after it, for one
     * cycle in SELDOM. Cores that store lose more by staying with the clock: once AT_FIRST cycles have passed, they do so for
     * one cycle in STORING.
     */
    OBSERVED = 7,
    SELDOM = 8,
    STORING = 1024,
    AT_FIRST = 40960,
    TRIES = 16 /* comparisons of memory with one copy, at most */
};
static_assert((int)WG_POLL_FINDINGS == (int)WG_MAX_FINDINGS, "each has its count");

static const uint64_t core_events = WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_STALL_BEGIN) |
                                    WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_CORE_REQUEST) |
                                    WG_EV_BIT(WG_EV_CORE_RESPONSE);

static uint64_t relative(uint64_t time, uint64_t now)
{
    return time == WG_NEVER ? WG_NEVER : time > now ? time - now : 0;
}

/* ---- states -------------------------------------------------------------------------------------------- */

/* Requests through the L0 cache since its last periodic flush. */
static uint32_t flush_count(const wg_tile *t, const wg_core *k)
{
    bool flushes = t->arch->l0_flush_period && !(k->csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH);
    return flushes ? k->run.l0_requests % t->arch->l0_flush_period : 0;
}

static void take(const wg_tile *t, wg_poll_state *out)
{
    wg_shot_take(t, (1u << WG_CORES) - 1, &out->shot);
    for (unsigned c = 0; c < WG_CORES; c++) {
        const wg_core *k = &t->core[c];
        wg_core_run *run = &out->shot.run[c];
        if (run->halt == WG_IN_RESET)
            continue;
        wg_core_normalize(t, c, run);
        run->r[WG_REG_SINK] = 0;
        run->l0_requests = flush_count(t, k);
        memcpy(out->targets[c], k->targets, sizeof k->targets);
        memcpy(out->branches[c], k->branches, sizeof k->branches);
        out->epoch[c] = k->epoch;
        memcpy(out->v[c], k->v, sizeof k->v);
        memcpy(&out->csr[c], &k->csr, sizeof k->csr);
    }
    memcpy(out->turn, t->regions.memory.turn, sizeof out->turn);
    out->mailbox = t->regions.mailbox;
    out->pcbuf = t->regions.pcbuf;
    out->retries = wg_scalar_retrying(t);
    if (!out->retries)
        return;
    memcpy(&out->scalar, &t->backend.scalar, sizeof out->scalar);
    memcpy(out->thread_next, &t->sched.next[WG_AGENT_THREAD0], sizeof out->thread_next);
    out->progress = wg_tile_progress(t);
}

static bool same_core(const wg_tile *t, const wg_poll_state *a, const wg_poll_state *b, const wg_moves *v, unsigned c)
{
    if (a->shot.run[c].halt == WG_IN_RESET || b->shot.run[c].halt == WG_IN_RESET)
        return a->shot.run[c].halt == b->shot.run[c].halt;
    return wg_same_run(&a->shot.run[c], &b->shot.run[c], v, c) && wg_same_contents(&a->shot.run[c], &b->shot.run[c]) &&
           wg_same_requests(t, &a->shot, v, c, true) &&
           memcmp(a->targets[c], b->targets[c], sizeof a->targets[c]) == 0 &&
           memcmp(a->branches[c], b->branches[c], sizeof a->branches[c]) == 0 && a->epoch[c] == b->epoch[c] &&
           memcmp(a->v[c], b->v[c], sizeof a->v[c]) == 0 && memcmp(&a->csr[c], &b->csr[c], sizeof a->csr[c]) == 0;
}

/* Does the present state b equal the state a, some cycles later? */
static bool same_state(const wg_tile *t, const wg_poll_state *a, const wg_poll_state *b)
{
    wg_moves v = {.then = a->shot.now, .now = b->shot.now, .later = b->shot.now - a->shot.now};
    for (unsigned c = 0; c < WG_CORES; c++)
        v.number[c] = b->shot.run[c].number - a->shot.run[c].number;
    for (unsigned c = 0; c < WG_CORES; c++)
        if (!same_core(t, a, b, &v, c))
            return false;
    if (!wg_same_ports(t, &a->shot, &v, 0, WG_L1_PORTS - 1, 0) || memcmp(a->turn, b->turn, sizeof a->turn) != 0 ||
        memcmp(&a->mailbox, &b->mailbox, sizeof a->mailbox) != 0 || !wg_same_pcbufs(&a->pcbuf, &b->pcbuf, &v) ||
        a->retries != b->retries)
        return false;
    if (!a->retries)
        return true;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (!wg_same_time(&v, a->thread_next[i], b->thread_next[i]))
            return false;
    return wg_same_scalar(&a->scalar, &b->scalar, &v) && a->progress == b->progress;
}

uint64_t wg_poll_count(const wg_tile *t, unsigned i)
{
    return i < WG_CORES ? t->core[i].run.number : t->backend.scalar.refusals;
}

/* The earliest wake-up of any agent but the cores, their requests and a Scalar Unit that retries. */
uint64_t wg_poll_others(const wg_tile *t)
{
    uint64_t next = WG_NEVER;
    uint32_t round = WG_AGENT_BIT(WG_AGENT_REGIONS);
    if (wg_scalar_retrying(t))
        round |= WG_AGENT_BIT(WG_AGENT_SCALAR) | 7u << WG_AGENT_THREAD0;
    for (unsigned i = WG_AGENT_CORE_T2 + 1; i < WG_AGENT_COUNT; i++)
        if (!(round >> i & 1) && t->sched.next[i] < next)
            next = t->sched.next[i];
    return next;
}

/* The clock stops in every cycle, so every cycle can be compared. (Unrelated to shortcuts.) */
static bool looks_always(const wg_tile *t) { return t->lockstep || (t->watched & core_events); }

/* A cheap hash; equal states have equal signatures. */
static uint64_t signature(const wg_tile *t)
{
    const wg_memory *m = &t->regions.memory;
    uint64_t h = 0, now = t->sched.now;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const wg_request_queue *queue = &m->queue[c][WG_PATH_L1];
        h = (h ^ m->active[c]) * UINT64_C(0x9E3779B97F4A7C15);
        if (queue->count)
            h = (h ^ (relative(queue->ring[queue->head].seen_at, now) << 4 | queue->count)) *
                UINT64_C(0x9E3779B97F4A7C15);
    }
    for (unsigned i = 0; i < WG_L1_PORTS; i++)
        h = h * 31 + m->l1.turn[i] + 4 * relative(m->l1.port_free[i], now);
    return h;
}

/* Has a core stored to memory in this cycle or later? */
static bool stored_since(const wg_tile *t, uint64_t cycle)
{
    bool stored = false;
    for (unsigned c = 0; c < WG_CORES; c++)
        stored |= t->core[c].run.halt != WG_IN_RESET && t->core[c].run.stored >= cycle;
    return stored;
}

/* Starts over after a disturbance. */
void wg_poll_wait_for_quiet(wg_tile *t)
{
    wg_poll *p = &t->poll;
    p->references = 0;
    p->observed_until = 0;
    p->look_at = p->stop_at = (p->disturbed + PATIENCE + GRID - 1) / GRID * GRID;
}

void wg_poll_reset(wg_tile *t)
{
    t->poll.settled = t->poll.endless = false;
    t->poll.disturbed = t->sched.now;
    if (t->dev->clock && *t->dev->clock > t->sched.now) /* an idle tile is behind the chip's clock */
        t->poll.disturbed = *t->dev->clock;
    t->poll.found_at = t->poll.observed = 0;
    wg_poll_wait_for_quiet(t);
}

/* Cycles from one reference to the next. */
static uint64_t interval(unsigned reference) { return (uint64_t)GRID << reference; }

/* How long every cycle after a reference is compared: a small fraction that eventually exceeds any period. */
static uint64_t stare(unsigned reference)
{
    enum { SHORT = 64, MOST = 256, LONG = 16384 };
    uint64_t part = interval(reference) / SHORT, least = interval(reference) / LONG;
    part = part < MOST ? part : MOST;
    return part > least ? part : least;
}

static void look(wg_tile *t, wg_poll_state *out)
{
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_core_sync(t, c);
        if (t->core[c].run.halt == WG_IN_RESET)
            continue;
        /* loads and private stores that are due leave their queues lazily */
        wg_lsu_drain_private(t, c, t->sched.now);
        if (t->core[c].run.loads)
            wg_lsu_settle(&t->core[c], t->sched.now);
    }
    take(t, out);
}

/* Takes the current state as the new reference. */
static void remember(wg_tile *t)
{
    wg_poll *p = &t->poll;
    p->seen_at = t->sched.now;
    p->signature = signature(t);
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++)
        p->number[i] = wg_poll_count(t, i);
    p->settled = false; /* `findings` is not per period any more */
    p->findings_seen = t->dev->findings;
    for (size_t i = 0; i < p->findings_seen; i++)
        p->findings[i] = t->dev->finding[i].count;
    p->copied = p->restored = false;
    p->tries = 0;
}

/* The number of cycles after a reference in which no core runs ahead through L1, so that a period is seen. */
static uint64_t observe_for(wg_tile *t, unsigned reference)
{
    wg_poll *p = &t->poll;
    uint64_t all = interval(reference), part = all / STORING;
    if (!stored_since(t, t->sched.now > GRID ? t->sched.now - GRID : 0))
        return reference < OBSERVED ? all : all / SELDOM;
    if (!p->may_stop) /* a period with stores matters only if it ends the run */
        return 0;
    part = part > GRID ? part : GRID;
    if (p->observed + all <= AT_FIRST + t->sched.now / STORING)
        part = all;
    p->observed += part;
    return part;
}

static void take_reference(wg_tile *t)
{
    wg_poll *p = &t->poll;
    unsigned i = p->references++;
    look(t, &p->state);
    remember(t);
    p->keyed = false;
    p->reference = t->sched.now;
    p->stare_until = t->sched.now + stare(i);
    p->observed_until = t->sched.now + observe_for(t, i);
}

void wg_poll_disturb(wg_tile *t)
{
    t->poll.disturbed = t->sched.now;
    t->poll.endless = false;
}

/* Copies L1 and the cores' RAM, the only memory that polling cores may write. */
static void copy_memory(const wg_tile *t)
{
    uint8_t *to = t->dev->poll_memory;
    memcpy(to, t->l1, t->spec->l1_bytes);
    for (unsigned c = 0; c < WG_CORES; c++)
        memcpy(to + t->spec->l1_bytes + c * WG_RAM_MAX, t->core[c].ram, WG_RAM_MAX);
}

static bool same_memory(const wg_tile *t)
{
    const uint8_t *from = t->dev->poll_memory;
    for (unsigned c = 0; c < WG_CORES; c++)
        if (memcmp(from + t->spec->l1_bytes + c * WG_RAM_MAX, t->core[c].ram, WG_RAM_MAX) != 0)
            return false;
    return memcmp(from, t->l1, t->spec->l1_bytes) == 0;
}

/* Everything except memory has repeated: has memory? */
static bool memory_came_back(wg_tile *t)
{
    wg_poll *p = &t->poll;
    if (!stored_since(t, p->seen_at))
        return true;
    if (p->copied) {
        p->tries++;
        return same_memory(t);
    }
    copy_memory(t);
    remember(t);
    p->copied = true;
    return false;
}

/* A quick check that needs no rollback of a core that has run ahead. */
static bool surely_differs(const wg_tile *t, unsigned core, const wg_core_run *from)
{
    const wg_core *k = &t->core[core];
    if (k->run.halt == WG_IN_RESET)
        return false;
    if (!wg_core_ahead(t, k))
        return k->run.pc != from->pc || flush_count(t, k) != from->l0_requests;
    /* The number of requests up to now is between the checkpoint's and the run-ahead's. */
    const uint32_t then = k->saved.l0_requests;
    uint32_t period = t->arch->l0_flush_period, made = k->run.l0_requests - then;
    if (!period || (k->csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH) || made >= period)
        return false;
    return (from->l0_requests + period - then % period) % period > made;
}

/* The state repeats: finds the cores that executed anything meanwhile. False if there is none. */
static bool find_pollers(wg_tile *t)
{
    wg_poll *p = &t->poll;
    bool any = false;
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++)
        any |= p->polls[i] = wg_poll_count(t, i) != p->number[i];
    return any;
}

static bool came_back(wg_tile *t)
{
    wg_poll *p = &t->poll;
    for (unsigned c = 0; c < WG_CORES; c++)
        if (surely_differs(t, c, &p->state.shot.run[c]))
            return false;
    if (signature(t) != p->signature)
        return false;
    look(t, &p->scratch);
    if (p->disturbed >= p->seen_at || !same_state(t, &p->state, &p->scratch))
        return false;
    return find_pollers(t) && memory_came_back(t);
}

/* Does a request reach its region in this cycle? This is the same in every mode, unlike how long it waits there. */
static bool request_comes(const wg_tile *t)
{
    const wg_memory *m = &t->regions.memory;
    for (unsigned c = 0; c < WG_CORES; c++)
        for (uint32_t queues = m->active[c]; queues; queues &= queues - 1) {
            const wg_request_queue *queue = &m->queue[c][__builtin_ctz(queues)];
            if (queue->count && queue->ring[queue->head].seen_at == t->sched.now)
                return true;
        }
    return false;
}

/* Must this cycle's state be compared? The first cycle in which a request arrives becomes the reference. */
static bool compares(wg_tile *t)
{
    wg_poll *p = &t->poll;
    bool comes = request_comes(t);
    if (p->keyed || !comes)
        return t->sched.now > p->seen_at && (comes || (!p->keyed && t->sched.now <= p->stare_until));
    look(t, &p->state);
    remember(t);
    p->keyed = true;
    return false;
}

/* The clock has stopped where a period may be recognised. */
static bool look_for_period(wg_tile *t, uint64_t limit, bool stop_if_endless)
{
    wg_poll *p = &t->poll;
    uint64_t until = wg_poll_others(t), now = t->sched.now;
    if (p->disturbed >= p->reference) {
        wg_poll_wait_for_quiet(t);
        return false;
    }
    if (now >= p->reference + interval(p->references - 1) && p->references < WG_POLL_REFERENCES) {
        take_reference(t);
        return false;
    }
    if (now >= p->observed_until || p->tries >= TRIES || !compares(t) || !came_back(t))
        return false;
    bool endless = until == WG_NEVER;
    if (endless && !p->endless)
        p->found_at = now;
    p->endless |= endless;
    if (endless && stop_if_endless)
        return true;
    if (p->restored) /* one more round, to count its findings */
        remember(t);
    else
        wg_fast_polls(t, until, limit);
    return false;
}

bool wg_poll_look(wg_tile *t, uint64_t limit, bool stop_if_endless)
{
    wg_poll *p = &t->poll;
    uint64_t now = t->sched.now, scheduled = p->look_at;
    bool found = false;
    if (t->perturbed) { /* every event of a perturbed run has its own delay */
        p->look_at = p->stop_at = WG_NEVER;
        return false;
    }
    if (wg_poll_others(t) <= now)
        wg_poll_disturb(t);
    if (p->references) {
        found = look_for_period(t, limit, stop_if_endless);
    } else {
        wg_poll_wait_for_quiet(t);
        if (p->look_at <= now && now == scheduled) {
            take_reference(t);
        } else if (p->look_at <= now) { /* the clock did not stop there: start here */
            p->disturbed = now;
            wg_poll_wait_for_quiet(t);
        }
    }
    bool every = looks_always(t);
    if (p->references) {
        every |= p->may_stop && !p->keyed && t->sched.now < p->stare_until && wg_poll_others(t) == WG_NEVER;
        p->look_at = t->sched.now + 1;
        p->stop_at = every ? p->look_at : p->reference + interval(p->references - 1);
    }
    if (stop_if_endless) /* a run-ahead would only be rolled back */
        t->limit = t->ahead_limit = every && p->references ? t->sched.now + 1 : limit;
    return found;
}

uint64_t wg_poll_endless(const wg_tile *t)
{
    return t->poll.endless && wg_poll_others(t) == WG_NEVER ? t->poll.found_at : 0;
}

bool wg_core_is_polling(const wg_tile *t, unsigned core) { return t->poll.found_at && t->poll.polls[core]; }
