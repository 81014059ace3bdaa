/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes pages from circular buffer 0, changes each word, puts them into circular buffer 1. Arguments: pages, which
 * change; common: bytes of a page.
 */
#include "kernel.h"

#ifndef COMPUTE_PAGES
#define COMPUTE_PAGES 1
#endif

static u32 add_one(u32 value) { return value + 1; }
static u32 twice(u32 value) { return 2 * value; }

/* Initialised data with addresses of code: the loader must know where the code runs. */
static u32 (*volatile change[])(u32) = {add_one, twice};

void kernel_main(void)
{
    const u32 words = get_common_arg(0) / 4, pages = get_arg(0);
#ifdef WAITS_FOR
    cb_wait_front(WAITS_FOR, 1);
#endif
    for (u32 page = 0; page < pages; page += COMPUTE_PAGES) {
        cb_wait_front(0, COMPUTE_PAGES);
        cb_reserve_back(1, COMPUTE_PAGES);
        const volatile u32 *from = (const volatile u32 *)get_read_ptr(0);
        volatile u32 *to = (volatile u32 *)get_write_ptr(1);
        for (u32 i = 0; i < COMPUTE_PAGES * words; i++)
            to[i] = change[get_arg(1)](from[i]);
        stored(&to[COMPUTE_PAGES * words - 1]);
        cb_push_back(1, COMPUTE_PAGES);
        cb_pop_front(0, COMPUTE_PAGES);
    }
}
