/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the Matrix Unit: an instruction's view at acceptance, its handlers, the vector kernels. */
#ifndef WG_MATRIX_INTERNAL_H
#define WG_MATRIX_INTERNAL_H

#include "backend/insn_finding.h"
#include "backend/matrix.h"
#include "backend/matrix_alu.h"
#include "isa/config_fields.h"
#include "num/simd.h"
#include "machine/tile.h"

enum { WG_MATRIX_DEBUG = 0x68 / 4 }; /* the word of RISCV_DEBUG_REG_DBG_FEATURE_DISABLE */

/* Positions of operands that differ between the architectures. */
typedef struct wg_matrix_layout {
    wg_field_place addr_mod, pool_addr_mod; /* AddrMod; of a pooling instruction */
    wg_field_place movb2d_mode;
    wg_field_place zeroacc_wide, zeroacc_revert;
    bool zeroacc_relative; /* 16-row mode is relative to the half of Dst in use */
    bool implied_formats;  /* formats follow the data from the unpackers */
    bool fp32_movb2d;      /* Fp32_enabled decides where MOVB2D writes */
    bool lost_one;         /* see wg_alu */
} wg_matrix_layout;

/* An instruction in its issue cycle. */
typedef struct wg_matrix_ctx {
    const wg_tile *t;
    wg_tile *to; /* the same tile, once the instruction is accepted; NULL: it is only checked */
    const wg_insn *insn;
    uint32_t word;
    wg_arch_id arch;
    const wg_matrix_layout *layout;
    const uint32_t *cfg; /* the bank of Config that the thread uses */
    const uint16_t *tcfg;
    const wg_rwc_thread *rwc;
    const wg_matrix_settings *set;
    wg_dst_access access;
    uint8_t bank[2];        /* [wg_src_file]: the banks it reads */
    uint8_t fmt[2];         /* format codes of SrcA and SrcB */
    uint8_t style, style_b; /* wg_style */
    uint8_t phase;
    bool wide;  /* UseDst32b */
    bool flush; /* SrcB datums (and moved datums) with exponent 0 are zero */
} wg_matrix_ctx;

static inline uint32_t wg_matrix_cfg(const wg_matrix_ctx *c, wg_cfg_id id) { return wg_cfg_get(c->arch, id, c->cfg); }
static inline uint32_t wg_matrix_tcfg(const wg_matrix_ctx *c, wg_tcfg_id id)
{
    return wg_tcfg_get(c->arch, id, c->tcfg);
}

/* An accepted instruction's view of configuration, banks and counters. */
void wg_matrix_context(wg_tile *t, const wg_insn *insn, wg_matrix_ctx *c);
/*
 * The thread's current settings; the context's t, to, arch, layout, cfg and tcfg must be set. What has been decoded before is
 * used again, or they are decoded into *into.
 */
const wg_matrix_settings *wg_matrix_settings_now(const wg_matrix_ctx *c, unsigned thread, wg_matrix_settings *into);
/* The counters of an accepted instruction's thread. */
static inline wg_rwc_thread *wg_matrix_counters(const wg_matrix_ctx *c)
{
    return &c->to->regs.rwc.thread[c->insn->thread % WG_THREADS];
}
/* Format and width for arithmetic; moves have their own rules. */
void wg_matrix_formats(wg_matrix_ctx *c);
/* Reports settings under which floating-point results are unreliable. */
void wg_matrix_check_settings(wg_matrix_ctx *c);
/* The Dst row that the instruction addresses, with these bits kept. */
unsigned wg_matrix_dst_row(const wg_matrix_ctx *c, unsigned mask);
/* Lists the stored rows first, first + step … in op->row. */
void wg_matrix_list_rows(const wg_matrix_ctx *c, wg_matrix_op *op, unsigned first, unsigned count, unsigned step,
                         bool wide);
/* op->hi (and op->lo) become the present contents of op->row; undefined rows read as `identity`. */
void wg_matrix_gather(const wg_matrix_ctx *c, wg_matrix_op *op, bool wide, uint16_t identity);
void wg_matrix_apply_addr_mod(wg_matrix_ctx *c, unsigned addr_mod);
static inline unsigned wg_matrix_addr_mod(const wg_matrix_ctx *c) { return wg_field_at(c->layout->addr_mod, c->word); }
/* Releases the source banks named by bits 0 (SrcA) and 1 (SrcB). */
void wg_matrix_flip(wg_matrix_ctx *c, wg_matrix_op *op, unsigned which, bool honour_disable, bool keep_pointer);
/* A row of SrcA or SrcB as the instruction sees it. Decided here: row numbers wrap within the bank. */
static inline const uint32_t *wg_matrix_src_row(const wg_matrix_ctx *c, wg_src_file file, unsigned row)
{
    const wg_src *s = &c->t->regs.src;
    return (file == WG_SRCA ? s->a : s->b)[c->bank[file]][row & 63];
}
/* Does the Matrix Unit own the bank to be read, with no instruction in flight that hands it to the unpackers? */
static inline bool wg_matrix_owns(const wg_matrix_ctx *c, wg_src_file file)
{
    unsigned bank = c->bank[file];
    return wg_src_is_valid(&c->t->regs.src, file, bank) && !c->t->backend.matrix.giving[file][bank];
}
static inline void wg_matrix_report(wg_matrix_ctx *c, wg_finding_code code, uint64_t subject, uint64_t value)
{
    wg_find_insn(c->to, code, c->insn, subject, value);
}

/* Applies an instruction's effect (except bank flips); emits touches of it, and of reading op->row, for observers. */
void wg_matrix_land(wg_tile *t, const wg_matrix_op *op);
void wg_matrix_touch_effect(wg_tile *t, const wg_matrix_op *op);
void wg_matrix_touch_rows(wg_tile *t, const wg_matrix_op *op, unsigned how, bool wide);

/* Handlers: read operands, fill in effects and their times, step the counters. */
typedef void wg_matrix_issue(wg_matrix_ctx *c, wg_matrix_op *op);
wg_matrix_issue wg_matrix_mvmul, wg_matrix_dotpv, wg_matrix_gapool, wg_matrix_conv, wg_matrix_apool;
wg_matrix_issue wg_matrix_elwadd, wg_matrix_elwsub, wg_matrix_elwmul;
wg_matrix_issue wg_matrix_gmpool, wg_matrix_mpool;
/* The first source row that these read, and how many: MOVA2D and MOVDBGA2D; MOVB2D and MOVDBGB2D; MOVB2A. */
unsigned wg_matrix_mova2d_rows(const wg_matrix_ctx *c, unsigned *rows);
unsigned wg_matrix_movb2d_rows(const wg_matrix_ctx *c, unsigned *rows);
unsigned wg_matrix_movb2a_rows(const wg_matrix_ctx *c, unsigned *rows);
wg_matrix_issue wg_matrix_mova2d, wg_matrix_movb2d, wg_matrix_movd2a, wg_matrix_movd2b, wg_matrix_movb2a;
wg_matrix_issue wg_matrix_shiftxa, wg_matrix_shiftxb, wg_matrix_trnspsrca, wg_matrix_trnspsrcb;
wg_matrix_issue wg_matrix_zeroacc, wg_matrix_zerosrc, wg_matrix_cleardvalid, wg_matrix_gatesrcrst;
wg_matrix_issue wg_matrix_clrexphist, wg_matrix_setrwc, wg_matrix_incrwc, wg_matrix_setibrwc, wg_matrix_legacy;

bool wg_matrix_loses_one(wg_arch_id arch); /* wg_matrix_layout.lost_one */
/* Where MVMUL's address modifier is. */
wg_field_place wg_matrix_addr_mod_place(wg_arch_id arch);
/* The first cycle at which the issue gaps let an MVMUL pass. */
uint64_t wg_matrix_mvmul_from(const wg_matrix *m);

/* Fills in an operation that writes eight consecutive stored rows and hands over no bank. */
static inline void wg_matrix_eight_rows(wg_matrix_op *op, const wg_insn *insn, unsigned row, bool wide)
{
    op->insn = *insn;
    op->effect = wide ? WG_EFFECT_DST32 : WG_EFFECT_DST16;
    op->flip = op->give = 0;
    op->rows = 8;
    op->flag = false;
    op->together = true;
    op->columns = 0xFFFF;
    for (unsigned i = 0; i < 8; i++)
        op->row[i] = (uint16_t)(row + i);
    op->flip_at = op->give_at = WG_NEVER;
}

/* Vector kernels; all levels give the same bits. hi and lo have Dst's layout; elementwise kernels read them, too. */
typedef struct wg_mul_args {
    const wg_matrix_a *a;
    const wg_matrix_b *b;
    unsigned rows;                                 /* result rows */
    unsigned b_step;                               /* 1, or 0: every result row uses SrcB row 0 */
    const uint16_t (*from_hi)[16], (*from_lo)[16]; /* the addends; may be hi and lo */
    uint16_t (*hi)[16], (*lo)[16];
    wg_alu alu;
    bool fresh; /* the addends are all zero; a hint that kernels may ignore */
} wg_mul_args;

typedef enum wg_elw_op { WG_ELW_ADD, WG_ELW_SUB, WG_ELW_MUL } wg_elw_op;
typedef struct wg_elw_args {
    const uint32_t *a, *b; /* eight rows each, broadcasts done */
    uint16_t (*hi)[16], (*lo)[16];
    wg_alu alu;
    uint8_t op;             /* wg_elw_op */
    uint8_t style, style_b; /* wg_style */
    uint8_t phase;
    bool flush;
    bool accumulate;
} wg_elw_args;

typedef struct wg_matrix_kernels {
    /* Rows 0…7 and 8…15 of a 16x16 block; up to eight rows. */
    void (*decode_a)(const uint32_t *first, const uint32_t *second, wg_style style, unsigned phase, wg_matrix_a *out);
    void (*decode_b)(const uint32_t *rows, unsigned count, wg_style style, bool flush, unsigned phase,
                     wg_matrix_b *out);
    void (*mul_float)(const wg_mul_args *m);
    void (*mul_int)(const wg_mul_args *m);
    void (*elw_float)(const wg_elw_args *e);
    void (*elw_int)(const wg_elw_args *e);
} wg_matrix_kernels;
extern const wg_matrix_kernels wg_matrix_scalar;
#if defined(__x86_64__)
extern const wg_matrix_kernels wg_matrix_avx2, wg_matrix_avx512, wg_matrix_vnni;
#endif
const wg_matrix_kernels *wg_matrix_kernels_for(unsigned simd);
/* Rows of a source bank as the kernels need them; the context's t, to, bank, styles, flush and phase must be set. SrcA's 16 from
 * `row` on: `scratch` is needed unless they begin at a multiple of 16. */
const wg_matrix_a *wg_matrix_decoded_a(const wg_matrix_ctx *c, const wg_matrix_kernels *k, unsigned row,
                                       wg_matrix_a *scratch);
const wg_matrix_b *wg_matrix_decoded_b(const wg_matrix_ctx *c, const wg_matrix_kernels *k, unsigned row);
/* Sets the addends: eight stored rows from `row` on. Undefined rows count as zero. hi and lo are set. */
void wg_matrix_from_undefined(wg_mul_args *args, const wg_dst *d, unsigned row, unsigned undefined);
static inline void wg_matrix_multiply_from(wg_mul_args *args, const wg_dst *d, unsigned row, bool wide)
{
    unsigned undefined = d->undefined[row >> 6 & 15] >> (row & 63) & 0xFF;
    args->from_hi = &d->bits[row];
    args->from_lo = &d->bits[row + (wide ? WG_DST_LOW : 0)];
    args->fresh = undefined == 0xFF;
    if (__builtin_expect(undefined != 0, 0))
        wg_matrix_from_undefined(args, d, row, undefined);
}
/* Stochastic rounding is done by the scalar kernels, column by column. All levels decode alike. */
static inline const wg_matrix_kernels *wg_matrix_kernels_now(const wg_matrix_ctx *c)
{
    return wg_matrix_kernels_for(c->set->stochastic ? (unsigned)WG_SIMD_SCALAR : c->t->simd);
}
static inline uint32_t *wg_matrix_random(const wg_matrix_ctx *c)
{
    return c->set->stochastic ? c->to->backend.matrix.prng : NULL;
}

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- When writes to Dst take effect (matrix_effects.c) ---- */

static inline void wg_matrix_block_lands(wg_matrix *m, unsigned block, uint64_t lands, uint64_t ready)
{
    m->block_lands[block] = lands;
    m->block_ready[block] = later(m->block_ready[block], later(ready, lands));
    m->blocks_ready = later(m->blocks_ready, m->block_ready[block]);
}
/* A block's writes take effect in order of acceptance. `ready`: when the block may be read, at the earliest. */
void wg_matrix_order_dst(wg_matrix *m, wg_matrix_op *op, uint64_t ready);

#endif
