/* SPDX-License-Identifier: Apache-2.0 */
/* The sinks, driven by hand-made events: intervals without gaps, correct totals, log, trace, timeline. */
#include "wgtest.h"

#include <stdio.h>

#include "observe/sinks.h"

enum { MATRIX = WG_AGENT_MATRIX, T1 = WG_AGENT_THREAD1 };

typedef struct collected {
    char text[65536];
    size_t size;
} collected;

static bool collect(void *user, const char *text, size_t bytes)
{
    collected *c = user;
    if (c->size + bytes >= sizeof c->text)
        return false;
    memcpy(c->text + c->size, text, bytes);
    c->size += bytes;
    c->text[c->size] = 0;
    return true;
}

static const char *name_word(void *user, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes)
{
    (void)user;
    (void)agent;
    (void)pc;
    snprintf(room, bytes, "insn \"%u\"", word);
    return room;
}

static wg_event ev(uint64_t cycle, wg_event_kind kind, unsigned agent)
{
    return (wg_event){.cycle = cycle, .kind = (uint8_t)kind, .agent = (uint8_t)agent};
}

static wg_event insn(uint64_t cycle, wg_event_kind kind, unsigned agent, uint64_t id, unsigned unit)
{
    wg_event e = ev(cycle, kind, agent);
    e.id = id;
    e.word = (uint32_t)id * 10;
    e.thread = 1;
    e.b = unit;
    return e;
}

static wg_event stall(uint64_t cycle, unsigned agent, wg_stall_reason reason)
{
    wg_event e = ev(cycle, reason ? WG_EV_STALL_BEGIN : WG_EV_STALL_END, agent);
    e.stall.reason = (uint16_t)reason;
    e.stall.holder = MATRIX;
    return e;
}

/*
 * Thread 1: empty 0–4, issues at 5, stalls 6–9 because the unit is busy, then 10–11 for the mutex, issues at 12,
 * empty to 20. Matrix Unit: busy 5–9 and 12–19. Core T1: reset to 2, runs, load 4–6, runs, parked from 15.
 */
static const uint64_t END = 20;
static void play(wg_observer_fn fn, void *user)
{
    wg_event core_on = ev(2, WG_EV_CORE_STATE, WG_AGENT_CORE_T1), core_off = ev(15, WG_EV_CORE_STATE, WG_AGENT_CORE_T1);
    core_on.a = 1;
    core_off.a = 2;
    wg_event done = insn(10, WG_EV_COMPLETED, MATRIX, 1, 0);
    const wg_event events[] = {core_on,
                               stall(4, WG_AGENT_CORE_T1, WG_STALL_LOAD_RESPONSE),
                               insn(5, WG_EV_ISSUED, T1, 1, MATRIX),
                               stall(6, T1, WG_STALL_UNIT_BUSY),
                               stall(7, WG_AGENT_CORE_T1, WG_STALL_NONE),
                               done,
                               stall(10, T1, WG_STALL_MUTEX_HELD),
                               stall(12, T1, WG_STALL_NONE),
                               insn(12, WG_EV_ISSUED, T1, 2, MATRIX),
                               core_off};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        fn(user, &events[i]);
}

static const unsigned ALL_HELD = 31;

static void test_stats_add_up(void **state)
{
    (void)state;
    static wg_stats s;
    wg_stats_begin(&s, 0, ALL_HELD, WG_ARCH_BH, WG_PROFILE_SILICON);
    play(wg_stats_event, &s);
    wg_stats_end(&s, END);
    for (unsigned track = 0; track < WG_TRACKS; track++) {
        uint64_t sum = 0;
        for (unsigned d = 0; d < WG_DOINGS; d++)
            sum += s.cycles[track][d];
        assert_int_equal(sum, END);
    }
    assert_int_equal(s.cycles[T1][WG_DOING_WORK], 2);
    assert_int_equal(s.cycles[T1][WG_DOING_STALL + WG_STALL_UNIT_BUSY], 4);
    assert_int_equal(s.cycles[T1][WG_DOING_STALL + WG_STALL_MUTEX_HELD], 2);
    assert_int_equal(s.cycles[T1][WG_DOING_IDLE], 12);
    assert_int_equal(s.cycles[MATRIX][WG_DOING_WORK], 13);
    assert_int_equal(s.cycles[MATRIX][WG_DOING_IDLE], 7);
    assert_int_equal(s.cycles[WG_AGENT_CORE_T1][WG_DOING_RESET], 2);
    assert_int_equal(s.cycles[WG_AGENT_CORE_T1][WG_DOING_STALL + WG_STALL_LOAD_RESPONSE], 3);
    assert_int_equal(s.cycles[WG_AGENT_CORE_T1][WG_DOING_WORK], 10);
    assert_int_equal(s.cycles[WG_AGENT_CORE_T1][WG_DOING_PARKED], 5);
    assert_int_equal(s.cycles[WG_AGENT_CORE_B][WG_DOING_RESET], END);
    assert_int_equal(s.issued[T1], 2);
    assert_int_equal(s.issued[MATRIX], 2);
}

static void test_log_lines(void **state)
{
    (void)state;
    static collected c;
    static wg_commit_log log;
    static wg_sink_out out;
    c.size = 0;
    out = (wg_sink_out){.write = collect, .write_user = &c};
    log = (wg_commit_log){.out = &out, .words = {.text = name_word}};
    wg_event pushed = insn(3, WG_EV_PUSHED, T1, 1, 0), issued = insn(5, WG_EV_ISSUED, T1, 1, MATRIX);
    wg_event made = insn(6, WG_EV_EXPANDED, T1, 2, 0), retired = ev(7, WG_EV_CORE_RETIRE, WG_AGENT_CORE_B);
    made.parent = 1;
    retired.a = 0x6000;
    retired.word = 0x13;
    wg_commit_log_event(&log, &pushed);
    wg_commit_log_event(&log, &issued);
    wg_commit_log_event(&log, &made);
    wg_commit_log_event(&log, &retired);
    wg_sink_flush(&out);
    assert_string_equal(c.text,
                        "           3  thread 1  pushed     #1          0x0000000a  insn \"10\"\n"
                        "           5  thread 1  issued     #1          0x0000000a  insn \"10\"  -> Matrix Unit\n"
                        "           6  thread 1  expanded   #2          0x00000014  insn \"20\"  from #1\n"
                        "           7  B         retire     0x6000      0x00000013  insn \"19\"\n");
}

static void expect_in(const collected *c, const char *words)
{
    if (!strstr(c->text, words))
        fail_msg("the trace has no `%s`:\n%s", words, c->text);
}

static wg_trace_file file;

static void begin_trace(wg_trace *t, collected *c)
{
    memset(&file, 0, sizeof file);
    file.out = (wg_sink_out){.write = collect, .write_user = c};
    wg_trace_file_begin(&file, &wg_trace_json, "bh");
    *t = (wg_trace){.file = &file, .words = {.text = name_word}, .tile = {.pid = 1, .alone = true, .name = "tile 0"}};
    wg_trace_begin(t, 0, ALL_HELD);
}

static void test_trace_slices(void **state)
{
    (void)state;
    static collected c;
    static wg_trace t;
    c.size = 0;
    begin_trace(&t, &c);
    play(wg_trace_event, &t);
    wg_trace_end(&t, END);
    wg_trace_file_end(&file);
    assert_false(file.out.failed);
    expect_in(&c, "\"args\":{\"name\":\"thread 1\"}");
    expect_in(&c, "\"args\":{\"name\":\"Matrix Unit\"}");
    expect_in(&c,
              "\"name\":\"unit-busy\",\"cat\":\"stall\",\"ts\":6,\"dur\":4,\"args\":{\"because\":\"its unit is busy\","
              "\"holder\":\"Matrix Unit\"");
    expect_in(&c, "\"name\":\"mutex-held\",\"cat\":\"stall\",\"ts\":10,\"dur\":2");
    expect_in(&c, "\"name\":\"insn \\\"10\\\"\",\"cat\":\"executing\",\"ts\":5,\"dur\":5");
    expect_in(&c, "\"name\":\"insn \\\"20\\\"\",\"cat\":\"executing\",\"ts\":12,\"dur\":8");
    expect_in(&c, "\"name\":\"insn \\\"10\\\"\",\"cat\":\"issued\",\"ts\":5,\"dur\":1");
    expect_in(&c, "\"name\":\"load-response\",\"cat\":\"stall\",\"ts\":4,\"dur\":3");
}

/* Overlapping instructions of one unit are shown in separate slots. */
static void test_trace_slots(void **state)
{
    (void)state;
    static collected c;
    static wg_trace t;
    c.size = 0;
    begin_trace(&t, &c);
    for (unsigned i = 0; i < 3; i++) {
        wg_event e = insn(i, WG_EV_ISSUED, T1, i + 1, MATRIX);
        wg_trace_event(&t, &e);
    }
    wg_trace_end(&t, 5);
    wg_trace_file_end(&file);
    expect_in(&c, "\"args\":{\"name\":\"Matrix Unit (2)\"}");
    expect_in(&c, "\"args\":{\"name\":\"Matrix Unit (3)\"}");
    expect_in(&c, "\"cat\":\"executing\",\"ts\":2,\"dur\":3");
}

static bool refuse(void *user, const char *text, size_t bytes)
{
    (void)user;
    (void)text;
    (void)bytes;
    return false;
}

static void test_write_failure_is_kept(void **state)
{
    (void)state;
    static wg_commit_log log;
    static wg_sink_out out;
    out = (wg_sink_out){.write = refuse};
    log = (wg_commit_log){.out = &out};
    wg_event e = insn(3, WG_EV_PUSHED, T1, 1, 0);
    wg_commit_log_event(&log, &e);
    wg_sink_flush(&out);
    assert_true(out.failed);
}

static void test_timeline_scales(void **state)
{
    (void)state;
    wg_timeline *t = malloc(sizeof *t);
    assert_non_null(t);
    wg_timeline_begin(t, 0, ALL_HELD);
    wg_event begin = stall(1000, T1, WG_STALL_MUTEX_HELD), end = stall(3000, T1, WG_STALL_NONE);
    wg_timeline_event(t, &begin);
    wg_timeline_event(t, &end);
    wg_timeline_end(t, 4000);
    assert_int_equal(t->width, 8);
    unsigned doing;
    for (unsigned column = 0; column < 40; column++) {
        assert_true(wg_timeline_at(t, T1, column, 40, &doing));
        bool inside = column >= 10 && column < 30;
        assert_int_equal(doing, inside ? WG_DOING_STALL + WG_STALL_MUTEX_HELD : (unsigned)WG_DOING_IDLE);
    }
    assert_false(wg_timeline_at(t, T1, 40, 40, &doing));
    assert_true(wg_timeline_at(t, T1, 799, 800, &doing)); /* more columns than cells */
    uint64_t sum = 0;
    for (unsigned i = 0; i < WG_TIMELINE_CELLS; i++)
        for (unsigned d = 0; d < WG_DOINGS; d++)
            sum += t->cell[T1][i][d];
    assert_int_equal(sum, 4000);
    free(t);
}

static const wg_test tests[] = {
    WG_TEST(test_stats_add_up, WG_BH, ""),          WG_TEST(test_log_lines, WG_BH, ""),
    WG_TEST(test_trace_slices, WG_BH, ""),          WG_TEST(test_trace_slots, WG_BH, ""),
    WG_TEST(test_write_failure_is_kept, WG_BH, ""), WG_TEST(test_timeline_scales, WG_BH, ""),
};
WG_MAIN("trace", tests)
