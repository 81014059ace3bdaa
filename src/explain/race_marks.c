/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation, inside the units: registers whose value was computed from one that nobody has written.
 *
 *     SFPADD reads LReg 2, never written ──> LReg 3 is marked ──> SFPSTORE of LReg 3: reported, at LReg 2
 *     UNPACR reads L1, never written ──> rows of SrcA are marked ──MOVA2D──> rows of Dst ──> PACR of them: reported, at L1
 *
 * Decided here: arithmetic passes a mark on. Instructions that only move values pass on that of L1 alone: many kernels move
 * whole tiles in registers of which they use a part.
 */
#include <stdlib.h>

#include "explain/race_words.h"

enum { GPRS = WG_THREADS * WG_GPRS, LREGS = 32, DST_ROWS = WG_DST_ROWS, SRC_ROWS = 256, INSNS = 8 };

/* What a marked value was computed from. */
typedef struct origin {
    wg_race_party party; /* the instruction that read it */
    uint32_t mask;
    uint32_t at;
    uint16_t space;
    bool used;
} origin;

struct wg_race_marks {
    origin gpr[GPRS], lreg[LREGS], dst[DST_ROWS], src[SRC_ROWS];
    struct {
        uint32_t seq;
        uint8_t thread;
        origin from;
    } insn[INSNS]; /* arithmetic in flight with a marked operand */
    unsigned next;
};

bool wg_race_marks_make(wg_races *r)
{
    r->marks = calloc(1, sizeof *r->marks);
    r->bytes += r->marks ? sizeof *r->marks : 0;
    return r->marks;
}

void wg_race_marks_free(wg_races *r) { free(r->marks); }

static origin *mark_of(wg_races *r, unsigned space, uint32_t at)
{
    switch (space) {
    case WG_TOUCH_GPR: return at < GPRS ? &r->marks->gpr[at] : NULL;
    case WG_TOUCH_LREG: return at < LREGS ? &r->marks->lreg[at] : NULL;
    case WG_TOUCH_DST: return at < DST_ROWS ? &r->marks->dst[at] : NULL;
    case WG_TOUCH_SRC: return at < SRC_ROWS ? &r->marks->src[at] : NULL;
    default: return NULL;
    }
}

static bool is_arithmetic(unsigned opcode)
{
    switch (opcode) {
    case WG_OPCODE_ADDDMAREG:
    case WG_OPCODE_SUBDMAREG:
    case WG_OPCODE_MULDMAREG:
    case WG_OPCODE_BITWOPDMAREG:
    case WG_OPCODE_SHIFTDMAREG:
    case WG_OPCODE_SFPADD:
    case WG_OPCODE_SFPMUL:
    case WG_OPCODE_SFPMAD:
    case WG_OPCODE_SFPADDI:
    case WG_OPCODE_SFPMULI:
    case WG_OPCODE_SFPIADD:
    case WG_OPCODE_MVMUL:
    case WG_OPCODE_DOTPV:
    case WG_OPCODE_ELWADD:
    case WG_OPCODE_ELWSUB:
    case WG_OPCODE_ELWMUL:
    case WG_OPCODE_GAPOOL:
    case WG_OPCODE_GMPOOL: return true;
    default: return false;
    }
}

bool wg_race_passes_on(const wg_race_party *p, unsigned space)
{
    const unsigned op = wg_opcode(p->word);
    switch (space) {
    case WG_TOUCH_DST: return p->agent == WG_AGENT_PACK;
    case WG_TOUCH_LREG: return op == WG_OPCODE_SFPSTORE;
    case WG_TOUCH_GPR: return op == WG_OPCODE_STOREIND || op == WG_OPCODE_STOREREG || op == WG_OPCODE_WRCFG;
    default: return false;
    }
}

static const origin *origin_of(const wg_races *r, const wg_actor *b)
{
    for (unsigned i = 0; i < INSNS; i++)
        if (r->marks->insn[i].from.used && r->marks->insn[i].seq == b->seq && r->marks->insn[i].thread == b->thread)
            return &r->marks->insn[i].from;
    return NULL;
}

static void mark_insn(wg_races *r, const wg_actor *b, const origin *from)
{
    if (origin_of(r, b))
        return;
    const unsigned i = r->marks->next++ % INSNS;
    r->marks->insn[i].seq = b->seq;
    r->marks->insn[i].thread = b->thread;
    r->marks->insn[i].from = *from;
}

void wg_race_marks_unwritten(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask)
{
    const wg_race_party *p = &r->party[b->party];
    const bool counts = space == WG_TOUCH_L1 ? p->agent == WG_AGENT_UNPACK0 || p->agent == WG_AGENT_UNPACK1
                                             : is_arithmetic(wg_opcode(p->word));
    if (r->marks && b->thread < WG_THREADS && counts && (space == WG_TOUCH_L1 || mark_of(r, space, at)))
        mark_insn(r, b, &(origin){.party = *p, .mask = mask, .space = (uint16_t)space, .at = at, .used = true});
}

void wg_race_marks_touch(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, bool write)
{
    origin *mark = b->thread < WG_THREADS ? mark_of(r, space, at) : NULL;
    if (!mark)
        return;
    const wg_race_party *p = &r->party[b->party];
    if (write) {
        const origin *from = origin_of(r, b);
        *mark = from && (from->space == WG_TOUCH_L1 || is_arithmetic(wg_opcode(p->word))) ? *from : (origin){0};
        return;
    }
    if (!mark->used)
        return;
    const bool of_l1 = mark->space == WG_TOUCH_L1;
    if (of_l1 || is_arithmetic(wg_opcode(p->word)))
        mark_insn(r, b, mark);
    if (!wg_race_passes_on(p, space) || (of_l1 && p->agent != WG_AGENT_PACK))
        return;
    char place[160];
    wg_words t = {place, sizeof place};
    wg_say_location(r, &t, mark->space, mark->at, mark->at, mark->mask);
    wg_race_rule(r, WG_RACE_UNINITIALISED, wg_race_party_of(r, &mark->party), b->party, b->cycle, place,
                 of_l1 ? "An unpacker took it, nobody has written it, and a packer stores what became of it."
                       : "The stored value was computed from it, and nobody has written it.",
                 of_l1 ? "Write all that is unpacked, or unpack and pack only what is written."
                       : "Write it before it is used, or do not store the result.");
}
