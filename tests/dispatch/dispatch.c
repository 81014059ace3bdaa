/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

static u32 taken, completed; /* pages; where in the completion ring, and how often it has wrapped */

static u32 next_page(void)
{
    do
        fence();
    while ((int)(WORD(PASSED) - taken) <= 0);
    return RING + taken++ % PAGES * PAGE;
}

static void copy(u32 to, u32 from, u32 bytes)
{
    for (u32 i = 0; i < bytes; i += 4)
        WORD(to + i) = WORD(from + i);
    if (bytes)
        stored(&WORD(to + bytes - 4));
}

/* Data for the host, in one piece, at most half of the ring; then how far they go. */
static void to_host(u32 from, u32 bytes)
{
    const u32 room = (bytes + UNIT - 1) / UNIT * UNIT, at = completed & ~WRAPPED;
    const u32 begins = at + room > COMPLETION_BYTES ? 0 : at;
    const u32 wrapped = (completed ^ (begins != at ? WRAPPED : 0)) & WRAPPED;
    for (;;) { /* until the host has read what is there */
        fence();
        const u32 read = WORD(TAKEN);
        const u32 read_at = read & ~WRAPPED, lap = (read ^ wrapped) & WRAPPED;
        if (lap ? begins + room <= read_at : read_at <= begins)
            break;
    }
    noc_write_to(0, 0, bytes);
    host_place(WRITER, NOC_RETURN);
    noc_write(0, COMPLETION + begins, from, 1);
    started(WRITER);
    finished(1);
    completed = (begins + room) | wrapped;
    WORD(SCRATCH) = completed;
    stored(&WORD(SCRATCH));
    noc_write_to(0, 0, 4);
    host_place(WRITER, NOC_RETURN);
    noc_write(0, COMPLETED, SCRATCH, 1);
    started(WRITER);
    finished(1);
}

int main(void)
{
    static u32 data[512] __attribute__((aligned(64)));
    for (;;) {
        u32 page = next_page();
        const command c = *(const command *)page;
        u32 used = sizeof c, have = 0;
        while (have < c.bytes) {
            const u32 part = c.bytes - have < PAGE - used ? c.bytes - have : PAGE - used;
            copy((u32)data + have, page + used, part);
            have += part;
            used = 0;
            if (have < c.bytes) {
                add_credit(PARAMETER_AT(PREFETCHER), CREDITS);
                page = next_page();
            }
        }
        add_credit(PARAMETER_AT(PREFETCHER), CREDITS);
        if (c.what == WRITE_TILE) {
            noc_write_to(0, c.place, c.bytes);
            noc_write(0, c.address, (u32)data, 1);
            started(WRITER);
            finished(1);
        } else if (c.what == WRITE_HOST) {
            to_host((u32)data, c.bytes);
        } else {
            break;
        }
    }
    finished(CREDIT_TAG);
    return 0;
}
