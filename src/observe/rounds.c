/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/rounds.h"

#include "machine/tile_regs.h"

#include "isa/riscv_word.h"
#include "machine/request.h"

/* Time advances by itself: reading and comparing it is not progress. */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static void piece_ends(wg_rounds_core *k)
{
    unsigned last = (k->pieces - 1) % WG_ROUNDS_PIECES;
    /* A loop without memory accesses is a delay, whatever its number of iterations. */
    if (k->pieces && !k->memory && k->piece[last] == k->signature)
        return;
    k->piece[k->pieces++ % WG_ROUNDS_PIECES] = k->signature;
}

static wg_rounds_load *loads(wg_rounds_core *k, uint32_t pc, uint32_t address)
{
    unsigned i = 0, oldest = 0;
    while (i < k->loads && k->load[i].pc != pc) {
        oldest = k->load[i].piece < k->load[oldest].piece ? i : oldest;
        i++;
    }
    if (i == WG_ROUNDS_LOADS)
        i = oldest;
    else if (i == k->loads)
        k->load[k->loads++] = (wg_rounds_load){0};
    if (k->load[i].pc != pc)
        k->load[i] = (wg_rounds_load){.pc = pc};
    k->load[i].address = address ? address : k->load[i].address;
    k->load[i].piece = k->pieces;
    return &k->load[i];
}

/* Counts only if the answer differs from the last one, since a cache decides whether a request is sent at all. */
static void answered(wg_rounds_core *k, uint32_t pc, uint32_t address, uint32_t value)
{
    if (wg_is_wall_clock(address))
        return;
    wg_rounds_load *load = loads(k, pc, address);
    if (load->answered && load->value != value)
        k->signature += mix(mix(1, address), value);
    load->answered = true;
    load->value = value;
}

static void retires(wg_rounds_core *k, const wg_event *e)
{
    uint32_t pc = (uint32_t)e->a, address = 0;
    if (pc <= k->pc) {
        piece_ends(k);
        k->signature = 1;
        k->memory = false;
    }
    k->pc = pc;
    bool load = wg_rv_opcode(e->word) == WG_RV_LOAD, store = wg_rv_opcode(e->word) == WG_RV_STORE;
    unsigned base = wg_rv_rs1(e->word), data = wg_rv_rs2(e->word);
    if ((load || store) && k->known >> base & 1)
        address = k->r[base] + (load ? wg_rv_imm_i(e->word) : wg_rv_imm_s(e->word));
    k->signature = mix(mix(k->signature, pc), address);
    k->memory |= load || store;
    if (load && !wg_is_wall_clock(loads(k, pc, address)->address)) /* the value it found last time */
        k->signature = mix(k->signature, e->b);
    if (store && k->known >> data & 1)
        k->signature = mix(k->signature, k->r[data]);
    if (e->c && e->c < 32) {
        k->r[e->c] = (uint32_t)e->b;
        k->known = load ? k->known & ~(1u << e->c) : k->known | 1u << e->c;
    }
}

void wg_rounds_event(void *rounds, const wg_event *e)
{
    wg_rounds *all = rounds;
    if ((e->kind == WG_EV_CORE_RETIRE || e->kind == WG_EV_ISSUED) && e->agent <= WG_AGENT_THREAD2)
        all->acted[e->agent] = e->cycle + 1;
    if (e->agent >= WG_ROUNDS_CORES)
        return;
    wg_rounds_core *k = &all->core[e->agent];
    if (e->kind == WG_EV_CORE_RETIRE)
        retires(k, e);
    else if (e->kind == WG_EV_CORE_REQUEST && e->c == WG_REQ_READ)
        loads(k, e->pc, (uint32_t)e->a);
    else if (e->kind == WG_EV_CORE_RESPONSE && e->c == WG_REQ_READ)
        answered(k, e->pc, (uint32_t)e->a, (uint32_t)e->b);
}

/* The number of pieces after which everything repeats; 0: none. */
static unsigned period_of(const wg_rounds_core *k)
{
    unsigned have = k->pieces < WG_ROUNDS_PIECES ? k->pieces : WG_ROUNDS_PIECES;
    have -= have / 4; /* the repetition may have started only recently */
    for (unsigned period = 1; have >= 8 && period <= have / 3; period++) {
        unsigned same = 0;
        while (same < have - period && k->piece[(k->pieces - 1 - same) % WG_ROUNDS_PIECES] ==
                                           k->piece[(k->pieces - 1 - same - period) % WG_ROUNDS_PIECES])
            same++;
        if (same == have - period)
            return period;
    }
    return 0;
}

bool wg_rounds_repeats(const wg_rounds *rounds, unsigned core, wg_rounds_load *load, unsigned most, unsigned *loads)
{
    const wg_rounds_core *k = &rounds->core[core];
    unsigned period = period_of(k), count = 0;
    bool any = false;
    for (unsigned i = 0; period && i < k->loads; i++)
        if (k->load[i].piece + period >= k->pieces && !wg_is_wall_clock(k->load[i].address)) {
            any = true;
            if (count < most)
                load[count++] = k->load[i];
        }
    *loads = count;
    return any;
}
