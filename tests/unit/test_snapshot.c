/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot taken at any cycle and restored in a new process continues identically: this program starts itself again
 * (--restore ARCH FILE CYCLES, which prints the state's hash) and compares. A damaged or forged one is refused, or runs
 * without harm to the host (which the sanitized build checks); with WG_SOAK=1 a hundred times as many.
 */
#include "wgtest.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/saved.h"
#include "cli/tasm.h"
#include "engine/return_point.h"
#include "forge.h"
#include "waitgate/chip.h"

static char *self; /* this program; /proc/self/exe would be valgrind under valgrind */

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static int restore(const char *arch, const char *file, const char *cycles)
{
    char error[256];
    size_t size;
    uint8_t *bytes = wg_file_read(file, &size, error, sizeof error);
    wg_device *dev = make(strcmp(arch, "wh") == 0 ? WG_ARCH_WH : WG_ARCH_BH);
    wg_stop stop;
    if (!bytes || wg_restore(dev, bytes, size) != WG_OK || wg_run(dev, strtoull(cycles, NULL, 10), &stop) != WG_OK)
        return 1;
    printf("%016llx %llu\n", (unsigned long long)wg_state_hash(dev), (unsigned long long)wg_cycle(dev));
    wg_destroy(dev);
    free(bytes);
    return 0;
}

static void load(wg_device *dev, wg_arch_id arch, const char *name)
{
    char path[600], error[256];
    size_t size;
    wg_tasm t;
    (void)snprintf(path, sizeof path, "%s/%s", WG_SOURCE_ROOT, name);
    uint8_t *source = wg_file_read(path, &size, error, sizeof error);
    assert_non_null(source);
    assert_true(wg_tasm_parse(&t, name, (const char *)source, size, arch) && wg_tasm_link(&t));
    for (unsigned core = 0; core < WG_CORES; core++) {
        for (size_t i = 0; t.core[core].elf && i < wg_elf_segments(t.core[core].elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(t.core[core].elf, i);
            assert_int_equal(wg_write(dev, s->address, s->data, s->file_bytes), WG_OK);
        }
        if (t.core[core].elf)
            assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(t.core[core].elf)), WG_OK);
    }
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        for (size_t i = 0; i < t.stream[thread].words && wg_push(dev, thread, t.stream[thread].word[i].word) == WG_OK;
             i++)
            ;
    wg_tasm_free(&t);
    free(source);
}

static void test_new_process(void **state)
{
    static const char *const programs[] = {"examples/core.tasm", "examples/handshake.tasm", "examples/deadlock.tasm",
                                           "tests/tasm/pattern_1_before_wrcfg.tasm"};
    wg_arch_id arch = wg_test_arch(state);
    char file[] = "/tmp/wgsnapshot-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        for (uint64_t at = 0; at < 60; at += 7 + p) {
            enum { MORE = 300 };
            wg_stop stop;
            char error[256], command[5000], line[80] = "", wanted[80];
            wg_device *dev = make(arch);
            load(dev, arch, programs[p]);
            assert_int_equal(wg_run(dev, at, &stop), WG_OK);
            size_t size = wg_snapshot_size(dev);
            void *bytes = malloc(size);
            assert_int_equal(wg_snapshot(dev, bytes, size), WG_OK);
            assert_true(wg_file_write(file, bytes, size, error, sizeof error));
            free(bytes);
            assert_int_equal(wg_run(dev, MORE, &stop), WG_OK);
            (void)snprintf(wanted, sizeof wanted, "%016llx %llu\n", (unsigned long long)wg_state_hash(dev),
                           (unsigned long long)wg_cycle(dev));
            wg_destroy(dev);
            (void)snprintf(command, sizeof command, "'%s' --restore %s %s %d", self, arch == WG_ARCH_WH ? "wh" : "bh",
                           file, MORE);
            FILE *f = popen(command, "r");
            assert_non_null(f);
            assert_non_null(fgets(line, sizeof line, f));
            assert_int_equal(pclose(f), 0);
            assert_string_equal(line, wanted);
        }
    unlink(file);
}

/* A device returns to its return point, however often and from wherever; memory touched since is restored. */
static void test_return_point(void **state)
{
    static const char *const programs[] = {"examples/core.tasm", "examples/handshake.tasm", "examples/deadlock.tasm"};
    wg_arch_id arch = wg_test_arch(state);
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        for (uint64_t at = 0; at < 60; at += 25) {
            wg_stop stop;
            wg_device *dev = make(arch);
            load(dev, arch, programs[p]);
            assert_int_equal(wg_run(dev, at, &stop), WG_OK);
            wg_return_point *point = wg_return_point_new(dev);
            assert_non_null(point);
            uint64_t before = wg_state_hash(dev), cycle = wg_cycle(dev);
            assert_int_equal(wg_run(dev, 300, &stop), WG_OK);
            uint64_t after = wg_state_hash(dev);
            wg_l1_copy *l1 = wg_l1_copy_new(dev, 0, wg_l1_bytes(dev)),
                       *other = wg_l1_copy_new(dev, 0, wg_l1_bytes(dev));
            assert_true(l1 && other);
            for (unsigned again = 0; again < 4; again++) {
                const uint32_t far = wg_l1_bytes(dev) - 4 - again * 0x11000, word = 0x600D + again;
                assert_int_equal(wg_write(dev, far, &word, sizeof word), WG_OK);
                assert_false(wg_l1_is(dev, l1));
                wg_l1_copy_renew(dev, other);
                assert_true(wg_l1_is(dev, other));
                assert_true(wg_l1_copy_hash(other) != wg_l1_copy_hash(l1));
                wg_return_to(dev, point);
                assert_true(wg_state_hash(dev) == before);
                assert_int_equal(wg_cycle(dev), cycle);
                assert_int_equal(wg_run(dev, 300, &stop), WG_OK);
                assert_true(wg_state_hash(dev) == after);
                assert_true(wg_l1_is(dev, l1));
                wg_l1_copy_renew(dev, other);
                assert_true(wg_l1_copy_hash(other) == wg_l1_copy_hash(l1));
            }
            wg_l1_copy_free(l1);
            wg_l1_copy_free(other);
            wg_return_point_free(point);
            wg_destroy(dev);
        }
}

/* The published test vectors of XXH64. */
static void test_checksum(void **state)
{
    (void)state;
    assert_true(wg_checksum("", 0) == UINT64_C(0xEF46DB3751D8E999));
    assert_true(wg_checksum("a", 1) == UINT64_C(0xD24EC4F1A98C6E5B));
    assert_true(wg_checksum("abc", 3) == UINT64_C(0x44BC2CF5AD770999));
    assert_true(wg_checksum("Nobody inspects the spammish repetition", 39) == UINT64_C(0xFBCEA83C8A378BF1));
}

/* Every damaged bit is detected, and a refused snapshot changes nothing. */
static void test_damaged(void **state)
{
    wg_device *dev = forge_device(wg_test_arch(state), 5), *other = make(wg_test_arch(state));
    size_t size = wg_snapshot_size(dev);
    char *bytes = malloc(size);
    assert_int_equal(wg_snapshot(dev, bytes, size), WG_OK);
    uint64_t hash = wg_state_hash(other);
    wg_rng r = {3};
    for (unsigned i = 0; i < 60; i++) {
        wg_test_round("round", i);
        size_t at = i < 8 * FORGE_HEADER / 32 ? i * 4 : wg_rng_next(&r) % forge_bytes(bytes);
        bytes[at] ^= (char)(1 << i % 8);
        assert_int_equal(wg_restore(other, bytes, size), WG_ERR_SNAPSHOT);
        bytes[at] ^= (char)(1 << i % 8);
    }
    for (size_t cut = 0; cut < forge_bytes(bytes); cut = cut * 5 / 3 + 1)
        assert_int_equal(wg_restore(other, bytes, cut), WG_ERR_SNAPSHOT);
    assert_true(wg_state_hash(other) == hash);
    assert_int_equal(wg_restore(other, bytes, size), WG_OK);
    assert_true(wg_state_hash(other) == wg_state_hash(dev));
    free(bytes);
    wg_destroy(dev);
    wg_destroy(other);
}

/* A field out of range, with a correct checksum. */
static void test_forged_field(void **state)
{
    static const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
    } fields[] = {
        {offsetof(wg_tile, sched.phase), 1, 200},
        {offsetof(wg_tile, sched.watch_idle), 1, 2},
        {offsetof(wg_tile, sched.now), 8, UINT64_MAX},
        {offsetof(wg_tile, core[2].run.halt), 1, 99},
        {offsetof(wg_tile, core[0].run.load[1].path), 1, 77},
        {offsetof(wg_tile, core[0].icache[3].next), 2, 5},
        {offsetof(wg_tile, core[0].icache[3].set), 1, 200},
        {offsetof(wg_tile, frontend[1].fifo_head), 1, 32},
        {offsetof(wg_tile, frontend[1].pool[7].unit), 1, 250},
        {offsetof(wg_tile, frontend[2].down_end), 1, 99},
        {offsetof(wg_tile, frontend[0].free), 8, 0},
        {offsetof(wg_tile, backend.matrix.flight[5].effect), 1, 88},
        {offsetof(wg_tile, backend.matrix.tail), 4, 1000},
        {offsetof(wg_tile, backend.scalar.insn.op), 2, 9999},
        {offsetof(wg_tile, backend.pack.order[4]), 1, 16},
        {offsetof(wg_tile, backend.vector.write[9].lreg), 4, 17},
        {offsetof(wg_tile, regions.memory.queue[1][3].head), 1, 16},
        {offsetof(wg_tile, regions.niu.unit[1].queue[2]), 1, 4},
    };
    wg_device *dev = make(wg_test_arch(state));
    size_t size = wg_snapshot_size(dev);
    char *bytes = malloc(size);
    assert_int_equal(wg_snapshot(dev, bytes, size), WG_OK);
    const size_t whole = forge_bytes(bytes);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *p = bytes + FORGE_HEADER + fields[i].at - WG_TILE_STATE_OFFSET;
        uint64_t old;
        memcpy(&old, p, sizeof old);
        memcpy(p, &fields[i].value, fields[i].bytes);
        forge_sum(bytes, whole);
        assert_int_equal(wg_restore(dev, bytes, size), WG_ERR_SNAPSHOT);
        assert_non_null(strstr(wg_error(dev), "not of a device that Waitgate ran"));
        memcpy(p, &old, sizeof old);
    }
    forge_sum(bytes, whole);
    assert_int_equal(wg_restore(dev, bytes, size), WG_OK);
    free(bytes);
    wg_destroy(dev);
}

/* Predecoded instructions are not taken from a snapshot: whatever it says, the instructions of its words run. */
static void test_forged_code(void **state)
{
    wg_device *dev = make(wg_test_arch(state)), *other = make(wg_test_arch(state));
    const uint32_t code[] = {0x00108093, 0x00110113, 0x00118193, 0xFF5FF06F}; /* three counters in an endless loop */
    size_t size = wg_snapshot_size(dev);
    char *bytes = malloc(size);
    assert_int_equal(wg_write(dev, 0x1000, code, sizeof code), WG_OK);
    assert_int_equal(wg_core_release(dev, WG_CORE_B, 0x1000), WG_OK);
    assert_int_equal(wg_advance(dev, 100), WG_OK);
    assert_int_equal(wg_snapshot(dev, bytes, size), WG_OK);
    unsigned lines = 0;
    for (unsigned i = 0; i < WG_ICACHE_LINES; i++) {
        wg_icache_line line;
        char *p = bytes + FORGE_HEADER + offsetof(wg_tile, core[WG_CORE_B].icache[i]) - WG_TILE_STATE_OFFSET;
        memcpy(&line, p, sizeof line);
        lines += line.tag != 0;
        for (unsigned n = 0; n <= WG_LINE_OPS; n++) {
            line.op[n].code = 0xFF;
            line.op[n].rd = line.op[n].rs1 = line.op[n].rs2 = line.op[n].rs3 = 0xFE;
        }
        memcpy(p, &line, sizeof line);
    }
    assert_true(lines > 0);
    forge_sum(bytes, forge_bytes(bytes));
    assert_int_equal(wg_restore(other, bytes, size), WG_OK);
    wg_advance(dev, 1000);
    wg_advance(other, 1000);
    assert_true(wg_state_hash(dev) == wg_state_hash(other));
    free(bytes);
    wg_destroy(dev);
    wg_destroy(other);
}

static void test_forged(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const uint64_t runs = wg_test_rounds(400, 40000);
    unsigned taken = 0;
    wg_rng r = {11 + (uint64_t)arch};
    wg_device *dev = make(arch);
    size_t size = wg_snapshot_size(dev);
    char *bytes = malloc(size), *forged = malloc(size);
    for (unsigned i = 0; i < runs; i++) {
        wg_test_round("round", i);
        if (i % 50 == 0) {
            wg_device *from = forge_device(arch, wg_rng_next(&r));
            assert_int_equal(wg_snapshot(from, bytes, size), WG_OK);
            assert_int_equal(wg_restore(dev, bytes, size), WG_OK);
            wg_destroy(from);
        }
        uint8_t numbers[200];
        for (unsigned n = 0; n < sizeof numbers; n++)
            numbers[n] = (uint8_t)wg_rng_next(&r);
        forge f = {numbers, 13 + wg_rng_below(&r, sizeof numbers - 13)};
        memcpy(forged, bytes, forge_bytes(bytes));
        forge_snapshot(&f, forged);
        wg_status status = wg_restore(dev, forged, size);
        assert_true(status == WG_OK || status == WG_ERR_SNAPSHOT);
        taken += status == WG_OK;
        if (status == WG_OK)
            assert_int_equal(wg_advance(dev, 100), WG_OK);
    }
    assert_true(taken > runs / 8 && taken < runs);
    free(bytes);
    free(forged);
    wg_destroy(dev);
}

/*
 * The same for a chip, with packets in flight between tiles and to DRAM: the chip's own state is changed, bit by bit.
 */
static void test_forged_chip(void **state)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    bool bh = desc.arch == WG_ARCH_BH;
    const uint32_t y = bh ? 2 : 1, command = bh ? 0x40 : 0x28, dram = 0;
    for (unsigned x = 1; x < 4; x++) {
        const uint32_t there = x == 1 ? dram : (x - 1) | y << 6, here = x | y << 6;
        const uint32_t regs[][2] = {{0x00, 0x1000}, {bh ? 0x08 : 0x04, bh ? here : here << 4},
                                    {0x0C, 0x2000}, {bh ? 0x14 : 0x10, bh ? there : there << 4},
                                    {0x1C, 0x12},   {0x20, 2048},
                                    {command, 1}};
        for (unsigned i = 0; i < sizeof regs / sizeof *regs; i++)
            assert_int_equal(wg_grid_write(g, x, y, 0xFFB20000u + regs[i][0], &regs[i][1], 4), WG_OK);
    }
    assert_int_equal(wg_grid_advance(g, 60), WG_OK);
    size_t size = wg_grid_snapshot_size(g);
    char *bytes = malloc(size), *forged = malloc(size);
    assert_int_equal(wg_grid_snapshot(g, bytes, size), WG_OK);
    const uint64_t runs = wg_test_rounds(60, 5000);
    unsigned taken = 0;
    wg_rng r = {99};
    for (unsigned i = 0; i < runs; i++) {
        wg_test_round("round", i);
        memcpy(forged, bytes, size);
        for (unsigned n = 1 + wg_rng_below(&r, 4); n; n--)
            forged[96 + wg_rng_below(&r, i % 2 ? 60000 : 200000)] ^= (char)(1 << wg_rng_below(&r, 8));
        forge_sum(forged, size);
        wg_status status = wg_grid_restore(g, forged, size);
        assert_true(status == WG_OK || status == WG_ERR_SNAPSHOT);
        taken += status == WG_OK;
        if (status == WG_OK)
            assert_int_equal(wg_grid_advance(g, 200), WG_OK);
    }
    assert_true(taken > 0);
    assert_int_equal(wg_grid_restore(g, bytes, size), WG_OK);
    bytes[200] ^= 1;
    assert_int_equal(wg_grid_restore(g, bytes, size), WG_ERR_SNAPSHOT); /* the checksum */
    free(bytes);
    free(forged);
    wg_grid_destroy(g);
}

/* The file around a chip's snapshot, forged with a correct checksum: refused, or accepted without harm. */
static void test_forged_chip_file(void **state)
{
    enum {
        SUM = 8,
        VERSION = 16,
        ARCH = 20,
        PROFILE = 24,
        MACHINE = 40,
        HOST = 48,
        NAME = 56,
        NAMES = 4096,
        HOST_BYTES = 64
    };
    const wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    char path[] = "/tmp/wg_chip_XXXXXX", message[256];
    uint8_t host[HOST_BYTES] = {1, 2, 3};
    wg_text error = {0};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    assert_non_null(wg_grid_tile(g, 1, 2));
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_true(wg_saved_chip_write(g, &desc, "chip.yaml", host, sizeof host, path, &error));
    size_t size;
    char *good = (char *)wg_file_read(path, &size, message, sizeof message), *bytes = malloc(size);
    assert_non_null(good);
    const struct {
        size_t at;
        uint64_t value;
        unsigned width;
        bool taken; /* the file itself is valid; the chip inside is not */
    } forged[] = {{VERSION, 0, 0, true},
                  {VERSION, 3, 4, false},
                  {ARCH, 2, 4, false},
                  {ARCH, UINT32_MAX, 4, false},
                  {PROFILE, 2, 4, false},
                  {MACHINE, 0, 8, false},
                  {MACHINE, UINT64_MAX, 8, false},
                  {MACHINE, UINT64_MAX - NAMES, 8, false},
                  {HOST, 0, 8, false},
                  {HOST, UINT64_MAX, 8, false},
                  {NAME + NAMES - 1, 'x', 1, false},
                  {NAME + NAMES, 0, 8, true},
                  {NAME + NAMES + 16, UINT64_MAX, 8, true}};
    for (unsigned i = 0; i < sizeof forged / sizeof *forged; i++) {
        wg_saved_chip c = {0};
        memcpy(bytes, good, size);
        memcpy(bytes + forged[i].at, &forged[i].value, forged[i].width);
        const uint64_t sum = wg_checksum(bytes + SUM + 8, size - SUM - 8);
        memcpy(bytes + SUM, &sum, sizeof sum);
        assert_true(wg_file_write(path, bytes, size, message, sizeof message));
        assert_int_equal(wg_saved_chip_read(&c, path, &error), forged[i].taken);
        if (forged[i].taken)
            assert_int_equal(wg_saved_chip_apply(&c, g, host, sizeof host, &error), i == 0);
        wg_saved_chip_free(&c);
    }
    unlink(path);
    wg_text_free(&error);
    free(good);
    free(bytes);
    wg_grid_destroy(g);
}

static const wg_test tests[] = {
    WG_TEST(test_return_point, WG_BH | WG_WH, ""),     WG_TEST(test_checksum, WG_BH, ""),
    WG_TEST(test_damaged, WG_BH | WG_WH, ""),          WG_TEST(test_forged_field, WG_BH | WG_WH, ""),
    WG_TEST(test_forged_code, WG_BH | WG_WH, ""),      WG_TEST(test_forged, WG_BH | WG_WH, ""),
    WG_TEST(test_forged_chip_file, WG_BH | WG_WH, ""), WG_TEST(test_forged_chip, WG_BH | WG_WH, ""),
    WG_TEST(test_new_process, WG_BH | WG_WH, ""),
};

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--restore") == 0)
        return restore(argv[2], argv[3], argv[4]);
    if (!(self = realpath(argv[0], NULL)))
        return 1;
    return wg_test_main("snapshot", tests, sizeof tests / sizeof tests[0], argc, argv);
}
