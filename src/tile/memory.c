/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of memory requests and their dispatch to the regions: see memory.h. */
#include "machine/memory.h"

#include <string.h>
#include "machine/auto_ttsync.h"
#include "machine/fast.h"
#include "report/touch.h"
#include "machine/tile.h"

/* Regions shared by all cores that accept one request per cycle in total (MemoryOrdering.md). */
static const uint32_t one_per_cycle =
    1u << WG_PATH_SLOW_RAM | 1u << WG_PATH_GPR | 1u << WG_PATH_CONFIG | 1u << WG_PATH_TDMA | 1u << WG_PATH_DST |
    1u << WG_PATH_TILE_REGS | 1u << WG_PATH_NIU0 | 1u << WG_PATH_NIU1 | 1u << WG_PATH_OVERLAY | 1u << WG_PATH_ETH;
/* Paths tracked by Auto TTSync and by the Wait Gate's condition on RISC-V requests (GATE-17). */
static const uint32_t tracked = 1u << WG_PATH_GPR | 1u << WG_PATH_CONFIG | 1u << WG_PATH_TDMA;
static const uint32_t not_dispatched = 1u << WG_PATH_L1 | 1u << WG_PATH_PUSH;

void wg_regions_reset(wg_tile *t) { wg_windows_reset(t); }

/*
 * Decided here: a delay never lets a push overtake the core's stores to MOP configuration, nor a push or a message its
 * stores to the semaphores; every kernel relies on that.
 */
static void keep_behind(const wg_memory *m, wg_request *req)
{
    const wg_request_queue *queue = m->queue[req->core];
    bool push = req->path == WG_PATH_PUSH, message = req->path == WG_PATH_MAILBOX_WRITE;
    for (unsigned i = 0; i < 2 && (push || message); i++) {
        const wg_request_queue *other = &queue[i ? WG_PATH_SYNC : WG_PATH_MOP_CFG];
        uint64_t done = other->last_seen_at + other->count; /* its requests are processed one per cycle */
        if ((i || push) && req->seen_at < done)
            req->seen_at = done;
    }
}

void wg_memory_emit(wg_tile *t, wg_request *req)
{
    wg_memory *m = &t->regions.memory;
    unsigned index = wg_queue_of(req->path, req->index);
    wg_request_queue *queue = &m->queue[req->core][index];
    const uint32_t travel = t->timing->path[req->path].travel;
    req->seen_at =
        t->sched.now +
        (req->kind == WG_REQ_WRITE || wg_request_is_fetch(req) ? travel
                                                               : wg_load_travels(t, req->core, req->pc, travel)) +
        wg_perturb(t, WG_SITE_TRAVEL, WG_AGENT_CORE_B + req->core, ++m->emitted[req->core]);
    if (__builtin_expect(t->perturbed, 0))
        keep_behind(m, req);
    if (queue->count == WG_QUEUE_DEPTH) /* cannot happen: four loads plus a path's stages fit */
        return;
    if (!queue->count)
        queue->why.reason = WG_STALL_NONE;
    wg_request *place = wg_queue_append(m, req->core, index, req->seen_at);
    req->seen_at = place->seen_at;
    *place = *req;
    if (req->kind == WG_REQ_WRITE && req->path != WG_PATH_L1)
        wg_poll_disturb(t);
    wg_ttsync_note_emitted(t, req->core, (wg_path)req->path, req->address, req->kind == WG_REQ_WRITE);
    if (req->path != WG_PATH_PUSH)
        wg_wake_at(&t->sched, WG_AGENT_REGIONS, req->seen_at);
    else if (queue->count == 1) /* else an earlier request has a wake-up, or waits for room */
        wg_wake_at(&t->sched, WG_AGENT_PUSHES, req->seen_at);
    WG_EMIT(t, WG_EV_CORE_REQUEST, WG_AGENT_CORE_B + req->core, .a = req->address, .b = req->data[0], .c = req->kind,
            .pc = req->pc, .parent = req->overtakes,
            .word = WG_REQUEST_WORD(req->path, req->index, req->bytes, req->rd));
}

void wg_memory_drop(wg_tile *t, unsigned core)
{
    wg_memory *m = &t->regions.memory;
    for (unsigned i = 0; i < WG_REQUEST_QUEUES; i++)
        m->queue[core][i].count = 0;
    m->active[core] = 0;
    wg_ttsync_core_stopped(t, core);
    wg_wake_threads(&t->sched);
}

unsigned wg_memory_pending_on(const wg_tile *t, unsigned core, unsigned path)
{
    return path < WG_PATH_COUNT && core < WG_CORES ? t->regions.memory.queue[core][path].count : 0;
}

unsigned wg_memory_pending(const wg_tile *t, unsigned core)
{
    return wg_memory_pending_on(t, core, WG_PATH_GPR) + wg_memory_pending_on(t, core, WG_PATH_CONFIG) +
           wg_memory_pending_on(t, core, WG_PATH_TDMA);
}

#define IRAM UINT32_C(0xFFC00000) /* as the core sees it */

bool wg_iram_write(wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, const void *from)
{
    const uint32_t size = t->spec->core[core].iram_bytes;
    if (offset > size || bytes > size - offset)
        return false;
    wg_core_sync(t, core);
    memcpy(t->regions.memory.iram + offset, from, bytes);
    wg_core_iram_changed(t, core);
    return true;
}

bool wg_code_word(const wg_tile *t, uint32_t pc, uint32_t *word)
{
    const uint32_t offset = pc - IRAM;
    uint32_t bytes = 0;
    for (unsigned c = 0; c < t->spec->cores; c++)
        bytes = t->spec->core[c].iram_bytes > bytes ? t->spec->core[c].iram_bytes : bytes;
    if (pc % 4 == 0 && pc <= t->spec->l1_bytes - 4)
        memcpy(word, t->l1 + pc, 4);
    else if (pc % 4 == 0 && bytes && offset <= bytes - 4)
        memcpy(word, t->regions.memory.iram + offset, 4);
    else
        return false;
    return true;
}

/* The head has been processed. */
static void take(wg_tile *t, unsigned core, unsigned index, const uint32_t value[4])
{
    wg_memory *m = &t->regions.memory;
    const wg_request_queue *queue = &m->queue[core][index];
    const wg_request req = queue->ring[queue->head];
    wg_queue_pop(m, core, index);
    if (tracked >> req.path & 1) {
        wg_ttsync_note_processed(t, core, (wg_path)req.path, req.address, req.kind == WG_REQ_WRITE);
        wg_wake_threads(&t->sched);
    }
    WG_EMIT(t, WG_EV_CORE_RESPONSE, WG_AGENT_CORE_B + core, .a = req.address, .b = value[0], .c = req.kind,
            .pc = req.pc, .word = WG_REQUEST_WORD(req.path, req.index, req.bytes, req.rd));
    if (wg_touch_l1_watched(t))
        wg_request_touch(t, &req);
    wg_core_respond(t, &req, value);
}

/* The head stalls; from now on observers of stalls see its core wait for that reason. */
static void refused(wg_tile *t, unsigned core)
{
    if (wg_watched(t, WG_EV_STALL_BEGIN))
        wg_core_wake(t, core);
}

/* Offers a queue's head to its region; true if it was processed. */
static bool offer(wg_tile *t, unsigned core, unsigned index)
{
    wg_request_queue *queue = &t->regions.memory.queue[core][index];
    const wg_request *req = &queue->ring[queue->head];
    if (req->seen_at > t->sched.now)
        return false;
    wg_region_fn handler = wg_region_handlers[req->path];
    uint32_t value[4] = {0};
    wg_stall why = {.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    wg_region_answer answer = WG_REGION_DONE;
    if ((tracked >> req->path & 1) &&
        wg_ttsync_core_blocked(t, core, (wg_path)req->path, req->address, req->kind == WG_REQ_WRITE, &why))
        answer = WG_REGION_WAIT;
    else if (handler)
        answer = handler(t, req, value, &why);
    if (answer == WG_REGION_DONE) {
        take(t, core, index, value);
        return true;
    }
    queue->retry_at = answer == WG_REGION_WAIT ? why.retry_at : WG_NEVER;
    queue->why = why;
    refused(t, core);
    return false;
}

static void serve_l1(wg_tile *t, unsigned core)
{
    wg_request_queue *queue = &t->regions.memory.queue[core][WG_PATH_L1];
    const wg_request *req = &queue->ring[queue->head];
    wg_l1_access access = req->kind == WG_REQ_READ                                ? WG_L1_READ
                          : req->kind == WG_REQ_WRITE && req->byte_mask == 0xFFFF ? WG_L1_WRITE
                                                                                  : WG_L1_NARROW;
    uint64_t retry = 0;
    if (!wg_l1_ask(t, (wg_l1_client)core, req->address, access, &retry)) {
        wg_queue_waits_for_port(queue, wg_l1_port((wg_l1_client)core), retry);
        refused(t, core);
        return;
    }
    if (__builtin_expect(t->what_if != NULL, 0) && access == WG_L1_NARROW)
        wg_l1_hold(t, (wg_l1_client)core, req->address,
                   wg_takes_carried(t->what_if, &t->carry[WG_CORES + WG_THREADS + core], core, core, req->pc,
                                    t->timing->narrow_write, 1));
    uint32_t value[4] = {0};
    if (req->kind == WG_REQ_READ) /* the whole line: the core selects its bytes, and its L0 cache keeps the line */
        wg_l1_read(t, req->address & ~15u, 16, value);
    else if (req->kind == WG_REQ_ATOMIC)
        value[0] = wg_l1_atomic(t, (wg_l1_client)core, req->address, req->op, req->data[0]);
    else
        wg_l1_write_masked(t, (wg_l1_client)core, req->address, req->byte_mask, req->data);
    t->l1_turns++;
    take(t, core, WG_PATH_L1, value);
}

/*
 * Arbitration among the cores of a port: the chosen request, granted or not, blocks the others.
 * Decided here: instruction fetches first, then round-robin. Measured on twelve rows of Blackhole: loops that miss the
 * instruction cache take as long beside other cores' loads and fetches as alone.
 */
static unsigned chosen_at(const wg_tile *t, unsigned which)
{
    const wg_memory *m = &t->regions.memory;
    unsigned chosen = WG_CORES;
    for (unsigned i = 0; i < WG_L1_INPUTS; i++) {
        unsigned core = wg_l1_core_at[which][(m->l1.turn[WG_L1_CORE_PORT + which] + i) % WG_L1_INPUTS];
        if (core >= WG_CORES || !(m->active[core] >> WG_PATH_L1 & 1))
            continue;
        const wg_request *req = &m->queue[core][WG_PATH_L1].ring[m->queue[core][WG_PATH_L1].head];
        if (req->seen_at > t->sched.now || (chosen < WG_CORES && !wg_request_is_fetch(req)))
            continue;
        chosen = core;
        if (wg_request_is_fetch(req))
            break;
    }
    return chosen;
}

static void serve_ports(wg_tile *t)
{
    wg_memory *m = &t->regions.memory;
    unsigned chosen[WG_L1_CORE_PORTS];
    const wg_request *head[WG_L1_CORE_PORTS];
    for (unsigned which = 0; which < WG_L1_CORE_PORTS; which++) {
        chosen[which] = chosen_at(t, which);
        head[which] = NULL;
        if (chosen[which] < WG_CORES) {
            const wg_request_queue *queue = &m->queue[chosen[which]][WG_PATH_L1];
            head[which] = &queue->ring[queue->head];
        }
    }
    if (head[0] && head[1] && wg_l1_gives_way(t, head[0]->address, head[1]->address)) {
        wg_queue_waits_for_port(&m->queue[chosen[0]][WG_PATH_L1], WG_L1_CORE_PORT, t->sched.now + 1);
        refused(t, chosen[0]);
        head[0] = NULL;
    }
    for (unsigned which = 0; which < WG_L1_CORE_PORTS; which++)
        if (head[which])
            serve_l1(t, chosen[which]);
}

/* The next cycle in which a queue's head can be offered. */
static uint64_t queue_next(const wg_request_queue *queue, uint64_t now)
{
    uint64_t seen_at = queue->ring[queue->head].seen_at;
    if (seen_at > now)
        return seen_at;
    return queue->retry_at > now ? queue->retry_at : now + 1;
}

void wg_regions_tick(wg_tile *t)
{
    wg_memory *m = &t->regions.memory;
    uint32_t any = 0;
    for (unsigned core = 0; core < WG_CORES; core++)
        any |= m->active[core];
    if (any >> WG_PATH_L1 & 1)
        serve_ports(t);
    for (uint32_t paths = any & one_per_cycle; paths; paths &= paths - 1) {
        unsigned path = (unsigned)__builtin_ctz(paths);
        for (unsigned i = 0; i < WG_CORES; i++) {
            unsigned core = (m->turn[path] + i) % WG_CORES;
            if ((m->active[core] >> path & 1) && offer(t, core, path)) {
                m->turn[path] = (uint8_t)((core + 1) % WG_CORES);
                break;
            }
        }
    }
    uint64_t next = WG_NEVER;
    for (unsigned core = 0; core < WG_CORES; core++) {
        for (uint32_t queues = m->active[core] & ~one_per_cycle & ~not_dispatched; queues; queues &= queues - 1)
            offer(t, core, (unsigned)__builtin_ctz(queues));
        for (uint32_t queues = m->active[core] & ~(1u << WG_PATH_PUSH); queues; queues &= queues - 1) {
            unsigned queue = (unsigned)__builtin_ctz(queues);
            uint64_t at = queue_next(&m->queue[core][queue], t->sched.now);
            /* a region that gave no retry time is offered the request again when the regions are woken */
            if (at < next)
                next = at;
        }
    }
    wg_wake_at(&t->sched, WG_AGENT_REGIONS, next);
}

/* Pushes the head of a core's queue of pushes, which has arrived; returns when to retry. */
static uint64_t push(wg_tile *t, unsigned core, wg_request_queue *queue)
{
    wg_request *req = &queue->ring[queue->head];
    const uint64_t now = t->sched.now;
    unsigned thread = req->index < WG_THREADS ? req->index : 0;
    if (queue->why.reason == WG_STALL_PUSH_FIFO_FULL &&
        t->frontend[thread].push_waits & (core == WG_CORE_B ? 2 : 1)) /* nothing has left since it was refused */
        return WG_NEVER;
    wg_stall why = {.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    unsigned words = req->bytes / 4u;
    if (core != WG_CORE_B) {
        const uint64_t known = wg_push_known_at(t, thread, words <= 4 ? words : 1);
        if (known > now && known != WG_NEVER) {
            queue->why =
                (wg_stall){WG_STALL_PUSH_FIFO_FULL, (uint16_t)thread, (uint8_t)(WG_AGENT_THREAD0 + thread), known};
            return known;
        }
    }
    unsigned taken = wg_push_words(t, thread, (wg_core_id)core, req->pc, req->data, words, &why);
    if (taken >= words) {
        WG_EMIT(t, WG_EV_CORE_RESPONSE, WG_AGENT_CORE_B + core, .a = req->address, .b = req->data[0], .c = req->kind,
                .pc = req->pc, .word = WG_REQUEST_WORD(req->path, req->index, req->bytes, req->rd));
        if (wg_touch_watched(t))
            wg_request_touch(t, req);
        wg_queue_pop(&t->regions.memory, core, WG_PATH_PUSH);
        wg_wake(&t->sched, WG_AGENT_CORE_B + core);
        wg_wake_idle_watchers(&t->sched);
        uint64_t at = queue->ring[queue->head].seen_at;
        if (queue->count && at <= now + 1 &&
            wg_fast_refuses_push(t, thread, (wg_core_id)core, queue->ring[queue->head].bytes / 4u, &queue->why))
            return WG_NEVER;
        return !queue->count ? WG_NEVER : at > now + 1 ? at : now + 1;
    }
    memmove(req->data, req->data + taken, (words - taken) * 4);
    req->bytes = (uint8_t)((words - taken) * 4);
    req->pc += taken * 4;
    queue->why = why;
    uint64_t retry = taken ? now + 1 : why.retry_at;
    return retry <= now ? now + 1 : retry;
}

/* Phase H of one core, if one of its pushes has arrived; returns when to retry. */
static uint64_t push_arrives(wg_tile *t, unsigned core)
{
    wg_request_queue *queue = &t->regions.memory.queue[core][WG_PATH_PUSH];
    uint64_t at = queue->ring[queue->head].seen_at;
    return at > t->sched.now ? at : push(t, core, queue);
}

void wg_regions_push(wg_tile *t)
{
    uint64_t next = WG_NEVER, at;
    for (unsigned core = 0; core < WG_CORES; core++) {
        if (!(t->regions.memory.active[core] >> WG_PATH_PUSH & 1))
            continue;
        at = push_arrives(t, core);
        next = at < next ? at : next;
    }
    wg_wake_at(&t->sched, WG_AGENT_PUSHES, next);
}
