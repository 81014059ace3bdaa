/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a cluster file: a chip run for each of its chips, links between them, time for all of them together, one report.
 *
 *     cluster.yaml ──parse──► chips, links ──load──► run ──► report per chip, dumps
 *
 * With several processes each has some of the chips, and the first one reports.
 */
#include "cli/cluster_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 1 << 17 }; /* cycles between two checks for Ctrl-C */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool refuse(const wg_args *args, wg_text *error)
{
    static const struct {
        wg_option option;
        const char *name;
    } refused[] = {{WG_OPT_LOG, "log"}, {WG_OPT_TRACE_FILE, "trace"}, {WG_OPT_SARIF, "sarif"}};
    if (args->command != WG_CMD_RUN && args->command != WG_CMD_CHECK) {
        wg_textf(error, "waitgate: a cluster file can be run and checked; this command takes one chip or one tile\n");
        return false;
    }
    if (args->files != 1) {
        wg_textf(error, "waitgate: a cluster file is the only file of a run\n");
        return false;
    }
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        if (args->value[refused[i].option]) {
            wg_textf(error, "waitgate: --%s does not take a cluster file: run one of its chips alone\n",
                     refused[i].name);
            return false;
        }
    return wg_chip_refuse(args, error);
}

/* The chip file that an entry names. */
static bool read_chip_file(wg_cluster_job *r, unsigned number, wg_chip_file *out)
{
    const wg_cluster_member *m = &r->file.chip[number];
    const wg_chip_run base = {.file = r->file.base, .of_cluster = true, .number = number};
    char message[512], *path = wg_chip_path(&base, m->path, NULL);
    size_t bytes;
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

static bool open_chip(wg_cluster_job *r, unsigned i, wg_text *error)
{
    wg_chip_run *chip = r->chip[i] = wg_calloc(1, sizeof *chip);
    const wg_grid_desc *g = &r->file.base.grid;
    if (!chip) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    chip->args = r->args;
    chip->of_cluster = true;
    chip->number = i;
    if (r->file.chip[i].path) {
        if (!read_chip_file(r, i, &chip->file))
            return false;
    } else {
        chip->file = r->file.chip[i].chip;
        r->file.chip[i].chip = (wg_chip_file){.name = NULL};
    }
    chip->file.name = r->file.base.name; /* files are relative to it */
    const uint32_t harvested = chip->file.grid.harvested;
    chip->file.grid = *g;
    chip->file.grid.harvested = harvested;
    chip->file.grid.threads = 1;
    if (g->seed) /* each chip has its own */
        chip->file.grid.seed = g->seed + i * UINT64_C(0x9E3779B97F4A7C15);
    chip->file.max_cycles = r->file.base.max_cycles;
    if (!wg_chip_begin(chip, error))
        return false;
    if (wg_cluster_place(r->cluster, i, chip->grid) == WG_OK)
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

static bool open_run(wg_cluster_job *r, wg_text *error)
{
    char message[512];
    size_t bytes;
    if (!refuse(r->args, error) || !wg_save_check(r->args, error))
        return false;
    if (!(r->source = wg_file_read(r->args->file[0], &bytes, message, sizeof message))) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    if (!wg_cluster_parse(&r->file, r->args->file[0], (const char *)r->source, bytes) ||
        !wg_chip_options(r->args, &r->file.base, error))
        return false;
    r->ranks = wg_ranks_open(error);
    if (error->size)
        return false;
    const wg_cluster_desc desc = {
        .struct_size = sizeof desc, .chips = r->file.chips, .threads = r->file.base.grid.threads, .ranks = r->ranks};
    r->chip = wg_calloc(r->file.chips, sizeof *r->chip);
    r->text = wg_calloc(r->file.chips, sizeof *r->text);
    if (!r->chip || !r->text || wg_cluster_create(&desc, &r->cluster) != WG_OK) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    if (r->ranks && r->ranks->ranks > r->file.chips) {
        if (r->ranks->rank == 0) /* it speaks for all */
            wg_textf(error, "waitgate: %s has %u chips, too few for %u processes: each has one at least\n",
                     r->file.base.name, r->file.chips, r->ranks->ranks);
        return false;
    }
    for (unsigned i = 0; i < r->file.chips; i++)
        if (wg_cluster_here(r->cluster, i) && !open_chip(r, i, error))
            return false;
    const char *resume = r->args->value[WG_OPT_RESUME];
    return open_links(r) && (!resume || wg_cluster_resume(r, resume, error));
}

static void close_run(wg_cluster_job *r, wg_text *error)
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
    free(r->chip);
    free(r->text);
    wg_cluster_file_free(&r->file);
    free(r->source);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Do all chips have what their files wait for; has somebody pressed Ctrl-C? */
static bool agree(wg_cluster_job *r, bool *waits, bool *holds, bool *interrupted)
{
    uint64_t value[3] = {1, 1, wg_interrupted() ? 0 : 1};
    for (unsigned i = 0; i < r->file.chips; i++)
        if (r->chip[i] && wg_chip_has_until(r->chip[i])) {
            value[0] = 0;
            value[1] &= wg_chip_until_holds(r->chip[i]);
        }
    if (!wg_cluster_least(r->cluster, value, 3))
        return false;
    *waits = !value[0];
    *holds = !value[0] && value[1];
    *interrupted = !value[2];
    return true;
}

static bool failed(const wg_cluster_job *r, wg_text *error)
{
    wg_textf(error, "waitgate: %s\n", wg_cluster_error(r->cluster));
    return false;
}

static bool drive(wg_cluster_job *r, wg_text *error)
{
    const uint64_t limit = r->file.base.max_cycles, window = wg_cluster_window(r->cluster);
    bool waits, holds, interrupted;
    if (!agree(r, &waits, &holds, &interrupted))
        return failed(r, error);
    const uint64_t stretch = waits ? window : STRETCH / window * window;
    uint64_t save_at = wg_save_next(r->args, wg_cluster_cycle(r->cluster));
    bool saved = true;
    wg_interrupt_begin();
    for (bool going = true; going;) {
        const uint64_t now = wg_cluster_cycle(r->cluster);
        if (now == save_at) {
            saved = saved && wg_save_due(r->args, now, wg_cluster_save, r, error);
            save_at = wg_save_next(r->args, now + 1);
        }
        uint64_t next = (now / stretch + 1) * stretch;
        next = next < save_at ? next : save_at;
        wg_stop stop;
        if (wg_cluster_run(r->cluster, (next < limit ? next : limit) - now, &stop) != WG_OK ||
            !agree(r, &waits, &holds, &interrupted)) {
            wg_interrupt_end();
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
    }
    wg_interrupt_end();
    for (unsigned i = 0; i < r->file.chips; i++)
        if (r->chip[i]) {
            r->chip[i]->ended = r->ended;
            if (!wg_chip_inspect(r->chip[i], error))
                return false;
        }
    const char *failure = r->args->value[WG_OPT_SAVE_ON_FAILURE];
    return saved && wg_save_missed(r->args, wg_cluster_cycle(r->cluster), save_at, error) &&
           (!failure || r->ended != WG_ENDED_HUNG || wg_cluster_save(r, failure, error));
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

int wg_run_cluster(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error)
{
    wg_cluster_job r = {.args = args, .status = WG_EXIT_ERROR};
    bool ok = open_run(&r, error) && drive(&r, error) && wg_cluster_report(&r, out, error);
    if (ok)
        result->cycles = wg_cluster_cycle(r.cluster);
    for (unsigned i = 0; ok && i < r.file.chips; i++)
        ok = !r.chip[i] || wg_chip_images(r.chip[i], true, error);
    wg_transport *ranks = r.ranks;
    int status = ok ? r.status : WG_EXIT_ERROR;
    close_run(&r, error);
    if (ranks && !ok && error->size) { /* the others wait for this one: they end with it */
        fwrite(wg_text_of(error), 1, error->size, stderr);
        fflush(stderr);
        ranks->abort(ranks, status);
    }
    if (ranks)
        ranks->close(ranks);
    return status;
}
