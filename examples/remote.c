/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote access to a NoC over Ethernet, for Wormhole: a host that reaches one chip only reads and writes any tile of the chip at the other
 * end of a link. The host's side is that of the documented baseline data movement service: a submission queue and a completion queue of four
 * entries at 0x11000, with buffers of 1,024 bytes. Both ends of the link run this program.
 *
 *     host ──> submission queue ──> this chip's NoC
 *                              └──> link ──> REQUEST ──> that chip's NoC
 *     host <── completion queue <── link <── RESPONSE <──┘
 *
 * Requests are served one by one. Those for a chip at neither end, to the host's memory (CMD_DATA_BLOCK_DRAM) and for
 * scatter pages (CMD_MOD) are not served, and are answered with CMD_DEST_UNREACHABLE.
 *
 * Facts: WormholeB0/EthernetTile/BaselineDataMovementService.md.
 *
 *     waitgate run remote.yaml
 */
#include "eth.h"
#include "noc.h"

#define CONFIG(n) WORD(0x28000 + 4 * (n)) /* this chip's place, the other chip's: x | y << 6 */

enum {
    WR_REQ = 1 << 0,
    RD_REQ = 1 << 2,
    RD_DATA = 1 << 3,
    BLOCK_DRAM = 1 << 4,
    BLOCK = 1 << 6,
    NOC_ID = 1 << 9,
    MOD = 1 << 13
};
#define DEST_UNREACHABLE (1u << 31)
enum { ENTRIES = 4, ENTRY = 32, BUFFER = 1024, LINE = 16, MESSAGE = ENTRY + BUFFER + LINE };

/* The queues, and words in them. */
#define SQ 0x11080u
#define CQ 0x11200u
#define BUFFERS 0x12000u
enum { WR_REQS = 0, WR_RESPS = 4, RD_REQS = 8, RD_RESPS = 12, ERRORS = 16, WR_IDX = 32, RD_IDX = 48, FIRST = 64 };
/* Words of an entry. */
enum { ADDRESS = 0, CHIP_NOC = 4, DATA = 8, FLAGS = 12, HOST_ADDRESS = 28 };

#define REQUEST 0x30000u  /* from the other end; a line with its number arrives last */
#define RESPONSE 0x30800u /* likewise */
#define ASKS 0x31000u     /* in transit to the other end */
#define ANSWERS 0x31800u  /* likewise */
#define SCRATCH 0x32000u

static u32 place_of(u32 entry) { return WORD(entry + CHIP_NOC) >> 4 & 0xFFF; }
static u32 chip_of(u32 entry) { return WORD(entry + CHIP_NOC) >> 16 & 0xFFF; }

static void copy(u32 to, u32 from, u32 bytes)
{
    for (u32 i = 0; i < bytes; i += 4)
        WORD(to + i) = WORD(from + i);
}

/* On this chip: the entry's data, or `block`, to or from the tile. */
static void access(u32 entry, u32 block)
{
    const u32 flags = WORD(entry + FLAGS), noc = flags & NOC_ID ? 1 : 0, address = WORD(entry + ADDRESS);
    const u32 bytes = flags & BLOCK ? WORD(entry + DATA) : 4, here = flags & BLOCK ? block : SCRATCH + (address & 31);
    if (flags & WR_REQ) {
        if (!(flags & BLOCK))
            WORD(here) = WORD(entry + DATA);
        stored(&WORD(here + bytes - 4));
        noc_write_to(noc, place_of(entry), bytes);
        noc_write(noc, address, here, 0);
    } else {
        noc_read_from(noc, place_of(entry), bytes);
        noc_read(noc, address, here, 0);
    }
    while (noc_busy(noc, WRITER) | noc_busy(noc, READER) | noc_pending(noc, 0)) {
    }
    if ((flags & RD_REQ) && !(flags & BLOCK))
        WORD(entry + DATA) = WORD(here);
}

/* Sends an entry and its block to the other end, as its n-th message. */
static void send(u32 message, u32 to, u32 n)
{
    WORD(message + ENTRY + BUFFER) = n;
    stored(&WORD(message + ENTRY + BUFFER));
    eth_send(0, message, to, MESSAGE);
}

static u32 has_come(u32 message, u32 n) { return WORD(message + ENTRY + BUFFER) == n; }

/* The host's request is complete, answered with the present contents of `entry` and `block`. */
static void complete(u32 sq_entry, u32 entry, u32 block, u32 error)
{
    const u32 flags = WORD(sq_entry + FLAGS), read = flags & RD_REQ;
    WORD(SQ + (read ? RD_RESPS : WR_RESPS))++;
    if (error)
        WORD(SQ + ERRORS)++;
    if (!read)
        return;
    const u32 index = WORD(CQ + WR_IDX), answer = CQ + FIRST + ENTRY * (index % ENTRIES);
    copy(answer, sq_entry, ENTRY);
    if (flags & BLOCK)
        copy(BUFFERS + BUFFER * (index % ENTRIES), block, (WORD(sq_entry + DATA) + 3) & ~3u);
    else
        WORD(answer + DATA) = error ? 0 : WORD(entry + DATA);
    WORD(answer + HOST_ADDRESS) = 0;
    WORD(answer + FLAGS) = RD_DATA | (flags & BLOCK) | (error ? DEST_UNREACHABLE : 0);
    stored(&WORD(answer + FLAGS));
    WORD(CQ + WR_IDX) = (index + 1) & 7;
}

/* Takes the next request of the host. 1: it is in transit to the other end. */
static u32 serve_host(u32 asked)
{
    const u32 index = WORD(SQ + RD_IDX), entry = SQ + FIRST + ENTRY * (index % ENTRIES),
              block = BUFFERS + BUFFER * (index % ENTRIES);
    const u32 flags = WORD(entry + FLAGS);
    WORD(SQ + (flags & RD_REQ ? RD_REQS : WR_REQS))++;
    if (chip_of(entry) == CONFIG(1) && !(flags & (BLOCK_DRAM | MOD))) {
        copy(ASKS, entry, ENTRY);
        if ((flags & BLOCK) && (flags & WR_REQ))
            copy(ASKS + ENTRY, block, (WORD(entry + DATA) + 3) & ~3u);
        send(ASKS, REQUEST, asked);
        return 1;
    }
    const u32 error = chip_of(entry) != CONFIG(0) || (flags & (BLOCK_DRAM | MOD)) != 0;
    copy(ASKS, entry, ENTRY);
    if (!error)
        access(ASKS, block);
    complete(entry, ASKS, block, error);
    WORD(SQ + RD_IDX) = (index + 1) & 7;
    return 0;
}

int main(void)
{
    u32 asked = 1, answered = 1, waiting = 0;
    for (;;) {
        if (has_come(REQUEST, answered)) {
            copy(ANSWERS, REQUEST, ENTRY);
            access(ANSWERS, WORD(REQUEST + FLAGS) & WR_REQ ? REQUEST + ENTRY : ANSWERS + ENTRY);
            send(ANSWERS, RESPONSE, answered++);
        }
        if (waiting && has_come(RESPONSE, asked)) {
            const u32 index = WORD(SQ + RD_IDX);
            complete(SQ + FIRST + ENTRY * (index % ENTRIES), RESPONSE, RESPONSE + ENTRY, 0);
            WORD(SQ + RD_IDX) = (index + 1) & 7;
            waiting = 0;
            asked++;
        }
        if (!waiting && WORD(SQ + WR_IDX) != WORD(SQ + RD_IDX))
            waiting = serve_host(asked);
    }
}
