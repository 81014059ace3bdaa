/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes over a NoC, for the cores of a tile: one request, and the wait for its answer. */
#ifndef NOC_H
#define NOC_H

#include "tile.h"

#define NIU(noc, offset) WORD(NOC0_REGS_START_ADDR + 0x10000 * (noc) + (offset))
#define PLACE(x, y) ((u32)(x) | (u32)(y) << 6)

/* Where the architectures differ. */
#ifdef WG_ARCH_BH
enum { NIU_COMMAND = 0x40, NIU_OWN_PLACE = 0x148 };
static inline void niu_side(u32 noc, u32 offset, u32 place, u32 address)
{
    NIU(noc, offset) = address;
    NIU(noc, offset + 4) = 0;
    NIU(noc, offset + 8) = place;
}
#else
enum { NIU_COMMAND = 0x28, NIU_OWN_PLACE = 0x138 };
static inline void niu_side(u32 noc, u32 offset, u32 place, u32 address)
{
    NIU(noc, offset) = address;
    NIU(noc, offset + 4) = place << 4;
}
#endif

static inline u32 own_place(u32 noc) { return NIU(noc, NIU_OWN_PLACE) & 0xFFF; }

/* `counter` counts answers of this kind. */
static inline void niu_request(u32 noc, u32 control, u32 bytes, u32 counter)
{
    u32 before = NIU(noc, counter);
    NIU(noc, 0x18) = 0;
    NIU(noc, 0x1C) = control;
    NIU(noc, 0x20) = bytes;
    NIU(noc, NIU_COMMAND) = 1;
    stored(&NIU(noc, NIU_COMMAND));
    while (NIU(noc, counter) == before) {
    }
    fence();
}

/* `bytes` at `address` of the tile at a place, to L1 here: at most a packet. */
static inline void noc_read(u32 noc, u32 place, u32 address, u32 to, u32 bytes)
{
    niu_side(noc, 0x00, place, address);
    niu_side(noc, 0x0C, own_place(noc), to);
    niu_request(noc, 0, bytes, 0x208);
}

static inline void noc_write(u32 noc, u32 from, u32 place, u32 address, u32 bytes)
{
    niu_side(noc, 0x00, own_place(noc), from);
    niu_side(noc, 0x0C, place, address);
    niu_request(noc, 2 | 1 << 4, bytes, 0x204);
}

#endif
