/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile around the cores: address map, tile registers, PIC, NIU registers, the bus, resets; called directly, request
 * by request.
 */
#include "isa/config_fields.h"
#include "isa/tile_regs.h"
#include "machine/bus.h"
#include "tile_ask.h"

/* ---- Address map ---------------------------------------------------------------------------------- */

/* One address of each region and its destination for B, NC, T0, T1, T2. */
typedef struct expected {
    uint32_t address;
    bool is_write;
    uint8_t bh[5], wh[5]; /* wg_path */
    uint8_t index[5];
} expected;

#define U WG_PATH_UNMAPPED
#define ALL5(p) \
    { \
        p, p, p, p, p \
    }
#define BT(p) \
    { \
        p, U, p, p, p \
    }
#define TS(p) \
    { \
        U, U, p, p, p \
    }
#define ONLY_B(p) \
    { \
        p, U, U, U, U \
    }
static const expected map[] = {
    {0x00000000, false, ALL5(WG_PATH_L1), ALL5(WG_PATH_L1), {0}},
    {0x0016E000, false, ALL5(WG_PATH_L1), ALL5(U), {0}},
    {0x00180000, false, ALL5(U), ALL5(U), {0}},
    {0xFFB00000, true, ALL5(WG_PATH_OWN_RAM), ALL5(WG_PATH_OWN_RAM), {0, 1, 2, 3, 4}},
    {0xFFB00800, true, ALL5(WG_PATH_OWN_RAM), {WG_PATH_OWN_RAM, WG_PATH_OWN_RAM, U, U, U}, {0, 1, 2, 3, 4}},
    {0xFFB01000, true, {WG_PATH_OWN_RAM, WG_PATH_OWN_RAM, U, U, U}, ALL5(U), {0, 1, 0, 0, 0}},
    {0xFFB11000, true, BT(WG_PATH_TDMA), ALL5(WG_PATH_TDMA), {0}},
    {0xFFB12000, true, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB13000, false, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB13148, false, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB16000, true, ALL5(WG_PATH_SLOW_RAM), ALL5(U), {1, 1, 1, 1, 1}},
    {0xFFB1B000, true, ALL5(WG_PATH_SLOW_RAM), ALL5(U), {3, 3, 3, 3, 3}},
    {0xFFB20000, true, ALL5(WG_PATH_NIU0), ALL5(WG_PATH_NIU0), {0}},
    {0xFFB3FFFC, true, ALL5(WG_PATH_NIU1), ALL5(WG_PATH_NIU1), {1, 1, 1, 1, 1}},
    {0xFFB40000, true, ALL5(WG_PATH_OVERLAY), ALL5(WG_PATH_OVERLAY), {0}},
    {0xFFB80020, true, TS(WG_PATH_MOP_CFG), TS(WG_PATH_MOP_CFG), {0, 0, 0, 1, 2}},
    {0xFFB80024, true, ALL5(U), ALL5(U), {0}},
    {0xFFBD8000, true, TS(WG_PATH_DST), ALL5(U), {0, 0, 0, 1, 2}},
    {0xFFC00000, true, ALL5(U), ALL5(U), {0}},
    {0xFFE00000, true, BT(WG_PATH_GPR), BT(WG_PATH_GPR), {0, 0, 0, 1, 2}},
    {0xFFE00100, true, ONLY_B(WG_PATH_GPR), ONLY_B(WG_PATH_GPR), {0}},
    {0xFFE40000, true, BT(WG_PATH_PUSH), BT(WG_PATH_PUSH), {0, 0, 0, 1, 2}},
    {0xFFE40000, false, ALL5(U), ALL5(U), {0}},
    {0xFFE50000,
     true,
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {1, 0, 1, 1, 1}},
    {0xFFE60000,
     true,
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {2, 0, 2, 2, 2}},
    {0xFFE80000, false, BT(WG_PATH_SYNC), BT(WG_PATH_SYNC), {0, 0, 0, 1, 2}},
    {0xFFE80020, true, BT(WG_PATH_SYNC), BT(WG_PATH_SYNC), {0, 0, 0, 1, 2}},
    {0xFFE90000, true, ONLY_B(WG_PATH_SYNC), ONLY_B(WG_PATH_SYNC), {1, 0, 0, 0, 0}},
    {0xFFEA0000, true, ONLY_B(WG_PATH_SYNC), ONLY_B(WG_PATH_SYNC), {2, 0, 0, 0, 0}},
    {0xFFEC0000, true, BT(WG_PATH_MAILBOX_WRITE), BT(WG_PATH_MAILBOX_WRITE), {0}},
    {0xFFEC3000, false, BT(WG_PATH_MAILBOX_READ), BT(WG_PATH_MAILBOX_READ), {3, 3, 3, 3, 3}},
    {0xFFEC4000, false, ALL5(U), ALL5(U), {0}},
    {0xFFEF0000, true, BT(WG_PATH_CONFIG), BT(WG_PATH_CONFIG), {0}},
};

static void test_address_map(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        for (unsigned core = 0; core < WG_CORES; core++) {
            uint8_t want = (arch->id == WG_ARCH_BH ? map[i].bh : map[i].wh)[core];
            wg_route r = wg_address_route(&arch->tensix, core, map[i].address, map[i].is_write);
            if (r.path != want || (want != U && r.index != map[i].index[core]))
                fail_msg("0x%08x from core %u: path %u index %u, not %u %u", map[i].address, core, r.path, r.index,
                         want, map[i].index[core]);
        }
}

/* Hostile addresses: every lookup returns, and a row that is found contains the address. */
static void test_any_address(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    wg_rng rng = {1};
    for (unsigned i = 0; i < 200000; i++) {
        uint32_t address = (uint32_t)wg_rng_next(&rng);
        if (i & 1)
            address |= 0xFFA00000;
        unsigned viewer = wg_rng_below(&rng, WG_CORES + 1);
        bool is_write = i & 2;
        const wg_map_row *r = wg_map_find(&arch->tensix, viewer, address, is_write);
        assert_true(!r || (r->first <= address && address <= r->last && r->views >> viewer & 1));
        assert_non_null(wg_map_nearest(&arch->tensix, viewer, address, is_write));
    }
}

static void test_unmapped(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = load(dev, WG_CORE_NC, 0xFFE40000);
    assert_int_equal(a.what, WG_REGION_NEVER);
    assert_int_equal(a.why.reason, WG_STALL_HANGING_ACCESS);
    const wg_finding *f = found(dev, "core-unmapped-access");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_NC);
    assert_int_equal(f->pc, 0x4000);
    assert_int_equal(f->subject, 0xFFE40000);
    assert_non_null(strstr(f->detail, "nearest for this core: NoC overlay registers, 0xffb40000"));
    assert_int_equal(store(dev, WG_CORE_NC, 0xFFE40000, 0x02000000).what, WG_REGION_DONE);
    wg_destroy(dev);
}

static void test_foreign_instruction_buffer(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = store(dev, WG_CORE_T1, 0xFFE60000, 0x02000000);
    assert_int_equal(a.what, WG_REGION_NEVER);
    const wg_finding *f = found(dev, "core-hanging-store");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_T1);
    assert_string_equal(f->detail, "T1 stored to 0xffe60000 and hangs");
    wg_destroy(dev);
}

/* ---- Tile registers ------------------------------------------------------------------------------- */

enum { TILE = 0xFFB12000, WALL_L = TILE + 0x1F0, WALL_NOW_H = TILE + 0x1F4, WALL_H = TILE + 0x1F8 };

static void test_wall_clock(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.now = UINT64_C(0x2FFFFFFF0);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, WALL_L, 4, 0).value, 0xFFFFFFF0);
    t->sched.now += 0x20;
    assert_int_equal(ask(dev, WG_CORE_NC, WG_REQ_READ, WALL_H, 4, 0).value,
                     2); /* as kept by the read of the low half */
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_NOW_H, 4, 0).value, 3);
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_L, 4, 0).value, 0x10);
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_H, 4, 0).value, 3);
    wg_destroy(dev);
}

static void test_timestamps(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    uint32_t at[4];
    store(dev, WG_CORE_B, TILE + 0x208, 0x100); /* buffer 0: 0x1000 … 0x101F */
    store(dev, WG_CORE_B, TILE + 0x20C, 0x101);
    store(dev, WG_CORE_B, TILE + 0x210, 0x200);
    store(dev, WG_CORE_B, TILE + 0x214, 0x200);
    t->sched.now = UINT64_C(0x123456789A);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xAB00); /* 128 bits */
    assert_true(wg_tile_bus_read(t, 0x1000, at, 16));
    assert_memory_equal(at, ((uint32_t[]){0xAB00, 0x3456789A, 0x12, 0}), 16);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xC1); /* 64 bits, two make a line */
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, TILE + 0x204, 4, 0).value, 1 << 8 | 1 << 14);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xC9);
    assert_true(wg_tile_bus_read(t, 0x1010, at, 16));
    assert_memory_equal(at, ((uint32_t[]){0xC1, 0x3456789A, 0xC9, 0x3456789A}), 16);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, TILE + 0x204, 4, 0).value, 1 | 2 << 14); /* buffer 0 full */
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0x12); /* 32 bits, then an event of another size */
    assert_null(found(dev, "timestamp-misuse"));
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0x0);
    assert_non_null(found(dev, "timestamp-misuse"));
    assert_true(wg_tile_bus_read(t, 0x2000, at, 4));
    assert_int_equal(at[0], 0x12 | (0x3456789Au & 0x001FFFE0) << 11);
    wg_destroy(dev);
}

static void test_config_readback(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dev->tile->regs.config.bank[1][5] = 0xCAFE;
    store(dev, WG_CORE_NC, TILE + 0x058, dev->arch->config_words + 5u);
    assert_int_equal(load(dev, WG_CORE_NC, TILE + 0x078).value, 0xCAFE);
    wg_destroy(dev);
}

/* The debug array read of Dst: pairs of datums of stored rows; other arrays are reported, not shown. */
static void test_array_read(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_dst *d = &dev->tile->regs.dst;
    for (unsigned i = 0; i < 16; i++)
        d->bits[700][i] = (uint16_t)(0x100 + i);
    d->undefined[700 / 64] &= ~(UINT64_C(1) << 700 % 64);
    store(dev, WG_CORE_T1, TILE + 0x060, 1);
    for (unsigned pair = 0; pair < 8; pair++) {
        store(dev, WG_CORE_T1, TILE + 0x064, 2u << 16 | pair << 12 | 700);
        assert_int_equal(load(dev, WG_CORE_T1, TILE + 0x06C).value, (0x101 + 2 * pair) << 16 | (0x100 + 2 * pair));
    }
    d->undefined[700 / 64] |= UINT64_C(1) << 700 % 64;
    bool wh = wg_test_arch(state) == WG_ARCH_WH;
    assert_int_equal(load(dev, WG_CORE_T1, TILE + 0x06C).value, wh ? 0 : 0x10F010E);
    assert_null(found(dev, "unimplemented-register"));
    store(dev, WG_CORE_T1, TILE + 0x064, 1u << 16 | 700); /* SrcB */
    assert_int_equal(load(dev, WG_CORE_T1, TILE + 0x06C).value, 0);
    assert_non_null(strstr(found(dev, "unimplemented-register")->detail, "dbg_array_rd_data"));
    wg_destroy(dev);
}

static void test_unknown_register(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    store(dev, WG_CORE_B, TILE + 0x018, 1);
    const wg_finding *f = found(dev, "unimplemented-register");
    assert_non_null(f);
    assert_non_null(strstr(f->detail, "perf_cnt_fpu0"));
    assert_int_equal(load(dev, WG_CORE_B, TILE + 0x018).value, 1);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1B2, 2, 4).what, WG_REGION_DONE);
    assert_non_null(found(dev, "narrow-register-store"));
    wg_destroy(dev);
}

/* Push through the debug bus: the word enters before the Replay Expander and executes. */
static void test_debug_push(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    assert_int_equal(load(dev, WG_CORE_NC, TILE + 0x0A8).value, 0x77); /* all empty, none full */
    store(dev, WG_CORE_NC, TILE + 0x0A4, 0xA3450004 | 1 << 7);         /* SEMINIT: Max 4, Value 5, semaphores 0 and 5 */
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x20);                        /* not owned: no effect */
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x02);
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x22);
    t->sched.phase = WG_PHASE_ARRIVALS;
    wg_advance(dev, 50);
    uint32_t value;
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 5, &value), WG_OK);
    assert_int_equal(value, 5);
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 1, &value), WG_OK);
    assert_int_equal(value, 0);
    wg_destroy(dev);
}

/* ---- PIC ------------------------------------------------------------------------------------------ */

static void test_pic_software_irqs(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    uint32_t sw3 = 0xFFB13018 + 4 * 3;
    store(dev, WG_CORE_T0, sw3, 77);
    assert_int_equal(load(dev, WG_CORE_NC, sw3).value, 77); /* reading takes it */
    assert_int_equal(load(dev, WG_CORE_NC, sw3).value, 0);
    store(dev, WG_CORE_T0, sw3, 78);
    store(dev, WG_CORE_T0, sw3, 0);
    assert_int_equal(load(dev, WG_CORE_B, sw3).value, 0);
    assert_int_equal(dev->tile->regions.control.pic.raised, 0);
    store(dev, WG_CORE_B, 0xFFB13000, 1 << 3);
    store(dev, WG_CORE_B, sw3, 1);
    assert_int_equal(dev->tile->regions.control.pic.raised, 1); /* B, not NC */
    store(dev, WG_CORE_B, 0xFFB1300C, 1 << 3);
    assert_int_equal(dev->tile->regions.control.pic.raised, 3);
    load(dev, WG_CORE_T0, sw3);
    assert_int_equal(dev->tile->regions.control.pic.raised, 0);
    store(dev, WG_CORE_B, 0xFFB130A8 + 4 * 31, 0x1230);
    assert_int_equal(load(dev, WG_CORE_B, 0xFFB130A8 + 4 * 31).value, 0x1230);
    wg_destroy(dev);
}

static void test_pic_wormhole(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    store(dev, WG_CORE_B, 0xFFB13008, 1 << 17 | 1 << 18); /* the timestamper's buffers are full */
    store(dev, WG_CORE_B, TILE + 0x208, 0x100);
    store(dev, WG_CORE_B, TILE + 0x20C, 0x100);
    store(dev, WG_CORE_B, TILE + 0x210, 0x200);
    store(dev, WG_CORE_B, TILE + 0x214, 0x200);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 0);
    store(dev, WG_CORE_B, TILE + 0x1FC, 0);
    store(dev, WG_CORE_B, TILE + 0x1FC, 0);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 1 << 17 | 1 << 18);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 17);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 18);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 17);
    store(dev, WG_CORE_NC, 0xFFB13000, 1 << 17);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 1 << 18);
    wg_destroy(dev);
}

/* ---- NIU ------------------------------------------------------------------------------------------ */

static void test_niu(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    const wg_tile_reg *regs = wg_tile_regs[dev->arch->id];
    dev->tile->regions.niu.coordinate = 3 | 4 << 6;
    uint32_t base = 0xFFB20000;
    assert_int_equal(load(dev, WG_CORE_B, base + regs[WG_REG_NIU_noc_node_id].offset).value & 0xFFF, 3 | 4 << 6);
    uint32_t mirrored = (dev->arch->id == WG_ARCH_BH ? 16 - 3 : 9 - 3) | (11 - 4) << 6;
    assert_int_equal(load(dev, WG_CORE_B, base + 0x10000 + regs[WG_REG_NIU_noc_node_id].offset).value & 0xFFF,
                     mirrored);
    store(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_targ_addr_lo].offset, 0x1234);
    assert_int_equal(load(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_targ_addr_lo].offset).value, 0x1234);
    assert_null(found(dev, "unimplemented-register"));
    store(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_cmd_ctrl].offset, 1);
    wg_advance(dev, 2);
    assert_int_equal(load(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_cmd_ctrl].offset).value, 0);
    assert_non_null(found(dev, "noc-nowhere")); /* the tile has no NoC */
    uint32_t stream = 0xFFB40000 + 5 * 0x1000;
    store(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_size].offset, 100);
    store(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_space_available_update].offset, 7 << 6);
    assert_int_equal(load(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_space_available].offset).value,
                     107);
    wg_destroy(dev);
}

/* ---- The bus -------------------------------------------------------------------------------------- */

static void test_bus(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    uint8_t pattern[64], back[64];
    for (unsigned i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i * 7);
    assert_true(wg_tile_bus_write(t, 0x1003, pattern, 61));
    assert_true(wg_tile_bus_read(t, 0x1003, back, 61));
    assert_memory_equal(pattern, back, 61);
    uint32_t end = dev->tile->spec->l1_bytes;
    assert_true(wg_tile_bus_write(t, end - 4, pattern, 4));
    assert_false(wg_tile_bus_write(t, end - 4, pattern, 8));
    assert_false(wg_tile_bus_read(t, end, back, 4));
    assert_false(wg_tile_bus_read(t, UINT64_C(0x100000000), back, 4));
    assert_false(wg_tile_bus_read(t, 0xFFFFFFFC, back, 8));
    assert_false(wg_tile_bus_read(t, 0xFFE00000, back, 4)); /* GPRs are accessible to cores only */
    assert_false(wg_tile_bus_read(t, 0xFFB121B1, back, 4));
    assert_false(wg_tile_bus_read(t, 0xFFB00000, back, 4));
    uint32_t word;
    assert_true(wg_tile_bus_read(t, 0xFFB121B0, &word, 4));
    assert_int_equal(word, 0x47800);
    bool has_ram = dev->arch->id == WG_ARCH_BH;
    assert_int_equal(wg_tile_bus_write(t, 0xFFB1A010, pattern, 5), has_ram);
    if (has_ram) {
        assert_int_equal(wg_peek(dev, WG_SPACE_CORE_RAM, WG_CORE_T1 << 16 | 0x13, &word), WG_OK);
        assert_int_equal(word & 0xFF, pattern[3]);
        assert_true(wg_tile_bus_read(t, 0xFFB1B010, back, 5)); /* the second window onto the same bytes */
        assert_memory_equal(pattern, back, 5);
    }
    assert_null(found(dev, "bus-unmapped-config"));
    uint32_t vector = 0x9000;
    assert_true(wg_tile_bus_write(t, 0xFFEF0000 + 160 * 4, &vector, 4));
    assert_non_null(found(dev, "bus-unmapped-config"));
    wg_destroy(dev);
}

static void test_reset_vectors(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    static const uint32_t fixed[WG_CORES] = {0, 0x12000, 0x6000, 0xA000, 0xE000};
    for (unsigned core = 0; core < WG_CORES; core++)
        assert_int_equal(wg_reset_vector(t, core), fixed[core]);
    static const uint32_t bh_pc[WG_CORES] = {0, 0x238, 0x228, 0x22C, 0x230};
    static const uint32_t wh_pc[WG_CORES] = {0, 162, 158, 159, 160};
    bool bh = dev->arch->id == WG_ARCH_BH;
    for (unsigned core = WG_CORE_NC; core <= WG_CORE_T2; core++) {
        uint32_t pc = 0x20000 + 0x100 * core;
        assert_true(wg_tile_bus_write(t, bh ? TILE + bh_pc[core] : 0xFFEF0000 + 4 * wh_pc[core], &pc, 4));
        assert_int_equal(wg_reset_vector(t, core), fixed[core]);
    }
    uint32_t all = 7;
    assert_true(wg_tile_bus_write(t, bh ? TILE + 0x234 : 0xFFEF0000 + 4 * 161, &all, 4));
    assert_int_equal(wg_reset_vector(t, WG_CORE_NC), fixed[WG_CORE_NC]);
    all = 1;
    assert_true(wg_tile_bus_write(t, bh ? TILE + 0x23C : 0xFFEF0000 + 4 * 163, &all, 4));
    for (unsigned core = WG_CORE_NC; core <= WG_CORE_T2; core++)
        assert_int_equal(wg_reset_vector(t, core), 0x20000 + 0x100 * core);
    wg_destroy(dev);
}

/* Resets of units: immediate effect on state, held units stay held; anything not modelled is reported. */
static void test_unit_resets(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    t->regs.src.a[1][3][5] = 7;
    t->regs.src.a[1][3][9] = 8;
    t->regs.src.b[0][2][1] = 9;
    t->regs.src.owner_a[0] = WG_SRC_MATRIX;
    t->regs.dst.undefined[3] = 5;
    uint32_t bits = 0x47800 | 1 << 6;
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_true(t->backend.mover.held);
    assert_null(found(dev, "unimplemented-register"));
    bits = 0x47800 | 1 << 15 | 1 << 17 | 1 << 20; /* SrcA's owners, Dst's marks, SrcA's columns 4 to 7 */
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_false(t->backend.mover.held);
    assert_int_equal(t->regs.src.owner_a[0], WG_SRC_UNPACKERS);
    assert_true(t->regs.dst.undefined[3] == 0);
    assert_int_equal(t->regs.src.a[1][3][5], 0);
    assert_int_equal(t->regs.src.a[1][3][9], 8);
    assert_int_equal(t->regs.src.b[0][2][1], 9);
    assert_non_null(found(dev, "unimplemented-register"));
    bits = 0x47800 | 1 << 16 | 1 << 10;
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_int_equal(t->regs.src.a[1][3][9], 0);
    assert_int_equal(t->regs.src.b[0][2][1], 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_address_map, WG_BH | WG_WH, "PIPE-11 PIPE-23 PIPE-24"),
    WG_TEST(test_any_address, WG_BH | WG_WH, ""),
    WG_TEST(test_unmapped, WG_BH | WG_WH, "PIPE-13"),
    WG_TEST(test_foreign_instruction_buffer, WG_BH | WG_WH, "PIPE-12"),
    WG_TEST(test_wall_clock, WG_BH | WG_WH, ""),
    WG_TEST(test_timestamps, WG_BH | WG_WH, ""),
    WG_TEST(test_config_readback, WG_BH | WG_WH, ""),
    WG_TEST(test_array_read, WG_BH | WG_WH, ""),
    WG_TEST(test_unknown_register, WG_BH | WG_WH, ""),
    WG_TEST(test_debug_push, WG_BH | WG_WH, ""),
    WG_TEST(test_pic_software_irqs, WG_BH, ""),
    WG_TEST(test_pic_wormhole, WG_WH, ""),
    WG_TEST(test_niu, WG_BH | WG_WH, ""),
    WG_TEST(test_bus, WG_BH | WG_WH, ""),
    WG_TEST(test_reset_vectors, WG_BH | WG_WH, ""),
    WG_TEST(test_unit_resets, WG_BH | WG_WH, ""),
};
WG_MAIN("tile", tests)
