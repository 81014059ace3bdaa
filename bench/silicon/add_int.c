/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread 1 of `add_int_tile`: see rows_kernels.c. Compiled once for each architecture (ADD_INT_WH): the instruction words are those
 * of wg_kernel.h.
 */
#include "add_int.h"

#ifdef ADD_INT_WH
#define ADD_INT_NAME add_int_wh
#define WG_ARCH_WH WG_ARCH_WH
#else
#define ADD_INT_NAME add_int_bh
#endif
#include "isa/wg_kernel.h"

enum { FACES = 4, ROWS = 8, INT32 = 4, MOD = 3, OTHER = 64, KEEP = 4, CR = 4 };

/* Rows of a face; words with an operand known only at run time are stored, the others are in the program. */
static void face(rv *p)
{
    for (unsigned i = 0; i < ROWS; i++) {
        rv_sw(p, S3, 0, S2);
        rv_sw(p, S4, 0, S2);
        rv_tt(p, TT_OP_SFPIADD(0, 1, 0, 4));
        rv_sw(p, S5, 0, S2);
        rv_tt(p, TT_OP_INCRWC(0, 2, 0, 0));
    }
    rv_tt(p, TT_OP_SETRWC(0, CR, 8, 0, 0, KEEP));
    rv_tt(p, TT_OP_SETRWC(0, CR, 8, 0, 0, KEEP));
}

void ADD_INT_NAME(rv *p, unsigned rounds)
{
    rv_li(p, S0, RISCV_DEBUG_REG_WALL_CLOCK_0);
    rv_li(p, S1, ADD_INT_RESULT);
    rv_li(p, S2, WG_INSTRN_BUF);
    rv_li(p, S3, TT_OP_SFPLOAD(0, INT32, MOD, 0));
    rv_li(p, S4, TT_OP_SFPLOAD(1, INT32, MOD, OTHER));
    rv_li(p, S5, TT_OP_SFPSTORE(0, INT32, MOD, 0));
    rv_li(p, S6, TT_OP_SETC16(DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 0));
    rv_li(p, S7, rounds);
    rv_lw(p, S8, 0, S0);
    const unsigned round = p->n;
    rv_sw(p, S6, 0, S2);
#ifdef ADD_INT_WH
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_SET_Base_ADDR32, 1));
#endif
    rv_tt(p, TT_OP_STALLWAIT(WG_STALL_SFPU, WG_MATH));
    rv_li(p, S9, FACES);
    const unsigned next = p->n;
    face(p);
    rv_addi(p, S9, S9, -1);
    rv_bne(p, S9, ZERO, next);
    rv_tt(p, TT_OP_SETRWC(0, 0, 0, 0, 0, KEEP));
#ifdef ADD_INT_WH
    rv_tt(p, TT_OP_STALLWAIT(WG_STALL_CFG, WG_SFPU));
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_SET_Base_ADDR32, 0));
#endif
    rv_addi(p, S7, S7, -1);
    rv_bne(p, S7, ZERO, round);
    rv_lw(p, T0, 0, S0);
    rv_sw(p, S8, 0, S1);
    rv_sw(p, T0, 4, S1);
    rv_done(p);
}
