/* SPDX-License-Identifier: Apache-2.0 */
/* The command line without a device: options, help, words to text and back, element types, files. */
#include "wgtest.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "text/types.h"
#include "num/l1_formats.h"

typedef struct outcome {
    int status;
    wg_text out, error;
} outcome;

#define RUN(...) run_words((const char *[]){"waitgate", __VA_ARGS__, NULL})
static outcome run_words(const char **words)
{
    outcome o = {0};
    int argc = 0;
    while (words[argc])
        argc++;
    o.status = wg_command_main(argc, (char **)words, &o.out, &o.error);
    return o;
}

static void done(outcome *o)
{
    wg_text_free(&o->out);
    wg_text_free(&o->error);
}

static void expect_says(const wg_text *text, const char *words)
{
    if (!strstr(wg_text_of(text), words))
        fail_msg("`%s` is not in:\n%s", words, wg_text_of(text));
}

static void expect_error(outcome o, const char *words)
{
    assert_int_equal(o.status, 6);
    assert_int_equal(o.out.size, 0);
    expect_says(&o.error, words);
    done(&o);
}

/* The text of a file of the source tree. */
static char *source_file(const char *path)
{
    char whole[512], error[256];
    size_t size;
    snprintf(whole, sizeof whole, "%s/%s", WG_SOURCE_ROOT, path);
    uint8_t *text = wg_file_read(whole, &size, error, sizeof error);
    if (!text)
        fail_msg("%s", error);
    return (char *)text;
}

static char *scratch_file(const char *contents)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/wgcli-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), (ssize_t)strlen(contents));
    close(fd);
    return path;
}

static void test_help(void **state)
{
    (void)state;
    outcome o = RUN("--help");
    assert_int_equal(o.status, 0);
    static const char *const built[] = {"run", "check", "explore", "trace", "profile", "report",
                                        "why", "gdb",   "asm",     "dis",   "isa",     "explain"};
    char line[32];
    for (size_t i = 0; i < sizeof built / sizeof *built; i++) {
        snprintf(line, sizeof line, "\n  %-8s ", built[i]);
        expect_says(&o.out, line);
    }
    done(&o);
    o = RUN("run", "--help");
    static const char *const options[] = {"--arch bh|wh",
                                          "--brisc FILE",
                                          "--ncrisc FILE",
                                          "--trisc0 FILE",
                                          "--trisc1 FILE",
                                          "--trisc2 FILE",
                                          "--load ADDR=FILE",
                                          "--dump ADDR:LEN=FILE",
                                          "--max-cycles N",
                                          "--seed N",
                                          "--until ADDR=VALUE[/MASK]",
                                          "--profile documented|silicon",
                                          "--timeline",
                                          "--json",
                                          "--stats",
                                          "--log FILE",
                                          "--trace FILE",
                                          "Exit status: 0 done"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        expect_says(&o.out, options[i]);
    assert_null(strstr(o.out.data, "--ttinsn"));
    done(&o);
    o = RUN("--version");
    assert_int_equal(strncmp(o.out.data, "waitgate ", 9), 0);
    done(&o);
}

static void test_usage_errors(void **state)
{
    (void)state;
    expect_error(RUN("rnu"), "no command `rnu`; did you mean `run`?");
    expect_error(RUN("frobnicate"), "no command `frobnicate`\n");
    expect_error(RUN("gdb"), "nothing to run");
    expect_error(RUN("run", "--max-cycle", "5"), "no option `--max-cycle`; did you mean `--max-cycles`?");
    expect_error(RUN("run", "--max-cycles"), "--max-cycles takes a value: N");
    expect_error(RUN("run", "--stats=1", "x.tasm"), "takes no value");
    expect_error(RUN("run", "--max-cycles", "many", "x.tasm"), "`many` is not a number");
    expect_error(RUN("run", "--arch", "gs", "x.tasm"), "neither bh nor wh");
    expect_error(RUN("run", "--profile", "silicn", "x.tasm"), "did you mean `silicon`?");
    expect_error(RUN("run"), "nothing to run");
    expect_error(RUN("run", "kernel.elf"), "which core");
    expect_error(RUN("run", "/nonexistent/a.tasm"), "No such file");
    expect_error(RUN("run", "--brisc", "/nonexistent/b.elf"), "No such file");
    expect_error(RUN("--stats"), "a command comes first");
    outcome o = run_words((const char *[]){"waitgate", NULL});
    assert_int_equal(o.status, 6);
    expect_says(&o.error, "usage: waitgate COMMAND");
    done(&o);
}

static void test_documents_are_current(void **state)
{
    (void)state;
    char *page = source_file("docs/cli.md");
    outcome o = RUN("--help-markdown");
    assert_string_equal(o.out.data, page);
    done(&o);
    free(page);
    page = source_file("docs/findings.md");
    o = RUN("explain", "--markdown", "--examples", WG_SOURCE_ROOT "/examples/findings");
    assert_string_equal(o.out.data, page);
    done(&o);
    free(page);
}

static void test_explain(void **state)
{
    (void)state;
    outcome o = RUN("explain", "core-unmapped-access");
    assert_int_equal(o.status, 0);
    expect_says(&o.out, "core-unmapped-access (undefined)");
    expect_says(&o.out, "  remedy  Check the pointer");
    done(&o);
    expect_error(RUN("explain", "core-unmaped-access"), "did you mean `core-unmapped-access`?");
    o = RUN("explain", "--json", "core-unmapped-access");
    expect_says(&o.out, "\"severity\": \"undefined\"");
    done(&o);
}

static void test_dis_words(void **state)
{
    (void)state;
    outcome o = RUN("dis", "0xA2400810");
    assert_int_equal(o.status, 0);
    assert_string_equal(o.out.data, "0xa2400810  ttstallwait 128, 2064\n");
    done(&o);
    o = RUN("dis", "--ttinsn", "0x8C800022", "0x90000022");
    assert_string_equal(o.out.data, "0x8c800022  ttseminit 2, 0, 2\n0x90000022  ttsempost 2\n");
    done(&o);
    o = RUN("dis", "--symbolic", "--arch=wh", "0xA2400080");
    assert_string_equal(o.out.data, "0xa2400080  ttstallwait STALL_CFG, MATH\n");
    done(&o);
    o = RUN("dis", "--json", "0x02000000");
    expect_says(&o.out, "\"text\": \"ttnop\"");
    done(&o);
    expect_error(RUN("dis"), "dis takes words");
    expect_error(RUN("dis", "0x123456789"), "32 bits");
}

static void test_dis_files(void **state)
{
    (void)state;
    char *path = scratch_file("# dump\n00000000: a2400810, 0x02000000 ; rest\nA4000004\n");
    outcome o = RUN("dis", path);
    assert_string_equal(wg_text_of(&o.out),
                        "0xa2400810  ttstallwait 128, 2064\n0x02000000  ttnop\n0xa4000004  ttsempost 1\n");
    done(&o);
    unlink(path);
    path = scratch_file("a2400810\nxyz\n");
    o = RUN("dis", path);
    assert_int_equal(o.status, 6);
    expect_says(&o.error, ":2: `xyz` is not a hexadecimal word");
    done(&o);
    unlink(path);
    path = scratch_file("\x01\x02\x03");
    expect_error(RUN("dis", path), "not a whole number of words");
    unlink(path);
}

static void test_asm_forms(void **state)
{
    (void)state;
    char *path = scratch_file("ttstallwait STALL_CFG, MATH|SFPU1  ; symbols\n\nnop\n");
    outcome o = RUN("asm", path);
    assert_int_equal(o.status, 0);
    assert_string_equal(o.out.data, "0xa2400810\n0x02000000\n");
    done(&o);
    o = RUN("asm", "--format", "ttinsn", path);
    assert_string_equal(o.out.data, "0x89002042\n0x08000000\n");
    done(&o);
    o = RUN("asm", "--format=c", path);
    expect_says(&o.out, "static const uint32_t tensix_words[2] = {\n    0xa2400810,  /* ttstallwait 128, 2064 */\n");
    done(&o);
    o = RUN("asm", "--format=binary", path);
    assert_int_equal(o.out.size, 8);
    assert_memory_equal(o.out.data, "\x10\x08\x40\xA2\x00\x00\x00\x02", 8);
    done(&o);
    o = RUN("asm", "--json", path);
    expect_says(&o.out, "\"ttinsn\": \"0x89002042\"");
    done(&o);
    expect_error(RUN("asm", "--format", "elf", path), "none of words");
    unlink(path);
}

static void test_asm_errors_all_at_once(void **state)
{
    (void)state;
    char *path = scratch_file("ttstallwat 1, 2\nttnop\n  ttsempost BOGUS\n");
    outcome o = RUN("asm", path);
    assert_int_equal(o.status, 6);
    assert_int_equal(o.out.size, 0);
    char line[128];
    snprintf(line, sizeof line, "%s:1:1: error: ", path);
    expect_says(&o.error, line);
    expect_says(&o.error, "    ttstallwat 1, 2\n    ^\n");
    snprintf(line, sizeof line, "%s:3:13: error: ", path);
    expect_says(&o.error, line);
    expect_says(&o.error, "      ttsempost BOGUS\n                ^\n");
    expect_says(&o.error, "2 errors\n");
    done(&o);
    unlink(path);
}

/* An output file appears whole or not at all, and nothing else is left next to it. */
static void test_output_is_atomic(void **state)
{
    (void)state;
    char directory[] = "/tmp/wgcli-XXXXXX", file[64], error[256];
    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/out", directory);
    assert_true(wg_file_write(file, "old", 3, error, sizeof error));
    wg_file_out out;
    assert_true(wg_file_begin(&out, file, error, sizeof error));
    fputs("new contents", out.stream);
    size_t size;
    uint8_t *now = wg_file_read(file, &size, error, sizeof error);
    assert_int_equal(size, 3);
    free(now);
    wg_file_abandon(&out);
    now = wg_file_read(file, &size, error, sizeof error);
    assert_int_equal(size, 3);
    free(now);
    assert_true(wg_file_begin(&out, file, error, sizeof error));
    fputs("new contents", out.stream);
    assert_true(wg_file_commit(&out, error, sizeof error));
    now = wg_file_read(file, &size, error, sizeof error);
    assert_int_equal(size, 12);
    free(now);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(directory), 0);
    assert_false(wg_file_write("/nonexistent/out", "x", 1, error, sizeof error));
    assert_non_null(strstr(error, "/nonexistent/out: No such file"));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t single_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(wg_type_encode(WG_TYPE_BF16, bits_of(1.00390625)), 0x3F80); /* a tie: to even */
    assert_int_equal(wg_type_encode(WG_TYPE_BF16, bits_of(1.01171875)), 0x3F82); /* a tie: to even, up */
    assert_int_equal(wg_type_encode(WG_TYPE_BF16, bits_of(1.00390626)), 0x3F81);
    assert_int_equal(wg_type_encode(WG_TYPE_BF16, bits_of(-0.0)), 0x8000);
    assert_int_equal(wg_type_encode(WG_TYPE_FP16, bits_of(65519.99)), 0x7BFF);
    assert_int_equal(wg_type_encode(WG_TYPE_FP16, bits_of(65520)), 0x7C00);
    assert_int_equal(wg_type_encode(WG_TYPE_FP16, bits_of(5.960464477539063e-08)), 1);
    assert_int_equal(wg_type_encode(WG_TYPE_FP16, bits_of(2.980232238769531e-08)), 0); /* half of the least: to even */
    assert_int_equal(wg_type_encode(WG_TYPE_FP32, bits_of(0.1)), 0x3DCCCCCD);
    assert_int_equal(wg_type_encode(WG_TYPE_TF32, bits_of(-1.5)), 0xBFC00000);
    assert_int_equal(wg_type_encode(WG_TYPE_INT8, bits_of(-200)), 0x80);
    assert_int_equal(wg_type_encode(WG_TYPE_UINT8, bits_of(300)), 0xFF);
    assert_int_equal(wg_type_encode(WG_TYPE_UINT16, bits_of(-1)), 0);
    assert_int_equal(wg_type_encode(WG_TYPE_INT32, bits_of(-7.9)), 0xFFFFFFF9);
    assert_int_equal(wg_type_decode(WG_TYPE_INT8, 0xFD), single_bits(-3));
    assert_int_equal(wg_type_decode(WG_TYPE_UINT32, 0xFFFFFFFF), single_bits(4294967296.0f));
    /* Every fp16 and bf16 value survives a round trip, NaNs as NaNs. */
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t half = wg_type_decode(WG_TYPE_FP16, i);
        if ((i & 0x7C00) != 0x7C00 || !(i & 0x3FF))
            assert_int_equal(wg_type_encode(WG_TYPE_FP16, wg_double_of_single(half)), i);
        if ((i & 0x7F80) != 0x7F80 && (i & 0x7F80))
            assert_int_equal(wg_type_encode(WG_TYPE_BF16, wg_double_of_single(wg_type_decode(WG_TYPE_BF16, i))), i);
    }
    /* The host's own conversion agrees for singles. */
    wg_rng rng = {3};
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t single = (uint32_t)wg_rng_next(&rng);
        if ((single >> 23 & 255) == 255)
            continue;
        float value;
        memcpy(&value, &single, sizeof value);
        assert_true(wg_double_of_single(single) == bits_of((double)value));
    }
}

/* Element types of memory contents agree with the unpackers, and survive a round trip. */
static void test_types_of_the_units(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        static const struct {
            wg_type type;
            wg_l1_reading reading;
            unsigned exponent;
        } small[] = {{WG_TYPE_FP8, WG_READ_E5M2, 0x7C}, {WG_TYPE_FP8E4M3, WG_READ_E4M3, 0x78}};
        for (unsigned k = 0; k < 2; k++) {
            bool special = k == 0 ? (i & 0x7C) == 0x7C : (i & 0x7F) == 0x7F;
            if (special || !(i & small[k].exponent))
                continue;
            uint32_t fp16 = wg_dst16_to_fp16((uint16_t)wg_l1_to_dst(small[k].reading, i, 0));
            assert_int_equal(wg_type_decode(small[k].type, i), wg_type_decode(WG_TYPE_FP16, fp16));
        }
        for (unsigned k = 0; k < 2; k++)
            if (k == 0 ? (i & 0x7C) != 0x7C : (i & 0x7F) != 0x7F)
                assert_int_equal(wg_type_encode(small[k].type, wg_double_of_single(wg_type_decode(small[k].type, i))),
                                 i);
        if (i != 0x80)
            assert_int_equal(wg_type_encode(WG_TYPE_SM8, wg_double_of_single(wg_type_decode(WG_TYPE_SM8, i))), i);
    }
    assert_int_equal(wg_type_encode(WG_TYPE_FP8E4M3, bits_of(1e9)), 0x7E);
    assert_int_equal(wg_type_encode(WG_TYPE_FP8E4M3, bits_of(-448)), 0xFE);
    assert_int_equal(wg_type_encode(WG_TYPE_FP8E4M3, bits_of((double)NAN)) & 0x7F, 0x7F);
    assert_int_equal(wg_type_encode(WG_TYPE_FP8, bits_of(1e9)), 0x7C);
    assert_int_equal(wg_type_encode(WG_TYPE_SM16, bits_of(-5)), 0x8005);
    assert_int_equal(wg_type_encode(WG_TYPE_SM32, bits_of(-1e12)), 0xFFFFFFFF);
    for (wg_type type = WG_TYPE_BFP8; type <= WG_TYPE_BFP2A; type++) {
        bool five = type >= WG_TYPE_BFP8A;
        unsigned bits = 8u >> (type - (five ? WG_TYPE_BFP8A : WG_TYPE_BFP8));
        for (uint32_t exponent = 20; exponent < (five ? 31 : 250); exponent++) {
            static uint32_t singles[1024];
            uint8_t tile[1088] = {0};
            for (unsigned n = 0; n < 1024; n++) {
                tile[n / 16] = (uint8_t)exponent;
                tile[64 + n * bits / 8] |= (uint8_t)((n * 5 & ((1u << bits) - 1)) << n * bits % 8);
            }
            assert_true(wg_array_decode(singles, type, true, tile, 32, 32));
            for (unsigned n = 0; n < 1024; n++) {
                uint8_t datum = (uint8_t)((n * 5 & ((1u << bits) - 1)) << (8 - bits));
                unsigned row = n / 512 * 16 + n % 256 / 16, column = n / 256 % 2 * 16 + n % 16;
                uint32_t wanted = five ? wg_type_decode(WG_TYPE_FP16, wg_bfp_to_fp16(datum, (uint8_t)exponent))
                                       : (uint32_t)wg_bfp_to_bf16(datum, (uint8_t)exponent) << 16;
                assert_int_equal(singles[row * 32 + column] & 0x7FFFFFFF, wanted & 0x7FFFFFFF);
            }
            wg_text again = {0};
            static uint32_t back[1024];
            assert_true(wg_array_encode(&again, type, true, singles, 32, 32));
            assert_int_equal(again.size, 64 + 128 * bits);
            assert_true(wg_array_decode(back, type, true, (const uint8_t *)again.data, 32, 32));
            assert_memory_equal(back, singles, sizeof back);
            wg_text_free(&again);
        }
    }
}

static void test_arrays(void **state)
{
    (void)state;
    enum { ROWS = 64, COLUMNS = 96, COUNT = ROWS * COLUMNS };
    static uint32_t singles[COUNT], back[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        singles[i] = single_bits((float)(i % 128) - 64);
    wg_text bytes = {0};
    assert_true(wg_array_encode(&bytes, WG_TYPE_BF16, true, singles, ROWS, COLUMNS));
    assert_int_equal(bytes.size, COUNT * 2);
    assert_int_equal(wg_array_elements(WG_TYPE_BF16, bytes.size), COUNT);
    /* Second face of the first tile: row 0, column 16. */
    assert_int_equal((uint8_t)bytes.data[2 * 256 + 1] << 8 | (uint8_t)bytes.data[2 * 256], singles[16] >> 16);
    assert_true(wg_array_decode(back, WG_TYPE_BF16, true, (const uint8_t *)bytes.data, ROWS, COLUMNS));
    assert_memory_equal(back, singles, sizeof singles);
    wg_text_free(&bytes);
    assert_true(wg_array_encode(&bytes, WG_TYPE_BFP8, true, singles, ROWS, COLUMNS));
    assert_int_equal(bytes.size, 6 * 1088);
    assert_int_equal(wg_array_elements(WG_TYPE_BFP8, bytes.size), COUNT);
    assert_true(wg_array_decode(back, WG_TYPE_BFP8, true, (const uint8_t *)bytes.data, ROWS, COLUMNS));
    assert_memory_equal(back, singles, sizeof singles); /* whole numbers up to 64 fit seven bits */
    wg_text_free(&bytes);
    assert_false(wg_array_encode(&bytes, WG_TYPE_BF16, true, singles, 31, 32));
    assert_false(wg_array_encode(&bytes, WG_TYPE_BFP8, false, singles, 32, 32));
    wg_text file = {0};
    wg_npy_write(&file, singles, ROWS, COLUMNS);
    assert_int_equal((file.size - sizeof singles) % 64, 0);
    uint32_t *read = NULL;
    size_t rows, columns;
    char error[128];
    assert_true(wg_npy_read((const uint8_t *)file.data, file.size, &read, &rows, &columns, error, sizeof error));
    assert_int_equal(rows, ROWS);
    assert_int_equal(columns, COLUMNS);
    assert_memory_equal(read, singles, sizeof singles);
    free(read);
    assert_false(wg_npy_read((const uint8_t *)file.data, file.size - 4, &read, &rows, &columns, error, sizeof error));
    assert_non_null(strstr(error, "shorter"));
    assert_false(wg_npy_read((const uint8_t *)"no", 2, &read, &rows, &columns, error, sizeof error));
    wg_text_free(&file);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } cases[] = {{"0", true, 0},
                 {"0x10", true, 16},
                 {"0XfF", true, 255},
                 {"0b101", true, 5},
                 {"64K", true, 65536},
                 {"2M", true, 2 << 20},
                 {"1_000", true, 1000},
                 {"0xFFFFFFFFFFFFFFFF", true, UINT64_MAX},
                 {"0x10000000000000000", false, 0},
                 {"", false, 0},
                 {"0x", false, 0},
                 {"12a", false, 0},
                 {"-1", false, 0},
                 {"99999999999999999G", false, 0},
                 {"K", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        bool ok = wg_parse_number(cases[i].text, strlen(cases[i].text), &value);
        if (ok != cases[i].ok || (ok && value != cases[i].value))
            fail_msg("%s", cases[i].text);
    }
}

static void test_json_escapes(void **state)
{
    (void)state;
    wg_text out = {0};
    wg_json j = {.out = &out};
    wg_json_open(&j, NULL, '{');
    wg_json_text(&j, "a\"b", "line\n\x01\\");
    wg_json_open(&j, "list", '[');
    wg_json_uint(&j, NULL, 1);
    wg_json_hex(&j, NULL, 0xAB);
    wg_json_close(&j, ']');
    wg_json_open(&j, "empty", '[');
    wg_json_close(&j, ']');
    wg_json_bool(&j, "yes", true);
    wg_json_close(&j, '}');
    assert_string_equal(out.data,
                        "{\n  \"a\\\"b\": \"line\\n\\u0001\\\\\",\n  \"list\": [\n    1,\n    \"0x000000ab\"\n  ],\n"
                        "  \"empty\": [],\n  \"yes\": true\n}\n");
    wg_text_free(&out);
}

static const wg_test tests[] = {
    WG_TEST(test_help, WG_BH, ""),
    WG_TEST(test_usage_errors, WG_BH, ""),
    WG_TEST(test_documents_are_current, WG_BH, ""),
    WG_TEST(test_explain, WG_BH, ""),
    WG_TEST(test_dis_words, WG_BH, ""),
    WG_TEST(test_dis_files, WG_BH, ""),
    WG_TEST(test_asm_forms, WG_BH, ""),
    WG_TEST(test_asm_errors_all_at_once, WG_BH, ""),
    WG_TEST(test_output_is_atomic, WG_BH, ""),
    WG_TEST(test_types, WG_BH, ""),
    WG_TEST(test_types_of_the_units, WG_BH, ""),
    WG_TEST(test_arrays, WG_BH, ""),
    WG_TEST(test_numbers, WG_BH, ""),
    WG_TEST(test_json_escapes, WG_BH, ""),
};
WG_MAIN("cli", tests)
