/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler and disassembler (<waitgate/asm.h>), and their further functions: expressions, symbols, spare bits. */
#ifndef WG_ISA_ASM_H
#define WG_ISA_ASM_H

#include <waitgate/asm.h>

#include "isa/isa.h"

/* The set bits of [23:0] in no field of the instruction; 0 for an unknown opcode. */
uint32_t wg_disassemble_spare(wg_arch_id arch, uint32_t word);

/*
 * An expression on its own: + - * / % << >> & ^ | ~ ( ), numbers (10, 0x10, 0b10, 0o10 and 010), names.
 * `used` is where it ended: at a comma, a comment or the end of the text. `env` may be NULL.
 */
wg_asm_code wg_asm_expression(wg_arch_id arch, const char *text, size_t length, const wg_asm_env *env, int64_t *value,
                              size_t *used, wg_asm_error *error);

/*
 * The instruction set's own names: STALL_CFG, MATH, SEMAPHORE_1 …, and <config field>_ADDR32, _SHAMT
 * and _MASK. False if the name is none of them on this architecture.
 */
bool wg_asm_symbol(wg_arch_id arch, const char *name, size_t length, int64_t *value);

#endif
