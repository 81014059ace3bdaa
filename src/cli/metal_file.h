/* SPDX-License-Identifier: Apache-2.0 */
/* The section `metal` of a chip file: programs of tt-metal (docs/tt-metal.md). */
#ifndef WG_METAL_FILE_H
#define WG_METAL_FILE_H

#include <waitgate/metal.h>

#include "cli/yaml_read.h"

/* A runtime argument: a number, the address of a buffer, or a coordinate. */
typedef enum wg_metal_arg_kind { WG_ARG_NUMBER, WG_ARG_BUFFER, WG_ARG_COLUMN, WG_ARG_ROW } wg_metal_arg_kind;
typedef struct wg_metal_arg {
    wg_chip_mark mark;
    wg_metal_arg_kind kind;
    uint32_t value;   /* the number, column or row */
    const char *name; /* of the buffer */
} wg_metal_arg;
typedef struct wg_metal_args {
    wg_metal_arg *list;
    size_t count;
} wg_metal_args;

typedef struct wg_metal_tiles {
    wg_metal_place *list;
    size_t count;
    wg_metal_place from, to; /* of a rectangle being read */
} wg_metal_tiles;

typedef struct wg_metal_buffer_entry {
    wg_chip_image data; /* its contents, and the type of all its files; first, for wg_yaml_image_* */
    wg_chip_mark mark;
    const char *name;
    unsigned memory; /* wg_metal_memory */
    uint64_t bytes, page, address;
    bool placed; /* the address is given */
    wg_metal_tiles at;
    const char *dump, *expect;
    double within;
} wg_metal_buffer_entry;

typedef struct wg_metal_kernel_entry {
    wg_chip_mark mark, elf_mark;
    unsigned core, noc;
    const char *elf;
    wg_metal_tiles at;
    wg_metal_args common, args;
    wg_metal_args *tile; /* of each tile; NULL: all have `args` */
    size_t tiles;
} wg_metal_kernel_entry;

typedef struct wg_metal_cb_entry {
    wg_chip_mark mark;
    uint64_t id, bytes, page;
    const char *buffer; /* whose memory it shares; NULL: its own */
    wg_metal_tiles at;
} wg_metal_cb_entry;

typedef struct wg_metal_semaphore_entry {
    wg_chip_mark mark;
    uint64_t id, value;
    wg_metal_tiles at;
} wg_metal_semaphore_entry;

typedef struct wg_metal_program_entry {
    wg_chip_mark mark;
    wg_metal_kernel_entry *kernel;
    wg_metal_cb_entry *cb;
    wg_metal_semaphore_entry *semaphore;
    size_t kernels, cbs, semaphores;
} wg_metal_program_entry;

typedef struct wg_metal_item_entry {
    wg_chip_mark mark;
    const char *name;
    uint32_t value;
} wg_metal_item_entry;

typedef struct wg_metal_file {
    wg_chip_mark mark;
    const char *firmware[WG_CORES];
    wg_chip_mark firmware_mark[WG_CORES];
    wg_metal_tiles workers; /* none: all */
    wg_metal_item_entry *item;
    wg_metal_buffer_entry *buffer;
    wg_metal_program_entry *program;
    size_t items, buffers, programs;
} wg_metal_file;

/* The section's value; `into` is a wg_metal_file **, and is filled in either case. */
bool wg_metal_section(wg_yaml *p, yaml_node_t *n, void *into);
void wg_metal_file_free(wg_metal_file *file);

#endif
