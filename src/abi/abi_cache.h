/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF file of what a core runs, found in a folder of builds (tt-metal's cache) by content: a kernel's code in L1 equals that
 * of one of the files. The host may build kernels at any time, so the folder is read when symbols are asked for.
 */
#ifndef WG_ABI_CACHE_H
#define WG_ABI_CACHE_H

#include "elf/elf.h"
#include "machine/device.h"

/* Functions of libwaitgate_symbols.so, which is loaded on demand. */
typedef struct wg_abi_elf {
    wg_elf *(*open)(const char *, char *, size_t);
    void (*close)(wg_elf *);
    const wg_elf_symbol *(*function)(const wg_elf *, uint32_t);
    bool (*line)(wg_elf *, uint32_t, wg_elf_line *);
    unsigned (*inlined)(wg_elf *, uint32_t, wg_elf_call *, unsigned);
    size_t (*segments)(const wg_elf *);
    const wg_elf_segment *(*segment_at)(const wg_elf *, size_t);
    bool (*kernel_read)(const wg_elf *, wg_elf_kernel *, char *, size_t);
    void (*kernel_free)(wg_elf_kernel *);
} wg_abi_elf;

typedef struct wg_abi_cache wg_abi_cache;

/* `elf` has to stay. NULL: no memory. */
wg_abi_cache *wg_abi_cache_open(const char *folder, const wg_abi_elf *elf);
void wg_abi_cache_close(wg_abi_cache *c);
/* A file, and an address in it. */
typedef struct wg_abi_found {
    wg_elf *elf;
    const char *path; /* as it was opened */
    uint32_t address;
} wg_abi_found;

/* Finds the file whose code a core executes at pc, and the address in that file. False if there is none. */
bool wg_abi_cache_find(wg_abi_cache *c, const wg_device *dev, unsigned core, uint32_t pc, wg_abi_found *out);

#endif
