/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of tiles as a stream. B's tiles go through three T cores, each ahead of the next by the depth of its buffers:
 *
 *     B ──> LEFT, RIGHT ──> T0 ──> SrcA, SrcB ──> T1 ──> Dst ──> T2 ──> RESULTS ──> NC
 *           3 tiles each           2 banks each          2 halves       3 tiles
 *
 * B fills buffers, NC empties them, T0 knows when a tile has arrived: an example defines how, and includes this file
 * first. The T cores' programs are here, the same for all. T0 unpacks tile n + 1 while T1 multiplies tile n and T2
 * packs the previous result.
 *
 * A circular buffer in L1 has two counts, each written by only one side: tiles put in and tiles taken out. Cores count with
 * stores, the Tensix threads with the Scalar Unit, after a wait for the unit that must have finished.
 */
#ifndef STREAM_H
#define STREAM_H

#include "mvmul.h"

enum { SLOTS = 3, IN_BYTES = 2048, OUT_BYTES = 4096 };
#define LEFT 0x40000
#define RIGHT 0x42000
#define RESULTS 0x44000

#define PASSES PARAMETER(0)
#define PRODUCTS PARAMETER(1) /* per result */
#define RESULT_COUNT PARAMETER(2)
#define GO RESULT(9)

/* Counts. Both inputs are taken together. */
#define INPUTS_OUT RESULT(18)
#define RESULTS_IN RESULT(19)
#define RESULTS_OUT RESULT(20)
#define LINE_OF(count) ((u32)(&(count)) / 16)

/* Waits until a count has reached n. */
static inline void await(volatile u32 *count, u32 n)
{
    do
        fence();
    while ((int)(*count - n) < 0);
}
static inline u32 next_slot(u32 slot) { return slot + 1 == SLOTS ? 0 : slot + 1; }

/* ---- B: configuration ---- */

/* A unit's tiles are consecutive: W counts them. */
static inline void configure_stream(void)
{
    RESULTS_IN = RESULTS_OUT = 0;
#ifndef OTHERS_LOOK /* other tiles read it, perhaps before this one has started: the host clears it */
    INPUTS_OUT = 0;
#endif
    stored(&RESULTS_IN); /* the last one stored */
    configure_unpacker(TO_SRCB, BF16, BF16, LEFT);
    configure_unpacker(TO_SRCA, BF16, BF16, RIGHT);
    configure_math(BF16);
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_0_Wstride, 256 * 16 * 4); /* half of Dst */
#ifndef WG_ARCH_WH
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_1_Wstride, OUT_BYTES);
#else
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_1_Wstride, OUT_BYTES / 16);
#endif
    configure_packer(RESULTS);
    let_go();
    GO = 1; /* for NC, which has no mailbox */
}

/* ---- T0, T1, T2 ---- */

enum { GPR_ZERO = 4, GPR_LINE = 5, GPR_COUNT = 6 };
#define SET_GPR(gpr, value) TT_SETDMAREG(0, value, 0, 2 * (gpr))
/* The count that this thread publishes, and later its value, once the units in the preceding wait are done. */
static inline void tell_setup(u32 line)
{
    SET_GPR(GPR_ZERO, 0);
    TTI_SETDMAREG(0, 0, 0, 2 * GPR_ZERO + 1);
    SET_GPR(GPR_LINE, line);
    TTI_SETDMAREG(0, 0, 0, 2 * GPR_LINE + 1);
    TTI_SETDMAREG(0, 0, 0, 2 * GPR_COUNT + 1);
}
#define TELL_COUNT TTI_STOREIND(1, 0, 1, 2 * GPR_ZERO, 0, GPR_COUNT, GPR_LINE)

#if defined(CORE_TRISC0)
/* Waits for the n-th tiles, which are in this slot. */
static inline void await_inputs(u32 n, u32 slot);
int main(void)
{
    unpack_setup();
    tell_setup(LINE_OF(INPUTS_OUT));
    u32 slot = 0, tiles = PRODUCTS * RESULT_COUNT;
    for (u32 n = 1; n <= tiles; n++, slot = next_slot(slot)) {
        await_inputs(n, slot);
        TT_SETADCZW(3, 0, 0, slot, 0, 2); /* W of both unpackers */
        UNPACK_TILE(TO_SRCA);
        UNPACK_TILE(TO_SRCB);
        SET_GPR(GPR_COUNT, n);
        TTI_STALLWAIT(WG_STALL_THCON, WG_UNPACK0 | WG_UNPACK1);
        TELL_COUNT;
    }
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(2); /* MATH_PACK counts halves of Dst that wait to be packed, at most two */
    mvmul_setup();
    u32 half = 0, passes = PASSES, products = PRODUCTS;
    for (u32 n = RESULT_COUNT; n--; half ^= 1) {
        TTI_SEMWAIT(WG_STALL_MATH | WG_STALL_SFPU | WG_STALL_CFG, DST_FREE, WG_STALL_ON_MAX);
        TT_SETC16(DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 256 * half);
#ifdef WG_ARCH_WH
        TT_ZEROACC(2, 0, half);
#else
        TT_ZEROACC(2, 1, 0, 0, half);
#endif
        for (u32 k = products; k--;)
            mvmul_tiles(passes);
        TTI_STALLWAIT(WG_STALL_SYNC | WG_STALL_CFG, WG_MATH);
        TTI_SEMPOST(DST_FREE);
    }
    return 0;
}
#elif defined(CORE_TRISC2)
int main(void)
{
    wait_for(2);
    pack_setup();
    tell_setup(LINE_OF(RESULTS_IN));
    u32 slot = 0, half = 0, results = RESULT_COUNT;
    for (u32 n = 1; n <= results; n++, slot = next_slot(slot), half ^= 1) {
        await(&RESULTS_OUT, n - SLOTS);
        TTI_SEMWAIT(WG_STALL_PACK, DST_FREE, WG_STALL_ON_ZERO);
        TTI_SETADCXY(4, 0, 0, 0, 0, 0xA);
        TT_SETADCZW(4, slot, 0, half, 0, 0xA); /* destination, source */
#ifdef WG_ARCH_WH
        TTI_PACR(0, 0, 0xF, 0, 0, 0, 1);
#else
        TTI_MOP(1, 0, 0);
#endif
        SET_GPR(GPR_COUNT, n);
        TTI_STALLWAIT(WG_STALL_SYNC | WG_STALL_THCON, WG_PACK);
        TTI_SEMGET(DST_FREE);
        TELL_COUNT;
    }
    return 0;
}
#endif

#endif
