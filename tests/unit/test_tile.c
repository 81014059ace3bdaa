/* SPDX-License-Identifier: Apache-2.0 */
/* The tile around the cores: address map and region handlers, asked directly, request by request. */
#include "engine/device.h"
#include "explain/findings.h"
#include "isa/config_fields.h"
#include "isa/tile_regs.h"
#include "tile/address_map.h"
#include "tile/bus.h"
#include "wgtest.h"

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    /* Only a core that a program releases runs; requests are made by hand here, in phase C. */
    dev->tile->sched.now = 100;
    dev->tile->sched.phase = WG_PHASE_REGIONS;
    return dev;
}

/* What the last request was answered. */
typedef struct answer {
    wg_region_answer what;
    uint32_t value;
    wg_stall why;
} answer;

static answer ask(wg_device *dev, unsigned core, wg_request_kind kind, uint32_t address, unsigned bytes, uint32_t data)
{
    wg_tile *t = dev->tile;
    wg_route r = wg_address_route(t->arch, core, address, kind == WG_REQ_WRITE);
    wg_request req = {.seen_at = t->sched.now,
                      .address = address,
                      .pc = 0x4000,
                      .data = {data},
                      .kind = (uint8_t)kind,
                      .path = r.path,
                      .bytes = (uint8_t)bytes,
                      .core = (uint8_t)core,
                      .index = r.index};
    uint32_t value[4] = {0};
    answer a = {.why = {.retry_at = 0}};
    assert_non_null(wg_region_handlers[r.path]);
    a.what = wg_region_handlers[r.path](t, &req, value, &a.why);
    a.value = value[0];
    return a;
}

static answer load(wg_device *dev, unsigned core, uint32_t address)
{
    answer a = ask(dev, core, WG_REQ_READ, address, 4, 0);
    dev->tile->sched.now += 8; /* each load is over before the next */
    return a;
}

static answer store(wg_device *dev, unsigned core, uint32_t address, uint32_t value)
{
    answer a = ask(dev, core, WG_REQ_WRITE, address, 4, value);
    dev->tile->sched.now += 8;
    return a;
}

static const wg_finding *found(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return wg_finding_at(dev, i);
    return NULL;
}

/* ---- Address map ---------------------------------------------------------------------------------- */

/* One address of each region and where it leads from B, NC, T0, T1, T2. */
typedef struct expected {
    uint32_t address;
    bool is_write;
    uint8_t bh[5], wh[5]; /* wg_path */
    uint8_t index[5];
} expected;

#define U WG_PATH_UNMAPPED
#define ALL5(p)                                                                                                        \
    {                                                                                                                  \
        p, p, p, p, p                                                                                                  \
    }
#define BT(p)                                                                                                          \
    {                                                                                                                  \
        p, U, p, p, p                                                                                                  \
    }
#define TS(p)                                                                                                          \
    {                                                                                                                  \
        U, U, p, p, p                                                                                                  \
    }
#define ONLY_B(p)                                                                                                      \
    {                                                                                                                  \
        p, U, U, U, U                                                                                                  \
    }
static const expected map[] = {
    {0x00000000, false, ALL5(WG_PATH_L1), ALL5(WG_PATH_L1), {0}},
    {0x0016E000, false, ALL5(WG_PATH_L1), ALL5(U), {0}},
    {0x00180000, false, ALL5(U), ALL5(U), {0}},
    {0xFFB00000, true, ALL5(WG_PATH_OWN_RAM), ALL5(WG_PATH_OWN_RAM), {0, 1, 2, 3, 4}},
    {0xFFB00800, true, ALL5(WG_PATH_OWN_RAM), {WG_PATH_OWN_RAM, WG_PATH_OWN_RAM, U, U, U}, {0, 1, 2, 3, 4}},
    {0xFFB01000, true, {WG_PATH_OWN_RAM, WG_PATH_OWN_RAM, U, U, U}, ALL5(U), {0, 1, 0, 0, 0}},
    {0xFFB11000, true, BT(WG_PATH_TDMA), ALL5(WG_PATH_TDMA), {0}},
    {0xFFB12000, true, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB13000, false, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB13148, false, ALL5(WG_PATH_TILE_REGS), ALL5(WG_PATH_TILE_REGS), {0}},
    {0xFFB16000, true, ALL5(WG_PATH_SLOW_RAM), ALL5(U), {1, 1, 1, 1, 1}},
    {0xFFB1B000, true, ALL5(WG_PATH_SLOW_RAM), ALL5(U), {3, 3, 3, 3, 3}},
    {0xFFB20000, true, ALL5(WG_PATH_NIU0), ALL5(WG_PATH_NIU0), {0}},
    {0xFFB3FFFC, true, ALL5(WG_PATH_NIU1), ALL5(WG_PATH_NIU1), {1, 1, 1, 1, 1}},
    {0xFFB40000, true, ALL5(WG_PATH_OVERLAY), ALL5(WG_PATH_OVERLAY), {0}},
    {0xFFB80020, true, TS(WG_PATH_MOP_CFG), TS(WG_PATH_MOP_CFG), {0, 0, 0, 1, 2}},
    {0xFFB80024, true, ALL5(U), ALL5(U), {0}},
    {0xFFBD8000, true, TS(WG_PATH_DST), ALL5(U), {0, 0, 0, 1, 2}},
    {0xFFC00000, true, ALL5(U), ALL5(U), {0}},
    {0xFFE00000, true, BT(WG_PATH_GPR), BT(WG_PATH_GPR), {0, 0, 0, 1, 2}},
    {0xFFE00100, true, ONLY_B(WG_PATH_GPR), ONLY_B(WG_PATH_GPR), {0}},
    {0xFFE40000, true, BT(WG_PATH_PUSH), BT(WG_PATH_PUSH), {0, 0, 0, 1, 2}},
    {0xFFE40000, false, ALL5(U), ALL5(U), {0}},
    {0xFFE50000,
     true,
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {1, 0, 1, 1, 1}},
    {0xFFE60000,
     true,
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {WG_PATH_PUSH, U, WG_PATH_HANG, WG_PATH_HANG, WG_PATH_HANG},
     {2, 0, 2, 2, 2}},
    {0xFFE80000, false, BT(WG_PATH_SYNC), BT(WG_PATH_SYNC), {0, 0, 0, 1, 2}},
    {0xFFE80020, true, BT(WG_PATH_SYNC), BT(WG_PATH_SYNC), {0, 0, 0, 1, 2}},
    {0xFFE90000, true, ONLY_B(WG_PATH_SYNC), ONLY_B(WG_PATH_SYNC), {1, 0, 0, 0, 0}},
    {0xFFEA0000, true, ONLY_B(WG_PATH_SYNC), ONLY_B(WG_PATH_SYNC), {2, 0, 0, 0, 0}},
    {0xFFEC0000, true, BT(WG_PATH_MAILBOX_WRITE), BT(WG_PATH_MAILBOX_WRITE), {0}},
    {0xFFEC3000, false, BT(WG_PATH_MAILBOX_READ), BT(WG_PATH_MAILBOX_READ), {3, 3, 3, 3, 3}},
    {0xFFEC4000, false, ALL5(U), ALL5(U), {0}},
    {0xFFEF0000, true, BT(WG_PATH_CONFIG), BT(WG_PATH_CONFIG), {0}},
};

static void test_address_map(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        for (unsigned core = 0; core < WG_CORES; core++) {
            uint8_t want = (arch->id == WG_ARCH_BH ? map[i].bh : map[i].wh)[core];
            wg_route r = wg_address_route(arch, core, map[i].address, map[i].is_write);
            if (r.path != want || (want != U && r.index != map[i].index[core]))
                fail_msg("0x%08x from core %u: path %u index %u, not %u %u", map[i].address, core, r.path, r.index,
                         want, map[i].index[core]);
        }
}

/* Hostile addresses: every lookup answers, and a row that is found contains the address. */
static void test_any_address(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    wg_rng rng = {1};
    for (unsigned i = 0; i < 200000; i++) {
        uint32_t address = (uint32_t)wg_rng_next(&rng);
        if (i & 1)
            address |= 0xFFA00000;
        unsigned viewer = wg_rng_below(&rng, WG_CORES + 1);
        bool is_write = i & 2;
        const wg_map_row *r = wg_map_find(arch, viewer, address, is_write);
        assert_true(!r || (r->first <= address && address <= r->last && r->views >> viewer & 1));
        assert_non_null(wg_map_nearest(arch, viewer, address, is_write));
    }
}

static void test_unmapped(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = load(dev, WG_CORE_NC, 0xFFE40000);
    assert_int_equal(a.what, WG_REGION_NEVER);
    assert_int_equal(a.why.reason, WG_STALL_HANGING_ACCESS);
    const wg_finding *f = found(dev, "core-unmapped-access");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_NC);
    assert_int_equal(f->pc, 0x4000);
    assert_int_equal(f->subject, 0xFFE40000);
    assert_non_null(strstr(f->detail, "nearest for this core: NoC overlay registers, 0xffb40000"));
    assert_int_equal(store(dev, WG_CORE_NC, 0xFFE40000, 0x02000000).what, WG_REGION_DONE);
    wg_destroy(dev);
}

static void test_foreign_instruction_buffer(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = store(dev, WG_CORE_T1, 0xFFE60000, 0x02000000);
    assert_int_equal(a.what, WG_REGION_NEVER);
    const wg_finding *f = found(dev, "core-hanging-store");
    assert_non_null(f);
    assert_int_equal(f->agent, WG_AGENT_CORE_T1);
    assert_string_equal(f->detail, "T1 stored to 0xffe60000 and hangs");
    wg_destroy(dev);
}

/* ---- Mailboxes ------------------------------------------------------------------------------------ */

enum { MAILBOX = 0xFFEC0000 };
static uint32_t mailbox(unsigned peer) { return MAILBOX + 0x1000 * peer; }
static const unsigned mailbox_core[4] = {WG_CORE_B, WG_CORE_T0, WG_CORE_T1, WG_CORE_T2};

static void test_mailbox_routes(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++) {
            uint32_t word = 0xA0 + from * 4 + to;
            assert_int_equal(load(dev, mailbox_core[to], mailbox(from) + 4).value, 0);
            assert_int_equal(store(dev, mailbox_core[from], mailbox(to), word).what, WG_REGION_DONE);
            for (unsigned other = 0; other < 4; other++)
                if (other != to)
                    assert_int_equal(load(dev, mailbox_core[other], mailbox(from) + 4).value, 0);
            assert_int_equal(load(dev, mailbox_core[to], mailbox(from) + 4).value, 1);
            answer a = load(dev, mailbox_core[to], mailbox(from));
            assert_int_equal(a.what, WG_REGION_DONE);
            assert_int_equal(a.value, word);
        }
    wg_destroy(dev);
}

static void test_mailbox_waits(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    answer a = load(dev, WG_CORE_T0, mailbox(0));
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_MAILBOX_EMPTY);
    assert_int_equal(a.why.holder, WG_AGENT_CORE_B);
    /* four in all, whatever mailbox they are in */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(store(dev, WG_CORE_B, mailbox(i), 10 + i).what, WG_REGION_DONE);
    for (unsigned i = 0; i < 4; i++) {
        a = store(dev, WG_CORE_B, mailbox(i), 20);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_MAILBOX_FULL);
    }
    /* another sender has its own four */
    assert_int_equal(store(dev, WG_CORE_T0, mailbox(0), 30).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T1, mailbox(0)).value, 12);
    assert_int_equal(store(dev, WG_CORE_B, mailbox(1), 21).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, mailbox(0)).value, 11);
    assert_int_equal(load(dev, WG_CORE_T0, mailbox(0)).value, 21);
    wg_destroy(dev);
}

/* Between two cores, what one does in a cycle the other sees in the next, whoever is served first. */
static void test_mailbox_cycle(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    for (unsigned i = 0; i < 4; i++)
        store(dev, WG_CORE_B, mailbox(1), i);
    assert_int_equal(ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0).what, WG_REGION_DONE);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, mailbox(2), 4, 9).what, WG_REGION_WAIT);
    t->sched.now++;
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, mailbox(2), 4, 9).what, WG_REGION_DONE);
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, mailbox(0) + 4, 4, 0).value, 0);
    t->sched.now++;
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, mailbox(0) + 4, 4, 0).value, 1);
    wg_destroy(dev);
}

/* ---- PC buffers ----------------------------------------------------------------------------------- */

enum { PC_BUF = 0xFFE80000, PC_BUF_OVERRIDE = 0xFFB12090 };

static void test_pcbuf_fifo(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++) {
        uint32_t at_b = PC_BUF + 0x10000 * thread;
        unsigned core = WG_CORE_T0 + thread;
        answer a = load(dev, core, PC_BUF);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_PCBUF_EMPTY);
        assert_int_equal(a.why.holder, WG_AGENT_CORE_B);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(store(dev, WG_CORE_B, at_b + 4 * i, 100 * thread + i).what, WG_REGION_DONE);
        a = store(dev, WG_CORE_B, at_b, 99);
        assert_int_equal(a.what, WG_REGION_WAIT);
        assert_int_equal(a.why.reason, WG_STALL_PCBUF_FULL);
        assert_int_equal(a.why.holder, WG_AGENT_CORE_T0 + thread);
        assert_int_equal(store(dev, core, PC_BUF, 77).what, WG_REGION_DONE); /* discarded */
        for (unsigned i = 0; i < 16; i++) {
            a = load(dev, core, PC_BUF);
            assert_int_equal(a.what, WG_REGION_DONE);
            assert_int_equal(a.value, 100 * thread + i);
        }
        assert_int_equal(load(dev, core, PC_BUF).what, WG_REGION_WAIT);
    }
    wg_destroy(dev);
}

/* B's load returns 0 once the FIFO is empty, T waits on it and the thread is idle: all three. */
static void test_pcbuf_b_load(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    answer a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_WAIT); /* T0 does not wait */
    assert_int_equal(a.why.reason, WG_STALL_PCBUF_IDLE);
    assert_int_equal(a.why.holder, WG_AGENT_CORE_T0);
    load(dev, WG_CORE_T0, PC_BUF);
    store(dev, WG_CORE_B, PC_BUF, 5);
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF).what, WG_REGION_WAIT); /* not empty */
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).value, 5);
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF).what, WG_REGION_WAIT); /* T0 has gone on */
    load(dev, WG_CORE_T0, PC_BUF);
    assert_int_equal(wg_push(dev, 0, 0x02000000), WG_OK);
    assert_false(wg_thread_idle(t, 0));
    a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_WAIT); /* an instruction is in flight */
    assert_int_equal(a.why.holder, WG_AGENT_THREAD0);
    wg_advance(dev, 100);
    t->sched.phase = WG_PHASE_REGIONS;
    a = load(dev, WG_CORE_B, PC_BUF);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0);
    wg_destroy(dev);
}

static void test_pcbuf_override(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    unsigned core = WG_CORE_T1;
    store(dev, WG_CORE_NC, PC_BUF_OVERRIDE, 0x5Au << 12 | 1 << 10); /* thread 1: OverrideEn, value 0x5A */
    assert_int_equal(load(dev, WG_CORE_NC, PC_BUF_OVERRIDE).value, 0x5Au << 12 | 1 << 10);
    answer a = load(dev, core, PC_BUF);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0x5A);
    store(dev, WG_CORE_B, PC_BUF + 0x10000, 0x1234);
    assert_int_equal(load(dev, core, PC_BUF).value, 0x1234); /* what B pushed goes first */
    assert_int_equal(load(dev, WG_CORE_B, PC_BUF + 0x10000).what, WG_REGION_WAIT);
    store(dev, WG_CORE_NC, PC_BUF_OVERRIDE, 3 << 10); /* and OverrideBusy */
    a = load(dev, WG_CORE_B, PC_BUF + 0x10000);
    assert_int_equal(a.what, WG_REGION_DONE);
    assert_int_equal(a.value, 0);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).what, WG_REGION_WAIT); /* thread 0 has none of it */
    wg_destroy(dev);
}

/* ---- Manual TTSync -------------------------------------------------------------------------------- */

enum { SEMWAIT_ON_ZERO_3 = 0xA6000000 | 0x1FFu << 15 | 1 << (3 + 2) | 1 };

static void test_ttsync_drains(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    assert_int_equal(store(dev, WG_CORE_T2, PC_BUF + 4, 1).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 4).what, WG_REGION_DONE); /* nothing in flight */
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_push(dev, 2, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 2, 0x02000000), WG_OK);
    wg_advance(dev, 50); /* NOP behind the wait */
    t->sched.phase = WG_PHASE_REGIONS;
    answer a = load(dev, WG_CORE_T2, PC_BUF + 4);
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_TTSYNC_DRAIN);
    assert_int_equal(a.why.holder, WG_AGENT_THREAD2);
    assert_int_equal(store(dev, WG_CORE_T2, PC_BUF + 4, 0).what, WG_REGION_DONE); /* a store never waits */
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 8).what, WG_REGION_DONE);     /* no MOP */
    assert_int_equal(load(dev, WG_CORE_T1, PC_BUF + 4).what, WG_REGION_DONE);     /* another thread */
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
    wg_advance(dev, 50);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T2, PC_BUF + 4).what, WG_REGION_DONE);
    wg_destroy(dev);
}

/* A MOP that cannot go on: +8 waits; with the MOP expanded and its output held, only +4 waits. */
static void test_ttsync_mop(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    static const uint32_t nop = 0x02000000,
                          long_mop[9] = {1, 60, nop, nop, nop, 0x60000000, nop, 0x60000000, 0x60000000};
    for (unsigned i = 0; i < 9; i++) /* template 1, one pass of 60 Scalar Unit no-ops */
        assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, i, long_mop[i]), WG_OK);
    assert_int_equal(wg_push(dev, 0, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0x01800000), WG_OK);
    wg_advance(dev, 200);
    t->sched.phase = WG_PHASE_REGIONS;
    answer a = load(dev, WG_CORE_T0, PC_BUF + 8);
    assert_int_equal(a.what, WG_REGION_WAIT);
    assert_int_equal(a.why.reason, WG_STALL_TTSYNC_MOP);
    t->sched.phase = WG_PHASE_ARRIVALS;
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 1), WG_OK);
    wg_advance(dev, 200);
    assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, 3, 0), WG_OK);
    assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, 1, 3), WG_OK); /* three instead of 60: fits behind the gate */
    assert_int_equal(wg_push(dev, 0, SEMWAIT_ON_ZERO_3), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0x01800000), WG_OK);
    wg_advance(dev, 200);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 8).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    wg_destroy(dev);
}

static void test_ttsync_override(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    wg_push(dev, 0, SEMWAIT_ON_ZERO_3);
    wg_push(dev, 0, 0x02000000);
    wg_advance(dev, 20);
    t->sched.phase = WG_PHASE_REGIONS;
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    store(dev, WG_CORE_B, PC_BUF_OVERRIDE, 1);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_WAIT);
    store(dev, WG_CORE_B, PC_BUF_OVERRIDE, 3);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 4).what, WG_REGION_DONE);
    wg_destroy(dev);
}

/* The hardware bug: a load that starts while a TTSync load is pending gets a wrong value, and is reported. */
static void test_ttsync_overlap(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    store(dev, WG_CORE_B, mailbox(1), 0x1234);
    store(dev, WG_CORE_B, mailbox(1), 0x5678);
    assert_int_equal(ask(dev, WG_CORE_T0, WG_REQ_READ, PC_BUF + 4, 4, 0).what, WG_REGION_DONE);
    t->sched.now++; /* the TTSync value has not arrived */
    answer a = ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0);
    assert_int_equal(a.value, ~0x1234u);
    const wg_finding *f = found(dev, "manual-ttsync-overlap");
    assert_non_null(f);
    assert_int_equal(f->subject, mailbox(0));
    assert_int_equal(f->count, 1);
    t->sched.now += 8;
    a = ask(dev, WG_CORE_T0, WG_REQ_READ, mailbox(0), 4, 0);
    assert_int_equal(a.value, 0x5678);
    assert_int_equal(f->count, 1);
    wg_destroy(dev);
}

/* ---- Semaphore window ----------------------------------------------------------------------------- */

static void test_semaphore_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(wg_poke(dev, WG_SPACE_SEM_VALUE, i, i + 3), WG_OK);
    t->sched.phase = WG_PHASE_REGIONS;
    for (unsigned core = WG_CORE_T0; core <= WG_CORE_T2; core++)
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(load(dev, core, PC_BUF + 0x20 + 4 * i).value, i + 3);
    /* beyond the eight there is nothing, and for B it is all PC buffer */
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 0x40).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF + 0xC).what, WG_REGION_NEVER);
    assert_int_equal(store(dev, WG_CORE_B, PC_BUF + 0x20, 42).what, WG_REGION_DONE);
    assert_int_equal(load(dev, WG_CORE_T0, PC_BUF).value, 42);
    uint32_t value;
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 0, &value), WG_OK);
    assert_int_equal(value, 3);
    assert_int_equal(load(dev, WG_CORE_NC, PC_BUF + 0x20).what, WG_REGION_NEVER);
    wg_destroy(dev);
}

/* ---- GPRs, MOP configuration, Dst ----------------------------------------------------------------- */

static void test_gpr_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (uint32_t i = 0; i < 192; i++)
        store(dev, WG_CORE_B, 0xFFE00000 + 4 * i, 0x1000 + i);
    for (uint32_t thread = 0; thread < 3; thread++)
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t value;
            assert_int_equal(load(dev, WG_CORE_T0 + thread, 0xFFE00000 + 4 * i).value, 0x1000 + 64 * thread + i);
            store(dev, WG_CORE_T0 + thread, 0xFFE00000 + 4 * i, 7 * i + thread);
            assert_int_equal(wg_peek(dev, WG_SPACE_GPR, 64 * thread + i, &value), WG_OK);
            assert_int_equal(value, 7 * i + thread);
        }
    assert_int_equal(load(dev, WG_CORE_B, 0xFFE00000 + 4 * 130).value, 7 * 2 + 2);
    assert_int_equal(load(dev, WG_CORE_T0, 0xFFE00100).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_B, 0xFFE00300).what, WG_REGION_NEVER);
    ask(dev, WG_CORE_T1, WG_REQ_WRITE, 0xFFE00006, 2, 0xBEEF); /* bytes of their own */
    assert_int_equal(load(dev, WG_CORE_T1, 0xFFE00004).value, 0xBEEF0000 | 8);
    assert_int_equal(ask(dev, WG_CORE_T1, WG_REQ_READ, 0xFFE00007, 1, 0).value, 0xBE);
    wg_destroy(dev);
}

static void test_mop_cfg_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < 9; i++)
            assert_int_equal(store(dev, WG_CORE_T0 + thread, 0xFFB80000 + 4 * i, 100 * thread + i).what,
                             WG_REGION_DONE);
    for (unsigned i = 0; i < 27; i++) {
        uint32_t value;
        assert_int_equal(wg_peek(dev, WG_SPACE_MOP_CFG, i, &value), WG_OK);
        assert_int_equal(value, 100 * (i / 9) + i % 9);
    }
    assert_null(found(dev, "mop-cfg-read"));
    assert_int_equal(load(dev, WG_CORE_T1, 0xFFB80004).what, WG_REGION_DONE);
    assert_non_null(found(dev, "mop-cfg-read"));
    assert_int_equal(load(dev, WG_CORE_B, 0xFFB80000).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB80000).what, WG_REGION_NEVER);
    assert_int_equal(load(dev, WG_CORE_T0, 0xFFB80024).what, WG_REGION_NEVER);
    wg_destroy(dev);
}

/* The field triple of RISC_DEST_ACCESS_CTRL for thread 0, in the bank it uses. */
static void dst_format(wg_device *dev, unsigned fmt, bool no_swizzle, bool unsigned_int)
{
    uint32_t *bank = dev->tile->regs.config.bank[0];
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_fmt], bank, fmt);
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_no_swizzle], bank, no_swizzle);
    wg_cfg_insert(&wg_cfg_fields[WG_ARCH_BH][WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_unsigned_int], bank, unsigned_int);
}

static uint32_t dst_store(wg_device *dev, unsigned bytes, uint32_t element, uint32_t value)
{
    ask(dev, WG_CORE_T0, WG_REQ_WRITE, 0xFFBD8000 + bytes * element, bytes, value);
    return bytes == 4 ? (uint32_t)dev->tile->regs.dst.bits[element / 16 % 8 + element / 128 * 16][element % 16] << 16 |
                            dev->tile->regs.dst.bits[element / 16 % 8 + element / 128 * 16 + 8][element % 16]
                      : dev->tile->regs.dst.bits[element / 16][element % 16];
}

static uint32_t dst_load(wg_device *dev, unsigned bytes, uint32_t element)
{
    return ask(dev, WG_CORE_T0, WG_REQ_READ, 0xFFBD8000 + bytes * element, bytes, 0).value;
}

static void test_dst_window(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dst_format(dev, 0, false, false); /* 1.5f = 0x3FC00000: sign, exponent 0x7F below the mantissa's top seven bits */
    assert_int_equal(dst_store(dev, 4, 5000, 0x3FC00000), 0x407F0000);
    assert_int_equal(dst_load(dev, 4, 5000), 0x3FC00000);
    dst_format(dev, 0, true, false);
    assert_int_equal(dst_load(dev, 4, 5000), 0x407F0000);
    dst_format(dev, 1, false, false);
    assert_int_equal(dst_store(dev, 4, 17, (uint32_t)-5) & 0x8000FFFF, 0x80000005);
    assert_int_equal(dst_load(dev, 4, 17), (uint32_t)-5);
    dst_store(dev, 4, 17, 0x80000000);
    assert_int_equal(dst_load(dev, 4, 17), 0x80000001); /* clamped */
    dst_format(dev, 2, false, false);
    assert_int_equal(dst_store(dev, 2, 16383, 0x3C01), 1 << 5 | 15); /* FP16 1.0009765625 */
    assert_int_equal(dst_load(dev, 2, 16383), 0x3C01);
    dst_format(dev, 3, false, false);
    assert_int_equal(dst_store(dev, 2, 33, 0xBFC0), 0x8000 | 0x40 << 8 | 0x7F); /* BF16 -1.5 */
    assert_int_equal(dst_load(dev, 2, 33), 0xBFC0);
    dst_format(dev, 4, false, false);
    assert_int_equal(dst_store(dev, 2, 34, 0xFFFE), 0x8002);
    assert_int_equal(dst_load(dev, 2, 34), 0xFFFE);
    assert_int_equal(dst_store(dev, 2, 34, 0x8000), 0xFFFF);
    dst_format(dev, 4, false, true);
    assert_int_equal(dst_load(dev, 2, 34), 0xFFFF);
    dst_format(dev, 5, false, false);
    assert_int_equal(dst_store(dev, 1, 35, 0x05), 5 << 5 | 16);
    assert_int_equal(dst_load(dev, 1, 35), 5);
    assert_int_equal(dst_store(dev, 1, 35, 0xFF), 0x8000 | 0x81 << 5 | 16); /* not what was meant (Dst.md) */
    assert_int_equal(dst_load(dev, 1, 35), 0xFF);
    assert_int_equal(dst_store(dev, 1, 36, 0), 0);
    assert_null(found(dev, "dst-window-access"));
    dst_load(dev, 4, 0);
    assert_non_null(found(dev, "dst-window-access"));
    wg_destroy(dev);
}

/* ---- Tile registers ------------------------------------------------------------------------------- */

enum { TILE = 0xFFB12000, WALL_L = TILE + 0x1F0, WALL_NOW_H = TILE + 0x1F4, WALL_H = TILE + 0x1F8 };

static void test_wall_clock(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.now = UINT64_C(0x2FFFFFFF0);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, WALL_L, 4, 0).value, 0xFFFFFFF0);
    t->sched.now += 0x20;
    assert_int_equal(ask(dev, WG_CORE_NC, WG_REQ_READ, WALL_H, 4, 0).value,
                     2); /* as kept by the read of the low half */
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_NOW_H, 4, 0).value, 3);
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_L, 4, 0).value, 0x10);
    assert_int_equal(ask(dev, WG_CORE_T2, WG_REQ_READ, WALL_H, 4, 0).value, 3);
    wg_destroy(dev);
}

static void test_timestamps(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    uint32_t at[4];
    store(dev, WG_CORE_B, TILE + 0x208, 0x100); /* buffer 0: 0x1000 … 0x101F */
    store(dev, WG_CORE_B, TILE + 0x20C, 0x101);
    store(dev, WG_CORE_B, TILE + 0x210, 0x200);
    store(dev, WG_CORE_B, TILE + 0x214, 0x200);
    t->sched.now = UINT64_C(0x123456789A);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xAB00); /* 128 bits */
    assert_true(wg_tile_bus_read(t, 0x1000, at, 16));
    assert_memory_equal(at, ((uint32_t[]){0xAB00, 0x3456789A, 0x12, 0}), 16);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xC1); /* 64 bits, two make a line */
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, TILE + 0x204, 4, 0).value, 1 << 8 | 1 << 14);
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0xC9);
    assert_true(wg_tile_bus_read(t, 0x1010, at, 16));
    assert_memory_equal(at, ((uint32_t[]){0xC1, 0x3456789A, 0xC9, 0x3456789A}), 16);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_READ, TILE + 0x204, 4, 0).value, 1 | 2 << 14); /* buffer 0 full */
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0x12); /* 32 bits, then an event of another size */
    assert_null(found(dev, "timestamp-misuse"));
    ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1FC, 4, 0x0);
    assert_non_null(found(dev, "timestamp-misuse"));
    assert_true(wg_tile_bus_read(t, 0x2000, at, 4));
    assert_int_equal(at[0], 0x12 | (0x3456789Au & 0x001FFFE0) << 11);
    wg_destroy(dev);
}

static void test_config_readback(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    dev->tile->regs.config.bank[1][5] = 0xCAFE;
    store(dev, WG_CORE_NC, TILE + 0x058, dev->arch->config_words + 5u);
    assert_int_equal(load(dev, WG_CORE_NC, TILE + 0x078).value, 0xCAFE);
    wg_destroy(dev);
}

static void test_unknown_register(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    store(dev, WG_CORE_B, TILE + 0x054, 1);
    const wg_finding *f = found(dev, "unimplemented-register");
    assert_non_null(f);
    assert_non_null(strstr(f->detail, "dbg_bus_ctrl"));
    assert_int_equal(load(dev, WG_CORE_B, TILE + 0x054).value, 1);
    assert_int_equal(ask(dev, WG_CORE_B, WG_REQ_WRITE, TILE + 0x1B2, 2, 4).what, WG_REGION_DONE);
    assert_non_null(found(dev, "narrow-register-store"));
    wg_destroy(dev);
}

/* Push through the debug bus: the word enters before the Replay Expander and executes. */
static void test_debug_push(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    assert_int_equal(load(dev, WG_CORE_NC, TILE + 0x0A8).value, 0x77); /* all empty, none full */
    store(dev, WG_CORE_NC, TILE + 0x0A4, 0xA3450004 | 1 << 7);         /* SEMINIT: Max 4, Value 5, semaphores 0 and 5 */
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x20);                        /* not owned: nothing happens */
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x02);
    store(dev, WG_CORE_NC, TILE + 0x0A0, 0x22);
    t->sched.phase = WG_PHASE_ARRIVALS;
    wg_advance(dev, 50);
    uint32_t value;
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 5, &value), WG_OK);
    assert_int_equal(value, 5);
    assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, 1, &value), WG_OK);
    assert_int_equal(value, 0);
    wg_destroy(dev);
}

/* ---- PIC ------------------------------------------------------------------------------------------ */

static void test_pic_software_irqs(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    uint32_t sw3 = 0xFFB13018 + 4 * 3;
    store(dev, WG_CORE_T0, sw3, 77);
    assert_int_equal(load(dev, WG_CORE_NC, sw3).value, 77); /* reading takes it */
    assert_int_equal(load(dev, WG_CORE_NC, sw3).value, 0);
    store(dev, WG_CORE_T0, sw3, 78);
    store(dev, WG_CORE_T0, sw3, 0);
    assert_int_equal(load(dev, WG_CORE_B, sw3).value, 0);
    assert_int_equal(dev->tile->regions.control.pic.raised, 0);
    store(dev, WG_CORE_B, 0xFFB13000, 1 << 3);
    store(dev, WG_CORE_B, sw3, 1);
    assert_int_equal(dev->tile->regions.control.pic.raised, 1); /* B, not NC */
    store(dev, WG_CORE_B, 0xFFB1300C, 1 << 3);
    assert_int_equal(dev->tile->regions.control.pic.raised, 3);
    load(dev, WG_CORE_T0, sw3);
    assert_int_equal(dev->tile->regions.control.pic.raised, 0);
    store(dev, WG_CORE_B, 0xFFB130A8 + 4 * 31, 0x1230);
    assert_int_equal(load(dev, WG_CORE_B, 0xFFB130A8 + 4 * 31).value, 0x1230);
    wg_destroy(dev);
}

static void test_pic_wormhole(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    store(dev, WG_CORE_B, 0xFFB13008, 1 << 17 | 1 << 18); /* the timestamper's buffers are full */
    store(dev, WG_CORE_B, TILE + 0x208, 0x100);
    store(dev, WG_CORE_B, TILE + 0x20C, 0x100);
    store(dev, WG_CORE_B, TILE + 0x210, 0x200);
    store(dev, WG_CORE_B, TILE + 0x214, 0x200);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 0);
    store(dev, WG_CORE_B, TILE + 0x1FC, 0);
    store(dev, WG_CORE_B, TILE + 0x1FC, 0);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 1 << 17 | 1 << 18);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 17);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 18);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13004).value, 17);
    store(dev, WG_CORE_NC, 0xFFB13000, 1 << 17);
    assert_int_equal(load(dev, WG_CORE_NC, 0xFFB13000).value, 1 << 18);
    wg_destroy(dev);
}

/* ---- NIU ------------------------------------------------------------------------------------------ */

static void test_niu(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    const wg_tile_reg *regs = wg_tile_regs[dev->arch->id];
    dev->tile->regions.niu.coordinate = 3 | 4 << 6;
    uint32_t base = 0xFFB20000;
    assert_int_equal(load(dev, WG_CORE_B, base + regs[WG_REG_NIU_noc_node_id].offset).value & 0xFFF, 3 | 4 << 6);
    uint32_t mirrored = (dev->arch->id == WG_ARCH_BH ? 16 - 3 : 9 - 3) | (11 - 4) << 6;
    assert_int_equal(load(dev, WG_CORE_B, base + 0x10000 + regs[WG_REG_NIU_noc_node_id].offset).value & 0xFFF,
                     mirrored);
    store(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_targ_addr_lo].offset, 0x1234);
    assert_int_equal(load(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_targ_addr_lo].offset).value, 0x1234);
    assert_null(found(dev, "unimplemented-register"));
    store(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_cmd_ctrl].offset, 1);
    wg_advance(dev, 2);
    assert_int_equal(load(dev, WG_CORE_NC, base + regs[WG_REG_NIU_noc_cmd_ctrl].offset).value, 0);
    assert_non_null(found(dev, "noc-nowhere"));   /* the tile stands alone */
    uint32_t stream = 0xFFB40000 + 5 * 0x1000;
    store(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_size].offset, 100);
    store(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_space_available_update].offset, 7 << 6);
    assert_int_equal(load(dev, WG_CORE_B, stream + regs[WG_REG_STREAM_remote_dest_buf_space_available].offset).value,
                     107);
    wg_destroy(dev);
}

/* ---- The bus -------------------------------------------------------------------------------------- */

static void test_bus(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    uint8_t pattern[64], back[64];
    for (unsigned i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i * 7);
    assert_true(wg_tile_bus_write(t, 0x1003, pattern, 61));
    assert_true(wg_tile_bus_read(t, 0x1003, back, 61));
    assert_memory_equal(pattern, back, 61);
    uint32_t end = dev->arch->l1_bytes;
    assert_true(wg_tile_bus_write(t, end - 4, pattern, 4));
    assert_false(wg_tile_bus_write(t, end - 4, pattern, 8));
    assert_false(wg_tile_bus_read(t, end, back, 4));
    assert_false(wg_tile_bus_read(t, UINT64_C(0x100000000), back, 4));
    assert_false(wg_tile_bus_read(t, 0xFFFFFFFC, back, 8));
    assert_false(wg_tile_bus_read(t, 0xFFE00000, back, 4)); /* GPRs are the cores' alone */
    assert_false(wg_tile_bus_read(t, 0xFFB121B1, back, 4));
    assert_false(wg_tile_bus_read(t, 0xFFB00000, back, 4));
    uint32_t word;
    assert_true(wg_tile_bus_read(t, 0xFFB121B0, &word, 4));
    assert_int_equal(word, 0x47800);
    bool has_ram = dev->arch->id == WG_ARCH_BH;
    assert_int_equal(wg_tile_bus_write(t, 0xFFB1A010, pattern, 5), has_ram);
    if (has_ram) {
        assert_int_equal(wg_peek(dev, WG_SPACE_CORE_RAM, WG_CORE_T1 << 16 | 0x13, &word), WG_OK);
        assert_int_equal(word & 0xFF, pattern[3]);
        assert_true(wg_tile_bus_read(t, 0xFFB1B010, back, 5)); /* the second window onto the same bytes */
        assert_memory_equal(pattern, back, 5);
    }
    assert_null(found(dev, "bus-unmapped-config"));
    uint32_t vector = 0x9000;
    assert_true(wg_tile_bus_write(t, 0xFFEF0000 + 160 * 4, &vector, 4));
    assert_non_null(found(dev, "bus-unmapped-config"));
    wg_destroy(dev);
}

static void test_reset_vectors(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    static const uint32_t fixed[WG_CORES] = {0, 0x12000, 0x6000, 0xA000, 0xE000};
    for (unsigned core = 0; core < WG_CORES; core++)
        assert_int_equal(wg_reset_vector(t, core), fixed[core]);
    static const uint32_t bh_pc[WG_CORES] = {0, 0x238, 0x228, 0x22C, 0x230};
    static const uint32_t wh_pc[WG_CORES] = {0, 162, 158, 159, 160};
    bool bh = dev->arch->id == WG_ARCH_BH;
    for (unsigned core = WG_CORE_NC; core <= WG_CORE_T2; core++) {
        uint32_t pc = 0x20000 + 0x100 * core;
        assert_true(wg_tile_bus_write(t, bh ? TILE + bh_pc[core] : 0xFFEF0000 + 4 * wh_pc[core], &pc, 4));
        assert_int_equal(wg_reset_vector(t, core), fixed[core]);
    }
    uint32_t all = 7;
    assert_true(wg_tile_bus_write(t, bh ? TILE + 0x234 : 0xFFEF0000 + 4 * 161, &all, 4));
    assert_int_equal(wg_reset_vector(t, WG_CORE_NC), fixed[WG_CORE_NC]);
    all = 1;
    assert_true(wg_tile_bus_write(t, bh ? TILE + 0x23C : 0xFFEF0000 + 4 * 163, &all, 4));
    for (unsigned core = WG_CORE_NC; core <= WG_CORE_T2; core++)
        assert_int_equal(wg_reset_vector(t, core), 0x20000 + 0x100 * core);
    wg_destroy(dev);
}

/* Resets of units: state at once, held units stay held; what is not modelled says so. */
static void test_unit_resets(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    wg_tile *t = dev->tile;
    t->sched.phase = WG_PHASE_ARRIVALS;
    t->regs.src.a[1][3][5] = 7;
    t->regs.src.a[1][3][9] = 8;
    t->regs.src.b[0][2][1] = 9;
    t->regs.src.owner_a[0] = WG_SRC_MATRIX;
    t->regs.dst.undefined[3] = 5;
    uint32_t bits = 0x47800 | 1 << 6;
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_true(t->backend.mover.held);
    assert_null(found(dev, "unimplemented-register"));
    bits = 0x47800 | 1 << 15 | 1 << 17 | 1 << 20;   /* SrcA's owners, Dst's marks, SrcA's columns 4 to 7 */
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_false(t->backend.mover.held);
    assert_int_equal(t->regs.src.owner_a[0], WG_SRC_UNPACKERS);
    assert_true(t->regs.dst.undefined[3] == 0);
    assert_int_equal(t->regs.src.a[1][3][5], 0);
    assert_int_equal(t->regs.src.a[1][3][9], 8);
    assert_int_equal(t->regs.src.b[0][2][1], 9);
    assert_non_null(found(dev, "unimplemented-register"));
    bits = 0x47800 | 1 << 16 | 1 << 10;
    assert_int_equal(wg_write(dev, 0xFFB121B0, &bits, 4), WG_OK);
    assert_int_equal(t->regs.src.a[1][3][9], 0);
    assert_int_equal(t->regs.src.b[0][2][1], 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_address_map, WG_BH | WG_WH, "PIPE-11 PIPE-23 PIPE-24"),
    WG_TEST(test_any_address, WG_BH | WG_WH, ""),
    WG_TEST(test_unmapped, WG_BH | WG_WH, "PIPE-13"),
    WG_TEST(test_foreign_instruction_buffer, WG_BH | WG_WH, "PIPE-12"),
    WG_TEST(test_mailbox_routes, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_waits, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_mailbox_cycle, WG_BH | WG_WH, ""),
    WG_TEST(test_pcbuf_fifo, WG_BH | WG_WH, "PIPE-27"),
    WG_TEST(test_pcbuf_b_load, WG_BH | WG_WH, "PIPE-27"),
    WG_TEST(test_pcbuf_override, WG_BH | WG_WH, ""),
    WG_TEST(test_ttsync_drains, WG_BH | WG_WH, "PIPE-28"),
    WG_TEST(test_ttsync_mop, WG_BH | WG_WH, "PIPE-28"),
    WG_TEST(test_ttsync_override, WG_BH | WG_WH, ""),
    WG_TEST(test_ttsync_overlap, WG_BH | WG_WH, ""),
    WG_TEST(test_semaphore_window, WG_BH | WG_WH, "SEM-04 SEM-06"),
    WG_TEST(test_gpr_window, WG_BH | WG_WH, "PIPE-24"),
    WG_TEST(test_mop_cfg_window, WG_BH | WG_WH, "PIPE-17"),
    WG_TEST(test_dst_window, WG_BH, ""),
    WG_TEST(test_wall_clock, WG_BH | WG_WH, ""),
    WG_TEST(test_timestamps, WG_BH | WG_WH, ""),
    WG_TEST(test_config_readback, WG_BH | WG_WH, ""),
    WG_TEST(test_unknown_register, WG_BH | WG_WH, ""),
    WG_TEST(test_debug_push, WG_BH | WG_WH, ""),
    WG_TEST(test_pic_software_irqs, WG_BH, ""),
    WG_TEST(test_pic_wormhole, WG_WH, ""),
    WG_TEST(test_niu, WG_BH | WG_WH, ""),
    WG_TEST(test_bus, WG_BH | WG_WH, ""),
    WG_TEST(test_reset_vectors, WG_BH | WG_WH, ""),
    WG_TEST(test_unit_resets, WG_BH | WG_WH, ""),
};
WG_MAIN("tile", tests)
