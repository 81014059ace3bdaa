/* SPDX-License-Identifier: Apache-2.0 */
/* The hang report (and the state report of an interrupted run) as text and as JSON. */
#include "text/hang_text.h"

#include <string.h>

#include "isa/asm.h"
#include "machine/device.h"
#include "text/report.h"

static const char *place(const wg_race_words *w, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source = {.struct_size = sizeof source};
    if (!w->source || !w->source(w->user, core, pc, &source))
        source = (wg_source){0};
    return wg_source_text(&source, room, bytes);
}

static void core_text(const wg_race_words *w, const wg_hang *h, unsigned core, wg_text *out)
{
    const wg_hang_core *c = &h->core[core];
    char where[256];
    if (c->info.in_reset)
        return;
    wg_textf(out, "  core %-3s at 0x%08x", wg_agent_name_of(h->dev, core), c->info.pc);
    if (*place(w, core, c->info.pc, where, sizeof where))
        wg_textf(out, " in %s", where);
    wg_textf(out, ": %s\n", c->waits ? c->why : "parked");
}

static void insn_line(const wg_race_words *w, unsigned thread, const char *label, uint32_t word, uint32_t pc,
                      wg_text *out)
{
    char text[WG_DIS_MAX], where[256];
    wg_disassemble(w->arch, word, WG_DIS_SYMBOLIC, text, sizeof text);
    wg_textf(out, "    %-18s 0x%08x  %s", label, word, text);
    if (pc && *place(w, WG_CORE_T0 + thread, pc, where, sizeof where))
        wg_textf(out, "   %s", where);
    wg_text_add(out, "\n", 1);
}

static void thread_text(const wg_race_words *w, const wg_hang *h, unsigned thread, wg_text *out)
{
    const wg_hang_thread *t = &h->thread[thread];
    const wg_gate_info *g = &t->gate;
    if (t->idle && !t->history_count)
        return;
    wg_textf(out, "  thread %u: FIFO %u, before the Replay Expander %u, before the gate %u%s\n", thread, g->fifo,
             g->replay_fifo, g->gate_fifo, t->idle ? "; drained" : "");
    if (g->expanding) {
        insn_line(w, thread, "expanding", g->mop.word, g->mop.pc, out);
        wg_textf(out, "    %-18s outer iteration %u, inner %u\n", "", g->mop_outer, g->mop_inner);
    }
    if (g->replaying)
        insn_line(w, thread, "replaying", g->replay.word, g->replay.pc, out);
    if (g->replaying || g->recording)
        wg_textf(out, "    %-18s %u to replay, %u to record\n", "", g->replaying, g->recording);
    if (*t->latch) {
        insn_line(w, thread, "latched wait", g->latch.word, g->latch.pc, out);
        wg_textf(out, "    %-18s it %s\n", "", t->latch);
    }
    if (g->has_head) {
        insn_line(w, thread, "at the gate", g->head.word, g->head.pc, out);
        if (*t->why)
            wg_textf(out, "    %-18s waits since cycle %llu: %s\n", "", (unsigned long long)g->stalled_since, t->why);
    }
    if (t->history_count)
        wg_textf(out, "    last %u that passed:\n", t->history_count);
    for (unsigned i = 0; i < t->history_count; i++) {
        char label[24];
        snprintf(label, sizeof label, "  cycle %llu", (unsigned long long)t->history[i].cycle);
        insn_line(w, thread, label, t->history[i].word, t->history[i].pc, out);
    }
}

static unsigned changes_kept(const wg_hang *h, unsigned semaphore)
{
    const uint64_t all = h->semaphore_changes[semaphore];
    return all < WG_SEM_CHANGES ? (unsigned)all : WG_SEM_CHANGES;
}

static const char *by_whom(const wg_hang *h, const wg_semaphore_change *c, char *room, size_t bytes)
{
    if (c->agent <= WG_AGENT_CORE_T2)
        return wg_node_name(h, (wg_node){WG_NODE_CORE, c->agent}, room, bytes);
    if (c->agent > WG_AGENT_THREAD2)
        return wg_agent_name_of(h->dev, c->agent);
    return wg_node_name(h, (wg_node){WG_NODE_THREAD, (uint8_t)(c->agent - WG_AGENT_THREAD0)}, room, bytes);
}

static const char *const act_words[WG_SEM_ACTS] = {"posted", "taken", "initialised"};

/* "1 over time: 0 in cycle 12 (initialised by thread 0), 1 in cycle 40 (posted by core T1) …" */
static void changes_text(const wg_hang *h, unsigned semaphore, wg_text *out)
{
    const unsigned kept = changes_kept(h, semaphore);
    char room[80];
    if (!kept)
        return;
    wg_textf(out, "    %u over time:", semaphore);
    if (h->semaphore_changes[semaphore] > kept)
        wg_textf(out, " (%llu earlier changes)", (unsigned long long)(h->semaphore_changes[semaphore] - kept));
    for (unsigned i = 0; i < kept; i++) {
        const wg_semaphore_change *c = &h->semaphore_change[semaphore][i];
        wg_textf(out, "%s %u in cycle %llu (%s by %s)", i ? "," : "", c->value, (unsigned long long)c->cycle,
                 act_words[c->act], by_whom(h, c, room, sizeof room));
    }
    wg_textf(out, "\n");
}

static void resources_text(const wg_hang *h, wg_text *out)
{
    static const char *const banks[4] = {"SrcA 0", "SrcA 1", "SrcB 0", "SrcB 1"};
    wg_textf(out, "  semaphores:");
    for (unsigned i = 0; i < 8; i++)
        wg_textf(out, "%s %u %s %u of %u", i ? "," : "", i, wg_semaphore_name(i), h->semaphore_value[i],
                 h->semaphore_max[i]);
    wg_textf(out, "\n");
    for (unsigned i = 0; i < 8; i++) {
        if (*h->semaphore_past[i])
            wg_textf(out, "    %u was %s\n", i, h->semaphore_past[i]);
        changes_text(h, i, out);
    }
    wg_textf(out, "  mutexes:");
    bool any = false;
    for (unsigned i = 0; i < 8; i++)
        if (h->mutex[i]) {
            wg_textf(out, "%s %u held by thread %u", any ? "," : "", i, h->mutex[i] - 1u);
            any = true;
        }
    wg_textf(out, "%s\n  source banks:", any ? "" : " all free");
    for (unsigned i = 0; i < 4; i++)
        wg_textf(out, "%s %s %s", i ? "," : "", banks[i], h->bank_owner[i] ? "Matrix Unit" : "unpackers");
    wg_textf(out, "; the Matrix Unit reads SrcA %u, SrcB %u next, the unpackers write SrcA %u, SrcB %u next\n",
             h->matrix_bank[0], h->matrix_bank[1], h->unpack_bank[0], h->unpack_bank[1]);
}

/* The source lines of the parties that the verdict names. */
static void excerpts_text(const wg_race_words *w, const wg_hang *h, wg_text *out)
{
    wg_reports all = {0};
    const wg_report *r = wg_reports_hang(&all, w, h);
    char where[256];
    for (unsigned i = 0; r && i < r->parties; i++) {
        const wg_report_party *p = &r->party[i];
        if (!*p->snippet)
            continue;
        wg_textf(out, "\n%s: %s\n", p->who, wg_source_text(&p->source, where, sizeof where));
        wg_excerpt_text(&all.excerpts, &p->source, p->instruction, out);
    }
    out->failed |= all.failed;
    wg_reports_free(&all);
}

/* The story, wrapped; marks, which have no width, are inserted afterwards, since wrapping replaces spaces by newlines. */
static void verdict_text(const wg_hang *h, wg_text *out)
{
    wg_text lines = {.width = out->width};
    wg_text_wrap(&lines, h->story, 0, 0);
    const char *text = wg_text_of(&lines), *at = text;
    for (unsigned i = 0; i < h->remedy_at && *at; i++)
        if (h->story[i] != ' ')
            at += strspn(at, " \n") + 1;
    at += h->remedy_at ? strspn(at, " \n") : 0;
    size_t cause = (size_t)(at - text);
    wg_textf(out, "%s%.*s%s", wg_mark_of(out, WG_MARK_CAUSE), (int)cause, text, wg_mark_of(out, WG_MARK_END));
    wg_textf(out, "%s%s%s", wg_mark_of(out, WG_MARK_REMEDY), at, wg_mark_of(out, WG_MARK_END));
    out->failed |= lines.failed;
    wg_text_free(&lines);
}

void wg_hang_verdict_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out)
{
    if (hung) {
        wg_text_add(out, "\n", 1);
        verdict_text(h, out);
        excerpts_text(w, h, out);
    }
    if (!hung && *h->progress) {
        wg_text_add(out, "\n", 1);
        wg_text_wrap(out, h->progress, 0, 0);
    }
}

void wg_hang_state_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out)
{
    char from[80], to[80];
    if (h->edges)
        wg_textf(out, "\nwho waits for whom\n");
    for (unsigned i = 0; i < h->edges; i++)
        wg_textf(out, "    %s -> %s: %s\n", wg_node_name(h, h->edge[i].from, from, sizeof from),
                 wg_node_name(h, h->edge[i].to, to, sizeof to), h->edge[i].reason);
    wg_textf(out, "\n%s at cycle %llu\n", hung ? "nothing can move any more" : "state", (unsigned long long)h->cycle);
    for (unsigned i = 0; i < WG_CORES; i++)
        core_text(w, h, i, out);
    for (unsigned i = 0; i < WG_THREADS; i++)
        thread_text(w, h, i, out);
    if (h->dev->tile->spec->threads)
        resources_text(h, out);
}

void wg_hang_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out)
{
    wg_hang_verdict_text(w, h, hung, out);
    wg_hang_state_text(w, h, hung, out);
}

/* Where it was pushed; nothing if the host did. */
static void place_json(const wg_race_words *w, unsigned thread, uint32_t pc, wg_json *j)
{
    char where[256];
    if (!pc)
        return;
    wg_json_hex(j, "pc", pc);
    wg_json_text(j, "place", place(w, WG_CORE_T0 + thread, pc, where, sizeof where));
}

static void insn_json(const wg_race_words *w, unsigned thread, const char *key, uint32_t word, uint32_t pc, wg_json *j)
{
    char text[WG_DIS_MAX];
    wg_disassemble(w->arch, word, 0, text, sizeof text);
    wg_json_open(j, key, '{');
    wg_json_hex(j, "word", word);
    wg_json_text(j, "text", text);
    place_json(w, thread, pc, j);
    wg_json_close(j, '}');
}

static void thread_json(const wg_race_words *w, const wg_hang *h, unsigned thread, wg_json *j)
{
    const wg_hang_thread *t = &h->thread[thread];
    const wg_gate_info *g = &t->gate;
    char text[WG_DIS_MAX];
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "thread", thread);
    wg_json_bool(j, "idle", t->idle);
    wg_json_uint(j, "fifo", g->fifo);
    wg_json_uint(j, "replay_fifo", g->replay_fifo);
    wg_json_uint(j, "gate_fifo", g->gate_fifo);
    wg_json_bool(j, "expanding", g->expanding);
    if (g->expanding) {
        insn_json(w, thread, "mop", g->mop.word, g->mop.pc, j);
        wg_json_uint(j, "mop_outer", g->mop_outer);
        wg_json_uint(j, "mop_inner", g->mop_inner);
    }
    wg_json_uint(j, "replaying", g->replaying);
    if (g->replaying)
        insn_json(w, thread, "replay", g->replay.word, g->replay.pc, j);
    wg_json_uint(j, "recording", g->recording);
    if (*t->latch) {
        wg_json_hex(j, "latched_word", g->latch.word);
        wg_json_text(j, "latched_wait", t->latch);
    }
    if (g->has_head) {
        wg_disassemble(w->arch, g->head.word, 0, text, sizeof text);
        wg_json_hex(j, "head_word", g->head.word);
        wg_json_text(j, "head", text);
        place_json(w, thread, g->head.pc, j);
        wg_json_text(j, "waits_because", t->why);
        wg_json_text(j, "stall", wg_stall_name(g->stall.reason));
        wg_json_uint(j, "since", g->stalled_since);
    }
    wg_json_open(j, "last", '[');
    for (unsigned i = 0; i < t->history_count; i++) {
        wg_disassemble(w->arch, t->history[i].word, 0, text, sizeof text);
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "cycle", t->history[i].cycle);
        wg_json_hex(j, "word", t->history[i].word);
        wg_json_text(j, "text", text);
        place_json(w, thread, t->history[i].pc, j);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

static void core_json(const wg_race_words *w, const wg_hang *h, unsigned core, wg_json *j)
{
    const wg_hang_core *c = &h->core[core];
    char where[256];
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "core", wg_agent_name_of(h->dev, core));
    wg_json_hex(j, "pc", c->info.pc);
    wg_json_text(j, "place", place(w, core, c->info.pc, where, sizeof where));
    wg_json_bool(j, "parked", c->info.parked);
    wg_json_bool(j, "in_reset", c->info.in_reset);
    if (c->waits) {
        wg_json_text(j, "stall", wg_stall_name(c->info.stall.reason));
        wg_json_text(j, "waits_because", c->why);
    }
    wg_json_close(j, '}');
}

static void changes_json(const wg_hang *h, unsigned semaphore, wg_json *j)
{
    const unsigned kept = changes_kept(h, semaphore);
    char room[80];
    if (!kept)
        return;
    wg_json_uint(j, "change_count", h->semaphore_changes[semaphore]);
    wg_json_open(j, "changes", '[');
    for (unsigned i = 0; i < kept; i++) {
        const wg_semaphore_change *c = &h->semaphore_change[semaphore][i];
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "cycle", c->cycle);
        wg_json_uint(j, "value", c->value);
        wg_json_text(j, "act", act_words[c->act]);
        wg_json_text(j, "by", by_whom(h, c, room, sizeof room));
        if (c->pc)
            wg_json_hex(j, "pc", c->pc);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

static void resources_json(const wg_hang *h, wg_json *j)
{
    wg_json_open(j, "semaphores", '[');
    for (unsigned i = 0; i < 8; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "semaphore", i);
        wg_json_text(j, "name", wg_semaphore_name(i));
        wg_json_uint(j, "value", h->semaphore_value[i]);
        wg_json_uint(j, "max", h->semaphore_max[i]);
        if (*h->semaphore_past[i])
            wg_json_text(j, "history", h->semaphore_past[i]);
        changes_json(h, i, j);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "mutexes", '[');
    for (unsigned i = 0; i < 8; i++)
        if (h->mutex_valid >> i & 1) {
            wg_json_open(j, NULL, '{');
            wg_json_uint(j, "mutex", i);
            wg_json_textf(j, "holder", h->mutex[i] ? "thread %u" : "free", h->mutex[i] - 1u);
            wg_json_close(j, '}');
        }
    wg_json_close(j, ']');
    wg_json_open(j, "source_banks", '[');
    for (unsigned i = 0; i < 4; i++)
        wg_json_text(j, NULL, h->bank_owner[i] ? "matrix" : "unpackers");
    wg_json_close(j, ']');
}

void wg_hang_json(const wg_race_words *w, const wg_hang *h, bool hung, wg_json *j)
{
    const wg_tile_spec *spec = h->dev->tile->spec;
    char room[80];
    wg_json_open(j, hung ? "hang" : "state", '{');
    wg_json_uint(j, "cycle", h->cycle);
    wg_json_open(j, "threads", '[');
    for (unsigned i = 0; i < spec->threads; i++)
        thread_json(w, h, i, j);
    wg_json_close(j, ']');
    wg_json_open(j, "cores", '[');
    for (unsigned i = 0; i < spec->cores; i++)
        core_json(w, h, i, j);
    wg_json_close(j, ']');
    if (spec->threads)
        resources_json(h, j);
    wg_json_open(j, "edges", '[');
    for (unsigned i = 0; i < h->edges; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "from", wg_node_name(h, h->edge[i].from, room, sizeof room));
        wg_json_text(j, "to", wg_node_name(h, h->edge[i].to, room, sizeof room));
        wg_json_text(j, "reason", h->edge[i].reason);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_bool(j, "circular", h->circular);
    wg_json_open(j, "path", '[');
    for (unsigned i = 0; i < h->path_length; i++)
        wg_json_uint(j, NULL, h->path[i]);
    wg_json_close(j, ']');
    if (hung)
        wg_json_text(j, "story", h->story);
    if (!hung && *h->progress) {
        wg_json_text(j, "progress", h->progress);
        wg_json_open(j, "repeating", '[');
        for (unsigned i = 0; i < WG_CORES; i++)
            if (h->repeating >> i & 1)
                wg_json_text(j, NULL, wg_agent_name_of(h->dev, i));
        wg_json_close(j, ']');
    }
    wg_json_close(j, '}');
}
