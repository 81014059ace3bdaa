/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a snapshot about poll.c and a device at rest: a restored run ends in the same cycle as the uninterrupted one.
 *
 *     numbers │ the reference state, if there is one │ memory at that time, if it was copied
 *
 * All of it is numbers, and any value is allowed: a forged one ends a run too early, or never, but does no harm.
 */
#include <string.h>

#include "machine/device.h"
#include "engine/snapshot.h"

typedef struct numbers {
    uint64_t bytes; /* in total */
    uint64_t look_at, stop_at, observed, observed_until, disturbed, references, may_stop, reference, stare_until, keyed;
    uint64_t found_at, endless, copied, tries, seen_at, signature, number[WG_POLL_COUNTS], polls;
    uint64_t refusals, progress, rest_at;
} numbers;

static size_t memory_bytes(const wg_device *dev) { return dev->tile->spec->l1_bytes + (size_t)WG_CORES * WG_RAM_MAX; }

size_t wg_poll_saved_most(const wg_device *dev) { return sizeof(numbers) + sizeof(wg_poll_state) + memory_bytes(dev); }

size_t wg_poll_saved_bytes(const wg_device *dev)
{
    const wg_poll *p = &dev->tile->poll;
    return sizeof(numbers) + (p->references ? sizeof p->state : 0) +
           (p->references && p->copied ? memory_bytes(dev) : 0);
}

void wg_poll_save(const wg_device *dev, void *to)
{
    const wg_poll *p = &dev->tile->poll;
    numbers n = {.bytes = wg_poll_saved_bytes(dev),
                 .look_at = p->look_at,
                 .stop_at = p->stop_at,
                 .observed = p->observed,
                 .observed_until = p->observed_until,
                 .disturbed = p->disturbed,
                 .references = p->references,
                 .may_stop = p->may_stop,
                 .reference = p->reference,
                 .stare_until = p->stare_until,
                 .keyed = p->keyed,
                 .found_at = p->found_at,
                 .endless = p->endless,
                 .copied = p->references && p->copied,
                 .tries = p->tries,
                 .seen_at = p->seen_at,
                 .signature = p->signature,
                 .refusals = dev->refusals,
                 .progress = dev->progress,
                 .rest_at = dev->rest_at};
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++) {
        n.number[i] = p->number[i];
        n.polls |= (uint64_t)p->polls[i] << i;
    }
    char *out = to;
    memcpy(out, &n, sizeof n);
    out += sizeof n;
    if (n.references) {
        memcpy(out, &p->state, sizeof p->state);
        out += sizeof p->state;
    }
    if (n.copied)
        memcpy(out, dev->poll_memory, memory_bytes(dev));
}

bool wg_poll_saved_holds(const wg_device *dev, const void *from, size_t bytes)
{
    numbers n;
    if (bytes < sizeof n)
        return false;
    memcpy(&n, from, sizeof n);
    size_t wanted = sizeof n + (n.references ? sizeof(wg_poll_state) : 0) + (n.copied ? memory_bytes(dev) : 0);
    return n.bytes == bytes && wanted == bytes && n.references <= WG_POLL_REFERENCES && (n.references || !n.copied);
}

void wg_poll_load(wg_device *dev, const void *from)
{
    wg_poll *p = &dev->tile->poll;
    const char *in = from;
    numbers n;
    memcpy(&n, in, sizeof n);
    in += sizeof n;
    p->look_at = n.look_at;
    p->stop_at = n.stop_at;
    p->observed = n.observed;
    p->observed_until = n.observed_until;
    p->disturbed = n.disturbed;
    p->references = (unsigned)n.references;
    p->may_stop = n.may_stop != 0;
    p->reference = n.reference;
    p->stare_until = n.stare_until;
    p->keyed = n.keyed != 0;
    p->found_at = n.found_at;
    p->endless = n.endless != 0;
    p->copied = n.copied != 0;
    p->tries = (uint8_t)n.tries;
    p->seen_at = n.seen_at;
    p->signature = n.signature;
    for (unsigned i = 0; i < WG_POLL_COUNTS; i++) {
        p->number[i] = n.number[i];
        p->polls[i] = n.polls >> i & 1;
    }
    p->settled = false; /* rounds are skipped once they have been seen here */
    p->restored = true;
    dev->refusals = (uint32_t)n.refusals;
    dev->progress = n.progress;
    dev->rest_at = n.rest_at;
    if (n.references) {
        memcpy(&p->state, in, sizeof p->state);
        in += sizeof p->state;
    }
    if (n.copied)
        memcpy(dev->poll_memory, in, memory_bytes(dev));
}
