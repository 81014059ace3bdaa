/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without an instruction that MOP or REPLAY makes, or with another one in its place: where the expander is fed
 * from says neither how often the word appears nor where it comes from, so it is replaced as it leaves the expander.
 */
#ifndef WG_REWRITE_H
#define WG_REWRITE_H

#include <stdint.h>
#include <waitgate/waitgate.h>

enum { WG_REWRITE_PLACES = 8 };
typedef struct wg_rewrite {
    uint32_t from, to; /* words */
    uint32_t pc[WG_REWRITE_PLACES];
    uint8_t pcs, thread; /* pc[]: of the MOPs and REPLAYs that make it */
} wg_rewrite;

static inline uint32_t wg_rewritten(const wg_rewrite *r, unsigned thread, uint32_t pc, uint32_t word)
{
    for (unsigned i = 0; word == r->from && thread == r->thread && i < r->pcs; i++)
        if (r->pc[i] == pc)
            return r->to;
    return word;
}

struct wg_device;
/* From here on; `r` must outlive the device. NULL: nothing is replaced. */
void wg_device_rewrite(struct wg_device *dev, const wg_rewrite *r);

#endif
