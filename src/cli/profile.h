/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a profile: the costs of one line with one cause are a row. Of one tile, or of the tiles of a chip. */
#ifndef WG_CLI_PROFILE_H
#define WG_CLI_PROFILE_H

#include "cli/session.h"

typedef struct wg_profiled {
    wg_session *const *tile;
    unsigned tiles;
} wg_profiled;

/* A source location; NULL: not known. The function is the innermost, inlined or not. */
typedef struct wg_profile_at {
    const char *function, *file;
    unsigned line;
} wg_profile_at;

typedef struct wg_row {
    wg_session *s;
    wg_cost cost; /* the largest of them */
    wg_profile_at at;
    uint64_t cycles, times;
    bool of_tile; /* rows of different tiles are not added up */
} wg_row;

typedef struct wg_rows {
    wg_row *row;
    size_t count;
} wg_rows;

/* A number of cycles, or ADDR=VALUE. False: neither. */
bool wg_milestone_parse(const char *text, uint64_t *cycle, wg_milestone *mark);

bool wg_every_track(unsigned track);
/* The costs of these tracks by line and cause, the largest first. */
wg_rows wg_rows_of(const wg_profiled *all, bool (*kind)(unsigned));
/* Of the critical path between two cycles; *begin: its first cycle. */
/* Where it ends: at the core that reached the last milestone, or with the last work. */
wg_chain_end wg_path_end(const wg_profiled *all, uint64_t to);
wg_rows wg_path_of(const wg_profiled *all, uint64_t from, uint64_t to, uint64_t *begin);
/* The rows of pieces of a path, by tile. */
wg_rows wg_rows_of_path(const wg_profiled *all, const wg_cost_table *costs);
/* The last work is over, and time goes on: other chips work, or the host waits. */
bool wg_row_is_over(const wg_row *r);
void wg_row_text(const wg_row *r, uint64_t length, wg_text *out); /* a line of the table */
void wg_rows_title(const char *title, wg_text *out);
void wg_rows_rest(size_t rows, uint64_t cycles, wg_text *out);          /* those that are not shown */
void wg_path_part_text(const wg_row *r, uint64_t length, wg_text *out); /* the sentence about the largest part */
void wg_path_row_json(const wg_row *r, wg_json *j);
/* Names the busiest unit and returns its cycles; 0 if no unit works. */
uint64_t wg_busiest_text(const wg_profiled *all, uint64_t length, unsigned *tile, wg_text *out);
void wg_rows_text(const wg_rows *t, const char *title, uint64_t top, uint64_t length, wg_text *out);
void wg_path_text(const wg_profiled *all, uint64_t from, uint64_t to, uint64_t top, wg_text *out);
/* The largest part of the path, in a sentence; nothing if there is no path. */
void wg_path_sentence(const wg_profiled *all, uint64_t from, uint64_t to, wg_text *out);
void wg_path_json(const wg_profiled *all, uint64_t from, uint64_t to, wg_json *j);

wg_source wg_profile_source(wg_session *s, const wg_cost *c);
wg_profile_at wg_profile_at_of(const wg_source *source);
wg_profile_at wg_profile_place(wg_session *s, const wg_cost *c);
void wg_profile_insn(wg_session *s, const wg_cost *c, char *room, size_t bytes);
enum { WG_CAUSE_MAX = 256 };
/* A latched wait holds the thread. */
bool wg_profile_is_latched(const wg_cost *c);
/* What that wait is for, "MATH" or "SEMAPHORE_1"; "" if it is for several things at once. Returns `room`. */
const char *wg_profile_awaited(const wg_session *s, const wg_cost *c, char *room, size_t bytes);
void wg_profile_cause(wg_session *s, const wg_cost *c, char *room, size_t bytes);
/* Is it a wait for pages, or for space, in a circular buffer of tt-metal's kernels? */
bool wg_profile_buffer(const wg_session *s, const wg_cost *c, unsigned *cb, bool *space);
/* The line that ended the polling, "reader.c:31", or "". Returns `room`. */
const char *wg_profile_ended_at(wg_session *s, const wg_cost *c, char *room, size_t bytes);
void wg_row_place(const wg_row *r, char *room, size_t bytes);

/* --annotate: the costs next to source lines or instructions (annotate.c). */
enum { WG_ANNOTATE_SOURCE, WG_ANNOTATE_INSTRUCTIONS, WG_ANNOTATE_NONE };
void wg_annotate(const wg_profiled *all, unsigned how, wg_text *out);

/* The costs of a session as JSON, and in the files of other tools. */
void wg_profile_row_json(wg_session *s, const wg_cost *c, const char *who, bool of_tile, wg_json *j);
bool wg_profile_files(const wg_profiled *all, const char *title, wg_text *error);
void wg_profile_groups_text(const wg_profiled *all, uint64_t top, uint64_t length, wg_text *out);

#endif
