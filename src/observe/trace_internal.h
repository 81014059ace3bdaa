/* SPDX-License-Identifier: Apache-2.0 */
/* Between trace.c and trace_noc.c. */
#ifndef WG_TRACE_INTERNAL_H
#define WG_TRACE_INTERNAL_H

#include "observe/sinks.h"

enum { WG_METER_SENT = 0, WG_METER_ARRIVED = 1, WG_METER_L1_READ = 4, WG_METER_L1_WRITTEN = 5 }; /* NoC: + 2 * number */

wg_trace_at wg_trace_track(const wg_trace *t, unsigned agent, unsigned slot);
void wg_trace_name_track(wg_trace *t, unsigned agent, unsigned slot, const char *name); /* once */
void wg_trace_arrow(wg_trace *t, const char *name, wg_trace_at from, uint64_t from_cycle, wg_trace_at to,
                    uint64_t to_cycle);
void wg_trace_meter_add(wg_trace *t, unsigned meter, uint64_t cycle, uint64_t bytes);

void wg_trace_sent(wg_trace *t, const wg_event *e);
void wg_trace_arrived(wg_trace *t, const wg_event *e);
void wg_trace_left(wg_trace *t, unsigned noc, uint64_t end); /* writes the packet that is leaving */

#endif
