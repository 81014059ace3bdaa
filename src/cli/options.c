/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "cli/manual.h"

static const wg_command_info commands[WG_CMD_COUNT] = {
#define WG_COMMAND(id, name, arguments, summary, text) {name, arguments, summary, text},
#include "cli/options.def"
#undef WG_COMMAND
};

#define WG_ON(id) (1u << WG_CMD_##id)
static const wg_option_info options[WG_OPT_COUNT] = {
#define WG_OPTION(id, name, value, commands, help) {name, value, commands, help},
#include "cli/options.def"
#undef WG_OPTION
};

const wg_command_info *wg_command_info_at(unsigned command) { return &commands[command]; }
const wg_option_info *wg_option_info_at(unsigned option) { return &options[option]; }

const char wg_exits[] =
    "Exit status: 0 done; 1 an expectation does not hold; 2 the program did something undefined or unimplemented; 3 "
    "hang; 4 findings (from check), or timings that differ (from explore); 5 cycle limit; 6 usage or host error; 130 "
    "interrupted. When several apply: 6, then 3, 1, 5, 2, 4.";

enum { HELP_WIDTH = 80 };

static void help_all(wg_text *out)
{
    wg_textf(out, "waitgate %s: a Tensix tile you can see into\n\nusage: waitgate COMMAND [options] …\n\n",
             wg_version());
    for (unsigned i = 0; i < WG_CMD_COUNT; i++)
        wg_textf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    wg_textf(
        out,
        "\n`waitgate COMMAND --help` lists a command's options; `waitgate --version` says\nwhich version this is.\n");
}

static void help_command(wg_text *out, unsigned command)
{
    const wg_command_info *c = &commands[command];
    const unsigned width = wg_terminal_width();
    out->width = width < HELP_WIDTH ? width : HELP_WIDTH; /* also through a pager */
    wg_textf(out, "usage: waitgate %s [options]%s%s\n\n", c->name, *c->arguments ? " " : "", c->arguments);
    wg_text_wrap(out, c->summary, 0, 0);
    if (*c->text) {
        wg_text_add(out, "\n", 1);
        wg_text_wrap(out, c->text, 0, 0);
    }
    wg_textf(out, "\noptions:\n");
    for (unsigned i = 0; i < WG_OPT_COUNT; i++) {
        if (!(options[i].commands >> command & 1))
            continue;
        wg_textf(out, "  --%s%s%s\n      ", options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        wg_text_wrap(out, options[i].help, 6, 6);
    }
    wg_text_add(out, "\n", 1);
    wg_text_wrap(out, wg_exits, 0, 0);
}

static void help_json(wg_text *out, unsigned first, unsigned end)
{
    wg_json j = {.out = out};
    wg_json_open(&j, NULL, '{');
    wg_json_uint(&j, "schema", 1);
    wg_json_text(&j, "waitgate", wg_version());
    wg_json_open(&j, "commands", '[');
    for (unsigned command = first; command < end; command++) {
        wg_json_open(&j, NULL, '{');
        wg_json_text(&j, "name", commands[command].name);
        wg_json_text(&j, "arguments", commands[command].arguments);
        wg_json_text(&j, "summary", commands[command].summary);
        wg_json_open(&j, "options", '[');
        for (unsigned i = 0; i < WG_OPT_COUNT; i++) {
            if (!(options[i].commands >> command & 1))
                continue;
            wg_json_open(&j, NULL, '{');
            wg_json_text(&j, "name", options[i].name);
            if (options[i].value)
                wg_json_text(&j, "value", options[i].value);
            wg_json_text(&j, "help", options[i].help);
            wg_json_close(&j, '}');
        }
        wg_json_close(&j, ']');
        wg_json_close(&j, '}');
    }
    wg_json_close(&j, ']');
    wg_json_close(&j, '}');
}

static void version(wg_text *out, bool as_json)
{
    wg_json j = {.out = out};
    if (!as_json) {
        wg_textf(out, "waitgate %s\n", wg_version());
        return;
    }
    wg_json_open(&j, NULL, '{');
    wg_json_uint(&j, "schema", 1);
    wg_json_text(&j, "waitgate", wg_version());
    wg_json_close(&j, '}');
}

static bool usage(wg_text *error, int *status, const char *what, const char *word, const char *near, const char *prefix)
{
    wg_textf(error, "waitgate: %s `%s`", what, word);
    if (near)
        wg_textf(error, "; did you mean `%s%s`?", prefix, near);
    wg_text_add(error, "\n", 1);
    *status = WG_EXIT_ERROR;
    return false;
}

static bool find_command(wg_args *args, const char *word, wg_text *error, int *status)
{
    wg_near near;
    wg_near_begin(&near, word, strlen(word));
    for (unsigned i = 0; i < WG_CMD_COUNT; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            args->command = (wg_command)i;
            return true;
        }
        wg_near_offer(&near, commands[i].name);
    }
    return usage(error, status, "there is no command", word, wg_near_best(&near), "");
}

/* The option of this command called `word` (without dashes, up to `length`), or WG_OPT_COUNT. */
static wg_option find_option(unsigned command, const char *word, size_t length, wg_near *near)
{
    for (unsigned i = 0; i < WG_OPT_COUNT; i++) {
        if (!(options[i].commands >> command & 1))
            continue;
        if (strlen(options[i].name) == length && memcmp(options[i].name, word, length) == 0)
            return (wg_option)i;
        wg_near_offer(near, options[i].name);
    }
    return WG_OPT_COUNT;
}

/* argv[at] is an option; returns the number of arguments consumed, 0 on error. */
static int take_option(wg_args *args, int argc, char **argv, int at, wg_text *error, int *status)
{
    const char *word = argv[at] + strspn(argv[at], "-");
    if (strcmp(argv[at], "-h") == 0)
        word = "help";
    if (strcmp(argv[at], "-o") == 0)
        word = "output";
    size_t length = strcspn(word, "=");
    wg_near near;
    wg_near_begin(&near, word, length);
    wg_option option = find_option(args->command, word, length, &near);
    if (option == WG_OPT_COUNT) {
        wg_textf(error, "waitgate: `%s` has no option `%s`", commands[args->command].name, argv[at]);
        if (wg_near_best(&near))
            wg_textf(error, "; did you mean `--%s`?", wg_near_best(&near));
        wg_text_add(error, "\n", 1);
        *status = WG_EXIT_ERROR;
        return 0;
    }
    const wg_option_info *info = &options[option];
    const char *value = "";
    int taken = 1;
    if (info->value && word[length] == '=') {
        value = word + length + 1;
    } else if (info->value && at + 1 < argc) {
        value = argv[at + 1];
        taken = 2;
    } else if (info->value || word[length] == '=') {
        wg_textf(error, "waitgate: --%s takes %s%s\n", info->name, info->value ? "a value: " : "no value",
                 info->value ? info->value : "");
        *status = WG_EXIT_ERROR;
        return 0;
    }
    args->value[option] = value;
    args->given[args->givens++] = (wg_given){option, value};
    return taken;
}

bool wg_args_parse(wg_args *args, int argc, char **argv, wg_text *out, wg_text *error, int *status)
{
    memset(args, 0, sizeof *args);
    *status = WG_EXIT_DONE;
    if (argc < 2) {
        help_all(error);
        *status = WG_EXIT_ERROR;
        return false;
    }
    const char *first = argv[1];
    const bool as_json = argc > 2 && strcmp(argv[2], "--json") == 0;
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        if (as_json)
            help_json(out, 0, WG_CMD_COUNT);
        else
            help_all(out);
        return false;
    }
    if (strcmp(first, "--version") == 0) {
        version(out, as_json);
        return false;
    }
    if (wg_manual(first, argc > 2 ? argv[2] : "", out))
        return false;
    if (*first == '-')
        return usage(error, status, "a command comes first; there is no option", first, NULL, "");
    if (!find_command(args, first, error, status))
        return false;
    args->given = wg_calloc((size_t)argc, sizeof *args->given);
    args->file = wg_calloc((size_t)argc, sizeof *args->file);
    if (!args->given || !args->file) {
        wg_textf(error, "waitgate: out of memory\n");
        *status = WG_EXIT_ERROR;
        return false;
    }
    bool only_files = false;
    for (int i = 2; i < argc;) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
            i++;
        } else if (only_files || argv[i][0] != '-' || argv[i][1] == 0) {
            args->file[args->files++] = argv[i++];
        } else {
            int taken = take_option(args, argc, argv, i, error, status);
            if (!taken)
                return false;
            i += taken;
        }
    }
    if (args->value[WG_OPT_HELP]) {
        if (args->value[WG_OPT_JSON])
            help_json(out, args->command, args->command + 1);
        else
            help_command(out, args->command);
        return false;
    }
    return true;
}

bool wg_args_input(wg_args *args, wg_text *error)
{
    static const wg_option programs[] = {WG_OPT_BRISC, WG_OPT_NCRISC, WG_OPT_TRISC0, WG_OPT_TRISC1, WG_OPT_TRISC2};
    char message[512];
    bool wanted = false;
    for (size_t i = 0; i < args->files; i++)
        wanted |= strcmp(args->file[i], "-") == 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        wanted |= args->value[programs[i]] && strcmp(args->value[programs[i]], "-") == 0;
    if (!wanted || args->input || !(wg_option_info_at(WG_OPT_BRISC)->commands >> args->command & 1))
        return true;
    args->read = wg_file_read("-", &args->input_bytes, message, sizeof message);
    args->input = (const char *)args->read;
    if (!args->input)
        wg_textf(error, "waitgate: %s\n", message);
    return args->input != NULL;
}

uint8_t *wg_args_read(const wg_args *args, const char *file, size_t *size, char *message, size_t bytes)
{
    if (!args->input || strcmp(file, "-") != 0)
        return wg_file_read(file, size, message, bytes);
    uint8_t *text = wg_malloc(args->input_bytes + 1);
    snprintf(message, bytes, "out of memory");
    if (text)
        memcpy(text, args->input, args->input_bytes);
    *size = args->input_bytes;
    return text;
}

void wg_args_free(wg_args *args)
{
    free(args->read);
    free(args->given);
    free(args->file);
    memset(args, 0, sizeof *args);
}

bool wg_args_arch(const wg_args *args, wg_arch_id *arch, wg_text *error)
{
    const char *text = args->value[WG_OPT_ARCH];
    *arch = WG_ARCH_BH;
    if (!text || wg_arch_by_name(text, strlen(text), arch))
        return true;
    wg_textf(error, "waitgate: --arch: `%s` is neither bh nor wh\n", text);
    return false;
}
