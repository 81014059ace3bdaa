/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate test`: many runs, each in its own process.
 *
 *     files, folders, lists ──plan──► tests ──run──► results ──► text, JSON, TAP, JUnit XML, SARIF, annotations
 *
 * A test is a run or check command line, its working folder, and the expected end.
 */
#ifndef WG_CLI_TEST_H
#define WG_CLI_TEST_H

#include "cli/options.h"

enum { WG_TESTS_MOST = 1 << 16, WG_TEST_WORDS = 64 };

typedef struct wg_test {
    char *name;
    char *folder;              /* working folder of its command line; "": this one */
    char *word[WG_TEST_WORDS]; /* "waitgate", "run" or "check", options, files */
    unsigned words;
    char *file;    /* its location, for annotations */
    unsigned line; /* of the list; 0: the file is the program */
    int status;    /* expected status */
    char *fails;   /* known to fail, for this reason; NULL: expected to pass */
} wg_test;

typedef struct wg_tests {
    wg_test *at;
    size_t count;
} wg_tests;

/* All tests of the files and folders that the arguments name, in order, each name once. */
bool wg_tests_plan(wg_tests *all, const wg_args *args, wg_text *error);
void wg_tests_free(wg_tests *all);

typedef enum wg_verdict {
    WG_VERDICT_NONE, /* it was not run */
    WG_VERDICT_PASS,
    WG_VERDICT_FAIL,
    WG_VERDICT_KNOWN,  /* it fails, as stated in its line */
    WG_VERDICT_SOLVED, /* it passes, though stated to fail */
    WG_VERDICT_TIMEOUT,
    WG_VERDICT_CRASH, /* its process ended without an answer */
    WG_VERDICT_SLOWER /* it passes, but takes more cycles than its baseline allows */
} wg_verdict;

typedef struct wg_test_result {
    wg_verdict verdict;
    int status;
    uint64_t cycles, baseline; /* baseline 0: none */
    uint32_t line; /* of the program: the first expectation that does not hold, or a report's place; 0: none */
    double seconds;
    wg_text text;  /* what it printed */
    wg_text sarif; /* its part of the file (wg_sarif_part()) */
} wg_test_result;

static inline bool wg_verdict_fails(wg_verdict v)
{
    return v != WG_VERDICT_NONE && v != WG_VERDICT_PASS && v != WG_VERDICT_KNOWN;
}
/* Why it failed, or a remark about one that passed, in a sentence; "" if there is none. */
void wg_test_reason(const wg_test *t, const wg_test_result *r, wg_text *out);
const char *wg_status_name(int status); /* done, expectation, undefined … */
/* -1: there is no such status. */
int wg_status_named(const char *name);

void wg_test_line(const wg_test *t, const wg_test_result *r, wg_text *out); /* "ok    NAME  …" */
void wg_test_output(const wg_test_result *r, wg_text *out);                 /* what it printed, indented */
void wg_tests_tap(const wg_tests *all, const wg_test_result *result, wg_text *out);
void wg_tests_junit(const wg_tests *all, const wg_test_result *result, wg_text *out);
void wg_tests_sarif(const wg_tests *all, const wg_test_result *result, wg_text *out);
void wg_tests_annotations(const wg_tests *all, const wg_test_result *result, wg_text *out);
/* `error`: what could not be written, or empty. */
void wg_tests_json(const wg_tests *all, const wg_test_result *result, int status, const wg_text *error, wg_text *out);

/* The file of --baseline: cycles of earlier runs, a name, a tab and a number per line. */
typedef struct wg_baseline {
    double tolerance; /* percentage by which a test may exceed its baseline */
    size_t missing;   /* tests of which the file knows nothing */
    wg_text others;   /* its lines about tests that are not run now */
} wg_baseline;
/* Sets the results' baselines. False: the file or the tolerance is wrong. */
bool wg_baseline_read(wg_baseline *b, const wg_args *args, const wg_tests *all, wg_test_result *result, wg_text *error);
/* --update: passing tests get their number of cycles; the others keep the earlier one. */
bool wg_baseline_write(const wg_baseline *b, const wg_args *args, const wg_tests *all, const wg_test_result *result,
                       wg_text *error);

#endif
