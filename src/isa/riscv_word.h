/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a 32-bit RISC-V instruction word, for code outside the cores. */
#ifndef WG_RISCV_WORD_H
#define WG_RISCV_WORD_H

#include <stdbool.h>
#include <stdint.h>

/* Major opcodes, including the two low bits. */
enum { WG_RV_LOAD = 0x03, WG_RV_STORE = 0x23 };

static inline unsigned wg_rv_opcode(uint32_t word) { return word & 0x7F; }
static inline unsigned wg_rv_rd(uint32_t word) { return word >> 7 & 31; }
static inline unsigned wg_rv_rs1(uint32_t word) { return word >> 15 & 31; }
static inline unsigned wg_rv_rs2(uint32_t word) { return word >> 20 & 31; }
/* The immediate of loads and of arithmetic with a constant. */
static inline uint32_t wg_rv_imm_i(uint32_t word) { return (uint32_t)((int32_t)word >> 20); }
/* The immediate of stores. */
static inline uint32_t wg_rv_imm_s(uint32_t word)
{
    return ((uint32_t)((int32_t)word >> 20) & ~31u) | (word >> 7 & 31);
}
/* Every word without the two low bits set is a .ttinsn (PIPE-09). */
static inline bool wg_rv_is_ttinsn(uint32_t word) { return (word & 3) != 3; }

#endif
