/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over a core's loaded code. A word whose low two bits are not 11 is a `.ttinsn`; the others are RV32.
 * Facts: the base instruction formats; PushTensixInstruction.md, PCBufs.md (the semaphore window).
 */
#include "explain/reachable.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "isa/riscv_word.h"
#include "machine/device.h"

enum {
    RA = 1,
    SP = 2,
    FRAMES = 64 /* return addresses of callers, at most */
};
#define INSTRUCTION_BUFFERS UINT32_C(0xFFE40000)
#define INSTRUCTION_BUFFERS_END UINT32_C(0xFFE70000)
#define PC_BUFFER UINT32_C(0xFFE80000)
#define SEMAPHORES_FROM UINT32_C(0x20) /* from there on, a word each */
#define OWN_RAM UINT32_C(0xFFB00000)

typedef struct walk {
    wg_device *dev;
    const wg_tile *t;
    unsigned core;
    uint32_t from;
    const wg_wanted *wanted;
    uint32_t words;  /* of L1 */
    uint8_t *seen;   /* a bit for each of them */
    uint32_t *queue; /* to be visited */
    uint32_t queued;
    bool stores, unknown_jump;
    bool names_buffer, names_pc_buffer, names_offset; /* constants: an instruction buffer, the PC buffer's page, … */
    bool found, named;                                /* a `.ttinsn` of it; its word, or the semaphore's address */
    bool found_itself;                                /* … and not one that expands to it */
    uint32_t found_at, named_at;
} walk;

static bool code_at(const walk *w, uint32_t pc, uint32_t *word)
{
    if (pc & 3 || pc / 4 >= w->words)
        return false;
    memcpy(word, w->t->l1 + pc, sizeof *word);
    return true;
}

static void visit(walk *w, uint32_t pc)
{
    if (pc & 3 || pc / 4 >= w->words || w->seen[pc / 32] >> (pc / 4 % 8) & 1)
        return;
    w->seen[pc / 32] |= (uint8_t)(1u << (pc / 4 % 8));
    w->queue[w->queued++] = pc; /* has room for every word: each is queued once */
}

/* A constant that the program contains or computes. */
static void note_constant(walk *w, uint32_t value, uint32_t pc)
{
    const wg_wanted *wanted = w->wanted;
    bool buffer = value >= INSTRUCTION_BUFFERS && value < INSTRUCTION_BUFFERS_END;
    bool own = wanted->semaphore < WG_SEMAPHORES && w->core >= WG_CORE_T0;
    w->names_buffer |= buffer;
    w->names_pc_buffer |= value >> 12 == PC_BUFFER >> 12;
    if ((own && value == PC_BUFFER + SEMAPHORES_FROM + 4 * wanted->semaphore) ||
        wanted->test(w->t->arch, value, wanted->argument)) {
        w->named = true;
        w->named_at = pc;
    }
}

/* The contents of the thread's expanders count if an instruction that starts them is reachable. */
static bool expands_to_it(const walk *w, uint32_t word)
{
    const wg_frontend *f = &w->t->frontend[w->core >= WG_CORE_T0 ? w->core - WG_CORE_T0 : 0];
    const uint32_t *words = NULL;
    unsigned count = 0;
    if (wg_opcode(word) == WG_OPCODE_MOP) {
        words = f->mop_cfg;
        count = WG_MOP_CFG_WORDS;
    } else if (wg_opcode(word) == WG_OPCODE_REPLAY) {
        words = f->replay.slot;
        count = WG_REPLAY_SLOTS;
    }
    for (unsigned i = wg_opcode(word) == WG_OPCODE_MOP ? 2 : 0; i < count; i++)
        if (w->wanted->test(w->t->arch, words[i], w->wanted->argument))
            return true;
    return false;
}

static void tensix(walk *w, uint32_t pc, uint32_t word)
{
    const bool itself = w->wanted->test(w->t->arch, word, w->wanted->argument);
    if ((itself && !w->found_itself) || (!w->found && expands_to_it(w, word))) {
        w->found = true;
        w->found_itself = itself;
        w->found_at = pc;
    }
    visit(w, pc + 4);
}

/* The target of a jump through a register that the previous instruction has set; false: not known. */
static bool set_before(const walk *w, uint32_t pc, uint32_t i, uint32_t *target)
{
    uint32_t before, offset = wg_rv_imm_i(i);
    if (!code_at(w, pc - 4, &before) || (before >> 7 & 31) != (i >> 15 & 31))
        return false;
    if ((before & 0x7F) != WG_RV_AUIPC && (before & 0x7F) != WG_RV_LUI)
        return false;
    *target = (before & 0xFFFFF000u) + offset + ((before & 0x7F) == WG_RV_AUIPC ? pc - 4 : 0);
    return true;
}

static void jalr(walk *w, uint32_t pc, uint32_t i)
{
    uint32_t target;
    unsigned rd = i >> 7 & 31, rs1 = i >> 15 & 31;
    if (rd)
        visit(w, pc + 4); /* it returns */
    else if (rs1 == RA)
        return; /* a return: callers are visited on their own */
    if (set_before(w, pc, i, &target))
        visit(w, target);
    else
        w->unknown_jump = true;
}

/* lui, and the addi after it. */
static void constant(walk *w, uint32_t pc, uint32_t lui)
{
    uint32_t next, value = lui & 0xFFFFF000u;
    note_constant(w, value, pc);
    if (code_at(w, pc + 4, &next) && (next & 0x707F) == WG_RV_IMMEDIATE && (next >> 15 & 31) == (lui >> 7 & 31))
        note_constant(w, value + wg_rv_imm_i(next), pc);
}

static void step(walk *w, uint32_t pc)
{
    uint32_t i;
    if (!code_at(w, pc, &i))
        return;
    if ((i & 3) != 3) {
        tensix(w, pc, wg_ttinsn_decode(i));
        return;
    }
    switch (i & 0x7F) {
    case WG_RV_JAL:
        if (i >> 7 & 31)
            visit(w, pc + 4);
        visit(w, pc + wg_rv_imm_j(i));
        return;
    case WG_RV_JALR: jalr(w, pc, i); return;
    case WG_RV_BRANCH: visit(w, pc + wg_rv_imm_b(i)); break;
    case WG_RV_LUI: constant(w, pc, i); break;
    case WG_RV_IMMEDIATE: w->names_offset |= i >> 20 == SEMAPHORES_FROM + 4 * w->wanted->semaphore; break;
    case WG_RV_STORE:
        w->stores = true;
        w->names_offset |= wg_rv_imm_s(i) == SEMAPHORES_FROM + 4 * w->wanted->semaphore ||
                           wg_rv_imm_s(i) == SEMAPHORES_FROM; /* an index may be in the register */
        break;
    case WG_RV_SYSTEM:
        if (i == WG_RV_EBREAK || i == WG_RV_ECALL) /* ebreak, ecall: it parks */
            return;
        break;
    default: break;
    }
    visit(w, pc + 4);
}

/* Is the word the address after a call? */
static bool is_return_address(const walk *w, uint32_t value)
{
    uint32_t call;
    if (!value || !code_at(w, value - 4, &call))
        return false;
    return ((call & 0x7F) == WG_RV_JAL || (call & 0x7F) == WG_RV_JALR) && (call >> 7 & 31) == RA;
}

/* Callers: the return address in ra, and those on the stack. Pointers to instruction buffers are there, too. */
static void frames(walk *w)
{
    uint32_t x[32] = {0}, bytes = w->t->spec->core[w->core].ram_bytes;
    unsigned found = 0;
    for (unsigned i = 1; i < 32; i++) {
        wg_peek(w->dev, WG_SPACE_CORE_X, w->core * 32 + i, &x[i]);
        note_constant(w, x[i], w->from);
    }
    if (is_return_address(w, x[RA]))
        visit(w, x[RA]);
    uint32_t sp = x[SP] - OWN_RAM;
    for (uint32_t at = 0; at + 4 <= bytes; at += 4) {
        uint32_t value;
        memcpy(&value, w->t->core[w->core].ram + at, sizeof value);
        note_constant(w, value, w->from);
        if (sp < bytes && at >= (sp & ~3u) && found < FRAMES && is_return_address(w, value)) {
            visit(w, value);
            found++;
        }
    }
}

wg_reachable wg_core_reaches(wg_device *dev, unsigned core, uint32_t from, const wg_wanted *wanted, uint32_t *pc)
{
    const wg_tile *t = dev->tile;
    walk w = {.dev = dev, .t = t, .core = core, .from = from, .wanted = wanted, .words = t->spec->l1_bytes / 4};
    if (from / 4 >= w.words)
        return WG_REACH_MAYBE; /* it executes from elsewhere */
    w.seen = calloc(w.words / 8 + 1, 1);
    w.queue = malloc(w.words * sizeof *w.queue);
    if (!w.seen || !w.queue) {
        free(w.seen);
        free(w.queue);
        return WG_REACH_MAYBE;
    }
    frames(&w);
    visit(&w, from);
    while (w.queued)
        step(&w, w.queue[--w.queued]);
    free(w.seen);
    free(w.queue);
    *pc = w.found ? w.found_at : w.named_at;
    if (w.found || (w.named && w.stores && (w.names_buffer || w.names_pc_buffer)))
        return WG_REACH_SURELY;
    bool semaphore = wanted->semaphore < WG_SEMAPHORES && core >= WG_CORE_T0 && w.names_pc_buffer && w.names_offset;
    return w.unknown_jump || (w.stores && (w.names_buffer || semaphore)) ? WG_REACH_MAYBE : WG_REACH_NO;
}
