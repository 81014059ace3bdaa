/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writers of a location and the origin of their data, as a tree that ends at the start of the history or at a
 * core's store. Similar instructions of one source line form one branch. Across the NoC the tree continues at the tile
 * that sent the data.
 */
#include "debug/why.h"

#include <stdlib.h>
#include <string.h>

#include "debug/commands.h"
#include "isa/asm.h"
#include "observe/origin.h"

enum { FIRST_CONSTANT = 8 }; /* LReg */
enum { DEEPEST = 24, READS = 4096, BRANCHES = 64 };

typedef struct question {
    unsigned space; /* wg_touch_space, or MEMORY */
    uint32_t first, count;
} question;
enum { MEMORY = UINT8_MAX }; /* of a tile without cores: DRAM */
enum { QUESTIONS = 4 };

/* Branches already reported, so that each is reported once. */
typedef struct told {
    unsigned tile;
    uint32_t pc, word, first, end;
    uint64_t from, to;
    uint8_t agent, space;
} told;

typedef struct wg_why {
    wg_debug *d;
    const wg_why_desc *desc;
    wg_text *out; /* NULL: JSON */
    wg_json *j;
    wg_origin *log[WG_DEBUG_TILES]; /* of the tiles in use */
    told *told;
    size_t tolds, told_room;
} wg_why;

/* ---- A branch: instructions of one line and kind, and their part of the location ---- */

typedef struct branch {
    bool known; /* false: not written since the start of the history */
    uint8_t agent, thread, space;
    unsigned tile;
    uint32_t pc, word;
    uint32_t first, end; /* the smallest range that holds all of it */
    uint64_t from, to;   /* cycles */
    size_t instructions;
    size_t *writes; /* touches, as many as fit */
    size_t count;
} branch;

typedef struct tree {
    wg_why *w;
    unsigned tile; /* where the branches are */
    branch branch[BRANCHES];
    unsigned branches;
    bool more; /* there were more than fit */
} tree;

static const wg_origin *log_of(const wg_why *w, unsigned tile) { return w->log[tile]; }

static bool same_doing(const branch *b, const wg_data_touch *t)
{
    return b->known == (t != NULL) &&
           (!t || (b->agent == t->agent && b->pc == t->pc && b->space == t->space && (t->pc || b->word == t->word)));
}

/* Adds a write to a branch. One instruction may write in several pieces: false if it is already there. */
static bool add_touch(branch *b, const wg_origin *o, size_t touch)
{
    const wg_data_touch *w = &o->touch[touch];
    b->from = w->cycle < b->from ? w->cycle : b->from;
    b->to = w->cycle > b->to ? w->cycle : b->to;
    for (size_t k = 0; k < b->count; k++)
        if (w->id && o->touch[b->writes[k]].id == w->id && o->touch[b->writes[k]].thread == w->thread)
            return false;
    b->instructions++;
    if (b->count < READS)
        b->writes[b->count++] = touch;
    return true;
}

static void add_write(void *user, size_t touch, uint32_t first, uint32_t count)
{
    tree *t = user;
    const wg_origin *o = log_of(t->w, t->tile);
    const wg_data_touch *w = touch == SIZE_MAX ? NULL : &o->touch[touch];
    unsigned i = 0;
    while (i < t->branches && !same_doing(&t->branch[i], w))
        i++;
    if (i == BRANCHES) {
        t->more = true;
        return;
    }
    branch *b = &t->branch[i];
    if (i == t->branches) {
        *b = (branch){.known = w != NULL, .tile = t->tile, .first = first, .end = first + count, .from = UINT64_MAX};
        b->writes = wg_calloc(READS, sizeof *b->writes);
        t->branches++;
        if (w) {
            b->agent = w->agent;
            b->thread = w->thread;
            b->space = w->space;
            b->pc = w->pc;
            b->word = w->word;
        }
    }
    b->first = first < b->first ? first : b->first;
    b->end = first + count > b->end ? first + count : b->end;
    if (!w || !b->writes)
        return;
    add_touch(b, o, touch);
}

static void free_branches(tree *t)
{
    for (unsigned i = 0; i < t->branches; i++)
        free(t->branch[i].writes);
}

/* ---- Words ---- */

static void location_text(unsigned space, uint32_t first, uint32_t end, char *room, size_t bytes)
{
    static const char *const banks[4] = {"SrcA bank 0", "SrcA bank 1", "SrcB bank 0", "SrcB bank 1"};
    uint32_t last = end - 1;
    switch (space) {
    case WG_TOUCH_L1: snprintf(room, bytes, "L1 0x%05x to 0x%05x", first, last); break;
    case WG_TOUCH_DST: snprintf(room, bytes, first == last ? "Dst row %u" : "Dst rows %u to %u", first, last); break;
    case WG_TOUCH_SRC:
        if (first >> 6 == last >> 6)
            snprintf(room, bytes, "%s rows %u to %u", banks[first >> 6 & 3], first & 63, last & 63);
        else
            snprintf(room, bytes, "%s to %s", banks[first >> 6 & 3], banks[last >> 6 & 3]);
        break;
    case WG_TOUCH_LREG: snprintf(room, bytes, first == last ? "LReg %u" : "LRegs %u to %u", first, last); break;
    case WG_TOUCH_SEM_VALUE: snprintf(room, bytes, "semaphore %u", first); break;
    case WG_TOUCH_CONFIG: snprintf(room, bytes, "Config word %u of bank %u", first & 255, first >> 8); break;
    case WG_TOUCH_THREAD_CONFIG:
        snprintf(room, bytes, "ThreadConfig word %u of thread %u", first & 255, first >> 8);
        break;
    default:
        if (first == last)
            snprintf(room, bytes, "the %s half of GPR %u of thread %u", first & 1 ? "high" : "low", first >> 1 & 63,
                     first >> 7);
        else if (first >> 1 == last >> 1)
            snprintf(room, bytes, "GPR %u of thread %u", first >> 1 & 63, first >> 7);
        else
            snprintf(room, bytes, "GPRs %u to %u of thread %u", first >> 1 & 63, last >> 1 & 63, first >> 7);
        break;
    }
}

static unsigned program_of(const branch *b)
{
    return b->agent <= WG_AGENT_CORE_T2 ? b->agent : WG_CORE_T0 + b->thread % WG_THREADS;
}

static const char *insn_text(const wg_why *w, const branch *b, char *room, size_t bytes)
{
    wg_who who = wg_debug_who(w->d, b->tile, b->agent);
    *room = 0;
    if (b->word)
        wg_debug_insn_text(w->d, who, b->pc, b->word, room, bytes);
    return room;
}

/* The caller's description of an input. */
static const char *input_words(const wg_why *w, unsigned tile, uint64_t first, uint64_t bytes, wg_text *room)
{
    const wg_who at = wg_debug_who(w->d, tile, WG_AGENT_NONE);
    if (w->desc->input)
        w->desc->input(w->desc->user, at.x, at.y, first, bytes, room);
    return wg_text_of(room);
}

static void branch_text(const wg_why *w, const branch *b, unsigned space, unsigned depth, bool again)
{
    char where[160], place[256], text[WG_DIS_MAX];
    wg_who who = wg_debug_who(w->d, b->tile, b->agent);
    location_text(space, b->first, b->end, where, sizeof where);
    wg_textf(w->out, "%*s", (int)(2 * depth), "");
    if (w->d->desc.grid)
        wg_textf(w->out, "tile %u-%u, ", who.x, who.y);
    wg_textf(w->out, "%s: ", where);
    if (!b->known) {
        const wg_origin *o = log_of(w, b->tile);
        wg_text room = {0};
        const char *words = space == WG_TOUCH_L1 ? input_words(w, b->tile, b->first, b->end - b->first, &room) : "";
        wg_textf(w->out, "%s %s%s%s\n",
                 space == WG_TOUCH_LREG && b->first >= FIRST_CONSTANT ? "a constant, there before" : "there before",
                 o && o->begins ? "what is remembered of the run" : "the run, or written by the host",
                 *words ? "; " : "", words);
        wg_text_free(&room);
        return;
    }
    wg_debug_place(w->d, who, program_of(b), b->pc, place, sizeof place);
    wg_textf(w->out, "%s", wg_agent_name(b->agent));
    if (*insn_text(w, b, text, sizeof text))
        wg_textf(w->out, ", %s", text);
    if (*place)
        wg_textf(w->out, ", at %s", place);
    if (b->instructions > 1)
        wg_textf(w->out, "; %zu instructions, cycles %llu to %llu", b->instructions, (unsigned long long)b->from,
                 (unsigned long long)b->to);
    else
        wg_textf(w->out, "; cycle %llu", (unsigned long long)b->from);
    wg_textf(w->out, again ? " (see above)\n" : "\n");
}

static void input_json(const wg_why *w, unsigned tile, uint64_t first, uint64_t bytes)
{
    wg_text room = {0};
    const char *words = input_words(w, tile, first, bytes, &room);
    if (*words)
        wg_json_text(w->j, "input", words);
    wg_text_free(&room);
}

static void branch_json(const wg_why *w, const branch *b, unsigned space, bool again)
{
    char where[160], place[256], text[WG_DIS_MAX];
    wg_who who = wg_debug_who(w->d, b->tile, b->agent);
    location_text(space, b->first, b->end, where, sizeof where);
    wg_json_open(w->j, NULL, '{');
    wg_json_text(w->j, "location", where);
    if (w->d->desc.grid)
        wg_json_textf(w->j, "tile", "%u-%u", who.x, who.y);
    wg_json_bool(w->j, "written", b->known);
    if (b->known) {
        wg_json_text(w->j, "who", wg_agent_name(b->agent));
        wg_json_text(w->j, "place", wg_debug_place(w->d, who, program_of(b), b->pc, place, sizeof place));
        if (*insn_text(w, b, text, sizeof text))
            wg_json_text(w->j, "instruction", text);
        wg_json_uint(w->j, "instructions", b->instructions);
        wg_json_uint(w->j, "from", b->from);
        wg_json_uint(w->j, "to", b->to);
        if (again)
            wg_json_bool(w->j, "told_before", true);
    } else if (space == WG_TOUCH_L1) {
        input_json(w, b->tile, b->first, b->end - b->first);
    }
}

/* ---- The trace back ---- */

typedef struct reads {
    size_t *touch;
    size_t count;
} reads;

static void add_read(void *user, size_t touch)
{
    reads *r = user;
    if (r->count < READS)
        r->touch[r->count++] = touch;
}

static void explain(wg_why *w, const branch *from, unsigned depth, const branch *const *above);

/* An instruction that accumulates onto the results of its predecessors: those belong to the branch, too. */
typedef struct adding {
    const wg_origin *o;
    branch *b;
} adding;

static void add_like(void *user, size_t touch, uint32_t first, uint32_t count)
{
    const adding *a = user;
    (void)first;
    (void)count;
    if (touch != SIZE_MAX && a->b->count < READS && same_doing(a->b, &a->o->touch[touch]))
        add_touch(a->b, a->o, touch);
}

static void accumulate(const wg_why *w, branch *b)
{
    reads r = {wg_calloc(READS, sizeof *r.touch), 0};
    adding a = {log_of(w, b->tile), b};
    for (size_t i = 0; r.touch && b->writes && i < b->count; i++) {
        r.count = 0;
        wg_origin_reads(a.o, b->writes[i], add_read, &r);
        for (size_t k = 0; k < r.count; k++) {
            const wg_data_touch *read = &a.o->touch[r.touch[k]];
            if (read->space == b->space && (read->space == WG_TOUCH_DST || read->space == WG_TOUCH_L1))
                wg_origin_writers(a.o, read->space, read->first, read->count, r.touch[k], add_like, &a);
        }
    }
    free(r.touch);
}

/* Has this branch been reported before, with its complete origin? */
static bool told_before(wg_why *w, const branch *b, unsigned space)
{
    const told now = {b->tile, b->pc, b->word, b->first, b->end, b->from, b->to, b->agent, (uint8_t)space};
    for (size_t i = 0; i < w->tolds; i++) {
        const told *t = &w->told[i];
        if (t->tile == now.tile && t->pc == now.pc && t->word == now.word && t->first == now.first &&
            t->end == now.end && t->from == now.from && t->to == now.to && t->agent == now.agent &&
            t->space == now.space)
            return true;
    }
    if (w->tolds == w->told_room) {
        size_t room = w->told_room ? 2 * w->told_room : 64;
        told *more = wg_realloc(w->told, room * sizeof *more);
        if (!more)
            return false;
        w->told = more;
        w->told_room = room;
    }
    w->told[w->tolds++] = now;
    return false;
}

static void tell(tree *t, unsigned space, unsigned depth, const branch *const *above)
{
    wg_why *w = t->w;
    for (unsigned i = 0; i < t->branches; i++) {
        branch *b = &t->branch[i];
        bool again = false; /* part of a branch above it */
        for (unsigned k = 0; above[k]; k++)
            again |= b->known && above[k]->agent == b->agent && above[k]->pc == b->pc && above[k]->space == b->space &&
                     above[k]->tile == b->tile && (b->pc || b->word);
        if (again)
            continue;
        if (b->known)
            accumulate(w, b);
        const bool known_already = b->known && told_before(w, b, space);
        if (w->out)
            branch_text(w, b, space, depth, known_already);
        else
            branch_json(w, b, space, known_already);
        if (b->known && !known_already)
            explain(w, b, depth + 1, above);
        if (!w->out)
            wg_json_close(w->j, '}');
    }
    if (t->more && w->out)
        wg_textf(w->out, "%*s… and more\n", (int)(2 * depth), "");
}

/* The branches of the locations that reads of one space touched. */
static void explain_reads(wg_why *w, unsigned tile, const reads *r, unsigned space, unsigned depth,
                          const branch *const *above)
{
    tree *t = wg_calloc(1, sizeof *t);
    const wg_origin *o = log_of(w, tile);
    if (!t)
        return;
    t->w = w;
    t->tile = tile;
    for (size_t i = 0; i < r->count; i++) {
        const wg_data_touch *read = &o->touch[r->touch[i]];
        if (read->space == space)
            wg_origin_writers(o, space, read->first, read->count, r->touch[i], add_write, t);
    }
    tell(t, space, depth, above);
    free_branches(t);
    free(t);
}

/* ---- Over the NoC ---- */

/* Bytes of a tile's memory, as they were before a cycle. */
typedef struct span {
    unsigned tile;
    uint64_t address, before;
    uint32_t bytes;
} span;

/* Explains memory outside Tensix tiles, by the last packet to it; or as unknown. */
static void explain_memory(wg_why *w, unsigned tile, uint64_t address, uint32_t bytes, uint64_t before, unsigned depth,
                           const branch *const *above);

/*
 * Explains the first of these spans, merged with those in the same tile's L1; spans that are done have no bytes left.
 */
static void explain_sources(wg_why *w, span *all, size_t count, unsigned depth, const branch *const *above)
{
    const unsigned tile = all->tile;
    const bool logged = tile < wg_debug_tiles(w->d) && log_of(w, tile) && all->address < w->d->arch->tensix.l1_bytes;
    if (depth > DEEPEST)
        return;
    if (!logged) {
        explain_memory(w, tile, all->address, all->bytes, all->before, depth, above);
        return;
    }
    tree *t = wg_calloc(1, sizeof *t);
    if (!t)
        return;
    t->w = w;
    t->tile = tile;
    const wg_origin *o = log_of(w, tile);
    for (size_t i = 0; i < count; i++)
        if (all[i].tile == tile && all[i].bytes && all[i].address < w->d->arch->tensix.l1_bytes) {
            wg_origin_writers(o, WG_TOUCH_L1, (uint32_t)all[i].address, all[i].bytes, wg_origin_at(o, all[i].before),
                              add_write, t);
            all[i].bytes = 0;
        }
    tell(t, WG_TOUCH_L1, depth, above);
    free_branches(t);
    free(t);
}

/* Tiles of one DRAM channel lead to the same memory. */
static bool same_memory(const wg_why *w, unsigned a, unsigned b)
{
    const wg_grid *g = w->d->desc.grid;
    if (a == b || !g)
        return a == b;
    const wg_who x = wg_debug_who(w->d, a, WG_AGENT_NONE), y = wg_debug_who(w->d, b, WG_AGENT_NONE);
    return wg_grid_kind(g, x.x, x.y) == WG_TILE_DRAM && wg_grid_kind(g, y.x, y.y) == WG_TILE_DRAM &&
           wg_grid_index(g, x.x, x.y) == wg_grid_index(g, y.x, y.y);
}

/* The latest write to a tile without a log: its sender and source address. */
static const wg_data_packet *last_write(const wg_why *w, unsigned tile, uint64_t address, uint64_t before,
                                        unsigned *sender)
{
    const wg_data_packet *last = NULL;
    for (unsigned i = 0; i < wg_debug_tiles(w->d); i++) {
        const wg_origin *o = log_of(w, i);
        for (size_t k = 0; o && k < o->packets; k++) {
            const wg_data_packet *p = &o->packet[k];
            if (p->sent && p->kind == WG_PACKET_WRITE && same_memory(w, p->tile, tile) && p->there <= address &&
                address < p->there + p->bytes && p->cycle < before && (!last || p->cycle > last->cycle)) {
                last = p;
                *sender = i;
            }
        }
    }
    return last;
}

static void explain_memory(wg_why *w, unsigned tile, uint64_t address, uint32_t bytes, uint64_t before, unsigned depth,
                           const branch *const *above)
{
    unsigned sender = 0;
    const wg_data_packet *p = last_write(w, tile, address, before, &sender);
    wg_who at = wg_debug_who(w->d, tile, WG_AGENT_NONE);
    const char *kind = w->d->desc.grid ? wg_tile_kind_name(wg_grid_kind(w->d->desc.grid, at.x, at.y)) : "outside";
    if (w->out) {
        wg_textf(w->out, "%*stile %u-%u (%s) 0x%llx to 0x%llx: ", (int)(2 * depth), "", at.x, at.y, kind,
                 (unsigned long long)address, (unsigned long long)address + bytes - 1);
        if (p) {
            wg_textf(w->out, "written over the NoC; sent in cycle %llu\n", (unsigned long long)p->cycle);
        } else {
            wg_text room = {0};
            const char *words = input_words(w, tile, address, bytes, &room);
            wg_textf(w->out, "there before the run, or written by the host%s%s\n", *words ? "; " : "", words);
            wg_text_free(&room);
        }
    } else {
        wg_json_open(w->j, NULL, '{');
        wg_json_textf(w->j, "location", "%s 0x%llx to 0x%llx", kind, (unsigned long long)address,
                      (unsigned long long)address + bytes - 1);
        wg_json_textf(w->j, "tile", "%u-%u", at.x, at.y);
        wg_json_bool(w->j, "written", p != NULL);
        if (!p)
            input_json(w, tile, address, bytes);
        wg_json_open(w->j, "from_data", '[');
    }
    if (p)
        explain_sources(w, &(span){sender, p->here + (address - p->there), p->cycle + 1, bytes}, 1, depth + 1, above);
    if (!w->out) {
        wg_json_close(w->j, ']');
        wg_json_close(w->j, '}');
    }
}

/* The location of a NIU's data before it was sent; false: unknown. */
static bool sent_from(const wg_why *w, const branch *b, size_t write, span *out)
{
    const wg_origin *o = log_of(w, b->tile);
    const wg_data_packet *p = wg_origin_arrival(o, write);
    if (!p)
        return false;
    const uint64_t arrived = p->there + p->bytes, first = b->first > p->there ? b->first : p->there;
    const uint64_t end = b->end < arrived ? b->end : arrived, offset = first - p->there;
    if (first >= end)
        return false;
    const wg_data_packet *sent = NULL;
    if (p->tile < wg_debug_tiles(w->d) && log_of(w, p->tile))
        sent = wg_origin_sent(log_of(w, p->tile), p->transaction, p->kind >= WG_PACKET_DATA, p->cycle);
    *out = (span){.bytes = (uint32_t)(end - first)};
    if (sent) {
        out->tile = p->tile;
        out->address = sent->here + offset;
        out->before = sent->cycle + 1;
        return true;
    }
    /* The answer of a tile without a log: the request shows what was read there. */
    const wg_data_packet *asked = wg_origin_sent(o, p->transaction, false, p->cycle);
    if (!asked || p->kind != WG_PACKET_DATA)
        return false;
    out->tile = asked->tile;
    out->address = asked->there + offset;
    out->before = p->cycle;
    return true;
}

/* Explains data written by a NIU: the contents of its packets, tile by tile. */
static void explain_arrival(wg_why *w, const branch *from, unsigned depth, const branch *const *above)
{
    span *all = wg_calloc(from->count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all && i < from->count; i++) {
        span *s = &all[count];
        if (!sent_from(w, from, from->writes[i], s))
            continue;
        span *before = count ? s - 1 : NULL; /* packets of one transfer are consecutive */
        if (before && before->tile == s->tile && before->address + before->bytes == s->address)
            before->bytes += s->bytes;
        else if (before && before->tile == s->tile && s->address + s->bytes == before->address)
            *before = (span){s->tile, s->address, before->before, before->bytes + s->bytes};
        else
            count++;
    }
    for (size_t i = 0; i < count; i++)
        if (all[i].bytes)
            explain_sources(w, all + i, count - i, depth, above);
    free(all);
}

static void explain(wg_why *w, const branch *from, unsigned depth, const branch *const *above)
{
    static const uint8_t spaces[] = {WG_TOUCH_DST, WG_TOUCH_SRC,    WG_TOUCH_LREG,         WG_TOUCH_GPR,
                                     WG_TOUCH_L1,  WG_TOUCH_CONFIG, WG_TOUCH_THREAD_CONFIG};
    const branch *chain[DEEPEST + 2] = {from};
    unsigned n = 1;
    for (unsigned i = 0; above[i] && n < DEEPEST + 1; i++)
        chain[n++] = above[i];
    chain[n] = NULL;
    reads r = {wg_calloc(READS, sizeof *r.touch), 0};
    const wg_origin *o = log_of(w, from->tile);
    if (r.touch && depth <= DEEPEST)
        for (size_t i = 0; i < from->count; i++)
            wg_origin_reads(o, from->writes[i], add_read, &r);
    if (!w->out)
        wg_json_open(w->j, "from_data", '[');
    for (unsigned i = 0; i < sizeof spaces; i++)
        explain_reads(w, from->tile, &r, spaces[i], depth, chain);
    if (from->agent == WG_AGENT_NIU0 || from->agent == WG_AGENT_NIU1)
        explain_arrival(w, from, depth, chain);
    if (!w->out)
        wg_json_close(w->j, ']');
    free(r.touch);
}

/* ---- The location asked about ---- */

/* NAME:A[:B][+COUNT] */
static bool parse_parts(const char *rest, uint64_t *a, uint64_t *b, uint64_t *count, bool *second)
{
    size_t one = strcspn(rest, ":+"), two;
    *second = rest[one] == ':';
    *count = 0;
    if (!wg_parse_number(rest, one, a))
        return false;
    rest += one;
    if (*rest == ':') {
        two = strcspn(++rest, "+");
        if (!wg_parse_number(rest, two, b))
            return false;
        rest += two;
    }
    return !*rest || (wg_parse_number(rest + 1, strlen(rest + 1), count) && *count);
}

/* One location; several are separated by commas. */
static bool parse_question(const char *text, size_t length, question *q)
{
    char one[64];
    static const struct {
        const char *name;
        uint8_t space;
        bool second;      /* accepts A:B */
        uint16_t a, b;    /* A and B are below these; 0: below 2^32 */
        uint16_t a_scale; /* first = (A * a_scale + B) * unit + offset */
        uint8_t unit, least;
        uint16_t offset;
        bool many;
    } kinds[] = {
        {"l1", WG_TOUCH_L1, false, 0, 0, 1, 1, 4, 0, true},
        {"dram", MEMORY, false, 0, 0, 1, 1, 4, 0, true},
        {"dst", WG_TOUCH_DST, false, WG_DST_ROWS, 0, 1, 1, 1, 0, true},
        {"srca", WG_TOUCH_SRC, true, 2, WG_SRC_ROWS, WG_SRC_ROWS, 1, 1, 0, false},
        {"srcb", WG_TOUCH_SRC, true, 2, WG_SRC_ROWS, WG_SRC_ROWS, 1, 1, 2 * WG_SRC_ROWS, false},
        {"lreg", WG_TOUCH_LREG, false, 16, 0, 1, 1, 1, 0, false},
        {"gpr", WG_TOUCH_GPR, true, WG_THREADS, WG_GPRS, WG_GPRS, 2, 2, 0, false},
        {"config", WG_TOUCH_CONFIG, true, 2, 256, 256, 1, 1, 0, false},
        {"threadconfig", WG_TOUCH_THREAD_CONFIG, true, WG_THREADS, 256, 256, 1, 1, 0, false},
        {"semaphore", WG_TOUCH_SEM_VALUE, false, WG_SEMAPHORES, 0, 1, 1, 1, 0, false},
    };
    uint64_t a = 0, b = 0, count = 0;
    bool second;
    if (length >= sizeof one)
        return false;
    memcpy(one, text, length);
    one[length] = 0;
    text = one;
    size_t name = strcspn(text, ":");
    if (!text[name] || !parse_parts(text + name + 1, &a, &b, &count, &second) || a > UINT32_MAX || count > UINT32_MAX)
        return false;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!wg_is_word(text, name, kinds[i].name))
            continue;
        if (second != kinds[i].second || (kinds[i].a && a >= kinds[i].a) || (second && b >= kinds[i].b) ||
            (count && !kinds[i].many) || (kinds[i].many && kinds[i].a && count > kinds[i].a - a) ||
            a + count > UINT32_MAX)
            return false;
        *q = (question){.space = kinds[i].space,
                        .first = (uint32_t)((a * kinds[i].a_scale + b) * kinds[i].unit + kinds[i].offset),
                        .count = count ? (uint32_t)count : kinds[i].least};
        return true;
    }
    return false;
}

static void note(void *user, const wg_event *e)
{
    wg_why *w = user;
    if (w->log[e->tile])
        wg_origin_event(w->log[e->tile], e);
}

static void answer(wg_why *w, unsigned tile, const question *q)
{
    const branch *const none[1] = {NULL};
    if (q->space == MEMORY) {
        explain_memory(w, tile, q->first, q->count, UINT64_MAX, 1, none);
        return;
    }
    tree *t = wg_calloc(1, sizeof *t);
    if (!t)
        return;
    t->w = w;
    t->tile = tile;
    wg_origin_writers(log_of(w, tile), q->space, q->first, q->count, SIZE_MAX, add_write, t);
    tell(t, q->space, 1, none);
    free_branches(t);
    free(t);
}

/* The number of locations; 0: invalid. */
static unsigned parse_questions(const char *of, question q[QUESTIONS])
{
    unsigned n = 0;
    for (const char *at = of;; at++) {
        const size_t length = strcspn(at, ",");
        if (n == QUESTIONS || !parse_question(at, length, &q[n++]))
            return 0;
        at += length;
        if (!*at)
            return n;
    }
}

bool wg_why_understands(const char *of)
{
    question q[QUESTIONS];
    return parse_questions(of, q) != 0;
}

static bool run_and_answer(wg_why *w, unsigned tile, const question *q, unsigned questions)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < wg_debug_tiles(w->d); i++)
        if (wg_debug_dev(w->d, i))
            ok = (w->log[i] = wg_calloc(1, sizeof *w->log[i])) != NULL;
    ok = ok && wg_debug_replay(w->d, WG_DEBUG_EVERY_TILE, 0, WG_ORIGIN_EVENTS, note, w);
    for (unsigned i = 0; i < wg_debug_tiles(w->d); i++)
        ok = ok && !(w->log[i] && w->log[i]->failed);
    for (unsigned i = 0; ok && i < questions; i++)
        answer(w, tile, &q[i]);
    for (unsigned i = 0; i < wg_debug_tiles(w->d); i++) {
        if (w->log[i])
            wg_origin_free(w->log[i]);
        free(w->log[i]);
        w->log[i] = NULL;
    }
    return ok;
}

/* The verdict first, then the tree that supports it. */
static bool answer_out(wg_debug *d, const wg_why_desc *desc, const wg_text *branches, wg_text *out)
{
    const char *of = desc->of_text ? desc->of_text : desc->of;
    wg_json json = {.out = out};
    if (!desc->json) {
        if (desc->title)
            wg_textf(out, "%s: %s at cycle %llu\n", desc->title, of, (unsigned long long)wg_debug_now(d));
        if (desc->verdict && !desc->verdict(desc->user, out, NULL))
            return false;
        wg_text_add(out, wg_text_of(branches), branches->size);
        return true;
    }
    wg_json_open(&json, NULL, '{');
    wg_json_uint(&json, "schema", 1);
    if (desc->title)
        wg_json_text(&json, "program", desc->title);
    wg_json_text(&json, "of", of);
    wg_json_uint(&json, "cycle", wg_debug_now(d));
    bool ok = !desc->verdict || desc->verdict(desc->user, NULL, &json);
    wg_json_raw(&json, "writers", wg_text_of(branches));
    wg_json_close(&json, '}');
    return ok;
}

bool wg_why_text(wg_debug *d, wg_who who, const wg_why_desc *desc, wg_text *out)
{
    question q[QUESTIONS];
    d->error[0] = 0;
    const unsigned questions = parse_questions(desc->of, q);
    if (!questions) {
        wg_debug_fail(d, WG_ERR_ARGUMENT, "a location is " WG_WHY_LOCATIONS);
        return false;
    }
    if (!d->past.count) {
        wg_debug_fail(d, WG_ERR_STATE, "there is no history to look at");
        return false;
    }
    wg_why *w = wg_calloc(1, sizeof *w);
    if (!w)
        return false;
    wg_text branches = {0};
    wg_json json = {.out = &branches};
    *w = (wg_why){.d = d, .desc = desc, .out = desc->json ? NULL : &branches, .j = &json};
    if (desc->json)
        wg_json_open(&json, NULL, '[');
    bool ok = run_and_answer(w, wg_debug_index(d, who), q, questions);
    if (desc->json)
        wg_json_close(&json, ']');
    if (ok)
        ok = answer_out(d, desc, &branches, out);
    wg_text_free(&branches);
    if (!ok && !*d->error)
        wg_debug_fail(d, WG_ERR_NO_MEMORY, "out of memory");
    free(w->told);
    free(w);
    return ok;
}
