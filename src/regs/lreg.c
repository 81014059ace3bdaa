/* SPDX-License-Identifier: Apache-2.0 */
/* LReg constants and reset; see lreg.h. Facts: LReg.md, SoftReset.md. */
#include "machine/lreg.h"

#include <string.h>

void wg_lreg_reset(wg_lreg *r)
{
    static const uint32_t constant[WG_LREGS] = {
        [8] = 0x3F56594B,  /* 0.8373 */
        [10] = 0x3F800000, /* 1.0 */
        [11] = 0xBF800000, /* -1.0 */
        [12] = 0x37800000, /* 1/65536 */
        [13] = 0xBF2CC4C7, /* -0.67487759 */
        [14] = 0xBEB08FF9, /* -0.34484843 */
    };
    memset(r, 0, sizeof *r);
    for (unsigned i = 0; i < WG_LREGS; i++)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            r->l[i][lane] = i == 15 ? lane * 2 : constant[i];
    /* Decided here: "the PRNG will be reset" means state 0 in every lane, until software seeds it. */
}

void wg_lreg_seed(wg_lreg *r, uint32_t seed)
{
    /* No page says how the seed reaches the lanes: as in the reference simulator, 32 steps, then two per lane. */
    for (unsigned i = 0; i < 32; i++)
        seed = wg_prng_step(seed);
    for (unsigned lane = WG_LANES; lane-- > 0;) {
        seed = wg_prng_step(wg_prng_step(seed));
        r->prng[lane] = seed;
    }
}
