/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cores' instruction set: RV32IM everywhere; on Blackhole also Zicsr, Zaamo, Zba, Zbb, pack, brev8,
 * grevi, parts of F and Zfh, and on T2 parts of V. A word whose low two bits are not 11 is a Tensix
 * instruction to push (PIPE-09).
 *
 * Facts: BabyRISCV/InstructionSet.md; the encodings are the RISC-V specification's.
 */
#include "riscv/decode.h"

#include "isa/isa.h"
#include "machine/tile.h"

static uint32_t imm_i(uint32_t w) { return (uint32_t)((int32_t)w >> 20); }
static uint32_t imm_s(uint32_t w) { return (uint32_t)((int32_t)w >> 25) << 5 | (w >> 7 & 31); }
static uint32_t imm_b(uint32_t w)
{
    return (uint32_t)((int32_t)w >> 31) << 12 | (w << 4 & 0x800) | (w >> 20 & 0x7E0) | (w >> 7 & 0x1E);
}
static uint32_t imm_j(uint32_t w)
{
    return (uint32_t)((int32_t)w >> 31) << 20 | (w & 0xFF000) | (w >> 9 & 0x800) | (w >> 20 & 0x7FE);
}
/* Decided here: jumps and branches ignore the two lowest bits of their target, as JALR does of its own. */
static uint32_t target(uint32_t pc) { return pc & ~UINT32_C(3); }

static const uint8_t branches[8] = {WG_OP_BEQ, WG_OP_BNE, 0, 0, WG_OP_BLT, WG_OP_BGE, WG_OP_BLTU, WG_OP_BGEU};
static const uint8_t op_imm[8] = {WG_OP_ADDI, 0, WG_OP_SLTI, WG_OP_SLTIU, WG_OP_XORI, 0, WG_OP_ORI, WG_OP_ANDI};
static const uint8_t op_base[8] = {WG_OP_ADD, WG_OP_SLL, WG_OP_SLT, WG_OP_SLTU,
                                   WG_OP_XOR, WG_OP_SRL, WG_OP_OR,  WG_OP_AND};
static const uint8_t op_m[8] = {WG_OP_MUL, WG_OP_MULH, WG_OP_MULHSU, WG_OP_MULHU,
                                WG_OP_DIV, WG_OP_DIVU, WG_OP_REM,    WG_OP_REMU};

/* Shifts by an immediate and the bit manipulations that share their encodings. */
static uint8_t decode_shift_imm(uint32_t w, bool b)
{
    uint32_t f3 = w >> 12 & 7, top = w >> 25, low = w >> 20 & 31;
    if (f3 == 1) {
        if (top == 0)
            return WG_OP_SLLI;
        if (b && top == 0x30) {
            static const uint8_t unary[8] = {WG_OP_CLZ, WG_OP_CTZ, WG_OP_CPOP, 0, WG_OP_SEXT_B, WG_OP_SEXT_H, 0, 0};
            return low < 8 ? unary[low] : WG_OP_ILLEGAL;
        }
        return WG_OP_ILLEGAL;
    }
    switch (top) {
    case 0x00: return WG_OP_SRLI;
    case 0x20: return WG_OP_SRAI;
    case 0x30: return b ? WG_OP_RORI : WG_OP_ILLEGAL;
    case 0x34: return b ? WG_OP_GREVI : WG_OP_ILLEGAL; /* rev8 and brev8 are two of its shapes */
    case 0x14: return b && low == 7 ? WG_OP_ORC_B : WG_OP_ILLEGAL;
    default: return WG_OP_ILLEGAL;
    }
}

static uint8_t decode_op(uint32_t w, bool b)
{
    uint32_t f3 = w >> 12 & 7;
    switch (w >> 25) {
    case 0x00: return op_base[f3];
    case 0x01: return op_m[f3];
    case 0x20:
        if (f3 == 0)
            return WG_OP_SUB;
        if (f3 == 5)
            return WG_OP_SRA;
        if (b)
            return f3 == 4 ? WG_OP_XNOR : f3 == 6 ? WG_OP_ORN : f3 == 7 ? WG_OP_ANDN : WG_OP_ILLEGAL;
        return WG_OP_ILLEGAL;
    case 0x10:
        return !b        ? WG_OP_ILLEGAL
               : f3 == 2 ? WG_OP_SH1ADD
               : f3 == 4 ? WG_OP_SH2ADD
               : f3 == 6 ? WG_OP_SH3ADD
                         : WG_OP_ILLEGAL;
    case 0x05:
        return !b        ? WG_OP_ILLEGAL
               : f3 == 4 ? WG_OP_MIN
               : f3 == 5 ? WG_OP_MINU
               : f3 == 6 ? WG_OP_MAX
               : f3 == 7 ? WG_OP_MAXU
                         : WG_OP_ILLEGAL;
    case 0x30: return !b ? WG_OP_ILLEGAL : f3 == 1 ? WG_OP_ROL : f3 == 5 ? WG_OP_ROR : WG_OP_ILLEGAL;
    case 0x04: return b && f3 == 4 ? WG_OP_PACK : WG_OP_ILLEGAL; /* zext.h is pack with x0 */
    default: return WG_OP_ILLEGAL;
    }
}

/* F and Zfh: fills the register fields. fdiv, fsqrt and the double formats do not exist. */
static uint8_t decode_fp(uint32_t w, wg_op *op)
{
    uint32_t fmt = w >> 25 & 3, f5 = w >> 27, rs2 = w >> 20 & 31, f3 = w >> 12 & 7;
    uint8_t f = WG_REG_F;
    op->rd = (uint8_t)((w >> 7 & 31) + f);
    op->rs1 = (uint8_t)((w >> 15 & 31) + f);
    op->rs2 = (uint8_t)(rs2 + f);
    if (fmt != 0 && fmt != 2)
        return WG_OP_ILLEGAL;
    if ((w & 0x7F) != 0x53) { /* fmadd, fmsub, fnmsub, fnmadd */
        op->rs3 = (uint8_t)((w >> 27) + f);
        return WG_OP_FP;
    }
    switch (f5) {
    case 0x00:
    case 0x01:
    case 0x02: return WG_OP_FP;                          /* fadd, fsub, fmul */
    case 0x04: return f3 < 3 ? WG_OP_FP : WG_OP_ILLEGAL; /* fsgnj, fsgnjn, fsgnjx */
    case 0x05: return f3 < 2 ? WG_OP_FP : WG_OP_ILLEGAL; /* fmin, fmax */
    case 0x08:                                           /* fcvt.s.h, fcvt.h.s */
        op->rs2 = 0;
        return (fmt == 0 && rs2 == 2) || (fmt == 2 && rs2 == 0) ? WG_OP_FP : WG_OP_ILLEGAL;
    case 0x14: /* fle, flt, feq */ op->rd = (uint8_t)(op->rd - f); return f3 < 3 ? WG_OP_FP : WG_OP_ILLEGAL;
    case 0x18: /* fcvt.w.s, fcvt.wu.s */
        op->rd = (uint8_t)(op->rd - f);
        op->rs2 = 0;
        return rs2 < 2 ? WG_OP_FP : WG_OP_ILLEGAL;
    case 0x1A: /* fcvt.s.w, fcvt.s.wu */
        op->rs1 = (uint8_t)(op->rs1 - f);
        op->rs2 = 0;
        return rs2 < 2 ? WG_OP_FP : WG_OP_ILLEGAL;
    case 0x1C: /* fmv.x.w, fclass */
        op->rd = (uint8_t)(op->rd - f);
        op->rs2 = 0;
        return rs2 == 0 && f3 < 2 ? (f3 || fmt ? WG_OP_FP : WG_OP_FMOVE) : WG_OP_ILLEGAL;
    case 0x1E: /* fmv.w.x */
        op->rs1 = (uint8_t)(op->rs1 - f);
        op->rs2 = 0;
        return rs2 == 0 && f3 == 0 ? (fmt ? WG_OP_FP : WG_OP_FMOVE) : WG_OP_ILLEGAL;
    default: return WG_OP_ILLEGAL;
    }
}

/* V: which scalar registers an instruction of the major opcode OP-V touches. */
static void decode_vector(uint32_t w, wg_op *op)
{
    uint8_t rd = (uint8_t)(w >> 7 & 31), rs1 = (uint8_t)(w >> 15 & 31), rs2 = (uint8_t)(w >> 20 & 31);
    uint32_t f3 = w >> 12 & 7, f6 = w >> 26;
    op->code = WG_OP_VECTOR;
    if (f3 == 7) { /* vsetvli, vsetivli, vsetvl */
        op->rd = rd;
        op->rs1 = w >> 30 == 3 ? 0 : rs1;
        op->rs2 = w >> 30 == 2 ? rs2 : 0;
    } else if (f3 == 4 || f3 == 6) {
        op->rs1 = rs1;
    } else if (f3 == 5) {
        op->rs1 = (uint8_t)(rs1 + WG_REG_F);
    } else if (f6 == 0x10 && f3 == 2) { /* vmv.x.s, vcpop.m, vfirst.m */
        op->rd = rd;
    } else if (f6 == 0x10 && f3 == 1) { /* vfmv.f.s */
        op->rd = (uint8_t)(rd + WG_REG_F);
    }
}

void wg_decode(const wg_arch *arch, unsigned core, uint32_t pc, uint32_t w, wg_op *op)
{
    uint8_t rd = (uint8_t)(w >> 7 & 31), rs1 = (uint8_t)(w >> 15 & 31), rs2 = (uint8_t)(w >> 20 & 31);
    uint32_t f3 = w >> 12 & 7;
    bool b = arch->extensions & WG_EXT_B, f = arch->extensions & WG_EXT_F;
    *op = (wg_op){.code = WG_OP_ILLEGAL, .word = w};
    if ((w & 3) != 3) {
        op->code = WG_OP_PUSH;
        op->imm = wg_ttinsn_decode(w);
        op->rd = WG_REG_SINK;
        return;
    }
    switch (w >> 2 & 31) {
    case 0x0D:
        op->code = WG_OP_LUI;
        op->rd = rd;
        op->imm = w & 0xFFFFF000;
        break;
    case 0x05:
        op->code = WG_OP_LUI;
        op->rd = rd;
        op->imm = pc + (w & 0xFFFFF000);
        break; /* auipc */
    case 0x1B:
        op->code = WG_OP_JAL;
        op->rd = rd;
        op->imm = target(pc + imm_j(w));
        break;
    case 0x19:
        if (f3 == 0) {
            op->code = WG_OP_JALR;
            op->rd = rd;
            op->rs1 = rs1;
            op->imm = imm_i(w);
        }
        break;
    case 0x18:
        op->code = branches[f3];
        op->rs1 = rs1;
        op->rs2 = rs2;
        op->imm = target(pc + imm_b(w));
        break;
    case 0x00:
        if (f3 < 3 || f3 == 4 || f3 == 5) {
            op->code = WG_OP_LOAD;
            op->rd = rd;
            op->rs1 = rs1;
            op->imm = imm_i(w);
            op->spare = (uint8_t)f3;
        }
        break;
    case 0x08:
        if (f3 < 3) {
            op->code = WG_OP_STORE;
            op->rs1 = rs1;
            op->rs2 = rs2;
            op->imm = imm_s(w);
            op->spare = (uint8_t)f3;
        }
        break;
    case 0x01: /* flh, flw, vector loads */
        if (f && (f3 == 1 || f3 == 2)) {
            op->code = WG_OP_LOAD;
            op->rd = (uint8_t)(rd + WG_REG_F);
            op->rs1 = rs1;
            op->imm = imm_i(w);
            op->spare = (uint8_t)(f3 == 1 ? 9 : 2); /* 9: a halfword boxed into a float register */
        } else if ((arch->extensions & WG_EXT_V_T2) && core == WG_CORE_T2) {
            op->code = WG_OP_VECTOR;
            op->rs1 = rs1;
            op->rs2 = (w >> 26 & 3) == 2 ? rs2 : 0;
        }
        break;
    case 0x09: /* fsh, fsw, vector stores */
        if (f && (f3 == 1 || f3 == 2)) {
            op->code = WG_OP_STORE;
            op->rs1 = rs1;
            op->rs2 = (uint8_t)(rs2 + WG_REG_F);
            op->imm = imm_s(w);
            op->spare = (uint8_t)f3;
        } else if ((arch->extensions & WG_EXT_V_T2) && core == WG_CORE_T2) {
            op->code = WG_OP_VECTOR;
            op->rs1 = rs1;
            op->rs2 = (w >> 26 & 3) == 2 ? rs2 : 0;
        }
        break;
    case 0x04:
        op->code = f3 == 1 || f3 == 5 ? decode_shift_imm(w, b) : op_imm[f3];
        op->rd = rd;
        op->rs1 = rs1;
        op->imm = f3 == 1 || f3 == 5 ? rs2 : imm_i(w);
        if (op->code == WG_OP_ADDI && !rd)
            op->code = WG_OP_NOP;
        break;
    case 0x0C:
        op->code = decode_op(w, b);
        op->rd = rd;
        op->rs1 = rs1;
        op->rs2 = rs2;
        break;
    case 0x03: /* fence; fence.i does nothing (InstructionCache.md) */
        op->code = f3 == 0 && arch->fence_orders ? WG_OP_FENCE : f3 < 2 ? WG_OP_NOP : WG_OP_ILLEGAL;
        break;
    case 0x1C:
        if (f3 == 0) {
            op->imm = w >> 20;
            if (w >> 20 < 2 && !rd && !rs1)
                op->code = WG_OP_BREAK;
            else if (w == 0x30200073 && core <= WG_CORE_NC && (arch->extensions & WG_EXT_ZICSR))
                op->code = WG_OP_MRET;
        } else if (f3 != 4 && (arch->extensions & WG_EXT_ZICSR)) {
            op->code = WG_OP_CSR;
            op->rd = rd;
            op->rs1 = f3 < 4 ? rs1 : 0;
            op->imm = w >> 20;
            op->spare = (uint8_t)f3;
        }
        break;
    case 0x0B: {
        uint32_t f5 = w >> 27;
        bool known = (f5 & 3) == 0 || f5 == 1;
        if ((arch->extensions & WG_EXT_ZAAMO) && f3 == 2 && known) {
            op->code = WG_OP_ATOMIC;
            op->rd = rd;
            op->rs1 = rs1;
            op->rs2 = rs2;
            op->spare = (uint8_t)f5;
        }
        break;
    }
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x14:
        if (f)
            op->code = decode_fp(w, op);
        break;
    case 0x15:
        if ((arch->extensions & WG_EXT_V_T2) && core == WG_CORE_T2)
            decode_vector(w, op);
        break;
    default: break;
    }
    if (op->code == WG_OP_ILLEGAL)
        op->rd = op->rs1 = op->rs2 = op->rs3 = 0;
    if (!op->rd)
        op->rd = WG_REG_SINK;
}

static bool two_cycle_result(const wg_timing *timing, uint8_t code)
{
    return code == WG_OP_FP || (code >= WG_OP_MUL && code <= WG_OP_MULHU && timing->mul_result > timing->mul_occupies);
}

void wg_decode_line(const wg_tile *t, unsigned core, uint32_t address, const uint32_t word[WG_LINE_OPS],
                    wg_icache_line *line)
{
    unsigned at = 0;
    for (unsigned i = 0; i < WG_LINE_OPS; i++) {
        wg_op *op = &line->op[i];
        wg_decode(t->arch, core, address + 4 * i, word[i], op);
        if (i) {
            wg_op *before = op - 1;
            before->waited_for = before->rd != WG_REG_SINK && wg_op_reads(op, before->rd);
            at += before->code >= WG_OP_MUL && before->code <= WG_OP_MULHU ? t->timing->mul_occupies : 1;
            if (before->waited_for && two_cycle_result(t->timing, before->code))
                at++;
        }
        op->at = (uint8_t)at;
        if (op->code >= WG_OP_BEQ && op->code <= WG_OP_BGEU)
            op->spare = op->imm < address + 4 * i; /* may close a loop: see fast/lines_loop.c */
        for (unsigned j = i + 1; op->code == WG_OP_PUSH && j-- && line->op[j].code == WG_OP_PUSH;)
            line->op[j].spare = (uint8_t)(i + 1 - j); /* so many from it on */
    }
    wg_op *last = &line->op[WG_LINE_OPS - 1];
    bool late = last->rd != WG_REG_SINK && (last->code == WG_OP_LOAD || two_cycle_result(t->timing, last->code));
    bool mul = last->code >= WG_OP_MUL && last->code <= WG_OP_MULHU;
    line->op[WG_LINE_OPS] = (wg_op){.code = late ? WG_OP_LINE_END_LATE : WG_OP_LINE_END,
                                    .rd = last->rd,
                                    .at = (uint8_t)(at + (mul ? t->timing->mul_occupies : 1))};
    line->tag = address | WG_LINE_VALID;
    line->checked = 0;
    line->lag_key = 0;
}
