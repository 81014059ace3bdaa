/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar Unit: values of every operand, cycles, memory requests and the waits for them, documented rules. */
#include "control_rig.h"

enum { NOP = 0x02000000, DMANOP = 0x60000000 };

static uint32_t op(unsigned opcode, uint32_t operands) { return (uint32_t)opcode << 24 | operands; }
static uint32_t setdmareg(unsigned half, unsigned value) { return op(0x45, value << 8 | half); }
static uint32_t alu(unsigned opcode, unsigned constant, unsigned mode, unsigned result, unsigned right, unsigned left)
{
    return op(opcode, constant << 23 | mode << 18 | result << 12 | right << 6 | left);
}
static uint32_t loadind(unsigned size, unsigned half, unsigned inc, unsigned data, unsigned addr)
{
    return op(0x49, size << 22 | half << 14 | inc << 12 | data << 6 | addr);
}
static uint32_t storeind(unsigned mode3, unsigned half, unsigned inc, unsigned data, unsigned addr)
{
    return op(0x66, mode3 << 21 | half << 14 | inc << 12 | data << 6 | addr);
}
static uint32_t atincget(unsigned width, unsigned ofs, unsigned reg, unsigned addr)
{
    return op(0x61, width << 14 | ofs << 12 | reg << 6 | addr);
}
static uint32_t atincgetptr(unsigned keep, unsigned log2, unsigned width, unsigned ofs, unsigned reg, unsigned addr)
{
    return op(0x62, keep << 22 | log2 << 18 | width << 14 | ofs << 12 | reg << 6 | addr);
}
static uint32_t atswap(unsigned single, unsigned mask, unsigned reg, unsigned addr)
{
    return op(0x63, single << 22 | mask << 14 | reg << 6 | addr);
}
static uint32_t atcas(unsigned set, unsigned cmp, unsigned ofs, unsigned addr)
{
    return op(0x64, set << 18 | cmp << 14 | ofs << 12 | addr);
}

static uint32_t l1_word(const rig *r, uint32_t address)
{
    uint32_t v;
    memcpy(&v, r->t->l1 + address, 4);
    return v;
}
static void l1_set(rig *r, uint32_t address, uint32_t v) { memcpy(r->t->l1 + address, &v, 4); }

/* ---- Values ----------------------------------------------------------------------------------------- */

static void test_setdmareg(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned half = 0; half < 128; half++) {
        memset(r->t->regs.gpr.r, 0x5A, sizeof r->t->regs.gpr.r);
        rig_do(r, 1, setdmareg(half, 0x8001 + half));
        for (unsigned i = 0; i < 128; i++)
            assert_int_equal(((uint16_t *)r->t->regs.gpr.r[1])[i], i == half ? 0x8001 + half : 0x5A5A);
        assert_int_equal(r->t->regs.gpr.r[0][half >> 1], 0x5A5A5A5A);
    }
    rig_free(r);
}

static uint32_t special(unsigned size, unsigned which, unsigned source, unsigned input, unsigned half)
{
    return op(0x45, size << 22 | (which << 7 | source << 3 | input) << 8 | 1 << 7 | half);
}

static void test_setdmareg_special(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_arch_id arch = wg_test_arch(state);
    uint32_t *g = r->t->regs.gpr.r[1];
    for (unsigned i = 0; i < 4; i++) {
        wg_packer_sideband *p = &r->t->backend.tdma.packer[i];
        p->acc_tile_size[1] = (uint16_t)(0x1100 + i);
        p->last_tile_size = (uint16_t)(0x2200 + i);
        p->last_thread = i == 3 ? 2 : 1;
        p->all_zero_flags = 0xF0 + i;
        for (unsigned j = 0; j < 32; j++)
            r->t->regs.exphist.bins[i][j] = (uint8_t)(16 * i + j);
    }
    r->t->regs.exphist.max[0] = 0x7E;
    rig_do(r, 1, special(2, 0, 0, 0, 8 << 1));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(g[8 + i], (0x1100 + i) << 16 | (i == 3 ? 0 : 0x2200 + i));
    rig_do(r, 1, special(1, 0, 1, 2 << 1, 20 << 1)); /* one value, one register */
    assert_int_equal(g[20], 0xF2);
    g[21] = 0x12345678;
    rig_do(r, 1, special(0, 0, 0, 3, 21 << 1 | 1)); /* high half of value 1 into a high half */
    assert_int_equal(g[21], 0x11015678);
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_THCON_SEC0_REG8_Out_data_format], r->t->regs.config.bank[0], 6);
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_THCON_SEC0_REG8_Disable_zero_compress], r->t->regs.config.bank[0], 1);
    rig_do(r, 1, special(2, 0, 3, 0, 12 << 1)); /* packer 1's tile header */
    assert_int_equal(g[12], 0x2202);
    assert_int_equal(g[13], 6 << 16 | 1 << 20);
    assert_int_equal(g[14], 0xF1);
    assert_int_equal(g[15], 0);
    memset(&g[12], 0xFF, 16);
    rig_do(r, 1, special(3, 0, 3, 0, 12 << 1)); /* the same, reserved bits kept */
    assert_int_equal(g[12], 0xFFFF2202);
    assert_int_equal(g[13], 0xFF00FFFF | 6 << 16 | 1 << 20);
    assert_int_equal(g[14], 0xF1);
    assert_int_equal(g[15], UINT32_MAX);
    rig_do(r, 1, special(2, 2, 7, 0, 16 << 1)); /* packer 2's histogram, upper half */
    assert_int_equal(g[16], 0x33323130);
    rig_do(r, 1, special(1, 5, 8, 0, 30 << 1)); /* zero flags, and resets of packers 0 and 2 */
    assert_int_equal(g[30], 0xA);
    assert_int_equal(r->t->backend.tdma.packer[0].acc_tile_size[1], 0);
    assert_int_equal(r->t->backend.tdma.packer[1].acc_tile_size[1], 0x1101);
    assert_int_equal(r->t->backend.tdma.packer[2].acc_tile_size[1], 0);
    rig_do(r, 1, special(1, 0, 9, 0, 31 << 1));
    assert_int_equal(g[31], 0x7E);
    rig_do(r, 1, special(2, 0, 15, 0, 12 << 1)); /* zeros */
    assert_int_equal(g[12] | g[13] | g[14] | g[15], 0);
    rig_free(r);
}

static void test_arithmetic(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[2];
    wg_rng rng = {9};
    for (unsigned n = 0; n < 60000; n++) {
        for (unsigned i = 0; i < WG_GPRS; i++)
            g[i] = (uint32_t)wg_rng_next(&rng) >> wg_rng_below(&rng, 4) * 8;
        unsigned opcode = 0x58 + wg_rng_below(&rng, 6), constant = wg_rng_below(&rng, 2), mode = wg_rng_below(&rng, 8);
        unsigned result = wg_rng_below(&rng, 64), right = wg_rng_below(&rng, 64), left = wg_rng_below(&rng, 64);
        uint32_t a = g[left], b = constant ? right : g[right], want = g[result];
        bool defined = true;
        switch (opcode) {
        case 0x58: want = a + b; break;
        case 0x59: want = a - b; break;
        case 0x5A: want = (uint16_t)a * (uint32_t)(uint16_t)b; break;
        case 0x5B:
            defined = mode < 3;
            want = mode == 0 ? a & b : mode == 1 ? a | b : mode == 2 ? a ^ b : want;
            break;
        case 0x5C:
            defined = mode < 2;
            want = mode == 0 ? a << b % 32 : mode == 1 ? a >> b % 32 : want;
            break;
        default:
            defined = mode < 3;
            want = mode == 0 ? a > b : mode == 1 ? a < b : mode == 2 ? a == b : want;
            break;
        }
        r->dev.findings = 0;
        rig_do(r, 2, alu(opcode, constant, mode, result, right, left));
        assert_int_equal(g[result], want);
        assert_int_equal(rig_found(r, WG_F_SCALAR_MODE), !defined);
    }
    rig_free(r);
}

static void test_reg2flop_adc(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    static const uint32_t masks[4] = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};
    wg_rng rng = {11};
    for (unsigned n = 0; n < 20000; n++) {
        unsigned size = wg_rng_below(&rng, 4), other = wg_rng_below(&rng, 2), shift = wg_rng_below(&rng, 4);
        unsigned thread = wg_rng_below(&rng, 4), ch = wg_rng_below(&rng, 2), adc = wg_rng_below(&rng, 4);
        unsigned cr = wg_rng_below(&rng, 2), dim = wg_rng_below(&rng, 4), reg = wg_rng_below(&rng, 64);
        uint32_t v = (uint32_t)wg_rng_next(&rng);
        r->t->regs.gpr.r[1][reg] = v;
        uint32_t value = size == 1   ? (shift ? 0 : v)
                         : size == 2 ? (shift == 0   ? v & 0xFFFF
                                        : shift == 2 ? v >> 16
                                                     : 0)
                         : size == 3 ? v >> 8 * shift & 0xFF
                                     : 0;
        wg_adc want = r->t->regs.adc;
        unsigned on = other ? thread : 1;
        if (on < 3 && adc < 3)
            wg_adc_put(&want.unit[on][adc][ch], dim, cr, value & masks[dim]);
        rig_do(r, 1,
               op(0x48, size << 22 | (2 + other) << 20 | shift << 18 | thread << 16 |
                            (ch << 5 | adc << 3 | cr << 2 | dim) << 6 | reg));
        assert_memory_equal(&r->t->regs.adc, &want, sizeof want);
    }
    rig_free(r);
}

static void test_reg2flop_config(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    unsigned base = wg_config_thcon_base(r->t), words = r->t->arch->config_global_from - base;
    for (unsigned i = 0; i < 64; i++)
        r->t->regs.gpr.r[0][i] = 0x1000 + i;
    for (unsigned i = 0; i < words; i++) {
        rig_do(r, 0, op(0x48, 1u << 22 | i << 6 | i % 64));
        assert_int_equal(r->t->regs.config.bank[0][base + i], 0x1000 + i % 64);
        assert_int_equal(r->t->regs.config.bank[1][base + i], 0);
    }
    rig_do(r, 0, op(0x48, 5u << 6 | 46)); /* 128 bits, both rounded down */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(r->t->regs.config.bank[0][base + 4 + i], 0x1000 + 44 + i);
    assert_int_equal(r->dev.findings, 0);
    rig_do(r, 0, op(0x48, 1u << 22 | words << 6));
    assert_int_equal(rig_found(r, WG_F_SCALAR_THCON_INDEX), 1);
    rig_do(r, 0, op(0x48, 1u << 22 | 1u << 20));
    assert_int_equal(rig_found(r, WG_F_SCALAR_MODE), 1);
    rig_free(r);
}

/* Loads and stores of every size, alignment, offset half and increment, compared with an array. */
static void test_indirect(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[0];
    static const unsigned bytes[4] = {16, 4, 2, 1}, increments[4] = {0, 2, 4, 16};
    wg_rng rng = {12};
    for (unsigned i = 0; i < 4096; i++)
        r->t->l1[i] = (uint8_t)(i * 37 + 11);
    for (unsigned n = 0; n < 20000; n++) {
        unsigned size = wg_rng_below(&rng, 4), inc = wg_rng_below(&rng, 4);
        unsigned half = wg_rng_below(&rng, 128), data = wg_rng_below(&rng, 64), addr = wg_rng_below(&rng, 64);
        bool store = wg_rng_below(&rng, 2);
        if (half >> 1 == addr)
            continue; /* one register for both would lead out of the compared memory */
        for (unsigned i = 0; i < WG_GPRS; i++)
            g[i] = (uint32_t)wg_rng_next(&rng);
        g[addr] = wg_rng_below(&rng, 200);
        uint16_t *halves = (uint16_t *)g;
        halves[half] = (uint16_t)wg_rng_below(&rng, 800);
        uint32_t at = (g[addr] * 16 + halves[half]) & ~(bytes[size] - 1);
        uint32_t want[WG_GPRS];
        memcpy(want, g, sizeof want);
        uint8_t memory[4096];
        memcpy(memory, r->t->l1, sizeof memory);
        unsigned first = size ? data : data & ~3u;
        if (store)
            memcpy(memory + at, &want[first], bytes[size]);
        ((uint16_t *)want)[half] = (uint16_t)(halves[half] + increments[inc]);
        if (!store)
            memcpy(&want[first], memory + at, bytes[size]); /* arrives after the offset has been incremented */
        rig_do(r, 0, store ? storeind(4 | size, half, inc, data, addr) : loadind(size, half, inc, data, addr));
        assert_memory_equal(g, want, sizeof want);
        assert_memory_equal(r->t->l1, memory, sizeof memory);
    }
    rig_free(r);
}

static void test_bad_addresses(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[0];
    g[1] = r->t->spec->l1_bytes / 16;
    g[2] = 0x77;
    rig_do(r, 0, loadind(1, 10, 2, 2, 1));
    assert_int_equal(g[2], 0x77);
    rig_do(r, 0, storeind(4 | 1, 12, 2, 2, 1));
    assert_true(g[5] == 0 && g[6] == 0); /* the offsets are unchanged */
    rig_do(r, 0, atincget(31, 0, 2, 1));
    rig_do(r, 0, atswap(0, 0xFF, 2, 1));
    rig_do(r, 0, atcas(1, 0, 0, 1));
    rig_do(r, 0, atincgetptr(0, 0, 4, 0, 2, 1));
    assert_int_equal(rig_found(r, WG_F_SCALAR_ADDRESS), 6);
    assert_int_equal(rig_finding(r, WG_F_SCALAR_ADDRESS)->subject, r->t->spec->l1_bytes);
    assert_int_equal(g[2], 0x77);
    rig_do(r, 0, op(0x68, 2 << 18 | 0x10FFF / 4)); /* LOADREG below the TDMA window */
    rig_do(r, 0, op(0x67, 2 << 18 | 0x10FFF / 4));
    assert_int_equal(rig_found(r, WG_F_SCALAR_ADDRESS), 8);
    g[12] = 0x10000;
    rig_do(r, 0, storeind(2, 10, 3, 2, 12)); /* MMIO, likewise below it */
    assert_int_equal(rig_found(r, WG_F_SCALAR_ADDRESS), 9);
    assert_int_equal(g[5], 0);
    const wg_finding *f = rig_finding(r, WG_F_SCALAR_ADDRESS);
    assert_true(f->has_word && f->word == loadind(1, 10, 2, 2, 1));
    rig_do(r, 0, op(0x68, 2 << 18 | 0x90000 / 4)); /* LOADREG from an unmapped address */
    assert_int_equal(rig_found(r, WG_F_SCALAR_ADDRESS), 10);
    rig_do(r, 0, op(0x68, 2 << 18 | 0x11400 / 4)); /* beyond the registers of TDMA-RISC */
    rig_do(r, 0, op(0x67, 2 << 18 | 0x11400 / 4));
    assert_int_equal(rig_found(r, WG_F_TDMA_REGISTER), 2);
    assert_true(rig_finding(r, WG_F_TDMA_REGISTER)->has_word);
    assert_int_equal(rig_finding(r, WG_F_TDMA_REGISTER)->subject, 0x400);
    assert_int_equal(g[2], 0x77);
    g[3] = 1;
    g[4] = 3;
    rig_do(r, 0, loadind(1, 8, 0, 2, 3));
    assert_int_equal(rig_found(r, WG_F_SCALAR_MISALIGNED), 1);
    rig_do(r, 0, storeind(3, 8, 0, 2, 3));         /* MMIO with the unused bit set */
    rig_do(r, 0, op(0x61, 1u << 23 | 2 << 6 | 3)); /* MemHierSel */
    assert_int_equal(rig_found(r, WG_F_SCALAR_MODE), 2);
    rig_free(r);
}

/* TDMA-RISC's ordinary register UnpackRegAddr stands for any MMIO register. */
static void test_mmio(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[1];
    g[7] = 0x12345678;
    rig_do(r, 1, op(0x67, 7 << 18 | 0x11024 / 4)); /* STOREREG */
    assert_int_equal(r->t->backend.tdma.unpack_reg_addr_raw, 0x12345678);
    rig_do(r, 1, op(0x68, 9 << 18 | 0x11024 / 4)); /* LOADREG */
    assert_int_equal(g[9], 0x12345678);
    g[10] = 0x11020;
    g[11] = 0x4F << 16; /* high half: 4 after the shift by four */
    g[12] = 0xA5A5A505;
    rig_do(r, 1, storeind(2, 11 << 1 | 1, 3, 12, 10));
    assert_int_equal(r->t->backend.tdma.unpack_reg_addr_raw, 0xA5A5A505);
    assert_int_equal(g[11], (0x4F + 16) << 16);
    rig_free(r);
}

static uint32_t bf16(unsigned sign, unsigned exponent, unsigned mantissa)
{
    return sign << 18 | mantissa << 11 | exponent;
}

static void test_store_to_src(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_arch_id arch = wg_test_arch(state);
    uint32_t *g = r->t->regs.gpr.r[0];
    wg_src *s = &r->t->regs.src;
    g[8] = 0x4049u << 16 | 0xB583; /* high: 0, 0x80, 0x49; low: sign, mantissa, exponent */
    g[9] = 0xC000u << 16 | 0x0001;
    g[1] = (3 + 4) << 2 | 2; /* row 3 of SrcA (four rows do not exist), columns 8 to 11 */
    s->unpack_row_a[0] = 16;
    rig_do(r, 0, storeind(0, 4, 0, 11, 1));
    uint32_t want[4] = {bf16(1, 0x83, 0x35), bf16(0, 0x80, 0x49), bf16(0, 1, 0), bf16(1, 0x80, 0)};
    assert_memory_equal(&s->a[0][16 + 3][8], want, sizeof want);
    g[1] = 40 << 2; /* whole bank by address */
    wg_tcfg_insert(&wg_tcfg_fields[arch][WG_TCFG_SRCA_SET_SetOvrdWithAddr], r->t->regs.config.thread[0], 1);
    rig_do(r, 0, storeind(0, 4, 0, 8, 1));
    assert_memory_equal(&s->a[0][36][0], want, sizeof want);
    g[1] = 41 << 2;
    s->held[WG_SRCA] = 1 << 2; /* a column in soft reset */
    rig_do(r, 0, storeind(0, 4, 0, 8, 1));
    assert_int_equal(s->a[0][37][1], want[1]);
    assert_int_equal(s->a[0][37][2], 0);
    s->held[WG_SRCA] = 0;
    g[1] = 5 << 2 | 3;
    s->unpack_bank_b = 1;
    s->unpack_row_b[0] = 32;
    rig_do(r, 0, storeind(1, 4, 0, 8, 1));
    assert_memory_equal(&s->b[1][37][12], want, sizeof want);
    assert_int_equal(r->dev.findings, 0);
    g[1] = 16 << 2;
    rig_do(r, 0, storeind(1, 4, 3, 8, 1));
    g[1] = 0x10000;
    rig_do(r, 0, storeind(0, 4, 3, 8, 1));
    assert_int_equal(rig_found(r, WG_F_SCALAR_SRC_ROW), 2);
    assert_int_equal(g[2], 0); /* undefined: the offset is unchanged */
    g[1] = 2 << 2;             /* before SrcA's first row: does not exist */
    wg_src before = *s;
    rig_do(r, 0, storeind(0, 4, 0, 8, 1));
    assert_memory_equal(&before, s, sizeof before);
    /* Waits while the bank belongs to the Matrix Unit, and holds the unit and its thread meanwhile. */
    s->owner_b[1] = WG_SRC_MATRIX;
    g[1] = 0;
    rig_push(r, 0, storeind(1, 4, 0, 8, 1));
    rig_push(r, 1, DMANOP);
    rig_run(r, 20);
    assert_int_equal(r->head[1], 0);
    assert_int_equal(r->stall[1].reason, WG_STALL_UNIT_BUSY);
    assert_int_equal(r->t->sched.next[WG_AGENT_SCALAR], WG_NEVER); /* no polling: a hang would be seen at once */
    wg_src_give_to_unpackers(r->t, WG_SRCB, 1, WG_AGENT_MATRIX);
    rig_run(r, 2);
    assert_int_equal(r->head[1], 1);
    assert_memory_equal(&s->b[1][32][0], want, sizeof want);
    rig_free(r);
}

static void test_atomics(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[0];
    g[1] = 4;
    for (unsigned width = 0; width < 32; width++) {
        unsigned ofs = width & 3;
        l1_set(r, 64 + 4 * ofs, 0xFFFFFFF0);
        g[2] = 0x25;
        rig_do(r, 0, atincget(width, ofs, 2, 1));
        uint32_t mask = width == 31 ? UINT32_MAX : (2u << width) - 1;
        assert_int_equal(l1_word(r, 64 + 4 * ofs), ((0xFFFFFFF0 + 0x25) & mask) | (0xFFFFFFF0 & ~mask));
        assert_int_equal(g[2], 0xFFFFFFF0);
    }
    for (unsigned mask = 0; mask < 256; mask++) {
        for (unsigned i = 0; i < 4; i++) {
            l1_set(r, 64 + 4 * i, 0);
            g[8 + i] = 0x11111111 * (i + 1);
        }
        rig_do(r, 0, atswap(mask & 1, mask, 9, 1));
        for (unsigned i = 0; i < 8; i++) {
            bool there = !(mask & 1) || i / 2 == 1;
            uint16_t got;
            memcpy(&got, r->t->l1 + 64 + 2 * i, 2);
            assert_int_equal(got, mask >> i & 1 && there ? 0x1111 * (i / 2 + 1) : 0);
        }
    }
    l1_set(r, 64 + 8, 5);
    rig_do(r, 0, atcas(9, 5, 2, 1));
    assert_int_equal(l1_word(r, 72), 9);
    rig_free(r);
}

static void test_fifo_pointers(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t *g = r->t->regs.gpr.r[0];
    g[1] = 4;
    l1_set(r, 64, 3);                            /* read pointer */
    l1_set(r, 68, 5);                            /* write pointer; capacity 4 with counters of 3 bits */
    rig_do(r, 0, atincgetptr(0, 0, 3, 1, 2, 1)); /* push one */
    assert_int_equal(g[2], 5);
    assert_int_equal(l1_word(r, 68), 6);
    rig_do(r, 0, atincgetptr(0, 1, 3, 0, 3, 1)); /* pop two */
    assert_int_equal(g[3], 3);
    assert_int_equal(l1_word(r, 64), 5);
    rig_do(r, 0, atincgetptr(1, 0, 3, 1, 4, 1)); /* look only */
    assert_int_equal(g[4], 6);
    assert_int_equal(l1_word(r, 68), 6);
    l1_set(r, 68, 7);
    rig_do(r, 0, atincgetptr(0, 0, 3, 1, 4, 1)); /* wraps */
    assert_int_equal(l1_word(r, 68), 0);
    /* Full: waits until another thread pops; empty: until another pushes. */
    l1_set(r, 64, 1);
    l1_set(r, 68, 5);
    rig_push(r, 0, atincgetptr(0, 0, 3, 1, 4, 1));
    rig_run(r, 200);
    assert_true(wg_scalar_unit.busy(r->t, 0));
    l1_set(r, 64, 2);
    rig_drain(r);
    assert_int_equal(l1_word(r, 68), 6);
    l1_set(r, 64, 6);
    rig_push(r, 0, atincgetptr(0, 0, 3, 0, 4, 1));
    rig_run(r, 200);
    assert_int_equal(l1_word(r, 64), 6);
    l1_set(r, 68, 7);
    rig_drain(r);
    assert_int_equal(l1_word(r, 64), 7);
    rig_free(r);
}

/* ---- Cycles ------------------------------------------------------------------------------------------ */

/* The same instruction twice in one thread: the distance is the time for which the first holds thread and unit. */
static void holds_for(rig *r, uint32_t word, unsigned cycles)
{
    rig_push(r, 0, word);
    rig_push(r, 0, NOP);
    rig_push(r, 1, NOP);
    rig_push(r, 1, DMANOP);
    uint64_t first = r->t->sched.now;
    rig_cycle(r);
    if (cycles > 1) {
        rig_cycle(r);
        assert_int_equal(r->stall[0].reason, WG_STALL_SCALAR_EXECUTING);
        assert_int_equal(r->stall[1].reason, WG_STALL_UNIT_BUSY);
        assert_int_equal(r->stall[1].holder, WG_AGENT_THREAD0);
    }
    rig_run(r, 200);
    assert_int_equal(r->issued[0][1] - first, cycles); /* nothing at all of its own thread */
    assert_int_equal(r->issued[1][1] - first, cycles); /* nothing of others in this unit */
    rig_drain(r);
}

static void test_cycles(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][1] = 4;
    holds_for(r, DMANOP, 1);
    holds_for(r, setdmareg(4, 7), 1);
    holds_for(r, special(2, 0, 0, 0, 16), 1);
    holds_for(r, op(0x48, 1u << 22), 2);
    holds_for(r, op(0x48, 1u << 22 | 2u << 20), 2);
    holds_for(r, op(0x46, 1), 2);
    for (unsigned opcode = 0x58; opcode <= 0x5D; opcode++) {
        holds_for(r, alu(opcode, 1, 0, 20, 63, 1), 3);
        holds_for(r, alu(opcode, 0, 0, 20, 2, 1), 3);
        holds_for(r, alu(opcode, 0, 0, 20, 4, 3), 4);
    }
    holds_for(r, loadind(1, 8, 0, 20, 1), 3);
    holds_for(r, storeind(4, 8, 0, 20, 1), 3);
    holds_for(r, storeind(0, 8, 0, 20, 1), 3);
    holds_for(r, op(0x68, 20 << 18 | 0x11024 / 4), 3);
    holds_for(r, op(0x67, 20 << 18 | 0x11024 / 4), 3);
    holds_for(r, atincget(31, 0, 20, 1), 3);
    holds_for(r, atswap(0, 0xFF, 20, 1), 3);
    l1_set(r, 64, 0);
    holds_for(r, atcas(0, 0, 0, 1), 15);
    holds_for(r, atincgetptr(1, 0, 3, 1, 20, 1), 15);
    rig_free(r);
}

/* Results of memory instructions arrive `after` cycles after acceptance; C0 shows it. */
static void result_after(rig *r, uint32_t word, unsigned reg, uint32_t want, unsigned after)
{
    r->t->regs.gpr.r[0][reg] = 0xDEAD0000;
    rig_push(r, 0, word);
    uint64_t first = r->t->sched.now;
    while (r->t->sched.now < first + after) {
        rig_cycle(r);
        assert_int_equal(r->t->regs.gpr.r[0][reg], 0xDEAD0000);
        assert_int_equal(wg_scalar_unit.part_busy(r->t, 0, 0), r->t->sched.now > first + 3);
        assert_false(wg_scalar_unit.part_busy(r->t, 1, 0));
    }
    rig_cycle(r);
    assert_int_equal(r->t->regs.gpr.r[0][reg], want);
    assert_false(wg_scalar_unit.part_busy(r->t, 0, 0));
    rig_drain(r);
}

static void test_result_times(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][1] = 4;
    l1_set(r, 64, 0x600D);
    result_after(r, loadind(1, 8, 0, 20, 1), 20, 0x600D, 10);
    r->t->backend.tdma.unpack_reg_addr_raw = 0xAB00;
    result_after(r, op(0x68, 20 << 18 | 0x11024 / 4), 20, 0xAB00, 10);
    result_after(r, atincget(31, 0, 20, 1), 20, 0x600D, 27);
    rig_free(r);
}

/* Sustained: narrow stores one per 5, wide ones one per 3, atomics one per 12. */
static void test_throughput(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    struct {
        uint32_t word;
        unsigned each;
    } rows[] = {
        {storeind(4 | 1, 8, 0, 20, 1), 5}, {storeind(4, 8, 0, 20, 1), 3}, {loadind(0, 8, 0, 20, 1), 3},
        {atincget(31, 0, 20, 1), 12},      {atswap(0, 0xFF, 20, 1), 12},
    };
    r->t->regs.gpr.r[0][1] = 4;
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned n = 0; n < 42; n++)
            rig_push(r, 0, rows[i].word);
        rig_run(r, 700);
        assert_int_equal((r->issued[0][41] - r->issued[0][1]) / 40, rows[i].each);
        rig_drain(r);
    }
    rig_free(r);
}

/* GATE-10: stores count until they have reached memory; the count is the thread's own. */
static void test_outstanding(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[2][1] = 4;
    r->t->regs.gpr.r[2][20] = 0x77;
    rig_push(r, 2, storeind(4 | 1, 8, 0, 20, 1));
    rig_run(r, 3);
    assert_false(wg_scalar_memory_outstanding(r->t, 2));
    rig_cycle(r);
    assert_true(wg_scalar_memory_outstanding(r->t, 2));
    assert_false(wg_scalar_memory_outstanding(r->t, 0));
    assert_int_equal(l1_word(r, 64), 0);
    rig_run(r, 3);
    assert_false(wg_scalar_memory_outstanding(r->t, 2));
    assert_int_equal(l1_word(r, 64), 0x77);
    assert_false(wg_scalar_unit.busy(r->t, 2));
    rig_free(r);
}

static void test_flushdma(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][1] = 4;
    l1_set(r, 64, 0x1234);
    rig_push(r, 0, loadind(1, 8, 0, 20, 1));
    rig_push(r, 0, op(0x46, 1));
    rig_push(r, 0, alu(0x58, 1, 0, 21, 1, 20));
    rig_run(r, 30);
    assert_int_equal(r->t->regs.gpr.r[0][21], 0x1235); /* waited for the load */
    assert_int_equal(rig_found(r, WG_F_GPR_NOT_WRITTEN), 0);
    assert_int_equal(r->issued[0][2] - r->issued[0][0], 10);
    rig_free(r);
}

/* A result that is used too early: the old value, which is reported; seven DMANOPs are enough. */
static void test_result_hazard(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][1] = 4;
    l1_set(r, 64, 0x1234);
    rig_push(r, 0, loadind(1, 8, 0, 20, 1));
    rig_push(r, 0, alu(0x58, 1, 0, 21, 1, 20));
    rig_drain(r);
    assert_int_equal(r->t->regs.gpr.r[0][21], 1);
    assert_int_equal(rig_found(r, WG_F_GPR_NOT_WRITTEN), 1);
    assert_int_equal(rig_finding(r, WG_F_GPR_NOT_WRITTEN)->subject, 20);
    r->dev.findings = 0;
    r->t->regs.gpr.r[0][20] = 0;
    rig_push(r, 0, loadind(1, 8, 0, 20, 1));
    for (unsigned i = 0; i < 7; i++)
        rig_push(r, 0, DMANOP);
    rig_push(r, 0, alu(0x58, 1, 0, 21, 1, 20));
    rig_drain(r);
    assert_int_equal(r->t->regs.gpr.r[0][21], 0x1235);
    assert_int_equal(r->dev.findings, 0);
    rig_free(r);
}

static uint32_t config_index_in_thcon(rig *r) { return wg_config_thcon_base(r->t) + 8; }

/* REG2FLOP waits while the Configuration Unit writes THCON configuration, whichever word it writes itself. */
static void test_reg2flop_contention(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t wrcfg = op(0xB0, config_index_in_thcon(r));
    for (unsigned target = 0; target < 4; target += 2) {
        for (unsigned i = 0; i < 6; i++)
            rig_push(r, 1, wrcfg);
        rig_push(r, 0, op(0x48, 1u << 22 | target << 20));
        rig_push(r, 0, NOP);
        uint64_t first = r->t->sched.now;
        rig_run(r, 20);
        assert_int_equal(r->issued[0][1] - first, 8); /* 6 writes in stage 0 from first + 1 to first + 6 */
        rig_drain(r);
    }
    rig_free(r);
}

static void test_atcas_retries(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    r->t->regs.gpr.r[0][1] = 4;
    rig_push(r, 0, atcas(3, 1, 0, 1));
    rig_push(r, 0, NOP);
    uint64_t first = r->t->sched.now;
    rig_run(r, 17);
    l1_set(r, 64, 1);
    rig_run(r, 40);
    assert_int_equal(r->issued[0][1] - first, 30); /* two attempts of 15 cycles */
    assert_int_equal(l1_word(r, 64), 3);
    rig_free(r);
}

/* Two threads increment one word many times: no increment is lost. */
static void test_increments_are_atomic(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++) {
        r->t->regs.gpr.r[thread][1] = 4;
        r->t->regs.gpr.r[thread][2] = 1;
        for (unsigned i = 0; i < 20; i++) {
            rig_push(r, thread, setdmareg(4, 1));
            rig_push(r, thread, setdmareg(5, 0));
            rig_push(r, thread, atincget(31, 0, 2, 1));
        }
    }
    rig_drain(r);
    assert_int_equal(l1_word(r, 64), 60);
    rig_free(r);
}

static void test_soft_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_scalar_soft_reset(r->t, true);
    rig_push(r, 0, setdmareg(4, 9));
    rig_push(r, 0, alu(0x58, 1, 0, 3, 1, 2));
    rig_run(r, 20);
    assert_int_equal(r->head[0], 1);
    assert_int_equal(r->t->regs.gpr.r[0][2], 9);
    wg_scalar_soft_reset(r->t, false);
    rig_drain(r);
    assert_int_equal(r->t->regs.gpr.r[0][3], 10);
    rig_free(r);
}

static uint32_t any_word(wg_rng *rng)
{
    unsigned a = wg_rng_below(rng, 16), b = wg_rng_below(rng, 64), c = 16 + wg_rng_below(rng, 48);
    switch (wg_rng_below(rng, 9)) {
    case 0: return setdmareg(32 + wg_rng_below(rng, 96), wg_rng_below(rng, 65536));
    case 1: return alu(0x58 + wg_rng_below(rng, 6), wg_rng_below(rng, 2), wg_rng_below(rng, 2), c, b, a);
    case 2: return loadind(wg_rng_below(rng, 4), 16 + wg_rng_below(rng, 8), 0, c, a & 3);
    case 3: return storeind(4 | wg_rng_below(rng, 4), 16 + wg_rng_below(rng, 8), 0, c, a & 3);
    case 4: return atincget(wg_rng_below(rng, 32), wg_rng_below(rng, 4), c, a & 3);
    case 5: return atswap(wg_rng_below(rng, 2), wg_rng_below(rng, 256), c, a & 3);
    case 6: return op(0x46, wg_rng_below(rng, 16));
    case 7: return op(0xB1, (16 + wg_rng_below(rng, 48)) << 16 | (8 + wg_rng_below(rng, 100)));
    default: return DMANOP;
    }
}

static void test_lockstep_is_the_same(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned seed = 1; seed <= 40; seed++) {
        rig *a = rig_new(arch), *b = rig_new(arch);
        b->lockstep = true;
        a->t->seed = b->t->seed = seed % 4;
        a->t->perturbed = b->t->perturbed = a->t->seed != 0;
        wg_rng rng = {seed};
        for (unsigned thread = 0; thread < 3; thread++)
            for (unsigned i = 0; i < 8; i++)
                a->t->regs.gpr.r[thread][i] = b->t->regs.gpr.r[thread][i] = wg_rng_below(&rng, 1000);
        for (unsigned i = 0; i < 60; i++)
            for (unsigned thread = 0; thread < 3; thread++) {
                uint32_t word = any_word(&rng);
                rig_push(a, thread, word);
                rig_push(b, thread, word);
            }
        for (unsigned cycle = 0; cycle < 2500; cycle++) {
            rig_cycle(a);
            rig_cycle(b);
            assert_memory_equal(a->t->regs.gpr.r, b->t->regs.gpr.r, sizeof a->t->regs.gpr.r);
        }
        assert_memory_equal(a->t->l1, b->t->l1, 70000);
        assert_memory_equal(a->issued, b->issued, sizeof a->issued);
        rig_free(a);
        rig_free(b);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_setdmareg, WG_BH | WG_WH, "", "SETDMAREG:value"),
    WG_COVERS(test_setdmareg_special, WG_BH | WG_WH, "", "SETDMAREG:value"),
    WG_COVERS(test_arithmetic, WG_BH | WG_WH, "",
              "ADDDMAREG:value SUBDMAREG:value MULDMAREG:value BITWOPDMAREG:value SHIFTDMAREG:value CMPDMAREG:value"),
    WG_COVERS(test_reg2flop_adc, WG_BH | WG_WH, "", "REG2FLOP:value"),
    WG_COVERS(test_reg2flop_config, WG_BH | WG_WH, "", "REG2FLOP:value"),
    WG_COVERS(test_indirect, WG_BH | WG_WH, "", "LOADIND:value STOREIND:value"),
    WG_TEST(test_bad_addresses, WG_BH | WG_WH, ""),
    WG_COVERS(test_mmio, WG_BH | WG_WH, "", "LOADREG:value STOREREG:value STOREIND:value"),
    WG_COVERS(test_store_to_src, WG_BH | WG_WH, "", "STOREIND:value"),
    WG_COVERS(test_atomics, WG_BH | WG_WH, "", "ATINCGET:value ATSWAP:value ATCAS:value"),
    WG_COVERS(test_fifo_pointers, WG_BH | WG_WH, "", "ATINCGETPTR:value"),
    WG_COVERS(test_cycles, WG_BH | WG_WH, "",
              "DMANOP:value DMANOP:timing SETDMAREG:timing REG2FLOP:timing FLUSHDMA:timing ADDDMAREG:timing "
              "SUBDMAREG:timing MULDMAREG:timing BITWOPDMAREG:timing SHIFTDMAREG:timing CMPDMAREG:timing "
              "LOADIND:timing STOREIND:timing LOADREG:timing STOREREG:timing ATINCGET:timing ATSWAP:timing "
              "ATCAS:timing ATINCGETPTR:timing"),
    WG_COVERS(test_result_times, WG_BH | WG_WH, "GATE-10", "LOADIND:timing LOADREG:timing ATINCGET:timing"),
    WG_COVERS(test_throughput, WG_BH | WG_WH, "", "STOREIND:timing ATINCGET:timing ATSWAP:timing"),
    WG_TEST(test_outstanding, WG_BH | WG_WH, "GATE-10"),
    WG_COVERS(test_flushdma, WG_BH | WG_WH, "", "FLUSHDMA:value FLUSHDMA:timing"),
    WG_TEST(test_result_hazard, WG_BH | WG_WH, ""),
    WG_COVERS(test_reg2flop_contention, WG_BH | WG_WH, "", "REG2FLOP:timing"),
    WG_COVERS(test_atcas_retries, WG_BH | WG_WH, "", "ATCAS:timing"),
    WG_COVERS(test_increments_are_atomic, WG_BH | WG_WH, "", "ATINCGET:value"),
    WG_TEST(test_soft_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep_is_the_same, WG_BH | WG_WH, ""),
};
WG_MAIN("scalar", tests)
