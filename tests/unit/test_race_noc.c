/* SPDX-License-Identifier: Apache-2.0 */
/* The race detector and the NoC: sources that are reused, answers that nobody waits for, handovers between tiles. */
#include "explain/race.h"
#include "noc_rig.h"

enum { HERE_X = 2, HERE_Y = 2, THERE_X = 3, THERE_Y = 3, DATA = 0x3000, COPY = 0x5000, FLAG = 0x7000, BACK = 0x7100 };
enum { ATOMIC_INCREMENT = 1 << 12 | 31 << 2, N_BUDDY = 1 << 13 };

typedef struct rig {
    wg_grid *g;
    wg_races_group *group;
    wg_device *dev[2];
    wg_races *races[2]; /* here, there */
    wg_arch_id arch;
} rig;

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_read(user, pc, word, 4) == WG_OK;
}

static rig start(void **state)
{
    static const unsigned place[2][2] = {{HERE_X, HERE_Y}, {THERE_X, THERE_Y}};
    rig r = {.arch = wg_test_arch(state), .g = noc_chip(wg_test_arch(state), 0), .group = wg_races_group_new()};
    for (unsigned i = 0; i < 2; i++) {
        r.dev[i] = wg_grid_tile(r.g, place[i][0], place[i][1]);
        r.races[i] = wg_races_new(r.arch, code_at, r.dev[i]);
        assert_non_null(r.races[i]);
        assert_int_equal(wg_observe(r.dev[i], WG_RACES_EVENTS, wg_races_event, r.races[i], NULL), WG_OK);
        wg_races_group_add(r.group, r.races[i], place[i][1] * wg_grid_width(r.g) + place[i][0]);
        put(r.g, place[i][0], place[i][1], NIU0 + 0x100, 0); /* places are raw */
        put(r.g, place[i][0], place[i][1], NIU1 + 0x100, 0);
        for (unsigned k = 0; k < 64; k += 4) {
            put(r.g, place[i][0], place[i][1], DATA + k, k);
            put(r.g, place[i][0], place[i][1], COPY + k, k);
            put(r.g, place[i][0], place[i][1], FLAG + k, 0);
            put(r.g, place[i][0], place[i][1], BACK + k, 0);
        }
    }
    return r;
}

static void end(rig *r)
{
    for (unsigned i = 0; i < 2; i++)
        wg_races_free(r->races[i]);
    wg_races_group_free(r->group);
    wg_grid_destroy(r->g);
}

/* Is there a race of data with these words in its remedy? NULL: any report above a note. */
static const wg_race *race_at(const rig *r, unsigned tile, const char *words)
{
    for (size_t i = 0; i < wg_races_count(r->races[tile]); i++) {
        const wg_race *race = wg_races_at(r->races[tile], i);
        if (wg_race_severity(race->kind) > WG_SEVERITY_NOTE && (!words || strstr(race->remedy, words)))
            return race;
    }
    return NULL;
}

static void expect(rig *r, unsigned tile, const char *words, const char *what)
{
    const wg_race *race = race_at(r, tile, words ? words : NULL);
    if (words && !race)
        fail_msg("%s: no race with `%s`%s", what, words, race_at(r, tile, NULL) ? race_at(r, tile, NULL)->remedy : "");
    if (!words && race)
        fail_msg("%s: %s, %s, %s", what, race->location, race->why, race->remedy);
}

static uint32_t place(const rig *r, unsigned noc, unsigned x, unsigned y)
{
    return noc ? at(wg_grid_width(r->g) - 1 - x, wg_grid_height(r->g) - 1 - y) : at(x, y);
}
static uint32_t here(const rig *r, unsigned noc) { return place(r, noc, HERE_X, HERE_Y); }
static uint32_t there(const rig *r, unsigned noc) { return place(r, noc, THERE_X, THERE_Y); }
static uint32_t counter_at(unsigned noc, unsigned index) { return NIU0 + 0x10000 * noc + 0x200 + 4 * index; }

static void store(rv *p, uint32_t address, uint32_t value)
{
    rv_li(p, T1, address);
    rv_li(p, T0, value);
    rv_sw(p, T0, 0, T1);
    rv_lw(p, T0, 0, T1); /* has been processed */
    rv_add(p, T0, T0, T0);
}

static void use(rv *p, uint32_t address)
{
    rv_li(p, T1, address);
    rv_lw(p, A0, 0, T1);
    rv_add(p, A0, A0, A0);
}

static void go(rig *r, const rv *p, const rv *q)
{
    boot(r->g, HERE_X, HERE_Y, WG_CORE_B, p);
    if (q)
        boot(r->g, THERE_X, THERE_Y, WG_CORE_B, q);
    wg_grid_advance(r->g, 4000);
}

/* The source of a write may be reused after the request has left. */
static void test_source(void **state)
{
    for (unsigned waits = 0; waits < 3; waits++) {
        rig r = start(state);
        rv p = rv_at(0x10000);
        rv_issue(&p, r.arch,
                 &(noc_request){.ctrl = N_WRITE | N_ANSWER,
                                .len = 64,
                                .targ = DATA,
                                .ret = COPY,
                                .targ_at = here(&r, 0),
                                .ret_at = there(&r, 0)});
        if (waits)
            rv_wait_word(&p, counter_at(0, waits == 1 ? 10 : 1), 1);
        store(&p, DATA + 16, 7);
        rv_done(&p);
        go(&r, &p, NULL);
        expect(&r, 0, waits ? NULL : "NIU_MST_NONPOSTED_WR_REQ_SENT", "source");
        if (!waits) {
            const wg_race *race = race_at(&r, 0, NULL);
            assert_int_equal(race->a.agent, WG_AGENT_NIU0);
            assert_int_equal(race->a.core, WG_CORE_B);
            assert_true(race->a.pc >= 0x10000);
            assert_string_equal(race->location, "L1 0x003010-0x003013");
        }
        end(&r);
    }
}

/* The data of a read request has arrived when its answer has been counted. */
static void test_answer(void **state)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        rig r = start(state);
        rv p = rv_at(0x10000);
        rv_issue(&p, r.arch,
                 &(noc_request){.noc = 1,
                                .ctrl = N_READ,
                                .len = 32,
                                .targ = DATA,
                                .ret = COPY,
                                .targ_at = there(&r, 1),
                                .ret_at = here(&r, 1)});
        if (waits)
            rv_wait_word(&p, counter_at(1, 2), 1);
        use(&p, COPY + 4);
        rv_done(&p);
        go(&r, &p, NULL);
        expect(&r, 0, waits ? NULL : "NIU_MST_RD_RESP_RECEIVED", "answer");
        end(&r);
    }
}

/* A store to L1 and the command that sends it take different paths. */
static void test_store_then_command(void **state)
{
    for (unsigned fixed = 0; fixed < 2; fixed++) {
        rig r = start(state);
        rv p = rv_at(0x10000);
        rv_li(&p, T1, DATA);
        rv_sw(&p, T1, 0, T1);
        if (fixed) {
            rv_lw(&p, T0, 0, T1);
            rv_add(&p, T0, T0, T0);
        }
        rv_issue(
            &p, r.arch,
            &(noc_request){
                .ctrl = N_WRITE, .len = 16, .targ = DATA, .ret = COPY, .targ_at = here(&r, 0), .ret_at = there(&r, 0)});
        rv_done(&p);
        go(&r, &p, NULL);
        expect(&r, 0, fixed ? NULL : "Load the word back", "store then command");
        end(&r);
    }
}

/*
 * Data followed by a flag, set by atomic increment: ordered on one NoC and virtual channel, not on two, unless the
 * writer waited for the acknowledgement. The reader returns the buffer in the same way.
 */
static void test_handover(void **state)
{
    enum {
        SAME_CHANNEL,
        LINKED,
        ANY_CHANNEL,
        OTHER_CHANNEL,
        ANY_CHANNEL_ACKNOWLEDGED,
        OTHER_NOC,
        OTHER_NOC_ACKNOWLEDGED,
        NO_WAIT,
        SENT_AGAIN,
        SENT_AGAIN_BACK,
        CASES
    };
    static const bool broken[CASES] = {
        [ANY_CHANNEL] = true, [OTHER_CHANNEL] = true, [OTHER_NOC] = true, [NO_WAIT] = true, [SENT_AGAIN] = true};
    for (unsigned i = 0; i < CASES; i++) {
        rig r = start(state);
        rv p = rv_at(0x10000), q = rv_at(0x10000);
        unsigned flag_noc = i == OTHER_NOC || i == OTHER_NOC_ACKNOWLEDGED;
        bool any = i == ANY_CHANNEL || i == ANY_CHANNEL_ACKNOWLEDGED || i == LINKED;
        uint32_t channel = any ? 0 : N_STATIC;
        noc_request data = {.ctrl = N_WRITE | N_ANSWER | channel | (i == LINKED ? N_LINKED : 0),
                            .len = 32,
                            .targ = DATA,
                            .ret = COPY,
                            .targ_at = here(&r, 0),
                            .ret_at = there(&r, 0)};
        noc_request flag = {.noc = flag_noc,
                            .initiator = 1,
                            .ctrl = N_ATOMIC | channel | (i == OTHER_CHANNEL ? N_BUDDY : 0),
                            .len = ATOMIC_INCREMENT,
                            .data = 1,
                            .targ = FLAG,
                            .targ_at = there(&r, flag_noc)};
        noc_request back = {
            .initiator = 1, .ctrl = N_ATOMIC, .len = ATOMIC_INCREMENT, .data = 1, .targ = BACK, .targ_at = here(&r, 0)};
        rv_issue(&p, r.arch, &data);
        if (i == OTHER_NOC_ACKNOWLEDGED || i == ANY_CHANNEL_ACKNOWLEDGED)
            rv_wait_word(&p, counter_at(0, 1), 1);
        rv_issue(&p, r.arch, &flag);
        if (i == SENT_AGAIN_BACK)
            rv_wait_word(&p, BACK, 1);
        if (i >= SENT_AGAIN)
            rv_issue(&p, r.arch, &data);
        rv_done(&p);
        if (i != NO_WAIT)
            rv_wait_word(&q, FLAG, 1);
        use(&q, COPY + 8);
        store(&q, FLAG, 0); /* for the next time: the increment has been seen */
        if (i == SENT_AGAIN_BACK)
            rv_issue(&q, r.arch, &back);
        rv_done(&q);
        go(&r, &p, &q);
        const wg_race *race = race_at(&r, 1, NULL);
        if (broken[i] != (race != NULL))
            fail_msg("case %u: %s", i, broken[i] ? "silent" : race->why);
        expect(&r, 0, NULL, "the sender's side");
        if (i == NO_WAIT || i == OTHER_NOC || i == ANY_CHANNEL) {
            const wg_race_party *niu = race->a.agent >= WG_AGENT_NIU0 ? &race->a : &race->b;
            assert_int_equal(niu->tile, HERE_Y * wg_grid_width(r.g) + HERE_X + 1);
        }
        end(&r);
    }
}

/* A tile asks over the NoC how far the other is, and sends when there is room: the count is declared. */
static void test_asked(void **state)
{
    for (unsigned declared = 0; declared < 2; declared++) {
        rig r = start(state);
        rv p = rv_at(0x10000), q = rv_at(0x10000);
        if (declared)
            assert_true(wg_races_declare_flag(r.races[1], FLAG, 4));
        use(&q, COPY + 8);
        store(&q, FLAG, 1);
        rv_done(&q);
        for (unsigned n = 1; n <= 3; n++) { /* the other one gets there long before the last */
            rv_issue(&p, r.arch,
                     &(noc_request){.ctrl = N_READ,
                                    .len = 16,
                                    .targ = FLAG,
                                    .ret = BACK,
                                    .targ_at = there(&r, 0),
                                    .ret_at = here(&r, 0)});
            rv_wait_word(&p, counter_at(0, 2), n);
        }
        rv_issue(
            &p, r.arch,
            &(noc_request){
                .ctrl = N_WRITE, .len = 16, .targ = DATA, .ret = COPY, .targ_at = here(&r, 0), .ret_at = there(&r, 0)});
        rv_done(&p);
        go(&r, &p, &q);
        if ((race_at(&r, 1, NULL) == NULL) != declared)
            fail_msg("%s: %s", declared ? "declared" : "not declared", declared ? race_at(&r, 1, NULL)->why : "silent");
        end(&r);
    }
}

/*
 * A poll of the outstanding count, rather than of the number of answers, may look before the command has left the core;
 * a load of the command register, or a fence, prevents this.
 */
static void test_early_look(void **state)
{
    enum { AT_ONCE, COMMAND_FIRST, FENCE, CASES };
    for (unsigned i = 0; i < CASES; i++) {
        rig r = start(state);
        rv p = rv_at(0x10000);
        rv_issue(
            &p, r.arch,
            &(noc_request){
                .ctrl = N_READ, .len = 32, .targ = DATA, .ret = COPY, .targ_at = there(&r, 0), .ret_at = here(&r, 0)});
        if (i == COMMAND_FIRST) {
            rv_li(&p, T1, NIU0 + noc_map[r.arch].command);
            rv_lw(&p, T0, 0, T1);
        }
        if (i == FENCE)
            rv_fence(&p);
        rv_li(&p, T1, counter_at(0, 16));
        unsigned loop = p.n;
        rv_lw(&p, T0, 0, T1);
        rv_bne(&p, T0, 0, loop);
        use(&p, COPY + 4);
        rv_done(&p);
        go(&r, &p, NULL);
        bool broken = i == AT_ONCE || (i == FENCE && r.arch == WG_ARCH_WH); /* the fence does nothing there */
        expect(&r, 0, broken ? "between the command and the first look" : NULL, "early look");
        end(&r);
    }
}

/*
 * Two requests to the same destination: answers arrive in any order, unless the second request waits for the first
 * answer.
 */
static void test_two_answers(void **state)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        rig r = start(state);
        rv p = rv_at(0x10000);
        for (unsigned n = 1; n <= 2; n++) {
            rv_issue(&p, r.arch,
                     &(noc_request){.initiator = n,
                                    .ctrl = N_READ | N_STATIC,
                                    .len = 16,
                                    .targ = DATA + 16 * n,
                                    .ret = COPY,
                                    .targ_at = there(&r, 0),
                                    .ret_at = here(&r, 0)});
            if (waits)
                rv_wait_word(&p, counter_at(0, 2), n);
        }
        rv_done(&p);
        go(&r, &p, NULL);
        expect(&r, 0, waits ? NULL : "NIU_MST_RD_RESP_RECEIVED", "two answers");
        end(&r);
    }
}

/*
 * A token circulates between two tiles by semaphores (atomic increments that the other polls), with data written ahead
 * of it on the same virtual channel; a tile reads the data it received, and the other rewrites it when it has the token
 * again.
 */
static void test_ring(void **state)
{
    enum { ROUNDS = 2 };
    for (unsigned keeps = 0; keeps < 2; keeps++) { /* whether the rule is kept: read before passing the token on */
        rig r = start(state);
        rv p = rv_at(0x10000), q = rv_at(0x10000);
        for (unsigned n = 1; n <= ROUNDS; n++) {
            rv *of[2] = {&p, &q};
            for (unsigned i = 0; i < 2; i++) {
                uint32_t mine = i ? there(&r, 0) : here(&r, 0), other = i ? here(&r, 0) : there(&r, 0);
                noc_request data = {.ctrl = N_WRITE | N_ANSWER | N_STATIC,
                                    .len = 32,
                                    .targ = DATA,
                                    .ret = COPY,
                                    .targ_at = mine,
                                    .ret_at = other};
                noc_request token = {.initiator = 1,
                                     .ctrl = N_ATOMIC | N_STATIC,
                                     .len = ATOMIC_INCREMENT,
                                     .data = 1,
                                     .targ = FLAG,
                                     .targ_at = other};
                if (i || n > 1)
                    rv_wait_word(of[i], FLAG, i ? n : n - 1);
                if (keeps && (i || n > 1))
                    use(of[i], COPY + 8);
                rv_issue(of[i], r.arch, &data);
                rv_issue(of[i], r.arch, &token);
                rv_wait_word(of[i], counter_at(0, 1), n); /* the source can be used again */
                if (!keeps)
                    use(of[i], COPY + 8);
            }
        }
        rv_done(&p);
        rv_done(&q);
        go(&r, &p, &q);
        const wg_race *race[2] = {race_at(&r, 0, NULL), race_at(&r, 1, NULL)};
        if (keeps && (race[0] || race[1]))
            fail_msg("%s: %s", race[0] ? "here" : "there", race[0] ? race[0]->why : race[1]->why);
        assert_true(keeps || race[0] || race[1]);
        end(&r);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_source, WG_BH | WG_WH, ""),
    WG_TEST(test_answer, WG_BH | WG_WH, ""),
    WG_TEST(test_store_then_command, WG_BH | WG_WH, ""),
    WG_TEST(test_handover, WG_BH | WG_WH, ""),
    WG_TEST(test_asked, WG_BH | WG_WH, ""),
    WG_TEST(test_two_answers, WG_BH | WG_WH, ""),
    WG_TEST(test_early_look, WG_BH | WG_WH, ""),
    WG_TEST(test_ring, WG_BH | WG_WH, ""),
};
WG_MAIN("race_noc", tests)
