/* SPDX-License-Identifier: Apache-2.0 */
/* Read/write counters and address counters: every operand bit against an independent model of the pages. */
#include "wgtest.h"

#include <stdio.h>

#include "isa/config_fields.h"
#include "machine/adc.h"
#include "machine/rwc.h"

static uint32_t setrwc(unsigned cr, unsigned d, unsigned b, unsigned a, unsigned mask)
{
    return UINT32_C(0x37) << 24 | cr << 18 | d << 14 | b << 10 | a << 6 | mask;
}
static uint32_t incrwc(unsigned cr, unsigned d, unsigned b, unsigned a)
{
    return UINT32_C(0x38) << 24 | cr << 18 | d << 14 | b << 10 | a << 6;
}

static const wg_rwc_thread start = {.dst = 1000,
                                    .dst_cr = 1020,
                                    .srca = 60,
                                    .srca_cr = 50,
                                    .srcb = 3,
                                    .srcb_cr = 63,
                                    .fidelity = 2,
                                    .extra_addr_mod = 1};

static void test_setrwc(void **state)
{
    (void)state;
    for (unsigned cr = 0; cr < 16; cr++) {
        for (unsigned mask = 0; mask < 16; mask++) {
            wg_rwc_thread r = start;
            wg_rwc_set(&r, setrwc(cr, 9, 5, 15, mask));
            unsigned a = (15 + (cr & 1 ? 50u : 0)) % 64, b = (5 + (cr & 2 ? 63u : 0)) % 64;
            unsigned d = (9 + (cr & 8 ? 1000u : cr & 4 ? 1020u : 0)) % 1024;
            assert_int_equal(r.srca, mask & 1 ? a : 60);
            assert_int_equal(r.srca_cr, mask & 1 ? a : 50);
            assert_int_equal(r.srcb, mask & 2 ? b : 3);
            assert_int_equal(r.srcb_cr, mask & 2 ? b : 63);
            assert_int_equal(r.dst, (mask & 4) || (cr & 8) ? d : 1000);
            assert_int_equal(r.dst_cr, (mask & 4) || (cr & 8) ? d : 1020);
            assert_int_equal(r.fidelity, mask & 8 ? 0 : 2);
            assert_int_equal(r.extra_addr_mod, 1);
        }
    }
}

static void test_incrwc(void **state)
{
    (void)state;
    for (unsigned cr = 0; cr < 8; cr++) {
        wg_rwc_thread r = start;
        wg_rwc_increment(&r, incrwc(cr, 8, 4, 7));
        assert_int_equal(r.srca, cr & 1 ? 57 : 3);
        assert_int_equal(r.srca_cr, cr & 1 ? 57 : 50);
        assert_int_equal(r.srcb, cr & 2 ? 3 : 7);
        assert_int_equal(r.srcb_cr, cr & 2 ? 3 : 63);
        assert_int_equal(r.dst, cr & 4 ? 4 : 1008);
        assert_int_equal(r.dst_cr, cr & 4 ? 4 : 1020);
        assert_int_equal(r.fidelity, 2);
    }
}

static void put(uint16_t *words, wg_arch_id arch, wg_tcfg_id id, uint32_t value)
{
    assert_true(wg_tcfg_fields[arch][id].width);
    wg_tcfg_insert(&wg_tcfg_fields[arch][id], words, value);
}

/* The field of section i, by name: its position comes from the field table, not from rwc.c. */
static wg_tcfg_id named(const char *pattern, unsigned section)
{
    char name[64];
    snprintf(name, sizeof name, pattern, section);
    wg_tcfg_id id = wg_tcfg_by_name(name, strlen(name));
    assert_true(id < WG_TCFG_COUNT);
    return id;
}

static void test_addr_mod_fields(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned section = 0; section < 8; section++) {
        uint16_t words[68] = {0};
        put(words, arch, named("ADDR_MOD_AB_SEC%u_SrcAIncr", section), 11);
        put(words, arch, named("ADDR_MOD_AB_SEC%u_SrcBIncr", section), 22);
        put(words, arch, named("ADDR_MOD_AB_SEC%u_SrcBCR", section), 1);
        put(words, arch, named("ADDR_MOD_DST_SEC%u_DestIncr", section), 500);
        put(words, arch, named("ADDR_MOD_DST_SEC%u_FidelityIncr", section), 3);
        put(words, arch, named("ADDR_MOD_BIAS_SEC%u_BiasIncr", section), 2);
        wg_rwc_thread r = start;
        r.extra_addr_mod = arch == WG_ARCH_WH && section >= 4;
        unsigned mod = arch == WG_ARCH_WH ? section & 3 : section;
        assert_int_equal(wg_rwc_section(&r, arch, words, mod), section);
        wg_rwc_apply(&r, arch, words, mod, true);
        assert_int_equal(r.srca, (60 + 11) % 64);
        assert_int_equal(r.srca_cr, 50);
        assert_int_equal(r.srcb, (63 + 22) % 64);
        assert_int_equal(r.srcb_cr, (63 + 22) % 64);
        assert_int_equal(r.dst, (1000 + 500) % 1024);
        assert_int_equal(r.dst_cr, 1020);
        assert_int_equal(r.fidelity, (2 + 3) % 4);
        assert_int_equal(r.extra_addr_mod, !(arch == WG_ARCH_WH && section >= 4));
    }
}

/* Every combination of the control bits, against a reformulation of RWCs.md. */
static void test_addr_mod_controls(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {1};
    for (unsigned n = 0; n < 200000; n++) {
        wg_test_round("round", n);
        uint16_t words[68];
        for (unsigned i = 0; i < 68; i++)
            words[i] = (uint16_t)wg_rng_next(&rng);
        wg_rwc_thread r = {.dst = wg_rng_next(&rng) & 1023,
                           .dst_cr = wg_rng_next(&rng) & 1023,
                           .srca = wg_rng_next(&rng) & 63,
                           .srca_cr = wg_rng_next(&rng) & 63,
                           .srcb = wg_rng_next(&rng) & 63,
                           .srcb_cr = wg_rng_next(&rng) & 63,
                           .fidelity = wg_rng_next(&rng) & 3,
                           .extra_addr_mod = wg_rng_next(&rng) & 1};
        unsigned mod = wg_rng_next(&rng) & 7;
        bool fidelity = wg_rng_next(&rng) & 1;
        unsigned bits = arch == WG_ARCH_WH ? mod & 3 : mod;
        bool upper = r.extra_addr_mod || (arch == WG_ARCH_WH && wg_tcfg_get(arch, WG_TCFG_ADDR_MOD_SET_Base, words));
        unsigned section = upper ? bits | 4 : bits;
        wg_rwc_thread before = r;
        wg_rwc_apply(&r, arch, words, mod, fidelity);
#define GET(pattern) wg_tcfg_get(arch, named(pattern, section), words)
        unsigned a = GET("ADDR_MOD_AB_SEC%u_SrcAIncr"), d = GET("ADDR_MOD_DST_SEC%u_DestIncr");
        bool a_clear = GET("ADDR_MOD_AB_SEC%u_SrcAClear"), a_cr = GET("ADDR_MOD_AB_SEC%u_SrcACR");
        assert_int_equal(r.srca, a_clear ? 0 : ((a_cr ? before.srca_cr : before.srca) + a) % 64);
        assert_int_equal(r.srca_cr, a_clear ? 0 : a_cr ? r.srca : before.srca_cr);
        bool clear = GET("ADDR_MOD_DST_SEC%u_DestClear"), c_to_cr = GET("ADDR_MOD_DST_SEC%u_DestCToCR");
        bool cr = GET("ADDR_MOD_DST_SEC%u_DestCR");
        assert_int_equal(r.dst, clear ? 0 : ((cr && !c_to_cr ? before.dst_cr : before.dst) + d) % 1024);
        assert_int_equal(r.dst_cr, clear || c_to_cr || cr ? r.dst : before.dst_cr);
        unsigned stepped = before.fidelity + GET("ADDR_MOD_DST_SEC%u_FidelityIncr");
        unsigned phase = GET("ADDR_MOD_DST_SEC%u_FidelityClear") ? 0 : stepped;
        assert_int_equal(r.fidelity, fidelity ? phase % 4 : before.fidelity);
        bool flips = GET("ADDR_MOD_BIAS_SEC%u_BiasIncr") & 3;
        assert_int_equal(r.extra_addr_mod, GET("ADDR_MOD_BIAS_SEC%u_BiasClear") ? 0 : before.extra_addr_mod ^ flips);
#undef GET
    }
}

static void test_adc_widths(void **state)
{
    (void)state;
    static const uint32_t masks[4] = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};
    for (unsigned dimension = 0; dimension < 4; dimension++) {
        wg_adc_channel c = {0};
        wg_adc_set(&c, dimension, UINT32_MAX);
        uint32_t now[4] = {c.x, c.y, c.z, c.w}, cr[4] = {c.x_cr, c.y_cr, c.z_cr, c.w_cr};
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(now[i], i == dimension ? masks[i] : 0);
            assert_int_equal(cr[i], i == dimension ? masks[i] : 0);
        }
        wg_adc_increment(&c, dimension, 3);
        uint32_t stepped[4] = {c.x, c.y, c.z, c.w}, kept[4] = {c.x_cr, c.y_cr, c.z_cr, c.w_cr};
        assert_int_equal(stepped[dimension], 2);
        assert_int_equal(kept[dimension], masks[dimension]);
        wg_adc_carriage_return(&c, dimension, 6);
        uint32_t returned[4] = {c.x, c.y, c.z, c.w}, both[4] = {c.x_cr, c.y_cr, c.z_cr, c.w_cr};
        assert_int_equal(returned[dimension], 5);
        assert_int_equal(both[dimension], 5);
        wg_adc_put(&c, dimension, true, 9);
        uint32_t copy[4] = {c.x_cr, c.y_cr, c.z_cr, c.w_cr}, counter[4] = {c.x, c.y, c.z, c.w};
        assert_int_equal(copy[dimension], 9);
        assert_int_equal(counter[dimension], 5);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_setrwc, WG_BH | WG_WH, "", "SETRWC:value"),
    WG_COVERS(test_incrwc, WG_BH | WG_WH, "", "INCRWC:value"),
    WG_TEST(test_addr_mod_fields, WG_BH | WG_WH, ""),
    WG_TEST(test_addr_mod_controls, WG_BH | WG_WH, ""),
    WG_TEST(test_adc_widths, WG_BH | WG_WH, ""),
};
WG_MAIN("rwc", tests)
