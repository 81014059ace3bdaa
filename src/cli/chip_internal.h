/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a run of a chip file: chip_run.c, chip_memory.c, chip_report.c. */
#ifndef WG_CHIP_INTERNAL_H
#define WG_CHIP_INTERNAL_H

#include <waitgate/card.h>

#include "cli/chip_run.h"
#include "cli/chip_yaml.h"
#include "cli/outputs.h"
#include "cli/saved.h"
#include "cli/session.h"
#include "cli/what_if.h"

typedef struct wg_shared_elf {
    char *path;
    wg_elf *elf;
} wg_shared_elf;

typedef struct wg_chip_tile {
    unsigned x, y;
    char name[48]; /* "tile 1-2" */
    wg_session s;  /* of a Tensix tile */
} wg_chip_tile;

struct wg_chip_run {
    const wg_args *args;
    wg_chip_file file;
    uint8_t *source;
    wg_card *card;
    wg_grid *grid;
    uint8_t *host;
    wg_chip_tile *tile; /* Tensix tiles that the file names, in its order */
    size_t tiles;
    wg_shared_elf *elf;
    size_t elfs;
    wg_inputs inputs;           /* memory that the file fills */
    wg_saved_chip saved;        /* the snapshot that the run resumes */
    struct wg_metal_run *metal; /* metal_run.h; NULL: none */
    wg_races_group *races;      /* check */
    wg_outputs outputs;         /* traces and logs of all tiles */
    wg_session **profiled;      /* the tiles, if they are profiled */
    const wg_what_if *scaled;   /* durations to scale for each tile; NULL: none */
    struct wg_waits *waits;     /* check --waits */
    bool
        unseen; /* nothing is observed (but races, for --waits) or printed: a run with scaled durations, or other timing */
    const wg_delay *delays; /* perturb by exactly these; NULL: those that the seed draws, or --delays */
    size_t delay_count;
    wg_text trouble; /* of tt-metal's host, in wg_chip_advance() */
    wg_ended ended;
    bool of_cluster; /* it is … */
    unsigned number; /* … number of this chip, which {chip} stands for */
};

/* chip_run.c, in this order; on an error each writes it to `error` and returns false. */
bool wg_chip_refuse(const wg_args *args, wg_text *error);                      /* options for one tile */
bool wg_chip_options(const wg_args *args, wg_chip_file *file, wg_text *error); /* that override the file */
bool wg_chip_begin(wg_chip_run *r,
                   wg_text *error); /* args and file are set: the card, programs and memory, and sinks */
bool wg_chip_inspect(wg_chip_run *r, wg_text *error);       /* time is over: the waits of each tile */
bool wg_chip_outputs_close(wg_chip_run *r, wg_text *error); /* … and the files that were written meanwhile */
/* chip_run.c: all of this after time is over, with report, dumps and SARIF. Returns the exit status. */
int wg_chip_finish(wg_chip_run *r, wg_run_result *result, wg_text *out, wg_text *error);
void wg_chip_end(wg_chip_run *r);
/* The conditions in the file. */
bool wg_chip_has_until(const wg_chip_run *r);
bool wg_chip_until_holds(wg_chip_run *r);
/* chip_run.c: a program of the file, opened once; the session of a tile, made by the first call. NULL: complained. */
wg_elf *wg_chip_program(wg_chip_run *r, const char *path, wg_chip_mark mark);
wg_chip_tile *wg_chip_tile_at(wg_chip_run *r, wg_chip_place at, wg_text *error);
/* chip_run.c: the chip again, unseen, with durations scaled for each tile. */
bool wg_chip_again(void *run, const wg_what_if *of_tile, wg_scaled_run *result, wg_text *error);
/* chip_run.c: opens the file of these arguments, as every command does. wg_chip_end() either way. */
bool wg_chip_open_run(wg_chip_run *r, const wg_args *args, wg_text *error);
/* The same file, unseen and not yet run, with another timing: a seed's, or (`delays` not NULL) exactly these delays. */
bool wg_chip_open_again(wg_chip_run *v, const wg_chip_run *r, uint64_t seed, const wg_delay *delays, size_t count,
                        uint64_t max_cycles, wg_text *error);
bool wg_chip_drive(wg_chip_run *r, wg_text *error);

/* chip_memory.c: memory that the file fills, and dumps that it requests. */
bool wg_chip_images(wg_chip_run *r, bool dump, wg_text *error);
bool wg_chip_host_read(void *run, uint64_t address, void *to, size_t bytes);
bool wg_chip_host_write(void *run, uint64_t address, const void *from, size_t bytes);
/* A path of the file: from its folder, with {x} and {y} for the tile. Freed by the caller. */
char *wg_chip_path(const wg_chip_run *r, const char *path, const wg_chip_tile *t);
/* Likewise, not from the file's folder, and with {chip} for its number in a cluster. NULL: no such placeholder. */
char *wg_chip_name(const char *path, const wg_chip_tile *t, const unsigned *chip);

/* chip_report.c: the exit status, and the report in all its forms. */
int wg_chip_status(wg_chip_run *r);
void wg_chip_report_text(wg_chip_run *r, int status, wg_text *out);
/* `error`: what could not be written; NULL: nothing was. */
void wg_chip_report_json(wg_chip_run *r, int status, const wg_text *error, wg_text *out);
/* Parts of the report for one chip: findings and tiles. */
void wg_chip_tiles_text(wg_chip_run *r, wg_text *out);
void wg_chip_tiles_json(wg_chip_run *r, wg_json *j);
/* SARIF, for a file and for `waitgate test`. */
bool wg_chip_sarif(wg_chip_run *r, int status, wg_text *result, wg_text *error);

/* chip_profile.c: the costs of all tiles. */
bool wg_chip_profile_end(wg_chip_run *r, wg_text *error);
/* The part of the run that counts: from the first to the last cycle of those of all tiles. */
void wg_chip_profile_part(const wg_chip_run *r, uint64_t *from, uint64_t *to);
void wg_chip_profile_text(wg_chip_run *r, wg_text *out);
void wg_chip_profile_json(wg_chip_run *r, wg_json *j);
/* chip_waits.c: judges the waits of all programs, for --waits. */
bool wg_chip_judge_waits(wg_chip_run *r, wg_text *error);
/* chip_grade.c: whether other timings show a difference, for each race of its tiles. */
bool wg_chip_grade_races(wg_chip_run *r, wg_text *error);
/* chip_milestones.c: --from and --to become cycles; their texts are in `number`. */
bool wg_chip_milestones(wg_args *args, char number[2][24], wg_text *error);
/* chip_page.c: the page of `waitgate report`. */
bool wg_chip_page(wg_chip_run *r, int status, wg_text *out, wg_text *error);

#endif
