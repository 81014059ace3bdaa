/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster files: chips, links, faults (docs/cluster_yaml.md); and tt-metal's cluster descriptors. */
#ifndef WG_CLUSTER_YAML_H
#define WG_CLUSTER_YAML_H

#include <waitgate/cluster.h>

#include "cli/chip_yaml.h"

typedef struct wg_cluster_wire {
    wg_chip_mark mark;
    wg_cluster_link link;
} wg_cluster_wire;

/* A chip of a cluster: the contents of its entries, or a chip file. */
typedef struct wg_cluster_member {
    wg_chip_file chip;
    const char *path; /* of a chip file; NULL: none */
    wg_chip_mark mark;
    bool named;
} wg_cluster_member;

typedef struct wg_cluster_file {
    wg_chip_file base; /* the keys shared with chip files; the errors */
    bool arch_given;
    const char *topology; /* a name, or a descriptor's path */
    wg_chip_mark topology_mark;
    uint8_t *descriptor;
    uint32_t *harvested; /* of each chip, by the descriptor; NULL: it does not say */
    unsigned chips;
    wg_cluster_member *chip;
    wg_cluster_wire *wire;
    size_t wires;
} wg_cluster_file;

/* False: base.report says why. The text must live as long as the result; free it in either case. */
bool wg_cluster_parse(wg_cluster_file *out, const char *name, const char *text, size_t bytes);
void wg_cluster_file_free(wg_cluster_file *file);

/* cluster_descriptor.c: reads the chips and links of a descriptor. False: base.report says why. */
bool wg_cluster_descriptor(wg_cluster_file *out, const char *path);
/* cluster_mesh.c: the same for a mesh graph descriptor. */
bool wg_cluster_mesh(wg_cluster_file *out, const char *path, const char *text);

#endif
