/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of reports. */
#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "machine/device.h"
#include "text/chip_hang.h"
#include "text/hang_text.h"
#include "text/report.h"

enum { WIDTH = 100 };

struct wg_check {
    wg_device *dev;
    wg_races *races;
    int observer;
};

static bool code_at(void *dev, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_code_word(((wg_device *)dev)->tile, pc, word);
}

/* The caller's structure may be an older, shorter one. */
static wg_report_desc desc_of(const wg_report_desc *desc)
{
    wg_report_desc d = {0};
    if (desc)
        memcpy(&d, desc, desc->struct_size < sizeof d ? desc->struct_size : sizeof d);
    if (!d.width)
        d.width = WIDTH;
    return d;
}

static wg_race_words words_of(const wg_device *dev, const wg_report_desc *d)
{
    return (wg_race_words){.arch = dev->arch->id, .dev = dev, .user = d->user, .source = d->source};
}

static const char *place_of(void *user, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    const wg_report_desc *d = user;
    wg_source source = {0};
    if (!d->source || !d->source(d->user, core, pc, &source))
        source = (wg_source){0};
    return wg_source_text(&source, room, bytes);
}

static void one_json(const wg_reports *all, const wg_device *dev, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "cycles", wg_cycle(dev));
    wg_reports_json(all, "reports", j);
    wg_json_close(j, '}');
}

size_t wg_hang_report(wg_device *dev, const wg_report_desc *desc, char *to, size_t bytes)
{
    wg_report_desc d = desc_of(desc);
    wg_history none = {.place = place_of, .place_user = &d};
    wg_text out = {.width = d.width};
    wg_hang *h = calloc(1, sizeof *h);
    if (!h)
        return 0;
    bool hung = wg_device_hangs(dev);
    wg_hang_inspect(dev, &none, hung, h);
    const wg_race_words w = words_of(dev, &d);
    wg_reports all = {0};
    if (hung && d.form != WG_REPORT_TEXT)
        wg_reports_hang(&all, &w, h);
    if (d.form == WG_REPORT_SARIF) {
        wg_reports_sarif(&all, 0, &out);
    } else if (d.form == WG_REPORT_JSON) {
        one_json(&all, dev, &out);
    } else {
        wg_hang_text(&w, h, hung, &out);
        wg_text_fold(&out, d.width, NULL);
    }
    out.failed |= all.failed;
    wg_reports_free(&all);
    free(h);
    return wg_text_give(&out, to, bytes);
}

/* ---- A chip ---- */

/* The tiles of a chip that wait, one after the other. */
typedef struct waiting {
    wg_grid *grid;
    wg_report_desc desc; /* for the tile */
    const wg_report_desc *given;
    wg_history places;
    wg_hang hang;
    bool hung;
} waiting;

/* False: there is no tile, or it has nothing to tell. */
static bool inspect_tile(waiting *w, unsigned x, unsigned y, wg_device **dev)
{
    if (!(*dev = wg_grid_peek(w->grid, x, y)))
        return false;
    w->desc = *w->given;
    if (w->desc.of_tile && !(w->desc.user = w->desc.of_tile(w->given->user, x, y)))
        w->desc.source = NULL;
    w->places = (wg_history){.place = place_of, .place_user = &w->desc};
    wg_hang_inspect(*dev, &w->places, w->hung, &w->hang);
    return wg_hang_tells(&w->hang);
}

/* Every tile's report, and the parties of the verdict. */
static size_t inspect_tiles(waiting *w, wg_party *party, wg_reports *all, wg_text *tiles)
{
    size_t parties = 0;
    for (unsigned y = 0; y < wg_grid_height(w->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(w->grid); x++) {
            wg_device *dev;
            const bool tells = inspect_tile(w, x, y, &dev);
            if (dev)
                wg_party_describe(w->grid, -1, x, y, tells ? &w->hang : NULL, &w->places, &party[parties++]);
            if (!tells)
                continue;
            const wg_race_words words = words_of(dev, &w->desc);
            wg_report *r = w->hung && w->given->form != WG_REPORT_TEXT ? wg_reports_hang(all, &words, &w->hang) : NULL;
            if (r) {
                r->x = (int)x;
                r->y = (int)y;
            }
            if (w->given->form == WG_REPORT_TEXT) {
                wg_textf(tiles, "%s %u-%u\n", dev->tile->spec->title, x, y);
                wg_hang_text(&words, &w->hang, w->hung, tiles);
            }
        }
    return parties;
}

static void grid_json(const waiting *w, const wg_party *party, size_t parties, const wg_reports *all, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "cycles", wg_grid_cycle(w->grid));
    if (w->hung)
        wg_parties_verdict_json(party, parties, j);
    wg_reports_json(all, "reports", j);
    wg_json_close(j, '}');
}

size_t wg_grid_hang_report(wg_grid *grid, const wg_report_desc *desc, char *to, size_t bytes)
{
    const wg_report_desc d = desc_of(desc);
    wg_text out = {.width = d.width}, tiles = {.width = d.width};
    wg_reports all = {0};
    uint64_t since;
    waiting *w = calloc(1, sizeof *w);
    wg_party *party = calloc((size_t)wg_grid_width(grid) * wg_grid_height(grid), sizeof *party);
    if (w && party) {
        w->grid = grid;
        w->given = &d;
        w->hung = wg_grid_hangs(grid, &since);
        const size_t parties = inspect_tiles(w, party, &all, &tiles);
        if (d.form == WG_REPORT_SARIF) {
            wg_reports_sarif(&all, 0, &out);
        } else if (d.form == WG_REPORT_JSON) {
            grid_json(w, party, parties, &all, &out);
        } else {
            if (w->hung)
                wg_parties_verdict(party, parties, &out);
            wg_textf(&out, "%s", wg_text_of(&tiles));
            wg_text_fold(&out, d.width, NULL);
        }
    }
    out.failed |= all.failed || tiles.failed || !w || !party;
    wg_reports_free(&all);
    wg_text_free(&tiles);
    free(party);
    free(w);
    return wg_text_give(&out, to, bytes);
}

/* ---- Checks ---- */

wg_status wg_check_begin(wg_device *dev, unsigned checks, wg_check **out)
{
    *out = NULL;
    if (!checks || checks & ~(unsigned)WG_CHECK_ALL)
        return wg_fail(dev, WG_ERR_ARGUMENT, "checks are a combination of WG_CHECK_RACE, MEMORY, INIT and SYNC");
    wg_check *c = calloc(1, sizeof *c);
    wg_races *races = c ? wg_races_new(dev->arch->id, code_at, dev) : NULL;
    if (!races) {
        free(c);
        return wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
    }
    wg_races_select(races, checks);
    c->dev = dev;
    c->races = races;
    wg_status status = wg_observe(dev, wg_races_events(races), wg_races_event, races, &c->observer);
    if (status == WG_OK) {
        *out = c;
        return WG_OK;
    }
    wg_races_free(races);
    free(c);
    return status;
}

size_t wg_check_count(wg_check *c, wg_severity at_least)
{
    size_t n = 0;
    wg_races_end(c->races, wg_cycle(c->dev), wg_device_is_done(c->dev));
    for (size_t i = 0; i < wg_races_count(c->races); i++)
        n += wg_race_severity(wg_races_at(c->races, i)->kind) >= at_least;
    return n;
}

size_t wg_check_report(wg_check *c, const wg_report_desc *desc, char *to, size_t bytes)
{
    wg_report_desc d = desc_of(desc);
    const wg_race_words w = words_of(c->dev, &d);
    wg_text out = {.width = d.width};
    wg_reports all = {0};
    wg_races_end(c->races, wg_cycle(c->dev), wg_device_is_done(c->dev));
    for (size_t i = 0; i < wg_races_count(c->races); i++) {
        if (d.form == WG_REPORT_TEXT)
            wg_race_text(&w, wg_races_at(c->races, i), &out);
        else
            wg_reports_race(&all, &w, wg_races_at(c->races, i));
    }
    if (d.form == WG_REPORT_SARIF)
        wg_reports_sarif(&all, 0, &out);
    else if (d.form == WG_REPORT_JSON)
        one_json(&all, c->dev, &out);
    else
        wg_textf(&out, "%zu reports\n", wg_races_count(c->races));
    if (d.form == WG_REPORT_TEXT)
        wg_text_fold(&out, d.width, NULL);
    out.failed |= all.failed;
    wg_reports_free(&all);
    return wg_text_give(&out, to, bytes);
}

void wg_check_end(wg_check *c)
{
    if (!c)
        return;
    wg_unobserve(c->dev, c->observer);
    wg_races_free(c->races);
    free(c);
}
