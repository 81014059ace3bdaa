/* SPDX-License-Identifier: Apache-2.0 */
/* Ready-made clusters by name; topologies.def is the one list. */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <waitgate/cluster.h>

enum {
#define TOPOLOGY(id, name, arch, chips, what) ID_##id,
#define RUN(id, a, from, b, to, count)
#include "cluster/topologies.def"
    TOPOLOGIES
};

static const wg_topology topologies[TOPOLOGIES] = {
#define TOPOLOGY(id, name, arch, chips, what) {name, what, arch, chips},
#define RUN(id, a, from, b, to, count)
#include "cluster/topologies.def"
};

static const struct run {
    uint8_t of, a, from, b, to, count;
} runs[] = {
#define TOPOLOGY(id, name, arch, chips, what)
#define RUN(id, a, from, b, to, count) {ID_##id, a, from, b, to, count},
#include "cluster/topologies.def"
};

const wg_topology *wg_topology_at(unsigned i) { return i < TOPOLOGIES ? &topologies[i] : NULL; }

const wg_topology *wg_topology_find(const char *name)
{
    for (unsigned i = 0; i < TOPOLOGIES; i++)
        if (strcasecmp(topologies[i].name, name) == 0)
            return &topologies[i];
    return NULL;
}

bool wg_topology_link(const wg_topology *t, unsigned number, wg_cluster_link *link)
{
    const unsigned id = (unsigned)(t - topologies);
    if (link->struct_size < offsetof(wg_cluster_link, up_at))
        return false;
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (runs[i].of != id)
            continue;
        if (number < runs[i].count) {
            const wg_cluster_link own = {.struct_size = link->struct_size,
                                         .end = {{runs[i].a, runs[i].from + number}, {runs[i].b, runs[i].to + number}}};
            memcpy(link, &own, link->struct_size < sizeof own ? link->struct_size : sizeof own);
            return true;
        }
        number -= runs[i].count;
    }
    return false;
}
