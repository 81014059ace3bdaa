/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A product of two tiles on the Matrix Unit, for T1: SrcB holds the left tile, SrcA the right one, Dst gets the sum.
 *
 * One MVMUL adds the product of 8 rows of SrcB and a face of SrcA to 8 rows of Dst. The order of the sixteen needs these
 * address steps: to the second half of a face of SrcB, to the face below it, that and the next face of SrcA, and to SrcB's
 * right-hand faces.
 */
#ifndef MVMUL_H
#define MVMUL_H

#include "pipeline.h"

enum { NEXT_HALF, NEXT_BELOW, NEXT_FACE, NEXT_COLUMN, NEXT_PASS };
#define MOVE(section, a, b, phases) \
    do { \
        TTI_SETC16(ADDR_MOD_AB_SEC##section##_SrcAIncr_ADDR32, \
                   (a) | (b) << ADDR_MOD_AB_SEC##section##_SrcBIncr_SHAMT); \
        TTI_SETC16(ADDR_MOD_DST_SEC##section##_DestIncr_ADDR32, \
                   (phases) << ADDR_MOD_DST_SEC##section##_FidelityIncr_SHAMT); \
    } while (0)
/*
 * A pass ends at its start address, in the next fidelity phase. Wormhole's instructions reach four address modifiers only;
 * there the phase is a register's.
 */
#ifdef WG_ARCH_WH
#define PASS(n) TT_SETC16(FIDELITY_BASE_Phase_ADDR32, n)
#define LAST NEXT_COLUMN
#else
#define PASS(n) ((void)(n))
#define LAST NEXT_PASS
#endif
/* The face of Dst in row I and column J gets two halves each. */
#define MULTIPLY(j, last) \
    do { \
        TTI_MVMUL(0, 0, NEXT_HALF, 16 * (j)); \
        TTI_MVMUL(0, 0, NEXT_BELOW, 16 * (j) + 8); \
        TTI_MVMUL(0, 0, NEXT_HALF, 32 + 16 * (j)); \
        TTI_MVMUL(0, 0, last, 32 + 16 * (j) + 8); \
    } while (0)

/* A pass is recorded once, and replayed for each. */
static inline void mvmul_setup(void)
{
    MOVE(0, 0, 8, 0);
    MOVE(1, 0, 24, 0);
    MOVE(2, 16, 24, 0);
    MOVE(3, 16, 40, 0);
    MOVE(4, 16, 8, 1);
    TTI_REPLAY(0, 17, 0, 1);
    TTI_SETRWC(0, 0, 0, 0, 0, 3);
    MULTIPLY(0, NEXT_FACE);
    MULTIPLY(1, NEXT_COLUMN);
    MULTIPLY(0, NEXT_FACE);
    MULTIPLY(1, LAST);
}

/* Adds the product of the tiles in the banks to Dst, in this many passes; gives the banks back to the unpackers. */
static inline void mvmul_tiles(u32 passes)
{
    for (u32 pass = 0; pass < passes; pass++) {
        PASS(pass);
        TTI_REPLAY(0, 17, 0, 0);
    }
    TTI_SETRWC(3, 0, 0, 0, 0, 8); /* and the phase is the first again */
}

#endif
