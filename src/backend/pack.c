/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers (WH: four; BH: one, with four Dst read interfaces): the unit and its timing.
 *
 *     gate ──> address generators ──┬──> packer 0: rows in sequence ──> 16-byte lines ──> L1
 *              (one instruction     ├──> packer 1 …
 *               per cycle: the gate)└──> …
 *
 *     PACR accepted at c, n cycles of rows or lines:   c … c+n-1   the packer is busy
 *                                                      c+n+3       data in L1, complete
 *
 * A thread stalls at its gate until every packer that the instruction names can accept it, and until the blocks of Dst to be
 * read have settled. Instructions of one packer take effect in order. One for several packers completes when the last of them
 * is done, and stays in each packer's pipeline until that packer is done.
 *
 * Decided here: a packer's pipeline has four stages; it accepts an instruction when the previous one has read its last row;
 * 16 instructions may be in flight; contention for ports and banks of L1 does not delay the packers. PACR_SETREG occupies the
 * packers it names for one cycle and acts when all of them have finished earlier instructions. TBUFCMD occupies packer 0 for
 * one cycle, is reported and changes nothing.
 *
 * Facts: Packers/README.md, PACR.md, PACR_SETREG.md, L1.md, Dst.md; BH's PACR_SETREG from the assembly table; GATE-12.
 */
#include <string.h>

#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "backend/tdma.h"
#include "machine/bus.h"

bool wg_pack_implements(wg_insn_id id, wg_arch_id arch)
{
    (void)arch;
    return id == WG_I_PACR || id == WG_I_PACR_SETREG || id == WG_I_TBUFCMD;
}

/* ---- Checks at the gate --------------------------------------------------------------------------------------- */

/* Decided here: TBUFCMD, of which the assembly table says "reserved for future use", passes through packer 0. */
static unsigned packers_of(const wg_tile *t, const wg_insn *insn)
{
    return insn->op == WG_I_TBUFCMD ? 1 : wg_pack_mask(t, insn);
}

static bool refuse(wg_stall *why, unsigned reason, unsigned resource, unsigned holder, uint64_t retry)
{
    *why = (wg_stall){
        .reason = (uint16_t)reason, .resource = (uint16_t)resource, .holder = (uint8_t)holder, .retry_at = retry};
    return false;
}

static bool check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_pack *u = &t->backend.pack;
    uint64_t now = t->sched.now, ready = 0;
    unsigned mask = packers_of(t, insn);
    if (u->held & mask)
        return refuse(why, WG_STALL_UNIT_BUSY, WG_UNIT_PACK, WG_AGENT_HOST, WG_NEVER);
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const wg_packer *p = &u->packer[__builtin_ctz(rest)];
        ready = p->free_at > ready ? p->free_at : ready;
    }
    if (ready > now)
        return refuse(why, WG_STALL_UNIT_BUSY, WG_UNIT_PACK, WG_AGENT_PACK, ready);
    if (u->count == WG_PACK_IN_FLIGHT)
        return refuse(why, WG_STALL_UNIT_BUSY, WG_UNIT_PACK, WG_AGENT_PACK, WG_NEVER);
    if (insn->op != WG_I_PACR)
        return true;
    unsigned block = 0;
    if (t->backend.matrix.blocks_ready <= now)
        return true;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        ready = wg_pack_rows_ready(t, insn, (unsigned)__builtin_ctz(rest), &block);
        if (ready > now)
            return refuse(why, WG_STALL_DST_BLOCK_WRITTEN, block, WG_AGENT_MATRIX, ready);
    }
    return true;
}

static bool part_busy(const wg_tile *t, unsigned thread, unsigned part)
{
    const wg_pack *u = &t->backend.pack;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_pack_job *job = &u->job[u->order[i]];
        if (job->insn.thread == thread && job->packers >> part & 1)
            return true;
    }
    return false;
}

static bool busy(const wg_tile *t, unsigned thread)
{
    const wg_pack *u = &t->backend.pack;
    for (unsigned i = 0; i < u->count; i++)
        if (u->job[u->order[i]].insn.thread == thread)
            return true;
    return false;
}

/* ---- Acceptance ---------------------------------------------------------------------------------------------- */

/* A packer's parts take effect in order. */
static uint64_t schedule(wg_tile *t, wg_pack_job *job, unsigned packer, unsigned cycles, uint64_t delay)
{
    wg_packer *p = &t->backend.pack.packer[packer];
    cycles = wg_takes(t, WG_AGENT_PACK, &job->insn, cycles, 1);
    uint64_t stages = wg_takes(t, WG_AGENT_PACK, &job->insn, WG_PACK_STAGES - 1, 0);
    uint64_t now = t->sched.now, done = now + cycles + stages + delay;
    p->free_at = now + cycles;
    done = done > p->last_done ? done : p->last_done;
    job->part[packer].done_at = p->last_done = done;
    return done;
}

static void accept(wg_tile *t, const wg_insn *insn)
{
    wg_pack *u = &t->backend.pack;
    wg_pack_job *job = wg_pack_new_job(u);
    uint64_t delay = wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_PACK, wg_unit_event(insn)), last = 0;
    job->insn = *insn;
    job->packers = (uint8_t)packers_of(t, insn);
    job->set_register = insn->op == WG_I_PACR_SETREG;
    job->late = delay != 0 && !wg_ttsync_tracks_config(t, insn->thread);
    job->idle = false;
    if (job->set_register)
        job->setreg_format = (uint8_t)wg_config_get(t, insn->thread, WG_CFG_THCON_SEC0_REG1_Out_data_format);
    else if (insn->op == WG_I_PACR)
        wg_pack_plan(t, job);
    else
        wg_findf(t, WG_F_RESERVED_INSN, wg_insn_finding(insn, 0, 0), "%s is reserved and has no effect",
                 wg_isa_decode(t->arch->id, insn->word)->name);
    bool alone = !job->set_register;
    for (unsigned rest = job->packers; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t done = schedule(t, job, i, insn->op == WG_I_PACR ? job->part[i].cycles : 1, delay);
        last = done > last ? done : last;
        if (alone)
            wg_wake_at(&t->sched, WG_AGENT_PACK, done);
    }
    for (unsigned rest = alone ? 0 : job->packers; rest; rest &= rest - 1) { /* all in the same cycle */
        unsigned i = (unsigned)__builtin_ctz(rest);
        job->part[i].done_at = u->packer[i].last_done = last;
        wg_wake_at(&t->sched, WG_AGENT_PACK, last);
    }
}

/* ---- PACR_SETREG --------------------------------------------------------------------------------------------- */

enum { MMIO = 0xFFB00000, TDMA_FIRST = 0xFFB11000, TDMA_END = 0xFFB12000, SETREG_END = 0xFFB80000 };

static void write_register(wg_tile *t, const wg_insn *insn, uint32_t address, uint32_t value)
{
    wg_stall why;
    bool done = address >= TDMA_FIRST;
    if (address >= SETREG_END)
        return;
    if (done && address < TDMA_END) /* Decided here: a command for the Mover's full queue is lost. */
        done =
            wg_tdma_write(t, WG_CORE_T0 + insn->thread, address - TDMA_FIRST, value, insn->pc, &why) != WG_REGION_WAIT;
    else if (done)
        done = wg_tile_bus_write(t, address, &value, 4);
    if (!done)
        wg_find_insn(t, WG_F_PACK_SETREG, insn, address, value);
}

/*
 * BH: the form with ModeSel sets 16 bits of the value written by the other form. Decided here: the first two of its
 * four addresses are WH's; the others are reported and not written.
 */
static void set_register(wg_tile *t, const wg_pack_job *job)
{
    wg_pack *u = &t->backend.pack;
    const wg_tdma *d = &t->backend.tdma;
    const wg_insn *insn = &job->insn;
    bool given = t->arch->pack.setreg_data;
    uint32_t word = insn->word;
    unsigned select = given ? WG_OPERAND(BH, PACR_SETREG, AddrSel, word) : WG_OPERAND(WH, PACR_SETREG, AddrSel, word);
    if (given && WG_OPERAND(BH, PACR_SETREG, ModeSel, word)) {
        unsigned half = WG_OPERAND(BH, PACR_SETREG, UpperHalf, word) * 16;
        u->setreg_data = (u->setreg_data & ~(UINT32_C(0xFFFF) << half)) | WG_OPERAND(BH, PACR_SETREG, Value16, word)
                                                                              << half;
        return;
    }
    uint32_t low = WG_GET(PACR_SETREG, WrData, word);
    uint32_t value = low + ((low * d->set_reg_hi_scaler[job->setreg_format & 3] & 0x1FFFF) << 12);
    uint32_t address = MMIO + d->pack_set_reg_base[select & 1] + (WG_GET(PACR_SETREG, StreamId, word) << 12);
    /* The operand table: both are needed to trigger the write. */
    if (!WG_GET(PACR_SETREG, Push, word) || !WG_GET(PACR_SETREG, Flush, word) || select > 1)
        wg_find_insn(t, WG_F_PACK_SETREG, insn, address, word);
    else
        write_register(t, insn, address, given ? u->setreg_data : value);
}

/* ---- Completion ---------------------------------------------------------------------------------------------- */

/*
 * PACR.md: some fields are sampled at an unspecified point of an instruction's life. Decided here: in a perturbed
 * run, a delayed instruction samples edge masks and ReLU when it completes.
 */
static void sample_late(wg_tile *t, wg_pack_job *job)
{
    wg_pack_setup own;
    const wg_pack_setup *s = wg_pack_ask_setup(t, &job->insn, &own);
    job->serial = 0;
    job->relu = s->relu;
    job->relu_threshold = s->relu_threshold;
    job->has_edges = s->has_edges;
    job->edges = s->edges;
    for (unsigned i = 0; i < WG_PACKERS; i++)
        job->part[i].set.straight = false; /* based on the sample at the start */
}

static void complete(wg_tile *t, wg_pack_job *job, unsigned packer)
{
    wg_touch_by(t, WG_AGENT_PACK, &job->insn);
    if (__builtin_expect(job->late, 0) && job->insn.op == WG_I_PACR && !job->idle)
        sample_late(t, job);
    if (job->insn.op == WG_I_PACR && !job->idle)
        wg_pack_move(t, job, packer);
    else if (job->set_register && WG_GET(PACR_SETREG, Flush, job->insn.word))
        wg_pack_flush(
            &(wg_pack_output){.t = t, .p = &t->backend.pack.packer[packer], .packer = packer, .insn = &job->insn});
}

static void tick(wg_tile *t)
{
    wg_pack *u = &t->backend.pack;
    uint64_t now = t->sched.now, next = WG_NEVER;
    for (unsigned i = 0; i < u->count;) {
        wg_pack_job *job = &u->job[u->order[i]];
        bool some = false;
        for (unsigned rest = job->packers; rest; rest &= rest - 1) {
            unsigned packer = (unsigned)__builtin_ctz(rest);
            if (job->part[packer].done_at > now) {
                next = job->part[packer].done_at < next ? job->part[packer].done_at : next;
                continue;
            }
            complete(t, job, packer);
            job->packers = (uint8_t)(job->packers & ~(1u << packer));
            some = true;
        }
        if (job->packers) {
            if (some) { /* a wait for only this packer may end */
                wg_wake_waiting(&t->sched, WG_AGENT_BIT(WG_AGENT_PACK));
                wg_wake_idle_watchers(&t->sched);
            }
            i++;
            continue;
        }
        if (job->set_register)
            set_register(t, job);
        wg_pack_end_job(u, i);
        wg_unit_completed(t, WG_AGENT_PACK, &job->insn);
    }
    wg_wake_at(&t->sched, WG_AGENT_PACK, next);
}

/* ---- Reset ----------------------------------------------------------------------------------------------------- */

static void reset(wg_tile *t) { (void)t; }

static void abort_jobs(wg_tile *t, unsigned packers)
{
    wg_pack *u = &t->backend.pack;
    for (unsigned i = 0; i < u->count;) {
        wg_pack_job *job = &u->job[u->order[i]];
        job->packers = (uint8_t)(job->packers & ~packers);
        if (job->packers) {
            i++;
            continue;
        }
        wg_pack_end_job(u, i);
        wg_unit_completed(t, WG_AGENT_PACK, &job->insn);
    }
}

/* Instructions for a packer in reset stay at the gate ("might or might not be discarded"). */
void wg_pack_soft_reset(wg_tile *t, unsigned enters, unsigned leaves)
{
    wg_pack *u = &t->backend.pack;
    abort_jobs(t, enters);
    for (unsigned i = 0; i < WG_PACKERS; i++) {
        wg_packer_sideband *s = &t->backend.tdma.packer[i];
        if (enters >> i & 1) {
            wg_packer fresh = {0};
            memcpy(fresh.prng, u->packer[i].prng, sizeof fresh.prng); /* belongs to the connection to Dst */
            u->packer[i] = fresh;
            s->acc_tile_size[0] = s->acc_tile_size[1] = s->acc_tile_size[2] = s->last_tile_size = 0;
            s->fifo_head = s->fifo_count = 0;
        }
        if (leaves >> i & 1)
            s->l1_dest_addr_offset = 0;
    }
    u->held = (uint8_t)((u->held | enters) & ~leaves);
    wg_wake_threads(&t->sched);
    wg_wake_idle_watchers(&t->sched);
}

const wg_unit_ops wg_pack_unit = {
    .name = "Packers",
    .agent = WG_AGENT_PACK,
    .reset = reset,
    .check = check,
    .accept = accept,
    .tick = tick,
    .busy = busy,
    .part_busy = part_busy,
};
