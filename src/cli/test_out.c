/* SPDX-License-Identifier: Apache-2.0 */
/* The results of tests: for people, as TAP 13, JUnit XML, SARIF, JSON, and annotations of GitHub's workflows. */
#include "cli/commands.h"
#include "cli/test.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text/report.h"

static const char *const status_names[] = {"done", "expectation", "undefined", "hang", "findings", "limit", "error"};
enum { STATUSES = sizeof status_names / sizeof *status_names };

const char *wg_status_name(int status)
{
    if (status == WG_EXIT_INTERRUPTED)
        return "interrupted";
    return status >= 0 && status < STATUSES ? status_names[status] : "unknown";
}

int wg_status_named(const char *name)
{
    for (int i = 0; i < STATUSES; i++)
        if (strcmp(status_names[i], name) == 0)
            return i;
    return -1;
}

static const char *status_words(int status)
{
    static const char *const words[STATUSES] = {
        "it is done",         "an expectation does not hold", "it did something undefined or unimplemented",
        "it hangs",           "there are findings",           "it reached its limit of cycles",
        "it could not be run"};
    return status >= 0 && status < STATUSES ? words[status] : "it was interrupted";
}

void wg_test_reason(const wg_test *t, const wg_test_result *r, wg_text *out)
{
    switch (r->verdict) {
    case WG_VERDICT_NONE: wg_textf(out, "It was not run."); break;
    case WG_VERDICT_PASS: break;
    case WG_VERDICT_FAIL:
        wg_textf(out, "Status %d: %s", r->status, status_words(r->status));
        if (t->status != WG_EXIT_DONE)
            wg_textf(out, "; expected status %d: %s", t->status, status_words(t->status));
        wg_textf(out, ".");
        break;
    case WG_VERDICT_KNOWN: wg_textf(out, "It is known to fail: %s", t->fails); break;
    case WG_VERDICT_SOLVED:
        wg_textf(out, "It passes, though %s:%u says that it fails (%s).", t->file, t->line, t->fails);
        break;
    case WG_VERDICT_TIMEOUT: wg_textf(out, "It took longer than --timeout allows."); break;
    case WG_VERDICT_CRASH: wg_textf(out, "Its process ended without a result."); break;
    case WG_VERDICT_SLOWER:
        wg_textf(out, "It took %llu cycles; its baseline is %llu (%+.1f %%).", (unsigned long long)r->cycles,
                 (unsigned long long)r->baseline,
                 100.0 * ((double)r->cycles - (double)r->baseline) / (double)r->baseline);
        break;
    }
}

void wg_test_line(const wg_test *t, const wg_test_result *r, wg_text *out)
{
    wg_text reason = {0};
    bool fails = wg_verdict_fails(r->verdict);
    wg_test_reason(t, r, &reason);
    wg_textf(out, "%-5s %s", fails ? "FAIL" : r->verdict == WG_VERDICT_KNOWN ? "known" : "ok", t->name);
    if (r->cycles)
        wg_textf(out, "  %llu cycles", (unsigned long long)r->cycles);
    wg_textf(out, "  %.2f s%s%s\n", r->seconds, reason.size ? "  " : "", wg_text_of(&reason));
    wg_text_free(&reason);
}

void wg_test_output(const wg_test_result *r, wg_text *out)
{
    for (const char *line = wg_text_of(&r->text); *line;) {
        size_t n = strcspn(line, "\n");
        wg_textf(out, "%s%.*s\n", n ? "    " : "", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* ---- TAP ---- */

/* A string in double quotes, as YAML has it. */
static void yaml_text(wg_text *out, const char *text)
{
    wg_textf(out, "\"");
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            wg_textf(out, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            wg_textf(out, "\\x%02x", (unsigned char)*p);
        else
            wg_text_add(out, p, 1);
    wg_textf(out, "\"");
}

/* `#` begins a directive, and a line ends with the line. */
static void tap_text(wg_text *out, const char *text)
{
    for (const char *p = text; *p; p++)
        wg_textf(out, *p == '#' || *p == '\n' ? "_" : "%c", *p);
}

void wg_tests_tap(const wg_tests *all, const wg_test_result *result, wg_text *out)
{
    wg_textf(out, "TAP version 13\n1..%zu\n", all->count);
    for (size_t i = 0; i < all->count; i++) {
        const wg_test *t = &all->at[i];
        const wg_test_result *r = &result[i];
        bool ok = r->verdict == WG_VERDICT_PASS || r->verdict == WG_VERDICT_SOLVED;
        wg_text reason = {0};
        wg_test_reason(t, r, &reason);
        wg_textf(out, "%s %zu - ", ok ? "ok" : "not ok", i + 1);
        tap_text(out, t->name);
        if (t->fails) {
            wg_textf(out, " # TODO ");
            tap_text(out, t->fails);
        } else if (r->verdict == WG_VERDICT_NONE) {
            wg_textf(out, " # SKIP not run");
        }
        wg_textf(out, "\n");
        if (!ok && r->verdict != WG_VERDICT_NONE) {
            wg_textf(out, "  ---\n  message: ");
            yaml_text(out, wg_text_of(&reason));
            wg_textf(out, "\n  status: %s\n  cycles: %llu\n  output: |\n", wg_status_name(r->status),
                     (unsigned long long)r->cycles);
            wg_test_output(r, out);
            wg_textf(out, "  ...\n");
        }
        wg_text_free(&reason);
    }
}

/* ---- JUnit ---- */

/* Text of an element or attribute; characters not allowed in XML 1.0 are omitted. */
static void xml(wg_text *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        const char *entity = *p == '&'    ? "&amp;"
                             : *p == '<'  ? "&lt;"
                             : *p == '>'  ? "&gt;"
                             : *p == '"'  ? "&quot;"
                             : *p == '\'' ? "&apos;"
                                          : NULL;
        if (entity)
            wg_textf(out, "%s", entity);
        else if ((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t')
            wg_text_add(out, p, 1);
    }
}

static void junit_case(const wg_test *t, const wg_test_result *r, wg_text *out)
{
    wg_text reason = {0};
    wg_test_reason(t, r, &reason);
    wg_textf(out, "    <testcase classname=\"");
    xml(out, t->file);
    wg_textf(out, "\" name=\"");
    xml(out, t->name);
    wg_textf(out, "\" time=\"%.3f\">\n", r->seconds);
    const char *element = r->verdict == WG_VERDICT_CRASH ? "error" : "failure";
    if (wg_verdict_fails(r->verdict)) {
        wg_textf(out, "      <%s type=\"%s\" message=\"", element, wg_status_name(r->status));
        xml(out, wg_text_of(&reason));
        wg_textf(out, "\">");
        xml(out, wg_text_of(&r->text));
        wg_textf(out, "</%s>\n", element);
    } else if (r->verdict != WG_VERDICT_PASS) {
        wg_textf(out, "      <skipped message=\"");
        xml(out, wg_text_of(&reason));
        wg_textf(out, "\"/>\n");
    }
    wg_textf(out, "    </testcase>\n");
    wg_text_free(&reason);
}

void wg_tests_junit(const wg_tests *all, const wg_test_result *result, wg_text *out)
{
    size_t failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
    for (size_t i = 0; i < all->count; i++) {
        wg_verdict v = result[i].verdict;
        errors += v == WG_VERDICT_CRASH;
        failures += wg_verdict_fails(v) && v != WG_VERDICT_CRASH;
        skipped += v == WG_VERDICT_NONE || v == WG_VERDICT_KNOWN;
        seconds += result[i].seconds;
    }
    /* Ant's schema demands more than others do: package, id, timestamp, hostname, properties, system-out and -err. */
    char host[256] = "localhost", date[32] = "";
    struct tm utc;
    const time_t now = time(NULL);
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        snprintf(host, sizeof host, "localhost");
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    wg_textf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    wg_textf(out,
             "  <testsuite name=\"waitgate\" package=\"\" id=\"0\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
             "skipped=\"%zu\" time=\"%.3f\" timestamp=\"%s\" hostname=\"",
             all->count, failures, errors, skipped, seconds, date);
    xml(out, host);
    wg_textf(out, "\">\n    <properties/>\n");
    for (size_t i = 0; i < all->count; i++)
        junit_case(&all->at[i], &result[i], out);
    wg_textf(out, "    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
}

/* ---- SARIF, annotations, JSON ---- */

void wg_tests_sarif(const wg_tests *all, const wg_test_result *result, wg_text *out)
{
    wg_text parts = {0};
    for (size_t i = 0; i < all->count; i++)
        wg_text_add(&parts, wg_text_of(&result[i].sarif), result[i].sarif.size);
    wg_sarif(wg_text_of(&parts), WG_EXIT_DONE, out);
    out->failed |= parts.failed;
    wg_text_free(&parts);
}

/* Of a workflow command: % and line ends are escaped everywhere, : and , in a property, too. */
static void escaped(wg_text *out, const char *text, bool property)
{
    for (const char *p = text; *p; p++) {
        if (*p == '%' || *p == '\r' || *p == '\n' || (property && (*p == ':' || *p == ',')))
            wg_textf(out, "%%%02X", (unsigned char)*p);
        else
            wg_text_add(out, p, 1);
    }
}

void wg_tests_annotations(const wg_tests *all, const wg_test_result *result, wg_text *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const wg_test *t = &all->at[i];
        const wg_test_result *r = &result[i];
        if (!wg_verdict_fails(r->verdict))
            continue;
        wg_text reason = {0};
        wg_test_reason(t, r, &reason);
        wg_textf(out, "::error file=");
        escaped(out, t->file, true);
        unsigned line = t->line ? t->line : r->line;
        if (line)
            wg_textf(out, ",line=%u", line);
        wg_textf(out, ",title=");
        escaped(out, t->name, true);
        wg_textf(out, "::");
        escaped(out, wg_text_of(&reason), false);
        wg_textf(out, "\n");
        wg_text_free(&reason);
    }
}

void wg_tests_json(const wg_tests *all, const wg_test_result *result, int status, const wg_text *error, wg_text *out)
{
    static const char *const verdicts[] = {"not-run", "pass", "fail", "known", "solved", "timeout", "crash", "slower"};
    wg_json json = {.out = out}, *j = &json;
    size_t failed = 0, passed = 0;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "status", (uint64_t)status);
    wg_json_open(j, "tests", '[');
    for (size_t i = 0; i < all->count; i++) {
        const wg_test_result *r = &result[i];
        wg_text reason = {0};
        wg_test_reason(&all->at[i], r, &reason);
        failed += wg_verdict_fails(r->verdict);
        passed += r->verdict == WG_VERDICT_PASS;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", all->at[i].name);
        wg_json_text(j, "file", all->at[i].file);
        wg_json_text(j, "verdict", verdicts[r->verdict]);
        wg_json_text(j, "reason", wg_text_of(&reason));
        wg_json_uint(j, "status", (uint64_t)r->status);
        wg_json_uint(j, "cycles", r->cycles);
        if (r->baseline)
            wg_json_uint(j, "baseline", r->baseline);
        wg_json_uint(j, "milliseconds", (uint64_t)(1000 * r->seconds));
        wg_json_text(j, "output", wg_text_of(&r->text));
        wg_json_close(j, '}');
        wg_text_free(&reason);
    }
    wg_json_close(j, ']');
    wg_json_uint(j, "passed", passed);
    wg_json_uint(j, "failed", failed);
    if (error->size)
        wg_error_member(j, error);
    wg_json_close(j, '}');
}
