/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that push: the two forms, fusing, and B's start-up sequence through thread 0. */
#include "machine/device.h"
#include "rvasm.h"
#include "wgtest.h"

enum { NOP = 0x02000000, INSTRN_BUF = 0xFFE40000u };

typedef struct log {
    uint64_t cycle[32];
    uint32_t word[32];
    unsigned count;
} log;

static void note(void *user, const wg_event *e)
{
    log *l = user;
    if (l->count < 32) {
        l->cycle[l->count] = e->cycle;
        l->word[l->count++] = e->word;
    }
}

static wg_device *make_in(void **state, log *l, wg_profile profile)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .profile = profile};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_PUSHED), note, l, NULL), WG_OK);
    return dev;
}
static wg_device *make(void **state, log *l) { return make_in(state, l, WG_PROFILE_DOCUMENTED); }

static void run_to_end(wg_device *dev)
{
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
}

static void test_both_forms_push_the_same(void **state)
{
    static const uint32_t words[] = {0xA3450004, 0xA4000004, 0x02000000, 0x60000000, 0xBFFFFFFF & 0xB2000000};
    log l = {.count = 0};
    wg_device *dev = make(state, &l);
    rv p = rv_at(0x8000);
    rv_li(&p, A0, INSTRN_BUF);
    for (unsigned i = 0; i < 5; i++) {
        rv_li(&p, T0, words[i]);
        rv_sw(&p, T0, 0, A0);
        rv_tt(&p, words[i]);
    }
    rv_done(&p);
    rv_load(dev, &p);
    wg_core_release(dev, WG_CORE_T1, p.base);
    run_to_end(dev);
    assert_int_equal(l.count, 10);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(l.word[i], words[i / 2]);
    uint32_t value;
    wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &value);
    assert_int_equal(value, 7); /* initialised to 5 twice, posted twice */
    wg_destroy(dev);
}

/* BH fuses up to four adjacent pushes in one cycle, in either profile; not with cfg0.DisTriscCache. */
static void test_adjacent_pushes_fuse(void **state)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        log l = {.count = 0};
        wg_device *dev = make_in(state, &l, variant & 1 ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED);
        bool bh = wg_test_arch(state) == WG_ARCH_BH, apart = variant & 2;
        rv p = rv_at(0x8000);
        if (bh && apart) {
            rv_li(&p, T0, 1 << 18);
            rv_word(&p, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
        }
        for (unsigned i = 0; i < 8; i++)
            rv_tt(&p, NOP);
        rv_done(&p);
        rv_load(dev, &p);
        wg_core_release(dev, WG_CORE_T0, p.base);
        run_to_end(dev);
        assert_int_equal(l.count, 8);
        unsigned together = 1, most = 1;
        for (unsigned i = 1; i < 8; i++) {
            together = l.cycle[i] == l.cycle[i - 1] ? together + 1 : 1;
            most = together > most ? together : most;
        }
        assert_int_equal(most, bh && !apart ? 4 : 1);
        wg_destroy(dev);
    }
}

/*
 * What firmware on B does before any T core runs: clear Dst, set up the condition code stack, a constant, semaphores.
 */
static void test_start_up_by_b(void **state)
{
    log l = {.count = 0};
    wg_device *dev = make(state, &l);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(wg_poke(dev, WG_SPACE_DST, i * 200, 0x1234), WG_OK);
    for (uint32_t i = 0; i < 8; i++) {
        wg_poke(dev, WG_SPACE_SEM_VALUE, i, 9);
        wg_poke(dev, WG_SPACE_SEM_MAX, i, 9);
    }
    uint32_t words[] = {0x10000000 | 3 << 19,      /* ZEROACC, everything */
                        0x8A000000 | 3 << 12 | 10, /* SFPENCC */
                        0x71000000 | 0x4040,       /* SFPLOADI L0, 3.0 as BF16 */
                        0x91000000 | 12 << 4,      /* SFPCONFIG: L12 = L0 */
                        0xA3100000 | 1 << 3,       0xA3100000 | 1 << 4, 0xA3100000 | 1 << 9};
    rv p = rv_at(0x8000);
    rv_li(&p, A0, INSTRN_BUF);
    for (unsigned i = 0; i < sizeof words / 4; i++) {
        rv_li(&p, T0, words[i]);
        rv_sw(&p, T0, 0, A0);
        for (unsigned n = 0; n < 4; n++)
            rv_nop(&p);
    }
    rv_done(&p);
    rv_load(dev, &p);
    wg_core_release(dev, WG_CORE_B, p.base);
    run_to_end(dev);
    uint32_t v;
    for (uint32_t i = 0; i < 8; i++) {
        bool set = i == 1 || i == 2 || i == 7;
        wg_peek(dev, WG_SPACE_SEM_VALUE, i, &v);
        assert_int_equal(v, set ? 0 : 9);
        wg_peek(dev, WG_SPACE_SEM_MAX, i, &v);
        assert_int_equal(v, set ? 1 : 9);
    }
    for (uint32_t lane = 0; lane < 32; lane++) {
        wg_peek(dev, WG_SPACE_LREG, 12 * 32 + lane, &v);
        assert_int_equal(v, 0x40400000);
    }
    for (unsigned row = 0; row < WG_DST_ROWS; row++) /* reads as zero */
        assert_true(wg_dst_is_undefined(&dev->tile->regs.dst, row));
    wg_destroy(dev);
}

typedef struct issues {
    uint8_t agent;
    unsigned count;
    uint64_t cycle[3];
} issues;

static void note_issue(void *user, const wg_event *e)
{
    issues *s = user;
    if (e->b == s->agent && s->count < 3)
        s->cycle[s->count++] = e->cycle;
}

/* The same instruction on three threads at once: which unit takes it, and how many in a cycle. */
static void kind(wg_arch_id arch, wg_agent agent, const uint32_t words[3], bool together)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    issues s = {.agent = (uint8_t)agent};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED), note_issue, &s, NULL), WG_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(wg_push(dev, i, words[i]), WG_OK);
    wg_advance(dev, 300);
    assert_int_equal(s.count, 3);
    assert_true((s.cycle[0] == s.cycle[1] && s.cycle[1] == s.cycle[2]) == together);
    assert_true((s.cycle[0] < s.cycle[1] && s.cycle[1] < s.cycle[2]) == !together);
    wg_destroy(dev);
}

static void test_nine_kinds(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
#define SAME(word) (const uint32_t[3]){word, word, word}
    kind(arch, WG_AGENT_SYNC, (const uint32_t[3]){0xA0000000, 0xA0000002, 0xA0000003},
         true);                                                     /* ATGETM, three mutexes */
    kind(arch, WG_AGENT_CONFIG, SAME(0xB2000000 | 1 << 16), true);  /* SETC16 */
    kind(arch, WG_AGENT_MISC, SAME(0x50000000), true);              /* SETADC */
    kind(arch, WG_AGENT_UNPACK0, SAME(0x43000000), false);          /* UNPACR_NOP of Unpacker 0 */
    kind(arch, WG_AGENT_UNPACK1, SAME(0x43800000), false);          /* … and 1 */
    kind(arch, WG_AGENT_MATRIX, SAME(0x10000000 | 3 << 19), false); /* ZEROACC */
    kind(arch, WG_AGENT_PACK, SAME(0x4A000000), false);             /* PACR_SETREG */
    kind(arch, WG_AGENT_VECTOR, SAME(0x8F000000), false);           /* SFPNOP */
    kind(arch, WG_AGENT_SCALAR, SAME(0x45000000), false);           /* SETDMAREG */
    kind(arch, WG_AGENT_MOVER, SAME(0x40000000), false);            /* XMOV */
#undef SAME
}

static const wg_test tests[] = {
    WG_TEST(test_both_forms_push_the_same, WG_BH | WG_WH, "PIPE-08"),
    WG_TEST(test_adjacent_pushes_fuse, WG_BH | WG_WH, "PIPE-10"),
    WG_TEST(test_start_up_by_b, WG_BH | WG_WH, "SEM-08 PIPE-25"),
    WG_TEST(test_nine_kinds, WG_BH | WG_WH, "PIPE-19"),
};
WG_MAIN("core_push", tests)
