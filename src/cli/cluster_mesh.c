/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mesh graph descriptors of tt-metal (.textproto): one mesh of chips, each connected to its neighbours by the same
 * number of channels. Chips are numbered row by row. A descriptor names no channels; here each neighbour gets the next
 * ones of both chips, in the order of the chips. Settings for hosts are skipped (host_topology, pinnings, policies);
 * several meshes, switches and express connections are refused.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_yaml.h"
#include "arch/arch.h"

enum { DIMENSIONS = 3, CHANNELS = 64 };

typedef struct mesh {
    const char *at, *error; /* NULL, or the error */
    unsigned meshes, dims, types, size[DIMENSIONS], count;
    bool ring[DIMENSIONS], known;
    wg_arch_id arch;
} mesh;

/* Reads the next word, number, string or bracket; false: end of text. */
static bool next(mesh *m, char *room, size_t bytes)
{
    size_t n = 0;
    for (; *m->at && (isspace((unsigned char)*m->at) || strchr(",:;", *m->at) || *m->at == '#'); m->at++)
        if (*m->at == '#')
            while (m->at[1] && m->at[1] != '\n')
                m->at++;
    if (!*m->at)
        return false;
    if (strchr("{}[]<>", *m->at)) {
        room[n++] = *m->at++;
    } else if (*m->at == '"') {
        for (m->at++; *m->at && *m->at != '"'; m->at++)
            if (n + 1 < bytes)
                room[n++] = *m->at;
        m->at += *m->at == '"';
    } else {
        for (; *m->at && !isspace((unsigned char)*m->at) && !strchr(",:;{}[]<>#\"", *m->at); m->at++)
            if (n + 1 < bytes)
                room[n++] = *m->at;
    }
    room[n] = 0;
    return true;
}

static void add_size(mesh *m, const char *text)
{
    const unsigned long value = strtoul(text, NULL, 10);
    if (m->dims == DIMENSIONS || !value || value > WG_CLUSTER_CHIPS)
        m->error = "`dims` are up to three sizes";
    else
        m->size[m->dims++] = (unsigned)value;
}

static void add_type(mesh *m, const char *text)
{
    if (m->types == DIMENSIONS || (strcmp(text, "LINE") != 0 && strcmp(text, "RING") != 0))
        m->error = "`dim_types` are LINE or RING for each dimension";
    else
        m->ring[m->types++] = text[0] == 'R';
}

/* A field of a mesh; `inside`: the message that it is a field of. */
static void take(mesh *m, const char *inside, const char *field, const char *value)
{
    const bool device = strcmp(inside, "device_topology") == 0;
    if (device && strcmp(field, "dims") == 0)
        add_size(m, value);
    else if (device && strcmp(field, "dim_types") == 0)
        add_type(m, value);
    else if (strcmp(inside, "channels") == 0 && strcmp(field, "count") == 0)
        m->count = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(inside, "mesh_descriptors") == 0 && strcmp(field, "arch") == 0) {
        m->known = wg_arch_by_metal_name(value, strlen(value), &m->arch);
    }
}

static void enter(mesh *m, const char *message)
{
    m->meshes += strcmp(message, "mesh_descriptors") == 0;
    if (strcmp(message, "graph_descriptors") == 0 || strcmp(message, "switch_descriptors") == 0 ||
        strcmp(message, "express_connections") == 0 || m->meshes > 1)
        m->error = "several meshes, switches and express connections are not supported: give the links yourself";
}

/* Fields of nested messages: FIELD { … }, FIELD: [ … ], FIELD: VALUE. */
static void parse(mesh *m)
{
    enum { DEEPEST = 16 };
    char name[DEEPEST][40] = {""}, field[40] = "", word[40];
    unsigned depth = 0;
    bool list = false;
    while (!m->error && next(m, word, sizeof word)) {
        if (word[0] == '{' || word[0] == '<') {
            if (++depth == DEEPEST) {
                m->error = "it is nested too deeply";
                return;
            }
            memcpy(name[depth], field, sizeof field);
            enter(m, field);
            field[0] = 0;
        } else if (word[0] == '}' || word[0] == '>') {
            if (!depth--) {
                m->error = "a bracket is closed that is not open";
                return;
            }
            field[0] = 0;
        } else if (word[0] == '[' || word[0] == ']') {
            list = word[0] == '[';
            field[0] = list ? field[0] : 0;
        } else if (!field[0]) {
            memcpy(field, word, sizeof field);
        } else {
            take(m, name[depth], field, word);
            field[0] = list ? field[0] : 0;
        }
    }
    if (!m->error && depth)
        m->error = "it ends too early";
}

static bool connect(wg_cluster_file *out, const mesh *m, unsigned a, unsigned b, unsigned *used)
{
    for (unsigned i = 0; i < m->count; i++) {
        wg_cluster_wire *more = wg_realloc(out->wire, (out->wires + 1) * sizeof *out->wire);
        if (!more || used[a] >= CHANNELS || used[b] >= CHANNELS)
            return false;
        out->wire = more;
        out->wire[out->wires++] =
            (wg_cluster_wire){.mark = out->topology_mark, .link = {.end = {{a, used[a]++}, {b, used[b]++}}}};
    }
    return true;
}

static bool build(wg_cluster_file *out, const mesh *m)
{
    unsigned *used = wg_calloc(out->chips, sizeof *used);
    bool ok = used != NULL;
    for (unsigned i = 0; ok && i < out->chips; i++)
        for (unsigned d = m->dims, step = 1; ok && d-- > 0; step *= m->size[d]) {
            const unsigned at = i / step % m->size[d], last = m->size[d] - 1;
            if (at < last)
                ok = connect(out, m, i, i + step, used);
            else if (m->ring[d] && last > 1)
                ok = connect(out, m, i, i - last * step, used);
        }
    free(used);
    return ok;
}

bool wg_cluster_mesh(wg_cluster_file *out, const char *path, const char *text)
{
    mesh m = {.at = text};
    uint64_t chips = 1;
    parse(&m);
    for (unsigned d = 0; d < m.dims; d++)
        chips *= m.size[d];
    if (!m.error && !m.meshes)
        m.error = "`mesh_descriptors` is missing";
    if (!m.error && (!m.known || !m.dims || !m.count || m.count > CHANNELS || chips > WG_CLUSTER_CHIPS))
        m.error =
            "a mesh has `arch` (WORMHOLE_B0, BLACKHOLE), `device_topology` with `dims`, and `channels` with `count`";
    if (m.error) {
        wg_chip_complain(&out->base, out->topology_mark, "%s: %s", path, m.error);
        return false;
    }
    out->base.grid.arch = m.arch;
    out->chips = (unsigned)chips;
    if (build(out, &m))
        return true;
    wg_chip_complain(&out->base, out->topology_mark, "%s: out of memory, or a chip has too few channels", path);
    return false;
}
