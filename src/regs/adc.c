/* SPDX-License-Identifier: Apache-2.0 */
/* Address counters: widths and the four kinds of steps. Facts: ADCs.md. */
#include "machine/adc.h"

static const uint32_t masks[4] = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};

static uint32_t get(const wg_adc_channel *c, wg_adc_dimension dimension, bool cr)
{
    switch (dimension) {
    case WG_ADC_X: return cr ? c->x_cr : c->x;
    case WG_ADC_Y: return cr ? c->y_cr : c->y;
    case WG_ADC_Z: return cr ? c->z_cr : c->z;
    default: return cr ? c->w_cr : c->w;
    }
}

void wg_adc_put(wg_adc_channel *c, wg_adc_dimension dimension, bool cr, uint32_t value)
{
    value &= masks[dimension & 3];
    switch (dimension) {
    case WG_ADC_X: *(cr ? &c->x_cr : &c->x) = value; break;
    case WG_ADC_Y: *(cr ? &c->y_cr : &c->y) = (uint16_t)value; break;
    case WG_ADC_Z: *(cr ? &c->z_cr : &c->z) = (uint8_t)value; break;
    default: *(cr ? &c->w_cr : &c->w) = (uint8_t)value; break;
    }
}

void wg_adc_set(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value)
{
    wg_adc_put(c, dimension, false, value);
    wg_adc_put(c, dimension, true, value);
}

void wg_adc_increment(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value)
{
    wg_adc_put(c, dimension, false, get(c, dimension, false) + value);
}

void wg_adc_carriage_return(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value)
{
    wg_adc_set(c, dimension, get(c, dimension, true) + value);
}
