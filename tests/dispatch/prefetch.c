/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

static u32 credits, passed; /* pages in all */

static void pass_page(u32 from)
{
    do
        fence();
    while ((int)(PAGES + WORD(CREDITS) - credits) <= 0);
    credits++;
    noc_write(0, RING + passed++ % PAGES * PAGE, from, 1);
    started(WRITER);
    finished(1);
    add_credit(PARAMETER_AT(DISPATCHER), PASSED);
}

int main(void)
{
    volatile unsigned short *const entry = (volatile unsigned short *)QUEUE;
    u32 at = 0, next = 0;
    noc_write_to(0, PARAMETER_AT(DISPATCHER), PAGE);
    for (;;) {
        u32 units;
        do
            fence();
        while (!(units = entry[next]));
        if (at + units * UNIT > ISSUE_BYTES) /* a fetch does not wrap: the host goes on at the ring's start */
            at = 0;
        noc_read_from(0, 0, units * UNIT);
        host_place(READER, NOC_TARGET);
        noc_read(0, ISSUE + at, STAGING, 0);
        started(READER);
        finished(0);
        fence();
        entry[next] = 0;
        next = (next + 1) % ENTRIES;
        at += units * UNIT;
        for (u32 done = 0; done < units * UNIT; done += PAGE)
            pass_page(STAGING + done);
        if (WORD(STAGING) == END)
            break;
    }
    finished(CREDIT_TAG);
    return 0;
}
