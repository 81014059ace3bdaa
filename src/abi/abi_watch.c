/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_watch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <waitgate/tools.h>

#include "abi/abi_beside.h"
#include "abi/abi_check.h"

struct wg_abi_watch {
    void *library;
    __typeof__(wg_version) *version;
    __typeof__(wg_watch_begin) *begin;
    __typeof__(wg_watch_tile) *tile;
    __typeof__(wg_watch_elf) *elf;
    __typeof__(wg_watch_find) *find;
    __typeof__(wg_watch_end) *end;
    __typeof__(wg_watch_profile) *profile;
    __typeof__(wg_watch_timeline_text) *timeline;
    __typeof__(wg_watch_report) *report;
    __typeof__(wg_watch_free) *free;
    __typeof__(wg_free) *free_text;
    wg_watch *watch;
    wg_grid *grid;
    wg_abi_symbols *symbols;
    const char *timeline_path, *profile_path, *report_path;
    bool stays; /* the library: tiles refer to its tables */
    unsigned unwatched;
    char why[256]; /* the first tile that is not watched */
};

/* dlsym() returns data pointers; ISO C has no other conversion from them to function pointers. */
#define FUNCTION(w, member, name) (*(void **)&(w)->member = dlsym((w)->library, name))

static bool load(wg_abi_watch *w)
{
    w->library = wg_abi_load_beside("libwaitgate_tools.so.0");
    return w->library && FUNCTION(w, version, "wg_version") && FUNCTION(w, begin, "wg_watch_begin") &&
           FUNCTION(w, tile, "wg_watch_tile") && FUNCTION(w, elf, "wg_watch_elf") &&
           FUNCTION(w, find, "wg_watch_find") && FUNCTION(w, end, "wg_watch_end") &&
           FUNCTION(w, profile, "wg_watch_profile") && FUNCTION(w, timeline, "wg_watch_timeline_text") &&
           FUNCTION(w, report, "wg_watch_report") && FUNCTION(w, free, "wg_watch_free") &&
           FUNCTION(w, free_text, "wg_free");
}

/* The name with the process id in place of %p. */
static void name_of(const char *path, char *room, size_t bytes)
{
    size_t used = 0;
    for (; *path && used + 24 < bytes; path++) {
        if (path[0] == '%' && path[1] == 'p') {
            used += (size_t)snprintf(room + used, bytes - used, "%ld", (long)getpid());
            path++;
        } else {
            room[used++] = *path;
        }
    }
    room[used] = 0;
}

static void give_elf(void *user, unsigned core, wg_elf *elf)
{
    wg_abi_watch *w = user;
    w->elf(w->watch, WG_ANYWHERE, WG_ANYWHERE, (wg_core_id)core, elf);
}

static wg_elf *find_elf(void *user, unsigned x, unsigned y, wg_core_id core, uint32_t pc, uint32_t *address)
{
    wg_abi_watch *w = user;
    return wg_abi_symbols_find(w->symbols, wg_grid_peek(w->grid, x, y), core, pc, address);
}

static void close_library(wg_abi_watch *w)
{
    if (w->library && !w->stays)
        dlclose(w->library);
    free(w);
}

wg_abi_watch *wg_abi_watch_begin(wg_grid *grid, const wg_abi_watched *wanted, wg_abi_symbols *symbols, char *error,
                                 size_t bytes)
{
    wg_abi_watch *w = calloc(1, sizeof *w);
    char trace_name[4096], log_name[4096];
    if (!w) {
        snprintf(error, bytes, "out of memory");
        return NULL;
    }
    if (!load(w)) {
        const char *why = dlerror();
        snprintf(error, bytes, "%s", why ? why : "libwaitgate_tools.so.0 lacks its functions");
        close_library(w);
        return NULL;
    }
    if (strcmp(w->version(), wg_version()) != 0) { /* they share the structures of tiles */
        snprintf(error, bytes, "libwaitgate_tools.so.0 is version %s, this library %s", w->version(), wg_version());
        close_library(w);
        return NULL;
    }
    if (wanted->trace)
        name_of(wanted->trace, trace_name, sizeof trace_name);
    if (wanted->log)
        name_of(wanted->log, log_name, sizeof log_name);
    const wg_watch_desc desc = {.struct_size = sizeof desc,
                                .grid = grid,
                                .title = "the host's run",
                                .trace = wanted->trace ? trace_name : NULL,
                                .log = wanted->log ? log_name : NULL,
                                .timeline = wanted->timeline,
                                .profile = wanted->profile || wanted->report,
                                .what_if = wanted->what_if,
                                .from = wanted->from,
                                .to = wanted->to};
    w->timeline_path = wanted->timeline;
    w->profile_path = wanted->profile;
    w->report_path = wanted->report;
    w->stays = wanted->what_if;
    if (!(w->watch = w->begin(&desc, error, bytes))) {
        close_library(w);
        return NULL;
    }
    w->grid = grid;
    w->symbols = symbols;
    wg_abi_symbols_each(symbols, give_elf, w);
    if (wg_abi_symbols_searches(symbols))
        w->find(w->watch, find_elf, w);
    return w;
}

void wg_abi_watch_made(wg_abi_watch *w, unsigned x, unsigned y)
{
    char error[200];
    if (!w->tile(w->watch, x, y, error, sizeof error) && !w->unwatched++)
        snprintf(w->why, sizeof w->why, "tile %u-%u: %s", x, y, error);
}

/* `words` is freed. */
static bool write_words(wg_abi_watch *w, const char *path, char *words, char *error, size_t bytes)
{
    wg_text text = {0};
    wg_text_add(&text, words ? words : "no tile was used\n", strlen(words ? words : "no tile was used\n"));
    bool ok = wg_abi_write(path, &text, error, bytes);
    wg_text_free(&text);
    w->free_text(words);
    return ok;
}

bool wg_abi_watch_end(wg_abi_watch *w, char *error, size_t bytes)
{
    char name[4096];
    bool ok = w->end(w->watch, error, bytes);
    ok = ok && (!w->timeline_path || write_words(w, w->timeline_path, w->timeline(w->watch), error, bytes));
    ok =
        ok && (!w->profile_path ||
               write_words(w, w->profile_path, w->profile(w->watch, wg_abi_wants_json(w->profile_path)), error, bytes));
    if (ok && w->report_path) {
        name_of(w->report_path, name, sizeof name);
        ok = w->report(w->watch, name, error, bytes);
    }
    if (ok && w->unwatched) {
        snprintf(error, bytes, "%u tiles are not in it: %s", w->unwatched, w->why);
        ok = false;
    }
    w->free(w->watch);
    close_library(w);
    return ok;
}
