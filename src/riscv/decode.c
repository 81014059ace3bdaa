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
#include "isa/riscv_word.h"
#include "machine/tile.h"

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
    case 0x34: return b ? WG_OP_GREVI : WG_OP_ILLEGAL; /* rev8 and brev8 are special cases */
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

/* The formats of the RISC-V specification; of each major opcode, bits 6 to 2 of the word. */
typedef enum format { NONE, U, J, I, B, S, R } format;
static const uint8_t formats[32] = {[0x00] = I, [0x01] = I, [0x04] = I, [0x05] = U, [0x08] = S, [0x09] = S, [0x0B] = R,
                                    [0x0C] = R, [0x0D] = U, [0x18] = B, [0x19] = I, [0x1B] = J, [0x1C] = I};

/* Registers and immediate; 0 where the format has none. */
static void read_fields(uint32_t w, uint32_t pc, format f, wg_op *op)
{
    if (f != NONE && f != B && f != S)
        op->rd = (uint8_t)(w >> 7 & 31);
    if (f >= I)
        op->rs1 = (uint8_t)(w >> 15 & 31);
    if (f >= B)
        op->rs2 = (uint8_t)(w >> 20 & 31);
    op->imm = f == U   ? w & 0xFFFFF000
              : f == J ? target(pc + wg_rv_imm_j(w))
              : f == I ? wg_rv_imm_i(w)
              : f == B ? target(pc + wg_rv_imm_b(w))
              : f == S ? wg_rv_imm_s(w)
                       : 0;
}

/* fence and fence.i; the latter does nothing (InstructionCache.md). */
static uint8_t decode_fence(const wg_arch *arch, uint32_t f3)
{
    return f3 == 0 && arch->fence_orders ? WG_OP_FENCE : f3 < 2 ? WG_OP_NOP : WG_OP_ILLEGAL;
}

/* ebreak, ecall, mret and the CSR instructions. */
static uint8_t decode_system(uint8_t extensions, uint32_t w, wg_op *op)
{
    const uint32_t f3 = w >> 12 & 7;
    const bool csrs = extensions & WG_EXT_ZICSR;
    op->imm = w >> 20;
    if (f3 != 0 && f3 != 4 && csrs) {
        op->rs1 = f3 < 4 ? op->rs1 : 0; /* else an immediate */
        op->spare = (uint8_t)f3;
        return WG_OP_CSR;
    }
    const bool bare = f3 == 0 && !op->rd && !op->rs1;
    op->rd = op->rs1 = 0;
    if (bare && op->imm < 2)
        return WG_OP_BREAK;
    return w == 0x30200073 && (extensions & WG_EXT_MRET) ? WG_OP_MRET : WG_OP_ILLEGAL;
}

/* A load or store of a float register, or of vectors. */
static uint8_t decode_float_memory(uint8_t extensions, uint32_t w, bool stores, wg_op *op)
{
    const uint32_t f3 = w >> 12 & 7;
    if ((extensions & WG_EXT_F) && (f3 == 1 || f3 == 2)) {
        if (stores)
            op->rs2 = (uint8_t)(op->rs2 + WG_REG_F);
        else
            op->rd = (uint8_t)(op->rd + WG_REG_F);
        op->spare = (uint8_t)(f3 == 1 && !stores ? 9 : f3); /* 9: a halfword boxed into a float register */
        return stores ? WG_OP_STORE : WG_OP_LOAD;
    }
    op->rd = op->spare = 0;
    op->rs2 = (w >> 26 & 3) == 2 ? (uint8_t)(w >> 20 & 31) : 0;
    op->imm = 0;
    return extensions & WG_EXT_V ? WG_OP_VECTOR : WG_OP_ILLEGAL;
}

static uint8_t decode_atomic(uint8_t extensions, uint32_t w, wg_op *op)
{
    op->spare = (uint8_t)(w >> 27);
    const bool known = (op->spare & 3) == 0 || op->spare == 1;
    return (extensions & WG_EXT_ZAAMO) && (w >> 12 & 7) == 2 && known ? WG_OP_ATOMIC : WG_OP_ILLEGAL;
}

static uint8_t decode_imm(uint32_t w, bool b, wg_op *op)
{
    const uint32_t f3 = w >> 12 & 7;
    if (f3 == 1 || f3 == 5) {
        op->imm = w >> 20 & 31;
        return decode_shift_imm(w, b);
    }
    return op_imm[f3] == WG_OP_ADDI && !op->rd ? WG_OP_NOP : op_imm[f3];
}

/* Returns the code, and corrects fields that deviate from the format. */
static uint8_t decode_code(const wg_arch *arch, uint8_t extensions, uint32_t pc, uint32_t w, wg_op *op)
{
    const uint32_t f3 = w >> 12 & 7;
    const bool b = extensions & WG_EXT_B;
    op->spare = (uint8_t)f3;
    switch (w >> 2 & 31) {
    case 0x00: return f3 < 3 || f3 == 4 || f3 == 5 ? WG_OP_LOAD : WG_OP_ILLEGAL;
    case 0x01: return decode_float_memory(extensions, w, false, op);
    case 0x08: return f3 < 3 ? WG_OP_STORE : WG_OP_ILLEGAL;
    case 0x09: return decode_float_memory(extensions, w, true, op);
    case 0x0B: return decode_atomic(extensions, w, op);
    case 0x1C: op->spare = 0; return decode_system(extensions, w, op);
    default: op->spare = 0; break;
    }
    switch (w >> 2 & 31) {
    case 0x03: return decode_fence(arch, f3);
    case 0x04: return decode_imm(w, b, op);
    case 0x05: op->imm += pc; return WG_OP_LUI; /* auipc */
    case 0x0C: return decode_op(w, b);
    case 0x0D: return WG_OP_LUI;
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x14: return extensions & WG_EXT_F ? decode_fp(w, op) : WG_OP_ILLEGAL;
    case 0x15:
        if (!(extensions & WG_EXT_V))
            return WG_OP_ILLEGAL;
        decode_vector(w, op);
        return WG_OP_VECTOR;
    case 0x18: return branches[f3];
    case 0x19: return f3 == 0 ? WG_OP_JALR : WG_OP_ILLEGAL;
    case 0x1B: return WG_OP_JAL;
    default: return WG_OP_ILLEGAL;
    }
}

void wg_decode(const wg_tile *t, unsigned core, uint32_t pc, uint32_t w, wg_op *op)
{
    *op = (wg_op){.word = w};
    if ((w & 3) != 3) {
        op->code = t->spec->threads ? WG_OP_PUSH : WG_OP_ILLEGAL; /* pushes need a coprocessor */
        op->imm = wg_ttinsn_decode(w);
        op->rd = WG_REG_SINK;
        return;
    }
    read_fields(w, pc, formats[w >> 2 & 31], op);
    op->code = decode_code(t->arch, t->spec->core[core].extensions, pc, w, op);
    if (op->code == WG_OP_ILLEGAL)
        *op = (wg_op){.word = w};
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
        wg_decode(t, core, address + 4 * i, word[i], op);
        if (i) {
            wg_op *before = op - 1;
            before->waited_for = before->rd != WG_REG_SINK && wg_op_reads(op, before->rd);
            at += before->code >= WG_OP_MUL && before->code <= WG_OP_MULHU ? t->timing->mul_occupies : 1;
            if (before->waited_for && two_cycle_result(t->timing, before->code))
                at++;
        }
        op->at = (uint8_t)at;
        if (op->code >= WG_OP_BEQ && op->code <= WG_OP_BGEU)
            op->spare = op->imm < address + 4 * i; /* the branch may close a loop: see fast/lines.c */
        for (unsigned j = i + 1; op->code == WG_OP_PUSH && j-- && line->op[j].code == WG_OP_PUSH;)
            line->op[j].spare = (uint8_t)(i + 1 - j); /* the length of the fused run from here on */
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
