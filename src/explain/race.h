/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector: two touches of one location, at least one a write, that no guarantee of the architecture orders are a
 * race, whatever this run's timing was.
 *
 *     event stream ──> clocks (the order that is known) ──────────┐
 *                  ──> shadow (last touches of each location) ───┴──> races, broken rules
 *
 * It is an observer and knows nothing of the device's state. All of its memory is allocated at creation; dropped records are
 * counted in `forgotten`. docs/races.md explains the reports.
 */
#ifndef WG_RACE_H
#define WG_RACE_H

#include <waitgate/report.h>

typedef struct wg_races wg_races;

/* The kinds of reports. Names are stable (wg_race_kind_name()). */
typedef enum wg_race_kind {
#define WG_RACE(id, name, check, severity, summary, remedy) WG_RACE_##id,
#include "explain/races.def"
#undef WG_RACE
    WG_RACE_KINDS
} wg_race_kind;

/* One side of a race. */
typedef struct wg_race_party {
    uint8_t agent;  /* a unit, a thread (its gate or expander), a core */
    uint8_t thread; /* of the instruction; WG_THREADS: none */
    uint8_t core;   /* that pushed it, or that acted (of `tile`, if that is set); WG_CORES: none, the host */
    bool write, atomic;
    uint32_t word;   /* of the instruction, if thread is one */
    uint32_t pc;     /* of the push or access; for the host's pushes 0, or as given to wg_push_from() */
    uint32_t parent; /* word of the MOP or REPLAY that made it; 0: none */
    uint16_t tile;   /* NoC: the tile whose request it was, plus 1; 0: this one */
    uint64_t cycle;  /* of the first occurrence */
} wg_race_party;

typedef enum wg_remedy_is {
    WG_REMEDY_SUGGESTED, /* not tried */
    WG_REMEDY_VERIFIED,
    WG_REMEDY_NOT_ENOUGH /* with it inserted, the race remains, another appears, or results differ */
} wg_remedy_is;

/* What other legal timings show. */
typedef enum wg_grade {
    WG_GRADE_NONE,     /* none was tried */
    WG_GRADE_WRONG,    /* one of them gives another result, or another end */
    WG_GRADE_UNORDERED /* none of the timings tried does */
} wg_grade;

/* The kinds of insertions. */
typedef enum wg_insert {
    WG_INSERT_WORD,       /* a push of `word` */
    WG_INSERT_POST,       /* SEMPOST of a semaphore that the program does not use */
    WG_INSERT_WAIT_POST,  /* SEMWAIT for it and SEMGET; `word`: the block mask */
    WG_INSERT_TAKE,       /* ATGETM of a mutex that the program does not use */
    WG_INSERT_GIVE,       /* ATRELM of it */
    WG_INSERT_FENCE,      /* of the core */
    WG_INSERT_DRAIN,      /* a load of PC_BUF_BASE+4 whose value is used */
    WG_INSERT_DRAIN_MOPS, /* a load of PC_BUF_BASE+8 whose value is used */
    WG_INSERT_READ_BACK,  /* a load of the word stored at `at`, whose value is used */
    WG_INSERT_USE         /* a use of the value loaded at `at` */
} wg_insert;
typedef struct wg_insertion {
    wg_race_party at; /* an instruction (its push, or that of the MOP or REPLAY that made it), or a core's access */
    uint32_t word;
    uint8_t what; /* wg_insert */
    bool behind;  /* `at`, not before it */
} wg_insertion;
enum { WG_INSERTIONS = 4 };

typedef struct wg_race {
    wg_race_kind kind;
    uint32_t id;        /* from 1, in order of discovery: the same in every run of the same timing */
    wg_race_party a, b; /* in the order of this run; rules about one instruction: only b */
    bool has_a;
    uint8_t space;        /* wg_touch_space, where it is about a location */
    uint32_t first, last; /* the locations, inclusive; config: `mask` are the bits */
    uint32_t mask;
    uint64_t count;        /* of occurrences */
    uint8_t remedy_is;     /* wg_remedy_is: the result of running the program again with it */
    uint8_t inserts;       /* 0: insertions alone are not a remedy */
    uint32_t explains;     /* other reports that this one's remedy removes */
    uint32_t explained_by; /* the id of the report whose remedy removes this one; 0: none */
    uint8_t grade;         /* wg_grade */
    uint32_t timings;      /* tried, each with a delay at one of its parties */
    wg_delay witness;      /* WG_GRADE_WRONG: the delay */
    const char *ungraded;  /* WG_GRADE_NONE: why there is no grade; NULL: nobody asked */
    wg_insertion insert[WG_INSERTIONS];
    uint32_t wider_word; /* of insert[0], where a wider wait may be needed; 0: none */
    char wider[240];     /* the remedy with that */
    char location[400];  /* in words; several if one missing wait affects them all */
    char why[240];       /* why nothing orders them */
    char remedy[240];    /* the instruction to insert, and where */
} wg_race;

/*
 * The word of code at `pc` as a core sees it; false if there is none. Used to recognise loads that spin: it must know the
 * programs being run, from their files or from memory.
 */
typedef bool (*wg_races_code_fn)(void *user, unsigned core, uint32_t pc, uint32_t *word);

/* NULL if there is no memory. */
wg_races *wg_races_new(wg_arch_id arch, wg_races_code_fn code, void *user);
void wg_races_free(wg_races *r);
/* Memory given to the program at run time, asked for when a core accesses an address that is nobody's. False: none. */
typedef bool (*wg_races_memory_fn)(void *user, uint32_t address, uint32_t *from, uint32_t *bytes);
void wg_races_ask_memory(wg_races *r, wg_races_memory_fn memory);
/* The events it needs. */
#define WG_RACES_EVENTS \
    (WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_LATCHED) | \
     WG_EV_BIT(WG_EV_RELEASED) | WG_EV_BIT(WG_EV_MUTEX) | WG_EV_BIT(WG_EV_BANK) | WG_EV_BIT(WG_EV_TOUCH) | \
     WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_CORE_STATE) | \
     WG_EV_BIT(WG_EV_CORE_CONSUMED) | WG_EV_BIT(WG_EV_CORE_FENCE) | WG_EV_BIT(WG_EV_TRACKED) | WG_EV_BIT(WG_EV_HOST) | \
     WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED))
uint64_t wg_races_events(const wg_races *r); /* … plus those of the selected checks */
void wg_races_event(void *races, const wg_event *e);
/* Names of checks, separated by commas: race, memory, init, sync. False: it is not such a list. */
bool wg_checks_parse(const char *text, unsigned *checks);
const char *wg_check_name(unsigned check); /* of WG_CHECK_RACE … */
/* The requested reports: WG_CHECK_RACE, unless selected otherwise before the first event. */
void wg_races_select(wg_races *r, unsigned checks);
/* Memory: these bytes of L1 are a section of the core's program, or (WG_CORES) accessible to all. */
void wg_races_give(wg_races *r, unsigned core, uint32_t address, uint32_t bytes);
/* Init: own RAM holds what wg_races_give() has named, and what the cores store; the rest of it is nobody's. */
void wg_races_know_ram(wg_races *r);
/* The run has ended; `finished`: by itself, with nothing left to do. Reports leftovers. */
void wg_races_end(wg_races *r, uint64_t cycle, bool finished);
/* L1 used as a flag: reads of it acquire its writer's earlier accesses. */
bool wg_races_declare_flag(wg_races *r, uint32_t address, uint32_t bytes);

/*
 * Detectors of the tiles of one chip, so that packets carry their sender's clock. `index` is the tile's number
 * (y * width + x). A detector that is freed leaves the group; the group is freed last.
 */
typedef struct wg_races_group wg_races_group;
wg_races_group *wg_races_group_new(void);
void wg_races_group_free(wg_races_group *group);
void wg_races_group_add(wg_races_group *group, wg_races *r, unsigned index);

size_t wg_races_count(const wg_races *r);
/* The program was run again with the remedy of this race inserted. */
void wg_races_tried(wg_races *r, size_t index, wg_remedy_is outcome);
/* `timings` timings were tried; `witness`: the one that gives another result, or NULL. */
void wg_races_grade(wg_races *r, size_t index, uint32_t timings, const wg_delay *witness);
#define WG_UNGRADED_CLOCK "a core reads the clock, so results may differ without the race"
#define WG_UNGRADED_UNTRIED "no timing of its parties was tried within the budget"
/* Says why a race has no grade: race `index`, or (SIZE_MAX) every one that needs a grade and has none. NULL gives no reason. `reason` stays the
 * caller's. */
void wg_races_ungraded(wg_races *r, size_t index, const char *reason);
/* With the remedy of report `cause`, report `index` is gone, too. */
void wg_races_explain(wg_races *r, size_t cause, size_t index);
/* Are both between the same two parties? A race between others may have a different cause. */
bool wg_race_same_parties(const wg_race *a, const wg_race *b);
/*
 * Where no remedy is tried: races of one kind between the same parties, one of them with the same instruction, for which
 * the same is suggested, are explained by the first of them. `skip`: NULL, or reports to leave alone.
 */
typedef bool (*wg_race_skip_fn)(void *user, const wg_race *race);
void wg_races_fold(wg_races *r, wg_race_skip_fn skip, void *user);
/* The narrow remedy is not enough: switches to the wider one; false: there is none. */
bool wg_races_widen(wg_races *r, size_t index);
/* Has anybody touched these bytes of L1? */
bool wg_races_l1_touched(const wg_races *r, uint32_t address, uint32_t bytes);
/* A semaphore or mutex that the program does not use; 8: there is none. */
unsigned wg_races_free_semaphore(const wg_races *r);
unsigned wg_races_free_mutex(const wg_races *r);
/* The host has initialised the semaphore before the run. */
void wg_races_initialised(wg_races *r, unsigned semaphore, unsigned max);
const wg_race *wg_races_at(const wg_races *r, size_t index);
/* Touches, clocks and reports dropped for lack of memory; 0: none. */
uint64_t wg_races_forgotten(const wg_races *r);
/* Bytes of memory in use, but for the knowledge of other tiles, which tiles share. */
size_t wg_races_bytes(const wg_races *r);

const char *wg_race_kind_name(unsigned kind);
const char *wg_race_kind_summary(unsigned kind);
const char *wg_race_kind_remedy(unsigned kind);
wg_severity wg_race_severity(unsigned kind);
unsigned wg_race_check(unsigned kind);         /* which of WG_CHECK_RACE … report it */
const char *wg_race_check_name(unsigned kind); /* the first of them */

#endif
