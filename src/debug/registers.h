/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a core as debuggers number them: x0 to x31, pc, f0 to f31, v0 to v31, CSRs. */
#ifndef WG_DEBUG_REGISTERS_H
#define WG_DEBUG_REGISTERS_H

#include <waitgate/debug.h>

enum {
#define WG_CSR(id, number, name) WG_REGISTER_OF_##id,
#include "isa/csrs.def"
    WG_CSR_COUNT
};
enum {
    WG_REGISTER_PC = 32,
    WG_REGISTER_F = 33,
    WG_REGISTER_V = 65,
    WG_REGISTER_CSR = 97,
    WG_REGISTERS = WG_REGISTER_CSR + WG_CSR_COUNT
};

typedef struct wg_register_info {
    const char *name; /* as gdb knows it */
    uint8_t bytes;    /* 4; a vector register: 16 */
    uint16_t csr;     /* its number */
} wg_register_info;

const wg_register_info *wg_register_at(unsigned number);
/* Little-endian, as many bytes as it has. False: this core has no such register. */
bool wg_register_read(wg_device *dev, unsigned core, unsigned number, uint8_t bytes[16]);
bool wg_register_write(wg_device *dev, unsigned core, unsigned number, const uint8_t bytes[16]);

#endif
