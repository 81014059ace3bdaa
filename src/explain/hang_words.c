/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a hang report: the names of its parties, and a latched wait as a phrase. */
#include "explain/hang_graph.h"

#include "isa/waits.h"
#include "machine/device.h"

const char *wg_node_name(const wg_hang *h, wg_node node, char *room, size_t bytes)
{
    switch ((wg_node_kind)node.kind) {
    case WG_NODE_CORE: snprintf(room, bytes, "core %s", wg_agent_name_of(h->dev, node.index)); break;
    case WG_NODE_THREAD: snprintf(room, bytes, "thread %u", node.index); break;
    case WG_NODE_UNIT:
        snprintf(room, bytes, "%s%s", node.index == WG_AGENT_UNPACK0 || node.index == WG_AGENT_UNPACK1 ? "" : "the ",
                 wg_agent_name(node.index));
        break;
    case WG_NODE_SEMAPHORE:
        snprintf(room, bytes, "semaphore %u (%s)", node.index, wg_semaphore_name(node.index));
        break;
    case WG_NODE_MUTEX: snprintf(room, bytes, "mutex %u", node.index); break;
    case WG_NODE_FIFO: snprintf(room, bytes, "thread %u's instruction FIFO", node.index); break;
    case WG_NODE_BANK: snprintf(room, bytes, "Src%c bank %u", node.index < 2 ? 'A' : 'B', node.index & 1); break;
    case WG_NODE_MEMORY:
        snprintf(room, bytes, "the memory that core %s polls", wg_agent_name_of(h->dev, node.index));
        break;
    case WG_NODE_PAGES: snprintf(room, bytes, "circular buffer %u", node.index); break;
    case WG_NODE_SPACE: snprintf(room, bytes, "space in circular buffer %u", node.index); break;
    case WG_NODE_NOBODY: snprintf(room, bytes, "nobody"); break;
    }
    return room;
}

/* ---- a latched wait in words ---- */

const wg_hang_condition wg_hang_conditions[WG_WAIT_COUNT] = {
#define ROW(id, who, wakes, text) [WG_WAIT_##id] = {WG_AGENT_##who, text},
    WG_EACH_WAIT(ROW)
#undef ROW
};

static void say_blocked(phrase *p, unsigned block)
{
#define ROW(S, bit, symbol, text) [bit] = text,
    static const char *const what[] = {WG_BLOCKS(ROW, )};
#undef ROW
    bool first = true;
    if ((block & 0x1FF) == 0x1FF) {
        say(p, "blocks everything");
        return;
    }
    say(p, "blocks");
    for (unsigned i = 0; i < 9; i++)
        if (block >> i & 1) {
            say(p, "%s %s", first ? "" : ",", what[i]);
            first = false;
        }
}

void wg_latch_text(const wg_arch *arch, const wg_latch *latch, char *out, size_t bytes)
{
    phrase p = {out, bytes, 0};
    bool first = true;
    if (bytes)
        out[0] = 0;
    if (latch->kind == WG_LATCH_EMPTY)
        return;
    say_blocked(&p, latch->block);
    say(&p, " until");
    if (latch->kind == WG_LATCH_STALLWAIT) {
        for (unsigned i = 0; i < arch->wait_condition_bits; i++)
            if (latch->conditions >> i & 1 && arch->wait_conditions[i] != WG_WAIT_NOTHING) {
                say(&p, "%s %s", first ? "" : " and", wg_hang_conditions[arch->wait_conditions[i]].text);
                first = false;
            }
    } else if (latch->kind == WG_LATCH_SEMWAIT) {
        for (unsigned i = 0; i < 8; i++)
            if (latch->semaphores >> i & 1) {
                say(&p, "%s semaphore %u (%s) is%s%s%s", first ? "" : " and", i, wg_semaphore_name(i),
                    latch->conditions & 1 ? " above zero" : "", (latch->conditions & 3) == 3 ? " and" : "",
                    latch->conditions & 2 ? " below its maximum" : "");
                first = false;
            }
        if (first)
            say(&p, " nothing (no semaphore is selected)");
    } else {
        say(&p, " stream %u's %s has reached %u", latch->stream_select, latch->stream_index ? "message count" : "phase",
            latch->target);
    }
}
