/* SPDX-License-Identifier: Apache-2.0 */
/* The tile around the cores, seen by programs that run on them. */
#include "machine/device.h"
#include "rvasm.h"
#include "wgtest.h"

enum {
    MAILBOX0 = 0xFFEC0000,
    PC_BUF = 0xFFE80000,
    PUSH0 = 0xFFE40000,
    PUSH1 = 0xFFE50000,
    OUT = 0x30000,
    SOFT_RESET_0 = 0xFFB121B0,
    NOP = 0x02000000
};
/* SEMWAIT while semaphore 3 is 0, blocking everything; SEMPOST of semaphore 3. */
enum {
    SEMWAIT_3 = 0xA6000000 | 0x1FFu << 15 | 1 << 5 | 1,
    SEMPOST_3 = 0xA4000000 | 1 << 5,
    SEMGET_3 = 0xA5000000 | 1 << 5
};

static wg_device *make(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

/* Each core has its own code address. */
static rv program(unsigned core) { return rv_at(0x1000 * (core + 1)); }

static void go(wg_device *dev, unsigned core, rv *p)
{
    rv_done(p);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, core, p->base), WG_OK);
}

static wg_stop run(wg_device *dev, uint64_t cycles)
{
    wg_stop stop;
    assert_int_equal(wg_run(dev, cycles, &stop), WG_OK);
    return stop;
}

static uint32_t word(wg_device *dev, uint32_t address)
{
    uint32_t value = 0;
    assert_int_equal(wg_read(dev, address, &value, 4), WG_OK);
    return value;
}

static const wg_finding *found(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return wg_finding_at(dev, i);
    return NULL;
}

/* out[n] = register, through T6. */
static void put(rv *p, unsigned n, unsigned reg)
{
    rv_li(p, T6, OUT + 16 * n);
    rv_sw(p, reg, 0, T6);
}

/* ---- Mailboxes ------------------------------------------------------------------------------------ */

/* B sends a number to T1, which adds one and sends it back, ten times. */
static void test_mailbox_ping_pong(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), t1 = program(WG_CORE_T1);
    rv_li(&b, S0, MAILBOX0 + 0x2000);
    rv_li(&b, A0, 100);
    rv_li(&b, S1, 10);
    unsigned again = b.n;
    rv_sw(&b, A0, 0, S0);
    rv_lw(&b, A0, 0, S0);
    rv_addi(&b, S1, S1, -1);
    rv_bne(&b, S1, ZERO, again);
    put(&b, 0, A0);
    rv_li(&t1, S0, MAILBOX0);
    rv_li(&t1, S1, 10);
    again = t1.n;
    rv_lw(&t1, A0, 0, S0);
    rv_addi(&t1, A0, A0, 1);
    rv_sw(&t1, A0, 0, S0);
    rv_addi(&t1, S1, S1, -1);
    rv_bne(&t1, S1, ZERO, again);
    go(dev, WG_CORE_B, &b);
    go(dev, WG_CORE_T1, &t1);
    assert_int_equal(run(dev, 10000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT), 110);
    wg_destroy(dev);
}

/* A load from an empty mailbox stalls the core at the use of its result, and is reported. */
static void test_mailbox_hang_is_named(void **state)
{
    wg_device *dev = make(state);
    rv p = program(WG_CORE_T0);
    rv_li(&p, S0, MAILBOX0 + 0x3000);
    rv_lw(&p, A0, 0, S0);
    put(&p, 0, A0);
    go(dev, WG_CORE_T0, &p);
    assert_int_equal(run(dev, 10000), WG_STOP_HUNG);
    wg_core_info info;
    assert_int_equal(wg_core_state(dev, WG_CORE_T0, &info), WG_OK);
    assert_false(info.parked);
    wg_destroy(dev);
}

/* Six stores into a mailbox that nobody empties: four fit, the others wait in the memory subsystem. */
static void test_mailbox_depth(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), t0 = program(WG_CORE_T0);
    rv_li(&b, S0, MAILBOX0 + 0x1000);
    for (int i = 0; i < 6; i++) {
        rv_addi(&b, A0, ZERO, 10 + i);
        rv_sw(&b, A0, 0, S0);
    }
    go(dev, WG_CORE_B, &b);
    run(dev, 1000);
    assert_int_equal(dev->tile->regions.mailbox.fifo[0][1].count, 4);
    rv_li(&t0, S0, MAILBOX0);
    for (unsigned i = 0; i < 6; i++) {
        rv_lw(&t0, A0, 0, S0);
        put(&t0, i, A0);
    }
    go(dev, WG_CORE_T0, &t0);
    assert_int_equal(run(dev, 10000), WG_STOP_DONE);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(word(dev, OUT + 16 * i), 10 + i);
    wg_destroy(dev);
}

/* ---- PC buffers, TTSync, launch ------------------------------------------------------------------- */

/* B launches T0 through its PC buffer and waits by loading from it; T0's work is done by then (PIPE-26, PIPE-27). */
static void test_pcbuf_launch(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), t0 = program(WG_CORE_T0);
    rv_li(&b, S0, PC_BUF);
    for (int i = 1; i <= 3; i++) {
        rv_addi(&b, A0, ZERO, i);
        rv_sw(&b, A0, 0, S0);
    }
    rv_lw(&b, A1, 0, S0); /* returns when T0 waits for a fourth */
    rv_add(&b, A1, A1, A1);
    rv_fence(&b);
    rv_li(&b, S1, OUT);
    rv_lw(&b, A2, 0, S1);
    put(&b, 1, A2);
    put(&b, 2, A1);
    rv_li(&t0, S0, PC_BUF);
    rv_li(&t0, A1, 0);
    unsigned again = t0.n;
    rv_lw(&t0, A0, 0, S0);
    rv_add(&t0, A1, A1, A0);
    put(&t0, 0, A1);
    rv_lw(&t0, A2, 0, T6);   /* the store has reached L1 … */
    rv_andi(&t0, A2, A2, 0); /* … before T0 waits for the next token */
    rv_beq(&t0, ZERO, ZERO, again);
    go(dev, WG_CORE_B, &b);
    go(dev, WG_CORE_T0, &t0);
    run(dev, 10000);
    assert_int_equal(word(dev, OUT), 6);
    assert_int_equal(word(dev, OUT + 16), 6);
    assert_int_equal(word(dev, OUT + 32), 0);
    wg_destroy(dev);
}

/* L1 go and done bytes: T2 polls for 0x80, works, writes 0x00 (PIPE-26). */
static void test_l1_launch(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), t2 = program(WG_CORE_T2);
    rv_li(&b, S0, OUT + 0x100);
    rv_addi(&b, A0, ZERO, 0x80);
    rv_sb(&b, A0, 0, S0);
    unsigned again = b.n;
    rv_fence(&b);
    rv_lbu(&b, A1, 0, S0);
    rv_bne(&b, A1, ZERO, again);
    rv_li(&b, S1, OUT);
    rv_lw(&b, A2, 0, S1);
    put(&b, 1, A2);
    rv_li(&t2, S0, OUT + 0x100);
    rv_addi(&t2, A0, ZERO, 0x80);
    again = t2.n;
    rv_fence(&t2);
    rv_lbu(&t2, A1, 0, S0);
    rv_bne(&t2, A1, A0, again);
    rv_addi(&t2, A3, ZERO, 77);
    put(&t2, 0, A3);
    rv_sb(&t2, ZERO, 0, S0);
    go(dev, WG_CORE_B, &b);
    go(dev, WG_CORE_T2, &t2);
    assert_int_equal(run(dev, 20000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT + 16), 77);
    wg_destroy(dev);
}

/*
 * T0 pushes a wait that holds its thread, and then writes done: with a drain before it, done is written when the thread
 * is empty; without, while the instruction is still in flight (PIPE-28, PIPE-31).
 */
static void test_drain_before_done(void **state)
{
    for (int drain = 0; drain < 2; drain++) {
        wg_device *dev = make(state);
        rv t0 = program(WG_CORE_T0);
        rv_li(&t0, S0, PC_BUF);
        rv_tt(&t0, SEMWAIT_3);
        rv_tt(&t0, NOP);
        if (drain) {
            rv_sw(&t0, ZERO, 4, S0);
            rv_lw(&t0, A0, 4, S0);
            rv_andi(&t0, A0, A0, 0);
        }
        rv_addi(&t0, A1, ZERO, 1);
        put(&t0, 0, A1);
        go(dev, WG_CORE_T0, &t0);
        run(dev, 2000);
        assert_int_equal(word(dev, OUT), drain ? 0 : 1);
        assert_false(wg_thread_idle(dev->tile, 0));
        assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
        assert_int_equal(run(dev, 2000), WG_STOP_DONE);
        assert_int_equal(word(dev, OUT), 1);
        assert_true(wg_thread_idle(dev->tile, 0));
        wg_destroy(dev);
    }
}

/* A store to TTSync's words never stalls the core (PIPE-28). */
static void test_ttsync_store_does_not_wait(void **state)
{
    wg_device *dev = make(state);
    rv t1 = program(WG_CORE_T1);
    rv_li(&t1, S0, PC_BUF);
    rv_tt(&t1, SEMWAIT_3);
    rv_tt(&t1, NOP);
    rv_sw(&t1, ZERO, 4, S0);
    rv_sw(&t1, ZERO, 8, S0);
    rv_addi(&t1, A1, ZERO, 5);
    put(&t1, 0, A1);
    go(dev, WG_CORE_T1, &t1);
    run(dev, 2000);
    assert_int_equal(word(dev, OUT), 5);
    wg_destroy(dev);
}

/* ---- Semaphores ----------------------------------------------------------------------------------- */

/* A T core posts and gets by stores, of which only bit 0 matters; both saturate (SEM-05). */
static void test_semaphore_stores(void **state)
{
    wg_device *dev = make(state);
    rv p = program(WG_CORE_T1);
    rv_li(&p, S0, PC_BUF + 0x20);
    rv_li(&p, A0, 0xFFFFFFFE);
    rv_li(&p, A1, 0x12340001);
    for (unsigned i = 0; i < 17; i++)
        rv_sw(&p, A0, 4 * 2, S0);
    rv_lw(&p, A2, 4 * 2, S0);
    put(&p, 0, A2);
    for (unsigned i = 0; i < 3; i++)
        rv_sw(&p, A1, 4 * 2, S0);
    rv_lw(&p, A2, 4 * 2, S0);
    put(&p, 1, A2);
    rv_sw(&p, A1, 4 * 7, S0);
    rv_lw(&p, A2, 4 * 7, S0);
    put(&p, 2, A2);
    go(dev, WG_CORE_T1, &p);
    assert_int_equal(run(dev, 10000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT), 15);
    assert_int_equal(word(dev, OUT + 16), 12);
    assert_int_equal(word(dev, OUT + 32), 0);
    wg_destroy(dev);
}

/* The window acts while pushed instructions still wait (SEM-07); a T core's post releases its own thread (SEM-11). */
static void test_semaphore_window_overtakes(void **state)
{
    wg_device *dev = make(state);
    rv t0 = program(WG_CORE_T0), t1 = program(WG_CORE_T1);
    rv_li(&t0, S0, PC_BUF + 0x20);
    rv_tt(&t0, SEMWAIT_3);
    rv_tt(&t0, 0xA4000000 | 1 << (5 + 2)); /* SEMPOST of semaphore 5, held by the wait */
    for (unsigned i = 0; i < 60; i++)
        rv_nop(&t0);
    rv_lw(&t0, A0, 4 * 5, S0);
    put(&t0, 0, A0); /* not yet */
    rv_sw(&t0, ZERO, 4 * 3, S0);
    unsigned again = t0.n;
    rv_lw(&t0, A0, 4 * 5, S0);
    rv_beq(&t0, A0, ZERO, again); /* a core polls for a Tensix post */
    put(&t0, 1, A0);
    (void)t1;
    go(dev, WG_CORE_T0, &t0);
    assert_int_equal(run(dev, 10000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT), 0);
    assert_int_equal(word(dev, OUT + 16), 1);
    wg_destroy(dev);
}

/* Every core reaches a software semaphore in L1: five in turn, each adding one (SEM-15). */
static void test_software_semaphore(void **state)
{
    wg_device *dev = make(state);
    for (unsigned core = 0; core < WG_CORES; core++) {
        rv p = program(core);
        rv_li(&p, S0, OUT + 0x40);
        rv_addi(&p, A1, ZERO, (int)core);
        unsigned again = p.n;
        rv_fence(&p);
        rv_lw(&p, A0, 0, S0);
        rv_bne(&p, A0, A1, again);
        rv_addi(&p, A0, A0, 1);
        rv_sw(&p, A0, 0, S0);
        go(dev, core, &p);
    }
    assert_int_equal(run(dev, 20000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT + 0x40), 5);
    wg_destroy(dev);
}

/* ---- Pushing, unmapped and hanging accesses ------------------------------------------------------- */

/* The same store pushes to the T core's own thread, and from B to thread 0, 1 or 2 by address (PIPE-11, PIPE-12). */
static void test_push_addresses(void **state)
{
    static const struct {
        unsigned core;
        uint32_t address;
        unsigned thread;
    } pushes[] = {
        {WG_CORE_B, 0xFFE40000, 0},  {WG_CORE_B, 0xFFE50000, 1},  {WG_CORE_B, 0xFFE60000, 2},
        {WG_CORE_T0, 0xFFE40000, 0}, {WG_CORE_T1, 0xFFE40000, 1}, {WG_CORE_T2, 0xFFE40000, 2},
    };
    for (size_t i = 0; i < sizeof pushes / sizeof *pushes; i++) {
        wg_device *dev = make(state);
        rv p = program(pushes[i].core);
        rv_store(&p, pushes[i].address, 0x45000000 | 0x1234u << 8 | 2 * 5); /* SETDMAREG of GPR 5, low half */
        go(dev, pushes[i].core, &p);
        assert_int_equal(run(dev, 2000), WG_STOP_DONE);
        for (unsigned thread = 0; thread < 3; thread++) {
            uint32_t gpr;
            assert_int_equal(wg_peek(dev, WG_SPACE_GPR, 64 * thread + 5, &gpr), WG_OK);
            assert_int_equal(gpr, thread == pushes[i].thread ? 0x1234 : 0);
        }
        wg_destroy(dev);
    }
}

static void test_foreign_push_hangs(void **state)
{
    wg_device *dev = make(state);
    rv p = program(WG_CORE_T2);
    rv_store(&p, PUSH1, NOP);
    rv_addi(&p, A0, ZERO, 1);
    for (unsigned i = 0; i < 12; i++) /* more stores than the core and the memory subsystem hold */
        put(&p, i, A0);
    rv_li(&p, S0, PUSH1);
    for (unsigned i = 0; i < 12; i++)
        rv_sw(&p, A0, 0, S0);
    go(dev, WG_CORE_T2, &p);
    assert_int_equal(run(dev, 5000), WG_STOP_HUNG);
    const wg_finding *f = found(dev, "core-hanging-store");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_T2);
    assert_true(f->has_pc && f->pc >= p.base && f->pc < p.base + 4 * p.n);
    assert_int_equal(f->count, 1);
    wg_destroy(dev);
}

static void test_nc_cannot_push(void **state)
{
    wg_device *dev = make(state);
    rv p = program(WG_CORE_NC);
    rv_store(&p, PUSH0, 0x45000000 | 0x1234u << 8 | 2 * 5);
    go(dev, WG_CORE_NC, &p);
    run(dev, 5000);
    const wg_finding *f = found(dev, "core-unmapped-access");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_NC);
    assert_int_equal(f->subject, PUSH0);
    uint32_t gpr;
    for (unsigned thread = 0; thread < 3; thread++) {
        assert_int_equal(wg_peek(dev, WG_SPACE_GPR, 64 * thread + 5, &gpr), WG_OK);
        assert_int_equal(gpr, 0);
    }
    wg_destroy(dev);
}

static void test_unmapped_load_hangs(void **state)
{
    wg_device *dev = make(state);
    rv p = program(WG_CORE_B);
    rv_li(&p, S0, 0xFFD00000);
    rv_lw(&p, A0, 0, S0);
    put(&p, 0, A0);
    go(dev, WG_CORE_B, &p);
    assert_int_equal(run(dev, 5000), WG_STOP_HUNG);
    assert_int_equal(found(dev, "core-unmapped-access")->count, 1);
    wg_destroy(dev);
}

/* ---- Soft reset ----------------------------------------------------------------------------------- */

/* B releases T1 through the register; T1 starts at its vector, and holding it again stops it. */
static void test_b_releases_t1(void **state)
{
    wg_device *dev = make(state);
    bool bh = dev->arch->id == WG_ARCH_BH;
    rv b = program(WG_CORE_B), t1 = rv_at(0x7000);
    rv_store(&b, bh ? 0xFFB1222C : 0xFFEF0000 + 4 * 159, 0x7000);
    rv_store(&b, bh ? 0xFFB12234 : 0xFFEF0000 + 4 * 161, 2);
    rv_li(&b, S0, bh ? 0xFFB12234 : 0xFFEF0000 + 4 * 161);
    rv_lw(&b, A0, 0, S0);
    rv_andi(&b, A0, A0, 0); /* the vector is in place before the release goes out */
    rv_store(&b, SOFT_RESET_0, 0x47800 & ~(1u << 11) & ~(1u << 13));
    rv_li(&t1, A0, 0);
    rv_li(&t1, T6, OUT);
    unsigned again = t1.n;
    rv_addi(&t1, A0, A0, 1);
    rv_sw(&t1, A0, 0, T6);
    rv_fence(&t1); /* the store queue merges stores to one line as long as they keep arriving */
    rv_beq(&t1, ZERO, ZERO, again);
    rv_done(&t1);
    assert_true(rv_load(dev, &t1));
    go(dev, WG_CORE_B, &b);
    run(dev, 2000);
    uint32_t count = word(dev, OUT);
    assert_true(count > 10);
    uint32_t hold = 0x47800 & ~(1u << 11);
    assert_int_equal(wg_write(dev, SOFT_RESET_0, &hold, 4), WG_OK);
    run(dev, 100);
    count = word(dev, OUT);
    run(dev, 2000);
    assert_int_equal(word(dev, OUT), count);
    wg_destroy(dev);
}

/* Entering reset discards what the core sent; leaving it discards what B pushed to its PC buffer (SoftReset.md). */
static void test_reset_discards(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), t0 = program(WG_CORE_T0);
    rv_store(&b, PC_BUF, 5);
    rv_store(&t0, MAILBOX0, 7);
    go(dev, WG_CORE_T0, &t0);
    run(dev, 500);
    assert_int_equal(dev->tile->regions.mailbox.fifo[1][0].count, 1);
    assert_int_equal(wg_core_hold(dev, WG_CORE_T0), WG_OK);
    go(dev, WG_CORE_B, &b);
    run(dev, 500);
    assert_int_equal(dev->tile->regions.mailbox.fifo[1][0].count, 0);
    assert_int_equal(dev->tile->regions.pcbuf.fifo[0].count, 1);
    assert_int_equal(wg_core_release(dev, WG_CORE_T0, t0.base), WG_OK);
    run(dev, 500);
    assert_int_equal(dev->tile->regions.pcbuf.fifo[0].count, 0);
    wg_destroy(dev);
}

/* ---- Interrupts (BH) ------------------------------------------------------------------------------ */

/* A software IRQ interrupts B; the handler takes its value and returns. */
static void test_software_interrupt(void **state)
{
    wg_device *dev = make(state);
    rv b = program(WG_CORE_B), handler = rv_at(0x9000);
    rv_li(&handler, S2, 0xFFB13018 + 4 * 6);
    rv_lw(&handler, S3, 0, S2);
    put(&handler, 0, S3);
    rv_li(&handler, S2, 0xFFB13008);
    rv_lw(&handler, S3, 0, S2);
    put(&handler, 1, S3);
    rv_word(&handler, 0x30200073); /* mret */
    assert_true(rv_load(dev, &handler));
    rv_store(&b, 0xFFB130A8 + 4 * 6, 0x9000);
    rv_store(&b, 0xFFB13000, 1 << 6);
    rv_li(&b, A0, 0);
    rv_li(&b, A1, 3000);
    unsigned again = b.n;
    rv_addi(&b, A0, A0, 1);
    rv_bne(&b, A0, A1, again);
    put(&b, 2, A0);
    go(dev, WG_CORE_B, &b);
    run(dev, 1000);
    assert_int_equal(word(dev, OUT), 0);
    uint32_t value = 99;
    assert_int_equal(wg_write(dev, 0xFFB13018 + 4 * 6, &value, 4), WG_OK);
    assert_int_equal(run(dev, 20000), WG_STOP_DONE);
    assert_int_equal(word(dev, OUT), 99);
    assert_int_equal(word(dev, OUT + 16), 6);
    assert_int_equal(word(dev, OUT + 32), 3000); /* and the loop ran to its end */
    wg_destroy(dev);
}

/* ---- Skipping is exact ----------------------------------------------------------------------------- */

/* B, T0 and T1 communicate through mailboxes, PC buffer, TTSync and semaphores; B releases NC in between. */
static void busy_tile(wg_device *dev)
{
    rv b = program(WG_CORE_B), nc = program(WG_CORE_NC), t0 = program(WG_CORE_T0), t1 = program(WG_CORE_T1);
    rv_li(&b, S0, MAILBOX0 + 0x1000);
    rv_li(&b, S1, PC_BUF);
    for (int i = 0; i < 12; i++) {
        rv_addi(&b, A0, ZERO, i);
        rv_sw(&b, A0, 0, S0);
        rv_sw(&b, A0, 0, S1);
    }
    rv_lw(&b, A1, 0, S1);
    put(&b, 0, A1);
    rv_store(&b, SOFT_RESET_0, 0x47800 & ~(1u << 11) & ~(3u << 12) & ~(1u << 18));
    rv_li(&t0, S0, MAILBOX0);
    rv_li(&t0, S1, PC_BUF);
    rv_li(&t0, A2, 0);
    for (unsigned i = 0; i < 12; i++) {
        rv_lw(&t0, A0, 0, S0);
        rv_lw(&t0, A1, 0, S1);
        rv_add(&t0, A2, A2, A0);
        rv_add(&t0, A2, A2, A1);
        rv_tt(&t0, i & 1 ? SEMGET_3 : SEMPOST_3);
        rv_sw(&t0, ZERO, 4, S1);
        rv_lw(&t0, A3, 4, S1);
        rv_andi(&t0, A3, A3, 0);
    }
    put(&t0, 1, A2);
    rv_lw(&t0, A0, 0, S1); /* B waits for this */
    rv_li(&t1, S0, PC_BUF + 0x20);
    rv_addi(&t1, A1, ZERO, 6);
    unsigned again = t1.n;
    rv_sw(&t1, ZERO, 4 * 4, S0);
    rv_lw(&t1, A0, 4 * 4, S0);
    rv_bne(&t1, A0, A1, again);
    put(&t1, 2, A0);
    rv_store(&nc, OUT + 16 * 3, 99);
    rv_done(&nc);
    assert_true(rv_load(dev, &nc));
    rv vector = rv_at(0x12000); /* NC's fixed vector: jump to its program */
    rv_li(&vector, T0, nc.base);
    rv_word(&vector, rv_i(0, T0, 0, ZERO, 0x67));
    assert_true(rv_load(dev, &vector));
    go(dev, WG_CORE_T0, &t0);
    go(dev, WG_CORE_T1, &t1);
    go(dev, WG_CORE_B, &b);
}

static void hash_event(void *user, const wg_event *e)
{
    uint64_t *hash = user;
    const uint64_t parts[] = {e->cycle,
                              e->id,
                              e->a,
                              e->b,
                              e->c,
                              e->word,
                              e->pc,
                              e->kind,
                              e->phase,
                              e->agent,
                              e->stall.reason,
                              e->stall.resource,
                              e->stall.holder};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *hash = (*hash ^ parts[i]) * UINT64_C(1099511628211);
}

static void test_lockstep_equal(void **state)
{
    /* The cores' own tests compare their stalls. */
    const uint64_t kinds = WG_EV_ALL & ~WG_EV_BIT(WG_EV_STALL_BEGIN) & ~WG_EV_BIT(WG_EV_STALL_END);
    uint64_t hash[2][2] = {{0}}, cycle[2][2];
    for (int lockstep = 0; lockstep < 2; lockstep++)
        for (int observed = 0; observed < 2; observed++) {
            wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = lockstep};
            wg_device *dev = NULL;
            assert_int_equal(wg_create(&desc, &dev), WG_OK);
            if (observed)
                assert_int_equal(wg_observe(dev, kinds, hash_event, &hash[lockstep][1], NULL), WG_OK);
            busy_tile(dev);
            run(dev, 3000);
            assert_int_equal(word(dev, OUT), 0);
            assert_int_equal(word(dev, OUT + 16), 2 * 66);
            assert_int_equal(word(dev, OUT + 32), 6);
            assert_int_equal(word(dev, OUT + 48), 99);
            for (unsigned i = 0; i < 4; i++)
                hash[lockstep][0] ^= word(dev, OUT + 16 * i);
            cycle[lockstep][observed] = wg_cycle(dev);
            wg_destroy(dev);
        }
    assert_true(hash[0][1] == hash[1][1]);
    assert_true(cycle[0][0] == cycle[0][1] && cycle[1][0] == cycle[1][1]);
}

static const wg_test tests[] = {
    WG_TEST(test_mailbox_ping_pong, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_hang_is_named, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_depth, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_pcbuf_launch, WG_BH | WG_WH, "PIPE-26 PIPE-27"),
    WG_TEST(test_l1_launch, WG_BH | WG_WH, "PIPE-26"),
    WG_TEST(test_drain_before_done, WG_BH | WG_WH, "PIPE-28 PIPE-31"),
    WG_TEST(test_ttsync_store_does_not_wait, WG_BH | WG_WH, "PIPE-28"),
    WG_TEST(test_semaphore_stores, WG_BH | WG_WH, "SEM-05"),
    WG_TEST(test_semaphore_window_overtakes, WG_BH | WG_WH, "SEM-07 SEM-11"),
    WG_TEST(test_software_semaphore, WG_BH | WG_WH, "SEM-15"),
    WG_TEST(test_push_addresses, WG_BH | WG_WH, "PIPE-11 PIPE-12"),
    WG_TEST(test_foreign_push_hangs, WG_BH | WG_WH, "PIPE-12"),
    WG_TEST(test_nc_cannot_push, WG_BH | WG_WH, "PIPE-13"),
    WG_TEST(test_unmapped_load_hangs, WG_BH | WG_WH, ""),
    WG_TEST(test_b_releases_t1, WG_BH | WG_WH, ""),
    WG_TEST(test_reset_discards, WG_BH | WG_WH, ""),
    WG_TEST(test_software_interrupt, WG_BH, ""),
    WG_TEST(test_lockstep_equal, WG_BH | WG_WH, ""),
};
WG_MAIN("tile_cores", tests)
