/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of PACRs (pack_burst.c), for the engine: it begins one right behind an acceptance, lets it run, may run cycles
 * of another thread and another unit in between, and ends it.
 */
#ifndef WG_PACK_BURST_H
#define WG_PACK_BURST_H

#include "backend/pack_internal.h"

enum { WG_PACK_TAIL = 32 }; /* acceptances of a burst at the end of a MOP, at most */

/* A PACR that the packer has taken and is not done with. */
typedef struct wg_pack_pending {
    uint64_t done_at;
    uint32_t start; /* datum of Dst */
    uint32_t nth;   /* of the burst's acceptances */
    uint32_t address[WG_PACK_STREAMS];
    uint8_t places; /* as in wg_pack_part */
    uint8_t interfaces;
    bool last;
    bool older; /* than the burst: it is the first of the unit's jobs */
} wg_pack_pending;

typedef struct wg_pack_burst {
    wg_tile *t;
    wg_pack *u;
    wg_packer *p;
    wg_frontend *f;
    unsigned thread;
    const wg_pack_setup *setup;
    const wg_pack_settings *set;
    wg_adc_channel *counters[2]; /* of usual[0] and usual[1], */
    uint8_t held;                /* bit 0, 1: which is of this configuration */
    wg_dst_access access;
    bool begun; /* the packer's streams are of these settings */
    bool full;  /* the FIFOs before the gate are, and stay so; or, in a tail, nothing comes behind them */
    bool tail;  /* the end of a MOP, and what comes behind it */
    uint64_t accepted_at[WG_PACK_TAIL]; /* then: the cycle of each acceptance */
    bool settled;                       /* no block of Dst is being written */
    uint64_t from;                      /* the cycle behind the last acceptance */
    uint32_t accepted;                  /* since the burst began, */
    uint32_t most;                      /* how many there can be, */
    uint32_t final;                     /* and which of them is the last cycle, for it lets others act */
    uint32_t pacrs;                     /* in a tail: to be accepted before something else */
    uint32_t same;                      /* of these, from the first on, how many are known to be usual[0] */
    uint32_t queued;                    /* instructions that were in the FIFOs when it began, */
    uint32_t left;                      /* and those that the MOP was yet to make */
    uint32_t loop_at;                   /* of those behind them, where in the inner loop the next to be accepted is */
    uint32_t start;                     /* of that one, as wg_pack_burst_is_ready() found it */
    uint8_t first, count;
    wg_pack_pending pending[WG_PACK_IN_FLIGHT];   /* a ring */
    uint32_t unseen_from, unseen_to, unseen_line; /* lines of L1 of which it is known; two from unseen_line on */
    uint32_t rows;                                /* of Dst that wait to be converted all at once: */
    wg_pack_rows at;                              /* the first of them goes to at.data */
} wg_pack_burst;

/* Between cycles, in the one behind an acceptance: may a burst begin? */
bool wg_pack_burst_begins(wg_tile *t, wg_pack_burst *b);

/* Acceptances, and what completes until then, in cycles before `until`, as far as they go. */
void wg_pack_burst_run(wg_pack_burst *b, uint64_t until);

/* The cycle in which the next acceptance is due. */
static inline uint64_t wg_pack_burst_next(const wg_pack_burst *b)
{
    return b->p->free_at > b->from ? b->p->free_at : b->from;
}
/* Until then nothing moves in the thread: it has looked in vain in the cycle behind the last one. */
static inline bool wg_pack_burst_waits(const wg_pack_burst *b)
{
    return b->full && b->p->free_at > b->from && b->accepted != b->pacrs;
}
/* The last acceptance was in a cycle in which others may act behind it. */
static inline bool wg_pack_burst_is_over(const wg_pack_burst *b) { return b->accepted == b->final; }
/* Will the packer take it then? */
bool wg_pack_burst_is_ready(wg_pack_burst *b);
/* What is due in cycle `at` or before completes; false, and nothing more done, where it cannot complete here. */
bool wg_pack_burst_completes(wg_pack_burst *b, uint64_t at);
/* Datums that have been packed reach L1. */
void wg_pack_burst_writes(wg_pack_burst *b);
/* In the cycle of wg_pack_burst_next(), when it is ready and all that was due has completed. */
void wg_pack_burst_accepts(wg_pack_burst *b);
/* The others have done something: does it go on, as far as it depends on configuration? */
bool wg_pack_burst_goes_on(wg_pack_burst *b);

/* Everything becomes as the cycles before `now` themselves leave it. */
void wg_pack_burst_ends(wg_pack_burst *b, uint64_t now);

#endif
