/* SPDX-License-Identifier: Apache-2.0 */
/* A run under way: how far the streams of a .tasm program have been pushed. */
#ifndef WG_DRIVE_H
#define WG_DRIVE_H

#include <time.h>

#include "cli/session.h"

typedef struct wg_driving {
    wg_session *s;
    wg_feed feed[WG_THREADS];
    uint64_t limit;
    uint64_t save_at;    /* a snapshot is to be written there; UINT64_MAX: none */
    uint64_t watch_from; /* progress is watched from here on; UINT64_MAX: it is not */
    bool terminal;       /* somebody looks at the progress */
    uint64_t steps;
    time_t shown;
    struct timespec began;
} wg_driving;

wg_driving wg_drive_begin(wg_session *s);
/* Runs until `cycle`. True: the run ended before that, as s->ended says, or failed: wg_error(). */
bool wg_drive_to(wg_driving *d, uint64_t cycle, bool *failed);

#endif
