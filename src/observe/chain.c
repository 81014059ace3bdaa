/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/chain.h"

#include <stdlib.h>
#include <string.h>

/* ---- The table of costs ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t hash_of(const wg_cost *c)
{
    uint64_t h = mix(c->pc, c->word);
    h = mix(h, (uint64_t)c->address << 32 | (uint64_t)c->resource << 16 | c->holder);
    return mix(h, (uint64_t)c->track << 16 | (uint64_t)c->core << 8 | c->doing);
}

static bool same(const wg_cost *a, const wg_cost *b)
{
    return a->pc == b->pc && a->word == b->word && a->address == b->address && a->resource == b->resource &&
           a->holder == b->holder && a->track == b->track && a->core == b->core && a->doing == b->doing;
}

/* Twice as many slots; the costs stay where they are. */
static bool grow(wg_cost_table *t)
{
    size_t slots = t->slots ? 2 * t->slots : 1024;
    uint32_t *slot = calloc(slots, sizeof *slot);
    wg_cost *cost = realloc(t->cost, slots / 2 * sizeof *cost);
    t->cost = cost ? cost : t->cost;
    if (!slot || !cost) {
        free(slot);
        t->failed = true;
        return false;
    }
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(&cost[i]) & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    return true;
}

size_t wg_cost_add(wg_cost_table *t, const wg_cost *c)
{
    if (t->failed || (t->count >= t->slots / 2 && !grow(t)))
        return 0;
    size_t at = hash_of(c) & (t->slots - 1);
    while (t->slot[at] && !same(&t->cost[t->slot[at] - 1], c))
        at = (at + 1) & (t->slots - 1);
    if (!t->slot[at]) {
        t->cost[t->count] = *c;
        t->cost[t->count].cycles = t->cost[t->count].times = 0;
        t->slot[at] = (uint32_t)++t->count;
    }
    t->cost[t->slot[at] - 1].cycles += c->cycles;
    t->cost[t->slot[at] - 1].times += c->times;
    return t->slot[at] - 1;
}

void wg_cost_table_free(wg_cost_table *t)
{
    free(t->cost);
    free(t->slot);
    *t = (wg_cost_table){0};
}

/* ---- Links ---- */

void wg_chain_note(wg_chain *c, uint64_t from, uint64_t to, const wg_cost *what)
{
    unsigned track = what->track;
    wg_link *last = wg_chain_last(c, track);
    if (from >= to || c->failed)
        return;
    if (last && last->to == from && same(&last->what, what)) {
        last->to = to;
        return;
    }
    if (c->count[track] == WG_CHAIN_LINKS) { /* drop the older half */
        memmove(c->link[track], c->link[track] + WG_CHAIN_LINKS / 2, WG_CHAIN_LINKS / 2 * sizeof *last);
        c->count[track] = WG_CHAIN_LINKS / 2;
    }
    if (c->count[track] == c->room[track]) {
        size_t room = c->room[track] ? 2 * c->room[track] : 256;
        wg_link *more = realloc(c->link[track], room * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->link[track] = more;
        c->room[track] = room;
    }
    c->link[track][c->count[track]++] = (wg_link){from, to, *what};
}

wg_link *wg_chain_last(wg_chain *c, unsigned track)
{
    return c->count[track] ? &c->link[track][c->count[track] - 1] : NULL;
}

/* The link that contains the cycle before `at`; NULL: none was noted. */
static const wg_link *link_before(const wg_chain *c, unsigned track, uint64_t at)
{
    size_t low = 0, high = c->count[track];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->link[track][middle].from < at)
            low = middle + 1;
        else
            high = middle;
    }
    const wg_link *link = low ? &c->link[track][low - 1] : NULL;
    return link && link->to >= at ? link : NULL;
}

/* The run does not wait for a track that does this. */
static bool is_quiet(const wg_cost *what)
{
    return what->doing == WG_DOING_IDLE || what->doing == WG_DOING_RESET || what->doing == WG_DOING_PARKED;
}

/* The track that worked last. */
static unsigned last_at_work(const wg_chain *c, uint64_t to)
{
    unsigned best = 0;
    uint64_t latest = 0;
    for (unsigned track = 0; track < WG_TRACKS; track++)
        for (size_t i = c->count[track]; i-- > 0;) {
            const wg_link *link = &c->link[track][i];
            if (is_quiet(&link->what) || link->from >= to)
                continue;
            uint64_t end = link->to < to ? link->to : to;
            if (end > latest) {
                latest = end;
                best = track;
            }
            break;
        }
    return best;
}

uint64_t wg_chain_walk(const wg_chain *c, uint64_t from, uint64_t to, void (*piece)(void *user, const wg_link *piece),
                       void *user)
{
    uint64_t at = to;
    unsigned track = last_at_work(c, to), asked = 0;
    while (at > from) {
        const wg_link *link = link_before(c, track, at);
        if (!link)
            return at;
        asked |= 1u << track;
        /* A wait that lasts beyond this cycle has not ended yet. */
        unsigned next = link->to == at && link->what.doing != WG_DOING_WORK ? link->what.holder : WG_AGENT_NONE;
        if (next < WG_TRACKS && !(asked >> next & 1) && link_before(c, next, at)) {
            track = next;
            continue;
        }
        wg_link found = *link;
        uint64_t begin = link->from > from ? link->from : from;
        found.from = begin;
        found.to = at;
        found.what.cycles = at - begin;
        found.what.times = 1;
        piece(user, &found);
        at = begin;
        asked = 0;
    }
    return at;
}

void wg_chain_free(wg_chain *c)
{
    for (unsigned track = 0; track < WG_TRACKS; track++)
        free(c->link[track]);
    memset(c, 0, sizeof *c);
}
