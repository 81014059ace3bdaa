/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a snapshot's state safe for the host to run?
 *
 *     fields      each alone: indices, enumerations, counts and truth values are in range     state.def
 *     relations   between fields: rings, lists, an instruction's word and its properties       state_check.c
 *     derived     data that follows from the rest is recomputed, not copied                    state_check.c
 *
 * A state that passes can be run: it may be nonsense to the tile, but no host table is read beyond its end.
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
    uint64_t max, also;     /* the greatest valid value (UINT64_MAX: any), and one valid value beyond it */
    const wg_state_table *part;
} wg_state_field;

struct wg_state_table {
    const char *name; /* of the structure */
    const wg_state_field *field;
    uint32_t fields, bytes;
    bool (*holds)(wg_arch_id arch, const void *data); /* NULL: only fields are checked; `data` need not be aligned */
};

/* wg_state_tile and so on: one table per structure of state.def. */
#define WG_STATE_TABLE(name) WG_STATE_TABLE_(name)
#define WG_STATE_TABLE_(name) extern const wg_state_table wg_state_##name
#define STATE WG_STATE_TABLE(T);
#define FIELD(m)
#define END(check)
#include "engine/state.def"

/* Names the first field that is out of range in `what`. `data` need not be aligned. */
bool wg_state_fields_hold(const wg_state_table *table, wg_arch_id arch, const void *data, char *what, size_t room);

/*
 * Lists and heaps of packets that begin at `root`: every link leads to an entry in 1 … used, and no two to the same one, so
 * that there is no cycle. `seen` has a bit per entry and one more.
 */
bool wg_packets_hold(const wg_packet *pool, uint32_t used, const uint32_t *root, unsigned roots, uint64_t *seen);
/* Packets come from and go to tiles of a chip with `tiles` tiles. */
bool wg_state_packets_hold(const wg_packet *pool, uint32_t count, wg_arch_id arch, unsigned tiles);
bool wg_state_box_holds(const wg_noc_box *box, wg_arch_id arch, unsigned tiles, char *what, size_t room);

/* Checks all of a tile but its packets; of its environment, `arch` is set. */
bool wg_state_holds(const wg_tile *t, char *what, size_t room);
/* Recomputes derived data, or drops it until it is recomputed. */
void wg_state_derive(wg_tile *t);

/* XXH64 with seed 0. */
uint64_t wg_checksum(const void *data, size_t bytes);

#endif
