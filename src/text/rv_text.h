/* SPDX-License-Identifier: Apache-2.0 */
/* The small RISC-V disassembler, for builds without libopcodes; the names of registers. */
#ifndef WG_RV_TEXT_H
#define WG_RV_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As wg_riscv_text(), for the instructions that it knows. */
bool wg_rv_text(uint32_t pc, uint32_t word, char *out, size_t size);
/* The number of a register, or of a CSR; -1: none. */
int wg_rv_register(const char *name, size_t length);
int wg_rv_csr(const char *name, size_t length);

#endif
