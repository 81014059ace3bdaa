/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a run in files: the device's (wg_snapshot()), the positions of a .tasm program's streams, and the names of the
 * programs, so that a file can be opened without naming them.
 */
#ifndef WG_CLI_SAVED_H
#define WG_CLI_SAVED_H

#include <waitgate/chip.h>

#include "cli/session.h"

/* Reads the file that --resume names, or that ends in .snapshot; false, with an error, if it is invalid. */
bool wg_saved_read(wg_session *s, const char *path, wg_text *error);
/* The programs that it names and that still exist, in sequence; NULL: no more. *core: WG_CORES for a .tasm program. */
const char *wg_saved_program(const wg_session *s, unsigned index, unsigned *core);
/* Restores the device and the streams. */
bool wg_saved_apply(wg_session *s, wg_text *error);
/* Writes one, with the streams as `s->feed` has them. */
bool wg_saved_write(void *session, const char *path, wg_text *error);
void wg_saved_free(wg_session *s);
bool wg_is_saved(const char *path);

/* saved_chip.c: of a chip. The file has the chip's snapshot, the host's memory and the name of the chip file. */
typedef struct wg_saved_chip {
    uint8_t *file; /* NULL: none */
    size_t bytes;
    const char *path, *name; /* name: of the chip file */
} wg_saved_chip;
bool wg_saved_is_chip(const char *path); /* by its first bytes */
/* The files that were given, a chip file, a snapshot, or both: reads the snapshot; *chip is the chip file. */
bool wg_saved_chip_files(const wg_args *args, wg_saved_chip *c, const char **chip, wg_text *error);
bool wg_saved_chip_read(wg_saved_chip *c, const char *path, wg_text *error);
void wg_saved_chip_free(wg_saved_chip *c);
/* Is it of such a chip? `name`: of the chip file, for complaints. */
bool wg_saved_chip_fits(const wg_saved_chip *c, const wg_grid_desc *chip, const char *name, wg_text *error);
bool wg_saved_chip_apply(const wg_saved_chip *c, wg_grid *grid, uint8_t *host, uint64_t host_bytes, wg_text *error);
bool wg_saved_chip_write(wg_grid *grid, const wg_grid_desc *chip, const char *name, const uint8_t *host,
                         uint64_t host_bytes, const char *path, wg_text *error);

/* --save-at, --save-every: the next cycle, from `from` on, at which one is to be written; UINT64_MAX: none. */
uint64_t wg_save_next(const wg_args *args, uint64_t from);
/* Writes those due in this cycle. */
bool wg_save_due(const wg_args *args, uint64_t cycle, bool (*write)(void *user, const char *path, wg_text *error),
                 void *user, wg_text *error);
/*
 * The run has ended, and the next one was due in this cycle: is one of --save-at left? Then reports it and returns
 * false.
 */
bool wg_save_missed(const wg_args *args, uint64_t ended, uint64_t due, wg_text *error);
/* Are these options valid? */
bool wg_save_check(const wg_args *args, wg_text *error);

#endif
