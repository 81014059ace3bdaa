/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of Vector Unit instructions (fast/vector_many.c): REPLAYs and MOPs of any of them, with other instructions in
 * between and other threads active. A device that skips and one that ticks every agent in every cycle are in the same
 * state at every check.
 */
#include "backend/vector.h"
#include "burst_rig.h"

enum { THREAD = 1, NOP = 0x02000000, MOP = 0x01800000, REPLAY = 0x04000000 };

/* One of the unit's instructions, with any operands; mostly existing registers. */
static uint32_t vector_word(const wg_tile *t)
{
    static const uint8_t opcodes[] = {0x70, 0x70, 0x72, 0x71, 0x84, 0x84, 0x85, 0x86, 0x79, 0x7E, 0x7B, 0x8F};
    unsigned opcode = opcodes[below(sizeof opcodes)];
    if (below(4) == 0)
        do {
            opcode = below(256);
        } while (((wg_insn){.rest = wg_insn_kinds[t->arch->id][opcode].rest}).unit != WG_UNIT_VECTOR);
    uint32_t operands = below(1 << 24) & (below(8) ? 0x777777 : 0xFFFFFF);
    return opcode << 24 | (operands & ~wg_insn_kinds[t->arch->id][opcode].spare_bits);
}

static uint32_t any_word(const wg_tile *t)
{
    static const uint32_t others[] = {NOP, 0x37000000 | 8, 0x10180000, 0x0A000000, REPLAY | 3 << 4};
    if (below(24) == 0) /* STALLWAIT: nothing passes before the unit is idle */
        return 0xA2000000 | 0x1FFu << 15 | (t->arch->id == WG_ARCH_BH ? 0x800u : 0x4000u);
    return below(12) ? vector_word(t) : others[below(sizeof others / sizeof *others)];
}

static void program(wg_device *dev)
{
    wg_tile *t = dev->tile;
    wg_frontend *f = &t->frontend[THREAD];
    unsigned count = 1 + below(31), slot = below(32);
    if (below(2) && wg_thread_idle(t, THREAD)) {
        uint32_t loop = vector_word(t), last = any_word(t);
        uint32_t mop[] = {1 + below(3), 1 + below(60), NOP, NOP, NOP, loop, below(2) ? NOP : vector_word(t),
                          last,         last};
        memcpy(f->mop_cfg, mop, sizeof mop);
        (void)wg_push(dev, THREAD, MOP);
    } else {
        if (wg_thread_idle(t, THREAD))
            for (unsigned i = 0; i < WG_REPLAY_SLOTS; i++)
                f->replay.slot[i] = any_word(t);
        for (unsigned i = 1 + below(3); i--;)
            (void)wg_push(dev, THREAD, REPLAY | count << 4 | slot << 14);
    }
    for (unsigned i = below(3); i--;)
        (void)wg_push(dev, THREAD, any_word(t));
    for (unsigned i = below(4) ? 0 : below(6); i--;) /* another thread */
        (void)wg_push(dev, 2 * below(2), any_word(t));
}

static void act(wg_device *dev, unsigned round)
{
    (void)round;
    if (below(2))
        program(dev);
    wg_advance(dev, 1 + below(below(3) ? 12 : 90));
}

static void expect(const wg_device *one, const wg_device *other)
{
    const wg_tile *a = one->tile, *b = other->tile;
    assert_memory_equal(&a->regs.lreg, &b->regs.lreg, sizeof a->regs.lreg);
    assert_memory_equal(a->regs.dst.bits, b->regs.dst.bits, sizeof a->regs.dst.bits);
    assert_memory_equal(a->regs.dst.undefined, b->regs.dst.undefined, sizeof a->regs.dst.undefined);
    assert_memory_equal(&a->regs.rwc, &b->regs.rwc, sizeof a->regs.rwc);
    assert_memory_equal(a->backend.turn, b->backend.turn, sizeof a->backend.turn);
    const wg_vector *v = &a->backend.vector, *w = &b->backend.vector;
    assert_memory_equal(v->done_at, w->done_at, sizeof v->done_at);
    assert_int_equal(v->pending_lregs, w->pending_lregs);
    assert_int_equal(v->scheduled, w->scheduled);
    assert_int_equal(v->load.at, w->load.at);
    assert_int_equal(one->findings, other->findings);
}

static void test_bursts(void **state) { in_both_modes(state, 60, 60, act, expect); }

/* Bursts occur, up to the REPLAY's last instruction, and end where one has to wait. */
static void test_they_happen(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_tile *t = dev->tile;
    for (unsigned i = 0; i < WG_REPLAY_SLOTS; i++)
        t->frontend[THREAD].replay.slot[i] = 0x84012300 | (4 + i % 4) << 4; /* SFPMAD LReg[4…7] = L1 * L2 + L3 */
    t->frontend[THREAD].replay.slot[19] = 0x84012310;                       /* LReg 1, */
    t->frontend[THREAD].replay.slot[20] = 0x84012340;                       /* not available yet */
    assert_int_equal(wg_push(dev, THREAD, REPLAY | 30 << 4), WG_OK);
    wg_advance(dev, 60);
    assert_int_equal(t->backend.turn[WG_UNIT_VECTOR].next, THREAD + 1);
    expect_bursts(t, t->arch->id == WG_ARCH_BH ? 2 : 1, 25); /* BH stalls the reader, which ends a burst */
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_bursts, WG_BH | WG_WH, ""),
    WG_TEST(test_they_happen, WG_BH | WG_WH, ""),
};
WG_MAIN("vector_burst", tests)
