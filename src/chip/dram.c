/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse memory of the DRAM channels; see dram.h. */
#include "chip/dram.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pages.h"

bool wg_dram_init(wg_dram *d, unsigned channels, uint64_t bytes, uint64_t limit)
{
    *d = (wg_dram){.channels = channels, .bytes = bytes, .limit = limit ? limit : UINT64_MAX};
    for (unsigned i = 0; i < channels; i++) {
        d->page[i] = wg_pages_new(bytes / WG_DRAM_PAGE * sizeof *d->page[i]);
        if (!d->page[i])
            return false;
    }
    return true;
}

void wg_dram_clear(wg_dram *d)
{
    for (unsigned i = 0; i < d->channels; i++)
        for (uint64_t p = 0; d->used && d->page[i] && p < d->bytes / WG_DRAM_PAGE; p++)
            if (d->page[i][p]) {
                free(d->page[i][p]);
                d->page[i][p] = NULL;
                d->used -= WG_DRAM_PAGE;
            }
}

void wg_dram_free(wg_dram *d)
{
    wg_dram_clear(d);
    for (unsigned i = 0; i < d->channels; i++)
        wg_pages_free(d->page[i], d->bytes / WG_DRAM_PAGE * sizeof *d->page[i]);
    *d = (wg_dram){0};
}

static bool within(const wg_dram *d, unsigned channel, uint64_t address, size_t bytes)
{
    return channel < d->channels && address <= d->bytes && bytes <= d->bytes - address;
}

bool wg_dram_read(const wg_dram *d, unsigned channel, uint64_t address, void *to, size_t bytes)
{
    if (!within(d, channel, address, bytes))
        return false;
    for (uint8_t *out = to; bytes;) {
        uint64_t offset = address % WG_DRAM_PAGE;
        size_t part = bytes < WG_DRAM_PAGE - offset ? bytes : (size_t)(WG_DRAM_PAGE - offset);
        const uint8_t *page = d->page[channel][address / WG_DRAM_PAGE];
        if (page)
            memcpy(out, page + offset, part);
        else
            memset(out, 0, part);
        out += part;
        address += part;
        bytes -= part;
    }
    return true;
}

bool wg_dram_write(wg_dram *d, unsigned channel, uint64_t address, const void *from, size_t bytes, bool *full)
{
    *full = false;
    if (!within(d, channel, address, bytes))
        return false;
    for (const uint8_t *in = from; bytes;) {
        uint64_t offset = address % WG_DRAM_PAGE;
        size_t part = bytes < WG_DRAM_PAGE - offset ? bytes : (size_t)(WG_DRAM_PAGE - offset);
        uint8_t **page = &d->page[channel][address / WG_DRAM_PAGE];
        if (!*page) {
            if (d->limit - d->used >= WG_DRAM_PAGE)
                *page = calloc(1, WG_DRAM_PAGE);
            if (!*page) {
                *full = true;
                return false;
            }
            d->used += WG_DRAM_PAGE;
        }
        memcpy(*page + offset, in, part);
        in += part;
        address += part;
        bytes -= part;
    }
    return true;
}

uint64_t wg_dram_hash(const wg_dram *d)
{
    uint64_t h = 0;
    for (unsigned i = 0; d->used && i < d->channels; i++)
        for (uint64_t p = 0; p < d->bytes / WG_DRAM_PAGE; p++) {
            const uint8_t *page = d->page[i][p];
            uint64_t sum = 0;
            for (size_t k = 0; page && k < WG_DRAM_PAGE; k += 8) {
                uint64_t v;
                memcpy(&v, page + k, 8);
                sum = v ? (sum ^ (v + k)) * UINT64_C(0x9FB21C651E98DF25) : sum;
            }
            if (sum) /* a page of zeros equals a missing page */
                h = (h ^ sum ^ (p << 3 | i)) * UINT64_C(0x9E3779B97F4A7C15);
        }
    return h;
}
