/* SPDX-License-Identifier: Apache-2.0 */
/* The .tasm reader: the result for a program, and every error with its position. */
#include "wgtest.h"

#include "cli/tasm.h"
#include "isa/isa.h"

static wg_tasm read_program(void **state, const char *source)
{
    wg_tasm t;
    if (!wg_tasm_parse(&t, "p.tasm", source, strlen(source), wg_test_arch(state))) {
        wg_text report = {0};
        wg_tasm_report(&t, &report);
        fail_msg("%s", wg_text_of(&report));
    }
    return t;
}

static void test_streams(void **state)
{
    wg_tasm t = read_program(state, ".thread 1\n"
                                    "    ttnop            ; a comment\n"
                                    "    .delay 5\n"
                                    "    ttsempost 1<<2   // another\n"
                                    ".thread 0\n"
                                    "    .word 0xA2008010 # and a third\n"
                                    ".thread 1\n"
                                    "    SEMGET SEMAPHORE_1\n");
    assert_false(t.stream[2].present);
    assert_int_equal(t.stream[1].words, 3);
    assert_int_equal(t.stream[1].word[0].word, 0x02000000);
    assert_int_equal(t.stream[1].word[0].delay, 0);
    assert_int_equal(t.stream[1].word[1].word, 0xA4000010);
    assert_int_equal(t.stream[1].word[1].delay, 5);
    assert_int_equal(t.stream[1].word[1].line, 4);
    assert_int_equal(t.stream[1].word[2].word, 0xA5000008);
    assert_int_equal(t.stream[1].word[2].delay, 0);
    assert_int_equal(t.stream[0].words, 1);
    assert_int_equal(t.stream[0].word[0].word, 0xA2008010);
    wg_tasm_free(&t);
}

static void test_repeat_labels_constants(void **state)
{
    wg_tasm t = read_program(state, ".set N, 3\n"
                                    ".equ TWICE, N * 2\n"
                                    ".thread 0\n"
                                    "first:\n"
                                    "    ttsetdmareg 0, last - first, 0, TWICE\n"
                                    "    .repeat N\n"
                                    "        ttnop\n"
                                    "        .delay 2\n"
                                    "        .repeat 2\n"
                                    "            ttdmanop\n"
                                    "        .endr\n"
                                    "    .endr\n"
                                    "last: ttnop\n");
    const wg_tasm_stream *s = &t.stream[0];
    assert_int_equal(s->words, 1 + 3 * 3 + 1);
    const wg_isa_insn *set = wg_isa_by_name(t.arch, "SETDMAREG", 9);
    assert_int_equal(wg_isa_field_get(&set->fields[1], s->word[0].word), 10);
    assert_int_equal(wg_isa_field_get(&set->fields[3], s->word[0].word), 6);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(s->word[1 + 3 * i].word >> 24, 0x02);
        assert_int_equal(s->word[2 + 3 * i].word >> 24, 0x60);
        assert_int_equal(s->word[3 + 3 * i].word >> 24, 0x60);
        assert_int_equal(s->word[2 + 3 * i].delay, 2);
    }
    wg_tasm_free(&t);
    /* A delay before .repeat belongs to the first word, one before .endr to the word after each round. */
    t = read_program(state, ".thread 0\n.delay 50\n.repeat 3\nttnop\n.delay 4\nttdmanop\n.delay 7\n.endr\nttnop\n");
    static const uint32_t delays[] = {50, 4, 7, 4, 7, 4, 7};
    assert_int_equal(t.stream[0].words, 7);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(t.stream[0].word[i].delay, delays[i]);
    wg_tasm_free(&t);
    t = read_program(state, ".thread 0\n.repeat 0\nttnop\n.endr\n");
    assert_int_equal(t.stream[0].words, 0);
    wg_tasm_free(&t);
}

static void test_arch(void **state)
{
    wg_tasm t = read_program(state, ".thread 0\nttnop\n");
    assert_int_equal(t.arch, wg_test_arch(state));
    assert_false(t.has_arch);
    wg_tasm_free(&t);
    t = read_program(state, "# first\n.arch wh\n.thread 0\nttstallwait STALL_CFG, MATH\n");
    assert_int_equal(t.arch, WG_ARCH_WH);
    assert_int_equal(t.stream[0].word[0].word, 0xA2000000 | 0x80 << 15 | 0x80);
    wg_tasm_free(&t);
}

static void test_memory(void **state)
{
    wg_tasm t = read_program(state, ".set BASE, 0x1000\n"
                                    ".l1 BASE\n"
                                    "    .byte 1, 0xFF, -1\n"
                                    "    .align 4\n"
                                    "    .half 0x1234\n"
                                    "    .word 0xDEADBEEF, -2\n"
                                    ".l1 BASE + 0x100\n"
                                    "    .fp32 1.0, -2.5\n"
                                    "    .bf16 1.0, 3.140625, inf\n"
                                    "    .fp16 1.0, 65504, 1e9, 6e-8\n"
                                    "    .tf32 1.5\n"
                                    "    .int8 -3\n"
                                    "    .space 2, 7\n"
                                    "    .asciz \"a;#b\"\n");
    assert_int_equal(t.blocks, 2);
    assert_int_equal(t.block[0].address, 0x1000);
    const uint8_t first[] = {1, 0xFF, 0xFF, 0, 0x34, 0x12, 0xEF, 0xBE, 0xAD, 0xDE, 0xFE, 0xFF, 0xFF, 0xFF};
    assert_int_equal(t.block[0].bytes.size, sizeof first);
    assert_memory_equal(t.block[0].bytes.data, first, sizeof first);
    const uint8_t second[] = {0,    0,    0x80, 0x3F, 0,    0,    0x20, 0xC0, 0x80, 0x3F, 0x49, 0x40,
                              0x80, 0x7F, 0x00, 0x3C, 0xFF, 0x7B, 0x00, 0x7C, 0x01, 0x00, 0,    0,
                              0xC0, 0x3F, 0xFD, 7,    7,    'a',  ';',  '#',  'b',  0};
    assert_int_equal(t.block[1].bytes.size, sizeof second);
    assert_memory_equal(t.block[1].bytes.data, second, sizeof second);
    wg_tasm_free(&t);
}

static void test_expectations(void **state)
{
    wg_tasm t = read_program(state, ".expect l1 0x20 = 1, 2\n"
                                    ".expect l1 0x40 = bf16 1.0\n"
                                    ".expect gpr 2 5 = -1\n"
                                    ".expect semaphore 1 = value 2 max 3\n"
                                    ".expect semaphore 2 = 4\n"
                                    ".expect mutex 3 = T1\n"
                                    ".expect mutex 0 = free\n"
                                    ".expect dst 10 3 = 0x3F80\n"
                                    ".expect cycles <= 100\n"
                                    ".expect cycles = 7\n"
                                    ".expect finding core-unmapped-access\n"
                                    ".expect hang\n"
                                    ".expect done\n");
    const wg_expect *e = t.expect;
    assert_int_equal(t.expects, 13);
    assert_int_equal(e[0].kind, WG_EXPECT_L1);
    assert_int_equal(e[0].index, 0x20);
    assert_int_equal(e[0].bytes.size, 8);
    assert_int_equal(e[0].bytes.data[4], 2);
    assert_string_equal(e[0].text, "l1 0x20 = 1, 2");
    assert_int_equal(e[1].bytes.size, 2);
    assert_int_equal(e[1].type, WG_TYPE_BF16);
    assert_int_equal(e[2].space, WG_SPACE_GPR);
    assert_int_equal(e[2].index, 2 * 64 + 5);
    assert_int_equal(e[2].value, 0xFFFFFFFF);
    assert_int_equal(e[3].value, 2);
    assert_int_equal(e[3].max, 3);
    assert_true(e[3].has_max);
    assert_false(e[4].has_max);
    assert_int_equal(e[5].value, 2);
    assert_int_equal(e[6].value, 0);
    assert_int_equal(e[7].index, 163);
    assert_int_equal(e[8].relation, '<');
    assert_int_equal(e[9].relation, '=');
    assert_int_equal(e[9].cycles, 7);
    assert_string_equal(e[10].code, "core-unmapped-access");
    assert_int_equal(e[11].kind, WG_EXPECT_HANG);
    assert_int_equal(e[12].kind, WG_EXPECT_DONE);
    wg_tasm_free(&t);
}

typedef struct bad {
    const char *source;
    unsigned line, column; /* column 0: any */
    const char *words;
} bad;

static void test_errors(void **state)
{
    static const bad cases[] = {
        {"ttnop\n", 1, 1, "no section"},
        {".thread 3\n", 1, 9, "between 0 and 2"},
        {".thread 0\n  ttstallwat 1, 2\n", 2, 3, "stallwait"},
        {".thread 0\n  ttnop 1\n", 2, 0, ""},
        {".thread 0\n  ttsempost NOSUCH\n", 2, 13, "NOSUCH"},
        {".thread 0\n .repat 3\n", 2, 2, "did you mean `.repeat`"},
        {".thread 0\n .repeat 3\n ttnop\n", 2, 1, "no .endr"},
        {".thread 0\n .repeat 3\n .l1 0\n", 2, 1, "no .endr"},
        {".thread 0\n .endr\n", 2, 1, "without .repeat"},
        {".thread 0\n .repeat 1000000\n .repeat 1000000\n ttnop\n .endr\n .endr\n", 2, 1, "longer than"},
        {".thread 0\n .repeat 2\nx: ttnop\n .endr\n", 3, 1, "more than once"},
        {".thread 0\nx: ttnop\nx: ttnop\n", 3, 1, "already defined"},
        {".set MATH, 3\n", 1, 6, "by the instruction set"},
        {".set A, 1\n.set A, 2\n", 2, 6, "already defined"},
        {".set B, C\n", 1, 9, "C"},
        {".thread 0\n.arch wh\n", 2, 1, "must come before"},
        {".arch gs\n", 1, 7, "bh and wh"},
        {".core T9\n", 1, 7, "B, NC, T0, T1 or T2"},
        {".core B, 2\n", 1, 0, "multiple of 4"},
        {".core T0\n .word 0xA2400810\n", 2, 2, "pushes 0x28900204"},
        {".core T0\n .data\n .word 0\n .text\n .long 0x45000000\n", 5, 2, "write `.ttinsn`"},
        {".core B\n  ttnosuch 3\n  ttsempost 1 2\n", 3, 0, ""},
        {".core B\n  .ttinsn 0xC0000000\n", 2, 0, "0xBFFFFFFF"},
        {".l1 0\n .byte 256\n", 2, 8, "between -128 and 255"},
        {".l1 0\n .bf16 one\n", 2, 8, "not a number"},
        {".l1 0\n .wrd 1\n", 2, 2, ".wrd"},
        {".l1 0\n .space 99999999\n", 2, 9, "between"},
        {".l1 0\n .ascii \"x\n", 2, 0, "missing"},
        {".expect l1 0 1\n", 1, 0, ""},
        {".expect gpr 3 0 = 1\n", 1, 13, "thread"},
        {".expect semaphor 1 = 1\n", 1, 9, "did you mean `semaphore`"},
        {".expect mutex 0 = T7\n", 1, 19, "T0, T1 or T2"},
        {".expect finding core-unmaped-access\n", 1, 17, "did you mean `core-unmapped-access`"},
        {".expect hang now\n", 1, 14, "nothing more"},
        {".expect dst 5 3 = 1 2\n", 1, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_tasm t;
        bool ok = wg_tasm_parse(&t, "p.tasm", cases[i].source, strlen(cases[i].source), wg_test_arch(state));
        if (ok || t.errors == 0)
            fail_msg("accepted: %s", cases[i].source);
        const wg_tasm_error *e = &t.error[0];
        if (e->line != cases[i].line || (cases[i].column && e->column != cases[i].column) ||
            !strstr(e->message, cases[i].words))
            fail_msg("%s-> %u:%u: %s", cases[i].source, e->line, e->column, e->message);
        wg_tasm_free(&t);
    }
}

/* All errors at once, each once, in order, with the line and a caret. */
static void test_error_report(void **state)
{
    static const char source[] = ".thread 0\n\tttnop\n\tttbad 1\n.bogus\n.set X\n";
    wg_tasm t;
    assert_false(wg_tasm_parse(&t, "p.tasm", source, sizeof source - 1, wg_test_arch(state)));
    assert_int_equal(t.errors, 3);
    assert_int_equal(t.error[0].line, 3);
    assert_int_equal(t.error[1].line, 4);
    assert_int_equal(t.error[2].line, 5);
    wg_text report = {0};
    wg_tasm_report(&t, &report);
    assert_non_null(strstr(report.data, "p.tasm:3:2: error: "));
    assert_non_null(strstr(report.data, "    \tttbad 1\n    \t^\n"));
    wg_text_free(&report);
    wg_tasm_free(&t);
}

/*
 * Tensix mnemonics and .ttinsn in a core section become the rotated word; the rest is left to the assembler; each has
 * its source line.
 */
static void test_core_source(void **state)
{
    wg_tasm t = read_program(state, ".set N, 5\n"
                                    ".core T1, 0x8000\n"
                                    "start: li a0, N   # comment\n"
                                    "  ttsempost 1<<1  // two\n"
                                    ".expect done\n"
                                    "again: .ttinsn 0x02000000\n"
                                    " 1: ttnop\n"
                                    "  j again; nop\n");
    assert_true(t.core[WG_CORE_T1].present);
    assert_int_equal(t.core[WG_CORE_T1].address, 0x8000);
    assert_string_equal(t.core[WG_CORE_T1].source.data, "# 3 \"p.tasm\"\n"
                                                        "start:.loc 1 3; li a0, N   \n"
                                                        ".loc 1 4; .loc 1 4; .word 0x90000022\n"
                                                        "\n"
                                                        "again:.loc 1 6; .loc 1 6; .word 0x08000000\n"
                                                        "1:.loc 1 7; .loc 1 7; .word 0x08000000\n"
                                                        ".loc 1 8; j again; nop\n");
    wg_tasm_free(&t);
}

static void test_link(void **state)
{
    wg_tasm t = read_program(state, ".set N, 0x123\n"
                                    ".core B, 0x8000\n"
                                    "  li a0, N\n"
                                    "loop:\n"
                                    "  j loop\n"
                                    "  .data\n"
                                    "value: .word 7\n");
    if (!wg_tasm_link(&t))
        fail_msg("%s", t.error[0].message);
    const wg_elf *elf = t.core[WG_CORE_B].elf;
    assert_int_equal(wg_elf_entry(elf), 0x8000);
    uint32_t word;
    memcpy(&word, wg_elf_segment_at(elf, 0)->data, 4);
    assert_int_equal(word, 0x12300513);
    assert_string_equal(wg_elf_function(elf, 0x8004)->name, "loop");
    wg_elf_line line;
    assert_true(wg_elf_line_at(t.core[WG_CORE_B].elf, 0x8004, &line));
    assert_string_equal(line.file + strlen(line.file) - 6, "p.tasm");
    assert_int_equal(line.line, 5);
    wg_tasm_free(&t);
}

static void test_link_errors(void **state)
{
    wg_tasm t = read_program(state, ".core B\n  li a0, 1\n  frobnicate a0\n  lw a1, (a0\n.core NC\n  j nowhere\n");
    assert_false(wg_tasm_link(&t));
    assert_int_equal(t.errors, 3);
    assert_int_equal(t.error[0].line, 3);
    assert_non_null(strstr(t.error[0].message, "frobnicate"));
    assert_int_equal(t.error[1].line, 4);
    assert_non_null(strstr(t.error[2].message, "nowhere"));
    wg_tasm_free(&t);
}

static const wg_test tests[] = {
    WG_TEST(test_streams, WG_BH | WG_WH, ""), WG_TEST(test_repeat_labels_constants, WG_BH | WG_WH, ""),
    WG_TEST(test_arch, WG_BH | WG_WH, ""),    WG_TEST(test_memory, WG_BH, ""),
    WG_TEST(test_expectations, WG_BH, ""),    WG_TEST(test_errors, WG_BH | WG_WH, ""),
    WG_TEST(test_error_report, WG_BH, ""),    WG_TEST(test_core_source, WG_BH | WG_WH, ""),
    WG_TEST(test_link, WG_BH | WG_WH, ""),    WG_TEST(test_link_errors, WG_BH, ""),
};
WG_MAIN("tasm", tests)
