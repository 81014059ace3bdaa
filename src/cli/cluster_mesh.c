/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mesh graph descriptors of tt-metal (.textproto): meshes of chips, each connected to its neighbours by the same number of
 * channels, and graphs of meshes and other graphs. Chips are numbered in the order of the instances, row by row.
 *
 *     text ──parse──► fields ──place──► chips, links
 *
 * A descriptor names no channels; here each neighbour gets the next ones of both chips, in the order of the chips, then each
 * connection of a graph in its order. One between meshes, without `device_id`, is spread over pairs of chips with the same number.
 * Settings for hosts are skipped (host_topology, pinnings, policies); switches are refused.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_yaml.h"
#include "arch/arch.h"

enum { DIMENSIONS = 3, CHANNELS = 64, DEEPEST = 16, WORD = 64, MOST_FIELDS = 1 << 18 };

/* A field: a message, or one value. Those within a message follow it, up to `end`. */
typedef struct field {
    char name[WORD], value[WORD]; /* value: "" of a message */
    size_t end;
} field;

/* An instance: chips of a mesh, or of a graph, whose own instances are `from` to `to`. */
typedef struct part {
    char descriptor[WORD];
    unsigned id, first, chips;
    bool graph;
    size_t from, to;
} part;

typedef struct mesh {
    const char *at, *error; /* error: NULL, or the complaint */
    field *all;
    size_t fields;
    part *part;
    size_t parts;
    wg_cluster_file *out;
    unsigned *used; /* channels of each chip */
    bool known;     /* the architecture */
} mesh;

/* ---- Fields ---- */

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

static bool add(mesh *m, const char *name, const char *value)
{
    if (m->fields == MOST_FIELDS) {
        m->error = "it is too long";
        return false;
    }
    if ((m->fields & (m->fields - 1)) == 0) {
        field *more = wg_realloc(m->all, (m->fields ? 2 * m->fields : 1) * sizeof *more);
        if (!more) {
            m->error = "out of memory";
            return false;
        }
        m->all = more;
    }
    field *f = &m->all[m->fields++];
    *f = (field){.end = m->fields};
    memcpy(f->name, name, sizeof f->name);
    memcpy(f->value, value, sizeof f->value);
    return true;
}

/* Fields of nested messages: FIELD { … }, FIELD: [ … ], FIELD: VALUE. The root message is the text itself. */
static void parse(mesh *m)
{
    char name[WORD] = "", word[WORD] = "";
    const char nothing[WORD] = "";
    size_t open[DEEPEST] = {0};
    unsigned depth = 0;
    bool list = false;
    add(m, nothing, nothing);
    while (!m->error && next(m, word, sizeof word)) {
        if (word[0] == '{' || word[0] == '<') {
            if (++depth == DEEPEST) {
                m->error = "it is nested too deeply";
                return;
            }
            open[depth] = m->fields;
            add(m, name, nothing);
            name[0] = 0;
        } else if (word[0] == '}' || word[0] == '>') {
            if (!depth) {
                m->error = "a bracket is closed that is not open";
                return;
            }
            m->all[open[depth--]].end = m->fields;
            name[0] = 0;
        } else if (word[0] == '[' || word[0] == ']') {
            list = word[0] == '[';
            name[0] = list ? name[0] : 0;
        } else if (!name[0]) {
            memcpy(name, word, sizeof name);
        } else {
            add(m, name, word);
            name[0] = list ? name[0] : 0;
        }
    }
    if (!m->error && depth)
        m->error = "it ends too early";
    if (m->fields)
        m->all[0].end = m->fields;
}

/* The next field of message `in` with this name, after field `after` (`in`: from the start); 0: none. */
static size_t find(const mesh *m, size_t in, size_t after, const char *name)
{
    for (size_t i = after == in ? in + 1 : m->all[after].end; i < m->all[in].end; i = m->all[i].end)
        if (strcmp(m->all[i].name, name) == 0)
            return i;
    return 0;
}

static const char *value(const mesh *m, size_t in, const char *name)
{
    const size_t at = find(m, in, in, name);
    return at ? m->all[at].value : "";
}

/* False: the field is missing, or not a number up to `most`. */
static bool number(const mesh *m, size_t in, const char *name, unsigned most, unsigned *out)
{
    char *end;
    const char *text = value(m, in, name);
    const unsigned long found = strtoul(text, &end, 10);
    *out = (unsigned)found;
    return isdigit((unsigned char)*text) && !*end && found <= most;
}

/* The only descriptor of this kind and name; 0: complained. */
static size_t descriptor(mesh *m, const char *kind, const char *name)
{
    size_t found = 0;
    for (size_t i = 0; (i = find(m, 0, i, kind)) != 0;) {
        if (strcmp(value(m, i, "name"), name) != 0)
            continue;
        if (found)
            m->error = "two descriptors have the same name";
        found = i;
    }
    if (!found)
        m->error = "an instance names a descriptor that does not exist";
    return m->error ? 0 : found;
}

/* ---- Links ---- */

static void connect(mesh *m, unsigned a, unsigned b, unsigned count)
{
    wg_cluster_file *out = m->out;
    for (unsigned i = 0; i < count && !m->error; i++) {
        wg_cluster_wire *more = wg_realloc(out->wire, (out->wires + 1) * sizeof *out->wire);
        if (!more || m->used[a] >= CHANNELS || m->used[b] >= CHANNELS) {
            m->error = more ? "a chip has too few channels" : "out of memory";
            out->wire = more ? more : out->wire;
            return;
        }
        out->wire = more;
        out->wire[out->wires++] = (wg_cluster_wire){
            .mark = out->topology_mark,
            .link = {.struct_size = sizeof(wg_cluster_link), .end = {{a, m->used[a]++}, {b, m->used[b]++}}}};
    }
}

/* Between two instances: each link goes to the pair of chips, equal in number, that has the fewest so far. */
static void join(mesh *m, const part *a, const part *b, unsigned count)
{
    const unsigned pairs = a->chips < b->chips ? a->chips : b->chips;
    for (unsigned i = 0; i < count && !m->error; i++) {
        unsigned best = 0, least = UINT32_MAX;
        for (unsigned k = 0; k < pairs; k++) {
            const unsigned x = m->used[a->first + k], y = m->used[b->first + k], most = x > y ? x : y;
            if (most < least) {
                least = most;
                best = k;
            }
        }
        connect(m, a->first + best, b->first + best, 1);
    }
}

/* ---- Instances ---- */

static void mesh_links(mesh *m, size_t at, unsigned first, unsigned chips, const unsigned size[DIMENSIONS],
                       unsigned dims)
{
    bool ring[DIMENSIONS] = {false};
    unsigned types = 0, count, a, b;
    const size_t topology = find(m, at, at, "device_topology"), channels = find(m, at, at, "channels");
    for (size_t i = topology; (i = find(m, topology, i, "dim_types")) != 0; types++) {
        const char *type = m->all[i].value;
        if (types == DIMENSIONS || (strcmp(type, "LINE") != 0 && strcmp(type, "RING") != 0)) {
            m->error = "`dim_types` are LINE or RING for each dimension";
            return;
        }
        ring[types] = type[0] == 'R';
    }
    if (!channels || !number(m, channels, "count", CHANNELS, &count) || !count) {
        m->error = "a mesh has `channels` with `count`";
        return;
    }
    for (unsigned i = 0; i < chips; i++)
        for (unsigned d = dims, step = 1; d-- > 0; step *= size[d]) {
            const unsigned here = i / step % size[d], last = size[d] - 1;
            if (here < last)
                connect(m, first + i, first + i + step, count);
            else if (ring[d] && last > 1)
                connect(m, first + i, first + i - last * step, count);
        }
    for (size_t i = at; (i = find(m, at, i, "express_connections")) != 0 && !m->error;) {
        if (number(m, i, "src", chips - 1, &a) && number(m, i, "dst", chips - 1, &b))
            connect(m, first + a, first + b, count);
        else
            m->error = "an express connection has `src` and `dst`, chips of its mesh";
    }
}

static void place_mesh(mesh *m, size_t at, part *p)
{
    const size_t topology = find(m, at, at, "device_topology");
    unsigned size[DIMENSIONS] = {0}, dims = 0;
    uint64_t chips = 1;
    wg_arch_id arch;
    const char *name = value(m, at, "arch");
    if (!topology || !wg_arch_by_metal_name(name, strlen(name), &arch)) {
        m->error = "a mesh has `arch` (WORMHOLE_B0, BLACKHOLE), and `device_topology` with `dims`";
        return;
    }
    if (m->known && arch != m->out->base.grid.arch) {
        m->error = "all chips of a cluster have one architecture";
        return;
    }
    m->known = true;
    m->out->base.grid.arch = arch;
    for (size_t i = topology; (i = find(m, topology, i, "dims")) != 0; dims++) {
        const unsigned long n = strtoul(m->all[i].value, NULL, 10);
        if (dims == DIMENSIONS || !n || n > WG_CLUSTER_CHIPS) {
            m->error = "`dims` are up to three sizes";
            return;
        }
        size[dims] = (unsigned)n;
        chips *= n;
    }
    if (!dims || chips + m->out->chips > WG_CLUSTER_CHIPS) {
        m->error = dims ? "a cluster has at most 4096 chips" : "a mesh has `device_topology` with `dims`";
        return;
    }
    p->chips = (unsigned)chips;
    m->out->chips += p->chips;
    mesh_links(m, at, p->first, p->chips, size, dims);
}

static void place_graph(mesh *m, size_t at, part *p, unsigned depth);

/* An instance: `mesh { … }` or `graph { … }` within the message `at`. */
static void place(mesh *m, size_t at, part *p, unsigned depth)
{
    const size_t of_mesh = find(m, at, at, "mesh"), what = of_mesh ? of_mesh : find(m, at, at, "graph");
    *p = (part){.first = m->out->chips, .graph = !of_mesh};
    if (!what || depth == DEEPEST) {
        m->error = what ? "graphs contain each other" : "an instance is a mesh or a graph";
        return;
    }
    snprintf(p->descriptor, sizeof p->descriptor, "%s",
             value(m, what, of_mesh ? "mesh_descriptor" : "graph_descriptor"));
    if (!number(m, what, of_mesh ? "mesh_id" : "graph_id", UINT16_MAX, &p->id)) {
        m->error = "an instance has an id";
        return;
    }
    const size_t found = descriptor(m, of_mesh ? "mesh_descriptors" : "graph_descriptors", p->descriptor);
    if (found && of_mesh)
        place_mesh(m, found, p);
    else if (found)
        place_graph(m, found, p, depth + 1);
}

/* ---- Graphs ---- */

/* The instance among `from` to `to` that a node names, or a chip of it. False: there is none. */
static bool named(const mesh *m, size_t node, size_t from, size_t to, part *out)
{
    const size_t of_mesh = find(m, node, node, "mesh"), what = of_mesh ? of_mesh : find(m, node, node, "graph");
    unsigned id, device;
    if (!what || !number(m, what, of_mesh ? "mesh_id" : "graph_id", UINT16_MAX, &id))
        return false;
    for (size_t i = from; i < to; i++) {
        const part *p = &m->part[i];
        if (p->graph != !of_mesh || p->id != id ||
            strcmp(p->descriptor, value(m, what, of_mesh ? "mesh_descriptor" : "graph_descriptor")) != 0)
            continue;
        *out = *p;
        if (p->graph && (find(m, what, what, "mesh") || find(m, what, what, "graph")))
            return named(m, what, p->from, p->to, out);
        if (!*value(m, what, "device_id"))
            return true;
        if (p->graph || !number(m, what, "device_id", p->chips - 1, &device))
            return false;
        out->first += device;
        out->chips = 1;
        return true;
    }
    return false;
}

static void connections(mesh *m, size_t at, const part *p)
{
    enum { NODES = 64 };
    for (size_t i = at; (i = find(m, at, i, "connections")) != 0 && !m->error;) {
        part node[NODES];
        unsigned nodes = 0, count;
        const size_t channels = find(m, i, i, "channels");
        for (size_t k = i; (k = find(m, i, k, "nodes")) != 0 && nodes < NODES; nodes++)
            if (!named(m, k, p->from, p->to, &node[nodes])) {
                m->error = "a connection names an instance, or a chip, that its graph does not have";
                return;
            }
        if (nodes < 2 || !channels || !number(m, channels, "count", UINT16_MAX, &count)) {
            m->error = "a connection has `nodes`, and `channels` with `count`";
            return;
        }
        for (unsigned a = 0; a < nodes; a++)
            for (unsigned b = a + 1; b < nodes; b++)
                join(m, &node[a], &node[b], count);
    }
}

static void layout(mesh *m, size_t at, const part *p)
{
    const size_t topology = find(m, at, at, "graph_topology"),
                 channels = topology ? find(m, topology, topology, "channels") : 0;
    unsigned count;
    if (!topology || m->error)
        return;
    if (strcmp(value(m, topology, "layout_type"), "ALL_TO_ALL") != 0 || !channels ||
        !number(m, channels, "count", UINT16_MAX, &count)) {
        m->error = "a graph's topology has `layout_type: ALL_TO_ALL`, and `channels` with `count`";
        return;
    }
    for (size_t a = p->from; a < p->to; a++)
        for (size_t b = a + 1; b < p->to; b++)
            join(m, &m->part[a], &m->part[b], count);
}

static void place_graph(mesh *m, size_t at, part *p, unsigned depth)
{
    size_t count = 0, k = 0;
    for (size_t i = at; (i = find(m, at, i, "instances")) != 0;)
        count++;
    part *own = count ? wg_calloc(count, sizeof *own) : NULL;
    if (!own)
        m->error = count ? "out of memory" : "a graph has `instances`";
    for (size_t i = at; own && !m->error && (i = find(m, at, i, "instances")) != 0;)
        place(m, i, &own[k++], depth);
    /* The parts of a graph are consecutive; nested graphs have appended theirs already. */
    part *more = m->error ? NULL : wg_realloc(m->part, (m->parts + count) * sizeof *more);
    if (!m->error && !more)
        m->error = "out of memory";
    if (more) {
        m->part = more;
        memcpy(more + m->parts, own, count * sizeof *own);
        p->from = m->parts;
        p->to = m->parts += count;
        p->chips = m->out->chips - p->first;
        connections(m, at, p);
        layout(m, at, p);
    }
    free(own);
}

bool wg_cluster_mesh(wg_cluster_file *out, const char *path, const char *text)
{
    mesh m = {.at = text, .out = out};
    part top;
    out->chips = 0;
    if (!(m.used = wg_calloc(WG_CLUSTER_CHIPS, sizeof *m.used)))
        m.error = "out of memory";
    else
        parse(&m);
    if (!m.error && !find(&m, 0, 0, "mesh_descriptors"))
        m.error = "`mesh_descriptors` is missing";
    if (!m.error && find(&m, 0, 0, "switch_descriptors"))
        m.error = "switches are not supported: give the links yourself";
    const size_t instance = m.error ? 0 : find(&m, 0, 0, "top_level_instance");
    if (instance)
        place(&m, instance, &top, 0);
    else if (!m.error)
        m.error = "`top_level_instance` is missing";
    if (m.error)
        wg_chip_complain(&out->base, out->topology_mark, "%s: %s", path, m.error);
    free(m.all);
    free(m.part);
    free(m.used);
    return !m.error;
}
