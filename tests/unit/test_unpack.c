/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNPACR's values: every operand bit and every configuration field it reads, at random, against a second model that
 * follows the page's functional model line by line, with one datum at a time and addresses as fractions of bytes.
 */
#include "unpack_rig.h"

#include <math.h>
#include <stdio.h>

#include "num/l1_formats.h"

/* ---- The page's functional model ---------------------------------------------------------------------------- */

typedef struct machine {
    wg_arch_id arch;
    uint32_t config[WG_CONFIG_WORDS];
    uint16_t thread_config[3][WG_THREAD_CONFIG_WORDS];
    wg_adc adc;
    const uint8_t *l1;
    uint32_t l1_bytes;
    uint32_t src[2][2][64][16]; /* [A, B][bank][row][column] */
    uint16_t dst[1024][16];
    uint8_t bank[2], src_row[2][3], context[2][3], format[2][2];
    bool given[2][2];
} machine;

static uint32_t field(const machine *m, unsigned u, const char *name)
{
    char full[96];
    snprintf(full, sizeof full, "THCON_SEC%u_%s", u, name);
    if (strncmp(name, "ADD", 3) == 0 || strncmp(name, "FORCED", 6) == 0)
        snprintf(full, sizeof full, "UNP%u_%s", u, name);
    if (strncmp(name, "ALU", 3) == 0 || strncmp(name, "UNP0", 4) == 0)
        snprintf(full, sizeof full, "%s", name);
    wg_cfg_id id = wg_cfg_by_name(full, strlen(full));
    assert_true(id < WG_CFG_COUNT);
    return wg_cfg_get(m->arch, id, m->config);
}
static uint32_t context_field(const machine *m, unsigned u, const char *before, unsigned context, const char *after)
{
    char name[64];
    snprintf(name, sizeof name, "%s%u%s", before, context, after);
    return field(m, u, name);
}
static uint32_t thread_field(const machine *m, unsigned thread, wg_tcfg_id id)
{
    return wg_tcfg_get(m->arch, id, m->thread_config[thread]);
}
/* Bits of the tile descriptor. */
static uint32_t tile(const machine *m, unsigned u, unsigned first, unsigned bits)
{
    const wg_cfg_field *f =
        &wg_cfg_fields[m->arch][u ? WG_CFG_THCON_SEC1_REG0_TileDescriptor : WG_CFG_THCON_SEC0_REG0_TileDescriptor];
    uint32_t value = 0;
    for (unsigned i = 0; i < bits; i++)
        value |= (m->config[f->word + (first + i) / 32] >> (first + i) % 32 & 1) << i;
    return value;
}

static uint32_t read_l1(const machine *m, double address, double bytes)
{
    int64_t bit = (int64_t)floor(address * 8);
    uint32_t result = 0;
    for (unsigned i = 0; i < (unsigned)(bytes * 8); i++, bit++)
        if (bit >= 0 && bit / 8 < m->l1_bytes)
            result |= (uint32_t)(m->l1[bit / 8] >> (bit & 7) & 1) << i;
    return result;
}

typedef struct wrapping {
    double limit, fifo;
} wrapping;
static double wrap(wrapping w, double address) { return address > w.limit ? address - w.fifo : address; }

static const double datum_bytes[16] = {4, 2, 1, .5, 4, 2, 1, .5, 4, 2, 1, .25, 4, 2, 1, .25};
static bool is_bfp(unsigned f) { return f == 2 || f == 3 || f == 6 || f == 7 || f == 11 || f == 15; }

static uint32_t convert(const machine *m, unsigned u, unsigned in, unsigned out, bool to_dst, uint32_t bits,
                        uint8_t exponent)
{
    const char *type = u ? "ALU_FORMAT_SPEC_REG0_SrcBUnsigned" : "ALU_FORMAT_SPEC_REG0_SrcAUnsigned";
    wg_l1_choice c = {.to_dst = to_dst,
                      .is_unsigned = field(m, u, type),
                      .four_exponent_bits = field(m, u, "REG1_Unp_LF8_4b_exp"),
                      .keeps_top = m->arch == WG_ARCH_BH};
    wg_l1_reading reading;
    wg_l1_reading_of(in, out, &c, &reading);
    return to_dst ? wg_l1_to_dst(reading, bits, exponent) : wg_l1_to_src(reading, bits, exponent);
}

static void dst32(machine *m, unsigned row, unsigned column, uint32_t value)
{
    row = (row & 0x1F8) << 1 | (row & 0x207);
    m->dst[row][column] = (uint16_t)(value >> 16);
    m->dst[row + 8][column] = (uint16_t)value;
}

/* An UNPACR in progress: its parameters, what it reads, where it writes. */
typedef struct job {
    uint32_t word;
    unsigned u, thread, which, context, in, out, blobs, bank;
    bool multi, search, uncompressed, forced;
    uint32_t x_dim, y_dim, z_dim, w_dim;
    double size, starts, datums, exponents, deltas; /* of a datum; addresses */
    uint32_t first, count, drop, outputs;
    wrapping w;
    bool to_dst, wide, transpose, override_row;
    unsigned shift;
    uint32_t position;
} job;

static void settings(const machine *m, job *s)
{
    unsigned u = s->u;
    s->which = s->thread;
    if (s->multi) {
        s->context = s->word >> 3 & 1 ? m->context[u][s->thread] : s->word >> 10 & 7;
        s->context = (s->context + thread_field(m, s->thread,
                                                u ? WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_1
                                                  : WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_0)) &
                     7;
        s->which = s->word >> 8 & 3;
    }
    s->uncompressed =
        s->multi ? context_field(m, u, "REG2_Disable_zero_compress_cntx", s->context, "") : tile(m, u, 4, 1);
    s->x_dim = s->multi && !u ? context_field(m, u, "REG5_Tile_x_dim_cntx", s->context & 3, "") : tile(m, u, 16, 16);
    s->y_dim = tile(m, u, 32, 8);
    s->z_dim = tile(m, u, 48, 8) ? tile(m, u, 48, 8) : 1;
    s->w_dim = tile(m, u, 64, 8) ? tile(m, u, 64, 8) : 1;
    s->blobs = tile(m, u, 8, 3);
    s->in = tile(m, u, 0, 4);
    s->out = field(m, u, "REG2_Out_data_format");
    if (s->multi && field(m, u, "REG2_Ovrd_data_format")) {
        s->in = context_field(m, u, "REG7_Unpack_data_format_cntx", s->context, "");
        s->out = context_field(m, u, "REG7_Unpack_out_data_format_cntx", s->context, "");
    }
    s->size = datum_bytes[s->in];
    s->forced = field(m, u, "REG2_Force_shared_exp");
}

/* Row starts, exponents, datums, back to back. */
static void sections(const machine *m, job *s)
{
    unsigned u = s->u, context = s->context;
    uint32_t address;
    if (s->multi && context)
        address = context_field(m, u, context < 4 ? "REG3_Base_cntx" : "REG4_Base_cntx", context, "_address") +
                  (context & 3 ? context_field(m, u, "REG7_Offset_cntx", context & 3, "_address")
                               : field(m, u, "REG7_Offset_address"));
    else
        address = field(m, u, "REG3_Base_address") + field(m, u, "REG7_Offset_address");
    double at = (uint32_t)((address + 1 + tile(m, u, 120, 8)) * 16);
    s->starts = at;
    if (!s->uncompressed)
        at += ceil(((s->blobs ? s->blobs : s->y_dim) * s->z_dim * s->w_dim + 1) * 2 / 16.) * 16;
    s->exponents = at;
    if (is_bfp(s->in) && !s->forced && (s->in == 6 || s->in == 2 || !tile(m, u, 5, 1)))
        at += ceil(ceil((double)s->x_dim * s->y_dim * s->z_dim * s->w_dim / 16.) / 16.) * 16;
    s->datums = at;
}

/* Selects the datums of an uncompressed tile. */
static void range_plain(const machine *m, job *s)
{
    const wg_adc_channel *xy = m->adc.unit[s->which][s->u], *zw = m->adc.unit[s->thread][s->u];
    uint32_t x = xy[0].x, y = xy[0].y, end = xy[1].x + 1;
    if (s->search && s->blobs) {
        uint32_t list = s->multi && !s->u ? field(m, s->u,
                                                  s->context & 2 ? "UNP0_BLOBS_Y_START_CNTX_23_blobs_y_start"
                                                                 : "UNP0_BLOBS_Y_START_CNTX_01_blobs_y_start")
                                          : tile(m, s->u, 80, 32);
        unsigned last = (xy[0].x & 7) + 1;
        x = (list >> 4 * (xy[0].y & 7) & 15) << 4;
        y = 0;
        end = last == s->blobs ? s->x_dim & 0x1F0 : (last < 8 ? list >> 4 * last & 15 : list & 15) << 4;
    } else if (s->search) {
        x = 0;
        end = xy[1].x;
    }
    s->first = ((zw[0].w * s->z_dim + zw[0].z) * s->y_dim + y) * s->x_dim + x;
    s->count = end < x ? 0 : end - x;
    s->datums += s->first * s->size;
}

/* Selects those of a compressed one, according to its row starts. */
static void range_compressed(const machine *m, job *s)
{
    const wg_adc_channel *xy = m->adc.unit[s->which][s->u], *zw = m->adc.unit[s->thread][s->u];
    uint32_t rows = s->search && s->blobs ? s->blobs : s->y_dim;
    double starts = s->starts + (uint32_t)((zw[0].w * s->z_dim + zw[0].z) * rows * 2);
    s->first = read_l1(m, starts + (xy[0].y & 0xFF) * 2, 2);
    if (s->search || (xy[0].x == 0 && xy[1].x == s->x_dim - 1)) {
        uint32_t end = read_l1(m, starts + (((s->search ? xy[0].x : xy[0].y) & 0xFF) + 1) * 2, 2);
        s->count = end < s->first ? 0 : end - s->first;
    } else {
        s->drop = xy[0].x;
        s->outputs = xy[1].x + 1 < s->drop ? 0 : xy[1].x + 1 - s->drop;
        s->count = UINT32_MAX;
    }
    s->datums += s->first / 32 * (32 * s->size + 16);
    s->deltas = s->datums + 32 * s->size + s->first % 32 * .5;
    s->datums += s->first % 32 * s->size;
}

static void destination(const machine *m, job *s)
{
    unsigned u = s->u;
    const wg_adc_channel *o = &m->adc.unit[s->thread][u][1];
    s->to_dst = !u && (s->multi ? context_field(m, u, "REG2_Unpack_if_sel_cntx", s->context, "")
                                : field(m, u, "REG2_Unpack_If_Sel"));
    s->transpose = !u && field(m, u, "REG2_Haloize_mode");
    s->override_row = thread_field(m, s->thread, WG_TCFG_SRCA_SET_SetOvrdWithAddr);
    s->shift =
        field(m, u, "REG2_Tileize_mode") || u ? 0 : context_field(m, u, "REG2_Shift_amount_cntx", s->context & 3, "");
    s->bank = m->bank[u];
    s->wide = s->out == 0 || s->out == 4 || s->out == 8;
    s->position = field(m, u, "ADDR_BASE_REG_1_Base") + o->y * field(m, u, "ADDR_CTRL_XY_REG_1_Ystride") +
                  o->z * field(m, u, "ADDR_CTRL_ZW_REG_1_Zstride") + o->w * field(m, u, "ADDR_CTRL_ZW_REG_1_Wstride");
    s->position >>= s->wide ? 2 : s->out == 1 || s->out == 5 || s->out == 9 ? 1 : 0;
    if (s->multi && !u) {
        uint32_t dest = context_field(m, u, "REG5_Dest_cntx", s->context & 3, "_address");
        s->position = s->to_dst || field(m, u, "ADD_DEST_ADDR_CNTR_add_dest_addr_cntr") ? s->position + dest : dest;
    }
}

static void put(machine *m, const job *s, uint32_t value)
{
    unsigned row = s->position / 16, column = s->position & 15;
    if (s->u) {
        m->src[1][s->bank][(row + m->src_row[1][s->thread]) & 63][column] = value;
    } else if (!s->to_dst) {
        if (row < 4 || column < s->shift)
            return;
        row = (row - 4 + (s->override_row ? 0 : m->src_row[0][s->thread])) & 63;
        column -= s->shift;
        if (s->transpose)
            m->src[0][s->bank][(row & ~15u) | column][row & 15] = value;
        else
            m->src[0][s->bank][row][column] = value;
    } else {
        row = (row - 4) & (s->override_row ? 0x3CF : 0x3FF);
        if (s->wide)
            dst32(m, row, column, value);
        else
            m->dst[row][column] = (uint16_t)value;
    }
}

static uint8_t next_exponent(const machine *m, job *s)
{
    if (!is_bfp(s->in))
        return 0;
    if (s->forced)
        return (uint8_t)field(m, s->u, "FORCED_SHARED_EXP_shared_exp");
    uint8_t exponent = (uint8_t)read_l1(m, floor(s->exponents), 1);
    s->exponents += 1 / 16.;
    if (s->exponents == floor(s->exponents / 16.) * 16.)
        s->exponents = wrap(s->w, s->exponents);
    return exponent;
}

/* The number of zeros omitted after the datum. */
static unsigned next_delta(const machine *m, job *s)
{
    if (s->uncompressed)
        return 0;
    unsigned zeros = read_l1(m, s->deltas, .5);
    s->deltas += .5;
    if (s->deltas == floor(s->deltas / 16.) * 16.) {
        s->datums += 16;
        s->deltas = wrap(s->w, s->deltas + 32 * s->size);
    }
    return zeros;
}

static void move(machine *m, job *s)
{
    unsigned u = s->u, width = m->arch == WG_ARCH_BH && s->size > 1 ? 32 : 16;
    double stride = s->size * width;
    if (field(m, u, "REG2_Tileize_mode"))
        stride = field(m, u, "REG2_Shift_amount_cntx0") << 4 | field(m, u, "REG2_Shift_amount_cntx1") << 8 |
                 field(m, u, "REG2_Shift_amount_cntx2") << 12;
    unsigned upsample = (1u << field(m, u, "REG2_Upsample_rate")) - 1;
    bool interleave = field(m, u, "REG2_Upsample_and_interleave");
    for (uint32_t i = 0; i < s->count && s->outputs;) {
        uint32_t bits = read_l1(m, s->datums, s->size);
        s->datums += s->size;
        if (++i % width == 0)
            s->datums = wrap(s->w, s->datums - s->size * width + stride);
        uint8_t exponent = next_exponent(m, s);
        unsigned zeros = next_delta(m, s);
        uint32_t value = convert(m, u, s->in, s->out, s->to_dst, bits, exponent);
        if (s->word >> 4 & 1)
            value = zeros = 0;
        for (unsigned j = 0; j <= zeros; j++, value = 0) {
            if (s->drop) {
                s->drop--;
                continue;
            }
            for (unsigned k = 0; k <= upsample; k++, value = 0, s->position++)
                if (!interleave || !k)
                    put(m, s, value);
            if (--s->outputs == 0)
                break;
        }
    }
}

/* Advances contexts, counters and banks afterwards. */
static void afterwards(machine *m, const job *s, unsigned limit_contexts)
{
    unsigned u = s->u, thread = s->thread;
    uint32_t word = s->word;
    if (s->multi && word >> 3 & 1) {
        unsigned next = (s->context + 1) & 7;
        m->context[u][thread] = (uint8_t)(next >= limit_contexts ? 0 : next);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (i != thread && i != s->which)
            continue;
        wg_adc_channel *c = m->adc.unit[i][u];
        c[0].z = (uint8_t)(c[0].z + (word >> 15 & 3));
        c[0].y = (c[0].y + (word >> 17 & 3)) & 0x1FFF;
        c[1].z = (uint8_t)(c[1].z + (word >> 19 & 3));
        c[1].y = (c[1].y + (word >> 21 & 3)) & 0x1FFF;
    }
    unsigned base = thread_field(m, thread, u ? WG_TCFG_SRCB_SET_Base : WG_TCFG_SRCA_SET_Base) << 4;
    if (word >> 6 & 1) {
        m->given[u][s->bank] = true;
        m->format[u][s->bank] = (uint8_t)s->out;
        m->bank[u] ^= 1;
        m->src_row[u][thread] = (uint8_t)base;
    } else if (field(m, u, "REG2_Unpack_Src_Reg_Set_Upd")) {
        m->src_row[u][thread] = (m->src_row[u][thread] + 16 + base) & 63;
    }
}

static void unpacr(machine *m, unsigned thread, uint32_t word)
{
    unsigned u = word >> 23 & 1, limit_contexts = 1u << field(m, u, "REG2_Context_count");
    if (word >> 13 & 1) {
        unsigned next = (m->context[u][thread] + 1u) & 7;
        m->context[u][thread] = (uint8_t)(next >= limit_contexts ? 0 : next);
        return;
    }
    if (word >> 1 & 1)
        return;
    job s = {.word = word,
             .u = u,
             .thread = thread,
             .multi = word >> 7 & 1,
             .search = word >> 2 & 1,
             .outputs = UINT32_MAX,
             .w = {field(m, u, "REG2_Unpack_limit_address") * 16., field(m, u, "REG2_Unpack_fifo_size") * 16.}};
    settings(m, &s);
    sections(m, &s);
    if (s.uncompressed)
        range_plain(m, &s);
    else
        range_compressed(m, &s);
    s.exponents = wrap(s.w, s.exponents + s.first / 16.);
    s.datums = wrap(s.w, s.datums);
    s.deltas = wrap(s.w, s.deltas);
    destination(m, &s);
    uint32_t position = s.position;
    move(m, &s);
    if (word >> 5 & 1 && u && m->arch == WG_ARCH_BH && s.count) /* copies the first row into the next seven */
        for (unsigned i = 1; i < 8; i++) {
            unsigned row = position / 16 + m->src_row[1][thread];
            memcpy(m->src[1][s.bank][(row + i) & 63], m->src[1][s.bank][row & 63], 64);
        }
    afterwards(m, &s, limit_contexts);
}

/* ---- Random machines ---------------------------------------------------------------------------------------- */

static bool often(wg_rng *rng, unsigned percent) { return wg_rng_below(rng, 100) < percent; }

/* A thread's own settings, contexts and counters. */
static void random_thread(wg_rng *rng, ur *r, unsigned u, unsigned i, bool compressed, uint32_t x_dim)
{
    ur_thread(r, i, WG_TCFG_SRCA_SET_Base, wg_rng_below(rng, 4));
    ur_thread(r, i, WG_TCFG_SRCB_SET_Base, wg_rng_below(rng, 4));
    ur_thread(r, i, WG_TCFG_SRCA_SET_SetOvrdWithAddr, wg_rng_below(rng, 2));
    ur_thread(r, i, WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_0, wg_rng_below(rng, 16));
    ur_thread(r, i, WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_1, wg_rng_below(rng, 16));
    r->t->regs.config.unpack_context[0][i] = (uint8_t)wg_rng_below(rng, 8);
    r->t->regs.config.unpack_context[1][i] = (uint8_t)wg_rng_below(rng, 8);
    wg_adc_channel *c = r->t->regs.adc.unit[i][u];
    uint32_t x = often(rng, 60) ? 16 * wg_rng_below(rng, 8) : wg_rng_below(rng, 200);
    uint32_t count = often(rng, 50) ? 256 : wg_rng_below(rng, 400);
    wg_adc_set(&c[0], WG_ADC_X, x);
    wg_adc_set(&c[1], WG_ADC_X, compressed && often(rng, 30) ? x_dim - 1 : x + count - 1);
    for (unsigned ch = 0; ch < 2; ch++) {
        wg_adc_set(&c[ch], WG_ADC_Y, often(rng, 95) ? wg_rng_below(rng, 6) : 0x1FFF);
        wg_adc_set(&c[ch], WG_ADC_Z, often(rng, 95) ? wg_rng_below(rng, 4) : 0xFF);
        wg_adc_set(&c[ch], WG_ADC_W, wg_rng_below(rng, 2));
    }
    r->t->regs.src.unpack_row_a[i] = r->t->regs.src.unpack_row_b[i] = (uint8_t)(wg_rng_below(rng, 4) * 16);
}

static uint32_t random_word(wg_rng *rng, wg_arch_id arch, unsigned u)
{
    uint32_t word = UINT32_C(0x42000000) | u << 23 | ((uint32_t)wg_rng_next(rng) & 0x7FFFFF);
    word &= ~(1u << 14 | 1u << 5);
    if (word >> 8 & 1 && word >> 9 & 1)
        word &= ~(1u << 8); /* counters 3 do not exist */
    if (!often(rng, 4))
        word &= ~(1u << 13 | 1u << 1);
    if (!often(rng, 15))
        word &= ~(1u << 4 | 1u << 2);
    if (often(rng, 60))
        word |= 1u << 7;
    if (u && arch == WG_ARCH_BH && often(rng, 5))
        word |= 1u << 5;
    return word;
}

/* A random setting of everything UNPACR reads; rare modes are drawn rarely, so that common ones also occur alone. */
static uint32_t random_setting(wg_rng *rng, ur *r, unsigned thread)
{
    wg_arch_id arch = r->t->arch->id;
    uint32_t *config = r->t->regs.config.bank[0];
    unsigned u = wg_rng_below(rng, 2);
    memset(config, 0, sizeof r->t->regs.config.bank[0]);
    static const uint8_t formats[] = {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 14, 15, 4};
    unsigned in = formats[wg_rng_below(rng, 13)], out = in;
    bool to_dst = !u && (often(rng, 30) || in == 8);
    if (u && in == 8)
        in = out = 5;
    if (in == 0) {
        static const uint8_t outs[] = {4, 5, 1, 0};
        out = outs[wg_rng_below(rng, to_dst ? 4 : 3)];
    }
    if (to_dst && often(rng, 5))
        in = out = 4;
    bool compressed = often(rng, 20), tilize = !compressed && often(rng, 15);
    uint32_t x_dim = often(rng, 50) ? 256 : 1 + wg_rng_below(rng, 300);
    const wg_cfg_field *f =
        &wg_cfg_fields[arch][u ? WG_CFG_THCON_SEC1_REG0_TileDescriptor : WG_CFG_THCON_SEC0_REG0_TileDescriptor];
    config[f->word] = in | (uint32_t)!compressed << 4 | (uint32_t)often(rng, 10) << 5 |
                      (often(rng, 80) ? 0 : wg_rng_below(rng, 8)) << 8 | x_dim << 16;
    config[f->word + 1] = wg_rng_below(rng, 20) | wg_rng_below(rng, 6) << 16;
    config[f->word + 2] = wg_rng_below(rng, 3) | wg_rng_below(rng, 65536) << 16;
    config[f->word + 3] = wg_rng_below(rng, 65536) | (often(rng, 90) ? 0 : wg_rng_below(rng, 256)) << 24;
    UR_SEC(r, u, REG2_Out_data_format, out);
    UR_SEC(r, u, REG2_Throttle_mode, wg_rng_below(rng, 3));
    UR_SEC(r, u, REG2_Context_count, wg_rng_below(rng, 4));
    UR_SEC(r, u, REG2_Haloize_mode, often(rng, 20));
    UR_SEC(r, u, REG2_Tileize_mode, tilize);
    UR_SEC(r, u, REG2_Unpack_Src_Reg_Set_Upd, often(rng, 30));
    UR_SEC(r, u, REG2_Unpack_If_Sel, to_dst);
    UR_SEC(r, u, REG2_Upsample_rate, often(rng, 85) ? 0 : wg_rng_below(rng, 4));
    UR_SEC(r, u, REG2_Upsample_and_interleave, often(rng, 10));
    UR_SEC(r, u, REG2_Force_shared_exp, often(rng, 20));
    UR_UNP(r, u, FORCED_SHARED_EXP_shared_exp, wg_rng_below(rng, 256));
    ur_set(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcAUnsigned, wg_rng_below(rng, 2));
    ur_set(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcBUnsigned, wg_rng_below(rng, 2));
    if (arch == WG_ARCH_BH)
        UR_SEC(r, u, REG1_Unp_LF8_4b_exp, wg_rng_below(rng, 2));
    /* Fields per context: compression and destination the same everywhere, the rest different. */
    const wg_cfg_field *reg2 = &wg_cfg_fields[arch][u ? WG_CFG_THCON_SEC1_REG2_Disable_zero_compress_cntx0
                                                      : WG_CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0];
    config[reg2->word] |= (compressed ? 0 : 0x000F000F) | (to_dst ? 0x00F000F0 : 0);
    bool override_format = often(rng, 20);
    UR_SEC(r, u, REG2_Ovrd_data_format, override_format);
    uint32_t shifts = tilize ? 1 + wg_rng_below(rng, 60) : often(rng, 85) ? 0 : wg_rng_below(rng, 65536);
    for (unsigned i = 0; i < 4; i++)
        wg_cfg_insert(&wg_cfg_fields[arch][(u ? WG_CFG_THCON_SEC1_REG2_Shift_amount_cntx0
                                              : WG_CFG_THCON_SEC0_REG2_Shift_amount_cntx0) +
                                           i],
                      config, shifts >> 4 * i);
    uint32_t base = 64 + wg_rng_below(rng, 4096);
    for (unsigned c = 0; c < 8; c++) {
        unsigned word = f->word + 12 + c;
        config[word] = base + wg_rng_below(rng, 64);
        uint32_t formats_bits = in | out << 4;
        config[f->word + 28 + c % 4] |= formats_bits << (16 + c / 4 * 8) | (c < 4 ? wg_rng_below(rng, 256) : 0);
    }
    for (unsigned c = 0; c < 4 && !u; c++) {
        uint32_t dest = often(rng, 60) ? 64 : wg_rng_below(rng, 1200);
        config[f->word + 20 + c / 2] |= dest << 16 * (c & 1);
        config[f->word + 22 + c / 2] |= (often(rng, 60) ? x_dim : 1 + wg_rng_below(rng, 300)) << 16 * (c & 1);
    }
    if (!u) {
        ur_set(r, WG_CFG_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr, wg_rng_below(rng, 2));
        ur_set(r, WG_CFG_UNP0_BLOBS_Y_START_CNTX_01_blobs_y_start, (uint32_t)wg_rng_next(rng));
        ur_set(r, WG_CFG_UNP0_BLOBS_Y_START_CNTX_23_blobs_y_start, (uint32_t)wg_rng_next(rng));
    }
    UR_UNP(r, u, ADDR_BASE_REG_1_Base, often(rng, 60) ? 0 : wg_rng_below(rng, 400));
    UR_UNP(r, u, ADDR_CTRL_XY_REG_1_Ystride, wg_rng_below(rng, 300));
    UR_UNP(r, u, ADDR_CTRL_ZW_REG_1_Zstride, wg_rng_below(rng, 600));
    UR_UNP(r, u, ADDR_CTRL_ZW_REG_1_Wstride, wg_rng_below(rng, 600));
    UR_SEC(r, u, REG2_Unpack_limit_address, often(rng, 50) ? 0x1FFFF : base + wg_rng_below(rng, 300));
    UR_SEC(r, u, REG2_Unpack_fifo_size, wg_rng_below(rng, 300));
    for (unsigned i = 0; i < 3; i++)
        random_thread(rng, r, u, i, compressed, x_dim);
    (void)thread;
    return random_word(rng, arch, u);
}

static void copy_in(machine *m, const ur *r)
{
    const wg_tile *t = r->t;
    *m = (machine){.arch = t->arch->id, .l1 = t->l1, .l1_bytes = t->spec->l1_bytes, .adc = t->regs.adc};
    memcpy(m->config, t->regs.config.bank[0], sizeof m->config);
    memcpy(m->thread_config, t->regs.config.thread, sizeof m->thread_config);
    memcpy(m->context, t->regs.config.unpack_context, sizeof m->context);
    memcpy(m->src[0], t->regs.src.a, sizeof m->src[0]);
    memcpy(m->src[1], t->regs.src.b, sizeof m->src[1]);
    memcpy(m->dst, t->regs.dst.bits, sizeof m->dst);
    m->bank[0] = t->regs.src.unpack_bank_a;
    m->bank[1] = t->regs.src.unpack_bank_b;
    memcpy(m->src_row[0], t->regs.src.unpack_row_a, 3);
    memcpy(m->src_row[1], t->regs.src.unpack_row_b, 3);
    memcpy(m->format[0], t->regs.src.format_a, 2);
    memcpy(m->format[1], t->regs.src.format_b, 2);
}

static void compare(const machine *m, const ur *r)
{
    const wg_tile *t = r->t;
    const wg_src *s = &t->regs.src;
    assert_memory_equal(s->a, m->src[0], sizeof m->src[0]);
    assert_memory_equal(s->b, m->src[1], sizeof m->src[1]);
    assert_memory_equal(t->regs.dst.bits, m->dst, sizeof m->dst);
    assert_memory_equal(&t->regs.adc, &m->adc, sizeof m->adc);
    assert_memory_equal(t->regs.config.unpack_context, m->context, sizeof m->context);
    assert_int_equal(s->unpack_bank_a, m->bank[0]);
    assert_int_equal(s->unpack_bank_b, m->bank[1]);
    assert_memory_equal(s->unpack_row_a, m->src_row[0], 3);
    assert_memory_equal(s->unpack_row_b, m->src_row[1], 3);
    for (unsigned bank = 0; bank < 2; bank++) {
        assert_int_equal(s->owner_a[bank] == WG_SRC_MATRIX, m->given[0][bank]);
        assert_int_equal(s->owner_b[bank] == WG_SRC_MATRIX, m->given[1][bank]);
        if (m->arch == WG_ARCH_BH) {
            assert_int_equal(s->format_a[bank], m->format[0][bank]);
            assert_int_equal(s->format_b[bank], m->format[1][bank]);
        }
    }
}

static void test_values(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    wg_tile *t = r->t;
    wg_rng rng = {2024};
    static machine m;
    for (uint32_t i = 0; i < t->spec->l1_bytes; i++)
        t->l1[i] = (uint8_t)wg_rng_next(&rng);
    /* Plausible row starts of compressed data: small, and rising in places. */
    for (uint32_t i = 0; i < 0x20000; i += 2)
        if (i % 512 < 96) {
            uint16_t start = (uint16_t)(i % 512 / 2 * 7);
            memcpy(t->l1 + i, &start, 2);
        }
    for (unsigned n = 0; n < wg_test_rounds(10000, 10000); n++) {
        wg_test_round("round", n);
        unsigned thread = wg_rng_below(&rng, 3);
        t->simd = (uint8_t)(n % 3 <= wg_simd_best() ? n % 3 : 0);
        uint32_t word = random_setting(&rng, r, thread);
        t->regs.src.unpack_bank_a = (uint8_t)wg_rng_below(&rng, 2);
        t->regs.src.unpack_bank_b = (uint8_t)wg_rng_below(&rng, 2);
        memset(t->regs.src.owner_a, 0, 2);
        memset(t->regs.src.owner_b, 0, 2);
        copy_in(&m, r);
        ur_do(r, thread, word);
        unpacr(&m, thread, word);
        compare(&m, r);
        r->dev.findings = r->events = 0;
    }
    ur_free(r);
}

/* ---- Dst's permutations, marks ------------------------------------------------------------------------------ */

static void test_dst_rows(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    wg_tile *t = r->t;
    ur_face(r, 0, WG_FMT_FP32, WG_FMT_FP32, 0x1000);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
    for (uint32_t i = 0; i < 256; i++)
        memcpy(t->l1 + 0x1000 + 4 * i, &(uint32_t){0x3F800000 + i}, 4);
    for (unsigned remap = 0; remap < (t->arch->id == WG_ARCH_BH ? 4u : 1u); remap++) {
        if (t->arch->id == WG_ARCH_BH) {
            ur_set(r, WG_CFG_DEST_ACCESS_CFG_remap_addrs, remap & 1);
            ur_set(r, WG_CFG_DEST_ACCESS_CFG_swizzle_32b, remap >> 1);
        }
        memset(t->regs.dst.undefined, 0xFF, sizeof t->regs.dst.undefined);
        ur_do(r, 0, UR_UNPACR(0, 0));
        for (unsigned i = 0; i < 256; i++)
            assert_int_equal(wg_dst32_to_fp32(wg_dst_read32(&t->regs.dst, wg_dst_access_now(t), i / 16, i % 16, 0)),
                             0x3F800000 + i);
        unsigned defined = 0;
        for (unsigned row = 0; row < 1024; row++)
            defined += !wg_dst_is_undefined(&t->regs.dst, row);
        assert_int_equal(defined, 16);
    }
    ur_free(r);
}

/* ---- Undefined cases are reported -------------------------------------------------------------------------- */

static void reports(ur *r, unsigned thread, uint32_t word, wg_finding_code code)
{
    r->dev.findings = 0;
    ur_do(r, thread, word);
    if (!ur_found(r, code))
        fail_msg("%s was not reported for %08x", wg_finding_info_at(code)->code, word);
    wg_src_reset_owners(r->t, WG_AGENT_HOST);
}
static void silent(ur *r, unsigned thread, uint32_t word)
{
    r->dev.findings = 0;
    ur_do(r, thread, word);
    if (r->dev.findings)
        fail_msg("%s for %08x", wg_finding_info_at(r->dev.finding[0].code)->code, word);
    wg_src_reset_owners(r->t, WG_AGENT_HOST);
}

static void test_findings(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    ur_face(r, 1, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    silent(r, 0, UR_UNPACR(0, UR_FLIP));
    silent(r, 0, UR_UNPACR(1, UR_FLIP));
    ur_thread(r, 0, WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_1, 2);
    reports(r, 0, UR_UNPACR(1, 0), WG_F_UNPACK_CONTEXT);
    ur_thread(r, 0, WG_TCFG_UNPACK_MISC_CFG_CfgContextOffset_1, 0);
    reports(r, 0, UR_UNPACR(1, 3 << 8), WG_F_UNPACK_CONTEXT);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Out_data_format, WG_FMT_FP16);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_FORMAT);
    ur_face(r, 0, WG_FMT_FP32, WG_FMT_FP32, 0x1000);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_FORMAT);
    ur_face(r, 0, WG_FMT_BFP8A, WG_FMT_BFP8A, 0x1000);
    r->t->l1[0x1000] = 0x40; /* the first exponent */
    memset(r->t->l1 + 0x1010, 0x7F, 256);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_EXPONENT);
    memset(r->t->l1 + 0x1000, 15, 16);
    silent(r, 0, UR_UNPACR(0, 0));
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    ur_set(r, WG_CFG_THCON_SEC0_REG3_Base_address, r->t->spec->l1_bytes / 16);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_ADDRESS);
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
    ur_set(r, WG_CFG_UNP0_ADDR_BASE_REG_1_Base, 1);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_ALIGNMENT);
    ur_set(r, WG_CFG_UNP0_ADDR_BASE_REG_1_Base, 0);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Haloize_mode, 1);
    silent(r, 0, UR_UNPACR(0, 0));
    r->t->regs.adc.unit[0][0][0].x = 1;
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_ALIGNMENT);
    r->t->regs.adc.unit[0][0][0].x = 0;
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_MODE); /* Dst and transposition */
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Haloize_mode, 0);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_MODE); /* Dst and SetOvrdWithAddr */
    ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
    silent(r, 0, UR_UNPACR(0, 0));
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0, 0);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Tileize_mode, 1);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Upsample_rate, 1);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_MODE);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Tileize_mode, 0);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_WEAK);
    ur_set(r, WG_CFG_THCON_SEC0_REG2_Upsample_rate, 0);
    r->t->regs.adc.unit[0][0][1].x = 319;
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_ROW); /* 20 rows without SetOvrdWithAddr */
    ur_thread(r, 0, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 1);
    silent(r, 0, UR_UNPACR(0, 0));
    ur_set(r, WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address, 64 + 9 * 16);
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_BURST); /* from row 9 over row 16, four (WH: two) rows at a time */
    r->t->regs.adc.unit[0][0][0].x = 322;
    reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_COUNT);
    r->t->regs.adc.unit[0][0][0].x = 320; /* moving nothing is not an error */
    silent(r, 0, UR_UNPACR(0, 0));
    reports(r, 0, UR_UNPACR(0, 0) & ~UINT32_C(0x80), WG_F_UNPACK_WEAK);
    reports(r, 0, UR_UNPACR(bh ? 0 : 1, 1 << 5), WG_F_UNIMPLEMENTED_INSN);
    if (!bh) {
        ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x1000);
        ur_set(r, WG_CFG_THCON_SEC0_REG2_Throttle_mode, 3);
        reports(r, 0, UR_UNPACR(0, 0), WG_F_UNPACK_MODE);
    } else {
        ur_set(r, WG_CFG_THCON_SEC1_REG2_Context_count_non_log2_en, 1);
        reports(r, 0, UR_UNPACR(1, 1 << 13), WG_F_UNIMPLEMENTED_INSN);
        ur_set(r, WG_CFG_THCON_SEC1_REG10_Unpack_limit_address_en, 1);
        reports(r, 0, UR_UNPACR(1, 0), WG_F_UNIMPLEMENTED_INSN);
    }
    ur_free(r);
}

/* The type of 8-bit integers must not change while they are in flight. */
static void test_unsigned_changes(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    ur_face(r, 0, WG_FMT_INT8, WG_FMT_INT8, 0x1000);
    ur_push(r, 0, UR_UNPACR(0, 0));
    ur_run(r, 4);
    assert_true(wg_unpack_unit.busy(r->t, 0));
    ur_set(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcAUnsigned, 1);
    ur_run(r, 20);
    assert_int_equal(ur_found(r, WG_F_UNPACK_UNSIGNED), 1);
    ur_push(r, 0, UR_UNPACR(0, 0));
    ur_run(r, 20);
    assert_int_equal(ur_found(r, WG_F_UNPACK_UNSIGNED), 1);
    ur_free(r);
}

static const wg_test tests[] = {
    WG_COVERS(test_values, WG_BH | WG_WH, "", "UNPACR:value"),
    WG_TEST(test_dst_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_findings, WG_BH | WG_WH, ""),
    WG_TEST(test_unsigned_changes, WG_BH | WG_WH, ""),
};
WG_MAIN("unpack", tests)
