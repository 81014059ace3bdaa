/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads programs and memory contents into the device, like loaders for the real tile: segments linked for
 * L1 go there; segments linked for a core's own RAM go into that RAM and, where the file says so (p_paddr,
 * or the section .loader_init of the kernel library's tests), also to the place in L1 that start-up code
 * copies them from; on WH, segments linked for NC's instruction RAM go there.
 */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

#include "machine/device.h"
#include "machine/memory.h"
#include "machine/tile_regs.h"

enum { OWN_RAM = 0xFFB00000u, IRAM = 0xFFC00000u };

static bool write_l1(wg_device *dev, uint32_t address, const uint8_t *data, uint32_t bytes, uint32_t zeroes,
                     wg_text *error)
{
    static const uint8_t zero[4096];
    wg_status status = bytes ? wg_write(dev, address, data, bytes) : WG_OK;
    for (uint32_t done = 0; status == WG_OK && done < zeroes;) {
        uint32_t n = zeroes - done < sizeof zero ? zeroes - done : (uint32_t)sizeof zero;
        status = wg_write(dev, address + bytes + done, zero, n);
        done += n;
    }
    if (status != WG_OK)
        wg_textf(error, "waitgate: %u bytes at 0x%08x: %s\n", bytes + zeroes, address, wg_error(dev));
    return status == WG_OK;
}

/* A program being loaded into a core of a device. */
typedef struct loading {
    wg_device *dev;
    const wg_elf *elf;
    unsigned core;
    wg_text *error;
} loading;

static bool write_ram(const loading *l, const wg_elf_segment *segment)
{
    uint32_t offset = segment->address - OWN_RAM, room = l->dev->tile->spec->core[l->core].ram_bytes;
    if (segment->memory_bytes > room || offset > room - segment->memory_bytes) {
        wg_textf(l->error, "waitgate: %s: %u bytes at 0x%08x do not fit core %s's RAM of %u bytes\n",
                 wg_elf_name(l->elf), segment->memory_bytes, segment->address, wg_agent_name_of(l->dev, l->core), room);
        return false;
    }
    for (uint32_t i = 0; i < segment->memory_bytes; i++)
        if (wg_poke(l->dev, WG_SPACE_CORE_RAM, l->core << 16 | (offset + i),
                    i < segment->file_bytes ? segment->data[i] : 0) != WG_OK) {
            wg_textf(l->error, "waitgate: %s\n", wg_error(l->dev));
            return false;
        }
    uint32_t staging, bytes;
    if (wg_elf_section(l->elf, ".loader_init", &staging, &bytes) && staging < OWN_RAM)
        return write_l1(l->dev, staging + offset, segment->data, segment->file_bytes, 0, l->error);
    if (segment->load_address != segment->address && segment->load_address < l->dev->tile->spec->l1_bytes)
        return write_l1(l->dev, segment->load_address, segment->data, segment->file_bytes, 0, l->error);
    return true;
}

static bool load_segment(const loading *l, const wg_elf_segment *segment)
{
    uint32_t bytes = segment->memory_bytes, l1_bytes = l->dev->tile->spec->l1_bytes;
    if (segment->address < l1_bytes && bytes <= l1_bytes - segment->address)
        return write_l1(l->dev, segment->address, segment->data, segment->file_bytes, bytes - segment->file_bytes,
                        l->error);
    if (segment->address >= OWN_RAM && segment->address < IRAM)
        return write_ram(l, segment);
    if (segment->address >= IRAM &&
        wg_iram_write(l->dev->tile, l->core, segment->address - IRAM, segment->file_bytes, segment->data))
        return true;
    wg_textf(l->error,
             "waitgate: %s: a segment of %u bytes at 0x%08x lies neither in L1 (%u KiB) nor in core %s's own memory\n",
             wg_elf_name(l->elf), bytes, segment->address, l1_bytes / 1024, wg_agent_name_of(l->dev, l->core));
    return false;
}

bool wg_load_elf(wg_device *dev, const wg_elf *elf, unsigned core, bool release, wg_text *error)
{
    const loading l = {dev, elf, core, error};
    /* A core's RAM is cleared when it leaves reset, so it is filled after that, before anything runs. */
    if (release && wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)) != WG_OK) {
        wg_textf(error, "waitgate: core %s: %s\n", wg_agent_name_of(dev, core), wg_error(dev));
        return false;
    }
    for (size_t i = 0; i < wg_elf_segments(elf); i++)
        if (!load_segment(&l, wg_elf_segment_at(elf, i)))
            return false;
    return true;
}

bool wg_load_programs(wg_session *s, wg_text *error)
{
    for (size_t i = 0; s->has_tasm && i < s->tasm.blocks; i++) {
        const wg_tasm_block *b = &s->tasm.block[i];
        wg_text message = {0};
        if (b->bytes.size &&
            !write_l1(s->dev, b->address, (const uint8_t *)b->bytes.data, (uint32_t)b->bytes.size, 0, &message)) {
            wg_report_error(error, s->tasm.name, s->tasm.source, s->tasm.source_bytes, b->line, 1,
                            wg_text_of(&message));
            wg_text_free(&message);
            return false;
        }
    }
    for (unsigned i = 0; i < WG_CORES; i++) {
        if (s->elf[i] && !wg_load_elf(s->dev, s->elf[i], i, s->release >> i & 1, error))
            return false;
        /* Named by --release and without a program: it starts at its reset vector, whatever the memory contains. */
        if (!s->elf[i] && s->release >> i & 1)
            wg_core_release(s->dev, (wg_core_id)i, wg_reset_vector(s->dev->tile, i));
    }
    return true;
}

bool wg_image_shape_parse(const char *text, wg_image_shape *out, wg_text *error)
{
    wg_text why = {0};
    bool ok = wg_image_shape_read(text, out, &why);
    if (!ok)
        wg_textf(error, "waitgate: %s\n", wg_text_of(&why));
    wg_text_free(&why);
    return ok;
}

/* FILE[:TYPE[,tilized][=ROWSxCOLUMNS]]; the type part is only one if it is a type's name. */
typedef struct typed_file {
    char path[512];
    wg_image_shape shape;
} typed_file;

static bool read_typed(typed_file *f, const char *text, wg_text *error)
{
    *f = (typed_file){.shape.type = WG_TYPE_RAW};
    const char *colon = strrchr(text, ':');
    const bool typed = colon && wg_type_find(colon + 1, strcspn(colon + 1, ",=")) != WG_TYPE_COUNT;
    size_t path = typed ? (size_t)(colon - text) : strlen(text);
    if (path == 0 || path >= sizeof f->path) {
        wg_textf(error, "waitgate: `%s` names no file\n", text);
        return false;
    }
    memcpy(f->path, text, path);
    return !typed || wg_image_shape_parse(colon + 1, &f->shape, error);
}

bool wg_inputs_add(wg_inputs *all, const wg_input *input, const char *path)
{
    wg_input *more = wg_realloc(all->list, (all->count + 1) * sizeof *more);
    if (!more)
        return false;
    const char *slash = strrchr(path, '/');
    all->list = more;
    more[all->count] = *input;
    snprintf(more[all->count++].name, sizeof more->name, "%s", slash ? slash + 1 : path);
    return true;
}

bool wg_image_read(const char *who, const char *path, wg_image_shape *shape, wg_text *bytes, wg_text *error)
{
    char message[512];
    const wg_type type = shape->type;
    const bool tilized = shape->tilized;
    size_t size, rows, columns;
    uint8_t *file = wg_file_read(path, &size, message, sizeof message);
    if (!file) {
        wg_textf(error, "waitgate: %s: %s\n", who, message);
        return false;
    }
    bool ok = false;
    uint32_t *singles = NULL;
    if (type == WG_TYPE_RAW) {
        wg_text_add(bytes, file, size);
        ok = !bytes->failed;
        if (!ok)
            wg_textf(error, "waitgate: %s: out of memory\n", who);
    } else if (!wg_npy_read(file, size, &singles, &rows, &columns, message, sizeof message)) {
        wg_textf(error, "waitgate: %s: %s: %s\n", who, path, message);
    } else if (!wg_array_encode(bytes, type, tilized, singles, rows, columns)) {
        wg_textf(error, "waitgate: %s: %s: %zu x %zu cannot be %s%s: tiles are 32 x 32\n", who, path, rows, columns,
                 wg_type_name(type), tilized ? " in tiles" : ", which exists in tiles only");
    } else {
        shape->rows = rows;
        shape->columns = columns;
        ok = true;
    }
    free(singles);
    free(file);
    return ok;
}

bool wg_load_memory(wg_session *s, const char *what, wg_text *error)
{
    typed_file f;
    uint64_t address;
    size_t equals = strcspn(what, "=");
    if (!what[equals] || !wg_parse_number(what, equals, &address) || address > UINT32_MAX) {
        wg_textf(error, "waitgate: --load: `%s` is not ADDR=FILE\n", what);
        return false;
    }
    wg_text bytes = {0};
    bool ok = read_typed(&f, what + equals + 1, error) && wg_image_read("--load", f.path, &f.shape, &bytes, error) &&
              bytes.size <= UINT32_MAX &&
              write_l1(s->dev, (uint32_t)address, (const uint8_t *)bytes.data, (uint32_t)bytes.size, 0, error);
    if (ok &&
        !wg_inputs_add(&s->inputs, &(wg_input){.address = address, .bytes = bytes.size, .shape = f.shape}, f.path)) {
        wg_textf(error, "waitgate: out of memory\n");
        ok = false;
    }
    wg_text_free(&bytes);
    return ok;
}

/* The contents as text or array, ready to be written to the file. */
static bool dump_bytes(const char *who, const wg_image_shape *shape, const uint8_t *bytes, size_t size, wg_text *out,
                       wg_text *error)
{
    if (shape->type == WG_TYPE_RAW) {
        wg_text_add(out, bytes, size);
        return !out->failed;
    }
    size_t count = wg_array_elements(shape->type, size), columns = shape->columns, rows = shape->rows;
    if (!columns) {
        columns = shape->tilized || wg_type_is_blocks(shape->type) ? 32 : count;
        rows = columns ? count / columns : 0;
    }
    uint32_t *singles = count && rows * columns == count ? wg_malloc(count * sizeof *singles) : NULL;
    bool ok = singles && wg_array_decode(singles, shape->type, shape->tilized, bytes, rows, columns);
    if (ok)
        wg_npy_write(out, singles, rows, columns);
    else
        wg_textf(error, "waitgate: %s: %zu bytes are not an array of %s%s\n", who, size, wg_type_name(shape->type),
                 shape->tilized ? " in 32 x 32 tiles" : "");
    free(singles);
    return ok && !out->failed;
}

bool wg_image_write(const char *who, const char *path, const wg_image_shape *shape, const uint8_t *bytes, size_t size,
                    wg_text *error)
{
    char message[512];
    wg_text out = {0};
    bool ok = dump_bytes(who, shape, bytes, size, &out, error);
    if (ok && !(ok = wg_file_write(path, out.data, out.size, message, sizeof message)))
        wg_textf(error, "waitgate: %s: %s\n", who, message);
    wg_text_free(&out);
    return ok;
}

bool wg_dump_memory(wg_session *s, const char *what, wg_text *error)
{
    typed_file f;
    uint64_t address, size;
    size_t colon = strcspn(what, ":"), equals = strcspn(what, "=");
    if (!what[equals] || colon >= equals || !wg_parse_number(what, colon, &address) ||
        !wg_parse_number(what + colon + 1, equals - colon - 1, &size) || address > UINT32_MAX || size == 0 ||
        size > s->dev->tile->spec->l1_bytes) {
        wg_textf(error, "waitgate: --dump: `%s` is not ADDR:LEN=FILE with a length of at most L1's\n", what);
        return false;
    }
    if (!read_typed(&f, what + equals + 1, error))
        return false;
    uint8_t *bytes = wg_malloc((size_t)size);
    bool ok = false;
    if (!bytes)
        wg_textf(error, "waitgate: out of memory\n");
    else if (wg_read(s->dev, address, bytes, (size_t)size) != WG_OK)
        wg_textf(error, "waitgate: --dump: %s\n", wg_error(s->dev));
    else
        ok = wg_image_write("--dump", f.path, &f.shape, bytes, (size_t)size, error);
    free(bytes);
    return ok;
}
