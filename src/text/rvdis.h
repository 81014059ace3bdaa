/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V instructions of the baby cores as text. */
#ifndef WG_RVDIS_H
#define WG_RVDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the instruction (nop, li, mv, ret … where they are shorter) without a newline; branch targets as addresses.
 * False (and ".word 0x…") if the word is not an instruction.
 */
bool wg_riscv_text(uint32_t pc, uint32_t word, char *out, size_t size);

/* False in a build without libopcodes, where floating point and vectors are a ".word". */
bool wg_riscv_text_available(void);

#endif
