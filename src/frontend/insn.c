/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontends' data about each opcode, from insns.def. Decided here: a word that no unit takes (an invalid opcode, or MOP,
 * REPLAY, RESOURCEDECL after the stage that serves it) passes the gate like NOP.
 */
#include "machine/insn.h"

#define MARKS_OF(id) \
    ((id) == WG_I_MOP                                   ? WG_E_MOP | WG_E_COUNTED \
     : (id) == WG_I_MOP_CFG                             ? WG_E_MOP \
     : (id) == WG_I_REPLAY                              ? WG_E_REPLAY \
     : (id) == WG_I_RESOURCEDECL || (id) == WG_I_SETC16 ? WG_E_ATTENDED \
                                                        : 0)
#define REST(unit, block, op) ((uint64_t)(unit) << 24 | (uint64_t)(block) << 32 | (uint64_t)(op) << 48)
#define KIND(unit, bits, op, owned) \
    { \
        REST(unit, unit > WG_UNIT_INVALID ? (bits) : WG_BLOCK_ALL_NINE, op), 0xFFFFFF & ~(owned), \
            MARKS_OF(op) | (unit > WG_UNIT_INVALID ? 0 : WG_E_PASSES) \
    }
#define INVALID [0 ... 255] = {REST(WG_UNIT_INVALID, WG_BLOCK_ALL_NINE, WG_I_INVALID), UINT32_MAX, WG_E_PASSES}

#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
const wg_insn_kind wg_insn_kinds[2][256] = {[WG_ARCH_BH] =
                                                {
                                                    INVALID,
#define WG_FIELD(role, name, lo, width, symbols) | (uint32_t)(((UINT64_C(1) << (width)) - 1) << (lo))
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    [opcode] = KIND(WG_UNIT_##unit, block, WG_I_##insn, UINT32_C(0) __VA_ARGS__),
#define WG_DEF_BH
#include "isa/insns.def"
                                                },
                                            [WG_ARCH_WH] = {
                                                INVALID,
#define WG_FIELD(role, name, lo, width, symbols) | (uint32_t)(((UINT64_C(1) << (width)) - 1) << (lo))
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    [opcode] = KIND(WG_UNIT_##unit, block, WG_I_##insn, UINT32_C(0) __VA_ARGS__),
#define WG_DEF_WH
#include "isa/insns.def"
                                            }};
