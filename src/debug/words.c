/* SPDX-License-Identifier: Apache-2.0 */
/* Parties, locations and reasons in words. */
#include "debug/debug.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"
#include "isa/riscv_word.h"
#include "text/hang_text.h"
#include "text/rvdis.h"

static void *source_user(const wg_debug *d, wg_who who)
{
    return d->desc.of_tile ? d->desc.of_tile(d->desc.source_user, who.x, who.y) : d->desc.source_user;
}

wg_race_words wg_debug_words(const wg_debug *d, wg_who who)
{
    return (wg_race_words){.arch = d->arch->id, .user = source_user(d, who), .source = d->desc.source};
}

bool wg_debug_has(const wg_debug *d, wg_who who)
{
    const wg_device *dev = wg_debug_dev(d, wg_debug_index(d, who));
    return dev && (who.agent < WG_CORES ? who.agent < dev->tile->spec->cores : dev->tile->spec->threads != 0);
}

const char *wg_debug_agent(const wg_debug *d, wg_who who)
{
    const bool core = who.agent < WG_CORES && wg_debug_has(d, who);
    return core ? wg_debug_dev(d, wg_debug_index(d, who))->tile->spec->core[who.agent].name : wg_agent_name(who.agent);
}

const char *wg_debug_name(const wg_debug *d, wg_who who, char *room, size_t bytes)
{
    const char *name = wg_debug_agent(d, who);
    if (d->desc.grid)
        snprintf(room, bytes, "%u-%u %s", who.x, who.y, name);
    else
        snprintf(room, bytes, "%s", name);
    return room;
}

wg_source wg_debug_source(const wg_debug *d, wg_who who, unsigned core, uint32_t pc)
{
    wg_source source = {.struct_size = sizeof source};
    if (!d->desc.source || !d->desc.source(source_user(d, who), core, pc, &source))
        source = (wg_source){0};
    return source;
}

const char *wg_debug_place(const wg_debug *d, wg_who who, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source = wg_debug_source(d, who, core, pc);
    return wg_source_text(&source, room, bytes);
}

const char *wg_debug_insn_text(const wg_debug *d, wg_who who, uint32_t pc, uint32_t word, char *room, size_t bytes)
{
    if (who.agent > WG_AGENT_CORE_T2)
        wg_disassemble(d->arch->id, word, 0, room, bytes);
    else if (wg_rv_is_ttinsn(word))
        wg_disassemble(d->arch->id, wg_ttinsn_decode(word), 0, room, bytes);
    else
        wg_riscv_text(pc, word, room, bytes);
    for (char *p = room; *p; p++)
        if (*p == '\t')
            *p = ' ';
    return room;
}

const char *wg_debug_doing(wg_debug *d, wg_who who)
{
    wg_device *dev = wg_debug_device(d, who);
    wg_core_info info;
    wg_gate_info gate;
    if (who.agent > WG_AGENT_CORE_T2) {
        wg_gate_state(dev->tile, who.agent - (unsigned)WG_AGENT_THREAD0, &gate);
        if (!gate.has_head)
            return gate.latch.block ? "nothing at the gate; a wait is latched" : "nothing at the gate";
        return gate.stall.reason != WG_STALL_NONE ? wg_stall_text(gate.stall.reason) : "running";
    }
    if (wg_core_state(dev, (wg_core_id)who.agent, &info) != WG_OK)
        return "";
    if (info.in_reset)
        return "in reset";
    if (info.parked)
        return "parked";
    return info.stall.reason != WG_STALL_NONE ? wg_stall_text(info.stall.reason) : "running";
}

bool wg_debug_pc(wg_debug *d, wg_who who, uint32_t *pc)
{
    wg_device *dev = wg_debug_device(d, who);
    wg_gate_info gate;
    if (!dev || who.agent > WG_AGENT_THREAD2)
        return false;
    if (who.agent <= WG_AGENT_CORE_T2)
        return wg_peek(dev, WG_SPACE_CORE_PC, who.agent, pc) == WG_OK;
    wg_gate_state(dev->tile, who.agent - (unsigned)WG_AGENT_THREAD0, &gate);
    *pc = gate.has_head ? gate.head.pc : gate.latch.block ? gate.latch.pc : 0;
    return gate.has_head || gate.latch.block;
}

/* ---- State and reasons ---- */

typedef struct placing {
    const wg_debug *d;
    wg_who who;
} placing;

static const char *place(void *user, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    const placing *p = user;
    return wg_debug_place(p->d, p->who, core, pc, room, bytes);
}

/* The state as in a hang report. The threads' last instructions are found by replaying the last stretch. */
void wg_debug_state_text(wg_debug *d, wg_who who, wg_text *out)
{
    enum { LATELY = 4096 };
    wg_device *dev = wg_debug_device(d, who);
    wg_hang *h = wg_calloc(1, sizeof *h);
    placing p = {d, who};
    wg_history history = {.place = place, .place_user = &p};
    uint64_t now = wg_debug_now(d);
    bool hung = dev && wg_device_hangs(dev);
    if (h && dev &&
        wg_debug_replay(d, wg_debug_index(d, who), now > LATELY ? now - LATELY : 0,
                        WG_HISTORY_EVENTS | WG_HISTORY_STALL_EVENTS, wg_history_event, &history)) {
        const wg_race_words w = wg_debug_words(d, who);
        wg_hang_inspect(dev, &history, hung, h);
        wg_hang_text(&w, h, hung, out);
    } else {
        wg_textf(out, "%s\n", d->error);
    }
    free(h);
}

void wg_debug_pause_text(wg_debug *d, wg_text *out)
{
    static const char *const ends[] = {[WG_STOP_CYCLES] = "stopped by its limit of cycles",
                                       [WG_STOP_DONE] = "done",
                                       [WG_STOP_HUNG] = "hang",
                                       [WG_STOP_UNTIL] = "done, as the condition of the run says,",
                                       [WG_STOP_FINDING] = "stopped by a finding"};
    char name[32] = "";
    const wg_debug_state *s = &d->state;
    unsigned long long now = wg_debug_now(d);
    if (s->who.agent <= WG_AGENT_THREAD2)
        wg_debug_name(d, s->who, name, sizeof name);
    switch (s->pause) {
    case WG_PAUSE_BREAK: wg_textf(out, "%s is at a breakpoint", name); break;
    case WG_PAUSE_WATCH: wg_textf(out, "%s touches 0x%08x", *name ? name : "a unit or the NoC", s->address); break;
    case WG_PAUSE_UNTIL: wg_textf(out, "the condition holds%s%s", *name ? ", by " : "", name); break;
    case WG_PAUSE_INTERRUPT: wg_textf(out, "interrupted"); break;
    case WG_PAUSE_ENDED:
        wg_textf(out, "%s",
                 wg_debug_hung(d) || s->stop != WG_STOP_HUNG ? ends[s->stop]
                                                             : "nothing moves while other cores are held,");
        break;
    case WG_PAUSE_BEGIN: wg_textf(out, "the history begins here"); break;
    case WG_PAUSE_FAILED: wg_textf(out, "%s", d->error); break;
    default: wg_textf(out, "stopped"); break;
    }
    wg_textf(out, " at cycle %llu\n", now);
}
