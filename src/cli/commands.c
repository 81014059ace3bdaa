/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch, and the short commands: run, trace, isa. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "backend/coverage.h"
#include "cli/session.h"
#include "cli/constants.h"
#include "cli/support.h"
#include "isa/report.h"

int wg_session_finish(wg_session *s, wg_run_result *result, wg_text *out, wg_text *error)
{
    int status = wg_report_status(s);
    wg_text page = {0};
    wg_session_result(s, result);
    /* Files first: the report says what could not be written. */
    if (s->args->command == WG_CMD_REPORT && !wg_page_write(s, status, &page, error))
        status = WG_EXIT_ERROR;
    if (!wg_session_dump(s, error) || !wg_session_sarif(s, status, error))
        status = WG_EXIT_ERROR;
    wg_report_run(s, status, error, out);
    wg_text_add(out, wg_text_of(&page), page.size);
    wg_text_free(&page);
    return status;
}

int wg_run_files(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error)
{
    wg_session s;
    int status = WG_EXIT_ERROR;
    if (args->files == 1 && wg_is_cluster_argument(args, args->file[0]))
        return wg_run_cluster(args, result, out, error);
    if (wg_is_chip_run(args))
        return wg_run_chip(args, result, out, error);
    if (wg_session_open(&s, args, error) && wg_session_run(&s, error))
        status = wg_session_finish(&s, result, out, error);
    wg_session_lost_memory(&s);
    wg_session_close(&s);
    return status;
}

int wg_command_run(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_run_result ignored = {0};
    return wg_run_files(args, &ignored, out, error);
}

/* ---- isa ---- */

/* Lines of isa_tests.tsv: architecture, instruction; those whose value and timing tests passed. */
typedef struct isa_user {
    const char *table; /* NULL: none */
    const wg_args *args;
} isa_user;

static bool is_implemented(void *user, wg_arch_id arch, const wg_isa_insn *insn)
{
    (void)user;
    return wg_insn_implemented(arch, insn);
}

static bool is_tested(void *user, wg_arch_id arch, const wg_isa_insn *insn)
{
    const isa_user *u = user;
    size_t length = strlen(insn->name);
    const char *want = wg_arch_of(arch)->name;
    for (const char *line = u->table; line && *line;) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, want, 2) == 0 && line[2] == '\t' && strncmp(line + 3, insn->name, length) == 0 &&
            (line[3 + length] == '\t' || line[3 + length] == '\n' || line[3 + length] == 0))
            return true;
        line = end ? end + 1 : NULL;
    }
    return false;
}

static void add_piece(void *user, const char *text, size_t length) { wg_text_add(user, text, length); }

/* isa_tests.tsv next to the executable. */
static const char *default_tests(char *room, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", room, bytes - 16);
    if (n <= 0)
        return NULL;
    room[n] = 0;
    char *slash = strrchr(room, '/');
    if (!slash)
        return NULL;
    memcpy(slash + 1, "isa_tests.tsv", sizeof "isa_tests.tsv");
    return access(room, R_OK) == 0 ? room : NULL;
}

int wg_command_isa(const wg_args *args, wg_text *out, wg_text *error)
{
    char room[1024], message[512];
    wg_arch_id arch;
    if (!wg_args_arch(args, &arch, error))
        return WG_EXIT_ERROR;
    if (args->files)
        return wg_command_explain(args, out, error);
    if (args->value[WG_OPT_TIMING]) {
        wg_constants_document(out, args->value[WG_OPT_JSON]);
        return WG_EXIT_DONE;
    }
    if (args->value[WG_OPT_SUPPORT]) {
        if (wg_support_document(out, args->value[WG_OPT_JSON]))
            return WG_EXIT_DONE;
        wg_textf(error, "waitgate: %s\n", wg_status_text(WG_ERR_NO_MEMORY));
        return WG_EXIT_ERROR;
    }
    const char *path = args->value[WG_OPT_TESTS] ? args->value[WG_OPT_TESTS] : default_tests(room, sizeof room);
    isa_user user = {NULL, args};
    size_t size;
    uint8_t *table = path ? wg_file_read(path, &size, message, sizeof message) : NULL;
    if (path && !table) {
        wg_textf(error, "waitgate: --tests: %s\n", message);
        return WG_EXIT_ERROR;
    }
    user.table = (const char *)table;
    wg_isa_report_options options = {.json = args->value[WG_OPT_JSON] != NULL,
                                     .implemented = is_implemented,
                                     .tested = table ? is_tested : NULL,
                                     .user = &user};
    if (args->value[WG_OPT_MARKDOWN])
        wg_isa_document(&options, add_piece, out);
    else
        wg_isa_report(arch, &options, add_piece, out);
    free(table);
    return WG_EXIT_DONE;
}

static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

void wg_error_member(wg_json *j, const wg_text *error)
{
    const char *text = wg_text_of(error), prefix[] = "waitgate: ";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        length--;
    wg_json_textf(j, "error", "%.*s", (int)length, text);
}

void wg_error_json(int status, const wg_text *error, wg_text *out)
{
    wg_json j = {.out = out};
    wg_json_open(&j, NULL, '{');
    wg_json_uint(&j, "schema", 1);
    wg_json_text(&j, "waitgate", wg_version());
    wg_json_uint(&j, "status", (uint64_t)status);
    wg_error_member(&j, error);
    wg_json_close(&j, '}');
}

/* Does this option write its file to standard output? */
static bool is_dash(const wg_given *g)
{
    static const wg_option files[] = {WG_OPT_OUTPUT, WG_OPT_TRACE_FILE, WG_OPT_LOG,    WG_OPT_SARIF,
                                      WG_OPT_TAP,    WG_OPT_JUNIT,      WG_OPT_FOLDED, WG_OPT_CALLGRIND};
    if (g->option == WG_OPT_DUMP) {
        const char *file = strchr(g->value, '=');
        return file && file[1] == '-' && (!file[2] || file[2] == ':');
    }
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        if (g->option == files[i])
            return strcmp(g->value, "-") == 0;
    return false;
}

/* A file on standard output must be the only output there: messages go to standard error; JSON and a second file are refused. */
static bool share_output(const wg_args *args, wg_text *out, wg_text *error)
{
    const char *first = args->value[WG_OPT_JSON] ? wg_option_info_at(WG_OPT_JSON)->name : NULL;
    for (size_t i = 0; i < args->givens; i++) {
        if (!is_dash(&args->given[i]))
            continue;
        const char *name = wg_option_info_at(args->given[i].option)->name;
        if (first) {
            wg_textf(error, "waitgate: --%s and --%s both write to standard output\n", first, name);
            return false;
        }
        first = name;
        out->aside = true;
    }
    return true;
}

int wg_command_main(int argc, char **argv, wg_text *out, wg_text *error)
{
    static int (*const commands[WG_CMD_COUNT])(const wg_args *, wg_text *, wg_text *) = {
        [WG_CMD_RUN] = wg_command_run,         [WG_CMD_CHECK] = wg_command_run,   [WG_CMD_TRACE] = wg_command_run,
        [WG_CMD_PROFILE] = wg_command_run,     [WG_CMD_REPORT] = wg_command_run,  [WG_CMD_EXPLORE] = wg_command_explore,
        [WG_CMD_ASM] = wg_command_asm,         [WG_CMD_DIS] = wg_command_dis,     [WG_CMD_ISA] = wg_command_isa,
        [WG_CMD_EXPLAIN] = wg_command_explain, [WG_CMD_GDB] = wg_command_gdb,     [WG_CMD_WHY] = wg_command_why,
        [WG_CMD_TEST] = wg_command_test,       [WG_CMD_DEBUG] = wg_command_debug, [WG_CMD_DIFF] = wg_command_diff};
    static const unsigned prose = 1u << WG_CMD_RUN | 1u << WG_CMD_CHECK | 1u << WG_CMD_TRACE | 1u << WG_CMD_EXPLORE |
                                  1u << WG_CMD_WHY | 1u << WG_CMD_TEST | 1u << WG_CMD_DIFF;
    wg_args args;
    int status;
    wg_memory_begin();
    if (wg_args_parse(&args, argc, argv, out, error, &status)) {
        if (args.value[WG_OPT_JSON] && args.value[WG_OPT_MARKDOWN]) {
            wg_textf(error, "waitgate: --json does not go with --markdown\n");
            status = WG_EXIT_ERROR;
        } else if (!share_output(&args, out, error) || !wg_args_input(&args, error) ||
                   !wg_cluster_refuse(&args, error)) {
            status = WG_EXIT_ERROR;
        } else {
            out->prose = prose >> args.command & 1 && !args.value[WG_OPT_JSON];
            status = commands[args.command](&args, out, error);
        }
    }
    wg_args_free(&args);
    if (wg_memory_failed()) {
        wg_text_free(out);
        if (!strstr(wg_text_of(error), "out of memory"))
            wg_textf(error, "waitgate: out of memory\n");
        status = WG_EXIT_ERROR;
    }
    if (status == WG_EXIT_ERROR && !out->size && wants_json(argc, argv))
        wg_error_json(status, error, out);
    return status;
}
