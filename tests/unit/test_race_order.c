/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector against brute force: random small programs of writes in several units, waits, semaphores and
 * mutexes; all interleavings of a tiny model of the architecture determine which pairs of writes can overlap.
 *
 *     model   a thread issues in order; a unit finishes a thread's work in order, at any time after its issue; a wait
 *             holds the thread until the unit has nothing of it; a post, get, lock or unlock happens at issue
 *     race    some reachable state has both pending: in flight, or about to be issued. In one unit: both about to be
 *             issued. Not if a third is always between them, in the same place and in the first one's unit
 *
 * Whatever the detector reports must be a race of the model, in every run; over runs with different timing it must have
 * reported them all. (One run cannot show what the order of taking a mutex hid.)
 */
#include "wgtest.h"

#include <stdio.h>

#include "explain/race.h"
#include "isa/asm.h"

enum { PROGRAMS = 120, SOAK_PROGRAMS = 5000, MOST = 8, RUNS = 120, SEMAPHORES = 2, STATES = 1 << 20 };

typedef enum kind { WORK, WAIT, POST, TAKE, GET, LOCK, UNLOCK } kind;
typedef enum unit { VECTOR, MATRIX, MEMORY, CONFIG, UNITS } unit;
typedef struct op {
    uint8_t kind, unit, where; /* where: location, semaphore */
} op;
typedef struct program {
    op op[WG_THREADS][MOST];
    unsigned n[WG_THREADS];
} program;

/* ---- The model ---- */

/* Vector and Matrix Unit write Dst, the Scalar Unit's memory requests L1, the Configuration Unit a word. */
static bool same_place(const op *a, const op *b)
{
    static const uint8_t space[UNITS] = {0, 0, 1, 2};
    return a->kind == WORK && b->kind == WORK && space[a->unit] == space[b->unit] && a->where == b->where;
}

typedef struct state {
    uint8_t pc[WG_THREADS];
    uint32_t flying; /* bit thread * MOST + index */
} state;

static unsigned bit_of(unsigned thread, unsigned i) { return thread * MOST + i; }

static bool enabled(const program *p, const state *s, unsigned thread)
{
    unsigned at = s->pc[thread];
    if (at == p->n[thread])
        return false;
    /* A wait holds the instructions after it, so only the waits just before matter. */
    for (unsigned i = at;
         i-- > 0 && p->op[thread][i].kind >= WAIT && p->op[thread][i].kind <= TAKE && p->op[thread][i].kind != POST;) {
        if (p->op[thread][i].kind == WAIT) {
            for (unsigned k = 0; k < i; k++)
                if (p->op[thread][k].kind == WORK && p->op[thread][k].unit == p->op[thread][i].unit &&
                    s->flying >> bit_of(thread, k) & 1)
                    return false;
        } else {
            int value = 0;
            for (unsigned t = 0; t < WG_THREADS; t++)
                for (unsigned k = 0; k < s->pc[t]; k++)
                    if (p->op[t][k].where == p->op[thread][i].where)
                        value += (p->op[t][k].kind == POST) - (p->op[t][k].kind == GET);
            if (value <= 0)
                return false;
        }
    }
    if (p->op[thread][at].kind == LOCK)
        for (unsigned t = 0; t < WG_THREADS; t++) {
            int held = 0;
            for (unsigned k = 0; k < s->pc[t]; k++)
                held += (p->op[t][k].kind == LOCK) - (p->op[t][k].kind == UNLOCK);
            if (held && t != thread)
                return false;
        }
    return true;
}

typedef struct search {
    const program *p;
    uint64_t *seen; /* hash of states */
    bool race[WG_THREADS * MOST][WG_THREADS * MOST];
    bool late[WG_THREADS * MOST][WG_THREADS * MOST]; /* [a][b]: somewhere b has been issued, and a has not */
    unsigned states;
} search;

static uint64_t code(const state *s)
{
    return (uint64_t)s->flying << 16 | (uint64_t)s->pc[0] << 8 | (uint64_t)s->pc[1] << 4 | s->pc[2] | UINT64_C(1) << 63;
}

static bool visit(search *f, const state *s)
{
    uint64_t c = code(s);
    for (uint64_t h = c * UINT64_C(0x9E3779B97F4A7C15) >> 44;; h++) {
        uint64_t *slot = &f->seen[h % STATES];
        if (*slot == c)
            return false;
        if (!*slot) {
            *slot = c;
            return ++f->states < STATES / 2;
        }
    }
}

/* The Matrix Unit's work on Dst is complete for the Vector Unit when its thread has issued three more instructions. */
static bool settled(const program *p, const state *s, unsigned a, bool own)
{
    unsigned thread = a / MOST, index = a % MOST;
    return p->op[thread][index].unit == MATRIX && s->pc[thread] >= index + (own ? 4u : 5u);
}

static void look(search *f, const state *s)
{
    const program *p = f->p;
    uint32_t about = 0;
    for (unsigned t = 0; t < WG_THREADS; t++)
        if (enabled(p, s, t) && p->op[t][s->pc[t]].kind == WORK)
            about |= 1u << bit_of(t, s->pc[t]);
    for (unsigned a = 0; a < WG_THREADS * MOST; a++)
        for (unsigned b = 0; b < WG_THREADS * MOST; b++)
            f->late[a][b] |= a % MOST >= s->pc[a / MOST] && b % MOST < s->pc[b / MOST];
    for (unsigned a = 0; a < WG_THREADS * MOST; a++)
        for (unsigned b = 0; b < WG_THREADS * MOST; b++) {
            const op *x = &p->op[a / MOST][a % MOST], *y = &p->op[b / MOST][b % MOST];
            if (a == b || a % MOST >= p->n[a / MOST] || b % MOST >= p->n[b / MOST] || !same_place(x, y))
                continue;
            uint32_t open = about;
            if (x->unit != y->unit) {
                open |= s->flying;
                if (settled(p, s, a, a / MOST == b / MOST))
                    open &= ~(1u << a);
                if (settled(p, s, b, a / MOST == b / MOST))
                    open &= ~(1u << b);
            }
            if (open >> a & 1 && open >> b & 1 && (about >> a & 1 || about >> b & 1))
                f->race[a][b] = f->race[b][a] = true;
        }
}

static void explore(search *f, const state *s)
{
    if (!visit(f, s))
        return;
    look(f, s);
    for (unsigned t = 0; t < WG_THREADS; t++) {
        if (!enabled(f->p, s, t))
            continue;
        state next = *s;
        const op *o = &f->p->op[t][next.pc[t]++];
        if (o->kind == WORK && o->unit != CONFIG)
            next.flying |= 1u << bit_of(t, next.pc[t] - 1u);
        explore(f, &next);
    }
    for (unsigned t = 0; t < WG_THREADS; t++)
        for (unsigned i = 0; i < f->p->n[t]; i++) {
            bool first = s->flying >> bit_of(t, i) & 1;
            for (unsigned k = 0; k < i && first; k++)
                first = !(s->flying >> bit_of(t, k) & 1) || f->p->op[t][k].unit != f->p->op[t][i].unit;
            if (!first)
                continue;
            state next = *s;
            next.flying &= ~(1u << bit_of(t, i));
            explore(f, &next);
        }
}

/*
 * A unit accesses one location in issue order: whatever is ordered after its later access is ordered after its earlier
 * one.
 */
static void through_units(search *f)
{
    enum { ALL = WG_THREADS * MOST };
    const program *p = f->p;
    for (unsigned a = 0; a < ALL; a++)
        for (unsigned b = 0; b < ALL; b++)
            for (unsigned c = 0; c < ALL && f->race[a][b]; c++) {
                const op *x = &p->op[a / MOST][a % MOST], *z = &p->op[c / MOST][c % MOST];
                if (c == a || c == b || c % MOST >= p->n[c / MOST] || !same_place(x, z) || x->unit != z->unit)
                    continue;
                if (!f->late[a][c] && !f->late[c][b] && !f->race[a][c] && !f->race[c][b])
                    f->race[a][b] = f->race[b][a] = false;
            }
}

/* ---- Random programs ---- */

static void put(program *p, unsigned thread, kind k, unsigned u, unsigned where)
{
    if (p->n[thread] < MOST)
        p->op[thread][p->n[thread]++] = (op){(uint8_t)k, (uint8_t)u, (uint8_t)where};
}

/* Steps are drawn in one order and distributed over the threads, so that nothing can wait forever. */
static void draw(wg_rng *rng, program *p)
{
    memset(p, 0, sizeof *p);
    unsigned used = 0;
    for (unsigned step = 0; step < 7; step++) {
        unsigned a = wg_rng_below(rng, 3), b = (a + 1 + wg_rng_below(rng, 2)) % 3, u = wg_rng_below(rng, UNITS);
        switch (wg_rng_below(rng, 6)) {
        case 0:
            if (used < SEMAPHORES && p->n[a] + 3 <= MOST && p->n[b] + 3 <= MOST) {
                put(p, a, WORK, u, 0);
                if (wg_rng_below(rng, 2))
                    put(p, a, WAIT, u, 0);
                put(p, a, POST, 0, used);
                put(p, b, TAKE, 0, used);
                put(p, b, GET, 0, used);
                put(p, b, WORK, wg_rng_below(rng, 2) ? u : MEMORY, 0);
                used++;
            }
            break;
        case 1:
            if (p->n[a] + 4 <= MOST) {
                put(p, a, LOCK, 0, 9);
                put(p, a, WORK, u, 1);
                if (wg_rng_below(rng, 2))
                    put(p, a, WAIT, u, 0);
                put(p, a, UNLOCK, 0, 9);
            }
            break;
        case 2:
            if (p->n[a] + 3 <= MOST) {
                put(p, a, WORK, u, wg_rng_below(rng, 2));
                put(p, a, WAIT, u, 0);
                put(p, a, WORK, wg_rng_below(rng, 2) ? VECTOR : CONFIG, wg_rng_below(rng, 2));
            }
            break;
        default: put(p, a, WORK, u, wg_rng_below(rng, 3)); break;
        }
    }
}

/* ---- The device ---- */

static uint32_t word_of(wg_arch_id arch, const char *text)
{
    uint32_t word = 0;
    wg_asm_error error;
    if (wg_assemble_line(arch, text, strlen(text), &word, &error) != WG_ASM_OK)
        fail_msg("%s: %s", text, error.message);
    return word;
}

/* Each operation has its own word, which identifies it in a report. */
static uint32_t encode(wg_arch_id arch, const op *o, unsigned thread, unsigned index)
{
    static const char *const conditions[UNITS] = {"WAIT_SFPU", "MATH", "THCON", "TRISC_CFG"};
    char text[96];
    unsigned tag = thread * MOST + index;
    switch (o->kind) {
    case WORK:
        switch (o->unit) {
        case VECTOR: snprintf(text, sizeof text, "sfpstore %u, 2, 0, %u", index, o->where * 16); break;
        case MATRIX: snprintf(text, sizeof text, "movdbga2d 0, %u, 0, 2, %u", tag, o->where * 16); break;
        case MEMORY: snprintf(text, sizeof text, "storeind 1, 1, 0, 2, 0, %u, %u", 8 + tag, 4 + o->where); break;
        default:
            snprintf(text, sizeof text, "rmwcib%u 255, %u, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", o->where, tag + 1);
            break;
        }
        break;
    case WAIT: snprintf(text, sizeof text, "stallwait STALL_THREAD, %s", conditions[o->unit]); break;
    case POST: snprintf(text, sizeof text, "sempost %u", 1u << o->where); break;
    case TAKE: snprintf(text, sizeof text, "semwait STALL_THREAD, %u, STALL_ON_ZERO", 1u << o->where); break;
    case GET: snprintf(text, sizeof text, "semget %u", 1u << o->where); break;
    case LOCK: return word_of(arch, "atgetm 2");
    default: return word_of(arch, "atrelm 2");
    }
    return word_of(arch, text);
}

static const char *shown(const program *p)
{
    static const char *const kinds[] = {"work", "wait", "post", "take", "get", "lock", "unlock"};
    static const char *const units[] = {"V", "M", "S", "C"};
    static char room[2048];
    size_t used = 0;
    for (unsigned t = 0; t < WG_THREADS; t++) {
        used += (size_t)snprintf(room + used, sizeof room - used, "\n  T%u:", t);
        for (unsigned i = 0; i < p->n[t]; i++)
            used += (size_t)snprintf(room + used, sizeof room - used, " %s%s%u", kinds[p->op[t][i].kind],
                                     p->op[t][i].kind <= WAIT ? units[p->op[t][i].unit] : "", p->op[t][i].where);
    }
    return room;
}

typedef struct verdicts {
    bool race[WG_THREADS * MOST][WG_THREADS * MOST];
} verdicts;

/* A touch represents those at the same location with which it is ordered: their races are reported with it. */
static bool covered(const search *f, const verdicts *v, unsigned a, unsigned b)
{
    enum { ALL = WG_THREADS * MOST };
    for (unsigned x = 0; x < ALL; x++)
        for (unsigned y = 0; y < ALL; y++)
            if (v->race[x][y] && (x == a || !f->race[x][a]) && (y == b || !f->race[y][b]) &&
                same_place(&f->p->op[x / MOST][x % MOST], &f->p->op[a / MOST][a % MOST]))
                return true;
    return false;
}

static void run(const program *p, wg_arch_id arch, wg_rng *rng, uint64_t seed, verdicts *v)
{
    wg_device *dev;
    assert_int_equal(
        wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = arch, .seed = seed}, &dev), WG_OK);
    /* GPRs: 1 offset 0; 4, 5, 6 the addresses, in units of 16 bytes. */
    for (unsigned t = 0; t < WG_THREADS; t++)
        for (unsigned i = 0; i < 3; i++)
            wg_poke(dev, WG_SPACE_GPR, t * 64 + 4 + i, 0x300 + i);
    wg_races *r = wg_races_new(arch, NULL, NULL);
    assert_non_null(r);
    assert_int_equal(wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r, NULL), WG_OK);
    unsigned next[WG_THREADS] = {0}, delay[WG_THREADS];
    uint32_t word[WG_THREADS][MOST];
    for (unsigned t = 0; t < WG_THREADS; t++) {
        delay[t] = wg_rng_below(rng, 60);
        for (unsigned i = 0; i < p->n[t]; i++) {
            word[t][i] = encode(arch, &p->op[t][i], t, i);
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (unsigned t = 0; t < WG_THREADS; t++) {
            if (next[t] < p->n[t] && !delay[t]-- &&
                wg_push_from(dev, t, word[t][next[t]], WG_HOST_PC + next[t]) == WG_OK) {
                next[t]++;
                delay[t] = wg_rng_below(rng, 4) ? 0 : wg_rng_below(rng, 30);
            }
            more |= next[t] < p->n[t];
        }
        wg_advance(dev, 1);
    }
    wg_advance(dev, 2000);
    for (size_t i = 0; i < wg_races_count(r); i++) {
        const wg_race *race = wg_races_at(r, i);
        if (!race->has_a ||
            (race->space != WG_TOUCH_DST && race->space != WG_TOUCH_L1 && race->space != WG_TOUCH_CONFIG))
            continue;
        uint32_t first = race->a.pc - WG_HOST_PC, second = race->b.pc - WG_HOST_PC;
        assert_true(first < MOST && second < MOST);
        unsigned a = race->a.thread * MOST + first, b = race->b.thread * MOST + second;
        v->race[a][b] = v->race[b][a] = true;
    }
    wg_races_free(r);
    wg_destroy(dev);
}

static void test_agrees(void **state_)
{
    wg_arch_id arch = wg_test_arch(state_);
    wg_rng rng = {arch == WG_ARCH_BH ? 11 : 12};
    search *f = calloc(1, sizeof *f);
    f->seen = calloc(STATES, sizeof *f->seen);
    unsigned races = 0, ordered = 0;
    const uint64_t count = wg_test_count(wg_test_rounds(PROGRAMS, SOAK_PROGRAMS));
    if (wg_test_first())
        rng.s = wg_test_first();
    for (unsigned n = 0; n < count; n++) {
        program p;
        wg_test_seed(rng.s);
        draw(&rng, &p);
        memset(f->race, 0, sizeof f->race);
        memset(f->late, 0, sizeof f->late);
        memset(f->seen, 0, STATES * sizeof *f->seen);
        f->states = 0;
        f->p = &p;
        explore(f, &(state){.flying = 0});
        through_units(f);
        assert_true(f->states < STATES / 2);
        verdicts v = {0};
        bool all = false;
        for (unsigned k = 0; k < RUNS && !all; k++) {
            run(&p, arch, &rng, k % 3 ? k : 0, &v);
            all = true;
            for (unsigned a = 0; a < WG_THREADS * MOST; a++)
                for (unsigned b = 0; b < a; b++) {
                    if (v.race[a][b] && !f->race[a][b])
                        fail_msg("program %u: T%u[%u] and T%u[%u] reported, but always in order%s", n, a / MOST,
                                 a % MOST, b / MOST, b % MOST, shown(&p));
                    all &= !f->race[a][b] || covered(f, &v, a, b);
                }
        }
        for (unsigned a = 0; a < WG_THREADS * MOST; a++)
            for (unsigned b = 0; b < a; b++) {
                if (f->race[a][b] && !covered(f, &v, a, b))
                    fail_msg("program %u: T%u[%u] and T%u[%u] can overlap, never reported%s", n, a / MOST, a % MOST,
                             b / MOST, b % MOST, shown(&p));
                races += f->race[a][b];
                ordered += !f->race[a][b] && same_place(&p.op[a / MOST][a % MOST], &p.op[b / MOST][b % MOST]) &&
                           a % MOST < p.n[a / MOST] && b % MOST < p.n[b / MOST];
            }
    }
    assert_true(wg_test_first() || (races > 50 && ordered > 50));
    free(f->seen);
    free(f);
}

static const wg_test tests[] = {
    WG_TEST(test_agrees, WG_BH | WG_WH, ""),
};
WG_MAIN("race_order", tests)
