/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of reports. */
#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "machine/device.h"
#include "metal/launched.h"
#include "text/chip_hang.h"
#include "text/hang_text.h"
#include "text/report.h"

enum { WIDTH = 100 };

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

/* The same with the `user` of a tile. */
static wg_report_desc desc_of_tile(const wg_report_desc *given, unsigned x, unsigned y)
{
    wg_report_desc d = *given;
    if (d.of_tile && !(d.user = d.of_tile(given->user, x, y)))
        d.source = NULL;
    return d;
}

static wg_race_words words_of(const wg_device *dev, const wg_report_desc *d)
{
    return (wg_race_words){.arch = dev->arch->id, .dev = dev, .user = d->user, .source = d->source};
}

static const char *place_of(void *user, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    const wg_report_desc *d = user;
    wg_source source = {.struct_size = sizeof source};
    if (!d->source || !d->source(d->user, core, pc, &source))
        source = (wg_source){0};
    return wg_source_text(&source, room, bytes);
}

static void one_json(const wg_reports *all, uint64_t cycles, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "cycles", cycles);
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
        one_json(&all, wg_cycle(dev), &out);
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
    w->desc = desc_of_tile(w->given, x, y);
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

/* A tile that is checked. */
typedef struct checked {
    wg_check *check;
    wg_device *dev;
    wg_races *races;
    int observer;
    unsigned x, y;
    wg_report_desc desc; /* of the report that is being written, for this tile */
} checked;

struct wg_check {
    wg_grid *grid;         /* NULL: a tile alone */
    wg_races_group *group; /* of a chip: packets carry their senders' clocks */
    unsigned checks;
    checked *tile[WG_GRID_MAX_TILES];
    unsigned tiles;
};

static wg_status out_of_memory(wg_check *c, wg_device *dev)
{
    return c->grid ? wg_grid_fail(c->grid, WG_ERR_NO_MEMORY, "out of memory")
                   : wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
}

static bool circular_buffer_at(void *user, uint32_t address, uint32_t *from, uint32_t *bytes)
{
    const wg_device *dev = user;
    return wg_metal_cb_around(dev->arch->id, NULL, dev->tile->l1, dev->tile->spec->l1_bytes, address, from, bytes);
}

static wg_status add_tile(wg_check *c, wg_device *dev, unsigned x, unsigned y)
{
    checked *t = calloc(1, sizeof *t);
    if (!t || !(t->races = wg_races_new(dev->arch->id, code_at, dev))) {
        free(t);
        return out_of_memory(c, dev);
    }
    *t = (checked){.check = c, .dev = dev, .races = t->races, .x = x, .y = y};
    wg_races_select(t->races, c->checks);
    wg_races_ask_memory(t->races, circular_buffer_at);
    const wg_status status = wg_observe(dev, wg_races_events(t->races), wg_races_event, t->races, &t->observer);
    if (status != WG_OK) {
        wg_races_free(t->races);
        free(t);
        return c->grid ? wg_grid_fail(c->grid, status, "(%u, %u): %s", x, y, wg_error(dev)) : status;
    }
    if (c->group)
        wg_races_group_add(c->group, t->races, y * wg_grid_width(c->grid) + x);
    c->tile[c->tiles++] = t;
    return WG_OK;
}

static bool are_checks(unsigned checks) { return checks && !(checks & ~(unsigned)WG_CHECK_ALL); }

#define NO_CHECKS "checks are a combination of WG_CHECK_RACE, MEMORY, INIT and SYNC"

wg_status wg_check_begin(wg_device *dev, unsigned checks, wg_check **out)
{
    *out = NULL;
    if (!are_checks(checks))
        return wg_fail(dev, WG_ERR_ARGUMENT, NO_CHECKS);
    wg_check *c = calloc(1, sizeof *c);
    if (!c)
        return wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
    c->checks = checks;
    const wg_status status = add_tile(c, dev, 0, 0);
    if (status != WG_OK)
        free(c);
    else
        *out = c;
    return status;
}

wg_status wg_grid_check_begin(wg_grid *grid, unsigned checks, wg_check **out)
{
    *out = NULL;
    if (!are_checks(checks))
        return wg_grid_fail(grid, WG_ERR_ARGUMENT, NO_CHECKS);
    wg_check *c = calloc(1, sizeof *c);
    if (!c || !(c->group = wg_races_group_new())) {
        free(c);
        return wg_grid_fail(grid, WG_ERR_NO_MEMORY, "out of memory");
    }
    c->grid = grid;
    c->checks = checks;
    *out = c;
    return WG_OK;
}

static checked *tile_at(const wg_check *c, unsigned x, unsigned y)
{
    for (unsigned i = 0; i < c->tiles; i++)
        if (c->tile[i]->x == x && c->tile[i]->y == y)
            return c->tile[i];
    return NULL;
}

wg_status wg_check_tile(wg_check *c, unsigned x, unsigned y)
{
    if (!c->grid)
        return wg_fail(c->tile[0]->dev, WG_ERR_ARGUMENT, "this check is of a tile alone");
    if (tile_at(c, x, y))
        return WG_OK;
    if (wg_grid_kind(c->grid, x, y) != WG_TILE_TENSIX) /* the detector knows the agents of a Tensix tile */
        return wg_grid_fail(c->grid, WG_ERR_ADDRESS, "there is no Tensix tile at (%u, %u)", x, y);
    wg_device *dev = wg_grid_tile(c->grid, x, y);
    return dev ? add_tile(c, dev, x, y) : WG_ERR_NO_MEMORY;
}

/* Reports what is left over, if it is at an end. */
static void bring_to_date(wg_check *c)
{
    for (unsigned i = 0; i < c->tiles; i++)
        wg_races_end(c->tile[i]->races, wg_cycle(c->tile[i]->dev), wg_device_is_done(c->tile[i]->dev));
}

size_t wg_check_count(wg_check *c, wg_severity at_least)
{
    size_t n = 0;
    bring_to_date(c);
    for (unsigned t = 0; t < c->tiles; t++)
        for (size_t i = 0; i < wg_races_count(c->tile[t]->races); i++)
            n += wg_race_severity(wg_races_at(c->tile[t]->races, i)->kind) >= at_least;
    return n;
}

/* A party on another tile, which may not be checked. */
static void *checked_at(void *tile, unsigned index)
{
    const wg_check *c = ((checked *)tile)->check;
    return tile_at(c, index % wg_grid_width(c->grid), index / wg_grid_width(c->grid));
}

static bool source_at(void *tile, unsigned core, uint32_t pc, wg_source *out)
{
    const wg_report_desc *d = &((checked *)tile)->desc;
    return d->source && d->source(d->user, core, pc, out);
}

static bool word_at(void *tile, uint32_t pc, uint32_t *word)
{
    return wg_code_word(((checked *)tile)->dev->tile, pc, word);
}

static wg_race_words check_words(checked *t, const wg_report_desc *given)
{
    if (!t->check->grid)
        return words_of(t->dev, given);
    return (wg_race_words){.arch = t->dev->arch->id,
                           .dev = t->dev,
                           .user = t,
                           .source = source_at,
                           .width = wg_grid_width(t->check->grid),
                           .of_tile = checked_at,
                           .core_word = word_at};
}

size_t wg_check_report(wg_check *c, const wg_report_desc *desc, char *to, size_t bytes)
{
    const wg_report_desc d = desc_of(desc);
    wg_text out = {.width = d.width};
    wg_reports all = {0};
    size_t count = 0;
    bring_to_date(c);
    for (unsigned t = 0; t < c->tiles; t++)
        c->tile[t]->desc = desc_of_tile(&d, c->tile[t]->x, c->tile[t]->y);
    for (unsigned t = 0; t < c->tiles; t++) {
        const wg_races *races = c->tile[t]->races;
        const wg_race_words w = check_words(c->tile[t], &d);
        if (c->grid && d.form == WG_REPORT_TEXT && wg_races_count(races))
            wg_textf(&out, "tile %u-%u\n", c->tile[t]->x, c->tile[t]->y);
        for (size_t i = 0; i < wg_races_count(races); i++) {
            wg_report *r = NULL;
            if (d.form == WG_REPORT_TEXT)
                wg_race_text(&w, wg_races_at(races, i), &out);
            else
                r = wg_reports_race(&all, &w, wg_races_at(races, i));
            if (r && c->grid) {
                r->x = (int)c->tile[t]->x;
                r->y = (int)c->tile[t]->y;
            }
        }
        count += wg_races_count(races);
    }
    if (d.form == WG_REPORT_SARIF)
        wg_reports_sarif(&all, 0, &out);
    else if (d.form == WG_REPORT_JSON)
        one_json(&all, c->grid ? wg_grid_cycle(c->grid) : wg_cycle(c->tile[0]->dev), &out);
    else
        wg_textf(&out, "%zu reports\n", count);
    if (d.form == WG_REPORT_TEXT)
        wg_text_fold(&out, d.width, NULL);
    out.failed |= all.failed;
    wg_reports_free(&all);
    return wg_text_give(&out, to, bytes);
}

void wg_check_end(wg_check *c)
{
    for (unsigned i = 0; c && i < c->tiles; i++) {
        wg_unobserve(c->tile[i]->dev, c->tile[i]->observer);
        wg_races_free(c->tile[i]->races);
        free(c->tile[i]);
    }
    if (c)
        wg_races_group_free(c->group);
    free(c);
}
