/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and options, from the one list in options.def. */
#ifndef WG_OPTIONS_H
#define WG_OPTIONS_H

#include <waitgate/waitgate.h>

#include "text/text.h"

typedef enum wg_command {
#define WG_COMMAND(id, ...) WG_CMD_##id,
#include "cli/options.def"
#undef WG_COMMAND
    WG_CMD_COUNT
} wg_command;

typedef enum wg_option {
#define WG_OPTION(id, ...) WG_OPT_##id,
#include "cli/options.def"
#undef WG_OPTION
    WG_OPT_COUNT
} wg_option;

typedef struct wg_given {
    wg_option option;
    const char *value;
} wg_given;

typedef struct wg_args {
    wg_command command;
    const char *value[WG_OPT_COUNT]; /* the last one given; "" for an option without value; NULL: not given */
    wg_given *given;                 /* all, in order */
    size_t givens;
    const char **file; /* the other arguments */
    size_t files;
    const char *input; /* the contents of the file `-` of a command that runs programs; NULL: there is none */
    size_t input_bytes;
    uint8_t *read; /* … if they are from standard input */
} wg_args;

/* Exit statuses (docs/cli.md). */
enum {
    WG_EXIT_DONE = 0,
    WG_EXIT_EXPECTATION = 1,
    WG_EXIT_UNDEFINED = 2,
    WG_EXIT_HANG = 3,
    WG_EXIT_FINDINGS = 4,
    WG_EXIT_LIMIT = 5,
    WG_EXIT_ERROR = 6,
    WG_EXIT_INTERRUPTED = 130
};

/*
 * Parses argv[1…]. False: `status` is the exit status and `out` or `error` what to print (help, version, a
 * usage error with the nearest name).
 */
bool wg_args_parse(wg_args *args, int argc, char **argv, wg_text *out, wg_text *error, int *status);
void wg_args_free(wg_args *args);
/* Reads the file `-` of a command that runs programs, once for all of its runs. */
bool wg_args_input(wg_args *args, wg_text *error);
/* The contents of an argument's file, `-` included; free() them. NULL: `message` says why. */
uint8_t *wg_args_read(const wg_args *args, const char *file, size_t *size, char *message, size_t bytes);
/* --arch, Blackhole if it is not given. */
bool wg_args_arch(const wg_args *args, wg_arch_id *arch, wg_text *error);

/* The list itself, for the manual. */
typedef struct wg_command_info {
    const char *name, *arguments;
    const char *summary, *text;
} wg_command_info;
typedef struct wg_option_info {
    const char *name, *value; /* NULL: takes none */
    unsigned commands;        /* bit i: an option of command i */
    const char *help;
} wg_option_info;
const wg_command_info *wg_command_info_at(unsigned command);
const wg_option_info *wg_option_info_at(unsigned option);
extern const char wg_exits[]; /* meaning of the exit statuses */

#endif
