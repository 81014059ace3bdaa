/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector Unit (SFPU): 32 lanes of 32 bits.
 *
 *      Wait Gates ──▶ load │ simple │ MAD │ round │ store      one instruction per cycle from outside;
 *                       │      │       │      │       │        SFPLOADMACRO starts up to four more
 *      Dst ─────────────┘      └── LRegs, flags ──────┴─▶ Dst
 *
 * An instruction accepted in cycle c reads registers as they are in c. A result of latency 1 is
 * visible from c+1, of latency 2 from c+2: until then it waits in wg_vector.write and a reader gets
 * the old value. BH's interlock stalls most readers; its holes, and its absence on WH, mean that readers get old values,
 * which is reported. SFPSTORE reads its LReg at the end of its cycle where that was measured (store_reads_late), and waits
 * for no result.
 *
 * Facts: VectorUnit.md, the SFP* pages, LReg.md; races.md row 14.
 */
#ifndef WG_VECTOR_H
#define WG_VECTOR_H

#include "machine/unit.h"
#include "machine/vector_state.h"
#include "report/findings.h"
#include "isa/config_fields.h"
#include "num/simd.h"
#include "machine/tile.h"

extern const wg_unit_ops wg_vector_unit;
bool wg_vector_implements(wg_insn_id id);

typedef enum wg_vector_subunit { WG_SUB_LOAD, WG_SUB_SIMPLE, WG_SUB_MAD, WG_SUB_ROUND, WG_SUB_STORE } wg_vector_subunit;

/* What differs between the architectures. */
typedef struct wg_vector_traits {
    bool interlock;               /* stalls readers of two-cycle results (BH) */
    bool sign_modes;              /* SFPMAD and related instructions can negate inputs */
    bool use_vb;                  /* SFPAND, SFPOR: VB mode */
    bool shift_modes;             /* SFPSHFT: arithmetic, and VC as the value */
    bool cast_modes;              /* SFPCAST: modes 2 and 3 */
    bool push_modes;              /* SFPPUSHC: modes other than a mere push */
    bool pop_overwrites;          /* SFPPOPC's other modes overwrite the bottom of a full stack */
    bool shift_in_stale;          /* SFPSHFT2's lane shift shifts in stale lanes instead of zero */
    bool store_flushes;           /* SFPSTORE of FP32 flushes denormals */
    bool twos_complement;         /* INT32_SM and INT8_COMP convert from and to two's complement */
    uint8_t int8_magnitude;       /* SFPLOAD of INT8: mask */
    wg_field_place rounding_mode; /* of SFPSTOCHRND */
    wg_field_place addr_mod;      /* of SFPLOAD, SFPSTORE */
} wg_vector_traits;
extern const wg_vector_traits wg_vector_traits_of[2];

/* An instruction being executed. */
typedef struct wg_vector_op {
    uint64_t now; /* the cycle of execution */
    uint64_t id;
    uint32_t word, pc;
    uint32_t lanes;      /* that execute: not used by the backdoor; of a macro, its columns */
    wg_lane_flags *pred; /* flags to be written: the current ones, or the next cycle's */
    uint16_t insn;       /* wg_insn_id */
    uint16_t address;    /* scheduled SFPSTORE: the Dst address */
    uint64_t late;       /* perturbed: the delayed cycle of completion; 0: not delayed */
    uint8_t thread;
    uint8_t va, vb, vc, vd, mod;
    bool macro; /* scheduled by SFPLOADMACRO */
} wg_vector_op;

typedef void wg_vector_fn(wg_tile *t, const wg_vector_op *op);

/* One row per instruction; vector_table.c. */
typedef enum wg_vector_shape {
    WG_SHAPE_NONE,   /* no operands */
    WG_SHAPE_MEMORY, /* VD [23:20], Mod0 [19:16] */
    WG_SHAPE_REGS    /* VA [19:16], VB [15:12], VC [11:8], VD [7:4], Mod1 [3:0], those that it has */
} wg_vector_shape;
typedef struct wg_vector_info {
    wg_vector_fn *run;
    uint8_t subunit; /* wg_vector_subunit */
    uint8_t shape;   /* wg_vector_shape */
    uint8_t latency; /* of its record; 0: see wg_vector_latency() */
    bool has_vb, has_vc;
    bool backdoor;     /* VD >= 12 writes the word to InstructionTemplate */
    bool hidden_reads; /* reads LRegs that it does not name */
    bool special;      /* restricts its successors, or depends on its mode: SFPSHFT2, SFPSWAP, SFPCONFIG */
} wg_vector_info;
extern const wg_vector_info wg_vector_table[WG_I_COUNT];

static inline const wg_vector_traits *wg_vector_traits_for(const wg_tile *t)
{
    return &wg_vector_traits_of[t->arch->id];
}
static inline uint32_t wg_op_imm12(const wg_vector_op *op) { return WG_GET(SFPIADD, imm12_math, op->word); }
static inline int32_t wg_op_simm12(const wg_vector_op *op) { return (int32_t)(wg_op_imm12(op) << 20) >> 20; }
static inline uint32_t wg_op_imm16(const wg_vector_op *op) { return WG_GET(SFPADDI, imm16_math, op->word); }
static inline uint32_t wg_op_lanes(const wg_tile *t, const wg_vector_op *op)
{
    return wg_lanes_enabled(&t->regs.lreg) & op->lanes;
}
/* VD names a register that instructions can write. */
static inline bool wg_op_writes(const wg_vector_op *op) { return op->vd < 8 || op->vd == 16; }

/* Decodes the operands. The caller sets lanes, pred and macro. A missing operand reads as VD. */
static inline void wg_vector_decode(const wg_tile *t, const wg_insn *insn, wg_vector_op *op)
{
    uint32_t w = insn->word;
    unsigned id = insn->op ? insn->op : wg_isa_decode(t->arch->id, w)->id;
    const wg_vector_info *info = &wg_vector_table[id];
    bool memory = info->shape == WG_SHAPE_MEMORY, has_vb = info->has_vb;
    op->now = t->sched.now;
    op->id = insn->id;
    op->word = w;
    op->pc = insn->pc;
    op->lanes = 0;
    op->pred = NULL;
    op->insn = (uint16_t)id;
    op->address = 0;
    op->thread = insn->thread < WG_THREADS ? insn->thread : 0;
    op->vd = (uint8_t)(memory ? WG_GET(SFPLOAD, lreg_ind, w) : WG_GET(SFPMAD, lreg_dest, w));
    op->mod = (uint8_t)(memory ? WG_GET(SFPLOAD, instr_mod0, w) : WG_GET(SFPMAD, instr_mod1, w));
    op->macro = false;
    if (id == WG_I_SFPAND || id == WG_I_SFPOR)
        has_vb = wg_vector_traits_for(t)->use_vb && op->mod & 1;
    op->va = (uint8_t)WG_GET(SFPMAD, lreg_src_a, w);
    op->vb = has_vb ? (uint8_t)WG_GET(SFPMAD, lreg_src_b, w) : op->vd;
    op->vc = info->has_vc ? (uint8_t)WG_GET(SFPMAD, lreg_src_c, w) : op->vd;
}

/* A part of SFPLOADMACRO reads and writes LRegs `delay` cycles later. Only while touches are observed. */
void wg_vector_touch_planned(wg_tile *t, const wg_vector_op *op, unsigned delay);

/*
 * May it read any of these LRegs, actually or for the interlock? A fast conservative test, which ignores modes.
 */
static inline bool wg_vector_may_read(const wg_vector_op *op, uint32_t lregs)
{
    const wg_vector_info *info = &wg_vector_table[op->insn];
    uint32_t named = UINT32_C(1) << op->vb | UINT32_C(1) << op->vc | UINT32_C(1) << op->va;
    return info->hidden_reads || (info->subunit == WG_SUB_MAD ? op->mod & 12 : op->vd < 8 && lregs >> op->vd & 1) ||
           named & lregs;
}
/*
 * Does it read its LReg only at the end of its cycle, when a multiply-add's result of the cycle before is there?
 */
static inline bool wg_vector_reads_late(const wg_tile *t, const wg_vector_op *op)
{
    return op->insn == WG_I_SFPSTORE && !op->macro && t->timing->store_reads_late;
}
/* LRegs that it reads, and those that BH's interlock assumes it reads; bit i: LReg i. */
uint32_t wg_vector_reads(const wg_tile *t, const wg_vector_op *op);
uint32_t wg_vector_believed_reads(const wg_tile *t, const wg_vector_op *op);
static inline bool wg_vector_is_shuffle(const wg_vector_op *op)
{
    return op->insn == WG_I_SFPSHFT2 && op->mod >= 2 && op->mod <= 4;
}
/* LRegs that the interlock protects after this instruction; 0 if its result takes one cycle. */
static inline uint32_t wg_vector_believed_writes(const wg_vector_op *op)
{
    if (wg_vector_table[op->insn].subunit != WG_SUB_MAD)
        return 0;
    uint32_t indirect =
        op->insn == WG_I_SFPLUTFP32 ? WG_OPERAND(BH, SFPLUTFP32, Mod1Mirror, op->word) & 8 : op->mod & 8;
    return indirect ? 0xFF : UINT32_C(1) << op->vd & 0xFF;
}
/* Cycles from acceptance to the last result. */
static inline unsigned wg_vector_latency(const wg_vector_op *op)
{
    const wg_vector_info *info = &wg_vector_table[op->insn];
    if (info->latency)
        return info->latency;
    if (op->insn == WG_I_SFPSHFT2)
        return wg_vector_is_shuffle(op) ? 2 : 1;
    if (op->insn == WG_I_SFPCONFIG) { /* LReg 11…14: 1; other configuration: up to 2, taken as 2 */
        unsigned to = WG_GET(SFPCONFIG, config_dest, op->word);
        return to >= 11 && to <= 14 ? 1 : 2;
    }
    return 1; /* SFPLOADMACRO: its load; scheduled instructions have their own latencies */
}

/* Does the interlock stall readers of pending results? */
static inline bool wg_vector_interlocks(const wg_tile *t)
{
    return wg_vector_traits_for(t)->interlock &&
           !wg_cfg_get(t->arch->id, WG_CFG_CHICKEN_BITS_sfpu_scbd_disable, t->regs.config.bank[0]);
}
/* LRegs with a result in flight from an earlier cycle. */
static inline uint32_t wg_vector_pending(const wg_tile *t)
{
    const wg_vector *v = &t->backend.vector;
    return v->ran && v->ran_at == t->sched.now ? v->ran_pending : v->pending_lregs;
}
/* Appoints the unit's next tick for the accepted instructions. */
void wg_vector_schedule(wg_tile *t);

/* Results. wg_vector_result() gives room for a late one; wg_vector_put() writes one after the instruction's latency. */
uint32_t *wg_vector_result(wg_tile *t, unsigned lreg, uint32_t lanes, uint64_t land);
void wg_vector_put(wg_tile *t, const wg_vector_op *op, unsigned lreg, const uint32_t data[WG_LANES], uint32_t lanes);

/* Makes the result of wg_vector.early pending again, because the register is read before it lands. */
void wg_vector_take_back(wg_tile *t);

/*
 * The multiply-add of a word (without indirection) in these lanes, while no result is in flight to its VD: written at once;
 * the old value is kept for readers in the next cycle.
 */
void wg_mad_early(wg_tile *t, uint32_t word, uint32_t lanes);

/* SFPLOAD and SFPSTORE at a given address; the address from an instruction's operands and the current counters. */
uint16_t wg_vector_dst_address(wg_tile *t, const wg_vector_op *op, unsigned imm10, unsigned mod0);
unsigned wg_vector_format(wg_tile *t, const wg_vector_op *op, unsigned mod0);
/* Performs the store that perturbation delayed. */
void wg_vector_store_late(wg_tile *t);
void wg_vector_load(wg_tile *t, const wg_vector_op *op, unsigned format, uint16_t address);
void wg_vector_swap_finish(wg_tile *t);
void wg_vector_step_counters(wg_tile *t, const wg_vector_op *op);

/* The columns that may write configuration, by SFPCONFIG's rule. */
uint8_t wg_vector_config_columns(const wg_lreg *r);

/* SFPLOADMACRO: counts down one cycle; runs instructions that are due. */
void wg_macro_count(wg_tile *t, uint64_t cycle, bool issued);
void wg_macro_run(wg_tile *t);
/* The next cycle in which a scheduled instruction counts down by itself; WG_NEVER: all count instructions. */
uint64_t wg_macro_next(const wg_tile *t);

void wg_vector_finding(wg_tile *t, const wg_vector_op *op, wg_finding_code code, uint64_t subject);

/* Formats of SFPLOAD and SFPSTORE (Mod0). */
enum {
    WG_LANES_SRCB,
    WG_LANES_FP16,
    WG_LANES_BF16,
    WG_LANES_FP32,
    WG_LANES_INT32,
    WG_LANES_INT8,
    WG_LANES_UINT16,
    WG_LANES_HI16,
    WG_LANES_INT16,
    WG_LANES_LO16,
    WG_LANES_INT32_ALL,
    WG_LANES_ZERO,
    WG_LANES_INT32_SM,
    WG_LANES_INT8_COMP,
    WG_LANES_LO16_ONLY,
    WG_LANES_HI16_ONLY
};

/* A move between 32 lanes and four rows of Dst. */
typedef struct wg_lanes_move {
    const wg_vector_traits *traits;
    unsigned stored;   /* the first of the rows; of wide formats, of those with the high halves */
    unsigned blank;    /* load: bit per row that is undefined */
    uint32_t odd;      /* lanes that use odd columns */
    uint32_t lanes;    /* store: participating lanes */
    uint32_t infinity; /* load: lanes with ENABLE_FP16A_INF */
    uint8_t format;
    bool wide;
} wg_lanes_move;

/* The 32-lane work that host vectors do, per wg_simd level; equal bits at every level. */
typedef void wg_fma_lanes_fn(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                             uint32_t flip_c);
/* d = fma in these lanes; old receives d's former value; a, b and c may be d. */
typedef struct wg_mad_lanes {
    uint32_t *d, *old;
    const uint32_t *a, *b, *c;
    uint32_t flip_b, flip_c, lanes;
    uint8_t *unfused; /* instructions for which the fused form is not tried again; affects host time only */
} wg_mad_lanes;
typedef void wg_mad_lanes_fn(const wg_mad_lanes *m);
typedef struct wg_vector_kernels {
    wg_fma_lanes_fn *fma[2]; /* per wg_arch_id: out = a * (b ^ flip_b) + (c ^ flip_c) */
    wg_fma_lanes_fn *mul[2]; /* the same where c is zero in all lanes */
    wg_fma_lanes_fn *add[2]; /* the same where a is 1.0 in all lanes */
    wg_mad_lanes_fn *mad[2]; /* the same in some lanes */
    void (*blend)(uint32_t *to, const uint32_t *from, uint32_t lanes);
    void (*load)(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old);
    void (*store)(wg_dst *d, const wg_lanes_move *m, const uint32_t *from);
} wg_vector_kernels;
extern const wg_vector_kernels wg_vector_kernels_scalar, wg_vector_kernels_avx2, wg_vector_kernels_avx512;
static inline const wg_vector_kernels *wg_vector_kernels_at(unsigned level)
{
#if defined(__x86_64__)
    static const wg_vector_kernels *const table[] = {&wg_vector_kernels_scalar, &wg_vector_kernels_avx2,
                                                     &wg_vector_kernels_avx512};
    return table[level <= WG_SIMD_AVX512 ? level : WG_SIMD_AVX512];
#else
    (void)level;
    return &wg_vector_kernels_scalar;
#endif
}
static inline const wg_vector_kernels *wg_vector_kernels_for(const wg_tile *t) { return wg_vector_kernels_at(t->simd); }

wg_vector_fn wg_sfpload, wg_sfploadi, wg_sfpstore, wg_sfploadmacro, wg_sfpnop;
wg_vector_fn wg_sfpmad, wg_sfpaddi, wg_sfpmuli, wg_sfplut, wg_sfplutfp32, wg_sfpmul24;
wg_vector_fn wg_sfpabs, wg_sfpand, wg_sfpor, wg_sfpxor, wg_sfpnot, wg_sfplz, wg_sfpexexp, wg_sfpexman, wg_sfpsetexp,
    wg_sfpsetman, wg_sfpsetsgn, wg_sfpdivp2, wg_sfpiadd, wg_sfpshft, wg_sfpcast, wg_sfpmov, wg_sfparecip;
wg_vector_fn wg_sfpsetcc, wg_sfpencc, wg_sfpcompc, wg_sfppushc, wg_sfppopc, wg_sfpgt, wg_sfple;
wg_vector_fn wg_sfpstochrnd, wg_sfpshft2, wg_sfpswap, wg_sfptransp, wg_sfpconfig;

#endif
