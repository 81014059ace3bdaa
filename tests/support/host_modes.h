/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's floating-point modes: rounding, flush to zero, denormals are zero, in all 16 combinations (exceptions stay
 * masked). Nothing we compute may depend on them or change them.
 */
#ifndef HOST_MODES_H
#define HOST_MODES_H

#include "wgtest.h"

enum { HOST_MODES = 16 };

#if defined(__x86_64__)
#include <immintrin.h>

static inline void host_modes(unsigned i)
{
    _mm_setcsr(0x1F80u | (i & 3) << 13 | (i >> 2 & 1) << 15 | (i >> 3 & 1) << 6);
}
/* Checks that they are unchanged, and restores the usual ones. */
static inline void host_modes_end(unsigned i)
{
    unsigned kept = _mm_getcsr() & ~0x3Fu;
    _mm_setcsr(0x1F80);
    assert_int_equal(kept, 0x1F80u | (i & 3) << 13 | (i >> 2 & 1) << 15 | (i >> 3 & 1) << 6);
}
#else
static inline void host_modes(unsigned i) { (void)i; }
static inline void host_modes_end(unsigned i) { (void)i; }
#endif

#endif
