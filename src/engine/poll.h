/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling (time.md rule 10): nothing in the tile acts but cores in loops that store to L1 and own RAM at most, and the
 * Scalar Unit if its ATCAS or ATINCGETPTR asks again and again. Once the tile's whole state has come back relative to
 * time, it goes round in a circle. If nobody else can ever act, that is a hang. A shortcut skips whole rounds
 * (fast/polls.c).
 */
#ifndef WG_POLL_H
#define WG_POLL_H

#include "engine/repeat.h"

struct wg_tile;

/* All that decides what happens next, memory apart. */
typedef struct wg_poll_state {
    wg_shot shot;
    uint8_t predictor[WG_CORES][WG_PREDICTOR];
    uint32_t targets[WG_CORES][WG_TARGETS][2];
    uint32_t epoch[WG_CORES];
    uint32_t v[WG_CORES][32][4];
    wg_csrs csr[WG_CORES];
    uint8_t turn[WG_PATH_COUNT];
    wg_mailboxes mailbox;
    wg_pcbufs pcbuf;
    bool retries; /* the Scalar Unit asks again and again; else the next three are empty */
    wg_scalar scalar;
    uint64_t thread_next[WG_THREADS]; /* its answers wake the threads … */
    uint64_t progress;                /* … which do not move */
} wg_poll_state;

/* What grows by as much in every round: instructions of each core, refusals of the Scalar Unit. */
enum { WG_POLL_COUNTS = WG_CORES + 1 };
enum { WG_POLL_REFERENCES = 40, WG_POLL_FINDINGS = 1024 };

/* Environment, not state: when a round is recognised has no effect on what happens. */
typedef struct wg_poll {
    uint64_t look_at;        /* nothing to do before this cycle */
    uint64_t stop_at;        /* the clock must stand in this cycle, even if nobody is due */
    uint64_t observed;       /* for so many cycles have cores that store been held back for that */
    uint64_t observed_until; /* no core runs so far ahead before this cycle that it could not be brought back */
    uint64_t disturbed;      /* when something happened last that is not a core's, and not to be repeated */
    unsigned references;     /* taken since then; 0: none */
    bool may_stop;           /* the run before this one would have ended where it can never end by itself */
    uint64_t reference;      /* the last of them, */
    uint64_t stare_until;    /* and how long every cycle behind it is looked at */
    bool keyed;              /* a request has come since then: what is seen in such cycles is compared with that */
    uint64_t found_at;       /* a circle that never ends by itself was found in this cycle */
    bool endless;            /* … and nobody has acted on the tile since, as far as it knows */
    bool copied;             /* since seen_at cores have stored: memory as it was then is in `memory` */
    uint8_t tries;           /* … with which it has been compared so often in vain */
    /* What is compared with: the last reference, or what was seen when a request came next after it. */
    uint64_t seen_at, signature;
    uint64_t number[WG_POLL_COUNTS];
    bool polls[WG_POLL_COUNTS]; /* … and has executed something when it was seen again */
    bool settled;               /* the tile goes round until somebody else acts, with this period */
    uint64_t period, per_period[WG_POLL_COUNTS];
    uint64_t findings[WG_POLL_FINDINGS]; /* how often each had occurred when it was seen; then: occurs per period */
    size_t findings_seen;
    wg_poll_state state, scratch;
} wg_poll;

/* For fast/polls.c: everybody but those who go round, their earliest appointment; each count; beginning anew. */
uint64_t wg_poll_others(const struct wg_tile *t);
uint64_t wg_poll_count(const struct wg_tile *t, unsigned i);
void wg_poll_wait_for_quiet(struct wg_tile *t);

void wg_poll_reset(struct wg_tile *t);
/*
 * To be called between cycles, from cycle look_at on. A shortcut may advance t->sched.now by whole periods, to at most
 * `limit` and not beyond the next appointment of anybody else. If nothing else can ever act, the polling never ends by
 * itself: with `stop_if_endless` the clock is left in a cycle that is the same however the run is driven, and the answer
 * is true.
 */
bool wg_poll_look(struct wg_tile *t, uint64_t limit, bool stop_if_endless);
/* The tile goes round for ever unless somebody else acts, whether rounds are skipped or not: since when? 0: it does not. */
uint64_t wg_poll_endless(const struct wg_tile *t);
/* Something happened that must not be repeated by arithmetic: time was read, a request changed something beyond memory. */
void wg_poll_disturb(struct wg_tile *t);
/* Is the core in a loop that was found to repeat itself exactly, up to now? */
bool wg_core_is_polling(const struct wg_tile *t, unsigned core);

#endif
