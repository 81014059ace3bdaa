/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector Unit instructions that move data between lanes or exchange registers: SFPSHFT2, SFPSWAP,
 * SFPTRANSP.
 *
 *     cycle c     SFPSWAP compares VC and VD; lane shuffles of SFPSHFT2 read
 *     cycle c+1   SFPSWAP reads VC and VD again and exchanges them in the chosen lanes
 *     cycle c+2   the results of both are visible
 *
 * Facts: SFPSHFT2.md, SFPSWAP.md (both architectures), SFPTRANSP.md, SFPMAD.md (holes).
 */
#include "backend/vector.h"

#include <string.h>

/* LReg 0 = LReg 1, 1 = 2, 2 = 3, and 3 = `last`. */
static void copy4(wg_tile *t, const wg_vector_op *op, const uint32_t last[WG_LANES])
{
    uint32_t old[3][WG_LANES], lanes = wg_op_lanes(t, op);
    memcpy(old, t->regs.lreg.l[1], sizeof old);
    for (unsigned i = 0; i < 3; i++)
        wg_vector_put(t, op, i, old[i], lanes);
    wg_vector_put(t, op, 3, last, lanes);
}

/* Each row of eight lanes moves right by one; lane 0 of each row receives the row's value of `in`. */
static void shift_rows(uint32_t out[WG_LANES], const uint32_t from[WG_LANES], const uint32_t in[4])
{
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = lane & 7 ? from[lane - 1] : in[lane / 8];
}

static void shift_bits(wg_tile *t, const wg_vector_op *op, bool immediate)
{
    const uint32_t *b = t->regs.lreg.l[op->vb], *c = t->regs.lreg.l[op->vc];
    uint32_t imm = (uint32_t)wg_op_simm12(op), out[WG_LANES];
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        uint32_t by = immediate ? imm : c[lane];
        out[lane] = by >> 31 ? b[lane] >> ((0 - by) & 31) : b[lane] << (by & 31);
    }
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
}

void wg_sfpshft2(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    uint32_t out[WG_LANES] = {0}, last[4];
    const uint32_t *c = r->l[op->vc];
    for (unsigned row = 0; row < 4; row++)
        last[row] = c[row * 8 + 7];
    switch (op->mod) {
    case 0: /* COPY4 */ copy4(t, op, out); break;
    case 1: /* SUBVEC_CHAINED_COPY4 */
        memcpy(out, &r->l[0][8], 24 * sizeof *out);
        copy4(t, op, out);
        break;
    case 2: /* SUBVEC_SHFLROR1_AND_COPY4 */
    case 3: /* SUBVEC_SHFLROR1 */
        if (!op->lanes)
            break;
        shift_rows(out, c, last);
        memcpy(r->shuffle_last, last, sizeof last);
        if (op->mod == 2)
            copy4(t, op, out);
        else
            wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
        break;
    case 4: { /* SUBVEC_SHFLSHR1; WH shifts in values read by its last rotation */
        static const uint32_t zero[4] = {0};
        shift_rows(out, c, wg_vector_traits_for(t)->shift_in_stale ? r->shuffle_last : zero);
        wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
        break;
    }
    case 5: /* SHFT_LREG */
    case 6: /* SHFT_IMM */ shift_bits(t, op, op->mod == 6); break;
    default: wg_vector_finding(t, op, WG_F_VECTOR_RESERVED_MODE, op->mod);
    }
}

static int32_t ordered(uint32_t v) { return (int32_t)(v ^ (uint32_t)((int32_t)v >> 30) >> 1); }

/* First cycle: selects the lanes that exchange. */
void wg_sfpswap(wg_tile *t, const wg_vector_op *op)
{
    /* Lanes in which VD gets the minimum, by Mod1 from 1 on; in the others it gets the maximum. */
    static const uint32_t minimum[16] = {0,          0xFFFFFFFF, 0x0000FFFF, 0x00FF00FF, 0xFF0000FF,
                                         0x000000FF, 0x0000FF00, 0x00FF0000, 0xFF000000};
    const wg_lreg *r = &t->regs.lreg;
    const uint32_t *c = r->l[op->vc], *d = r->l[op->vd];
    uint32_t swap = ~0u, lanes = wg_op_lanes(t, op);
    if (op->mod) {
        swap = 0;
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            swap |= (uint32_t)(ordered(c[lane]) < ordered(d[lane])) << lane;
        swap ^= ~minimum[op->mod] ^ wg_lane_config_lanes(r, WG_LANE_EXCHANGE_SRCB_SRCC);
    }
    t->backend.vector.swap = (wg_vector_swap){
        .at = op->now + 1,
        .lanes = swap & lanes,
        .indexed = swap & lanes & wg_lane_config_lanes(r, WG_LANE_ENABLE_DEST_INDEX),
        .vc = op->vc,
        .vd = op->vd,
    };
}

static void exchange(wg_tile *t, unsigned vc, unsigned vd, unsigned limit, uint32_t lanes, uint64_t land)
{
    const wg_lreg *r = &t->regs.lreg;
    if (!lanes)
        return;
    if (vc < limit)
        memcpy(wg_vector_result(t, vc, lanes, land), r->l[vd], sizeof r->l[vd]);
    if (vd < limit)
        memcpy(wg_vector_result(t, vd, lanes, land), r->l[vc], sizeof r->l[vc]);
}

/* Second cycle: exchanges. */
void wg_vector_swap_finish(wg_tile *t)
{
    wg_vector_swap *s = &t->backend.vector.swap;
    uint64_t land = s->at + 1;
    exchange(t, s->vc, s->vd, 8, s->lanes & ~s->indexed, land);
    /* Index mode: values in LReg 0…3, and the same exchange among LReg 4…7. */
    exchange(t, s->vc, s->vd, 4, s->indexed, land);
    exchange(t, 4 + (s->vc & 3), 4 + (s->vd & 3), 8, s->indexed, land);
    s->at = 0;
}

void wg_sfptransp(wg_tile *t, const wg_vector_op *op)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t out[8][WG_LANES], lanes = wg_op_lanes(t, op);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned row = 0; row < 4; row++)
            memcpy(&out[i][row * 8], &r->l[(i & 4) + row][(i & 3) * 8], 8 * sizeof(uint32_t));
    for (unsigned i = 0; i < 8; i++)
        wg_vector_put(t, op, i, out[i], lanes);
}
