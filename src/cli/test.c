/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests, one process each, up to --jobs at a time. */
#include "cli/meter.h"
#include "cli/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/session.h"

enum { MOST_JOBS = 256, MOST_TEXT = 1 << 20, GRACE = 5, POLL_MICROSECONDS = 2000 };

/* The result of a test's process, followed by its texts. */
typedef struct answer {
    int32_t complete, status;
    uint64_t cycles;
    uint32_t line, text_bytes, sarif_bytes;
} answer;

typedef struct slot {
    pid_t pid; /* 0: none */
    size_t test;
    int file; /* file for its answer */
    double began;
    bool told; /* to end */
} slot;

typedef struct runner {
    const wg_args *args;
    const wg_tests *all;
    wg_test_result *result;
    slot slot[MOST_JOBS];
    unsigned jobs;
    size_t next, finished;
    uint64_t timeout;
    wg_baseline base;
    bool terminal, quiet;
    FILE *said;          /* where lines about tests go */
    wg_transport *ranks; /* NULL: there is one process */
} runner;

/* With several ranks, each runs every n-th test. */
static unsigned ranks_of(const runner *r) { return r->ranks ? r->ranks->ranks : 1; }
static unsigned rank_of(const runner *r) { return r->ranks ? r->ranks->rank : 0; }

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- in the test's process ---- */

static bool write_all(int file, const void *bytes, size_t count)
{
    for (const char *at = bytes; count;) {
        ssize_t n = write(file, at, count);
        if (n <= 0)
            return false;
        at += n;
        count -= (size_t)n;
    }
    return true;
}

static int run_here(const wg_test *t, bool sarif, int file)
{
    wg_text out = {.width = 100}, error = {.width = 100}, reports = {0};
    wg_run_result result = {.sarif = sarif ? &reports : NULL};
    wg_args args;
    int status = WG_EXIT_ERROR;
    wg_memory_begin();
    wg_ranks_forget();
    if (*t->folder && chdir(t->folder) != 0)
        wg_textf(&error, "waitgate: the folder %s cannot be entered\n", t->folder);
    else if (wg_args_parse(&args, (int)t->words, (char **)(uintptr_t)t->word, &out, &error, &status))
        status = wg_run_files(&args, &result, &out, &error);
    if (wg_memory_failed() || out.failed || error.failed) {
        wg_textf(&error, "waitgate: out of memory\n");
        status = WG_EXIT_ERROR;
    }
    if (error.size)
        wg_text_add(&out, error.data, error.size);
    answer a = {.complete = 1,
                .status = status,
                .cycles = result.cycles,
                .line = result.line,
                .text_bytes = (uint32_t)(out.size < MOST_TEXT ? out.size : MOST_TEXT),
                .sarif_bytes = (uint32_t)(reports.failed || reports.size > UINT32_MAX ? 0 : reports.size)};
    return write_all(file, &a, sizeof a) && write_all(file, wg_text_of(&out), a.text_bytes) &&
                   write_all(file, wg_text_of(&reports), a.sarif_bytes)
               ? 0
               : 1;
}

static bool is_slower(const runner *r, const wg_test_result *result)
{
    return result->baseline && !r->args->value[WG_OPT_UPDATE] &&
           (double)result->cycles > (double)result->baseline * (1 + r->base.tolerance / 100);
}

/* ---- in the parent ---- */

static bool start(runner *r, slot *s, size_t test)
{
    const pid_t parent = getpid();
    s->file = memfd_create("waitgate-test", MFD_CLOEXEC);
    if (s->file < 0)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(s->file);
        return false;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(1);
        _exit(run_here(&r->all->at[test], r->args->value[WG_OPT_SARIF] != NULL, s->file));
    }
    s->pid = pid;
    s->test = test;
    s->began = seconds_now();
    s->told = false;
    return true;
}

static bool read_text(int file, uint32_t bytes, wg_text *to)
{
    char part[4096];
    for (uint32_t left = bytes; left;) {
        ssize_t n = read(file, part, left < sizeof part ? left : sizeof part);
        if (n <= 0)
            return false;
        wg_text_add(to, part, (size_t)n);
        left -= (uint32_t)n;
    }
    return !to->failed;
}

static wg_verdict verdict_of(const runner *r, const wg_test *t, const wg_test_result *result)
{
    const bool right = result->status == t->status;
    if (t->fails)
        return right ? WG_VERDICT_SOLVED : WG_VERDICT_KNOWN;
    if (!right)
        return WG_VERDICT_FAIL;
    return is_slower(r, result) ? WG_VERDICT_SLOWER : WG_VERDICT_PASS;
}

static void finish(runner *r, slot *s, bool exited)
{
    wg_test_result *result = &r->result[s->test];
    answer a = {0};
    bool complete = exited && lseek(s->file, 0, SEEK_SET) == 0 && read(s->file, &a, sizeof a) == (ssize_t)sizeof a &&
                    a.complete && read_text(s->file, a.text_bytes, &result->text) &&
                    read_text(s->file, a.sarif_bytes, &result->sarif);
    close(s->file);
    result->seconds = seconds_now() - s->began;
    result->status = complete ? a.status : WG_EXIT_ERROR;
    result->cycles = a.cycles;
    result->line = a.line;
    if (s->told)
        result->verdict = WG_VERDICT_TIMEOUT;
    else if (!complete)
        result->verdict = WG_VERDICT_CRASH;
    else
        result->verdict = verdict_of(r, &r->all->at[s->test], result);
    r->finished++;
    s->pid = 0;
}

/* A test that takes too long is asked for its state, and killed if it does not answer. */
static void hurry(const runner *r, slot *s)
{
    double late = seconds_now() - s->began - (double)r->timeout;
    if (late > GRACE)
        kill(s->pid, SIGKILL);
    else if (late > 0 && !s->told)
        kill(s->pid, SIGINT);
    s->told |= late > 0;
}

static void show_progress(const runner *r, double began)
{
    double passed = seconds_now() - began;
    double left = passed / (double)r->finished * (double)(r->all->count - r->finished);
    fprintf(stderr, "\r\033[K%zu of %zu tests", r->finished, r->all->count);
    if (r->finished) /* before that nobody knows */
        fprintf(stderr, ", about %.0f s left", left);
    fflush(stderr);
}

static void tell(const runner *r, size_t test)
{
    wg_text line = {0};
    bool fails = wg_verdict_fails(r->result[test].verdict);
    if (rank_of(r) || r->args->value[WG_OPT_JSON] || (r->quiet && !fails))
        return;
    wg_test_line(&r->all->at[test], &r->result[test], &line);
    fprintf(r->said, "%s%s", r->terminal ? "\r\033[K" : "", wg_text_of(&line));
    fflush(r->said);
    wg_text_free(&line);
}

/* True: a test has ended. */
static bool collect(runner *r)
{
    bool ended = false;
    for (unsigned i = 0; i < r->jobs; i++) {
        slot *s = &r->slot[i];
        int status;
        if (!s->pid)
            continue;
        pid_t pid = waitpid(s->pid, &status, WNOHANG);
        if (pid == 0) {
            hurry(r, s);
            continue;
        }
        size_t test = s->test;
        finish(r, s, pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (!r->ranks) /* else all of them are reported at the end, in order */
            tell(r, test);
        ended = true;
    }
    return ended;
}

static bool run_all(runner *r, wg_text *error)
{
    double began = seconds_now(), shown = 0;
    bool running = true;
    r->next = rank_of(r);
    while (running) {
        running = false;
        bool stop = wg_interrupted();
        for (unsigned i = 0; i < r->jobs; i++) {
            slot *s = &r->slot[i];
            if (!s->pid && !stop && r->next < r->all->count) {
                if (!start(r, s, r->next)) {
                    wg_textf(error, "waitgate: cannot start a process for a test: %s\n", strerror(errno));
                    return false;
                }
                r->next += ranks_of(r);
            }
            running |= s->pid != 0;
        }
        if (running && !collect(r))
            usleep(POLL_MICROSECONDS);
        if (r->terminal && seconds_now() - shown > 0.2) {
            show_progress(r, began);
            shown = seconds_now();
        }
    }
    if (r->terminal)
        fprintf(stderr, "\r\033[K");
    return true;
}

/* ---- several ranks ---- */

/* A result as it travels to the first rank; its texts follow. */
typedef struct shared_result {
    uint64_t test, cycles, text_bytes, sarif_bytes;
    double seconds;
    int32_t verdict, status;
    uint32_t line, pad;
} shared_result;

static bool take_part(runner *r, const wg_message *part)
{
    shared_result s;
    for (size_t at = 0; at < part->bytes; at += s.text_bytes + s.sarif_bytes) {
        if (part->bytes - at < sizeof s)
            return false;
        memcpy(&s, part->data + at, sizeof s);
        at += sizeof s;
        if (s.test >= r->all->count || s.text_bytes > part->bytes - at ||
            s.sarif_bytes > part->bytes - at - s.text_bytes)
            return false;
        wg_test_result *to = &r->result[s.test];
        if (s.test % ranks_of(r) == 0)
            continue; /* our own */
        *to = (wg_test_result){.verdict = (wg_verdict)s.verdict,
                               .status = s.status,
                               .cycles = s.cycles,
                               .baseline = to->baseline,
                               .line = s.line,
                               .seconds = s.seconds};
        wg_text_add(&to->text, (const char *)part->data + at, s.text_bytes);
        wg_text_add(&to->sarif, (const char *)part->data + at + s.text_bytes, s.sarif_bytes);
    }
    return true;
}

/* Collects all results at the first rank, which then reports them. */
static bool share_results(runner *r, wg_text *error)
{
    wg_message mine = {0}, *all = wg_calloc(ranks_of(r), sizeof *all);
    bool ok = all != NULL;
    for (size_t i = rank_of(r); ok && i < r->all->count; i += ranks_of(r)) {
        const wg_test_result *t = &r->result[i];
        const shared_result s = {.test = i,
                                 .cycles = t->cycles,
                                 .text_bytes = t->text.size,
                                 .sarif_bytes = t->sarif.size,
                                 .seconds = t->seconds,
                                 .verdict = (int32_t)t->verdict,
                                 .status = t->status,
                                 .line = t->line};
        ok = wg_message_add(&mine, &s, sizeof s) && wg_message_add(&mine, t->text.data, t->text.size) &&
             wg_message_add(&mine, t->sarif.data, t->sarif.size);
    }
    ok = ok && r->ranks->gather(r->ranks, &mine, all);
    for (unsigned i = 0; ok && !rank_of(r) && i < ranks_of(r); i++)
        ok = take_part(r, &all[i]);
    for (size_t i = 0; ok && !rank_of(r) && i < r->all->count; i++)
        if (r->result[i].verdict != WG_VERDICT_NONE)
            tell(r, i);
    if (!ok)
        wg_textf(error, "waitgate: the results of all processes could not be put together\n");
    for (unsigned i = 0; all && i < ranks_of(r); i++)
        wg_message_free(&all[i]);
    free(all);
    wg_message_free(&mine);
    return ok;
}

/* ---- the end ---- */

/* The most serious status of those that fail: hang, expectation, limit, undefined, findings, error. */
static int status_of(const runner *r)
{
    static const int order[] = {WG_EXIT_HANG, WG_EXIT_EXPECTATION, WG_EXIT_LIMIT, WG_EXIT_UNDEFINED, WG_EXIT_FINDINGS};
    for (unsigned k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < r->all->count; i++)
            if (r->result[i].verdict == WG_VERDICT_FAIL && r->result[i].status == order[k])
                return order[k];
    for (size_t i = 0; i < r->all->count; i++)
        if (wg_verdict_fails(r->result[i].verdict))
            return WG_EXIT_EXPECTATION;
    return wg_interrupted() ? WG_EXIT_INTERRUPTED : WG_EXIT_DONE;
}

static void tell_end(const runner *r, wg_text *out)
{
    size_t passed = 0, failed = 0, known = 0, left = 0;
    wg_text reason = {0};
    for (size_t i = 0; i < r->all->count; i++) {
        const wg_test_result *result = &r->result[i];
        passed += result->verdict == WG_VERDICT_PASS;
        known += result->verdict == WG_VERDICT_KNOWN;
        left += result->verdict == WG_VERDICT_NONE;
        if (!wg_verdict_fails(result->verdict))
            continue;
        failed++;
        wg_textf(out, "\n%s\n", r->all->at[i].name);
        reason.size = 0;
        wg_test_reason(&r->all->at[i], result, &reason);
        wg_textf(out, "    %s\n", wg_text_of(&reason));
        if (result->verdict != WG_VERDICT_SOLVED)
            wg_test_output(result, out);
    }
    wg_text_free(&reason);
    if (r->base.missing)
        wg_textf(out, "%zu without a baseline (--update adds them)\n", r->base.missing);
    if (known)
        wg_textf(out, "%zu known to fail\n", known);
    if (left)
        wg_textf(out, "%zu not run\n", left);
    wg_textf(out, "%zu passed, %zu failed\n", passed, failed);
}

static bool write_form(const runner *r, wg_option option, const char *name,
                       void (*form)(const wg_tests *, const wg_test_result *, wg_text *), wg_text *error)
{
    const char *path = r->args->value[option];
    char message[512];
    wg_text out = {0};
    if (!path)
        return true;
    form(r->all, r->result, &out);
    wg_text_utf8(&out); /* file names and sources may have any bytes */
    bool ok = !out.failed && wg_file_write(path, wg_text_of(&out), out.size, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: --%s: %s\n", name, out.failed ? "out of memory" : message);
    wg_text_free(&out);
    return ok;
}

static int report(runner *r, wg_text *out, wg_text *error)
{
    const char *hosted = getenv("GITHUB_ACTIONS");
    wg_text lines = {0};
    if (!wg_baseline_write(&r->base, r->args, r->all, r->result, error))
        return WG_EXIT_ERROR;
    int status = status_of(r);
    bool ok = write_form(r, WG_OPT_TAP, "tap", wg_tests_tap, error) &&
              write_form(r, WG_OPT_JUNIT, "junit", wg_tests_junit, error) &&
              write_form(r, WG_OPT_SARIF, "sarif", wg_tests_sarif, error);
    status = ok ? status : WG_EXIT_ERROR;
    if (r->args->value[WG_OPT_JSON])
        wg_tests_json(r->all, r->result, status, error, out);
    else
        tell_end(r, out);
    if (r->args->value[WG_OPT_ANNOTATIONS] || (hosted && strcmp(hosted, "true") == 0))
        wg_tests_annotations(r->all, r->result, &lines);
    /* GitHub reads both streams: on standard output they would spoil data. */
    const bool apart = r->args->value[WG_OPT_JSON] || out->aside;
    if (!apart)
        wg_text_add(out, wg_text_of(&lines), lines.size);
    else if (lines.size)
        fputs(wg_text_of(&lines), stderr);
    wg_text_free(&lines);
    return status;
}

static bool read_options(runner *r, wg_text *error)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cores > 0 && !r->ranks ? (uint64_t)cores : 1; /* ranks: mpirun has started the right number */
    r->timeout = 60;
    if (!wg_option_number(r->args, WG_OPT_JOBS, "jobs", &jobs, error) ||
        !wg_option_number(r->args, WG_OPT_TIMEOUT, "timeout", &r->timeout, error))
        return false;
    if (jobs < 1 || jobs > MOST_JOBS) {
        wg_textf(error, "waitgate: --jobs: from 1 to %d\n", MOST_JOBS);
        return false;
    }
    r->jobs = (unsigned)jobs;
    r->terminal = wg_meter_on() && !r->ranks;
    r->quiet = r->args->value[WG_OPT_QUIET] != NULL;
    return true;
}

static void list(const wg_tests *all, bool as_json, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    if (as_json) {
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "schema", 1);
        wg_json_text(j, "waitgate", wg_version());
        wg_json_open(j, "list", '[');
    }
    for (size_t i = 0; i < all->count; i++) {
        const wg_test *t = &all->at[i];
        if (!as_json) {
            wg_textf(out, "%s\n", t->name);
            continue;
        }
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", t->name);
        wg_json_text(j, "folder", t->folder);
        wg_json_open(j, "words", '[');
        for (unsigned k = 1; k < t->words; k++)
            wg_json_text(j, NULL, t->word[k]);
        wg_json_close(j, ']');
        wg_json_text(j, "expected", wg_status_name(t->status));
        if (t->fails)
            wg_json_text(j, "fails", t->fails);
        wg_json_close(j, '}');
    }
    if (as_json) {
        wg_json_close(j, ']');
        wg_json_close(j, '}');
    }
}

int wg_command_test(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_tests all;
    runner *r = wg_calloc(1, sizeof *r);
    int status = WG_EXIT_ERROR;
    if (!wg_tests_plan(&all, args, error) || !r) {
        wg_tests_free(&all);
        free(r);
        return status;
    }
    *r = (runner){.args = args,
                  .all = &all,
                  .result = wg_calloc(all.count + 1, sizeof *r->result),
                  .said = out->aside ? stderr : stdout};
    r->ranks = wg_ranks_open(error);
    if (error->size) {
        /* mpirun, but no MPI */
    } else if (args->value[WG_OPT_LIST]) {
        if (!rank_of(r))
            list(&all, args->value[WG_OPT_JSON], out);
        status = WG_EXIT_DONE;
    } else if (!all.count) {
        const char *filter = args->value[WG_OPT_FILTER];
        wg_textf(error, "waitgate: there is no test %s%s%s%s\n", filter ? "that matches --filter " : "there",
                 filter ? filter : "",
                 filter && strpbrk(filter, "*?") ? ", which with * or ? is compared with whole names" : "",
                 filter ? "; --list shows the names" : "");
    } else if (r->result && read_options(r, error) && wg_baseline_read(&r->base, args, &all, r->result, error)) {
        wg_interrupt_begin();
        if (run_all(r, error) && (!r->ranks || share_results(r, error)))
            status = rank_of(r) ? WG_EXIT_DONE : report(r, out, error);
        wg_interrupt_end();
    }
    for (size_t i = 0; r->result && i < all.count; i++) {
        wg_text_free(&r->result[i].text);
        wg_text_free(&r->result[i].sarif);
    }
    free(r->result);
    wg_text_free(&r->base.others);
    wg_ranks_close(r->ranks, args, status, error);
    free(r);
    wg_tests_free(&all);
    return status;
}
