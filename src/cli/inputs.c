/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "debug/debug.h"

/* ---- Inputs and their elements ---- */

enum { TRIED = 64, SHOWN = 4 };

/* An element of an input that is not a finite number. */
typedef struct suspect {
    unsigned x, y;
    uint64_t address;
    wg_type type;
    const wg_input *input; /* NULL: unknown */
    uint32_t bits;
    bool made_it; /* by itself, with the others set to 1, it changes the element */
} suspect;

struct wg_suspects {
    wg_debugging *g;
    wg_who who;
    bool has_element;
    wg_element element;
    wg_type unknown;
    suspect list[TRIED];
    size_t count, more; /* more: not tried */
    const suspect *kept;
    uint32_t bits;    /* of the element, when last read */
    uint32_t without; /* its bits with all of them set to 1 */
};

wg_suspects *wg_suspects_new(wg_debugging *g, wg_who who, const wg_element *element, wg_type unknown)
{
    wg_suspects *s = wg_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (wg_suspects){.g = g, .who = who, .has_element = element != NULL, .unknown = unknown};
    if (element)
        s->element = *element;
    return s;
}

void wg_suspects_free(wg_suspects *s) { free(s); }

static bool memory(const wg_suspects *s, unsigned x, unsigned y, uint64_t address, void *bits, unsigned bytes,
                   bool write)
{
    wg_grid *grid = s->g->chip ? wg_chip_grid(s->g->chip) : NULL;
    if (grid)
        return (write ? wg_grid_write(grid, x, y, address, bits, bytes)
                      : wg_grid_read(grid, x, y, address, bits, bytes)) == WG_OK;
    return (write ? wg_write(s->g->s.dev, address, bits, bytes) : wg_read(s->g->s.dev, address, bits, bytes)) == WG_OK;
}

static bool is_finite(wg_type type, uint32_t bits) { return (wg_type_decode(type, bits) >> 23 & 255) != 255; }

static const wg_input *input_at(const wg_suspects *s, unsigned x, unsigned y, uint64_t address)
{
    const wg_inputs *all = s->g->chip ? wg_chip_inputs(s->g->chip) : &s->g->s.inputs;
    for (size_t i = all->count; i-- > 0;) { /* the last one that was loaded there */
        const wg_input *input = &all->list[i];
        if (input->x == x && input->y == y && address >= input->address && address - input->address < input->bytes)
            return input;
    }
    return NULL;
}

/* "a.npy[17,9] (0x30122)", or the known part of it. */
static void suspect_text(const suspect *p, wg_text *out)
{
    const wg_input *input = p->input;
    if (!input) {
        wg_textf(out, "0x%05llx", (unsigned long long)p->address);
        return;
    }
    wg_textf(out, "%s", input->name);
    const size_t index = (size_t)(p->address - input->address) / wg_type_bytes(p->type);
    if (input->shape.type != WG_TYPE_RAW && input->shape.columns) {
        size_t place = input->shape.tilized ? wg_tilized_place(index, input->shape.columns) : index;
        wg_textf(out, "[%zu,%zu]", place / input->shape.columns, place % input->shape.columns);
    }
    wg_textf(out, " (0x%05llx)", (unsigned long long)p->address);
}

void wg_suspects_input(void *suspects, unsigned x, unsigned y, uint64_t first, uint64_t bytes, wg_text *out)
{
    wg_suspects *s = suspects;
    char value[32];
    unsigned odd = 0;
    for (uint64_t at = first; at < first + bytes;) {
        const wg_input *input = input_at(s, x, y, at);
        const wg_type type = input && input->shape.type != WG_TYPE_RAW ? input->shape.type : s->unknown;
        const unsigned width = wg_type_bytes(type);
        if (!width || !wg_type_is_float(type)) {
            at++;
            continue;
        }
        suspect p = {.x = x, .y = y, .type = type, .input = input};
        const uint64_t base = input ? input->address : 0;
        p.address = at - (at - base) % width;
        at = p.address + width;
        if (!memory(s, x, y, p.address, &p.bits, width, false) || is_finite(type, p.bits))
            continue;
        if (odd++ < SHOWN) {
            wg_textf(out, "%s%s at ", odd > 1 ? ", " : "", wg_type_value_text(type, p.bits, value, sizeof value));
            suspect_text(&p, out);
        }
        size_t i = 0;
        while (i < s->count && (s->list[i].x != x || s->list[i].y != y || s->list[i].address != p.address))
            i++;
        if (i == TRIED)
            s->more++;
        else if (i == s->count)
            s->list[s->count++] = p;
    }
    if (odd > SHOWN)
        wg_textf(out, " and %u more", odd - SHOWN);
}

/* ---- The culprits ---- */

static void all_but_one(void *user)
{
    wg_suspects *s = user;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t one = wg_type_encode(s->list[i].type, UINT64_C(0x3FF) << 52);
        if (&s->list[i] != s->kept)
            memory(s, s->list[i].x, s->list[i].y, s->list[i].address, &one, wg_type_bytes(s->list[i].type), true);
    }
}

static void look(void *user)
{
    wg_suspects *s = user;
    uint8_t bytes[WG_ELEMENT_BYTES] = {0};
    unsigned count;
    const uint64_t from = wg_element_memory(&s->element, &count);
    memory(s, s->who.x, s->who.y, from, bytes, count, false);
    s->bits = wg_element_bits(&s->element, bytes);
}

/* Runs once with every suspect replaced by 1, then once per suspect with only that one kept. */
static bool try_each(wg_suspects *s)
{
    s->kept = NULL;
    if (!wg_debug_what_if(s->g->d, all_but_one, look, s))
        return false;
    s->without = s->bits;
    for (size_t i = 0; i < s->count; i++) {
        s->kept = &s->list[i];
        if (!wg_debug_what_if(s->g->d, all_but_one, look, s))
            return false;
        s->list[i].made_it = s->bits != s->without;
    }
    return true;
}

static void verdict_text(const wg_suspects *s, wg_text *out)
{
    char value[32];
    size_t makers = 0;
    for (size_t i = 0; i < s->count; i++) {
        const suspect *p = &s->list[i];
        if (!p->made_it)
            continue;
        wg_textf(out, "  made so by %s at ", wg_type_value_text(p->type, p->bits, value, sizeof value));
        suspect_text(p, out);
        if (s->g->chip)
            wg_textf(out, " of tile %u-%u", p->x, p->y);
        wg_textf(out, "\n");
        makers++;
    }
    if (!s->count)
        wg_textf(out, "  no input that it comes from is known to be NaN or infinite\n");
    else if (!makers)
        wg_textf(out, "  none of %zu elements that are NaN or infinite makes it so\n", s->count);
    else
        wg_textf(out, "  with 1 in %s place it is %s\n", makers == 1 ? "its" : "their",
                 wg_element_text(&s->element, s->without, value, sizeof value));
    if (makers && makers < s->count)
        wg_textf(out, "  %zu other element%s NaN or infinite and did not\n", s->count - makers,
                 s->count - makers == 1 ? " is" : "s are");
    if (s->more)
        wg_textf(out, "  %zu more elements are NaN or infinite and were not tried\n", s->more);
}

static void verdict_json(const wg_suspects *s, wg_json *j)
{
    char value[32];
    wg_json_open(j, "made_so_by", '[');
    for (size_t i = 0; i < s->count; i++) {
        const suspect *p = &s->list[i];
        wg_text name = {0};
        if (!p->made_it)
            continue;
        suspect_text(p, &name);
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "element", wg_text_of(&name));
        if (s->g->chip)
            wg_json_textf(j, "tile", "%u-%u", p->x, p->y);
        wg_json_uint(j, "address", p->address);
        wg_json_text(j, "value", wg_type_value_text(p->type, p->bits, value, sizeof value));
        wg_json_close(j, '}');
        wg_text_free(&name);
    }
    wg_json_close(j, ']');
    wg_json_uint(j, "not_finite", s->count + s->more);
    if (s->count)
        wg_json_text(j, "with_ones_instead", wg_element_text(&s->element, s->without, value, sizeof value));
}

bool wg_suspects_verdict(void *suspects, wg_text *out, wg_json *j)
{
    wg_suspects *s = suspects;
    char value[32];
    if (!s->has_element)
        return true;
    look(s);
    const bool odd = !wg_element_is_finite(&s->element, s->bits);
    if (out)
        wg_textf(out, "  it is %s\n", wg_element_text(&s->element, s->bits, value, sizeof value));
    else
        wg_json_text(j, "value", wg_element_text(&s->element, s->bits, value, sizeof value));
    if (!odd && !s->count)
        return true;
    if (s->count && !try_each(s))
        return false;
    if (out)
        verdict_text(s, out);
    else
        verdict_json(s, j);
    return true;
}
