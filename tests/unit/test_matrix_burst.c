/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of MVMULs (fast/matrix_many.c): REPLAYs and MOPs of them, mixed with other instructions, with other threads
 * active, blocks that are not ready and banks that have not been handed over. A device that skips and one that ticks
 * every agent in every cycle are in the same state at every check.
 */
#include "backend/matrix.h"
#include "isa/config_fields.h"
#include "burst_rig.h"

enum { THREAD = 1 };

static uint32_t mvmul(const wg_tile *t)
{
    uint32_t word = 0x26000000 | below(4) << (t->arch->id == WG_ARCH_BH ? 14 : 15) | below(16) * 8;
    if (below(40) == 0)
        word |= 1u << 19; /* one row of SrcB for all */
    if (below(60) == 0)
        word |= below(4) << 22; /* gives banks back */
    return word;
}

static uint32_t any_word(const wg_tile *t)
{
    static const uint32_t others[] = {0x02000000, 0x37000000 | 8, 0x37000000 | 15,    0x10180000,
                                      0x38000000, 0x27000000,     0x04000000 | 3 << 4 /* REPLAY */};
    return below(10) ? mvmul(t) : others[below(sizeof others / sizeof *others)];
}

static void configure(wg_tile *t)
{
    static const uint8_t formats[] = {5, 5, 1, 4};
    wg_arch_id arch = t->arch->id;
    unsigned format = formats[below(4)], wide = below(2), integers = below(6) == 0;
    for (unsigned bank = 0; bank < 2; bank++) {
        uint32_t *cfg = t->regs.config.bank[bank];
        wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA], cfg, format);
        wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB], cfg, format);
        wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_ACC_CTRL_Fp32_enabled], cfg, wide);
        wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_ACC_CTRL_INT8_math_enabled], cfg, integers);
        t->regs.src.format_a[bank] = t->regs.src.format_b[bank] = (uint8_t)format;
        t->regs.src.owner_a[bank] = t->regs.src.owner_b[bank] = below(8) ? WG_SRC_MATRIX : WG_SRC_UNPACKERS;
        for (unsigned i = 0; i < 64 * 16; i++) {
            t->regs.src.a[bank][i / 16][i % 16] = below(1 << 18) << 1 | (below(2) ? 127 : 120 + below(16));
            t->regs.src.b[bank][i / 16][i % 16] = below(1 << 18) << 1 | (below(2) ? 127 : 120 + below(16));
        }
        t->regs.src.changes_a[bank]++;
        t->regs.src.changes_b[bank]++;
    }
    const uint16_t ab = wg_tcfg_fields[arch][WG_TCFG_ADDR_MOD_AB_SEC0_SrcAIncr].word;
    const uint16_t dst = wg_tcfg_fields[arch][WG_TCFG_ADDR_MOD_DST_SEC0_DestIncr].word;
    const uint16_t step = (uint16_t)(wg_tcfg_fields[arch][WG_TCFG_ADDR_MOD_AB_SEC1_SrcAIncr].word - ab);
    for (unsigned i = 0; i < 4; i++) {
        t->regs.config.thread[THREAD][ab + i * step] = (uint16_t)((below(6) ? below(4) * 16 : 8) | below(8) << 11);
        t->regs.config.thread[THREAD][dst + i] = (uint16_t)(below(4) * 8 | (below(3) ? 0u : 1u << 13));
    }
    t->regs.config.changes++;
    for (unsigned i = 0; i < 16; i++)
        t->regs.dst.undefined[i] = below(4) ? 0 : wg_rng_next(&g);
}

static void push(wg_device *dev, unsigned thread, uint32_t word) { (void)wg_push(dev, thread, word); }

static void program(wg_device *dev)
{
    wg_tile *t = dev->tile;
    if (below(3)) {
        unsigned count = 1 + below(31), slot = below(32);
        if (count > 12) /* the FIFO holds 12; the rest is put there directly */
            for (unsigned i = 0; i < WG_REPLAY_SLOTS; i++)
                t->frontend[THREAD].replay.slot[i] = any_word(t);
        else
            push(dev, THREAD, 0x04000001 | count << 4 | slot << 14);
        for (unsigned i = 0; count <= 12 && i < count; i++)
            push(dev, THREAD, any_word(t));
        for (unsigned i = 1 + below(4); i--;) {
            push(dev, THREAD, 0x04000000 | count << 4 | slot << 14);
            if (below(3) == 0)
                push(dev, THREAD, any_word(t));
        }
    } else {
        uint32_t nop = 0x02000000, loop = mvmul(t), last = any_word(t);
        uint32_t mop[] = {1 + below(3), 1 + below(60), nop, nop, nop, loop, below(6) ? nop : loop, last, last};
        memcpy(t->frontend[THREAD].mop_cfg, mop, sizeof mop);
        for (unsigned i = 1 + below(2); i--;)
            push(dev, THREAD, 0x01800000);
    }
    for (unsigned i = below(6); i--;)
        push(dev, THREAD, any_word(t));
    for (unsigned i = below(4) ? 0 : below(8); i--;) /* another thread */
        push(dev, 2 * below(2), below(2) ? 0x02000000 : below(2) ? 0x45000000 | 5 << 1 : any_word(t));
    if (below(6) == 0)
        wg_dst_block_written(t, 8 * below(32), t->sched.now + below(40));
}

static void act(wg_device *dev, unsigned round)
{
    if (round % 8 == 0 && wg_thread_idle(dev->tile, THREAD)) {
        configure(dev->tile);
        wg_wake_all(&dev->tile->sched);
    }
    if (below(2))
        program(dev);
    wg_advance(dev, 1 + below(below(3) ? 12 : 90));
}

static void expect(const wg_device *skips, const wg_device *ticks)
{
    const wg_tile *a = skips->tile, *b = ticks->tile;
    assert_memory_equal(a->regs.dst.bits, b->regs.dst.bits, sizeof a->regs.dst.bits);
    assert_memory_equal(a->regs.dst.undefined, b->regs.dst.undefined, sizeof a->regs.dst.undefined);
    assert_memory_equal(&a->regs.rwc, &b->regs.rwc, sizeof a->regs.rwc);
    assert_memory_equal(a->backend.turn, b->backend.turn, sizeof a->backend.turn);
    const wg_matrix *m = &a->backend.matrix, *n = &b->backend.matrix;
    assert_int_equal(m->tail - m->head, n->tail - n->head);
    for (uint32_t i = m->head, k = n->head; i != m->tail; i++, k++) { /* burst results use no slots */
        const wg_matrix_op *x = &m->flight[i % WG_MATRIX_FLIGHTS], *y = &n->flight[k % WG_MATRIX_FLIGHTS];
        assert_int_equal(m->due[i % WG_MATRIX_FLIGHTS], n->due[k % WG_MATRIX_FLIGHTS]);
        assert_memory_equal(&x->insn, &y->insn, sizeof x->insn);
        assert_int_equal(x->effect, y->effect);
        assert_memory_equal(x->row, y->row, x->rows * sizeof *x->row);
    }
    assert_memory_equal(m->in_flight, n->in_flight, sizeof m->in_flight);
    assert_memory_equal(m->block_ready, n->block_ready, sizeof m->block_ready);
    assert_memory_equal(m->block_lands, n->block_lands, sizeof m->block_lands);
    assert_int_equal(m->blocks_ready, n->blocks_ready);
    assert_int_equal(m->last_lands, n->last_lands);
    assert_int_equal(m->last_accept, n->last_accept);
    assert_int_equal(m->last_thread, n->last_thread);
    assert_int_equal(m->last_srca_row, n->last_srca_row);
    assert_int_equal(m->flips, n->flips);
}

static void test_bursts(void **state) { in_both_modes(state, 60, 40, act, expect); }

/* Bursts must occur: few of 120 MVMULs execute one by one. */
static void test_they_happen(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_tile *t = dev->tile;
    g.s = 1;
    configure(t);
    for (unsigned bank = 0; bank < 2; bank++)
        t->regs.src.owner_a[bank] = t->regs.src.owner_b[bank] = WG_SRC_MATRIX;
    t->regs.config.thread[THREAD][wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_AB_SEC0_SrcAIncr].word] = 0;
    t->regs.config.thread[THREAD][wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_DST_SEC0_DestIncr].word] = 8;
    t->regs.config.changes++;
    for (unsigned i = 0; i < WG_REPLAY_SLOTS; i++)
        t->frontend[THREAD].replay.slot[i] = 0x26000000;
    for (unsigned i = 0; i < 4; i++)
        push(dev, THREAD, 0x04000000 | 30 << 4);
    wg_advance(dev, 200);
    assert_int_equal(t->backend.turn[WG_UNIT_MATRIX].next, THREAD + 1);
    expect_bursts(t, 4, 80);
    assert_int_equal(t->backend.matrix.in_flight[THREAD], 0);
    wg_destroy(dev);
}

/*
 * A thread that waits for a block of Dst gets the new reason when another thread's instruction gives away the bank that
 * it also needs.
 */
static void test_bank_goes_meanwhile(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .profile = WG_PROFILE_DOCUMENTED};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_tile *t = dev->tile;
    for (unsigned bank = 0; bank < 2; bank++)
        t->regs.src.owner_a[bank] = t->regs.src.owner_b[bank] = WG_SRC_MATRIX;
    t->regs.src.owner_b[1] = WG_SRC_UNPACKERS;
    wg_dst_block_written(t, 0, 60);
    push(dev, 2, 0x26000000);
    wg_advance(dev, 10);
    const wg_frontend *f = &t->frontend[2];
    assert_int_equal(f->stall.reason, WG_STALL_DST_BLOCK_WRITTEN);
    push(dev, 0, 0x26000040 | 1u << 23); /* gives SrcB's bank back */
    wg_advance(dev, 10);
    assert_int_equal(f->stall.reason, WG_STALL_SRCB_NOT_HANDED_OVER);
    assert_int_equal(f->stalled_since, t->backend.matrix.last_accept); /* the cycle after that acceptance */
    wg_destroy(dev);
}

/*
 * A read of configuration that a write of the same thread is still changing is reported, whether or not MVMULs run in
 * bursts.
 */
static void test_configuration_under_way(void **state)
{
    size_t found[2];
    for (unsigned k = 0; k < 2; k++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = k == 1};
        wg_device *dev;
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        wg_tile *t = dev->tile;
        g.s = 3;
        configure(t);
        for (unsigned bank = 0; bank < 2; bank++)
            t->regs.src.owner_a[bank] = t->regs.src.owner_b[bank] = WG_SRC_MATRIX;
        for (unsigned i = 0; i < WG_REPLAY_SLOTS; i++)
            t->frontend[THREAD].replay.slot[i] = 0x26000000;
        push(dev, THREAD, 0xB0000001); /* WRCFG: formats */
        push(dev, THREAD, 0x04000000 | 20 << 4);
        wg_advance(dev, 200);
        found[k] = wg_finding_count(dev);
        wg_destroy(dev);
    }
    assert_true(found[1] > 0);
    assert_int_equal(found[0], found[1]);
}

static const wg_test tests[] = {
    WG_TEST(test_bursts, WG_BH | WG_WH, ""),
    WG_TEST(test_they_happen, WG_BH | WG_WH, ""),
    WG_TEST(test_bank_goes_meanwhile, WG_BH | WG_WH, ""),
    WG_TEST(test_configuration_under_way, WG_BH | WG_WH, ""),
};
WG_MAIN("matrix_burst", tests)
