/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order test. An earlier touch by instruction i of thread t in unit U is before b if b's clock has D(U, t) ≥ i; or
 * if the architecture keeps the two in order once b's clock has I(t) ≥ i, or some instructions later:
 *
 *     both in one unit that keeps order                    I(t) ≥ i
 *     SETC16, RMWCIB, Scalar execution, Miscellaneous      I(t) ≥ i + 1     complete before the next instruction
 *     WRCFG, CFGSHIFTMASK                                  I(t) ≥ i + 2     not for the next instruction
 *     Matrix Unit's write to Dst, then Matrix Unit, PACR   I(t) ≥ i         hardware holds any thread (Dst.md)
 *     … then SFPLOAD, SFPSTORE                             I(t) ≥ i + 4     three instructions in between (SFPLOAD.md)
 *     Matrix Unit, latency 1 (SETRWC, ZEROACC …)           I(t) ≥ i + 1     MatrixUnit.md
 *
 * One thread's instructions are in the order in which they pass the gate if one core pushed them. B and the thread's
 * core can both push: between their instructions, that order is accidental.
 *
 * Packets of one tile on one virtual channel are in order of issue (NoC/Ordering.md); others, and all answers, are not.
 *
 * Facts: WRCFG.md, CFGSHIFTMASK.md, STREAMWRCFG.md, RDCFG.md, Dst.md, SFPLOAD.md, MemoryOrdering.md; GATE-23.
 */
#include "explain/race_state.h"

static const char *const texts[WG_RACE_UNITS] = {[WG_RU_UNPACK0] = "Unpacker 0",
                                                 [WG_RU_UNPACK1] = "Unpacker 1",
                                                 [WG_RU_MATRIX] = "the Matrix Unit",
                                                 [WG_RU_VECTOR] = "the Vector Unit",
                                                 [WG_RU_PACK0] = "the packer",
                                                 [WG_RU_PACK1] = "packer 1",
                                                 [WG_RU_PACK2] = "packer 2",
                                                 [WG_RU_PACK3] = "packer 3",
                                                 [WG_RU_SCALAR] = "the Scalar Unit",
                                                 [WG_RU_MEMORY] = "the Scalar Unit's memory access",
                                                 [WG_RU_CONFIG] = "the Configuration Unit",
                                                 [WG_RU_CONFIG_LATE] = "the Configuration Unit",
                                                 [WG_RU_CONFIG_SLOW] = "the Configuration Unit",
                                                 [WG_RU_CONFIG_RESULT] = "the Configuration Unit",
                                                 [WG_RU_MOVER] = "the Mover",
                                                 [WG_RU_MISC] = "the Miscellaneous Unit",
                                                 [WG_RU_SYNC] = "the Sync Unit",
                                                 [WG_RU_READ_UNPACK0] = "Unpacker 0",
                                                 [WG_RU_READ_UNPACK1] = "Unpacker 1",
                                                 [WG_RU_READ_MATRIX] = "the Matrix Unit",
                                                 [WG_RU_READ_VECTOR] = "the Vector Unit",
                                                 [WG_RU_READ_PACK] = "the packer"};

const char *wg_race_unit_text(unsigned unit) { return unit < WG_RACE_UNITS ? texts[unit] : "a core"; }

_Static_assert(WG_LATENCY_SETC16 == WG_LATENCY_RMWCIB0 && WG_LATENCY_CFGSHIFTMASK == WG_LATENCY_WRCFG,
               "one latency for each of the Configuration Unit's orders");

/* The number of later instructions of the thread after which the unit is done in any case; 0: only a wait tells. */
static unsigned done_after(const wg_races *r, unsigned unit)
{
    switch (unit) {
    case WG_RU_SCALAR: return 1; /* it holds its thread */
    case WG_RU_MISC: return WG_LATENCY_SETADC;
    case WG_RU_SYNC: return WG_LATENCY_SEMPOST;
    case WG_RU_CONFIG: return WG_LATENCY_RMWCIB0;
    case WG_RU_CONFIG_LATE: return WG_LATENCY_WRCFG;
    case WG_RU_CONFIG_RESULT: return r->arch->rdcfg_holds_thread;
    default: return 0;
    }
}

/* Do both go to one unit that keeps them in order? STREAMWRCFG can be overtaken but overtakes nothing. */
static bool in_one_unit(unsigned a, unsigned b)
{
    if (b == WG_RU_CONFIG_SLOW)
        return a == WG_RU_CONFIG || a == WG_RU_CONFIG_LATE || a == WG_RU_CONFIG_SLOW;
    return (a == WG_RU_CONFIG_LATE ? WG_RU_CONFIG : a) == (b == WG_RU_CONFIG_LATE ? WG_RU_CONFIG : b);
}

static bool is_pack(unsigned unit) { return unit >= WG_RU_PACK0 && unit <= WG_RU_PACK3; }

bool wg_race_ordered(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, unsigned how)
{
    uint32_t known = b->clock->v[a->k];
    if (b->clock2 && b->clock2->v[a->k] > known)
        known = b->clock2->v[a->k];
    if (a->k == b->own_k && b->own_v > known)
        known = b->own_v;
    /* A stream is in order with itself where the NoC keeps packets in order. Writes do not wait for reads. */
    bool behind = a->k == b->k && b->value > known && (a->k >= WG_K_P || wg_race_one_pusher(a, b));
    bool packet = a->k >= WG_K_RMT && a->k < WG_K_LOOSE;
    if (packet)
        behind = behind && a->how & WG_TOUCH_WRITE && wg_race_packet_before(r, a->core_v, b);
    if (behind && !wg_k_unordered(a->k))
        known = b->value;
    bool behind_it = b->seq && b->thread == a->thread && wg_race_one_pusher(a, b);
    if (behind_it && b->seq > known && a->k == (unsigned)WG_K_I + b->thread)
        known = b->seq;
    if (known >= a->value)
        return true;
    if (a->thread & 0x80) /* a core's own accesses to L1 are in order despite its caches */
        return a->thread == b->thread && (a->thread & 0x7F) < WG_RACE_NOC_CODE && space == WG_TOUCH_L1;
    if (a->unit >= WG_RACE_UNITS)
        return false;
    unsigned thread = a->thread;
    uint32_t passed = b->clock->v[WG_K_I + thread];
    if (b->clock2 && b->clock2->v[WG_K_I + thread] > passed)
        passed = b->clock2->v[WG_K_I + thread];
    if (behind_it && b->seq > passed)
        passed = b->seq;
    unsigned gap = a->how & WG_RACE_PROMPT ? 1 : done_after(r, a->unit);
    if (gap && passed >= a->value + gap)
        return true;
    if (passed < a->value)
        return false;
    if (b->unit < WG_RACE_UNITS && in_one_unit(a->unit, b->unit))
        return true;
    if (space == WG_TOUCH_DST && a->unit == WG_RU_MATRIX) {
        if (a->how & WG_TOUCH_WRITE && (b->unit == WG_RU_MATRIX || is_pack(b->unit)))
            return true;
        if (b->unit == WG_RU_VECTOR && (a->how | how) & WG_TOUCH_WRITE)
            return passed >= a->value + 4;
    }
    return false;
}

bool wg_race_was_over(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, unsigned how)
{
    if (!b->seq || b->thread >= WG_THREADS)
        return false;
    if (b->unit < WG_RACE_UNITS && wg_race_clock(r, a->snap)->v[wg_k_d(b->unit, b->thread)] >= b->seq)
        return true;
    unsigned gap = how & WG_RACE_PROMPT ? 1 : 0;
    if (!gap && space == WG_TOUCH_DST && b->unit == WG_RU_MATRIX && a->unit == WG_RU_VECTOR)
        gap = 4;
    if (!gap)
        return false;
    uint32_t passed = wg_race_clock(r, a->snap)->v[WG_K_I + b->thread];
    if (a->thread == b->thread && a->value > passed && wg_race_one_pusher(a, b))
        passed = a->value;
    return passed >= b->seq + gap;
}
