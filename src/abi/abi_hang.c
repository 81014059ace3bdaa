/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_hang.h"

#include <stdlib.h>
#include <string.h>

#include "abi/abi_check.h"
#include "explain/pages.h"
#include "metal/launched.h"
#include "text/chip_hang.h"
#include "text/hang_text.h"

/*
 * Decided here: firmware that polls for its next command looks like a hang. A host that advances time this far without
 * writing is assumed not to send one.
 */
enum { PATIENCE = 100 * 1000 };
enum { MOST_VERDICTS = 3, WIDTH = 100 }; /* on standard error */

typedef struct watched {
    wg_device *dev;
    wg_abi_code code;
    unsigned x, y;
    wg_history history;
    wg_pages pages;
} watched;

struct wg_abi_hang {
    wg_grid *grid;
    char *path; /* NULL: verdicts to standard error */
    wg_abi_symbols *symbols;
    uint64_t written; /* the cycle of the host's last write */
    bool told;
    watched *tile[WG_GRID_MAX_TILES];
    unsigned tiles;
    wg_hang hang; /* of one tile at a time */
};

typedef enum why_told { LEAVING, ASKED, QUIET } why_told;

wg_abi_hang *wg_abi_hang_begin(wg_grid *grid, const char *path, wg_abi_symbols *symbols)
{
    wg_abi_hang *h = calloc(1, sizeof *h);
    char *copy = path ? strdup(path) : NULL;
    if (!h || (path && !copy)) {
        free(h);
        free(copy);
        return NULL;
    }
    h->grid = grid;
    h->path = copy;
    h->symbols = symbols;
    return h;
}

/* The host's ELF files belong to Tensix tiles. */
static bool has_symbols(const wg_device *dev) { return dev->tile->spec->kind == WG_TILE_TENSIX; }

void wg_abi_hang_made(wg_abi_hang *h, wg_device *dev, unsigned x, unsigned y)
{
    watched *t = h->tiles < WG_GRID_MAX_TILES ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return;
    t->dev = dev;
    t->x = x;
    t->y = y;
    if (has_symbols(dev)) {
        t->history.place = wg_abi_symbols_place;
        t->history.source = wg_abi_symbols_source;
    }
    t->code = (wg_abi_code){h->symbols, dev};
    t->history.place_user = &t->code;
    h->tile[h->tiles++] = t;
    t->pages.dev = dev;
    if (!h->path)
        return;
    wg_observe(dev, WG_HISTORY_EVENTS | WG_HISTORY_STALL_EVENTS, wg_history_event, &t->history, NULL);
    if (wg_observe(dev, WG_PAGES_EVENTS, wg_pages_event, &t->pages, NULL) == WG_OK)
        t->history.pages = &t->pages;
}

void wg_abi_hang_written(wg_abi_hang *h) { h->written = wg_grid_cycle(h->grid); }

static wg_race_words words_of(const wg_abi_hang *h, unsigned i)
{
    const wg_device *dev = h->tile[i]->dev;
    return (wg_race_words){.arch = wg_grid_arch(h->grid),
                           .dev = dev,
                           .user = &h->tile[i]->code,
                           .source = has_symbols(dev) ? wg_abi_symbols_source : NULL};
}

/* Fills h->hang; false if there is nothing to say about the tile. */
static bool inspect(wg_abi_hang *h, unsigned i, bool hung)
{
    wg_hang_inspect(h->tile[i]->dev, &h->tile[i]->history, hung, &h->hang);
    return wg_hang_tells(&h->hang);
}

static void full_text(wg_abi_hang *h, bool hung, wg_text *out)
{
    for (unsigned i = 0; i < h->tiles; i++)
        if (inspect(h, i, hung)) {
            const wg_race_words w = words_of(h, i);
            wg_textf(out, "%s %u-%u\n", h->tile[i]->dev->tile->spec->title, h->tile[i]->x, h->tile[i]->y);
            wg_hang_text(&w, &h->hang, hung, out);
        }
}

static void full_json(wg_abi_hang *h, bool hung, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "cycles", wg_grid_cycle(h->grid));
    wg_json_text(j, "result", hung ? "hang" : "running");
    wg_json_open(j, "tiles", '[');
    for (unsigned i = 0; i < h->tiles; i++)
        if (inspect(h, i, hung)) {
            const wg_race_words w = words_of(h, i);
            wg_json_open(j, NULL, '{');
            wg_json_uint(j, "x", h->tile[i]->x);
            wg_json_uint(j, "y", h->tile[i]->y);
            wg_hang_json(&w, &h->hang, hung, j);
            wg_json_close(j, '}');
        }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

static void cores_text(wg_abi_hang *h, watched *t, wg_text *out)
{
    char place[256];
    for (unsigned core = 0; core < WG_CORES; core++) {
        const wg_hang_core *c = &h->hang.core[core];
        if (c->info.in_reset)
            continue;
        *place = 0;
        if (has_symbols(t->dev))
            wg_abi_symbols_place(&t->code, core, c->info.pc, place, sizeof place);
        wg_textf(out, "    core %-3s at 0x%08x%s%s: %s\n", wg_agent_name_of(h->hang.dev, core), c->info.pc,
                 *place ? " in " : "", place, c->waits ? c->why : "parked");
    }
}

/* A kernel of tt-metal was launched on it. */
static bool has_kernels(const wg_device *dev)
{
    wg_metal_launched m;
    return dev->tile->spec->kind == WG_TILE_TENSIX &&
           wg_metal_read_launch(dev->arch->id, NULL, dev->tile->l1, dev->tile->spec->l1_bytes, &m);
}

/* One paragraph per verdict, with the tiles that share it; of tiles without kernels only if no kernel waits. True if there is any. */
static bool verdicts(wg_abi_hang *h, bool hung, why_told why, wg_text *out)
{
    char *story[MOST_VERDICTS] = {0};
    unsigned told = 0, first[MOST_VERDICTS], same[MOST_VERDICTS] = {0}, more = 0, of_kernels = 0;
    wg_text text[MOST_VERDICTS] = {{0}};
    for (unsigned turn = 0; turn < 2 * h->tiles; turn++) {
        const unsigned i = turn % h->tiles;
        if (has_kernels(h->tile[i]->dev) != (turn < h->tiles) || !inspect(h, i, hung) ||
            (why == LEAVING && h->hang.outside))
            continue;
        unsigned k = 0;
        while (k < told && (!hung || !story[k] || strcmp(story[k], h->hang.story) != 0))
            k++;
        if (k < told) {
            same[k]++;
        } else if (told == MOST_VERDICTS || (turn >= h->tiles && of_kernels)) {
            more++;
        } else {
            story[told] = strdup(h->hang.story);
            first[told] = i;
            cores_text(h, h->tile[i], &text[told++]);
            of_kernels += turn < h->tiles;
        }
    }
    for (unsigned k = 0; k < told; k++) {
        const watched *t = h->tile[first[k]];
        wg_textf(out, "  %s %u-%u", t->dev->tile->spec->title, t->x, t->y);
        if (same[k])
            wg_textf(out, " and %u more", same[k]);
        wg_text_add(out, "\n", 1);
        if (hung && story[k]) {
            wg_textf(out, "    ");
            wg_text_wrap(out, story[k], 4, 4);
        }
        wg_text_add(out, wg_text_of(&text[k]), text[k].size);
        wg_text_free(&text[k]);
        free(story[k]);
    }
    if (more)
        wg_textf(out, "  and %u more tiles (WAITGATE_HANG_REPORT=FILE has them all)\n", more);
    return told != 0;
}

static bool tell(wg_abi_hang *h, why_told why, char *error, size_t bytes)
{
    static const char *const because[] = {[LEAVING] = "the host exits while something is stuck",
                                          [ASKED] = "a signal asks",
                                          [QUIET] = "only polling cores move, and the host only waits"};
    uint64_t since, cycle = wg_grid_cycle(h->grid);
    bool hung = wg_grid_hangs(h->grid, &since), ok = true;
    wg_text out = {.width = WIDTH}, body = {.width = WIDTH};
    if (h->path && (hung || why == ASKED)) {
        if (wg_abi_wants_json(h->path)) {
            full_json(h, hung, &out);
        } else {
            wg_textf(&out, "waitgate: cycle %llu: %s\n", (unsigned long long)cycle, because[why]);
            full_text(h, hung, &out);
        }
        ok = wg_abi_write(h->path, &out, error, bytes);
    } else if (!h->path && (hung || why == ASKED) && verdicts(h, hung, why, &body)) {
        wg_textf(&out, "waitgate: cycle %llu: %s\n%s", (unsigned long long)cycle, because[why], wg_text_of(&body));
        fputs(wg_text_of(&out), stderr);
    }
    wg_text_free(&out);
    wg_text_free(&body);
    h->told = true;
    return ok;
}

bool wg_abi_hang_clocked(wg_abi_hang *h, char *error, size_t bytes)
{
    uint64_t since, now = wg_grid_cycle(h->grid);
    if (h->told || now - h->written < PATIENCE || !wg_grid_hangs(h->grid, &since))
        return true;
    if (since < h->written)
        since = h->written;
    return now - since < PATIENCE || tell(h, QUIET, error, bytes);
}

bool wg_abi_hang_asked(wg_abi_hang *h, char *error, size_t bytes) { return tell(h, ASKED, error, bytes); }

bool wg_abi_hang_end(wg_abi_hang *h, char *error, size_t bytes)
{
    bool ok = h->told || tell(h, LEAVING, error, bytes);
    for (unsigned i = 0; i < h->tiles; i++)
        free(h->tile[i]);
    free(h->path);
    free(h);
    return ok;
}
