/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction tables: opcodes (PIPE-29), fields (PIPE-07, GATE-01), block bits (GATE-07), Auto TTSync classes,
 * `.ttinsn` (PIPE-09), lookup; and a field-by-field comparison with the shared tables where those exist.
 */
#include <stdio.h>
#include "isa/isa.h"
#include "isa/name_hash.h"
#include "isa/report.h"
#include "test_isa_support.h"

static const wg_isa_insn *named(wg_arch_id arch, const char *name) { return wg_isa_by_name(arch, name, strlen(name)); }

static void test_opcodes(void **state)
{
    static const struct {
        const char *name;
        uint8_t opcode;
    } common[] =
        {
            {"MOP", 0x01},       {"NOP", 0x02},       {"MOP_CFG", 0x03},  {"REPLAY", 0x04},     {"MVMUL", 0x26},
            {"ELWMUL", 0x27},    {"ELWADD", 0x28},    {"ELWSUB", 0x30},   {"PACR", 0x41},       {"UNPACR", 0x42},
            {"LOADIND", 0x49},   {"ADDDMAREG", 0x58}, {"STOREIND", 0x66}, {"ATGETM", 0xA0},     {"ATRELM", 0xA1},
            {"STALLWAIT", 0xA2}, {"SEMINIT", 0xA3},   {"SEMPOST", 0xA4},  {"SEMGET", 0xA5},     {"SEMWAIT", 0xA6},
            {"WRCFG", 0xB0},     {"RDCFG", 0xB1},     {"SETC16", 0xB2},   {"RMWCIB0", 0xB3},    {"RMWCIB1", 0xB4},
            {"RMWCIB2", 0xB5},   {"RMWCIB3", 0xB6},   {"SFPLOAD", 0x70},  {"SFPLUTFP32", 0x95},
        },
      only_bh[] = {
          {"RESOURCEDECL", 0x05}, {"STREAMWAIT", 0xA7}, {"STREAMWRCFG", 0xB7},
          {"CFGSHIFTMASK", 0xB8}, {"SFPARECIP", 0x99},
      };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const wg_isa_insn *insn = wg_isa_by_opcode(arch, common[i].opcode);
        assert_string_equal(insn->name, common[i].name);
        assert_int_equal(insn->opcode, common[i].opcode);
    }
    for (size_t i = 0; i < sizeof only_bh / sizeof *only_bh; i++) {
        const wg_isa_insn *insn = wg_isa_by_opcode(arch, only_bh[i].opcode);
        if (arch == WG_ARCH_BH)
            assert_string_equal(insn->name, only_bh[i].name);
        else
            assert_int_equal(insn->id, WG_I_INVALID);
    }
    /* SFP* fill 0x70 to 0x99 (WH: 0x95) without a gap, and there are no others; there is no MATMUL. */
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        bool vector = opcode >= 0x70 && opcode <= (arch == WG_ARCH_BH ? 0x99u : 0x95u);
        assert_int_equal(wg_isa_by_opcode(arch, (uint8_t)opcode)->unit == WG_UNIT_VECTOR, vector);
    }
    assert_null(named(arch, "MATMUL"));
    unsigned count = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *insn = wg_isa_by_opcode(arch, (uint8_t)opcode);
        assert_non_null(insn);
        assert_true(insn->id != WG_I_INVALID ? insn->opcode == opcode : insn->unit == WG_UNIT_INVALID);
        count += insn->id != WG_I_INVALID;
    }
    assert_int_equal(count, arch == WG_ARCH_BH ? 137 : 128);
}

/* Opcode in [31:24], every field inside [23:0], none overlapping, spare bits exactly the rest. */
static void test_layout(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    assert_int_equal(wg_isa_decode(arch, 0xA2FFFFFF)->id, WG_I_STALLWAIT);
    assert_int_equal(wg_isa_decode(arch, 0xA2000000)->id, WG_I_STALLWAIT);
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (insn == NULL)
            continue;
        assert_int_equal(insn->id, id);
        assert_true(insn->field_count + insn->extra_count <= WG_ISA_MAX_FIELDS);
        uint32_t owned = 0;
        for (unsigned i = 0; i < (unsigned)insn->field_count + insn->extra_count; i++) {
            const wg_isa_field *f = &insn->fields[i];
            uint32_t mask = wg_isa_field_mask(f);
            assert_true(f->width > 0 && f->lo + f->width <= 24);
            assert_int_equal(owned & mask, 0);
            owned |= mask;
            assert_int_equal(wg_isa_field_get(f, mask), mask >> f->lo);
            assert_int_equal(wg_isa_field_get(f, ~mask), 0);
            assert_int_equal(f->role == WG_FIELD_EXTRA, i >= insn->field_count);
            if (i > 0 && i < insn->field_count)
                assert_true(f->lo < insn->fields[i - 1].lo); /* the public toolchain's order */
        }
        assert_null(insn->fields[insn->field_count + insn->extra_count].name);
        assert_int_equal(insn->spare_bits, 0xFFFFFF & ~owned);
    }
}

static void expect_field(const wg_isa_insn *insn, unsigned index, const char *name, unsigned lo, unsigned width)
{
    assert_true(index < (unsigned)insn->field_count + insn->extra_count);
    assert_string_equal(insn->fields[index].name, name);
    assert_int_equal(insn->fields[index].lo, lo);
    assert_int_equal(insn->fields[index].width, width);
}

static void test_wait_fields(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const wg_isa_insn *stallwait = named(arch, "STALLWAIT"), *semwait = named(arch, "SEMWAIT");
    assert_int_equal(stallwait->opcode, 0xA2);
    assert_int_equal(stallwait->field_count, 2);
    expect_field(stallwait, 0, "stall_res", 15, 9);
    expect_field(stallwait, 1, "wait_res", 0, arch == WG_ARCH_BH ? 13 : 15);
    assert_int_equal(semwait->opcode, 0xA6);
    assert_int_equal(semwait->field_count, 3);
    expect_field(semwait, 0, "stall_res", 15, 9);
    expect_field(semwait, 1, "sem_sel", 2, 8);
    expect_field(semwait, 2, "wait_sem_cond", 0, 2);
    assert_int_equal(semwait->spare_bits, 0x7C00);
}

static void test_other_fields(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const wg_isa_insn *replay = named(arch, "REPLAY");
    expect_field(replay, 0, "start_idx", 14, 5);
    expect_field(replay, 1, "len", 4, 6);
    expect_field(replay, 2, "execute_while_loading", 1, 1);
    expect_field(replay, 3, "load_mode", 0, 1);
    expect_field(named(arch, "ATGETM"), 0, "mutex_index", 0, 16);
    expect_field(named(arch, "SETADCXY"), 6, "ThreadOverride", 18, 2);
    if (arch == WG_ARCH_WH) {
        expect_field(named(arch, "MVMUL"), 2, "addr_mode", 15, 2);
        expect_field(named(arch, "UNPACR_NOP"), 1, "NoOp", 0, 23);
        return;
    }
    expect_field(named(arch, "MVMUL"), 2, "addr_mode", 14, 3);
    const wg_isa_insn *declaration = named(arch, "RESOURCEDECL"), *streamwait = named(arch, "STREAMWAIT");
    expect_field(declaration, 0, "linger_time", 13, 4);
    expect_field(declaration, 1, "resources", 4, 9);
    expect_field(declaration, 2, "op_class", 0, 4);
    expect_field(streamwait, 0, "stall_res", 15, 9);
    expect_field(streamwait, 1, "target_value", 4, 10);
    expect_field(streamwait, 2, "target_sel", 3, 1);
    expect_field(streamwait, 3, "wait_stream_sel", 0, 2);
}

static void test_compile_time_fields(void **state)
{
    (void)state;
    assert_int_equal(WG_OPERAND(BH, STALLWAIT, stall_res, 0xA2400810), 128);
    assert_int_equal(WG_OPERAND(BH, STALLWAIT, wait_res, 0xA240F810), 0x1810);
    assert_int_equal(WG_OPERAND(WH, STALLWAIT, wait_res, 0xA240F810), 0x7810);
    assert_int_equal(WG_OPERAND_LO(BH, MVMUL, addr_mode), 14);
    assert_int_equal(WG_OPERAND_LO(WH, MVMUL, addr_mode), 15);
    assert_int_equal(WG_OPERAND_WIDTH(WH, SETADCXY, ThreadOverride), 2);
    assert_int_equal(WG_OPERAND(WH, UNPACR_NOP, NoOp, 0x43FFFFFF), 0x7FFFFF);
}

/* The block table, written down independently of insns.def; the pages' RMWCIB is four opcodes. */
static void test_block_bits(void **state)
{
    static const struct {
        uint16_t bits;
        const char *names;
    } table[] = {
        {WG_B0 | WG_B5,
         "ADDDMAREG ATCAS ATINCGET ATINCGETPTR ATSWAP BITWOPDMAREG CMPDMAREG DMANOP FLUSHDMA LOADIND LOADREG MULDMAREG "
         "REG2FLOP SETDMAREG SHIFTDMAREG STOREIND STOREREG SUBDMAREG"},
        {WG_B0, "ADDRCRXY ADDRCRZW INCADCXY INCADCZW RSTDMA SETADC SETADCXX SETADCXY SETADCZW SETDVALID"},
        {WG_B6,
         "APOOL3S1 APOOL3S2 CLEARDVALID CLREXPHIST CONV3S1 CONV3S2 DOTPV ELWADD ELWMUL ELWSUB GAPOOL GATESRCRST GMPOOL "
         "INCRWC MFCONV3S1 MOVA2D MOVB2A MOVB2D MOVD2A MOVD2B MOVDBGA2D MPOOL3S1 MPOOL3S2 MVMUL SETRWC SHIFTXA SHIFTXB "
         "TRNSPSRCB ZEROACC ZEROSRC"},
        {WG_B1, "ATGETM ATRELM SEMGET SEMINIT SEMPOST"},
        {WG_B7, "RDCFG RMWCIB0 RMWCIB1 RMWCIB2 RMWCIB3 SETC16 WRCFG"},
        {WG_B0 | WG_B2, "PACR PACR_SETREG"},
        {WG_B0 | WG_B3, "UNPACR UNPACR_NOP"},
        {WG_B0 | WG_B4, "XMOV"},
        {0x1FF, "STALLWAIT"},
        {0, "NOP MOP MOP_CFG REPLAY"},
        {WG_B8,
         "SFPABS SFPADD SFPADDI SFPAND SFPCAST SFPCOMPC SFPCONFIG SFPDIVP2 SFPENCC SFPEXEXP SFPEXMAN SFPIADD SFPLOAD "
         "SFPLOADI SFPLOADMACRO SFPLUT SFPLUTFP32 SFPLZ SFPMAD SFPMOV SFPMUL SFPMULI SFPNOP SFPNOT SFPOR SFPPOPC "
         "SFPPUSHC "
         "SFPSETCC SFPSETEXP SFPSETMAN SFPSETSGN SFPSHFT SFPSHFT2 SFP_STOCH_RND SFPSTORE SFPSWAP SFPTRANSP SFPXOR"},
    };
    static const struct {
        uint16_t bits;
        const char *names;
    } table_bh[] = {
        {WG_B7, "CFGSHIFTMASK STREAMWRCFG"},
        {0x1FF, "SEMWAIT STREAMWAIT"},
        {0, "RESOURCEDECL"},
        {WG_B8, "SFPARECIP SFPGT SFPLE SFPMUL24"},
    };
    wg_arch_id arch = wg_test_arch(state);
    unsigned seen = 0;
    size_t common = sizeof table / sizeof *table, extra = arch == WG_ARCH_BH ? sizeof table_bh / sizeof *table_bh : 0;
    for (size_t i = 0; i < common + extra; i++) {
        const char *names = i < common ? table[i].names : table_bh[i - common].names;
        uint16_t bits = i < common ? table[i].bits : table_bh[i - common].bits;
        while (*names) {
            size_t length = strcspn(names, " ");
            const wg_isa_insn *insn = wg_isa_by_name(arch, names, length);
            assert_non_null(insn);
            assert_int_equal(insn->block_bits, bits);
            seen++;
            names += length + (names[length] == ' ');
        }
    }
    if (arch == WG_ARCH_WH) {
        assert_int_equal(named(arch, "SEMWAIT")->block_bits, WG_B1);
        seen++;
    }
    /* The table does not list these; they follow their unit. */
    static const char *const silent[] = {"TRNSPSRCA", "RAREB",      "SETASHRMH0", "SETASHRMH1",
                                         "SETASHRMV", "SETPKEDGOF", "SETASHRMH",  "SETIBRWC"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++, seen++)
        assert_int_equal(named(arch, silent[i])->block_bits, WG_B6);
    assert_int_equal(named(arch, "TBUFCMD")->block_bits, WG_B0 | WG_B2);
    seen++;
    if (arch == WG_ARCH_BH) {
        assert_int_equal(named(arch, "MOVDBGB2D")->block_bits, WG_B6);
        seen++;
    }
    assert_int_equal(seen, arch == WG_ARCH_BH ? 137 : 128);
}

static void test_ttsync_classes(void **state)
{
    static const char *const classes[15] = {
        "ADDDMAREG SUBDMAREG MULDMAREG BITWOPDMAREG SHIFTDMAREG CMPDMAREG SETDMAREG",
        "ATINCGET ATINCGETPTR ATSWAP ATCAS",
        "REG2FLOP",
        "LOADIND STOREIND",
        "STREAMWRCFG CFGSHIFTMASK",
        "STOREREG",
        "LOADREG",
        "FLUSHDMA",
        "WRCFG",
        "RDCFG",
        "XMOV",
        "UNPACR UNPACR_NOP",
        "PACR",
        "MOP",
        "REPLAY"};
    wg_arch_id arch = wg_test_arch(state);
    unsigned others = 0;
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        unsigned expected = 15;
        for (unsigned c = 0; c < 15; c++)
            for (const char *n = classes[c]; *n; n += strcspn(n, " "), n += *n == ' ')
                if (strcspn(n, " ") == strlen(insn->name) && strncmp(n, insn->name, strlen(insn->name)) == 0)
                    expected = c;
        if (id == WG_I_NOP || id == WG_I_MOP_CFG || id == WG_I_RESOURCEDECL)
            expected = WG_TTSYNC_NONE;
        assert_int_equal(insn->ttsync_class, expected);
        others += expected == 15;
    }
    assert_int_equal(named(arch, "SETC16")->ttsync_class, 15);
    assert_int_equal(others, 137 - 27 - 3);
}

static void test_ttinsn(void **state)
{
    (void)state;
    assert_int_equal(wg_ttinsn_encode(0xA2400810), 0x89002042);
    assert_int_equal(wg_ttinsn_decode(0x89002042), 0xA2400810);
    wg_rng rng = {1};
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t word = (uint32_t)wg_rng_next(&rng), fetched = wg_ttinsn_encode(word);
        assert_int_equal(wg_ttinsn_decode(fetched), word);
        assert_int_equal((fetched & 3) != 3, word < 0xC0000000);
    }
}

static void test_lookup(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (insn == NULL)
            continue;
        char lower[40] = "tt";
        for (size_t i = 0; i <= strlen(insn->name); i++)
            lower[i + 2] = (char)(insn->name[i] | (insn->name[i] >= 'A' && insn->name[i] <= 'Z' ? 0x20 : 0));
        assert_ptr_equal(named(arch, insn->name), insn);
        assert_ptr_equal(named(arch, lower), insn);
        assert_ptr_equal(named(arch, lower + 2), insn);
        assert_ptr_equal(wg_isa_decode(arch, (uint32_t)insn->opcode << 24 | 0x123456), insn);
        lower[strlen(lower) - 1] ^= 1;
        assert_true(named(arch, lower) != insn);
        assert_null(wg_isa_by_name(arch, insn->name, strlen(insn->name) - 1) == insn ? insn : NULL);
    }
    assert_null(named(arch, ""));
    assert_null(named(arch, "tt"));
    assert_null(named(arch, "ttt"));
    assert_null(named(arch, "AVERYLONGNAMETHATISNOTTHERE"));
    assert_null(wg_isa_by_name(arch, "NOP\0", 4));
    assert_null(wg_isa_by_name(arch, "\0", 1));
    assert_null(wg_isa_by_name(arch, "\xEE\xEF\xF0", 3)); /* letters with the top bit set are not letters */
    assert_null(wg_isa_by_id(arch, WG_I_INVALID));
    assert_null(wg_isa_by_id(arch, WG_I_COUNT));
    assert_int_equal(wg_isa_by_id(arch, WG_I_STREAMWAIT) != NULL, arch == WG_ARCH_BH);
}

/* wg_isa_by_name relies on distinct name hashes, none of which is 0. */
static void test_hashes(void **state)
{
    (void)state;
    static const uint16_t hashes[] = {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) WG_NAME_HASH_LITERAL(#insn),
#define WG_DEF_BH
#include "isa/insns.def"
    };
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        assert_true(hashes[i] != 0);
        for (size_t j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    }
}

static void test_timing(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static const struct {
        const char *name;
        uint8_t latency[2], interval[2]; /* documented, measured */
    } rows[] = {
        {"STALLWAIT", {1, 1}, {1, 1}}, {"MVMUL", {5, 6}, {1, 1}},   {"SETRWC", {1, 1}, {1, 1}},
        {"SHIFTXB", {2, 2}, {2, 2}},   {"MOVD2A", {2, 2}, {1, 1}},  {"MOVB2D", {4, 4}, {1, 1}},
        {"SFPMAD", {2, 2}, {1, 1}},    {"SFPABS", {1, 1}, {1, 1}},  {"SFPSWAP", {2, 2}, {2, 2}},
        {"SETC16", {1, 1}, {1, 1}},    {"WRCFG", {2, 2}, {1, 1}},   {"RDCFG", {0, 0}, {1, 1}},
        {"SETDMAREG", {1, 1}, {1, 1}}, {"LOADIND", {0, 0}, {0, 0}}, {"SETADCXY", {1, 1}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const wg_isa_insn *insn = named(arch, rows[i].name);
        for (unsigned measured = 0; measured < 2; measured++) {
            wg_profile profile = measured ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED;
            assert_int_equal(insn->latency[profile], rows[i].latency[measured]);
            assert_int_equal(insn->interval[profile], rows[i].interval[measured]);
        }
    }
}

/* ---- compared with the shared tables ---- */

static void write_file(void *user, const char *text, size_t length) { (void)fwrite(text, 1, length, user); }

static void dump_insns(FILE *to, wg_arch_id arch)
{
    wg_isa_report_options options = {.json = true};
    wg_isa_report(arch, &options, write_file, to);
}

static void test_shared_tables(void **state) { assert_true(isa_compare("insns", wg_test_arch(state), dump_insns)); }

static void count_lines(void *user, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        *(unsigned *)user += text[i] == '\n';
}
static bool always(void *user, wg_arch_id arch, const wg_isa_insn *insn)
{
    (void)user, (void)arch, (void)insn;
    return true;
}

static void test_report(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_isa_report_options options = {.implemented = always, .tested = always};
    unsigned lines = 0;
    wg_isa_report(arch, &options, count_lines, &lines);
    assert_int_equal(lines, 2 + (arch == WG_ARCH_BH ? 137 : 128));
    lines = 0;
    wg_isa_report(arch, NULL, count_lines, &lines);
    assert_int_equal(lines, 2 + (arch == WG_ARCH_BH ? 137 : 128));
}

static const wg_test tests[] = {
    WG_TEST(test_opcodes, WG_BH | WG_WH, "PIPE-29"),
    WG_TEST(test_layout, WG_BH | WG_WH, "PIPE-07"),
    WG_TEST(test_wait_fields, WG_BH | WG_WH, "GATE-01"),
    WG_TEST(test_other_fields, WG_BH | WG_WH, ""),
    WG_TEST(test_compile_time_fields, WG_BH, ""),
    WG_TEST(test_block_bits, WG_BH | WG_WH, "GATE-07"),
    WG_TEST(test_ttsync_classes, WG_BH, ""),
    WG_TEST(test_ttinsn, WG_BH | WG_WH, "PIPE-09"),
    WG_TEST(test_lookup, WG_BH | WG_WH, ""),
    WG_TEST(test_hashes, WG_BH, ""),
    WG_TEST(test_timing, WG_BH | WG_WH, ""),
    WG_TEST(test_shared_tables, WG_BH | WG_WH, ""),
    WG_TEST(test_report, WG_BH | WG_WH, ""),
};
WG_MAIN("isa", tests)
