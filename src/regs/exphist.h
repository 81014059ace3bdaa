/* SPDX-License-Identifier: Apache-2.0 */
/* The packers' exponent histograms; CLREXPHIST empties all of them (Packers/ExponentHistogram.md). */
#ifndef WG_EXPHIST_H
#define WG_EXPHIST_H

#include <stdint.h>

typedef struct wg_exphist {
    uint8_t bins[4][32];   /* [packer][low five bits of the exponent] */
    uint8_t max[4];        /* [packer] */
} wg_exphist;

#endif
