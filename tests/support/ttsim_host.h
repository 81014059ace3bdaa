/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host of the libttsim ABI, written only from its public description: load the shared object, find the chip in
 * configuration space, aim a TLB window of BAR 0 at a tile, read and write.
 */
#ifndef TTSIM_HOST_H
#define TTSIM_HOST_H

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include "wgtest.h"

enum { CORES_IN_RESET = 0x47800, RESET_B = 1 << 11, RESET_T1 = 1 << 13 };
#define DEBUG_REGS UINT64_C(0xFFB12000)
#define SOFT_RESET (DEBUG_REGS + 0x1B0)

typedef struct lib {
    void *handle;
    void (*init)(void), (*exit)(void), (*clock)(uint32_t);
    uint32_t (*config_read)(uint32_t, uint32_t);
    void (*config_write)(uint32_t, uint32_t, uint32_t);
    void (*read)(uint64_t, void *, uint32_t);
    void (*write)(uint64_t, const void *, uint32_t);
    void (*tile_read)(uint32_t, uint32_t, uint64_t, void *, uint32_t);
    void (*callbacks)(void (*)(uint64_t, void *, uint32_t), void (*)(uint64_t, const void *, uint32_t));
    wg_arch_id arch;
    uint64_t bar0;
    unsigned x, y;
} lib;

static inline void *symbol(lib *l, const char *name)
{
    void *address = dlsym(l->handle, name);
    if (!address)
        fail_msg("%s: %s", name, dlerror());
    return address;
}

/* dlsym() returns data pointers; ISO C has no other conversion from them to function pointers. */
#define FUNCTION(l, member, name) *(void **)&(l)->member = symbol(l, name)

static inline const char *library_of(wg_arch_id arch) { return arch == WG_ARCH_BH ? WG_LIBTTSIM_BH : WG_LIBTTSIM_WH; }

static inline lib load_from(wg_arch_id arch, const char *path)
{
    lib l = {.arch = arch, .x = 1, .y = arch == WG_ARCH_BH ? 2 : 1};
    l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle)
        fail_msg("%s", dlerror());
    FUNCTION(&l, init, "libttsim_init");
    FUNCTION(&l, exit, "libttsim_exit");
    FUNCTION(&l, clock, "libttsim_clock");
    FUNCTION(&l, config_read, "libttsim_pci_config_rd32");
    FUNCTION(&l, config_write, "libttsim_pci_config_wr32");
    FUNCTION(&l, read, "libttsim_pci_mem_rd_bytes");
    FUNCTION(&l, write, "libttsim_pci_mem_wr_bytes");
    FUNCTION(&l, tile_read, "libttsim_tile_rd_bytes");
    FUNCTION(&l, callbacks, "libttsim_set_pci_dma_mem_callbacks");
    return l;
}

static inline lib load(wg_arch_id arch) { return load_from(arch, library_of(arch)); }

static inline lib start(void **state)
{
    lib l = load(wg_test_arch(state));
    l.init();
    assert_int_equal(l.config_read(0, 0) & 0xFFFF, 0x1E52);
    assert_int_equal(l.config_read(0, 0) >> 16, l.arch == WG_ARCH_BH ? 0xB140 : 0x401E);
    l.bar0 = ((uint64_t)l.config_read(0, 0x14) << 32 | l.config_read(0, 0x10)) & ~UINT64_C(15);
    return l;
}

static inline void end(lib *l)
{
    l->exit();
    dlclose(l->handle);
}

/* Aims window 0 at the tile; returns the host's address for `address`. */
static inline uint64_t aim(lib *l, uint64_t address)
{
    uint64_t regs = l->bar0 + 0x1FC00000;
    if (l->arch == WG_ARCH_BH) {
        uint64_t page = address >> 21;
        uint32_t words[3] = {(uint32_t)page, (uint32_t)(page >> 32) | l->x << 11 | l->y << 17, 1 << 6};
        for (unsigned i = 0; i < 3; i++)
            l->write(regs + 4 * i, &words[i], 4);
        return l->bar0 + (address & 0x1FFFFF);
    }
    uint64_t value = address >> 20 | (uint64_t)l->x << 16 | (uint64_t)l->y << 22;
    l->write(regs, &value, 8);
    return l->bar0 + (address & 0xFFFFF);
}

static inline void put(lib *l, uint64_t address, const void *from, uint32_t bytes)
{
    l->write(aim(l, address), from, bytes);
}
static inline void put32(lib *l, uint64_t address, uint32_t value) { put(l, address, &value, 4); }
static inline uint32_t get32(lib *l, uint64_t address)
{
    uint32_t value = 0xDEADBEEF;
    l->read(aim(l, address), &value, 4);
    return value;
}

/* T1 starts at `base`. */
static inline void release_t1(lib *l, uint32_t base)
{
    if (l->arch == WG_ARCH_BH) {
        put32(l, DEBUG_REGS + 0x22C, base);
        put32(l, DEBUG_REGS + 0x234, 2);
    } else {
        put32(l, 0xFFEF0000 + 159 * 4, base);
        put32(l, 0xFFEF0000 + 161 * 4, 2);
    }
    put32(l, SOFT_RESET, CORES_IN_RESET & ~RESET_T1);
}

/* The contents of a file that the library has written; the file is then removed. */
static inline void take_file(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t used = fread(text, 1, bytes - 1, file);
    fclose(file);
    unlink(path);
    assert_true(used > 0);
    text[used] = 0;
}

#endif
