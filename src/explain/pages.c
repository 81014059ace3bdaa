/* SPDX-License-Identifier: Apache-2.0 */
/* Who counted pages last, and how many a polling loop waits for. */
#include "explain/pages.h"

#include <string.h>

#include "explain/poll_loop.h"
#include "isa/isa.h"
#include "machine/overlay.h"

#define STREAMS UINT32_C(0xFFB40000)
enum { STREAM_BYTES = 0x1000 };

/* ---- Counts ---------------------------------------------------------------------------------------------- */

bool wg_pages_is_count(const wg_arch *arch, uint32_t address, unsigned *cb, bool *popped)
{
    const uint32_t offset = address - STREAMS, number = offset % STREAM_BYTES / 4;
    *cb = offset / STREAM_BYTES;
    *popped = number == wg_overlay_number(arch, WG_SR_DEST_BUF_START);
    return offset < WG_CBS * STREAM_BYTES && (*popped || number == wg_overlay_number(arch, WG_SR_DEST_BUF_SIZE));
}

uint32_t wg_pages_count_at(const wg_arch *arch, unsigned cb, bool popped)
{
    const unsigned number = wg_overlay_number(arch, popped ? WG_SR_DEST_BUF_START : WG_SR_DEST_BUF_SIZE);
    return STREAMS + cb * STREAM_BYTES + number * 4;
}

static void changed(wg_pages *p, uint32_t address, uint32_t value, const wg_event *e)
{
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(p->dev->arch, address, &cb, &popped)) { /* firmware clears counts before a program */
        wg_pages_by *by = popped ? &p->popped[cb] : &p->pushed[cb];
        *by = value ? (wg_pages_by){.cycle = e->cycle, .pc = e->pc, .agent = e->agent} : (wg_pages_by){0};
    } else if (p->semaphore_step && address >= p->semaphores && address < p->semaphores_end) {
        const uint32_t i = (address - p->semaphores) / p->semaphore_step;
        if (i < WG_PROGRAM_SEMAPHORES)
            p->semaphore[i] =
                (wg_pages_by){.cycle = e->cycle, .pc = e->pc, .agent = e->agent, .tile = (uint16_t)(e->c >> 48)};
    }
}

void wg_pages_event(void *user, const wg_event *e)
{
    wg_pages *p = user;
    if (e->kind == WG_EV_CORE_REQUEST) {
        if (e->c == WG_REQ_WRITE)
            changed(p, (uint32_t)e->a, (uint32_t)e->b, e);
    } else if (e->kind == WG_EV_NOC_ARRIVED) {
        changed(p, (uint32_t)e->b, 1, e);
    } else if (wg_opcode(e->word) == WG_OPCODE_STOREREG) {
        /* The count is in a GPR that was set just before; only a kernel pushes and pops in this way. */
        changed(p, wg_reg_address(e->word), 1, e);
    }
}

bool wg_pages_line(const wg_source *s, const char **file, unsigned *line)
{
    unsigned frame = s->calls; /* number of the function: 0 is the innermost */
    for (unsigned i = 0; i < s->calls; i++)
        if (s->call[i].function && strcmp(s->call[i].function, "kernel_main") == 0)
            frame = i;
    *file = frame ? s->call[frame - 1].file : s->file;
    *line = frame ? s->call[frame - 1].line : s->line;
    return *file != NULL;
}

/* ---- Waits ----------------------------------------------------------------------------------------------- */

/* From the loop's end to pages: by what its changing register holds now. */
static void count_wanted(wg_pages_wait *w, const wg_poll_ending *e, uint32_t capacity)
{
    const uint16_t used = (uint16_t)(w->pushed - w->popped);
    const uint32_t room = capacity - used;
    w->known = true;
    if (e->how == WG_POLL_UNEQUAL)
        w->wanted = (w->space && !capacity ? 0 : w->space ? room : used) + 1; /* any change is enough */
    else if (!w->space && e->how != WG_POLL_AT_MOST && (uint16_t)e->now == used)
        w->wanted = (uint16_t)e->wanted;
    else if (!w->space && e->how != WG_POLL_AT_MOST && (uint16_t)e->now == w->pushed)
        w->wanted = (uint16_t)(e->wanted - w->popped);
    else if (w->space && e->how == WG_POLL_AT_LEAST && capacity && e->now == room)
        w->wanted = e->wanted;
    else if (w->space && e->how == WG_POLL_AT_MOST && capacity && (uint16_t)e->now == used && e->wanted <= capacity)
        w->wanted = capacity - e->wanted;
    else
        w->known = false;
}

bool wg_pages_waits(const wg_tile *t, unsigned core, uint32_t pc, uint32_t (*capacity)(void *user, unsigned cb),
                    void *user, wg_pages_wait *out)
{
    wg_poll_loop l;
    uint32_t address;
    if (!wg_poll_loop_find(t, core, pc, &l))
        return false;
    for (uint32_t at = l.from; at <= l.to; at += 4) {
        unsigned cb;
        bool popped;
        wg_poll_ending e;
        if (!wg_poll_loop_load(&l, at, &address) || !wg_pages_is_count(t->arch, address, &cb, &popped))
            continue;
        *out = (wg_pages_wait){
            .cb = (uint8_t)cb,
            .space = popped,
            .pushed = (uint16_t)wg_overlay_stream_read(t, cb, wg_overlay_number(t->arch, WG_SR_DEST_BUF_SIZE)),
            .popped = (uint16_t)wg_overlay_stream_read(t, cb, wg_overlay_number(t->arch, WG_SR_DEST_BUF_START))};
        if (wg_poll_loop_ends(&l, &e))
            count_wanted(out, &e, capacity(user, cb));
        return true;
    }
    return false;
}

bool wg_pages_semaphore(const wg_tile *t, unsigned core, uint32_t pc, uint32_t first, uint32_t end, uint32_t step,
                        unsigned *semaphore, bool *known, uint32_t *wanted)
{
    wg_poll_loop l;
    wg_poll_ending e;
    uint32_t address;
    if (!step || !wg_poll_loop_find(t, core, pc, &l))
        return false;
    for (uint32_t at = l.from; at <= l.to; at += 4) {
        if (!wg_poll_loop_load(&l, at, &address) || address < first || address >= end)
            continue;
        *semaphore = (address - first) / step;
        *known = wg_poll_loop_ends(&l, &e) && e.how != WG_POLL_UNEQUAL;
        *wanted = *known ? e.wanted : 0;
        return *semaphore < WG_PROGRAM_SEMAPHORES;
    }
    return false;
}
