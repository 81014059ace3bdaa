/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploring a chip file: the whole chip under many legal timings.
 *
 *     unperturbed run ──races and sites of each tile──► delays at one tile, seeds ──workers──► outcomes ──shrink──► report
 *
 * chip_timings.c runs it.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/chip_explore.h"
#include "cli/meter.h"
#include "cli/processes.h"
#include "machine/device.h"

enum { MOST_RUNS = 1 << 20, SHRINKING_RUNS = 100 };

typedef struct board {
    atomic_size_t next;
    atomic_bool stop, failed;
    wg_chip_result at[];
} board;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The unperturbed run and the plan ------------------------------------------------------------------------ */

static bool run_base(wg_chip_explorer *x, wg_sites **sites)
{
    wg_chip_run *r = x->base;
    const bool limited = r->file.max_cycles != UINT64_MAX;
    const wg_exploration none = {.base = {.valid = false}};
    for (size_t i = 0; i < r->tiles; i++)
        if (!(sites[i] = wg_sites_new()) ||
            wg_observe(r->tile[i].s.dev, WG_SITES_EVENTS, wg_sites_event, sites[i], NULL) != WG_OK) {
            wg_textf(x->error, "waitgate: out of memory\n");
            return false;
        }
    if (!limited)
        r->file.max_cycles = wg_exploration_limit(&none);
    if (!wg_chip_drive(r, x->error))
        return false;
    if (r->ended == WG_ENDED_LIMIT || r->ended == WG_ENDED_INTERRUPT) {
        wg_textf(x->error,
                 "waitgate: the unperturbed run does not end within %llu cycles; give an `until` condition or a larger "
                 "--max-cycles\n",
                 (unsigned long long)wg_grid_cycle(r->grid));
        return false;
    }
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].s.races)
            wg_races_end(r->tile[i].s.races, wg_grid_cycle(r->grid), r->ended == WG_ENDED_DONE);
    if (!wg_chip_outcome(x, r, &x->base_result))
        return false;
    const wg_exploration base = {.base = x->base_result.outcome};
    x->limit = limited ? r->file.max_cycles : wg_exploration_limit(&base);
    return true;
}

static bool ignored(void *session, const wg_race *race) { return wg_check_ignores(session, race); }

/* ---- Workers --------------------------------------------------------------------------------------------------- */

static _Atomic(board *) shared;
static void on_interrupt(int number)
{
    (void)number;
    board *b = atomic_load(&shared);
    if (b)
        atomic_store(&b->stop, true);
}

static void work(wg_chip_explorer *x, board *b, double until)
{
    while (!atomic_load(&b->stop) && seconds_now() < until) {
        const size_t i = atomic_fetch_add(&b->next, 1);
        if (i >= x->trials)
            break;
        const wg_trial *t = &x->trial[i];
        wg_chip_result out;
        if (!wg_chip_timing(x, t->seed, t->directed ? &t->delay : NULL, t->directed, NULL, &out)) {
            atomic_store(&b->failed, true);
            break;
        }
        b->at[i] = out;
    }
}

static void show_progress(const wg_chip_explorer *x, size_t begun, double began, double until)
{
    const double now = seconds_now(), rate = (double)begun / (now - began > 0.01 ? now - began : 0.01);
    const double left = !begun ? until - now : begun < x->trials ? (double)(x->trials - begun) / rate : 0;
    fprintf(stderr, "\r\033[K%zu of %zu timings, %.0f per second, %.0f s left", begun < x->trials ? begun : x->trials,
            x->trials, rate,
            left < until - now ? left
            : until - now > 0  ? until - now
                               : 0);
    fflush(stderr);
}

/* What the workers do, until when. */
typedef struct shift {
    wg_chip_explorer *x;
    board *b;
    double began, until;
} shift;

static void work_shift(void *user)
{
    const shift *s = user;
    work(s->x, s->b, s->until);
    if (atomic_load(&s->b->failed))
        fprintf(stderr, "%s", wg_text_of(s->x->error));
}

static void show_shift(void *user)
{
    const shift *s = user;
    show_progress(s->x, atomic_load(&s->b->next), s->began, s->until);
}

static bool run_workers(wg_chip_explorer *x, board *b, double budget)
{
    const bool terminal = wg_meter_on();
    shift s = {x, b, seconds_now(), 0};
    wg_processes w = {.count = x->jobs, .work = work_shift, .progress = terminal ? show_shift : NULL, .user = &s};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    s.until = s.began + budget;
    atomic_store(&shared, b);
    sigaction(SIGINT, &action, &before);
    const bool whole = wg_processes_run(&w);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    sigaction(SIGINT, &before, NULL);
    atomic_store(&shared, NULL);
    x->busiest = w.busiest;
    x->seconds = seconds_now() - s.began;
    x->interrupted = atomic_load(&b->stop);
    if (!whole || atomic_load(&b->failed))
        wg_textf(x->error, "waitgate: a worker process ended unexpectedly; its timings are not counted\n");
    return whole && !atomic_load(&b->failed);
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static void sort_results(wg_chip_explorer *x, const board *b)
{
    for (size_t i = 0; i < x->trials; i++) {
        const wg_outcome *o = &b->at[i].outcome;
        const wg_trial *t = &x->trial[i];
        x->finished += o->valid;
        const bool differs = o->valid && !wg_outcome_same(o, &x->base_result.outcome);
        if (o->valid && t->race)
            x->race[t->race - 1].tried++;
        if (differs && t->race && !x->race[t->race - 1].witness)
            x->race[t->race - 1].witness = t;
        if (!differs)
            continue;
        x->differing++;
        size_t k = 0;
        while (k < x->kinds && !wg_outcome_same(o, &x->kind[k].d.outcome))
            k++;
        if (k == WG_CHIP_DIFFERENCES) {
            x->kinds_dropped++;
            continue;
        }
        wg_difference *d = &x->kind[k].d;
        if (k == x->kinds)
            x->kind[x->kinds++] = (wg_chip_difference){.d = {.outcome = *o, .first = *t}, .shown = b->at[i]};
        if (!t->directed && d->seeds < WG_SEEDS_LISTED)
            d->seed_list[d->seeds++] = t->seed;
        d->runs++;
    }
}

static bool once(void *user, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    wg_chip_result r = {0};
    const bool ok = wg_chip_timing(user, seed, delays, count, NULL, &r);
    *out = r.outcome;
    return ok;
}

static bool draws(void *user, uint64_t seed, wg_delay_list *list)
{
    wg_chip_explorer *x = user;
    wg_chip_result ignored_result;
    x->drawn = list;
    const bool ok = wg_chip_timing(x, seed, NULL, 0, NULL, &ignored_result);
    x->drawn = NULL;
    return ok;
}

static void progress(void *user, unsigned runs)
{
    (void)user;
    if (wg_meter_on())
        fprintf(stderr, "\r\033[Klooking for the fewest delays that change the result: at most %u more runs", runs);
}

static bool shrink_all(wg_chip_explorer *x)
{
    const wg_shrinking how = {x, once, draws, progress};
    for (size_t i = 0; i < x->kinds; i++) {
        wg_difference *d = &x->kind[i].d;
        static const wg_delay none;
        if (!wg_shrink(&how, d, SHRINKING_RUNS) || !wg_chip_timing(x, d->seed, d->delays.count ? d->delays.item : &none,
                                                                   d->delays.count, NULL, &x->kind[i].shown)) {
            if (!x->error->size)
                wg_textf(x->error, "waitgate: out of memory\n");
            return false;
        }
        d->outcome.cycles = x->kind[i].shown.outcome.cycles;
    }
    if (x->kinds && wg_meter_on())
        fprintf(stderr, "\r\033[K");
    return true;
}

/* ---- The command ---------------------------------------------------------------------------------------------------- */

static bool number(const wg_chip_explorer *x, wg_option option, const char *name, uint64_t least, uint64_t most,
                   uint64_t *value)
{
    const char *text = x->args->value[option];
    if (!text || (wg_parse_number(text, strlen(text), value) && *value >= least && *value <= most))
        return true;
    wg_textf(x->error, "waitgate: --%s: `%s` is not a number from %llu to %llu\n", name, text,
             (unsigned long long)least, (unsigned long long)most);
    return false;
}

static bool explore(wg_chip_explorer *x)
{
    uint64_t runs = 1000, budget = 60, seed = 1, jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    jobs = jobs < 1 || jobs > WG_PROCESSES_MOST ? 1 : jobs;
    if (!number(x, WG_OPT_RUN_COUNT, "runs", 1, MOST_RUNS, &runs) ||
        !number(x, WG_OPT_BUDGET, "budget", 0, UINT32_MAX, &budget) ||
        !number(x, WG_OPT_FIRST_SEED, "first-seed", 1, UINT64_MAX - MOST_RUNS, &seed) ||
        !number(x, WG_OPT_JOBS, "jobs", 1, WG_PROCESSES_MOST, &jobs) || !wg_chip_open_run(x->base, x->args, x->error))
        return false;
    x->jobs = (unsigned)jobs;
    if (wg_ranks_started()) {
        wg_textf(x->error, "waitgate: %s: one process explores a chip file\n", x->base->file.name);
        return false;
    }
    if (x->base->metal) {
        wg_textf(x->error, "waitgate: %s: programs of tt-metal are not explored\n", x->base->file.name);
        return false;
    }
    const size_t bytes = sizeof(board) + runs * sizeof(wg_chip_result);
    wg_sites **sites = wg_calloc(x->base->tiles + 1, sizeof *sites);
    board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = sites && b != MAP_FAILED;
    if (!ok)
        wg_textf(x->error, "waitgate: out of memory\n");
    ok = ok && wg_chip_regions(x) && run_base(x, sites) &&
         wg_chip_plan_timings(x, sites, ignored, (size_t)runs, seed) && run_workers(x, b, (double)budget);
    if (ok)
        sort_results(x, b);
    ok = ok && shrink_all(x);
    for (size_t i = 0; sites && i < x->base->tiles; i++)
        wg_sites_free(sites[i]);
    free(sites);
    if (b != MAP_FAILED)
        munmap(b, bytes);
    return ok;
}

int wg_explore_chip(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_chip_explorer *x = wg_calloc(1, sizeof *x);
    int status = WG_EXIT_ERROR;
    if (!x) {
        wg_textf(error, "waitgate: out of memory\n");
        return status;
    }
    wg_chip_run base = {.args = args};
    x->args = args;
    x->base = &base;
    x->error = error;
    if (explore(x)) {
        if (args->value[WG_OPT_JSON])
            wg_chip_explore_json(x, out);
        else
            wg_chip_explore_text(x, out);
        status = x->kinds ? WG_EXIT_FINDINGS : x->interrupted ? WG_EXIT_INTERRUPTED : WG_EXIT_DONE;
    }
    wg_text_add(error, wg_text_of(&x->base->file.report), x->base->file.report.size);
    wg_chip_end(x->base);
    for (size_t i = 0; i < x->kinds; i++)
        wg_delays_free(&x->kind[i].d.delays);
    wg_chip_timings_end(x);
    free(x);
    return status;
}
