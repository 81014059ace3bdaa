/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run whose time a host advances (<waitgate/tools.h>): the first and the last third of a command; the host does what lies in
 * between.
 */
#include <stdlib.h>
#include <string.h>
#include <waitgate/tools.h>

#include "cli/cluster_run.h"
#include "cli/drive.h"

struct wg_program {
    char **word; /* with the command's name, as argv */
    size_t words;
    char *tasm;
    wg_args args;
    char number[2][24]; /* texts of milestones, which `args` names */
    wg_session s;       /* of one tile */
    wg_driving drive;
    wg_chip_run *chip;       /* of a chip … */
    wg_cluster_job *cluster; /* … of several; both NULL: of one tile */
    bool ended, reports;     /* reports: there is something to report */
    int status;              /* exit status, after the end */
    char error[256];
};

/* The messages become the caller's, or nobody's. */
static void give(wg_text *text, char **to)
{
    wg_text_add(text, "", 0);
    if (to)
        *to = text->data;
    else
        wg_text_free(text);
}

static bool copy_words(wg_program *p, size_t count, const char *const *words, const char *tasm)
{
    if (count >= INT32_MAX || !(p->word = wg_calloc(count + 2, sizeof *p->word)) ||
        !(p->word[p->words++] = wg_strdup("waitgate")))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(p->word[p->words++] = wg_strdup(words[i])))
            return false;
    return !tasm || (p->tasm = wg_strdup(tasm));
}

/* What only a command can do. */
static bool refuse(const wg_args *args, wg_text *error)
{
    const unsigned takes =
        1u << WG_CMD_RUN | 1u << WG_CMD_CHECK | 1u << WG_CMD_TRACE | 1u << WG_CMD_PROFILE | 1u << WG_CMD_REPORT;
    if (!(takes >> args->command & 1)) {
        wg_textf(error, "waitgate: `%s` does not run one program; run, check, trace, profile and report do\n",
                 wg_command_info_at(args->command)->name);
        return false;
    }
    if (args->value[WG_OPT_SAVE_AT] || args->value[WG_OPT_SAVE_EVERY] || args->value[WG_OPT_SAVE_ON_FAILURE]) {
        wg_textf(
            error,
            "waitgate: a program's host saves it itself: wg_snapshot(), wg_grid_snapshot(), wg_cluster_snapshot()\n");
        return false;
    }
    return true;
}

static bool opens(wg_program *p, wg_text *error)
{
    wg_text said = {0};
    int status;
    const bool parsed = wg_args_parse(&p->args, (int)p->words, p->word, &said, error, &status);
    if (!parsed && !error->size)
        wg_textf(error, "waitgate: these words run nothing\n");
    wg_text_free(&said);
    p->args.input = p->tasm;
    p->args.input_bytes = p->tasm ? strlen(p->tasm) : 0;
    if (!parsed || !refuse(&p->args, error) || !wg_args_input(&p->args, error))
        return false;
    if (p->args.files == 1 && wg_is_cluster_argument(&p->args, p->args.file[0]))
        return (p->cluster = wg_cluster_open(&p->args, error)) != NULL;
    if (wg_is_chip_run(&p->args)) {
        p->chip = wg_chip_milestones(&p->args, p->number, error) ? wg_chip_open(&p->args, error) : NULL;
        if (p->chip)
            p->chip->ended = WG_ENDED_LIMIT;
        return p->chip != NULL;
    }
    if (!wg_session_open(&p->s, &p->args, error))
        return false;
    p->s.ended = WG_ENDED_LIMIT;
    p->drive = wg_drive_begin(&p->s);
    return true;
}

wg_program *wg_program_open(size_t count, const char *const *words, const char *tasm, char **errors)
{
    wg_text error = {.width = 100};
    wg_memory_begin();
    wg_program *p = wg_calloc(1, sizeof *p);
    const bool ok = p && copy_words(p, count, words, tasm) && opens(p, &error) && !wg_memory_failed();
    if (ok) {
        if (errors)
            *errors = NULL;
        return p;
    }
    if (!error.size)
        wg_textf(&error, "waitgate: out of memory\n");
    give(&error, errors);
    wg_program_close(p);
    return NULL;
}

wg_device *wg_program_device(wg_program *p) { return p->s.dev; }
wg_grid *wg_program_chip(wg_program *p) { return p->chip ? wg_chip_grid(p->chip) : NULL; }
wg_cluster *wg_program_cluster(wg_program *p) { return p->cluster ? p->cluster->cluster : NULL; }
const char *wg_program_error(const wg_program *p) { return p->error; }

wg_arch_id wg_program_arch(const wg_program *p)
{
    if (p->cluster)
        return p->cluster->file.base.grid.arch;
    return p->chip ? p->chip->file.grid.arch : p->s.desc.arch;
}

wg_elf *wg_program_elf(wg_program *p, unsigned chip, unsigned x, unsigned y, wg_core_id core)
{
    const wg_session *s = &p->s;
    wg_chip_run *run = p->chip;
    if (p->cluster)
        run = chip < p->cluster->file.chips ? p->cluster->chip[chip] : NULL;
    if (p->chip || p->cluster)
        s = run && x < wg_grid_width(run->grid) ? wg_chip_session(run, x, y) : NULL;
    return s && (unsigned)core < WG_CORES ? s->elf[core] : NULL;
}

bool wg_program_source(void *program, unsigned core, uint32_t pc, wg_source *out)
{
    wg_program *p = program;
    wg_source own = {0};
    const bool known = p->s.dev && wg_session_source(&p->s, core, pc, &own);
    return wg_source_give(&own, out) && known;
}

static wg_status fail(wg_program *p, const char *why)
{
    snprintf(p->error, sizeof p->error, "%s", why);
    return WG_ERR_STATE;
}

static wg_status run_chip(wg_program *p, uint64_t cycle, wg_stop *stop)
{
    static const wg_ended ends[] = {[WG_STOP_CYCLES] = WG_ENDED_LIMIT,
                                    [WG_STOP_DONE] = WG_ENDED_DONE,
                                    [WG_STOP_HUNG] = WG_ENDED_HUNG,
                                    [WG_STOP_UNTIL] = WG_ENDED_UNTIL,
                                    [WG_STOP_FINDING] = WG_ENDED_FINDING};
    if (wg_chip_advance(p->chip, cycle, stop) != WG_OK)
        return fail(p, p->chip->trouble.size ? wg_text_of(&p->chip->trouble) : wg_grid_error(p->chip->grid));
    p->chip->ended = ends[*stop];
    return WG_OK;
}

static wg_status run_cluster(wg_program *p, uint64_t cycle, wg_stop *stop)
{
    return wg_cluster_to(p->cluster, cycle, stop) == WG_OK ? WG_OK : fail(p, wg_cluster_error(p->cluster->cluster));
}

static wg_status run_tile(wg_program *p, uint64_t cycle, wg_stop *stop)
{
    static const wg_stop stops[] = {
        [WG_ENDED_DONE] = WG_STOP_DONE,    [WG_ENDED_UNTIL] = WG_STOP_UNTIL,     [WG_ENDED_HUNG] = WG_STOP_HUNG,
        [WG_ENDED_LIMIT] = WG_STOP_CYCLES, [WG_ENDED_FINDING] = WG_STOP_FINDING, [WG_ENDED_INTERRUPT] = WG_STOP_CYCLES};
    bool failed;
    wg_drive_to(&p->drive, cycle, &failed);
    *stop = stops[p->s.ended];
    return failed ? fail(p, wg_error(p->s.dev)) : WG_OK;
}

wg_status wg_program_run(wg_program *p, uint64_t cycles, wg_stop *stop)
{
    *stop = WG_STOP_CYCLES;
    if (p->ended)
        return fail(p, "the program has ended");
    wg_interrupt_forget(); /* by a command before */
    const uint64_t now = p->cluster ? wg_cluster_cycle(p->cluster->cluster)
                         : p->chip  ? wg_grid_cycle(p->chip->grid)
                                    : wg_cycle(p->s.dev);
    const uint64_t to = cycles < UINT64_MAX - now ? now + cycles : UINT64_MAX;
    return p->cluster ? run_cluster(p, to, stop) : p->chip ? run_chip(p, to, stop) : run_tile(p, to, stop);
}

int wg_program_end(wg_program *p, char **errors)
{
    wg_text said = {.width = 100}, error = {.width = 100};
    wg_run_result ignored = {0};
    if (p->ended) {
        wg_textf(&error, "waitgate: the program has ended\n");
        give(&error, errors);
        return WG_EXIT_ERROR;
    }
    wg_memory_begin();
    p->status = WG_EXIT_ERROR;
    if (p->cluster) {
        p->status = wg_cluster_finish(p->cluster, &said, &error);
    } else if (p->chip) {
        p->status = wg_chip_finish(p->chip, &ignored, &said, &error);
    } else {
        wg_drive_end(&p->drive);
        if (wg_session_inspect(&p->s, &error))
            p->status = wg_session_finish(&p->s, &ignored, &said, &error);
        wg_session_lost_memory(&p->s);
    }
    p->ended = true;
    p->reports = !wg_memory_failed() && (said.size || p->status != WG_EXIT_ERROR);
    if (wg_memory_failed()) {
        wg_textf(&error, "waitgate: out of memory\n");
        p->status = WG_EXIT_ERROR;
    }
    wg_text_free(&said); /* wg_program_report() says it in any form */
    give(&error, errors);
    return p->status;
}

char *wg_program_report(wg_program *p, bool json)
{
    wg_text out = {.width = 100}, error = {0};
    if (!p->reports)
        return NULL;
    p->args.value[WG_OPT_JSON] = json ? "" : NULL;
    wg_memory_begin();
    bool ok = true;
    if (p->cluster)
        ok = wg_cluster_report(p->cluster, &out, &error);
    else if (!p->chip)
        wg_report_run(&p->s, wg_report_status(&p->s), NULL, &out);
    else if (json)
        wg_chip_report_json(p->chip, p->status, NULL, &out);
    else
        wg_chip_report_text(p->chip, p->status, &out);
    wg_text_free(&error);
    if (!ok || out.failed || wg_memory_failed())
        wg_text_free(&out);
    else
        wg_text_add(&out, "", 0);
    return out.data;
}

void wg_program_close(wg_program *p)
{
    wg_text ignored = {0};
    if (!p)
        return;
    wg_cluster_close(p->cluster, &ignored);
    wg_text_free(&ignored);
    if (p->chip)
        wg_chip_close(p->chip);
    else
        wg_session_close(&p->s);
    wg_args_free(&p->args);
    for (size_t i = 0; i < p->words; i++)
        free(p->word[i]);
    free(p->word);
    free(p->tasm);
    free(p);
}
