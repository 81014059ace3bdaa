/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of state.def: the valid values of each member of a tile's state. */
#include "engine/state_check.h"

#include <string.h>

#include "backend/vector.h"
#include "noc/network.h"

/* The latest time except WG_NEVER: adding to a time does not wrap. */
#define LATEST (UINT64_C(1) << 62)
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define NAME(s) NAME_(s)
#define NAME_(s) #s
#define TYPE JOIN(wg_, T)

enum { REGISTERS = WG_REG_SINK };

/* Unit, block bits and opcode match the word; or there is no instruction. */
static bool insn_holds(wg_arch_id arch, const void *data)
{
    wg_insn insn;
    memcpy(&insn, data, sizeof insn);
    uint64_t rest = insn.rest & ~UINT64_C(0xFFFFFF); /* without thread, source, marks */
    return rest == (wg_insn_kinds[arch][insn.word >> 24].rest & ~UINT64_C(0xFFFFFF)) || (!insn.rest && !insn.word);
}

static bool config_op_holds(wg_arch_id arch, const void *data)
{
    wg_config_op op;
    (void)arch;
    memcpy(&op, data, sizeof op);
    return op.kind == WG_CONFIG_NOTHING || op.word + op.words <= WG_CONFIG_WORDS;
}

static bool matrix_op_holds(wg_arch_id arch, const void *data)
{
    wg_matrix_op op;
    (void)arch;
    memcpy(&op, data, sizeof op);
    bool source = op.effect == WG_EFFECT_SRC, low = false;
    for (unsigned i = 0; i < 8; i++)
        low |= (op.row[i] & WG_DST_LOW) != 0;
    if (source && op.src_row + op.rows > WG_SRC_ROWS)
        return false;
    return (op.effect != WG_EFFECT_DST32 && op.effect != WG_EFFECT_DST_LOW) || !low;
}

static bool stream_holds(wg_arch_id arch, const void *data)
{
    wg_stream s;
    (void)arch;
    memcpy(&s, data, sizeof s);
    for (unsigned i = 0; i < WG_STREAM_FIFO; i++)
        if (s.message[i].source >= WG_OVERLAY_STREAMS || s.read[i].source >= WG_OVERLAY_STREAMS)
            return false;
    return true;
}

/* Scheduled instructions belong to the Vector Unit. */
static bool macro_slot_holds(wg_arch_id arch, const void *data)
{
    wg_macro_slot s;
    memcpy(&s, data, sizeof s);
    for (unsigned i = 0; i < WG_LANE_COLUMNS; i++)
        if ((s.present >> i & 1) && !wg_vector_implements(wg_isa_decode(arch, s.entry[i].word)->id))
            return false;
    return true;
}

static bool load_step_holds(wg_arch_id arch, const void *data)
{
    wg_vector_load_step s;
    (void)arch;
    memcpy(&s, data, sizeof s);
    return !s.at || wg_vector_implements((wg_insn_id)s.insn);
}

/* clang-format off */
#define ROW(m, w, ...) {.name = #m, .offset = offsetof(TYPE, m), .bytes = sizeof(((TYPE *)0)->m), .width = (w), __VA_ARGS__},
#define FIELD(m)
#define MAX8(m, most) ROW(m, 1, .max = (most))
#define MAX16(m, most) ROW(m, 2, .max = (most))
#define MAX32(m, most) ROW(m, 4, .max = (most))
#define PLACE(m, most) MAX8(m, most)
#define DATA8(m, most) MAX8(m, most)
#define OR8(m, most, other) ROW(m, 1, .max = (most), .also = (other))
#define BOOL(m) MAX8(m, 1)
#define AGENT(m) OR8(m, WG_AGENT_COUNT - 1, WG_AGENT_NONE)
#define TIME(m) ROW(m, 8, .max = LATEST, .also = UINT64_MAX)
#define COUNT(m) ROW(m, 8, .max = LATEST)
#define NUMBER(m) COUNT(m)
#define PART(m, of) ROW(m, sizeof(JOIN(wg_, of)), .part = &JOIN(wg_state_, of))
#define SUB_MAX8(m, most) MAX8(m, most)
#define SUB_BOOL(m) BOOL(m)
#define A_VALUE(m) ROW(m, 1, .max = UINT64_MAX, .hashed = true)
#define A_MAX8(m, most) ROW(m, 1, .max = (most), .hashed = true)
#define A_MAX16(m, most) ROW(m, 2, .max = (most), .hashed = true)
#define A_MAX32(m, most) ROW(m, 4, .max = (most), .hashed = true)
#define A_BOOL(m) A_MAX8(m, 1)
#define A_PART(m, of) ROW(m, sizeof(JOIN(wg_, of)), .part = &JOIN(wg_state_, of), .hashed = true)
#define STATE static const wg_state_field JOIN(fields_, T)[] = {
#define END(check) }; \
    const wg_state_table JOIN(wg_state_, T) = {.name = NAME(TYPE), \
                                               .field = JOIN(fields_, T), \
                                               .fields = sizeof JOIN(fields_, T) / sizeof JOIN(fields_, T)[0], \
                                               .bytes = sizeof(TYPE), \
                                               .holds = check};
#include "engine/state.def"

/* No member is missing: a structure of the listed sizes, each member once, is as large as the real one. */
#define STATE struct JOIN(listed_, T) {
#define FIELD(m) char m[sizeof(((TYPE *)0)->m)];
#define BITS(n) char bits_[n];
#define PAD(n) char padding_[n];
#define END(check) }; static_assert(sizeof(struct JOIN(listed_, T)) == sizeof(TYPE), "state.def lists every member of " NAME(TYPE));
#include "engine/state.def"
/* clang-format on */
