/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many PACRs at a time (pack_many.c). Unlike other bursts, this one may stay open while another thread and the unpackers act:
 * it stops before their cycle and continues after it.
 */
#ifndef WG_PACK_MANY_H
#define WG_PACK_MANY_H

#include "backend/pack_internal.h"
#include "fast/burst.h"

/* A PACR in flight. */
typedef struct wg_pack_pending {
    uint64_t done_at;
    uint32_t start; /* the first datum in Dst */
    uint32_t nth;   /* index among the burst's acceptances */
    uint32_t address[WG_PACK_STREAMS];
    uint8_t places; /* as in wg_pack_part */
    uint8_t interfaces;
    bool last;
    bool older; /* accepted before the burst: the first of the unit's jobs */
} wg_pack_pending;

/*
 * A simple PACR reads whole rows of Dst, has no context or flush, and causes no finding. Successive ones with the same word
 * differ only in their counters.
 */
typedef struct wg_pack_simple {
    uint64_t serial; /* of its form; 0: none */
    uint32_t word;
    wg_adc_channel *counters;
    uint8_t interfaces, cycles;
    uint8_t needed; /* bit per stream that it writes */
    uint16_t mode;  /* as in its form */
} wg_pack_simple;

typedef struct wg_pack_many {
    wg_burst burst;
    wg_tile *t;
    wg_pack *u;
    wg_packer *p;
    const wg_pack_setup *setup;
    const wg_pack_settings *set;
    wg_pack_simple simple[2]; /* by Last */
    wg_dst_access access;
    bool begun;        /* the packer's streams have these settings */
    bool settled;      /* no block of Dst is being written */
    uint32_t accepted; /* since the burst began */
    uint32_t start;    /* of the next one, when last computed */
    uint8_t first, count;
    wg_pack_pending pending[WG_PACK_IN_FLIGHT];   /* a ring */
    uint32_t unseen_from, unseen_to, unseen_line; /* lines of L1 that no core's cache holds; two lines at unseen_line */
    uint32_t rows;                                /* rows of Dst that wait to be converted together */
    wg_pack_rows at;                              /* the first of these goes to at.data */
} wg_pack_many;

/* Begins a burst with the thread's head, a PACR. False: no burst is possible. */
bool wg_pack_many_begin(wg_pack_many *m, wg_tile *t, unsigned thread, uint64_t until);
/* Accepts and completes PACRs in cycles before `until`, as far as possible. */
void wg_pack_many_run(wg_pack_many *m, uint64_t until);
/* The cycle in which the packer can accept the next one. */
static inline uint64_t wg_pack_many_next(const wg_pack_many *m)
{
    return m->p->free_at > m->burst.from ? m->p->free_at : m->burst.from;
}
/* Does the thread have more PACRs, and is it certain to do nothing but wait before `at`? */
static inline bool wg_pack_many_waits(const wg_pack_many *m, uint64_t at)
{
    return m->accepted < m->burst.count && wg_pack_many_next(m) >= at && (m->burst.steady || m->burst.from == at);
}
/* Completes the PACRs due by cycle `at`. False if one cannot complete here; the rest stay. */
bool wg_pack_many_completes(wg_pack_many *m, uint64_t at);
/* Writes packed rows to L1. */
void wg_pack_many_writes(wg_pack_many *m);
/* Other agents have acted: is the configuration still the one the burst began with? */
static inline bool wg_pack_many_goes_on(wg_pack_many *m)
{
    const wg_tile *t = m->t;
    m->settled = t->backend.matrix.blocks_ready <= t->sched.now;
    return m->setup->changes == t->regs.config.changes + 1 && !t->backend.config.instructions;
}
/* Brings the unit to the state that the plain machine would have. */
void wg_pack_many_end(wg_pack_many *m);

#endif
