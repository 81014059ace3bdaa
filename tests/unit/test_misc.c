/* SPDX-License-Identifier: Apache-2.0 */
/* Miscellaneous Unit: each address counter instruction against a table-driven model of its page; SETDVALID. */
#include "control_rig.h"

/* A counter set with the pages' names: [thread][unit][channel][dimension], and its copy. */
typedef struct model {
    uint32_t c[3][3][2][4], cr[3][3][2][4];
} model;

static const uint32_t masks[4] = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};

static void read_back(const rig *r, model *m)
{
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned unit = 0; unit < 3; unit++)
            for (unsigned ch = 0; ch < 2; ch++) {
                const wg_adc_channel *c = &r->t->regs.adc.unit[thread][unit][ch];
                uint32_t now[4] = {c->x, c->y, c->z, c->w}, copy[4] = {c->x_cr, c->y_cr, c->z_cr, c->w_cr};
                memcpy(m->c[thread][unit][ch], now, sizeof now);
                memcpy(m->cr[thread][unit][ch], copy, sizeof copy);
            }
}

enum { SET, INCREMENT, RETURN };
static void touch(model *m, unsigned thread, unsigned unit, unsigned ch, unsigned dim, unsigned how, uint32_t value)
{
    uint32_t *c = &m->c[thread][unit][ch][dim], *cr = &m->cr[thread][unit][ch][dim];
    if (how == INCREMENT) {
        *c = (*c + value) & masks[dim];
        return;
    }
    *cr = ((how == RETURN ? *cr : 0) + value) & masks[dim];
    *c = *cr;
}

static const struct {
    const char *name;
    uint8_t how, first;
    bool selects;
} pairs[] = {
    {"SETADCXY", SET, 0, true}, {"INCADCXY", INCREMENT, 0, false}, {"ADDRCRXY", RETURN, 0, true},
    {"SETADCZW", SET, 2, true}, {"INCADCZW", INCREMENT, 2, false}, {"ADDRCRZW", RETURN, 2, true},
};

/* Executes the word in the model; returns its encoding. */
static uint32_t one(wg_rng *rng, rig *r, model *m, unsigned thread)
{
    uint32_t bits = (uint32_t)wg_rng_next(rng) & 0xFFFFFF;
    unsigned which = wg_rng_below(rng, 8), units = bits >> 21;
    if (which == 6) { /* SETADC */
        unsigned choice = bits >> 16 & 3, on = choice ? choice - 1 : thread;
        for (unsigned unit = 0; unit < 3; unit++)
            if (units >> unit & 1)
                touch(m, on, unit, bits >> 20 & 1, bits >> 18 & 3, SET, bits & 0xFFFF);
        return rig_word(r, "SETADC", bits);
    }
    if (which == 7) { /* SETADCXX */
        for (unsigned unit = 0; unit < 3; unit++)
            for (unsigned ch = 0; ch < 2; ch++)
                if (units >> unit & 1)
                    touch(m, thread, unit, ch, 0, SET, ch ? bits >> 10 & 0x3FF : bits & 0x3FF);
        return rig_word(r, "SETADCXX", bits);
    }
    unsigned choice = bits >> 18 & 3, on = choice ? choice - 1 : thread;
    for (unsigned unit = 0; unit < 3; unit++)
        for (unsigned i = 0; i < 4; i++)
            if (units >> unit & 1 && (!pairs[which].selects || bits >> i & 1))
                touch(m, on, unit, i >> 1, pairs[which].first + (i & 1), pairs[which].how, bits >> (6 + 3 * i) & 7);
    return rig_word(r, pairs[which].name, bits);
}

static void test_values(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    model want = {0}, got;
    wg_rng rng = {7};
    for (unsigned n = 0; n < 50000; n++) {
        unsigned thread = wg_rng_below(&rng, 3);
        rig_do(r, thread, one(&rng, r, &want, thread));
        read_back(r, &got);
        assert_memory_equal(&got, &want, sizeof want);
    }
    assert_int_equal(r->dev.findings, 0);
    rig_free(r);
}

/* One per thread and cycle, visible from the next cycle on. */
static void test_timing(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    static const char *const names[] = {"SETADC",   "SETADCXX", "SETADCXY", "SETADCZW", "INCADCXY",
                                        "INCADCZW", "ADDRCRXY", "ADDRCRZW", "SETDVALID"};
    for (unsigned n = 0; n < 9; n++) {
        for (unsigned thread = 0; thread < 3; thread++)
            for (unsigned i = 0; i < 3; i++)
                rig_push(r, thread, rig_word(r, names[n], 0));
        uint64_t first = r->t->sched.now;
        rig_run(r, 3);
        for (unsigned thread = 0; thread < 3; thread++) {
            for (unsigned i = 0; i < 3; i++)
                assert_int_equal(r->issued[thread][i], first + i);
            assert_true(wg_misc_unit.busy(r->t, thread));
        }
        rig_cycle(r);
        assert_false(wg_misc_unit.busy(r->t, 0));
        rig_drain(r);
    }
    rig_push(r, 0, rig_word(r, "SETADC", 1u << 21 | 55));
    rig_cycle(r);
    assert_int_equal(r->t->regs.adc.unit[0][0][0].x, 0);
    rig_cycle(r);
    assert_int_equal(r->t->regs.adc.unit[0][0][0].x, 55);
    rig_free(r);
}

/* Two threads on the same counters in one cycle: the higher thread is last. */
static void test_same_counters(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    rig_push(r, 0, rig_word(r, "SETADC", 1u << 21 | 2u << 16 | 5)); /* thread 1's */
    rig_push(r, 1, rig_word(r, "SETADC", 1u << 21 | 6));
    rig_drain(r);
    assert_int_equal(r->t->regs.adc.unit[1][0][0].x, 6);
    rig_free(r);
}

static void test_setdvalid(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_src *s = &r->t->regs.src;
    wg_arch_id arch = wg_test_arch(state);
    wg_tcfg_insert(&wg_tcfg_fields[arch][WG_TCFG_SRCA_SET_Base], r->t->regs.config.thread[2], 3);
    wg_tcfg_insert(&wg_tcfg_fields[arch][WG_TCFG_SRCB_SET_Base], r->t->regs.config.thread[2], 1);
    rig_do(r, 2, rig_word(r, "SETDVALID", 1));
    assert_int_equal(s->owner_a[0], WG_SRC_MATRIX);
    assert_int_equal(s->owner_a[1], WG_SRC_UNPACKERS);
    assert_int_equal(s->owner_b[0], WG_SRC_UNPACKERS);
    assert_int_equal(s->unpack_bank_a, 1);
    assert_int_equal(s->unpack_bank_b, 0);
    assert_int_equal(s->unpack_row_a[2], 48);
    assert_int_equal(s->unpack_row_a[0], 0);
    rig_do(r, 2, rig_word(r, "SETDVALID", 3));
    assert_int_equal(s->owner_a[1], WG_SRC_MATRIX);
    assert_int_equal(s->owner_b[0], WG_SRC_MATRIX);
    assert_int_equal(s->unpack_bank_a, 0);
    assert_int_equal(s->unpack_bank_b, 1);
    assert_int_equal(s->unpack_row_b[2], 16);
    assert_int_equal(rig_found(r, WG_F_SRC_GIVEN_TWICE), 0);
    assert_int_equal(rig_found(r, WG_F_SETDVALID_FORMAT) != 0, wg_test_arch(state) == WG_ARCH_BH);
    rig_do(r, 2, rig_word(r, "SETDVALID", 1));
    assert_int_equal(rig_found(r, WG_F_SRC_GIVEN_TWICE), 1);
    rig_free(r);
}

/* Commands that wait in the queue of TDMA-RISC are dropped. */
static void test_rstdma(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_stall why;
    static const uint32_t parameters[] = {0, 4000, 1, 3}; /* source, destination, size: one unit, L1 to L1 */
    for (unsigned command = 0; command < 2; command++) {
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(wg_tdma_write(r->t, WG_CORE_B, 4 * i, parameters[i], 0, &why), WG_REGION_DONE);
        assert_int_equal(wg_tdma_write(r->t, WG_CORE_B, 0x10, 0x40, 0, &why), WG_REGION_DONE);
    }
    assert_false(wg_tdma_idle(r->t));
    rig_push(r, 0, rig_word(r, "RSTDMA", 0));
    rig_push(r, 0, rig_word(r, "RSTDMA", 0));
    uint64_t first = r->t->sched.now;
    rig_cycle(r);
    assert_int_equal(r->t->backend.tdma.count, 2);
    rig_cycle(r);
    assert_true(wg_tdma_idle(r->t));
    assert_int_equal(r->issued[0][0], first);
    assert_int_equal(r->issued[0][1], first + 1);
    assert_true(wg_misc_unit.busy(r->t, 0));
    rig_drain(r);
    assert_false(wg_misc_unit.busy(r->t, 0));
    assert_int_equal(rig_found(r, WG_F_INSN_ASSUMED), 2);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(r->t->backend.tdma.cmd_params[i], 0);
    /* A TDMA-RISC held in reset by SOFT_RESET_0 stays so. */
    wg_tdma_soft_reset(r->t, true);
    rig_do(r, 1, rig_word(r, "RSTDMA", 0));
    assert_true(r->t->backend.tdma.held);
    rig_free(r);
}

static const wg_test tests[] = {
    WG_COVERS(test_values, WG_BH | WG_WH, "",
              "SETADC:value SETADCXX:value SETADCXY:value SETADCZW:value INCADCXY:value INCADCZW:value "
              "ADDRCRXY:value ADDRCRZW:value"),
    WG_COVERS(test_timing, WG_BH | WG_WH, "",
              "SETADC:timing SETADCXX:timing SETADCXY:timing SETADCZW:timing INCADCXY:timing INCADCZW:timing "
              "ADDRCRXY:timing ADDRCRZW:timing SETDVALID:timing"),
    WG_TEST(test_same_counters, WG_BH | WG_WH, ""),
    WG_COVERS(test_setdvalid, WG_BH | WG_WH, "", "SETDVALID:value"),
    WG_COVERS(test_rstdma, WG_BH | WG_WH, "", "RSTDMA:value RSTDMA:timing"),
};
WG_MAIN("misc", tests)
