/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loaded program with the insertions of a race detector's remedy.
 *
 *     .thread stream:   the words go into the stream
 *     a core's code:    jal ──► trampoline: inserted, the instruction itself, inserted, jal back
 *
 * The trampolines are in L1 that the program does not use, and use a register that it does not use.
 */
#ifndef WG_PATCH_H
#define WG_PATCH_H

#include "cli/session.h"

enum { WG_PATCH_MOVES = WG_INSERTIONS };

typedef struct wg_patch {
    struct {
        uint32_t from, to; /* an instruction that was moved into a trampoline */
    } moved[WG_PATCH_MOVES];
    unsigned moves;
    wg_tasm_word *stream[WG_THREADS]; /* replacing the program's; NULL: its own */
} wg_patch;

/*
 * Inserts the remedy of `race` into the program that is loaded in `v` and has not run; `seen` has the touches of an earlier
 * run. False: it cannot be inserted. Call wg_patch_free() in either case, after the run.
 */
bool wg_patch_apply(wg_patch *p, wg_session *v, const wg_races *seen, const wg_race *race);
/* The original address of the instruction at `pc`. */
uint32_t wg_patch_original(const wg_patch *p, uint32_t pc);
void wg_patch_free(wg_patch *p);

#endif
