/* SPDX-License-Identifier: Apache-2.0 */
/* Packer timing: acceptance, rates, waiting for Dst, order, occupancy, PACR_SETREG, and what the gates see. */
#include "pack_rig.h"

#include "backend/matrix.h"

#define SETADC UINT32_C(0x50200000) /* Miscellaneous Unit; one cycle, waits for nothing */
#define STALLWAIT(block, conditions) (UINT32_C(0xA2000000) | (uint32_t)(block) << 15 | (uint32_t)(conditions))
enum { ALL_BLOCKS = 0x1FF, STAGES = 4 };

static uint32_t condition(const ur *r, wg_wait_condition what)
{
    for (unsigned i = 0; i < 16; i++)
        if (r->t->arch->wait_conditions[i] == what)
            return 1u << i;
    fail();
    return 0;
}
static uint64_t issued(const ur *r, unsigned thread, unsigned n)
{
    return ur_cycle(r, WG_EV_ISSUED, WG_AGENT_THREAD0 + thread, n);
}
static uint64_t completed(const ur *r, unsigned n) { return ur_cycle(r, WG_EV_COMPLETED, WG_AGENT_PACK, n); }

/* One per cycle; the data is in L1 when the instruction completes, not before. */
static void test_one_per_cycle(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 8); /* 16 bytes */
    pr_mark_dst(r);
    for (unsigned i = 0; i < 3; i++)
        ur_push(r, 2, PR_PACR(1, i == 2));
    ur_push(r, 1, PR_PACR(1, 0));
    ur_run(r, 2);
    uint64_t c = r->t->sched.now;
    ur_run(r, STAGES);
    assert_int_equal(pr_l1_16(r, PR_L1), 0);
    ur_run(r, 1);
    assert_int_equal(pr_l1_16(r, PR_L1), pr_mark(0, 0));
    ur_run(r, 40);
    uint64_t first = issued(r, 2, 0) < issued(r, 1, 0) ? issued(r, 2, 0) : issued(r, 1, 0);
    assert_int_equal(first, c);
    uint64_t seen = 0;
    for (unsigned i = 0; i < 3; i++)
        seen |= UINT64_C(1) << (issued(r, 2, i) - c);
    seen |= UINT64_C(1) << (issued(r, 1, 0) - c);
    assert_int_equal(seen, 15);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(completed(r, i), c + i + STAGES);
    ur_free(r);
}

/*
 * 16 bytes per cycle and packer on WH, 128 on BH; at most one row per cycle and read interface. Accumulation: five
 * times as long on WH.
 */
static void test_rate(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    static const struct {
        uint8_t middle, out, wide;
        uint16_t cycles[2];
        bool accumulate;
    } cases[] = {
        /* WH: 256 datums, BH: 64 */
        {WG_FMT_FP32, WG_FMT_FP32, 1, {64, 2}, false}, {WG_FMT_BF16, WG_FMT_BF16, 0, {32, 1}, false},
        {WG_FMT_BF16, WG_FMT_BFP8, 0, {16, 1}, false}, {WG_FMT_BF16, WG_FMT_BFP4, 0, {16, 1}, false},
        {WG_FMT_BF16, WG_FMT_BF16, 0, {160, 1}, true}, {WG_FMT_FP32, WG_FMT_FP32, 1, {320, 2}, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : 256);
        pr_formats(r, cases[i].wide, cases[i].middle, cases[i].middle, cases[i].out);
        for (unsigned k = 0; k < 4; k++)
            PR_SET(r, k, Pack_L1_Acc, cases[i].accumulate);
        uint32_t word = PR_PACR(bh ? 0 : 15, PR_LAST);
        ur_push(r, 2, word);
        ur_push(r, 2, word);
        ur_push(r, 2, SETADC);
        ur_run(r, 800);
        uint64_t c = issued(r, 2, 0);
        unsigned cycles = cases[i].cycles[bh];
        assert_int_equal(issued(r, 2, 1), c + cycles);
        assert_int_equal(issued(r, 2, 2), c + cycles + 1); /* the thread continues when the work is accepted */
        assert_int_equal(completed(r, 0), c + cycles + STAGES - 1);
        assert_int_equal(completed(r, 1), c + 2 * cycles + STAGES - 1);
        if (cycles > 1) {
            const wg_event *e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD2, 0);
            assert_non_null(e);
            assert_int_equal(e->stall.reason, WG_STALL_UNIT_BUSY);
            assert_int_equal(e->stall.holder, WG_AGENT_PACK);
        }
        ur_free(r);
    }
}

/* WH: packers work in parallel, but receive one instruction per cycle. */
static void test_packers_apart(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 256);
    ur_push(r, 0, PR_PACR(1, PR_LAST));
    ur_push(r, 1, PR_PACR(2, PR_LAST));
    ur_push(r, 2, PR_PACR(3, PR_LAST));
    ur_run(r, 200);
    uint64_t c = issued(r, 0, 0);
    assert_int_equal(issued(r, 1, 0), c + 1);
    assert_int_equal(issued(r, 2, 0), c + 33); /* both of its packers are free */
    assert_int_equal(completed(r, 0), c + 32 + STAGES - 1);
    assert_int_equal(completed(r, 1), c + 33 + STAGES - 1);
    ur_free(r);
}

/* A block of Dst that is being written holds PACR at the gate; another block does not, nor does ZeroWrite. */
static void test_waits_for_dst(void **state)
{
    for (unsigned variant = 0; variant < 3; variant++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        r->t->regs.adc.unit[2][2][0].y = variant == 1 ? 16 : 8;
        wg_dst_block_written(r->t, 8 + 3, r->t->sched.now + 9);
        ur_push(r, 2, PR_PACR(1, PR_LAST | (variant == 2 ? PR_ZERO : 0)));
        uint64_t c = r->t->sched.now;
        ur_run(r, 40);
        assert_int_equal(issued(r, 2, 0), variant ? c + 2 : c + 9);
        const wg_event *e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD2, 0);
        if (!variant) {
            assert_non_null(e);
            assert_int_equal(e->stall.reason, WG_STALL_DST_BLOCK_WRITTEN);
            assert_int_equal(e->stall.resource, 1);
            assert_int_equal(e->stall.retry_at, c + 9);
        }
        ur_free(r);
    }
}

/*
 * A PACR directly after a write of its configuration reads the old contents, which is reported. One that is held at the
 * gate meanwhile reads when it passes: nothing to report.
 */
static void test_waiting_reads_nothing(void **state)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        unsigned word = wg_cfg_fields[wg_test_arch(state)][WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data].word;
        r->t->regs.adc.unit[2][2][0].y = 8;
        r->t->regs.gpr.r[2][4] = r->t->regs.config.bank[0][word];
        if (waits)
            wg_dst_block_written(r->t, 8 + 3, r->t->sched.now + 12);
        ur_push(r, 2, UINT32_C(0xB0000000) | 4u << 16 | word); /* WRCFG */
        ur_push(r, 2, PR_PACR(1, PR_LAST));
        ur_run(r, 40);
        assert_true(completed(r, 0) < r->t->sched.now);
        assert_int_equal(ur_found(r, WG_F_CONFIG_NOT_WRITTEN) != 0, !waits);
        ur_free(r);
    }
}

/* The last row of a long run, and each row of an interface, is checked, too. */
static void test_waits_for_last_row(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur *r = pr_new(wg_test_arch(state), bh ? 16 : 256);
    r->t->regs.adc.unit[2][2][0].y = 5;
    wg_dst_block_written(r->t, bh ? 7 : 20, r->t->sched.now + 9);
    ur_push(r, 2, PR_PACR(bh ? 4 : 1, PR_LAST));
    uint64_t c = r->t->sched.now;
    ur_run(r, 40);
    assert_int_equal(issued(r, 2, 0), c + 9);
    ur_free(r);
}

/*
 * C3 (WH: C3 to C6) holds while this thread has an instruction in that packer: a wait of its own thread for the
 * packer ends one cycle after the instruction does, one of another thread, or for another packer, at once.
 */
static void test_wait_condition(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned part = 0; part < wg_arch_of(wg_test_arch(state))->pack.count; part++) {
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : 64);
        uint32_t wait = STALLWAIT(ALL_BLOCKS, condition(r, (wg_wait_condition)(WG_WAIT_PACK0 + part)));
        pr_formats(r, true, WG_FMT_FP32, WG_FMT_FP32, WG_FMT_FP32);
        ur_push(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST));
        ur_push(r, 2, wait);
        ur_push(r, 2, SETADC);
        ur_push(r, 1, SETADC);
        ur_push(r, 1, SETADC);
        ur_push(r, 1, wait);
        ur_push(r, 1, SETADC);
        ur_run(r, 60);
        uint64_t c = issued(r, 2, 0), done = completed(r, 0);
        assert_true(done > c + 3);
        assert_int_equal(issued(r, 2, 1), c + 1);
        assert_int_equal(issued(r, 2, 2), part ? c + 3 : done + 1);
        assert_int_equal(issued(r, 1, 3), issued(r, 1, 2) + 2);
        assert_true(issued(r, 1, 2) > c && issued(r, 1, 3) < done);
        ur_free(r);
    }
}

/* WH: an instruction for two packers with different formats leaves each at its own time. */
static void test_parts(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 64);
    PR_SET(r, 1, Out_data_format, WG_FMT_FP32); /* twice as long */
    ur_push(r, 2, PR_PACR(3, PR_LAST));
    ur_run(r, 2);
    uint64_t c = r->t->sched.now;
    const wg_unit_ops *u = &wg_pack_unit;
    ur_run(r, 1 + 8 + STAGES - 2);
    assert_true(u->part_busy(r->t, 2, 0) && u->part_busy(r->t, 2, 1) && !u->part_busy(r->t, 2, 2));
    ur_run(r, 1);
    assert_true(!u->part_busy(r->t, 2, 0) && u->part_busy(r->t, 2, 1) && u->busy(r->t, 2));
    assert_false(u->busy(r->t, 1));
    ur_run(r, 20);
    assert_int_equal(completed(r, 0), c + 16 + STAGES - 1);
    assert_false(u->busy(r->t, 2));
    ur_free(r);
}

/* PACR_SETREG acts after the PACRs before it, and takes one cycle of the packers. */
static void test_setreg(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur *r = pr_new(wg_test_arch(state), bh ? 16 : 64);
    r->t->backend.tdma.pack_set_reg_base[0] = 0x28;
    r->t->backend.pack.setreg_data = 0x00550000;
    r->t->backend.tdma.set_reg_hi_scaler[1] = 1;
    uint32_t word = UINT32_C(0x4A800002) | 0x11 << 2 | (bh ? 0 : 0x3F0 << 12 | 0xF00);
    /* Two bytes are buffered in WH's packer 1: they are written when the register is. */
    r->t->backend.pack.packer[1].stream[WG_STREAM_DATA] =
        (wg_pack_stream){.address = 0x9000, .fill = 2, .bytes = {0xAB}};
    ur_push(r, 2, PR_PACR(bh ? 0 : 1, 0));
    ur_push(r, 2, word);
    ur_push(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST));
    ur_run(r, 2);
    uint64_t c = r->t->sched.now;
    unsigned cycles = bh ? 1 : 8;
    ur_run(r, 1 + cycles + STAGES - 1);
    assert_int_equal(r->t->backend.tdma.scaler2_raw, 0);
    assert_int_equal(r->t->l1[0x9000], 0);
    ur_run(r, 1);
    assert_int_equal(r->t->l1[0x9000], bh ? 0 : 0xAB);
    assert_int_not_equal(r->t->backend.tdma.scaler2_raw, 0);
    ur_run(r, 40);
    assert_int_equal(issued(r, 2, 0), c);
    assert_int_equal(issued(r, 2, 1), c + cycles);
    assert_int_equal(issued(r, 2, 2), c + cycles + 1);
    assert_int_equal(completed(r, 0), c + cycles + STAGES - 1);
    assert_int_equal(completed(r, 1), c + cycles + STAGES);
    ur_free(r);
}

/* Skipping from wake-up to wake-up equals cycle by cycle. */
static void test_skipping(void **state)
{
    ur *pair[2];
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned i = 0; i < 2; i++) {
        ur *r = pair[i] = pr_new(wg_test_arch(state), bh ? 16 : 80);
        pr_mark_dst(r);
        wg_dst_block_written(r->t, 0, r->t->sched.now + 7);
        for (unsigned k = 0; k < 6; k++)
            ur_push(r, k % 3, PR_PACR(bh ? k % 4 : 1 + k % 2, k % 2));
        if (i)
            ur_skip_to(r, 400);
        else
            ur_run(r, 300);
    }
    assert_int_equal(pair[0]->events, pair[1]->events);
    for (unsigned i = 0; i < pair[0]->events; i++) {
        assert_int_equal(pair[0]->event[i].kind, pair[1]->event[i].kind);
        assert_int_equal(pair[0]->event[i].cycle, pair[1]->event[i].cycle);
        assert_int_equal(pair[0]->event[i].agent, pair[1]->event[i].agent);
    }
    assert_memory_equal(pair[0]->t->l1, pair[1]->t->l1, 0x10000);
    ur_free(pair[0]);
    ur_free(pair[1]);
}

/* Soft reset drops the instruction and the buffered bytes, and holds later instructions at the gate. */
static void test_soft_reset(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 5);
    pr_mark_dst(r);
    wg_packer_sideband *s = &r->t->backend.tdma.packer[0];
    s->acc_tile_size[2] = s->last_tile_size = s->l1_dest_addr_offset = 7;
    pr_do(r, 2, PR_PACR(1, 0)); /* ten bytes are buffered */
    ur_push(r, 2, PR_PACR(1, PR_LAST));
    ur_push(r, 2, PR_PACR(1, PR_LAST));
    ur_run(r, 3);
    assert_true(wg_pack_unit.busy(r->t, 2));
    wg_pack_soft_reset(r->t, 1, 0);
    assert_false(wg_pack_unit.busy(r->t, 2));
    assert_int_equal(s->acc_tile_size[2] | s->last_tile_size, 0);
    assert_int_equal(s->l1_dest_addr_offset, 7);
    ur_run(r, 20);
    assert_int_equal(issued(r, 2, 1), WG_NEVER);
    assert_int_equal(pr_l1_16(r, PR_L1), 0);
    uint64_t c = r->t->sched.now;
    wg_pack_soft_reset(r->t, 0, 1);
    assert_int_equal(s->l1_dest_addr_offset, 0);
    ur_run(r, 20);
    assert_int_equal(issued(r, 2, 1), c);
    assert_int_equal(pr_l1_16(r, PR_L1), pr_mark(0, 0));
    assert_int_equal(pr_l1_16(r, PR_L1 + 10), 0);
    ur_free(r);
}

/*
 * TBUFCMD takes a cycle of packer 0, and leaves after as many as a PACR without data; it is reported once per place,
 * and changes nothing in the packers, their counters or L1.
 */
static void test_tbufcmd(void **state)
{
    enum { TBUFCMD = 0x4B000000 };
    ur *with = pr_new(wg_test_arch(state), 16), *without = pr_new(wg_test_arch(state), 16);
    for (unsigned k = 0; k < 2; k++) {
        ur *r = k ? without : with;
        pr_mark_dst(r);
        ur_push(r, 2, PR_PACR(1, 0)); /* a tile in progress: a row, or four of them */
        ur_run(r, 20);
        if (!k) {
            ur_push(r, 2, TBUFCMD);
            ur_push(r, 2, TBUFCMD);
        }
        ur_run(r, 2);
        uint64_t c = r->t->sched.now;
        ur_run(r, 18);
        if (!k) {
            for (unsigned i = 0; i < 2; i++) {
                assert_int_equal(issued(r, 2, 1 + i), c + i);
                assert_int_equal(completed(r, 1 + i), c + i + STAGES);
            }
            assert_int_equal(r->dev.findings, 1);
            assert_int_equal(r->dev.finding[0].code, WG_F_RESERVED_INSN);
            assert_non_null(strstr(r->dev.finding[0].detail, "TBUFCMD"));
        }
    }
    assert_memory_equal(with->t->l1, without->t->l1, with->t->spec->l1_bytes);
    assert_memory_equal(&with->t->regs.adc, &without->t->regs.adc, sizeof with->t->regs.adc);
    assert_memory_equal(with->t->backend.pack.packer[0].stream, without->t->backend.pack.packer[0].stream,
                        sizeof with->t->backend.pack.packer[0].stream);
    assert_int_equal(with->t->backend.pack.packer[0].placed, without->t->backend.pack.packer[0].placed);
    /* The next instruction waits for packer 0, and for nothing else. */
    ur_push(with, 2, TBUFCMD);
    ur_push(with, 2, PR_PACR(1, PR_LAST));
    ur_run(with, 40);
    assert_int_equal(issued(with, 2, 4), issued(with, 2, 3) + 1);
    ur_free(with);
    ur_free(without);
}

static const wg_test tests[] = {
    WG_COVERS(test_one_per_cycle, WG_BH | WG_WH, "", "PACR:timing"),
    WG_COVERS(test_rate, WG_BH | WG_WH, "", "PACR:timing"),
    WG_TEST(test_packers_apart, WG_WH, ""),
    WG_TEST(test_waits_for_dst, WG_BH | WG_WH, ""),
    WG_TEST(test_waits_for_last_row, WG_BH | WG_WH, ""),
    WG_TEST(test_waiting_reads_nothing, WG_BH | WG_WH, ""),
    WG_TEST(test_wait_condition, WG_BH | WG_WH, "GATE-12"),
    WG_TEST(test_parts, WG_WH, "GATE-12"),
    WG_COVERS(test_tbufcmd, WG_BH | WG_WH, "", "TBUFCMD:value TBUFCMD:timing"),
    WG_COVERS(test_setreg, WG_BH | WG_WH, "", "PACR_SETREG:timing"),
    WG_TEST(test_skipping, WG_BH | WG_WH, ""),
    WG_TEST(test_soft_reset, WG_BH | WG_WH, ""),
};
WG_MAIN("pack_timing", tests)
