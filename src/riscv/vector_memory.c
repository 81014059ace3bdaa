/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector loads and stores of RISCV T2: unit-stride (masks, whole registers, fault-only-first, segments), strided, indexed.
 *
 * Facts: the V specification 1.0; BabyRISCV/README.md (most are split into one micro-operation per element).
 * Decided here: they only reach L1 and own RAM; any other address is reported like a scalar access to it. They wait until the
 * load/store unit is empty, take effect at once, bypass the L0 data cache, and flush it when they store. A unit-stride access
 * occupies EX1 for one cycle per 16 bytes, the others for one per element.
 */
#include "riscv/internal.h"

#include <string.h>

/* Loads or stores one element; false if the address is neither L1 nor own RAM. */
static bool reach(wg_tile *t, unsigned core, uint32_t address, unsigned bytes, uint32_t *value, bool store)
{
    wg_core *k = &t->core[core];
    uint32_t offset = address - WG_RAM_BASE;
    if (wg_l1_holds(t->spec->l1_bytes, address, bytes)) {
        if (store)
            wg_l1_write(t, (wg_l1_client)core, address, bytes, value);
        else
            wg_l1_read(t, address, bytes, value);
        return true;
    }
    if (offset < t->spec->core[core].ram_bytes && bytes <= t->spec->core[core].ram_bytes - offset) {
        if (store)
            memcpy(k->ram + offset, value, bytes);
        else
            memcpy(value, k->ram + offset, bytes);
        return true;
    }
    wg_report_unmapped(t, core, k->run.pc, address, store ? WG_REQ_WRITE : WG_REQ_READ);
    return false;
}

bool wg_rvv_memory(wg_tile *t, unsigned core, const wg_rvv *v, wg_rvv_step *out)
{
    static const uint8_t widths[8] = {1, 0, 0, 0, 0, 2, 4, 0};
    wg_core *k = v->k;
    uint32_t word = v->word, vl = v->vl, base = k->run.r[word >> 15 & 31];
    unsigned width = widths[word >> 12 & 7], mode = word >> 26 & 3, fields = (word >> 29) + 1, lumop = word >> 20 & 31;
    unsigned vd = word >> 7 & 31, bytes = mode & 1 ? v->sew : width;
    bool store = word & 0x20, masked = !(word >> 25 & 1);
    /* Registers of one field's group: EMUL = EEW / SEW * LMUL, at least one. */
    unsigned group = v->registers * bytes / v->sew;
    group = group ? group : 1;
    if (!width || word >> 28 & 1)
        return false;
    if (mode == 0 && lumop == 8) { /* whole registers: no mask, no vl */
        if (masked || (fields & (fields - 1)))
            return false;
        vl = fields * 16 / width;
        fields = 1;
    } else if (mode == 0 && lumop == 11) { /* a mask: one bit per element */
        if (masked || width != 1 || fields != 1)
            return false;
        vl = (vl + 7) / 8;
    } else if (mode == 0 && lumop != 0 && (lumop != 16 || store)) {
        return false;
    }
    for (uint32_t i = 0; i < vl; i++) {
        if (masked && !wg_rvv_bit(v, 0, i))
            continue;
        uint32_t offset = mode == 0   ? i * fields * bytes
                          : mode == 2 ? i * k->run.r[lumop]
                                      : wg_rvv_get(v, lumop, i, width);
        for (unsigned f = 0; f < fields; f++) {
            uint32_t value = 0;
            if (store)
                value = wg_rvv_get(v, vd + f * group, i, bytes);
            if (reach(t, core, base + offset + f * bytes, bytes, &value, store) && !store)
                wg_rvv_put(v, vd + f * group, i, bytes, value);
        }
    }
    if (store) {
        wg_lsu_flush_l0(k);
        k->run.stored = t->sched.now;
    }
    out->cycles = mode == 0 && fields == 1 ? (vl * bytes + 15) / 16 : vl * fields;
    return true;
}
