/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every configuration field that unpackers and packers read matters: for each field of their groups, another value
 * leads to other registers, other memory, another time or another finding for some UNPACR or PACR. Fields for which
 * none does are listed, with the reason; a listed field that does make a difference fails, too.
 *
 * Then round trips, in every format: transposing twice, and tiling rows into faces and back.
 */
#include "pack_rig.h"

enum { SEEN_L1 = 0x10000, TRIALS = 1500, CYCLES = 2500, WORDS = 4 };

typedef struct outcome {
    wg_src src;
    wg_dst dst;
    wg_adc adc;
    wg_exphist exphist;
    wg_tdma tdma;
    uint8_t contexts[2][3];
    uint8_t l1[SEEN_L1];
    uint64_t completions;
    struct {
        uint32_t code;
        uint64_t subject;
        char detail[40];
    } finding[8];
    size_t findings;
} outcome;

static void set(ur *r, wg_cfg_id id, uint32_t value)
{
    const wg_cfg_field *f = &wg_cfg_fields[r->t->arch->id][id];
    if (wg_cfg_present(f) && f->width <= 32)
        ur_set(r, id, value);
}

static void run(ur *r, const wg_tile *start, const uint8_t *l1, const uint32_t word[WORDS], wg_cfg_id field,
                uint32_t value, outcome *o)
{
    *r->t = *start;
    memcpy(r->t->l1, l1, SEEN_L1);
    r->dev.findings = 0;
    r->events = 0;
    if (field != WG_CFG_COUNT)
        set(r, field, value);
    uint64_t from = r->t->sched.now;
    for (unsigned i = 0; i < WORDS; i++)
        ur_push(r, 0, word[i]);
    ur_skip_to(r, from + CYCLES);
    memset(o, 0, sizeof *o);
    o->src = r->t->regs.src;
    o->dst = r->t->regs.dst;
    o->adc = r->t->regs.adc;
    o->exphist = r->t->regs.exphist;
    o->tdma = r->t->backend.tdma;
    memcpy(o->contexts, r->t->regs.config.unpack_context, sizeof o->contexts);
    memcpy(o->l1, r->t->l1, SEEN_L1);
    for (unsigned i = 0; i < r->events; i++)
        o->completions = o->completions * UINT64_C(1000003) + r->event[i].cycle * 64 + r->event[i].agent;
    o->findings = r->dev.findings;
    for (size_t i = 0; i < r->dev.findings && i < 8; i++) {
        o->finding[i].code = r->dev.finding[i].code;
        o->finding[i].subject = r->dev.finding[i].subject;
        memcpy(o->finding[i].detail, r->dev.finding[i].detail, 39);
    }
}

static unsigned one_in(wg_rng *rng, unsigned n) { return wg_rng_below(rng, n) == 0; }

/* An unpacker with work to do, in a mode or two. */
static void prepare_unpacker(ur *r, wg_rng *rng, unsigned u)
{
    static const uint8_t formats[] = {WG_FMT_BF16, WG_FMT_BFP8, WG_FMT_BFP4, WG_FMT_INT8, WG_FMT_FP8, WG_FMT_FP32};
    wg_tile *t = r->t;
    unsigned f = formats[wg_rng_below(rng, 6)], out = f == WG_FMT_FP32 ? WG_FMT_BF16 : f;
    ur_face(r, u, f, out, 0x8000 + 0x100 * wg_rng_below(rng, 16));
    unsigned tile =
        wg_cfg_fields[t->arch->id][u ? WG_CFG_THCON_SEC1_REG0_TileDescriptor : WG_CFG_THCON_SEC0_REG0_TileDescriptor]
            .word;
    t->regs.config.bank[0][tile] ^= one_in(rng, 5) << 4;                            /* compressed, without contexts */
    t->regs.config.bank[0][tile] |= one_in(rng, 2) ? wg_rng_below(rng, 8) << 8 : 0; /* blobs */
    for (unsigned c = 0; c < 8; c++) {
        set(r,
            (wg_cfg_id)((u ? WG_CFG_THCON_SEC1_REG2_Disable_zero_compress_cntx0
                           : WG_CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0) +
                        (int)c % 4),
            !one_in(rng, 5));
        unsigned base = tile + 12 + c; /* Base_address of every context */
        t->regs.config.bank[0][base] = 0x800 + wg_rng_below(rng, 128);
    }
    UR_SEC(r, u, REG2_Disable_zero_compress_cntx4, !one_in(rng, 5));
    UR_SEC(r, u, REG2_Disable_zero_compress_cntx5, !one_in(rng, 5));
    UR_SEC(r, u, REG2_Disable_zero_compress_cntx6, !one_in(rng, 5));
    UR_SEC(r, u, REG2_Disable_zero_compress_cntx7, !one_in(rng, 5));
    UR_SEC(r, u, REG2_Ovrd_data_format, one_in(rng, 3));
    for (unsigned c = 0; c < 4; c++) /* formats of contexts 0 to 7, and offsets */
        t->regs.config.bank[0][tile + 28 + c] = 0x55550000u + wg_rng_below(rng, 32);
    UR_SEC(r, u, REG2_Unpack_limit_address, one_in(rng, 3) ? 0x880 + wg_rng_below(rng, 64) : 0x1FFFF);
    UR_SEC(r, u, REG2_Unpack_fifo_size, wg_rng_below(rng, 64));
    UR_SEC(r, u, REG2_Tileize_mode, one_in(rng, 4));
    UR_SEC(r, u, REG2_Haloize_mode, one_in(rng, 4));
    UR_SEC(r, u, REG2_Upsample_rate, one_in(rng, 4));
    UR_SEC(r, u, REG2_Upsample_and_interleave, one_in(rng, 2));
    UR_SEC(r, u, REG2_Force_shared_exp, one_in(rng, 3));
    UR_SEC(r, u, REG2_Context_count, wg_rng_below(rng, 4));
    UR_SEC(r, u, REG2_Throttle_mode, wg_rng_below(rng, 3));
    if (t->arch->id == WG_ARCH_BH)
        UR_SEC(r, u, REG1_ovrd_default_throttle_mode, one_in(rng, 2));
    UR_UNP(r, u, ADDR_CTRL_XY_REG_1_Ystride, 64 * wg_rng_below(rng, 3));
    UR_UNP(r, u, ADDR_CTRL_ZW_REG_1_Zstride, 64 * wg_rng_below(rng, 3));
}

/* The packers' sections. */
static void prepare_packers(ur *r, wg_rng *rng, unsigned packed)
{
    wg_tile *t = r->t;
    set(r, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress_ovrd, one_in(rng, 4));
    set(r, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress, wg_rng_below(rng, 16));
    set(r, WG_CFG_PCK_EDGE_MODE_mode, one_in(rng, 2));
    set(r, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_enable, one_in(rng, 2));
    set(r, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_select, wg_rng_below(rng, 256));
    set(r, WG_CFG_PCK_EDGE_TILE_ROW_SET_SELECT_select, wg_rng_below(rng, 256));
    for (unsigned i = 0; i < 4; i++) {
        t->regs.config.bank[0][wg_cfg_fields[t->arch->id][WG_CFG_TILE_ROW_SET_MAPPING_0_row_set_mapping_0].word + i] =
            (uint32_t)wg_rng_next(rng);
        t->regs.config.bank[0][wg_cfg_fields[t->arch->id][WG_CFG_TILE_FACE_SET_MAPPING_0_face_set_mapping_0].word + i] =
            (uint32_t)wg_rng_next(rng);
        PR_SET(r, i, L1_Dest_addr, (PR_L1 + 0x1000 * i) / 16 - 1);
        PR_SET(r, i, Disable_zero_compress, !one_in(rng, 3));
        PR_SET(r, i, Exp_section_size, 1 + i);
        PR_SET(r, i, Row_start_section_size, 1);
        PR_SET(r, i, Pack_L1_Acc, one_in(rng, 4));
        PR_SET(r, i, Exp_threshold_en, one_in(rng, 3));
        PR_SET(r, i, Exp_threshold, packed == WG_FMT_FP16 ? 14 : 122 + wg_rng_below(rng, 4));
        PR_SET(r, i, Add_l1_dest_addr_offset, one_in(rng, 2));
        PR_SET(r, i, Enable_out_fifo, one_in(rng, 2));
        PR_SET(r, i, Source_interface_selection, one_in(rng, 5));
        t->backend.pack.packer[i].tile_y = (uint8_t)wg_rng_below(rng, 16);
        t->backend.pack.packer[i].tile_z = (uint8_t)wg_rng_below(rng, 16);
        t->backend.tdma.packer[i].l1_dest_addr_offset = (uint16_t)wg_rng_below(rng, 8);
        if (!t->arch->pack.interfaces)
            PR_SET(r, i, Addr_cnt_context, (i + 1) % 3);
    }
    static const wg_cfg_id mask[] = {WG_CFG_PCK_EDGE_OFFSET_SEC0_mask, WG_CFG_PCK_EDGE_OFFSET_SEC1_mask,
                                     WG_CFG_PCK_EDGE_OFFSET_SEC2_mask, WG_CFG_PCK_EDGE_OFFSET_SEC3_mask};
    static const wg_cfg_id limits[] = {
        WG_CFG_THCON_SEC0_REG9_Pack_0_2_limit_address, WG_CFG_THCON_SEC0_REG9_Pack_1_3_limit_address,
        WG_CFG_THCON_SEC1_REG9_Pack_0_2_limit_address, WG_CFG_THCON_SEC1_REG9_Pack_1_3_limit_address};
    static const wg_cfg_id fifos[] = {
        WG_CFG_THCON_SEC0_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC0_REG9_Pack_1_3_fifo_size,
        WG_CFG_THCON_SEC1_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC1_REG9_Pack_1_3_fifo_size};
    static const wg_cfg_id planes[] = {
        WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, WG_CFG_PACK_COUNTERS_SEC1_pack_reads_per_xy_plane,
        WG_CFG_PACK_COUNTERS_SEC2_pack_reads_per_xy_plane, WG_CFG_PACK_COUNTERS_SEC3_pack_reads_per_xy_plane};
    for (unsigned i = 0; i < 4; i++) {
        set(r, mask[i], one_in(rng, 3) ? (uint32_t)wg_rng_next(rng) & 0xFFFF : 0xFFFF);
        set(r, limits[i], one_in(rng, 2) ? 0x1FFFF : 0x1FF + 0x80 * i + wg_rng_below(rng, 4));
        set(r, fifos[i], 1 + wg_rng_below(rng, 8));
        set(r, planes[i], 1 + wg_rng_below(rng, 16));
    }
}

/* Contents of L1 and Dst. */
static void prepare_data(ur *r, wg_rng *rng, unsigned packed)
{
    wg_tile *t = r->t;
    for (unsigned i = 0; i < SEEN_L1; i++)
        t->l1[i] = (uint8_t)wg_rng_next(rng);
    for (unsigned i = 0x8000; i < 0x9000 && one_in(rng, 2); i++) /* similar to row starts */
        t->l1[i] = i & 1 ? 0 : (uint8_t)(i / 2 % 24);
    for (unsigned row = 0; row < 1024; row++)
        for (unsigned i = 0; i < 16; i++)
            t->regs.dst.bits[row][i] =
                one_in(rng, 3) ? 0
                : packed == WG_FMT_INT8 /* sign; magnitude in the low halves */
                    ? (uint16_t)(wg_rng_next(rng) & (row & WG_DST_LOW ? 0x3FF : 0x8000))
                    : (uint16_t)((wg_rng_next(rng) & 0xFF00) |
                                 (packed == WG_FMT_FP16 ? 12 + wg_rng_below(rng, 6) : 120 + wg_rng_below(rng, 8)));
}

/* Both units with work to do, in a mode or two. */
static void prepare(ur *r, wg_rng *rng)
{
    wg_tile *t = r->t;
    for (unsigned u = 0; u < 2; u++)
        prepare_unpacker(r, rng, u);
    set(r, WG_CFG_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr, one_in(rng, 2));
    for (unsigned c = 0; c < 4; c++)
        set(r, (wg_cfg_id)(WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0 + (int)c), one_in(rng, 4));
    for (unsigned c = 0; c < 4; c++) { /* both halves of the words */
        unsigned word = wg_cfg_fields[t->arch->id][WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address].word + c / 2;
        t->regs.config.bank[0][word] = 64u * 0x10001 + (c & 1) * 16;
        word = wg_cfg_fields[t->arch->id][WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0].word + c / 2;
        t->regs.config.bank[0][word] = 256u * 0x10001;
    }
    bool wide = one_in(rng, 2);
    unsigned packed = one_in(rng, 3) ? WG_FMT_FP16 : WG_FMT_BF16;
    if (wide)
        packed = wg_rng_below(rng, 3) ? WG_FMT_INT8 : WG_FMT_FP32;
    static const uint8_t outs[] = {WG_FMT_BF16, WG_FMT_BFP8, WG_FMT_FP16, WG_FMT_FP32, WG_FMT_FP8};
    unsigned out = packed == WG_FMT_INT8 ? WG_FMT_INT8 : outs[wg_rng_below(rng, 5)];
    pr_formats(r, wide, packed, packed, out);
    set(r, WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_override, one_in(rng, 3));
    set(r, WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_val, one_in(rng, 2) ? packed : packed ^ 1);
    set(r, WG_CFG_STACC_RELU_ApplyRelu, wg_rng_below(rng, 4));
    set(r, WG_CFG_STACC_RELU_ReluThreshold, 0x3F80);
    set(r, WG_CFG_INT_DESCALE_Enable, !one_in(rng, 3));
    set(r, WG_CFG_INT_DESCALE_Mode, !one_in(rng, 3));
    for (unsigned i = 0; i < 16; i++) /* four shifts of five bits each */
        set(r, (wg_cfg_id)(WG_CFG_INT_DESCALE_VALUES_SEC0_Value + (int)i), (uint32_t)wg_rng_next(rng) & 0x03030303);
    prepare_packers(r, rng, packed);
    t->backend.pack.planned_row = t->backend.pack.packer[0].tile_y;
    t->backend.pack.context = (uint8_t)wg_rng_below(rng, 4);
    t->backend.pack.context_planes = (uint8_t)wg_rng_below(rng, 3);
    unsigned first = wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    for (unsigned thread = 0; thread < 3; thread++) {
        t->regs.config.thread[thread][first] = 0x1104;
        ur_thread(r, thread, WG_TCFG_ENABLE_ACC_STATS_Enable, one_in(rng, 2));
        for (unsigned u = 0; u < 3; u++)
            for (unsigned c = 0; c < 2; c++)
                t->regs.adc.unit[thread][u][c] =
                    (wg_adc_channel){.x = c       ? (u == 2 && t->arch->pack.interfaces ? 15 : 47)
                                          : u < 2 ? 0
                                                  : wg_rng_below(rng, 4),
                                     .y = (uint16_t)wg_rng_below(rng, 3),
                                     .z = (uint8_t)wg_rng_below(rng, u == 2 && packed == WG_FMT_INT8 ? 64 : 3),
                                     .w = (uint8_t)wg_rng_below(rng, 2)};
    }
    prepare_data(r, rng, packed);
    t->regs.src = (wg_src){0};
    ur_touch(r);
}

/* ---- Which fields ------------------------------------------------------------------------------------------------ */

static bool starts(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

/* Groups of fields that belong to unpackers and packers. */
static bool speaks_of(const char *name)
{
    static const char *const groups[] = {"THCON_SEC0_REG1_",
                                         "THCON_SEC0_REG2_",
                                         "THCON_SEC0_REG3_",
                                         "THCON_SEC0_REG4_",
                                         "THCON_SEC0_REG5_",
                                         "THCON_SEC0_REG7_",
                                         "THCON_SEC0_REG8_",
                                         "THCON_SEC0_REG9_",
                                         "THCON_SEC0_REG10_",
                                         "THCON_SEC1_REG1_",
                                         "THCON_SEC1_REG2_",
                                         "THCON_SEC1_REG3_",
                                         "THCON_SEC1_REG4_",
                                         "THCON_SEC1_REG5_",
                                         "THCON_SEC1_REG7_",
                                         "THCON_SEC1_REG8_",
                                         "THCON_SEC1_REG9_",
                                         "THCON_SEC1_REG10_",
                                         "UNP0_",
                                         "UNP1_",
                                         "PCK0_",
                                         "PCK_",
                                         "PACK_COUNTERS_",
                                         "TILE_ROW_SET_",
                                         "TILE_FACE_SET_",
                                         "STACC_RELU_",
                                         "DEST_TARGET_REG_CFG_PACK_",
                                         "INT_DESCALE_",
                                         "ALU_FORMAT_SPEC_REG2_Dstacc",
                                         "ALU_FORMAT_SPEC_REG_Dstacc",
                                         "ALU_FORMAT_SPEC_REG0_SrcAUns",
                                         "ALU_FORMAT_SPEC_REG0_SrcBUns",
                                         "ALU_ROUNDING_MODE_Gasket",
                                         "ALU_ROUNDING_MODE_Packer"};
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
        if (starts(name, groups[i]))
            return true;
    return false;
}

typedef struct exception {
    const char *part; /* of the name */
    uint8_t archs;
    const char *why;
} exception;
static const exception exceptions[] = {
    {"UNP0_ADDR_CTRL_XY_REG_0", WG_BH | WG_WH, "UNPACR_Regular.md: input addresses come from the tile descriptor"},
    {"UNP1_ADDR_CTRL_XY_REG_0", WG_BH | WG_WH, "the same"},
    {"UNP0_ADDR_CTRL_ZW_REG_0", WG_BH | WG_WH, "the same"},
    {"UNP1_ADDR_CTRL_ZW_REG_0", WG_BH | WG_WH, "the same"},
    {"UNP0_ADDR_BASE_REG_0", WG_BH | WG_WH, "the same"},
    {"UNP1_ADDR_BASE_REG_0", WG_BH | WG_WH, "the same"},
    {"REG_1_Xstride", WG_BH | WG_WH, "UNPACR_Regular.md, OutputAddressGenerator.md: channel 1's X ends the input"},
    {"UNP1_ADD_DEST_ADDR_CNTR", WG_BH | WG_WH, "UNPACR_Regular.md: Unpacker 0 alone"},
    {"THCON_SEC1_REG2_Unpack_if_sel", WG_BH | WG_WH, "Unpackers/README.md: Unpacker 1 has no way to Dst"},
    {"THCON_SEC1_REG2_Unpack_If_Sel", WG_BH | WG_WH, "the same"},
    {"THCON_SEC1_REG5_", WG_BH | WG_WH, "UNPACR_Regular.md: Unpacker 0 alone"},
    {"THCON_SEC1_REG2_Shift_amount_cntx3", WG_BH | WG_WH, "UNPACR_Regular.md: Unpacker 1 does not shift columns"},
    {"pack_per_xy_plane", WG_BH | WG_WH, "no page uses it"},
    {"pack_xys_per_tile", WG_BH | WG_WH, "no page uses it"},
    {"Context_count_non_log2", WG_BH | WG_WH, "no page; its enable is reported"},
    {"Metadata_x_end", WG_BH | WG_WH, "no page uses it"},
    {"_Unused", WG_BH | WG_WH, "its name"},
    {"unpack_tile_offset", WG_BH | WG_WH, "no page uses it"},
    {"REG10_Unpack_limit_address", WG_BH, "no page; its enable is reported"},
    {"REG10_Unpack_fifo_size", WG_BH, "no page; the enable of the limit is reported"},
    {"REG10_Unpacker_Reg_Wr_Addr", WG_BH, "no page uses it"},
    {"REG10_Packer_Reg_Wr_Addr", WG_BH, "no page uses it"},
    {"THCON_SEC0_REG8_Source_interface", WG_WH, "InputAddressGenerator.md: Packer 0 alone"},
    {"THCON_SEC1_REG1_Source_interface", WG_WH, "the same"},
    {"THCON_SEC1_REG8_Source_interface", WG_WH, "the same"},
    {"THCON_SEC0_REG8_L1_source_addr", WG_WH, "the same"},
    {"THCON_SEC1_REG1_L1_source_addr", WG_WH, "the same"},
    {"THCON_SEC1_REG8_L1_source_addr", WG_WH, "the same"},
    {"THCON_SEC1_REG1_pack_start_intf_pos", WG_BH, "no page; THCON_SEC0's is reported"},
    {"THCON_SEC1_REG1_All_pack_disable", WG_BH | WG_WH, "Compression.md: THCON_SEC0's is for all"},
};

static bool is_excepted(const char *name, unsigned arch)
{
    for (unsigned i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].archs & arch && strstr(name, exceptions[i].part))
            return strcmp(name + strlen(name) - 3, "_en") != 0;
    return false;
}

static void some_words(ur *r, wg_rng *rng, uint32_t word[WORDS])
{
    bool bh = r->t->arch->pack.interfaces;
    uint32_t context = wg_rng_below(rng, 8) << 10 | (one_in(rng, 4) ? 1u << 3 : 0);
    word[0] = UR_UNPACR(0, context) ^ (one_in(rng, 5) ? 1u << 7 : 0) ^ (one_in(rng, 3) ? 1u << 2 : 0);
    word[1] = UR_UNPACR(1, context) ^ (one_in(rng, 5) ? 1u << 7 : 0) ^ (one_in(rng, 6) ? 1u << 2 : 0);
    if (bh && one_in(rng, 8)) /* clear to the immediate */
        word[wg_rng_below(rng, 2)] = UR_NOP(wg_rng_below(rng, 2), 1 | 3 << 2);
    uint32_t select = bh ? (one_in(rng, 2) ? 0 : 3) : 15;
    uint32_t more = (one_in(rng, 3) ? (uint32_t)PR_OVERRIDE : 0) | (bh ? wg_rng_below(rng, 4) << 21 : 0) |
                    (bh && one_in(rng, 3) ? 1u << 2 : 0);
    word[2] = PR_PACR(select, more | PR_LAST);
    word[3] = PR_PACR(select, more | PR_LAST);
}

static void test_fields(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ur *r = pr_new(arch, 16);
    wg_tile *start = wg_tile_new(), *fresh = wg_tile_new();
    outcome *original = malloc(sizeof *original), *other = malloc(sizeof *other);
    uint8_t *l1 = malloc(SEEN_L1), *open = calloc(1, WG_CFG_COUNT), *listed = calloc(1, WG_CFG_COUNT);
    wg_rng rng = {17};
    unsigned bad = 0, left = 0;
    r->t->watched = WG_EV_BIT(WG_EV_COMPLETED);
    *fresh = *r->t;
    for (unsigned id = 0; id < WG_CFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_cfg_fields[arch][id];
        open[id] = wg_cfg_present(f) && f->width <= 32 && speaks_of(wg_cfg_names[id]);
        listed[id] = open[id] && is_excepted(wg_cfg_names[id], arch == WG_ARCH_BH ? WG_BH : WG_WH);
        left += open[id] && !listed[id] ? 1u : 0u;
    }
    for (unsigned trial = 0; left && trial < TRIALS; trial++) {
        wg_test_round("trial", trial);
        uint32_t word[WORDS];
        *r->t = *fresh;
        prepare(r, &rng);
        some_words(r, &rng, word);
        *start = *r->t;
        memcpy(l1, r->t->l1, SEEN_L1);
        run(r, start, l1, word, WG_CFG_COUNT, 0, original);
        for (unsigned id = 0; id < WG_CFG_COUNT; id++) {
            if (!open[id] || (listed[id] && trial % 8))
                continue;
            const wg_cfg_field *f = &wg_cfg_fields[arch][id];
            uint32_t now = start->regs.config.bank[0][f->word] >> f->shift & f->mask;
            uint32_t value = now ^ 1u << wg_rng_below(&rng, f->width);
            if (starts(wg_cfg_names[id], "INT_DESCALE_VALUES")) /* four shifts of five bits each */
                value = now ^ (0x01010101u << wg_rng_below(&rng, 5));
            run(r, start, l1, word, (wg_cfg_id)id, value, other);
            if (memcmp(original, other, sizeof *original)) {
                open[id] = 0;
                left -= listed[id] ? 0u : 1u;
            }
        }
    }
    for (unsigned id = 0; id < WG_CFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_cfg_fields[arch][id];
        if (!wg_cfg_present(f) || f->width > 32 || !speaks_of(wg_cfg_names[id]))
            continue;
        if (open[id] != listed[id]) {
            print_error("%s makes %s difference\n", wg_cfg_names[id], open[id] ? "no" : "a");
            bad++;
        }
    }
    free(start);
    free(fresh);
    free(original);
    free(other);
    free(l1);
    free(open);
    free(listed);
    ur_free(r);
    assert_int_equal(bad, 0);
}

/* ---- Round trips ----------------------------------------------------------------------------------------------- */

static void put(uint8_t *face, unsigned bits, unsigned i, uint32_t x)
{
    if (bits >= 8)
        memcpy(face + i * bits / 8, &x, bits / 8);
    else
        face[i * bits / 8] |= (uint8_t)((x & ((1u << bits) - 1)) << i * bits % 8);
}

/* A face and its transpose in L1: transposing either in the unpacker gives the other, in every format for SrcA. */
static void test_transpose_twice(void **state)
{
    static const uint8_t formats[] = {WG_FMT_FP32, WG_FMT_FP16, WG_FMT_BFP8A, WG_FMT_BFP4A, WG_FMT_BF16,
                                      WG_FMT_BFP8, WG_FMT_BFP4, WG_FMT_INT16, WG_FMT_FP8,   WG_FMT_BFP2A,
                                      WG_FMT_INT8, WG_FMT_BFP2, WG_FMT_TF32};
    for (unsigned k = 0; k < sizeof formats; k++) {
        ur *r = ur_new(wg_test_arch(state));
        wg_test_round("format", formats[k]);
        unsigned f = formats[k], out = f == WG_FMT_FP32 ? WG_FMT_TF32 : f, bits = wg_l1_bits(f);
        unsigned exponents = wg_l1_shares_exponent(f) ? 16 : 0;
        wg_rng rng = {k + 1};
        for (unsigned i = 0; i < 2 * exponents; i++) /* equal, so that blocks can be cut either way */
            r->t->l1[0x8000 + i / 16 * 0x1000 + i % 16] = 20;
        for (unsigned i = 0; i < 256; i++) {
            uint32_t x = (uint32_t)wg_rng_next(&rng);
            put(r->t->l1 + 0x8000 + exponents, bits, i, x);
            put(r->t->l1 + 0x9000 + exponents, bits, i % 16 * 16 + i / 16, x);
        }
        uint32_t seen[4][64][16];
        for (unsigned way = 0; way < 4; way++) { /* bit 0: which in L1; bit 1: by the unpacker */
            ur_face(r, 0, f, out, way & 1 ? 0x9000 : 0x8000);
            unsigned tile = wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC0_REG0_TileDescriptor].word;
            r->t->regs.config.bank[0][tile + 1] = 1 | 1u << 16;
            UR_SEC(r, 0, REG2_Haloize_mode, way >> 1);
            ur_do(r, 0, UR_UNPACR(0, 0));
            memcpy(seen[way], r->t->regs.src.a[0], sizeof seen[way]);
        }
        assert_memory_equal(seen[0], seen[3], sizeof seen[0]);
        assert_memory_equal(seen[1], seen[2], sizeof seen[0]);
        assert_memory_not_equal(seen[0], seen[1], sizeof seen[0]);
        ur_free(r);
    }
}

/* Every format that packers produce from Dst, and Dst's format with it; FP8 in both forms. */
static const struct trip {
    uint8_t format, middle;
    bool wide, four; /* Dst in 32 bits; FP8 with four bits of exponent */
} trips[] = {
    {WG_FMT_FP32, WG_FMT_FP32, true, false},   {WG_FMT_TF32, WG_FMT_TF32, true, false},
    {WG_FMT_INT32, WG_FMT_INT32, true, false}, {WG_FMT_BF16, WG_FMT_BF16, false, false},
    {WG_FMT_FP16, WG_FMT_FP16, false, false},  {WG_FMT_INT16, WG_FMT_INT16, false, false},
    {WG_FMT_FP8, WG_FMT_FP16, false, false},   {WG_FMT_FP8, WG_FMT_FP16, false, true},
    {WG_FMT_BFP8, WG_FMT_BF16, false, false},  {WG_FMT_BFP4, WG_FMT_BF16, false, false},
    {WG_FMT_BFP2, WG_FMT_BF16, false, false},  {WG_FMT_BFP8A, WG_FMT_FP16, false, false},
    {WG_FMT_BFP4A, WG_FMT_FP16, false, false}, {WG_FMT_BFP2A, WG_FMT_FP16, false, false},
};

/* Numbers that both formats can represent. */
static void fill_dst(ur *r, const struct trip *f, wg_rng *rng)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned row = i / 16, column = i % 16;
        uint32_t x = (uint32_t)wg_rng_next(rng);
        if (f->wide)
            wg_dst_poke32(r->t, row, column,
                          wg_dst32_from_fp32(f->format == WG_FMT_TF32 ? (x & 0xBFFFFFFF) + 0x10000000 : x));
        else if (f->middle == WG_FMT_BF16)
            pr_bf16(r, row, column, (uint16_t)((x & 0x87FF) + 0x3C00));
        else
            r->t->regs.dst.bits[row][column] =
                f->middle == WG_FMT_FP16 ? wg_dst16_from_fp16((uint16_t)((x & 0x8FFF) + 0x3000)) : (uint16_t)x;
    }
}

/* Sixteen rows of Dst, each packed 0x80 bytes after the previous one. */
static void pack_rows(ur *r, const struct trip *f, uint32_t to)
{
    pr_formats(r, f->wide, f->middle, f->middle, f->format);
    ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8, f->format != WG_FMT_TF32); /* unconverted */
    if (f->four)
        ur_set(r, WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp, 1);
    PR_SET(r, 0, Exp_section_size, wg_l1_shares_exponent(f->format));
    for (unsigned i = 0; i < 16; i++) {
        PR_SET(r, 0, L1_Dest_addr, (to + 0x80 * i) / 16 - 1);
        r->t->regs.adc.unit[2][2][0].y = (uint16_t)i;
        pr_do(r, 2, PR_PACR(1, PR_LAST));
    }
}

/* Tileize_mode turns rows of an image into rows of Dst; packing row after row restores the image. */
static void test_tilize_untilize(void **state)
{
    enum { ROWS = 0x4000, IMAGE = 0x8000, BACK = 0xC000, PITCH = 0xC0 };
    for (unsigned k = 0; k < sizeof trips / sizeof *trips; k++) {
        const struct trip *f = &trips[k];
        ur *r = pr_new(wg_test_arch(state), 16);
        unsigned bits = wg_l1_bits(f->format), bytes = 2 * bits, exponents = wg_l1_shares_exponent(f->format) ? 16 : 0;
        unsigned columns = r->t->arch->unpack.wide_rows && bits > 8 ? 32 : 16;
        if (f->four && !wg_cfg_present(&wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp])) {
            ur_free(r);
            continue;
        }
        wg_test_round("format", f->format);
        wg_rng rng = {k + 7};
        fill_dst(r, f, &rng);
        pack_rows(r, f, ROWS);
        for (unsigned i = 0; i < 16; i++) {
            unsigned at = IMAGE + exponents + i * 16 / columns * PITCH + i * 16 % columns * bits / 8;
            memcpy(r->t->l1 + at, r->t->l1 + ROWS + 0x80 * i + exponents, bytes);
            if (exponents)
                r->t->l1[IMAGE + i] = r->t->l1[ROWS + 0x80 * i];
        }
        memset(r->t->regs.dst.bits, 0, sizeof r->t->regs.dst.bits);
        ur_face(r, 0, f->format, f->format, IMAGE);
        unsigned tile = wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC0_REG0_TileDescriptor].word;
        r->t->regs.config.bank[0][tile + 1] = 1 | 1u << 16;
        for (unsigned thread = 0; thread < 3; thread++)
            ur_thread(r, thread, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
        UR_SEC(r, 0, REG2_Unpack_if_sel_cntx0, 1);
        UR_SEC(r, 0, REG2_Tileize_mode, 1);
        UR_SEC(r, 0, REG2_Shift_amount_cntx0, PITCH / 16);
        if (f->four)
            UR_SEC(r, 0, REG1_Unp_LF8_4b_exp, 1);
        ur_do(r, 0, UR_UNPACR(0, 0));
        pack_rows(r, f, BACK);
        bool some = false;
        for (unsigned i = 0; i < 16; i++) {
            for (unsigned n = 0; n < exponents + bytes; n++) {
                uint8_t was = r->t->l1[ROWS + 0x80 * i + n], is = r->t->l1[BACK + 0x80 * i + n];
                if (was != is)
                    fail_msg("format %u, row %u, byte %u: %02x and %02x", f->format, i, n, was, is);
                some |= was != 0;
            }
        }
        assert_true(some);
        ur_free(r);
    }
}

/* INT8 and UINT8, which packers make from INT32 and unpackers give to SrcA: the same numbers arrive there. */
static void test_integers_to_srca(void **state)
{
    for (unsigned is_unsigned = 0; is_unsigned < 2; is_unsigned++)
        for (unsigned tilize = 0; tilize < 2; tilize++) {
            enum { ROWS = 0x4000, FACE = 0x8000 };
            const struct trip f = {WG_FMT_INT8, WG_FMT_INT8, true, false};
            ur *r = pr_new(wg_test_arch(state), 16);
            ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_unsigned, is_unsigned);
            wg_rng rng = {is_unsigned + 3};
            int32_t number[256];
            for (unsigned i = 0; i < 256; i++) {
                number[i] = (int32_t)wg_rng_below(&rng, 255) - (is_unsigned ? 0 : 127);
                wg_dst_poke32(r->t, i / 16, i % 16, wg_dst32_from_int(number[i]));
            }
            pack_rows(r, &f, ROWS);
            for (unsigned i = 0; i < 16; i++)
                memcpy(r->t->l1 + FACE + i * (tilize ? 0x80 : 16), r->t->l1 + ROWS + 0x80 * i, 16);
            ur_face(r, 0, WG_FMT_INT8, WG_FMT_INT8, FACE);
            unsigned tile = wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC0_REG0_TileDescriptor].word;
            r->t->regs.config.bank[0][tile + 1] = 1 | 1u << 16;
            ur_set(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcAUnsigned, is_unsigned);
            UR_SEC(r, 0, REG2_Tileize_mode, tilize);
            UR_SEC(r, 0, REG2_Shift_amount_cntx0, tilize ? 8 : 0);
            ur_do(r, 0, UR_UNPACR(0, 0));
            for (unsigned i = 0; i < 256; i++)
                assert_int_equal(wg_src_to_int(r->t->regs.src.a[0][i / 16][i % 16]), number[i]);
            ur_free(r);
        }
}

static const wg_test tests[] = {
    WG_TEST(test_fields, WG_BH | WG_WH, ""),
    WG_TEST(test_transpose_twice, WG_BH | WG_WH, ""),
    WG_TEST(test_tilize_untilize, WG_BH | WG_WH, ""),
    WG_TEST(test_integers_to_srca, WG_BH | WG_WH, ""),
};
WG_MAIN("move_config", tests)
