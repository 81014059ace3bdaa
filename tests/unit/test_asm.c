/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text and words: the annotated lines of the wait-conditions document (GATE-24), the semaphore document's encodings
 * (SEM-10), the symbolic constants (GATE-28); assembling and disassembling are inverse for every instruction; an error
 * in a line is reported with its position, and a near miss is recognised.
 */
#include <stdio.h>
#include "isa/asm.h"
#include "wgtest.h"

static wg_asm_code assemble(wg_arch_id arch, const char *text, uint32_t *word, wg_asm_error *error)
{
    return wg_assemble_line(arch, text, strlen(text), word, error);
}

static uint32_t word_of(wg_arch_id arch, const char *text)
{
    uint32_t word = 0xDEADBEEF;
    wg_asm_error error;
    if (assemble(arch, text, &word, &error) != WG_ASM_OK)
        fail_msg("%s: column %u: %s", text, error.column, error.message);
    return word;
}

static const char *text_of(wg_arch_id arch, uint32_t word, unsigned flags)
{
    static char text[WG_DIS_MAX];
    size_t length = wg_disassemble(arch, word, flags, text, sizeof text);
    assert_int_equal(length, strlen(text));
    return text;
}

/* ---- the documents' examples ---- */

static void test_annotated_lines(void **state)
{
    /* Operands as the toolchain prints them, and the fields they were said to be. */
    static const struct {
        const char *text;
        uint32_t word;
    } lines[] = {
        {"ttstallwait 128, 1", 0xA2u << 24 | 0x80u << 15 | 1u},
        {"ttwrcfg 12, 0, 124", 0xB0u << 24 | 12u << 16 | 124u},
        {"ttstallwait 8, 1024", 0xA2u << 24 | 0x08u << 15 | 1u << 10},
        {"ttstallwait 32, 6", 0xA2u << 24 | 0x20u << 15 | 6u},
        {"ttstallwait 128, 16", 0xA2u << 24 | 0x80u << 15 | 1u << 4},
        {"ttstallwait 2, 2064", 0xA2u << 24 | 0x02u << 15 | 1u << 4 | 1u << 11},
        {"ttsempost 2", 0xA4u << 24 | 2u << 2},
        {"ttstallwait 128, 2064", 0xA2u << 24 | 0x80u << 15 | 1u << 4 | 1u << 11},
        {"ttsemwait 322, 2, 2", 0xA6u << 24 | (1u << 1 | 1u << 6 | 1u << 8) << 15 | 2u << 2 | 2u},
        {"ttwrcfg 28, 0, 12", 0xB0u << 24 | 28u << 16 | 12u},
        {"ttstallwait 33, 8", 0xA2u << 24 | 0x21u << 15 | 8u},
        {"ttstallwait 128, 9", 0xA2u << 24 | 0x80u << 15 | 9u},
        {"ttsemwait 1, 2, 1", 0xA6u << 24 | 1u << 15 | 2u << 2 | 1u},
        {"ttstallwait 64, 8", 0xA2u << 24 | 0x40u << 15 | 8u},
        {"ttstallwait 32, 8", 0xA2u << 24 | 0x20u << 15 | 8u},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(word_of(arch, lines[i].text), lines[i].word);
        assert_string_equal(text_of(arch, lines[i].word, 0), lines[i].text);
    }
    assert_int_equal(word_of(arch, "ttstallwait 128, 0x810"), 0xA2400810);
}

/* The document's C lines, symbol by symbol, on Blackhole, whose numbers they use. */
static void test_symbolic_lines(void **state)
{
    static const struct {
        const char *symbolic, *numeric;
    } lines[] = {
        {"ttstallwait STALL_CFG, THCON", "ttstallwait 128, 1"},
        {"ttstallwait STALL_UNPACK, TRISC_CFG", "ttstallwait 8, 1024"},
        {"ttstallwait STALL_THCON, UNPACK", "ttstallwait 32, 6"},
        {"ttstallwait STALL_SYNC, MATH|SFPU1", "ttstallwait 2, 2064"},
        {"ttsempost SEMAPHORE_1", "ttsempost 2"},
        {"ttstallwait STALL_CFG, MATH|SFPU1", "ttstallwait 128, 2064"},
        {"ttsemwait STALL_SYNC|STALL_MATH|STALL_SFPU, SEMAPHORE_1, STALL_ON_MAX", "ttsemwait 322, 2, 2"},
        {"ttstallwait STALL_TDMA|STALL_THCON, PACK0", "ttstallwait 33, 8"},
        {"ttstallwait STALL_CFG, THCON|PACK0", "ttstallwait 128, 9"},
        {"ttsemwait STALL_TDMA, SEMAPHORE_1, STALL_ON_ZERO", "ttsemwait 1, 2, 1"},
        {"ttstallwait STALL_THREAD, ALL_THREAD_RES", "ttstallwait 511, 543"},
        {"ttrmwcib2 8, 8, THCON_SEC0_REG1_Pack_L1_Acc_ADDR32", "ttrmwcib2 8, 8, 71"},
        {"ttresourcedecl 1, RESOURCE_CFG_READ|RESOURCE_CFG_REST|RESOURCE_GPR_WRITE, 9", "ttresourcedecl 1, 81, 9"},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint32_t word = word_of(arch, lines[i].numeric);
        assert_int_equal(word_of(arch, lines[i].symbolic), word);
        assert_string_equal(text_of(arch, word, WG_DIS_SYMBOLIC), lines[i].symbolic);
    }
    assert_int_equal(word_of(arch, "ttstallwait STALL_CFG, MATH | SFPU"), 0xA2400810);
    assert_int_equal(word_of(arch, "ttstallwait STALL_CFG, PACK | WAIT_SFPU"), 0xA2400808);
}

static void test_semaphore_encodings(void **state)
{
    static const struct {
        uint32_t fetched, word;
        const char *text;
    } rows[] = {
        {0x8C800022, 0xA3200008, "ttseminit 2, 0, 2"},
        {0x90000022, 0xA4000008, "ttsempost 2"},
        {0x94000022, 0xA5000008, "ttsemget 2"},
        {0x98020026, 0xA6008009, "ttsemwait 1, 2, 1"},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(wg_ttinsn_decode(rows[i].fetched), rows[i].word);
        assert_string_equal(text_of(arch, wg_ttinsn_decode(rows[i].fetched), 0), rows[i].text);
        assert_int_equal(wg_ttinsn_encode(word_of(arch, rows[i].text)), rows[i].fetched);
    }
    /* B's start-up words (SEM-08). */
    assert_int_equal(word_of(arch, "ttseminit 1, 0, 1 << MATH_PACK"), 0xA3100000u | 1u << (1 + 2));
    assert_int_equal(word_of(arch, "ttseminit 1, 0, SEMAPHORE_7"), 0xA3100000u | 1u << (7 + 2));
}

static void test_constants(void **state)
{
    static const struct {
        const char *name;
        uint32_t bh, wh;
    } rows[] = {
        /* 0: not there */
        {"STALL_TDMA", 1, 1},
        {"STALL_SYNC", 2, 2},
        {"STALL_PACK", 4, 4},
        {"STALL_UNPACK", 8, 8},
        {"STALL_XMOV", 0x10, 0x10},
        {"STALL_THCON", 0x20, 0x20},
        {"STALL_MATH", 0x40, 0x40},
        {"STALL_CFG", 0x80, 0x80},
        {"STALL_SFPU", 0x100, 0x100},
        {"STALL_THREAD", 0x1FF, 0x1FF},
        {"THCON", 1, 1},
        {"UNPACK0", 2, 2},
        {"UNPACK1", 4, 4},
        {"PACK0", 8, 8},
        {"PACK1", 0, 0x10},
        {"PACK2", 0, 0x20},
        {"PACK3", 0, 0x40},
        {"MATH", 0x10, 0x80},
        {"SRCA_CLR", 0x20, 0x100},
        {"SRCB_CLR", 0x40, 0x200},
        {"SRCA_VLD", 0x80, 0x400},
        {"SRCB_VLD", 0x100, 0x800},
        {"XMOV", 0x200, 0x1000},
        {"TRISC_CFG", 0x400, 0x2000},
        {"SFPU1", 0x800, 0x4000},
        {"WAIT_SFPU", 0x800, 0x4000},
        {"CFGEXU", 0x1000, 0},
        {"UNPACK", 6, 6},
        {"PACK", 8, 0x78},
        {"ALL_THREAD_RES", 0x21F, 0x10FF},
        {"SEMAPHORE_0", 1, 1},
        {"SEMAPHORE_1", 2, 2},
        {"SEMAPHORE_2", 4, 4},
        {"SEMAPHORE_3", 8, 8},
        {"SEMAPHORE_4", 0x10, 0x10},
        {"SEMAPHORE_5", 0x20, 0x20},
        {"SEMAPHORE_6", 0x40, 0x40},
        {"SEMAPHORE_7", 0x80, 0x80},
        {"SEMAPHORE_BIAS", 0x10, 0x10},
        {"STALL_ON_ZERO", 1, 1},
        {"STALL_ON_MAX", 2, 2},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t expected = arch == WG_ARCH_BH ? rows[i].bh : rows[i].wh;
        char line[64];
        (void)snprintf(line, sizeof line, ".word %s", rows[i].name);
        uint32_t word = 0;
        wg_asm_error error;
        assert_int_equal(assemble(arch, line, &word, &error), expected ? WG_ASM_OK : WG_ASM_UNKNOWN_SYMBOL);
        assert_int_equal(word, expected);
        int64_t value = 0;
        assert_int_equal(wg_asm_symbol(arch, rows[i].name, strlen(rows[i].name), &value), expected != 0);
        assert_int_equal(value, expected);
    }
    assert_int_equal(word_of(arch, "ttstallwait STALL_CFG, MATH|SFPU1"), arch == WG_ARCH_BH ? 0xA2400810 : 0xA2404080);
}

/* ---- round trips ---- */

static void test_round_trip(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {11};
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (insn == NULL)
            continue;
        for (unsigned n = 0; n < 2000; n++) {
            uint32_t bits = n == 0 ? 0 : n == 1 ? 0xFFFFFF : (uint32_t)wg_rng_next(&rng);
            uint32_t word = (uint32_t)insn->opcode << 24 | (bits & 0xFFFFFF & ~insn->spare_bits);
            const char *text = text_of(arch, word, n & 2 ? WG_DIS_SYMBOLIC : 0);
            assert_null(strstr(text, "spare"));
            assert_int_equal(word_of(arch, text), word);
            /* Spare bits do not change the instruction, and are reported. */
            uint32_t spare = (uint32_t)wg_rng_next(&rng) & insn->spare_bits;
            assert_int_equal(wg_disassemble_spare(arch, word | spare), spare);
            text = text_of(arch, word | spare, 0);
            assert_int_equal(strstr(text, "; spare bits 0x") != NULL, spare != 0);
            assert_int_equal(word_of(arch, text), word);
            assert_null(strstr(text_of(arch, word | spare, WG_DIS_NO_COMMENT), ";"));
        }
    }
}

/* Operands inserted one by one are extracted one by one. */
static void test_operands(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {12};
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (insn == NULL)
            continue;
        for (unsigned n = 0; n < 50; n++) {
            char line[512];
            size_t used = (size_t)snprintf(line, sizeof line, "%s%s ", n & 1 ? "tt" : "", insn->name);
            uint32_t values[WG_ISA_MAX_FIELDS];
            for (unsigned i = 0; i < insn->field_count; i++) {
                values[i] = wg_rng_below(&rng, 1u << insn->fields[i].width);
                used += (size_t)snprintf(line + used, sizeof line - used, n & 2 ? "%s%u" : "%s 0x%x", i ? "," : "",
                                         values[i]);
            }
            uint32_t word = word_of(arch, line);
            assert_int_equal(wg_isa_decode(arch, word)->id, id);
            for (unsigned i = 0; i < insn->field_count; i++)
                assert_int_equal(wg_isa_field_get(&insn->fields[i], word), values[i]);
        }
    }
}

static void test_all_words(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {13};
    for (unsigned n = 0; n < 300000; n++) {
        uint32_t word = (uint32_t)wg_rng_next(&rng);
        const char *text = text_of(arch, word, n & 1 ? WG_DIS_SYMBOLIC : 0);
        assert_int_equal(word_of(arch, text), word & ~wg_disassemble_spare(arch, word));
    }
    assert_string_equal(text_of(arch, 0xFF00ABCD, 0), ".word 0xFF00ABCD");
    assert_string_equal(text_of(arch, 0, 0), ".word 0x00000000");
    assert_string_equal(text_of(arch, 0x02000000, 0), "ttnop");
    assert_string_equal(text_of(arch, 0x02000005, 0), "ttnop ; spare bits 0x5");
    assert_string_equal(text_of(arch, 0xA6007C01, 0), "ttsemwait 0, 0, 1 ; spare bits 0x7C00");
}

static void test_short_buffers(void **state)
{
    (void)state;
    char text[24];
    memset(text, 'x', sizeof text);
    assert_int_equal(wg_disassemble(WG_ARCH_BH, 0xA2400810, 0, text, 8), 21);
    assert_string_equal(text, "ttstall");
    assert_int_equal(text[8], 'x');
    assert_int_equal(wg_disassemble(WG_ARCH_BH, 0xA2400810, 0, NULL, 0), 21);
    assert_int_equal(wg_disassemble(WG_ARCH_BH, 0xA2400810, 0, text, 22), 21);
    assert_string_equal(text, "ttstallwait 128, 2064");
}

/* ---- syntax ---- */

static void test_expressions(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"1 << 4 | 1", 17},
        {"~0 & 0xFF", 255},
        {"-(-5)", 5},
        {"0b1011", 11},
        {"0o17", 15},
        {"017", 15},
        {"0x1F", 31},
        {"10 - 2 - 3", 5},
        {"100 / 7 % 5", 4},
        {"1 | 2 ^ 3 & 4", 1 | (2 ^ (3 & 4))},
        {"256 >> 4 >> 2", 4},
        {"2 * -3", -6},
        {"+4", 4},
        {"0", 0},
        {"9223372036854775807", INT64_MAX},
        {"STALL_CFG | STALL_SYNC", 0x82},
        {"(((((((1)))))))", 1},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"1 << 2 + 1", 8},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        size_t used = 0;
        wg_asm_error error;
        if (wg_asm_expression(arch, rows[i].text, strlen(rows[i].text), NULL, &value, &used, &error) != WG_ASM_OK)
            fail_msg("%s: %s", rows[i].text, error.message);
        assert_true(value == rows[i].value);
        assert_int_equal(used, strlen(rows[i].text));
    }
    int64_t value;
    size_t used;
    assert_int_equal(wg_asm_expression(arch, "1+1, 7", 6, NULL, &value, &used, NULL), WG_ASM_OK);
    assert_int_equal(used, 3);
}

static void test_accepted(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    uint32_t word = word_of(arch, "ttstallwait 128, 16");
    assert_int_equal(word_of(arch, "  TTSTALLWAIT\t128 ,16 ; as it was"), word);
    assert_int_equal(word_of(arch, "StallWait 0x80,0b10000 # comment"), word);
    assert_int_equal(word_of(arch, "stallwait 128, 16// comment"), word);
    assert_int_equal(word_of(arch, "stallwait 128, 16\r\n"), word);
    assert_int_equal(word_of(arch, "stallwait wait_res = 16, stall_res=128"), word);
    assert_int_equal(word_of(arch, "stallwait 128, wait_res=16"), word);
    assert_int_equal(word_of(arch, ".word 0xA2400010"), word);
    assert_int_equal(word_of(arch, ".ttinsn 0xA2400010"), word);
    assert_int_equal(word_of(arch, "ttsfpiadd -1, 1, 2, 3"), word_of(arch, "ttsfpiadd 4095, 1, 2, 3"));
    assert_int_equal(word_of(arch, "ttsfpiadd -2048, 1, 2, 3"), word_of(arch, "ttsfpiadd 2048, 1, 2, 3"));
    assert_int_equal(word_of(arch, "ttsetadcxy 1, 2, 3, 4, 5, 6, ThreadOverride=2") & 0xC0000, 2 << 18);
    assert_int_equal(word_of(arch, "ttsetc16 DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 512"), 0xB2010200);
    assert_int_equal(word_of(arch, "ttwrcfg 1, 0, THCON_SEC0_REG3_Base_address_ADDR32"),
                     0xB0010000 + (arch == WG_ARCH_BH ? 76 : 64));
    wg_asm_error error = {.code = WG_ASM_SYNTAX};
    word = 7;
    assert_int_equal(assemble(arch, "", &word, &error), WG_ASM_BLANK);
    assert_int_equal(assemble(arch, "   ; nothing", &word, &error), WG_ASM_BLANK);
    assert_int_equal(error.code, WG_ASM_BLANK);
    assert_int_equal(word, 7);
}

static bool resolve(void *user, const char *name, size_t length, int64_t *value)
{
    *value = *(int64_t *)user;
    return length == 4 && memcmp(name, "mine", 4) == 0;
}

static void test_user_symbols(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    int64_t mine = 5;
    wg_asm_env env = {sizeof env, resolve, &mine};
    uint32_t word = 0;
    const char *text = "ttsempost mine + 1";
    assert_int_equal(wg_assemble_line_env(arch, text, strlen(text), &env, &word, NULL), WG_ASM_OK);
    assert_int_equal(word, 0xA4000000 + (6 << 2));
    text = "ttsempost yours";
    assert_int_equal(wg_assemble_line_env(arch, text, strlen(text), &env, &word, NULL), WG_ASM_UNKNOWN_SYMBOL);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        wg_asm_code code;
        uint32_t column;
        const char *says, *suggests;
    } rows[] = {
        {"ttstalwait 1, 2", WG_ASM_UNKNOWN_MNEMONIC, 1, "did you mean ttstallwait?", "ttstallwait"},
        {"  mvmull 1, 2", WG_ASM_UNKNOWN_MNEMONIC, 3, "mvmull", "ttmvmul"},
        {"xyzzyfoobar", WG_ASM_UNKNOWN_MNEMONIC, 1, "no instruction", ""},
        {".wrd 1", WG_ASM_UNKNOWN_MNEMONIC, 1, "no directive", ""},
        {"ttstallwait STALL_CGF, 1", WG_ASM_UNKNOWN_SYMBOL, 13, "stall_res", "STALL_CFG"},
        {"ttstallwait 1, math", WG_ASM_UNKNOWN_SYMBOL, 16, "wait_res", "MATH"},
        {"ttsetc16 DEST_TARGET_REG_CFG_MATH_Ofset_ADDR32, 1", WG_ASM_UNKNOWN_SYMBOL, 10, "setc16_reg",
         "DEST_TARGET_REG_CFG_MATH_Offset_ADDR32"},
        {"ttstallwait 512, 1", WG_ASM_RANGE, 13, "stall_res is 512, but it has 9 bits: 0 to 511", ""},
        {"ttsemwait 1, 2, 4", WG_ASM_RANGE, 17, "wait_sem_cond is 4, but it has 2 bits: 0 to 3", ""},
        {"ttsempost -1", WG_ASM_RANGE, 11, "sem_sel is -1", ""},
        {"ttsfpiadd -2049, 0, 0, 0", WG_ASM_RANGE, 11, "-2048 to 4095", ""},
        {"ttsemwait 1, 2", WG_ASM_OPERAND_COUNT, 15, "3 operands (stall_res, sem_sel, wait_sem_cond), not 2", ""},
        {"ttsemwait 1, 2, 1, 5", WG_ASM_OPERAND_COUNT, 20, "not more than 3", ""},
        {"ttstallwait", WG_ASM_OPERAND_COUNT, 12, "2 operands", ""},
        {"ttnop 1", WG_ASM_OPERAND_COUNT, 7, "takes no operands", ""},
        {"ttsempost 1,", WG_ASM_SYNTAX, 13, "an operand is missing", ""},
        {"ttstallwait ,1", WG_ASM_SYNTAX, 13, "an operand is missing", ""},
        {"ttsempost 1 2", WG_ASM_SYNTAX, 13, "operator or a comma", ""},
        {"ttsempost (1", WG_ASM_SYNTAX, 11, "has no ')'", ""},
        {"ttsempost 1)", WG_ASM_SYNTAX, 12, "has no '('", ""},
        {"ttsempost 1 +", WG_ASM_SYNTAX, 14, "an operand is missing", ""},
        {"ttsempost 0x", WG_ASM_SYNTAX, 11, "hexadecimal", ""},
        {"ttsempost 12ab", WG_ASM_SYNTAX, 11, "decimal", ""},
        {"ttsempost 0b12", WG_ASM_SYNTAX, 11, "binary", ""},
        {"ttsempost 089", WG_ASM_SYNTAX, 11, "octal", ""},
        {"ttsempost @", WG_ASM_SYNTAX, 11, "'@'", ""},
        {"ttsempost \x01", WG_ASM_SYNTAX, 11, "0x01", ""},
        {"ttsempost 1/0", WG_ASM_RANGE, 12, "division by zero", ""},
        {"ttsempost 1<<64", WG_ASM_RANGE, 12, "shift", ""},
        {"ttsempost 9223372036854775808", WG_ASM_RANGE, 11, "64 bits", ""},
        {"ttsempost 9223372036854775807+1", WG_ASM_RANGE, 30, "64 bits", ""},
        {"ttsempost 1<<63<<1", WG_ASM_RANGE, 12, "64 bits", ""},
        {"ttsempost sem_sel=1, sem_sel=2", WG_ASM_SYNTAX, 22, "given twice", ""},
        {"ttstallwait 1, stall_res=2", WG_ASM_SYNTAX, 16, "given twice", ""},
        {"ttstallwait stall_res=2, 1", WG_ASM_SYNTAX, 26, "all have to have one", ""},
        {"ttstallwait stal_res=2, 1", WG_ASM_UNKNOWN_SYMBOL, 13, "STALLWAIT has no field stal_res", ""},
        {".ttinsn 0xC0000000", WG_ASM_RANGE, 9, "0xBFFFFFFF", ""},
        {".word 0x100000000", WG_ASM_RANGE, 7, "0xFFFFFFFF", ""},
        {".word 1, 2", WG_ASM_OPERAND_COUNT, 8, "one word", ""},
        {"*", WG_ASM_SYNTAX, 1, "an instruction is expected", ""},
    };
    wg_arch_id arch = wg_test_arch(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word = 0x5A5A5A5A;
        wg_asm_error error;
        wg_asm_code code = assemble(arch, rows[i].text, &word, &error);
        if (code != rows[i].code || error.code != code || error.column != rows[i].column ||
            strstr(error.message, rows[i].says) == NULL || strcmp(error.suggestion, rows[i].suggests) != 0)
            fail_msg("\"%s\": %d, column %u: %s [%s]", rows[i].text, code, error.column, error.message,
                     error.suggestion);
        assert_int_equal(word, 0x5A5A5A5A);
        assert_int_equal(assemble(arch, rows[i].text, &word, NULL), code);
    }
    uint32_t word;
    wg_asm_error error;
    if (arch == WG_ARCH_WH) {
        assert_int_equal(assemble(arch, "ttstreamwait 1, 2, 1, 1", &word, &error), WG_ASM_UNKNOWN_MNEMONIC);
        assert_non_null(strstr(error.message, "Blackhole only"));
        assert_int_equal(assemble(arch, "ttstallwait 1, CFGEXU", &word, &error), WG_ASM_UNKNOWN_SYMBOL);
        assert_non_null(strstr(error.message, "Blackhole only"));
    } else {
        assert_int_equal(assemble(arch, "ttstallwait 1, PACK3", &word, &error), WG_ASM_UNKNOWN_SYMBOL);
        assert_non_null(strstr(error.message, "Wormhole only"));
    }
}

/* Deep nesting is an error, not a stack overflow. */
static void test_nesting(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static char text[70000];
    static const char fillers[] = "(-~";
    for (const char *f = fillers; *f; f++) {
        size_t used = (size_t)snprintf(text, sizeof text, "ttsempost ");
        memset(text + used, *f, 65536);
        uint32_t word;
        wg_asm_error error;
        assert_int_equal(wg_assemble_line(arch, text, used + 65536, &word, &error), WG_ASM_TOO_DEEP);
    }
    size_t used = (size_t)snprintf(text, sizeof text, "ttsempost 1");
    while (used < 60000) {
        memcpy(text + used, "+1", 2);
        used += 2;
    }
    uint32_t word;
    assert_int_equal(wg_assemble_line(arch, text, used, &word, NULL), WG_ASM_RANGE); /* long, not deep */
}

static const wg_test tests[] = {
    WG_TEST(test_annotated_lines, WG_BH | WG_WH, "GATE-24"),
    WG_TEST(test_symbolic_lines, WG_BH, "GATE-24 GATE-28"),
    WG_TEST(test_semaphore_encodings, WG_BH | WG_WH, "SEM-10"),
    WG_TEST(test_constants, WG_BH | WG_WH, "GATE-28"),
    WG_TEST(test_round_trip, WG_BH | WG_WH, ""),
    WG_TEST(test_operands, WG_BH | WG_WH, ""),
    WG_TEST(test_all_words, WG_BH | WG_WH, ""),
    WG_TEST(test_short_buffers, WG_BH, ""),
    WG_TEST(test_expressions, WG_BH | WG_WH, ""),
    WG_TEST(test_accepted, WG_BH | WG_WH, ""),
    WG_TEST(test_user_symbols, WG_BH | WG_WH, ""),
    WG_TEST(test_errors, WG_BH | WG_WH, ""),
    WG_TEST(test_nesting, WG_BH | WG_WH, ""),
};
WG_MAIN("asm", tests)
