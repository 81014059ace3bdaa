/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the unpackers' files. */
#ifndef WG_UNPACK_INTERNAL_H
#define WG_UNPACK_INTERNAL_H

#include "backend/unpack.h"

/* UNPACR: reads configuration and counters, steps the counters, and fills in the job (unpack_plan.c). */
void wg_unpack_plan(wg_tile *t, unsigned unpacker, wg_unpack_job *job);
/*
 * Decided here: the pages give no cycle at which UNPACR reads formats, modes and output addresses. In a perturbed run,
 * one that completes late reads them again at its end; its L1 addresses stay those of its address phase.
 */
void wg_unpack_sample_late(wg_tile *t, unsigned unpacker, wg_unpack_job *job, const wg_unpack_late *late);
/* The cycles of its address phase. */
unsigned wg_unpack_address_cycles(const wg_unpack_job *job);
/* Moves the datums, all at once (unpack_move.c). */
void wg_unpack_move(wg_tile *t, unsigned unpacker, const wg_unpack_job *job);
/* UNPACR_NOP: plans and executes it (unpack_nop.c). */
void wg_unpack_plan_nop(wg_tile *t, unsigned unpacker, wg_unpack_job *job);
void wg_unpack_clear(wg_tile *t, unsigned unpacker, const wg_unpack_job *job);
void wg_unpack_set_register(wg_tile *t, unsigned unpacker, const wg_unpack_job *job);
void wg_unpack_clear_messages(wg_tile *t, const wg_unpack_job *job);

static inline unsigned wg_unpack_bank(const wg_src *s, unsigned unpacker)
{
    return (unpacker ? s->unpack_bank_b : s->unpack_bank_a) & 1;
}
static inline uint8_t *wg_unpack_src_row(wg_src *s, unsigned unpacker, unsigned thread)
{
    return &(unpacker ? s->unpack_row_b : s->unpack_row_a)[thread];
}

#endif
