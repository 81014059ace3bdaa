/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path through the chips of a cluster, which may be in several processes. Each process follows it through its
 * chips and hands it over where it goes along a frame to another one; then each has its part of the path's rows, and the first process
 * joins them.
 */
#include "cli/cluster_path.h"

#include <stdlib.h>
#include <string.h>

#include "cli/profile.h"

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static void add_piece(void *user, unsigned tile, const wg_link *piece)
{
    wg_cost_add(&((wg_cost_table *)user)[tile], &piece->what);
}

/* The process whose tile worked last; the first chip of several. */
static bool begins_here(wg_cluster_job *r, wg_walk *w, bool *here)
{
    const uint64_t last = wg_walk_last(w);
    uint64_t value[1] = {UINT64_MAX - last};
    if (!wg_cluster_least(r->cluster, value, 1))
        return false;
    const uint64_t chip = last && value[0] == UINT64_MAX - last ? r->path.tile[w->tile]->of_chip : UINT64_MAX;
    value[0] = chip;
    if (!wg_cluster_least(r->cluster, value, 1))
        return false;
    *here = chip != UINT64_MAX && value[0] == chip;
    return true;
}

/* *begin: the path's first cycle. False: the processes have lost each other. */
static bool walk(wg_cluster_job *r, wg_walk *w, uint64_t *begin)
{
    enum { ENDS, END, NUMBER, ARRIVED, AT, VALUES };
    bool here;
    if (!begins_here(r, w, &here))
        return false;
    for (;;) {
        uint64_t value[VALUES];
        wg_walk_frame f;
        memset(value, 0xFF, sizeof value);
        if (here) {
            value[ENDS] = wg_walk_on(w, &f);
            value[AT] = value[ENDS] ? f.at : w->at;
            value[END] = value[ENDS] ? f.end : 0;
            value[NUMBER] = value[ENDS] ? f.number : 0;
            value[ARRIVED] = value[ENDS] ? f.arrived : 0;
        }
        if (!wg_cluster_least(r->cluster, value, VALUES))
            return false;
        *begin = value[AT];
        if (value[ENDS] != 1) /* 0: it has ended; UINT64_MAX: nobody has worked */
            return true;
        f = (wg_walk_frame){(uint32_t)value[END], value[NUMBER], value[ARRIVED], value[AT]};
        const bool mine = wg_walk_sent(w, &f);
        uint64_t nobody = !mine;
        if (!wg_cluster_least(r->cluster, &nobody, 1))
            return false;
        if (nobody && here)
            wg_walk_stay(w);
        if (nobody)
            continue;
        if (here)
            wg_walk_leave(w, &f);
        here = mine;
        if (here)
            wg_walk_enter(w, &f);
    }
}

/* ---- A process's part ------------------------------------------------------------------------------------------- */

/* What a part is ordered by. Two texts follow, each with its final zero. */
typedef struct row {
    uint64_t cycles;
    uint32_t chip, tile, track, pc;
    uint32_t over; /* the last work is over */
    uint32_t pad;
} row;

static bool add_row(wg_message *m, const row *head, const wg_text *first, const wg_text *second)
{
    const uint64_t bytes = sizeof *head + first->size + second->size + 2;
    return wg_message_add(m, &bytes, sizeof bytes) && wg_message_add(m, head, sizeof *head) &&
           wg_message_add(m, wg_text_of(first), first->size + 1) &&
           wg_message_add(m, wg_text_of(second), second->size + 1);
}

static bool add_rows(wg_cluster_job *r, const wg_cost_table *costs, uint64_t length, wg_message *m)
{
    wg_rows rows = wg_rows_of_path(&r->path, costs);
    bool ok = true;
    for (size_t i = 0; ok && i < rows.count; i++) {
        const wg_row *from = &rows.row[i];
        const row head = {.cycles = from->cycles,
                          .chip = from->s->of_chip,
                          .tile = from->s->tile,
                          .track = from->cost.track,
                          .pc = from->cost.pc,
                          .over = wg_row_is_over(from)};
        wg_text line = {0}, sentence = {0};
        wg_json json = {.out = &line};
        if (r->args->value[WG_OPT_JSON]) {
            wg_path_row_json(from, &json);
        } else {
            wg_row_text(from, length, &line);
            wg_path_part_text(from, length, &sentence);
        }
        while (line.size && line.data[line.size - 1] == '\n' && r->args->value[WG_OPT_JSON])
            line.data[--line.size] = 0;
        ok = add_row(m, &head, &line, &sentence) && !line.failed && !sentence.failed;
        wg_text_free(&line);
        wg_text_free(&sentence);
    }
    free(rows.row);
    return ok;
}

static bool add_busiest(wg_cluster_job *r, uint64_t length, wg_message *m)
{
    wg_text sentence = {0}, none = {0};
    unsigned tile;
    const uint64_t busy = wg_busiest_text(&r->path, length, &tile, &sentence);
    const row head = {
        .cycles = busy, .chip = r->path.tile[tile]->of_chip, .tile = r->path.tile[tile]->tile, .track = WG_AGENT_NONE};
    const bool ok = !busy || add_row(m, &head, &none, &sentence);
    wg_text_free(&sentence);
    return ok;
}

bool wg_cluster_path_part(wg_cluster_job *r, wg_message *m)
{
    wg_cost_table *costs = wg_calloc(r->path.tiles + 1u, sizeof *costs);
    const wg_chain **chain = wg_calloc(r->path.tiles + 1u, sizeof *chain);
    uint64_t part[2] = {UINT64_MAX, UINT64_MAX}, from = 0, to = 0, begin = 0;
    bool ok = costs && chain;
    if (r->path.tiles) {
        wg_cluster_profile_part(r, &from, &to);
        part[0] = from;
        part[1] = UINT64_MAX - to;
    }
    ok = wg_cluster_least(r->cluster, part, 2) && ok;
    r->path_from = part[0] == UINT64_MAX ? 0 : part[0];
    r->path_to = part[1] == UINT64_MAX ? 0 : UINT64_MAX - part[1];
    for (unsigned i = 0; ok && i < r->path.tiles; i++)
        chain[i] = &r->path.tile[i]->costs->chain;
    wg_walk w = {.chain = chain,
                 .tiles = ok ? r->path.tiles : 0,
                 .from = r->path_from,
                 .at = r->path_to,
                 .piece = add_piece,
                 .user = costs};
    ok = walk(r, &w, &begin) && ok; /* all processes take part */
    begin = begin == UINT64_MAX ? r->path_to : begin;
    r->path_begun_late = begin > r->path_from;
    r->path_from = begin;
    for (unsigned i = 0; costs && i < r->path.tiles; i++)
        ok = ok && !costs[i].failed;
    if (ok && r->path.tiles)
        ok = add_rows(r, costs, r->path_to - r->path_from, m) && add_busiest(r, r->path_to - r->path_from, m);
    for (unsigned i = 0; costs && i < r->path.tiles; i++)
        wg_cost_table_free(&costs[i]);
    free(costs);
    free(chain);
    return ok;
}

/* ---- All parts, at the first process ------------------------------------------------------------------------------- */

typedef struct found {
    row head;
    const char *first, *second;
} found;

static int by_cycles(const void *left, const void *right)
{
    const row *a = &((const found *)left)->head, *b = &((const found *)right)->head;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (a->chip != b->chip)
        return a->chip < b->chip ? -1 : 1;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    return strcmp(((const found *)left)->first, ((const found *)right)->first);
}

/* The rows, the largest first, and the busiest unit's; freed by the caller. */
static found *join(const wg_message *parts, size_t *count, found *busiest)
{
    size_t most = 0;
    uint64_t bytes;
    *count = 0;
    *busiest = (found){.first = NULL};
    for (size_t at = 0; at + sizeof bytes <= parts->bytes; at += sizeof bytes + (size_t)bytes, most++)
        memcpy(&bytes, parts->data + at, sizeof bytes);
    found *all = wg_calloc(most + 1, sizeof *all);
    for (size_t at = 0; all && at + sizeof bytes <= parts->bytes; at += sizeof bytes + (size_t)bytes) {
        found f;
        memcpy(&bytes, parts->data + at, sizeof bytes);
        memcpy(&f.head, parts->data + at + sizeof bytes, sizeof f.head);
        f.first = (const char *)parts->data + at + sizeof bytes + sizeof f.head;
        f.second = f.first + strlen(f.first) + 1;
        if (f.head.track != WG_AGENT_NONE)
            all[(*count)++] = f;
        else if (!busiest->first || by_cycles(&f, busiest) < 0)
            *busiest = f;
    }
    if (*count)
        qsort(all, *count, sizeof *all, by_cycles);
    return all;
}

void wg_cluster_path_text(const wg_cluster_job *r, const wg_message *parts, uint64_t top, wg_text *out)
{
    size_t count;
    found busiest, *all = join(parts, &count, &busiest);
    wg_text sentence = {0};
    uint64_t rest = 0;
    size_t largest = 0;
    while (largest + 1 < count && all[largest].head.over)
        largest++;
    if (count)
        wg_textf(&sentence, "%s", all[largest].second);
    if (count && largest && all[0].head.over)
        wg_textf(&sentence, " In %llu cycles at the end nothing works.", (unsigned long long)all[0].head.cycles);
    if (count && busiest.first)
        wg_textf(&sentence, "%s", busiest.second);
    if (count) {
        wg_text_add(out, "\n", 1);
        wg_text_wrap(out, wg_text_of(&sentence), 0, 0);
        if (r->path_begun_late)
            wg_textf(out, "The path is known from cycle %llu on.\n", (unsigned long long)r->path_from);
        wg_rows_title("critical path", out);
    }
    for (size_t i = 0; i < count; i++)
        if (i < top)
            wg_text_add(out, all[i].first, strlen(all[i].first));
        else
            rest += all[i].head.cycles;
    if (count > top)
        wg_rows_rest(count - (size_t)top, rest, out);
    wg_text_free(&sentence);
    free(all);
}

void wg_cluster_path_json(const wg_cluster_job *r, const wg_message *parts, wg_json *j)
{
    size_t count;
    found busiest, *all = join(parts, &count, &busiest);
    wg_json_open(j, "critical_path", '{');
    wg_json_uint(j, "from", r->path_from);
    wg_json_open(j, "costs", '[');
    for (size_t i = 0; i < count; i++)
        wg_json_raw(j, NULL, all[i].first);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    free(all);
}
