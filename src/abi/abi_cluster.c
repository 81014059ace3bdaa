/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from a cluster descriptor what a chip simulator needs: the section `arch` for the chips, `ethernet_connections`
 * for the links. Hosts of this library need no YAML library for that: a section is the lines after its key, and only
 * words and numbers in it count, so that block and flow style read the same.
 */
#include "abi/abi_cluster.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/arch.h"

enum { MOST_BYTES = 1 << 22 };

/* ---- Words ---- */

typedef struct words {
    const char *at, *end;
} words;

typedef struct word {
    const char *text;
    size_t length;
} word;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next word or number; anything between them is ignored. */
static bool next_word(words *w, word *out)
{
    for (; w->at < w->end && !is_word(*w->at); w->at++)
        if (*w->at == '#') /* a comment */
            while (w->at + 1 < w->end && w->at[1] != '\n')
                w->at++;
    out->text = w->at;
    while (w->at < w->end && is_word(*w->at))
        w->at++;
    out->length = (size_t)(w->at - out->text);
    return out->length > 0;
}

static bool says(const word *w, const char *text)
{
    return w->length == strlen(text) && strncasecmp(w->text, text, w->length) == 0;
}

static bool number_of(const word *w, unsigned most, unsigned *value)
{
    *value = 0;
    for (size_t i = 0; i < w->length; i++) {
        if (!isdigit((unsigned char)w->text[i]) || (*value = *value * 10 + (unsigned)(w->text[i] - '0')) > most)
            return false;
    }
    return w->length > 0;
}

/* The lines after `key:` up to the next key at the beginning of a line. */
static bool section(const char *text, size_t bytes, const char *key, words *out)
{
    const char *end = text + bytes, *line = text;
    const size_t length = strlen(key);
    bool inside = false;
    for (const char *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline ? newline + 1 : end;
        const bool begins = (size_t)(next - line) > length && strncmp(line, key, length) == 0 && line[length] == ':';
        if (inside && (isalpha((unsigned char)*line) || *line == '_'))
            out->end = line;
        if (inside && out->end == line)
            return true;
        if (begins && !inside) {
            inside = true;
            *out = (words){line + length + 1, end};
        }
    }
    return inside;
}

/* ---- Sections ---- */

static bool fail(char *error, size_t bytes, const char *what)
{
    snprintf(error, bytes, "%s", what);
    return false;
}

static bool read_chips(wg_abi_cluster *c, wg_arch_id arch, words w, char *error, size_t bytes)
{
    word key, value;
    unsigned chip;
    c->chips = 0;
    while (next_word(&w, &key)) {
        if (!number_of(&key, WG_ABI_CHIPS - 1, &chip) || !next_word(&w, &value))
            return fail(error, bytes, "`arch` is not a list of chips from 0 to 31 with their architectures");
        wg_arch_id named;
        if (!wg_arch_by_metal_name(value.text, value.length, &named))
            return fail(error, bytes, "`arch` names an architecture other than wormhole_b0 and blackhole");
        if (named != arch)
            return fail(error, bytes, "`arch` names another architecture than the library's");
        c->chips = chip >= c->chips ? chip + 1 : c->chips;
    }
    return c->chips || fail(error, bytes, "`arch` names no chip");
}

static bool add_link(wg_abi_cluster *c, const wg_cluster_end end[2])
{
    if ((c->links & (c->links - 1)) == 0) { /* grows at powers of two */
        wg_cluster_link *more = realloc(c->link, (c->links ? 2 * c->links : 1) * sizeof *more);
        if (!more)
            return false;
        c->link = more;
    }
    c->link[c->links++] = (wg_cluster_link){.struct_size = sizeof(wg_cluster_link), .end = {end[0], end[1]}};
    return true;
}

static bool read_links(wg_abi_cluster *c, words w, char *error, size_t bytes)
{
    wg_cluster_end end[2];
    unsigned ends = 0, chip = 0, channel = 0, seen = 0;
    for (word key, value; next_word(&w, &key);) {
        const bool is_chip = says(&key, "chip"), is_channel = says(&key, "chan");
        if (!is_chip && !is_channel)
            continue; /* routing_enabled and the like */
        if (!next_word(&w, &value) || !number_of(&value, 63, is_chip ? &chip : &channel) || (seen & (is_chip ? 1 : 2)))
            return fail(error, bytes, "`ethernet_connections`: one end of a connection has `chip` and `chan`");
        seen |= is_chip ? 1 : 2;
        if (seen != 3)
            continue;
        seen = 0;
        end[ends++] = (wg_cluster_end){chip, channel};
        if (ends == 2 && !add_link(c, end))
            return fail(error, bytes, "out of memory");
        ends %= 2;
    }
    return (!ends && !seen) || fail(error, bytes, "`ethernet_connections`: a connection has two ends");
}

/* ---- The file ---- */

static bool read_file(wg_abi_cluster *c, wg_arch_id arch, FILE *f, char *error, size_t bytes)
{
    char *text = malloc(MOST_BYTES);
    const size_t size = text ? fread(text, 1, MOST_BYTES, f) : 0;
    words w;
    bool ok = text || fail(error, bytes, "out of memory");
    if (ok && (ferror(f) || size == MOST_BYTES))
        ok = fail(error, bytes, "it cannot be read, or is too large");
    ok = ok &&
         (section(text, size, "arch", &w) || fail(error, bytes, "`arch` is missing: the architecture of each chip")) &&
         read_chips(c, arch, w, error, bytes);
    if (ok && section(text, size, "ethernet_connections", &w))
        ok = read_links(c, w, error, bytes);
    free(text);
    return ok;
}

static bool of_topology(wg_abi_cluster *c, wg_arch_id arch, const wg_topology *t, char *error, size_t bytes)
{
    wg_cluster_link link = {.struct_size = sizeof link};
    if (t->arch != arch)
        return fail(error, bytes, "this topology is of another architecture than the library");
    c->chips = t->chips;
    for (unsigned i = 0; wg_topology_link(t, i, &link); i++)
        if (!add_link(c, link.end))
            return fail(error, bytes, "out of memory");
    return true;
}

/* The descriptor's path: next to the library as loaded. */
static bool beside(char *room, size_t bytes)
{
    Dl_info self;
    bool (*here)(char *, size_t) = beside;
    void *address;
    memcpy(&address, &here, sizeof address);
    const char *slash = dladdr(address, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
    const int n =
        slash ? snprintf(room, bytes, "%.*s/cluster_descriptor.yaml", (int)(slash - self.dli_fname), self.dli_fname)
              : snprintf(room, bytes, "cluster_descriptor.yaml");
    return n > 0 && (size_t)n < bytes;
}

bool wg_abi_cluster_read(wg_abi_cluster *out, wg_arch_id arch, const char *named, char *error, size_t bytes)
{
    char path[4096];
    const wg_topology *t = named ? wg_topology_find(named) : NULL;
    *out = (wg_abi_cluster){.chips = 1};
    if (t)
        return of_topology(out, arch, t, error, bytes);
    if (!named && !beside(path, sizeof path))
        return true;
    FILE *f = fopen(named ? named : path, "rbe");
    if (!f && !named)
        return true;
    if (!f)
        return fail(error, bytes, strerror(errno));
    const bool ok = read_file(out, arch, f, error, bytes);
    fclose(f);
    return ok;
}

void wg_abi_cluster_free(wg_abi_cluster *c)
{
    free(c->link);
    *c = (wg_abi_cluster){.chips = 1};
}
