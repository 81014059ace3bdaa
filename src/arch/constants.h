/* SPDX-License-Identifier: Apache-2.0 */
/* The source of each timing constant (constants.def), and its certainty. */
#ifndef WG_CONSTANTS_H
#define WG_CONSTANTS_H

#include "arch/arch.h"
#include "isa/isa.h"

typedef enum wg_certainty { WG_DOCUMENTED, WG_MEASURED, WG_INFERRED, WG_ASSUMED } wg_certainty;

typedef struct wg_basis {
    uint8_t certainty; /* wg_certainty */
    uint16_t rows;     /* public rows of a card that show it, or fit it */
} wg_basis;

typedef struct wg_constant {
    const char *name, *what;
    uint16_t offset, bytes; /* in wg_arch, or in wg_timing if it is timing */
    uint8_t width;          /* of an element */
    bool timing;            /* of a profile */
    wg_basis source[2][2];  /* by wg_arch_id, wg_profile */
} wg_constant;

extern const wg_constant wg_constants[];
extern const unsigned wg_constant_count;

/* Of a unit on both architectures, in both profiles: unit_times.def. */
typedef struct wg_unit_time {
    const char *name, *what;
    uint16_t value;
    wg_basis source;
} wg_unit_time;

extern const wg_unit_time wg_unit_times[];
extern const unsigned wg_unit_time_count;

/* Element i of the constant. */
uint32_t wg_constant_value(const wg_constant *c, wg_arch_id arch, wg_profile profile, unsigned i);

/* The latency of a core's requests on this path, and of its instruction fetches; NULL: not in the table. */
const wg_constant *wg_path_constant(unsigned path);
const wg_constant *wg_fetch_constant(unsigned core);
/* The latency of an instruction. */
wg_basis wg_latency_source(wg_arch_id arch, const wg_isa_insn *insn);

#endif
