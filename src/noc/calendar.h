/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network's event queue, as a calendar: a list per kind and cycle for the next DAYS cycles, and one far list for later
 * events, which is scanned when its first entry comes near.
 *
 *     wg_calendar_open()     the next cycle with an event becomes the open one
 *     wg_calendar_take()     its events: kinds in order; SPREADS and LOOKS in ascending order, others in any order
 *     wg_calendar_put()      into the open cycle (LOOKS only) or a later one
 *
 * A snapshot holds the entries. Everything else follows from them (wg_calendar_derive()).
 */
#ifndef WG_CALENDAR_H
#define WG_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>
#include "noc/floorplan.h"

/*
 *     ARRIVES   a head enters a router (which: the flight)
 *     RELEASED  a broadcast's reservation ends (which: the flight)
 *     SPREADS   a broadcast, or the request to reserve its tree, enters its first router (which: NoC and tile)
 *     PASSED    a flight's tail has passed the next of its links (which: the flight)
 *     ROOM      a NIU can accept one more packet (which: the link to it)
 *     LOOKS     a link is arbitrated (which: the link)
 */
typedef enum wg_network_event {
    WG_ARRIVES,
    WG_RELEASED,
    WG_SPREADS,
    WG_PASSED,
    WG_ROOM,
    WG_LOOKS,
    WG_EVENT_KINDS
} wg_network_event;

enum {
    WG_CALENDAR_DAYS = 1024, /* a power of two */
    WG_CALENDAR_ENTRIES = 1 << 15,
    WG_CALENDAR_LOOKS = 8, /* of `set`: the first word of LOOKS; those before it are for SPREADS */
    WG_CALENDAR_SETS = 32
};
_Static_assert(2 * WG_GRID_MAX_TILES <= 64 * WG_CALENDAR_LOOKS, "a bit per NoC and tile");
_Static_assert(6 * WG_GRID_MAX_TILES <= 64 * (WG_CALENDAR_SETS - WG_CALENDAR_LOOKS), "a bit per link");

typedef struct wg_calendar_entry {
    uint64_t cycle; /* 0: unused */
    uint16_t which, next;
    uint8_t kind;
} wg_calendar_entry;

typedef struct wg_calendar {
    uint64_t first; /* the next cycle with an event; UINT64_MAX: none */
    uint64_t base;  /* lists hold cycles from this one on */
    uint64_t open;
    uint64_t far_first;                     /* of the far list */
    uint64_t listed[WG_CALENDAR_DAYS / 64]; /* a bit per cycle: it has events */
    uint64_t set[WG_CALENDAR_SETS];         /* a bit for each of the open cycle's SPREADS and LOOKS, */
    uint32_t words;                         /* … and for each word of them that is not zero */
    uint16_t list[WG_CALENDAR_DAYS][WG_EVENT_KINDS];
    uint16_t now[WG_EVENT_KINDS];                 /* the open cycle's other events */
    uint16_t far, unused, used;                   /* entries: the far list, the free list; ever used */
    wg_calendar_entry entry[WG_CALENDAR_ENTRIES]; /* from 1 on */
} wg_calendar;

/* Derives everything from the entries, of a calendar that is all zero or comes from a snapshot. */
void wg_calendar_derive(wg_calendar *c);
void wg_calendar_open(wg_calendar *c);
void wg_calendar_put_entry(wg_calendar *c, uint64_t cycle, wg_network_event kind, unsigned which);

static inline void wg_calendar_into_set(wg_calendar *c, wg_network_event kind, unsigned which)
{
    unsigned word = ((kind == WG_LOOKS ? WG_CALENDAR_LOOKS : 0) + which / 64) % WG_CALENDAR_SETS;
    c->set[word] |= UINT64_C(1) << which % 64;
    c->words |= 1u << word;
}

static inline void wg_calendar_put(wg_calendar *c, uint64_t cycle, wg_network_event kind, unsigned which)
{
    if (cycle == c->open && kind == WG_LOOKS)
        wg_calendar_into_set(c, kind, which);
    else
        wg_calendar_put_entry(c, cycle, kind, which);
}

static inline bool wg_calendar_take(wg_calendar *c, wg_network_event kind, unsigned *which)
{
    const uint32_t spreads = (1u << WG_CALENDAR_LOOKS) - 1;
    if (kind == WG_SPREADS || kind == WG_LOOKS) {
        uint32_t words = c->words & (kind == WG_LOOKS ? ~spreads : spreads);
        if (!words)
            return false;
        unsigned word = (unsigned)__builtin_ctz(words);
        *which = 64 * (word - (kind == WG_LOOKS ? WG_CALENDAR_LOOKS : 0)) + (unsigned)__builtin_ctzll(c->set[word]);
        c->set[word] &= c->set[word] - 1;
        if (!c->set[word])
            c->words &= ~(1u << word);
        return true;
    }
    uint16_t i = c->now[kind];
    wg_calendar_entry *e = &c->entry[i];
    if (!i)
        return false;
    *which = e->which;
    c->now[kind] = e->next;
    e->cycle = 0;
    e->next = c->unused;
    c->unused = i;
    return true;
}

#endif
