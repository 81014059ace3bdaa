/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chip through the libttsim ABI: DRAM, host threads, fused-off tiles.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
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

/* DRAM holds what was written through a window, on every tile of the channel. */
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

/* A forked child goes on by itself, with host threads of its own. */
static void test_threads_and_fork(void **state)
{
    setenv("WAITGATE_THREADS", "3", 1);
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
    setenv("WAITGATE_HARVESTED", "0x8", 1);   /* x 3 or y 3 */
    lib l = start_with_memory(state);
    unsetenv("WAITGATE_HARVESTED");
    bool bh = l.arch == WG_ARCH_BH;
    /* Translated coordinates have no gap: what is fused off is last. */
    at(&l, bh ? 3 : 20, bh ? 5 : 20);
    put32(&l, 0x100, 0x77);
    uint32_t direct = 0;
    l.tile_read(bh ? 4 : 3, bh ? 5 : 4, 0x100, &direct, 4);
    assert_int_equal(direct, 0x77);
    l.tile_read(bh ? 3 : 3, bh ? 5 : 3, 0x100, &direct, 4);
    assert_int_equal(direct, 0);   /* nothing is there */
    end(&l);
}

static const wg_test tests[] = {
    WG_TEST(test_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_threads_and_fork, WG_BH | WG_WH, ""),
    WG_TEST(test_harvested, WG_BH | WG_WH, ""),
};
WG_MAIN("abi_chip", tests)
