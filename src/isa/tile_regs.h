/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address map and the memory-mapped registers of the tile and its neighbours, as data: names,
 * offsets, access, values after reset. The effects of a register are implemented by its unit.
 */
#ifndef WG_ISA_TILE_REGS_H
#define WG_ISA_TILE_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

/* The address map: WG_REGION_noc0_regs … */
typedef enum wg_region_id {
#define WG_REGION(name, bh, wh) WG_REGION_##name,
#define RANGE(first, last)
#define NOWHERE
#include "isa/tile_regs.def"
    WG_REGION_COUNT
} wg_region_id;

typedef struct wg_region_range {
    uint64_t first, last; /* inclusive; first > last: not on this architecture */
} wg_region_range;

extern const wg_region_range wg_region_ranges[2][WG_REGION_COUNT];
extern const char *const wg_region_names[WG_REGION_COUNT];

/* Lists of registers. Both NoCs share one, all overlay streams share one. */
typedef enum wg_reg_list {
    WG_REGS_TDMA,
    WG_REGS_DEBUG,
    WG_REGS_ETH_RISC,
    WG_REGS_NIU,
    WG_REGS_STREAM,
    WG_REGS_PCBUF,
    WG_REGS_ETH_TXQ,
    WG_REGS_ETH_RXQ,
    WG_REGS_ETH_CTRL,
    WG_REGS_ETH_TXPKT,
    WG_REGS_ETH_MAC,
    WG_REGS_PCIE_DBI,
    WG_REGS_ARC_RESET,
    WG_REGS_COUNT
} wg_reg_list;

typedef enum wg_reg_access { WG_REG_UNKNOWN, WG_REG_RW, WG_REG_RO, WG_REG_WO } wg_reg_access;

/* The registers: WG_REG_DEBUG_soft_reset_0 … */
typedef enum wg_reg_id {
#define WG_TILE_REG(list, name, bh, wh) WG_REG_##list##_##name,
#define AT(offset, access, reset)
#define ARRAY(offset, access, reset, count, stride)
#define NOT_HERE
#include "isa/tile_regs.def"
    WG_REG_COUNT
} wg_reg_id;

typedef struct wg_tile_reg {
    const char *name;
    uint32_t offset; /* in its region */
    uint32_t reset;  /* 0 where it is not known */
    uint32_t stride; /* between elements of an array */
    uint16_t count;  /* elements; 0: not on this architecture */
    uint8_t list;    /* wg_reg_list */
    uint8_t access;  /* wg_reg_access */
    bool reset_known;
} wg_tile_reg;

extern const wg_tile_reg wg_tile_regs[2][WG_REG_COUNT];

/*
 * The register at a byte offset in its region, and its element; WG_REG_COUNT if there is none.
 * An offset inside a register that is not its first byte finds nothing.
 */
wg_reg_id wg_tile_reg_at(wg_arch_id arch, wg_reg_list list, uint32_t offset, unsigned *element);

#endif
