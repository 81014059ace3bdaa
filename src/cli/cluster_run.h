/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a run of a cluster file (cluster_run.c, cluster_report.c), and its interface to the command line. */
#ifndef WG_CLUSTER_RUN_H
#define WG_CLUSTER_RUN_H

#include "cli/chip_internal.h"
#include "cli/cluster_yaml.h"
#include "cli/profile.h"
#include "cli/ranks.h"

enum { WG_CLUSTER_NAMES = 5 }; /* options that name a file for each chip */
typedef struct wg_cluster_args {
    wg_args args;
    char *name[WG_CLUSTER_NAMES];
} wg_cluster_args;

typedef struct wg_cluster_job {
    const wg_args *args;
    wg_cluster_file file;
    uint8_t *source;
    wg_transport *ranks; /* NULL: one process */
    wg_cluster *cluster;
    wg_chip_run **chip;   /* by number; NULL: of another process */
    uint8_t **text;       /* of chip files */
    wg_cluster_args *own; /* the options for each chip */
    wg_text *runs;        /* destination of the reports as run objects of SARIF; NULL: none */
    bool sarif;           /* they are requested there, or in a file */
    uint64_t stretches;   /* runs so far, between which chips may move */
    bool stays;           /* chips must not move: the state of an observer cannot be moved */
    wg_ended ended;
    int status;
    bool unseen;                     /* … and nothing is observed, as of a chip's run */
    const wg_what_if *const *scaled; /* for the tiles of each chip; NULL: none */
    wg_session **profiled;           /* the tiles of all chips of this process, if they are profiled, … */
    wg_profiled path;                /* … for the path through them, */
    uint64_t path_from, path_to;     /* … and its cycles */
    bool path_begun_late;            /* the links do not reach back to the beginning */
    struct wg_scaled_runs *what_if;  /* --what-if, … */
    struct wg_waits *waits;          /* … --waits: of all chips together */
} wg_cluster_job;

/* cluster_report.c: the report of all processes, at the first one. False: `error` says why. */
bool wg_cluster_report(wg_cluster_job *r, wg_text *out, wg_text *error);

/*
 * cluster_run.c: a run whose time a host advances (program.c), in this process alone. NULL, or not WG_OK: `error`, or
 * wg_cluster_error(), says why. wg_cluster_finish() returns the exit status.
 */
wg_cluster_job *wg_cluster_open(const wg_args *args, wg_text *error);
wg_status wg_cluster_to(wg_cluster_job *r, uint64_t cycle, wg_stop *stop);
int wg_cluster_finish(wg_cluster_job *r, wg_text *out, wg_text *error);
void wg_cluster_close(wg_cluster_job *r, wg_text *error);

/*
 * cluster_run.c: the same file in this process, unseen and not yet run, with a seed and, for the tiles of each chip, scaled costs
 * (or NULL). wg_cluster_drive() runs it; wg_cluster_end_run() either way.
 */
bool wg_cluster_open_again(wg_cluster_job *v, const wg_cluster_job *r, uint64_t seed, const wg_what_if *const *scaled,
                           wg_text *error);
/* Of these arguments, whose seed and limit count where these are NULL and 0. */
bool wg_cluster_open_unseen(wg_cluster_job *v, const wg_args *args, const uint64_t *seed, uint64_t max_cycles,
                            const wg_what_if *const *scaled, wg_text *error);
bool wg_cluster_drive(wg_cluster_job *r, wg_text *error);
void wg_cluster_end_run(wg_cluster_job *r, wg_text *error);

/* cluster_again.c: the tiles of all chips, and the part of the run that their profile covers. */
bool wg_cluster_profile_end(wg_cluster_job *r, wg_text *error);
void wg_cluster_profile_part(const wg_cluster_job *r, uint64_t *from, uint64_t *to);
/* cluster_again.c: --what-if, and chip_waits.c: --waits, after the run. False: `error` says why. */
bool wg_cluster_what_if(wg_cluster_job *r, wg_text *error);
bool wg_cluster_judge_waits(wg_cluster_job *r, wg_text *error);

/* cluster_run.c: opens the chip's run. */
bool wg_cluster_open_chip(wg_cluster_job *r, unsigned chip, wg_text *error);

/*
 * cluster_balance.c: the initial placement of chips on ranks, by their number of programs; freed by the caller. NULL:
 * no memory.
 */
unsigned *wg_cluster_placement(const wg_cluster_file *file, unsigned ranks);
/* Between two runs of some length: moves a chip from the busiest process to the idlest if that pays. */
bool wg_cluster_balance(wg_cluster_job *r, wg_text *error);
/*
 * WAITGATE_MOVE_CHIPS: moves are reported on standard error. =always: stretches are a few windows long, and a chip
 * moves after each, whether or not it pays. For tests.
 */
bool wg_cluster_moves_always(void);

/* cluster_saved.c: a snapshot of all chips in a file, written by all processes together, and read by any number of them. */
bool wg_cluster_save(void *job, const char *path, wg_text *error);
bool wg_cluster_resume(wg_cluster_job *r, const char *path, wg_text *error);

#endif
