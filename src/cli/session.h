/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run from the command line: a device, its programs with their symbols, and its sinks.
 *
 *     options, files ──open──► device, programs ──run──► result ──report──► text or JSON, exit status
 */
#ifndef WG_SESSION_H
#define WG_SESSION_H

#include "cli/options.h"
#include "text/hang_text.h"
#include "text/race_text.h"
#include "cli/tasm.h"
#include "explain/hang.h"
#include "explain/pages.h"
#include "explain/race.h"
#include "observe/costs.h"
#include "observe/konata.h"
#include "observe/rounds.h"
#include "text/finding_words.h"
#include "text/report.h"
#include "observe/sinks.h"

/* How a run ended: wg_stop, plus the command line's own reasons. */
typedef enum wg_ended {
    WG_ENDED_DONE,
    WG_ENDED_UNTIL,
    WG_ENDED_HUNG,
    WG_ENDED_LIMIT,
    WG_ENDED_FINDING,
    WG_ENDED_INTERRUPT
} wg_ended;

/* The writer of a field behind a finding. */
typedef struct wg_blamed {
    size_t finding;
    wg_finding_field field;
    bool known;
    uint8_t agent, thread; /* thread: of the instruction; WG_THREADS: a core's store */
    uint32_t pc, word;
    uint64_t cycle;
} wg_blamed;

/* A thread's stream in progress. */
typedef struct wg_feed {
    size_t next;
    uint64_t not_before; /* cycle from which the next word may be pushed */
    bool refused;        /* the FIFO had no room in this cycle */
} wg_feed;

/* Memory contents written by the host before the run. */
typedef struct wg_input {
    unsigned x, y; /* of a chip */
    uint64_t address, bytes;
    wg_image_shape shape;
    char name[64]; /* of the file, without its folder */
} wg_input;
typedef struct wg_inputs {
    wg_input *list;
    size_t count;
} wg_inputs;

/* Code that was put into a core's memory during the run. */
typedef struct wg_overlay {
    wg_elf *elf; /* NULL: none */
    uint32_t address, bytes;
    uint32_t link; /* the address in its symbols */
} wg_overlay;

/* watch.c: a program of a host's run. */
typedef struct wg_host_elf {
    wg_elf *elf;
    unsigned core, x, y;
    uint32_t low, high; /* it is at these addresses … */
    uint32_t moved;     /* … which in the file are lower by this */
} wg_host_elf;

typedef struct wg_session {
    const wg_args *args;
    wg_device *dev;
    wg_device_desc desc;
    const char *title;     /* the first file's name */
    wg_elf *elf[WG_CORES]; /* NULL: none; those of a .tasm program are borrowed */
    bool borrowed[WG_CORES];
    wg_overlay overlay[WG_CORES];
    unsigned release; /* bit i: release core i */
    bool has_tasm;
    wg_tasm tasm;
    uint8_t *tasm_source;
    uint64_t max_cycles;               /* UINT64_MAX: no limit */
    const char *program[WG_CORES + 1]; /* file names; the last: a .tasm program's */
    uint8_t *saved;                    /* a snapshot to resume from (saved.h); NULL: none */
    size_t saved_bytes;
    const char *saved_path;
    char *saved_program[WG_CORES + 1]; /* names of programs that come from it */
    wg_inputs inputs;                  /* --load */
    wg_feed feed[WG_THREADS];          /* before a resumed run: where it begins; after a run: where it ended */

    wg_history history;
    wg_last_writes polled; /* of a hang: the last writes of the words that cores poll */
    wg_pages pages;        /* of tt-metal's programs */
    wg_stats *stats;
    wg_timeline *timeline;
    wg_costs *costs;
    struct wg_scaled_runs *scaled; /* --what-if */
    struct wg_waits *waits;        /* --waits */
    struct wg_page *page;          /* data of the report besides the costs */
    uint64_t top;                  /* rows of the profile's tables */
    unsigned annotate;             /* --annotate, as in profile.h */
    uint64_t boxes;                /* --boxes of a report */
    wg_commit_log *log;
    wg_trace *trace;
    wg_konata *konata;
    struct wg_outputs *outputs; /* of this tile alone; NULL: none, or those of its chip */

    wg_races *races; /* check; explore, for its first run */
    int races_observer;
    struct wg_suppressions *suppressions;
    struct wg_suppression *firmware; /* of reports about tt-metal's firmware; NULL: none yet */
    unsigned checks;                 /* WG_CHECK_RACE … */
    unsigned fail_on;                /* wg_severity */
    uint64_t verify_cycles;          /* limit for verifying remedies */

    unsigned chip_width; /* of a chip file: its grid; 0: one tile alone */
    unsigned tile;       /* of a chip file: y * chip_width + x */
    unsigned of_chip;    /* of a cluster: 1 + its number; 0: there is one chip */
    struct wg_session *(*of_tile)(void *chip, unsigned tile);
    void *chip;

    struct wg_code_found *found;      /* … and which code its cores are in; NULL: programs are not searched for */
    struct wg_watch *host_elf;        /* of a host's run (watch.c): its programs; NULL: they are in `elf` */
    const struct wg_scaling *scaling; /* the costs of a host's run; NULL: its own */
    int observer[16];                 /* of the device, by wg_session_observe() */
    unsigned observers;

    struct wg_meter *meter; /* of runs again; NULL: their progress is not shown */
    wg_ended ended;
    struct wg_blame *blame; /* NULL: no writers known */
    wg_hang *hang;          /* filled when the run hung or was cut short */
    wg_rounds *rounds;      /* NULL: progress is not observed */
    bool *expect_holds;     /* per expectation of the program */
    wg_text *expect_found;  /* the actual value */
    bool expectations_hold;
} wg_session;

/* On an error, each of these writes it to `error` and returns false. */
bool wg_session_open(wg_session *s, const wg_args *args, wg_text *error);
bool wg_session_run(wg_session *s, wg_text *error);
/* Its second half: time is over (wg_drive_end()). Completes the files, inspects what waits, checks expectations. */
bool wg_session_inspect(wg_session *s, wg_text *error);
bool wg_session_dump(wg_session *s, wg_text *error); /* --dump */
void wg_session_close(wg_session *s);
/* Has memory run out, so that results are incomplete? Then no files are written. */
bool wg_session_lost_memory(const wg_session *s);
/* Loads programs and memory into a new device, and attaches its race detector. */
bool wg_session_load(wg_session *s, wg_text *error);

/* load.c: loads programs and memory into the device. */
bool wg_load_programs(wg_session *s, wg_text *error);
bool wg_load_elf(wg_device *dev, const wg_elf *elf, unsigned core, bool release, wg_text *error);
bool wg_load_memory(wg_session *s, const char *what, wg_text *error);
bool wg_dump_memory(wg_session *s, const char *what, wg_text *error);
/* Files as they are in memory, converted if they have a type. `who` begins an error: an option, a tile. */
/* `shape`: its type, and whether in tiles; filled with rows and columns of an array. */
bool wg_image_read(const char *who, const char *path, wg_image_shape *shape, wg_text *bytes, wg_text *error);
/* TYPE[,tilized][=ROWSxCOLUMNS] */
bool wg_image_shape_parse(const char *text, wg_image_shape *out, wg_text *error);
bool wg_image_write(const char *who, const char *path, const wg_image_shape *shape, const uint8_t *bytes, size_t size,
                    wg_text *error);

/* Notes an input; false: out of memory. */
bool wg_inputs_add(wg_inputs *all, const wg_input *input, const char *path);

/* drive.c: advances time. */
bool wg_drive(wg_session *s, wg_text *error);
bool wg_drive_silently(wg_session *s); /* no progress, no Ctrl-C; wg_error() says why not */

/* blame.c: the writers of the configuration behind findings, and of the words that cores poll in a hang. */
typedef struct wg_blame wg_blame;
bool wg_blame_findings(wg_session *s, wg_text *error);
bool wg_blame_stalls(wg_session *s, wg_text *error); /* s->hang is inspected again with what it found */
const wg_blamed *wg_blame_at(const wg_session *s, const wg_finding *f, unsigned index); /* NULL: no more */
void wg_blame_text(wg_session *s, const wg_blamed *b, wg_text *out);
void wg_blame_free(wg_blame *blame);

/* check.c: the race detector of the run. */
bool wg_check_wanted(const wg_args *args);
bool wg_check_open(wg_session *s, wg_text *error);
bool wg_check_attach(wg_session *s, wg_text *error); /* the detector to the device */
wg_race_words wg_check_words(wg_session *s);         /* for race_text.h */
/* verify.c: runs the program again with the remedies of its races inserted, and marks those that work. */
bool wg_verify_races(wg_session *s, wg_text *error);
/* grade.c: whether other timings of its parties show a difference, for each race. */
bool wg_grade_races(wg_session *s, wg_text *error);
bool wg_grade_leaves_out(wg_session *s, const wg_race *race); /* it needs none */
void wg_check_close(wg_session *s);
void wg_report_races(wg_session *s, wg_text *out);
/* Whatever else has happened to the run, one of the reports is its cause. */
bool wg_check_comes_first(const wg_session *s);
void wg_report_races_json(wg_session *s, wg_json *j);
/* The id of the race that a stale load follows from; 0: none. */
uint32_t wg_check_explains(wg_session *s, const wg_finding *f);
bool wg_check_fails(wg_session *s); /* something at or above --fail-on was neither suppressed nor expected */
/* Is there any race above severity note? */
bool wg_check_any(const wg_session *s);
/* Is it suppressed, or only a note? */
bool wg_check_ignores(wg_session *s, const wg_race *race);
/* Is there a race of this kind whose report contains `words`? */
bool wg_check_race(wg_session *s, const char *kind, const char *words);
/* Why the finding or race is suppressed; NULL: it is not. */
const char *wg_check_reason(wg_session *s, const wg_finding *f);
const char *wg_check_race_reason(wg_session *s, const wg_race *race);
/* Is it listed under another report whose remedy also removes it? */
bool wg_check_folds(wg_session *s, const wg_race *race);
/* reports.c: all reports in one model. False: out of memory. */
bool wg_collect_reports(wg_session *s, int x, int y, wg_reports *all);
void wg_collect_json(wg_session *s, wg_json *j);
bool wg_write_sarif(const wg_args *args, const wg_reports *all, int status, wg_text *error);
bool wg_session_sarif(wg_session *s, int status, wg_text *error); /* --sarif, if it was given */
const char *wg_check_suppresses(wg_session *s, const wg_finding *f, const char *place, const char *text);
/* Between these two, Ctrl-C is recorded instead of ending the process. */
void wg_interrupt_begin(void);
void wg_interrupt_end(void);
void wg_interrupt_forget(void); /* one that was recorded earlier */
bool wg_interrupted(void);

/* session.c: options with a number, or one of several words; *value is unchanged if the option was not given. */
bool wg_option_number(const wg_args *args, wg_option option, const char *name, uint64_t *value, wg_text *error);
bool wg_option_choice(const wg_args *args, wg_option option, const char *name, const char *const *choices,
                      unsigned count, unsigned *value, wg_text *error);
/* session.c: the settings of WAITGATE_LOCKSTEP, WAITGATE_FAST and WAITGATE_SIMD. */
bool wg_lockstep_wanted(bool *lockstep, wg_text *error);
bool wg_shortcuts_wanted(const char **names, wg_text *error);
bool wg_simd_wanted(const char **level, wg_text *error);
/* session.c: the sinks requested by options, and the cores held in reset. */
bool wg_watch_history(wg_session *s, wg_text *error);
bool wg_watch_pages(wg_session *s, wg_text *error);
bool wg_watch_stats(wg_session *s, wg_text *error);
bool wg_watch_timeline(wg_session *s, wg_text *error);
/* Observes the device until wg_session_unobserve(), or for its life. */
bool wg_session_observe(wg_session *s, uint64_t kinds, wg_observer_fn fn, void *user, wg_text *error);
void wg_session_unobserve(wg_session *s);
/* The program of a core that has code at `pc`, and where in it that is (*address); NULL: not known. */
wg_elf *wg_session_elf(const wg_session *s, unsigned core, uint32_t pc, uint32_t *address);
/* Cores that do nothing, for a sink that begins now: bit i core i is in reset, bit 8 + i it is parked. */
unsigned wg_idle_cores(const wg_session *s);

/* The result of a run, for commands that run many. */
typedef struct wg_run_result {
    uint64_t cycles;
    uint32_t line;  /* of the program: the first expectation that does not hold, or a report's place; 0: none */
    wg_text *sarif; /* in: NULL, or the destination of its reports (wg_sarif_part()) */
} wg_run_result;
/* commands.c: the report, page, dumps and SARIF of a run that was inspected. Returns the exit status. */
int wg_session_finish(wg_session *s, wg_run_result *result, wg_text *out, wg_text *error);
/* commands.c: run or check, of one tile or of a chip. Returns the exit status. */
int wg_run_files(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error);
/* report.c */
void wg_session_result(wg_session *s, wg_run_result *result);

/* chip_run.c: a chip file instead of one tile. */
bool wg_is_chip_file(const char *path);
bool wg_is_chip_run(const wg_args *args); /* a chip file, or a snapshot of a chip */
int wg_run_chip(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error);
/* cluster_yaml.c, cluster_run.c: a cluster file. */
bool wg_is_cluster_file(const char *path);
/* The same of an argument: what `-` is, its text says. */
bool wg_is_chip_argument(const wg_args *args, const char *file);
bool wg_is_cluster_argument(const wg_args *args, const char *file);
/* False: the command does not take cluster files, and there is one. */
bool wg_cluster_refuse(const wg_args *args, wg_text *error);
int wg_run_cluster(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error);

/* profile.c: the cost of each line. */
bool wg_profile_open(wg_session *s, unsigned held, wg_text *error);
bool wg_profile_end(wg_session *s, uint64_t cycle, wg_text *error); /* the run is over */
bool wg_profile_close(wg_session *s, wg_text *error);               /* likewise; writes the requested files */
void wg_report_profile(wg_session *s, wg_text *out);
void wg_report_profile_json(wg_session *s, wg_json *j);
/* A wait instruction of a thread: its count, and the cycles it blocked its thread. */
typedef struct wg_wait_cost {
    wg_cost cost;
    uint64_t executed, held, cycles;
} wg_wait_cost;
/* All waits of the run, the longest first; the caller frees them. */
wg_wait_cost *wg_profile_waits(const wg_costs *costs, size_t *count);
void wg_profile_sentence(wg_session *s, wg_text *out); /* the largest part of the critical path */
void wg_profile_cost_json(wg_session *s, const wg_cost *c, wg_json *j);
const char *wg_profile_file(wg_session *s, const wg_cost *c); /* NULL: unknown */

/* why.c: is --of valid? And the output of `waitgate why --json`, from another run. */
bool wg_why_asked(const wg_args *args, wg_text *error);
bool wg_why_json(const wg_args *args, wg_text *out, wg_text *error);

/* page.c: the run as one HTML file. */
bool wg_page_open(wg_session *s, wg_text *error);
bool wg_page_write(wg_session *s, int status, wg_text *out, wg_text *error);
void wg_page_free(struct wg_page *page);

/* expect.c */
/* Fills expect_holds, expect_found and expectations_hold; false: out of memory. */
bool wg_check_expectations(wg_session *s);

/* report.c: the report. Returns the exit status. */
int wg_report_status(wg_session *s);
/* `error`: what could not be written; NULL: nothing was. */
void wg_report_run(wg_session *s, int status, const wg_text *error, wg_text *out);
const char *wg_ended_name(wg_ended ended);
void wg_report_json(wg_session *s, int status, const wg_text *error, wg_text *out);
void wg_report_finding(wg_session *s, const wg_finding *f, wg_text *out);
void wg_report_finding_json(wg_session *s, const wg_finding *f, wg_json *j, const char *key); /* NULL: in an array */
void wg_report_cores_json(wg_session *s, wg_json *j);
void wg_report_stats(const wg_session *s, wg_text *out);
void wg_report_stats_json(const wg_session *s, wg_json *j);
void wg_report_timeline(const wg_session *s, wg_text *out, bool colour);
void wg_report_hang(wg_session *s, wg_text *out);
void wg_report_hang_json(wg_session *s, wg_json *j);
/* Progress of a run with a limit: the cycle from which to observe it, and the result, in s->hang. */
uint64_t wg_progress_from(uint64_t start, uint64_t limit);
bool wg_progress_watch(wg_session *s);
void wg_progress_verdict(wg_session *s, bool alone); /* alone: there are no other tiles */
bool wg_session_source(void *session, unsigned core, uint32_t pc, wg_source *out);
/* tools.c: from a core's ELF file; false: nothing is known. */
bool wg_source_in(wg_elf *const *elfs, unsigned core, uint32_t pc, wg_source *out);
/* … to a caller who may know fewer members; false: nothing is known, or no struct_size is set. */
bool wg_source_give(const wg_source *own, wg_source *out);
/* "compute_tile+0x1c (kernel.cc:42)", or "" if nothing is known. Returns `room`. */
const char *wg_place(wg_session *s, unsigned core, uint32_t pc, char *room, size_t bytes);
/* The instruction of a core or thread as text. */
const char *wg_insn_text(void *session, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes);
const char *wg_arch_title(wg_arch_id arch);

/* watch.c: of a host's run. */
struct wg_watch;
wg_elf *wg_watch_program(const struct wg_watch *w, const wg_session *s, unsigned core, uint32_t pc, uint32_t *address);
/* The address of a symbol of the programs of this session's tile; false: none has it yet. */
bool wg_watch_symbol(const struct wg_watch *w, const wg_session *s, const char *name, uint32_t *address);

/* Suppressed reports. On failure there is a message, and the part already read must be freed, too. */
bool wg_suppressions_read(struct wg_suppressions **out, const char *path, wg_text *error);
void wg_suppressions_free(struct wg_suppressions *all);

#endif
