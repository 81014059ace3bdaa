/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug interface of B, T0, T1 and T2: their DR registers, behind four registers of the tile.
 *
 *     RISC_DBG_CNTL_1    value to write            RISC_DBG_STATUS_1   value read
 *     RISC_DBG_CNTL_0    which core, which DR ──>  RISC_DBG_STATUS_0   echo, "value is valid"
 *
 *     DR(0) status · DR(1) commands · DR(2), DR(3) arguments · DR(4) result · DR(5), DR(10…17) breakpoints
 *
 * Facts: WormholeB0 DebugInterface.md (Blackhole has no page of its own), SoftReset.md.
 * Decided here: commands, and the echo, take place at once; a core pauses between two instructions; memory accesses go
 * straight to L1, the core's own RAM or the region, and one that would have to wait fails; slow execution mode is one
 * instruction at a time without forwarding, and no store waits for another to coalesce with; a memory watchpoint is hit by any
 * access to its byte, and pauses the core after the load, store, atomic or push that made it (the page lets it be some other
 * instruction nearby); Blackhole takes two commands for a step, as tt-exalens gives it two ("a bug in hardware"); the pc that is
 * written in slow execution mode is DR(3), where tt-exalens puts it (the page says DR(4), which software cannot write).
 */
#include <string.h>

#include "report/findings.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum {
    DR_STATUS = 0,
    DR_COMMAND = 1,
    DR_ARGUMENT = 2,
    DR_DATA = 3,
    DR_RESULT = 4,
    DR_MODES = 5,
    DR_ADDRESS = 10,
    PAUSE = 1 << 0,
    STEP = 1 << 1,
    RESUME = 1 << 2,
    READ_GPR = 1 << 3,
    WRITE_GPR = 1 << 4,
    READ_MEMORY = 1 << 5,
    WRITE_MEMORY = 1 << 6,
    CLEAR_GPRS = 1 << 7,
    WRITE_PC = 1 << 8,
    READ_PC = 32,
    BREAKPOINT = 8,
    WATCH_READS = 9,
    WATCH_WRITES = 10,
    WATCH_BOTH = 11,
    IS_WRITE = 1 << 16,
    VALID = 1 << 30
};
#define SLOW 0x80000000u
#define TRIGGER 0x80000000u

/* The core with this number at the debug interface; WG_CORES: none. */
static unsigned core_of(const wg_tile *t, unsigned which)
{
    unsigned core = 0;
    while (core < WG_CORES && (core >= t->spec->cores || t->spec->core[core].debug != which))
        core++;
    return core;
}

static bool paused(const wg_tile *t, unsigned core)
{
    uint8_t halt = t->core[core].run.halt;
    return halt == WG_HALTED || halt == WG_PARKED_BREAK;
}

static uint32_t status(wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    if (!paused(t, core))
        return 0;
    uint32_t hits = k->breakpoint_hits, watches = (uint32_t)(k->watch_reads | k->watch_writes);
    return 1u | (uint32_t)((hits & ~watches) != 0) << 1 | (uint32_t)((hits & watches) != 0) << 2 |
           (uint32_t)(k->run.halt == WG_PARKED_BREAK) << 3 | hits << 8;
}

/*
 * The debug daisychain: what it presents of the cores, 32 of 128 bits. Facts: WormholeB0 DebugDaisychain.md, groups A and B; for
 * Blackhole and its Ethernet tiles, tt-exalens' signals. Decided here: without delay; every pc is that of the instruction which is next.
 */
bool wg_daisychain_read(wg_tile *t, uint32_t control, uint32_t *value)
{
    enum { CORES = 7, ENABLED = 1 << 29 };
    const uint32_t signal = control & 0xFFFF, word = control >> 25 & 3;
    *value = 0;
    if (!(control & ENABLED))
        return true;
    if ((control >> 16 & 0xFF) != CORES)
        return false;
    for (unsigned core = 0; core < t->spec->cores; core++) {
        if (t->spec->core[core].daisy != signal / 2)
            continue;
        wg_core_peek(t, core, WG_SPACE_CORE_PC, 0, value);
        if (signal % 2 == 0 && word == 0) /* group A: retires next; it waits, if the core is paused */
            *value = (*value & 0x7FFFFFFF) | (uint32_t)paused(t, core) << 31;
        else if ((signal % 2 == 0 && word == 2) || (signal % 2 && word == 1)) /* fetched next; group B: decoded */
            *value &= 0x3FFFFFFF;
        else
            return false;
        return true;
    }
    return false;
}

/* A word of memory as the core would reach it. False if it cannot be had at once. */
static bool reach(wg_tile *t, unsigned core, uint32_t address, uint32_t *value, bool store)
{
    address &= ~3u;
    wg_route route = wg_address_route(t->spec, core, address, store);
    uint32_t ram = address - 0xFFB00000u;
    if (address < t->spec->l1_bytes) {
        if (store)
            wg_l1_write(t, WG_L1_HOST, address, 4, value);
        else
            wg_l1_read(t, address, 4, value);
        return true;
    }
    if (ram < t->spec->core[core].ram_bytes)
        return store ? wg_core_ram_write(t, core, ram, 4, value) : wg_core_ram_read(t, core, ram, 4, value);
    if (route.path >= WG_PATH_COUNT || !wg_region_handlers[route.path])
        return false;
    wg_request req = {.address = address,
                      .kind = store ? WG_REQ_WRITE : WG_REQ_READ,
                      .path = (uint8_t)route.path,
                      .bytes = 4,
                      .core = (uint8_t)core,
                      .index = (uint8_t)route.index,
                      .data = {*value}};
    uint32_t out[4] = {0};
    wg_stall why = {.retry_at = WG_NEVER};
    bool done = wg_region_handlers[route.path](t, &req, out, &why) == WG_REGION_DONE;
    if (done && !store)
        *value = out[0];
    return done;
}

static void command(wg_tile *t, unsigned which, uint32_t value)
{
    unsigned core = core_of(t, which);
    uint32_t *dr = t->regions.control.risc_debug.dr[which];
    wg_core_slow(t, core, (value & SLOW) != 0);
    if ((value & PAUSE) && !paused(t, core))
        wg_core_halt(t, core);
    if (!(value & 0x1FE))
        return;
    wg_core_sync(t, core);
    if (!paused(t, core)) {
        wg_findf(t, WG_F_RISC_DEBUG, (wg_finding){.agent = (uint8_t)core, .subject = value},
                 "command 0x%x to a core that is not paused", value & 0x1FE);
        return;
    }
    if (value & READ_GPR)
        wg_core_peek(t, core, dr[DR_ARGUMENT] == READ_PC ? WG_SPACE_CORE_PC : WG_SPACE_CORE_X, dr[DR_ARGUMENT] & 31,
                     &dr[DR_RESULT]);
    if (value & WRITE_GPR)
        wg_core_poke(t, core, WG_SPACE_CORE_X, dr[DR_ARGUMENT] & 31, dr[DR_DATA]);
    for (unsigned i = 1; (value & CLEAR_GPRS) && i < 32; i++)
        wg_core_poke(t, core, WG_SPACE_CORE_X, i, 0);
    if (((value & READ_MEMORY) && !reach(t, core, dr[DR_ARGUMENT], &dr[DR_RESULT], false)) ||
        ((value & WRITE_MEMORY) && !reach(t, core, dr[DR_ARGUMENT], &dr[DR_DATA], true)))
        wg_findf(t, WG_F_RISC_DEBUG, (wg_finding){.agent = (uint8_t)core, .subject = dr[DR_ARGUMENT]},
                 "0x%08x cannot be reached at once", dr[DR_ARGUMENT]);
    if (value & WRITE_PC)
        wg_core_poke(t, core, WG_SPACE_CORE_PC, 0, value & SLOW ? dr[DR_DATA] : wg_reset_vector(t, core));
    if (value & RESUME)
        wg_core_resume(t, core);
    else if ((value & STEP) && !(value & WRITE_PC))
        wg_core_step(t, core);
}

static void set_breakpoints(wg_tile *t, unsigned which)
{
    const uint32_t *dr = t->regions.control.risc_debug.dr[which];
    uint8_t code = 0, reads = 0, writes = 0;
    for (unsigned i = 0; i < WG_BREAKPOINTS; i++) {
        unsigned mode = dr[DR_MODES] >> 4 * i & 15;
        code |= (uint8_t)((mode == BREAKPOINT) << i);
        reads |= (uint8_t)((mode == WATCH_READS || mode == WATCH_BOTH) << i);
        writes |= (uint8_t)((mode == WATCH_WRITES || mode == WATCH_BOTH) << i);
    }
    wg_core_breakpoints(t, core_of(t, which), code | reads | writes, reads, writes, &dr[DR_ADDRESS]);
}

static void dr_write(wg_tile *t, unsigned which, unsigned index, uint32_t value)
{
    uint32_t *dr = t->regions.control.risc_debug.dr[which];
    if (index >= WG_DRS || index == DR_STATUS || index == DR_RESULT)
        return;
    const unsigned core = core_of(t, which);
    if (core == WG_CORES || (t->core[core].run.halt == WG_IN_RESET && wg_reset_clears_debug(t, core)))
        return;
    if (index > DR_MODES && index < DR_ADDRESS)
        return;
    dr[index] = value;
    if (index == DR_COMMAND)
        command(t, which, value);
    else if (index >= DR_MODES)
        set_breakpoints(t, which);
}

void wg_risc_debug_cntl(wg_tile *t, uint32_t value)
{
    wg_risc_debug *d = &t->regions.control.risc_debug;
    bool rising = (value & TRIGGER) && !(d->cntl0 & TRIGGER);
    unsigned which = value >> 17 & 3, index = value & 0x7FF;
    d->cntl0 = value;
    uint32_t valid = d->status0 & VALID;
    if (rising) {
        valid = 0;
        if (value & IS_WRITE) {
            dr_write(t, which, index, d->cntl1);
        } else {
            const unsigned core = core_of(t, which);
            d->status1 = index == DR_STATUS && core < WG_CORES ? status(t, core)
                         : index < WG_DRS                      ? d->dr[which][index]
                                                               : 0;
            valid = VALID;
        }
    }
    d->status0 = (value & (TRIGGER | 0x7FF)) | ((value >> 16 & 1) << (13 + which)) | valid;
}

void wg_risc_debug_core_reset(wg_tile *t, unsigned core)
{
    if (!wg_reset_clears_debug(t, core))
        return;
    const unsigned which = t->spec->core[core].debug;
    if (which < WG_RISC_DEBUG_CORES)
        memset(t->regions.control.risc_debug.dr[which], 0, sizeof t->regions.control.risc_debug.dr[which]);
    wg_core_breakpoints(t, core, 0, 0, 0, NULL);
    wg_core_slow(t, core, false);
}
