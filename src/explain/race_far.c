/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parties of a tile know of other tiles.
 *
 *     core ──command──> its knowledge travels with the packet ──> a core that polls the word written acquires it
 *                                                             ──> atomic, declared flag: the answer brings it back
 *
 * A core that acquires such knowledge enters a new epoch. An epoch is a number of the tile's clocks like any other, so
 * whoever synchronises with the core knows the epoch, and with it what the core knew of other tiles; a core that has
 * not synchronised with it does not.
 *
 * Knowledge of one tile is a clock of that tile's streams. Both that and a set of them are shared and never change
 * while they are.
 */
#include "explain/race_state.h"

#include <stdlib.h>

typedef struct wg_far_clock {
    uint32_t users;
    wg_clock clock;
} far_clock;

typedef struct far_tile {
    uint32_t tile;
    far_clock *known;
} far_tile;

struct wg_far {
    uint32_t users, count;
    far_tile of[]; /* in ascending order of tiles */
};

static void leave(far_clock *c)
{
    if (!--c->users)
        free(c);
}

void wg_far_drop(wg_far **f)
{
    wg_far *old = *f;
    *f = NULL;
    if (!old || --old->users)
        return;
    for (uint32_t i = 0; i < old->count; i++)
        leave(old->of[i].known);
    free(old);
}

static const far_clock *find(const wg_far *f, unsigned tile)
{
    for (uint32_t i = 0; f && i < f->count; i++)
        if (f->of[i].tile == tile)
            return f->of[i].known;
    return NULL;
}

const wg_clock *wg_far_of(const wg_far *f, unsigned tile)
{
    const far_clock *c = find(f, tile);
    return c ? &c->clock : NULL;
}

static bool clock_covers(const wg_clock *a, const wg_clock *b)
{
    uint32_t more = 0;
    for (unsigned i = 0; i < WG_CLOCK; i++)
        more |= b->v[i] > a->v[i];
    return !more;
}

/* Does `a` say all that `b` says? */
static bool covers(const wg_far *a, const wg_far *b)
{
    for (uint32_t i = 0; a != b && b && i < b->count; i++) {
        const far_clock *own = find(a, b->of[i].tile);
        if (own != b->of[i].known && (!own || !clock_covers(&own->clock, &b->of[i].known->clock)))
            return false;
    }
    return true;
}

static far_clock *joined(far_clock *a, far_clock *b)
{
    if (!b || a == b || (a && clock_covers(&a->clock, &b->clock)))
        return a->users++, a;
    if (!a || clock_covers(&b->clock, &a->clock))
        return b->users++, b;
    far_clock *c = malloc(sizeof *c);
    if (c) {
        *c = *a;
        c->users = 1;
        wg_clock_join(&c->clock, &b->clock);
    }
    return c;
}

void wg_far_add(wg_races *r, wg_far **to, wg_far *f)
{
    if (covers(*to, f))
        return;
    wg_far *old = *to;
    if (covers(f, old)) {
        f->users++;
        wg_far_drop(to);
        *to = f;
        return;
    }
    wg_far *sum = malloc(sizeof *sum + (old->count + f->count) * sizeof sum->of[0]);
    if (!sum) {
        r->forgotten++;
        return;
    }
    *sum = (wg_far){.users = 1};
    for (uint32_t i = 0, k = 0; i < old->count || k < f->count;) {
        uint32_t a = i < old->count ? old->of[i].tile : UINT32_MAX, b = k < f->count ? f->of[k].tile : UINT32_MAX;
        far_tile both = {a < b ? a : b, joined(a <= b ? old->of[i].known : NULL, b <= a ? f->of[k].known : NULL)};
        if (both.known)
            sum->of[sum->count++] = both;
        else
            r->forgotten++;
        i += a <= b;
        k += b <= a;
    }
    wg_far_drop(to);
    *to = sum;
}

void wg_far_add_clock(wg_races *r, wg_far **to, unsigned tile, const wg_clock *clock)
{
    const far_clock *own = find(*to, tile);
    if (own && clock_covers(&own->clock, clock))
        return;
    wg_far *one = malloc(sizeof *one + sizeof one->of[0]);
    far_clock *known = malloc(sizeof *known);
    if (!one || !known) {
        free(one);
        free(known);
        r->forgotten++;
        return;
    }
    *known = (far_clock){1, *clock};
    *one = (wg_far){.users = 1, .count = 1};
    one->of[0] = (far_tile){tile, known};
    wg_far_add(r, to, one);
    wg_far_drop(&one);
}

/* ---- Cores ----------------------------------------------------------------------------------------------------- */

void wg_race_far_learn(wg_races *r, unsigned core, wg_far *f)
{
    wg_race_core *c = &r->core[core];
    wg_far *now = c->epochs ? c->far[c->epochs % WG_FAR_EPOCHS] : NULL;
    if (covers(now, f))
        return;
    wg_far *next = NULL;
    wg_far_add(r, &next, now);
    wg_far_add(r, &next, f);
    wg_far **at = &c->far[++c->epochs % WG_FAR_EPOCHS];
    wg_far_drop(at);
    *at = next;
    wg_clock_see(&c->p, WG_K_EPOCH + core, c->epochs);
    c->snap = 0;
}

void wg_race_far_known(wg_races *r, wg_far **to, const wg_clock *clock)
{
    for (unsigned core = 0; core < WG_CORES; core++) {
        const wg_race_core *c = &r->core[core];
        uint32_t epoch = clock->v[WG_K_EPOCH + core];
        if (!epoch)
            continue;
        if (c->epochs - epoch >= WG_FAR_EPOCHS) { /* of those that are gone, the next one says all and more */
            epoch = c->epochs - WG_FAR_EPOCHS + 1;
            r->forgotten++;
        }
        wg_far_add(r, to, c->far[epoch % WG_FAR_EPOCHS]);
    }
}

void wg_race_far_here(wg_races *r, wg_far **to, const wg_clock *clock)
{
    wg_race_far_known(r, to, clock);
    wg_far_add_clock(r, to, r->index, clock);
}

unsigned wg_race_far_who(const wg_races *r, unsigned tile, unsigned k, uint32_t value)
{
    const wg_races *there = wg_race_member(r, tile);
    for (unsigned core = 0; there && core < WG_CORES; core++) {
        const wg_race_core *c = &there->core[core];
        const wg_clock *known = c->epochs ? wg_far_of(c->far[c->epochs % WG_FAR_EPOCHS], r->index) : NULL;
        if (known && known->v[k] >= value)
            return core;
    }
    return WG_CORES;
}

/* ---- Packets --------------------------------------------------------------------------------------------------- */

static wg_race_packet *packet_at(const wg_races *r, uint32_t number)
{
    wg_race_packet *p = &r->packet[number % WG_RACE_PACKETS];
    return number && p->number == number ? p : NULL;
}

uint32_t wg_race_packet_new(wg_races *r, unsigned tile, const wg_race_command_by *by, wg_far *far)
{
    if (!++r->packets)
        ++r->packets;
    wg_race_packet *p = &r->packet[r->packets % WG_RACE_PACKETS];
    if (p->number) {
        wg_far_add(r, &r->old_packets, p->far);
        wg_far_drop(&p->far);
    }
    *p = (wg_race_packet){.number = r->packets, .tile = tile, .by = *by};
    wg_far_add(r, &p->far, far);
    return r->packets;
}

void wg_race_packet_acquire(wg_races *r, wg_far **to, uint32_t number)
{
    wg_race_packet *p = packet_at(r, number);
    if (number)
        wg_far_add(r, to, p ? p->far : r->old_packets);
}

bool wg_race_packet_before(const wg_races *r, uint32_t number, const wg_actor *b)
{
    const wg_race_packet *a = packet_at(r, number);
    if (!a || !b->by || !b->by->known || !a->by.known)
        return true;
    if (a->tile != b->by_tile)
        return false;
    wg_races *author = wg_race_member(r, a->tile);
    const wg_ref *ref = &a->by.ref;
    return !author || a->by.core == b->by->core || wg_race_clock(author, b->by->ref.snap)->v[ref->k2] >= ref->v2;
}

void wg_race_far_free(wg_races *r)
{
    for (unsigned core = 0; r->core && core < WG_CORES; core++) {
        for (unsigned i = 0; i < WG_FAR_EPOCHS; i++)
            wg_far_drop(&r->core[core].far[i]);
        for (unsigned i = 0; i < 64; i++)
            wg_far_drop(&r->core[core].pend_far[i]);
    }
    for (unsigned i = 0; r->packet && i < WG_RACE_PACKETS; i++)
        wg_far_drop(&r->packet[i].far);
    for (unsigned i = 0; r->sent && i < WG_RACE_SENT; i++) {
        wg_far_drop(&r->sent[i].far);
        wg_far_drop(&r->sent[i].got);
    }
    wg_far_drop(&r->old_packets);
    wg_far_drop(&r->registers);
    wg_far_drop(&r->answered[0]);
    wg_far_drop(&r->answered[1]);
}
