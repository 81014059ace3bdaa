/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortcut `decoding`: two tiles execute the same instructions of every unit, one with what was decoded before, one decoding
 * each afresh. Between them configuration, the data of a source, or nothing changes. All registers, L1 and findings are the same.
 */
#include <stdio.h>

#include "pack_rig.h"

enum { ROUNDS = 16, CYCLES = 600, SEEN_L1 = 0x10000 };
enum {
    CLEARDVALID = 0x36000001,
    MVMUL = 0x26000000,
    SFPLOAD = 0x70000000,
    SFPSTORE = 0x72000000,
};

/* One iteration of a kernel: both sources, a product with other rows in Dst, the Vector Unit, a packed row. */
static unsigned kernel(uint32_t word[16], unsigned round)
{
    unsigned n = 0;
    word[n++] = CLEARDVALID;
    word[n++] = UR_UNPACR(0, UR_FLIP);
    word[n++] = UR_UNPACR(1, UR_FLIP);
    word[n++] = MVMUL | (round & 3) * 8;
    word[n++] = MVMUL | 32;
    word[n++] = SFPLOAD | 1 << 20 | 2 << 16;
    word[n++] = SFPSTORE | 1 << 20 | 16;
    word[n++] = SFPSTORE | 1 << 20 | 6 << 16 | 32;
    word[n++] = PR_PACR(1, PR_LAST);
    return n;
}

static ur *tile(wg_arch_id arch, bool decoding)
{
    ur *r = pr_new(arch, 16);
    wg_rng fill = {3};
    for (unsigned u = 0; u < 2; u++)
        ur_face(r, u, WG_FMT_BF16, WG_FMT_BF16, 0x8000 + 0x400 * u);
    for (unsigned i = 0; i < SEEN_L1; i++) /* no infinities */
        r->t->l1[i] = (uint8_t)(wg_rng_next(&fill) & (i & 1 ? 0xBF : 0xFF));
    r->t->watched = 0;
    r->t->fast_wanted = decoding ? WG_FAST_BIT(DECODING) : 0;
    wg_fast_update(r->t);
    return r;
}

/* A bit of a field; most fields belong to a unit. Not the bank in use, and not what stops an instruction for ever. */
static const char *change(ur *r, wg_rng rng)
{
    if (wg_rng_below(&rng, 4) == 0)
        return "nothing";
    if (wg_rng_below(&rng, 4) == 0) {
        wg_tcfg_id id = (wg_tcfg_id)wg_rng_below(&rng, WG_TCFG_COUNT);
        const wg_cfg_field *f = &wg_tcfg_fields[r->t->arch->id][id];
        if (!wg_cfg_present(f) || id == WG_TCFG_CFG_STATE_ID_StateID)
            return "nothing";
        ur_thread(r, 0, id,
                  wg_tcfg_get(r->t->arch->id, id, r->t->regs.config.thread[0]) ^ 1u << wg_rng_below(&rng, f->width));
        return wg_tcfg_names[id];
    }
    wg_cfg_id id = (wg_cfg_id)wg_rng_below(&rng, WG_CFG_COUNT);
    const wg_cfg_field *f = &wg_cfg_fields[r->t->arch->id][id];
    if (!wg_cfg_present(f) || f->width > 32)
        return "nothing";
    ur_set(r, id, wg_cfg_get(r->t->arch->id, id, r->t->regs.config.bank[0]) ^ 1u << wg_rng_below(&rng, f->width));
    return wg_cfg_names[id];
}

static void expect_same(const ur *a, const ur *b, unsigned round, const char *changed)
{
    const wg_regs *x = &a->t->regs, *y = &b->t->regs;
    const char *differs = memcmp(&x->dst, &y->dst, sizeof x->dst)      ? "Dst"
                          : memcmp(&x->src, &y->src, sizeof x->src)    ? "a source"
                          : memcmp(&x->lreg, &y->lreg, sizeof x->lreg) ? "an LReg"
                          : memcmp(&x->adc, &y->adc, sizeof x->adc)    ? "an ADC"
                          : memcmp(&x->rwc, &y->rwc, sizeof x->rwc)    ? "an RWC"
                          : memcmp(a->t->l1, b->t->l1, SEEN_L1)        ? "L1"
                          : a->dev.findings != b->dev.findings         ? "the number of findings"
                          : a->t->sched.now != b->t->sched.now         ? "the cycle"
                                                                       : NULL;
    if (differs)
        fail_msg("round %u, changed: %s: %s differs from the tile that decodes afresh", round, changed, differs);
}

/* Pushes a kernel, if the thread's FIFO has room: a change may stop an instruction for ever. */
static void run(ur *r, unsigned round)
{
    uint32_t word[16];
    const unsigned count = kernel(word, round / 2);
    const uint64_t end = r->t->sched.now + CYCLES;
    for (unsigned i = 0; i < count; i++) {
        wg_stall why;
        wg_push_words(r->t, 0, WG_CORE_T0, 0x1000, &word[i], 1, &why);
        ur_skip_to(r, r->t->sched.now + CYCLES / count);
    }
    ur_skip_to(r, end);
}

static void test_used_again_as_decoded_afresh(void **state)
{
    uint64_t again = 0, tiles = 0; /* a change may stop the kernel of a few */
    for (uint64_t seed = wg_test_first(), end = seed + wg_test_count(wg_test_rounds(60, 1500)); seed < end; seed++) {
        ur *r[2] = {tile(wg_test_arch(state), true), tile(wg_test_arch(state), false)};
        wg_test_seed(seed);
        wg_rng rng = {seed * 977 + 5};
        for (unsigned round = 0; round < ROUNDS; round++) {
            const char *changed = "";
            for (unsigned k = 0; k < 2; k++) {
                changed = round ? change(r[k], rng) : "nothing";
                run(r[k], round);
            }
            expect_same(r[0], r[1], round, changed);
            (void)wg_rng_next(&rng);
        }
        assert_int_equal(r[1]->t->fast_uses[WG_FAST_DECODING], 0);
        again += r[0]->t->fast_uses[WG_FAST_DECODING];
        tiles++;
        for (unsigned k = 0; k < 2; k++)
            ur_free(r[k]);
    }
    assert_true(!WG_FAST || tiles < 3 || again > tiles * ROUNDS);
}

static const wg_test tests[] = {
    WG_TEST(test_used_again_as_decoded_afresh, WG_BH | WG_WH, ""),
};
WG_MAIN("decoding", tests)
