/* SPDX-License-Identifier: Apache-2.0 */
/* wg_grid_explore(): a chip under many timings, with delays at either tile of a race between tiles. */
#include <waitgate/explore.h>

#include "noc_rig.h"

enum { RESULT = 0x3000, SOURCE = 0x4000, AWAY_X = 2, AWAY_Y = 2, HOME_X = 3, HOME_Y = 3 };

typedef struct seen {
    unsigned runs, memory, by_delay, by_seed, directed, stop_at, away, home;
    uint64_t seed, cycles;
    wg_delay delay;
    unsigned x, y;
} seen;

static bool ended(void *user, wg_grid *g, const wg_explored *run)
{
    seen *s = user;
    assert_int_equal(run->number, s->runs++);
    assert_int_equal(run->cycles, wg_grid_cycle(g));
    assert_int_equal(run->ended, WG_STOP_DONE);
    const uint32_t value = get(g, HOME_X, HOME_Y, RESULT);
    assert_true(value == 1 || value == 2);
    assert_int_equal(run->memory, value == 1); /* undisturbed, the packet arrives last */
    if (!run->number)
        s->cycles = run->cycles;
    s->by_seed += run->seed && run->cycles != s->cycles;
    if (run->delay) {
        s->directed++;
        s->by_delay += run->memory;
        s->away += run->x == AWAY_X && run->y == AWAY_Y;
        s->home += run->x == HOME_X && run->y == HOME_Y;
    }
    if (run->memory && !s->memory++) {
        s->seed = run->seed;
        s->x = run->x;
        s->y = run->y;
        if (run->delay)
            s->delay = *run->delay;
    }
    return s->runs != s->stop_at;
}

/* A tile stores 1 to its own word; another one sends a 2 to the same word, which usually arrives later. */
static wg_grid *two_tiles(wg_arch_id arch)
{
    wg_grid *g = noc_chip(arch, 0);
    const uint32_t places[2][2] = {{AWAY_X, AWAY_Y}, {HOME_X, HOME_Y}};
    for (unsigned i = 0; i < 2; i++) {
        wg_grid_tile(g, places[i][0], places[i][1]);
        put(g, places[i][0], places[i][1], NIU0 + 0x100, 0); /* places are raw */
    }
    put(g, AWAY_X, AWAY_Y, SOURCE, 2);
    rv away = rv_at(0x10000), home = rv_at(0x10000);
    const noc_request send = {.ctrl = N_WRITE | N_ANSWER,
                              .len = 4,
                              .targ = SOURCE,
                              .ret = RESULT,
                              .targ_at = at(AWAY_X, AWAY_Y),
                              .ret_at = at(HOME_X, HOME_Y)};
    rv_issue(&away, arch, &send);
    rv_done(&away);
    rv_li(&home, T0, 20);
    unsigned loop = home.n;
    rv_addi(&home, T0, T0, -1);
    rv_bne(&home, T0, ZERO, loop);
    rv_li(&home, T1, RESULT);
    rv_li(&home, T0, 1);
    rv_sw(&home, T0, 0, T1);
    rv_done(&home);
    boot(g, AWAY_X, AWAY_Y, WG_CORE_B, &away);
    boot(g, HOME_X, HOME_Y, WG_CORE_B, &home);
    return g;
}

/* Some timing lets the packet arrive first; the same delay, or seed, gives that result again. */
static void test_two_tiles(void **state)
{
    wg_grid *g = two_tiles(wg_test_arch(state));
    const uint64_t start = wg_grid_state_hash(g);
    wg_explore_desc how = {.struct_size = sizeof how, .runs = 60, .address = RESULT, .bytes = 4};
    seen s = {0};
    assert_int_equal(wg_grid_explore(g, &how, ended, &s), WG_OK);
    assert_int_equal(s.runs, 61);
    assert_true(s.memory > 0 && s.memory < 60);
    assert_true(s.directed > 0 && s.by_delay > 0 && s.by_seed > 5 && s.away > 0 && s.home > 0);
    assert_true(wg_grid_state_hash(g) == start && wg_grid_cycle(g) == 0);
    assert_int_equal(findings_of(g), 0);

    wg_stop stop;
    assert_int_equal(wg_grid_perturb(g, s.seed), WG_OK);
    if (s.delay.cycles)
        assert_int_equal(wg_perturb_with(wg_grid_tile(g, s.x, s.y), 0, &s.delay, 1), WG_OK);
    assert_int_equal(wg_grid_run(g, 100000, &stop), WG_OK);
    assert_int_equal(get(g, HOME_X, HOME_Y, RESULT), 1);
    wg_grid_destroy(g);
}

/* A seed gives the run of a chip that was created with it; 0 gives the undisturbed one. */
static void test_perturb(void **state)
{
    const wg_arch_id arch = wg_test_arch(state);
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_DOCUMENTED, .seed = 7};
    wg_grid *seeded, *g = two_tiles(arch);
    assert_int_equal(wg_grid_create(&desc, &seeded), WG_OK);
    size_t bytes = wg_grid_snapshot_size(g);
    void *start = malloc(bytes);
    assert_int_equal(wg_grid_snapshot(g, start, bytes), WG_OK);
    assert_int_equal(wg_grid_restore(seeded, start, bytes), WG_OK);
    uint64_t hash[3];
    wg_stop stop;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(wg_grid_restore(g, start, bytes), WG_OK);
        assert_int_equal(wg_grid_perturb(g, i ? 7 : 0), WG_OK);
        assert_int_equal(wg_grid_run(g, 100000, &stop), WG_OK);
        hash[i] = wg_grid_cycle(g);
    }
    assert_true(hash[1] == hash[2] && hash[0] != hash[1]);
    assert_int_equal(wg_grid_perturb(seeded, 7), WG_OK);
    assert_int_equal(wg_grid_run(seeded, 100000, &stop), WG_OK);
    assert_true(wg_grid_cycle(seeded) == hash[1]);
    free(start);
    wg_grid_destroy(seeded);
    wg_grid_destroy(g);
}

static void test_ends_and_errors(void **state)
{
    wg_grid *g = two_tiles(wg_test_arch(state)), *empty = noc_chip(wg_test_arch(state), 0);
    seen few = {.stop_at = 5}, none = {0};
    wg_explore_desc how = {.struct_size = sizeof how, .runs = 40};
    assert_int_equal(wg_grid_explore(g, &how, ended, &few), WG_OK);
    assert_int_equal(few.runs, 5);
    assert_int_equal(wg_grid_explore(g, &how, NULL, &none), WG_ERR_ARGUMENT);
    how.address = 0xFFFFFFF0, how.bytes = 4;
    assert_int_equal(wg_grid_explore(g, &how, ended, &none), WG_ERR_ARGUMENT);
    assert_non_null(strstr(wg_grid_error(g), "not in the L1 of the tile at (2, 2)"));
    how = (wg_explore_desc){.struct_size = sizeof how, .max_cycles = 10};
    assert_int_equal(wg_grid_explore(g, &how, ended, &none), WG_ERR_STATE);
    assert_non_null(strstr(wg_grid_error(g), "does not end within 10 cycles"));
    assert_int_equal(wg_grid_explore(empty, NULL, ended, &none), WG_ERR_ARGUMENT);
    assert_int_equal(none.runs, 0);
    assert_int_equal(wg_grid_cycle(g), 0);
    wg_grid_destroy(empty);
    wg_grid_destroy(g);
}

static const wg_test tests[] = {
    WG_TEST(test_two_tiles, WG_BH | WG_WH, ""),
    WG_TEST(test_perturb, WG_BH | WG_WH, ""),
    WG_TEST(test_ends_and_errors, WG_BH | WG_WH, ""),
};
WG_MAIN("chip_timings", tests)
