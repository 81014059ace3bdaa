/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that can never end is recognised, or not, in the same cycle in every mode, with the same report (time.md rules
 * 10, 11 and 15): random loops of several cores that wait, count, push, store or do nothing at all, run once skipping,
 * once ticking every agent in every cycle, once watched, once without shortcuts, once in odd steps, and once moved from
 * device to device by snapshots at random points; with any limit.
 *
 * WG_RANDOM_PROGRAMS: programs per architecture; WG_RANDOM_FIRST: the first one.
 */
#include "explain/hang.h"
#include "rvasm.h"
#include "state_diff.h"
#include "wgtest.h"

enum { SKIPPING, LOCKSTEP, WATCHED, NONE, STEPPING, RESTORED, MODES };
static const char *const mode_names[MODES] = {"skipping",          "lockstep", "watched",
                                              "without shortcuts", "stepping", "restored"};
enum { CODE = 0x10000, CODE_STRIDE = 0x1000, SHARED = 0x40000, OWN = 0x50000, OWN_STRIDE = 0x1000 };
enum { RAM = S2, L1_SHARED = S3, L1_OWN = S4, PUSH = S8, INNER = T5, LOOP = T6 };

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }
static unsigned any_reg(void) { return T0 + below(6) % 3; }

typedef struct ending {
    wg_stop stop;
    uint64_t cycle, hash;
    wg_hang hang;
} ending;

static void ignore(void *user, const wg_event *e) { (void)user, (void)e; }

static wg_device *make(wg_arch_id arch, unsigned mode, unsigned profile)
{
    wg_device_desc desc = {.struct_size = sizeof desc,
                           .arch = arch,
                           .profile = (wg_profile)profile,
                           .lockstep = mode == LOCKSTEP,
                           .shortcuts = mode == NONE ? "none" : NULL};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static wg_device *start(wg_arch_id arch, unsigned mode, unsigned profile, unsigned cores, const rv code[WG_CORES])
{
    wg_device *dev = make(arch, mode, profile);
    if (mode == WATCHED)
        assert_int_equal(wg_observe(dev, ~UINT64_C(0), ignore, NULL, NULL), WG_OK);
    for (unsigned c = 0; c < WG_CORES; c++)
        if (cores >> c & 1) {
            assert_true(rv_load(dev, &code[c]));
            assert_int_equal(wg_core_release(dev, (wg_core_id)c, code[c].base), WG_OK);
        }
    return dev;
}

/* Continues the run on another device in any mode; that device may have run something else before. */
static wg_device *move(wg_device *dev, wg_arch_id arch, unsigned profile)
{
    size_t size = wg_snapshot_size(dev);
    void *copy = malloc(size);
    wg_device *to = make(arch, below(4) ? below(2) * NONE : LOCKSTEP, profile);
    wg_stop stop;
    assert_non_null(copy);
    assert_int_equal(wg_snapshot(dev, copy, size), WG_OK);
    if (below(4) == 0)
        assert_int_equal(wg_run(to, 5000, &stop), WG_OK);
    if (wg_restore(to, copy, size) != WG_OK)
        fail_msg("%s", wg_error(to));
    free(copy);
    wg_destroy(dev);
    return to;
}

static wg_device *run(wg_device *dev, wg_arch_id arch, unsigned profile, unsigned mode, uint64_t limit, ending *out)
{
    static const wg_history none;
    if (mode >= STEPPING) {
        uint32_t size = below(3) ? 3000 : mode == STEPPING ? 9 : 900;
        do {
            uint64_t left = limit - wg_cycle(dev), n = 1 + below(size);
            assert_int_equal(wg_run(dev, n < left ? n : left, &out->stop), WG_OK);
            if (mode == RESTORED && out->stop == WG_STOP_CYCLES && below(2))
                dev = move(dev, arch, profile);
        } while (out->stop == WG_STOP_CYCLES && wg_cycle(dev) < limit);
    } else {
        assert_int_equal(wg_run(dev, limit, &out->stop), WG_OK);
    }
    out->cycle = wg_cycle(dev);
    out->hash = wg_state_hash(dev);
    wg_hang_inspect(dev, &none, out->stop == WG_STOP_HUNG, &out->hang);
    return dev;
}

static bool same_report(const wg_hang *a, const wg_hang *b)
{
    for (unsigned c = 0; c < WG_CORES; c++)
        if (strcmp(a->core[c].why, b->core[c].why) != 0 || a->core[c].info.pc != b->core[c].info.pc ||
            a->core[c].info.instructions != b->core[c].info.instructions)
            return false;
    return a->edges == b->edges && a->path_length == b->path_length && strcmp(a->story, b->story) == 0;
}

static void same_ending(wg_arch_id arch, unsigned profile, unsigned cores, const rv code[WG_CORES], uint64_t limit,
                        unsigned program, ending end[MODES])
{
    wg_device *first = NULL;
    for (unsigned i = 0; i < MODES; i++) {
        wg_device *dev = start(arch, i, profile, cores, code);
        dev = run(dev, arch, profile, i, limit, &end[i]);
        if (end[i].stop != end[0].stop || end[i].cycle != end[0].cycle || end[i].hash != end[0].hash)
            fail_msg("%s program %u, limit %llu: %s ends in %llu (%d), %s in %llu (%d): %s",
                     arch == WG_ARCH_BH ? "bh" : "wh", program, (unsigned long long)limit, mode_names[i],
                     (unsigned long long)end[i].cycle, (int)end[i].stop, mode_names[0],
                     (unsigned long long)end[0].cycle, (int)end[0].stop, first_difference(first, dev));
        if (end[i].stop == WG_STOP_HUNG && !same_report(&end[i].hang, &end[0].hang))
            fail_msg("program %u, limit %llu: %s reports\n%s\nnot\n%s", program, (unsigned long long)limit,
                     mode_names[i], end[i].hang.story, end[0].hang.story);
        if (i)
            wg_destroy(dev);
        else
            first = dev;
    }
    wg_destroy(first);
}

/* A loop body: most of it reaches a fixed point, or has a short period. */
static void instruction(rv *p, unsigned core, unsigned kinds)
{
    unsigned k = below(16), rd = any_reg();
    if (k < 5) {
        static const uint8_t f3[] = {2, 3, 6, 7, 7}; /* slti, sltiu, ori, andi */
        rv_word(p, rv_i((int)below(16), any_reg(), f3[below(5)], rd, 0x13));
    } else if (k < 6) {
        rv_word(p, rv_i((int)below(16), rd, 4, rd, 0x13)); /* xori: alternates */
    } else if (k < 8) {
        rv_nop(p);
    } else if (k < 9) {
        rv_word(p, 1u << 25 | any_reg() << 20 | any_reg() << 15 | below(8) << 12 | T3 << 7 | 0x33);
    } else if (k < 11) {
        rv_lw(p, rd, 4 * (int)below(4), RAM);
    } else if (k < 13 && kinds & 1) {
        rv_lw(p, rd, 16 * (int)below(4), below(2) ? L1_SHARED : L1_OWN);
    } else if (k < 14 && kinds & 1) {
        rv_fence(p);
    } else if (k < 15 && kinds & 2) { /* a delay */
        rv_li(p, INNER, 1 + below(below(4) ? 20 : 300));
        unsigned top = p->n;
        rv_addi(p, INNER, INNER, -1);
        rv_bne(p, INNER, ZERO, top);
    } else if (kinds & 4 && below(4) == 0) { /* what may not be skipped */
        if (core >= WG_CORE_T0 && below(2))
            rv_tt(p, 0x02000000);
        else if (below(2))
            rv_sw(p, rd, 4 * (int)below(4), L1_OWN);
        else
            rv_sw(p, rd, 4 * (int)below(4), RAM);
    }
}

/* A few counted loops; one of them may lack its counter. */
static rv program(unsigned core, unsigned kinds)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, RAM, 0xFFB00000);
    rv_li(&p, L1_SHARED, SHARED);
    rv_li(&p, L1_OWN, OWN + core * OWN_STRIDE);
    rv_li(&p, PUSH, 0xFFE40000);
    for (unsigned i = 0; i < 4; i++)
        rv_li(&p, T0 + i % 3, below(64));
    for (unsigned loops = 1 + below(3); loops; loops--) {
        rv_li(&p, LOOP, 1 + below(below(3) ? 30 : 1500));
        unsigned top = p.n;
        for (unsigned n = below(12); n; n--)
            instruction(&p, core, kinds);
        if (below(2))
            rv_word(&p, rv_b(8, any_reg(), any_reg(), below(2))); /* over the next instruction */
        rv_addi(&p, LOOP, LOOP, -1);
        rv_bne(&p, LOOP, ZERO, top);
    }
    if (below(3) == 0) { /* an end that is not reached */
        unsigned top = p.n;
        for (unsigned n = 1 + below(4); n; n--)
            instruction(&p, core, kinds & 3);
        rv_beq(&p, ZERO, ZERO, top);
    }
    rv_done(&p);
    return p;
}

static void test_random_loops(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = (unsigned)wg_test_first(), count = (unsigned)wg_test_count(wg_test_rounds(12, 12)), hung = 0;
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned seed = first; seed < first + count; seed++) {
        wg_test_seed(seed);
        g.s = seed * UINT64_C(52361) + arch;
        unsigned cores = below(3) ? 1u << below(5) : 1 + below(31), profile = below(2), kinds = below(8);
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = program(c, kinds);
        uint64_t limit = below(4) ? 20000 : 40000 + below(100000);
        same_ending(arch, profile, cores, code, limit, seed, end);
        if (end[0].stop != WG_STOP_HUNG)
            continue;
        hung++;
        /* Just before that cycle, in it, and after it. */
        limit = end[0].cycle - 1 + below(below(2) ? 3 : 400);
        same_ending(arch, profile, cores, code, limit, seed, end);
        assert_int_equal(end[0].stop, limit > end[0].hang.cycle ? WG_STOP_HUNG : WG_STOP_CYCLES);
    }
    print_message("%u of %u hang\n", hung, count);
    free(end);
}

/* T cores that push in loops, until their threads take no more, or forever. */
static rv feeder(unsigned core)
{
    static const uint32_t words[] = {0x02000000, 0x58000000, 0x45000000 | 5 << 1, 0xA2008001, 0x02000000, 0x02000000};
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, PUSH, 0xFFE40000);
    rv_li(&p, T4, 0x02000000);
    rv_li(&p, LOOP, 1 + below(below(2) ? 30 : 1500));
    if (below(2))
        rv_tt(&p, 0xA6000000 | 0x1FF << 15 | 1 << 2 | 1); /* SEMWAIT for what nobody posts */
    unsigned top = p.n;
    for (unsigned count = 1 + below(7); count; count--) {
        for (unsigned n = below(3) ? below(3) : below(24); n; n--)
            rv_word(&p, rv_i(1, below(4) ? T1 : T2, 0, T1 + below(2), 0x13));
        if (below(3) == 0)
            rv_word(&p, rv_b(8, T1, T2, below(2))); /* over the next instruction */
        if (below(4))
            rv_tt(&p, words[below(6)]);
        else
            rv_sw(&p, T4, 0, PUSH);
    }
    if (below(4))
        rv_addi(&p, LOOP, LOOP, -1);
    rv_bne(&p, LOOP, ZERO, top);
    rv_done(&p);
    return p;
}

static void test_random_feeders(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = (unsigned)wg_test_first(), count = (unsigned)wg_test_count(wg_test_rounds(60, 60)), hung = 0;
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned seed = first; seed < first + count; seed++) {
        wg_test_seed(seed);
        g.s = seed * UINT64_C(73471) + arch;
        unsigned cores = (1 + below(7)) << WG_CORE_T0, profile = below(2);
        rv code[WG_CORES];
        for (unsigned c = WG_CORE_T0; c < WG_CORES; c++)
            code[c] = feeder(c);
        same_ending(arch, profile, cores, code, 4000 + below(4000), seed, end);
        if (end[0].stop != WG_STOP_HUNG)
            continue;
        hung++;
        same_ending(arch, profile, cores, code, end[0].cycle - 20 + below(24), seed, end);
    }
    print_message("%u of %u hang\n", hung, count);
    free(end);
}

/* A polling loop that produces findings: their number and cycles are the same whether or not rounds are skipped. */
static void test_findings_in_rounds(void **state)
{
    static const uint32_t polled[] = {0xFFB12300, 0xFFB13200, 0xFFB12058, 0xFFB12000 + 0xFC};
    wg_arch_id arch = wg_test_arch(state);
    uint64_t most = 0;
    for (unsigned k = 0; k < sizeof polled / sizeof *polled; k++)
        for (unsigned core = WG_CORE_B; core <= WG_CORE_T0; core++) {
            rv p = rv_at(CODE + core * CODE_STRIDE), code[WG_CORES];
            rv_li(&p, S0, polled[k]);
            unsigned top = p.n;
            rv_lw(&p, T0, 0, S0);
            rv_word(&p, rv_i(1, RAM, 2, T1, 0x03)); /* misaligned */
            rv_beq(&p, ZERO, ZERO, top);
            rv_done(&p);
            code[core] = p;
            wg_device *dev[MODES];
            for (unsigned i = 0; i < MODES; i++) {
                dev[i] = start(arch, i, 0, 1u << core, code);
                for (uint64_t left = 20000, n; left; left -= n) {
                    n = i == STEPPING && left > 777 ? 1 + left % 777 : left;
                    assert_int_equal(wg_advance(dev[i], n), WG_OK);
                }
                assert_int_equal(wg_finding_count(dev[i]), wg_finding_count(dev[0]));
                for (size_t f = 0; f < wg_finding_count(dev[0]); f++) {
                    const wg_finding *a = wg_finding_at(dev[0], f), *b = wg_finding_at(dev[i], f);
                    if (a->code != b->code || a->count != b->count || a->cycle != b->cycle)
                        fail_msg("0x%x: %s finds %s %llu times from %llu on, %s %s %llu times from %llu on", polled[k],
                                 mode_names[i], wg_finding_info_at(b->code)->code, (unsigned long long)b->count,
                                 (unsigned long long)b->cycle, mode_names[0], wg_finding_info_at(a->code)->code,
                                 (unsigned long long)a->count, (unsigned long long)a->cycle);
                    most = a->count > most ? a->count : most;
                }
            }
            for (unsigned i = 0; i < MODES; i++)
                wg_destroy(dev[i]);
        }
    assert_true(most > 500);
}

/* ---- single cases ---- */

static void same_alone(wg_arch_id arch, const rv *p, uint64_t limit, ending end[MODES])
{
    rv code[WG_CORES];
    code[WG_CORE_B] = *p;
    same_ending(arch, 0, 1u << WG_CORE_B, code, limit, 0, end);
}

/* Arithmetic that has reached a fixed point, and a jump: no request is visible from outside. */
static void test_private_loops(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned n = 1; n <= 12; n++) {
        for (unsigned how = 0; how < 3; how++) {
            rv p = rv_at(CODE);
            unsigned top = p.n;
            for (unsigned i = 0; i < n; i++) {
                if (how == 0)
                    rv_nop(&p);
                else if (how == 1)
                    rv_andi(&p, T0, T0, 15);
                else
                    rv_word(&p, rv_i(1, T1, 4, T1, 0x13)); /* xori: period two */
            }
            rv_beq(&p, ZERO, ZERO, top);
            rv_done(&p);
            g.s = n;
            same_alone(arch, &p, 8000, end);
            assert_int_equal(end[0].stop, WG_STOP_HUNG);
            assert_string_equal(end[0].hang.core[WG_CORE_B].why, "it polls");
            assert_true(end[0].cycle > 3072 && end[0].cycle < 5200);
        }
    }
    free(end);
}

/* A loop with a long period is recognised later; a counting loop never is. */
static void test_long_rounds(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned counts = 0; counts < 2; counts++) {
        rv p = rv_at(CODE);
        unsigned top = p.n;
        rv_li(&p, INNER, 100);
        unsigned inner = p.n;
        rv_addi(&p, INNER, INNER, -1);
        rv_bne(&p, INNER, ZERO, inner);
        rv_addi(&p, T0, T0, (int)counts);
        rv_beq(&p, ZERO, ZERO, top);
        rv_done(&p);
        g.s = 1;
        same_alone(arch, &p, 30000, end);
        assert_int_equal(end[0].stop, counts ? WG_STOP_CYCLES : WG_STOP_HUNG);
    }
    free(end);
}

/*
 * A loop that waits for a word of L1 that nobody writes, and stores: to the stack as unoptimised code does, in a call
 * that saves its return address, or the same value again and again.
 */
static rv storing(unsigned how, unsigned core)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, L1_SHARED, SHARED);
    rv_li(&p, SP, how & 1 ? OWN + core * OWN_STRIDE : 0xFFB00400);
    unsigned top = p.n;
    rv_fence(&p);
    switch (how / 2) {
    case 0: /* i = 3; while (i--) ; in memory */
        rv_addi(&p, T0, ZERO, 3);
        rv_sw(&p, T0, 12, SP);
        {
            unsigned inner = p.n;
            rv_lw(&p, T0, 12, SP);
            rv_addi(&p, T0, T0, -1);
            rv_sw(&p, T0, 12, SP);
            rv_bne(&p, T0, ZERO, inner);
        }
        break;
    case 1: /* a call that saves ra, and returns */
        rv_word(&p, 8u << 20 | RA << 7 | 0x6F);
        rv_word(&p, 20u << 20 | 0x6F); /* j to the code after the function */
        rv_sw(&p, RA, 0, SP);
        rv_lw(&p, RA, 0, SP);
        rv_word(&p, rv_i(0, RA, 0, ZERO, 0x67));
        rv_nop(&p);
        break;
    default: /* a livelock: the same value */ rv_sw(&p, SP, 16, SP); break;
    }
    rv_lw(&p, T1, 0, L1_SHARED);
    rv_beq(&p, T1, ZERO, top);
    rv_done(&p);
    return p;
}

static void test_polls_that_store(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned how = 0; how < 6; how++) {
        rv p = storing(how, WG_CORE_B);
        g.s = how + 1;
        same_alone(arch, &p, 400000, end);
        if (end[0].stop != WG_STOP_HUNG)
            fail_msg("loop %u is not recognised", how);
        assert_string_equal(end[0].hang.core[WG_CORE_B].why, "it polls");
    }
    free(end);
}

/* A counter in memory grows, so the loop is not periodic although the registers repeat. */
static void test_counts_in_memory(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned how = 0; how < 2; how++) {
        rv p = rv_at(CODE);
        rv_li(&p, SP, how ? OWN : 0xFFB00400);
        rv_li(&p, T3, 2000); /* ends when the counter reaches this */
        unsigned top = p.n;
        rv_lw(&p, T0, 0, SP);
        rv_addi(&p, T0, T0, 1);
        rv_sw(&p, T0, 0, SP);
        rv_fence(&p);
        rv_word(&p, rv_b(12, T0, T3, 0));
        rv_addi(&p, T0, ZERO, 0);
        rv_beq(&p, ZERO, ZERO, top);
        rv_done(&p);
        g.s = how + 1;
        same_alone(arch, &p, 200000, end);
        assert_int_equal(end[0].stop, WG_STOP_DONE);
    }
    free(end);
}

/* Two cores with coprime periods, and one with a long period. */
static rv delayed(unsigned core, unsigned rounds)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, L1_SHARED, SHARED);
    unsigned top = p.n;
    rv_li(&p, INNER, rounds);
    unsigned inner = p.n;
    rv_addi(&p, INNER, INNER, -1);
    rv_bne(&p, INNER, ZERO, inner);
    rv_fence(&p);
    rv_lw(&p, T1, 0, L1_SHARED);
    rv_beq(&p, T1, ZERO, top);
    rv_done(&p);
    return p;
}

static void test_coprime_rounds(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    rv code[WG_CORES];
    assert_non_null(end);
    code[WG_CORE_B] = delayed(WG_CORE_B, 50);
    code[WG_CORE_T1] = delayed(WG_CORE_T1, 51);
    g.s = 7;
    unsigned cores = 1u << WG_CORE_B | 1u << WG_CORE_T1;
    if (arch ==
        WG_ARCH_WH) { /* BH's L0 caches make the common period 128 times as long: too long to be ticked through */
        same_ending(arch, 0, cores, code, 200000, 0, end);
    } else {
        wg_device *dev = start(arch, SKIPPING, 0, cores, code);
        dev = run(dev, arch, 0, SKIPPING, 100000000, &end[0]);
        wg_destroy(dev);
    }
    assert_int_equal(end[0].stop, WG_STOP_HUNG);
    code[WG_CORE_B] = delayed(WG_CORE_B, 5000);
    wg_device *dev = start(arch, SKIPPING, 0, 1u << WG_CORE_B, code);
    dev = run(dev, arch, 0, SKIPPING, 100000000, &end[0]);
    assert_int_equal(end[0].stop, WG_STOP_HUNG);
    wg_destroy(dev);
    free(end);
}

/* Neither observers nor the search for polling loops change the cycle in which the run ends. */
static void test_ends_in_the_same_cycle(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ending *end = calloc(MODES, sizeof *end);
    assert_non_null(end);
    for (unsigned i = 0; i < 24; i++) {
        rv p = rv_at(CODE);
        rv_li(&p, LOOP, (i < 12 ? 3060u : 18420u) / 2 + 5 * (i % 12));
        unsigned top = p.n;
        rv_addi(&p, LOOP, LOOP, -1);
        rv_bne(&p, LOOP, ZERO, top);
        rv_done(&p);
        g.s = i;
        same_alone(arch, &p, 30000, end);
        assert_int_equal(end[0].stop, WG_STOP_DONE);
    }
    free(end);
}

/* The host writes between two runs, after the read that would have seen it: the previous round must not be reused. */
static void test_host_acts_in_a_round(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    rv p = rv_at(CODE), code[WG_CORES];
    rv_li(&p, L1_SHARED, SHARED);
    unsigned top = p.n;
    rv_fence(&p);
    rv_lw(&p, T0, 0, L1_SHARED);
    rv_word(&p, rv_b(20, T0, ZERO, 1)); /* out */
    rv_addi(&p, INNER, ZERO, 40);
    rv_addi(&p, INNER, INNER, -1);
    rv_bne(&p, INNER, ZERO, p.n - 1);
    rv_beq(&p, ZERO, ZERO, top);
    rv_done(&p);
    code[WG_CORE_B] = p;
    for (unsigned mode = SKIPPING; mode <= WATCHED; mode++) {
        wg_device *dev = start(arch, mode, 0, 1u << WG_CORE_B, code);
        wg_stop stop;
        assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_HUNG);
        uint64_t hung = wg_cycle(dev);
        wg_destroy(dev);
        dev = start(arch, mode, 0, 1u << WG_CORE_B, code);
        assert_int_equal(wg_run(dev, hung - 10, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_CYCLES);
        uint32_t go = 1;
        assert_int_equal(wg_write(dev, SHARED, &go, 4), WG_OK);
        assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_DONE);
        wg_destroy(dev);
    }
}

/* ATINCGETPTR finds its queue empty each time: the same in steps as in one go. */
static void test_refused_in_steps(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    uint64_t end[MODES] = {0};
    for (unsigned mode = 0; mode < MODES; mode++) {
        wg_device *dev = start(arch, mode, 0, 0, NULL);
        wg_stop stop;
        assert_int_equal(wg_push(dev, 0, 0x45010000), WG_OK);
        assert_int_equal(wg_push(dev, 0, 0x62010100), WG_OK);
        do {
            assert_int_equal(wg_run(dev, mode >= STEPPING ? 1 : 5000, &stop), WG_OK);
            if (mode == RESTORED && stop == WG_STOP_CYCLES)
                dev = move(dev, arch, 0);
        } while (stop == WG_STOP_CYCLES && wg_cycle(dev) < 5000);
        assert_int_equal(stop, WG_STOP_HUNG);
        end[mode] = wg_cycle(dev);
        assert_true(end[mode] == end[0]);
        wg_destroy(dev);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_private_loops, WG_BH | WG_WH, ""),          WG_TEST(test_long_rounds, WG_BH | WG_WH, ""),
    WG_TEST(test_ends_in_the_same_cycle, WG_BH | WG_WH, ""), WG_TEST(test_host_acts_in_a_round, WG_BH | WG_WH, ""),
    WG_TEST(test_findings_in_rounds, WG_BH | WG_WH, ""),     WG_TEST(test_polls_that_store, WG_BH | WG_WH, ""),
    WG_TEST(test_counts_in_memory, WG_BH | WG_WH, ""),       WG_TEST(test_coprime_rounds, WG_BH | WG_WH, ""),
    WG_TEST(test_refused_in_steps, WG_BH | WG_WH, ""),       WG_TEST(test_random_feeders, WG_BH | WG_WH, ""),
    WG_TEST(test_random_loops, WG_BH | WG_WH, ""),
};
WG_MAIN("endless", tests)
