/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot taken at any cycle and restored in a new process continues identically: this program starts itself again
 * (--restore ARCH FILE CYCLES, which prints the state's hash) and compares.
 */
#include "wgtest.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/tasm.h"

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
            char error[256], command[400], line[80] = "", wanted[80];
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
            (void)snprintf(command, sizeof command, "/proc/%d/exe --restore %s %s %d", (int)getpid(),
                           arch == WG_ARCH_WH ? "wh" : "bh", file, MORE);
            FILE *f = popen(command, "r");
            assert_non_null(f);
            assert_non_null(fgets(line, sizeof line, f));
            assert_int_equal(pclose(f), 0);
            assert_string_equal(line, wanted);
        }
    unlink(file);
}

static const wg_test tests[] = {
    WG_TEST(test_new_process, WG_BH | WG_WH, ""),
};

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--restore") == 0)
        return restore(argv[2], argv[3], argv[4]);
    return wg_test_main("snapshot", tests, sizeof tests / sizeof tests[0], argc, argv);
}
