/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Mover: memcpy from L1, or memset to 0, into L1, backend configuration or (WH) NC's instruction RAM.
 *
 *     copy    reads   0 1 2 3 4 5 6 7            one per cycle into a window of eight
 *             writes        0 1 2 3 4 5 6 7      three cycles later; the window is empty after 11
 *     fill    writes  0 1 2 3 …                  one per cycle
 *
 * This gives the documented eight units of 16 bytes per 11 cycles; a busy port or Configuration Unit makes it slower. Decided
 * here: this pipeline as the explanation of the 11 cycles.
 *
 * Facts: Mover.md, XMOV.md, L1.md; GATE-16.
 */
#include "backend/mover.h"

#include <string.h>

#include "arch/unit_times.h"
#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/tdma.h"
#include "report/touch.h"
#include "machine/l1.h"

enum { UNIT = 16 };
enum { TO_L1, TO_CONFIG, TO_IRAM, TO_NOWHERE };
#define IRAM_FIRST UINT32_C(0x40000)
#define NC_IRAM UINT32_C(0xFFC00000) /* as NC sees it */
#define REGION UINT32_C(0x10000)     /* size of the targets other than L1 */

bool wg_mover_busy(const wg_tile *t) { return t->backend.mover.busy; }

static bool copies(const wg_mover *m) { return m->mode == WG_XMOV_L1_TO_L1 || m->mode == WG_XMOV_L1_TO_L0; }
static bool into_l1(unsigned mode) { return mode == WG_XMOV_L1_TO_L1 || mode == WG_XMOV_L0_TO_L1; }

/* ---- Starting --------------------------------------------------------------------------------------- */

static void find(wg_tile *t, wg_finding_code code, unsigned agent, const wg_insn *insn, uint32_t address,
                 uint32_t count)
{
    wg_finding f = insn ? wg_insn_finding(insn, address, count)
                        : (wg_finding){.agent = (uint8_t)agent, .subject = address, .value = count};
    wg_findf(t, code, f, "0x%x, %u bytes", address, count);
}

static bool outside_l1(const wg_tile *t, uint32_t address, uint32_t count)
{
    return !wg_l1_holds(t->spec->l1_bytes, address, count);
}

/* Only instructions that its frontend fetches meanwhile are corrupted: NC may continue in L1. */
static bool nc_reads_iram(wg_tile *t)
{
    wg_core_sync(t, WG_CORE_NC);
    return !wg_core_parked(t, WG_CORE_NC) &&
           t->core[WG_CORE_NC].run.pc - NC_IRAM < t->spec->core[WG_CORE_NC].iram_bytes;
}

/* Finds the destination; an undefined range is reported and nothing is moved. */
static bool resolve(wg_tile *t, wg_mover *m, unsigned agent, const wg_insn *insn, uint32_t dst, uint32_t src,
                    uint32_t count)
{
    if (copies(m) && outside_l1(t, src, count)) {
        find(t, WG_F_MOVER_ADDRESS, agent, insn, src, count);
        return false;
    }
    if (into_l1(m->mode)) {
        m->target = TO_L1;
        m->dst = dst;
        if (!outside_l1(t, dst, count))
            return true;
        find(t, WG_F_MOVER_ADDRESS, agent, insn, dst, count);
        return false;
    }
    bool iram = dst >= IRAM_FIRST && dst < IRAM_FIRST + REGION;
    m->target = dst < REGION ? TO_CONFIG : iram && t->spec->core[WG_CORE_NC].iram_bytes ? TO_IRAM : TO_NOWHERE;
    m->dst = dst & (REGION - 1);
    if (m->target != TO_NOWHERE && m->dst + count > REGION) {
        find(t, WG_F_MOVER_ADDRESS, agent, insn, dst, count);
        return false;
    }
    if (m->target == TO_NOWHERE)
        find(t, WG_F_MOVER_DISCARDED, agent, insn, dst, count);
    if (m->target == TO_IRAM && nc_reads_iram(t))
        find(t, WG_F_MOVER_IRAM_RUNNING, agent, insn, dst, count);
    return true;
}

void wg_mover_start(wg_tile *t, unsigned agent, const wg_insn *insn, uint32_t dst, uint32_t src, uint32_t count,
                    unsigned mode)
{
    wg_mover *m = &t->backend.mover;
    m->mode = (uint8_t)(mode & 3);
    if (m->held || !count || !resolve(t, m, agent, insn, dst, src, count))
        return;
    m->busy = true;
    m->owner = (uint8_t)agent;
    m->moves_for = insn ? *insn : (wg_insn){.thread = WG_THREADS};
    m->src = src;
    m->units = count / UNIT;
    m->moved = m->group_read = m->group_written = 0;
    m->finishing = false;
    /* The first unit moves in the cycle after the start, at the Mover's own turn. */
    m->step_at = t->sched.now + 1;
    wg_wake_at(&t->sched, WG_AGENT_MOVER, m->step_at);
}

void wg_mover_soft_reset(wg_tile *t, bool held)
{
    wg_mover *m = &t->backend.mover;
    m->held = held;
    if (held)
        m->busy = m->finishing = false;
    wg_wake_threads(&t->sched);
    wg_wake(&t->sched, WG_AGENT_MOVER); /* a command may wait for it */
}

/* ---- Moving ----------------------------------------------------------------------------------------- */

/* Emits the transfer's touches as its XMOV's, or as those of the core that wrote the TDMA-RISC command. */
static void touch(wg_tile *t, const wg_mover *m, unsigned how, wg_touch_space space, uint32_t first, uint32_t count)
{
    if (!wg_touch_l1_watched(t))
        return;
    wg_touch_by(t, WG_AGENT_MOVER, &m->moves_for);
    if (m->moves_for.id)
        wg_touch_emit(t, how | WG_TOUCH_LATE, space, first, count, 0);
    else
        wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                               .agent = WG_AGENT_MOVER,
                               .thread = WG_THREADS,
                               .a = space,
                               .b = first,
                               .c = count,
                               .how = (uint16_t)(how | WG_TOUCH_LATE)});
}

static bool put(wg_tile *t, wg_mover *m, const uint32_t data[4], uint64_t *retry)
{
    uint32_t at = m->dst + m->moved * UNIT;
    *retry = t->sched.now + 1;
    switch (m->target) {
    case TO_L1:
        if (!wg_l1_ask(t, WG_L1_MOVER_WRITE, at, WG_L1_WRITE, retry))
            return false;
        touch(t, m, WG_TOUCH_WRITE, WG_TOUCH_L1, at, UNIT);
        wg_l1_write(t, WG_L1_MOVER_WRITE, at, UNIT, data);
        break;
    case TO_CONFIG:
        if (!wg_config_mover_write(t, at / 4, data))
            return false;
        if (wg_touch_watched(t))
            for (unsigned bank = 0; bank < 2; bank++)
                for (unsigned i = 0; i < 4; i++)
                    if (wg_config_window_banks(t, at / 4) >> bank & 1)
                        touch(t, m, WG_TOUCH_WRITE, WG_TOUCH_CONFIG, bank * 256 + wg_config_window_word(t, at / 4) + i,
                              UINT32_MAX);
        break;
    case TO_IRAM:
        (void)wg_iram_write(t, WG_CORE_NC, at, UNIT, data); /* beyond its end: discarded */
        break;
    default: break;
    }
    m->moved++;
    return true;
}

static uint64_t sooner(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* One cycle of a copy; returns when the next step is due. */
static uint64_t copy_step(wg_tile *t, wg_mover *m)
{
    uint64_t now = t->sched.now, next = WG_NEVER, retry;
    uint32_t group = m->units - (m->moved - m->group_written);
    if (group > WG_MOVER_WINDOW)
        group = WG_MOVER_WINDOW;
    if (m->group_written < m->group_read) {
        uint64_t ready = m->ready_at[m->group_written];
        if (ready > now)
            next = ready;
        else if (put(t, m, m->window[m->group_written], &retry))
            next = ++m->group_written < m->group_read ? later(m->ready_at[m->group_written], now + 1) : WG_NEVER;
        else
            next = retry;
    }
    if (m->group_read < group) {
        uint32_t at = m->src + (m->moved - m->group_written + m->group_read) * UNIT;
        if (wg_l1_ask(t, WG_L1_MOVER_READ, at, WG_L1_READ, &retry)) {
            touch(t, m, WG_TOUCH_READ, WG_TOUCH_L1, at, UNIT);
            wg_l1_read(t, at, UNIT, m->window[m->group_read]);
            m->ready_at[m->group_read++] = now + WG_TIME_MOVER_READ_TO_WRITE;
            next = sooner(next, m->group_read < group ? now + 1 : m->ready_at[m->group_written]);
        } else {
            next = sooner(next, retry);
        }
    }
    if (m->group_written == group) {
        m->group_written = m->group_read = 0;
        next = now + 1;
    }
    return next;
}

static uint64_t fill_step(wg_tile *t, wg_mover *m)
{
    static const uint32_t zeros[4];
    uint64_t retry;
    return put(t, m, zeros, &retry) ? t->sched.now + 1 : retry;
}

static void move(wg_tile *t, wg_mover *m)
{
    uint64_t now = t->sched.now;
    if (m->finishing) {
        m->busy = m->finishing = false;
        wg_wake_threads(&t->sched);
        wg_wake(&t->sched, WG_AGENT_REGIONS);
        return;
    }
    m->step_at = copies(m) ? copy_step(t, m) : fill_step(t, m);
    if (m->moved == m->units) {
        m->finishing = true;
        m->step_at = now + 1 + wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_MOVER, m->transfers++);
    }
}

/* ---- The unit --------------------------------------------------------------------------------------- */

bool wg_mover_implements(wg_insn_id id, wg_arch_id arch)
{
    (void)arch;
    return id == WG_I_XMOV;
}

static bool mover_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    (void)insn;
    const wg_mover *m = &t->backend.mover;
    if (!m->busy && !m->insn.id)
        return true;
    *why = (wg_stall){
        .reason = WG_STALL_UNIT_BUSY, .resource = WG_UNIT_MOVER, .holder = WG_AGENT_MOVER, .retry_at = WG_NEVER};
    return false;
}

static void mover_accept(wg_tile *t, const wg_insn *insn)
{
    wg_mover *m = &t->backend.mover;
    unsigned thread = insn->thread;
    if (WG_GET(XMOV, Mov_block_selection, insn->word))
        wg_findf(t, WG_F_MOVER_OPERAND, wg_insn_finding(insn, 1, 0),
                 "move block 1"); /* XMOV.md defines only (0, 0); treated as that */
    m->insn = *insn;
    wg_mover_start(t, WG_AGENT_THREAD0 + thread, insn,
                   wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG6_Destination_address) << 4,
                   wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG6_Source_address) << 4,
                   (wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG6_Buffer_size) & 0xFFFF) << 4,
                   wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG6_Transfer_direction));
    wg_wake_at(&t->sched, WG_AGENT_MOVER, t->sched.now + 1);
}

static void mover_tick(wg_tile *t)
{
    wg_mover *m = &t->backend.mover;
    uint64_t now = t->sched.now;
    if (m->insn.id) {
        wg_insn insn = m->insn;
        m->insn.id = 0;
        wg_unit_completed(t, WG_AGENT_MOVER, &insn);
    }
    if (m->busy && m->step_at <= now)
        move(t, m);
    wg_tdma_step(t);
    if (m->busy)
        wg_wake_at(&t->sched, WG_AGENT_MOVER, m->step_at);
}

/* XMOV itself takes one cycle; the transfer is not an instruction of the thread. */
static bool mover_holds_instruction(const wg_tile *t, unsigned thread)
{
    return t->backend.mover.insn.id && t->backend.mover.insn.thread == thread;
}

static bool mover_part_busy(const wg_tile *t, unsigned thread, unsigned part)
{
    (void)thread, (void)part;
    return wg_mover_busy(t);
}

static void mover_reset(wg_tile *t)
{
    t->backend.mover = (wg_mover){0};
    wg_tdma_reset(t);
}

const wg_unit_ops wg_mover_unit = {
    .name = "Mover",
    .agent = WG_AGENT_MOVER,
    .reset = mover_reset,
    .check = mover_check,
    .accept = mover_accept,
    .tick = mover_tick,
    .busy = mover_holds_instruction,
    .part_busy = mover_part_busy,
};
