/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate profile`: what each source line cost, and why. */
#include "cli/profile.h"
#include "cli/page.h"
#include "cli/scaling.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"
#include "machine/device.h"

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
        const bool holds = wg_profile_is_latched(c);
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
        wg_row r = {.s = s, .cost = rows[i].cost, .at = wg_profile_place(s, &rows[i].cost)};
        char where[256], text[WG_DIS_MAX];
        wg_row_place(&r, where, sizeof where);
        wg_profile_insn(s, &r.cost, text, sizeof text);
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

void wg_profile_sentence(wg_session *s, wg_text *out)
{
    wg_path_sentence(&(wg_profiled){&s, 1}, s->costs->from, s->costs->to, out);
}

void wg_report_profile(wg_session *s, wg_text *out)
{
    const wg_costs *p = s->costs;
    if (p->from == p->to) {
        wg_textf(out, "\nNo cycle lies between --from and --to.\n");
        return;
    }
    wg_textf(out, "\nProfile of cycles %llu to %llu\n", (unsigned long long)p->from, (unsigned long long)p->to);
    if (s->scaling)
        wg_scaling_text(s->scaling, out);
    const wg_profiled one = {&s, 1};
    wg_path_text(&one, p->from, p->to, s->top, out);
    wg_profile_groups_text(&one, s->top, p->to - p->from, out);
    waits_text(s, out);
    wg_annotate(&one, s->annotate, out);
}

/* ---- JSON ---- */

/* "1-2" */
static void tile_json(const wg_session *s, const char *key, unsigned tile, wg_json *j)
{
    char name[24];
    snprintf(name, sizeof name, "%u-%u", tile % s->chip_width, tile / s->chip_width);
    wg_json_text(j, key, name);
}

void wg_profile_row_json(wg_session *s, const wg_cost *c, const char *who, bool of_tile, wg_json *j)
{
    char text[WG_DIS_MAX], name[64];
    const wg_source source = wg_profile_source(s, c);
    wg_profile_at at = wg_profile_at_of(&source);
    unsigned cb;
    bool space;
    wg_json_open(j, NULL, '{');
    if (who)
        wg_json_text(j, "who", who);
    if (of_tile && s->chip_width)
        tile_json(s, "tile", s->tile, j);
    if (of_tile && s->of_chip)
        wg_json_uint(j, "chip", s->of_chip - 1u);
    wg_json_text(j, "cause",
                 wg_track_flies(c->track) ? wg_flight_name(c->track, c->doing)
                                          : wg_doing_name(c->track, c->doing, name, sizeof name));
    wg_json_uint(j, "cycles", c->cycles);
    wg_json_uint(j, "times", c->times);
    if (c->holder < WG_AGENT_COUNT)
        wg_json_text(j, "holder", wg_agent_name(c->holder));
    if (*wg_profile_awaited(s, c, name, sizeof name))
        wg_json_text(j, "condition", name);
    if (c->tile)
        tile_json(s, "other_tile", c->tile - 1u, j);
    if (c->address)
        wg_json_hex(j, "address", c->address);
    if (wg_profile_buffer(s, c, &cb, &space)) {
        wg_json_uint(j, "circular_buffer", cb);
        wg_json_text(j, "waits_for", space ? "space" : "pages");
    }
    if (*wg_profile_ended_at(s, c, text, sizeof text))
        wg_json_text(j, "ended_at", text);
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
    wg_profile_insn(s, c, text, sizeof text);
    if (*text)
        wg_json_text(j, "instruction", text);
    wg_json_close(j, '}');
}

void wg_profile_cost_json(wg_session *s, const wg_cost *c, wg_json *j) { wg_profile_row_json(s, c, NULL, false, j); }
const char *wg_profile_file(wg_session *s, const wg_cost *c) { return wg_profile_place(s, c).file; }

static void waits_json(wg_session *s, wg_json *j)
{
    size_t count;
    wg_wait_cost *rows = wg_profile_waits(s->costs, &count);
    wg_json_open(j, "waits", '[');
    for (size_t i = 0; i < count; i++) {
        wg_profile_at at = wg_profile_place(s, &rows[i].cost);
        char text[WG_DIS_MAX];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "who", wg_agent_name_of(s->dev, rows[i].cost.track));
        wg_json_uint(j, "cycles", rows[i].cycles);
        wg_json_uint(j, "held", rows[i].held);
        wg_json_uint(j, "executed", rows[i].executed);
        if (at.file) {
            wg_json_text(j, "file", at.file);
            wg_json_uint(j, "line", at.line);
        }
        wg_profile_insn(s, &rows[i].cost, text, sizeof text);
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
    if (s->scaling && !s->chip_width)
        wg_scaling_json(s->scaling, j);
    wg_json_open(j, "tracks", '[');
    for (size_t i = 0; i < p->table.count;) {
        unsigned track = p->table.cost[i].track;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_agent_name_of(s->dev, track));
        wg_json_text(j, "kind", wg_track_is_core(track) ? "core" : wg_track_is_thread(track) ? "thread" : "unit");
        wg_json_open(j, "costs", '[');
        for (; i < p->table.count && p->table.cost[i].track == track; i++)
            wg_profile_row_json(s, &p->table.cost[i], NULL, false, j);
        wg_json_close(j, ']');
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    waits_json(s, j);
    if (!s->chip_width) /* a chip has one for all its tiles */
        wg_path_json(&(wg_profiled){&s, 1}, p->from, p->to, j);
    wg_json_close(j, '}');
}

/* ---- Files for other tools ---- */

/* One line per stack: track; function; inlined functions; file:line; cause cycles. For flame graph tools. */
static void folded(wg_session *s, wg_text *out)
{
    char tile[24] = "";
    if (s->chip_width)
        snprintf(tile, sizeof tile, "tile %u-%u;", s->tile % s->chip_width, s->tile / s->chip_width);
    const wg_costs *p = s->costs;
    for (size_t i = 0; i < p->table.count; i++) {
        const wg_cost *c = &p->table.cost[i];
        const wg_source source = wg_profile_source(s, c);
        wg_row r = {.s = s, .cost = *c, .at = wg_profile_at_of(&source)};
        char where[256], cause[WG_CAUSE_MAX];
        r.at.function = NULL;
        wg_row_place(&r, where, sizeof where);
        wg_profile_cause(s, c, cause, sizeof cause);
        wg_textf(out, "%s%s;", tile, wg_agent_name(c->track));
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

/* The costs of one session; `total` grows. */
static void callgrind(wg_session *s, uint64_t total[EVENTS], wg_text *out)
{
    const wg_costs *p = s->costs;
    char tile[24] = "";
    if (s->chip_width)
        snprintf(tile, sizeof tile, "tile %u-%u ", s->tile % s->chip_width, s->tile / s->chip_width);
    for (size_t i = 0; i < p->table.count; i++) {
        const wg_cost *c = &p->table.cost[i];
        wg_profile_at at = wg_profile_place(s, c);
        unsigned event = event_of(c);
        total[event] += c->cycles;
        wg_textf(out, "\nob=%s%s\nfl=%s\nfn=%s%s: %s\n%u", tile, wg_agent_name(c->track), at.file ? at.file : "???",
                 tile, wg_agent_name(c->track),
                 at.function ? at.function
                 : at.file   ? at.file
                             : "(none)",
                 at.line);
        for (unsigned k = 0; k < EVENTS; k++)
            wg_textf(out, " %llu", k == event ? (unsigned long long)c->cycles : 0ull);
        wg_text_add(out, "\n", 1);
    }
}

static void all_folded(const wg_profiled *all, const char *title, wg_text *out)
{
    (void)title;
    for (unsigned i = 0; i < all->tiles; i++)
        folded(all->tile[i], out);
}

static void all_callgrind(const wg_profiled *all, const char *title, wg_text *out)
{
    uint64_t total[EVENTS] = {0};
    wg_textf(out,
             "# callgrind format\nversion: 1\ncreator: waitgate %s\ncmd: %s\npositions: line\n"
             "event: Busy : cycles at work\nevent: Waiting : cycles stalled\nevent: Polling : cycles in polling loops\n"
             "event: Idle : cycles with nothing to do\nevents: Busy Waiting Polling Idle\n",
             wg_version(), title);
    for (unsigned i = 0; i < all->tiles; i++)
        callgrind(all->tile[i], total, out);
    wg_textf(out, "\ntotals:");
    for (unsigned k = 0; k < EVENTS; k++)
        wg_textf(out, " %llu", (unsigned long long)total[k]);
    wg_text_add(out, "\n", 1);
}

static bool lost_memory(const wg_profiled *all)
{
    bool lost = wg_memory_failed();
    for (unsigned i = 0; i < all->tiles; i++)
        lost |= wg_session_lost_memory(all->tile[i]);
    return lost;
}

bool wg_profile_files(const wg_profiled *all, const char *title, wg_text *error)
{
    static const struct {
        wg_option option;
        void (*write)(const wg_profiled *all, const char *title, wg_text *out);
    } files[] = {{WG_OPT_FOLDED, all_folded}, {WG_OPT_CALLGRIND, all_callgrind}};
    for (size_t i = 0; all->tiles && i < sizeof files / sizeof *files; i++) {
        const char *path = all->tile[0]->args->value[files[i].option];
        char message[512] = "out of memory";
        wg_text text = {0};
        if (!path)
            continue;
        files[i].write(all, title, &text);
        bool ok = !lost_memory(all) && wg_file_write(path, wg_text_of(&text), text.size, message, sizeof message);
        wg_text_free(&text);
        if (!ok) {
            wg_textf(error, "waitgate: %s\n", message);
            return false;
        }
    }
    return true;
}

/* ---- The part of the run to profile ---- */

bool wg_milestone_parse(const char *text, uint64_t *cycle, wg_milestone *mark)
{
    uint64_t address, value;
    const char *equal = strchr(text, '=');
    if (wg_parse_number(text, strlen(text), cycle))
        return true;
    if (!equal || !wg_parse_number(text, (size_t)(equal - text), &address) ||
        !wg_parse_number(equal + 1, strlen(equal + 1), &value) || address > UINT32_MAX || value > UINT32_MAX)
        return false;
    *mark = (wg_milestone){WG_MILESTONE_STORE, (uint32_t)address, (uint32_t)value};
    return true;
}

/* --from, --to: a cycle, a store, or the name of a function or label of any core's program. */
static bool read_end(wg_session *s, wg_option option, const char *name, uint64_t *cycle, wg_milestone *mark,
                     wg_text *error)
{
    const char *text = s->args->value[option];
    if (!text || wg_milestone_parse(text, cycle, mark))
        return true;
    for (unsigned core = 0; core < WG_CORES; core++) {
        const wg_elf_symbol *symbol = s->elf[core] ? wg_elf_symbol_named(s->elf[core], text) : NULL;
        if (symbol) {
            *mark = (wg_milestone){WG_MILESTONE_PC, symbol->address, 0};
            return true;
        }
    }
    if (s->host_elf) { /* its programs may arrive later */
        if (wg_watch_symbol(s->host_elf, s, text, &mark->address))
            mark->kind = WG_MILESTONE_PC;
        *cycle = UINT64_MAX;
        return true;
    }
    wg_textf(error, "waitgate: --%s: `%s` is neither a cycle, ADDR=VALUE, nor a symbol of a loaded program\n", name,
             text);
    return false;
}

/* Of a track: some 1 GB of each busy one. */
enum { MOST_LINKS = 1 << 24 };

bool wg_profile_open(wg_session *s, unsigned held, wg_text *error)
{
    uint64_t from = 0, to = UINT64_MAX;
    wg_milestone from_stone = {0}, to_stone = {0};
    static const char *const annotations[] = {"source", "instructions"};
    s->top = 12;
    s->annotate = WG_ANNOTATE_NONE;
    s->boxes = WG_PAGE_BOXES;
    if (!wg_option_number(s->args, WG_OPT_TOP, "top", &s->top, error) ||
        !wg_option_number(s->args, WG_OPT_BOXES, "boxes", &s->boxes, error) ||
        !wg_option_choice(s->args, WG_OPT_ANNOTATE, "annotate", annotations, 2, &s->annotate, error) ||
        !read_end(s, WG_OPT_FROM, "from", &from, &from_stone, error) ||
        !read_end(s, WG_OPT_TO, "to", &to, &to_stone, error))
        return false;
    if (!(s->costs = wg_calloc(1, sizeof *s->costs))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    wg_costs_begin(s->costs, wg_cycle(s->dev), held);
    wg_costs_place(s->costs, s->desc.arch, s->tile, !s->chip_width, s->dev->tile->l1);
    s->costs->chain.packets.chip = (uint16_t)s->of_chip;
    if (s->boxes > WG_CHAIN_LINKS)
        s->costs->chain.most = s->boxes < MOST_LINKS ? s->boxes : MOST_LINKS;
    s->costs->from_stone = from_stone;
    s->costs->to_stone = to_stone;
    s->costs->from = from_stone.kind ? UINT64_MAX : from;
    s->costs->to = to;
    return wg_session_observe(s, WG_COSTS_EVENTS, wg_costs_event, s->costs, error);
}

bool wg_profile_end(wg_session *s, uint64_t cycle, wg_text *error)
{
    wg_costs_end(s->costs, cycle);
    if (!s->costs->table.failed && !s->costs->chain.failed && !s->costs->chain.packets.failed)
        return true;
    wg_memory_lost();
    wg_textf(error, "waitgate: out of memory\n");
    return false;
}

bool wg_profile_close(wg_session *s, wg_text *error)
{
    return wg_profile_end(s, wg_cycle(s->dev), error) && wg_profile_files(&(wg_profiled){&s, 1}, s->title, error);
}
