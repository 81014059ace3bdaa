/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commit log, one greppable line per instruction and stage:
 *
 *          12  thread 1  issued     #7     0xa2008010  ttstallwait 1, 16
 *          12  thread 1  latched    #7     0xa2008010  ttstallwait 1, 16
 *          13  thread 1  blocked    #8     0x60000000  ttdmanop  because a latched STALLWAIT, SEMWAIT or STREAMWAIT blocks it
 *          15  thread 1  released   #7     0xa2008010  ttstallwait 1, 16
 *          13  T1        retire     0x6004 0x00100093  li ra,1
 *
 * For a chip the tile follows the cycle: "12  1-2   thread 1  issued …".
 */
#include "observe/sinks.h"

#include <stdarg.h>

static bool at_a_gate(const wg_event *e)
{
    return e->agent >= WG_AGENT_THREAD0 && e->agent <= WG_AGENT_THREAD2 && e->stall.reason != WG_STALL_FIFO_FULL;
}

typedef struct log_line {
    char text[512];
    size_t used;
} log_line;

__attribute__((format(printf, 2, 3))) static void add(log_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    size_t room = sizeof l->text - l->used - 1;
    l->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

void wg_commit_log_event(void *user, const wg_event *e)
{
    wg_commit_log *log = user;
    if (e->kind == WG_EV_STALL_BEGIN && !at_a_gate(e))
        return;
    char room[160];
    log_line l = {.used = 0};
    bool core = e->kind == WG_EV_CORE_RETIRE;
    unsigned who = core ? e->agent : WG_AGENT_THREAD0 + e->thread % WG_THREADS;
    uint32_t pc = core ? (uint32_t)e->a : e->pc;
    const char *text = log->words.text ? log->words.text(log->words.user, who, pc, e->word, room, sizeof room) : "";
    char mark[24];
    if (core)
        snprintf(mark, sizeof mark, "0x%x", pc);
    else
        snprintf(mark, sizeof mark, "#%llu", (unsigned long long)e->id);
    add(&l, "%12llu  ", (unsigned long long)e->cycle);
    if (log->tile)
        add(&l, "%-5s  ", log->tile);
    add(&l, "%-8s  %-9s  %-10s  0x%08x  %s", wg_sink_agent(&log->words, who),
        e->kind == WG_EV_STALL_BEGIN ? "blocked" : wg_event_name(e->kind), mark, e->word, text);
    if (e->kind == WG_EV_EXPANDED)
        add(&l, "  from #%llu", (unsigned long long)e->parent);
    if (e->kind == WG_EV_ISSUED && e->b < WG_AGENT_COUNT)
        add(&l, "  -> %s", wg_agent_name((unsigned)e->b));
    if (e->kind == WG_EV_STALL_BEGIN)
        add(&l, "  because %s", wg_stall_text(e->stall.reason));
    add(&l, "\n");
    if (log->merge)
        wg_merge_add(log->merge, e->cycle, log->number, l.text, l.used);
    else
        wg_sink_bytes(log->out, l.text, l.used);
}
