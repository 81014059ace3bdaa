/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PACR's address generators: turn configuration and counters into a place in Dst, addresses in L1 and modes.
 *
 *     counters, channel 0 ──> first datum in Dst (or L1), datum count (with channel 1's X)
 *     counters, channel 1 ──> where the streams in L1 begin, unless they continue
 *
 * A packed tile in L1:  [16 bytes of header, not written] [row starts, if compressed] [exponents, if 8 bits or less]
 *                       [datums]
 *
 * Decided here: all configuration is read when the instruction is accepted, and the counters step then. The pages permit some
 * fields to be sampled later; software that waits for the packers sees no difference.
 *
 * BH: read interface i of the mask reads row StartRow + i, which must lie in StartRow's aligned group of four (the page's
 * code and text disagree for a StartRow that is not a multiple of four; this follows the text and ttsim).
 *
 * BH: CtxtCtrl 0 takes the context from CfgContext; 1 and 3 use the packer's own, which advances by one after a Last, or
 * after auto_ctxt_inc_xys_cnt planes; 2 only resets it. Decided here: after context 3, 1 wraps to 0 and 3 stays ("will not be
 * reset, if those would have been reset for 01").
 *
 * Facts: InputAddressGenerator.md, OutputAddressGenerator.md, BlackholeA0 PACR.md; for BH's RowPadZero, contexts,
 * AddrCntContext and the ZeroWrite of many rows the assembly table.
 */
#include <string.h>

#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/matrix.h"
#include "backend/pack_internal.h"
#include "num/l1_formats.h"

/* BH's operands that are described but have no page. */
enum {
    ONLY_DESCRIBED = WG_OPERAND_MASK(BH, PACR, CtxtCtrl) | WG_OPERAND_MASK(BH, PACR, DstAccessMode) |
                     WG_OPERAND_MASK(BH, PACR, RowPadZero) | WG_OPERAND_MASK(BH, PACR, CfgContext)
};
/* Operands that the simple PACR does not use. */
enum { NOT_USUAL = ONLY_DESCRIBED | WG_OPERAND_MASK(BH, PACR, Flush) | WG_OPERAND_MASK(BH, PACR, ZeroWrite) };
enum { OWN_CONTEXT = 1, RESET_CONTEXT = 2, OWN_CONTEXT_STAYS = 3 };

/* The configuration section of a packer; on BH, of a context. */
static unsigned section_of(const wg_tile *t, const wg_insn *insn, unsigned packer)
{
    if (!t->arch->pack.interfaces)
        return packer;
    return WG_OPERAND(BH, PACR, CtxtCtrl, insn->word) & OWN_CONTEXT ? t->backend.pack.context & 3u
                                                                    : WG_OPERAND(BH, PACR, CfgContext, insn->word);
}

/* ---- Input ------------------------------------------------------------------------------------------------- */

static unsigned which_counters(const wg_tile *t, const wg_insn *insn, const wg_pack_section *section)
{
    unsigned which = insn->thread;
    if (WG_GET(PACR, OvrdThreadId, insn->word))
        which = t->arch->pack.interfaces ? WG_OPERAND(BH, PACR, AddrCntContext, insn->word) : section->counters;
    return which == 3 ? 0 : which;
}

static uint32_t input_address(const wg_pack_setup *s, const wg_adc_channel *c)
{
    return s->in_base + c->x * s->in_stride[0] + c->y * s->in_stride[1] + c->z * s->in_stride[2] +
           c->w * s->in_stride[3];
}

/* log2 of a datum's size in addresses of Dst, from the low bits of In_data_format. */
static unsigned datum_shift(unsigned format) { return (format & 3) == 0 ? 2 : (format & 3) == 1 ? 1 : 0; }

static uint32_t dst_start(const wg_pack_setup *s, const wg_pack_section *section, const wg_adc_channel *c)
{
    unsigned shift = datum_shift(section->from_dst.in_format);
    uint32_t x_mask = (16u >> shift) - 1;
    uint32_t datum = ((input_address(s, c) >> shift) & ~x_mask) + (c->x & x_mask);
    return (datum + section->dst_offset) & 0x3FFF;
}

static uint32_t datum_count(const wg_insn *insn, const wg_adc_channel *channel)
{
    return WG_GET(PACR, Flush, insn->word) ? 0 : (channel[1].x - channel[0].x + 1) & 0x3FFFF;
}

/* The last PACR of a plane reads only the remaining rows. */
static unsigned rest_of_plane(const wg_tile *t, const wg_pack_section *section, unsigned mask)
{
    unsigned rows = section->from_dst.rows_per_plane, position = t->backend.pack.planned_row;
    if (!section->fills_plane || position >= rows || rows - position >= 4)
        return mask;
    return (1u << (rows - position)) - 1;
}

static void interfaces(const wg_tile *t, const wg_insn *insn, const wg_pack_setup *s, const wg_pack_section *section,
                       uint8_t *mask, uint8_t *stride)
{
    *mask = 0;
    *stride = 1;
    if (!t->arch->pack.interfaces)
        return;
    unsigned select = WG_GET(PACR, Select, insn->word);
    if (select || !WG_GET(PACR, ZeroWrite, insn->word)) /* ZeroWrite with mask 0 is one long run */
        *mask = (uint8_t)rest_of_plane(t, section, select ? select : 15);
    if (WG_OPERAND(BH, PACR, DstAccessMode, insn->word))
        *stride = s->remap ? 16 : 8; /* ttsim: 16; the assembly table: 8, of stored rows */
}

static wg_pack_source source_of(const wg_insn *insn, const wg_pack_section *section)
{
    if (WG_GET(PACR, ZeroWrite, insn->word) || WG_GET(PACR, Flush, insn->word))
        return WG_PACK_FROM_NOTHING;
    return section->from_l1 ? WG_PACK_FROM_L1 : WG_PACK_FROM_DST;
}

static bool only_resets_context(const wg_tile *t, const wg_insn *insn)
{
    return t->arch->pack.interfaces && WG_OPERAND(BH, PACR, CtxtCtrl, insn->word) == RESET_CONTEXT;
}

uint64_t wg_pack_rows_ready(wg_tile *t, const wg_insn *insn, unsigned packer, unsigned *block)
{
    unsigned at = section_of(t, insn, packer);
    const wg_pack_setup *s = wg_pack_setup_of(t, insn, 1u << at, WG_PACK_ASKS);
    const wg_pack_section *section = &s->section[at];
    if (source_of(insn, section) != WG_PACK_FROM_DST || only_resets_context(t, insn))
        return 0;
    const wg_adc_channel *channel = t->regs.adc.unit[which_counters(t, insn, section)][2];
    uint32_t start = dst_start(s, section, &channel[0]), datums = datum_count(insn, channel);
    wg_dst_access access = wg_pack_access(t, s);
    uint8_t mask, stride;
    interfaces(t, insn, s, section, &mask, &stride);
    uint32_t count = ((start & 15) + datums + 15) >> 4;
    count = count > WG_DST_ROWS ? WG_DST_ROWS : count;
    uint32_t seen = UINT32_MAX;
    uint64_t ready = 0;
    /* Row permutations keep an aligned group of four in one block. */
    for (uint32_t rest = mask ? mask : 1, run; rest; rest &= rest - 1) {
        run = (start >> 4) + (uint32_t)__builtin_ctz(rest) * stride;
        for (uint32_t row = run; row < run + count; row = (row | 3) + 1) {
            if (row >> 2 == seen)
                continue;
            seen = row >> 2;
            unsigned stored = wg_dst_stored(access, row, s->wide);
            uint64_t settled = wg_dst_block_ready_at(t, stored);
            if (settled > ready) {
                ready = settled;
                *block = stored / 8;
            }
        }
    }
    return ready;
}

static void plan_input(wg_tile *t, wg_pack_job *job, const wg_pack_setup *s, const wg_pack_section *section,
                       wg_pack_part *part, const wg_adc_channel *channel)
{
    const wg_insn *insn = &job->insn;
    part->count = datum_count(insn, channel);
    part->start = 0;
    if (part->source == WG_PACK_FROM_DST) {
        part->start = dst_start(s, section, &channel[0]);
    } else if (part->source == WG_PACK_FROM_L1) {
        unsigned shift = datum_shift(part->set.in_format);
        uint32_t x_mask = (16u >> shift) - 1;
        part->start = section->l1_source + (input_address(s, &channel[0]) & 0x3FFF0);
        part->start = (part->start + ((channel[0].x & x_mask) << shift)) & 0x1FFFFF;
    }
    bool backwards = !job->flush && channel[1].x + 1 < channel[0].x;
    if (__builtin_expect(backwards || (job->interfaces && part->count > 16), 0)) {
        wg_find_insn(t, WG_F_PACK_COUNT, insn, channel[0].x, channel[1].x);
        part->count = backwards ? 0 : 16; /* Decided here: nothing, or one row */
    }
    if (job->interfaces && part->source == WG_PACK_FROM_DST && job->row_stride == 1 &&
        (unsigned)job->interfaces << (part->start >> 4 & 3) > 15)
        wg_find_insn(t, WG_F_PACK_MASK, insn, job->interfaces, part->start >> 4);
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

static void place(wg_packer *p, wg_pack_part *part, wg_pack_stream_id stream, uint32_t address)
{
    if (p->placed >> stream & 1)
        return;
    p->placed = (uint8_t)(p->placed | 1u << stream);
    part->places = (uint8_t)(part->places | 1u << stream);
    part->address[stream] = (address & 0x1FFFF) << 4;
}

static unsigned streams_of(const wg_pack_settings *set)
{
    return 1u << WG_STREAM_DATA | (unsigned)set->compress << WG_STREAM_ROWS |
           (unsigned)(set->out_format >> 1 & 1) << WG_STREAM_EXPONENTS;
}

void wg_pack_place_streams(wg_tile *t, const wg_pack_setup *s, const wg_pack_section *section, wg_pack_part *part,
                           unsigned packer, const wg_adc_channel *c)
{
    wg_packer *p = &t->backend.pack.packer[packer];
    uint32_t address = section->address;
    uint32_t more = s->out_base + c->y * s->out_stride[1] + c->z * s->out_stride[2] + c->w * s->out_stride[3];
    /* ttsim: on BH the strides count bytes. */
    address += t->arch->pack.output_in_bytes ? more >> 4 : more & ~15u;
    if (section->adds_offset)
        address += t->backend.tdma.packer[packer].l1_dest_addr_offset;
    if (address > section->limit)
        address -= section->fifo;
    if (part->set.compress) {
        place(p, part, WG_STREAM_ROWS, address);
        address += section->row_starts;
    }
    if (part->set.out_format & 2) { /* with FP8 and INT8, although they have no exponents */
        place(p, part, WG_STREAM_EXPONENTS, address);
        address += section->exponents;
    }
    place(p, part, WG_STREAM_DATA, address);
}

static void plan_output(wg_tile *t, wg_pack_job *job, const wg_pack_setup *s, const wg_pack_section *section,
                        unsigned packer, const wg_adc_channel *c)
{
    wg_packer *p = &t->backend.pack.packer[packer];
    wg_pack_part *part = &job->part[packer];
    part->places = 0;
    if (streams_of(&part->set) & ~(unsigned)p->placed)
        wg_pack_place_streams(t, s, section, part, packer, c);
    if (job->last || job->flush)
        p->placed = 0;
}

/* ---- Modes ------------------------------------------------------------------------------------------------- */

/* The low five bits of ShiftAmount. Decided here: in mode 1, z is Z of the thread's channel 0. */
static uint8_t descale_shift(wg_tile *t, const wg_insn *insn, const wg_pack_setup *s)
{
    unsigned z = s->descales_by_z ? t->regs.adc.unit[insn->thread][2][0].z & 63u : 0;
    unsigned word = wg_cfg_fields[t->arch->id][WG_CFG_INT_DESCALE_VALUES_SEC0_Value].word + z / 4;
    return wg_config_word(t, insn->thread, word) >> z % 4 * 8 & 31;
}

/* RowPadZero: bits [1:0] when to pad, bit 2 with which value. */
static wg_pack_padding padding_of(const wg_tile *t, const wg_insn *insn)
{
    unsigned field = WG_OPERAND(BH, PACR, RowPadZero, insn->word), when = field & 3;
    if (!t->arch->pack.interfaces || !when || (when == 2 && WG_GET(PACR, Concat, insn->word)) ||
        (when == 3 && !WG_GET(PACR, Last, insn->word)))
        return WG_PAD_NONE;
    return field >> 2 ? WG_PAD_ALL : WG_PAD_ROWS;
}

static void report_part(wg_tile *t, const wg_pack_job *job, const wg_pack_setup *s, const wg_pack_section *section,
                        const wg_pack_part *part, unsigned packer)
{
    const wg_insn *insn = &job->insn;
    bool from_dst = part->source == WG_PACK_FROM_DST;
    if (!(from_dst ? section->good_from_dst : section->good_from_elsewhere) && !job->flush)
        wg_find_insn(t, WG_F_PACK_FORMAT, insn,
                     (unsigned)s->intermediate << 8 | (unsigned)part->set.in_format << 4 | part->set.out_format,
                     packer);
    if (job->relu > 1 && from_dst && (job->relu_threshold >> 15 || part->set.mid > WG_MID_F5))
        wg_find_insn(t, WG_F_PACK_RELU, insn, job->relu_threshold, packer);
    if (section->bad_accumulate)
        wg_find_insn(t, WG_F_PACK_ACCUMULATE, insn, part->set.out_format, packer);
    if (section->bad_threshold)
        wg_find_insn(t, WG_F_PACK_THRESHOLD, insn, packer, 0);
    if (section->ignored)
        wg_pack_report_ignored(t, insn, (unsigned)(section - s->section));
}

static void report_operands(wg_tile *t, const wg_insn *insn, const wg_pack_setup *s)
{
    unsigned mask = WG_GET(PACR, Select, insn->word);
    if (!t->arch->pack.interfaces) {
        /* 0, single packers, 0-1, 2-3, all. */
        if (!(0x911F >> mask & 1))
            wg_find_insn(t, WG_F_PACK_MASK, insn, mask, 0);
        return;
    }
    if (WG_OPERAND(BH, PACR, CtxtCtrl, insn->word) || WG_OPERAND(BH, PACR, CfgContext, insn->word))
        wg_findf(t, WG_F_PACK_WEAK, wg_insn_finding(insn, 0, 0), "CfgContext and CtxtCtrl");
    if (WG_OPERAND(BH, PACR, RowPadZero, insn->word))
        wg_findf(t, WG_F_PACK_WEAK, wg_insn_finding(insn, 0, 0), "RowPadZero");
    if (WG_OPERAND(BH, PACR, DstAccessMode, insn->word) && !(s->remap && s->swizzle))
        wg_findf(t, WG_F_PACK_WEAK, wg_insn_finding(insn, 0, 0), "DstAccessMode without swizzle_32b and remap_addrs");
}

/* ---- Counters ------------------------------------------------------------------------------------------------ */

static void move_channel(wg_adc_channel *c, unsigned mode)
{
    uint16_t increment = mode & 15;
    if (mode >> 5 & 1)
        wg_adc_set(c, WG_ADC_Y, 0);
    else if (mode >> 4 & 1)
        wg_adc_carriage_return(c, WG_ADC_Y, increment);
    else
        c->y = (c->y + increment) & 0x1FFF;
}

/* A section of ADDR_MOD_PACK fills a word: Y of channel 0 and 1 in six bits each, then Z in two bits each. */
static unsigned address_mode(const wg_tile *t, const wg_insn *insn)
{
    unsigned first = wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    return t->regs.config.thread[insn->thread][first + WG_GET(PACR, AddrMode, insn->word)];
}

void wg_pack_move_counters(wg_tile *t, const wg_insn *insn, unsigned which)
{
    unsigned mode = address_mode(t, insn);
    for (unsigned rest = mode ? which : 0; rest; rest &= rest - 1) {
        wg_adc_channel *channel = t->regs.adc.unit[__builtin_ctz(rest)][2];
        wg_touch_adc(t, WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, (unsigned)__builtin_ctz(rest), 2, 0, WG_ADC_X, 8);
        for (unsigned k = 0; k < 2; k++) {
            move_channel(&channel[k], mode >> 6 * k);
            if (mode >> (13 + 2 * k) & 1)
                wg_adc_set(&channel[k], WG_ADC_Z, 0);
            else
                channel[k].z = (uint8_t)(channel[k].z + (mode >> (12 + 2 * k) & 1));
        }
    }
}

/* BH: advances the tile position and the packer's own context. */
static void move_position(wg_tile *t, const wg_pack_job *job, const wg_pack_section *section, const wg_pack_part *part)
{
    wg_pack *u = &t->backend.pack;
    unsigned control = WG_OPERAND(BH, PACR, CtxtCtrl, job->insn.word);
    bool plane = false;
    if (part->source == WG_PACK_FROM_DST && part->count) {
        u->planned_row = (uint8_t)(u->planned_row + wg_pack_ones(job->interfaces));
        plane = u->planned_row == part->set.rows_per_plane;
        if (plane)
            u->planned_row = 0;
    }
    if (__builtin_expect(control != OWN_CONTEXT && control != OWN_CONTEXT_STAYS, 1))
        return;
    bool next = job->last;
    if (section->planes_per_context) {
        u->context_planes = (uint8_t)(u->context_planes + plane);
        next = u->context_planes >= section->planes_per_context;
    }
    if (!next)
        return;
    u->context_planes = 0;
    if (u->context < 3 || control == OWN_CONTEXT)
        u->context = (u->context + 1) & 3;
}

/* ---- Time --------------------------------------------------------------------------------------------------- */

/*
 * Decided here: a packer reads rows of Dst and writes lines to L1 at the rates in the architecture's descriptor; the slower
 * one counts. The padding of flushes, exponents and row starts adds nothing. WH accumulates in L1 by atomics, five cycles per
 * line; on BH accumulation costs no more than writing.
 */
static unsigned cycles_for(const wg_arch *arch, uint32_t rows, uint32_t lines)
{
    /* The descriptor's numbers are powers of two. */
    uint32_t reading = (rows + arch->pack.rows_per_cycle - 1) >> __builtin_ctz(arch->pack.rows_per_cycle);
    uint32_t writing = (lines + arch->pack.lines_per_cycle - 1) >> __builtin_ctz(arch->pack.lines_per_cycle);
    uint32_t cycles = reading > writing ? reading : writing;
    return cycles ? cycles : 1;
}

static unsigned cycles_of(const wg_tile *t, const wg_pack_job *job, const wg_pack_part *part)
{
    uint32_t runs = job->interfaces ? wg_pack_ones(job->interfaces) : 1;
    uint32_t rows = runs * ((part->count + 15) / 16), kept = runs * part->count, mask = part->set.downsample;
    if (mask != 0xFFFF)
        kept = runs * (part->count / 16 * (uint32_t)__builtin_popcount(mask) +
                       (uint32_t)__builtin_popcount(mask & ((1u << part->count % 16) - 1)));
    uint32_t lines = (kept * wg_l1_bits(part->set.out_format) + 127) / 128;
    return cycles_for(t->arch, rows, lines * (part->set.accumulate ? t->arch->pack.accumulate : 1));
}

/* ---- The simple PACR of BH -------------------------------------------------------------------------------------- */

/* Is the word a simple PACR under this configuration? Then caches what it needs. */
static bool fill_memo(wg_tile *t, const wg_insn *insn, wg_pack_memo *memo)
{
    memo->changes = 0;
    if (!t->arch->pack.interfaces || insn->op != WG_I_PACR || t->backend.config.instructions || wg_touch_watched(t) ||
        wg_sets(insn->word, NOT_USUAL))
        return false;
    const wg_pack_setup *s = wg_pack_setup_of(t, insn, 1, WG_PACK_ASKS);
    const wg_pack_section *section = &s->section[0];
    const wg_pack_settings *set = &section->from_dst;
    if (!section->silent || section->from_l1 || section->fills_plane || s->descales || s->has_edges ||
        set->downsample != 0xFFFF || set->accumulate)
        return false;
    unsigned rows, select = WG_GET(PACR, Select, insn->word);
    memo->interfaces = (uint8_t)(select ? select : 15);
    rows = wg_pack_ones(memo->interfaces);
    memo->changes = s->changes;
    memo->serial = ++t->backend.pack.memo_serials;
    memo->word = insn->word;
    memo->thread = insn->thread;
    memo->bank = (uint8_t)wg_config_bank(t, insn->thread);
    memo->counters = (uint8_t)which_counters(t, insn, section);
    memo->shift = (uint8_t)datum_shift(set->in_format);
    memo->needed = (uint8_t)streams_of(set);
    unsigned mode = address_mode(t, insn);
    memo->steps = !(mode & 0xAC30);
    for (unsigned k = 0; k < 2; k++) {
        memo->y_step[k] = mode >> 6 * k & 15;
        memo->z_step[k] = mode >> (12 + 2 * k) & 1;
    }
    /* Whole rows, of 16 datums. */
    memo->cycles = (uint8_t)cycles_for(t->arch, rows, (rows * wg_l1_bits(set->out_format) + 7) / 8);
    return true;
}

bool wg_pack_holds_memo(wg_tile *t, const wg_insn *insn)
{
    wg_pack_memo *memo = wg_pack_memo_for(t, insn);
    return !__builtin_expect(memo->word != insn->word || memo->thread != insn->thread ||
                                 memo->changes != t->regs.config.changes + 1 || t->backend.config.instructions ||
                                 wg_touch_watched(t),
                             0) ||
           fill_memo(t, insn, memo);
}

bool wg_pack_is_simple(wg_tile *t, const wg_insn *insn, uint64_t *ready, unsigned *block)
{
    wg_pack_memo *memo = wg_pack_memo_for(t, insn);
    if (!wg_pack_holds_memo(t, insn))
        return false;
    const wg_pack_setup *s = &t->backend.pack.setup[memo->bank];
    const wg_adc_channel *c = t->regs.adc.unit[memo->counters][2];
    uint32_t start = wg_pack_memo_start(s, memo, c);
    /* Whole rows of an aligned group of four: row permutations keep them in one block. */
    if (c[0].x || c[1].x != 15 || start & 63)
        return false;
    memo->access = wg_pack_access(t, s);
    unsigned stored = wg_dst_stored(memo->access, start >> 4, s->wide);
    *block = stored / 8;
    *ready = t->backend.matrix.block_ready[stored / 8 % WG_DST_BLOCKS];
    memo->cycle = t->sched.now;
    memo->start = start;
    return true;
}

/* Fills in what all jobs of a simple PACR have in common. */
void wg_pack_prepare_simple(const wg_pack_setup *s, const wg_pack_memo *memo, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    wg_pack_part *part = &job->part[0];
    job->serial = memo->serial;
    job->last = WG_GET(PACR, Last, insn->word);
    job->flush = job->idle = job->has_edges = false;
    job->concat = WG_GET(PACR, Concat, insn->word);
    job->padding = WG_PAD_NONE;
    job->statistics = s->statistics;
    job->relu = s->relu;
    job->relu_threshold = s->relu_threshold;
    job->random = s->random;
    job->shift = 0;
    job->interfaces = memo->interfaces;
    job->row_stride = 1;
    part->source = WG_PACK_FROM_DST;
    part->set = s->section[0].from_dst;
    part->count = 16;
    part->cycles = memo->cycles;
}

/* Plans a simple PACR from the cache. False: it is not one, or wg_pack_is_simple() was not called in this cycle. */
static bool plan_simple(wg_tile *t, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    const wg_pack_memo *memo = wg_pack_memo_for(t, insn);
    if (memo->cycle != t->sched.now || memo->word != insn->word || memo->thread != insn->thread || !memo->changes)
        return false;
    const wg_pack_setup *s = &t->backend.pack.setup[memo->bank];
    const wg_pack_section *section = &s->section[0];
    wg_packer *p = &t->backend.pack.packer[0];
    wg_pack_part *part = &job->part[0];
    job->access = memo->access;
    if (__builtin_expect(job->serial != memo->serial, 0))
        wg_pack_prepare_simple(s, memo, job);
    part->start = memo->start;
    part->places = 0;
    if (memo->needed & ~(unsigned)p->placed)
        wg_pack_place_streams(t, s, section, part, 0, &t->regs.adc.unit[memo->counters][2][1]);
    if (job->last)
        p->placed = 0;
    move_position(t, job, section, part);
    if (__builtin_expect(!memo->steps, 0)) {
        wg_pack_move_counters(t, insn, 1u << memo->counters);
        return true;
    }
    wg_adc_channel *c = t->regs.adc.unit[memo->counters][2];
    for (unsigned k = 0; k < 2; k++) {
        c[k].y = (c[k].y + memo->y_step[k]) & 0x1FFF;
        c[k].z = (uint8_t)(c[k].z + memo->z_step[k]);
    }
    return true;
}

/* ---- A repeated PACR ------------------------------------------------------------------------------------------- */

/* Do packers, configuration, word and counters equal those of the remembered PACR? */
static bool is_again(const wg_tile *t, const wg_pack_job *job, const wg_pack_setup *s)
{
    const wg_pack_again *a = &t->backend.pack.again;
    const wg_insn *insn = &job->insn;
    wg_dst_access access = wg_pack_access(t, s);
    if (a->word != insn->word || a->thread != insn->thread || a->changes != s->changes ||
        memcmp(a->counters, t->regs.adc.unit[insn->thread][2], sizeof a->counters) != 0 ||
        a->access.remap != access.remap || a->access.swizzle != access.swizzle || a->access.wide16 != access.wide16)
        return false;
    unsigned placed = 0;
    for (unsigned i = 0; i < WG_PACKERS; i++)
        placed |= (job->packers >> i & 1) ? t->backend.pack.packer[i].placed : 0u;
    return !placed;
}

static bool plan_again(wg_tile *t, const wg_pack_job *job)
{
    const wg_pack_setup *s = &t->backend.pack.setup[wg_config_bank(t, job->insn.thread)];
    if (!job->serial || job->serial != t->backend.pack.again.serial || wg_touch_watched(t) ||
        s->changes != t->regs.config.changes + 1 || t->backend.config.instructions || !is_again(t, job, s))
        return false;
    wg_pack_move_counters(t, &job->insn, 1u << job->insn.thread);
    return true;
}

/* Can the plan be reused? Only if it depends on nothing but word, configuration and counters, and nothing was reported. */
static bool may_be_again(const wg_tile *t, const wg_pack_job *job, const wg_pack_setup *s)
{
    const wg_insn *insn = &job->insn;
    if (t->arch->pack.interfaces || !job->last || job->flush || WG_GET(PACR, OvrdThreadId, insn->word) || s->descales ||
        t->backend.config.instructions || wg_touch_watched(t) || !(0x911F >> WG_GET(PACR, Select, insn->word) & 1))
        return false;
    const wg_adc_channel *c = t->regs.adc.unit[insn->thread][2];
    if (c[1].x + 1 < c[0].x)
        return false;
    for (unsigned rest = job->packers; rest; rest &= rest - 1) {
        const wg_pack_section *section = &s->section[__builtin_ctz(rest)];
        if (!section->silent || section->from_l1 || section->adds_offset ||
            t->backend.pack.packer[__builtin_ctz(rest)].placed)
            return false;
    }
    return source_of(insn, &s->section[0]) == WG_PACK_FROM_DST;
}

/* Call before the counters move. */
static void remember(wg_tile *t, wg_pack_job *job, const wg_pack_setup *s)
{
    wg_pack_again *a = &t->backend.pack.again;
    if (!is_again(t, job, s)) {
        *a = (wg_pack_again){.changes = s->changes,
                             .serial = ++t->backend.pack.memo_serials,
                             .word = job->insn.word,
                             .thread = job->insn.thread,
                             .access = job->access};
        memcpy(a->counters, t->regs.adc.unit[job->insn.thread][2], sizeof a->counters);
    }
    job->serial = a->serial;
}

/* ---- All together ---------------------------------------------------------------------------------------------- */

void wg_pack_plan(wg_tile *t, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    if (t->arch->pack.interfaces ? plan_simple(t, job) : plan_again(t, job))
        return;
    job->serial = 0;
    unsigned advance = 0, sections = 0;
    bool one = t->arch->pack.interfaces;
    for (unsigned rest = job->packers; rest; rest &= rest - 1)
        sections |= 1u << section_of(t, insn, (unsigned)__builtin_ctz(rest));
    const wg_pack_setup *s = wg_touch_watched(t) ? wg_pack_decode_setup(t, insn, sections, WG_PACK_READS)
                                                 : wg_pack_setup_of(t, insn, sections, WG_PACK_READS);
    if (!one || wg_sets(insn->word, ONLY_DESCRIBED))
        report_operands(t, insn, s);
    job->last = WG_GET(PACR, Last, insn->word);
    job->flush = WG_GET(PACR, Flush, insn->word);
    job->concat = WG_GET(PACR, Concat, insn->word);
    job->idle = only_resets_context(t, insn);
    if (__builtin_expect(job->idle, 0)) {
        t->backend.pack.context = t->backend.pack.context_planes = 0;
        job->part[0].cycles = 1;
        return;
    }
    job->padding = (uint8_t)padding_of(t, insn);
    job->access = wg_pack_access(t, s);
    job->statistics = s->statistics;
    job->relu = s->relu;
    job->relu_threshold = s->relu_threshold;
    job->random = s->random;
    job->shift = __builtin_expect(s->descales, 0) ? descale_shift(t, insn, s) : 0;
    job->has_edges = s->has_edges;
    if (__builtin_expect(s->has_edges, 0))
        job->edges = s->edges;
    bool again = may_be_again(t, job, s);
    for (unsigned rest = job->packers; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const wg_pack_section *section = &s->section[section_of(t, insn, i)];
        wg_pack_part *part = &job->part[i];
        unsigned which = which_counters(t, insn, section);
        const wg_adc_channel *channel = t->regs.adc.unit[which][2];
        advance |= 1u << which;
        wg_touch_adc(t, WG_TOUCH_READ | WG_TOUCH_AT_GATE, which, 2, 0, WG_ADC_X, 8);
        interfaces(t, insn, s, section, &job->interfaces, &job->row_stride);
        part->source = (uint8_t)source_of(insn, section);
        part->set = part->source == WG_PACK_FROM_DST ? section->from_dst : section->from_elsewhere;
        report_part(t, job, s, section, part, i);
        plan_input(t, job, s, section, part, channel);
        plan_output(t, job, s, section, i, &channel[1]);
        part->cycles = cycles_of(t, job, part);
        if (one)
            move_position(t, job, section, part);
    }
    if (again)
        remember(t, job, s);
    wg_pack_move_counters(t, insn, advance);
}
