/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "metal/launched.h"
#include "text/core_name.h"

/* DEEP: nested folders that are searched; MOST: files that are read, a few for each kernel. */
enum { DEEP = 12, MOST = 1 << 16 };

typedef struct build {
    char *path;
    unsigned core;
    wg_elf *elf;        /* NULL: not opened yet, or unusable */
    wg_elf_kernel code; /* image NULL: it cannot be launched as a kernel */
    bool tried;
} build;

struct wg_abi_cache {
    const wg_abi_elf *elf;
    char *folder;
    build *file;
    size_t files, room;
    bool listed;
    uint64_t when; /* … in this cycle */
};

wg_abi_cache *wg_abi_cache_open(const char *folder, const wg_abi_elf *elf)
{
    wg_abi_cache *c = calloc(1, sizeof *c);
    char *copy = strdup(folder);
    if (!c || !copy) {
        free(c);
        free(copy);
        return NULL;
    }
    *c = (wg_abi_cache){.elf = elf, .folder = copy};
    return c;
}

void wg_abi_cache_close(wg_abi_cache *c)
{
    for (size_t i = 0; c && i < c->files; i++) {
        c->elf->kernel_free(&c->file[i].code);
        if (c->file[i].elf)
            c->elf->close(c->file[i].elf);
        free(c->file[i].path);
    }
    if (c) {
        free(c->file);
        free(c->folder);
    }
    free(c);
}

/* ---- The folder --------------------------------------------------------------------------------------- */

static bool is_known(const wg_abi_cache *c, const char *path)
{
    for (size_t i = 0; i < c->files; i++)
        if (!strcmp(c->file[i].path, path))
            return true;
    return false;
}

static void note(wg_abi_cache *c, const char *path, unsigned core)
{
    if (c->files == MOST || is_known(c, path))
        return;
    if (c->files == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        build *more = realloc(c->file, room * sizeof *more);
        if (!more)
            return;
        c->file = more;
        c->room = room;
    }
    char *copy = strdup(path);
    if (copy)
        c->file[c->files++] = (build){.path = copy, .core = core};
}

static void list(wg_abi_cache *c, const char *folder, unsigned depth)
{
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        struct stat about;
        const size_t length = strlen(e->d_name);
        if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path ||
            lstat(path, &about) != 0)
            continue;
        const unsigned core = wg_core_of_file_name(path);
        if (S_ISDIR(about.st_mode) && depth < DEEP)
            list(c, path, depth + 1);
        else if (S_ISREG(about.st_mode) && core != WG_CORES && length > 4 && !strcmp(e->d_name + length - 4, ".elf"))
            note(c, path, core);
    }
    if (d)
        closedir(d);
}

static void read_build(wg_abi_cache *c, build *b)
{
    char error[256];
    if (b->tried)
        return;
    b->tried = true;
    b->elf = c->elf->open(b->path, error, sizeof error);
    if (b->elf && !c->elf->kernel_read(b->elf, &b->code, error, sizeof error))
        c->elf->kernel_free(&b->code);
}

/* ---- Its files and L1 --------------------------------------------------------------------------------- */

static const uint8_t *l1_at(const wg_device *dev, uint32_t address, uint32_t bytes)
{
    return wg_l1_holds(dev->tile->spec->l1_bytes, address, bytes) ? dev->tile->l1 + address : NULL;
}

/* The code as it was launched at `address`; words with an address of code are the launcher's. */
static bool holds_kernel(const build *b, const wg_device *dev, uint32_t address)
{
    const uint8_t *l1 = b->code.image ? l1_at(dev, address, b->code.text_bytes) : NULL;
    size_t next = 0;
    for (uint32_t i = 0; l1 && i < b->code.text_bytes; i++) {
        while (next < b->code.fixups && b->code.fixup[next] + 4 <= i)
            next++;
        if (l1[i] != b->code.image[i] && !(next < b->code.fixups && i >= b->code.fixup[next]))
            return false;
    }
    return l1 != NULL;
}

static bool holds_program(const wg_abi_cache *c, const build *b, const wg_device *dev, uint32_t pc)
{
    for (size_t i = 0; b->elf && i < c->elf->segments(b->elf); i++) {
        const wg_elf_segment *s = c->elf->segment_at(b->elf, i);
        const uint8_t *l1 = l1_at(dev, s->address, s->file_bytes);
        if (s->executable && pc - s->address < s->file_bytes)
            return l1 && !memcmp(l1, s->data, s->file_bytes);
    }
    return false;
}

/* Bytes of the path before the last two parts: builds of one kernel for several cores are in CORE/FILE below one folder. */
static size_t home_of(const build *b)
{
    size_t length = strlen(b->path);
    for (unsigned parts = 0; length && parts < 2; length--)
        parts += b->path[length - 1] == '/';
    return length;
}

/* The number of the tile's cores whose code is in the same folder as this build. Kernels may share one core's code and differ in another's. */
static unsigned company(wg_abi_cache *c, const build *of, const wg_device *dev, const wg_metal_launched *m)
{
    unsigned count = 0;
    const size_t home = home_of(of);
    for (size_t i = 0; i < c->files; i++) {
        build *b = &c->file[i];
        if (home_of(b) != home || strncmp(b->path, of->path, home) != 0 || !m->kernel[b->core].bytes)
            continue;
        read_build(c, b);
        count += holds_kernel(b, dev, m->kernel[b->core].in_l1);
    }
    return count;
}

/* `m`: the pc is in a kernel that was launched; NULL: it is not. */
static const build *search(wg_abi_cache *c, const wg_device *dev, unsigned core, uint32_t pc,
                           const wg_metal_launched *m)
{
    const build *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < c->files; i++) {
        build *b = &c->file[i];
        if (b->core != core)
            continue;
        read_build(c, b);
        if (m ? !holds_kernel(b, dev, m->kernel[core].in_l1) : !holds_program(c, b, dev, pc))
            continue;
        const unsigned with = m ? company(c, b, dev, m) : 1;
        if (with > most) {
            best = b;
            most = with;
        }
    }
    return best;
}

bool wg_abi_cache_find(wg_abi_cache *c, const wg_device *dev, unsigned core, uint32_t pc, wg_abi_found *out)
{
    wg_metal_launched m;
    const bool launched = wg_metal_read_launch(dev->arch->id, NULL, dev->tile->l1, dev->tile->spec->l1_bytes, &m) &&
                          pc - m.kernel[core].address < m.kernel[core].bytes;
    const build *b = search(c, dev, core, pc, launched ? &m : NULL);
    if (!b && (!c->listed || c->when != dev->tile->sched.now)) {
        list(c, c->folder, 0);
        c->listed = true;
        c->when = dev->tile->sched.now;
        b = search(c, dev, core, pc, launched ? &m : NULL);
    }
    if (!b)
        return false;
    *out = (wg_abi_found){b->elf, b->path, launched ? b->code.link_address + (pc - m.kernel[core].address) : pc};
    return true;
}
