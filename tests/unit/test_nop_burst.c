/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of NOPs (fast/burst.c): MOPs of them on one, two or three threads, with other instructions before, between and
 * after them. A device that skips and one that ticks every agent in every cycle are in the same state at every check.
 */
#include "burst_rig.h"

#include "fast/burst.h"

enum { NOP = 0x02000000, MOP = 0x01800000, SETRWC = 0x37000000, MOVD2B = 0x0A000000 };
#define SEMPOST 0xA4000008
#define SEMGET 0xA5000008
#define STALLWAIT 0xA2000000
#define SEMWAIT 0xA6000008

/* MOVD2B takes a few cycles. */
static uint32_t any_word(wg_arch_id arch)
{
    static const uint32_t words[] = {NOP, NOP, NOP, SETRWC, MOVD2B, MOVD2B, SEMPOST, SEMGET, STALLWAIT, SEMWAIT};
    const uint32_t word = words[below(sizeof words / sizeof *words)], block = below(2) ? 0x1FFu : 1u << below(9);
    if (word == SEMWAIT)
        return word | block << 15 | (1 + below(2)); /* while it is zero, or at its maximum */
    return word == STALLWAIT ? word | block << 15 | (arch == WG_ARCH_BH ? 0x10 : 0x80) /* MATH */ : word;
}

static void program(wg_device *dev)
{
    unsigned thread = below(WG_THREADS);
    wg_tile *t = dev->tile;
    const wg_arch_id arch = t->arch->id;
    if (wg_thread_idle(t, thread)) {
        uint32_t loop = below(3) ? NOP : any_word(arch), second = below(6) ? NOP : loop, last = any_word(arch);
        uint32_t mop[] = {1 + below(3), 1 + below(90), any_word(arch), any_word(arch), any_word(arch), loop, second,
                          last,         last};
        memcpy(t->frontend[thread].mop_cfg, mop, sizeof mop);
    }
    for (unsigned i = below(3); i--;)
        (void)wg_push(dev, thread, any_word(arch));
    for (unsigned i = 1 + below(3); i--;)
        (void)wg_push(dev, thread, MOP);
    if (below(3) == 0)
        (void)wg_push(dev, thread, any_word(arch));
}

static void act(wg_device *dev, unsigned round)
{
    (void)round;
    for (unsigned i = below(3); i--;)
        program(dev);
    wg_advance(dev, 1 + below(below(3) ? 40 : 300));
}

static void expect(const wg_device *skips, const wg_device *ticks)
{
    assert_memory_equal(skips->tile->regs.rwc.thread, ticks->tile->regs.rwc.thread,
                        sizeof ticks->tile->regs.rwc.thread);
    assert_int_equal(skips->findings, ticks->findings);
}

static void test_nops(void **state) { in_both_modes(state, 60, 60, act, expect); }

/* Bursts occur, up to the loop's last instructions, and never beyond the given cycle. */
static void test_they_happen(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_tile *t = dev->tile;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t mop[] = {1, 100, NOP, NOP, NOP, NOP, NOP, NOP, NOP};
        memcpy(t->frontend[i].mop_cfg, mop, sizeof mop);
        assert_int_equal(wg_push(dev, i, MOP), WG_OK);
    }
    wg_advance(dev, 20);
    assert_int_equal(t->frontend[0].mop.i, t->frontend[1].mop.i);
    unsigned i = t->frontend[0].mop.i;
    assert_int_equal(wg_burst_nops(t, 3, t->sched.now + 10), 10);
    assert_int_equal(t->frontend[0].mop.i, i + 10);
    assert_int_equal(wg_burst_nops(t, 3, t->sched.now + 2), 0); /* too short for a burst */
    assert_int_equal(wg_burst_nops(t, 3, t->sched.now + 1000), 100 - 1 - 10 - i);
    assert_int_equal(wg_burst_nops(t, 3, t->sched.now + 1000), 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_nops, WG_BH | WG_WH, ""),
    WG_TEST(test_they_happen, WG_BH | WG_WH, ""),
};
WG_MAIN("nop_burst", tests)
