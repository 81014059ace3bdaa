/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a cluster. Every process writes the part of its chips; the first one puts them together, in the order of the
 * chips, so that the report is the same for any number of processes.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_run.h"

enum { SCHEMA = 1 };

/* What a process contributes: counts, traffic of the ends of links, text or JSON of its chips. */
typedef struct part {
    uint32_t tiles, traffics, bytes;
    int32_t status;
} part;

typedef struct traffic {
    uint32_t link, end;
    wg_cluster_traffic count;
} traffic;

/* Which of two exit statuses says more. */
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
    wg_text_free(&own);
}

/* This process's part, as bytes. */
static bool write_part(wg_cluster_job *r, bool colour, wg_message *m)
{
    wg_text text = {.colour = colour};
    part p = {.status = WG_EXIT_DONE};
    bool ok = true, first = true;
    for (unsigned i = 0; i < r->file.chips; i++) {
        if (!r->chip[i])
            continue;
        p.tiles += (uint32_t)r->chip[i]->tiles;
        p.status = worse(p.status, wg_chip_status(r->chip[i]));
        if (!r->args->value[WG_OPT_JSON]) {
            chip_text(r->chip[i], i, &text);
            continue;
        }
        if (!first)
            wg_textf(&text, ",");
        first = false;
        chip_json(r->chip[i], i, &text);
    }
    wg_message counts = {0};
    for (unsigned l = 0; ok && l < wg_cluster_links(r->cluster); l++)
        for (unsigned end = 0; ok && end < 2; end++) {
            traffic t;
            memset(&t, 0, sizeof t);
            t.link = l;
            t.end = end;
            if (wg_cluster_traffic_at(r->cluster, l, end, &t.count)) {
                ok = wg_message_add(&counts, &t, sizeof t);
                p.traffics++;
            }
        }
    p.bytes = (uint32_t)text.size;
    ok = ok && !text.failed && wg_message_add(m, &p, sizeof p) && wg_message_add(m, counts.data, counts.bytes) &&
         wg_message_add(m, wg_text_of(&text), text.size);
    wg_message_free(&counts);
    wg_text_free(&text);
    return ok;
}

/* All parts, at the first process. */
typedef struct whole {
    unsigned tiles;
    int status;
    wg_cluster_traffic (*traffic)[2]; /* by link and end */
    wg_text chips;
} whole;

static bool read_part(const wg_message *m, unsigned links, bool json, whole *w)
{
    part p;
    if (m->bytes < sizeof p)
        return false;
    memcpy(&p, m->data, sizeof p);
    size_t at = sizeof p;
    if ((m->bytes - at) / sizeof(traffic) < p.traffics || m->bytes - at - p.traffics * sizeof(traffic) != p.bytes)
        return false;
    for (uint32_t i = 0; i < p.traffics; i++, at += sizeof(traffic)) {
        traffic t;
        memcpy(&t, m->data + at, sizeof t);
        if (t.link < links && t.end < 2)
            w->traffic[t.link][t.end] = t.count;
    }
    if (json && w->chips.size && p.bytes)
        wg_textf(&w->chips, ",");
    wg_text_add(&w->chips, (const char *)m->data + at, p.bytes);
    w->tiles += p.tiles;
    w->status = worse(w->status, p.status);
    return true;
}

static void report_json(wg_cluster_job *r, const whole *w, uint64_t hash, wg_text *out)
{
    static const char *const ended[] = {"done", "until", "hang", "limit", "finding", "interrupted"};
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", SCHEMA);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", r->file.base.name);
    wg_json_text(j, "arch", r->file.base.grid.arch == WG_ARCH_WH ? "wh" : "bh");
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
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text chips = {0};
    wg_textf(&chips, "[%s]", wg_text_of(&w->chips));
    wg_json_raw(j, "chips", wg_text_of(&chips));
    wg_text_free(&chips);
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

static void report_text(wg_cluster_job *r, const whole *w, wg_text *out)
{
    static const char *const sentence[] = {
        "done", "done (until)", "hangs", "stopped by the cycle limit", "stopped by a finding", "interrupted"};
    if (!r->args->value[WG_OPT_QUIET] || r->status != WG_EXIT_DONE)
        wg_textf(out, "%s: %s after %llu cycles (%s, %u chip%s, %u tile%s)\n", r->file.base.name, sentence[r->ended],
                 (unsigned long long)wg_cluster_cycle(r->cluster), wg_arch_title(r->file.base.grid.arch), r->file.chips,
                 r->file.chips == 1 ? "" : "s", w->tiles, w->tiles == 1 ? "" : "s");
    wg_text_add(out, wg_text_of(&w->chips), w->chips.size);
    if (r->args->value[WG_OPT_STATS])
        links_text(r, w, out);
}

bool wg_cluster_report(wg_cluster_job *r, wg_text *out, wg_text *error)
{
    const unsigned ranks = r->ranks ? r->ranks->ranks : 1, links = wg_cluster_links(r->cluster);
    whole w = {.status = WG_EXIT_DONE, .chips.colour = out->colour};
    wg_message mine = {0}, *all = wg_calloc(ranks, sizeof *all);
    uint64_t hash = 0;
    bool json = r->args->value[WG_OPT_JSON],
         ok = all && (w.traffic = wg_calloc(links ? links : 1, sizeof *w.traffic)) && write_part(r, out->colour, &mine);
    if (ok && json)
        ok = wg_cluster_state_hash(r->cluster, &hash) == WG_OK;
    if (ok && r->ranks)
        ok = r->ranks->gather(r->ranks, &mine, all);
    const bool reports = !r->ranks || r->ranks->rank == 0;
    for (unsigned i = 0; ok && reports && i < ranks; i++)
        ok = read_part(r->ranks ? &all[i] : &mine, links, json, &w);
    r->status = w.status;
    if (ok && reports) {
        if (json)
            report_json(r, &w, hash, out);
        else
            report_text(r, &w, out);
    }
    if (!ok)
        wg_textf(error, "waitgate: the report could not be put together\n");
    for (unsigned i = 0; all && i < ranks; i++)
        wg_message_free(&all[i]);
    free(all);
    wg_message_free(&mine);
    free(w.traffic);
    wg_text_free(&w.chips);
    return ok;
}
