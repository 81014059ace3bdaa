/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate report`: a run as one HTML file, which needs neither network nor server. The page itself is in src/cli/page/;
 * this file fills in its data, as JSON.
 *
 *   run        the output of `profile --json`
 *   kinds      the kinds of boxes in the timeline: cause, line, instruction
 *   tracks     for each core, gate and unit its boxes in sequence: cycles, index into kinds, alternating
 *   path       the critical path, the latest piece first: track, cycles, alternating
 *   steps      semaphores, source banks, queues, circular buffers: see page_events.h
 *   ways       of each instruction that passed its gate: see page_events.h
 *   units      the names of units, by number
 *   sources    the text of the files that lines belong to
 *   why        what `why --json` prints, if --of was given
 */
#include "cli/page.h"
#include "cli/profile.h"
#include "cli/page_events.h"

#include <stdlib.h>
#include <string.h>

extern const char wg_page_html[], wg_page_style[], wg_page_script[];

/* ---- Boxes ---- */

size_t wg_page_links(const wg_chain *c, uint64_t from, uint64_t to)
{
    size_t count = 0;
    for (unsigned track = 0; track < WG_TRACKS; track++)
        for (size_t i = 0; i < c->count[track]; i++)
            count += c->link[track][i].to > from && c->link[track][i].from < to;
    return count;
}

uint64_t wg_page_reach(const wg_session *s)
{
    const wg_chain *c = &s->costs->chain;
    uint64_t low = s->costs->from;
    for (unsigned track = 0; track < WG_TRACKS; track++)
        if (c->count[track] && c->link[track][0].from > low)
            low = c->link[track][0].from;
    return low;
}

/* The latest part of the run that fits on a page. */
static uint64_t shown_from(const wg_session *s)
{
    const wg_chain *c = &s->costs->chain;
    uint64_t low = wg_page_reach(s), high = s->costs->to;
    if (wg_page_links(c, low, s->costs->to) <= s->boxes)
        return low;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (wg_page_links(c, middle, s->costs->to) <= s->boxes)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static bool is_used(const wg_chain *c, unsigned track)
{
    for (size_t i = 0; i < c->count[track]; i++)
        if (c->link[track][i].what.doing != WG_DOING_IDLE && c->link[track][i].what.doing != WG_DOING_RESET)
            return true;
    return false;
}

static const char *kind_of(unsigned track)
{
    return wg_track_is_core(track) ? "core" : wg_track_is_thread(track) ? "thread" : "unit";
}

void wg_page_tracks(const wg_session *s, wg_page_boxes *b, uint64_t from, uint64_t to)
{
    const wg_chain *c = &s->costs->chain;
    unsigned rows = 0;
    wg_json_open(b->j, "tracks", '[');
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        if (!is_used(c, track))
            continue;
        b->row[track] = rows++;
        wg_json_open(b->j, NULL, '{');
        wg_json_text(b->j, "name", wg_agent_name_of(s->dev, track));
        wg_json_text(b->j, "kind", kind_of(track));
        wg_json_open(b->j, "links", '[');
        for (size_t i = 0; i < c->count[track]; i++) {
            const wg_link *link = &c->link[track][i];
            if (link->to <= from || link->from >= to)
                continue;
            wg_json_uint(b->j, NULL, (link->to < to ? link->to : to) - (link->from > from ? link->from : from));
            wg_json_uint(b->j, NULL, wg_cost_add(&b->kinds, &link->what));
        }
        wg_json_close(b->j, ']');
        wg_json_close(b->j, '}');
    }
    wg_json_close(b->j, ']');
}

static void piece_json(void *user, unsigned tile, const wg_link *piece)
{
    wg_page_boxes *b = user;
    (void)tile;
    wg_json_uint(b->j, NULL, b->row[wg_track_is_niu(piece->what.track) ? piece->what.core : piece->what.track]);
    wg_json_uint(b->j, NULL, piece->to - piece->from);
}

void wg_page_causes(wg_json *j)
{
    wg_json_open(j, "units", '[');
    for (unsigned track = 0; track < WG_TRACKS; track++)
        wg_json_text(j, NULL, wg_agent_name(track));
    wg_json_close(j, ']');
    static const unsigned example[] = {WG_AGENT_CORE_B, WG_AGENT_THREAD0, WG_AGENT_MATRIX};
    char name[64], key[96];
    wg_json_open(j, "causes", '{');
    for (unsigned k = 0; k < 3; k++)
        for (unsigned doing = 0; doing < WG_DOINGS; doing++) {
            snprintf(key, sizeof key, "%s %s", kind_of(example[k]),
                     wg_doing_name(example[k], doing, name, sizeof name));
            wg_json_text(j, key, wg_doing_text(example[k], doing));
        }
    wg_json_close(j, '}');
}

/* ---- Sources ---- */

static bool source_json(const char *file, wg_json *j, wg_text *error)
{
    char message[512];
    size_t size;
    uint8_t *text = wg_file_read(file, &size, message, sizeof message);
    if (!text) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    if (!memchr(text, 0, size)) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", file);
        wg_json_text(j, "text", (const char *)text);
        wg_json_close(j, '}');
    }
    free(text);
    return true;
}

bool wg_page_add_sources(wg_session *s, const wg_cost_table *kinds, wg_page_sources *all, wg_json *j, wg_text *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < kinds->count && all->count < WG_PAGE_SOURCES; i++) {
        const char *file = wg_profile_file(s, &kinds->cost[i]);
        size_t k = 0;
        while (file && k < all->count && strcmp(all->seen[k], file) != 0)
            k++;
        if (!file || k < all->count)
            continue;
        all->seen[all->count++] = file;
        ok = !wg_is_source(file) || source_json(file, j, error);
    }
    return ok;
}

void wg_page_kinds(wg_session *s, const wg_page_boxes *b)
{
    wg_json_open(b->j, "kinds", '[');
    for (size_t i = 0; i < b->kinds.count; i++)
        wg_profile_cost_json(s, &b->kinds.cost[i], b->j);
    wg_json_close(b->j, ']');
    if (b->kinds.failed || s->page->failed)
        wg_memory_lost();
}

/* ---- The page ---- */

/* `</` would end the script element that contains the JSON. */
static void add_json(wg_text *out, const char *json)
{
    for (const char *at; (at = strstr(json, "</")); json = at + 1) {
        wg_text_add(out, json, (size_t)(at - json));
        wg_text_add(out, "<\\", 2);
    }
    wg_text_add(out, json, strlen(json));
}

static void add_html(wg_text *out, const char *text)
{
    for (; *text; text++) {
        const char *as = *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : *text == '"' ? "&quot;" : NULL;
        wg_text_add(out, as ? as : text, as ? strlen(as) : 1);
    }
}

static bool data_json(wg_session *s, int status, wg_text *out, wg_text *error)
{
    wg_json json = {.out = out, .dense = true}, *j = &json;
    wg_text run = {0}, sentence = {0}, hang = {0};
    wg_page_boxes b = {.j = j};
    uint64_t from = shown_from(s), to = s->costs->to;
    wg_report_json(s, status, NULL, &run);
    wg_profile_sentence(s, &sentence);
    wg_json_open(j, NULL, '{');
    wg_json_raw(j, "run", wg_text_of(&run));
    wg_json_uint(j, "from", from);
    wg_json_uint(j, "to", to);
    wg_json_text(j, "sentence", wg_text_of(&sentence));
    if (s->hang) {
        wg_report_hang(s, &hang);
        wg_json_text(j, "hang", wg_text_of(&hang));
    }
    wg_page_tracks(s, &b, from, to);
    wg_json_open(j, "path", '[');
    wg_chain_walk(&(const wg_chain *){&s->costs->chain}, 1, from, to, wg_path_end(&(wg_profiled){&s, 1}, to),
                  piece_json, &b);
    wg_json_close(j, ']');
    wg_page_steps(s->page, from, to, j);
    wg_page_ways(s->page, from, to, j);
    wg_page_kinds(s, &b);
    wg_page_causes(j);
    wg_page_sources sources = {.count = 0};
    wg_json_open(j, "sources", '[');
    bool ok = wg_page_add_sources(s, &b.kinds, &sources, j, error);
    wg_json_close(j, ']');
    ok = ok && wg_page_why(s->args, j, error);
    wg_json_close(j, '}');
    wg_cost_table_free(&b.kinds);
    wg_text_free(&run);
    wg_text_free(&sentence);
    wg_text_free(&hang);
    return ok;
}

bool wg_page_why(const wg_args *args, wg_json *j, wg_text *error)
{
    wg_text why = {0};
    const bool ok = !args->value[WG_OPT_OF] || wg_why_json(args, &why, error);
    if (why.size)
        wg_json_raw(j, "why", wg_text_of(&why));
    wg_text_free(&why);
    return ok;
}

bool wg_page_file(const wg_args *args, const char *title, const wg_text *data, wg_text *out, wg_text *error)
{
    const char *path = args->value[WG_OPT_OUTPUT] ? args->value[WG_OPT_OUTPUT] : "report.html";
    wg_text page = {0};
    char message[512];
    for (const char *at = wg_page_html, *mark; *at; at = mark) {
        mark = strchr(at + 1, '@');
        mark = mark ? mark : at + strlen(at);
        size_t name = *at == '@' && *mark == '@' ? (size_t)(mark - at) + 1 : 0;
        if (name == 7 && memcmp(at, "@TITLE@", 7) == 0)
            add_html(&page, title);
        else if (name == 7 && memcmp(at, "@STYLE@", 7) == 0)
            wg_text_add(&page, wg_page_style, strlen(wg_page_style));
        else if (name == 6 && memcmp(at, "@DATA@", 6) == 0)
            add_json(&page, wg_text_of(data));
        else if (name == 8 && memcmp(at, "@SCRIPT@", 8) == 0)
            wg_text_add(&page, wg_page_script, strlen(wg_page_script));
        else {
            wg_text_add(&page, at, (size_t)(mark - at));
            continue;
        }
        mark++;
    }
    bool ok = wg_file_write(path, wg_text_of(&page), page.size, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: %s\n", message);
    else if (!args->value[WG_OPT_JSON] && !args->value[WG_OPT_QUIET] && strcmp(path, "-") != 0)
        wg_textf(out, "\nThe report is %s, %.1f MB: open it in a browser.\n", path, (double)page.size / 1e6);
    wg_text_free(&page);
    return ok;
}

bool wg_page_write(wg_session *s, int status, wg_text *out, wg_text *error)
{
    wg_text data = {0};
    bool ok = data_json(s, status, &data, error) && !wg_session_lost_memory(s) &&
              wg_page_file(s->args, s->title, &data, out, error);
    wg_text_free(&data);
    return ok;
}
