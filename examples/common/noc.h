/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the NoCs by B and NC: an initiator's registers, a command, counters of unanswered requests.
 *
 *     noc_read_from(0, place, 2048);         from that tile, this many bytes at a time
 *     noc_read(0, there, here, tag);         addresses there and here
 *     while (noc_busy(0, READER)) {}         the next one can be requested
 *     while (noc_pending(0, tag)) {}         it has arrived
 *
 * A place is x | y << 6 on the NoC in question. Length of a request: at most 64 KiB; hardware splits requests larger than a
 * packet. Both addresses must be equal modulo 16.
 */
#ifndef NOC_H
#define NOC_H

#include "tile.h"

enum { READER, WRITER, SIGNALLER }; /* initiators, of which each NoC has four */

#define NOC_REGISTER(noc, offset) WORD(NOC0_REGS_START_ADDR + 0x10000 * (noc) + (offset))
#ifdef WG_ARCH_WH
enum { NOC_STRIDE = 0x400, NOC_COMMAND = 0x28, NOC_NODE_ID = 0x2C, NOC_LOGICAL_ID = 0x138 };
#else
enum { NOC_STRIDE = 0x800, NOC_COMMAND = 0x40, NOC_NODE_ID = 0x44, NOC_LOGICAL_ID = 0x148 };
#endif
enum { NOC_TARGET = 0x00, NOC_RETURN = 0x0C, NOC_TAG = 0x18, NOC_CTRL = 0x1C, NOC_LENGTH = 0x20, NOC_CONFIG = 0x100 };
enum {
    NOC_READS = 0,
    NOC_WRITES = 2,
    NOC_ANSWER = 1 << 4,
    NOC_MULTICAST = 1 << 5,
    NOC_TO_SELF = 1 << 17,
    NOC_RESERVE_PATH = 1 << 8
};
enum {
    NOC_WRITE_ANSWERS = 0x200 + 4 * 1,
    NOC_OUTSTANDING = 0x200 + 4 * 16,
    NOC_OUTGOING = 0x200 + 4 * 32
}; /* one counter per tag */

/* This tile's place, as requests on this NoC give it. */
static inline u32 noc_here(u32 noc)
{
    u32 translated = NOC_REGISTER(noc, NOC_CONFIG) >> 14 & 1;
    return NOC_REGISTER(noc, translated ? NOC_LOGICAL_ID : NOC_NODE_ID) & 0xFFF;
}

/* The part of a tile's address that stays the same. `end` is its first register. */
static inline void noc_place(u32 noc, u32 initiator, u32 end, u32 place)
{
    u32 base = initiator * NOC_STRIDE + end;
#ifdef WG_ARCH_WH
    NOC_REGISTER(noc, base + 4) = place << 4;
#else
    NOC_REGISTER(noc, base + 4) = 0;
    NOC_REGISTER(noc, base + 8) = place;
#endif
}

/* Settings common to all requests of an initiator. */
static inline void noc_setup(u32 noc, u32 initiator, u32 control, u32 there, u32 bytes)
{
    u32 writes = (control & 3) == NOC_WRITES;
    u32 here = noc_here(noc);
    noc_place(noc, initiator, NOC_TARGET, writes ? here : there);
    noc_place(noc, initiator, NOC_RETURN, writes ? there : here);
    NOC_REGISTER(noc, initiator * NOC_STRIDE + NOC_CTRL) = control;
    NOC_REGISTER(noc, initiator * NOC_STRIDE + NOC_LENGTH) = bytes;
}
/* All reads of a NoC from one place, all writes to one (or, multicast, to a rectangle: its end | its start << 12). */
static inline void noc_read_from(u32 noc, u32 place, u32 bytes)
{
    noc_setup(noc, READER, NOC_READS | NOC_ANSWER, place, bytes);
}
static inline void noc_write_to(u32 noc, u32 place, u32 bytes)
{
    noc_setup(noc, WRITER, NOC_WRITES | NOC_ANSWER, place, bytes);
}

/* The initiator's request has not left yet. When it has, it is counted, and the next one can be made. */
static inline u32 noc_busy(u32 noc, u32 initiator) { return NOC_REGISTER(noc, initiator * NOC_STRIDE + NOC_COMMAND); }
static inline void noc_start(u32 noc, u32 initiator, u32 target, u32 back, u32 tag)
{
    u32 base = initiator * NOC_STRIDE;
    NOC_REGISTER(noc, base + NOC_TARGET) = target;
    NOC_REGISTER(noc, base + NOC_RETURN) = back;
    NOC_REGISTER(noc, base + NOC_TAG) = tag << 10;
    NOC_REGISTER(noc, base + NOC_COMMAND) = 1;
}
static inline void noc_read(u32 noc, u32 there, u32 here, u32 tag) { noc_start(noc, READER, there, here, tag); }
static inline void noc_write(u32 noc, u32 there, u32 here, u32 tag) { noc_start(noc, WRITER, here, there, tag); }

/* Requests with this tag that are not answered; writes with it whose data has not left. */
static inline u32 noc_pending(u32 noc, u32 tag) { return NOC_REGISTER(noc, NOC_OUTSTANDING + 4 * tag); }
static inline u32 noc_leaving(u32 noc, u32 tag) { return NOC_REGISTER(noc, NOC_OUTGOING + 4 * tag); }
/* The number of writes answered so far. A multicast is answered by each tile, and counters of tags do not know how many. */
static inline u32 noc_answers(u32 noc) { return NOC_REGISTER(noc, NOC_WRITE_ANSWERS); }

#endif
