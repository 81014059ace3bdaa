/* SPDX-License-Identifier: Apache-2.0 */
/* The packers' modes, one at a time: between Dst and L1, output addresses, per-tile reports. */
#include "pack_rig.h"

/* ---- Between Dst and L1 ---------------------------------------------------------------------------------------- */

/* Rows choose masks through row sets, faces choose row sets; hidden datums are 0 or -infinity. */
static void test_edge_masks(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned variant = 0; variant < 4; variant++) {
        bool faces = variant & 1, infinite = variant & 2;
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : 64);
        wg_arch_id arch = r->t->arch->id;
        uint32_t *config = r->t->regs.config.bank[0];
        pr_mark_dst(r);
        unsigned rows = wg_cfg_fields[arch][WG_CFG_TILE_ROW_SET_MAPPING_0_row_set_mapping_0].word;
        unsigned sets = wg_cfg_fields[arch][WG_CFG_TILE_FACE_SET_MAPPING_0_face_set_mapping_0].word;
        config[rows + 2] = 0x000000E4;          /* row set 2: rows 0…3 have masks 0, 1, 2, 3 */
        config[rows + 3] = 0x0000001B;          /* row set 3: masks 3, 2, 1, 0 */
        config[sets + 1] = 2u << 10 | 3u << 12; /* face set 1: face 5 has row set 2, face 6 row set 3 */
        ur_set(r, WG_CFG_PCK_EDGE_TILE_ROW_SET_SELECT_select, 2);
        ur_set(r, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_select, 1);
        ur_set(r, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_enable, faces);
        ur_set(r, WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC0_ZOffset, 5);
        ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, 4);
        ur_set(r, WG_CFG_PCK_EDGE_MODE_mode, infinite);
        static const uint16_t mask[4] = {0x8001, 0x00FF, 0xFFFF, 0x0000};
        ur_set(r, WG_CFG_PCK_EDGE_OFFSET_SEC0_mask, mask[0]);
        ur_set(r, WG_CFG_PCK_EDGE_OFFSET_SEC1_mask, mask[1]);
        ur_set(r, WG_CFG_PCK_EDGE_OFFSET_SEC2_mask, mask[2]);
        ur_set(r, WG_CFG_PCK_EDGE_OFFSET_SEC3_mask, mask[3]);
        pr_do(r, 2, PR_PACR(bh ? 0 : 1, 0));
        pr_do(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST)); /* the next plane */
        for (unsigned i = 0; i < 8; i++)
            for (unsigned column = 0; column < 16; column++) {
                unsigned which = faces && i >= 4 ? 3 - i % 4 : i % 4;
                uint16_t want = mask[which] >> column & 1 ? pr_mark(i % 4, column) : infinite ? 0xFF80 : 0;
                assert_int_equal(pr_l1_16(r, PR_L1 + 32 * i + 2 * column), want);
            }
        ur_free(r);
    }
}

/* Y and Z are swapped: the row set's row stays until a whole plane of faces has gone by. */
static void test_transposed_position(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur *r = pr_new(wg_test_arch(state), bh ? 16 : 64);
    pr_mark_dst(r);
    ur_set(r, WG_CFG_TILE_ROW_SET_MAPPING_0_row_set_mapping_1, 1);
    ur_set(r, WG_CFG_PCK_EDGE_OFFSET_SEC1_mask, 0);
    ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, 4);
    ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_pack_yz_transposed, 1);
    pr_do(r, 2, PR_PACR(bh ? 0 : 1, 0));
    pr_do(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST));
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pr_l1_16(r, PR_L1 + 32 * i), i < 4 ? pr_mark(i, 0) : 0);
    ur_free(r);
}

static void test_relu(void **state)
{
    static const uint16_t in[] = {0xBF80, 0x8000, 0x0000, 0x3F00, 0x3F80, 0x3F81, 0x7F80, 0xFF80};
    static const uint16_t out[4][8] = {{0xBF80, 0x0000, 0x0000, 0x3F00, 0x3F80, 0x3F81, 0x7F80, 0xFF80},
                                       {0, 0, 0, 0x3F00, 0x3F80, 0x3F81, 0x7F80, 0},
                                       {0, 0, 0, 0, 0, 0x3F81, 0x7F80, 0},
                                       {0, 0, 0, 0x3F00, 0x3F80, 0x3F80, 0x3F80, 0}};
    for (unsigned mode = 0; mode < 8; mode++) { /* two bits of four count */
        ur *r = pr_new(wg_test_arch(state), 16);
        for (unsigned i = 0; i < 8; i++)
            pr_bf16(r, 0, i, in[i]);
        ur_set(r, WG_CFG_STACC_RELU_ApplyRelu, mode);
        ur_set(r, WG_CFG_STACC_RELU_ReluThreshold, 0x3F80);
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(pr_l1_16(r, PR_L1 + 2 * i), out[mode & 3][i]);
        assert_int_equal(ur_found(r, WG_F_PACK_RELU), 0);
        ur_set(r, WG_CFG_STACC_RELU_ReluThreshold, 0xBF80);
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        assert_int_equal(ur_found(r, WG_F_PACK_RELU), (mode & 3) >= 2);
        ur_free(r);
    }
    /* FP16's threshold is an FP16, FP32's a BF16. */
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_formats(r, false, WG_FMT_FP16, WG_FMT_FP16, WG_FMT_FP16);
    ur_set(r, WG_CFG_STACC_RELU_ApplyRelu, 3);
    ur_set(r, WG_CFG_STACC_RELU_ReluThreshold, 0x3C00);
    r->t->regs.dst.bits[0][0] = wg_dst16_from_fp16(0x3C01);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0x3C00);
    pr_formats(r, true, WG_FMT_FP32, WG_FMT_FP32, WG_FMT_FP32);
    ur_set(r, WG_CFG_STACC_RELU_ReluThreshold, 0x3F80);
    wg_dst_poke32(r->t, 0, 0, wg_dst32_from_fp32(0x3F800001));
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_32(r, PR_L1), 0x3F800000);
    ur_free(r);
}

static void test_exponent_threshold(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_bf16(r, 0, 0, 0x3F80);
    pr_bf16(r, 0, 1, 0xBF00);
    PR_SET(r, 0, Exp_threshold_en, 1);
    PR_SET(r, 0, Exp_threshold, 127);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0x3F80);
    assert_int_equal(pr_l1_16(r, PR_L1 + 2), 0);
    pr_formats(r, false, WG_FMT_FP16, WG_FMT_FP16, WG_FMT_FP16);
    PR_SET(r, 0, Exp_threshold, 15);
    r->t->regs.dst.bits[0][0] = wg_dst16_from_fp16(0x3C00);
    r->t->regs.dst.bits[0][1] = wg_dst16_from_fp16(0x3BFF);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0x3C00);
    assert_int_equal(pr_l1_16(r, PR_L1 + 2), 0);
    pr_formats(r, false, WG_FMT_FP16, WG_FMT_BFP2A, WG_FMT_FP16);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(ur_found(r, WG_F_PACK_THRESHOLD), 1);
    ur_free(r);
}

/* Exponents after ReLU, in 32 saturating bins; the largest regardless of ENABLE_ACC_STATS. CLREXPHIST clears both. */
static void test_exponent_histogram(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    const wg_exphist *h = &r->t->regs.exphist;
    for (unsigned i = 0; i < 16; i++)
        pr_bf16(r, 0, i, i == 3 ? 0xC100 : i == 4 ? 0x4000 : 0x3F80);
    ur_set(r, WG_CFG_STACC_RELU_ApplyRelu, 1);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(wg_exphist_max(h, 0), 128);
    assert_int_equal(h->bins[0][127 & 31], 0);
    ur_thread(r, 0, WG_TCFG_ENABLE_ACC_STATS_Enable, 1); /* any thread's */
    for (unsigned i = 0; i < 20; i++)
        pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(h->bins[0][127 & 31], 255);
    assert_int_equal(h->bins[0][128 & 31], 40); /* exponents 128 and 0: ReLU zeroed one */
    assert_int_equal(wg_exphist_max(h, 0), 128);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(h->max[i], 0);
    pr_do(r, 2, PR_PACR(1, PR_LAST | PR_ZERO)); /* nothing from Dst */
    assert_int_equal(h->bins[0][0], 40);
    ur_free(r);
}

static void test_downsampling(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned mask = 0; mask < 3; mask++) {
        static const uint16_t masks[3] = {0x8421, 0x0000, 0xFFFF};
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : 32);
        pr_mark_dst(r);
        PR_SET(r, 0, Downsample_mask, masks[mask]);
        pr_do(r, 2, PR_PACR(bh ? 3 : 1, PR_LAST));
        unsigned at = 0;
        for (unsigned i = 0; i < 32; i++)
            if ((masks[mask] ? masks[mask] : 0xFFFF) >> i % 16 & 1)
                assert_int_equal(pr_l1_16(r, PR_L1 + 2 * at++), pr_mark(i / 16, i % 16));
        assert_int_equal(pr_l1_16(r, PR_L1 + 2 * at), 0);
        ur_free(r);
    }
}

/* Part of a row, and on WH a run that begins within a row. */
static void test_columns(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned x = 0; x < 8; x++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        pr_mark_dst(r);
        r->t->regs.adc.unit[2][2][0].x = x;
        r->t->regs.adc.unit[2][2][0].y = 4;
        r->t->regs.adc.unit[2][2][1].x = bh ? 11 : 40;
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        for (unsigned i = 0; i < (bh ? 12 : 41) - x; i++)
            assert_int_equal(pr_l1_16(r, PR_L1 + 2 * i), pr_mark(4 + (x + i) / 16, (x + i) % 16));
        ur_free(r);
    }
    /* The end precedes the start. */
    ur *r = pr_new(wg_test_arch(state), 16);
    r->t->regs.adc.unit[2][2][0].x = 8;
    r->t->regs.adc.unit[2][2][1].x = 2;
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(ur_found(r, WG_F_PACK_COUNT), 1);
    ur_free(r);
}

/* Rows that ZEROACC has marked are zeros. */
static void test_undefined_rows(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_mark_dst(r);
    wg_dst_undefine(&r->t->regs.dst, 0);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0);
    ur_free(r);
}

/* Packer 0 from L1: no early conversion. */
static void test_from_l1(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, WG_FMT_FP32);
    PR_SET(r, 0, Source_interface_selection, 1);
    ur_set(r, WG_CFG_PCK0_ADDR_BASE_REG_0_Base, 0x2100);
    r->t->regs.adc.unit[2][2][0].x = 3;
    for (unsigned i = 0; i < 32; i++)
        r->t->l1[0x2100 + i] = (uint8_t)(i + 1);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    for (unsigned i = 0; i < 13; i++)
        assert_int_equal(pr_l1_32(r, PR_L1 + 4 * i), ((2 * (i + 3) + 2) << 8 | (2 * (i + 3) + 1)) << 16);
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BFP8, WG_FMT_BF16); /* the exponent is taken as zero */
    r->t->l1[0x2103] = 0x85;
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0x8005);
    ur_free(r);
}

/* ---- In L1 ------------------------------------------------------------------------------------------------------- */

static void test_accumulate(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    PR_SET(r, 0, Pack_L1_Acc, 1);
    pr_bf16(r, 0, 0, 0x3F80);
    pr_bf16(r, 0, 1, 0x3F80);
    uint16_t old[2] = {0x3F80, 0x4380}; /* 1, 256 */
    memcpy(r->t->l1 + PR_L1, old, 4);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), 0x4000);
    assert_int_equal(pr_l1_16(r, PR_L1 + 2), 0x4380); /* 257: a tie, to even */
    pr_formats(r, true, WG_FMT_INT32, WG_FMT_INT32, WG_FMT_INT32);
    wg_dst_poke32(r->t, 0, 0, wg_dst32_from_int(-0x7FFFFFFF));
    wg_dst_poke32(r->t, 0, 1, wg_dst32_from_int(7));
    uint32_t words[2] = {0x80000002, 0x80000003};
    memcpy(r->t->l1 + PR_L1, words, 8);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_32(r, PR_L1), 0xFFFFFFFF); /* saturates */
    assert_int_equal(pr_l1_32(r, PR_L1 + 4), 4);
    pr_formats(r, true, WG_FMT_FP32, WG_FMT_FP32, WG_FMT_FP32);
    wg_dst_poke32(r->t, 0, 0, wg_dst32_from_fp32(0x3F800000));
    wg_dst_poke32(r->t, 0, 1, wg_dst32_from_fp32(0x7F800000));
    uint32_t floats[2] = {0xBF7FFFFF, 0xFF800000};
    memcpy(r->t->l1 + PR_L1, floats, 8);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_32(r, PR_L1), 0x33800000); /* 2^-24, exact */
    assert_int_equal(pr_l1_32(r, PR_L1 + 4), 0x7FC00000);
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BFP8);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(ur_found(r, WG_F_PACK_ACCUMULATE), 1);
    ur_free(r);
}

/* Compressed data, read back by the unpacker: zeros return where they were. */
static void test_compression(void **state)
{
    static const uint8_t formats[] = {WG_FMT_BF16, WG_FMT_BFP8, WG_FMT_BFP4, WG_FMT_FP32};
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    wg_rng rng = {5};
    for (unsigned run = 0; run < 40; run++) {
        unsigned out = formats[run % 4], count = bh ? 64 : 256, zeros = wg_rng_below(&rng, 101);
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : count);
        pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, out);
        PR_SET(r, 0, Disable_zero_compress, 0);
        PR_SET(r, 0, Row_start_section_size, 1);
        PR_SET(r, 0, Exp_section_size, 1);
        for (unsigned i = 0; i < count; i++) { /* equal exponents, so that no BFP datum becomes a zero */
            uint16_t value = (uint16_t)(0x3F80 + (wg_rng_next(&rng) & 0x8070));
            pr_bf16(r, i / 16, i % 16, wg_rng_below(&rng, 100) < zeros ? 0 : value);
        }
        pr_do(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST));
        assert_int_equal(pr_l1_16(r, PR_L1), 0);
        unsigned augmented = pr_l1_16(r, PR_L1 + 2);
        assert_in_range(augmented, 2, count);
        if (zeros == 0)
            assert_int_equal(augmented, count);
        ur_face(r, 1, out == WG_FMT_FP32 ? WG_FMT_FP32 : out, out == WG_FMT_FP32 ? WG_FMT_BF16 : out, PR_L1);
        unsigned word = wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC1_REG0_TileDescriptor].word;
        r->t->regs.config.bank[0][word] = out | count << 16;
        r->t->regs.config.bank[0][word + 1] = 1 | 1u << 16;
        UR_SEC(r, 1, REG2_Disable_zero_compress_cntx0, 0);
        r->t->regs.adc.unit[0][1][1].x = count - 1;
        ur_do(r, 0, UR_UNPACR(1, 0));
        for (unsigned i = 0; i < count; i++) {
            uint32_t want = wg_src_from_bf16(wg_dst16_to_bf16(r->t->regs.dst.bits[i / 16][i % 16]));
            uint32_t got = r->t->regs.src.b[0][i / 16][i % 16];
            if (out == WG_FMT_BFP4) /* two bits of mantissa remain */
                want &= ~UINT32_C(0xFF00) | 0x8000;
            assert_int_equal(got == 0, want == 0);
            if (out != WG_FMT_BFP4)
                assert_int_equal(got, want);
        }
        ur_free(r);
    }
}

/* Rows: one per PACR, or several PACRs joined by Concat; a flag for each row of zeros. */
static void test_compression_rows(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    PR_SET(r, 0, Disable_zero_compress, 0);
    PR_SET(r, 0, Row_start_section_size, 1);
    PR_SET(r, 0, Enable_out_fifo, 1);
    ur_thread(r, 2, WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr, 1);
    pr_bf16(r, 1, 7, 0x3F80);
    pr_do(r, 2, PR_PACR(1, 0));         /* all zero: 2 datums */
    pr_do(r, 2, PR_PACR(1, 0));         /* 0 (6 zeros) 1 (7 zeros) 0: 3 datums */
    pr_do(r, 2, PR_PACR(1, PR_CONCAT)); /* 32 zeros as one row: 0+15, 0+14, 0 */
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    static const uint16_t starts[8] = {0, 2, 5, 8};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pr_l1_16(r, PR_L1 + 2 * i), starts[i]);
    assert_int_equal(pr_l1_16(r, PR_L1 + 16 + 2 * 3), 0x3F80);
    static const uint8_t counters[8] = {0x0E, 0x76, 0xF0, 0x0E};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(r->t->l1[PR_L1 + 16 + 64 + i], counters[i]);
    const wg_packer_sideband *p = &r->t->backend.tdma.packer[0];
    assert_int_equal(p->all_zero_flags, 5);
    assert_int_equal(p->last_tile_size, 1 + 4 + 1);
    assert_int_equal(p->fifo_count, 1);
    ur_free(r);
}

/* ---- Output addresses ----------------------------------------------------------------------------------------- */

static void test_output_address(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_mark_dst(r);
    wg_adc_channel *c = &r->t->regs.adc.unit[2][2][1];
    uint32_t at = PR_L1;
    ur_set(r, WG_CFG_PCK0_ADDR_BASE_REG_1_Base, 0x40);
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_XY_REG_1_Ystride, 0x13);
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Zstride, 0x20);
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Wstride, 0x80);
    c->y = 3;
    c->z = 2;
    c->w = 1;
    uint32_t more = 0x40 + 3 * 0x13 + 2 * 0x20 + 0x80;
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    at += (bh ? more >> 4 : more & ~15u) * 16;
    assert_int_equal(pr_l1_16(r, at), pr_mark(0, 0));
    /* No header, an offset by TDMA-RISC, and the FIFO's end. */
    PR_SET(r, 0, Sub_l1_tile_header_size, 1);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, at - 16), pr_mark(0, 0));
    PR_SET(r, 0, Add_l1_dest_addr_offset, 1);
    r->t->backend.tdma.packer[0].l1_dest_addr_offset = 0x20;
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, at - 16 + 0x200), pr_mark(0, 0));
    ur_set(r, WG_CFG_THCON_SEC0_REG9_Pack_0_2_limit_address, (at - 16 + 0x200) / 32 - 1);
    ur_set(r, WG_CFG_THCON_SEC0_REG9_Pack_0_2_fifo_size, 0x60);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(pr_l1_16(r, at - 16 + 0x200 - 0x60 * 32), pr_mark(0, 0));
    ur_free(r);
}

/* WH: with bit 31 of packer 0's address the others' are relative to it. */
static void test_relative_addresses(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_mark_dst(r);
    PR_SET(r, 0, L1_Dest_addr, 0x80000000 | (PR_L1 / 16 - 1));
    PR_SET(r, 1, L1_Dest_addr, 0x20 - 1);
    pr_do(r, 2, PR_PACR(3, PR_LAST));
    assert_int_equal(pr_l1_16(r, PR_L1), pr_mark(0, 0));
    assert_int_equal(pr_l1_16(r, PR_L1 + 0x200), pr_mark(0, 0));
    ur_free(r);
}

static void test_outside(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    PR_SET(r, 0, L1_Dest_addr, 0x1FFF0);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_true(ur_found(r, WG_F_PACK_ADDRESS) >= 1);
    ur_free(r);
}

/* Finished tiles: size in lines, per thread, with or without header. */
static void test_tile_size(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    const wg_packer_sideband *p = &r->t->backend.tdma.packer[0];
    pr_do(r, 1, PR_PACR(1, 0));
    assert_int_equal(p->last_tile_size, 0);
    pr_do(r, 1, PR_PACR(1, PR_LAST));
    assert_int_equal(p->last_tile_size, 4);
    assert_int_equal(p->last_thread, 1);
    assert_int_equal(p->acc_tile_size[1], 4);
    PR_SET(r, 0, Add_tile_header_size, 1);
    pr_do(r, 1, PR_PACR(1, PR_LAST));
    assert_int_equal(p->acc_tile_size[1], 4 + 2 + 1);
    assert_int_equal(p->fifo_count, 0);
    ur_free(r);
}

/* ---- PACR_SETREG ---------------------------------------------------------------------------------------------- */

/* Flushes the buffers and writes the register: here TDMA-RISC's scalers, which read back. */
static void test_setreg(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned select = 0; select < 2; select++) {
        ur *r = pr_new(wg_test_arch(state), 3);
        wg_tdma *d = &r->t->backend.tdma;
        wg_stall why;
        pr_mark_dst(r);
        d->pack_set_reg_base[select] = 0x28;
        d->pack_set_reg_base[!select] = 0x80000;
        d->set_reg_hi_scaler[1] = 0x155; /* of BF16 */
        pr_do(r, 2, PR_PACR(1, 0));
        assert_int_equal(pr_l1_16(r, PR_L1), 0);
        uint32_t value = 0x2A5 + ((0x2A5 * 0x155 & 0x1FFFF) << 12), word = UINT32_C(0x4A800002) | 0x11 << 2;
        if (bh) {
            value = 0x12345678;
            pr_do(r, 2, UINT32_C(0x4A400000) | 0x5678 << 3);
            pr_do(r, 2, UINT32_C(0x4A400000) | 0x1234 << 3 | 4);
            word |= select << 8;
        } else {
            word |= select << 22 | 0x2A5 << 12 | 0xF00;
        }
        pr_do(r, 2, word);
        assert_int_equal(pr_l1_16(r, PR_L1 + 4), pr_mark(0, 2));
        assert_int_equal(pr_l1_16(r, PR_L1 + 6), 0);
        uint32_t back;
        assert_int_equal(wg_tdma_read(r->t, WG_CORE_T2, 0x28, &back, 0, &why), WG_REGION_DONE);
        assert_int_equal(back, value & 0x01FF007F);
        assert_int_equal(ur_found(r, WG_F_PACK_SETREG), 0);
        /* Below the window; without the bits that trigger it. */
        pr_do(r, 2, word & ~UINT32_C(0xFC));
        assert_int_equal(ur_found(r, WG_F_PACK_SETREG), 1);
        d->scaler2_raw = 0;
        pr_do(r, 2, word & ~UINT32_C(0x800000));
        assert_int_equal(ur_found(r, WG_F_PACK_SETREG), 2);
        assert_int_equal(d->scaler2_raw, 0);
        ur_free(r);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_edge_masks, WG_BH | WG_WH, ""),
    WG_TEST(test_transposed_position, WG_BH | WG_WH, ""),
    WG_TEST(test_relu, WG_BH | WG_WH, ""),
    WG_TEST(test_exponent_threshold, WG_BH | WG_WH, ""),
    WG_TEST(test_exponent_histogram, WG_BH | WG_WH, ""),
    WG_TEST(test_downsampling, WG_BH | WG_WH, ""),
    WG_TEST(test_columns, WG_BH | WG_WH, ""),
    WG_TEST(test_undefined_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_from_l1, WG_BH | WG_WH, ""),
    WG_TEST(test_accumulate, WG_BH | WG_WH, ""),
    WG_TEST(test_compression, WG_BH | WG_WH, ""),
    WG_TEST(test_compression_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_output_address, WG_BH | WG_WH, ""),
    WG_TEST(test_relative_addresses, WG_WH, ""),
    WG_TEST(test_outside, WG_BH | WG_WH, ""),
    WG_TEST(test_tile_size, WG_BH | WG_WH, ""),
    WG_COVERS(test_setreg, WG_BH | WG_WH, "", "PACR_SETREG:value"),
};
WG_MAIN("pack_modes", tests)
