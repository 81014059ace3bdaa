/* SPDX-License-Identifier: Apache-2.0 */
/* All reports of a run in one model (text/report.h), for --json and --sarif. */
#include "cli/session.h"

#include <string.h>

bool wg_collect_reports(wg_session *s, int x, int y, wg_reports *all)
{
    const wg_race_words w = wg_check_words(s);
    size_t first = all->count;
    for (size_t i = 0; i < wg_finding_count(s->dev); i++) {
        const wg_finding *f = wg_finding_at(s->dev, i);
        wg_report *r = wg_reports_finding(all, &w, f);
        wg_text blamed = {0};
        const wg_blamed *b;
        for (unsigned k = 0; r && (b = wg_blame_at(s, f, k)) != NULL; k++) {
            wg_textf(&blamed, "; ");
            wg_blame_text(s, b, &blamed);
        }
        if (r && blamed.size) {
            size_t used = strlen(r->evidence);
            snprintf(r->evidence + used, sizeof r->evidence - used, "%s", wg_text_of(&blamed));
        }
        if (r)
            r->suppressed = wg_check_reason(s, f);
        wg_text_free(&blamed);
    }
    for (size_t i = 0; s->races && i < wg_races_count(s->races); i++) {
        const wg_race *race = wg_races_at(s->races, i);
        if (wg_check_folds(s, race))
            continue;
        wg_report *r = wg_reports_race(all, &w, race);
        if (r)
            r->suppressed = wg_check_race_reason(s, race);
    }
    if (s->hang && s->ended == WG_ENDED_HUNG)
        wg_reports_hang(all, &w, s->hang);
    for (size_t i = first; i < all->count; i++) {
        all->at[i].x = x;
        all->at[i].y = y;
    }
    return !all->failed;
}

void wg_collect_json(wg_session *s, wg_json *j)
{
    wg_reports all = {0};
    wg_collect_reports(s, -1, -1, &all);
    wg_reports_json(&all, "reports", j);
    wg_reports_free(&all);
}

bool wg_write_sarif(const wg_args *args, const wg_reports *all, int status, wg_text *error)
{
    wg_text out = {0};
    char message[512];
    wg_reports_sarif(all, status, &out);
    bool ok = wg_file_write(args->value[WG_OPT_SARIF], wg_text_of(&out), out.size, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: --sarif: %s\n", message);
    wg_text_free(&out);
    return ok && !all->failed;
}

bool wg_session_sarif(wg_session *s, int status, wg_text *error)
{
    wg_reports all = {0};
    if (!s->args->value[WG_OPT_SARIF])
        return true;
    wg_collect_reports(s, -1, -1, &all);
    bool ok = wg_write_sarif(s->args, &all, status, error);
    wg_reports_free(&all);
    return ok;
}
