/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_record.h"

#include <stdlib.h>
#include <string.h>

#include "explain/exploration.h"

enum {
    MOST_CALLS = 1 << 20,
    MOST_BYTES = 64 << 20,
    PLACES = 4096,       /* that one stretch between two writes may read */
    STEP = 500,          /* cycles between two reads of a place that is late */
    COMPACT_FROM = 1024, /* calls */
    AIMS = 64            /* registers of windows, compared to find the last write to each */
};

struct wg_abi_record {
    wg_abi_call *call;
    size_t calls, room, dead;
    uint8_t *bytes;
    size_t used, bytes_room;
    uint64_t cycles, aim; /* aim: a hash of the windows' registers written since the last other call */
    bool aiming;
    const char *spoiled;
    uint32_t place[PLACES]; /* by key: 1 + the call that read it last; valid from `stretch` on */
    size_t stretch;         /* the first call after the last write */
};

wg_abi_record *wg_abi_record_new(void) { return calloc(1, sizeof(wg_abi_record)); }

static void forget(wg_abi_record *r)
{
    free(r->call);
    free(r->bytes);
    r->call = NULL;
    r->bytes = NULL;
    r->calls = r->room = r->used = r->bytes_room = 0;
}

void wg_abi_record_free(wg_abi_record *r)
{
    if (r)
        forget(r);
    free(r);
}

void wg_abi_record_spoil(wg_abi_record *r, const char *reason)
{
    if (!r || r->spoiled)
        return;
    r->spoiled = reason;
    forget(r);
}

const char *wg_abi_record_spoiled(const wg_abi_record *r) { return r->spoiled; }
uint64_t wg_abi_record_cycles(const wg_abi_record *r) { return r->cycles; }

static uint64_t hash_bytes(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t h = size, word;
    for (; size >= 8; size -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = wg_outcome_mix(h, word);
    }
    for (size_t i = 0; i < size; i++)
        h = wg_outcome_mix(h, p[i]);
    return h;
}

/* ---- The places read since the last write -------------------------------------------------------------------- */

/* The entry of a place: 1 + the last call that read it, or 0 if no call has. */
static uint32_t *entry_of(wg_abi_record *r, uint64_t key)
{
    for (size_t i = 0; i < PLACES; i++) {
        uint32_t *e = &r->place[(key + i) % PLACES];
        if (!*e || r->call[*e - 1].key == key)
            return e;
    }
    return NULL;
}

static void new_stretch(wg_abi_record *r)
{
    memset(r->place, 0, sizeof r->place);
    r->stretch = r->calls;
}

/* A write to a register of a window that a later one overwrites before any access. */
static bool overwritten(const wg_abi_record *r, size_t i)
{
    const wg_abi_call *c = &r->call[i];
    for (size_t k = i + 1, seen = 0; c->aims && k < r->calls && seen < AIMS; k++) {
        const wg_abi_call *next = &r->call[k];
        if (next->dead || next->kind == WG_CALL_CLOCK)
            continue;
        if (!next->aims)
            return false;
        if (next->address == c->address && next->size == c->size)
            return true;
        seen++;
    }
    return false;
}

/* Drops reads that later ones replace, and joins the waits around them. */
static void compact(wg_abi_record *r)
{
    size_t kept = 0, stretch = 0;
    for (size_t i = 0; i < r->calls; i++) {
        const wg_abi_call c = r->call[i];
        if (i == r->stretch)
            stretch = kept;
        if (c.dead || overwritten(r, i))
            continue;
        if (c.kind == WG_CALL_CLOCK && kept && r->call[kept - 1].kind == WG_CALL_CLOCK)
            r->call[kept - 1].address += c.address;
        else
            r->call[kept++] = c;
    }
    if (r->stretch >= r->calls)
        stretch = kept;
    r->calls = kept;
    r->dead = 0;
    new_stretch(r);
    r->stretch = stretch < kept ? stretch : kept;
    for (size_t i = r->stretch; i < kept; i++)
        if (r->call[i].kind != WG_CALL_CLOCK && !r->call[i].write) {
            uint32_t *e = entry_of(r, r->call[i].key);
            if (e)
                *e = (uint32_t)i + 1;
        }
}

/* ---- Recording -------------------------------------------------------------------------------------------------- */

/* Returns room for one more call. NULL if there is none; the record is then spoiled. */
static wg_abi_call *add(wg_abi_record *r)
{
    if (r->dead > r->calls / 2 && r->calls > COMPACT_FROM)
        compact(r);
    if (r->calls == r->room) {
        const size_t room = r->room ? 2 * r->room : 256;
        wg_abi_call *more = room <= MOST_CALLS ? realloc(r->call, room * sizeof *more) : NULL;
        if (!more) {
            wg_abi_record_spoil(r, "the host made more calls than are recorded");
            return NULL;
        }
        r->call = more;
        r->room = room;
    }
    return &r->call[r->calls++];
}

void wg_abi_record_clock(wg_abi_record *r, uint64_t cycles)
{
    if (!r || r->spoiled || !cycles)
        return;
    r->cycles += cycles;
    if (r->calls && r->call[r->calls - 1].kind == WG_CALL_CLOCK) {
        r->call[r->calls - 1].address += cycles;
        return;
    }
    wg_abi_call *c = add(r);
    if (c)
        *c = (wg_abi_call){.kind = WG_CALL_CLOCK, .address = cycles};
}

void wg_abi_record_read(wg_abi_record *r, wg_abi_call_kind kind, unsigned x, unsigned y, uint64_t address,
                        const void *bytes, uint32_t size)
{
    if (!r || r->spoiled)
        return;
    wg_abi_call *c = add(r);
    if (!c)
        return;
    uint64_t key = wg_outcome_mix(wg_outcome_mix(r->aim, address), size);
    key = wg_outcome_mix(key, (uint64_t)kind << 16 | x << 8 | y);
    uint32_t *e = entry_of(r, key);
    if (e && *e) {
        r->call[*e - 1].dead = true;
        r->dead++;
    }
    *c = (wg_abi_call){.kind = (uint8_t)kind,
                       .x = (uint8_t)x,
                       .y = (uint8_t)y,
                       .address = address,
                       .size = size,
                       .key = key,
                       .value = hash_bytes(bytes, size)};
    if (e)
        *e = (uint32_t)r->calls;
    r->aiming = false;
}

void wg_abi_record_write(wg_abi_record *r, wg_abi_call_kind kind, unsigned x, unsigned y, uint64_t address,
                         const void *bytes, uint32_t size, bool aims)
{
    if (!r || r->spoiled)
        return;
    if (r->used + size > r->bytes_room) {
        size_t room = r->bytes_room ? 2 * r->bytes_room : 65536;
        while (room < r->used + size)
            room *= 2;
        uint8_t *more = room <= MOST_BYTES ? realloc(r->bytes, room) : NULL;
        if (!more) {
            wg_abi_record_spoil(r, "the host wrote more bytes than are recorded");
            return;
        }
        r->bytes = more;
        r->bytes_room = room;
    }
    wg_abi_call *c = add(r);
    if (!c)
        return;
    *c = (wg_abi_call){.kind = (uint8_t)kind,
                       .x = (uint8_t)x,
                       .y = (uint8_t)y,
                       .address = address,
                       .size = size,
                       .value = r->used,
                       .write = true,
                       .aims = aims};
    memcpy(r->bytes + r->used, bytes, size);
    r->used += size;
    if (aims) {
        r->aim = wg_outcome_mix(wg_outcome_mix(r->aiming ? r->aim : 0, address), hash_bytes(bytes, size));
        r->aiming = true;
    } else {
        r->aiming = false;
        new_stretch(r);
    }
}

/* ---- Replaying -------------------------------------------------------------------------------------------------- */

static bool reads_same(const wg_abi_call *c, wg_card *card, uint8_t *room)
{
    if (c->kind == WG_CALL_CONFIG) {
        const uint32_t value = wg_card_config_read(card, (uint32_t)c->address);
        memcpy(room, &value, sizeof value);
    } else if (c->kind == WG_CALL_TILE) {
        wg_card_tile_read(card, c->x, c->y, c->address, room, c->size);
    } else {
        wg_card_read(card, c->address, room, c->size);
    }
    return hash_bytes(room, c->size) == c->value;
}

static void write_again(const wg_abi_record *r, const wg_abi_call *c, wg_card *card)
{
    const uint8_t *from = r->bytes + c->value;
    uint32_t value;
    if (c->kind == WG_CALL_CONFIG) {
        memcpy(&value, from, sizeof value);
        wg_card_config_write(card, (uint32_t)c->address, value);
    } else if (c->kind == WG_CALL_TILE) {
        wg_card_tile_write(card, c->x, c->y, c->address, from, c->size);
    } else {
        wg_card_write(card, c->address, from, c->size);
    }
}

const wg_abi_call *wg_abi_record_replay(wg_abi_record *r, wg_card *card, uint64_t patience, uint32_t slower)
{
    uint32_t most = 8;
    bool wrote = false;
    compact(r);
    for (size_t i = 0; i < r->calls; i++)
        most = r->call[i].size > most ? r->call[i].size : most;
    uint8_t *room = calloc(1, most);
    const wg_abi_call *differs = NULL;
    for (size_t i = 0; room && !differs && i < r->calls; i++) {
        const wg_abi_call *c = &r->call[i];
        if (c->kind == WG_CALL_CLOCK) {
            wg_grid_advance(card->grid, c->address + (wrote ? slower : 0));
            wrote = false;
        } else if (c->write) {
            write_again(r, c, card);
            wrote = !c->aims;
        } else {
            bool same = reads_same(c, card, room);
            for (uint64_t waited = 0; !same && waited < patience; waited += STEP) {
                wg_grid_advance(card->grid, STEP);
                same = reads_same(c, card, room);
            }
            differs = same ? NULL : c;
        }
    }
    free(room);
    return room ? differs : r->call;
}
