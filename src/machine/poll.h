/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling (time.md rule 10): only cores act, in loops that write nothing but L1 and own RAM, and the Scalar Unit if its ATCAS
 * or ATINCGETPTR retries. Once the tile's whole state has repeated, it repeats forever. If no other agent can ever act, this
 * is a hang. A shortcut skips whole periods (fast/polls.c).
 */
#ifndef WG_POLL_H
#define WG_POLL_H

#include "machine/repeat.h"

struct wg_tile;

/* Everything that determines the future, except memory. */
typedef struct wg_poll_state {
    wg_shot shot;
    uint32_t targets[WG_CORES][WG_TARGETS][2];
    uint32_t branches[WG_CORES][WG_BRANCHES];
    uint32_t epoch[WG_CORES];
    uint32_t v[WG_CORES][32][4];
    wg_csrs csr[WG_CORES];
    uint8_t turn[WG_PATH_COUNT];
    wg_mailboxes mailbox;
    wg_pcbufs pcbuf;
    bool retries; /* the Scalar Unit retries; else the next three are unused */
    wg_scalar scalar;
    uint64_t thread_next[WG_THREADS]; /* its answers wake the threads … */
    uint64_t progress;                /* … which make no progress */
} wg_poll_state;

/* Counts that grow by the same amount in every period: instructions of each core, refusals of the Scalar Unit. */
enum { WG_POLL_COUNTS = WG_CORES + 1 };
enum { WG_POLL_REFERENCES = 40, WG_POLL_FINDINGS = 1024 };

/* Environment, not state: recognising a period does not affect the simulation. A snapshot holds it (poll_saved.c). */
typedef struct wg_poll {
    uint64_t look_at;        /* nothing is compared before this cycle */
    uint64_t stop_at;        /* the clock must stop in this cycle, even if no agent is due */
    uint64_t observed;       /* cycles for which cores that store were kept from running ahead */
    uint64_t observed_until; /* before this cycle no core runs ahead through L1 */
    uint64_t disturbed;      /* the last cycle in which something happened that must not be skipped */
    unsigned references;     /* references taken since `disturbed` */
    bool may_stop;           /* the previous run would have ended if the loop had been found endless */
    uint64_t reference;      /* the cycle of the last reference */
    uint64_t stare_until;    /* every cycle from `reference` to this one is compared */
    bool keyed;              /* a request arrived after `reference`: only states in which one arrives are compared */
    uint64_t found_at;       /* the cycle in which an endless loop was found */
    bool endless;            /* the loop is endless: nobody has acted on the tile since found_at */
    bool copied;             /* cores have stored since seen_at, when memory was copied */
    uint8_t tries;           /* comparisons in which memory differed from the copy */
    /* The reference state: that of `reference`, or of the first request after it. */
    uint64_t seen_at, signature;
    uint64_t number[WG_POLL_COUNTS];
    bool polls[WG_POLL_COUNTS]; /* the count had grown when the state repeated */
    bool restored;              /* the reference is from a snapshot: how many findings there were then is unknown */
    bool settled;               /* the state repeats with this period until another agent acts */
    uint64_t period, per_period[WG_POLL_COUNTS];
    uint64_t findings[WG_POLL_FINDINGS]; /* occurrences at seen_at; once a period is known, occurrences per period */
    size_t findings_seen;
    wg_poll_state state, scratch;
} wg_poll;

/* For fast/polls.c: the earliest wake-up of any other agent; count i; starts the search again. */
uint64_t wg_poll_others(const struct wg_tile *t);
uint64_t wg_poll_count(const struct wg_tile *t, unsigned i);
void wg_poll_wait_for_quiet(struct wg_tile *t);

void wg_poll_reset(struct wg_tile *t);
/*
 * Must be called between cycles, from cycle look_at on. A shortcut may advance t->sched.now by whole periods, up to `limit`
 * and to the next wake-up of any other agent. If no other agent can ever act, the polling is endless: with
 * `stop_if_endless` the clock stops in a cycle that is the same however the run is driven, and the result is true.
 */
bool wg_poll_look(struct wg_tile *t, uint64_t limit, bool stop_if_endless);
/* The cycle since which the state is known to repeat until somebody acts from outside; 0: none. */
uint64_t wg_poll_endless(const struct wg_tile *t);
/* Something happened that must not be skipped: time was read, a request changed something beyond memory. */
void wg_poll_disturb(struct wg_tile *t);
/* Is the core in a loop that has repeated exactly up to now? */
bool wg_core_is_polling(const struct wg_tile *t, unsigned core);

#endif
