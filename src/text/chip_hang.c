/* SPDX-License-Identifier: Apache-2.0 */
#include "text/chip_hang.h"

#include <stdlib.h>
#include <string.h>

#include "chip/waits.h"

/* ---- The parties ---- */

/* Describes the wait in the tile: which agent, where, and for what. */
static void describe_wait(const wg_hang *h, const wg_history *places, wg_party *p)
{
    const wg_hang_edge *first = h->path_length ? &h->edge[h->path[0]] : NULL;
    unsigned core;
    p->launched = h->launched;
    p->state = h->outside ? WG_PARTY_WAITS : WG_PARTY_STUCK;
    if (!first) {
        snprintf(p->why, sizeof p->why, "no wait has a known cause");
        return;
    }
    const uint32_t pc = wg_hang_pc(h, first->from, &core);
    wg_node_name(h, first->from, p->who, sizeof p->who);
    if (pc)
        places->place(places->place_user, core, pc, p->place, sizeof p->place);
    snprintf(p->why, sizeof p->why, "%.*s", p->state == WG_PARTY_WAITS ? (int)sizeof p->why - 1 : (int)h->remedy_at,
             p->state == WG_PARTY_WAITS ? first->reason : h->story);
}

static void describe_link(const wg_grid *g, wg_party *p)
{
    wg_link_state link;
    p->down_since = UINT64_MAX;
    if (!wg_grid_link_state(g, p->tile, &link))
        return;
    p->linked = 1;
    p->channel = link.channel;
    p->peer_chip = link.peer_chip;
    p->peer_channel = link.peer_channel;
    p->down_since = link.down_since;
    p->unsent = link.unsent;
    p->unacknowledged = link.unacknowledged;
}

void wg_party_describe(const wg_grid *g, int chip, unsigned x, unsigned y, const wg_hang *hang,
                       const wg_history *places, wg_party *p)
{
    const unsigned tiles = wg_grid_width(g) * wg_grid_height(g);
    wg_device *dev = wg_grid_peek(g, x, y);
    bool released = false;
    *p = (wg_party){
        .chip = chip < 0 ? 0 : (unsigned)chip, .x = x, .y = y, .tile = y * wg_grid_width(g) + x, .alone = chip < 0};
    describe_link(g, p);
    int n = p->alone ? 0 : snprintf(p->name, sizeof p->name, "chip %d, ", chip);
    n += snprintf(p->name + n, sizeof p->name - (size_t)n, "%s %u-%u",
                  wg_grid_kind(g, x, y) == WG_TILE_ETH ? "Ethernet tile" : "tile", x, y);
    if (p->linked)
        snprintf(p->name + n, sizeof p->name - (size_t)n, " (e%u)", p->channel);
    for (unsigned i = 0; i < tiles && i < 8 * sizeof p->sends_to; i++)
        if (i != p->tile && wg_grid_sends_to(g, p->tile, i))
            p->sends_to[i / 32] |= UINT32_C(1) << i % 32;
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_core_info info;
        released |= wg_core_state(dev, (wg_core_id)c, &info) == WG_OK && !info.in_reset;
    }
    p->state = released ? WG_PARTY_STOPPED : WG_PARTY_IDLE;
    if (hang)
        describe_wait(hang, places, p);
}

bool wg_hang_tells(const wg_hang *h)
{
    bool moves = false;
    for (unsigned c = 0; c < WG_CORES; c++)
        moves |= !h->core[c].info.parked;
    return !h->at_rest && (moves || h->edges);
}

/* ---- The cause ---- */

/* How the chain of waits can end, most informative first. */
typedef enum ending { CUT, STUCK, STOPPED, ABSENT, CIRCLE, KNOT, NOTHING } ending;

enum { LONGEST = 64 };

typedef struct chain {
    ending ends;
    unsigned steps;
    bool crosses; /* over a link */
    bool ended;   /* KNOT: other programs have ended */
    const wg_party *step[LONGEST];
    bool by_link[LONGEST]; /* step i waits for something that arrives over its link */
} chain;

static const wg_party *of_channel(const wg_party *all, size_t count, unsigned chip, unsigned channel)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].linked && all[i].chip == chip && all[i].channel == channel)
            return &all[i];
    return NULL;
}

/* A tile of the same chip that has sent data to this one and is itself waiting; else one whose program has ended. */
static const wg_party *neighbour_of(const wg_party *all, size_t count, const wg_party *p)
{
    const wg_party *ended = NULL;
    for (size_t i = 0; i < count; i++) {
        const wg_party *q = &all[i];
        if (q == p || q->chip != p->chip || !(q->sends_to[p->tile / 32] >> p->tile % 32 & 1))
            continue;
        if (q->state >= WG_PARTY_WAITS)
            return q;
        ended = q;
    }
    return p->linked ? NULL : ended;
}

static chain chain_from(const wg_party *all, size_t count, const wg_party *p)
{
    chain c = {.ends = NOTHING};
    while (c.steps < LONGEST) {
        for (unsigned i = 0; i < c.steps; i++)
            if (c.step[i] == p) { /* the part before it leads into the circle */
                memmove(c.step, c.step + i, (c.steps - i) * sizeof *c.step);
                memmove(c.by_link, c.by_link + i, (c.steps - i) * sizeof *c.by_link);
                c.steps -= i;
                c.ends = CIRCLE;
                return c;
            }
        c.step[c.steps++] = p;
        if (p->state != WG_PARTY_WAITS) {
            c.ends = p->state == WG_PARTY_STUCK ? STUCK : p->state == WG_PARTY_STOPPED ? STOPPED : ABSENT;
            return c;
        }
        const wg_party *next = neighbour_of(all, count, p);
        c.by_link[c.steps - 1] = !next && p->linked;
        if (!next && !p->linked)
            return c;
        if (!next) {
            c.crosses = true;
            if (p->down_since != UINT64_MAX) {
                c.ends = CUT;
                return c;
            }
            if (!(next = of_channel(all, count, p->peer_chip, p->peer_channel))) {
                c.ends = ABSENT;
                return c;
            }
        }
        p = next;
    }
    return c;
}

/*
 * Programs on tiles that have ended: all of them, or those that have ended, too, and have never sent anything to the one that
 * waits.
 */
static void say_ended(const wg_party *all, size_t count, const chain *c, wg_text *out)
{
    enum { NAMED = 4 };
    const wg_party *last = c->step[c->steps - 1], *waits = c->steps > 1 ? c->step[c->steps - 2] : NULL;
    const bool silent = waits && last->alone && c->ends == STOPPED;
    unsigned said = 0;
    for (size_t i = 0; (silent || c->ends == KNOT) && i < count; i++) {
        const wg_party *q = &all[i];
        if (q->state != WG_PARTY_STOPPED ||
            (silent && (q == last || q->sends_to[waits->tile / 32] >> waits->tile % 32 & 1)))
            continue;
        if (said++ < NAMED)
            wg_textf(out, "%s%s",
                     said > 1 ? ", "
                     : silent ? "; also ended, and never sent anything there: "
                              : "; ended: ",
                     q->name);
    }
    if (said > NAMED)
        wg_textf(out, " and %u more", said - NAMED);
}

/* Nobody has sent anything to those that wait: all of them, if there are several, or if other programs have ended. */
static chain knot(const wg_party *all, size_t count)
{
    chain c = {.ends = KNOT};
    for (size_t i = 0; i < count && c.steps < LONGEST; i++) {
        if (all[i].state == WG_PARTY_WAITS)
            c.step[c.steps++] = &all[i];
        else if (all[i].state == WG_PARTY_STUCK)
            return (chain){.ends = NOTHING}; /* that tile's own verdict says more */
        c.ended |= all[i].state == WG_PARTY_STOPPED;
    }
    return c.steps > 1 || (c.steps && c.ended && !c.step[0]->launched) ? c : (chain){.ends = NOTHING};
}

/*
 * Chooses the chain with the most informative end: the shortest one that ends at a link that is down, else the longest.
 */
static chain choose(const wg_party *all, size_t count)
{
    chain best = {.ends = NOTHING};
    for (size_t i = 0; i < count; i++) {
        if (all[i].state != WG_PARTY_WAITS)
            continue;
        const chain c = chain_from(all, count, &all[i]);
        const bool better =
            c.ends == best.ends ? c.ends == CUT ? c.steps < best.steps : c.steps > best.steps : c.ends < best.ends;
        if ((c.crosses || (all[i].alone && c.steps > 1)) && c.ends != NOTHING && better)
            best = c;
    }
    return best.ends == NOTHING && count && all[0].alone ? knot(all, count) : best;
}

static void packets(const wg_party *p, wg_text *out)
{
    const unsigned waiting = p->unsent + p->unacknowledged;
    if (waiting)
        wg_textf(out, ", and %u packet%s from chip %u %s no acknowledgement", waiting, waiting == 1 ? "" : "s", p->chip,
                 waiting == 1 ? "has" : "have");
}

static const char *where(const wg_party *p, char *room, size_t bytes)
{
    if (p->alone)
        return p->name;
    snprintf(room, bytes, "chip %u", p->chip);
    return room;
}

static void cause(const wg_party *all, size_t count, const chain *c, wg_text *out)
{
    char room[32];
    const wg_party *last = c->step[c->steps - 1], *peer = of_channel(all, count, last->peer_chip, last->peer_channel);
    switch (c->ends) {
    case CUT:
        wg_textf(out, "The link chip %u, e%u – chip %u, e%u %s", last->chip, last->channel, last->peer_chip,
                 last->peer_channel, last->down_since ? "has been down since cycle " : "has never come up");
        if (last->down_since)
            wg_textf(out, "%llu", (unsigned long long)last->down_since);
        packets(last, out);
        if (peer)
            packets(peer, out);
        wg_textf(out, ": ");
        break;
    case STUCK: wg_textf(out, "The cause is on %s: ", where(last, room, sizeof room)); break;
    case STOPPED:
        wg_textf(out,
                 last->alone ? "What is waited for can no longer come from %s, which has sent data there and whose "
                               "program has ended: "
                             : "What is waited for can no longer be sent, because the program on %s has ended: ",
                 where(last, room, sizeof room));
        break;
    case ABSENT:
        wg_textf(out, "Nobody sends what is waited for: chip %u, e%u runs no program: ",
                 last->state == WG_PARTY_WAITS ? last->peer_chip : last->chip,
                 last->state == WG_PARTY_WAITS ? last->peer_channel : last->channel);
        break;
    case CIRCLE: wg_textf(out, "They wait for each other in a circle: "); break;
    case KNOT:
        if (c->steps > 1)
            wg_textf(out, "%u tiles wait for what nothing on the same tile can still do, ", c->steps);
        else
            wg_textf(out, "A tile waits for what nothing on it can still do, ");
        wg_textf(out, "and %s: ", c->ended ? "the programs on all others have ended" : "no other tile runs a program");
        break;
    case NOTHING: break;
    }
}

static void step_text(const wg_party *p, bool by_link, wg_text *out)
{
    wg_textf(out, "%s", p->name);
    if (p->state == WG_PARTY_STOPPED)
        wg_textf(out, " has ended");
    else if (p->state == WG_PARTY_IDLE)
        wg_textf(out, " is in reset");
    else if (p->state == WG_PARTY_STUCK)
        wg_textf(out, ": %.*s", (int)(strlen(p->why) - (strlen(p->why) > 2 ? 2 : 0)), p->why);
    else
        wg_textf(out, ", %s%s%s: %s", *p->who ? p->who : "a core", *p->place ? " at " : "", p->place, p->why);
    if (by_link)
        wg_textf(out, "; what it waits for comes over the link from chip %u, e%u", p->peer_chip, p->peer_channel);
}

static void verdict(const wg_party *all, size_t count, const chain *c, wg_text *out)
{
    static const char *const remedies[] = {[CUT] = "Let the program look at the link's status, and take another way.",
                                           [STUCK] = "Look at that tile first.",
                                           [STOPPED] =
                                               "Let it send what is waited for before it ends, or do not wait for it.",
                                           [ABSENT] = "Give that end a program that sends it, or do not wait for it.",
                                           [CIRCLE] = "Send something on one of these tiles before the first wait.",
                                           [KNOT] = "Let one of them send what another waits for before its own wait."};
    const bool alone = c->ends == KNOT && c->steps == 1;
    cause(all, count, c, out);
    for (unsigned i = 0; i < c->steps; i++) {
        wg_textf(out, "%s", i ? "; " : "");
        step_text(c->step[i], c->by_link[i], out);
    }
    say_ended(all, count, c, out);
    wg_textf(out, ". %s",
             alone ? "Let one of those that have ended send it first, or do not wait for it." : remedies[c->ends]);
}

void wg_parties_verdict(const wg_party *party, size_t parties, wg_text *out)
{
    const chain c = choose(party, parties);
    wg_text text = {0};
    if (c.ends == NOTHING)
        return;
    verdict(party, parties, &c, &text);
    wg_text_add(out, "\n", 1);
    wg_text_wrap(out, wg_text_of(&text), 0, 0);
    wg_text_add(out, "\n", 1);
    out->failed |= text.failed;
    wg_text_free(&text);
}

void wg_parties_verdict_json(const wg_party *party, size_t parties, wg_json *j)
{
    static const char *const ends[] = {[CUT] = "link-down",     [STUCK] = "stuck",   [STOPPED] = "ended",
                                       [ABSENT] = "no-program", [CIRCLE] = "circle", [KNOT] = "knot"};
    const chain c = choose(party, parties);
    wg_text text = {0};
    if (c.ends == NOTHING)
        return;
    verdict(party, parties, &c, &text);
    wg_json_open(j, "hang", '{');
    wg_json_text(j, "cause", ends[c.ends]);
    wg_json_text(j, "verdict", wg_text_of(&text));
    wg_json_open(j, "chain", '[');
    for (unsigned i = 0; i < c.steps; i++) {
        const wg_party *p = c.step[i];
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "chip", p->chip);
        wg_json_uint(j, "x", p->x);
        wg_json_uint(j, "y", p->y);
        wg_json_text(j, "who", p->who);
        wg_json_text(j, "place", p->place);
        wg_json_text(j, "why", p->why);
        wg_json_bool(j, "over_link", c.by_link[i]);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_text_free(&text);
}
