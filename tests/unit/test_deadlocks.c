/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated deadlocks are named, party by party; generated programs that are merely slow are not.
 *
 *     party ──waits for──► thing ──that only──► party can change … and back to the first
 *
 * A circle is drawn over threads and cores, with a way of waiting for each step: semaphores at zero and at their
 * maximum, mutexes, source banks both ways, mailboxes and PC buffers empty and full, TTSync, full FIFOs. The slow
 * programs are the same, but the first party does not wait: it works for a while, gives, and all unwinds.
 */
#include "wgtest.h"

#include <stdio.h>

#include "explain/hang.h"
#include "rvasm.h"

enum { PROGRAMS = 200, MAX_PARTIES = 7, MAX_WORDS = 16, CORE_BASE = 0x10000, CORE_STEP = 0x2000 };

#define PCBUF UINT32_C(0xFFE80000)
#define MAILBOX UINT32_C(0xFFEC0000)
#define PUSH UINT32_C(0xFFE40000)
#define NOP UINT32_C(0x02000000)
#define MOP_DOUBLE_LOOP UINT32_C(0x01800000)

static uint32_t sem_bit(unsigned semaphore) { return 1u << (2 + semaphore); }
static uint32_t seminit(unsigned semaphore, uint32_t max, uint32_t value)
{
    return 0xA3000000u | max << 20 | value << 16 | sem_bit(semaphore);
}
static uint32_t sempost(unsigned semaphore) { return 0xA4000000u | sem_bit(semaphore); }
static uint32_t semget(unsigned semaphore) { return 0xA5000000u | sem_bit(semaphore); }
static uint32_t semwait(unsigned semaphore, uint32_t condition)
{
    return 0xA6000000u | 0x1FFu << 15 | sem_bit(semaphore) | condition;
}
static uint32_t stallwait(uint32_t conditions) { return 0xA2000000u | 0x1FFu << 15 | conditions; }
static uint32_t setdvalid(unsigned file) { return 0x57000000u | 1u << file; }
static uint32_t cleardvalid(unsigned file) { return 0x36000000u | 1u << (22 + file); }

typedef struct words {
    uint32_t word[MAX_WORDS];
    unsigned n;
} words;
static void add(words *w, uint32_t word)
{
    assert_true(w->n < MAX_WORDS);
    w->word[w->n++] = word;
}

/* A thread's words before anybody waits, its wait, and what it gives afterwards; likewise for cores. */
typedef struct plan {
    wg_rng r;
    wg_arch_id arch;
    unsigned n;
    wg_node party[MAX_PARTIES];
    wg_node circle[2 * MAX_PARTIES]; /* parties and things, as the report is to name them */
    unsigned circle_length;
    words setup[WG_THREADS], wait[WG_THREADS], give[WG_THREADS];
    rv core_wait[WG_CORES], core_give[WG_CORES];
    bool has_core[WG_CORES];
    unsigned semaphores, mutexes, files; /* taken */
    unsigned outside;                    /* a thread that is no party, if there is one */
    unsigned mailboxes;                  /* links through one */
    bool pair_full;                      /* two cores only: both send more than fits */
    bool slow;                           /* the first party does not wait */
} plan;

static wg_node node(wg_node_kind kind, unsigned index) { return (wg_node){(uint8_t)kind, (uint8_t)index}; }
static bool same(wg_node a, wg_node b) { return a.kind == b.kind && a.index == b.index; }

static unsigned draw(plan *p, unsigned *taken, unsigned allowed)
{
    for (;;) {
        unsigned i = wg_rng_below(&p->r, 8);
        if (allowed >> i & 1 && !(*taken >> i & 1)) {
            *taken |= 1u << i;
            return i;
        }
    }
}

static void passes(plan *p, wg_node n) { p->circle[p->circle_length++] = n; }

static void semaphore_link(plan *p, unsigned waiter, wg_node giver)
{
    unsigned s = draw(p, &p->semaphores, 0xFF);
    bool full = wg_rng_below(&p->r, 2);
    unsigned max = 1 + wg_rng_below(&p->r, 15);
    add(&p->setup[waiter], seminit(s, max, full ? max : 0));
    add(&p->wait[waiter], semwait(s, full ? 2 : 1));
    add(&p->wait[waiter], NOP);
    if (giver.kind == WG_NODE_THREAD) {
        add(&p->give[giver.index], full ? semget(s) : sempost(s));
    } else if (giver.index == WG_CORE_B) {
        rv_store(&p->core_give[giver.index], PUSH + 0x10000 * p->outside, full ? semget(s) : sempost(s));
    } else {
        rv_store(&p->core_give[giver.index], PCBUF + 0x20 + 4 * s, full);
    }
    passes(p, node(WG_NODE_SEMAPHORE, s));
}

static void mutex_link(plan *p, unsigned waiter, unsigned giver)
{
    unsigned m = draw(p, &p->mutexes, p->arch == WG_ARCH_BH ? 0x1D : 0xFD);
    add(&p->setup[giver], 0xA0000000u | m);
    add(&p->wait[waiter], 0xA0000000u | m);
    add(&p->give[waiter], 0xA1000000u | m);
    add(&p->give[giver], 0xA1000000u | m);
    passes(p, node(WG_NODE_MUTEX, m));
}

static void bank_link(plan *p, unsigned waiter, unsigned giver)
{
    unsigned file = draw(p, &p->files, 3);
    bool unpackers = wg_rng_below(&p->r, 2), reader = wg_rng_below(&p->r, 2);
    uint32_t first = p->arch == WG_ARCH_BH ? 5 : 8;
    if (unpackers) {
        add(&p->setup[waiter], setdvalid(file));
        add(&p->setup[waiter], setdvalid(file));
        add(&p->wait[waiter], stallwait(1u << (first + file)));
        add(&p->wait[waiter], NOP);
        add(&p->give[giver], cleardvalid(file));
    } else {
        if (reader) {
            add(&p->wait[waiter], file ? 0x13000000u : 0x12000000u); /* MOVB2D, MOVA2D */
        } else {
            add(&p->wait[waiter], stallwait(1u << (first + 2 + file)));
            add(&p->wait[waiter], NOP);
        }
        add(&p->give[giver], setdvalid(file));
    }
    passes(p, node(WG_NODE_BANK, 2 * file));
}

static uint32_t mailbox_of(unsigned core) { return MAILBOX + 0x1000 * (core == WG_CORE_B ? 0 : core - WG_CORE_T0 + 1); }

static void load_and_use(rv *p, uint32_t address)
{
    rv_li(p, T0, address);
    rv_lw(p, T1, 0, T0);
    rv_add(p, T1, T1, T1);
}

/* A core waits for a core: a reader for one that does not send, or a sender for one that does not read. */
static void core_link(plan *p, unsigned waiter, unsigned giver)
{
    rv *wait = &p->core_wait[waiter], *give = &p->core_give[giver];
    /* Two alone must wait in the same way: otherwise the surplus that one sends is what the other waits for. */
    bool full = p->n == 2 ? p->pair_full : wg_rng_below(&p->r, 2), mailbox = wg_rng_below(&p->r, 2);
    uint32_t there = mailbox_of(giver), back = mailbox_of(waiter), own_mailbox = there;
    unsigned count = 30;                                         /* more than any queue on the way holds */
    if (!mailbox && waiter == WG_CORE_B && (p->n > 2 || full)) { /* the PC buffer goes one way */
        full = true;
        there = PCBUF + 0x10000 * (giver - WG_CORE_T0);
        back = PCBUF;
    } else if (!mailbox && giver == WG_CORE_B && (p->n > 2 || !full)) {
        full = false;
        there = PCBUF;
        back = PCBUF + 0x10000 * (waiter - WG_CORE_T0);
    }
    p->mailboxes += there == own_mailbox;
    if (full) {
        rv_li(wait, T0, there);
        for (unsigned i = 0; i < count; i++)
            rv_sw(wait, T0, 0, T0);
        rv_fence(wait);
        for (unsigned i = 0; i < count; i++)
            load_and_use(give, back);
    } else {
        load_and_use(wait, there);
        rv_store(give, back, count);
        rv_fence(give);
    }
}

/* A core waits for its thread, or B for any. */
static void drain_link(plan *p, unsigned core, unsigned thread)
{
    rv *wait = &p->core_wait[core];
    if (core != WG_CORE_B && wg_rng_below(&p->r, 2)) {
        rv_store(wait, PCBUF + 4, 0);
        load_and_use(wait, PCBUF + 4);
        return;
    }
    rv_li(wait, T0, PUSH + (core == WG_CORE_B ? 0x10000 * thread : 0));
    rv_li(wait, T1, NOP);
    for (unsigned i = 0; i < 60; i++)
        rv_sw(wait, T1, 0, T0);
    rv_fence(wait);
    passes(p, node(WG_NODE_FIFO, thread));
}

static void link(plan *p, wg_node a, wg_node b)
{
    bool cores = a.kind == WG_NODE_CORE;
    passes(p, a);
    if (cores && b.kind == WG_NODE_CORE) {
        core_link(p, a.index, b.index);
    } else if (cores) {
        drain_link(p, a.index, b.index);
    } else if (b.kind == WG_NODE_CORE || same(a, b)) {
        semaphore_link(p, a.index, b);
    } else {
        switch (wg_rng_below(&p->r, p->files == 3 ? 2 : 3)) {
        case 0: semaphore_link(p, a.index, b); break;
        case 1: mutex_link(p, a.index, b.index); break;
        default: bank_link(p, a.index, b.index); break;
        }
    }
}

static void shuffle(plan *p, wg_node *of, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = wg_rng_below(&p->r, i);
        wg_node kept = of[i - 1];
        of[i - 1] = of[j];
        of[j] = kept;
    }
}

/* Threads only, cores only, or one core and threads: only that core can provide what no thread has. */
static void draw_parties(plan *p)
{
    wg_node threads[3] = {node(WG_NODE_THREAD, 0), node(WG_NODE_THREAD, 1), node(WG_NODE_THREAD, 2)};
    wg_node cores[4] = {node(WG_NODE_CORE, WG_CORE_B), node(WG_NODE_CORE, WG_CORE_T0), node(WG_NODE_CORE, WG_CORE_T1),
                        node(WG_NODE_CORE, WG_CORE_T2)};
    shuffle(p, threads, 3);
    shuffle(p, cores, 4);
    unsigned kind = wg_rng_below(&p->r, 3);
    if (kind == 0) {
        p->n = 1 + wg_rng_below(&p->r, 3);
        memcpy(p->party, threads, sizeof threads);
        if (p->slow && p->n == 1)
            p->n = 2;
    } else if (kind == 1) {
        p->n = 2 + wg_rng_below(&p->r, 3);
        memcpy(p->party, cores, sizeof cores);
    } else {
        p->n = 2 + wg_rng_below(&p->r, cores[0].index == WG_CORE_B ? 2 : 3); /* B posts through another thread */
        p->party[0] = cores[0];
        memcpy(p->party + 1, threads, sizeof threads);
        for (unsigned i = 1; cores[0].index != WG_CORE_B && i < 4; i++) /* a T core waits for its own thread */
            if (p->party[i].index == cores[0].index - WG_CORE_T0) {
                wg_node own = p->party[i];
                p->party[i] = p->party[1];
                p->party[1] = own;
            }
    }
}

static void make(plan *p, wg_arch_id arch, uint64_t seed, bool slow)
{
    memset(p, 0, sizeof *p);
    p->r.s = seed;
    p->arch = arch;
    p->slow = slow;
    draw_parties(p);
    p->pair_full = wg_rng_below(&p->r, 2);
    for (unsigned i = 0; i < p->n; i++)
        if (p->party[i].kind == WG_NODE_CORE)
            p->has_core[p->party[i].index] = true;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        bool inside = false;
        for (unsigned k = 0; k < p->n; k++)
            inside |= same(p->party[k], node(WG_NODE_THREAD, i));
        if (!inside)
            p->outside = i;
    }
    for (unsigned i = slow; i < p->n; i++)
        link(p, p->party[i], p->party[(i + 1) % p->n]);
}

static void append(rv *to, const rv *from)
{
    for (unsigned i = 0; i < from->n; i++)
        rv_word(to, from->word[i]);
}

static void push_all(wg_device *dev, unsigned thread, const words *w)
{
    for (unsigned i = 0; i < w->n; i++)
        assert_int_equal(wg_push(dev, thread, w->word[i]), WG_OK);
}

/* Sets everything up, lets it settle, then starts the waits and the gifts. */
static wg_device *start(plan *p, uint64_t seed, wg_history *history)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = p->arch, .seed = seed};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_int_equal(wg_observe(dev, WG_HISTORY_EVENTS, wg_history_event, history, NULL), WG_OK);
    for (unsigned i = 0; i < WG_THREADS; i++)
        push_all(dev, i, &p->setup[i]);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    const wg_node *first = p->slow ? &p->party[0] : NULL;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if (first && same(*first, node(WG_NODE_THREAD, i))) {
            uint32_t outer = 1 + wg_rng_below(&p->r, 100), inner = 1 + wg_rng_below(&p->r, 100);
            const uint32_t cfg[9] = {outer, inner, NOP, NOP, NOP, NOP, NOP, NOP, NOP};
            for (unsigned k = 0; k < 9; k++)
                assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, 9 * i + k, cfg[k]), WG_OK);
            assert_int_equal(wg_push(dev, i, MOP_DOUBLE_LOOP), WG_OK);
        } else {
            push_all(dev, i, &p->wait[i]);
        }
        push_all(dev, i, &p->give[i]);
    }
    assert_int_equal(wg_advance(dev, 100), WG_OK);
    for (unsigned i = 0; i < WG_CORES; i++) {
        rv code = rv_at(CORE_BASE + CORE_STEP * i);
        if (p->has_core[i]) {
            if (first && same(*first, node(WG_NODE_CORE, i))) {
                rv_li(&code, T2, 1 + wg_rng_below(&p->r, 3000));
                unsigned loop = code.n;
                rv_addi(&code, T2, T2, -1);
                rv_bne(&code, T2, ZERO, loop);
            } else {
                append(&code, &p->core_wait[i]);
            }
            append(&code, &p->core_give[i]);
        } else if (wg_rng_below(&p->r, 2)) {
            continue; /* it stays in reset */
        }
        rv_done(&code);
        assert_true(rv_load(dev, &code));
        assert_int_equal(wg_core_release(dev, (wg_core_id)i, code.base), WG_OK);
    }
    return dev;
}

static void describe(const plan *p, const wg_hang *hang, uint64_t seed)
{
    char a[80], b[80];
    print_message("program %llu wants:", (unsigned long long)seed);
    for (unsigned i = 0; i < p->circle_length; i++)
        print_message(" %s;", wg_node_name(hang, p->circle[i], a, sizeof a));
    print_message("\n");
    for (unsigned i = 0; hang && i < hang->edges; i++)
        print_message("    %s -> %s: %s\n", wg_node_name(hang, hang->edge[i].from, a, sizeof a),
                      wg_node_name(hang, hang->edge[i].to, b, sizeof b), hang->edge[i].reason);
}

/* Is it the same circle, whatever its starting point? */
static bool is_circle(const plan *p, const wg_hang *hang)
{
    unsigned n = p->circle_length;
    if (!hang->circular || hang->path_length != n)
        return false;
    for (unsigned shift = 0; shift < n; shift++) {
        unsigned i = 0;
        while (i < n && same(hang->edge[hang->path[i]].from, p->circle[(i + shift) % n]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static void test_deadlocks(void **state)
{
    static plan p;
    static wg_hang hang;
    unsigned used[WG_NODE_NOBODY + 1] = {0}, mailboxes = 0;
    WG_TEST_SEEDS(seed, PROGRAMS)
    {
        wg_history history = {0};
        make(&p, wg_test_arch(state), seed, false);
        wg_device *dev = start(&p, seed % 4 ? 0 : seed, &history);
        wg_stop stop;
        assert_int_equal(wg_run(dev, 200000, &stop), WG_OK);
        wg_hang_inspect(dev, &history, true, &hang);
        if (stop != WG_STOP_HUNG || !is_circle(&p, &hang)) {
            describe(&p, &hang, seed);
            fail_msg("stop %d, circular %d, length %u: %s", stop, hang.circular, hang.path_length, hang.story);
        }
        for (unsigned i = 0; i < p.circle_length; i++)
            used[p.circle[i].kind]++;
        mailboxes += p.mailboxes != 0;
        wg_destroy(dev);
    }
    enum { SOME = 10 };
    assert_true(wg_test_first() || (used[WG_NODE_CORE] >= SOME && used[WG_NODE_THREAD] >= SOME &&
                                    used[WG_NODE_SEMAPHORE] >= SOME && used[WG_NODE_MUTEX] >= SOME &&
                                    used[WG_NODE_FIFO] >= SOME && used[WG_NODE_BANK] >= SOME && mailboxes >= SOME));
}

static void test_slow_programs_are_no_deadlocks(void **state)
{
    static plan p;
    static wg_hang hang;
    WG_TEST_SEEDS(seed, PROGRAMS)
    {
        wg_history history = {0};
        make(&p, wg_test_arch(state), seed + 1000, true);
        wg_device *dev = start(&p, seed % 4 ? 0 : seed, &history);
        wg_stop stop = WG_STOP_CYCLES;
        /* In slices: it must not look like a hang in between. */
        for (unsigned i = 0; stop == WG_STOP_CYCLES && i < 100000; i++)
            assert_int_equal(wg_run(dev, 1 + seed % 97, &stop), WG_OK);
        if (stop != WG_STOP_DONE) {
            wg_hang_inspect(dev, &history, true, &hang);
            describe(&p, &hang, seed + 1000);
            fail_msg("stop %d at cycle %llu: %s", stop, (unsigned long long)wg_cycle(dev), hang.story);
        }
        wg_destroy(dev);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_deadlocks, WG_BH | WG_WH, ""),
    WG_TEST(test_slow_programs_are_no_deadlocks, WG_BH | WG_WH, ""),
};
WG_MAIN("deadlocks", tests)
