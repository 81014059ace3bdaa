/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sync Unit: mutexes and semaphores (SyncUnit.md; SYNC-*, SEM-*).
 *
 *     thread 0, 1, 2 ──┐
 *                      ├── one slot per cycle ──> semaphores, latched waits
 *     T0, T1, T2 ──────┘ (stores to the semaphore window)
 *     thread 0, 1, 2 ───── one per mutex and cycle ──> mutexes
 *
 * Everything takes one cycle: an instruction accepted in phase E of c takes effect from c + 1 on.
 */
#ifndef WG_SYNC_H
#define WG_SYNC_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/request.h"

enum { WG_SEMAPHORES = 8, WG_MUTEXES = 8 };

typedef struct wg_sync {
    uint8_t value[WG_SEMAPHORES], max[WG_SEMAPHORES];
    uint8_t mutex[WG_MUTEXES];      /* 0: free, else the holder's thread + 1 */
    uint8_t slot_turn;              /* whose turn: threads 0…2, then cores T0…T2 as 3…5 */
    uint8_t mutex_turn[WG_MUTEXES]; /* whose turn, per mutex */
    uint8_t core_waits;             /* bit i: a store of T<i> waits for the slot */
    uint8_t core_semaphore[3];
    bool core_gets[3]; /* else it posts */
} wg_sync;

/* Where a T core sees the semaphores: the offset from PC_BUF_BASE. */
enum { WG_SEMAPHORE_WINDOW = 0x20 };
static inline bool wg_is_semaphore(const wg_request *req)
{
    return req->path == WG_PATH_SYNC && req->core != WG_CORE_B && (req->address & 0xFFFF) >= WG_SEMAPHORE_WINDOW;
}

struct wg_tile;
struct wg_insn;
/*
 * A T core's load from the semaphore window (SEM-04) needs no slot. While the core's own store waits for the slot
 * (wg_sync_core_store_waits), the load must wait, too: they stay in order.
 */
uint32_t wg_sync_core_read(struct wg_tile *t, unsigned core, unsigned semaphore);
static inline bool wg_sync_core_store_waits(const wg_sync *s, unsigned core)
{
    return core >= WG_CORE_T0 && core <= WG_CORE_T2 && (s->core_waits >> (core - WG_CORE_T0) & 1);
}
/*
 * A T core's store there (SEM-05), in phase C. Decided here, since the slot is granted after the regions: the store goes into
 * the core's place at the slot and executes in phase E of the same cycle, unless somebody else gets the slot (SYNC-03). While
 * the place is occupied, the next store waits.
 */
wg_region_answer wg_sync_core_write(struct wg_tile *t, unsigned core, unsigned semaphore, uint32_t value,
                                    wg_stall *why);

/* The low-level kernels' names of the semaphores, such as "MATH_PACK" (SEM-09). "" beyond the last. */
const char *wg_semaphore_name(unsigned semaphore);

/*
 * Phase E: the heads of the threads in `wanting` are Sync Unit instructions that nothing else stalls; stores of cores may
 * wait. Grants the slot and mutexes, and executes the store that gets the slot. Returns the threads
 * that were granted; the gate passes their heads and calls wg_sync_execute(). `why` has the stalls of the others.
 */
unsigned wg_sync_arbitrate(struct wg_tile *t, unsigned wanting, wg_stall why[3]);

/* The same for one head without competitors. */
bool wg_sync_grant(struct wg_tile *t, unsigned thread, const struct wg_insn *insn, wg_stall *why);

/* Executes a granted instruction on semaphores or a mutex. The gate handles waits. `observed`: there is an observer. */
void wg_sync_execute(struct wg_tile *t, const struct wg_insn *insn, bool observed);

#endif
