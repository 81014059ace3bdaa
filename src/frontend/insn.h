/* SPDX-License-Identifier: Apache-2.0 */
/* A Tensix instruction under way, from its push to its completion. */
#ifndef WG_INSN_H
#define WG_INSN_H

#include <assert.h>
#include "isa/isa.h"

typedef struct wg_insn {
    uint32_t word;
    uint32_t pc;        /* of the push; for an expansion, of the MOP's or REPLAY's push */
    uint64_t id;        /* per thread, in the order in which instructions came to be; 1 is the first */
    uint64_t parent;    /* id of the MOP or REPLAY that made it; 0: pushed */
    uint8_t thread;
    uint8_t source;     /* wg_core_id that pushed it; WG_INSN_FROM_DEBUG_BUS */
    uint8_t ttsync;     /* Auto TTSync marks, see frontend/auto_ttsync.h */
    uint8_t unit;       /* wg_unit of the opcode */
    uint16_t block;     /* what catches it at the gate: block bits of the ISA table, or WG_BLOCK_ALL_NINE */
    uint16_t op;        /* wg_insn_id of the opcode */
} wg_insn;
static_assert(sizeof(wg_insn) == 32, "copied in every stage of every frontend");

enum { WG_INSN_FROM_DEBUG_BUS = 0xFF };
/* NOP (and what is no instruction at the gate) is caught only by a mask of all nine bits (GATE-08). */
enum { WG_BLOCK_ALL_NINE = 1 << 15 };

#endif
