/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A product of two 32 x 32 tiles of BF16, OUT = IN0 * IN1, with FP32 accumulation, in any fidelity: LoFi takes the
 * leading 5 bits of IN1's mantissas and 7 of IN0's, every further pass over the same tiles adds the products of bits
 * that were left out.
 *
 *     parameter 0: passes, 1 (LoFi) to 4 (HiFi4)      parameter 1: how often to do it all (0: once)
 *
 *     waitgate run matmul.brisc.elf matmul.trisc0.elf matmul.trisc1.elf matmul.trisc2.elf
 */
#include "pipeline.h"

static inline u32 tiles(void) { return PARAMETER(1) ? PARAMETER(1) : 1; }

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCB, BF16, BF16, IN0);
    configure_unpacker(TO_SRCA, BF16, BF16, IN1);
    configure_math(BF16);
    configure_packer(OUT);
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    for (u32 n = tiles(); n--;) {
        UNPACK_TILE(TO_SRCA);
        UNPACK_TILE(TO_SRCB);
    }
    return 0;
}
#elif defined(CORE_TRISC1)
/*
 * One MVMUL adds the product of 8 rows of SrcB and a face of SrcA to 8 rows of Dst. The order of the sixteen needs
 * these ways to move on: to the second half of a face of SrcB, to the face below it, that and the next face of
 * SrcA, and to SrcB's right-hand faces.
 */
enum { NEXT_HALF, NEXT_BELOW, NEXT_FACE, NEXT_COLUMN, NEXT_PASS };
#define MOVE(section, a, b, phases) \
    do { \
        TTI_SETC16(ADDR_MOD_AB_SEC##section##_SrcAIncr_ADDR32, \
                   (a) | (b) << ADDR_MOD_AB_SEC##section##_SrcBIncr_SHAMT); \
        TTI_SETC16(ADDR_MOD_DST_SEC##section##_DestIncr_ADDR32, \
                   (phases) << ADDR_MOD_DST_SEC##section##_FidelityIncr_SHAMT); \
    } while (0)
/*
 * A pass ends where it began, in the next fidelity phase. Wormhole's instructions reach four address modifiers only;
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

int main(void)
{
    u32 passes = PARAMETER(0);
    math_setup();
    MOVE(0, 0, 8, 0);
    MOVE(1, 0, 24, 0);
    MOVE(2, 16, 24, 0);
    MOVE(3, 16, 40, 0);
    MOVE(4, 16, 8, 1);
    TTI_REPLAY(0, 17, 0, 1); /* a pass is recorded once, and played for each */
    TTI_SETRWC(0, 0, 0, 0, 0, 3);
    MULTIPLY(0, NEXT_FACE);
    MULTIPLY(1, NEXT_COLUMN);
    MULTIPLY(0, NEXT_FACE);
    MULTIPLY(1, LAST);
    for (u32 n = tiles(); n--;) {
        dst_acquire();
        for (u32 pass = 0; pass < passes; pass++) {
            PASS(pass);
            TTI_REPLAY(0, 17, 0, 0);
        }
        TTI_SETRWC(3, 0, 0, 0, 0, 8); /* the banks go back to the unpackers; the phase is the first again */
        dst_release();
    }
    return 0;
}
#else
int main(void)
{
    pack_all(tiles());
    return 0;
}
#endif
