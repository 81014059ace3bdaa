/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of tt-metal on a chip (chip.h) without its host library: boots its firmware on the Tensix tiles, and launches kernels
 * as its host does in slow dispatch.
 *
 *     wg_metal_create ─► wg_metal_boot ─► advance until wg_metal_idle ─► wg_metal_launch ─► advance until wg_metal_idle …
 *
 * Tiles are named by their logical place: column and row among the Tensix tiles that are not harvested. Advance time
 * with wg_grid_run() or wg_grid_advance(); the functions here take no time.
 *
 * The addresses and layouts of mailboxes, messages and tables change with tt-metal. They are data: items with names and
 * numbers, which wg_metal_set() overrides (docs/tt-metal.md lists them).
 */
#ifndef WAITGATE_METAL_H
#define WAITGATE_METAL_H

#include <waitgate/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_metal wg_metal;

WG_API wg_status wg_metal_create(wg_grid *grid, wg_metal **out);
WG_API void wg_metal_destroy(wg_metal *metal);
WG_API const char *wg_metal_error(const wg_metal *metal);

/* The layout. The revision is the commit of tt-metal that its numbers come from. */
WG_API const char *wg_metal_revision(void);
WG_API size_t wg_metal_items(void);
WG_API const char *wg_metal_item_name(size_t index);
WG_API const char *wg_metal_item_meaning(size_t index);
WG_API uint32_t wg_metal_item(const wg_metal *metal, size_t index);
/* WG_ERR_ARGUMENT: no item of this name. */
WG_API wg_status wg_metal_set(wg_metal *metal, const char *name, uint32_t value);

/* The chip's shape, and the coordinates of a logical place. False: no such place. */
typedef struct wg_metal_place {
    uint8_t x, y;
} wg_metal_place;
WG_API void wg_metal_shape(const wg_metal *metal, unsigned *columns, unsigned *rows);
WG_API bool wg_metal_tile(const wg_metal *metal, wg_metal_place at, unsigned *x, unsigned *y); /* NoC 0 coordinates */
/* The coordinates that kernels use on either NoC. */
WG_API bool wg_metal_virtual(const wg_metal *metal, wg_metal_place at, unsigned *x, unsigned *y);

/*
 * Firmware: the parts of its ELF file and their addresses. Parts for a core's own RAM go to where its start-up code
 * copies them from.
 */
typedef struct wg_metal_part {
    uint32_t struct_size; /* sizeof(wg_metal_part); all of an array have the first one's */
    uint32_t address, bytes;
    const void *data;
} wg_metal_part;
typedef struct wg_metal_firmware {
    uint32_t struct_size; /* sizeof(wg_metal_firmware); all of an array have the first one's */
    const wg_metal_part *part;
    size_t parts;
    uint32_t entry;
} wg_metal_firmware;
/* Loads the firmware of all cores, clears mailboxes, fills tables, and releases core B, which releases the others. */
WG_API wg_status wg_metal_boot(wg_metal *metal, const wg_metal_firmware firmware[WG_CORES], const wg_metal_place *at,
                               size_t places);
/* Is the firmware of every booted tile ready, and done with everything launched? */
WG_API bool wg_metal_idle(const wg_metal *metal);
/* A tile of which that does not hold; false: none. */
WG_API bool wg_metal_busy_tile(const wg_metal *metal, wg_metal_place *at);

/* A program: kernels, circular buffers and semaphores, each on some tiles. All is copied. */
typedef struct wg_metal_kernel {
    uint32_t struct_size; /* sizeof(wg_metal_kernel); all of an array have the first one's */
    unsigned core;        /* wg_core_id */
    const void *image;    /* position-independent code, then its initialised data */
    uint32_t bytes;       /* of both */
    uint32_t text_bytes;
    const uint32_t *fixup; /* offsets of words that hold an offset in the code, and get its address added */
    size_t fixups;
    const wg_metal_place *at;
    size_t places;
    const uint32_t *common; /* runtime arguments common to all tiles … */
    size_t commons;
    const uint32_t *args; /* … and of each tile, tile by tile */
    size_t args_each;
    uint8_t noc; /* of core B */
} wg_metal_kernel;
typedef struct wg_metal_cb {
    uint32_t struct_size; /* sizeof(wg_metal_cb); all of an array have the first one's */
    unsigned id;
    uint32_t address, bytes, page_bytes;
    const wg_metal_place *at;
    size_t places;
} wg_metal_cb;
typedef struct wg_metal_semaphore {
    uint32_t struct_size; /* sizeof(wg_metal_semaphore); all of an array have the first one's */
    unsigned id;
    uint32_t value;
    const wg_metal_place *at;
    size_t places;
} wg_metal_semaphore;
typedef struct wg_metal_program {
    uint32_t struct_size; /* sizeof(wg_metal_program): a caller that knows fewer fields gets 0 for the others */
    const wg_metal_kernel *kernel;
    const wg_metal_cb *cb;
    const wg_metal_semaphore *semaphore;
    size_t kernels, cbs, semaphores;
} wg_metal_program;
/* Every tile that the program names must be booted and idle. */
WG_API wg_status wg_metal_launch(wg_metal *metal, const wg_metal_program *program);
/* The address from which a core of a tile executes the kernel launched last; 0: none. */
WG_API uint32_t wg_metal_kernel_address(const wg_metal *metal, wg_metal_place at, unsigned core);

/* Buffers: pages distributed over banks in turn, or one shard of L1 on each of some tiles, in order. */
typedef enum wg_metal_memory { WG_METAL_DRAM, WG_METAL_L1, WG_METAL_SHARDS } wg_metal_memory;
typedef struct wg_metal_buffer {
    uint32_t struct_size; /* sizeof(wg_metal_buffer): a caller that knows fewer fields gets 0 for the others */
    wg_metal_memory memory;
    uint32_t address; /* in each bank or tile; see wg_metal_allocate() */
    uint64_t bytes;
    uint32_t page_bytes;      /* of a shard: all that is on one tile */
    const wg_metal_place *at; /* shards */
    size_t places;
} wg_metal_buffer;
WG_API unsigned wg_metal_banks(const wg_metal *metal, wg_metal_memory memory);
/* Chooses an address that overlaps no buffer chosen before: DRAM upwards, L1 downwards from its end. */
WG_API wg_status wg_metal_allocate(wg_metal *metal, wg_metal_buffer *buffer);
/* The lowest address of L1 that is free for circular buffers. */
WG_API uint32_t wg_metal_free_l1(const wg_metal *metal);
WG_API wg_status wg_metal_write(wg_metal *metal, const wg_metal_buffer *buffer, const void *from, size_t bytes);
WG_API wg_status wg_metal_read(wg_metal *metal, const wg_metal_buffer *buffer, void *to, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
