/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The L2CPU tiles of Blackhole: present, and held in reset. Hosts prepare them through the external
 * peripherals (TLB windows, reset vectors, scratch memory) and reach the adjacent DRAM; releasing their harts is reported and
 * has no effect.
 *
 * Facts: BlackholeA0/L2CPUTile/README.md, MemoryMap.md.
 */
#include "chip/card.h"

#define PERIPHERALS UINT64_C(0x20000000)
#define PERIPHERALS_HIGH UINT64_C(0xFFFFF7FEFFF00000)
#define GDDR UINT64_C(0x30000000)
#define GDDR_CACHED UINT64_C(0x400030000000)
#define GDDR_BYTES UINT64_C(0x100000000)
enum { PERIPHERAL_BYTES = 0x80000, NIU0 = 0x56000, NIU1 = 0x57000, STATUS = 0x10400 };

/* The DRAM tile next to each: D5, D6, D7, D7, by the harts' numbers (CPUs 0-3 at y 3, 4-7 at 9, 8-11 at 5, 12-15 at 7). */
static unsigned dram_row(unsigned y) { return y == 3 ? 2 : y == 9 ? 4 : 5; }

static uint32_t peripheral_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    wg_l2cpu *c = &m->card->l2cpu[m->index % WG_L2CPU_TILES];
    if (offset >= NIU0 && offset < NIU0 + 0x2000)
        return wg_model_niu(m, offset >= NIU1, (uint32_t)offset & 0xFFF, value, write);
    bool windows = offset < 0xF80, vectors = offset >= 0x10000 && offset < 0x10020;
    bool scratch = offset >= 0x10100 && offset < 0x10140, lines = offset >= STATUS && offset < 0x10458;
    if (!(windows || vectors || scratch || lines)) {
        wg_model_unknown(m, PERIPHERALS + offset, value, write);
        return 0;
    }
    uint32_t *reg = &c->reg[offset / 4 % WG_L2CPU_WORDS];
    if (write)
        *reg = offset == STATUS ? value & 0xFFFF0000 : value; /* hart state is read-only; the harts do nothing */
    return *reg;
}

bool wg_l2cpu_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    if (address >= m->card->chip->niu_base) {
        wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
        return true;
    }
    uint64_t base = address >= PERIPHERALS_HIGH ? PERIPHERALS_HIGH : PERIPHERALS;
    if (address >= base && address - base < PERIPHERAL_BYTES) {
        wg_model_words(m, address - base, data, bytes, write, peripheral_word);
        return true;
    }
    uint64_t gddr = address >= GDDR_CACHED ? GDDR_CACHED : GDDR;
    if (address >= gddr && address - gddr < GDDR_BYTES && bytes <= GDDR_BYTES - (address - gddr)) {
        wg_grid *grid = m->card->grid;
        wg_status status = write ? wg_grid_write(grid, 9, dram_row(m->y), address - gddr, data, bytes)
                                 : wg_grid_read(grid, 9, dram_row(m->y), address - gddr, data, bytes);
        return status == WG_OK;
    }
    return false;
}
