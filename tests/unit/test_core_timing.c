/* SPDX-License-Identifier: Apache-2.0 */
/* Measured timing of cores and of what they push: profile `silicon` is within five per cent of each row. */
#include <stdio.h>

#include "core_rows.h"
#include "rvasm.h"
#include "wgtest.h"

static void test_measured_rows(void **state)
{
    (void)state;
    unsigned off = 0;
    for (unsigned i = 0; i < CORE_ROWS; i++) {
        double model = core_row_cycles(&core_rows[i], WG_PROFILE_SILICON), silicon = core_rows[i].silicon;
        double difference = (model - silicon) / silicon;
        print_message("%-28s model %7.3f silicon %7.3f %+5.1f %%\n", core_rows[i].name, model, silicon,
                      100 * difference);
        off += difference > 0.05 || difference < -0.05;
    }
    assert_int_equal(off, 0);
}

/*
 * The cycles of a program of T1 that loads this word of the PC buffer window `times` times, each load waiting for the
 * previous one.
 */
static uint64_t cycles_of_loads(wg_arch_id arch, wg_profile profile, int offset, uint32_t times)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = profile};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, T0, 0xFFE80000);
    rv_li(&p, A2, times);
    unsigned loop = p.n;
    rv_lw(&p, A0, offset, T0);
    rv_add(&p, A1, A0, A0);
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, loop);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    wg_core_release(dev, WG_CORE_T1, p.base);
    wg_stop stop;
    wg_run(dev, 100000, &stop);
    uint64_t cycles = wg_cycle(dev);
    wg_destroy(dev);
    return cycles;
}

/*
 * On silicon a value of manual TTSync takes three or four cycles more than the documents' least time, a semaphore's does
 * not.
 */
static void test_window_loads(void **state)
{
    enum { TTSYNC = 4, SEMAPHORE_3 = 0x2C, SHORT = 50, LONG = 90 };
    wg_arch_id arch = wg_test_arch(state);
    static const int offsets[2] = {TTSYNC, SEMAPHORE_3};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t each[2];
        for (unsigned profile = 0; profile < 2; profile++)
            each[profile] = cycles_of_loads(arch, (wg_profile)profile, offsets[i], LONG) -
                            cycles_of_loads(arch, (wg_profile)profile, offsets[i], SHORT);
        unsigned more = offsets[i] == SEMAPHORE_3 ? 0 : arch == WG_ARCH_BH ? 3 : 4;
        assert_int_equal(each[WG_PROFILE_SILICON], each[WG_PROFILE_DOCUMENTED] + more * (LONG - SHORT));
    }
}

/* Why T1 stalled, and for how long, one entry per stall that is not a fetch. */
typedef struct causes {
    unsigned count, reason[8];
    uint64_t cycles[8];
} causes;

static void note_cause(void *user, const wg_event *e)
{
    causes *c = user;
    if (e->agent != WG_CORE_T1 || e->stall.reason == WG_STALL_INSTRUCTION_FETCH || c->count == 8)
        return;
    c->reason[c->count] = e->stall.reason;
    c->cycles[c->count++] = e->cycle - e->a;
}

/* A misprediction is the cause of the cycles in which the pipeline refills; a division is the cause of its own. */
static void test_cause_of_refill(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    static causes c;
    c.count = 0;
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_STALL_END), note_cause, &c, NULL), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, A0, 100);
    rv_li(&p, A1, 7);
    rv_word(&p, (1u << 25) | A1 << 20 | A0 << 15 | 4u << 12 | A2 << 7 | 0x33); /* div */
    rv_bne(&p, A0, ZERO, p.n + 3);                                             /* taken, to beyond two instructions */
    rv_nop(&p);
    rv_nop(&p);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    wg_core_release(dev, WG_CORE_T1, p.base);
    wg_stop stop;
    wg_run(dev, 2000, &stop);
    uint64_t refill = 0, several = 0;
    for (unsigned i = 0; i < c.count; i++) {
        refill += c.reason[i] == WG_STALL_BRANCH_BUBBLE ? c.cycles[i] : 0;
        several += c.reason[i] == WG_STALL_MULTI_CYCLE ? c.cycles[i] : 0;
    }
    assert_int_equal(refill, arch == WG_ARCH_BH ? 4 : 2);
    assert_true(several > 4);
    wg_destroy(dev);
}

/* The cycles of a loop of `rounds` rounds that has run with 2, 4 … rounds before, between two reads of the wall clock. */
static uint32_t cycles_of_loop(wg_arch_id arch, uint32_t rounds)
{
    enum { RESULT = 0x4000 };
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, T0, 0xFFB121F0);
    rv_li(&p, A3, 2);
    unsigned again = p.n;
    rv_addi(&p, A2, A3, 0);
    rv_lw(&p, A0, 0, T0);
    unsigned loop = p.n;
    for (unsigned i = 0; i < 16; i++)
        rv_nop(&p);
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, loop);
    rv_lw(&p, A1, 0, T0);
    rv_word(&p, core_r(0x20, A0, A1, 0, A1));
    rv_li(&p, T1, RESULT);
    rv_sw(&p, A1, 0, T1);
    rv_add(&p, A3, A3, A3);
    rv_li(&p, T1, 2 * rounds);
    rv_bne(&p, A3, T1, again);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    wg_core_release(dev, WG_CORE_T1, p.base);
    wg_stop stop;
    wg_run(dev, 100000, &stop);
    uint32_t cycles;
    wg_read(dev, RESULT, &cycles, 4);
    wg_destroy(dev);
    return cycles;
}

/* Cycles in which T1 pushes four times this many ADDDMAREGs, which take three cycles each. */
static uint32_t cycles_of_pushes(wg_arch_id arch, wg_profile profile, unsigned rounds)
{
    enum { RESULT = 0x4000 };
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = profile};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, T0, 0xFFB121F0);
    rv_li(&p, T1, RESULT);
    rv_li(&p, A3, 2);
    unsigned again = p.n; /* the second time all of it is in the instruction cache, and the queue is empty */
    rv_li(&p, A2, 1000);
    unsigned drain = p.n;
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, drain);
    rv_lw(&p, A0, 0, T0);
    rv_li(&p, A2, rounds);
    unsigned push = p.n;
    for (unsigned i = 0; i < 4; i++) {
        rv_tt(&p, PUSH_ADDDMAREG);
        rv_nop(&p);
    }
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, push);
    rv_lw(&p, A1, 0, T0);
    rv_word(&p, core_r(0x20, A0, A1, 0, A1));
    rv_sw(&p, A1, 0, T1);
    rv_addi(&p, A3, A3, -1);
    rv_bne(&p, A3, ZERO, again);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    wg_core_release(dev, WG_CORE_T1, p.base);
    wg_stop stop;
    wg_run(dev, 100000, &stop);
    uint32_t cycles;
    wg_read(dev, RESULT, &cycles, 4);
    wg_destroy(dev);
    return cycles;
}

/* A core that waits for a place in the queue learns late that one is free; one that does not wait loses nothing. */
static void test_freed_places_are_known_late(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const uint32_t late = arch == WG_ARCH_BH ? 7 : 12;
    for (unsigned rounds = 5; rounds <= 160; rounds *= 32)
        assert_int_equal(cycles_of_pushes(arch, WG_PROFILE_SILICON, rounds),
                         cycles_of_pushes(arch, WG_PROFILE_DOCUMENTED, rounds) + (rounds > 5 ? late : 0));
}

/* A loop's first jump back and its end are mispredicted, however often it has run: the predictor knows the last direction. */
static void test_loops_mispredict_twice(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const uint32_t bubble = arch == WG_ARCH_BH ? 4 : 2;
    for (uint32_t rounds = 4; rounds <= 64; rounds *= 2)
        assert_int_equal(cycles_of_loop(arch, rounds), 1 + 18 * rounds + 2 * bubble);
}

/* Behind a CSR instruction or a fence the next one leaves the frontend when it has retired: on silicon four cycles later. */
static void test_csr_instructions_take_four(void **state)
{
    (void)state;
    enum { RESULT = 0x4000, MANY = 32 };
    static const uint32_t words[] = {0xB00u << 20 | 2 << 12 | A4 << 7 | 0x73 /* csrr a4, mcycle */,
                                     0x0FF0000F /* fence */};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t took[2];
        for (unsigned many = 0; many < 2; many++) {
            wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_SILICON};
            wg_device *dev;
            assert_int_equal(wg_create(&desc, &dev), WG_OK);
            rv p = rv_at(0x1000);
            rv_li(&p, T0, 0xFFB121F0);
            rv_li(&p, T1, RESULT);
            rv_li(&p, A3, 2);
            unsigned again = p.n;
            rv_lw(&p, A0, 0, T0);
            rv_add(&p, A0, A0, ZERO);
            for (unsigned n = 0; n < (many ? MANY + 1 : 1); n++)
                rv_word(&p, words[i]);
            rv_lw(&p, A1, 0, T0);
            rv_word(&p, core_r(0x20, A0, A1, 0, A1));
            rv_sw(&p, A1, 0, T1);
            rv_addi(&p, A3, A3, -1);
            rv_bne(&p, A3, ZERO, again);
            rv_done(&p);
            assert_true(rv_load(dev, &p));
            wg_core_release(dev, WG_CORE_T1, p.base);
            wg_stop stop;
            wg_run(dev, 100000, &stop);
            wg_read(dev, RESULT, &took[many], 4);
            wg_destroy(dev);
        }
        assert_int_equal(took[1] - took[0], 4 * MANY);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_measured_rows, WG_BH, ""),
    WG_TEST(test_window_loads, WG_BH | WG_WH, "SEM-04"),
    WG_TEST(test_freed_places_are_known_late, WG_BH | WG_WH, ""),
    WG_TEST(test_csr_instructions_take_four, WG_BH, ""),
    WG_TEST(test_cause_of_refill, WG_BH | WG_WH, ""),
    WG_TEST(test_loops_mispredict_twice, WG_BH | WG_WH, ""),
};
WG_MAIN("core_timing", tests)
