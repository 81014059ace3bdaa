/* SPDX-License-Identifier: Apache-2.0 */
/* FIFO, MOP Expander, mux, Replay Expander: output, cycles and findings. */
#include "frontend_rig.h"

#include "machine/frontend.h"

static bool is_bh(const fr *r) { return r->t->arch->id == WG_ARCH_BH; }

/* ---- Stages and order ------------------------------------------------------------------------------- */

static void test_three_cycles_from_push_to_gate(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned i = 0; i < 5; i++)
        fr_push(r, 1, i % 2 ? I_NOP : I_SEMPOST(1));
    fr_run(r, 20);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(fr_taken_at(r, 1, i), i);
        assert_int_equal(fr_issued(r, 1, i), i + 3);
        assert_int_equal(fr_issued_word(r, 1, i), i % 2 ? I_NOP : I_SEMPOST(1));
        assert_int_equal(fr_event(r, WG_EV_ISSUED, WG_AGENT_THREAD1, i)->id, i + 1);
    }
    fr_free(r);
}

static void test_threads_are_independent(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned i = 0; i < WG_CORES; i++) {
        static const char *const names[] = {"B", "NC", "T0", "T1", "T2"};
        assert_string_equal(wg_agent_name(WG_AGENT_CORE_B + i), names[i]);
    }
    fr_push(r, 1, I_SEMWAIT(0x1FF, 1, 1)); /* semaphore 0 is 0: forever */
    for (unsigned i = 0; i < 60; i++)
        for (unsigned thread = 0; thread < 3; thread++)
            fr_push(r, thread, I_NOP);
    fr_run(r, 100);
    for (unsigned i = 0; i < 60; i++) {
        assert_int_equal(fr_issued(r, 0, i), i + 3);
        assert_int_equal(fr_issued(r, 2, i), i + 3);
    }
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD1), 1);
    fr_free(r);
}

static void test_one_leaves_per_cycle(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    uint32_t four[4] = {I_NOP, I_SEMPOST(1), I_NOP, I_SEMGET(1)};
    fr_push_fused(r, 0, four, 4);
    for (unsigned left = 4; left > 0; left--) {
        wg_gate_info info;
        fr_run(r, 1);
        wg_gate_state(r->t, 0, &info);
        assert_int_equal(info.fifo, left);
    }
    fr_run(r, 20);
    assert_int_equal(fr_taken_at(r, 0, 0), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fr_issued(r, 0, i), 3 + i);
        assert_int_equal(fr_issued_word(r, 0, i), four[i]);
    }
    fr_free(r);
}

static void test_opcode_and_parameters(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    /* SEMINIT max 5, value 3, semaphores 0 and 7 */
    fr_push(r, 0, 0xA3000000u | 0x5u << 20 | 0x3u << 16 | 0x81u << 2);
    fr_run(r, 10);
    assert_int_equal(r->t->backend.sync.max[0], 5);
    assert_int_equal(r->t->backend.sync.value[7], 3);
    assert_int_equal(r->t->backend.sync.value[1], 0);
    static const struct {
        uint8_t opcode;
        uint16_t op;
        uint8_t unit;
    } table[] = {{0x01, WG_I_MOP, WG_UNIT_FRONTEND},    {0x02, WG_I_NOP, WG_UNIT_NONE},
                 {0x04, WG_I_REPLAY, WG_UNIT_FRONTEND}, {0xA0, WG_I_ATGETM, WG_UNIT_SYNC},
                 {0xA2, WG_I_STALLWAIT, WG_UNIT_SYNC},  {0xA6, WG_I_SEMWAIT, WG_UNIT_SYNC},
                 {0xB2, WG_I_SETC16, WG_UNIT_CONFIG},   {0x41, WG_I_PACR, WG_UNIT_PACK}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        const wg_isa_insn *record = wg_isa_decode(r->t->arch->id, (uint32_t)table[i].opcode << 24 | 0xFFFFFF);
        assert_int_equal(record->id, table[i].op);
        assert_int_equal(record->unit, table[i].unit);
    }
    fr_free(r);
}

static void test_invalid_words_are_reported_and_pass(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, 0xFF123456);
    fr_push(r, 0, I_SEMPOST(1) | 1); /* bit 0 is in no operand */
    fr_push(r, 0, I_NOP);
    fr_run(r, 12);
    assert_int_equal(fr_issued(r, 0, 0), 3);
    assert_int_equal(fr_issued(r, 0, 2), 5);
    assert_int_equal(fr_found(r, WG_F_INVALID_OPCODE), 1);
    assert_int_equal(fr_finding(r, WG_F_INVALID_OPCODE)->word, 0xFF123456);
    assert_int_equal(fr_found(r, WG_F_SPARE_BITS), 1);
    assert_int_equal(r->t->backend.sync.value[0], 1);
    fr_free(r);
}

/* ---- Capacity --------------------------------------------------------------------------------------- */

/* A gate that never opens; the wait itself has left the FIFOs. */
static void hold_gate(fr *r, unsigned thread)
{
    fr_push(r, thread, I_SEMWAIT(0x1FF, 1, 1));
    fr_run(r, 20);
    assert_int_equal(fr_taken(r, thread), 1);
}

static void test_single_pushes_fill_up(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    static const unsigned wh[3] = {32 + 8 + 2, 16 + 8 + 2, 16 + 8 + 2};
    for (unsigned thread = 0; thread < 3; thread++) {
        hold_gate(r, thread);
        for (unsigned i = 0; i < 60; i++)
            fr_push(r, thread, I_NOP);
    }
    fr_run(r, 300);
    for (unsigned thread = 0; thread < 3; thread++) {
        assert_int_equal(fr_taken(r, thread), 1 + (is_bh(r) ? 29 : wh[thread]));
        wg_gate_info info;
        wg_gate_state(r->t, thread, &info);
        assert_int_equal(info.gate_fifo, 2);
        assert_int_equal(info.replay_fifo, 8);
        assert_int_equal(info.fifo, is_bh(r) ? 19 : wh[thread] - 10);
        assert_int_equal(info.stall.reason, WG_STALL_LATCHED_WAIT);
    }
    /* After the gate opens, everything passes in order and the rest is pushed: nothing is lost. */
    fr_push(r, 2, I_NOP);
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 300);
    for (unsigned thread = 0; thread < 3; thread++) {
        assert_int_equal(fr_taken(r, thread), 61 + (thread == 2));
        for (unsigned i = 1; i < 61; i++)
            assert_int_equal(fr_event(r, WG_EV_ISSUED, (int)(WG_AGENT_THREAD0 + thread), i)->id, i + 1);
    }
    fr_free(r);
}

static void test_a_freed_slot_is_refilled_in_the_cycle(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
    for (unsigned i = 0; i < 60; i++)
        fr_push(r, 0, I_NOP);
    fr_run(r, 200);
    unsigned full = fr_taken(r, 0);
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 10);
    /*
     * D at 200 finds it met; the first NOP passes at 201. BH decrements its count then and is back at 28 at once; on WH
     * the whole chain moves up in that cycle.
     */
    assert_int_equal(fr_issued(r, 0, 1), 201);
    assert_int_equal(fr_taken_at(r, 0, full), 201);
    assert_int_equal(fr_taken_at(r, 0, full + 1), 202);
    fr_free(r);
}

static void test_fused_pushes_reach_32(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    hold_gate(r, 0);
    uint32_t four[4] = {I_NOP, I_NOP, I_NOP, I_NOP};
    for (unsigned i = 0; i < 12; i++)
        fr_push_fused(r, 0, four, 4);
    fr_run(r, 100);
    assert_int_equal(fr_taken(r, 0), 1 + 8); /* 28, then four more */
    wg_gate_info info;
    wg_gate_state(r->t, 0, &info);
    assert_int_equal(info.fifo + info.replay_fifo + info.gate_fifo, 32);
    /* Above 28 it accepts nothing until it is back at 28: four instructions must pass. */
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 1), 121);
    assert_int_equal(fr_issued(r, 0, 4), 124);
    assert_int_equal(fr_taken_at(r, 0, 9), 124);
    fr_free(r);
}

static void test_expansions_add_room(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    hold_gate(r, 0);
    r->t->frontend[0].mop_cfg[0] = 100;
    r->t->frontend[0].mop_cfg[1] = 0;
    r->t->frontend[0].mop_cfg[2] = I_SEMPOST(2);
    r->t->frontend[0].mop_cfg[3] = I_NOP;
    r->t->frontend[0].mop_cfg[6] = I_NOP;
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 50);
    wg_gate_info info;
    wg_gate_state(r->t, 0, &info);
    assert_int_equal(info.gate_fifo + info.replay_fifo, 10);
    assert_true(info.expanding);
    assert_int_equal(info.mop_outer, 10);
    for (unsigned i = 0; i < 60; i++)
        fr_push(r, 0, I_NOP);
    fr_run(r, 100);
    assert_int_equal(fr_taken(r, 0), 2 + (is_bh(r) ? 29 : 32));
    fr_free(r);
}

/* ---- B and the mux ---------------------------------------------------------------------------------- */

static void test_b_enters_behind_the_mop_expander(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push_b(r, 2, I_SEMPOST(4));
    fr_push_b(r, 2, I_REPLAY(0, 2, 0, 1));
    fr_push_b(r, 2, I_SEMPOST(1));
    fr_push_b(r, 2, I_SEMPOST(2));
    fr_push_b(r, 2, I_REPLAY(0, 2, 0, 0));
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 2, 0), 3);
    assert_int_equal(fr_issued_word(r, 2, 1), I_SEMPOST(1));
    assert_int_equal(fr_issued_word(r, 2, 2), I_SEMPOST(2));
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD2), 3);
    /* A MOP pushed by B is not expanded; it is reported. */
    fr_push_b(r, 2, I_MOP(1, 0, 0));
    fr_run(r, 10);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD2), 4);
    assert_int_equal(fr_issued_word(r, 2, 3), I_MOP(1, 0, 0));
    assert_int_equal(fr_found(r, WG_F_FRONTEND_INSN_LATE), 1);
    assert_non_null(strstr(fr_finding(r, WG_F_FRONTEND_INSN_LATE)->detail, "MOP pushed by B"));
    fr_free(r);
}

static void test_b_stalls_at_eight_and_two(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    hold_gate(r, 1);
    for (unsigned i = 0; i < 20; i++)
        fr_push_b(r, 1, I_NOP);
    fr_run(r, 100);
    assert_int_equal(r->from_b[1].head, 10);
    assert_true(wg_replay_fifo_full(r->t, 1));
    assert_int_equal(wg_instrn_buf_status(r->t), 0x55);
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 100);
    assert_int_equal(r->from_b[1].head, 20);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD1), 21);
    assert_int_equal(wg_instrn_buf_status(r->t), 0x77);
    fr_free(r);
}

static void test_mux_discards_the_t_side(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned i = 0; i < 6; i++)
        fr_push(r, 0, I_SEMPOST(1u << i));
    r->offer_from = FR_START + 2; /* both are at the mux in cycle 3 */
    fr_push_b(r, 0, I_SEMPOST(0x80));
    fr_run(r, 30);
    /* T's third word, pushed in 2, collided with B's: it is lost, and only it. */
    assert_int_equal(fr_event_count(r, WG_EV_LOST, -1), 1);
    assert_int_equal(fr_event(r, WG_EV_LOST, -1, 0)->word, I_SEMPOST(4));
    assert_int_equal(fr_event(r, WG_EV_LOST, -1, 0)->cycle, FR_START + 3);
    assert_int_equal(fr_found(r, WG_F_LOST_AT_MUX), 1);
    assert_int_equal(fr_finding(r, WG_F_LOST_AT_MUX)->word, I_SEMPOST(4));
    static const uint8_t value[8] = {1, 1, 0, 1, 1, 1, 0, 1};
    assert_memory_equal(r->t->backend.sync.value, value, 8);
    assert_int_equal(fr_issued_word(r, 0, 2), I_SEMPOST(0x80));
    assert_int_equal(r->t->frontend[0].direct_downstream, 0);
    assert_true(wg_thread_idle(r->t, 0));
    fr_free(r);
}

static void test_debug_bus_owns_the_fifo(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    wg_debug_control(r->t, 0, true);
    fr_push(r, 0, I_SEMPOST(1));
    fr_push_b(r, 0, I_SEMPOST(2));
    fr_run(r, 10);
    wg_debug_push(r->t, 0, I_SEMPOST(4));
    fr_run(r, 10);
    wg_debug_control(r->t, 0, false);
    fr_push(r, 0, I_SEMPOST(8));
    fr_run(r, 10);
    static const uint8_t value[8] = {0, 0, 1, 1};
    assert_memory_equal(r->t->backend.sync.value, value, 8);
    assert_int_equal(fr_event_count(r, WG_EV_LOST, -1), 2);
    fr_free(r);
}

/* ---- MOP Expander ----------------------------------------------------------------------------------- */

static void set_mop_cfg(fr *r, const uint32_t *cfg) { memcpy(r->t->frontend[0].mop_cfg, cfg, 9 * sizeof *cfg); }

/* The documented functional model, written independently; fills `out`, returns the count. */
static unsigned model_mop(const uint32_t *cfg, uint32_t mop, uint32_t mask_hi, uint32_t *out)
{
    unsigned n = 0;
#define NOT_NOP(w) ((w) >> 24 != 2)
    if (!(mop >> 23 & 1)) {
        uint32_t mask = mask_hi << 16 | (mop & 0xFFFF);
        for (unsigned i = 0; i <= (mop >> 16 & 127); i++, mask >>= 1) {
            if (mask & 1) {
                out[n++] = cfg[7];
                if (cfg[1] & 1)
                    out[n++] = cfg[8];
                continue;
            }
            out[n++] = cfg[3];
            if (cfg[1] & 2) {
                out[n++] = cfg[4];
                out[n++] = cfg[5];
                out[n++] = cfg[6];
            }
            if (cfg[1] & 1)
                out[n++] = cfg[2];
        }
        return n;
    }
    unsigned outer = cfg[0] & 127, inner = cfg[1] & 127;
    uint32_t op = cfg[5], flip = 0;
    if (NOT_NOP(cfg[6])) {
        flip = cfg[5] ^ cfg[6];
        inner *= 2;
    }
    if (outer == 1 && !NOT_NOP(cfg[2]) && inner == 0 && NOT_NOP(cfg[3]))
        outer += 128;
    for (unsigned j = 0; j < outer; j++) {
        if (NOT_NOP(cfg[2]))
            out[n++] = cfg[2];
        for (unsigned i = 0; i < inner; i++, op ^= flip)
            out[n++] = i + 1 < inner ? op : j + 1 < outer ? cfg[8] : cfg[7];
        if (NOT_NOP(cfg[3])) {
            out[n++] = cfg[3];
            if (NOT_NOP(cfg[4]))
                out[n++] = cfg[4];
        }
    }
    return n;
#undef NOT_NOP
}

static void expect_expansion(fr *r, uint32_t mop, uint32_t mask_hi)
{
    static uint32_t want[40000];
    unsigned n = model_mop(r->t->frontend[0].mop_cfg, mop, mask_hi, want);
    unsigned before = fr_event_count(r, WG_EV_EXPANDED, WG_AGENT_THREAD0);
    fr_push(r, 0, I_MOP_CFG(mask_hi));
    fr_push(r, 0, mop);
    fr_run(r, n + 20);
    assert_int_equal(fr_event_count(r, WG_EV_EXPANDED, WG_AGENT_THREAD0) - before, n);
    unsigned k = 0;
    uint64_t first = 0;
    for (size_t i = 0, seen = 0; i < r->events; i++) {
        const wg_event *e = &r->event[i];
        if (e->kind != WG_EV_EXPANDED || seen++ < before)
            continue;
        if (k == 0)
            first = e->cycle;
        assert_int_equal(e->word, want[k]);
        assert_int_equal(e->cycle, first + k); /* one per cycle */
        assert_int_not_equal(e->parent, 0);
        k++;
    }
    assert_true(wg_thread_idle(r->t, 0));
}

static void test_mop_templates(void **state)
{
    wg_rng rng = {wg_test_arch(state) + 1u};
    for (unsigned round = 0; round < 400; round++) {
        fr *r = fr_new(wg_test_arch(state));
        uint32_t cfg[9];
        for (unsigned i = 0; i < 9; i++) /* distinct words, a third of them NOP; DMANOP and SFPNOP are no NOPs here */
            cfg[i] = wg_rng_below(&rng, 3) == 0 ? I_NOP | (i << 4) : (wg_rng_below(&rng, 2) ? I_SCALAR : I_VECTOR) | i;
        cfg[0] = (uint32_t)wg_rng_next(&rng) & ~127u;
        cfg[0] |= wg_rng_below(&rng, 3) ? wg_rng_below(&rng, 6) : 1;
        cfg[1] = ((uint32_t)wg_rng_next(&rng) & ~127u) | wg_rng_below(&rng, 5);
        set_mop_cfg(r, cfg);
        expect_expansion(r, I_MOP(wg_rng_below(&rng, 2), wg_rng_below(&rng, 40), wg_rng_next(&rng) & 0xFFFF),
                         (uint32_t)wg_rng_next(&rng) & 0xFFFF);
        fr_free(r);
    }
}

static void test_mop_outer_count_quirk(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t cfg[9] = {1, 0, I_NOP, I_SEMPOST(1), I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    set_mop_cfg(r, cfg);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 200);
    assert_int_equal(fr_event_count(r, WG_EV_EXPANDED, WG_AGENT_THREAD0), 129);
    fr_free(r);
}

static void test_mop_longest_expansion(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t cfg[9] = {127,          127,          I_SCALAR,     I_SCALAR | 1, I_SCALAR | 2,
                             I_SCALAR | 3, I_SCALAR | 4, I_SCALAR | 5, I_SCALAR | 6};
    set_mop_cfg(r, cfg);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 32639 + 10);
    assert_int_equal(fr_event_count(r, WG_EV_EXPANDED, WG_AGENT_THREAD0), 32639);
    assert_int_equal(fr_issued(r, 0, 32638), 3 + 32638);
    fr_free(r);
}

static void test_mop_gap(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t cfg[9] = {2, 0, I_SEMPOST(1), I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    set_mop_cfg(r, cfg);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_NOP);
    fr_run(r, 30);
    static const unsigned want[] = {3, 4, 5, 6, /* one idle cycle */ 8, 9};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(fr_issued(r, 0, i), want[i]);
    /* Long after an expansion there is nothing to wait for. */
    fr_push(r, 0, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 6), 33);
    /* MOP_CFG ends in the expander, and takes a cycle there. */
    fr_push(r, 0, I_MOP_CFG(0));
    fr_push(r, 0, I_NOP);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 7), 44);
    fr_free(r);
}

static void test_mop_cfg_is_sampled_while_expanding(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t cfg[9] = {6, 0, I_SEMPOST(1), I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    set_mop_cfg(r, cfg);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 4); /* emitted in 1, 2, 3 */
    assert_int_equal(fr_found(r, WG_F_MOP_CFG_RACE), 0);
    wg_mop_cfg_write(r->t, 0, 2, I_SEMPOST(2), 0x1234);
    wg_mop_cfg_write(r->t, 0, 0, 100, 0x1234); /* the count is fixed by now */
    assert_int_equal(fr_found(r, WG_F_MOP_CFG_RACE), 2);
    assert_int_equal(fr_finding(r, WG_F_MOP_CFG_RACE)->pc, 0x1234);
    fr_run(r, 20);
    assert_int_equal(fr_event_count(r, WG_EV_EXPANDED, WG_AGENT_THREAD0), 6);
    assert_int_equal(r->t->backend.sync.value[0], 3);
    assert_int_equal(r->t->backend.sync.value[1], 3);
    wg_mop_cfg_write(r->t, 0, 2, I_SEMPOST(4), 0);
    assert_int_equal(fr_found(r, WG_F_MOP_CFG_RACE), 2);
    assert_int_equal(wg_mop_cfg_read(r->t, 0, 2, 0), 0);
    assert_int_equal(fr_found(r, WG_F_MOP_CFG_READ), 1);
    /* Nine words per thread, each thread its own. */
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned word = 0; word < 12; word++)
            wg_mop_cfg_write(r->t, thread, word, thread * 16 + word, 0);
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned word = 0; word < 9; word++)
            assert_int_equal(r->t->frontend[thread].mop_cfg[word], thread * 16 + word);
    fr_free(r);
}

static void test_mop_idle_and_thread_idle(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t cfg[9] = {4, 0, I_VECTOR, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    set_mop_cfg(r, cfg);
    r->unit[WG_UNIT_VECTOR].latency = 10;
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 1);
    assert_false(wg_thread_mop_idle(r->t, 0)); /* queued */
    fr_run(r, 4);
    assert_true(wg_thread_mop_idle(r->t, 0)); /* emitted in 1 to 4; the expansion is in flight */
    assert_false(wg_thread_idle(r->t, 0));
    assert_int_equal(wg_frontend_queue_status(r->t, 0), 1 << 9);
    fr_run(r, 2); /* the last passes in 6 … */
    assert_int_equal(wg_frontend_queue_status(r->t, 0), 0);
    assert_int_equal(wg_frontend_busy_status(r->t, 0), 1 << 9);
    assert_false(wg_thread_idle(r->t, 0));
    fr_run(r, 9); /* … and is done in 16 */
    assert_false(wg_thread_idle(r->t, 0));
    fr_run(r, 1);
    assert_true(wg_thread_idle(r->t, 0));
    fr_free(r);
}

/* ---- Replay Expander -------------------------------------------------------------------------------- */

static void test_replay_record_and_play(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_REPLAY(30, 4, 0, 1));
    for (unsigned i = 0; i < 4; i++)
        fr_push(r, 0, I_SEMPOST(1u << i));
    fr_push(r, 0, I_REPLAY(30, 4, 0, 0)); /* slots 30, 31, 0, 1 */
    fr_push(r, 0, I_REPLAY(0, 2, 1, 0));  /* execute means nothing here */
    fr_push(r, 0, I_NOP);
    fr_run(r, 40);
    static const unsigned slot[] = {0, 1, 2, 3, 2, 3};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(fr_issued_word(r, 0, i), I_SEMPOST(1u << slot[i]));
        /* REPLAY is pushed in 5, taken by its expander in 7: its first instruction passes in 8; no gap between two. */
        assert_int_equal(fr_issued(r, 0, i), 8 + i);
        assert_int_not_equal(fr_event(r, WG_EV_ISSUED, WG_AGENT_THREAD0, i)->parent, 0);
    }
    assert_int_equal(fr_issued(r, 0, 6), 14);
    fr_free(r);
}

static void test_replay_record_and_execute(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_REPLAY(0, 3, 1, 1));
    for (unsigned i = 0; i < 4; i++)
        fr_push(r, 0, I_SEMPOST(1u << i));
    fr_push(r, 0, I_REPLAY(0, 3, 0, 0));
    fr_run(r, 40);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fr_issued(r, 0, i), 4 + i);
        assert_int_equal(fr_event(r, WG_EV_ISSUED, WG_AGENT_THREAD0, i)->parent, 0);
    }
    static const uint8_t value[8] = {2, 2, 2, 1};
    assert_memory_equal(r->t->backend.sync.value, value, 8);
    fr_free(r);
}

static void test_replay_counts(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_REPLAY(5, 0, 0, 1)); /* 0 means 32 */
    for (unsigned i = 0; i < 32; i++)
        fr_push(r, 0, I_SEMPOST(0) | i << 18); /* recognisable; the bits are spare */
    fr_push(r, 0, I_REPLAY(5, 0, 0, 0));
    fr_run(r, 100);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD0), 32);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(fr_issued_word(r, 0, i), I_SEMPOST(0) | i << 18);
    assert_int_equal(fr_found(r, WG_F_REPLAY_COUNT), 0);
    fr_push(r, 0, I_REPLAY(5, 40, 0, 0));
    fr_run(r, 100);
    assert_int_equal(fr_found(r, WG_F_REPLAY_COUNT), 1);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD0), 72);
    assert_int_equal(fr_issued_word(r, 0, 32 + 33), I_SEMPOST(0) | 1 << 18);
    fr_free(r);
}

static void test_mop_may_make_replays(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_REPLAY(0, 2, 0, 1));
    fr_push(r, 0, I_SEMPOST(1));
    fr_push(r, 0, I_SEMPOST(2));
    const uint32_t cfg[9] = {3, 0, I_REPLAY(0, 2, 0, 0), I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    set_mop_cfg(r, cfg);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_push(r, 0, I_NOP);
    fr_run(r, 40);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD0), 7);
    for (unsigned i = 0; i < 7; i++) /* the gap after the expansion is hidden */
        assert_int_equal(fr_issued(r, 0, i), 6 + i);
    /* The converse does not hold: MOP and REPLAY in a replay are reported, not expanded. */
    fr_push_b(r, 0, I_REPLAY(0, 2, 0, 1));
    fr_push_b(r, 0, I_MOP(1, 0, 0));
    fr_push_b(r, 0, I_REPLAY(8, 2, 0, 0));
    fr_push_b(r, 0, I_REPLAY(0, 2, 0, 0));
    fr_run(r, 40);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD0), 9);
    assert_int_equal(fr_issued_word(r, 0, 7), I_MOP(1, 0, 0));
    assert_true(fr_found(r, WG_F_FRONTEND_INSN_LATE) >= 4);
    fr_free(r);
}

static void test_recording_needs_no_room(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    hold_gate(r, 0);
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_NOP);
    fr_push(r, 0, I_REPLAY(0, 4, 0, 1));
    for (unsigned i = 0; i < 4; i++)
        fr_push(r, 0, I_SEMPOST(2));
    fr_run(r, 40);
    wg_gate_info info;
    wg_gate_state(r->t, 0, &info);
    assert_int_equal(info.gate_fifo, 2);
    assert_int_equal(info.replay_fifo, 0);
    assert_int_equal(info.recording, 0);
    assert_int_equal(r->t->frontend[0].direct_downstream, 2);
    fr_free(r);
}

/* ---- Units ------------------------------------------------------------------------------------------ */

static void test_matrix_unit_takes_one(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned i = 0; i < 9; i++)
        for (unsigned thread = 0; thread < 3; thread++)
            fr_push(r, thread, I_MATRIX);
    fr_run(r, 60);
    for (unsigned i = 0; i < 9; i++)
        for (unsigned thread = 0; thread < 3; thread++)
            assert_int_equal(fr_issued(r, thread, i), 3 + 3 * i + thread);
    const wg_event *e = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD1, 0);
    assert_int_equal(e->stall.reason, WG_STALL_ARBITRATION);
    assert_int_equal(e->stall.holder, WG_AGENT_THREAD0);
    fr_free(r);
}

static void test_turn_moves_only_on_a_grant(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 2, I_MATRIX); /* alone: thread 0 has the next turn */
    fr_run(r, 10);
    r->offer_from = r->t->sched.now;
    for (unsigned thread = 0; thread < 3; thread++)
        fr_push(r, thread, I_MATRIX);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 0), 13);
    assert_int_equal(fr_issued(r, 1, 0), 14);
    assert_int_equal(fr_issued(r, 2, 1), 15);
    r->unit[WG_UNIT_MATRIX].refuses = true; /* nobody is granted anything: nothing moves */
    fr_push(r, 1, I_MATRIX);
    fr_push(r, 2, I_MATRIX);
    fr_run(r, 30);
    r->unit[WG_UNIT_MATRIX].refuses = false;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 1, 1), 50);
    assert_int_equal(fr_issued(r, 2, 2), 51);
    fr_free(r);
}

static void test_config_and_misc_take_one_per_thread(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++) {
        fr_push(r, thread, I_MISC);
        fr_push(r, thread, I_CONFIG);
        fr_push(r, thread, I_VECTOR);
    }
    fr_run(r, 30);
    for (unsigned thread = 0; thread < 3; thread++) {
        assert_int_equal(fr_issued(r, thread, 0), 3);
        assert_int_equal(fr_issued(r, thread, 1), 4);
        assert_int_equal(fr_issued(r, thread, 2), 5 + thread);
    }
    fr_free(r);
}

/* An expander that finds the next FIFO full reports a stall once, and reports when it continues. */
static void test_expanders_stall(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_busy(r, WG_UNIT_MATRIX, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(0x1FF, r->t->arch->id == WG_ARCH_BH ? 0x10 : 0x80));
    for (unsigned i = 0; i < 20; i++)
        fr_push(r, 0, I_NOP);
    fr_run(r, 40);
    static const struct {
        unsigned expander, from;
    } wanted[2] = {{1, 5}, {0, 12}}; /* Replay Expander, MOP Expander */
    unsigned n = 0;
    for (unsigned i = 0; fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, i); i++) {
        const wg_event *e = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, i);
        if (e->stall.reason != WG_STALL_FIFO_FULL)
            continue;
        assert_true(n < 2);
        assert_int_equal(e->stall.resource, wanted[n].expander);
        assert_int_equal(e->cycle, FR_START + wanted[n].from);
        n++;
    }
    assert_int_equal(n, 2);
    fr_busy(r, WG_UNIT_MATRIX, 0, 0, false);
    fr_run(r, 40);
    for (unsigned i = 0; fr_event(r, WG_EV_STALL_END, WG_AGENT_THREAD0, i); i++) {
        const wg_event *e = fr_event(r, WG_EV_STALL_END, WG_AGENT_THREAD0, i);
        if (e->stall.reason != WG_STALL_FIFO_FULL)
            continue;
        n--;
        assert_int_equal(e->cycle, FR_START + 41); /* the gate lets the first pass */
        assert_int_equal(e->a, FR_START + (e->stall.resource ? 5 : 12));
    }
    assert_int_equal(n, 0);
    fr_free(r);
}

/* Nine kinds: three of them take one instruction of each thread per cycle, the others one in all. */
static void test_nine_kinds(void **state)
{
    static const struct {
        uint32_t word;
        uint8_t unit;
        bool per_thread;
    } kinds[] = {
        {I_ATGETM(2), WG_UNIT_SYNC, true}, {I_UNPACK, WG_UNIT_UNPACK, false}, {I_MATRIX, WG_UNIT_MATRIX, false},
        {I_PACK, WG_UNIT_PACK, false},     {I_VECTOR, WG_UNIT_VECTOR, false}, {I_SCALAR, WG_UNIT_SCALAR, false},
        {I_CONFIG, WG_UNIT_CONFIG, true},  {I_MOVER, WG_UNIT_MOVER, false},   {I_MISC, WG_UNIT_MISC, true}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    assert_int_equal(KINDS, WG_UNIT_COUNT - WG_UNIT_SYNC);
    bool used[WG_UNIT_COUNT] = {false};
    for (unsigned opcode = 0; opcode < 256; opcode++)
        used[wg_isa_by_opcode(wg_test_arch(state), (uint8_t)opcode)->unit] = true;
    for (unsigned k = 0; k < KINDS; k++) {
        fr *r = fr_new(wg_test_arch(state));
        assert_true(used[kinds[k].unit]);
        assert_int_equal(wg_isa_decode(wg_test_arch(state), kinds[k].word)->unit, kinds[k].unit);
        for (unsigned thread = 0; thread < 3; thread++)
            fr_push(r, thread, kinds[k].word + (kinds[k].unit == WG_UNIT_SYNC ? thread : 0)); /* three mutexes */
        fr_run(r, 30);
        for (unsigned thread = 0; thread < 3; thread++)
            assert_int_equal(fr_issued(r, thread, 0), 3 + (kinds[k].per_thread ? 0 : thread));
        fr_free(r);
    }
}

static void test_units_run_concurrently(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_MATRIX].latency = 20;
    fr_push(r, 0, I_MATRIX);
    fr_push(r, 0, I_VECTOR);
    fr_push(r, 0, I_MATRIX | 1 << 4);
    fr_run(r, 60);
    const wg_event *matrix = fr_event(r, WG_EV_COMPLETED, WG_AGENT_MATRIX, 0);
    const wg_event *vector = fr_event(r, WG_EV_COMPLETED, WG_AGENT_VECTOR, 0);
    assert_int_equal(matrix->id, 1);
    assert_int_equal(matrix->cycle, FR_START + 23);
    assert_int_equal(vector->cycle, FR_START + 5);                             /* out of order */
    assert_int_equal(fr_event(r, WG_EV_COMPLETED, WG_AGENT_MATRIX, 1)->id, 3); /* in order within the unit */
    fr_free(r);
}

static void test_soft_reset_discards(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    hold_gate(r, 0);
    for (unsigned i = 0; i < 20; i++)
        fr_push(r, 0, I_SEMPOST(2));
    fr_run(r, 40);
    wg_frontend_discard(r->t, 0);
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 40);
    assert_int_equal(r->t->backend.sync.value[1], 10); /* the words after the MOP Expander continued */
    assert_true(wg_thread_idle(r->t, 0));
    fr_free(r);
}

static const wg_test tests[] = {
    WG_TEST(test_three_cycles_from_push_to_gate, WG_BH | WG_WH, "PIPE-02"),
    WG_TEST(test_threads_are_independent, WG_BH | WG_WH, "PIPE-01"),
    WG_TEST(test_one_leaves_per_cycle, WG_BH, "PIPE-06"),
    WG_TEST(test_opcode_and_parameters, WG_BH | WG_WH, "PIPE-07 PIPE-29"),
    WG_TEST(test_invalid_words_are_reported_and_pass, WG_BH | WG_WH, ""),
    WG_TEST(test_single_pushes_fill_up, WG_BH | WG_WH, "PIPE-03 PIPE-04 PIPE-05"),
    WG_TEST(test_a_freed_slot_is_refilled_in_the_cycle, WG_BH | WG_WH, "PIPE-04"),
    WG_TEST(test_fused_pushes_reach_32, WG_BH, "PIPE-03 PIPE-05"),
    WG_TEST(test_expansions_add_room, WG_BH | WG_WH, "PIPE-04"),
    WG_TEST(test_b_enters_behind_the_mop_expander, WG_BH | WG_WH, "PIPE-14"),
    WG_TEST(test_b_stalls_at_eight_and_two, WG_BH | WG_WH, "PIPE-14"),
    WG_TEST(test_mux_discards_the_t_side, WG_BH | WG_WH, "PIPE-15"),
    WG_TEST(test_debug_bus_owns_the_fifo, WG_BH | WG_WH, ""),
    WG_COVERS(test_mop_templates, WG_BH | WG_WH, "PIPE-16", "MOP:value MOP:timing MOP_CFG:value"),
    WG_TEST(test_mop_outer_count_quirk, WG_BH | WG_WH, "PIPE-16"),
    WG_TEST(test_mop_longest_expansion, WG_BH | WG_WH, "PIPE-16"),
    WG_COVERS(test_mop_gap, WG_BH | WG_WH, "PIPE-16", "MOP:timing MOP_CFG:timing NOP:timing"),
    WG_TEST(test_mop_cfg_is_sampled_while_expanding, WG_BH | WG_WH, "PIPE-17"),
    WG_TEST(test_mop_idle_and_thread_idle, WG_BH | WG_WH, ""),
    WG_COVERS(test_replay_record_and_play, WG_BH | WG_WH, "PIPE-18", "REPLAY:value REPLAY:timing"),
    WG_TEST(test_replay_record_and_execute, WG_BH | WG_WH, "PIPE-18"),
    WG_TEST(test_replay_counts, WG_BH | WG_WH, "PIPE-18"),
    WG_TEST(test_mop_may_make_replays, WG_BH | WG_WH, "PIPE-18"),
    WG_TEST(test_recording_needs_no_room, WG_BH | WG_WH, ""),
    WG_TEST(test_matrix_unit_takes_one, WG_BH | WG_WH, "PIPE-20"),
    WG_TEST(test_turn_moves_only_on_a_grant, WG_BH | WG_WH, "PIPE-20"),
    WG_TEST(test_config_and_misc_take_one_per_thread, WG_BH | WG_WH, ""),
    WG_TEST(test_expanders_stall, WG_BH | WG_WH, ""),
    WG_TEST(test_nine_kinds, WG_BH | WG_WH, "PIPE-19"),
    WG_TEST(test_units_run_concurrently, WG_BH | WG_WH, "PIPE-21"),
    WG_TEST(test_soft_reset_discards, WG_BH | WG_WH, ""),
};
WG_MAIN("frontend", tests)
