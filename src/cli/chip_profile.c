/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of a chip file: the critical path through its tiles and the NoC, a map of the grid, each tile's part, and
 * the sum of the costs of all tiles.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/chip_internal.h"
#include "cli/profile.h"
#include "cli/scaling.h"
#include "machine/packet.h"

/* Up to this many tiles get separate tables; beyond, only the sums are shown, and JSON has all. */
enum { FEW_TILES = 4 };

bool wg_chip_profile_end(wg_chip_run *r, wg_text *error)
{
    if (!r->tiles || !r->tile[0].s.costs)
        return true;
    if (!(r->profiled = wg_calloc(r->tiles, sizeof(wg_session *)))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    for (size_t i = 0; i < r->tiles; i++) {
        r->profiled[i] = &r->tile[i].s;
        if (!wg_profile_end(&r->tile[i].s, wg_grid_cycle(r->grid), error))
            return false;
    }
    return wg_profile_files(&(wg_profiled){r->profiled, (unsigned)r->tiles}, r->file.name, error);
}

/* ---- A tile's part ---- */

typedef struct part {
    uint64_t core, waiting, noc,
        tiles;              /* cycles of its cores: at work, stalled, polling for the NoC, for other tiles */
    uint64_t cycles;        /* of its cores that were not in reset or parked */
    uint64_t busiest;       /* of its busiest core, thread or unit: at work */
    unsigned busy;          /* that track */
    uint64_t sent, arrived; /* bytes */
    uint64_t polling;       /* otherwise */
} part;

static part part_of(const wg_session *s)
{
    uint64_t work[WG_TRACKS] = {0};
    const wg_packets *p = &s->costs->chain.packets;
    part t = {.sent = p->bytes_sent[0] + p->bytes_sent[1], .arrived = p->bytes_arrived[0] + p->bytes_arrived[1]};
    for (size_t i = 0; i < s->costs->table.count; i++) {
        const wg_cost *c = &s->costs->table.cost[i];
        if (wg_doing_works(c->doing))
            work[c->track] += c->cycles;
        if (!wg_track_is_core(c->track) || c->doing == WG_DOING_RESET || c->doing == WG_DOING_PARKED)
            continue;
        t.cycles += c->cycles;
        if (wg_doing_works(c->doing))
            t.core += c->cycles;
        else if (c->doing != WG_DOING_POLLING)
            t.waiting += c->cycles;
        else if (wg_packets_niu(c->address) < 2)
            t.noc += c->cycles;
        else if (c->tile && c->tile != s->tile + 1)
            t.tiles += c->cycles;
        else
            t.polling += c->cycles;
    }
    for (unsigned i = 0; i < WG_TRACKS; i++)
        if (work[i] > t.busiest) {
            t.busiest = work[i];
            t.busy = i;
        }
    return t;
}

static double percent(uint64_t cycles, uint64_t whole) { return whole ? 100.0 * (double)cycles / (double)whole : 0.0; }

static void parts_text(const wg_chip_run *r, uint64_t length, wg_text *out)
{
    wg_textf(out, "\n%-8s %9s %9s %9s %9s %9s %12s %12s  %s\n", "tile", "executing", "waiting", "polling", "for NoC",
             "for tiles", "bytes sent", "arrived", "busiest");
    for (size_t i = 0; i < r->tiles; i++) {
        const part t = part_of(r->profiled[i]);
        char name[24];
        snprintf(name, sizeof name, "%u-%u", r->tile[i].x, r->tile[i].y);
        wg_textf(out, "  %-6s %8.1f%% %8.1f%% %8.1f%% %8.1f%% %8.1f%% %12llu %12llu  ", name, percent(t.core, t.cycles),
                 percent(t.waiting, t.cycles), percent(t.polling, t.cycles), percent(t.noc, t.cycles),
                 percent(t.tiles, t.cycles), (unsigned long long)t.sent, (unsigned long long)t.arrived);
        wg_textf(out, "%s, %.0f%%\n", wg_agent_name_of(r->tile[i].s.dev, t.busy), percent(t.busiest, length));
    }
    wg_textf(out, "  The cycles of a tile's cores, without those in reset or parked.\n");
}

/* ---- The map ---- */

static const wg_session *session_at(const wg_chip_run *r, unsigned x, unsigned y)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].x == x && r->tile[i].y == y)
            return r->profiled[i];
    return NULL;
}

/* The columns and rows between the tiles of the file. */
static void map_text(const wg_chip_run *r, uint64_t length, wg_text *out)
{
    unsigned x0 = UINT32_MAX, y0 = UINT32_MAX, x1 = 0, y1 = 0;
    for (size_t i = 0; i < r->tiles; i++) {
        x0 = r->tile[i].x < x0 ? r->tile[i].x : x0;
        x1 = r->tile[i].x > x1 ? r->tile[i].x : x1;
        y0 = r->tile[i].y < y0 ? r->tile[i].y : y0;
        y1 = r->tile[i].y > y1 ? r->tile[i].y : y1;
    }
    wg_textf(out, "\n%% of the run in which the busiest core, thread or unit of a tile was at work\n  y\\x");
    for (unsigned x = x0; x <= x1; x++)
        wg_textf(out, "%4u", x);
    wg_text_add(out, "\n", 1);
    for (unsigned y = y0; y <= y1; y++) {
        wg_textf(out, "  %3u", y);
        for (unsigned x = x0; x <= x1; x++) {
            const wg_session *s = session_at(r, x, y);
            if (s)
                wg_textf(out, "%4.0f", percent(part_of(s).busiest, length));
            else
                wg_textf(out, "   ·");
        }
        wg_text_add(out, "\n", 1);
    }
}

/* ---- Traffic ---- */

typedef struct stream {
    unsigned from, to, noc;
    uint64_t packets, bytes, waited;
} stream;

static int by_bytes(const void *left, const void *right)
{
    const stream *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->packets != b->packets)
        return a->packets > b->packets ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->noc < b->noc ? -1 : a->noc > b->noc;
}

/* Traffic between pairs of tiles, from the packets that arrived at the tiles of the file; freed by the caller. */
static stream *traffic_of(const wg_chip_run *r, size_t *count)
{
    const unsigned grid = wg_grid_width(r->grid) * wg_grid_height(r->grid);
    stream *all = wg_calloc(r->tiles * grid * 2 + 1, sizeof *all);
    *count = 0;
    for (size_t i = 0; all && i < r->tiles; i++) {
        const wg_packets *p = &r->profiled[i]->costs->chain.packets;
        stream *mine = all + *count, *own = wg_calloc(grid * 2u, sizeof *own);
        for (size_t k = 0; own && k < p->arrivals; k++) {
            const wg_arrival *a = &p->arrival[k];
            bool data = a->kind == WG_PACKET_WRITE || a->kind == WG_PACKET_DATA;
            if (a->sender >= grid || a->noc == WG_PACKETS_LINK)
                continue;
            stream *s = &own[a->sender * 2u + (a->noc & 1u)];
            s->packets++;
            s->bytes += data ? a->bytes : 0;
            s->waited += a->waited;
        }
        size_t n = 0;
        for (unsigned k = 0; own && k < grid * 2u; k++)
            if (own[k].packets) {
                mine[n] = own[k];
                mine[n].from = k / 2;
                mine[n].noc = k & 1;
                mine[n++].to = p->tile;
            }
        *count += n;
        free(own);
    }
    if (*count)
        qsort(all, *count, sizeof *all, by_bytes);
    return all;
}

static void traffic_text(const wg_chip_run *r, uint64_t top, wg_text *out)
{
    const unsigned width = wg_grid_width(r->grid);
    size_t count;
    stream *all = traffic_of(r, &count);
    if (count)
        wg_textf(out, "\n%-24s %10s %12s %10s\n", "NoC traffic", "packets", "bytes", "waited");
    for (size_t i = 0; i < count && i < top; i++) {
        char name[48];
        snprintf(name, sizeof name, "NoC %u, %u-%u to %u-%u", all[i].noc, all[i].from % width, all[i].from / width,
                 all[i].to % width, all[i].to / width);
        wg_textf(out, "  %-22s %10llu %12llu %10llu\n", name, (unsigned long long)all[i].packets,
                 (unsigned long long)all[i].bytes, (unsigned long long)all[i].waited);
    }
    if (count > top)
        wg_textf(out, "  … and %zu more (--top N shows more, --json all)\n", count - (size_t)top);
    if (count)
        wg_textf(out, "  Bytes of data; waited: cycles in which packets waited for links.\n");
    free(all);
}

/* ---- The whole profile ---- */

void wg_chip_profile_part(const wg_chip_run *r, uint64_t *from, uint64_t *to)
{
    *from = *to = r->profiled[0]->costs->to;
    for (size_t i = 0, parts = 0; i < r->tiles; i++) {
        const wg_costs *p = r->profiled[i]->costs;
        if (p->from >= p->to)
            continue;
        *from = parts && *from < p->from ? *from : p->from;
        *to = parts++ && *to > p->to ? *to : p->to;
    }
}

void wg_chip_profile_text(wg_chip_run *r, wg_text *out)
{
    if (!r->profiled)
        return;
    const wg_profiled all = {r->profiled, (unsigned)r->tiles};
    const uint64_t top = r->profiled[0]->top;
    uint64_t from, to;
    wg_chip_profile_part(r, &from, &to);
    if (from == to) {
        wg_textf(out, "\nNo cycle lies between --from and --to.\n");
        return;
    }
    wg_textf(out, "\nProfile of cycles %llu to %llu, %zu tile%s\n", (unsigned long long)from, (unsigned long long)to,
             r->tiles, r->tiles == 1 ? "" : "s");
    if (r->profiled[0]->scaling)
        wg_scaling_text(r->profiled[0]->scaling, out);
    if (!r->of_cluster) /* which reports one through all chips */
        wg_path_text(&all, from, to, top, out);
    if (r->profiled[0]->scaled)
        wg_report_what_if(r->profiled[0]->scaled, out);
    map_text(r, to - from, out);
    parts_text(r, to - from, out);
    traffic_text(r, top, out);
    if (r->tiles > 1) {
        wg_textf(out, "\nAll tiles; %% of %zu tiles times %llu cycles\n", r->tiles, (unsigned long long)(to - from));
        wg_profile_groups_text(&all, top, (to - from) * r->tiles, out);
    }
    for (size_t i = 0; i < r->tiles && r->tiles <= FEW_TILES; i++) {
        const wg_profiled one = {&r->profiled[i], 1};
        wg_textf(out, "\n%s\n", r->tile[i].name);
        wg_profile_groups_text(&one, top, to - from, out);
    }
    wg_annotate(&all, r->profiled[0]->annotate, out);
    if (r->tiles > FEW_TILES)
        wg_textf(out, "\nThe tables of each tile are in the output of --json.\n");
}

static void place_json(const char *key, unsigned tile, unsigned width, wg_json *j)
{
    char name[24];
    snprintf(name, sizeof name, "%u-%u", tile % width, tile / width);
    wg_json_text(j, key, name);
}

void wg_chip_profile_json(wg_chip_run *r, wg_json *j)
{
    const unsigned width = wg_grid_width(r->grid);
    if (!r->profiled)
        return;
    const wg_profiled all = {r->profiled, (unsigned)r->tiles};
    uint64_t from, to;
    wg_chip_profile_part(r, &from, &to);
    wg_json_open(j, "chip_profile", '{');
    wg_json_uint(j, "from", from);
    wg_json_uint(j, "to", to);
    if (r->profiled[0]->scaling)
        wg_scaling_json(r->profiled[0]->scaling, j);
    wg_path_json(&all, from, to, j);
    wg_json_open(j, "map", '[');
    for (size_t i = 0; i < r->tiles; i++) {
        const part t = part_of(r->profiled[i]);
        wg_json_open(j, NULL, '{');
        place_json("tile", r->profiled[i]->tile, width, j);
        wg_json_text(j, "busiest", wg_agent_name_of(r->tile[i].s.dev, t.busy));
        wg_json_uint(j, "busy", t.busiest);
        wg_json_uint(j, "executing", t.core);
        wg_json_uint(j, "waiting", t.waiting);
        wg_json_uint(j, "polling", t.polling);
        wg_json_uint(j, "waiting_for_noc", t.noc);
        wg_json_uint(j, "waiting_for_tiles", t.tiles);
        wg_json_uint(j, "bytes_sent", t.sent);
        wg_json_uint(j, "bytes_arrived", t.arrived);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    size_t count;
    stream *streams = traffic_of(r, &count);
    wg_json_open(j, "traffic", '[');
    for (size_t i = 0; i < count; i++) {
        wg_json_open(j, NULL, '{');
        place_json("from", streams[i].from, width, j);
        place_json("to", streams[i].to, width, j);
        wg_json_uint(j, "noc", streams[i].noc);
        wg_json_uint(j, "packets", streams[i].packets);
        wg_json_uint(j, "bytes", streams[i].bytes);
        wg_json_uint(j, "waited", streams[i].waited);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    if (r->profiled[0]->scaled)
        wg_report_what_if_json(r->profiled[0]->scaled, j);
    free(streams);
}
