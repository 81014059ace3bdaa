/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile without cores and frontends, for tests of single units: three queues of Tensix words replace the gates. A
 * cycle runs phase B of the units that are due, then an optional request in phase C, then one head per thread in phase
 * E, with the same checks as at the gates (holds, check, accept).
 */
#ifndef CONTROL_RIG_H
#define CONTROL_RIG_H

#include "wgtest.h"

#include "backend/config.h"
#include "backend/misc.h"
#include "backend/mover.h"
#include "backend/scalar.h"
#include "backend/tdma.h"
#include "machine/device.h"
#include "report/findings.h"

enum { RIG_WORDS = 64 };

typedef struct rig {
    wg_tile *t;
    wg_device dev;
    uint32_t word[3][RIG_WORDS];
    uint64_t issued[3][RIG_WORDS]; /* the cycle in which it passed; WG_NEVER: not yet */
    wg_stall stall[3];             /* of the head, in the last cycle */
    unsigned head[3], count[3];
    void (*at_regions)(struct rig *r);
    bool lockstep;
} rig;

static const wg_unit_ops *const rig_units[] = {&wg_scalar_unit, &wg_config_unit, &wg_mover_unit, &wg_misc_unit};

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
    r->t->l1 = calloc(1, r->t->spec->l1_bytes);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        r->t->sched.next[i] = WG_NEVER;
    for (unsigned i = 0; i < 4; i++)
        rig_units[i]->reset(r->t);
    r->t->sched.now = 100;
    return r;
}

static inline void rig_free(rig *r)
{
    free(r->t->l1);
    free(r->t);
    free(r->dev.finding);
    free(r);
}

static inline void rig_push(rig *r, unsigned thread, uint32_t word)
{
    assert_true(r->count[thread] < RIG_WORDS);
    r->issued[thread][r->count[thread]] = WG_NEVER;
    r->word[thread][r->count[thread]++] = word;
}

static inline wg_insn rig_insn(rig *r, unsigned thread, uint32_t word, uint64_t id)
{
    const wg_isa_insn *isa = wg_isa_decode(r->t->arch->id, word);
    return (wg_insn){.word = word,
                     .id = id,
                     .thread = (uint8_t)thread,
                     .unit = isa->unit,
                     .op = (uint16_t)isa->id,
                     .block = isa->block_bits};
}

static inline const wg_unit_ops *rig_unit_of(unsigned unit)
{
    switch (unit) {
    case WG_UNIT_SCALAR: return &wg_scalar_unit;
    case WG_UNIT_CONFIG: return &wg_config_unit;
    case WG_UNIT_MOVER: return &wg_mover_unit;
    case WG_UNIT_MISC: return &wg_misc_unit;
    default: return NULL;
    }
}

static inline bool rig_held(rig *r, unsigned thread)
{
    for (unsigned i = 0; i < 4; i++)
        if (rig_units[i]->holds && rig_units[i]->holds(r->t, thread, &r->stall[thread]))
            return true;
    return false;
}

static inline void rig_gate(rig *r, unsigned thread)
{
    unsigned head = r->head[thread];
    r->stall[thread] = (wg_stall){0};
    if (head >= r->count[thread] || rig_held(r, thread))
        return;
    wg_insn insn = rig_insn(r, thread, r->word[thread][head], head + 1);
    const wg_unit_ops *ops = rig_unit_of(insn.unit);
    if (ops && !wg_unit_takes(r->t, ops, &insn, &r->stall[thread]))
        return;
    r->issued[thread][head] = r->t->sched.now;
    r->head[thread]++;
    if (ops)
        ops->accept(r->t, &insn);
}

static inline void rig_cycle(rig *r)
{
    wg_schedule *s = &r->t->sched;
    s->phase = WG_PHASE_COMPLETIONS;
    for (unsigned i = 0; i < 4; i++) {
        unsigned agent = rig_units[i]->agent;
        if (!r->lockstep && s->next[agent] > s->now)
            continue;
        if (s->next[agent] <= s->now)
            s->next[agent] = WG_NEVER;
        rig_units[i]->tick(r->t);
    }
    s->phase = WG_PHASE_REGIONS;
    if (r->at_regions)
        r->at_regions(r);
    s->phase = WG_PHASE_GATES;
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        rig_gate(r, thread);
    s->now++;
}

static inline void rig_run(rig *r, unsigned cycles)
{
    while (cycles--)
        rig_cycle(r);
}

static inline bool rig_busy(const rig *r)
{
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        if (r->head[thread] < r->count[thread])
            return true;
        for (unsigned i = 0; i < 4; i++)
            if (rig_units[i]->busy(r->t, thread))
                return true;
    }
    return wg_mover_busy(r->t) || !wg_tdma_idle(r->t);
}

/* Runs until everything has passed and completed; returns the cycles taken. */
static inline unsigned rig_drain(rig *r)
{
    unsigned cycles = 0;
    while (rig_busy(r) && cycles < 100000) {
        rig_cycle(r);
        cycles++;
    }
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        if (r->head[thread] == r->count[thread])
            r->head[thread] = r->count[thread] = 0;
    return cycles;
}

/* Executes one word alone and waits for its completion. */
static inline void rig_do(rig *r, unsigned thread, uint32_t word)
{
    rig_push(r, thread, word);
    rig_drain(r);
}

static inline uint64_t rig_found(const rig *r, wg_finding_code code)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            count += r->dev.finding[i].count;
    return count;
}
static inline const wg_finding *rig_finding(const rig *r, wg_finding_code code)
{
    for (size_t i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            return &r->dev.finding[i];
    return NULL;
}

static inline uint32_t rig_word(const rig *r, const char *name, uint32_t operands)
{
    const wg_isa_insn *isa = wg_isa_by_name(r->t->arch->id, name, strlen(name));
    assert_non_null(isa);
    return (uint32_t)isa->opcode << 24 | (operands & 0xFFFFFF);
}

#endif
