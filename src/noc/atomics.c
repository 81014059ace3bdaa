/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations on an aligned 16 bytes of L1.
 *
 *     NOC_AT_LEN_BE  15..12 operation
 *         1 increment       6..2 width of the integer minus one, 1..0 which word
 *         3 swap by mask    9..2 which half-words
 *         4 compare and swap  9..6 new value, 5..2 compared with, 1..0 which word
 *         6, 7, 10 with 3 in 11..8   swap of a word
 *         9 (BH) add to all elements, 3..0 format
 *         10 with bit 11 set (BH)    operations of Zaamo, 10..8 which
 *
 * The result is the old word at the address, whichever word is changed.
 *
 * Facts: NoC/Atomics.md of each architecture and its diagrams. Sums of floating point are those of L1's accumulation.
 */
#include <string.h>

#include "machine/niu.h"
#include "num/formats.h"
#include "num/pack_formats.h"
#include "machine/tile.h"

static uint32_t zaamo_of(unsigned op, uint32_t old, uint32_t data)
{
    switch (op) {
    case 0: return old + data;
    case 1: return old ^ data;
    case 2: return old | data;
    case 3: return old & data;
    case 4: return (int32_t)old < (int32_t)data ? old : data;
    case 5: return (int32_t)old > (int32_t)data ? old : data;
    case 6: return old < data ? old : data;
    default: return old > data ? old : data;
    }
}

/* Adds the repeated word to 16 bytes, element by element. */
static bool add_lanes(uint32_t line[4], unsigned format, uint32_t data)
{
    static const uint8_t floats[3] = {WG_FMT_FP32, WG_FMT_FP16, WG_FMT_BF16};
    uint8_t bytes[16], add[16];
    memcpy(bytes, line, 16);
    for (unsigned i = 0; i < 16; i += 4)
        memcpy(add + i, &data, 4);
    switch (format) {
    case 0:
    case 1:
    case 2:
    case 8:
    case 9:
    case 10: wg_pack_accumulate(floats[format & 3], bytes, add); break;
    case 4:
    case 12:
    case 13:
        for (unsigned i = 0; i < 4; i++)
            line[i] += data;
        return true;
    case 7:
    case 15:
        for (unsigned i = 0; i < 16; i++) {
            unsigned sum = bytes[i] + add[i];
            bytes[i] = (uint8_t)(format == 7 && sum > 255 ? 255 : sum);
        }
        break;
    default: return false;
    }
    memcpy(line, bytes, 16);
    return true;
}

bool wg_noc_atomic_line(bool zaamo, uint32_t line[4], unsigned word, uint32_t operation, uint32_t data,
                        uint32_t *result)
{
    uint32_t *at = &line[operation & 3], old = *at;
    *result = line[word & 3];
    switch (operation >> 12 & 15) {
    case 1: {
        uint32_t mask = (UINT32_C(2) << (operation >> 2 & 31)) - 1;
        *at = ((old + data) & mask) | (old & ~mask);
        return true;
    }
    case 3:
        for (unsigned i = 0; i < 8; i++)
            if (operation >> (2 + i) & 1) {
                unsigned shift = 16 * (i & 1);
                line[i / 2] = (line[i / 2] & ~(UINT32_C(0xFFFF) << shift)) | (data & UINT32_C(0xFFFF) << shift);
            }
        return true;
    case 4:
        if (old == (operation >> 2 & 15))
            *at = operation >> 6 & 15;
        return true;
    case 6: *at = data; return true;
    case 7: line[operation >> 2 & 3] = data; return true;
    case 9: return zaamo && add_lanes(line, operation & 15, data);
    case 10:
        if (zaamo && operation >> 11 & 1) {
            *at = zaamo_of(operation >> 8 & 7, old, data);
            return true;
        }
        if (zaamo && (operation >> 8 & 15) == 3) {
            *at = data;
            return true;
        }
        return false;
    default: return false;
    }
}

bool wg_noc_atomic(wg_tile *t, unsigned noc, uint32_t address, uint32_t operation, uint32_t data, uint32_t *result)
{
    uint32_t line[4], before[4];
    wg_l1_read(t, address & ~UINT32_C(15), sizeof line, line);
    memcpy(before, line, sizeof line);
    if (!wg_noc_atomic_line(t->arch->noc.zaamo, line, address >> 2 & 3, operation, data, result))
        return false;
    if (memcmp(before, line, sizeof line) != 0)
        wg_l1_write(t, noc ? WG_L1_NOC1_WRITE : WG_L1_NOC0_WRITE, address & ~UINT32_C(15), sizeof line, line);
    return true;
}
