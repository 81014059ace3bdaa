/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate explain`: findings, reports of `check`, and terms of the instruction set (explain_topics.c). */
#include "cli/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "cli/commands.h"
#include "cli/session.h"

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
                 "# Findings\n\nWhat Waitgate reports about programs. This page is generated from its own catalogue "
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
        wg_textf(out, markdown ? "\n# Races\n\nWhat `waitgate check` reports in addition ([how to read it](races.md), "
                                 "[checks](checks.md)). "
                                 "The remedies are the general ones; each report has its own.\n"
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

/* Reports of `check` other than findings. */
static void explain_race(unsigned race, wg_json *j, wg_text *out)
{
    if (!j)
        wg_textf(out, "%s (%s, from `waitgate check --checks=%s`)\n\n  cause   %s\n  remedy  %s\n  source  %s\n",
                 wg_race_kind_name(race), wg_severity_names[wg_race_severity(race)], wg_race_check_name(race),
                 wg_race_kind_summary(race), wg_race_kind_remedy(race), page_of(race));
    else
        race_json(j, race);
}

static void finding_topic(const wg_finding_info *info, wg_json *j, wg_text *out)
{
    if (j)
        explain_json(j, NULL, info);
    else
        wg_textf(out, "%s (%s)\n\n  cause   %s\n  remedy  %s\n  source  %s\n", info->code,
                 wg_severity_names[info->severity], info->cause, info->remedy, info->source);
}

static void show_topic(wg_topic *topic, wg_json *j, wg_text *out)
{
    if (j)
        wg_topic_json(topic, j);
    else
        wg_topic_text(topic, out);
    wg_topic_free(topic);
}

/* A finding, a report of `check`, or a term of the instruction set; as JSON if `j` is given. */
static bool explain_word(wg_arch_id arch, const char *word, wg_json *j, wg_text *out, wg_text *error)
{
    const wg_finding_info *info;
    wg_topic topic = {0};
    wg_near near;
    wg_near_begin(&near, word, strlen(word));
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++) {
        if (strcmp(info->code, word) == 0) {
            finding_topic(info, j, out);
            return true;
        }
        wg_near_offer(&near, info->code);
    }
    for (unsigned race = 0; race < WG_RACE_KINDS; race++) {
        if (strcmp(wg_race_kind_name(race), word) == 0) {
            explain_race(race, j, out);
            return true;
        }
        wg_near_offer(&near, wg_race_kind_name(race));
    }
    if (wg_topic_find(&topic, arch, word, &near) || wg_topic_term(&topic, word) || wg_topic_word(&topic, arch, word)) {
        show_topic(&topic, j, out);
        return true;
    }
    const wg_arch_id other = (wg_arch_id)!arch;
    if (wg_isa_by_name(other, word, strlen(word))) {
        wg_textf(error, "waitgate: `%s` exists on %s only: --arch %s\n", word, wg_arch_title(other),
                 wg_arch_of(other)->name);
        return false;
    }
    const char *best = wg_near_best(&near);
    wg_textf(error, "waitgate: nothing is called `%s`%s%s%s\n", word, best ? "; did you mean `" : "", best ? best : "",
             best ? "`?" : "; `waitgate explain` lists findings, `waitgate isa` instructions");
    return false;
}

/* How many of the words belong together. */
static size_t together(wg_arch_id arch, const char *const *word, size_t count)
{
    uint64_t index;
    wg_topic topic = {0};
    if (count > 1 && strcmp(word[0], "semaphore") == 0 && wg_parse_number(word[1], strlen(word[1]), &index))
        return 2;
    const size_t taken = wg_topic_joined(&topic, arch, word, count);
    wg_topic_free(&topic);
    return taken ? taken : 1;
}

static bool explain_next(wg_arch_id arch, const char *const *word, size_t taken, wg_json *j, wg_text *out,
                         wg_text *error)
{
    uint64_t index = 0;
    wg_topic topic = {0};
    if (taken == 1)
        return explain_word(arch, word[0], j, out, error);
    if (strcmp(word[0], "semaphore") != 0 || !wg_parse_number(word[1], strlen(word[1]), &index)) {
        wg_topic_joined(&topic, arch, word, taken);
    } else if (index > UINT32_MAX || !wg_topic_semaphore(&topic, arch, (unsigned)index)) {
        wg_textf(error, "waitgate: there is no semaphore %s: they are 0 to 7\n", word[1]);
        return false;
    }
    show_topic(&topic, j, out);
    return true;
}

int wg_command_explain(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_arch_id arch;
    if (!wg_args_arch(args, &arch, error))
        return WG_EXIT_ERROR;
    if (args->files == 0) {
        explain_all(args, out);
        return WG_EXIT_DONE;
    }
    int status = WG_EXIT_DONE;
    wg_json json = {.out = out}, *j = args->value[WG_OPT_JSON] ? &json : NULL;
    const bool several = together(arch, args->file, args->files) < args->files;
    if (j && several)
        wg_json_open(j, NULL, '[');
    for (size_t k = 0, taken; k < args->files; k += taken) {
        taken = together(arch, args->file + k, args->files - k);
        if (k && !j)
            wg_text_add(out, "\n", 1);
        if (!explain_next(arch, args->file + k, taken, j, out, error))
            status = WG_EXIT_ERROR;
    }
    if (j && several)
        wg_json_close(j, ']');
    return status;
}
