/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector on three tiles: a core's knowledge of other tiles reaches another core of its tile only by synchronisation.
 * Each case has a synchronised and an unsynchronised program.
 */
#include "explain/race.h"
#include "noc_rig.h"

enum { HERE, THERE, THIRD, TILES };
enum { DATA = 0x3000, COPY = 0x5000, FLAG = 0x7000, LOCAL = 0x7100, BACK = 0x7200 };
enum { INCREMENT = 1 << 12 | 31 << 2, WR_ACK = 1, RD_RESP = 2, ATOMIC_RESP = 0, WR_SENT = 10 };
static const unsigned place[TILES][2] = {{2, 2}, {3, 3}, {4, 2}};

typedef struct rig {
    wg_grid *g;
    wg_races_group *group;
    wg_races *races[TILES];
    wg_arch_id arch;
    rv core[TILES][WG_CORES];
} rig;

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_read(user, pc, word, 4) == WG_OK;
}

static rig start(void **state)
{
    rig r = {.arch = wg_test_arch(state), .g = noc_chip(wg_test_arch(state), 0), .group = wg_races_group_new()};
    static const unsigned filled[] = {DATA, COPY, FLAG, LOCAL, BACK};
    for (unsigned i = 0; i < TILES; i++) {
        unsigned x = place[i][0], y = place[i][1];
        wg_device *dev = wg_grid_tile(r.g, x, y);
        r.races[i] = wg_races_new(r.arch, code_at, dev);
        assert_non_null(r.races[i]);
        assert_int_equal(wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r.races[i], NULL), WG_OK);
        wg_races_group_add(r.group, r.races[i], y * wg_grid_width(r.g) + x);
        put(r.g, x, y, NIU0 + 0x100, 0); /* places are raw */
        put(r.g, x, y, NIU1 + 0x100, 0);
        for (unsigned k = 0; k < sizeof filled / sizeof filled[0] * 64; k += 4)
            put(r.g, x, y, filled[k / 64] + k % 64, 0);
        for (unsigned core = 0; core < WG_CORES; core++)
            r.core[i][core] = rv_at(0x10000 + 0x2000 * core);
    }
    return r;
}

static uint32_t raw(const rig *r, unsigned tile, unsigned noc)
{
    unsigned x = place[tile][0], y = place[tile][1];
    return noc ? at(wg_grid_width(r->g) - 1 - x, wg_grid_height(r->g) - 1 - y) : at(x, y);
}
static uint32_t counter_at(unsigned noc, unsigned index) { return NIU0 + 0x10000 * noc + 0x200 + 4 * index; }

static void delay(rv *p, unsigned rounds)
{
    rv_li(p, T0, rounds);
    unsigned loop = p->n;
    rv_addi(p, T0, T0, -1);
    rv_bne(p, T0, ZERO, loop);
}

static void use(rv *p, uint32_t address)
{
    rv_li(p, T1, address);
    rv_lw(p, A0, 0, T1);
    rv_add(p, A0, A0, A0);
}

static void store(rv *p, uint32_t address, uint32_t value)
{
    rv_li(p, T1, address);
    rv_li(p, T0, value);
    rv_sw(p, T0, 0, T1);
    rv_lw(p, T0, 0, T1); /* has been processed */
    rv_add(p, T0, T0, T0);
}

/* Requests of the tile's core, in its initiator of the same number. NC uses NoC `noc`, too. */
static void increment(const rig *r, rv *p, unsigned noc, unsigned from, unsigned to, uint32_t address, uint32_t ctrl)
{
    rv_issue(p, r->arch,
             &(noc_request){.noc = noc,
                            .initiator = 1,
                            .ctrl = N_ATOMIC | ctrl,
                            .len = INCREMENT,
                            .data = 1,
                            .targ = address,
                            .ret = BACK,
                            .targ_at = raw(r, to, noc),
                            .ret_at = raw(r, from, noc)});
}
static void send(const rig *r, rv *p, unsigned noc, unsigned from, unsigned to, uint32_t address, uint32_t ctrl)
{
    rv_issue(p, r->arch,
             &(noc_request){.noc = noc,
                            .initiator = 2,
                            .ctrl = N_WRITE | N_ANSWER | ctrl,
                            .len = 32,
                            .targ = DATA,
                            .ret = address,
                            .targ_at = raw(r, from, noc),
                            .ret_at = raw(r, to, noc)});
}
static void fetch(const rig *r, rv *p, unsigned noc, unsigned from, unsigned to, uint32_t address)
{
    rv_issue(p, r->arch,
             &(noc_request){.noc = noc,
                            .initiator = 3,
                            .ctrl = N_READ,
                            .len = 32,
                            .targ = address,
                            .ret = BACK,
                            .targ_at = raw(r, to, noc),
                            .ret_at = raw(r, from, noc)});
}

/* Runs all cores that have a program; is there a race of data on that tile, with this remedy, and none on the others? */
static void ends(rig *r, unsigned tile, bool right, const char *what, const char *remedy)
{
    for (unsigned i = 0; i < TILES; i++)
        for (unsigned core = 0; core < WG_CORES; core++)
            if (r->core[i][core].n) {
                rv_done(&r->core[i][core]);
                boot(r->g, place[i][0], place[i][1], core, &r->core[i][core]);
            }
    wg_grid_advance(r->g, 8000);
    for (unsigned i = 0; i < TILES; i++) {
        const wg_race *race = NULL;
        for (size_t k = 0; k < wg_races_count(r->races[i]) && !race; k++)
            if (wg_races_at(r->races[i], k)->kind == WG_RACE_DATA)
                race = wg_races_at(r->races[i], k);
        if (race && (right || i != tile))
            fail_msg("%s: tile %u: %s: %s", what, i, race->location, race->why);
        if (!race && !right && i == tile)
            fail_msg("%s: silent", what);
        if (race && !strstr(race->remedy, remedy))
            fail_msg("%s: %s %s", what, race->why, race->remedy);
        wg_races_free(r->races[i]);
    }
    wg_races_group_free(r->group);
    wg_grid_destroy(r->g);
}

/* A core reads a buffer, and says to another tile that it is free. The core that hears it may write to it. */
static void test_room(void **state)
{
    for (unsigned told = 0; told < 2; told++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC], *reader = &r.core[THERE][WG_CORE_B];
        use(reader, COPY + 8);
        increment(&r, reader, 0, THERE, HERE, FLAG, N_STATIC);
        rv_wait_word(b, FLAG, 1);
        store(b, LOCAL, 1);
        if (told)
            rv_wait_word(nc, LOCAL, 1);
        else
            delay(nc, 600);
        send(&r, nc, 1, HERE, THERE, COPY, N_STATIC);
        ends(&r, THERE, told, "room", "Let core B tell core NC before the request");
    }
}

/* A flag carries what its sender knows, not what other cores of the sender's tile know. */
static void test_relay(void **state)
{
    for (unsigned told = 0; told < 2; told++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC], *first = &r.core[THIRD][WG_CORE_B];
        rv *last = &r.core[THERE][WG_CORE_B];
        use(first, COPY + 8);
        increment(&r, first, 0, THIRD, HERE, FLAG, N_STATIC);
        rv_wait_word(b, FLAG, 1);
        store(b, LOCAL, 1);
        if (told)
            rv_wait_word(nc, LOCAL, 1);
        else
            delay(nc, 600);
        increment(&r, nc, 1, HERE, THERE, FLAG, N_STATIC);
        rv_wait_word(last, FLAG, 1);
        send(&r, last, 0, THERE, THIRD, COPY, N_STATIC);
        ends(&r, THIRD, told, "relay", "then tell the requester");
    }
}

/* The core that polls the flag may read the sender's memory; another core of its tile may not. */
static void test_reader(void **state)
{
    for (unsigned polls = 0; polls < 2; polls++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *poller = &r.core[THERE][WG_CORE_B], *other = &r.core[THERE][WG_CORE_NC];
        store(b, DATA + 8, 7);
        increment(&r, b, 0, HERE, THERE, FLAG, N_STATIC);
        rv_wait_word(poller, FLAG, 1);
        delay(other, 600);
        fetch(&r, polls ? poller : other, 1, THERE, HERE, DATA);
        ends(&r, HERE, polls, "reader", "Let core B tell core NC before the request");
    }
}

/* Two cores of one tile write the same place on one virtual channel: in order only if their issue is. */
static void test_one_channel(void **state)
{
    enum { UNORDERED, ISSUE_NOT_KNOWN, ORDERED, CASES };
    for (unsigned i = 0; i < CASES; i++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC];
        send(&r, b, 0, HERE, THERE, COPY, N_STATIC);
        if (i == ORDERED)
            rv_wait_word(b, counter_at(0, WR_SENT), 1);
        store(b, LOCAL, 1);
        if (i == UNORDERED)
            delay(nc, 600);
        else
            rv_wait_word(nc, LOCAL, 1);
        send(&r, nc, 0, HERE, THERE, COPY, N_STATIC);
        ends(&r, THERE, i == ORDERED, "one channel", "Let core B wait until its request has left");
    }
}

/* An acknowledgement says to the core that waited for it that the write is done. */
static void test_acknowledged(void **state)
{
    for (unsigned told = 0; told < 2; told++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC];
        send(&r, b, 0, HERE, THERE, COPY, 0);
        rv_wait_word(b, counter_at(0, WR_ACK), 1);
        store(b, LOCAL, 1);
        if (told)
            rv_wait_word(nc, LOCAL, 1);
        else
            delay(nc, 600);
        send(&r, nc, 1, HERE, THERE, COPY, 0);
        ends(&r, THERE, told, "acknowledged", "Let core B tell core NC");
    }
}

/* Two cores of one tile add to one flag: who has seen both sums knows what either did before. */
static void test_two_increments(void **state)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        rig r = start(state);
        rv *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC], *reader = &r.core[THERE][WG_CORE_B];
        use(b, DATA);
        use(nc, DATA + 4);
        increment(&r, b, 0, HERE, THERE, FLAG, N_STATIC);
        delay(nc, 300);
        increment(&r, nc, 0, HERE, THERE, FLAG, N_STATIC);
        if (waits)
            delay(reader, 900); /* it never sees 1 */
        rv_wait_word(reader, FLAG, waits ? 2 : 1);
        if (!waits)
            delay(reader, 900);
        send(&r, reader, 0, THERE, HERE, DATA, 0);
        ends(&r, HERE, waits, "two increments", "then tell the requester");
    }
}

/* The answer to an atomic brings what those before it released: a lock on another tile. */
static void test_lock(void **state)
{
    for (unsigned asks = 0; asks < 2; asks++) {
        rig r = start(state);
        rv *owner = &r.core[THIRD][WG_CORE_B], *b = &r.core[HERE][WG_CORE_B], *nc = &r.core[HERE][WG_CORE_NC];
        use(owner, COPY + 8);
        increment(&r, owner, 0, THIRD, THERE, FLAG, N_STATIC);
        delay(b, 400);
        increment(&r, b, 0, HERE, THERE, FLAG, N_ANSWER | N_STATIC);
        rv_wait_word(b, counter_at(0, ATOMIC_RESP), 1);
        delay(nc, 800);
        send(&r, asks ? b : nc, 1, HERE, THIRD, COPY, 0);
        ends(&r, THIRD, asks, "lock", "Let core B tell core NC");
    }
}

/* The knowledge of other tiles passes through a Tensix thread, too. */
static void test_thread_relay(void **state)
{
    enum { SEMINIT = 0xA3200004 | 1 << 20, SEMPOST = 0xA4000008, SEMAPHORE_1 = 0xFFE80020 + 4 };
    for (unsigned told = 0; told < 2; told++) {
        rig r = start(state);
        rv *t0 = &r.core[HERE][WG_CORE_T0], *t1 = &r.core[HERE][WG_CORE_T1], *reader = &r.core[THERE][WG_CORE_B];
        use(reader, COPY + 8);
        increment(&r, reader, 0, THERE, HERE, FLAG, N_STATIC);
        rv_wait_word(t0, FLAG, 1);
        rv_tt(t0, SEMPOST);
        if (told)
            rv_wait_word(t1, SEMAPHORE_1, 1);
        else
            delay(t1, 800);
        send(&r, t1, 0, HERE, THERE, COPY, 0);
        ends(&r, THERE, told, "thread", "Let core T0 tell core T1");
    }
}

static const wg_test tests[] = {
    WG_TEST(test_room, WG_BH | WG_WH, ""),         WG_TEST(test_relay, WG_BH | WG_WH, ""),
    WG_TEST(test_reader, WG_BH | WG_WH, ""),       WG_TEST(test_one_channel, WG_BH | WG_WH, ""),
    WG_TEST(test_acknowledged, WG_BH | WG_WH, ""), WG_TEST(test_two_increments, WG_BH | WG_WH, ""),
    WG_TEST(test_lock, WG_BH | WG_WH, ""),         WG_TEST(test_thread_relay, WG_BH | WG_WH, ""),
};
WG_MAIN("race_tiles", tests)
