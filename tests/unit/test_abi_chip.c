/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chip through the libttsim ABI: DRAM, host memory, kernels on several tiles that use the NoC, started by a
 * multicast window as hosts do it.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rvasm.h"
#include "ttsim_host.h"

static uint8_t host_memory[1 << 16];

static void host_read(uint64_t address, void *to, uint32_t bytes)
{
    if (address + bytes <= sizeof host_memory)
        memcpy(to, host_memory + address, bytes);
}

static void host_write(uint64_t address, const void *from, uint32_t bytes)
{
    if (address + bytes <= sizeof host_memory)
        memcpy(host_memory + address, from, bytes);
}

static lib start_with_memory(void **state)
{
    lib l = load(wg_test_arch(state));
    l.callbacks(host_read, host_write);
    l.init();
    l.bar0 = ((uint64_t)l.config_read(0, 0x14) << 32 | l.config_read(0, 0x10)) & ~UINT64_C(15);
    return l;
}

static void at(lib *l, unsigned x, unsigned y)
{
    l->x = x;
    l->y = y;
}

/* NIU registers: where they differ between the architectures. */
typedef struct niu {
    uint32_t data, command, reads, acks;
} niu;
static niu niu_of(const lib *l)
{
    return l->arch == WG_ARCH_BH ? (niu){0x28, 0x40, 0x208, 0x204} : (niu){0x24, 0x28, 0x208, 0x204};
}

/* Address and coordinates of one side of a request; T0 points at the NIU. */
static void side(rv *p, const lib *l, int offset, unsigned x, unsigned y, uint64_t address)
{
    uint32_t xy = x | y << 6, high = (uint32_t)(address >> 32);
    rv_li(p, A0, (uint32_t)address);
    rv_sw(p, A0, offset, T0);
    rv_li(p, A0, l->arch == WG_ARCH_BH ? high : high | xy << 4);
    rv_sw(p, A0, offset + 4, T0);
    if (l->arch == WG_ARCH_BH) {
        rv_li(p, A0, xy);
        rv_sw(p, A0, offset + 8, T0);
    }
}

/* Starts the request and waits until the counter at `counter` has changed. */
static void request(rv *p, const lib *l, uint32_t control, uint32_t bytes, uint32_t counter)
{
    rv_lw(p, A3, (int)counter, T0);
    rv_sw(p, ZERO, 0x18, T0);
    rv_li(p, A0, control);
    rv_sw(p, A0, 0x1C, T0);
    rv_li(p, A0, bytes);
    rv_sw(p, A0, 0x20, T0);
    rv_li(p, A0, 1);
    rv_sw(p, A0, (int)niu_of(l).command, T0);
    unsigned wait = p->n;
    rv_lw(p, A2, (int)counter, T0);
    rv_beq(p, A2, A3, wait);
}

enum { READ = 0x10, WRITE = 0x12 };

static void read_request(rv *p, const lib *l, unsigned x, unsigned y, uint64_t from, uint32_t to, uint32_t bytes)
{
    side(p, l, 0, x, y, from);
    side(p, l, 0xC, l->x, l->y, to);
    request(p, l, READ, bytes, niu_of(l).reads);
}

static void write_request(rv *p, const lib *l, uint32_t from, unsigned x, unsigned y, uint64_t to, uint32_t bytes)
{
    side(p, l, 0, l->x, l->y, from);
    side(p, l, 0xC, x, y, to);
    request(p, l, WRITE, bytes, niu_of(l).acks);
}

static void boot(lib *l, const rv *p)
{
    put32(l, SOFT_RESET, CORES_IN_RESET);
    put(l, p->base, p->word, 4 * p->n);
    put32(l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
}

static bool wait_for(lib *l, uint64_t address, uint32_t value)
{
    for (unsigned i = 0; i < 200; i++) {
        if (get32(l, address) == value)
            return true;
        l->clock(100);
    }
    return false;
}

/*
 * One window to all Tensix tiles: hold them in reset, load the program, release them. Each records its coordinates and
 * increments one counter.
 */
static void test_multicast_start(void **state)
{
    enum { ID = 0x2000, COUNTER = 0x3000 };
    lib l = start(state);
    bool bh = l.arch == WG_ARCH_BH;
    uint64_t regs = l.bar0 + 0x1FC00000, room = bh ? 1 << 21 : 1 << 20;
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFB20000);
    rv_lw(&p, A1, bh ? 0x44 : 0x2C, T0); /* NOC_NODE_ID */
    rv_li(&p, A2, ID);
    rv_sw(&p, A1, 0, A2);
    rv_li(&p, T0, 0xFFB20000);
    side(&p, &l, 0, bh ? 1 : 18, bh ? 2 : 18, COUNTER); /* a posted increment at the first tile */
    rv_li(&p, A0, 1);
    rv_sw(&p, A0, 0x1C, T0);
    rv_li(&p, A0, 0x1000 | 31 << 2);
    rv_sw(&p, A0, 0x20, T0);
    rv_li(&p, A0, 1);
    rv_sw(&p, A0, (int)niu_of(&l).data, T0);
    rv_sw(&p, A0, (int)niu_of(&l).command, T0);
    rv_done(&p);
    const struct {
        uint64_t address;
        const void *data;
        uint32_t bytes;
    } steps[] = {{SOFT_RESET, &(uint32_t){CORES_IN_RESET}, 4},
                 {0, p.word, 4 * p.n},
                 {SOFT_RESET, &(uint32_t){CORES_IN_RESET & ~RESET_B}, 4}};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t page = steps[i].address / room;
        if (bh) { /* 1-2 to 16-11 */
            uint32_t mid = (uint32_t)(page >> 32) | 16 << 11 | 11 << 17 | 1 << 23 | 2u << 29;
            uint32_t words[3] = {(uint32_t)page, mid, 1 << 5};
            for (unsigned k = 0; k < 3; k++)
                l.write(regs + 12 + 4 * k, &words[k], 4);
        } else { /* 18-18 to 25-27 */
            uint64_t config = page | UINT64_C(25) << 16 | UINT64_C(27) << 22 | UINT64_C(18) << 28 | UINT64_C(18) << 34 |
                              UINT64_C(1) << 41;
            l.write(regs + 8, &config, 8);
        }
        l.write(l.bar0 + room + steps[i].address % room, steps[i].data, steps[i].bytes);
    }
    l.clock(5000);
    at(&l, bh ? 1 : 18, bh ? 2 : 18);
    assert_int_equal(get32(&l, COUNTER), bh ? 140 : 80);
    for (unsigned y = bh ? 2 : 18; y <= (bh ? 11 : 27); y++)
        for (unsigned x = bh ? 1 : 18; x <= (bh ? 16 : 25); x++)
            if (!bh || (x != 8 && x != 9)) {
                at(&l, x, y);
                uint32_t id = get32(&l, ID);
                assert_int_equal(id >> 12 & 0x7F, bh ? 17 : 10);
                if (bh)
                    assert_int_equal(id & 0xFFF, x | y << 6);
            }
    end(&l);
}

/* DRAM holds data written through a window, on every tile of the channel. */
static void test_dram(void **state)
{
    lib l = start_with_memory(state);
    bool bh = l.arch == WG_ARCH_BH;
    uint8_t data[5000], back[5000];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 11);
    at(&l, 0, bh ? 3 : 5);
    put(&l, 0x12345678, data, sizeof data);
    at(&l, 0, bh ? 10 : 7);
    memset(back, 0, sizeof back);
    l.read(aim(&l, 0x12345678), back, sizeof back);
    assert_memory_equal(data, back, sizeof back);
    at(&l, 0, 0);
    assert_int_equal(get32(&l, 0x12345678), 0);
    end(&l);
}

/* A kernel reads host memory through the PCI Express tile, adds, and writes it back. */
static void test_noc_reaches_host_memory(void **state)
{
    lib l = start_with_memory(state);
    bool bh = l.arch == WG_ARCH_BH;
    unsigned px = bh ? 2 : 0, py = bh ? 0 : 3;
    uint64_t window = bh ? 0 : UINT64_C(0x800000000);
    memset(host_memory, 0, sizeof host_memory);
    uint32_t words[2] = {40, 2}, sum = 0;
    memcpy(host_memory + 0x1000, words, 8);
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFB20000);
    read_request(&p, &l, px, py, window + 0x1000, 0x20000, 64);
    rv_li(&p, T1, 0x20000);
    rv_lw(&p, A0, 0, T1);
    rv_lw(&p, A1, 4, T1);
    rv_add(&p, A0, A0, A1);
    rv_sw(&p, A0, 0x40, T1);
    rv_fence(&p);
    write_request(&p, &l, 0x20040, px, py, window + 0x2000, 64);
    rv_li(&p, A0, 0xD0E);
    rv_sw(&p, A0, 0x80, T1);
    rv_done(&p);
    boot(&l, &p);
    assert_true(wait_for(&l, 0x20080, 0xD0E));
    memcpy(&sum, host_memory + 0x2000, 4);
    assert_int_equal(sum, 42);
    end(&l);
}

/* DRAM to L1, a neighbour's L1, and back to DRAM: two tiles, started by one multicast write. */
/*
 * A callback that calls the library: releasing the card takes effect when the card's work is done; everything else is
 * refused.
 */
static lib called;
static unsigned calls;
static void reenter(uint64_t address, void *to, uint32_t bytes)
{
    uint32_t word = 0xFFFFFFFF;
    calls++;
    called.clock(10);
    called.init();
    called.read(called.bar0, &word, 4);
    assert_int_equal(word, 0);
    called.write(called.bar0, &word, 4);
    assert_int_equal(called.config_read(0, 0), UINT32_MAX);
    called.exit();
    called.exit();
    host_read(address, to, bytes);
}

static void test_exit_in_callback(void **state)
{
    lib l = start_with_memory(state);
    bool bh = l.arch == WG_ARCH_BH;
    unsigned px = bh ? 2 : 0, py = bh ? 0 : 3;
    uint64_t window = bh ? 0 : UINT64_C(0x800000000);
    memset(host_memory, 0, sizeof host_memory);
    uint32_t words[2] = {40, 2};
    memcpy(host_memory + 0x1000, words, 8);
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFB20000);
    read_request(&p, &l, px, py, window + 0x1000, 0x20000, 64);
    rv_done(&p);
    boot(&l, &p);
    called = l;
    calls = 0;
    l.callbacks(reenter, host_write);
    for (unsigned i = 0; i < 100 && !calls; i++)
        l.clock(100);
    assert_int_equal(calls, 1);
    assert_int_equal(l.config_read(0, 0), UINT32_MAX); /* the card is gone */
    l.clock(100);
    l.callbacks(host_read, host_write);
    l.init();
    assert_int_equal(l.config_read(0, 0) & 0xFFFF, 0x1E52);
    end(&l);
}

static void test_two_tiles(void **state)
{
    lib l = start_with_memory(state);
    bool bh = l.arch == WG_ARCH_BH;
    unsigned y = bh ? 2 : 1;
    at(&l, 0, 0);
    for (uint32_t i = 0; i < 16; i++)
        put32(&l, 0x100000 + 4 * i, 1000 + i);
    at(&l, 1, y);
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFB20000);
    read_request(&p, &l, 0, 0, 0x100000, 0x20000, 64);
    write_request(&p, &l, 0x20000, 2, y, 0x20000, 64);
    rv_done(&p);
    put32(&l, SOFT_RESET, CORES_IN_RESET);
    put(&l, 0, p.word, 4 * p.n);
    at(&l, 2, y);
    p = rv_at(0);
    rv_li(&p, T0, 0xFFB20000);
    rv_li(&p, T1, 0x20000);
    rv_li(&p, A1, 1015);
    unsigned wait = p.n;
    rv_fence(&p);
    rv_lw(&p, A0, 60, T1);
    rv_bne(&p, A0, A1, wait);
    write_request(&p, &l, 0x20000, 0, 0, 0x200000, 64);
    rv_li(&p, A0, 0xD0E);
    rv_sw(&p, A0, 0x80, T1);
    rv_done(&p);
    put32(&l, SOFT_RESET, CORES_IN_RESET);
    put(&l, 0, p.word, 4 * p.n);
    /* Both are released by the same write. */
    uint64_t regs = l.bar0 + 0x1FC00000, page = SOFT_RESET >> (bh ? 21 : 20);
    if (bh) {
        uint32_t words[3] = {(uint32_t)page, 2 << 11 | y << 17 | 1 << 23 | y << 29, 1 << 5 | y >> 3};
        for (unsigned i = 0; i < 3; i++)
            l.write(regs + 4 * i, &words[i], 4);
    } else {
        uint64_t config =
            page | UINT64_C(2) << 16 | (uint64_t)y << 22 | UINT64_C(1) << 28 | (uint64_t)y << 34 | UINT64_C(1) << 41;
        l.write(regs, &config, 8);
    }
    uint32_t released = CORES_IN_RESET & ~RESET_B;
    l.write(l.bar0 + (SOFT_RESET & (bh ? 0x1FFFFF : 0xFFFFF)), &released, 4);
    assert_true(wait_for(&l, 0x20080, 0xD0E));
    at(&l, 0, 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(get32(&l, 0x200000 + 4 * i), 1000 + i);
    end(&l);
}

/* The same with more host threads, and in a forked child whose parent had started threads. */
static void test_threads_and_fork(void **state)
{
    setenv("WAITGATE_THREADS", "3", 1);
    test_two_tiles(state);
    lib l = start_with_memory(state);
    at(&l, 1, 2);
    put32(&l, 0, 0x0000006F);
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
    l.clock(500);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        l.clock(500);
        _exit(get32(&l, DEBUG_REGS + 0x1F0) == 1000 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 500);
    end(&l);
    unsetenv("WAITGATE_THREADS");
}

static void test_harvested(void **state)
{
    setenv("WAITGATE_HARVESTED", "0x8", 1); /* x 3 or y 3 */
    lib l = start_with_memory(state);
    unsetenv("WAITGATE_HARVESTED");
    bool bh = l.arch == WG_ARCH_BH;
    /* Translated coordinates have no gap: harvested columns or rows come last. */
    at(&l, bh ? 3 : 20, bh ? 5 : 20);
    put32(&l, 0x100, 0x77);
    uint32_t direct = 0;
    l.tile_read(bh ? 4 : 3, bh ? 5 : 4, 0x100, &direct, 4);
    assert_int_equal(direct, 0x77);
    l.tile_read(bh ? 3 : 3, bh ? 5 : 3, 0x100, &direct, 4);
    assert_int_equal(direct, 0); /* nothing is mapped there */
    end(&l);
}

static const wg_test tests[] = {
    WG_TEST(test_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_multicast_start, WG_BH | WG_WH, ""),
    WG_TEST(test_noc_reaches_host_memory, WG_BH | WG_WH, ""),
    WG_TEST(test_exit_in_callback, WG_BH | WG_WH, ""),
    WG_TEST(test_two_tiles, WG_BH | WG_WH, ""),
    WG_TEST(test_threads_and_fork, WG_BH | WG_WH, ""),
    WG_TEST(test_harvested, WG_BH | WG_WH, ""),
};
WG_MAIN("abi_chip", tests)
