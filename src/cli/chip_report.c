/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a run of a chip file: what ended it, then tile by tile findings, races, hangs and the output of
 * observers.
 */
#include "cli/commands.h"
#include "cli/cluster_hang.h"
#include "cli/metal_run.h"
#include "cli/waits.h"
#include "arch/arch.h"
#include "machine/device.h"

enum { SCHEMA = 1 };

/* A host's run (watch.c) has no card. */
static size_t card_findings(const wg_chip_run *r) { return r->card ? wg_card_finding_count(r->card) : 0; }

static bool undefined(const wg_finding *f) { return wg_finding_info_at(f->code)->severity >= WG_SEVERITY_UNDEFINED; }

int wg_chip_status(wg_chip_run *r)
{
    if (r->ended == WG_ENDED_INTERRUPT)
        return WG_EXIT_INTERRUPTED;
    if (r->ended == WG_ENDED_HUNG)
        return WG_EXIT_HANG;
    if (r->ended == WG_ENDED_LIMIT)
        return WG_EXIT_LIMIT;
    for (size_t i = 0; i < card_findings(r); i++)
        if (undefined(wg_card_finding_at(r->card, i, NULL)))
            return WG_EXIT_UNDEFINED;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            const wg_device *dev = wg_grid_peek(r->grid, x, y);
            for (size_t i = 0; dev && i < wg_finding_count(dev); i++)
                if (undefined(wg_finding_at(dev, i)))
                    return WG_EXIT_UNDEFINED;
        }
    if (!wg_metal_as_expected(r->metal))
        return WG_EXIT_EXPECTATION;
    for (size_t i = 0; r->races && i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        bool findings = wg_check_fails(s);
        for (size_t k = 0; k < wg_finding_count(s->dev); k++)
            findings |= wg_finding_info_at(wg_finding_at(s->dev, k)->code)->severity >= s->fail_on;
        if (findings)
            return WG_EXIT_FINDINGS;
    }
    return WG_EXIT_DONE;
}

/* The session of a tile; a tile created only by traffic has no programs. */
static wg_session *session_of(wg_chip_run *r, unsigned x, unsigned y, wg_session *bare)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].x == x && r->tile[i].y == y)
            return &r->tile[i].s;
    *bare = (wg_session){.args = r->args,
                         .dev = wg_grid_peek(r->grid, x, y),
                         .desc = {.arch = r->file.grid.arch, .profile = r->file.grid.profile}};
    return bare;
}

void wg_chip_report_text(wg_chip_run *r, int status, wg_text *out)
{
    static const char *const sentence[] = {
        "done", "done (until)", "hangs", "stopped by the cycle limit", "stopped by a finding", "interrupted"};
    if (!r->args->value[WG_OPT_QUIET] || status != WG_EXIT_DONE)
        wg_textf(out, "%s: %s after %llu cycles (%s, %zu tile%s)\n", r->file.name, sentence[r->ended],
                 (unsigned long long)wg_grid_cycle(r->grid), wg_arch_title(r->file.grid.arch), r->tiles,
                 r->tiles == 1 ? "" : "s");
    if (r->metal && (!r->args->value[WG_OPT_QUIET] || status != WG_EXIT_DONE))
        wg_metal_report_text(r->metal, out);
    wg_chip_verdict(r, out);
    wg_chip_tiles_text(r, out);
    if (r->waits)
        wg_report_waits(r->waits, out);
}

/* by_race: those that a race explains. */
static void tile_findings(wg_session *s, bool by_race, wg_text *out)
{
    for (size_t i = 0; i < wg_finding_count(s->dev); i++)
        if (by_race == !!wg_check_explains(s, wg_finding_at(s->dev, i)))
            wg_report_finding(s, wg_finding_at(s->dev, i), out);
}

void wg_chip_tiles_text(wg_chip_run *r, wg_text *out)
{
    wg_session bare;
    for (size_t i = 0; i < card_findings(r); i++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(r->card, i, &at);
        if (at.x != WG_NOWHERE)
            wg_textf(out, "tile %u-%u, %s\n", at.x, at.y, wg_tile_kind_name(wg_grid_kind(r->grid, at.x, at.y)));
        wg_report_finding(session_of(r, at.x, at.y, &bare), f, out);
    }
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            wg_device *dev = wg_grid_peek(r->grid, x, y);
            if (!dev)
                continue;
            wg_session *s = session_of(r, x, y, &bare);
            if (wg_finding_count(dev) || s->hang || s->stats || s->timeline || s->races)
                wg_textf(out, "%s %u-%u\n", dev->tile->spec->title, x, y);
            const wg_race_words w = wg_check_words(s);
            const bool races_first = wg_check_comes_first(s);
            if (races_first)
                wg_report_races(s, out);
            if (s->hang)
                wg_hang_verdict_text(&w, s->hang, s->ended == WG_ENDED_HUNG, out);
            tile_findings(s, false, out);
            if (s->races && !races_first)
                wg_report_races(s, out);
            tile_findings(s, true, out);
            if (s->hang)
                wg_hang_state_text(&w, s->hang, s->ended == WG_ENDED_HUNG, out);
            if (s->stats)
                wg_report_stats(s, out);
            if (s->timeline)
                wg_report_timeline(s, out, out->colour);
        }
    if (!(r->args->value[WG_OPT_QUIET] && r->args->command == WG_CMD_REPORT))
        wg_chip_profile_text(r, out);
}

static void tile_json(wg_chip_run *r, unsigned x, unsigned y, wg_json *j)
{
    wg_session bare, *s = session_of(r, x, y, &bare);
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "x", x);
    wg_json_uint(j, "y", y);
    wg_report_cores_json(s, j);
    wg_json_open(j, "findings", '[');
    for (size_t i = 0; i < wg_finding_count(s->dev); i++)
        wg_report_finding_json(s, wg_finding_at(s->dev, i), j, NULL);
    wg_json_close(j, ']');
    if (s->races)
        wg_report_races_json(s, j);
    wg_collect_json(s, j);
    if (s->hang)
        wg_report_hang_json(s, j);
    if (s->stats)
        wg_report_stats_json(s, j);
    if (s->costs)
        wg_report_profile_json(s, j);
    wg_json_close(j, '}');
}

void wg_chip_report_json(wg_chip_run *r, int status, const wg_text *error, wg_text *out)
{
    static const char *const ended[] = {"done", "until", "hang", "limit", "finding", "interrupted"};
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", SCHEMA);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", r->file.name);
    wg_json_text(j, "arch", wg_arch_of(r->file.grid.arch)->name);
    wg_json_text(j, "profile", r->file.grid.profile == WG_PROFILE_SILICON ? "silicon" : "documented");
    wg_json_uint(j, "seed", r->file.grid.seed);
    wg_json_text(j, "result", ended[r->ended]);
    wg_json_uint(j, "status", (uint64_t)status);
    wg_json_uint(j, "cycles", wg_grid_cycle(r->grid));
    if (r->metal)
        wg_metal_report_json(r->metal, j);
    wg_chip_verdict_json(r, j);
    wg_chip_tiles_json(r, j);
    wg_chip_profile_json(r, j);
    if (r->waits)
        wg_report_waits_json(r->waits, j);
    if (error && error->size)
        wg_error_member(j, error);
    wg_json_close(j, '}');
}

void wg_chip_tiles_json(wg_chip_run *r, wg_json *j)
{
    wg_session bare;
    wg_json_open(j, "findings", '['); /* about other tiles and the host */
    for (size_t i = 0; i < card_findings(r); i++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(r->card, i, &at);
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "x", at.x);
        wg_json_uint(j, "y", at.y);
        wg_report_finding_json(session_of(r, at.x, at.y, &bare), f, j, "finding");
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "tiles", '[');
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++)
            if (wg_grid_peek(r->grid, x, y))
                tile_json(r, x, y, j);
    wg_json_close(j, ']');
}

static void collect(wg_chip_run *r, wg_reports *all)
{
    wg_session bare;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++)
            if (wg_grid_peek(r->grid, x, y))
                wg_collect_reports(session_of(r, x, y, &bare), (int)x, (int)y, all);
    for (size_t i = 0; i < card_findings(r); i++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(r->card, i, &at);
        const wg_race_words w = wg_check_words(session_of(r, at.x, at.y, &bare));
        wg_report *report = wg_reports_finding(all, &w, f);
        if (report && at.x != WG_NOWHERE) {
            report->x = (int)at.x;
            report->y = (int)at.y;
        }
    }
    for (size_t i = 0; r->of_cluster && i < all->count; i++)
        all->at[i].chip = (int)r->number;
}

/* SARIF, for a file and for `waitgate test`. */
bool wg_chip_sarif(wg_chip_run *r, int status, wg_text *result, wg_text *error)
{
    wg_reports all = {0};
    if (!result && !r->args->value[WG_OPT_SARIF])
        return true;
    collect(r, &all);
    if (result)
        wg_sarif_part(&all, result);
    bool ok = !r->args->value[WG_OPT_SARIF] || wg_write_sarif(r->args, &all, status, error);
    wg_reports_free(&all);
    return ok;
}
