/* SPDX-License-Identifier: Apache-2.0 */
#include "debug/checkpoints.h"

#include <stdlib.h>
#include <string.h>

/*
 * A packed difference is a sequence of records, one per block that differs, in order:
 *
 *     block number, 4 bytes │ mask of bytes that differ, 8 bytes │ their exclusive ors
 */
enum { BLOCK = 64, HEAD = 12, MOST = HEAD + BLOCK, LEAST_KEPT = 4 };

typedef struct packed {
    uint8_t *data;
    size_t used, room;
    bool failed;
} packed;

static void add_block(packed *p, uint32_t block, const uint8_t *bytes)
{
    if (p->room - p->used < MOST) {
        size_t room = p->room ? 2 * p->room : 4096;
        uint8_t *more = p->failed ? NULL : realloc(p->data, room);
        if (!more) {
            p->failed = true;
            return;
        }
        p->data = more;
        p->room = room;
    }
    uint8_t *at = p->data + p->used;
    uint64_t mask = 0;
    size_t n = HEAD;
    for (unsigned i = 0; i < BLOCK; i++)
        if (bytes[i]) {
            mask |= UINT64_C(1) << i;
            at[n++] = bytes[i];
        }
    memcpy(at, &block, 4);
    memcpy(at + 4, &mask, 8);
    p->used += n;
}

/* Expands the record at `at` to a block; returns the record's size. */
static size_t spread(const uint8_t *at, uint32_t *block, uint8_t bytes[BLOCK])
{
    uint64_t mask;
    size_t n = HEAD;
    memcpy(block, at, 4);
    memcpy(&mask, at + 4, 8);
    memset(bytes, 0, BLOCK);
    for (; mask; mask &= mask - 1)
        bytes[__builtin_ctzll(mask)] = at[n++];
    return n;
}

static void apply(uint8_t *whole, const wg_checkpoint *c)
{
    uint8_t bytes[BLOCK];
    uint32_t block;
    for (size_t at = 0; at < c->packed;) {
        at += spread(c->difference + at, &block, bytes);
        for (unsigned i = 0; i < BLOCK; i++)
            whole[(size_t)block * BLOCK + i] ^= bytes[i];
    }
}

static bool pack_states(const uint8_t *a, const uint8_t *b, size_t bytes, packed *out)
{
    uint8_t block[BLOCK];
    for (size_t at = 0; at < bytes; at += BLOCK) {
        if (memcmp(a + at, b + at, BLOCK) == 0)
            continue;
        for (unsigned i = 0; i < BLOCK; i++)
            block[i] = a[at + i] ^ b[at + i];
        add_block(out, (uint32_t)(at / BLOCK), block);
    }
    return !out->failed;
}

/* Combines two successive differences into one. */
static bool merge(const wg_checkpoint *a, const wg_checkpoint *b, packed *out)
{
    uint8_t left[BLOCK], right[BLOCK];
    uint32_t i = 0, k = 0;
    size_t at = 0, bt = 0, an = 0, bn = 0;
    while (at < a->packed || bt < b->packed) {
        if (!an && at < a->packed)
            an = spread(a->difference + at, &i, left);
        if (!bn && bt < b->packed)
            bn = spread(b->difference + bt, &k, right);
        bool first = an && (!bn || i <= k), second = bn && (!an || k <= i);
        if (first && second)
            for (unsigned n = 0; n < BLOCK; n++)
                left[n] ^= right[n];
        add_block(out, first ? i : k, first ? left : right);
        if (first) {
            at += an;
            an = 0;
        }
        if (second) {
            bt += bn;
            bn = 0;
        }
    }
    return !out->failed;
}

void wg_checkpoints_free(wg_checkpoints *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].difference);
    free(c->list);
    free(c->whole);
    *c = (wg_checkpoints){.budget = c->budget};
}

uint64_t wg_checkpoints_bytes(const wg_checkpoints *c)
{
    return c->packed + c->whole_bytes + c->room * sizeof *c->list;
}

/* Drops every other one, except the first and the last. False: out of memory; the list stays valid. */
static bool thin(wg_checkpoints *c)
{
    size_t kept = 1;
    for (size_t i = 1; i < c->count; i++) {
        bool goes = i % 2 == 1 && i + 1 < c->count && i != c->at;
        if (!goes) {
            if (c->at == i)
                c->at = kept;
            c->list[kept++] = c->list[i];
            continue;
        }
        packed both = {0};
        if (!merge(&c->list[i], &c->list[i + 1], &both)) {
            free(both.data);
            for (; i < c->count; i++) {
                if (c->at == i)
                    c->at = kept;
                c->list[kept++] = c->list[i];
            }
            c->count = kept;
            return false;
        }
        c->packed += both.used - c->list[i].packed - c->list[i + 1].packed;
        free(c->list[i].difference);
        free(c->list[i + 1].difference);
        uint8_t *fits = realloc(both.data, both.used ? both.used : 1);
        c->list[i + 1].difference = fits ? fits : both.data;
        c->list[i + 1].packed = both.used;
    }
    c->count = kept;
    c->thinned = true;
    return true;
}

static size_t padded(size_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }

/* Extends the room for a whole state to `to` bytes, zero-filled. */
static uint8_t *grown(uint8_t *state, size_t from, size_t to)
{
    uint8_t *more = realloc(state, to);
    if (more && to > from)
        memset(more + from, 0, to - from);
    return more;
}

bool wg_checkpoints_add(wg_checkpoints *c, uint64_t cycle, uint8_t *state, size_t bytes)
{
    size_t whole = padded(bytes) > c->whole_bytes ? padded(bytes) : c->whole_bytes;
    uint8_t *fits = grown(state, bytes, whole);
    if (!fits)
        goto failed;
    state = fits;
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        wg_checkpoint *more = realloc(c->list, room * sizeof *more);
        if (!more)
            goto failed;
        c->list = more;
        c->room = room;
    }
    packed p = {0};
    if (c->count) {
        wg_checkpoints_get(c, c->count - 1, &(size_t){0});
        uint8_t *before = grown(c->whole, c->whole_bytes, whole);
        if (!before)
            goto failed;
        c->whole = before;
        c->whole_bytes = whole;
        if (!pack_states(c->whole, state, whole, &p)) {
            free(p.data);
            goto failed;
        }
    }
    free(c->whole);
    c->whole = state;
    c->whole_bytes = whole;
    c->list[c->count] = (wg_checkpoint){cycle, bytes, p.data, p.used};
    c->at = c->count++;
    c->packed += p.used;
    while (wg_checkpoints_bytes(c) > c->budget && c->count > LEAST_KEPT)
        if (!thin(c))
            return false;
    return true;
failed:
    free(state);
    return false;
}

size_t wg_checkpoints_before(const wg_checkpoints *c, uint64_t cycle)
{
    size_t low = 0, high = c->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->list[middle].cycle <= cycle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const uint8_t *wg_checkpoints_get(wg_checkpoints *c, size_t index, size_t *bytes)
{
    for (; c->at > index; c->at--)
        apply(c->whole, &c->list[c->at]);
    for (; c->at < index; c->at++)
        apply(c->whole, &c->list[c->at + 1]);
    *bytes = c->list[index].bytes;
    return c->whole;
}

void wg_checkpoints_cut(wg_checkpoints *c, uint64_t cycle)
{
    const size_t last = wg_checkpoints_before(c, cycle);
    wg_checkpoints_get(c, last, &(size_t){0});
    for (size_t i = last + 1; i < c->count; i++) {
        c->packed -= c->list[i].packed;
        free(c->list[i].difference);
    }
    c->count = last + 1;
}
