/* SPDX-License-Identifier: Apache-2.0 */
/* A run in progress: the positions of a .tasm program's streams. */
#ifndef WG_DRIVE_H
#define WG_DRIVE_H

#include "cli/meter.h"
#include "cli/session.h"

typedef struct wg_driving {
    wg_session *s;
    wg_feed feed[WG_THREADS];
    uint64_t limit;
    uint64_t save_at;    /* cycle of the next snapshot; UINT64_MAX: none */
    uint64_t watch_from; /* progress is observed from this cycle on; UINT64_MAX: not at all */
} wg_driving;

/* Has a core executed more zeros than L1 has words? Then they lead back into a program, and it goes round forever. */
bool wg_runs_away(const wg_device *dev);

wg_driving wg_drive_begin(wg_session *s);
/* Runs until `cycle`. True: the run ended before that, as s->ended says, or failed: wg_error(). */
bool wg_drive_to(wg_driving *d, uint64_t cycle, bool *failed);
/* After the run: finishes what a report needs of the streams and of the detector. */
void wg_drive_end(wg_driving *d);

#endif
