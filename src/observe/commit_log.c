/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commit log, one greppable line per instruction and stage:
 *
 *          12  thread 1  issued     #7     0xa2008010  ttstallwait 1, 16
 *          12  thread 1  latched    #7     0xa2008010  ttstallwait 1, 16
 *          13  thread 1  blocked    #8     0x60000000  ttdmanop  because a latched STALLWAIT, SEMWAIT or STREAMWAIT blocks it
 *          15  thread 1  released   #7     0xa2008010  ttstallwait 1, 16
 *          13  T1        retire     0x6004 0x00100093  li ra,1
 */
#include "observe/sinks.h"

static bool at_a_gate(const wg_event *e)
{
    return e->agent >= WG_AGENT_THREAD0 && e->agent <= WG_AGENT_THREAD2 && e->stall.reason != WG_STALL_FIFO_FULL;
}

void wg_commit_log_event(void *user, const wg_event *e)
{
    wg_commit_log *log = user;
    if (e->kind == WG_EV_STALL_BEGIN && !at_a_gate(e))
        return;
    char room[160];
    bool core = e->kind == WG_EV_CORE_RETIRE;
    unsigned who = core ? e->agent : WG_AGENT_THREAD0 + e->thread % WG_THREADS;
    uint32_t pc = core ? (uint32_t)e->a : e->pc;
    const char *text = log->out.text ? log->out.text(log->out.text_user, who, pc, e->word, room, sizeof room) : "";
    char mark[24];
    if (core)
        snprintf(mark, sizeof mark, "0x%x", pc);
    else
        snprintf(mark, sizeof mark, "#%llu", (unsigned long long)e->id);
    wg_sink_printf(&log->out, "%12llu  %-8s  %-9s  %-10s  0x%08x  %s", (unsigned long long)e->cycle, wg_agent_name(who),
                   e->kind == WG_EV_STALL_BEGIN ? "blocked" : wg_event_name(e->kind), mark, e->word, text);
    if (e->kind == WG_EV_EXPANDED)
        wg_sink_printf(&log->out, "  from #%llu", (unsigned long long)e->parent);
    if (e->kind == WG_EV_ISSUED && e->b < WG_AGENT_COUNT)
        wg_sink_printf(&log->out, "  -> %s", wg_agent_name((unsigned)e->b));
    if (e->kind == WG_EV_STALL_BEGIN)
        wg_sink_printf(&log->out, "  because %s", wg_stall_text(e->stall.reason));
    wg_sink_printf(&log->out, "\n");
}
