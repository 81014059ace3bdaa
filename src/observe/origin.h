/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where data come from: a log of every read and write of L1, Dst, SrcA, SrcB, LRegs and GPRs, and the way back from a location to
 * who wrote it, and to what the writer had read.
 */
#ifndef WG_ORIGIN_H
#define WG_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <waitgate/waitgate.h>

/* A touch of data. Locations count as in wg_touch_space; a mask of LRegs is a run of bits. */
typedef struct wg_data_touch {
    uint64_t cycle, id;
    uint32_t first, count;
    uint32_t pc, word;
    uint8_t space, agent, thread;
    bool reads, writes;
} wg_data_touch;

enum {
    WG_ORIGIN_TOUCHES = 6 << 20, /* kept at most; of a longer run the latest */
    WG_ORIGIN_LANES = 4
};

typedef struct wg_origin {
    wg_data_touch *touch;
    size_t count, room;
    uint64_t begins; /* what was touched before this cycle is forgotten */
    bool failed;     /* out of memory */
} wg_origin;
#define WG_ORIGIN_EVENTS WG_EV_BIT(WG_EV_TOUCH)

void wg_origin_event(void *origin, const wg_event *e);
void wg_origin_free(wg_origin *o);

/*
 * The writes before touch `before` that the present contents of [first, first + count) come from, the latest first: calls `found` with each
 * write and the part of the location that it left. What nobody wrote is called with SIZE_MAX. An instruction of the Vector Unit may
 * leave lanes as they were: what was written before it counts, too, up to WG_ORIGIN_LANES writes.
 */
void wg_origin_writers(const wg_origin *o, unsigned space, uint32_t first, uint32_t count, size_t before,
                       void (*found)(void *user, size_t touch, uint32_t first, uint32_t count), void *user);
/* What the instruction of this write had read: calls `found` with each of its reads. */
void wg_origin_reads(const wg_origin *o, size_t write, void (*found)(void *user, size_t touch), void *user);

#endif
