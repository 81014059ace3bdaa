/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacker timing: address phase, rates, interference, waiting for banks, UNPACR_NOP, and what the gates see. */
#include "unpack_rig.h"

#define SETADC UINT32_C(0x50200000) /* Miscellaneous Unit; one cycle, waits for nothing */
#define STALLWAIT(block, conditions) (UINT32_C(0xA2000000) | (uint32_t)(block) << 15 | (uint32_t)(conditions))
enum { ALL = 0x1FF };

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
static uint64_t completed(const ur *r, unsigned unpacker, unsigned n)
{
    return ur_cycle(r, WG_EV_COMPLETED, WG_AGENT_UNPACK0 + unpacker, n);
}
static void throttle(ur *r, unsigned u, unsigned mode)
{
    UR_SEC(r, u, REG2_Throttle_mode, mode);
    if (r->t->arch->id == WG_ARCH_BH)
        UR_SEC(r, u, REG1_ovrd_default_throttle_mode, 1);
}
static ur *faces(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    ur_face(r, 1, WG_FMT_BF16, WG_FMT_BF16, 0x2000);
    return r;
}

/* Two cycles in which the thread issues nothing and no thread an UNPACR, for either unpacker; others continue. */
static void test_address_phase(void **state)
{
    ur *r = faces(state);
    ur_push(r, 0, UR_UNPACR(0, 0));
    ur_push(r, 0, SETADC);
    ur_push(r, 1, UR_UNPACR(1, 0));
    ur_push(r, 2, SETADC);
    ur_push(r, 2, SETADC);
    ur_run(r, 60);
    uint64_t c = issued(r, 0, 0);
    assert_int_equal(issued(r, 0, 1), c + 2);
    assert_int_equal(issued(r, 1, 0), c + 2);
    assert_int_equal(issued(r, 2, 0), c);
    assert_int_equal(issued(r, 2, 1), c + 1);
    const wg_event *own = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0);
    assert_non_null(own);
    assert_int_equal(own->stall.reason, WG_STALL_UNPACK_ADDRESS_PHASE);
    assert_int_equal(own->stall.holder, WG_AGENT_UNPACK0);
    bool other = false;
    for (unsigned i = 0; i < 4; i++) {
        const wg_event *e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD1, i);
        other |= e && e->stall.reason == WG_STALL_UNPACK_ADDRESS_PHASE;
    }
    assert_true(other);
    ur_free(r);
}

/* Compressed data takes longer to locate; the counter and cache forms, and UNPACR_NOP, have no address phase. */
static void test_other_phases(void **state)
{
    ur *r = faces(state);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0, 0);
    ur_push(r, 0, UR_UNPACR(0, 0));
    ur_push(r, 0, SETADC);
    ur_push(r, 0, UR_UNPACR(1, 1 << 13));
    ur_push(r, 0, UR_UNPACR(1, 1 << 1));
    ur_push(r, 0, UR_NOP(1, 2));
    ur_push(r, 0, SETADC);
    ur_run(r, 100);
    uint64_t c = issued(r, 0, 0);
    assert_int_equal(issued(r, 0, 1), c + 4);
    for (unsigned i = 2; i < 6; i++)
        assert_int_equal(issued(r, 0, i), c + 3 + i);
    for (unsigned i = 0; i < 3; i++) /* one cycle each */
        assert_int_equal(completed(r, 1, i), c + 6 + i);
    ur_free(r);
}

static uint64_t duration(ur *r, unsigned u)
{
    r->events = 0;
    ur_push(r, 0, UR_UNPACR(u, 0));
    ur_run(r, 1500);
    return completed(r, u, 0) - issued(r, 0, 0);
}

/* Lines per cycle. BH: x8 as well, and x4 is as fast as that for datums of 16 bits and more. */
static unsigned lines_per_cycle(const ur *r, unsigned bits, unsigned mode)
{
    if (bits == 2)
        return 1;
    return r->t->arch->id == WG_ARCH_BH && mode == 2 && bits >= 16 ? 8 : 1u << mode;
}

/* 2 + lines / (lines per cycle), by format and mode. */
static void test_rates(void **state)
{
    static const uint8_t formats[] = {WG_FMT_BF16, WG_FMT_FP16, WG_FMT_INT16, WG_FMT_BFP8, WG_FMT_FP8,
                                      WG_FMT_INT8, WG_FMT_BFP4, WG_FMT_BFP4A, WG_FMT_BFP2, WG_FMT_BFP2A};
    static const uint16_t bytes[] = {512, 512, 512, 256, 256, 256, 128, 128, 64, 64};
    ur *r = faces(state);
    const bool bh = r->t->arch->id == WG_ARCH_BH;
    const unsigned modes = bh ? 4 : 3;
    for (unsigned u = 0; u < 2; u++)
        for (unsigned i = 0; i < 10; i++)
            for (unsigned mode = 0; mode < modes; mode++) {
                ur_face(r, u, formats[i], formats[i], 0x1000);
                throttle(r, u, mode);
                unsigned lines = bytes[i] / 16, speed = lines_per_cycle(r, bytes[i] / 32, mode);
                assert_int_equal(duration(r, u), 2 + (lines + speed - 1) / speed);
            }
    ur_face(r, 0, WG_FMT_FP32, WG_FMT_TF32, 0x1000);
    throttle(r, 0, 2);
    assert_int_equal(duration(r, 0), bh ? 2 + 8 : 2 + 16);
    /* A face that begins in the middle of a line needs one more. */
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    throttle(r, 0, 0);
    r->t->regs.adc.unit[0][0][0].x = 1;
    r->t->regs.adc.unit[0][0][1].x = 256;
    assert_int_equal(duration(r, 0), 2 + 33);
    r->t->regs.adc.unit[0][0][0].x = r->t->regs.adc.unit[0][0][1].x = 0;
    assert_int_equal(duration(r, 0), 2 + 1);
    /* Modes that choose their own rate. */
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    throttle(r, 0, 0);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Tileize_mode, 1);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Shift_amount_cntx0, 4);
    assert_int_equal(duration(r, 0), bh ? 2 + 4 : 2 + 8); /* tilizing: x4 */
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Tileize_mode, 0);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Shift_amount_cntx0, 0);
    throttle(r, 0, 2);
    const unsigned upsampled[4] = {bh ? 4 : 8, 16, 32, 32}; /* the rate of its choice, x2, x1, x1 */
    for (unsigned rate = 0; rate < 4; rate++) {
        ur_set(r, WG_CFG_THCON_SEC0_REG2_Upsample_rate, rate);
        assert_int_equal(duration(r, 0), 2 + upsampled[rate]);
    }
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Upsample_rate, 0);
    ur_face(r, 0, WG_FMT_BFP4, WG_FMT_BFP4, 0x1000);
    throttle(r, 0, 2);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
    assert_int_equal(duration(r, 0), 2 + 4); /* BFP4 into Dst: two */
    if (bh) {                                /* by default x8 for 8-bit formats, x4 for others */
        static const uint8_t by_default[] = {WG_FMT_BF16, WG_FMT_FP32, WG_FMT_BFP8, WG_FMT_BFP4, WG_FMT_BFP2};
        static const uint8_t takes[] = {4, 8, 2, 2, 4};
        ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 0);
        for (unsigned i = 0; i < 5; i++) {
            ur_face(r, 0, by_default[i], by_default[i] == WG_FMT_FP32 ? WG_FMT_TF32 : by_default[i], 0x1000);
            throttle(r, 0, 0);
            ur_set(r, WG_CFG_THCON_SEC0_REG1_ovrd_default_throttle_mode, 0);
            assert_int_equal(duration(r, 0), 2 + takes[i]);
        }
    }
    ur_free(r);
}

/* Both at once: the documented table of WH, cycle by cycle; on BH each runs as if alone. */
static void test_interference(void **state)
{
    static const uint8_t gets[3][3][2] = {/* [Unpacker 0 wants][Unpacker 1 wants] */
                                          {{1, 1}, {1, 2}, {1, 4}},
                                          {{2, 1}, {1, 1}, {1, 2}},
                                          {{4, 1}, {2, 1}, {2, 2}}};
    for (unsigned a = 0; a < 3; a++)
        for (unsigned b = 0; b < 3; b++) {
            ur *r = faces(state);
            throttle(r, 0, a);
            throttle(r, 1, b);
            ur_push(r, 0, UR_UNPACR(0, 0));
            ur_push(r, 0, UR_UNPACR(1, 0));
            ur_run(r, 150);
            uint64_t c = issued(r, 0, 0);
            unsigned left[2] = {32, 32};
            uint64_t done[2] = {0, 0};
            for (uint64_t now = c + 2; left[0] || left[1]; now++) {
                bool second = now >= c + 4;
                unsigned rate[2] = {lines_per_cycle(r, 16, a), lines_per_cycle(r, 16, b)};
                if (left[0] && left[1] && second && r->t->arch->id == WG_ARCH_WH) {
                    rate[0] = gets[a][b][0];
                    rate[1] = gets[a][b][1];
                }
                for (unsigned u = 0; u < 2; u++)
                    if (left[u] && (!u || second)) {
                        left[u] = left[u] > rate[u] ? left[u] - rate[u] : 0;
                        done[u] = now + 1;
                    }
            }
            assert_int_equal(completed(r, 0, 0), done[0]);
            assert_int_equal(completed(r, 1, 0), done[1]);
            ur_free(r);
        }
}

/* Instructions of one unpacker run back to back, at most four of them inside. */
static void test_pipelining(void **state)
{
    ur *r = faces(state);
    throttle(r, 0, 0);
    for (unsigned i = 0; i < 6; i++)
        ur_push(r, 0, UR_UNPACR(0, 0));
    ur_run(r, 250);
    uint64_t c = issued(r, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(issued(r, 0, i), c + 2 * i);
    assert_int_equal(issued(r, 0, 4), completed(r, 0, 0));
    const wg_event *e;
    unsigned at_the_gate = 0; /* the expanders stall as well */
    for (unsigned i = 0; (e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, i)); i++)
        if (e->stall.reason != WG_STALL_FIFO_FULL && at_the_gate++ == 4)
            break;
    assert_non_null(e);
    assert_int_equal(e->stall.reason, WG_STALL_UNIT_BUSY);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(completed(r, 0, i), c + 2 + 32 * (i + 1));
    ur_free(r);
}

/* ---- What the gates see ------------------------------------------------------------------------------------- */

/* Passes a STALLWAIT for `what`, then SETADC; returns when SETADC passed, WG_NEVER if it has not yet. */
static void wait_for(ur *r, unsigned thread, wg_wait_condition what)
{
    ur_push(r, thread, STALLWAIT(ALL, condition(r, what)));
    ur_push(r, thread, SETADC);
}

static void test_gate_occupancy(void **state)
{
    for (unsigned u = 0; u < 2; u++) {
        ur *r = faces(state);
        throttle(r, u, 0);
        ur_push(r, 0, UR_UNPACR(u, 0));
        wait_for(r, 0, WG_WAIT_UNPACK0 + u);
        wait_for(r, 1, WG_WAIT_UNPACK0 + u); /* another thread's instruction does not count */
        ur_run(r, 60);
        assert_int_equal(issued(r, 0, 2), completed(r, 0 + u, 0) + 1);
        assert_true(issued(r, 1, 1) < completed(r, u, 0));
        /* nor does the other unpacker */
        r->events = 0;
        ur_push(r, 0, UR_UNPACR(u, 0));
        wait_for(r, 0, WG_WAIT_UNPACK0 + !u);
        ur_run(r, 60);
        assert_true(issued(r, 0, 2) < completed(r, u, 0));
        ur_free(r);
    }
}

static void test_gate_unpackers_bank(void **state)
{
    for (unsigned u = 0; u < 2; u++) {
        ur *r = faces(state);
        wg_src_file file = u ? WG_SRCB : WG_SRCA;
        wg_wait_condition what = u ? WG_WAIT_SRCB_UNPACKERS : WG_WAIT_SRCA_UNPACKERS;
        wg_src_give_to_matrix(r->t, file, 1, WG_AGENT_HOST); /* the other bank: no reason to wait */
        wait_for(r, 0, what);
        ur_run(r, 10);
        assert_true(issued(r, 0, 1) != WG_NEVER);
        r->events = 0;
        wg_src_give_to_matrix(r->t, file, 0, WG_AGENT_HOST);
        wait_for(r, 0, what);
        ur_run(r, 20);
        assert_int_equal(issued(r, 0, 1), WG_NEVER);
        uint64_t now = r->t->sched.now;
        wg_src_give_to_unpackers(r->t, file, 0, WG_AGENT_HOST);
        ur_run(r, 5);
        assert_int_equal(issued(r, 0, 1), now + 1); /* D sees it in `now`, the block lifts one cycle later */
        ur_free(r);
    }
}

static void test_gate_matrix_bank(void **state)
{
    for (unsigned u = 0; u < 2; u++) {
        ur *r = faces(state);
        throttle(r, u, 0);
        wait_for(r, 1, u ? WG_WAIT_SRCB_MATRIX : WG_WAIT_SRCA_MATRIX);
        ur_push(r, 0, UR_UNPACR(u, UR_FLIP));
        ur_run(r, 60);
        assert_int_equal(issued(r, 1, 1), completed(r, u, 0) + 1);
        ur_free(r);
    }
}

/* UNPACR starts whichever side owns the bank, and waits inside; the Matrix Unit's reader waits at the gate. */
static void test_waits_inside(void **state)
{
    for (unsigned to_dst = 0; to_dst < 2; to_dst++) {
        ur *r = faces(state);
        ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, to_dst); /* even for Dst it waits for SrcA's bank */
        if (to_dst)
            ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
        throttle(r, 0, 2);
        memset(r->t->l1 + 0x1000, 0x3F, 512);
        wg_src_give_to_matrix(r->t, WG_SRCA, 0, WG_AGENT_HOST);
        uint64_t before = r->t->sched.now;
        ur_push(r, 0, UR_UNPACR(0, UR_FLIP));
        ur_push(r, 0, SETADC);
        ur_skip_to(r, before + 40);
        uint64_t c = issued(r, 0, 0);
        assert_true(c < before + 4);
        assert_int_equal(issued(r, 0, 1), c + 2);
        assert_int_equal(completed(r, 0, 0), WG_NEVER);
        const wg_event *e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_UNPACK0, 0);
        assert_non_null(e);
        assert_int_equal(e->cycle, c + 2);
        assert_int_equal(e->stall.reason, WG_STALL_SRC_BANK_NOT_UNPACKERS);
        assert_int_equal(e->stall.holder, WG_AGENT_MATRIX);
        assert_true(wg_unpack_unit.part_busy(r->t, 0, 0));
        assert_int_equal(r->t->regs.src.a[0][0][0], 0);
        uint64_t now = r->t->sched.now;
        wg_src_give_to_unpackers(r->t, WG_SRCA, 0, WG_AGENT_HOST);
        ur_skip_to(r, now + 40);
        assert_int_equal(ur_cycle(r, WG_EV_STALL_END, WG_AGENT_UNPACK0, 0), now);
        assert_int_equal(completed(r, 0, 0), now + 32 / lines_per_cycle(r, 16, 2));
        assert_int_equal(r->t->regs.src.owner_a[0], WG_SRC_MATRIX);
        ur_free(r);
    }
    ur *r = faces(state);
    ur_push(r, 1, UINT32_C(0x12002000)); /* MOVA2D of eight rows */
    ur_push(r, 0, UR_UNPACR(0, UR_FLIP));
    ur_run(r, 60);
    assert_int_equal(issued(r, 1, 0), completed(r, 0, 0));
    const wg_event *e = ur_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD1, 0);
    assert_non_null(e);
    assert_int_equal(e->stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
    ur_free(r);
}

/* Two owners; after reset all banks belong to the unpackers, and every pointer is at bank 0. */
static void test_owners(void **state)
{
    ur *r = faces(state);
    const wg_src *s = &r->t->regs.src;
    for (unsigned bank = 0; bank < 2; bank++) {
        assert_int_equal(s->owner_a[bank], WG_SRC_UNPACKERS);
        assert_int_equal(s->owner_b[bank], WG_SRC_UNPACKERS);
    }
    assert_int_equal(s->unpack_bank_a | s->unpack_bank_b | s->matrix_bank_a | s->matrix_bank_b, 0);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned u = 0; u < 2; u++) {
            const uint8_t *owner = u ? s->owner_b : s->owner_a;
            assert_int_equal(owner[i], WG_SRC_UNPACKERS);
            ur_push(r, 0, UR_UNPACR(u, UR_FLIP));
            ur_run(r, 40);
            assert_int_equal(owner[i], WG_SRC_MATRIX);
            assert_int_equal(u ? s->unpack_bank_b : s->unpack_bank_a, !i);
        }
    const wg_event *e = ur_event(r, WG_EV_BANK, WG_AGENT_UNPACK1, 0);
    assert_non_null(e);
    assert_int_equal(e->a, 2);
    assert_int_equal(e->b, WG_SRC_MATRIX);
    assert_int_equal(e->cycle, completed(r, 1, 0));
    ur_push(r, 1, UINT32_C(0x36C00000)); /* CLEARDVALID of both */
    ur_run(r, 20);
    assert_int_equal(s->owner_a[0] | s->owner_b[0], WG_SRC_UNPACKERS);
    assert_int_equal(s->owner_a[1] & s->owner_b[1], WG_SRC_MATRIX);
    ur_free(r);
}

/* ---- UNPACR_NOP --------------------------------------------------------------------------------------------- */

static uint32_t clear_word(const ur *r, unsigned u, bool neginf, bool both, bool like_unpacr)
{
    if (r->t->arch->id == WG_ARCH_BH)
        return UR_NOP(u, 1 | (unsigned)neginf << 2 | (unsigned)both << 4 | (unsigned)like_unpacr << 5);
    return UR_NOP(u, 1 | (unsigned)neginf << 2 | (unsigned)both << 3 | (unsigned)like_unpacr << 4);
}
static uint32_t give_word(const ur *r, unsigned u) { return UR_NOP(u, r->t->arch->id == WG_ARCH_BH ? 3 << 6 | 2 : 7); }

static bool filled(const ur *r, unsigned u, unsigned bank, uint32_t value)
{
    uint32_t(*rows)[16] = wg_src_rows(&r->t->regs.src, u ? WG_SRCB : WG_SRCA, bank);
    for (unsigned i = 0; i < 64 * 16; i++)
        if (rows[i / 16][i % 16] != value)
            return false;
    return true;
}
static void dirty(ur *r)
{
    for (unsigned i = 0; i < 2 * 64 * 16; i++)
        (&r->t->regs.src.a[0][0][0])[i] = (&r->t->regs.src.b[0][0][0])[i] = 0x12345;
}

static void test_nop_clears(void **state)
{
    ur *r = faces(state);
    bool bh = r->t->arch->id == WG_ARCH_BH;
    for (unsigned i = 0; i < 16; i++) {
        unsigned u = i & 1, neginf = i >> 1 & 1, both = i >> 2 & 1, own = i >> 3;
        dirty(r);
        *(u ? &r->t->regs.src.unpack_bank_b : &r->t->regs.src.unpack_bank_a) = (uint8_t)own;
        ur_do(r, 0, clear_word(r, u, neginf, both, true));
        uint32_t value = neginf && (!u || bh) ? 0x7FFFF : 0;
        assert_true(filled(r, u, own, value));
        assert_true(filled(r, u, !own, both ? value : 0x12345));
        assert_true(filled(r, !u, 0, 0x12345));
        assert_int_equal(r->t->regs.src.owner_a[own], WG_SRC_UNPACKERS);
    }
    if (bh) { /* to 1 in three layouts, to an immediate, and with the bank given away */
        static const uint32_t ones[3] = {15, 127, 1 << 8 | 16};
        for (unsigned f = 0; f < 3; f++) {
            ur_do(r, 0, UR_NOP(0, 1 | 2 << 2 | 1 << 5 | f << 6));
            assert_true(filled(r, 0, r->t->regs.src.unpack_bank_a, ones[f]));
        }
        ur_set(r, WG_CFG_UNP1_NOP_REG_CLR_VAL_nop_reg_clr_val, 0xABCDE);
        ur_do(r, 0, UR_NOP(1, 1 | 3 << 2 | 1 << 5));
        assert_true(filled(r, 1, r->t->regs.src.unpack_bank_b, 0xABCDE & 0x7FFFF));
        r->t->regs.src.unpack_bank_a = 0;
        ur_do(r, 2, UR_NOP(0, 1 | 1 << 5 | 1 << 8));
        assert_true(filled(r, 0, 0, 0));
        assert_int_equal(r->t->regs.src.owner_a[0], WG_SRC_MATRIX);
        assert_int_equal(r->t->regs.src.format_a[0], WG_FMT_BF16);
    } else {
        ur_do(r, 0, UR_NOP(0, 1 | 1 << 4 | 1 << 6));
        assert_int_equal(ur_found(r, WG_F_UNPACK_NOP_MODE), 1);
        ur_do(r, 0, UR_NOP(0, 6));
        assert_int_equal(ur_found(r, WG_F_UNPACK_NOP_MODE), 2);
    }
    ur_free(r);
}

/* Clearing waits for the Matrix Unit's bank, or for the unpacker's own; handing over waits for neither. */
static void test_nop_waits(void **state)
{
    for (unsigned u = 0; u < 2; u++)
        for (unsigned like = 0; like < 2; like++)
            for (unsigned held = 0; held < 2; held++) {
                ur *r = faces(state);
                wg_src *s = &r->t->regs.src;
                *(u ? &s->unpack_bank_b : &s->unpack_bank_a) = 1; /* the Matrix Unit is at bank 0 */
                wg_src_give_to_matrix(r->t, u ? WG_SRCB : WG_SRCA, held, WG_AGENT_HOST);
                ur_push(r, 0, clear_word(r, u, false, false, like));
                ur_skip_to(r, r->t->sched.now + 20);
                bool waits = like ? held == 1 : held == 0;
                assert_int_equal(completed(r, u, 0) == WG_NEVER, waits);
                if (!waits)
                    assert_int_equal(completed(r, u, 0), issued(r, 0, 0) + 1);
                uint64_t now = r->t->sched.now;
                wg_src_give_to_unpackers(r->t, u ? WG_SRCB : WG_SRCA, held, WG_AGENT_HOST);
                ur_skip_to(r, now + 20);
                if (waits)
                    assert_int_equal(completed(r, u, 0), now);
                ur_free(r);
            }
    ur *r = faces(state);
    ur_thread(r, 0, WG_TCFG_SRCA_SET_Base, 3);
    wg_src_give_to_matrix(r->t, WG_SRCA, 0, WG_AGENT_HOST);
    ur_push(r, 0, give_word(r, 0));
    ur_push(r, 0, give_word(r, 1));
    ur_run(r, 10);
    assert_int_equal(completed(r, 0, 0), issued(r, 0, 0) + 1);
    assert_int_equal(completed(r, 1, 0), issued(r, 0, 1) + 1);
    assert_int_equal(ur_found(r, WG_F_SRC_GIVEN_TWICE), 1);
    assert_int_equal(r->t->regs.src.unpack_bank_a & r->t->regs.src.unpack_bank_b, 1);
    assert_int_equal(r->t->regs.src.unpack_row_a[0], 48);
    assert_int_equal(r->t->regs.src.owner_b[0], WG_SRC_MATRIX);
    if (r->t->arch->id == WG_ARCH_BH)
        assert_int_equal(r->t->regs.src.format_b[0], WG_FMT_BF16);
    ur_free(r);
}

/* On Blackhole silicon the unpacker fetches nothing for five cycles after a clear; the other one does. */
static void test_fetch_behind_clear(void **state)
{
    for (unsigned u = 0; u < 2; u++) {
        uint64_t took[2][2];
        for (unsigned profile = 0; profile < 2; profile++)
            for (unsigned same = 0; same < 2; same++) {
                ur *r = faces(state);
                r->t->timing = &r->t->arch->timing[profile];
                ur_push(r, 0, clear_word(r, same ? u : !u, false, false, true));
                ur_push(r, 0, UR_UNPACR(u, 0));
                ur_run(r, 60);
                assert_int_equal(completed(r, same ? u : !u, 0), issued(r, 0, 0) + 1);
                took[profile][same] = completed(r, u, same) - issued(r, 0, 1);
                ur_free(r);
            }
        assert_int_equal(took[WG_PROFILE_DOCUMENTED][1], took[WG_PROFILE_DOCUMENTED][0]);
        assert_int_equal(took[WG_PROFILE_SILICON][0], took[WG_PROFILE_DOCUMENTED][0]);
        /* Two of the five pass in the address phase. */
        assert_int_equal(took[WG_PROFILE_SILICON][1],
                         took[WG_PROFILE_SILICON][0] + (wg_test_arch(state) == WG_ARCH_BH ? 3 : 0));
    }
}

/* A ZEROSRC of the Matrix Unit's bank, or of both, in the same cycle: its choice of bank holds. */
static void test_nop_meets_zerosrc(void **state)
{
    for (unsigned both = 0; both < 2; both++)
        for (unsigned late = 0; late < 2; late++) {
            ur *r = faces(state);
            dirty(r);
            r->t->regs.src.unpack_bank_b = 1;
            uint32_t zerosrc = UINT32_C(0x11000001) | (both ? 4 : 8); /* of SrcA alone */
            if (!late)
                ur_push(r, 1, zerosrc);
            ur_push(r, 0, clear_word(r, 1, false, false, true));
            ur_run(r, 1);
            if (late)
                ur_push(r, 1, zerosrc);
            ur_run(r, 20);
            uint64_t effect = ur_cycle(r, WG_EV_COMPLETED, WG_AGENT_MATRIX, 0);
            bool meets = effect == completed(r, 1, 0);
            assert_int_equal(meets, !late);
            assert_int_equal(ur_found(r, WG_F_UNPACK_ZEROSRC), meets);
            assert_true(filled(r, 1, 0, meets ? 0 : 0x12345));
            assert_true(filled(r, 1, 1, meets && !both ? 0x12345 : 0));
            ur_free(r);
        }
}

/* Executes after earlier UNPACRs of the same unpacker. */
static void test_nop_in_order(void **state)
{
    ur *r = faces(state);
    throttle(r, 0, 0);
    ur_push(r, 0, UR_UNPACR(0, 0));
    ur_push(r, 0, UR_NOP(0, 2));
    ur_push(r, 0, UR_NOP(1, 2));
    ur_push(r, 0, give_word(r, 0));
    ur_run(r, 60);
    uint64_t done = completed(r, 0, 0);
    assert_int_equal(completed(r, 0, 1), done);
    assert_int_equal(completed(r, 0, 2), done);
    assert_int_equal(completed(r, 1, 0), issued(r, 0, 2) + 1);
    assert_int_equal(ur_cycle(r, WG_EV_BANK, WG_AGENT_UNPACK0, 0), done);
    ur_free(r);
}

/* Register writes: direct, accumulated, reset; overlay messages; an unmapped address gives a finding. */
static void test_nop_registers(void **state)
{
    ur *r = faces(state);
    wg_tile *t = r->t;
    bool bh = t->arch->id == WG_ARCH_BH;
    uint32_t mode = bh ? 7 : 4;
    /* 0xFFB40000 + stream 5's register 3: base bits [19:18] = 1, [11:2] = 3, AddrMid = 5 */
    t->backend.tdma.unpack_set_reg_base[1] = 1u << 18 | 3 << 2;
    uint32_t select = bh ? 1u << 15 : 1u << 22, to = 5u << 16;
    ur_do(r, 0, UR_NOP(0, mode | select | to | 0x2AA << 4));
    assert_int_equal(t->regions.niu.overlay[5][3], 0x2AA);
    ur_do(r, 0, UR_NOP(1, mode | select | to | 1 << 3 | 0x7FF << 4));
    ur_do(r, 0, UR_NOP(1, mode | select | to | 1 << 3 | 0x7FF << 4));
    assert_int_equal(t->regions.niu.overlay[5][3], 0xFFE);
    assert_int_equal(t->backend.tdma.set_reg_acc[1], 0xFFE);
    ur_do(r, 0, UR_NOP(1, mode | select | to | 1 << 3));
    assert_int_equal(t->backend.tdma.set_reg_acc[1], 0);
    assert_int_equal(t->regions.niu.overlay[5][3], 0xFFE);
    assert_int_equal(ur_found(r, WG_F_UNPACK_REGISTER), 0);
    ur_do(r, 0, UR_NOP(0, mode | 1 << 4)); /* base 0: a core's own RAM */
    assert_int_equal(ur_found(r, WG_F_UNPACK_REGISTER), 1);
    if (bh) {
        ur_do(r, 0, UR_NOP(0, mode | 1 << 22));
        assert_int_equal(ur_found(r, WG_F_UNIMPLEMENTED_INSN), 1);
    }
    /* The stream frees the data of a removed message. */
    wg_stream *stream = t->regions.niu.streams.stream;
    static const uint8_t cleared[] = {9, 33, 0, 34};
    for (unsigned i = 0; i < 4; i++) {
        stream[cleared[i]].reads = 1;
        stream[cleared[i]].read[0].source = cleared[i];
    }
    ur_thread(r, 1, WG_TCFG_NOC_OVERLAY_MSG_CLEAR_StreamId_1, 9);
    ur_do(r, 1, UR_NOP(1, 0));
    assert_int_equal(stream[9].reads, 0);
    ur_do(r, 1, UR_NOP(1, 3 | 33 << 16 | (bh ? 2 << 12 : 2 << 4)));
    assert_int_equal(stream[33].reads, 0);
    ur_do(r, 1, UR_NOP(0, 3 | 34 << 16)); /* no count: the thread's stream, 0 */
    assert_int_equal(stream[34].reads, 1);
    assert_int_equal(stream[0].reads, 0);
    assert_true(ur_found(r, WG_F_UNPACK_WEAK) > 0);
    ur_free(r);
}

static void test_nop_findings(void **state)
{
    ur *r = faces(state);
    r->t->regs.src.owner_a[1] = WG_SRC_MATRIX;
    ur_do(r, 0, clear_word(r, 0, false, true, true));
    assert_int_equal(ur_found(r, WG_F_UNPACK_BOTH_BANKS), 1);
    r->t->regs.src.owner_a[1] = WG_SRC_UNPACKERS;
    bool wh = r->t->arch->id == WG_ARCH_WH; /* TEN-3868 */
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
    ur_do(r, 0, UR_UNPACR(0, 0));
    ur_do(r, 0, clear_word(r, 0, false, false, true));
    assert_int_equal(ur_found(r, WG_F_UNPACK_AFTER_DST), wh);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 0);
    ur_do(r, 0, UR_UNPACR(0, 0));
    ur_do(r, 0, clear_word(r, 0, false, false, true));
    assert_int_equal(ur_found(r, WG_F_UNPACK_AFTER_DST), wh);
    ur_free(r);
}

/* ---- Skipping is exact -------------------------------------------------------------------------------------- */

static uint32_t any_word(wg_rng *rng, const ur *r)
{
    unsigned u = wg_rng_below(rng, 2);
    switch (wg_rng_below(rng, 8)) {
    case 0: return clear_word(r, u, false, false, wg_rng_below(rng, 2));
    case 1: return UR_NOP(u, 2);
    case 2: return SETADC;
    case 3: return UINT32_C(0x36000000) | wg_rng_below(rng, 4) << 22; /* CLEARDVALID */
    default: return UR_UNPACR(u, wg_rng_below(rng, 2) ? UR_FLIP : 0);
    }
}

static void test_lockstep(void **state)
{
    for (unsigned seed = 0; seed < 40; seed++) {
        ur *r[2];
        for (unsigned mode = 0; mode < 2; mode++) {
            wg_rng rng = {seed};
            r[mode] = faces(state);
            r[mode]->t->lockstep = mode;
            r[mode]->t->seed = seed % 4 ? 0 : seed;
            r[mode]->t->perturbed = r[mode]->t->seed != 0;
            throttle(r[mode], 0, seed % 3);
            throttle(r[mode], 1, seed / 3 % 3);
            for (unsigned i = 0; i < 60; i++) {
                ur_push(r[mode], wg_rng_below(&rng, 3), any_word(&rng, r[mode]));
                uint64_t until = r[mode]->t->sched.now + wg_rng_below(&rng, 30) + 8;
                if (i % 7 == 6) { /* each waiting instruction gets its bank */
                    wg_src_give_to_unpackers(r[mode]->t, WG_SRCA, 0, WG_AGENT_HOST);
                    wg_src_give_to_unpackers(r[mode]->t, WG_SRCA, 1, WG_AGENT_HOST);
                    wg_src_give_to_unpackers(r[mode]->t, WG_SRCB, 0, WG_AGENT_HOST);
                    wg_src_give_to_unpackers(r[mode]->t, WG_SRCB, 1, WG_AGENT_HOST);
                }
                if (mode)
                    ur_run(r[mode], (unsigned)(until - r[mode]->t->sched.now));
                else
                    ur_skip_to(r[mode], until);
            }
        }
        assert_true(r[0]->events > 100);
        for (unsigned i = 0; i < r[0]->events; i++) {
            assert_int_equal(r[0]->event[i].cycle, r[1]->event[i].cycle);
            assert_int_equal(r[0]->event[i].kind, r[1]->event[i].kind);
            assert_int_equal(r[0]->event[i].agent, r[1]->event[i].agent);
            assert_int_equal(r[0]->event[i].word, r[1]->event[i].word);
        }
        assert_int_equal(r[0]->events, r[1]->events);
        ur_free(r[0]);
        ur_free(r[1]);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_address_phase, WG_BH | WG_WH, "", "UNPACR:timing"),
    WG_TEST(test_other_phases, WG_BH | WG_WH, ""),
    WG_COVERS(test_rates, WG_BH | WG_WH, "", "UNPACR:timing"),
    WG_TEST(test_interference, WG_BH | WG_WH, ""),
    WG_TEST(test_pipelining, WG_BH | WG_WH, ""),
    WG_TEST(test_gate_occupancy, WG_BH | WG_WH, "GATE-11"),
    WG_TEST(test_gate_unpackers_bank, WG_BH | WG_WH, "GATE-14"),
    WG_TEST(test_gate_matrix_bank, WG_BH | WG_WH, "GATE-15"),
    WG_TEST(test_waits_inside, WG_BH | WG_WH, "GATE-22"),
    WG_TEST(test_owners, WG_BH | WG_WH, "GATE-29"),
    WG_COVERS(test_nop_clears, WG_BH | WG_WH, "", "UNPACR_NOP:value"),
    WG_COVERS(test_nop_waits, WG_BH | WG_WH, "", "UNPACR_NOP:value UNPACR_NOP:timing"),
    WG_COVERS(test_fetch_behind_clear, WG_BH | WG_WH, "", "UNPACR_NOP:timing"),
    WG_TEST(test_nop_meets_zerosrc, WG_BH | WG_WH, ""),
    WG_COVERS(test_nop_in_order, WG_BH | WG_WH, "", "UNPACR_NOP:timing"),
    WG_COVERS(test_nop_registers, WG_BH | WG_WH, "", "UNPACR_NOP:value"),
    WG_TEST(test_nop_findings, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep, WG_BH | WG_WH, ""),
};
WG_MAIN("unpack_timing", tests)
