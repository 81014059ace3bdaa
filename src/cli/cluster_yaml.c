/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of cluster files. The order of keys does not matter, so nodes are noted first and read in this order: topology,
 * links, faults, chips.
 */
#include "cli/cluster_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "cli/yaml_read.h"

typedef struct nodes {
    wg_cluster_file file; /* first: what keys are read into */
    yaml_node_t *links, *faults, *chips;
} nodes;

static bool topology(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_cluster_file *f = into;
    f->topology = wg_yaml_scalar(p, n, "a topology");
    f->topology_mark = wg_yaml_mark(n);
    return f->topology != NULL;
}

static bool arch(wg_yaml *p, yaml_node_t *n, void *into)
{
    ((wg_cluster_file *)into)->arch_given = true;
    return wg_chip_key_arch(p, n, into);
}

static bool note(wg_yaml *p, yaml_node_t *n, yaml_node_t **at)
{
    *at = n;
    return n->type == YAML_SEQUENCE_NODE ||
           wg_yaml_complain(p, n, "a list is expected here: lines that begin with `-`");
}

static bool links(wg_yaml *p, yaml_node_t *n, void *into) { return note(p, n, &((nodes *)into)->links); }
static bool faults(wg_yaml *p, yaml_node_t *n, void *into) { return note(p, n, &((nodes *)into)->faults); }
static bool chips(wg_yaml *p, yaml_node_t *n, void *into) { return note(p, n, &((nodes *)into)->chips); }

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static bool end_of(wg_yaml *p, yaml_node_t *n, wg_cluster_end *end)
{
    uint64_t value[2];
    if (n->type != YAML_SEQUENCE_NODE || n->data.sequence.items.top - n->data.sequence.items.start != 2)
        return wg_yaml_complain(p, n, "one end of a link is expected here: [chip, channel]");
    for (unsigned i = 0; i < 2; i++)
        if (!wg_yaml_number(p, wg_yaml_node(p, n->data.sequence.items.start[i]), i ? 63 : WG_CLUSTER_CHIPS - 1,
                            &value[i]))
            return false;
    *end = (wg_cluster_end){(unsigned)value[0], (unsigned)value[1]};
    return true;
}

static bool link_from(wg_yaml *p, yaml_node_t *n, void *into)
{
    return end_of(p, n, &((wg_cluster_wire *)into)->link.end[0]);
}
static bool link_to(wg_yaml *p, yaml_node_t *n, void *into)
{
    return end_of(p, n, &((wg_cluster_wire *)into)->link.end[1]);
}
static bool link_up(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX / 16, &((wg_cluster_wire *)into)->link.up_at);
}
static bool link_cut(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX / 16, &((wg_cluster_wire *)into)->link.cut_at);
}

static bool add_wire(wg_yaml *p, yaml_node_t *n, wg_cluster_file *f, const wg_cluster_wire *wire)
{
    wg_cluster_wire *more = wg_yaml_grow(p, f->wire, f->wires, sizeof *f->wire);
    if (!more)
        return wg_yaml_too_many(p, n);
    f->wire = more;
    f->wire[f->wires++] = *wire;
    for (unsigned i = 0; i < 2; i++)
        if (wire->link.end[i].chip >= f->chips && !f->topology)
            f->chips = wire->link.end[i].chip + 1;
    return true;
}

static bool read_links(wg_yaml *p, yaml_node_t *n, wg_cluster_file *f)
{
    static const wg_yaml_key keys[] = {{"from", link_from}, {"to", link_to}, {"up", link_up}, {"cut", link_cut}};
    bool right = true;
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        yaml_node_t *one = wg_yaml_node(p, *item);
        wg_cluster_wire wire = {.mark = wg_yaml_mark(one), .link = {.struct_size = sizeof wire.link}};
        uint32_t seen;
        if (!wg_yaml_mapping(p, one, keys, 4, &wire, &seen))
            right = false;
        else if ((seen & 3) != 3)
            right = wg_yaml_complain(p, one, "a link has `from` and `to`, each [chip, channel]");
        else
            right = add_wire(p, one, f, &wire) && right;
    }
    return right;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

typedef struct fault {
    wg_cluster_end end;
    uint64_t cycle;  /* 0: it is not cut */
    uint64_t length; /* of the cut; 0: for ever */
    uint64_t every;  /* 0: nothing is lost */
} fault;

static bool cut_link(wg_yaml *p, yaml_node_t *n, void *into) { return end_of(p, n, &((fault *)into)->end); }
static bool cut_cycle(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t *cycle = &((fault *)into)->cycle;
    return wg_yaml_number(p, n, UINT64_MAX / 16, cycle) &&
           (*cycle || wg_yaml_complain(p, n, "a link is cut in cycle 1 or later"));
}

static bool cut_for(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t *length = &((fault *)into)->length;
    return wg_yaml_number(p, n, UINT64_MAX / 16, length) &&
           (*length || wg_yaml_complain(p, n, "a cut lasts for 1 cycle or more"));
}

static bool cut(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"link", cut_link}, {"cycle", cut_cycle}, {"for", cut_for}};
    uint32_t seen;
    return wg_yaml_mapping(p, n, keys, 3, into, &seen) &&
           ((seen & 3) == 3 || wg_yaml_complain(p, n, "a cut has `link`, one of its ends, and `cycle`"));
}

static bool lose_every(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t *every = &((fault *)into)->every;
    return wg_yaml_number(p, n, UINT64_MAX / 16, every) &&
           (*every > 1 || wg_yaml_complain(p, n, "`every` is 2 or more: every N-th frame is lost"));
}

static bool lose(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"link", cut_link}, {"every", lose_every}};
    uint32_t seen;
    return wg_yaml_mapping(p, n, keys, 2, into, &seen) &&
           (seen == 3 || wg_yaml_complain(p, n, "`lose` has `link`, the end that sends, and `every`"));
}

static void cut_wire(wg_cluster_link *link, const fault *of)
{
    link->cut_at = of->cycle;
    link->again_at = of->length ? of->cycle + of->length : 0;
}

static bool read_faults(wg_yaml *p, yaml_node_t *n, wg_cluster_file *f)
{
    static const wg_yaml_key keys[] = {{"cut", cut}, {"lose", lose}};
    bool right = true;
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        yaml_node_t *one = wg_yaml_node(p, *item);
        fault of = {.cycle = 0};
        uint32_t seen;
        if (!wg_yaml_mapping(p, one, keys, 2, &of, &seen)) {
            right = false;
            continue;
        }
        if (seen != 1 && seen != 2) {
            right = wg_yaml_complain(p, one, "a fault is either a `cut` or `lose`");
            continue;
        }
        bool found = false;
        for (size_t i = 0; i < f->wires; i++)
            for (unsigned k = 0; k < 2; k++) {
                const wg_cluster_end *e = &f->wire[i].link.end[k];
                if (e->chip != of.end.chip || e->channel != of.end.channel)
                    continue;
                if (of.cycle)
                    cut_wire(&f->wire[i].link, &of);
                else
                    f->wire[i].link.lose_every[k] = of.every;
                found = true;
            }
        if (!found)
            right = wg_yaml_complain(p, one, "channel %u of chip %u has no link", of.end.channel, of.end.chip);
    }
    return right;
}

/* ---- Chips ------------------------------------------------------------------------------------------------------- */

/* An entry of `chips`. */
typedef struct entry {
    unsigned *chip; /* that it applies to */
    size_t chips;
    bool all;
    yaml_node_t *tiles;
    const char *file;
    unsigned from, to;
} entry;

static bool add_chip(wg_yaml *p, yaml_node_t *n, entry *e, unsigned chip)
{
    unsigned *more = wg_yaml_grow(p, e->chip, e->chips, sizeof *e->chip);
    if (!more)
        return wg_yaml_too_many(p, n);
    e->chip = more;
    e->chip[e->chips++] = chip;
    return true;
}

static bool chip_number(wg_yaml *p, yaml_node_t *n, unsigned *chip)
{
    uint64_t value;
    if (!wg_yaml_number(p, n, WG_CLUSTER_CHIPS - 1, &value))
        return false;
    *chip = (unsigned)value;
    return true;
}

static bool range_from(wg_yaml *p, yaml_node_t *n, void *into) { return chip_number(p, n, &((entry *)into)->from); }
static bool range_to(wg_yaml *p, yaml_node_t *n, void *into) { return chip_number(p, n, &((entry *)into)->to); }

static bool entry_chip(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"from", range_from}, {"to", range_to}};
    entry *e = into;
    unsigned chip = 0;
    uint32_t seen;
    if (n->type == YAML_SCALAR_NODE && strcmp((const char *)n->data.scalar.value, "all") == 0) {
        e->all = true;
        return true;
    }
    if (n->type == YAML_SCALAR_NODE)
        return chip_number(p, n, &chip) && add_chip(p, n, e, chip);
    if (n->type == YAML_MAPPING_NODE) {
        if (!wg_yaml_mapping(p, n, keys, 2, e, &seen))
            return false;
        if (seen != 3 || e->from > e->to)
            return wg_yaml_complain(p, n, "a range has `from` and `to`, the first and the last chip");
        for (unsigned i = e->from; i <= e->to; i++)
            if (!add_chip(p, n, e, i))
                return false;
        return true;
    }
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++)
        if (!chip_number(p, wg_yaml_node(p, *item), &chip) || !add_chip(p, n, e, chip))
            return false;
    return true;
}

static bool entry_tiles(wg_yaml *p, yaml_node_t *n, void *into)
{
    ((entry *)into)->tiles = n;
    return n->type == YAML_SEQUENCE_NODE ||
           wg_yaml_complain(p, n, "a list of tiles is expected here: lines that begin with `- at:`");
}

static bool entry_file(wg_yaml *p, yaml_node_t *n, void *into)
{
    entry *e = into;
    e->file = wg_yaml_scalar(p, n, "a chip file");
    return e->file && (*e->file || wg_yaml_complain(p, n, "a chip file is expected here"));
}

static bool read_entry(wg_yaml *p, yaml_node_t *n, entry *e)
{
    static const wg_yaml_key keys[] = {{"chip", entry_chip}, {"tiles", entry_tiles}, {"file", entry_file}};
    uint32_t seen;
    if (!wg_yaml_mapping(p, n, keys, 3, e, &seen))
        return false;
    if (!(seen & 1))
        return wg_yaml_complain(p, n, "`chip` is missing: a number, a list, {from: …, to: …} or all");
    if (!e->tiles == !e->file)
        return wg_yaml_complain(p, n, "an entry has either `tiles`, as in a chip file, or the name of a chip `file`");
    return true;
}

/* Room for the chips known so far. */
static bool make_members(wg_yaml *p, wg_cluster_file *f)
{
    f->chip = wg_calloc(f->chips ? f->chips : 1, sizeof *f->chip);
    for (unsigned i = 0; f->chip && i < f->chips; i++) {
        f->chip[i].chip = (wg_chip_file){.name = f->base.name,
                                         .source = f->base.source,
                                         .source_bytes = f->base.source_bytes,
                                         .max_cycles = UINT64_MAX,
                                         .grid = f->base.grid};
        f->chip[i].chip.grid.harvested = f->harvested ? f->harvested[i] : 0;
    }
    p->file->out_of_memory |= !f->chip;
    return f->chip;
}

static bool apply(wg_yaml *p, yaml_node_t *n, const entry *e, wg_cluster_file *f)
{
    bool right = true;
    for (size_t k = 0; k < (e->all ? f->chips : e->chips); k++) {
        const unsigned i = e->all ? (unsigned)k : e->chip[k];
        if (i >= f->chips)
            return wg_yaml_complain(p, n, "there is no chip %u: the cluster has %u", i, f->chips);
        wg_cluster_member *m = &f->chip[i];
        if (m->path || (e->file && m->named))
            return wg_yaml_complain(p, n, "chip %u has a file, and another entry", i);
        m->named = true;
        m->path = e->file;
        m->mark = wg_yaml_mark(n);
        if (e->tiles)
            right = wg_chip_add_tiles(p, e->tiles, &m->chip) && right;
        if (!right)
            break; /* all of them would have the same errors */
    }
    return right;
}

static bool read_chips(wg_yaml *p, yaml_node_t *n, wg_cluster_file *f)
{
    const size_t count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    entry *e = wg_calloc(count ? count : 1, sizeof *e);
    bool right = e != NULL;
    for (size_t i = 0; e && i < count; i++) {
        right = read_entry(p, wg_yaml_node(p, n->data.sequence.items.start[i]), &e[i]) && right;
        for (size_t k = 0; k < e[i].chips; k++)
            if (e[i].chip[k] >= f->chips && !f->topology)
                f->chips = e[i].chip[k] + 1;
    }
    right = right && make_members(p, f);
    for (size_t i = 0; right && i < count; i++)
        right = apply(p, wg_yaml_node(p, n->data.sequence.items.start[i]), &e[i], f);
    for (unsigned i = 0; right && i < f->chips; i++)
        right = !f->chip[i].chip.tiles || wg_chip_settle(p, &f->chip[i].chip);
    for (size_t i = 0; e && i < count; i++)
        free(e[i].chip);
    free(e);
    return right;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static bool resolve_topology(wg_yaml *p, wg_cluster_file *f)
{
    const wg_topology *t = wg_topology_find(f->topology);
    const char *dot = strrchr(f->topology, '.');
    const wg_arch_id given = f->base.grid.arch;
    if (!t && dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".textproto") == 0)) {
        if (!wg_cluster_descriptor(f, f->topology))
            return false;
    } else if (!t) {
        char names[120] = "";
        for (unsigned i = 0; wg_topology_at(i); i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                     wg_topology_at(i)->name);
        wg_chip_complain(&f->base, f->topology_mark,
                         "`%.60s` is none of %s, and no descriptor (a .yaml or .textproto file)", f->topology, names);
        return false;
    } else {
        f->base.grid.arch = t->arch;
        f->chips = t->chips;
    }
    if (f->arch_given && given != f->base.grid.arch) {
        wg_chip_complain(&f->base, f->topology_mark, "this topology is of the other architecture than `arch`");
        return false;
    }
    wg_cluster_wire wire = {.mark = f->topology_mark, .link = {.struct_size = sizeof wire.link}};
    for (unsigned i = 0; t && wg_topology_link(t, i, &wire.link); i++) {
        wg_cluster_wire *more = wg_yaml_grow(p, f->wire, f->wires, sizeof *f->wire);
        if (!more)
            return false;
        f->wire = more;
        f->wire[f->wires++] = wire;
    }
    return true;
}

static bool parse_root(wg_yaml *p, yaml_node_t *root)
{
    static const wg_yaml_key keys[] = {{"arch", arch},
                                       {"profile", wg_chip_key_profile},
                                       {"seed", wg_chip_key_seed},
                                       {"threads", wg_chip_key_threads},
                                       {"max-cycles", wg_chip_key_max_cycles},
                                       {"topology", topology},
                                       {"links", links},
                                       {"faults", faults},
                                       {"chips", chips}};
    nodes *n = (nodes *)(void *)p->file; /* wg_cluster_parse() */
    wg_cluster_file *f = &n->file;
    uint32_t seen;
    if (!wg_yaml_mapping(p, root, keys, sizeof keys / sizeof *keys, n, &seen))
        return false;
    if ((f->topology && !resolve_topology(p, f)) || (n->links && !read_links(p, n->links, f)) ||
        (n->faults && !read_faults(p, n->faults, f)))
        return false;
    if (n->chips ? !read_chips(p, n->chips, f) : !make_members(p, f))
        return false;
    return f->chips ? true : wg_yaml_complain(p, root, "a cluster file has `topology` or `chips`");
}

bool wg_cluster_parse(wg_cluster_file *out, const char *name, const char *text, size_t bytes)
{
    nodes n = {.file.base = {.name = name,
                             .source = text,
                             .source_bytes = bytes,
                             .max_cycles = UINT64_MAX,
                             .grid = {.struct_size = sizeof n.file.base.grid, .profile = WG_PROFILE_DEFAULT}}};
    bool right = wg_yaml_parse(&n.file.base, text, bytes, parse_root);
    *out = n.file;
    for (unsigned i = 0; out->chip && i < out->chips; i++) {
        const wg_chip_file *c = &out->chip[i].chip;
        right = right && !c->errors && !c->out_of_memory;
        wg_text_add(&out->base.report, wg_text_of(&c->report), c->report.size);
    }
    return right;
}

void wg_cluster_file_free(wg_cluster_file *f)
{
    for (unsigned i = 0; f->chip && i < f->chips; i++)
        wg_chip_free(&f->chip[i].chip);
    free(f->chip);
    free(f->wire);
    free(f->descriptor);
    free(f->harvested);
    wg_chip_free(&f->base);
}

static bool is_cluster(const char *text, size_t bytes)
{
    static const char *const names[] = {"chips", "topology", "links", "faults"};
    return wg_yaml_has_key(text, bytes, names, 4);
}

bool wg_is_cluster_argument(const wg_args *args, const char *file)
{
    if (strcmp(file, "-") == 0 && args->input)
        return is_cluster(args->input, args->input_bytes);
    return wg_is_chip_file(file) && wg_is_cluster_file(file);
}

bool wg_is_chip_argument(const wg_args *args, const char *file)
{
    static const char *const names[] = {"tiles", "metal"};
    if (strcmp(file, "-") != 0 || !args->input)
        return wg_is_chip_file(file);
    return wg_yaml_has_key(args->input, args->input_bytes, names, 2) || wg_is_cluster_argument(args, file);
}

bool wg_is_cluster_file(const char *path)
{
    char message[512];
    size_t bytes;
    uint8_t *text = wg_file_read(path, &bytes, message, sizeof message);
    const bool is = text && is_cluster((const char *)text, bytes);
    free(text);
    return is;
}
