/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a cluster. Every process writes the part of its chips; the first one joins them, in the order of the
 * chips, so that the report is the same for any number of processes.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/cluster_hang.h"
#include "arch/arch.h"
#include "cli/cluster_path.h"
#include "cli/cluster_run.h"
#include "cli/waits.h"

enum { SCHEMA = 1 };

/* A process's contribution: records about its chips and about the ends of links at them. */
typedef enum record_kind { SUMMARY, TEXT, SARIF, PARTIES, TRAFFIC, PATH } record_kind;

typedef struct record {
    uint32_t kind, of; /* chip; link */
    uint64_t bytes;    /* bytes that follow */
} record;

typedef struct summary {
    uint32_t tiles;
    int32_t status;
} summary;

typedef struct traffic {
    uint32_t end, pad;
    wg_cluster_traffic count;
} traffic;

/* The more severe of two exit statuses. */
static int worse(int a, int b)
{
    static const int order[] = {WG_EXIT_INTERRUPTED, WG_EXIT_ERROR,     WG_EXIT_HANG,
                                WG_EXIT_LIMIT,       WG_EXIT_UNDEFINED, WG_EXIT_FINDINGS};
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return WG_EXIT_DONE;
}

static void chip_json(wg_chip_run *chip, unsigned number, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "chip", number);
    wg_chip_tiles_json(chip, j);
    wg_chip_profile_json(chip, j);
    wg_json_close(j, '}');
    while (out->size && out->data[out->size - 1] == '\n')
        out->size--;
}

static void chip_text(wg_chip_run *chip, unsigned number, wg_text *out)
{
    wg_text own = {.colour = out->colour};
    wg_chip_tiles_text(chip, &own);
    if (own.size) {
        wg_textf(out, "chip %u\n", number);
        wg_text_add(out, own.data, own.size);
    }
    out->failed |= own.failed;
    wg_text_free(&own);
}

/* ---- A process's part -------------------------------------------------------------------------------------------- */

static bool add_record(wg_message *m, record_kind kind, unsigned of, const void *bytes, size_t count)
{
    record head;
    memset(&head, 0, sizeof head);
    head.kind = kind;
    head.of = of;
    head.bytes = count;
    return wg_message_add(m, &head, sizeof head) && wg_message_add(m, bytes, count);
}

static bool add_text(wg_message *m, record_kind kind, unsigned of, wg_text *text)
{
    const bool ok = !text->failed && (!text->size || add_record(m, kind, of, text->data, text->size));
    wg_text_free(text);
    return ok;
}

static bool write_chip(wg_cluster_job *r, unsigned i, bool colour, wg_message *m, wg_text *error)
{
    wg_chip_run *chip = r->chip[i];
    wg_text text = {.colour = colour}, sarif = {0};
    wg_message parties = {0};
    const summary s = {(uint32_t)chip->tiles, wg_chip_status(chip)};
    bool ok = add_record(m, SUMMARY, i, &s, sizeof s);
    if (r->args->value[WG_OPT_JSON])
        chip_json(chip, i, &text);
    else
        chip_text(chip, i, &text);
    if (r->args->command == WG_CMD_REPORT && chip->profiled)
        ok = wg_chip_page(chip, s.status, &text, error) && ok;
    ok = add_text(m, TEXT, i, &text) && ok;
    if (r->sarif && (chip->tiles || !i))
        ok = wg_chip_sarif(chip, s.status, &sarif, error) && ok;
    ok = add_text(m, SARIF, i, &sarif) && ok;
    if (r->ended == WG_ENDED_HUNG)
        ok = wg_cluster_parties(chip, &parties) && add_record(m, PARTIES, i, parties.data, parties.bytes) && ok;
    wg_message_free(&parties);
    return ok;
}

static bool write_part(wg_cluster_job *r, bool colour, wg_message *m, wg_text *error)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < r->file.chips; i++)
        ok = !r->chip[i] || write_chip(r, i, colour, m, error);
    for (unsigned l = 0; ok && l < wg_cluster_links(r->cluster); l++)
        for (unsigned end = 0; ok && end < 2; end++) {
            traffic t;
            memset(&t, 0, sizeof t);
            t.end = end;
            if (wg_cluster_traffic_at(r->cluster, l, end, &t.count))
                ok = add_record(m, TRAFFIC, l, &t, sizeof t);
        }
    if (r->args->command == WG_CMD_PROFILE) {
        wg_message path = {0};
        ok = wg_cluster_path_part(r, &path) && ok;
        ok = ok && add_record(m, PATH, 0, path.data, path.bytes);
        wg_message_free(&path);
    }
    return ok;
}

/* ---- All parts, at the first process ---------------------------------------------------------------------------------- */

typedef struct whole {
    unsigned chips, links, tiles;
    int status;
    wg_cluster_traffic (*traffic)[2]; /* by link and end */
    wg_text *text, *sarif;            /* by chip */
    wg_message parties, path;
} whole;

static bool read_record(const record *head, const uint8_t *bytes, whole *w)
{
    summary s;
    traffic t;
    if (head->of >= (head->kind == TRAFFIC ? w->links : w->chips))
        return false;
    switch ((record_kind)head->kind) {
    case SUMMARY:
        if (head->bytes != sizeof s)
            return false;
        memcpy(&s, bytes, sizeof s);
        w->tiles += s.tiles;
        w->status = worse(w->status, s.status);
        return true;
    case TRAFFIC:
        if (head->bytes != sizeof t)
            return false;
        memcpy(&t, bytes, sizeof t);
        w->traffic[head->of][t.end & 1] = t.count;
        return true;
    case TEXT: wg_text_add(&w->text[head->of], (const char *)bytes, head->bytes); return true;
    case SARIF: wg_text_add(&w->sarif[head->of], (const char *)bytes, head->bytes); return true;
    case PARTIES: return wg_message_add(&w->parties, bytes, head->bytes);
    case PATH: return wg_message_add(&w->path, bytes, head->bytes);
    }
    return false;
}

static bool read_part(const wg_message *m, whole *w)
{
    record head;
    for (size_t at = 0; at < m->bytes; at += head.bytes) {
        if (m->bytes - at < sizeof head)
            return false;
        memcpy(&head, m->data + at, sizeof head);
        at += sizeof head;
        if (head.bytes > m->bytes - at || !read_record(&head, m->data + at, w))
            return false;
    }
    return true;
}

static int by_place(const void *left, const void *right)
{
    const wg_party *a = left, *b = right;
    return a->chip != b->chip ? (a->chip < b->chip ? -1 : 1) : (a->tile > b->tile) - (a->tile < b->tile);
}

static size_t sort_parties(whole *w)
{
    const size_t count = w->parties.bytes / sizeof(wg_party);
    if (count)
        qsort(w->parties.data, count, sizeof(wg_party), by_place);
    return count;
}

static const wg_party *parties_of(const whole *w) { return (const void *)w->parties.data; }

static void report_json(wg_cluster_job *r, whole *w, uint64_t hash, const wg_text *error, wg_text *out)
{
    static const char *const ended[] = {"done", "until", "hang", "limit", "finding", "interrupted"};
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", SCHEMA);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", r->file.base.name);
    wg_json_text(j, "arch", wg_arch_of(r->file.base.grid.arch)->name);
    wg_json_text(j, "profile", r->file.base.grid.profile == WG_PROFILE_SILICON ? "silicon" : "documented");
    wg_json_uint(j, "seed", r->file.base.grid.seed);
    wg_json_text(j, "result", ended[r->ended]);
    wg_json_uint(j, "status", (uint64_t)r->status);
    wg_json_uint(j, "cycles", wg_cluster_cycle(r->cluster));
    wg_json_textf(j, "state", "%016llx", (unsigned long long)hash);
    wg_json_open(j, "links", '[');
    for (unsigned l = 0; l < wg_cluster_links(r->cluster); l++) {
        const wg_cluster_link *link = wg_cluster_link_at(r->cluster, l);
        wg_json_open(j, NULL, '{');
        wg_json_open(j, "ends", '[');
        for (unsigned end = 0; end < 2; end++) {
            const wg_cluster_traffic *t = &w->traffic[l][end];
            wg_json_open(j, NULL, '{');
            wg_json_uint(j, "chip", link->end[end].chip);
            wg_json_uint(j, "channel", link->end[end].channel);
            wg_json_uint(j, "sent", t->sent);
            wg_json_uint(j, "sent_bytes", t->sent_bytes);
            wg_json_uint(j, "received", t->received);
            wg_json_uint(j, "received_bytes", t->received_bytes);
            wg_json_uint(j, "resent", t->resent);
            wg_json_uint(j, "lost", t->lost);
            wg_json_close(j, '}');
        }
        wg_json_close(j, ']');
        if (link->cut_at)
            wg_json_uint(j, "cut", link->cut_at);
        if (link->again_at)
            wg_json_uint(j, "again", link->again_at);
        if (link->lose_every[0] || link->lose_every[1]) {
            wg_json_open(j, "lose_every", '[');
            wg_json_uint(j, NULL, link->lose_every[0]);
            wg_json_uint(j, NULL, link->lose_every[1]);
            wg_json_close(j, ']');
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "chips", '[');
    for (unsigned i = 0; i < w->chips; i++)
        if (w->text[i].size)
            wg_json_raw(j, NULL, wg_text_of(&w->text[i]));
    wg_json_close(j, ']');
    if (w->path.bytes)
        wg_cluster_path_json(r, &w->path, j);
    if (r->what_if)
        wg_report_what_if_json(r->what_if, j);
    if (r->waits)
        wg_report_waits_json(r->waits, j);
    if (r->ended == WG_ENDED_HUNG)
        wg_parties_verdict_json(parties_of(w), sort_parties(w), j);
    if (error->size)
        wg_error_member(j, error);
    wg_json_close(j, '}');
}

static void links_text(wg_cluster_job *r, const whole *w, wg_text *out)
{
    for (unsigned l = 0; l < wg_cluster_links(r->cluster); l++) {
        const wg_cluster_link *link = wg_cluster_link_at(r->cluster, l);
        const wg_cluster_traffic *a = &w->traffic[l][0], *b = &w->traffic[l][1];
        if (!a->sent && !b->sent)
            continue;
        wg_textf(out, "link %u:e%u – %u:e%u: %llu frames, %llu bytes one way; %llu frames, %llu bytes back",
                 link->end[0].chip, link->end[0].channel, link->end[1].chip, link->end[1].channel,
                 (unsigned long long)a->sent, (unsigned long long)a->sent_bytes, (unsigned long long)b->sent,
                 (unsigned long long)b->sent_bytes);
        if (a->lost + b->lost)
            wg_textf(out, "; %llu lost", (unsigned long long)(a->lost + b->lost));
        if (a->resent + b->resent)
            wg_textf(out, "; sent again %llu times", (unsigned long long)(a->resent + b->resent));
        wg_textf(out, "\n");
    }
}

static void report_text(wg_cluster_job *r, whole *w, wg_text *out)
{
    static const char *const sentence[] = {
        "done", "done (until)", "hangs", "stopped by the cycle limit", "stopped by a finding", "interrupted"};
    if (!r->args->value[WG_OPT_QUIET] || r->status != WG_EXIT_DONE)
        wg_textf(out, "%s: %s after %llu cycles (%s, %u chip%s, %u tile%s)\n", r->file.base.name, sentence[r->ended],
                 (unsigned long long)wg_cluster_cycle(r->cluster), wg_arch_title(r->file.base.grid.arch), r->file.chips,
                 r->file.chips == 1 ? "" : "s", w->tiles, w->tiles == 1 ? "" : "s");
    if (r->ended == WG_ENDED_HUNG)
        wg_parties_verdict(parties_of(w), sort_parties(w), out);
    uint64_t top = 12;
    wg_option_number(r->args, WG_OPT_TOP, "top", &top, out);
    wg_cluster_path_text(r, &w->path, top, out);
    if (r->what_if)
        wg_report_what_if(r->what_if, out);
    for (unsigned i = 0; i < w->chips; i++)
        wg_text_add(out, wg_text_of(&w->text[i]), w->text[i].size);
    if (r->waits)
        wg_report_waits(r->waits, out);
    if (r->args->value[WG_OPT_STATS])
        links_text(r, w, out);
}

/* --sarif, and the reports for `waitgate test`. */
static bool write_sarif(wg_cluster_job *r, const whole *w, wg_text *error)
{
    const char *path = r->args->value[WG_OPT_SARIF];
    wg_text runs = {0}, file = {0};
    char message[512];
    bool ok = true;
    for (unsigned i = 0; i < w->chips; i++)
        wg_text_add(&runs, wg_text_of(&w->sarif[i]), w->sarif[i].size);
    if (path) {
        wg_sarif(wg_text_of(&runs), w->status, &file);
        ok = !file.failed && !runs.failed && wg_file_write(path, wg_text_of(&file), file.size, message, sizeof message);
        if (!ok)
            wg_textf(error, "waitgate: --sarif: %s\n", file.failed || runs.failed ? "out of memory" : message);
    }
    if (r->runs)
        wg_text_add(r->runs, wg_text_of(&runs), runs.size);
    wg_text_free(&runs);
    wg_text_free(&file);
    return ok;
}

static bool allocate(whole *w)
{
    w->traffic = wg_calloc(w->links ? w->links : 1, sizeof *w->traffic);
    w->text = wg_calloc(w->chips, sizeof *w->text);
    w->sarif = wg_calloc(w->chips, sizeof *w->sarif);
    return w->traffic && w->text && w->sarif;
}

static void release(whole *w)
{
    for (unsigned i = 0; i < w->chips; i++) {
        if (w->text)
            wg_text_free(&w->text[i]);
        if (w->sarif)
            wg_text_free(&w->sarif[i]);
    }
    free(w->traffic);
    free(w->text);
    free(w->sarif);
    wg_message_free(&w->parties);
    wg_message_free(&w->path);
}

bool wg_cluster_report(wg_cluster_job *r, wg_text *out, wg_text *error)
{
    const unsigned ranks = r->ranks ? r->ranks->ranks : 1;
    whole w = {.chips = r->file.chips, .links = wg_cluster_links(r->cluster), .status = WG_EXIT_DONE};
    wg_message mine = {0}, *all = wg_calloc(ranks, sizeof *all);
    uint64_t hash = 0;
    r->sarif = r->args->value[WG_OPT_SARIF] || r->runs;
    bool json = r->args->value[WG_OPT_JSON], ok = all && allocate(&w) && write_part(r, out->colour, &mine, error);
    if (ok && json)
        ok = wg_cluster_state_hash(r->cluster, &hash) == WG_OK;
    if (ok && r->ranks)
        ok = r->ranks->gather(r->ranks, &mine, all);
    const bool reports = !r->ranks || r->ranks->rank == 0;
    for (unsigned i = 0; ok && reports && i < ranks; i++)
        ok = read_part(r->ranks ? &all[i] : &mine, &w);
    r->status = w.status;
    if (ok && reports) {
        ok = write_sarif(r, &w, error); /* first: the report says what could not be written */
        r->status = ok ? r->status : WG_EXIT_ERROR;
        if (json)
            report_json(r, &w, hash, error, out);
        else
            report_text(r, &w, out);
    }
    if (!ok && !error->size)
        wg_textf(error, "waitgate: the report could not be put together\n");
    for (unsigned i = 0; all && i < ranks; i++)
        wg_message_free(&all[i]);
    free(all);
    wg_message_free(&mine);
    release(&w);
    return ok;
}
