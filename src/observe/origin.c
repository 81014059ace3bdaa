/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/origin.h"

#include <stdlib.h>
#include <string.h>

static void add(wg_origin *o, const wg_data_touch *t)
{
    if (o->failed)
        return;
    if (o->count == WG_ORIGIN_TOUCHES) { /* the older half goes */
        o->count = WG_ORIGIN_TOUCHES / 2;
        memmove(o->touch, o->touch + WG_ORIGIN_TOUCHES / 2, o->count * sizeof *o->touch);
        o->begins = o->touch[0].cycle;
    }
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 4096;
        room = room < WG_ORIGIN_TOUCHES ? room : WG_ORIGIN_TOUCHES;
        wg_data_touch *more = realloc(o->touch, room * sizeof *more);
        if (!more) {
            o->failed = true;
            return;
        }
        o->touch = more;
        o->room = room;
    }
    o->touch[o->count++] = *t;
}

void wg_origin_event(void *user, const wg_event *e)
{
    wg_data_touch t = {.cycle = e->cycle,
                       .id = e->id,
                       .first = (uint32_t)e->b,
                       .count = (uint32_t)e->c,
                       .pc = e->pc,
                       .word = e->word,
                       .space = (uint8_t)e->a,
                       .agent = e->agent,
                       .thread = e->thread,
                       .reads = e->how & WG_TOUCH_READ,
                       .writes = e->how & WG_TOUCH_WRITE};
    switch (e->a) {
    case WG_TOUCH_L1:
    case WG_TOUCH_GPR:
    case WG_TOUCH_SRC: add(user, &t); break;
    case WG_TOUCH_DST:
        add(user, &t);
        if (e->how & WG_TOUCH_WIDE) { /* the low halves */
            t.first += 8;
            add(user, &t);
        }
        break;
    case WG_TOUCH_LREG:
        for (uint32_t mask = (uint32_t)e->c & 0xFFFF; mask; mask &= mask - 1) {
            t.first = (uint32_t)__builtin_ctz(mask);
            t.count = 1;
            add(user, &t);
        }
        break;
    default: break;
    }
}

void wg_origin_free(wg_origin *o)
{
    free(o->touch);
    *o = (wg_origin){0};
}

/* Parts of a location that are still to be explained. */
enum { PARTS = 128 };
typedef struct part {
    uint32_t first, end;
    unsigned seen; /* writes that may have left lanes as they were */
} part;

void wg_origin_writers(const wg_origin *o, unsigned space, uint32_t first, uint32_t count, size_t before,
                       void (*found)(void *user, size_t touch, uint32_t first, uint32_t count), void *user)
{
    part open[PARTS] = {{first, first + count, 0}};
    unsigned parts = count ? 1 : 0;
    for (size_t i = before < o->count ? before : o->count; i-- > 0 && parts;) {
        const wg_data_touch *t = &o->touch[i];
        if (!t->writes || t->space != space)
            continue;
        for (unsigned k = 0; k < parts; k++) {
            uint32_t low = t->first > open[k].first ? t->first : open[k].first;
            uint32_t high = t->first + t->count < open[k].end ? t->first + t->count : open[k].end;
            if (low >= high)
                continue;
            found(user, i, low, high - low);
            bool lanes = t->agent == WG_AGENT_VECTOR && space == WG_TOUCH_LREG;
            if (lanes && ++open[k].seen < WG_ORIGIN_LANES)
                continue;
            part rest = {high, open[k].end, open[k].seen};
            open[k].end = low;
            if (rest.first < rest.end && parts < PARTS)
                open[parts++] = rest;
            if (open[k].first == open[k].end)
                open[k--] = open[--parts];
        }
    }
    for (unsigned k = 0; k < parts; k++)
        if (!open[k].seen)
            found(user, SIZE_MAX, open[k].first, open[k].end - open[k].first);
}

void wg_origin_reads(const wg_origin *o, size_t write, void (*found)(void *user, size_t touch), void *user)
{
    enum { FAR = 4096 }; /* cycles that an instruction stays in its unit, at most */
    const wg_data_touch *w = &o->touch[write];
    for (size_t i = write + 1; i-- > 0 && w->id && o->touch[i].cycle + FAR > w->cycle;) {
        const wg_data_touch *t = &o->touch[i];
        if (t->reads && t->id == w->id && t->thread == w->thread)
            found(user, i);
    }
}
