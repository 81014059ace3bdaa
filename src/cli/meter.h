/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of work that takes time: a line on the terminal, at most once per second and not in the first. */
#ifndef WG_METER_H
#define WG_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct wg_meter {
    const char *what;    /* why a program runs again; NULL: it is the run itself */
    uint64_t from, most; /* cycles: where it began, where it ends at the latest; UINT64_MAX: not known */
    uint64_t done;       /* cycles of runs that have ended */
    struct timespec began;
    time_t shown; /* seconds after `began`; 0: nothing was displayed */
    bool terminal;
} wg_meter;

/* The command switches progress on; a host of the library sees none. */
void wg_meter_enable(void);
bool wg_meter_on(void);
wg_meter wg_meter_begin(const char *what, uint64_t from, uint64_t most);
/* The present run is at this cycle. */
void wg_meter_show(wg_meter *m, uint64_t cycle);
/* The same of a debugger, which also goes back: no rate, no time left. */
void wg_meter_at(wg_meter *m, uint64_t cycle);
/* Removes the line. */
void wg_meter_end(wg_meter *m);

#endif
