/* SPDX-License-Identifier: Apache-2.0 */
/* Growable text, JSON, whole files, terminals: shared by all commands. */
#ifndef WG_CLI_TEXT_H
#define WG_CLI_TEXT_H

#include "waitgate/finding.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Allocation. The command line records that an allocation has failed: the command then ends with "out of memory"
 * (wg_command_main), whatever its result, so that no truncated answer passes for a complete one.
 */
void *wg_malloc(size_t bytes);
void *wg_calloc(size_t count, size_t bytes);
void *wg_realloc(void *old, size_t bytes);
char *wg_strdup(const char *text);
char *wg_strndup(const char *text, size_t most);
bool wg_memory_failed(void);
void wg_memory_lost(void); /* an allocation elsewhere has failed */
void wg_memory_begin(void);

/* A text that grows. After a failed allocation it keeps its contents and `failed` is set. */
typedef struct wg_text {
    char *data; /* always terminated once non-NULL */
    size_t size, room;
    bool failed;
    unsigned width; /* of wrapped lines; 0: the terminal's */
    bool colour;    /* cause and remedy are marked */
    bool prose;     /* on a terminal, long lines may be folded */
    bool aside;     /* standard output holds a file: this belongs on standard error */
} wg_text;
void wg_text_add(wg_text *t, const void *bytes, size_t count);
void wg_textf(wg_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wg_text_free(wg_text *t);
/* Replaces bytes that are not UTF-8 by U+FFFD. */
void wg_text_utf8(wg_text *t);
/* The text so far; never NULL. */
const char *wg_text_of(const wg_text *t);
/* As snprintf(): as much of it as fits into `to`, terminated. Returns its length, 0 if memory ran out, and frees it. */
size_t wg_text_give(wg_text *text, char *to, size_t bytes);

/* JSON: objects and arrays nest; commas are automatic. A key of NULL is an array's element. */
typedef struct wg_json {
    wg_text *out;
    unsigned depth;
    bool filled[80]; /* the tree of `waitgate why` is the deepest */
    bool dense;      /* without white space */
} wg_json;
void wg_json_open(wg_json *j, const char *key, char bracket); /* '{' or '[' */
void wg_json_close(wg_json *j, char bracket);                 /* '}' or ']' */
void wg_json_text(wg_json *j, const char *key, const char *value);
void wg_json_textf(wg_json *j, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void wg_json_uint(wg_json *j, const char *key, uint64_t value);
void wg_json_hex(wg_json *j, const char *key, uint32_t value); /* "0x0000abcd" */
void wg_json_bool(wg_json *j, const char *key, bool value);
void wg_json_one_line(wg_text *json);                            /* removes line breaks and what follows them */
void wg_json_raw(wg_json *j, const char *key, const char *json); /* JSON made elsewhere */

/* The whole file, or standard input for "-". NULL on failure, with a sentence in `error`. */
uint8_t *wg_file_read(const char *path, size_t *size, char *error, size_t error_bytes);
/* Likewise, of a file of at most `most` MiB. */
uint8_t *wg_file_read_mib(const char *path, unsigned most, size_t *size, char *error, size_t error_bytes);
/* Replaces the file in one step, when it is complete; "-" is standard output. */
bool wg_file_write(const char *path, const void *bytes, size_t size, char *error, size_t error_bytes);

/* As wg_file_write(), for output written piece by piece. */
typedef struct wg_file_out {
    FILE *stream;
    char *path, *temporary; /* NULL: standard output */
    bool nameless;          /* the temporary name is not given yet */
    int failure;            /* errno of the first write that failed, or 0 */
} wg_file_out;
bool wg_file_begin(wg_file_out *f, const char *path, char *error, size_t error_bytes);
bool wg_file_add(wg_file_out *f, const void *bytes, size_t count); /* a failure is remembered for the commit */
bool wg_file_commit(wg_file_out *f, char *error, size_t error_bytes);
void wg_file_abandon(wg_file_out *f);

/* The nearest of the candidates that `word` may have meant, NULL if none is near. */
typedef struct wg_near {
    const char *word;
    size_t length;
    const char *best;
    unsigned distance;
} wg_near;
void wg_near_begin(wg_near *n, const char *word, size_t length);
void wg_near_offer(wg_near *n, const char *candidate);
const char *wg_near_best(const wg_near *n);

/* Adds the text, wrapped to the terminal; every line is indented, the first starts at column `at`. Ends the line. */
void wg_text_wrap(wg_text *out, const char *text, unsigned indent, unsigned at);
/* Breaks lines that are longer than the width between words; not lines of source. `prefix`: only lines that begin so. */
void wg_text_fold(wg_text *t, unsigned width, const char *prefix);
unsigned wg_fold_width(FILE *file); /* 0: it is not a terminal, or its width is not known */
unsigned wg_terminal_width(void);   /* of standard output, 100 if it is not a terminal; COLUMNS overrides */

bool wg_terminal_colour(void); /* standard output is a terminal with colours, and NO_COLOR is not set */

/* Escape sequences; "" in a text without colour. */
typedef enum wg_mark { WG_MARK_END, WG_MARK_CAUSE, WG_MARK_REMEDY } wg_mark;
const char *wg_mark_of(const wg_text *t, wg_mark mark);

/* "0x1000", "4096", "64K", "1M"; the whole of `text` up to `length`. */
bool wg_parse_number(const char *text, size_t length, uint64_t *value);

/* Of wg_severity, including "never". */
extern const char *const wg_severity_names[WG_SEVERITY_NEVER + 1];

#endif
