/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration fields and tile registers: positions, access, absence on one architecture, wide fields; compared with
 * the shared tables where those exist.
 */
#include <stdio.h>
#include "isa/config_fields.h"
#include "isa/tile_regs.h"
#include "test_isa_support.h"

static void test_places(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const wg_cfg_field *base = &wg_cfg_fields[arch][WG_CFG_THCON_SEC0_REG3_Base_address];
    assert_int_equal(base->word, arch == WG_ARCH_BH ? 76 : 64);
    assert_int_equal(base->width, 32);
    assert_int_equal(base->mask, 0xFFFFFFFF);
    const wg_cfg_field *offset = &wg_tcfg_fields[arch][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset];
    assert_int_equal(offset->word, 1);
    assert_int_equal(offset->width, 12);
    assert_int_equal(wg_cfg_present(&wg_cfg_fields[arch][WG_CFG_SCRATCH_SEC0_val]), arch == WG_ARCH_BH);
    assert_int_equal(wg_cfg_present(&wg_cfg_fields[arch][WG_CFG_NCRISC_RESET_PC_PC]), arch == WG_ARCH_WH);
}

static void test_access(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    enum { WORDS = 256 };
    uint32_t words[WORDS], before[WORDS];
    uint16_t thread[WORDS];
    wg_rng rng = {7};
    for (unsigned id = 0; id < WG_CFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_cfg_fields[arch][id];
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = (uint32_t)wg_rng_next(&rng);
        memcpy(before, words, sizeof words);
        uint32_t value = (uint32_t)wg_rng_next(&rng);
        wg_cfg_insert(f, words, value);
        if (!wg_cfg_present(f)) {
            assert_memory_equal(words, before, sizeof words);
            assert_int_equal(wg_cfg_get(arch, (wg_cfg_id)id, words), 0);
            continue;
        }
        assert_int_equal(wg_cfg_get(arch, (wg_cfg_id)id, words), value & f->mask);
        words[f->word] ^= before[f->word];
        assert_int_equal(words[f->word] & ~(f->mask << f->shift), 0); /* nothing outside the field has changed */
    }
    for (unsigned id = 0; id < WG_TCFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_tcfg_fields[arch][id];
        memset(thread, 0, sizeof thread);
        wg_tcfg_insert(f, thread, 0xFFFFFFFF);
        assert_int_equal(wg_tcfg_get(arch, (wg_tcfg_id)id, thread), f->mask);
        assert_int_equal(thread[f->word], f->mask << f->shift);
    }
}

static void test_wide(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const wg_cfg_field *tile = &wg_cfg_fields[arch][WG_CFG_THCON_SEC0_REG0_TileDescriptor];
    uint32_t words[256], out[4];
    for (unsigned i = 0; i < 256; i++)
        words[i] = 0x1000 + i;
    assert_int_equal(tile->width, 128);
    wg_cfg_extract_wide(tile, words, out);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(out[i], 0x1000 + tile->word + i);
    assert_int_equal(wg_cfg_extract(tile, words), 0x1000 + tile->word);
    const wg_cfg_field *narrow = &wg_cfg_fields[arch][WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val];
    wg_cfg_extract_wide(narrow, words, out);
    assert_int_equal(out[0], 0x1000 >> 5 & 15);
    assert_int_equal(out[1] | out[2] | out[3], 0);
}

/* No bit of a space belongs to two fields. */
static void test_overlap(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned space = 0; space < 2; space++) {
        uint32_t owned[256] = {0};
        unsigned count = space ? WG_TCFG_COUNT : WG_CFG_COUNT;
        for (unsigned id = 0; id < count; id++) {
            const wg_cfg_field *f = space ? &wg_tcfg_fields[arch][id] : &wg_cfg_fields[arch][id];
            for (unsigned i = 0; i * 32 < f->width; i++) {
                assert_int_equal(owned[f->word + i] & f->mask << f->shift, 0);
                owned[f->word + i] |= f->mask << f->shift;
            }
        }
    }
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned id = 0; id < WG_CFG_COUNT; id++)
        assert_int_equal(wg_cfg_by_name(wg_cfg_names[id], strlen(wg_cfg_names[id])), id);
    for (unsigned id = 0; id < WG_TCFG_COUNT; id++)
        assert_int_equal(wg_tcfg_by_name(wg_tcfg_names[id], strlen(wg_tcfg_names[id])), id);
    assert_int_equal(wg_cfg_by_name("NOT_THERE", 9), WG_CFG_COUNT);
    assert_int_equal(wg_tcfg_by_name("", 0), WG_TCFG_COUNT);
}

/* ---- registers ---- */

static void test_registers(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned element = 99;
    assert_int_equal(wg_tile_reg_at(arch, WG_REGS_DEBUG, 0x1B0, &element), WG_REG_DEBUG_soft_reset_0);
    assert_int_equal(element, 0);
    assert_true(wg_tile_regs[arch][WG_REG_DEBUG_soft_reset_0].reset_known);
    assert_int_equal(wg_tile_regs[arch][WG_REG_DEBUG_soft_reset_0].reset, 0x47800);
    assert_int_equal(wg_tile_reg_at(arch, WG_REGS_DEBUG, 0x1B1, &element), WG_REG_COUNT);
    assert_int_equal(wg_tile_reg_at(arch, WG_REGS_PCBUF, 0x3C, &element), WG_REG_PCBUF_semaphore);
    assert_int_equal(element, 7);
    assert_int_equal(wg_tile_reg_at(arch, WG_REGS_PCBUF, 0x40, &element), WG_REG_COUNT);
    uint32_t third = arch == WG_ARCH_BH ? 0x1000 : 0x800;
    assert_int_equal(wg_tile_reg_at(arch, WG_REGS_NIU, third + 4, &element), WG_REG_NIU_noc_targ_addr_mid);
    assert_int_equal(element, 2);
    assert_int_equal(wg_region_ranges[arch][WG_REGION_tensix_inst].first, 0xFFE40000);
    assert_int_equal(wg_region_ranges[arch][WG_REGION_tensix_dst].first <=
                         wg_region_ranges[arch][WG_REGION_tensix_dst].last,
                     arch == WG_ARCH_BH);
    /* Every register is found at its own address. */
    for (unsigned id = 0; id < WG_REG_COUNT; id++) {
        const wg_tile_reg *r = &wg_tile_regs[arch][id];
        for (unsigned i = 0; i < r->count; i++) {
            assert_int_equal(wg_tile_reg_at(arch, r->list, r->offset + i * r->stride, &element), id);
            assert_int_equal(element, i);
        }
    }
}

/* ---- compared with the shared tables ---- */

static void dump_config(FILE *to, wg_arch_id arch)
{
    for (unsigned id = 0; id < WG_CFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_cfg_fields[arch][id];
        if (wg_cfg_present(f))
            fprintf(to, "cfg %s %u %u %u\n", wg_cfg_names[id], f->word, f->shift, f->width);
    }
    for (unsigned id = 0; id < WG_TCFG_COUNT; id++) {
        const wg_cfg_field *f = &wg_tcfg_fields[arch][id];
        if (wg_cfg_present(f))
            fprintf(to, "thread_cfg %s %u %u %u\n", wg_tcfg_names[id], f->word, f->shift, f->width);
    }
}

static void dump_registers(FILE *to, wg_arch_id arch)
{
    static const char *const lists[WG_REGS_COUNT] = {"TDMA",    "DEBUG",    "ETH_RISC", "NIU",      "STREAM",
                                                     "PCBUF",   "ETH_TXQ",  "ETH_RXQ",  "ETH_CTRL", "ETH_TXPKT",
                                                     "ETH_MAC", "PCIE_DBI", "ARC_RESET"};
    static const char *const access[] = {"unknown", "rw", "ro", "wo"};
    for (unsigned id = 0; id < WG_REGION_COUNT; id++) {
        wg_region_range r = wg_region_ranges[arch][id];
        if (r.first <= r.last)
            fprintf(to, "region %s %llx %llx\n", wg_region_names[id], (unsigned long long)r.first,
                    (unsigned long long)r.last);
    }
    for (unsigned id = 0; id < WG_REG_COUNT; id++) {
        const wg_tile_reg *r = &wg_tile_regs[arch][id];
        if (r->count == 0)
            continue;
        fprintf(to, "reg %s %s %u %s ", lists[r->list], r->name, r->offset, access[r->access]);
        if (r->reset_known)
            fprintf(to, "%u", r->reset);
        else
            fprintf(to, "none");
        fprintf(to, " %u %u\n", r->count, r->stride);
    }
}

static void test_shared_config(void **state) { assert_true(isa_compare("config", wg_test_arch(state), dump_config)); }
static void test_shared_registers(void **state)
{
    assert_true(isa_compare("registers", wg_test_arch(state), dump_registers));
}

static const wg_test tests[] = {
    WG_TEST(test_places, WG_BH | WG_WH, ""),
    WG_TEST(test_access, WG_BH | WG_WH, ""),
    WG_TEST(test_wide, WG_BH | WG_WH, ""),
    WG_TEST(test_overlap, WG_BH | WG_WH, ""),
    WG_TEST(test_names, WG_BH, ""),
    WG_TEST(test_registers, WG_BH | WG_WH, ""),
    WG_TEST(test_shared_config, WG_BH | WG_WH, ""),
    WG_TEST(test_shared_registers, WG_BH | WG_WH, ""),
};
WG_MAIN("config_fields", tests)
