/* SPDX-License-Identifier: Apache-2.0 */
/* States that repeat each other, by the kinds of state.def; see repeat.h. */
#include "machine/repeat.h"

#include <string.h>

#include "noc/network.h"
#include "riscv/lsu.h"

enum {
    REMEMBERED = WG_RETIRE_QUEUE + 1, /* including the last one to leave the retire queue: the next leaves after it */
    MERGE_TIMER = 32                  /* a store waits less than this for others to merge with it */
};

/* As wg_moves, for one core. */
typedef struct span {
    uint64_t then, now, later, number;
    uint32_t further;
} span;

static inline bool same_times(const span *v, const void *a, const void *b, size_t bytes)
{
    const uint64_t *x = a, *y = b;
    for (size_t i = 0; i < bytes / 8; i++)
        if (y[i] != wg_moved(x[i], v->later) && (x[i] > v->then || y[i] > v->now))
            return false;
    return true;
}

static inline void move_times(void *times, size_t bytes, uint64_t later)
{
    uint64_t *x = times;
    for (size_t i = 0; i < bytes / 8; i++)
        x[i] = wg_moved(x[i], later);
}

#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define TYPE JOIN(wg_, T)
#define UNUSED __attribute__((unused)) /* most structures need none of these */

/* clang-format off */
/* same_T(): compares the members of a structure; parts and rings are left to the caller. */
#define STATE UNUSED static inline bool JOIN(same_, T)(const TYPE *a, const TYPE *b, const span *v) { (void)a, (void)b, (void)v;
#define FIELD(m) if (memcmp(&a->m, &b->m, sizeof a->m) != 0) return false;
#define TIME(m) if (!same_times(v, &a->m, &b->m, sizeof a->m)) return false;
#define DUE(m) if (b->m != wg_moved(a->m, v->later)) return false;
#define NUMBER(m) if (b->m != a->m + v->number) return false;
#define ADDRESS(m) if (b->m != a->m + v->further) return false;
#define SINCE(m) FIELD(m)
#define PAST(m)
#define RING(m)
#define DATA(m)
#define DATA8(m, most)
#define PLACE(m, most)
#define COUNT(m)
#define COUNT32(m)
#define PART(m, of)
#define DERIVED(m)
#define END(check) return true; }
#include "engine/state.def"

/* contents_T(): compares the members that are contents. */
#define STATE UNUSED static inline bool JOIN(contents_, T)(const TYPE *a, const TYPE *b) { (void)a, (void)b;
#define FIELD(m)
#define DATA(m) if (memcmp(&a->m, &b->m, sizeof a->m) != 0) return false;
#define DATA8(m, most) DATA(m)
#define END(check) return true; }
#include "engine/state.def"

/* move_T(): moves members and parts, except rings. */
#define STATE UNUSED static inline void JOIN(move_, T)(TYPE *x, const span *v) { (void)x, (void)v;
#define FIELD(m)
#define TIME(m) move_times(&x->m, sizeof x->m, v->later);
#define SINCE(m)
#define RING(m)
#define NUMBER(m) x->m += v->number;
#define ADDRESS(m) x->m += v->further;
#define PART(m, of) \
    for (size_t i = 0; i < sizeof x->m / sizeof(JOIN(wg_, of)); i++) JOIN(move_, of)((JOIN(wg_, of) *)&x->m + i, v);
#define END(check) }
#include "engine/state.def"
/* clang-format on */

void wg_shot_take(const wg_tile *t, unsigned cores, wg_shot *s)
{
    const wg_memory *m = &t->regions.memory;
    s->now = t->sched.now;
    for (; cores; cores &= cores - 1) {
        const unsigned c = (unsigned)__builtin_ctz(cores);
        const wg_request_queue *l1 = &m->queue[c][WG_PATH_L1];
        unsigned n = 0, heads = 0;
        s->run[c] = t->core[c].run;
        s->active[c] = m->active[c];
        for (uint32_t queues = m->active[c]; queues; queues &= queues - 1) {
            const wg_request_queue *queue = &m->queue[c][__builtin_ctz(queues)];
            s->retry_at[c][heads++] = queue->retry_at;
            for (unsigned i = 0; i < queue->count && n < WG_QUEUE_DEPTH; i++)
                s->request[c][n++] = queue->ring[(queue->head + i) % WG_QUEUE_DEPTH];
        }
        s->requests[c] = (uint8_t)n;
        s->queue_head[c] = l1->head;
        s->last_seen_at[c] = l1->last_seen_at;
        s->emitted[c] = m->emitted[c];
    }
    memcpy(s->port_free, m->l1.port_free, sizeof s->port_free);
    memcpy(s->bank_free, m->l1.bank_free, sizeof s->bank_free);
    memcpy(s->turn, m->l1.turn, sizeof s->turn);
}

static bool same_ring(const span *v, const wg_core_run *a, const wg_core_run *b)
{
    for (unsigned i = 1; i <= REMEMBERED; i++) {
        const unsigned x = (unsigned)((a->number - i) % WG_RETIRE_RING),
                       y = (unsigned)((b->number - i) % WG_RETIRE_RING);
        if (!same_times(v, &a->retired[x], &b->retired[y], 8) || !same_times(v, &a->filled[x], &b->filled[y], 8))
            return false;
        if (i <= WG_RETIRE_QUEUE && ((a->dests ^ b->dests) >> 8 * (i - 1) & 0xFF) && b->retired[y] > v->now)
            return false; /* a retired result is no longer forwarded */
    }
    return true;
}

/* The instruction that waits in EX1, and until when if that is known (wait_e, wait_m). */
static bool same_ex1_wait(const span *v, const wg_core_run *a, const wg_core_run *b)
{
    if (a->ex1.kind != b->ex1.kind)
        return false;
    const bool told = a->ex1.kind ? a->wait_e == a->ex1.entered : a->wait_e >= v->then;
    const bool also = b->ex1.kind ? b->wait_e == b->ex1.entered : b->wait_e >= v->now;
    if (told != also || (told && (b->wait_e != a->wait_e + v->later || !same_times(v, &a->wait_m, &b->wait_m, 8))))
        return false;
    return !a->ex1.kind || same_ex1(&a->ex1, &b->ex1, v);
}

static bool same_stores(const span *v, const wg_core_run *a, const wg_core_run *b)
{
    for (unsigned i = 0; i < a->sq_count; i++) {
        const wg_store *x = wg_sq_peek(a, i), *y = wg_sq_peek(b, i);
        const bool stuck = x->entered + MERGE_TIMER < v->then && y->entered + MERGE_TIMER < v->now;
        if (!same_store(x, y, v) || (y->entered != x->entered + v->later && !stuck))
            return false;
        /* The second store's `first` ends the first store's wait, whose own `first` is then irrelevant. */
        if (i && y->first != x->first + v->later && !stuck)
            return false;
    }
    return true;
}

bool wg_same_run(const wg_core_run *a, const wg_core_run *b, const wg_moves *moves, unsigned core)
{
    const span v = {moves->then, moves->now, moves->later, moves->number[core], moves->further[core]};
    if (!same_core_run(a, b, &v) || !same_ring(&v, a, b) || !same_ex1_wait(&v, a, b) || !same_stores(&v, a, b))
        return false;
    for (unsigned i = 0; (a->loads | b->loads) && i < WG_LOADS; i++)
        if (a->load[i].used != b->load[i].used || (a->load[i].used && !same_load(&a->load[i], &b->load[i], &v)))
            return false;
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (a->fetch[i].used != b->fetch[i].used || (a->fetch[i].used && !same_fetch(&a->fetch[i], &b->fetch[i], &v)))
            return false;
    return true;
}

bool wg_same_contents(const wg_core_run *a, const wg_core_run *b)
{
    if (!contents_core_run(a, b) || a->l0_victim != b->l0_victim || (a->ex1.kind && !contents_ex1(&a->ex1, &b->ex1)))
        return false;
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (a->load[i].used && !contents_load(&a->load[i], &b->load[i]))
            return false;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (a->l0[i].tag != b->l0[i].tag ||
            (a->l0[i].tag && (a->l0[i].stale != b->l0[i].stale || !contents_l0_line(&a->l0[i], &b->l0[i]))))
            return false;
    for (unsigned i = 0; i < a->sq_count; i++) { /* only the bytes that it writes */
        const wg_store *x = wg_sq_peek(a, i), *y = wg_sq_peek(b, i);
        const uint32_t mask = x->path == WG_PATH_L1 ? x->mask : (UINT32_C(1) << x->bytes) - 1;
        for (unsigned k = 0; k < sizeof x->data; k++)
            if ((mask >> k & 1) && ((const uint8_t *)x->data)[k] != ((const uint8_t *)y->data)[k])
                return false;
    }
    return true;
}

/* A read is described by its load or fetch, which is compared elsewhere. */
static bool same_request_of(const span *v, const wg_request *x, const wg_request *y, bool contents)
{
    if (x->kind != y->kind || x->tag != y->tag || !same_times(v, &x->seen_at, &y->seen_at, 8))
        return false;
    return x->kind == WG_REQ_READ || (same_request(x, y, v) && (!contents || contents_request(x, y)));
}

bool wg_same_requests(const wg_tile *t, const wg_shot *s, const wg_moves *moves, unsigned core, bool contents)
{
    const wg_memory *m = &t->regions.memory;
    const span v = {moves->then, moves->now, moves->later, moves->number[core], moves->further[core]};
    unsigned n = 0, heads = 0;
    if (s->active[core] != m->active[core] ||
        !same_times(&v, &s->last_seen_at[core], &m->queue[core][WG_PATH_L1].last_seen_at, 8))
        return false;
    for (uint32_t queues = m->active[core]; queues; queues &= queues - 1) {
        const wg_request_queue *queue = &m->queue[core][__builtin_ctz(queues)];
        if (!same_times(&v, &s->retry_at[core][heads++], &queue->retry_at, 8))
            return false;
        for (unsigned i = 0; i < queue->count && n < WG_QUEUE_DEPTH; i++, n++)
            if (n == s->requests[core] ||
                !same_request_of(&v, &s->request[core][n], &queue->ring[(queue->head + i) % WG_QUEUE_DEPTH], contents))
                return false;
    }
    return n == s->requests[core];
}

bool wg_same_ports(const wg_tile *t, const wg_shot *s, const wg_moves *v, unsigned first, unsigned last,
                   uint32_t further)
{
    const wg_l1_ports *p = &t->regions.memory.l1;
    const unsigned banks = t->arch->l1_banks - 1, ahead = further / WG_L1_LINE;
    for (unsigned i = first; i <= last; i++)
        if (s->turn[i] != p->turn[i] || !wg_same_time(v, s->port_free[i], p->port_free[i]))
            return false;
    for (unsigned i = 0; i <= banks; i++) {
        const uint64_t x = s->bank_free[i], y = p->bank_free[(i + ahead) & banks];
        if ((x > v->then || y > v->now) && y != x + v->later)
            return false;
    }
    return true;
}

bool wg_same_pcbufs(const wg_pcbufs *a, const wg_pcbufs *b, const wg_moves *moves)
{
    const span v = {.then = moves->then, .now = moves->now, .later = moves->later};
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (!same_fifo(&a->fifo[i], &b->fifo[i], &v))
            return false;
    return same_pcbufs(a, b, &v);
}

bool wg_same_scalar(const wg_scalar *a, const wg_scalar *b, const wg_moves *moves)
{
    const span v = {.then = moves->then, .now = moves->now, .later = moves->later};
    for (unsigned i = 0; i < a->count; i++)
        if (memcmp(&a->request[i].insn, &b->request[i].insn, sizeof a->insn) != 0 ||
            !same_scalar_request(&a->request[i], &b->request[i], &v))
            return false;
    return memcmp(&a->insn, &b->insn, sizeof a->insn) == 0 && same_stall(&a->stall, &b->stall, &v) &&
           same_scalar(a, b, &v);
}

void wg_move_run(wg_core_run *run, uint64_t later, uint64_t number, uint32_t further)
{
    const span v = {.later = later, .number = number, .further = further};
    uint64_t retired[WG_RETIRE_RING], filled[WG_RETIRE_RING];
    memcpy(retired, run->retired, sizeof retired);
    memcpy(filled, run->filled, sizeof filled);
    for (unsigned i = 0; i < WG_RETIRE_RING; i++) {
        run->retired[(i + number) % WG_RETIRE_RING] = wg_moved(retired[i], later);
        run->filled[(i + number) % WG_RETIRE_RING] = wg_moved(filled[i], later);
    }
    move_core_run(run, &v);
}

void wg_move_queue(wg_request_queue *queue, uint64_t later, uint32_t further)
{
    move_request_queue(queue, &(span){.later = later, .further = further});
}

void wg_advance_queue(wg_request_queue *queue, uint64_t later, uint32_t further, unsigned pops)
{
    if (!queue->count && !pops) {
        queue->last_seen_at += later;
        return;
    }
    wg_move_queue(queue, later, further);
    const wg_request_queue b = *queue;
    queue->head = (uint8_t)((b.head + pops) % WG_QUEUE_DEPTH);
    for (unsigned i = 0; i < b.count; i++) {
        wg_request *req = &queue->ring[(queue->head + i) % WG_QUEUE_DEPTH];
        *req = b.ring[(b.head + i) % WG_QUEUE_DEPTH];
        memcpy(req->data, b.ring[req - queue->ring].data, sizeof req->data);
    }
}

void wg_move_ports(wg_l1_ports *ports, uint64_t later) { move_l1_ports(ports, &(span){.later = later}); }
void wg_move_pcbufs(wg_pcbufs *p, uint64_t later) { move_pcbufs(p, &(span){.later = later}); }
void wg_move_scalar(wg_scalar *u, uint64_t later) { move_scalar(u, &(span){.later = later}); }
