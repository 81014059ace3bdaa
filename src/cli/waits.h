/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate check --waits`: finds the waits that a program does not need.
 *
 *     every executed wait ──removed──► run again under check, under several timings
 *                                  no report, the same results: it is not needed
 *     a STALLWAIT that is needed ──a bit of a mask less──► the same: it could be narrower
 *
 * Of a chip or a cluster (chip_waits.c), a wait is changed in all tiles that run its program, also if tt-metal's host loads
 * that during the run. A wait that MOP or REPLAY makes is replaced as it leaves the expander, by NOP if it is tried whether it
 * is needed.
 */
#ifndef WG_CLI_WAITS_H
#define WG_CLI_WAITS_H

#include "cli/session.h"
#include "machine/rewrite.h"

typedef enum wg_wait_is {
    WG_WAITS_NEEDED,
    WG_WAITS_FREE,     /* not needed: there was never anything to wait for */
    WG_WAITS_REMOVE,   /* not needed */
    WG_WAITS_NARROWER, /* needed, but not all of it */
    WG_WAITS_UNTRIED,  /* out of reach */
    WG_WAITS_VERDICTS
} wg_wait_is;

typedef struct wg_wait_site {
    uint8_t agent;      /* a thread, or a core for its fences and drains */
    uint8_t core;       /* whose program pc belongs to; WG_CORES: the host */
    uint32_t pc, word;  /* pc: of its first execution, */
    uint32_t address;   /* … and in its program, which may be at several places */
    wg_session *s;      /* of the first tile that executes it */
    wg_elf *program;    /* NULL: the host's */
    bool made;          /* by MOP or REPLAY; … */
    wg_rewrite rewrite; /* … by which, and what takes its place */
    bool everywhere;    /* … whose places are all in `rewrite` */
    bool foreign;       /* it is in firmware, which authors of kernels do not change */
    bool drain;         /* the load that waits until the thread is idle: tensix_sync */
    bool reads;         /* a load from a NIU … */
    uint32_t branch;    /* … in a loop that ends with this branch of the program: a barrier; 0: in none, no wait */
    size_t first;       /* 1 + the site of another load in this loop, which stands for both; 0: none */
    bool hands_over;    /* its thread changes semaphores or holds mutexes */
    bool kept;          /* needed for a reason that runs do not show … */
    bool by_rule;       /* … for that one, or since they cannot tell (can_tell()) */
    uint64_t executed, held;           /* held: cycles; of a thread's waits only */
    uint64_t executed_ever, held_ever; /* the same, of all timings together */
    wg_wait_is is;
    uint32_t narrower; /* a word that is enough */
    int64_t saves;     /* cycles of the run without it, or with the narrower word */
} wg_wait_site;

typedef struct wg_waits {
    wg_wait_site *site;
    size_t count, room;
    const char *why_not; /* reason why no wait was judged; NULL: they were */
    bool first;          /* during the unperturbed run */
    bool failed;         /* out of memory */
} wg_waits;

/* Records the waits of a tile during a run. */
enum { WG_WAITS_OVERLAYS = 16 };
typedef struct wg_waits_watch {
    wg_waits *w;
    wg_session *s;       /* of the run that is reported */
    wg_session *running; /* of this one */
    wg_costs *costs;
    wg_overlay overlay[WG_CORES][WG_WAITS_OVERLAYS]; /* kernels of tt-metal that the cores have run, the latest last */
    unsigned overlays[WG_CORES];
    size_t last[2][WG_CORES]; /* 1 + the site of each core's last drain, and of its last barrier; 0: none */
} wg_waits_watch;
bool wg_waits_watch_begin(wg_waits_watch *v, wg_waits *w, wg_session *s, wg_session *running);
bool wg_waits_watch_end(wg_waits_watch *v); /* false: out of memory */

/* A wait, and its replacement. */
typedef struct wg_wait_change {
    wg_wait_site *site; /* NULL: the unchanged program */
    uint32_t word;      /* 0: nothing */
} wg_wait_change;
typedef struct wg_wait_changed {
    wg_tasm_word *stream;
    uint32_t at, original; /* in L1; at 0: nothing was changed there */
} wg_wait_changed;
/* The word at the wait's place in its program, `word`, with this change; false: it is not the expected one. */
bool wg_wait_changed_word(const wg_wait_change *c, uint32_t word, uint32_t *to);
uint32_t wg_wait_place(const wg_wait_site *site); /* in its program */
/* The same program, of this run or another. */
bool wg_wait_program_is(const wg_elf *a, const wg_elf *b);
/* Of a program in L1 where it was linked, or of what an expander makes. `c->site` outlives the device's run. */
bool wg_wait_change_code(wg_device *dev, const wg_wait_change *c, wg_wait_changed *done);
void wg_wait_restore_code(wg_device *dev, const wg_wait_changed *done);

typedef struct wg_wait_outcome {
    bool ran, good;
    uint64_t cycles, results; /* results: a hash */
    uint64_t forgotten;       /* records of the race detector */
} wg_wait_outcome;

/* What is judged: a tile or a chip. */
typedef struct wg_waits_of {
    void *of;
    wg_session *s;       /* with the command's arguments */
    uint64_t cycles;     /* of the run */
    const char *why_not; /* NULL: its waits can be judged */
    bool (*collect)(void *of, wg_waits *w, uint64_t seed, wg_text *error);
    wg_wait_outcome (*run)(void *of, const wg_wait_change *c, uint64_t seed, wg_text *error);
} wg_waits_of;
/* Any race but a note or a suppressed one, of a run that has ended. */
bool wg_waits_any_race(wg_session *s);
/* NULL: out of memory, or `error` says what else. Freed by the caller. */
wg_waits *wg_waits_judged(const wg_waits_of *of, wg_text *error);

bool wg_waits_judge(wg_session *s, wg_text *error); /* of a tile alone */
void wg_waits_free(wg_waits *w);
void wg_report_waits(const wg_waits *w, wg_text *out);
void wg_report_waits_json(const wg_waits *w, wg_json *j);

#endif
