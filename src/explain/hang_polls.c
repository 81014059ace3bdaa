/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that poll: what each reads, the value it waits for, and who could still write it.
 *
 *     core T1 ──0x00020000 until it is 1; it is 2──► memory ──a store to it is still to come──► core B
 */
#include <string.h>

#include "explain/hang_graph.h"
#include "explain/poll_loop.h"
#include "explain/stores.h"
#include "isa/isa.h"
#include "machine/niu.h"
#include "machine/device.h"
#include "machine/request.h"
#include "report/findings.h"

enum { SEMAPHORE_WINDOW = 0xFFE80020u };

static wg_node node(wg_node_kind kind, unsigned index) { return (wg_node){(uint8_t)kind, (uint8_t)index}; }

/* ---- The last write of a word ------------------------------------------------------------------------------ */

static void wrote(wg_last_write *w, const wg_event *e, uint32_t value, unsigned core)
{
    if (w->last.agent != e->agent)
        w->before = w->last;
    w->last = (wg_word_write){.cycle = e->cycle, .value = value, .pc = e->pc, .agent = e->agent, .core = (uint8_t)core};
}

void wg_last_writes_event(void *user, const wg_event *e)
{
    wg_last_writes *all = user;
    const bool response = e->kind == WG_EV_CORE_RESPONSE;
    if (response ? e->c == WG_REQ_READ : e->kind != WG_EV_TOUCH || e->a != WG_TOUCH_L1 || !(e->how & WG_TOUCH_WRITE))
        return;
    for (unsigned i = 0; i < all->count; i++) {
        const uint32_t at = all->at[i].address & ~3u;
        if (response && (e->a & ~3u) == at)
            wrote(&all->at[i], e, (uint32_t)e->b, e->agent);
        else if (!response && e->agent > WG_AGENT_CORE_T2 && at + 4 > e->b && at < e->b + e->c)
            wrote(&all->at[i], e, 0, WG_CORE_T0 + e->thread % WG_THREADS);
    }
}

static const wg_last_write *last_write(const graph *g, uint32_t address)
{
    const wg_last_writes *all = g->history->writes;
    for (unsigned i = 0; all && i < all->count; i++)
        if (all->at[i].address == address)
            return &all->at[i];
    return NULL;
}

/* ---- Waits ------------------------------------------------------------------------------------------------ */

/* The address of the core's last load; false if none is recorded. */
static bool last_load(const graph *g, unsigned core, uint32_t *address)
{
    const wg_core_run *run = &g->dev->tile->core[core].run;
    uint64_t newest = 0;
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].address && run->load[i].number >= newest) {
            newest = run->load[i].number;
            *address = run->load[i].address;
        }
    return newest != 0;
}

/* ---- Counters of a NIU ---- */

enum { NIU_WINDOW = 0xFFB20000, NIU_WINDOWS = 2, NIU_BYTES = 0x10000 };

static const char *const counters[] = {[WG_MST_ATOMIC_RESP_RECEIVED] = "NIU_MST_ATOMIC_RESP_RECEIVED",
                                       [WG_MST_WR_ACK_RECEIVED] = "NIU_MST_WR_ACK_RECEIVED",
                                       [WG_MST_RD_RESP_RECEIVED] = "NIU_MST_RD_RESP_RECEIVED",
                                       [WG_MST_RD_DATA_WORD_RECEIVED] = "NIU_MST_RD_DATA_WORD_RECEIVED",
                                       [WG_MST_CMD_ACCEPTED] = "NIU_MST_CMD_ACCEPTED",
                                       [WG_MST_RD_REQ_SENT] = "NIU_MST_RD_REQ_SENT",
                                       [WG_MST_NONPOSTED_ATOMIC_SENT] = "NIU_MST_NONPOSTED_ATOMIC_SENT",
                                       [WG_MST_POSTED_ATOMIC_SENT] = "NIU_MST_POSTED_ATOMIC_SENT",
                                       [WG_MST_NONPOSTED_WR_DATA_WORD_SENT] = "NIU_MST_NONPOSTED_WR_DATA_WORD_SENT",
                                       [WG_MST_POSTED_WR_DATA_WORD_SENT] = "NIU_MST_POSTED_WR_DATA_WORD_SENT",
                                       [WG_MST_NONPOSTED_WR_REQ_SENT] = "NIU_MST_NONPOSTED_WR_REQ_SENT",
                                       [WG_MST_POSTED_WR_REQ_SENT] = "NIU_MST_POSTED_WR_REQ_SENT",
                                       [WG_MST_NONPOSTED_WR_REQ_STARTED] = "NIU_MST_NONPOSTED_WR_REQ_STARTED",
                                       [WG_MST_POSTED_WR_REQ_STARTED] = "NIU_MST_POSTED_WR_REQ_STARTED",
                                       [WG_MST_RD_REQ_STARTED] = "NIU_MST_RD_REQ_STARTED",
                                       [WG_MST_NONPOSTED_ATOMIC_STARTED] = "NIU_MST_NONPOSTED_ATOMIC_STARTED"};
_Static_assert(sizeof counters / sizeof *counters == WG_MST_REQS_OUTSTANDING, "one name for each counter");

/* Sets the NIU and the counter's index; false if the address is not a counter's. */
static bool counter_at(uint32_t address, unsigned *noc, unsigned *counter)
{
    const uint32_t at = address - NIU_WINDOW, offset = at % NIU_BYTES;
    *noc = at / NIU_BYTES;
    *counter = (offset - WG_NIU_COUNTERS) / 4;
    return *noc < NIU_WINDOWS && offset >= WG_NIU_COUNTERS && offset < WG_NIU_COUNTERS_END;
}

/* "NIU 0's NIU_MST_WR_ACK_RECEIVED (0xffb20204)", or the address. */
static const char *polled_text(uint32_t address, char *room, size_t bytes)
{
    unsigned noc, counter;
    if (!counter_at(address, &noc, &counter))
        snprintf(room, bytes, "0x%08x", address);
    else if (counter < WG_MST_REQS_OUTSTANDING)
        snprintf(room, bytes, "NIU %u's %s (0x%08x)", noc, counters[counter], address);
    else if (counter < WG_MST_WRITE_REQS_OUTGOING)
        snprintf(room, bytes, "NIU %u's count of unanswered requests with tag %u (0x%08x)", noc,
                 counter - WG_MST_REQS_OUTSTANDING, address);
    else if (counter < WG_SLV_ATOMIC_RESP_SENT)
        snprintf(room, bytes, "NIU %u's count of writes with tag %u that have to leave (0x%08x)", noc,
                 counter - WG_MST_WRITE_REQS_OUTGOING, address);
    else
        snprintf(room, bytes, "NIU %u's counter 0x%03x of other tiles' requests (0x%08x)", noc, address % NIU_BYTES,
                 address);
    return room;
}

const char *wg_hang_counter_remedy(uint32_t address, bool *own)
{
    unsigned noc, counter;
    if (!counter_at(address, &noc, &counter))
        return NULL;
    *own = counter < WG_SLV_ATOMIC_RESP_SENT;
    switch (counter) {
    case WG_MST_WR_ACK_RECEIVED:
        return "Wait for as many answers as there are writes that ask for one (NOC_CMD_RESP_MARKED), or for "
               "NIU_MST_POSTED_WR_REQ_SENT after writes that do not.";
    case WG_MST_ATOMIC_RESP_RECEIVED:
        return "Wait for as many answers as there are atomic requests that ask for one (NOC_CMD_RESP_MARKED).";
    case WG_MST_RD_RESP_RECEIVED: return "Wait for as many answers as there are reads.";
    default: return "Wait for the number of requests that the tile really makes, or for the counter that counts them.";
    }
}

/* " until it is at least 2; it is 1", or nothing if the loop's condition is unknown or is met by now. */
static const char *until(const wg_poll_ending *e, char *room, size_t bytes)
{
    static const char *const how[] = {[WG_POLL_AT_LEAST] = "at least ",
                                      [WG_POLL_AT_MOST] = "at most ",
                                      [WG_POLL_EQUAL] = "",
                                      [WG_POLL_UNEQUAL] = "not "};
    const bool holds = e->how == WG_POLL_AT_LEAST  ? e->now >= e->wanted
                       : e->how == WG_POLL_AT_MOST ? e->now <= e->wanted
                       : e->how == WG_POLL_EQUAL   ? e->now == e->wanted
                                                   : e->now != e->wanted;
    room[0] = 0;
    if (e->now != e->load.value || holds) /* it compares something computed from the word */
        return room;
    if (e->how == WG_POLL_UNEQUAL)
        snprintf(room, bytes, e->wanted < 10 ? " until it is no longer %u" : " until it is no longer 0x%x", e->wanted);
    else
        snprintf(room, bytes,
                 e->wanted < 10 && e->now < 10 ? " until it is %s%u; it is %u" : " until it is %s0x%x; it is 0x%x",
                 how[e->how], e->wanted, e->now);
    return room;
}

/* Does the semaphore's value have to rise? */
static bool must_rise(unsigned value, const wg_poll_ending *e)
{
    if (!e || e->now != e->load.value || e->how == WG_POLL_UNEQUAL)
        return value == 0;
    return e->how == WG_POLL_AT_LEAST || (e->how == WG_POLL_EQUAL && e->wanted > value);
}

static void semaphore_edges(graph *g, unsigned core, unsigned semaphore, const wg_poll_ending *e)
{
    const wg_node thing = node(WG_NODE_SEMAPHORE, semaphore);
    const unsigned value = g->out->semaphore_value[semaphore];
    const bool rise = must_rise(value, e);
    char wanted[80] = "";
    if (!e || !*until(e, wanted, sizeof wanted))
        snprintf(wanted, sizeof wanted, ", which is %u", value);
    wg_hang_edge_add(g, node(WG_NODE_CORE, core), thing, "it polls semaphore %u (%s)%s", semaphore,
                     wg_semaphore_name(semaphore), wanted)
        ->need = rise ? WG_NEEDS_POST : WG_NEEDS_GET;
    wg_hang_changers(g, thing, core - WG_CORE_T0, core,
                     &(wg_wanted){rise ? wg_word_raises : wg_word_lowers, semaphore, semaphore},
                     rise ? "SEMPOST of it" : "SEMGET of it");
}

static bool writes_l1(const wg_arch *arch, uint32_t word, unsigned unused)
{
    (void)unused;
    switch ((unsigned)wg_isa_decode(arch->id, word)->id) {
    case WG_I_STOREIND:
    case WG_I_ATSWAP:
    case WG_I_ATCAS:
    case WG_I_ATINCGET:
    case WG_I_ATINCGETPTR:
    case WG_I_PACR:
    case WG_I_XMOV: return true;
    default: return false;
    }
}

/* "it", or the address, if several words are polled. */
static const char *word_text(const graph *g, unsigned core, uint32_t address, char room[12])
{
    snprintf(room, 12, g->out->core[core].words > 1 ? "0x%08x" : "it", address);
    return room;
}

/* From the polled word to everybody who could still write it. True: there is somebody. */
static bool writers(graph *g, unsigned core, uint32_t address)
{
    const wg_node thing = node(WG_NODE_MEMORY, core);
    char place[272], room[12];
    const char *it = word_text(g, core, address, room);
    bool any = false;
    for (unsigned i = 0; i < WG_CORES; i++) {
        const bool in_reset = g->out->core[i].info.in_reset && g->history->entry[i];
        uint32_t pc = 0;
        if (i == core || (!g->out->core[i].waits && !in_reset))
            continue;
        wg_reachable r =
            wg_core_stores_to(g->dev, i, in_reset ? g->history->entry[i] : g->out->core[i].info.pc, address, &pc);
        r = in_reset && r == WG_REACH_MAYBE ? WG_REACH_NO : r;
        if (r == WG_REACH_SURELY)
            wg_hang_edge_add(g, thing, node(WG_NODE_CORE, i), "core %s would store to %s%s",
                             wg_agent_name_of(g->dev, i), it, at_place(g, i, pc, place, sizeof place));
        else if (r == WG_REACH_MAYBE)
            wg_hang_edge_add(g, thing, node(WG_NODE_CORE, i),
                             "core %s stores through a pointer%s that might lead to %s", wg_agent_name_of(g->dev, i),
                             at_place(g, i, pc, place, sizeof place), it)
                ->guess = true;
        any |= r != WG_REACH_NO;
    }
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (address < g->dev->tile->spec->l1_bytes &&
            wg_thread_will_issue(g->dev->tile, &g->history->pending[i], i, writes_l1, 0)) {
            wg_hang_edge_add(g, thing, node(WG_NODE_THREAD, i),
                             "an instruction that might write %s is queued in thread %u", it, i)
                ->guess = true;
            any = true;
        }
    return any;
}

static const char *writer(const graph *g, const wg_word_write *w, char name[40])
{
    snprintf(name, 40, "%s%s", w->agent <= WG_AGENT_CORE_T2 ? "core " : "", wg_agent_name_of(g->dev, w->agent));
    return name;
}

/* No party can still write the word: names the last writer and, if that is the polling core itself, the one before it. */
static void say_last_write(graph *g, unsigned core, uint32_t address)
{
    const wg_node thing = node(WG_NODE_MEMORY, core);
    const wg_last_write *w = last_write(g, address);
    char room[12], name[40], place[272], text[WG_HANG_WORDS];
    const char *it = word_text(g, core, address, room);
    phrase p = {text, sizeof text, 0};
    if (!w || !w->last.cycle) {
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0),
                         w ? "nobody writes %s" : "nothing that can still act writes %s", it);
        return;
    }
    say(&p, "%s wrote %s last%s, in cycle %llu", writer(g, &w->last, name), it,
        at_place(g, w->last.core, w->last.pc, place, sizeof place), (unsigned long long)w->last.cycle);
    if (w->last.agent == core && w->before.cycle)
        say(&p, "; before that, %s did%s, in cycle %llu", writer(g, &w->before, name),
            at_place(g, w->before.core, w->before.pc, place, sizeof place), (unsigned long long)w->before.cycle);
    wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "%s", text);
}

/* ---- Several words ---- */

/* The word that keeps the core in its loop: the one that is missing, else one that nobody has written. */
static unsigned culprit(const graph *g, const wg_poll_round *round)
{
    for (unsigned i = 0; i < round->words; i++)
        if (round->word[i].missing)
            return i;
    for (unsigned i = 0; i < round->words; i++) {
        const wg_last_write *w = last_write(g, round->word[i].address);
        if (w && !w->last.cycle)
            return i;
    }
    return 0;
}

/* "0x00020100, which is 1", "0x00020100 and 0x00020110, which are 1 and 0" */
static void say_words(phrase *p, const wg_poll_round *round)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < round->words; i++) {
            const uint32_t n = k ? round->word[i].value : round->word[i].address;
            say(p, "%s",
                i == 0                  ? !k                 ? ""
                                          : round->words > 1 ? ", which are "
                                                             : ", which is "
                : i + 1 == round->words ? " and "
                                        : ", ");
            say(p, !k ? "0x%08x" : n < 10 ? "%u" : "0x%x", n);
        }
}

/* The words that keep the core in its loop; false: not known. */
static bool words_of_round(graph *g, unsigned core, wg_poll_round *round, unsigned *which)
{
    wg_hang_core *out = &g->out->core[core];
    if (!wg_poll_round_find(g->dev->tile, core, round))
        return false;
    *which = culprit(g, round);
    out->words = round->words;
    for (unsigned i = 0; i < round->words; i++)
        out->word[i] = round->word[i].address;
    return true;
}

/* The core's last request that went where nothing answers; NULL: none is known. */
static const wg_finding *lost_request(const graph *g, unsigned core)
{
    const wg_device *dev = g->dev;
    const wg_finding *last = NULL;
    for (size_t i = 0; i < dev->findings; i++) {
        const wg_finding *f = &dev->finding[i];
        if (f->code == WG_F_NOC_NOWHERE && f->agent == core && f->tile == dev->tile->index && f->has_pc &&
            (!last || f->cycle >= last->cycle))
            last = f;
    }
    return last;
}

static void counter_edge(graph *g, unsigned core, bool own)
{
    const wg_node thing = node(WG_NODE_MEMORY, core);
    const wg_finding *f = own ? lost_request(g, core) : NULL;
    char place[272];
    if (f)
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "no answer is to come: core %s's request%s was lost, %s",
                         wg_agent_name_of(g->dev, core), at_place(g, core, f->pc, place, sizeof place), f->detail);
    else
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0),
                         own ? "no request that it counts is under way"
                             : "no request of another tile that it counts is under way");
}

static void word_edges(graph *g, unsigned core, uint32_t address, const wg_poll_ending *ending, bool own_ram)
{
    const wg_node thing = node(WG_NODE_MEMORY, core);
    bool own;
    if (wg_hang_counter_remedy(address, &own))
        counter_edge(g, core, own);
    else if (own_ram && ending)
        wg_hang_edge_add(g, thing, node(WG_NODE_NOBODY, 0), "no other party can write core %s's own RAM",
                         wg_agent_name_of(g->dev, core));
    else if (!writers(g, core, address))
        say_last_write(g, core, address);
}

void wg_hang_poll_edges(graph *g, unsigned core)
{
    const wg_node from = node(WG_NODE_CORE, core), thing = node(WG_NODE_MEMORY, core);
    wg_hang_core *out = &g->out->core[core];
    wg_poll_loop loop;
    wg_poll_ending ending = {0};
    wg_poll_round round;
    char wanted[80] = "", polled[WG_HANG_WORDS];
    phrase p = {polled, sizeof polled, 0};
    uint32_t address = 0;
    unsigned which = 0;
    const bool found = wg_poll_loop_find(g->dev->tile, core, out->info.pc, &loop);
    bool ends = found && wg_poll_loop_ends(&loop, &ending);
    if (found && !ends) {
        loop.own_ram = true;
        ends = wg_poll_loop_ends(&loop, &ending);
    }
    const bool one = ends && !ending.load.more && *until(&ending, wanted, sizeof wanted);
    const bool by_round = !one && words_of_round(g, core, &round, &which);
    const bool known = by_round || ends || last_load(g, core, &address);
    if (found)
        out->loop_from = loop.from, out->loop_to = loop.to;
    out->poll_pc = by_round ? round.word[which].pc : ending.load.pc;
    address = by_round ? round.word[which].address : ends ? ending.load.address : address;
    if (known && core >= WG_CORE_T0 && address - SEMAPHORE_WINDOW < 4 * WG_SEMAPHORES) {
        semaphore_edges(g, core, (address - SEMAPHORE_WINDOW) / 4, ends && !by_round ? &ending : NULL);
        return;
    }
    out->polled = address;
    if (by_round)
        say_words(&p, &round);
    else if (known)
        polled_text(address, polled, sizeof polled);
    if (!known)
        wg_hang_edge_add(g, from, thing, "it loops and reads the same values each time");
    else
        wg_hang_edge_add(g, from, thing, "it polls %s%s", polled,
                         one        ? wanted
                         : by_round ? ""
                                    : " and reads the same value each time");
    if (known)
        word_edges(g, core, address, ends ? &ending : NULL, found && loop.own_ram);
    else
        say_last_write(g, core, address);
}
