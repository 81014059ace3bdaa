/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The layout of L1. Cores that run no kernel poll their mailboxes, as in the card's firmware: B for the end of the
 * kernels, NC and idle T cores for their start.
 */
enum {
    FIRMWARE = 0x4000, /* 0x400 per core */
    FLAGS = 0x8000,    /* a word per thread that is done */
    RESULTS = 0x8100,
    KERNELS = 0x10000, /* 0x8000 per thread */
    OWN_RAM = (int)0xFFB00000,
    SEQUENCE = 0, /* own RAM: the barrier's */
    STACK = 0x100,
    TILE_REGS = (int)0xFFB12000,
    WALL_CLOCK = 0x1F0,
    PC_BUFFER = (int)0xFFE80000,
    GO = 0x80,
    OTHER = 3,
    BASE_BLOCKS = 32,
    BLOCK_POINTS = 4,
    CHAIN = 64
};

/* Where the card's run had its data: they share banks of L1 with each other, or not. The barrier lies behind the scratch areas. */
static const struct {
    uint32_t mailbox, scratch /* 0x800 per thread */, barrier;
} place[] = {[WG_ARCH_BH] = {0x68, 0x17D440, 0x17EC40}, [WG_ARCH_WH] = {0x18, 0x16B3A0, 0x16CBA0}};

/*
 * Registers: A0 to A7, T3 and T4 are the probes'; T5 and T6 are free. S1 points to the result, S2 to the scratch area, S0 and
 * S7 to the barrier's words and this thread's own, S5 is the mask of active threads; S3 and S9 to S11 are the barrier's, too.
 */
enum {
    BLOCKS = T0,
    COUNT = T1,
    BEGAN = T2,
    END = S8,
    PASSED = S3,
    WORD = S9,
    THREAD = S10,
    ONE_BIT = S11,
    THREADS = TP
};

static void load(core_kernel *k, unsigned rd, int offset, unsigned base)
{
    core_word(k, rv_i(offset, base, 2, rd, 0x03));
}
static void store(core_kernel *k, unsigned rs, int offset, unsigned base)
{
    core_word(k, rv_s(offset, rs, base, 2, 0x23));
}
static void addi(core_kernel *k, unsigned rd, unsigned rs, int value) { core_word(k, rv_i(value, rs, 0, rd, 0x13)); }

/* A branch over the following instructions, to be patched by land(); f3 as in the instruction. */
static unsigned skip(core_kernel *k, unsigned rs1, unsigned rs2, unsigned f3)
{
    core_word(k, rv_b(0, rs1, rs2, f3));
    return k->n - 1;
}
static void land(core_kernel *k, unsigned branch) { k->word[branch] |= rv_b(4 * (int)(k->n - branch), 0, 0, 0); }

static void back_to(core_kernel *k, unsigned to, unsigned rs1, unsigned rs2, unsigned f3)
{
    core_word(k, rv_b(4 * ((int)to - (int)k->n), rs1, rs2, f3));
}

/* The barrier's wait for one thread, which a compiler puts out of line. Returns where it is. */
static unsigned barrier_waits(core_kernel *k)
{
    unsigned over = skip(k, ZERO, ZERO, 0), wait = k->n;
    load(k, T5, 0, WORD);
    skip(k, T5, PASSED, 7); /* barrier() lands it and the last one */
    load(k, T5, 0, WORD);
    back_to(k, wait, T5, PASSED, 6);
    skip(k, ZERO, ZERO, 0);
    land(k, over);
    return wait;
}

/* Each thread publishes a number and waits for the other active ones to have published it, as the benchmark compiles. */
static void barrier(core_kernel *k, unsigned waits)
{
    addi(k, PASSED, PASSED, 1);
    store(k, PASSED, SEQUENCE, GP);
    store(k, PASSED, 0, S7);
    addi(k, WORD, S0, 0);
    addi(k, THREAD, ZERO, 0);
    unsigned again = k->n;
    core_word(k, core_r(0, THREAD, ONE_BIT, 1, T5)); /* sll */
    core_word(k, core_r(0, S5, T5, 7, T5));
    back_to(k, waits, T5, ZERO, 1);
    land(k, waits + 1);
    land(k, waits + 4);
    addi(k, THREAD, THREAD, 1);
    addi(k, WORD, WORD, 4);
    core_bne_back(k, THREAD, THREADS, again);
}

/* Waits until the thread is idle, as the card's library does. */
static void tensix_sync(core_kernel *k)
{
    store(k, ZERO, 4, S6);
    load(k, T5, 4, S6);
    store(k, T5, STACK + 8, GP);
}

static void words(core_kernel *k, const probe *p, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        for (unsigned w = 0; w < p->words; w++)
            core_word(k, p->word[w]);
}

static void begin(core_kernel *k) { load(k, BEGAN, WALL_CLOCK, S4); }
static void end(core_kernel *k)
{
    load(k, T5, WALL_CLOCK, S4);
    core_word(k, core_r(0x20, BEGAN, T5, 0, T5));
    store(k, T5, 0, S1);
    addi(k, S1, S1, 4);
}

static void slope(core_kernel *k, const probe *p)
{
    core_word(k, rv_i(0, ZERO, 0, BLOCKS, 0x13));
    core_li(k, END, BASE_BLOCKS * BLOCK_POINTS);
    unsigned waits = barrier_waits(k), point = k->n;
    addi(k, BLOCKS, BLOCKS, BASE_BLOCKS);
    barrier(k, waits);
    begin(k);
    addi(k, COUNT, ZERO, 0);
    unsigned round = k->n;
    words(k, p, p->times);
    addi(k, COUNT, COUNT, 1);
    core_bne_back(k, COUNT, BLOCKS, round);
    end(k);
    core_bne_back(k, BLOCKS, END, point);
}

static void cascade(core_kernel *k, const probe *p)
{
    if (p->form == PROBE_CASCADE_SYNC)
        tensix_sync(k);
    core_word(k, rv_i(0, ZERO, 0, BLOCKS, 0x13));
    addi(k, END, ZERO, p->points);
    unsigned waits = barrier_waits(k), point = k->n, over[PROBE_POINTS];
    barrier(k, waits);
    begin(k);
    words(k, p, 1);
    for (unsigned i = 1; i < p->points; i++) {
        addi(k, T5, ZERO, (int)i);
        over[i] = skip(k, BLOCKS, T5, 6); /* bltu */
        words(k, p, 1u << (i - 1));
    }
    for (unsigned i = 1; i < p->points; i++)
        land(k, over[i]);
    if (p->form == PROBE_CASCADE_SYNC)
        tensix_sync(k);
    end(k);
    addi(k, BLOCKS, BLOCKS, 1);
    core_bne_back(k, BLOCKS, END, point);
}

/* Rounds: 1, 2, 4 …; in a solo probe the others count instead, four times as often, and are not timed. */
static void loop(core_kernel *k, const probe *p, unsigned thread)
{
    const bool sync = p->form == PROBE_LOOP_SYNC || p->form == PROBE_SOLO_SYNC;
    const bool spins = (p->form == PROBE_SOLO || p->form == PROBE_SOLO_SYNC) && thread != 1;
    if (p->predrained)
        tensix_sync(k);
    addi(k, BLOCKS, ZERO, spins ? 4 : 1);
    core_li(k, END, (spins ? 4u : 1u) << p->points);
    unsigned waits = barrier_waits(k), point = k->n;
    barrier(k, waits);
    if (!p->predrained)
        tensix_sync(k);
    begin(k);
    addi(k, COUNT, ZERO, 0);
    unsigned round = k->n;
    if (spins)
        for (unsigned i = 0; i < p->times * p->words; i++)
            addi(k, A0, A0, 1);
    else
        words(k, p, p->times);
    addi(k, COUNT, COUNT, 1);
    core_bne_back(k, COUNT, BLOCKS, round);
    if (sync && !spins)
        tensix_sync(k);
    end(k);
    core_word(k, rv_i(1, BLOCKS, 1, BLOCKS, 0x13)); /* slli */
    core_bne_back(k, BLOCKS, END, point);
}

static void set_up(core_kernel *k, wg_arch_id arch, unsigned thread, unsigned active)
{
    if (arch == WG_ARCH_BH)
        core_start_up(k);
    const uint32_t value[][2] = {{GP, (uint32_t)OWN_RAM},
                                 {S0, place[arch].barrier},
                                 {S2, place[arch].scratch + 0x800 * thread},
                                 {S4, (uint32_t)TILE_REGS},
                                 {S5, active},
                                 {S6, (uint32_t)PC_BUFFER},
                                 {PASSED, 0},
                                 {ONE_BIT, 1},
                                 {THREADS, PROBE_THREADS},
                                 {S7, place[arch].barrier + 4 * thread},
                                 {A0, 1},
                                 {A1, 2},
                                 {A2, 3},
                                 {A3, 4},
                                 {A4, 3},
                                 {A5, 0x12345678},
                                 {A6, 0},
                                 {T3, place[arch].scratch + 0x800 * thread},
                                 {T4, (uint32_t)OWN_RAM + STACK}};
    for (unsigned i = 0; i < sizeof value / sizeof *value; i++)
        core_li(k, value[i][0], value[i][1]);
    addi(k, T5, T4, 4); /* two words of the stack that point to each other */
    store(k, T5, 0, T4);
    store(k, T4, 4, T4);
}

static uint32_t result_at(unsigned thread, unsigned p) { return RESULTS + 4 * PROBE_POINTS * (thread * PROBE_MAX + p); }

static void kernel(core_kernel *k, const probe_phase *phase, wg_arch_id arch, unsigned thread, unsigned active)
{
    k->n = 0;
    set_up(k, arch, thread, active);
    for (unsigned i = 0; i < phase->count; i++) {
        const probe *p = &phase->probes[i];
        if (p->wants_sources) {
            if (thread == 1)
                core_push(k, PUSH_SETDVALID);
            barrier(k, barrier_waits(k));
        }
        core_li(k, S1, result_at(thread, i));
        if (p->form == PROBE_SLOPE)
            slope(k, p);
        else if (p->form <= PROBE_CASCADE_SYNC)
            cascade(k, p);
        else
            loop(k, p, thread);
    }
    core_li(k, T5, FLAGS);
    addi(k, T6, ZERO, 1);
    store(k, T6, 4 * (int)thread, T5);
    core_word(k, 0x6F);
}

static void firmware_rests(rv *p, wg_arch_id arch, wg_core_id core)
{
    static const unsigned more[][2] = {[WG_CORE_B] = {8, 15}, [WG_CORE_NC] = {10, 17}, [WG_CORE_T0] = {7, 14}};
    if (arch == WG_ARCH_BH)
        rv_fence(p);
    const unsigned nops =
        more[core < WG_CORE_T0 ? core : WG_CORE_T0][arch == WG_ARCH_WH] + (arch == WG_ARCH_WH ? 5 : 0);
    for (unsigned i = 0; i < nops; i++)
        rv_nop(p);
}

/*
 * What the card's firmware waits in, as it is compiled: that of B and NC for size, that of T cores for speed. B reads the whole
 * word, the others their byte; a fence on Blackhole, five nops on Wormhole, "to avoid hammering L1". NC and T0 compare with a
 * second value; T0 reads its byte once more for it. Inferred: a round takes about twice as long as these instructions. Rows of a
 * core that stores beside one waiting T core show one read in 21 (Blackhole) and 26 cycles; B and NC are taken to be as slow.
 */
void probe_firmware(wg_device *dev, wg_arch_id arch, wg_core_id core)
{
    rv p = rv_at(FIRMWARE + 0x400 * core);
    if (arch == WG_ARCH_BH) {
        rv_li(&p, T0, 1 << 18 | 1 << 3);
        rv_word(&p, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
    }
    rv_li(&p, A4, core == WG_CORE_B ? place[arch].mailbox : place[arch].mailbox + core - WG_CORE_NC);
    rv_li(&p, A3, GO);
    rv_li(&p, A2, OTHER);
    const uint32_t again = p.n;
    if (core == WG_CORE_B || core == WG_CORE_NC) {
        if (core == WG_CORE_B)
            rv_lw(&p, A5, 0, A4);
        else
            rv_lbu(&p, A5, 0, A4);
        if (core == WG_CORE_NC) {
            rv_word(&p, rv_i(0xFF, A5, 7, A1, 0x13)); /* andi */
            rv_word(&p, rv_b(8, A1, A2, 1));
            rv_done(&p);
        }
        rv_word(&p, rv_b(8, A5, A3, 1));
        rv_done(&p);
        firmware_rests(&p, arch, core);
        rv_beq(&p, ZERO, ZERO, again);
    } else {
        if (core == WG_CORE_T0) {
            rv_lbu(&p, A5, 0, A4);
            rv_word(&p, rv_b(4, A5, A2, 0));
        }
        firmware_rests(&p, arch, core);
        rv_lbu(&p, A5, 0, A4);
        rv_bne(&p, A5, A3, again);
        rv_done(&p);
    }
    if (!rv_load(dev, &p) || wg_core_release(dev, core, p.base) != WG_OK)
        exit(1);
}

typedef uint32_t results[PROBE_THREADS][PROBE_MAX][PROBE_POINTS];

static bool finished(wg_device *dev, unsigned active)
{
    uint32_t flag[PROBE_THREADS];
    wg_read(dev, FLAGS, flag, sizeof flag);
    for (unsigned t = 0; t < PROBE_THREADS; t++)
        if ((active >> t & 1) && !flag[t])
            return false;
    return true;
}

/* The phase on one (T1), two (T0 and T1) or three T cores. */
static void run(const probe_phase *phase, wg_arch_id arch, unsigned threads, results out)
{
    enum { SLICE = 200000, SLICES = 1000 };
    const unsigned active = threads == 1 ? 2 : threads == 2 ? 3 : 7;
    core_kernel *k = calloc(1, sizeof *k);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    wg_stop stop;
    if (!k || wg_create(&desc, &dev) != WG_OK)
        exit(1);
    for (uint32_t i = 0; i < PROBE_THREADS * CHAIN; i++) {
        uint32_t ring = place[arch].scratch + 0x800 * (i / CHAIN), next = ring + 16 * ((i + 1) % CHAIN);
        wg_write(dev, ring + 16 * (i % CHAIN), &next, 4);
    }
    if (phase->prepare)
        phase->prepare(dev, arch);
    probe_firmware(dev, arch, WG_CORE_B);
    probe_firmware(dev, arch, WG_CORE_NC);
    for (unsigned t = 0; t < PROBE_THREADS; t++)
        if (!(active >> t & 1))
            probe_firmware(dev, arch, (wg_core_id)(WG_CORE_T0 + t));
    wg_advance(dev, 3000);
    for (unsigned t = 0; t < PROBE_THREADS; t++)
        if (active >> t & 1) {
            kernel(k, phase, arch, t, active);
            wg_write(dev, KERNELS + 0x8000 * t, k->word, 4 * (size_t)k->n);
            wg_core_release(dev, (wg_core_id)(WG_CORE_T0 + t), KERNELS + 0x8000 * t);
        }
    unsigned slice = 0;
    while (slice++ < SLICES && !finished(dev, active))
        wg_run(dev, SLICE, &stop);
    if (!finished(dev, active)) {
        fprintf(stderr, "silicon: phase %s does not end on %u threads\n", phase->name, threads);
        exit(1);
    }
    wg_read(dev, RESULTS, out, sizeof(results));
    wg_destroy(dev);
    free(k);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

/* A burst of at most this many instructions, or of none, is a row of the group `cold`. */
enum { RUNS = 64, SHORTEST = 16 };
#define COLD "code that runs once: what the compiler put around it, and where it lies in the cache, is not known"
#define BEYOND "more than the scatter of 6 to 23 cycles that the benchmark's page names; not explained"

typedef struct one_run {
    const probe_phase *phase;
    wg_arch_id arch;
    unsigned threads;
    results out;
} one_run;

typedef struct reading {
    const probe_set *set;
    one_run *runs;
    unsigned count;
} reading;

static double slope_of(const uint32_t point[])
{
    double sum = 0, moments = 0; /* least squares over 1, 2, 3 and 4 times BASE_BLOCKS */
    for (unsigned i = 0; i < BLOCK_POINTS; i++) {
        sum += (i - 1.5) * point[i];
        moments += (i - 1.5) * (i - 1.5);
    }
    return sum / moments / BASE_BLOCKS;
}

static const char *reason(const probe_set *set, const char *arch, const char *phase, const char *name, unsigned threads)
{
    for (unsigned i = 0; i < set->reason_count; i++) {
        const probe_reason *r = &set->reasons[i];
        if ((!r->arch || strcmp(r->arch, arch) == 0) && (!r->phase || strcmp(r->phase, phase) == 0) &&
            (!r->probe || strncmp(name, r->probe, strlen(r->probe)) == 0) && (!r->threads || r->threads >> threads & 1))
            return r->why;
    }
    return NULL;
}

/* The run that the line's number comes from, or the slot for it; NULL: this phase is never run. */
static one_run *run_of(reading *r, char **field)
{
    wg_arch_id arch = wg_silicon_arch(field[0]);
    unsigned threads = (unsigned)atoi(field[2]);
    const probe_phase *phase = r->set->phases;
    while (phase < r->set->phases + r->set->count && strcmp(phase->name, field[1]) != 0)
        phase++;
    if (phase == r->set->phases + r->set->count)
        return NULL;
    for (one_run *o = r->runs; o < r->runs + r->count; o++)
        if (o->phase == phase && o->arch == arch && o->threads == threads)
            return o;
    if (r->count == RUNS)
        exit(1);
    r->runs[r->count] = (one_run){.phase = phase, .arch = arch, .threads = threads};
    return &r->runs[r->count++];
}

static void plan(struct wg_silicon *s, char **field, void *user)
{
    (void)s;
    run_of(user, field);
}

static void work(void *user, unsigned i)
{
    one_run *o = &((reading *)user)->runs[i];
    run(o->phase, o->arch, o->threads, o->out);
}

static void line(struct wg_silicon *s, char **field, void *user)
{
    reading *r = user;
    one_run *o = run_of(r, field);
    if (!o)
        return;
    unsigned thread = (unsigned)atoi(field[4]), n = (unsigned)atoi(field[5]), p = 0;
    while (p < o->phase->count && strcmp(o->phase->probes[p].name, field[3]) != 0)
        p++;
    if (p == o->phase->count || thread >= PROBE_THREADS) {
        fprintf(stderr, "silicon: no probe %s\n", field[3]);
        exit(1);
    }
    const probe *of = &o->phase->probes[p];
    char name[64];
    double model, card = atof(field[6]);
    bool cold = false;
    if (of->form == PROBE_SLOPE) {
        model = (slope_of(o->out[thread][p]) - slope_of(o->out[thread][0])) / of->unroll;
        snprintf(name, sizeof name, "%s t%u %s T%u", field[1], o->threads, field[3], thread);
    } else {
        unsigned point = 0, first = of->form <= PROBE_CASCADE_SYNC ? 1 : of->unroll;
        while (point + 1u < of->points && first << point < n)
            point++;
        cold = n <= SHORTEST || !of->words;
        model = (double)o->out[thread][p][point];
        snprintf(name, sizeof name, "%s t%u %s T%u n=%u", field[1], o->threads, field[3], thread, n);
    }
    wg_silicon_add(s, &(wg_silicon_row){.group = cold ? "cold" : o->phase->group,
                                        .name = name,
                                        .arch = o->arch,
                                        .card = card,
                                        .model = model,
                                        .why = cold ? COLD
                                               : o->phase->scatter > 0 && fabs(model - card) > o->phase->scatter
                                                   ? BEYOND
                                                   : reason(r->set, field[0], field[1], field[3], o->threads)});
}

void probe_rows(struct wg_silicon *s, const probe_set *set)
{
    reading r = {.set = set, .runs = calloc(RUNS, sizeof *r.runs)};
    if (!r.runs)
        exit(1);
    wg_silicon_read(s, set->file, 7, plan, &r);
    wg_silicon_each(r.count, work, &r);
    wg_silicon_read(s, set->file, 7, line, &r);
    free(r.runs);
}
