/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of chip files: what it accepts, where it reports errors, and that no input breaks it. */
#include <stdio.h>

#include "cli/chip_yaml.h"
#include "wgtest.h"

static const char whole[] = "arch: wh\n"
                            "profile: silicon\n"
                            "seed: 7\n"
                            "threads: 2\n"
                            "max-cycles: 1M\n"
                            "harvested: [2, 11]\n"
                            "host-memory:\n"
                            "  bytes: 64K\n"
                            "  load:\n"
                            "    - {address: 0, words: [1]}\n"
                            "tiles:\n"
                            "  - at: {from: [1, 1], to: [4, 3]}\n"
                            "    brisc: a.elf\n"
                            "    trisc2: b.elf\n"
                            "    load:\n"
                            "      - {address: 0x100, words: [1, 0xFFFFFFFF, 3]}\n"
                            "      - {address: 4K, file: in.npy, type: bf16, tilized: true}\n"
                            "    dump:\n"
                            "      - {address: 8K, length: 2K, file: out.npy, type: bf16, tilized: 32x32}\n"
                            "    until: {address: 0x200, value: 5, mask: 0xFF}\n"
                            "  - at: [[0, 0], [9, 10]]\n"
                            "    release: []\n";

static void test_whole_file(void **state)
{
    wg_chip_file f;
    (void)state;
    if (!wg_chip_parse(&f, "whole", whole, sizeof whole - 1))
        fail_msg("%s", wg_text_of(&f.report));
    assert_int_equal(f.grid.arch, WG_ARCH_WH);
    assert_int_equal(f.grid.profile, WG_PROFILE_SILICON);
    assert_int_equal(f.grid.seed, 7);
    assert_int_equal(f.grid.threads, 2);
    assert_int_equal(f.grid.harvested, 1 << 2 | 1 << 11);
    assert_int_equal(f.max_cycles, 1 << 20);
    assert_int_equal(f.host_bytes, 65536);
    assert_int_equal(f.host_loads, 1);
    assert_int_equal(f.tiles, 2);
    const wg_chip_tiles *t = &f.tile[0];
    assert_int_equal(t->places, 8); /* row 2 is fused off */
    assert_int_equal(t->place[4].x, 1);
    assert_int_equal(t->place[4].y, 3);
    assert_string_equal(t->program[WG_CORE_B], "a.elf");
    assert_null(t->program[WG_CORE_NC]);
    assert_int_equal(t->release, 1 << WG_CORE_B | 1 << WG_CORE_T2);
    assert_int_equal(t->loads, 2);
    assert_int_equal(t->load[0].words, 3);
    assert_int_equal(t->load[0].word[1], 0xFFFFFFFF);
    assert_int_equal(t->load[1].type, WG_TYPE_BF16);
    assert_true(t->load[1].tilized);
    assert_int_equal(t->dump[0].length, 2048);
    assert_int_equal(t->dump[0].rows, 32);
    assert_int_equal(t->until.mask, 0xFF);
    assert_int_equal(f.tile[1].places, 2);
    assert_int_equal(f.tile[1].release, 0);
    wg_chip_free(&f);
}

static void test_default_profile(void **state)
{
    (void)state;
    static const char text[] = "arch: bh\ntiles:\n  - at: [1, 2]\n";
    wg_chip_file f;
    assert_true(wg_chip_parse(&f, "default", text, sizeof text - 1));
    assert_int_equal(f.grid.profile, WG_PROFILE_SILICON);
    wg_chip_free(&f);
}

/* Each file is wrong in one place; the report has that place and the message. */
static void test_errors_have_places(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "1:1: error: the file is empty"},
        {"arch: bh\n", "1:1: error: a chip file has `tiles`, at least one"},
        {"- 1\n", "1:1: error: keys and values are expected here"},
        {"tiles: []\n", "1:1: error: a chip file has `tiles`, at least one"},
        {"tiles: 5\n", "1:8: error: a list of tiles is expected here"},
        {"tiles:\n  - [1]\n", "2:5: error: keys and values are expected here"},
        {"tiles:\n  - brisc: x\n", "2:5: error: `at` is missing"},
        {"tiles:\n  - at: 5\n", "2:9: error: a place is expected here"},
        {"tiles:\n  - at: [1, x]\n", "2:13: error: `x` is not a number"},
        {"tiles:\n  - at: [[1, 2], [3]]\n", "2:18: error: a place is expected here: [x, y]"},
        {"tiles:\n  - at: [20, 2]\n", "2:5: error: at [20, 2] there is nothing"},
        {"tiles:\n  - at: [0, 0]\n    brisc: x\n", "2:5: error: at [0, 0] there is a DRAM tile; programs run on"},
        {"tiles:\n  - at: {from: [8, 2], to: [9, 11]}\n", "2:5: error: there is no Tensix tile in this rectangle"},
        {"tiles:\n  - at: {from: [3, 2]}\n", "2:9: error: a rectangle has `from` and `to`"},
        {"tiles:\n  - at: [1, 2]\n    at: [1, 3]\n", "3:5: error: `at` appears here twice"},
        {"tiles:\n  - at: [1, 2]\n    trsic0: x\n",
         "3:5: error: there is no key `trsic0` here; did you mean `trisc0`?"},
        {"tiles:\n  - at: [1, 2]\n    brisc: [x]\n", "3:12: error: an ELF file is expected here"},
        {"tiles:\n  - at: [1, 2]\n    release: [b, t3]\n", "3:18: error: `t3` is none of b, nc, t0, t1, t2"},
        {"tiles:\n  - at: [1, 2]\n    load:\n      - {file: x}\n", "4:9: error: `address` is missing"},
        {"tiles:\n  - at: [1, 2]\n    load:\n      - {address: 0}\n",
         "4:9: error: something to load has `address` and"},
        {"tiles:\n  - at: [1, 2]\n    load:\n      - {address: 0, file: x, words: [1]}\n",
         "4:9: error: something to load has `address` and"},
        {"tiles:\n  - at: [1, 2]\n    load:\n      - {address: 0, file: x, type: bf61}\n",
         "4:37: error: `bf61` is not an element type; did you mean `bf16`?"},
        {"tiles:\n  - at: [1, 2]\n    dump:\n      - {address: 0, file: x}\n",
         "4:9: error: a dump has `address`, `length`"},
        {"tiles:\n  - at: [1, 2]\n    dump:\n      - {address: 0, file: x, length: 0}\n",
         "4:39: error: a dump has at least"},
        {"tiles:\n  - at: [1, 2]\n    dump:\n      - {address: 0, file: x, length: 4, tilized: 3x}\n",
         "4:51: error: `3x` is not true, false or ROWSxCOLUMNS"},
        {"tiles:\n  - at: [1, 2]\n    until: {address: 4}\n", "3:12: error: a condition has `address` and `value`"},
        {"tiles:\n  - at: [1, 2]\n    until: {address: 4, value: 1, mask: 0}\n",
         "3:41: error: a mask of 0 selects nothing"},
        {"arch: gs\ntiles:\n  - at: [1, 2]\n", "1:7: error: `gs` is none of bh, wh"},
        {"harvested: [17]\ntiles:\n  - at: [1, 2]\n", "1:13: error: 17 exceeds 0x10"},
        {"host-memory: {load: []}\ntiles:\n  - at: [1, 2]\n", "1:14: error: `bytes` is missing"},
        {"tiles:\n  - at: [1, 2\n", "3:1: error: this is not YAML"},
        {"tiles: *nobody\n", "1:8: error: this is not YAML: found undefined alias"},
        {"a: \xFF\n", "1:1: error: this is not YAML"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_chip_file f;
        char expected[200];
        snprintf(expected, sizeof expected, "chip.yaml:%s", cases[i].expected);
        if (wg_chip_parse(&f, "chip.yaml", cases[i].text, strlen(cases[i].text)))
            fail_msg("accepted:\n%s", cases[i].text);
        if (strncmp(wg_text_of(&f.report), expected, strlen(expected)) != 0)
            fail_msg("%s\nsays\n%s\nnot\n%s", cases[i].text, wg_text_of(&f.report), expected);
        assert_int_equal(f.errors, 1);
        wg_chip_free(&f);
    }
}

/* Lists of aliases to lists multiply; the bound on items holds. */
static void test_aliases_are_bounded(void **state)
{
    wg_text text = {0};
    wg_chip_file f;
    (void)state;
    wg_textf(&text, "tiles:\n  - at: [1, 2]\n    load: &l\n");
    for (unsigned i = 0; i < 300; i++)
        wg_textf(&text, "      - {address: 0, words: [1, 2, 3, 4]}\n");
    for (unsigned i = 0; i < 300; i++)
        wg_textf(&text, "  - {at: [1, 2], load: *l}\n");
    assert_false(wg_chip_parse(&f, "many", text.data, text.size));
    assert_non_null(strstr(wg_text_of(&f.report), "too many items"));
    wg_chip_free(&f);
    wg_text_free(&text);
}

/* The whole file with random bytes changed, removed or doubled: it parses, or the error has a position. */
static void test_random_changes(void **state)
{
    wg_rng g = {.s = 5};
    unsigned accepted = 0, refused = 0;
    (void)state;
    for (unsigned i = 0; i < 6000; i++) {
        char text[2 * sizeof whole];
        size_t n = 0;
        unsigned rate = 20 + wg_rng_below(&g, 400);
        for (size_t k = 0; k < sizeof whole - 1 && n < sizeof text - 2; k++) {
            unsigned what = wg_rng_below(&g, rate);
            if (what == 0)
                continue;
            text[n++] = what == 1   ? (char)wg_rng_next(&g)
                        : what == 2 ? "[]{}:-*&,\n \"'"[wg_rng_below(&g, 13)]
                                    : whole[k];
            if (what == 3)
                text[n++] = whole[k];
        }
        wg_chip_file f;
        bool ok = wg_chip_parse(&f, "random", text, n);
        assert_true(ok || f.report.size);
        ok ? accepted++ : refused++;
        wg_chip_free(&f);
    }
    assert_true(accepted > 10 && refused > 1000);
}

static const wg_test tests[] = {
    WG_TEST(test_whole_file, WG_WH, ""),         WG_TEST(test_default_profile, WG_WH, ""),
    WG_TEST(test_errors_have_places, WG_BH, ""), WG_TEST(test_aliases_are_bounded, WG_BH, ""),
    WG_TEST(test_random_changes, WG_BH, ""),
};
WG_MAIN("chip_yaml", tests)
