/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontend: instruction cache, prefetcher, branch predictor.
 *
 * The cache is two-way set associative with 16-byte lines and LRU replacement. Entering a line prefetches the next three; on
 * Wormhole, those on the predicted path. A loop slightly longer than the cache shows the prefetch: it costs hardly more than
 * one that fits (measured on 18 rows). Blackhole's organisation follows from measured loop bodies: up to 4096 bytes nothing
 * misses, at 5120 the three fifths of the lines whose sets hold three of them, from 6144 on every line; and two lines in
 * flight with ten cycles each make five cycles per line of four instructions.
 * Decided here: Wormhole has the same organisation. Only its sizes are documented; its times were measured (wh.c).
 *
 * Predecoded instructions live and die with their line: stale code executes, and is reported.
 *
 * Facts: InstructionCache.md, InstructionRAM.md, CSRs.md (switches), BackendConfiguration.md.
 * The predictor remembers the last directions of branches and direct jumps in a table indexed by pc; others are predicted not
 * taken (measured: bh.c, wh.c).
 * Decided here: it has a return stack, and remembers the last target of each indirect jump.
 */
#include "riscv/internal.h"
#include "riscv/pipeline.h"

#include <string.h>

enum { LINE = 16, PREFETCH_LINES = 3 };

static unsigned sets_of(const wg_tile *t, unsigned core) { return t->spec->core[core].icache_bytes / LINE / 2u; }

static wg_icache_line *lookup(wg_tile *t, unsigned core, uint32_t line)
{
    wg_core *k = &t->core[core];
    unsigned set = line / LINE & (sets_of(t, core) - 1);
    for (unsigned way = 0; way < 2; way++) {
        wg_icache_line *l = &k->icache[set * 2 + way];
        if ((l->tag & ~(uint32_t)WG_LINE_STALE) == (line | WG_LINE_VALID))
            return l;
    }
    return NULL;
}

static wg_fetch *under_way(wg_core *k, uint32_t line)
{
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (k->run.fetch[i].used && k->run.fetch[i].line == line)
            return &k->run.fetch[i];
    return NULL;
}

static unsigned in_flight(const wg_core *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < WG_FETCHES; i++)
        n += k->run.fetch[i].used;
    return n;
}

/* Requests `line` at emit_at; false if the maximum number of fetches is in flight. */
static bool request(wg_tile *t, unsigned core, uint32_t line, uint64_t emit_at, bool prefetch)
{
    wg_core *k = &t->core[core];
    if (in_flight(k) >= t->timing->fetch_in_flight)
        return false;
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (k->run.fetch[i].used && k->run.fetch[i].emit_at == emit_at)
            emit_at++; /* one per cycle */
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (!k->run.fetch[i].used) {
            k->run.fetch[i] = (wg_fetch){.used = true,
                                         .prefetch = prefetch,
                                         .line = line,
                                         .emit_at = emit_at,
                                         .ready = WG_NEVER,
                                         .earliest = emit_at};
            return true;
        }
    return false;
}

/* The line after `line` on the predicted path. */
static uint32_t line_after(wg_tile *t, unsigned core, uint32_t line)
{
    wg_core *k = &t->core[core];
    const wg_icache_line *l = lookup(t, core, line);
    const unsigned entries = wg_predictor(t, core);
    if (l && entries)
        for (unsigned i = 0; i < WG_LINE_OPS; i++) {
            const wg_op *op = &l->op[i];
            if ((wg_is_branch(op->code) || op->code == WG_OP_JAL) && wg_predict_settled(k, entries, line + 4 * i, true))
                return op->imm & ~(uint32_t)(LINE - 1);
        }
    return line + LINE;
}

/* Prefetches the lines after this one. Are they all present or in flight? */
static bool ask_ahead(wg_tile *t, unsigned core, uint32_t line, uint64_t at)
{
    wg_core *k = &t->core[core];
    bool all = true;
    if (k->csr.cfg0 & WG_CFG0_DIS_IC_PREFETCH)
        return true;
    uint32_t next = line;
    for (unsigned i = 1; i <= PREFETCH_LINES; i++) {
        next = line_after(t, core, next);
        if (next >= t->spec->l1_bytes || lookup(t, core, next))
            continue;
        all = false;
        if (!under_way(k, next))
            request(t, core, next, at + 1, true);
    }
    return all;
}

static wg_icache_line *iram_line(wg_tile *t, unsigned core, uint32_t pc)
{
    uint32_t line = pc & ~(uint32_t)(LINE - 1);
    wg_icache_line *l = &t->core[core].icache[sets_of(t, core) * 2 + line / LINE % WG_IRAM_LINES];
    if (l->tag != (line | WG_LINE_VALID)) {
        uint32_t word[WG_LINE_OPS];
        memcpy(word, t->regions.memory.iram + (line - WG_IRAM_BASE), sizeof word);
        wg_decode_line(t, core, line, word, l);
    }
    l->checked = t->core[core].epoch;
    return l;
}

wg_icache_line *wg_fetch_line(wg_tile *t, unsigned core, uint32_t pc, uint64_t at)
{
    wg_core *k = &t->core[core];
    uint32_t line = pc & ~(uint32_t)(LINE - 1);
    if (wg_in_iram(t, core, pc))
        return iram_line(t, core, pc);
    wg_icache_line *l = lookup(t, core, line);
    if (!l) {
        if (line < t->spec->l1_bytes && !under_way(k, line))
            request(t, core, line, at + 1, false);
        return NULL;
    }
    k->run.lru[(unsigned)(l - k->icache) / 2] = (uint8_t)((l - k->icache) & 1);
    return l;
}

void wg_fetch_ahead(wg_tile *t, unsigned core, wg_icache_line *line, uint64_t e)
{
    wg_core *k = &t->core[core];
    if (line->checked != k->epoch && ask_ahead(t, core, line->tag & ~(uint32_t)(LINE - 1), e))
        line->checked = k->epoch;
}

const wg_icache_line *wg_fetch_peek(const wg_tile *t, unsigned core, uint32_t pc)
{
    const wg_core *k = &t->core[core];
    uint32_t line = pc & ~(uint32_t)(LINE - 1);
    unsigned first = (line / LINE & (sets_of(t, core) - 1)) * 2;
    if (wg_in_iram(t, core, pc))
        first = sets_of(t, core) * 2 + line / LINE % WG_IRAM_LINES;
    for (unsigned way = 0; way < 2; way++)
        if ((k->icache[first + way].tag & ~(uint32_t)WG_LINE_STALE) == (line | WG_LINE_VALID))
            return &k->icache[first + way];
    return NULL;
}

void wg_fetch_clear(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    for (unsigned i = 0; i < WG_ICACHE_LINES; i++)
        k->icache[i].tag = 0;
    k->epoch++;
}

/* A line has arrived: it replaces the least recently used one of its set. */
static void install(wg_tile *t, unsigned core, wg_fetch *f)
{
    wg_core *k = &t->core[core];
    unsigned set = f->line / LINE & (sets_of(t, core) - 1);
    unsigned way = k->icache[set * 2].tag == 0 ? 0 : k->icache[set * 2 + 1].tag == 0 ? 1 : 1u - k->run.lru[set];
    wg_icache_line *l = &k->icache[set * 2 + way];
    wg_decode_line(t, core, f->line, f->word, l);
    l->set = (uint8_t)set;
    l->way = (uint8_t)way;
    if (f->stale)
        l->tag |= WG_LINE_STALE;
    k->run.lru[set] = (uint8_t)way;
    k->epoch++;
    f->used = false;
}

bool wg_fetch_wants_busy(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (k->run.fetch[i].used && (k->run.fetch[i].emit_at <= t->sched.now || k->run.fetch[i].ready <= t->sched.now))
            return true;
    return false;
}

void wg_fetch_emit(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    for (unsigned i = 0; i < WG_FETCHES; i++) {
        wg_fetch *f = &k->run.fetch[i];
        if (!f->used)
            continue;
        if (f->ready <= t->sched.now) {
            install(t, core, f);
        } else if (f->emit_at <= t->sched.now) {
            f->emit_at = WG_NEVER;
            if (f->prefetch && !wg_tile_may_prefetch(t, core, f->line)) {
                f->used = false;
                continue;
            }
            wg_request req = {.address = f->line,
                              .pc = f->line,
                              .kind = WG_REQ_READ,
                              .path = WG_PATH_L1,
                              .bytes = LINE,
                              .core = (uint8_t)core,
                              .tag = (uint8_t)(WG_TAG_FETCH | i),
                              .rd = 0xFF};
            wg_memory_emit(t, &req);
            f->earliest = req.seen_at + t->spec->core[core].fetch_back;
        }
    }
}

uint64_t wg_fetch_next_busy(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    uint64_t next = WG_NEVER;
    for (unsigned i = 0; i < WG_FETCHES; i++) {
        const wg_fetch *f = &k->run.fetch[i];
        if (!f->used)
            continue;
        next = wg_min64(next, wg_min64(f->emit_at, f->ready));
        if (f->emit_at == WG_NEVER && f->ready == WG_NEVER) /* the earliest arrival: do not run past it */
            next = wg_min64(next, wg_max64(f->earliest, t->sched.now + t->spec->core[core].fetch_back));
    }
    return next;
}

void wg_fetch_respond(const wg_tile *t, unsigned core, wg_core_run *run, unsigned slot, const uint32_t value[4])
{
    wg_fetch *f = &run->fetch[slot % WG_FETCHES];
    if (!f->used)
        return;
    memcpy(f->word, value, sizeof f->word);
    f->ready = t->sched.now + t->spec->core[core].fetch_back;
}

void wg_predict_call(wg_core *k, uint32_t return_pc)
{
    k->run.returns_top = (uint8_t)((k->run.returns_top + 1) % WG_RETURNS);
    k->run.returns[k->run.returns_top] = return_pc;
}

static bool is_link(uint8_t reg) { return reg == 1 || reg == 5; }

bool wg_predict_jalr(wg_core *k, bool enabled, uint32_t pc, uint8_t rd, uint8_t rs1, uint32_t target)
{
    uint32_t predicted;
    if (!enabled)
        return false;
    if (is_link(rs1) && !is_link(rd)) {
        predicted = k->run.returns[k->run.returns_top];
        k->run.returns_top = (uint8_t)((k->run.returns_top + WG_RETURNS - 1) % WG_RETURNS);
    } else {
        unsigned i = pc >> 2 & (WG_TARGETS - 1);
        predicted = k->targets[i][0] == pc ? k->targets[i][1] : pc + 4;
        if (predicted != target) {
            wg_core_log(k, WG_UNDO_TARGET | i * 2, k->targets[i][0]);
            wg_core_log(k, WG_UNDO_TARGET | (i * 2 + 1), k->targets[i][1]);
            k->targets[i][0] = pc;
            k->targets[i][1] = target;
        }
    }
    return predicted == target;
}
