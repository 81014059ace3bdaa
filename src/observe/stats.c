/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics: the activities of every core, gate and unit, cycle by cycle. */
#include "observe/sinks.h"

#include <string.h>

static void interval(void *user, const wg_interval *i)
{
    wg_stats *s = user;
    s->cycles[i->track][i->doing] += i->to - i->from;
}

void wg_stats_begin(wg_stats *s, uint64_t cycle, unsigned held, wg_arch_id arch, wg_profile profile)
{
    memset(s, 0, sizeof *s);
    s->from = s->to = cycle;
    wg_tracks_begin(&s->tracks, cycle, held, interval, s);
    wg_assumed_begin(&s->assumed, arch, profile);
}

void wg_stats_event(void *user, const wg_event *e)
{
    wg_stats *s = user;
    unsigned thread = e->thread % WG_THREADS;
    wg_tracks_event(&s->tracks, e);
    wg_assumed_event(&s->assumed, e);
    switch (e->kind) {
    case WG_EV_PUSHED: s->pushed[thread]++; break;
    case WG_EV_EXPANDED: s->expanded[thread]++; break;
    case WG_EV_LOST: s->lost[thread]++; break;
    case WG_EV_ISSUED:
        s->issued[WG_AGENT_THREAD0 + thread]++;
        if (e->b < WG_TRACKS && wg_track_is_unit((unsigned)e->b))
            s->issued[e->b]++;
        break;
    default: break;
    }
}

void wg_stats_end(wg_stats *s, uint64_t cycle)
{
    wg_tracks_end(&s->tracks, cycle);
    wg_assumed_end(&s->assumed, cycle);
    s->to = cycle;
}
