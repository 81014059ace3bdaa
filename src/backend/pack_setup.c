/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers' configuration, decoded. With the shortcut `decoding` once, until it changes.
 *
 *     Config of the thread's bank ──> wg_pack_setup: addresses, strides, modes
 *                                       └── wg_pack_section per packer (BH: per context): formats, places in L1
 *
 * Nothing here depends on an instruction: findings caused by configuration alone are recorded as flags, and reported when an
 * instruction uses the settings concerned.
 *
 * While the Configuration Unit has instructions, everything is read again through the check for writes in flight.
 *
 * Facts: FormatConversion.md, InputAddressGenerator.md, OutputAddressGenerator.md, EdgeMasking.md; WH's sections per packer
 * are BH's sections per context (Decided here: BH has all four).
 */
#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "machine/fast.h"
#include "num/l1_formats.h"

typedef struct reader {
    const wg_tile *t;
    wg_tile *reports;   /* the same tile, if the instruction is accepted: reports writes in flight and touches */
    wg_pack_read *seen; /* reads, word by word: touched together at the end */
    const wg_cfg_field *fields;
    const uint32_t *bank;
    unsigned thread;
    bool check;    /* report writes in flight */
    bool touch;    /* collect touches */
    unsigned when; /* PACR.md: some fields are sampled when it starts (the input address generator's), others later */
} reader;

static void note(const reader *r, unsigned at, uint32_t mask)
{
    wg_pack_read *s = r->seen;
    unsigned how = WG_TOUCH_READ | r->when, i = 0;
    while (i < s->count && !(s->at[i].word == at && s->at[i].how == how))
        i++;
    if (i == sizeof s->at / sizeof *s->at) {
        s->full = true;
        wg_config_touched(r->reports, how, r->thread, at, mask);
        return;
    }
    if (i == s->count) {
        s->at[i].word = (uint16_t)at;
        s->at[i].how = (uint16_t)how;
        s->at[s->count++].mask = 0;
    }
    s->at[i].mask |= mask;
}

static uint32_t masked(const reader *r, unsigned at, uint32_t mask)
{
    if (__builtin_expect(r->touch, 0))
        note(r, at, mask);
    if (__builtin_expect(r->check, 0))
        wg_config_check_pending(r->reports, r->thread, at);
    return r->bank[at < WG_CONFIG_WORDS ? at : 0];
}
static uint32_t word(const reader *r, unsigned at) { return masked(r, at, UINT32_MAX); }
static uint32_t get(const reader *r, unsigned id)
{
    const wg_cfg_field *f = &r->fields[id];
    return f->mask ? masked(r, f->word, f->mask << f->shift) >> f->shift & f->mask : 0;
}

/* A field of a section. */
#define PACKER(r, i, name) \
    get((r), ((const uint16_t[]){WG_CFG_THCON_SEC0_REG1_##name, WG_CFG_THCON_SEC0_REG8_##name, \
                                 WG_CFG_THCON_SEC1_REG1_##name, WG_CFG_THCON_SEC1_REG8_##name})[i])
/* One of four numbered fields, or the word that holds them. */
#define NUMBERED(before, i, after) \
    (((const uint16_t[]){WG_CFG_##before##0_##after, WG_CFG_##before##1_##after, WG_CFG_##before##2_##after, \
                         WG_CFG_##before##3_##after})[i])

/* The set of values 0 to 3 of the two-bit fields in a word: a bit per value. */
static unsigned values_in(uint32_t fields, unsigned count)
{
    unsigned values = 0;
    for (unsigned i = 0; i < count; i++)
        values |= 1u << (fields >> 2 * i & 3);
    return values;
}

/* Can an edge mask hide a datum of any packer? Masks that no row uses do not count. */
static bool edges_hide(const wg_pack_edges *e)
{
    unsigned sets = values_in(e->selects, WG_PACKERS), rows = e->faces ? 0 : sets, masks = 0;
    for (unsigned i = 0; i < 4; i++)
        if (e->faces && sets >> i & 1)
            rows |= values_in(e->face_sets[i], 16);
    for (unsigned i = 0; i < 4; i++)
        if (rows >> i & 1)
            masks |= values_in(e->row_sets[i], 16);
    for (unsigned i = 0; i < 4; i++)
        if (masks >> i & 1 && e->mask[i] != 0xFFFF)
            return true;
    return false;
}

static void decode_edges(const reader *r, wg_pack_setup *s)
{
    s->edges.faces = get(r, WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_enable);
    s->edges.infinite = get(r, WG_CFG_PCK_EDGE_MODE_mode);
    s->edges.selects = (uint8_t)get(r, s->edges.faces ? WG_CFG_PCK_EDGE_TILE_FACE_SET_SELECT_select
                                                      : WG_CFG_PCK_EDGE_TILE_ROW_SET_SELECT_select);
    for (unsigned i = 0; i < 4; i++) {
        s->edges.mask[i] = (uint16_t)get(r, NUMBERED(PCK_EDGE_OFFSET_SEC, i, mask));
        /* 16 mappings of two bits fill a word. */
        s->edges.row_sets[i] = word(r, r->fields[NUMBERED(TILE_ROW_SET_MAPPING_, i, row_set_mapping_0)].word);
        s->edges.face_sets[i] = word(r, r->fields[NUMBERED(TILE_FACE_SET_MAPPING_, i, face_set_mapping_0)].word);
    }
    s->has_edges = edges_hide(&s->edges);
}

static void decode_addresses(reader *r, wg_pack_setup *s)
{
    r->when = WG_TOUCH_AT_GATE;
    s->in_base = get(r, WG_CFG_PCK0_ADDR_BASE_REG_0_Base);
    s->in_stride[0] = get(r, WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Xstride) & 15;
    s->in_stride[1] = get(r, WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Ystride);
    s->in_stride[2] = get(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride);
    s->in_stride[3] = get(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Wstride);
    r->when = 0;
    s->out_base = get(r, WG_CFG_PCK0_ADDR_BASE_REG_1_Base);
    s->out_stride[0] = 0;
    s->out_stride[1] = get(r, WG_CFG_PCK0_ADDR_CTRL_XY_REG_1_Ystride);
    s->out_stride[2] = get(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Zstride);
    s->out_stride[3] = get(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_1_Wstride);
}

static bool compresses(const reader *r, unsigned i)
{
    if (get(r, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress_ovrd))
        return !(get(r, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress) >> i & 1);
    return !PACKER(r, i, Disable_zero_compress);
}

static void decode_formats(const reader *r, wg_pack_setup *s, unsigned i)
{
    wg_pack_section *section = &s->section[i];
    wg_pack_settings *set = &section->from_dst;
    unsigned format = get(r, get(r, WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_override) ? WG_CFG_ALU_FORMAT_SPEC_REG_Dstacc_val
                                                                                : WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc);
    set->in_format = (uint8_t)PACKER(r, i, In_data_format);
    set->out_format = (uint8_t)PACKER(r, i, Out_data_format);
    wg_pack_reading reading = {
        .format = (uint8_t)format,
        .wide = s->wide,
        .raw = get(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8),
        .is_unsigned = get(r, WG_CFG_PCK_DEST_RD_CTRL_Read_unsigned),
        .ten_bits = get(r, WG_CFG_PCK_DEST_RD_CTRL_Round_10b_mant),
        .fp16_from_f8 = r->t->arch->pack.fp16_from_f8,
    };
    /* Only BH has the field, and then in the first section of each half. */
    s->intermediate = (uint8_t)format;
    bool four = get(r, i < 2 ? WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp : WG_CFG_THCON_SEC1_REG1_Pac_LF8_4b_exp);
    wg_pack_early early;
    section->good_from_dst = wg_pack_early_of(reading, &early);
    set->early = (uint8_t)early;
    set->mid = (uint8_t)wg_pack_early_mid(early);
    section->good_from_dst &= wg_pack_late_of((wg_mid)set->mid, set->in_format, set->out_format, four, &set->late);
    wg_mid mid = wg_pack_mid_of(set->in_format);
    section->good_from_elsewhere =
        wg_pack_late_of(mid, set->in_format, set->out_format, four, &section->from_elsewhere.late);
    section->from_elsewhere.mid = (uint8_t)mid;
}

/* The first undocumented field that is set. */
static const char *ignored(const reader *r, unsigned i)
{
#define IGNORED(name) \
    if (PACKER(r, i, name)) \
    return #name
    IGNORED(Dis_shared_exp_assembler);
    IGNORED(Downsample_rate);
    IGNORED(Read_mode);
    IGNORED(Force_pack_per_max_xy_plane);
    IGNORED(pack_dis_y_pos_start_offset);
#undef IGNORED
    return get(r, WG_CFG_THCON_SEC0_REG1_pack_start_intf_pos) ? "pack_start_intf_pos" : NULL;
}

void wg_pack_report_ignored(wg_tile *t, const wg_insn *insn, unsigned section)
{
    reader r = {.t = t,
                .fields = wg_cfg_fields[t->arch->id],
                .thread = insn->thread,
                .bank = t->regs.config.bank[wg_config_bank(t, insn->thread)]};
    const char *name = ignored(&r, section & 3);
    if (name)
        wg_findf(t, WG_F_UNIMPLEMENTED_INSN, wg_insn_finding(insn, 0, 0), "PACR: %s is ignored", name);
}

static void decode_section(reader *r, wg_pack_setup *s, unsigned i)
{
    static const uint16_t limit[] = {
        WG_CFG_THCON_SEC0_REG9_Pack_0_2_limit_address, WG_CFG_THCON_SEC0_REG9_Pack_1_3_limit_address,
        WG_CFG_THCON_SEC1_REG9_Pack_0_2_limit_address, WG_CFG_THCON_SEC1_REG9_Pack_1_3_limit_address};
    static const uint16_t fifo[] = {
        WG_CFG_THCON_SEC0_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC0_REG9_Pack_1_3_fifo_size,
        WG_CFG_THCON_SEC1_REG9_Pack_0_2_fifo_size, WG_CFG_THCON_SEC1_REG9_Pack_1_3_fifo_size};
    static const uint16_t planes[] = {
        WG_CFG_PACK_COUNTERS_SEC0_auto_ctxt_inc_xys_cnt, WG_CFG_PACK_COUNTERS_SEC1_auto_ctxt_inc_xys_cnt,
        WG_CFG_PACK_COUNTERS_SEC2_auto_ctxt_inc_xys_cnt, WG_CFG_PACK_COUNTERS_SEC3_auto_ctxt_inc_xys_cnt};
    wg_pack_section *section = &s->section[i];
    wg_pack_settings *set = &section->from_dst;
    decode_formats(r, s, i);
    uint16_t mask = (uint16_t)PACKER(r, i, Downsample_mask);
    set->downsample = mask ? mask : 0xFFFF;
    set->wide = set->early <= WG_EARLY_HIGH;
    set->random_blocks = s->random & WG_RANDOM_BLOCKS;
    set->blocks = wg_l1_shares_exponent(set->out_format);
    set->row_bytes = (uint8_t)(2 * wg_l1_bits(set->out_format));
    set->compress = compresses(r, i);
    set->accumulate = PACKER(r, i, Pack_L1_Acc);
    set->threshold_on = PACKER(r, i, Exp_threshold_en);
    set->threshold = (uint8_t)PACKER(r, i, Exp_threshold);
    set->zero_flags = !PACKER(r, i, Disable_pack_zero_flags);
    set->header = PACKER(r, i, Add_tile_header_size);
    set->into_fifo = PACKER(r, i, Enable_out_fifo);
    set->rows_per_plane = (uint8_t)get(r, NUMBERED(PACK_COUNTERS_SEC, i, pack_reads_per_xy_plane));
    set->transposed = get(r, NUMBERED(PACK_COUNTERS_SEC, i, pack_yz_transposed));
    set->z_offset = (uint8_t)get(r, NUMBERED(DEST_TARGET_REG_CFG_PACK_SEC, i, ZOffset));
    set->set_select = s->edges.selects >> 2 * i & 3;
    section->bad_accumulate = set->accumulate && !wg_pack_accumulates(set->out_format);
    set->accumulate &= !section->bad_accumulate;
    section->bad_threshold = set->threshold_on && set->in_format == WG_FMT_BFP2A;
    set->threshold_on &= set->in_format != WG_FMT_BFP2A && set->in_format != WG_FMT_BFP2;

    /* Input from elsewhere differs only in its formats. */
    wg_pack_settings other = *set;
    other.mid = section->from_elsewhere.mid;
    other.late = section->from_elsewhere.late;
    other.threshold_on &= other.mid <= WG_MID_F5;
    section->from_elsewhere = other;
    set->threshold_on &= set->mid <= WG_MID_F5;
    set->straight = !set->compress && !set->accumulate && !set->threshold_on && set->downsample == 0xFFFF && !s->relu &&
                    !s->has_edges && !s->random && !s->statistics;

    section->from_l1 = (!i || r->t->arch->pack.interfaces) && PACKER(r, i, Source_interface_selection);
    section->adds_offset = PACKER(r, i, Add_l1_dest_addr_offset);
    section->fills_plane = PACKER(r, i, Auto_set_last_pacr_intf_sel);
    section->planes_per_context = (uint8_t)get(r, planes[i]);
    section->counters = (uint8_t)PACKER(r, i, Addr_cnt_context);
    section->address = PACKER(r, i, L1_Dest_addr) + !PACKER(r, i, Sub_l1_tile_header_size);
    section->limit = get(r, limit[i]) * 2 + 1;
    section->fifo = get(r, fifo[i]) * 2;
    section->row_starts = set->compress ? PACKER(r, i, Row_start_section_size) : 0;
    section->exponents = set->out_format & 2 ? PACKER(r, i, Exp_section_size) : 0;
    r->when = WG_TOUCH_AT_GATE;
    section->dst_offset = get(r, NUMBERED(DEST_TARGET_REG_CFG_PACK_SEC, i, Offset)) << 4;
    r->when = 0;
    section->l1_source = PACKER(r, i, L1_source_addr) << 18;
    section->ignored = ignored(r, i) != NULL;
    section->silent = section->good_from_dst && !section->bad_accumulate && !section->bad_threshold &&
                      !section->ignored && s->relu < 2;
}

/* Packers 1 to 3 add packer 0's address if its top bit is set. Contexts do not. */
static void add_first_address(const wg_tile *t, wg_pack_setup *s)
{
    uint32_t first = s->section[0].address;
    for (unsigned i = 1; i < WG_PACKERS && first >> 31 && !t->arch->pack.interfaces; i++)
        s->section[i].address += first;
}

static bool statistics(const wg_tile *t)
{
    return wg_thread_config_get(t, 0, WG_TCFG_ENABLE_ACC_STATS_Enable) ||
           wg_thread_config_get(t, 1, WG_TCFG_ENABLE_ACC_STATS_Enable) ||
           wg_thread_config_get(t, 2, WG_TCFG_ENABLE_ACC_STATS_Enable);
}

/* Decodes it for an instruction that uses `sections`. The reader's `seen` is that of *s. */
static void decode(reader *r, wg_pack_setup *s, unsigned sections)
{
    const wg_tile *t = r->t;
    wg_dst_access access = wg_dst_access_now(t);
    s->remap = access.remap;
    s->swizzle = access.swizzle;
    s->statistics = statistics(t);
    s->wide = get(r, WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data);
    s->relu = get(r, WG_CFG_STACC_RELU_ApplyRelu) & 3;
    s->relu_threshold = (uint16_t)get(r, WG_CFG_STACC_RELU_ReluThreshold);
    s->random = (uint8_t)((get(r, WG_CFG_ALU_ROUNDING_MODE_Gasket_srnd_en) ? WG_RANDOM_EARLY : 0) |
                          (get(r, WG_CFG_ALU_ROUNDING_MODE_Packer_srnd_en) ? WG_RANDOM_BLOCKS : 0));
    s->descales = get(r, WG_CFG_INT_DESCALE_Enable);
    s->descales_by_z = get(r, WG_CFG_INT_DESCALE_Mode);
    decode_addresses(r, s);
    decode_edges(r, s);
    const bool check = r->check, touch = r->touch;
    for (unsigned i = 0; i < WG_PACKERS; i++) {
        r->check = check && sections >> i & 1;
        r->touch = touch && sections >> i & 1;
        decode_section(r, s, i);
    }
    add_first_address(t, s);
}

/* Does it hold the present configuration? While the Configuration Unit has instructions, it is read again. */
static bool holds(const wg_tile *t, const wg_pack_setup *s)
{
    return s->changes == t->regs.config.changes + 1 && !t->backend.config.instructions;
}

const wg_pack_setup *wg_pack_ask_setup(const wg_tile *t, const wg_insn *insn, wg_pack_setup *own)
{
    const unsigned bank = wg_config_bank(t, insn->thread);
    const wg_pack_setup *s = &t->backend.pack.setup[bank];
    if (__builtin_expect(holds(t, s) && wg_fast_decoded(t), 1))
        return s;
    reader r = {
        .t = t, .fields = wg_cfg_fields[t->arch->id], .bank = t->regs.config.bank[bank], .thread = insn->thread};
    decode(&r, own, 0);
    return own;
}

static void touch_again(wg_tile *t, unsigned thread, const wg_pack_read *seen)
{
    for (unsigned i = 0; i < seen->count; i++)
        wg_config_touched(t, seen->at[i].how, thread, seen->at[i].word, seen->at[i].mask);
}

const wg_pack_setup *wg_pack_read_setup(wg_tile *t, const wg_insn *insn, unsigned sections)
{
    const bool touch = wg_touch_watched(t), again = wg_fast_decoded(t);
    const unsigned bank = wg_config_bank(t, insn->thread);
    wg_pack_setup *s = &t->backend.pack.setup[bank];
    wg_pack_read *seen = &s->read;
    if (again && holds(t, s) && (!touch || (seen->changes == s->changes && seen->sections == sections))) {
        if (touch)
            touch_again(t, insn->thread, seen);
        return s;
    }
    reader r = {.t = t,
                .reports = t,
                .seen = seen,
                .fields = wg_cfg_fields[t->arch->id],
                .bank = t->regs.config.bank[bank],
                .thread = insn->thread,
                .check = t->backend.config.instructions != 0 && t->sched.phase == WG_PHASE_GATES,
                .touch = touch};
    seen->count = 0;
    seen->full = false;
    seen->sections = sections;
    s->changes = t->regs.config.changes + 1;
    decode(&r, s, sections);
    seen->changes = touch && !seen->full ? s->changes : 0;
    touch_again(t, insn->thread, seen);
    return s;
}
