/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loaded program with something inserted, as a remedy of the race detector asks for it.
 *
 *     .thread stream:   the words go into the stream
 *     a core's code:    jal ──► trampoline: inserted, the instruction itself, inserted, jal back
 *
 * The trampolines lie in L1 that the program leaves alone, and use a register that it does not mention.
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
    wg_tasm_word *stream[WG_THREADS]; /* that stand in for the program's; NULL: its own */
} wg_patch;

/*
 * Inserts the remedy of `race` into the program that is loaded in `v` and has not run; `seen` is what an earlier run
 * touched. False: it cannot be inserted. wg_patch_free() either way, after the run.
 */
bool wg_patch_apply(wg_patch *p, wg_session *v, const wg_races *seen, const wg_race *race);
/* Where the instruction at `pc` stood before. */
uint32_t wg_patch_original(const wg_patch *p, uint32_t pc);
void wg_patch_free(wg_patch *p);

#endif
