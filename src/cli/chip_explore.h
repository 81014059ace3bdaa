/* SPDX-License-Identifier: Apache-2.0 */
/* Exploring a chip file: chip_explore.c runs it, chip_explore_report.c says what differs. */
#ifndef WG_CHIP_EXPLORE_H
#define WG_CHIP_EXPLORE_H

#include "cli/chip_internal.h"
#include "cli/explore.h"

enum { WG_CHIP_DIFFERENCES = 8 };

/* Result memory: L1 of a tile, or memory that the file dumps. */
typedef struct wg_chip_region {
    unsigned x, y;
    uint64_t address, bytes;
    uint8_t *expected; /* of the unperturbed run */
} wg_chip_region;

typedef struct wg_chip_word {
    unsigned x, y;
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
    wg_chip_run base;
    wg_text *error;
    wg_chip_region *region;
    size_t regions;
    wg_chip_result base_result;
    uint64_t limit;
    wg_trial *trial;
    size_t trials, directed, at_races, finished;
    struct {
        size_t tile, race;
        const wg_trial *witness; /* NULL: none was found */
        size_t tried;
    } * race;
    size_t races;
    wg_chip_difference kind[WG_CHIP_DIFFERENCES];
    size_t kinds, kinds_dropped, differing;
    wg_delay_list *drawn; /* of the run that collects them; NULL: none does */
    unsigned jobs;
    bool interrupted;
    double seconds, busiest; /* busiest: processor time of the busiest process */
} wg_chip_explorer;

/* chip_explore_report.c */
void wg_chip_explore_text(wg_chip_explorer *x, wg_text *out);
void wg_chip_explore_json(wg_chip_explorer *x, wg_text *out);

#endif
