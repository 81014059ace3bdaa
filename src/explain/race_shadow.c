/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadow: for each granule (16 bytes of L1, a configuration word, a register, a row …) the touches that a later one may
 * race with. A write that is ordered after all earlier touches of its bits replaces them.
 *
 * A granule keeps WG_CELLS touches. One more evicts the oldest read or, without reads, the oldest touch. Evictions are
 * counted.
 */
#include "explain/race_state.h"

#include <stdio.h>
#include <stdlib.h>

static const struct space {
    uint32_t granules;
    uint16_t per; /* locations of the space in one granule */
    bool masked;  /* count is a mask of the granule at `first` */
} spaces[WG_TOUCH_SPACES] = {
    [WG_TOUCH_L1] = {1536 * 1024 / 16, 16, false},
    [WG_TOUCH_CONFIG] = {512, 1, true},
    [WG_TOUCH_THREAD_CONFIG] = {768, 1, true},
    [WG_TOUCH_GPR] = {3 * 64, 2, false},
    [WG_TOUCH_DST] = {1024, 1, false},
    [WG_TOUCH_SRC] = {256, 1, false},
    [WG_TOUCH_LREG] = {18, 1, false},
    [WG_TOUCH_ADC] = {72, 1, false},
    [WG_TOUCH_RWC] = {3, 1, false},
    [WG_TOUCH_SEM_VALUE] = {8, 1, false},
    [WG_TOUCH_SEM_MAX] = {8, 1, false},
    [WG_TOUCH_MOP_CFG] = {27, 1, false},
    [WG_TOUCH_REPLAY] = {96, 1, false},
    [WG_TOUCH_PACKER] = {4, 1, false},
    [WG_TOUCH_UNPACKER] = {6, 1, false},
    [WG_TOUCH_BANK_OWNER] = {4, 1, false},
    [WG_TOUCH_BANK_POINTER] = {4, 1, false},
};

bool wg_shadow_make(wg_races *r)
{
    for (unsigned i = 0; i < WG_TOUCH_SPACES; i++) {
        uint32_t n = i == WG_TOUCH_L1 ? r->arch->tensix.l1_bytes / 16 : spaces[i].granules;
        r->shadow[i].granule = calloc(n, sizeof(wg_granule)); /* untouched pages cost nothing */
        if (!r->shadow[i].granule)
            return false;
        r->shadow[i].granules = n;
        r->bytes += n * sizeof(wg_granule);
    }
    return true;
}

void wg_shadow_free(wg_races *r)
{
    for (unsigned i = 0; i < WG_TOUCH_SPACES; i++)
        free(r->shadow[i].granule);
}

static void drop(wg_granule *g, unsigned i)
{
    g->cells--;
    memmove(&g->cell[i], &g->cell[i + 1], (g->cells - i) * sizeof g->cell[0]);
}

/* Without room, reads of neighbouring bytes by one stream share a cell: the oldest represents them. */
static bool share(wg_granule *g, const wg_actor *b, uint32_t mask, unsigned how)
{
    for (unsigned i = 0; i < g->cells; i++) {
        wg_cell *c = &g->cell[i];
        if (c->k == b->k && c->unit == b->unit && !((c->how | how) & WG_TOUCH_WRITE)) {
            c->mask |= mask;
            return true;
        }
    }
    return false;
}

/* The same for those that it has. */
static void share_reads(wg_granule *g)
{
    for (unsigned i = 0; i < g->cells; i++)
        for (unsigned k = i + 1; k < g->cells;) {
            wg_cell *a = &g->cell[i], *b = &g->cell[k];
            if (a->k == b->k && a->unit == b->unit && !((a->how | b->how) & WG_TOUCH_WRITE)) {
                a->mask |= b->mask;
                drop(g, k);
            } else {
                k++;
            }
        }
}

static wg_cell *room(wg_races *r, wg_granule *g)
{
    if (g->cells == WG_CELLS)
        share_reads(g);
    if (g->cells == WG_CELLS) {
        unsigned victim = 0;
        while (victim < WG_CELLS && g->cell[victim].how & WG_TOUCH_WRITE)
            victim++;
        drop(g, victim % WG_CELLS);
        r->forgotten++;
    }
    return &g->cell[g->cells++];
}

/* Races found for one touch event so far. Neighbouring locations form one report. */
typedef struct hit {
    wg_cell a;
    uint32_t first, last, mask;
    bool any;
} hit;

/*
 * Has this pair been reported: touch `value` of stream k, and the thread or core? Records it. One report suffices, because
 * later touches lack the same edge; locations with names are reported one by one.
 */
static bool told(wg_races *r, uint16_t k, uint32_t value, unsigned thread, unsigned space, uint32_t at)
{
    at = wg_race_by_name(space) ? at : 0;
    uint32_t h =
        (value * UINT32_C(0x9E3779B1) ^ (uint32_t)k * 0x85EB ^ thread * 0x1F35u ^ space * 0x101u ^ at * 0x3D4Du) >> 4;
    unsigned slot = h % WG_TOLD;
    if (r->told[slot].value == value && r->told[slot].k == k && r->told[slot].thread == thread + 1 &&
        r->told[slot].space == space && r->told[slot].at == at)
        return true;
    r->told[slot].value = value;
    r->told[slot].at = at;
    r->told[slot].k = k;
    r->told[slot].thread = (uint8_t)(thread + 1);
    r->told[slot].space = (uint8_t)space;
    return false;
}

/*
 * A wait for the core's requests is missing before b. Later touches are judged as if it were there, so that one
 * missing wait gives one report.
 */
static void grant(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space)
{
    unsigned core = a->thread & 0x7F;
    if (!(a->thread & 0x80) || core >= WG_CORES || b->thread >= WG_THREADS ||
        core != (unsigned)WG_CORE_T0 + b->thread || (space != WG_TOUCH_CONFIG && space != WG_TOUCH_GPR) ||
        a->k < WG_K_M || a->k >= WG_K_NOC)
        return;
    unsigned queue = wg_race_region_queue[((unsigned)a->k - WG_K_M) % WG_RACE_REGIONS];
    wg_clock_see(&r->thread[b->thread].clock, a->k, r->core[core].queue[queue].processed);
    r->thread[b->thread].snap = 0;
}

static void flush(wg_races *r, hit *h, const wg_actor *b, unsigned space, unsigned how)
{
    /* Each source bank has its own wait. */
    unsigned what = space >= WG_TOUCH_BANK_OWNER ? space + h->first * WG_TOUCH_SPACES : space;
    if (h->any && !told(r, h->a.k, h->a.value, b->thread, what, h->first)) {
        wg_race_found(r, &h->a, b, space, h->first, h->last, h->mask, how);
        if (h->a.thread == b->thread) /* one thread: either may be the late one */
            told(r, b->k, b->value, b->thread, what, h->first);
        grant(r, &h->a, b, space);
    }
    h->any = false;
}

/*
 * A write that leaves the bits unchanged does not conflict with a read. It conflicts with another write, since the order
 * decides which value remains, unless one party (a thread or its core) writes the same value twice.
 */
static uint32_t minds(const wg_cell *c, const wg_actor *b, uint32_t mask, unsigned how)
{
    uint32_t bits = c->mask & mask;
    if (!(how & WG_TOUCH_WRITE))
        bits &= ~c->kept;
    if (!(c->how & WG_TOUCH_WRITE) || wg_race_owner(c->thread) == wg_race_owner(b->thread))
        bits &= ~b->kept;
    return bits;
}

/* The bits for which b replaces older touches. A write that changed nothing does not hide one that did. */
static uint32_t hides(const wg_cell *c, const wg_actor *b, uint32_t mask, unsigned how)
{
    return c->how & how & WG_TOUCH_WRITE ? mask & ~(b->kept & ~c->kept) : mask;
}

static bool conflicts(const wg_cell *c, const wg_actor *b, unsigned space, uint32_t mask, unsigned how)
{
    if (!((c->how | how) & WG_TOUCH_WRITE))
        return false;
    if (space == WG_TOUCH_CONFIG && !minds(c, b, mask, how))
        return false;
    /* Hardware read-modify-writes race neither with each other nor with reads intended to see them. */
    if (c->how & WG_TOUCH_ATOMIC && how & WG_TOUCH_ATOMIC)
        return false;
    return true;
}

/*
 * Is a read of a location that was never written worth a report? LRegs 8, 9, 10 and 15 are constants. The NoC copies
 * the rest of a line along with the intended word, and a core what lies between members that the host has written.
 */
static bool tells_unwritten(const wg_actor *b, unsigned space, uint32_t at, const wg_granule *g, unsigned how)
{
    if (how & (WG_TOUCH_ATOMIC | WG_TOUCH_WAITED))
        return false;
    if (b->thread & 0x80 && (b->thread & 0x7F) >= WG_RACE_NOC_CODE && g->written)
        return false;
    if (b->thread & 0x80 && space == WG_TOUCH_L1 && g->host)
        return false;
    return space == WG_TOUCH_L1 || space == WG_TOUCH_GPR || space == WG_TOUCH_DST ||
           (space == WG_TOUCH_LREG && (0x78FFu >> at & 1));
}

static bool same_kind(const wg_cell *c, const wg_actor *b, uint32_t mask, unsigned how)
{
    return c->k == b->k && c->unit == b->unit && c->mask == mask && c->how == how && wg_race_one_pusher(c, b) &&
           hides(c, b, mask, how) == mask;
}

/*
 * The stream's last touch of the same kind if this one can replace it: nothing came between, or only atomics and this
 * is one. NULL: none.
 */
static wg_cell *same_again(wg_granule *g, const wg_actor *b, uint32_t mask, unsigned how)
{
    wg_cell *newest = g->cells ? &g->cell[g->cells - 1] : NULL, *own = NULL;
    if (!newest || wg_k_unordered(b->k))
        return NULL;
    if (!b->by && same_kind(newest, b, mask, how) && (!(how & WG_TOUCH_WRITE) || g->cells == 1))
        return newest;
    for (unsigned i = 0; how & WG_TOUCH_ATOMIC && i < g->cells; i++) {
        if (!(g->cell[i].how & WG_TOUCH_ATOMIC))
            return NULL;
        own = same_kind(&g->cell[i], b, mask, how) ? &g->cell[i] : own;
    }
    return own;
}

static void touch_granule(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask, unsigned how,
                          hit *h)
{
    wg_granule *g = &r->shadow[space].granule[at];
    bool write = how & WG_TOUCH_WRITE;
    if (r->marks)
        wg_race_marks_touch(r, b, space, at, write);
    wg_cell *same = same_again(g, b, mask, how);
    if (same && !b->boot) {
        same->value = b->value;
        same->party = (uint16_t)b->party;
        same->snap = b->snap;
        same->core_k = (uint16_t)b->own_k;
        same->core_v = b->own_v;
        same->pushes = b->pushes;
        same->kept = b->kept;
        same->cycle = (uint32_t)b->cycle;
        return;
    }
    uint32_t unwritten = mask & ~g->written;
    for (unsigned i = 0; i < g->cells;) {
        wg_cell *c = &g->cell[i];
        if (!(c->mask & mask)) {
            i++;
            continue;
        }
        bool mine = c->k == b->k && c->unit == b->unit && c->party == b->party;
        bool both_atomic = c->how & how & WG_TOUCH_ATOMIC; /* they do not conflict */
        bool ordered = b->boot || (both_atomic ? c->k == b->k : wg_race_ordered(r, c, b, space, how)) ||
                       wg_race_was_over(r, c, b, space, how);
        if (!ordered && conflicts(c, b, space, mask, how)) {
            if (h->any && (h->a.party != c->party || h->last + 1 < at))
                flush(r, h, b, space, how);
            if (!h->any) {
                h->a = *c;
                h->first = at;
                h->mask = 0;
                h->any = true;
            }
            h->last = at;
            h->mask |= minds(c, b, mask, how);
        }
        /* A touch ordered with this write is ordered with those that it hides, and with older reads by the same party. */
        bool replaces = write ? ordered || mine : !(c->how & WG_TOUCH_WRITE) && (mine || (ordered && c->k == b->k));
        if (replaces)
            c->mask &= ~hides(c, b, mask, how);
        if (!c->mask)
            drop(g, i);
        else
            i++;
    }
    if (write)
        g->written |= mask;
    else if (__builtin_expect(unwritten && tells_unwritten(b, space, at, g, how), 0))
        wg_race_unwritten(r, b, space, at, unwritten);
    if (b->boot)
        return;
    for (unsigned i = 0; i < g->cells; i++) { /* more of the same touch */
        wg_cell *c = &g->cell[i];
        if (c->k == b->k && c->value == b->value && c->party == b->party && c->how == how) {
            c->mask |= mask;
            return;
        }
    }
    if (g->cells == WG_CELLS && share(g, b, mask, how))
        return;
    wg_cell *c = room(r, g);
    *c = (wg_cell){.k = b->k,
                   .unit = b->unit,
                   .thread = b->thread,
                   .value = b->value,
                   .mask = mask,
                   .party = (uint16_t)b->party,
                   .snap = b->snap,
                   .how = (uint16_t)how,
                   .core_k = (uint16_t)b->own_k,
                   .core_v = b->own_v,
                   .pushes = b->pushes,
                   .kept = b->kept,
                   .cycle = (uint32_t)b->cycle};
}

static void touch_range(wg_races *r, const wg_actor *b, unsigned space, uint32_t first, uint32_t count, unsigned how)
{
    const struct space *s = &spaces[space];
    hit h; /* the remainder, if any */
    h.any = false;
    uint32_t granules = r->shadow[space].granules;
    if (s->masked) {
        if (first < granules)
            touch_granule(r, b, space, first, count, how, &h);
    } else {
        for (uint32_t end = first + count, n; first < end; first += n) {
            uint32_t at = first / s->per, inside = first % s->per;
            n = s->per - inside < end - first ? s->per - inside : end - first;
            if (at >= granules)
                break;
            touch_granule(r, b, space, at, ((UINT32_C(1) << n) - 1) << inside, how, &h);
        }
    }
    if (h.any)
        flush(r, &h, b, space, how);
}

static void check_buffers(wg_races *r, const wg_actor *b, uint32_t first, uint32_t count)
{
    for (unsigned p = 0; p < 4; p++)
        for (unsigned i = 0; i < r->buffers[p]; i++)
            if (first < r->buffered[p][i].address + r->buffered[p][i].bytes &&
                r->buffered[p][i].address < first + count) {
                char place[64];
                snprintf(place, sizeof place, "L1 0x%06x-0x%06x", r->buffered[p][i].address,
                         r->buffered[p][i].address + r->buffered[p][i].bytes - 1);
                wg_race_rule(
                    r, WG_RACE_NOT_FLUSHED, r->buffered[p][i].party, b->party, b->cycle, place,
                    "The packer keeps an unfinished line of 16 bytes until a PACR with Last or Flush, however long "
                    "one waits for it.",
                    "Set Last (or Flush) in the last PACR before the data is used.");
            }
}

void wg_race_touch(wg_races *r, const wg_actor *b, unsigned space, uint32_t first, uint32_t count, unsigned how)
{
    if (space >= WG_TOUCH_SPACES)
        return;
    if (space == WG_TOUCH_L1 && !(how & WG_TOUCH_WRITE) &&
        r->buffers[0] + r->buffers[1] + r->buffers[2] + r->buffers[3])
        check_buffers(r, b, first, count);
    if (space == WG_TOUCH_LREG || space == WG_TOUCH_SEM_VALUE || space == WG_TOUCH_SEM_MAX) {
        for (uint32_t left = count; left; left &= left - 1)
            touch_range(r, b, space, (uint32_t)__builtin_ctz(left), 1, how);
        return;
    }
    touch_range(r, b, space, first, count, how);
    if (space == WG_TOUCH_DST && how & WG_TOUCH_WIDE)
        touch_range(r, b, space, first + 8, count, how);
}

static void acquire_cell(wg_races *r, const wg_cell *c, wg_clock *to, wg_far **far)
{
    if (c->snap)
        wg_clock_join(to, wg_race_clock(r, c->snap));
    if (!wg_k_unordered(c->k)) /* such a write implies nothing about others */
        wg_clock_see(to, c->k, c->value);
    if (c->core_k == WG_K_NONE)
        wg_race_packet_acquire(r, far, c->core_v);
    else
        wg_clock_see(to, c->core_k, c->core_v); /* the progress of its core */
    if (c->unit < WG_RACE_UNITS && c->thread < WG_THREADS)
        wg_clock_see(to, WG_K_I + c->thread, c->value);
}

static wg_granule *line_of(wg_races *r, uint32_t address, uint32_t bytes, uint32_t *mask)
{
    uint32_t at = address / 16;
    *mask = (bytes < 16 ? (UINT32_C(1) << bytes) - 1 : 0xFFFF) << (address & 15) & 0xFFFF;
    return at < r->shadow[WG_TOUCH_L1].granules ? &r->shadow[WG_TOUCH_L1].granule[at] : NULL;
}

void wg_race_acquire_l1(wg_races *r, wg_clock *to, wg_far **far, uint32_t address, uint32_t bytes)
{
    uint32_t mask;
    wg_granule *g = line_of(r, address, bytes, &mask);
    for (unsigned i = 0; g && i < g->cells; i++) {
        wg_cell *c = &g->cell[i];
        if (!(c->mask & mask) || !(c->how & WG_TOUCH_WRITE))
            continue;
        acquire_cell(r, c, to, far);
        if (c->k >= WG_K_ANSWER && c->k < WG_K_RMT)
            wg_far_add(r, far, r->answered[c->k - WG_K_ANSWER]);
        if (wg_k_unordered(c->k)) { /* this write is visible */
            c->k = WG_K_NONE;
            c->value = 0;
        }
    }
}

void wg_race_released_l1(wg_races *r, wg_clock *to, wg_far **far, uint32_t address, uint32_t bytes, unsigned k)
{
    uint32_t mask;
    wg_granule *g = line_of(r, address, bytes, &mask);
    for (unsigned i = 0; g && i < g->cells; i++) {
        const wg_cell *c = &g->cell[i];
        bool wanted = k == WG_K_NONE || (c->k == k && c->how & WG_TOUCH_ATOMIC);
        if (c->mask & mask && c->how & WG_TOUCH_WRITE && wanted)
            acquire_cell(r, c, to, far);
    }
}

/*
 * The host acts between two cycles and knows everything complete by then. A spin on its write acquires that. For all others,
 * its data counts as present from the start.
 */
void wg_race_host_write(wg_races *r, uint64_t address, uint64_t bytes)
{
    uint32_t snap = bytes <= WG_HOST_FLAG ? wg_race_host_snap(r) : 0;
    for (uint64_t at = address / 16; bytes && at <= (address + bytes - 1) / 16; at++) {
        if (at >= r->shadow[WG_TOUCH_L1].granules)
            break;
        wg_granule *g = &r->shadow[WG_TOUCH_L1].granule[at];
        uint64_t first = address > at * 16 ? address - at * 16 : 0, end = address + bytes - at * 16;
        uint32_t mask = ((UINT32_C(1) << (end < 16 ? end : 16)) - 1) & ~((UINT32_C(1) << first) - 1);
        g->written |= mask;
        g->host = true;
        for (unsigned i = 0; i < g->cells;) {
            g->cell[i].mask &= ~mask;
            if (g->cell[i].mask)
                i++;
            else
                drop(g, i);
        }
        if (snap && g->cells < WG_CELLS)
            g->cell[g->cells++] = (wg_cell){.k = WG_K_NONE,
                                            .unit = WG_RACE_UNITS,
                                            .thread = 0xFF,
                                            .mask = mask,
                                            .snap = snap,
                                            .how = WG_TOUCH_WRITE | WG_TOUCH_ATOMIC,
                                            .core_k = WG_K_NONE};
    }
}
