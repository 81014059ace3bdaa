/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a cluster file: a chip run for each of its chips, links between them, time for all of them together, one report.
 *
 *     cluster.yaml ──parse──► chips, links ──load──► run ──► report per chip, dumps
 *
 * With several processes each has some of the chips, and the first one reports.
 */
#include "cli/cluster_run.h"
#include "cli/again.h"
#include "cli/drive.h"
#include "cli/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 1 << 17 }; /* at most so many cycles between two checks for Ctrl-C and for rebalancing */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

bool wg_cluster_refuse(const wg_args *args, wg_text *error)
{
    const unsigned refused = 1u << WG_CMD_WHY | 1u << WG_CMD_GDB | 1u << WG_CMD_DEBUG;
    for (size_t i = 0; refused >> args->command & 1 && i < args->files; i++)
        if (wg_is_cluster_argument(args, args->file[i])) {
            wg_textf(
                error,
                "waitgate: %s is a cluster file, which can be run, checked, traced, profiled, reported and explored; "
                "this command takes one chip or one tile\n",
                args->file[i]);
            return false;
        }
    return true;
}

static bool refuse(const wg_args *args, wg_text *error)
{
    if (args->value[WG_OPT_OF]) {
        wg_textf(error, "waitgate: --of does not go with a cluster file: ask about one of its chips alone\n");
        return false;
    }
    if (args->files != 1) {
        wg_textf(error, "waitgate: a cluster file is the only file of a run\n");
        return false;
    }
    if (wg_ranks_started() && (args->value[WG_OPT_WHAT_IF] || args->value[WG_OPT_WAITS])) {
        wg_textf(error, "waitgate: --%s runs a cluster file in one process: start it without mpirun\n",
                 args->value[WG_OPT_WAITS] ? "waits" : "what-if");
        return false;
    }
    return wg_chip_refuse(args, error);
}

/* Files that are written for each chip: their names have {chip}. */
static const struct {
    wg_option option;
    const char *name;
} named[] = {{WG_OPT_TRACE_FILE, "trace"},
             {WG_OPT_LOG, "log"},
             {WG_OPT_OUTPUT, "output"},
             {WG_OPT_FOLDED, "folded"},
             {WG_OPT_CALLGRIND, "callgrind"}};

static bool names_differ(const wg_args *args, unsigned chips, wg_text *error)
{
    for (unsigned i = 0; i < sizeof named / sizeof *named; i++) {
        const char *name = args->value[named[i].option];
        if (name && chips > 1 && !strstr(name, "{chip}")) {
            wg_textf(error,
                     "waitgate: --%s: there is a file for each chip: put {chip} into the name, as in `chip-{chip}%s`\n",
                     named[i].name, strrchr(name, '.') ? strrchr(name, '.') : "");
            return false;
        }
    }
    return true;
}

/* The options for this chip. */
static bool open_args(wg_cluster_job *r, wg_chip_run *chip, unsigned number)
{
    wg_args *own = &r->own[number].args;
    *own = *r->args;
    own->value[WG_OPT_SARIF] = NULL; /* one file covers all chips */
    for (unsigned i = 0; i < sizeof named / sizeof *named; i++) {
        const char *name = r->args->value[named[i].option];
        if (named[i].option == WG_OPT_OUTPUT && !name && r->args->command == WG_CMD_TRACE)
            name = "trace-{chip}.json";
        if (named[i].option == WG_OPT_OUTPUT && !name && r->args->command == WG_CMD_REPORT)
            name = "report-{chip}.html";
        if (name && !(own->value[named[i].option] = r->own[number].name[i] = wg_chip_name(name, NULL, &number)))
            return false;
    }
    chip->args = own;
    return true;
}

/* The chip file that an entry names. */
static bool read_chip_file(wg_cluster_job *r, unsigned number, wg_chip_file *out)
{
    const wg_cluster_member *m = &r->file.chip[number];
    const wg_chip_run base = {.file = r->file.base, .of_cluster = true, .number = number};
    char message[512], *path = wg_chip_path(&base, m->path, NULL);
    size_t bytes;
    free(r->text[number]);
    if (!path || !(r->text[number] = wg_file_read(path, &bytes, message, sizeof message))) {
        wg_chip_complain(&r->file.base, m->mark, "chip %u: %s", number, path ? message : "out of memory");
        free(path);
        return false;
    }
    bool right = wg_chip_parse(out, m->path, (const char *)r->text[number], bytes);
    if (right && out->grid.arch != r->file.base.grid.arch) {
        wg_chip_complain(&r->file.base, m->mark, "chip %u: %s is for the other architecture", number, m->path);
        right = false;
    }
    free(path);
    return right;
}

bool wg_cluster_open_chip(wg_cluster_job *r, unsigned i, wg_text *error)
{
    wg_chip_run *chip = r->chip[i] = wg_calloc(1, sizeof *chip);
    const wg_grid_desc *g = &r->file.base.grid;
    if (!chip || !open_args(r, chip, i)) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    chip->of_cluster = true;
    chip->number = i;
    chip->unseen = r->unseen;
    chip->scaled = r->scaled ? r->scaled[i] : NULL;
    if (r->file.chip[i].path) {
        if (!read_chip_file(r, i, &chip->file))
            return false;
    } else {
        chip->file = r->file.chip[i].chip;
        r->file.chip[i].chip = (wg_chip_file){.name = NULL};
    }
    chip->file.name = r->file.base.name; /* files are relative to it */
    const uint32_t harvested = chip->file.grid.harvested | (r->file.harvested ? r->file.harvested[i] : 0);
    chip->file.grid = *g;
    chip->file.grid.harvested = harvested;
    chip->file.grid.threads = 1;
    if (g->seed) /* each chip has its own seed */
        chip->file.grid.seed = g->seed + i * UINT64_C(0x9E3779B97F4A7C15);
    chip->file.max_cycles = r->file.base.max_cycles;
    return wg_chip_begin(chip, error);
}

static bool place_chip(wg_cluster_job *r, unsigned i, wg_text *error)
{
    if (!wg_cluster_open_chip(r, i, error))
        return false;
    if (wg_cluster_place(r->cluster, i, r->chip[i]->grid) == WG_OK)
        return true;
    wg_textf(error, "waitgate: %s\n", wg_cluster_error(r->cluster));
    return false;
}

static bool open_links(wg_cluster_job *r)
{
    bool right = true;
    for (size_t i = 0; i < r->file.wires; i++) {
        const wg_cluster_wire *w = &r->file.wire[i];
        if (wg_cluster_connect(r->cluster, &w->link, NULL) != WG_OK) {
            wg_chip_complain(&r->file.base, w->mark, "%s", wg_cluster_error(r->cluster));
            right = false;
        }
    }
    return right;
}

static bool read_file(wg_cluster_job *r, wg_text *error)
{
    char message[512];
    size_t bytes;
    if (!refuse(r->args, error) || !wg_save_check(r->args, error))
        return false;
    if (!(r->source = wg_args_read(r->args, r->args->file[0], &bytes, message, sizeof message))) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    return wg_cluster_parse(&r->file, r->args->file[0], (const char *)r->source, bytes) &&
           wg_chip_options(r->args, &r->file.base, error) && names_differ(r->args, r->file.chips, error);
}

/* All processes read the file. If it cannot be used, the first one that finds that says why. */
static bool read_together(wg_cluster_job *r, wg_text *error)
{
    r->ranks = wg_ranks_open(error);
    if (error->size)
        return false;
    const bool right = read_file(r, error);
    wg_transport *t = r->ranks;
    uint64_t fails = !t || right ? UINT64_MAX : t->rank;
    if (t && !t->exchange(t, NULL, NULL, NULL, &fails, 1))
        return false;
    if (t && fails != UINT64_MAX && fails != t->rank)
        error->size = r->file.base.report.size = 0;
    return fails == UINT64_MAX && right;
}

/* The file is read. */
static bool place_chips(wg_cluster_job *r, wg_text *error)
{
    /* Sinks are per chip; sinks that only count share no state at all. */
    const bool counts =
        r->args->command == WG_CMD_RUN && !r->args->value[WG_OPT_TRACE_FILE] && !r->args->value[WG_OPT_LOG];
    unsigned *rank = r->ranks ? wg_cluster_placement(&r->file, r->ranks->ranks) : NULL;
    const wg_cluster_desc desc = {.struct_size = sizeof desc,
                                  .chips = r->file.chips,
                                  .threads = r->file.base.grid.threads,
                                  .ranks = r->ranks,
                                  .rank = rank,
                                  .observers_apart = counts};
    r->stays = !counts || r->args->value[WG_OPT_STATS] || r->args->value[WG_OPT_TIMELINE];
    r->chip = wg_calloc(r->file.chips, sizeof *r->chip);
    r->text = wg_calloc(r->file.chips, sizeof *r->text);
    r->own = wg_calloc(r->file.chips, sizeof *r->own);
    const bool made =
        r->chip && r->text && r->own && (!r->ranks || rank) && wg_cluster_create(&desc, &r->cluster) == WG_OK;
    free(rank);
    if (!made) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    if (r->ranks && r->ranks->ranks > r->file.chips) {
        if (r->ranks->rank == 0) /* one report is enough */
            wg_textf(error, "waitgate: %s has %u chips, too few for %u processes: each has one at least\n",
                     r->file.base.name, r->file.chips, r->ranks->ranks);
        return false;
    }
    for (unsigned i = 0; i < r->file.chips; i++)
        if (wg_cluster_here(r->cluster, i) && !place_chip(r, i, error))
            return false;
    const char *resume = r->args->value[WG_OPT_RESUME];
    return open_links(r) && (!resume || wg_cluster_resume(r, resume, error));
}

static bool open_run(wg_cluster_job *r, wg_text *error) { return read_together(r, error) && place_chips(r, error); }

bool wg_cluster_open_unseen(wg_cluster_job *v, const wg_args *args, const uint64_t *seed, uint64_t max_cycles,
                            const wg_what_if *const *scaled, wg_text *error)
{
    *v = (wg_cluster_job){.args = args, .unseen = true, .scaled = scaled, .stays = true};
    if (!read_file(v, error))
        return false;
    v->file.base.grid.seed = seed ? *seed : v->file.base.grid.seed;
    v->file.base.grid.threads = 1;
    v->file.base.max_cycles = max_cycles ? max_cycles : v->file.base.max_cycles;
    return place_chips(v, error);
}

bool wg_cluster_open_again(wg_cluster_job *v, const wg_cluster_job *r, uint64_t seed, const wg_what_if *const *scaled,
                           wg_text *error)
{
    return wg_cluster_open_unseen(v, r->args, &seed, wg_again_limit(wg_cluster_cycle(r->cluster)), scaled, error);
}

void wg_cluster_end_run(wg_cluster_job *r, wg_text *error)
{
    wg_text_add(error, wg_text_of(&r->file.base.report), r->file.base.report.size);
    wg_cluster_destroy(r->cluster);
    for (unsigned i = 0; r->chip && i < r->file.chips; i++)
        if (r->chip[i]) {
            const wg_chip_file *f = &r->chip[i]->file;
            wg_text_add(error, wg_text_of(&f->report), f->report.size);
            wg_chip_end(r->chip[i]);
            free(r->chip[i]);
        }
    for (unsigned i = 0; r->text && i < r->file.chips; i++)
        free(r->text[i]);
    for (unsigned i = 0; r->own && i < r->file.chips; i++)
        for (unsigned k = 0; k < WG_CLUSTER_NAMES; k++)
            free(r->own[i].name[k]);
    free(r->profiled);
    wg_what_if_free(r->what_if);
    wg_waits_free(r->waits);
    free(r->own);
    free(r->chip);
    free(r->text);
    wg_cluster_file_free(&r->file);
    free(r->source);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Do the `until` conditions of all chips hold? Has anybody pressed Ctrl-C? The slowest process sets the pace. */
static bool agree(wg_cluster_job *r, bool *waits, bool *holds, bool *interrupted, uint64_t *pace)
{
    uint64_t value[4] = {1, 1, wg_interrupted() ? 0 : 1, *pace};
    for (unsigned i = 0; i < r->file.chips; i++)
        if (r->chip[i] && wg_chip_has_until(r->chip[i])) {
            value[0] = 0;
            value[1] &= wg_chip_until_holds(r->chip[i]);
        }
    if (!wg_cluster_least(r->cluster, value, 4))
        return false;
    *waits = !value[0];
    *holds = !value[0] && value[1];
    *interrupted = !value[2];
    *pace = value[3];
    return true;
}

static bool failed(const wg_cluster_job *r, wg_text *error)
{
    wg_textf(error, "waitgate: %s\n", wg_cluster_error(r->cluster));
    return false;
}

/* Watches progress in the last part of a run that --max-cycles will end. */
static void watch_progress(wg_cluster_job *r)
{
    for (unsigned i = 0; i < r->file.chips; i++)
        for (size_t k = 0; r->chip[i] && k < r->chip[i]->tiles; k++)
            wg_progress_watch(&r->chip[i]->tile[k].s);
}

/* Time is over. */
static bool inspect(wg_cluster_job *r, wg_text *error)
{
    for (unsigned i = 0; i < r->file.chips; i++)
        if (r->chip[i]) {
            r->chip[i]->ended = r->ended;
            if (!wg_chip_inspect(r->chip[i], error) || !wg_chip_grade_races(r->chip[i], error) ||
                !wg_chip_outputs_close(r->chip[i], error) || !wg_chip_profile_end(r->chip[i], error))
                return false;
        }
    return true;
}

/* *save_at: the cycle of the next snapshot. */
static bool advance(wg_cluster_job *r, uint64_t *save_at, wg_text *error)
{
    const uint64_t limit = r->file.base.max_cycles, window = wg_cluster_window(r->cluster);
    bool waits, holds, interrupted;
    uint64_t same = 0;
    if (!agree(r, &waits, &holds, &interrupted, &same))
        return failed(r, error);
    const uint64_t always = wg_cluster_moves_always() ? 6 * window : 0;
    wg_pace pace = wg_pace_begin(always && !waits ? always : window, waits ? window : always ? always : STRETCH);
    *save_at = r->unseen ? UINT64_MAX : wg_save_next(r->args, wg_cluster_cycle(r->cluster));
    uint64_t watch_from = r->unseen ? UINT64_MAX : wg_progress_from(wg_cluster_cycle(r->cluster), limit);
    wg_meter meter = wg_meter_begin(r->unseen ? "running again" : NULL, wg_cluster_cycle(r->cluster), limit);
    meter.terminal = meter.terminal && (!r->ranks || r->ranks->rank == 0);
    wg_interrupt_begin();
    for (bool going = true; going;) {
        const uint64_t now = wg_cluster_cycle(r->cluster);
        wg_meter_show(&meter, now);
        if (now >= watch_from) {
            watch_progress(r);
            watch_from = UINT64_MAX;
            r->stays = true;
        }
        if (now == *save_at) {
            /* Only the first process writes: all end together if it cannot. */
            uint64_t saved = wg_save_due(r->args, now, wg_cluster_save, r, error);
            const bool agreed = wg_cluster_least(r->cluster, &saved, 1);
            if (!agreed || !saved) {
                wg_interrupt_end();
                wg_meter_end(&meter);
                return agreed ? false : failed(r, error);
            }
            *save_at = wg_save_next(r->args, now + 1);
        }
        uint64_t next = (now / pace.cycles + 1) * pace.cycles;
        next = next < *save_at ? next : *save_at;
        next = next < watch_from ? next : watch_from;
        wg_stop stop;
        const bool ran = wg_cluster_run(r->cluster, (next < limit ? next : limit) - now, &stop) == WG_OK;
        wg_pace_adapt(&pace);
        if (!ran || !agree(r, &waits, &holds, &interrupted, &pace.cycles)) {
            wg_interrupt_end();
            wg_meter_end(&meter);
            return failed(r, error);
        }
        going = false;
        if (holds)
            r->ended = WG_ENDED_UNTIL;
        else if (stop == WG_STOP_FINDING)
            r->ended = WG_ENDED_FINDING;
        else if (stop == WG_STOP_DONE || stop == WG_STOP_HUNG)
            r->ended = stop == WG_STOP_DONE ? WG_ENDED_DONE : WG_ENDED_HUNG;
        else if (interrupted)
            r->ended = WG_ENDED_INTERRUPT;
        else if (wg_cluster_cycle(r->cluster) >= limit)
            r->ended = WG_ENDED_LIMIT;
        else
            going = true;
        if (going && !wg_cluster_balance(r, error)) {
            wg_interrupt_end();
            wg_meter_end(&meter);
            return false;
        }
    }
    wg_interrupt_end();
    wg_meter_end(&meter);
    return true;
}

bool wg_cluster_drive(wg_cluster_job *r, wg_text *error)
{
    uint64_t save_at;
    return advance(r, &save_at, error);
}

static bool drive(wg_cluster_job *r, wg_text *error)
{
    uint64_t save_at;
    if (!advance(r, &save_at, error) || !inspect(r, error))
        return false;
    const char *failure = r->args->value[WG_OPT_SAVE_ON_FAILURE];
    return wg_cluster_profile_end(r, error) && wg_save_missed(r->args, wg_cluster_cycle(r->cluster), save_at, error) &&
           (!failure || r->ended != WG_ENDED_HUNG || wg_cluster_save(r, failure, error)) &&
           wg_cluster_what_if(r, error) && wg_cluster_judge_waits(r, error);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

int wg_run_cluster(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error)
{
    wg_cluster_job r = {.args = args, .runs = result->sarif, .status = WG_EXIT_ERROR};
    bool ok = open_run(&r, error) && drive(&r, error) && wg_cluster_report(&r, out, error);
    if (ok)
        result->cycles = wg_cluster_cycle(r.cluster);
    for (unsigned i = 0; ok && i < r.file.chips; i++)
        ok = !r.chip[i] || wg_chip_images(r.chip[i], true, error);
    wg_transport *ranks = r.ranks;
    int status = ok ? r.status : WG_EXIT_ERROR;
    wg_cluster_end_run(&r, error);
    wg_ranks_close(ranks, args, status, error);
    return status;
}

/* ---- The whole, by a host ---------------------------------------------------------------------------------------- */

wg_cluster_job *wg_cluster_open(const wg_args *args, wg_text *error)
{
    wg_cluster_job *r = wg_calloc(1, sizeof *r);
    if (wg_ranks_started()) {
        wg_textf(error, "waitgate: mpirun has started several processes: run a cluster file as a command\n");
    } else if (r) {
        *r = (wg_cluster_job){.args = args, .status = WG_EXIT_ERROR, .stays = true, .ended = WG_ENDED_LIMIT};
        if (open_run(r, error))
            return r;
        wg_cluster_end_run(r, error);
    }
    free(r);
    return NULL;
}

wg_status wg_cluster_to(wg_cluster_job *r, uint64_t cycle, wg_stop *stop)
{
    const uint64_t window = wg_cluster_window(r->cluster);
    const uint64_t limit = cycle < r->file.base.max_cycles ? cycle : r->file.base.max_cycles;
    bool waits, holds, interrupted;
    uint64_t pace = 0;
    *stop = WG_STOP_CYCLES;
    for (uint64_t now; *stop == WG_STOP_CYCLES && (now = wg_cluster_cycle(r->cluster)) < limit;) {
        if (!agree(r, &waits, &holds, &interrupted, &pace))
            return WG_ERR_STATE;
        const uint64_t next = waits ? (now / window + 1) * window : limit;
        wg_status status = wg_cluster_run(r->cluster, (next < limit ? next : limit) - now, stop);
        if (status != WG_OK)
            return status;
        if (!agree(r, &waits, &holds, &interrupted, &pace))
            return WG_ERR_STATE;
        if (holds && wg_cluster_cycle(r->cluster) % window == 0)
            *stop = WG_STOP_UNTIL;
    }
    static const wg_ended ends[] = {[WG_STOP_CYCLES] = WG_ENDED_LIMIT,
                                    [WG_STOP_DONE] = WG_ENDED_DONE,
                                    [WG_STOP_HUNG] = WG_ENDED_HUNG,
                                    [WG_STOP_UNTIL] = WG_ENDED_UNTIL,
                                    [WG_STOP_FINDING] = WG_ENDED_FINDING};
    r->ended = ends[*stop];
    return WG_OK;
}

int wg_cluster_finish(wg_cluster_job *r, wg_text *out, wg_text *error)
{
    bool ok = inspect(r, error) && wg_cluster_profile_end(r, error) && wg_cluster_what_if(r, error) &&
              wg_cluster_judge_waits(r, error) && wg_cluster_report(r, out, error);
    for (unsigned i = 0; ok && i < r->file.chips; i++)
        ok = wg_chip_images(r->chip[i], true, error);
    return ok ? r->status : WG_EXIT_ERROR;
}

void wg_cluster_close(wg_cluster_job *r, wg_text *error)
{
    if (r)
        wg_cluster_end_run(r, error);
    free(r);
}
