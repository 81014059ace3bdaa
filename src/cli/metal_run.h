/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of tt-metal in a chip file: opened and launched in order, their buffers compared and dumped. */
#ifndef WG_METAL_RUN_H
#define WG_METAL_RUN_H

#include "cli/chip_internal.h"

typedef struct wg_metal_run wg_metal_run;

/* The number of tiles that run kernels, for allocations. */
size_t wg_metal_kernel_tiles(const wg_chip_file *file);
/* Opens the section `metal`: its files, and a session for each tile that runs kernels. */
bool wg_metal_open(wg_chip_run *r, wg_text *error);
/* Fills buffers and memory. The firmware starts with the first cycle. */
bool wg_metal_start(wg_chip_run *r, wg_text *error);
void wg_metal_close(wg_metal_run *m);

typedef enum wg_metal_turn {
    WG_METAL_WAITS,    /* something runs */
    WG_METAL_LAUNCHED, /* the next program has been launched now */
    WG_METAL_FINISHED, /* the last one has ended */
    WG_METAL_FAILED    /* `error` says why */
} wg_metal_turn;
/* The host's turn, in a cycle in which it checks the chip. The same cycle always gives the same turn. */
wg_metal_turn wg_metal_look(wg_chip_run *r, wg_text *error);

/* The host's state, for a debugger that goes back. */
size_t wg_metal_state_bytes(const wg_metal_run *m);
void wg_metal_state_save(const wg_metal_run *m, void *to);
void wg_metal_state_load(wg_metal_run *m, const void *from);

/* Compares and dumps the buffers; false: a file could not be read or written. */
bool wg_metal_end(wg_chip_run *r, wg_text *error);
bool wg_metal_as_expected(const wg_metal_run *m);
/* Hashes what its programs leave in the buffers. */
uint64_t wg_metal_results(wg_chip_run *r, uint64_t h);
/* Is it a file of the firmware? Does one of the kernels come from it, or from a copy that was opened elsewhere? */
bool wg_metal_is_firmware_file(const wg_chip_run *r, const wg_elf *elf);
bool wg_metal_runs(const wg_chip_run *r, const wg_elf *elf);
/* Before the first launch: the kernels from the wait's file get this change. False: its place has another word. */
struct wg_wait_change;
bool wg_metal_change(wg_chip_run *r, const struct wg_wait_change *c);
/* Undoes it in the tiles where they were launched. */
void wg_metal_restore(wg_chip_run *r);
void wg_metal_report_text(const wg_metal_run *m, wg_text *out);
void wg_metal_report_json(const wg_metal_run *m, wg_json *j);

#endif
