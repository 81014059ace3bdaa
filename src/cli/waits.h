/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate check --waits`: finds the waits that a program does not need.
 *
 *     every executed wait ──removed──► run again under check, under several timings
 *                                  no report, the same results: it is not needed
 *     a STALLWAIT that is needed ──a bit of a mask less──► the same: it could be narrower
 */
#ifndef WG_CLI_WAITS_H
#define WG_CLI_WAITS_H

#include "cli/session.h"

typedef enum wg_wait_is {
    WG_WAITS_NEEDED,
    WG_WAITS_FREE,     /* not needed: there was never anything to wait for */
    WG_WAITS_REMOVE,   /* not needed */
    WG_WAITS_NARROWER, /* needed, but not all of it */
    WG_WAITS_UNTRIED,  /* made by an expander, or out of reach */
    WG_WAITS_VERDICTS
} wg_wait_is;

typedef struct wg_wait_site {
    uint8_t agent; /* a thread, or a core for its fences and drains */
    uint8_t core;  /* whose program pc belongs to; WG_CORES: the host */
    uint32_t pc, word;
    bool drain;                        /* the load that waits until the thread is idle: tensix_sync */
    bool reads;                        /* a load from a NIU … */
    uint32_t branch;                   /* … in a loop that ends with this branch: a barrier; 0: in none, no wait */
    bool kept;                         /* needed for a reason that runs do not show */
    uint64_t executed, held;           /* held: cycles; of a thread's waits only */
    uint64_t executed_ever, held_ever; /* the same, of all timings together */
    wg_wait_is is;
    uint32_t narrower; /* a word that is enough */
    int64_t saves;     /* cycles of the run without it, or with the narrower word */
} wg_wait_site;

typedef struct wg_waits {
    wg_device *dev; /* of the present run */
    wg_wait_site *site;
    size_t count, room;
    const char *why_not; /* reason why no wait was judged; NULL: they were */
    bool first;          /* during the unperturbed run */
    bool failed;         /* out of memory */
} wg_waits;

bool wg_waits_judge(wg_session *s, wg_text *error);
void wg_waits_free(wg_waits *w);
void wg_report_waits(wg_session *s, wg_text *out);
void wg_report_waits_json(wg_session *s, wg_json *j);

#endif
