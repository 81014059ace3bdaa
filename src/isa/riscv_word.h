/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a 32-bit RISC-V instruction word, for code outside the cores. */
#ifndef WG_RISCV_WORD_H
#define WG_RISCV_WORD_H

#include <stdbool.h>
#include <stdint.h>

/* Major opcodes, including the two low bits. */
enum {
    WG_RV_LOAD = 0x03,
    WG_RV_LOAD_FP = 0x07, /* of F and V */
    WG_RV_IMMEDIATE = 0x13,
    WG_RV_AUIPC = 0x17,
    WG_RV_STORE = 0x23,
    WG_RV_ATOMIC = 0x2F,
    WG_RV_ALU = 0x33,
    WG_RV_LUI = 0x37,
    WG_RV_BRANCH = 0x63,
    WG_RV_JALR = 0x67,
    WG_RV_JAL = 0x6F,
    WG_RV_SYSTEM = 0x73
};
/* Conditions of branches: funct3. */
enum { WG_RV_BEQ = 0, WG_RV_BNE = 1, WG_RV_BLT = 4, WG_RV_BGE = 5, WG_RV_BLTU = 6, WG_RV_BGEU = 7 };
/* Whole words. */
#define WG_RV_ECALL UINT32_C(0x00000073)
#define WG_RV_EBREAK UINT32_C(0x00100073)

static inline unsigned wg_rv_opcode(uint32_t word) { return word & 0x7F; }
static inline unsigned wg_rv_rd(uint32_t word) { return word >> 7 & 31; }
static inline unsigned wg_rv_rs1(uint32_t word) { return word >> 15 & 31; }
static inline unsigned wg_rv_rs2(uint32_t word) { return word >> 20 & 31; }
static inline unsigned wg_rv_funct3(uint32_t word) { return word >> 12 & 7; }
static inline unsigned wg_rv_funct7(uint32_t word) { return word >> 25; }
/* The immediate of loads and of arithmetic with a constant. */
static inline uint32_t wg_rv_imm_i(uint32_t word) { return (uint32_t)((int32_t)word >> 20); }
/* The immediate of stores. */
static inline uint32_t wg_rv_imm_s(uint32_t word)
{
    return ((uint32_t)((int32_t)word >> 20) & ~31u) | (word >> 7 & 31);
}
/* The upper part of the word, for lui and auipc. */
static inline uint32_t wg_rv_imm_u(uint32_t word) { return word & 0xFFFFF000u; }
/* Where a branch or jal leads, from its own pc. */
static inline uint32_t wg_rv_imm_b(uint32_t word)
{
    return ((uint32_t)((int32_t)word >> 19) & ~0xFFFu) | (word >> 7 & 1) << 11 | (word >> 25 & 0x3F) << 5 |
           (word >> 8 & 15) << 1;
}
static inline uint32_t wg_rv_imm_j(uint32_t word)
{
    return ((uint32_t)((int32_t)word >> 11) & ~0xFFFFFu) | (word & 0xFF000) | (word >> 20 & 1) << 11 |
           (word >> 21 & 0x3FF) << 1;
}
/* Of one-cycle arithmetic with registers or with a constant (add, sub, shifts, comparisons, logic). */
static inline uint32_t wg_rv_compute(uint32_t word, uint32_t a, uint32_t b)
{
    const bool alternate = word >> 30 & 1, immediate = wg_rv_opcode(word) == WG_RV_IMMEDIATE;
    switch (wg_rv_funct3(word)) {
    case 0: return alternate && !immediate ? a - b : a + b;
    case 1: return a << (b & 31);
    case 2: return (int32_t)a < (int32_t)b;
    case 3: return a < b;
    case 4: return a ^ b;
    case 5: return alternate ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
    case 6: return a | b;
    default: return a & b;
    }
}
/* Every word without the two low bits set is a .ttinsn (PIPE-09). */
static inline bool wg_rv_is_ttinsn(uint32_t word) { return (word & 3) != 3; }

#endif
