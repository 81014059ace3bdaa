/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/stores.h"

#include <stdlib.h>
#include <string.h>

#include "isa/riscv_word.h"
#include "machine/device.h"

#define OWN_RAM UINT32_C(0xFFB00000)
enum {
    PLACES = 8192, /* instructions, at most */
    STEPS = 1 << 18
};
/* Registers that a function leaves as they were: sp, gp, tp, s0 to s11. */
#define SAVED_REGISTERS UINT32_C(0x0FFC031D)

/* What is known of the registers when an instruction is reached. Bit i: register i. */
typedef struct place {
    uint32_t pc, r[32];
    uint32_t known;
    uint32_t loaded; /* … but computed from memory as it is now */
    bool used, queued;
} place;

typedef struct walk {
    const wg_tile *t;
    unsigned core;
    uint32_t address;
    place *place; /* a hash table */
    uint16_t *queue;
    unsigned queued, places;
    bool unknown_store, unknown_jump;
    uint32_t loaded_at; /* a store whose address comes from memory; 0: none */
} walk;

static place *place_at(walk *w, uint32_t pc)
{
    unsigned i = pc / 4 * 0x9E3779B1u >> 19;
    while (w->place[i].used && w->place[i].pc != pc)
        i = (i + 1) % PLACES;
    return &w->place[i];
}

/* The instruction is reached with these registers, too. */
static void reach(walk *w, uint32_t pc, const place *with)
{
    uint32_t word;
    if (pc & 3 || !wg_code_word(w->t, pc, &word)) {
        w->unknown_jump = true;
        return;
    }
    place *p = place_at(w, pc);
    bool changed = !p->used;
    if (!p->used) {
        if (w->places == PLACES / 2) { /* too long to be followed */
            w->unknown_store = true;
            return;
        }
        w->places++;
        *p = *with;
        p->pc = pc;
        p->used = true;
        p->queued = false;
    } else {
        uint32_t same = p->known & with->known;
        for (unsigned i = 1; i < 32; i++)
            if (p->r[i] != with->r[i])
                same &= ~(1u << i);
        changed = same != p->known || (with->loaded & same & ~p->loaded);
        p->known = same;
        p->loaded = (p->loaded | with->loaded) & same;
    }
    if (changed && !p->queued) {
        p->queued = true;
        w->queue[w->queued++ % PLACES] = (uint16_t)(p - w->place);
    }
}

static void set(place *p, unsigned rd, bool known, bool loaded, uint32_t value)
{
    const uint32_t bit = 1u << rd;
    if (!rd)
        return;
    p->known = known ? p->known | bit : p->known & ~bit;
    p->loaded = known && loaded ? p->loaded | bit : p->loaded & ~bit;
    p->r[rd] = value;
}

/* A variable in the core's own RAM, as it is now. */
static void load(const walk *w, place *p, uint32_t rv)
{
    const unsigned base = wg_rv_rs1(rv);
    const uint32_t own = p->r[base] + wg_rv_imm_i(rv) - OWN_RAM;
    uint32_t value = 0;
    const bool known =
        wg_rv_funct3(rv) == 2 && p->known >> base & 1 && !(own & 3) && own < w->t->spec->core[w->core].ram_bytes;
    if (known)
        memcpy(&value, (const uint8_t *)w->t->core[w->core].ram + own, sizeof value);
    set(p, wg_rv_rd(rv), known, true, value);
}

/* True: it stores to the address. */
static bool stores(walk *w, const place *p, uint32_t rv, uint32_t offset)
{
    const unsigned base = wg_rv_rs1(rv);
    if (!(p->known >> base & 1)) {
        w->unknown_store = true;
        return false;
    }
    const bool hits = ((p->r[base] + offset) & ~3u) == (w->address & ~3u);
    if (hits && p->loaded >> base & 1)
        w->loaded_at = p->pc;
    return hits && !(p->loaded >> base & 1);
}

static void call(walk *w, const place *p, uint32_t target, unsigned rd, bool known)
{
    place to = *p;
    set(&to, rd, true, false, p->pc + 4);
    if (known)
        reach(w, target, &to);
    else
        w->unknown_jump = true;
    if (!rd)
        return;
    place back = *p;
    back.known &= SAVED_REGISTERS;
    back.loaded &= SAVED_REGISTERS;
    reach(w, p->pc + 4, &back);
}

/* Registers and memory behind an instruction that is no jump. */
static void compute(const walk *w, place *p, uint32_t rv)
{
    const unsigned rd = wg_rv_rd(rv), rs1 = wg_rv_rs1(rv), rs2 = wg_rv_rs2(rv);
    const bool known1 = p->known >> rs1 & 1, known2 = p->known >> rs2 & 1;
    switch (wg_rv_opcode(rv)) {
    case WG_RV_LUI: set(p, rd, true, false, wg_rv_imm_u(rv)); break;
    case WG_RV_AUIPC: set(p, rd, true, false, wg_rv_imm_u(rv) + p->pc); break;
    case WG_RV_IMMEDIATE:
        set(p, rd, known1 && !(wg_rv_funct3(rv) % 4 == 1 && wg_rv_funct7(rv) & 0x5F), p->loaded >> rs1 & 1,
            wg_rv_compute(rv, p->r[rs1], wg_rv_imm_i(rv)));
        break;
    case WG_RV_ALU:
        if (wg_rv_funct7(rv) == 0 || wg_rv_funct7(rv) == 0x20)
            set(p, rd, known1 && known2, (p->loaded >> rs1 | p->loaded >> rs2) & 1,
                wg_rv_compute(rv, p->r[rs1], p->r[rs2]));
        else
            set(p, rd, false, false, 0);
        break;
    case WG_RV_LOAD: load(w, p, rv); break;
    case WG_RV_STORE:
    case WG_RV_BRANCH: break;
    default: set(p, rd, false, false, 0); break;
    }
}

/* True: this instruction stores to the address. */
static bool step(walk *w, const place *from)
{
    uint32_t rv;
    place p = *from;
    wg_code_word(w->t, p.pc, &rv);
    if (wg_rv_is_ttinsn(rv)) { /* a `.ttinsn` */
        reach(w, p.pc + 4, &p);
        return false;
    }
    const uint32_t jalr_to = (p.r[wg_rv_rs1(rv)] + wg_rv_imm_i(rv)) & ~1u;
    switch (wg_rv_opcode(rv)) {
    case WG_RV_JAL: call(w, &p, p.pc + wg_rv_imm_j(rv), wg_rv_rd(rv), true); return false;
    case WG_RV_JALR: call(w, &p, jalr_to, wg_rv_rd(rv), p.known >> wg_rv_rs1(rv) & 1); return false;
    case WG_RV_BRANCH: reach(w, p.pc + wg_rv_imm_b(rv), &p); break;
    case WG_RV_STORE:
        if (stores(w, &p, rv, wg_rv_imm_s(rv)))
            return true;
        break;
    case WG_RV_ATOMIC:
        if ((rv >> 27) != 2 && stores(w, &p, rv, 0)) /* 2: LR */
            return true;
        break;
    default:
        if (rv == WG_RV_EBREAK || rv == WG_RV_ECALL) /* ebreak, ecall: it parks */
            return false;
        break;
    }
    compute(w, &p, rv);
    reach(w, p.pc + 4, &p);
    return false;
}

wg_reachable wg_core_stores_to(const wg_device *dev, unsigned core, uint32_t from, uint32_t address, uint32_t *pc)
{
    walk w = {.t = dev->tile, .core = core, .address = address};
    place begin = {.known = UINT32_MAX};
    bool found = false;
    *pc = 0;
    memcpy(begin.r, dev->tile->core[core].run.r, sizeof begin.r);
    w.place = calloc(PLACES, sizeof *w.place);
    w.queue = malloc(PLACES * sizeof *w.queue);
    if (!w.place || !w.queue) {
        free(w.place);
        free(w.queue);
        return WG_REACH_MAYBE;
    }
    reach(&w, from, &begin);
    for (unsigned at = 0; at < w.queued && at < STEPS && !found; at++) {
        place *p = &w.place[w.queue[at % PLACES]];
        p->queued = false;
        found = step(&w, p);
        *pc = found ? p->pc : 0;
    }
    const bool maybe = w.unknown_store || w.unknown_jump || w.queued >= STEPS || w.loaded_at;
    *pc = found ? *pc : w.loaded_at;
    free(w.place);
    free(w.queue);
    return found ? WG_REACH_SURELY : maybe ? WG_REACH_MAYBE : WG_REACH_NO;
}
