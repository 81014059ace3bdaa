/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V instructions as text: libwaitgate_tools.so.0, if it can be loaded, has libopcodes. */
#ifndef WG_ABI_RISCV_H
#define WG_ABI_RISCV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For wg_riscv_text_by(); the first call loads the library. False: it is not there, or does not know the word. */
bool wg_abi_riscv_text(uint32_t pc, uint32_t word, char *out, size_t size);

#endif
