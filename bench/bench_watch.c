/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of watching a run, and of going back in it: the examples' matrix product, repeated for a million cycles.
 *
 *     profile_ratio, trace_…_ratio   time of the whole command, to that of `waitgate run`
 *     history_ratio        the run under the debugger, with checkpoints for going back, to that of the machine alone
 *     back_one_ms          one instruction back, at the end of it
 *     back_to_write_s      back to the last write of a word, per million cycles
 *     back_through_s       back through the whole run for a word that nobody writes, per million cycles
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/debugging.h"
#include "clock.h"

enum { TRIES = 5, REPETITIONS = 8700, SHORT = 870, PARAMETERS = 0x20000 };

static char parameters[2][64]; /* --load: many repetitions, a tenth */
static const char *const programs[] = {WG_EXAMPLES "/matmul.brisc.elf", WG_EXAMPLES "/matmul.trisc0.elf",
                                       WG_EXAMPLES "/matmul.trisc1.elf", WG_EXAMPLES "/matmul.trisc2.elf"};

static void give_up(const char *what, wg_text *why)
{
    fprintf(stderr, "%s: %s\n", what, wg_text_of(why));
    exit(1);
}

/* The kernel's parameters: four passes, `repetitions` times. Each has its own line of L1. */
static void write_parameters(char name[64], uint32_t repetitions)
{
    uint32_t words[5] = {4, 0, 0, 0, repetitions};
    snprintf(name, 64, "/tmp/wg_bench_XXXXXX");
    int file = mkstemp(name);
    if (file < 0 || write(file, words, sizeof words) != (ssize_t)sizeof words) {
        perror(name);
        exit(1);
    }
    close(file);
}

static double command(const char *name, const char *option, const char *value)
{
    char load[128];
    char *argv[16] = {"waitgate", (char *)(uintptr_t)name, "--quiet", "--load", load};
    int argc = 5;
    snprintf(load, sizeof load, "0x%x=%s", PARAMETERS, parameters[1]);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        argv[argc++] = (char *)(uintptr_t)programs[i];
    if (option) {
        argv[argc++] = (char *)(uintptr_t)option;
        argv[argc++] = (char *)(uintptr_t)value;
    }
    wg_text out = {0}, error = {0};
    const double began = now();
    if (wg_command_main(argc, argv, &out, &error) != 0)
        give_up(name, &error);
    const double took = now() - began;
    wg_text_free(&out);
    wg_text_free(&error);
    return took;
}

static void open_debugger(wg_debugging *g, wg_args *args, wg_given *given, const char *which, const char *history)
{
    static char load[128];
    wg_text error = {0};
    snprintf(load, sizeof load, "0x%x=%s", PARAMETERS, which);
    *given = (wg_given){WG_OPT_LOAD, load};
    *args = (wg_args){.command = WG_CMD_GDB,
                      .file = (const char **)(uintptr_t)programs,
                      .files = sizeof programs / sizeof *programs,
                      .given = given,
                      .givens = 1};
    args->value[WG_OPT_HISTORY] = history;
    if (!wg_debugging_open(g, args, NULL, &error))
        give_up("debugger", &error);
}

/* Under the debugger, with its history; or the machine alone. */
static double under_debugger(bool recorded)
{
    wg_debugging g;
    wg_args args;
    wg_given given;
    open_debugger(&g, &args, &given, parameters[0], NULL);
    const double began = now();
    if (recorded)
        wg_debug_continue(g.d);
    else
        wg_run(g.s.dev, UINT64_MAX, NULL);
    const double took = now() - began;
    wg_debugging_close(&g);
    return took;
}

static double median(double *sample)
{
    qsort(sample, TRIES, sizeof *sample, by_value);
    return sample[TRIES / 2];
}

static void going_back(void)
{
    double one[TRIES], write[TRIES], through[TRIES];
    wg_debugging g;
    wg_args args;
    wg_given given;
    wg_debug_state state;
    open_debugger(&g, &args, &given, parameters[0], NULL);
    wg_debug_continue(g.d);
    wg_debug_state_get(g.d, &state);
    const uint64_t end = state.cycle;
    const double millions = (double)end / 1e6;
    const wg_who t1 = {.agent = WG_AGENT_CORE_T1};
    for (unsigned i = 0; i < TRIES; i++) {
        wg_debug_go(g.d, end);
        double began = now();
        wg_debug_step_back(g.d, t1);
        one[i] = 1e3 * (now() - began);

        wg_debug_go(g.d, end);
        wg_debug_watch(g.d, 0x20080, 4, WG_WATCH_WRITE, true); /* T2 writes it at the end */
        began = now();
        wg_debug_back(g.d);
        write[i] = (now() - began) / millions;
        wg_debug_watch(g.d, 0x20080, 4, WG_WATCH_WRITE, false);

        wg_debug_go(g.d, end);
        wg_debug_watch(g.d, 0x2FF00, 4, WG_WATCH_WRITE, true);
        began = now();
        if (wg_debug_back(g.d) != WG_PAUSE_BEGIN)
            fprintf(stderr, "somebody writes 0x2ff00\n");
        through[i] = (now() - began) / millions;
        wg_debug_watch(g.d, 0x2FF00, 4, WG_WATCH_WRITE, false);
    }
    wg_debugging_close(&g);
    printf("back_one_ms %.2f ms\nback_to_write_s %.3f s\nback_through_s %.3f s\n", median(one), median(write),
           median(through));
}

int main(void)
{
    static const struct {
        const char *name, *command, *option, *value;
    } watched[] = {{"profile_ratio", "profile", NULL, NULL},
                   {"trace_json_ratio", "run", "--trace", "/tmp/wg_bench.json"},
                   {"trace_pftrace_ratio", "run", "--trace", "/tmp/wg_bench.pftrace"},
                   {"trace_zst_ratio", "run", "--trace", "/tmp/wg_bench.pftrace.zst"},
                   {"trace_kanata_ratio", "run", "--trace", "/tmp/wg_bench.kanata"}};
    enum { WATCHED = sizeof watched / sizeof *watched };
    double ratio[WATCHED + 1][TRIES];
    write_parameters(parameters[0], REPETITIONS);
    write_parameters(parameters[1], SHORT);
    for (unsigned i = 0; i < TRIES; i++) {
        const double plain = command("run", NULL, NULL);
        for (unsigned k = 0; k < WATCHED; k++)
            ratio[k][i] = command(watched[k].command, watched[k].option, watched[k].value) / plain;
        ratio[WATCHED][i] = under_debugger(true) / under_debugger(false);
    }
    for (unsigned k = 0; k < WATCHED; k++) {
        printf("%s %.2f x\n", watched[k].name, median(ratio[k]));
        if (watched[k].value)
            unlink(watched[k].value);
    }
    printf("history_ratio %.2f x\n", median(ratio[WATCHED]));
    going_back();
    unlink(parameters[0]);
    unlink(parameters[1]);
    return 0;
}
