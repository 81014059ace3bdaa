/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a polling loop: which load decides whether it goes on, and which value ends it. The registers at the hang tell the
 * rest.
 *
 *     loop: lw  a5, 0(a4)       a4: the address
 *           sub a5, a5, a3      a5 depends on the load
 *           bltu a5, a2, loop   a2 does not: what is wanted
 */
#ifndef WG_POLL_LOOP_H
#define WG_POLL_LOOP_H

#include "machine/tile.h"

/* A load whose result a register depends on. */
typedef struct wg_poll_load {
    bool used;
    bool more; /* … and of other words, too */
    uint32_t pc, address, bytes, value;
} wg_poll_load;

typedef struct wg_poll_loop {
    const wg_tile *t;
    unsigned core;
    uint32_t from, to; /* its first and last instruction */
    uint32_t r[32];    /* the core's registers; as far as wg_poll_loop_ends() followed the loop */
    uint32_t written;  /* registers that it writes, by bit */
    bool own_ram;      /* set by the caller: what it loads from the core's own RAM may end it, too */
    wg_poll_load depends[32];
} wg_poll_loop;

bool wg_poll_is_own_ram(const wg_tile *t, unsigned core, uint32_t address);
/* What the core loads there now, with this funct3; false: not known. */
bool wg_poll_value(const wg_tile *t, unsigned core, uint32_t address, unsigned kind, uint32_t *value);

/* The innermost loop around the pc; false: none is found, or it calls functions. */
bool wg_poll_loop_find(const wg_tile *t, unsigned core, uint32_t pc, wg_poll_loop *out);
/* The address that an instruction of the loop loads from, if its register is set before the loop. */
bool wg_poll_loop_load(const wg_poll_loop *l, uint32_t pc, uint32_t *address);

/* How the loop ends: when `now` is at least, at most, equal to or unequal to `wanted`. */
typedef struct wg_poll_ending {
    enum { WG_POLL_AT_LEAST, WG_POLL_AT_MOST, WG_POLL_EQUAL, WG_POLL_UNEQUAL } how;
    uint32_t now, wanted;
    wg_poll_load load; /* the one that decides */
} wg_poll_ending;

/* False: not known. */
bool wg_poll_loop_ends(wg_poll_loop *l, wg_poll_ending *out);

#endif
