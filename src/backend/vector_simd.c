/* SPDX-License-Identifier: Apache-2.0 */
/* The Vector Unit's 32-lane kernels in plain code: the reference for the host vector versions beside it. */
#include "backend/vector.h"

#include "num/fma.h"

#define LANES_TARGET
#include "backend/vector_lanes.h"

#include <string.h>

static void fma_bh(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                   uint32_t flip_c)
{
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = wg_fma_bh(a[lane], b[lane] ^ flip_b, c[lane] ^ flip_c);
}

static void fma_wh(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                   uint32_t flip_c)
{
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = wg_fma_wh(a[lane], b[lane] ^ flip_b, c[lane] ^ flip_c);
}

static void blend(uint32_t *to, const uint32_t *from, uint32_t lanes)
{
    if (lanes == ~0u) {
        memcpy(to, from, WG_LANES * sizeof *to);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        to[lane] = from[lane];
    }
}

static void load(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old)
{
    load_lanes(out, d, m, old);
}
static void store(wg_dst *d, const wg_lanes_move *m, const uint32_t *from) { store_lanes(d, m, from); }

const wg_vector_kernels wg_vector_kernels_scalar = {
    .fma = {fma_bh, fma_wh}, .mul = {fma_bh, fma_wh}, .add = {fma_bh, fma_wh}, .blend = blend,
    .load = load, .store = store};
