/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's reports: why a device does not move, what checks have found, in every format and in buffers of any
 * size.
 */
#include <stdio.h>
#include <waitgate/chip.h>
#include <waitgate/report.h>
#include "wgtest.h"

enum { SEMWAIT = 0xA6FF8009, SEMINIT = 0xA3400008, SEMPOST = 0xA4000008, NOP = 0x02000000 };
enum { ROOM = 1 << 16 };
static char text[ROOM];

static wg_device *device(void **state)
{
    wg_device *dev = NULL;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

/* Thread 1 waits for semaphore 1, which nobody posts. */
static wg_device *stuck(void **state)
{
    wg_device *dev = device(state);
    wg_stop stop;
    assert_int_equal(wg_push_from(dev, 1, SEMWAIT, WG_HOST_PC + 42), WG_OK);
    assert_int_equal(wg_push_from(dev, 1, NOP, WG_HOST_PC + 43), WG_OK);
    assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_HUNG);
    return dev;
}

static bool source(void *user, unsigned core, uint32_t pc, wg_source *out)
{
    if (core != WG_CORE_T1 || !WG_IS_HOST_PC(pc))
        return false;
    *out = (wg_source){.function = "feed", .offset = 0, .file = user, .line = pc - WG_HOST_PC};
    return true;
}

#define SAYS(word) \
    do { \
        if (!strstr(text, word)) \
            fail_msg("no `%s` in\n%s", word, text); \
    } while (0)

static void test_hang(void **state)
{
    wg_device *dev = stuck(state);
    size_t length = wg_hang_report(dev, NULL, text, sizeof text);
    assert_int_equal(length, strlen(text));
    SAYS("Nobody posts semaphore 1 (MATH_PACK)");
    SAYS("who waits for whom");
    wg_report_desc desc = {.struct_size = sizeof desc, .source = source, .user = "host.c"};
    wg_hang_report(dev, &desc, text, sizeof text);
    SAYS("feed (host.c:42)");
    desc.form = WG_REPORT_JSON;
    wg_hang_report(dev, &desc, text, sizeof text);
    SAYS("\"rule\": \"hang\"");
    SAYS("\"line\": 42");
    desc.form = WG_REPORT_SARIF;
    wg_hang_report(dev, &desc, text, sizeof text);
    SAYS("\"version\": \"2.1.0\"");
    SAYS("\"uri\": \"host.c\"");
    wg_destroy(dev);
}

/* Lines are as wide as asked for; a caller that knows fewer fields gets the default width. */
static void test_width(void **state)
{
    wg_device *dev = stuck(state);
    for (unsigned narrow = 0; narrow < 2; narrow++) {
        wg_report_desc desc = {.struct_size = narrow ? sizeof desc : offsetof(wg_report_desc, width), .width = 40};
        wg_hang_report(dev, &desc, text, sizeof text);
        const char *story = strstr(text, "Nobody");
        assert_non_null(story);
        size_t first = strcspn(story, "\n"), longest = 0;
        assert_true(narrow ? first <= 40 : first > 60 && first <= 100);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
        assert_true(narrow ? longest <= 40 : longest > 60 && longest <= 100);
    }
    wg_destroy(dev);
}

/* As in snprintf: the length is that of the whole, and nothing is written beyond the buffer. */
static void test_room(void **state)
{
    wg_device *dev = stuck(state);
    static char whole[ROOM];
    size_t length = wg_hang_report(dev, NULL, whole, sizeof whole);
    assert_int_equal(wg_hang_report(dev, NULL, NULL, 0), length);
    for (size_t room = 1; room < 60; room += 7) {
        memset(text, '#', 64);
        assert_int_equal(wg_hang_report(dev, NULL, text, room), length);
        assert_int_equal(strlen(text), room - 1);
        assert_memory_equal(text, whole, room - 1);
        assert_int_equal(text[room], '#');
    }
    wg_destroy(dev);
}

/* A device that can move, or has moved since, gets a report of its state. */
static void test_state(void **state)
{
    wg_device *dev = stuck(state);
    wg_report_desc json = {.struct_size = sizeof json, .form = WG_REPORT_JSON};
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 1, 1), WG_OK);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    wg_hang_report(dev, NULL, text, sizeof text);
    SAYS("state at cycle");
    assert_null(strstr(text, "Nobody posts"));
    wg_hang_report(dev, &json, text, sizeof text);
    SAYS("\"reports\": []");
    wg_destroy(dev);
}

enum { LOAD_FLAG = 0x10002283, LOOP_IF_ZERO = 0xFE028EE3 }; /* lw t0, 0x100(zero); beqz t0, back */

static bool polling_source(void *user, unsigned core, uint32_t pc, wg_source *out)
{
    *out = (wg_source){.function = "wait_for", .offset = pc, .file = user, .line = 7};
    return core == WG_CORE_B;
}

/* Tile 1-2 has a file, others have none. */
static void *file_of(void *user, unsigned x, unsigned y) { return x == 1 && y == 2 ? user : NULL; }

/* A chip: two tiles poll flags that nobody sets; a third has done its work. The verdict is over both, and each has its report. */
static void test_chip(void **state)
{
    static const uint32_t poll[] = {LOAD_FLAG, LOOP_IF_ZERO}, park[] = {0x0000006F};
    static char name[] = "poll.c";
    wg_grid_desc what = {.struct_size = sizeof what, .arch = wg_test_arch(state)};
    wg_grid *grid = NULL;
    wg_stop stop;
    assert_int_equal(wg_grid_create(&what, &grid), WG_OK);
    wg_report_desc desc = {
        .struct_size = sizeof desc, .source = polling_source, .user = name, .of_tile = file_of, .form = WG_REPORT_TEXT};
    for (unsigned x = 1; x <= 3; x++) {
        wg_device *dev = wg_grid_tile(grid, x, 2);
        assert_non_null(dev);
        assert_int_equal(wg_write(dev, 0x4000, x < 3 ? poll : park, x < 3 ? sizeof poll : sizeof park), WG_OK);
        assert_int_equal(wg_core_release(dev, WG_CORE_B, 0x4000), WG_OK);
    }
    wg_grid_advance(grid, 100);
    wg_grid_hang_report(grid, &desc, text, sizeof text);
    assert_null(strstr(text, "2 tiles wait"));
    SAYS("tile 1-2\n");
    assert_int_equal(wg_grid_run(grid, 1000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_HUNG);
    size_t length = wg_grid_hang_report(grid, &desc, text, sizeof text);
    assert_int_equal(length, strlen(text));
    SAYS("2 tiles wait for what nothing on the same tile can still do");
    SAYS("tile 1-2, core B at wait_for");
    SAYS("poll.c:7");
    SAYS("tile 2-2\n");
    assert_null(strstr(text, "tile 3-2\n"));
    desc.form = WG_REPORT_JSON;
    wg_grid_hang_report(grid, &desc, text, sizeof text);
    SAYS("\"cause\": \"knot\"");
    SAYS("\"x\": 2");
    desc.form = WG_REPORT_SARIF;
    wg_grid_hang_report(grid, &desc, text, sizeof text);
    SAYS("\"version\": \"2.1.0\"");
    SAYS("poll.c");
    assert_int_equal(wg_grid_hang_report(grid, NULL, NULL, 0), wg_grid_hang_report(grid, NULL, text, sizeof text));
    wg_grid_destroy(grid);
}

static void test_check(void **state)
{
    static const struct {
        unsigned checks;
        size_t found;
    } rows[] = {{WG_CHECK_SYNC, 1}, {WG_CHECK_RACE, 0}, {WG_CHECK_ALL, 1}};
    for (unsigned i = 0; i < 3; i++) {
        wg_device *dev = device(state);
        wg_check *check = NULL;
        wg_stop stop;
        assert_int_equal(wg_check_begin(dev, rows[i].checks, &check), WG_OK);
        assert_int_equal(wg_push_from(dev, 0, SEMINIT, WG_HOST_PC + 1), WG_OK);
        assert_int_equal(wg_push_from(dev, 0, SEMPOST, WG_HOST_PC + 2), WG_OK);
        assert_int_equal(wg_check_count(check, WG_SEVERITY_NOTE), 0); /* it has not ended yet */
        assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_DONE);
        assert_int_equal(wg_check_count(check, WG_SEVERITY_WARNING), rows[i].found);
        assert_int_equal(wg_check_count(check, WG_SEVERITY_UNDEFINED), 0);
        if (rows[i].found) {
            wg_report_desc desc = {.struct_size = sizeof desc, .source = source, .user = "host.c"};
            for (desc.form = WG_REPORT_TEXT; desc.form <= WG_REPORT_SARIF; desc.form++) {
                size_t length = wg_check_report(check, &desc, text, sizeof text);
                assert_int_equal(length, strlen(text));
                SAYS("semaphore-left-over");
                SAYS("It began as 0 and is 1 at the end");
            }
        }
        wg_check_end(check);
        wg_destroy(dev);
    }
    wg_device *dev = device(state);
    wg_check *check = NULL;
    assert_int_equal(wg_check_begin(dev, 0, &check), WG_ERR_ARGUMENT);
    assert_int_equal(wg_check_begin(dev, 16, &check), WG_ERR_ARGUMENT);
    assert_null(check);
    wg_check_end(NULL);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_hang, WG_BH | WG_WH, ""),  WG_TEST(test_width, WG_BH | WG_WH, ""),
    WG_TEST(test_room, WG_BH | WG_WH, ""),  WG_TEST(test_state, WG_BH | WG_WH, ""),
    WG_TEST(test_check, WG_BH | WG_WH, ""), WG_TEST(test_chip, WG_BH | WG_WH, ""),
};
WG_MAIN("report", tests)
