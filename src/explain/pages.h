/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Circular buffers of tt-metal's kernels. The count of pages pushed and the count of pages popped are registers of the overlay's
 * stream of the same number; a kernel that waits for pages, or for space, polls one of them.
 *
 *     pusher ──reserve: polls popped──►  pushed, popped  ◄──polls pushed: wait── popper
 *
 * Facts: tt-metal, hw/inc/internal/tt-1xx/<chip>/stream_io_map.h, hw/inc/api/dataflow, hw/ckernels/<chip>/metal/llk_io.
 */
#ifndef WG_PAGES_H
#define WG_PAGES_H

#include <waitgate/event.h>
#include <waitgate/report.h>

#include "machine/device.h"

enum { WG_CBS = 64, WG_PROGRAM_SEMAPHORES = 16 };

/* Who changed a count, or a semaphore in L1, last. */
typedef struct wg_pages_by {
    uint64_t cycle; /* 0: nobody yet */
    uint32_t pc;    /* 0: not known */
    uint8_t agent;  /* core, thread, or NIU: from another tile */
    uint16_t tile;  /* of an NIU's packet */
} wg_pages_by;

/* An observer of the tile. All zero: nothing is known yet. */
typedef struct wg_pages {
    const wg_device *dev;
    wg_pages_by pushed[WG_CBS], popped[WG_CBS];
    uint32_t semaphores, semaphores_end, semaphore_step; /* in L1 */
    wg_pages_by semaphore[WG_PROGRAM_SEMAPHORES];
} wg_pages;
#define WG_PAGES_EVENTS (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_NOC_ARRIVED))
void wg_pages_event(void *pages, const wg_event *e);

/* Is it a circular buffer's count of pages pushed, or popped? As a core, or STOREREG, addresses it. */
bool wg_pages_is_count(const wg_arch *arch, uint32_t address, unsigned *cb, bool *popped);

/* Where a core finds it. */
uint32_t wg_pages_count_at(const wg_arch *arch, unsigned cb, bool popped);

/* The kernel's own line: that of kernel_main, whatever is inlined into it or it is inlined into. */
bool wg_pages_line(const wg_source *s, const char **file, unsigned *line);

/* What a polling core waits for. */
typedef struct wg_pages_wait {
    uint8_t cb;
    bool space;              /* room for pages; else pages */
    uint16_t pushed, popped; /* the counts, modulo 65536 */
    bool known;              /* the next is */
    uint32_t wanted;         /* pages */
} wg_pages_wait;
/* Does the core, at this pc, poll a count of pages? `capacity`: of each circular buffer, for waits for space; 0: not known. */
bool wg_pages_waits(const wg_tile *t, unsigned core, uint32_t pc, uint32_t (*capacity)(void *user, unsigned cb),
                    void *user, wg_pages_wait *out);

/* The address that the loop around the pc loads from, if it is one of the program's semaphores. */
bool wg_pages_semaphore(const wg_tile *t, unsigned core, uint32_t pc, uint32_t first, uint32_t end, uint32_t step,
                        unsigned *semaphore, bool *known, uint32_t *wanted);

#endif
