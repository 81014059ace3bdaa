/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pages from circular buffer 1 into a buffer in DRAM. Arguments: buffer, first page, pages; common: bytes of a page. */
#include "kernel.h"

#ifndef WRITE_AT_ONCE
#define WRITE_AT_ONCE 1
#endif

void kernel_main(void)
{
    const u32 bytes = get_common_arg(0), first = get_arg(1), pages = get_arg(2);
    for (u32 page = 0; page < pages; page += WRITE_AT_ONCE) {
        cb_wait_front(1, WRITE_AT_ONCE);
        for (u32 i = 0; i < WRITE_AT_ONCE; i++) {
            write_page(get_arg(0), first + page + i, bytes, get_read_ptr(1) + i * bytes);
            write_barrier();
        }
        cb_pop_front(1, WRITE_AT_ONCE);
    }
}
