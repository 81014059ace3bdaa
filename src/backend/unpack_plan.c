/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNPACR's address phase: turns configuration, contexts and counters into addresses, a datum count and modes.
 *
 *     context ──> formats, dimensions, base address ──> header, row starts, exponents, datums in L1
 *     counters (channel 0) ──> first datum            counters (channel 1) ──> output address
 *
 * A tile in L1:  [16 (1 + DigestSize) bytes of header] [row starts, if compressed] [exponents, if BFP] [datums]
 *
 * All configuration and both sets of counters are read when the instruction is accepted, and the counters step then; the row
 * starts of compressed data are read then, too.
 *
 * Facts: UNPACR_Regular.md (newest, shared by both architectures), UNPACR_IncrementContextCounter.md, ADCs.md.
 */
#include "arch/unit_times.h"
#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/unpack_internal.h"
#include "num/l1_formats.h"
#include "machine/fast.h"
#include "machine/l1.h"

/* ---- Configuration fields ----------------------------------------------------------------------------------- */

/*
 * An unpacker's fields lie in a section of words, THCON_SEC0 or THCON_SEC1, which begins with the tile descriptor.
 * Positions relative to it are the same for both sections and architectures, and compile-time constants.
 */
enum {
#define AT(word, shift, width) word
#define NOT_HERE 0
#define WG_CFG(name, bh, wh) WORD_##name = bh, WH_WORD_##name = wh,
#include "isa/config_fields.def"
#define AT(word, shift, width) shift
#define NOT_HERE 0
#define WG_CFG(name, bh, wh) SHIFT_##name = bh, WH_SHIFT_##name = wh,
#include "isa/config_fields.def"
#define AT(word, shift, width) width
#define NOT_HERE 0
#define WG_CFG(name, bh, wh) WIDTH_##name = bh, WH_WIDTH_##name = wh,
#include "isa/config_fields.def"
};
#define RELATIVE(name) (WORD_THCON_SEC0_##name - WORD_THCON_SEC0_REG0_TileDescriptor)
#define ALIKE(name) \
    (RELATIVE(name) == WORD_THCON_SEC1_##name - WORD_THCON_SEC1_REG0_TileDescriptor && \
     RELATIVE(name) == WH_WORD_THCON_SEC0_##name - WH_WORD_THCON_SEC0_REG0_TileDescriptor && \
     RELATIVE(name) == WH_WORD_THCON_SEC1_##name - WH_WORD_THCON_SEC1_REG0_TileDescriptor && \
     SHIFT_THCON_SEC0_##name == SHIFT_THCON_SEC1_##name && SHIFT_THCON_SEC0_##name == WH_SHIFT_THCON_SEC0_##name && \
     SHIFT_THCON_SEC0_##name == WH_SHIFT_THCON_SEC1_##name && WIDTH_THCON_SEC0_##name == WIDTH_THCON_SEC1_##name && \
     WIDTH_THCON_SEC0_##name == WH_WIDTH_THCON_SEC0_##name)
#define SECTION(p, name) \
    ({ \
        _Static_assert(ALIKE(name), #name " is not in the same place everywhere"); \
        const uint32_t mask_ = UINT32_MAX >> (32 - WIDTH_THCON_SEC0_##name); \
        section_bits((p), RELATIVE(name), mask_ << SHIFT_THCON_SEC0_##name) >> SHIFT_THCON_SEC0_##name &mask_; \
    })
/* A field that only one architecture has, or at another position. */
#define THCON(p, name) config((p), (p)->unpacker ? WG_CFG_THCON_SEC1_##name : WG_CFG_THCON_SEC0_##name)
#define UNP(p, name) config((p), (p)->unpacker ? WG_CFG_UNP1_##name : WG_CFG_UNP0_##name)

/* ---- One UNPACR --------------------------------------------------------------------------------------------- */

typedef struct plan {
    wg_tile *t;
    wg_unpack_form *form;
    wg_unpack_job *job; /* the form's */
    unsigned unpacker, thread;
    uint32_t word;
    bool multi_context;
    unsigned context;
    const wg_cfg_field *fields, *thread_fields; /* of this architecture */
    const uint32_t *bank;                       /* the thread's */
    const uint16_t *thread_config;
    unsigned base;    /* word of the section */
    bool pending;     /* the Configuration Unit has instructions */
    uint32_t tile[4]; /* TileDescriptor */
    uint32_t w_dim;
    bool found; /* something was reported */
    bool quiet; /* late sampling: nothing is reported */
} plan;

/* A word of configuration. Checks for writes in flight while the Configuration Unit is busy. */
static inline uint32_t word_at(const plan *p, unsigned word, uint32_t mask)
{
    if (wg_touch_watched(p->t))
        wg_config_touched(p->t, WG_TOUCH_READ, p->thread, word, mask);
    return __builtin_expect(p->pending, 0) ? wg_config_word(p->t, p->thread, word) : p->bank[word];
}
static inline uint32_t section_bits(const plan *p, unsigned word, uint32_t mask)
{
    return word_at(p, p->base + word, mask);
}
static inline uint32_t section(const plan *p, unsigned word) { return section_bits(p, word, UINT32_MAX); }
static inline uint32_t config(const plan *p, wg_cfg_id id)
{
    const wg_cfg_field *f = &p->fields[id];
    return word_at(p, f->word, f->mask << f->shift) >> f->shift & f->mask;
}
static inline uint32_t thread_config(const plan *p, wg_tcfg_id id)
{
    return wg_tcfg_extract(&p->thread_fields[id], p->thread_config);
}
/* Fields that exist per context: contexts 4 to 7 half a word, or four words, after 0 to 3. */
static bool context_bit(const plan *p, unsigned first)
{
    unsigned at = first + p->context % 4 + p->context / 4 * 16;
    return section_bits(p, RELATIVE(REG2_Disable_zero_compress_cntx0), UINT32_C(1) << at) >> at & 1;
}
static uint32_t half(uint32_t pair, unsigned n) { return pair >> 16 * (n & 1) & 0xFFFF; }
static uint32_t half_mask(unsigned n) { return UINT32_C(0xFFFF) << 16 * (n & 1); }
static uint32_t shift_amount(const plan *p, unsigned context)
{
    unsigned at = SHIFT_THCON_SEC0_REG2_Shift_amount_cntx0 + 4 * context;
    return section_bits(p, RELATIVE(REG2_Shift_amount_cntx0), UINT32_C(15) << at) >> at & 15;
}
_Static_assert(RELATIVE(REG2_Disable_zero_compress_cntx7) == RELATIVE(REG2_Unpack_if_sel_cntx0) &&
                   SHIFT_THCON_SEC0_REG2_Disable_zero_compress_cntx7 == 19 &&
                   SHIFT_THCON_SEC0_REG2_Unpack_if_sel_cntx7 == 23 &&
                   SHIFT_THCON_SEC0_REG7_Unpack_data_format_cntx4 == 24 &&
                   RELATIVE(REG4_Base_cntx7_address) == RELATIVE(REG3_Base_address) + 7 &&
                   RELATIVE(REG7_Offset_cntx3_address) == RELATIVE(REG7_Offset_address) + 3 &&
                   RELATIVE(REG5_Tile_x_dim_cntx3) == RELATIVE(REG5_Tile_x_dim_cntx0) + 1 &&
                   RELATIVE(REG5_Dest_cntx3_address) == RELATIVE(REG5_Dest_cntx0_address) + 1,
               "fields per context");

static void find(plan *p, wg_finding_code code, uint64_t subject, const char *what)
{
    p->found = true;
    if (!p->quiet)
        wg_findf(p->t, code, wg_insn_finding(&p->job->insn, subject, p->unpacker), "%s", what);
}

/* The newest page implements these and calls its description of them weak. */
static void weak(plan *p, const char *what) { find(p, WG_F_UNPACK_WEAK, 0, what); }

static uint8_t *context_counter(const plan *p)
{
    wg_touch(p->t, WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, WG_TOUCH_UNPACKER, p->unpacker * 3 + p->thread,
             1);
    return &p->t->regs.config.unpack_context[p->unpacker][p->thread];
}

/* The counter's next value; its range is a power of two. */
static void next_context(plan *p, unsigned context)
{
    if (THCON(p, REG2_Context_count_non_log2_en))
        find(p, WG_F_UNIMPLEMENTED_INSN, 0, "Context_count_non_log2 is not documented; Context_count is used");
    unsigned next = (context + 1) & 7;
    *context_counter(p) = (uint8_t)(next >= 1u << SECTION(p, REG2_Context_count) ? 0 : next);
}

static void choose_context(plan *p)
{
    p->multi_context = WG_GET(UNPACR, OvrdThreadId, p->word);
    p->form->adc = (uint8_t)p->thread;
    bool counter = WG_GET(UNPACR, AutoIncContextID, p->word);
    if (__builtin_expect(!p->multi_context || counter, 0))
        weak(p, p->multi_context ? "UseContextCounter" : "without MultiContextMode");
    if (!p->multi_context)
        return;
    p->context = counter ? *context_counter(p) : WG_GET(UNPACR, CfgContextId, p->word);
    p->context += thread_config(p, p->unpacker ? WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_1
                                               : WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_0);
    p->context &= 7;
    p->form->adc = (uint8_t)WG_GET(UNPACR, AddrCntContextId, p->word);
    if (p->unpacker && p->context >= 2)
        find(p, WG_F_UNPACK_CONTEXT, p->context, "Unpacker 1 has contexts 0 and 1; the fields of this one were used");
    if (p->form->adc == 3) {
        find(p, WG_F_UNPACK_CONTEXT, 3, "there are counters 0, 1 and 2; the thread's own were used");
        p->form->adc = (uint8_t)p->thread; /* Decided here */
    }
}

static void read_tile(plan *p)
{
    wg_unpack_job *job = p->job;
    for (unsigned i = 0; i < 4; i++)
        p->tile[i] = section(p, i);
    bool contexts = p->multi_context;
    job->compressed =
        !(contexts ? context_bit(p, SHIFT_THCON_SEC0_REG2_Disable_zero_compress_cntx0) : p->tile[0] >> 4 & 1);
    p->form->x_dim = p->tile[0] >> 16;
    if (contexts && !p->unpacker)
        p->form->x_dim = half(
            section_bits(p, RELATIVE(REG5_Tile_x_dim_cntx0) + p->context % 4 / 2, half_mask(p->context)), p->context);
    p->form->y_dim = p->tile[1] & 0xFF;
    p->form->z_dim = p->tile[1] >> 16 & 0xFF ? p->tile[1] >> 16 & 0xFF : 1;
    p->w_dim = p->tile[2] & 0xFF ? p->tile[2] & 0xFF : 1;
    p->form->blobs = p->tile[0] >> 8 & 7;
    if (contexts && SECTION(p, REG2_Ovrd_data_format)) {
        uint32_t formats = section_bits(p, RELATIVE(REG7_Unpack_data_format_cntx0) + p->context % 4,
                                        UINT32_C(0xFF) << (16 + p->context / 4 * 8));
        formats >>= 16 + p->context / 4 * 8;
        job->in_format = formats & 15;
        job->out_format = formats >> 4 & 15;
    } else {
        job->in_format = p->tile[0] & 15;
        job->out_format = (uint8_t)SECTION(p, REG2_Out_data_format);
    }
    job->bits = (uint8_t)wg_l1_bits(job->in_format);
}

/* ---- Input -------------------------------------------------------------------------------------------------- */

/* Eight starts, in units of 16 datums. */
static uint32_t blob_starts(plan *p)
{
    if (p->multi_context && !p->unpacker)
        return config(p, p->context & 2 ? WG_CFG_UNP0_BLOBS_Y_START_CNTX_23_blobs_y_start
                                        : WG_CFG_UNP0_BLOBS_Y_START_CNTX_01_blobs_y_start);
    return p->tile[2] >> 16 | p->tile[3] << 16;
}

static uint64_t rounded(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

static void decode_input(plan *p)
{
    wg_unpack_form *f = p->form;
    wg_unpack_job *job = p->job;
    unsigned context = p->multi_context ? p->context : 0;
    uint32_t base = section(p, RELATIVE(REG3_Base_address) + context) +
                    half(section_bits(p, RELATIVE(REG7_Offset_address) + context % 4, half_mask(0)), 0);
    uint64_t in = (base + 1 + (p->tile[3] >> 24)) * UINT32_C(16);
    uint32_t starts = (uint32_t)in;
    uint64_t planes = (uint64_t)f->z_dim * p->w_dim;
    if (job->compressed)
        in += rounded(((f->blobs ? f->blobs : f->y_dim) * planes + 1) * 2, 16);
    bool bfp = wg_l1_shares_exponent(job->in_format);
    job->forced_exponent = bfp && SECTION(p, REG2_Force_shared_exp);
    if (job->forced_exponent)
        job->exponent = (uint8_t)UNP(p, FORCED_SHARED_EXP_shared_exp);
    job->exponents = (int64_t)in * 16;
    /* NoBFPExpSection (bit 5) has no effect on the 8-bit formats. */
    if (bfp && !job->forced_exponent && (job->bits == 8 || !(p->tile[0] >> 5 & 1)))
        in += rounded(rounded((uint64_t)f->x_dim * f->y_dim * planes, 16) / 16, 16);
    job->drop = 0;
    job->outputs = UINT32_MAX;
    if (__builtin_expect(job->compressed, 0))
        weak(p, "compressed data");
    f->in = in;
    f->exponents = job->exponents;
    f->row_starts = starts;
    if (f->row_search && f->blobs)
        f->blob_starts = blob_starts(p);
    job->limit = (int64_t)SECTION(p, REG2_Unpack_limit_address) * 16;
    job->fifo = (int64_t)SECTION(p, REG2_Unpack_fifo_size) * 16;
    if (THCON(p, REG10_Unpack_limit_address_en))
        find(p, WG_F_UNIMPLEMENTED_INSN, 0, "REG10_Unpack_limit_address is not documented; REG2's is used");

    /* Blackhole reads wider input rows of all but the narrow formats. */
    job->row = p->t->arch->unpack.wide_rows && job->bits > 8 ? 32 : 16;
    job->stride = job->row * job->bits / 8;
    if (f->tileize)
        job->stride = shift_amount(p, 0) << 4 | shift_amount(p, 1) << 8 | shift_amount(p, 2) << 12;
}

/* ---- Output ------------------------------------------------------------------------------------------------- */

static void decode_output(plan *p)
{
    wg_unpack_form *f = p->form;
    wg_unpack_job *job = p->job;
    bool transpose = SECTION(p, REG2_Haloize_mode);
    job->transpose = transpose && !p->unpacker;
    if (transpose && p->unpacker)
        weak(p, "transposition (Haloize_mode), which Unpacker 1 ignores");
    job->to_dst = !p->unpacker && (p->multi_context ? context_bit(p, SHIFT_THCON_SEC0_REG2_Unpack_if_sel_cntx0)
                                                    : SECTION(p, REG2_Unpack_If_Sel));
    job->wide = wg_format_is_32(job->out_format);

    f->out_base = UNP(p, ADDR_BASE_REG_1_Base);
    f->out_y = UNP(p, ADDR_CTRL_XY_REG_1_Ystride);
    f->out_z = UNP(p, ADDR_CTRL_ZW_REG_1_Zstride);
    f->out_w = UNP(p, ADDR_CTRL_ZW_REG_1_Wstride);
    f->out_shift = job->wide ? 2 : wg_format_is_16(job->out_format) ? 1 : 0;
    f->adds_dest = f->replaces_dest = false;
    if (p->multi_context && !p->unpacker) {
        f->dest = half(section_bits(p, RELATIVE(REG5_Dest_cntx0_address) + p->context % 4 / 2, half_mask(p->context)),
                       p->context);
        f->adds_dest = job->to_dst || config(p, WG_CFG_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr);
        f->replaces_dest = !f->adds_dest;
    }

    job->upsample = (uint8_t)((1u << SECTION(p, REG2_Upsample_rate)) - 1);
    job->interleave = SECTION(p, REG2_Upsample_and_interleave);
    job->column_shift = p->form->tileize || p->unpacker ? 0 : (uint8_t)shift_amount(p, p->context & 3);
    job->override_row = !p->unpacker && thread_config(p, WG_TCFG_SRCA_SET_SetOvrdWithAddr);
    if (__builtin_expect(job->upsample | job->interleave | job->column_shift, 0))
        weak(p, job->column_shift ? "a column shift" : "upsampling");
}

/* Reports combinations of settings that are undefined. */
static void check_modes(plan *p)
{
    const wg_unpack_job *job = p->job;
    if (p->form->tileize && (job->upsample || job->compressed))
        find(p, WG_F_UNPACK_MODE, 0, "Tileize_mode with upsampling or compressed data");
    if (p->form->tileize && job->bits < 8)
        find(p, WG_F_UNPACK_MODE, 0, "Tileize_mode with datums of two or four bits");
    if (job->to_dst && (job->column_shift || job->transpose))
        find(p, WG_F_UNPACK_MODE, 0, "unpacking to Dst with a column shift or transposition");
    if (job->to_dst && job->override_row)
        find(p, WG_F_UNPACK_MODE, 0, "unpacking to Dst with SRCA_SET_SetOvrdWithAddr");
}

static void choose_reading(plan *p)
{
    wg_unpack_job *job = p->job;
    wg_l1_choice choice = {.to_dst = job->to_dst};
    if (job->in_format == WG_FMT_INT8)
        choice.is_unsigned = config(p, p->unpacker ? WG_CFG_ALU_FORMAT_SPEC_REG0_SrcBUnsigned
                                                   : WG_CFG_ALU_FORMAT_SPEC_REG0_SrcAUnsigned);
    if (job->in_format == WG_FMT_FP8) {
        choice.four_exponent_bits = THCON(p, REG1_Unp_LF8_4b_exp);
        choice.keeps_top = p->t->arch->unpack.fp8_keeps_top;
    }
    wg_l1_reading reading;
    if (!wg_l1_reading_of(job->in_format, job->out_format, &choice, &reading))
        find(p, WG_F_UNPACK_FORMAT, (uint64_t)job->in_format << 4 | job->out_format,
             job->to_dst ? "into Dst" : "into SrcA or SrcB");
    job->reading = (uint8_t)reading;
}

/* ---- Time --------------------------------------------------------------------------------------------------- */

enum { X1, X2, X4, X8 }; /* Throttle_mode */

/* Lines per cycle. Throttle_mode decides if the format leaves a choice; compressed data is read at one line per cycle. */
static unsigned speed(plan *p)
{
    const wg_unpack_job *job = p->job;
    const uint8_t *lines = p->t->arch->unpack.lines[job->bits >= 16];
    if (p->form->tileize)
        return lines[X4];
    if (job->compressed || job->upsample >= 3 || job->bits == 2)
        return lines[X1];
    unsigned mode = job->bits == 8 ? X8 : X4;
    if (!p->t->arch->unpack.throttle_override || THCON(p, REG1_ovrd_default_throttle_mode))
        mode = SECTION(p, REG2_Throttle_mode);
    if (!lines[mode]) {
        find(p, WG_F_UNPACK_MODE, mode, "Throttle_mode 3");
        mode = X4; /* Decided here */
    }
    bool half = job->upsample == 1 || (job->to_dst && job->bits == 4);
    return half && mode > X2 ? lines[X2] : lines[mode];
}

/* 16-byte lines that hold `datums` from bit address `at` on. */
static uint32_t lines_of(int64_t at, uint64_t datums, unsigned bits)
{
    if (!datums)
        return 0;
    uint64_t first = (uint64_t)at & 127;
    return (uint32_t)((first + datums * bits + 127) / 128);
}

/* Decided here: where the end depends on the data (decompression from X to X), every output counts as an input. */
static inline uint32_t lines(const wg_unpack_form *f, const wg_unpack_job *job)
{
    uint64_t datums = job->count == UINT32_MAX ? job->outputs : job->count;
    if (__builtin_expect(job->compressed, 0))
        return lines_of(job->datums, datums, job->bits) + lines_of(job->deltas, datums, 4);
    if (__builtin_expect(!f->tileize, 1))
        return lines_of(job->datums, datums, job->bits);
    uint64_t whole = datums / job->row;
    return (uint32_t)(whole * lines_of(job->datums, job->row, job->bits)) +
           lines_of(job->datums, datums % job->row, job->bits);
}

/* "Compressed data requires more" than two. Decided here: one more for each row start that it may read. */
unsigned wg_unpack_address_cycles(const wg_unpack_job *job)
{
    return job->compressed ? WG_TIME_UNPACK_ADDRESS_COMPRESSED : WG_TIME_UNPACK_ADDRESS;
}

/* ---- Counters ------------------------------------------------------------------------------------------------ */

static void step(wg_adc_channel *c, unsigned y, unsigned z)
{
    c->y = (uint16_t)((c->y + y) & 0x1FFF);
    c->z = (uint8_t)(c->z + z);
}

static void move_counters(wg_tile *t, unsigned unpacker, unsigned own, unsigned other, unsigned steps)
{
    for (unsigned thread = 0; thread < 3; thread++) {
        if (thread != own && thread != other)
            continue;
        wg_touch_adc(t, WG_TOUCH_READ | WG_TOUCH_AT_GATE | (steps ? WG_TOUCH_WRITE : 0u), thread, unpacker, 0, WG_ADC_X,
                     8);
        if (!steps)
            continue;
        wg_adc_channel *channel = t->regs.adc.unit[thread][unpacker];
        step(&channel[0], steps >> 2 & 3, steps & 3);
        step(&channel[1], steps >> 6 & 3, steps >> 4 & 3);
    }
}

/* ---- By the counters ------------------------------------------------------------------------------------------- */

typedef struct place {
    wg_tile *t;
    const wg_unpack_form *form;
    wg_unpack_job *job;
    unsigned unpacker;
    bool quiet; /* nothing is reported */
} place;

static void find_place(const place *p, wg_finding_code code, uint64_t subject, const char *what)
{
    if (!p->quiet)
        wg_findf(p->t, code, wg_insn_finding(&p->job->insn, subject, p->unpacker), "%s", what);
}

static void set_count(const place *p, uint32_t first, uint32_t end)
{
    if (__builtin_expect(end < first, 0)) {
        /* The page's unsigned difference; Decided here: nothing is moved. */
        find_place(p, WG_F_UNPACK_COUNT, first, "nothing was moved");
        end = first;
    }
    p->job->count = end - first;
}

static uint32_t blob_start(const wg_unpack_form *f, unsigned n) { return (f->blob_starts >> 4 * (n & 7) & 15) << 4; }

/* Uncompressed: the position of the first datum, and their number. */
static inline uint32_t first_uncompressed(const place *p, const wg_adc_channel *xy, const wg_adc_channel *zw)
{
    const wg_unpack_form *f = p->form;
    uint32_t x = xy->x, y = xy->y, end = xy[1].x + 1;
    if (__builtin_expect(f->row_search, 0)) {
        if (f->blobs) {
            unsigned last = (xy->x & 7) + 1;
            x = blob_start(f, xy->y);
            y = 0;
            end = last == f->blobs ? f->x_dim & 0x1F0 : blob_start(f, last);
        } else {
            x = 0;
            end = xy[1].x;
        }
    }
    set_count(p, x, end);
    return ((zw->w * f->z_dim + zw->z) * f->y_dim + y) * f->x_dim + x;
}

static uint32_t row_start(const place *p, uint32_t address)
{
    uint16_t value = 0;
    if (!wg_l1_holds(p->t->spec->l1_bytes, address, 2))
        find_place(p, WG_F_UNPACK_ADDRESS, address, "of a row start");
    wg_touch_l1(p->t, WG_TOUCH_READ, address, 2);
    wg_l1_read(p->t, address, 2, &value);
    return value;
}

/* Compressed: the first augmented datum, from the row starts. */
static uint32_t first_compressed(const place *p, const wg_adc_channel *xy, const wg_adc_channel *zw)
{
    const wg_unpack_form *f = p->form;
    wg_unpack_job *job = p->job;
    uint32_t y_dim = f->row_search && f->blobs ? f->blobs : f->y_dim;
    uint32_t starts = f->row_starts + (zw->w * f->z_dim + zw->z) * y_dim * 2;
    uint32_t first = row_start(p, starts + (xy->y & 0xFFu) * 2);
    if (f->row_search) {
        set_count(p, first, row_start(p, starts + ((xy->x & 0xFF) + 1) * 2));
    } else if (xy->x == 0 && xy[1].x == f->x_dim - 1) {
        set_count(p, first, row_start(p, starts + ((xy->y & 0xFFu) + 1) * 2));
    } else {
        set_count(p, xy->x, xy[1].x + 1);
        job->drop = xy->x;
        job->outputs = job->count;
        job->count = UINT32_MAX;
    }
    return first;
}

static int64_t wrap(const wg_unpack_job *job, int64_t address, int64_t per_byte)
{
    return address > job->limit * per_byte ? address - job->fifo * per_byte : address;
}

static inline void locate(const place *p)
{
    const wg_unpack_form *f = p->form;
    wg_unpack_job *job = p->job;
    const wg_adc_channel *xy = p->t->regs.adc.unit[f->adc][p->unpacker];
    const wg_adc_channel *zw = p->t->regs.adc.unit[f->thread][p->unpacker];
    uint32_t first;
    if (__builtin_expect(job->compressed, 0)) {
        first = first_compressed(p, xy, zw);
        uint32_t group = 32u * job->bits + 128; /* 32 datums, then 32 counters of four bits */
        job->datums = (int64_t)f->in * 8 + (int64_t)(first / 32) * group;
        job->deltas = wrap(job, job->datums + 32 * job->bits + first % 32 * 4, 8);
        job->datums += first % 32 * job->bits;
    } else {
        first = first_uncompressed(p, xy, zw);
        job->datums = (int64_t)f->in * 8 + (int64_t)first * job->bits;
    }
    job->datums = wrap(job, job->datums, 8);
    job->exponents = wrap(job, f->exponents + first, 16);
    if (__builtin_expect((job->transpose || f->tileize) && job->datums & 127, 0))
        find_place(p, WG_F_UNPACK_ALIGNMENT, (uint64_t)(job->datums / 8),
                   "transposing and tilizing need data that starts at a multiple of 16 bytes");

    uint32_t out = f->out_base + zw[1].y * f->out_y + zw[1].z * f->out_z + zw[1].w * f->out_w;
    if (__builtin_expect(out & ((1u << f->out_shift) - 1), 0))
        find_place(p, WG_F_UNPACK_ALIGNMENT, out, "the output address is no multiple of the datum's size");
    out >>= f->out_shift;
    job->out = f->replaces_dest ? f->dest : f->adds_dest ? out + f->dest : out;
    job->lines = lines(f, job);
    job->waits = job->count && job->outputs;
}

/* ---- The whole plan ------------------------------------------------------------------------------------------ */

static void decode(wg_tile *t, unsigned unpacker, const wg_insn *insn, bool quiet, wg_unpack_form *f)
{
    const uint64_t serial = f->serial;
    *f = (wg_unpack_form){
        .serial = serial + 1, .word = insn->word, .thread = insn->thread, .job = {.insn = *insn, .speed = 1}};
    wg_unpack_job *job = &f->job;
    plan p = {.t = t, .form = f, .job = job, .unpacker = unpacker, .thread = insn->thread, .word = insn->word};
    p.quiet = quiet;
    p.fields = wg_cfg_fields[t->arch->id];
    p.thread_fields = wg_tcfg_fields[t->arch->id];
    p.base = p.fields[unpacker ? WG_CFG_THCON_SEC1_REG0_TileDescriptor : WG_CFG_THCON_SEC0_REG0_TileDescriptor].word;
    p.bank = t->regs.config.bank[wg_config_bank(t, p.thread)];
    p.thread_config = t->regs.config.thread[p.thread];
    p.pending = t->backend.config.instructions != 0;
    job->what = WG_UNPACK_NOTHING;
    if (WG_GET(UNPACR, CfgContextCntInc, p.word)) { /* only increments the context counter */
        next_context(&p, *context_counter(&p));
        return;
    }
    if (WG_GET(UNPACR, SearchCacheFlush, p.word)) /* only flushes the row-start cache, which is not modelled */
        return;
    job->what = WG_UNPACK_MOVE;
    f->row_search = WG_GET(UNPACR, RowSearch, p.word);
    if (f->row_search)
        weak(&p, "RowSearch");
    choose_context(&p);
    read_tile(&p);
    f->tileize = SECTION(&p, REG2_Tileize_mode);
    decode_input(&p);
    decode_output(&p);
    choose_reading(&p);
    check_modes(&p);
    job->src_base = (uint8_t)(thread_config(&p, unpacker ? WG_TCFG_SRCB_SET_Base : WG_TCFG_SRCA_SET_Base) << 4);
    job->zero = WG_GET(UNPACR, ZeroWrite2, p.word);
    job->flip = WG_GET(UNPACR, SetDatValid, p.word);
    job->advance_row = SECTION(&p, REG2_Unpack_Src_Reg_Set_Upd);
    bool row_mode = WG_OPERAND(BH, UNPACR, srcb_bcast, p.word); /* WH: rareb_en, at the same position */
    job->broadcast = row_mode && t->arch->unpack.srcb_broadcast && unpacker;
    if (row_mode && !job->broadcast)
        find(&p, WG_F_UNIMPLEMENTED_INSN, 5, "bit 5: rarefying SrcB (WH), or broadcasting by Unpacker 0 (BH)");
    else if (job->broadcast)
        weak(&p, "broadcasting SrcB's row");
    job->speed = (uint8_t)speed(&p);
    f->steps = (uint8_t)WG_GET(UNPACR, AddrMode, p.word);
    if (p.multi_context && WG_GET(UNPACR, AutoIncContextID, p.word))
        next_context(&p, p.context);
    else if (!p.found && !p.pending && wg_fast_decoded_unseen(t)) /* else the next one is decoded again */
        f->changes = t->regs.config.changes + 1;
}

static void fill_in(wg_unpack_job *job, const wg_unpack_form *f)
{
    const wg_insn insn = job->insn;
    const uint64_t ready = job->ready_at;
    *job = f->job;
    job->serial = f->serial;
    job->insn = insn;
    job->ready_at = ready;
    job->done_at = WG_NEVER;
}

void wg_unpack_plan(wg_tile *t, unsigned unpacker, wg_unpack_job *job)
{
    wg_unpack_form *f = &t->backend.unpack.form[unpacker];
    if (__builtin_expect(f->word != job->insn.word || f->thread != job->insn.thread ||
                             f->changes != t->regs.config.changes + 1 || t->backend.config.instructions ||
                             !wg_fast_decoded_unseen(t),
                         0))
        decode(t, unpacker, &job->insn, false, f);
    else
        wg_fast_decoded_again(t);
    if (job->serial != f->serial)
        fill_in(job, f);
    if (job->what == WG_UNPACK_NOTHING)
        return;
    locate(&(place){.t = t, .form = f, .job = job, .unpacker = unpacker});
    if (f->steps || wg_touch_watched(t))
        move_counters(t, unpacker, f->thread, f->adc, f->steps);
}

void wg_unpack_sample_late(wg_tile *t, unsigned unpacker, wg_unpack_job *job, const wg_unpack_late *late)
{
    uint8_t *counter = &t->regs.config.unpack_context[unpacker][job->insn.thread], context = *counter;
    wg_adc adc = t->regs.adc;
    wg_unpack_job now = *job;
    *counter = late->context;
    t->regs.adc = late->adc;
    wg_unpack_form form = {0};
    decode(t, unpacker, &job->insn, true, &form);
    fill_in(&now, &form);
    locate(&(place){.t = t, .form = &form, .job = &now, .unpacker = unpacker, .quiet = true});
    *counter = context;
    t->regs.adc = adc;
    if (now.compressed != job->compressed || now.count != job->count)
        return; /* a different tile: the addresses would not match */
    job->serial = 0;
    job->out_format = now.out_format;
    job->in_format = now.in_format;
    job->reading = now.reading;
    job->bits = now.bits;
    job->out = now.out;
    job->upsample = now.upsample;
    job->column_shift = now.column_shift;
    job->interleave = now.interleave;
    job->forced_exponent = now.forced_exponent;
    job->exponent = now.exponent;
    job->to_dst = now.to_dst;
    job->wide = now.wide;
    job->transpose = now.transpose;
}
