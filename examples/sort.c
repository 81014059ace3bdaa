/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorting network in the Vector Unit: in both halves of the tile (faces 0 and 1, faces 2 and 3, one under the other:
 * 32 rows of Dst each), the eight datums of every column that are four rows apart are sorted, the smallest on top. 19
 * exchanges sort eight registers.
 *
 *     waitgate run sort.brisc.elf sort.trisc0.elf sort.trisc1.elf sort.trisc2.elf
 */
#include "sfpu.h"

/* The smaller of two goes to the first. Only SFPNOP may follow. */
#define ORDER(a, b) \
    do { \
        TTI_SFPSWAP(0, b, a, 1); \
        TTI_SFPNOP; \
    } while (0)

static inline void on_tile(void)
{
    for (u32 half = 0; half < TILE_ROWS; half += 32) {
        for (u32 odd = 0; odd <= 2; odd += 2) {
            u32 at = half + odd;
            LOAD(L0, at);
            LOAD(L1, at + 4);
            LOAD(L2, at + 8);
            LOAD(L3, at + 12);
            LOAD(L4, at + 16);
            LOAD(L5, at + 20);
            LOAD(L6, at + 24);
            LOAD(L7, at + 28);
            ORDER(L0, L1);
            ORDER(L2, L3);
            ORDER(L4, L5);
            ORDER(L6, L7);
            ORDER(L0, L2);
            ORDER(L1, L3);
            ORDER(L4, L6);
            ORDER(L5, L7);
            ORDER(L1, L2);
            ORDER(L5, L6);
            ORDER(L0, L4);
            ORDER(L1, L5);
            ORDER(L2, L6);
            ORDER(L3, L7);
            ORDER(L2, L4);
            ORDER(L3, L5);
            ORDER(L1, L2);
            ORDER(L3, L4);
            ORDER(L5, L6);
            STORE(L0, at);
            STORE(L1, at + 4);
            STORE(L2, at + 8);
            STORE(L3, at + 12);
            STORE(L4, at + 16);
            STORE(L5, at + 20);
            STORE(L6, at + 24);
            STORE(L7, at + 28);
        }
    }
}
