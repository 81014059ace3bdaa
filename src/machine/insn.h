/* SPDX-License-Identifier: Apache-2.0 */
/* A Tensix instruction in flight, from its push to its completion. */
#ifndef WG_INSN_H
#define WG_INSN_H

#include <assert.h>
#include "isa/isa.h"

typedef struct wg_insn {
    uint32_t word;
    uint32_t pc;     /* of the push; for an expansion, of the MOP's or REPLAY's push */
    uint64_t id;     /* per thread, in order of creation; 1 is the first */
    uint64_t parent; /* id of the MOP or REPLAY that made it; 0: pushed */
    union {
        struct {
            uint8_t thread;
            uint8_t source; /* wg_core_id that pushed it; WG_INSN_FROM_DEBUG_BUS */
            uint8_t ttsync; /* Auto TTSync marks, see machine/auto_ttsync.h */
            uint8_t unit;   /* wg_unit of the opcode */
            uint16_t block; /* block bits that hold it at the gate, from the ISA table, or WG_BLOCK_ALL_NINE */
            uint16_t op;    /* wg_insn_id of the opcode */
        };
        uint64_t rest; /* all of these, written at once */
    };
} wg_insn;
static_assert(sizeof(wg_insn) == 32, "copied by every unit that takes one");

enum { WG_INSN_FROM_DEBUG_BUS = 0xFF };
/* NOP (and any word that is not an instruction at the gate) is held only by a mask of all nine bits (GATE-08). */
enum { WG_BLOCK_ALL_NINE = 1 << 15 };

/* The data per opcode needed to create an instruction, close together. */
typedef struct wg_insn_kind {
    uint64_t rest;       /* as in wg_insn, thread and source 0 */
    uint32_t spare_bits; /* bits of the word in no field; bit 31: not an instruction */
    uint32_t marks;      /* WG_E_… */
} wg_insn_kind;

/*
 * In a FIFO an instruction is represented by its place in the thread's pool and the properties that the stages need without
 * looking there.
 */
enum {
    WG_E_PLACE = 63,
    WG_E_MOP = 1 << 6,     /* the MOP Expander serves it */
    WG_E_REPLAY = 1 << 7,  /* the Replay Expander serves it */
    WG_E_PASSES = 1 << 8,  /* needs no unit: NOP and similar */
    WG_E_DIRECT = 1 << 9,  /* pushed by the thread's own core and made by no expander */
    WG_E_TTSYNC = 1 << 10, /* has marks of Auto TTSync */
    /* In wg_insn_kind only: */
    WG_E_ATTENDED = 1 << 16, /* Auto TTSync checks it even when it tracks nothing */
    WG_E_COUNTED = 1 << 17   /* a MOP */
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wg_insn.rest");
extern const wg_insn_kind wg_insn_kinds[2][256]; /* by architecture and opcode */

#endif
