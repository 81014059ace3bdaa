/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PACR's and PACR_SETREG's values: every operand, every mode, every format, and the round trip through the unpackers.
 */
#include "pack_rig.h"

/* ---- Formats -------------------------------------------------------------------------------------------------- */

typedef struct conversion {
    bool wide, raw, ten_bits, is_unsigned, four;
    uint8_t middle, in, out;
    uint8_t archs;
    uint32_t dst; /* CPU order; of 16 bits: BF16 or FP16 as the middle format says */
    uint32_t expect;
} conversion;

enum { ALL = WG_BH | WG_WH };
#define GIVES(m, i, o, a, from, to) .middle = m, .in = i, .out = o, .archs = a, .dst = from, .expect = to
static const conversion conversions[] = {
    /* 32 bits in Dst */
    {.wide = true, GIVES(0, 0, 0, ALL, 0x3F812345, 0x3F812345)},
    {.wide = true, GIVES(0, 0, 0, ALL, 0x00000001, 0x00000001)}, /* denormal */
    {.wide = true, GIVES(0, 0, 0, ALL, 0xFFC00001, 0xFFC00001)}, /* NaN */
    {.wide = true, GIVES(8, 8, 8, ALL, 0x80000005, 0x80000005)},
    {.wide = true, .ten_bits = true, GIVES(0, 4, 4, ALL, 0x3F801000, 0x3F802000)},
    {.wide = true, GIVES(4, 4, 4, ALL, 0x3F800FFF, 0x3F800000)},
    {.wide = true, GIVES(4, 4, 0, ALL, 0xFF800001, 0xFF800000)}, /* NaN to inf */
    {.wide = true, GIVES(5, 5, 5, ALL, 0x3F808000, 0x3F81)},     /* tie away */
    {.wide = true, GIVES(5, 5, 5, ALL, 0xBF807FFF, 0xBF80)},
    {.wide = true, GIVES(5, 5, 5, ALL, 0x80000000, 0)},
    {.wide = true, GIVES(5, 5, 5, ALL, 0x7F800001, 0x7F80)},
    {.wide = true, .raw = true, GIVES(5, 5, 5, ALL, 0x3F80FFFF, 0x3F80)},
    {.wide = true, .raw = true, GIVES(6, 5, 5, ALL, 0x0001FFFF, 0x0001)},
    {.wide = true, GIVES(6, 6, 5, ALL, 0x3F810000, 0x3F82)}, /* E8M6 */
    {.wide = true, GIVES(0, 0, 5, ALL, 0x3F80FFFF, 0x3F80)}, /* late: cut */
    {.wide = true, GIVES(0, 0, 5, ALL, 0x80400000, 0)},      /* late: flush */
    {.wide = true, GIVES(0, 0, 1, ALL, 0x3F803FFF, 0x3C01)},
    {.wide = true, GIVES(0, 0, 1, ALL, 0xC7800000, 0xFC00)}, /* 2^16 */
    {.wide = true, GIVES(0, 0, 1, ALL, 0xC8000000, 0xFFFF)}, /* 2^17 */
    {.wide = true, GIVES(0, 0, 1, ALL, 0xB7FFFFFF, 0x8000)}, /* < 2^-15 */
    {.wide = true, GIVES(0, 0, 1, ALL, 0x38400000, 0x0200)}, /* mishandled */
    {.wide = true, GIVES(0, 0, 10, ALL, 0xBFFFFFFF, 0xBF)},
    {.wide = true, GIVES(14, 14, 14, ALL, 0x80000123, 0xFF)}, /* saturates */
    {.wide = true, GIVES(14, 14, 14, ALL, 0x80000023, 0xA3)},
    {.wide = true, .is_unsigned = true, GIVES(14, 14, 14, ALL, 0x00000323, 0xFF)},
    {.wide = true, .is_unsigned = true, GIVES(14, 14, 14, ALL, 0x80000003, 0)},
    {.wide = true, .raw = true, GIVES(14, 14, 14, ALL, 0x800001A3, 0xA3)},
    {.wide = true, .raw = true, .is_unsigned = true, GIVES(14, 14, 14, ALL, 0x800001A3, 0xA3)},
    {.wide = true, .ten_bits = true, GIVES(1, 1, 1, WG_BH, 0x3F801000, 0x3C01)},
    {.wide = true, .ten_bits = true, .four = true, GIVES(1, 1, 10, WG_BH, 0xBFC00000, 0xBC)},
    /* 16 bits */
    {GIVES(5, 5, 5, ALL, 0x7FC1, 0x7F80)},
    {GIVES(5, 5, 5, ALL, 0x8001, 0)},
    {.raw = true, GIVES(5, 5, 5, ALL, 0x8001, 0x8001)},
    {.raw = true, GIVES(6, 5, 5, ALL, 0x7FC1, 0x7FC1)},
    {GIVES(6, 6, 5, ALL, 0x3F81, 0x3F82)},
    {GIVES(5, 5, 0, ALL, 0xBF81, 0xBF810000)},
    {GIVES(4, 4, 4, ALL, 0x3F81, 0x3F810000)},
    {GIVES(5, 5, 1, ALL, 0x3F81, 0x3C08)},
    {GIVES(1, 1, 1, ALL, 0x7FFF, 0x7FFF)},
    {GIVES(1, 1, 1, ALL, 0x83FF, 0)},
    {.raw = true, GIVES(1, 1, 1, ALL, 0x83FF, 0x83FF)},
    {.raw = true, GIVES(1, 1, 0, ALL, 0x8200, 0x80400000)}, /* mishandled */
    {GIVES(1, 1, 0, ALL, 0xBC01, 0xBF802000)},
    {GIVES(1, 1, 5, ALL, 0xBC0F, 0xBF81)},
    {.raw = true, GIVES(1, 1, 5, ALL, 0x8200, 0)},
    {.raw = true, GIVES(2, 2, 1, ALL, 0x3C0F, 0x3C08)}, /* E5M7 */
    {GIVES(2, 2, 1, ALL, 0x3C08, 0x3C10)},              /* E5M6 */
    {.raw = true, GIVES(10, 10, 10, ALL, 0xBDFF, 0xBD)},
    {.raw = true, GIVES(10, 10, 1, ALL, 0xBDFF, 0xBD00)},
    {.raw = true, GIVES(1, 1, 10, ALL, 0x8200, 0x80)},
    {.four = true, GIVES(1, 1, 10, WG_BH, 0x3C80, 0x39)},
    {.four = true, GIVES(1, 1, 10, WG_BH, 0xA3FF, 0x80)},
    {.ten_bits = true, GIVES(1, 1, 1, WG_BH, 0x3F81, 0x3C08)}, /* of a BF16 */
    {GIVES(9, 9, 9, ALL, 0x8001, 0x8001)},
    {.raw = true, GIVES(14, 14, 14, ALL, 0xBF81, 0x80)}, /* sign only */
};

static uint16_t stored16(const conversion *c)
{
    if (c->middle == 9)
        return (uint16_t)c->dst;
    bool fp16 = (c->middle == 1 && !c->ten_bits) || c->middle == 2 || c->middle == 10;
    return fp16 ? wg_dst16_from_fp16((uint16_t)c->dst) : wg_dst16_from_bf16((uint16_t)c->dst);
}

static void test_formats(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        const conversion *c = &conversions[i];
        if (!(c->archs & (arch == WG_ARCH_BH ? WG_BH : WG_WH)))
            continue;
        ur *r = pr_new(arch, 16);
        pr_formats(r, c->wide, c->middle, c->in, c->out);
        ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8, c->raw);
        ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Round_10b_mant, c->ten_bits);
        ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_unsigned, c->is_unsigned);
        if (arch == WG_ARCH_BH)
            ur_set(r, WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp, c->four);
        if (c->wide)
            wg_dst_poke32(r->t, 0, 5, wg_dst32_from_fp32(c->dst));
        else
            r->t->regs.dst.bits[0][5] = stored16(c);
        memset(r->t->l1 + PR_L1, 0xAA, 128);
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        unsigned size = wg_l1_bits(c->out) / 8;
        uint32_t got = 0;
        memcpy(&got, r->t->l1 + PR_L1 + 5 * size, size);
        if (got != c->expect)
            print_error("conversion %u: %x gives %x, not %x\n", i, c->dst, got, c->expect);
        assert_int_equal(got, c->expect);
        assert_int_equal(r->t->l1[PR_L1 + 16 * size], 0xAA);
        assert_int_equal(ur_found(r, WG_F_PACK_FORMAT), 0);
        ur_free(r);
    }
}

/* INT_DESCALE: shift, round, saturate. */
static void test_descale(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_formats(r, true, WG_FMT_INT8, WG_FMT_INT8, WG_FMT_INT8);
    ur_set(r, WG_CFG_INT_DESCALE_Enable, 1);
    ur_set(r, WG_CFG_INT_DESCALE_VALUES_SEC0_Value, 4);
    ur_set(r, WG_CFG_INT_DESCALE_VALUES_SEC1_Value, 2u << 8); /* of z = 5 */
    wg_dst_poke32(r->t, 0, 0, wg_dst32_from_int(0x98));
    wg_dst_poke32(r->t, 0, 1, wg_dst32_from_int(-0x97));
    wg_dst_poke32(r->t, 0, 2, wg_dst32_from_int(-0x7FFFFFFF));
    pr_do(r, 0, PR_PACR(1, PR_LAST));
    assert_int_equal(r->t->l1[PR_L1], 10);
    assert_int_equal(r->t->l1[PR_L1 + 1], 0x80 | 9);
    assert_int_equal(r->t->l1[PR_L1 + 2], 0xFF);
    ur_set(r, WG_CFG_INT_DESCALE_Mode, 1);
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride, 0);
    r->t->regs.adc.unit[0][2][0].z = 5;
    pr_do(r, 0, PR_PACR(1, PR_LAST));
    assert_int_equal(r->t->l1[PR_L1], 38);
    ur_free(r);
}

/* Undefined pairs are reported, and something is written. */
static void test_undefined_formats(void **state)
{
    static const uint8_t pairs[][3] = {{5, 5, 8}, {5, 9, 9}, {1, 5, 5}, {0, 0, 0}, {3, 3, 3}, {12, 12, 12}};
    for (unsigned i = 0; i < 6; i++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        pr_formats(r, false, pairs[i][0], pairs[i][1], pairs[i][2]);
        pr_do(r, 0, PR_PACR(1, PR_LAST));
        assert_int_equal(ur_found(r, WG_F_PACK_FORMAT), 1);
        ur_free(r);
    }
}

/* 16 datums share the largest exponent; rounded to seven bits, then cut to four or two. */
static void test_bfp(void **state)
{
    for (unsigned bits = 8; bits >= 2; bits /= 2) {
        for (unsigned five = 0; five < 2; five++) {
            static const uint8_t formats[2][3] = {{WG_FMT_BFP8, WG_FMT_BFP4, WG_FMT_BFP2},
                                                  {WG_FMT_BFP8A, WG_FMT_BFP4A, WG_FMT_BFP2A}};
            ur *r = pr_new(wg_test_arch(state), 16);
            unsigned out = formats[five][bits == 8 ? 0 : bits == 4 ? 1 : 2];
            pr_formats(r, true, WG_FMT_FP32, WG_FMT_FP32, out);
            PR_SET(r, 0, Exp_section_size, 2);
            wg_dst_poke32(r->t, 0, 0, wg_dst32_from_fp32(0x40400000)); /* 3 */
            wg_dst_poke32(r->t, 0, 1, wg_dst32_from_fp32(0xBF820000)); /* -(1 + 1/64): half a unit at 7 bits */
            wg_dst_poke32(r->t, 0, 2, wg_dst32_from_fp32(0x3C000000)); /* 2^-7 */
            wg_dst_poke32(r->t, 0, 3, wg_dst32_from_fp32(0xC07F0000)); /* -3.98: rounds up, and saturates */
            pr_do(r, 2, PR_PACR(1, PR_LAST));
            static const uint8_t datum[4] = {0x60, 0xA1, 0x00, 0xFF};
            assert_int_equal(r->t->l1[PR_L1], five ? 16 : 128);
            assert_int_equal(r->t->l1[PR_L1 + 1], 0);
            for (unsigned i = 0; i < 4; i++) {
                unsigned byte = r->t->l1[PR_L1 + 32 + i * bits / 8], got = byte >> i * bits % 8 & ((1u << bits) - 1);
                unsigned magnitude = (datum[i] & 127u) >> (8 - bits);
                unsigned sign = datum[i] >> 7;
                assert_int_equal(got, magnitude ? (sign << (bits - 1) | magnitude) : 0);
            }
            ur_free(r);
        }
    }
}

/* ---- Round trips ----------------------------------------------------------------------------------------------- */

/* Packing, unpacking to Dst and packing again gives the same bytes, in every format that Dst can hold. */
static void test_round_trip(void **state)
{
    static const uint8_t formats[][3] = {
        /* out, middle, wide */
        {WG_FMT_FP32, WG_FMT_FP32, 1},  {WG_FMT_TF32, WG_FMT_TF32, 1},  {WG_FMT_INT32, WG_FMT_INT32, 1},
        {WG_FMT_BF16, WG_FMT_BF16, 0},  {WG_FMT_FP16, WG_FMT_FP16, 0},  {WG_FMT_INT16, WG_FMT_INT16, 0},
        {WG_FMT_FP8, WG_FMT_FP16, 0},   {WG_FMT_BFP8, WG_FMT_BF16, 0},  {WG_FMT_BFP4, WG_FMT_BF16, 0},
        {WG_FMT_BFP2, WG_FMT_BF16, 0},  {WG_FMT_BFP8A, WG_FMT_FP16, 0}, {WG_FMT_BFP4A, WG_FMT_FP16, 0},
        {WG_FMT_BFP2A, WG_FMT_FP16, 0},
    };
    wg_arch_id arch = wg_test_arch(state);
    bool bh = arch == WG_ARCH_BH;
    wg_rng rng = {7};
    for (unsigned f = 0; f < sizeof formats / sizeof *formats; f++) {
        unsigned out = formats[f][0], middle = formats[f][1];
        bool wide = formats[f][2];
        ur *r = pr_new(arch, bh ? 16 : 256);
        pr_formats(r, wide, middle, middle, out);
        ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8, 1); /* unconverted */
        if (out == WG_FMT_TF32)
            ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8, 0);
        for (unsigned row = 0; row < 16; row++)
            for (unsigned column = 0; column < 16; column++) {
                uint32_t x = (uint32_t)wg_rng_next(&rng);
                uint32_t word = out == WG_FMT_TF32 ? (x & 0xBFFFFFFF) + 0x10000000 : x;
                if (wide)
                    wg_dst_poke32(r->t, row, column, wg_dst32_from_fp32(word));
                else if (middle == WG_FMT_BF16)
                    pr_bf16(r, row, column, (uint16_t)((x & 0x87FF) + 0x3C00));
                else
                    r->t->regs.dst.bits[row][column] =
                        middle == WG_FMT_FP16 ? wg_dst16_from_fp16((uint16_t)((x & 0x8FFF) + 0x3000)) : (uint16_t)x;
            }
        PR_SET(r, 0, Exp_section_size, wg_l1_shares_exponent(out) ? 1 : 0);
        for (unsigned pass = 0; pass < 2; pass++) {
            PR_SET(r, 0, L1_Dest_addr, (PR_L1 + 0x1000 * pass) / 16 - 1);
            memset(&r->t->regs.adc.unit[2][2][0], 0, sizeof r->t->regs.adc.unit[2][2][0]);
            ur_thread(r, 2, WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr, 4);
            for (unsigned i = 0; i < (bh ? 4 : 1); i++)
                pr_do(r, 2, PR_PACR(bh ? 0 : 1, i + 1 == (bh ? 4 : 1)));
            if (pass)
                break;
            memset(r->t->regs.dst.bits, 0, sizeof r->t->regs.dst.bits);
            ur_face(r, 0, out, out, PR_L1);
            ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
            UR_SEC(r, 0, REG2_Unpack_if_sel_cntx0, 1);
            r->t->regs.config.bank[0][wg_cfg_fields[arch][WG_CFG_THCON_SEC0_REG0_TileDescriptor].word + 1] = 1;
            ur_touch(r);
            ur_do(r, 0, UR_UNPACR(0, 0));
            pr_formats(r, wide, middle, middle, out); /* the section words are the unpackers', too */
        }
        unsigned bytes = 32 * wg_l1_bits(out) + (wg_l1_shares_exponent(out) ? 16 : 0);
        const uint8_t *first = r->t->l1 + PR_L1, *again = first + 0x1000;
        for (unsigned i = 0; i < bytes; i++)
            if (first[i] != again[i])
                fail_msg("format %u: byte %u: %02x and %02x", out, i, first[i], again[i]);
        bool some = false;
        for (unsigned i = 0; i < bytes; i++)
            some |= r->t->l1[PR_L1 + i] != 0;
        assert_true(some);
        ur_free(r);
    }
}

/* ---- Operands -------------------------------------------------------------------------------------------------- */

/* `count` datums of BF16 at `address` equal those of the marked Dst, starting at a row and column. */
static void expect_run(const ur *r, uint32_t address, unsigned row, unsigned column, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned at = row * 16 + column + i;
        assert_int_equal(pr_l1_16(r, address + 2 * i), pr_mark(at / 16, at % 16));
    }
}

static void test_packer_mask(void **state)
{
    for (unsigned mask = 0; mask < 16; mask++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        pr_mark_dst(r);
        static const wg_cfg_id offset[] = {
            WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC0_Offset, WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC1_Offset,
            WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC2_Offset, WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC3_Offset};
        for (unsigned i = 0; i < 4; i++)
            ur_set(r, offset[i], 16 * (i + 1));
        pr_do(r, 2, PR_PACR(mask, PR_LAST));
        for (unsigned i = 0; i < 4; i++) {
            if ((mask ? mask : 1) >> i & 1)
                expect_run(r, PR_L1 + 0x1000 * i, 16 * (i + 1), 0, 16);
            else
                assert_int_equal(pr_l1_16(r, PR_L1 + 0x1000 * i), 0);
        }
        bool defined = !(mask & (mask - 1)) || mask == 3 || mask == 12 || mask == 15;
        assert_int_equal(ur_found(r, WG_F_PACK_MASK), defined ? 0 : 1);
        ur_free(r);
    }
}

/* BH: rows by mask, back to back, from any start within the group. */
static void test_interfaces(void **state)
{
    for (unsigned mask = 0; mask < 16; mask++)
        for (unsigned start = 4; start < 8; start++) {
            ur *r = pr_new(wg_test_arch(state), 16);
            pr_mark_dst(r);
            r->t->regs.adc.unit[2][2][0].y = (uint16_t)start;
            pr_do(r, 2, PR_PACR(mask, PR_LAST));
            uint32_t at = PR_L1;
            for (unsigned i = 0; i < 4; i++) {
                if (!((mask ? mask : 15) >> i & 1))
                    continue;
                expect_run(r, at, start + i, 0, 16);
                at += 32;
            }
            assert_int_equal(pr_l1_16(r, at), 0);
            assert_int_equal(ur_found(r, WG_F_PACK_MASK), (mask ? mask : 15) << (start & 3) > 15);
            ur_free(r);
        }
}

static void test_strided(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    ur_set(r, WG_CFG_DEST_ACCESS_CFG_remap_addrs, 1);
    ur_set(r, WG_CFG_DEST_ACCESS_CFG_swizzle_32b, 1);
    wg_dst_access access = wg_dst_access_now(r->t);
    for (unsigned row = 0; row < 64; row++)
        for (unsigned column = 0; column < 16; column++)
            pr_bf16(r, wg_dst_stored(access, row, false), column, pr_mark(row, column));
    r->t->regs.adc.unit[2][2][0].y = 2;
    pr_do(r, 2, PR_PACR(0, PR_LAST | PR_STRIDED));
    for (unsigned i = 0; i < 4; i++)
        expect_run(r, PR_L1 + 32 * i, 2 + 16 * i, 0, 16);
    assert_int_equal(ur_found(r, WG_F_UNIMPLEMENTED_INSN), 0);
    ur_free(r);
}

/* Rows shorter than 16 datums, padded each or all together; with Concat and Last. */
static void test_row_padding(void **state)
{
    for (unsigned field = 0; field < 8; field++)
        for (unsigned more = 0; more < 4; more++) {
            uint32_t operands = (more & 1 ? PR_CONCAT : 0) | (more & 2 ? PR_LAST : 0);
            unsigned when = field & 3;
            bool pads = when == 1 || (when == 2 && !(more & 1)) || (when == 3 && more & 2);
            ur *r = pr_new(wg_test_arch(state), 5);
            pr_mark_dst(r);
            memset(r->t->l1 + PR_L1, 0xAA, 256);
            pr_do(r, 2, PR_PACR(3, operands | field << 18));
            pr_do(r, 2, PR_PACR(1, PR_FLUSH));
            expect_run(r, PR_L1, 0, 0, 5);
            if (pads && !(field >> 2)) {
                assert_int_equal(pr_l1_16(r, PR_L1 + 10), 0);
                expect_run(r, PR_L1 + 32, 1, 0, 5);
                assert_int_equal(pr_l1_16(r, PR_L1 + 62), 0);
                assert_int_equal(pr_l1_16(r, PR_L1 + 64), 0xAAAA);
            } else {
                expect_run(r, PR_L1 + 10, 1, 0, 5);
                assert_int_equal(pr_l1_16(r, PR_L1 + 30), 0); /* padded, or flushed */
                assert_int_equal(pr_l1_16(r, PR_L1 + 32), 0xAAAA);
                assert_int_equal(r->t->backend.pack.packer[0].stream[WG_STREAM_DATA].fill, 0);
            }
            ur_free(r);
        }
}

static void test_zero_write(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur *r = pr_new(wg_test_arch(state), 32);
    pr_mark_dst(r);
    memset(r->t->l1 + PR_L1, 0xAA, 128);
    pr_do(r, 2, PR_PACR(bh ? 0 : 1, PR_LAST | PR_ZERO)); /* BH, mask 0: as many as X says */
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(r->t->l1[PR_L1 + i], 0);
    assert_int_equal(r->t->l1[PR_L1 + 64], 0xAA);
    assert_int_equal(ur_found(r, WG_F_PACK_COUNT), 0);
    ur_free(r);
}

/* OvrdThreadId: the counters of WH's Addr_cnt_context or BH's AddrCntContext, 3 meaning 0; those counters advance. */
static void test_override_thread(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned context = 0; context < 4; context++) {
        ur *r = pr_new(wg_test_arch(state), 16);
        pr_mark_dst(r);
        for (unsigned thread = 0; thread < 3; thread++)
            r->t->regs.adc.unit[thread][2][0].y = (uint16_t)(8 * thread + 8);
        if (!bh)
            PR_SET(r, 0, Addr_cnt_context, context);
        ur_thread(r, 2, WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr, 3);
        pr_do(r, 2, PR_PACR(1, PR_LAST | PR_OVERRIDE | (bh ? context << 13 : 0)));
        unsigned which = context == 3 ? 0 : context;
        expect_run(r, PR_L1, 8 * which + 8, 0, 16);
        for (unsigned thread = 0; thread < 3; thread++)
            assert_int_equal(r->t->regs.adc.unit[thread][2][0].y, 8 * thread + 8 + (thread == which ? 3 : 0));
        ur_free(r);
    }
}

/* Each AddrMod with every combination of its bits for one channel. */
static void test_address_modes(void **state)
{
    wg_rng rng = {3};
    ur *r = pr_new(wg_test_arch(state), 16);
    unsigned first = wg_tcfg_fields[r->t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    wg_adc_channel *c = r->t->regs.adc.unit[1][2];
    for (unsigned i = 0; i < 400; i++) {
        uint16_t mode = (uint16_t)wg_rng_next(&rng);
        unsigned section = i % 4;
        memset(&r->t->regs.config.thread[1][first], 0, 8);
        r->t->regs.config.thread[1][first + section] = mode;
        ur_touch(r);
        wg_adc_channel before[2];
        for (unsigned k = 0; k < 2; k++) {
            c[k].y = (uint16_t)(wg_rng_next(&rng) & 0x1FFF);
            c[k].y_cr = (uint16_t)(wg_rng_next(&rng) & 0x1FFF);
            c[k].z = (uint8_t)wg_rng_next(&rng);
            c[k].z_cr = (uint8_t)wg_rng_next(&rng);
            before[k] = c[k];
        }
        pr_do(r, 1, PR_PACR(1, PR_FLUSH | section << 15));
        for (unsigned k = 0; k < 2; k++) {
            unsigned y = mode >> 6 * k & 63, z = mode >> (12 + 2 * k) & 3;
            unsigned want_y = before[k].y + (y & 15), want_cr = before[k].y_cr;
            if (y & 32)
                want_y = want_cr = 0;
            else if (y & 16)
                want_y = want_cr = before[k].y_cr + (y & 15);
            assert_int_equal(c[k].y, want_y & 0x1FFF);
            assert_int_equal(c[k].y_cr, want_cr & 0x1FFF);
            assert_int_equal(c[k].z, z & 2 ? 0 : (before[k].z + (z & 1)) & 0xFF);
            assert_int_equal(c[k].z_cr, z & 2 ? 0 : before[k].z_cr);
            assert_int_equal(c[k].x, before[k].x);
            assert_int_equal(c[k].w, before[k].w);
        }
    }
    ur_free(r);
}

/* Without Last the next PACR continues where this one stopped, within 16 bytes; Flush and Last end it, with zeros. */
static void test_last_and_flush(void **state)
{
    for (unsigned flush = 0; flush < 2; flush++) {
        ur *r = pr_new(wg_test_arch(state), 5);
        pr_mark_dst(r);
        memset(r->t->l1 + PR_L1, 0xAA, 64);
        pr_do(r, 2, PR_PACR(1, 0));
        assert_int_equal(pr_l1_16(r, PR_L1), 0xAAAA); /* ten bytes are buffered */
        PR_SET(r, 0, L1_Dest_addr, 0x7000 / 16 - 1);  /* not read now */
        pr_do(r, 2, PR_PACR(1, flush ? 0 : PR_LAST));
        expect_run(r, PR_L1, 0, 0, 5);
        if (flush) {
            assert_int_equal(pr_l1_16(r, PR_L1 + 16), 0xAAAA);
            pr_do(r, 2, PR_PACR(1, PR_FLUSH));
        }
        expect_run(r, PR_L1 + 10, 0, 0, 5);
        for (unsigned i = 20; i < 32; i++)
            assert_int_equal(r->t->l1[PR_L1 + i], 0);
        assert_int_equal(r->t->l1[PR_L1 + 32], 0xAA);
        assert_int_equal(pr_l1_16(r, 0x7000), 0);
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        expect_run(r, 0x7000, 0, 0, 5);
        ur_free(r);
    }
}

/* BH's undocumented operands are reported, and so are fields of the configuration. */
static void test_unimplemented(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    if (wg_test_arch(state) == WG_ARCH_BH)
        PR_SET(r, 0, pack_dis_y_pos_start_offset, 1);
    else
        PR_SET(r, 0, Read_mode, 1);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(ur_found(r, WG_F_UNIMPLEMENTED_INSN), 1);
    assert_non_null(strstr(r->dev.finding[0].detail,
                           wg_test_arch(state) == WG_ARCH_BH ? "pack_dis_y_pos_start_offset" : "Read_mode"));
    PR_SET(r, 0, Downsample_rate, 1);
    pr_do(r, 2, PR_PACR(1, PR_LAST));
    assert_int_equal(ur_found(r, WG_F_UNIMPLEMENTED_INSN), 2);
    ur_free(r);
}

/*
 * CfgContext: the section that gives the output address; CtxtCtrl: the packer's own context, counted by tiles or by
 * planes.
 */
static void test_contexts(void **state)
{
    enum { OWN = 1 << 2, BACK = 2 << 2, OWN_STAYS = 3 << 2 };
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_mark_dst(r);
#define PACKED_TO(context, word) \
    do { \
        memset(r->t->l1 + PR_L1, 0, 0x4000); \
        pr_do(r, 2, (word)); \
        for (unsigned c_ = 0; c_ < 4; c_++) \
            assert_int_equal(pr_l1_16(r, PR_L1 + 0x1000 * c_), (int)c_ == (context) ? pr_mark(0, 0) : 0); \
    } while (0)
    for (int i = 0; i < 4; i++)
        PACKED_TO(i, PR_PACR(1, PR_LAST | (uint32_t)i << 21));
    for (int i = 0; i < 6; i++) /* CfgContext is then ignored */
        PACKED_TO(i & 3, PR_PACR(1, PR_LAST | OWN | 2u << 21));
    PACKED_TO(-1, PR_PACR(1, PR_LAST | BACK));
    PACKED_TO(0, PR_PACR(1, OWN | PR_LAST));
    PACKED_TO(1, PR_PACR(1, OWN));
    pr_do(r, 2, PR_PACR(1, OWN | PR_LAST)); /* continues where the last one stopped */
    assert_int_equal(pr_l1_16(r, PR_L1 + 0x1000 + 32), pr_mark(0, 0));
    for (int i = 0; i < 4; i++)
        PACKED_TO(i < 2 ? 2 + i : 3, PR_PACR(1, PR_LAST | OWN_STAYS));
    /* By planes: two of four rows each. */
    pr_do(r, 2, PR_PACR(1, BACK));
    ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, 4);
    ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_auto_ctxt_inc_xys_cnt, 2);
    r->t->backend.pack.planned_row = 0;
    PACKED_TO(0, PR_PACR(0, PR_LAST | OWN));
    PACKED_TO(0, PR_PACR(0, PR_LAST | OWN));
    PACKED_TO(1, PR_PACR(0, PR_LAST | OWN));
    assert_true(ur_found(r, WG_F_PACK_WEAK) > 0);
#undef PACKED_TO
    ur_free(r);
}

/* Auto_set_last_pacr_intf_sel: the last PACR of a plane packs the plane's remaining rows. */
static void test_plane_end(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    pr_mark_dst(r);
    PR_SET(r, 0, Auto_set_last_pacr_intf_sel, 1);
    ur_set(r, WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, 7);
    memset(r->t->l1 + PR_L1, 0, 0x400);
    ur_thread(r, 2, WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr, 4);
    for (unsigned i = 0; i < 3; i++)
        pr_do(r, 2, PR_PACR(0, i == 2));
    /* Rows 0 to 3, 4 to 6, and 8 to 11 of the next plane. */
    for (unsigned i = 0; i < 11; i++)
        assert_int_equal(pr_l1_16(r, PR_L1 + 32 * i), pr_mark(i < 7 ? i : i + 1, 0));
    assert_int_equal(pr_l1_16(r, PR_L1 + 32 * 11), 0);
    ur_free(r);
}

static uint32_t step(uint32_t x) { return (~(uint32_t)__builtin_popcount(x & 0x80200003) & 1) << 31 | x >> 1; }

/* Stochastic rounding with the Vector Unit's generators: of Dst (Gasket_srnd_en) and of blocks (Packer_srnd_en). */
static void test_stochastic(void **state)
{
    ur *r = pr_new(wg_test_arch(state), 16);
    wg_rng rng = {11};
    uint32_t prng[16], dst[16];
    pr_formats(r, true, WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BF16);
    ur_set(r, WG_CFG_ALU_ROUNDING_MODE_Gasket_srnd_en, 1);
    wg_pack_seed(r->t, 77);
    memcpy(prng, r->t->backend.pack.packer[0].prng, sizeof prng);
    unsigned ups = 0;
    for (unsigned round = 0; round < 400; round++) {
        for (unsigned i = 0; i < 16; i++) {
            dst[i] = (uint32_t)wg_rng_next(&rng) & 0xBFFFFFFF;
            wg_dst_poke32(r->t, 0, i, wg_dst32_from_fp32(dst[i]));
        }
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        for (unsigned i = 0; i < 16; i++) {
            bool up = (dst[i] & 0xFFFF) >= (prng[i] & 0x7FFFFF) >> 7;
            uint32_t want = dst[i] & 0x7F800000 ? (dst[i] >> 16) + up : 0;
            ups += up;
            assert_int_equal(pr_l1_16(r, PR_L1 + 2 * i), want);
            prng[i] = step(prng[i]);
        }
    }
    assert_in_range(ups, 400 * 16 * 2 / 5, 400 * 16 * 3 / 5);
    /* Blocks: equal exponents, so that one bit is dropped. */
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BFP8);
    PR_SET(r, 0, Exp_section_size, 1);
    ur_set(r, WG_CFG_ALU_ROUNDING_MODE_Gasket_srnd_en, 0);
    ur_set(r, WG_CFG_ALU_ROUNDING_MODE_Packer_srnd_en, 1);
    for (unsigned i = 0; i < 16; i++)
        pr_bf16(r, 0, i, (uint16_t)(0x3F80 | i << 1 | (i & 1)));
    for (unsigned round = 0; round < 40; round++) {
        pr_do(r, 2, PR_PACR(1, PR_LAST));
        for (unsigned i = 0; i < 16; i++) {
            unsigned magnitude = 128 | i << 1 | (i & 1);
            unsigned up = (magnitude & 1) >= (prng[i] & 0x7FFFFF) >> 22;
            assert_int_equal(r->t->l1[PR_L1 + 16 + i], (magnitude >> 1) + up);
            prng[i] = step(prng[i]);
        }
    }
    /* Resets and seeds. */
    wg_pack_soft_reset(r->t, 1, 0);
    wg_pack_soft_reset(r->t, 0, 1);
    assert_memory_equal(r->t->backend.pack.packer[0].prng, prng, sizeof prng);
    wg_pack_reset_random(r->t);
    assert_int_equal(r->t->backend.pack.packer[0].prng[3], 0);
    assert_int_equal(ur_found(r, WG_F_UNIMPLEMENTED_INSN), 0);
    ur_free(r);
}

static const wg_test tests[] = {
    WG_COVERS(test_formats, WG_BH | WG_WH, "", "PACR:value"),
    WG_TEST(test_descale, WG_BH | WG_WH, ""),
    WG_TEST(test_undefined_formats, WG_BH | WG_WH, ""),
    WG_TEST(test_bfp, WG_BH | WG_WH, ""),
    WG_TEST(test_round_trip, WG_BH | WG_WH, ""),
    WG_TEST(test_packer_mask, WG_WH, ""),
    WG_TEST(test_interfaces, WG_BH, ""),
    WG_TEST(test_strided, WG_BH, ""),
    WG_TEST(test_row_padding, WG_BH, ""),
    WG_TEST(test_zero_write, WG_BH | WG_WH, ""),
    WG_TEST(test_override_thread, WG_BH | WG_WH, ""),
    WG_TEST(test_address_modes, WG_BH | WG_WH, ""),
    WG_TEST(test_last_and_flush, WG_BH | WG_WH, ""),
    WG_TEST(test_unimplemented, WG_BH | WG_WH, ""),
    WG_TEST(test_contexts, WG_BH, ""),
    WG_TEST(test_plane_end, WG_BH, ""),
    WG_TEST(test_stochastic, WG_BH | WG_WH, ""),
};
WG_MAIN("pack", tests)
