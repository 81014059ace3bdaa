/* SPDX-License-Identifier: Apache-2.0 */
/* The Wait Gate: block masks, conditions, bubbles, and the reasons it gives. */
#include "frontend_rig.h"

#include "machine/frontend.h"
#include "isa/config_fields.h"
#include "machine/overlay.h"

static bool is_bh(const fr *r) { return r->t->arch->id == WG_ARCH_BH; }

/* The condition bit of a meaning on this architecture (GATE-10 … GATE-19, GATE-27), written out from the clauses. */
static int condition_bit(const fr *r, wg_wait_condition c)
{
    static const int8_t bh[WG_WAIT_COUNT] = {
        [WG_WAIT_SCALAR_MEMORY] = 0,  [WG_WAIT_UNPACK0] = 1,         [WG_WAIT_UNPACK1] = 2,
        [WG_WAIT_PACK0] = 3,          [WG_WAIT_PACK1] = -1,          [WG_WAIT_PACK2] = -1,
        [WG_WAIT_PACK3] = -1,         [WG_WAIT_MATRIX] = 4,          [WG_WAIT_SRCA_UNPACKERS] = 5,
        [WG_WAIT_SRCB_UNPACKERS] = 6, [WG_WAIT_SRCA_MATRIX] = 7,     [WG_WAIT_SRCB_MATRIX] = 8,
        [WG_WAIT_MOVER] = 9,          [WG_WAIT_RISCV_REQUESTS] = 10, [WG_WAIT_VECTOR] = 11,
        [WG_WAIT_CONFIG] = 12};
    static const int8_t wh[WG_WAIT_COUNT] = {
        [WG_WAIT_SCALAR_MEMORY] = 0,  [WG_WAIT_UNPACK0] = 1,         [WG_WAIT_UNPACK1] = 2,
        [WG_WAIT_PACK0] = 3,          [WG_WAIT_PACK1] = 4,           [WG_WAIT_PACK2] = 5,
        [WG_WAIT_PACK3] = 6,          [WG_WAIT_MATRIX] = 7,          [WG_WAIT_SRCA_UNPACKERS] = 8,
        [WG_WAIT_SRCB_UNPACKERS] = 9, [WG_WAIT_SRCA_MATRIX] = 10,    [WG_WAIT_SRCB_MATRIX] = 11,
        [WG_WAIT_MOVER] = 12,         [WG_WAIT_RISCV_REQUESTS] = 13, [WG_WAIT_VECTOR] = 14,
        [WG_WAIT_CONFIG] = -1};
    return (is_bh(r) ? bh : wh)[c];
}

/* STALLWAIT on all of B's with the condition `c`, then NOP: when does the NOP pass? */
static void push_wait(fr *r, unsigned thread, wg_wait_condition c)
{
    fr_push(r, thread, I_STALLWAIT(0x1FF, 1u << condition_bit(r, c)));
    fr_push(r, thread, I_NOP);
}

/* The wait is still held at cycle 30; `end` ends it between 30 and 31; the NOP passes in 31. */
static void expect_held_until_ended(fr *r, unsigned thread, void (*end)(fr *r))
{
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, thread, 1), WG_NEVER);
    end(r);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, thread, 1), 31);
}

/* ---- Latch, bubble, release ------------------------------------------------------------------------- */

static void test_encoding(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    /* 0x1FF << 15, condition bits to the last of this architecture; the bits above select nothing. */
    fr_push(r, 0, 0xA2000000u | 0x155u << 15 | (is_bh(r) ? 0x1FFFu : 0x7FFFu));
    fr_busy(r, WG_UNIT_SCALAR, 0, 0, true);
    fr_run(r, 6);
    assert_int_equal(r->t->frontend[0].latch.block, 0x155);
    assert_int_equal(r->t->frontend[0].latch.conditions, is_bh(r) ? 0x1FFF : 0x7FFF);
    fr_push(r, 1, 0xA6000000u | 0x02Au << 15 | 0x1Fu << 10 | 0xA5u << 2 | 3);
    fr_run(r, 6);
    assert_int_equal(r->t->frontend[1].latch.kind, WG_LATCH_SEMWAIT);
    assert_int_equal(r->t->frontend[1].latch.block, 0x2A);
    assert_int_equal(r->t->frontend[1].latch.semaphores, 0xA5);
    assert_int_equal(r->t->frontend[1].latch.conditions, 3);
    fr_free(r);
}

static void test_met_wait_costs_one_bubble(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_STALLWAIT(0x1FF, 1));
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_NOP);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 0), 3);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_issued(r, 0, 2), 6); /* caught in 5 although the condition was met from the start */
    assert_int_equal(fr_issued(r, 0, 3), 7);
    assert_int_equal(fr_event(r, WG_EV_LATCHED, -1, 0)->cycle, FR_START + 4);
    assert_int_equal(fr_event(r, WG_EV_RELEASED, -1, 0)->cycle, FR_START + 5);
    const wg_event *e = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0);
    assert_int_equal(e->cycle, FR_START + 5);
    assert_int_equal(e->stall.reason, WG_STALL_LATCHED_WAIT);
    assert_int_equal(fr_event(r, WG_EV_STALL_END, WG_AGENT_THREAD0, 0)->cycle, FR_START + 6);
    fr_free(r);
}

static void test_waits_queue_behind_the_latch(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_SCALAR, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B0, 1));
    fr_push(r, 0, I_STALLWAIT(WG_B8, 1u << condition_bit(r, WG_WAIT_VECTOR)));
    fr_push(r, 0, I_VECTOR);
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 1), WG_NEVER);
    assert_int_equal(r->t->frontend[0].latch.block, WG_B0);
    assert_int_equal(fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0)->stall.reason, WG_STALL_LATCH_OCCUPIED);
    fr_busy(r, WG_UNIT_SCALAR, 0, 0, false);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 1), 31);
    assert_int_equal(fr_issued(r, 0, 2), 33);
    assert_int_equal(fr_found(r, WG_F_WAIT_REPLACED), 0);
    fr_free(r);
}

static void test_semwait_and_the_latch(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B0, 1u << condition_bit(r, WG_WAIT_PACK0)));
    fr_push(r, 0, I_SEMWAIT(WG_B1, 1, 1));
    fr_run(r, 20);
    if (is_bh(r)) { /* any bit catches SEMWAIT */
        assert_int_equal(fr_issued(r, 0, 1), WG_NEVER);
        assert_int_equal(fr_found(r, WG_F_WAIT_REPLACED), 0);
    } else { /* only B1 does: it passes, and the other wait is lost */
        assert_int_equal(fr_issued(r, 0, 1), 4);
        assert_int_equal(r->t->frontend[0].latch.kind, WG_LATCH_SEMWAIT);
        assert_int_equal(fr_found(r, WG_F_WAIT_REPLACED), 1);
    }
    /* With B1 in the mask it is caught by both; a wait met in the same cycle is not lost. */
    fr_busy(r, WG_UNIT_PACK, 0, 1, true);
    fr_push(r, 1, I_STALLWAIT(WG_B0 | WG_B1, 1u << condition_bit(r, WG_WAIT_PACK0)));
    fr_push(r, 1, I_SEMWAIT(WG_B1, 1, 1));
    fr_push(r, 2, I_STALLWAIT(WG_B0, 1));
    fr_push(r, 2, I_SEMWAIT(WG_B1, 1, 1));
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 1, 1), WG_NEVER);
    assert_int_equal(fr_found(r, WG_F_WAIT_REPLACED), is_bh(r) ? 0 : 1);
    fr_free(r);
}

static void test_release_needs_all_at_once(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    unsigned both = 1u << condition_bit(r, WG_WAIT_UNPACK0) | 1u << condition_bit(r, WG_WAIT_UNPACK1);
    fr_busy(r, WG_UNIT_UNPACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(0x1FF, both));
    fr_push(r, 0, I_NOP);
    fr_run(r, 10);
    for (unsigned i = 0; i < 10; i++) { /* always one of the two, never neither */
        fr_busy(r, WG_UNIT_UNPACK, !(i & 1), 0, true);
        fr_busy(r, WG_UNIT_UNPACK, i & 1, 0, false);
        fr_run(r, 3);
    }
    assert_int_equal(fr_issued(r, 0, 1), WG_NEVER);
    fr_busy(r, WG_UNIT_UNPACK, 0, 0, false);
    fr_busy(r, WG_UNIT_UNPACK, 1, 0, false);
    fr_run(r, 1);
    assert_int_equal(fr_issued(r, 0, 1), WG_NEVER); /* one cycle between met and lifted */
    fr_run(r, 1);
    assert_int_equal(fr_issued(r, 0, 1), 41);
    fr_free(r);
}

static void test_spent_condition_releases(void **state)
{
    /*
     * Met for one cycle only, with nothing at the gate: that is enough. The sketch's inverted test would let the
     * blocked instruction pass and hold the unblocked one.
     */
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_MATRIX, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B6, 1u << condition_bit(r, WG_WAIT_MATRIX)));
    fr_push(r, 0, I_VECTOR); /* not blocked: passes while it waits */
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    fr_busy(r, WG_UNIT_MATRIX, 0, 0, false);
    fr_run(r, 1);
    assert_int_equal(fr_event(r, WG_EV_RELEASED, -1, 0)->cycle, FR_START + 20);
    fr_busy(r, WG_UNIT_MATRIX, 0, 0, true);
    fr_push(r, 0, I_MATRIX);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), 21 + 3);
    fr_free(r);
}

static void test_unblocked_passes_blocked_stops_all(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B2, 1u << condition_bit(r, WG_WAIT_PACK0)));
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_MISC);
    fr_push(r, 0, I_PACK);
    fr_push(r, 0, I_VECTOR);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_issued(r, 0, 2), 5);
    assert_int_equal(fr_issued(r, 0, 3), WG_NEVER);
    assert_int_equal(fr_issued(r, 0, 4), WG_NEVER);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 3), 41);
    assert_int_equal(fr_issued(r, 0, 4), 42);
    fr_free(r);
}

/* ---- Block bits ------------------------------------------------------------------------------------- */

/* The block table of STALLWAIT.md by unit, and its exceptions. */
static unsigned expected_block(wg_arch_id arch, const wg_isa_insn *i)
{
    if (i->id == WG_I_STALLWAIT || i->id == WG_I_STREAMWAIT || (i->id == WG_I_SEMWAIT && arch == WG_ARCH_BH))
        return 0x1FF;
    switch (i->unit) {
    case WG_UNIT_SYNC: return 1u << 1;
    case WG_UNIT_UNPACK: return 1u << 0 | 1u << 3;
    case WG_UNIT_MATRIX: return 1u << 6;
    case WG_UNIT_PACK: return 1u << 0 | 1u << 2;
    case WG_UNIT_VECTOR: return 1u << 8;
    case WG_UNIT_SCALAR: return 1u << 0 | 1u << 5;
    case WG_UNIT_CONFIG: return 1u << 7;
    case WG_UNIT_MOVER: return 1u << 0 | 1u << 4;
    case WG_UNIT_MISC: return 1u << 0;
    default: return 0;
    }
}

static void test_block_table(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *record = wg_isa_by_opcode(arch, (uint8_t)opcode);
        if (record->unit == WG_UNIT_FRONTEND || record->unit == WG_UNIT_INVALID)
            continue;
        unsigned want = expected_block(arch, record);
        for (unsigned bit = 0; bit < 10; bit++) {
            unsigned mask = bit < 9 ? 1u << bit : 0x1FF;
            fr *r = fr_new(arch);
            fr_busy(r, WG_UNIT_SCALAR, 0, 0, true);
            r->t->backend.sync.mutex[0] = 0;
            fr_push(r, 0, I_STALLWAIT(mask, 1));
            fr_push(r, 0, (uint32_t)opcode << 24);
            fr_run(r, 8);
            bool caught = fr_issued(r, 0, 1) == WG_NEVER;
            bool should = bit < 9 ? (want >> bit & 1) : true;
            if (caught != should)
                fail_msg("%s is %scaught by mask 0x%x", record->name, caught ? "" : "not ", mask);
            fr_free(r);
        }
    }
}

static void test_nop_needs_all_nine(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++)
        fr_busy(r, WG_UNIT_SCALAR, 0, thread, true);
    fr_push(r, 0, I_STALLWAIT(0x1FF, 1));
    fr_push(r, 0, I_NOP);
    fr_push(r, 1, I_STALLWAIT(0x0FF, 1));
    fr_push(r, 1, I_NOP);
    fr_push(r, 2, I_STALLWAIT(0x1FF, 1));
    fr_push(r, 2, 0xFF000000); /* an undefined instruction: like NOP */
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 1), WG_NEVER);
    assert_int_equal(fr_issued(r, 1, 1), 5); /* the slot takes one wait per cycle: thread 1's in 4 */
    assert_int_equal(fr_issued(r, 2, 1), WG_NEVER);
    fr_free(r);
}

static void test_defaults(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    /* Block mask 0: B6. */
    fr_busy(r, WG_UNIT_SCALAR, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(0, 1));
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_MATRIX);
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_issued(r, 0, 2), WG_NEVER);
    /* Condition mask 0: Scalar Unit, both unpackers, every packer. */
    uint16_t all = is_bh(r) ? 0x0F : 0x7F;
    fr_push(r, 1, I_STALLWAIT(0x1FF, 0));
    fr_run(r, 5);
    assert_int_equal(fr_event(r, WG_EV_LATCHED, WG_AGENT_THREAD1, 0)->word, I_STALLWAIT(0x1FF, 0));
    fr_busy(r, WG_UNIT_UNPACK, 1, 2, true);
    fr_push(r, 2, I_STALLWAIT(0x1FF, 0));
    fr_push(r, 2, I_NOP);
    fr_run(r, 10);
    assert_int_equal(r->t->frontend[2].latch.conditions, all);
    assert_int_equal(fr_issued(r, 2, 1), WG_NEVER);
    fr_busy(r, WG_UNIT_UNPACK, 1, 2, false);
    fr_run(r, 10);
    assert_int_not_equal(fr_issued(r, 2, 1), WG_NEVER);
    /* SEMWAIT without a condition: the same mask, and reported. */
    fr_busy(r, WG_UNIT_PACK, is_bh(r) ? 0 : 3, 2, true);
    fr_push(r, 2, I_SEMWAIT(0, 0xFF, 0));
    fr_run(r, 10);
    assert_int_equal(r->t->frontend[2].latch.kind, WG_LATCH_STALLWAIT);
    assert_int_equal(r->t->frontend[2].latch.conditions, all);
    assert_int_equal(r->t->frontend[2].latch.block, WG_B6);
    assert_int_equal(fr_found(r, WG_F_SEMWAIT_NO_CONDITION), 1);
    fr_free(r);
}

/* ---- Conditions ------------------------------------------------------------------------------------- */

static void test_unit_conditions(void **state)
{
    static const struct {
        wg_wait_condition condition;
        wg_unit unit;
        unsigned part;
        bool any_thread;
    } rows[] = {{WG_WAIT_SCALAR_MEMORY, WG_UNIT_SCALAR, 0, false}, {WG_WAIT_UNPACK0, WG_UNIT_UNPACK, 0, false},
                {WG_WAIT_UNPACK1, WG_UNIT_UNPACK, 1, false},       {WG_WAIT_PACK0, WG_UNIT_PACK, 0, false},
                {WG_WAIT_PACK1, WG_UNIT_PACK, 1, false},           {WG_WAIT_PACK2, WG_UNIT_PACK, 2, false},
                {WG_WAIT_PACK3, WG_UNIT_PACK, 3, false},           {WG_WAIT_MATRIX, WG_UNIT_MATRIX, 0, false},
                {WG_WAIT_MOVER, WG_UNIT_MOVER, 0, true},           {WG_WAIT_VECTOR, WG_UNIT_VECTOR, 0, false},
                {WG_WAIT_CONFIG, WG_UNIT_CONFIG, 0, true}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned who = 0; who < 2; who++) { /* the thread itself, then another one */
            fr *r = fr_new(wg_test_arch(state));
            if (condition_bit(r, rows[i].condition) >= 0) {
                fr_busy(r, rows[i].unit, rows[i].part, 1 + who, true);
                push_wait(r, 1, rows[i].condition);
                fr_run(r, 30);
                bool waits = fr_issued(r, 1, 1) == WG_NEVER;
                if (waits != (who == 0 || rows[i].any_thread))
                    fail_msg("condition %u, thread %u", (unsigned)rows[i].condition, 1 + who);
                if (waits) {
                    wg_gate_info info;
                    wg_gate_state(r->t, 1, &info);
                    assert_int_equal(info.unmet, 1u << condition_bit(r, rows[i].condition));
                    assert_int_equal(info.stall.reason, WG_STALL_LATCHED_WAIT);
                    assert_int_equal(info.stall.resource, info.unmet);
                    fr_busy(r, rows[i].unit, rows[i].part, 1 + who, false);
                    fr_run(r, 5);
                    assert_int_equal(fr_issued(r, 1, 1), 31);
                }
            }
            fr_free(r);
        }
    }
}

static void test_condition_sees_real_occupancy(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_MATRIX].latency = 10;
    fr_push(r, 0, I_MATRIX); /* 3, done in 13 */
    fr_push(r, 0, I_STALLWAIT(0x1FF, 1u << condition_bit(r, WG_WAIT_MATRIX)));
    fr_push(r, 0, I_NOP);
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 2), 14); /* B and D of 13 see it done; the block lifts in 14 */
    fr_free(r);
}

static void test_open_unit_prolongs(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_VECTOR].latency = 10;
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_STALLWAIT(WG_B6, 1u << condition_bit(r, WG_WAIT_VECTOR))); /* B8 is open */
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_MATRIX);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 3), 6);
    assert_int_equal(fr_issued(r, 0, 4), 17); /* the last one is done in 16 */
    assert_int_equal(r->dev.findings, 0);
    fr_free(r);
}

static void test_later_requests_of_others_prolong(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_MOVER].latency = r->unit[WG_UNIT_CONFIG].latency = 10;
    fr_push(r, 1, I_MOVER);
    push_wait(r, 0, WG_WAIT_MOVER);
    r->offer_from = FR_START + 8;
    fr_push(r, 2, I_MOVER); /* passes in 11 */
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 1), 22);
    if (is_bh(r)) {
        r->offer_from = FR_START + 40;
        fr_push(r, 1, I_CONFIG); /* 43 */
        push_wait(r, 0, WG_WAIT_CONFIG);
        r->offer_from = FR_START + 48;
        fr_push(r, 2, I_CONFIG); /* 51 */
        fr_run(r, 40);
        assert_int_equal(fr_issued(r, 0, 3), 62);
    }
    fr_free(r);
}

static void end_srca_unpackers(fr *r)
{
    r->t->regs.src.owner_a[1] = WG_SRC_UNPACKERS;
    wg_wake_threads(&r->t->sched);
}
static void end_srcb_unpackers(fr *r)
{
    r->t->regs.src.owner_b[0] = WG_SRC_UNPACKERS;
    wg_wake_threads(&r->t->sched);
}
static void end_srca_matrix(fr *r)
{
    r->t->regs.src.owner_a[1] = WG_SRC_MATRIX;
    wg_wake_threads(&r->t->sched);
}
static void end_srcb_matrix(fr *r)
{
    r->t->regs.src.owner_b[1] = WG_SRC_MATRIX;
    wg_wake_threads(&r->t->sched);
}

static void test_source_banks(void **state)
{
    /* At reset every bank is the unpackers' and every pointer is 0: waiting for the unpackers costs one bubble. */
    fr *r = fr_new(wg_test_arch(state));
    push_wait(r, 0, WG_WAIT_SRCA_UNPACKERS);
    push_wait(r, 1, WG_WAIT_SRCB_UNPACKERS);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 1), 5);
    assert_int_equal(fr_issued(r, 1, 1), 6);
    for (unsigned bank = 0; bank < 2; bank++) {
        assert_int_equal(r->t->regs.src.owner_a[bank], WG_SRC_UNPACKERS);
        assert_int_equal(r->t->regs.src.owner_b[bank], WG_SRC_UNPACKERS);
    }
    assert_int_equal(r->t->regs.src.matrix_bank_a | r->t->regs.src.matrix_bank_b | r->t->regs.src.unpack_bank_a |
                         r->t->regs.src.unpack_bank_b,
                     0);
    fr_free(r);

    r = fr_new(wg_test_arch(state));
    r->t->regs.src.unpack_bank_a = 1;
    r->t->regs.src.owner_a[1] = WG_SRC_MATRIX;
    push_wait(r, 0, WG_WAIT_SRCA_UNPACKERS);
    expect_held_until_ended(r, 0, end_srca_unpackers);
    fr_free(r);

    r = fr_new(wg_test_arch(state));
    r->t->regs.src.owner_b[0] = WG_SRC_MATRIX;
    push_wait(r, 1, WG_WAIT_SRCB_UNPACKERS);
    expect_held_until_ended(r, 1, end_srcb_unpackers);
    fr_free(r);

    r = fr_new(wg_test_arch(state));
    r->t->regs.src.matrix_bank_a = 1;
    r->t->regs.src.owner_a[0] = WG_SRC_MATRIX;
    push_wait(r, 2, WG_WAIT_SRCA_MATRIX);
    expect_held_until_ended(r, 2, end_srca_matrix);
    fr_free(r);

    r = fr_new(wg_test_arch(state));
    r->t->regs.src.matrix_bank_b = 1;
    push_wait(r, 0, WG_WAIT_SRCB_MATRIX);
    expect_held_until_ended(r, 0, end_srcb_matrix);
    fr_free(r);
}

static void process_gpr(fr *r) { wg_ttsync_note_processed(r->t, WG_CORE_T1, WG_PATH_GPR, 0xFFE00000, true); }

static void test_riscv_requests(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    wg_ttsync_note_emitted(r->t, WG_CORE_T1, WG_PATH_GPR, 0xFFE00000, true);
    push_wait(r, 1, WG_WAIT_RISCV_REQUESTS);
    push_wait(r, 0, WG_WAIT_RISCV_REQUESTS); /* of its own core only */
    expect_held_until_ended(r, 1, process_gpr);
    assert_int_equal(fr_issued(r, 0, 1), 5);
    static const wg_path paths[] = {WG_PATH_GPR, WG_PATH_CONFIG, WG_PATH_TDMA};
    for (unsigned i = 0; i < 3; i++) {
        wg_ttsync_note_emitted(r->t, WG_CORE_T2, paths[i], 0, false);
        assert_true(wg_ttsync_requests_pending(r->t, 2));
        wg_ttsync_note_processed(r->t, WG_CORE_T2, paths[i], 0, false);
        assert_false(wg_ttsync_requests_pending(r->t, 2));
    }
    wg_ttsync_note_emitted(r->t, WG_CORE_T2, WG_PATH_L1, 0, true);
    wg_ttsync_note_emitted(r->t, WG_CORE_B, WG_PATH_GPR, 0, true);
    for (unsigned thread = 0; thread < 3; thread++)
        assert_false(wg_ttsync_requests_pending(r->t, thread));
    fr_free(r);
}

static void test_semwait(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_SEMINIT(2, 0, 3));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 3, 3)); /* semaphores 0 and 1: not zero and below 2, both at once */
    fr_push(r, 0, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), WG_NEVER);
    fr_push(r, 1, I_SEMPOST(1));
    fr_run(r, 10);
    fr_push(r, 1, I_SEMPOST(3)); /* 2 (max) and 1 */
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), WG_NEVER);
    wg_gate_info info;
    wg_gate_state(r->t, 0, &info);
    assert_int_equal(info.unmet, 1);
    r->offer_from = FR_START + 30;
    fr_push(r, 2, I_SEMGET(1)); /* accepted in 33 */
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 2, 0), 33);
    assert_int_equal(fr_issued(r, 0, 2), 35); /* seen by D in 34, unblocks in 35 */
    /* SEMINIT releases too, and so does a core's store. */
    r->offer_from = FR_START + 40;
    fr_push(r, 0, I_SEMINIT(4, 0, 8));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 8, 1));
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_SEMINIT(4, 0, 8));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 8, 1));
    fr_push(r, 0, I_NOP);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 5), WG_NEVER);
    r->offer_from = FR_START + 60;
    fr_push(r, 1, I_SEMINIT(4, 1, 8));
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 5), 65);
    assert_int_equal(fr_issued(r, 0, 8), WG_NEVER);
    wg_stall why;
    r->t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(wg_sync_core_write(r->t, WG_CORE_T2, 3, 0, &why), WG_REGION_DONE); /* post in 80 */
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 8), 82);
    /* No STALLWAIT condition sees a semaphore. */
    fr_push(r, 1, I_SEMINIT(1, 0, 0xFF));
    fr_push(r, 1, I_STALLWAIT(0x1FF, is_bh(r) ? 0x0E1F : 0x40FF));
    fr_push(r, 1, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD1), 6);
    fr_free(r);
}

static void test_streamwait(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    uint16_t *cfg = r->t->regs.config.thread[0];
    wg_tcfg_insert(&wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_STREAM_ID_SYNC_SEC2_BankSel], cfg, 17);
    wg_tcfg_insert(&wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_STREAMWAIT_PHASE_HI_Val], cfg, 3);
    wg_tcfg_insert(&wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_STREAMWAIT_NUM_MSGS_HI_Val], cfg, 5);
    fr_push(r, 0, I_STREAMWAIT(0, 100, 0, 2)); /* B6; phase of stream 17 below 3 << 10 | 100 */
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_MATRIX);
    wg_overlay_stream_write(r->t, 17, WG_STREAM_CURR_PHASE, (3 << 10) + 99);
    fr_run(r, 10);
    /* The high bits were taken when it latched. */
    wg_tcfg_insert(&wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_STREAMWAIT_PHASE_HI_Val], cfg, 0);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_issued(r, 0, 2), WG_NEVER);
    wg_overlay_stream_write(r->t, 17, WG_STREAM_CURR_PHASE, (3 << 10) + 100);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), 31);
    r->offer_from = FR_START + 40;
    fr_push(r, 0, I_STREAMWAIT(0x1FF, 7, 1, 2)); /* messages received */
    fr_push(r, 0, I_NOP);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 4), WG_NEVER);
    wg_overlay_stream_write(r->t, 16, WG_STREAM_NUM_MSGS_RECEIVED, 0xFFFF);
    wg_overlay_stream_write(r->t, 17, WG_STREAM_NUM_MSGS_RECEIVED, (5 << 10) + 6);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 4), WG_NEVER);
    wg_overlay_stream_write(r->t, 17, WG_STREAM_NUM_MSGS_RECEIVED, (5 << 10) + 7);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 4), 71);
    fr_free(r);
}

static void test_streamwait_is_bh_only(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_STREAMWAIT(0x1FF, 7, 1, 2));
    fr_push(r, 0, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_found(r, WG_F_INVALID_OPCODE), 1);
    fr_free(r);
}

/* ---- Reasons ---------------------------------------------------------------------------------------- */

static const wg_event *last_stall(const fr *r, unsigned thread)
{
    int agent = (int)(WG_AGENT_THREAD0 + thread);
    unsigned n = fr_event_count(r, WG_EV_STALL_BEGIN, agent);
    return n ? fr_event(r, WG_EV_STALL_BEGIN, agent, n - 1) : NULL;
}

static void test_reasons(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_PACK].refuses = true;
    fr_push(r, 0, I_PACK);
    fr_run(r, 10);
    assert_int_equal(last_stall(r, 0)->stall.reason, WG_STALL_UNIT_BUSY);
    assert_int_equal(last_stall(r, 0)->stall.holder, WG_AGENT_PACK);
    assert_int_equal(last_stall(r, 0)->stall.resource, WG_UNIT_PACK);

    fr_push(r, 1, I_SCALAR); /* its unit then holds the whole thread */
    fr_hold(r, WG_UNIT_SCALAR, 1, true, WG_STALL_SCALAR_EXECUTING);
    fr_push(r, 1, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD1), 1);
    assert_int_equal(last_stall(r, 1)->stall.reason, WG_STALL_SCALAR_EXECUTING);
    assert_int_equal(last_stall(r, 1)->stall.holder, WG_AGENT_SCALAR);
    fr_hold(r, WG_UNIT_SCALAR, 1, false, WG_STALL_NONE);
    fr_run(r, 2);
    assert_int_equal(fr_issued(r, 1, 1), 20);
    fr_push(r, 1, I_UNPACK);
    fr_hold(r, WG_UNIT_UNPACK, 1, true, WG_STALL_UNPACK_ADDRESS_PHASE);
    fr_push(r, 1, I_NOP);
    fr_run(r, 10);
    assert_int_equal(last_stall(r, 1)->stall.reason, WG_STALL_UNPACK_ADDRESS_PHASE);
    assert_int_equal(last_stall(r, 1)->stall.holder, WG_AGENT_UNPACK0);

    r->t->backend.sync.mutex[2] = 2; /* thread 1's */
    fr_push(r, 2, I_ATGETM(2));
    fr_run(r, 10);
    assert_int_equal(last_stall(r, 2)->stall.reason, WG_STALL_MUTEX_HELD);
    assert_int_equal(last_stall(r, 2)->stall.resource, 2);
    assert_int_equal(last_stall(r, 2)->stall.holder, WG_AGENT_THREAD1);
    wg_gate_info info;
    wg_gate_state(r->t, 2, &info);
    assert_true(info.has_head);
    assert_int_equal(info.head.word, I_ATGETM(2));
    assert_int_equal(info.stall.reason, WG_STALL_MUTEX_HELD);
    /* Each reason has its own text. */
    for (unsigned a = 0; a < WG_STALL_COUNT; a++)
        for (unsigned b = a + 1; b < WG_STALL_COUNT; b++)
            assert_string_not_equal(wg_stall_text(a), wg_stall_text(b));
    fr_free(r);
}

static void test_reason_changes_are_events(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    r->unit[WG_UNIT_VECTOR].refuses = true;
    fr_push(r, 0, I_STALLWAIT(WG_B8, 1u << condition_bit(r, WG_WAIT_PACK0)));
    fr_push(r, 0, I_VECTOR);
    fr_run(r, 20);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 20);
    r->unit[WG_UNIT_VECTOR].refuses = false;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 5);
    assert_int_equal(fr_event_count(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0), 2);
    assert_int_equal(fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0)->stall.reason, WG_STALL_LATCHED_WAIT);
    const wg_event *second = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 1);
    assert_int_equal(second->stall.reason, WG_STALL_UNIT_BUSY);
    assert_int_equal(second->cycle, FR_START + 21);
    const wg_event *end = fr_event(r, WG_EV_STALL_END, WG_AGENT_THREAD0, 1);
    assert_int_equal(end->cycle, FR_START + 40);
    assert_int_equal(end->a, FR_START + 21);
    fr_free(r);
}

/* After a wait for room, 320 (B6, B8) lets the SEMPOST pass and exceed the maximum; 322 (B1, B6, B8) holds it. */
static void test_both_masks_of_pattern_4(void **state)
{
    for (unsigned with_b1 = 0; with_b1 < 2; with_b1++) {
        fr *r = fr_new(wg_test_arch(state));
        fr_push(r, 0, I_SEMINIT(1, 1, 1u << 1));
        fr_push(r, 0, I_SEMWAIT(with_b1 ? 322 : 320, 1u << 1, 2));
        fr_push(r, 0, I_SEMPOST(1u << 1));
        fr_run(r, 20);
        assert_int_equal(r->t->backend.sync.value[1], with_b1 ? 1 : 2);
        assert_int_equal(fr_issued(r, 0, 2) == WG_NEVER, with_b1);
        fr_push(r, 1, I_SEMGET(1u << 1));
        fr_run(r, 20);
        assert_int_equal(r->t->backend.sync.value[1], 1);
        assert_int_not_equal(fr_issued(r, 0, 2), WG_NEVER);
        fr_free(r);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_encoding, WG_BH | WG_WH, "GATE-01", "STALLWAIT:value SEMWAIT:value"),
    WG_COVERS(test_met_wait_costs_one_bubble, WG_BH | WG_WH, "GATE-03 GATE-04", "STALLWAIT:timing NOP:value"),
    WG_TEST(test_waits_queue_behind_the_latch, WG_BH | WG_WH, "GATE-02"),
    WG_TEST(test_semwait_and_the_latch, WG_BH | WG_WH, "GATE-02 GATE-08"),
    WG_TEST(test_release_needs_all_at_once, WG_BH | WG_WH, "GATE-04"),
    WG_TEST(test_spent_condition_releases, WG_BH | WG_WH, "GATE-04 GATE-26"),
    WG_TEST(test_unblocked_passes_blocked_stops_all, WG_BH | WG_WH, "GATE-05 GATE-06"),
    WG_TEST(test_block_table, WG_BH | WG_WH, "GATE-07 GATE-08"),
    WG_TEST(test_nop_needs_all_nine, WG_BH | WG_WH, "GATE-08"),
    WG_TEST(test_defaults, WG_BH | WG_WH, "GATE-09"),
    WG_TEST(test_unit_conditions, WG_BH | WG_WH, "GATE-10 GATE-11 GATE-12 GATE-13 GATE-16 GATE-18 GATE-19 GATE-27"),
    WG_TEST(test_condition_sees_real_occupancy, WG_BH | WG_WH, "GATE-13"),
    WG_TEST(test_open_unit_prolongs, WG_BH | WG_WH, "GATE-30"),
    WG_TEST(test_later_requests_of_others_prolong, WG_BH | WG_WH, "GATE-16 GATE-19"),
    WG_TEST(test_source_banks, WG_BH | WG_WH, "GATE-14 GATE-15 GATE-29"),
    WG_TEST(test_riscv_requests, WG_BH | WG_WH, "GATE-17"),
    WG_COVERS(test_semwait, WG_BH | WG_WH, "GATE-20 SEM-11", "SEMWAIT:timing SEMWAIT:value"),
    WG_TEST(test_both_masks_of_pattern_4, WG_BH | WG_WH, "GATE-31"),
    WG_COVERS(test_streamwait, WG_BH, "GATE-25", "STREAMWAIT:value STREAMWAIT:timing"),
    WG_TEST(test_streamwait_is_bh_only, WG_WH, "GATE-08"),
    WG_TEST(test_reasons, WG_BH | WG_WH, "GATE-21"),
    WG_TEST(test_reason_changes_are_events, WG_BH | WG_WH, "GATE-21"),
};
WG_MAIN("gate", tests)
