/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploring: one program under many legal timings.
 *
 *     unperturbed run ──races, sites──► directed delays, seeds ──workers──► outcomes ──► differences ──shrink──► report
 *             └── race detector ──► races ──────────────────────────────────────────────────────► witnesses ──┘
 */
#ifndef WG_EXPLORE_H
#define WG_EXPLORE_H

#include "text/delays.h"
#include "cli/ranks.h"
#include "cli/session.h"
#include "explain/exploration.h"

enum { WG_DIFFERENCES = 16, WG_DIFFERENT_WORDS = 4, WG_SEEDS_LISTED = 64 };

typedef struct wg_difference {
    wg_outcome outcome;
    wg_trial first;
    uint64_t runs;
    uint64_t seed_list[WG_SEEDS_LISTED]; /* the first seeds that show it */
    size_t seeds;
    /* The fewest delays found to show it, in addition to the seed's choices (0: none). */
    uint64_t seed;
    wg_delay_list delays;
    uint32_t word_address[WG_DIFFERENT_WORDS], word_expected[WG_DIFFERENT_WORDS], word_found[WG_DIFFERENT_WORDS];
    size_t words;     /* number of words that differ */
    char finding[64]; /* the first that only one of the two runs has */
    bool finding_is_new;
} wg_difference;

/* A timing that makes a race visible. */
typedef struct wg_witness {
    bool found, by_seed; /* by_seed: a delay that a seed drew at one of its parties */
    size_t difference;   /* its index; x->differences: one of those not kept */
    size_t tried;        /* delays planned at its parties */
    wg_difference shown; /* unless by_seed */
} wg_witness;

typedef struct wg_explorer {
    wg_session session;
    wg_exploration all;
    bool base_holds; /* every expectation of the program, in the unperturbed run */
    size_t finished;
    wg_witness *witness; /* by race */
    size_t races;
    unsigned jobs;
    wg_transport *ranks;     /* NULL: there is one process */
    double seconds, busiest; /* busiest: processor time of the busiest process */
    bool interrupted;
    double shown; /* when progress was last displayed */
    wg_difference difference[WG_DIFFERENCES];
    size_t differences, differing_runs, kinds_dropped;
} wg_explorer;

/* Runs once from the start. False: the host failed, and wg_error() says why. */
bool wg_explore_once(wg_explorer *x, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out);

/* For wg_exploration: runs the session, and takes its end and its expectations of values into the outcome. */
bool wg_explore_run(void *session, wg_outcome *out);

/* shrink.c: how to run a program with delays, and with those that a seed draws. `progress`: is told an upper bound of the remaining runs. */
typedef struct wg_shrinking {
    void *user;
    bool (*once)(void *user, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out);
    bool (*draws)(void *user, uint64_t seed, wg_delay_list *list);
    void (*progress)(void *user, unsigned runs);
} wg_shrinking;
/* Finds the fewest delays that still give d->outcome, in at most `runs` runs. */
bool wg_shrink(const wg_shrinking *how, wg_difference *d, unsigned runs);
void wg_shrink_collect(void *list, const wg_event *event); /* an observer of WG_EV_DELAYED */

/* explore_report.c */
const char *wg_explore_ended(unsigned ended); /* "is done", "hangs" … */
void wg_explore_quoted(wg_text *out, const char *word);

/* chip_explore.c: the same for a chip file. */
int wg_explore_chip(const wg_args *args, wg_text *out, wg_text *error);

/* explore_report.c: the instruction of a delay, as found in the replayed run. */
typedef struct wg_met {
    unsigned thread;
    uint64_t id, cycle;
    uint32_t pc, word;
    bool found;
} wg_met;
wg_met wg_explore_meet(wg_explorer *x, const wg_difference *d, const wg_delay *delay);
void wg_explore_report(wg_explorer *x, wg_text *out);

#endif
