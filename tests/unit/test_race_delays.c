/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays against the race detector: random programs of the Matrix, Vector, Scalar and Configuration Units. Where the
 * detector finds no race, every delay gives the same result; another result would mean a delay that hardware cannot
 * have, or a race that the detector misses.
 */
#include "wgtest.h"

#include <stdio.h>

#include "explain/race.h"
#include "isa/asm.h"

enum { PROGRAMS = 400, SOAK_PROGRAMS = 20000, SEEDS = 10, MOST = 14 };

static uint32_t word_of(wg_arch_id arch, const char *text)
{
    uint32_t word = 0;
    wg_asm_error error;
    if (wg_assemble_line(arch, text, strlen(text), &word, &error) != WG_ASM_OK)
        fail_msg("%s: %s", text, error.message);
    return word;
}

typedef struct program {
    uint32_t word[WG_THREADS][MOST];
    char text[WG_THREADS][MOST][64];
    unsigned n[WG_THREADS];
} program;

static void put(program *p, wg_arch_id arch, unsigned thread, const char *text)
{
    if (p->n[thread] == MOST)
        return;
    snprintf(p->text[thread][p->n[thread]], sizeof p->text[thread][0], "%s", text);
    p->word[thread][p->n[thread]++] = word_of(arch, text);
}

static void draw_math(wg_rng *rng, wg_arch_id arch, program *p, unsigned thread)
{
    unsigned a = wg_rng_below(rng, 2) * 8, b = wg_rng_below(rng, 3) * 16, l = wg_rng_below(rng, 3);
    char text[64];
    switch (wg_rng_below(rng, 16)) {
    case 0:
    case 1: snprintf(text, sizeof text, "movd2b 0, %u, 0, 0, %u", a, b); break;
    case 2: snprintf(text, sizeof text, "movd2a 0, %u, 0, 0, %u", a, b); break;
    case 3: snprintf(text, sizeof text, "movb2a %u, 0, 0, %u", a, a); break;
    case 4:
    case 5: snprintf(text, sizeof text, "mova2d 0, %u, 0, 2, %u", a, b); break;
    case 6: snprintf(text, sizeof text, "movb2d 0, %u, 0, %u, %u", a, arch == WG_ARCH_BH ? 0 : 4, b); break;
    case 7: snprintf(text, sizeof text, "zerosrc 0, 0, 1, %u", 1 + wg_rng_below(rng, 3)); break;
    case 8: snprintf(text, sizeof text, "shiftxb 0, 0, %u", a); break;
    case 9: snprintf(text, sizeof text, "trnspsrcb"); break;
    case 10: snprintf(text, sizeof text, "sfpload %u, 2, 0, %u", l, b); break;
    case 11: snprintf(text, sizeof text, "sfpstore %u, 2, 0, %u", l, b); break;
    case 12: snprintf(text, sizeof text, "sfploadi %u, 0, %u", l, 0x3F80 + wg_rng_below(rng, 64)); break;
    case 13: snprintf(text, sizeof text, "stallwait STALL_MATH|STALL_SFPU, MATH|WAIT_SFPU"); break;
    default: snprintf(text, sizeof text, "nop"); break;
    }
    put(p, arch, thread, text);
}

static void draw_control(wg_rng *rng, wg_arch_id arch, program *p, unsigned thread)
{
    unsigned g = 20 + wg_rng_below(rng, 3), h = 20 + wg_rng_below(rng, 3), n = wg_rng_below(rng, 250);
    char text[64];
    switch (wg_rng_below(rng, 10)) {
    case 0:
    case 1: snprintf(text, sizeof text, "setdmareg 0, %u, 0, %u", n, 2 * g); break;
    case 2: snprintf(text, sizeof text, "adddmareg 0, %u, %u, %u", g, h, g); break;
    case 3: snprintf(text, sizeof text, "muldmareg 0, %u, %u, %u", g, h, g); break;
    case 4: snprintf(text, sizeof text, "wrcfg %u, 0, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", g); break;
    case 5: snprintf(text, sizeof text, "rmwcib1 255, %u, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", n); break;
    case 6: snprintf(text, sizeof text, "rdcfg %u, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", g); break;
    case 7: snprintf(text, sizeof text, "storeind 1, 1, 0, 2, 0, %u, 4", g); break;
    case 8: snprintf(text, sizeof text, "loadind 1, 2, 0, %u, 4", g); break;
    default:
        snprintf(text, sizeof text,
                 arch == WG_ARCH_BH ? "stallwait STALL_THREAD, THCON|CFGEXU" : "stallwait STALL_THREAD, THCON");
        break;
    }
    put(p, arch, thread, text);
}

static uint64_t add(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t peek_all(wg_device *dev, wg_space space, uint32_t count, uint64_t h)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = 0;
        assert_int_equal(wg_peek(dev, space, i, &v), WG_OK);
        h = add(h, v);
    }
    return h;
}

/* Returns a hash of the result; *races: the number of reports other than notes. */
static uint64_t run(const program *p, wg_arch_id arch, uint64_t seed, size_t *races)
{
    wg_device *dev;
    assert_int_equal(
        wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = arch, .seed = seed}, &dev), WG_OK);
    for (unsigned bank = 0; bank < 4; bank++)
        assert_int_equal(wg_poke(dev, WG_SPACE_SRC_OWNER, bank, 1), WG_OK);
    for (unsigned i = 0; i < 64 * 16; i++) {
        wg_poke(dev, WG_SPACE_DST, i, 0x80 + i);
        wg_poke(dev, WG_SPACE_SRCA, i, 0x1000 + 8 * i);
        wg_poke(dev, WG_SPACE_SRCB, i, 0x2000 + 8 * i);
    }
    for (unsigned i = 0; i < 8 * 32; i++)
        wg_poke(dev, WG_SPACE_LREG, i, 0x3F800000 + (i << 12));
    for (unsigned t = 0; t < WG_THREADS; t++) {
        wg_poke(dev, WG_SPACE_GPR, t * 64 + 4, 0x300 + t);
        for (unsigned i = 20; i < 24; i++)
            wg_poke(dev, WG_SPACE_GPR, t * 64 + i, 100 * t + i);
    }
    wg_races *r = races ? wg_races_new(arch, NULL, NULL) : NULL;
    if (r)
        assert_int_equal(wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r, NULL), WG_OK);
    unsigned next[WG_THREADS] = {0};
    for (bool more = true; more;) {
        more = false;
        for (unsigned t = 0; t < WG_THREADS; t++) {
            if (next[t] < p->n[t] && wg_push(dev, t, p->word[t][next[t]]) == WG_OK)
                next[t]++;
            more |= next[t] < p->n[t];
        }
        wg_advance(dev, 1);
    }
    wg_advance(dev, 8000);
    for (size_t i = 0; r && i < wg_races_count(r); i++)
        *races += wg_race_severity(wg_races_at(r, i)->kind) > WG_SEVERITY_NOTE;
    uint64_t h = peek_all(dev, WG_SPACE_DST, 64 * 16, 1);
    h = peek_all(dev, WG_SPACE_SRCA, 64 * 16, h);
    h = peek_all(dev, WG_SPACE_SRCB, 64 * 16, h);
    h = peek_all(dev, WG_SPACE_LREG, 8 * 32, h);
    h = peek_all(dev, WG_SPACE_GPR, 3 * 64, h);
    h = peek_all(dev, WG_SPACE_CONFIG, 180, h);
    uint32_t l1[16];
    assert_int_equal(wg_read(dev, 0x3000, l1, sizeof l1), WG_OK);
    for (unsigned i = 0; i < 16; i++)
        h = add(h, l1[i]);
    wg_destroy(dev);
    wg_races_free(r);
    return h;
}

static const char *shown(const program *p)
{
    static char room[4096];
    size_t used = 0;
    for (unsigned t = 0; t < WG_THREADS; t++)
        for (unsigned i = 0; i < p->n[t]; i++)
            used += (size_t)snprintf(room + used, sizeof room - used, "\n  T%u: %s", t, p->text[t][i]);
    return room;
}

static void compare(void **state, void (*draw)(wg_rng *, wg_arch_id, program *, unsigned), unsigned first,
                    unsigned threads)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {arch == WG_ARCH_BH ? 21 : 22};
    unsigned programs = (unsigned)wg_test_rounds(PROGRAMS, SOAK_PROGRAMS), ordered = 0;
    for (unsigned n = 0; n < programs; n++) {
        wg_test_round("program", n);
        program p = {0};
        for (unsigned i = 0, count = 3 + wg_rng_below(&rng, MOST - 3); i < count; i++)
            draw(&rng, arch, &p, first + wg_rng_below(&rng, threads));
        size_t races = 0;
        uint64_t alone = run(&p, arch, 0, &races);
        if (races)
            continue;
        ordered++;
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            if (run(&p, arch, seed + n * SEEDS, NULL) != alone)
                fail_msg("program %u, seed %llu: another result, and no race%s", n,
                         (unsigned long long)(seed + n * SEEDS), shown(&p));
    }
    assert_true(ordered > programs / 20);
}

static void test_math(void **state) { compare(state, draw_math, 1, 1); }
static void test_control(void **state) { compare(state, draw_control, 0, 2); }

static const wg_test tests[] = {
    WG_TEST(test_math, WG_BH | WG_WH, ""),
    WG_TEST(test_control, WG_BH | WG_WH, ""),
};
WG_MAIN("race_delays", tests)
