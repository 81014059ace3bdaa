/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling by arithmetic (time.md rule 10): when nothing in the tile acts but cores in loops that store
 * nothing, and the tile's whole state comes back relative to time, whole periods are skipped.
 */
#ifndef WG_POLL_H
#define WG_POLL_H

#include "riscv/core.h"
#include "tile/mailbox.h"
#include "tile/memory.h"
#include "tile/pcbuf.h"

struct wg_tile;

enum { WG_POLL_REQUESTS = 16 };

/* The state of cores and requests with all times relative to the clock, comparable byte by byte. */
typedef struct wg_poll_state {
    wg_core_run run[WG_CORES];
    uint8_t predictor[WG_CORES][WG_PREDICTOR];
    uint32_t targets[WG_CORES][WG_TARGETS][2];
    uint32_t epoch[WG_CORES];
    wg_request request[WG_CORES][WG_POLL_REQUESTS];
    uint64_t retry_at[WG_CORES];
    uint8_t requests[WG_CORES];
    uint64_t port_free[WG_L1_PORTS], bank_free[WG_L1_MAX_BANKS];
    uint8_t port_turn[WG_L1_PORTS], turn[WG_PATH_COUNT];
    wg_mailboxes mailbox;
    wg_pcbufs pcbuf;
} wg_poll_state;

/* Environment, not state: when a round is recognised has no effect on what happens. */
typedef struct wg_poll {
    uint64_t at, signature, found_at;
    uint32_t interval, visits;   /* interval 0: no reference */
    uint64_t number[WG_CORES];
    wg_poll_state state, scratch;
} wg_poll;

/*
 * To be called between cycles. Advances t->sched.now by whole periods, to at most `limit` and not beyond
 * the next appointment of anybody else. If nothing else can ever act, the polling never ends by itself: with
 * `stop_if_endless` the time is left as it is, and the answer is true.
 */
bool wg_poll_skip(struct wg_tile *t, uint64_t limit, bool stop_if_endless);
/* Something happened that must not be repeated by arithmetic: time was read. */
void wg_poll_disturb(struct wg_tile *t);
/* Is the core in a loop that was found to repeat itself exactly, up to now? */
bool wg_core_is_polling(const struct wg_tile *t, unsigned core);

#endif
