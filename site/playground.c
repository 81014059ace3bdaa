/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line for a page: commands as lists of words, and the debugger's prompt. Files are those of the page's own memory.
 *
 *     playground.js ──play_command("run\nprogram.tasm")──> wg_command_main()
 *                   ──play_debug("step 10")──────────────> wg_debugging_obey()
 */
#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/debugging.h"

enum { MOST_WORDS = 64 };

static wg_text output, complaint;
static wg_debugging debugging;
static wg_args debugged;
static bool open;

static void begin(void)
{
    wg_text_free(&output);
    wg_text_free(&complaint);
    setenv("COLUMNS", "100", 1); /* of the page's pane */
}

/* "waitgate" and the words that newlines separate. They point into *storage, which the caller frees. */
static int split(const char *lines, char **argv, char **storage)
{
    int argc = 1;
    argv[0] = "waitgate";
    *storage = strdup(lines);
    for (char *word = *storage; word && *word && argc < MOST_WORDS; argc++) {
        argv[argc] = word;
        char *end = strchr(word, '\n');
        if (end)
            *end++ = 0;
        word = end;
    }
    argv[argc] = NULL;
    return argc;
}

EMSCRIPTEN_KEEPALIVE int play_command(const char *lines)
{
    char *argv[MOST_WORDS + 1], *storage;
    int argc = split(lines, argv, &storage);
    begin();
    int status = wg_command_main(argc, argv, &output, &complaint);
    free(storage);
    return status;
}

EMSCRIPTEN_KEEPALIVE const char *play_output(void) { return wg_text_of(&output); }
EMSCRIPTEN_KEEPALIVE const char *play_complaint(void) { return wg_text_of(&complaint); }

EMSCRIPTEN_KEEPALIVE void play_debug_end(void)
{
    if (open)
        wg_debugging_close(&debugging);
    open = false;
}

/* Opens the program under the debugger: the words of a `waitgate debug` command. Returns whether it can be read. */
EMSCRIPTEN_KEEPALIVE int play_debug_begin(const char *lines)
{
    static char *storage;
    char *argv[MOST_WORDS + 1];
    play_debug_end();
    free(storage);
    int argc = split(lines, argv, &storage);
    begin();
    wg_memory_begin();
    int status;
    wg_args_free(&debugged);
    if (!wg_args_parse(&debugged, argc, argv, &output, &complaint, &status))
        return 0;
    open = wg_debugging_open(&debugging, &debugged, wg_debugging_interrupted, &complaint);
    if (!open)
        wg_debugging_close(&debugging);
    return open;
}

EMSCRIPTEN_KEEPALIVE void play_debug(const char *line)
{
    begin();
    if (!open)
        wg_textf(&complaint, "no program is open\n");
    else if (!wg_debugging_obey(&debugging, line, &output))
        play_debug_end();
}

EMSCRIPTEN_KEEPALIVE double play_cycle(void)
{
    wg_debug_state s = {0};
    if (open)
        wg_debug_state_get(debugging.d, &s);
    return (double)s.cycle;
}
