/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Tensix instruction set as data. src/isa/insns.def is the one list of instructions; the
 * decoder, the field accessors, assembler and disassembler, the Wait Gate's block masks, the Auto
 * TTSync classes, latencies and wg_kernel.h all come from it.
 *
 * Facts: shared ISA tables, tt-isa-documentation (per-instruction pages, STALLWAIT's block table,
 * AutoTTSync's class table), clauses GATE-07, GATE-08, PIPE-07, PIPE-09, PIPE-29, TTS-14.
 */
#ifndef WG_ISA_H
#define WG_ISA_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

/* The unit an instruction executes in; the first three never reach a backend unit. */
typedef enum wg_unit {
    WG_UNIT_FRONTEND, /* MOP, MOP_CFG, REPLAY, RESOURCEDECL */
    WG_UNIT_NONE,     /* NOP: passes the gate and disappears */
    WG_UNIT_INVALID,  /* no instruction has this opcode on this architecture */
    WG_UNIT_SYNC,
    WG_UNIT_UNPACK,
    WG_UNIT_MATRIX,
    WG_UNIT_PACK,
    WG_UNIT_VECTOR,
    WG_UNIT_SCALAR,
    WG_UNIT_CONFIG,
    WG_UNIT_MOVER,
    WG_UNIT_MISC,
    WG_UNIT_COUNT
} wg_unit;

/* One identifier per instruction name over both architectures: WG_I_STALLWAIT … (0 is invalid). */
typedef enum wg_insn_id {
    WG_I_INVALID,
#define WG_DEF_BH /* every WH name is also a BH name: a WH-only record would not compile */
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(name, ...) WG_I_##name,
#include "isa/insns.def"
    WG_I_COUNT
} wg_insn_id;

/* Their opcodes, bits [31:24]: WG_OPCODE_STALLWAIT … An instruction that both architectures have has one opcode. */
enum {
#define WG_DEF_BH
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(name, opcode, ...) WG_OPCODE_##name = (opcode),
#include "isa/insns.def"
};
#define WG_DEF_WH
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(name, opcode, ...) static_assert(WG_OPCODE_##name == (opcode), #name);
#include "isa/insns.def"
static inline unsigned wg_opcode(uint32_t word) { return word >> 24; }

/* Block mask bits of STALLWAIT, SEMWAIT and STREAMWAIT. */
enum {
    WG_B0 = 1 << 0,
    WG_B1 = 1 << 1,
    WG_B2 = 1 << 2,
    WG_B3 = 1 << 3,
    WG_B4 = 1 << 4,
    WG_B5 = 1 << 5,
    WG_B6 = 1 << 6,
    WG_B7 = 1 << 7,
    WG_B8 = 1 << 8,
    WG_B_ANY = 0x1FF
};

typedef struct wg_isa_symbol {
    const char *name;
    uint32_t value;
} wg_isa_symbol;

typedef enum wg_field_role {
    WG_FIELD_UNSIGNED,
    WG_FIELD_SIGNED,      /* two's complement; also accepted as a negative number */
    WG_FIELD_MASK,        /* symbols are bits, to be ORed */
    WG_FIELD_CONFIG_WORD, /* index of a Config word */
    WG_FIELD_THREAD_WORD, /* index of a ThreadConfig word */
    WG_FIELD_EXTRA        /* documented, but not an operand of the public syntax */
} wg_field_role;

typedef struct wg_isa_field {
    const char *name; /* the ISA table's argument name */
    uint8_t lo, width;
    uint8_t role;                 /* wg_field_role */
    const wg_isa_symbol *symbols; /* terminated by a NULL name; NULL if the field has none */
} wg_isa_field;

enum { WG_ISA_MAX_FIELDS = 16 };

typedef struct wg_isa_insn {
    const char *name; /* upper case, as in the ISA documentation */
    wg_insn_id id;
    uint8_t opcode;
    uint8_t unit;         /* wg_unit */
    uint16_t block_bits;  /* which of B0…B8 catch it at the Wait Gate; NOP has 0 */
    uint8_t ttsync_class; /* Auto TTSync class 0…15; WG_TTSYNC_NONE: touches nothing */
    uint8_t field_count;
    uint8_t extra_count;        /* documented fields without an operand: fields[field_count …] */
    const wg_isa_field *fields; /* in the public toolchain's operand order: descending bits */
    uint8_t latency[2];         /* per wg_profile; 0: variable, see the unit */
    uint8_t interval[2];        /* cycles between two issues to one unit; 0: variable */
    uint32_t spare_bits;        /* bits of [23:0] in no field */
    const char *page;           /* documentation page in …/TensixCoprocessor/; NULL: it has none */
    uint8_t page_trees;         /* bit by wg_arch_id: its tree has the page */
} wg_isa_insn;
enum { WG_TTSYNC_NONE = 0xFF };

/* The tables behind the accessors below. */
extern const wg_isa_insn wg_isa_insns[2][WG_I_COUNT];
extern const uint8_t wg_isa_opcodes[2][256];

/* Never NULL: an unused opcode gives a record with id WG_I_INVALID and unit WG_UNIT_INVALID. */
static inline const wg_isa_insn *wg_isa_by_opcode(wg_arch_id arch, uint8_t opcode)
{
    return &wg_isa_insns[arch][wg_isa_opcodes[arch][opcode]];
}
static inline const wg_isa_insn *wg_isa_decode(wg_arch_id arch, uint32_t word)
{
    return wg_isa_by_opcode(arch, (uint8_t)(word >> 24));
}
/* The directory of an architecture's pages; the one with an instruction's page, which may be another architecture's. */
extern const char *const wg_isa_page_trees[2];
const char *wg_isa_page_tree(wg_arch_id arch, const wg_isa_insn *insn);

/* NULL if this architecture has no such instruction. Case does not matter; a "tt" prefix is allowed. */
const wg_isa_insn *wg_isa_by_name(wg_arch_id arch, const char *name, size_t length);
const wg_isa_insn *wg_isa_by_id(wg_arch_id arch, wg_insn_id id);

static inline uint32_t wg_isa_field_mask(const wg_isa_field *f)
{
    return (uint32_t)((UINT64_C(1) << f->width) - 1) << f->lo;
}
static inline uint32_t wg_isa_field_get(const wg_isa_field *f, uint32_t word)
{
    return (word >> f->lo) & (uint32_t)((UINT64_C(1) << f->width) - 1);
}
static inline bool wg_isa_field_is_signed(const wg_isa_field *f) { return f->role == WG_FIELD_SIGNED; }
/* The bits of `word` that no field of its instruction owns. */
static inline uint32_t wg_isa_spare(const wg_isa_insn *insn, uint32_t word) { return word & insn->spare_bits; }

/*
 * Compile-time field access: WG_OPERAND(BH, STALLWAIT, stall_res, word). It uses one struct type per instruction, never
 * instantiated, in which the size of the member named after the field encodes its position: lowest bit + 1 + 256 · width.
 */
#define WG_FIELD(role, field, lo, width, symbols) char field[(lo) + 1 + 256 * (width)];
#define WG_FORM_FIELD(field, lo, width) char field[(lo) + 1 + 256 * (width)];
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    struct wg_fields_BH_##insn { \
        char wg_not_empty; \
        __VA_ARGS__ \
    };
#define WG_DEF_BH
#include "isa/insns.def"
#define WG_FIELD(role, field, lo, width, symbols) char field[(lo) + 1 + 256 * (width)];
#define WG_FORM_FIELD(field, lo, width) char field[(lo) + 1 + 256 * (width)];
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    struct wg_fields_WH_##insn { \
        char wg_not_empty; \
        __VA_ARGS__ \
    };
#define WG_DEF_WH
#include "isa/insns.def"
#define WG_OPERAND_PLACE_(arch, insn, field) (sizeof(((struct wg_fields_##arch##_##insn *)0)->field) - 1)
#define WG_OPERAND_LO(arch, insn, field) ((uint32_t)WG_OPERAND_PLACE_(arch, insn, field) & 255u)
#define WG_OPERAND_WIDTH(arch, insn, field) ((uint32_t)WG_OPERAND_PLACE_(arch, insn, field) >> 8)
#define WG_OPERAND(arch, insn, field, word) \
    (((uint32_t)(word) >> WG_OPERAND_LO(arch, insn, field)) & ((1u << WG_OPERAND_WIDTH(arch, insn, field)) - 1u))
#define WG_OPERAND_MASK(arch, insn, field) \
    (((1u << WG_OPERAND_WIDTH(arch, insn, field)) - 1u) << WG_OPERAND_LO(arch, insn, field))
/* Is a field set whose mask is in `masks`? */
static inline bool wg_sets(uint32_t word, uint32_t masks) { return word & masks; }
/* As WG_OPERAND, for a field at the same position on both architectures; otherwise it does not compile. */
#define WG_GET(insn, field, word) \
    ((uint32_t)(WG_OPERAND(BH, insn, field, word) + \
                0 * sizeof(char[WG_OPERAND_PLACE_(BH, insn, field) == WG_OPERAND_PLACE_(WH, insn, field) ? 1 : -1])))
/* The position of a field, for tables: wg_field_at() reads it. */
typedef struct wg_field_place {
    uint8_t lo, width;
} wg_field_place;
#define WG_FIELD_PLACE(arch, insn, field) \
    { \
        (uint8_t) WG_OPERAND_LO(arch, insn, field), (uint8_t)WG_OPERAND_WIDTH(arch, insn, field) \
    }
static inline uint32_t wg_field_at(wg_field_place place, uint32_t word)
{
    return word >> place.lo & ((1u << place.width) - 1u);
}
static inline uint32_t wg_field_bits(wg_field_place place) { return ((1u << place.width) - 1u) << place.lo; }

/* Latencies from the records: WG_LATENCY_MVMUL and, as measured, WG_MEASURED_LATENCY_MVMUL. */
enum {
#define WG_FIELD(role, field, lo, width, symbols)
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    WG_LATENCY_##insn = lat0, WG_MEASURED_LATENCY_##insn = lat1,
#define WG_DEF_BH
#include "isa/insns.def"
};

/* `.ttinsn` form (PIPE-09). */
static inline uint32_t wg_ttinsn_encode(uint32_t word) { return word << 2 | word >> 30; }
static inline uint32_t wg_ttinsn_decode(uint32_t fetched) { return fetched >> 2 | fetched << 30; }

/* The address that a LOADREG or STOREREG accesses. */
#define WG_MMIO_BASE UINT32_C(0xFFB00000)
static inline uint32_t wg_reg_address(uint32_t word) { return WG_MMIO_BASE + 4 * WG_GET(STOREREG, RegAddr, word); }

#endif
