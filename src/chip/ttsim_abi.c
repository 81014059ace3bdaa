/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libttsim ABI: a chip behind PCI Express, for hosts that load a simulator as a shared library.
 * One library per architecture; WG_TTSIM_ARCH says which this is.
 *
 *     host ──> config space, BARs ──> TLB windows (chip.c) ──> worker tiles, made when first touched
 *
 * The ABI is a process-wide singleton, so its state is the one static object below. Nothing here
 * ends the host's process unless it asks for that: findings and accesses that lead nowhere go to
 * standard error, each once.
 *
 *     WAITGATE_ON_FINDING=continue   (default) say so and go on
 *                         stop       time stands still after a finding at or above a warning
 *                         exit       end the process with status 2
 *     WAITGATE_CLOCKS_PER_READ=N     every read from a BAR lets N clocks pass afterwards (default 0)
 *     WAITGATE_PROFILE=documented|silicon   WAITGATE_SEED=N   WAITGATE_LOCKSTEP=1
 *
 * Facts: the ABI's public description, libttsim_api.md. Differences: device accesses that lead
 * nowhere read as zero, libttsim_init() after libttsim_exit() works, the tile-relative functions
 * work as well, tiles are allocated when first touched. There is no NoC: only hosts reach tiles.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/chip.h"
#include "engine/device.h"

#ifndef WG_TTSIM_ARCH
#define WG_TTSIM_ARCH WG_ARCH_BH
#endif
#define ABI __attribute__((visibility("default")))

enum { BARS = 6, TLB_WORDS = 1024, SAID = 256 };
typedef enum on_finding { CONTINUE, STOP, EXIT } on_finding;

typedef struct abi_tile {
    wg_device *dev;
    size_t said;            /* findings already printed */
} abi_tile;

static struct {
    bool running;
    bool stopped;           /* by a finding, WAITGATE_ON_FINDING=stop */
    on_finding on_finding;
    uint32_t clocks_per_read;
    wg_device_desc desc;
    uint64_t clock;
    uint32_t config[16];    /* PCI configuration space, type 0 header */
    uint32_t tlb[TLB_WORDS];
    abi_tile tile[WG_CHIP_GRID][WG_CHIP_GRID];   /* [y][x] */
    uint64_t said[SAID];    /* what has been said already, by hash */
    unsigned said_count;
    void (*dma_read)(uint64_t, void *, uint32_t);
    void (*dma_write)(uint64_t, const void *, uint32_t);
} abi;

static const wg_chip *const chip = &wg_chips[WG_TTSIM_ARCH];

ABI void libttsim_init(void);
ABI void libttsim_exit(void);
ABI void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                            void (*write)(uint64_t, const void *, uint32_t));
ABI uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset);
ABI void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data);
ABI void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size);
ABI void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size);
ABI void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size);
ABI void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size);
ABI void libttsim_clock(uint32_t clocks);

/* One line on standard error; the same line is not said twice in a run. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = line; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    for (unsigned i = 0; i < abi.said_count; i++)
        if (abi.said[i] == hash)
            return;
    if (abi.said_count < SAID)
        abi.said[abi.said_count++] = hash;
    fprintf(stderr, "waitgate: %s\n", line);
}

static bool running(const char *function)
{
    if (!abi.running)
        say("%s: libttsim_init has not been called", function);
    return abi.running;
}

/* ---- Findings ------------------------------------------------------------------------------------- */

static void print_finding(unsigned x, unsigned y, const wg_finding *f)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    char pc[24] = "";
    if (f->has_pc)
        snprintf(pc, sizeof pc, " pc 0x%08" PRIx32, f->pc);
    say("%s: tile %u-%u cycle %" PRIu64 " %s%s: %s%s%s", info ? info->code : "finding", x, y, f->cycle,
        wg_agent_name(f->agent), pc, info ? info->cause : "", f->detail[0] ? " " : "", f->detail);
}

/* Prints what is new; true if any of it is a warning or worse. */
static bool print_findings(unsigned x, unsigned y)
{
    abi_tile *tile = &abi.tile[y][x];
    bool serious = false;
    for (; tile->said < wg_finding_count(tile->dev); tile->said++) {
        const wg_finding *f = wg_finding_at(tile->dev, tile->said);
        const wg_finding_info *info = wg_finding_info_at(f->code);
        print_finding(x, y, f);
        serious |= info && info->severity >= WG_SEVERITY_WARNING;
    }
    return serious;
}

/* ---- Tiles ---------------------------------------------------------------------------------------- */

static wg_device *tile_at(unsigned x, unsigned y)
{
    if (!wg_chip_is_worker(chip, x, y)) {
        say("no worker tile at %u-%u; other tiles (DRAM, ARC, Ethernet, PCI Express) are not emulated", x, y);
        return NULL;
    }
    abi_tile *tile = &abi.tile[y][x];
    if (tile->dev)
        return tile->dev;
    if (wg_create(&abi.desc, &tile->dev) != WG_OK) {
        tile->dev = NULL;
        say("tile %u-%u: out of memory", x, y);
        return NULL;
    }
    tile->said = 0;
    tile->dev->tile->regions.niu.coordinate = (uint16_t)(x | y << 6);
    wg_advance(tile->dev, abi.clock);   /* held in reset until now: all tiles have one clock */
    return tile->dev;
}

static void tile_read(unsigned x, unsigned y, uint64_t address, void *to, uint32_t size)
{
    memset(to, 0, size);
    wg_device *dev = tile_at(x, y);
    if (!dev)
        return;
    if (wg_read(dev, address, to, size) != WG_OK)
        say("tile %u-%u: host read: %s", x, y, wg_error(dev));
    print_findings(x, y);
}

static void tile_write(unsigned x, unsigned y, uint64_t address, const void *from, uint32_t size)
{
    wg_device *dev = tile_at(x, y);
    if (!dev)
        return;
    if (wg_write(dev, address, from, size) != WG_OK)
        say("tile %u-%u: host write: %s", x, y, wg_error(dev));
    print_findings(x, y);
}

/* ---- Life cycle and time -------------------------------------------------------------------------- */

static uint64_t number_from(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : 0;
}

static on_finding finding_policy(void)
{
    const char *text = getenv("WAITGATE_ON_FINDING");
    if (!text || !strcmp(text, "continue"))
        return CONTINUE;
    if (!strcmp(text, "stop"))
        return STOP;
    if (!strcmp(text, "exit"))
        return EXIT;
    say("WAITGATE_ON_FINDING=%s is none of continue, stop, exit: going on", text);
    return CONTINUE;
}

ABI void libttsim_init(void)
{
    if (abi.running) {
        say("libttsim_init: called again without libttsim_exit");
        return;
    }
    void (*dma_read)(uint64_t, void *, uint32_t) = abi.dma_read;
    void (*dma_write)(uint64_t, const void *, uint32_t) = abi.dma_write;
    memset(&abi, 0, sizeof abi);
    abi.dma_read = dma_read;
    abi.dma_write = dma_write;
    abi.on_finding = finding_policy();
    abi.clocks_per_read = (uint32_t)number_from("WAITGATE_CLOCKS_PER_READ");
    const char *profile = getenv("WAITGATE_PROFILE");
    abi.desc = (wg_device_desc){
        .struct_size = sizeof abi.desc, .arch = chip->arch, .seed = number_from("WAITGATE_SEED"),
        .profile = profile && !strcmp(profile, "silicon") ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED,
        .lockstep = number_from("WAITGATE_LOCKSTEP") != 0};
    abi.config[0] = chip->pci_id;
    abi.config[2] = UINT32_C(0x12000000) | chip->revision;   /* processing accelerator */
    for (unsigned bar = 0; bar < BARS; bar += 2) {
        abi.config[4 + bar] = (uint32_t)chip->bar_base[bar] | 4;   /* 64 bits, not prefetchable */
        abi.config[5 + bar] = (uint32_t)(chip->bar_base[bar] >> 32);
    }
    abi.config[15] = 0xFF;   /* no interrupt line */
    abi.running = true;
}

ABI void libttsim_exit(void)
{
    if (!running("libttsim_exit"))
        return;
    for (unsigned y = 0; y < WG_CHIP_GRID; y++)
        for (unsigned x = 0; x < WG_CHIP_GRID; x++) {
            wg_destroy(abi.tile[y][x].dev);
            abi.tile[y][x].dev = NULL;
        }
    abi.running = false;
}

ABI void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                            void (*write)(uint64_t, const void *, uint32_t))
{
    abi.dma_read = read;
    abi.dma_write = write;
}

/* `clocks` cycles, or fewer if a finding is to stop it. */
static void advance(wg_device *dev, uint32_t clocks)
{
    if (abi.on_finding != STOP) {
        wg_advance(dev, clocks);
        return;
    }
    uint64_t end = wg_cycle(dev) + clocks;
    wg_stop why = WG_STOP_CYCLES;
    wg_stop_on(dev, WG_SEVERITY_WARNING);
    wg_run(dev, clocks, &why);
    if (why != WG_STOP_FINDING && wg_cycle(dev) < end)
        wg_advance(dev, end - wg_cycle(dev));   /* at rest: waiting for the host */
}

ABI void libttsim_clock(uint32_t clocks)
{
    if (!running("libttsim_clock") || abi.stopped)
        return;
    for (unsigned y = 0; y < WG_CHIP_GRID; y++)
        for (unsigned x = 0; x < WG_CHIP_GRID; x++) {
            if (!abi.tile[y][x].dev)
                continue;
            advance(abi.tile[y][x].dev, clocks);
            if (!print_findings(x, y) || abi.on_finding == CONTINUE)
                continue;
            if (abi.on_finding == EXIT)
                exit(2);
            say("time stands still from here on (WAITGATE_ON_FINDING=stop)");
            abi.stopped = true;
        }
    abi.clock += clocks;
}

/* ---- Configuration space -------------------------------------------------------------------------- */

static bool this_device(uint32_t bus_device_function, uint32_t offset)
{
    return bus_device_function == 0 && offset % 4 == 0;
}

ABI uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    if (!running("libttsim_pci_config_rd32") || !this_device(bus_device_function, offset))
        return UINT32_MAX;   /* no such device */
    if (offset >= sizeof abi.config) {
        say("configuration space has nothing at 0x%" PRIx32, offset);
        return 0;
    }
    return abi.config[offset / 4];
}

ABI void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data)
{
    if (!running("libttsim_pci_config_wr32") || !this_device(bus_device_function, offset))
        return;
    unsigned reg = offset / 4, bar = (reg - 4) & ~1u;
    uint32_t mask = 0;
    if (reg == 1 || reg == 3)
        mask = 0xFFFF;
    else if (reg == 15)
        mask = 0xFF;
    else if (reg >= 4 && reg < 4 + BARS)
        mask = (uint32_t)(~(chip->bar_size[bar] - 1) >> (reg & 1 ? 32 : 0));
    else
        say("configuration space cannot be written at 0x%" PRIx32, offset);
    if (mask)
        abi.config[reg] = (abi.config[reg] & ~mask) | (data & mask);
}

/* ---- BARs ----------------------------------------------------------------------------------------- */

/* The BAR that holds a physical address, and the offset in it. */
static bool find_bar(uint64_t paddr, unsigned *bar, uint64_t *offset)
{
    for (unsigned i = 0; i < BARS; i += 2) {
        uint64_t base = (abi.config[4 + i] & ~UINT32_C(15)) | (uint64_t)abi.config[5 + i] << 32;
        if (chip->bar_size[i] && paddr - base < chip->bar_size[i]) {
            *bar = i;
            *offset = paddr - base;
            if (i == 4 && chip->bar4_alias) {
                *bar = 0;
                *offset += chip->bar4_alias;
            }
            return true;
        }
    }
    return false;
}

/* The TLB configuration register at an offset of BAR 0, or NULL. */
static uint32_t *tlb_register(unsigned bar, uint64_t offset)
{
    bool is = bar == 0 && offset % 4 == 0 && offset >= chip->tlb_config &&
              offset - chip->tlb_config < 4 * (uint64_t)chip->tlb_words;
    return is ? &abi.tlb[(offset - chip->tlb_config) / 4 % TLB_WORDS] : NULL;
}

static void window_write(const wg_chip_target *target, const void *from, uint32_t size)
{
    if (!target->multicast) {
        tile_write(target->x1, target->y1, target->address, from, size);
        return;
    }
    for (unsigned y = target->y0; y <= target->y1; y++)
        for (unsigned x = target->x0; x <= target->x1; x++)
            if (wg_chip_is_worker(chip, x, y))
                tile_write(x, y, target->address, from, size);
}

/* One piece of an access, up to the end of a window or register; returns its size. */
static uint32_t read_piece(uint64_t paddr, uint8_t *to, uint32_t size)
{
    unsigned bar;
    uint64_t offset;
    wg_chip_target target;
    if (!find_bar(paddr, &bar, &offset)) {
        say("read of 0x%" PRIx64 ", %" PRIu32 " bytes: no BAR is there", paddr, size);
    } else if (wg_chip_translate(chip, bar, offset, abi.tlb, &target)) {
        uint32_t part = size < target.room ? size : target.room;
        if (target.multicast)
            say("read through a multicast window at BAR %u + 0x%" PRIx64, bar, offset);
        tile_read(target.x1, target.y1, target.address, to, part);
        return part;
    } else {
        uint32_t *reg = tlb_register(bar, offset);
        if (reg && size >= 4) {
            memcpy(to, reg, 4);
            return 4;
        }
        say("read of BAR %u + 0x%" PRIx64 ", %" PRIu32 " bytes: not emulated, reads as zero", bar, offset, size);
    }
    memset(to, 0, size);
    return size;
}

static uint32_t write_piece(uint64_t paddr, const uint8_t *from, uint32_t size)
{
    unsigned bar;
    uint64_t offset;
    wg_chip_target target;
    if (!find_bar(paddr, &bar, &offset)) {
        say("write to 0x%" PRIx64 ", %" PRIu32 " bytes: no BAR is there", paddr, size);
    } else if (wg_chip_translate(chip, bar, offset, abi.tlb, &target)) {
        uint32_t part = size < target.room ? size : target.room;
        window_write(&target, from, part);
        return part;
    } else {
        uint32_t *reg = tlb_register(bar, offset);
        if (reg && size >= 4) {
            memcpy(reg, from, 4);
            return 4;
        }
        say("write to BAR %u + 0x%" PRIx64 ", %" PRIu32 " bytes: not emulated, discarded", bar, offset, size);
    }
    return size;
}

ABI void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size)
{
    if (!running("libttsim_pci_mem_rd_bytes"))
        return;
    for (uint32_t done = 0; done < size;)
        done += read_piece(paddr + done, (uint8_t *)to + done, size - done);
    if (abi.clocks_per_read)
        libttsim_clock(abi.clocks_per_read);
}

ABI void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size)
{
    if (!running("libttsim_pci_mem_wr_bytes"))
        return;
    for (uint32_t done = 0; done < size;)
        done += write_piece(paddr + done, (const uint8_t *)from + done, size - done);
}

ABI void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size)
{
    if (running("libttsim_tile_rd_bytes"))
        tile_read(x, y, address, to, size);
}

ABI void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size)
{
    if (running("libttsim_tile_wr_bytes"))
        tile_write(x, y, address, from, size);
}
