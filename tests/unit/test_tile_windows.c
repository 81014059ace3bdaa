/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of the tile: mailboxes, PC buffers, instruction buffers, manual TTSync, semaphores, GPRs, MOP
 * configuration, Dst; called directly, request by request.
 */
#include "isa/config_fields.h"
#include "tile_ask.h"

/* ---- Mailboxes ------------------------------------------------------------------------------------ */

enum { MAILBOX = 0xFFEC0000 };
static uint32_t mailbox(unsigned peer) { return MAILBOX + 0x1000 * peer; }
static const unsigned mailbox_core[4] = {WG_CORE_B, WG_CORE_T0, WG_CORE_T1, WG_CORE_T2};

static void test_mailbox_routes(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++) {
            uint32_t word = 0xA0 + from * 4 + to;
            assert_int_equal(load(dev, mailbox_core[to], mailbox(from) + 4).value, 0);
            assert_int_equal(store(dev, mailbox_core[from], mailbox(to), word).what, WG_REGION_DONE);
            for (unsigned other = 0; other < 4; other++)
                if (other != to)
                    assert_int_equal(load(dev, mailbox_core[other], mailbox(from) + 4).value, 0);
            assert_int_equal(load(dev, mailbox_core[to], mailbox(from) + 4).value, 1);
            answer a = load(dev, mailbox_core[to], mailbox(from));
            assert_int_equal(a.what, WG_REGION_DONE);
            assert_int_equal(a.value, word);
        }
    wg_destroy(dev);
}

static void test_mailbox_waits(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = load(dev, WG_CORE_T0, mailbox(0));
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_MAILBOX_EMPTY);
    assert_int_equal(a.why.holder, WG_AGENT_CORE_B);
    /* four in all, in any mailboxes */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(store(dev, WG_CORE_B, mailbox(i), 10 + i).what, WG_REGION_DONE);
    for (unsigned i = 0; i < 4; i++) {
        a = store(dev, WG_CORE_B, mailbox(i), 20);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_MAILBOX_FULL);
    }
    /* another sender has its own four */
    assert_int_equal(store(dev, WG_CORE_T0, mailbox(0), 30).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T1, mailbox(0)).value, 12);
    assert_int_equal(store(dev, WG_CORE_B, mailbox(1), 21).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, mailbox(0)).value, 11);
    assert_int_equal(load(dev, WG_CORE_T0, mailbox(0)).value, 21);
    wg_destroy(dev);
}

/* Between two cores, an action in one cycle is visible to the other in the next, whichever is served first. */
static void test_mailbox_cycle(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    for (unsigned i = 0; i < 4; i++)
        store(dev, WG_CORE_B, mailbox(1), i);
    assert_int_equal(ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0).what, WG_REGION_DONE);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, mailbox(2), 4, 9).what, WG_REGION_WAIT);
    t->sched.now++;
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, mailbox(2), 4, 9).what, WG_REGION_DONE);
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, mailbox(0) + 4, 4, 0).value, 0);
    t->sched.now++;
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, mailbox(0) + 4, 4, 0).value, 1);
    wg_destroy(dev);
}

/* ---- PC buffers ----------------------------------------------------------------------------------- */

enum { PC_BUF = 0xFFE80000, PC_BUF_OVERRIDE = 0xFFB12090 };

static void test_pcbuf_fifo(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++) {
        uint32_t at_b = PC_BUF + 0x10000 * thread;
        unsigned core = WG_CORE_T0 + thread;
        answer a = load(dev, core, PC_BUF);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_PCBUF_EMPTY);
        assert_int_equal(a.why.holder, WG_AGENT_CORE_B);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(store(dev, WG_CORE_B, at_b + 4 * i, 100 * thread + i).what, WG_REGION_DONE);
        a = store(dev, WG_CORE_B, at_b, 99);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_PCBUF_FULL);
        assert_int_equal(a.why.holder, WG_AGENT_CORE_T0 + thread);
        assert_int_equal(store(dev, core, PC_BUF, 77).what, WG_REGION_DONE); /* discarded */
        for (unsigned i = 0; i < 16; i++) {
            a = load(dev, core, PC_BUF);
            assert_int_equal(a.what, WG_REGION_DONE);
            assert_int_equal(a.value, 100 * thread + i);
        }
        assert_int_equal(load(dev, core, PC_BUF).what, WG_REGION_WAIT);
    }
    wg_destroy(dev);
}

/* B's load returns 0 once the FIFO is empty, T waits on it and the thread is idle: all three are needed. */
static void test_pcbuf_b_load(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    answer a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_WAIT); /* T0 does not wait */
    assert_int_equal(a.why.reason, WG_STALL_PCBUF_IDLE);
    assert_int_equal(a.why.holder, WG_AGENT_CORE_T0);
    load(dev, WG_CORE_T0, PC_BUF);
    store(dev, WG_CORE_B, PC_BUF, 5);
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF).what, WG_REGION_WAIT); /* not empty */
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).value, 5);
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF).what, WG_REGION_WAIT); /* T0 has continued */
    load(dev, WG_CORE_T0, PC_BUF);
    assert_int_equal(wg_push(dev, 0, 0x02000000), WG_OK);
    assert_false(wg_thread_idle(t, 0));
    a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_WAIT); /* an instruction is in flight */
    assert_int_equal(a.why.holder, WG_AGENT_THREAD0);
    wg_advance(dev, 100);
    t->sched.phase = WG_PHASE_REGIONS;
    a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0);
    wg_destroy(dev);
}

static void test_pcbuf_override(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    unsigned core = WG_CORE_T1;
    store(dev, WG_CORE_NC, PC_BUF_OVERRIDE, 0x5Au << 12 | 1 << 10); /* thread 1: OverrideEn, value 0x5A */
    assert_int_equal(load(dev, WG_CORE_NC, PC_BUF_OVERRIDE).value, 0x5Au << 12 | 1 << 10);
    answer a = load(dev, core, PC_BUF);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0x5A);
    store(dev, WG_CORE_B, PC_BUF + 0x10000, 0x1234);
    assert_int_equal(load(dev, core, PC_BUF).value, 0x1234); /* B's push comes first */
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF + 0x10000).what, WG_REGION_WAIT);
    store(dev, WG_CORE_NC, PC_BUF_OVERRIDE, 3 << 10); /* and OverrideBusy */
    a = load(dev, WG_CORE_B, PC_BUF + 0x10000);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).what, WG_REGION_WAIT); /* thread 0 is not affected */
    wg_destroy(dev);
}

enum { SEMWAIT_ON_ZERO_3 = 0xA6000000 | 0x1FFu << 15 | 1 << (3 + 2) | 1 };

/* ---- Instruction buffers -------------------------------------------------------------------------- */

/*
 * A host pushes Tensix words with the debug registers, before any core runs: one word per rising edge of the push bit.
 */
static void test_instruction_buffers(void **state)
{
    enum { CTRL0 = 0xFFB120A0, CTRL1 = 0xFFB120A4, STATUS = 0xFFB120A8, SEMPOST_0 = 0xA4000004 };
    wg_device *dev = make(wg_test_arch(state));
    uint32_t word, value;
#define PUT(address, what) (value = (what), assert_int_equal(wg_write(dev, address, &value, 4), WG_OK))
#define GET(address) (assert_int_equal(wg_read(dev, address, &word, 4), WG_OK), word)
    assert_int_equal(GET(STATUS), 0x77);
    PUT(CTRL1, SEMPOST_0);
    assert_int_equal(GET(CTRL1), SEMPOST_0);
    for (unsigned thread = 0; thread < 3; thread++) {
        const uint32_t own = 1u << thread, push = 16u << thread;
        PUT(CTRL0, push); /* the debug bus does not own the FIFO: no effect */
        PUT(CTRL0, own);
        assert_int_equal(GET(CTRL0), own);
        for (unsigned i = 0; i < 2; i++) {
            PUT(CTRL0, own | push);
            PUT(CTRL0, own | push); /* no edge */
            wg_advance(dev, 15);
            PUT(CTRL0, own);
        }
        assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &word), WG_OK);
        assert_int_equal(word, 2 * (thread + 1));
    }
    /* A word that waits at the gate: the FIFO before it fills, and the status shows it. */
    PUT(CTRL0, 2);
    PUT(CTRL1, SEMWAIT_ON_ZERO_3);
    PUT(CTRL0, 0x22);
    PUT(CTRL1, 0x02000000);
    wg_advance(dev, 10);
    unsigned pushed = 0;
    for (; GET(STATUS) & 2 && pushed < 40; pushed++) {
        PUT(CTRL0, 2);
        PUT(CTRL0, 0x22);
        wg_advance(dev, 3);
    }
    assert_in_range(pushed, 2, 39);
    assert_int_equal(GET(STATUS), 0x55);
    assert_null(found(dev, "debug-push-full"));
    PUT(CTRL0, 2);
    PUT(CTRL0, 0x22);
    assert_non_null(found(dev, "debug-push-full"));
    assert_int_equal(found(dev, "debug-push-full")->subject, 1);
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
    wg_advance(dev, 60);
    assert_int_equal(GET(STATUS), 0x77);
#undef PUT
#undef GET
    wg_destroy(dev);
}

/* ---- Manual TTSync -------------------------------------------------------------------------------- */

static void test_ttsync_drains(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    assert_int_equal(store(dev, WG_CORE_T2, PC_BUF + 4, 1).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 4).what, WG_REGION_DONE); /* nothing in flight */
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_push(dev, 2, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 2, 0x02000000), WG_OK);
    wg_advance(dev, 50); /* NOP after the wait */
    t->sched.phase = WG_PHASE_REGIONS;
    answer a = load(dev, WG_CORE_T2, PC_BUF + 4);
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_TTSYNC_DRAIN);
    assert_int_equal(a.why.holder, WG_AGENT_THREAD2);
    assert_int_equal(store(dev, WG_CORE_T2, PC_BUF + 4, 0).what, WG_REGION_DONE); /* a store never waits */
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 8).what, WG_REGION_DONE);     /* no MOP */
    assert_int_equal(load(dev, WG_CORE_T1, PC_BUF + 4).what, WG_REGION_DONE);     /* another thread */
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
    wg_advance(dev, 50);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 4).what, WG_REGION_DONE);
    wg_destroy(dev);
}

/* A MOP that cannot continue: +8 waits; with the MOP expanded and its output held, only +4 waits. */
static void test_ttsync_mop(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    static const uint32_t nop = 0x02000000,
                          long_mop[9] = {1, 60, nop, nop, nop, 0x60000000, nop, 0x60000000, 0x60000000};
    for (unsigned i = 0; i < 9; i++) /* template 1, one pass of 60 Scalar Unit no-ops */
        assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, i, long_mop[i]), WG_OK);
    assert_int_equal(wg_push(dev, 0, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0x01800000), WG_OK);
    wg_advance(dev, 200);
    t->sched.phase = WG_PHASE_REGIONS;
    answer a = load(dev, WG_CORE_T0, PC_BUF + 8);
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_TTSYNC_MOP);
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
    wg_advance(dev, 200);
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 0), WG_OK);
    assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, 1, 3), WG_OK); /* three instead of 60: fits before the gate */
    assert_int_equal(wg_push(dev, 0, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0x01800000), WG_OK);
    wg_advance(dev, 200);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 8).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    wg_destroy(dev);
}

static void test_ttsync_override(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    wg_push(dev, 0, SEMWAIT_ON_ZERO_3);
    wg_push(dev, 0, 0x02000000);
    wg_advance(dev, 20);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    store(dev, WG_CORE_B, PC_BUF_OVERRIDE, 1);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    store(dev, WG_CORE_B, PC_BUF_OVERRIDE, 3);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_DONE);
    wg_destroy(dev);
}

/* The hardware bug: a load that starts while a TTSync load is pending gets a wrong value, and is reported. */
static void test_ttsync_overlap(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    store(dev, WG_CORE_B, mailbox(1), 0x1234);
    store(dev, WG_CORE_B, mailbox(1), 0x5678);
    assert_int_equal(ask(dev, WG_CORE_T0, WG_REQ_READ, PC_BUF + 4, 4, 0).what, WG_REGION_DONE);
    t->sched.now++; /* the TTSync value has not arrived */
    answer a = ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0);
    assert_int_equal(a.value, ~0x1234u);
    const wg_finding *f = found(dev, "manual-ttsync-overlap");
    assert_non_null(f);
    assert_int_equal(f->subject, mailbox(0));
    assert_int_equal(f->count, 1);
    t->sched.now += 8;
    a = ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0);
    assert_int_equal(a.value, 0x5678);
    assert_int_equal(f->count, 1);
    wg_destroy(dev);
}

/* ---- Semaphore window ----------------------------------------------------------------------------- */

static void test_semaphore_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, i, i + 3), WG_OK);
    t->sched.phase = WG_PHASE_REGIONS;
    for (unsigned core = WG_CORE_T0; core <= WG_CORE_T2; core++)
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(load(dev, core, PC_BUF + 0x20 + 4 * i).value, i + 3);
    /* no semaphores beyond eight; for B the window is all PC buffer */
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 0x40).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 0xC).what, WG_REGION_NEVER);
    assert_int_equal(store(dev, WG_CORE_B, PC_BUF + 0x20, 42).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).value, 42);
    uint32_t value;
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &value), WG_OK);
    assert_int_equal(value, 3);
    assert_int_equal(load(dev, WG_CORE_NC, PC_BUF + 0x20).what, WG_REGION_NEVER);
    wg_destroy(dev);
}

/* ---- GPRs, MOP configuration, Dst ----------------------------------------------------------------- */

static void test_gpr_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (uint32_t i = 0; i < 192; i++)
        store(dev, WG_CORE_B, 0xFFE00000 + 4 * i, 0x1000 + i);
    for (uint32_t thread = 0; thread < 3; thread++)
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t value;
            assert_int_equal(load(dev, WG_CORE_T0 + thread, 0xFFE00000 + 4 * i).value, 0x1000 + 64 * thread + i);
            store(dev, WG_CORE_T0 + thread, 0xFFE00000 + 4 * i, 7 * i + thread);
            assert_int_equal(wg_peek(dev, WG_SPACE_GPR, 64 * thread + i, &value), WG_OK);
            assert_int_equal(value, 7 * i + thread);
        }
    assert_int_equal(load(dev, WG_CORE_B, 0xFFE00000 + 4 * 130).value, 7 * 2 + 2);
    assert_int_equal(load(dev, WG_CORE_T0, 0xFFE00100).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_B, 0xFFE00300).what, WG_REGION_NEVER);
    ask(dev, WG_CORE_T1, WG_REQ_WRITE, 0xFFE00006, 2, 0xBEEF); /* separate bytes */
    assert_int_equal(load(dev, WG_CORE_T1, 0xFFE00004).value, 0xBEEF0000 | 8);
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, 0xFFE00007, 1, 0).value, 0xBE);
    wg_destroy(dev);
}

static void test_mop_cfg_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < 9; i++)
            assert_int_equal(store(dev, WG_CORE_T0 + thread, 0xFFB80000 + 4 * i, 100 * thread + i).what,
                             WG_REGION_DONE);
    for (unsigned i = 0; i < 27; i++) {
        uint32_t value;
        assert_int_equal(wg_peek(dev, WG_SPACE_MOP_CFG, i, &value), WG_OK);
        assert_int_equal(value, 100 * (i / 9) + i % 9);
    }
    assert_null(found(dev, "mop-cfg-read"));
    assert_int_equal(load(dev, WG_CORE_T1, 0xFFB80004).what, WG_REGION_DONE);
    assert_non_null(found(dev, "mop-cfg-read"));
    assert_int_equal(load(dev, WG_CORE_B, 0xFFB80000).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB80000).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_T0, 0xFFB80024).what, WG_REGION_NEVER);
    wg_destroy(dev);
}

/* The field triple of RISC_DEST_ACCESS_CTRL for thread 0, in the bank it uses. */
static void dst_format(wg_device *dev, unsigned fmt, bool no_swizzle, bool unsigned_int)
{
    uint32_t *bank = dev->tile->regs.config.bank[0];
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_fmt], bank, fmt);
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_no_swizzle], bank, no_swizzle);
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_unsigned_int], bank, unsigned_int);
}

static uint32_t dst_store(wg_device *dev, unsigned bytes, uint32_t element, uint32_t value)
{
    ask(dev, WG_CORE_T0, WG_REQ_WRITE, 0xFFBD8000 + bytes * element, bytes, value);
    return bytes == 4 ? (uint32_t)dev->tile->regs.dst.bits[element / 16 % 8 + element / 128 * 16][element % 16] << 16 |
                            dev->tile->regs.dst.bits[element / 16 % 8 + element / 128 * 16 + 8][element % 16]
                      : dev->tile->regs.dst.bits[element / 16][element % 16];
}

static uint32_t dst_load(wg_device *dev, unsigned bytes, uint32_t element)
{
    return ask(dev, WG_CORE_T0, WG_REQ_READ, 0xFFBD8000 + bytes * element, bytes, 0).value;
}

static void test_dst_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dst_format(dev, 0, false, false); /* 1.5f = 0x3FC00000: sign, exponent 0x7F below the mantissa's top seven bits */
    assert_int_equal(dst_store(dev, 4, 5000, 0x3FC00000), 0x407F0000);
    assert_int_equal(dst_load(dev, 4, 5000), 0x3FC00000);
    dst_format(dev, 0, true, false);
    assert_int_equal(dst_load(dev, 4, 5000), 0x407F0000);
    dst_format(dev, 1, false, false);
    assert_int_equal(dst_store(dev, 4, 17, (uint32_t)-5) & 0x8000FFFF, 0x80000005);
    assert_int_equal(dst_load(dev, 4, 17), (uint32_t)-5);
    dst_store(dev, 4, 17, 0x80000000);
    assert_int_equal(dst_load(dev, 4, 17), 0x80000001); /* clamped */
    dst_format(dev, 2, false, false);
    assert_int_equal(dst_store(dev, 2, 16383, 0x3C01), 1 << 5 | 15); /* FP16 1.0009765625 */
    assert_int_equal(dst_load(dev, 2, 16383), 0x3C01);
    dst_format(dev, 3, false, false);
    assert_int_equal(dst_store(dev, 2, 33, 0xBFC0), 0x8000 | 0x40 << 8 | 0x7F); /* BF16 -1.5 */
    assert_int_equal(dst_load(dev, 2, 33), 0xBFC0);
    dst_format(dev, 4, false, false);
    assert_int_equal(dst_store(dev, 2, 34, 0xFFFE), 0x8002);
    assert_int_equal(dst_load(dev, 2, 34), 0xFFFE);
    assert_int_equal(dst_store(dev, 2, 34, 0x8000), 0xFFFF);
    dst_format(dev, 4, false, true);
    assert_int_equal(dst_load(dev, 2, 34), 0xFFFF);
    dst_format(dev, 5, false, false);
    assert_int_equal(dst_store(dev, 1, 35, 0x05), 5 << 5 | 16);
    assert_int_equal(dst_load(dev, 1, 35), 5);
    assert_int_equal(dst_store(dev, 1, 35, 0xFF), 0x8000 | 0x81 << 5 | 16); /* not the intended value (Dst.md) */
    assert_int_equal(dst_load(dev, 1, 35), 0xFF);
    assert_int_equal(dst_store(dev, 1, 36, 0), 0);
    assert_null(found(dev, "dst-window-access"));
    dst_load(dev, 4, 0);
    assert_non_null(found(dev, "dst-window-access"));
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_mailbox_routes, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_waits, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_cycle, WG_BH | WG_WH, ""),
    WG_TEST(test_pcbuf_fifo, WG_BH | WG_WH, "PIPE-27"),
    WG_TEST(test_pcbuf_b_load, WG_BH | WG_WH, "PIPE-27"),
    WG_TEST(test_pcbuf_override, WG_BH | WG_WH, ""),
    WG_TEST(test_instruction_buffers, WG_BH | WG_WH, ""),
    WG_TEST(test_ttsync_drains, WG_BH | WG_WH, "PIPE-28"),
    WG_TEST(test_ttsync_mop, WG_BH | WG_WH, "PIPE-28"),
    WG_TEST(test_ttsync_override, WG_BH | WG_WH, ""),
    WG_TEST(test_ttsync_overlap, WG_BH | WG_WH, ""),
    WG_TEST(test_semaphore_window, WG_BH | WG_WH, "SEM-04 SEM-06"),
    WG_TEST(test_gpr_window, WG_BH | WG_WH, "PIPE-24"),
    WG_TEST(test_mop_cfg_window, WG_BH | WG_WH, "PIPE-17"),
    WG_TEST(test_dst_window, WG_BH, ""),
};
WG_MAIN("tile_windows", tests)
