/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core has done ahead of the clock is rolled back by an earlier interrupt (time.md rule 9): not only
 * instructions, but also what the frontend has requested and marked for an instruction that has not entered EX1, and
 * floating-point flags. Each program raises its own interrupt and continues; the distance between the two varies, so
 * that the interrupt hits every cycle of what follows. The handler returns, and mcycle tells how long it all took.
 */
#include "rvasm.h"
#include "state_diff.h"
#include "wgtest.h"

enum { CODE = 0x10000, BODY = 0x10100, THERE = 0x10400 };
enum { HANDLER = 0x20000, REQUEST = 0xFFB13018, VECTOR = 0xFFB130A8, WAY = 2048 /* bytes of a way */ };
enum { CFG0 = 0x7C0, MCYCLE = 0xB00, FCSR = 0x003, DIS_IC_PREFETCH = 1 << 2 };
enum { RAISE = S2, TARGET = S4, MOST = 24 };

static void csrr(rv *p, unsigned rd, unsigned csr) { rv_word(p, rv_i((int)csr, ZERO, 2, rd, 0x73)); }
static void csrw(rv *p, unsigned csr, unsigned rs1) { rv_word(p, rv_i((int)csr, rs1, 1, ZERO, 0x73)); }

/* Interrupts of core B are enabled; RAISE points to the register that raises one. Only needed lines are fetched. */
static rv begin(void)
{
    rv p = rv_at(CODE);
    rv_store(&p, VECTOR, HANDLER);
    rv_store(&p, 0xFFB13000, 1);
    rv_li(&p, RAISE, REQUEST);
    rv_li(&p, T0, DIS_IC_PREFETCH);
    csrw(&p, CFG0, T0);
    return p;
}

/* Takes the request, reads `csr` into A0, lets some time pass. */
static rv handler(uint32_t at, unsigned csr)
{
    rv p = rv_at(at);
    rv_lw(&p, S3, 0, RAISE);
    csrr(&p, A0, csr);
    for (unsigned i = 0; i < 20; i++)
        rv_nop(&p);
    rv_word(&p, 0x30200073); /* mret */
    return p;
}

static void nops(rv *p, unsigned n)
{
    while (n--)
        rv_nop(p);
}

static void go(rv *p, uint32_t to)
{
    const uint32_t o = to - (p->base + 4 * p->n);
    rv_word(p, (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F);
}

static wg_device *run(const char *shortcuts, const rv *parts, unsigned count)
{
    const wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .shortcuts = shortcuts};
    wg_device *dev = NULL;
    wg_stop stop;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned i = 0; i < count; i++)
        assert_true(rv_load(dev, &parts[i]));
    assert_int_equal(wg_core_release(dev, WG_CORE_B, CODE), WG_OK);
    assert_int_equal(wg_run(dev, 5000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    return dev;
}

static void same(const rv *parts, unsigned count, unsigned distance)
{
    wg_device *a = run("none", parts, count), *b = run(NULL, parts, count);
    if (wg_cycle(a) != wg_cycle(b) || wg_state_hash(a) != wg_state_hash(b))
        fail_msg("%u instructions after the store: done in %llu, not %llu: %s", distance,
                 (unsigned long long)wg_cycle(b), (unsigned long long)wg_cycle(a), first_difference(a, b));
    wg_destroy(a);
    wg_destroy(b);
}

/*
 * Executes `body` twice, so that it is in the cache: the first time with a store to another register; the second time
 * with the one that raises the interrupt, followed by a mispredicted branch to `there`.
 */
static rv body(uint32_t there, unsigned distance)
{
    rv p = rv_at(BODY);
    rv_addi(&p, TARGET, RAISE, VECTOR + 4 - REQUEST);
    rv_li(&p, T3, 1);
    while (p.n % 4)
        rv_nop(&p);
    const unsigned top = p.n;
    rv_sw(&p, RAISE, 0, TARGET);
    nops(&p, distance);
    rv_word(&p, rv_b((int)(there - (p.base + 4 * p.n)), T3, ZERO, 0));
    rv_addi(&p, TARGET, RAISE, 0);
    rv_addi(&p, T3, ZERO, 0);
    rv_beq(&p, ZERO, ZERO, top);
    return p;
}

/* The branch leads to a line that is not cached: nobody requests it before the core gets there. */
static void test_fetch(void **state)
{
    (void)state;
    for (unsigned distance = 0; distance < MOST; distance++) {
        rv p = begin(), b = body(THERE, distance), far = rv_at(THERE), h = handler(HANDLER, MCYCLE);
        go(&p, BODY);
        csrr(&far, A1, MCYCLE);
        rv_done(&far);
        same((rv[]){p, b, far, h}, 4, distance);
    }
}

/* The line is cached, the next one is not: an instruction that waits for its cycle has requested nothing. */
static void test_prefetch(void **state)
{
    (void)state;
    for (unsigned distance = 0; distance < MOST; distance++) {
        rv p = begin(), b = body(THERE + 4, distance), far = rv_at(THERE), h = handler(HANDLER, MCYCLE);
        go(&p, THERE);
        const uint32_t back = CODE + 4 * p.n;
        csrw(&p, CFG0, ZERO); /* prefetching begins */
        go(&p, BODY);
        go(&far, back);
        csrr(&far, A1, MCYCLE);
        nops(&far, 2);
        csrr(&far, A2, MCYCLE);
        rv_done(&far);
        same((rv[]){p, b, far, h}, 4, distance);
    }
}

/* Three lines of one set, for two ways: the least recently used one makes room for the handler. */
static void test_replacement(void **state)
{
    (void)state;
    for (unsigned distance = 0; distance < MOST; distance++) {
        rv p = begin(), b = body(THERE + 4, distance), far = rv_at(THERE), other = rv_at(THERE + WAY);
        rv h = handler(HANDLER + THERE % WAY, MCYCLE);
        rv_store(&p, VECTOR, h.base);
        go(&p, THERE);
        go(&far, THERE + WAY);
        csrr(&far, A1, MCYCLE);
        rv_done(&far);
        go(&other, BODY);
        same((rv[]){p, b, far, other, h}, 5, distance);
    }
}

/* The handler sees the flags of earlier instructions only. */
static void test_flags(void **state)
{
    (void)state;
    for (unsigned distance = 0; distance < MOST; distance++) {
        rv p = begin(), h = handler(HANDLER, FCSR);
        csrw(&p, CFG0, ZERO);
        rv_li(&p, T1, 0x3F800000);
        rv_li(&p, T2, 0x33000000); /* 1 + 2^-25 is inexact */
        rv_word(&p, 0xF0000053 | T1 << 15 | 1 << 7);
        rv_word(&p, 0xF0000053 | T2 << 15 | 2 << 7); /* fmv.w.x */
        rv_sw(&p, RAISE, 0, RAISE);
        nops(&p, distance);
        rv_word(&p, 2u << 20 | 1 << 15 | 3 << 7 | 0x53); /* fadd.s */
        nops(&p, 8);
        csrr(&p, A1, FCSR);
        rv_done(&p);
        same((rv[]){p, h}, 2, distance);
    }
}

/* Cycles in which something passes a gate, mixed. */
static void passes(void *user, const wg_event *e)
{
    uint64_t *hash = user;
    *hash = (*hash ^ e->cycle ^ (uint64_t)e->word << 32) * UINT64_C(0x9FB21C651E98DF25);
}

static uint64_t gates(wg_arch_id arch, const char *shortcuts, const rv *p)
{
    const wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .shortcuts = shortcuts};
    wg_device *dev = NULL;
    wg_stop stop;
    uint64_t hash = 1;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED), passes, &hash, NULL), WG_OK);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, WG_CORE_T1, CODE), WG_OK);
    assert_int_equal(wg_run(dev, 20000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    wg_destroy(dev);
    return hash;
}

/* A loop: a store to own RAM, some instructions, some pushes, loads from own RAM. */
static rv feeder(unsigned distance, uint32_t word, unsigned pushes, unsigned loads)
{
    enum { RAM = 0xFFB00100 };
    rv p = rv_at(CODE);
    rv_li(&p, S0, RAM);
    rv_li(&p, S1, 6);
    while (p.n % 4)
        rv_nop(&p);
    const unsigned top = p.n;
    rv_sw(&p, S1, 0, S0);
    nops(&p, distance);
    for (unsigned i = 0; i < pushes; i++)
        rv_tt(&p, word);
    for (unsigned i = 0; i < loads; i++)
        rv_lw(&p, T0 + i % 3, 4 * (int)(i % 4), S0);
    rv_addi(&p, S1, S1, -1);
    rv_bne(&p, S1, ZERO, top);
    rv_done(&p);
    return p;
}

/*
 * A push leaves the store queue on time, whatever the core does ahead of the clock. It is followed by loads from own RAM, which use
 * the memory mux, and preceded by a store to own RAM, which is drained lazily. The path has room for it, or the thread's FIFO is
 * full for a while.
 */
static void test_push(void **state)
{
    enum { NOP = 0x02000000, ADDDMAREG = 0x58006144, FULL = 40 };
    const wg_arch_id arch = wg_test_arch(state);
    for (unsigned distance = 0; distance < 8; distance++)
        for (unsigned pushes = 1; pushes <= 12; pushes++)
            for (unsigned loads = 1; loads <= 12; loads++) {
                const bool full = pushes > 6;
                const rv p = feeder(distance, full ? ADDDMAREG : NOP, full ? FULL + pushes : pushes, loads);
                if (gates(arch, "none", &p) != gates(arch, NULL, &p))
                    fail_msg("%u instructions before %u pushes, %u loads behind: they pass the gate in other cycles",
                             distance, pushes, loads);
            }
}

static const wg_test tests[] = {
    WG_TEST(test_push, WG_BH | WG_WH, ""), WG_TEST(test_fetch, WG_BH, ""), WG_TEST(test_prefetch, WG_BH, ""),
    WG_TEST(test_replacement, WG_BH, ""),  WG_TEST(test_flags, WG_BH, ""),
};
WG_MAIN("core_ahead", tests)
