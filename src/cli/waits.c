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

enum { SEEDS = 8, NOP = 0x13, OPCODE_FENCE = 0x0F, OPCODE_LOAD = 0x03, DRAIN_FIRST = 4, DRAIN_LAST = 8 };
static const uint32_t pc_buffer = 0xFFE80000;

/* ---- Which waits were executed ---------------------------------------------------------------------------------- */

static wg_wait_site *site_of(wg_waits *w, const wg_wait_site *like)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->site[i].agent == like->agent && w->site[i].pc == like->pc && w->site[i].word == like->word)
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

/* Cores: fences, loads that drain a thread, and loops that read a NIU. */
static void on_event(void *user, const wg_event *e)
{
    wg_waits *w = user;
    wg_wait_site like = {.agent = e->agent, .core = e->agent, .pc = e->pc};
    if (e->kind == WG_EV_CORE_REQUEST) {
        const uint32_t offset = (uint32_t)e->a - pc_buffer;
        const uint8_t path = WG_REQUEST_PATH(e->word);
        like.drain = e->c == WG_REQ_READ && offset >= DRAIN_FIRST && offset <= DRAIN_LAST;
        like.reads = e->c == WG_REQ_READ && (path == WG_PATH_NIU0 || path == WG_PATH_NIU1);
        if (!like.drain && !like.reads)
            return;
    }
    wg_wait_site *site = e->agent < WG_CORES ? site_of(w, &like) : NULL;
    if (!site)
        return;
    if (site->reads && !site->branch)
        site->branch = branch_around(w->dev, site->pc);
    if (site->reads && !site->branch)
        return;
    site->executed += w->first;
    for (size_t i = 0; (like.drain || like.reads) && i < w->count; i++)
        /* the host may rely on a core's last one, which no run here shows */
        if (w->site[i].agent == e->agent && w->site[i].drain == like.drain && w->site[i].reads == like.reads)
            w->site[i].kept = &w->site[i] == site;
}

static bool is_wait(const wg_wait_site *site) { return !site->reads || site->branch; }

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

/* Threads: from the costs of the run. */
static void add_thread_waits(wg_waits *w, const wg_costs *costs)
{
    size_t count;
    wg_wait_cost *rows = wg_profile_waits(costs, &count);
    w->failed |= !rows && costs->table.count;
    for (size_t i = 0; rows && i < count; i++) {
        const wg_cost *c = &rows[i].cost;
        wg_wait_site *site =
            site_of(w, &(wg_wait_site){.agent = c->track, .core = c->core, .pc = c->pc, .word = c->word});
        if (!site)
            continue;
        site->held_ever += rows[i].cycles;
        site->held += w->first ? rows[i].cycles : 0;
        site->executed_ever += rows[i].executed;
        site->executed += w->first ? rows[i].executed : 0;
    }
    free(rows);
    for (size_t i = 0; i < w->count; i++)
        if (wg_track_is_thread(w->site[i].agent))
            w->site[i].kept |= keeps_count(costs, &w->site[i]);
}

/* ---- The program without a wait --------------------------------------------------------------------------------- */

/* A wait, and its replacement. */
typedef struct change {
    const wg_wait_site *site; /* NULL: the unchanged program */
    uint32_t word;            /* 0: nothing */
} change;

typedef struct changed {
    wg_tasm_word *stream;
    uint32_t at, original; /* in L1; at 0: nothing was changed there */
} changed;

static bool change_stream(wg_session *v, const change *c, changed *done)
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

static bool change_code(wg_session *v, const change *c, changed *done)
{
    const wg_wait_site *site = c->site;
    const uint32_t pc = site->reads ? site->branch : site->pc;
    uint32_t word, to = NOP;
    if (pc >= wg_l1_bytes(v->dev) || wg_read(v->dev, pc, &word, 4) != WG_OK)
        return false;
    if (wg_track_is_thread(site->agent) && (!wg_rv_is_ttinsn(word) || wg_ttinsn_decode(word) != site->word))
        return false; /* an expander produced it */
    const uint32_t opcode = site->drain ? OPCODE_LOAD : site->reads ? WG_RV_BRANCH : OPCODE_FENCE;
    if (wg_track_is_core(site->agent) && wg_rv_opcode(word) != opcode)
        return false;
    if (site->drain)
        to = (word & 0xF80) | NOP; /* li rd, 0 */
    if (c->word)
        to = wg_ttinsn_encode(c->word);
    done->at = pc;
    done->original = word;
    return wg_write(v->dev, pc, &to, 4) == WG_OK;
}

/* ---- One run ------------------------------------------------------------------------------------------------------ */

typedef struct outcome {
    bool ran, good;
    uint64_t cycles, results; /* results: a hash */
} outcome;

static bool any_race(const wg_session *v)
{
    for (size_t i = 0; i < wg_races_count(v->races); i++)
        if (wg_race_severity(wg_races_at(v->races, i)->kind) > WG_SEVERITY_NOTE)
            return true;
    return false;
}

static outcome run_changed(wg_session *s, const change *c, uint64_t seed, wg_text *error)
{
    wg_session v;
    changed done = {0};
    outcome o = {0};
    bool begun = wg_again_begin(&v, s, seed, NULL, error);
    if (begun && c->site)
        begun = WG_IS_HOST_PC(c->site->pc) ? change_stream(&v, c, &done) : change_code(&v, c, &done);
    if (begun && wg_drive_silently(&v)) {
        o.ran = true;
        o.cycles = wg_cycle(v.dev);
        o.good = v.ended == s->ended && !any_race(&v) && wg_finding_count(v.dev) <= wg_finding_count(s->dev) &&
                 wg_races_forgotten(v.races) <= wg_races_forgotten(s->races) && wg_again_values_hold(&v);
        if (done.at)
            wg_write(v.dev, done.at, &done.original, 4);
        o.results = o.good ? wg_again_registers(v.dev, wg_again_hash(v.dev)) : 0;
    }
    wg_again_end(&v);
    free(done.stream);
    return o;
}

typedef struct judge {
    wg_session *s;
    uint64_t spent;
    uint64_t cycles, results; /* of the unchanged program */
    wg_text *error;
} judge;

typedef enum verdict { GOOD, BAD, UNKNOWN } verdict;

/* Does the program behave the same with this change, under every timing? *cycles: of the unperturbed run. */
static verdict try_change(judge *g, const change *c, uint64_t *cycles)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        outcome o = g->spent < g->s->verify_cycles ? run_changed(g->s, c, seed, g->error) : (outcome){0};
        g->spent += o.cycles;
        if (!o.ran)
            return UNKNOWN;
        if (!seed)
            *cycles = o.cycles;
        if (!c->site && !seed)
            g->results = o.results;
        if (!o.good || o.results != g->results)
            return BAD;
    }
    return GOOD;
}

/* ---- Verdicts ------------------------------------------------------------------------------------------------------ */

static void try_narrower(judge *g, wg_wait_site *site)
{
    uint32_t word = site->word, conditions = wg_wait_conditions(wg_arch_of(g->s->desc.arch), word);
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
        if (try_change(g, &(change){site, less}, &cycles) != GOOD)
            continue;
        word = less;
        conditions = wg_wait_conditions(wg_arch_of(g->s->desc.arch), word);
        site->saves = (int64_t)g->cycles - (int64_t)cycles;
    }
    if (word != site->word) {
        site->is = WG_WAITS_NARROWER;
        site->narrower = word;
    }
}

/*
 * Can these runs tell whether a STALLWAIT is needed? Yes, if there was never anything to wait for (a wait whose
 * condition holds costs a cycle, GATE-04). Otherwise not if it holds back semaphores and mutexes, since the data that
 * it hands over may be used only in a later round, or by the host; and not if it waits for the Matrix Unit, the Vector
 * Unit, a source bank or the Configuration Unit, whose reads and writes the timings do not vary.
 */
static bool can_tell(const wg_session *s, const wg_wait_site *site)
{
    const wg_arch *arch = wg_arch_of(s->desc.arch);
    if (!wg_track_is_thread(site->agent) || site->held_ever <= site->executed_ever ||
        wg_opcode(site->word) == WG_OPCODE_SEMWAIT)
        return true;
    uint32_t block = WG_GET(STALLWAIT, stall_res, site->word), conditions = wg_wait_conditions(arch, site->word);
    if (wg_opcode(site->word) != WG_OPCODE_STALLWAIT || !block || block & WG_B1)
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
    if (site->kept || !can_tell(g->s, site))
        return;
    switch (try_change(g, &(change){.site = site}, &cycles)) {
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
static bool collect(wg_session *s, wg_waits *w, uint64_t seed, wg_text *error)
{
    wg_session v;
    wg_costs *costs = wg_calloc(1, sizeof *costs);
    w->first = seed == 0;
    bool ok = wg_again_begin(&v, s, seed, NULL, error) && costs;
    w->dev = v.dev;
    if (ok) {
        wg_costs_begin(costs, 0, 0);
        costs->to = UINT64_MAX;
        ok = wg_observe(v.dev, WG_COSTS_EVENTS, wg_costs_event, costs, NULL) == WG_OK &&
             wg_observe(v.dev, WG_EV_BIT(WG_EV_CORE_FENCE) | WG_EV_BIT(WG_EV_CORE_REQUEST), on_event, w, NULL) ==
                 WG_OK &&
             wg_drive_silently(&v);
    }
    if (ok) {
        wg_costs_end(costs, wg_cycle(v.dev));
        add_thread_waits(w, costs);
    }
    w->dev = NULL;
    ok = ok && !w->failed && !costs->table.failed && !costs->chain.failed;
    if (!ok && !error->size)
        wg_textf(error, "waitgate: --waits: out of memory\n");
    if (costs)
        wg_costs_free(costs);
    free(costs);
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

bool wg_waits_judge(wg_session *s, wg_text *error)
{
    if (!s->args->value[WG_OPT_WAITS])
        return true;
    wg_waits *w = s->waits = wg_calloc(1, sizeof *w);
    judge g = {.s = s, .cycles = wg_cycle(s->dev), .error = error};
    if (!w) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    if (s->ended != WG_ENDED_DONE && s->ended != WG_ENDED_UNTIL)
        w->why_not = "the run does not end by itself";
    else if (any_race(s))
        w->why_not = "the program has races; what a wait is for shows only without them";
    /* The waits are collected in SEEDS runs that --verify does not count. */
    const uint64_t collecting = SEEDS * g.cycles;
    wg_meter meter = wg_meter_begin(
        "trying waits", 0, s->verify_cycles < UINT64_MAX - collecting ? s->verify_cycles + collecting : UINT64_MAX);
    s->meter = &meter;
    bool ok = true;
    for (uint64_t seed = 0; ok && !w->why_not && seed < SEEDS; seed++)
        ok = collect(s, w, seed, error);
    size_t waits = 0;
    for (size_t i = 0; i < w->count; i++)
        if (is_wait(&w->site[i]))
            w->site[waits++] = w->site[i];
    w->count = waits;
    if (ok && !w->why_not && w->count && try_change(&g, &(change){0}, &g.cycles) != GOOD)
        w->why_not = "its results depend on the timing, or --verify allows too few cycles";
    for (size_t i = 0; ok && !w->why_not && i < w->count && !error->size; i++)
        judge_site(&g, &w->site[i]);
    wg_meter_end(&meter);
    s->meter = NULL;
    if (!ok)
        return false;
    if (w->count)
        qsort(w->site, w->count, sizeof *w->site, by_gain);
    return !error->size;
}

void wg_waits_free(wg_waits *w)
{
    if (w)
        free(w->site);
    free(w);
}

/* ---- Report --------------------------------------------------------------------------------------------------------- */

static const char *const verdicts[WG_WAITS_VERDICTS] = {"needed", "free", "remove", "narrower", "not-tried"};

static void wait_text(wg_session *s, const wg_wait_site *site, uint32_t word, char *room, size_t bytes)
{
    if (wg_track_is_thread(site->agent))
        wg_disassemble(s->desc.arch, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, room, bytes);
    else
        snprintf(room, bytes, "%s",
                 site->drain   ? "drain (tensix_sync)"
                 : site->reads ? "loop that reads a NIU (barrier)"
                               : "fence");
}

static void advice(wg_session *s, const wg_wait_site *site, wg_text *out)
{
    char text[WG_DIS_MAX];
    if (site->is == WG_WAITS_NARROWER) {
        wait_text(s, site, site->narrower, text, sizeof text);
        wg_textf(out, "enough: %s", text);
    } else {
        wg_textf(out, "not needed%s", site->is == WG_WAITS_FREE ? "; there was never anything to wait for" : "");
    }
    if (site->saves > 0)
        wg_textf(out, "; saves %lld cycle%s", (long long)site->saves, site->saves == 1 ? "" : "s");
    else
        wg_textf(out, "; saves nothing here");
}

void wg_report_waits(wg_session *s, wg_text *out)
{
    const wg_waits *w = s->waits;
    size_t count[WG_WAITS_VERDICTS] = {0};
    if (w->why_not) {
        wg_textf(out, "\nWaits were not judged: %s.\n", w->why_not);
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        count[w->site[i].is]++;
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
        wait_text(s, site, site->word, text, sizeof text);
        wg_textf(out, "  %s at %s: %s\n    ", wg_agent_name(site->agent),
                 wg_place(s, site->core, site->pc, where, sizeof where), text);
        advice(s, site, out);
        wg_textf(out, ".\n");
    }
    wg_textf(out, "%s%zu of %zu waits are needed as they are.\n", listed ? "" : "\n", count[WG_WAITS_NEEDED], w->count);
    if (count[WG_WAITS_UNTRIED])
        wg_textf(out,
                 "%zu were not tried: an expander makes them, they are not in L1, or --verify allows too few cycles.\n",
                 count[WG_WAITS_UNTRIED]);
}

void wg_report_waits_json(wg_session *s, wg_json *j)
{
    const wg_waits *w = s->waits;
    if (w->why_not)
        wg_json_text(j, "waits_not_judged", w->why_not);
    wg_json_open(j, "waits", '[');
    for (size_t i = 0; !w->why_not && i < w->count; i++) {
        const wg_wait_site *site = &w->site[i];
        wg_source source = {0};
        char text[WG_DIS_MAX], number[32];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "who", wg_agent_name(site->agent));
        wait_text(s, site, site->word, text, sizeof text);
        wg_json_text(j, "instruction", text);
        wg_json_hex(j, "pc", site->pc);
        if (wg_session_source(s, site->core, site->pc, &source) && source.file) {
            wg_json_text(j, "file", source.file);
            wg_json_uint(j, "line", source.line);
        }
        wg_json_text(j, "verdict", verdicts[site->is]);
        wg_json_uint(j, "executed", site->executed);
        if (wg_track_is_thread(site->agent))
            wg_json_uint(j, "held", site->held);
        if (site->is == WG_WAITS_NARROWER) {
            wait_text(s, site, site->narrower, text, sizeof text);
            wg_json_text(j, "enough", text);
        }
        snprintf(number, sizeof number, "%lld", (long long)site->saves);
        wg_json_raw(j, "saves", number);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}
