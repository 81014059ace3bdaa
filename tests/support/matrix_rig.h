/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile on which only the Matrix Unit runs, for its tests. A cycle is phase B (if the unit is due) and phase E:
 * mrig_issue() offers a word as a gate would, cycle after cycle, until it is accepted.
 */
#ifndef MATRIX_RIG_H
#define MATRIX_RIG_H

#include "wgtest.h"

#include "backend/matrix.h"
#include "machine/device.h"
#include "report/findings.h"
#include "isa/config_fields.h"
#include "num/formats.h"
#include "num/simd.h"

typedef struct mrig {
    wg_tile *t;
    wg_device dev;
    wg_stall stall;    /* the last refusal */
    unsigned refusals; /* of the last instruction */
    uint64_t ids;
} mrig;

static inline mrig *mrig_new(wg_arch_id arch)
{
    mrig *r = calloc(1, sizeof *r);
    r->t = wg_tile_new();
    r->dev.finding = calloc(WG_MAX_FINDINGS, sizeof *r->dev.finding);
    r->dev.stop_at = WG_SEVERITY_NEVER;
    r->t->dev = &r->dev;
    r->t->arch = wg_arch_of(arch);
    r->t->spec = &r->t->arch->tensix;
    r->t->timing = &r->t->arch->timing[WG_PROFILE_DOCUMENTED];
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        r->t->sched.next[i] = WG_NEVER;
    wg_matrix_unit.reset(r->t);
    r->t->sched.now = 100;
    return r;
}

static inline void mrig_free(mrig *r)
{
    free(r->t);
    free(r->dev.finding);
    free(r);
}

/* Advances to the next cycle, up to and including its phase B. */
static inline void mrig_cycle(mrig *r)
{
    wg_schedule *s = &r->t->sched;
    s->now++;
    s->phase = WG_PHASE_COMPLETIONS;
    if (s->next[WG_AGENT_MATRIX] <= s->now) {
        s->next[WG_AGENT_MATRIX] = WG_NEVER;
        wg_matrix_unit.tick(r->t);
    }
    s->phase = WG_PHASE_GATES;
}

static inline bool mrig_offer(mrig *r, unsigned thread, uint32_t word)
{
    wg_insn insn = {.word = word, .id = ++r->ids, .thread = (uint8_t)thread};
    r->t->sched.phase = WG_PHASE_GATES;
    if (!wg_unit_takes(r->t, &wg_matrix_unit, &insn, &r->stall))
        return false;
    wg_matrix_unit.accept(r->t, &insn);
    return true;
}

/* Returns the cycle of acceptance; WG_NEVER if it was not accepted within 50. */
static inline uint64_t mrig_issue(mrig *r, unsigned thread, uint32_t word)
{
    for (r->refusals = 0; r->refusals < 50; r->refusals++) {
        if (mrig_offer(r, thread, word))
            return r->t->sched.now;
        mrig_cycle(r);
    }
    return WG_NEVER;
}

static inline void mrig_drain(mrig *r)
{
    while (r->t->backend.matrix.head != r->t->backend.matrix.tail)
        mrig_cycle(r);
}

/* Issues, and waits for the unit to be empty; returns the cycles from acceptance to completion. */
static inline uint64_t mrig_run(mrig *r, uint32_t word)
{
    uint64_t from = mrig_issue(r, 0, word);
    assert_true(from != WG_NEVER);
    mrig_drain(r);
    return r->t->sched.now - from;
}

static inline void mrig_cfg(mrig *r, wg_cfg_id id, uint32_t value)
{
    for (unsigned bank = 0; bank < 2; bank++)
        wg_cfg_insert(&wg_cfg_fields[r->t->arch->id][id], r->t->regs.config.bank[bank], value);
    r->t->regs.config.changes++;
}
static inline void mrig_tcfg(mrig *r, wg_tcfg_id id, uint32_t value)
{
    for (unsigned thread = 0; thread < 3; thread++)
        wg_tcfg_insert(&wg_tcfg_fields[r->t->arch->id][id], r->t->regs.config.thread[thread], value);
    r->t->regs.config.changes++;
}

/* The formats of both sources: on WH by configuration, on BH by the data. */
static inline void mrig_formats(mrig *r, unsigned a, unsigned b)
{
    mrig_cfg(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA, a);
    mrig_cfg(r, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB, b);
    for (unsigned bank = 0; bank < 2; bank++) {
        r->t->regs.src.format_a[bank] = (uint8_t)a;
        r->t->regs.src.format_b[bank] = (uint8_t)b;
    }
}
static inline void mrig_own(mrig *r)
{
    wg_src *s = &r->t->regs.src;
    s->owner_a[0] = s->owner_a[1] = s->owner_b[0] = s->owner_b[1] = WG_SRC_MATRIX;
}

static inline bool mrig_found(const mrig *r, wg_finding_code code)
{
    for (unsigned i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            return true;
    return false;
}

/* The tests' AddrMod 1: SrcA += 16, SrcB += 8, Dst += 8, fidelity + 1. */
static inline void mrig_addr_mod_1(mrig *r)
{
    mrig_tcfg(r, WG_TCFG_ADDR_MOD_AB_SEC1_SrcAIncr, 16);
    mrig_tcfg(r, WG_TCFG_ADDR_MOD_AB_SEC1_SrcBIncr, 8);
    mrig_tcfg(r, WG_TCFG_ADDR_MOD_DST_SEC1_DestIncr, 8);
    mrig_tcfg(r, WG_TCFG_ADDR_MOD_DST_SEC1_FidelityIncr, 1);
}
static inline uint32_t mrig_addr_mod(const mrig *r, unsigned n)
{
    return n << (r->t->arch->id == WG_ARCH_BH ? 14 : 15);
}

/* Source datums from, and Dst datums to, C floats (tests only). */
static inline uint32_t mrig_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline float mrig_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static inline void mrig_put(mrig *r, wg_src_file file, unsigned bank, unsigned row, unsigned column, uint32_t datum)
{
    wg_src_rows(&r->t->regs.src, file, bank)[row][column] = datum;
}
static inline void mrig_put_float(mrig *r, wg_src_file file, unsigned row, unsigned column, float x)
{
    mrig_put(r, file, 0, row, column, wg_src_from_fp32(mrig_bits(x)));
}
static inline void mrig_fill(mrig *r, wg_src_file file, uint32_t datum)
{
    for (unsigned bank = 0; bank < 2; bank++)
        for (unsigned row = 0; row < 64; row++)
            for (unsigned column = 0; column < 16; column++)
                mrig_put(r, file, bank, row, column, datum);
}
static inline uint32_t mrig_dst32(const mrig *r, unsigned row, unsigned column)
{
    return wg_dst_read32(&r->t->regs.dst, wg_dst_access_now(r->t), row, column, 0);
}
static inline uint16_t mrig_dst16(const mrig *r, unsigned row, unsigned column)
{
    return wg_dst_read16(&r->t->regs.dst, wg_dst_access_now(r->t), row, column, 0);
}
static inline float mrig_dst_bf16(const mrig *r, unsigned row, unsigned column)
{
    return mrig_float((uint32_t)wg_dst16_to_bf16(mrig_dst16(r, row, column)) << 16);
}
static inline float mrig_dst_fp32(const mrig *r, unsigned row, unsigned column)
{
    return mrig_float(wg_dst32_to_fp32(mrig_dst32(r, row, column)));
}
static inline void mrig_undefine_all(mrig *r)
{
    memset(r->t->regs.dst.undefined, 0xFF, sizeof r->t->regs.dst.undefined);
}

#endif
