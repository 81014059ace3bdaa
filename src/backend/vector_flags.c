/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's conditional execution: lane flags and their stack.
 *
 *     SFPENCC    enable or disable flags           SFPPUSHC / SFPPOPC    save and restore, or combine
 *     SFPSETCC, SFPGT, SFPLE   test              SFPCOMPC              else
 *
 * The stack is eight deep in every lane. Its depth differs between columns only if LaneConfig does, so columns of equal depth
 * are processed together: usually in one pass.
 *
 * Facts: the instructions' pages. A full stack pushed or an empty one popped is undefined: reported, and the lanes concerned
 * do not change.
 */
#include "backend/vector.h"

/* Two boolean inputs, twelve combinations: SFPPUSHC's and SFPPOPC's BooleanOp. */
static uint32_t boolean(unsigned mode, uint32_t a, uint32_t b)
{
    switch (mode) {
    case 1: return b;
    case 2: return ~b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a & ~b;
    case 6: return a | ~b;
    case 7: return ~a & b;
    case 8: return ~a | b;
    case 9: return ~a & ~b;
    case 10: return ~a | ~b;
    case 11: return a ^ b;
    default: return ~(a ^ b);
    }
}

static void merge(uint32_t *to, uint32_t lanes, uint32_t value) { *to = (*to & ~lanes) | (value & lanes); }

/* Removes from `*columns` those with the lowest one's depth. Returns their lanes within `lanes`. */
static uint32_t next_depth(const wg_lane_flags *p, unsigned *columns, uint32_t lanes, unsigned *depth)
{
    uint8_t same = 0;
    *depth = p->depth[__builtin_ctz(*columns)];
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++)
        if (*columns >> c & 1 && p->depth[c] == *depth)
            same |= (uint8_t)(1u << c);
    *columns &= ~(unsigned)same;
    return wg_lanes_of_columns(same) & lanes;
}

static void set_depth(wg_lane_flags *p, uint32_t lanes, unsigned depth)
{
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++)
        if (lanes >> c & 1)
            p->depth[c] = (uint8_t)depth;
}

static unsigned columns_of(uint32_t lanes) { return lanes & 0xFF; } /* op->lanes is the same in every row */

static void push(wg_tile *t, const wg_vector_op *op, uint32_t lanes, unsigned depth)
{
    wg_lane_flags *p = op->pred;
    if (depth >= WG_FLAG_STACK) {
        wg_vector_finding(t, op, WG_F_VECTOR_STACK_FULL, depth);
        return;
    }
    merge(&p->stack_flags[depth], lanes, p->flags);
    merge(&p->stack_use[depth], lanes, p->use);
    set_depth(p, lanes, depth + 1);
}

static void push_mutate(wg_tile *t, const wg_vector_op *op, uint32_t lanes, unsigned depth)
{
    wg_lane_flags *p = op->pred;
    if (!depth) {
        wg_vector_finding(t, op, WG_F_VECTOR_STACK_EMPTY, 0);
        return;
    }
    uint32_t *flags = &p->stack_flags[depth - 1], *use = &p->stack_use[depth - 1];
    if (op->mod >= 14) {
        merge(use, lanes, ~0u);
        merge(flags, lanes, op->mod == 14 ? ~0u : 0);
        return;
    }
    if (op->mod == 13)
        merge(&p->flags, lanes, ~p->flags);
    merge(use, lanes, p->use);
    merge(flags, lanes, op->mod == 13 ? p->flags : boolean(op->mod, *flags, p->flags));
}

void wg_sfppushc(wg_tile *t, const wg_vector_op *op)
{
    bool only_pushes = !op->mod || !wg_vector_traits_for(t)->push_modes;
    for (unsigned columns = columns_of(op->lanes); columns;) {
        unsigned depth;
        uint32_t lanes = next_depth(op->pred, &columns, op->lanes, &depth);
        if (only_pushes)
            push(t, op, lanes, depth);
        else
            push_mutate(t, op, lanes, depth);
    }
}

static void pop(wg_tile *t, const wg_vector_op *op, uint32_t lanes, unsigned depth)
{
    wg_lane_flags *p = op->pred;
    uint32_t flags = depth ? p->stack_flags[depth - 1] : 0, use = depth ? p->stack_use[depth - 1] : 0;
    if (!op->mod) {
        if (!depth) {
            wg_vector_finding(t, op, WG_F_VECTOR_STACK_EMPTY, 0);
            return;
        }
        set_depth(p, lanes, depth - 1);
        merge(&p->use, lanes, use);
        merge(&p->flags, lanes, flags);
        return;
    }
    if (depth == WG_FLAG_STACK && wg_vector_traits_for(t)->pop_overwrites) {
        wg_vector_finding(t, op, WG_F_VECTOR_STACK_PEEK_FULL, depth);
        merge(&p->stack_flags[0], lanes, flags);
        merge(&p->stack_use[0], lanes, use);
    }
    if (op->mod <= 12) {
        merge(&p->use, lanes, use);
        merge(&p->flags, lanes, boolean(op->mod, p->flags, flags));
    } else if (op->mod == 13) {
        merge(&p->flags, lanes, ~p->flags);
    } else {
        merge(&p->use, lanes, ~0u);
        merge(&p->flags, lanes, op->mod == 14 ? ~0u : 0);
    }
}

void wg_sfppopc(wg_tile *t, const wg_vector_op *op)
{
    for (unsigned columns = columns_of(op->lanes); columns;) {
        unsigned depth;
        uint32_t lanes = next_depth(op->pred, &columns, op->lanes, &depth);
        pop(t, op, lanes, depth);
    }
}

void wg_sfpcompc(wg_tile *t, const wg_vector_op *op)
{
    (void)t;
    wg_lane_flags *p = op->pred;
    for (unsigned columns = columns_of(op->lanes); columns;) {
        unsigned depth;
        uint32_t lanes = next_depth(p, &columns, op->lanes, &depth);
        uint32_t flags = depth ? p->stack_flags[depth - 1] : ~0u, use = depth ? p->stack_use[depth - 1] : ~0u;
        merge(&p->flags, lanes, use & p->use & flags & ~p->flags);
    }
}

void wg_sfpencc(wg_tile *t, const wg_vector_op *op)
{
    (void)t;
    wg_lane_flags *p = op->pred;
    uint32_t imm = wg_op_imm12(op);
    if (op->mod & 2)
        merge(&p->use, op->lanes, imm & 1 ? ~0u : 0);
    else if (op->mod & 1)
        merge(&p->use, op->lanes, ~p->use);
    merge(&p->flags, op->lanes, op->mod & 8 && !(imm & 2) ? 0 : ~0u);
}

void wg_sfpsetcc(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *c = t->regs.lreg.l[op->vc];
    uint32_t lanes = wg_op_lanes(t, op), negative = 0, zero = 0, value;
    if (op->mod & 8) {
        value = 0;
    } else if (op->mod & 1) {
        value = wg_op_imm12(op) & 1 ? ~0u : 0;
    } else {
        for (unsigned lane = 0; lane < WG_LANES; lane++) {
            negative |= c[lane] >> 31 << lane;
            zero |= (uint32_t)(c[lane] == 0) << lane;
        }
        value = op->mod & 2 ? zero : negative; /* 0: < 0, 2: != 0, 4: >= 0, 6: == 0 */
        if (op->mod == 2 || op->mod == 4)
            value = ~value;
    }
    /* Lanes with flags disabled have them cleared, whatever the test. */
    merge(&op->pred->flags, lanes, value & op->pred->use);
}

/* The total order of sign-magnitude integers, and of FP32: -NaN < -Inf < … < -0 < +0 < … < +NaN. */
static int32_t ordered(uint32_t v) { return (int32_t)(v ^ (uint32_t)((int32_t)v >> 30) >> 1); }

static void compare(wg_tile *t, const wg_vector_op *op, uint32_t invert)
{
    const uint32_t *b = t->regs.lreg.l[op->vb], *c = t->regs.lreg.l[op->vc];
    wg_lane_flags *p = op->pred;
    uint32_t result = 0, out[WG_LANES], lanes = wg_op_lanes(t, op);
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        result |= (uint32_t)(ordered(c[lane]) < ordered(b[lane])) << lane;
    result ^= invert;
    if (op->mod & 8) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = 0 - (result >> lane & 1);
        wg_vector_put(t, op, op->vd, out, lanes);
    }
    if (op->mod & 1)
        merge(&p->flags, lanes, result);
    if (!(op->mod & 2))
        return;
    for (unsigned columns = columns_of(op->lanes); columns;) {
        unsigned depth;
        uint32_t group = next_depth(p, &columns, op->lanes, &depth);
        if (depth) {
            uint32_t top = p->stack_flags[depth - 1];
            merge(&p->stack_flags[depth - 1], group, op->mod & 4 ? top | result : top & result);
        }
    }
}

void wg_sfpgt(wg_tile *t, const wg_vector_op *op) { compare(t, op, 0); }
void wg_sfple(wg_tile *t, const wg_vector_op *op) { compare(t, op, ~0u); }
