/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 16-bit hash of an instruction name that the compiler can also compute from a string literal, so that the table of hashes
 * is a constant and needs no setup at run time. The names are hashed upper-case and without the "tt" prefix; no two of
 * insns.def collide (checked by test_isa.c).
 */
#ifndef WG_ISA_NAME_HASH_H
#define WG_ISA_NAME_HASH_H

#include <stdint.h>

enum { WG_NAME_HASH_MAX = 16 }; /* longest name that can be hashed */

#define WG_NAME_HASH_MIX(lo, hi) \
    ((uint16_t)(((lo)*UINT64_C(0xFF51AFD7ED558CCD) ^ (hi)*UINT64_C(0xC2B2AE3D27D4EB4F)) >> 48))

#define WG_NAME_BYTE_(padded, i) ((uint64_t)(uint8_t)(padded)[i] << 8 * ((i)&7))
#define WG_NAME_WORD_(padded, i) \
    (WG_NAME_BYTE_(padded, i) | WG_NAME_BYTE_(padded, i + 1) | WG_NAME_BYTE_(padded, i + 2) | \
     WG_NAME_BYTE_(padded, i + 3) | WG_NAME_BYTE_(padded, i + 4) | WG_NAME_BYTE_(padded, i + 5) | \
     WG_NAME_BYTE_(padded, i + 6) | WG_NAME_BYTE_(padded, i + 7))
#define WG_NAME_PADDED_(literal) (literal "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
#define WG_NAME_HASH_LITERAL(literal) \
    WG_NAME_HASH_MIX(WG_NAME_WORD_(WG_NAME_PADDED_(literal), 0), WG_NAME_WORD_(WG_NAME_PADDED_(literal), 8))

#endif
