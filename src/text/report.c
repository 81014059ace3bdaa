/* SPDX-License-Identifier: Apache-2.0 */
#include "text/report.h"

#include <stdlib.h>
#include <string.h>

#include "text/finding_words.h"
#include "text/rvdis.h"

static wg_report *add(wg_reports *all)
{
    wg_report *more = all->failed ? NULL : wg_realloc(all->at, (all->count + 1) * sizeof *more);
    if (!more) {
        all->failed = true;
        return NULL;
    }
    all->at = more;
    wg_report *r = &more[all->count++];
    *r = (wg_report){.count = 1, .x = -1, .y = -1, .chip = -1};
    return r;
}

void wg_reports_free(wg_reports *all)
{
    free(all->at);
    wg_excerpts_free(&all->excerpts);
    *all = (wg_reports){0};
}

/* The core whose program a pc of this agent belongs to. */
static unsigned core_of(unsigned agent)
{
    if (agent <= WG_AGENT_CORE_T2)
        return agent;
    return agent <= WG_AGENT_THREAD2 ? agent - (unsigned)WG_AGENT_THREAD0 + WG_CORE_T0 : (unsigned)WG_CORES;
}

static const char *core_or_agent(const wg_race_words *w, unsigned agent, char *room, size_t bytes)
{
    snprintf(room, bytes, "%s%s", agent <= WG_AGENT_CORE_T2 ? "core " : "",
             agent < WG_AGENT_COUNT ? wg_agent_name_of(w->dev, agent) : "the chip");
    return room;
}

static void find_source(wg_reports *all, const wg_race_words *w, unsigned core, wg_report_party *p)
{
    p->source = (wg_source){.struct_size = sizeof p->source};
    if (!p->pc || !w->source || !w->source(w->user, core, p->pc, &p->source))
        p->source = (wg_source){0};
    wg_excerpt_line(&all->excerpts, &p->source, p->snippet);
}

wg_report *wg_reports_finding(wg_reports *all, const wg_race_words *w, const wg_finding *f)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    wg_report *r = add(all);
    char words[256];
    if (!r)
        return NULL;
    r->rule = info->code;
    r->summary = info->cause;
    r->help = info->remedy;
    r->severity = info->severity;
    r->count = f->count;
    r->cycle = f->cycle;
    wg_finding_words(w->arch, f, words, sizeof words);
    snprintf(r->cause, sizeof r->cause, "%s", info->cause);
    snprintf(r->evidence, sizeof r->evidence, "%s", words);
    snprintf(r->remedy, sizeof r->remedy, "%s", info->remedy);
    r->parties = 1;
    wg_report_party *p = &r->party[0];
    core_or_agent(w, f->agent, p->who, sizeof p->who);
    p->cycle = f->cycle;
    p->pc = f->has_pc ? f->pc : 0;
    if (f->has_word && f->agent > WG_AGENT_CORE_T2)
        wg_disassemble(w->arch, f->word, WG_DIS_NO_COMMENT, p->instruction, sizeof p->instruction);
    else if (f->has_word && (f->word & 3) == 3)
        wg_riscv_text(f->pc, f->word, p->instruction, sizeof p->instruction);
    find_source(all, w, core_of(f->agent), p);
    return r;
}

static void race_party(wg_reports *all, const wg_race_words *w, const wg_race_party *from, wg_report_party *p)
{
    wg_race_who(w, from, p->who, sizeof p->who);
    wg_race_insn_text(w, from, p->instruction, sizeof p->instruction);
    snprintf(p->does, sizeof p->does, "%s", from->atomic ? "atomic access" : from->write ? "write" : "read");
    p->pc = from->pc;
    p->cycle = from->cycle;
    wg_race_source(w, from, &p->source);
    wg_excerpt_line(&all->excerpts, &p->source, p->snippet);
}

wg_report *wg_reports_race(wg_reports *all, const wg_race_words *w, const wg_race *race)
{
    wg_report *r = add(all);
    if (!r)
        return NULL;
    r->rule = wg_race_kind_name(race->kind);
    r->summary = wg_race_kind_summary(race->kind);
    r->help = wg_race_kind_remedy(race->kind);
    r->severity = wg_race_severity(race->kind);
    r->count = race->count;
    r->cycle = race->b.cycle;
    r->verified = race->remedy_is == WG_REMEDY_VERIFIED;
    snprintf(r->cause, sizeof r->cause, "%s", race->why);
    snprintf(r->evidence, sizeof r->evidence, "%s", race->location);
    snprintf(r->remedy, sizeof r->remedy, "%s", race->remedy);
    r->parties = race->has_a ? 2 : 1;
    race_party(all, w, &race->b, &r->party[0]);
    if (race->has_a)
        race_party(all, w, &race->a, &r->party[1]);
    return r;
}

/* The instruction at which the party waits: the latched wait or the head of the gate, or the core's instruction. */
static void hang_instruction(const wg_race_words *w, const wg_hang *h, wg_node n, wg_report_party *p)
{
    uint32_t word;
    if (n.kind == WG_NODE_CORE && p->pc && w->core_word && w->core_word(w->user, p->pc, &word) && (word & 3) == 3)
        wg_riscv_text(p->pc, word, p->instruction, sizeof p->instruction);
    if (n.kind == WG_NODE_THREAD && n.index < WG_THREADS) {
        const wg_gate_info *gate = &h->thread[n.index].gate;
        if (gate->latch.kind != WG_LATCH_EMPTY || gate->has_head)
            wg_disassemble(w->arch, gate->latch.kind != WG_LATCH_EMPTY ? gate->latch.word : gate->head.word,
                           WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, p->instruction, sizeof p->instruction);
    }
    for (char *c = p->instruction; *c; c++)
        if (*c == '\t')
            *c = ' ';
}

wg_report *wg_reports_hang(wg_reports *all, const wg_race_words *w, const wg_hang *h)
{
    wg_report *r = add(all);
    size_t used = 0;
    if (!r)
        return NULL;
    r->rule = "hang";
    r->summary = "Nothing can move any more.";
    r->help = "End the wait that the verdict names.";
    r->severity = WG_SEVERITY_UNDEFINED;
    r->cycle = h->cycle;
    snprintf(r->cause, sizeof r->cause, "%.*s", (int)(h->remedy_at ? h->remedy_at - 1 : 0), h->story);
    snprintf(r->remedy, sizeof r->remedy, "%s", h->story + h->remedy_at);
    for (unsigned i = 0; i < h->edges && used < sizeof r->evidence; i++) {
        char from[80], to[80];
        int n = snprintf(r->evidence + used, sizeof r->evidence - used, "%s%s waits for %s: %s", i ? "; " : "",
                         wg_node_name(h, h->edge[i].from, from, sizeof from),
                         wg_node_name(h, h->edge[i].to, to, sizeof to), h->edge[i].reason);
        used += n > 0 ? (size_t)n : 0;
    }
    for (unsigned i = 0; i < h->path_length && r->parties < WG_REPORT_PARTIES; i++) {
        const wg_hang_edge *e = &h->edge[h->path[i]];
        unsigned core;
        if (e->from.kind != WG_NODE_CORE && e->from.kind != WG_NODE_THREAD && e->from.kind != WG_NODE_UNIT)
            continue;
        wg_report_party *p = &r->party[r->parties++];
        wg_node_name(h, e->from, p->who, sizeof p->who);
        snprintf(p->does, sizeof p->does, "waits: %.150s", e->reason);
        p->pc = wg_hang_pc(h, e->from, &core);
        p->cycle = h->cycle;
        find_source(all, w, core, p);
        hang_instruction(w, h, e->from, p);
    }
    return r;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void party_json(const wg_report_party *p, wg_excerpts *excerpts, wg_json *j)
{
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "who", p->who);
    if (*p->does)
        wg_json_text(j, "does", p->does);
    if (*p->instruction)
        wg_json_text(j, "instruction", p->instruction);
    wg_json_uint(j, "cycle", p->cycle);
    if (p->pc)
        wg_json_hex(j, "pc", p->pc);
    wg_source_json(&p->source, excerpts, j);
    wg_json_close(j, '}');
}

void wg_reports_json(const wg_reports *all, const char *key, wg_json *j)
{
    wg_excerpts excerpts = {0};
    wg_json_open(j, key, '[');
    for (size_t i = 0; i < all->count; i++) {
        const wg_report *r = &all->at[i];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "rule", r->rule);
        wg_json_text(j, "severity", wg_severity_names[r->severity]);
        wg_json_text(j, "cause", r->cause);
        wg_json_text(j, "evidence", r->evidence);
        wg_json_text(j, "remedy", r->remedy);
        wg_json_bool(j, "verified", r->verified);
        wg_json_uint(j, "count", r->count);
        wg_json_uint(j, "cycle", r->cycle);
        if (r->x >= 0) {
            wg_json_uint(j, "x", (uint64_t)r->x);
            wg_json_uint(j, "y", (uint64_t)r->y);
        }
        if (r->suppressed)
            wg_json_text(j, "suppressed", r->suppressed);
        wg_json_open(j, "parties", '[');
        for (unsigned k = 0; k < r->parties; k++)
            party_json(&r->party[k], &excerpts, j);
        wg_json_close(j, ']');
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_excerpts_free(&excerpts);
}
