/* SPDX-License-Identifier: Apache-2.0 */
/* Sync Unit: slots, mutexes, semaphores, the T cores' window. */
#include "frontend_rig.h"

#include "machine/frontend.h"

static bool is_bh(const fr *r) { return r->t->arch->id == WG_ARCH_BH; }

/* ---- Slots ------------------------------------------------------------------------------------------ */

static void test_one_cycle_each(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_SEMINIT(9, 3, 1));
    fr_push(r, 0, I_SEMPOST(1));
    fr_push(r, 0, I_SEMGET(3));
    fr_push(r, 0, I_ATGETM(0));
    fr_push(r, 0, I_ATRELM(0));
    fr_push(r, 0, I_STALLWAIT(WG_B6, 1));
    fr_push(r, 0, I_NOP);
    fr_run(r, 20);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(fr_issued(r, 0, i), 3 + i);
    for (unsigned i = 0; i < 6; i++) /* done in the cycle that accepts it: the effect is visible in the next */
        assert_int_equal(fr_event(r, WG_EV_COMPLETED, WG_AGENT_SYNC, i)->cycle, FR_START + 3 + i);
    assert_true(wg_thread_idle(r->t, 0));
    fr_free(r);
}

static void test_one_slot_for_all(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    const uint32_t words[] = {I_SEMINIT(3, 0, 0x80), I_SEMPOST(1), I_SEMGET(2), I_STALLWAIT(WG_B6, 1),
                              I_SEMWAIT(WG_B6, 1, 2)};
    unsigned n = sizeof words / sizeof *words;
    for (unsigned i = 0; i < n; i++)
        for (unsigned thread = 0; thread < 3; thread++)
            fr_push(r, thread, words[(i + thread) % n]);
    fr_run(r, 60);
    uint64_t seen = 0;
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < n; i++) {
            uint64_t at = fr_issued(r, thread, i);
            assert_true(at != WG_NEVER && !(seen >> at & 1)); /* never two in one cycle */
            seen |= UINT64_C(1) << at;
        }
    for (unsigned thread = 0; thread < 3; thread++)
        assert_int_equal(fr_issued(r, thread, 0), 3 + thread);
    fr_free(r);
}

/* T cores' stores in phase C of given cycles. */
typedef struct store {
    uint64_t cycle;
    unsigned core, semaphore, value;
    uint64_t accepted;
} store;
typedef struct stores {
    store *s;
    unsigned n;
} stores;

static void do_stores(fr *r)
{
    stores *all = r->user;
    wg_stall why;
    for (unsigned i = 0; i < all->n; i++) {
        store *s = &all->s[i];
        if (!s->accepted && s->cycle + FR_START <= r->t->sched.now &&
            wg_sync_core_write(r->t, s->core, s->semaphore, s->value, &why) == WG_REGION_DONE)
            s->accepted = r->t->sched.now - FR_START;
    }
}

static void test_core_writes_share_the_slot(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    store s[] = {{5, WG_CORE_T0, 4, 0, 0}, {5, WG_CORE_T1, 5, 2, 0}, {5, WG_CORE_T2, 6, 0, 0}};
    stores all = {s, 3};
    r->regions = do_stores;
    r->user = &all;
    for (unsigned i = 0; i < 12; i++)
        fr_push(r, 0, I_SEMPOST(1));
    fr_run(r, 40);
    /* Threads 0 to 2, then T0 to T2, round-robin: thread 0 in 3 and 4, then a store each, then thread 0 again. */
    static const unsigned want[] = {3, 4, 8, 9, 10, 11};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(fr_issued(r, 0, i), want[i]);
    for (unsigned i = 0; i < 3; i++) {
        const wg_event *e = fr_event(r, WG_EV_SEMAPHORE, (int)(WG_AGENT_CORE_T0 + i), 0);
        assert_int_equal(e->cycle, FR_START + 5 + i);
        assert_int_equal(e->a, 4 + i);
        assert_int_equal(e->b, 1);
    }
    const wg_event *stall = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0);
    assert_int_equal(stall->stall.reason, WG_STALL_ARBITRATION);
    assert_int_equal(stall->stall.holder, WG_AGENT_CORE_T0);
    fr_free(r);
}

static void test_a_core_has_one_place(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    store s[] = {
        {5, WG_CORE_T0, 4, 0, 0}, {5, WG_CORE_T1, 4, 0, 0}, {6, WG_CORE_T1, 4, 0, 0}, {6, WG_CORE_T0, 4, 0, 0}};
    stores all = {s, 4};
    r->regions = do_stores;
    r->user = &all;
    fr_run(r, 20);
    assert_int_equal(s[0].accepted, 5); /* done in 5 */
    assert_int_equal(s[1].accepted, 5); /* done in 6 */
    assert_int_equal(s[2].accepted, 7); /* its place was taken in 6 */
    assert_int_equal(s[3].accepted, 6);
    assert_int_equal(r->t->backend.sync.value[4], 4);
    fr_free(r);
}

static unsigned reads_done;
static void read_all(fr *r)
{
    for (unsigned core = WG_CORE_T0; core <= WG_CORE_T2; core++) {
        assert_int_equal(wg_sync_core_read(r->t, core, 0), r->t->backend.sync.value[0]);
        reads_done++;
    }
}

static void test_core_reads_are_free(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    reads_done = 0;
    r->regions = read_all;
    for (unsigned i = 0; i < 10; i++)
        fr_push(r, 0, I_SEMPOST(1));
    fr_run(r, 20);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(fr_issued(r, 0, i), 3 + i);
    assert_int_equal(reads_done, 60);
    fr_free(r);
}

/* ---- Mutexes ---------------------------------------------------------------------------------------- */

static void test_three_mutexes_per_cycle(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++) {
        fr_push(r, thread, I_ATGETM(2 + thread));
        fr_push(r, thread, I_ATRELM(2 + thread));
    }
    fr_run(r, 10);
    for (unsigned thread = 0; thread < 3; thread++) {
        assert_int_equal(fr_issued(r, thread, 0), 3);
        assert_int_equal(fr_issued(r, thread, 1), 4);
    }
    /* The same one: one at a time; and they do not touch the semaphores' slot. */
    r->offer_from = FR_START + 10;
    fr_push(r, 0, I_ATRELM(0));
    fr_push(r, 1, I_ATRELM(0));
    fr_push(r, 2, I_SEMPOST(1));
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), 13);
    assert_int_equal(fr_issued(r, 1, 2), 14);
    assert_int_equal(fr_issued(r, 2, 2), 13);
    fr_free(r);
}

static void test_mutex_indices(void **state)
{
    for (unsigned index = 0; index < 20; index++) {
        for (unsigned release = 0; release < 2; release++) {
            fr *r = fr_new(wg_test_arch(state));
            fr_push(r, 1, release ? I_ATRELM(index) : I_ATGETM(index));
            fr_push(r, 1, I_NOP);
            fr_run(r, 50);
            bool valid = index == 0 || (index >= 2 && index <= (is_bh(r) ? 4u : 7u));
            if (valid != (fr_issued(r, 1, 0) == 3))
                fail_msg("mutex %u", index);
            if (valid && !release)
                assert_int_equal(r->t->backend.sync.mutex[index], 2);
            assert_int_equal(fr_found(r, WG_F_MUTEX_INVALID), !valid);
            if (!valid) {
                wg_gate_info info;
                wg_gate_state(r->t, 1, &info);
                assert_int_equal(info.stall.reason, WG_STALL_MUTEX_INVALID);
                assert_int_equal(info.stall.resource, index);
                assert_false(wg_thread_idle(r->t, 1));
                assert_int_equal(r->t->sched.next[WG_AGENT_THREAD1], WG_NEVER); /* it can never move again */
            }
            fr_free(r);
        }
    }
    /* [15:0]: no index beyond the last aliases a valid one. */
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_ATGETM(0x8000));
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 0), WG_NEVER);
    fr_free(r);
}

static void test_mutex_ownership(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_ATGETM(3)); /* 3 */
    fr_push(r, 0, I_ATGETM(3)); /* again: fine */
    r->offer_from = FR_START + 5;
    fr_push(r, 1, I_ATRELM(3)); /* 8: not the holder, no effect */
    fr_push(r, 1, I_ATGETM(3)); /* 9: waits */
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 1), 4);
    assert_int_equal(fr_issued(r, 1, 0), 8);
    assert_int_equal(fr_issued(r, 1, 1), WG_NEVER);
    assert_int_equal(r->t->backend.sync.mutex[3], 1);
    r->offer_from = FR_START + 30;
    fr_push(r, 0, I_ATRELM(3)); /* released in 33, taken in 34 */
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), 33);
    assert_int_equal(fr_issued(r, 1, 1), 34);
    assert_int_equal(r->t->backend.sync.mutex[3], 2);
    assert_int_equal(fr_event_count(r, WG_EV_MUTEX, -1), 4);
    assert_int_equal(fr_event(r, WG_EV_MUTEX, -1, 2)->b, 0);
    /* Several try to take a free one: one wins, by turn. */
    fr *q = fr_new(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++)
        fr_push(q, thread, I_ATGETM(0));
    fr_run(q, 20);
    assert_int_equal(q->t->backend.sync.mutex[0], 1);
    assert_int_equal(fr_event_count(q, WG_EV_ISSUED, -1), 1);
    fr_free(q);
    fr_free(r);
}

static void test_mutex_fairness(void **state)
{
    for (unsigned releaser = 0; releaser < 3; releaser++) {
        fr *r = fr_new(wg_test_arch(state));
        fr_push(r, releaser, I_ATGETM(2));
        fr_run(r, 10);
        for (unsigned k = 1; k < 3; k++)
            fr_push(r, (releaser + k) % 3, I_ATGETM(2));
        fr_run(r, 10);
        fr_push(r, releaser, I_ATRELM(2));
        fr_run(r, 10);
        assert_int_equal(r->t->backend.sync.mutex[2], (releaser + 1) % 3 + 1);
        fr_free(r);
    }
}

/* ---- Semaphores ------------------------------------------------------------------------------------- */

static void test_semaphore_values(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_SEMINIT(2, 9, 0x0F));
    fr_push(r, 0, I_SEMINIT(15, 0, 0xF0));
    fr_run(r, 10);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(r->t->backend.sync.max[i], i < 4 ? 2 : 15);
        assert_int_equal(r->t->backend.sync.value[i], i < 4 ? 9 : 0);
    }
    for (unsigned i = 0; i < 10; i++)
        fr_push(r, 0, I_SEMPOST(0x11)); /* past Max, up to 15 */
    for (unsigned i = 0; i < 12; i++)
        fr_push(r, 0, I_SEMGET(0x22)); /* down to 0 */
    fr_run(r, 40);
    static const uint8_t want[8] = {15, 0, 9, 9, 10, 0, 0, 0};
    assert_memory_equal(r->t->backend.sync.value, want, 8);
    /* All selected ones in one step. */
    const wg_event *first = fr_event(r, WG_EV_SEMAPHORE, -1, 8), *second = fr_event(r, WG_EV_SEMAPHORE, -1, 9);
    assert_int_equal(first->cycle, second->cycle);
    assert_int_equal(first->a, 0);
    assert_int_equal(second->a, 4);
    assert_int_equal(first->b, 10);
    assert_int_equal(first->c, 2);
    fr_free(r);
}

static void test_core_writes(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    wg_stall why;
    r->t->backend.sync.value[2] = 14;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(wg_sync_core_write(r->t, WG_CORE_T1, 2, 0xFFFFFFFE, &why), WG_REGION_DONE);
        fr_run(r, 2);
    }
    assert_int_equal(r->t->backend.sync.value[2], 15);
    for (unsigned i = 0; i < 17; i++) {
        assert_int_equal(wg_sync_core_write(r->t, WG_CORE_T1, 2, 3, &why), WG_REGION_DONE);
        fr_run(r, 2);
    }
    assert_int_equal(r->t->backend.sync.value[2], 0);
    fr_free(r);
}

static void test_window_bypasses_the_fifo(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1)); /* waits for a post … */
    fr_push(r, 0, I_SEMPOST(2));
    fr_run(r, 20);
    wg_stall why;
    assert_int_equal(wg_sync_core_read(r->t, WG_CORE_T0, 1), 0);
    assert_int_equal(wg_sync_core_write(r->t, WG_CORE_T0, 0, 0, &why), WG_REGION_DONE); /* … which overtakes it */
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 1), 22);
    assert_int_equal(wg_sync_core_read(r->t, WG_CORE_T0, 1), 1);
    fr_free(r);
}

static void test_no_combined_wait_and_change(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->t->backend.sync.value[0] = 1;
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1)); /* met at once … */
    fr_push(r, 0, I_SEMGET(1));            /* … but this passes two cycles later */
    r->offer_from = FR_START + 1;
    fr_push(r, 1, I_SEMGET(1)); /* and this comes in between */
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 0), 3);
    assert_int_equal(fr_issued(r, 1, 0), 4);
    assert_int_equal(fr_issued(r, 0, 1), 5);
    assert_int_equal(r->t->backend.sync.value[0], 0); /* the second get was lost */
    fr_free(r);
}

static void test_posts_do_not_wait_for_other_units(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    r->unit[WG_UNIT_MATRIX].latency = 30;
    int matrix = is_bh(r) ? 4 : 7;
    fr_push(r, 0, I_MATRIX);
    fr_push(r, 0, I_SEMPOST(1));
    fr_push(r, 0, I_STALLWAIT(WG_B1, 1u << matrix));
    fr_push(r, 0, I_SEMPOST(2));
    fr_run(r, 60);
    assert_int_equal(fr_issued(r, 0, 1), 4);  /* while the Matrix Unit still works */
    assert_int_equal(fr_issued(r, 0, 3), 34); /* done in 33 */
    fr_free(r);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"FPU_SFPU",  "MATH_PACK",   "UNPACK_TO_DEST",   "UNPACK_OPERAND_SYNC",
                                        "PACK_DONE", "UNPACK_SYNC", "UNPACK_MATH_DONE", "MATH_DONE"};
    for (unsigned i = 0; i < 8; i++)
        assert_string_equal(wg_semaphore_name(i), names[i]);
    assert_string_equal(wg_semaphore_name(8), "");
}

static const wg_test tests[] = {
    WG_COVERS(test_one_cycle_each, WG_BH | WG_WH, "SYNC-01",
              "SEMINIT:timing SEMPOST:timing SEMGET:timing ATGETM:timing ATRELM:timing"),
    WG_TEST(test_one_slot_for_all, WG_BH | WG_WH, "SYNC-03"),
    WG_TEST(test_core_writes_share_the_slot, WG_BH | WG_WH, "SYNC-03"),
    WG_TEST(test_a_core_has_one_place, WG_BH | WG_WH, "SYNC-03"),
    WG_TEST(test_core_reads_are_free, WG_BH | WG_WH, "SYNC-04"),
    WG_COVERS(test_three_mutexes_per_cycle, WG_BH | WG_WH, "SYNC-02", "ATGETM:timing ATRELM:timing"),
    WG_TEST(test_mutex_indices, WG_BH | WG_WH, "SYNC-05"),
    WG_COVERS(test_mutex_ownership, WG_BH | WG_WH, "SYNC-06", "ATGETM:value ATRELM:value"),
    WG_TEST(test_mutex_fairness, WG_BH | WG_WH, "SYNC-07"),
    WG_COVERS(test_semaphore_values, WG_BH | WG_WH, "SEM-01 SEM-02 SEM-03", "SEMINIT:value SEMPOST:value SEMGET:value"),
    WG_TEST(test_core_writes, WG_BH | WG_WH, ""),
    WG_TEST(test_window_bypasses_the_fifo, WG_BH | WG_WH, "SEM-07 SEM-11"),
    WG_TEST(test_no_combined_wait_and_change, WG_BH | WG_WH, "SYNC-08"),
    WG_TEST(test_posts_do_not_wait_for_other_units, WG_BH | WG_WH, "SEM-16"),
    WG_TEST(test_names, WG_BH | WG_WH, "SEM-09"),
};
WG_MAIN("sync", tests)
