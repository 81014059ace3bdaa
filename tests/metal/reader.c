/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pages of a buffer in DRAM into circular buffer 0. Arguments: buffer, first page, pages; common: bytes of a page. */
#include "kernel.h"

#ifndef READ_PAGES
#define READ_PAGES get_arg(2)
#endif

#ifndef PUSH_AT_ONCE
#define PUSH_AT_ONCE 1
#endif

void kernel_main(void)
{
    const u32 bytes = get_common_arg(0), first = get_arg(1), pages = READ_PAGES;
    for (u32 page = 0; page < pages; page++) {
        cb_reserve_back(0, 1);
        read_page(get_arg(0), first + page, bytes, get_write_ptr(0));
#ifndef NO_BARRIER
        read_barrier();
#endif
#ifdef NAP /* long enough for the answer, as a rule */
        for (u32 i = 0; i < 400; i++)
            __asm__ volatile("nop");
#endif
#ifdef NO_PUSH
        if (page + 1 < pages)
#endif
            cb_push_back(0, PUSH_AT_ONCE);
    }
}
