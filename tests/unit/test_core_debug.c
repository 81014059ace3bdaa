/* SPDX-License-Identifier: Apache-2.0 */
/* The cores' debug interface, as a debugger on the host drives it (DebugInterface.md), and units held in soft reset. */
#include "rvasm.h"
#include "wgtest.h"

enum { CODE = 0x8000, DBG = 0xFFB12080, SOFT_RESET = 0xFFB121B0 };
enum {
    PAUSE = 1,
    STEP = 2,
    RESUME = 4,
    READ_GPR = 8,
    WRITE_GPR = 16,
    READ_MEMORY = 32,
    WRITE_MEMORY = 64,
    WRITE_PC = 256
};
#define SLOW 0x80000000u
enum { WHICH_T1 = 2 };

static void put(wg_device *dev, uint32_t address, uint32_t value)
{
    assert_int_equal(wg_write(dev, address, &value, 4), WG_OK);
    wg_advance(dev, 4);
}

static uint32_t get(wg_device *dev, uint32_t address)
{
    uint32_t value = 0;
    assert_int_equal(wg_read(dev, address, &value, 4), WG_OK);
    return value;
}

static void dr_write(wg_device *dev, unsigned index, uint32_t value)
{
    put(dev, DBG + 4, value);
    put(dev, DBG, 0);
    put(dev, DBG, 1u << 31 | WHICH_T1 << 17 | 1u << 16 | index);
    assert_int_equal(get(dev, DBG + 8), 1u << 31 | 1u << (13 + WHICH_T1) | index);
}

static uint32_t dr_read(wg_device *dev, unsigned index)
{
    put(dev, DBG, 0);
    put(dev, DBG, 1u << 31 | WHICH_T1 << 17 | index);
    assert_int_equal(get(dev, DBG + 8), 3u << 30 | index);
    return get(dev, DBG + 12);
}

static uint32_t gpr(wg_device *dev, unsigned index)
{
    dr_write(dev, 2, index);
    dr_write(dev, 1, READ_GPR);
    return dr_read(dev, 4);
}

/* T1 counts A0 up forever: addi at CODE + 12, a store to own RAM, a jump back. */
static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(CODE);
    rv_li(&p, A1, 0xFFB00040);
    rv_nop(&p);
    unsigned loop = p.n;
    rv_addi(&p, A0, A0, 1);
    rv_sw(&p, A0, 0, A1);
    rv_bne(&p, A1, ZERO, loop);
    assert_true(rv_load(dev, &p));
    assert_int_equal(wg_core_release(dev, WG_CORE_T1, CODE), WG_OK);
    wg_advance(dev, 3000);
    return dev;
}

/* Blackhole steps at the second command. */
static void step(wg_device *dev, wg_arch_id arch)
{
    if (arch == WG_ARCH_BH) {
        const uint32_t pc = gpr(dev, 32);
        dr_write(dev, 1, STEP);
        wg_advance(dev, 50);
        assert_int_equal(gpr(dev, 32), pc);
    }
    dr_write(dev, 1, STEP);
}

static void test_pause_look_step_resume(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    assert_int_equal(dr_read(dev, 0), 0);
    dr_write(dev, 1, PAUSE);
    assert_int_equal(dr_read(dev, 0), 1);
    uint32_t count = gpr(dev, A0), pc = gpr(dev, 32);
    wg_advance(dev, 1000);
    assert_int_equal(gpr(dev, A0), count);
    assert_true(count > 100 && pc >= CODE + 12 && pc <= CODE + 20);
    for (unsigned i = 0; i < 3; i++) {
        step(dev, wg_test_arch(state));
        wg_advance(dev, 50);
        uint32_t now = gpr(dev, 32);
        assert_int_equal(now, pc == CODE + 20 ? CODE + 12 : pc + 4);
        pc = now;
    }
    assert_int_equal(gpr(dev, A0), count + 1);
    dr_write(dev, 2, A0);
    dr_write(dev, 3, 1000000);
    dr_write(dev, 1, WRITE_GPR);
    assert_int_equal(gpr(dev, A0), 1000000);
    dr_write(dev, 1, RESUME);
    wg_advance(dev, 1000);
    assert_int_equal(dr_read(dev, 0), 0);
    dr_write(dev, 1, PAUSE);
    count = gpr(dev, A0);
    assert_true(count > 1000100 && count < 1002000);
    dr_write(dev, 2, 0xFFB00040);
    dr_write(dev, 1, READ_MEMORY);
    uint32_t stored = dr_read(dev, 4);
    assert_true(stored == count || stored == count - 1);
    dr_write(dev, 3, 77);
    dr_write(dev, 1, WRITE_MEMORY);
    dr_write(dev, 1, READ_MEMORY);
    assert_int_equal(dr_read(dev, 4), 77);
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

static void test_breakpoint(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dr_write(dev, 11, CODE + 12);
    dr_write(dev, 5, 8 << 4);
    wg_advance(dev, 100);
    assert_int_equal(dr_read(dev, 0), 1 | 1 << 1 | 1 << 9);
    assert_int_equal(gpr(dev, 32), CODE + 16); /* after it */
    uint32_t count = gpr(dev, A0);
    dr_write(dev, 1, RESUME);
    wg_advance(dev, 100);
    assert_int_equal(gpr(dev, A0), count + 1); /* one iteration */
    dr_write(dev, 5, 0);
    dr_write(dev, 1, RESUME);
    wg_advance(dev, 100);
    assert_int_equal(dr_read(dev, 0), 0);
    wg_destroy(dev);
}

/* Modes 9 to 11: loads, stores, both. T1's loop stores to its own RAM. */
static void test_watchpoints(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dr_write(dev, 12, 0xFFB00041); /* a byte of the word that it stores */
    dr_write(dev, 5, 9 << 8);
    wg_advance(dev, 200);
    assert_int_equal(dr_read(dev, 0), 0); /* nothing loads from there */
    dr_write(dev, 5, 10 << 8);
    wg_advance(dev, 200);
    assert_int_equal(dr_read(dev, 0), 1 | 1 << 2 | 1 << 10);
    assert_int_equal(gpr(dev, 32), CODE + 20); /* after the store */
    uint32_t count = gpr(dev, A0);
    dr_write(dev, 1, RESUME);
    wg_advance(dev, 200);
    assert_int_equal(gpr(dev, A0), count + 1);
    dr_write(dev, 12, 0xFFB00044);
    dr_write(dev, 5, 11 << 8);
    dr_write(dev, 1, RESUME);
    wg_advance(dev, 200);
    assert_int_equal(dr_read(dev, 0), 0); /* the next word */
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

/*
 * A branch to itself is executed again and again: a breakpoint on it is hit, whether it is set before the core gets
 * there or later.
 */
static void test_breakpoint_on_a_loop(void **state)
{
    enum { LOOP = CODE + 0x400 };
    for (unsigned later = 0; later < 2; later++) {
        wg_device *dev = make(wg_test_arch(state));
        rv p = rv_at(LOOP);
        rv_beq(&p, ZERO, ZERO, 0);
        assert_true(rv_load(dev, &p));
        dr_write(dev, 1, SLOW | PAUSE);
        dr_write(dev, 3, LOOP);
        dr_write(dev, 1, SLOW | WRITE_PC); /* from DR(3) */
        assert_int_equal(gpr(dev, 32), LOOP);
        for (unsigned i = 0; i < 2; i++) {
            if (i == later) {
                dr_write(dev, 11, LOOP);
                dr_write(dev, 5, 8 << 4);
            }
            dr_write(dev, 1, RESUME);
            wg_advance(dev, 500);
            if (i < later)
                assert_int_equal(dr_read(dev, 0), 0);
        }
        assert_int_equal(dr_read(dev, 0), 1 | 1 << 1 | 1 << 9);
        assert_int_equal(gpr(dev, 32), LOOP);
        wg_core_hold(dev, WG_CORE_T1); /* a hit before a reset is forgotten after it */
        wg_advance(dev, 4);
        assert_int_equal(wg_core_release(dev, WG_CORE_T1, CODE), WG_OK);
        wg_advance(dev, 3000);
        dr_write(dev, 1, PAUSE);
        assert_int_equal(dr_read(dev, 0), 1);
        wg_destroy(dev);
    }
}

/* In slow execution mode a store does not wait for another to merge with: others see it. */
static void test_slow_stores(void **state)
{
    enum { LOOP = CODE + 0x400, WORD = 0x10000 };
    wg_device *dev = make(wg_test_arch(state));
    rv p = rv_at(LOOP);
    rv_li(&p, A1, WORD);
    unsigned loop = p.n;
    rv_addi(&p, A0, A0, 1);
    rv_sw(&p, A0, 0, A1);
    rv_bne(&p, A1, ZERO, loop);
    assert_true(rv_load(dev, &p));
    dr_write(dev, 1, SLOW | PAUSE);
    dr_write(dev, 3, LOOP);
    dr_write(dev, 1, SLOW | WRITE_PC);
    dr_write(dev, 1, SLOW | RESUME);
    wg_advance(dev, 500);
    const uint32_t seen = get(dev, WORD);
    wg_advance(dev, 500);
    assert_true(seen && get(dev, WORD) > seen);
    wg_destroy(dev);
}

/* The debug daisychain tells where cores are, running or not (DebugDaisychain.md, groups A and B). */
static void test_daisychain(void **state)
{
    enum {
        CNTL = 0xFFB12054,
        DATA = 0xFFB1205C,
        ENABLED = 1 << 29,
        CORES = 7 << 16,
        WORD_1 = 1 << 25,
        WORD_2 = 2 << 25
    };
    wg_device *dev = make(wg_test_arch(state));
    put(dev, CNTL, ENABLED | CORES | 14);
    uint32_t pc = get(dev, DATA);
    assert_true(pc >= CODE + 12 && pc <= CODE + 20);
    dr_write(dev, 1, PAUSE);
    pc = gpr(dev, 32);
    assert_int_equal(get(dev, DATA), pc | 1u << 31); /* it waits */
    put(dev, CNTL, ENABLED | CORES | WORD_2 | 14);
    assert_int_equal(get(dev, DATA), pc);
    put(dev, CNTL, ENABLED | CORES | WORD_1 | 15);
    assert_int_equal(get(dev, DATA), pc);
    put(dev, CNTL, CORES | WORD_1 | 15); /* not enabled */
    assert_int_equal(get(dev, DATA), 0);
    assert_int_equal(wg_finding_count(dev), 0);
    put(dev, CNTL, ENABLED | 6 << 16);
    assert_int_equal(get(dev, DATA), 0);
    assert_int_equal(wg_finding_count(dev), 1);
    assert_string_equal(wg_finding_info_at(wg_finding_at(dev, 0)->code)->code, "unimplemented-register");
    wg_destroy(dev);
}

/* A command to a running core is reported; entering reset clears the registers, and in reset nothing is written. */
static void test_misuse_and_reset(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dr_write(dev, 1, READ_GPR);
    assert_int_equal(wg_finding_count(dev), 1);
    assert_string_equal(wg_finding_info_at(wg_finding_at(dev, 0)->code)->code, "core-debug-command");
    dr_write(dev, 2, 5);
    assert_int_equal(dr_read(dev, 2), 5);
    wg_core_hold(dev, WG_CORE_T1);
    wg_advance(dev, 4);
    assert_int_equal(dr_read(dev, 2), 0);
    dr_write(dev, 2, 6);
    assert_int_equal(dr_read(dev, 2), 0);
    wg_destroy(dev);
}

/* Unless RISCV_DEBUG_REG_DISABLE_RESET excludes T1's registers from its reset. */
static void test_registers_kept(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    put(dev, 0xFFB12224, 1 << 3);
    dr_write(dev, 2, 5);
    wg_core_hold(dev, WG_CORE_T1);
    wg_advance(dev, 4);
    assert_int_equal(dr_read(dev, 2), 5);
    dr_write(dev, 2, 6);
    assert_int_equal(dr_read(dev, 2), 6);
    put(dev, 0xFFB12224, 1 << 1); /* T0's: not T1's */
    dr_write(dev, 2, 7);
    assert_int_equal(dr_read(dev, 2), 6);
    wg_destroy(dev);
}

/* Instructions do not enter a unit that is held in reset; they enter when it is released. */
static void held(wg_arch_id arch, uint32_t bits, uint32_t word)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    uint32_t reset = get(dev, SOFT_RESET), value = 1;
    put(dev, SOFT_RESET, reset | bits);
    assert_int_equal(wg_push(dev, 0, word), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0xA3000000 | 1 << 20 | 1 << 16 | 1 << 2), WG_OK); /* SEMINIT 0: max 1, value 1 */
    wg_advance(dev, 500);
    wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &value);
    assert_int_equal(value, 0);
    put(dev, SOFT_RESET, reset);
    wg_advance(dev, 500);
    wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &value);
    assert_int_equal(value, 1);
    wg_destroy(dev);
}

static void test_units_held(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    held(arch, 1 << 10, 0x8F000000);                  /* SFPNOP */
    held(arch, 1 << 10, 0x10000000);                  /* ZEROACC */
    held(arch, 1 << 8, 0x58000000);                   /* ADDDMAREG: the glue */
    held(arch, 1 << 0 | 1 << 1 | 1 << 7, 0x43000000); /* UNPACR_NOP */
}

static const wg_test tests[] = {
    WG_TEST(test_pause_look_step_resume, WG_BH | WG_WH, ""),
    WG_TEST(test_breakpoint, WG_BH | WG_WH, ""),
    WG_TEST(test_watchpoints, WG_BH | WG_WH, ""),
    WG_TEST(test_breakpoint_on_a_loop, WG_BH | WG_WH, ""),
    WG_TEST(test_slow_stores, WG_BH | WG_WH, ""),
    WG_TEST(test_daisychain, WG_BH | WG_WH, ""),
    WG_TEST(test_misuse_and_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_registers_kept, WG_BH, ""),
    WG_TEST(test_units_held, WG_BH | WG_WH, ""),
};
WG_MAIN("core_debug", tests)
