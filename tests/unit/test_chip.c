/* SPDX-License-Identifier: Apache-2.0 */
/* Many tiles: programs that talk over the NoCs, and the same outcome however the chip is run. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/fast.h"
#include "noc_rig.h"

static bool bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }
static wg_grid *chip(void **state) { return noc_chip(wg_test_arch(state), 0); }

/* The coordinates that software writes for a Tensix tile: direct on BH, translated on WH. */
static uint32_t place(wg_arch_id arch, unsigned x, unsigned y)
{
    return arch == WG_ARCH_BH ? at(x, y) : at(x < 5 ? x + 17 : x + 16, y < 6 ? y + 17 : y + 16);
}

static void run_to(wg_grid *g, uint64_t cycles, wg_stop expected)
{
    wg_stop stop;
    assert_int_equal(wg_grid_run(g, cycles, &stop), WG_OK);
    assert_int_equal(stop, expected);
}

/* ---- semaphores ---------------------------------------------------------------------------------------------- */

/* By convention a semaphore is the first word of 16 bytes, at offset 16 * `id` from the base (SEM-17). */
enum { SEM_BASE = 0x2000, ROUNDS = 20 };
static uint32_t semaphore(unsigned id) { return SEM_BASE + 16 * id; }

static noc_request increment(wg_arch_id arch, unsigned noc, uint32_t self, uint32_t to, uint32_t address)
{
    return (noc_request){.noc = noc,
                         .initiator = 3,
                         .ctrl = N_ATOMIC | N_ANSWER,
                         .len = 0x1000 | 31 << 2,
                         .data = 1,
                         .targ = address,
                         .ret = 4,
                         .targ_at = to,
                         .ret_at = self,
                         .tag = arch == WG_ARCH_BH ? 2u << 10 : 0};
}

/* Tile i waits for its semaphore to reach 1, 2, 3 …, then raises that of the next. */
static void ring(wg_grid *g, const unsigned at_x[4], const unsigned at_y[4])
{
    wg_arch_id arch = wg_grid_arch(g);
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = (i + 1) % 4;
        rv p = rv_at(0x8000);
        noc_request up =
            increment(arch, i & 1, place(arch, at_x[i], at_y[i]), place(arch, at_x[n], at_y[n]), semaphore(5));
        rv_li(&p, S0, 0);
        rv_li(&p, S1, ROUNDS);
        rv_li(&p, S2, semaphore(5));
        unsigned loop = p.n;
        rv_addi(&p, S0, S0, 1);
        unsigned wait = p.n;
        rv_fence(&p);
        rv_lw(&p, T0, 0, S2);
        rv_bne(&p, T0, S0, wait);
        rv_issue(&p, arch, &up);
        rv_bne(&p, S0, S1, loop);
        rv_done(&p);
        boot(g, at_x[i], at_y[i], i & 1 ? WG_CORE_NC : WG_CORE_B, &p);
    }
}

static void test_ring(void **state)
{
    static const unsigned x[4] = {1, 7, 2, 3}, y[4] = {2, 3, 9, 11};
    wg_grid *g = chip(state), *other = chip(state); /* two chips in one process */
    ring(g, x, y);
    ring(other, x, y);
    put(g, x[0], y[0], semaphore(5), 1);
    wg_grid_advance(other, 777);
    run_to(g, 1000000, WG_STOP_DONE);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(get(g, x[i], y[i], semaphore(5)), i ? ROUNDS : ROUNDS + 1);
        assert_int_equal(get(g, x[i], y[i], 4), i == 3 ? ROUNDS : ROUNDS - 1); /* the value before the last increment */
        assert_int_equal(get(other, x[i], y[i], semaphore(5)), 0);
    }
    assert_int_equal(findings_of(g), 0);
    run_to(other, 1000000, WG_STOP_HUNG); /* nobody ever starts it */
    assert_in_range(wg_grid_cycle(other), 777, 20000);
    put(other, x[0], y[0], semaphore(5), 1);
    run_to(other, 1000000, WG_STOP_DONE);
    assert_int_equal(get(other, x[3], y[3], semaphore(5)), ROUNDS);
    wg_grid_destroy(g);
    wg_grid_destroy(other);
}

/* Every tile increments one counter: none is lost. Started by one broadcast to the reset register of all tiles. */
static void test_many_senders(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_grid *g = chip(state);
    unsigned tiles = wg_grid_count(g, WG_TILE_TENSIX), each = 6;
    for (unsigned y = 0; y < wg_grid_height(g); y++)
        for (unsigned x = 0; x < wg_grid_width(g); x++) {
            if (wg_grid_kind(g, x, y) != WG_TILE_TENSIX)
                continue;
            rv p = rv_at(0); /* where B starts */
            noc_request up = increment(arch, (x + y) & 1, place(arch, x, y), place(arch, 4, 4), 0x3000);
            up.ret = 0x3104; /* not into the code */
            rv_li(&p, S0, 0);
            rv_li(&p, S1, each);
            unsigned loop = p.n;
            rv_issue(&p, arch, &up);
            rv_addi(&p, S0, S0, 1);
            rv_bne(&p, S0, S1, loop);
            rv_wait_word(&p, NIU0 + 0x10000 * up.noc + 0x200, each);
            rv_done(&p);
            assert_true(rv_load(wg_grid_tile(g, x, y), &p));
        }
    uint32_t released = get(g, 4, 4, 0xFFB121B0) & ~(UINT32_C(1) << 11);
    put(g, 1, 2, 0x1000, released);
    noc_request start = {.ctrl = N_WRITE | N_BROADCAST | N_TO_SELF | N_RESERVE,
                         .len = 4,
                         .targ = 0x1000,
                         .ret = 0xFFB121B0,
                         .targ_at = place(arch, 1, 2),
                         .ret_at = place(arch, bh(state) ? 16 : 9, 11) | place(arch, 1, bh(state) ? 2 : 1) << 12};
    issue(g, 1, 2, &start);
    run_to(g, 1000000, WG_STOP_DONE);
    assert_int_equal(get(g, 4, 4, 0x3000), tiles * each);
    assert_int_equal(counter(g, 4, 4, 0, 54) + counter(g, 4, 4, 1, 54), tiles * each);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* ---- data ---------------------------------------------------------------------------------------------------- */

/* NC copies a block from DRAM, T1 works on it, B copies it to another channel; flags in L1 order them. */
static void test_dram_to_dram(void **state)
{
    enum { BYTES = 1024, HERE = 0x10000, FLAG = 0x3000, BLOCKS = 3 };
    wg_arch_id arch = wg_test_arch(state);
    wg_grid *g = chip(state);
    uint32_t source[BLOCKS * BYTES / 4], result[BLOCKS * BYTES / 4];
    for (unsigned i = 0; i < BLOCKS * BYTES / 4; i++)
        source[i] = i * 2654435761u;
    assert_int_equal(wg_grid_write(g, 0, 0, 0x100000, source, sizeof source), WG_OK);
    uint32_t self = place(arch, 3, 4), from = bh(state) ? at(17, 12) : at(0, 0),
             to = bh(state) ? at(18, 19) : at(17, 17);
    rv nc = rv_at(0x8000), t1 = rv_at(0x9000), b = rv_at(0xA000);
    for (unsigned k = 0; k < BLOCKS; k++) {
        noc_request in = {.noc = 0,
                          .ctrl = N_READ | N_ANSWER,
                          .len = BYTES,
                          .targ = 0x100000 + k * BYTES,
                          .ret = HERE + k * BYTES,
                          .targ_at = from,
                          .ret_at = self};
        rv_issue(&nc, arch, &in);
        rv_wait_word(&nc, NIU0 + 0x208, k + 1);
        rv_store(&nc, FLAG + 32 * k, 1);

        rv_wait_word(&t1, FLAG + 32 * k, 1);
        rv_li(&t1, A0, HERE + k * BYTES);
        rv_li(&t1, A1, HERE + (k + 1) * BYTES);
        unsigned loop = t1.n;
        rv_lw(&t1, T0, 0, A0);
        rv_add(&t1, T0, T0, T0);
        rv_sw(&t1, T0, 0, A0);
        rv_addi(&t1, A0, A0, 4);
        rv_bne(&t1, A0, A1, loop);
        rv_fence(&t1);
        rv_lw(&t1, T0, -4, A0); /* WH orders stores to L1 by reading one back */
        rv_add(&t1, T0, T0, T0);
        rv_store(&t1, FLAG + 32 * k + 16, 1);

        noc_request out = {.noc = 1,
                           .initiator = 1,
                           .ctrl = N_WRITE | N_ANSWER,
                           .len = BYTES,
                           .targ = HERE + k * BYTES,
                           .ret = 0x200000 + k * BYTES,
                           .targ_at = self,
                           .ret_at = to};
        rv_wait_word(&b, FLAG + 32 * k + 16, 1);
        rv_issue(&b, arch, &out);
        rv_wait_word(&b, NIU1 + 0x204, k + 1);
    }
    rv_done(&nc);
    rv_done(&t1);
    rv_done(&b);
    boot(g, 3, 4, WG_CORE_NC, &nc);
    boot(g, 3, 4, WG_CORE_T1, &t1);
    boot(g, 3, 4, WG_CORE_B, &b);
    run_to(g, 200000, WG_STOP_DONE);
    unsigned x, y;
    assert_true(wg_grid_translate(g, 1, to & 63, to >> 6, &x, &y));
    assert_int_equal(wg_grid_kind(g, x, y), WG_TILE_DRAM);
    assert_int_equal(wg_grid_read(g, x, y, 0x200000, result, sizeof result), WG_OK);
    for (unsigned i = 0; i < BLOCKS * BYTES / 4; i++)
        assert_int_equal(result[i], source[i] * 2);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* ---- the same in every mode */

/* All tiles (or every n-th) send each other reads, writes, increments and broadcasts, forever. */
static void traffic(wg_grid *g, unsigned every, uint64_t seed)
{
    wg_arch_id arch = wg_grid_arch(g);
    wg_rng rng = {seed};
    unsigned number = 0, w = wg_grid_width(g), h = wg_grid_height(g);
    for (unsigned y = 0; y < h; y++)
        for (unsigned x = 0; x < w; x++) {
            if (wg_grid_kind(g, x, y) != WG_TILE_TENSIX || number++ % every)
                continue;
            uint32_t self = place(arch, x, y);
            rv p = rv_at(0x8000);
            unsigned loop = p.n;
            for (unsigned k = 0; k < 6; k++) {
                unsigned tx, ty;
                do {
                    tx = (unsigned)(wg_rng_next(&rng) % w);
                    ty = (unsigned)(wg_rng_next(&rng) % h);
                } while (wg_grid_kind(g, tx, ty) != WG_TILE_TENSIX);
                uint32_t to = place(arch, tx, ty), noc = (uint32_t)(wg_rng_next(&rng) & 1);
                uint32_t bytes = 16u << wg_rng_next(&rng) % 8, line = (uint32_t)(wg_rng_next(&rng) % 64) * 16;
                noc_request r = {.noc = noc,
                                 .initiator = k & 3,
                                 .targ_at = self,
                                 .ret_at = to,
                                 .tag = k << 10,
                                 .len = bytes,
                                 .targ = 0x8000 + line,
                                 .ret = 0x20000 + line};
                switch (wg_rng_next(&rng) % 5) {
                case 0: r.ctrl = N_WRITE; break;
                case 1: r.ctrl = N_WRITE | N_ANSWER; break;
                case 2:
                    r = (noc_request){.noc = noc,
                                      .initiator = k & 3,
                                      .targ_at = to,
                                      .ret_at = self,
                                      .tag = k << 10,
                                      .len = bytes,
                                      .targ = 0x20000 + line,
                                      .ret = 0x30000 + line};
                    break;
                case 3: r = increment(arch, noc, self, to, 0x20000 + line); break;
                default:
                    r.ctrl = N_WRITE | N_BROADCAST | N_RESERVE;
                    r.ret_at =
                        noc ? place(arch, 2, 3) | place(arch, 4, 5) << 12 : place(arch, 4, 5) | place(arch, 2, 3) << 12;
                    break;
                }
                rv_issue(&p, arch, &r);
            }
            rv_beq(&p, ZERO, ZERO, loop);
            boot(g, x, y, (wg_core_id)(number % 5), &p);
        }
}

static void watch(void *user, const wg_event *e)
{
    uint64_t *h = user;
    *h = (*h ^ (e->cycle + e->a * 31 + e->kind)) * UINT64_C(0x9E3779B97F4A7C15);
}

static void test_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 4};
    uint64_t expected[2] = {0};
    for (unsigned i = 0; i < 4; i++) {
        wg_grid *g = noc_chip(wg_test_arch(state), i < 3 ? threads[i] : 2);
        uint64_t events = 0;
        traffic(g, 4, 7);
        if (i == 3) /* observers change nothing */
            assert_int_equal(wg_observe(wg_grid_tile(g, 3, 4), WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED),
                                        watch, &events, NULL),
                             WG_OK);
        for (unsigned k = 0; k < 2; k++) {
            wg_grid_advance(g, WG_ADDRESS_SANITIZER ? 2000 : 10000);
            uint64_t hash = wg_grid_state_hash(g);
            if (i == 0)
                expected[k] = hash;
            assert_true(hash == expected[k]);
        }
        assert_int_equal(events != 0, i == 3);
        assert_int_equal(findings_of(g), 0);
        wg_grid_destroy(g);
    }
}

/* A tile that reads and writes DRAM forever. */
static void dram_traffic(wg_grid *g, unsigned x, unsigned y)
{
    wg_arch_id arch = wg_grid_arch(g);
    uint32_t self = place(arch, x, y), dram = arch == WG_ARCH_BH ? at(0, 0) : place(arch, 0, 0);
    rv p = rv_at(0x8000);
    unsigned loop = p.n;
    noc_request r = {.initiator = 0,
                     .ctrl = N_WRITE | N_ANSWER,
                     .targ_at = self,
                     .ret_at = dram,
                     .len = 512,
                     .targ = 0x8000,
                     .ret = 0x30000};
    rv_issue(&p, arch, &r);
    r = (noc_request){.initiator = 1, .targ_at = dram, .ret_at = self, .len = 1024, .targ = 0x30000, .ret = 0x40000};
    rv_issue(&p, arch, &r);
    rv_beq(&p, ZERO, ZERO, loop);
    boot(g, x, y, WG_CORE_B, &p);
}

/* A snapshot taken during traffic continues identically, here and in another chip. */
static void test_snapshot(void **state)
{
    const unsigned part = 5000; /* cycles: every participating tile exists by then */
    wg_grid *g = noc_chip(wg_test_arch(state), 0), *other = noc_chip(wg_test_arch(state), 0);
    traffic(g, 9, 5);
    dram_traffic(g, 4, 3);
    wg_grid_advance(g, part);
    size_t bytes = wg_grid_snapshot_size(g);
    char *snapshot = malloc(bytes);
    assert_non_null(snapshot);
    assert_int_equal(wg_grid_snapshot(g, snapshot, bytes - 1), WG_ERR_ARGUMENT);
    assert_int_equal(wg_grid_snapshot(g, snapshot, bytes), WG_OK);
    uint64_t then = wg_grid_state_hash(g);
    wg_grid_advance(g, part);
    uint64_t expected = wg_grid_state_hash(g);
    dram_traffic(other, 2, 2); /* a tile that must not be in the snapshot */
    wg_grid_advance(other, 777);
    for (unsigned i = 0; i < 2; i++) {
        wg_grid *to = i ? g : other;
        assert_int_equal(wg_grid_restore(to, snapshot, bytes), WG_OK);
        assert_int_equal(wg_grid_cycle(to), part);
        if (i) /* the other has one more tile */
            assert_true(wg_grid_state_hash(to) == then);
        wg_grid_advance(to, part);
        if (i)
            assert_true(wg_grid_state_hash(to) == expected);
        else
            for (unsigned y = 0; y < wg_grid_height(g); y++)
                for (unsigned x = 0; x < wg_grid_width(g); x++)
                    if (wg_grid_peek(g, x, y))
                        assert_true(wg_state_hash(wg_grid_peek(g, x, y)) == wg_state_hash(wg_grid_peek(other, x, y)));
    }
    snapshot[bytes / 2] ^= 1;
    assert_int_equal(wg_grid_restore(g, snapshot, bytes), WG_ERR_SNAPSHOT);
    assert_int_equal(wg_grid_restore(g, snapshot, 20), WG_ERR_SNAPSHOT);
    assert_true(wg_grid_state_hash(g) == expected);
    free(snapshot);
    wg_grid_destroy(g);
    wg_grid_destroy(other);
}

/* One call of N cycles, N calls of one, calls of any length, every agent ticked: one outcome. */
static void test_windows(void **state)
{
    enum { CYCLES = 3000 };
    uint64_t expected = 0;
    for (unsigned i = 0; i < 4; i++) {
        wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = i == 3};
        wg_grid *g = NULL;
        assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
        traffic(g, 7, 11);
        if (i == 0 || i == 3)
            wg_grid_advance(g, CYCLES);
        for (unsigned done = 0, step = 1; i % 3 && done < CYCLES; done += step) {
            step = i == 1 ? 1 : step * 5 % 83;
            step = done + step > CYCLES ? CYCLES - done : step;
            wg_grid_advance(g, step);
        }
        uint64_t hash = wg_grid_state_hash(g);
        if (i == 0)
            expected = hash;
        assert_true(hash == expected);
        wg_grid_destroy(g);
    }
}

/*
 * Tiles whose only active core loops through L1 (one over fixed addresses, one copying), and one that now and then
 * writes a line among theirs: work done ahead of the clock is rolled back to that cycle.
 */
static void test_loops_disturbed(void **state)
{
    enum { CYCLES = 6000 };
    wg_arch_id arch = wg_test_arch(state);
    uint64_t expected = 0;
    for (unsigned i = 0; i < 3; i++) {
        wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .lockstep = i == 2};
        wg_grid *g = NULL;
        assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
        rv stands = rv_at(0x8000), copies = rv_at(0x8000), sends = rv_at(0x8000);
        rv_li(&stands, A1, 0x20000);
        unsigned label = stands.n;
        rv_lw(&stands, A2, 0, A1);
        rv_lw(&stands, A3, 4, A1);
        rv_add(&stands, A2, A2, A3);
        rv_sw(&stands, A2, 8, A1);
        rv_beq(&stands, ZERO, ZERO, label);
        unsigned outer = copies.n;
        rv_li(&copies, A1, 0x20000);
        rv_li(&copies, A2, 0x20800);
        rv_li(&copies, A3, 0x20400);
        label = copies.n;
        for (int k = 0; k < 4; k++)
            rv_lw(&copies, A4 + (unsigned)k, k * 4, A1);
        for (int k = 0; k < 4; k++)
            rv_sw(&copies, A4 + (unsigned)k, k * 4, A2);
        rv_addi(&copies, A1, A1, 16);
        rv_addi(&copies, A2, A2, 16);
        rv_bne(&copies, A1, A3, label);
        rv_beq(&copies, ZERO, ZERO, outer);
        boot(g, 2, 3, WG_CORE_B, &stands);
        boot(g, 4, 3, WG_CORE_T1, &copies);
        outer = sends.n;
        for (unsigned k = 0; k < 4; k++) {
            noc_request r = increment(arch, k & 1, place(arch, 3, 4), k < 2 ? place(arch, 2, 3) : place(arch, 4, 3),
                                      k < 2 ? 0x20000 : 0x20100 + k * 64);
            rv_issue(&sends, arch, &r);
            rv_li(&sends, A0, 190 + 53 * k);
            label = sends.n;
            rv_addi(&sends, A0, A0, -1);
            rv_bne(&sends, A0, ZERO, label);
        }
        rv_beq(&sends, ZERO, ZERO, outer);
        boot(g, 3, 4, WG_CORE_B, &sends);
        for (unsigned done = 0, step = 1; done < CYCLES; done += step) {
            step = i == 1 ? step * 7 % 1931 + 1 : CYCLES;
            step = done + step > CYCLES ? CYCLES - done : step;
            wg_grid_advance(g, step);
        }
        uint64_t hash = wg_grid_state_hash(g);
        if (i == 0)
            expected = hash;
        assert_true(hash == expected);
        wg_grid_destroy(g);
    }
}

static void test_perturbed(void **state)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < 3; i++) {
        wg_grid_desc desc = {
            .struct_size = sizeof desc, .arch = wg_test_arch(state), .seed = i == 2 ? 6 : 5, .threads = 1 + i};
        wg_grid *g = NULL;
        assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
        traffic(g, 5, 3);
        wg_grid_advance(g, 4000);
        uint64_t hash = wg_grid_state_hash(g);
        if (i == 0)
            first = hash;
        assert_int_equal(hash == first, i < 2);
        wg_grid_destroy(g);
    }
}

#if !WG_THREAD_SANITIZER /* which supports no new threads in the forked child of a process with threads */
/* A child has none of its parent's threads and makes its own. */
static void test_fork(void **state)
{
    wg_grid *g = noc_chip(wg_test_arch(state), 2);
    traffic(g, 3, 5);
    wg_grid_advance(g, 2000);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    wg_grid_advance(g, 2000);
    uint64_t hash = wg_grid_state_hash(g), theirs = 0;
    if (!child) {
        ssize_t wrote = write(ends[1], &hash, sizeof hash);
        wg_grid_destroy(g);
        _exit(wrote != sizeof hash);
    }
    close(ends[1]); /* a crashed child writes nothing */
    assert_int_equal(read(ends[0], &theirs, sizeof theirs), sizeof theirs);
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(hash == theirs);
    close(ends[0]);
    wg_grid_destroy(g);
}
#endif

/* ---- hangs ---- */

static void ignore(void *user, const wg_event *e) { (void)user, (void)e; }

typedef struct ended {
    wg_stop stop;
    uint64_t cycle, hash;
} ended;

/* Two tiles that poll forever (one stores, too), one that has an end: in each mode. */
static ended hangs(wg_arch_id arch, unsigned mode, unsigned late, uint64_t limit)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .threads = mode == 3 ? 2 : 1, .lockstep = mode == 2};
    wg_grid *g = NULL;
    ended end;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    rv waits = rv_at(0x8000), stores = rv_at(0x8000), ends = rv_at(0x8000);
    rv_wait_word(&waits, 0x3000, 1);
    rv_done(&waits);
    rv_li(&stores, S0, 0x3000);
    unsigned top = stores.n;
    rv_fence(&stores);
    rv_sw(&stores, S0, 16, S0);
    rv_lw(&stores, T0, 0, S0);
    rv_beq(&stores, T0, ZERO, top);
    rv_done(&stores);
    rv_li(&ends, T0, late);
    top = ends.n;
    rv_addi(&ends, T0, T0, -1);
    rv_bne(&ends, T0, ZERO, top);
    rv_done(&ends);
    boot(g, 2, 3, WG_CORE_B, &waits);
    boot(g, 4, 3, WG_CORE_NC, &stores);
    boot(g, 3, 4, WG_CORE_T1, &ends);
    if (mode == 1)
        assert_int_equal(wg_observe(wg_grid_tile(g, 2, 3), ~UINT64_C(0), ignore, NULL, NULL), WG_OK);
    assert_int_equal(wg_grid_run(g, limit, &end.stop), WG_OK);
    end.cycle = wg_grid_cycle(g);
    end.hash = wg_grid_state_hash(g);
    wg_grid_destroy(g);
    return end;
}

static void test_hangs_alike(void **state)
{
    static const unsigned late[] = {10, 3000, 3071, 4300};
    for (unsigned k = 0; k < 4; k++) {
        ended first = hangs(wg_test_arch(state), 0, late[k], 100000);
        assert_int_equal(first.stop, WG_STOP_HUNG);
        assert_true(first.cycle < 20000);
        for (unsigned mode = 1; mode < 4; mode++) {
            ended end = hangs(wg_test_arch(state), mode, late[k], 100000);
            if (end.stop != first.stop || end.cycle != first.cycle || end.hash != first.hash)
                fail_msg("mode %u, late %u: ends in %llu (%d), not %llu (%d)", mode, late[k],
                         (unsigned long long)end.cycle, (int)end.stop, (unsigned long long)first.cycle,
                         (int)first.stop);
        }
        for (unsigned mode = 0; mode < 3; mode++)
            assert_int_equal(hangs(wg_test_arch(state), mode, late[k], first.cycle).stop, WG_STOP_CYCLES);
    }
}

/*
 * The word that a tile polls for arrives while its polling loop is being recognised: in whichever cycle that is, the
 * tile continues.
 */
static void test_comes_at_last(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned mode = 0; mode < 2; mode++)
        for (unsigned late = 0; late < 300; late += (1 + mode * 16) * (WG_ADDRESS_SANITIZER ? 4 : 1)) {
            wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .lockstep = mode == 1};
            wg_grid *g = NULL;
            assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
            rv waits = rv_at(0x8000), sends = rv_at(0x8000);
            rv_wait_word(&waits, 0x3000, 1);
            rv_done(&waits);
            rv_li(&sends, T0, (arch == WG_ARCH_BH ? 2480 : 1350) + late / 2);
            unsigned top = sends.n;
            rv_addi(&sends, T0, T0, -1);
            rv_bne(&sends, T0, ZERO, top);
            if (late & 1)
                rv_nop(&sends);
            noc_request up = increment(arch, 0, place(arch, 3, 4), place(arch, 2, 3), 0x3000);
            up.ctrl &= ~(uint32_t)N_ANSWER; /* no answer: nothing else happens afterwards */
            rv_issue(&sends, arch, &up);
            rv_done(&sends);
            boot(g, 2, 3, WG_CORE_B, &waits);
            boot(g, 3, 4, WG_CORE_B, &sends);
            wg_stop stop;
            assert_int_equal(wg_grid_run(g, 1000000, &stop), WG_OK);
            if (stop != WG_STOP_DONE)
                fail_msg("mode %u, late %u: %d in %llu", mode, late, (int)stop, (unsigned long long)wg_grid_cycle(g));
            wg_grid_destroy(g);
        }
}

/*
 * Tiles request so much from a DRAM channel that each is found to poll its NIU's counter of answers until the last one
 * arrives. In whichever cycle that is, nobody hangs.
 */
static void test_answer_at_last(void **state)
{
    enum { TILES = 3, READS = 24, BYTES = 8192 };
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned mode = 0; mode < 3; mode++)
        for (unsigned late = 0; late < 80; late += (mode == 1 ? 20u : 1u) * (WG_ADDRESS_SANITIZER ? 8u : 1u)) {
            wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .lockstep = mode == 1};
            wg_grid *g = NULL;
            wg_stop stop;
            assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
            for (unsigned i = 0; i < TILES; i++) {
                rv p = rv_at(0x8000);
                noc_request read = {.ctrl = N_READ | N_ANSWER,
                                    .len = BYTES,
                                    .targ = 0x100000 * i,
                                    .ret = 0x10000,
                                    .targ_at = arch == WG_ARCH_BH ? at(17, 14) : at(0, 11),
                                    .ret_at = place(arch, 2 + i, 3)};
                rv_li(&p, T0, 1 + late * (i + 1));
                unsigned top = p.n;
                rv_addi(&p, T0, T0, -1);
                rv_bne(&p, T0, ZERO, top);
                rv_li(&p, S0, READS);
                top = p.n;
                rv_issue(&p, arch, &read);
                rv_addi(&p, S0, S0, -1);
                rv_bne(&p, S0, ZERO, top);
                rv_wait_word(&p, NIU0 + 0x208, READS);
                rv_done(&p);
                boot(g, 2 + i, 3, WG_CORE_B, &p);
            }
            if (mode == 2)
                assert_int_equal(wg_observe(wg_grid_tile(g, 2, 3), ~UINT64_C(0), ignore, NULL, NULL), WG_OK);
            assert_int_equal(wg_grid_run(g, 1000000, &stop), WG_OK);
            if (stop != WG_STOP_DONE)
                fail_msg("mode %u, late %u: %d in %llu", mode, late, (int)stop, (unsigned long long)wg_grid_cycle(g));
            wg_grid_destroy(g);
        }
}

/* ---- idle -------------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* processor time: the host may be busy otherwise */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#if !WG_THREAD_SANITIZER && !WG_ADDRESS_SANITIZER
/* Tiles that do nothing take little memory, in a later chip of the process as in the first. */
static void test_idle_tiles(void **state)
{
    for (unsigned pass = 0; pass < 3; pass++) {
        uint64_t before = resident(), tiles = 0;
        wg_grid *g = chip(state);
        for (unsigned y = 0; y < wg_grid_height(g); y++)
            for (unsigned x = 0; x < wg_grid_width(g); x++)
                if (wg_grid_kind(g, x, y) == WG_TILE_TENSIX) {
                    assert_non_null(wg_grid_tile(g, x, y));
                    tiles++;
                }
        const uint64_t each = (resident() - before) / tiles;
        if (resident() > before && each > 384 * 1024)
            fail_msg("chip %u: %llu bytes for a tile", pass, (unsigned long long)each);
        wg_grid_destroy(g);
    }
}
#endif

/*
 * All tiles exist and poll: this takes little memory, and time passes at once (or, without shortcuts, the run is
 * short).
 */
static void test_at_rest(void **state)
{
    const uint64_t cycles = WG_FAST ? UINT64_C(10000000000) : 10000;
    double began = seconds();
    uint64_t before = resident();
    wg_grid *g = chip(state);
    rv p = rv_at(0x8000);
    rv_wait_word(&p, 0x3000, 1);
    rv_store(&p, 0x3010, 77);
    rv_done(&p);
    for (unsigned y = 0; y < wg_grid_height(g); y++)
        for (unsigned x = 0; x < wg_grid_width(g); x++)
            if (wg_grid_kind(g, x, y) == WG_TILE_TENSIX)
                boot(g, x, y, WG_CORE_NC, &p);
    wg_grid_advance(g, cycles);
    assert_int_equal(wg_grid_cycle(g), cycles);
    assert_true(!WG_FAST || WG_THREAD_SANITIZER || seconds() - began < 2);
    assert_true(WG_THREAD_SANITIZER || resident() < before + (UINT64_C(400) << 20));
    put(g, 3, 3, 0x3000, 1);
    wg_grid_advance(g, 1000);
    assert_int_equal(get(g, 3, 3, 0x3010), 77);
    assert_int_equal(get(g, 4, 4, 0x3010), 0);
    run_to(g, 100000, WG_STOP_HUNG);
    wg_grid_destroy(g);
}

#if WG_FAST
/* A host that reads one tile every few cycles does not force the loops of other tiles to run round by round. */
static void test_short_stretches(void **state)
{
    enum { CYCLES = 50000, STRETCH = 10 };
    wg_grid *g = chip(state);
    rv waits = rv_at(0x8000), counts = rv_at(0x8000);
    rv_wait_word(&waits, 0x3000, 1);
    rv_done(&waits);
    unsigned top = counts.n;
    rv_addi(&counts, T0, T0, 1);
    rv_beq(&counts, ZERO, ZERO, top);
    boot(g, 2, 3, WG_CORE_B, &waits);
    boot(g, 4, 3, WG_CORE_B, &counts);
    for (unsigned i = 0; i < CYCLES / STRETCH; i++) {
        run_to(g, STRETCH, WG_STOP_CYCLES);
        assert_int_equal(get(g, 4, 3, 0x3000), 0);
    }
    uint64_t skipped = 0;
    assert_int_equal(get(g, 2, 3, 0x3000), 0); /* advances the tile to the present */
    for (unsigned i = 0; wg_shortcut_name(i); i++)
        if (strcmp(wg_shortcut_name(i), "polls") == 0)
            skipped = wg_shortcut_cycles(wg_grid_tile(g, 2, 3), i);
    if (skipped < CYCLES / 10 * 8)
        fail_msg("only %llu of %d cycles were skipped", (unsigned long long)skipped, CYCLES);
    wg_grid_destroy(g);
}
#endif

static const wg_test tests[] = {
    WG_TEST(test_ring, WG_BH | WG_WH, "SEM-13 SEM-14 SEM-17"),
    WG_TEST(test_many_senders, WG_BH | WG_WH, "SEM-13 SEM-14"),
    WG_TEST(test_dram_to_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_threads, WG_BH | WG_WH, ""),
    WG_TEST(test_snapshot, WG_BH | WG_WH, ""),
    WG_TEST(test_windows, WG_BH | WG_WH, ""),
    WG_TEST(test_loops_disturbed, WG_BH | WG_WH, ""),
    WG_TEST(test_perturbed, WG_BH | WG_WH, ""),
#if !WG_THREAD_SANITIZER
    WG_TEST(test_fork, WG_BH | WG_WH, ""),
#endif
    WG_TEST(test_hangs_alike, WG_BH | WG_WH, ""),
    WG_TEST(test_answer_at_last, WG_BH | WG_WH, ""),
    WG_TEST(test_comes_at_last, WG_BH | WG_WH, ""),
#if !WG_THREAD_SANITIZER && !WG_ADDRESS_SANITIZER
    WG_TEST(test_idle_tiles, WG_BH | WG_WH, ""),
#endif
    WG_TEST(test_at_rest, WG_BH | WG_WH, ""),
#if WG_FAST
    WG_TEST(test_short_stretches, WG_BH | WG_WH, ""),
#endif
};
WG_MAIN("chip", tests)
