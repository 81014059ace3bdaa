/* SPDX-License-Identifier: Apache-2.0 */
/* Touches: each unit reports what its instruction reads and writes, in the cycle of the access, and only if watched. */
#include "wgtest.h"

#include <stdio.h>

#include "isa/asm.h"
#include "isa/config_fields.h"
#include "rvasm.h"

enum { MOST = 4096 };
typedef struct seen {
    wg_event e[MOST];
    unsigned n;
} seen;

static void see(void *user, const wg_event *e)
{
    seen *s = user;
    if (s->n < MOST)
        s->e[s->n++] = *e;
}

static uint32_t word_of(wg_arch_id arch, const char *text)
{
    uint32_t word = 0;
    wg_asm_error error;
    if (wg_assemble_line(arch, text, strlen(text), &word, &error) != WG_ASM_OK)
        fail_msg("%s: %s", text, error.message);
    return word;
}

static wg_device *device(wg_arch_id arch)
{
    wg_device *dev;
    assert_int_equal(wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = arch}, &dev), WG_OK);
    return dev;
}

/* Pushes the lines to thread 1, one per cycle, and runs long enough. */
static void run(wg_device *dev, wg_arch_id arch, const char *const *line, seen *s)
{
    s->n = 0;
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_TOUCH), see, s, NULL), WG_OK);
    for (; *line; line++) {
        assert_int_equal(wg_push(dev, 1, word_of(arch, *line)), WG_OK);
        wg_advance(dev, 1);
    }
    wg_advance(dev, 200);
}

static const wg_event *find(const seen *s, unsigned agent, unsigned space, unsigned how, uint64_t first, uint64_t count)
{
    for (unsigned i = 0; i < s->n; i++) {
        const wg_event *e = &s->e[i];
        if (e->agent == agent && e->a == space && (e->how & how) == how && e->b == first && e->c == count)
            return e;
    }
    return NULL;
}

static void test_units(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static const char *const program[] = {"setdmareg 0, 7, 0, 9", /* high half of GPR 4 */
                                          "wrcfg 4, 0, 70",       /* GPR 4 into a word */
                                          "setc16 1, 3",
                                          "setadcxx 1, 15, 0",
                                          "zeroacc 3, 0, 0, 0, 0",
                                          "sfploadi 2, 0, 5",
                                          "seminit 3, 1, 4",
                                          "sempost 4",
                                          NULL};
    static const char *const wh_program[] = {"setdmareg 0, 7, 0, 9", "wrcfg 4, 0, 70",  "setc16 1, 3",
                                             "setadcxx 1, 15, 0",    "zeroacc 3, 0, 0", "sfploadi 2, 0, 5",
                                             "seminit 3, 1, 4",      "sempost 4",       NULL};
    wg_device *dev = device(arch);
    seen *s = calloc(1, sizeof *s);
    run(dev, arch, arch == WG_ARCH_BH ? program : wh_program, s);
    const wg_event *e = find(s, WG_AGENT_SCALAR, WG_TOUCH_GPR, WG_TOUCH_WRITE, 64 * 2 + 9, 1);
    assert_non_null(e);
    assert_int_equal(e->thread, 1);
    assert_int_equal(e->id, 1);
    assert_non_null(find(s, WG_AGENT_CONFIG, WG_TOUCH_GPR, WG_TOUCH_READ, (64 + 4) * 2, 2));
    e = find(s, WG_AGENT_CONFIG, WG_TOUCH_CONFIG, WG_TOUCH_WRITE, 70, UINT32_MAX);
    assert_non_null(e);
    assert_int_equal(e->phase, WG_PHASE_COMPLETIONS);
    assert_non_null(find(s, WG_AGENT_CONFIG, WG_TOUCH_THREAD_CONFIG, WG_TOUCH_WRITE, 256 + 1, 0xFFFF));
    assert_non_null(find(s, WG_AGENT_MISC, WG_TOUCH_ADC, WG_TOUCH_WRITE, ((1 * 3 + 0) * 2 + 1) * 4, 1));
    assert_non_null(find(s, WG_AGENT_MATRIX, WG_TOUCH_DST, WG_TOUCH_WRITE, 0, 1024));
    assert_non_null(find(s, WG_AGENT_VECTOR, WG_TOUCH_LREG, WG_TOUCH_WRITE, 0, 1u << 2));
    assert_non_null(find(s, WG_AGENT_SYNC, WG_TOUCH_SEM_VALUE, WG_TOUCH_INIT | WG_TOUCH_WRITE, 0, 4));
    assert_non_null(find(s, WG_AGENT_SYNC, WG_TOUCH_SEM_MAX, WG_TOUCH_INIT | WG_TOUCH_WRITE, 0, 4));
    assert_non_null(find(s, WG_AGENT_SYNC, WG_TOUCH_SEM_VALUE, WG_TOUCH_POST, 0, 4));
    wg_destroy(dev);
    free(s);
}

/* RMWCIB touches the bits of its mask, not the word; a wide WRCFG four words. */
static void test_config_bits(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static const char *const program[] = {"rmwcib1 0x30, 0x10, 71", "wrcfg 4, 1, 76", NULL};
    wg_device *dev = device(arch);
    seen *s = calloc(1, sizeof *s);
    run(dev, arch, program, s);
    assert_non_null(find(s, WG_AGENT_CONFIG, WG_TOUCH_CONFIG, WG_TOUCH_WRITE, 71, 0x3000));
    for (unsigned i = 0; i < 4; i++)
        assert_non_null(find(s, WG_AGENT_CONFIG, WG_TOUCH_CONFIG, WG_TOUCH_WRITE, 76 + i, UINT32_MAX));
    wg_destroy(dev);
    free(s);
}

/* A load's result arrives late; its request touches L1 when it arrives there. */
static void test_scalar_memory(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static const char *const program[] = {"setdmareg 0, 0x200, 0, 4", "setdmareg 0, 0, 0, 5", "loadind 1, 0, 0, 8, 2",
                                          "storeind 1, 1, 0, 0, 0, 8, 2", NULL};
    wg_device *dev = device(arch);
    seen *s = calloc(1, sizeof *s);
    run(dev, arch, program, s);
    const wg_event *read = find(s, WG_AGENT_SCALAR, WG_TOUCH_L1, WG_TOUCH_READ | WG_TOUCH_LATE, 0x2000, 4);
    const wg_event *result = find(s, WG_AGENT_SCALAR, WG_TOUCH_GPR, WG_TOUCH_WRITE | WG_TOUCH_LATE, (64 + 8) * 2, 2);
    assert_non_null(read);
    assert_non_null(result);
    assert_true(result->cycle > read->cycle);
    wg_destroy(dev);
    free(s);
}

/* A core's accesses, by byte; the instruction that uses a load's result consumes it. */
static void test_core(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    rv p = rv_at(0x1000);
    rv_lui(&p, T0, 0x3000);
    rv_addi(&p, T1, ZERO, 77);
    rv_word(&p, rv_s(5, T1, T0, 0, 0x23)); /* sb */
    rv_sw(&p, T1, 8, T0);
    rv_fence(&p);
    rv_lw(&p, T2, 8, T0);
    rv_nop(&p);
    rv_add(&p, A0, T2, T2);
    rv_done(&p);
    wg_device *dev = device(arch);
    seen *s = calloc(1, sizeof *s), *c = calloc(1, sizeof *c);
    assert_int_equal(wg_write(dev, 0x1000, p.word, p.n * 4), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_TOUCH), see, s, NULL), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_CORE_CONSUMED) | WG_EV_BIT(WG_EV_CORE_FENCE), see, c, NULL),
                     WG_OK);
    assert_int_equal(wg_core_release(dev, WG_CORE_T1, 0x1000), WG_OK);
    wg_advance(dev, 2000);
    assert_non_null(find(s, WG_AGENT_CORE_T1, WG_TOUCH_L1, WG_TOUCH_WRITE, 0x3005, 1));
    assert_non_null(find(s, WG_AGENT_CORE_T1, WG_TOUCH_L1, WG_TOUCH_WRITE, 0x3008, 4));
    const wg_event *e = find(s, WG_AGENT_CORE_T1, WG_TOUCH_L1, WG_TOUCH_READ, 0x3008, 4);
    assert_non_null(e);
    assert_int_equal(e->pc, 0x1014);
    unsigned fences = arch == WG_ARCH_BH; /* WH treats it as a nop */
    assert_int_equal(c->n, fences + 1);
    assert_true(!fences || c->e[0].kind == WG_EV_CORE_FENCE);
    assert_int_equal(c->e[fences].kind, WG_EV_CORE_CONSUMED);
    assert_int_equal(c->e[fences].a, 0x3008);
    assert_int_equal(c->e[fences].pc, 0x101C);
    wg_destroy(dev);
    free(s);
    free(c);
}

/* Watching changes neither state nor cycles. */
static void test_same_run(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    static const char *const lines[] = {"setdmareg 0, 0x200, 0, 4",
                                        "setdmareg 0, 0, 0, 5",
                                        "loadind 1, 0, 0, 8, 2",
                                        "stallwait STALL_CFG, THCON",
                                        "wrcfg 8, 0, 70",
                                        "sfploadi 2, 0, 5",
                                        NULL};
    uint64_t hash[2];
    seen *s = calloc(1, sizeof *s);
    for (unsigned watched = 0; watched < 2; watched++) {
        rv p = rv_at(0x1000);
        rv_lui(&p, T0, 0x3000);
        for (unsigned i = 0; i < 100; i++) {
            rv_addi(&p, T1, T1, 1);
            rv_sw(&p, T1, 0, T0);
            rv_lw(&p, T2, 4, T0);
            rv_add(&p, A0, T2, T1);
        }
        rv_done(&p);
        wg_device *dev = device(arch);
        assert_int_equal(wg_write(dev, 0x1000, p.word, p.n * 4), WG_OK);
        if (watched)
            assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_TOUCH), see, s, NULL), WG_OK);
        assert_int_equal(wg_core_release(dev, WG_CORE_T0, 0x1000), WG_OK);
        for (unsigned i = 0; lines[i]; i++) {
            assert_int_equal(wg_push(dev, 1, word_of(arch, lines[i])), WG_OK);
            wg_advance(dev, 1);
        }
        wg_advance(dev, 3000);
        hash[watched] = wg_state_hash(dev);
        wg_destroy(dev);
    }
    assert_true(s->n > 0);
    assert_true(hash[0] == hash[1]);
    free(s);
}

static const wg_test tests[] = {
    WG_TEST(test_units, WG_BH | WG_WH, ""),         WG_TEST(test_config_bits, WG_BH | WG_WH, ""),
    WG_TEST(test_scalar_memory, WG_BH | WG_WH, ""), WG_TEST(test_core, WG_BH | WG_WH, ""),
    WG_TEST(test_same_run, WG_BH | WG_WH, ""),
};
WG_MAIN("touch", tests)
