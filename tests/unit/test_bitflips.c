/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs with random bits of their instructions and data flipped: the emulator neither crashes nor hangs, and a
 * second run gives the same result. A few hundred seeds; with WG_SOAK=1 ten thousand.
 */
#include "wgtest.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/tasm.h"

enum { MAX_PROGRAMS = 128, CYCLES = 8000, KERNEL_CYCLES = 12000, LOCKSTEP_CYCLES = 1000, SECONDS = 120 };

typedef struct program {
    char name[300];
    uint8_t *source;
    wg_tasm tasm;
} program;

static program programs[MAX_PROGRAMS];
static unsigned count;

static void load_folder(const char *folder, wg_arch_id arch)
{
    char path[600], error[256];
    (void)snprintf(path, sizeof path, "%s/%s", WG_SOURCE_ROOT, folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL && count < MAX_PROGRAMS;) {
        size_t length = strlen(e->d_name), size;
        if (length < 6 || strcmp(e->d_name + length - 5, ".tasm") != 0)
            continue;
        program *p = &programs[count];
        (void)snprintf(p->name, sizeof p->name, "%s", e->d_name);
        (void)snprintf(path, sizeof path, "%s/%s/%s", WG_SOURCE_ROOT, folder, e->d_name);
        p->source = wg_file_read(path, &size, error, sizeof error);
        assert_non_null(p->source);
        if (wg_tasm_parse(&p->tasm, p->name, (const char *)p->source, size, arch) && p->tasm.arch == arch &&
            wg_tasm_link(&p->tasm)) {
            count++;
        } else {
            wg_tasm_free(&p->tasm);
            free(p->source);
        }
    }
    closedir(d);
}

/* One bit in about `one_in` words. */
static uint32_t flip(wg_rng *rng, unsigned one_in, uint32_t word)
{
    return wg_rng_below(rng, one_in) == 0 ? word ^ 1u << wg_rng_below(rng, 32) : word;
}

static void write_flipped(wg_device *dev, wg_rng *rng, unsigned one_in, uint32_t address, const uint8_t *data,
                          size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = 0;
        size_t n = bytes - i < 4 ? bytes - i : 4;
        memcpy(&word, data + i, n);
        word = flip(rng, one_in, word);
        (void)wg_write(dev, address + i, &word, n); /* an address outside L1 is refused, which is fine */
    }
}

static uint64_t run(const program *p, wg_arch_id arch, uint64_t seed, bool lockstep)
{
    wg_rng rng = {seed};
    unsigned one_in = 1 + wg_rng_below(&rng, 60);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .lockstep = lockstep, .seed = seed % 3 ? 0 : seed};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (size_t i = 0; i < p->tasm.blocks; i++)
        write_flipped(dev, &rng, one_in, p->tasm.block[i].address, (const uint8_t *)p->tasm.block[i].bytes.data,
                      p->tasm.block[i].bytes.size);
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_elf *elf = p->tasm.core[core].elf;
        for (size_t i = 0; elf && i < wg_elf_segments(elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, i);
            write_flipped(dev, &rng, one_in, s->address, s->data, s->file_bytes);
        }
        if (elf)
            assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)), WG_OK);
    }
    size_t at[WG_THREADS] = {0, 0, 0};
    uint64_t limit = lockstep ? LOCKSTEP_CYCLES : CYCLES;
    while (wg_cycle(dev) < limit) {
        bool more = false;
        for (unsigned thread = 0; thread < WG_THREADS; thread++) {
            const wg_tasm_stream *s = &p->tasm.stream[thread];
            while (at[thread] < s->words && wg_push(dev, thread, flip(&rng, one_in, s->word[at[thread]].word)) == WG_OK)
                at[thread]++;
            more |= at[thread] < s->words;
        }
        wg_stop stop;
        assert_int_equal(more ? wg_advance(dev, 16) : wg_run(dev, limit - wg_cycle(dev), &stop), WG_OK);
        if (!more)
            break;
    }
    assert_true(wg_cycle(dev) <= limit + 16);
    uint64_t hash = wg_state_hash(dev);
    wg_destroy(dev);
    return hash;
}

static void test_bit_flips(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    uint64_t seeds = wg_test_rounds(150, 10000);
    count = 0;
    load_folder("tests/tasm", arch);
    load_folder("examples", arch);
    assert_true(count > 20);
    WG_TEST_SEEDS(seed, seeds)
    {
        const program *p = &programs[seed * 7 % count];
        alarm(SECONDS); /* if stuck, the suite dies, and the last line says where */
        if (seed % 1000 == 0)
            print_message("%s seed %llu\n", p->name, (unsigned long long)seed);
        uint64_t hash = run(p, arch, seed, false);
        if (seed % 8 == 0)
            assert_true(run(p, arch, seed, false) == hash);
        if (seed % 8 == 1)
            (void)run(p, arch, seed, true);
    }
    alarm(0);
    for (unsigned i = 0; i < count; i++) {
        wg_tasm_free(&programs[i].tasm);
        free(programs[i].source);
    }
}

/* ---- kernels in C: the examples' ELF files, all cores at once ---- */

#ifdef WG_EXAMPLES
static const char *const kernels[] = {"add",      "datacopy_bfp8", "exp",           "launch_l1", "launch_pcbuf",
                                      "matmul",   "mailbox",       "matmul_stream", "reduce",    "sort",
                                      "stale_l0", "tilize",        "untilize"};
static const char *const core_names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
enum { KERNELS = sizeof kernels / sizeof *kernels };
static wg_elf *kernel_elf[KERNELS][WG_CORES];

static uint64_t run_kernel(unsigned kernel, wg_arch_id arch, uint64_t seed, bool lockstep)
{
    wg_rng rng = {seed};
    unsigned one_in = 1 + wg_rng_below(&rng, 300);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .lockstep = lockstep, .seed = seed % 3 ? 0 : seed};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    const uint32_t parameters[7][4] = {{2}, {2}, {2}, {1}, {1}, {0}, {0}};
    write_flipped(dev, &rng, 40, 0x20000, (const uint8_t *)parameters, sizeof parameters);
    for (uint32_t at = 0x30000; at < 0x48000; at += 4) {
        uint32_t word = (uint32_t)wg_rng_next(&rng);
        assert_int_equal(wg_write(dev, at, &word, 4), WG_OK);
    }
    for (unsigned core = 0; core < WG_CORES; core++) {
        const wg_elf *elf = kernel_elf[kernel][core];
        for (size_t i = 0; elf && i < wg_elf_segments(elf); i++) {
            const wg_elf_segment *part = wg_elf_segment_at(elf, i);
            write_flipped(dev, &rng, one_in, part->address, part->data, part->file_bytes);
        }
        if (elf)
            assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)), WG_OK);
    }
    wg_stop stop;
    assert_int_equal(wg_run(dev, lockstep ? LOCKSTEP_CYCLES : KERNEL_CYCLES, &stop), WG_OK);
    assert_true(wg_cycle(dev) <= KERNEL_CYCLES);
    uint64_t hash = wg_state_hash(dev);
    wg_destroy(dev);
    return hash;
}

static void test_kernel_flips(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    uint64_t seeds = wg_test_rounds(100, 10000);
    for (unsigned i = 0; i < KERNELS; i++)
        for (unsigned core = 0; core < WG_CORES; core++) {
            char path[600], error[256];
            (void)snprintf(path, sizeof path, "%s/%s%s.%s.elf", WG_EXAMPLES, arch == WG_ARCH_WH ? "wh_" : "",
                           kernels[i], core_names[core]);
            kernel_elf[i][core] = wg_elf_open_file(path, error, sizeof error);
        }
    WG_TEST_SEEDS(seed, seeds)
    {
        unsigned kernel = (unsigned)(seed % KERNELS);
        alarm(SECONDS);
        if (seed % 1000 == 0)
            print_message("%s seed %llu\n", kernels[kernel], (unsigned long long)seed);
        uint64_t hash = run_kernel(kernel, arch, seed, false);
        if (seed % 8 == 0)
            assert_true(run_kernel(kernel, arch, seed, false) == hash);
        if (seed % 8 == 1)
            (void)run_kernel(kernel, arch, seed, true);
    }
    alarm(0);
    unsigned files = 0;
    for (unsigned i = 0; i < KERNELS; i++)
        for (unsigned core = 0; core < WG_CORES; core++) {
            files += kernel_elf[i][core] != NULL;
            wg_elf_close(kernel_elf[i][core]);
        }
    assert_true(files > 40);
}
#endif

static const wg_test tests[] = {
    WG_TEST(test_bit_flips, WG_BH | WG_WH, ""),
#ifdef WG_EXAMPLES
    WG_TEST(test_kernel_flips, WG_BH | WG_WH, ""),
#endif
};
WG_MAIN("bitflips", tests)
