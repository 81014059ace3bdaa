/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a chip file: images loaded into tiles and the host before the run, and dumps after it. */
#include <stdlib.h>
#include <string.h>

#include "cli/chip_internal.h"

/* `chip`: its number in a cluster; NULL: {chip} is no placeholder. */
static void add_name(wg_text *out, const char *path, const wg_chip_tile *t, const unsigned *chip)
{
    for (const char *p = path; *p; p++) {
        bool x = strncmp(p, "{x}", 3) == 0, y = strncmp(p, "{y}", 3) == 0;
        if (t && (x || y)) {
            wg_textf(out, "%u", x ? t->x : t->y);
            p += 2;
        } else if (chip && strncmp(p, "{chip}", 6) == 0) {
            wg_textf(out, "%u", *chip);
            p += 5;
        } else {
            wg_text_add(out, p, 1);
        }
    }
}

static char *taken(wg_text *text)
{
    if (text->failed)
        wg_text_free(text);
    return text->data;
}

char *wg_chip_name(const char *path, const wg_chip_tile *t, const unsigned *chip)
{
    wg_text out = {0};
    add_name(&out, path, t, chip);
    return taken(&out);
}

char *wg_chip_path(const wg_chip_run *r, const char *path, const wg_chip_tile *t)
{
    const char *slash = strrchr(r->file.name, '/');
    wg_text out = {0};
    if (path[0] != '/' && slash)
        wg_text_add(&out, r->file.name, (size_t)(slash - r->file.name) + 1);
    add_name(&out, path, t, r->of_cluster ? &r->number : NULL);
    return taken(&out);
}

bool wg_chip_host_read(void *user, uint64_t address, void *to, size_t bytes)
{
    const wg_chip_run *r = user;
    if (!r->host || address > r->file.host_bytes || bytes > r->file.host_bytes - address)
        return false;
    memcpy(to, r->host + address, bytes);
    return true;
}

bool wg_chip_host_write(void *user, uint64_t address, const void *from, size_t bytes)
{
    wg_chip_run *r = user;
    if (!r->host || address > r->file.host_bytes || bytes > r->file.host_bytes - address)
        return false;
    memcpy(r->host + address, from, bytes);
    return true;
}

typedef bool (*memory_fn)(wg_chip_run *r, const wg_chip_tile *at, uint64_t address, uint8_t *data, size_t bytes,
                          bool write);

static bool tile_memory(wg_chip_run *r, const wg_chip_tile *at, uint64_t address, uint8_t *data, size_t bytes,
                        bool write)
{
    return (write ? wg_card_tile_write(r->card, at->x, at->y, address, data, bytes)
                  : wg_card_tile_read(r->card, at->x, at->y, address, data, bytes)) == WG_OK;
}

static bool host_memory(wg_chip_run *r, const wg_chip_tile *at, uint64_t address, uint8_t *data, size_t bytes,
                        bool write)
{
    (void)at;
    return write ? wg_chip_host_write(r, address, data, bytes) : wg_chip_host_read(r, address, data, bytes);
}

static void refuse_memory(wg_chip_run *r, const wg_chip_tile *at, const wg_chip_image *image, size_t bytes,
                          const char *what)
{
    if (at)
        wg_chip_complain(&r->file, image->mark, "%zu bytes at 0x%llx of tile [%u, %u] cannot be %s: %s", bytes,
                         (unsigned long long)image->address, at->x, at->y, what, wg_card_error(r->card));
    else
        wg_chip_complain(&r->file, image->mark, "%zu bytes at 0x%llx are not all in the host's %llu bytes", bytes,
                         (unsigned long long)image->address, (unsigned long long)r->file.host_bytes);
}

static bool load_image(wg_chip_run *r, const wg_chip_tile *at, const wg_chip_image *image, memory_fn memory,
                       wg_text *error)
{
    wg_text bytes = {0};
    wg_image_shape shape = {.type = image->type, .tilized = image->tilized};
    bool ok = true;
    if (image->file) {
        char *path = wg_chip_path(r, image->file, at);
        ok = path && wg_image_read(r->file.name, path, &shape, &bytes, error);
        free(path);
    } else {
        wg_text_add(&bytes, image->word, 4 * image->words);
    }
    if (ok && bytes.size && !(ok = memory(r, at, image->address, (uint8_t *)bytes.data, bytes.size, true)))
        refuse_memory(r, at, image, bytes.size, "written");
    const char *name = image->file ? image->file : r->file.name;
    if (ok && at &&
        !wg_inputs_add(
            &r->inputs,
            &(wg_input){.x = at->x, .y = at->y, .address = image->address, .bytes = bytes.size, .shape = shape},
            name)) {
        r->file.out_of_memory = true;
        ok = false;
    }
    wg_text_free(&bytes);
    return ok;
}

static bool dump_image(wg_chip_run *r, const wg_chip_tile *at, const wg_chip_image *image, memory_fn memory,
                       wg_text *error)
{
    uint8_t *bytes = wg_malloc((size_t)image->length);
    char *path = wg_chip_path(r, image->file, at);
    wg_image_shape shape = {image->type, image->tilized, image->rows, image->columns};
    bool ok = bytes && path;
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    else if (!(ok = memory(r, at, image->address, bytes, (size_t)image->length, false)))
        refuse_memory(r, at, image, (size_t)image->length, "read");
    else
        ok = wg_image_write(r->file.name, path, &shape, bytes, (size_t)image->length, error);
    free(path);
    free(bytes);
    return ok;
}

bool wg_chip_images(wg_chip_run *r, bool dump, wg_text *error)
{
    bool (*move)(wg_chip_run *, const wg_chip_tile *, const wg_chip_image *, memory_fn, wg_text *) =
        dump ? dump_image : load_image;
    bool ok = true;
    for (size_t i = 0; ok && i < (dump ? r->file.host_dumps : r->file.host_loads); i++)
        ok = move(r, NULL, dump ? &r->file.host_dump[i] : &r->file.host_load[i], host_memory, error);
    for (size_t i = 0; ok && i < r->file.tiles; i++) {
        const wg_chip_tiles *entry = &r->file.tile[i];
        for (size_t k = 0; ok && k < entry->places; k++) {
            wg_chip_tile at = {.x = entry->place[k].x, .y = entry->place[k].y};
            for (size_t n = 0; ok && n < (dump ? entry->dumps : entry->loads); n++)
                ok = move(r, &at, dump ? &entry->dump[n] : &entry->load[n], tile_memory, error);
        }
    }
    return ok;
}
