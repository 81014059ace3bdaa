/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DRAM: the memory of all channels, sparse. Host pages are allocated when first written, up to a limit; unwritten memory
 * reads as zero.
 */
#ifndef WG_DRAM_H
#define WG_DRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WG_DRAM_PAGE = 64 * 1024, WG_DRAM_CHANNELS = 8, WG_DRAM_TIMED = 12 };

typedef struct wg_dram {
    unsigned channels;
    uint64_t bytes;       /* of one channel */
    uint64_t limit, used; /* host memory */
    uint8_t **page[WG_DRAM_CHANNELS];
} wg_dram;

bool wg_dram_init(wg_dram *d, unsigned channels, uint64_t bytes, uint64_t limit);
void wg_dram_free(wg_dram *d);
/* Sets all memory to zero. */
void wg_dram_clear(wg_dram *d);
/* False if the bytes are not all in the channel. */
bool wg_dram_read(const wg_dram *d, unsigned channel, uint64_t address, void *to, size_t bytes);
/* False as above (nothing is written), or if memory or the limit has run out (`*full`). */
bool wg_dram_write(wg_dram *d, unsigned channel, uint64_t address, const void *from, size_t bytes, bool *full);
/* Equal for equal contents. */
uint64_t wg_dram_hash(const wg_dram *d);

#endif
