/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes: mpirun tells each in its environment how many there are. The library that uses MPI is loaded only
 * then, so that nothing else needs MPI.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/session.h"

#define LIBRARY "libwaitgate_mpi.so"

static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"};
enum { NAMES = sizeof names / sizeof *names };

bool wg_ranks_started(void)
{
    bool started = false;
    for (unsigned i = 0; i < NAMES; i++)
        started |= getenv(names[i]) != NULL;
    return started;
}

void wg_ranks_forget(void)
{
    for (unsigned i = 0; i < NAMES; i++)
        unsetenv(names[i]);
}

static unsigned started_with(void)
{
    for (unsigned i = 0; i < NAMES; i++) {
        const char *text = getenv(names[i]);
        const unsigned long size = text ? strtoul(text, NULL, 10) : 0;
        if (size > 1)
            return (unsigned)size;
    }
    return 1;
}

/* Next to the program, then in ../lib and in the system's library folders. */
static void *load(wg_text *tried)
{
    const char *given = getenv("WAITGATE_MPI");
    char self[4000];
    if (given && *given) {
        void *library = dlopen(given, RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            wg_textf(tried, "%s", dlerror());
        return library;
    }
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    for (unsigned i = 0; size > 0 && i < 2; i++) {
        self[size] = 0;
        char *slash = strrchr(self, '/');
        wg_text path = {0};
        wg_textf(&path, "%.*s/%s" LIBRARY, slash ? (int)(slash - self) : 0, self, i ? "../lib/" : "");
        void *library = path.failed ? NULL : dlopen(path.data, RTLD_NOW | RTLD_GLOBAL);
        wg_text_free(&path);
        if (library)
            return library;
    }
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        wg_textf(tried, "%s", dlerror());
    return library;
}

wg_transport *wg_ranks_open(wg_text *error)
{
    char message[256] = "";
    const unsigned ranks = started_with();
    wg_text tried = {0};
    if (ranks < 2)
        return NULL;
    void *library = load(&tried);
    wg_transport_open_fn open = NULL;
    if (library) {
        void *symbol = dlsym(library, WG_TRANSPORT_OPEN);
        memcpy(&open, &symbol, sizeof open);
    }
    wg_transport *t = open ? open(WG_TRANSPORT_VERSION, message, sizeof message) : NULL;
    if (!t)
        wg_textf(error,
                 "waitgate: mpirun has started %u processes, but " LIBRARY
                 " cannot be used: %s\nBuild with MPI (Debian: libopenmpi-dev), or set WAITGATE_MPI to the library\n",
                 ranks,
                 message[0]   ? message
                 : tried.size ? tried.data
                              : "it is of another version");
    wg_text_free(&tried);
    return t;
}

static bool is_first(void)
{
    static const char *const own[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    bool first = true;
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        const char *number = getenv(own[i]);
        first &= !number || strtoul(number, NULL, 10) == 0;
    }
    return first;
}

bool wg_ranks_share(int argc, char **argv, wg_text *out, wg_text *error)
{
    const unsigned alone = 1u << WG_CMD_RUN | 1u << WG_CMD_CHECK | 1u << WG_CMD_TRACE | 1u << WG_CMD_PROFILE |
                           1u << WG_CMD_REPORT | 1u << WG_CMD_WHY | 1u << WG_CMD_GDB | 1u << WG_CMD_DEBUG;
    wg_args args;
    wg_text said = {0};
    int status;
    bool share = started_with() < 2 || !wg_args_parse(&args, argc, argv, &said, &said, &status);
    wg_text_free(&said);
    if (share)
        return true;
    share = !(alone >> args.command & 1) || !args.files;
    const char *missing = NULL;
    for (size_t i = 0; i < args.files; i++) {
        share |= wg_is_chip_file(args.file[i]) && wg_is_cluster_file(args.file[i]);
        missing = !missing && access(args.file[i], R_OK) != 0 ? args.file[i] : missing;
    }
    if (!share && is_first()) {
        if (missing)
            wg_textf(error, "waitgate: %s: %s\n", missing, strerror(errno));
        else
            wg_textf(error,
                     "waitgate: mpirun has started %u processes, but %s runs in one: only cluster files, `explore` and "
                     "`test` share their work. Start it without mpirun\n",
                     started_with(), args.file[0]);
        if (args.value[WG_OPT_JSON])
            wg_error_json(WG_EXIT_ERROR, error, out);
    }
    wg_args_free(&args);
    return share;
}

/* How long a process waits for the end that another one has asked for. */
enum { ABORT_SECONDS = 10 };

void wg_ranks_close(wg_transport *ranks, const wg_args *args, int status, wg_text *error)
{
    if (!ranks)
        return;
    if (status == WG_EXIT_ERROR && error->size) { /* the others wait for this one, and end with it */
        if (args->value[WG_OPT_JSON]) {
            wg_text out = {0};
            wg_error_json(status, error, &out);
            fwrite(wg_text_of(&out), 1, out.size, stdout);
            fflush(stdout);
            wg_text_free(&out);
        }
        wg_text_fold(error, wg_fold_width(stderr), "waitgate: ");
        fwrite(wg_text_of(error), 1, error->size, stderr);
        fflush(stderr);
        error->size = 0;
        ranks->abort(ranks, status);
    }
    if (status == WG_EXIT_ERROR) {
        /* Another process reports the error and aborts. To close MPI meanwhile can leave mpirun waiting forever. */
        for (unsigned waited = 0; waited < ABORT_SECONDS; waited++)
            (void)sleep(1);
        _exit(status);
    }
    ranks->close(ranks);
}
