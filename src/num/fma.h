/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partially fused multiply-add of FP32: x * y + z, on bit patterns, in integers only.
 *
 *     product   24 x 24 bits -> 48, cut to 28 with a sticky lowest bit
 *     addend    24 bits and three zeros below
 *     align     the one with the smaller exponent is shifted right, sticky unless nothing remains
 *     add, normalise, round to nearest even, flush denormals
 *
 * wg_fma_bh: Blackhole's Vector Unit and its baby cores' F extension. wg_fma_wh: Wormhole's Vector Unit,
 * whose differences (NaN patterns, positive zeros, a lost rounding bit) are in fma.c.
 *
 * Facts: Miscellaneous/FMA/README.md.
 */
#ifndef WG_FMA_H
#define WG_FMA_H

#include <stdint.h>

uint32_t wg_fma_bh(uint32_t x, uint32_t y, uint32_t z);
uint32_t wg_fma_wh(uint32_t x, uint32_t y, uint32_t z);

#endif
