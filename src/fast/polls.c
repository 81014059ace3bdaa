/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips periods of polling loops. poll.c has found that the tile's state repeats, and that no other agent acts before some
 * cycle. The tile is advanced by whole periods (engine/repeat.h), and with it the counts of instructions, refusals and
 * findings.
 */
#include "machine/poll.h"

#include <string.h>

#include "backend/scalar.h"
#include "machine/device.h"
#include "riscv/internal.h"

/* Shifts the agent's wake-up; other agents keep theirs. */
static void shift(wg_tile *t, unsigned agent, uint64_t by)
{
    wg_postpone(&t->sched, agent, wg_moved(t->sched.next[agent], by));
}

static void shift_scalar(wg_tile *t, uint64_t by, uint64_t refusals)
{
    wg_scalar *u = &t->backend.scalar;
    if (!wg_scalar_retrying(t))
        return;
    u->refusals += (uint32_t)refusals;
    u->sent += refusals; /* a refusal answers a request */
    wg_move_scalar(u, by);
    shift(t, WG_AGENT_SCALAR, by);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        shift(t, WG_AGENT_THREAD0 + i, by);
        t->frontend[i].stall.retry_at = wg_moved(t->frontend[i].stall.retry_at, by);
    }
}

static void shift_tile(wg_tile *t, uint64_t by, const uint64_t counts[WG_POLL_COUNTS])
{
    wg_memory *m = &t->regions.memory;
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_move_run(&t->core[c].run, by, counts[c], 0);
        for (uint32_t queues = m->active[c]; queues; queues &= queues - 1)
            wg_move_queue(&m->queue[c][__builtin_ctz(queues)], by, 0);
    }
    wg_move_ports(&m->l1, by);
    wg_move_pcbufs(&t->regions.pcbuf, by);
    shift_scalar(t, by, counts[WG_CORES]);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (i <= WG_AGENT_CORE_T2 || i == WG_AGENT_REGIONS)
            shift(t, i, by);
    t->sched.now += by;
}

/* Advances the tile by `periods` periods; the counts grow by `counts` in each. */
static void skip(wg_tile *t, uint64_t period, uint64_t periods, const uint64_t counts[WG_POLL_COUNTS])
{
    uint64_t more[WG_POLL_COUNTS];
    wg_fast_used(t, WG_FAST_POLLS, period * periods);
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++)
        more[i] = counts[i] * periods;
    shift_tile(t, period * periods, more);
    for (size_t i = 0; i < t->poll.findings_seen; i++)
        t->dev->finding[i].count += t->poll.findings[i] * periods;
}

/* Turns the counts of findings at the reference into occurrences per period. */
static void findings_per_period(wg_tile *t)
{
    wg_poll *p = &t->poll;
    for (size_t i = 0; i < t->dev->findings; i++)
        p->findings[i] = t->dev->finding[i].count - (i < p->findings_seen ? p->findings[i] : 0);
    p->findings_seen = t->dev->findings;
}

void wg_fast_polls(wg_tile *t, uint64_t until, uint64_t limit)
{
    wg_poll *p = &t->poll;
    const uint64_t now = t->sched.now, end = until < limit ? until : limit, period = now - p->seen_at;
    uint64_t counts[WG_POLL_COUNTS];
    if (end <= now || !wg_fast(t, WG_FAST_POLLS))
        return;
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++)
        counts[i] = wg_poll_count(t, i) - p->number[i];
    p->settled = until >= limit; /* otherwise another agent acts first and may end the polling */
    p->period = period;
    findings_per_period(t);
    memcpy(p->per_period, counts, sizeof p->per_period);
    skip(t, period, (end - now) / period, counts);
    p->disturbed = until == WG_NEVER ? t->sched.now : until; /* in advance */
    wg_poll_wait_for_quiet(t);
}

bool wg_fast_polls_settled(const wg_tile *t, uint64_t *next)
{
    if (!t->poll.settled || !wg_fast(t, WG_FAST_POLLS))
        return false;
    *next = wg_poll_others(t);
    return *next > t->sched.now + 1;
}

void wg_fast_polls_resume(wg_tile *t, uint64_t end)
{
    wg_poll *p = &t->poll;
    uint64_t next, now = t->sched.now;
    if (!wg_fast_polls_settled(t, &next)) {
        p->settled = false;
        return;
    }
    uint64_t until = next < end ? next : end;
    if (until > now + p->period) {
        for (unsigned c = 0; c < WG_CORES; c++)
            wg_core_sync(t, c);
        skip(t, p->period, (until - now) / p->period, p->per_period);
        p->disturbed = t->sched.now;
        wg_poll_wait_for_quiet(t);
    }
    if (next < end) /* that agent may end the polling */
        p->settled = false;
}
