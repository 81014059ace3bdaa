/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops whose rounds repeat (src/fast/lines.c, rounds.c): random bodies of arithmetic, loads and stores, with fixed or
 * moving pointers, on one core or, much the same, on several at a time. Each runs once skipping, once in small steps,
 * once without shortcuts, once moved from device to device by snapshots and once with every agent ticked in every
 * cycle. Registers, memory, cycles and instruction counts must be identical at every check.
 *
 * WG_RANDOM_LOOPS: programs per architecture; WG_RANDOM_FIRST: the first one.
 */
#include "rvasm.h"
#include "state_diff.h"
#include "wgtest.h"

enum { SKIPPING, STEPPING, NONE, RESTORED, LOCKSTEP, MODES };
enum { CODE = 0x10000, CODE_STRIDE = 0x1000, DATA = 0x40000, DATA_STRIDE = 0x10000 };
enum { FROM = S2, TO = S3, COUNT = S4 };

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }
static unsigned any_reg(void) { return T0 + below(11); } /* x5 to x15 */

static unsigned number(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

static void body(rv *p, unsigned stores)
{
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
    case 3: {
        unsigned base = below(2) ? FROM : TO, size = below(3) ? 2 : below(3);
        int offset = (int)below(24) * 4 - 32;
        if (size < 2)
            offset += (int)(below(4) & ~((1u << size) - 1));
        if (below(100) < stores)
            rv_word(p, rv_s(offset, any_reg(), base, size, 0x23));
        else
            rv_word(p, rv_i(offset, base, size | (size < 2 ? below(2) * 4 : 0), below(15) ? any_reg() : ZERO, 0x03));
        break;
    }
    case 4: rv_word(p, 1u << 25 | any_reg() << 20 | any_reg() << 15 | below(4) << 12 | any_reg() << 7 | 0x33); break;
    case 5: rv_word(p, rv_i((int)below(0x1000), any_reg(), 4, any_reg(), 0x13)); break;
    default: rv_add(p, any_reg(), any_reg(), any_reg()); break;
    }
}

/* Ways in which a periodic loop stops being periodic: branches, and addresses loaded from memory. */
static void odd_body(rv *p)
{
    unsigned reg = any_reg();
    switch (below(3)) {
    case 0: /* over one instruction, in some rounds */
        rv_word(p, rv_i(1 << below(5), COUNT, 7, reg, 0x13));
        rv_word(p, rv_b(8, reg, ZERO, below(2)));
        body(p, 30);
        break;
    case 1: /* a loop in the loop */
        rv_addi(p, S6, ZERO, 2 + (int)below(4));
        body(p, 30);
        rv_addi(p, S6, S6, -1);
        rv_word(p, rv_b(-8, S6, ZERO, 1));
        break;
    default:
        rv_lw(p, reg, (int)below(24) * 4 - 32, FROM);
        rv_word(p, rv_i(0x3F0, reg, 7, reg, 0x13));
        rv_add(p, reg, reg, TO);
        rv_word(p, rv_i(0, reg, 2, any_reg(), 0x03));
        break;
    }
}

static void loop(rv *p, uint32_t data, unsigned odd)
{
    static const int strides[] = {0, 0, 0, 16, 16, -16, 4, 8, 32, 48, -4, 2, 512};
    int stride = strides[below(13)], other = below(8) ? stride : strides[below(13)];
    unsigned ops = 1 + below(14), stores = below(2) ? below(100) : below(20);
    rv_li(p, FROM, data + below(64) * 4);
    rv_li(p, TO, data + (below(3) ? 0x2000 : below(32) * 4) + below(64) * 4);
    if (stride & 3)
        rv_li(p, TO, data); /* eventually misaligned: such accesses are reported and handled separately */
    rv_li(p, COUNT, 1 + below(below(4) ? 250 : 12));
    unsigned label = p->n;
    for (unsigned i = 0; i < ops; i++)
        if (below(100) < odd)
            odd_body(p);
        else
            body(p, stores);
    if (stride)
        rv_addi(p, FROM, FROM, stride);
    if (other)
        rv_addi(p, TO, TO, other);
    if (below(20) == 0)
        rv_lw(p, FROM, 0, TO); /* an address that is not computed */
    if (below(20) == 0)
        rv_fence(p);
    rv_addi(p, COUNT, COUNT, -1);
    rv_bne(p, COUNT, ZERO, label);
}

static rv program(unsigned core)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    for (unsigned r = T0; r < T0 + 11; r++)
        rv_li(&p, r, (uint32_t)wg_rng_next(&g));
    for (unsigned i = 0; i < 6; i++)
        loop(&p, DATA + core * DATA_STRIDE + 0x4000, 0);
    rv_done(&p);
    return p;
}

/*
 * Cores running the same or nearly the same loop, on separate, neighbouring or identical addresses: eventually they
 * fall into step.
 */
typedef struct crowd {
    uint64_t seed;
    unsigned cores, same, loops, again, cfg0, odd;
    uint32_t apart;
} crowd;

static rv crowd_program(unsigned core, const crowd *w)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    g.s = w->same >> core & 1 ? w->seed : w->seed + 1 + core;
    if (w->cfg0) {
        rv_li(&p, T5, w->cfg0);
        rv_word(&p, rv_i(0x7C0, T5, 2, ZERO, 0x73));
    }
    for (unsigned r = T0; r < T0 + 11; r++)
        rv_li(&p, r, (uint32_t)wg_rng_next(&g) + core);
    rv_li(&p, S5, w->again);
    unsigned top = p.n;
    for (unsigned i = 0; i < w->loops; i++)
        loop(&p, DATA + core * w->apart + 0x4000, w->odd);
    rv_addi(&p, S5, S5, -1);
    rv_bne(&p, S5, ZERO, top);
    rv_done(&p);
    return p;
}

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

/* Continues the run in another device. */
static wg_device *move(wg_device *dev, wg_arch_id arch, unsigned profile)
{
    size_t size = wg_snapshot_size(dev);
    void *copy = malloc(size);
    wg_device *to = make(arch, RESTORED, profile);
    assert_non_null(copy);
    assert_int_equal(wg_snapshot(dev, copy, size), WG_OK);
    assert_int_equal(wg_restore(to, copy, size), WG_OK);
    free(copy);
    wg_destroy(dev);
    return to;
}

static void step(wg_device *dev, unsigned mode, uint64_t cycles)
{
    for (uint64_t left = cycles, n; left; left -= n) {
        n = mode == STEPPING ? 1 + below(below(4) ? 1500 : 9) : left;
        n = n < left ? n : left;
        wg_advance(dev, n);
    }
}

/* The cores in the mask, in all modes, compared now and then. */
static void same_in_all_modes(wg_arch_id arch, unsigned profile, unsigned cores, const rv code[WG_CORES],
                              unsigned looks, unsigned seed)
{
    char again[80];
    snprintf(again, sizeof again, "WG_RANDOM_FIRST=%u WG_RANDOM_LOOPS=1", seed);
    wg_test_at(again, "%s program %u", arch == WG_ARCH_BH ? "bh" : "wh", seed);
    wg_device *dev[MODES];
    for (unsigned i = 0; i < MODES; i++) {
        dev[i] = make(arch, i, profile);
        for (unsigned c = 0; c < WG_CORES; c++)
            if (cores >> c & 1) {
                assert_true(rv_load(dev[i], &code[c]));
                assert_int_equal(wg_core_release(dev[i], (wg_core_id)c, code[c].base), WG_OK);
            }
    }
    for (unsigned look = 0; look < looks; look++) {
        uint64_t cycles = 1 + below(6000), hash = 0;
        for (unsigned i = 0; i < MODES; i++) {
            step(dev[i], i, cycles / 2);
            if (i == RESTORED)
                dev[i] = move(dev[i], arch, profile);
            step(dev[i], i, cycles - cycles / 2);
            uint64_t h = wg_state_hash(dev[i]);
            if (i && h != hash)
                fail_msg("program %u, look %u: mode %u differs by cycle %llu: %s", seed, look, i,
                         (unsigned long long)wg_cycle(dev[i]), first_difference(dev[0], dev[i]));
            hash = h;
            for (unsigned c = 0; c < WG_CORES; c++) {
                wg_core_info a, b;
                wg_core_state(dev[0], (wg_core_id)c, &a);
                wg_core_state(dev[i], (wg_core_id)c, &b);
                if (a.instructions != b.instructions)
                    fail_msg("program %u: core %u has executed %llu in mode %u, not %llu", seed, c,
                             (unsigned long long)b.instructions, i, (unsigned long long)a.instructions);
            }
        }
    }
    for (unsigned i = 1; i < MODES; i++) {
        if (i == RESTORED) /* findings are not part of a snapshot */
            continue;
        if (wg_finding_count(dev[i]) != wg_finding_count(dev[0]))
            fail_msg("program %u: %zu findings in mode %u, not %zu", seed, wg_finding_count(dev[i]), i,
                     wg_finding_count(dev[0]));
        for (size_t k = 0; k < wg_finding_count(dev[0]); k++) {
            const wg_finding *a = wg_finding_at(dev[0], k), *b = wg_finding_at(dev[i], k);
            if (a->code != b->code || a->cycle != b->cycle || a->count != b->count)
                fail_msg("program %u: finding %zu in mode %u: %llu times from %llu on, not %llu from %llu on", seed, k,
                         i, (unsigned long long)b->count, (unsigned long long)b->cycle, (unsigned long long)a->count,
                         (unsigned long long)a->cycle);
        }
    }
    for (unsigned i = 0; i < MODES; i++)
        wg_destroy(dev[i]);
}

static void test_random_loops(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = number("WG_RANDOM_FIRST", 0), count = number("WG_RANDOM_LOOPS", (unsigned)wg_test_rounds(15, 15));
    for (unsigned seed = first; seed < first + count; seed++) {
        g.s = seed * UINT64_C(88887) + arch;
        unsigned cores = below(6) ? 1u << below(5) : 1 + below(31), profile = below(2);
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = program(c);
        same_in_all_modes(arch, profile, cores, code, 5, seed);
    }
}

/*
 * Arithmetic only, from few instructions to too many, counting up, down or randomly; the last may be a multiplication,
 * whose result is late; nested loops, and more code than one cache line.
 */
static void arithmetic_loop(rv *p, unsigned depth)
{
    static const unsigned branch[] = {1, 4, 5, 6, 7, 0}; /* bne, blt, bge, bltu, bgeu, beq */
    unsigned kind = below(3), condition = branch[below(6)], count = depth ? S6 : COUNT, limit = below(300);
    rv_li(p, count, kind ? 0 : 1 + limit);
    rv_li(p, S7, limit);
    unsigned label = p->n;
    for (unsigned ops = below(below(4) ? 9 : 30); ops--;)
        switch (below(depth ? 5 : 6)) {
        case 0:
            rv_word(p, 1u << 25 | any_reg() << 20 | any_reg() << 15 | below(4) << 12 | any_reg() << 7 | 0x33);
            break;
        case 1: rv_word(p, rv_i((int)below(0x1000), any_reg(), 4, any_reg(), 0x13)); break;
        case 2: rv_word(p, rv_i((int)below(32), any_reg(), 1, any_reg(), 0x13)); break;
        case 3: rv_word(p, any_reg() << 20 | any_reg() << 15 | 3u << 12 | any_reg() << 7 | 0x33); break; /* sltu */
        case 4: rv_add(p, any_reg(), any_reg(), any_reg()); break;
        default:
            if (below(6) == 0 && ops < 8)
                arithmetic_loop(p, 1);
            break;
        }
    rv_addi(p, count, count, kind ? 1 : -1);
    int back = 4 * ((int)label - (int)p->n);
    if (kind == 0)
        rv_word(p, rv_b(back, count, ZERO, 1));
    else if (kind == 1)
        rv_word(p, rv_b(back, count, S7, below(2) ? 4 : 6)); /* blt, bltu */
    else
        rv_word(p, rv_b(back, any_reg(), any_reg(), condition));
}

static void test_random_arithmetic(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = number("WG_RANDOM_FIRST", 0), count = number("WG_RANDOM_LOOPS", (unsigned)wg_test_rounds(15, 15));
    for (unsigned seed = first; seed < first + count; seed++) {
        g.s = seed * UINT64_C(55501) + arch;
        unsigned cores = below(2) ? 1u << below(5) : 1 + below(31), profile = below(2);
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++) {
            code[c] = rv_at(CODE + c * CODE_STRIDE + 4 * below(4));
            for (unsigned r = T0; r < T0 + 11; r++)
                rv_li(&code[c], r, (uint32_t)wg_rng_next(&g));
            for (unsigned i = 0; i < 8; i++)
                arithmetic_loop(&code[c], 0);
            rv_done(&code[c]);
        }
        same_in_all_modes(arch, profile, cores, code, 5, seed);
    }
}

static void test_random_loops_of_several(void **state)
{
    static const uint32_t switches[] = {1u << 3, 1u << 12, 1u << 24, 1u << 1};
    static const uint32_t apart[] = {DATA_STRIDE, DATA_STRIDE, DATA_STRIDE, 0, 0x40, 0x200};
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = number("WG_RANDOM_FIRST", 0), count = number("WG_RANDOM_LOOPS", (unsigned)wg_test_rounds(15, 15));
    for (unsigned seed = first; seed < first + count; seed++) {
        g.s = seed * UINT64_C(66661) + arch;
        crowd w = {.seed = wg_rng_next(&g),
                   .cores = 1u << below(5) | 1u << below(5) | below(32),
                   .same = below(4) ? 31 : 3 + below(29),
                   .loops = 1 + below(3),
                   .again = 1 + below(4),
                   .cfg0 = arch == WG_ARCH_BH && below(3) == 0 ? switches[below(4)] : 0,
                   .odd = below(3) ? 0 : below(15),
                   .apart = apart[below(6)]};
        unsigned profile = below(2);
        wg_rng later = g;
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = crowd_program(c, &w);
        g = later;
        same_in_all_modes(arch, profile, w.cores, code, 4, seed);
    }
}

/*
 * One core keeps reading a line; another writes successive lines of the same bank, and that line among them: the period
 * is broken. The reader's L0 cache keeps the stale line, and the stale read is detected.
 */
static void test_a_line_in_another_cache(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    rv code[WG_CORES] = {0};
    for (unsigned c = 0; c < 2; c++) {
        rv *p = &code[c];
        *p = rv_at(CODE + c * CODE_STRIDE);
        rv_li(p, T5, 1u << 24); /* no periodic flush */
        if (arch == WG_ARCH_BH)
            rv_word(p, rv_i(0x7C0, T5, 2, ZERO, 0x73));
        rv_li(p, FROM, DATA + 100 * 512);
        rv_li(p, TO, DATA + (c ? 0 : 0x20000));
        rv_li(p, COUNT, 300);
        rv_li(p, T4, c ? 512 : 0);
        unsigned label = p->n;
        if (c)
            rv_addi(p, A0, A0, 1);
        else
            rv_lw(p, A0, 0, FROM);
        rv_sw(p, COUNT, 0, TO);
        rv_add(p, TO, TO, T4);
        for (unsigned i = 0; i < 20; i++)
            rv_addi(p, A1, A1, 3);
        rv_addi(p, COUNT, COUNT, -1);
        rv_bne(p, COUNT, ZERO, label);
        rv_done(p);
    }
    g.s = arch;
    same_in_all_modes(arch, 0, 3, code, 6, 0);
}

/*
 * Five cores copy words that a table points to, as many times as another table says: addresses and branches keep their
 * pattern for a while, and then change it. Finally one of them writes what others have just read, and these read it
 * again.
 */
static rv tables_program(unsigned core)
{
    static const uint8_t counts[] = {7, 7, 7, 7, 7, 7, 40, 40, 8, 40, 40, 8, 40, 90, 9, 30, 7, 127, 0};
    rv p = rv_at(CODE + core * CODE_STRIDE);
    uint32_t data = DATA + core * DATA_STRIDE, at = data + 0x8000;
    rv_li(&p, A0, at);
    for (unsigned i = 0; i < sizeof counts; i++) {
        rv_li(&p, A1, counts[i]);
        rv_sw(&p, A1, 4 * (int)i, A0);
    }
    rv_li(&p, A0, data); /* 128 pointers, one per line; after the 60th, to the next word */
    rv_li(&p, A1, data + 0x2000);
    rv_li(&p, A2, 128);
    rv_li(&p, A3, 68);
    unsigned fill = p.n;
    rv_sw(&p, A1, 0, A0);
    rv_sw(&p, A2, 0, A1);
    rv_sw(&p, A0, 4, A1);
    rv_addi(&p, A0, A0, 16);
    rv_addi(&p, A1, A1, 16);
    rv_addi(&p, A2, A2, -1);
    rv_word(&p, rv_b(8, A2, A3, 1));
    rv_addi(&p, A1, A1, 4);
    rv_bne(&p, A2, ZERO, fill);
    rv_fence(&p);
    rv_li(&p, S8, at);
    unsigned outer = p.n;
    rv_lw(&p, COUNT, 0, S8);
    rv_addi(&p, S8, S8, 4);
    rv_li(&p, FROM, data);
    rv_li(&p, TO, data + 0x4000);
    unsigned inner = p.n;
    rv_lw(&p, A0, 0, FROM);
    rv_lw(&p, A1, 0, A0);
    rv_sw(&p, A1, 0, TO);
    rv_addi(&p, FROM, FROM, 16);
    rv_addi(&p, TO, TO, 16);
    rv_addi(&p, COUNT, COUNT, -1);
    rv_bne(&p, COUNT, ZERO, inner);
    rv_lw(&p, COUNT, 0, S8);
    rv_bne(&p, COUNT, ZERO, outer);
    if (core == WG_CORE_NC) {
        for (unsigned c = 0; c < WG_CORES; c++) {
            rv_li(&p, A0, DATA + c * DATA_STRIDE + 126 * 16);
            rv_sw(&p, c == core ? ZERO : S8, 0, A0);
            rv_sw(&p, c == core ? ZERO : S8, -16, A0);
        }
        rv_done(&p);
        return p;
    }
    rv_li(&p, A2, 300);
    unsigned spin = p.n;
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, spin);
    for (int i = 1; i < 6; i++)
        rv_lw(&p, A0 + (unsigned)i, -16 * i, FROM);
    rv_done(&p);
    return p;
}

static void test_tables(void **state)
{
    static const unsigned masks[] = {31, 7, 10};
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned cores = 0; cores < 3; cores++) {
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = tables_program(c);
        g.s = arch + cores;
        same_in_all_modes(arch, 0, masks[cores], code, 14, cores);
    }
}

/*
 * With the predictor off, a branch stalls EX1. Meanwhile a store leaves the queue and removes its line from the L0
 * cache, and only then a load's line arrives and takes the free place: also when the pipeline is not simulated ahead of
 * the current cycle.
 */
static void test_a_store_leaves_while_a_branch_is_awaited(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    rv code[WG_CORES] = {0};
    for (unsigned c = 0; c < WG_CORES; c++) {
        rv *p = &code[c];
        *p = rv_at(CODE + c * CODE_STRIDE);
        rv_li(p, T5, 2);
        if (arch == WG_ARCH_BH)
            rv_word(p, rv_i(0x7C0, T5, 2, ZERO, 0x73));
        rv_li(p, FROM, DATA + c * DATA_STRIDE + 0x40E0);
        rv_li(p, TO, DATA + c * DATA_STRIDE + 0x6010);
        rv_li(p, COUNT, 106);
        unsigned label = p->n;
        rv_sw(p, T2, 56, TO);
        rv_add(p, T0, S1, A3);
        rv_lw(p, ZERO, 16, FROM);
        rv_lw(p, T1, 32, TO);
        rv_lw(p, A4, 60, TO);
        rv_lw(p, A3, -4, FROM);
        rv_lw(p, A1, 44, TO);
        rv_word(p, 0x02B793B3); /* mulh t2, a5, a1 */
        rv_lw(p, T1, 32, FROM);
        rv_lw(p, T2, 4, FROM);
        rv_lw(p, T2, -16, TO);
        rv_add(p, A5, A1, A5);
        rv_word(p, 0x02B335B3); /* mulhu a1, t1, a1 */
        rv_addi(p, COUNT, COUNT, -1);
        rv_bne(p, COUNT, ZERO, label);
        rv_done(p);
    }
    for (unsigned cores = 1; cores < 32; cores += 3) {
        g.s = arch + cores;
        same_in_all_modes(arch, 0, cores, code, 3, cores);
    }
}

/*
 * Five loads exceed the limit, so a store that is due has to wait. A core that was about to run ahead then continues
 * with the clock in the same cycle, wherever the run is interrupted.
 */
static void test_five_loads_and_a_store(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    rv p = rv_at(CODE);
    rv_li(&p, FROM, DATA + 0xA8);
    rv_li(&p, TO, DATA + 0x118);
    rv_li(&p, COUNT, 71);
    unsigned label = p.n;
    rv_sw(&p, A3, 16, FROM);
    rv_lw(&p, T2, 52, FROM);
    rv_word(&p, 0x02F313B3); /* mulh t2, t1, a5 */
    rv_word(&p, rv_i(8, FROM, 1, A2, 0x03));
    rv_sw(&p, A1, 32, FROM);
    rv_lw(&p, T2, 36, TO);
    rv_lw(&p, A3, 12, FROM);
    rv_lw(&p, S0, 4, FROM);
    rv_word(&p, rv_i(46, TO, 1, A5, 0x03));
    rv_addi(&p, FROM, FROM, 32);
    rv_addi(&p, TO, TO, 32);
    rv_addi(&p, COUNT, COUNT, -1);
    rv_bne(&p, COUNT, ZERO, label);
    rv_done(&p);
    for (unsigned profile = 0; profile < 2; profile++) {
        wg_device *exact = make(arch, LOCKSTEP, profile);
        wg_core_info a, b;
        assert_true(rv_load(exact, &p));
        assert_int_equal(wg_core_release(exact, WG_CORE_B, p.base), WG_OK);
        wg_advance(exact, 660);
        wg_core_state(exact, WG_CORE_B, &a);
        for (unsigned cut = 500; cut < 560; cut += 4)
            for (unsigned more = 0; more < 60; more += 17) {
                wg_device *dev = make(arch, SKIPPING, profile);
                assert_true(rv_load(dev, &p));
                assert_int_equal(wg_core_release(dev, WG_CORE_B, p.base), WG_OK);
                wg_advance(dev, cut);
                wg_advance(dev, more);
                wg_advance(dev, 660 - more - cut);
                wg_core_state(dev, WG_CORE_B, &b);
                if (a.instructions != b.instructions || wg_state_hash(dev) != wg_state_hash(exact))
                    fail_msg("profile %u: interrupted at %u and %u cycles later", profile, cut, more);
                wg_destroy(dev);
            }
        wg_destroy(exact);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_random_loops, WG_BH | WG_WH, ""),
    WG_TEST(test_random_arithmetic, WG_BH | WG_WH, ""),
    WG_TEST(test_random_loops_of_several, WG_BH | WG_WH, ""),
    WG_TEST(test_a_line_in_another_cache, WG_BH | WG_WH, ""),
    WG_TEST(test_tables, WG_BH | WG_WH, ""),
    WG_TEST(test_five_loads_and_a_store, WG_BH | WG_WH, ""),
    WG_TEST(test_a_store_leaves_while_a_branch_is_awaited, WG_BH | WG_WH, ""),
};
WG_MAIN("core_loops", tests)
