/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the profile's tables, and the critical path. */
#include "cli/profile.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"
#include "isa/waits.h"

wg_source wg_profile_source(wg_session *s, const wg_cost *c)
{
    wg_source source = {0};
    if (c->pc)
        wg_session_source(s, c->core, c->pc, &source);
    return source;
}

wg_profile_at wg_profile_at_of(const wg_source *source)
{
    return (wg_profile_at){source->calls ? source->call[0].function : source->function, source->file, source->line};
}

wg_profile_at wg_profile_place(wg_session *s, const wg_cost *c)
{
    const wg_source source = wg_profile_source(s, c);
    return wg_profile_at_of(&source);
}

/* The word of a core's instruction: a stall does not carry it, but the instruction was executed in the end. */
static uint32_t word_of(const wg_costs *p, const wg_cost *c)
{
    unsigned track = wg_track_flies(c->track) ? c->core : c->track;
    if (c->word || !wg_track_is_core(track))
        return c->word;
    for (size_t i = 0; i < p->table.count; i++)
        if (p->table.cost[i].track == track && p->table.cost[i].pc == c->pc && p->table.cost[i].word)
            return p->table.cost[i].word;
    return 0;
}

void wg_profile_insn(wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
    uint32_t word = word_of(s->costs, c);
    room[0] = 0;
    if (word && (wg_track_is_core(c->track) || wg_track_flies(c->track)))
        wg_insn_text(s, c->core, c->pc, word, room, bytes);
    else if (word)
        wg_disassemble(s->desc.arch, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, room, bytes);
}

const char *wg_profile_ended_at(wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
    wg_source source = {0};
    const char *file;
    unsigned line;
    room[0] = 0;
    if (c->doing != WG_DOING_POLLING || !c->ended_pc || !wg_session_source(s, c->ended_core, c->ended_pc, &source) ||
        !wg_pages_line(&source, &file, &line))
        return room;
    const char *slash = strrchr(file, '/');
    snprintf(room, bytes, "%s:%u", slash ? slash + 1 : file, line);
    return room;
}

bool wg_profile_buffer(const wg_session *s, const wg_cost *c, unsigned *cb, bool *space)
{
    return c->doing == WG_DOING_POLLING && wg_pages_is_count(wg_arch_of(s->desc.arch), c->address, cb, space);
}

/* "waiting for pages in CB 0 (NC at reader.c:31)", "polling 0x00012340 (thread 2 at pack.c:12)" */
static void polling_cause(wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
    char place[200];
    unsigned cb;
    bool space;
    const int n = wg_profile_buffer(s, c, &cb, &space)
                      ? snprintf(room, bytes, "waiting for %s in CB %u", space ? "space" : "pages", cb)
                      : snprintf(room, bytes, "polling 0x%08x", c->address);
    const char *at = wg_profile_ended_at(s, c, place, sizeof place);
    if (c->holder < WG_AGENT_COUNT && n > 0 && (size_t)n < bytes)
        snprintf(room + n, bytes - (size_t)n, " (%s%s%s)", wg_agent_name(c->holder), *at ? " at " : "", at);
}

bool wg_profile_is_latched(const wg_cost *c)
{
    return wg_track_is_thread(c->track) &&
           (c->doing == WG_DOING_STALL + WG_STALL_LATCHED_WAIT || c->doing == WG_DOING_STALL + WG_STALL_LATCH_OCCUPIED);
}

const char *wg_profile_awaited(const wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
#define SYMBOL(id, symbol, bit) [bit] = #symbol,
    static const char *const conditions[2][16] = {
        [WG_ARCH_BH] = {WG_EACH_WAIT_BH(SYMBOL)}, [WG_ARCH_WH] = {WG_EACH_WAIT_WH(SYMBOL)}};
#undef SYMBOL
    const unsigned mask = c->resource, bit = mask ? (unsigned)__builtin_ctz(mask) : 0;
    const char *name = NULL;
    room[0] = 0;
    if (!wg_profile_is_latched(c) || !mask || mask & (mask - 1))
        return room;
    if (wg_opcode(c->word) == WG_OPCODE_STALLWAIT)
        name = conditions[s->desc.arch][bit];
    if (name)
        snprintf(room, bytes, "%s", name);
    else if (wg_opcode(c->word) == WG_OPCODE_SEMWAIT)
        snprintf(room, bytes, "SEMAPHORE_%u", bit);
    return room;
}

/* "executing", "unit-busy (matrix)", "waiting for tile 1-2 (0x00030000)" … */
void wg_profile_cause(wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
    static const char *const flight[] = {[WG_FLIGHT_REQUEST] = "request to tile %u-%u",
                                         [WG_FLIGHT_THERE] = "request served by tile %u-%u",
                                         [WG_FLIGHT_ANSWER] = "answer from tile %u-%u",
                                         [WG_FLIGHT_BOTH] = "request to %u-%u and its answer"};
    const unsigned width = s->chip_width ? s->chip_width : 1, other = c->tile ? c->tile - 1u : 0;
    char name[64], what[24];
    const char *text = wg_doing_name(c->track, c->doing, name, sizeof name),
               *awaited = wg_profile_awaited(s, c, what, sizeof what);
    bool polls = c->doing == WG_DOING_POLLING && c->address;
    if (wg_track_flies(c->track) && !c->tile)
        snprintf(room, bytes, "%s under way", wg_flight_name(c->track, c->doing));
    else if (wg_track_is_niu(c->track))
        snprintf(room, bytes, flight[c->doing], other % width, other / width);
    else if (polls && c->tile && wg_packets_niu(c->address) < 2)
        snprintf(room, bytes, "waiting for NoC %u, tile %u-%u", wg_packets_niu(c->address), other % width,
                 other / width);
    else if (polls && c->tile)
        snprintf(room, bytes, "waiting for tile %u-%u (0x%08x)", other % width, other / width, c->address);
    else if (polls)
        polling_cause(s, c, room, bytes);
    else if (c->holder < WG_AGENT_COUNT)
        snprintf(room, bytes, "%s%s%s (%s)", text, *awaited ? " " : "", awaited, wg_agent_name(c->holder));
    else
        snprintf(room, bytes, "%s%s%s", text, *awaited ? " " : "", awaited);
}

/* ---- Rows ---- */

static int in_order(const wg_session *a, const wg_session *b)
{
    if (a->of_chip != b->of_chip)
        return a->of_chip < b->of_chip ? -1 : 1;
    return a->tile < b->tile ? -1 : 1;
}

static int by_line(const void *left, const void *right)
{
    const wg_row *a = left, *b = right;
    if (a->of_tile && a->s != b->s)
        return in_order(a->s, b->s);
    uint64_t x = (uint64_t)a->cost.track << 48 | (uint64_t)a->cost.doing << 40 | (uint64_t)a->cost.holder << 32 |
                 a->cost.address;
    uint64_t y = (uint64_t)b->cost.track << 48 | (uint64_t)b->cost.doing << 40 | (uint64_t)b->cost.holder << 32 |
                 b->cost.address;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->cost.tile != b->cost.tile)
        return a->cost.tile < b->cost.tile ? -1 : 1;
    if (wg_profile_is_latched(&a->cost) && a->cost.resource != b->cost.resource)
        return a->cost.resource < b->cost.resource ? -1 : 1;
    int files = strcmp(a->at.file ? a->at.file : "", b->at.file ? b->at.file : "");
    if (files)
        return files;
    if (a->at.line != b->at.line)
        return a->at.line < b->at.line ? -1 : 1;
    if (a->at.file)
        return 0;
    x = (uint64_t)a->cost.core << 32 | a->cost.pc;
    y = (uint64_t)b->cost.core << 32 | b->cost.pc;
    return x < y ? -1 : x > y;
}

/* Idle or empty: not the fault of any line. */
static bool is_quiet(const wg_cost *c)
{
    return c->doing == WG_DOING_RESET || c->doing == WG_DOING_PARKED ||
           (c->doing == WG_DOING_IDLE && (wg_track_is_unit(c->track) || !c->pc));
}

static int by_cycles(const void *left, const void *right)
{
    const wg_row *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->s != b->s && (a->s->tile != b->s->tile || a->s->of_chip != b->s->of_chip))
        return in_order(a->s, b->s);
    if (a->cost.track != b->cost.track)
        return a->cost.track < b->cost.track ? -1 : 1;
    return a->cost.pc < b->cost.pc ? -1 : a->cost.pc > b->cost.pc;
}

bool wg_every_track(unsigned track)
{
    (void)track;
    return true;
}

/* One row for each line and cause, the largest first. */
static void merge(wg_rows *t)
{
    const size_t count = t->count;
    t->count = 0;
    if (!count)
        return;
    qsort(t->row, count, sizeof *t->row, by_line);
    for (size_t i = 0; i < count; i++) {
        wg_row *last = t->count ? &t->row[t->count - 1] : NULL;
        if (!last || by_line(last, &t->row[i]) != 0) {
            t->row[t->count++] = t->row[i];
            continue;
        }
        if (t->row[i].cost.cycles > last->cost.cycles)
            last->cost = t->row[i].cost;
        last->cycles += t->row[i].cycles;
        last->times += t->row[i].times;
    }
    qsort(t->row, t->count, sizeof *t->row, by_cycles);
}

static wg_rows rows_of(const wg_profiled *all, const wg_cost_table *const *costs, bool (*kind)(unsigned), bool of_tile)
{
    size_t most = 0;
    for (unsigned i = 0; i < all->tiles; i++)
        most += costs[i]->count;
    wg_rows t = {.row = most ? wg_calloc(most, sizeof *t.row) : NULL};
    for (unsigned i = 0; t.row && i < all->tiles; i++)
        for (size_t k = 0; k < costs[i]->count; k++) {
            const wg_cost *c = &costs[i]->cost[k];
            wg_session *s = all->tile[i];
            if (kind(c->track) && (kind == wg_every_track || !is_quiet(c)))
                t.row[t.count++] = (wg_row){s, *c, wg_profile_place(s, c), c->cycles, c->times, of_tile};
        }
    merge(&t);
    return t;
}

wg_rows wg_rows_of(const wg_profiled *all, bool (*kind)(unsigned))
{
    const wg_cost_table **costs = wg_calloc(all->tiles + 1u, sizeof *costs);
    wg_rows t = {0};
    for (unsigned i = 0; costs && i < all->tiles; i++)
        costs[i] = &all->tile[i]->costs->table;
    if (costs)
        t = rows_of(all, costs, kind, false);
    free(costs);
    return t;
}

void wg_row_place(const wg_row *r, char *room, size_t bytes)
{
    const char *base = r->at.file ? strrchr(r->at.file, '/') : NULL;
    const char *file = base ? base + 1 : r->at.file;
    if (file && r->at.function)
        snprintf(room, bytes, "%s:%u %s", file, r->at.line, r->at.function);
    else if (file)
        snprintf(room, bytes, "%s:%u", file, r->at.line);
    else if (r->at.function)
        snprintf(room, bytes, "%s 0x%08x", r->at.function, r->cost.pc);
    else if (r->cost.pc)
        snprintf(room, bytes, "0x%08x", r->cost.pc);
    else
        snprintf(room, bytes, "-");
}

/* "thread 0"; of a path through several tiles "1-2 thread 0", "1-2 NoC 0"; through several chips "0:1-2 thread 0", "0:9-6 link". */
static void who_text(const wg_row *r, char *room, size_t bytes)
{
    const char *name = wg_agent_name_of(r->s->dev, r->cost.track);
    char noc[16];
    if (wg_track_is_niu(r->cost.track)) {
        snprintf(noc, sizeof noc, "NoC %u", r->cost.track - (unsigned)WG_AGENT_NIU0);
        name = noc;
    } else if (r->cost.track == WG_AGENT_LINK) {
        name = "link";
    }
    if (r->of_tile && r->s->of_chip)
        snprintf(room, bytes, "%u:%u-%u %s", r->s->of_chip - 1u, r->s->tile % r->s->chip_width,
                 r->s->tile / r->s->chip_width, name);
    else if (r->of_tile && r->s->chip_width)
        snprintf(room, bytes, "%u-%u %s", r->s->tile % r->s->chip_width, r->s->tile / r->s->chip_width, name);
    else
        snprintf(room, bytes, "%s", name);
}

void wg_rows_title(const char *title, wg_text *out)
{
    wg_textf(out, "\n%-18s %10s %6s  %-34s %s\n", title, "cycles", "%", "cause", "line, instruction");
}

void wg_rows_rest(size_t rows, uint64_t cycles, wg_text *out)
{
    wg_textf(out, "  … and %zu more, %llu cycles (--top N shows more, --json all)\n", rows, (unsigned long long)cycles);
}

void wg_row_text(const wg_row *r, uint64_t length, wg_text *out)
{
    char who[64], where[256], cause[WG_CAUSE_MAX], text[WG_DIS_MAX];
    who_text(r, who, sizeof who);
    wg_row_place(r, where, sizeof where);
    wg_profile_cause(r->s, &r->cost, cause, sizeof cause);
    wg_profile_insn(r->s, &r->cost, text, sizeof text);
    wg_textf(out, "  %-16s %10llu %5.1f%%  %-34s %s%s%s\n", who, (unsigned long long)r->cycles,
             length ? 100.0 * (double)r->cycles / (double)length : 0.0, cause, where, *text ? "  " : "", text);
}

void wg_rows_text(const wg_rows *t, const char *title, uint64_t top, uint64_t length, wg_text *out)
{
    uint64_t rest = 0;
    if (!t->count)
        return;
    wg_rows_title(title, out);
    for (size_t i = 0; i < t->count; i++)
        if (i < top)
            wg_row_text(&t->row[i], length, out);
        else
            rest += t->row[i].cycles;
    if (t->count > top)
        wg_rows_rest(t->count - (size_t)top, rest, out);
}

void wg_profile_groups_text(const wg_profiled *all, uint64_t top, uint64_t length, wg_text *out)
{
    static const struct {
        const char *title;
        bool (*kind)(unsigned);
    } groups[] = {{"cores", wg_track_is_core}, {"threads", wg_track_is_thread}, {"units", wg_track_is_unit}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        wg_rows t = wg_rows_of(all, groups[i].kind);
        wg_rows_text(&t, groups[i].title, top, length, out);
        free(t.row);
    }
}

/* ---- The critical path ---- */

static void add_piece(void *user, unsigned tile, const wg_link *piece)
{
    wg_cost_add(&((wg_cost_table *)user)[tile], &piece->what);
}

wg_rows wg_rows_of_path(const wg_profiled *all, const wg_cost_table *costs)
{
    const wg_cost_table **tables = wg_calloc(all->tiles + 1u, sizeof *tables);
    wg_rows t = {0};
    for (unsigned i = 0; tables && i < all->tiles; i++)
        tables[i] = &costs[i];
    if (tables)
        t = rows_of(all, tables, wg_every_track, true);
    free(tables);
    return t;
}

wg_chain_end wg_path_end(const wg_profiled *all, uint64_t to)
{
    for (unsigned i = 0; i < all->tiles; i++)
        if (all->tile[i]->costs->to == to && all->tile[i]->costs->ended_by != WG_AGENT_NONE)
            return (wg_chain_end){i, all->tile[i]->costs->ended_by};
    return (wg_chain_end){0, WG_AGENT_NONE};
}

wg_rows wg_path_of(const wg_profiled *all, uint64_t from, uint64_t to, uint64_t *begin)
{
    wg_cost_table *costs = wg_calloc(all->tiles + 1u, sizeof *costs);
    const wg_chain **chain = wg_calloc(all->tiles + 1u, sizeof *chain);
    wg_rows t = {0};
    *begin = from;
    for (unsigned i = 0; costs && chain && i < all->tiles; i++)
        chain[i] = &all->tile[i]->costs->chain;
    if (costs && chain) {
        *begin = wg_chain_walk(chain, all->tiles, from, to, wg_path_end(all, to), add_piece, costs);
        t = wg_rows_of_path(all, costs);
    }
    for (unsigned i = 0; costs && i < all->tiles; i++) {
        if (costs[i].failed)
            wg_memory_lost();
        wg_cost_table_free(&costs[i]);
    }
    free(costs);
    free(chain);
    return t;
}

/* A unit that works for this percentage of the time bounds the run. */
#define BOUNDS 90.0

bool wg_row_is_over(const wg_row *r) { return wg_track_is_core(r->cost.track) && r->cost.doing == WG_DOING_PARKED; }

void wg_path_part_text(const wg_row *r, uint64_t length, wg_text *out)
{
    char where[256], who[64], cause[WG_CAUSE_MAX];
    wg_row_place(r, where, sizeof where);
    who_text(r, who, sizeof who);
    bool named = r->cost.tile || r->cost.doing == WG_DOING_POLLING || wg_track_flies(r->cost.track);
    if (named)
        wg_profile_cause(r->s, &r->cost, cause, sizeof cause);
    wg_textf(out,
             "The critical path decides how long the run takes. Its largest part, %llu of %llu cycles (%.1f %%), is %s"
             "%s%s: %s.",
             (unsigned long long)r->cycles, (unsigned long long)length, 100.0 * (double)r->cycles / (double)length, who,
             r->cost.pc ? " at " : "", r->cost.pc ? where : "",
             named ? cause : wg_doing_text(r->cost.track, r->cost.doing));
}

static void largest_part(const wg_rows *t, uint64_t length, wg_text *out)
{
    const wg_row *r = &t->row[0];
    for (size_t i = 0; i < t->count && wg_row_is_over(r); i++)
        r = &t->row[i];
    wg_path_part_text(r, length, out);
    if (wg_row_is_over(&t->row[0]) && r != &t->row[0])
        wg_textf(out, " In %llu cycles at the end nothing works.", (unsigned long long)t->row[0].cycles);
}

static const uint8_t computing[] = {WG_AGENT_UNPACK0, WG_AGENT_UNPACK1, WG_AGENT_MATRIX, WG_AGENT_VECTOR,
                                    WG_AGENT_PACK};
enum { COMPUTING = sizeof computing };

/* The unit of a tile that works in most cycles, and the cycles from the first to the last work of any of them. */
static const wg_costs_unit *busiest_of(const wg_costs *p, uint64_t *first, uint64_t *last)
{
    const wg_costs_unit *u = &p->unit[computing[0]];
    *first = UINT64_MAX;
    *last = 0;
    for (unsigned i = 0; i < COMPUTING; i++) {
        const wg_costs_unit *c = &p->unit[computing[i]];
        u = c->busy > u->busy ? c : u;
        if (c->busy) {
            *first = c->first < *first ? c->first : *first;
            *last = c->last > *last ? c->last : *last;
        }
    }
    return u;
}

/*
 * The unit of any tile that works in most cycles. It bounds the run if it works nearly all the time, and for most of the
 * run. Otherwise units take turns, and a faster one saves its own time at most.
 */
uint64_t wg_busiest_text(const wg_profiled *all, uint64_t length, unsigned *of_tile, wg_text *out)
{
    const wg_costs_unit *u = NULL;
    uint64_t first = 0, last = 0;
    unsigned tile = 0;
    *of_tile = 0;
    for (unsigned i = 0; i < all->tiles; i++) {
        uint64_t from, to;
        const wg_costs_unit *c = busiest_of(all->tile[i]->costs, &from, &to);
        if (c->busy > (u ? u->busy : 0)) {
            u = c;
            tile = i;
            first = from;
            last = to;
        }
    }
    if (!u || !length)
        return 0;
    *of_tile = tile;
    const wg_session *s = all->tile[tile];
    const wg_costs *p = s->costs;
    const wg_costs_unit *fed = &p->unit[WG_AGENT_MATRIX];
    fed = p->unit[WG_AGENT_VECTOR].busy > fed->busy ? &p->unit[WG_AGENT_VECTOR] : fed;
    const double window = (double)(last - first), busy = 100.0 * (double)u->busy / window,
                 share = 100.0 * (double)u->busy / (double)length;
    const bool bounds = busy >= BOUNDS && share >= 50;
    const char *name = wg_agent_name((unsigned)(u - p->unit)), *other = wg_agent_name((unsigned)(fed - p->unit));
    char of[48] = "";
    if (s->of_chip)
        snprintf(of, sizeof of, " of chip %u, tile %u-%u", s->of_chip - 1u, s->tile % s->chip_width,
                 s->tile / s->chip_width);
    else if (all->tiles > 1)
        snprintf(of, sizeof of, " of tile %u-%u", s->tile % s->chip_width, s->tile / s->chip_width);
    if (bounds)
        wg_textf(out, " The bottleneck is %s%s, at work in %.1f %% of cycles %llu to %llu, %.1f %% of the run", name,
                 of, busy, (unsigned long long)first, (unsigned long long)last, share);
    else
        wg_textf(out,
                 " No unit bounds the run; the busiest is %s%s, at work in %.1f %% of the run: a faster one saves at "
                 "most that",
                 name, of, share);
    if (bounds && fed != u && fed->busy)
        wg_textf(out, "; %s could be fed %.1f times as fast", other, window / (double)fed->busy);
    wg_textf(out, ".");
    return u->busy;
}

static void busiest_unit(const wg_profiled *all, uint64_t length, wg_text *out)
{
    unsigned tile;
    wg_busiest_text(all, length, &tile, out);
}

void wg_path_sentence(const wg_profiled *all, uint64_t from, uint64_t to, wg_text *out)
{
    uint64_t begin;
    wg_rows t = wg_path_of(all, from, to, &begin);
    if (t.count)
        largest_part(&t, to - begin, out);
    if (t.count)
        busiest_unit(all, to - from, out);
    free(t.row);
}

void wg_path_text(const wg_profiled *all, uint64_t from, uint64_t to, uint64_t top, wg_text *out)
{
    uint64_t begin;
    wg_rows t = wg_path_of(all, from, to, &begin);
    if (t.count) {
        wg_text sentence = {0};
        largest_part(&t, to - begin, &sentence);
        busiest_unit(all, to - from, &sentence);
        wg_text_add(out, "\n", 1);
        wg_text_wrap(out, wg_text_of(&sentence), 0, 0);
        wg_text_free(&sentence);
        if (begin > from)
            wg_textf(out, "The path is known from cycle %llu on.\n", (unsigned long long)begin);
    }
    wg_rows_text(&t, "critical path", top, to - begin, out);
    free(t.row);
}

void wg_path_row_json(const wg_row *r, wg_json *j)
{
    wg_cost c = r->cost;
    c.cycles = r->cycles;
    c.times = r->times;
    wg_profile_row_json(r->s, &c, wg_agent_name_of(r->s->dev, c.track), true, j);
}

void wg_path_json(const wg_profiled *all, uint64_t from, uint64_t to, wg_json *j)
{
    uint64_t begin;
    wg_rows path = wg_path_of(all, from, to, &begin);
    wg_json_open(j, "critical_path", '{');
    wg_json_uint(j, "from", begin);
    wg_json_open(j, "costs", '[');
    for (size_t i = 0; i < path.count; i++)
        wg_path_row_json(&path.row[i], j);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    free(path.row);
}
