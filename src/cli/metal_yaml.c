/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of a chip file's section `metal`. Properties of the chip (does the tile exist?) are checked when it is
 * opened.
 */
#include "cli/metal_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tasm.h"

enum { PLACE_MOST = 15 };

#define KEYS(list) list, sizeof list / sizeof *list

/* One more element of a list in the file, cleared; NULL: complained. */
#define ADD(p, n, array, count) add(p, n, (void **)&(array), &(count), sizeof *(array))

static void *add(wg_yaml *p, const yaml_node_t *n, void **array, size_t *count, size_t size)
{
    char *more = wg_yaml_grow(p, *array, *count, size);
    if (!more) {
        wg_yaml_too_many(p, n);
        return NULL;
    }
    *array = more;
    return memset(more + (*count)++ * size, 0, size);
}

typedef bool (*each_fn)(wg_yaml *p, yaml_node_t *n, void *into);

/* Each element of a list, by its function. */
static bool each(wg_yaml *p, yaml_node_t *n, each_fn read, void *into)
{
    bool right = true;
    if (n->type != YAML_SEQUENCE_NODE)
        return wg_yaml_complain(p, n, "a list is expected here: lines that begin with `-`");
    for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++)
        right = read(p, wg_yaml_node(p, *i), into) && right;
    return right;
}

static bool bytes(wg_yaml *p, yaml_node_t *n, uint64_t most, uint64_t *value)
{
    return wg_yaml_number(p, n, most, value) &&
           (*value || wg_yaml_complain(p, n, "at least one byte is expected here"));
}

static bool file_name(wg_yaml *p, yaml_node_t *n, const char **name)
{
    *name = wg_yaml_scalar(p, n, "a file name");
    return *name && (**name || wg_yaml_complain(p, n, "a file name is expected here"));
}

/* ---- Places ---------------------------------------------------------------------------------------------- */

static bool is_pair(wg_yaml *p, yaml_node_t *n)
{
    return n->type == YAML_SEQUENCE_NODE && n->data.sequence.items.top - n->data.sequence.items.start == 2 &&
           wg_yaml_node(p, n->data.sequence.items.start[0])->type == YAML_SCALAR_NODE;
}

static bool pair(wg_yaml *p, yaml_node_t *n, wg_metal_place *out)
{
    uint64_t xy[2] = {0, 0};
    if (!is_pair(p, n))
        return wg_yaml_complain(p, n, "a place is expected here: [column, row]");
    for (unsigned i = 0; i < 2; i++)
        if (!wg_yaml_number(p, wg_yaml_node(p, n->data.sequence.items.start[i]), PLACE_MOST, &xy[i]))
            return false;
    *out = (wg_metal_place){(uint8_t)xy[0], (uint8_t)xy[1]};
    return true;
}

static bool place(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_tiles *t = into;
    wg_metal_place *one = ADD(p, n, t->list, t->count);
    return one && pair(p, n, one);
}

static bool place_from(wg_yaml *p, yaml_node_t *n, void *into) { return pair(p, n, &((wg_metal_tiles *)into)->from); }
static bool place_to(wg_yaml *p, yaml_node_t *n, void *into) { return pair(p, n, &((wg_metal_tiles *)into)->to); }

/* [column, row], a list of such, or {from: [c, r], to: [c, r]}, row by row. */
static bool tiles(wg_yaml *p, yaml_node_t *n, wg_metal_tiles *t)
{
    static const wg_yaml_key keys[] = {{"from", place_from}, {"to", place_to}};
    if (is_pair(p, n))
        return place(p, n, t);
    if (n->type != YAML_MAPPING_NODE)
        return each(p, n, place, t);
    uint32_t seen;
    if (!wg_yaml_mapping(p, n, KEYS(keys), t, &seen))
        return false;
    if (seen != 3 || t->from.x > t->to.x || t->from.y > t->to.y)
        return wg_yaml_complain(p, n, "a rectangle has `from` and `to`, its top left and bottom right tile");
    for (unsigned y = t->from.y; y <= t->to.y; y++)
        for (unsigned x = t->from.x; x <= t->to.x; x++) {
            wg_metal_place *one = ADD(p, n, t->list, t->count);
            if (!one)
                return false;
            *one = (wg_metal_place){(uint8_t)x, (uint8_t)y};
        }
    return true;
}

/* ---- Arguments ------------------------------------------------------------------------------------------- */

/* A number, the name of a buffer, or `column-N`, `row-N`: the coordinate by which kernels reach that column or row. */
static bool arg(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_args *list = into;
    wg_metal_arg *one = ADD(p, n, list->list, list->count);
    const char *text = one ? wg_yaml_scalar(p, n, "an argument") : NULL;
    uint64_t value;
    if (!text)
        return false;
    *one = (wg_metal_arg){.mark = wg_yaml_mark(n), .kind = WG_ARG_BUFFER, .name = text};
    const bool column = strncmp(text, "column-", 7) == 0, row = strncmp(text, "row-", 4) == 0;
    const char *digits = text + (column ? 7 : row ? 4 : 0);
    const bool minus = *digits == '-' && !column && !row;
    if (!wg_parse_number(digits + minus, strlen(digits + minus), &value))
        return *text ? true : wg_yaml_complain(p, n, "an argument is a number, a buffer, column-N or row-N");
    if (value > (column || row ? PLACE_MOST : UINT32_MAX))
        return wg_yaml_complain(p, n, "`%.60s` is too large", text);
    one->kind = column ? WG_ARG_COLUMN : row ? WG_ARG_ROW : WG_ARG_NUMBER;
    one->value = minus ? 0 - (uint32_t)value : (uint32_t)value;
    return true;
}

static bool tile_args(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_kernel_entry *k = into;
    wg_metal_args *one = ADD(p, n, k->tile, k->tiles);
    return one && each(p, n, arg, one);
}

/* ---- Buffers --------------------------------------------------------------------------------------------- */

static bool buffer_name(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_buffer_entry *b = into;
    b->name = wg_yaml_scalar(p, n, "a name");
    const char c = b->name ? *b->name : 'a';
    return b->name &&
           ((c | 32) >= 'a' && (c | 32) <= 'z' ? true : wg_yaml_complain(p, n, "a name begins with a letter"));
}

static bool buffer_memory(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const char *const memories[] = {"dram", "l1", "shards"};
    return wg_yaml_choice(p, n, memories, 3, &((wg_metal_buffer_entry *)into)->memory);
}

static bool buffer_bytes(wg_yaml *p, yaml_node_t *n, void *into)
{
    return bytes(p, n, UINT64_C(1) << 32, &((wg_metal_buffer_entry *)into)->bytes);
}

static bool buffer_page(wg_yaml *p, yaml_node_t *n, void *into)
{
    return bytes(p, n, 1 << 24, &((wg_metal_buffer_entry *)into)->page);
}

static bool buffer_address(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_buffer_entry *b = into;
    return b->placed = wg_yaml_number(p, n, UINT32_MAX, &b->address);
}

static bool buffer_at(wg_yaml *p, yaml_node_t *n, void *into)
{
    return tiles(p, n, &((wg_metal_buffer_entry *)into)->at);
}

static bool buffer_dump(wg_yaml *p, yaml_node_t *n, void *into)
{
    return file_name(p, n, &((wg_metal_buffer_entry *)into)->dump);
}

static bool buffer_expect(wg_yaml *p, yaml_node_t *n, void *into)
{
    return file_name(p, n, &((wg_metal_buffer_entry *)into)->expect);
}

static bool buffer_within(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_buffer_entry *b = into;
    const char *text = wg_yaml_scalar(p, n, "a number such as 0.01");
    char *end = NULL;
    b->within = text ? strtod(text, &end) : 0;
    return text && ((*text && !*end && b->within >= 0 && isfinite(b->within))
                        ? true
                        : wg_yaml_complain(p, n, "`%.60s` is no number from 0 on, such as 0.01", text));
}

static bool buffer(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"name", buffer_name},
                                       {"memory", buffer_memory},
                                       {"bytes", buffer_bytes},
                                       {"page", buffer_page},
                                       {"at", buffer_at},
                                       {"address", buffer_address},
                                       {"file", wg_yaml_image_file},
                                       {"words", wg_yaml_image_words},
                                       {"dump", buffer_dump},
                                       {"type", wg_yaml_image_type},
                                       {"expect", buffer_expect},
                                       {"within", buffer_within},
                                       {"tilized", wg_yaml_image_tilized}};
    enum { NAME = 1, BYTES = 4, AT = 16, FILE_KEY = 64, WORDS = 128 };
    wg_metal_file *f = into;
    wg_metal_buffer_entry *b = ADD(p, n, f->buffer, f->buffers);
    uint32_t seen;
    if (!b)
        return false;
    b->mark = b->data.mark = wg_yaml_mark(n);
    b->data.type = WG_TYPE_RAW;
    if (!wg_yaml_mapping(p, n, KEYS(keys), b, &seen))
        return false;
    if ((seen & (NAME | BYTES)) != (NAME | BYTES))
        return wg_yaml_complain(p, n, "a buffer has `name` and `bytes`");
    if ((b->memory == WG_METAL_SHARDS) != !!(seen & AT))
        return wg_yaml_complain(p, n, "a buffer in `memory: shards`, and no other, has `at`: the tiles of its shards");
    if ((seen & (FILE_KEY | WORDS)) == (FILE_KEY | WORDS))
        return wg_yaml_complain(p, n, "a buffer is filled from `file` or `words`, not from both");
    if (!b->page)
        b->page = b->memory == WG_METAL_SHARDS ? (b->bytes + b->at.count - 1) / b->at.count : b->bytes;
    if (b->page > 1 << 24)
        return wg_yaml_complain(p, n, "a page has at most 16 MiB: `page` is missing");
    for (size_t i = 0; i + 1 < f->buffers; i++)
        if (f->buffer[i].name && strcmp(f->buffer[i].name, b->name) == 0)
            return wg_yaml_complain(p, n, "there is a buffer `%.60s` already", b->name);
    return true;
}

/* ---- Programs -------------------------------------------------------------------------------------------- */

static bool kernel_core(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const char *const cores[] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
    return wg_yaml_choice(p, n, cores, WG_CORES, &((wg_metal_kernel_entry *)into)->core);
}

static bool kernel_elf(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_kernel_entry *k = into;
    k->elf_mark = wg_yaml_mark(n);
    return file_name(p, n, &k->elf);
}

static bool kernel_at(wg_yaml *p, yaml_node_t *n, void *into)
{
    return tiles(p, n, &((wg_metal_kernel_entry *)into)->at);
}

static bool kernel_noc(wg_yaml *p, yaml_node_t *n, void *into)
{
    uint64_t value = 0;
    bool right = wg_yaml_number(p, n, 1, &value);
    ((wg_metal_kernel_entry *)into)->noc = (unsigned)value;
    return right;
}

static bool kernel_args(wg_yaml *p, yaml_node_t *n, void *into)
{
    return each(p, n, arg, &((wg_metal_kernel_entry *)into)->args);
}

static bool kernel_common(wg_yaml *p, yaml_node_t *n, void *into)
{
    return each(p, n, arg, &((wg_metal_kernel_entry *)into)->common);
}

static bool kernel_tile_args(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, tile_args, into); }

static bool kernel(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"core", kernel_core},
                                       {"elf", kernel_elf},
                                       {"at", kernel_at},
                                       {"noc", kernel_noc},
                                       {"args", kernel_args},
                                       {"common-args", kernel_common},
                                       {"tile-args", kernel_tile_args}};
    enum { NEEDED = 7, ARGS = 16, TILE_ARGS = 64 };
    wg_metal_program_entry *program = into;
    wg_metal_kernel_entry *k = ADD(p, n, program->kernel, program->kernels);
    uint32_t seen;
    if (!k)
        return false;
    k->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, KEYS(keys), k, &seen))
        return false;
    if ((seen & NEEDED) != NEEDED || !k->at.count)
        return wg_yaml_complain(p, n, "a kernel has `core`, `elf` and `at`");
    if ((seen & (ARGS | TILE_ARGS)) == (ARGS | TILE_ARGS))
        return wg_yaml_complain(p, n, "a kernel has `args` for all tiles, or `tile-args` for each, not both");
    if (seen & TILE_ARGS && k->tiles != k->at.count)
        return wg_yaml_complain(p, n, "`tile-args` has %zu lists for %zu tiles", k->tiles, k->at.count);
    for (size_t i = 1; i < k->tiles; i++)
        if (k->tile[i].count != k->tile[0].count)
            return wg_yaml_complain(p, n, "every tile has the same number of arguments, not %zu and %zu",
                                    k->tile[0].count, k->tile[i].count);
    return true;
}

static bool cb_id(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, 63, &((wg_metal_cb_entry *)into)->id);
}

static bool cb_bytes(wg_yaml *p, yaml_node_t *n, void *into)
{
    return bytes(p, n, 1 << 24, &((wg_metal_cb_entry *)into)->bytes);
}

static bool cb_page(wg_yaml *p, yaml_node_t *n, void *into)
{
    return bytes(p, n, 1 << 24, &((wg_metal_cb_entry *)into)->page);
}

static bool cb_buffer(wg_yaml *p, yaml_node_t *n, void *into)
{
    return (((wg_metal_cb_entry *)into)->buffer = wg_yaml_scalar(p, n, "the name of a buffer")) != NULL;
}

static bool cb_at(wg_yaml *p, yaml_node_t *n, void *into) { return tiles(p, n, &((wg_metal_cb_entry *)into)->at); }

static bool cb(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {
        {"id", cb_id}, {"bytes", cb_bytes}, {"page", cb_page}, {"at", cb_at}, {"buffer", cb_buffer}};
    enum { NEEDED = 15 };
    wg_metal_program_entry *program = into;
    wg_metal_cb_entry *c = ADD(p, n, program->cb, program->cbs);
    uint32_t seen;
    if (!c)
        return false;
    c->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, KEYS(keys), c, &seen))
        return false;
    if ((seen & NEEDED) != NEEDED)
        return wg_yaml_complain(p, n, "a circular buffer has `id`, `bytes`, `page` and `at`");
    return c->bytes % c->page == 0 ? true : wg_yaml_complain(p, n, "a circular buffer has whole pages");
}

static bool semaphore_id(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, 15, &((wg_metal_semaphore_entry *)into)->id);
}

static bool semaphore_value(wg_yaml *p, yaml_node_t *n, void *into)
{
    return wg_yaml_number(p, n, UINT32_MAX, &((wg_metal_semaphore_entry *)into)->value);
}

static bool semaphore_at(wg_yaml *p, yaml_node_t *n, void *into)
{
    return tiles(p, n, &((wg_metal_semaphore_entry *)into)->at);
}

static bool semaphore(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"id", semaphore_id}, {"at", semaphore_at}, {"value", semaphore_value}};
    wg_metal_program_entry *program = into;
    wg_metal_semaphore_entry *s = ADD(p, n, program->semaphore, program->semaphores);
    uint32_t seen;
    if (!s)
        return false;
    s->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, KEYS(keys), s, &seen))
        return false;
    return (seen & 3) == 3 ? true : wg_yaml_complain(p, n, "a semaphore has `id` and `at`");
}

static bool program_kernels(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, kernel, into); }
static bool program_cbs(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, cb, into); }
static bool program_semaphores(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, semaphore, into); }

static bool program(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {
        {"kernels", program_kernels}, {"circular-buffers", program_cbs}, {"semaphores", program_semaphores}};
    wg_metal_file *f = into;
    wg_metal_program_entry *one = ADD(p, n, f->program, f->programs);
    uint32_t seen;
    if (!one)
        return false;
    one->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, KEYS(keys), one, &seen))
        return false;
    return seen & 1 ? true : wg_yaml_complain(p, n, "a program has `kernels`");
}

/* ---- The section ----------------------------------------------------------------------------------------- */

static bool firmware(wg_yaml *p, yaml_node_t *n, wg_metal_file *f, unsigned core)
{
    f->firmware_mark[core] = wg_yaml_mark(n);
    return file_name(p, n, &f->firmware[core]);
}

static bool firmware_b(wg_yaml *p, yaml_node_t *n, void *into) { return firmware(p, n, into, WG_CORE_B); }
static bool firmware_nc(wg_yaml *p, yaml_node_t *n, void *into) { return firmware(p, n, into, WG_CORE_NC); }
static bool firmware_t0(wg_yaml *p, yaml_node_t *n, void *into) { return firmware(p, n, into, WG_CORE_T0); }
static bool firmware_t1(wg_yaml *p, yaml_node_t *n, void *into) { return firmware(p, n, into, WG_CORE_T1); }
static bool firmware_t2(wg_yaml *p, yaml_node_t *n, void *into) { return firmware(p, n, into, WG_CORE_T2); }

static bool section_firmware(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"brisc", firmware_b},
                                       {"ncrisc", firmware_nc},
                                       {"trisc0", firmware_t0},
                                       {"trisc1", firmware_t1},
                                       {"trisc2", firmware_t2}};
    uint32_t seen;
    if (!wg_yaml_mapping(p, n, KEYS(keys), into, &seen))
        return false;
    return seen == 31 ? true : wg_yaml_complain(p, n, "firmware is for all five cores, brisc to trisc2");
}

static bool section_workers(wg_yaml *p, yaml_node_t *n, void *into)
{
    return tiles(p, n, &((wg_metal_file *)into)->workers);
}
static bool section_buffers(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, buffer, into); }
static bool section_programs(wg_yaml *p, yaml_node_t *n, void *into) { return each(p, n, program, into); }

/* Any names: the layout's names are not known here. */
static bool section_layout(wg_yaml *p, yaml_node_t *n, void *into)
{
    wg_metal_file *f = into;
    bool right = true;
    if (n->type != YAML_MAPPING_NODE)
        return wg_yaml_complain(p, n, "keys and values are expected here, such as `mailboxes: 96`");
    for (yaml_node_pair_t *one = n->data.mapping.pairs.start; one < n->data.mapping.pairs.top; one++) {
        yaml_node_t *k = wg_yaml_node(p, one->key), *v = wg_yaml_node(p, one->value);
        wg_metal_item_entry *item = ADD(p, n, f->item, f->items);
        uint64_t value = 0;
        if (!item)
            return false;
        item->mark = wg_yaml_mark(k);
        item->name = wg_yaml_scalar(p, k, "a key");
        right = item->name && wg_yaml_number(p, v, UINT32_MAX, &value) && right;
        item->value = (uint32_t)value;
    }
    return right;
}

bool wg_metal_section(wg_yaml *p, yaml_node_t *n, void *into)
{
    static const wg_yaml_key keys[] = {{"firmware", section_firmware},
                                       {"programs", section_programs},
                                       {"buffers", section_buffers},
                                       {"workers", section_workers},
                                       {"layout", section_layout}};
    wg_metal_file *f = *(wg_metal_file **)into = wg_calloc(1, sizeof *f);
    uint32_t seen;
    if (!f) {
        p->file->out_of_memory = true;
        return false;
    }
    f->mark = wg_yaml_mark(n);
    if (!wg_yaml_mapping(p, n, KEYS(keys), f, &seen))
        return false;
    return (seen & 1) ? true : wg_yaml_complain(p, n, "`firmware` is missing: the ELF file of each core's firmware");
}

static void free_kernel(wg_metal_kernel_entry *k)
{
    for (size_t i = 0; i < k->tiles; i++)
        free(k->tile[i].list);
    free(k->tile);
    free(k->args.list);
    free(k->common.list);
    free(k->at.list);
}

void wg_metal_file_free(wg_metal_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->programs; i++) {
        wg_metal_program_entry *p = &f->program[i];
        for (size_t k = 0; k < p->kernels; k++)
            free_kernel(&p->kernel[k]);
        for (size_t k = 0; k < p->cbs; k++)
            free(p->cb[k].at.list);
        for (size_t k = 0; k < p->semaphores; k++)
            free(p->semaphore[k].at.list);
        free(p->kernel);
        free(p->cb);
        free(p->semaphore);
    }
    for (size_t i = 0; i < f->buffers; i++) {
        free(f->buffer[i].at.list);
        free(f->buffer[i].data.word);
    }
    free(f->program);
    free(f->buffer);
    free(f->item);
    free(f->workers.list);
    free(f);
}
