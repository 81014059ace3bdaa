/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto-incrementing address counters of packers and unpackers: per thread, for Unpacker 0, Unpacker 1 and the
 * packers, two channels of X, Y, Z, W, each with a copy (…_cr) that the counter can be reset to and advanced from.
 *
 * Facts: ADCs.md and the pages of the instructions that move them.
 */
#ifndef WG_ADC_H
#define WG_ADC_H

#include <stdbool.h>
#include <stdint.h>

typedef enum wg_adc_dimension { WG_ADC_X, WG_ADC_Y, WG_ADC_Z, WG_ADC_W } wg_adc_dimension;

typedef struct wg_adc_channel {
    uint32_t x, x_cr;         /* 18 bits */
    uint16_t y, y_cr;         /* 13 bits */
    uint8_t z, z_cr, w, w_cr; /* 8 bits */
} wg_adc_channel;

typedef struct wg_adc {
    wg_adc_channel unit[3][3][2]; /* [thread][0 Unpacker 0, 1 Unpacker 1, 2 packers][channel] */
} wg_adc;

/* Writes a counter, or its copy; excess bits are dropped. */
void wg_adc_put(wg_adc_channel *c, wg_adc_dimension dimension, bool cr, uint32_t value);
/* Sets a counter and its copy. */
void wg_adc_set(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value);
/* Adds to a counter. */
void wg_adc_increment(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value);
/* Adds to the copy, and sets the counter to the sum. */
void wg_adc_carriage_return(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value);

#endif
