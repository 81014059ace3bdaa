/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's registers: 17 LRegs of 32 lanes of 32 bits, lane predication with its stack,
 * LaneConfig, LoadMacroConfig and the random number generator.
 *
 *      lane:   0  1  2  3  4  5  6  7      row 0      LReg 0…7    general
 *              8  9 10 11 12 13 14 15      row 1           8…10   0.8373, 0, 1.0
 *             16 17 18 19 20 21 22 23      row 2          11…14   written by SFPCONFIG
 *             24 25 26 27 28 29 30 31      row 3          15      2 * lane
 *                                                         16      for SFPLOADMACRO's instructions
 *
 * One bit per lane is a uint32_t with lane 0 lowest. LaneConfig, LoadMacroConfig and the depth of the
 * flag stack are written for whole columns only (SFPCONFIG takes eight lanes), so they are kept per
 * column, LaneConfig as one byte of columns per configuration bit.
 *
 * Facts: LReg.md, VectorUnit.md, SFPCONFIG.md, SFPLOADMACRO.md, SFPSHFT2.md, SoftReset.md.
 */
#ifndef WG_LREG_H
#define WG_LREG_H

#include <stdbool.h>
#include <stdint.h>

enum { WG_LANES = 32, WG_LREGS = 17, WG_LANE_COLUMNS = 8, WG_FLAG_STACK = 8, WG_LANE_CONFIG_BITS = 18 };

/* Bits of LaneConfig (SFPCONFIG.md). */
typedef enum wg_lane_config_bit {
    WG_LANE_ENABLE_FP16A_INF = 0,
    WG_LANE_DISABLE_BACKDOOR_LOAD = 1,
    WG_LANE_ENABLE_DEST_INDEX = 2,
    WG_LANE_CAPTURE_DEFAULT_DEST_INDEX = 3,
    WG_LANE_BLOCK_DEST_WR_FROM_SFPU = 4,
    WG_LANE_BLOCK_SFPU_RD_FROM_DEST = 5,
    WG_LANE_DEST_RD_COL_EXCHANGE = 6,
    WG_LANE_DEST_WR_COL_EXCHANGE = 7,
    WG_LANE_EXCHANGE_SRCB_SRCC = 8,
    WG_LANE_BLOCK_DEST_MOV = 9, /* two bits: which of the column pair the Matrix Unit's moves skip */
    WG_LANE_ROW_MASK = 12       /* four bits, one per row */
} wg_lane_config_bit;

typedef struct wg_load_macro {
    uint32_t instruction[4]; /* InstructionTemplate */
    uint32_t sequence[4];    /* per macro: 8 bits for each of the simple, MAD, round and store sub-units */
    uint16_t misc;           /* StoreMod0 [3:0], UsesLoadMod0ForStore [7:4], UnitDelayKind [11:8] */
} wg_load_macro;

/* The enabled lanes, and the stack of earlier ones. */
typedef struct wg_lane_flags {
    uint32_t flags; /* LaneFlags */
    uint32_t use;   /* UseLaneFlagsForLaneEnable */
    uint32_t stack_flags[WG_FLAG_STACK], stack_use[WG_FLAG_STACK];
    uint8_t depth[WG_LANE_COLUMNS];
} wg_lane_flags;

typedef struct wg_lreg {
    uint32_t l[WG_LREGS][WG_LANES];
    wg_lane_flags pred;
    uint8_t lane_config[WG_LANE_CONFIG_BITS]; /* [bit] -> columns in which it is set */
    wg_load_macro macro[WG_LANE_COLUMNS];
    uint32_t prng[WG_LANES];
    uint32_t shuffle_last[4]; /* per row: lane 7 of the register last rotated by SFPSHFT2 (WH shifts it in) */
} wg_lreg;

static inline uint32_t wg_lanes_of_columns(uint8_t columns) { return columns * UINT32_C(0x01010101); }

/* The lanes in which a bit of LaneConfig is set. */
static inline uint32_t wg_lane_config_lanes(const wg_lreg *r, wg_lane_config_bit bit)
{
    return wg_lanes_of_columns(r->lane_config[bit]);
}

/* LaneConfig of one lane as SFPMOV shows it. */
static inline uint32_t wg_lane_config_word(const wg_lreg *r, unsigned lane)
{
    uint32_t word = 0;
    for (unsigned bit = 0; bit < WG_LANE_CONFIG_BITS; bit++)
        word |= (uint32_t)(r->lane_config[bit] >> (lane & 7) & 1) << bit;
    return word;
}

/* LaneEnabled. */
static inline uint32_t wg_lanes_enabled(const wg_lreg *r)
{
    const uint8_t *row = &r->lane_config[WG_LANE_ROW_MASK];
    uint32_t masked = row[0] | (uint32_t)row[1] << 8 | (uint32_t)row[2] << 16 | (uint32_t)row[3] << 24;
    return ~masked & (~r->pred.use | r->pred.flags);
}

/* AdvancePRNG of one lane: the value before the step. */
static inline uint32_t wg_prng_step(uint32_t state)
{
    return ~(uint32_t)__builtin_popcount(state & 0x80200003u) << 31 | state >> 1;
}
static inline uint32_t wg_prng_advance(wg_lreg *r, unsigned lane)
{
    uint32_t value = r->prng[lane & 31];
    r->prng[lane & 31] = wg_prng_step(value);
    return value;
}

/* The state after soft reset: constants are set, everything else is zero. */
void wg_lreg_reset(wg_lreg *r);
/* A write to PRNG_SEED: every lane gets a state derived from the seed. */
void wg_lreg_seed(wg_lreg *r, uint32_t seed);

#endif
