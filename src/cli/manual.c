/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All forms of the manual except --help, from the one list of commands and options:
 *
 *     options.def ──► docs/cli.md (Markdown), waitgate*.1 (roff), completions for bash, zsh and fish
 */
#include "cli/manual.h"

#include "cli/explain.h"
#include "explain/race.h"
#include "text/race_text.h"

#include <string.h>

#define COMMANDS(i) for (unsigned i = 0; i < WG_CMD_COUNT; i++)
#define OPTIONS(k, command) \
    for (unsigned k = 0; k < WG_OPT_COUNT; k++) \
        if (wg_option_info_at(k)->commands >> (command)&1)

static const char notes[] =
    "`WAITGATE_FAST=none` switches off every shortcut, `WAITGATE_FAST=NAME,...` takes only these and what they need, "
    "`WAITGATE_FAST=-NAME,...` switches these off; results and cycles are the same. "
    "`WAITGATE_SIMD=scalar|avx2|avx512|vnni` limits the vector instructions of the host that are used; results are the "
    "same. "
    "With `WAITGATE_LOCKSTEP=1` in the environment every part of the machine is ticked in every cycle; results are "
    "identical, only slower.\n\nCtrl-C ends a run with the report of its state. Output files are replaced in one step "
    "when they are complete. A file `-` is standard output; what is said about the run is on standard error then."
    "\n\nWith `--json` every command prints JSON, for errors too; docs/waitgate.schema.json "
    "describes it.\n";

/* ---- Markdown ---- */

static void markdown(wg_text *out)
{
    wg_textf(out, "# The command line\n\n"
                  "This page is generated from the command line's own table (`waitgate --help-markdown`).\n\n"
                  "| Command | What it does |\n|---|---|\n");
    COMMANDS(i)
    wg_textf(out, "| [`%s`](#waitgate-%s) | %s |\n", wg_command_info_at(i)->name, wg_command_info_at(i)->name,
             wg_command_info_at(i)->summary);
    wg_textf(out, "\n%s\n\n%s", wg_exits, notes);
    COMMANDS(i)
    {
        const wg_command_info *c = wg_command_info_at(i);
        wg_textf(out, "\n## waitgate %s\n\n`waitgate %s [options]%s%s`: %s.\n\n", c->name, c->name,
                 *c->arguments ? " " : "", c->arguments, c->summary);
        if (*c->text)
            wg_textf(out, "%s\n\n", c->text);
        wg_textf(out, "| Option | Meaning |\n|---|---|\n");
        OPTIONS(k, i)
        {
            const wg_option_info *o = wg_option_info_at(k);
            wg_textf(out, "| `--%s%s", o->name, o->value ? " " : "");
            for (const char *p = o->value ? o->value : ""; *p; p++)
                wg_textf(out, *p == '|' ? "\\|" : "%c", *p);
            wg_textf(out, "` | %s |\n", o->help);
        }
    }
}

/* ---- roff ---- */

/*
 * Escapes backslashes, dashes, and characters special at the start of a line; writes … as roff does, and drops Markdown's
 * back quotes.
 */
static void roff(wg_text *out, const char *text)
{
    for (bool begins = true; *text; begins = *text++ == '\n') {
        if (begins && (*text == '.' || *text == '\''))
            wg_textf(out, "\\&");
        if (strncmp(text, "…", 3) == 0) {
            wg_textf(out, "\\&...");
            text += 2;
        } else if (*text == '\\') {
            wg_textf(out, "\\e");
        } else if (*text == '-') {
            wg_textf(out, "\\-");
        } else if (*text != '`') {
            wg_text_add(out, text, 1);
        }
    }
}

static void man_exits(wg_text *out)
{
    wg_textf(out, ".SH EXIT STATUS\n");
    const char *text = wg_exits + strcspn(wg_exits, ":") + 1;
    roff(out, text + strspn(text, " "));
    wg_textf(out, "\n.SH SEE ALSO\n");
}

static void man_main(wg_text *out)
{
    wg_textf(out,
             ".TH WAITGATE 1 \"\" \"waitgate %s\" \"Waitgate\"\n.SH NAME\nwaitgate \\- a Tensix tile you can see into\n"
             ".SH SYNOPSIS\n.B waitgate\n.I COMMAND\n[options] \\&...\n.SH DESCRIPTION\n"
             "Runs kernels for Tenstorrent's Blackhole and Wormhole tiles, bit for bit and cycle by cycle, and "
             "explains what it saw.\n.SH COMMANDS\n",
             wg_version());
    COMMANDS(i)
    {
        wg_textf(out, ".TP\n.BR waitgate\\-%s (1)\n", wg_command_info_at(i)->name);
        roff(out, wg_command_info_at(i)->summary);
        wg_textf(out, "\n");
    }
    wg_textf(out, ".PP\n.B waitgate \\-\\-version\nprints the version.\n.SH NOTES\n");
    for (const char *p = notes; *p;) { /* paragraphs */
        const char *end = strstr(p, "\n\n");
        wg_text piece = {0};
        wg_text_add(&piece, p, end ? (size_t)(end - p) : strcspn(p, "\n"));
        roff(out, wg_text_of(&piece));
        wg_textf(out, end ? "\n.PP\n" : "\n");
        wg_text_free(&piece);
        p = end ? end + 2 : p + strlen(p);
    }
    man_exits(out);
    const char *comma = "";
    COMMANDS(i)
    {
        wg_textf(out, "%s.BR waitgate\\-%s (1)", comma, wg_command_info_at(i)->name);
        comma = ",\n";
    }
    wg_textf(out, "\n");
}

static void man_command(wg_text *out, unsigned command)
{
    const wg_command_info *c = wg_command_info_at(command);
    wg_textf(out, ".TH WAITGATE\\-");
    for (const char *p = c->name; *p; p++)
        wg_textf(out, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    wg_textf(out, " 1 \"\" \"waitgate %s\" \"Waitgate\"\n.SH NAME\nwaitgate\\-%s \\- ", wg_version(), c->name);
    roff(out, c->summary);
    wg_textf(out, "\n.SH SYNOPSIS\n.B waitgate %s\n[options]", c->name);
    if (*c->arguments) {
        wg_textf(out, "\n.I ");
        roff(out, c->arguments);
    }
    wg_textf(out, "\n.SH DESCRIPTION\n");
    roff(out, *c->text ? c->text : c->summary);
    wg_textf(out, "\n.SH OPTIONS\n");
    OPTIONS(k, command)
    {
        const wg_option_info *o = wg_option_info_at(k);
        wg_textf(out, ".TP\n.BI \\-\\-");
        roff(out, o->name);
        if (o->value) {
            wg_textf(out, " \" \" ");
            wg_textf(out, "\"");
            roff(out, o->value);
            wg_textf(out, "\"");
        }
        wg_textf(out, "\n");
        roff(out, o->help);
        wg_textf(out, "\n");
    }
    man_exits(out);
    wg_textf(out, ".BR waitgate (1)\n");
}

/* ---- Completion ---- */

/* "bh|wh" is a list of words to choose from. */
static bool is_choice(const char *value)
{
    bool bar = false;
    for (; value && *value; value++) {
        if (!(*value >= 'a' && *value <= 'z') && !(*value >= '0' && *value <= '9') && *value != '|')
            return false;
        bar |= *value == '|';
    }
    return bar;
}

/* What an option's value is: one of some words, several of them with commas between, a file, or anything else. */
typedef enum kind { NO_VALUE, WORD, LIST, A_FILE, TYPED } kind;

/* The kind, and the words, separated by spaces. */
static kind words_of(wg_text *out, unsigned option)
{
    const wg_option_info *o = wg_option_info_at(option);
    const unsigned severities = option == WG_OPT_FAIL_ON ? WG_SEVERITY_NEVER + 1 : WG_SEVERITY_NEVER;
    if (!o->value)
        return NO_VALUE;
    if (option == WG_OPT_CHECKS) {
        for (unsigned check = 1; check < WG_CHECK_ALL; check <<= 1)
            wg_textf(out, "%s%s", check > 1 ? " " : "", wg_check_name(check));
        return LIST;
    }
    if (option == WG_OPT_RELEASE) {
        wg_textf(out, "b nc t0 t1 t2");
        return LIST;
    }
    if (strcmp(o->value, "SEVERITY") == 0) {
        for (unsigned i = 0; i < severities; i++)
            wg_textf(out, "%s%s", i ? " " : "", wg_severity_names[i]);
        return WORD;
    }
    if (!is_choice(o->value))
        return strstr(o->value, "FILE") ? A_FILE : TYPED;
    for (const char *p = o->value; *p; p++)
        wg_textf(out, "%c", *p == '|' ? ' ' : *p);
    return WORD;
}

/* The words that a command's arguments are; "": they are files. */
static void arguments_of(wg_text *out, unsigned command)
{
    if (command == WG_CMD_EXPLAIN || command == WG_CMD_ISA)
        wg_topic_words(out, command == WG_CMD_ISA);
}

static void bash(wg_text *out)
{
    wg_textf(
        out,
        "# bash completion for waitgate; generated\n_waitgate()\n{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options words before\n"
        "    COMPREPLY=()\n"
        "    [ \"$cur\" != = ] || cur=\n    [ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}\n" /* --option=VALUE */
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    COMMANDS(i)
    wg_textf(out, "%s ", wg_command_info_at(i)->name);
    wg_textf(out, "--help --version\" -- \"$cur\"))\n        return\n    fi\n    case $prev in\n");
    for (unsigned k = 0; k < WG_OPT_COUNT; k++) {
        const char *name = wg_option_info_at(k)->name;
        wg_text words = {0};
        switch (words_of(&words, k)) {
        case WORD:
            wg_textf(out, "    --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", name,
                     wg_text_of(&words));
            break;
        case LIST: /* the last element; those before it stay */
            wg_textf(out,
                     "    --%s) case $cur in *,*) before=${cur%%,*}, ;; *) before= ;; esac\n"
                     "        COMPREPLY=($(compgen -P \"$before\" -W \"%s\" -- \"${cur##*,}\")); return ;;\n",
                     name, wg_text_of(&words));
            break;
        case A_FILE: wg_textf(out, "    --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", name); break;
        case TYPED: wg_textf(out, "    --%s) return ;;\n", name); break;
        default: break;
        }
        wg_text_free(&words);
    }
    wg_textf(out, "    esac\n    case ${COMP_WORDS[1]} in\n");
    COMMANDS(i)
    {
        wg_textf(out, "    %s) words=\"", wg_command_info_at(i)->name);
        arguments_of(out, i);
        wg_textf(out, "\"; options=\"");
        const char *space = "";
        OPTIONS(k, i)
        {
            wg_textf(out, "%s--%s", space, wg_option_info_at(k)->name);
            space = " ";
        }
        wg_textf(out, "\" ;;\n");
    }
    /* Instructions are in capitals; small letters complete to them as well. */
    wg_textf(out, "    esac\n    [ \"$prev\" != semaphore ] || words='0 1 2 3 4 5 6 7'\n"
                  "    case $cur in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
                  "    *) if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "           [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -W \"$words\" -- \"${cur^^}\"))\n"
                  "       else COMPREPLY=($(compgen -f -- \"$cur\")); fi ;;\n    esac\n}\n"
                  "complete -o filenames -F _waitgate waitgate\n");
}

/* Single quotes end the string, brackets and colons the description. */
static void zsh_text(wg_text *out, const char *text)
{
    for (; *text; text++)
        wg_textf(out, *text == '\'' ? "'\\''" : *text == '[' || *text == ']' || *text == ':' ? "\\%c" : "%c", *text);
}

static void zsh(wg_text *out)
{
    wg_textf(out, "#compdef waitgate\n# zsh completion for waitgate; generated\nif (( CURRENT == 2 )); then\n"
                  "    local -a commands=(\n");
    COMMANDS(i)
    {
        wg_textf(out, "        '%s:", wg_command_info_at(i)->name);
        zsh_text(out, wg_command_info_at(i)->summary);
        wg_textf(out, "'\n");
    }
    wg_textf(out, "    )\n    _describe command commands\n    return\nfi\nlocal command=$words[2]\nshift words\n"
                  "(( CURRENT-- ))\ncase $command in\n");
    COMMANDS(i)
    {
        wg_textf(out, "%s)\n    _arguments \\\n", wg_command_info_at(i)->name);
        OPTIONS(k, i)
        {
            const wg_option_info *o = wg_option_info_at(k);
            wg_textf(out, "        '*--%s[", o->name);
            zsh_text(out, o->help);
            wg_textf(out, "]");
            wg_text words = {0};
            const kind k_is = words_of(&words, k);
            if (k_is == WORD) {
                wg_textf(out, ":value:(%s)", wg_text_of(&words));
            } else if (k_is == LIST) {
                wg_textf(out, ":value:_values -s , value %s", wg_text_of(&words));
            } else if (k_is != NO_VALUE) {
                wg_textf(out, ":");
                zsh_text(out, o->value);
                wg_textf(out, k_is == A_FILE ? ":_files" : ":");
            }
            wg_text_free(&words);
            wg_textf(out, "' \\\n");
        }
        wg_text words = {0};
        arguments_of(&words, i);
        if (words.size)
            wg_textf(out, "        '*:word:(%s)' ;;\n", wg_text_of(&words));
        else
            wg_textf(out, "        '*:file:_files' ;;\n");
        wg_text_free(&words);
    }
    wg_textf(out, "esac\n");
}

/* In single quotes. */
static void fish_text(wg_text *out, const char *text)
{
    wg_textf(out, "'");
    for (; *text; text++)
        wg_textf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    wg_textf(out, "'");
}

static void fish(wg_text *out)
{
    wg_textf(out, "# fish completion for waitgate; generated\n");
    COMMANDS(i)
    {
        wg_textf(out, "complete -c waitgate -n __fish_use_subcommand -f -a %s -d ", wg_command_info_at(i)->name);
        fish_text(out, wg_command_info_at(i)->summary);
        wg_textf(out, "\n");
    }
    COMMANDS(i)
    {
        OPTIONS(k, i)
        {
            const wg_option_info *o = wg_option_info_at(k);
            wg_textf(out, "complete -c waitgate -n '__fish_seen_subcommand_from %s' -l %s", wg_command_info_at(i)->name,
                     o->name);
            wg_textf(out, " -d ");
            fish_text(out, o->help);
            wg_text words = {0};
            switch (words_of(&words, k)) {
            case WORD: wg_textf(out, " -x -a '%s'", wg_text_of(&words)); break;
            case LIST: wg_textf(out, " -x -a '(__fish_append , %s)'", wg_text_of(&words)); break;
            case A_FILE: wg_textf(out, " -r"); break;
            case TYPED: wg_textf(out, " -x"); break;
            default: break;
            }
            wg_text_free(&words);
            wg_textf(out, "\n");
        }
        wg_text words = {0};
        arguments_of(&words, i);
        if (words.size)
            wg_textf(out, "complete -c waitgate -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
                     wg_command_info_at(i)->name, wg_text_of(&words));
        wg_text_free(&words);
    }
}

bool wg_manual(const char *option, const char *which, wg_text *out)
{
    static const struct {
        const char *shell;
        void (*write)(wg_text *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    if (strcmp(option, "--help-markdown") == 0) {
        markdown(out);
        return true;
    }
    if (strcmp(option, "--help-completion") == 0) {
        for (unsigned i = 0; i < sizeof shells / sizeof shells[0]; i++)
            if (strcmp(shells[i].shell, which) == 0) {
                shells[i].write(out);
                return true;
            }
        return false;
    }
    if (strcmp(option, "--help-man") != 0)
        return false;
    if (!*which) {
        man_main(out);
        return true;
    }
    COMMANDS(i)
    if (strcmp(wg_command_info_at(i)->name, which) == 0) {
        man_command(out, i);
        return true;
    }
    return false;
}
