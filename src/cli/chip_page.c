/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate report` of a chip file. The page's data is that of page.c, with these members instead of one tile's:
 *
 *   chip      width, height, and a letter for each place of the grid
 *   tiles     for each tile of the file its tracks, steps, ways and kinds
 *   packets   those that arrived: from, to, NoC, departure, arrival, bytes of data; back to back
 *   path      the critical path, the latest piece first: tile, track (-1 - NoC: a packet), cycles
 */
#include <stdlib.h>
#include <string.h>

#include "cli/chip_internal.h"
#include "cli/page.h"
#include "cli/page_events.h"
#include "cli/profile.h"
#include "machine/packet.h"

enum { MOST_PACKETS = 40000 }; /* some 1.5 MB */

static size_t boxes_since(const wg_chip_run *r, uint64_t from)
{
    size_t count = 0;
    for (size_t i = 0; i < r->tiles; i++)
        count += wg_page_links(&r->profiled[i]->costs->chain, from, r->profiled[i]->costs->to);
    return count;
}

static size_t packets_since(const wg_chip_run *r, uint64_t from)
{
    size_t count = 0;
    for (size_t i = 0; i < r->tiles; i++) {
        const wg_packets *p = &r->profiled[i]->costs->chain.packets;
        for (size_t k = p->arrivals; k-- > 0 && p->arrival[k].cycle >= from;)
            count++;
    }
    return count;
}

static bool fits(const wg_chip_run *r, uint64_t from)
{
    return boxes_since(r, from) <= r->profiled[0]->boxes && packets_since(r, from) <= MOST_PACKETS;
}

/* The latest part of the run that fits on the page. */
static uint64_t shown_from(const wg_chip_run *r)
{
    uint64_t low, high;
    wg_chip_profile_part(r, &low, &high);
    for (size_t i = 0; i < r->tiles; i++) {
        const wg_costs *p = r->profiled[i]->costs;
        const uint64_t reach = p->from < p->to ? wg_page_reach(r->profiled[i]) : 0;
        low = reach > low ? reach : low;
    }
    if (fits(r, low))
        return low;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (fits(r, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void chip_json(const wg_chip_run *r, wg_json *j)
{
    static const char letter[WG_TILE_KINDS] = {
        [WG_TILE_NONE] = '.',     [WG_TILE_ROUTER] = '.',   [WG_TILE_TENSIX] = 'T', [WG_TILE_DRAM] = 'D',
        [WG_TILE_PCIE] = 'P',     [WG_TILE_ARC] = 'A',      [WG_TILE_ETH] = 'E',    [WG_TILE_L2CPU] = 'L',
        [WG_TILE_SECURITY] = 'S', [WG_TILE_HARVESTED] = 'x'};
    const unsigned width = wg_grid_width(r->grid), height = wg_grid_height(r->grid);
    wg_text kinds = {0};
    for (unsigned i = 0; i < width * height; i++)
        wg_text_add(&kinds, &letter[wg_grid_kind(r->grid, i % width, i / width)], 1);
    wg_json_open(j, "chip", '{');
    wg_json_uint(j, "width", width);
    wg_json_uint(j, "height", height);
    wg_json_text(j, "kinds", wg_text_of(&kinds));
    wg_json_close(j, '}');
    wg_text_free(&kinds);
}

static void packets_json(const wg_chip_run *r, uint64_t from, uint64_t to, wg_json *j)
{
    wg_json_open(j, "packets", '[');
    for (size_t i = 0; i < r->tiles; i++) {
        const wg_packets *p = &r->profiled[i]->costs->chain.packets;
        for (size_t k = 0; k < p->arrivals; k++) {
            const wg_arrival *a = &p->arrival[k];
            if (a->noc == WG_PACKETS_LINK)
                continue;
            if (a->cycle < from || a->cycle >= to || a->sender == p->tile)
                continue;
            const bool data = a->kind == WG_PACKET_WRITE || a->kind == WG_PACKET_DATA;
            wg_json_uint(j, NULL, a->sender);
            wg_json_uint(j, NULL, p->tile);
            wg_json_uint(j, NULL, a->noc);
            wg_json_uint(j, NULL, a->left);
            wg_json_uint(j, NULL, a->cycle);
            wg_json_uint(j, NULL, data ? a->bytes : 0);
        }
    }
    wg_json_close(j, ']');
}

typedef struct pieces {
    wg_json *j;
    const wg_page_boxes *boxes; /* of each tile */
} pieces;

static void piece_json(void *user, unsigned tile, const wg_link *piece)
{
    const pieces *p = user;
    wg_json_uint(p->j, NULL, tile);
    if (wg_track_flies(piece->what.track))
        wg_json_raw(p->j, NULL, piece->what.track == WG_AGENT_NIU1 ? "-2" : "-1");
    else
        wg_json_uint(p->j, NULL, p->boxes[tile].row[piece->what.track]);
    wg_json_uint(p->j, NULL, piece->to - piece->from);
}

static void path_json(wg_chip_run *r, const wg_page_boxes *boxes, uint64_t from, uint64_t to, wg_json *j)
{
    const wg_chain **chain = wg_calloc(r->tiles, sizeof *chain);
    wg_json_open(j, "path", '[');
    for (size_t i = 0; chain && i < r->tiles; i++)
        chain[i] = &r->profiled[i]->costs->chain;
    if (chain)
        wg_chain_walk(chain, (unsigned)r->tiles, from, to,
                      wg_path_end(&(wg_profiled){r->profiled, (unsigned)r->tiles}, to), piece_json,
                      &(pieces){j, boxes});
    wg_json_close(j, ']');
    free(chain);
}

static void tiles_json(wg_chip_run *r, wg_page_boxes *boxes, uint64_t from, uint64_t to, wg_json *j)
{
    wg_json_open(j, "tiles", '[');
    for (size_t i = 0; i < r->tiles; i++) {
        wg_session *s = r->profiled[i];
        boxes[i].j = j;
        wg_json_open(j, NULL, '{');
        wg_json_textf(j, "name", "%u-%u", r->tile[i].x, r->tile[i].y);
        wg_json_uint(j, "x", r->tile[i].x);
        wg_json_uint(j, "y", r->tile[i].y);
        wg_page_tracks(s, &boxes[i], from, to);
        wg_page_steps(s->page, from, to, j);
        wg_page_ways(s->page, from, to, j);
        wg_page_kinds(s, &boxes[i]);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

/* The reports of hangs, tile by tile. */
static void hang_json(wg_chip_run *r, wg_json *j)
{
    wg_text hang = {0};
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].s.hang) {
            wg_textf(&hang, "%s%s\n", hang.size ? "\n" : "", r->tile[i].name);
            wg_report_hang(&r->tile[i].s, &hang);
        }
    if (hang.size)
        wg_json_text(j, "hang", wg_text_of(&hang));
    wg_text_free(&hang);
}

static bool data_json(wg_chip_run *r, int status, wg_text *out, wg_text *error)
{
    wg_json json = {.out = out, .dense = true}, *j = &json;
    wg_text run = {0}, sentence = {0};
    wg_page_boxes *boxes = wg_calloc(r->tiles, sizeof *boxes);
    wg_page_sources sources = {.count = 0};
    const uint64_t from = shown_from(r);
    uint64_t begin, to;
    bool ok = boxes;
    if (!ok) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    wg_chip_profile_part(r, &begin, &to);
    wg_chip_report_json(r, status, NULL, &run);
    wg_path_sentence(&(wg_profiled){r->profiled, (unsigned)r->tiles}, begin, to, &sentence);
    wg_json_open(j, NULL, '{');
    wg_json_raw(j, "run", wg_text_of(&run));
    wg_json_uint(j, "from", from);
    wg_json_uint(j, "to", to);
    wg_json_text(j, "sentence", wg_text_of(&sentence));
    hang_json(r, j);
    chip_json(r, j);
    tiles_json(r, boxes, from, to, j);
    packets_json(r, from, to, j);
    path_json(r, boxes, from, to, j);
    wg_page_causes(j);
    wg_json_open(j, "sources", '[');
    for (size_t i = 0; ok && i < r->tiles; i++)
        ok = wg_page_add_sources(r->profiled[i], &boxes[i].kinds, &sources, j, error);
    wg_json_close(j, ']');
    ok = ok && wg_page_why(r->args, j, error);
    wg_json_close(j, '}');
    for (size_t i = 0; i < r->tiles; i++)
        wg_cost_table_free(&boxes[i].kinds);
    free(boxes);
    wg_text_free(&run);
    wg_text_free(&sentence);
    return ok;
}

bool wg_chip_page(wg_chip_run *r, int status, wg_text *out, wg_text *error)
{
    wg_text data = {0};
    bool ok = r->profiled && data_json(r, status, &data, error) && !wg_memory_failed() &&
              wg_page_file(r->args, r->file.name, &data, out, error);
    wg_text_free(&data);
    return ok;
}
