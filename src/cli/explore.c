/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/meter.h"
#include "cli/processes.h"
#include "cli/explore.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/chip_run.h"
#include "cli/commands.h"
#include "engine/return_point.h"
#include "report/findings.h"

enum {
    MOST_RUNS = 1 << 22,
    SHRINKING_RUNS = 400, /* per kind of difference, and per witness of a race */
    FEW = 8               /* delays of a difference that are examined */
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The run has ended: how, and which expectations hold. */
static void concludes(wg_session *s, wg_outcome *out)
{
    out->ended = (uint8_t)(s->ended == WG_ENDED_UNTIL ? WG_ENDED_DONE : s->ended);
    if (!wg_check_expectations(s))
        return; /* no memory: the caller checks for that */
    for (size_t i = 0; s->has_tasm && i < s->tasm.expects; i++)
        if (s->tasm.expect[i].kind != WG_EXPECT_CYCLES)
            out->others = wg_outcome_mix(out->others, s->expect_holds[i]);
}

bool wg_explore_run(void *user, wg_outcome *out)
{
    if (!wg_drive_silently(user))
        return false;
    concludes(user, out);
    return true;
}

bool wg_explore_once(wg_explorer *x, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    if (!wg_exploration_once(&x->all, seed, delays, count, out)) {
        wg_memory_lost(); /* nothing else can fail here */
        return false;
    }
    return !wg_memory_failed(); /* else an expectation may not have been checked */
}

static const char *failure(const wg_explorer *x)
{
    return wg_memory_failed() ? "out of memory" : wg_error(x->session.dev);
}

/* ---- the unperturbed run ---- */

static bool run_base(wg_explorer *x, wg_sites *all, wg_text *error)
{
    wg_session *s = &x->session;
    int id;
    wg_outcome base = {0};
    if (wg_observe(s->dev, WG_SITES_EVENTS, wg_sites_event, all, &id) != WG_OK ||
        wg_perturb_with(s->dev, 0, NULL, 0) != WG_OK) {
        wg_textf(error, "waitgate: %s\n", wg_error(s->dev));
        return false;
    }
    if (!s->args->value[WG_OPT_MAX_CYCLES])
        s->max_cycles = wg_exploration_limit(&x->all);
    if (!wg_drive(s, error))
        return false;
    wg_unobserve(s->dev, id);
    wg_unobserve(s->dev, s->races_observer); /* its reports remain; the other runs have no detector */
    if (s->ended == WG_ENDED_INTERRUPT || s->ended == WG_ENDED_LIMIT) {
        wg_textf(error,
                 "waitgate: the unperturbed run does not end within %llu cycles; give --until or a larger "
                 "--max-cycles\n",
                 (unsigned long long)(s->ended == WG_ENDED_LIMIT ? s->max_cycles : wg_cycle(s->dev)));
        return false;
    }
    concludes(s, &base);
    wg_exploration_base(&x->all, &base);
    if (wg_memory_failed()) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    x->base_holds = s->expectations_hold;
    if (!s->args->value[WG_OPT_MAX_CYCLES])
        s->max_cycles = wg_exploration_limit(&x->all);
    return true;
}

/* ---- workers ---- */

/* Seen by all processes. */
typedef struct board {
    atomic_size_t next, finished;
    atomic_bool stop, failed;
    char error[256];
    wg_outcome outcome[];
} board;

static _Atomic(board *) shared;
static void on_interrupt(int number)
{
    (void)number;
    board *b = atomic_load(&shared);
    if (b)
        atomic_store(&b->stop, true);
}

/* With several ranks, each takes every n-th trial. */
static unsigned ranks_of(const wg_explorer *x) { return x->ranks ? x->ranks->ranks : 1; }
static unsigned rank_of(const wg_explorer *x) { return x->ranks ? x->ranks->rank : 0; }

static void work(wg_explorer *x, board *b, double until)
{
    while (!atomic_load(&b->stop) && seconds_now() < until) {
        size_t i = atomic_fetch_add(&b->next, 1) * ranks_of(x) + rank_of(x);
        if (i >= x->all.trials)
            break;
        const wg_trial *t = &x->all.trial[i];
        if (!wg_explore_once(x, t->seed, t->directed ? &t->delay : NULL, t->directed, &b->outcome[i])) {
            if (!atomic_exchange(&b->failed, true))
                snprintf(b->error, sizeof b->error, "%s", failure(x));
            break;
        }
        atomic_fetch_add(&b->finished, 1);
    }
}

static void show_progress(const wg_explorer *x, size_t finished, double began, double until)
{
    double now = seconds_now(), rate = (double)finished / (now - began > 0.01 ? now - began : 0.01);
    double left = rate > 0 ? (double)(x->all.trials - finished) / rate : until - now;
    left = until - now < left ? until - now : left;
    fprintf(stderr, "\r\033[K%zu of %zu timings, %.0f per second, %.0f s left", finished, x->all.trials, rate,
            left > 0 ? left : 0);
    fflush(stderr);
}

static void shrink_progress(void *explorer, unsigned runs)
{
    wg_explorer *x = explorer;
    const double now = seconds_now();
    if (now - x->shown < 0.1 || x->ranks || !wg_meter_on())
        return;
    x->shown = now;
    fprintf(stderr, "\r\033[Klooking for the fewest delays that change the result: at most %u more runs", runs);
    fflush(stderr);
}

static bool shrink_once(void *x, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    return wg_explore_once(x, seed, delays, count, out);
}

static bool shrink_draws(void *explorer, uint64_t seed, wg_delay_list *list)
{
    wg_explorer *x = explorer;
    int id;
    wg_outcome outcome;
    if (wg_observe(x->session.dev, WG_EV_BIT(WG_EV_DELAYED), wg_shrink_collect, list, &id) != WG_OK)
        return false;
    bool ok = wg_explore_once(x, seed, NULL, 0, &outcome);
    wg_unobserve(x->session.dev, id);
    return ok;
}

static bool shrink(wg_explorer *x, wg_difference *d)
{
    const wg_shrinking how = {x, shrink_once, shrink_draws, shrink_progress};
    return wg_shrink(&how, d, SHRINKING_RUNS);
}

/* What the workers do, until when. */
typedef struct shift {
    wg_explorer *x;
    board *b;
    double began, until;
} shift;

static void work_shift(void *user)
{
    const shift *s = user;
    work(s->x, s->b, s->until);
}

static void show_shift(void *user)
{
    const shift *s = user;
    show_progress(s->x, atomic_load(&s->b->finished), s->began, s->until);
}

static bool run_workers(wg_explorer *x, board *b, double budget, wg_text *error)
{
    const bool terminal = wg_meter_on() && !x->ranks;
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
    x->finished = atomic_load(&b->finished);
    if (!whole)
        wg_textf(error, "waitgate: a worker process ended unexpectedly; its timings are not counted\n");
    if (atomic_load(&b->failed))
        wg_textf(error, "waitgate: %s\n", b->error);
    return whole && !atomic_load(&b->failed);
}

/* ---- several ranks ---- */

/* The outcome of a trial, as sent to the first rank; after the trials: the rank's own statistics. */
typedef struct shared_outcome {
    uint64_t trial;
    wg_outcome outcome;
} shared_outcome;

typedef struct shared_end {
    uint64_t finished, interrupted;
    double seconds, busiest;
} shared_end;

static bool take_part(wg_explorer *x, board *b, const wg_message *part)
{
    shared_outcome o;
    shared_end end;
    size_t at = 0;
    for (; at + sizeof o + sizeof end <= part->bytes; at += sizeof o) {
        memcpy(&o, part->data + at, sizeof o);
        if (o.trial < x->all.trials)
            b->outcome[o.trial] = o.outcome;
    }
    if (part->bytes - at != sizeof end)
        return false;
    memcpy(&end, part->data + at, sizeof end);
    x->finished += end.finished;
    x->interrupted |= end.interrupted != 0;
    x->seconds = end.seconds > x->seconds ? end.seconds : x->seconds;
    x->busiest = end.busiest > x->busiest ? end.busiest : x->busiest;
    return true;
}

/* Collects all outcomes at the first rank. */
static bool share_outcomes(wg_explorer *x, board *b, wg_text *error)
{
    wg_message mine = {0}, *all = wg_calloc(ranks_of(x), sizeof *all);
    const shared_end end = {x->finished, x->interrupted, x->seconds, x->busiest};
    bool ok = all != NULL;
    for (size_t i = rank_of(x); ok && i < x->all.trials; i += ranks_of(x)) {
        shared_outcome o;
        memset(&o, 0, sizeof o);
        o.trial = i;
        o.outcome = b->outcome[i];
        ok = wg_message_add(&mine, &o, sizeof o);
    }
    ok = ok && wg_message_add(&mine, &end, sizeof end) && x->ranks->gather(x->ranks, &mine, all);
    if (!rank_of(x))
        x->finished = 0;
    for (unsigned i = 0; ok && !rank_of(x) && i < ranks_of(x); i++)
        ok = take_part(x, b, &all[i]);
    if (!ok)
        wg_textf(error, "waitgate: the outcomes of all processes could not be put together\n");
    for (unsigned i = 0; all && i < ranks_of(x); i++)
        wg_message_free(&all[i]);
    free(all);
    wg_message_free(&mine);
    return ok;
}

/* ---- what differs ---- */

static void sort_outcomes(wg_explorer *x, const board *b)
{
    for (size_t i = 0; i < x->all.trials; i++) {
        const wg_outcome *o = &b->outcome[i];
        if (!o->valid || wg_outcome_same(o, &x->all.base))
            continue;
        x->differing_runs++;
        size_t k = 0;
        while (k < x->differences && !wg_outcome_same(o, &x->difference[k].outcome))
            k++;
        if (k == WG_DIFFERENCES) {
            x->kinds_dropped++;
            continue;
        }
        if (k == x->differences)
            x->difference[x->differences++] = (wg_difference){.outcome = *o, .first = x->all.trial[i]};
        if (!x->all.trial[i].directed && x->difference[k].seeds < WG_SEEDS_LISTED)
            x->difference[k].seed_list[x->difference[k].seeds++] = x->all.trial[i].seed;
        x->difference[k].runs++;
    }
}

/* Replays the shrunk run and records its differences. */
static bool describe(wg_explorer *x, wg_difference *d)
{
    static const wg_delay none;
    if (!wg_explore_once(x, d->seed, d->delays.count ? d->delays.item : &none, d->delays.count, &d->outcome))
        return false;
    for (size_t i = 0; i < x->all.ranges && x->all.differs; i++)
        for (uint32_t k = 0; k < x->all.range[i].bytes; k += 4) {
            uint32_t expected = 0, found = 0, bytes = x->all.range[i].bytes - k < 4 ? x->all.range[i].bytes - k : 4;
            memcpy(&expected, wg_l1_copy_bytes(x->all.range[i].expected) + k, bytes);
            memcpy(&found, wg_l1_copy_bytes(x->all.range[i].found) + k, bytes);
            if (expected == found)
                continue;
            if (d->words < WG_DIFFERENT_WORDS) {
                d->word_address[d->words] = x->all.range[i].address + k;
                d->word_expected[d->words] = expected;
                d->word_found[d->words] = found;
            }
            d->words++;
        }
    bool has[WG_F_COUNT] = {false};
    for (size_t i = 0; i < wg_finding_count(x->session.dev); i++)
        has[wg_finding_at(x->session.dev, i)->code] = true;
    for (unsigned i = 0; i < WG_F_COUNT && !d->finding[0]; i++)
        if (has[i] != x->all.base_findings[i]) {
            snprintf(d->finding, sizeof d->finding, "%s", wg_finding_info_at(i)->code);
            d->finding_is_new = has[i];
        }
    return true;
}

/* ---- witnesses of races ---- */

static size_t kind_of(const wg_explorer *x, const wg_outcome *o)
{
    size_t k = 0;
    while (k < x->differences && !wg_outcome_same(o, &x->difference[k].outcome))
        k++;
    return k;
}

/* Is any delay of the difference at a party of the race? */
static bool concerns(wg_explorer *x, const wg_difference *d, const wg_race *race)
{
    for (size_t i = 0; i < d->delays.count; i++) {
        wg_met m = wg_explore_meet(x, d, &d->delays.item[i]);
        if (m.found && wg_race_is_delayed(race, m.thread, m.pc, m.word))
            return true;
    }
    return false;
}

/* For each race: the first delay at one of its parties that made a difference, or a difference found by seed. */
static bool find_witnesses(wg_explorer *x, const board *b, wg_text *error)
{
    for (size_t i = 0; i < x->all.at_races; i++) {
        const wg_outcome *o = &b->outcome[i];
        wg_witness *w = &x->witness[x->all.trial[i].race - 1];
        w->tried++;
        if (w->found || !o->valid || wg_outcome_same(o, &x->all.base))
            continue;
        w->shown = (wg_difference){.outcome = *o, .first = x->all.trial[i], .runs = 1};
        w->found = true;
        w->difference = kind_of(x, o);
        if (!shrink(x, &w->shown)) {
            wg_textf(error, "waitgate: %s\n", failure(x));
            return false;
        }
    }
    for (size_t r = 0; r < x->races; r++)
        for (size_t k = 0; k < x->differences && !x->witness[r].found; k++)
            if (!x->difference[k].first.directed && x->difference[k].delays.count <= FEW &&
                concerns(x, &x->difference[k], wg_races_at(x->session.races, r))) {
                x->witness[r].found = true;
                x->witness[r].difference = k;
                x->witness[r].by_seed = true;
            }
    return true;
}

/* ---- the command ---- */

static bool number(const wg_args *args, wg_option option, const char *name, uint64_t least, uint64_t most,
                   uint64_t *value, wg_text *error)
{
    const char *text = args->value[option];
    if (!text || (wg_parse_number(text, strlen(text), value) && *value >= least && *value <= most))
        return true;
    wg_textf(error, "waitgate: --%s: `%s` is not a number from %llu to %llu\n", name, text, (unsigned long long)least,
             (unsigned long long)most);
    return false;
}

static bool add_range(wg_explorer *x, const char *text, uint32_t l1_bytes, wg_text *error)
{
    size_t colon = strcspn(text, ":");
    uint64_t address, bytes;
    if (!text[colon] || !wg_parse_number(text, colon, &address) ||
        !wg_parse_number(text + colon + 1, strlen(text + colon + 1), &bytes) || !bytes || address > l1_bytes ||
        bytes > l1_bytes - address) {
        wg_textf(error, "waitgate: --result: `%s` is not ADDR:LEN within L1 (0x%x bytes)\n", text, l1_bytes);
        return false;
    }
    x->all.range[x->all.ranges++] = (wg_range){.address = (uint32_t)address, .bytes = (uint32_t)bytes};
    return true;
}

static bool allocate(wg_explorer *x, uint64_t runs, wg_text *error)
{
    const wg_args *args = x->session.args;
    uint32_t l1_bytes = wg_l1_bytes(x->session.dev);
    x->all.range = wg_calloc(args->givens + 1, sizeof *x->all.range);
    for (size_t i = 0; x->all.range && i < args->givens; i++)
        if (args->given[i].option == WG_OPT_RESULT && !add_range(x, args->given[i].value, l1_bytes, error))
            return false;
    if (x->all.range && !x->all.ranges)
        x->all.range[x->all.ranges++] = (wg_range){.bytes = l1_bytes};
    x->all.dev = x->session.dev;
    x->all.run = wg_explore_run;
    x->all.user = &x->session;
    if (x->all.range && wg_exploration_begin(&x->all, runs))
        return true;
    wg_textf(error, "waitgate: out of memory\n");
    return false;
}

static bool ignored(void *session, const wg_race *race) { return wg_check_ignores(session, race); }

static bool explore(wg_explorer *x, const wg_args *args, wg_text *error)
{
    uint64_t runs = 1000, budget = 60, seed = 1, jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs < 1 || jobs > WG_PROCESSES_MOST || x->ranks) /* ranks: mpirun has started the right number */
        jobs = 1;
    if (!number(args, WG_OPT_RUN_COUNT, "runs", 1, MOST_RUNS, &runs, error) ||
        !number(args, WG_OPT_BUDGET, "budget", 0, UINT32_MAX, &budget, error) ||
        !number(args, WG_OPT_FIRST_SEED, "first-seed", 1, UINT64_MAX - MOST_RUNS, &seed, error) ||
        !number(args, WG_OPT_JOBS, "jobs", 1, WG_PROCESSES_MOST, &jobs, error) ||
        !wg_session_open(&x->session, args, error) || !allocate(x, runs, error))
        return false;
    x->jobs = (unsigned)jobs;
    wg_sites *all = wg_sites_new();
    size_t board_bytes = sizeof(board) + runs * sizeof(wg_outcome);
    board *b = mmap(NULL, board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = all && b != MAP_FAILED;
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    if (ok && (ok = run_base(x, all, error))) {
        x->races = wg_races_count(x->session.races);
        x->witness = wg_calloc(x->races + 1, sizeof *x->witness);
        ok = x->witness != NULL;
        if (!ok)
            wg_textf(error, "waitgate: out of memory\n");
    }
    if (ok) {
        wg_plan(&x->all, all, x->session.races, ignored, &x->session, (size_t)runs, seed);
        ok = run_workers(x, b, (double)budget, error) && (!x->ranks || share_outcomes(x, b, error));
    }
    if (ok && !rank_of(x)) {
        sort_outcomes(x, b);
        for (size_t i = 0; ok && i < x->differences; i++)
            if (!shrink(x, &x->difference[i]) || !describe(x, &x->difference[i])) {
                wg_textf(error, "waitgate: %s\n", failure(x));
                ok = false;
            }
        ok = ok && find_witnesses(x, b, error);
        if (x->shown > 0)
            fprintf(stderr, "\r\033[K");
    }
    wg_sites_free(all);
    if (b != MAP_FAILED)
        munmap(b, board_bytes);
    return ok;
}

int wg_command_explore(const wg_args *args, wg_text *out, wg_text *error)
{
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_chip_argument(args, args->file[i]))
            return wg_explore_chip(args, out, error);
    wg_explorer *x = wg_calloc(1, sizeof *x);
    int status = WG_EXIT_ERROR;
    if (!x) {
        wg_textf(error, "waitgate: out of memory\n");
        return status;
    }
    x->ranks = wg_ranks_open(error);
    const bool ok = !error->size && explore(x, args, error);
    if (ok && rank_of(x)) {
        status = WG_EXIT_DONE; /* the first rank reports */
    } else if (ok) {
        x->jobs *= ranks_of(x);
        wg_explore_report(x, out);
        status = !x->base_holds   ? WG_EXIT_EXPECTATION
                 : x->differences ? WG_EXIT_FINDINGS
                 : x->interrupted ? WG_EXIT_INTERRUPTED
                                  : WG_EXIT_DONE;
    }
    for (size_t i = 0; i < x->differences; i++)
        wg_delays_free(&x->difference[i].delays);
    for (size_t i = 0; i < x->races && x->witness; i++)
        wg_delays_free(&x->witness[i].shown.delays);
    free(x->witness);
    wg_session_close(&x->session);
    wg_exploration_end(&x->all);
    free(x->all.range);
    wg_ranks_close(x->ranks, args, status, error);
    free(x);
    return status;
}
