/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpackers 0 (to SrcA or Dst) and 1 (to SrcB): the pipeline and its timing.
 *
 *     gate ──> address phase, two cycles, shared ──┬──> Unpacker 0: wait for the bank ──> fetch ──> done
 *              (holds the thread and UNPACRs)      └──> Unpacker 1: wait for the bank ──> fetch ──> done
 *
 *     UNPACR accepted at c:   c, c+1   address phase
 *                             c+2 …    fetching, 1, 2, 4 or (BH) 8 lines of 16 bytes per cycle
 *                             c+2+n    datums written, bank handed over, complete
 *
 * Instructions of one unpacker take effect in order. While both fetch on WH, their rates are those of the table below, the
 * documented interference on the L1 ports they share (9, 10, 11). So the time of a fetch is computed, without events between
 * its start and end.
 *
 * Decided here: an unpacker holds four instructions, including the one that moves data; it fetches nothing while
 * it waits for its bank; bank conflicts and the clients of ports 1 and 2 do not delay the unpackers, nor vice versa;
 * UNPACR_NOP takes a cycle, waits for an address phase to end, and has none itself.
 *
 * Facts: Unpackers/README.md, UNPACR_Regular.md ("Performance"), UNPACR_NOP_*.md, L1.md (ports); GATE-11, -14, -22.
 */
#include "backend/unpack_internal.h"

#include "backend/config.h"
#include "backend/insn_finding.h"
#include "num/l1_formats.h"

bool wg_unpack_implements(wg_insn_id id, wg_arch_id arch)
{
    (void)arch;
    return id == WG_I_UNPACR || id == WG_I_UNPACR_NOP;
}

static unsigned agent_of(unsigned unpacker) { return WG_AGENT_UNPACK0 + unpacker; }
static wg_src_file file_of(unsigned unpacker) { return unpacker ? WG_SRCB : WG_SRCA; }
static wg_unpack_job *job_at(wg_unpack *u, unsigned unpacker, unsigned i)
{
    return &u->job[unpacker][(u->head[unpacker] + i) % WG_UNPACK_QUEUE];
}

/* ---- Checks at the gate -------------------------------------------------------------------------------------- */

static bool in_address_phase(const wg_tile *t, wg_stall *why)
{
    const wg_unpack *u = &t->backend.unpack;
    if (t->sched.now >= u->address_until)
        return false;
    *why = (wg_stall){.reason = WG_STALL_UNPACK_ADDRESS_PHASE,
                      .resource = u->address_unpacker,
                      .holder = (uint8_t)agent_of(u->address_unpacker),
                      .retry_at = u->address_until};
    return true;
}

static bool check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    unsigned unpacker = WG_GET(UNPACR, Unpack_block_selection, insn->word);
    /* The queue comes first: a full unpacker stays full until it wakes the threads, however address phases change. */
    if (t->backend.unpack.count[unpacker] == WG_UNPACK_QUEUE) {
        *why = (wg_stall){.reason = WG_STALL_UNIT_BUSY,
                          .resource = WG_UNIT_UNPACK,
                          .holder = (uint8_t)agent_of(unpacker),
                          .retry_at = WG_NEVER};
        return false;
    }
    return !in_address_phase(t, why);
}

static bool holds(const wg_tile *t, unsigned thread, wg_stall *why)
{
    return thread == t->backend.unpack.address_thread && in_address_phase(t, why);
}

static bool part_busy(const wg_tile *t, unsigned thread, unsigned part)
{
    const wg_unpack *u = &t->backend.unpack;
    for (unsigned i = 0; i < u->count[part & 1]; i++)
        if (u->job[part & 1][(u->head[part & 1] + i) % WG_UNPACK_QUEUE].insn.thread == thread)
            return true;
    return false;
}

static bool busy(const wg_tile *t, unsigned thread) { return part_busy(t, thread, 0) || part_busy(t, thread, 1); }

static wg_unpack_late *late_at(wg_unpack *u, unsigned unpacker, unsigned n)
{
    return &u->late[unpacker][(u->head[unpacker] + n) % WG_UNPACK_QUEUE];
}

/* Draws the delay of its completion, and saves the state for late sampling of configuration. */
static void note_late(wg_tile *t, unsigned unpacker, const wg_insn *insn, wg_unpack_late *late)
{
    *late = (wg_unpack_late){.changes = t->regs.config.changes,
                             .delay = wg_perturb(t, WG_SITE_COMPLETE, agent_of(unpacker), wg_unit_event(insn)),
                             .samples = !wg_ttsync_tracks_config(t, insn->thread),
                             .context = t->regs.config.unpack_context[unpacker][insn->thread],
                             .adc = t->regs.adc};
}

static void accept(wg_tile *t, const wg_insn *insn)
{
    wg_unpack *u = &t->backend.unpack;
    unsigned unpacker = WG_GET(UNPACR, Unpack_block_selection, insn->word);
    if (__builtin_expect(t->perturbed, 0))
        note_late(t, unpacker, insn, late_at(u, unpacker, u->count[unpacker]));
    else
        late_at(u, unpacker, u->count[unpacker])->delay = 0;
    wg_unpack_job *job = job_at(u, unpacker, u->count[unpacker]++);
    wg_touch_by(t, agent_of(unpacker), insn);
    job->insn = *insn;
    job->done_at = WG_NEVER;
    job->ready_at = t->sched.now + 1;
    job->fetched = 0;
    if (insn->op == WG_I_UNPACR) {
        wg_unpack_plan(t, unpacker, job);
    } else {
        /* The planner sets every other member that it uses. */
        job->serial = 0;
        job->lines = 0;
        job->speed = 1;
        job->waits = job->waits_like_matrix = job->flip = job->advance_row = false;
        wg_unpack_plan_nop(t, unpacker, job);
    }
    job->lines = wg_takes(t, agent_of(unpacker), insn, job->lines, 0);
    if (job->what == WG_UNPACK_MOVE) {
        job->ready_at = u->address_until =
            t->sched.now + wg_takes(t, agent_of(unpacker), insn, wg_unpack_address_cycles(job), 1);
        u->address_thread = insn->thread;
        u->address_unpacker = (uint8_t)unpacker;
        u->held_format[unpacker] = job->out_format;
        if (!unpacker)
            u->after_dst = job->to_dst && t->arch->unpack.dst_wants_srca;
    }
    if (u->count[unpacker] == 1)
        wg_wake_at(&t->sched, WG_AGENT_UNPACK0, job->ready_at);
}

/* ---- Completion --------------------------------------------------------------------------------------------- */

static void give(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    wg_src *s = &t->regs.src;
    unsigned bank = wg_unpack_bank(s, unpacker);
    if (wg_src_is_matrix(s, file_of(unpacker), bank))
        wg_find_insn(t, WG_F_SRC_GIVEN_TWICE, &job->insn, (unsigned)file_of(unpacker) * 2 + bank, 0);
    if (t->arch->unpack.records_format)
        (unpacker ? s->format_b : s->format_a)[bank] = job->out_format;
    wg_src_unpacked(t, file_of(unpacker), job->insn.thread, agent_of(unpacker));
    *wg_unpack_src_row(s, unpacker, job->insn.thread) = job->src_base;
}

/* Src?Unsigned must not change while 8-bit integers are being unpacked. */
static void check_unsigned(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    bool now =
        wg_config_get(t, job->insn.thread,
                      unpacker ? WG_CFG_ALU_FORMAT_SPEC_REG0_SrcBUnsigned : WG_CFG_ALU_FORMAT_SPEC_REG0_SrcAUnsigned);
    if (now != (job->reading == WG_READ_UINT8))
        wg_find_insn(t, WG_F_UNPACK_UNSIGNED, &job->insn, unpacker, now);
}

static void complete(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    wg_touch_by(t, agent_of(unpacker), &job->insn);
    switch ((wg_unpack_what)job->what) {
    case WG_UNPACK_MOVE:
        if (job->reading == WG_READ_INT8 || job->reading == WG_READ_UINT8)
            check_unsigned(t, unpacker, job);
        wg_unpack_move(t, unpacker, job);
        break;
    case WG_UNPACK_CLEAR:
        wg_unpack_clear(t, unpacker, job);
        t->backend.unpack.clear_until[unpacker] =
            t->sched.now + wg_takes(t, agent_of(unpacker), &job->insn, t->timing->unpack_clear, 0);
        break;
    case WG_UNPACK_SET_REGISTER: wg_unpack_set_register(t, unpacker, job); break;
    case WG_UNPACK_CLEAR_MESSAGES: wg_unpack_clear_messages(t, job); break;
    case WG_UNPACK_NOTHING:
    case WG_UNPACK_GIVE: break;
    }
    if (job->flip) {
        give(t, unpacker, job);
    } else if (job->advance_row) {
        uint8_t *row = wg_unpack_src_row(&t->regs.src, unpacker, job->insn.thread);
        *row = (uint8_t)((*row + 16 + job->src_base) & (WG_SRC_ROWS - 1));
    }
}

/* ---- Time --------------------------------------------------------------------------------------------------- */

/*
 * Lines per cycle of each unpacker while both fetch through shared ports, by demand: [Unpacker 0: 1, 2, 4][Unpacker
 * 1].
 */
static const uint8_t shared_speed[3][3][2] = {
    {{1, 1}, {1, 2}, {1, 4}},
    {{2, 1}, {1, 1}, {1, 2}},
    {{4, 1}, {2, 1}, {2, 2}},
};

/* Brings `fetched` of both heads up to this cycle. */
static void settle(wg_unpack *u, uint64_t now)
{
    uint64_t elapsed = now - u->settled_at;
    u->settled_at = now;
    for (unsigned unpacker = 0; unpacker < 2; unpacker++) {
        if (!u->fetching[unpacker])
            continue;
        wg_unpack_job *job = job_at(u, unpacker, 0);
        uint64_t fetched = job->fetched + elapsed * u->fetching[unpacker];
        job->fetched = fetched < job->lines ? (uint32_t)fetched : job->lines;
    }
}

static bool bank_is_free(const wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    const wg_src *s = &t->regs.src;
    unsigned bank = wg_unpack_bank(s, unpacker);
    if (job->waits_like_matrix)
        bank = unpacker ? s->matrix_bank_b : s->matrix_bank_a;
    return !wg_src_is_matrix(s, file_of(unpacker), bank);
}

static void stalls(wg_tile *t, unsigned unpacker, const wg_insn *insn, bool stalled)
{
    wg_unpack *u = &t->backend.unpack;
    if (u->stalled[unpacker] == stalled)
        return;
    u->stalled[unpacker] = stalled;
    wg_stall stall = {.reason = WG_STALL_SRC_BANK_NOT_UNPACKERS,
                      .resource = (uint16_t)unpacker,
                      .holder = WG_AGENT_MATRIX,
                      .retry_at = WG_NEVER};
    if (stalled) {
        u->stalled_since[unpacker] = t->sched.now;
        WG_EMIT_INSN(t, WG_EV_STALL_BEGIN, agent_of(unpacker), insn, .stall = stall);
    } else {
        WG_EMIT_INSN(t, WG_EV_STALL_END, agent_of(unpacker), insn, .a = u->stalled_since[unpacker], .stall = stall);
    }
}

/* Performs the head's next step, if there is one. True: the head has left the queue. */
static bool advance(wg_tile *t, unsigned unpacker)
{
    wg_unpack *u = &t->backend.unpack;
    uint64_t now = t->sched.now;
    wg_unpack_job *job = job_at(u, unpacker, 0);
    if (job->ready_at > now)
        return false;
    if (!u->fetching[unpacker] && job->done_at == WG_NEVER) {
        if (job->what == WG_UNPACK_MOVE && u->clear_until[unpacker] > now) {
            job->ready_at = u->clear_until[unpacker];
            return false;
        }
        bool wait = job->waits && !bank_is_free(t, unpacker, job);
        stalls(t, unpacker, &job->insn, wait);
        if (wait)
            return false;
        u->fetching[unpacker] = job->speed;
    }
    if (u->fetching[unpacker] && job->fetched >= job->lines) {
        u->fetching[unpacker] = 0;
        job->done_at = now;
        if (job->what != WG_UNPACK_GIVE) /* handovers that wait for nothing are not delayed: kernels rely on it */
            job->done_at += late_at(u, unpacker, 0)->delay;
    }
    if (job->done_at > now)
        return false;
    const wg_unpack_late *late = late_at(u, unpacker, 0);
    if (__builtin_expect(late->delay != 0, 0) && late->samples && job->what == WG_UNPACK_MOVE &&
        late->changes != t->regs.config.changes)
        wg_unpack_sample_late(t, unpacker, job, late);
    complete(t, unpacker, job);
    wg_insn insn = job->insn;
    u->head[unpacker] = (uint8_t)((u->head[unpacker] + 1) % WG_UNPACK_QUEUE);
    u->count[unpacker]--;
    wg_unit_completed(t, agent_of(unpacker), &insn);
    return true;
}

static void schedule(wg_tile *t, unsigned unpacker)
{
    wg_unpack *u = &t->backend.unpack;
    if (!u->count[unpacker])
        return;
    const wg_unpack_job *job = job_at(u, unpacker, 0);
    uint64_t now = t->sched.now, next = job->done_at;
    unsigned rate = u->fetching[unpacker];
    if (job->ready_at > now)
        next = job->ready_at;
    else if (rate)
        next = now + ((job->lines - job->fetched + rate - 1) >> __builtin_ctz(rate));
    wg_wake_at(&t->sched, WG_AGENT_UNPACK0, next);
}

static void tick(wg_tile *t)
{
    wg_unpack *u = &t->backend.unpack;
    if (!(u->count[0] | u->count[1]))
        return;
    settle(u, t->sched.now);
    for (unsigned unpacker = 0; unpacker < 2; unpacker++) {
        while (u->count[unpacker] && advance(t, unpacker)) {
        }
        if (u->fetching[unpacker])
            u->fetching[unpacker] = job_at(u, unpacker, 0)->speed;
    }
    if (t->arch->unpack.shares_ports && u->fetching[0] && u->fetching[1]) {
        const uint8_t *speeds = shared_speed[u->fetching[0] >> 1][u->fetching[1] >> 1];
        u->fetching[0] = speeds[0];
        u->fetching[1] = speeds[1];
    }
    schedule(t, 0);
    schedule(t, 1);
}

static void reset(wg_tile *t) { (void)t; }

void wg_unpack_abort(wg_tile *t)
{
    wg_unpack *u = &t->backend.unpack;
    for (unsigned unpacker = 0; unpacker < 2; unpacker++) {
        while (u->count[unpacker]) {
            const wg_insn *insn = &job_at(u, unpacker, 0)->insn;
            stalls(t, unpacker, insn, false);
            u->head[unpacker] = (uint8_t)((u->head[unpacker] + 1) % WG_UNPACK_QUEUE);
            u->count[unpacker]--;
            wg_unit_completed(t, agent_of(unpacker), insn);
        }
    }
    reset(t);
}

const wg_unit_ops wg_unpack_unit = {
    .name = "Unpackers",
    .agent = WG_AGENT_UNPACK0, /* ticks both */
    .reset = reset,
    .check = check,
    .accept = accept,
    .tick = tick,
    .busy = busy,
    .holds = holds,
    .part_busy = part_busy,
};
