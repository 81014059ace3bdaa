/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration Unit: values of every operand, when and to whom a write becomes visible, what blocks what, documented
 * bugs.
 */
#include "control_rig.h"
#include "machine/overlay.h"

static uint32_t setc16(unsigned index, unsigned value) { return UINT32_C(0xB2) << 24 | index << 16 | value; }
static uint32_t wrcfg(unsigned gpr, unsigned wide, unsigned index)
{
    return UINT32_C(0xB0) << 24 | gpr << 16 | wide << 15 | index;
}
static uint32_t rdcfg(unsigned gpr, unsigned index) { return UINT32_C(0xB1) << 24 | gpr << 16 | index; }
static uint32_t rmwcib(unsigned byte, unsigned mask, unsigned data, unsigned index)
{
    return (UINT32_C(0xB3) + byte) << 24 | mask << 16 | data << 8 | index;
}
static uint32_t shiftmask(unsigned keep, unsigned op, unsigned width, unsigned rotate, unsigned scratch, unsigned index)
{
    return UINT32_C(0xB8) << 24 | keep << 23 | op << 20 | width << 15 | rotate << 10 | scratch << 8 | index;
}
static uint32_t streamwrcfg(unsigned select, unsigned reg, unsigned index)
{
    return UINT32_C(0xB7) << 24 | select << 21 | reg << 11 | index;
}
enum { NOP = 0x02000000, DMANOP = 0x60000000 };

static unsigned word_of(rig *r, wg_cfg_id id) { return wg_cfg_fields[r->t->arch->id][id].word; }

/* ---- Values ----------------------------------------------------------------------------------------- */

static void test_setc16_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    unsigned words = r->t->arch->thread_config_words;
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned index = 1; index < words; index++)
            rig_do(r, thread, setc16(index, (thread * 1000 + index * 7) & 0xFFFF));
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned index = 1; index < words; index++)
            assert_int_equal(r->t->regs.config.thread[thread][index], (thread * 1000 + index * 7) & 0xFFFF);
    for (unsigned bit = 0; bit < 16; bit++) {
        rig_do(r, 1, setc16(3, 1u << bit));
        assert_int_equal(r->t->regs.config.thread[1][3], 1u << bit);
    }
    assert_int_equal(r->dev.findings, 0);
    rig_do(r, 0, setc16(words, 0x1234));
    assert_int_equal(rig_found(r, WG_F_CONFIG_INDEX), 1);
    assert_int_equal(rig_finding(r, WG_F_CONFIG_INDEX)->subject, words);
    rig_free(r);
}

static void test_setc16_context_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    memset(r->t->regs.config.unpack_context, 5, sizeof r->t->regs.config.unpack_context);
    unsigned index = wg_tcfg_fields[r->t->arch->id][WG_TCFG_UNPACK_MISC_CFG_CfgContextCntReset_1].word;
    rig_do(r, 1, setc16(index, 0));
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned unpacker = 0; unpacker < 2; unpacker++)
            assert_int_equal(r->t->regs.config.unpack_context[unpacker][thread], thread == 1 ? 0 : 5);
    rig_free(r);
}

static void test_wrcfg_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_config *c = &r->t->regs.config;
    for (unsigned i = 0; i < WG_GPRS; i++)
        r->t->regs.gpr.r[2][i] = 0x01010101 * i;
    for (unsigned gpr = 0; gpr < 64; gpr++) {
        rig_do(r, 2, wrcfg(gpr, 0, 20));
        assert_int_equal(c->bank[0][20], 0x01010101 * gpr);
        assert_int_equal(c->bank[1][20], 0);
    }
    for (unsigned low = 0; low < 4; low++) { /* both indices are rounded down to a multiple of four */
        memset(&c->bank[0][24], 0, 32);
        rig_do(r, 2, wrcfg(40 + low, 1, 28 + (3 - low)));
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(c->bank[0][28 + i], 0x01010101 * (40 + i));
            assert_int_equal(c->bank[0][24 + i], 0);
        }
    }
    rig_do(r, 2, setc16(0, 1)); /* the other bank */
    rig_do(r, 2, wrcfg(9, 0, 21));
    assert_int_equal(c->bank[1][21], 0x09090909);
    assert_int_equal(c->bank[0][21], 0);
    unsigned global = r->t->arch->config_global_from;
    rig_do(r, 2, wrcfg(10, 0, global)); /* both banks */
    assert_int_equal(c->bank[0][global], 0x0A0A0A0A);
    assert_int_equal(c->bank[1][global], 0x0A0A0A0A);
    rig_do(r, 2, wrcfg(11, 0, r->t->arch->config_words));
    rig_do(r, 2, wrcfg(11, 1, 0x7FF));
    assert_int_equal(rig_found(r, WG_F_CONFIG_INDEX), 2);
    rig_free(r);
}

static void test_rmwcib_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_config *c = &r->t->regs.config;
    wg_rng rng = {3};
    for (unsigned n = 0; n < 20000; n++) {
        unsigned byte = wg_rng_below(&rng, 4), mask = wg_rng_below(&rng, 256), data = wg_rng_below(&rng, 256);
        unsigned index = wg_rng_below(&rng, r->t->arch->config_words), thread = wg_rng_below(&rng, 3);
        if (index == word_of(r, WG_CFG_RISCV_IC_INVALIDATE_InvalidateAll))
            continue;
        uint32_t old = (uint32_t)wg_rng_next(&rng);
        c->bank[0][index] = c->bank[1][index] = old;
        rig_do(r, thread, rmwcib(byte, mask, data, index));
        uint32_t field = (uint32_t)mask << 8 * byte, want = (old & ~field) | ((uint32_t)data << 8 * byte & field);
        assert_int_equal(c->bank[0][index], want);
        assert_int_equal(c->bank[1][index], index >= r->t->arch->config_global_from ? want : old);
    }
    assert_int_equal(r->dev.findings, 0);
    rig_free(r);
}

static void test_rdcfg_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned i = 0; i < r->t->arch->config_words; i++) {
        r->t->regs.config.bank[0][i] = 0x10000 + i;
        r->t->regs.config.bank[1][i] = 0x20000 + i;
    }
    rig_do(r, 1, setc16(0, 1));
    for (unsigned i = 0; i < r->t->arch->config_words; i++) {
        rig_do(r, 0, rdcfg(i % 64, i));
        rig_do(r, 1, rdcfg(63 - i % 64, i));
        assert_int_equal(r->t->regs.gpr.r[0][i % 64], 0x10000 + i);
        assert_int_equal(r->t->regs.gpr.r[1][63 - i % 64], 0x20000 + i);
    }
    uint32_t before = r->t->regs.gpr.r[0][5];
    rig_do(r, 0, rdcfg(5, r->t->arch->config_words));
    assert_int_equal(r->t->regs.gpr.r[0][5], before);
    assert_int_equal(rig_found(r, WG_F_CONFIG_INDEX), 1);
    rig_free(r);
}

static uint32_t rotate(uint32_t x, unsigned by) { return (uint32_t)((((uint64_t)x << 32) | x) >> by); }

static void test_cfgshiftmask_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_config *c = &r->t->regs.config;
    unsigned scratch = word_of(r, WG_CFG_SCRATCH_SEC0_val);
    wg_rng rng = {4};
    for (unsigned n = 0; n < 20000; n++) {
        unsigned keep = wg_rng_below(&rng, 2), op = wg_rng_below(&rng, 8), width = wg_rng_below(&rng, 32);
        unsigned by = wg_rng_below(&rng, 32), select = wg_rng_below(&rng, 4), thread = wg_rng_below(&rng, 3);
        uint32_t old = (uint32_t)wg_rng_next(&rng);
        for (unsigned i = 0; i < 3; i++)
            c->bank[0][scratch + i] = c->bank[1][scratch + i] = (uint32_t)wg_rng_next(&rng);
        uint32_t s = c->bank[0][scratch + (select < 3 ? select : thread)];
        c->bank[0][12] = old;
        rig_do(r, thread, shiftmask(keep, op, width, by, select, 12));
        uint32_t mask = width == 31 ? UINT32_MAX : (UINT32_C(1) << (width + 1)) - 1;
        uint32_t v = rotate(s & mask, by), o = keep ? old : old & ~rotate(mask, by);
        uint32_t want[8] = {o | v, o & v, o ^ v, o + v, o | ~v, o & ~v, o ^ ~v, o - v};
        assert_int_equal(c->bank[0][12], want[op]);
    }
    rig_do(r, 0, shiftmask(0, 0, 0, 0, 0, r->t->arch->config_words));
    assert_int_equal(rig_found(r, WG_F_CONFIG_INDEX), 1);
    rig_free(r);
}

static void test_streamwrcfg_value(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned select = 0; select < 4; select++) {
        unsigned stream = 5 + 13 * select, reg = select * 0x55;
        rig_do(r, 1, setc16(wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_STREAM_ID_SYNC_SEC0_BankSel].word + select, stream));
        wg_overlay_stream_write(r->t, stream, reg, 0xABC00 + select);
        rig_do(r, 1, streamwrcfg(select, reg, 20 + select));
        assert_int_equal(r->t->regs.config.bank[0][20 + select], 0xABC00 + select);
    }
    rig_do(r, 1, streamwrcfg(0, 0, r->t->arch->config_words));
    assert_int_equal(rig_found(r, WG_F_CONFIG_INDEX), 1);
    /* Indices beyond the streams' registers are reported; a single register beyond them exists. */
    r->t->regs.config.bank[0][30] = 0x77;
    rig_do(r, 1, streamwrcfg(0, WG_OVERLAY_REGISTERS, 30));
    rig_do(r, 1, streamwrcfg(0, 0x3FF, 30));
    assert_int_equal(rig_found(r, WG_F_CONFIG_STREAM_REGISTER), 2);
    assert_int_equal(rig_finding(r, WG_F_CONFIG_STREAM_REGISTER)->subject, WG_OVERLAY_REGISTERS);
    assert_int_equal(r->t->regs.config.bank[0][30], 0x77);
    rig_do(r, 1, streamwrcfg(0, 503, 30));
    assert_int_equal(rig_found(r, WG_F_CONFIG_STREAM_REGISTER), 2);
    rig_free(r);
}

static void test_state_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_config *c = &r->t->regs.config;
    unsigned word = word_of(r, WG_CFG_STATE_RESET_EN), global = r->t->arch->config_global_from;
    memset(c->bank, 0xA5, sizeof c->bank);
    rig_do(r, 0, rmwcib(0, 0xFF, 0, word)); /* RMWCIB alone does not trigger it */
    assert_int_equal(c->bank[0][word + 1], 0xA5A5A5A5);
    rig_do(r, 0, wrcfg(0, 0, word));
    for (unsigned i = 0; i < r->t->arch->config_words; i++) {
        assert_int_equal(c->bank[0][i], i < global ? 0 : 0xA5A5A5A5);
        assert_int_equal(c->bank[1][i], 0xA5A5A5A5);
    }
    rig_free(r);
}

static void test_prng_seed(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_lreg want = {0};
    wg_lreg_seed(&want, 0x1234ABCD);
    r->t->regs.gpr.r[0][1] = 0x1234ABCD;
    rig_do(r, 0, wrcfg(1, 0, word_of(r, WG_CFG_PRNG_SEED_Seed_Val)));
    assert_memory_equal(r->t->regs.lreg.prng, want.prng, sizeof want.prng);
    rig_free(r);
}

static void test_thcon_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_config *c = &r->t->regs.config;
    unsigned base = wg_config_thcon_base(r->t);
    assert_int_equal(base, word_of(r, WG_CFG_THCON_SEC0_REG0_TileDescriptor));
    memset(c->bank, 0x77, sizeof c->bank);
    wg_config_thcon_reset(r->t, true);
    for (unsigned i = 0; i < r->t->arch->config_words; i++)
        assert_int_equal(c->bank[1][i], i >= base && i < r->t->arch->config_global_from ? 0 : 0x77777777);
    rig_do(r, 0, rmwcib(0, 0xFF, 0x55, base)); /* discarded while held */
    assert_int_equal(c->bank[0][base], 0);
    wg_config_thcon_reset(r->t, false);
    rig_do(r, 0, rmwcib(0, 0xFF, 0x55, base));
    assert_int_equal(c->bank[0][base], 0x55);
    rig_free(r);
}

/* ---- When ------------------------------------------------------------------------------------------- */

/* In cycle `after` after acceptance: is the instruction still in the unit, and is its write visible in phase E? */
static void visible_after(rig *r, uint32_t word, unsigned index, uint32_t want, unsigned latency)
{
    uint32_t before = r->t->regs.config.bank[0][index];
    rig_push(r, 0, word);
    rig_cycle(r); /* accepted */
    for (unsigned i = 1; i < latency; i++) {
        assert_int_equal(r->t->regs.config.bank[0][index], before);
        assert_true(wg_config_unit.busy(r->t, 0));
        assert_false(wg_config_unit.busy(r->t, 1));
        rig_cycle(r);
    }
    assert_true(wg_config_unit.busy(r->t, 0)); /* its last cycle; the next tick is phase B of accepted + latency */
    rig_cycle(r);
    assert_int_equal(r->t->regs.config.bank[0][index], want);
    assert_false(wg_config_unit.busy(r->t, 0));
    rig_drain(r);
}

static void test_latencies(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][4] = 0xCAFE;
    visible_after(r, wrcfg(4, 0, 20), 20, 0xCAFE, 2);
    visible_after(r, rmwcib(0, 0xFF, 0x11, 20), 20, 0xCA11, 1);
    if (wg_test_arch(state) == WG_ARCH_BH) {
        r->t->regs.config.bank[0][word_of(r, WG_CFG_SCRATCH_SEC0_val)] = 1;
        visible_after(r, shiftmask(1, 3, 31, 0, 0, 20), 20, 0xCA12, 2);
        visible_after(r, streamwrcfg(0, 0, 20), 20, 0, 5);
    }
    rig_push(r, 0, setc16(5, 77));
    rig_cycle(r);
    assert_int_equal(r->t->regs.config.thread[0][5], 0);
    assert_true(wg_config_unit.busy(r->t, 0));
    rig_cycle(r);
    assert_int_equal(r->t->regs.config.thread[0][5], 77);
    assert_false(wg_config_unit.busy(r->t, 0));
    rig_free(r);
}

/* Issue distances within one thread: a list of words, and the cycles between each and the first. */
static void distances(rig *r, const uint32_t *words, const unsigned *want, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rig_push(r, 0, words[i]);
    uint64_t first = r->t->sched.now;
    for (unsigned i = 0; i < 40; i++)
        rig_cycle(r);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(r->issued[0][i] - first, want[i]);
    rig_drain(r);
}

static void test_issue_bh(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    distances(r, (uint32_t[]){setc16(5, 1), setc16(5, 2), setc16(5, 3)}, (unsigned[]){0, 1, 2}, 3);
    distances(r, (uint32_t[]){wrcfg(1, 0, 20), wrcfg(1, 0, 21), wrcfg(1, 0, 22)}, (unsigned[]){0, 1, 2}, 3);
    distances(r, (uint32_t[]){rmwcib(0, 1, 1, 20), rmwcib(0, 1, 1, 20)}, (unsigned[]){0, 1}, 2);
    distances(r, (uint32_t[]){rdcfg(1, 20), rdcfg(2, 20), rdcfg(3, 20)}, (unsigned[]){0, 1, 2}, 3);
    /* WRCFG occupies stage 0 in its second cycle: an instruction that enters there waits one cycle. */
    distances(r, (uint32_t[]){wrcfg(1, 0, 20), rmwcib(0, 1, 1, 20)}, (unsigned[]){0, 2}, 2);
    distances(r, (uint32_t[]){wrcfg(1, 0, 20), rdcfg(2, 20)}, (unsigned[]){0, 2}, 2);
    /* CFGSHIFTMASK occupies stage 0 for two cycles; WRCFG enters below it in the second. */
    distances(r, (uint32_t[]){shiftmask(1, 3, 31, 0, 0, 20), shiftmask(1, 3, 31, 0, 0, 20)}, (unsigned[]){0, 2}, 2);
    distances(r, (uint32_t[]){shiftmask(1, 3, 31, 0, 0, 20), wrcfg(1, 0, 20)}, (unsigned[]){0, 1}, 2);
    distances(r, (uint32_t[]){shiftmask(1, 3, 31, 0, 0, 20), rmwcib(0, 1, 1, 20)}, (unsigned[]){0, 2}, 2);
    /* STREAMWRCFG is overtaken in its first cycle, and blocks the pipeline in its next three (hardware bugs). */
    distances(r, (uint32_t[]){streamwrcfg(0, 0, 20), rmwcib(0, 1, 1, 21), rmwcib(0, 1, 1, 22)}, (unsigned[]){0, 5, 6},
              3);
    distances(r, (uint32_t[]){streamwrcfg(0, 0, 20), streamwrcfg(0, 0, 21), streamwrcfg(0, 0, 22)},
              (unsigned[]){0, 1, 2}, 3);
    distances(r, (uint32_t[]){streamwrcfg(0, 0, 20), NOP, NOP, NOP}, (unsigned[]){0, 1, 2, 3}, 4);
    rig_free(r);
}

static void test_issue_wh(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    distances(r, (uint32_t[]){setc16(5, 1), setc16(5, 2)}, (unsigned[]){0, 1}, 2);
    distances(r, (uint32_t[]){wrcfg(1, 0, 20), wrcfg(1, 0, 21), wrcfg(1, 0, 22)}, (unsigned[]){0, 1, 2}, 3);
    distances(r, (uint32_t[]){rmwcib(0, 1, 1, 20), rmwcib(0, 1, 1, 20)}, (unsigned[]){0, 1}, 2);
    distances(r, (uint32_t[]){wrcfg(1, 0, 20), rmwcib(0, 1, 1, 20)}, (unsigned[]){0, 2}, 2);
    /* RDCFG holds its own thread until its result is written. */
    distances(r, (uint32_t[]){rdcfg(1, 20), NOP}, (unsigned[]){0, 2}, 2);
    distances(r, (uint32_t[]){rdcfg(1, 20), rdcfg(2, 20)}, (unsigned[]){0, 2}, 2);
    rig_free(r);
}

/* The stages between threads: which instructions enter together, and which wait for which. */
static void together(wg_arch_id arch, uint32_t a, uint32_t b, unsigned want_b)
{
    rig *r = rig_new(arch);
    rig_push(r, 0, a);
    rig_push(r, 1, b);
    uint64_t first = r->t->sched.now;
    rig_run(r, 12);
    assert_int_equal(r->issued[0][0], first);
    assert_int_equal(r->issued[1][0] - first, want_b);
    rig_drain(r);
    rig_free(r);
}

static void test_threads_bh(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    together(arch, setc16(5, 1), setc16(5, 1), 0);
    together(arch, setc16(5, 1), rmwcib(0, 1, 1, 20), 0);
    together(arch, wrcfg(1, 0, 20), rmwcib(0, 1, 1, 20), 0);   /* stages -1 and 0 */
    together(arch, streamwrcfg(0, 0, 20), wrcfg(1, 0, 20), 0); /* stages -4 and -1 */
    together(arch, wrcfg(1, 0, 20), wrcfg(1, 0, 20), 1);       /* both -1 */
    together(arch, rmwcib(0, 1, 1, 20), rdcfg(1, 20), 1);      /* both 0 */
    together(arch, rdcfg(1, 20), rdcfg(1, 20), 1);
    for (unsigned byte = 0; byte < 4; byte++)
        together(arch, rmwcib(byte, 1, 1, 20), rmwcib(3 - byte, 1, 1, 20), 1);
    together(arch, shiftmask(1, 3, 31, 0, 0, 20), wrcfg(1, 0, 20), 1); /* keeps -1 empty */
    together(arch, wrcfg(1, 0, 20), shiftmask(1, 3, 31, 0, 0, 20), 2);
}

static void test_threads_wh(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    together(arch, wrcfg(1, 0, 20), rmwcib(0, 1, 1, 20), 0);
    together(arch, wrcfg(1, 0, 20), wrcfg(1, 0, 20), 1);
    for (unsigned byte = 0; byte < 4; byte++)
        together(arch, rmwcib(byte, 1, 1, 20), rmwcib(3 - byte, 1, 1, 20), 1);
    together(arch, rdcfg(1, 20), rmwcib(0, 1, 1, 20), 2); /* neither in this cycle nor in the next */
    together(arch, rdcfg(1, 20), wrcfg(1, 0, 20), 0);
}

/* GATE-19: what condition C12 sees, of any thread. */
static void test_busy_any_thread(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    rig_push(r, 2, wrcfg(1, 0, 20));
    rig_cycle(r);
    assert_true(wg_config_unit.busy(r->t, 2));
    assert_false(wg_config_unit.busy(r->t, 0));
    rig_push(r, 1, rmwcib(0, 1, 1, 21)); /* a later one of another thread extends it */
    rig_cycle(r);
    assert_true(wg_config_unit.busy(r->t, 2));
    assert_false(wg_config_unit.busy(r->t, 1));
    rig_cycle(r);
    assert_false(wg_config_unit.busy(r->t, 2));
    assert_true(wg_config_unit.busy(r->t, 1));
    rig_cycle(r);
    assert_false(wg_config_unit.busy(r->t, 1));
    rig_free(r);
}

/* ---- Rules that software must keep ------------------------------------------------------------------- */

static void test_next_instruction_does_not_see(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][4] = 0x40;
    r->t->regs.config.bank[0][word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address)] = 0x10;
    uint32_t xmov = 0x40000000;
    rig_push(r, 0, wrcfg(4, 0, word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address)));
    rig_push(r, 0, xmov);
    rig_run(r, 2);
    assert_int_equal(rig_found(r, WG_F_CONFIG_NOT_WRITTEN), 1);
    assert_int_equal(rig_finding(r, WG_F_CONFIG_NOT_WRITTEN)->subject,
                     word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address));
    rig_drain(r);
    r->dev.findings = 0;
    rig_push(r, 0, wrcfg(4, 0, word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address)));
    rig_push(r, 0, NOP);
    rig_push(r, 0, xmov);
    rig_drain(r);
    assert_int_equal(rig_found(r, WG_F_CONFIG_NOT_WRITTEN), 0);
    /* CFGSHIFTMASK takes one cycle longer, STREAMWRCFG four: only a wait for the unit helps. */
    uint32_t late[] = {shiftmask(1, 0, 0, 0, 0, word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address)),
                       streamwrcfg(0, 0, word_of(r, WG_CFG_THCON_SEC0_REG6_Source_address))};
    for (unsigned i = 0; i < 2 && wg_test_arch(state) == WG_ARCH_BH; i++)
        for (unsigned nops = 0; nops < 5; nops++) {
            r->dev.findings = 0;
            rig_push(r, 0, late[i]);
            for (unsigned n = 0; n < nops; n++)
                rig_push(r, 0, NOP);
            rig_push(r, 0, xmov);
            rig_drain(r);
            assert_int_equal(rig_found(r, WG_F_CONFIG_NOT_WRITTEN), nops < (i ? 4 : 1));
        }
    rig_free(r);
}

static void overlay_is_read(rig *r) { wg_config_overlay_busy(r->t); }

/* While others read the NoC Overlay, it stays in stage -4, where everything overtakes it. */
static void test_streamwrcfg_is_overtaken(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->at_regions = overlay_is_read;
    r->t->regs.gpr.r[0][4] = 0xBEEF;
    rig_push(r, 0, streamwrcfg(0, 0, 20));
    rig_push(r, 0, wrcfg(4, 0, 20));
    uint64_t first = r->t->sched.now;
    rig_run(r, 4);
    assert_int_equal(r->issued[0][1], first + 1);
    assert_int_equal(r->t->regs.config.bank[0][20], 0xBEEF);
    assert_true(wg_config_unit.busy(r->t, 0));
    r->at_regions = NULL;
    rig_drain(r);
    assert_int_equal(r->t->regs.config.bank[0][20], 0); /* the older one wrote last */
    assert_int_equal(rig_found(r, WG_F_CONFIG_OVERTAKES), 1);
    rig_free(r);
}

static void test_streamwrcfg_keeps_order(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.config.bank[0][20] = 1;
    rig_push(r, 0, streamwrcfg(0, 0, 20)); /* reads 0 */
    rig_push(r, 0, wrcfg(4, 0, 20));
    r->t->regs.gpr.r[0][4] = 0xBEEF;
    /* Both in one thread: WRCFG arrives in the next cycle, when STREAMWRCFG is in stage -3, and has to wait. */
    rig_drain(r);
    assert_int_equal(r->t->regs.config.bank[0][20], 0xBEEF);
    assert_int_equal(rig_found(r, WG_F_CONFIG_OVERTAKES), 0);
    rig_free(r);
}

static void test_rdcfg_hazard(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.config.bank[0][20] = 0x55;
    rig_push(r, 0, rdcfg(7, 20));
    rig_push(r, 0, wrcfg(7, 0, 21));
    rig_drain(r);
    bool waits = wg_test_arch(state) == WG_ARCH_WH; /* WH holds the thread until the result is written */
    assert_int_equal(rig_found(r, WG_F_GPR_NOT_WRITTEN), waits ? 0 : 1);
    assert_int_equal(r->t->regs.config.bank[0][21], waits ? 0x55 : 0);
    /* The other way round: an older load's result would overwrite RDCFG's, or SETDMAREG's. */
    static const uint32_t writers[] = {UINT32_C(0xB1) << 24 | 9 << 16 | 20,     /* RDCFG to R9 */
                                       UINT32_C(0x45) << 24 | 0x1234 << 8 | 18, /* SETDMAREG of its low half */
                                       UINT32_C(0x45) << 24 | 2 << 22 | 15 << 11 | 1 << 7 | 16}; /* of R8 to R11 */
    for (unsigned i = 0; i < sizeof writers / sizeof *writers; i++) {
        r->dev.findings = 0;
        rig_push(r, 0, UINT32_C(0x49) << 24 | 1 << 22 | 0 << 14 | 9 << 6 | 1); /* LOADIND to R9 */
        rig_push(r, 0, writers[i]);
        rig_drain(r);
        assert_int_equal(rig_found(r, WG_F_GPR_NOT_WRITTEN), 1);
        assert_int_equal(rig_finding(r, WG_F_GPR_NOT_WRITTEN)->word, writers[i]);
    }
    /* Two RDCFGs stay in order. */
    r->dev.findings = 0;
    rig_push(r, 0, rdcfg(7, 20));
    rig_push(r, 0, rdcfg(7, 21));
    rig_drain(r);
    assert_int_equal(rig_found(r, WG_F_GPR_NOT_WRITTEN), 0);
    rig_free(r);
}

static void test_rdcfg_collision(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.config.bank[0][20] = 0x55;
    rig_push(r, 0, rdcfg(7, 20));
    rig_push(r, 1, rdcfg(8, 20));
    rig_push(r, 2, rdcfg(9, 20));
    rig_drain(r);
    assert_int_equal(r->t->regs.gpr.r[0][7], 0x55);
    assert_int_equal(r->t->regs.gpr.r[1][8], 0);
    assert_int_equal(r->t->regs.gpr.r[2][9], 0);
    assert_int_equal(rig_found(r, WG_F_CONFIG_RDCFG_LOST), 2);
    rig_free(r);
}

static void test_rdcfg_port_contention(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.config.bank[0][20] = 0x55;
    rig_push(r, 0, rdcfg(7, 20));
    for (unsigned i = 0; i < 4; i++)
        rig_push(r, 1, UINT32_C(0x45) << 24 | (100 + i) << 8 | i * 2); /* SETDMAREG: one GPR write per cycle */
    rig_run(r, 4);
    assert_int_equal(r->t->regs.gpr.r[0][7], 0); /* SETDMAREG wrote in each of those cycles */
    rig_run(r, 2);
    assert_int_equal(r->t->regs.gpr.r[0][7], 0x55);
    assert_int_equal(r->t->regs.gpr.r[1][3], 103);
    rig_free(r);
}

/* ---- RISC-V and Mover --------------------------------------------------------------------------------- */

static wg_region_answer request_answer;
static uint32_t request_value;
static uint64_t request_at;
static void one_read(rig *r)
{
    wg_stall why;
    if (request_answer == WG_REGION_DONE)
        return;
    request_answer = wg_config_riscv_read(r->t, WG_CORE_T1, 20, &request_value, &why);
    request_at = r->t->sched.now;
    if (request_answer == WG_REGION_WAIT)
        assert_int_equal(why.reason, WG_STALL_CONFIG_STAGE_TAKEN);
}

static void test_riscv_shares_stage_0(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned i = 0; i < 6; i++)
        rig_push(r, 0, wrcfg(1, 0, 21));
    rig_cycle(r);
    r->at_regions = one_read;
    request_answer = WG_REGION_WAIT;
    uint64_t from = r->t->sched.now;
    rig_run(r, 10);
    assert_int_equal(request_at - from, 6); /* starved while WRCFG moves up into stage 0 each cycle */
    /* A request in phase C wins over RMWCIB in phase E. */
    request_answer = WG_REGION_WAIT;
    rig_push(r, 1, rmwcib(0, 1, 1, 22));
    uint64_t now = r->t->sched.now;
    rig_run(r, 3);
    assert_int_equal(request_at, now);
    assert_int_equal(r->issued[1][0], now + 1);
    rig_free(r);
}

static void test_riscv_window(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    unsigned words = r->t->arch->config_words, global = r->t->arch->config_global_from;
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    wg_config *c = &r->t->regs.config;
    wg_stall why;
    uint32_t value = 0;
    for (unsigned i = 0; i < words; i++) {
        c->bank[0][i] = 1000 + i;
        c->bank[1][i] = 2000 + i;
    }
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < r->t->arch->thread_config_words; i++)
            c->thread[thread][i] = (uint16_t)(3000 + 100 * thread + i);
    for (unsigned i = 0; i < 2 * words; i++)
        assert_int_equal(wg_config_debug_read(r->t, i), i < words ? 1000 + i : 2000 + i - words);
    unsigned threads = bh ? 3 * words : 2 * words, stride = bh ? 1 : 4;
    if (bh)
        assert_int_equal(wg_config_debug_read(r->t, 2 * words + 7), 1007); /* ConfigDualWrite reads bank 0 */
    assert_int_equal(wg_config_debug_read(r->t, threads + 5 * stride), 3005);
    assert_int_equal(wg_config_debug_read(r->t, threads + (r->t->arch->thread_config_words + 2u) * stride), 3102);
    assert_int_equal(wg_config_riscv_read(r->t, WG_CORE_B, 5, &value, &why), WG_REGION_DONE);
    assert_int_equal(value, 1005);
    rig_run(r, 2);
    assert_int_equal(wg_config_riscv_write(r->t, WG_CORE_B, words + 5, 99, 4, &why), WG_REGION_DONE);
    assert_int_equal(c->bank[1][5], 2005); /* visible from the next cycle on */
    assert_int_equal(wg_config_riscv_write(r->t, WG_CORE_B, words + 6, 99, 4, &why), WG_REGION_WAIT);
    rig_cycle(r);
    rig_cycle(r);
    assert_int_equal(c->bank[1][5], 99);
    assert_int_equal(c->bank[0][5], 1005);
    if (bh) {
        wg_config_riscv_write(r->t, WG_CORE_B, 2 * words + 9, 98, 4, &why);
        rig_run(r, 2);
        assert_int_equal(c->bank[0][9], 98);
        assert_int_equal(c->bank[1][9], 98);
    }
    wg_config_riscv_write(r->t, WG_CORE_B, global + 1, 97, 4, &why);
    rig_run(r, 2);
    assert_int_equal(c->bank[1][global + 1], 97);
    assert_int_equal(r->dev.findings, 0);
    wg_config_riscv_write(r->t, WG_CORE_B, 10, 96, 2, &why); /* narrow */
    rig_run(r, 2);
    wg_config_riscv_write(r->t, WG_CORE_B, threads, 96, 4, &why); /* ThreadConfig */
    rig_run(r, 2);
    assert_int_equal(c->bank[0][10], 1010);
    assert_int_equal(c->thread[0][0], 3000);
    assert_int_equal(rig_found(r, WG_F_CONFIG_NARROW_STORE), 1);
    assert_int_equal(rig_found(r, WG_F_CONFIG_OFFSET), 1);
    rig_free(r);
}

/* ---- Skipping is exact -------------------------------------------------------------------------------- */

static uint32_t any_word(wg_rng *rng, wg_arch_id arch)
{
    unsigned index = 8 + wg_rng_below(rng, 40), gpr = wg_rng_below(rng, 64);
    switch (wg_rng_below(rng, arch == WG_ARCH_BH ? 8 : 6)) {
    case 0: return setc16(5 + wg_rng_below(rng, 40), wg_rng_below(rng, 65536));
    case 1: return wrcfg(gpr, wg_rng_below(rng, 2), index);
    case 2: return rdcfg(gpr, index);
    case 3: return rmwcib(wg_rng_below(rng, 4), wg_rng_below(rng, 256), wg_rng_below(rng, 256), index);
    case 4: return UINT32_C(0x45) << 24 | wg_rng_below(rng, 65536) << 8 | wg_rng_below(rng, 128);
    case 5: return NOP;
    case 6:
        return shiftmask(wg_rng_below(rng, 2), wg_rng_below(rng, 8), wg_rng_below(rng, 32), wg_rng_below(rng, 32),
                         wg_rng_below(rng, 4), index);
    default: return streamwrcfg(wg_rng_below(rng, 4), wg_rng_below(rng, 16), index);
    }
}

static void test_lockstep_is_the_same(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned seed = 1; seed <= 40; seed++) {
        rig *a = rig_new(arch), *b = rig_new(arch);
        b->lockstep = true;
        wg_rng rng = {seed};
        for (unsigned i = 0; i < 60; i++)
            for (unsigned thread = 0; thread < 3; thread++) {
                uint32_t word = any_word(&rng, arch);
                rig_push(a, thread, word);
                rig_push(b, thread, word);
            }
        for (unsigned cycle = 0; cycle < 900; cycle++) {
            rig_cycle(a);
            rig_cycle(b);
            assert_memory_equal(&a->t->regs.config, &b->t->regs.config, sizeof a->t->regs.config);
            assert_memory_equal(a->t->regs.gpr.r, b->t->regs.gpr.r, sizeof a->t->regs.gpr.r);
        }
        assert_memory_equal(a->issued, b->issued, sizeof a->issued);
        assert_int_equal(a->head[0] + a->head[1] + a->head[2], 180);
        rig_free(a);
        rig_free(b);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_setc16_value, WG_BH | WG_WH, "", "SETC16:value"),
    WG_COVERS(test_setc16_context_reset, WG_BH | WG_WH, "", "SETC16:value"),
    WG_COVERS(test_wrcfg_value, WG_BH | WG_WH, "", "WRCFG:value"),
    WG_COVERS(test_rmwcib_value, WG_BH | WG_WH, "", "RMWCIB0:value RMWCIB1:value RMWCIB2:value RMWCIB3:value"),
    WG_COVERS(test_rdcfg_value, WG_BH | WG_WH, "", "RDCFG:value"),
    WG_COVERS(test_cfgshiftmask_value, WG_BH, "", "CFGSHIFTMASK:value"),
    WG_COVERS(test_streamwrcfg_value, WG_BH, "", "STREAMWRCFG:value"),
    WG_TEST(test_state_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_prng_seed, WG_BH | WG_WH, ""),
    WG_TEST(test_thcon_reset, WG_BH | WG_WH, ""),
    WG_COVERS(test_latencies, WG_BH | WG_WH, "",
              "SETC16:timing WRCFG:timing RMWCIB0:timing CFGSHIFTMASK:timing STREAMWRCFG:timing"),
    WG_COVERS(test_issue_bh, WG_BH, "",
              "SETC16:timing WRCFG:timing RMWCIB0:timing RDCFG:timing CFGSHIFTMASK:timing STREAMWRCFG:timing"),
    WG_COVERS(test_issue_wh, WG_WH, "", "SETC16:timing WRCFG:timing RMWCIB0:timing RDCFG:timing"),
    WG_COVERS(test_threads_bh, WG_BH, "", "RMWCIB0:timing RMWCIB1:timing RMWCIB2:timing RMWCIB3:timing RDCFG:timing"),
    WG_COVERS(test_threads_wh, WG_WH, "", "RMWCIB0:timing RMWCIB1:timing RMWCIB2:timing RMWCIB3:timing RDCFG:timing"),
    WG_TEST(test_busy_any_thread, WG_BH, "GATE-19"),
    WG_TEST(test_next_instruction_does_not_see, WG_BH | WG_WH, ""),
    WG_COVERS(test_streamwrcfg_is_overtaken, WG_BH, "", "STREAMWRCFG:timing"),
    WG_COVERS(test_streamwrcfg_keeps_order, WG_BH, "", "STREAMWRCFG:value"),
    WG_TEST(test_rdcfg_hazard, WG_BH | WG_WH, ""),
    WG_TEST(test_rdcfg_collision, WG_WH, ""),
    WG_TEST(test_rdcfg_port_contention, WG_BH | WG_WH, ""),
    WG_TEST(test_riscv_shares_stage_0, WG_BH | WG_WH, ""),
    WG_TEST(test_riscv_window, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep_is_the_same, WG_BH | WG_WH, ""),
};
WG_MAIN("config_unit", tests)
