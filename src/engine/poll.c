/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling by arithmetic; see poll.h.
 *
 * While nothing but cores (and their reads under way) has an appointment, the tile's state relative to the clock is
 * compared with a reference taken some visits before (Brent's way: a new reference after 1, 2, 4 … visits). If it is the
 * same, and no core has stored, read time or done anything else that may not be repeated, the machine goes round in a
 * circle: it is moved on by whole rounds, by adding to every time in it. The rounds are exact because everything that
 * decides what happens next is compared: registers, queues, caches, predictor, ports, turns.
 */
#include "engine/poll.h"

#include <string.h>

#include "tile/tile.h"

enum { FIRST_INTERVAL = 16, LAST_INTERVAL = 1 << 20 };

static const uint64_t core_events = WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_STALL_BEGIN) |
                                    WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_CORE_REQUEST) |
                                    WG_EV_BIT(WG_EV_CORE_RESPONSE);

static uint64_t relative(uint64_t time, uint64_t now) { return time == WG_NEVER ? WG_NEVER : time > now ? time - now : 0; }

static void shift(uint64_t *time, uint64_t by)
{
    if (*time != WG_NEVER)
        *time += by;
}

/* ---- one core ------------------------------------------------------------------------------------------ */

static void relate_run(const wg_tile *t, const wg_core *k, wg_core_run *out)
{
    uint64_t now = t->sched.now;
    memcpy(out, &k->run, sizeof *out);
    out->at = relative(out->at, now);
    out->last = 0;
    out->number = k->run.number % WG_RETIRE_RING;
    out->late_at = relative(out->late_at, now);
    out->mux_free = relative(out->mux_free, now);
    out->wait_e = out->ex1.kind && out->wait_e == out->ex1.entered;   /* it matters to the load in EX1 alone */
    out->wait_m = out->wait_e ? relative(out->wait_m, now) : 0;
    out->l0_requests = t->arch->l0_flush_period ? k->run.l0_requests % t->arch->l0_flush_period : 0;
    for (unsigned i = 0; i < WG_RETIRE_RING; i++) {
        out->retired[i] = relative(out->retired[i], now);
        out->filled[i] = relative(out->filled[i], now);
    }
    if (out->ex1.kind) {
        out->ex1.entered = relative(out->ex1.entered, now);
        out->ex1.number = k->run.number - out->ex1.number;
    } else {
        memset(&out->ex1, 0, sizeof out->ex1);
    }
    for (unsigned i = 0; i < WG_LOADS; i++) {
        wg_load *l = &out->load[i];
        if (!l->used) {
            memset(l, 0, sizeof *l);
            continue;
        }
        l->done = relative(l->done, now);
        l->earliest = relative(l->earliest, now);
        l->number = k->run.number - l->number;
    }
    for (unsigned i = 0; i < WG_STORE_QUEUE; i++) {
        wg_store *s = &out->sq[(out->sq_head + i) % WG_STORE_QUEUE];
        if (i >= out->sq_count)
            memset(s, 0, sizeof *s);
        s->first = relative(s->first, now);
        s->entered = relative(s->entered, now);
    }
    for (unsigned i = 0; i < WG_FETCHES; i++) {
        wg_fetch *f = &out->fetch[i];
        if (!f->used) {
            memset(f, 0, sizeof *f);
            continue;
        }
        f->emit_at = relative(f->emit_at, now);
        f->ready = relative(f->ready, now);
        f->earliest = relative(f->earliest, now);
    }
}

static void shift_core(wg_core *k, uint64_t by, uint64_t instructions)
{
    wg_core_run *run = &k->run;
    shift(&run->at, by);
    shift(&run->last, by);
    shift(&run->late_at, by);
    shift(&run->mux_free, by);
    shift(&run->wait_e, by);
    shift(&run->wait_m, by);
    for (unsigned i = 0; i < WG_STORE_QUEUE; i++) {
        shift(&run->sq[i].first, by);
        shift(&run->sq[i].entered, by);
    }
    for (unsigned i = 0; i < WG_RETIRE_RING; i++) {
        shift(&run->retired[i], by);
        shift(&run->filled[i], by);
    }
    shift(&run->ex1.entered, by);
    run->ex1.number += instructions;
    run->number += instructions;
    for (unsigned i = 0; i < WG_LOADS; i++) {
        shift(&run->load[i].done, by);
        shift(&run->load[i].earliest, by);
        run->load[i].number += instructions;
    }
    for (unsigned i = 0; i < WG_FETCHES; i++) {
        shift(&run->fetch[i].emit_at, by);
        shift(&run->fetch[i].ready, by);
        shift(&run->fetch[i].earliest, by);
    }
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        shift(&k->solo_at[i], by);
}

/* ---- the tile ------------------------------------------------------------------------------------------ */

static void relate(const wg_tile *t, wg_poll_state *out)
{
    uint64_t now = t->sched.now;
    const wg_memory *m = &t->regions.memory;
    memset(out, 0, sizeof *out);
    for (unsigned c = 0; c < WG_CORES; c++) {
        relate_run(t, &t->core[c], &out->run[c]);
        memcpy(out->predictor[c], t->core[c].predictor, sizeof out->predictor[c]);
        memcpy(out->targets[c], t->core[c].targets, sizeof out->targets[c]);
        out->epoch[c] = t->core[c].epoch;
        unsigned n = 0;
        for (uint32_t lanes = m->active[c]; lanes; lanes &= lanes - 1) {
            const wg_lane *lane = &m->lane[c][__builtin_ctz(lanes)];
            for (unsigned i = 0; i < lane->count && n < WG_POLL_REQUESTS; i++, n++) {
                out->request[c][n] = lane->queue[(lane->head + i) % WG_LANE_DEPTH];
                out->request[c][n].seen_at = relative(out->request[c][n].seen_at, now);
            }
            out->retry_at[c] ^= relative(lane->retry_at, now);
        }
        out->requests[c] = (uint8_t)n;
    }
    for (unsigned i = 0; i < WG_L1_PORTS; i++)
        out->port_free[i] = relative(m->l1.port_free[i], now);
    for (unsigned i = 0; i < WG_L1_MAX_BANKS; i++)
        out->bank_free[i] = relative(m->l1.bank_free[i], now);
    memcpy(out->port_turn, m->l1.turn, sizeof out->port_turn);
    memcpy(out->turn, m->turn, sizeof out->turn);
    out->mailbox = t->regions.mailbox;
    out->pcbuf = t->regions.pcbuf;
}

static void shift_tile(wg_tile *t, uint64_t by, const uint64_t instructions[WG_CORES])
{
    wg_memory *m = &t->regions.memory;
    for (unsigned c = 0; c < WG_CORES; c++) {
        shift_core(&t->core[c], by, instructions[c]);
        for (uint32_t lanes = m->active[c]; lanes; lanes &= lanes - 1) {
            wg_lane *lane = &m->lane[c][__builtin_ctz(lanes)];
            for (unsigned i = 0; i < lane->count; i++)
                shift(&lane->queue[(lane->head + i) % WG_LANE_DEPTH].seen_at, by);
            shift(&lane->last_seen_at, by);
            shift(&lane->retry_at, by);
        }
    }
    for (unsigned i = 0; i < WG_L1_PORTS; i++)
        shift(&m->l1.port_free[i], by);
    for (unsigned i = 0; i < WG_L1_MAX_BANKS; i++)
        shift(&m->l1.bank_free[i], by);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        shift(&t->sched.next[i], by);
    t->sched.now += by;
}

/* Everybody but the cores and their requests: the earliest appointment. */
static uint64_t others(const wg_tile *t)
{
    uint64_t next = WG_NEVER;
    for (unsigned i = WG_AGENT_CORE_T2 + 1; i < WG_AGENT_COUNT; i++)
        if (i != WG_AGENT_REGIONS && t->sched.next[i] < next)
            next = t->sched.next[i];
    return next;
}

/* What is cheap to look at, also while cores have run ahead; equal states have equal signatures. */
static uint64_t signature(const wg_tile *t)
{
    const wg_memory *m = &t->regions.memory;
    uint64_t h = 0;
    for (unsigned c = 0; c < WG_CORES; c++)
        h = (h ^ m->active[c]) * UINT64_C(0x9E3779B97F4A7C15);
    for (unsigned i = 0; i < WG_L1_PORTS; i++)
        h = h * 31 + m->l1.turn[i];
    return h;
}

static bool disturbed(wg_tile *t)
{
    bool any = false;
    for (unsigned c = 0; c < WG_CORES; c++) {
        any |= t->core[c].store_pending;
        t->core[c].store_pending = false;
    }
    return any;
}

static void take_reference(wg_tile *t)
{
    wg_poll *p = &t->poll;
    for (unsigned c = 0; c < WG_CORES; c++)
        wg_core_sync(t, c);
    disturbed(t);
    relate(t, &p->state);
    p->at = t->sched.now;
    p->signature = signature(t);
    p->visits = 0;
    for (unsigned c = 0; c < WG_CORES; c++)
        p->number[c] = t->core[c].run.number;
}

void wg_poll_disturb(wg_tile *t)
{
    for (unsigned c = 0; c < WG_CORES; c++)
        t->core[c].store_pending = true;
}

/* Whole rounds up to `end`, if nobody wants to see them. */
static void go_round(wg_tile *t, uint64_t end)
{
    const wg_poll *p = &t->poll;
    uint64_t now = t->sched.now, period = now - p->at, rounds = end > now ? (end - now) / period : 0;
    uint64_t instructions[WG_CORES];
    if (!rounds || (t->watched & core_events))
        return;
    for (unsigned c = 0; c < WG_CORES; c++)
        instructions[c] = (t->core[c].run.number - p->number[c]) * rounds;
    shift_tile(t, rounds * period, instructions);
}

static bool came_back(wg_tile *t)
{
    wg_poll *p = &t->poll;
    if (signature(t) != p->signature || t->sched.now <= p->at)
        return false;
    for (unsigned c = 0; c < WG_CORES; c++)
        wg_core_sync(t, c);
    relate(t, &p->scratch);
    if (memcmp(&p->scratch, &p->state, sizeof p->state) != 0 || disturbed(t))
        return false;
    for (unsigned c = 0; c < WG_CORES; c++)
        if (t->core[c].run.number != p->number[c])
            return true;
    return false;
}

bool wg_poll_skip(wg_tile *t, uint64_t limit, bool stop_if_endless)
{
    wg_poll *p = &t->poll;
    uint64_t until = others(t);
    if (t->perturbed || until <= t->sched.now + 1) {
        p->interval = 0;
        return false;
    }
    if (!p->interval || disturbed(t)) {
        p->interval = FIRST_INTERVAL;
        take_reference(t);
        return false;
    }
    if (came_back(t)) {
        bool endless = until == WG_NEVER;
        if (endless)
            p->found_at = t->sched.now;
        if (!(endless && stop_if_endless)) {
            go_round(t, until < limit ? until : limit);
            take_reference(t);
        }
        return endless && stop_if_endless;
    }
    if (++p->visits >= p->interval) {
        p->interval = p->interval < LAST_INTERVAL ? 2 * p->interval : LAST_INTERVAL;
        take_reference(t);
    }
    return false;
}

bool wg_core_is_polling(const wg_tile *t, unsigned core)
{
    return t->poll.found_at && t->sched.next[WG_AGENT_CORE_B + core] != WG_NEVER;
}
