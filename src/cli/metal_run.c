/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip file's programs of tt-metal. This file acts as the host of tt-metal: it checks the chip at regular intervals,
 * and acts.
 *
 *     open: buffers, firmware ──► boot ──► launch program 0 ──► … ──► launch program n ──► end: compare, dump
 */
#include "cli/metal_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/metal_file.h"
#include "cli/waits.h"
#include "machine/device.h"
#include "metal/launched.h"
#include "metal/metal.h"

typedef struct buffer_run {
    wg_metal_buffer at;
    bool compared, holds;
    size_t values, differ;
    char first[120]; /* the first value that differs */
} buffer_run;

typedef struct kernel_run {
    wg_elf *elf;
    wg_elf_kernel code;
    uint32_t changed; /* offset of the word that --waits has changed, plus 1; 0: none */
} kernel_run;

/* A word of a kernel in a tile that --waits has changed. */
typedef struct changed_word {
    unsigned x, y;
    uint32_t address, from, to;
} changed_word;

struct wg_metal_run {
    const wg_metal_file *file;
    wg_metal *metal;
    buffer_run *buffer;
    kernel_run **kernel; /* [program][kernel] */
    uint64_t *launched;  /* the cycle of each program's launch, then that of the end */
    size_t next;         /* program */
    uint32_t from, to;   /* of the changed words */
    changed_word *changed;
    size_t changes;
};

static bool refuse(wg_chip_run *r, wg_chip_mark mark)
{
    wg_chip_complain(&r->file, mark, "%s", wg_metal_error(r->metal->metal));
    return false;
}

size_t wg_metal_kernel_tiles(const wg_chip_file *file)
{
    size_t tiles = 0;
    for (size_t i = 0; file->metal && i < file->metal->programs; i++)
        for (size_t k = 0; k < file->metal->program[i].kernels; k++)
            tiles += file->metal->program[i].kernel[k].at.count;
    return tiles;
}

/* ---- Buffers --------------------------------------------------------------------------------------------- */

static const wg_metal_buffer_entry *entry_named(const wg_metal_file *f, const char *name, size_t *index)
{
    for (*index = 0; *index < f->buffers; ++*index)
        if (strcmp(f->buffer[*index].name, name) == 0)
            return &f->buffer[*index];
    return NULL;
}

static bool fill(wg_chip_run *r, const wg_metal_buffer_entry *e, const wg_metal_buffer *to, wg_text *error)
{
    wg_text bytes = {0};
    wg_image_shape shape = {.type = e->data.type, .tilized = e->data.tilized};
    bool right = true;
    if (e->data.file) {
        char *path = wg_chip_path(r, e->data.file, NULL);
        right = path && wg_image_read(r->file.name, path, &shape, &bytes, error);
        free(path);
    } else {
        wg_text_add(&bytes, e->data.word, 4 * e->data.words);
    }
    if (right && bytes.size && wg_metal_write(r->metal->metal, to, bytes.data, bytes.size) != WG_OK)
        right = refuse(r, e->mark);
    wg_text_free(&bytes);
    return right;
}

static bool open_buffers(wg_chip_run *r, wg_text *error)
{
    wg_metal_run *m = r->metal;
    bool right = true;
    for (size_t i = 0; i < m->file->buffers; i++) {
        const wg_metal_buffer_entry *e = &m->file->buffer[i];
        wg_metal_buffer *b = &m->buffer[i].at;
        *b = (wg_metal_buffer){.struct_size = sizeof *b,
                               .memory = (wg_metal_memory)e->memory,
                               .address = (uint32_t)e->address,
                               .bytes = e->bytes,
                               .page_bytes = (uint32_t)e->page,
                               .at = e->at.list,
                               .places = e->at.count};
        if (!e->placed && wg_metal_allocate(m->metal, b) != WG_OK)
            right = refuse(r, e->mark);
        else
            right = fill(r, e, b, error) && right;
    }
    return right;
}

/* ---- Firmware and kernels -------------------------------------------------------------------------------- */

static bool boot(wg_chip_run *r)
{
    const wg_metal_file *f = r->metal->file;
    wg_metal_part part[WG_CORES][8];
    wg_metal_firmware firmware[WG_CORES];
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_elf *elf = wg_chip_program(r, f->firmware[c], f->firmware_mark[c]);
        if (!elf)
            return false;
        if (wg_elf_segments(elf) > sizeof *part / sizeof **part) {
            wg_chip_complain(&r->file, f->firmware_mark[c], "this program has %zu segments; firmware has at most 8",
                             wg_elf_segments(elf));
            return false;
        }
        firmware[c] = (wg_metal_firmware){sizeof *firmware, part[c], wg_elf_segments(elf), wg_elf_entry(elf)};
        if (wg_elf_symbol_named(elf, "rta_count")) /* built with the Watcher's assertions */
            wg_metal_set(r->metal->metal, "args_counted", 1);
        for (size_t i = 0; i < wg_elf_segments(elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, i);
            part[c][i] = (wg_metal_part){sizeof part[c][i], s->address, s->file_bytes, s->data};
        }
    }
    unsigned columns, rows;
    wg_metal_place all[256];
    size_t count = 0;
    wg_metal_shape(r->metal->metal, &columns, &rows);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < columns; x++)
            all[count++] = (wg_metal_place){(uint8_t)x, (uint8_t)y};
    const bool some = f->workers.count != 0;
    return wg_metal_boot(r->metal->metal, firmware, some ? f->workers.list : all, some ? f->workers.count : count) ==
                   WG_OK
               ? true
               : refuse(r, f->mark);
}

/* The session of a tile with kernels knows the firmware's symbols; kernels come on top. */
static bool name_tile(wg_chip_run *r, const wg_metal_kernel_entry *e, wg_metal_place at, wg_text *error)
{
    unsigned x, y;
    if (!wg_metal_tile(r->metal->metal, at, &x, &y)) {
        unsigned columns, rows;
        wg_metal_shape(r->metal->metal, &columns, &rows);
        wg_chip_complain(&r->file, e->mark, "there is no Tensix tile at column %u, row %u: the chip has %u x %u", at.x,
                         at.y, columns, rows);
        return false;
    }
    wg_chip_tile *t = wg_chip_tile_at(r, (wg_chip_place){(uint8_t)x, (uint8_t)y}, error);
    for (unsigned c = 0; t && c < WG_CORES; c++) {
        t->s.elf[c] = wg_chip_program(r, r->metal->file->firmware[c], r->metal->file->firmware_mark[c]);
        t->s.borrowed[c] = true;
    }
    return t != NULL;
}

static bool open_kernels(wg_chip_run *r, wg_text *error)
{
    wg_metal_run *m = r->metal;
    bool right = true;
    for (size_t i = 0; i < m->file->programs; i++) {
        const wg_metal_program_entry *p = &m->file->program[i];
        if (!(m->kernel[i] = wg_calloc(p->kernels + 1, sizeof **m->kernel))) {
            wg_textf(error, "waitgate: out of memory\n");
            return false;
        }
        for (size_t k = 0; k < p->kernels; k++) {
            const wg_metal_kernel_entry *e = &p->kernel[k];
            kernel_run *kernel = &m->kernel[i][k];
            char message[400];
            if (!(kernel->elf = wg_chip_program(r, e->elf, e->elf_mark))) {
                right = false;
            } else if (!wg_elf_kernel_read(kernel->elf, &kernel->code, message, sizeof message)) {
                wg_chip_complain(&r->file, e->elf_mark, "%s", message);
                right = false;
            }
            for (size_t n = 0; n < e->at.count; n++)
                right = name_tile(r, e, e->at.list[n], error) && right;
        }
    }
    return right;
}

bool wg_metal_open(wg_chip_run *r, wg_text *error)
{
    const wg_metal_file *f = r->file.metal;
    wg_metal_run *m = r->metal = wg_calloc(1, sizeof *m);
    if (m) {
        m->file = f;
        m->buffer = wg_calloc(f->buffers + 1, sizeof *m->buffer);
        m->kernel = wg_calloc(f->programs + 1, sizeof *m->kernel);
        m->launched = wg_calloc(f->programs + 1, sizeof *m->launched);
    }
    if (!m || !m->buffer || !m->kernel || !m->launched || wg_metal_create(r->grid, &m->metal) != WG_OK) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    for (size_t i = 0; i < f->items; i++)
        if (wg_metal_set(m->metal, f->item[i].name, f->item[i].value) != WG_OK)
            return refuse(r, f->item[i].mark);
    return open_kernels(r, error);
}

bool wg_metal_start(wg_chip_run *r, wg_text *error) { return open_buffers(r, error) && boot(r); }

void wg_metal_close(wg_metal_run *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->kernel && i < m->file->programs; i++) {
        for (size_t k = 0; m->kernel[i] && k < m->file->program[i].kernels; k++)
            wg_elf_kernel_free(&m->kernel[i][k].code);
        free(m->kernel[i]);
    }
    free(m->kernel);
    free(m->buffer);
    free(m->launched);
    free(m->changed);
    wg_metal_destroy(m->metal);
    free(m);
}

/* ---- Launching ------------------------------------------------------------------------------------------- */

/* A program in the library's terms, and the memory for it. */
typedef struct launching {
    wg_metal_kernel *kernel;
    wg_metal_cb *cb;
    wg_metal_semaphore *semaphore;
    uint32_t *word; /* all arguments */
    size_t words;
} launching;

static bool argument(wg_chip_run *r, launching *l, const wg_metal_arg *a)
{
    const wg_metal_place at = {(uint8_t)(a->kind == WG_ARG_COLUMN ? a->value : 0),
                               (uint8_t)(a->kind == WG_ARG_ROW ? a->value : 0)};
    unsigned x = 0, y = 0;
    size_t index = 0;
    if (a->kind == WG_ARG_BUFFER && !entry_named(r->metal->file, a->name, &index)) {
        wg_chip_complain(&r->file, a->mark, "`%.60s` is no number, and there is no buffer of this name", a->name);
        return false;
    }
    if ((a->kind == WG_ARG_COLUMN || a->kind == WG_ARG_ROW) && !wg_metal_virtual(r->metal->metal, at, &x, &y)) {
        wg_chip_complain(&r->file, a->mark, "there is no such column or row of Tensix tiles");
        return false;
    }
    l->word[l->words++] = a->kind == WG_ARG_BUFFER   ? r->metal->buffer[index].at.address
                          : a->kind == WG_ARG_COLUMN ? x
                          : a->kind == WG_ARG_ROW    ? y
                                                     : a->value;
    return true;
}

static bool arguments(wg_chip_run *r, launching *l, const wg_metal_args *a)
{
    bool right = true;
    for (size_t i = 0; i < a->count; i++)
        right = argument(r, l, &a->list[i]) && right;
    return right;
}

static size_t words_of(const wg_metal_kernel_entry *e)
{
    return e->common.count + (e->tiles ? e->tile[0].count : e->args.count) * e->at.count;
}

static bool kernel(wg_chip_run *r, launching *l, const wg_metal_kernel_entry *e, const kernel_run *k,
                   wg_metal_kernel *out)
{
    *out = (wg_metal_kernel){.struct_size = sizeof *out,
                             .core = e->core,
                             .image = k->code.image,
                             .bytes = k->code.bytes,
                             .text_bytes = k->code.text_bytes,
                             .fixup = k->code.fixup,
                             .fixups = k->code.fixups,
                             .at = e->at.list,
                             .places = e->at.count,
                             .commons = e->common.count,
                             .args_each = e->tiles ? e->tile[0].count : e->args.count,
                             .noc = (uint8_t)e->noc};
    out->common = l->word + l->words;
    bool right = arguments(r, l, &e->common);
    out->args = l->word + l->words;
    for (size_t i = 0; right && i < e->at.count; i++)
        right = arguments(r, l, e->tiles ? &e->tile[i] : &e->args);
    return right;
}

/* Circular buffers are allocated in L1 from its lower end upwards, unless they share a buffer's memory. */
static bool circular_buffers(wg_chip_run *r, const wg_metal_program_entry *p, wg_metal_cb *out)
{
    uint64_t free_l1 = wg_metal_free_l1(r->metal->metal);
    bool right = true;
    for (size_t i = 0; i < p->cbs; i++) {
        const wg_metal_cb_entry *e = &p->cb[i];
        size_t index;
        out[i] = (wg_metal_cb){sizeof *out,       (unsigned)e->id, (uint32_t)free_l1, (uint32_t)e->bytes,
                               (uint32_t)e->page, e->at.list,      e->at.count};
        if (!e->buffer) {
            free_l1 += (e->bytes + 63) / 64 * 64;
        } else if (!entry_named(r->metal->file, e->buffer, &index)) {
            wg_chip_complain(&r->file, e->mark, "there is no buffer `%.60s`", e->buffer);
            right = false;
        } else {
            out[i].address = r->metal->buffer[index].at.address;
        }
    }
    return right;
}

/* Tells hang reports where this program's semaphores are. */
static void watch_semaphores(wg_chip_run *r, wg_session *s)
{
    wg_metal_launched at;
    s->history.metal_layout = wg_metal_layout_of(r->metal->metal);
    if (!wg_metal_read_launch(r->file.grid.arch, s->history.metal_layout, s->dev->tile->l1,
                              s->dev->tile->spec->l1_bytes, &at))
        return;
    s->pages.semaphores = at.semaphores;
    s->pages.semaphores_end = at.semaphore_end;
    s->pages.semaphore_step = at.semaphore_step;
    memset(s->pages.semaphore, 0, sizeof s->pages.semaphore);
}

/* The part of the program's buffers in L1 that is on this tile may be used. */
static void give_buffers(const wg_chip_run *r, wg_session *s)
{
    for (size_t i = 0; s->races && i < r->metal->file->buffers; i++) {
        const wg_metal_buffer *b = &r->metal->buffer[i].at;
        if (b->memory == WG_METAL_DRAM)
            continue;
        const uint64_t pages = b->page_bytes ? (b->bytes + b->page_bytes - 1) / b->page_bytes : 1;
        const uint64_t banks = b->memory == WG_METAL_L1 ? wg_metal_banks(r->metal->metal, b->memory) : pages;
        wg_races_give(s->races, WG_CORES, b->address, (uint32_t)((pages + banks - 1) / banks * b->page_bytes));
    }
}

static void note_change(wg_chip_run *r, unsigned x, unsigned y, uint32_t address)
{
    wg_metal_run *m = r->metal;
    changed_word *more = wg_realloc(m->changed, (m->changes + 1) * sizeof *more);
    if (!more) /* the results will differ */
        return;
    m->changed = more;
    m->changed[m->changes++] = (changed_word){x, y, address, m->from, m->to};
}

/* Each core of a tile that runs a kernel of this program shows its symbols from now on. */
static void show_kernels(wg_chip_run *r, const wg_metal_program_entry *p, const kernel_run *kernels)
{
    for (size_t k = 0; k < p->kernels; k++)
        for (size_t i = 0; i < p->kernel[k].at.count; i++) {
            const unsigned core = p->kernel[k].core;
            unsigned x, y;
            wg_metal_tile(r->metal->metal, p->kernel[k].at.list[i], &x, &y);
            wg_session *s = wg_chip_session(r, x, y);
            s->overlay[core] =
                (wg_overlay){.elf = kernels[k].elf,
                             .address = wg_metal_kernel_address(r->metal->metal, p->kernel[k].at.list[i], core),
                             .bytes = kernels[k].code.text_bytes,
                             .link = kernels[k].code.link_address};
            watch_semaphores(r, s);
            give_buffers(r, s);
            if (kernels[k].changed)
                note_change(r, x, y, s->overlay[core].address + kernels[k].changed - 1);
        }
}

static bool launch(wg_chip_run *r, size_t number, wg_text *error)
{
    const wg_metal_program_entry *p = &r->metal->file->program[number];
    launching l = {.kernel = wg_calloc(p->kernels + 1, sizeof *l.kernel),
                   .cb = wg_calloc(p->cbs + 1, sizeof *l.cb),
                   .semaphore = wg_calloc(p->semaphores + 1, sizeof *l.semaphore)};
    size_t words = 1;
    for (size_t i = 0; i < p->kernels; i++)
        words += words_of(&p->kernel[i]);
    l.word = wg_calloc(words, sizeof *l.word);
    bool right = l.kernel && l.cb && l.semaphore && l.word;
    if (!right)
        wg_textf(error, "waitgate: out of memory\n");
    for (size_t i = 0; right && i < p->kernels; i++)
        right = kernel(r, &l, &p->kernel[i], &r->metal->kernel[number][i], &l.kernel[i]);
    right = right && circular_buffers(r, p, l.cb);
    for (size_t i = 0; right && i < p->semaphores; i++)
        l.semaphore[i] =
            (wg_metal_semaphore){sizeof *l.semaphore, (unsigned)p->semaphore[i].id, (uint32_t)p->semaphore[i].value,
                                 p->semaphore[i].at.list, p->semaphore[i].at.count};
    const wg_metal_program program = {sizeof program, l.kernel, l.cb, l.semaphore, p->kernels, p->cbs, p->semaphores};
    if (right && wg_metal_launch(r->metal->metal, &program) != WG_OK)
        right = refuse(r, p->mark);
    if (right)
        show_kernels(r, p, r->metal->kernel[number]);
    free(l.kernel);
    free(l.cb);
    free(l.semaphore);
    free(l.word);
    return right;
}

wg_metal_turn wg_metal_look(wg_chip_run *r, wg_text *error)
{
    wg_metal_run *m = r->metal;
    const uint64_t now = wg_grid_cycle(r->grid);
    if (now == 0 || !wg_metal_idle(m->metal))
        return WG_METAL_WAITS;
    m->launched[m->next] = now;
    if (m->next == m->file->programs)
        return WG_METAL_FINISHED;
    return launch(r, m->next++, error) ? WG_METAL_LAUNCHED : WG_METAL_FAILED;
}

typedef struct metal_state {
    struct wg_metal metal;
    size_t next;
} metal_state;

size_t wg_metal_state_bytes(const wg_metal_run *m) { return m ? sizeof(metal_state) : 0; }

void wg_metal_state_save(const wg_metal_run *m, void *to)
{
    metal_state state;
    memset(&state, 0, sizeof state);
    state.metal = *m->metal;
    state.next = m->next;
    memcpy(to, &state, sizeof state);
}

void wg_metal_state_load(wg_metal_run *m, const void *from)
{
    metal_state state;
    memcpy(&state, from, sizeof state);
    *m->metal = state.metal;
    m->next = state.next;
}

/* ---- End ------------------------------------------------------------------------------------------------- */

static double value_of(uint32_t single)
{
    float f;
    memcpy(&f, &single, sizeof f);
    return (double)f;
}

/* Are the values equal, or apart by at most `within`, relative to those above 1? */
static bool close_to(double got, double wanted, double within)
{
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    return got == wanted || fabs(got - wanted) <= within * (fabs(wanted) > 1 ? fabs(wanted) : 1);
}

static bool compare_bytes(buffer_run *b, const uint8_t *got, const uint8_t *wanted, size_t bytes)
{
    b->values = bytes;
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != wanted[i] && !b->differ++)
            snprintf(b->first, sizeof b->first, "byte %zu is 0x%02x, not 0x%02x", i, got[i], wanted[i]);
    return true;
}

static bool compare_values(buffer_run *b, const wg_image_shape *shape, double within, const uint8_t *got,
                           const uint8_t *wanted)
{
    const size_t n = shape->rows * shape->columns;
    uint32_t *a = wg_calloc(n + 1, sizeof *a), *e = wg_calloc(n + 1, sizeof *e);
    bool right = a && e && wg_array_decode(a, shape->type, shape->tilized, got, shape->rows, shape->columns) &&
                 wg_array_decode(e, shape->type, shape->tilized, wanted, shape->rows, shape->columns);
    b->values = n;
    for (size_t i = 0; right && i < n; i++)
        if (!close_to(value_of(a[i]), value_of(e[i]), within) && !b->differ++)
            snprintf(b->first, sizeof b->first, "value [%zu, %zu] is %g, not %g", i / shape->columns,
                     i % shape->columns, value_of(a[i]), value_of(e[i]));
    free(a);
    free(e);
    return right;
}

static bool compare(wg_chip_run *r, const wg_metal_buffer_entry *e, buffer_run *b, const uint8_t *got, wg_text *error)
{
    wg_text wanted = {0};
    wg_image_shape shape = {.type = e->data.type, .tilized = e->data.tilized};
    char *path = wg_chip_path(r, e->expect, NULL);
    bool right = path && wg_image_read(r->file.name, path, &shape, &wanted, error);
    if (right && wanted.size > e->bytes) {
        wg_chip_complain(&r->file, e->mark, "`expect` has %zu bytes; the buffer has %llu", wanted.size,
                         (unsigned long long)e->bytes);
        right = false;
    }
    b->differ = 0;
    if (right)
        right = shape.type == WG_TYPE_RAW ? compare_bytes(b, got, (const uint8_t *)wanted.data, wanted.size)
                                          : compare_values(b, &shape, e->within, got, (const uint8_t *)wanted.data);
    b->compared = right;
    b->holds = right && !b->differ;
    free(path);
    wg_text_free(&wanted);
    return right;
}

static bool end_buffer(wg_chip_run *r, size_t index, wg_text *error)
{
    const wg_metal_buffer_entry *e = &r->metal->file->buffer[index];
    const wg_image_shape shape = {e->data.type, e->data.tilized, e->data.rows, e->data.columns};
    if (!e->dump && !e->expect)
        return true;
    uint8_t *bytes = wg_malloc((size_t)e->bytes);
    bool right = bytes != NULL;
    if (!right)
        wg_textf(error, "waitgate: out of memory\n");
    if (right && wg_metal_read(r->metal->metal, &r->metal->buffer[index].at, bytes, (size_t)e->bytes) != WG_OK)
        right = refuse(r, e->mark);
    if (right && e->dump) {
        char *path = wg_chip_path(r, e->dump, NULL);
        right = path && wg_image_write(r->file.name, path, &shape, bytes, (size_t)e->bytes, error);
        free(path);
    }
    if (right && e->expect && r->ended == WG_ENDED_DONE)
        right = compare(r, e, &r->metal->buffer[index], bytes, error);
    free(bytes);
    return right;
}

bool wg_metal_end(wg_chip_run *r, wg_text *error)
{
    bool right = true;
    for (size_t i = 0; r->metal && i < r->metal->file->buffers; i++)
        right = end_buffer(r, i, error) && right;
    return right;
}

bool wg_metal_as_expected(const wg_metal_run *m)
{
    for (size_t i = 0; m && i < m->file->buffers; i++)
        if (m->buffer[i].compared && !m->buffer[i].holds)
            return false;
    return true;
}

/* ---- Waits ------------------------------------------------------------------------------------------------ */

uint64_t wg_metal_results(wg_chip_run *r, uint64_t h)
{
    for (size_t i = 0; i < r->metal->file->buffers; i++) {
        const size_t bytes = (size_t)r->metal->file->buffer[i].bytes;
        uint8_t *content = wg_malloc(bytes);
        const bool read = content && wg_metal_read(r->metal->metal, &r->metal->buffer[i].at, content, bytes) == WG_OK;
        for (size_t k = 0; read && k < bytes; k++)
            h = wg_outcome_mix(h, content[k]);
        free(content);
    }
    return h;
}

bool wg_metal_is_firmware_file(const wg_chip_run *r, const wg_elf *elf)
{
    for (unsigned core = 0; r->metal && core < WG_CORES; core++)
        for (size_t i = 0; i < r->elfs; i++) {
            char *path = wg_chip_path(r, r->metal->file->firmware[core], NULL);
            const bool is = path && strcmp(path, wg_elf_name(elf)) == 0;
            free(path);
            if (is)
                return true;
        }
    return false;
}

static kernel_run *kernel_from(const wg_chip_run *r, const wg_elf *elf, size_t *program, size_t *kernel)
{
    const wg_metal_run *m = r->metal;
    for (; *program < m->file->programs; ++*program, *kernel = 0)
        for (; *kernel < m->file->program[*program].kernels; ++*kernel)
            if (wg_wait_program_is(m->kernel[*program][*kernel].elf, elf))
                return &m->kernel[*program][(*kernel)++];
    return NULL;
}

bool wg_metal_runs(const wg_chip_run *r, const wg_elf *elf)
{
    size_t program = 0, kernel = 0;
    return elf && kernel_from(r, elf, &program, &kernel);
}

bool wg_metal_change(wg_chip_run *r, const wg_wait_change *c)
{
    wg_metal_run *m = r->metal;
    size_t program = 0, kernel = 0;
    kernel_run *k;
    while ((k = kernel_from(r, c->site->program, &program, &kernel))) {
        const uint32_t at = wg_wait_place(c->site) - k->code.link_address;
        if (k->code.text_bytes < 4 || at > k->code.text_bytes - 4)
            return false;
        memcpy(&m->from, k->code.image + at, 4);
        if (!wg_wait_changed_word(c, m->from, &m->to))
            return false;
        memcpy(k->code.image + at, &m->to, 4);
        k->changed = at + 1;
    }
    return true;
}

void wg_metal_restore(wg_chip_run *r)
{
    for (size_t i = 0; r->metal && i < r->metal->changes; i++) {
        const changed_word *c = &r->metal->changed[i];
        uint32_t word;
        if (wg_grid_read(r->grid, c->x, c->y, c->address, &word, 4) == WG_OK && word == c->to)
            wg_grid_write(r->grid, c->x, c->y, c->address, &c->from, 4);
    }
}

void wg_metal_report_text(const wg_metal_run *m, wg_text *out)
{
    for (size_t i = 0; i < m->next; i++) {
        const uint64_t to = m->launched[i + 1], from = m->launched[i];
        if (to > from)
            wg_textf(out, "program %zu: launched in cycle %llu, done after %llu cycles\n", i, (unsigned long long)from,
                     (unsigned long long)(to - from));
        else
            wg_textf(out, "program %zu: launched in cycle %llu\n", i, (unsigned long long)from);
    }
    for (size_t i = 0; i < m->file->buffers; i++) {
        const buffer_run *b = &m->buffer[i];
        if (b->compared && b->holds)
            wg_textf(out, "buffer %s: %zu values as expected\n", m->file->buffer[i].name, b->values);
        else if (b->compared)
            wg_textf(out, "buffer %s: %zu of %zu values differ; %s\n", m->file->buffer[i].name, b->differ, b->values,
                     b->first);
    }
}

void wg_metal_report_json(const wg_metal_run *m, wg_json *j)
{
    wg_json_open(j, "metal", '{');
    wg_json_open(j, "programs", '[');
    for (size_t i = 0; i < m->next; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "launched", m->launched[i]);
        if (m->launched[i + 1] > m->launched[i])
            wg_json_uint(j, "cycles", m->launched[i + 1] - m->launched[i]);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "buffers", '[');
    for (size_t i = 0; i < m->file->buffers; i++) {
        const buffer_run *b = &m->buffer[i];
        if (!b->compared)
            continue;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", m->file->buffer[i].name);
        wg_json_uint(j, "values", b->values);
        wg_json_uint(j, "differ", b->differ);
        if (b->differ)
            wg_json_text(j, "first", b->first);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}
