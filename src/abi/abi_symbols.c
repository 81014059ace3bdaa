/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "elf/elf.h"
#include "text/core_name.h"
#include "text/race_text.h"

enum { MOST_FILES = 64 };

struct wg_abi_symbols {
    void *library;
    wg_elf *(*open)(const char *, char *, size_t);
    void (*close)(wg_elf *);
    const wg_elf_symbol *(*function)(const wg_elf *, uint32_t);
    bool (*line)(wg_elf *, uint32_t, wg_elf_line *);
    unsigned (*inlined)(wg_elf *, uint32_t, wg_elf_call *, unsigned);
    unsigned files;
    struct {
        unsigned core;
        wg_elf *elf;
    } file[MOST_FILES];
};

/* dlsym() returns data pointers; ISO C has no other conversion from them to function pointers. */
#define FUNCTION(s, member, name) (*(void **)&(s)->member = dlsym((s)->library, name))

/* The library is in the same folder as this one. */
static bool load(wg_abi_symbols *s)
{
    static const char name[] = "libwaitgate_symbols.so";
    char path[4096];
    Dl_info here;
    const char *slash = dladdr((const void *)&wg_abi_symbols_open, &here) ? strrchr(here.dli_fname, '/') : NULL;
    int length =
        slash ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, name) : 0;
    if (length > 0 && (size_t)length < sizeof path)
        s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!s->library)
        s->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return s->library && FUNCTION(s, open, "wg_elf_open_file") && FUNCTION(s, close, "wg_elf_close") &&
           FUNCTION(s, function, "wg_elf_function") && FUNCTION(s, line, "wg_elf_line_at") &&
           FUNCTION(s, inlined, "wg_elf_inlined_at");
}

/* The core named by CORE=, which is removed, or by the file's name; WG_CORES: none. */
static unsigned core_of(char **file)
{
    static const char *const option[WG_CORES] = {"b", "nc", "t0", "t1", "t2"};
    char *equals = strchr(*file, '=');
    for (unsigned i = 0; equals && i < WG_CORES; i++)
        if (strlen(option[i]) == (size_t)(equals - *file) &&
            strncasecmp(option[i], *file, (size_t)(equals - *file)) == 0) {
            *file = equals + 1;
            return i;
        }
    return wg_core_of_file_name(*file);
}

static bool add(wg_abi_symbols *s, char *file, char *error, size_t bytes)
{
    unsigned core = core_of(&file);
    if (core == WG_CORES) {
        snprintf(error, bytes, "which core is `%s` for? Put b=, nc=, t0=, t1= or t2= before it", file);
        return false;
    }
    if (s->files == MOST_FILES) {
        snprintf(error, bytes, "there are more than %d files", MOST_FILES);
        return false;
    }
    wg_elf *elf = s->open(file, error, bytes);
    if (!elf)
        return false;
    s->file[s->files].core = core;
    s->file[s->files++].elf = elf;
    return true;
}

wg_abi_symbols *wg_abi_symbols_open(const char *list, char *error, size_t bytes)
{
    wg_abi_symbols *s = calloc(1, sizeof *s);
    char *copy = strdup(list);
    bool ok = s && copy;
    if (!ok) {
        snprintf(error, bytes, "out of memory");
    } else if (!*list) {
        snprintf(error, bytes, "it names no file");
        ok = false;
    } else if (!load(s)) {
        const char *why = dlerror();
        snprintf(error, bytes, "%s", why ? why : "libwaitgate_symbols.so lacks its functions");
        ok = false;
    }
    for (char *file = copy, *next; ok && file; file = next) {
        char *comma = strchr(file, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        ok = add(s, file, error, bytes);
    }
    free(copy);
    if (ok)
        return s;
    wg_abi_symbols_close(s);
    return NULL;
}

void wg_abi_symbols_close(wg_abi_symbols *s)
{
    for (unsigned i = 0; s && i < s->files; i++)
        s->close(s->file[i].elf);
    if (s && s->library)
        dlclose(s->library);
    free(s);
}

void wg_abi_symbols_each(wg_abi_symbols *s, void (*each)(void *user, unsigned core, struct wg_elf *elf), void *user)
{
    for (unsigned i = 0; s && i < s->files; i++)
        each(user, s->file[i].core, s->file[i].elf);
}

bool wg_abi_symbols_source(void *symbols, unsigned core, uint32_t pc, wg_source *out)
{
    wg_abi_symbols *s = symbols;
    *out = (wg_source){0};
    for (unsigned i = 0; s && i < s->files && !out->function && !out->file; i++) {
        if (s->file[i].core != core)
            continue;
        wg_elf *elf = s->file[i].elf;
        wg_elf_line line;
        wg_elf_call call[WG_SOURCE_CALLS];
        bool known = s->line(elf, pc, &line);
        unsigned calls = s->inlined(elf, pc, call, WG_SOURCE_CALLS);
        *out = wg_source_of(pc, s->function(elf, pc), known ? &line : NULL, call, calls);
    }
    return out->function || out->file;
}

const char *wg_abi_symbols_place(void *symbols, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source;
    wg_abi_symbols_source(symbols, core, pc, &source);
    return wg_source_text(&source, room, bytes);
}
