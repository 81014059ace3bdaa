/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC buffers and manual TTSync: the region at PC_BUF_BASE (PIPE-27, PIPE-28).
 */
#ifndef WG_PCBUF_H
#define WG_PCBUF_H

#include "machine/fifo.h"
#include "machine/request.h"

enum { WG_PCBUF_DEPTH = 16 };

typedef struct wg_pcbufs {
    wg_fifo fifo[WG_THREADS];           /* from B to T0, T1, T2 */
    uint64_t waiting_since[WG_THREADS]; /* since when T has been stalled on its empty PC buffer; WG_NEVER: it is not */
    uint64_t ttsync_from[WG_THREADS];   /* when T emitted its last TTSync load */
    uint64_t ttsync_until[WG_THREADS];  /* when that load's value reached T; WG_NEVER: it is in flight */
    uint32_t override;                  /* RISCV_DEBUG_REG_TRISC_PC_BUF_OVERRIDE */
} wg_pcbufs;

struct wg_tile;
void wg_pcbufs_reset(struct wg_tile *t);
/* T<thread> enters soft reset: its requests are lost. */
void wg_pcbuf_stop(struct wg_tile *t, unsigned thread);
/* T<thread> leaves soft reset: B's pushes are lost (SoftReset.md). */
void wg_pcbuf_discard(struct wg_tile *t, unsigned thread);
void wg_pcbuf_override(struct wg_tile *t, uint32_t value);

wg_region_answer wg_pcbuf_b(struct wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4],
                            wg_stall *why);
wg_region_answer wg_pcbuf_t(struct wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4],
                            wg_stall *why);
wg_region_answer wg_manual_ttsync(struct wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4],
                                  wg_stall *why);
/*
 * The hardware bug of manual TTSync: a T core starts a load from the PC buffer's or a mailbox's range before an earlier TTSync
 * load has finished. Call it once per load, when the load is processed; it reports the bug, and the caller returns a wrong
 * value.
 */
bool wg_manual_ttsync_overlaps(struct wg_tile *t, const wg_request *req);

/* The override bits of one PC buffer. */
static inline bool wg_pcbuf_override_en(const wg_pcbufs *p, unsigned thread) { return p->override >> 10 * thread & 1; }
static inline bool wg_pcbuf_override_busy(const wg_pcbufs *p, unsigned thread)
{
    return (p->override >> 10 * thread & 3) == 3;
}

#endif
