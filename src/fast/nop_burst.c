/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of NOPs: threads whose MOP Expanders give one NOP after the other, each for itself, and nobody else who acts
 * before some cycle. They pass the gate one per cycle and wake nobody.
 */
#include "fast/bursts.h"

#include "frontend/mop.h"

enum { LEAST = 4 /* cycles: fewer are not worth it */ };

/* For how many cycles a thread has nothing else to do. */
static unsigned nops(const wg_tile *t, const wg_frontend *f)
{
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][f->mop_cfg[5] >> 24];
    unsigned more = wg_mop_more(f);
    if (more < LEAST || f->mop.alternates || kind->marks != WG_E_PASSES ||
        (f->mop_cfg[5] | 1u << 31) & kind->spare_bits || f->replay_busy || f->gate_busy || f->latch.block ||
        f->push_waits & WG_WAITS_B || f->down_head == f->gate_end || f->gate_end == f->down_end)
        return 0;
    for (uint8_t i = f->down_head; i != f->down_end; i++)
        if ((f->down[i % WG_DOWN_RING] & ~(unsigned)WG_E_PLACE) != WG_E_PASSES)
            return 0;
    return more;
}

unsigned wg_nop_burst(wg_tile *t, unsigned threads, uint64_t until)
{
    uint64_t cycles = until - t->sched.now;
    if (t->sched.watch_idle)
        return 0;
    for (unsigned mask = threads; mask; mask &= mask - 1) {
        uint64_t most = nops(t, &t->frontend[__builtin_ctz(mask)]);
        cycles = most < cycles ? most : cycles;
    }
    if (cycles < LEAST)
        return 0;
    for (unsigned mask = threads; mask; mask &= mask - 1) {
        wg_frontend *f = wg_frontend_of(t, (unsigned)__builtin_ctz(mask));
        f->moved = true;
        wg_mop_goes_on(t, f, (unsigned)cycles);
    }
    return (unsigned)cycles;
}
