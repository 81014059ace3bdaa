/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A product of two 32 x 32 tiles of BF16, OUT = IN0 * IN1, with FP32 accumulation, in any fidelity: LoFi uses the leading 5
 * bits of IN1's mantissas and 7 of IN0's; every further pass over the same tiles adds products of the remaining bits.
 *
 *     parameter 0: passes, 1 (LoFi) to 4 (HiFi4)      parameter 1: repetitions (0: once)
 *
 *     waitgate run matmul.brisc.elf matmul.trisc0.elf matmul.trisc1.elf matmul.trisc2.elf
 */
#include "mvmul.h"

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
int main(void)
{
    u32 passes = PARAMETER(0);
    math_setup(1);
    mvmul_setup();
    for (u32 n = tiles(); n--;) {
        dst_acquire();
        mvmul_tiles(passes);
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
