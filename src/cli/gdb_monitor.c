/* SPDX-License-Identifier: Apache-2.0 */
/* gdb's `monitor`: what gdb itself has no words for. */
#include "cli/gdb.h"

#include <stdlib.h>
#include <string.h>

#include "num/formats.h"

void wg_gdb_state(wg_gdb *g, wg_text *out)
{
    wg_session *s = g->d.s;
    free(s->hang);
    if (!(s->hang = wg_calloc(1, sizeof *s->hang)))
        return;
    wg_hang_inspect(s->dev, &s->history, s->ended == WG_ENDED_HUNG, s->hang);
    wg_report_hang(s, out);
}

static void cycle(wg_gdb *g, const char *rest, wg_text *out)
{
    (void)rest;
    wg_textf(out, "cycle %llu; the history begins at %llu\n", (unsigned long long)wg_cycle(g->d.s->dev),
             (unsigned long long)g->d.checkpoint[0].cycle);
}

static void state(wg_gdb *g, const char *rest, wg_text *out)
{
    (void)rest;
    wg_gdb_state(g, out);
}

/* goto CYCLE, step CYCLES */
static void move(wg_gdb *g, const char *rest, bool relative, wg_text *out)
{
    uint64_t cycles, here = wg_cycle(g->d.s->dev);
    bool back = relative && *rest == '-';
    rest += back;
    if (!wg_parse_number(rest, strlen(rest), &cycles)) {
        wg_textf(out, "`%s` is no number of cycles\n", rest);
        return;
    }
    uint64_t to = !relative ? cycles : back ? here - (cycles < here ? cycles : here) : here + cycles;
    wg_pause why = wg_debug_go(&g->d, to);
    if (why == WG_PAUSE_FAILED)
        wg_textf(out, "%s\n", wg_error(g->d.s->dev));
    cycle(g, "", out);
    wg_textf(out, "gdb does not know that time has passed: `maintenance flush register-cache` shows it\n");
}

static void go(wg_gdb *g, const char *rest, wg_text *out) { move(g, rest, false, out); }
static void step(wg_gdb *g, const char *rest, wg_text *out) { move(g, rest, true, out); }

static void semaphores(wg_gdb *g, const char *rest, wg_text *out)
{
    (void)rest;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t value = 0, most = 0;
        wg_peek(g->d.s->dev, WG_SPACE_SEM_VALUE, i, &value);
        wg_peek(g->d.s->dev, WG_SPACE_SEM_MAX, i, &most);
        wg_textf(out, "semaphore %u: %u of %u\n", i, value, most);
    }
    for (unsigned i = 0; i < 8; i++) {
        uint32_t holder = 0;
        if (wg_peek(g->d.s->dev, WG_SPACE_MUTEX, i, &holder) == WG_OK && holder)
            wg_textf(out, "mutex %u: held by thread %u\n", i, holder - 1);
    }
}

/* What the bits of Dst mean as a number: bf16 or int32 or fp32. */
static double number_of(uint32_t bits, const char *format)
{
    if (strcmp(format, "int32") == 0)
        return wg_dst32_to_int(bits);
    uint32_t single = strcmp(format, "bf16") == 0 ? (uint32_t)wg_dst16_to_bf16((uint16_t)bits) << 16 : wg_dst32_to_fp32(bits);
    float value;
    memcpy(&value, &single, sizeof value);
    return (double)value;
}

/* dst ROW [hex|bf16|fp32|int32] */
static void dst(wg_gdb *g, const char *rest, wg_text *out)
{
    uint64_t row;
    size_t digits = strcspn(rest, " ");
    const char *format = rest + digits + strspn(rest + digits, " ");
    bool wide = strcmp(format, "fp32") == 0 || strcmp(format, "int32") == 0, hex = !*format || strcmp(format, "hex") == 0;
    if (!wg_parse_number(rest, digits, &row) || row >= 1024 || (!hex && !wide && strcmp(format, "bf16") != 0)) {
        wg_textf(out, "dst ROW [hex|bf16|fp32|int32]; ROW is below 1024\n");
        return;
    }
    wg_textf(out, "Dst row %llu:", (unsigned long long)row);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t bits = 0;
        if (wg_peek(g->d.s->dev, wide ? WG_SPACE_DST32 : WG_SPACE_DST, (uint32_t)row * 16 + i, &bits) != WG_OK) {
            wg_textf(out, " (there is no such row)");
            break;
        }
        if (hex)
            wg_textf(out, " %04x", bits);
        else
            wg_textf(out, " %g", number_of(bits, format));
    }
    wg_textf(out, "\n");
}

static void gprs(wg_gdb *g, const char *rest, wg_text *out)
{
    uint64_t thread;
    if (!wg_parse_number(rest, strlen(rest), &thread) || thread >= WG_THREADS) {
        wg_textf(out, "gprs THREAD; THREAD is 0, 1 or 2\n");
        return;
    }
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t value = 0;
        wg_peek(g->d.s->dev, WG_SPACE_GPR, (uint32_t)thread * 64 + i, &value);
        wg_textf(out, "%s%08x%s", i % 8 ? " " : "", value, i % 8 == 7 ? "\n" : "");
    }
}

static void findings(wg_gdb *g, const char *rest, wg_text *out)
{
    (void)rest;
    for (size_t i = 0; i < wg_finding_count(g->d.s->dev); i++)
        wg_report_finding(g->d.s, wg_finding_at(g->d.s->dev, i), out);
    if (!wg_finding_count(g->d.s->dev))
        wg_textf(out, "no findings\n");
}

static const struct {
    const char *name, *help;
    void (*run)(wg_gdb *g, const char *rest, wg_text *out);
} commands[] = {
    {"cycle", "cycle: the present cycle, and where the history begins", cycle},
    {"goto", "goto CYCLE: to that cycle, forwards or backwards", go},
    {"step", "step CYCLES: that many cycles on; a negative number goes back", step},
    {"state", "state: threads, cores, semaphores, mutexes, source banks, and who waits for whom", state},
    {"semaphores", "semaphores: values and maxima; mutexes that are held", semaphores},
    {"dst", "dst ROW [hex|bf16|fp32|int32]: a row of Dst, as it is stored or as numbers", dst},
    {"gprs", "gprs THREAD: a thread's 64 registers", gprs},
    {"findings", "findings: what was found so far", findings},
};

void wg_gdb_monitor(wg_gdb *g, const char *command, wg_text *out)
{
    size_t length = strcspn(command, " ");
    const char *rest = command + length + strspn(command + length, " ");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == length && strncmp(commands[i].name, command, length) == 0) {
            commands[i].run(g, rest, out);
            return;
        }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        wg_textf(out, "monitor %s\n", commands[i].help);
}
