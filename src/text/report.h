/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One model for all reports: rule, cause, parties, evidence, remedy. Findings, races and hangs are converted to it; JSON and
 * SARIF are generated from it.
 */
#ifndef WG_REPORT_H
#define WG_REPORT_H

#include "explain/hang.h"
#include "isa/asm.h"
#include "text/race_text.h"

typedef struct wg_report_party {
    char who[160];  /* "core B" */
    char does[160]; /* "write", "waits: semaphore 1 (MATH_PACK) is zero" */
    char instruction[WG_DIS_MAX];
    uint32_t pc; /* 0: not known */
    uint64_t cycle;
    wg_source source;
    char snippet[WG_SNIPPET]; /* the source line; "": it cannot be read */
} wg_report_party;

enum { WG_REPORT_PARTIES = 8 };
typedef struct wg_report {
    const char *rule, *summary, *help; /* the rule's name, summary and general remedy */
    wg_severity severity;
    char cause[2304], evidence[1024], remedy[1024];
    bool verified;          /* the remedy was tried and works */
    const char *suppressed; /* why it is not shown; NULL: it is */
    uint64_t count, cycle;  /* of occurrences; of the first */
    int x, y;               /* the tile; negative: there is only one */
    int chip;               /* likewise */
    unsigned parties;
    wg_report_party party[WG_REPORT_PARTIES]; /* the main one first */
} wg_report;

typedef struct wg_reports {
    wg_report *at;
    size_t count;
    bool failed; /* out of memory */
    wg_excerpts excerpts;
} wg_reports;

/* Each adds one and returns it; NULL: out of memory. */
wg_report *wg_reports_finding(wg_reports *all, const wg_race_words *w, const wg_finding *f);
wg_report *wg_reports_race(wg_reports *all, const wg_race_words *w, const wg_race *race);
wg_report *wg_reports_hang(wg_reports *all, const wg_race_words *w, const wg_hang *h);
void wg_reports_free(wg_reports *all);

/* An array of the object that is open. */
void wg_reports_json(const wg_reports *all, const char *key, wg_json *j);
/* A whole SARIF file. */
void wg_reports_sarif(const wg_reports *all, int exit_code, wg_text *out);
/*
 * The file of several runs, as one run object: hosts of code accept only one per tool. Each run's part is appended to the text that the
 * file is made of.
 */
void wg_sarif_part(const wg_reports *all, wg_text *part);
void wg_sarif(const char *parts, int exit_code, wg_text *out);

#endif
