/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS): the format that development environments and code hosts show next to source lines. A report is a
 * result: its first party is the location, the others are related locations.
 */
#include <string.h>

#include "text/report.h"

static const char *level_of(wg_severity severity)
{
    return severity == WG_SEVERITY_NOTE ? "note" : severity == WG_SEVERITY_WARNING ? "warning" : "error";
}

/* A path as a URI reference: characters not allowed in a URI are escaped (RFC 3986). */
static void uri_of(const char *path, wg_text *out)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    if (path[0] == '/')
        wg_textf(out, "file://");
    for (const char *p = path; *p; p++) {
        if (strchr(unreserved, *p))
            wg_text_add(out, p, 1);
        else
            wg_textf(out, "%%%02X", (unsigned char)*p);
    }
}

static void message(wg_json *j, const char *key, const char *text)
{
    wg_json_open(j, key, '{');
    wg_json_text(j, "text", text);
    wg_json_close(j, '}');
}

static bool has_place(const wg_report_party *p) { return p->source.file || p->source.function || p->pc; }

/* The members of a location object. */
static void location(const wg_report_party *p, wg_json *j)
{
    if (p->source.file) {
        wg_text uri = {0};
        uri_of(p->source.file, &uri);
        wg_json_open(j, "physicalLocation", '{');
        wg_json_open(j, "artifactLocation", '{');
        wg_json_text(j, "uri", wg_text_of(&uri));
        wg_json_close(j, '}');
        if (p->source.line) {
            wg_json_open(j, "region", '{');
            wg_json_uint(j, "startLine", p->source.line);
            if (*p->snippet)
                message(j, "snippet", p->snippet);
            wg_json_close(j, '}');
        }
        wg_json_close(j, '}');
        wg_text_free(&uri);
    } else if (p->pc) {
        wg_json_open(j, "physicalLocation", '{');
        wg_json_open(j, "address", '{');
        wg_json_uint(j, "absoluteAddress", p->pc);
        wg_json_close(j, '}');
        wg_json_close(j, '}');
    }
    if (p->source.function) {
        wg_json_open(j, "logicalLocations", '[');
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", p->source.function);
        wg_json_text(j, "kind", "function");
        wg_json_close(j, '}');
        wg_json_close(j, ']');
    }
}

static const char *party_words(const wg_report_party *p, char *room, size_t bytes)
{
    snprintf(room, bytes, "%s%s%s at cycle %llu%s%s", p->who, *p->does ? ", " : "", p->does,
             (unsigned long long)p->cycle, *p->instruction ? ": " : "", p->instruction);
    return room;
}

static void locations(const wg_report *r, wg_json *j)
{
    char words[1024];
    wg_json_open(j, "locations", '[');
    if (r->parties && has_place(&r->party[0])) {
        wg_json_open(j, NULL, '{');
        location(&r->party[0], j);
        message(j, "message", party_words(&r->party[0], words, sizeof words));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    if (r->parties < 2)
        return;
    wg_json_open(j, "relatedLocations", '[');
    for (unsigned i = 1; i < r->parties; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "id", i);
        location(&r->party[i], j);
        message(j, "message", party_words(&r->party[i], words, sizeof words));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

static void rule(const wg_report *r, wg_json *j)
{
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "id", r->rule);
    message(j, "shortDescription", r->summary);
    message(j, "help", r->help);
    wg_json_open(j, "defaultConfiguration", '{');
    wg_json_text(j, "level", level_of(r->severity));
    wg_json_close(j, '}');
    wg_json_close(j, '}');
}

static void result(const wg_report *r, wg_json *j)
{
    wg_text text = {0};
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "ruleId", r->rule);
    wg_json_text(j, "level", level_of(r->severity));
    if (r->chip >= 0)
        wg_textf(&text, "Chip %d%s", r->chip, r->x >= 0 ? ", tile" : ": ");
    if (r->x >= 0)
        wg_textf(&text, "%s %d-%d: ", r->chip >= 0 ? "" : "Tile", r->x, r->y);
    wg_textf(&text, "%s%s%s%s", r->cause, *r->evidence ? " [" : "", r->evidence, *r->evidence ? "]" : "");
    wg_textf(&text, " %s: %s", r->verified ? "Verified remedy" : "Remedy", r->remedy);
    message(j, "message", wg_text_of(&text));
    wg_text_free(&text);
    locations(r, j);
    wg_json_uint(j, "occurrenceCount", r->count ? r->count : 1);
    if (r->suppressed) {
        wg_json_open(j, "suppressions", '[');
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "kind", "external");
        wg_json_text(j, "justification", r->suppressed);
        wg_json_close(j, '}');
        wg_json_close(j, ']');
    }
    wg_json_open(j, "properties", '{');
    wg_json_text(j, "severity", wg_severity_names[r->severity]);
    wg_json_uint(j, "cycle", r->cycle);
    wg_json_close(j, '}');
    wg_json_close(j, '}');
}

/* ---- parts: a line per rule, "R" ID TAB OBJECT, and per result, "=" ID TAB OBJECT ---- */

static void add_line(wg_text *part, wg_text *object)
{
    wg_json_one_line(object);
    wg_text_add(part, wg_text_of(object), object->size);
    if (object->size && object->data[object->size - 1] != '\n')
        wg_textf(part, "\n");
    part->failed |= object->failed;
    wg_text_free(object);
}

void wg_sarif_part(const wg_reports *all, wg_text *part)
{
    for (size_t i = 0; i < all->count; i++) {
        wg_text object = {0};
        size_t first = 0;
        while (strcmp(all->at[first].rule, all->at[i].rule) != 0)
            first++;
        if (first == i) {
            rule(&all->at[i], &(wg_json){.out = &object});
            wg_textf(part, "R%s\t", all->at[i].rule);
            add_line(part, &object);
            object = (wg_text){0};
        }
        result(&all->at[i], &(wg_json){.out = &object});
        wg_textf(part, "=%s\t", all->at[i].rule);
        add_line(part, &object);
    }
}

/* The rules of all lines, each once. `seen`: their codes, with tabs before, between and behind them. */
static void rules(const char *parts, wg_text *seen, wg_json *j)
{
    for (const char *line = parts, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        wg_text key = {0}, object = {0};
        if (*line != 'R' || !tab)
            continue;
        wg_textf(&key, "\t%.*s", (int)(tab - line), line + 1); /* the code between tabs */
        if (!strstr(wg_text_of(seen), wg_text_of(&key))) {
            wg_text_add(&object, tab + 1, (size_t)(end - tab - 1));
            wg_json_raw(j, NULL, wg_text_of(&object));
            wg_text_add(seen, wg_text_of(&key) + (seen->size > 0),
                        key.size - (seen->size > 0)); /* one tab between two */
        }
        wg_text_free(&key);
        wg_text_free(&object);
    }
}

/* The place of a code in `seen`. */
static unsigned rule_index(const wg_text *seen, const char *code, size_t length)
{
    const char *at = wg_text_of(seen);
    unsigned index = 0;
    for (at += *at == '\t'; *at && (strcspn(at, "\t") != length || memcmp(at, code, length) != 0); index++)
        at += strcspn(at, "\t") + 1; /* every result comes behind its rule */
    return index;
}

static void results(const char *parts, const wg_text *seen, wg_json *j)
{
    for (const char *line = parts, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        wg_text object = {0};
        if (*line != '=' || !tab)
            continue;
        wg_textf(&object, "{\"ruleIndex\": %u, ", rule_index(seen, line + 1, (size_t)(tab - line - 1)));
        wg_text_add(&object, tab + 2, (size_t)(end - tab - 2)); /* all but the opening brace */
        wg_json_raw(j, NULL, wg_text_of(&object));
        wg_text_free(&object);
    }
}

void wg_sarif(const char *parts, int exit_code, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_text seen = {0};
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    wg_json_text(j, "version", "2.1.0");
    wg_json_open(j, "runs", '[');
    wg_json_open(j, NULL, '{');
    wg_json_open(j, "tool", '{');
    wg_json_open(j, "driver", '{');
    wg_json_text(j, "name", "Waitgate");
    wg_json_text(j, "version", wg_version());
    wg_json_open(j, "rules", '[');
    rules(parts, &seen, j);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_json_close(j, '}');
    wg_json_open(j, "invocations", '[');
    wg_json_open(j, NULL, '{');
    wg_json_bool(j, "executionSuccessful", true);
    wg_json_uint(j, "exitCode", (uint64_t)(exit_code > 0 ? exit_code : 0));
    wg_json_close(j, '}');
    wg_json_close(j, ']');
    wg_json_open(j, "results", '[');
    results(parts, &seen, j);
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_json_close(j, ']');
    wg_json_close(j, '}');
    wg_text_free(&seen);
}

void wg_reports_sarif(const wg_reports *all, int exit_code, wg_text *out)
{
    wg_text part = {0};
    wg_sarif_part(all, &part);
    wg_sarif(wg_text_of(&part), exit_code, out);
    out->failed |= part.failed;
    wg_text_free(&part);
}
