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
#include "machine/fast.h"
#include "num/l1_formats.h"

/* BH's operands that are described but have no page. */
enum {
    ONLY_DESCRIBED = WG_OPERAND_MASK(BH, PACR, CtxtCtrl) | WG_OPERAND_MASK(BH, PACR, DstAccessMode) |
                     WG_OPERAND_MASK(BH, PACR, RowPadZero) | WG_OPERAND_MASK(BH, PACR, CfgContext)
};
enum { DOCUMENTED_MASKS = 0x911F }; /* WH, a bit per mask of packers: none, single packers, 0 and 1, 2 and 3, all */
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

/* BH: the rows to read, a bit each; 0: one long run. */
static inline uint8_t interfaces(const wg_tile *t, const wg_insn *insn, const wg_pack_section *section)
{
    unsigned select = WG_GET(PACR, Select, insn->word);
    if (!t->arch->pack.interfaces || (!select && WG_GET(PACR, ZeroWrite, insn->word)))
        return 0;
    return (uint8_t)rest_of_plane(t, section, select ? select : 15);
}

/* BH: stored rows from one to the next (ttsim: 16; the assembly table: 8). */
static uint8_t row_stride(const wg_tile *t, const wg_insn *insn, const wg_pack_setup *s)
{
    if (!t->arch->pack.interfaces || !WG_OPERAND(BH, PACR, DstAccessMode, insn->word))
        return 1;
    return s->remap ? 16 : 8;
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

uint64_t wg_pack_rows_ready(const wg_tile *t, const wg_insn *insn, unsigned packer, unsigned *block)
{
    unsigned at = section_of(t, insn, packer);
    wg_pack_setup own;
    const wg_pack_setup *s = wg_pack_ask_setup(t, insn, &own);
    const wg_pack_section *section = &s->section[at];
    if (source_of(insn, section) != WG_PACK_FROM_DST || only_resets_context(t, insn))
        return 0;
    const wg_adc_channel *channel = t->regs.adc.unit[which_counters(t, insn, section)][2];
    uint32_t start = wg_pack_dst_start(s, section, &channel[0]), datums = datum_count(insn, channel);
    wg_dst_access access = wg_pack_access(t, s);
    const unsigned mask = interfaces(t, insn, section), stride = row_stride(t, insn, s);
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

static inline void plan_input(wg_tile *t, wg_pack_job *job, const wg_pack_setup *s, const wg_pack_section *section,
                              wg_pack_part *part, const wg_adc_channel *channel)
{
    const wg_insn *insn = &job->insn;
    part->count = datum_count(insn, channel);
    part->start = 0;
    if (part->source == WG_PACK_FROM_DST) {
        part->start = wg_pack_dst_start(s, section, &channel[0]);
    } else if (part->source == WG_PACK_FROM_L1) {
        unsigned shift = wg_pack_datum_shift(part->set.in_format);
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

static inline void plan_output(wg_tile *t, wg_pack_job *job, const wg_pack_setup *s, const wg_pack_form *f,
                               unsigned packer, const wg_adc_channel *c)
{
    wg_packer *p = &t->backend.pack.packer[packer];
    wg_pack_part *part = &job->part[packer];
    part->places = 0;
    if (f->streams[packer] & ~(unsigned)p->placed)
        wg_pack_place_streams(t, s, &s->section[f->section[packer]], part, packer, c);
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
                     (unsigned)s->wide << 12 | (unsigned)s->intermediate << 8 | (unsigned)part->set.in_format << 4 |
                         part->set.out_format,
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
        if (!(DOCUMENTED_MASKS >> mask & 1))
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

void wg_pack_step_counters(wg_tile *t, const wg_pack_form *f)
{
    const unsigned mode = f->mode;
    for (unsigned rest = mode ? f->steps : 0; rest; rest &= rest - 1) {
        wg_adc_channel *channel = t->regs.adc.unit[__builtin_ctz(rest)][2];
        wg_touch_adc(t, WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, (unsigned)__builtin_ctz(rest), 2, 0, WG_ADC_X, 8);
        for (unsigned k = 0; k < 2; k++) {
            const unsigned y = mode >> 6 * k & 63, z = mode >> (12 + 2 * k) & 3;
            channel[k].z = z > 1 ? channel[k].z : (uint8_t)(channel[k].z + z);
            if (__builtin_expect(z > 1, 0))
                wg_adc_set(&channel[k], WG_ADC_Z, 0);
            channel[k].y = y > 15 ? channel[k].y : (channel[k].y + y) & 0x1FFF;
            if (__builtin_expect(y > 31, 0))
                wg_adc_set(&channel[k], WG_ADC_Y, 0);
            else if (__builtin_expect(y > 15, 0))
                wg_adc_carriage_return(&channel[k], WG_ADC_Y, y & 15);
        }
    }
}

/* BH: advances the tile position and the packer's own context. */
static inline void move_position(wg_tile *t, const wg_pack_job *job, const wg_pack_section *section,
                                 const wg_pack_part *part)
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
unsigned wg_pack_cycles(const wg_arch *arch, uint32_t rows, uint32_t lines)
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
    return wg_pack_cycles(t->arch, rows, lines * (part->set.accumulate ? t->arch->pack.accumulate : 1));
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

static void decode_part(wg_pack_form *f, const wg_pack_setup *s, wg_tile *t, const wg_insn *insn, unsigned packer)
{
    const unsigned at = section_of(t, insn, packer);
    const wg_pack_section *section = &s->section[at];
    wg_pack_part *part = &f->job.part[packer];
    f->section[packer] = (uint8_t)at;
    f->counters[packer] = (uint8_t)which_counters(t, insn, section);
    f->steps = (uint8_t)(f->steps | 1u << f->counters[packer]);
    part->source = (uint8_t)source_of(insn, section);
    part->set = part->source == WG_PACK_FROM_DST ? section->from_dst : section->from_elsewhere;
    f->streams[packer] = (uint8_t)wg_pack_streams_of(&part->set);
    f->reports |= part->source != WG_PACK_FROM_DST || !section->silent;
}

static void decode(wg_tile *t, const wg_insn *insn, wg_pack_form *f)
{
    const bool one = t->arch->pack.interfaces;
    wg_pack_job *job = &f->job;
    unsigned sections = 0;
    job->packers = (uint8_t)wg_pack_mask(t, insn);
    for (unsigned rest = job->packers; rest; rest &= rest - 1)
        sections |= 1u << section_of(t, insn, (unsigned)__builtin_ctz(rest));
    const wg_pack_setup *s = wg_pack_read_setup(t, insn, sections);
    f->changes = wg_fast_decoded_unseen(t) && !t->backend.config.instructions ? s->changes : 0;
    f->serial = ++t->backend.pack.forms;
    f->word = insn->word;
    f->thread = insn->thread;
    f->bank = (uint8_t)wg_config_bank(t, insn->thread);
    f->steps = 0;
    f->mode =
        t->regs.config.thread[insn->thread][wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word +
                                            WG_GET(PACR, AddrMode, insn->word)];
    f->reports = one ? wg_sets(insn->word, ONLY_DESCRIBED) : !(DOCUMENTED_MASKS >> job->packers & 1);
    job->last = WG_GET(PACR, Last, insn->word);
    job->flush = WG_GET(PACR, Flush, insn->word);
    job->concat = WG_GET(PACR, Concat, insn->word);
    job->idle = only_resets_context(t, insn);
    job->padding = (uint8_t)padding_of(t, insn);
    job->row_stride = row_stride(t, insn, s);
    job->statistics = s->statistics;
    job->relu = s->relu;
    job->relu_threshold = s->relu_threshold;
    job->random = s->random;
    job->shift = 0;
    job->has_edges = s->has_edges;
    job->edges = s->edges;
    for (unsigned rest = job->packers; rest; rest &= rest - 1)
        decode_part(f, s, t, insn, (unsigned)__builtin_ctz(rest));
}

static inline const wg_pack_form *form_of(wg_tile *t, const wg_insn *insn)
{
    wg_pack_form *f = &t->backend.pack.form[wg_pack_form_place(insn->word)];
    if (__builtin_expect(f->word != insn->word || f->thread != insn->thread ||
                             f->changes != t->regs.config.changes + 1 || t->backend.config.instructions ||
                             !wg_fast_decoded_unseen(t) || f->section[0] != section_of(t, insn, 0),
                         0))
        decode(t, insn, f);
    else
        wg_fast_decoded_again(t);
    return f;
}

const wg_pack_form *wg_pack_form_of(wg_tile *t, const wg_insn *insn) { return form_of(t, insn); }

void wg_pack_fill_in(wg_pack_job *job, const wg_pack_form *f)
{
    const wg_pack_job *from = &f->job;
    job->serial = f->serial;
    job->last = from->last;
    job->flush = from->flush;
    job->concat = from->concat;
    job->padding = from->padding;
    job->row_stride = from->row_stride;
    job->statistics = from->statistics;
    job->relu = from->relu;
    job->relu_threshold = from->relu_threshold;
    job->random = from->random;
    job->shift = 0;
    job->has_edges = from->has_edges;
    job->edges = from->edges;
    for (unsigned rest = from->packers; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        job->part[i].source = from->part[i].source;
        job->part[i].set = from->part[i].set;
    }
}

/* ---- All together ---------------------------------------------------------------------------------------------- */

void wg_pack_plan(wg_tile *t, wg_pack_job *job)
{
    const wg_insn *insn = &job->insn;
    const bool one = t->arch->pack.interfaces;
    const wg_pack_form *f = form_of(t, insn);
    const wg_pack_setup *s = &t->backend.pack.setup[f->bank];
    const bool filled = job->serial == f->serial;
    if (!filled)
        wg_pack_fill_in(job, f);
    job->idle = f->job.idle;
    if (f->reports)
        report_operands(t, insn, s);
    if (__builtin_expect(job->idle, 0)) {
        t->backend.pack.context = t->backend.pack.context_planes = 0;
        job->part[0].cycles = 1;
        return;
    }
    job->access = wg_pack_access(t, s);
    if (__builtin_expect(s->descales, 0))
        job->shift = descale_shift(t, insn, s);
    for (unsigned rest = job->packers; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest), which = f->counters[i];
        const wg_pack_section *section = &s->section[f->section[i]];
        wg_pack_part *part = &job->part[i];
        const wg_adc_channel *channel = t->regs.adc.unit[which][2];
        const uint32_t count = part->count, rows = job->interfaces;
        wg_touch_adc(t, WG_TOUCH_READ | WG_TOUCH_AT_GATE, which, 2, 0, WG_ADC_X, 8);
        job->interfaces = interfaces(t, insn, section);
        if (f->reports)
            report_part(t, job, s, section, part, i);
        plan_input(t, job, s, section, part, channel);
        plan_output(t, job, s, f, i, &channel[1]);
        if (!filled || part->count != count || job->interfaces != rows)
            part->cycles = cycles_of(t, job, part);
        if (one)
            move_position(t, job, section, part);
    }
    wg_pack_step_counters(t, f);
}
