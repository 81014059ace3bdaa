/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays in memory, by row and column: the locations of their bytes, and their values. */
#include <stdio.h>
#include <string.h>

#include "text/types.h"

bool wg_image_shape_read(const char *text, wg_image_shape *out, wg_text *why)
{
    size_t n = strcspn(text, ",="), x;
    uint64_t rows, columns;
    *out = (wg_image_shape){.type = wg_type_find(text, n)};
    if (out->type == WG_TYPE_COUNT) {
        wg_textf(why, "`%.*s` is no type of elements", (int)n, text);
        return false;
    }
    const char *rest = text + n;
    out->tilized = strncmp(rest, ",tilized", 8) == 0;
    rest += out->tilized ? 8 : 0;
    if (!*rest)
        return true;
    x = strcspn(rest, "x");
    if (*rest == '=' && rest[x] && wg_parse_number(rest + 1, x - 1, &rows) &&
        wg_parse_number(rest + x + 1, strlen(rest + x + 1), &columns) && rows && columns && rows < 65536 &&
        columns < 65536) {
        out->rows = (size_t)rows;
        out->columns = (size_t)columns;
        return true;
    }
    wg_textf(why, "after the type only `,tilized` and `=ROWSxCOLUMNS` can follow, not `%s`", rest);
    return false;
}

/* ---- An element by row and column ---- */

typedef struct asked {
    const char *of;
    size_t memory; /* length of "l1", "dram" */
    uint64_t address, row, column;
    wg_image_shape shape;
} asked;

static bool read_asked(const char *of, asked *a, wg_text *why)
{
    const char *colon = strchr(of, ':'), *open = strchr(of, '['), *close = strchr(of, ']');
    const size_t comma = strcspn(open, ",");
    *a = (asked){.of = of, .memory = colon ? (size_t)(colon - of) : 0, .shape = {.type = WG_TYPE_RAW}};
    if (!colon || !close || open < colon || close < open + comma ||
        !wg_parse_number(colon + 1, (size_t)(open - colon) - 1, &a->address) ||
        !wg_parse_number(open + 1, comma - 1, &a->row) ||
        !wg_parse_number(open + comma + 1, (size_t)(close - open) - comma - 1, &a->column) || close[1] != ':') {
        wg_textf(why, "`%s` is not l1:ADDRESS[ROW,COLUMN]:TYPE[,tilized][=ROWSxCOLUMNS]", of);
        return false;
    }
    if (!wg_image_shape_read(close + 2, &a->shape, why))
        return false;
    if (a->shape.type == WG_TYPE_RAW)
        wg_textf(why, "raw bytes have no elements");
    else if (wg_type_is_blocks(a->shape.type) && !a->shape.tilized)
        wg_textf(why, "%s exists in whole tiles: add ,tilized", wg_type_name(a->shape.type));
    else if (!a->shape.columns && !a->shape.tilized && a->row)
        wg_textf(why, "the array's width is not known; say it: `%s=ROWSxCOLUMNS`", of);
    return why->size == 0;
}

static bool outside(const asked *a, const char *what, wg_text *why)
{
    wg_textf(why, "[%llu,%llu] is outside the %s", (unsigned long long)a->row, (unsigned long long)a->column, what);
    return false;
}

bool wg_element_parse(const char *of, char **out, wg_element *element, wg_text *why)
{
    asked a;
    *out = NULL;
    if (!strchr(of, ':') || !strchr(of, '['))
        return true;
    if (!read_asked(of, &a, why))
        return false;
    const size_t columns = a.shape.columns ? a.shape.columns : a.shape.tilized ? WG_TILE_COLUMNS : SIZE_MAX;
    if (a.column >= columns || (a.shape.rows && a.row >= a.shape.rows) || a.row > UINT32_MAX)
        return outside(&a, "array", why);
    const uint64_t index = a.shape.tilized   ? wg_tilized_index((size_t)a.row, (size_t)a.column, columns)
                           : a.shape.columns ? a.row * columns + a.column
                                             : a.column;
    const bool blocks = wg_type_is_blocks(a.shape.type);
    const unsigned bytes = blocks ? 1 : wg_type_bytes(a.shape.type);
    if (a.address > UINT32_MAX || index > UINT32_MAX || a.address + index * (bytes + 1) > UINT32_MAX)
        return outside(&a, "memory", why);
    *element = (wg_element){.address = a.address + index * bytes, .type = a.shape.type};
    uint64_t exponent = 0;
    if (blocks)
        element->address =
            wg_block_datum(a.shape.type, a.address, (size_t)index, &element->tile, &element->index, &exponent);
    wg_text text = {0};
    wg_textf(&text, "%.*s:0x%llx+%u", (int)a.memory, of, (unsigned long long)element->address, bytes);
    if (blocks)
        wg_textf(&text, ",%.*s:0x%llx+1", (int)a.memory, of, (unsigned long long)exponent);
    if (text.failed) {
        wg_text_free(&text);
        wg_textf(why, "out of memory");
        return false;
    }
    *out = text.data;
    return true;
}

/* ---- Its value ---- */

uint64_t wg_element_memory(const wg_element *e, unsigned *bytes)
{
    const bool blocks = wg_type_is_blocks(e->type);
    *bytes = blocks ? wg_block_tile_bytes(e->type) : wg_type_bytes(e->type);
    return blocks ? e->tile : e->address;
}

uint32_t wg_element_bits(const wg_element *e, const uint8_t *memory)
{
    uint32_t bits = 0;
    if (wg_type_is_blocks(e->type))
        return wg_block_single(e->type, memory, e->index);
    for (unsigned i = 0; i < wg_type_bytes(e->type); i++)
        bits |= (uint32_t)memory[i] << 8 * i;
    return bits;
}

/* The type of wg_element_bits(). */
static wg_type bits_type(const wg_element *e) { return wg_type_is_blocks(e->type) ? WG_TYPE_FP32 : e->type; }

static bool is_finite(wg_type type, uint32_t bits) { return (wg_type_decode(type, bits) >> 23 & 255) != 255; }

bool wg_element_is_finite(const wg_element *e, uint32_t bits) { return is_finite(bits_type(e), bits); }

const char *wg_type_value_text(wg_type type, uint32_t bits, char *room, size_t bytes)
{
    const uint32_t single = wg_type_decode(type, bits);
    float value;
    memcpy(&value, &single, sizeof value);
    if (!is_finite(type, bits))
        snprintf(room, bytes, "%s", single & 0x7FFFFF ? "NaN" : single >> 31 ? "-infinity" : "infinity");
    else
        snprintf(room, bytes, "%g", (double)value);
    return room;
}

const char *wg_element_text(const wg_element *e, uint32_t bits, char *room, size_t bytes)
{
    return wg_type_value_text(bits_type(e), bits, room, bytes);
}
