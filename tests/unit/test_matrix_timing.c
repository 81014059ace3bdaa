/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Unit in time: latencies, issue gaps, the Dst blocks that may not be read, when results and bank flips
 * become visible. Numbers: MatrixUnit.md and the instructions' "Instruction scheduling"; the timing table.
 */
#include "matrix_rig.h"

enum {
    MOVD2A = 0x08000000,
    MOVDBGA2D = 0x09000000,
    MOVD2B = 0x0A000000,
    MOVB2A = 0x0B000000,
    MOVDBGB2D = 0x0C000000,
    ZEROACC = 0x10000000,
    ZEROSRC = 0x11000000,
    MOVA2D = 0x12000000,
    MOVB2D = 0x13000000,
    TRNSPSRCA = 0x14000000,
    TRNSPSRCB = 0x16000000,
    SHIFTXA = 0x17000002,
    SHIFTXB = 0x18000000,
    CLREXPHIST = 0x21000000,
    CONV3S1 = 0x22000000,
    CONV3S2 = 0x23000000,
    MPOOL3S1 = 0x24000000,
    APOOL3S1 = 0x25000000,
    MVMUL = 0x26000000,
    ELWMUL = 0x27000000,
    ELWADD = 0x28000000,
    DOTPV = 0x29000000,
    ELWSUB = 0x30000000,
    MPOOL3S2 = 0x31000000,
    APOOL3S2 = 0x32000000,
    GMPOOL = 0x33000000,
    GAPOOL = 0x34000000,
    GATESRCRST = 0x35000000,
    CLEARDVALID = 0x36000000,
    RAREB = 0x15000000,
    SETASHRMH0 = 0x1A000000,
    SETASHRMH1 = 0x1B000000,
    SETASHRMV = 0x1C000000,
    SETPKEDGOF = 0x1D000000,
    SETASHRMH = 0x1E000000,
    SETIBRWC = 0x39000000,
    SETRWC = 0x37000000,
    INCRWC = 0x38000000,
    MFCONV3S1 = 0x3A000000,
    ADDS = 1 << 21,
    MOVE_MANY = 1 << 13
};

static mrig *ready(void **state)
{
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_formats(r, WG_FMT_BF16, WG_FMT_BF16);
    mrig_own(r);
    return r;
}

static void test_latencies(void **state)
{
    static const struct {
        uint32_t word;
        unsigned cycles;
    } cases[] = {
        {MVMUL, 5},      {DOTPV, 5},     {GAPOOL, 5},    {ELWMUL, 5},    {GMPOOL, 5},      {ELWADD, 5},
        {ELWSUB, 5},     {CONV3S1, 5},   {CONV3S2, 5},   {MFCONV3S1, 5}, {APOOL3S1, 5},    {APOOL3S2, 5},
        {MPOOL3S1, 5},   {MPOOL3S2, 5},  {SETRWC, 1},    {INCRWC, 1},    {CLEARDVALID, 1}, {CLREXPHIST, 1},
        {GATESRCRST, 1}, {SHIFTXA, 1},   {ZEROACC, 1},   {ZEROSRC, 1},   {TRNSPSRCA, 1},   {TRNSPSRCB, 1},
        {SHIFTXB, 2},    {MOVD2A, 2},    {MOVA2D, 4},    {MOVDBGA2D, 4}, {MOVB2D, 4},      {MOVB2A, 4},
        {MOVD2B, 4},     {MOVDBGB2D, 4}, {SETIBRWC, 1},  {RAREB, 1},     {SETPKEDGOF, 1},  {SETASHRMH0, 1},
        {SETASHRMH1, 1}, {SETASHRMV, 1}, {SETASHRMH, 1},
    };
    mrig *r = ready(state);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (wg_test_arch(state) == WG_ARCH_WH && cases[i].word == MOVDBGB2D)
            continue;
        mrig_own(r);
        assert_false(wg_matrix_unit.busy(r->t, 0));
        uint64_t from = mrig_issue(r, 0, cases[i].word);
        for (unsigned k = 1; k < cases[i].cycles; k++) {
            mrig_cycle(r);
            assert_true(wg_matrix_unit.busy(r->t, 0));
            assert_false(wg_matrix_unit.busy(r->t, 1));
        }
        mrig_cycle(r);
        if (wg_matrix_unit.busy(r->t, 0) || r->t->sched.now - from != cases[i].cycles)
            fail_msg("%08x: not %u cycles", cases[i].word, cases[i].cycles);
    }
    mrig_free(r);
}

/* The cycles between two instructions at the gate. */
static unsigned distance(void **state, uint32_t first, uint32_t second)
{
    mrig *r = ready(state);
    uint64_t from = mrig_issue(r, 0, first);
    mrig_cycle(r);
    uint64_t to = mrig_issue(r, 0, second);
    if (to - from > 1)
        assert_int_equal(r->stall.retry_at, to); /* the refusal predicted this cycle */
    mrig_free(r);
    return (unsigned)(to - from);
}

static void test_issue_gaps(void **state)
{
    /* MOVD2A, MOVB2A: in the next cycle only the other of the two is accepted. */
    for (unsigned i = 0; i < 2; i++) {
        uint32_t move = i ? MOVB2A : MOVD2A;
        assert_int_equal(distance(state, move, MOVD2A), 1);
        assert_int_equal(distance(state, move, MOVB2A), 1);
        assert_int_equal(distance(state, move, MVMUL), 2);
        assert_int_equal(distance(state, move, SETRWC), 2);
        assert_int_equal(distance(state, move, MOVD2B), 2);
    }
    /* MOVD2B: for three cycles only another MOVD2B is accepted. */
    assert_int_equal(distance(state, MOVD2B, MOVD2B), 1);
    assert_int_equal(distance(state, MOVD2B, MOVD2A), 4);
    assert_int_equal(distance(state, MOVD2B, MVMUL), 4);
    assert_int_equal(distance(state, MOVD2B, INCRWC), 4);
    /* SHIFTXB: one every two cycles, and nothing in between. */
    assert_int_equal(distance(state, SHIFTXB, SHIFTXB), 2);
    assert_int_equal(distance(state, SHIFTXB, SETRWC), 2);
    /* MOVA2D, MOVB2D: the readers wait, wherever they read; the others do not. */
    static const uint32_t writers[] = {MOVA2D, MOVB2D, MOVDBGA2D};
    static const uint32_t readers[] = {MOVD2A | 512,   MOVD2B | 512,   ELWMUL | 512,   MVMUL | 512,   DOTPV | 512,
                                       GMPOOL | 512,   GAPOOL | 512,   CONV3S1 | 512,  CONV3S2 | 512, MFCONV3S1 | 512,
                                       MPOOL3S1 | 512, MPOOL3S2 | 512, APOOL3S1 | 512, APOOL3S2 | 512};
    static const uint32_t others[] = {MOVA2D,       MOVB2D, MOVB2A,  ELWADD | 512, ELWADD | ADDS | 512,
                                      ELWSUB | 512, SETRWC, ZEROACC, SHIFTXA,      TRNSPSRCB};
    for (unsigned w = 0; w < 3; w++) {
        for (unsigned i = 0; i < sizeof readers / sizeof *readers; i++)
            assert_int_equal(distance(state, writers[w], readers[i]), 4);
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
            assert_int_equal(distance(state, writers[w], others[i]), 1);
    }
}

static void test_gap_is_named(void **state)
{
    mrig *r = ready(state);
    mrig_issue(r, 0, MOVD2B);
    mrig_cycle(r);
    assert_false(mrig_offer(r, 1, MVMUL)); /* of any thread */
    assert_int_equal(r->stall.reason, WG_STALL_MATRIX_ISSUE_GAP);
    assert_int_equal(r->stall.holder, WG_AGENT_MATRIX);
    assert_int_equal(r->stall.retry_at, 104);
    mrig_free(r);
}

/*
 * A thread that waits for a bank or a block of Dst is not checked every cycle: a gap that opens meanwhile is not named.
 */
static void test_gap_comes_last(void **state)
{
    mrig *r = ready(state);
    mrig_issue(r, 0, MVMUL | 64);
    mrig_cycle(r);
    mrig_issue(r, 0, MOVD2B);
    mrig_cycle(r);
    assert_false(mrig_offer(r, 1, MVMUL | 64));
    assert_int_equal(r->stall.reason, WG_STALL_DST_BLOCK_WRITTEN);
    r->t->regs.src.owner_b[0] = WG_SRC_UNPACKERS;
    assert_false(mrig_offer(r, 1, MVMUL | 64));
    assert_int_equal(r->stall.reason, WG_STALL_SRCB_NOT_HANDED_OVER);
    r->t->regs.src.owner_a[0] = WG_SRC_UNPACKERS;
    assert_false(mrig_offer(r, 1, MVMUL | 64));
    assert_int_equal(r->stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
    mrig_free(r);
}

static void test_one_per_cycle(void **state)
{
    mrig *r = ready(state);
    assert_true(mrig_offer(r, 0, MVMUL));
    assert_false(mrig_offer(r, 1, MVMUL | 64));
    assert_int_equal(r->stall.reason, WG_STALL_ARBITRATION);
    assert_int_equal(r->stall.holder, WG_AGENT_THREAD0);
    mrig_cycle(r);
    assert_true(mrig_offer(r, 1, MVMUL | 64));
    assert_true(wg_matrix_unit.busy(r->t, 0) && wg_matrix_unit.busy(r->t, 1) && !wg_matrix_unit.busy(r->t, 2));
    mrig_free(r);
}

/* A block that is being written cannot be read for four cycles; another block can. */
static void test_dst_block(void **state)
{
    static const uint32_t writers[] = {MVMUL,  DOTPV,         GAPOOL,  ELWMUL,   GMPOOL,
                                       ELWADD, ELWSUB | ADDS, CONV3S1, APOOL3S2, MPOOL3S1};
    static const uint32_t readers[] = {MVMUL,         DOTPV,         GAPOOL, ELWMUL, GMPOOL,
                                       ELWADD | ADDS, ELWSUB | ADDS, MOVD2A, MOVD2B};
    for (unsigned w = 0; w < sizeof writers / sizeof *writers; w++)
        for (unsigned i = 0; i < sizeof readers / sizeof *readers; i++) {
            assert_int_equal(distance(state, writers[w], readers[i]), 5);
            assert_int_equal(distance(state, writers[w] | 8, readers[i]), 1);
        }
    /* Not reading Dst: no wait. */
    assert_int_equal(distance(state, MVMUL, ELWADD), 1);
    assert_int_equal(distance(state, MVMUL, MOVA2D), 1);
    assert_int_equal(distance(state, MVMUL, ZEROACC), 1);
    /* Five blocks keep the unit full; on one block a chain costs five cycles each, on silicon six. */
    for (unsigned profile = 0; profile < 2; profile++) {
        mrig *r = ready(state);
        r->t->timing = &r->t->arch->timing[profile];
        uint64_t start = mrig_issue(r, 0, MVMUL), last = start;
        for (unsigned i = 1; i <= 10; i++) {
            mrig_cycle(r);
            last = mrig_issue(r, 0, MVMUL);
            assert_int_equal(r->stall.reason, WG_STALL_DST_BLOCK_WRITTEN);
        }
        assert_int_equal(last - start, 10 * (profile == WG_PROFILE_SILICON ? 6 : 5));
        mrig_drain(r);
        start = last = mrig_issue(r, 0, MVMUL);
        unsigned blocks = 1u + r->t->timing->dst_block_cycles;
        for (unsigned i = 1; i <= 20; i++) {
            mrig_cycle(r);
            last = mrig_issue(r, 0, MVMUL | i % blocks * 8);
        }
        assert_int_equal(last - start, 20);
        mrig_free(r);
    }
}

/* On silicon ELWADD and ELWSUB wait for the block that they write, whether or not they add to it. */
static void test_writers_wait(void **state)
{
    static const uint32_t writers[] = {ELWADD, ELWSUB};
    for (unsigned i = 0; i < 2; i++) {
        mrig *r = ready(state);
        r->t->timing = &r->t->arch->timing[WG_PROFILE_SILICON];
        uint64_t start = mrig_issue(r, 0, MVMUL | 8);
        mrig_cycle(r);
        assert_int_equal(mrig_issue(r, 0, writers[i] | 16), start + 1);
        mrig_cycle(r);
        assert_int_equal(mrig_issue(r, 0, writers[i] | 8), start + 6);
        assert_int_equal(r->stall.reason, WG_STALL_DST_BLOCK_WRITTEN);
        mrig_cycle(r);
        assert_int_equal(mrig_issue(r, 0, writers[i] | 8), start + 12);
        mrig_cycle(r);
        assert_int_equal(mrig_issue(r, 0, MOVA2D | 8), start + 13);
        mrig_free(r);
    }
}

/*
 * On silicon an instruction that waits for a block of Dst is already in the unit: nothing of another thread enters
 * before it. One that waits for a bank is not. By the documents only the waiting thread is held up.
 */
static void test_waits_in_unit(void **state)
{
    for (unsigned profile = 0; profile < 2; profile++) {
        static const uint32_t others[] = {MVMUL | 8, ELWADD | 8, MOVA2D | 8, SETRWC};
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
            mrig *r = ready(state);
            r->t->timing = &r->t->arch->timing[profile];
            uint64_t ready = mrig_issue(r, 0, MVMUL) + 1 + r->t->timing->dst_block_cycles;
            mrig_cycle(r);
            assert_false(mrig_offer(r, 0, MVMUL));
            bool takes = mrig_offer(r, 1, others[i]);
            assert_int_equal(takes, profile == WG_PROFILE_DOCUMENTED);
            if (takes) {
                mrig_free(r);
                continue;
            }
            assert_int_equal(r->stall.reason, WG_STALL_ARBITRATION);
            assert_int_equal(r->stall.holder, WG_AGENT_THREAD0);
            assert_true(r->stall.retry_at == ready + 1);
            r->t->regs.src.owner_a[0] = WG_SRC_UNPACKERS;
            assert_false(mrig_offer(r, 2, MVMUL | 8));
            assert_int_equal(r->stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
            r->t->regs.src.owner_a[0] = WG_SRC_MATRIX;
            while (r->t->sched.now < ready)
                mrig_cycle(r);
            assert_false(mrig_offer(r, 1, others[i])); /* in whichever order they are asked */
            assert_true(mrig_offer(r, 0, MVMUL));
            assert_false(mrig_offer(r, 1, others[i]));
            mrig_cycle(r);
            assert_true(mrig_offer(r, 1, others[i]));
            mrig_free(r);
        }
    }
    /* An instruction that is no longer offered does not keep others out any longer. */
    mrig *r = ready(state);
    r->t->timing = &r->t->arch->timing[WG_PROFILE_SILICON];
    uint64_t at = mrig_issue(r, 0, MVMUL) + 7;
    mrig_cycle(r);
    assert_false(mrig_offer(r, 0, MVMUL));
    while (r->t->sched.now < at)
        mrig_cycle(r);
    assert_true(mrig_offer(r, 1, MVMUL | 8));
    mrig_free(r);
}

static void test_dst_block_for_packers(void **state)
{
    mrig *r = ready(state);
    assert_true(wg_dst_block_ready_at(r->t, 8) <= r->t->sched.now);
    uint64_t at = mrig_issue(r, 0, MVMUL | 8);
    assert_int_equal(wg_dst_block_ready_at(r->t, 8), at + 5);
    assert_int_equal(wg_dst_block_ready_at(r->t, 15), at + 5);
    assert_true(wg_dst_block_ready_at(r->t, 16) <= at);
    mrig_drain(r);
    /* In the 32-bit view a block lies in two. */
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, 1);
    at = mrig_issue(r, 0, MVMUL | 8);
    assert_int_equal(wg_dst_block_ready_at(r->t, 16), at + 5);
    assert_int_equal(wg_dst_block_ready_at(r->t, 31), at + 5);
    assert_true(wg_dst_block_ready_at(r->t, 32) <= at);
    wg_dst_block_written(r->t, 40, at + 9);
    assert_int_equal(wg_dst_block_ready_at(r->t, 47), at + 9);
    mrig_free(r);
}

/* Dst holds the old datums until the instruction completes. */
static void test_result_is_seen_at_completion(void **state)
{
    mrig *r = ready(state);
    mrig_fill(r, WG_SRCA, wg_src_from_fp32(mrig_bits(2.0f)));
    mrig_fill(r, WG_SRCB, wg_src_from_fp32(mrig_bits(3.0f)));
    uint64_t at = mrig_issue(r, 0, ELWADD);
    for (unsigned i = 1; i < 5; i++) {
        mrig_cycle(r);
        assert_int_equal(mrig_dst16(r, 0, 0), 0);
    }
    mrig_cycle(r);
    assert_int_equal(r->t->sched.now, at + 5);
    assert_true(mrig_dst_bf16(r, 0, 0) == 5.0f);
    /* Sources are read at once: later changes do not matter. */
    mrig_issue(r, 0, ELWADD | 8);
    mrig_fill(r, WG_SRCA, 0);
    mrig_drain(r);
    assert_true(mrig_dst_bf16(r, 8, 0) == 5.0f);
    /* A shorter instruction after it does not overtake it on the same block. */
    mrig_issue(r, 0, MVMUL | 16);
    mrig_cycle(r);
    uint64_t zeroacc = mrig_issue(r, 0, ZEROACC | 1 << 19 | 1);
    mrig_drain(r);
    assert_int_equal(r->t->sched.now, zeroacc + 4);
    assert_true(wg_dst_is_undefined(&r->t->regs.dst, 16));
    mrig_free(r);
}

/* Which instruction implicitly waits for which bank. */
static void test_waits_for_banks(void **state)
{
    static const struct {
        uint32_t word;
        unsigned waits; /* bit 0: SrcA, bit 1: SrcB */
    } cases[] = {
        {MVMUL, 3},      {DOTPV, 3},     {GAPOOL, 3},      {GMPOOL, 3},    {ELWADD, 3},     {ELWSUB, 3},
        {ELWMUL, 3},     {CONV3S1, 3},   {CONV3S2, 3},     {MFCONV3S1, 3}, {APOOL3S1, 3},   {APOOL3S2, 3},
        {MPOOL3S1, 3},   {MPOOL3S2, 3},  {MOVA2D, 1},      {MOVB2D, 2},    {MOVB2A, 2},     {SHIFTXA, 1},
        {SHIFTXB, 2},    {TRNSPSRCB, 2}, {TRNSPSRCA, 1},   {MOVD2A, 0},    {MOVD2B, 0},     {MOVDBGA2D, 0},
        {ZEROSRC, 0},    {SETRWC, 0},    {CLEARDVALID, 0}, {ZEROACC, 0},   {INCRWC, 0},     {CLREXPHIST, 0},
        {GATESRCRST, 0}, {SETIBRWC, 0},  {SETPKEDGOF, 0},  {RAREB, 2},     {SETASHRMH0, 1}, {SETASHRMH1, 1},
        {SETASHRMV, 1},  {SETASHRMH, 1},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned owned = 0; owned < 4; owned++) {
            mrig *r = ready(state);
            r->t->regs.src.owner_a[0] = owned & 1 ? WG_SRC_MATRIX : WG_SRC_UNPACKERS;
            r->t->regs.src.owner_b[0] = owned & 2 ? WG_SRC_MATRIX : WG_SRC_UNPACKERS;
            unsigned missing = cases[i].waits & ~owned;
            bool accepted = mrig_offer(r, 0, cases[i].word);
            if (accepted != !missing)
                fail_msg("%08x with banks %u", cases[i].word, owned);
            if (missing) {
                assert_int_equal(r->stall.reason,
                                 missing & 1 ? WG_STALL_SRCA_NOT_HANDED_OVER : WG_STALL_SRCB_NOT_HANDED_OVER);
                assert_int_equal(r->stall.holder, missing & 1 ? WG_AGENT_UNPACK0 : WG_AGENT_UNPACK1);
                assert_true(r->stall.retry_at == WG_NEVER);
            }
            mrig_free(r);
        }
}

/* Flips: the unit uses the other bank at once; everybody else sees them when the instruction completes. */
static void test_flips(void **state)
{
    mrig *r = ready(state);
    wg_src *s = &r->t->regs.src;
    uint64_t at = mrig_issue(r, 0, MVMUL | 3u << 22);
    for (unsigned i = 1; i < 5; i++) {
        mrig_cycle(r);
        assert_int_equal(s->matrix_bank_a | s->matrix_bank_b, 0);
        assert_int_equal(s->owner_a[0] & s->owner_b[0], WG_SRC_MATRIX);
    }
    mrig_cycle(r);
    assert_int_equal(r->t->sched.now, at + 5);
    assert_int_equal(s->matrix_bank_a & s->matrix_bank_b, 1);
    assert_int_equal(s->owner_a[0] | s->owner_b[0], WG_SRC_UNPACKERS);
    mrig_free(r);

    r = ready(state);
    s = &r->t->regs.src;
    mrig_fill(r, WG_SRCB, 0);
    for (unsigned j = 0; j < 16; j++) {
        mrig_put(r, WG_SRCA, 0, 0, j, wg_src_from_bf16(0x3F80)); /* 1 in bank 0 */
        mrig_put(r, WG_SRCA, 1, 0, j, wg_src_from_bf16(0x4000)); /* 2 in bank 1 */
    }
    mrig_issue(r, 0, ELWADD | 1u << 22);
    mrig_cycle(r);
    assert_true(mrig_offer(r, 0, ELWADD | 1u << 22 | 8)); /* uses bank 1 */
    mrig_cycle(r);
    /* Bank 0 again: apparently still the Matrix Unit's, but promised to the unpackers. */
    assert_int_equal(s->owner_a[0], WG_SRC_MATRIX);
    assert_false(mrig_offer(r, 0, ELWADD | 16));
    assert_int_equal(r->stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
    mrig_drain(r);
    assert_true(mrig_dst_bf16(r, 0, 3) == 1.0f && mrig_dst_bf16(r, 8, 3) == 2.0f);
    assert_int_equal(s->matrix_bank_a, 0);
    assert_int_equal(s->owner_a[0] | s->owner_a[1], WG_SRC_UNPACKERS);
    mrig_free(r);
}

/* Both at once: the next instruction uses the other bank of each. */
static void test_flip_of_both(void **state)
{
    mrig *r = ready(state);
    for (unsigned j = 0; j < 16; j++) {
        mrig_put(r, WG_SRCA, 1, 0, j, wg_src_from_bf16(0x4000)); /* 2 */
        mrig_put(r, WG_SRCB, 1, 0, j, wg_src_from_bf16(0x4080)); /* 4 */
    }
    mrig_issue(r, 0, ELWADD | 3u << 22);
    mrig_cycle(r);
    assert_true(mrig_offer(r, 0, ELWADD | 8));
    mrig_drain(r);
    assert_true(mrig_dst_bf16(r, 0, 0) == 0.0f && mrig_dst_bf16(r, 8, 0) == 6.0f);
    mrig_free(r);
}

static void test_flip_can_keep_the_bank(void **state)
{
    mrig *r = ready(state);
    mrig_tcfg(r, WG_TCFG_CLR_DVALID_SrcA_Disable, 1);
    mrig_run(r, SETRWC | 3u << 22);
    wg_src *s = &r->t->regs.src;
    assert_int_equal(s->matrix_bank_a & s->matrix_bank_b, 1);
    assert_int_equal(s->owner_a[0], WG_SRC_MATRIX); /* only the pointer moved */
    assert_int_equal(s->owner_b[0], WG_SRC_UNPACKERS);
    /* CLEARDVALID gives banks back whatever CLR_DVALID says, and can keep the pointer. */
    mrig_run(r, CLEARDVALID | 3u << 22 | 2);
    assert_int_equal(s->matrix_bank_a & s->matrix_bank_b, 1);
    assert_int_equal(s->owner_a[1] | s->owner_b[1], WG_SRC_UNPACKERS);
    mrig_own(r);
    mrig_run(r, CLEARDVALID | 1u << 22);
    assert_int_equal(s->matrix_bank_a, 0);
    assert_int_equal(s->matrix_bank_b, 1);
    assert_int_equal(s->owner_a[1], WG_SRC_UNPACKERS);
    assert_int_equal(s->owner_b[1], WG_SRC_MATRIX);
    /* Reset: all banks to the unpackers, all pointers to 0. */
    mrig_own(r);
    s->unpack_bank_a = s->unpack_bank_b = 1;
    assert_int_equal(mrig_run(r, CLEARDVALID | 1), 1);
    assert_int_equal(s->matrix_bank_a | s->matrix_bank_b | s->unpack_bank_a | s->unpack_bank_b, 0);
    assert_int_equal(s->owner_a[0] | s->owner_a[1] | s->owner_b[0] | s->owner_b[1], WG_SRC_UNPACKERS);
    assert_false(mrig_offer(r, 0, MVMUL));
    mrig_free(r);
}

/* Flips stay in order: SETRWC after MVMUL does not overtake it. */
static void test_flips_in_order(void **state)
{
    mrig *r = ready(state);
    wg_src *s = &r->t->regs.src;
    uint64_t at = mrig_issue(r, 0, MVMUL | 1u << 22);
    mrig_cycle(r);
    mrig_issue(r, 0, SETRWC | 1u << 22);
    while (r->t->sched.now < at + 4) {
        mrig_cycle(r);
        assert_int_equal(s->matrix_bank_a, 0);
        assert_int_equal(s->owner_a[1], WG_SRC_MATRIX);
    }
    mrig_cycle(r);
    assert_int_equal(s->owner_a[0] | s->owner_a[1], WG_SRC_UNPACKERS);
    assert_int_equal(s->matrix_bank_a, 0);
    mrig_free(r);
}

/* Cycles from acceptance until a wait for the Matrix Unit is over: by the documents the latency, on silicon more. */
static void test_time_in_the_unit(void **state)
{
    static const struct {
        uint32_t word;
        uint8_t documented, silicon;
    } cases[] = {{SETRWC, 1, 6}, {INCRWC, 1, 6}, {MOVA2D, 4, 6}, {ELWADD, 5, 7}, {GMPOOL, 5, 7}, {MVMUL, 5, 7}};
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        mrig *r = ready(state);
        r->t->timing = &r->t->arch->timing[i & 1 ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED];
        uint64_t at = mrig_issue(r, 0, cases[i / 2].word);
        while (wg_matrix_unit.busy(r->t, 0))
            mrig_cycle(r);
        assert_int_equal(r->t->sched.now - at, i & 1 ? cases[i / 2].silicon : cases[i / 2].documented);
        mrig_free(r);
    }
}

/* On silicon a bank that SETRWC gives back leaves the Matrix Unit in the next cycle and reaches the unpackers in the fourth. */
static void test_bank_returns_late(void **state)
{
    mrig *r = ready(state);
    wg_src *s = &r->t->regs.src;
    r->t->timing = &r->t->arch->timing[WG_PROFILE_SILICON];
    mrig_issue(r, 0, SETRWC | 1u << 22);
    for (unsigned i = 1; i < 4; i++) {
        mrig_cycle(r);
        assert_int_equal(s->matrix_bank_a, 1);
        assert_int_equal(s->owner_a[0], WG_SRC_MATRIX);
        assert_false(wg_src_is_valid(s, WG_SRCA, 0));
    }
    mrig_cycle(r);
    assert_int_equal(s->owner_a[0], WG_SRC_UNPACKERS);
    /* Bank 1 as well, and back to bank 0, which is in transit: the unit does not consider it its own. */
    mrig_drain(r);
    s->owner_a[0] = WG_SRC_MATRIX;
    mrig_issue(r, 0, SETRWC | 1u << 22);
    mrig_cycle(r);
    mrig_issue(r, 0, SETRWC | 1u << 22);
    mrig_cycle(r);
    assert_int_equal(s->matrix_bank_a, 1);
    assert_int_equal(s->owner_a[1], WG_SRC_MATRIX);
    assert_false(mrig_offer(r, 0, MOVA2D));
    assert_int_equal(r->stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
    /* Another agent fills it meanwhile: it stays the Matrix Unit's. */
    wg_src_give_to_matrix(r->t, WG_SRCA, 1, WG_AGENT_UNPACK0);
    mrig_drain(r);
    assert_int_equal(s->owner_a[1], WG_SRC_MATRIX);
    assert_int_equal(s->owner_a[0], WG_SRC_UNPACKERS);
    mrig_free(r);
}

/* Perturbed completions: no guarantee of the hardware is violated. */
static void test_perturbed(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        mrig *r = ready(state);
        r->t->seed = seed;
        r->t->perturbed = true;
        mrig_fill(r, WG_SRCA, wg_src_from_bf16(0x3F80));
        mrig_fill(r, WG_SRCB, wg_src_from_bf16(0x3F80));
        for (unsigned i = 0; i < 16; i++) {
            while (mrig_issue(r, 0, ELWMUL) == WG_NEVER)
                ;
            mrig_cycle(r);
        }
        while (mrig_issue(r, 0, MOVD2A | MOVE_MANY) == WG_NEVER)
            ;
        mrig_cycle(r);
        while (mrig_issue(r, 0, MOVA2D | MOVE_MANY | 64) == WG_NEVER)
            ;
        mrig_drain(r);
        assert_true(mrig_dst_bf16(r, 0, 5) == 16.0f);
        assert_true(mrig_dst_bf16(r, 64, 5) == 16.0f);
        mrig_free(r);
    }
}

/* A tick that is not due changes nothing (lockstep). */
static void test_early_ticks_do_nothing(void **state)
{
    mrig *r = ready(state);
    mrig_issue(r, 0, MVMUL | 3u << 22);
    for (unsigned i = 0; i < 4; i++) {
        mrig_cycle(r);
        wg_tile *copy = wg_tile_new();
        memcpy(copy, r->t, sizeof *copy);
        wg_matrix_unit.tick(r->t);
        assert_memory_equal(&copy->backend, &r->t->backend, sizeof copy->backend);
        assert_memory_equal(&copy->regs, &r->t->regs, sizeof copy->regs);
        assert_int_equal(r->t->sched.next[WG_AGENT_MATRIX], 105);
        free(copy);
    }
    mrig_free(r);
}

#define ALL_TIMED \
    "MVMUL:timing DOTPV:timing GAPOOL:timing ELWMUL:timing GMPOOL:timing ELWADD:timing ELWSUB:timing CONV3S1:timing " \
    "CONV3S2:timing MFCONV3S1:timing APOOL3S1:timing APOOL3S2:timing MPOOL3S1:timing MPOOL3S2:timing SETRWC:timing " \
    "INCRWC:timing CLEARDVALID:timing CLREXPHIST:timing GATESRCRST:timing SHIFTXA:timing ZEROACC:timing " \
    "ZEROSRC:timing " \
    "TRNSPSRCA:timing TRNSPSRCB:timing SHIFTXB:timing MOVD2A:timing MOVA2D:timing MOVDBGA2D:timing MOVB2D:timing " \
    "MOVB2A:timing MOVD2B:timing SETIBRWC:timing RAREB:timing SETPKEDGOF:timing SETASHRMH0:timing " \
    "SETASHRMH1:timing SETASHRMV:timing SETASHRMH:timing"

static const wg_test tests[] = {
    WG_COVERS(test_latencies, WG_WH, "", ALL_TIMED),
    WG_COVERS(test_latencies, WG_BH, "", ALL_TIMED " MOVDBGB2D:timing"),
    WG_TEST(test_issue_gaps, WG_BH | WG_WH, "GATE-21"),
    WG_TEST(test_gap_is_named, WG_BH | WG_WH, "GATE-21"),
    WG_TEST(test_gap_comes_last, WG_BH | WG_WH, ""),
    WG_TEST(test_one_per_cycle, WG_BH | WG_WH, "PIPE-20"),
    WG_TEST(test_dst_block, WG_BH | WG_WH, "GATE-21"),
    WG_TEST(test_writers_wait, WG_BH | WG_WH, ""),
    WG_TEST(test_waits_in_unit, WG_BH | WG_WH, ""),
    WG_TEST(test_dst_block_for_packers, WG_BH | WG_WH, ""),
    WG_TEST(test_result_is_seen_at_completion, WG_BH | WG_WH, ""),
    WG_TEST(test_waits_for_banks, WG_BH | WG_WH, "GATE-22"),
    WG_TEST(test_flips, WG_BH | WG_WH, "GATE-15"),
    WG_TEST(test_flip_of_both, WG_BH | WG_WH, ""),
    WG_TEST(test_flip_can_keep_the_bank, WG_BH | WG_WH, ""),
    WG_TEST(test_flips_in_order, WG_BH | WG_WH, ""),
    WG_TEST(test_time_in_the_unit, WG_BH | WG_WH, "GATE-13"),
    WG_TEST(test_bank_returns_late, WG_BH | WG_WH, "GATE-14"),
    WG_TEST(test_perturbed, WG_BH | WG_WH, ""),
    WG_TEST(test_early_ticks_do_nothing, WG_BH | WG_WH, ""),
};

WG_MAIN("matrix_timing", tests)
