/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction tables: insns.def and symbols.h as arrays, compile-time checks of them, and lookup by name.
 */
#include "isa/isa.h"

#include <string.h>
#include "isa/name_hash.h"
#include "isa/symbols.h"

/* ---- symbols, one table per kind of operand ---------------------------------------------------------- */

#define SYMBOL(name, value) {#name, value},
#define SYMBOL_TABLE(group) static const wg_isa_symbol wg_isa_symbols_##group[] = {WG_SYMBOLS_##group(SYMBOL){NULL, 0}};
SYMBOL_TABLE(block)
SYMBOL_TABLE(wait_bh)
SYMBOL_TABLE(wait_wh)
SYMBOL_TABLE(sem)
SYMBOL_TABLE(semcond)
SYMBOL_TABLE(resource)

/* ---- fields ------------------------------------------------------------------------------------------- */

#define FIELD_ENTRY(role, name, lo, width, symbols) {#name, lo, width, WG_FIELD_##role, symbols},
#define LAST_FIELD \
    { \
        NULL, 0, 0, WG_FIELD_UNSIGNED, NULL \
    }

#define WG_FIELD FIELD_ENTRY
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    static const wg_isa_field fields_BH_##insn[] = {__VA_ARGS__ LAST_FIELD};
#define WG_DEF_BH
#include "isa/insns.def"

#define WG_FIELD FIELD_ENTRY
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    static const wg_isa_field fields_WH_##insn[] = {__VA_ARGS__ LAST_FIELD};
#define WG_DEF_WH
#include "isa/insns.def"

/* ---- field sums --------------------------------------------------------------------------------------- */

#define COUNT_OPERAND_UNSIGNED 1
#define COUNT_OPERAND_SIGNED 1
#define COUNT_OPERAND_MASK 1
#define COUNT_OPERAND_CONFIG_WORD 1
#define COUNT_OPERAND_THREAD_WORD 1
#define COUNT_OPERAND_EXTRA 0
#define COUNT_OPERAND(role, name, lo, width, symbols) +COUNT_OPERAND_##role
#define MASK_OF(lo, width) (((UINT64_C(1) << (width)) - 1) << (lo))

enum {
#define WG_FIELD COUNT_OPERAND
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    OPERANDS_BH_##insn = 0 __VA_ARGS__,
#define WG_DEF_BH
#include "isa/insns.def"
#define WG_FIELD COUNT_OPERAND
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    OPERANDS_WH_##insn = 0 __VA_ARGS__,
#define WG_DEF_WH
#include "isa/insns.def"
};

/* Bits owned by fields; their sum equals their OR exactly if no bit is owned twice. */
enum {
#define WG_FIELD(role, name, lo, width, symbols) | (int)MASK_OF(lo, width)
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    OWNED_BH_##insn = 0 __VA_ARGS__,
#define WG_DEF_BH
#include "isa/insns.def"
#define WG_FIELD(role, name, lo, width, symbols) | (int)MASK_OF(lo, width)
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    OWNED_WH_##insn = 0 __VA_ARGS__,
#define WG_DEF_WH
#include "isa/insns.def"
};

#define WG_FIELD(role, name, lo, width, symbols) +MASK_OF(lo, width)
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    _Static_assert((UINT64_C(0) __VA_ARGS__) == OWNED_BH_##insn, "BH " #insn ": a bit is in two fields"); \
    _Static_assert(OWNED_BH_##insn <= 0xFFFFFF, "BH " #insn ": a field reaches into the opcode");
#define WG_DEF_BH
#include "isa/insns.def"
#define WG_FIELD(role, name, lo, width, symbols) +MASK_OF(lo, width)
#define WG_INSN(insn, opcode, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    _Static_assert((UINT64_C(0) __VA_ARGS__) == OWNED_WH_##insn, "WH " #insn ": a bit is in two fields"); \
    _Static_assert(OWNED_WH_##insn <= 0xFFFFFF, "WH " #insn ": a field reaches into the opcode");
#define WG_DEF_WH
#include "isa/insns.def"

/* No opcode twice: a switch may not have the same case label twice. */
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, ...) case op:
__attribute__((unused)) static bool opcode_is_used_bh(unsigned opcode)
{
    switch (opcode) {
#define WG_DEF_BH
#include "isa/insns.def"
        return true;
    default: return false;
    }
}
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, ...) case op:
__attribute__((unused)) static bool opcode_is_used_wh(unsigned opcode)
{
    switch (opcode) {
#define WG_DEF_WH
#include "isa/insns.def"
        return true;
    default: return false;
    }
}

/* ---- the tables --------------------------------------------------------------------------------------- */

enum { /* so that insns.def can write NONE */
       CLASS_0,
       CLASS_1,
       CLASS_2,
       CLASS_3,
       CLASS_4,
       CLASS_5,
       CLASS_6,
       CLASS_7,
       CLASS_8,
       CLASS_9,
       CLASS_10,
       CLASS_11,
       CLASS_12,
       CLASS_13,
       CLASS_14,
       CLASS_15,
       CLASS_NONE = WG_TTSYNC_NONE
};
#define CLASS_BH(ttsync) CLASS_##ttsync
#define CLASS_WH(ttsync) WG_TTSYNC_NONE /* it has no Auto TTSync */

#define INVALID_RECORD \
    [WG_I_INVALID] = {.name = "(invalid)", \
                      .unit = WG_UNIT_INVALID, \
                      .ttsync_class = WG_TTSYNC_NONE, \
                      .fields = no_fields, \
                      .spare_bits = 0xFFFFFF}
#define RECORD(arch, insn, op, unit_, block, ttsync, lat0, lat1, int0, int1, page_, trees) \
    [WG_I_##insn] = {.name = #insn, \
                     .id = WG_I_##insn, \
                     .opcode = op, \
                     .unit = WG_UNIT_##unit_, \
                     .block_bits = block, \
                     .ttsync_class = CLASS_##arch(ttsync), \
                     .field_count = OPERANDS_##arch##_##insn, \
                     .extra_count = sizeof fields_##arch##_##insn / sizeof *fields_##arch##_##insn - 1 - \
                                    OPERANDS_##arch##_##insn, \
                     .fields = fields_##arch##_##insn, \
                     .latency = {[WG_PROFILE_DOCUMENTED] = lat0, [WG_PROFILE_SILICON] = lat1}, \
                     .interval = {[WG_PROFILE_DOCUMENTED] = int0, [WG_PROFILE_SILICON] = int1}, \
                     .spare_bits = 0xFFFFFF & ~(uint32_t)OWNED_##arch##_##insn, \
                     .page = page_, \
                     .page_trees = trees},

static const wg_isa_field no_fields[] = {LAST_FIELD};

const wg_isa_insn wg_isa_insns[2][WG_I_COUNT] = {[WG_ARCH_BH] =
                                                     {
                                                         INVALID_RECORD,
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    RECORD(BH, insn, op, unit, block, ttsync, lat0, lat1, int0, int1, page, trees)
#define WG_DEF_BH
#include "isa/insns.def"
                                                     },
                                                 [WG_ARCH_WH] = {
                                                     INVALID_RECORD,
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    RECORD(WH, insn, op, unit, block, ttsync, lat0, lat1, int0, int1, page, trees)
#define WG_DEF_WH
#include "isa/insns.def"
                                                 }};

_Static_assert(WG_I_COUNT <= 256, "wg_isa_opcodes holds ids in bytes");
#define WG_FIELD(role, field, lo, width, symbols)
#define WG_INSN(insn, op, unit, block, ttsync, lat0, lat1, int0, int1, page, trees, ...) \
    _Static_assert(WG_LATENCY_##insn == lat0 && WG_MEASURED_LATENCY_##insn == lat1, #insn ": one latency for both");
#define WG_DEF_WH
#include "isa/insns.def"

const uint8_t wg_isa_opcodes[2][256] = {[WG_ARCH_BH] =
                                            {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, ...) [op] = WG_I_##insn,
#define WG_DEF_BH
#include "isa/insns.def"
                                            },
                                        [WG_ARCH_WH] = {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, op, ...) [op] = WG_I_##insn,
#define WG_DEF_WH
#include "isa/insns.def"
                                        }};
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) _Static_assert(sizeof #insn <= WG_NAME_HASH_MAX, #insn " is too long");
#define WG_DEF_BH
#include "isa/insns.def"

/* ---- lookup ------------------------------------------------------------------------------------------- */

/* Sixteen bytes of hashes at a time: the whole table is a few vectors, and no table has to be sorted or built. */
typedef uint16_t wg_hash_vector __attribute__((vector_size(16)));
enum { LANES = sizeof(wg_hash_vector) / 2, HASHES = (WG_I_COUNT + LANES - 1) / LANES * LANES };
static const uint16_t name_hashes[HASHES] __attribute__((aligned(16))) = {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) [WG_I_##insn] = WG_NAME_HASH_LITERAL(#insn),
#define WG_DEF_BH
#include "isa/insns.def"
};

/* The names padded with zeros, for comparison as a whole. */
static const char padded_names[WG_I_COUNT][WG_NAME_HASH_MAX] = {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) [WG_I_##insn] = #insn,
#define WG_DEF_BH
#include "isa/insns.def"
};

/* The id whose name has this hash, or some other id: hashes are unique, but not every hash is a name's. */
static unsigned find_hash(uint16_t hash)
{
    wg_hash_vector wanted = (wg_hash_vector){0} + hash, index = {0, 1, 2, 3, 4, 5, 6, 7}, found = {0};
    for (unsigned i = 0; i < HASHES; i += LANES) {
        wg_hash_vector here;
        memcpy(&here, &name_hashes[i], sizeof here);
        found |= (wg_hash_vector)(here == wanted) & index;
        index += LANES;
    }
    unsigned id = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        id |= found[lane];
    return id < WG_I_COUNT ? id : 0;
}

/* Upper-cases eight letters at once. */
static uint64_t upper_eight(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t low7 = x & ones * 0x7F;
    uint64_t from_a = low7 + ones * (0x80 - 'a'), beyond_z = low7 + ones * (0x7F - 'z');
    return x ^ ((from_a ^ beyond_z) & ~x & ones * 0x80) >> 2;
}

const wg_isa_insn *wg_isa_by_name(wg_arch_id arch, const char *name, size_t length)
{
    if (length > 2 && (name[0] | 0x20) == 't' && (name[1] | 0x20) == 't') { /* no name starts with TT */
        name += 2;
        length -= 2;
    }
    if (length == 0 || length > WG_NAME_HASH_MAX)
        return NULL;
    uint64_t word[2] = {0, 0};
    memcpy(word, name, length);
    word[0] = upper_eight(word[0]);
    word[1] = upper_eight(word[1]);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    unsigned id = find_hash(WG_NAME_HASH_MIX(__builtin_bswap64(word[0]), __builtin_bswap64(word[1])));
#else
    unsigned id = find_hash(WG_NAME_HASH_MIX(word[0], word[1]));
#endif
    if (memcmp(padded_names[id], word, sizeof word) != 0 || padded_names[id][length - 1] == '\0')
        return NULL;
    return wg_isa_by_id(arch, (wg_insn_id)id);
}

const wg_isa_insn *wg_isa_by_id(wg_arch_id arch, wg_insn_id id)
{
    if (id <= WG_I_INVALID || id >= WG_I_COUNT || wg_isa_insns[arch][id].name == NULL)
        return NULL;
    return &wg_isa_insns[arch][id];
}
