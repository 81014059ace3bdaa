/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector against happens-before, where cores take part: random small programs of stores to configuration,
 * pushed writes, waits for the core's requests, for the Mover and for the Configuration Unit, semaphores that
 * instructions or cores post and that threads wait for or cores read, drained threads, and B pushing into a thread.
 *
 *     E  emitted, in program order     I  passed the gate, in the order of one core's pushes     X  done
 *
 * The graph of the edges tells which pairs of writes are ordered. The detector reports only pairs that are not; over
 * runs of different timing it reports them all.
 */
#include "wgtest.h"

#include <stdio.h>

#include "explain/race.h"
#include "isa/asm.h"
#include "isa/config_fields.h"

enum { PROGRAMS = 150, SOAK_PROGRAMS = 5000, RUNS = 60, MOST = 10, PARTIES = 4, PLACES = 2, SEMAPHORES = 6 };
enum { SLOT = 64, CODE = 0x20000, CODE_STEP = 0x4000, NODES = PARTIES * MOST * 3 };
/* Parties: cores T0, T1, T2 and B, which pushes into thread 0. */
enum { B = 3 };

typedef enum kind {
    STORE,     /* to configuration */
    READ,      /* it back, and use the value */
    PUSH,      /* RMWCIB of the low byte */
    WAIT,      /* STALLWAIT(STALL_CFG, TRISC_CFG) */
    OTHER,     /* STALLWAIT(STALL_CFG, XMOV or CFGEXU) */
    MOVE,      /* XMOV of nothing */
    POST,      /* SEMPOST */
    STOREPOST, /* by the core */
    TAKE,      /* SEMWAIT on zero */
    SPIN,      /* the core reads the semaphore until it is at least `value` */
    DRAIN      /* the core waits for its thread */
} kind;
typedef struct op {
    uint8_t kind, place, value; /* place: configuration word, or semaphore */
} op;
typedef struct program {
    op op[PARTIES][MOST];
    unsigned n[PARTIES];
} program;

static bool pushes(const op *o) { return o->kind == PUSH || (o->kind >= WAIT && o->kind <= POST) || o->kind == TAKE; }
static bool writes(const op *o) { return o->kind == STORE || o->kind == PUSH; }

/* ---- The graph ---- */

typedef struct graph {
    bool before[NODES][NODES];
} graph;

static unsigned e_of(unsigned party, unsigned i) { return (party * MOST + i) * 3; }
static unsigned i_of(unsigned party, unsigned i) { return e_of(party, i) + 1; }
static unsigned x_of(unsigned party, unsigned i) { return e_of(party, i) + 2; }

/* Who posts the semaphore: the n-th post, or false. */
static bool post_of(const program *p, unsigned semaphore, unsigned n, unsigned *node)
{
    for (unsigned c = 0; c < PARTIES; c++)
        for (unsigned i = 0; i < p->n[c]; i++)
            if ((p->op[c][i].kind == POST || p->op[c][i].kind == STOREPOST) && p->op[c][i].place == semaphore && !n--) {
                *node = p->op[c][i].kind == POST ? i_of(c, i) : e_of(c, i);
                return true;
            }
    return false;
}

static void edges_of(graph *g, const program *p, unsigned c, unsigned i)
{
    const op *o = &p->op[c][i];
    unsigned node;
    if (i + 1 < p->n[c])
        g->before[e_of(c, i)][e_of(c, i + 1)] = true;
    g->before[e_of(c, i)][i_of(c, i)] = g->before[i_of(c, i)][x_of(c, i)] = true;
    for (unsigned k = i + 1; k < p->n[c]; k++) {
        const op *later = &p->op[c][k];
        if (pushes(o) && pushes(later)) /* RMWCIB completes before its thread issues anything else */
            g->before[o->kind == PUSH ? x_of(c, i) : i_of(c, i)][i_of(c, k)] = true;
        if (o->kind == STORE && later->kind == STORE)
            g->before[x_of(c, i)][x_of(c, k)] = true;
        if (o->kind == STORE && later->kind == READ && k + 1 < p->n[c])
            g->before[x_of(c, i)][e_of(c, k + 1)] = true;
        if (pushes(o) && later->kind == DRAIN && k + 1 < p->n[c])
            g->before[x_of(c, i)][e_of(c, k + 1)] = true;
        if (o->kind == TAKE && pushes(later) && post_of(p, o->place, 0, &node))
            g->before[node][i_of(c, k)] = true;
        for (unsigned s = 0; o->kind == WAIT && c != B && later->kind == PUSH && s < i; s++)
            if (p->op[c][s].kind == STORE)
                g->before[x_of(c, s)][i_of(c, k)] = true;
    }
    if (o->kind == SPIN && i + 1 < p->n[c] && post_of(p, o->place, o->value - 1u, &node))
        g->before[node][e_of(c, i + 1)] = true;
}

static void make_graph(graph *g, const program *p)
{
    memset(g, 0, sizeof *g);
    for (unsigned c = 0; c < PARTIES; c++)
        for (unsigned i = 0; i < p->n[c]; i++)
            edges_of(g, p, c, i);
    for (unsigned k = 0; k < NODES; k++)
        for (unsigned a = 0; a < NODES; a++)
            for (unsigned b = 0; g->before[a][k] && b < NODES; b++)
                g->before[a][b] |= g->before[k][b];
}

/* A store begins when its region processes it, an instruction when it passes the gate. */
static bool ordered(const graph *g, const program *p, unsigned c, unsigned i, unsigned d, unsigned k)
{
    return g->before[x_of(c, i)][p->op[d][k].kind == STORE ? x_of(d, k) : i_of(d, k)];
}

typedef enum verdict { APART, IN_ORDER, RACE, EITHER } verdict;

/* One thread's parties, including B's pushes into it, may write one value twice. */
static verdict judge(const graph *g, const program *p, unsigned c, unsigned i, unsigned d, unsigned k)
{
    const op *a = &p->op[c][i], *b = &p->op[d][k];
    if ((c == d && i == k) || !writes(a) || !writes(b) || a->place != b->place)
        return APART;
    if (ordered(g, p, c, i, d, k) || ordered(g, p, d, k, c, i))
        return IN_ORDER;
    unsigned own_a = c == B && a->kind == PUSH ? 0 : c, own_b = d == B && b->kind == PUSH ? 0 : d;
    return own_a == own_b ? EITHER : RACE;
}

/* ---- Random programs ---- */

static void put(program *p, unsigned party, kind k, unsigned place, unsigned value)
{
    if (p->n[party] < MOST)
        p->op[party][p->n[party]++] = (op){(uint8_t)k, (uint8_t)place, (uint8_t)value};
}

static void put_write(wg_rng *rng, program *p, unsigned c)
{
    put(p, c, wg_rng_below(rng, 2) ? STORE : PUSH, wg_rng_below(rng, PLACES), wg_rng_below(rng, 2));
}

/* Drawn in one order and distributed over the parties, so that nothing can wait forever. */
static void draw(wg_rng *rng, program *p)
{
    memset(p, 0, sizeof *p);
    unsigned used = 0;
    for (unsigned step = 0; step < 7; step++) {
        unsigned a = wg_rng_below(rng, PARTIES), b = (a + 1 + wg_rng_below(rng, PARTIES - 1)) % PARTIES, n;
        switch (wg_rng_below(rng, 7)) {
        case 0: /* hand over */
            if (used == SEMAPHORES || p->n[a] + 4 > MOST || p->n[b] + 2 > MOST)
                break;
            n = a == B ? 1 : 1 + wg_rng_below(rng, 2);
            kind how = a == B || wg_rng_below(rng, 2) ? POST : STOREPOST;
            for (unsigned i = 0; i < n; i++) {
                put_write(rng, p, a);
                put(p, a, how, used, 0);
            }
            if (b != B && wg_rng_below(rng, 2))
                put(p, b, SPIN, used, 1 + wg_rng_below(rng, n));
            else if (n == 1 && b != B && b != 0) /* in thread 0, B's posts might come after it */
                put(p, b, TAKE, used, 0);
            put_write(rng, p, b);
            used++;
            break;
        case 1: /* a store, and a wait before or after it */
            if (a == B || p->n[a] + 3 > MOST)
                break;
            if (wg_rng_below(rng, 2))
                put(p, a, WAIT, 0, 0);
            put(p, a, STORE, wg_rng_below(rng, PLACES), wg_rng_below(rng, 2));
            if (wg_rng_below(rng, 2))
                put(p, a, WAIT, 0, 0);
            put(p, a, PUSH, wg_rng_below(rng, PLACES), wg_rng_below(rng, 2));
            break;
        case 2: put(p, a, wg_rng_below(rng, 2) ? MOVE : OTHER, 0, 0); break;
        case 3:
            if (a != B)
                put(p, a, wg_rng_below(rng, 2) ? DRAIN : READ, wg_rng_below(rng, PLACES), 0);
            break;
        default: put_write(rng, p, a); break;
        }
    }
}

/* ---- Code ---- */

typedef struct code {
    uint32_t word[SLOT / 4];
    unsigned n;
} code;

static void put_word(code *c, uint32_t w)
{
    assert_true(c->n < SLOT / 4);
    c->word[c->n++] = w;
}
static void put_li(code *c, unsigned rd, uint32_t value)
{
    put_word(c, ((value + 0x800) & 0xFFFFF000u) | rd << 7 | 0x37);
    put_word(c, (value & 0xFFF) << 20 | rd << 15 | rd << 7 | 0x13);
}
enum { T0 = 5, T1 = 6, T2 = 7 };
static void put_sw(code *c, unsigned rs2, unsigned base) { put_word(c, rs2 << 20 | base << 15 | 2 << 12 | 0x23); }
static void put_lw(code *c, unsigned rd, unsigned base) { put_word(c, base << 15 | 2 << 12 | rd << 7 | 0x03); }
static void put_use(code *c, unsigned r) { put_word(c, r << 15 | 7 << 12 | r << 7 | 0x13); }

static uint32_t tensix(wg_arch_id arch, const op *o)
{
    char text[96];
    uint32_t word = 0;
    wg_asm_error error;
    switch (o->kind) {
    case PUSH:
        snprintf(text, sizeof text, "rmwcib0 255, %u, PCK_EDGE_OFFSET_SEC0_mask_ADDR32 + %u", o->value, o->place);
        break;
    case WAIT: snprintf(text, sizeof text, "stallwait STALL_CFG, TRISC_CFG"); break;
    case OTHER:
        snprintf(text, sizeof text, "stallwait STALL_CFG, %s", arch == WG_ARCH_BH ? "XMOV|CFGEXU" : "XMOV");
        break;
    case MOVE: snprintf(text, sizeof text, "xmov 0, 0"); break;
    case POST: snprintf(text, sizeof text, "sempost %u", 1u << o->place); break;
    default: snprintf(text, sizeof text, "semwait STALL_THREAD, %u, STALL_ON_ZERO", 1u << o->place); break;
    }
    if (wg_assemble_line(arch, text, strlen(text), &word, &error) != WG_ASM_OK)
        fail_msg("%s: %s", text, error.message);
    return word;
}

static void encode(wg_arch_id arch, unsigned party, const op *o, code *c)
{
    uint32_t config = 0xFFEF0000u + 4u * (wg_cfg_fields[arch][WG_CFG_PCK_EDGE_OFFSET_SEC0_mask].word + o->place);
    *c = (code){.n = 0};
    switch ((kind)o->kind) {
    case STORE:
    case READ:
        put_li(c, T0, config);
        put_li(c, T1, o->value);
        if (o->kind == STORE)
            put_sw(c, T1, T0);
        else
            put_lw(c, T2, T0), put_use(c, T2);
        break;
    case STOREPOST: put_li(c, T0, 0xFFE80020u + 4u * o->place), put_sw(c, 0, T0); break;
    case SPIN:
        put_li(c, T0, 0xFFE80020u + 4u * o->place);
        put_li(c, T1, o->value);
        put_lw(c, T2, T0);
        put_word(c, 0xFE000063u | T1 << 20 | T2 << 15 | 6 << 12 | 0xE << 8 | 1 << 7); /* bltu t2, t1, .-4 */
        break;
    case DRAIN:
        put_li(c, T0, 0xFFE80004u);
        put_sw(c, 0, T0), put_lw(c, T2, T0), put_use(c, T2);
        break;
    default:
        put_li(c, T0, 0xFFE40000u);
        put_li(c, T1, tensix(arch, o));
        put_sw(c, T1, T0);
        break;
    }
    (void)party;
    while (c->n < SLOT / 4)
        put_word(c, 0x13);
}

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_read(user, pc, word, 4) == WG_OK;
}

static unsigned core_of(unsigned party) { return party == B ? WG_CORE_B : WG_CORE_T0 + party; }

static const char *shown(const program *p)
{
    static const char *const names[] = {"store", "read",      "push", "wait", "other", "move",
                                        "post",  "storepost", "take", "spin", "drain"};
    static char room[2048];
    size_t used = 0;
    for (unsigned c = 0; c < PARTIES; c++) {
        used += (size_t)snprintf(room + used, sizeof room - used, "\n  %s:", c == B ? "B" : wg_agent_name(core_of(c)));
        for (unsigned i = 0; i < p->n[c]; i++)
            used += (size_t)snprintf(room + used, sizeof room - used, " %s(%u=%u)", names[p->op[c][i].kind],
                                     p->op[c][i].place, p->op[c][i].value);
    }
    return room;
}

static void run(const program *p, wg_arch_id arch, wg_rng *rng, uint64_t seed,
                bool reported[PARTIES * MOST][PARTIES * MOST])
{
    wg_device *dev;
    assert_int_equal(
        wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = arch, .seed = seed}, &dev), WG_OK);
    wg_races *r = wg_races_new(arch, code_at, dev);
    assert_non_null(r);
    assert_int_equal(wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r, NULL), WG_OK);
    assert_int_equal(wg_push(dev, 2, 0xA3F00000u | 0xFFu << 2), WG_OK); /* SEMINIT of all: maximum 15, value 0 */
    wg_advance(dev, 600);
    for (unsigned c = 0; c < PARTIES; c++) {
        uint32_t at = CODE + c * CODE_STEP, wait[] = {0, 0, 0xFFF30313, 0xFE031EE3};
        code lui = {.n = 0}, one;
        put_li(&lui, T1, 1 + wg_rng_below(rng, 4) * wg_rng_below(rng, 80));
        memcpy(wait, lui.word, 8);
        assert_int_equal(wg_write(dev, at - 16, wait, 16), WG_OK);
        for (unsigned i = 0; i < p->n[c]; i++) {
            encode(arch, c, &p->op[c][i], &one);
            assert_int_equal(wg_write(dev, at + i * SLOT, one.word, SLOT), WG_OK);
        }
        uint32_t stop = 0x6F;
        assert_int_equal(wg_write(dev, at + p->n[c] * SLOT, &stop, 4), WG_OK);
    }
    for (unsigned c = 0; c < PARTIES; c++)
        assert_int_equal(wg_core_release(dev, (wg_core_id)core_of(c), CODE + c * CODE_STEP - 16), WG_OK);
    wg_advance(dev, 12000);
    for (unsigned c = 0; c < PARTIES; c++) {
        uint32_t pc = 0;
        wg_peek(dev, WG_SPACE_CORE_PC, core_of(c), &pc);
        if (pc != CODE + c * CODE_STEP + p->n[c] * SLOT)
            fail_msg("party %u does not come to its end, but to 0x%x%s", c, pc, shown(p));
    }
    for (size_t i = 0; i < wg_races_count(r); i++) {
        const wg_race *race = wg_races_at(r, i);
        if (!race->has_a || race->space != WG_TOUCH_CONFIG)
            continue;
        unsigned at[2];
        const wg_race_party *side[2] = {&race->a, &race->b};
        for (unsigned k = 0; k < 2; k++) {
            uint32_t offset = side[k]->pc - CODE;
            at[k] = offset / CODE_STEP * MOST + offset % CODE_STEP / SLOT;
            assert_true(offset / CODE_STEP < PARTIES && offset % CODE_STEP / SLOT < MOST);
        }
        reported[at[0]][at[1]] = reported[at[1]][at[0]] = true;
    }
    wg_races_free(r);
    wg_destroy(dev);
}

/* One write represents those to the same place with which it is ordered, and so does a read for its party's. */
static bool stands_for(const graph *g, const program *p, unsigned x, unsigned a)
{
    const op *seen = &p->op[x / MOST][x % MOST], *meant = &p->op[a / MOST][a % MOST];
    if (x == a || (x / MOST == a / MOST && seen->kind == READ && seen->place == meant->place))
        return true;
    verdict v = judge(g, p, a / MOST, a % MOST, x / MOST, x % MOST);
    return v == IN_ORDER || v == EITHER;
}

static bool covered(const graph *g, const program *p, bool reported[PARTIES * MOST][PARTIES * MOST], unsigned a,
                    unsigned b)
{
    for (unsigned x = 0; x < PARTIES * MOST; x++)
        for (unsigned y = 0; y < PARTIES * MOST; y++)
            if (reported[x][y] && stands_for(g, p, x, a) && stands_for(g, p, y, b))
                return true;
    return false;
}

static void test_agrees(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {arch == WG_ARCH_BH ? 31 : 32};
    unsigned races = 0, in_order = 0;
    graph *g = calloc(1, sizeof *g);
    const uint64_t count = wg_test_count(wg_test_rounds(PROGRAMS, SOAK_PROGRAMS));
    if (wg_test_first())
        rng.s = wg_test_first();
    for (unsigned n = 0; n < count; n++) {
        program p;
        wg_test_seed(rng.s);
        draw(&rng, &p);
        make_graph(g, &p);
        static bool reported[PARTIES * MOST][PARTIES * MOST];
        memset(reported, 0, sizeof reported);
        bool all = false;
        for (unsigned k = 0; k < RUNS && !all; k++) {
            run(&p, arch, &rng, k % 4 ? k : 0, reported);
            all = true;
            for (unsigned a = 0; a < PARTIES * MOST; a++)
                for (unsigned b = 0; b < a; b++) {
                    if (a % MOST >= p.n[a / MOST] || b % MOST >= p.n[b / MOST])
                        continue;
                    verdict v = judge(g, &p, a / MOST, a % MOST, b / MOST, b % MOST);
                    if (reported[a][b] && v == IN_ORDER)
                        fail_msg("program %u: %u[%u] and %u[%u] reported, but always in order%s", n, a / MOST, a % MOST,
                                 b / MOST, b % MOST, shown(&p));
                    all &= v != RACE || covered(g, &p, reported, a, b);
                }
        }
        for (unsigned a = 0; a < PARTIES * MOST; a++)
            for (unsigned b = 0; b < a; b++) {
                if (a % MOST >= p.n[a / MOST] || b % MOST >= p.n[b / MOST])
                    continue;
                verdict v = judge(g, &p, a / MOST, a % MOST, b / MOST, b % MOST);
                if (v == RACE && !covered(g, &p, reported, a, b))
                    fail_msg("program %u: %u[%u] and %u[%u] are in no order, never reported%s", n, a / MOST, a % MOST,
                             b / MOST, b % MOST, shown(&p));
                races += v == RACE;
                in_order += v == IN_ORDER;
            }
    }
    assert_true(wg_test_first() || (races > 50 && in_order > 50));
    free(g);
}

static const wg_test tests[] = {
    WG_TEST(test_agrees, WG_BH | WG_WH, ""),
};
WG_MAIN("race_cores", tests)
