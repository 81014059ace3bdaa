/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate debug`: the debugger's commands at a prompt, or from a pipe. */
#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/debugging.h"

typedef struct prompt {
    wg_debugging *g;
    char text[64];
} prompt;

static const char *name_of(const wg_debugging *g, char *room, size_t bytes)
{
    if (g->chip)
        snprintf(room, bytes, "%u-%u %s", g->who.x, g->who.y, wg_agent_name(g->who.agent));
    else
        snprintf(room, bytes, "%s", wg_agent_name(g->who.agent));
    return room;
}

static void answer_json(wg_debugging *g, const char *line, const wg_text *answer)
{
    char name[32];
    wg_debug_state s;
    wg_text out = {0}, command = {0};
    wg_json json = {.out = &out}, *j = &json;
    wg_text_add(&command, line, strcspn(line, "\r\n"));
    wg_debug_state_get(g->d, &s);
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "command", wg_text_of(&command));
    wg_json_uint(j, "cycle", s.cycle);
    wg_json_text(j, "who", name_of(g, name, sizeof name));
    wg_json_text(j, "answer", wg_text_of(answer));
    wg_json_close(j, '}');
    wg_json_one_line(&out);
    fputs(wg_text_of(&out), stdout);
    wg_text_free(&out);
    wg_text_free(&command);
}

/* Executes a line and prints the answer; false: the user quits. */
static bool obey(wg_debugging *g, const char *line, bool json)
{
    wg_text answer = {0};
    const bool stays = wg_debugging_obey(g, line, &answer);
    if (json && stays)
        answer_json(g, line, &answer);
    else
        fputs(wg_text_of(&answer), stdout);
    wg_text_free(&answer);
    return stays;
}

static void from_pipe(wg_debugging *g, bool json)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0 && obey(g, line, json))
        fflush(stdout);
    free(line);
}

static char *prompt_text(EditLine *editor)
{
    prompt *p;
    char name[32];
    wg_debug_state s;
    el_get(editor, EL_CLIENTDATA, &p);
    wg_debug_state_get(p->g->d, &s);
    snprintf(p->text, sizeof p->text, "%llu %s> ", (unsigned long long)s.cycle, name_of(p->g, name, sizeof name));
    return p->text;
}

static void from_terminal(wg_debugging *g, bool json)
{
    prompt p = {.g = g};
    HistEvent event;
    EditLine *editor = el_init("waitgate", stdin, stdout, stderr);
    History *past = history_init();
    char last[512] = "";
    const char *line;
    int count;
    if (editor && past) {
        history(past, &event, H_SETSIZE, 1000);
        el_set(editor, EL_CLIENTDATA, &p);
        el_set(editor, EL_PROMPT, prompt_text);
        el_set(editor, EL_EDITOR, "emacs");
        el_set(editor, EL_HIST, history, past);
        while ((line = el_gets(editor, &count)) != NULL && count > 0) {
            if (line[strspn(line, " \t\r\n")]) {
                history(past, &event, H_ENTER, line);
                snprintf(last, sizeof last, "%s", line);
            }
            if (!obey(g, last, json)) /* an empty line repeats the last */
                break;
        }
    }
    if (past)
        history_end(past);
    if (editor)
        el_end(editor);
}

int wg_command_debug(const wg_args *args, wg_text *out, wg_text *error)
{
    (void)out;
    wg_debugging g;
    bool ok = wg_debugging_open(&g, args, wg_debugging_interrupted, error);
    if (ok && isatty(STDIN_FILENO))
        from_terminal(&g, args->value[WG_OPT_JSON]);
    else if (ok)
        from_pipe(&g, args->value[WG_OPT_JSON]);
    wg_debugging_close(&g);
    return ok ? WG_EXIT_DONE : WG_EXIT_ERROR;
}
