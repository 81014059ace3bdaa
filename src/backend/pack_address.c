/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PACR's address generators: configuration and counters become a place in Dst, addresses in L1 and modes.
 *
 *     counters, channel 0 ──> first datum in Dst (or L1), datum count (with channel 1's X)
 *     counters, channel 1 ──> where the streams in L1 begin, if they do not go on where they are
 *
 * A packed tile in L1:  [16 bytes of header, not written] [row starts, if compressed] [exponents, if 8 bits or less]
 *                       [datums]
 *
 * Decided here: all configuration is read when the instruction is accepted, and the counters move on then. The
 * pages let some fields be sampled later; software that waits for the packers sees no difference.
 *
 * BH: read interface i of the mask reads row StartRow + i, which has to lie in StartRow's aligned group of four (the
 * page's code and its text disagree for a StartRow that is no multiple of four; this is the text, and ttsim).
 *
 * Facts: InputAddressGenerator.md, OutputAddressGenerator.md, EdgeMasking.md, FormatConversion.md, BlackholeA0 PACR.md;
 * for BH's RowPadZero, AddrCntContext and the ZeroWrite of many rows the assembly table.
 */
#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "num/l1_formats.h"

static uint32_t sampled(wg_tile *t, const wg_insn *insn, unsigned id, unsigned when)
{
    const wg_cfg_field *f = &wg_cfg_fields[t->arch->id][id];
    if (wg_touch_watched(t))
        wg_config_touched(t, WG_TOUCH_READ | when, insn->thread, f->word, f->mask << f->shift);
    return f->mask ? wg_config_word(t, insn->thread, f->word) >> f->shift & f->mask : 0;
}
/* PACR.md: some fields are taken when it starts (the input address generator's), others at some time in its life. */
static uint32_t config_at_start(wg_tile *t, const wg_insn *insn, unsigned id)
{
    return sampled(t, insn, id, WG_TOUCH_AT_GATE);
}
static uint32_t config(wg_tile *t, const wg_insn *insn, unsigned id) { return sampled(t, insn, id, 0); }
/* A field of a packer's own section. */
#define PACKER(t, insn, packer, name)                                                                              \
    config((t), (insn), ((const uint16_t[]){WG_CFG_THCON_SEC0_REG1_##name, WG_CFG_THCON_SEC0_REG8_##name,          \
                                            WG_CFG_THCON_SEC1_REG1_##name, WG_CFG_THCON_SEC1_REG8_##name})[packer])
/* One of four numbered fields, or the word in which such fields lie. */
#define NUMBERED(before, i, after)                                                                                 \
    (((const uint16_t[]){WG_CFG_##before##0_##after, WG_CFG_##before##1_##after, WG_CFG_##before##2_##after,       \
                         WG_CFG_##before##3_##after})[i])

static bool bit(const wg_insn *insn, unsigned i) { return insn->word >> i & 1; }
static unsigned bits(const wg_insn *insn, unsigned first, unsigned mask) { return insn->word >> first & mask; }

/* PACR's operands. */
enum { LAST = 0, FLUSH = 1, CONTEXT_CONTROL = 2, CONCAT = 4, OVERRIDE_THREAD = 7, SELECT = 8, ZERO_WRITE = 12,
       COUNTERS = 13, ADDRESS_MODE = 15, STRIDED = 17, ROW_PAD = 18, CONTEXT = 21 };

unsigned wg_pack_mask(const wg_tile *t, const wg_insn *insn)
{
    unsigned mask = bits(insn, SELECT, 15);
    return t->arch->pack.interfaces || !mask ? 1 : mask;
}

static void unimplemented(wg_tile *t, const wg_insn *insn, const char *what)
{
    wg_findf(t, WG_F_UNIMPLEMENTED_INSN, wg_insn_finding(insn, 0, 0), "PACR: %s is ignored", what);
}

/* ---- Input ------------------------------------------------------------------------------------------------- */

static unsigned which_counters(wg_tile *t, const wg_insn *insn, unsigned packer)
{
    unsigned which = insn->thread;
    if (bit(insn, OVERRIDE_THREAD))
        which = t->arch->pack.interfaces ? bits(insn, COUNTERS, 3) : PACKER(t, insn, packer, Addr_cnt_context);
    return which == 3 ? 0 : which;
}

static uint32_t input_address(wg_tile *t, const wg_insn *insn, const wg_adc_channel *c)
{
    return config_at_start(t, insn, WG_CFG_PCK0_ADDR_BASE_REG_0_Base) +
           c->x * (config_at_start(t, insn, WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Xstride) & 15) +
           c->y * config_at_start(t, insn, WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Ystride) +
           c->z * config_at_start(t, insn, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride) +
           c->w * config_at_start(t, insn, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Wstride);
}

/* Sizes of datums in addresses of Dst, by the low bits of In_data_format: log2, and what X counts within a line. */
static unsigned datum_shift(unsigned format) { return (format & 3) == 0 ? 2 : (format & 3) == 1 ? 1 : 0; }

static uint32_t dst_start(wg_tile *t, const wg_insn *insn, unsigned packer, unsigned in_format, const wg_adc_channel *c)
{
    unsigned shift = datum_shift(in_format);
    uint32_t x_mask = (16u >> shift) - 1;
    uint32_t datum = ((input_address(t, insn, c) >> shift) & ~x_mask) + (c->x & x_mask);
    return (datum + (config_at_start(t, insn, NUMBERED(DEST_TARGET_REG_CFG_PACK_SEC, packer, Offset)) << 4)) & 0x3FFF;
}

static uint32_t datum_count(const wg_insn *insn, const wg_adc_channel *channel)
{
    return bit(insn, FLUSH) ? 0 : (channel[1].x - channel[0].x + 1) & 0x3FFFF;
}

static void interfaces(const wg_tile *t, const wg_insn *insn, uint8_t *mask, uint8_t *stride)
{
    *mask = 0;
    *stride = 1;
    if (!t->arch->pack.interfaces)
        return;
    unsigned select = bits(insn, SELECT, 15);
    if (select || !bit(insn, ZERO_WRITE))   /* zeros for mask 0 are one long run */
        *mask = (uint8_t)(select ? select : 15);
    if (bit(insn, STRIDED))
        *stride = wg_dst_access_now(t).remap ? 16 : 8;   /* ttsim: 16; the assembly table: 8, of stored rows */
}

static wg_pack_source source_of(wg_tile *t, const wg_insn *insn, unsigned packer)
{
    if (bit(insn, ZERO_WRITE) || bit(insn, FLUSH))
        return WG_PACK_FROM_NOTHING;
    return !packer && PACKER(t, insn, packer, Source_interface_selection) ? WG_PACK_FROM_L1 : WG_PACK_FROM_DST;
}

bool wg_pack_rows_read(wg_tile *t, const wg_insn *insn, unsigned packer, wg_pack_rows *rows)
{
    if (source_of(t, insn, packer) != WG_PACK_FROM_DST)
        return false;
    const wg_adc_channel *channel = t->regs.adc.unit[which_counters(t, insn, packer)][2];
    rows->count = datum_count(insn, channel);
    rows->start = dst_start(t, insn, packer, PACKER(t, insn, packer, In_data_format), &channel[0]);
    rows->wide = config(t, insn, WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data);
    interfaces(t, insn, &rows->interfaces, &rows->row_stride);
    return rows->count != 0;
}

static void plan_input(wg_tile *t, wg_pack_job *job, unsigned packer, const wg_adc_channel *channel)
{
    const wg_insn *insn = &job->insn;
    wg_pack_part *part = &job->part[packer];
    part->source = (uint8_t)source_of(t, insn, packer);
    part->count = datum_count(insn, channel);
    part->start = 0;
    if (part->source == WG_PACK_FROM_DST) {
        part->start = dst_start(t, insn, packer, part->in_format, &channel[0]);
    } else if (part->source == WG_PACK_FROM_L1) {
        uint32_t x_mask = (16u >> datum_shift(part->in_format)) - 1;
        part->start = (PACKER(t, insn, packer, L1_source_addr) << 18) + (input_address(t, insn, &channel[0]) & 0x3FFF0);
        part->start = (part->start + ((channel[0].x & x_mask) << datum_shift(part->in_format))) & 0x1FFFFF;
    }
    bool backwards = !bit(insn, FLUSH) && channel[1].x + 1 < channel[0].x;
    if (backwards || (job->interfaces && part->count > 16))
        wg_find_insn(t, WG_F_PACK_COUNT, insn, channel[0].x, channel[1].x);
    if (backwards || (job->interfaces && part->count > 16))
        part->count = backwards ? 0 : 16;   /* Decided here: nothing, or one row */
    if (job->interfaces && part->source == WG_PACK_FROM_DST && job->row_stride == 1 &&
        (unsigned)job->interfaces << (part->start >> 4 & 3) > 15)
        wg_find_insn(t, WG_F_PACK_MASK, insn, job->interfaces, part->start >> 4);
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

static uint32_t first_address(wg_tile *t, const wg_insn *insn, unsigned packer)
{
    return PACKER(t, insn, packer, L1_Dest_addr) + !PACKER(t, insn, packer, Sub_l1_tile_header_size);
}

static bool compresses(wg_tile *t, const wg_insn *insn, unsigned packer)
{
    if (config(t, insn, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress_ovrd))
        return !(config(t, insn, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress) >> packer & 1);
    return !PACKER(t, insn, packer, Disable_zero_compress);
}

static void place(wg_tile *t, wg_pack_job *job, unsigned packer, wg_pack_stream_id stream, uint32_t address)
{
    wg_packer *p = &t->backend.pack.packer[packer];
    if (p->placed >> stream & 1)
        return;
    p->placed = (uint8_t)(p->placed | 1u << stream);
    job->part[packer].places = (uint8_t)(job->part[packer].places | 1u << stream);
    job->part[packer].address[stream] = (address & 0x1FFFF) << 4;
}

static void plan_output(wg_tile *t, wg_pack_job *job, unsigned packer, const wg_adc_channel *c)
{
    static const uint16_t limit[] = {WG_CFG_THCON_SEC0_REG9_Pack_0_2_limit_address,
                                     WG_CFG_THCON_SEC0_REG9_Pack_1_3_limit_address,
                                     WG_CFG_THCON_SEC1_REG9_Pack_0_2_limit_address,
                                     WG_CFG_THCON_SEC1_REG9_Pack_1_3_limit_address};
    static const uint16_t fifo[] = {
        WG_CFG_THCON_SEC0_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC0_REG9_Pack_1_3_fifo_size,
        WG_CFG_THCON_SEC1_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC1_REG9_Pack_1_3_fifo_size};
    const wg_insn *insn = &job->insn;
    wg_pack_part *part = &job->part[packer];
    uint32_t address = first_address(t, insn, packer);
    if (packer) {
        uint32_t first = first_address(t, insn, 0);
        address += first >> 31 ? first : 0;
    }
    uint32_t more = config(t, insn, WG_CFG_PCK0_ADDR_BASE_REG_1_Base) +
                    c->y * config(t, insn, WG_CFG_PCK0_ADDR_CTRL_XY_REG_1_Ystride) +
                    c->z * config(t, insn, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Zstride) +
                    c->w * config(t, insn, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Wstride);
    /* ttsim: on BH the strides count bytes. */
    address += t->arch->pack.output_in_bytes ? more >> 4 : more & ~15u;
    if (PACKER(t, insn, packer, Add_l1_dest_addr_offset))
        address += t->backend.tdma.packer[packer].l1_dest_addr_offset;
    if (address > config(t, insn, limit[packer]) * 2 + 1)
        address -= config(t, insn, fifo[packer]) * 2;
    part->places = 0;
    if (part->compress) {
        place(t, job, packer, WG_STREAM_ROWS, address);
        address += PACKER(t, insn, packer, Row_start_section_size);
    }
    if (part->out_format & 2) {   /* with FP8 and INT8, although they have no exponents */
        place(t, job, packer, WG_STREAM_EXPONENTS, address);
        address += PACKER(t, insn, packer, Exp_section_size);
    }
    place(t, job, packer, WG_STREAM_DATA, address);
    if (job->last || job->flush)
        t->backend.pack.packer[packer].placed = 0;
}

/* ---- Modes ------------------------------------------------------------------------------------------------- */

static void plan_edges(wg_tile *t, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    job->edge_faces = config(t, insn, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_enable);
    job->edge_infinite = config(t, insn, WG_CFG_PCK_EDGE_MODE_mode);
    job->edges = false;
    for (unsigned i = 0; i < 4; i++) {
        job->edge_mask[i] = (uint16_t)config(t, insn, NUMBERED(PCK_EDGE_OFFSET_SEC, i, mask));
        job->edges |= job->edge_mask[i] != 0xFFFF;
        /* 16 mappings of two bits fill a word. */
        job->row_sets[i] = wg_config_word(t, insn->thread, wg_cfg_fields[t->arch->id][
            NUMBERED(TILE_ROW_SET_MAPPING_, i, row_set_mapping_0)].word);
        job->face_sets[i] = wg_config_word(t, insn->thread, wg_cfg_fields[t->arch->id][
            NUMBERED(TILE_FACE_SET_MAPPING_, i, face_set_mapping_0)].word);
    }
}

/* The low five bits of ShiftAmount. Decided here: in mode 1, z is Z of the thread's channel 0. */
static uint8_t descale_shift(wg_tile *t, const wg_insn *insn)
{
    if (!config(t, insn, WG_CFG_INT_DESCALE_Enable))
        return 0;
    unsigned z = config(t, insn, WG_CFG_INT_DESCALE_Mode) ? t->regs.adc.unit[insn->thread][2][0].z & 63u : 0;
    unsigned word = wg_cfg_fields[t->arch->id][WG_CFG_INT_DESCALE_VALUES_SEC0_Value].word + z / 4;
    return wg_config_word(t, insn->thread, word) >> z % 4 * 8 & 31;
}

/* Fields of a packer's section that nobody documents, or that are documented and not modelled. */
static void report_ignored(wg_tile *t, const wg_insn *insn, unsigned packer)
{
#define IGNORED(name)                                                                                              \
    if (PACKER(t, insn, packer, name))                                                                             \
        unimplemented(t, insn, #name)
    IGNORED(Dis_shared_exp_assembler);
    IGNORED(Downsample_rate);
    IGNORED(Read_mode);
    IGNORED(Force_pack_per_max_xy_plane);
    IGNORED(Auto_set_last_pacr_intf_sel);
    IGNORED(pack_dis_y_pos_start_offset);
#undef IGNORED
    if (config(t, insn, WG_CFG_THCON_SEC0_REG1_pack_start_intf_pos))
        unimplemented(t, insn, "pack_start_intf_pos");
}

static void plan_formats(wg_tile *t, wg_pack_job *job, unsigned packer)
{
    const wg_insn *insn = &job->insn;
    wg_pack_part *part = &job->part[packer];
    unsigned format = config(t, insn, config(t, insn, WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_override)
                                          ? WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_val : WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc);
    part->in_format = (uint8_t)PACKER(t, insn, packer, In_data_format);
    part->out_format = (uint8_t)PACKER(t, insn, packer, Out_data_format);
    wg_pack_reading reading = {
        .format = (uint8_t)format,
        .wide = config(t, insn, WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data),
        .raw = config(t, insn, WG_CFG_PCK_DEST_RD_CTRL_Read_int8),
        .is_unsigned = config(t, insn, WG_CFG_PCK_DEST_RD_CTRL_Read_unsigned),
        .ten_bits = config(t, insn, WG_CFG_PCK_DEST_RD_CTRL_Round_10b_mant),
        .fp16_from_f8 = t->arch->pack.fp16_from_f8,
    };
    wg_pack_early early;
    bool from_dst = source_of(t, insn, packer) == WG_PACK_FROM_DST, fine = wg_pack_early_of(reading, &early);
    wg_mid mid = from_dst ? wg_pack_early_mid(early) : wg_pack_mid_of(part->in_format);
    part->early = (uint8_t)early;
    part->mid = (uint8_t)mid;
    /* Only BH has the field, and then in the first section of each half. */
    bool four = config(t, insn, packer < 2 ? WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp
                                           : WG_CFG_THCON_SEC1_REG1_Pac_LF8_4b_exp);
    fine = wg_pack_late_of(mid, part->in_format, part->out_format, four, &part->late) && (fine || !from_dst);
    if (!fine && !job->flush)
        wg_find_insn(t, WG_F_PACK_FORMAT, insn, format << 8 | (unsigned)part->in_format << 4 | part->out_format,
                     packer);
    bool relu_threshold = job->relu > 1 && from_dst;
    if (relu_threshold && (job->relu_threshold >> 15 || mid > WG_MID_F5))
        wg_find_insn(t, WG_F_PACK_RELU, insn, job->relu_threshold, packer);
}

static void plan_part(wg_tile *t, wg_pack_job *job, unsigned packer)
{
    const wg_insn *insn = &job->insn;
    wg_pack_part *part = &job->part[packer];
    plan_formats(t, job, packer);
    uint16_t mask = (uint16_t)PACKER(t, insn, packer, Downsample_mask);
    part->downsample = mask ? mask : 0xFFFF;
    part->compress = compresses(t, insn, packer);
    part->accumulate = PACKER(t, insn, packer, Pack_L1_Acc);
    part->threshold_on = PACKER(t, insn, packer, Exp_threshold_en);
    part->threshold = (uint8_t)PACKER(t, insn, packer, Exp_threshold);
    part->zero_flags = !PACKER(t, insn, packer, Disable_pack_zero_flags);
    part->header = PACKER(t, insn, packer, Add_tile_header_size);
    part->into_fifo = PACKER(t, insn, packer, Enable_out_fifo);
    part->rows_per_plane = (uint8_t)config(t, insn, NUMBERED(PACK_COUNTERS_SEC, packer, pack_reads_per_xy_plane));
    part->transposed = config(t, insn, NUMBERED(PACK_COUNTERS_SEC, packer, pack_yz_transposed));
    part->z_offset = (uint8_t)config(t, insn, NUMBERED(DEST_TARGET_REG_CFG_PACK_SEC, packer, ZOffset));
    unsigned select = config(t, insn, job->edge_faces ? WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_select
                                                      : WG_CFG_PCK_EDGE_TILE_ROW_SET_SELECT_select);
    part->set_select = (uint8_t)(select >> 2 * packer & 3);
    if (part->accumulate && !wg_pack_accumulates(part->out_format)) {
        wg_find_insn(t, WG_F_PACK_ACCUMULATE, insn, part->out_format, packer);
        part->accumulate = false;
    }
    if (part->threshold_on) {
        if (part->in_format == WG_FMT_BFP2A)
            wg_find_insn(t, WG_F_PACK_THRESHOLD, insn, packer, 0);
        part->threshold_on =
            part->in_format != WG_FMT_BFP2A && part->in_format != WG_FMT_BFP2 && part->mid <= WG_MID_F5;
    }
    report_ignored(t, insn, packer);
}

/* RowPadZero: bits [1:0] say when, bit 2 what. */
static wg_pack_padding padding_of(const wg_tile *t, const wg_insn *insn)
{
    unsigned field = bits(insn, ROW_PAD, 7), when = field & 3;
    if (!t->arch->pack.interfaces || !when || (when == 2 && bit(insn, CONCAT)) || (when == 3 && !bit(insn, LAST)))
        return WG_PAD_NONE;
    return field >> 2 ? WG_PAD_ALL : WG_PAD_ROWS;
}

static void report_operands(wg_tile *t, const wg_insn *insn)
{
    unsigned mask = bits(insn, SELECT, 15);
    if (!t->arch->pack.interfaces) {
        /* 0, single packers, 0-1, 2-3, all. */
        if (!(0x911F >> mask & 1))
            wg_find_insn(t, WG_F_PACK_MASK, insn, mask, 0);
        return;
    }
    if (bits(insn, CONTEXT, 3))
        unimplemented(t, insn, "CfgContext");
    if (bits(insn, CONTEXT_CONTROL, 3))
        unimplemented(t, insn, "CtxtCtrl");
    wg_dst_access access = wg_dst_access_now(t);
    if (bit(insn, STRIDED) && !(access.remap && access.swizzle))
        unimplemented(t, insn, "DstAccessMode without swizzle_32b and remap_addrs");
}

/* ---- Counters ------------------------------------------------------------------------------------------------ */

static void move_channel(wg_adc_channel *c, uint16_t mode)
{
    uint16_t increment = mode & 15;
    if (mode >> 5 & 1)
        wg_adc_set(c, WG_ADC_Y, 0);
    else if (mode >> 4 & 1)
        wg_adc_carriage_return(c, WG_ADC_Y, increment);
    else
        wg_adc_increment(c, WG_ADC_Y, increment);
}

static void move_counters(wg_tile *t, const wg_insn *insn, unsigned which)
{
    /* A section of ADDR_MOD_PACK fills a word: Y of channel 0 and 1 in six bits each, then Z in two bits each. */
    unsigned first = wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    uint16_t mode = t->regs.config.thread[insn->thread][first + bits(insn, ADDRESS_MODE, 3)];
    for (unsigned i = 0; i < 3; i++) {
        if (!(which >> i & 1))
            continue;
        wg_adc_channel *channel = t->regs.adc.unit[i][2];
        for (unsigned k = 0; k < 2; k++) {
            move_channel(&channel[k], (uint16_t)(mode >> 6 * k));
            if (mode >> (13 + 2 * k) & 1)
                wg_adc_set(&channel[k], WG_ADC_Z, 0);
            else
                wg_adc_increment(&channel[k], WG_ADC_Z, mode >> (12 + 2 * k) & 1);
        }
    }
}

void wg_pack_plan(wg_tile *t, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    unsigned advance = 0;
    report_operands(t, insn);
    job->last = bit(insn, LAST);
    job->flush = bit(insn, FLUSH);
    job->concat = bit(insn, CONCAT);
    job->padding = (uint8_t)padding_of(t, insn);
    interfaces(t, insn, &job->interfaces, &job->row_stride);
    job->relu = config(t, insn, WG_CFG_STACC_RELU_ApplyRelu) & 3;
    job->relu_threshold = (uint16_t)config(t, insn, WG_CFG_STACC_RELU_ReluThreshold);
    job->shift = descale_shift(t, insn);
    if (config(t, insn, WG_CFG_ALU_ROUNDING_MODE_Packer_srnd_en))
        wg_findf(t, WG_F_UNIMPLEMENTED_INSN, wg_insn_finding(insn, 0, 0),
                 "PACR: stochastic rounding (ALU_ROUNDING_MODE_Packer_srnd_en); rounded to nearest");
    plan_edges(t, job);
    for (unsigned i = 0; i < WG_PACKERS; i++) {
        if (!(job->packers >> i & 1))
            continue;
        unsigned which = which_counters(t, insn, i);
        advance |= 1u << which;
        plan_part(t, job, i);
        plan_input(t, job, i, t->regs.adc.unit[which][2]);
        plan_output(t, job, i, &t->regs.adc.unit[which][2][1]);
    }
    move_counters(t, insn, advance);
}

/*
 * Decided here: a packer reads as many rows of Dst and writes as many lines to L1 per cycle as the architecture's
 * descriptor says, whichever takes longer; the padding of flushes, exponents and row starts cost nothing more. BH: four
 * of each, which is what WH's four packers do together. Accumulation in L1 is atomic: five cycles per line.
 */
unsigned wg_pack_cycles(const wg_tile *t, const wg_pack_job *job, unsigned packer)
{
    const wg_pack_part *part = &job->part[packer];
    uint32_t runs = job->interfaces ? (uint32_t)__builtin_popcount(job->interfaces) : 1;
    uint32_t rows = runs * ((part->count + 15) / 16);
    uint32_t kept = runs * (part->count / 16 * (uint32_t)__builtin_popcount(part->downsample) +
                            (uint32_t)__builtin_popcount(part->downsample & ((1u << part->count % 16) - 1)));
    uint32_t lines = (kept * wg_l1_bits(part->out_format) + 127) / 128 * (part->accumulate ? 5 : 1);
    uint32_t reading = (rows + t->arch->pack.rows_per_cycle - 1) / t->arch->pack.rows_per_cycle;
    uint32_t writing = (lines + t->arch->pack.lines_per_cycle - 1) / t->arch->pack.lines_per_cycle;
    uint32_t cycles = reading > writing ? reading : writing;
    return cycles ? cycles : 1;
}
