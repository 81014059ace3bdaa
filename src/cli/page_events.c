/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page_events.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "machine/device.h"
#include "machine/overlay.h"

/* ---- Values over time ---- */

/* Doubles the room of a list up to `most`. False: it is unchanged. */
static bool make_room(void **list, size_t count, size_t *room, size_t most, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 1024;
    void *bigger = more <= most ? wg_realloc(*list, more * size) : NULL;
    if (!bigger)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

static void step(wg_page *p, uint64_t cycle, unsigned row, uint64_t value)
{
    void *list = p->step;
    if (p->now[row] == value)
        return;
    p->now[row] = (uint16_t)value;
    if (p->steps == WG_PAGE_STEPS) {
        for (size_t i = 0; i < WG_PAGE_STEPS / 2; i++)
            p->before[p->step[i].row] = p->step[i].value;
        memmove(p->step, p->step + WG_PAGE_STEPS / 2, WG_PAGE_STEPS / 2 * sizeof *p->step);
        p->steps = WG_PAGE_STEPS / 2;
    }
    if (!make_room(&list, p->steps, &p->step_room, WG_PAGE_STEPS, sizeof *p->step)) {
        p->failed = true;
        return;
    }
    p->step = list;
    p->step[p->steps++] = (wg_page_step){cycle, (uint16_t)row, (uint16_t)value};
}

/* Written counts of circular buffers take effect some cycles later. */
static void look_at_buffers(wg_page *p, uint64_t cycle)
{
    const wg_tile *t = p->dev->tile;
    const unsigned pushed = wg_overlay_number(t->arch, WG_SR_DEST_BUF_SIZE),
                   popped = wg_overlay_number(t->arch, WG_SR_DEST_BUF_START);
    for (uint64_t rest = p->changing; rest; rest &= rest - 1) {
        const unsigned cb = (unsigned)__builtin_ctzll(rest);
        const uint16_t now[2] = {(uint16_t)wg_overlay_stream_read(t, cb, pushed),
                                 (uint16_t)wg_overlay_stream_read(t, cb, popped)};
        uint16_t *before = p->counts[cb];
        if (now[0] == before[0] && now[1] == before[1])
            continue;
        const uint64_t bit = UINT64_C(1) << cb;
        const bool back = (int16_t)(now[0] - before[0]) < 0 || (int16_t)(now[1] - before[1]) < 0;
        p->clearing = now[0] == now[1] ? p->clearing & ~bit : back ? p->clearing | bit : p->clearing;
        memcpy(before, now, sizeof now);
        step(p, cycle, WG_ROW_BUFFER + cb, p->clearing & bit ? 0 : (uint16_t)(now[0] - now[1]));
        p->changing &= ~bit;
    }
}

static void written(wg_page *p, uint32_t address)
{
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(p->dev->arch, address, &cb, &popped))
        p->changing |= UINT64_C(1) << cb;
}

/* ---- The path of an instruction ---- */

static void pushed(wg_page *p, const wg_event *e, unsigned thread)
{
    p->inside[thread][e->id % WG_PAGE_INSIDE] = (wg_page_inside){e->id, e->cycle, e->cycle, UINT64_MAX};
    p->queued[thread][(p->first[thread] + p->pushes[thread]) % WG_PAGE_INSIDE] = e->id;
    if (p->pushes[thread] < WG_PAGE_INSIDE)
        p->pushes[thread]++;
    step(p, e->cycle, WG_ROW_QUEUE + thread, p->pushes[thread]);
}

static void expanded(wg_page *p, const wg_event *e, unsigned thread)
{
    const wg_page_inside *parent = &p->inside[thread][e->parent % WG_PAGE_INSIDE];
    uint64_t push = parent->id == e->parent ? parent->pushed : e->cycle;
    p->inside[thread][e->id % WG_PAGE_INSIDE] = (wg_page_inside){e->id, e->cycle, push, UINT64_MAX};
}

/* Threads work in order: earlier pushes have left, too. */
static void leaves_queue(wg_page *p, const wg_event *e, unsigned thread)
{
    unsigned n = 0;
    while (n < p->pushes[thread] && p->queued[thread][(p->first[thread] + n) % WG_PAGE_INSIDE] != e->id)
        n++;
    if (n == p->pushes[thread])
        return;
    p->first[thread] = (p->first[thread] + n + 1) % WG_PAGE_INSIDE;
    p->pushes[thread] -= n + 1;
    step(p, e->cycle, WG_ROW_QUEUE + thread, p->pushes[thread]);
}

static void passes(wg_page *p, const wg_event *e, unsigned thread)
{
    wg_page_inside *i = &p->inside[thread][e->id % WG_PAGE_INSIDE];
    void *list = p->way;
    if (i->id != e->id || e->b >= WG_TRACKS)
        return;
    if (p->ways == WG_PAGE_WAYS) {
        memmove(p->way, p->way + WG_PAGE_WAYS / 2, WG_PAGE_WAYS / 2 * sizeof *p->way);
        p->ways = WG_PAGE_WAYS / 2;
        p->forgotten += WG_PAGE_WAYS / 2;
    }
    if (!make_room(&list, p->ways, &p->way_room, WG_PAGE_WAYS, sizeof *p->way)) {
        p->failed = true;
        return;
    }
    p->way = list;
    i->way = p->forgotten + p->ways;
    p->way[p->ways++] = (wg_page_way){.issued = e->cycle,
                                      .entered = (uint32_t)(e->cycle - i->entered),
                                      .pushed = (uint32_t)(e->cycle - i->pushed),
                                      .thread = (uint8_t)thread,
                                      .unit = (uint8_t)e->b,
                                      .made = e->parent != 0};
}

static void completes(wg_page *p, const wg_event *e, unsigned thread)
{
    const wg_page_inside *i = &p->inside[thread][e->id % WG_PAGE_INSIDE];
    if (i->id != e->id || i->way < p->forgotten || i->way - p->forgotten >= p->ways)
        return;
    wg_page_way *w = &p->way[i->way - p->forgotten];
    w->in_unit = e->cycle > w->issued ? (uint32_t)(e->cycle - w->issued) : 1;
}

void wg_page_event(void *user, const wg_event *e)
{
    wg_page *p = user;
    const unsigned thread = e->thread % WG_THREADS;
    if (p->changing)
        look_at_buffers(p, e->cycle);
    switch (e->kind) {
    case WG_EV_SEMAPHORE: step(p, e->cycle, WG_ROW_SEMAPHORE + (e->a & 7), e->b); break;
    case WG_EV_BANK: step(p, e->cycle, WG_ROW_BANK + (e->a & 3), e->b); break;
    case WG_EV_PUSHED: pushed(p, e, thread); break;
    case WG_EV_EXPANDED: expanded(p, e, thread); break;
    case WG_EV_ISSUED:
        if (wg_opcode(e->word) == WG_OPCODE_STOREREG)
            written(p, wg_reg_address(e->word));
        leaves_queue(p, e, thread);
        passes(p, e, thread);
        break;
    case WG_EV_COMPLETED:
        leaves_queue(p, e, thread);
        completes(p, e, thread);
        break;
    case WG_EV_LOST: leaves_queue(p, e, thread); break;
    case WG_EV_CORE_RESPONSE:
        if (e->c != WG_REQ_READ)
            written(p, (uint32_t)e->a);
        break;
    default: break;
    }
}

bool wg_page_open(wg_session *s, wg_text *error)
{
    if (s->args->value[WG_OPT_OF] && !wg_why_asked(s->args, error))
        return false;
    if (s->args->value[WG_OPT_TILE] && !s->args->value[WG_OPT_OF]) {
        wg_textf(error, "waitgate: --tile goes with --of\n");
        return false;
    }
    if (!(s->page = wg_calloc(1, sizeof *s->page))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    s->page->dev = s->dev;
    return wg_session_observe(s, WG_PAGE_EVENTS, wg_page_event, s->page, error);
}

void wg_page_free(wg_page *p)
{
    if (p) {
        free(p->step);
        free(p->way);
    }
    free(p);
}

/* ---- JSON ---- */

static void name_row(unsigned row, wg_json *j)
{
    if (row < WG_ROW_BANK)
        wg_json_textf(j, "name", "semaphore %u", row);
    else if (row < WG_ROW_QUEUE)
        wg_json_textf(j, "name", "Src%c bank %u", "AB"[(row - WG_ROW_BANK) / 2], (row - WG_ROW_BANK) % 2);
    else if (row < WG_ROW_BUFFER)
        wg_json_textf(j, "name", "thread %u queue", row - WG_ROW_QUEUE);
    else
        wg_json_textf(j, "name", "CB %u pages", row - WG_ROW_BUFFER);
}

static void row_json(const wg_page *p, unsigned row, uint64_t from, uint64_t to, wg_json *j)
{
    unsigned most = 1;
    uint64_t last = from;
    uint16_t value = p->before[row];
    for (size_t i = 0; i < p->steps; i++)
        if (p->step[i].row == row) {
            most = p->step[i].value > most ? p->step[i].value : most;
            value = p->step[i].cycle < from ? p->step[i].value : value;
        }
    wg_json_open(j, NULL, '{');
    name_row(row, j);
    wg_json_uint(j, "most", most);
    wg_json_open(j, "steps", '[');
    wg_json_uint(j, NULL, 0);
    wg_json_uint(j, NULL, value);
    for (size_t i = 0; i < p->steps; i++)
        if (p->step[i].row == row && p->step[i].cycle >= from && p->step[i].cycle < to) {
            wg_json_uint(j, NULL, p->step[i].cycle - last);
            wg_json_uint(j, NULL, p->step[i].value);
            last = p->step[i].cycle;
        }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

void wg_page_steps(const wg_page *p, uint64_t from, uint64_t to, wg_json *j)
{
    bool used[WG_ROWS] = {false};
    for (size_t i = 0; i < p->steps; i++)
        used[p->step[i].row] = true;
    wg_json_open(j, "steps", '[');
    for (unsigned row = 0; row < WG_ROWS; row++)
        if (used[row])
            row_json(p, row, from, to, j);
    wg_json_close(j, ']');
}

void wg_page_ways(const wg_page *p, uint64_t from, uint64_t to, wg_json *j)
{
    wg_json_open(j, "ways", '[');
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        uint64_t last = from;
        wg_json_open(j, NULL, '[');
        for (size_t i = 0; i < p->ways; i++) {
            const wg_page_way *w = &p->way[i];
            if (w->thread != thread || w->issued < from || w->issued >= to)
                continue;
            wg_json_uint(j, NULL, w->issued - last);
            wg_json_uint(j, NULL, w->entered);
            if (w->made)
                wg_json_uint(j, NULL, w->pushed - w->entered);
            else
                wg_json_raw(j, NULL, "-1");
            wg_json_uint(j, NULL, w->unit);
            wg_json_uint(j, NULL, w->in_unit);
            last = w->issued;
        }
        wg_json_close(j, ']');
    }
    wg_json_close(j, ']');
}
