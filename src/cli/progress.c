/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that reaches --max-cycles: does it still make progress, or do its cores only loop? They are observed only in the last
 * part of the run, so that the rest runs at full speed.
 */
#include "cli/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "machine/device.h"
#include "report/findings.h"

enum { WATCHED = 50000, LOADS = 3 };

uint64_t wg_progress_from(uint64_t start, uint64_t limit)
{
    uint64_t length = limit - start;
    return limit == UINT64_MAX ? UINT64_MAX : limit - (length / 2 < WATCHED ? length / 2 : WATCHED);
}

bool wg_progress_watch(wg_session *s)
{
    if (!s->rounds && (s->rounds = wg_calloc(1, sizeof *s->rounds)))
        s->rounds->from = wg_cycle(s->dev);
    return s->rounds && wg_observe(s->dev, WG_ROUNDS_EVENTS, wg_rounds_event, s->rounds, NULL) == WG_OK;
}

typedef struct said {
    char *at;
    size_t room;
    unsigned count; /* of clauses */
} said;

__attribute__((format(printf, 2, 3))) static void say(said *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->room, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room - 1;
    t->at += used;
    t->room -= used;
}

static void say_place(said *t, wg_session *s, unsigned core, uint32_t pc)
{
    char place[256];
    if (*wg_place(s, core, pc, place, sizeof place))
        say(t, " at %s", place);
    else
        say(t, " at 0x%08x", pc);
}

static void say_loads(said *t, wg_session *s, unsigned core, const wg_rounds_load *load, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        say(t, "%s", i == 0 ? " it polls" : i + 1 == count ? " and" : ",");
        if (load[i].address)
            say(t, " 0x%08x", load[i].address);
        else
            say(t, " what it loads");
        say_place(t, s, core, load[i].pc);
    }
}

static bool runs(const wg_hang *h, unsigned core) { return !h->core[core].info.in_reset && !h->core[core].info.parked; }

/* Has it executed or issued anything recently? */
static bool works(const wg_session *s, unsigned track)
{
    uint64_t now = wg_cycle(s->dev), watched = now - s->rounds->from;
    return s->rounds->acted[track] && now - (s->rounds->acted[track] - 1) <= watched / 2 + 1;
}

/* The finding that the core has left its program, NULL: it has not. Its thread only gets what the core finds there. */
static const wg_finding *lost(const wg_session *s, unsigned track)
{
    const unsigned core = track < WG_CORES ? track : WG_CORE_T0 + track - WG_AGENT_THREAD0;
    for (size_t i = 0; i < wg_finding_count(s->dev); i++) {
        const wg_finding *f = wg_finding_at(s->dev, i);
        const bool fed_by_b = track == WG_AGENT_THREAD0 && f->agent == WG_AGENT_CORE_B;
        if (f->code == WG_F_CORE_NO_CODE && (f->agent == core || fed_by_b))
            return f;
    }
    return NULL;
}

/* Where the core last stalled in its program; 0: not known. */
static uint32_t last_in_program(const wg_session *s, unsigned core)
{
    const unsigned count = s->history.stall[core].count;
    uint32_t word;
    for (unsigned i = 0; s->history.stall[core].left && i < 4 && i < count; i++) {
        const uint32_t pc = s->history.stall[core].pc[(count - 1 - i) % 4];
        if (wg_code_word(s->dev->tile, pc, &word) && word)
            return pc;
    }
    return 0;
}

static void say_lost(said *t, wg_session *s)
{
    for (unsigned i = 0; i < WG_CORES; i++) {
        const wg_finding *f = lost(s, i);
        if (!f || !runs(s->hang, i))
            continue;
        say(t, "Core %s has left its program", wg_agent_name_of(s->dev, i));
        if (f->has_pc) {
            say(t, " through the call");
            say_place(t, s, i, f->pc);
            say(t, ", and executes zeros. Check the pointer that it calls, and the stack of the called function. ");
        } else {
            const uint32_t last = last_in_program(s, i);
            if (last) {
                say(t, ", in which it was last seen");
                say_place(t, s, i, last);
            }
            say(t, ", and executes zeros (%s). Check function pointers, and the return address on the stack. ",
                f->detail);
        }
    }
}

static void say_workers(said *t, wg_session *s)
{
    const wg_hang *h = s->hang;
    for (unsigned i = 0; i <= WG_AGENT_THREAD2; i++) {
        bool core = i < WG_CORES;
        if (!works(s, i) || lost(s, i) || (core && (h->repeating >> i & 1 || !runs(h, i))))
            continue;
        say(t, "%s%s %s", t->count++ ? ", " : "The run still makes progress: ", core ? "core" : "thread",
            core ? wg_agent_name_of(s->dev, i) : (const char *[]){"0", "1", "2"}[i - WG_AGENT_THREAD0]);
        if (core)
            say_place(t, s, i, h->core[i].info.pc);
    }
    if (t->count)
        say(t, ". ");
}

/* Do cores that only repeat themselves wait for each other in a circle? If so, reports it. */
static bool say_circle(said *t, wg_session *s, bool others)
{
    wg_hang *again = wg_calloc(1, sizeof *again);
    if (!again)
        return false;
    s->history.repeating = s->hang->repeating;
    wg_hang_inspect(s->dev, &s->history, false, again);
    s->history.repeating = 0;
    const bool circle = again->circular;
    if (circle) {
        say(t, "%s%s", others ? "Others never will. " : "The run would never end. ", again->story);
        again->repeating = s->hang->repeating;
        memcpy(again->progress, s->hang->progress, sizeof again->progress);
        *s->hang = *again;
    }
    free(again);
    return circle;
}

/* Has a thread waited for a long time for a semaphore that nobody can post any more? */
static bool waits_in_vain(const wg_hang *h)
{
    enum { LONG = 1000 };
    const wg_hang_edge *first = h->path_length ? &h->edge[h->path[0]] : NULL;
    return first && h->certain && !h->circular && first->from.kind == WG_NODE_THREAD &&
           first->to.kind == WG_NODE_SEMAPHORE && h->edge[h->path[h->path_length - 1]].to.kind == WG_NODE_NOBODY &&
           h->cycle - h->thread[first->from.index].gate.stalled_since >= LONG;
}

void wg_progress_verdict(wg_session *s, bool alone)
{
    wg_hang *h = s->hang;
    said t = {h->progress, sizeof h->progress, 0};
    wg_rounds_load load[WG_CORES][LOADS];
    unsigned loads[WG_CORES], repeating = 0;
    if (!s->rounds || s->rounds->from >= wg_cycle(s->dev))
        return;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (runs(h, i) && !lost(s, i) && wg_rounds_repeats(s->rounds, i, load[i], LOADS, &loads[i])) {
            h->repeating |= 1u << i;
            repeating++;
        }
    say_lost(&t, s);
    say_workers(&t, s);
    bool others = t.count != 0;
    if (repeating && alone && say_circle(&t, s, others))
        return;
    if (repeating && !others)
        say(&t, alone ? "Nothing makes progress: " : "Nothing on this tile makes progress by itself: ");
    t.count = 0;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (h->repeating >> i & 1) {
            say(&t, "%s%s %s only repeats itself:%s", t.count ? "; " : "", t.count || !others ? "core" : "Core",
                wg_agent_name_of(s->dev, i), loads[i] ? "" : " it loops");
            t.count++;
            say_loads(&t, s, i, load[i], loads[i]);
            say(&t, ", and reads the same values in every round");
        }
    if (repeating)
        say(&t, ". ");
    if (repeating && !others && !alone)
        say(&t, "Another tile, or a link, may still change what it waits for.");
    else if (repeating && !others)
        say(&t, repeating > 1
                    ? "Let one of them change what another waits for before it waits itself; more cycles do not help."
                    : "Something must change the word it polls; more cycles do not help.");
    else if (others && alone && waits_in_vain(h))
        say(&t, "One wait can never end, however many cycles: %s", h->story);
    else if (others)
        say(&t, "Give it more cycles (--max-cycles).");
}
