/* SPDX-License-Identifier: Apache-2.0 */
/* Superfluous waits of a program; see waits.h. */
#include "cli/waits.h"
#include "cli/meter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "isa/asm.h"
#include "isa/riscv_word.h"
#include "machine/request.h"

enum {
    SEEDS = 8,
    NOP = 0x13,
    TTNOP = WG_OPCODE_NOP << 24,
    OPCODE_FENCE = 0x0F,
    OPCODE_LOAD = 0x03,
    DRAIN_FIRST = 4,
    DRAIN_LAST = 8
};
static const uint32_t pc_buffer = 0xFFE80000;

/* ---- Which waits were executed ---------------------------------------------------------------------------------- */

bool wg_wait_program_is(const wg_elf *a, const wg_elf *b)
{
    return a == b || (a && b && strcmp(wg_elf_name(a), wg_elf_name(b)) == 0);
}

/* The program of the running tile that has code at `pc`, and where in it that is. */
static wg_elf *program_at(const wg_waits_watch *v, unsigned core, uint32_t pc, uint32_t *address)
{
    for (unsigned i = core < WG_CORES ? v->overlays[core] : 0; i-- > 0;) {
        const wg_overlay *o = &v->overlay[core][i];
        if (pc - o->address < o->bytes) {
            *address = pc - o->address + o->link;
            return o->elf;
        }
    }
    return wg_session_elf(v->running, core, pc, address);
}

/* A kernel has arrived since the core was seen last, perhaps. */
static void see_overlay(wg_waits_watch *v, unsigned core)
{
    const wg_overlay *now = &v->running->overlay[core];
    wg_overlay *seen = v->overlay[core];
    unsigned *count = &v->overlays[core];
    if (!now->elf || (*count && seen[*count - 1].elf == now->elf && seen[*count - 1].address == now->address))
        return;
    if (*count == WG_WAITS_OVERLAYS)
        memmove(seen, seen + 1, --*count * sizeof *seen);
    seen[(*count)++] = *now;
}

static wg_wait_site *site_of(wg_waits *w, const wg_wait_site *like)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->site[i].agent == like->agent && w->site[i].address == like->address && w->site[i].word == like->word &&
            wg_wait_program_is(w->site[i].program, like->program))
            return &w->site[i];
    if (w->count == w->room) {
        size_t room = w->room ? 2 * w->room : 32;
        wg_wait_site *more = wg_realloc(w->site, room * sizeof *more);
        w->failed |= !more;
        if (!more)
            return NULL;
        w->site = more;
        w->room = room;
    }
    w->site[w->count] = *like;
    return &w->site[w->count++];
}

/* The conditional branch that ends a short loop around this load; 0: there is none. */
static uint32_t branch_around(wg_device *dev, uint32_t pc)
{
    enum { LONGEST = 64 };
    uint32_t word;
    for (uint32_t at = pc; at < pc + LONGEST && wg_read(dev, at, &word, 4) == WG_OK; at += 4) {
        const uint32_t to = at + wg_rv_imm_b(word);
        if (wg_rv_opcode(word) == WG_RV_BRANCH && to <= pc && pc - to < LONGEST)
            return at;
        if (wg_rv_opcode(word) == WG_RV_JAL || wg_rv_opcode(word) == WG_RV_JALR)
            break;
    }
    return 0;
}

/* The loop around a load from a NIU; two loads in one loop are one wait. */
static void find_loop(wg_waits_watch *v, wg_wait_site *site)
{
    wg_waits *w = v->w;
    site->branch = branch_around(v->running->dev, site->pc);
    if (site->branch)
        site->branch += site->address - site->pc;
    for (size_t i = 0; site->branch && !site->first && i < w->count; i++)
        if (&w->site[i] != site && w->site[i].agent == site->agent &&
            wg_wait_program_is(w->site[i].program, site->program) && w->site[i].branch == site->branch)
            site->first = w->site[i].first ? w->site[i].first : 1 + i;
}

/* Cores: fences, loads that drain a thread, and loops that read a NIU. */
static void on_event(void *user, const wg_event *e)
{
    wg_waits_watch *v = user;
    wg_waits *w = v->w;
    wg_wait_site like = {.agent = e->agent, .core = e->agent, .pc = e->pc, .s = v->s};
    if (e->agent >= WG_CORES)
        return;
    see_overlay(v, e->agent);
    if (e->kind == WG_EV_CORE_REQUEST) {
        const uint32_t offset = (uint32_t)e->a - pc_buffer;
        const uint8_t path = WG_REQUEST_PATH(e->word);
        like.drain = e->c == WG_REQ_READ && offset >= DRAIN_FIRST && offset <= DRAIN_LAST;
        like.reads = e->c == WG_REQ_READ && (path == WG_PATH_NIU0 || path == WG_PATH_NIU1);
        if (!like.drain && !like.reads)
            return;
    }
    like.program = program_at(v, e->agent, e->pc, &like.address);
    wg_wait_site *site = site_of(w, &like);
    if (!site)
        return;
    if (site->reads && !site->branch)
        find_loop(v, site);
    if (site->reads && !site->branch)
        return;
    site->executed += w->first;
    if (like.drain || like.reads)
        v->last[like.reads][e->agent] = site->first ? site->first : 1 + (size_t)(site - w->site);
}

static bool is_wait(const wg_wait_site *site)
{
    return !site->foreign && (!site->reads || (site->branch && !site->first));
}

static bool expands(uint32_t word) { return wg_opcode(word) == WG_OPCODE_MOP || wg_opcode(word) == WG_OPCODE_REPLAY; }

/* Has the program a MOP or REPLAY where the instruction comes from? */
static bool is_made(const wg_session *s, const wg_wait_site *site)
{
    if (WG_IS_HOST_PC(site->pc)) {
        const wg_tasm_stream *stream = &s->tasm.stream[site->agent - WG_AGENT_THREAD0];
        for (size_t i = 0; s->has_tasm && i < stream->words; i++)
            if (stream->word[i].line == site->pc - WG_HOST_PC && expands(stream->word[i].word))
                return true;
        return false;
    }
    for (size_t i = 0; site->program && i < wg_elf_segments(site->program); i++) {
        const wg_elf_segment *g = wg_elf_segment_at(site->program, i);
        uint32_t word;
        if (g->file_bytes < 4 || site->address - g->address > g->file_bytes - 4)
            continue;
        memcpy(&word, g->data + (site->address - g->address), 4);
        return wg_rv_is_ttinsn(word) && expands(wg_ttinsn_decode(word));
    }
    return false;
}

/* Notes one of the places in memory from which the instruction is made. */
static void note_place(const wg_session *s, wg_wait_site *site, uint32_t pc)
{
    wg_rewrite *r = &site->rewrite;
    unsigned i = 0;
    if (!r->pcs) {
        site->made = is_made(s, site);
        site->everywhere = true;
        r->from = site->word;
        r->thread = (uint8_t)(site->agent - WG_AGENT_THREAD0);
    }
    while (i < r->pcs && r->pc[i] != pc)
        i++;
    if (i < r->pcs)
        return;
    if (r->pcs == WG_REWRITE_PLACES)
        site->everywhere = false;
    else
        r->pc[r->pcs++] = pc;
}

/*
 * A SEMWAIT of a thread that also gets (or posts) the semaphore keeps its count from passing zero (or its maximum).
 * That is the semaphore's own rule, whatever else the wait orders.
 */
static bool keeps_count(const wg_costs *costs, const wg_wait_site *site)
{
    uint32_t semaphores = WG_GET(SEMWAIT, sem_sel, site->word), condition = WG_GET(SEMWAIT, wait_sem_cond, site->word);
    for (size_t i = 0; wg_opcode(site->word) == WG_OPCODE_SEMWAIT && i < costs->table.count; i++) {
        const wg_cost *c = &costs->table.cost[i];
        unsigned opcode = wg_opcode(c->word);
        bool guarded = (opcode == WG_OPCODE_SEMGET && condition & 1) || (opcode == WG_OPCODE_SEMPOST && condition & 2);
        if (c->track == site->agent && guarded && WG_GET(SEMGET, sem_sel, c->word) & semaphores)
            return true;
    }
    return false;
}

/* Has the thread changed a semaphore or taken a mutex, or given one back? */
static bool hands_over(const wg_costs *costs, wg_arch_id arch, unsigned agent)
{
    for (size_t i = 0; i < costs->table.count; i++) {
        const wg_cost *c = &costs->table.cost[i];
        const wg_isa_insn *insn = c->track == agent && c->word ? wg_isa_decode(arch, c->word) : NULL;
        if (insn && insn->block_bits == WG_B1)
            return true;
    }
    return false;
}

/* Threads: from the costs of the run. */
static void add_thread_waits(wg_waits_watch *v)
{
    size_t count;
    wg_waits *w = v->w;
    const wg_costs *costs = v->costs;
    wg_wait_cost *rows = wg_profile_waits(costs, &count);
    w->failed |= !rows && costs->table.count;
    for (size_t i = 0; rows && i < count; i++) {
        const wg_cost *c = &rows[i].cost;
        wg_wait_site like = {.agent = c->track, .core = c->core, .pc = c->pc, .word = c->word, .s = v->s};
        like.program = program_at(v, c->core, c->pc, &like.address);
        wg_wait_site *site = site_of(w, &like);
        if (!site)
            continue;
        note_place(v->s, site, c->pc);
        site->kept |= keeps_count(costs, site);
        site->hands_over |= hands_over(costs, v->s->desc.arch, site->agent);
        site->held_ever += rows[i].cycles;
        site->held += w->first ? rows[i].cycles : 0;
        site->executed_ever += rows[i].executed;
        site->executed += w->first ? rows[i].executed : 0;
    }
    free(rows);
}

bool wg_waits_watch_begin(wg_waits_watch *v, wg_waits *w, wg_session *s, wg_session *running)
{
    wg_device *dev = running->dev;
    *v = (wg_waits_watch){.w = w, .s = s, .running = running, .costs = wg_calloc(1, sizeof *v->costs)};
    if (!v->costs)
        return false;
    wg_costs_begin(v->costs, 0, 0);
    v->costs->to = UINT64_MAX;
    return wg_observe(dev, WG_COSTS_EVENTS, wg_costs_event, v->costs, NULL) == WG_OK &&
           wg_observe(dev, WG_EV_BIT(WG_EV_CORE_FENCE) | WG_EV_BIT(WG_EV_CORE_REQUEST), on_event, v, NULL) == WG_OK;
}

bool wg_waits_watch_end(wg_waits_watch *v)
{
    if (!v->costs)
        return false;
    wg_costs_end(v->costs, wg_cycle(v->running->dev));
    add_thread_waits(v);
    /* The host may rely on a core's last drain and barrier, which no run here shows. */
    for (unsigned i = 0; i < 2; i++)
        for (unsigned core = 0; core < WG_CORES; core++)
            if (v->last[i][core])
                v->w->site[v->last[i][core] - 1].kept = true;
    const bool ok = !v->costs->table.failed && !v->costs->chain.failed && !v->w->failed;
    wg_costs_free(v->costs);
    free(v->costs);
    v->costs = NULL;
    return ok;
}

/* ---- The program without a wait --------------------------------------------------------------------------------- */

static bool change_stream(wg_session *v, const wg_wait_change *c, wg_wait_changed *done)
{
    unsigned thread = c->site->agent - WG_AGENT_THREAD0;
    wg_tasm_stream *stream = &v->tasm.stream[thread];
    size_t words = 0;
    uint32_t line = c->site->pc - WG_HOST_PC, delay = 0;
    bool found = false;
    if (!v->has_tasm || !stream->words || !(done->stream = wg_calloc(stream->words, sizeof *done->stream)))
        return false;
    for (size_t i = 0; i < stream->words; i++) {
        wg_tasm_word w = stream->word[i];
        bool here = w.line == line && w.word == c->site->word;
        found |= here;
        if (here && !c->word) {
            delay += w.delay;
            continue;
        }
        w.word = here ? c->word : w.word;
        w.delay += delay;
        delay = 0;
        done->stream[words++] = w;
    }
    stream->word = done->stream;
    stream->words = words;
    return found;
}

uint32_t wg_wait_place(const wg_wait_site *site) { return site->reads ? site->branch : site->address; }

bool wg_wait_changed_word(const wg_wait_change *c, uint32_t word, uint32_t *to)
{
    const wg_wait_site *site = c->site;
    if (wg_track_is_thread(site->agent) && (!wg_rv_is_ttinsn(word) || wg_ttinsn_decode(word) != site->word))
        return false;
    const uint32_t opcode = site->drain ? OPCODE_LOAD : site->reads ? WG_RV_BRANCH : OPCODE_FENCE;
    if (wg_track_is_core(site->agent) && wg_rv_opcode(word) != opcode)
        return false;
    *to = site->drain ? (word & 0xF80) | NOP : NOP; /* li rd, 0 */
    if (c->word)
        *to = wg_ttinsn_encode(c->word);
    return true;
}

bool wg_wait_change_code(wg_device *dev, const wg_wait_change *c, wg_wait_changed *done)
{
    wg_wait_site *site = c->site;
    const uint32_t at = wg_wait_place(site);
    uint32_t word, to;
    if (site->made) {
        site->rewrite.to = c->word ? c->word : TTNOP;
        wg_device_rewrite(dev, &site->rewrite);
        return site->everywhere;
    }
    if (at >= wg_l1_bytes(dev) || wg_read(dev, at, &word, 4) != WG_OK || !wg_wait_changed_word(c, word, &to))
        return false;
    done->at = at;
    done->original = word;
    return wg_write(dev, at, &to, 4) == WG_OK;
}

void wg_wait_restore_code(wg_device *dev, const wg_wait_changed *done)
{
    if (done->at)
        wg_write(dev, done->at, &done->original, 4);
}

/* ---- One run ------------------------------------------------------------------------------------------------------ */

bool wg_waits_any_race(wg_session *v)
{
    for (size_t i = 0; i < wg_races_count(v->races); i++)
        if (!wg_check_ignores(v, wg_races_at(v->races, i)))
            return true;
    return false;
}

static wg_wait_outcome run_changed(void *of, const wg_wait_change *c, uint64_t seed, wg_text *error)
{
    wg_session v, *s = of;
    wg_wait_changed done = {0};
    wg_wait_outcome o = {0};
    bool begun = wg_again_begin(&v, s, seed, NULL, error);
    if (begun && c->site)
        begun = WG_IS_HOST_PC(c->site->pc) && !c->site->made ? change_stream(&v, c, &done)
                                                             : wg_wait_change_code(v.dev, c, &done);
    if (begun && wg_drive_silently(&v)) {
        o.ran = true;
        o.cycles = wg_cycle(v.dev);
        o.good = v.ended == s->ended && !wg_waits_any_race(&v) && wg_finding_count(v.dev) <= wg_finding_count(s->dev) &&
                 wg_again_values_hold(&v);
        o.forgotten = wg_races_forgotten(v.races);
        wg_wait_restore_code(v.dev, &done);
        o.results = o.good ? wg_outcome_registers(v.dev, wg_outcome_l1(v.dev)) : 0;
    }
    wg_again_end(&v);
    free(done.stream);
    return o;
}

typedef struct judge {
    const wg_waits_of *of;
    uint64_t spent;
    uint64_t cycles, results;  /* of the unchanged program */
    uint64_t forgotten[SEEDS]; /* likewise, with each timing: a change must not make the detector forget more */
    wg_text *error;
} judge;

typedef enum verdict { GOOD, BAD, UNKNOWN } verdict;

/* Does the program behave the same with this change, under every timing? *cycles: of the unperturbed run. */
static verdict try_change(judge *g, const wg_wait_change *c, uint64_t *cycles)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const wg_waits_of *of = g->of;
        wg_wait_outcome o = g->spent < of->s->verify_cycles ? of->run(of->of, c, seed, g->error) : (wg_wait_outcome){0};
        g->spent += o.cycles;
        if (!o.ran)
            return UNKNOWN;
        if (!seed)
            *cycles = o.cycles;
        if (!c->site && !seed)
            g->results = o.results;
        if (!c->site)
            g->forgotten[seed] = o.forgotten;
        if (!o.good || o.results != g->results || o.forgotten > g->forgotten[seed])
            return BAD;
    }
    return GOOD;
}

/* ---- Verdicts ------------------------------------------------------------------------------------------------------ */

static void try_narrower(judge *g, wg_wait_site *site)
{
    uint32_t word = site->word, conditions = wg_wait_conditions(wg_arch_of(g->of->s->desc.arch), word);
    uint64_t cycles = g->cycles;
    if (wg_opcode(word) != WG_OPCODE_STALLWAIT)
        return;
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t mask = UINT32_C(1) << bit;
        bool is_condition = conditions & mask, is_block = word & mask && !is_condition && bit < 24;
        uint32_t less = word & ~mask;
        /* An empty mask has another meaning. */
        if ((!is_condition && !is_block) || (is_condition && conditions == mask) ||
            (is_block && !WG_GET(STALLWAIT, stall_res, less)))
            continue;
        if (try_change(g, &(wg_wait_change){site, less}, &cycles) != GOOD)
            continue;
        word = less;
        conditions = wg_wait_conditions(wg_arch_of(g->of->s->desc.arch), word);
        site->saves = (int64_t)g->cycles - (int64_t)cycles;
    }
    if (word != site->word) {
        site->is = WG_WAITS_NARROWER;
        site->narrower = word;
    }
}

/*
 * Can these runs tell whether a STALLWAIT is needed? Yes, if there was never anything to wait for (a wait whose
 * condition holds costs a cycle, GATE-04). Otherwise not if it holds back semaphores and mutexes of a thread that has
 * any, since the data that they hand over may be used only in a later round, or by the host; and not if it waits for the Matrix Unit, the Vector
 * Unit, a source bank or the Configuration Unit, whose reads and writes the timings do not vary.
 */
static bool can_tell(const wg_session *s, const wg_wait_site *site)
{
    const wg_arch *arch = wg_arch_of(s->desc.arch);
    if (!wg_track_is_thread(site->agent) || site->held_ever <= site->executed_ever ||
        wg_opcode(site->word) == WG_OPCODE_SEMWAIT)
        return true;
    uint32_t block = WG_GET(STALLWAIT, stall_res, site->word), conditions = wg_wait_conditions(arch, site->word);
    if (wg_opcode(site->word) != WG_OPCODE_STALLWAIT || !block || (block & WG_B1 && site->hands_over))
        return false;
    for (uint32_t rest = conditions ? conditions : arch->wait_default; rest; rest &= rest - 1)
        switch ((wg_wait_condition)arch->wait_conditions[__builtin_ctz(rest)]) {
        case WG_WAIT_SCALAR_MEMORY:
        case WG_WAIT_UNPACK0:
        case WG_WAIT_UNPACK1:
        case WG_WAIT_PACK0:
        case WG_WAIT_PACK1:
        case WG_WAIT_PACK2:
        case WG_WAIT_PACK3:
        case WG_WAIT_MOVER:
        case WG_WAIT_RISCV_REQUESTS: break;
        case WG_WAIT_MATRIX:
        case WG_WAIT_VECTOR:
        case WG_WAIT_SRCA_UNPACKERS:
        case WG_WAIT_SRCB_UNPACKERS:
        case WG_WAIT_SRCA_MATRIX:
        case WG_WAIT_SRCB_MATRIX:
        case WG_WAIT_CONFIG:
        case WG_WAIT_NOTHING:
        case WG_WAIT_COUNT: return false;
        }
    return true;
}

static void judge_site(judge *g, wg_wait_site *site)
{
    uint64_t cycles = 0;
    site->by_rule = site->kept || !can_tell(g->of->s, site);
    if (site->by_rule)
        return;
    switch (try_change(g, &(wg_wait_change){.site = site}, &cycles)) {
    case UNKNOWN: site->is = WG_WAITS_UNTRIED; break;
    case BAD:
        site->is = WG_WAITS_NEEDED;
        try_narrower(g, site);
        break;
    case GOOD:
        site->saves = (int64_t)g->cycles - (int64_t)cycles;
        site->is =
            wg_track_is_thread(site->agent) && site->held_ever <= site->executed_ever ? WG_WAITS_FREE : WG_WAITS_REMOVE;
        break;
    }
}

/* Runs the unchanged program, and records its waits. */
static bool collect(void *of, wg_waits *w, uint64_t seed, wg_text *error)
{
    wg_session v, *s = of;
    wg_waits_watch watch = {0};
    bool ok =
        wg_again_begin(&v, s, seed, NULL, error) && wg_waits_watch_begin(&watch, w, s, &v) && wg_drive_silently(&v);
    if (!wg_waits_watch_end(&watch))
        ok = false;
    wg_again_end(&v);
    return ok;
}

static int by_gain(const void *left, const void *right)
{
    const wg_wait_site *a = left, *b = right;
    if (a->saves != b->saves)
        return a->saves > b->saves ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

wg_waits *wg_waits_judged(const wg_waits_of *of, wg_text *error)
{
    wg_waits *w = wg_calloc(1, sizeof *w);
    judge g = {.of = of, .cycles = of->cycles, .error = error};
    bool ok = w != NULL;
    if (ok)
        w->why_not = of->why_not;
    for (uint64_t seed = 0; ok && !w->why_not && seed < SEEDS; seed++) {
        w->first = seed == 0;
        ok = of->collect(of->of, w, seed, error);
    }
    size_t waits = 0;
    for (size_t i = 0; ok && i < w->count; i++)
        if (is_wait(&w->site[i]))
            w->site[waits++] = w->site[i];
    if (ok)
        w->count = waits;
    if (ok && !w->why_not && w->count && try_change(&g, &(wg_wait_change){0}, &g.cycles) != GOOD)
        w->why_not = "its results or findings depend on the timing, or --verify allows too few cycles";
    for (size_t i = 0; ok && !w->why_not && i < w->count && !error->size; i++)
        judge_site(&g, &w->site[i]);
    if (ok && !error->size) {
        if (w->count)
            qsort(w->site, w->count, sizeof *w->site, by_gain);
        return w;
    }
    if (!error->size)
        wg_textf(error, "waitgate: --waits: out of memory\n");
    wg_waits_free(w);
    return NULL;
}

bool wg_waits_judge(wg_session *s, wg_text *error)
{
    if (!s->args->value[WG_OPT_WAITS])
        return true;
    wg_waits_of of = {.of = s, .s = s, .cycles = wg_cycle(s->dev), .collect = collect, .run = run_changed};
    if (s->ended != WG_ENDED_DONE && s->ended != WG_ENDED_UNTIL)
        of.why_not = "the run does not end by itself";
    else if (wg_waits_any_race(s))
        of.why_not = "the program has races; what a wait is for shows only without them";
    /* The waits are collected in SEEDS runs that --verify does not count. */
    const uint64_t collecting = SEEDS * of.cycles;
    wg_meter meter = wg_meter_begin(
        "trying waits", 0, s->verify_cycles < UINT64_MAX - collecting ? s->verify_cycles + collecting : UINT64_MAX);
    s->meter = &meter;
    s->waits = wg_waits_judged(&of, error);
    wg_meter_end(&meter);
    s->meter = NULL;
    return s->waits;
}

void wg_waits_free(wg_waits *w)
{
    if (w)
        free(w->site);
    free(w);
}

/* ---- Report --------------------------------------------------------------------------------------------------------- */

static const char *const verdicts[WG_WAITS_VERDICTS] = {"needed", "free", "remove", "narrower", "not-tried"};

static bool site_source(const wg_wait_site *site, wg_source *out)
{
    wg_elf *elf[WG_CORES] = {0};
    if (!site->program || site->core >= WG_CORES)
        return wg_session_source(site->s, site->core, site->pc, out);
    elf[site->core] = site->program;
    *out = (wg_source){0};
    return wg_source_in(elf, site->core, site->address, out);
}

static void wait_text(const wg_wait_site *site, uint32_t word, char *room, size_t bytes)
{
    if (wg_track_is_thread(site->agent))
        wg_disassemble(site->s->desc.arch, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, room, bytes);
    else
        snprintf(room, bytes, "%s",
                 site->drain   ? "drain (tensix_sync)"
                 : site->reads ? "loop that reads a NIU (barrier)"
                               : "fence");
}

static void advice(const wg_wait_site *site, wg_text *out)
{
    char text[WG_DIS_MAX];
    if (site->is == WG_WAITS_NARROWER) {
        wait_text(site, site->narrower, text, sizeof text);
        wg_textf(out, "enough: %s", text);
    } else {
        wg_textf(out, "not needed%s", site->is == WG_WAITS_FREE ? "; there was never anything to wait for" : "");
    }
    if (site->made && site->is != WG_WAITS_NARROWER)
        wg_textf(out, "; with a NOP in its place");
    if (site->saves > 0)
        wg_textf(out, "; saves %lld cycle%s", (long long)site->saves, site->saves == 1 ? "" : "s");
    else
        wg_textf(out, "; saves nothing here");
}

void wg_report_waits(const wg_waits *w, wg_text *out)
{
    size_t by_rule = 0, count[WG_WAITS_VERDICTS] = {0};
    if (w->why_not) {
        wg_textf(out, "\nWaits were not judged: %s.\n", w->why_not);
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        count[w->site[i].is]++, by_rule += w->site[i].by_rule;
    size_t listed = count[WG_WAITS_FREE] + count[WG_WAITS_REMOVE] + count[WG_WAITS_NARROWER];
    if (listed)
        wg_textf(
            out,
            "\nWaits that are not needed, or not in full. Each was changed alone and the program run %u times, with\n"
            "different timings: no report, the same results.\n",
            SEEDS);
    for (size_t i = 0; i < w->count; i++) {
        const wg_wait_site *site = &w->site[i];
        char where[256], text[WG_DIS_MAX];
        if (site->is == WG_WAITS_NEEDED || site->is == WG_WAITS_UNTRIED)
            continue;
        wait_text(site, site->word, text, sizeof text);
        wg_source source;
        site_source(site, &source);
        wg_textf(out, "  %s at %s: %s%s\n    ", wg_agent_name(site->agent),
                 wg_source_text(&source, where, sizeof where), text, site->made ? ", made by MOP or REPLAY" : "");
        advice(site, out);
        wg_textf(out, ".\n");
    }
    wg_textf(out, "%s%zu of %zu waits are needed as they are", listed ? "" : "\n", count[WG_WAITS_NEEDED], w->count);
    wg_textf(out, by_rule ? ", %zu of them by rule: runs cannot tell (docs/races.md).\n" : ".\n", by_rule);
    if (count[WG_WAITS_UNTRIED])
        wg_textf(out, "%zu were not tried: they are not in L1, or --verify allows too few cycles.\n",
                 count[WG_WAITS_UNTRIED]);
}

void wg_report_waits_json(const wg_waits *w, wg_json *j)
{
    if (w->why_not)
        wg_json_text(j, "waits_not_judged", w->why_not);
    wg_json_open(j, "waits", '[');
    for (size_t i = 0; !w->why_not && i < w->count; i++) {
        const wg_wait_site *site = &w->site[i];
        wg_source source = {0};
        char text[WG_DIS_MAX], number[32];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "who", wg_agent_name(site->agent));
        wait_text(site, site->word, text, sizeof text);
        wg_json_text(j, "instruction", text);
        wg_json_hex(j, "pc", site->pc);
        if (site_source(site, &source) && source.file) {
            wg_json_text(j, "file", source.file);
            wg_json_uint(j, "line", source.line);
        }
        wg_json_text(j, "verdict", verdicts[site->is]);
        wg_json_bool(j, "by_rule", site->by_rule);
        if (site->made)
            wg_json_bool(j, "made", true);
        wg_json_uint(j, "executed", site->executed);
        if (wg_track_is_thread(site->agent))
            wg_json_uint(j, "held", site->held);
        if (site->is == WG_WAITS_NARROWER) {
            wait_text(site, site->narrower, text, sizeof text);
            wg_json_text(j, "enough", text);
        }
        snprintf(number, sizeof number, "%lld", (long long)site->saves);
        wg_json_raw(j, "saves", number);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}
