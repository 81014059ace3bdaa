/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program under many legal timings, and how their outcomes differ.
 *
 *     unperturbed run ──races, sites──► plan: directed delays, then seeds ──► one run per timing ──► outcome
 *
 * Each run returns the device to the start, so it costs what the program costs. The command `explore` spreads the timings over
 * processes (cli/explore.c); wg_explore() runs them one after another.
 */
#ifndef WG_EXPLORATION_H
#define WG_EXPLORATION_H

#include <waitgate/explore.h>

#include "explain/race.h"
#include "report/findings.h"

/* The outcome of a run, independent of its timing; and its length. */
typedef struct wg_outcome {
    uint64_t memory, findings, others; /* hashes; others: of what the caller adds */
    uint64_t cycles;
    uint8_t ended; /* the caller's number */
    bool valid;
} wg_outcome;

/* Mixes a value into a hash of outcomes. */
static inline uint64_t wg_outcome_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}

/* One timing: a seed, or a single delay in the otherwise unperturbed run. */
typedef struct wg_trial {
    uint64_t seed;
    wg_delay delay;
    bool directed;
    uint32_t race; /* at a party of this race, counted from 1; 0: of none */
} wg_trial;

typedef struct wg_range {
    uint32_t address, bytes;
    struct wg_l1_copy *expected, *found; /* of the unperturbed run, and of the last that differs from it */
} wg_range;

typedef struct wg_exploration {
    wg_device *dev;
    /* Runs the device from the start to the end, and fills in `ended` and `others`. False: the host failed. */
    bool (*run)(void *user, wg_outcome *out);
    void *user;
    struct wg_return_point *start; /* the loaded device */
    wg_range *range;               /* result memory; the caller makes room for it */
    size_t ranges;
    bool differs; /* the last run differs in result memory */
    wg_outcome base;
    bool base_findings[WG_F_COUNT]; /* by finding code */
    wg_trial *trial;
    size_t trials, directed, at_races; /* at_races ones come first, then those at other sites, then seeds */
} wg_exploration;

/* wg_delay.tile; 0: none. */
static inline uint16_t wg_delay_tile(unsigned x, unsigned y) { return (uint16_t)(1 + (y << 8 | x)); }
static inline unsigned wg_delay_x(uint16_t tile) { return (tile - 1u) & 255; }
static inline unsigned wg_delay_y(uint16_t tile) { return (tile - 1u) >> 8; }

/* Allocates what the ranges, and at most `trials` timings, need. False: out of memory. */
bool wg_exploration_begin(wg_exploration *x, size_t trials);
void wg_exploration_end(wg_exploration *x);
/* The unperturbed run has ended: all others are compared with its outcome. */
void wg_exploration_base(wg_exploration *x, wg_outcome *out);
/* Runs once from the start. False: the host failed, and wg_error() says why. */
bool wg_exploration_once(wg_exploration *x, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out);
/*
 * The cycles within which a run must end, unless the user sets a limit: after the unperturbed run, a multiple of its
 * length.
 */
uint64_t wg_exploration_limit(const wg_exploration *x);
/* Codes and places of findings, without times and counts: order does not matter. */
uint64_t wg_findings_hash(const wg_device *dev);
/* How many timings; 0: more than there can be. */
size_t wg_explore_runs(const wg_explore_desc *desc);
bool wg_outcome_same(const wg_outcome *a, const wg_outcome *b);
/*
 * Does the outcome show that something but time has changed? `clocked`: cores have read the clock, so memory and registers may
 * differ without a reason.
 */
bool wg_outcome_shows(const wg_outcome *o, const wg_outcome *base, bool clocked);
uint64_t wg_outcome_l1(wg_device *dev); /* a hash of L1 */
/* Dst, LRegs, GPRs, semaphores and configuration, added to a hash. */
uint64_t wg_outcome_registers(wg_device *dev, uint64_t hash);

/* exploration_plan.c: the sites of the unperturbed run, and the timings to try. */
typedef struct wg_sites wg_sites;
wg_sites *wg_sites_new(void);
void wg_sites_free(wg_sites *sites);
/* Chips only: the sites of tile number i, or NULL if it has none. Delays at parties of tile i then have `tile` i + 1. */
void wg_sites_of_chip(wg_sites *sites, wg_sites *const *by_number);
#define WG_SITES_EVENTS (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_CORE_REQUEST))
void wg_sites_event(void *sites, const wg_event *e);
bool wg_sites_clocked(const wg_sites *sites); /* a core has read the wall clock */
/* `races`: NULL, or those of the unperturbed run; `ignores`: NULL, or which of them to skip. */
typedef bool (*wg_race_ignored_fn)(void *user, const wg_race *race);
void wg_plan(wg_exploration *x, wg_sites *sites, const wg_races *races, wg_race_ignored_fn ignores, void *user,
             size_t runs, uint64_t seed);
/*
 * exploration_chip.c: the timings of a chip, out of those of its tiles. A delay says of which tile it is; races are counted over all
 * tiles. False: out of memory. The caller frees `trial`.
 */
typedef struct wg_chip_site {
    wg_sites *sites;
    const wg_races *races;
    unsigned number;   /* y * width + x */
    void *user;        /* for `ignores` */
    size_t first_race; /* out: the number of its first race */
} wg_chip_site;
typedef struct wg_chip_plan {
    unsigned width; /* of the chip */
    wg_trial *trial;
    size_t trials, directed, at_races, races;
} wg_chip_plan;
bool wg_plan_chip(wg_chip_plan *plan, wg_chip_site *tile, size_t tiles, wg_race_ignored_fn ignores, size_t runs,
                  uint64_t seed);
bool wg_race_is_delayed(const wg_race *race, unsigned thread, uint32_t pc, uint32_t word);

#endif
