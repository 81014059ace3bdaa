/* SPDX-License-Identifier: Apache-2.0 */
#include "frontend_rig.h"

/* ---- Model units ------------------------------------------------------------------------------------ */

static fr *rig_of(const wg_tile *t) { return (fr *)t->dev; }

static void model_reset(wg_tile *t, unsigned unit)
{
    fr_unit *u = &rig_of(t)->unit[unit];
    *u = (fr_unit){.latency = 1, .interval = 1};
}

static bool model_check(const wg_tile *t, unsigned unit, wg_stall *why)
{
    const fr_unit *u = &rig_of(t)->unit[unit];
    if (!u->refuses && t->sched.now >= u->free_at && u->count < FR_IN_FLIGHT)
        return true;
    *why = (wg_stall){WG_STALL_UNIT_BUSY, (uint16_t)unit, wg_units[unit]->agent, u->refuses ? WG_NEVER : u->free_at};
    return false;
}

static void model_accept(wg_tile *t, unsigned unit, const wg_insn *insn)
{
    fr_unit *u = &rig_of(t)->unit[unit];
    unsigned at = (u->head + u->count++) % FR_IN_FLIGHT;
    u->insn[at] = *insn;
    u->done_at[at] = t->sched.now + u->latency;
    if (u->interval > 1)
        u->free_at = t->sched.now + u->interval;
    if (insn->op == WG_I_SETC16 && (insn->word >> 16 & 0xFF) < WG_THREAD_CONFIG_WORDS)
        t->regs.config.thread[insn->thread][insn->word >> 16 & 0xFF] = (uint16_t)insn->word;
    wg_wake_at(&t->sched, wg_units[unit]->agent, u->done_at[u->head]);
}

static void model_tick(wg_tile *t, unsigned unit)
{
    fr_unit *u = &rig_of(t)->unit[unit];
    while (u->count && u->done_at[u->head] <= t->sched.now) {
        wg_insn insn = u->insn[u->head];
        u->head = (u->head + 1) % FR_IN_FLIGHT;
        u->count--;
        wg_unit_completed(t, wg_units[unit]->agent, &insn);
    }
    if (u->count)
        wg_wake_at(&t->sched, wg_units[unit]->agent, u->done_at[u->head]);
}

/* The part of the unpackers or packers that executes an instruction. */
static unsigned part_of(unsigned unit, const wg_insn *insn)
{
    return unit == WG_UNIT_UNPACK ? insn->word >> 23 & 1 : 0;
}

static bool model_part_busy(const wg_tile *t, unsigned unit, unsigned thread, unsigned part)
{
    const fr_unit *u = &rig_of(t)->unit[unit];
    if (u->declared_busy[part & 3] >> thread & 1)
        return true;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_insn *insn = &u->insn[(u->head + i) % FR_IN_FLIGHT];
        if (insn->thread == thread && part_of(unit, insn) == part)
            return true;
    }
    return false;
}

static bool model_busy(const wg_tile *t, unsigned unit, unsigned thread)
{
    for (unsigned part = 0; part < 4; part++)
        if (model_part_busy(t, unit, thread, part))
            return true;
    return false;
}

/* A wait condition's view: for the Mover, of any thread. */
static bool model_condition(const wg_tile *t, unsigned unit, unsigned thread, unsigned part)
{
    if (unit != WG_UNIT_MOVER)
        return model_part_busy(t, unit, thread, part);
    return model_part_busy(t, unit, 0, 0) || model_part_busy(t, unit, 1, 0) || model_part_busy(t, unit, 2, 0);
}

static bool model_holds(const wg_tile *t, unsigned unit, unsigned thread, wg_stall *why)
{
    const fr_unit *u = &rig_of(t)->unit[unit];
    if (!(u->declared_hold >> thread & 1))
        return false;
    *why = (wg_stall){u->hold_reason, (uint16_t)unit, wg_units[unit]->agent, WG_NEVER};
    return true;
}

#define MODEL(kind) \
    static void kind##_reset(wg_tile *t) { model_reset(t, WG_UNIT_##kind); } \
    static bool kind##_check(const wg_tile *t, const wg_insn *insn, wg_stall *why) \
    { \
        (void)insn; \
        return model_check(t, WG_UNIT_##kind, why); \
    } \
    static void kind##_accept(wg_tile *t, const wg_insn *insn) { model_accept(t, WG_UNIT_##kind, insn); } \
    static void kind##_tick(wg_tile *t) { model_tick(t, WG_UNIT_##kind); } \
    static bool kind##_busy(const wg_tile *t, unsigned thread) { return model_busy(t, WG_UNIT_##kind, thread); } \
    static bool kind##_holds(const wg_tile *t, unsigned thread, wg_stall *why) \
    { \
        return model_holds(t, WG_UNIT_##kind, thread, why); \
    } \
    static bool kind##_part(const wg_tile *t, unsigned thread, unsigned part) \
    { \
        return model_condition(t, WG_UNIT_##kind, thread, part); \
    } \
    static const wg_unit_ops kind##_ops = {.name = #kind, \
                                           .agent = WG_AGENT_##kind, \
                                           .reset = kind##_reset, \
                                           .check = kind##_check, \
                                           .accept = kind##_accept, \
                                           .tick = kind##_tick, \
                                           .busy = kind##_busy, \
                                           .holds = kind##_holds, \
                                           .part_busy = kind##_part};
enum { WG_AGENT_UNPACK = WG_AGENT_UNPACK0 };
MODEL(UNPACK)
MODEL(MATRIX)
MODEL(PACK)
MODEL(VECTOR)
MODEL(SCALAR)
MODEL(CONFIG)
MODEL(MISC)
MODEL(MOVER)

/* Replaces the library's own table. */
const wg_unit_ops *const wg_units[WG_UNIT_COUNT] = {
    [WG_UNIT_SYNC] = &wg_sync_unit, [WG_UNIT_UNPACK] = &UNPACK_ops, [WG_UNIT_MATRIX] = &MATRIX_ops,
    [WG_UNIT_PACK] = &PACK_ops,     [WG_UNIT_VECTOR] = &VECTOR_ops, [WG_UNIT_SCALAR] = &SCALAR_ops,
    [WG_UNIT_CONFIG] = &CONFIG_ops, [WG_UNIT_MOVER] = &MOVER_ops,   [WG_UNIT_MISC] = &MISC_ops};

void fr_busy(fr *r, wg_unit unit, unsigned part, unsigned thread, bool busy)
{
    uint8_t *b = &r->unit[unit].declared_busy[part];
    *b = (uint8_t)(busy ? *b | 1u << thread : *b & ~(1u << thread));
    wg_wake_threads(&r->t->sched);
    wg_wake_idle_watchers(&r->t->sched);
}

void fr_hold(fr *r, wg_unit unit, unsigned thread, bool hold, wg_stall_reason reason)
{
    fr_unit *u = &r->unit[unit];
    u->declared_hold = (uint8_t)(hold ? u->declared_hold | 1u << thread : u->declared_hold & ~(1u << thread));
    u->hold_reason = (uint16_t)reason;
    wg_wake_threads(&r->t->sched);
}

/* ---- The rig ---------------------------------------------------------------------------------------- */

static void capture(void *user, const wg_event *event)
{
    fr *r = user;
    if (r->events == r->room) {
        r->room = r->room ? 2 * r->room : 4096;
        r->event = realloc(r->event, r->room * sizeof *r->event);
    }
    r->event[r->events++] = *event;
}

fr *fr_new(wg_arch_id arch)
{
    fr *r = calloc(1, sizeof *r);
    r->t = wg_tile_new();
    r->dev.finding = calloc(WG_MAX_FINDINGS, sizeof *r->dev.finding);
    r->dev.stop_at = WG_SEVERITY_NEVER;
    r->dev.tile = r->t;
    r->dev.observer[0] = (wg_observer){WG_EV_ALL, capture, r};
    r->t->dev = &r->dev;
    r->t->arch = wg_arch_of(arch);
    r->t->spec = &r->t->arch->tensix;
    r->t->timing = &r->t->arch->timing[WG_PROFILE_DOCUMENTED];
    r->t->watched = WG_EV_ALL;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        r->t->sched.next[i] = WG_NEVER;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend_reset(r->t, i);
        r->from_t[i].request = calloc(FR_SOURCE, sizeof(fr_request));
        r->from_b[i].request = calloc(FR_SOURCE, sizeof(fr_request));
    }
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++)
        wg_units[unit]->reset(r->t);
    r->t->sched.now = r->offer_from = FR_START;
    return r;
}

void fr_free(fr *r)
{
    for (unsigned i = 0; i < WG_THREADS; i++) {
        free(r->from_t[i].request);
        free(r->from_b[i].request);
    }
    free(r->event);
    free(r->t);
    free(r->dev.finding);
    free(r);
}

static void offer(fr *r, fr_source *s, const uint32_t *words, unsigned count)
{
    assert_true(s->count < FR_SOURCE);
    fr_request *q = &s->request[s->count++];
    memcpy(q->word, words, count * sizeof *words);
    q->count = (uint8_t)count;
    q->from = r->offer_from;
    q->taken = WG_NEVER;
    wg_wake_at(&r->t->sched, WG_AGENT_PUSHES, q->from > r->t->sched.now ? q->from : r->t->sched.now);
}

void fr_push(fr *r, unsigned thread, uint32_t word) { offer(r, &r->from_t[thread], &word, 1); }
void fr_push_b(fr *r, unsigned thread, uint32_t word) { offer(r, &r->from_b[thread], &word, 1); }

void fr_push_fused(fr *r, unsigned thread, const uint32_t *words, unsigned count)
{
    offer(r, &r->from_t[thread], words, count);
}

/* One request per source and cycle; a refused one is offered again when the frontend signals room. */
static void serve(fr *r, fr_source *s, unsigned thread, wg_core_id core)
{
    if (s->head == s->count)
        return;
    fr_request *q = &s->request[s->head];
    wg_stall why;
    if (q->from > r->t->sched.now) {
        wg_wake_at(&r->t->sched, WG_AGENT_PUSHES, q->from);
        return;
    }
    if (!wg_push_words(r->t, thread, core, 0, q->word, q->count, &why))
        return;
    q->taken = r->t->sched.now;
    s->head++;
    if (s->head < s->count)
        wg_wake_at(&r->t->sched, WG_AGENT_PUSHES, r->t->sched.now + 1);
}

static bool take(fr *r, unsigned agent)
{
    wg_schedule *s = &r->t->sched;
    if (!r->lockstep && s->next[agent] > s->now)
        return false;
    if (s->next[agent] <= s->now)
        s->next[agent] = WG_NEVER;
    return true;
}

void fr_cycle(fr *r)
{
    wg_tile *t = r->t;
    t->sched.phase = WG_PHASE_COMPLETIONS;
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++)
        if (take(r, wg_units[unit]->agent))
            wg_units[unit]->tick(t);
    t->sched.phase = WG_PHASE_REGIONS;
    if ((take(r, WG_AGENT_REGIONS) || !r->only_when_due) && r->regions)
        r->regions(r);
    t->sched.phase = WG_PHASE_LATCHES;
    unsigned due = 0;
    for (unsigned i = 0; i < WG_THREADS; i++)
        due |= (unsigned)take(r, WG_AGENT_THREAD0 + i) << i;
    if (due)
        wg_frontends(t, due);
    t->sched.phase = WG_PHASE_PUSH;
    if (take(r, WG_AGENT_PUSHES))
        for (unsigned i = 0; i < WG_THREADS; i++) {
            serve(r, &r->from_b[i], i, WG_CORE_B);
            serve(r, &r->from_t[i], i, (wg_core_id)(WG_CORE_T0 + i));
        }
    t->sched.phase = WG_PHASE_LOAD_STORE;
    if (take(r, WG_AGENT_CORE_T0) && r->cores)
        r->cores(r);
    t->sched.now++;
    t->sched.phase = WG_PHASE_ARRIVALS;
}

void fr_run(fr *r, uint64_t cycles)
{
    wg_schedule *s = &r->t->sched;
    uint64_t end = s->now + cycles;
    while (s->now < end) {
        if (!r->lockstep && (!r->regions || r->only_when_due)) {
            uint64_t next = WG_NEVER;
            for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
                next = s->next[i] < next ? s->next[i] : next;
            s->now = next < end ? (next > s->now ? next : s->now) : end;
            if (s->now == end)
                break;
        }
        fr_cycle(r);
    }
}

unsigned fr_taken(const fr *r, unsigned thread) { return r->from_t[thread].head; }

uint64_t fr_taken_at(const fr *r, unsigned thread, unsigned n)
{
    uint64_t at = r->from_t[thread].request[n].taken;
    return at == WG_NEVER ? at : at - FR_START;
}

const wg_event *fr_event(const fr *r, wg_event_kind kind, int agent, unsigned n)
{
    for (size_t i = 0; i < r->events; i++)
        if (r->event[i].kind == kind && (agent < 0 || r->event[i].agent == agent) && n-- == 0)
            return &r->event[i];
    return NULL;
}

unsigned fr_event_count(const fr *r, wg_event_kind kind, int agent)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->events; i++)
        n += r->event[i].kind == kind && (agent < 0 || r->event[i].agent == agent);
    return n;
}

uint64_t fr_issued(const fr *r, unsigned thread, unsigned n)
{
    const wg_event *e = fr_event(r, WG_EV_ISSUED, (int)(WG_AGENT_THREAD0 + thread), n);
    return e ? e->cycle - FR_START : WG_NEVER;
}

uint32_t fr_issued_word(const fr *r, unsigned thread, unsigned n)
{
    const wg_event *e = fr_event(r, WG_EV_ISSUED, (int)(WG_AGENT_THREAD0 + thread), n);
    return e ? e->word : 0;
}

uint64_t fr_found(const fr *r, wg_finding_code code)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->dev.findings; i++)
        n += r->dev.finding[i].code == code ? r->dev.finding[i].count : 0;
    return n;
}

const wg_finding *fr_finding(const fr *r, wg_finding_code code)
{
    for (size_t i = 0; i < r->dev.findings; i++)
        if (r->dev.finding[i].code == code)
            return &r->dev.finding[i];
    return NULL;
}
