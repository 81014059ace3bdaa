/* SPDX-License-Identifier: Apache-2.0 */
/* A tile on which only the Vector Unit runs: words are issued one by one, to the cycle. */
#ifndef VECTOR_RIG_H
#define VECTOR_RIG_H

#include "wgtest.h"

#include "backend/vector.h"
#include "machine/device.h"

typedef struct rig {
    uint64_t ids; /* of the instructions so far */
    wg_device dev;
    wg_tile *t;
    wg_stall stall;  /* of the last refusal */
    unsigned stalls; /* refusals of the last issue */
} rig;

static inline rig *rig_new(wg_arch_id arch)
{
    rig *r = calloc(1, sizeof *r);
    r->t = wg_tile_new();
    r->dev.finding = calloc(WG_MAX_FINDINGS, sizeof *r->dev.finding);
    r->dev.stop_at = WG_SEVERITY_NEVER;
    r->t->dev = &r->dev;
    r->t->arch = wg_arch_of(arch);
    r->t->spec = &r->t->arch->tensix;
    r->t->timing = &r->t->arch->timing[WG_PROFILE_DOCUMENTED];
    r->t->simd = (uint8_t)wg_simd_best();
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        r->t->sched.next[i] = WG_NEVER;
    wg_vector_unit.reset(r->t);
    r->t->sched.now = 100;
    return r;
}

static inline void rig_free(rig *r)
{
    free(r->t);
    free(r->dev.finding);
    free(r);
}

/* Phase B of the current cycle, if it is due. */
static inline void rig_tick(rig *r)
{
    wg_schedule *s = &r->t->sched;
    s->phase = WG_PHASE_COMPLETIONS;
    if (s->next[WG_AGENT_VECTOR] <= s->now) {
        s->next[WG_AGENT_VECTOR] = WG_NEVER;
        wg_vector_unit.tick(r->t);
    }
    s->phase = WG_PHASE_GATES;
}

static inline void rig_idle(rig *r, unsigned cycles)
{
    while (cycles--) {
        rig_tick(r);
        r->t->sched.now++;
    }
}

/* Issues a word as soon as the unit accepts it; returns the cycle. The next call is in the following cycle. */
static inline uint64_t rig_issue_by(rig *r, unsigned thread, uint32_t word)
{
    const wg_isa_insn *isa = wg_isa_decode(r->t->arch->id, word);
    wg_insn insn = {
        .word = word, .id = ++r->ids, .thread = (uint8_t)thread, .unit = isa->unit, .op = (uint16_t)isa->id};
    for (r->stalls = 0; r->stalls < 1000; r->stalls++) {
        rig_tick(r);
        if (wg_vector_unit.check(r->t, &insn, &r->stall)) {
            wg_vector_unit.accept(r->t, &insn);
            return r->t->sched.now++;
        }
        r->t->sched.now++;
    }
    fail_msg("%08x is never accepted", word);
    return 0;
}
static inline uint64_t rig_issue(rig *r, uint32_t word) { return rig_issue_by(r, 0, word); }

/* Issues it and lets everything complete. */
static inline void rig_do(rig *r, uint32_t word)
{
    rig_issue(r, word);
    rig_idle(r, 3);
}

static inline uint32_t *rig_lreg(rig *r, unsigned lreg) { return r->t->regs.lreg.l[lreg]; }
static inline void rig_fill(rig *r, unsigned lreg, uint32_t value)
{
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        rig_lreg(r, lreg)[lane] = value;
}
static inline void rig_enable(rig *r, uint32_t flags)
{
    r->t->regs.lreg.pred.use = ~0u;
    r->t->regs.lreg.pred.flags = flags;
}

static inline uint64_t rig_found(const rig *r, wg_finding_code code)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            count += r->dev.finding[i].count;
    return count;
}

/* Words. */
#define I_ABC(op, a, b, c, d, mod) \
    ((uint32_t)(op) << 24 | (uint32_t)(a) << 16 | (uint32_t)(b) << 12 | (uint32_t)(c) << 8 | (uint32_t)(d) << 4 | (mod))
#define I_MEM(op, d, mod, imm) ((uint32_t)(op) << 24 | (uint32_t)(d) << 20 | (uint32_t)(mod) << 16 | (uint32_t)(imm))
#define SFPLOAD(d, mod, imm) I_MEM(0x70, d, mod, imm)
#define SFPLOADI(d, mod, imm) I_MEM(0x71, d, mod, imm)
#define SFPSTORE(d, mod, imm) I_MEM(0x72, d, mod, imm)
#define SFPMULI(imm, d, mod) ((uint32_t)0x74 << 24 | (uint32_t)(imm) << 8 | (uint32_t)(d) << 4 | (mod))
#define SFPIADD(imm, c, d, mod) I_ABC(0x79, ((imm) >> 4) & 0xFF, (imm)&15, c, d, mod)
#define SFPMOV(c, d, mod) I_ABC(0x7C, 0, 0, c, d, mod)
#define SFPMAD(a, b, c, d, mod) I_ABC(0x84, a, b, c, d, mod)
#define SFPPUSHC(mod) I_ABC(0x87, 0, 0, 0, 0, mod)
#define SFPPOPC(mod) I_ABC(0x88, 0, 0, 0, 0, mod)
#define SFPENCC(imm, mod) I_ABC(0x8A, 0, imm, 0, 0, mod)
#define SFPNOP 0x8F000000u
#define SFPCONFIG(imm, d, mod) ((uint32_t)0x91 << 24 | (uint32_t)(imm) << 8 | (uint32_t)(d) << 4 | (mod))
#define SFPSWAP(c, d, mod) I_ABC(0x92, 0, 0, c, d, mod)
#define SFPLOADMACRO(macro, d, mod, imm) I_MEM(0x93, (macro) << 2 | ((d)&3), mod, ((imm) & ~1u) | ((d) >> 2))
#define SFPSHFT2(b, c, d, mod) I_ABC(0x94, 0, b, c, d, mod)

#endif
