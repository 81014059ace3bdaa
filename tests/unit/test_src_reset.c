/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SrcA and SrcB held in soft reset (SoftReset.md): columns are zero and stay zero under every write; banks belong to
 * the unpackers, pointers stay at bank 0; ZEROACC is discarded. All of it ends with the reset.
 */
#include "unpack_rig.h"

#include "backend/matrix.h"

enum {
    SRCA_OWNER = 1 << 15,
    SRCB = 1 << 16,
    DST = 1 << 17,
    SRCA_COLUMNS = 19 /* and the next three bits */
};
enum {
    MOVD2A_4 = 0x08000000 | 1u << 13, /* four rows of Dst */
    MOVD2B_4 = 0x0A000000 | 1u << 13,
    TRNSPSRCB = 0x16000000,
    SHIFTXA_LEFT = 0x17000003,
    SHIFTXB = 0x18000000,
    ZEROACC_ALL = 0x10000000 | 3u << 19,
    ZEROSRC_ONES = 0x11000000 | 1u << 4 | 1u << 2 | 1, /* minus infinity to both banks of SrcA */
    CLEARDVALID_BOTH = 0x36000000 | 3u << 22,
    SETDVALID_BOTH = 0x57000000 | 3
};

static void reset(ur *r, uint32_t set, uint32_t clear)
{
    r->t->regions.control.soft_reset = (r->t->regions.control.soft_reset | set) & ~clear;
    wg_soft_reset_edges(r->t);
}

static void run(ur *r, uint32_t word)
{
    ur_push(r, 0, word);
    ur_run(r, 60);
}

static void test_srca_columns(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const wg_src *s = &r->t->regs.src;
    run(r, ZEROSRC_ONES);
    assert_int_equal(s->a[1][63][15], WG_SRC_MASK);
    reset(r, 5u << SRCA_COLUMNS, 0); /* columns 0 to 3 and 8 to 11 */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned bank = 0; bank < 2; bank++)
            for (unsigned row = 0; row < 64; row++)
                for (unsigned column = 0; column < 16; column++)
                    assert_int_equal(s->a[bank][row][column], column & 4 ? WG_SRC_MASK : 0);
        run(r, ZEROSRC_ONES); /* writes to them are discarded */
    }
    reset(r, 0, 1u << SRCA_COLUMNS);
    run(r, ZEROSRC_ONES);
    assert_int_equal(s->a[0][5][3], WG_SRC_MASK);
    assert_int_equal(s->a[0][5][8], 0);
    reset(r, 0, 4u << SRCA_COLUMNS);
    run(r, ZEROSRC_ONES);
    assert_int_equal(s->a[0][5][8], WG_SRC_MASK);
    assert_false(r->dev.findings);
    ur_free(r);
}

/* Every instruction that writes rows. */
static void test_writers(void **state)
{
    static const uint32_t words[] = {MOVD2A_4, MOVD2B_4, SHIFTXA_LEFT, SHIFTXB, TRNSPSRCB, UR_NOP(0, 5)};
    ur *r = ur_new(wg_test_arch(state));
    wg_src *s = &r->t->regs.src;
    memset(r->t->regs.dst.bits, 0x3F, sizeof r->t->regs.dst.bits);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        s->held[WG_SRCA] = s->held[WG_SRCB] = 0; /* holding columns of SrcB would hold its banks, too */
        for (unsigned k = 0; k < 64 * 16; k++)
            s->a[0][k / 16][k % 16] = s->b[0][k / 16][k % 16] = k % 16 < 3 ? 0 : 0x15555;
        s->owner_a[0] = s->owner_b[0] = words[i] >> 24 == 0x43 ? WG_SRC_UNPACKERS : WG_SRC_MATRIX;
        s->held[WG_SRCA] = s->held[WG_SRCB] = 7;
        run(r, words[i]);
        unsigned other = 0;
        for (unsigned row = 0; row < 64; row++)
            for (unsigned column = 0; column < 16; column++) {
                uint32_t both = s->a[0][row][column] | s->b[0][row][column];
                if (column < 3)
                    assert_int_equal(both, 0);
                other |= both;
            }
        assert_int_not_equal(other, 0);
    }
    ur_free(r);
}

/* An unpacker writes SrcA's other columns, hands the bank over, and continues with the next. */
static void test_unpacked_columns(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const wg_src *s = &r->t->regs.src;
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x8000);
    memset(r->t->l1 + 0x8000, 0x3F, 512);
    reset(r, 2u << SRCA_COLUMNS, 0);
    run(r, UR_UNPACR(0, UR_FLIP));
    for (unsigned column = 0; column < 16; column++)
        assert_true((s->a[0][7][column] != 0) == (column / 4 != 1));
    assert_true(wg_src_is_matrix(s, WG_SRCA, 0));
    assert_int_equal(s->unpack_bank_a, 1);
    ur_free(r);
}

static void test_srca_owner(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const wg_src *s = &r->t->regs.src;
    run(r, SETDVALID_BOTH);
    assert_true(wg_src_is_matrix(s, WG_SRCA, 0) && wg_src_is_matrix(s, WG_SRCB, 0));
    reset(r, SRCA_OWNER, 0);
    assert_false(wg_src_is_matrix(s, WG_SRCA, 0));
    assert_int_equal(s->unpack_bank_a, 0);
    assert_int_equal(s->unpack_bank_b, 1); /* SrcB is unchanged */
    run(r, CLEARDVALID_BOTH);
    assert_int_equal(s->matrix_bank_a, 0);
    assert_int_equal(s->matrix_bank_b, 1);
    run(r, SETDVALID_BOTH);
    assert_false(wg_src_is_matrix(s, WG_SRCA, 0) || wg_src_is_matrix(s, WG_SRCA, 1));
    assert_true(wg_src_is_matrix(s, WG_SRCB, 1));
    assert_int_equal(s->unpack_bank_a, 0);
    reset(r, 0, SRCA_OWNER);
    run(r, SETDVALID_BOTH);
    assert_true(wg_src_is_matrix(s, WG_SRCA, 0));
    assert_int_equal(s->unpack_bank_a, 1);
    ur_free(r);
}

/* Instructions in flight do not flip their banks, even if they complete after the reset has ended. */
static void test_flips_in_flight(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const wg_src *s = &r->t->regs.src;
    run(r, SETDVALID_BOTH);
    ur_push(r, 0, CLEARDVALID_BOTH);
    for (unsigned i = 0; i < 20 && !r->t->backend.matrix.flips; i++)
        ur_run(r, 1);
    assert_int_equal(r->t->backend.matrix.flips, 2);
    reset(r, SRCA_OWNER, 0);
    assert_int_equal(r->t->backend.matrix.flips, 1);
    reset(r, 0, SRCA_OWNER);
    ur_run(r, 40);
    assert_int_equal(s->matrix_bank_a, 0);
    assert_int_equal(s->matrix_bank_b, 1);
    assert_int_equal(r->t->backend.matrix.flips, 0);
    run(r, SETDVALID_BOTH);
    assert_true(wg_src_is_matrix(s, WG_SRCA, 0));
    ur_free(r);
}

/* Bit 16: SrcB's contents and its owners. */
static void test_srcb(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const wg_src *s = &r->t->regs.src;
    ur_face(r, 1, WG_FMT_BF16, WG_FMT_BF16, 0x8000);
    memset(r->t->l1 + 0x8000, 0x3F, 512);
    run(r, UR_UNPACR(1, UR_FLIP));
    assert_int_not_equal(s->b[0][7][9], 0);
    assert_true(wg_src_is_matrix(s, WG_SRCB, 0));
    reset(r, SRCB, 0);
    assert_int_equal(s->b[0][7][9], 0);
    assert_false(wg_src_is_matrix(s, WG_SRCB, 0));
    run(r, UR_UNPACR(1, UR_FLIP));
    for (unsigned row = 0; row < 64; row++)
        for (unsigned column = 0; column < 16; column++)
            assert_int_equal(s->b[0][row][column] | s->b[1][row][column], 0);
    assert_false(wg_src_is_matrix(s, WG_SRCB, 0));
    assert_int_equal(s->unpack_bank_b, 0);
    reset(r, 0, SRCB);
    run(r, UR_UNPACR(1, UR_FLIP));
    assert_int_not_equal(s->b[0][7][9], 0);
    assert_true(wg_src_is_matrix(s, WG_SRCB, 0));
    ur_free(r);
}

/* Bit 17: undefined rows regain their contents, ZEROACC does nothing; no page says what PACR reads. */
static void test_zeroacc(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    const uint64_t *undefined = r->t->regs.dst.undefined;
    run(r, ZEROACC_ALL);
    assert_true(undefined[3] == UINT64_MAX);
    reset(r, DST, 0);
    assert_true(undefined[3] == 0);
    run(r, ZEROACC_ALL);
    assert_true(undefined[3] == 0);
    reset(r, 0, DST);
    run(r, ZEROACC_ALL);
    assert_true(undefined[3] == UINT64_MAX);
    assert_int_equal(r->dev.findings, 1);
    assert_int_equal(r->dev.finding[0].code, WG_F_UNIMPLEMENTED_REGISTER);
    ur_free(r);
}

static const wg_test tests[] = {
    WG_TEST(test_srca_columns, WG_BH | WG_WH, ""),     WG_TEST(test_writers, WG_BH | WG_WH, ""),
    WG_TEST(test_unpacked_columns, WG_BH | WG_WH, ""), WG_TEST(test_srca_owner, WG_BH | WG_WH, ""),
    WG_TEST(test_flips_in_flight, WG_BH | WG_WH, ""),  WG_TEST(test_srcb, WG_BH | WG_WH, ""),
    WG_TEST(test_zeroacc, WG_BH | WG_WH, ""),
};
WG_MAIN("src_reset", tests)
