/* SPDX-License-Identifier: Apache-2.0 */
/* The Vector Unit's 32-lane kernels in scalar code: the reference for the host vector versions. */
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

static void mad(wg_fma_lanes_fn *fma, const wg_mad_lanes *m)
{
    uint32_t out[WG_LANES];
    memcpy(m->old, m->d, sizeof out);
    fma(out, m->a, m->b, m->c, m->flip_b, m->flip_c);
    blend(m->d, out, m->lanes);
}
static void mad_bh(const wg_mad_lanes *m) { mad(fma_bh, m); }
static void mad_wh(const wg_mad_lanes *m) { mad(fma_wh, m); }

static void load(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old)
{
    load_lanes(out, d, m, old);
}
static void store(wg_dst *d, const wg_lanes_move *m, const uint32_t *from) { store_lanes(d, m, from); }

const wg_vector_kernels wg_vector_kernels_scalar = {.fma = {fma_bh, fma_wh},
                                                    .mul = {fma_bh, fma_wh},
                                                    .add = {fma_bh, fma_wh},
                                                    .mad = {mad_bh, mad_wh},
                                                    .blend = blend,
                                                    .load = load,
                                                    .store = store};
