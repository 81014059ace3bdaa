/* SPDX-License-Identifier: Apache-2.0 */
/* Who ends a stall: stalls.def has it for every reason. A switch over it has no default, so that a missing case does not
 * compile. */
#ifndef WG_STALL_H
#define WG_STALL_H

#include <waitgate/event.h>

typedef enum wg_stall_end {
    WG_ENDED_BY_NOTHING, /* there is no stall */
    WG_ENDED_BY_HOLDER,
    WG_ENDED_BY_NOBODY,
    WG_ENDED_BY_LATCH,
    WG_ENDED_BY_UNIT, /* wg_stall.resource */
    WG_ENDED_BY_SCALAR,
    WG_ENDED_BY_UNPACKERS,
    WG_ENDED_BY_MUTEX,
    WG_ENDED_BY_NO_MUTEX, /* there is no such mutex */
    WG_ENDED_BY_SRCA,
    WG_ENDED_BY_SRCB,
    WG_ENDED_BY_DST,
    WG_ENDED_BY_FIFO,
    WG_ENDED_BY_THREAD,
    WG_ENDED_BY_CORE_B,
    /* These end by themselves; if they do not, the holder is to blame. */
    WG_ENDED_BY_TIME = WG_ENDED_BY_HOLDER,
    WG_ENDED_BY_TURN = WG_ENDED_BY_HOLDER,
    WG_ENDED_BY_ANSWER = WG_ENDED_BY_HOLDER
} wg_stall_end;

static inline wg_stall_end wg_stall_ended_by(const wg_stall *stall)
{
    static const uint8_t ends[WG_STALL_COUNT] = {
#define WG_STALL(id, ended_by, text) WG_ENDED_BY_##ended_by,
#include <waitgate/stalls.def>
#undef WG_STALL
    };
    return stall->reason < WG_STALL_COUNT ? (wg_stall_end)ends[stall->reason] : WG_ENDED_BY_HOLDER;
}

#endif
