/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a run in files: the device's (wg_snapshot()), the positions of a .tasm program's streams, and the names of the
 * programs, so that a file can be opened without naming them.
 */
#ifndef WG_CLI_SAVED_H
#define WG_CLI_SAVED_H

#include "cli/session.h"

/* Reads the file that --resume names, or that ends in .snapshot; false, with an error, if it is invalid. */
bool wg_saved_read(wg_session *s, const char *path, wg_text *error);
/* The programs that it names and that still exist, in sequence; NULL: no more. *core: WG_CORES for a .tasm program. */
const char *wg_saved_program(const wg_session *s, unsigned index, unsigned *core);
/* Restores the device and the streams. */
bool wg_saved_apply(wg_session *s, wg_text *error);
/* Writes one, with the streams as `s->feed` has them. */
bool wg_saved_write(wg_session *s, const char *path, wg_text *error);
void wg_saved_free(wg_session *s);
bool wg_is_saved(const char *path);

/* --save-at: the next cycle, from `from` on, at which to write one; UINT64_MAX: none. */
uint64_t wg_save_next(const wg_session *s, uint64_t from);
bool wg_save_due(wg_session *s, uint64_t cycle, wg_text *error); /* writes those of this cycle */
/* Is every --save-at valid? */
bool wg_save_check(const wg_args *args, wg_text *error);

#endif
