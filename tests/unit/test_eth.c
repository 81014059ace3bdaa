/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ethernet tiles: cores, memory, resets, registers, NIUs; the link is down. Facts: EthernetTile pages of each architecture.
 */
#include "../support/noc_rig.h"

#include "engine/state_check.h"
#include "machine/device.h"
#include "report/findings.h"

enum {
    CODE = 0x10000,
    CODE_1 = 0x14000,
    DATA = 0x20000,
    SOFT_RESET = 0xFFB121B0,
    TXQ = 0xFFB90000,
    IRAM_LOAD = 0xFFB94098,
    MAC = 0xFFBA0000,
    IRAM = 0xFFC00000,
    RAM = 0xFFB00000
};

typedef struct rig {
    wg_grid *g;
    wg_arch_id arch;
    bool bh;
    unsigned x, y; /* an Ethernet tile */
    wg_device *dev;
} rig;

static rig chip_of(wg_arch_id arch, unsigned threads, bool lockstep)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .threads = threads, .lockstep = lockstep};
    rig r = {.arch = arch, .bh = arch == WG_ARCH_BH, .x = 1, .y = arch == WG_ARCH_BH ? 1 : 6};
    assert_int_equal(wg_grid_create(&desc, &r.g), WG_OK);
    assert_int_equal(wg_grid_kind(r.g, r.x, r.y), WG_TILE_ETH);
    r.dev = wg_grid_tile(r.g, r.x, r.y);
    assert_non_null(r.dev);
    return r;
}

static rig chip(void **state) { return chip_of(wg_test_arch(state), 1, false); }

/* Where a core's reset vector is: BH two registers, WH one (SoftReset.md, tt-metal's dev_mem_map.h). */
static uint32_t vector_of(const rig *r, unsigned core) { return r->bh ? 0xFFB14000 + 8 * core : 0xFFB9409C; }
static uint32_t reset_bits(const rig *r) { return r->bh ? 0x1800 : 0x800; }

static void load(const rig *r, const rv *p)
{
    assert_int_equal(wg_grid_write(r->g, r->x, r->y, p->base, p->word, 4 * p->n), WG_OK);
}

/* Starts a core as a host or another tile does: code, reset vector, soft reset. */
static void eth_boot(const rig *r, unsigned core, const rv *p)
{
    load(r, p);
    put(r->g, r->x, r->y, vector_of(r, core), p->base);
    put(r->g, r->x, r->y, SOFT_RESET, get(r->g, r->x, r->y, SOFT_RESET) & ~(0x800u << core));
}

static wg_stop run(const rig *r, uint64_t cycles)
{
    wg_stop stop;
    assert_int_equal(wg_grid_run(r->g, cycles, &stop), WG_OK);
    return stop;
}

static uint32_t word(const rig *r, uint32_t address) { return get(r->g, r->x, r->y, address); }

static size_t found(const rig *r, wg_finding_code code)
{
    size_t n = 0;
    for (size_t i = 0; i < wg_finding_count(r->dev); i++)
        n += wg_finding_at(r->dev, i)->code == code;
    return n;
}

/* ---- Cores and memory ---- */

static void test_shape(void **state)
{
    rig r = chip(state);
    assert_int_equal(wg_l1_bytes(r.dev), r.bh ? 512 * 1024 : 256 * 1024);
    assert_int_equal(word(&r, SOFT_RESET), reset_bits(&r));
    put(r.g, r.x, r.y, wg_l1_bytes(r.dev) - 4, 0x600D);
    assert_int_equal(word(&r, wg_l1_bytes(r.dev) - 4), 0x600D);
    uint32_t value;
    assert_int_equal(wg_grid_read(r.g, r.x, r.y, wg_l1_bytes(r.dev), &value, 4), WG_ERR_ADDRESS);
    assert_int_equal(wg_grid_read(r.g, r.x, r.y, RAM, &value, 4), WG_ERR_ADDRESS); /* not over the NoC */
    assert_int_equal(wg_grid_read(r.g, r.x, r.y, 0xFFEF0000, &value, 4), WG_ERR_ADDRESS);
    assert_int_equal(wg_core_release(r.dev, WG_CORE_E1, CODE), r.bh ? WG_OK : WG_ERR_ARGUMENT);
    assert_int_equal(wg_core_release(r.dev, WG_CORE_T0, CODE), WG_ERR_ARGUMENT);
    /* NOC_ENDPOINT_ID: the kind of tile, and its index. */
    assert_int_equal(word(&r, NIU0 + noc_map[r.arch].node_id + 4) >> 16, 2);
    assert_int_equal(word(&r, NIU0 + noc_map[r.arch].node_id + 4) & 0xFFFF, wg_grid_index(r.g, r.x, r.y));
    wg_grid_destroy(r.g);
}

/* Own RAM of 8 KiB (BH) or 4 KiB: its last word holds what is stored there, then it is copied to L1. */
static rv ram_program(const rig *r, uint32_t base, uint32_t value, uint32_t to)
{
    rv p = rv_at(base);
    rv_store(&p, RAM + (r->bh ? 8192 : 4096) - 4, value);
    rv_li(&p, T1, RAM + (r->bh ? 8192 : 4096) - 4);
    rv_lw(&p, A0, 0, T1);
    rv_li(&p, T1, to);
    rv_sw(&p, A0, 0, T1);
    rv_sw(&p, S5, 4, T1); /* zero since reset */
    rv_done(&p);
    return p;
}

static void test_program(void **state)
{
    rig r = chip(state);
    put(r.g, r.x, r.y, DATA + 4, 1);
    for (unsigned core = 0; core < (r.bh ? 2 : 1); core++) {
        rv p = ram_program(&r, core ? CODE_1 : CODE, 0xE0 + core, DATA + 16 * core);
        eth_boot(&r, core, &p);
    }
    assert_int_equal(run(&r, 10000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA), 0xE0);
    assert_int_equal(word(&r, DATA + 4), 0);
    if (r.bh)
        assert_int_equal(word(&r, DATA + 16), 0xE1);
    assert_int_equal(wg_finding_count(r.dev), 0);
    wg_core_info info;
    assert_int_equal(wg_core_state(r.dev, WG_CORE_E0, &info), WG_OK);
    assert_int_equal(info.pc, CODE + 4 * (ram_program(&r, CODE, 0, 0).n - 1));
    wg_grid_destroy(r.g);
}

/* Soft reset stops a core wherever it is; the register's other bits do nothing (SoftReset.md). */
static void test_reset(void **state)
{
    rig r = chip(state);
    rv p = rv_at(CODE);
    rv_li(&p, T1, DATA);
    unsigned loop = p.n;
    rv_lw(&p, A0, 0, T1);
    rv_addi(&p, A0, A0, 1);
    rv_sw(&p, A0, 0, T1);
    rv_beq(&p, ZERO, ZERO, loop);
    eth_boot(&r, 0, &p);
    wg_grid_advance(r.g, 1000);
    uint32_t counted = word(&r, DATA);
    assert_true(counted > 10);
    put(r.g, r.x, r.y, SOFT_RESET, word(&r, SOFT_RESET) | 0x47F7FF); /* everything but bit 11 */
    wg_grid_advance(r.g, 1000);
    assert_true(word(&r, DATA) > counted);
    put(r.g, r.x, r.y, SOFT_RESET, word(&r, SOFT_RESET) | 0x800);
    wg_grid_advance(r.g, 100);
    counted = word(&r, DATA);
    wg_grid_advance(r.g, 1000);
    assert_int_equal(word(&r, DATA), counted);
    put(r.g, r.x, r.y, SOFT_RESET, reset_bits(&r) & ~0x800u);
    wg_grid_advance(r.g, 1000);
    assert_true(word(&r, DATA) > counted);
    assert_int_equal(wg_finding_count(r.dev), 0);
    wg_grid_destroy(r.g);
}

/* There is no coprocessor: nothing to push to, no vector unit, no window to it. */
static void test_no_coprocessor(void **state)
{
    rig r = chip(state);
    rv p = rv_at(CODE);
    rv_tt(&p, 0x02000000);   /* .ttinsn */
    rv_word(&p, 0x0D07F057); /* vsetvli x0, a5, e32, m1 */
    rv_store(&p, 0xFFE40000, 0x02000000);
    rv_store(&p, DATA, 1);
    rv_done(&p);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 10000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA), 1);
    assert_int_equal(found(&r, WG_F_CORE_ILLEGAL), 2);
    assert_int_equal(found(&r, WG_F_CORE_UNMAPPED), 1);
    wg_grid_destroy(r.g);
}

/* Blackhole's E cores execute atomics and CSR instructions; Wormhole's E is a RV32IM core. */
static void test_extensions(void **state)
{
    rig r = chip(state);
    rv p = rv_at(CODE);
    rv_li(&p, A1, DATA);
    rv_li(&p, A2, 5);
    rv_word(&p, 0x00C5A52F); /* amoadd.w a0, a2, (a1) */
    rv_word(&p, 0xC0002573); /* rdcycle a0 */
    rv_done(&p);
    put(r.g, r.x, r.y, DATA, 7);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 10000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA), r.bh ? 12 : 7);
    assert_int_equal(found(&r, WG_F_CORE_ILLEGAL), r.bh ? 0 : 2);
    wg_grid_destroy(r.g);
}

/* ---- Registers ---- */

static void test_queues(void **state)
{
    rig r = chip(state);
    unsigned queues = r.bh ? 3 : 2;
    uint32_t rxq = r.bh ? 0xFFB94000 : 0xFFB92000;
    for (unsigned q = 0; q < queues; q++) {
        uint32_t tx = TXQ + 0x1000 * q, rx = rxq + 0x1000 * q;
        assert_int_equal(word(&r, tx), r.bh ? 1 : 9);
        assert_int_equal(word(&r, tx + 0x0C), 1500);
        for (uint32_t at = 0x14; at <= 0x1C; at += 4)
            put(r.g, r.x, r.y, tx + at, 0x100 * (q + 1) + 16 * at);
        for (uint32_t at = 0x14; at <= 0x1C; at += 4)
            assert_int_equal(word(&r, tx + at), 0x100 * (q + 1) + 16 * at);
        /* ETH_RXQ_TILE_HEADER_FORMAT has 14 bits; ETH_RXQ_OUTSTANDING_WR_CNT cannot be written. */
        put(r.g, r.x, r.y, rx + 0x48, 0xFFFFFFFF);
        assert_int_equal(word(&r, rx + 0x48), 0x3FFF);
        put(r.g, r.x, r.y, rx + 0x50, 7);
        assert_int_equal(word(&r, rx + 0x50), 0);
        put(r.g, r.x, r.y, rx, 0xF);
        assert_int_equal(word(&r, rx), r.bh ? 6 : 0xF);
        put(r.g, r.x, r.y, rx + 0x0C, 0x123 + q);
    }
    for (unsigned q = 0; q < queues; q++)
        assert_int_equal(word(&r, rxq + 0x1000 * q + 0x0C), 0x123 + q);
    assert_int_equal(wg_finding_count(r.dev), 0);
    /* Beyond the last queue, or between registers. */
    word(&r, TXQ + 0x2C);
    assert_int_equal(found(&r, WG_F_UNIMPLEMENTED_REGISTER), 1);
    wg_grid_destroy(r.g);
}

/* A command is accepted and counted; nothing is sent. */
static void test_link_down(void **state)
{
    rig r = chip(state);
    uint32_t last = TXQ + 0x1000u * (r.bh ? 2 : 1);
    put(r.g, r.x, r.y, TXQ + 0x14, DATA);
    put(r.g, r.x, r.y, TXQ + 0x18, 64);
    put(r.g, r.x, r.y, TXQ + 0x1C, DATA);
    for (uint32_t command = 1; command <= 4; command *= 2) {
        put(r.g, r.x, r.y, TXQ + 4, command);
        assert_int_equal(word(&r, TXQ + 4), 0);
    }
    if (r.bh)
        assert_int_equal(word(&r, TXQ + 8) & 1u << 16, 0); /* ETH_TXQ_STATUS_CMD_ONGOING_BIT */
    assert_int_equal(word(&r, TXQ + 0x30), 3);
    assert_int_equal(word(&r, TXQ + 0x34), 0);
    assert_int_equal(word(&r, TXQ + 0x3C), 0);
    assert_int_equal(found(&r, WG_F_ETH_LINK), 1);
    assert_int_equal(wg_finding_at(r.dev, 0)->count, 3);
    assert_int_equal(found(&r, WG_F_ETH_COMMAND), 0);
    /* The last queue sends no register writes; TT-link packets consist of whole lines; there is no command 3. */
    put(r.g, r.x, r.y, last + 4, 4);
    put(r.g, r.x, r.y, last + 0x18, 8);
    put(r.g, r.x, r.y, last + 4, 2);
    put(r.g, r.x, r.y, last + 4, 3);
    assert_int_equal(found(&r, WG_F_ETH_COMMAND), 1);
    assert_int_equal(wg_finding_at(r.dev, 1)->count, 3);
    assert_int_equal(word(&r, last + 0x30), 0);
    wg_grid_destroy(r.g);
}

/* Spare registers, the counter that adds what is written, and the counters of cycles (TileControlDebugStatus.md, CycleCounters.md). */
static void test_control(void **state)
{
    rig r = chip(state);
    static const uint16_t spare[] = {0x000, 0x020, 0x03C, 0x058, 0x064, 0x074, 0x0A4, 0x0B0, 0x0F8, 0x200, 0x214};
    for (unsigned i = 0; i < sizeof spare / sizeof *spare; i++)
        put(r.g, r.x, r.y, 0xFFB12000 + spare[i], 0xABC00000 + i);
    for (unsigned i = 0; i < sizeof spare / sizeof *spare; i++)
        assert_int_equal(word(&r, 0xFFB12000 + spare[i]), 0xABC00000 + i);
    if (!r.bh) {
        put(r.g, r.x, r.y, 0xFFB94080, 5);
        put(r.g, r.x, r.y, 0xFFB94080, 0xFFFFFFFF);
        assert_int_equal(word(&r, 0xFFB94080), 4);
        put(r.g, r.x, r.y, 0xFFB94090, 0x5C);
        assert_int_equal(word(&r, 0xFFB94090), 0x5C);
    }
    assert_int_equal(word(&r, 0xFFB121E0), 0xFFFFFFFF);
    put(r.g, r.x, r.y, 0xFFB121E0, 300);
    wg_grid_advance(r.g, 1000);
    assert_int_equal(word(&r, 0xFFB121F0), 1000);
    assert_int_equal(word(&r, 0xFFB121E0), 300);
    put(r.g, r.x, r.y, 0xFFB121E4, 1);
    wg_grid_advance(r.g, 100);
    assert_int_equal(word(&r, 0xFFB121E0), 200);
    assert_int_equal(word(&r, 0xFFB121E8), 0);
    put(r.g, r.x, r.y, 0xFFB121E4, 0);
    wg_grid_advance(r.g, 100);
    assert_int_equal(word(&r, 0xFFB121E0), 200);
    put(r.g, r.x, r.y, 0xFFB121E4, 1);
    wg_grid_advance(r.g, 1000);
    assert_int_equal(word(&r, 0xFFB121E0), 0);
    assert_int_equal(word(&r, 0xFFB121E8), 1);
    assert_int_equal(wg_finding_count(r.dev), 0);
    word(&r, 0xFFB12094);
    assert_int_equal(found(&r, WG_F_UNIMPLEMENTED_REGISTER), 1);
    wg_grid_destroy(r.g);
}

/* ---- Instruction RAM (WH) ---- */

/* Fills the instruction RAM from `from`, waits, and calls it. */
static void rv_fill_and_call(rv *p, uint32_t from)
{
    rv_store(p, IRAM_LOAD, from >> 4);
    rv_li(p, T1, IRAM_LOAD);
    unsigned loop = p->n;
    rv_lw(p, T0, 0, T1);
    rv_bne(p, T0, ZERO, loop);
    rv_li(p, T1, IRAM);
    rv_word(p, 0x000300E7); /* jalr ra, t1 */
}

static rv iram_program(uint32_t base, uint32_t value)
{
    rv p = rv_at(base);
    rv_addi(&p, A0, A0, (int)value);
    rv_word(&p, 0x00008067); /* ret */
    return p;
}

static void test_iram(void **state)
{
    rig r = chip(state);
    rv first = iram_program(0x30000, 5), second = iram_program(0x34000, 70);
    load(&r, &first);
    load(&r, &second);
    rv p = rv_at(CODE);
    rv_store(&p, MAC, 0x30000000);
    rv_store(&p, MAC + 4, 6);
    rv_fill_and_call(&p, 0x30000);
    rv_fill_and_call(&p, 0x34000); /* the new contents, not the instructions decoded before */
    rv_li(&p, T1, DATA);
    rv_sw(&p, A0, 0, T1);
    rv_done(&p);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 10000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA), 75);
    assert_true(wg_grid_cycle(r.g) > 2 * 512);
    assert_int_equal(wg_finding_count(r.dev), 0);
    put(r.g, r.x, r.y, MAC, 0x30000001);
    put(r.g, r.x, r.y, IRAM_LOAD, 0x3000); /* Ethernet TX is enabled */
    assert_int_equal(word(&r, IRAM_LOAD), 1);
    put(r.g, r.x, r.y, IRAM_LOAD, 0x3000);       /* while one is in progress */
    put(r.g, r.x, r.y, IRAM_LOAD, 0x40000 >> 4); /* beyond L1 */
    wg_grid_advance(r.g, 512);
    assert_int_equal(word(&r, IRAM_LOAD), 0);
    assert_int_equal(found(&r, WG_F_ETH_IRAM_LOAD), 1);
    assert_int_equal(wg_finding_at(r.dev, 0)->count, 3);
    wg_grid_destroy(r.g);
}

/* ---- NoC ---- */

/* E0 sends a line to a Tensix tile, reads one from it, and adds to a word there; the Tensix tile writes back. */
static void test_noc(void **state)
{
    rig r = chip(state);
    unsigned tx = 2, ty = 2;
    wg_arch_id arch = r.arch;
    assert_int_equal(wg_grid_kind(r.g, tx, ty), WG_TILE_TENSIX);
    put(r.g, tx, ty, 0x8000, 0xCAFE);
    put(r.g, tx, ty, 0x9000, 40);
    put(r.g, r.x, r.y, DATA, 0xE7E7);
    rv p = rv_at(CODE);
    rv_issue(&p, arch,
             &(noc_request){.ctrl = N_WRITE | N_ANSWER,
                            .targ = DATA,
                            .targ_at = at(r.x, r.y),
                            .ret = 0xA000,
                            .ret_at = at(tx, ty),
                            .len = 16});
    rv_issue(&p, arch,
             &(noc_request){.ctrl = N_READ | N_ANSWER,
                            .targ = 0x8000,
                            .targ_at = at(tx, ty),
                            .ret = DATA + 64,
                            .ret_at = at(r.x, r.y),
                            .len = 16});
    rv_issue(&p, arch,
             &(noc_request){.ctrl = N_ATOMIC | N_ANSWER,
                            .targ = 0x9000,
                            .targ_at = at(tx, ty),
                            .ret = DATA + 128,
                            .ret_at = at(r.x, r.y),
                            .len = 1 << 12 | 31 << 2,
                            .data = 2});
    rv_wait_word(&p, NIU0 + 0x208, 1); /* NIU_MST_RD_RESP_RECEIVED */
    rv_wait_word(&p, NIU0 + 0x204, 1); /* NIU_MST_WR_ACK_RECEIVED */
    rv_wait_word(&p, NIU0 + 0x200, 1); /* NIU_MST_ATOMIC_RESP_RECEIVED */
    rv_done(&p);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 20000), WG_STOP_DONE);
    assert_int_equal(get(r.g, tx, ty, 0xA000), 0xE7E7);
    assert_int_equal(word(&r, DATA + 64), 0xCAFE);
    assert_int_equal(get(r.g, tx, ty, 0x9000), 42);
    assert_int_equal(word(&r, DATA + 128), 40);
    issue(r.g, tx, ty,
          &(noc_request){.noc = 0,
                         .ctrl = N_WRITE | N_ANSWER,
                         .targ = 0x8000,
                         .targ_at = at(tx, ty),
                         .ret = DATA + 256,
                         .ret_at = at(r.x, r.y),
                         .len = 16});
    issue(r.g, tx, ty,
          &(noc_request){.ctrl = N_ATOMIC | N_ANSWER,
                         .initiator = 1,
                         .targ = DATA,
                         .targ_at = at(r.x, r.y),
                         .ret = 0x9100,
                         .ret_at = at(tx, ty),
                         .len = 1 << 12 | 31 << 2,
                         .data = 1});
    assert_int_equal(run(&r, 20000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA + 256), 0xCAFE);
    assert_int_equal(word(&r, DATA), 0xE7E8);
    assert_int_equal(wg_finding_count(r.dev), 0);
    wg_grid_destroy(r.g);
}

/* A Tensix tile starts a program on the Ethernet tile: code, vector and reset bit arrive over the NoC. */
static void test_boot_by_noc(void **state)
{
    rig r = chip(state);
    unsigned tx = 2, ty = 2;
    rv p = ram_program(&r, 0, 0xB007, DATA);
    assert_int_equal(wg_grid_write(r.g, tx, ty, 0x8000, p.word, 4 * p.n), WG_OK);
    put(r.g, tx, ty, 0x9000 + (vector_of(&r, 0) & 15), CODE);
    put(r.g, tx, ty, 0x9100, reset_bits(&r) & ~0x800u);
    const uint32_t to[] = {CODE, vector_of(&r, 0), SOFT_RESET};
    const uint32_t from[] = {0x8000, 0x9000 + (vector_of(&r, 0) & 15), 0x9100};
    for (unsigned i = 0; i < 3; i++) {
        issue(r.g, tx, ty,
              &(noc_request){.ctrl = N_WRITE | N_ANSWER,
                             .targ = from[i],
                             .targ_at = at(tx, ty),
                             .ret = to[i],
                             .ret_at = at(r.x, r.y),
                             .len = i ? 4 : 4 * p.n});
        wg_grid_advance(r.g, 300);
    }
    assert_int_equal(run(&r, 20000), WG_STOP_DONE);
    assert_int_equal(word(&r, DATA), 0xB007);
    wg_grid_destroy(r.g);
}

/* ---- Time ---- */

/* Counts, stores, sends its count to the neighbour, and reads the clock: a bit of everything. */
static rv busy_program(const rig *r, uint32_t base, unsigned core)
{
    rv p = rv_at(base);
    rv_li(&p, A1, DATA + 0x1000 * core);
    rv_li(&p, A2, 40);
    rv_li(&p, A3, 0xFFB121F0);
    unsigned loop = p.n;
    rv_addi(&p, A0, A0, 3);
    rv_sw(&p, A0, 0, A1);
    rv_lw(&p, A4, 0, A1);
    rv_lw(&p, A5, 0, A3);
    rv_add(&p, A6, A6, A4);
    rv_sw(&p, A6, 4, A1);
    rv_sw(&p, A5, 8, A1);
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, loop);
    rv_issue(&p, r->arch,
             &(noc_request){.ctrl = N_WRITE | N_ANSWER,
                            .initiator = core,
                            .targ = DATA + 0x1000 * core,
                            .targ_at = at(r->x, r->y),
                            .ret = 0xA000 + 0x100 * core,
                            .ret_at = at(2, 2),
                            .len = 16});
    rv_done(&p);
    return p;
}

enum { MODES = 5, LENGTH = 4000 };

static uint64_t hash_in_mode(wg_arch_id arch, unsigned mode)
{
    rig r = chip_of(arch, mode == 2 ? 2 : 1, mode == 1);
    for (unsigned core = 0; core < (r.bh ? 2 : 1); core++) {
        rv p = busy_program(&r, core ? CODE_1 : CODE, core);
        eth_boot(&r, core, &p);
    }
    if (mode == 3) {
        for (unsigned i = 0; i < LENGTH; i++)
            wg_grid_advance(r.g, 1);
    } else if (mode == 4) {
        wg_grid_advance(r.g, 777);
        size_t bytes = wg_grid_snapshot_size(r.g);
        void *snapshot = malloc(bytes);
        assert_int_equal(wg_grid_snapshot(r.g, snapshot, bytes), WG_OK);
        wg_grid_destroy(r.g);
        r = chip_of(arch, 1, false);
        assert_int_equal(wg_grid_restore(r.g, snapshot, bytes), WG_OK);
        free(snapshot);
        wg_grid_advance(r.g, LENGTH - 777);
    } else {
        wg_grid_advance(r.g, LENGTH);
    }
    uint64_t hash = wg_grid_state_hash(r.g);
    assert_int_equal(word(&r, DATA), 120);
    assert_int_equal(get(r.g, 2, 2, 0xA000), 120);
    wg_grid_destroy(r.g);
    return hash;
}

static void test_modes(void **state)
{
    uint64_t hash = hash_in_mode(wg_test_arch(state), 0);
    for (unsigned mode = 1; mode < MODES; mode++)
        assert_true(hash_in_mode(wg_test_arch(state), mode) == hash);
}

/* A snapshot with a running core that the tile does not have is refused. */
static void test_missing_core(void **state)
{
    rig r = chip(state);
    wg_tile *t = r.dev->tile;
    char what[128] = "";
    assert_true(wg_state_holds(t, what, sizeof what));
    for (unsigned core = r.bh ? 2 : 1; core < WG_CORES; core++) {
        t->core[core].run.halt = WG_RUNNING;
        assert_false(wg_state_holds(t, what, sizeof what));
        assert_string_equal(what, "a core runs that the tile does not have");
        t->core[core].run.halt = WG_IN_RESET;
    }
    wg_grid_destroy(r.g);
}

/* A core polls a word that nobody writes: the run ends, and the report says so. */
static void test_hang(void **state)
{
    rig r = chip(state);
    rv p = rv_at(CODE);
    rv_wait_word(&p, DATA, 1);
    rv_done(&p);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 1000000), WG_STOP_HUNG);
    assert_true(wg_grid_cycle(r.g) < 100000);
    put(r.g, r.x, r.y, DATA, 1);
    assert_int_equal(run(&r, 1000000), WG_STOP_DONE);
    wg_grid_destroy(r.g);
}

/* ---- Base firmware ---- */

static void test_firmware(void **state)
{
    rig r = chip(state);
    assert_int_equal(word(&r, r.bh ? 0x7CC04 : 0x1104), r.bh ? 2 : 3); /* the port is down */
    uint32_t beat = r.bh ? 0x7CC70 : 0x1C;
    assert_true(word(&r, beat) != word(&r, beat));
    rv p = rv_at(CODE);
    rv_store(&p, beat, 0x1234);
    rv_done(&p);
    eth_boot(&r, 0, &p);
    assert_int_equal(run(&r, 10000), WG_STOP_DONE);
    assert_int_equal(word(&r, beat), 0x1234); /* the program's own */
    assert_int_equal(word(&r, beat), 0x1234);
    wg_grid_destroy(r.g);
}

static const wg_test tests[] = {
    WG_TEST(test_shape, WG_BH | WG_WH, ""),
    WG_TEST(test_program, WG_BH | WG_WH, ""),
    WG_TEST(test_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_no_coprocessor, WG_BH | WG_WH, ""),
    WG_TEST(test_extensions, WG_BH | WG_WH, ""),
    WG_TEST(test_queues, WG_BH | WG_WH, ""),
    WG_TEST(test_link_down, WG_BH | WG_WH, ""),
    WG_TEST(test_control, WG_BH | WG_WH, ""),
    WG_TEST(test_iram, WG_WH, ""),
    WG_TEST(test_noc, WG_BH | WG_WH, ""),
    WG_TEST(test_boot_by_noc, WG_BH | WG_WH, ""),
    WG_TEST(test_modes, WG_BH | WG_WH, ""),
    WG_TEST(test_hang, WG_BH | WG_WH, ""),
    WG_TEST(test_missing_core, WG_BH | WG_WH, ""),
    WG_TEST(test_firmware, WG_BH | WG_WH, ""),
};
WG_MAIN("eth", tests)
