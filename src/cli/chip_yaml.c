/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of chip files. */
#include "cli/chip_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/arch.h"
#include "cli/session.h"
#include "cli/metal_file.h"

enum { GRID_EDGE = 64, CHANNEL = 0xFE /* instead of y: an Ethernet tile by its channel */ };

/* ---- Images ---------------------------------------------------------------------------------------------- */

static bool image_address(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX, &((wg_chip_image *)into)->address);
}

static bool image_length(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_image *i = into;
    if (!wg_yaml_number(p, n, UINT64_C(1) << 32, &i->length))
        return false;
    return i->length ? true : wg_yaml_complain(p, n, "a dump has at least one byte");
}

bool wg_yaml_image_file(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_image *i = into;
    i->file = wg_yaml_scalar(p, n, "a file name");
    if (i->file && !*i->file)
        return wg_yaml_complain(p, n, "a file name is expected here");
    return i->file != NULL;
}

bool wg_yaml_image_type(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_image *i = into;
    const char *text = wg_yaml_scalar(p, n, "a type");
    if (!text)
        return false;
    i->type = wg_type_find(text, strlen(text));
    if (i->type != WG_TYPE_COUNT)
        return true;
    wg_near near;
    wg_near_begin(&near, text, strlen(text));
    for (unsigned t = 0; t < WG_TYPE_COUNT; t++)
        wg_near_offer(&near, wg_type_name((wg_type)t));
    const char *best = wg_near_best(&near);
    i->type = WG_TYPE_RAW;
    return wg_yaml_complain(p, n, "`%.60s` is not an element type%s%s%s", text, best ? "; did you mean `" : "",
                            best ? best : "", best ? "`?" : "");
}

bool wg_yaml_image_tilized(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_image *i = into;
    const char *text = n->type == YAML_SCALAR_NODE ? wg_yaml_scalar(p, n, "true, false or ROWSxCOLUMNS") : NULL;
    const char *x = text ? strchr(text, 'x') : NULL;
    uint64_t rows, columns;
    if (!x || (text[0] == '0' && x == text + 1))
        return wg_yaml_flag(p, n, &i->tilized);
    if (!wg_parse_number(text, (size_t)(x - text), &rows) || !wg_parse_number(x + 1, strlen(x + 1), &columns) ||
        !rows || !columns || rows >= 65536 || columns >= 65536)
        return wg_yaml_complain(p, n, "`%.60s` is not true, false or ROWSxCOLUMNS", text);
    i->tilized = true;
    i->rows = (size_t)rows;
    i->columns = (size_t)columns;
    return true;
}

bool wg_yaml_image_words(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_image *i = into;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list of words is expected here, such as [1, 2]");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        uint64_t value;
        uint32_t *words = wg_yaml_grow(p, i->word, i->words, sizeof *i->word);
        if (!words)
            return wg_yaml_too_many(p, n);
        i->word = words;
        if (!wg_yaml_number(p, wg_yaml_node(p, *item), UINT32_MAX, &value))
            return false;
        i->word[i->words++] = (uint32_t)value;
    }
    return true;
}

static bool image(wg_yaml *p, yaml_node_t *n, wg_chip_image *out, bool dump)
{
    static const wg_yaml_key keys[] = {{"address", image_address},   {"file", wg_yaml_image_file},
                                       {"type", wg_yaml_image_type}, {"tilized", wg_yaml_image_tilized},
                                       {"length", image_length},     {"words", wg_yaml_image_words}};
    enum { ADDRESS = 1, FILE_KEY = 2, LENGTH = 16, WORDS = 32 };
    uint32_t seen;
    out->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, keys, sizeof keys / sizeof *keys, out, &seen))
        return false;
    if (!(seen & ADDRESS))
        return wg_yaml_complain(p, n, "`address` is missing");
    if (dump && (!(seen & FILE_KEY) || !(seen & LENGTH) || seen & WORDS))
        return wg_yaml_complain(p, n, "a dump has `address`, `length` and `file`, and no `words`");
    if (!dump && (seen & LENGTH || !(seen & FILE_KEY) == !(seen & WORDS)))
        return wg_yaml_complain(p, n, "something to load has `address` and either `file` or `words`");
    if (seen & WORDS && (out->type != WG_TYPE_RAW || out->tilized))
        return wg_yaml_complain(p, n, "`words` have no type");
    return true;
}

static bool images(wg_yaml *p, yaml_node_t *n, wg_chip_image **list, size_t *count, bool dump)
{
    bool right = true;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list is expected here: lines that begin with `-`");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        wg_chip_image *more = wg_yaml_grow(p, *list, *count, sizeof **list);
        if (!more)
            return wg_yaml_too_many(p, n);
        *list = more;
        (*list)[*count] = (wg_chip_image){.type = WG_TYPE_RAW};
        right = image(p, wg_yaml_node(p, *item), &(*list)[(*count)++], dump) && right;
    }
    return right;
}

/* ---- Tiles ----------------------------------------------------------------------------------------------- */

static bool add_place(wg_yaml *p, yaml_node_t *n, wg_chip_tiles *t, unsigned x, unsigned y)
{
    wg_chip_place *more = wg_yaml_grow(p, t->place, t->places, sizeof *t->place);
    if (!more)
        return wg_yaml_too_many(p, n);
    t->place = more;
    t->place[t->places++] = (wg_chip_place){(uint8_t)x, (uint8_t)y};
    return true;
}

static bool is_pair(wg_yaml *p, yaml_node_t *n)
{
    return n->type == YAML_SEQUENCE_NODE && n->data.sequence.items.top - n->data.sequence.items.start == 2 &&
           wg_yaml_node(p, n->data.sequence.items.start[0])->type == YAML_SCALAR_NODE;
}

static bool pair(wg_yaml *p, yaml_node_t *n, unsigned xy[2])
{
    if (!is_pair(p, n))
        return wg_yaml_complain(p, n, "a place is expected here: [x, y]");
    for (unsigned i = 0; i < 2; i++) {
        uint64_t value;
        if (!wg_yaml_number(p, wg_yaml_node(p, n->data.sequence.items.start[i]), GRID_EDGE - 1, &value))
            return false;
        xy[i] = (unsigned)value;
    }
    return true;
}

/* An Ethernet tile by its number: e0, e1 … */
static bool channel(wg_yaml *p, yaml_node_t *n, unsigned *number)
{
    const char *text = wg_yaml_scalar(p, n, "a place");
    uint64_t value = 0;
    if (!text)
        return false;
    if ((text[0] != 'e' && text[0] != 'E') || !wg_parse_number(text + 1, strlen(text + 1), &value) || value > 63)
        return wg_yaml_complain(p, n, "a place is expected here: [x, y], or an Ethernet tile such as e0, not `%.60s`",
                                text);
    *number = (unsigned)value;
    return true;
}

typedef struct rectangle {
    unsigned from[2], to[2];
} rectangle;

static bool rectangle_from(wg_yaml *p, yaml_node_t *n, void *into) { return pair(p, n, ((rectangle *)into)->from); }
static bool rectangle_to(wg_yaml *p, yaml_node_t *n, void *into) { return pair(p, n, ((rectangle *)into)->to); }

/* [x, y], a list of such, or {from: [x, y], to: [x, y]}: the Tensix tiles of a rectangle, or its Ethernet tiles. */
static bool places(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"from", rectangle_from}, {"to", rectangle_to}};
    wg_chip_tiles *t = into;
    unsigned xy[2] = {0, 0};
    if (n->type == YAML_SCALAR_NODE)
        return channel(p, n, &xy[0]) && add_place(p, n, t, xy[0], CHANNEL);
    if (is_pair(p, n))
        return pair(p, n, xy) && add_place(p, n, t, xy[0], xy[1]);
    if (n->type == YAML_MAPPING_NODE) {
        rectangle r = {{0, 0}, {0, 0}};
        uint32_t seen;
        if (!wg_yaml_mapping(p, n, keys, 2, &r, &seen))
            return false;
        if (seen != 3 || r.from[0] > r.to[0] || r.from[1] > r.to[1])
            return wg_yaml_complain(p, n, "a rectangle has `from` and `to`, its top left and bottom right tile");
        for (unsigned y = r.from[1]; y <= r.to[1]; y++)
            for (unsigned x = r.from[0]; x <= r.to[0]; x++)
                if (!add_place(p, n, t, x | 0x80, y)) /* the mark of a rectangle; see settle_places() */
                    return false;
        return true;
    }
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n,
                                "a place is expected here: [x, y], a list of such, {from: [x, y], to: [x, y]}, or an "
                                "Ethernet tile such as e0");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++)
        if (!pair(p, wg_yaml_node(p, *item), xy) || !add_place(p, n, t, xy[0], xy[1]))
            return false;
    return true;
}

/* The cores of Tensix tiles, followed by those of Ethernet tiles. */
enum { CORE_NAMES = WG_CORES + 2 };
static const char *const core_names[CORE_NAMES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc0", "erisc1"};
static const char *const short_names[CORE_NAMES] = {"b", "nc", "t0", "t1", "t2", "e0", "e1"};

bool wg_chip_runs(const wg_chip_tiles *t)
{
    bool runs = t->release != 0;
    for (unsigned i = 0; i < WG_CORES; i++)
        runs |= t->program[i] != NULL;
    return runs;
}

/* A core by its index in core_names[]; its index in its tile. */
static unsigned named(wg_chip_tiles *t, unsigned name)
{
    t->of_tensix |= name < WG_CORES;
    t->of_ethernet |= name >= WG_CORES;
    return name < WG_CORES ? name : name - WG_CORES;
}

static bool program(wg_yaml *p, yaml_node_t *n, wg_chip_tiles *t, unsigned name)
{
    const unsigned core = named(t, name);
    t->program_mark[core] = wg_yaml_mark(n);
    t->program[core] = wg_yaml_scalar(p, n, "an ELF file");
    if (t->program[core] && !*t->program[core])
        return wg_yaml_complain(p, n, "an ELF file is expected here");
    return t->program[core] != NULL;
}

static bool program_b(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORE_B); }
static bool program_nc(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORE_NC); }
static bool program_t0(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORE_T0); }
static bool program_t1(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORE_T1); }
static bool program_t2(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORE_T2); }
static bool program_e0(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORES + WG_CORE_E0); }
static bool program_e1(wg_yaml *p, yaml_node_t *n, void *into) { return program(p, n, into, WG_CORES + WG_CORE_E1); }

static bool release(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_tiles *t = into;
    t->release = 0;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list of cores is expected here, such as [b, nc]");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        yaml_node_t *core = wg_yaml_node(p, *item);
        const char *text = wg_yaml_scalar(p, core, "a core");
        unsigned i = 0;
        while (text && i < CORE_NAMES && strcasecmp(text, short_names[i]) != 0 && strcmp(text, core_names[i]) != 0)
            i++;
        if (!text || i == CORE_NAMES)
            return text ? wg_yaml_complain(p, core, "`%.60s` is none of b, nc, t0, t1, t2, e0, e1", text) : false;
        t->release |= 1u << named(t, i);
    }
    return true;
}

static bool loads(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_tiles *t = into;
    return images(p, n, &t->load, &t->loads, false);
}

static bool dumps(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_tiles *t = into;
    return images(p, n, &t->dump, &t->dumps, true);
}

static bool until_address(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX - 3, &((wg_chip_until *)into)->address);
}

static bool until_value(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t value;
    bool ok = wg_yaml_number(p, n, UINT32_MAX, &value);
    ((wg_chip_until *)into)->value = ok ? (uint32_t)value : 0;
    return ok;
}

static bool until_mask(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t value;
    if (!wg_yaml_number(p, n, UINT32_MAX, &value))
        return false;
    ((wg_chip_until *)into)->mask = (uint32_t)value;
    return value ? true : wg_yaml_complain(p, n, "a mask of 0 selects nothing");
}

static bool until(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"address", until_address}, {"value", until_value}, {"mask", until_mask}};
    wg_chip_until *u = &((wg_chip_tiles *)into)->until;
    uint32_t seen;
    *u = (wg_chip_until){.mark = wg_yaml_mark(n), .mask = UINT32_MAX};
    if (!wg_yaml_mapping(p, n, keys, 3, u, &seen))
        return false;
    return (seen & 3) == 3 ? true : wg_yaml_complain(p, n, "a condition has `address` and `value`");
}

static bool tiles(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"at", places},         {"brisc", program_b},   {"ncrisc", program_nc},
                                       {"trisc0", program_t0}, {"trisc1", program_t1}, {"trisc2", program_t2},
                                       {"erisc0", program_e0}, {"erisc1", program_e1}, {"release", release},
                                       {"load", loads},        {"dump", dumps},        {"until", until}};
    enum { AT = 1, RELEASE = 1 << 8 };
    wg_chip_file *f = into;
    bool right = true;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list of tiles is expected here: lines that begin with `- at:`");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        yaml_node_t *one = wg_yaml_node(p, *item);
        wg_chip_tiles *more = wg_yaml_grow(p, f->tile, f->tiles, sizeof *f->tile);
        if (!more)
            return wg_yaml_too_many(p, n);
        f->tile = more;
        wg_chip_tiles *t = &f->tile[f->tiles++];
        *t = (wg_chip_tiles){.mark = wg_yaml_mark(one)};
        uint32_t seen;
        right = wg_yaml_mapping(p, one, keys, sizeof keys / sizeof *keys, t, &seen) && right;
        if (one->type == YAML_MAPPING_NODE && !(seen & AT))
            right = wg_yaml_complain(p, one, "`at` is missing: where these tiles are");
        if (t->of_tensix && t->of_ethernet)
            right = wg_yaml_complain(p, one, "an entry has cores of Tensix tiles or of Ethernet tiles, not both");
        for (unsigned i = 0; !(seen & RELEASE) && i < WG_CORES; i++)
            t->release |= (unsigned)(t->program[i] != NULL) << i;
    }
    return right;
}

/* ---- The file -------------------------------------------------------------------------------------------- */

bool wg_chip_key_arch(wg_yaml *p, yaml_node_t *n, void *into)
{
    const char *archs[WG_ARCHS];
    for (unsigned i = 0; i < WG_ARCHS; i++)
        archs[i] = wg_archs[i]->name;
    unsigned which = 0;
    bool ok = wg_yaml_choice(p, n, archs, WG_ARCHS, &which);
    ((wg_chip_file *)into)->grid.arch = (wg_arch_id)which;
    return ok;
}

bool wg_chip_key_profile(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const char *const profiles[] = {"silicon", "documented"};
    unsigned which = 0;
    bool ok = wg_yaml_choice(p, n, profiles, 2, &which);
    ((wg_chip_file *)into)->grid.profile = (wg_profile)which;
    return ok;
}

bool wg_chip_key_seed(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX, &((wg_chip_file *)into)->grid.seed);
}

bool wg_chip_key_threads(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t value = 0;
    bool ok = wg_yaml_number(p, n, 256, &value);
    ((wg_chip_file *)into)->grid.threads = (unsigned)value;
    return ok;
}

bool wg_chip_key_max_cycles(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_MAX, &((wg_chip_file *)into)->max_cycles);
}

static bool host_bytes(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT64_C(1) << 32, &((wg_chip_file *)into)->host_bytes);
}

static bool host_loads(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_file *f = into;
    return images(p, n, &f->host_load, &f->host_loads, false);
}

static bool host_dumps(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_file *f = into;
    return images(p, n, &f->host_dump, &f->host_dumps, true);
}

static bool file_host_memory(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"bytes", host_bytes}, {"load", host_loads}, {"dump", host_dumps}};
    uint32_t seen;
    if (!wg_yaml_mapping(p, n, keys, 3, into, &seen))
        return false;
    return seen & 1 ? true : wg_yaml_complain(p, n, "`bytes` is missing: how much memory the host offers");
}

static bool file_harvested(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_chip_file *f = into;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list is expected here: columns x (bh) or rows y (wh), such as [15, 16]");
    for (yaml_node_item_t *item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++) {
        uint64_t value;
        if (!wg_yaml_number(p, wg_yaml_node(p, *item), 16, &value))
            return false;
        f->grid.harvested |= UINT32_C(1) << value;
    }
    return true;
}

/* The error in an entry's cores at a tile of this kind; NULL: none. */
static const char *misplaced(const wg_chip_file *f, const wg_chip_tiles *t, wg_tile_kind kind)
{
    const bool one_core = wg_arch_of(f->grid.arch)->ethernet.cores == 1;
    if (kind == WG_TILE_NONE)
        return "";
    if (!wg_chip_runs(t))
        return NULL;
    if (kind == WG_TILE_ETH)
        return t->of_tensix                                    ? "; its cores are erisc0 and erisc1"
               : one_core && (t->program[1] || t->release & 2) ? "; an Ethernet tile of this chip has one core, erisc0"
                                                               : NULL;
    return kind == WG_TILE_TENSIX && !t->of_ethernet ? NULL
           : t->of_ethernet                          ? "; erisc0 and erisc1 are cores of Ethernet tiles"
                                                     : "; programs run on Tensix and Ethernet tiles";
}

static bool find_channel(const wg_grid *grid, unsigned number, unsigned *x, unsigned *y)
{
    for (unsigned row = 0; row < wg_grid_height(grid); row++)
        for (unsigned column = 0; column < wg_grid_width(grid); column++)
            if (wg_grid_kind(grid, column, row) == WG_TILE_ETH && wg_grid_index(grid, column, row) == number) {
                *x = column;
                *y = row;
                return true;
            }
    return false;
}

/* Drops places of a rectangle whose tiles lack such cores; every other place must have a tile. */
static bool settle_places(wg_yaml *p)
{
    wg_chip_file *f = p->file;
    wg_grid *grid = NULL;
    if (wg_grid_create(&f->grid, &grid) != WG_OK) {
        f->out_of_memory = true;
        return false;
    }
    bool right = true;
    for (size_t i = 0; i < f->tiles; i++) {
        wg_chip_tiles *t = &f->tile[i];
        size_t kept = 0;
        for (size_t k = 0; k < t->places; k++) {
            unsigned x = t->place[k].x & 0x7F, y = t->place[k].y;
            if (y == CHANNEL && !find_channel(grid, x, &x, &y)) {
                wg_chip_complain(f, t->mark, "there is no Ethernet tile e%u: %s has e0 to e%u", x,
                                 wg_arch_title(f->grid.arch), wg_grid_count(grid, WG_TILE_ETH) - 1);
                right = false;
                continue;
            }
            wg_tile_kind kind = wg_grid_kind(grid, x, y);
            if (t->place[k].x & 0x80 && kind != (t->of_ethernet ? WG_TILE_ETH : WG_TILE_TENSIX))
                continue;
            t->place[kept++] = (wg_chip_place){(uint8_t)x, (uint8_t)y};
            const char *wrong = misplaced(f, t, kind);
            if (wrong) {
                wg_chip_complain(f, t->mark, "at [%u, %u] there is %s%s", x, y, wg_tile_kind_name(kind), wrong);
                right = false;
            }
        }
        t->places = kept;
        if (!kept && right) {
            wg_chip_complain(f, t->mark, "there is no %s tile in this rectangle",
                             t->of_ethernet ? "Ethernet" : "Tensix");
            right = false;
        }
    }
    wg_grid_destroy(grid);
    return right;
}

static bool file_metal(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_metal_section(p, n, &((wg_chip_file *)into)->metal);
}

static bool parse_root(wg_yaml *p, yaml_node_t *root)
{
    static const wg_yaml_key keys[] = {{"arch", wg_chip_key_arch},
                                       {"harvested", file_harvested},
                                       {"profile", wg_chip_key_profile},
                                       {"seed", wg_chip_key_seed},
                                       {"threads", wg_chip_key_threads},
                                       {"max-cycles", wg_chip_key_max_cycles},
                                       {"host-memory", file_host_memory},
                                       {"tiles", tiles},
                                       {"metal", file_metal}};
    enum { TILES = 1 << 7, METAL = 1 << 8 };
    uint32_t seen;
    if (!wg_yaml_mapping(p, root, keys, sizeof keys / sizeof *keys, p->file, &seen))
        return false;
    if (!(seen & METAL) && (!(seen & TILES) || !p->file->tiles))
        return wg_yaml_complain(p, root, "a chip file has `tiles`, at least one, or `metal`");
    return settle_places(p);
}

bool wg_chip_parse(wg_chip_file *out, const char *name, const char *text, size_t bytes)
{
    *out = (wg_chip_file){.name = name,
                          .source = text,
                          .source_bytes = bytes,
                          .max_cycles = UINT64_MAX,
                          .grid = {.struct_size = sizeof out->grid, .profile = WG_PROFILE_DEFAULT}};
    return wg_yaml_parse(out, text, bytes, parse_root);
}

bool wg_chip_add_tiles(wg_yaml *p, yaml_node_t *n, wg_chip_file *chip)
{
    wg_yaml own = {.file = chip, .document = p->document, .items = p->items};
    const bool right = tiles(&own, n, chip);
    p->items = own.items;
    return right;
}

bool wg_chip_settle(wg_yaml *p, wg_chip_file *chip)
{
    wg_yaml own = {.file = chip, .document = p->document};
    return settle_places(&own);
}

static void free_images(wg_chip_image *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].word);
    free(list);
}

void wg_chip_free(wg_chip_file *file)
{
    for (size_t i = 0; i < file->tiles; i++) {
        free_images(file->tile[i].load, file->tile[i].loads);
        free_images(file->tile[i].dump, file->tile[i].dumps);
        free(file->tile[i].place);
    }
    free_images(file->host_load, file->host_loads);
    free_images(file->host_dump, file->host_dumps);
    free(file->tile);
    wg_metal_file_free(file->metal);
    if (file->document)
        yaml_document_delete(file->document);
    free(file->document);
    wg_text_free(&file->report);
    memset(file, 0, sizeof *file);
}
