/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch, and the commands that are short: run, trace, isa, explain. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/coverage.h"
#include "cli/session.h"
#include "cli/support.h"
#include "isa/report.h"

int wg_command_run(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_session s;
    int status = WG_EXIT_ERROR;
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_chip_file(args->file[i]))
            return wg_run_chip(args, out, error);
    if (wg_session_open(&s, args, error) && wg_session_run(&s, error)) {
        status = wg_report_run(&s, out);
        if (args->command == WG_CMD_REPORT && !wg_page_write(&s, status, out, error))
            status = WG_EXIT_ERROR;
        if (!wg_session_dump(&s, error) || !wg_session_sarif(&s, status, error))
            status = WG_EXIT_ERROR;
    }
    wg_session_lost_memory(&s);
    wg_session_close(&s);
    return status;
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
    const char *want = arch == WG_ARCH_WH ? "wh" : "bh";
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

/* isa_tests.tsv beside the executable. */
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
    if (args->value[WG_OPT_SUPPORT]) {
        if (wg_support_document(out))
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

/* ---- explain ---- */

static void explain_json(wg_json *j, const char *key, const wg_finding_info *info)
{
    wg_json_open(j, key, '{');
    wg_json_text(j, "code", info->code);
    wg_json_text(j, "severity", wg_severity_names[info->severity]);
    wg_json_text(j, "cause", info->cause);
    wg_json_text(j, "remedy", info->remedy);
    wg_json_text(j, "source", info->source);
    wg_json_close(j, '}');
}

/* The example of a finding: FOLDER/CODE.tasm, or a text in FOLDER/CODE.txt. */
static void explain_example(const char *folder, const char *code, wg_text *out)
{
    char path[1024], ignored[256];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s.tasm", folder, code);
    uint8_t *program = wg_file_read(path, &size, ignored, sizeof ignored);
    if (program)
        wg_textf(out, "\n```tasm\n%.*s```\n", (int)size, (const char *)program);
    snprintf(path, sizeof path, "%s/%s.txt", folder, code);
    uint8_t *text = program ? NULL : wg_file_read(path, &size, ignored, sizeof ignored);
    if (text)
        wg_textf(out, "\nExample: %.*s", (int)size, (const char *)text);
    free(program);
    free(text);
}

static const char *page_of(unsigned race)
{
    return wg_race_check(race) & WG_CHECK_RACE ? "docs/races.md" : "docs/checks.md";
}

static void race_json(wg_json *j, unsigned race)
{
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "code", wg_race_kind_name(race));
    wg_json_text(j, "severity", wg_severity_names[wg_race_severity(race)]);
    wg_json_text(j, "cause", wg_race_kind_summary(race));
    wg_json_text(j, "remedy", wg_race_kind_remedy(race));
    wg_json_text(j, "check", wg_race_check_name(race));
    wg_json_text(j, "source", page_of(race));
    wg_json_close(j, '}');
}

static void explain_all(const wg_args *args, wg_text *out)
{
    const wg_finding_info *info;
    wg_json json = {.out = out};
    bool markdown = args->value[WG_OPT_MARKDOWN] != NULL, as_json = args->value[WG_OPT_JSON] != NULL;
    if (as_json) {
        wg_json_open(&json, NULL, '{');
        wg_json_uint(&json, "schema", 1);
        wg_json_open(&json, "findings", '[');
    } else if (markdown) {
        wg_textf(out,
                 "# Findings\n\nWhat Waitgate reports about programs. This page is made from its own catalogue "
                 "(`waitgate explain --markdown`) and `examples/findings/`, whose programs the tests run; codes are "
                 "stable.\n\n"
                 "| Severity | Meaning |\n|---|---|\n"
                 "| note | legal, worth knowing |\n"
                 "| warning | a documented rule was broken; this run may still be right |\n"
                 "| undefined | hardware's behaviour is undefined, or a documented hang: status 2 |\n"
                 "| unimplemented | hardware does it, Waitgate does not: status 2 |\n");
    }
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++) {
        if (as_json)
            explain_json(&json, NULL, info);
        else if (markdown)
            wg_textf(out, "\n## %s\n\n%s. %s\n\nRemedy: %s (%s)\n", info->code, wg_severity_names[info->severity],
                     info->cause, info->remedy, info->source);
        else
            wg_textf(out, "%-32s %-13s %s\n", info->code, wg_severity_names[info->severity], info->cause);
        if (markdown && args->value[WG_OPT_EXAMPLES])
            explain_example(args->value[WG_OPT_EXAMPLES], info->code, out);
    }
    if (as_json) {
        wg_json_close(&json, ']');
        wg_json_open(&json, "races", '[');
    } else {
        wg_textf(out, markdown ? "\n# Races\n\nWhat `waitgate check` reports beside these ([how to read it](races.md), "
                                 "[checks](checks.md)). "
                                 "The remedies are the usual ones; each report has one of its own.\n"
                               : "\nfrom `waitgate check` alone:\n");
    }
    for (unsigned race = 0; race < WG_RACE_KINDS; race++) {
        const char *name = wg_race_kind_name(race), *severity = wg_severity_names[wg_race_severity(race)];
        if (as_json)
            race_json(&json, race);
        else if (markdown)
            wg_textf(out, "\n## %s\n\n%s, check `%s`: %s.\n\nRemedy: %s\n", name, severity, wg_race_check_name(race),
                     wg_race_kind_summary(race), wg_race_kind_remedy(race));
        else
            wg_textf(out, "%-32s %-13s %s\n", name, severity, wg_race_kind_summary(race));
        if (markdown && args->value[WG_OPT_EXAMPLES])
            explain_example(args->value[WG_OPT_EXAMPLES], name, out);
    }
    if (as_json) {
        wg_json_close(&json, ']');
        wg_json_close(&json, '}');
    }
}

/* What `check` reports beside the findings. */
static void explain_race(const wg_args *args, unsigned race, wg_text *out)
{
    if (!args->value[WG_OPT_JSON])
        wg_textf(out, "%s (%s, from `waitgate check --checks=%s`)\n\n  cause   %s\n  remedy  %s\n  source  %s\n",
                 wg_race_kind_name(race), wg_severity_names[wg_race_severity(race)], wg_race_check_name(race),
                 wg_race_kind_summary(race), wg_race_kind_remedy(race), page_of(race));
    else
        race_json(&(wg_json){.out = out}, race);
}

int wg_command_explain(const wg_args *args, wg_text *out, wg_text *error)
{
    if (args->files == 0) {
        explain_all(args, out);
        return WG_EXIT_DONE;
    }
    int status = WG_EXIT_DONE;
    for (size_t k = 0; k < args->files; k++) {
        const char *code = args->file[k];
        const wg_finding_info *info;
        wg_near near;
        wg_near_begin(&near, code, strlen(code));
        unsigned i = 0;
        while ((info = wg_finding_info_at(i)) != NULL && strcmp(info->code, code) != 0) {
            wg_near_offer(&near, info->code);
            i++;
        }
        wg_json json = {.out = out};
        unsigned race = 0;
        while (race < WG_RACE_KINDS && strcmp(wg_race_kind_name(race), code) != 0)
            wg_near_offer(&near, wg_race_kind_name(race++));
        if (!info && race < WG_RACE_KINDS) {
            explain_race(args, race, out);
        } else if (!info) {
            const char *best = wg_near_best(&near);
            wg_textf(error, "waitgate: there is no finding `%s`%s%s%s\n", code, best ? "; did you mean `" : "",
                     best ? best : "", best ? "`?" : " (`waitgate explain` lists them all)");
            status = WG_EXIT_ERROR;
        } else if (args->value[WG_OPT_JSON]) {
            explain_json(&json, NULL, info);
        } else {
            wg_textf(out, "%s (%s)\n\n  cause   %s\n  remedy  %s\n  source  %s\n", info->code,
                     wg_severity_names[info->severity], info->cause, info->remedy, info->source);
        }
    }
    return status;
}

int wg_command_main(int argc, char **argv, wg_text *out, wg_text *error)
{
    static int (*const commands[WG_CMD_COUNT])(const wg_args *, wg_text *, wg_text *) = {
        [WG_CMD_RUN] = wg_command_run,         [WG_CMD_CHECK] = wg_command_run,  [WG_CMD_TRACE] = wg_command_run,
        [WG_CMD_PROFILE] = wg_command_run,     [WG_CMD_REPORT] = wg_command_run, [WG_CMD_EXPLORE] = wg_command_explore,
        [WG_CMD_ASM] = wg_command_asm,         [WG_CMD_DIS] = wg_command_dis,    [WG_CMD_ISA] = wg_command_isa,
        [WG_CMD_EXPLAIN] = wg_command_explain, [WG_CMD_GDB] = wg_command_gdb,    [WG_CMD_WHY] = wg_command_why,
        [WG_CMD_DEBUG] = wg_command_debug};
    wg_args args;
    int status;
    wg_memory_begin();
    if (wg_args_parse(&args, argc, argv, out, error, &status))
        status = commands[args.command](&args, out, error);
    wg_args_free(&args);
    if (wg_memory_failed()) {
        wg_text_free(out);
        if (!strstr(wg_text_of(error), "out of memory"))
            wg_textf(error, "waitgate: out of memory\n");
        status = WG_EXIT_ERROR;
    }
    return status;
}
