/* SPDX-License-Identifier: Apache-2.0 */
/* What the shortcuts of cores share: ahead.c, solo.c. */
#ifndef WG_FAST_CORES_H
#define WG_FAST_CORES_H

#include "riscv/lsu.h"
#include "riscv/pipeline.h"

/* ahead.c: what is not in `saved` is as it was: the flags, and what the log of old values covers. */
void wg_ahead_undo(wg_core *k);
/* solo.c: a run through L1, back at its checkpoint, is repeated up to the current cycle. */
void wg_solo_repeat(wg_tile *t, unsigned core);

#endif
