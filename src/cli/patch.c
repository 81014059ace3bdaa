/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/patch.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"

enum { AREA = 1024, REACH = 1 << 20, PIECE = 8, PC_BUF_BASE = 0xFFE80000u, SEMAPHORE_MAX = 15 };

/* The insertions before and after one place. */
typedef struct site {
    const wg_race_party *at;
    uint32_t before[PIECE], behind[PIECE]; /* Tensix words, or a core's instructions if `code` */
    unsigned befores, behinds;
    bool code;
} site;

typedef struct patcher {
    wg_session *v;
    const wg_races *seen;
    site site[WG_INSERTIONS];
    unsigned sites;
    unsigned semaphore, mutex;
    uint32_t area, used;
} patcher;

/* ---- RISC-V ----------------------------------------------------------------------------------------------------- */

enum { OPCODE_LOAD = 0x03, OPCODE_STORE = 0x23, FENCE = 0x0FF0000F };

static uint32_t i_type(uint32_t imm, unsigned rs1, unsigned f3, unsigned rd, unsigned opcode)
{
    return (imm & 0xFFF) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}
static uint32_t lui(unsigned rd, uint32_t value) { return (value & 0xFFFFF000) | rd << 7 | 0x37; }
static uint32_t use(unsigned rd, unsigned rs1) { return i_type(0, rs1, 0, rd, 0x13); } /* addi rd, rs1, 0 */
static uint32_t jump(uint32_t from, uint32_t to)
{
    uint32_t o = to - from;
    return (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F;
}

/* A register that the core's program does not use; 0: it uses all. */
static unsigned free_register(const wg_elf *elf)
{
    uint32_t mentioned = 0x1F; /* zero, ra, sp, gp, tp */
    for (size_t i = 0; i < wg_elf_segments(elf); i++) {
        const wg_elf_segment *s = wg_elf_segment_at(elf, i);
        for (uint32_t at = 0; s->executable && at + 4 <= s->file_bytes; at += 4) {
            uint32_t word;
            memcpy(&word, s->data + at, 4);
            if ((word & 3) == 3)
                mentioned |= 1u << (word >> 7 & 31) | 1u << (word >> 15 & 31) | 1u << (word >> 20 & 31);
        }
    }
    return ~mentioned ? (unsigned)__builtin_ctz(~mentioned) : 0;
}

/* ---- One insertion ---------------------------------------------------------------------------------------------- */

static bool add(site *s, bool behind, uint32_t word)
{
    unsigned *count = behind ? &s->behinds : &s->befores;
    if (*count == PIECE)
        return false;
    (behind ? s->behind : s->before)[(*count)++] = word;
    return true;
}

/* A Tensix instruction from text. */
static bool add_insn(const patcher *p, site *s, bool behind, const char *text)
{
    uint32_t word;
    wg_asm_error error;
    return wg_assemble_line(p->v->desc.arch, text, strlen(text), &word, &error) == WG_ASM_OK && add(s, behind, word);
}

static bool tensix_insertion(patcher *p, site *s, const wg_insertion *i)
{
    char text[64];
    unsigned mask = 1u << p->semaphore;
    switch (i->what) {
    case WG_INSERT_WORD: return add(s, i->behind, i->word);
    case WG_INSERT_POST: snprintf(text, sizeof text, "ttsempost %u", mask); break;
    case WG_INSERT_WAIT_POST:
        snprintf(text, sizeof text, "ttsemwait %u, %u, 1", i->word, mask);
        if (!add_insn(p, s, i->behind, text))
            return false;
        snprintf(text, sizeof text, "ttsemget %u", mask);
        break;
    case WG_INSERT_TAKE: snprintf(text, sizeof text, "ttatgetm %u", p->mutex); break;
    case WG_INSERT_GIVE: snprintf(text, sizeof text, "ttatrelm %u", p->mutex); break;
    default: return false;
    }
    return (i->what <= WG_INSERT_WAIT_POST ? p->semaphore : p->mutex) < 8 && add_insn(p, s, i->behind, text);
}

/* Reads the stored word back, or uses the loaded value's register. */
static bool value_back(site *s, bool behind, uint32_t word, unsigned scratch, bool store)
{
    if ((word & 0x7F) != (store ? OPCODE_STORE : OPCODE_LOAD))
        return false;
    if (!store)
        return add(s, behind, use(scratch, word >> 7 & 31));
    uint32_t imm = (word >> 25) << 5 | (word >> 7 & 31);
    unsigned width = word >> 12 & 3;
    return add(s, behind, i_type(imm, word >> 15 & 31, width == 2 ? 2 : width + 4, scratch, OPCODE_LOAD)) &&
           add(s, behind, use(scratch, scratch));
}

static bool core_insertion(patcher *p, site *s, const wg_insertion *i)
{
    unsigned core = i->at.core;
    const wg_elf *elf = core < WG_CORES ? p->v->elf[core] : NULL;
    unsigned scratch = elf ? free_register(elf) : 0;
    uint32_t word;
    if (i->what == WG_INSERT_FENCE)
        return add(s, i->behind, FENCE);
    if (!scratch || wg_read(p->v->dev, i->at.pc, &word, 4) != WG_OK)
        return false;
    switch (i->what) {
    case WG_INSERT_DRAIN:
    case WG_INSERT_DRAIN_MOPS:
        return core >= WG_CORE_T0 && add(s, i->behind, lui(scratch, PC_BUF_BASE)) &&
               add(s, i->behind, i_type(i->what == WG_INSERT_DRAIN ? 4 : 8, scratch, 2, scratch, OPCODE_LOAD)) &&
               add(s, i->behind, use(scratch, scratch));
    case WG_INSERT_READ_BACK: return value_back(s, i->behind, word, scratch, true);
    case WG_INSERT_USE: return value_back(s, i->behind, word, scratch, false);
    default: return false;
    }
}

static site *site_at(patcher *p, const wg_race_party *at, bool code)
{
    for (unsigned i = 0; i < p->sites; i++)
        if (p->site[i].at->pc == at->pc && p->site[i].at->thread == at->thread && p->site[i].code == code)
            return &p->site[i];
    p->site[p->sites] = (site){.at = at, .code = code};
    return &p->site[p->sites++];
}

static bool collect(patcher *p, const wg_race *race)
{
    for (unsigned k = 0; k < race->inserts; k++) {
        const wg_insertion *i = &race->insert[k];
        bool code = i->what >= WG_INSERT_FENCE;
        site *s = site_at(p, &i->at, code);
        if (!(code ? core_insertion(p, s, i) : tensix_insertion(p, s, i)))
            return false;
    }
    return race->inserts != 0;
}

/* ---- Into the program ------------------------------------------------------------------------------------------- */

/* Every occurrence of the word in its source line. */
static bool into_stream(wg_patch *out, patcher *p, const site *s)
{
    unsigned thread = s->at->thread;
    wg_tasm_stream *stream = &p->v->tasm.stream[thread];
    if (!p->v->has_tasm || s->code || thread >= WG_THREADS || out->stream[thread])
        return false;
    const wg_tasm_word *from = stream->word;
    uint32_t line = s->at->pc - WG_HOST_PC, word = s->at->parent ? s->at->parent : s->at->word;
    wg_tasm_word *to = calloc(stream->words, (1 + 2 * PIECE) * sizeof *to);
    size_t words = 0;
    if (!to)
        return false;
    for (size_t i = 0; i < stream->words; i++) {
        bool here = from[i].word == word && from[i].line == line;
        for (unsigned k = 0; here && k < s->befores; k++)
            to[words++] = (wg_tasm_word){.word = s->before[k], .line = line};
        to[words++] = from[i];
        for (unsigned k = 0; here && k < s->behinds; k++)
            to[words++] = (wg_tasm_word){.word = s->behind[k], .line = line};
    }
    out->stream[thread] = to;
    stream->word = to;
    stream->words = words;
    return true;
}

/* Finds empty, untouched L1 that the instruction at `pc` can jump to. */
static bool find_area(patcher *p, uint32_t pc)
{
    uint32_t top = wg_l1_bytes(p->v->dev) / AREA * AREA;
    if (top > pc + REACH - AREA)
        top = (pc + REACH - AREA) / AREA * AREA;
    for (uint32_t at = top; at >= 2 * AREA && at + REACH > pc + AREA; at -= AREA) {
        uint8_t bytes[AREA];
        bool empty =
            wg_read(p->v->dev, at - AREA, bytes, AREA) == WG_OK && !wg_races_l1_touched(p->seen, at - AREA, AREA);
        for (unsigned i = 0; i < AREA && empty; i++)
            empty = !bytes[i];
        if (empty) {
            p->area = at - AREA;
            return true;
        }
    }
    return false;
}

/* Loads, stores and Tensix instructions may be moved: they do not depend on their address. */
static bool movable(uint32_t word)
{
    return (word & 3) != 3 || (word & 0x7F) == OPCODE_LOAD || (word & 0x7F) == OPCODE_STORE;
}

static uint32_t as_code(const site *s, uint32_t word) { return s->code ? word : wg_ttinsn_encode(word); }

static bool into_code(wg_patch *out, patcher *p, const site *s)
{
    uint32_t pc = s->at->pc, original, code[2 * PIECE + 2];
    unsigned words = 0;
    bool own_thread = s->at->core == WG_CORE_T0 + s->at->thread;
    if ((!s->code && !own_thread) || out->moves == WG_PATCH_MOVES || pc >= wg_l1_bytes(p->v->dev) ||
        wg_read(p->v->dev, pc, &original, 4) != WG_OK || !movable(original))
        return false;
    if (!p->area && !find_area(p, pc))
        return false;
    uint32_t to = p->area + p->used;
    for (unsigned i = 0; i < s->befores; i++)
        code[words++] = as_code(s, s->before[i]);
    out->moved[out->moves].from = pc;
    out->moved[out->moves++].to = to + 4 * words;
    code[words++] = original;
    for (unsigned i = 0; i < s->behinds; i++)
        code[words++] = as_code(s, s->behind[i]);
    code[words] = jump(to + 4 * words, pc + 4);
    words++;
    uint32_t go = jump(pc, to);
    if (to - pc + REACH >= 2 * REACH || p->used + 4 * words > AREA)
        return false;
    p->used += 4 * words;
    return wg_write(p->v->dev, to, code, 4 * words) == WG_OK && wg_write(p->v->dev, pc, &go, 4) == WG_OK;
}

bool wg_patch_apply(wg_patch *out, wg_session *v, const wg_races *seen, const wg_race *race)
{
    patcher p = {.v = v, .seen = seen, .semaphore = wg_races_free_semaphore(seen), .mutex = wg_races_free_mutex(seen)};
    *out = (wg_patch){0};
    if (!collect(&p, race))
        return false;
    for (unsigned i = 0; i < race->inserts; i++)
        if (race->insert[i].what == WG_INSERT_POST) {
            wg_poke(v->dev, WG_SPACE_SEM_MAX, p.semaphore, SEMAPHORE_MAX);
            wg_races_initialised(v->races, p.semaphore, SEMAPHORE_MAX);
        }
    for (unsigned i = 0; i < p.sites; i++)
        if (!(WG_IS_HOST_PC(p.site[i].at->pc) ? into_stream(out, &p, &p.site[i]) : into_code(out, &p, &p.site[i])))
            return false;
    return true;
}

uint32_t wg_patch_original(const wg_patch *p, uint32_t pc)
{
    for (unsigned i = 0; i < p->moves; i++)
        if (p->moved[i].to == pc)
            return p->moved[i].from;
    return pc;
}

void wg_patch_free(wg_patch *p)
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        free(p->stream[i]);
}
