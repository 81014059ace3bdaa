/* SPDX-License-Identifier: Apache-2.0 */
/* XXH64, the checksum of snapshots: it detects damage, not forgery. */
#include <string.h>

#include "engine/state_check.h"

static uint64_t load(const unsigned char *p, unsigned width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t v, unsigned by) { return v << by | v >> (64 - by); }
static uint64_t round_of(uint64_t acc, uint64_t v) { return rotate(acc + v * P2, 31) * P1; }

uint64_t wg_checksum(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t h = P5;
    size_t left = bytes;
    if (left >= 32) {
        uint64_t acc[4] = {P1 + P2, P2, 0, -P1};
        for (; left >= 32; left -= 32)
            for (unsigned i = 0; i < 4; i++, p += 8)
                acc[i] = round_of(acc[i], load(p, 8));
        h = rotate(acc[0], 1) + rotate(acc[1], 7) + rotate(acc[2], 12) + rotate(acc[3], 18);
        for (unsigned i = 0; i < 4; i++)
            h = (h ^ round_of(0, acc[i])) * P1 + P4;
    }
    h += bytes;
    for (; left >= 8; left -= 8, p += 8)
        h = rotate(h ^ round_of(0, load(p, 8)), 27) * P1 + P4;
    if (left >= 4) {
        h = rotate(h ^ load(p, 4) * P1, 23) * P2 + P3;
        p += 4;
        left -= 4;
    }
    for (; left; left--, p++)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}
