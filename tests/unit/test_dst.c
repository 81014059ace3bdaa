/* SPDX-License-Identifier: Apache-2.0 */
/* Dst and the source banks: views, row permutations, marks, bit layouts, the T cores' window, changes of owner. */
#include "matrix_rig.h"

#include "isa/tile_regs.h"

/* Dst.md's Adj16 and Adj32, bit by bit. */
static unsigned adj16(bool remap, unsigned r)
{
    if (!remap)
        return r;
    return (r & 0x3C7) | (r >> 3 & 1) << 5 | (r >> 5 & 1) << 4 | (r >> 4 & 1) << 3;
}
static unsigned adj32(bool remap, bool swizzle, unsigned r)
{
    r = adj16(remap, r);
    if (swizzle) {
        unsigned b2 = r >> 2 & 1, b3 = r >> 3 & 1, b4 = r >> 4 & 1;
        r = (r & 0x3F3) | b3 << 2 | (b4 ^ b2) << 3;
    }
    return (r & 7) | (r >> 3 & 0x3F) << 4 | (r & 0x200);
}

static void test_rows(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned how = 0; how < 8; how++) {
        mrig *r = mrig_new(wg_test_arch(state));
        mrig_cfg(r, WG_CFG_DEST_ACCESS_CFG_remap_addrs, how & 1);
        mrig_cfg(r, WG_CFG_DEST_ACCESS_CFG_swizzle_32b, how >> 1 & 1);
        if (how & 4)
            r->t->regions.control.word[wg_tile_regs[r->t->arch->id][WG_REG_DEBUG_dbg_feature_disable].offset / 4] =
                1u << 11;
        wg_dst_access a = wg_dst_access_now(r->t);
        bool remap = bh && how & 1, swizzle = bh && how & 2;
        for (unsigned row = 0; row < 1024; row++) {
            assert_int_equal(wg_dst_adj32(a, row), adj32(remap, swizzle, row));
            assert_int_equal(wg_dst_stored16(a, row), how & 4 ? adj32(remap, swizzle, row) : adj16(remap, row));
            assert_true(wg_dst_adj32(a, row) + WG_DST_LOW < WG_DST_ROWS);
        }
        /* 512 rows of 32 bits have distinct places. */
        uint8_t taken[1024] = {0};
        for (unsigned row = 0; row < 512; row++) {
            assert_int_equal(taken[wg_dst_adj32(a, row)]++, 0);
            assert_int_equal(taken[wg_dst_adj32(a, row) + WG_DST_LOW]++, 0);
        }
        mrig_free(r);
    }
}

static void test_views(void **state)
{
    mrig *r = mrig_new(wg_test_arch(state));
    wg_dst *d = &r->t->regs.dst;
    wg_dst_access a = wg_dst_access_now(r->t);
    wg_dst_write32(d, a, 9, 3, 0x12345678);
    assert_int_equal(d->bits[17][3], 0x1234);
    assert_int_equal(d->bits[25][3], 0x5678);
    assert_int_equal(wg_dst_read16(d, a, 25, 3, 0), 0x5678);
    assert_int_equal(wg_dst_read32(d, a, 9, 3, 0), 0x12345678);
    wg_dst_undefine(d, 17);
    assert_int_equal(wg_dst_read32(d, a, 9, 3, 0xFFFFFFFF), 0xFFFFFFFF);
    assert_int_equal(wg_dst_read16(d, a, 17, 3, 7), 7);
    assert_int_equal(wg_dst_read16(d, a, 25, 3, 7), 0x5678); /* the mark belongs to the high halves */
    assert_int_equal(wg_dst_peek32(r->t, 9, 3), 0x12345678);
    wg_dst_write16(d, a, 17, 3, 0xABCD);
    assert_int_equal(wg_dst_read32(d, a, 9, 3, 0), 0xABCD5678);
    wg_dst_poke32(r->t, 511, 15, 0xCAFEF00D);
    assert_int_equal(d->bits[1015][15], 0xCAFE);
    assert_int_equal(d->bits[1023][15], 0xF00D);
    mrig_free(r);
}

/* An arithmetic instruction accesses the permuted rows. */
static void test_arithmetic_on_permuted_rows(void **state)
{
    for (unsigned how = 0; how < 8; how++) {
        mrig *r = mrig_new(wg_test_arch(state));
        bool wide = how & 4;
        mrig_formats(r, 5, 5);
        mrig_own(r);
        mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, wide);
        mrig_cfg(r, WG_CFG_DEST_ACCESS_CFG_remap_addrs, how & 1);
        mrig_cfg(r, WG_CFG_DEST_ACCESS_CFG_swizzle_32b, how >> 1 & 1);
        for (unsigned i = 0; i < 8; i++)
            for (unsigned j = 0; j < 16; j++)
                mrig_put_float(r, WG_SRCA, i, j, (float)(i + 1));
        mrig_run(r, 0x28000000 | 24);
        bool bh = wg_test_arch(state) == WG_ARCH_BH;
        for (unsigned i = 0; i < 8; i++) {
            unsigned stored = wide ? adj32(bh && how & 1, bh && how & 2, 24 + i) : adj16(bh && how & 1, 24 + i);
            assert_int_equal(r->t->regs.dst.bits[stored][9],
                             wg_dst16_from_bf16((uint16_t)(mrig_bits((float)(i + 1)) >> 16)));
        }
        mrig_free(r);
    }
}

static void test_layouts(void **state)
{
    (void)state;
    assert_int_equal(wg_src_from_fp32(0xC0490FDB), 1u << 18 | (0x490FDBu >> 13) << 8 | 0x80);
    assert_int_equal(wg_src_to_fp32(wg_src_from_fp32(0xC0490FDB)), 0xC0490FDB & ~0x1FFFu);
    assert_int_equal(wg_src_from_fp16(0xB555), 1u << 18 | 0x155u << 8 | 0x0D);
    assert_int_equal(wg_dst16_from_bf16(0xC049), 0x8000 | 0x49 << 8 | 0x80);
    assert_int_equal(wg_dst16_from_fp16(0xB555), 0x8000 | 0x155 << 5 | 0x0D);
    assert_int_equal(wg_dst32_from_fp32(0xC0490FDB), 0xC9800FDB);
    for (uint32_t x = 0; x < 0x10000; x++) {
        uint16_t h = (uint16_t)x;
        assert_int_equal(wg_dst16_to_bf16(wg_dst16_from_bf16(h)), x);
        assert_int_equal(wg_dst16_to_fp16(wg_dst16_from_fp16(h)), x);
        assert_int_equal(wg_dst16_from_src_exp8(wg_src_from_dst_bf16(h)), x);
        assert_int_equal(wg_dst16_from_src_exp5(wg_src_from_dst_fp16(h)), x);
        assert_int_equal(wg_src_from_dst_bf16(wg_dst16_from_bf16(h)), wg_src_from_bf16(h));
        assert_int_equal(wg_src_from_dst_fp16(wg_dst16_from_fp16(h)), wg_src_from_fp16(h));
        uint32_t tf32 = x << 16 | (x & 7) << 13;
        assert_int_equal(wg_src_from_dst_tf32(wg_dst32_from_fp32(tf32)), wg_src_from_fp32(tf32));
    }
    static const int32_t integers[] = {0, 1, -1, 255, -255, 0x123456, -0x12345678, INT32_MAX, -INT32_MAX};
    for (unsigned i = 0; i < sizeof integers / sizeof *integers; i++)
        assert_int_equal(wg_dst32_to_int(wg_dst32_from_int(integers[i])), integers[i]);
    assert_int_equal(wg_src_to_int(WG_SRC_SIGN | 1023 << 8 | 16), -1023);
}

/* The window, format by format, as in Dst.md's Load and Store functions. */
static void test_window(void **state)
{
    static const struct {
        unsigned format, bytes;
        bool no_swizzle, unsigned_int;
        uint32_t core, dst; /* what the core stores; what Dst then holds */
        uint32_t back;      /* the value that the core loads back */
    } cases[] = {
        {0, 4, false, false, 0xC0490FDB, 0xC9800FDB, 0xC0490FDB},
        {0, 4, true, false, 0xC0490FDB, 0xC0490FDB, 0xC0490FDB},
        {1, 4, false, false, 0xFFFFFFFE, 0x80000002, 0xFFFFFFFE},
        {1, 4, false, false, 0x80000000, 0xFFFFFFFF, 0x80000001},
        {1, 4, false, false, 0x00C00000, 0x40010000, 0x00C00000},
        {1, 4, true, false, 0x80000000, 0x80000000, 0x80000000},
        {2, 2, false, false, 0xB555, 0xAAAD, 0xB555},
        {2, 2, true, false, 0xB555, 0xB555, 0xB555},
        {3, 2, false, false, 0xC049, 0xC980, 0xC049},
        {3, 2, true, false, 0xC049, 0xC049, 0xC049},
        {4, 2, false, false, 0xFFFE, 0x8002, 0xFFFE},
        {4, 2, false, false, 0x8000, 0xFFFF, 0x8001},
        {4, 2, false, true, 0xFFFE, 0xFFFE, 0xFFFE},
        {4, 2, true, false, 0xFFFE, 0xFFFE, 0xFFFE},
        {5, 1, false, false, 0x05, 5 << 5 | 16, 0x05},
        {5, 1, false, false, 0x00, 0, 0x00},
        {5, 1, false, false, 0xFE, 0x8000 | 0x82 << 5 | 16, 0xFE},
        {5, 1, false, false, 0x80, 0x8000 | 0xFF << 5 | 16, 0x81},
        {5, 1, false, true, 0xFE, 0xFE << 5 | 16, 0xFE},
        {5, 1, true, false, 0xFE, 0xFE << 5 | 16, 0xFE},
    };
    static const wg_cfg_id fmt[3] = {WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_fmt, WG_CFG_RISC_DEST_ACCESS_CTRL_SEC1_fmt,
                                     WG_CFG_RISC_DEST_ACCESS_CTRL_SEC2_fmt};
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
            mrig *r = mrig_new(wg_test_arch(state));
            wg_cfg_id no_swizzle = (wg_cfg_id)(fmt[thread] - 2), unsigned_int = (wg_cfg_id)(fmt[thread] - 1);
            mrig_cfg(r, fmt[thread], cases[i].format);
            mrig_cfg(r, no_swizzle, cases[i].no_swizzle);
            mrig_cfg(r, unsigned_int, cases[i].unsigned_int);
            uint32_t offset = (21 * 16 + 5) * cases[i].bytes, value[4] = {cases[i].core}, back[4];
            mrig_undefine_all(r);
            assert_true(wg_dst_riscv_write(r->t, thread, offset, cases[i].bytes, value));
            uint32_t dst = cases[i].bytes == 4 ? mrig_dst32(r, 21, 5) : mrig_dst16(r, 21, 5);
            assert_int_equal(dst, cases[i].dst);
            assert_true(wg_dst_riscv_read(r->t, thread, offset, cases[i].bytes, back));
            assert_int_equal(back[0], cases[i].back);
            /* Only T2 may access several at once. */
            unsigned many = cases[i].bytes * 4;
            uint32_t wide[4] = {0x01020304, 0x11121314, 0x21222324, 0x31323334};
            assert_int_equal(wg_dst_riscv_write(r->t, thread, 64, many, wide), thread == 2);
            assert_int_equal(wg_dst_riscv_read(r->t, thread, 64, many, back), thread == 2);
            if (cases[i].format != 5)
                assert_memory_equal(back, wide, many);
            /* Part of a datum is never allowed. */
            if (cases[i].bytes > 1)
                assert_false(wg_dst_riscv_read(r->t, thread, 0, 1, back));
            mrig_free(r);
        }
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_cfg(r, WG_CFG_RISC_DEST_ACCESS_CTRL_SEC1_fmt, 7);
    uint32_t value[4] = {0xC0490FDB}, back[4];
    assert_false(wg_dst_riscv_write(r->t, 1, 0x7FFC, 4, value));
    assert_false(wg_dst_riscv_read(r->t, 1, 0x7FFC, 4, back));
    assert_int_equal(back[0], value[0]);
    mrig_free(r);
}

typedef struct seen {
    unsigned events, last_bank, last_owner;
} seen;
static void on_event(void *user, const wg_event *e)
{
    seen *s = user;
    s->events++;
    s->last_bank = (unsigned)e->a;
    s->last_owner = (unsigned)e->b;
}

static void test_owners(void **state)
{
    mrig *r = mrig_new(wg_test_arch(state));
    wg_src *s = &r->t->regs.src;
    assert_int_equal(s->owner_a[0] | s->owner_a[1] | s->owner_b[0] | s->owner_b[1], WG_SRC_UNPACKERS);
    seen log = {0};
    int id;
    r->dev.tile = r->t;
    assert_int_equal(wg_observe(&r->dev, WG_EV_BIT(WG_EV_BANK), on_event, &log, &id), WG_OK);
    mrig_tcfg(r, WG_TCFG_SRCB_SET_Base, 2);
    r->t->sched.phase = WG_PHASE_COMPLETIONS;
    wg_src_unpacked(r->t, WG_SRCB, 1, WG_AGENT_UNPACK1);
    assert_int_equal(s->owner_b[0], WG_SRC_MATRIX);
    assert_int_equal(s->unpack_bank_b, 1);
    assert_int_equal(s->unpack_row_b[1], 32);
    assert_int_equal(s->unpack_bank_a, 0);
    assert_int_equal(log.events, 1);
    assert_int_equal(log.last_bank, 2);
    assert_int_equal(log.last_owner, WG_SRC_MATRIX);
    assert_int_equal(r->t->sched.next[WG_AGENT_THREAD2], r->t->sched.now);
    /* Giving a bank back wakes the unpacker and those that store into the bank. */
    r->t->sched.next[WG_AGENT_UNPACK0] = r->t->sched.next[WG_AGENT_SCALAR] = WG_NEVER;
    r->t->backend.scalar.executing = true;
    wg_src_give_to_unpackers(r->t, WG_SRCB, 0, WG_AGENT_MATRIX);
    assert_int_equal(log.events, 2);
    assert_int_equal(log.last_owner, WG_SRC_UNPACKERS);
    assert_true(r->t->sched.next[WG_AGENT_UNPACK0] != WG_NEVER);
    assert_true(r->t->sched.next[WG_AGENT_SCALAR] != WG_NEVER);
    wg_src_give_to_unpackers(r->t, WG_SRCB, 0, WG_AGENT_MATRIX);
    assert_int_equal(log.events, 2); /* no change, no event */
    uint32_t changes = s->changes_a[1];
    wg_src_rows(s, WG_SRCA, 1);
    assert_true(s->changes_a[1] != changes);
    wg_unobserve(&r->dev, id);
    mrig_free(r);
}

static const wg_test tests[] = {
    WG_TEST(test_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_views, WG_BH | WG_WH, ""),
    WG_TEST(test_arithmetic_on_permuted_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_layouts, WG_BH, ""),
    WG_TEST(test_window, WG_BH, ""),
    WG_TEST(test_owners, WG_BH | WG_WH, ""),
};

WG_MAIN("dst", tests)
