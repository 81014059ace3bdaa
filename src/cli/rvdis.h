/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V instructions of the baby cores as text. */
#ifndef WG_RVDIS_H
#define WG_RVDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WG_RVDIS_ALIASES = 1 }; /* nop, li, mv, ret, j … where they are shorter */

/*
 * Writes the instruction without a newline; branch targets as addresses. False (and ".word 0x…") if the
 * word is none.
 */
bool wg_riscv_text(uint32_t pc, uint32_t word, unsigned flags, char *out, size_t size);

#endif
