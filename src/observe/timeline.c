/* SPDX-License-Identifier: Apache-2.0 */
/* The run as a picture of fixed size; cells merge in pairs whenever the run outgrows them. */
#include "observe/sinks.h"

#include <string.h>

static void halve(wg_timeline *t)
{
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        for (unsigned i = 0; i < WG_TIMELINE_CELLS / 2; i++)
            for (unsigned d = 0; d < WG_DOINGS; d++)
                t->cell[track][i][d] = t->cell[track][2 * i][d] + t->cell[track][2 * i + 1][d];
        memset(t->cell[track][WG_TIMELINE_CELLS / 2], 0, sizeof t->cell[track] / 2);
    }
    t->width *= 2;
}

static void interval(void *user, const wg_interval *i)
{
    wg_timeline *t = user;
    while ((i->to - t->from - 1) / t->width >= WG_TIMELINE_CELLS)
        halve(t);
    for (uint64_t at = i->from; at < i->to;) {
        uint64_t cell = (at - t->from) / t->width;
        uint64_t end = t->from + (cell + 1) * t->width;
        if (end > i->to)
            end = i->to;
        t->cell[i->track][cell][i->doing] += end - at;
        at = end;
    }
}

void wg_timeline_begin(wg_timeline *t, uint64_t cycle, unsigned held)
{
    memset(t, 0, sizeof *t);
    t->from = t->to = cycle;
    t->width = 1;
    wg_tracks_begin(&t->tracks, cycle, held, interval, t);
}

void wg_timeline_event(void *user, const wg_event *e) { wg_tracks_event(&((wg_timeline *)user)->tracks, e); }

void wg_timeline_end(wg_timeline *t, uint64_t cycle)
{
    wg_tracks_end(&t->tracks, cycle);
    t->to = cycle;
}

bool wg_timeline_at(const wg_timeline *t, unsigned track, unsigned column, unsigned columns, unsigned *doing)
{
    uint64_t cells = (t->to - t->from + t->width - 1) / t->width;
    if (columns == 0 || column >= columns || cells == 0 || track >= WG_TRACKS)
        return false;
    /* More columns than cells: a cell is shown as several columns. */
    uint64_t first = cells * column / columns, last = cells * (column + 1) / columns;
    if (last == first)
        last = first + 1;
    uint64_t best = 0, active = 0, idle = 0;
    for (unsigned d = 0; d < WG_DOINGS; d++) {
        uint64_t sum = 0;
        for (uint64_t i = first; i < last; i++)
            sum += t->cell[track][i][d];
        if (d == WG_DOING_IDLE) {
            idle = sum;
            continue;
        }
        active += sum;
        if (sum > best) {
            best = sum;
            *doing = d;
        }
    }
    if (active * 4 < idle || active == 0)
        *doing = WG_DOING_IDLE;
    return active + idle > 0;
}

bool wg_timeline_quiet(const wg_timeline *t, unsigned track)
{
    for (unsigned i = 0; i < WG_TIMELINE_CELLS; i++)
        for (unsigned d = 0; d < WG_DOINGS; d++)
            if (d != WG_DOING_IDLE && d != WG_DOING_RESET && t->cell[track][i][d])
                return false;
    return true;
}
