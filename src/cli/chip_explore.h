/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploring a chip file: chip_timings.c runs it, chip_explore.c compares many timings, chip_explore_report.c says what differs;
 * chip_grade.c asks the same of the parties of races alone.
 */
#ifndef WG_CHIP_EXPLORE_H
#define WG_CHIP_EXPLORE_H

#include "cli/cluster_run.h"
#include "cli/explore.h"

enum { WG_CHIP_DIFFERENCES = 8 };

/* Result memory: L1 of a tile, or memory that the file dumps. */
typedef struct wg_chip_region {
    unsigned chip, x, y;
    uint64_t address, bytes;
    uint8_t *expected; /* of the unperturbed run */
} wg_chip_region;

typedef struct wg_chip_word {
    unsigned chip, x, y;
    uint64_t address;
    uint32_t expected, found;
} wg_chip_word;

/* What a run leaves, as the workers hand it over. */
typedef struct wg_chip_result {
    wg_outcome outcome;
    uint64_t words; /* that differ */
    wg_chip_word word[WG_DIFFERENT_WORDS];
} wg_chip_result;

typedef struct wg_chip_difference {
    wg_difference d;
    wg_chip_result shown;
} wg_chip_difference;

typedef struct wg_chip_explorer {
    const wg_args *args;
    wg_chip_run *base; /* the caller's */
    bool of_cluster;   /* a cluster file, under seeds alone: `base` has its name only */
    wg_text *error;
    wg_chip_region *region;
    size_t regions;
    wg_chip_result base_result;
    bool registers; /* count as results, too */
    uint64_t limit;
    wg_trial *trial;
    size_t trials, directed, at_races, finished;
    struct {
        size_t tile, race;
        const wg_trial *witness; /* NULL: none was found */
        size_t tried;
        bool unclear; /* something differs, but cores read the clock */
    } * race;
    size_t races;
    wg_chip_difference kind[WG_CHIP_DIFFERENCES];
    size_t kinds, kinds_dropped, differing;
    wg_delay_list *drawn; /* of the run that collects them; NULL: none does */
    unsigned jobs;
    bool interrupted;
    double seconds, busiest; /* busiest: processor time of the busiest process */
} wg_chip_explorer;

/* chip_timings.c, in this order: `base` is open. False, with a sentence in `error`: the host failed. */
bool wg_chip_regions(wg_chip_explorer *x);
/* The outcome of a run that has ended. The first one's memory is kept, and the others are compared with it. */
bool wg_chip_outcome(wg_chip_explorer *x, wg_chip_run *r, wg_chip_result *out);
/* A cluster's result memory and its outcome, from a run that has ended; and the unperturbed run. */
bool wg_cluster_explored(wg_chip_explorer *x);
/* Runs the file again with this timing. `sites`: NULL, or those of each tile. */
bool wg_chip_timing(wg_chip_explorer *x, uint64_t seed, const wg_delay *delays, size_t count, wg_sites **sites,
                    wg_chip_result *out);
/* The timings to try: delays at races, at other sites, and seeds. `ignores` (of a wg_session): the races to skip. */
bool wg_chip_plan_timings(wg_chip_explorer *x, wg_sites **sites, wg_race_ignored_fn ignores, size_t runs,
                          uint64_t seed);
void wg_chip_timings_end(wg_chip_explorer *x);

/* chip_explore_report.c */
void wg_chip_explore_text(wg_chip_explorer *x, wg_text *out);
void wg_chip_explore_json(wg_chip_explorer *x, wg_text *out);

#endif
