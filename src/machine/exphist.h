/* SPDX-License-Identifier: Apache-2.0 */
/* The packers' exponent histograms; CLREXPHIST empties all of them (Packers/ExponentHistogram.md). */
#ifndef WG_EXPHIST_H
#define WG_EXPHIST_H

#include <stdint.h>

typedef struct wg_exphist {
    uint8_t bins[4][32];   /* [packer][low five bits of the exponent] */
    uint8_t max[4];        /* [packer] */
    uint16_t lanes[4][16]; /* [packer]: maxima by column that are not merged into `max` yet */
} wg_exphist;

/* The largest exponent that the packer has seen. */
static inline uint8_t wg_exphist_max(const wg_exphist *h, unsigned packer)
{
    unsigned max = h->max[packer & 3];
    for (unsigned i = 0; i < 16; i++)
        max = h->lanes[packer & 3][i] > max ? h->lanes[packer & 3][i] : max;
    return (uint8_t)max;
}

#endif
