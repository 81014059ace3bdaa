/* SPDX-License-Identifier: Apache-2.0 */
/* The public device: creation, time, observers. State access is in peek.c, snapshots in snapshot.c. */
#include "machine/device.h"
#include "machine/fast.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/scalar.h"
#include "engine/pages.h"
#include "machine/poll.h"
#include "num/simd.h"

#ifndef WG_VERSION
#define WG_VERSION "0"
#endif

wg_status wg_fail(wg_device *dev, wg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(dev->error, sizeof dev->error, format, args);
    va_end(args);
    return status;
}

const char *wg_error(const wg_device *dev) { return dev->error; }
const char *wg_version(void) { return WG_VERSION; }

const char *wg_status_text(wg_status status)
{
    static const char *const text[] = {[WG_OK] = "ok",
                                       [WG_ERR_ARGUMENT] = "invalid argument",
                                       [WG_ERR_NO_MEMORY] = "out of memory",
                                       [WG_ERR_ADDRESS] = "nothing is mapped there",
                                       [WG_ERR_UNSUPPORTED] = "not supported",
                                       [WG_ERR_SNAPSHOT] = "not a snapshot of this device",
                                       [WG_ERR_STATE] = "not possible now"};
    return status < sizeof text / sizeof *text ? text[status] : "unknown status";
}

/* The memory that poll.c compares: L1 and the cores' own RAM. */
static size_t poll_bytes(const wg_tile_spec *spec) { return spec->l1_bytes + (size_t)WG_CORES * WG_RAM_MAX; }

wg_status wg_create(const wg_device_desc *desc, wg_device **out) { return wg_create_tile(desc, WG_TILE_TENSIX, out); }

wg_status wg_create_tile(const wg_device_desc *given, wg_tile_kind kind, wg_device **out)
{
    wg_device_desc own = {0}, *desc = &own;
    uint32_t shortcuts;
    wg_simd simd;
    if (!given || !out || given->struct_size < offsetof(wg_device_desc, shortcuts) || given->struct_size > sizeof own)
        return WG_ERR_ARGUMENT;
    memcpy(&own, given, given->struct_size);
    if (!wg_arch_known(desc->arch) || desc->profile > WG_PROFILE_DOCUMENTED ||
        !wg_shortcuts_parse(desc->shortcuts, &shortcuts) || !wg_simd_parse(desc->simd, &simd))
        return WG_ERR_ARGUMENT;
    *out = NULL;
    wg_device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return WG_ERR_NO_MEMORY;
    dev->arch = wg_arch_of(desc->arch);
    dev->profile = desc->profile;
    dev->stop_at = WG_SEVERITY_NEVER;
    dev->finding = wg_pages_new(WG_MAX_FINDINGS * sizeof *dev->finding);
    dev->tile = wg_pages_new(sizeof *dev->tile);
    if (dev->tile) {
        dev->tile->spec = kind == WG_TILE_ETH ? &dev->arch->ethernet : &dev->arch->tensix;
        dev->tile->l1 = wg_pages_new(dev->tile->spec->l1_bytes);
        dev->tile->box = wg_pages_new(sizeof *dev->tile->box);
        dev->poll_memory = wg_pages_new(poll_bytes(dev->tile->spec));
    }
    if (!dev->finding || !dev->tile || !dev->tile->l1 || !dev->tile->box || !dev->poll_memory) {
        wg_destroy(dev);
        return WG_ERR_NO_MEMORY;
    }
    wg_tile *t = dev->tile;
    t->dev = dev;
    t->arch = dev->arch;
    t->timing = &dev->arch->timing[desc->profile];
    t->lockstep = desc->lockstep;
    t->simd = (uint8_t)simd;
    t->seed = desc->seed;
    t->perturbed = desc->seed != 0;
    t->fast_wanted = shortcuts;
    wg_fast_update(t);
    wg_tile_reset(t);
    wg_poll_reset(t);
    *out = dev;
    return WG_OK;
}

void wg_destroy(wg_device *dev)
{
    if (!dev)
        return;
    if (dev->tile) {
        wg_pages_free(dev->tile->l1, dev->tile->spec->l1_bytes);
        wg_pages_free(dev->tile->box, sizeof *dev->tile->box);
        wg_pages_free(dev->tile->link, sizeof *dev->tile->link);
        wg_pages_free(dev->poll_memory, poll_bytes(dev->tile->spec));
    }
    wg_pages_free(dev->tile, sizeof *dev->tile);
    wg_pages_free(dev->finding, WG_MAX_FINDINGS * sizeof *dev->finding);
    free(dev->delay);
    free(dev->scaled_arch);
    free(dev);
}

wg_status wg_reset(wg_device *dev)
{
    uint64_t seed = dev->tile->seed;
    bool perturbed = dev->tile->perturbed;
    uint16_t place = dev->tile->regions.niu.coordinate;
    wg_reach(dev);
    wg_pages_clear(dev->tile->l1, dev->tile->spec->l1_bytes);
    if (wg_noc_box_used(dev->tile->box))
        wg_pages_clear(dev->tile->box, sizeof *dev->tile->box);
    wg_pages_clear((char *)dev->tile + WG_TILE_STATE_OFFSET, sizeof *dev->tile - WG_TILE_STATE_OFFSET);
    dev->tile->seed = seed;
    dev->tile->perturbed = perturbed;
    wg_fast_update(dev->tile);
    memset(dev->tile->expander_stalled, 0, sizeof dev->tile->expander_stalled);
    memset(dev->tile->unmet, 0xFF, sizeof dev->tile->unmet);
    wg_findings_clear(dev);
    dev->tile->regions.niu.coordinate = place;
    wg_tile_reset(dev->tile);
    dev->refusals = 0;
    dev->rest_at = 0;
    wg_poll_reset(dev->tile);
    if (dev->clock) { /* a tile of a chip keeps its place and its time */
        wg_niu_firmware(dev->tile, dev->harvested);
        dev->tile->sched.now = *dev->clock;
    }
    const wg_eth_link *l = dev->tile->link;
    if (l)
        wg_eth_link_begin(dev->tile,
                          &(wg_eth_terms){l->up_at, l->cut_at, l->again_at, l->lose_every, l->self, l->peer});
    return WG_OK;
}

uint64_t wg_cycle(const wg_device *dev) { return dev->clock ? *dev->clock : dev->tile->sched.now; }

bool wg_device_until_holds(const wg_device *dev)
{
    if (!dev->until.mask)
        return false;
    uint32_t word;
    memcpy(&word, dev->tile->l1 + dev->until.address, sizeof word);
    return (word & dev->until.mask) == dev->until.value;
}

wg_status wg_until(wg_device *dev, uint32_t address, uint32_t value, uint32_t mask)
{
    if (mask && (address % 4 || address > dev->tile->spec->l1_bytes - 4))
        return wg_fail(dev, WG_ERR_ADDRESS, "0x%08x is not the address of a word in L1 (%u KiB)", address,
                       dev->tile->spec->l1_bytes / 1024);
    dev->until.address = address;
    dev->until.value = value & mask;
    dev->until.mask = mask;
    return WG_OK;
}

void wg_stop_on(wg_device *dev, wg_severity at)
{
    dev->stop_at = at;
    dev->stop_requested = false;
}

/* Nothing can move: is all work done, or is this a hang (time.md rule 11)? */
static wg_stop at_rest(const wg_tile *t)
{
    for (unsigned i = 0; i < WG_CORES; i++)
        /* Decided here: a parked core with a request that is stalled forever is not done. */
        if (!wg_core_parked(t, i) || t->regions.memory.active[i])
            return WG_STOP_HUNG;
    if (!wg_niu_idle(t) || !wg_eth_link_quiet(t))
        return WG_STOP_HUNG;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (!wg_thread_idle(t, i))
            return WG_STOP_HUNG;
    return WG_STOP_DONE;
}

/*
 * No agent is scheduled. Returns the cycle at which the device became idle. A core may have run ahead to the point where it
 * stalls; the stall is detected in the cycle after its last instruction.
 */
static uint64_t rests_at(const wg_tile *t)
{
    uint64_t at = t->sched.now;
    for (unsigned i = 0; i < WG_CORES; i++) {
        const wg_core_run *run = &t->core[i].run;
        if (!run->halt && run->last + 2 > at)
            at = run->last + 2;
    }
    return at;
}

/*
 * The Scalar Unit's ATCAS or ATINCGETPTR keeps retrying. If nobody else can act, the word it reads cannot change. Two further
 * refusals prove it: the second one answers a request sent within that time. The answers wake the threads and the requests
 * that wait for idle threads, but nothing moves. If cores poll at the same time, poll.c compares both.
 */
static bool retries_for_ever(wg_device *dev)
{
    const wg_tile *t = dev->tile;
    bool only_retries = wg_scalar_retrying(t);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        only_retries &= t->sched.next[i] == WG_NEVER || i == WG_AGENT_SCALAR || i == WG_AGENT_REGIONS ||
                        (i >= WG_AGENT_THREAD0 && i <= WG_AGENT_THREAD2);
    uint64_t now = only_retries ? wg_tile_progress(t) : 0;
    if (!only_retries || !dev->refusals || now != dev->progress) {
        dev->refusals = only_retries ? t->backend.scalar.refusals : 0;
        dev->progress = now;
        return false;
    }
    return t->backend.scalar.refusals >= dev->refusals + 2;
}

/* The cycle up to which poll.c need not be called. */
static uint64_t undisturbed(const wg_tile *t, uint64_t end)
{
    if (t->poll.look_at < end)
        end = t->poll.look_at;
    return t->poll.stop_at >= t->sched.now && t->poll.stop_at < end ? t->poll.stop_at : end;
}

/*
 * The cycle up to which cores may run ahead with private work. A host that advances time usually continues, and reads memory
 * rather than cores, so cores may pass the end of its run; reading a core rolls it back. A run that ends at a stop ends with
 * all cores in that cycle.
 */
static uint64_t ahead_limit(uint64_t limit, bool may_stop)
{
    enum { BEYOND = 256 };
    return may_stop || limit > WG_NEVER - 1 - BEYOND ? limit : limit + BEYOND;
}

/*
 * Runs to `limit`. With `may_stop`, returns where rule 11 ends a run; without, idle time passes until the limit, since a host
 * may act then.
 */
static wg_stop run(wg_device *dev, uint64_t limit, bool may_stop)
{
    wg_tile *t = dev->tile;
    wg_schedule *s = &t->sched;
    t->limit = t->horizon = limit;
    t->ahead_limit = ahead_limit(limit, may_stop);
    t->l1_watched = may_stop && dev->until.mask;
    if (may_stop != t->poll.may_stop) { /* rounds that were skipped do not count */
        t->poll.may_stop = may_stop;
        wg_poll_reset(t);
        dev->refusals = 0;
    }
    dev->stop_requested = false;
    while (s->now < limit) {
        if (may_stop && wg_device_until_holds(dev))
            return WG_STOP_UNTIL;
        if (!wg_tile_others_due(t)) {
            uint64_t next = wg_tile_next(t);
            if (next == WG_NEVER && may_stop) {
                uint64_t rest = rests_at(t);
                s->now = rest < limit ? rest : limit;
                if (rest < limit)
                    return at_rest(t);
                break;
            }
            if (!t->lockstep && next > s->now) { /* lockstep: every cycle is ticked */
                uint64_t to = next < limit ? next : limit;
                if (t->poll.stop_at >= s->now && t->poll.stop_at < to && next != WG_NEVER)
                    to = t->poll.stop_at;
                s->now = to;
                if (to == limit)
                    break;
            }
        }
        if (s->now >= t->poll.look_at) {
            if (wg_poll_look(t, limit, may_stop))
                return WG_STOP_HUNG;
            if (s->now >= limit)
                break;
        }
        if (wg_fast_core_groups(t)) {
            if (dev->stop_requested && may_stop)
                return WG_STOP_FINDING;
            continue;
        }
        if (may_stop && dev->until.mask)
            wg_tile_cycle(t);
        else
            wg_tile_cycles(t, undisturbed(t, limit));
        if (__builtin_expect(t->backend.scalar.refusals != 0, 0) && may_stop && retries_for_ever(dev))
            return WG_STOP_HUNG;
        if (dev->stop_requested && may_stop)
            return WG_STOP_FINDING;
    }
    return may_stop && wg_device_until_holds(dev) ? WG_STOP_UNTIL : WG_STOP_CYCLES;
}

wg_stop wg_device_at_rest(const wg_device *dev) { return at_rest(dev->tile); }

void wg_device_may_stop(wg_device *dev, bool may_stop)
{
    if (dev->tile->poll.may_stop == may_stop)
        return;
    wg_look(dev); /* ends a skip in progress */
    dev->tile->poll.may_stop = may_stop;
    wg_poll_reset(dev->tile);
}

uint64_t wg_device_window(wg_device *dev, uint64_t end, uint64_t limit)
{
    wg_tile *t = dev->tile;
    wg_schedule *s = &t->sched;
    t->limit = limit;
    t->ahead_limit = ahead_limit(limit, t->poll.may_stop);
    t->horizon = end;
    t->l1_watched = dev->until.mask;
    dev->rest_at = WG_NEVER;
    wg_fast_polls_resume(t, end);
    while (s->now < (end = t->horizon)) {
        uint64_t next = wg_tile_others_due(t) ? s->now : wg_tile_next(t);
        if (next == WG_NEVER)
            dev->rest_at = rests_at(t);
        if (next > s->now && (!t->lockstep || next == WG_NEVER)) { /* likewise */
            uint64_t to = next < end ? next : end;
            if (t->poll.stop_at >= s->now && t->poll.stop_at < to && next != WG_NEVER)
                to = t->poll.stop_at;
            s->now = to;
            if (to == end)
                break;
        }
        if (s->now >= t->poll.look_at) {
            wg_poll_look(t, end, false);
            if (s->now >= end)
                break;
        }
        if (!wg_fast_core_groups(t))
            wg_tile_cycles(t, undisturbed(t, end));
    }
    if (dev->rest_at == WG_NEVER && wg_tile_next(t) == WG_NEVER)
        dev->rest_at = rests_at(t);
    return end;
}

void wg_device_catch_up(wg_device *dev)
{
    const wg_poll *p = &dev->tile->poll;
    const bool looks =
        p->stop_at >= dev->tile->sched.now && p->stop_at < *dev->clock; /* poll.c must look in that very cycle */
    if (p->settled || (looks && wg_tile_next(dev->tile) != WG_NEVER))   /* run the rest of a round */
        wg_device_window(dev, *dev->clock, *dev->clock);
    if (dev->tile->sched.now < *dev->clock)
        dev->tile->sched.now = *dev->clock;
}

static uint64_t limit_after(const wg_device *dev, uint64_t cycles)
{
    uint64_t now = dev->tile->sched.now;
    return cycles < WG_NEVER - 1 - now ? now + cycles : WG_NEVER - 1;
}

wg_status wg_run(wg_device *dev, uint64_t cycles, wg_stop *stop)
{
    wg_stop why = run(dev, limit_after(dev, cycles), true);
    dev->hung_at = why == WG_STOP_HUNG ? dev->tile->sched.now : 0;
    if (stop)
        *stop = why;
    return WG_OK;
}

bool wg_device_is_done(wg_device *dev)
{
    wg_look(dev);
    return wg_tile_next(dev->tile) == WG_NEVER && at_rest(dev->tile) == WG_STOP_DONE;
}

bool wg_device_hangs(wg_device *dev)
{
    const wg_tile *t = dev->tile;
    wg_look(dev);
    if (wg_tile_next(t) == WG_NEVER)
        return at_rest(t) == WG_STOP_HUNG;
    return (dev->hung_at && dev->hung_at == t->sched.now) || wg_poll_endless(t);
}

wg_status wg_advance(wg_device *dev, uint64_t cycles)
{
    run(dev, limit_after(dev, cycles), false);
    return WG_OK;
}

static void update_watched(wg_device *dev)
{
    uint64_t kinds = 0;
    for (int i = 0; i < WG_MAX_OBSERVERS; i++)
        kinds |= dev->observer[i].kinds;
    dev->tile->watched = kinds;
    wg_fast_update(dev->tile);
    wg_threads_listen(&dev->tile->sched);
    memset(dev->tile->expander_stalled, 0, sizeof dev->tile->expander_stalled);
    memset(dev->tile->unmet, 0xFF, sizeof dev->tile->unmet);
    wg_reach(dev);
}

wg_status wg_observe(wg_device *dev, uint64_t kinds, wg_observer_fn fn, void *user, int *id)
{
    if (!fn || !kinds)
        return wg_fail(dev, WG_ERR_ARGUMENT, "an observer needs a function and at least one kind of event");
    for (int i = 0; i < WG_MAX_OBSERVERS; i++) {
        if (dev->observer[i].kinds)
            continue;
        dev->observer[i] = (wg_observer){kinds, fn, user};
        update_watched(dev);
        if (id)
            *id = i;
        return WG_OK;
    }
    return wg_fail(dev, WG_ERR_STATE, "all %d observer slots are taken", WG_MAX_OBSERVERS);
}

void wg_unobserve(wg_device *dev, int id)
{
    if (id < 0 || id >= WG_MAX_OBSERVERS)
        return;
    dev->observer[id].kinds = 0;
    update_watched(dev);
}

wg_status wg_push(wg_device *dev, unsigned thread, uint32_t word) { return wg_push_from(dev, thread, word, 0); }

wg_status wg_push_from(wg_device *dev, unsigned thread, uint32_t word, uint32_t pc)
{
    if (thread >= WG_THREADS)
        return wg_fail(dev, WG_ERR_ARGUMENT, "thread %u does not exist", thread);
    if (pc && !WG_IS_HOST_PC(pc))
        return wg_fail(dev, WG_ERR_ARGUMENT, "0x%08x is no number from WG_HOST_PC on", pc);
    wg_stall why = {0};
    wg_act(dev);
    if (!wg_push_words(dev->tile, thread, (wg_core_id)(WG_CORE_T0 + thread), pc, &word, 1, &why))
        return wg_fail(dev, WG_ERR_STATE, "thread %u's instruction FIFO is full", thread);
    return WG_OK;
}

size_t wg_finding_count(const wg_device *dev) { return dev->findings; }

uint32_t wg_l1_bytes(const wg_device *dev) { return dev->tile->spec->l1_bytes; }

void wg_findings_clear(wg_device *dev)
{
    dev->findings = 0;
    dev->findings_dropped = 0;
    dev->stop_requested = false;
}

const wg_finding *wg_finding_at(const wg_device *dev, size_t index)
{
    return index < dev->findings ? &dev->finding[index] : NULL;
}
