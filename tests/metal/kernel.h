/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in tt-metal's style: runtime arguments, pages in circular buffers, transfers of pages, semaphores. */
#ifndef KERNEL_H
#define KERNEL_H

#include "metal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

void kernel_main(void);

ALWAYS_INLINE u32 get_arg(u32 i) { return rta_l1_base[i]; }
ALWAYS_INLINE u32 get_common_arg(u32 i) { return crta_l1_base[i]; }
ALWAYS_INLINE volatile u32 *get_semaphore(u32 i) { return (volatile u32 *)((u32)sem_l1_base + L1_ALIGN * i); }

/* ---- Circular buffers ---- */

ALWAYS_INLINE void cb_wait_front(u32 cb, u32 pages)
{
    const u32 acked = STREAM(cb, ACKED);
    u16 there;
    do
        there = (u16)(STREAM(cb, RECEIVED) - acked);
    while (there < pages);
}

ALWAYS_INLINE void cb_reserve_back(u32 cb, u32 pages)
{
    const u32 received = STREAM(cb, RECEIVED), all = cb_interface[cb].pages;
    int space;
    do
        space = (int)(all - (u16)(received - STREAM(cb, ACKED)));
    while (space < (int)pages);
}

ALWAYS_INLINE u32 cb_advance(const struct cb *c, u32 pointer, u32 pages)
{
    pointer += pages * c->page;
    return pointer == c->limit ? pointer - c->bytes : pointer;
}
ALWAYS_INLINE void cb_push_back(u32 cb, u32 pages)
{
    STREAM(cb, RECEIVED) += pages;
    cb_interface[cb].write = cb_advance(&cb_interface[cb], cb_interface[cb].write, pages);
}
ALWAYS_INLINE void cb_pop_front(u32 cb, u32 pages)
{
    STREAM(cb, ACKED) += pages;
    cb_interface[cb].read = cb_advance(&cb_interface[cb], cb_interface[cb].read, pages);
}
ALWAYS_INLINE u32 get_write_ptr(u32 cb) { return cb_interface[cb].write * 16; }
ALWAYS_INLINE u32 get_read_ptr(u32 cb) { return cb_interface[cb].read * 16; }

/* ---- Transfers ---- */

ALWAYS_INLINE u32 page_bank(u32 page) { return page % DRAM_BANKS; }
ALWAYS_INLINE u32 page_address(u32 base, u32 page, u32 bytes)
{
    const u32 step = (bytes + DRAM_ALIGN - 1) / DRAM_ALIGN * DRAM_ALIGN;
    return base + page / DRAM_BANKS * step + bank_to_dram_offset[page_bank(page)];
}
ALWAYS_INLINE void read_page(u32 base, u32 page, u32 bytes, u32 to)
{
    noc_read_from(0, dram_bank_to_noc_xy[0][page_bank(page)] >> BANK_SHIFT, bytes);
    noc_read(0, page_address(base, page, bytes), to, 1);
}
ALWAYS_INLINE void read_barrier(void)
{
    while (noc_busy(0, READER) || noc_pending(0, 1))
        fence();
}
ALWAYS_INLINE void write_page(u32 base, u32 page, u32 bytes, u32 from)
{
    noc_write_to(1, dram_bank_to_noc_xy[1][page_bank(page)] >> BANK_SHIFT, bytes);
    noc_write(1, page_address(base, page, bytes), from, 1);
}
ALWAYS_INLINE void write_barrier(void)
{
    while (noc_busy(1, WRITER) || noc_pending(1, 1))
        fence();
}

#ifdef NAP
/* Instead of the barrier: long enough for the answer, as a rule. */
ALWAYS_INLINE void nap(void)
{
    for (u32 i = 0; i < 400; i++)
        __asm__ volatile("nop");
}
#define read_barrier nap
#endif

#endif
