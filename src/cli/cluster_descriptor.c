/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster descriptors of tt-metal and tt-umd: chips with their architecture, ethernet_connections, and the Tensix tiles
 * that are fused off. Everything else in them is for hosts and is skipped. Channels are those that software counts, so
 * fused-off Ethernet tiles are not among them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_yaml.h"
#include "arch/arch.h"
#include "cli/yaml_read.h"
#include "noc/floorplan.h"
#include "cli/session.h"

typedef struct descriptor {
    wg_chip_file file; /* first: gets the errors */
    wg_cluster_file *out;
} descriptor;

/* The value of a key of a mapping; NULL: it has none. */
static yaml_node_t *value_of(wg_yaml *p, const yaml_node_t *n, const char *name)
{
    if (n->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
        const yaml_node_t *k = wg_yaml_node(p, pair->key);
        if (k && k->type == YAML_SCALAR_NODE && strcmp((const char *)k->data.scalar.value, name) == 0)
            return wg_yaml_node(p, pair->value);
    }
    return NULL;
}

static bool read_archs(wg_yaml *p, yaml_node_t *n, wg_cluster_file *out)
{
    if (!n || n->type != YAML_MAPPING_NODE || n->data.mapping.pairs.start == n->data.mapping.pairs.top)
        return wg_yaml_complain(p, n ? n : yaml_document_get_root_node(p->document),
                                "`arch` is missing: the architecture of each chip");
    for (yaml_node_pair_t *pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
        yaml_node_t *v = wg_yaml_node(p, pair->value);
        uint64_t chip;
        const char *name = wg_yaml_scalar(p, v, "an architecture");
        if (!name || !wg_yaml_number(p, wg_yaml_node(p, pair->key), WG_CLUSTER_CHIPS - 1, &chip))
            return false;
        wg_arch_id arch;
        if (!wg_arch_by_metal_name(name, strlen(name), &arch))
            return wg_yaml_complain(p, v, "`%.60s` is neither wormhole_b0 nor blackhole", name);
        if (out->chips && arch != out->base.grid.arch)
            return wg_yaml_complain(p, v, "the chips of a cluster have one architecture");
        out->base.grid.arch = arch;
        if (chip >= out->chips)
            out->chips = (unsigned)chip + 1;
    }
    return true;
}

/* Bit n of harvest_mask is the n-th column or row of Tensix tiles in NoC 0 coordinates. */
static bool read_harvesting(wg_yaml *p, yaml_node_t *n, wg_cluster_file *out)
{
    const wg_floorplan *plan = wg_floorplan_of(out->base.grid.arch);
    if (!n)
        return true;
    if (n->type != YAML_MAPPING_NODE)
        return wg_yaml_complain(p, n, "`harvesting` has the masks of each chip");
    if (!(out->harvested = wg_calloc(out->chips, sizeof *out->harvested)))
        return !(out->base.out_of_memory = true);
    for (yaml_node_pair_t *pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
        yaml_node_t *masks = wg_yaml_node(p, pair->value), *tensix = value_of(p, masks, "harvest_mask"),
                    *dram = value_of(p, masks, "dram_harvesting_mask");
        uint64_t chip, mask = 0, channels = 0;
        if (!wg_yaml_number(p, wg_yaml_node(p, pair->key), out->chips - 1, &chip) ||
            (tensix && !wg_yaml_number(p, tensix, UINT32_MAX, &mask)) ||
            (dram && !wg_yaml_number(p, dram, UINT32_MAX, &channels)))
            return false;
        if (channels)
            return wg_yaml_complain(p, dram, "fused-off DRAM channels are not modelled");
        out->harvested[chip] = wg_floorplan_harvest(plan, mask);
        if (mask && !out->harvested[chip])
            return wg_yaml_complain(p, tensix, "%s has fewer %s of Tensix tiles than this mask",
                                    wg_arch_title(out->base.grid.arch), plan->harvests_rows ? "rows" : "columns");
    }
    return true;
}

static bool read_end(wg_yaml *p, yaml_node_t *n, wg_cluster_end *end)
{
    yaml_node_t *chip = value_of(p, n, "chip"), *channel = value_of(p, n, "chan");
    uint64_t value[2];
    if (!chip || !channel)
        return wg_yaml_complain(p, n, "one end of a connection has `chip` and `chan`");
    if (!wg_yaml_number(p, chip, WG_CLUSTER_CHIPS - 1, &value[0]) || !wg_yaml_number(p, channel, 63, &value[1]))
        return false;
    *end = (wg_cluster_end){(unsigned)value[0], (unsigned)value[1]};
    return true;
}

static bool read_connections(wg_yaml *p, yaml_node_t *n, wg_cluster_file *out)
{
    if (!n || n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n ? n : yaml_document_get_root_node(p->document),
                                "`ethernet_connections` is missing: a list of pairs");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        yaml_node_t *one = wg_yaml_node(p, *item);
        wg_cluster_wire wire = {.mark = out->topology_mark, .link = {.struct_size = sizeof wire.link}};
        if (one->type != YAML_SEQUENCE_NODE || one->data.sequence.items.top - one->data.sequence.items.start < 2)
            return wg_yaml_complain(p, one, "a connection is a list of its two ends");
        for (unsigned i = 0; i < 2; i++)
            if (!read_end(p, wg_yaml_node(p, one->data.sequence.items.start[i]), &wire.link.end[i]))
                return false;
        wg_cluster_wire *more = wg_yaml_grow(p, out->wire, out->wires, sizeof *out->wire);
        if (!more)
            return wg_yaml_too_many(p, one);
        out->wire = more;
        out->wire[out->wires++] = wire;
    }
    return true;
}

static bool parse_root(wg_yaml *p, yaml_node_t *root)
{
    wg_cluster_file *out = ((descriptor *)(void *)p->file)->out;
    return read_archs(p, value_of(p, root, "arch"), out) && read_harvesting(p, value_of(p, root, "harvesting"), out) &&
           read_connections(p, value_of(p, root, "ethernet_connections"), out);
}

bool wg_cluster_descriptor(wg_cluster_file *out, const char *path)
{
    const char *slash = strrchr(out->base.name, '/');
    char message[512];
    size_t bytes;
    wg_text full = {0};
    if (path[0] != '/' && slash)
        wg_text_add(&full, out->base.name, (size_t)(slash - out->base.name) + 1);
    wg_textf(&full, "%s", path);
    free(out->descriptor);
    out->descriptor = full.failed ? NULL : wg_file_read(full.data, &bytes, message, sizeof message);
    bool right = out->descriptor != NULL;
    const char *dot = strrchr(path, '.');
    if (right && dot && strcmp(dot, ".textproto") == 0) {
        right = wg_cluster_mesh(out, path, (const char *)out->descriptor);
    } else if (right) {
        descriptor d = {.file = {.name = full.data, .source = (const char *)out->descriptor, .source_bytes = bytes},
                        .out = out};
        right = wg_yaml_parse(&d.file, (const char *)out->descriptor, bytes, parse_root);
        wg_text_add(&out->base.report, wg_text_of(&d.file.report), d.file.report.size);
        out->base.errors += d.file.errors;
        wg_chip_free(&d.file);
    } else if (full.failed) {
        out->base.out_of_memory = true;
    } else {
        wg_chip_complain(&out->base, out->topology_mark, "%s", message);
    }
    wg_text_free(&full);
    return right;
}
