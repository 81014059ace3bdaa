/* SPDX-License-Identifier: Apache-2.0 */
/* When the Vector Unit accepts instructions, when their results become visible, and when SFPLOADMACRO starts what. */
#include "vector_rig.h"

#include "backend/matrix.h"
#include "isa/config_fields.h"

static const uint32_t one = 0x3F800000, two = 0x40000000, three = 0x40400000, four = 0x40800000;

static bool is_bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }

/* LReg i = i + 1.0 for i < 4. */
static rig *start(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    const uint32_t value[4] = {one, two, three, four};
    for (unsigned i = 0; i < 4; i++)
        rig_fill(r, i, value[i]);
    return r;
}

/* One instruction per cycle in all; a second thread waits for the next cycle. */
static void test_one_per_cycle(void **state)
{
    rig *r = start(state);
    wg_insn insn = {.word = SFPNOP, .op = WG_I_SFPNOP, .thread = 1};
    wg_stall why;
    rig_tick(r);
    assert_true(wg_vector_unit.check(r->t, &insn, &why));
    wg_vector_unit.accept(r->t, &insn);
    insn.thread = 2;
    assert_false(wg_vector_unit.check(r->t, &insn, &why));
    assert_int_equal(why.reason, WG_STALL_ARBITRATION);
    assert_int_equal(why.holder, WG_AGENT_THREAD1);
    assert_int_equal(why.retry_at, r->t->sched.now + 1);
    r->t->sched.now++;
    rig_tick(r);
    assert_true(wg_vector_unit.check(r->t, &insn, &why));
    rig_free(r);
}

/* Cycles from acceptance until the unit holds nothing of the thread, for every instruction. */
static void test_latencies(void **state)
{
    static const struct {
        uint32_t word;
        unsigned latency;
        bool bh_only;
    } cases[] = {
        {SFPLOAD(0, 6, 0), 1, false},
        {SFPLOADI(0, 0, 0), 1, false},
        {SFPSTORE(0, 6, 0), 1, false},
        {I_MEM(0x73, 0, 0, 0), 2, false},
        {SFPMULI(0, 0, 0), 2, false},
        {0x75000000, 2, false},
        {I_ABC(0x76, 0, 0, 0, 0, 0), 1, false},
        {0x77000000, 1, false},
        {0x78000000, 1, false},
        {0x79000000, 1, false},
        {0x7A000000, 1, false},
        {0x7B000000, 1, false},
        {0x7C000000, 1, false},
        {0x7D000000, 1, false},
        {0x7E000000, 1, false},
        {0x7F000000, 1, false},
        {0x80000000, 1, false},
        {0x81000000, 1, false},
        {0x82000000, 1, false},
        {0x83000000, 1, false},
        {0x84000000, 2, false},
        {0x85000000, 2, false},
        {0x86000000, 2, false},
        {0x87000000, 1, false},
        {0x88000000, 1, false},
        {0x89000000, 1, false},
        {0x8A000000, 1, false},
        {0x8B000000, 1, false},
        {0x8C000000, 1, false},
        {0x8D000000, 1, false},
        {0x8E000000, 1, false},
        {SFPNOP, 1, false},
        {0x90000000, 1, false},
        {SFPCONFIG(0, 12, 1), 1, false},
        {SFPCONFIG(0, 15, 1), 2, false},
        {SFPSWAP(0, 1, 0), 2, false},
        {SFPLOADMACRO(0, 0, 6, 0), 1, false},
        {SFPSHFT2(0, 0, 0, 0), 1, false},
        {SFPSHFT2(0, 0, 0, 2), 2, false},
        {SFPSHFT2(0, 0, 0, 3), 2, false},
        {SFPSHFT2(0, 0, 0, 4), 2, false},
        {SFPSHFT2(0, 0, 0, 5), 1, false},
        {0x95000000, 2, false},
        {0x96000000, 1, true},
        {0x97000000, 1, true},
        {0x98000000, 2, true},
        {0x99000000, 1, true},
    };
    rig *r = start(state);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].bh_only && !is_bh(state))
            continue;
        uint64_t at = rig_issue_by(r, 1, cases[i].word);
        assert_false(wg_vector_unit.busy(r->t, 0));
        while (wg_vector_unit.busy(r->t, 1)) {
            rig_idle(r, 1);
            assert_true(r->t->sched.now < at + 10);
        }
        rig_tick(r);
        if (r->t->sched.now - at != cases[i].latency)
            fail_msg("%08x takes %u cycles", cases[i].word, (unsigned)(r->t->sched.now - at));
        assert_true(r->t->sched.next[WG_AGENT_THREAD1] == r->t->sched.now); /* woken in the cycle of completion */
        r->t->sched.next[WG_AGENT_THREAD1] = WG_NEVER;
        rig_idle(r, 3);
    }
    rig_free(r);
}

/* BH: a reader of a two-cycle result waits one cycle; others do not; the scoreboard can be switched off. */
static void test_interlock(void **state)
{
    rig *r = start(state);
    uint64_t at = rig_issue(r, SFPMAD(1, 2, 9, 4, 0)); /* 2 * 3 */
    assert_int_equal(rig_issue(r, SFPMOV(1, 5, 0)), at + 1);
    assert_int_equal(r->stalls, 0);
    at = rig_issue(r, SFPMAD(2, 3, 9, 4, 0)); /* 12 */
    uint64_t used = rig_issue(r, SFPMOV(4, 5, 0));
    assert_int_equal(used, at + 2);
    assert_int_equal(r->stall.reason, WG_STALL_VECTOR_INTERLOCK);
    assert_int_equal(r->stall.resource, 4);
    assert_int_equal(r->stall.retry_at, at + 2);
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 5)[0], 0x41400000);
    at = rig_issue(r, SFPMAD(2, 3, 9, 4, 8)); /* indirect VD: every LReg counts as written */
    assert_int_equal(rig_issue(r, SFPMOV(1, 5, 0)), at + 2);
    at = rig_issue(r, SFPMAD(2, 3, 9, 4, 0));
    assert_int_equal(rig_issue(r, SFPMAD(1, 1, 9, 5, 4)), at + 2); /* indirect VA: every LReg counts as read */
    at = rig_issue(r, I_ABC(0x95, 0, 0, 0, 7, 0));                 /* SFPLUTFP32 without its mirror's indirect bit */
    assert_int_equal(rig_issue(r, I_ABC(0x95, 0, 0, 0, 5, 0)), at + 1); /* is not assumed to read LReg 7 */
    assert_int_equal(rig_issue(r, I_ABC(0x8E, 0, 5, 1, 2, 0)), at + 3); /* SFPSTOCHRND is assumed to read VB */
    rig_idle(r, 3);
    r->t->regs.config.bank[0][wg_cfg_fields[WG_ARCH_BH][WG_CFG_CHICKEN_BITS_sfpu_scbd_disable].word] = 1;
    rig_fill(r, 4, 0);
    at = rig_issue(r, SFPMAD(2, 3, 9, 4, 0));
    assert_int_equal(rig_issue(r, SFPMOV(4, 5, 0)), at + 1);
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 5)[0], 0);
    assert_int_equal(rig_found(r, WG_F_VECTOR_EARLY_READ), 1);
    assert_int_equal(rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE), 0);
    rig_free(r);
}

/* WH: nothing waits; the next instruction reads the old value, which is reported. */
static void test_no_interlock(void **state)
{
    rig *r = start(state);
    uint64_t at = rig_issue(r, SFPMAD(1, 2, 9, 3, 0));
    assert_int_equal(rig_issue(r, SFPMOV(3, 5, 0)), at + 1);
    assert_int_equal(rig_issue(r, SFPMOV(3, 6, 0)), at + 2);
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 5)[0], four);
    assert_int_equal(rig_lreg(r, 6)[0], 0x40C00000);
    assert_int_equal(rig_found(r, WG_F_VECTOR_EARLY_READ), 1);
    rig_free(r);
}

/*
 * On BH silicon SFPSTORE reads its register late enough for a result of the previous cycle: it does not wait, and
 * stores the new value. Other readers wait as usual. By the documents BH's waits; WH's stores the old value, which is
 * reported.
 */
static void test_store_behind_mad(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        bool silicon = i & 1, late = silicon && is_bh(state), waits = !late && is_bh(state);
        unsigned indirect = i & 2 ? 8 : 0; /* VD from LReg 7 */
        rig *r = start(state);
        r->t->timing = &r->t->arch->timing[silicon ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED];
        rig_fill(r, 4, one);
        rig_fill(r, 7, 4);
        uint64_t at = rig_issue(r, SFPMAD(2, 3, 9, 4, indirect)); /* 12 */
        assert_int_equal(rig_issue(r, SFPSTORE(4, 3, 0)), at + 1 + waits);
        rig_idle(r, 3);
        rig_do(r, SFPLOAD(6, 3, 0));
        assert_int_equal(rig_lreg(r, 6)[0], late || waits ? 0x41400000 : one);
        assert_int_equal(rig_lreg(r, 4)[0], 0x41400000);
        assert_int_equal(rig_found(r, WG_F_VECTOR_EARLY_READ) != 0, !is_bh(state));
        assert_int_equal(rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE), 0);
        at = rig_issue(r, SFPMAD(2, 3, 9, 4, indirect));
        assert_int_equal(rig_issue(r, SFPMOV(4, 5, 0)), at + 1 + is_bh(state));
        rig_free(r);
    }
}

/* BH: operands that the interlock misses (races.md 14): no wait, the old value, a finding; with SFPNOP silent. */
static void test_interlock_holes(void **state)
{
    static const struct {
        uint32_t word;
        unsigned result;
    } holes[] = {
        {I_ABC(0x7E, 0, 4, 1, 5, 1), 5}, /* SFPAND VB */
        {I_ABC(0x7F, 0, 4, 1, 5, 1), 5}, /* SFPOR VB */
        {SFPIADD(0, 1, 4, 4), 4},        /* SFPIADD VD */
        {I_ABC(0x7A, 0, 0, 1, 4, 0), 4}, /* SFPSHFT VD */
        {SFPSHFT2(4, 1, 5, 5), 5},       /* SHFT_LREG VB */
        {SFPSHFT2(4, 0, 5, 6), 5},       /* SHFT_IMM VB */
        {SFPSHFT2(0, 4, 5, 3), 5},       {SFPSHFT2(0, 4, 5, 4), 5}, {SFPSHFT2(0, 4, 0, 2), 3},
    };
    for (unsigned i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        uint32_t with[2];
        for (unsigned nop = 0; nop < 2; nop++) {
            rig *r = start(state);
            rig_fill(r, 4, 0x3F800001);
            uint64_t at = rig_issue(r, SFPMAD(1, 2, 9, 4, 0)); /* 6.0 */
            if (nop)
                rig_issue(r, SFPNOP);
            assert_int_equal(rig_issue(r, holes[i].word), at + 1 + nop);
            rig_idle(r, 3);
            with[nop] = rig_lreg(r, holes[i].result)[9];
            if (rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE) != !nop)
                fail_msg("hole %u: %u findings", i, (unsigned)rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE));
            rig_free(r);
        }
        if (with[0] == with[1])
            fail_msg("hole %u: the early reader got the new value", i);
    }
    /* SFPCONFIG from LReg 0. */
    rig *r = start(state);
    rig_issue(r, SFPMAD(1, 2, 9, 0, 0));
    rig_issue(r, SFPCONFIG(0, 11, 0));
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 11)[0], one);
    assert_int_equal(rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE), 1);
    /*
     * SFPSWAP compares the old values and exchanges the new ones; the unconditional swap reads in its second cycle
     * only.
     */
    rig_fill(r, 3, four);
    rig_issue(r, SFPMAD(1, 2, 9, 3, 0)); /* L3: 4.0, then 6.0 */
    rig_fill(r, 4, 0x40A00000);          /* 5.0 */
    rig_issue(r, SFPSWAP(3, 4, 1));      /* VC 4 < VD 5: swap, so that VD gets the minimum */
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 4)[0], 0x40C00000);
    assert_int_equal(rig_lreg(r, 3)[0], 0x40A00000);
    assert_int_equal(rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE), 2);
    rig_issue(r, SFPMAD(1, 2, 9, 3, 0));
    rig_issue(r, SFPSWAP(3, 4, 0));
    rig_idle(r, 3);
    assert_int_equal(rig_found(r, WG_F_VECTOR_INTERLOCK_HOLE), 2);
    assert_int_equal(rig_lreg(r, 4)[0], 0x40C00000);
    rig_free(r);
}

/* After SFPSWAP (both) and the lane shuffles (BH) only SFPNOP enters in the next cycle; WH reports the others. */
static void test_only_nop(void **state)
{
    rig *r = start(state);
    uint64_t at = rig_issue(r, SFPSWAP(0, 1, 0));
    assert_int_equal(rig_issue(r, SFPNOP), at + 1);
    assert_int_equal(rig_issue(r, SFPMOV(0, 5, 0)), at + 2);
    assert_int_equal(rig_lreg(r, 5)[0], two);
    at = rig_issue(r, SFPSWAP(0, 1, 0));
    assert_int_equal(rig_issue(r, SFPMOV(0, 5, 0)), at + 2);
    assert_int_equal(r->stall.reason, WG_STALL_VECTOR_INTERLOCK);
    assert_int_equal(rig_lreg(r, 5)[0], one);
    for (unsigned mode = 2; mode < 5; mode++) {
        rig_idle(r, 3);
        at = rig_issue(r, SFPSHFT2(0, 1, 6, mode));
        assert_int_equal(rig_issue(r, SFPMOV(6, 5, 0)), at + (is_bh(state) ? 2 : 1));
    }
    assert_int_equal(rig_found(r, WG_F_VECTOR_AFTER_SHUFFLE) != 0, !is_bh(state));
    assert_int_equal(rig_found(r, WG_F_VECTOR_EARLY_READ) != 0, !is_bh(state));
    rig_idle(r, 3);
    uint64_t before = rig_found(r, WG_F_VECTOR_AFTER_SHUFFLE);
    rig_issue(r, SFPSHFT2(0, 1, 6, 3));
    rig_issue(r, SFPNOP);
    rig_issue(r, SFPMOV(6, 5, 0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_AFTER_SHUFFLE), before);
    rig_free(r);
}

/* A later instruction's result is not overwritten by an earlier one's that lands in the same cycle. */
static void test_younger_write_stays(void **state)
{
    rig *r = start(state);
    rig_enable(r, ~0u);
    rig_issue(r, SFPMAD(1, 2, 9, 4, 0));
    rig_enable(r, 0x0000FFFF);
    rig_issue(r, SFPMOV(1, 4, 0));
    rig_idle(r, 3);
    assert_int_equal(rig_lreg(r, 4)[0], two);
    assert_int_equal(rig_lreg(r, 4)[31], 0x40C00000);
    rig_free(r);
}

/* A load samples Dst at the end of its cycle, a store writes in its own. */
static void test_dst_cycles(void **state)
{
    rig *r = start(state);
    rig_fill(r, 0, 0x11);
    rig_issue(r, SFPSTORE(0, 6, 0));
    assert_int_equal(r->t->regs.dst.bits[0][0], 0x11);
    r->t->sched.next[WG_AGENT_MATRIX] = r->t->sched.now + 1;
    rig_issue(r, SFPLOAD(1, 6, 0));
    assert_int_equal(rig_lreg(r, 1)[0], two);
    r->t->regs.dst.bits[0][0] = 0x22; /* another write in phase B of the next cycle, before the Vector Unit's */
    rig_issue(r, SFPMOV(1, 2, 0));
    assert_int_equal(rig_lreg(r, 2)[0], 0x22);
    assert_int_equal(rig_lreg(r, 2)[1], 0x11);
    rig_free(r);
}

/* Three instructions between a Matrix Unit write and the load are enough, two are not (SFPLOAD.md). */
static void test_load_after_matrix(void **state)
{
    rig *r = start(state);
    wg_dst_block_written(r->t, 0, r->t->sched.now + 5); /* issued now, written in phase B five cycles on */
    rig_idle(r, 4);
    rig_do(r, SFPLOAD(0, 6, 0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_LOAD_EARLY), 0);
    wg_dst_block_written(r->t, 0, r->t->sched.now + 5);
    rig_idle(r, 3);
    rig_do(r, SFPLOAD(0, 6, 0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_LOAD_EARLY), 1);
    rig_free(r);
}

typedef struct log {
    uint64_t cycle[4096];
    unsigned count;
} log;
static void record(void *user, const wg_event *event)
{
    log *l = user;
    if (event->kind == WG_EV_COMPLETED && l->count < 4096)
        l->cycle[l->count++] = event->cycle;
}

/* A perturbed run: completions are later, never out of order, and the results are the same. */
static void test_perturbed(void **state)
{
    static log seen;
    rig *r = start(state);
    seen.count = 0;
    r->t->seed = 3;
    r->t->perturbed = true;
    r->t->watched = WG_EV_BIT(WG_EV_COMPLETED);
    r->dev.observer[0] = (wg_observer){WG_EV_BIT(WG_EV_COMPLETED), record, &seen};
    bool waited = false;
    for (unsigned i = 0; i < 2000; i++) {
        rig_issue(r, i & 1 ? SFPMAD(1, 2, 9, 4, 0) : SFPLOADI(5, 2, i));
        waited |= r->stalls && r->stall.reason == WG_STALL_UNIT_BUSY;
    }
    rig_idle(r, 2000);
    assert_true(waited);
    assert_int_equal(seen.count, 2000);
    for (unsigned i = 1; i < seen.count; i++)
        assert_true(seen.cycle[i] >= seen.cycle[i - 1]);
    assert_false(wg_vector_unit.busy(r->t, 0));
    assert_int_equal(rig_lreg(r, 4)[0], 0x40C00000);
    assert_int_equal(rig_lreg(r, 5)[0], 1998);
    rig_free(r);
}

/* ---- SFPLOADMACRO ---- */

enum { SIMPLE = 0, MAD = 8, ROUND = 16, STORE = 24 };
/* A sequence byte. */
#define SEQ(unit, choice, delay, flags) ((uint32_t)((choice) | (delay) << 3 | (flags)) << (unit))

static void configure(rig *r, unsigned macro, uint32_t sequence, uint16_t misc, const uint32_t templates[4])
{
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++) {
        r->t->regs.lreg.macro[c].sequence[macro] = sequence;
        r->t->regs.lreg.macro[c].misc = misc;
        memcpy(r->t->regs.lreg.macro[c].instruction, templates, 4 * sizeof *templates);
    }
}

static void fill_dst(rig *r, uint16_t value)
{
    for (unsigned row = 0; row < 64; row++)
        for (unsigned c = 0; c < 16; c++)
            r->t->regs.dst.bits[row][c] = value;
}

/* Load BF16 1.5, double it (MAD), negate (simple), store: each in its cycle, and one macro per cycle flows. */
static void test_macro_pipeline(void **state)
{
    static const uint32_t templates[4] = {SFPMULI(0x4000, 0, 0), SFPMOV(0, 0, 1), 0, 0};
    rig *r = start(state);
    /* c: load; c+1: multiply (delay 0); c+3: negate (delay 2) into LReg 16; c+4: store (delay 3) LReg 16 as BF16. */
    configure(r, 0, SEQ(MAD, 4, 0, 0) | SEQ(SIMPLE, 5, 2, 0x40) | SEQ(STORE, 3, 3, 0x40), 2, templates);
    fill_dst(r, 0x407F); /* BF16 1.5 as Dst keeps it */
    uint64_t c = rig_issue(r, SFPLOADMACRO(0, 2, 2, 8));
    assert_true(wg_vector_unit.busy(r->t, 0));
    while (r->t->sched.now < c + 2)
        rig_idle(r, 1);
    assert_int_equal(rig_lreg(r, 2)[5], 0x3FC00000); /* loaded; the product is seen from c+3 */
    rig_idle(r, 1);
    rig_tick(r);
    assert_int_equal(rig_lreg(r, 2)[5], three);
    assert_int_equal(rig_lreg(r, 16)[5], 0);
    rig_idle(r, 1);
    assert_int_equal(r->t->sched.now, c + 4);
    assert_int_equal(r->t->regs.dst.bits[8][10], 0x407F);
    rig_tick(r);
    assert_int_equal(rig_lreg(r, 16)[5], three ^ 0x80000000);
    assert_int_equal(r->t->regs.dst.bits[8][10], 0xC080); /* BF16 -3.0 */
    assert_int_equal(r->t->regs.dst.bits[8][11], 0x407F);
    rig_idle(r, 3);
    assert_false(wg_vector_unit.busy(r->t, 0));
    /* Four of them back to back, over four registers. */
    fill_dst(r, 0x407F);
    for (unsigned i = 0; i < 4; i++)
        rig_issue(r, SFPLOADMACRO(0, i, 2, i * 4));
    rig_idle(r, 8);
    for (unsigned row = 0; row < 16; row++)
        assert_int_equal(r->t->regs.dst.bits[row][0], 0xC080);
    assert_int_equal(r->dev.findings, 0);
    assert_int_equal(r->t->backend.vector.scheduled, 0);
    rig_free(r);
}

/* UnitDelayKind: while one waits for instructions, all countdowns wait for them. */
static void test_macro_by_instructions(void **state)
{
    static const uint32_t templates[4] = {SFPMOV(0, 0, 1), SFPMULI(0x4000, 0, 0), 0, 0};
    rig *r = start(state);
    configure(r, 1, SEQ(SIMPLE, 4, 2, 0) | SEQ(MAD, 5, 1, 0x40), 0x100, templates); /* the simple unit's waits */
    fill_dst(r, 0x007F);                                                            /* BF16 1.0 */
    rig_issue(r, SFPLOADMACRO(1, 2, 2, 0));
    rig_idle(r, 20);
    assert_int_equal(rig_lreg(r, 2)[0], one);
    assert_int_equal(rig_lreg(r, 16)[0], 0);
    assert_false(wg_vector_unit.busy(r->t, 0)); /* an instruction that waits for others is not in the unit */
    rig_issue(r, SFPNOP);
    rig_idle(r, 20);
    assert_int_equal(rig_lreg(r, 16)[0], two); /* one instruction: the MAD's turn */
    assert_int_equal(rig_lreg(r, 2)[0], one);
    uint64_t at = rig_issue(r, SFPNOP); /* counts 1 to 0: runs in the cycle after */
    assert_int_equal(rig_lreg(r, 2)[0], one);
    while (r->t->sched.now < at + 2)
        rig_idle(r, 1);
    rig_tick(r);
    assert_int_equal(rig_lreg(r, 2)[0], one ^ 0x80000000);
    rig_free(r);
}

/* Overrides: VB or VC, the store's register and format; a byte of 0 cancels the next instruction. */
static void test_macro_overrides(void **state)
{
    static const uint32_t templates[4] = {I_ABC(0x8D, 0, 0, 1, 3, 0), SFPSTORE(3, 0, 0), SFPMAD(1, 2, 3, 0, 0),
                                          SFPIADD(0, 0, 0, 4)};
    rig *r = start(state);
    fill_dst(r, 0x00F0);
    for (unsigned i = 0; i < 4; i++)
        rig_fill(r, i, 1u << i);
    /* SFPXOR: VB is the template's VD (LReg 3), VC the load. */
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    rig_idle(r, 4);
    assert_int_equal(rig_lreg(r, 4)[0], 0xF8);
    /* With bit 7 VB is the load, VC the template's (LReg 1). */
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0x80), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    rig_idle(r, 4);
    assert_int_equal(rig_lreg(r, 4)[0], 0xF2);
    /* A store keeps the template's VD with bit 7; the format is Misc's, or the load's. */
    configure(r, 0, SEQ(STORE, 5, 0, 0x80), 0x6, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 4));
    rig_idle(r, 4);
    assert_int_equal(r->t->regs.dst.bits[4][0], 8);
    configure(r, 0, SEQ(STORE, 5, 0, 0), 0x1B, templates); /* StoreMod0 is 11 (zero), but macro 0 uses the load's */
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 8));
    rig_idle(r, 4);
    assert_int_equal(r->t->regs.dst.bits[8][0], 0xF0);
    /* An instruction of another sub-unit becomes SFPNOP; for the store sub-unit it is undefined. */
    configure(r, 0, SEQ(MAD, 7, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    rig_idle(r, 4);
    assert_int_equal(rig_lreg(r, 4)[0], 0xF0);
    assert_int_equal(r->dev.findings, 0);
    configure(r, 0, SEQ(STORE, 4, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    configure(r, 0, SEQ(SIMPLE, 1, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_SEQUENCE), 2);
    /* Delay 1, then a macro with SFPNOP at delay 0: it would run at the same time, and is dropped. */
    configure(r, 0, SEQ(SIMPLE, 4, 1, 0), 0, templates);
    configure(r, 1, SEQ(SIMPLE, 2, 0, 0), 0, templates);
    rig_idle(r, 3);
    rig_issue(r, SFPLOADMACRO(0, 4, 6, 0));
    rig_issue(r, SFPLOADMACRO(1, 5, 6, 0));
    rig_idle(r, 4);
    assert_int_equal(rig_lreg(r, 4)[0], 0xF0);
    rig_free(r);
}

/* Scheduled instructions have priority over issued ones, read current values, and must not share write ports. */
static void test_macro_conflicts(void **state)
{
    static const uint32_t templates[4] = {SFPMOV(0, 0, 1), SFPMULI(0x4000, 0, 0), SFPSHFT2(1, 1, 0, 5),
                                          SFPSWAP(1, 0, 0)};
    rig *r = start(state);
    fill_dst(r, 0x007F);
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_issue(r, SFPMOV(1, 5, 0)); /* the simple sub-unit is taken: discarded */
    rig_idle(r, 4);
    assert_int_equal(rig_lreg(r, 4)[0], one ^ 0x80000000);
    assert_int_equal(rig_lreg(r, 5)[0], 0);
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_DISCARDED), 1);
    /* Nothing waits for a scheduled MAD: one cycle later its result is not available. */
    configure(r, 0, SEQ(MAD, 5, 0, 0) | SEQ(SIMPLE, 4, 1, 0x40), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_idle(r, 5);
    assert_int_equal(rig_lreg(r, 16)[0], one ^ 0x80000000);
    assert_int_equal(rig_lreg(r, 4)[0], two);
    assert_int_equal(rig_found(r, WG_F_VECTOR_EARLY_READ), 1);
    /* Simple and round in one cycle: exactly one of them writes LReg 16. */
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0x40) | SEQ(ROUND, 6, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_idle(r, 5);
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_PORT), 0);
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0) | SEQ(ROUND, 6, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_idle(r, 5);
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_PORT), 1);
    configure(r, 0, SEQ(SIMPLE, 7, 0, 0), 0, templates); /* SFPSWAP without SFPNOP in the MAD sub-unit */
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_idle(r, 5);
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_PORT), 2);
    configure(r, 0, SEQ(SIMPLE, 7, 0, 0) | SEQ(MAD, 2, 0, 0), 0, templates);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_idle(r, 5);
    assert_int_equal(rig_found(r, WG_F_VECTOR_MACRO_PORT), 2);
    rig_free(r);
}

/* Columns of lanes may be configured differently; flags set by a scheduled instruction are visible a cycle later. */
static void test_macro_columns(void **state)
{
    static const uint32_t templates[4] = {SFPMOV(0, 0, 1), I_ABC(0x7B, 0, 0, 0, 0, 8), 0, 0};
    rig *r = start(state);
    fill_dst(r, 0x007F);
    configure(r, 0, SEQ(SIMPLE, 4, 0, 0), 0, templates);
    r->t->regs.lreg.macro[3].sequence[0] = SEQ(SIMPLE, 4, 2, 0);
    uint64_t at = rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    while (r->t->sched.now < at + 3)
        rig_idle(r, 1);
    assert_int_equal(rig_lreg(r, 4)[2], one ^ 0x80000000);
    assert_int_equal(rig_lreg(r, 4)[11], one);
    rig_idle(r, 2);
    assert_int_equal(rig_lreg(r, 4)[11], one ^ 0x80000000);
    configure(r, 0, SEQ(SIMPLE, 5, 0, 0), 0, templates); /* SFPSETCC clears all flags, in the next cycle */
    rig_enable(r, ~0u);
    rig_issue(r, SFPLOADMACRO(0, 4, 2, 0));
    rig_issue(r, SFPLOADI(6, 2, 1)); /* the same cycle: still enabled */
    rig_issue(r, SFPLOADI(7, 2, 1));
    assert_int_equal(rig_lreg(r, 6)[0], 1);
    assert_int_equal(rig_lreg(r, 7)[0], 0);
    rig_free(r);
}

/* Ticking in every cycle, due or not, gives the same (time.md rule 7). */
static void test_lockstep(void **state)
{
    rig *a = start(state), *b = start(state);
    wg_rng rng = {5};
    static const uint32_t templates[4] = {SFPMOV(0, 0, 1), SFPMULI(0x4000, 0, 0), SFPSHFT2(1, 1, 0, 5),
                                          SFPSTORE(1, 6, 0)};
    for (unsigned m = 0; m < 4; m++) {
        uint32_t sequence = (uint32_t)wg_rng_next(&rng);
        configure(a, m, sequence, 0x400, templates);
        configure(b, m, sequence, 0x400, templates);
    }
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t word = (0x70 + wg_rng_below(&rng, 0x26)) << 24 | ((uint32_t)wg_rng_next(&rng) & 0x3F7F7F);
        unsigned gap = wg_rng_below(&rng, 4);
        if (word >> 24 == 0x91)
            continue;
        rig_issue(a, word);
        rig_idle(a, gap);
        b->t->sched.next[WG_AGENT_VECTOR] = 0;
        rig_issue(b, word);
        for (unsigned j = 0; j < gap; j++) {
            b->t->sched.next[WG_AGENT_VECTOR] = 0;
            rig_idle(b, 1);
        }
        assert_int_equal(a->t->sched.now, b->t->sched.now);
        assert_memory_equal(&a->t->regs.lreg, &b->t->regs.lreg, sizeof a->t->regs.lreg);
    }
    assert_memory_equal(&a->t->regs.dst, &b->t->regs.dst, sizeof a->t->regs.dst);
    rig_free(a);
    rig_free(b);
}

static const wg_test tests[] = {
    WG_COVERS(test_one_per_cycle, WG_BH | WG_WH, "", "SFPNOP:timing"),
    WG_COVERS(test_latencies, WG_BH | WG_WH, "",
              "SFPLOAD:timing SFPLOADI:timing SFPSTORE:timing SFPLUT:timing SFPMULI:timing SFPADDI:timing "
              "SFPDIVP2:timing SFPEXEXP:timing SFPEXMAN:timing SFPIADD:timing SFPSHFT:timing SFPSETCC:timing "
              "SFPMOV:timing SFPABS:timing SFPAND:timing SFPOR:timing SFPNOT:timing SFPLZ:timing SFPSETEXP:timing "
              "SFPSETMAN:timing SFPMAD:timing SFPADD:timing SFPMUL:timing SFPPUSHC:timing SFPPOPC:timing "
              "SFPSETSGN:timing SFPENCC:timing SFPCOMPC:timing SFPTRANSP:timing SFPXOR:timing SFP_STOCH_RND:timing "
              "SFPNOP:timing SFPNOP:value SFPCAST:timing SFPCONFIG:timing SFPSWAP:timing SFPLOADMACRO:timing "
              "SFPSHFT2:timing SFPLUTFP32:timing"),
    WG_COVERS(test_latencies, WG_BH, "", "SFPLE:timing SFPGT:timing SFPMUL24:timing SFPARECIP:timing"),
    WG_COVERS(test_interlock, WG_BH, "", "SFPMAD:timing SFPLUTFP32:timing SFP_STOCH_RND:timing"),
    WG_COVERS(test_no_interlock, WG_WH, "", "SFPMAD:timing"),
    WG_COVERS(test_store_behind_mad, WG_BH | WG_WH, "", "SFPSTORE:timing"),
    WG_TEST(test_interlock_holes, WG_BH, ""),
    WG_COVERS(test_only_nop, WG_BH | WG_WH, "", "SFPSWAP:timing SFPSHFT2:timing"),
    WG_TEST(test_younger_write_stays, WG_BH | WG_WH, ""),
    WG_COVERS(test_dst_cycles, WG_BH | WG_WH, "", "SFPLOAD:timing SFPSTORE:timing"),
    WG_COVERS(test_load_after_matrix, WG_BH | WG_WH, "", "SFPLOAD:timing"),
    WG_TEST(test_perturbed, WG_BH | WG_WH, ""),
    WG_COVERS(test_macro_pipeline, WG_BH | WG_WH, "", "SFPLOADMACRO:value SFPLOADMACRO:timing"),
    WG_COVERS(test_macro_by_instructions, WG_BH | WG_WH, "", "SFPLOADMACRO:timing"),
    WG_COVERS(test_macro_overrides, WG_BH | WG_WH, "", "SFPLOADMACRO:value"),
    WG_TEST(test_macro_conflicts, WG_BH | WG_WH, ""),
    WG_TEST(test_macro_columns, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep, WG_BH | WG_WH, ""),
};
WG_MAIN("vector_timing", tests)
