/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip behind PCI Express: a grid of tiles, the tiles that are registers and memory only, and the
 * windows through which a host reaches them all.
 *
 *     host ── configuration space
 *          ── BAR 0, BAR 4 ── TLB windows (chip.c) ──┐
 *          ── BAR 2 ── DMA engines, iATU (pcie.c)    ├── grid ── Tensix, DRAM
 *     host memory <── PCI Express tile (pcie.c) <────┤        ── ARC (arc.c), Ethernet (eth.c), L2CPU (l2cpu.c)
 *                                                    └── NoC
 */
#ifndef WG_CARD_H
#define WG_CARD_H

#include <waitgate/card.h>

#include "chip/chip.h"
#include "chip/grid.h"
#include "report/findings.h"

/* ---- ARC -------------------------------------------------------------------------------------------- */

enum { WG_ARC_CSM = 512 * 1024, WG_ARC_SCRATCH = 8, WG_ARC_SCRATCH_RAM = 64 };

typedef struct wg_arc {
    uint8_t csm[WG_ARC_CSM];
    uint32_t scratch[WG_ARC_SCRATCH], scratch_ram[WG_ARC_SCRATCH_RAM];
    uint32_t misc_cntl, l2cpu_reset;
    uint32_t aiclk; /* MHz, as set by the last power message */
} wg_arc;

void wg_arc_init(wg_card *card);
uint32_t wg_arc_apb_read(wg_card *card, uint32_t offset);
void wg_arc_apb_write(wg_card *card, uint32_t offset, uint32_t value);

/* ---- PCI Express ------------------------------------------------------------------------------------ */

enum { WG_IATU_REGIONS = 16, WG_BAR2_WORDS = 0x1200 / 4 };

typedef struct wg_iatu { /* one region, in register layout */
    uint32_t ctrl_1, ctrl_2, lower_base, upper_base, lower_limit, lower_target, upper_target, ctrl_3, upper_limit;
} wg_iatu;

typedef struct wg_pcie {
    uint32_t config[16];             /* configuration space, type 0 header */
    uint32_t tlb[WG_CHIP_TLB_WORDS]; /* windows' registers */
    wg_window window[WG_CHIP_TLBS];  /* the same, decoded … */
    bool decoded[WG_CHIP_TLBS];      /* … where this is set */
    uint64_t last_base, last_bytes;  /* bus addresses of the window used last; 0 bytes: none */
    unsigned last_index;
    wg_device *last_tile; /* … its Tensix tile, if it is one and the window breaks no rule, and the address in it */
    uint64_t last_address;
    wg_iatu iatu[2][WG_IATU_REGIONS]; /* outbound, inbound */
    uint32_t dma[WG_BAR2_WORDS];      /* DMA engines' registers, by offset in BAR 2 */
    uint32_t device_control;          /* DBI */
} wg_pcie;

void wg_pcie_init(wg_card *card);
uint32_t wg_pcie_bar2_read(wg_card *card, uint32_t offset);
void wg_pcie_bar2_write(wg_card *card, uint32_t offset, uint32_t value);
/* Sets one outbound region, as firmware does at a host's request. */
void wg_pcie_map(wg_card *card, unsigned region, uint64_t base, uint64_t bytes, uint64_t target);

/* ---- L2CPU ------------------------------------------------------------------------------------------ */

enum { WG_L2CPU_TILES = 4, WG_L2CPU_WORDS = 0x20000 / 4 };

typedef struct wg_l2cpu {
    uint32_t reg[WG_L2CPU_WORDS]; /* external peripherals: TLB windows, reset vectors, scratch */
} wg_l2cpu;

/* ---- The NIUs of all these tiles -------------------------------------------------------------------- */

enum { WG_MODEL_NIU_WORDS = 0x400 / 4 };
typedef struct wg_niu_words {
    uint32_t word[2][WG_MODEL_NIU_WORDS];
} wg_niu_words;

/* ---- The card --------------------------------------------------------------------------------------- */

/* A tile without cores, and its place. */
typedef struct wg_model {
    wg_card *card;
    uint8_t kind, index, x, y; /* wg_tile_kind; index within its kind */
    wg_niu_words niu;
} wg_model;

enum { WG_CARD_FINDINGS = 1024 };

struct wg_card {
    const wg_chip *chip;
    wg_grid *grid;
    wg_card_desc desc;
    wg_arc arc;
    wg_pcie pcie;
    wg_l2cpu l2cpu[WG_L2CPU_TILES];
    wg_model model[WG_GRID_MAX_TILES]; /* [y * width + x]; unused for Tensix tiles */
    uint8_t via_noc;                   /* the NoC named by the window of the host's current access */
    wg_finding finding[WG_CARD_FINDINGS];
    wg_where where[WG_CARD_FINDINGS];
    size_t findings;
    uint64_t findings_dropped;
    char error[256];
};

/* Reports one occurrence, at the tile or, with x == WG_NOWHERE, the host; equal ones (code, tile, subject) are counted. */
/* Is it a register of the windows, whose write changes nothing on the chip? */
bool wg_card_aims(const wg_card *card, uint64_t address);
void wg_card_find(wg_card *card, wg_finding_code code, unsigned x, unsigned y, uint64_t subject, uint64_t value,
                  const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Reports an access to a register that is not modelled. */
void wg_model_unknown(wg_model *m, uint64_t address, uint32_t value, bool write);

wg_model *wg_card_model(wg_card *card, unsigned x, unsigned y);

/* Accesses any bytes of a tile; false if nothing is there. Accesses to registers are split into words. */
typedef bool (*wg_access_fn)(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);
bool wg_arc_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);
bool wg_pcie_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);
bool wg_l2cpu_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);
/* model.c: DRAM tiles, and tiles with nothing but their NIUs. */
bool wg_dram_tile_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);
bool wg_niu_only_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write);

/* A word of the NIU's registers: read (then `value` is ignored) or written. */
uint32_t wg_model_niu(wg_model *m, unsigned noc, uint32_t offset, uint32_t value, bool write);
/* As wg_model_niu(), by the registers' address in the tile; for wg_model_words(). */
uint32_t wg_model_niu_word(wg_model *m, uint64_t address, uint32_t value, bool write);

/* Bytes as words: `word` is called for each aligned word; a narrow write changes the bytes it names. */
typedef uint32_t (*wg_word_fn)(wg_model *m, uint64_t address, uint32_t value, bool write);
void wg_model_words(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write, wg_word_fn word);
/* Accesses a memory of `room` bytes; false if out of bounds. */
bool wg_model_memory(uint8_t *memory, uint64_t room, uint64_t address, uint8_t *data, size_t bytes, bool write);

#endif
