/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All Tensix instructions of a tile in the log format of the Konata viewer, a row each:
 *
 *   lane 0   F  waiting after a push         M  made by the MOP Expander, or being expanded by it
 *            R  by the Replay Expander       G  at the Wait Gate, blocked or passing
 *   lane 1   X  in its unit                 W  its wait is latched
 *
 * Arrows lead from a MOP or REPLAY to each instruction that it generates, from a latched wait to the instruction that
 * it blocks, and from the last change of a semaphore to the SEMWAIT that it releases. The queues between the stages
 * have no separate stage.
 *
 * Facts: the description of the Kanata log format, version 0004, with the viewer.
 */
#include "observe/konata.h"

#include <stdio.h>

#include "isa/isa.h"

enum { LANE_QUEUES = 0, LANE_UNIT = 1, MOP = 0, REPLAY = 1 };
enum { RETIRED = 0, LOST = 1, DEPENDS = 0 };

/* Before a line: advances the file's time to that of the event. */
static void catch_up(wg_konata *k)
{
    if (k->now > k->cycle)
        wg_sink_printf(k->out, "C\t%llu\n", (unsigned long long)(k->now - k->cycle));
    if (k->now > k->cycle)
        k->cycle = k->now;
}

static void put(wg_konata *k, char letter) { wg_sink_bytes(k->out, &letter, 1); }
static void put_number(wg_konata *k, uint64_t value)
{
    put(k, '\t');
    wg_sink_number(k->out, value);
}

static void line(wg_konata *k, char command, uint64_t a, uint64_t b, uint64_t c)
{
    catch_up(k);
    put(k, command);
    put_number(k, a);
    put_number(k, b);
    put_number(k, c);
    put(k, '\n');
}

static void stage_line(wg_konata *k, char command, uint64_t number, unsigned lane, char stage)
{
    catch_up(k);
    put(k, command);
    put_number(k, number);
    put_number(k, lane);
    put(k, '\t');
    put(k, stage);
    put(k, '\n');
}

/* Writes the ends that are due before `cycle`, in their order. */
static void ends_before(wg_konata *k, uint64_t cycle)
{
    for (;;) {
        wg_konata_end *first = NULL;
        for (unsigned i = 0; i < WG_KONATA_ENDS; i++)
            if (k->end[i].stage && k->end[i].at < cycle && (!first || k->end[i].at < first->at))
                first = &k->end[i];
        if (!first)
            return;
        k->now = first->at;
        stage_line(k, 'E', first->number, LANE_QUEUES, first->stage);
        first->stage = 0;
    }
}

static void ends_at(wg_konata *k, uint64_t number, char stage, uint64_t at)
{
    wg_konata_end *place = NULL;
    for (unsigned i = 0; i < WG_KONATA_ENDS; i++) {
        if (k->end[i].stage && k->end[i].number == number) {
            k->end[i].at = at;
            return;
        }
        if (!k->end[i].stage)
            place = &k->end[i];
    }
    if (place)
        *place = (wg_konata_end){number, at, stage};
}

/* The stage ends now; its end need not be written later. */
static void no_end(wg_konata *k, uint64_t number)
{
    for (unsigned i = 0; i < WG_KONATA_ENDS; i++)
        if (k->end[i].number == number)
            k->end[i].stage = 0;
}

static wg_konata_insn *insn_of(wg_konata *k, unsigned thread, uint64_t id)
{
    wg_konata_insn *i = &k->inside[thread % 3][id % WG_KONATA_INSIDE];
    return id && i->id == id ? i : NULL;
}

static void stage(wg_konata *k, wg_konata_insn *i, char to)
{
    if (i->stage == to)
        return;
    i->stage = to;
    stage_line(k, 'S', i->number, LANE_QUEUES, to);
}

static void retire(wg_konata *k, wg_konata_insn *i, unsigned how)
{
    no_end(k, i->number);
    line(k, 'R', i->number, how == RETIRED ? k->retired++ : 0, how);
    i->id = 0;
}

static void retire_parent(wg_konata *k, unsigned thread, unsigned expander)
{
    wg_konata_insn *i = insn_of(k, thread, k->parent[thread][expander]);
    k->parent[thread][expander] = 0;
    if (i)
        retire(k, i, RETIRED);
}

static const wg_konata_text *text_of(wg_konata *k, const wg_event *e, unsigned thread, unsigned core)
{
    wg_konata_text *t = &k->text[(e->pc >> 2 ^ e->word * 0x9E3779B1u >> 20) % WG_KONATA_TEXTS];
    if (!t->used || t->pc != e->pc || t->word != e->word || t->core != core || t->thread != thread) {
        *t = (wg_konata_text){
            .used = true, .pc = e->pc, .word = e->word, .core = (uint8_t)core, .thread = (uint8_t)thread};
        const char *insn = wg_sink_insn(&k->words, WG_AGENT_THREAD0 + thread, e->pc, e->word, t->insn, sizeof t->insn);
        if (insn != t->insn)
            snprintf(t->insn, sizeof t->insn, "%s", insn);
        wg_sink_place(&k->words, core, e->pc, t->place, sizeof t->place);
    }
    return t;
}

static wg_konata_insn *enters(wg_konata *k, const wg_event *e, char at)
{
    const unsigned thread = e->thread % 3, core = e->c < WG_CORES ? (unsigned)e->c : WG_CORES;
    wg_konata_insn *i = &k->inside[thread][e->id % WG_KONATA_INSIDE];
    if (i->id)
        retire(k, i, LOST);
    *i = (wg_konata_insn){.id = e->id, .number = k->instructions++};
    const wg_konata_text *text = text_of(k, e, thread, core);
    line(k, 'I', i->number, e->id, thread);
    put(k, 'L');
    put_number(k, i->number);
    wg_sink_text(k->out, "\t0\t");
    wg_sink_text(k->out, text->insn);
    wg_sink_text(k->out, "\nL");
    put_number(k, i->number);
    wg_sink_text(k->out, "\t1\tthread ");
    wg_sink_number(k->out, thread);
    wg_sink_text(k->out, ", instruction ");
    wg_sink_number(k->out, e->id);
    wg_sink_text(k->out, *text->place ? ", " : "");
    wg_sink_text(k->out, text->place);
    put(k, '\n');
    stage(k, i, at);
    return i;
}

static void expanded(wg_konata *k, const wg_event *e)
{
    const unsigned thread = e->thread % 3, expander = e->phase == WG_PHASE_MOP ? MOP : REPLAY;
    const char letter = expander == MOP ? 'M' : 'R';
    if (k->parent[thread][expander] != e->parent)
        retire_parent(k, thread, expander);
    k->parent[thread][expander] = e->parent;
    wg_konata_insn *parent = insn_of(k, thread, e->parent);
    if (parent) {
        bool pauses = true;
        for (unsigned i = 0; i < WG_KONATA_ENDS; i++)
            pauses &= !(k->end[i].stage && k->end[i].number == parent->number);
        if (pauses) /* its stage has ended, or its expansion begins */
            parent->stage = 0;
        stage(k, parent, letter);
        ends_at(k, parent->number, letter, e->cycle + 1);
    }
    wg_konata_insn *made = enters(k, e, letter);
    if (parent)
        line(k, 'W', made->number, parent->number, DEPENDS);
}

static void issued(wg_konata *k, const wg_event *e, wg_konata_insn *i)
{
    stage(k, i, 'G');
    ends_at(k, i->number, 'G', e->cycle + 1);
    stage_line(k, 'S', i->number, LANE_UNIT, 'X');
    i->in_unit = true;
}

static void released(wg_konata *k, const wg_event *e, wg_konata_insn *i)
{
    uint64_t last = 0;
    k->latch[e->thread % 3] = 0;
    if (wg_opcode(e->word) == WG_OPCODE_SEMWAIT)
        for (uint32_t rest = WG_GET(SEMWAIT, sem_sel, e->word); rest; rest &= rest - 1)
            if (k->post[__builtin_ctz(rest) & 7] > last)
                last = k->post[__builtin_ctz(rest) & 7];
    if (last && last - 1 != i->number)
        line(k, 'W', i->number, last - 1, DEPENDS);
    retire(k, i, RETIRED);
}

static void completed(wg_konata *k, const wg_event *e, wg_konata_insn *i)
{
    if (k->latch[e->thread % 3] == i->number + 1)
        stage_line(k, 'S', i->number, LANE_UNIT, 'W');
    else
        retire(k, i, RETIRED);
}

static void blocked(wg_konata *k, const wg_event *e, wg_konata_insn *i)
{
    if (e->stall.reason == WG_STALL_FIFO_FULL || e->agent < WG_AGENT_THREAD0 || e->agent > WG_AGENT_THREAD2)
        return;
    stage(k, i, 'G');
    bool latched = e->stall.reason == WG_STALL_LATCHED_WAIT || e->stall.reason == WG_STALL_LATCH_OCCUPIED;
    if (latched && k->latch[e->thread % 3])
        line(k, 'W', i->number, k->latch[e->thread % 3] - 1, DEPENDS);
}

void wg_konata_begin(wg_konata *k, uint64_t cycle)
{
    k->cycle = k->now = cycle;
    wg_sink_printf(k->out, "Kanata\t0004\nC=\t%llu\n", (unsigned long long)cycle);
}

void wg_konata_event(void *user, const wg_event *e)
{
    wg_konata *k = user;
    wg_konata_insn *i = insn_of(k, e->thread, e->id);
    ends_before(k, e->cycle);
    k->now = e->cycle;
    if (e->kind == WG_EV_SEMAPHORE)
        k->post[e->a & 7] = i ? i->number + 1 : 0;
    else if (e->kind == WG_EV_PUSHED)
        enters(k, e, 'F');
    else if (e->kind == WG_EV_EXPANDED)
        expanded(k, e);
    else if (i && e->kind == WG_EV_RELEASED)
        released(k, e, i);
    else if (i && e->kind == WG_EV_STALL_BEGIN)
        blocked(k, e, i);
    else if (i && e->kind == WG_EV_LATCHED)
        k->latch[e->thread % 3] = i->number + 1;
    else if (i && e->kind == WG_EV_ISSUED)
        issued(k, e, i);
    else if (i && e->kind == WG_EV_COMPLETED)
        completed(k, e, i);
    else if (i && e->kind == WG_EV_LOST)
        retire(k, i, LOST);
}

void wg_konata_end_of_run(wg_konata *k, uint64_t cycle)
{
    ends_before(k, cycle);
    k->now = cycle;
    for (unsigned thread = 0; thread < 3; thread++) {
        retire_parent(k, thread, MOP);
        retire_parent(k, thread, REPLAY);
        for (unsigned i = 0; i < WG_KONATA_INSIDE; i++)
            if (k->inside[thread][i].id)
                retire(k, &k->inside[thread][i], LOST);
    }
    wg_sink_flush(k->out);
}
