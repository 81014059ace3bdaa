/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's instructions as data: handler, sub-unit, operands; which LRegs they read and
 * write, actually and for BH's interlock; latencies; differences between the architectures.
 *
 * Facts: VectorUnit.md, SFPLOADMACRO.md (sub-units), SFPMAD.md "Instruction scheduling" (the interlock
 * and its holes), SFPLUTFP32.md, SFPSTOCHRND_*.md (false dependency on VB).
 */
#include "backend/vector.h"

const wg_vector_traits wg_vector_traits_of[2] = {
    [WG_ARCH_BH] = {.interlock = true,
                    .sign_modes = true,
                    .use_vb = true,
                    .shift_modes = true,
                    .cast_modes = true,
                    .push_modes = true,
                    .store_flushes = true,
                    .int8_magnitude = 0xFF,
                    .rounding_mode = WG_FIELD_PLACE(BH, SFP_STOCH_RND, rnd_mode),
                    .addr_mod = WG_FIELD_PLACE(BH, SFPLOAD, sfpu_addr_mode)},
    [WG_ARCH_WH] = {.pop_overwrites = true,
                    .shift_in_stale = true,
                    .twos_complement = true,
                    .int8_magnitude = 0x7F,
                    .rounding_mode = WG_FIELD_PLACE(WH, SFP_STOCH_RND, rnd_mode),
                    .addr_mod = WG_FIELD_PLACE(WH, SFPLOAD, sfpu_addr_mode)},
};

#define ROW(name, fn, sub, ...) \
    [WG_I_##name] = {.run = wg_##fn, .subunit = WG_SUB_##sub, .latency = WG_LATENCY_##name, __VA_ARGS__}
#define REGS .shape = WG_SHAPE_REGS, .backdoor = true
#define MEMORY .shape = WG_SHAPE_MEMORY, .backdoor = true
#define VB .has_vb = true
#define VC .has_vc = true
#define HIDDEN .hidden_reads = true
const wg_vector_info wg_vector_table[WG_I_COUNT] = {
    ROW(SFPLOAD, sfpload, LOAD, MEMORY),
    ROW(SFPLOADI, sfploadi, LOAD, MEMORY),
    ROW(SFPLOADMACRO, sfploadmacro, LOAD, .shape = WG_SHAPE_MEMORY),
    ROW(SFPNOP, sfpnop, LOAD, .shape = WG_SHAPE_NONE),
    ROW(SFPSTORE, sfpstore, STORE, MEMORY),
    ROW(SFPMAD, sfpmad, MAD, REGS, VB, VC),
    ROW(SFPADD, sfpmad, MAD, REGS, VB, VC),
    ROW(SFPMUL, sfpmad, MAD, REGS, VB, VC),
    ROW(SFPMUL24, sfpmul24, MAD, REGS, VB, VC),
    ROW(SFPADDI, sfpaddi, MAD, REGS),
    ROW(SFPMULI, sfpmuli, MAD, REGS),
    ROW(SFPLUT, sfplut, MAD, MEMORY, HIDDEN),
    ROW(SFPLUTFP32, sfplutfp32, MAD, REGS, HIDDEN),
    ROW(SFP_STOCH_RND, sfpstochrnd, ROUND, REGS, VB, VC),
    ROW(SFPSHFT2, sfpshft2, ROUND, REGS, VB, VC, HIDDEN, .special = true),
    ROW(SFPABS, sfpabs, SIMPLE, REGS, VC),
    ROW(SFPAND, sfpand, SIMPLE, REGS, VC),
    ROW(SFPOR, sfpor, SIMPLE, REGS, VC),
    ROW(SFPXOR, sfpxor, SIMPLE, REGS, VC),
    ROW(SFPNOT, sfpnot, SIMPLE, REGS, VC),
    ROW(SFPLZ, sfplz, SIMPLE, REGS, VC),
    ROW(SFPEXEXP, sfpexexp, SIMPLE, REGS, VC),
    ROW(SFPEXMAN, sfpexman, SIMPLE, REGS, VC),
    ROW(SFPSETEXP, sfpsetexp, SIMPLE, REGS, VC),
    ROW(SFPSETMAN, sfpsetman, SIMPLE, REGS, VC),
    ROW(SFPSETSGN, sfpsetsgn, SIMPLE, REGS, VC),
    ROW(SFPDIVP2, sfpdivp2, SIMPLE, REGS, VC),
    ROW(SFPIADD, sfpiadd, SIMPLE, REGS, VC),
    ROW(SFPSHFT, sfpshft, SIMPLE, REGS, VC),
    ROW(SFPCAST, sfpcast, SIMPLE, REGS, VC),
    ROW(SFPMOV, sfpmov, SIMPLE, REGS, VC),
    ROW(SFPARECIP, sfparecip, SIMPLE, REGS, VB, VC),
    ROW(SFPSETCC, sfpsetcc, SIMPLE, REGS, VC),
    ROW(SFPGT, sfpgt, SIMPLE, REGS, VC),
    ROW(SFPLE, sfple, SIMPLE, REGS, VC),
    ROW(SFPENCC, sfpencc, SIMPLE, REGS),
    ROW(SFPCOMPC, sfpcompc, SIMPLE, REGS),
    ROW(SFPPUSHC, sfppushc, SIMPLE, REGS),
    ROW(SFPPOPC, sfppopc, SIMPLE, REGS),
    ROW(SFPTRANSP, sfptransp, SIMPLE, REGS, HIDDEN),
    ROW(SFPSWAP, sfpswap, SIMPLE, REGS, VC, .special = true),
    /* Its VD is not an LReg: no backdoor. */
    ROW(SFPCONFIG, sfpconfig, SIMPLE, .shape = WG_SHAPE_REGS, HIDDEN, .special = true),
};

bool wg_vector_implements(wg_insn_id id) { return (unsigned)id < WG_I_COUNT && wg_vector_table[id].run; }

static uint32_t bit(unsigned lreg) { return UINT32_C(1) << lreg; }
enum { INDIRECT_VA = 4, INDIRECT_VD = 8, ALL_LREGS = 0xFF };

static uint32_t mad_reads(const wg_vector_op *op)
{
    uint32_t reads = bit(op->vb) | bit(op->vc) | (op->mod & (INDIRECT_VA | INDIRECT_VD) ? bit(7) : 0);
    return reads | (op->mod & INDIRECT_VA ? ALL_LREGS : bit(op->va));
}

static uint32_t shft2_reads(const wg_vector_op *op)
{
    switch (op->mod) {
    case 0: return 0xE;
    case 1: return 0xF;
    case 2: return 0xE | bit(op->vc);
    case 3:
    case 4: return bit(op->vc);
    case 5: return bit(op->vb) | bit(op->vc);
    case 6: return bit(op->vb);
    default: return 0;
    }
}

uint32_t wg_vector_reads(const wg_tile *t, const wg_vector_op *op)
{
    uint32_t b = bit(op->vb), c = bit(op->vc), d = bit(op->vd), indirect = op->mod & INDIRECT_VD ? bit(7) : 0;
    bool immediate = op->mod & 1;
    switch (op->insn) {
    case WG_I_SFPMAD:
    case WG_I_SFPADD:
    case WG_I_SFPMUL:
    case WG_I_SFPMUL24: return mad_reads(op);
    case WG_I_SFPADDI:
    case WG_I_SFPMULI: return c | indirect;
    case WG_I_SFPLUT: return 0xF | indirect;
    case WG_I_SFPLUTFP32: return ((op->mod & 10) == 10 ? 0xF : 0x7F) | indirect;
    case WG_I_SFPAND:
    case WG_I_SFPOR:
    case WG_I_SFPXOR:
    case WG_I_SFPGT:
    case WG_I_SFPLE: return b | c;
    case WG_I_SFPIADD:
    case WG_I_SFPSETEXP:
    case WG_I_SFPSETMAN:
    case WG_I_SFPSETSGN: return immediate ? c : b | c;
    case WG_I_SFPSHFT:
        if (!immediate)
            return b | c;
        return op->mod & 4 && wg_vector_traits_for(t)->shift_modes ? c : b;
    case WG_I_SFPABS:
    case WG_I_SFPNOT:
    case WG_I_SFPLZ:
    case WG_I_SFPEXEXP:
    case WG_I_SFPEXMAN:
    case WG_I_SFPDIVP2:
    case WG_I_SFPCAST: return c;
    case WG_I_SFPMOV: return op->mod & 8 ? 0 : c;
    case WG_I_SFPSETCC: return op->mod & 9 ? 0 : c;
    case WG_I_SFPARECIP: return op->mod == 1 ? b | c : c;
    case WG_I_SFP_STOCH_RND: return (op->mod & 14) == 4 ? b | c : c; /* VB only if it holds the shift */
    case WG_I_SFPSHFT2: return shft2_reads(op);
    case WG_I_SFPSWAP: return op->mod ? c | d : 0; /* in its first cycle */
    case WG_I_SFPTRANSP: return ALL_LREGS;
    case WG_I_SFPCONFIG: {
        unsigned to = WG_GET(SFPCONFIG, config_dest, op->word);
        return to == 9 || to == 10 || (immediate && to >= 4) ? 0 : bit(0);
    }
    case WG_I_SFPSTORE: return d;
    case WG_I_SFPLOAD: return op->mod >= 14 ? d : 0;
    case WG_I_SFPLOADI: return op->mod & 8 ? d : 0;
    default: return 0;
    }
}

/* Decided here: the mode's actual reads, except where a page says that the logic is wrong. */
uint32_t wg_vector_believed_reads(const wg_tile *t, const wg_vector_op *op)
{
    if (wg_vector_reads_late(t, op))
        return 0;
    switch (op->insn) {
    case WG_I_SFPAND:
    case WG_I_SFPOR: return bit(op->vc) | bit(op->vd);
    case WG_I_SFPIADD: return bit(op->vc);
    case WG_I_SFPSHFT: return !(op->mod & 1) || op->mod & 4 ? bit(op->vc) : 0;
    case WG_I_SFPCONFIG:
    case WG_I_SFPSWAP: return 0;
    case WG_I_SFPSHFT2:
        if (wg_vector_is_shuffle(op))
            return 0;
        if (op->mod >= 5)
            return bit(op->vd) | (op->mod == 5 ? bit(op->vc) : 0);
        return wg_vector_reads(t, op);
    case WG_I_SFP_STOCH_RND: return bit(op->vb) | bit(op->vc);
    case WG_I_SFPLUTFP32:
        return WG_OPERAND(BH, SFPLUTFP32, Mod1Mirror, op->word) & INDIRECT_VD ? ALL_LREGS : ALL_LREGS & ~bit(7);
    default: return wg_vector_reads(t, op);
    }
}
