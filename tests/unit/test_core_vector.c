/* SPDX-License-Identifier: Apache-2.0 */
/* The vector instructions of RISCV T2 (Blackhole). */
#include "rvasm.h"
#include "wgtest.h"

enum { CODE = 0x8000, LEFT = 0x3000, RIGHT = 0x3100, RESULT = 0x3200 };
/* The words that the assembler produces for the instructions on the right. */
enum {
    VSETVLI_E32_M2 = 0x0D1676D7, /* vsetvli a3, a2, e32, m2, ta, ma */
    VSETVLI_E64 = 0x0D8676D7,    /* vsetvli a3, a2, e64, m1, ta, ma */
    VLE32_V2_A0 = 0x02056107,
    VLE32_V4_A1 = 0x0205E207,
    VSE32_V6_A4 = 0x02076327,
    VADD_V6_V2_V4 = 0x02220357,
    VREDSUM_V8_V2_V4 = 0x02222457,
    VMV_A5_V8 = 0x428027D7,
    VMSLTU_V0_V2_A6 = 0x6A284057,
    VMUL_V6_V2_V4_MASKED = 0x94222357,
    VCPOP_A7_V0 = 0x420828D7,
    FMV_FA0_A6 = 0xF0080553,
    VFMV_V12_FA0 = 0x5E055657,
    VFADD_V10_V12_V14 = 0x02C71557,
    VFMACC_V10_FA0_V12 = 0xB2C55557,
    VFMV_FA1_V10 = 0x42A015D7,
    FMV_A5_FA1 = 0xE00587D3,
    VDIV_V2_V4_V6 = 0x86432157,
    VFDIV_V2_V4_V6 = 0x82431157
};

static wg_device *make(void)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    static const uint32_t left[8] = {1, 2, 3, 4, 5, 6, 7, 8}, right[8] = {10, 20, 30, 40, 50, 60, 70, 80};
    wg_write(dev, LEFT, left, sizeof left);
    wg_write(dev, RIGHT, right, sizeof right);
    return dev;
}

static rv begin(uint32_t elements)
{
    rv p = rv_at(CODE);
    rv_li(&p, A0, LEFT);
    rv_li(&p, A1, RIGHT);
    rv_li(&p, A2, elements);
    rv_li(&p, A4, RESULT);
    return p;
}

static void run(wg_device *dev, rv *p, wg_core_id core)
{
    rv_done(p);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, core, p->base), WG_OK);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 10000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
}

static uint32_t x(wg_device *dev, unsigned reg)
{
    uint32_t value = 0;
    assert_int_equal(wg_peek(dev, WG_SPACE_CORE_X, WG_CORE_T2 * 32 + reg, &value), WG_OK);
    return value;
}

static void test_integers(void **state)
{
    (void)state;
    wg_device *dev = make();
    rv p = begin(7);
    rv_word(&p, VSETVLI_E32_M2);
    rv_word(&p, VLE32_V2_A0);
    rv_word(&p, VLE32_V4_A1);
    rv_word(&p, VADD_V6_V2_V4);
    rv_word(&p, VSE32_V6_A4);
    rv_word(&p, VREDSUM_V8_V2_V4);
    rv_word(&p, VMV_A5_V8);
    run(dev, &p, WG_CORE_T2);
    uint32_t out[8];
    wg_read(dev, RESULT, out, sizeof out);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(out[i], 11 * (i + 1));
    assert_int_equal(out[7], 0); /* beyond vl */
    assert_int_equal(x(dev, A3), 7);
    assert_int_equal(x(dev, A5), 10 + 28); /* v4's first element and the sum of seven */
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

static void test_masks(void **state)
{
    (void)state;
    wg_device *dev = make();
    rv p = begin(100);
    rv_li(&p, A6, 4);
    rv_word(&p, VSETVLI_E32_M2);
    rv_word(&p, VLE32_V2_A0);
    rv_word(&p, VLE32_V4_A1);
    rv_word(&p, VMSLTU_V0_V2_A6);
    rv_word(&p, VMUL_V6_V2_V4_MASKED);
    rv_word(&p, VCPOP_A7_V0);
    rv_word(&p, VSE32_V6_A4);
    run(dev, &p, WG_CORE_T2);
    uint32_t out[8];
    wg_read(dev, RESULT, out, sizeof out);
    assert_int_equal(x(dev, A3), 8); /* two registers of four */
    assert_int_equal(x(dev, A7), 3);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(out[i], i < 3 ? 10 * (i + 1) * (i + 1) : 0);
    wg_destroy(dev);
}

static void test_floats(void **state)
{
    (void)state;
    wg_device *dev = make();
    rv p = begin(8);
    rv_li(&p, A6, 0x40400000); /* 3.0 */
    rv_word(&p, VSETVLI_E32_M2);
    rv_word(&p, FMV_FA0_A6);
    rv_word(&p, VFMV_V12_FA0);
    rv_word(&p, VFADD_V10_V12_V14);  /* 3 + 0 */
    rv_word(&p, VFMACC_V10_FA0_V12); /* 3 + 3 * 3 */
    rv_word(&p, VFMV_FA1_V10);
    rv_word(&p, FMV_A5_FA1);
    run(dev, &p, WG_CORE_T2);
    assert_int_equal(x(dev, A5), 0x41400000); /* 12.0 */
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

/* Missing instructions are reported with core, pc and word. */
static void unsupported(wg_core_id core, uint32_t word)
{
    wg_device *dev = make();
    rv p = begin(4);
    uint32_t pc = p.base + 4 * p.n;
    rv_word(&p, word);
    run(dev, &p, core);
    assert_int_equal(wg_finding_count(dev), 1);
    const wg_finding *f = wg_finding_at(dev, 0);
    assert_string_equal(wg_finding_info_at(f->code)->code, "core-illegal-instruction");
    assert_int_equal(f->agent, core);
    assert_int_equal(f->pc, pc);
    assert_true(f->has_word && f->word == word);
    wg_destroy(dev);
}

static void test_unsupported(void **state)
{
    (void)state;
    unsupported(WG_CORE_T2, VDIV_V2_V4_V6);
    unsupported(WG_CORE_T2, VFDIV_V2_V4_V6);
    unsupported(WG_CORE_T2, VSETVLI_E64);
    unsupported(WG_CORE_T1, VADD_V6_V2_V4);
    unsupported(WG_CORE_B, VSETVLI_E32_M2);
}

static const wg_test tests[] = {
    WG_TEST(test_integers, WG_BH, ""),
    WG_TEST(test_masks, WG_BH, ""),
    WG_TEST(test_floats, WG_BH, ""),
    WG_TEST(test_unsupported, WG_BH, ""),
};
WG_MAIN("core_vector", tests)
