/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs on a tile, read back from its launch message in L1, whether this library or tt-metal's own host launched
 * it.
 */
#ifndef WG_METAL_LAUNCHED_H
#define WG_METAL_LAUNCHED_H

#include <waitgate/metal.h>

typedef struct wg_metal_launched {
    struct {
        uint32_t address, bytes; /* code address; bytes 0: no kernel */
        uint32_t in_l1;          /* where the host has put it */
    } kernel[WG_CORES];
    uint32_t cbs;        /* address of the circular buffers' configurations */
    uint64_t cb_mask;    /* those in use */
    uint32_t semaphores; /* address of the first semaphore … */
    uint32_t semaphore_step, semaphore_end;
} wg_metal_launched;

/* `items`: the layout; NULL: the built-in one. False: no plausible launch message. */
bool wg_metal_read_launch(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes,
                          wg_metal_launched *out);
/* tt-metal's firmware is here, has started, and was given no kernel. */
bool wg_metal_is_unused(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes);
/* tt-metal's firmware is here, and the core executes it, rather than a kernel, at pc. */
bool wg_metal_is_firmware(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes, unsigned core,
                          uint32_t pc);
/* The memory of the launched kernels' circular buffer that contains the address; false: none does. */
bool wg_metal_cb_around(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes, uint32_t address,
                        uint32_t *from, uint32_t *bytes);
/* The capacity of a circular buffer in pages; 0: unknown. */
uint32_t wg_metal_cb_pages(const wg_metal_launched *m, const uint8_t *l1, uint32_t l1_bytes, unsigned cb);
const uint32_t *wg_metal_layout_of(const wg_metal *m);

#endif
