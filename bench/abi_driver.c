/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Micro kernels on a library with the libttsim ABI, ours or another: `name value unit` lines, instructions per second
 * of processor time spent in libttsim_clock. bench/run.py runs it on one library after the other.
 *
 * usage: abi_driver LIBRARY KERNELS [NAME…]       (KERNELS: the folder with alu.bin, mem.bin, mop.bin)
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Addresses of a tile as the host sees them; T cores start at their reset vectors' default. */
enum { PARAMETERS = 0x1000, PARAMETER_STEP = 0x100, CODE = 0x6000, CODE_STEP = 0x4000 };
enum { SOFT_RESET = 0x1B0, ALL_CORES = 0x47800, CORE_B = 1 << 11, CORE_T0 = 1 << 12 };
static const uint64_t debug_regs = 0xFFB12000;

static struct {
    void (*init)(void), (*exit)(void), (*clock)(uint32_t n);
    uint32_t (*config)(uint32_t device, uint32_t offset);
    void (*read)(uint64_t address, void *to, uint32_t bytes);
    void (*write)(uint64_t address, const void *from, uint32_t bytes);
    uint64_t bar;
    int wormhole;
} lib;

static void fail(const char *what, const char *more)
{
    fprintf(stderr, "abi_driver: %s%s\n", what, more);
    exit(1);
}

static void *symbol(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    if (!found)
        fail("the library has no ", name);
    return found;
}

/* Points window 0 at the page of the first worker tile; returns the BAR address. */
static uint64_t window(uint64_t address)
{
    uint64_t bytes = lib.wormhole ? 1 << 20 : 1 << 21, page = address / bytes;
    uint32_t words[3] = {(uint32_t)page, (uint32_t)(page >> 32) | 1 << 11 | 2 << 17, 1 << 6};
    if (lib.wormhole) {
        uint64_t value = page | 1 << 16 | 1 << 22 | UINT64_C(1) << 42;
        words[0] = (uint32_t)value;
        words[1] = (uint32_t)(value >> 32);
    }
    for (unsigned i = 0; i < (lib.wormhole ? 2 : 3); i++)
        lib.write(lib.bar + 0x1FC00000 + 4 * i, &words[i], 4);
    return lib.bar + address % bytes;
}

static void write_word(uint64_t address, uint32_t value) { lib.write(window(address), &value, 4); }
static uint32_t read_word(uint64_t address)
{
    uint32_t value = 0;
    lib.read(window(address), &value, 4);
    return value;
}

static void load(const char *folder, const char *name, uint64_t address)
{
    char path[1024];
    uint8_t code[4096] = {0};
    (void)snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    FILE *f = fopen(path, "rb");
    size_t bytes = f ? fread(code, 1, sizeof code, f) : 0;
    if (f)
        (void)fclose(f);
    if (!bytes)
        fail("cannot read ", path);
    lib.write(window(address), code, (uint32_t)((bytes + 3) & ~3u));
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Releases the cores and lets time pass until each has written its 1; the seconds spent in the clock. */
static double run(uint32_t cores, unsigned count)
{
    double spent = 0;
    write_word(debug_regs + SOFT_RESET, ALL_CORES & ~cores);
    for (unsigned done = 0; done < count;) {
        double from = processor_seconds();
        lib.clock(2000);
        spent += processor_seconds() - from;
        while (done < count && read_word(PARAMETERS + done * PARAMETER_STEP + 4) == 1)
            done++;
        if (spent > 100)
            fail("a kernel does not end", "");
    }
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    return spent;
}

static void on_core_b(const char *folder, const char *name, unsigned instructions, uint32_t passes)
{
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    load(folder, name, 0);
    write_word(PARAMETERS, passes);
    write_word(PARAMETERS + 4, 0);
    printf("abi_%s_%s %.2f Minsn/s\n", name, lib.wormhole ? "wh" : "bh",
           (double)instructions * passes / run(CORE_B, 1) * 1e-6);
}

/* MOPs of `word` from `threads` T cores (T1 alone if it is one). */
static void on_threads(const char *folder, const char *name, unsigned threads, uint32_t word, const uint32_t *first,
                       uint32_t mops)
{
    uint32_t cores = 0;
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    for (unsigned i = 0; i < threads; i++) {
        unsigned core = threads == 1 ? 1 : i;
        uint32_t code = CODE + core * CODE_STEP, parameters = PARAMETERS + i * PARAMETER_STEP;
        load(folder, "mop", code);
        write_word(code - 4, parameters);
        write_word(parameters, mops);
        write_word(parameters + 4, 0);
        write_word(parameters + 8, word);
        unsigned n = 0;
        for (; first && first[n]; n++)
            write_word(parameters + 16 + 4 * n, first[n]);
        write_word(parameters + 16 + 4 * n, 0);
        cores |= CORE_T0 << core;
    }
    double seconds = run(cores, threads);
    printf("abi_%s_%s %.2f Minsn/s\n", name, lib.wormhole ? "wh" : "bh", 64.0 * mops * threads / seconds * 1e-6);
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 4;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: abi_driver LIBRARY KERNELS [NAME…]", "");
    void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail("", dlerror());
    *(void **)&lib.init = symbol(handle, "libttsim_init");
    *(void **)&lib.exit = symbol(handle, "libttsim_exit");
    *(void **)&lib.clock = symbol(handle, "libttsim_clock");
    *(void **)&lib.config = symbol(handle, "libttsim_pci_config_rd32");
    *(void **)&lib.read = symbol(handle, "libttsim_pci_mem_rd_bytes");
    *(void **)&lib.write = symbol(handle, "libttsim_pci_mem_wr_bytes");
    lib.init();
    uint32_t device = lib.config(0, 0) >> 16;
    if (device != 0xB140 && device != 0x401E)
        fail("the library is no Blackhole and no Wormhole", "");
    lib.wormhole = device == 0x401E;
    lib.bar = (lib.config(0, 0x10) | (uint64_t)lib.config(0, 0x14) << 32) & ~UINT64_C(15);
    if (wanted("alu", argc, argv))
        on_core_b(argv[2], "alu", 8, 500000);
    if (wanted("mem", argc, argv))
        on_core_b(argv[2], "mem", 6, 200000);
    if (wanted("nop", argc, argv))
        on_threads(argv[2], "nop", 1, 0x02000000, NULL, 16000);
    if (wanted("nop_3_threads", argc, argv))
        on_threads(argv[2], "nop_3_threads", 3, 0x02000000, NULL, 8000);
    /* SFPENCC enables all lanes; SFPLOADI gives the operands; SFPMAD L0 = L1 * L2 + L3. */
    static const uint32_t operands[] = {0x8A00300A, 0x71103FC1, 0x71204049, 0x7130BF13, 0};
    if (wanted("sfpmad", argc, argv))
        on_threads(argv[2], "sfpmad", 1, 0x84012300, operands, 8000);
    lib.exit();
    return 0;
}
