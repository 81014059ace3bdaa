/* SPDX-License-Identifier: Apache-2.0 */
/* A host of the libttsim ABI that makes any calls in any order, of up to eight bytes each. */
#include <stdlib.h>
#include <string.h>

#include "waitgate/waitgate.h"

void libttsim_init(void);
void libttsim_exit(void);
void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                        void (*write)(uint64_t, const void *, uint32_t));
uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset);
void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data);
void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size);
void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size);
void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size);
void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size);
void libttsim_clock(uint32_t clocks);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Chips are large: freed memory is reused soon, else the kernel spends most of the time clearing pages. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=1:malloc_context_size=1"; }

static bool call_back;

static void dma_read(uint64_t address, void *to, uint32_t bytes)
{
    memset(to, (int)address, bytes);
    if (call_back)
        libttsim_exit();
}

static void dma_write(uint64_t address, const void *from, uint32_t bytes)
{
    volatile uint8_t sum = 0;
    (void)address;
    for (uint32_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)from)[i]);
    if (call_back)
        libttsim_clock(1);
}

/* Interesting addresses: windows, their registers, a tile. */
static uint64_t address_of(uint32_t word)
{
    static const uint64_t bases[] = {0,           0x1FC00000, 0x1FD00000, 0x1FE80000,
                                     0x800000000, 0xFFB12000, 0xFFB20000, 0xFFB40000};
    uint64_t bar =
        ((uint64_t)libttsim_pci_config_rd32(0, 0x14) << 32 | libttsim_pci_config_rd32(0, 0x10)) & ~UINT64_C(15);
    return (word >> 31 ? bar : 0) + bases[word >> 28 & 7] + (word & 0xFFFFFF) % (word >> 27 & 1 ? 0x4000 : 0x1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[4096] = {0};
    libttsim_set_pci_dma_mem_callbacks(dma_read, dma_write);
    libttsim_init();
    for (unsigned calls = 0; size >= 10 && calls < 64; calls++, data += 10, size -= 10) {
        uint32_t a, b;
        memcpy(&a, data + 1, 4);
        memcpy(&b, data + 5, 4);
        uint32_t length = data[9] % 3 == 0 ? 4 : (uint32_t)data[9] * 7 % sizeof bytes;
        memcpy(bytes, &b, 4);
        switch (data[0] % 10) {
        case 0: libttsim_clock(b % 200); break;
        case 1: libttsim_pci_config_wr32(a & 1, b % 256, a); break;
        case 2: (void)libttsim_pci_config_rd32(a & 1, b % 256); break;
        case 3: libttsim_pci_mem_rd_bytes(address_of(a), bytes, length); break;
        case 4: libttsim_pci_mem_wr_bytes(address_of(a), bytes, length); break;
        case 5: libttsim_tile_rd_bytes(a & 31, a >> 5 & 15, address_of(b) & 0xFFFFFFFF, bytes, length); break;
        case 6: libttsim_tile_wr_bytes(a & 31, a >> 5 & 15, address_of(b) & 0xFFFFFFFF, bytes, length); break;
        case 7: call_back = b & 1; break;
        case 8: libttsim_tile_wr_bytes(1, 2, 0xFFB121B0, bytes, 4); break; /* soft reset */
        default:
            if (b % 8 == 0) {
                libttsim_exit();
                libttsim_init();
            }
        }
    }
    libttsim_exit();
    return 0;
}
