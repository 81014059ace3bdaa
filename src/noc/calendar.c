/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts and removes the calendar's entries; see calendar.h. */
#include "noc/calendar.h"

#include <stddef.h>
#include <string.h>

enum { DAYS = WG_CALENDAR_DAYS };

static void list(wg_calendar *c, uint16_t i)
{
    wg_calendar_entry *e = &c->entry[i];
    unsigned day = e->cycle % DAYS;
    e->next = c->list[day][e->kind];
    c->list[day][e->kind] = i;
    c->listed[day / 64] |= UINT64_C(1) << day % 64;
}

static void put_far(wg_calendar *c, uint16_t i)
{
    c->entry[i].next = c->far;
    c->far = i;
    if (c->entry[i].cycle < c->far_first)
        c->far_first = c->entry[i].cycle;
}

/* The first cycle from `base` on that has a list. */
static uint64_t first_listed(const wg_calendar *c)
{
    unsigned day = c->base % DAYS, word = day / 64;
    uint64_t bits = c->listed[word] & ~UINT64_C(0) << day % 64;
    for (unsigned i = 0; i <= DAYS / 64; i++) {
        if (bits)
            return c->base + (64 * word + (unsigned)__builtin_ctzll(bits) + DAYS - day) % DAYS;
        word = (word + 1) % (DAYS / 64);
        bits = c->listed[word];
        if (i + 1 == DAYS / 64) /* the first word again: the days before `base` */
            bits &= ~(~UINT64_C(0) << day % 64);
    }
    return UINT64_MAX;
}

static void find_first(wg_calendar *c)
{
    uint64_t listed = first_listed(c);
    c->first = listed < c->far_first ? listed : c->far_first;
}

void wg_calendar_put_entry(wg_calendar *c, uint64_t cycle, wg_network_event kind, unsigned which)
{
    uint16_t i = c->unused;
    if (i)
        c->unused = c->entry[i].next;
    else if (c->used < WG_CALENDAR_ENTRIES - 1) /* cannot be exceeded: a flight has few entries, a link fewer */
        i = ++c->used;
    else
        return;
    if (c->first == UINT64_MAX) /* nothing is listed: the calendar may begin anywhere */
        c->base = cycle > DAYS / 2 ? cycle - DAYS / 2 : 0;
    c->entry[i] = (wg_calendar_entry){.cycle = cycle, .which = (uint16_t)which, .kind = (uint8_t)kind};
    if (cycle - c->base < DAYS)
        list(c, i);
    else
        put_far(c, i);
    if (cycle < c->first)
        c->first = cycle;
}

/* An entry of the open cycle. */
static void open_entry(wg_calendar *c, uint16_t i)
{
    wg_calendar_entry *e = &c->entry[i];
    if (e->kind != WG_SPREADS && e->kind != WG_LOOKS) {
        e->next = c->now[e->kind];
        c->now[e->kind] = i;
        return;
    }
    wg_calendar_into_set(c, (wg_network_event)e->kind, e->which);
    e->cycle = 0;
    e->next = c->unused;
    c->unused = i;
}

/* Moves entries that are near, or in the open cycle, out of the far list. */
static void look_far(wg_calendar *c)
{
    uint16_t i = c->far;
    c->far = 0;
    c->far_first = UINT64_MAX;
    for (uint16_t next; i; i = next) {
        next = c->entry[i].next;
        if (c->entry[i].cycle == c->open)
            open_entry(c, i);
        else if (c->entry[i].cycle - c->base < DAYS)
            list(c, i);
        else
            put_far(c, i);
    }
}

void wg_calendar_open(wg_calendar *c)
{
    c->open = c->first;
    if (c->open >= c->base && c->open != UINT64_MAX) {
        unsigned day = c->open % DAYS;
        if (c->open - c->base < DAYS && c->listed[day / 64] >> day % 64 & 1) {
            c->listed[day / 64] &= ~(UINT64_C(1) << day % 64);
            for (unsigned kind = 0; kind < WG_EVENT_KINDS; kind++) {
                uint16_t i = c->list[day][kind];
                c->list[day][kind] = 0;
                if (kind != WG_SPREADS && kind != WG_LOOKS)
                    c->now[kind] = i;
                else
                    for (uint16_t next; i; i = next) {
                        next = c->entry[i].next;
                        open_entry(c, i);
                    }
            }
        }
        c->base = c->open + 1;
    }
    if (c->far_first <= c->open || (c->far_first != UINT64_MAX && c->far_first - c->base < DAYS / 2))
        look_far(c);
    find_first(c);
}

void wg_calendar_derive(wg_calendar *c)
{
    uint16_t used = c->used % WG_CALENDAR_ENTRIES;
    memset(c, 0, offsetof(wg_calendar, entry));
    c->first = c->far_first = UINT64_MAX;
    c->open = UINT64_MAX;
    c->used = used;
    uint64_t first = UINT64_MAX;
    for (uint16_t i = used; i; i--)
        if (c->entry[i].cycle && c->entry[i].cycle < first)
            first = c->entry[i].cycle;
    c->base = first != UINT64_MAX && first > DAYS / 2 ? first - DAYS / 2 : 0;
    for (uint16_t i = used; i; i--) {
        wg_calendar_entry *e = &c->entry[i];
        if (!e->cycle) {
            e->next = c->unused;
            c->unused = i;
        } else if (e->cycle - c->base < DAYS) {
            list(c, i);
        } else {
            put_far(c, i);
        }
    }
    find_first(c);
}
