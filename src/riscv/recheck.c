/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stale value only cost a polling core one more round? The code behind the load is followed with the core's registers
 * and that value, until the core looks at the location again behind a fence. It then has to go round without the value:
 * whatever was computed from it is computed anew.
 *
 *            lw   a5, 0(a4)        a5: stale
 *            bltu a2, a5, out      not taken
 *     again: fence
 *            lw   a5, 0(a4)        nothing is left of the stale value
 *            bgeu a2, a5, again
 *
 * Facts: BabyRISCV/MemoryOrdering.md (a fence flushes the L0 data cache).
 */
#include "isa/riscv_word.h"
#include "machine/memory.h"
#include "riscv/follow.h"
#include "riscv/lsu.h"

enum { MOST = 96 /* instructions */, STALE = 1 };

typedef struct look {
    uint32_t address, value;
    unsigned size, rounds;
    bool harmless;
} look;

static bool anything_stale(const wg_follow *f)
{
    bool any = false;
    for (unsigned i = 1; i < 32; i++)
        any |= f->x[i].from & STALE;
    for (unsigned i = 0; i < f->variables; i++)
        any |= f->variable[i].is.from & STALE;
    return any;
}

static bool load(wg_follow *f, uint32_t address, unsigned size, wg_held *value)
{
    look *l = f->user;
    if ((address ^ l->address) & ~3u) {
        *value = wg_follow_memory(f, address, size);
        return true;
    }
    if (!f->fenced || address != l->address || size != l->size)
        return false;
    l->harmless = l->rounds++ && !anything_stale(f);
    f->fenced = false;
    *value = (wg_held){.value = l->value, .known = true};
    return !l->harmless;
}

bool wg_lsu_looks_again(const wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint32_t value)
{
    look l = {.address = address, .size = size, .value = value};
    wg_follow f;
    uint32_t rv;
    if (!wg_code_word(t, pc, &rv) || wg_rv_opcode(rv) != WG_RV_LOAD || !wg_follow_begin(&f, t, core, pc + 4))
        return false;
    f.load = load;
    f.user = &l;
    if (wg_rv_rd(rv))
        f.x[wg_rv_rd(rv)] = (wg_held){value, true, STALE};
    for (unsigned n = 0; n < MOST && wg_follow_step(&f) && !f.shares; n++)
        continue;
    return l.harmless;
}
