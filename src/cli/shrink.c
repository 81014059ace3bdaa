/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a run that differs to the fewest delays that still make it differ in the same way: delta debugging
 * (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input") over the list of delays that the
 * run drew, then every remaining delay is made as short as possible.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/explore.h"
#include "engine/delay.h"

typedef struct shrinker {
    const wg_shrinking *how;
    const wg_outcome *want;
    uint64_t seed;
    unsigned runs; /* runs left */
    bool failed;
} shrinker;

static bool shows(shrinker *s, const wg_delay *delays, size_t count)
{
    wg_outcome outcome;
    static const wg_delay none;
    if (!s->runs || s->failed)
        return false;
    s->how->progress(s->how->user, s->runs--);
    s->failed = !s->how->once(s->how->user, s->seed, count ? delays : &none, count, &outcome);
    return !s->failed && wg_outcome_same(&outcome, s->want);
}

void wg_shrink_collect(void *list, const wg_event *event)
{
    wg_delay delay = {.struct_size = sizeof delay,
                      .event = event->a,
                      .cycles = (uint32_t)event->b,
                      .site = (uint8_t)event->c,
                      .agent = event->agent};
    wg_delay_add(list, delay);
}

static int in_order(const void *a, const void *b)
{
    const wg_delay *left = a, *right = b;
    return left->tile != right->tile ? (left->tile > right->tile) - (left->tile < right->tile)
                                     : wg_delay_order(left, right);
}

/* The delays that the seed draws in this program. */
static bool draws(const wg_shrinking *how, uint64_t seed, wg_delay_list *list)
{
    bool ok = how->draws(how->user, seed, list);
    if (!ok || !list->count)
        return ok;
    qsort(list->item, list->count, sizeof *list->item, in_order);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (in_order(&list->item[kept - 1], &list->item[i]))
            list->item[kept++] = list->item[i];
    list->count = kept;
    return true;
}

/* Removes ever smaller pieces. */
static void remove_pieces(shrinker *s, wg_delay_list *list)
{
    wg_delay *rest = wg_malloc((list->count + 1) * sizeof *rest);
    size_t pieces = 2;
    s->failed = s->failed || !rest;
    while (!s->failed && s->runs && list->count) {
        size_t size = (list->count + pieces - 1) / pieces;
        bool removed = false;
        for (size_t from = 0; from < list->count && !removed; from += size) {
            size_t to = from + size < list->count ? from + size : list->count;
            memcpy(rest, list->item, from * sizeof *rest);
            memcpy(rest + from, list->item + to, (list->count - to) * sizeof *rest);
            size_t count = list->count - (to - from);
            removed = shows(s, rest, count);
            if (removed) {
                memcpy(list->item, rest, count * sizeof *rest);
                list->count = count;
            }
        }
        if (removed)
            pieces = pieces > 2 ? pieces - 1 : 2;
        else if (size <= 1)
            break;
        else
            pieces = 2 * pieces < list->count ? 2 * pieces : list->count;
    }
    free(rest);
}

static void shorten(shrinker *s, wg_delay_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        uint32_t least = 0, most = list->item[i].cycles; /* `least` does not show it, `most` does */
        while (most - least > 1 && s->runs && !s->failed) {
            list->item[i].cycles = least + (most - least) / 2;
            if (shows(s, list->item, list->count))
                most = list->item[i].cycles;
            else
                least = list->item[i].cycles;
        }
        list->item[i].cycles = most;
    }
}

bool wg_shrink(const wg_shrinking *how, wg_difference *d, unsigned runs)
{
    shrinker s = {.how = how, .want = &d->outcome, .runs = runs};
    d->delays = (wg_delay_list){0};
    d->seed = d->first.seed;
    if (d->first.directed) {
        if (!wg_delay_add(&d->delays, d->first.delay))
            return false;
    } else {
        if (!draws(how, d->first.seed, &d->delays))
            return false;
        if (!shows(&s, d->delays.item, d->delays.count)) /* without the seed's other choices? */
            s.seed = d->first.seed;
        d->seed = s.seed;
        remove_pieces(&s, &d->delays);
    }
    shorten(&s, &d->delays);
    return !s.failed;
}
