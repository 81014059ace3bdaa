/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Micro kernels on a library with the libttsim ABI, ours or another: `name value unit` lines, instructions per second
 * of processor time spent in libttsim_clock. bench/run.py runs it on one library after another.
 *
 * usage: abi_driver LIBRARY KERNELS [NAME…]       (KERNELS: the folder with alu.bin, mem.bin, mop.bin)
 *
 * Without names it measures everything except the jobs (`job_*`), since a library may end the process at a job that it does not
 * support.
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

/* Releases the cores and advances time until each has written its 1; returns the seconds spent in the clock. */
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

/* MOPs of `word` (and `second`, if it is not 0: pairs count as one) from `threads` T cores (T1 alone if it is one). */
static void on_threads(const char *folder, const char *name, unsigned threads, uint32_t word, uint32_t second,
                       const uint32_t *first, uint32_t mops)
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
        write_word(parameters + 12, second);
        unsigned n = 0;
        for (; first && first[n]; n++)
            write_word(parameters + 16 + 4 * n, first[n]);
        write_word(parameters + 16 + 4 * n, 0);
        cores |= (uint32_t)CORE_T0 << core;
    }
    double seconds = run(cores, threads);
    printf("abi_%s_%s %.2f Minsn/s\n", name, lib.wormhole ? "wh" : "bh", 64.0 * mops * threads / seconds * 1e-6);
}

/* The host's share: words and pages through a window, and clocks of an idle chip. */
static void host_side(void)
{
    enum { WORDS = 400000, PAGES = 20000, CLOCKS = 1000000 };
    static uint8_t page[4096];
    const char *on = lib.wormhole ? "wh" : "bh";
    uint64_t at = window(0);
    uint32_t word = 0;
    double from = processor_seconds();
    for (unsigned i = 0; i < WORDS; i++)
        lib.read(at + 4 * (i & 0xFFFF), &word, 4);
    printf("abi_bar_read_%s %.2f Mread/s\n", on, WORDS / (processor_seconds() - from) * 1e-6);
    from = processor_seconds();
    for (unsigned i = 0; i < WORDS; i++)
        lib.write(at + 4 * (i & 0xFFFF), &word, 4);
    printf("abi_bar_write_%s %.2f Mwrite/s\n", on, WORDS / (processor_seconds() - from) * 1e-6);
    from = processor_seconds();
    for (unsigned i = 0; i < PAGES; i++)
        lib.write(at + 4096 * (i & 63), page, sizeof page);
    printf("abi_bar_write_4k_%s %.2f GB/s\n", on, PAGES * 4096.0 / (processor_seconds() - from) * 1e-9);
    from = processor_seconds();
    for (unsigned i = 0; i < PAGES; i++)
        lib.read(at + 4096 * (i & 63), page, sizeof page);
    printf("abi_bar_read_4k_%s %.2f GB/s\n", on, PAGES * 4096.0 / (processor_seconds() - from) * 1e-9);
    from = processor_seconds();
    lib.clock(CLOCKS);
    printf("abi_idle_clock_%s %.4f Mclock/s\n", on, CLOCKS / (processor_seconds() - from) * 1e-6);
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 4;
}

/* ---- Matrix and Vector Unit ---- */

typedef struct list {
    uint32_t word[56];
    unsigned count;
} list;

static void add(list *l, uint32_t word)
{
    if (l->count < 55)
        l->word[l->count++] = word;
}
/* SETC16 of a thread configuration word, RMWCIB of one byte of Config. */
static void add_thread_config(list *l, unsigned word, unsigned value) { add(l, 0xB2000000u | word << 16 | value); }
static void add_config(list *l, unsigned word, unsigned byte, unsigned mask, unsigned value)
{
    add(l, (0xB3000000u + (byte << 24)) | mask << 16 | value << 8 | word);
}

/*
 * Both sources belong to the Matrix Unit (`first`: not yet), 16 rows of SrcA and 8 of SrcB hold numbers, and address
 * modifier 0 advances by eight rows of Dst and `phases` fidelity phases: no instruction waits for the previous one.
 */
static list matrix_setup(unsigned format, int integers, unsigned phases, int first)
{
    enum { SFPENCC_ON = 0x8A00300A, SETDVALID_BOTH = 0x57000003, MOVE_4 = 2 << 12 };
    enum { UNPACR_NOP_A = 0x43000101, UNPACR_NOP_B = 0x43800101 }; /* BH: clear, then set valid */
    list l = {.count = 0};
    add(&l, SFPENCC_ON);
    for (unsigned i = 0; i < 4; i++)
        add(&l, integers ? 0x71020000u | i << 20 | (i * 29 + 3) << 5 | 16
                         : 0x71000000u | i << 20 | (i & 1) << 15 | (0x3F81 + i * 55));
    for (unsigned group = 0; group < 4; group++) /* 16 rows of Dst, even and odd columns */
        for (unsigned odd = 0; odd < 2; odd++)
            add(&l, 0x72000000u | (integers ? 6u : 2u) << 16 | ((group + odd) & 3) << 20 | group * 4 | odd * 2);
    if (!lib.wormhole) {
        add_thread_config(&l, 2, 1); /* no implied formats */
        add_thread_config(&l, 3, 1);
    }
    unsigned filled = integers ? 1 : format; /* integers are moved as FP16 */
    add_config(&l, 1, 2, 0xFE, (filled << 1 | filled << 5) & 0xFF);
    add_config(&l, 1, 3, 0xA1, filled >> 3);
    if (first && lib.wormhole) {
        add(&l, SETDVALID_BOTH);
    } else if (first) {
        add(&l, UNPACR_NOP_A);
        add(&l, UNPACR_NOP_B);
    }
    for (unsigned row = 0; row < 16; row += 4)
        add(&l, 0x08000000u | row << 17 | MOVE_4 | row);
    for (unsigned row = 0; row < 8; row += 4)
        add(&l, 0x0A000000u | row << 17 | MOVE_4 | row);
    add_config(&l, 1, 2, 0xFE, (format << 1 | format << 5) & 0xFF);
    add_config(&l, 1, 3, 0xA1, format >> 3 | (integers ? 0x80u : 0));
    add_thread_config(&l, lib.wormhole ? 7 : 12, 0);
    add_thread_config(&l, lib.wormhole ? 23 : 28, 8 | phases << 13);
    return l;
}

static void math(int argc, char **argv)
{
    enum { BF16 = 5, INT8 = 14, MVMUL = 0x26000000, ELWMUL = 0x27000000, SFPLOAD = 0x70020000, SFPSTORE = 0x72120040 };
    static const struct {
        const char *name;
        uint32_t word;
        unsigned format, phases, mops;
    } matrix[] = {
        {"mvmul_bf16_lofi", MVMUL, BF16, 0, 800},
        {"mvmul_bf16_hifi4", MVMUL, BF16, 1, 800},
        {"mvmul_int8", MVMUL, INT8, 0, 800},
        {"elwmul_bf16", ELWMUL, BF16, 0, 1500},
    };
    int first = 1;
    for (unsigned i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        list l = matrix_setup(matrix[i].format, matrix[i].format == INT8, matrix[i].phases, first);
        if (!wanted(matrix[i].name, argc, argv))
            continue;
        on_threads(argv[2], matrix[i].name, 1, matrix[i].word, 0, l.word, matrix[i].mops);
        first = 0;
    }
    list l = matrix_setup(BF16, 0, 0, first);
    if (wanted("sfpload_sfpstore", argc, argv))
        on_threads(argv[2], "sfpload_sfpstore", 1, SFPLOAD, SFPSTORE, l.word, 4000);
}

/* A kernel for B and the T cores, with parameters in L1: the seconds spent until the words `done` hold 1. */
enum { PARAMETER = 0x20000, DONE = 8, IN0 = 0x30000, IN1 = 0x31000, OUT = 0x32000, MATRIX = 0x40000 };
static double four_cores(const char *folder, const char *name, const uint32_t *parameters, unsigned count,
                         unsigned dones)
{
    static const char *const core[] = {"trisc0", "trisc1", "trisc2", "brisc"};
    char file[64];
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(file, sizeof file, "%s_%s_%s", name, lib.wormhole ? "wh" : "bh", core[i]);
        load(folder, file, i < 3 ? CODE + i * CODE_STEP : 0);
    }
    for (uint32_t i = 0; i < 512; i++) {
        write_word(IN0 + 4 * i, 0x3F803F80 + i * 0x00130007 % 0x7F007F);
        write_word(IN1 + 4 * i, 0xBF803F80 + i * 0x00050011 % 0x7F007F);
    }
    for (unsigned i = 0; i < count; i++)
        write_word(PARAMETER + 16 * i, parameters[i]);
    for (unsigned i = 0; i < dones; i++)
        write_word(PARAMETER + 16 * (DONE + i), 0);
    double spent = 0;
    write_word(debug_regs + SOFT_RESET, ALL_CORES & ~(CORE_B | CORE_T0 | CORE_T0 << 1 | CORE_T0 << 2));
    for (unsigned i = 0; i < dones;) {
        double from = processor_seconds();
        lib.clock(2000);
        spent += processor_seconds() - from;
        while (i < dones && read_word(PARAMETER + 16 * (DONE + i)) == 1)
            i++;
        if (spent > 100)
            fail("a kernel does not end", "");
    }
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    return spent;
}

/* Whole products of 32 x 32 tiles: T0 unpacks, T1 multiplies, T2 packs (examples/matmul.c). */
static void tile_products(const char *folder, const char *name, uint32_t passes, uint32_t tiles)
{
    double spent = four_cores(folder, "matmul", (const uint32_t[]){passes, tiles}, 2, 1);
    printf("abi_%s_%s %.5f Mtiles/s\n", name, lib.wormhole ? "wh" : "bh", tiles / spent * 1e-6);
}

/* Tiles unpacked, packed, and both at the same time, per format (kernels/tiles.c). */
static void tiles_moved(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t l1, src, dst, bytes, exponents, lines;
    } formats[] = {
        {"bf16", 5, 5, 5, 2, 0, 32}, {"fp32", 0, 4, 0, 4, 0, 64},    {"bfp8", 6, 6, 5, 2, 4, 16},
        {"bfp4", 7, 7, 5, 2, 4, 8},  {"int8", 14, 14, 14, 4, 0, 16},
    };
    static const char *const ways[] = {"", "unpacked", "packed", "both_ways"};
    char name[64];
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        for (uint32_t way = 1; way < 4; way++) {
            uint32_t tiles = 10000;
            (void)snprintf(name, sizeof name, "tiles_%s_%s", ways[way], formats[i].name);
            if (!wanted(name, argc, argv) && !wanted("tiles", argc, argv))
                continue;
            const uint32_t parameters[] = {way,
                                           tiles / 25,
                                           formats[i].l1,
                                           formats[i].src,
                                           formats[i].dst,
                                           formats[i].bytes,
                                           formats[i].exponents,
                                           formats[i].lines};
            double spent = four_cores(argv[2], "tiles", parameters, 8, 2);
            printf("abi_%s_%s %.5f Mtiles/s\n", name, lib.wormhole ? "wh" : "bh", tiles / spent * 1e-6);
        }
}

/* ---- Jobs: what a suite of tests does, over and over ------------------------------------------------ */

/* As in kernels/job.c; CLOCKS: the clocks that a polling host lets pass after each read. */
enum { FRAME = 0x21000, COMMAND = FRAME, COUNT = FRAME + 32, DONE_T0 = FRAME + 48, ARGUMENTS = FRAME + 128 };
enum { START = 1, STOP = 2, READY = 0xB0, COMPLETE = 0xFF, CLOCKS = 1, MOST_READS = 1000000 };

static void poll(uint64_t address, uint32_t value)
{
    for (unsigned i = 0; i < MOST_READS; i++) {
        uint32_t word = read_word(address);
        lib.clock(CLOCKS);
        if (word == value)
            return;
    }
    fail("a job does not end", "");
}

typedef struct image {
    uint32_t at, bytes;
    uint8_t code[8192];
} image;

static void load_job(const char *folder, const char *name, image *of)
{
    static const char *const core[] = {"trisc0", "trisc1", "trisc2", "brisc"};
    char path[1024];
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s/job_%s_%s_%s.bin", folder, name, lib.wormhole ? "wh" : "bh", core[i]);
        FILE *f = fopen(path, "rb");
        of[i].at = i < 3 ? CODE + i * CODE_STEP : 0;
        of[i].bytes = f ? ((uint32_t)fread(of[i].code, 1, sizeof of[i].code, f) + 3) & ~3u : 0;
        if (f)
            (void)fclose(f);
        if (!of[i].bytes || of[i].bytes >= sizeof of[i].code)
            fail("cannot read ", path);
    }
}

/* One job from its code to its results: reset, boot, start, wait, read, stop. */
static void job(const image *of, const uint32_t *parameters, const uint32_t (*in)[1024], uint32_t *out)
{
    write_word(debug_regs + SOFT_RESET, ALL_CORES);
    for (unsigned i = 0; i < 4; i++)
        lib.write(window(of[i].at), of[i].code, of[i].bytes);
    for (unsigned i = 0; i < 2; i++) {
        lib.write(window(IN0 + i * 0x1000), in[i], sizeof in[i]);
        write_word(PARAMETER + 16 * i, parameters[i]);
    }
    lib.write(window(MATRIX), in, 2 * sizeof *in);
    write_word(COUNT, 0);
    write_word(debug_regs + SOFT_RESET, ALL_CORES & ~CORE_B);
    poll(COUNT, READY);
    write_word(COMMAND, START);
    poll(COUNT, 1);
    for (unsigned i = 0; i < 3; i++)
        poll(DONE_T0 + 16 * i, COMPLETE);
    lib.read(window(OUT), out, 4096);
    write_word(COMMAND + 16, STOP);
    poll(COUNT, 2);
}

static void jobs(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t parameters[2];
    } all[] = {{"datacopy", {0}}, {"add", {0}},  {"reduce", {0}},    {"tilize", {2}}, {"untilize", {0}},
               {"gelu", {0}},     {"sort", {0}}, {"matmul", {2, 2}}, {"compute", {0}}};
    enum { JOBS = 50 };
    static image of[4];
    static uint32_t in[2][1024], out[1024];
    char name[64];
    for (unsigned i = 0; i < 2048; i++)
        in[i / 1024][i % 1024] = 0x3F803F80 + i * 0x00130007 % 0x7F007F;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        (void)snprintf(name, sizeof name, "job_%s", all[i].name);
        if (argc < 4 || (!wanted(name, argc, argv) && !wanted("jobs", argc, argv)))
            continue;
        load_job(argv[2], all[i].name, of);
        job(of, all[i].parameters, in, out);
        double from = processor_seconds();
        for (unsigned n = 0; n < JOBS; n++)
            job(of, all[i].parameters, in, out);
        printf("abi_%s_%s %.6g jobs/s\n", name, lib.wormhole ? "wh" : "bh", JOBS / (processor_seconds() - from));
    }
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
    if (wanted("host", argc, argv))
        host_side();
    if (wanted("alu", argc, argv))
        on_core_b(argv[2], "alu", 8, 500000);
    if (wanted("mem", argc, argv))
        on_core_b(argv[2], "mem", 6, 200000);
    if (wanted("nop", argc, argv))
        on_threads(argv[2], "nop", 1, 0x02000000, 0, NULL, 16000);
    if (wanted("nop_3_threads", argc, argv))
        on_threads(argv[2], "nop_3_threads", 3, 0x02000000, 0, NULL, 8000);
    /* SFPENCC enables all lanes; SFPLOADI gives the operands; SFPMAD L0 = L1 * L2 + L3. */
    static const uint32_t operands[] = {0x8A00300A, 0x71103FC1, 0x71204049, 0x7130BF13, 0};
    if (wanted("sfpmad", argc, argv))
        on_threads(argv[2], "sfpmad", 1, 0x84012300, 0, operands, 8000);
    math(argc, argv);
    if (wanted("tile_product_lofi", argc, argv))
        tile_products(argv[2], "tile_product_lofi", 1, 3000);
    if (wanted("tile_product_hifi4", argc, argv))
        tile_products(argv[2], "tile_product_hifi4", 4, 1000);
    tiles_moved(argc, argv);
    jobs(argc, argv);
    lib.exit();
    return 0;
}
