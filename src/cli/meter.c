/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_WAIT = 24 * 3600 }; /* a longer time left is not worth a line */

static bool enabled;

void wg_meter_enable(void) { enabled = true; }
bool wg_meter_on(void)
{
    const char *terminal = getenv("TERM");
    return enabled && isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

wg_meter wg_meter_begin(const char *what, uint64_t from, uint64_t most)
{
    wg_meter m = {.what = what, .from = from, .most = most, .terminal = wg_meter_on()};
    clock_gettime(CLOCK_MONOTONIC, &m.began);
    return m;
}

/* Is a line to be shown now? */
static bool due(wg_meter *m, time_t *elapsed)
{
    struct timespec t;
    if (!m->terminal)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    *elapsed = t.tv_sec - m->began.tv_sec;
    if (*elapsed < 1 || *elapsed == m->shown)
        return false;
    m->shown = *elapsed;
    return true;
}

void wg_meter_at(wg_meter *m, uint64_t cycle)
{
    time_t elapsed;
    if (due(m, &elapsed))
        fprintf(stderr, "\r\033[Kat cycle %llu", (unsigned long long)cycle);
}

void wg_meter_show(wg_meter *m, uint64_t cycle)
{
    time_t elapsed;
    if (!due(m, &elapsed))
        return;
    const uint64_t at = m->done + cycle;
    const double rate = (double)(at - m->from) / (double)elapsed, left = (double)(m->most - at) / rate;
    if (m->what)
        fprintf(stderr, "\r\033[K%s: %.1f million cycles, %.1f million per second", m->what, (double)at / 1e6,
                rate / 1e6);
    else
        fprintf(stderr, "\r\033[Kcycle %llu, %.1f million per second", (unsigned long long)at, rate / 1e6);
    if (m->most != UINT64_MAX && at < m->most && left < LONG_WAIT)
        fprintf(stderr, m->what ? ", at most %.0f s left" : ", at most %.0f s to the limit", left);
    fflush(stderr);
}

void wg_meter_end(wg_meter *m)
{
    if (m->shown)
        fprintf(stderr, "\r\033[K");
    m->shown = 0;
}
