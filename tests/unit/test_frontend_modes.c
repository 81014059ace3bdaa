/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skipping is exact: random programs on three threads, with B, with T cores' stores to semaphores and with
 * accesses that Auto TTSync orders, run once skipping and once ticking every agent in every cycle. The event
 * streams must be identical. WG_RANDOM_INSTRUCTIONS: the number of instructions that must pass the gates.
 */
#include "frontend_rig.h"

#include "machine/frontend.h"

enum { ACCESSES = 60, STORES = 40 };

typedef struct access {
    uint64_t emit, from;
    wg_path path;
    uint32_t address;
    uint8_t core;
    bool is_write, emitted, processed;
} access;

typedef struct store {
    uint64_t at;
    uint8_t core, semaphore, value;
    bool done;
} store;

typedef struct world {
    access a[ACCESSES];
    store s[STORES];
} world;

static uint32_t random_word(wg_rng *g)
{
    static const uint32_t units[] = {I_MISC,     I_CONFIG,           I_SCALAR,   I_VECTOR,  I_MATRIX,
                                     I_UNPACK,   I_UNPACK | 1 << 23, I_PACK,     I_MOVER,   0x58000000,
                                     0x67000000, 0x68000000,         0xB0000000, 0xB1000000};
    uint32_t block = wg_rng_below(g, 3) ? 1u << wg_rng_below(g, 9) : wg_rng_below(g, 0x200);
    switch (wg_rng_below(g, 24)) {
    case 0: return I_STALLWAIT(block, 1u << wg_rng_below(g, 13));
    case 1: return I_STALLWAIT(block, wg_rng_below(g, 0x2000) & ~0x1E0u);
    case 2: return I_SEMWAIT(block, 1u << wg_rng_below(g, 4), wg_rng_below(g, 4));
    case 3:
    case 4: return I_SEMPOST(1u << wg_rng_below(g, 8));
    case 5: return I_SEMGET(1u << wg_rng_below(g, 8));
    case 6: return I_SEMINIT(wg_rng_below(g, 16), wg_rng_below(g, 16), wg_rng_below(g, 256));
    case 7: return I_ATGETM(wg_rng_below(g, 40) ? 2 : 1);
    case 8: return I_ATRELM(2);
    case 9: return I_REPLAY(wg_rng_below(g, 32), 1 + wg_rng_below(g, 6), wg_rng_below(g, 2), wg_rng_below(g, 3) == 0);
    case 10: return I_MOP(wg_rng_below(g, 2), wg_rng_below(g, 6), wg_rng_below(g, 0x10000));
    case 11: return wg_rng_below(g, 4) ? I_SETC16(0, wg_rng_below(g, 2)) : I_SETC16(56, wg_rng_below(g, 32));
    case 12:
        return wg_rng_below(g, 4) ? I_NOP
                                  : I_RESOURCEDECL(wg_rng_below(g, 16), wg_rng_below(g, 512), wg_rng_below(g, 16));
    case 13: return wg_rng_below(g, 20) ? I_NOP : (uint32_t)wg_rng_next(g);
    case 14: return I_NOP;
    default: return units[wg_rng_below(g, sizeof units / sizeof *units)];
    }
}

/* Mostly NOPs; nothing that waits forever. */
static uint32_t dense_word(wg_rng *g)
{
    static const uint32_t some[] = {I_MISC, I_VECTOR, I_MATRIX, I_SEMPOST(3), I_SEMGET(1)};
    switch (wg_rng_below(g, 32)) {
    case 0: return I_MOP(wg_rng_below(g, 2), wg_rng_below(g, 3), wg_rng_below(g, 16));
    case 1: return I_REPLAY(wg_rng_below(g, 32), 1 + wg_rng_below(g, 6), wg_rng_below(g, 2), wg_rng_below(g, 3) == 0);
    case 2: return I_STALLWAIT(wg_rng_below(g, 2) ? 0x1FF : 1u << wg_rng_below(g, 9), 0x810);
    case 3: return some[wg_rng_below(g, 5)];
    default: return I_NOP;
    }
}

static void cores(fr *r)
{
    world *w = r->user;
    uint64_t now = r->t->sched.now, next = WG_NEVER;
    for (unsigned i = 0; i < ACCESSES; i++) {
        access *a = &w->a[i];
        if (!a->emitted && a->emit <= now) {
            a->emitted = true;
            wg_ttsync_note_emitted(r->t, a->core, a->path, a->address, a->is_write);
            wg_wake_at(&r->t->sched, WG_AGENT_REGIONS, a->from);
        } else if (!a->emitted && a->emit < next) {
            next = a->emit;
        }
    }
    wg_wake_at(&r->t->sched, WG_AGENT_CORE_T0, next);
}

static void regions(fr *r)
{
    world *w = r->user;
    uint64_t now = r->t->sched.now, next = WG_NEVER;
    bool stuck[WG_CORES][WG_PATH_COUNT] = {{false}};
    wg_stall why;
    for (unsigned i = 0; i < ACCESSES; i++) {
        access *a = &w->a[i];
        if (!a->emitted || a->processed || stuck[a->core][a->path])
            continue;
        if (a->from > now) {
            stuck[a->core][a->path] = true;
            next = a->from < next ? a->from : next;
        } else if (wg_ttsync_core_blocked(r->t, a->core, a->path, a->address, a->is_write, &why)) {
            stuck[a->core][a->path] = true;
        } else {
            wg_ttsync_note_processed(r->t, a->core, a->path, a->address, a->is_write);
            a->processed = true;
        }
    }
    for (unsigned i = 0; i < STORES; i++) {
        store *s = &w->s[i];
        if (s->done)
            continue;
        if (s->at > now)
            next = s->at < next ? s->at : next;
        else
            s->done = wg_sync_core_write(r->t, s->core, s->semaphore, s->value, &why) == WG_REGION_DONE;
    }
    wg_wake_at(&r->t->sched, WG_AGENT_REGIONS, next);
}

static int by_emission(const void *a, const void *b)
{
    const access *x = a, *y = b;
    return x->emit < y->emit ? -1 : x->emit > y->emit;
}

/* A random world: `dense` with mostly NOPs, pushed as fast as they go. */
static fr *make(wg_arch_id arch, uint64_t seed, bool dense)
{
    wg_rng g = {seed};
    fr *r = fr_new(arch);
    world *w = calloc(1, sizeof *w);
    r->t->seed = wg_rng_below(&g, 2) && !dense ? wg_rng_next(&g) : 0;
    r->t->perturbed = r->t->seed != 0;
    for (unsigned unit = WG_UNIT_UNPACK; unit < WG_UNIT_COUNT; unit++) {
        r->unit[unit].latency = 1 + wg_rng_below(&g, 12);
        r->unit[unit].interval = 1 + (wg_rng_below(&g, 4) ? 0 : wg_rng_below(&g, 5));
    }
    for (unsigned thread = 0; thread < 3; thread++) {
        r->t->regs.config.thread[thread][56] = wg_rng_below(&g, 3) ? 31 & ~2 : 0;
        for (unsigned i = 0; i < 9; i++)
            r->t->frontend[thread].mop_cfg[i] = i < 2 ? wg_rng_below(&g, 5) : dense ? dense_word(&g) : random_word(&g);
        uint64_t at = FR_START;
        unsigned pace = 1 + wg_rng_below(&g, dense ? 2 : 12);
        for (unsigned i = 0; i < 150; i++) {
            at += wg_rng_below(&g, pace);
            r->offer_from = at;
            uint32_t words[4];
            unsigned n = arch == WG_ARCH_BH && wg_rng_below(&g, 4) == 0 ? 1 + wg_rng_below(&g, 4) : 1;
            for (unsigned k = 0; k < n; k++)
                words[k] = dense ? dense_word(&g) : random_word(&g);
            fr_push_fused(r, thread, words, n);
            if (wg_rng_below(&g, 40) == 0)
                fr_push_b(r, thread, random_word(&g));
        }
    }
    for (unsigned i = 0; i < ACCESSES; i++) {
        static const wg_path paths[] = {WG_PATH_GPR, WG_PATH_CONFIG, WG_PATH_TDMA};
        access *a = &w->a[i];
        a->emit = FR_START + wg_rng_below(&g, 800);
        a->from = a->emit + 1 + wg_rng_below(&g, 20);
        a->path = paths[wg_rng_below(&g, 3)];
        a->address = 4 * wg_rng_below(&g, 800);
        a->core = (uint8_t)(WG_CORE_T0 + wg_rng_below(&g, 3));
        a->is_write = wg_rng_below(&g, 2);
    }
    qsort(w->a, ACCESSES, sizeof *w->a, by_emission);
    for (unsigned i = 0; i < STORES; i++)
        w->s[i] = (store){.at = FR_START + 20 * i + wg_rng_below(&g, 30),
                          .core = (uint8_t)(WG_CORE_T0 + wg_rng_below(&g, 3)),
                          .semaphore = (uint8_t)wg_rng_below(&g, 4),
                          .value = wg_rng_below(&g, 5) == 0};
    r->user = w;
    r->regions = regions;
    r->cores = cores;
    r->only_when_due = true;
    wg_wake_at(&r->t->sched, WG_AGENT_REGIONS, FR_START);
    wg_wake_at(&r->t->sched, WG_AGENT_CORE_T0, FR_START);
    return r;
}

static fr *run(wg_arch_id arch, uint64_t seed, bool lockstep, uint64_t cycles, uint64_t piece)
{
    fr *r = make(arch, seed, false);
    r->lockstep = lockstep;
    for (uint64_t done = 0; done < cycles; done += piece)
        fr_run(r, piece);
    free(r->user);
    r->user = NULL;
    return r;
}

static bool same(const wg_event *a, const wg_event *b)
{
    return a->cycle == b->cycle && a->id == b->id && a->parent == b->parent && a->a == b->a && a->b == b->b &&
           a->c == b->c && a->word == b->word && a->pc == b->pc && a->kind == b->kind && a->phase == b->phase &&
           a->agent == b->agent && a->stall.reason == b->stall.reason && a->stall.resource == b->stall.resource;
}

static void compare(const fr *skipping, const fr *lockstep, uint64_t seed)
{
    size_t n = skipping->events < lockstep->events ? skipping->events : lockstep->events;
    for (size_t i = 0; i < n; i++) {
        const wg_event *a = &skipping->event[i], *b = &lockstep->event[i];
        if (!same(a, b))
            fail_msg("seed %llu, event %zu: %s by %s at %llu (stall %s), in lockstep %s by %s at %llu (stall %s)",
                     (unsigned long long)seed, i, wg_event_name(a->kind), wg_agent_name(a->agent),
                     (unsigned long long)a->cycle, wg_stall_name(a->stall.reason), wg_event_name(b->kind),
                     wg_agent_name(b->agent), (unsigned long long)b->cycle, wg_stall_name(b->stall.reason));
    }
    assert_int_equal(skipping->events, lockstep->events);
    assert_memory_equal(skipping->t->backend.sync.value, lockstep->t->backend.sync.value, WG_SEMAPHORES);
}

static uint64_t wanted(void)
{
    const char *n = getenv("WG_RANDOM_INSTRUCTIONS");
    return n ? strtoull(n, NULL, 0) : wg_test_rounds(100000, 100000);
}

static uint64_t first_seed(void) { return wg_test_first() ? wg_test_first() : 1; }

static void test_lockstep_is_identical(void **state)
{
    uint64_t issued = 0, first = first_seed(), programs = wg_test_count(UINT64_MAX);
    for (uint64_t seed = first; issued < wanted() && seed - first < programs; seed++) {
        wg_test_seed(seed);
        fr *a = run(wg_test_arch(state), seed, false, 1500, 1500);
        fr *b = run(wg_test_arch(state), seed, true, 1500, 1500);
        compare(a, b, seed);
        issued += fr_event_count(a, WG_EV_ISSUED, -1);
        fr_free(a);
        fr_free(b);
    }
}

/* The same run in pieces: run(n) equals n times run(1). */
static void test_pieces_are_identical(void **state)
{
    const uint64_t first = first_seed(), end = first + wg_test_count(wg_test_rounds(20, 20) - 1);
    for (uint64_t seed = first; seed < end; seed++) {
        wg_test_seed(seed);
        fr *a = run(wg_test_arch(state), seed, false, 1500, 1500), *b = run(wg_test_arch(state), seed, false, 1500, 1);
        compare(a, b, seed);
        fr_free(a);
        fr_free(b);
    }
}

/* Clears padding, and fields that are meaningful only within a cycle. */
static void normalise(wg_frontend *f)
{
    wg_stall stall = f->stall;
    memset(&f->stall, 0, sizeof f->stall);
    f->stall.reason = stall.reason;
    f->stall.resource = stall.resource;
    f->stall.holder = stall.holder;
    f->stall.retry_at = stall.retry_at;
    f->moved = false;
}

/*
 * An unwatched thread sleeps through cycles in which nothing can let it act; all other wake-up times are equal. A
 * wake-up that is too late shows in the state.
 */
static bool same_wakes(const wg_schedule *watched, const wg_schedule *alone)
{
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++) {
        bool thread = i >= WG_AGENT_THREAD0 && i <= WG_AGENT_THREAD2;
        if (watched->next[i] != alone->next[i] && !(thread && watched->next[i] < alone->next[i]))
            return false;
    }
    return true;
}

/* Without an observer the stages take shortcuts: the state is the same in every cycle. */
static void test_watching_changes_nothing(void **state)
{
    const uint64_t first = first_seed(), end = first + wg_test_count(120);
    for (uint64_t seed = first; seed < end; seed++) {
        wg_test_seed(seed);
        fr *a = make(wg_test_arch(state), seed, seed % 3 != 0), *b = make(wg_test_arch(state), seed, seed % 3 != 0);
        b->t->watched = 0;
        b->dev.observer[0].kinds = 0;
        b->lockstep = a->lockstep = seed % 4 == 0;
        for (unsigned cycle = 0; cycle < 1200; cycle++) {
            fr_run(a, 1);
            fr_run(b, 1);
            for (unsigned i = 0; i < 3; i++) {
                normalise(&a->t->frontend[i]);
                normalise(&b->t->frontend[i]);
            }
            if (memcmp(a->t->frontend, b->t->frontend, sizeof a->t->frontend) ||
                memcmp(&a->t->backend.sync, &b->t->backend.sync, sizeof a->t->backend.sync) ||
                !same_wakes(&a->t->sched, &b->t->sched))
                fail_msg("seed %llu: differs after cycle %u", (unsigned long long)seed, cycle);
        }
        assert_int_equal(a->dev.findings, b->dev.findings);
        for (size_t i = 0; i < a->dev.findings; i++)
            assert_int_equal(a->dev.finding[i].code, b->dev.finding[i].code);
        free(a->user);
        free(b->user);
        fr_free(a);
        fr_free(b);
    }
}

/* Every word at any time has a defined effect: random bits, and the counts balance at the end. */
static void test_any_word_is_defined(void **state)
{
    wg_rng g = {77};
    for (unsigned round = 0; round < wg_test_rounds(200, 200); round++) {
        fr *r = fr_new(wg_test_arch(state));
        for (unsigned thread = 0; thread < 3; thread++) {
            for (unsigned i = 0; i < 9; i++)
                r->t->frontend[thread].mop_cfg[i] = (uint32_t)wg_rng_next(&g);
            for (unsigned i = 0; i < 100; i++)
                fr_push(r, thread, wg_rng_below(&g, 4) ? (uint32_t)wg_rng_next(&g) : random_word(&g));
            for (unsigned i = 0; i < 10; i++)
                fr_push_b(r, thread, (uint32_t)wg_rng_next(&g));
        }
        fr_run(r, 5000);
        for (unsigned thread = 0; thread < 3; thread++) {
            const wg_frontend *f = &r->t->frontend[thread];
            assert_true(f->fifo_count <= WG_FIFO_RING && wg_replay_count(f) <= WG_REPLAY_FIFO);
            assert_true(wg_gate_count(f) <= WG_GATE_FIFO);
            unsigned of_cores = 0;
            for (unsigned i = 0; i < wg_replay_count(f); i++) {
                const wg_insn *insn = wg_replay_fifo_at(f, i);
                of_cores += !insn->parent && insn->source >= WG_CORE_T0;
            }
            for (unsigned i = 0; i < wg_gate_count(f); i++) {
                const wg_insn *insn = wg_gate_fifo_at(f, i);
                of_cores += !insn->parent && insn->source >= WG_CORE_T0;
            }
            assert_int_equal(f->direct_downstream, of_cores);
            if (wg_thread_idle(r->t, thread))
                assert_int_equal(f->ttsync.entries, 0);
        }
        fr_free(r);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_lockstep_is_identical, WG_BH | WG_WH, ""),
    WG_TEST(test_pieces_are_identical, WG_BH | WG_WH, ""),
    WG_TEST(test_watching_changes_nothing, WG_BH | WG_WH, ""),
    WG_TEST(test_any_word_is_defined, WG_BH | WG_WH, ""),
};
WG_MAIN("frontend_modes", tests)
