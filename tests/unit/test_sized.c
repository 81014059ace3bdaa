/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structures that callers fill in, in arrays and lists, too: a caller that knows fewer members gets 0 for the others, one that
 * knows more than this version is refused.
 */
#include <assert.h>

#include <waitgate/cluster.h>
#include <waitgate/metal.h>
#include <waitgate/report.h>

#include "wgtest.h"

/* Sizes that no version has had. */
#define NO_VERSION(least, type) \
    { \
        0, 3, (uint32_t)(least)-1, sizeof(type) + 1 \
    }

static void test_delays(void **state)
{
    /* A list as an earlier version had it: without the last member. */
    struct earlier {
        uint32_t struct_size, cycles;
        uint64_t event;
        uint8_t site, agent;
    } list[2] = {{.cycles = 7, .event = 1, .site = WG_SITE_ACCEPT, .agent = WG_AGENT_THREAD0},
                 {.cycles = 9, .event = 2, .site = WG_SITE_ACCEPT, .agent = WG_AGENT_THREAD0}};
    static_assert(sizeof *list == sizeof(wg_delay), "padding stands for the last member");
    const wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    const uint32_t bad[] = NO_VERSION(offsetof(wg_delay, tile), wg_delay);
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    list[0].struct_size = list[1].struct_size = sizeof *list;
    assert_int_equal(wg_perturb_with(dev, 0, (const wg_delay *)list, 2), WG_OK);
    list[0].struct_size = offsetof(wg_delay, tile);
    assert_int_equal(wg_perturb_with(dev, 0, (const wg_delay *)list, 1), WG_OK);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        list[0].struct_size = bad[i];
        assert_int_equal(wg_perturb_with(dev, 0, (const wg_delay *)list, 1), WG_ERR_ARGUMENT);
        assert_non_null(strstr(wg_error(dev), "struct_size"));
    }
    wg_destroy(dev);
}

static void test_links(void **state)
{
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = wg_test_arch(state)};
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = 2, .chip = &chip};
    const uint32_t bad[] = NO_VERSION(offsetof(wg_cluster_link, up_at), wg_cluster_link);
    wg_cluster *c;
    assert_int_equal(wg_cluster_create(&desc, &c), WG_OK);
    wg_cluster_link link = {.end = {{0, 0}, {1, 0}}, .cut_at = 5};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        link.struct_size = bad[i];
        assert_int_equal(wg_cluster_connect(c, &link, NULL), WG_ERR_ARGUMENT);
        assert_non_null(strstr(wg_cluster_error(c), "struct_size"));
    }
    link.struct_size = offsetof(wg_cluster_link, up_at);
    assert_int_equal(wg_cluster_connect(c, &link, NULL), WG_OK);
    assert_int_equal(wg_cluster_link_at(c, 0)->cut_at, 0); /* which the caller does not know */
    wg_cluster_destroy(c);
    /* The other direction: no more is written than the caller knows. */
    const wg_topology *t = wg_topology_find("t3000");
    link = (wg_cluster_link){.struct_size = offsetof(wg_cluster_link, up_at), .cut_at = 5};
    assert_true(wg_topology_link(t, 0, &link));
    assert_true(link.end[0].chip != link.end[1].chip);
    assert_int_equal(link.cut_at, 5);
    link.struct_size = 0;
    assert_false(wg_topology_link(t, 0, &link));
}

static void test_transports(void **state)
{
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = wg_test_arch(state)};
    wg_transport ranks = {.struct_size = sizeof ranks - 1, .ranks = 1};
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = 2, .chip = &chip, .ranks = &ranks};
    wg_cluster *c;
    assert_int_equal(wg_cluster_create(&desc, &c), WG_ERR_ARGUMENT);
}

static void test_metal(void **state)
{
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = wg_test_arch(state)};
    wg_grid *grid;
    wg_metal *metal;
    assert_int_equal(wg_grid_create(&chip, &grid), WG_OK);
    assert_int_equal(wg_metal_create(grid, &metal), WG_OK);

    wg_metal_buffer buffer = {.memory = WG_METAL_DRAM, .bytes = 4096, .page_bytes = 1024, .places = 9};
    const uint32_t bad_buffer[] = NO_VERSION(offsetof(wg_metal_buffer, at), wg_metal_buffer);
    for (unsigned i = 0; i < sizeof bad_buffer / sizeof *bad_buffer; i++) {
        buffer.struct_size = bad_buffer[i];
        assert_int_equal(wg_metal_allocate(metal, &buffer), WG_ERR_ARGUMENT);
        assert_non_null(strstr(wg_metal_error(metal), "struct_size"));
    }
    buffer.struct_size = offsetof(wg_metal_buffer, at);
    assert_int_equal(wg_metal_allocate(metal, &buffer), WG_OK);
    assert_int_not_equal(buffer.address, 0);
    uint8_t data[4096] = {1, 2, 3}, back[4096];
    assert_int_equal(wg_metal_write(metal, &buffer, data, sizeof data), WG_OK);
    assert_int_equal(wg_metal_read(metal, &buffer, back, sizeof back), WG_OK);
    assert_memory_equal(data, back, sizeof back);

    /* Each array of a program, and what firmware consists of. */
    wg_metal_kernel kernel = {.struct_size = sizeof kernel};
    wg_metal_cb cb = {.struct_size = sizeof cb, .bytes = 64, .page_bytes = 64};
    wg_metal_semaphore semaphore = {.struct_size = sizeof semaphore};
    wg_metal_program program = {sizeof program, &kernel, &cb, &semaphore, 1, 1, 1};
    uint32_t *const sizes[] = {&program.struct_size, &kernel.struct_size, &cb.struct_size, &semaphore.struct_size};
    assert_int_equal(wg_metal_launch(metal, &program), WG_OK);
    kernel.struct_size = offsetof(wg_metal_kernel, noc);
    assert_int_equal(wg_metal_launch(metal, &program), WG_OK);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t right = *sizes[i];
        for (unsigned k = 0; k < 2; k++) {
            *sizes[i] = k ? 4096 : 5;
            assert_int_equal(wg_metal_launch(metal, &program), WG_ERR_ARGUMENT);
            assert_non_null(strstr(wg_metal_error(metal), "struct_size"));
        }
        *sizes[i] = right;
    }
    const wg_metal_place at = {0, 0};
    wg_metal_part part = {.struct_size = 5};
    wg_metal_firmware firmware[WG_CORES] = {{sizeof *firmware, &part, 1, 0x1000}};
    assert_int_equal(wg_metal_boot(metal, firmware, &at, 1), WG_ERR_ARGUMENT);
    part.struct_size = sizeof part;
    assert_int_equal(wg_metal_boot(metal, firmware, &at, 1), WG_OK);
    firmware[0].struct_size = 5;
    assert_int_equal(wg_metal_boot(metal, firmware, &at, 1), WG_ERR_ARGUMENT);
    wg_metal_destroy(metal);
    wg_grid_destroy(grid);
}

static bool source(void *seen, unsigned core, uint32_t pc, wg_source *out)
{
    (void)core, (void)pc;
    *(uint32_t *)seen = out->struct_size;
    return false;
}

/* The library says how much of a place it knows. */
static void test_sources(void **state)
{
    const wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    uint32_t seen = 0;
    const wg_report_desc how = {.struct_size = sizeof how, .source = source, .user = &seen};
    wg_device *dev;
    char text[4096];
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_int_equal(wg_core_release(dev, WG_CORE_B, 0x1000), WG_OK);
    wg_hang_report(dev, &how, text, sizeof text);
    assert_int_equal(seen, sizeof(wg_source));
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_delays, WG_BH | WG_WH, ""),     WG_TEST(test_links, WG_BH | WG_WH, ""),
    WG_TEST(test_transports, WG_BH | WG_WH, ""), WG_TEST(test_metal, WG_BH | WG_WH, ""),
    WG_TEST(test_sources, WG_BH | WG_WH, ""),
};
WG_MAIN("sized", tests)
