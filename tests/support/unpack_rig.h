/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile without cores for tests of the unpackers: all units and the three frontends are real. Words are pushed
 * into a thread's FIFO at a cycle boundary; a word pushed before cycle c into an idle frontend passes its gate in
 * c + 2. Or the unit alone: ur_do() lets one instruction start and run to its end.
 */
#ifndef UNPACK_RIG_H
#define UNPACK_RIG_H

#include "wgtest.h"

#include "backend/config.h"
#include "backend/unpack.h"
#include "machine/device.h"
#include "machine/fast.h"
#include "report/findings.h"
#include "num/formats.h"

enum { UR_EVENTS = 4096 };

typedef struct ur {
    wg_device dev;
    wg_tile *t;
    wg_event event[UR_EVENTS];
    unsigned events;
} ur;

static void ur_observe(void *user, const wg_event *e)
{
    ur *r = user;
    if (r->events < UR_EVENTS)
        r->event[r->events++] = *e;
}

static inline ur *ur_new(wg_arch_id arch)
{
    ur *r = calloc(1, sizeof *r);
    r->t = wg_tile_new();
    r->dev.finding = calloc(WG_MAX_FINDINGS, sizeof *r->dev.finding);
    r->dev.stop_at = WG_SEVERITY_NEVER;
    r->dev.tile = r->t;
    r->dev.arch = wg_arch_of(arch);
    r->dev.observer[0] = (wg_observer){.kinds = WG_EV_ALL, .fn = ur_observe, .user = r};
    r->t->dev = &r->dev;
    r->t->arch = r->dev.arch;
    r->t->spec = &r->t->arch->tensix;
    r->t->timing = &r->t->arch->timing[WG_PROFILE_DOCUMENTED];
    r->t->watched = WG_EV_ALL;
    r->t->limit = WG_NEVER;
    r->t->l1 = calloc(1, r->t->spec->l1_bytes);
    wg_tile_reset(r->t);
    for (unsigned i = 0; i < WG_CORES; i++)
        r->t->sched.next[WG_AGENT_CORE_B + i] = WG_NEVER;
    r->t->sched.now = 100;
    return r;
}

/* Removes the observer: shortcuts may be taken. */
static inline void ur_unwatch(ur *r)
{
    r->t->watched = 0;
    r->t->fast_wanted = WG_FAST_ALL;
    wg_fast_update(r->t);
}

static inline void ur_free(ur *r)
{
    free(r->t->l1);
    free(r->t);
    free(r->dev.finding);
    free(r);
}

/* Marks configuration as changed without the Configuration Unit. */
static inline void ur_touch(ur *r) { r->t->regs.config.changes++; }
static inline void ur_set(ur *r, wg_cfg_id id, uint32_t value)
{
    ur_touch(r);
    assert_true(wg_cfg_present(&wg_cfg_fields[r->t->arch->id][id]));
    wg_cfg_insert(&wg_cfg_fields[r->t->arch->id][id], r->t->regs.config.bank[0], value);
}
static inline void ur_thread(ur *r, unsigned thread, wg_tcfg_id id, uint32_t value)
{
    ur_touch(r);
    wg_tcfg_insert(&wg_tcfg_fields[r->t->arch->id][id], r->t->regs.config.thread[thread], value);
}
/* By unpacker. */
#define UR_SEC(r, u, name, value) ur_set(r, (u) ? WG_CFG_THCON_SEC1_##name : WG_CFG_THCON_SEC0_##name, value)
#define UR_UNP(r, u, name, value) ur_set(r, (u) ? WG_CFG_UNP1_##name : WG_CFG_UNP0_##name, value)

/* Uncompressed faces of 16 rows, `in` to `out`, context 0, from L1 address `base` (after a header of 16 bytes). */
static inline void ur_face(ur *r, unsigned u, unsigned in, unsigned out, uint32_t base)
{
    const wg_cfg_field *f = &wg_cfg_fields[r->t->arch->id][u ? WG_CFG_THCON_SEC1_REG0_TileDescriptor
                                                             : WG_CFG_THCON_SEC0_REG0_TileDescriptor];
    uint32_t *tile = &r->t->regs.config.bank[0][f->word];
    tile[0] = in | 1u << 4 | 256u << 16;
    tile[1] = 1 | 4u << 16;
    tile[2] = tile[3] = 0;
    UR_SEC(r, u, REG2_Out_data_format, out);
    UR_SEC(r, u, REG2_Throttle_mode, 2);
    UR_SEC(r, u, REG2_Disable_zero_compress_cntx0, 1);
    UR_SEC(r, u, REG2_Unpack_limit_address, 0x1FFFF);
    UR_SEC(r, u, REG3_Base_address, base / 16 - 1);
    if (!u) {
        ur_set(r, WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0, 256);
        ur_set(r, WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address, 64);
    }
    for (unsigned thread = 0; thread < 3; thread++) {
        ur_thread(r, thread, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 1);
        r->t->regs.adc.unit[thread][u][1].x = 255;
    }
}

static inline void ur_push(ur *r, unsigned thread, uint32_t word)
{
    wg_stall why;
    assert_int_equal(wg_push_words(r->t, thread, WG_CORE_T0 + thread, 0x1000, &word, 1, &why), 1);
}
static inline void ur_run(ur *r, unsigned cycles)
{
    while (cycles--)
        wg_tile_cycle(r->t);
}
/* Skips from wake-up to wake-up, as the engine does; up to but excluding cycle `end`. */
static inline void ur_skip_to(ur *r, uint64_t end)
{
    while (r->t->sched.now < end) {
        uint64_t next = wg_tile_next(r->t);
        if (next >= end) {
            r->t->sched.now = end;
            return;
        }
        if (next > r->t->sched.now)
            r->t->sched.now = next;
        wg_tile_cycle(r->t);
    }
}

/* Executes one instruction on the unit alone, to its completion. */
static inline void ur_do(ur *r, unsigned thread, uint32_t word)
{
    wg_schedule *s = &r->t->sched;
    const wg_isa_insn *isa = wg_isa_decode(r->t->arch->id, word);
    wg_insn insn = {.word = word, .id = 1, .thread = (uint8_t)thread, .unit = isa->unit, .op = (uint16_t)isa->id};
    wg_stall why;
    s->phase = WG_PHASE_GATES;
    assert_true(wg_unpack_unit.check(r->t, &insn, &why));
    wg_unpack_unit.accept(r->t, &insn);
    s->phase = WG_PHASE_COMPLETIONS;
    for (unsigned i = 0; i < 200000 && wg_unpack_unit.busy(r->t, thread); i++) {
        s->now++;
        wg_unpack_unit.tick(r->t);
    }
    assert_false(wg_unpack_unit.busy(r->t, thread));
}

/* The n-th event of a kind by an agent; NULL: fewer than that. */
static inline const wg_event *ur_event(const ur *r, wg_event_kind kind, unsigned agent, unsigned n)
{
    for (unsigned i = 0; i < r->events; i++)
        if (r->event[i].kind == kind && r->event[i].agent == agent && n-- == 0)
            return &r->event[i];
    return NULL;
}
static inline uint64_t ur_cycle(const ur *r, wg_event_kind kind, unsigned agent, unsigned n)
{
    const wg_event *e = ur_event(r, kind, agent, n);
    return e ? e->cycle : WG_NEVER;
}
static inline uint64_t ur_found(const ur *r, wg_finding_code code)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            count += r->dev.finding[i].count;
    return count;
}

/* The UNPACR operands that most tests use: MultiContextMode, Last. */
#define UR_UNPACR(u, more) (UINT32_C(0x42000081) | (uint32_t)(u) << 23 | (uint32_t)(more))
#define UR_NOP(u, more) (UINT32_C(0x43000000) | (uint32_t)(u) << 23 | (uint32_t)(more))
enum { UR_FLIP = 1 << 6 };

#endif
