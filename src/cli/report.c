/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run, for people and for programs. The JSON has a schema number; fields are only ever added. */
#include "cli/commands.h"
#include "cli/session.h"
#include "arch/arch.h"
#include "cli/waits.h"
#include "cli/what_if.h"

#include <string.h>

#include "isa/asm.h"

enum { SCHEMA = 1 };

const char *wg_ended_name(wg_ended ended)
{
    static const char *const names[] = {"done", "until", "hang", "limit", "finding", "interrupted"};
    return names[ended];
}

static bool expected(const wg_session *s, const char *code)
{
    for (size_t i = 0; s->has_tasm && i < s->tasm.expects; i++)
        if (s->tasm.expect[i].kind == WG_EXPECT_FINDING && strcmp(s->tasm.expect[i].code, code) == 0)
            return true;
    return false;
}

static bool expects(const wg_session *s, wg_expect_kind kind)
{
    for (size_t i = 0; s->has_tasm && i < s->tasm.expects; i++)
        if (s->tasm.expect[i].kind == kind)
            return true;
    return false;
}

static unsigned core_of(const wg_finding *f);

/* check: suppressed by the suppression file. */
static bool suppressed(wg_session *s, const wg_finding *f) { return wg_check_reason(s, f) != NULL; }

const char *wg_check_reason(wg_session *s, const wg_finding *f)
{
    char place[256] = "", text[WG_DIS_MAX] = "";
    if (!s->races)
        return NULL;
    if (f->has_pc)
        wg_place(s, core_of(f), f->pc, place, sizeof place);
    if (f->has_word)
        wg_insn_text(s, f->agent, f->pc, f->word, text, sizeof text);
    return wg_check_suppresses(s, f, place, text);
}

/* When several apply: 3, then 1, 5, 2, 4. An expected finding is not a failure. */
int wg_report_status(wg_session *s)
{
    bool findings = false;
    if (s->ended == WG_ENDED_INTERRUPT)
        return WG_EXIT_INTERRUPTED;
    if (s->ended == WG_ENDED_HUNG && !expects(s, WG_EXPECT_HANG))
        return WG_EXIT_HANG;
    if (!s->expectations_hold)
        return WG_EXIT_EXPECTATION;
    if (s->ended == WG_ENDED_LIMIT && !expects(s, WG_EXPECT_LIMIT))
        return WG_EXIT_LIMIT;
    for (size_t i = 0; i < wg_finding_count(s->dev); i++) {
        const wg_finding_info *info = wg_finding_info_at(wg_finding_at(s->dev, i)->code);
        if (suppressed(s, wg_finding_at(s->dev, i)))
            continue;
        if (info->severity >= WG_SEVERITY_UNDEFINED && !expected(s, info->code))
            return WG_EXIT_UNDEFINED;
        if (s->races && info->severity >= s->fail_on && !expected(s, info->code))
            findings = true;
    }
    return findings || wg_check_fails(s) ? WG_EXIT_FINDINGS : WG_EXIT_DONE;
}

/* The core whose program a finding's pc belongs to: its own, or that of the thread. */
static unsigned core_of(const wg_finding *f)
{
    if (f->agent <= WG_AGENT_CORE_T2)
        return f->agent;
    return f->agent <= WG_AGENT_THREAD2 ? f->agent - (unsigned)WG_AGENT_THREAD0 + WG_CORE_T0 : (unsigned)WG_CORES;
}

void wg_report_finding(wg_session *s, const wg_finding *f, wg_text *out)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    char place[256], text[WG_DIS_MAX], words[256];
    wg_textf(out, "%s: %s at cycle %llu", wg_severity_names[info->severity], info->code, (unsigned long long)f->cycle);
    if (f->agent < WG_AGENT_COUNT)
        wg_textf(out, ", %s", wg_agent_name_of(s->dev, f->agent));
    if (f->count > 1)
        wg_textf(out, ", %llu times", (unsigned long long)f->count);
    wg_text_add(out, "\n", 1);
    if (f->has_pc) {
        bool known = *wg_place(s, core_of(f), f->pc, place, sizeof place) != 0;
        if (WG_IS_HOST_PC(f->pc))
            wg_textf(out, "    at %s\n", place);
        else
            wg_textf(out, "    at 0x%08x%s%s\n", f->pc, known ? " in " : "", place);
    }
    if (f->has_word)
        wg_textf(out, "    0x%08x  %s\n", f->word, wg_insn_text(s, f->agent, f->pc, f->word, text, sizeof text));
    wg_source source;
    wg_excerpts excerpts = {0};
    if (f->has_pc && wg_session_source(s, core_of(f), f->pc, &source))
        wg_excerpt_text(&excerpts, &source, "", out);
    wg_excerpts_free(&excerpts);
    if (*wg_finding_words(s->desc.arch, f, words, sizeof words))
        wg_textf(out, "    %s\n", words);
    const wg_blamed *b;
    for (unsigned i = 0; (b = wg_blame_at(s, f, i)) != NULL; i++) {
        wg_textf(out, "    ");
        wg_blame_text(s, b, out);
        wg_text_add(out, "\n", 1);
    }
    const uint32_t race = wg_check_explains(s, f);
    wg_textf(out, "    %s%s%s\n    ", wg_mark_of(out, WG_MARK_CAUSE), info->cause, wg_mark_of(out, WG_MARK_END));
    if (race)
        wg_textf(out, "It follows from R%u: nothing puts the load and the write in order. ", race);
    else
        wg_textf(out, "%s%s%s ", wg_mark_of(out, WG_MARK_REMEDY), info->remedy, wg_mark_of(out, WG_MARK_END));
    wg_textf(out, "(%s; `waitgate explain %s`)\n", info->source, info->code);
}

static void blamed_json(wg_session *s, const wg_blamed *b, wg_json *j)
{
    wg_text text = {0};
    wg_blame_text(s, b, &text);
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "field", wg_cfg_names[b->field.id]);
    wg_json_text(j, "text", wg_text_of(&text));
    if (b->known) {
        wg_json_uint(j, "cycle", b->cycle);
        wg_json_text(j, "who", wg_agent_name(b->agent));
        wg_json_hex(j, "pc", b->pc);
    }
    wg_json_close(j, '}');
    wg_text_free(&text);
}

void wg_report_finding_json(wg_session *s, const wg_finding *f, wg_json *j, const char *key)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    char place[256], text[WG_DIS_MAX], words[256];
    wg_json_open(j, key, '{');
    wg_json_text(j, "code", info->code);
    wg_json_text(j, "severity", wg_severity_names[info->severity]);
    wg_json_uint(j, "cycle", f->cycle);
    wg_json_uint(j, "count", f->count);
    wg_json_uint(j, "tile", f->tile);
    wg_json_text(j, "who", f->agent < WG_AGENT_COUNT ? wg_agent_name_of(s->dev, f->agent) : "");
    if (f->has_pc) {
        wg_json_hex(j, "pc", f->pc);
        wg_source source;
        wg_excerpts excerpts = {0};
        wg_session_source(s, core_of(f), f->pc, &source);
        wg_source_json(&source, &excerpts, j);
        wg_excerpts_free(&excerpts);
        wg_json_text(j, "place", wg_place(s, core_of(f), f->pc, place, sizeof place));
    }
    if (f->has_word) {
        wg_json_hex(j, "word", f->word);
        wg_json_text(j, "instruction", wg_insn_text(s, f->agent, f->pc, f->word, text, sizeof text));
    }
    wg_json_textf(j, "subject", "0x%llx", (unsigned long long)f->subject);
    wg_json_textf(j, "value", "0x%llx", (unsigned long long)f->value);
    wg_json_text(j, "detail", wg_finding_words(s->desc.arch, f, words, sizeof words));
    const wg_blamed *b = wg_blame_at(s, f, 0);
    if (b)
        wg_json_open(j, "set_by", '[');
    for (unsigned i = 0; (b = wg_blame_at(s, f, i)) != NULL; i++)
        blamed_json(s, b, j);
    if (wg_blame_at(s, f, 0))
        wg_json_close(j, ']');
    if (wg_check_explains(s, f))
        wg_json_uint(j, "explained_by", wg_check_explains(s, f));
    wg_json_text(j, "cause", info->cause);
    wg_json_text(j, "remedy", info->remedy);
    wg_json_text(j, "source", info->source);
    wg_json_close(j, '}');
}

static bool track_used(const wg_stats *stats, unsigned track)
{
    uint64_t quiet =
        stats->cycles[track][WG_DOING_IDLE] + (wg_track_is_core(track) ? stats->cycles[track][WG_DOING_RESET] : 0);
    return quiet != stats->to - stats->from;
}

/* Does the tile have such a core? */
static bool track_exists(const wg_session *s, unsigned track)
{
    wg_core_info info;
    return !wg_track_is_core(track) || wg_core_state(s->dev, (wg_core_id)track, &info) == WG_OK;
}

/* Reported once, if any cycle depends on an assumption. */
static void report_assumed(const wg_stats *stats, wg_text *out)
{
    const wg_assumed *a = &stats->assumed;
    const wg_constant *c;
    wg_assumed_part part;
    for (unsigned i = 0; (c = wg_assumed_constant_at(a, i)); i++)
        wg_textf(out, "%s %s",
                 i ? "," : "  assumed constants apply to this tile's NoC, DRAM or Ethernet traffic:", c->name);
    if (a->traffic && wg_assumed_constant_at(a, 0))
        wg_textf(out, " (docs/timing_constants.md)\n");
    if (!a->cycles)
        return;
    double share = 100.0 * (double)a->cycles / (double)(stats->to - stats->from);
    if (share < 1)
        wg_textf(out, "  less than 1 %%");
    else
        wg_textf(out, "  %.0f %%", share);
    wg_textf(out, " of these cycles rest%s on assumed latencies:", share < 1 ? "s" : "");
    for (unsigned i = 0; wg_assumed_part_at(a, i, &part); i++)
        wg_textf(out, "%s %s%s (%llu)", i ? "," : "", *part.kind == 'l' && part.kind[1] == 'o' ? "loads from " : "",
                 part.what, (unsigned long long)part.cycles);
    wg_textf(out, "\n");
}

static void assumed_json(const wg_assumed *a, wg_json *j)
{
    wg_assumed_part part;
    const wg_constant *c;
    wg_json_open(j, "assumed", '{');
    wg_json_uint(j, "cycles", a->cycles);
    wg_json_open(j, "parts", '[');
    for (unsigned i = 0; wg_assumed_part_at(a, i, &part); i++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "what", part.what);
        wg_json_text(j, "kind", part.kind);
        wg_json_uint(j, "cycles", part.cycles);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "traffic", '[');
    for (unsigned i = 0; (c = wg_assumed_constant_at(a, i)); i++)
        wg_json_text(j, NULL, c->name);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

void wg_report_stats(const wg_session *s, wg_text *out)
{
    const wg_stats *stats = s->stats;
    uint64_t length = stats->to - stats->from;
    char room[64];
    wg_textf(out, "\nwhere %llu cycles went\n", (unsigned long long)length);
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        if (!track_exists(s, track) || !track_used(stats, track))
            continue;
        wg_textf(out, "  %-18s", wg_agent_name_of(s->dev, track));
        if (wg_track_is_core(track)) {
            wg_core_info info;
            if (wg_core_state(s->dev, (wg_core_id)track, &info) == WG_OK)
                wg_textf(out, " %llu instructions", (unsigned long long)info.instructions);
        } else if (wg_track_is_thread(track)) {
            unsigned thread = track - WG_AGENT_THREAD0;
            wg_textf(out, " %llu pushed, %llu made by expansion, %llu passed the gate",
                     (unsigned long long)stats->pushed[thread], (unsigned long long)stats->expanded[thread],
                     (unsigned long long)stats->issued[track]);
            if (stats->lost[thread])
                wg_textf(out, ", %llu lost", (unsigned long long)stats->lost[thread]);
        } else {
            wg_textf(out, " %llu instructions", (unsigned long long)stats->issued[track]);
        }
        wg_text_add(out, "\n", 1);
        for (unsigned doing = 0; doing < WG_DOINGS; doing++) {
            uint64_t cycles = stats->cycles[track][doing];
            if (cycles)
                wg_textf(out, "    %12llu %5.1f%%  %-22s %s\n", (unsigned long long)cycles,
                         length ? 100.0 * (double)cycles / (double)length : 0.0,
                         wg_doing_name(track, doing, room, sizeof room), wg_doing_text(track, doing));
        }
    }
    report_assumed(stats, out);
}

static void shortcuts_json(const wg_session *s, wg_json *j)
{
    wg_json_open(j, "shortcuts", '[');
    for (unsigned i = 0; wg_shortcut_name(i); i++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_shortcut_name(i));
        wg_json_uint(j, "uses", wg_shortcut_uses(s->dev, i));
        wg_json_uint(j, "cycles", wg_shortcut_cycles(s->dev, i));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

void wg_report_stats_json(const wg_session *s, wg_json *j)
{
    const wg_stats *stats = s->stats;
    char room[64];
    wg_json_open(j, "stats", '{');
    wg_json_uint(j, "cycles", stats->to - stats->from);
    wg_json_open(j, "tracks", '[');
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        if (!track_exists(s, track))
            continue;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_agent_name_of(s->dev, track));
        wg_json_text(j, "kind", wg_track_is_core(track) ? "core" : wg_track_is_thread(track) ? "thread" : "unit");
        if (!wg_track_is_core(track))
            wg_json_uint(j, "issued", stats->issued[track]);
        wg_json_open(j, "cycles", '{');
        for (unsigned doing = 0; doing < WG_DOINGS; doing++)
            if (stats->cycles[track][doing])
                wg_json_uint(j, wg_doing_name(track, doing, room, sizeof room), stats->cycles[track][doing]);
        wg_json_close(j, '}');
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    assumed_json(&stats->assumed, j);
    shortcuts_json(s, j);
    wg_json_close(j, '}');
}

/* One character per state: '.' idle, '#' working, '-' reset, '_' parked, 'p' polling, letters for stalls. */
typedef struct legend {
    char letter[WG_DOINGS];
    unsigned letters;
} legend;

static char letter_of(legend *l, unsigned doing)
{
    static const char fixed[WG_DOING_STALL] = {'.', '#', '-', '_', 'p'};
    static const char letters[] = "abcdefghijklmnoqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (doing < WG_DOING_STALL)
        return fixed[doing];
    if (!l->letter[doing])
        l->letter[doing] = letters[l->letters++ % (sizeof letters - 1)];
    return l->letter[doing];
}

static unsigned colour_of(unsigned doing)
{
    static const uint8_t colours[] = {196, 202, 208, 214, 220, 199, 201, 93,  99, 45,
                                      39,  33,  141, 178, 172, 167, 131, 125, 69, 75};
    if (doing == WG_DOING_WORK)
        return 34;
    if (doing < WG_DOING_STALL)
        return 240;
    return colours[(doing - WG_DOING_STALL) % (sizeof colours / sizeof *colours)];
}

void wg_report_timeline(const wg_session *s, wg_text *out, bool colour)
{
    const wg_timeline *t = s->timeline;
    enum { LABEL = 20 };
    uint64_t length = t->to - t->from;
    unsigned width = wg_terminal_width(), columns = width > LABEL + 20 ? width - LABEL - 1 : 20;
    if (length < columns)
        columns = (unsigned)length;
    legend l = {0};
    bool used[WG_DOINGS] = {false};
    if (!columns)
        return;
    wg_textf(out, "\ncycles %llu to %llu, %.4g per column\n", (unsigned long long)t->from, (unsigned long long)t->to,
             (double)length / (double)columns);
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        unsigned doing = 0;
        if (!track_exists(s, track) || wg_timeline_quiet(t, track))
            continue;
        wg_textf(out, "%-*s", LABEL, wg_agent_name_of(s->dev, track));
        unsigned last = WG_DOINGS;
        for (unsigned c = 0; c < columns; c++) {
            if (!wg_timeline_at(t, track, c, columns, &doing))
                doing = WG_DOING_IDLE;
            used[doing] = true;
            if (colour && doing != last)
                wg_textf(out, "\033[38;5;%um", colour_of(doing));
            last = doing;
            wg_textf(out, "%c", letter_of(&l, doing));
        }
        wg_textf(out, "%s\n", colour ? "\033[0m" : "");
    }
    static const char *const fixed[WG_DOING_STALL] = {"nothing to do", "at work", "in reset", "parked", "polling"};
    for (unsigned doing = 0; doing < WG_DOINGS; doing++) {
        if (!used[doing])
            continue;
        if (colour)
            wg_textf(out, "  \033[38;5;%um%c\033[0m %s\n", colour_of(doing), letter_of(&l, doing),
                     doing < WG_DOING_STALL ? fixed[doing] : wg_stall_text(doing - WG_DOING_STALL));
        else
            wg_textf(out, "  %c %s\n", letter_of(&l, doing),
                     doing < WG_DOING_STALL ? fixed[doing] : wg_stall_text(doing - WG_DOING_STALL));
    }
}

static void expectations_text(const wg_session *s, bool quiet, wg_text *out)
{
    size_t hold = 0;
    for (size_t i = 0; i < s->tasm.expects; i++) {
        const wg_expect *e = &s->tasm.expect[i];
        hold += s->expect_holds[i];
        if (s->expect_holds[i] && !quiet)
            wg_textf(out, "  ok    %s\n", e->text);
        else if (!s->expect_holds[i])
            wg_textf(out, "  FAIL  %s: %s (%s:%u)\n", e->text, wg_text_of(&s->expect_found[i]), s->tasm.name, e->line);
    }
    if (!quiet || hold != s->tasm.expects)
        wg_textf(out, "%zu of %zu expectations hold\n", hold, s->tasm.expects);
}

static bool is_shown(wg_session *s, const wg_finding *f, bool quiet)
{
    return (!quiet || !expected(s, wg_finding_info_at(f->code)->code)) && !suppressed(s, f);
}

/* The first few of one kind by one party are shown in full, the rest in a line. by_race: those that a race explains. */
static void findings_text(wg_session *s, bool quiet, bool by_race, wg_text *out)
{
    enum { IN_FULL = 3 };
    size_t count = wg_finding_count(s->dev);
    for (size_t i = 0; i < count; i++) {
        const wg_finding *f = wg_finding_at(s->dev, i);
        if (!is_shown(s, f, quiet) || by_race != !!wg_check_explains(s, f))
            continue;
        size_t before = 0, more = 0;
        uint64_t times = 0, last = f->cycle;
        for (size_t k = 0; k < count && before <= IN_FULL; k++) {
            const wg_finding *other = wg_finding_at(s->dev, k);
            if (other->code != f->code || other->agent != f->agent || !is_shown(s, other, quiet) ||
                by_race != !!wg_check_explains(s, other))
                continue;
            before += k < i;
            more += k >= i;
            times += k >= i ? other->count : 0;
            last = k >= i && other->cycle > last ? other->cycle : last;
        }
        if (before < IN_FULL)
            wg_report_finding(s, f, out);
        else if (before == IN_FULL && more == 1)
            wg_report_finding(s, f, out);
        else if (before == IN_FULL)
            wg_textf(out, "… and %llu more %s%s%s at %zu places, cycles %llu to %llu (--json lists them all)\n",
                     (unsigned long long)times, wg_finding_info_at(f->code)->code,
                     f->agent < WG_AGENT_COUNT ? " of " : "",
                     f->agent < WG_AGENT_COUNT ? wg_agent_name_of(s->dev, f->agent) : "", more,
                     (unsigned long long)f->cycle, (unsigned long long)last);
    }
}

void wg_report_hang(wg_session *s, wg_text *out)
{
    const wg_race_words w = wg_check_words(s);
    wg_hang_text(&w, s->hang, s->ended == WG_ENDED_HUNG, out);
}

void wg_report_hang_json(wg_session *s, wg_json *j)
{
    const wg_race_words w = wg_check_words(s);
    wg_hang_json(&w, s->hang, s->ended == WG_ENDED_HUNG, j);
}

static void report_text(wg_session *s, int status, wg_text *out)
{
    static const char *const sentence[] = {
        "done", "done (--until)", "hangs", "stopped by --max-cycles", "stopped by a finding", "interrupted"};
    bool quiet = s->args->value[WG_OPT_QUIET] != NULL;
    if (!quiet || status != WG_EXIT_DONE)
        wg_textf(out, "%s: %s after %llu cycles (%s)\n", s->title, sentence[s->ended],
                 (unsigned long long)wg_cycle(s->dev), wg_arch_title(s->desc.arch));
    const wg_race_words w = wg_check_words(s);
    bool hung = s->ended == WG_ENDED_HUNG, hang = s->hang && !(hung && expects(s, WG_EXPECT_HANG) && quiet);
    wg_text rest = {.width = out->width, .colour = out->colour};
    const bool races_first = wg_check_comes_first(s);
    if (races_first)
        wg_report_races(s, out);
    if (hang)
        wg_hang_verdict_text(&w, s->hang, hung, out);
    findings_text(s, quiet, false, &rest);
    if (s->races && !races_first)
        wg_report_races(s, &rest);
    findings_text(s, quiet, true, &rest);
    if (s->has_tasm && s->tasm.expects)
        expectations_text(s, quiet, &rest);
    wg_textf(out, "%s%s", hang && rest.size ? "\n" : "", wg_text_of(&rest));
    out->failed |= rest.failed;
    wg_text_free(&rest);
    if (hang)
        wg_hang_state_text(&w, s->hang, hung, out);
    if (s->stats)
        wg_report_stats(s, out);
    if (s->costs && !(quiet && s->args->command == WG_CMD_REPORT))
        wg_report_profile(s, out);
    if (s->scaled)
        wg_report_what_if(s->scaled, out);
    if (s->waits)
        wg_report_waits(s->waits, out);
    if (s->timeline)
        wg_report_timeline(s, out, out->colour);
}

void wg_report_cores_json(wg_session *s, wg_json *j)
{
    wg_json_open(j, "cores", '[');
    for (unsigned i = 0; i < WG_CORES; i++) {
        wg_core_info info;
        if (wg_core_state(s->dev, (wg_core_id)i, &info) != WG_OK)
            continue;
        char place[256];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_agent_name_of(s->dev, i));
        wg_json_bool(j, "in_reset", info.in_reset);
        wg_json_bool(j, "parked", info.parked);
        wg_json_hex(j, "pc", info.pc);
        wg_json_text(j, "place", wg_place(s, i, info.pc, place, sizeof place));
        wg_json_uint(j, "instructions", info.instructions);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

void wg_report_json(wg_session *s, int status, const wg_text *error, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", SCHEMA);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", s->title);
    wg_json_text(j, "arch", wg_arch_of(s->desc.arch)->name);
    wg_json_text(j, "profile", s->desc.profile == WG_PROFILE_SILICON ? "silicon" : "documented");
    wg_json_uint(j, "seed", s->desc.seed);
    wg_json_text(j, "result", wg_ended_name(s->ended));
    wg_json_uint(j, "status", (uint64_t)status);
    wg_json_uint(j, "cycles", wg_cycle(s->dev));
    wg_report_cores_json(s, j);
    wg_json_open(j, "findings", '[');
    for (size_t i = 0; i < wg_finding_count(s->dev); i++)
        wg_report_finding_json(s, wg_finding_at(s->dev, i), j, NULL);
    wg_json_close(j, ']');
    if (s->races)
        wg_report_races_json(s, j);
    wg_collect_json(s, j);
    if (s->has_tasm) {
        wg_json_open(j, "expectations", '[');
        for (size_t i = 0; i < s->tasm.expects; i++) {
            wg_json_open(j, NULL, '{');
            wg_json_text(j, "text", s->tasm.expect[i].text);
            wg_json_uint(j, "line", s->tasm.expect[i].line);
            wg_json_bool(j, "holds", s->expect_holds[i]);
            wg_json_text(j, "found", wg_text_of(&s->expect_found[i]));
            wg_json_close(j, '}');
        }
        wg_json_close(j, ']');
    }
    if (s->hang)
        wg_report_hang_json(s, j);
    if (s->stats)
        wg_report_stats_json(s, j);
    if (s->args->command == WG_CMD_RUN)
        shortcuts_json(s, j);
    if (s->costs)
        wg_report_profile_json(s, j);
    if (s->scaled)
        wg_report_what_if_json(s->scaled, j);
    if (s->waits)
        wg_report_waits_json(s->waits, j);
    if (error && error->size)
        wg_error_member(j, error);
    wg_json_close(j, '}');
}

void wg_report_run(wg_session *s, int status, const wg_text *error, wg_text *out)
{
    if (s->args->value[WG_OPT_JSON])
        wg_report_json(s, status, error, out);
    else
        report_text(s, status, out);
}

void wg_session_result(wg_session *s, wg_run_result *result)
{
    result->cycles = wg_cycle(s->dev);
    for (size_t i = 0; s->has_tasm && !result->line && i < s->tasm.expects; i++)
        if (!s->expect_holds[i])
            result->line = s->tasm.expect[i].line;
    wg_reports all = {0};
    wg_collect_reports(s, -1, -1, &all);
    /* Otherwise the first place of a report that is in the program itself: of the hang, if there is one. */
    for (size_t i = all.count; i-- > 0 && !result->line;) {
        const wg_source *at = &all.at[i].party[0].source;
        if (all.at[i].parties && !all.at[i].suppressed && at->file && strcmp(at->file, s->title) == 0)
            result->line = at->line;
    }
    if (result->sarif)
        wg_sarif_part(&all, result->sarif);
    wg_reports_free(&all);
}
