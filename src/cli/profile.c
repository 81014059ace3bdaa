/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate profile`: what each source line cost, and why. */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"

/* The source location of an instruction, if known. */
static wg_source source_of(wg_session *s, const wg_cost *c)
{
    wg_source source = {0};
    if (c->pc)
        wg_session_source(s, c->core, c->pc, &source);
    return source;
}

typedef struct place {
    const char *function, *file; /* NULL: unknown; the function is the innermost, inlined or not */
    unsigned line;
} place;

static place place_in(const wg_source *source)
{
    return (place){source->calls ? source->call[0].function : source->function, source->file, source->line};
}

static place place_of(wg_session *s, const wg_cost *c)
{
    const wg_source source = source_of(s, c);
    return place_in(&source);
}

/* The word of a core's instruction: a stall does not carry it, but the instruction was executed in the end. */
static uint32_t word_of(const wg_costs *p, const wg_cost *c)
{
    if (c->word || !wg_track_is_core(c->track))
        return c->word;
    for (size_t i = 0; i < p->table.count; i++)
        if (p->table.cost[i].track == c->track && p->table.cost[i].pc == c->pc && p->table.cost[i].word)
            return p->table.cost[i].word;
    return 0;
}

static void instruction_of(wg_session *s, const wg_cost *c, char *room, size_t bytes)
{
    uint32_t word = word_of(s->costs, c);
    room[0] = 0;
    if (word && wg_track_is_core(c->track))
        wg_insn_text(s, c->track, c->pc, word, room, bytes);
    else if (word)
        wg_disassemble(s->desc.arch, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, room, bytes);
}

/* "executing", "unit-busy (matrix)", "polling 0x00012340" … */
static void cause_of(const wg_cost *c, char *room, size_t bytes)
{
    char name[64];
    const char *text = wg_doing_name(c->track, c->doing, name, sizeof name);
    if (c->doing == WG_DOING_POLLING && c->address)
        snprintf(room, bytes, "polling 0x%08x", c->address);
    else if (c->holder < WG_AGENT_COUNT)
        snprintf(room, bytes, "%s (%s)", text, wg_agent_name(c->holder));
    else
        snprintf(room, bytes, "%s", text);
}

/* ---- Rows: the costs of one line with one cause ---- */

typedef struct row {
    wg_cost cost; /* the largest of them */
    place at;
    uint64_t cycles, times;
} row;

static int by_line(const void *left, const void *right)
{
    const row *a = left, *b = right;
    uint64_t x = (uint64_t)a->cost.track << 48 | (uint64_t)a->cost.doing << 40 | (uint64_t)a->cost.holder << 32 |
                 a->cost.address;
    uint64_t y = (uint64_t)b->cost.track << 48 | (uint64_t)b->cost.doing << 40 | (uint64_t)b->cost.holder << 32 |
                 b->cost.address;
    if (x != y)
        return x < y ? -1 : 1;
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
    const row *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->cost.track != b->cost.track)
        return a->cost.track < b->cost.track ? -1 : 1;
    return a->cost.pc < b->cost.pc ? -1 : a->cost.pc > b->cost.pc;
}

typedef struct table {
    row *row;
    size_t count;
} table;

static bool every(unsigned track)
{
    (void)track;
    return true;
}

/* Costs of tracks of this kind by line and cause, the largest first. */
static table rows_of(wg_session *s, const wg_cost_table *costs, bool (*kind)(unsigned))
{
    table t = {.row = costs->count ? wg_calloc(costs->count, sizeof *t.row) : NULL};
    size_t count = 0;
    for (size_t i = 0; t.row && i < costs->count; i++) {
        const wg_cost *c = &costs->cost[i];
        if (kind(c->track) && (kind == every || !is_quiet(c)))
            t.row[count++] = (row){*c, place_of(s, c), c->cycles, c->times};
    }
    if (!count)
        return t;
    qsort(t.row, count, sizeof *t.row, by_line);
    for (size_t i = 0; i < count; i++) {
        row *last = t.count ? &t.row[t.count - 1] : NULL;
        if (!last || by_line(last, &t.row[i]) != 0) {
            t.row[t.count++] = t.row[i];
            continue;
        }
        if (t.row[i].cost.cycles > last->cost.cycles)
            last->cost = t.row[i].cost;
        last->cycles += t.row[i].cycles;
        last->times += t.row[i].times;
    }
    qsort(t.row, t.count, sizeof *t.row, by_cycles);
    return t;
}

static void place_text(const row *r, char *room, size_t bytes)
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

static void table_text(wg_session *s, const char *title, const table *t, uint64_t length, wg_text *out)
{
    uint64_t rest = 0;
    if (!t->count)
        return;
    wg_textf(out, "\n%-18s %10s %6s  %-34s %s\n", title, "cycles", "%", "cause", "line, instruction");
    for (size_t i = 0; i < t->count; i++) {
        const row *r = &t->row[i];
        char where[256], cause[96], text[WG_DIS_MAX];
        if (i >= s->top) {
            rest += r->cycles;
            continue;
        }
        place_text(r, where, sizeof where);
        cause_of(&r->cost, cause, sizeof cause);
        instruction_of(s, &r->cost, text, sizeof text);
        wg_textf(out, "  %-16s %10llu %5.1f%%  %-34s %s%s%s\n", wg_agent_name(r->cost.track),
                 (unsigned long long)r->cycles, length ? 100.0 * (double)r->cycles / (double)length : 0.0, cause, where,
                 *text ? "  " : "", text);
    }
    if (t->count > s->top)
        wg_textf(out, "  … and %zu more, %llu cycles (--top N shows more, --json all)\n", t->count - (size_t)s->top,
                 (unsigned long long)rest);
}

static void group_text(wg_session *s, const char *title, bool (*kind)(unsigned), wg_text *out)
{
    table t = rows_of(s, &s->costs->table, kind);
    table_text(s, title, &t, s->costs->to - s->costs->from, out);
    free(t.row);
}

/* ---- Waits ---- */

static bool is_wait(uint32_t word)
{
    unsigned opcode = wg_opcode(word);
    return opcode == WG_OPCODE_STALLWAIT || opcode == WG_OPCODE_SEMWAIT || opcode == WG_OPCODE_STREAMWAIT;
}

static int by_held(const void *left, const void *right)
{
    const wg_wait_cost *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->executed != b->executed)
        return a->executed > b->executed ? -1 : 1;
    return a->cost.pc < b->cost.pc ? -1 : a->cost.pc > b->cost.pc;
}

wg_wait_cost *wg_profile_waits(const wg_costs *p, size_t *count)
{
    wg_wait_cost *rows = p->table.count ? wg_calloc(p->table.count, sizeof *rows) : NULL;
    *count = 0;
    for (size_t i = 0; rows && i < p->table.count; i++) {
        const wg_cost *c = &p->table.cost[i];
        bool holds =
            c->doing == WG_DOING_STALL + WG_STALL_LATCHED_WAIT || c->doing == WG_DOING_STALL + WG_STALL_LATCH_OCCUPIED;
        if (!wg_track_is_thread(c->track) || !is_wait(c->word) || (c->doing != WG_DOING_WORK && !holds))
            continue;
        size_t k = 0;
        while (k < *count &&
               (rows[k].cost.track != c->track || rows[k].cost.pc != c->pc || rows[k].cost.word != c->word))
            k++;
        if (k == *count)
            rows[(*count)++].cost = *c;
        rows[k].executed += holds ? 0 : c->times;
        rows[k].held += holds ? c->times : 0;
        rows[k].cycles += holds ? c->cycles : 0;
    }
    if (*count)
        qsort(rows, *count, sizeof *rows, by_held);
    return rows;
}

static void waits_text(wg_session *s, wg_text *out)
{
    size_t count, free_ones = 0;
    wg_wait_cost *rows = wg_profile_waits(s->costs, &count);
    for (size_t i = 0; i < count; i++)
        free_ones += rows[i].cycles == 0;
    if (count)
        wg_textf(out, "\n%-18s %10s %9s %9s  %s\n", "waits", "cycles", "held", "of", "line, instruction");
    for (size_t i = 0; i < count && i < s->top; i++) {
        row r = {.cost = rows[i].cost, .at = place_of(s, &rows[i].cost)};
        char where[256], text[WG_DIS_MAX];
        place_text(&r, where, sizeof where);
        instruction_of(s, &r.cost, text, sizeof text);
        wg_textf(out, "  %-16s %10llu %9llu %9llu  %s  %s\n", wg_agent_name(r.cost.track),
                 (unsigned long long)rows[i].cycles, (unsigned long long)rows[i].held,
                 (unsigned long long)rows[i].executed, where, text);
    }
    if (count > s->top)
        wg_textf(out, "  … and %zu more (--top N shows more, --json all)\n", count - (size_t)s->top);
    if (free_ones)
        wg_textf(out, "  %zu of %zu waits blocked nothing in this run.\n", free_ones, count);
    free(rows);
}

/* ---- The critical path ---- */

static void add_piece(void *user, const wg_link *piece) { wg_cost_add(user, &piece->what); }

static table path_of(wg_session *s, uint64_t *from)
{
    wg_cost_table costs = {0};
    *from = wg_chain_walk(&s->costs->chain, s->costs->from, s->costs->to, add_piece, &costs);
    table t = rows_of(s, &costs, every);
    if (costs.failed)
        wg_memory_lost();
    wg_cost_table_free(&costs);
    return t;
}

static void largest_part(const row *r, uint64_t length, wg_text *out)
{
    char where[256];
    place_text(r, where, sizeof where);
    wg_textf(out,
             "The critical path decides how long the run takes. Its largest part, %llu of %llu cycles (%.1f %%), is %s "
             "at %s: %s.",
             (unsigned long long)r->cycles, (unsigned long long)length, 100.0 * (double)r->cycles / (double)length,
             wg_agent_name(r->cost.track), where, wg_doing_text(r->cost.track, r->cost.doing));
}

void wg_profile_sentence(wg_session *s, wg_text *out)
{
    uint64_t from;
    table t = path_of(s, &from);
    if (t.count)
        largest_part(&t.row[0], s->costs->to - from, out);
    free(t.row);
}

static void path_text(wg_session *s, wg_text *out)
{
    uint64_t from, to = s->costs->to;
    table t = path_of(s, &from);
    if (t.count) {
        wg_text sentence = {0};
        largest_part(&t.row[0], to - from, &sentence);
        wg_text_add(out, "\n", 1);
        wg_text_wrap(out, wg_text_of(&sentence), 0, 0);
        wg_text_free(&sentence);
        if (from > s->costs->from)
            wg_textf(out, "The path is known from cycle %llu on.\n", (unsigned long long)from);
    }
    table_text(s, "critical path", &t, to - from, out);
    free(t.row);
}

void wg_report_profile(wg_session *s, wg_text *out)
{
    const wg_costs *p = s->costs;
    if (p->from == p->to) {
        wg_textf(out, "\nNo cycle lies between --from and --to.\n");
        return;
    }
    wg_textf(out, "\nProfile of cycles %llu to %llu\n", (unsigned long long)p->from, (unsigned long long)p->to);
    path_text(s, out);
    group_text(s, "cores", wg_track_is_core, out);
    group_text(s, "threads", wg_track_is_thread, out);
    group_text(s, "units", wg_track_is_unit, out);
    waits_text(s, out);
}

/* ---- JSON ---- */

static void cost_json(wg_session *s, const wg_cost *c, const char *who, wg_json *j)
{
    char text[WG_DIS_MAX], name[64];
    const wg_source source = source_of(s, c);
    place at = place_in(&source);
    wg_json_open(j, NULL, '{');
    if (who)
        wg_json_text(j, "who", who);
    wg_json_text(j, "cause", wg_doing_name(c->track, c->doing, name, sizeof name));
    wg_json_uint(j, "cycles", c->cycles);
    wg_json_uint(j, "times", c->times);
    if (c->holder < WG_AGENT_COUNT)
        wg_json_text(j, "holder", wg_agent_name(c->holder));
    if (c->address)
        wg_json_hex(j, "address", c->address);
    if (c->pc) {
        wg_json_hex(j, "pc", c->pc);
        wg_json_text(j, "program", c->core < WG_CORES ? wg_agent_name(c->core) : "");
    }
    if (at.function)
        wg_json_text(j, "function", at.function);
    if (at.file) {
        wg_json_text(j, "file", at.file);
        wg_json_uint(j, "line", at.line);
    }
    wg_source_calls_json(&source, j);
    instruction_of(s, c, text, sizeof text);
    if (*text)
        wg_json_text(j, "instruction", text);
    wg_json_close(j, '}');
}

void wg_profile_cost_json(wg_session *s, const wg_cost *c, wg_json *j) { cost_json(s, c, NULL, j); }
const char *wg_profile_file(wg_session *s, const wg_cost *c) { return place_of(s, c).file; }

static void waits_json(wg_session *s, wg_json *j)
{
    size_t count;
    wg_wait_cost *rows = wg_profile_waits(s->costs, &count);
    wg_json_open(j, "waits", '[');
    for (size_t i = 0; i < count; i++) {
        place at = place_of(s, &rows[i].cost);
        char text[WG_DIS_MAX];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "who", wg_agent_name(rows[i].cost.track));
        wg_json_uint(j, "cycles", rows[i].cycles);
        wg_json_uint(j, "held", rows[i].held);
        wg_json_uint(j, "executed", rows[i].executed);
        if (at.file) {
            wg_json_text(j, "file", at.file);
            wg_json_uint(j, "line", at.line);
        }
        instruction_of(s, &rows[i].cost, text, sizeof text);
        wg_json_text(j, "instruction", text);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    free(rows);
}

void wg_report_profile_json(wg_session *s, wg_json *j)
{
    const wg_costs *p = s->costs;
    wg_json_open(j, "cost_profile", '{');
    wg_json_uint(j, "from", p->from);
    wg_json_uint(j, "to", p->to);
    wg_json_open(j, "tracks", '[');
    for (size_t i = 0; i < p->table.count;) {
        unsigned track = p->table.cost[i].track;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_agent_name(track));
        wg_json_text(j, "kind", wg_track_is_core(track) ? "core" : wg_track_is_thread(track) ? "thread" : "unit");
        wg_json_open(j, "costs", '[');
        for (; i < p->table.count && p->table.cost[i].track == track; i++)
            cost_json(s, &p->table.cost[i], NULL, j);
        wg_json_close(j, ']');
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    waits_json(s, j);
    uint64_t from;
    table path = path_of(s, &from);
    wg_json_open(j, "critical_path", '{');
    wg_json_uint(j, "from", from);
    wg_json_open(j, "costs", '[');
    for (size_t i = 0; i < path.count; i++) {
        wg_cost c = path.row[i].cost;
        c.cycles = path.row[i].cycles;
        c.times = path.row[i].times;
        cost_json(s, &c, wg_agent_name(c.track), j);
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_json_close(j, '}');
    free(path.row);
}

/* ---- Files for other tools ---- */

/* One line per stack: track; function; inlined functions; file:line; cause cycles. For flame graph tools. */
static void folded(wg_session *s, wg_text *out)
{
    const wg_costs *p = s->costs;
    for (size_t i = 0; i < p->table.count; i++) {
        const wg_cost *c = &p->table.cost[i];
        const wg_source source = source_of(s, c);
        row r = {.cost = *c, .at = place_in(&source)};
        char where[256], cause[96];
        r.at.function = NULL;
        place_text(&r, where, sizeof where);
        cause_of(c, cause, sizeof cause);
        wg_textf(out, "%s;", wg_agent_name(c->track));
        if (source.function)
            wg_textf(out, "%s;", source.function);
        for (unsigned k = source.calls; k-- > 0;)
            wg_textf(out, "%s;", source.call[k].function);
        wg_textf(out, "%s;%s %llu\n", where, cause, (unsigned long long)c->cycles);
    }
}

/* The kinds of cycles as KCachegrind shows them. */
enum { EXECUTING, WAITING, POLLING, NOTHING, EVENTS };

static unsigned event_of(const wg_cost *c)
{
    switch (c->doing) {
    case WG_DOING_WORK: return EXECUTING;
    case WG_DOING_POLLING: return POLLING;
    case WG_DOING_IDLE:
    case WG_DOING_RESET:
    case WG_DOING_PARKED: return NOTHING;
    default: return WAITING;
    }
}

static void callgrind(wg_session *s, wg_text *out)
{
    const wg_costs *p = s->costs;
    wg_textf(out,
             "# callgrind format\nversion: 1\ncreator: waitgate %s\ncmd: %s\npositions: line\n"
             "event: Busy : cycles at work\nevent: Waiting : cycles stalled\nevent: Polling : cycles in polling loops\n"
             "event: Idle : cycles with nothing to do\nevents: Busy Waiting Polling Idle\n",
             wg_version(), s->title);
    uint64_t total[EVENTS] = {0};
    for (size_t i = 0; i < p->table.count; i++) {
        const wg_cost *c = &p->table.cost[i];
        place at = place_of(s, c);
        unsigned event = event_of(c);
        total[event] += c->cycles;
        wg_textf(out, "\nob=%s\nfl=%s\nfn=%s: %s\n%u", wg_agent_name(c->track), at.file ? at.file : "???",
                 wg_agent_name(c->track),
                 at.function ? at.function
                 : at.file   ? at.file
                             : "(none)",
                 at.line);
        for (unsigned k = 0; k < EVENTS; k++)
            wg_textf(out, " %llu", k == event ? (unsigned long long)c->cycles : 0ull);
        wg_text_add(out, "\n", 1);
    }
    wg_textf(out, "\ntotals:");
    for (unsigned k = 0; k < EVENTS; k++)
        wg_textf(out, " %llu", (unsigned long long)total[k]);
    wg_text_add(out, "\n", 1);
}

static bool write_text(const wg_session *s, const char *path, const wg_text *text, wg_text *error)
{
    char message[512] = "out of memory";
    if (!wg_session_lost_memory(s) && wg_file_write(path, wg_text_of(text), text->size, message, sizeof message))
        return true;
    wg_textf(error, "waitgate: %s\n", message);
    return false;
}

static bool write_files(wg_session *s, wg_text *error)
{
    static const struct {
        wg_option option;
        void (*write)(wg_session *s, wg_text *out);
    } files[] = {{WG_OPT_FOLDED, folded}, {WG_OPT_CALLGRIND, callgrind}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = s->args->value[files[i].option];
        wg_text text = {0};
        if (!path)
            continue;
        files[i].write(s, &text);
        bool ok = write_text(s, path, &text, error);
        wg_text_free(&text);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- The part of the run to profile ---- */

/* --from, --to: a cycle, or the name of a function or label of any core's program. */
static bool read_end(wg_session *s, wg_option option, const char *name, uint64_t *cycle, uint32_t *pc, wg_text *error)
{
    const char *text = s->args->value[option];
    if (!text || wg_parse_number(text, strlen(text), cycle))
        return true;
    for (unsigned core = 0; core < WG_CORES; core++) {
        const wg_elf_symbol *symbol = s->elf[core] ? wg_elf_symbol_named(s->elf[core], text) : NULL;
        if (symbol) {
            *pc = symbol->address;
            return true;
        }
    }
    wg_textf(error, "waitgate: --%s: `%s` is neither a cycle nor a symbol of a loaded program\n", name, text);
    return false;
}

bool wg_profile_open(wg_session *s, unsigned held, wg_text *error)
{
    uint64_t from = 0, to = UINT64_MAX;
    uint32_t from_pc = 0, to_pc = 0;
    s->top = 12;
    if (!wg_option_number(s->args, WG_OPT_TOP, "top", &s->top, error) ||
        !read_end(s, WG_OPT_FROM, "from", &from, &from_pc, error) || !read_end(s, WG_OPT_TO, "to", &to, &to_pc, error))
        return false;
    if (!(s->costs = wg_calloc(1, sizeof *s->costs))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    wg_costs_begin(s->costs, wg_cycle(s->dev), held);
    s->costs->from_pc = from_pc;
    s->costs->to_pc = to_pc;
    s->costs->from = from_pc ? UINT64_MAX : from;
    s->costs->to = to;
    if (wg_observe(s->dev, WG_COSTS_EVENTS, wg_costs_event, s->costs, NULL) == WG_OK)
        return true;
    wg_textf(error, "waitgate: %s\n", wg_error(s->dev));
    return false;
}

bool wg_profile_close(wg_session *s, wg_text *error)
{
    wg_costs_end(s->costs, wg_cycle(s->dev));
    if (s->costs->table.failed || s->costs->chain.failed) {
        wg_memory_lost();
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    return write_files(s, error);
}
