/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of host vector code. Every level gives the same bits as the scalar code; the level is
 * chosen when a device is created and is not part of its state.
 */
#ifndef WG_SIMD_H
#define WG_SIMD_H

#include <stdbool.h>

typedef enum wg_simd {
    WG_SIMD_SCALAR, /* scalar C */
    WG_SIMD_AVX2,
    WG_SIMD_AVX512, /* F, BW, DQ, VL, CD */
    WG_SIMD_VNNI,   /* these and VNNI */
    WG_SIMD_LEVELS
} wg_simd;

/* The best level this host has. */
wg_simd wg_simd_best(void);

const char *wg_simd_name(wg_simd level);
/* The level of this name, or the best one if it is NULL or empty. False: there is no such level, or this host lacks it. */
bool wg_simd_parse(const char *name, wg_simd *level);

#endif
