/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running ahead is exact (time.md rules 7 to 9 and 15): random programs on several cores (ALU, branches, calls, own
 * RAM, L1, fences, atomics, pushes, mailboxes, semaphores, configuration, CSRs) run once skipping, once in small steps,
 * once without shortcuts, once ticking every agent in every cycle, and once skipping under an observer of everything.
 * States, findings and the two event streams must be identical. All modes must recognise endless polling in the same
 * cycle. Other programs change CSRs, jump to misaligned addresses and are interrupted, while the host reaches in
 * between the rounds of a run; in one more mode the run continues in another device, restored from a snapshot.
 *
 * WG_RANDOM_PROGRAMS: programs per architecture; WG_RANDOM_FIRST: the first one.
 */
#include <stdio.h>

#include "machine/device.h"
#include "rvasm.h"
#include "state_diff.h"
#include "wgtest.h"

enum { SKIPPING, STEPPING, RESTORED, NONE, LOCKSTEP, WATCHED, MODES };
static const char *const mode_names[MODES] = {"skipping",          "stepping", "restored",
                                              "without shortcuts", "lockstep", "watched"};
enum { HANDLER = 0x18000, HANDLER_STRIDE = 0x100 };
enum { CODE = 0x10000, CODE_STRIDE = 0x1000, SHARED = 0x40000, OWN = 0x50000, OWN_STRIDE = 0x1000 };
enum {
    RAM = S2,
    L1_SHARED = S3,
    L1_OWN = S4,
    REGS = S5,
    MAILBOX = S6,
    PCBUF = S7,
    PUSH = S8,
    CFG = S9,
    GPRS = S10,
    LOOP = T6
};

static const wg_arch_id *arch_now;
static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }
static unsigned any_reg(void) { return T0 + below(11); } /* x5 to x15 */
static bool is_bh(void) { return *arch_now == WG_ARCH_BH; }

static void alu(rv *p)
{
    static const uint8_t immediate[] = {0, 2, 3, 4, 6, 7};
    unsigned rd = below(20) ? any_reg() : ZERO;
    if (below(2)) {
        rv_word(p, rv_i((int)below(0x1000), any_reg(), immediate[below(6)], rd, 0x13));
    } else {
        unsigned f3 = below(8), multiply = below(8) == 0;
        if (multiply && f3 >= 4 && below(3))
            f3 &= 3;
        rv_word(p, multiply << 25 | any_reg() << 20 | any_reg() << 15 | f3 << 12 | rd << 7 | 0x33);
    }
}

static void access(rv *p, unsigned base, uint32_t words, bool store)
{
    unsigned size = below(3) ? 2 : below(2);
    int offset = (int)(below(words) * 4 + (size < 2 ? below(4) & ~((1u << size) - 1) : 0));
    if (store)
        rv_word(p, rv_s(offset, any_reg(), base, size, 0x23));
    else
        rv_word(p, rv_i(offset, base, size | (size < 2 ? below(2) * 4 : 0), below(15) ? any_reg() : ZERO, 0x03));
}

static void push(rv *p, unsigned core)
{
    static const uint32_t words[] = {0x02000000, 0x02000000, 0xA4000010, 0xA5000010, 0x45000000 | 5 << 1,
                                     0x58000000, 0xA2008001, 0x57000000, 0xB2000001, 0x50000000};
    for (unsigned n = 1 + below(4); n; n--) {
        uint32_t word = words[below(sizeof words / sizeof *words)];
        if (core >= WG_CORE_T0 && below(3)) {
            rv_tt(p, word);
        } else {
            rv_li(p, T5, word);
            rv_sw(p, T5, 0, PUSH);
        }
    }
}

typedef struct mix {
    unsigned memory, tensix, csr, l1, feed, odd;
} mix; /* l1: percentage of instructions that access L1; feed: percentage of pushes by T cores */

/* cfg0: bits that change how the pipeline works. */
static uint32_t cfg0_bit(void)
{
    static const uint8_t bits[] = {0, 1, 2, 3, 9, 10, 12, 13, 15, 17, 18, 20, 24};
    return 1u << bits[below(sizeof bits)];
}

/* Rare actions. */
static void odd(rv *p, unsigned core)
{
    static const uint16_t csrs[] = {0x003, 0x320, 0xB00, 0xB02, 0x7C3, 0x7C4, 0xBCA};
    static const uint8_t conditions[] = {0, 1, 4, 5, 6, 7};
    unsigned k = below(100);
    if (k < 45 && is_bh()) {
        rv_li(p, T5, cfg0_bit() | (below(2) ? cfg0_bit() : 0));
        rv_word(p, rv_i(0x7C0, T5, 1 + (below(8) ? 1 + below(2) : 0), below(2) ? ZERO : any_reg(), 0x73));
    } else if (k < 50 && is_bh()) {
        rv_li(p, T5, 1);
        rv_word(p, rv_i(0x7C1, T5, 2 + below(2), ZERO, 0x73)); /* pmacfg0: strongly ordered, or not */
    } else if (k < 60 && is_bh()) {
        rv_word(p, rv_i(csrs[below(sizeof csrs / sizeof *csrs)], any_reg(), 1 + below(3), any_reg(), 0x73));
    } else if (k < 68) { /* to a misaligned target: by a branch, a jump or an indirect jump */
        rv_word(p, rv_b(10, any_reg(), any_reg(), conditions[below(6)]));
        rv_nop(p);
        rv_nop(p);
    } else if (k < 76) {
        rv_word(p, 10u << 20 | (below(2) ? (uint32_t)RA : ZERO) << 7 | 0x6F);
        rv_nop(p);
        rv_nop(p);
    } else if (k < 82) {
        rv_word(p, (uint32_t)T5 << 7 | 0x17); /* auipc */
        rv_word(p, rv_i(12 + (int)below(4), T5, 0, below(2) ? RA : ZERO, 0x67));
        rv_nop(p);
    } else if (k < 90) { /* misaligned */
        if (below(2))
            rv_word(p, rv_i(1 + (int)below(3), below(2) ? RAM : L1_OWN, 2, any_reg(), 0x03));
        else
            rv_word(p, rv_s(1 + (int)below(3), any_reg(), below(2) ? RAM : L1_OWN, 2, 0x23));
    } else if (is_bh() && core <= WG_CORE_NC) { /* raises its own interrupt or the other's */
        rv_li(p, T5, 0xFFB13018 + 4 * below(2));
        rv_sw(p, any_reg(), 0, T5);
    } else {
        rv_nop(p);
    }
}

/* An interrupt handler: takes the value, which ends the request, and counts it. */
static rv handler(unsigned core)
{
    rv p = rv_at(HANDLER + core * HANDLER_STRIDE);
    rv_li(&p, S0, 0xFFB13018 + 4 * core);
    rv_lw(&p, S1, 0, S0);
    rv_addi(&p, S11, S11, 1);
    for (unsigned n = below(6); n; n--)
        rv_addi(&p, S11, S11, (int)below(16));
    if (below(2))
        rv_sw(&p, S11, 64, L1_OWN);
    rv_word(&p, 0x30200073); /* mret */
    return p;
}

/* L1 only: own lines and those of others, neighbours that merge, all banks, now and then something slow. */
static void at_l1(rv *p)
{
    static const uint8_t ops[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
    unsigned k = below(100), base = below(4) ? L1_OWN : L1_SHARED;
    if (k < 40) {
        access(p, base, below(3) ? 4 : 64, false);
    } else if (k < 75) {
        int offset = (int)below(32) * 4;
        for (unsigned n = 1 + below(4); n; n--, offset += 4)
            rv_sw(p, any_reg(), offset, base);
    } else if (k < 90) {
        access(p, base, below(3) ? 4 : 64, true);
    } else if (k < 96) {
        rv_addi(p, L1_OWN, L1_OWN, below(2) ? 16 : (int)below(5) * 16 - 32);
    } else if (k < 98 && is_bh()) {
        rv_word(p, (uint32_t)ops[below(9)] << 27 | any_reg() << 20 | base << 15 | 2 << 12 | any_reg() << 7 | 0x2F);
    } else {
        rv_fence(p);
    }
}

static void instruction(rv *p, unsigned core, const mix *m)
{
    if (m->odd && below(100) < m->odd) {
        odd(p, core);
        return;
    }
    if (core >= WG_CORE_T0 && below(100) < m->feed) {
        if (below(2))
            push(p, core);
        else if (below(4) == 0)
            rv_word(p, rv_b(8, any_reg(), any_reg(), below(2))); /* over the next instruction */
        rv_addi(p, any_reg(), any_reg(), (int)below(16));
        return;
    }
    if (below(100) < m->l1) {
        at_l1(p);
        return;
    }
    unsigned k = below(100);
    if (k < 60 - m->memory) {
        alu(p);
    } else if (k < 70) {
        access(p, RAM, 16, below(2));
    } else if (k < 88) {
        access(p, below(3) ? L1_OWN : L1_SHARED, 32, below(5) < 2);
    } else if (k < 90) {
        rv_fence(p);
    } else if (k < 92 && is_bh()) {
        static const uint8_t ops[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
        rv_word(p, (uint32_t)ops[below(9)] << 27 | any_reg() << 20 | L1_SHARED << 15 | 2 << 12 | any_reg() << 7 | 0x2F);
    } else if (k < 95) { /* over one to three instructions */
        static const uint8_t conditions[] = {0, 1, 4, 5, 6, 7};
        rv_word(p, rv_b((int)(8 + 4 * below(3)), any_reg(), any_reg(), conditions[below(6)]));
        for (unsigned i = 0; i < 3; i++)
            rv_addi(p, any_reg(), any_reg(), (int)below(16));
    } else if (k < 96) { /* jal over one, and a return */
        rv_word(p, 8u << 20 | RA << 7 | 0x6F);
        rv_nop(p);
    } else if (m->tensix && core != WG_CORE_NC) {
        switch (below(8)) {
        case 0: rv_sw(p, any_reg(), 0, GPRS); break;
        case 1: rv_lw(p, any_reg(), 4 * (int)below(16), GPRS); break;
        case 2: rv_lw(p, any_reg(), 4 * (int)below(64), CFG); break;
        case 3: rv_sw(p, any_reg(), 4 * 200, CFG); break;
        case 4:
            if (core >= WG_CORE_T0)
                rv_lw(p, any_reg(), 0x20 + 4 * (int)below(8), PCBUF);
            break;
        case 5:
            if (core >= WG_CORE_T0)
                rv_sw(p, any_reg(), 0x20 + 4 * (int)below(8), PCBUF);
            break;
        case 6: rv_lw(p, any_reg(), 4, MAILBOX); break;
        default: push(p, core); break;
        }
    } else if (m->csr && is_bh()) {
        rv_word(p, rv_i(below(2) ? 0xB00 : 0xB02, ZERO, 2, any_reg(), 0x73));
    } else if (m->csr) {
        rv_lw(p, any_reg(), 0x1F0, REGS);
    } else {
        rv_nop(p);
    }
}

/* cfg0: bits that change how the pipeline works, one by one. */
static void configure(rv *p)
{
    static const uint8_t bits[] = {0, 1, 2, 3, 9, 10, 12, 18, 20, 24};
    if (!is_bh() || below(3))
        return;
    rv_li(p, T5, 1u << bits[below(sizeof bits)]);
    rv_word(p, rv_i(0x7C0, T5, 2, ZERO, 0x73));
}

static rv program(unsigned core, const mix *m)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, RAM, 0xFFB00000);
    rv_li(&p, L1_SHARED, SHARED);
    rv_li(&p, L1_OWN, OWN + core * OWN_STRIDE);
    rv_li(&p, REGS, 0xFFB12000);
    rv_li(&p, MAILBOX, 0xFFEC0000 + 0x1000 * below(4));
    rv_li(&p, PCBUF, 0xFFE80000);
    rv_li(&p, PUSH, 0xFFE40000);
    rv_li(&p, CFG, 0xFFEF0000);
    rv_li(&p, GPRS, 0xFFE00000);
    for (unsigned i = 5; i < 16; i++)
        rv_li(&p, i, (uint32_t)wg_rng_next(&g));
    configure(&p);
    if (m->odd && is_bh() && core <= WG_CORE_NC) {
        rv_store(&p, 0xFFB130A8 + 4 * core, HANDLER + core * HANDLER_STRIDE);
        rv_store(&p, core == WG_CORE_B ? 0xFFB13000 : 0xFFB1300C, 1u << core);
    }
    for (unsigned loops = 1 + below(3); loops; loops--) {
        rv_li(&p, LOOP, 1 + below(30));
        unsigned top = p.n;
        for (unsigned n = 1 + below(below(4) ? 30 : 90); n && p.n < 440; n--)
            instruction(&p, core, m);
        rv_addi(&p, LOOP, LOOP, -1);
        rv_bne(&p, LOOP, ZERO, top);
        if (p.n > 350)
            break;
    }
    rv_done(&p);
    return p;
}

/*
 * A T core that pushes faster than its thread takes, in a small loop; the others rewrite the first line of its code,
 * which it has left, with the same contents, which forces a rollback of its run-ahead.
 */
static rv feeder(unsigned core)
{
    static const uint32_t words[] = {0x02000000, 0x58000000, 0x45000000 | 5 << 1, 0xA2008001, 0x5A000000, 0xB2000001};
    rv p = rv_at(CODE + core * CODE_STRIDE);
    bool feeds = core >= WG_CORE_T0, stores = below(4) == 0;
    rv_nop(&p);
    rv_li(&p, PUSH, 0xFFE40000);
    rv_li(&p, L1_OWN, feeds ? OWN + core * OWN_STRIDE : CODE + below(5) * CODE_STRIDE);
    rv_lw(&p, T3, 0, L1_OWN);
    rv_li(&p, T4, words[below(6)]);
    rv_li(&p, LOOP, 20 + below(200));
    while (p.n < 12 + core)
        rv_nop(&p);
    unsigned top = p.n, count = feeds ? 1 + below(7) : 1;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned n = below(3) ? below(3) : below(12); n; n--)
            rv_word(&p, rv_i(1, below(4) ? T1 : T2, 0, T1 + below(2), 0x13));
        if (below(3) == 0)
            rv_word(&p, rv_b(8, T1, T2, below(2))); /* over the next instruction */
        if (!feeds || (stores && below(3) == 0))
            rv_sw(&p, T3, 0, L1_OWN);
        else if (below(4))
            rv_tt(&p, words[below(6)]);
        else
            rv_sw(&p, T4, 0, PUSH);
    }
    rv_addi(&p, LOOP, LOOP, -1);
    rv_bne(&p, LOOP, ZERO, top);
    rv_done(&p);
    return p;
}

typedef struct stream {
    uint64_t hash, events;
} stream;

static void listen(void *user, const wg_event *e)
{
    stream *s = user;
    uint64_t fields[] = {e->cycle, e->kind, e->phase, e->agent,  e->pc,           e->word,           e->a,
                         e->b,     e->c,    e->id,    e->parent, e->stall.reason, e->stall.resource, e->stall.holder};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        s->hash = (s->hash ^ fields[i]) * UINT64_C(0x9FB21C651E98DF25);
        s->hash ^= s->hash >> 32;
    }
    s->events++;
}

static wg_device *make(wg_arch_id arch, unsigned mode, unsigned profile, stream *s)
{
    wg_device_desc desc = {.struct_size = sizeof desc,
                           .arch = arch,
                           .profile = (wg_profile)profile,
                           .lockstep = mode == LOCKSTEP,
                           .shortcuts = mode == NONE ? "none" : NULL};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    if (mode >= LOCKSTEP)
        assert_int_equal(wg_observe(dev, ~UINT64_C(0), listen, s, NULL), WG_OK);
    return dev;
}

/* Continues the run in another device. */
static wg_device *move(wg_device *dev, wg_arch_id arch, unsigned profile)
{
    size_t size = wg_snapshot_size(dev);
    void *copy = malloc(size);
    wg_device *to = make(arch, RESTORED, profile, NULL);
    assert_non_null(copy);
    assert_int_equal(wg_snapshot(dev, copy, size), WG_OK);
    if (wg_restore(to, copy, size) != WG_OK)
        fail_msg("%s", wg_error(to));
    free(copy);
    wg_destroy(dev);
    return to;
}

static void step(wg_device *dev, unsigned mode, uint64_t cycles)
{
    if (mode != STEPPING && mode != RESTORED) {
        wg_advance(dev, cycles);
        return;
    }
    for (uint64_t left = cycles, n; left; left -= n) {
        n = 1 + wg_rng_below(&g, wg_rng_below(&g, 3) ? 9 : 300);
        n = n < left ? n : left;
        wg_advance(dev, n);
    }
}

static void same_findings(wg_device *a, wg_device *b, unsigned seed)
{
    if (wg_finding_count(a) != wg_finding_count(b))
        fail_msg("program %u: %zu and %zu findings", seed, wg_finding_count(a), wg_finding_count(b));
    for (size_t i = 0; i < wg_finding_count(a); i++) {
        const wg_finding *x = wg_finding_at(a, i), *y = wg_finding_at(b, i);
        if (x->code != y->code || x->cycle != y->cycle || x->pc != y->pc || x->count != y->count)
            fail_msg("program %u: finding %zu: %s in %llu, %s in %llu", seed, i, wg_finding_info_at(x->code)->code,
                     (unsigned long long)x->cycle, wg_finding_info_at(y->code)->code, (unsigned long long)y->cycle);
    }
}

/* Between two rounds the host writes, reads, and acts as a debugger does. */
static void host(wg_device *dev, unsigned cores)
{
    uint32_t value = (uint32_t)wg_rng_next(&g), n = below(WG_CORES);
    switch (below(9)) {
    case 0: assert_int_equal(wg_write(dev, SHARED + 4 * below(64), &value, 4), WG_OK); break;
    case 1: assert_int_equal(wg_write(dev, OWN + n * OWN_STRIDE + 4 * below(64), &value, 4), WG_OK); break;
    case 2: assert_int_equal(wg_read(dev, SHARED + 4 * below(64), &value, 4), WG_OK); break;
    case 3: assert_int_equal(wg_poke(dev, WG_SPACE_CORE_X, n * 32 + any_reg(), value), WG_OK); break;
    case 4:
        if (cores >> n & 1)
            assert_int_equal(wg_core_hold(dev, (wg_core_id)n), WG_OK);
        break;
    case 5:
        if (cores >> n & 1)
            assert_int_equal(wg_core_release(dev, (wg_core_id)n, CODE + n * CODE_STRIDE), WG_OK);
        break;
    case 6:
        if (is_bh())
            assert_int_equal(wg_write(dev, 0xFFB13018 + 4 * (n & 1), &value, 4), WG_OK);
        break;
    case 7:
        if (is_bh())
            assert_int_equal(wg_poke(dev, WG_SPACE_CORE_CSR, n << 12 | 0x7C0, cfg0_bit() | 16u << 13), WG_OK);
        break;
    default: wg_push(dev, n % 3, 0x02000000); break;
    }
}

/* The run ends in the same cycle, for the same reason, in every mode: in one go, in pieces, in several devices. */
static void same_end(wg_arch_id arch, unsigned profile, unsigned cores, const rv code[WG_CORES], unsigned seed)
{
    enum { LIMIT = 20000 };
    wg_device *first = NULL;
    wg_stop stop[MODES];
    stream s[MODES] = {0};
    for (unsigned i = 0; i < MODES; i++) {
        wg_device *dev = make(arch, i, profile, &s[i]);
        for (unsigned c = 0; c < WG_CORES; c++)
            if (cores >> c & 1) {
                assert_true(rv_load(dev, &code[c]));
                assert_int_equal(wg_core_release(dev, (wg_core_id)c, code[c].base), WG_OK);
            }
        do {
            uint64_t left = LIMIT - wg_cycle(dev), n = i == STEPPING || i == RESTORED ? 1 + below(4000) : left;
            assert_int_equal(wg_run(dev, n < left ? n : left, &stop[i]), WG_OK);
            if (i == RESTORED && stop[i] == WG_STOP_CYCLES)
                dev = move(dev, arch, profile);
        } while (stop[i] == WG_STOP_CYCLES && wg_cycle(dev) < LIMIT);
        first = first ? first : dev;
        if (stop[i] != stop[0] || wg_cycle(dev) != wg_cycle(first) || wg_state_hash(dev) != wg_state_hash(first))
            fail_msg("program %u: %s ends in %llu (%d), not %llu (%d): %s", seed, mode_names[i],
                     (unsigned long long)wg_cycle(dev), (int)stop[i], (unsigned long long)wg_cycle(first), (int)stop[0],
                     first_difference(first, dev));
        if (i != RESTORED)
            same_findings(first, dev, seed);
        if (dev != first)
            wg_destroy(dev);
    }
    wg_destroy(first);
}

enum { SMALL_LOOPS = 101 }; /* for `feed`: small loops and nothing else */

/* A class of random programs: its salt and its instruction mix. */
typedef struct kind {
    unsigned salt, l1, feed, odd;
} kind;

static void differs(unsigned seed, unsigned round, unsigned mode, wg_device *a, wg_device *b)
{
    fail_msg("%s program %u, round %u, cycle %llu: %s differs from %s: %s", is_bh() ? "bh" : "wh", seed, round,
             (unsigned long long)wg_cycle(a), mode_names[mode], mode_names[0], first_difference(a, b));
}

/*
 * Asserts that all devices are in the same state: hash, instruction counts, and the cycle of each core's last store, by
 * which hangs are dated (poll.c). Returns whether all cores are parked.
 */
static bool same_state(unsigned seed, unsigned round, wg_device *dev[MODES])
{
    bool parked = true;
    uint64_t hash = wg_state_hash(dev[0]);
    for (unsigned i = 1; i < MODES; i++)
        if (wg_state_hash(dev[i]) != hash)
            differs(seed, round, i, dev[0], dev[i]);
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_core_info info;
        wg_core_state(dev[0], (wg_core_id)c, &info);
        parked &= info.parked;
        for (unsigned i = 1; i < MODES; i++) {
            uint64_t x = dev[0]->tile->core[c].run.stored, y = dev[i]->tile->core[c].run.stored;
            if (x != y)
                fail_msg("program %u: core %u has stored in %llu in mode %u, not %llu", seed, c, (unsigned long long)y,
                         i, (unsigned long long)x);
        }
    }
    return parked;
}

static void random_programs(void **state, kind what)
{
    wg_arch_id arch = wg_test_arch(state);
    arch_now = &arch;
    unsigned first = (unsigned)wg_test_first(), count = (unsigned)wg_test_count(wg_test_rounds(8, 48));
    uint64_t instructions = 0;
    for (unsigned seed = first; seed < first + count; seed++) {
        wg_test_seed(seed);
        g.s = seed * UINT64_C(77777) + arch + what.salt;
        mix m = {below(50), below(2), below(2), 0, 0, 0};
        unsigned cores = 1 + below(31), profile = below(2);
        if (what.l1) {
            m = (mix){below(50), below(8) == 0, below(8) == 0, what.l1 + below(100 - what.l1), 0, 0};
            cores |= 1u << below(5) | 1u << below(5);
        }
        if (what.feed) {
            m.feed = what.feed + below(what.feed < 101 ? 101 - what.feed : 1);
            cores |= 4u << below(3) | 4u << below(3);
        }
        m.odd = what.odd ? 1 + below(what.odd) : 0;
        stream s[MODES] = {0};
        wg_device *dev[MODES];
        rv code[WG_CORES], handlers[2] = {handler(0), handler(1)};
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = what.feed == SMALL_LOOPS ? feeder(c) : program(c, &m);
        for (unsigned i = 0; i < MODES; i++) {
            dev[i] = make(arch, i, profile, &s[i]);
            for (unsigned c = 0; c < 2; c++)
                assert_true(rv_load(dev[i], &handlers[c]));
            for (unsigned c = 0; c < WG_CORES; c++)
                if (cores >> c & 1) {
                    assert_true(rv_load(dev[i], &code[c]));
                    assert_int_equal(wg_core_release(dev[i], (wg_core_id)c, code[c].base), WG_OK);
                }
        }
        bool parked = false;
        for (unsigned round = 0; !parked && round < 12; round++) {
            uint64_t cycles = 1 + below(3000);
            wg_rng saved = g;
            for (unsigned i = 0; i < MODES; i++) {
                g = saved;
                if (what.odd && round)
                    host(dev[i], cores);
                wg_rng behind = g;
                if (i == RESTORED)
                    dev[i] = move(dev[i], arch, profile);
                step(dev[i], i, cycles);
                g = behind;
            }
            parked = same_state(seed, round, dev) && !what.odd;
        }
        for (unsigned i = 1; i < MODES; i++)
            if (i != RESTORED) /* findings are not part of a snapshot */
                same_findings(dev[0], dev[i], seed);
        if (s[LOCKSTEP].hash != s[WATCHED].hash || s[LOCKSTEP].events != s[WATCHED].events)
            fail_msg("program %u: event streams differ (%llu and %llu events)", seed,
                     (unsigned long long)s[LOCKSTEP].events, (unsigned long long)s[WATCHED].events);
        for (unsigned c = 0; c < WG_CORES; c++) {
            wg_core_info info;
            wg_core_state(dev[0], (wg_core_id)c, &info);
            instructions += info.instructions;
        }
        for (unsigned i = 0; i < MODES; i++)
            wg_destroy(dev[i]);
        same_end(arch, profile, cores, code, seed);
    }
    print_message("%llu instructions\n", (unsigned long long)instructions);
}

static void test_random_programs(void **state) { random_programs(state, (kind){0, 0, 0, 0}); }
static void test_crowds_at_l1(void **state) { random_programs(state, (kind){5, 50, 0, 0}); }
static void test_cores_that_feed(void **state) { random_programs(state, (kind){9, 0, 80, 0}); }
static void test_small_loops_that_feed(void **state) { random_programs(state, (kind){13, 0, SMALL_LOOPS, 0}); }
static void test_odd_programs(void **state) { random_programs(state, (kind){17, 0, 0, 30}); }
static void test_odd_crowds(void **state) { random_programs(state, (kind){21, 50, 0, 12}); }
static void test_odd_feeders(void **state) { random_programs(state, (kind){25, 0, 60, 12}); }

/* A loop with a random body that waits for what never arrives. *requests: whether it makes requests in every round. */
static rv endless(unsigned core, bool *requests)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, L1_SHARED, SHARED);
    rv_li(&p, L1_OWN, OWN + core * OWN_STRIDE);
    rv_li(&p, MAILBOX, 0xFFEC0000 + 0x1000 * below(4));
    rv_li(&p, LOOP, 1 + below(200));
    unsigned work = p.n;
    rv_sw(&p, LOOP, 0, L1_OWN);
    rv_addi(&p, LOOP, LOOP, -1);
    rv_bne(&p, LOOP, ZERO, work);
    unsigned top = p.n;
    bool fence = below(2);
    if (fence)
        rv_fence(&p);
    for (unsigned n = below(6); n; n--)
        rv_word(&p, rv_i((int)below(16), T2, 7, T1, 0x13));
    unsigned what = below(6);
    if (what == 0 && core != WG_CORE_NC)
        rv_lw(&p, T0, 4, MAILBOX);
    else if (what == 1)
        rv_addi(&p, T0, ZERO, 0);
    else
        rv_lw(&p, T0, 16 * (int)below(4), L1_SHARED);
    rv_beq(&p, T0, ZERO, top);
    rv_done(&p);
    *requests = what > 1 && (fence || !is_bh()); /* else they hit the L0 data cache */
    return p;
}

static void test_polling_hangs(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    arch_now = &arch;
    unsigned first = (unsigned)wg_test_first(), count = (unsigned)wg_test_count(wg_test_rounds(8, 48));
    for (unsigned seed = first; seed < first + count; seed++) {
        wg_test_seed(seed);
        g.s = seed * UINT64_C(31337) + arch;
        unsigned cores = 1 + below(31);
        rv code[WG_CORES];
        bool requests = false;
        for (unsigned c = 0; c < WG_CORES; c++) {
            bool makes;
            code[c] = endless(c, &makes);
            requests |= makes && cores >> c & 1;
        }
        stream s[MODES] = {0};
        uint64_t end[MODES] = {0}, hash[MODES] = {0};
        for (unsigned i = 0; i < MODES; i++) {
            if (i == STEPPING || i == RESTORED || i == NONE)
                continue;
            wg_device *dev = make(arch, i, 0, &s[i]);
            for (unsigned c = 0; c < WG_CORES; c++)
                if (cores >> c & 1) {
                    assert_true(rv_load(dev, &code[c]));
                    assert_int_equal(wg_core_release(dev, (wg_core_id)c, code[c].base), WG_OK);
                }
            wg_stop stop;
            assert_int_equal(wg_run(dev, 60000, &stop), WG_OK);
            end[i] = wg_cycle(dev);
            hash[i] = wg_state_hash(dev);
            wg_destroy(dev);
        }
        assert_true(end[LOCKSTEP] == end[WATCHED] && hash[LOCKSTEP] == hash[WATCHED]);
        if (end[SKIPPING] != end[LOCKSTEP] || hash[SKIPPING] != hash[LOCKSTEP])
            fail_msg("program %u: ends in %llu, not %llu", seed, (unsigned long long)end[SKIPPING],
                     (unsigned long long)end[LOCKSTEP]);
        assert_true(s[LOCKSTEP].hash == s[WATCHED].hash);
        /* A run whose limit lies just before or after that cycle. (A loop without requests is searched for later.) */
        uint64_t limit = end[LOCKSTEP] - 1 + below(below(2) ? 3 : 400);
        if (end[LOCKSTEP] < 60000 && requests) {
            wg_device *dev = make(arch, SKIPPING, 0, &s[SKIPPING]);
            for (unsigned c = 0; c < WG_CORES; c++)
                if (cores >> c & 1) {
                    assert_true(rv_load(dev, &code[c]));
                    assert_int_equal(wg_core_release(dev, (wg_core_id)c, code[c].base), WG_OK);
                }
            wg_stop stop;
            assert_int_equal(wg_run(dev, limit, &stop), WG_OK);
            bool hung = limit > end[LOCKSTEP];
            if (stop != (hung ? WG_STOP_HUNG : WG_STOP_CYCLES) || wg_cycle(dev) != (hung ? end[LOCKSTEP] : limit))
                fail_msg("program %u: limited to %llu it ends in %llu", seed, (unsigned long long)limit,
                         (unsigned long long)wg_cycle(dev));
            wg_destroy(dev);
        }
    }
}

static const wg_test tests[] = {
    WG_TEST(test_random_programs, WG_BH | WG_WH, ""), WG_TEST(test_crowds_at_l1, WG_BH | WG_WH, ""),
    WG_TEST(test_cores_that_feed, WG_BH | WG_WH, ""), WG_TEST(test_small_loops_that_feed, WG_BH | WG_WH, ""),
    WG_TEST(test_odd_programs, WG_BH | WG_WH, ""),    WG_TEST(test_odd_crowds, WG_BH | WG_WH, ""),
    WG_TEST(test_odd_feeders, WG_BH | WG_WH, ""),     WG_TEST(test_polling_hangs, WG_BH | WG_WH, ""),
};
WG_MAIN("core_modes", tests)
