/* SPDX-License-Identifier: Apache-2.0 */
/* Mover and TDMA-RISC: sources and destinations, speed, when it is busy, and the register window. */
#include "control_rig.h"

enum { L0_TO_L1, L1_TO_L0, L0_TO_L0, L1_TO_L1 };
enum { XMOV = 0x40000000 };

static void fill_l1(rig *r)
{
    for (uint32_t i = 0; i < r->t->spec->l1_bytes; i++)
        r->t->l1[i] = (uint8_t)(i * 7 + (i >> 8));
}

/* XMOV's parameters, in units of 16 bytes. */
static void configure(rig *r, uint32_t src, uint32_t dst, uint32_t size, unsigned mode)
{
    uint32_t *words = r->t->regs.config.bank[0];
    const wg_cfg_field *f = wg_cfg_fields[r->t->arch->id];
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Source_address], words, src);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Destination_address], words, dst);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Buffer_size], words, size);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Transfer_direction], words, mode);
}

static wg_region_answer tdma_write(rig *r, unsigned core, uint32_t offset, uint32_t value)
{
    wg_stall why;
    return wg_tdma_write(r->t, core, offset, value, 0, &why);
}
static uint32_t tdma_read(rig *r, unsigned core, uint32_t offset)
{
    wg_stall why;
    uint32_t value = 0;
    assert_int_equal(wg_tdma_read(r->t, core, offset, &value, 0, &why), WG_REGION_DONE);
    return value;
}

static void test_copy_and_fill(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_rng rng = {21};
    for (unsigned n = 0; n < 300; n++) {
        fill_l1(r);
        uint32_t size = 1 + wg_rng_below(&rng, 40);
        uint32_t src = wg_rng_below(&rng, 1000), dst = 2000 + wg_rng_below(&rng, 1000);
        bool copy = wg_rng_below(&rng, 2);
        uint8_t want[64 * 1024];
        memcpy(want, r->t->l1, sizeof want);
        if (copy)
            memcpy(want + dst * 16, r->t->l1 + src * 16, size * 16);
        else
            memset(want + dst * 16, 0, size * 16);
        configure(r, src, dst, size, copy ? L1_TO_L1 : L0_TO_L1);
        rig_do(r, n % 3, XMOV);
        assert_memory_equal(r->t->l1, want, sizeof want);
    }
    assert_int_equal(r->dev.findings, 0);
    rig_free(r);
}

static void test_into_configuration(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    fill_l1(r);
    unsigned words = r->t->arch->config_words;
    uint32_t want[4];
    configure(r, 100, 3, 2, L1_TO_L0); /* Config[0][12…19] */
    rig_do(r, 0, XMOV);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(want, r->t->l1 + (100 + i) * 16, 16);
        assert_memory_equal(&r->t->regs.config.bank[0][12 + 4 * i], want, 16);
    }
    assert_int_equal(r->t->regs.config.bank[1][12], 0);
    configure(r, 101, words / 4 + 2, 1, L1_TO_L0); /* Config[1][8…11] */
    rig_do(r, 0, XMOV);
    assert_memory_equal(&r->t->regs.config.bank[1][8], r->t->l1 + 101 * 16, 16);
    configure(r, 0, 3, 1, L0_TO_L0);
    rig_do(r, 0, XMOV);
    assert_int_equal(r->t->regs.config.bank[0][12], 0);
    assert_int_not_equal(r->t->regs.config.bank[0][16], 0);
    rig_free(r);
}

static void test_into_iram(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    fill_l1(r);
    configure(r, 50, 0x4000 + 3, 2, L1_TO_L0); /* 0x40030 */
    rig_do(r, 0, XMOV);
    bool wh = wg_test_arch(state) == WG_ARCH_WH;
    assert_int_equal(rig_found(r, WG_F_MOVER_IRAM_RUNNING), 0); /* NC is at 0, in L1 */
    r->t->core[WG_CORE_NC].run.pc = 0xFFC00100;
    rig_do(r, 0, XMOV);
    assert_int_equal(rig_found(r, WG_F_MOVER_IRAM_RUNNING), wh);
    r->t->core[WG_CORE_NC].run.halt = WG_IN_RESET;
    if (wh) {
        r->dev.findings = 0;
        rig_do(r, 0, XMOV);
        assert_int_equal(rig_found(r, WG_F_MOVER_IRAM_RUNNING), 0);
    }
    if (wh)
        assert_memory_equal(r->t->regions.memory.iram + 48, r->t->l1 + 800, 32);
    assert_int_equal(rig_found(r, WG_F_MOVER_DISCARDED), wh ? 0 : 2); /* BH has no instruction RAM */
    configure(r, 50, 0x2000, 2, L1_TO_L0);                            /* 0x20000: nowhere */
    rig_do(r, 0, XMOV);
    assert_int_equal(rig_found(r, WG_F_MOVER_DISCARDED), wh ? 1 : 3);
    rig_free(r);
}

static void test_bad_ranges(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t end = r->t->spec->l1_bytes / 16;
    configure(r, end, 0, 1, L1_TO_L1);
    rig_do(r, 0, XMOV);
    configure(r, 0, end - 1, 2, L0_TO_L1);
    rig_do(r, 0, XMOV);
    configure(r, 0, 0xFFF, 2, L0_TO_L0); /* leaves the configuration's 64 KiB */
    rig_do(r, 0, XMOV);
    assert_int_equal(rig_found(r, WG_F_MOVER_ADDRESS), 3);
    assert_false(wg_mover_busy(r->t));
    configure(r, 0, 10, 1, L0_TO_L1);
    rig_do(r, 0, XMOV | 1u << 23);
    assert_int_equal(rig_found(r, WG_F_MOVER_OPERAND), 1);
    rig_free(r);
}

/* Cycles from acceptance until condition C9 (WH: C12) is clear. */
static unsigned busy_cycles(rig *r)
{
    rig_push(r, 0, XMOV);
    rig_cycle(r);
    unsigned cycles = 0;
    while (wg_mover_unit.part_busy(r->t, 2, 0) && cycles < 100000) {
        rig_cycle(r);
        cycles++;
    }
    rig_drain(r);
    return cycles;
}

static void test_speed(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    configure(r, 0, 4000, 8, L1_TO_L1);
    unsigned one = busy_cycles(r);
    configure(r, 0, 4000, 808, L1_TO_L1);
    unsigned many = busy_cycles(r);
    assert_int_equal(many - one, 100 * 11); /* eight units per 11 cycles */
    configure(r, 0, 4000, 8, L0_TO_L1);
    one = busy_cycles(r);
    configure(r, 0, 4000, 808, L0_TO_L1);
    assert_int_equal(busy_cycles(r) - one, 800); /* one unit per cycle */
    configure(r, 0, 0x2000, 8, L0_TO_L0);
    one = busy_cycles(r);
    configure(r, 0, 0x2000, 808, L0_TO_L0);
    assert_int_equal(busy_cycles(r) - one, 800);
    rig_free(r);
}

/* GATE-16: busy for any thread, and for TDMA-RISC's transfers; XMOV itself completes after one cycle. */
static void test_busy(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    configure(r, 0, 4000, 16, L1_TO_L1);
    rig_push(r, 1, XMOV);
    rig_push(r, 1, 0x02000000);
    rig_push(r, 2, XMOV);
    uint64_t first = r->t->sched.now;
    rig_cycle(r);
    for (unsigned thread = 0; thread < 3; thread++)
        assert_true(wg_mover_unit.part_busy(r->t, thread, 0));
    rig_cycle(r);
    assert_int_equal(r->issued[1][1], first + 1);
    assert_false(wg_mover_unit.busy(r->t, 1));
    assert_int_equal(r->stall[2].reason, WG_STALL_UNIT_BUSY); /* thread 2 waits until it can start */
    rig_drain(r);
    assert_true(tdma_read(r, WG_CORE_B, 0x14) == (1u << 3 | 1u << 5 | 4u << 8));
    tdma_write(r, WG_CORE_B, 0x00, 0);
    tdma_write(r, WG_CORE_B, 0x04, 4000);
    tdma_write(r, WG_CORE_B, 0x08, 16);
    tdma_write(r, WG_CORE_B, 0x0C, L1_TO_L1);
    tdma_write(r, WG_CORE_B, 0x10, 0x40);
    assert_int_equal(tdma_read(r, WG_CORE_B, 0x14), 3u << 8); /* queued, nothing moves yet */
    rig_run(r, 3);
    assert_true(wg_mover_unit.part_busy(r->t, 0, 0));
    assert_true(tdma_read(r, WG_CORE_B, 0x14) & 1);
    rig_drain(r);
    assert_false(wg_mover_unit.part_busy(r->t, 0, 0));
    rig_free(r);
}

static void test_commands(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    fill_l1(r);
    uint32_t words[4] = {20, 300, 5, L1_TO_L1};
    for (unsigned i = 0; i < 4; i++)
        tdma_write(r, WG_CORE_T1, 4 * i, words[i]);
    tdma_write(r, WG_CORE_T1, 0x10, 0x40);
    rig_drain(r);
    assert_memory_equal(r->t->l1 + 4800, r->t->l1 + 320, 80);
    /* Compact: source relative to the core's base, L1 to L1 and L1 to configuration. */
    for (unsigned core = 0; core < WG_CORES; core++)
        if (core != WG_CORE_NC)
            tdma_write(r, core, 0x2C, 0x100 * (core + 1));
    assert_int_equal(tdma_read(r, WG_CORE_T2, 0x2C), 0x500);
    tdma_write(r, WG_CORE_T2, 0x10, UINT32_C(1) << 31 | 1u << 30 | 3u << 24 | 200u << 16 | 7u << 8 | 0x40);
    rig_drain(r);
    assert_memory_equal(r->t->l1 + 200 * 16, r->t->l1 + 0x507 * 16, 48);
    tdma_write(r, WG_CORE_B, 0x10, UINT32_C(1) << 31 | 1u << 24 | 5u << 16 | 9u << 8 | 0x40);
    rig_drain(r);
    assert_memory_equal(&r->t->regs.config.bank[0][20], r->t->l1 + 0x109 * 16, 16);
    /* Words and pairs to L1. */
    tdma_write(r, WG_CORE_B, 0x00, 0x1000);
    tdma_write(r, WG_CORE_B, 0x08, 0x11223344);
    tdma_write(r, WG_CORE_B, 0x0C, 0x55667788);
    tdma_write(r, WG_CORE_B, 0x10, 0x666);
    rig_drain(r);
    uint32_t got[2];
    memcpy(got, r->t->l1 + 0x1000, 8);
    assert_int_equal(got[0], 0x11223344);
    assert_int_not_equal(got[1], 0x55667788);
    tdma_write(r, WG_CORE_B, 0x10, 0x766);
    rig_drain(r);
    memcpy(got, r->t->l1 + 0x1000, 8);
    assert_int_equal(got[1], 0x55667788);
    tdma_write(r, WG_CORE_B, 0x10, 0x80000089);
    tdma_write(r, WG_CORE_B, 0x10, 0x80000046);
    rig_drain(r);
    assert_int_equal(r->dev.findings, 0);
    tdma_write(r, WG_CORE_B, 0x10, 0x80000012);
    tdma_write(r, WG_CORE_B, 0x10, 0x66);
    rig_drain(r);
    assert_int_equal(rig_found(r, WG_F_TDMA_COMMAND), 2);
    rig_free(r);
}

static void test_queue(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    configure(r, 0, 4000, 200, L1_TO_L1);
    rig_push(r, 0, XMOV);
    rig_run(r, 2); /* the Mover is busy for a while */
    tdma_write(r, WG_CORE_B, 0x08, 1);
    tdma_write(r, WG_CORE_B, 0x0C, L0_TO_L1);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x40), WG_REGION_DONE);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x40), WG_REGION_DONE);
    assert_int_equal(tdma_read(r, WG_CORE_B, 0x14), 1u | 1u << 4 | 2u << 8);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x40), WG_REGION_DONE); /* third with parameters: lost */
    assert_int_equal(rig_found(r, WG_F_TDMA_CREDITS), 1);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x80000089), WG_REGION_DONE);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x80000089), WG_REGION_DONE);
    assert_int_equal(tdma_read(r, WG_CORE_B, 0x14), 1u | 1u << 2 | 1u << 4);
    assert_int_equal(tdma_write(r, WG_CORE_B, 0x10, 0x80000089), WG_REGION_WAIT);
    rig_drain(r);
    assert_int_equal(tdma_read(r, WG_CORE_B, 0x14), 1u << 3 | 1u << 5 | 4u << 8);
    rig_free(r);
}

/* The wait command holds later commands back until the Mover is idle. */
static void test_wait_command(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t words[4] = {0, 4000, 100, L1_TO_L1};
    for (unsigned i = 0; i < 4; i++)
        tdma_write(r, WG_CORE_B, 4 * i, words[i]);
    tdma_write(r, WG_CORE_B, 0x10, 0x40);
    tdma_write(r, WG_CORE_B, 0x10, 0x80000046);
    tdma_write(r, WG_CORE_B, 0x00, 0x20000);
    tdma_write(r, WG_CORE_B, 0x08, 0x1DEA);
    tdma_write(r, WG_CORE_B, 0x10, 0x666);
    uint32_t got = 0;
    do {
        rig_cycle(r);
        memcpy(&got, r->t->l1 + 0x20000, 4);
        assert_int_equal(got, 0);
    } while (wg_mover_busy(r->t) || r->t->sched.now < 110);
    rig_drain(r);
    memcpy(&got, r->t->l1 + 0x20000, 4);
    assert_int_equal(got, 0x1DEA);
    rig_free(r);
}

static void test_sideband(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_stall why;
    uint32_t value;
    wg_tdma_tile_packed(r->t, 1, 2, 0x30, 0xF00D, true, true);
    wg_tdma_tile_packed(r->t, 1, 2, 0x10, 0xBEEF, false, true);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x118), 0);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x198), 0x10);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x19C), 0x41);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x120), 0xBEEF);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x130), 0x30);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x134), 0xF00D);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x130), 0x10);
    tdma_write(r, WG_CORE_T0, 0x134, 0);
    assert_int_equal(wg_tdma_read(r->t, WG_CORE_T0, 0x130, &value, 0, &why), WG_REGION_WAIT);
    assert_int_equal(why.holder, WG_AGENT_PACK);
    assert_int_equal(r->dev.findings, 0);
    (void)tdma_read(r, WG_CORE_T0, 0x134);
    assert_int_equal(rig_found(r, WG_F_TDMA_FIFO_EMPTY), 1);
    tdma_write(r, WG_CORE_T0, 0x1C, 1u << 17 | 0x1234);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x19C), 0);
    assert_int_equal(r->t->backend.tdma.packer[1].l1_dest_addr_offset, 0x1234);
    assert_int_equal(r->t->backend.tdma.packer[0].l1_dest_addr_offset, 0);
    r->t->backend.tdma.set_reg_acc[1] = 0x1ABCD;
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x11C), 0xABCDu << 16);
    tdma_write(r, WG_CORE_T0, 0x3C, 0x155u | 0x0AAu << 9 | 0x1FFu << 18);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x3C), 0x155u | 0x0AAu << 9 | 0x1FFu << 18);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x13C), 0x155u | 0x0AAu << 9 | 0x1FFu << 18 | 1u << 31);
    tdma_write(r, WG_CORE_T0, 0x28, 0xFFFFFFFF);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x28), 0x01FF007F);
    assert_int_equal(r->t->backend.tdma.set_reg_hi_scaler[3], 0x1FF);
    tdma_write(r, WG_CORE_T0, 0x38, 3u << 22 | 1u << 20 | 0x2AAu << 10 | 0x155u);
    assert_int_equal(r->t->backend.tdma.pack_set_reg_base[0], 1u << 18 | 0x155u << 2);
    assert_int_equal(r->t->backend.tdma.pack_set_reg_base[1], 3u << 18 | 0x2AAu << 2);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x38), (3u << 22 | 1u << 20 | 0x2AAu << 10 | 0x155u) << 8 | 0x55);
    tdma_write(r, WG_CORE_T0, 0x24, 0xFFFFFFFF);
    assert_int_equal(tdma_read(r, WG_CORE_T0, 0x24), 0xFFFFFF7F);
    assert_int_equal(rig_found(r, WG_F_TDMA_REGISTER), 0);
    (void)tdma_read(r, WG_CORE_T0, 0x44);
    tdma_write(r, WG_CORE_T0, 0x500, 1);
    assert_int_equal(rig_found(r, WG_F_TDMA_REGISTER), 2);
    rig_free(r);
}

static void test_soft_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    fill_l1(r);
    configure(r, 0, 4000, 16, L1_TO_L1);
    wg_mover_soft_reset(r->t, true);
    rig_do(r, 0, XMOV);
    assert_memory_not_equal(r->t->l1, r->t->l1 + 64000, 16);
    wg_mover_soft_reset(r->t, false);
    tdma_write(r, WG_CORE_B, 0x08, 7);
    wg_tdma_soft_reset(r->t, true);
    assert_int_equal(r->t->backend.tdma.cmd_params[2], 0);
    tdma_write(r, WG_CORE_B, 0x08, 7);
    assert_int_equal(r->t->backend.tdma.cmd_params[2], 0);
    rig_free(r);
}

static void test_lockstep_is_the_same(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned seed = 1; seed <= 20; seed++) {
        rig *a = rig_new(arch), *b = rig_new(arch);
        b->lockstep = true;
        a->t->seed = b->t->seed = seed % 3;
        a->t->perturbed = b->t->perturbed = a->t->seed != 0;
        wg_rng rng = {seed};
        fill_l1(a);
        fill_l1(b);
        for (unsigned cycle = 0; cycle < 3000; cycle++) {
            if (wg_rng_below(&rng, 20) == 0) {
                uint32_t src = wg_rng_below(&rng, 100), dst = 200 + wg_rng_below(&rng, 100), n = wg_rng_below(&rng, 20);
                uint32_t dir = wg_rng_below(&rng, 2) ? L1_TO_L1 : L0_TO_L1, kind = wg_rng_below(&rng, 4);
                static const uint32_t commands[] = {0x40, 0x666, 0x80000046, 0x80000089};
                for (unsigned i = 0; i < 2; i++) {
                    rig *r = i ? b : a;
                    tdma_write(r, WG_CORE_B, 0, src);
                    tdma_write(r, WG_CORE_B, 4, dst);
                    tdma_write(r, WG_CORE_B, 8, n);
                    tdma_write(r, WG_CORE_B, 12, dir);
                    tdma_write(r, WG_CORE_B, 16, commands[kind]);
                    configure(r, src, dst, n, dir);
                    if (n & 1 && r->count[0] < RIG_WORDS)
                        rig_push(r, 0, XMOV);
                }
            }
            rig_cycle(a);
            rig_cycle(b);
            assert_int_equal(tdma_read(a, WG_CORE_B, 0x14), tdma_read(b, WG_CORE_B, 0x14));
            assert_memory_equal(a->t->l1, b->t->l1, 8192);
        }
        assert_memory_equal(a->issued, b->issued, sizeof a->issued);
        rig_free(a);
        rig_free(b);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_copy_and_fill, WG_BH | WG_WH, "", "XMOV:value"),
    WG_COVERS(test_into_configuration, WG_BH | WG_WH, "", "XMOV:value"),
    WG_COVERS(test_into_iram, WG_BH | WG_WH, "", "XMOV:value"),
    WG_TEST(test_bad_ranges, WG_BH | WG_WH, ""),
    WG_COVERS(test_speed, WG_BH | WG_WH, "", "XMOV:timing"),
    WG_COVERS(test_busy, WG_BH | WG_WH, "GATE-16", "XMOV:timing"),
    WG_TEST(test_commands, WG_BH | WG_WH, ""),
    WG_TEST(test_queue, WG_BH | WG_WH, ""),
    WG_TEST(test_wait_command, WG_BH | WG_WH, ""),
    WG_TEST(test_sideband, WG_BH | WG_WH, ""),
    WG_TEST(test_soft_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep_is_the_same, WG_BH | WG_WH, ""),
};
WG_MAIN("mover", tests)
