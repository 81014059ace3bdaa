/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chip files: the programs of the cores of each tile, initial memory contents, dumps (docs/chip_yaml.md). Parsing touches no
 * other file; errors have file, line and column.
 */
#ifndef WG_CHIP_YAML_H
#define WG_CHIP_YAML_H

#include <waitgate/chip.h>

#include "text/types.h"

typedef struct wg_chip_mark {
    uint32_t line, column; /* from 1 */
} wg_chip_mark;

typedef struct wg_chip_place {
    uint8_t x, y; /* NoC 0 */
} wg_chip_place;

/* Memory contents: a file, or literal words. */
typedef struct wg_chip_image {
    wg_chip_mark mark;
    uint64_t address, length; /* length: dumps only */
    const char *file;         /* NULL: words */
    wg_type type;
    bool tilized;
    size_t rows, columns; /* of a tilized dump; 0: not given */
    uint32_t *word;
    size_t words;
} wg_chip_image;

typedef struct wg_chip_until {
    wg_chip_mark mark;
    uint64_t address;
    uint32_t value, mask; /* mask 0: no condition */
} wg_chip_until;

/* One entry of `tiles`, which applies to each of its places. */
typedef struct wg_chip_tiles {
    wg_chip_mark mark;
    wg_chip_place *place;
    size_t places;
    const char *program[WG_CORES];
    wg_chip_mark program_mark[WG_CORES];
    unsigned release;            /* bit i: core i */
    bool of_tensix, of_ethernet; /* it names a program or a core to release of such a tile */
    wg_chip_image *load, *dump;
    size_t loads, dumps;
    wg_chip_until until;
} wg_chip_tiles;

typedef struct wg_chip_file {
    const char *name, *source;
    size_t source_bytes;
    wg_grid_desc grid;
    uint64_t max_cycles; /* UINT64_MAX: no limit */
    uint64_t host_bytes; /* host memory behind the PCI Express tile */
    wg_chip_image *host_load, *host_dump;
    size_t host_loads, host_dumps;
    wg_chip_tiles *tile;
    size_t tiles;
    struct wg_metal_file *metal; /* NULL: none */
    size_t errors;
    wg_text report; /* the errors, each with its source line */
    bool out_of_memory;
    void *document;
} wg_chip_file;

/* Does the entry start or load a core? */
bool wg_chip_runs(const wg_chip_tiles *t);
/* False: `report` says why. The text must live as long as the result; free it in either case. */
bool wg_chip_parse(wg_chip_file *out, const char *name, const char *text, size_t bytes);
void wg_chip_free(wg_chip_file *file);
/* Adds an error, in the same form, at a position seen by the parser. */
void wg_chip_complain(wg_chip_file *file, wg_chip_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
