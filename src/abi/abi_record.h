/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host has done: its calls of the libttsim ABI, with the time between them, and a hash of what it read.
 *
 *     calls ──► record: clocks, writes, the last read of each place between two writes ──► replayed on another card
 *
 * Of a host that polls a place, only the last read counts; how often it looked before depends on time alone.
 */
#ifndef WG_ABI_RECORD_H
#define WG_ABI_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chip/card.h"

typedef enum wg_abi_call_kind { WG_CALL_CLOCK, WG_CALL_BAR, WG_CALL_CONFIG, WG_CALL_TILE } wg_abi_call_kind;

typedef struct wg_abi_call {
    uint64_t address; /* WG_CALL_CLOCK: cycles */
    uint64_t value;   /* reads: a hash of the bytes; writes: where the bytes are in wg_abi_record.bytes */
    uint64_t key;     /* reads: of the place */
    uint32_t size;
    uint8_t kind, x, y;     /* wg_abi_call_kind; x and y: of the tile-relative functions */
    bool write, aims, dead; /* aims: only sets a window; dead: a later read of the same place follows */
} wg_abi_call;

typedef struct wg_abi_record wg_abi_record;

/* NULL: no memory. All functions accept NULL, which records nothing. */
wg_abi_record *wg_abi_record_new(void);
void wg_abi_record_free(wg_abi_record *r);
void wg_abi_record_clock(wg_abi_record *r, uint64_t cycles);
void wg_abi_record_read(wg_abi_record *r, wg_abi_call_kind kind, unsigned x, unsigned y, uint64_t address,
                        const void *bytes, uint32_t size);
void wg_abi_record_write(wg_abi_record *r, wg_abi_call_kind kind, unsigned x, unsigned y, uint64_t address,
                         const void *bytes, uint32_t size, bool aims);
/* The record cannot be replayed; the first reason stays. */
void wg_abi_record_spoil(wg_abi_record *r, const char *reason);
/* Why it cannot be replayed; NULL: it can. */
const char *wg_abi_record_spoiled(const wg_abi_record *r);
uint64_t wg_abi_record_cycles(const wg_abi_record *r);

/*
 * Replays the calls. A read that gives something else is repeated for `patience` cycles. `slower`: cycles added to the first wait
 * after each write. Returns the read that never gives what it gave; NULL: all do.
 */
const wg_abi_call *wg_abi_record_replay(wg_abi_record *r, wg_card *card, uint64_t patience, uint32_t slower);

#endif
