/* SPDX-License-Identifier: Apache-2.0 */
/* The library's housekeeping: creation, time, snapshots, observers, two independent devices. */
#include <stdio.h>
#include <time.h>
#include "wgtest.h"

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static void test_bad_descriptors(void **state)
{
    (void)state;
    wg_device *dev;
    wg_device_desc desc = {.struct_size = sizeof desc};
    assert_int_equal(wg_create(NULL, &dev), WG_ERR_ARGUMENT);
    desc.arch = (wg_arch_id)7;
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
    desc = (wg_device_desc){.struct_size = 1};
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
}

/* A descriptor that names nothing but its size means the default profile, the measured one. */
static void test_default_profile(void **state)
{
    uint64_t cycles[3];
    static const wg_profile profiles[] = {0, WG_PROFILE_SILICON, WG_PROFILE_DOCUMENTED};
    for (unsigned i = 0; i < 3; i++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .profile = profiles[i]};
        wg_device *dev = NULL;
        wg_stop stop;
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        const uint32_t sources = 0x57000003, add = 0x28000000; /* SETDVALID of both banks, ELWADD */
        wg_push(dev, 0, sources);
        for (unsigned n = 0; n < 8; n++)
            wg_push(dev, 0, add);
        assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_DONE);
        cycles[i] = wg_cycle(dev);
        wg_destroy(dev);
    }
    assert_int_equal(WG_PROFILE_DEFAULT, WG_PROFILE_SILICON);
    assert_int_equal(cycles[0], cycles[1]);
    assert_true(cycles[2] < cycles[1]); /* only the measured machine waits for a block that it just writes */
}

static void test_thousand_devices(void **state)
{
    for (int i = 0; i < 1000; i++)
        wg_destroy(make(wg_test_arch(state)));
}

/* A device that was used and then reset equals a new one, whether it used few pages of memory or all. */
static void test_reset(void **state)
{
    wg_device *fresh = make(wg_test_arch(state)), *dev = make(wg_test_arch(state));
    const uint32_t step[] = {1 << 20, 1 << 12};
    wg_stop stop;
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t at = 16; at < wg_l1_bytes(dev); at += step[i])
            assert_int_equal(wg_write(dev, at, "used", 4), WG_OK);
        wg_push(dev, 0, 0x45002A08); /* SETDMAREG: the low half of GPR 4 */
        assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
        assert_true(wg_state_hash(dev) != wg_state_hash(fresh));
        assert_int_equal(wg_reset(dev), WG_OK);
        assert_true(wg_state_hash(dev) == wg_state_hash(fresh));
    }
    wg_destroy(dev);
    wg_destroy(fresh);
}

static void test_empty_tile_skips_time(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    assert_int_equal(wg_advance(dev, 1000000000), WG_OK);
    clock_gettime(CLOCK_MONOTONIC, &b);
    assert_true(wg_cycle(dev) == 1000000000);
    assert_true((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 100);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 10, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    wg_destroy(dev);
}

static void test_two_devices(void **state)
{
    wg_device *a = make(wg_test_arch(state)), *b = make(WG_ARCH_BH);
    assert_int_equal(wg_poke(a, WG_SPACE_GPR, 5, 123), WG_OK);
    assert_int_equal(wg_push(a, 0, 0xA3450004), WG_OK); /* SEMINIT 4, 5, 1 */
    wg_advance(a, 20);
    uint32_t v;
    assert_int_equal(wg_peek(a, WG_SPACE_SEM_VALUE, 0, &v), WG_OK);
    assert_int_equal(v, 5);
    assert_int_equal(wg_peek(b, WG_SPACE_SEM_VALUE, 0, &v), WG_OK);
    assert_int_equal(v, 0);
    assert_int_equal(wg_peek(b, WG_SPACE_GPR, 5, &v), WG_OK);
    assert_int_equal(v, 0);
    assert_true(wg_cycle(b) == 0);
    wg_destroy(a);
    wg_destroy(b);
}

static void push_some(wg_device *dev, wg_rng *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t word = wg_rng_below(r, 2) ? 0xA4000000u | 1u << (2 + wg_rng_below(r, 8)) : 0x02000000u;
        if (wg_push(dev, wg_rng_below(r, 3), word) != WG_OK)
            break;
    }
}

static void test_snapshot_continues(void **state)
{
    wg_device *a = make(wg_test_arch(state)), *b = make(wg_test_arch(state));
    wg_rng r = {1};
    push_some(a, &r, 20);
    wg_advance(a, 3);
    size_t bytes = wg_snapshot_size(a);
    void *copy = malloc(bytes);
    assert_non_null(copy);
    assert_int_equal(wg_snapshot(a, copy, bytes - 1), WG_ERR_ARGUMENT);
    assert_int_equal(wg_snapshot(a, copy, bytes), WG_OK);
    assert_int_equal(wg_restore(b, copy, bytes), WG_OK);
    assert_true(wg_state_hash(a) == wg_state_hash(b));
    wg_advance(a, 50);
    wg_advance(b, 50);
    assert_true(wg_cycle(a) == wg_cycle(b));
    assert_true(wg_state_hash(a) == wg_state_hash(b));
    assert_int_equal(wg_restore(b, copy, 10), WG_ERR_SNAPSHOT);
    ((char *)copy)[0] ^= 1;
    assert_int_equal(wg_restore(b, copy, bytes), WG_ERR_SNAPSHOT);
    free(copy);
    wg_destroy(a);
    wg_destroy(b);
}

static void test_run_in_pieces(void **state)
{
    wg_device *a = make(wg_test_arch(state)), *b = make(wg_test_arch(state));
    wg_rng ra = {7}, rb = {7};
    push_some(a, &ra, 25);
    push_some(b, &rb, 25);
    wg_advance(a, 40);
    for (int i = 0; i < 40; i++)
        wg_advance(b, 1);
    assert_true(wg_state_hash(a) == wg_state_hash(b));
    wg_destroy(a);
    wg_destroy(b);
}

static void count_event(void *user, const wg_event *e)
{
    (void)e;
    ++*(unsigned *)user;
}

static void test_observers_change_nothing(void **state)
{
    wg_device *a = make(wg_test_arch(state)), *b = make(wg_test_arch(state));
    unsigned seen = 0;
    int id;
    assert_int_equal(wg_observe(a, WG_EV_ALL, count_event, &seen, &id), WG_OK);
    assert_int_equal(wg_observe(a, 0, count_event, &seen, NULL), WG_ERR_ARGUMENT);
    wg_rng ra = {9}, rb = {9};
    push_some(a, &ra, 25);
    push_some(b, &rb, 25);
    wg_advance(a, 60);
    wg_advance(b, 60);
    assert_true(seen > 0);
    assert_true(wg_state_hash(a) == wg_state_hash(b));
    wg_unobserve(a, id);
    seen = 0;
    push_some(a, &ra, 5);
    wg_advance(a, 60);
    assert_int_equal(seen, 0);
    wg_destroy(a);
    wg_destroy(b);
}

static void test_bad_indices_are_errors(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    uint32_t v;
    for (unsigned space = 0; space <= WG_SPACE_COUNT + 1; space++) {
        assert_int_equal(wg_peek(dev, (wg_space)space, UINT32_MAX, &v), WG_ERR_ADDRESS);
        assert_int_equal(wg_poke(dev, (wg_space)space, UINT32_MAX, 0), WG_ERR_ADDRESS);
    }
    assert_int_equal(wg_push(dev, 3, 0), WG_ERR_ARGUMENT);
    assert_int_equal(wg_core_release(dev, (wg_core_id)5, 0), WG_ERR_ARGUMENT);
    assert_int_equal(wg_until(dev, 2, 0, 1), WG_ERR_ADDRESS);
    assert_true(strlen(wg_error(dev)) > 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_bad_descriptors, WG_BH, ""),
    WG_TEST(test_default_profile, WG_BH | WG_WH, ""),
    WG_TEST(test_thousand_devices, WG_BH | WG_WH, ""),
    WG_TEST(test_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_empty_tile_skips_time, WG_BH | WG_WH, ""),
    WG_TEST(test_two_devices, WG_BH | WG_WH, ""),
    WG_TEST(test_snapshot_continues, WG_BH | WG_WH, ""),
    WG_TEST(test_run_in_pieces, WG_BH | WG_WH, ""),
    WG_TEST(test_observers_change_nothing, WG_BH | WG_WH, ""),
    WG_TEST(test_bad_indices_are_errors, WG_BH | WG_WH, ""),
};
WG_MAIN("device", tests)
