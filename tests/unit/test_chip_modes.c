/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip is the same however it is run (time.md rules 14 and 15): random programs on several tiles that send each other
 * requests, poll memory, NIU counters and registers that produce findings, write CSRs, jump to misaligned addresses and
 * interrupt each other, while the host reaches in at random cycles. Each runs by default, with two host threads,
 * watched, without shortcuts, in lockstep, in pieces, and moved to another chip by a snapshot at random cuts. States,
 * the cycle and reason of the end, and findings with their counts and cycles must be the same in all of them.
 *
 * WG_RANDOM_PROGRAMS: programs per architecture; WG_RANDOM_FIRST: the first one.
 */
#include "noc_rig.h"
#include "state_diff.h"

enum { DEFAULT, THREADS, WATCHED, NONE, LOCKSTEP, PIECES, RESTORED, MODES };
static const char *const mode_names[MODES] = {"default",  "two threads", "watched", "without shortcuts",
                                              "lockstep", "in pieces",   "restored"};
enum { CODE = 0x8000, CODE_STRIDE = 0x1000, HANDLER = 0x18000, SHARED = 0x20000, OWN = 0x24000, OWN_STRIDE = 0x1000 };
enum { RAM = S2, L1_SHARED = S3, L1_OWN = S4, ODD = S5, PUSH = S6, COUNTERS = S7, LOOP = S8, INNER = S9 };
enum { MOST_TILES = 4, ROUNDS = 5 };

typedef struct world {
    wg_arch_id arch;
    unsigned tiles, x[MOST_TILES], y[MOST_TILES], cores[MOST_TILES], odd, watched;
    wg_profile profile;
    bool stops; /* runs that may stop; else only time passes */
    rv code[MOST_TILES][WG_CORES];
} world;

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }
static unsigned any_reg(void) { return A0 + below(6); }

/* The coordinates that software writes for a Tensix tile. */
static uint32_t place(const world *w, unsigned tile)
{
    unsigned x = w->x[tile], y = w->y[tile];
    return w->arch == WG_ARCH_BH ? at(x, y) : at(x < 5 ? x + 17 : x + 16, y < 6 ? y + 17 : y + 16);
}

static void request(rv *p, const world *w, unsigned tile)
{
    uint32_t self = place(w, tile), other = place(w, below(w->tiles)), line = below(16) * 16;
    noc_request r = {.noc = below(2), .initiator = below(4), .tag = below(4) << 10, .len = 16u << below(5)};
    switch (below(4)) {
    case 0: r.ctrl = N_WRITE | N_ANSWER, r.targ_at = self, r.ret_at = other; break;
    case 1: r.ctrl = N_WRITE, r.targ_at = self, r.ret_at = other; break;
    case 2: r.ctrl = N_READ | N_ANSWER, r.targ_at = other, r.ret_at = self; break;
    default: r.ctrl = N_ATOMIC | N_ANSWER, r.targ_at = other, r.ret_at = self, r.len = 0x1000 | 31 << 2, r.data = 1;
    }
    r.targ = SHARED + line;
    r.ret = SHARED + 0x400 + line;
    rv_issue(p, w->arch, &r);
}

/* Rare actions, most of which give findings. */
static void odd(rv *p, const world *w, unsigned core)
{
    static const uint8_t bits[] = {0, 1, 2, 3, 9, 10, 12, 13, 15, 17, 18, 20, 24};
    bool bh = w->arch == WG_ARCH_BH;
    switch (below(7)) {
    case 0: rv_word(p, rv_i(1 + (int)below(3), below(2) ? RAM : L1_OWN, 2, any_reg(), 0x03)); break; /* misaligned */
    case 1: rv_word(p, rv_s(1 + (int)below(3), any_reg(), below(2) ? RAM : L1_OWN, 2, 0x23)); break;
    case 2: rv_lw(p, any_reg(), 0, ODD); break;
    case 3: /* to a misaligned target */
        rv_word(p, 10u << 20 | 0x6F);
        rv_nop(p);
        rv_nop(p);
        break;
    case 4:
        if (!bh)
            break;
        rv_li(p, T5, 1u << bits[below(sizeof bits)]);
        rv_word(p, rv_i(0x7C0, T5, 1 + (below(8) ? 1 + below(2) : 0), ZERO, 0x73));
        break;
    case 5: /* raises its own interrupt or the other's */
        if (!bh || core > WG_CORE_NC)
            break;
        rv_li(p, T5, 0xFFB13018 + 4 * below(2));
        rv_sw(p, any_reg(), 0, T5);
        break;
    default:
        if (core >= WG_CORE_T0)
            rv_tt(p, below(3) ? 0x02000000 : 0xA4000010 + 0x01000000 * below(2));
        break;
    }
}

static void instruction(rv *p, const world *w, unsigned tile, unsigned core)
{
    unsigned k = below(100);
    if (k < w->odd)
        odd(p, w, core);
    else if (k < 40)
        rv_word(p, rv_i((int)below(0x1000), any_reg(), below(2) ? 4 : 7, any_reg(), 0x13));
    else if (k < 50)
        rv_add(p, any_reg(), any_reg(), any_reg());
    else if (k < 60)
        rv_lw(p, any_reg(), 4 * (int)below(16), below(2) ? RAM : L1_OWN);
    else if (k < 70)
        rv_sw(p, any_reg(), 4 * (int)below(16), below(2) ? RAM : L1_OWN);
    else if (k < 78)
        rv_lw(p, any_reg(), 16 * (int)below(64), L1_SHARED);
    else if (k < 84)
        rv_fence(p);
    else if (k < 88)
        rv_lw(p, any_reg(), 4 * (int)below(16), COUNTERS);
    else if (k < 92)
        rv_word(p, rv_b(8, any_reg(), any_reg(), below(2))); /* over the next instruction */
    else if (k < 95 && p->n < 300)
        request(p, w, tile);
    else
        rv_nop(p);
}

/*
 * Polls for what may never arrive: a word of L1, a counter, a register that does not exist; with a delay, a store, a
 * call or nothing.
 */
static void poll(rv *p)
{
    unsigned what = below(4), base = what == 0 ? COUNTERS : what == 1 ? ODD : L1_SHARED;
    int offset = base == L1_SHARED ? 16 * (int)below(64) : base == COUNTERS ? 4 * (int)below(16) : 0;
    unsigned with = below(5), reg = any_reg();
    rv_li(p, T4, 0xFFFF);
    unsigned top = p->n;
    if (below(2))
        rv_fence(p);
    if (with == 0) {
        rv_li(p, INNER, 1 + below(60));
        unsigned inner = p->n;
        rv_addi(p, INNER, INNER, -1);
        rv_bne(p, INNER, ZERO, inner);
    } else if (with == 1) {
        rv_sw(p, RAM, 60, below(2) ? RAM : L1_OWN);
    } else if (with == 2) { /* misaligned: a finding in each round */
        rv_word(p, rv_i(1, RAM, 2, A0, 0x03));
    }
    rv_lw(p, reg, offset, base);
    rv_word(p, rv_b(4 * ((int)top - (int)p->n), reg, T4, 1));
}

/* A jump back to a target too far away for a branch. */
static void rv_jump(rv *p, unsigned label)
{
    uint32_t o = (uint32_t)(4 * ((int)label - (int)p->n));
    rv_word(p, (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F);
}

static rv program(const world *w, unsigned tile, unsigned core)
{
    static const uint32_t registers[] = {0xFFB12300, 0xFFB12058, 0xFFB120FC, 0xFFB13200};
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, RAM, 0xFFB00000);
    rv_li(&p, L1_SHARED, SHARED);
    rv_li(&p, L1_OWN, OWN + core * OWN_STRIDE);
    rv_li(&p, ODD, registers[below(4)]);
    rv_li(&p, PUSH, 0xFFE40000);
    rv_li(&p, COUNTERS, NIU0 + 0x10000 * below(2) + 0x200);
    for (unsigned i = A0; i <= A5; i++)
        rv_li(&p, i, (uint32_t)wg_rng_next(&g));
    if (w->arch == WG_ARCH_BH && core <= WG_CORE_NC) {
        rv_store(&p, 0xFFB130A8 + 4 * core, HANDLER + 0x100 * core);
        rv_store(&p, core == WG_CORE_B ? 0xFFB13000 : 0xFFB1300C, 1u << core);
    }
    for (unsigned loops = 1 + below(3); loops; loops--) {
        rv_li(&p, LOOP, 1 + below(20));
        unsigned top = p.n;
        for (unsigned n = 1 + below(20); n && p.n < 400; n--)
            instruction(&p, w, tile, core);
        rv_addi(&p, LOOP, LOOP, -1);
        rv_word(&p, rv_b(8, LOOP, ZERO, 0));
        rv_jump(&p, top);
        if (p.n > 380)
            break;
    }
    if (below(3))
        poll(&p);
    rv_done(&p);
    return p;
}

/* Takes the value, which ends the request, and counts it. */
static rv handler(unsigned core)
{
    rv p = rv_at(HANDLER + 0x100 * core);
    rv_li(&p, S0, 0xFFB13018 + 4 * core);
    rv_lw(&p, S1, 0, S0);
    rv_addi(&p, S11, S11, 1);
    rv_word(&p, 0x30200073); /* mret */
    return p;
}

static void make_world(world *w, wg_arch_id arch)
{
    static const uint8_t places[][2] = {{1, 2}, {2, 3}, {4, 3}, {3, 4}, {7, 8}, {2, 9}};
    *w = (world){.arch = arch, .tiles = 1 + below(MOST_TILES), .profile = (wg_profile)below(2), .stops = below(2)};
    w->odd = below(4) ? below(15) : 0;
    w->watched = below(w->tiles);
    unsigned first = below(6);
    for (unsigned i = 0; i < w->tiles; i++) {
        w->x[i] = places[(first + i) % 6][0];
        w->y[i] = places[(first + i) % 6][1];
        w->cores[i] = below(2) ? 1u << below(5) : 1 + below(31);
    }
    for (unsigned i = 0; i < w->tiles; i++)
        for (unsigned c = 0; c < WG_CORES; c++)
            w->code[i][c] = program(w, i, c);
}

static void ignore(void *user, const wg_event *e) { (void)user, (void)e; }

static wg_grid *chip(const world *w, unsigned mode)
{
    wg_grid_desc desc = {.struct_size = sizeof desc,
                         .arch = w->arch,
                         .profile = w->profile,
                         .threads = mode == THREADS ? 2 : 1,
                         .lockstep = mode == LOCKSTEP,
                         .shortcuts = mode == NONE ? "none" : NULL};
    wg_grid *grid = NULL;
    assert_int_equal(wg_grid_create(&desc, &grid), WG_OK);
    return grid;
}

static wg_grid *start(const world *w, unsigned mode)
{
    wg_grid *grid = chip(w, mode);
    for (unsigned i = 0; i < w->tiles; i++) {
        for (unsigned c = 0; c < 2; c++) {
            rv p = handler(c);
            assert_true(rv_load(wg_grid_tile(grid, w->x[i], w->y[i]), &p));
        }
        for (unsigned c = 0; c < WG_CORES; c++)
            if (w->cores[i] >> c & 1)
                boot(grid, w->x[i], w->y[i], (wg_core_id)c, &w->code[i][c]);
    }
    if (mode == WATCHED)
        assert_int_equal(
            wg_observe(wg_grid_tile(grid, w->x[w->watched], w->y[w->watched]), ~UINT64_C(0), ignore, NULL, NULL),
            WG_OK);
    return grid;
}

/* Continues the run in another chip. */
static wg_grid *move(const world *w, wg_grid *from)
{
    size_t bytes = wg_grid_snapshot_size(from);
    void *snapshot = malloc(bytes);
    wg_grid *to = chip(w, below(4) ? DEFAULT : LOCKSTEP);
    assert_non_null(snapshot);
    if (wg_grid_snapshot(from, snapshot, bytes) != WG_OK)
        fail_msg("%s", wg_grid_error(from));
    if (below(2)) /* a chip that has run something else before */
        for (unsigned i = 0; i < w->tiles; i++)
            put(to, w->x[i], w->y[i], SHARED, 77);
    if (wg_grid_restore(to, snapshot, bytes) != WG_OK)
        fail_msg("%s", wg_grid_error(to));
    free(snapshot);
    wg_grid_destroy(from);
    return to;
}

/* Acts as the host between two pieces of the run. */
static void host(const world *w, wg_grid *grid)
{
    unsigned i = below(w->tiles), n = below(WG_CORES);
    wg_device *dev = wg_grid_tile(grid, w->x[i], w->y[i]);
    uint32_t value = below(3) ? 0xFFFF : (uint32_t)wg_rng_next(&g);
    switch (below(6)) {
    case 0:
    case 1: put(grid, w->x[i], w->y[i], SHARED + 16 * below(64), value); break;
    case 2: (void)get(grid, w->x[i], w->y[i], SHARED + 16 * below(64)); break;
    case 3:
        if (w->arch == WG_ARCH_BH)
            put(grid, w->x[i], w->y[i], 0xFFB13018 + 4 * (n & 1), value);
        break;
    case 4:
        if (w->cores[i] >> n & 1)
            assert_int_equal(wg_core_release(dev, (wg_core_id)n, CODE + n * CODE_STRIDE), WG_OK);
        break;
    default: (void)wg_push(dev, n % 3, 0x02000000); break;
    }
}

static wg_stop go(const world *w, wg_grid **grid, unsigned mode, uint64_t cycles)
{
    wg_stop stop = WG_STOP_CYCLES;
    uint64_t end = wg_grid_cycle(*grid) + cycles;
    do {
        uint64_t left = end - wg_grid_cycle(*grid), n = left;
        if (mode >= PIECES)
            n = 1 + below(below(3) ? 2500 : 40);
        n = n < left ? n : left;
        if (w->stops)
            assert_int_equal(wg_grid_run(*grid, n, &stop), WG_OK);
        else
            assert_int_equal(wg_grid_advance(*grid, n), WG_OK);
        if (mode == RESTORED && below(2))
            *grid = move(w, *grid);
    } while (stop == WG_STOP_CYCLES && wg_grid_cycle(*grid) < end);
    return stop;
}

static uint64_t most; /* highest count of a finding: skipped rounds must have produced some */

static void same_findings(const world *w, wg_grid *a, wg_grid *b, unsigned seed, unsigned mode)
{
    for (unsigned i = 0; i < w->tiles; i++) {
        wg_device *p = wg_grid_tile(a, w->x[i], w->y[i]), *q = wg_grid_tile(b, w->x[i], w->y[i]);
        if (wg_finding_count(p) != wg_finding_count(q))
            fail_msg("program %u, tile %u: %zu findings, %s %zu", seed, i, wg_finding_count(p), mode_names[mode],
                     wg_finding_count(q));
        for (size_t k = 0; k < wg_finding_count(p); k++) {
            const wg_finding *x = wg_finding_at(p, k), *y = wg_finding_at(q, k);
            if (x->code != y->code || x->cycle != y->cycle || x->pc != y->pc || x->count != y->count)
                fail_msg("program %u, tile %u: %s at 0x%x in %llu, %llu times; %s: %s at 0x%x in %llu, %llu times",
                         seed, i, wg_finding_info_at(x->code)->code, x->pc, (unsigned long long)x->cycle,
                         (unsigned long long)x->count, mode_names[mode], wg_finding_info_at(y->code)->code, y->pc,
                         (unsigned long long)y->cycle, (unsigned long long)y->count);
            most = x->count > most ? x->count : most;
        }
    }
}

static void differs(const world *w, wg_grid *a, wg_grid *b, unsigned seed, unsigned round, unsigned mode, wg_stop p,
                    wg_stop q)
{
    const char *what = "";
    for (unsigned i = 0; i < w->tiles && !*what; i++) {
        wg_device *x = wg_grid_tile(a, w->x[i], w->y[i]), *y = wg_grid_tile(b, w->x[i], w->y[i]);
        if (wg_state_hash(x) != wg_state_hash(y))
            what = first_difference(x, y);
    }
    fail_msg("%s program %u, round %u: %s is at cycle %llu (%d), %s at %llu (%d): %s",
             w->arch == WG_ARCH_BH ? "bh" : "wh", seed, round, mode_names[0], (unsigned long long)wg_grid_cycle(a),
             (int)p, mode_names[mode], (unsigned long long)wg_grid_cycle(b), (int)q, what);
}

static void chips(void **state, unsigned first, unsigned count)
{
    unsigned ends[8] = {0};
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    most = 0;
    for (unsigned seed = first; seed < first + count; seed++) {
        wg_grid *grid[MODES];
        wg_test_seed(seed);
        g.s = seed * UINT64_C(91813) + wg_test_arch(state);
        make_world(w, wg_test_arch(state));
        for (unsigned i = 0; i < MODES; i++)
            grid[i] = start(w, i);
        wg_rng numbers = g;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t cycles = 1 + below(below(3) ? 3000 : 9000);
            wg_stop stop[MODES];
            numbers = g;
            for (unsigned i = 0; i < MODES; i++) {
                g = numbers;
                for (unsigned n = round ? below(3) : 0; n; n--)
                    host(w, grid[i]);
                wg_rng behind = g;
                stop[i] = go(w, &grid[i], i, cycles);
                g = behind;
            }
            ends[stop[0]]++;
            for (unsigned i = 1; i < MODES; i++)
                if (stop[i] != stop[0] || wg_grid_cycle(grid[i]) != wg_grid_cycle(grid[0]) ||
                    wg_grid_state_hash(grid[i]) != wg_grid_state_hash(grid[0]))
                    differs(w, grid[0], grid[i], seed, round, i, stop[0], stop[i]);
        }
        for (unsigned i = 1; i < MODES; i++)
            if (i != RESTORED) /* findings are not part of a snapshot */
                same_findings(w, grid[0], grid[i], seed, i);
        for (unsigned i = 0; i < MODES; i++)
            wg_grid_destroy(grid[i]);
    }
    print_message("rounds that end by cycles, done, hung: %u, %u, %u; a finding %llu times\n", ends[WG_STOP_CYCLES],
                  ends[WG_STOP_DONE], ends[WG_STOP_HUNG], (unsigned long long)most);
    free(w);
}

static void test_random_chips(void **state)
{
    chips(state, (unsigned)wg_test_first(), (unsigned)wg_test_count(wg_test_rounds(10, 10)));
}

/*
 * The host looks at a loop that never ends, and at a core that was alone at L1 when it parked: neither moves. A run in
 * pieces ends between two cycles in which loops are looked for. One loop is found where a window begins, one in a tile
 * whose core has run ahead of the window, and one is looked for while its rounds are skipped. A packet rolls back a
 * core that is alone at L1, in the cycle in which it is ticked: it must not be ticked twice.
 */
static void test_windows(void **state)
{
    static const unsigned programs[][4] = {{1018, 2014, 3066, 4063}, {1007, 2006, 3066, 4060}};
    for (unsigned i = 0; i < 4; i++)
        chips(state, programs[wg_test_arch(state)][i], 1);
}

/*
 * A core that is alone is ahead of the clock when its loop is replayed; wherever time stops, it must be exactly there.
 */
static uint64_t loop_until(wg_arch_id arch, uint64_t cycles, bool lockstep)
{
    const wg_grid_desc desc = {
        .struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_SILICON, .lockstep = lockstep};
    const unsigned y = arch == WG_ARCH_BH ? 2 : 1;
    wg_grid *chip = NULL;
    rv p = rv_at(CODE);
    rv_li(&p, T0, SHARED);
    const unsigned loop = p.n;
    for (int i = 0; i < 4; i++) {
        rv_lw(&p, A0, 64 * i, T0);
        rv_add(&p, A1, A1, A2);
    }
    rv_sw(&p, A1, 0x7F0, T0);
    rv_beq(&p, ZERO, ZERO, loop);
    assert_int_equal(wg_grid_create(&desc, &chip), WG_OK);
    assert_int_equal(wg_grid_write(chip, 1, y, p.base, p.word, 4 * p.n), WG_OK);
    assert_int_equal(wg_core_release(wg_grid_tile(chip, 1, y), WG_CORE_B, p.base), WG_OK);
    wg_grid_advance(chip, cycles);
    const uint64_t h = wg_grid_state_hash(chip);
    wg_grid_destroy(chip);
    return h;
}

static void test_stops_in_a_loop(void **state)
{
    for (uint64_t cycles = 6200; cycles < 6600; cycles += 7)
        assert_int_equal(loop_until(wg_test_arch(state), cycles, false), loop_until(wg_test_arch(state), cycles, true));
}

static const wg_test tests[] = {WG_TEST(test_stops_in_a_loop, WG_BH | WG_WH, ""),
                                WG_TEST(test_random_chips, WG_BH | WG_WH, ""),
                                WG_TEST(test_windows, WG_BH | WG_WH, "")};
WG_MAIN("chip_modes", tests)
