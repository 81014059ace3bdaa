/* SPDX-License-Identifier: Apache-2.0 */
/* Read/write counters: address modifiers, SETRWC, INCRWC. Facts: RWCs.md, SETRWC.md, INCRWC.md. */
#include "machine/rwc.h"

#include "isa/isa.h"

enum { SRC_MASK = 0x3F, DST_MASK = 0x3FF };

const wg_rwc_layout wg_rwc_layouts[2] = {
    [WG_ARCH_BH] = {.ab = 12, .ab_stride = 1, .dst = 28, .bias = 47, .index_bits = 3, .set_base = -1},
    [WG_ARCH_WH] = {.ab = 7, .ab_stride = 2, .dst = 23, .bias = 48, .index_bits = 2, .set_base = 2},
};

/*
 * One source counter: six bits of increment, then CR, then Clear. BH's ADDR_MOD_AB2 holds a seventh
 * increment bit, which has no effect on a six-bit counter.
 */
static void move_src(uint8_t *counter, uint8_t *cr, unsigned spec)
{
    unsigned increment = spec & 0x3F;
    if (spec & 0x80) {
        *counter = *cr = 0;
    } else if (spec & 0x40) {
        *cr = (uint8_t)((*cr + increment) & SRC_MASK);
        *counter = *cr;
    } else {
        *counter = (uint8_t)((*counter + increment) & SRC_MASK);
    }
}

void wg_rwc_apply(wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config, unsigned addr_mod,
                  bool update_fidelity)
{
    const wg_rwc_layout *l = &wg_rwc_layouts[arch];
    unsigned section = wg_rwc_section(r, arch, thread_config, addr_mod);
    unsigned ab = thread_config[l->ab + section * l->ab_stride];
    unsigned dst = thread_config[l->dst + section];
    unsigned bias = thread_config[l->bias + section];
    if (wg_rwc_moves_on(ab, dst, bias)) {
        r->srca = (uint8_t)((r->srca + ab) & SRC_MASK);
        r->srcb = (uint8_t)((r->srcb + (ab >> 8)) & SRC_MASK);
        r->dst = (uint16_t)((r->dst + dst) & DST_MASK);
        if (update_fidelity)
            r->fidelity = (uint8_t)((r->fidelity + (dst >> 13)) & 3);
        return;
    }

    move_src(&r->srca, &r->srca_cr, ab & 0xFF);
    move_src(&r->srcb, &r->srcb_cr, ab >> 8);

    unsigned increment = dst & DST_MASK;
    if (dst >> 11 & 1) { /* DestClear wins over DestCToCR, which wins over DestCR */
        r->dst = r->dst_cr = 0;
    } else if (dst >> 12 & 1) {
        r->dst = r->dst_cr = (uint16_t)((r->dst + increment) & DST_MASK);
    } else if (dst >> 10 & 1) {
        r->dst = r->dst_cr = (uint16_t)((r->dst_cr + increment) & DST_MASK);
    } else {
        r->dst = (uint16_t)((r->dst + increment) & DST_MASK);
    }
    if (update_fidelity)
        r->fidelity = dst >> 15 & 1 ? 0 : (uint8_t)((r->fidelity + (dst >> 13 & 3)) & 3);

    if (bias >> 4 & 1)
        r->extra_addr_mod = 0;
    else if (bias & 3)
        r->extra_addr_mod ^= 1;
}

void wg_rwc_set(wg_rwc_thread *r, uint32_t word)
{
    unsigned cr = WG_GET(SETRWC, rwc_cr, word), sets = WG_GET(SETRWC, BitMask, word);
    if (sets & 1) {
        unsigned value = WG_GET(SETRWC, rwc_a, word) + (cr & 1 ? r->srca_cr : 0);
        r->srca = r->srca_cr = (uint8_t)(value & SRC_MASK);
    }
    if (sets & 2) {
        unsigned value = WG_GET(SETRWC, rwc_b, word) + (cr & 2 ? r->srcb_cr : 0);
        r->srcb = r->srcb_cr = (uint8_t)(value & SRC_MASK);
    }
    if ((sets & 4) || (cr & 8)) {
        unsigned value = WG_GET(SETRWC, rwc_d, word) + (cr & 8 ? r->dst : cr & 4 ? r->dst_cr : 0);
        r->dst = r->dst_cr = (uint16_t)(value & DST_MASK);
    }
    if (sets & 8)
        r->fidelity = 0;
}

void wg_rwc_increment(wg_rwc_thread *r, uint32_t word)
{
    unsigned cr = WG_GET(INCRWC, rwc_cr, word), increment = WG_GET(INCRWC, rwc_d, word);
    move_src(&r->srca, &r->srca_cr, WG_GET(INCRWC, rwc_a, word) | (cr & 1) << 6);
    move_src(&r->srcb, &r->srcb_cr, WG_GET(INCRWC, rwc_b, word) | (cr >> 1 & 1) << 6);
    if (cr & 4)
        r->dst = r->dst_cr = (uint16_t)((r->dst_cr + increment) & DST_MASK);
    else
        r->dst = (uint16_t)((r->dst + increment) & DST_MASK);
}

/*
 * Decided here: no page has SETIBRWC. The assembly tables call it "set/increment bias rwc", with bits "inc_bias,
 * set_bias_rwc" (from the top, as they list SETRWC's); the bias counter is the one stepped by ADDR_MOD_BIAS, ExtraAddrModBit
 * (RWCs.md), and steps in the same way. Nothing reads the CR copy that rwc_cr selects.
 */
void wg_rwc_bias(wg_rwc_thread *r, uint32_t word)
{
    unsigned value = WG_GET(SETIBRWC, rwc_bias, word), control = WG_GET(SETIBRWC, set_inc_ctrl, word);
    if (control & 1)
        r->extra_addr_mod = value & 1;
    else if ((control & 2) && (value & 3))
        r->extra_addr_mod ^= 1;
}
