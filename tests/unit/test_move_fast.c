/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short paths of unpackers and packers against their long ones: rows in host vectors against single datums, and
 * instructions that reuse earlier decoding against ones that decode everything anew.
 *
 * WG_SOAK=n: twenty times as many bursts, with seed n.
 */
#include "pack_rig.h"

#include <stdio.h>

#include "backend/matrix.h"
#include "backend/pack_internal.h"
#include "host_modes.h"
#include "num/pack_datums.h"
#include "machine/tile_regs.h"

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

static void expect_row(const wg_pack_route *r, const uint16_t high[16], const uint16_t low[16], uint8_t *bytes,
                       uint8_t *exponent, uint16_t lanes[16])
{
    uint32_t value[16];
    unsigned bits = wg_l1_bits(r->out_format);
    wg_mid mid = wg_pack_early_mid((wg_pack_early)r->early);
    wg_pack_early_row((wg_pack_early)r->early, r->shift, high, low, value);
    for (unsigned i = 0; i < 16; i++) {
        unsigned e = wg_pack_exponent(mid, value[i]);
        lanes[i] = (uint16_t)(e > lanes[i] ? e : lanes[i]);
    }
    wg_pack_late_row(r->late, 16, value);
    if (wg_l1_shares_exponent(r->out_format)) {
        uint16_t halves[16];
        uint8_t datums[16];
        for (unsigned i = 0; i < 16; i++)
            halves[i] = (uint16_t)value[i];
        *exponent = wg_bfp_block(halves, wg_pack_mid_of(r->out_format) == WG_MID_F5, NULL, datums);
        for (unsigned i = 0; i < 16; i++)
            value[i] = bits == 8 ? datums[i] : wg_bfp_narrow(datums[i], bits);
    }
    wg_l1_put_row(bits, value, bytes);
}

/* Every early conversion with every pair of formats, defined or not, on every kind of host. */
static void test_rows(void **state)
{
    enum { ROWS = 5 }; /* two pairs and one alone */
    (void)state;
    wg_rng rng = {5};
    wg_simd best = wg_simd_best();
    for (unsigned early = 0; early < WG_EARLY_COUNT; early++) {
        for (unsigned pair = 0; pair < 512; pair++) {
            wg_pack_route r = {
                .early = (uint8_t)early, .out_format = pair & 15, .shift = (uint8_t)wg_rng_below(&rng, 32)};
            if (pair >> 8)
                r.shift = 0;
            wg_pack_late_of(wg_pack_early_mid((wg_pack_early)early), pair >> 4 & 15, pair & 15, pair >> 8, &r.late);
            unsigned levels = best + 1u, trials = wg_l1_shares_exponent(r.out_format) ? 12 : 1;
            for (unsigned trial = 0; trial < levels * trials; trial++) {
                wg_simd level = (wg_simd)(trial % levels);
                uint16_t dst[ROWS][2][16], lanes[16], want_lanes[16];
                uint8_t data[ROWS * 64], want[ROWS * 64] = {0}, exponents[ROWS];
                wg_pack_rows at = {.data = data, .lanes = lanes};
                for (unsigned i = 0; i < 16; i++)
                    lanes[i] = want_lanes[i] = (uint16_t)wg_rng_below(&rng, 100);
                unsigned style = wg_rng_below(&rng, 4);
                for (unsigned row = 0; row < ROWS; row++) {
                    for (unsigned i = 0; i < 16; i++) {
                        uint64_t x = wg_rng_next(&rng);
                        uint32_t exponents_near = 0x70 + (x >> 40 & 31);
                        dst[row][0][i] = (uint16_t)(style == 0   ? x
                                                    : style == 1 ? (x & 0xFF00) | exponents_near
                                                    : style == 2 ? (x & 0xFF00) | (x >> 20 & 1 ? 0xFF : 0)
                                                                 : (x & 0x8300) | (x & 1));
                        dst[row][1][i] = (uint16_t)(x >> 48);
                    }
                    at.high[row] = dst[row][0];
                    at.low[row] = dst[row][1];
                    expect_row(&r, dst[row][0], dst[row][1], want + row * 2 * wg_l1_bits(r.out_format), &exponents[row],
                               want_lanes);
                }
                host_modes(pair % HOST_MODES);
                wg_pack_rows_out(level, &r, ROWS, &at);
                host_modes_end(pair % HOST_MODES);
                assert_memory_equal(data, want, ROWS * 2 * wg_l1_bits(r.out_format));
                assert_memory_equal(lanes, want_lanes, sizeof lanes);
                if (wg_l1_shares_exponent(r.out_format))
                    assert_memory_equal(at.exponents, exponents, sizeof exponents);
            }
        }
    }
}

/* Rows processed four at a time give the same rows. */
static void test_rows_in_fours(void **state)
{
    enum { ROWS = 16 };
    (void)state;
    wg_rng rng = {6};
    uint16_t dst[2][ROWS][16];
    for (unsigned i = 0; i < 2 * ROWS * 16; i++)
        dst[i / (ROWS * 16)][i / 16 % ROWS][i % 16] = (uint16_t)wg_rng_next(&rng);
    for (unsigned early = 0; early < WG_EARLY_COUNT; early++) {
        for (unsigned trial = 0; trial < 16 * (wg_simd_best() + 1u); trial++) {
            wg_pack_route r = {.early = (uint8_t)early, .out_format = trial & 15};
            wg_pack_late_of(wg_pack_early_mid((wg_pack_early)early), trial & 15, trial & 15, false, &r.late);
            uint8_t data[2][ROWS * 64] = {0};
            uint16_t lanes[2][16] = {0};
            wg_pack_rows at[2] = {{.data = data[0], .lanes = lanes[0]}, {.data = data[1], .lanes = lanes[1]}};
            unsigned rows = 4 * (1 + trial % 4);
            for (unsigned row = 0; row < ROWS; row++) {
                at[0].high[row] = dst[0][row];
                at[0].low[row] = dst[1][row];
            }
            at[1].fours = true;
            for (unsigned row = 0; row < rows; row += 4) {
                at[1].high[row] = dst[0][row];
                at[1].low[row] = dst[1][row];
            }
            for (unsigned k = 0; k < 2; k++)
                wg_pack_rows_out((wg_simd)(trial / 16), &r, rows, &at[k]);
            assert_memory_equal(data[0], data[1], sizeof data[0]);
            assert_memory_equal(lanes[0], lanes[1], sizeof lanes[0]);
            if (wg_l1_shares_exponent(r.out_format))
                assert_memory_equal(at[0].exponents, at[1].exponents, rows);
        }
    }
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

/* The same words on two rigs; the other one decodes each of them afresh, and has no host vector code. */
static void be_other(ur *r)
{
    r->t->simd = WG_SIMD_SCALAR;
    r->t->fast_wanted &= ~(uint32_t)WG_FAST_BIT(DECODING);
    wg_fast_update(r->t);
}

static void random_packer(wg_rng *rng, ur *r)
{
    static const uint8_t formats[][3] = {{5, 5, 5}, {5, 5, 6}, {5, 5, 7}, {6, 6, 6}, {1, 1, 1}, {5, 5, 0}, {6, 6, 7}};
    const uint8_t *f = formats[wg_rng_below(rng, 7)];
    pr_formats(r, false, f[0], f[1], f[2]);
    ur_set(r, WG_CFG_STACC_RELU_ApplyRelu, wg_rng_below(rng, 6) == 0);
    for (unsigned i = 0; i < 4; i++) {
        PR_SET(r, i, Exp_section_size, wg_rng_below(rng, 8));
        PR_SET(r, i, Downsample_mask, wg_rng_below(rng, 6) ? 0 : 0x5555);
        PR_SET(r, i, Pack_L1_Acc, f[2] == 5 && wg_rng_below(rng, 6) == 0);
    }
    unsigned first = wg_tcfg_fields[r->t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    for (unsigned i = 0; i < 4; i++) /* steps in multiples of four rows, some with carriage returns */
        r->t->regs.config.thread[2][first + i] = (uint16_t)(wg_rng_next(rng) & 0xFCFC);
    ur_touch(r);
}

static void test_repeated_packs(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ur *once[2];
    for (unsigned k = 0; k < 2; k++) {
        once[k] = pr_new(arch, arch == WG_ARCH_BH ? 16 : 256);
        pr_mark_dst(once[k]);
        once[k]->t->simd = (uint8_t)wg_simd_best();
        ur_unwatch(once[k]);
    }
    be_other(once[1]);
    wg_rng rng = {21};
    unsigned hits = 0;
    for (unsigned round = 0; round < 400; round++) {
        wg_rng same = rng;
        random_packer(&rng, once[0]);
        random_packer(&same, once[1]);
        unsigned words = 1 + wg_rng_below(&rng, 12), select = arch == WG_ARCH_BH ? wg_rng_below(&rng, 3) * 3 : 15;
        select = select == 6 ? 1 : select;
        bool again = arch == WG_ARCH_WH && wg_rng_below(&rng, 2); /* whole tiles, mostly from the same place */
        wg_adc_channel counters[2];
        memcpy(counters, once[0]->t->regs.adc.unit[2][2], sizeof counters);
        for (unsigned i = 0; i < words; i++) {
            uint32_t word = PR_PACR(select, again || i + 1 == words ? PR_LAST : 0);
            word |= wg_rng_below(&rng, 8) ? 0u : 1u << 15;
            const wg_pack_form *form = wg_pack_form_at(&once[0]->t->backend.pack, word);
            const uint64_t serial = form->serial;
            counters[0].y = wg_rng_below(&rng, 8) ? counters[0].y : 16 * (uint16_t)wg_rng_below(&rng, 8);
            for (unsigned k = 0; again && k < 2; k++) {
                memcpy(once[k]->t->regs.adc.unit[2][2], counters, sizeof counters);
                once[k]->t->regs.dst.undefined[0] = i & 1 ? UINT64_C(1) << 18 : 0;
            }
            pr_do(once[0], 2, word);
            hits += form->changes && serial == form->serial;
            pr_do(once[1], 2, word);
        }
        assert_memory_equal(once[0]->t->l1, once[1]->t->l1, 0x10000);
        assert_memory_equal(once[0]->t->regs.adc.unit, once[1]->t->regs.adc.unit, sizeof once[0]->t->regs.adc.unit);
        assert_int_equal(wg_exphist_max(&once[0]->t->regs.exphist, 0), wg_exphist_max(&once[1]->t->regs.exphist, 0));
        assert_int_equal(once[0]->t->sched.now, once[1]->t->sched.now);
    }
    assert_true(!WG_FAST || hits > 500);
    for (unsigned k = 0; k < 2; k++)
        ur_free(once[k]);
}

static void random_unpacker(wg_rng *rng, ur *r, unsigned u)
{
    static const uint8_t formats[] = {1, 5, 6, 7, 9, 10, 14, 15};
    unsigned f = formats[wg_rng_below(rng, 8)];
    ur_face(r, u, f, f, 0x8000 + 16 * wg_rng_below(rng, 64));
    UR_SEC(r, u, REG2_Throttle_mode, wg_rng_below(rng, 3));
    UR_SEC(r, u, REG2_Haloize_mode, !u && wg_rng_below(rng, 3) == 0);
    UR_UNP(r, u, ADDR_CTRL_ZW_REG_1_Zstride, 32 * wg_rng_below(rng, 4));
    UR_SEC(r, u, REG2_Unpack_limit_address, 0x900 + wg_rng_below(rng, 0x100));
    UR_SEC(r, u, REG2_Unpack_fifo_size, wg_rng_below(rng, 0x40));
}

static void test_repeated_unpacks(void **state)
{
    ur *once[2];
    for (unsigned k = 0; k < 2; k++) {
        once[k] = ur_new(wg_test_arch(state));
        wg_rng fill = {3};
        for (unsigned i = 0; i < 0x10000; i++)
            once[k]->t->l1[i] = (uint8_t)wg_rng_next(&fill);
        once[k]->t->simd = (uint8_t)wg_simd_best();
        ur_unwatch(once[k]);
    }
    be_other(once[1]);
    wg_rng rng = {22};
    unsigned hits = 0;
    for (unsigned round = 0; round < 600; round++) {
        unsigned u = round & 1;
        wg_rng same = rng;
        random_unpacker(&rng, once[0], u);
        random_unpacker(&same, once[1], u);
        uint32_t word = UR_UNPACR(u, wg_rng_below(&rng, 256) << 15), x = 16 * wg_rng_below(&rng, 4);
        for (unsigned i = 0; i < 6; i++) {
            for (unsigned k = 0; k < 2; k++) {
                wg_adc_channel *c = once[k]->t->regs.adc.unit[0][u];
                c[0].x = x;
                c[1].x = x + 15 + 16 * (i % 3);
                c[0].y &= 3;
                c[0].z &= 3;
                c[1].y = 0;
                c[1].z &= 3;
                once[k]->t->regs.src.owner_a[0] = once[k]->t->regs.src.owner_a[1] = 0;
            }
            uint64_t serial = once[0]->t->backend.unpack.form[u].serial;
            ur_do(once[0], 0, word);
            hits += once[0]->t->backend.unpack.form[u].changes && serial == once[0]->t->backend.unpack.form[u].serial;
            ur_do(once[1], 0, word);
            assert_int_equal(once[0]->t->sched.now, once[1]->t->sched.now);
        }
        assert_memory_equal(&once[0]->t->regs.src, &once[1]->t->regs.src, sizeof once[0]->t->regs.src);
        assert_memory_equal(&once[0]->t->regs.dst, &once[1]->t->regs.dst, sizeof once[0]->t->regs.dst);
        assert_memory_equal(once[0]->t->regs.adc.unit, once[1]->t->regs.adc.unit, sizeof once[0]->t->regs.adc.unit);
    }
    assert_true(!WG_FAST || hits > 1000);
    assert_int_equal(once[0]->dev.findings, once[1]->dev.findings);
    for (unsigned k = 0; k < 2; k++)
        ur_free(once[k]);
}

/* A thread that waits for a bank has the same stall reason and start cycle, whether or not it is checked in between. */
static void test_waiting_unasked(void **state)
{
    enum { MVMUL = 0x26000000, MOVD2B = 0x0A000000 };
    uint64_t since[2];
    for (unsigned lockstep = 0; lockstep < 2; lockstep++) {
        ur *r = ur_new(wg_test_arch(state));
        r->t->lockstep = lockstep;
        ur_unwatch(r);
        ur_push(r, 1, MVMUL);
        ur_run(r, 6);
        ur_push(r, 0, MOVD2B); /* for three cycles nothing else is accepted */
        ur_run(r, 4);
        assert_true(r->t->backend.matrix.not_movd2b_from > r->t->sched.now);
        assert_int_equal(r->t->frontend[1].stall.reason, WG_STALL_SRCA_NOT_HANDED_OVER);
        since[lockstep] = r->t->frontend[1].stalled_since;
        ur_free(r);
    }
    assert_int_equal(since[0], since[1]);
}

/* Soft reset: work in progress is discarded, and nothing new starts before its end. */
static void test_unpackers_reset(void **state)
{
    ur *r = ur_new(wg_test_arch(state));
    ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, 0x8000);
    memset(r->t->l1 + 0x8000, 0x3F, 512);
    ur_push(r, 0, UR_UNPACR(0, UR_FLIP));
    ur_run(r, 5);
    assert_true(wg_unpack_unit.busy(r->t, 0));
    enum { UNPACKERS = 1 << 0 | 1 << 1 | 1 << 7 };
    r->t->regions.control.soft_reset |= UNPACKERS;
    wg_soft_reset_edges(r->t);
    assert_false(wg_unpack_unit.busy(r->t, 0));
    ur_push(r, 0, UR_UNPACR(0, UR_FLIP));
    ur_run(r, 100);
    assert_int_equal(r->t->regs.src.a[0][0][0], 0);
    assert_false(wg_src_is_matrix(&r->t->regs.src, WG_SRCA, 0));
    r->t->regions.control.soft_reset &= ~(uint32_t)UNPACKERS;
    wg_soft_reset_edges(r->t);
    ur_run(r, 30);
    assert_true(wg_src_is_matrix(&r->t->regs.src, WG_SRCA, 0));
    assert_int_not_equal(r->t->regs.src.a[0][0][0], 0);
    ur_free(r);
}

/* ---- Bursts ---------------------------------------------------------------------------------------------------- */

/*
 * Runs as the engine does, in bursts, or cycle by cycle; returns how many calls advanced more than one cycle.
 */
static unsigned run_to(ur *r, uint64_t end, bool rows)
{
    wg_schedule *s = &r->t->sched;
    unsigned passed = 0;
    while (s->now < end) {
        uint64_t next = wg_tile_next(r->t);
        if (next >= end) {
            s->now = end;
            break;
        }
        uint64_t from = s->now = next > s->now ? next : s->now;
        if (rows)
            wg_tile_cycles(r->t, end);
        else
            wg_tile_cycle(r->t);
        passed += s->now > from + 1;
    }
    return passed;
}

/* Positions of instructions in the pool do not matter. */
static wg_frontend without_places(const wg_frontend *f)
{
    wg_frontend g = *f;
    memset(g.pool, 0, sizeof g.pool);
    memset(g.down, 0, sizeof g.down);
    memset(g.fifo, 0, sizeof g.fifo);
    g.free = (uint64_t)__builtin_popcountll(f->free);
    g.moved = false; /* nor does the result of the last look, when the next is known */
    for (uint8_t i = f->down_head, n = 0; i != f->down_end; i++, n++) {
        g.down[i % WG_DOWN_RING] = f->down[i % WG_DOWN_RING] & (uint16_t)~WG_E_PLACE;
        g.pool[n] = f->pool[f->down[i % WG_DOWN_RING] & WG_E_PLACE];
    }
    for (unsigned i = 0; i < f->fifo_count; i++) {
        unsigned at = (f->fifo_head + i) % WG_FIFO_RING;
        g.fifo[at] = f->fifo[at] & (uint16_t)~WG_E_PLACE;
        g.pool[WG_DOWN_RING + i] = f->pool[f->fifo[at] & WG_E_PLACE];
    }
    return g;
}

static void expect_same(const wg_tile *a, const wg_tile *b)
{
    assert_int_equal(a->sched.now, b->sched.now);
    assert_int_equal(a->sched.watch_idle, b->sched.watch_idle);
    assert_memory_equal(a->l1, b->l1, 0x10000);
    assert_memory_equal(&a->regs.adc, &b->regs.adc, sizeof a->regs.adc);
    assert_memory_equal(&a->regs.exphist, &b->regs.exphist, sizeof a->regs.exphist);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend one_frontend = without_places(&a->frontend[i]), other_frontend = without_places(&b->frontend[i]);
        const wg_frontend *f = &one_frontend, *g = &other_frontend;
        assert_memory_equal(&f->free, &g->free, offsetof(wg_frontend, accept_at)); /* FIFOs, flags, ids */
        assert_int_equal(f->stall.reason, g->stall.reason);
        if (f->stalled) {
            assert_int_equal(f->stall.resource, g->stall.resource);
            assert_int_equal(f->stall.holder, g->stall.holder);
            assert_int_equal(f->stall.retry_at, g->stall.retry_at);
            assert_int_equal(f->stalled_since, g->stalled_since);
        }
        assert_int_equal(f->mop.i, g->mop.i);
        assert_int_equal(f->mop.j, g->mop.j);
        assert_int_equal(f->mop.step, g->mop.step);
        assert_int_equal(f->mop.ready_at, g->mop.ready_at);
        assert_memory_equal(f->pool, g->pool, sizeof f->pool);
    }
    assert_memory_equal(a->backend.turn, b->backend.turn, sizeof a->backend.turn);
    assert_memory_equal(&a->regs.src, &b->regs.src, sizeof a->regs.src);
    assert_memory_equal(a->backend.unpack.count, b->backend.unpack.count, sizeof a->backend.unpack.count);
    assert_memory_equal(a->backend.tdma.packer, b->backend.tdma.packer, sizeof a->backend.tdma.packer);
    const wg_pack *p = &a->backend.pack, *q = &b->backend.pack;
    wg_packer one = p->packer[0], other = q->packer[0];
    for (unsigned i = 0; i < WG_PACK_STREAMS; i++) { /* old contents may remain there */
        memset(one.stream[i].bytes + one.stream[i].fill, 0, 16u - one.stream[i].fill);
        memset(other.stream[i].bytes + other.stream[i].fill, 0, 16u - other.stream[i].fill);
    }
    assert_memory_equal(&one, &other, sizeof one);
    assert_int_equal(p->planned_row, q->planned_row);
    assert_int_equal(p->count, q->count);
    for (unsigned i = 0; i < p->count; i++) {
        assert_int_equal(p->job[p->order[i]].insn.id, q->job[q->order[i]].insn.id);
        assert_int_equal(p->job[p->order[i]].part[0].done_at, q->job[q->order[i]].part[0].done_at);
        assert_int_equal(p->job[p->order[i]].part[0].start, q->job[q->order[i]].part[0].start);
    }
    assert_int_equal(wg_tile_next(a), wg_tile_next(b));
}

static void push_burst(wg_rng *rng, ur *r)
{
    static const uint32_t others[] = {0x02000000, 0x50200000 /* SETADC */, 0x41000000 /* PACR */};
    enum { MOP_CFG = 0x03000000, REPLAY = 0x04000023 /* records two, and lets them pass */ };
    wg_frontend *f = &r->t->frontend[2];
    uint32_t nop = others[0], select = wg_rng_below(rng, 4) ? 0 : 1 + wg_rng_below(rng, 15), step = 1u << 15;
    uint32_t inner = PR_PACR(select, 0), last = PR_PACR(select, PR_LAST) | (wg_rng_below(rng, 4) ? step : 0u);
    uint32_t loop = wg_rng_below(rng, 8) ? inner : inner | PR_CONCAT;
    uint32_t mop[] = {1 + wg_rng_below(rng, 12), 1 + wg_rng_below(rng, 20), nop, nop, nop, loop, nop, last, last};
    if (wg_rng_below(rng, 6) == 0)
        mop[wg_rng_below(rng, 2) ? 2 : 3] = others[wg_rng_below(rng, 3)];
    memcpy(f->mop_cfg, mop, sizeof mop);
    for (unsigned i = 1 + wg_rng_below(rng, 4); i-- && f->fifo_count < 11;) { /* of 16 places */
        ur_push(r, 2, 0x01800000);                                            /* MOP, template 1 */
        for (unsigned more = wg_rng_below(rng, 2) ? 0 : wg_rng_below(rng, 5); more--;)
            ur_push(r, 2,
                    wg_rng_below(rng, 6)   ? others[wg_rng_below(rng, 3)]
                    : wg_rng_below(rng, 2) ? MOP_CFG
                                           : REPLAY);
    }
    if (wg_rng_below(rng, 3) == 0) { /* a core's push was refused */
        f->push_waits = 1;
        f->push_needs = (uint8_t)(1 + wg_rng_below(rng, 12));
    }
    if (wg_rng_below(rng, 6) == 0)
        wg_watch_idle(&r->t->sched);
    if (wg_rng_below(rng, 2) && wg_thread_idle(r->t, 0)) { /* and a working unpacker, which may read what is packed */
        uint32_t unpack = UR_UNPACR(0, 0), faces = wg_rng_below(rng, 24);
        uint32_t loop_0[] = {1 + wg_rng_below(rng, 3), 1 + faces, nop, nop, nop, unpack, nop, unpack, unpack};
        memcpy(r->t->frontend[0].mop_cfg, loop_0, sizeof loop_0);
        ur_face(r, 0, WG_FMT_BF16, WG_FMT_BF16, PR_L1 + 16 * wg_rng_below(rng, 64));
        r->t->regs.adc.unit[0][0][1].x = 16 * (1 + wg_rng_below(rng, 32)) - 1;
        r->t->regs.src.owner_a[0] = r->t->regs.src.owner_a[1] = 0;
        for (unsigned i = 1 + wg_rng_below(rng, 3); i--;)
            ur_push(r, 0, 0x01800000);
    }
    if (wg_rng_below(rng, 3) == 0) {
        uint32_t other = others[wg_rng_below(rng, 3)];
        for (unsigned i = wg_rng_below(rng, 6); i--;)
            ur_push(r, 1, other);
    }
    for (unsigned i = wg_rng_below(rng, 3); i--;) /* some core holds a line, or none does */
        r->t->regions.memory.l1.watch[PR_L1 / 16 + wg_rng_below(rng, 256)] = wg_rng_below(rng, 8) == 0;
    if (wg_rng_below(rng, 8) == 0)
        r->t->regs.dst.undefined[wg_rng_below(rng, 16)] = wg_rng_next(rng);
    if (wg_rng_below(rng, 8) == 0)
        wg_dst_block_written(r->t, 8 * wg_rng_below(rng, 16), r->t->sched.now + wg_rng_below(rng, 80));
    wg_wake_all(&r->t->sched);
}

/* A MOP of PACRs in bursts, and cycle by cycle: the same state at every check. */
static void test_bursts(void **state)
{
    ur *r[2];
    for (unsigned k = 0; k < 2; k++) {
        r[k] = pr_new(wg_test_arch(state), 16);
        pr_mark_dst(r[k]);
        r[k]->t->simd = (uint8_t)wg_simd_best();
        ur_unwatch(r[k]);
        r[k]->t->poll.look_at = r[k]->t->poll.stop_at = r[k]->t->horizon = WG_NEVER;
        for (unsigned i = 0; i < 16; i++) { /* groups of four rows; a Last begins a new one */
            unsigned first = wg_tcfg_fields[r[k]->t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
            r[k]->t->regs.config.thread[2][first + i % 4] = i & 1 ? 0x0020 : 0x0004;
        }
    }
    const char *soak = getenv("WG_SOAK");
    wg_rng rng = {4242 + (soak ? strtoull(soak, NULL, 10) : 0)};
    char again[80];
    snprintf(again, sizeof again, "WG_SOAK=%s", soak ? soak : "0");
    unsigned passed = 0;
    for (unsigned round = 0; round < wg_test_rounds(8000, 160000); round++) {
        wg_rng same = rng;
        uint64_t end = 0;
        wg_test_at(again, "round %u, cycle %llu", round, (unsigned long long)r[0]->t->sched.now);
        for (unsigned k = 0; k < 2; k++) {
            rng = same;
            if (round % 40 == 0) {
                random_packer(&rng, r[k]);
                r[k]->t->regs.adc.unit[2][2][0].y = 0;
                unsigned first = wg_tcfg_fields[r[k]->t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
                r[k]->t->regs.config.thread[2][first] = wg_rng_below(&rng, 4) ? 0x0104 : 0x0014;
                r[k]->t->regs.config.thread[2][first + 1] = wg_rng_below(&rng, 2) ? 0x0020 : 0x2820;
                wg_wake_all(&r[k]->t->sched); /* as after every change from outside */
            }
            if (wg_thread_idle(r[k]->t, 2) && wg_thread_idle(r[k]->t, 1))
                push_burst(&rng, r[k]);
            end = r[k]->t->sched.now + 1 + wg_rng_below(&rng, wg_rng_below(&rng, 2) ? 200 : 12);
            passed += run_to(r[k], end, k == 0);
        }
        expect_same(r[0]->t, r[1]->t);
    }
    assert_true(!WG_FAST || passed > 1500);
    assert_true(!WG_FAST || wg_test_arch(state) == WG_ARCH_WH || r[0]->t->fast_uses[WG_FAST_BURSTS] > 300);
    for (unsigned k = 0; k < 2; k++)
        ur_free(r[k]);
}

static const wg_test tests[] = {
    WG_TEST(test_rows, WG_BH, ""),
    WG_TEST(test_rows_in_fours, WG_BH, ""),
    WG_TEST(test_repeated_packs, WG_BH | WG_WH, ""),
    WG_TEST(test_bursts, WG_BH | WG_WH, ""),
    WG_TEST(test_repeated_unpacks, WG_BH | WG_WH, ""),
    WG_TEST(test_waiting_unasked, WG_BH | WG_WH, ""),
    WG_TEST(test_unpackers_reset, WG_BH | WG_WH, ""),
};
WG_MAIN("move_fast", tests)
