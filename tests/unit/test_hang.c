/* SPDX-License-Identifier: Apache-2.0 */
/* The hang report: each kind of wait gives its edge, its circle or dead end, and a story that names it. */
#include "wgtest.h"

#include <stdio.h>

#include "cli/tasm.h"
#include "explain/hang.h"

typedef struct scene {
    wg_device *dev;
    wg_history history;
    wg_hang hang;
} scene;

/* Pushes the streams, one word per cycle, and runs until the device reports a hang. */
static scene *play(void **state, const char *source)
{
    scene *s = calloc(1, sizeof *s);
    wg_tasm t;
    assert_non_null(s);
    if (!wg_tasm_parse(&t, "hang", source, strlen(source), wg_test_arch(state)))
        fail_msg("%s", t.error[0].message);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    assert_int_equal(wg_create(&desc, &s->dev), WG_OK);
    assert_int_equal(wg_observe(s->dev, WG_HISTORY_EVENTS, wg_history_event, &s->history, NULL), WG_OK);
    for (size_t i = 0, more = 1; more; i++) {
        more = 0;
        for (unsigned thread = 0; thread < WG_THREADS; thread++)
            if (i < t.stream[thread].words) {
                assert_int_equal(wg_push(s->dev, thread, t.stream[thread].word[i].word), WG_OK);
                more = 1;
            }
        wg_advance(s->dev, 1);
    }
    wg_stop stop;
    wg_run(s->dev, 100000, &stop);
    assert_int_equal(stop, WG_STOP_HUNG);
    wg_hang_inspect(s->dev, &s->history, true, &s->hang);
    wg_tasm_free(&t);
    return s;
}

static void leave(scene *s)
{
    wg_destroy(s->dev);
    free(s);
}

static bool has_edge(const scene *s, const char *from, const char *to)
{
    char a[80], b[80];
    for (unsigned i = 0; i < s->hang.edges; i++)
        if (strcmp(wg_node_name(&s->hang, s->hang.edge[i].from, a, sizeof a), from) == 0 &&
            strcmp(wg_node_name(&s->hang, s->hang.edge[i].to, b, sizeof b), to) == 0)
            return true;
    return false;
}

static void says(const scene *s, const char *words)
{
    if (!strstr(s->hang.story, words))
        fail_msg("`%s` is not in: %s", words, s->hang.story);
}

static void test_mutex_circle(void **state)
{
    scene *s =
        play(state,
             ".thread 0\n atgetm 0\n nop\n nop\n nop\n atgetm 2\n.thread 1\n atgetm 2\n nop\n nop\n nop\n atgetm 0\n");
    assert_true(s->hang.circular);
    assert_int_equal(s->hang.path_length, 4);
    assert_true(has_edge(s, "thread 0", "mutex 2") && has_edge(s, "mutex 2", "thread 1"));
    assert_true(has_edge(s, "thread 1", "mutex 0") && has_edge(s, "mutex 0", "thread 0"));
    says(s, "in a circle");
    says(s, "thread 1 holds it");
    says(s, "same order everywhere");
    assert_int_equal(s->hang.thread[0].history_count, 4);
    assert_int_equal(s->hang.thread[0].history[0].word, 0xA0000000);
    leave(s);
}

static void test_semaphore_dead_end(void **state)
{
    scene *s = play(
        state, ".thread 2\n seminit 1, 0, SEMAPHORE_1\n semwait STALL_MATH|STALL_PACK, SEMAPHORE_1, STALL_ON_ZERO\n"
               " setrwc 0, 0, 0, 0, 0, 0\n");
    assert_false(s->hang.circular);
    assert_true(has_edge(s, "thread 2", "semaphore 1 (MATH_PACK)"));
    assert_true(has_edge(s, "semaphore 1 (MATH_PACK)", "nobody"));
    assert_string_equal(s->hang.thread[2].latch,
                        "blocks packing, Matrix Unit instructions until semaphore 1 (MATH_PACK) is above zero");
    says(s, "no SEMPOST of it is queued anywhere");
    says(s, "once for each wait");
    leave(s);
}

/* Thread 0's post comes after its own wait for thread 1, whose post comes after the wait for thread 0. */
static void test_semaphore_circle(void **state)
{
    scene *s = play(state, ".thread 0\n semwait STALL_THREAD, SEMAPHORE_2, STALL_ON_ZERO\n sempost SEMAPHORE_1\n"
                           ".thread 1\n semwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n sempost SEMAPHORE_2\n");
    assert_true(s->hang.circular);
    assert_true(has_edge(s, "semaphore 2 (UNPACK_TO_DEST)", "thread 1"));
    assert_true(has_edge(s, "semaphore 1 (MATH_PACK)", "thread 0"));
    says(s, "a SEMPOST of it is queued in thread 1");
    leave(s);
}

static void test_semaphore_at_maximum(void **state)
{
    scene *s =
        play(state, ".thread 0\n seminit 2, 2, SEMAPHORE_7\n semwait STALL_THREAD, SEMAPHORE_7, STALL_ON_MAX\n nop\n");
    assert_true(has_edge(s, "thread 0", "semaphore 7 (MATH_DONE)"));
    says(s, "has reached its maximum (2 of 2)");
    says(s, "no SEMGET of it");
    leave(s);
}

static void test_bank_never_handed_over(void **state)
{
    scene *s = play(state, ".thread 1\n elwadd 0, 0, 0, 0, 0\n");
    assert_false(s->hang.circular);
    assert_true(has_edge(s, "thread 1", "SrcA bank 0") || has_edge(s, "thread 1", "SrcB bank 0"));
    says(s, "is not the Matrix Unit's");
    says(s, "UNPACR or SETDVALID");
    leave(s);
}

static void test_invalid_mutex(void **state)
{
    scene *s = play(state, ".thread 0\n atgetm 1\n");
    assert_true(has_edge(s, "thread 0", "nobody"));
    says(s, "mutex 1 does not exist");
    leave(s);
}

/* Words that the host has not pushed yet are taken into account. */
static void test_pending_words(void **state)
{
    scene *s = play(state, ".thread 1\n semwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n nop\n");
    const uint32_t pending = 0xA4000008;
    s->history.pending[0] = (wg_pending){&pending, 1, sizeof pending};
    wg_hang_inspect(s->dev, &s->history, true, &s->hang);
    assert_true(has_edge(s, "semaphore 1 (MATH_PACK)", "thread 0"));
    leave(s);
}

static void test_latch_words(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    char text[WG_HANG_WORDS];
    unsigned matrix = 0;
    while (arch->wait_conditions[matrix] != WG_WAIT_MATRIX)
        matrix++;
    wg_latch latch = {.kind = WG_LATCH_STALLWAIT, .block = 4, .conditions = (uint16_t)(1u << matrix)};
    wg_latch_text(arch, &latch, text, sizeof text);
    assert_string_equal(text, "blocks packing until the Matrix Unit is idle for this thread");
    latch = (wg_latch){.kind = WG_LATCH_EMPTY};
    wg_latch_text(arch, &latch, text, sizeof text);
    assert_string_equal(text, "");
    /* All of it fits at once, or is cut at the end. */
    latch = (wg_latch){.kind = WG_LATCH_STALLWAIT, .block = 0xFF, .conditions = 0xFFFF};
    wg_latch_text(arch, &latch, text, sizeof text);
    assert_true(strlen(text) < sizeof text);
}

static const wg_test tests[] = {
    WG_TEST(test_mutex_circle, WG_BH | WG_WH, ""),
    WG_TEST(test_semaphore_dead_end, WG_BH | WG_WH, ""),
    WG_TEST(test_semaphore_circle, WG_BH | WG_WH, ""),
    WG_TEST(test_semaphore_at_maximum, WG_BH | WG_WH, ""),
    WG_TEST(test_bank_never_handed_over, WG_BH | WG_WH, ""),
    WG_TEST(test_invalid_mutex, WG_BH | WG_WH, ""),
    WG_TEST(test_pending_words, WG_BH, ""),
    WG_TEST(test_latch_words, WG_BH | WG_WH, ""),
};
WG_MAIN("hang", tests)
