/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time on the grid (time.md rules 14 and 15).
 *
 *     window   every tile with something to do runs alone, on any host thread
 *     routing  packets that left the tiles in the window are routed and delivered, in one order, on the caller's thread
 *
 * If nothing can leave a NIU before cycle s, the network is known up to s + noc_niu, and tiles see its events noc_niu cycles
 * later, at s + wg_route_least(): the end of the window. If only one tile has work, its window lasts until it sends. Idle
 * tiles are left behind and set to the clock when they are inspected; tiles that poll count as idle (poll.h). The ends of
 * windows affect only the host's schedule, not the result.
 */
#include "chip/grid.h"
#include "machine/fast.h"

/* The tile's next cycle, and the earliest in which a packet can leave it. */
static void look(wg_grid *g, unsigned i)
{
    const wg_tile *t = g->tile[i]->tile;
    const wg_schedule *s = &t->sched;
    uint64_t settled, next = WG_NEVER, sends = WG_NEVER;
    g->endless[i] = wg_poll_endless(t);
    if (t->lockstep) { /* it is busy in every cycle */
        g->next[i] = g->sends[i] = wg_tile_next(t) == WG_NEVER ? WG_NEVER : s->now;
        return;
    }
    bool polls = wg_fast_polls_settled(t, &settled);
    unsigned from_core = 1u + t->timing->path[WG_PATH_NIU0].travel;
    for (uint32_t some = s->soon | s->far; some; some &= some - 1) {
        const unsigned a = (unsigned)__builtin_ctz(some);
        uint64_t at = s->next[a];
        bool core = a <= WG_AGENT_CORE_T2, niu = a == WG_AGENT_NIU0 || a == WG_AGENT_NIU1;
        if (at == WG_NEVER || (polls && (core || a == WG_AGENT_REGIONS)))
            continue;
        if (at < s->now)
            at = s->now;
        if (at < next)
            next = at;
        at += niu ? 0 : core ? from_core : 1;
        if (at < sends)
            sends = at;
    }
    if (t->poll.may_stop && next != WG_NEVER && t->poll.stop_at >= s->now && t->poll.stop_at < next)
        next = t->poll.stop_at; /* the search for loops needs that cycle */
    g->next[i] = next;
    g->sends[i] = sends;
}

static void look_at_touched(wg_grid *g)
{
    if (g->touches == g->touches_seen)
        return;
    g->touches_seen = g->touches;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        wg_device *dev = g->tile[g->made_at[k]];
        if (dev->touched) {
            dev->touched = false;
            look(g, g->made_at[k]);
        }
    }
}

typedef struct window {
    wg_grid *g;
    uint64_t end, limit;
    uint16_t due[WG_GRID_MAX_TILES];
} window;

static void run_tile(void *user, unsigned k)
{
    window *w = user;
    wg_device_window(w->g->tile[w->due[k]], w->end, w->limit);
}

/* Runs the tile to `end`, or until an answer to what it sent could arrive. */
static void run_alone(wg_grid *g, unsigned i, uint64_t end, uint64_t limit)
{
    end = wg_device_window(g->tile[i], end, limit);
    look(g, i);
    wg_grid_inject(g);
    g->now = end;
}

static void run_window(wg_grid *g, uint64_t end, uint64_t limit)
{
    window w; /* not all of `due` */
    unsigned n = 0;
    bool watched = false;
    w.g = g;
    w.end = end;
    w.limit = limit;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const unsigned i = g->made_at[k];
        if (g->next[i] < end) {
            watched |= g->tile[i]->tile->watched != 0;
            w.due[n++] = (uint16_t)i;
        }
    }
    /* Observers are called on the caller's thread. A single tile does not pay for a second thread. */
    if (n > 1 && g->desc.threads > 1 && !watched)
        wg_workers_run(&g->workers, g->desc.threads, n, run_tile, &w);
    else
        for (unsigned k = 0; k < n; k++)
            run_tile(&w, k);
    for (unsigned k = 0; k < n; k++)
        look(g, w.due[k]);
    wg_grid_inject(g);
    g->now = end;
}

/* Everything is idle: is the work done, or does the chip hang? */
static wg_stop at_rest(const wg_grid *g)
{
    for (unsigned k = 0; k < g->made_tiles; k++)
        if (g->endless[g->made_at[k]] || wg_device_at_rest(g->tile[g->made_at[k]]) == WG_STOP_HUNG)
            return WG_STOP_HUNG;
    return WG_STOP_DONE;
}

/*
 * The cycle in which a run ends when all tiles are idle or in endless loops. It must not depend on where windows end. So runs
 * that may stop end a window at every multiple of GRID, and the run ends at the first multiple after the last tile became
 * idle.
 */
enum { GRID = 64 };
static uint64_t round_up(uint64_t cycle) { return (cycle + GRID - 1) / GRID * GRID; }

static uint64_t ends_at(const wg_grid *g)
{
    uint64_t end = 0;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const unsigned i = g->made_at[k];
        const uint64_t at = g->endless[i] ? g->endless[i] : g->tile[i]->rest_at;
        if (at != WG_NEVER && at > end)
            end = at;
    }
    end = round_up(end + 1); /* rest at a multiple itself is seen in the next window */
    return end > g->now ? end : g->now;
}

bool wg_grid_hangs(const wg_grid *g, uint64_t *since)
{
    *since = 0;
    if (wg_grid_event_next(g) != WG_NEVER)
        return false;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const unsigned i = g->made_at[k];
        if (g->next[i] != WG_NEVER && !g->endless[i])
            return false;
        const uint64_t at = g->endless[i] ? g->endless[i] : g->tile[i]->rest_at;
        if (at != WG_NEVER && at > *since)
            *since = at;
    }
    return at_rest(g) == WG_STOP_HUNG;
}

bool wg_grid_stopped(const wg_grid *g, wg_stop *why)
{
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const wg_device *dev = g->tile[g->made_at[k]];
        if (!dev->stop_requested && !dev->until.mask)
            continue;
        *why = dev->stop_requested ? WG_STOP_FINDING : WG_STOP_UNTIL;
        if (dev->stop_requested || wg_device_until_holds(dev))
            return true;
    }
    return false;
}

/* Time passes until the limit; or until the run is over; or until the limit, but loops are looked for as if it could be over. */
typedef enum run_mode { ADVANCE, RUN, WINDOW } run_mode;

/* Cores may run ahead of the clock up to cycle `ahead`: nobody looks at them before. */
static wg_stop run(wg_grid *g, uint64_t limit, uint64_t ahead, run_mode mode)
{
    uint64_t least = wg_route_least(g->timing);
    wg_stop why = WG_STOP_CYCLES;
    const bool may_stop = mode == RUN;
    if (!may_stop && limit <= g->quiet_until && g->touches == g->touches_seen) {
        g->now = limit;
        return why;
    }
    g->quiet_until = 0;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        wg_device *dev = g->tile[g->made_at[k]];
        wg_device_may_stop(dev, mode != ADVANCE);
        if (may_stop)
            dev->stop_requested = false;
    }
    look_at_touched(g);
    while (g->now < limit) {
        uint64_t sends = wg_grid_route(g, g->now, limit), next = wg_grid_event_next(g);
        if (may_stop && wg_grid_stopped(g, &why))
            break;
        uint64_t others = WG_NEVER, first = WG_NEVER; /* when a second tile is busy */
        unsigned one = 0;
        bool over = next == WG_NEVER;
        for (unsigned k = 0; k < g->made_tiles; k++) {
            const unsigned i = g->made_at[k];
            over &= g->next[i] == WG_NEVER || g->endless[i];
            if (g->next[i] < first) {
                others = first;
                first = g->next[i];
                one = i;
            } else if (g->next[i] < others) {
                others = g->next[i];
            }
        }
        uint64_t answered = next < WG_NEVER - least ? next + g->timing->noc_niu : WG_NEVER;
        next = first < next ? first : next;
        if (over && may_stop) {
            uint64_t end = ends_at(g);
            if (end < limit)
                why = at_rest(g);
            end = end < limit ? end : limit;
            if (end > g->now)
                run_window(g, end, ahead);
            break;
        }
        if (next >= limit) {
            g->quiet_until = next;
            g->now = limit;
            break;
        }
        uint64_t alone = others < answered ? others : answered;
        alone = alone < limit ? alone : limit;
        uint64_t end = sends < limit && limit - sends > least ? sends + least : limit;
        if (may_stop && end > round_up(g->now + 1))
            end = round_up(g->now + 1);
        if (!may_stop && alone > end && first < end) /* runs that may stop use shorter windows */
            run_alone(g, one, alone, ahead);
        else
            run_window(g, end, ahead);
    }
    if (wg_grid_event_next(g) != WG_NEVER)
        wg_grid_route(g, g->now, limit);
    if (may_stop && why == WG_STOP_CYCLES)
        wg_grid_stopped(g, &why);
    if (may_stop && why != WG_STOP_CYCLES) /* a host that runs the chip in short stretches leaves idle tiles behind */
        wg_grid_run_ends(g);
    return why;
}

bool wg_grid_observed(const wg_grid *g)
{
    for (unsigned k = 0; k < g->made_tiles; k++)
        if (g->tile[g->made_at[k]]->tile->watched)
            return true;
    return false;
}

void wg_grid_run_begins(wg_grid *g)
{
    for (unsigned k = 0; k < g->made_tiles; k++)
        g->tile[g->made_at[k]]->stop_requested = false;
}

void wg_grid_run_ends(wg_grid *g)
{
    for (unsigned k = 0; k < g->made_tiles; k++) { /* bring all tiles to one cycle for inspection */
        wg_device *dev = g->tile[g->made_at[k]];
        if (dev->tile->sched.now < g->now)
            wg_look(dev);
    }
}

/* Is only the tile's link active, with acknowledgements or in wait of a change? */
static bool only_link(const wg_tile *t)
{
    for (unsigned a = 0; a < WG_AGENT_COUNT; a++)
        if (a != WG_AGENT_LINK && t->sched.next[a] != WG_NEVER)
            return false;
    return wg_eth_link_quiet(t);
}

wg_status wg_grid_window(wg_grid *g, uint64_t end, uint64_t limit, bool may_stop, wg_grid_rest *rest)
{
    g->error[0] = 0;
    if (end > g->now)
        run(g, end, limit, may_stop ? WINDOW : ADVANCE);
    *rest = (wg_grid_rest){.over = true, .next = wg_grid_event_next(g)};
    rest->over = rest->next == WG_NEVER;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const unsigned i = g->made_at[k];
        const wg_tile *t = g->tile[i]->tile;
        rest->over &= g->next[i] == WG_NEVER || g->endless[i] || only_link(t);
        rest->next = g->next[i] < rest->next ? g->next[i] : rest->next;
    }
    rest->hung = rest->over && at_rest(g) == WG_STOP_HUNG;
    return g->error[0] ? WG_ERR_NO_MEMORY : WG_OK;
}

uint64_t wg_grid_cycle(const wg_grid *grid) { return grid->now; }

static uint64_t limit_after(const wg_grid *grid, uint64_t cycles)
{
    return cycles < WG_NEVER - 1 - grid->now ? grid->now + cycles : WG_NEVER - 1;
}

wg_status wg_grid_advance(wg_grid *grid, uint64_t cycles)
{
    grid->error[0] = 0;
    const uint64_t limit = limit_after(grid, cycles);
    run(grid, limit, limit, ADVANCE);
    return grid->error[0] ? WG_ERR_NO_MEMORY : WG_OK;
}

wg_status wg_grid_run(wg_grid *grid, uint64_t cycles, wg_stop *stop)
{
    grid->error[0] = 0;
    const uint64_t limit = limit_after(grid, cycles);
    wg_stop why = run(grid, limit, limit, RUN);
    if (stop)
        *stop = why;
    return grid->error[0] ? WG_ERR_NO_MEMORY : WG_OK;
}

uint64_t wg_grid_state_hash(wg_grid *grid)
{
    uint64_t h = grid->now;
    for (unsigned k = 0; k < grid->made_tiles; k++)
        h = (h ^ wg_state_hash(grid->tile[grid->made_at[k]])) * UINT64_C(0x9E3779B97F4A7C15) + grid->made_at[k];
    h = (h ^ grid->packets) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= wg_dram_hash(&grid->dram);
    for (unsigned k = 0; k < WG_TILE_KINDS; k++)
        if (grid->edge[k].ops && grid->edge[k].ops->hash)
            h = (h ^ grid->edge[k].ops->hash(grid->edge[k].user, grid)) * UINT64_C(0x9FB21C651E98DF25);
    return h;
}
