/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host threads for the tiles of one window. They are started when first needed, and again in a forked child, which does not
 * inherit them. Each has its own share of the work, the same tiles from window to window if possible, so that their state
 * stays in its processor's cache; then it helps the others. A waiting thread spins for a short while and then sleeps, to
 * yield the processor.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip/grid.h"

enum { MOST = 64, SPINS = 2000 };

/* A thread's share of the work: next item and end. Fills a cache line. */
typedef struct part {
    _Alignas(64) atomic_uint at;
    unsigned end;
} part;

typedef struct wg_workers {
    pid_t pid;        /* the process that owns the threads */
    unsigned threads; /* besides the caller's */
    pthread_t thread[MOST];
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_uint round; /* counts windows */
    atomic_uint sleeping;
    atomic_uint numbered; /* threads that have taken their number */
    part part[MOST + 1];  /* the caller's is the first */
    atomic_uint working;  /* threads that have not finished this round */
    atomic_bool ends;
    atomic_bool caller_sleeps;
    wg_work_fn work;
    void *user;
} wg_workers;

static void pause_a_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void do_work(wg_workers *w, unsigned self)
{
    unsigned parts = w->threads + 1;
    for (unsigned k = 0; k < parts; k++) {
        part *p = &w->part[(self + k) % parts];
        for (unsigned i; atomic_load_explicit(&p->at, memory_order_relaxed) < p->end &&
                         (i = atomic_fetch_add_explicit(&p->at, 1, memory_order_relaxed)) < p->end;)
            w->work(w->user, i);
    }
}

static void *worker(void *argument)
{
    wg_workers *w = argument;
    unsigned seen = 0, self = 1 + atomic_fetch_add(&w->numbered, 1);
    for (;;) {
        for (unsigned i = 0; i < SPINS && atomic_load_explicit(&w->round, memory_order_acquire) == seen; i++)
            pause_a_moment();
        if (atomic_load_explicit(&w->round, memory_order_acquire) == seen) {
            pthread_mutex_lock(&w->lock);
            atomic_fetch_add(&w->sleeping, 1);
            while (atomic_load(&w->round) == seen)
                pthread_cond_wait(&w->wake, &w->lock);
            atomic_fetch_sub(&w->sleeping, 1);
            pthread_mutex_unlock(&w->lock);
        }
        seen = atomic_load_explicit(&w->round, memory_order_acquire);
        if (atomic_load(&w->ends))
            return NULL;
        do_work(w, self);
        if (atomic_fetch_sub(&w->working, 1) == 1 && atomic_load(&w->caller_sleeps)) {
            pthread_mutex_lock(&w->lock);
            pthread_cond_signal(&w->done);
            pthread_mutex_unlock(&w->lock);
        }
    }
}

static wg_workers *start(unsigned threads)
{
    wg_workers *w = aligned_alloc(64, sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->pid = getpid();
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->done, NULL);
    while (w->threads + 1 < threads && w->threads < MOST && !pthread_create(&w->thread[w->threads], NULL, worker, w))
        w->threads++;
    return w;
}

static void next_round(wg_workers *w)
{
    atomic_fetch_add(&w->round, 1);
    if (atomic_load(&w->sleeping)) {
        pthread_mutex_lock(&w->lock);
        pthread_cond_broadcast(&w->wake);
        pthread_mutex_unlock(&w->lock);
    }
}

void wg_workers_run(wg_workers **workers, unsigned threads, unsigned count, wg_work_fn work, void *user)
{
    if (*workers && (*workers)->pid != getpid()) {
        free(*workers); /* inherited by fork(): the parent's threads do not exist here */
        *workers = NULL;
    }
    if (!*workers)
        *workers = start(threads);
    wg_workers *w = *workers;
    if (!w || !w->threads) {
        for (unsigned i = 0; i < count; i++)
            work(user, i);
        return;
    }
    w->work = work;
    w->user = user;
    unsigned parts = w->threads + 1;
    for (unsigned i = 0; i < parts; i++) {
        w->part[i].end = count * (i + 1) / parts;
        atomic_store_explicit(&w->part[i].at, count * i / parts, memory_order_relaxed);
    }
    atomic_store(&w->working, w->threads);
    next_round(w);
    do_work(w, 0);
    for (unsigned i = 0; i < SPINS && atomic_load_explicit(&w->working, memory_order_acquire); i++)
        pause_a_moment();
    if (!atomic_load_explicit(&w->working, memory_order_acquire))
        return;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->caller_sleeps, true);
    while (atomic_load(&w->working))
        pthread_cond_wait(&w->done, &w->lock);
    atomic_store(&w->caller_sleeps, false);
    pthread_mutex_unlock(&w->lock);
}

void wg_workers_free(wg_workers *w)
{
    if (!w)
        return;
    if (w->pid == getpid()) {
        atomic_store(&w->ends, true);
        next_round(w);
        for (unsigned i = 0; i < w->threads; i++)
            pthread_join(w->thread[i], NULL);
        pthread_cond_destroy(&w->wake);
        pthread_cond_destroy(&w->done);
        pthread_mutex_destroy(&w->lock);
    }
    free(w);
}
