/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ARC tile as hosts see it: firmware that has started, memory it shares with hosts, telemetry, and
 * messages to it, which it answers at once.
 *
 *     host, NoC ──┬── CSM, 512 KiB: telemetry, message queues (BH), mailbox (WH)
 *                 └── APB ── reset unit: scratch registers, post code, reference clock, the message interrupt
 *                        └── the tile's NIUs
 *
 * Facts: README.md, ResetUnit.md and Telemetry.md of WormholeB0/ARCTile, BlackholeA0/L2CPUTile/README.md
 * (L2CPU_RESET); the protocols of messages and telemetry as the public user-mode driver speaks them. The firmware
 * itself is not emulated: what it would publish is filled in at the start.
 */
#include <string.h>

#include "chip/card.h"
#include "isa/tile_regs.h"

enum { RESET_UNIT = 0x30000, NIU0 = 0x50000, NIU1 = 0x58000, MSI_FIFO = 0xB0000 };
enum { L2CPU_RESET = 0x14, REFCLK_LOW = 0xE0, REFCLK_HIGH = 0xE4, MISC_IRQ0 = 1 << 16 };
/* Addresses in the CSM. Decided here: firmware versions differ in them, and hosts follow pointers. */
enum { TELEMETRY_TABLE = 0x100, TELEMETRY_DATA = 0x300, QUEUE_CONTROL = 0x500, QUEUES = 0x600 };
enum { QUEUE_COUNT = 4, QUEUE_ENTRIES = 8, QUEUE_HEADER = 32, QUEUE_ENTRY = 32 };
/* WH: the fixed address of the older telemetry, and of the mailbox for messages with more than two arguments. */
enum { LEGACY_TELEMETRY = 0x78D60, LEGACY_WORDS = 50, MAILBOX = 0x783C4 };
#define CSM_BASE UINT32_C(0x10000000)
#define APB_BASE UINT32_C(0x80000000)

static void put(uint8_t *csm, uint32_t offset, uint32_t value) { memcpy(csm + offset, &value, 4); }
static uint32_t get(const uint8_t *csm, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, csm + offset, 4);
    return value;
}

/* ---- Telemetry -------------------------------------------------------------------------------------- */

enum { TAG_HEARTBEAT = 32, TAG_AICLK = 14, TAG_TENSIX = 34 };

typedef struct telemetry {
    uint16_t tag;
    uint32_t value[2]; /* by wg_arch_id; NO_ENTRY: not on this architecture */
} telemetry;
#define NO_ENTRY UINT32_C(0xFFFFFFFE)

/* Values of an idle, healthy card (p150, n150). Temperatures are s16.16 degrees, clocks MHz, voltages mV. */
static const telemetry entries[] = {
    {1, {0x400, 0x180}},           /* board id, high: the product */
    {2, {1, 1}},                   /* board id, low */
    {3, {1, 1}},                   /* ASIC id */
    {4, {0, 0}},                   /* harvesting state */
    {5, {100, 100}},               /* update interval, ms */
    {6, {750, 795}},               /* core voltage */
    {7, {15, 15}},                 /* core power, W */
    {8, {19, 19}},                 /* core current, A */
    {9, {0x03E80320, 0x03E80320}}, /* voltage limits */
    {10, {83, 83}},                /* shutdown temperature */
    {11, {40 << 16, 40 << 16}},    /* ASIC temperature */
    {13, {35 << 16, 35 << 16}},    /* board temperature */
    {TAG_AICLK, {1350, 1000}},
    {15, {960, 900}},               /* AXI clock */
    {16, {800, 540}},               /* ARC clock */
    {21, {0, 0}},                   /* Ethernet: no link is up */
    {22, {0x5555, 0x555}},          /* GDDR: every channel trained */
    {23, {16000, 12000}},           /* GDDR, MT/s */
    {24, {0x00010600, 0x0006F000}}, /* Ethernet firmware */
    {28, {0x12050000, 0x12050000}}, /* firmware bundle 18.5 */
    {31, {0xFFFFFFFF, 0xFFFFFFFF}}, /* no fan */
    {TAG_HEARTBEAT, {1, 1}},
    {TAG_TENSIX, {0x3FFF, NO_ENTRY}}, /* enabled Tensix columns */
    {35, {0x0FFF, NO_ENTRY}},         /* enabled Ethernet tiles */
    {36, {0xFF, NO_ENTRY}},           /* enabled GDDR channels */
    {37, {0xF, NO_ENTRY}},            /* enabled L2CPU tiles */
    {38, {1, NO_ENTRY}},              /* PCIe 0 is the end point, PCIe 1 unused */
    {40, {1, NO_ENTRY}},              /* coordinates are translated */
    {52, {0, 0}},                     /* ASIC location */
    {55, {160, 160}},                 /* core current limit */
    {56, {75, 75}},                   /* throttling temperature */
    {61, {0, NO_ENTRY}},              /* ASIC id, high */
    {62, {1, NO_ENTRY}},              /* ASIC id, low */
    {63, {1350, 1000}},               /* AI clock limit */
    {64, {85, 85}},                   /* core power limit */
};

/* The index of a tag's value among those that exist on this architecture. */
static uint32_t telemetry_word(const wg_card *card, uint16_t tag)
{
    uint32_t index = 0;
    for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
        uint32_t value = entries[i].value[card->chip->arch];
        if (value == NO_ENTRY)
            continue;
        if (entries[i].tag == tag)
            break;
        index++;
    }
    return TELEMETRY_DATA + 4 * index;
}

static void fill_telemetry(wg_card *card)
{
    uint8_t *csm = card->arc.csm;
    uint32_t count = 0;
    for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++) {
        uint32_t value = entries[i].value[card->chip->arch];
        if (value == NO_ENTRY)
            continue;
        if (entries[i].tag == TAG_TENSIX)
            value &= ~wg_chip_harvest_bits(card->chip, card->grid->desc.harvested);
        put(csm, TELEMETRY_TABLE + 8 + 4 * count, entries[i].tag | count << 16);
        put(csm, TELEMETRY_DATA + 4 * count, value);
        count++;
    }
    put(csm, TELEMETRY_TABLE, 1);
    put(csm, TELEMETRY_TABLE + 4, count);
}

/* Indices of the older array that have a value; Telemetry.md, legacy style. */
static void fill_legacy(wg_card *card)
{
    static const struct {
        uint8_t index;
        uint32_t value;
    } legacy[] = {{0, 0xBA5E0001},
                  {1, 0x401E1E52},
                  {4, 0x180},
                  {5, 1},
                  {6, 0x02210100},
                  {11, 0x0006F000},
                  {12, 0x81020000},
                  {13, 0x05090000},
                  {14, 0x02222222},
                  {15, 0},
                  {16, 0},
                  {17, 0x11040000},
                  {18, 0},
                  {19, 1},
                  {23, 0xFFFFFFFF},
                  {24, 1000 | 1000 << 16},
                  {25, 900},
                  {26, 540},
                  {28, 795},
                  {29, 40 << 4 | 75 << 20},
                  {31, 0x00232323},
                  {32, 15 | 85 << 16},
                  {33, 19 | 160 << 16},
                  {34, 0x03E80320},
                  {35, 83 << 16 | 75},
                  {36, 0x56020D27},
                  {46, 0x00030303},
                  {49, 0x12050000}};
    for (unsigned i = 0; i < sizeof legacy / sizeof *legacy; i++)
        put(card->arc.csm, LEGACY_TELEMETRY + 4u * legacy[i].index, legacy[i].value);
}

void wg_arc_init(wg_card *card)
{
    wg_arc *a = &card->arc;
    a->aiclk = card->chip->aiclk_busy;
    fill_telemetry(card);
    if (card->chip->arc.legacy_telemetry)
        fill_legacy(card);
    a->scratch[0] = 0xC0DE0001; /* post code: initialised */
    if (!card->chip->arc.queues) {
        a->scratch[5] = 1; /* message status: initialised, no message yet */
        return;
    }
    a->scratch_ram[2] = 0x5; /* boot status: started, ready for messages */
    a->scratch_ram[11] = CSM_BASE + QUEUE_CONTROL;
    a->scratch_ram[12] = CSM_BASE + TELEMETRY_DATA;
    a->scratch_ram[13] = CSM_BASE + TELEMETRY_TABLE;
    put(a->csm, QUEUE_CONTROL, CSM_BASE + QUEUES);
    put(a->csm, QUEUE_CONTROL + 4, QUEUE_ENTRIES | QUEUE_COUNT << 8);
}

/* ---- Messages --------------------------------------------------------------------------------------- */

static void set_clock(wg_card *card, uint32_t mhz)
{
    card->arc.aiclk = mhz;
    put(card->arc.csm, telemetry_word(card, TAG_AICLK), mhz);
}

/* The mailbox holds region, target and size of an outbound mapping. */
static void map_region(wg_card *card)
{
    const uint8_t *csm = card->arc.csm;
    uint32_t region = get(csm, MAILBOX), bytes = get(csm, MAILBOX + 12);
    uint64_t target = get(csm, MAILBOX + 4) | (uint64_t)get(csm, MAILBOX + 8) << 32;
    wg_pcie_map(card, region, (uint64_t)region * bytes, bytes, target);
}

/* Answers a message. False: this firmware does not implement it. */
static bool answer(wg_card *card, uint8_t code, uint32_t results[2])
{
    const wg_chip_arc *arc = &card->chip->arc;
    results[0] = results[1] = 0;
    switch (code) {
    case 0x2C: /* address of the older telemetry */
        results[0] = CSM_BASE + LEGACY_TELEMETRY;
        return arc->legacy_telemetry;
    case 0x34: results[0] = card->arc.aiclk; return true;
    case 0x52: /* go busy */ set_clock(card, card->chip->aiclk_busy); return true;
    case 0x53: /* go idle, for a short or a long time */
    case 0x54: set_clock(card, card->chip->aiclk_idle); return true;
    case 0x57:
        if (arc->tells_harvesting)
            results[0] = wg_chip_harvest_bits(card->chip, card->grid->desc.harvested);
        return true;
    case 0x58: /* is DRAM trained? */ results[0] = 1; return true;
    case 0x97: /* outbound mapping */
        if (arc->maps_outbound)
            map_region(card);
        return arc->maps_outbound;
    case 0x90: /* test: the argument plus one comes back */
    case 0x11: /* nothing */
    case 0x21:
    case 0x51:
    case 0xA0:
    case 0xA1:
    case 0xA3:
    case 0xA5:
    case 0xB7:
    case 0xBA:
    case 0xBC:
    case 0xC1:
    case 0xC7: /* power settings, states, dates, watchdogs, logs: nothing here depends on them */ return true;
    default:
        wg_card_find(card, WG_F_ARC_MESSAGE, card->chip->arc_x, card->chip->arc_y, code, 0, "message 0x%02x", code);
        return false;
    }
}

/* Serves one message in the scratch registers. */
static void scratch_message(wg_card *card)
{
    wg_arc *a = &card->arc;
    uint8_t code = (uint8_t)a->scratch[5];
    uint32_t argument = a->scratch[3], results[2];
    if (!answer(card, code, results)) {
        a->scratch[5] = UINT32_MAX; /* not recognised */
        return;
    }
    a->scratch[3] = code == 0x90 ? argument + 1 : results[0];
    a->scratch[4] = results[1];
    a->scratch[5] = code; /* done, exit code 0 */
}

/* Serves all messages of one queue. Pointers count modulo twice the number of entries. */
static void drain_queue(wg_card *card, uint32_t queue)
{
    uint8_t *csm = card->arc.csm;
    uint32_t put_request = get(csm, queue), take = get(csm, queue + 16) % (2 * QUEUE_ENTRIES);
    uint32_t reply = get(csm, queue + 20) % (2 * QUEUE_ENTRIES);
    for (unsigned n = 0; n < QUEUE_ENTRIES && take != put_request % (2 * QUEUE_ENTRIES); n++) {
        uint32_t request = queue + QUEUE_HEADER + take % QUEUE_ENTRIES * QUEUE_ENTRY;
        uint32_t response = queue + QUEUE_HEADER + (QUEUE_ENTRIES + reply % QUEUE_ENTRIES) * QUEUE_ENTRY;
        uint8_t code = (uint8_t)get(csm, request);
        uint32_t results[2], argument = get(csm, request + 4);
        bool known = answer(card, code, results);
        memset(csm + response, 0, QUEUE_ENTRY);
        put(csm, response, known ? 0 : 0xFF);
        put(csm, response + 4, code == 0x90 ? argument + 1 : results[0]);
        take = (take + 1) % (2 * QUEUE_ENTRIES);
        reply = (reply + 1) % (2 * QUEUE_ENTRIES);
    }
    put(csm, queue + 16, take);
    put(csm, queue + 20, reply);
}

static void interrupt(wg_card *card)
{
    if (!card->chip->arc.queues) {
        scratch_message(card);
        return;
    }
    for (uint32_t i = 0; i < QUEUE_COUNT; i++)
        drain_queue(card, QUEUES + i * (QUEUE_HEADER + 2 * QUEUE_ENTRIES * QUEUE_ENTRY));
}

/* ---- Registers -------------------------------------------------------------------------------------- */

/* 27 MHz, counted from the AI clock. Decided here: the AI clock runs at its full speed. */
static uint64_t reference_clock(const wg_card *card) { return wg_grid_cycle(card->grid) * 27 / card->chip->aiclk_busy; }

static wg_model *self(wg_card *card) { return wg_card_model(card, card->chip->arc_x, card->chip->arc_y); }

static uint32_t reset_unit_read(wg_card *card, uint32_t offset)
{
    const wg_arc *a = &card->arc;
    unsigned i = 0;
    if (offset == REFCLK_LOW || offset == REFCLK_HIGH)
        return (uint32_t)(reference_clock(card) >> (offset == REFCLK_HIGH ? 32 : 0));
    if (offset == L2CPU_RESET && card->chip->arc.resets_l2cpus)
        return a->l2cpu_reset;
    if (offset >= 0x400 && offset < 0x400 + 4 * WG_ARC_SCRATCH_RAM && card->chip->arc.scratch_ram)
        return a->scratch_ram[(offset - 0x400) / 4];
    switch (wg_tile_reg_at(card->chip->arch, WG_REGS_ARC_RESET, offset, &i)) {
    case WG_REG_ARC_RESET_scratch: return a->scratch[i % WG_ARC_SCRATCH];
    case WG_REG_ARC_RESET_arc_misc_cntl: return a->misc_cntl;
    case WG_REG_ARC_RESET_noc_nodeid_x_0: return CSM_BASE + TELEMETRY_TABLE;
    case WG_REG_ARC_RESET_noc_nodeid_y_0: return CSM_BASE + TELEMETRY_DATA;
    case WG_REG_ARC_RESET_arc_msg_qcb_ptr: return 0; /* this firmware has no message queues on WH */
    default: wg_model_unknown(self(card), APB_BASE + RESET_UNIT + offset, 0, false); return 0;
    }
}

static void reset_unit_write(wg_card *card, uint32_t offset, uint32_t value)
{
    wg_arc *a = &card->arc;
    unsigned i = 0;
    if (offset == L2CPU_RESET && card->chip->arc.resets_l2cpus) {
        if (value & ~a->l2cpu_reset & 0xF0)
            wg_card_find(card, WG_F_L2CPU_CORE, card->chip->arc_x, card->chip->arc_y, APB_BASE + RESET_UNIT + offset,
                         value, "L2CPU_RESET = 0x%x", value);
        a->l2cpu_reset = value & 0xFF;
        return;
    }
    if (offset >= 0x400 && offset < 0x400 + 4 * WG_ARC_SCRATCH_RAM && card->chip->arc.scratch_ram) {
        a->scratch_ram[(offset - 0x400) / 4] = value;
        return;
    }
    switch (wg_tile_reg_at(card->chip->arch, WG_REGS_ARC_RESET, offset, &i)) {
    case WG_REG_ARC_RESET_scratch: a->scratch[i % WG_ARC_SCRATCH] = value; return;
    case WG_REG_ARC_RESET_arc_misc_cntl:
        a->misc_cntl = value & ~(uint32_t)MISC_IRQ0; /* firmware clears the bit when it takes the message */
        if (value & MISC_IRQ0)
            interrupt(card);
        return;
    default: wg_model_unknown(self(card), APB_BASE + RESET_UNIT + offset, value, true);
    }
}

uint32_t wg_arc_apb_read(wg_card *card, uint32_t offset)
{
    if (offset >= RESET_UNIT && offset < RESET_UNIT + 0x10000)
        return reset_unit_read(card, offset - RESET_UNIT);
    if (offset >= NIU0 && offset < NIU0 + 0x1000)
        return wg_model_niu(self(card), 0, offset - NIU0, 0, false);
    if (offset >= NIU1 && offset < NIU1 + 0x1000)
        return wg_model_niu(self(card), 1, offset - NIU1, 0, false);
    wg_model_unknown(self(card), APB_BASE + offset, 0, false);
    return 0;
}

void wg_arc_apb_write(wg_card *card, uint32_t offset, uint32_t value)
{
    if (offset >= RESET_UNIT && offset < RESET_UNIT + 0x10000)
        reset_unit_write(card, offset - RESET_UNIT, value);
    else if (offset >= NIU0 && offset < NIU0 + 0x1000)
        wg_model_niu(self(card), 0, offset - NIU0, value, true);
    else if (offset >= NIU1 && offset < NIU1 + 0x1000)
        wg_model_niu(self(card), 1, offset - NIU1, value, true);
    else if (card->chip->arc.queues && offset >= MSI_FIFO && offset < MSI_FIFO + 0x1000)
        interrupt(card);
    else
        wg_model_unknown(self(card), APB_BASE + offset, value, true);
}

static uint32_t apb_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    if (!write)
        return wg_arc_apb_read(m->card, (uint32_t)(address - APB_BASE));
    wg_arc_apb_write(m->card, (uint32_t)(address - APB_BASE), value);
    return 0;
}

static bool csm_access(wg_card *card, uint32_t offset, uint8_t *data, size_t bytes, bool write)
{
    /* The firmware's heartbeat. Decided here: once per million cycles. */
    if (!write)
        put(card->arc.csm, telemetry_word(card, TAG_HEARTBEAT), (uint32_t)(1 + wg_grid_cycle(card->grid) / 1000000));
    return wg_model_memory(card->arc.csm, WG_ARC_CSM, offset, data, bytes, write);
}

bool wg_arc_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    const wg_chip *chip = m->card->chip;
    if (address >= chip->niu_base) {
        wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
        return true;
    }
    if (chip->arc.routes_to_dram && address >> 35 == 0) {
        wg_status status = write ? wg_grid_write(m->card->grid, 0, 0, address, data, bytes)
                                 : wg_grid_read(m->card->grid, 0, 0, address, data, bytes);
        return status == WG_OK;
    }
    uint64_t at = address - chip->arc_xbar;
    if (at >= CSM_BASE && at - CSM_BASE < WG_ARC_CSM)
        return csm_access(m->card, (uint32_t)(at - CSM_BASE), data, bytes, write);
    if (chip->arc.csm_alias && at >= chip->arc.csm_alias && at - chip->arc.csm_alias < WG_ARC_CSM)
        return csm_access(m->card, (uint32_t)(at - chip->arc.csm_alias), data, bytes, write);
    if (at >= APB_BASE && at - APB_BASE < 0x100000) {
        wg_model_words(m, at, data, bytes, write, apb_word);
        return true;
    }
    return false;
}
