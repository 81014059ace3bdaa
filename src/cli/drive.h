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

/* Cycles between two checks for Ctrl-C: as many as take about a tenth of a second, whatever a cycle costs. */
typedef struct wg_pace {
    uint64_t cycles, least, most; /* `least`, doubled a number of times; at most `most` */
    struct timespec since;
} wg_pace;
wg_pace wg_pace_begin(uint64_t least, uint64_t most);
/* At most this many cycles have passed since the last call. */
void wg_pace_adapt(wg_pace *p);

#endif
