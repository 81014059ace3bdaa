/* SPDX-License-Identifier: Apache-2.0 */
#include "noc/overlay.h"

#include "tile/tile.h"

uint32_t wg_overlay_stream_read(const wg_tile *t, unsigned stream, unsigned register_index)
{
    if (stream >= WG_OVERLAY_STREAMS || register_index >= WG_OVERLAY_REGISTERS)
        return 0;
    return t->regions.niu.overlay[stream][register_index];
}

void wg_overlay_stream_write(wg_tile *t, unsigned stream, unsigned register_index, uint32_t value)
{
    if (stream >= WG_OVERLAY_STREAMS || register_index >= WG_OVERLAY_REGISTERS)
        return;
    t->regions.niu.overlay[stream][register_index] = value;
    wg_wake_threads(&t->sched);
}
