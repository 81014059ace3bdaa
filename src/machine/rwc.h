/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read/write counters of the Matrix and Vector Units, per thread, and how instructions move them.
 *
 *     SrcA, SrcB, Dst     where the instruction reads and writes; each with a copy (…_cr) that the
 *                         counter can be reset to and advanced from
 *     FidelityPhase       which part of the operands a multiplication uses
 *     ExtraAddrModBit     selects the upper four address modifiers
 *
 * An instruction names one of the address modifiers of its thread's configuration (ADDR_MOD_AB,
 * ADDR_MOD_DST, ADDR_MOD_BIAS); SETRWC and INCRWC carry their values in the word.
 *
 * Facts: RWCs.md, SETRWC.md, INCRWC.md.
 */
#ifndef WG_RWC_H
#define WG_RWC_H

#include <stdbool.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

typedef struct wg_rwc_thread {
    uint16_t dst, dst_cr;   /* 10 bits */
    uint8_t srca, srca_cr;  /* 6 bits */
    uint8_t srcb, srcb_cr;  /* 6 bits */
    uint8_t fidelity;       /* 2 bits */
    uint8_t extra_addr_mod; /* 1 bit: ExtraAddrModBit */
    uint16_t sp;            /* 10 bits; BH: the stack pointer of SFPLOAD and SFPSTORE INT32_ALL */
} wg_rwc_thread;

typedef struct wg_rwc {
    wg_rwc_thread thread[3];
} wg_rwc;

/* The positions of section i's address modifiers in the thread's configuration words. */
typedef struct wg_rwc_layout {
    uint8_t ab, ab_stride, dst, bias;
    uint8_t index_bits; /* of the AddrMod field */
    int8_t set_base;    /* the word with ADDR_MOD_SET_Base in bit 0; BH has none */
} wg_rwc_layout;
extern const wg_rwc_layout wg_rwc_layouts[2]; /* by wg_arch_id */

/*
 * The section (0…7) that an instruction's AddrMod bits select now: two bits on WH, three on BH.
 * Decided here: on BH, whose field already reaches all eight sections, ExtraAddrModBit sets the index's
 * top bit as on WH; no source says what it does there.
 */
static inline unsigned wg_rwc_section(const wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config,
                                      unsigned addr_mod)
{
    const wg_rwc_layout *l = &wg_rwc_layouts[arch];
    unsigned index = addr_mod & ((1u << l->index_bits) - 1);
    if (r->extra_addr_mod || (l->set_base >= 0 && thread_config[l->set_base] & 1))
        index |= 4;
    return index;
}
/*
 * ApplyAddrMod: moves the counters after an instruction with these AddrMod bits. thread_config are the
 * thread's configuration words. SFPLOAD, SFPSTORE and SFPLOADMACRO leave the fidelity phase alone.
 */
void wg_rwc_apply(wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config, unsigned addr_mod,
                  bool update_fidelity);
/* Does an address modifier only increment counters? */
static inline bool wg_rwc_moves_on(unsigned ab, unsigned dst, unsigned bias)
{
    enum { SRC_CR_OR_CLEAR = 0xC0C0, DST_CR_OR_CLEAR = 1 << 15 | 7 << 10, BIAS = 1 << 4 | 3 };
    return !((ab & SRC_CR_OR_CLEAR) | (dst & DST_CR_OR_CLEAR) | (bias & BIAS));
}
/*
 * The same for a run of instructions, with fidelity phase: counters are kept in local variables while modifiers only
 * increment them.
 */
typedef struct wg_rwc_steps {
    wg_rwc_thread *r;
    const uint16_t *thread_config, *abs, *dsts, *biases; /* of section 0 */
    wg_arch_id arch;
    unsigned upper, stride; /* 4: the upper four address modifiers; between those of SrcA and SrcB */
    unsigned srca, srcb, dst, fidelity;
} wg_rwc_steps;

static inline void wg_rwc_end(const wg_rwc_steps *s)
{
    s->r->srca = (uint8_t)s->srca;
    s->r->srcb = (uint8_t)s->srcb;
    s->r->dst = (uint16_t)s->dst;
    s->r->fidelity = (uint8_t)s->fidelity;
}
static inline wg_rwc_steps wg_rwc_begin(wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config)
{
    const wg_rwc_layout *l = &wg_rwc_layouts[arch];
    return (wg_rwc_steps){.r = r,
                          .thread_config = thread_config,
                          .abs = thread_config + l->ab,
                          .dsts = thread_config + l->dst,
                          .biases = thread_config + l->bias,
                          .arch = arch,
                          .upper = wg_rwc_section(r, arch, thread_config, 0),
                          .stride = l->ab_stride,
                          .srca = r->srca,
                          .srcb = r->srcb,
                          .dst = r->dst,
                          .fidelity = r->fidelity};
}
static inline void wg_rwc_step(wg_rwc_steps *s, unsigned addr_mod)
{
    const unsigned section = addr_mod | s->upper, ab = s->abs[section * s->stride], dst = s->dsts[section];
    if (__builtin_expect(!wg_rwc_moves_on(ab, dst, s->biases[section]), 0)) {
        wg_rwc_end(s);
        wg_rwc_apply(s->r, s->arch, s->thread_config, addr_mod, true);
        *s = wg_rwc_begin(s->r, s->arch, s->thread_config);
        return;
    }
    s->srca = (s->srca + ab) & 0x3F;
    s->srcb = (s->srcb + (ab >> 8)) & 0x3F;
    s->dst = (s->dst + dst) & 0x3FF;
    s->fidelity = (s->fidelity + (dst >> 13)) & 3;
}
/* The counters' part of SETRWC (the Matrix Unit flips the banks) and of INCRWC. */
void wg_rwc_set(wg_rwc_thread *r, uint32_t word);
void wg_rwc_increment(wg_rwc_thread *r, uint32_t word);
/* SETIBRWC: sets or moves ExtraAddrModBit. */
void wg_rwc_bias(wg_rwc_thread *r, uint32_t word);

#endif
