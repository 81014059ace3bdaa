/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stepping back and forth: the state at every visited cycle equals that of an uninterrupted run. WG_SOAK=1 makes ten
 * thousand visits.
 */
#include "wgtest.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/debugging.h"
#include "debug/debug.h"
#include "state_diff.h"

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
                              "    li a1, 0xFFB00010\n"
                              "    li a2, 0xFFE00014\n"
                              "    sw a0, 0(a1)\n"
                              "    sw a0, 0(a2)\n"
                              "    fence\n"
                              "    lw a1, 0(a1)\n"
                              "    lw a2, 0(a2)\n"
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
    wg_debugging g;
    wg_debug *d;
    wg_device *dev;
} opened;

static void open_text(opened *o, const char *text, size_t bytes, wg_arch_id arch, const char *history)
{
    wg_text error = {0};
    snprintf(o->path, sizeof o->path, "/tmp/wg_debugger_%ld_XXXXXX.tasm", (long)getpid());
    int file = mkstemps(o->path, 5);
    assert_true(file >= 0 && write(file, text, bytes) == (ssize_t)bytes);
    close(file);
    o->file[0] = o->path;
    o->args = (wg_args){.command = WG_CMD_GDB, .file = o->file, .files = 1};
    o->args.value[WG_OPT_ARCH] = arch == WG_ARCH_WH ? "wh" : "bh";
    o->args.value[WG_OPT_HISTORY] = history;
    if (!wg_debugging_open(&o->g, &o->args, NULL, &error))
        fail_msg("%s", wg_text_of(&error));
    o->d = o->g.d;
    o->dev = o->g.s.dev;
    unlink(o->path);
}

static void open_program(opened *o, wg_arch_id arch, const char *history)
{
    open_text(o, program, sizeof program - 1, arch, history);
}

static void close_program(opened *o) { wg_debugging_close(&o->g); }

static uint64_t hash_at[MOST_CYCLES];

static uint64_t record(opened *o)
{
    uint64_t last = 0;
    for (;; last++) {
        assert_true(last < MOST_CYCLES);
        hash_at[last] = wg_state_hash(o->dev);
        if (wg_debug_go(o->d, last + 1) == WG_PAUSE_ENDED)
            break;
    }
    hash_at[wg_cycle(o->dev)] = wg_state_hash(o->dev);
    return last;
}

static void check_state(opened *o, const char *after)
{
    uint64_t cycle = wg_cycle(o->dev);
    if (wg_state_hash(o->dev) == hash_at[cycle])
        return;
    opened straight;
    open_program(&straight, strcmp(o->args.value[WG_OPT_ARCH], "wh") == 0 ? WG_ARCH_WH : WG_ARCH_BH, "256M");
    wg_debug_go(straight.d, cycle);
    fail_msg("cycle %llu is not what it was, %s: %s", (unsigned long long)cycle, after,
             first_difference(straight.dev, o->dev));
}

/* A small history, part of which is dropped, and a large one. */
static void test_any_cycle_again(void **state)
{
    for (unsigned large = 0; large < 2; large++) {
        opened o;
        wg_rng rng = {17 + large};
        open_program(&o, wg_test_arch(state), large ? "1G" : "1");
        o.d->distance = 64;
        uint64_t last = record(&o);
        assert_true(last > 2000);
        for (uint64_t n = wg_test_rounds(VISITS, SOAK_VISITS); n; n--) {
            uint64_t cycle = wg_rng_below(&rng, (uint32_t)last);
            assert_int_equal(wg_debug_go(o.d, cycle), WG_PAUSE_STEP);
            assert_int_equal(wg_cycle(o.dev), cycle);
            check_state(&o, "gone to");
        }
        close_program(&o);
    }
}

/* Any sequence of steps, of cores and threads, of cycles, to breakpoints and watchpoints, in both directions. */
static void test_any_sequence(void **state)
{
    opened o;
    wg_rng rng = {99};
    open_program(&o, wg_test_arch(state), "256M");
    o.d->distance = 256;
    record(&o);
    const wg_elf_symbol *loop = wg_elf_symbol_named(o.g.s.elf[WG_CORE_B], "loop");
    unsigned moved = 0;
    static const uint8_t agents[] = {WG_AGENT_CORE_B, WG_AGENT_CORE_T1, WG_AGENT_THREAD0, WG_AGENT_THREAD2};
    const uint64_t rounds = wg_test_rounds(5000, 10000);
    for (uint64_t n = rounds; n; n--) {
        wg_who who = {.agent = agents[wg_rng_below(&rng, 4)]};
        uint64_t before = wg_cycle(o.dev);
        switch (wg_rng_below(&rng, 8)) {
        case 0:
        case 1: wg_debug_step(o.d, who); break;
        case 2:
        case 3: wg_debug_step_back(o.d, who); break;
        case 4: wg_debug_go(o.d, before + wg_rng_below(&rng, 50)); break;
        case 5: wg_debug_go(o.d, before - (before > 50 ? wg_rng_below(&rng, 50) : 0)); break;
        case 6:
            wg_debug_break(o.d, loop->address, true);
            (wg_rng_below(&rng, 2) ? wg_debug_continue : wg_debug_back)(o.d);
            wg_debug_break(o.d, loop->address, false);
            break;
        default:
            wg_debug_watch(o.d, 0x3000, 4, WG_WATCH_WRITE, true);
            (wg_rng_below(&rng, 2) ? wg_debug_continue : wg_debug_back)(o.d);
            wg_debug_watch(o.d, 0x3000, 4, WG_WATCH_WRITE, false);
            break;
        }
        assert_string_equal(wg_debug_error(o.d), "");
        moved += wg_cycle(o.dev) != before;
        check_state(&o, "in a sequence");
    }
    assert_true(moved > rounds / 2);
    close_program(&o);
}

/* A Tensix thread is stepped by instructions that pass its gate, and back. */
static void test_thread_steps(void **state)
{
    opened o;
    uint64_t at[20];
    const wg_who who = {.agent = WG_AGENT_THREAD2};
    unsigned line = 0; /* of its loop's first instruction */
    for (const char *p = program; p < strstr(program, "STALL_ON_ZERO"); p++)
        line += *p == '\n';
    open_program(&o, wg_test_arch(state), "256M");
    for (unsigned i = 0; i < 20; i++) {
        uint32_t pc;
        assert_int_equal(wg_debug_step(o.d, who), WG_PAUSE_STEP);
        at[i] = wg_cycle(o.dev);
        assert_true(!i || at[i] > at[i - 1]);
        /* The three lines of its loop, in turn. */
        assert_true(!wg_debug_pc(o.d, who, &pc) || pc == WG_HOST_PC + line + 1 + (i + 1) % 3);
    }
    for (unsigned i = 20; i-- > 0;) {
        assert_int_equal(wg_debug_step_back(o.d, who), WG_PAUSE_STEP);
        assert_int_equal(wg_cycle(o.dev), at[i] - 1);
    }
    assert_int_equal(wg_debug_step_back(o.d, who), WG_PAUSE_BEGIN);
    close_program(&o);
}

/* Loads and stores of a core's own RAM and of memory-mapped registers stop it, in both directions. */
static void test_private_watches(void **state)
{
    enum { RAM = 0xFFB00010, GPR = 0xFFE00014 };
    opened o;
    uint64_t wrote, read;
    open_program(&o, wg_test_arch(state), "256M");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t address = i ? GPR : RAM;
        wg_debug_go(o.d, 0);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_WRITE, true), WG_OK);
        assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_WATCH);
        wrote = wg_cycle(o.dev);
        uint32_t word = 0;
        assert_int_equal(wg_debug_read(o.d, (wg_who){.agent = WG_AGENT_CORE_B}, address, &word, 4), WG_OK);
        assert_int_equal(word, 0x3000);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_WRITE, false), WG_OK);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_READ, true), WG_OK);
        assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_WATCH);
        read = wg_cycle(o.dev);
        assert_true(read > wrote);
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_WATCH);
        assert_int_equal(wg_cycle(o.dev), read - 1);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_READ, false), WG_OK);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_WRITE, true), WG_OK);
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_WATCH);
        assert_int_equal(wg_cycle(o.dev), wrote - 1);
        assert_int_equal(wg_debug_watch(o.d, address, 4, WG_WATCH_WRITE, false), WG_OK);
    }
    close_program(&o);
}

/* A store of what is there already, and loads and stores of the floating-point registers, are touches too. */
static void test_private_touches(void **state)
{
    static const char text[] =
        ".arch bh\n.core T2\n    li a0, 0xFFB00010\n    li a1, 5\n    sw a1, 0(a0)\n    fence\n"
        "    sw a1, 0(a0)\n    fence\n    flw fa0, 0(a0)\n    fsw fa0, 0(a0)\n    fence\n"
        "    lw a1, 16(a0)\n    sw a1, 4(a0)\n    fence\n    ebreak\n.expect finding core-ebreak\n";
    enum { RAM = 0xFFB00010, TOUCHES = 4 };
    static const char *const where[TOUCHES] = {"sw", "sw", "flw", "fsw"};
    opened o;
    uint64_t at[TOUCHES];
    (void)state;
    open_text(&o, text, sizeof text - 1, WG_ARCH_BH, "256M");
    assert_int_equal(wg_debug_watch(o.d, RAM, 4, WG_WATCH_READ | WG_WATCH_WRITE, true), WG_OK);
    for (unsigned i = 0; i < TOUCHES; i++) {
        if (wg_debug_continue(o.d) != WG_PAUSE_WATCH)
            fail_msg("the %s does not stop it", where[i]);
        assert_int_equal(o.d->state.who.agent, WG_AGENT_CORE_T2);
        at[i] = wg_cycle(o.dev);
    }
    assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_ENDED);
    for (unsigned i = TOUCHES; i-- > 0;) {
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_WATCH);
        assert_int_equal(wg_cycle(o.dev), at[i] - 1);
    }
    assert_int_equal(wg_debug_back(o.d), WG_PAUSE_BEGIN);
    close_program(&o);
}

/*
 * A watched register stops it in the cycle in which its contents change, whoever changes them: a delayed store, a unit, the
 * Sync Unit, the NIU. Going back it stops before that cycle.
 */
static void test_register_watches(void **state)
{
    static const char text[] =
        ".core B\n    li a0, 0xFFEF0030\n    li a1, 5\n    li a2, 0xFFB20000\n    sw a1, 0(a0)\n    li a1, 6\n    sw "
        "a1, 0(a0)\n"
        "    sw a1, 0x100(a2)\n    fence\n    ebreak\n"
        ".core T0\n    li t0, 300\nwait:\n    addi t0, t0, -1\n    bnez t0, wait\n    li a0, 0xFFE80024\n    sw zero, "
        "0(a0)\n"
        "    li a1, 0xFFB80004\n    li a2, 3\n    sw a2, 0(a1)\n    ebreak\n"
        ".thread 0\n    .repeat 40\n    ttnop\n    .endr\n    ttseminit 7, 2, SEMAPHORE_1\n    ttsetdmareg 0, 7, 0, "
        "10\n"
        "    ttsetdmareg 0, 9, 0, 8\n    ttstallwait STALL_CFG, THCON\n    ttwrcfg 4, 0, 12\n    ttsetc16 5, 3\n";
    static const struct {
        uint32_t address;
        struct {
            uint32_t value;
            uint8_t agent;
        } stop[3];
    } watched[] = {
        {0xFFEF0030, {{5, WG_AGENT_CORE_B}, {6, WG_AGENT_CORE_B}, {9, WG_AGENT_THREAD0}}}, /* configuration word 12 */
        {0xFFE00014, {{7, WG_AGENT_THREAD0}}},                                             /* GPR 5 */
        {0xFFE80024, {{2, WG_AGENT_THREAD0}, {3, WG_AGENT_CORE_T0}}},                      /* semaphore 1 */
        {0xFFB20100, {{6, WG_AGENT_CORE_B}}},                                              /* NIU_CFG_0 */
        {0xFFB80004, {{3, WG_AGENT_CORE_T0}}},                                             /* MOP configuration */
    };
    const wg_who seen_by = {.agent = WG_AGENT_CORE_T0};
    opened o;
    open_text(&o, text, sizeof text - 1, wg_test_arch(state), "256M");
    for (unsigned i = 0; i < sizeof watched / sizeof *watched; i++) {
        uint32_t value = 0, before = 0;
        uint64_t at[3];
        unsigned n = 0;
        wg_debug_go(o.d, 0);
        assert_int_equal(wg_debug_read(o.d, seen_by, watched[i].address, &before, 4), WG_OK);
        assert_int_equal(wg_debug_watch(o.d, watched[i].address, 4, WG_WATCH_WRITE, true), WG_OK);
        for (; n < 3 && watched[i].stop[n].value; n++) {
            assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_WATCH);
            assert_int_equal(o.d->state.who.agent, watched[i].stop[n].agent);
            assert_int_equal(wg_debug_read(o.d, seen_by, watched[i].address, &value, 4), WG_OK);
            assert_int_equal(value, watched[i].stop[n].value);
            at[n] = wg_cycle(o.dev);
        }
        assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_ENDED);
        while (n--) {
            assert_int_equal(wg_debug_back(o.d), WG_PAUSE_WATCH);
            assert_int_equal(wg_cycle(o.dev), at[n] - 1);
            assert_int_equal(wg_debug_read(o.d, seen_by, watched[i].address, &value, 4), WG_OK);
            assert_int_equal(value, n ? watched[i].stop[n - 1].value : before);
        }
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_BEGIN);
        assert_int_equal(wg_debug_watch(o.d, watched[i].address, 4, WG_WATCH_WRITE, false), WG_OK);
    }
    close_program(&o);
}

/* Findings made after the target cycle are dropped when going back, and counted once when they are made again. */
static void test_findings_go_back(void **state)
{
    opened o;
    open_program(&o, wg_test_arch(state), "256M");
    assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_ENDED);
    size_t all = wg_finding_count(o.dev);
    assert_true(all > 0);
    uint64_t count = wg_finding_at(o.dev, 0)->count;
    wg_debug_go(o.d, 0);
    assert_int_equal(wg_finding_count(o.dev), 0);
    wg_debug_continue(o.d);
    assert_int_equal(wg_finding_count(o.dev), all);
    assert_int_equal(wg_finding_at(o.dev, 0)->count, count);
    close_program(&o);
}

/* A step of a core is one instruction; the step back undoes it. */
static void test_steps_undone(void **state)
{
    opened o;
    wg_rng rng = {3};
    open_program(&o, wg_test_arch(state), "256M");
    static const unsigned cores[2] = {WG_CORE_B, WG_CORE_T1};
    for (uint64_t n = wg_test_rounds(40, 250); n; n--) {
        const wg_who who = {.agent = (uint8_t)cores[wg_rng_below(&rng, 2)]};
        const unsigned core = who.agent;
        wg_core_info before, there, back;
        assert_int_equal(wg_debug_step(o.d, who), WG_PAUSE_STEP);
        wg_core_state(o.dev, (wg_core_id)core, &before);
        assert_int_equal(wg_debug_step(o.d, who), WG_PAUSE_STEP);
        wg_core_state(o.dev, (wg_core_id)core, &there);
        assert_int_equal(there.instructions, before.instructions + 1);
        assert_int_equal(wg_debug_step_back(o.d, who), WG_PAUSE_STEP);
        wg_core_state(o.dev, (wg_core_id)core, &back);
        assert_int_equal(back.instructions, before.instructions);
        assert_int_equal(back.pc, before.pc);
    }
    close_program(&o);
}

/* Breakpoints are hit in the same cycles in both directions. */
static void test_breakpoints_both_ways(void **state)
{
    opened o;
    uint64_t at[12];
    open_program(&o, wg_test_arch(state), "256M");
    const wg_elf_symbol *loop = wg_elf_symbol_named(o.g.s.elf[WG_CORE_B], "loop");
    assert_non_null(loop);
    assert_int_equal(wg_debug_break(o.d, loop->address, true), WG_OK);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_BREAK);
        assert_int_equal(o.d->state.who.agent, WG_AGENT_CORE_B);
        at[i] = wg_cycle(o.dev);
    }
    for (unsigned i = 11; i-- > 0;) {
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_BREAK);
        assert_int_equal(wg_cycle(o.dev), at[i]);
    }
    assert_int_equal(wg_debug_back(o.d), WG_PAUSE_BEGIN);
    assert_int_equal(wg_cycle(o.dev), 0);
    assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_BREAK);
    assert_int_equal(wg_cycle(o.dev), at[0]);
    close_program(&o);
}

static uint64_t instructions(const opened *o, wg_core_id core)
{
    wg_core_info info;
    assert_int_equal(wg_core_state(o->dev, core, &info), WG_OK);
    return info.instructions;
}

/* One core runs while the others are held, then the other one, then all. Any of these cycles can be reached again. */
static void test_alone(void **state)
{
    enum { BEGIN = 60, ALONE = 40, CYCLES = 1200 };
    static uint64_t hash[CYCLES];
    const wg_who b = {.agent = WG_AGENT_CORE_B}, t1 = {.agent = WG_AGENT_CORE_T1};
    opened o;
    wg_rng rng = {5};
    open_program(&o, wg_test_arch(state), "256M");
    o.d->distance = 64;
    record(&o);
    wg_debug_go(o.d, 0);
    for (uint64_t cycle = 0; cycle < BEGIN; wg_debug_go(o.d, ++cycle))
        hash[cycle] = wg_state_hash(o.dev);
    for (unsigned round = 0; round < 2; round++) {
        const wg_who *who = round ? &t1 : &b;
        const uint64_t still = instructions(&o, round ? WG_CORE_B : WG_CORE_T1);
        assert_int_equal(wg_debug_alone(o.d, who), WG_OK);
        for (unsigned i = 0; i < ALONE; i++) {
            const uint64_t before = instructions(&o, (wg_core_id)who->agent), from = wg_cycle(o.dev);
            hash[from] = wg_state_hash(o.dev);
            assert_int_equal(wg_debug_step(o.d, *who), WG_PAUSE_STEP);
            assert_int_equal(instructions(&o, (wg_core_id)who->agent), before + 1);
            const uint64_t to = wg_cycle(o.dev);
            for (uint64_t cycle = from + 1; cycle < to; cycle++) {
                wg_debug_go(o.d, cycle);
                hash[cycle] = wg_state_hash(o.dev);
            }
            wg_debug_go(o.d, to);
            if (i % 10 == 9)
                assert_true(wg_debug_save(o.d));
        }
        assert_int_equal(instructions(&o, round ? WG_CORE_B : WG_CORE_T1), still);
    }
    assert_int_equal(wg_debug_alone(o.d, NULL), WG_OK);
    const uint64_t all = wg_cycle(o.dev), cores[2] = {instructions(&o, WG_CORE_B), instructions(&o, WG_CORE_T1)};
    for (uint64_t cycle = all; cycle < CYCLES; wg_debug_go(o.d, ++cycle)) {
        hash[cycle] = wg_state_hash(o.dev);
        if (cycle % 100 == 50)
            assert_true(wg_debug_save(o.d));
    }
    assert_true(instructions(&o, WG_CORE_B) > cores[0] && instructions(&o, WG_CORE_T1) > cores[1]);
    assert_int_not_equal(hash[all], hash_at[all]);
    for (unsigned n = 0; n < 200; n++) {
        const uint64_t cycle = wg_rng_below(&rng, CYCLES);
        assert_int_equal(wg_debug_go(o.d, cycle), WG_PAUSE_STEP);
        assert_true(wg_state_hash(o.dev) == hash[cycle]);
    }
    /* After going back and releasing all cores, the run equals one in which none was held. */
    wg_debug_go(o.d, all - 10);
    wg_debug_go(o.d, BEGIN - 20);
    assert_int_equal(wg_debug_alone(o.d, NULL), WG_OK);
    for (unsigned i = 0; i < 20; i++) {
        wg_debug_go(o.d, i < 10 ? wg_cycle(o.dev) + 73 : wg_rng_below(&rng, 700));
        check_state(&o, "gone on with everybody");
    }
    close_program(&o);
}

/* A core that waits for one that is held can go no further; it goes on when the other is let go. */
static void test_alone_and_stuck(void **state)
{
    const wg_who thread = {.agent = WG_AGENT_THREAD2};
    opened o;
    open_program(&o, wg_test_arch(state), "256M");
    wg_debug_go(o.d, 30);
    assert_int_equal(wg_debug_alone(o.d, &thread), WG_OK);
    const uint64_t b = instructions(&o, WG_CORE_B);
    assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_ENDED);
    assert_int_equal(o.d->state.stop, WG_STOP_HUNG);
    assert_int_equal(instructions(&o, WG_CORE_B), b);
    wg_text said = {0};
    wg_debug_pause_text(o.d, &said);
    assert_non_null(strstr(wg_text_of(&said), "while other cores are held"));
    wg_text_free(&said);
    assert_int_equal(wg_debug_alone(o.d, NULL), WG_OK);
    assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_ENDED);
    assert_int_equal(o.d->state.stop, WG_STOP_DONE);
    assert_true(instructions(&o, WG_CORE_B) > b);
    assert_int_equal(wg_debug_alone(o.d, &(wg_who){.agent = WG_AGENT_MATRIX}), WG_ERR_ARGUMENT);
    close_program(&o);
}

static uint32_t word_at(const opened *o, uint32_t address)
{
    uint32_t word = 0;
    assert_int_equal(wg_read(o->dev, address, &word, 4), WG_OK);
    return word;
}

/* Running forwards, a watchpoint stops after the change; backwards, before it. The word has the value of that cycle. */
static void test_watches_both_ways(void **state)
{
    enum { WORD = 0x3000, CHANGES = 6 };
    opened o;
    uint64_t at[CHANGES];
    uint32_t value[CHANGES + 1] = {0};
    open_program(&o, wg_test_arch(state), "256M");
    assert_int_equal(wg_debug_watch(o.d, wg_l1_bytes(o.dev) - 2, 4, WG_WATCH_WRITE, true), WG_ERR_ADDRESS);
    assert_int_equal(wg_debug_watch(o.d, WORD, 4, WG_WATCH_WRITE, true), WG_OK);
    for (unsigned i = 0; i < CHANGES; i++) {
        assert_int_equal(wg_debug_continue(o.d), WG_PAUSE_WATCH);
        at[i] = wg_cycle(o.dev);
        value[i + 1] = word_at(&o, WORD);
        assert_int_not_equal(value[i + 1], value[i]);
    }
    for (unsigned i = CHANGES; i-- > 0;) {
        assert_int_equal(wg_debug_back(o.d), WG_PAUSE_WATCH);
        assert_int_equal(wg_cycle(o.dev), at[i] - 1);
        assert_int_equal(word_at(&o, WORD), value[i]);
    }
    assert_int_equal(wg_debug_back(o.d), WG_PAUSE_BEGIN);
    close_program(&o);
}

static const wg_test tests[] = {
    WG_TEST(test_any_cycle_again, WG_BH | WG_WH, ""),
    WG_TEST(test_any_sequence, WG_BH | WG_WH, ""),
    WG_TEST(test_thread_steps, WG_BH | WG_WH, ""),
    WG_TEST(test_private_watches, WG_BH | WG_WH, ""),
    WG_TEST(test_register_watches, WG_BH | WG_WH, ""),
    WG_TEST(test_private_touches, WG_BH, ""),
    WG_TEST(test_findings_go_back, WG_BH | WG_WH, ""),
    WG_TEST(test_steps_undone, WG_BH | WG_WH, ""),
    WG_TEST(test_alone, WG_BH | WG_WH, ""),
    WG_TEST(test_alone_and_stuck, WG_BH | WG_WH, ""),
    WG_TEST(test_breakpoints_both_ways, WG_BH | WG_WH, ""),
    WG_TEST(test_watches_both_ways, WG_BH | WG_WH, ""),
};
WG_MAIN("debugger", tests)
