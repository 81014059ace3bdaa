/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and source lines for the reports of a host's run, from the ELF files that WAITGATE_ELF names. Reading them
 * requires libelf and libdw, which hosts may not have: that part is a separate library, loaded on demand.
 */
#ifndef WG_ABI_SYMBOLS_H
#define WG_ABI_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/report.h>

typedef struct wg_abi_symbols wg_abi_symbols;

/*
 * `list`: files separated by commas, each FILE, whose name says which core it is for (brisc, ncrisc, trisc0 …), or
 * CORE=FILE with b, nc, t0, t1 or t2; or a folder, in which each kernel's file is found by its content (abi_cache.h). NULL, with a
 * sentence in `error`, if any of it is invalid.
 */
wg_abi_symbols *wg_abi_symbols_open(const char *list, char *error, size_t bytes);
void wg_abi_symbols_close(wg_abi_symbols *s);
/* Every file with its core, without those in folders; `s` may be NULL. */
struct wg_elf;
void wg_abi_symbols_each(wg_abi_symbols *s, void (*each)(void *user, unsigned core, struct wg_elf *elf), void *user);
/* The file in a folder that a core executes at pc, and where in it that is; NULL: none, or there is no folder. */
struct wg_device;
struct wg_elf *wg_abi_symbols_find(wg_abi_symbols *s, const struct wg_device *dev, unsigned core, uint32_t pc,
                                   uint32_t *address);
/* Absolute paths of files, and where each one's first segment is: of those without folders, and of those in a folder that the cores of a
 * Tensix tile execute now. */
typedef void wg_abi_path_fn(void *user, const char *path, uint32_t address);
void wg_abi_symbols_named(const wg_abi_symbols *s, wg_abi_path_fn *each, void *user);
void wg_abi_symbols_executed(const wg_abi_symbols *s, struct wg_device *dev, wg_abi_path_fn *each, void *user);
bool wg_abi_symbols_searches(const wg_abi_symbols *s); /* is there a folder? */
/* Symbols of the code in one tile: the `user` of the functions below. `symbols` may be NULL. */
typedef struct wg_abi_code {
    wg_abi_symbols *symbols;
    const struct wg_device *dev; /* NULL: without those in folders */
} wg_abi_code;
bool wg_abi_symbols_source(void *code, unsigned core, uint32_t pc, wg_source *out);
/* "main+0x1c (kernel.c:42)"; "" if nothing is known. Returns `room`. */
const char *wg_abi_symbols_place(void *code, unsigned core, uint32_t pc, char *room, size_t bytes);

#endif
