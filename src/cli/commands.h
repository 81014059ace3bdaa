/* SPDX-License-Identifier: Apache-2.0 */
/* The commands; each returns its exit status and leaves its output in `out` and `error`. */
#ifndef WG_COMMANDS_H
#define WG_COMMANDS_H

#include "cli/options.h"
#include "text/text.h"

int wg_command_why(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_debug(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_diff(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_gdb(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_run(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_test(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_explore(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_asm(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_dis(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_isa(const wg_args *args, wg_text *out, wg_text *error);
int wg_command_explain(const wg_args *args, wg_text *out, wg_text *error);
/* What --json prints of a command that has failed. */
void wg_error_member(wg_json *j, const wg_text *error); /* "error", the message alone */
void wg_error_json(int status, const wg_text *error, wg_text *out);
/* Any of them, by argv. */
int wg_command_main(int argc, char **argv, wg_text *out, wg_text *error);

#endif
