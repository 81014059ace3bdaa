/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in a cluster (time.md rule 16).
 *
 *     window     every chip with something to do runs alone, on any host thread and in any process
 *     exchange   frames that left the chips in the window are handed over
 *
 * A command in cycle c has no effect at the other end before c + eth_latency + 1: that is the length of a window. Windows end
 * at its multiples. If nothing happens for longer, they are skipped.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/cluster.h"

enum { STOPS_FINDING, STOPS_UNTIL, STOPS_NOT };

static uint64_t processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void run_chip(void *user, unsigned k)
{
    wg_cluster *c = user;
    wg_cluster_chip_state *s = &c->chip[c->due[k]];
    const uint64_t began = c->ranks ? processor_time() : 0;
    s->status = wg_grid_window(s->grid, c->end, c->limit, c->may_stop, &s->rest);
    s->busy += c->ranks ? processor_time() - began : 0;
}

/* Runs the chips of this process to the end of the window. */
static void run_chips(wg_cluster *c)
{
    unsigned n = 0;
    bool observed = false;
    for (unsigned i = 0; i < c->chips; i++)
        if (c->chip[i].grid) {
            observed |= wg_grid_observed(c->chip[i].grid);
            c->due[n++] = (uint16_t)i;
        }
    if (n > 1 && c->threads > 1 && (!observed || c->observers_apart))
        wg_workers_run(&c->workers, c->threads, n, run_chip, c);
    else
        for (unsigned k = 0; k < n; k++)
            run_chip(c, k);
}

/* This process's contribution to value[], before frames are exchanged. */
static void sum_up(wg_cluster *c, uint64_t value[WG_CLUSTER_VALUES])
{
    memset(value, 0xFF, WG_CLUSTER_VALUES * sizeof *value);
    value[WG_CLUSTER_STOPS] = STOPS_NOT;
    for (unsigned i = 0; i < c->chips; i++) {
        const wg_cluster_chip_state *s = &c->chip[i];
        wg_stop why;
        if (!s->grid)
            continue;
        if (s->status != WG_OK) {
            value[WG_CLUSTER_FAILED] = 0;
            wg_cluster_fail(c, s->status, "chip %u: %s", i, wg_grid_error(s->grid));
        }
        if (!s->rest.over)
            value[WG_CLUSTER_OVER] = 0;
        if (s->rest.hung)
            value[WG_CLUSTER_HUNG] = 0;
        if (s->rest.next < value[WG_CLUSTER_NEXT])
            value[WG_CLUSTER_NEXT] = s->rest.next;
        if (wg_grid_stopped(s->grid, &why))
            value[WG_CLUSTER_STOPS] =
                why == WG_STOP_FINDING || value[WG_CLUSTER_STOPS] == STOPS_FINDING ? STOPS_FINDING : STOPS_UNTIL;
    }
}

/* Runs one window; value[] then holds what all processes agreed on. */
static wg_status window(wg_cluster *c, uint64_t end, uint64_t value[WG_CLUSTER_VALUES])
{
    c->end = end;
    c->frame_at = c->lively_at = WG_NEVER;
    run_chips(c);
    sum_up(c, value);
    c->now = end;
    bool ok = wg_cluster_exchange(c, value);
    if (value[WG_CLUSTER_FAILED] == 0 && !c->error[0])
        wg_cluster_fail(c, WG_ERR_STATE, "another process has failed");
    return ok && value[WG_CLUSTER_FAILED] ? WG_OK : WG_ERR_STATE;
}

static wg_status run(wg_cluster *c, uint64_t limit, bool may_stop, wg_stop *stop)
{
    uint64_t value[WG_CLUSTER_VALUES], next = c->now;
    *stop = WG_STOP_CYCLES;
    c->may_stop = may_stop;
    c->limit = limit;
    c->error[0] = 0;
    if (!c->known_arch)
        return wg_cluster_fail(c, WG_ERR_STATE, "the cluster has no chips");
    for (unsigned i = 0; i < c->chips; i++) {
        if (!c->chip[i].grid && wg_cluster_here(c, i))
            return wg_cluster_fail(c, WG_ERR_STATE, "chip %u is missing", i);
        if (c->chip[i].grid && may_stop)
            wg_grid_run_begins(c->chip[i].grid);
    }
    while (c->now < limit) {
        uint64_t from = next > c->now ? next : c->now, end = limit;
        if (from < limit) {
            end = (from / c->window + 1) * c->window;
            end = end < limit ? end : limit;
        }
        wg_status status = window(c, end, value);
        if (status != WG_OK)
            return status;
        next = value[WG_CLUSTER_NEXT];
        if (!may_stop)
            continue;
        if (value[WG_CLUSTER_STOPS] != STOPS_NOT) {
            *stop = value[WG_CLUSTER_STOPS] == STOPS_FINDING ? WG_STOP_FINDING : WG_STOP_UNTIL;
            break;
        }
        if (value[WG_CLUSTER_OVER] && value[WG_CLUSTER_LIVELY] == WG_NEVER && c->now % c->window == 0) {
            *stop = value[WG_CLUSTER_HUNG] ? WG_STOP_DONE : WG_STOP_HUNG;
            break;
        }
    }
    for (unsigned i = 0; may_stop && i < c->chips; i++)
        if (c->chip[i].grid)
            wg_grid_run_ends(c->chip[i].grid);
    return WG_OK;
}

uint64_t wg_cluster_cycle(const wg_cluster *c) { return c->now; }
uint64_t wg_cluster_window(const wg_cluster *c) { return c->window; }

static uint64_t limit_after(const wg_cluster *c, uint64_t cycles)
{
    return cycles < WG_NEVER / 4 - c->now ? c->now + cycles : WG_NEVER / 4;
}

wg_status wg_cluster_advance(wg_cluster *c, uint64_t cycles)
{
    wg_stop stop;
    return run(c, limit_after(c, cycles), false, &stop);
}

wg_status wg_cluster_run(wg_cluster *c, uint64_t cycles, wg_stop *stop)
{
    wg_stop why;
    wg_status status = run(c, limit_after(c, cycles), true, &why);
    if (stop)
        *stop = why;
    return status;
}

wg_status wg_cluster_state_hash(wg_cluster *c, uint64_t *hash)
{
    wg_message mine = {0};
    uint64_t *of = calloc(c->chips, sizeof *of);
    bool ok = of != NULL;
    *hash = c->now;
    for (unsigned i = 0; ok && i < c->chips; i++)
        if (c->chip[i].grid) {
            const uint64_t entry[2] = {i, wg_grid_state_hash(c->chip[i].grid)};
            ok &= wg_message_add(&mine, entry, sizeof entry);
        }
    const unsigned ranks = c->ranks ? c->ranks->ranks : 1;
    if (ok && c->ranks)
        ok = c->ranks->gather(c->ranks, &mine, c->in);
    for (unsigned r = 0; ok && r < ranks; r++) {
        const wg_message *m = c->ranks ? &c->in[r] : &mine;
        for (size_t at = 0; at + 16 <= m->bytes; at += 16) {
            uint64_t entry[2];
            memcpy(entry, m->data + at, sizeof entry);
            if (entry[0] < c->chips)
                of[entry[0]] = entry[1];
        }
    }
    for (unsigned i = 0; ok && i < c->chips; i++)
        *hash = (*hash ^ of[i]) * UINT64_C(0x9E3779B97F4A7C15) + i;
    free(of);
    wg_message_free(&mine);
    return ok ? WG_OK : wg_cluster_fail(c, WG_ERR_NO_MEMORY, "the state hash could not be computed");
}
