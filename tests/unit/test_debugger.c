/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going back and forth: at every cycle that is visited the state is the one of the run that went straight through.
 * WG_SOAK=1 gives it ten thousand visits.
 */
#include "wgtest.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/debugger.h"

enum { MOST_CYCLES = 6000, VISITS = 60, SOAK_VISITS = 10000 };

/* A tile with two cores and three threads at work, as the command line opens it. */
static const char program[] = ".core B\n"
                              "    li a0, 0x3000\n"
                              "    li a1, 150\n"
                              "loop:\n"
                              "    lw a2, 0(a0)\n"
                              "    add a2, a2, a1\n"
                              "    sw a2, 0(a0)\n"
                              "    fence\n"
                              "    addi a1, a1, -1\n"
                              "    bnez a1, loop\n"
                              "    ebreak\n"
                              ".core T1\n"
                              "    li a0, 0x4000\n"
                              "    li a1, 800\n"
                              "loop1:\n"
                              "    sw a1, 0(a0)\n"
                              "    addi a1, a1, -1\n"
                              "    bnez a1, loop1\n"
                              "    ebreak\n"
                              ".thread 0\n"
                              "    ttseminit 2, 0, SEMAPHORE_1\n"
                              "    .repeat 400\n"
                              "    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_MAX\n"
                              "    ttdmanop\n"
                              "    ttsempost SEMAPHORE_1\n"
                              "    .endr\n"
                              ".thread 2\n"
                              "    .repeat 400\n"
                              "    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n"
                              "    ttsetdmareg 0, 7, 0, 8\n"
                              "    ttsemget SEMAPHORE_1\n"
                              "    .endr\n";

typedef struct opened {
    char path[64];
    wg_args args;
    const char *file[1];
    wg_session s;
    wg_debugger d;
} opened;

static void open_program(opened *o, wg_arch_id arch, uint64_t memory)
{
    wg_text error = {0};
    snprintf(o->path, sizeof o->path, "/tmp/wg_debugger_%ld_XXXXXX.tasm", (long)getpid());
    int file = mkstemps(o->path, 5);
    assert_true(file >= 0 && write(file, program, sizeof program - 1) == (ssize_t)sizeof program - 1);
    close(file);
    o->file[0] = o->path;
    o->args = (wg_args){.command = WG_CMD_GDB, .file = o->file, .files = 1};
    o->args.value[WG_OPT_ARCH] = arch == WG_ARCH_WH ? "wh" : "bh";
    if (!wg_session_open(&o->s, &o->args, &error))
        fail_msg("%s", wg_text_of(&error));
    assert_true(wg_debug_open(&o->d, &o->s, memory));
    unlink(o->path);
}

static void close_program(opened *o)
{
    wg_debug_close(&o->d);
    wg_session_close(&o->s);
}

static uint64_t hash_at[MOST_CYCLES];

static uint64_t record(opened *o)
{
    uint64_t last = 0;
    for (;; last++) {
        assert_true(last < MOST_CYCLES);
        hash_at[last] = wg_state_hash(o->s.dev);
        if (wg_debug_go(&o->d, last + 1) == WG_PAUSE_ENDED)
            break;
    }
    return last;
}

/* Few checkpoints, so that some are dropped; and many. */
static void test_any_cycle_again(void **state)
{
    for (unsigned memory = 0; memory < 2; memory++) {
        opened o;
        wg_rng rng = {17 + memory};
        open_program(&o, wg_test_arch(state), memory ? UINT64_C(1) << 30 : 1);
        o.d.distance = 64;
        uint64_t last = record(&o);
        assert_true(last > 2000);
        for (uint64_t n = wg_test_rounds(VISITS, SOAK_VISITS); n; n--) {
            uint64_t cycle = wg_rng_below(&rng, (uint32_t)last);
            wg_pause why = wg_debug_go(&o.d, cycle);
            assert_int_equal(why, WG_PAUSE_STEP);
            assert_int_equal(wg_cycle(o.s.dev), cycle);
            if (wg_state_hash(o.s.dev) != hash_at[cycle])
                fail_msg("cycle %llu is not what it was", (unsigned long long)cycle);
        }
        close_program(&o);
    }
}

/* A step of a core is one instruction; the step back undoes it. */
static void test_steps_undone(void **state)
{
    opened o;
    wg_rng rng = {3};
    open_program(&o, wg_test_arch(state), UINT64_C(256) << 20);
    static const unsigned cores[2] = {WG_CORE_B, WG_CORE_T1};
    for (uint64_t n = wg_test_rounds(40, 1000); n; n--) {
        unsigned core = cores[wg_rng_below(&rng, 2)];
        wg_core_info before, there, back;
        assert_int_equal(wg_debug_step(&o.d, core), WG_PAUSE_STEP);
        wg_core_state(o.s.dev, (wg_core_id)core, &before);
        assert_int_equal(wg_debug_step(&o.d, core), WG_PAUSE_STEP);
        wg_core_state(o.s.dev, (wg_core_id)core, &there);
        assert_int_equal(there.instructions, before.instructions + 1);
        assert_int_equal(wg_debug_step_back(&o.d, core), WG_PAUSE_STEP);
        wg_core_state(o.s.dev, (wg_core_id)core, &back);
        assert_int_equal(back.instructions, before.instructions);
        assert_int_equal(back.pc, before.pc);
    }
    close_program(&o);
}

/* Breakpoints are met in the same cycles in both directions. */
static void test_breakpoints_both_ways(void **state)
{
    opened o;
    uint64_t at[12];
    open_program(&o, wg_test_arch(state), UINT64_C(256) << 20);
    const wg_elf_symbol *loop = wg_elf_symbol_named(o.s.elf[WG_CORE_B], "loop");
    assert_non_null(loop);
    assert_true(wg_debug_break(&o.d, loop->address, true));
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(wg_debug_continue(&o.d), WG_PAUSE_BREAK);
        assert_int_equal(o.d.core, WG_CORE_B);
        at[i] = wg_cycle(o.s.dev);
    }
    for (unsigned i = 11; i-- > 0;) {
        assert_int_equal(wg_debug_back(&o.d), WG_PAUSE_BREAK);
        assert_int_equal(wg_cycle(o.s.dev), at[i]);
    }
    assert_int_equal(wg_debug_back(&o.d), WG_PAUSE_BEGIN);
    assert_int_equal(wg_cycle(o.s.dev), 0);
    assert_int_equal(wg_debug_continue(&o.d), WG_PAUSE_BREAK);
    assert_int_equal(wg_cycle(o.s.dev), at[0]);
    close_program(&o);
}

static uint32_t word_at(const opened *o, uint32_t address)
{
    uint32_t word = 0;
    assert_int_equal(wg_read(o->s.dev, address, &word, 4), WG_OK);
    return word;
}

/* A watch stops behind the change going forwards, and before it going back: the word has the values of then. */
static void test_watches_both_ways(void **state)
{
    enum { WORD = 0x3000, CHANGES = 6 };
    opened o;
    uint64_t at[CHANGES];
    uint32_t value[CHANGES + 1] = {0};
    open_program(&o, wg_test_arch(state), UINT64_C(256) << 20);
    assert_false(wg_debug_watch(&o.d, wg_l1_bytes(o.s.dev) - 2, 4, true));
    assert_true(wg_debug_watch(&o.d, WORD, 4, true));
    for (unsigned i = 0; i < CHANGES; i++) {
        assert_int_equal(wg_debug_continue(&o.d), WG_PAUSE_WATCH);
        at[i] = wg_cycle(o.s.dev);
        value[i + 1] = word_at(&o, WORD);
        assert_int_not_equal(value[i + 1], value[i]);
    }
    for (unsigned i = CHANGES; i-- > 0;) {
        assert_int_equal(wg_debug_back(&o.d), WG_PAUSE_WATCH);
        assert_int_equal(wg_cycle(o.s.dev), at[i] - 1);
        assert_int_equal(word_at(&o, WORD), value[i]);
    }
    assert_int_equal(wg_debug_back(&o.d), WG_PAUSE_BEGIN);
    close_program(&o);
}

static const wg_test tests[] = {
    WG_TEST(test_any_cycle_again, WG_BH | WG_WH, ""),
    WG_TEST(test_steps_undone, WG_BH | WG_WH, ""),
    WG_TEST(test_breakpoints_both_ways, WG_BH | WG_WH, ""),
    WG_TEST(test_watches_both_ways, WG_BH | WG_WH, ""),
};
WG_MAIN("debugger", tests)
