/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a state that comes from a snapshot one that a device can be in, as far as the host is concerned?
 *
 *     fields      each alone: indices, enumerations, counts and truth values are in range     state.def
 *     relations   between fields: rings, lists, what an instruction's word says of it          state_check.c
 *     derived     what follows from the rest is not taken over but made anew                   state_check.c
 *
 * What passes can be run: it may be nonsense to the tile, but no table of the host is read beyond its end.
 */
#ifndef WG_STATE_CHECK_H
#define WG_STATE_CHECK_H

#include "machine/tile.h"

typedef struct wg_state_table wg_state_table;

typedef struct wg_state_field {
    const char *name;
    uint32_t offset, bytes; /* of the member; an array is checked element by element */
    uint32_t width;         /* of an element: 1, 2, 4 or 8 bytes, or a structure's size */
    bool hashed;            /* architectural state */
    uint64_t max, also;     /* the greatest value (UINT64_MAX: any is good), and one beyond it that is good, too */
    const wg_state_table *part;
} wg_state_field;

struct wg_state_table {
    const char *name; /* of the structure */
    const wg_state_field *field;
    uint32_t fields, bytes;
    bool (*holds)(wg_arch_id arch, const void *data); /* NULL: fields are all there is; `data` need not be aligned */
};

/* wg_state_tile and so on: one table per structure of state.def. */
#define WG_STATE_TABLE(name) WG_STATE_TABLE_(name)
#define WG_STATE_TABLE_(name) extern const wg_state_table wg_state_##name
#define STATE WG_STATE_TABLE(T);
#define FIELD(m)
#define END(check)
#include "engine/state.def"

/* The first field that is out of range is named in `what`. `data` need not be aligned. */
bool wg_state_fields_hold(const wg_state_table *table, wg_arch_id arch, const void *data, char *what, size_t room);

/*
 * Lists and heaps of packets that begin at `root`: every link leads to one of the entries 1 … used, and none to where
 * another does, so that there is no circle. `seen` has a bit per entry and one more.
 */
bool wg_packets_hold(const wg_packet *pool, uint32_t used, const uint32_t *root, unsigned roots, uint64_t *seen);
/* They come from and go to tiles of a chip that has so many. */
bool wg_state_packets_hold(const wg_packet *pool, uint32_t count, wg_arch_id arch, unsigned tiles);
bool wg_state_box_holds(const wg_noc_box *box, wg_arch_id arch, unsigned tiles, char *what, size_t room);

/* All of a tile but its packets; of its environment, `arch` is set. */
bool wg_state_holds(const wg_tile *t, char *what, size_t room);
/* What follows from the rest is made anew, or is gone until somebody makes it. */
void wg_state_derive(wg_tile *t);

/* XXH64 with seed 0. */
uint64_t wg_checksum(const void *data, size_t bytes);

#endif
