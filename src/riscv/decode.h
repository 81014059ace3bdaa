/* SPDX-License-Identifier: Apache-2.0 */
/* Predecoding: a 32-bit word becomes a wg_op that the executor dispatches on. */
#ifndef WG_RISCV_DECODE_H
#define WG_RISCV_DECODE_H

#include "machine/core.h"

/* One list for the enum below and the dispatch tables of the executors. */
/* clang-format off */
#define WG_OPS(X)                                                                                  \
    X(ILLEGAL) X(LINE_END) X(LINE_END_LATE) X(NOP) X(PUSH)                                          \
    X(LUI) X(JAL) X(JALR) X(BEQ) X(BNE) X(BLT) X(BGE) X(BLTU) X(BGEU)                       \
    X(ADDI) X(SLTI) X(SLTIU) X(XORI) X(ORI) X(ANDI) X(SLLI) X(SRLI) X(SRAI)                          \
    X(ADD) X(SUB) X(SLL) X(SLT) X(SLTU) X(XOR) X(SRL) X(SRA) X(OR) X(AND)                            \
    X(MUL) X(MULH) X(MULHSU) X(MULHU) X(DIV) X(DIVU) X(REM) X(REMU)                                  \
    X(LOAD) X(STORE) X(FENCE) X(BREAK) X(MRET) X(CSR) X(ATOMIC)                                      \
    X(SH1ADD) X(SH2ADD) X(SH3ADD) X(ANDN) X(ORN) X(XNOR) X(CLZ) X(CTZ) X(CPOP) X(MAX) X(MAXU)         \
    X(MIN) X(MINU) X(SEXT_B) X(SEXT_H) X(PACK) X(ROL) X(ROR) X(RORI) X(ORC_B) X(GREVI)                \
    X(FP) X(FMOVE) X(VECTOR)
/* clang-format on */

typedef enum wg_op_code {
#define WG_OP_ENUM(name) WG_OP_##name,
    WG_OPS(WG_OP_ENUM)
#undef WG_OP_ENUM
        WG_OP_COUNT
} wg_op_code;

void wg_decode(const struct wg_tile *t, unsigned core, uint32_t pc, uint32_t word, wg_op *op);
/* Decodes four words into a line, with the timing that is known statically. */
void wg_decode_line(const struct wg_tile *t, unsigned core, uint32_t address, const uint32_t word[WG_LINE_OPS],
                    wg_icache_line *line);
static inline bool wg_op_reads(const wg_op *op, unsigned reg)
{
    return reg && (op->rs1 == reg || op->rs2 == reg || op->rs3 == reg);
}

#endif
