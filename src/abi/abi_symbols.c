/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "abi/abi_beside.h"
#include "abi/abi_cache.h"
#include "text/core_name.h"
#include "text/race_text.h"

enum { MOST_FILES = 64 };

struct wg_abi_symbols {
    void *library;
    wg_abi_elf elf;
    wg_abi_cache *cache; /* NULL: no folder */
    unsigned files;
    struct {
        unsigned core;
        wg_elf *elf;
        char *path;
    } file[MOST_FILES];
};

/* dlsym() returns data pointers; ISO C has no other conversion from them to function pointers. */
#define FUNCTION(s, member, name) (*(void **)&(s)->elf.member = dlsym((s)->library, name))

static bool load(wg_abi_symbols *s)
{
    s->library = wg_abi_load_beside("libwaitgate_symbols.so");
    return s->library && FUNCTION(s, open, "wg_elf_open_file") && FUNCTION(s, close, "wg_elf_close") &&
           FUNCTION(s, function, "wg_elf_function") && FUNCTION(s, line, "wg_elf_line_at") &&
           FUNCTION(s, inlined, "wg_elf_inlined_at") && FUNCTION(s, segments, "wg_elf_segments") &&
           FUNCTION(s, segment_at, "wg_elf_segment_at") && FUNCTION(s, kernel_read, "wg_elf_kernel_read") &&
           FUNCTION(s, kernel_free, "wg_elf_kernel_free");
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

static bool add_folder(wg_abi_symbols *s, const char *folder, char *error, size_t bytes)
{
    if (s->cache) {
        snprintf(error, bytes, "`%s` is a second folder", folder);
        return false;
    }
    if (!(s->cache = wg_abi_cache_open(folder, &s->elf)))
        snprintf(error, bytes, "out of memory");
    return s->cache != NULL;
}

static bool add(wg_abi_symbols *s, char *file, char *error, size_t bytes)
{
    struct stat about;
    const size_t length = strlen(file);
    if ((length && file[length - 1] == '/') || (stat(file, &about) == 0 && S_ISDIR(about.st_mode)))
        return add_folder(s, file, error, bytes); /* it may not be there yet: the host makes its cache */
    unsigned core = core_of(&file);
    if (core == WG_CORES) {
        snprintf(error, bytes, "which core is `%s` for? Put b=, nc=, t0=, t1= or t2= before it", file);
        return false;
    }
    if (s->files == MOST_FILES) {
        snprintf(error, bytes, "there are more than %d files", MOST_FILES);
        return false;
    }
    wg_elf *elf = s->elf.open(file, error, bytes);
    if (!elf)
        return false;
    s->file[s->files].core = core;
    s->file[s->files].path = strdup(file);
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
    for (unsigned i = 0; s && i < s->files; i++) {
        s->elf.close(s->file[i].elf);
        free(s->file[i].path);
    }
    if (s)
        wg_abi_cache_close(s->cache);
    if (s && s->library)
        dlclose(s->library);
    free(s);
}

void wg_abi_symbols_each(wg_abi_symbols *s, void (*each)(void *user, unsigned core, struct wg_elf *elf), void *user)
{
    for (unsigned i = 0; s && i < s->files; i++)
        each(user, s->file[i].core, s->file[i].elf);
}

bool wg_abi_symbols_searches(const wg_abi_symbols *s) { return s && s->cache; }

wg_elf *wg_abi_symbols_find(wg_abi_symbols *s, const wg_device *dev, unsigned core, uint32_t pc, uint32_t *address)
{
    wg_abi_found found;
    if (!s || !s->cache || !dev || !wg_abi_cache_find(s->cache, dev, core, pc, &found))
        return NULL;
    *address = found.address;
    return found.elf;
}

/* `offset`: of where the code is executed from where it was linked. */
static void name(const wg_abi_symbols *s, const wg_elf *elf, const char *path, uint32_t offset, wg_abi_path_fn *each, void *user)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    if (whole && s->elf.segments(elf))
        each(user, whole, s->elf.segment_at(elf, 0)->address + offset);
    free(whole);
}

void wg_abi_symbols_named(const wg_abi_symbols *s, wg_abi_path_fn *each, void *user)
{
    for (unsigned i = 0; s && i < s->files; i++)
        name(s, s->file[i].elf, s->file[i].path, 0, each, user);
}

void wg_abi_symbols_executed(const wg_abi_symbols *s, wg_device *dev, wg_abi_path_fn *each, void *user)
{
    for (unsigned core = 0; s && s->cache && core < WG_CORES; core++) {
        wg_core_info info;
        wg_abi_found found;
        if (wg_core_state(dev, (wg_core_id)core, &info) == WG_OK && !info.in_reset &&
            wg_abi_cache_find(s->cache, dev, core, info.pc, &found))
            name(s, found.elf, found.path, info.pc - found.address, each, user);
    }
}

static bool source_in(wg_abi_symbols *s, wg_elf *elf, uint32_t pc, wg_source *out)
{
    wg_elf_line line;
    wg_elf_call call[WG_SOURCE_CALLS];
    bool known = s->elf.line(elf, pc, &line);
    unsigned calls = s->elf.inlined(elf, pc, call, WG_SOURCE_CALLS);
    *out = wg_source_of(pc, s->elf.function(elf, pc), known ? &line : NULL, call, calls);
    return out->function || out->file;
}

bool wg_abi_symbols_source(void *user, unsigned core, uint32_t pc, wg_source *out)
{
    const wg_abi_code *code = user;
    wg_abi_symbols *s = code->symbols;
    uint32_t address;
    *out = (wg_source){0};
    for (unsigned i = 0; s && i < s->files; i++)
        if (s->file[i].core == core && source_in(s, s->file[i].elf, pc, out))
            return true;
    wg_elf *elf = wg_abi_symbols_find(s, code->dev, core, pc, &address);
    return elf && source_in(s, elf, address, out);
}

const char *wg_abi_symbols_place(void *code, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source;
    wg_abi_symbols_source(code, core, pc, &source);
    return wg_source_text(&source, room, bytes);
}
