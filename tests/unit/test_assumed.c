/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles that rest on assumed latencies: each counts once in the total, and once for each constant that it rests on. */
#include "wgtest.h"

#include "machine/packet.h"
#include "machine/request.h"
#include "observe/assumed.h"

enum { A0 = 10, A1 = 11, A2 = 12 };
static wg_assumed a;

static uint32_t word_of(wg_insn_id id) { return (uint32_t)wg_isa_by_id(WG_ARCH_BH, id)->opcode << 24; }

static void insn(wg_event_kind kind, uint64_t cycle, uint64_t id, wg_insn_id which)
{
    wg_event e = {.kind = (uint8_t)kind, .cycle = cycle, .id = id, .word = word_of(which)};
    e.agent = kind == WG_EV_ISSUED ? WG_AGENT_THREAD1 : WG_AGENT_MATRIX;
    e.b = WG_AGENT_MATRIX;
    wg_assumed_event(&a, &e);
}

static void load(unsigned core, uint64_t cycle, unsigned path, unsigned rd)
{
    wg_assumed_event(&a, &(wg_event){.kind = WG_EV_CORE_REQUEST,
                                     .cycle = cycle,
                                     .agent = (uint8_t)core,
                                     .c = WG_REQ_READ,
                                     .word = WG_REQUEST_WORD(path, 0, 4, rd)});
}

static void waits(unsigned core, uint64_t from, uint64_t to, unsigned reason, unsigned reg)
{
    wg_event e = {.kind = WG_EV_STALL_BEGIN, .cycle = from, .agent = (uint8_t)core};
    e.stall = (wg_stall){.reason = (uint16_t)reason, .resource = (uint16_t)reg};
    wg_assumed_event(&a, &e);
    e.kind = WG_EV_STALL_END;
    e.cycle = to;
    wg_assumed_event(&a, &e);
}

static uint64_t part(const char *what)
{
    wg_assumed_part p;
    for (unsigned i = 0; wg_assumed_part_at(&a, i, &p); i++)
        if (!strcmp(p.what, what))
            return p.cycles;
    return 0;
}

static void test_nothing(void **state)
{
    (void)state;
    wg_assumed_part p;
    wg_assumed_begin(&a, WG_ARCH_BH, WG_PROFILE_SILICON);
    insn(WG_EV_ISSUED, 10, 1, WG_I_MVMUL); /* measured */
    insn(WG_EV_COMPLETED, 15, 1, WG_I_MVMUL);
    insn(WG_EV_ISSUED, 20, 2, WG_I_ZEROACC); /* documented */
    insn(WG_EV_COMPLETED, 21, 2, WG_I_ZEROACC);
    load(WG_CORE_T0, 30, WG_PATH_L1, A0);
    waits(WG_CORE_T0, 31, 38, WG_STALL_LOAD_RESPONSE, A0);
    waits(WG_CORE_B, 31, 38, WG_STALL_INSTRUCTION_FETCH, 0);
    wg_assumed_end(&a, 100);
    assert_int_equal(a.cycles, 0);
    assert_false(wg_assumed_part_at(&a, 0, &p));
}

static void test_instructions(void **state)
{
    (void)state;
    wg_assumed_part p;
    wg_assumed_begin(&a, WG_ARCH_BH, WG_PROFILE_SILICON);
    insn(WG_EV_ISSUED, 10, 1, WG_I_CONV3S1);
    insn(WG_EV_ISSUED, 12, 2, WG_I_CONV3S1);
    insn(WG_EV_COMPLETED, 15, 1, WG_I_CONV3S1);
    insn(WG_EV_COMPLETED, 17, 2, WG_I_CONV3S1);
    insn(WG_EV_ISSUED, 20, 3, WG_I_TRNSPSRCA);
    insn(WG_EV_COMPLETED, 20, 3, WG_I_TRNSPSRCA); /* still has its cycle */
    insn(WG_EV_ISSUED, 20, 4, WG_I_TRNSPSRCA);
    insn(WG_EV_COMPLETED, 20, 4, WG_I_TRNSPSRCA);
    insn(WG_EV_ISSUED, 98, 5, WG_I_CONV3S1); /* still there at the end */
    wg_assumed_end(&a, 100);
    assert_int_equal(a.cycles, 7 + 1 + 2);
    assert_int_equal(part("CONV3S1"), 5 + 5 + 2);
    assert_int_equal(part("TRNSPSRCA"), 2);
    assert_true(wg_assumed_part_at(&a, 0, &p)); /* most cycles first */
    assert_string_equal(p.what, "CONV3S1");
    assert_string_equal(p.kind, "latency");
    assert_false(wg_assumed_part_at(&a, 2, &p));
}

static void test_cores(void **state)
{
    (void)state;
    const char *dst = wg_path_constant(WG_PATH_DST)->what;
    wg_assumed_begin(&a, WG_ARCH_WH, WG_PROFILE_SILICON);
    load(WG_CORE_T0, 10, WG_PATH_DST, A0);
    load(WG_CORE_T0, 11, WG_PATH_L1, A1);
    waits(WG_CORE_T0, 11, 16, WG_STALL_LOAD_RESPONSE, A0);
    waits(WG_CORE_T0, 16, 20, WG_STALL_LOAD_RESPONSE, A1);
    waits(WG_CORE_T0, 20, 29, WG_STALL_MULTI_CYCLE, 0); /* a division */
    waits(WG_CORE_T0, 30, 31, WG_STALL_LOAD_RESPONSE, A2);
    waits(WG_CORE_T0, 32, 35, WG_STALL_INSTRUCTION_FETCH, 0); /* measured */
    waits(WG_CORE_B, 13, 18, WG_STALL_INSTRUCTION_FETCH, 0);  /* assumed */
    wg_assumed_end(&a, 100);
    assert_int_equal(part(dst), 5);
    assert_int_equal(part("instruction fetches"), 5);
}

/* Waits of two cores overlap. */
static void test_once(void **state)
{
    (void)state;
    wg_assumed_begin(&a, WG_ARCH_BH, WG_PROFILE_SILICON);
    wg_event e = {.kind = WG_EV_STALL_BEGIN, .stall = {.reason = WG_STALL_LOAD_RESPONSE, .resource = A0}};
    static const struct {
        uint8_t core, kind;
        uint64_t cycle;
    } events[] = {{WG_CORE_T0, WG_EV_STALL_BEGIN, 12},
                  {WG_CORE_T1, WG_EV_STALL_BEGIN, 14},
                  {WG_CORE_T0, WG_EV_STALL_END, 16},
                  {WG_CORE_T1, WG_EV_STALL_END, 19}};
    load(WG_CORE_T0, 10, WG_PATH_DST, A0);
    load(WG_CORE_T1, 10, WG_PATH_DST, A0);
    for (unsigned i = 0; i < 4; i++) {
        e.agent = events[i].core;
        e.kind = events[i].kind;
        e.cycle = events[i].cycle;
        wg_assumed_event(&a, &e);
    }
    wg_assumed_end(&a, 100);
    assert_int_equal(a.cycles, 7);
    assert_int_equal(part(wg_path_constant(WG_PATH_DST)->what), 9);
}

/*
 * Neither profile nor architecture changes which constant belongs to a path; a constant may be assumed in one profile
 * only.
 */
static void test_table(void **state)
{
    (void)state;
    for (unsigned path = 0; path < WG_PATH_COUNT; path++)
        if (!wg_path_constant(path))
            fail_msg("path %u has no source", path);
    for (unsigned core = 0; core < WG_CORES; core++)
        if (!wg_fetch_constant(core))
            fail_msg("fetches of core %u have no source", core);
    for (unsigned i = 0; i < wg_constant_count; i++)
        for (unsigned arch = 0; arch < 2; arch++)
            for (unsigned profile = 0; profile < 2; profile++) {
                wg_basis b = wg_constants[i].source[arch][profile];
                bool counted = b.certainty == WG_MEASURED || b.certainty == WG_INFERRED;
                if (counted != (b.rows > 0))
                    fail_msg("%s: %u rows", wg_constants[i].name, b.rows);
            }
}

static void sends(unsigned kind, unsigned x, unsigned y)
{
    uint64_t to = x + (uint64_t)y * 10; /* Wormhole's width */
    wg_assumed_event(&a, &(wg_event){.kind = WG_EV_NOC_SENT, .agent = WG_AGENT_NIU0, .c = kind | 64 << 8 | to << 48});
}

static bool applies(const char *name)
{
    const wg_constant *c;
    for (unsigned i = 0; (c = wg_assumed_constant_at(&a, i)); i++)
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

/* Assumed constants of the NoC, DRAM and Ethernet are named if the tile had such traffic. */
static void test_traffic(void **state)
{
    (void)state;
    wg_assumed_begin(&a, WG_ARCH_WH, WG_PROFILE_SILICON);
    sends(WG_PACKET_READ, 1, 1);
    sends(WG_PACKET_WRITE, 0, 0); /* DRAM */
    assert_false(applies("dram_request"));
    sends(WG_PACKET_READ, 0, 0);
    assert_true(applies("dram_request"));
    assert_false(applies("noc_data")); /* measured */
    wg_assumed_begin(&a, WG_ARCH_WH, WG_PROFILE_DOCUMENTED);
    assert_null(wg_assumed_constant_at(&a, 0));
    sends(WG_PACKET_READ, 1, 1);
    assert_true(applies("noc_data"));
    assert_false(applies("noc_ack"));
    assert_false(applies("dram_partial"));
    wg_assumed_begin(&a, WG_ARCH_BH, WG_PROFILE_SILICON);
    wg_event e = {
        .kind = WG_EV_CORE_REQUEST, .a = 0xFFB14000, .c = WG_REQ_WRITE, .word = WG_REQUEST_WORD(WG_PATH_ETH, 0, 4, 0)};
    wg_assumed_event(&a, &e); /* the interrupt controller */
    assert_null(wg_assumed_constant_at(&a, 0));
    e.a = 0xFFB90000;
    wg_assumed_event(&a, &e);
    assert_true(applies("eth_latency") && applies("eth.l1_bytes"));
    for (unsigned i = 0; i < wg_constant_count; i++) {
        const char *name = wg_constants[i].name;
        bool expected = !strncmp(name, "noc", 3) || !strncmp(name, "dram", 4) || !strncmp(name, "eth", 3);
        if (expected != (wg_assumed_traffic_of(&wg_constants[i]) != 0))
            fail_msg("%s", name);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_traffic, WG_BH, ""), WG_TEST(test_nothing, WG_BH, ""), WG_TEST(test_instructions, WG_BH, ""),
    WG_TEST(test_cores, WG_WH, ""),   WG_TEST(test_once, WG_BH, ""),    WG_TEST(test_table, WG_BH, ""),
};
WG_MAIN("assumed", tests)
