/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole program on core B of Blackhole: retirebench. Its zones follow each other, each a loop between two reads of
 * the wall clock; a zone's numbers of instructions before its loop, in a round and around it follow from its retired
 * instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

enum { ZONES = 16, CODE = 0x10000, SCRATCH = 0xA000, RESULTS = 0x8100, FLAG = 0x8000, CHAIN = 64, MARKER = 12 };
enum { NAME, UNROLL, ROUNDS, PER_ROUND, BEFORE, CYCLES, FIELDS };

typedef struct zone {
    char name[32];
    unsigned unroll, rounds, per_round, before;
    double card;
} zone;

typedef struct program {
    zone zone[ZONES];
    unsigned n;
} program;

static void read_zone(struct wg_silicon *s, char **field, void *user)
{
    program *p = user;
    (void)s;
    if (p->n == ZONES)
        exit(1);
    zone *z = &p->zone[p->n++];
    snprintf(z->name, sizeof z->name, "%s", field[NAME]);
    z->unroll = (unsigned)atoi(field[UNROLL]);
    z->rounds = (unsigned)atoi(field[ROUNDS]);
    z->per_round = (unsigned)atoi(field[PER_ROUND]);
    z->before = (unsigned)atoi(field[BEFORE]);
    z->card = atof(field[CYCLES]);
}

static void addi(core_kernel *k, unsigned rd, unsigned rs, int value) { core_word(k, rv_i(value, rs, 0, rd, 0x13)); }
static uint32_t mul(unsigned r) { return core_r(1, A4, r, 0, r); }

/* Instruction i of the zone's loop. */
static uint32_t body(const char *name, unsigned i)
{
    const unsigned r = A0 + i % 4;
    if (!strcmp(name, "alu_dep"))
        return rv_i(1, A0, 0, A0, 0x13);
    if (!strcmp(name, "alu_ind"))
        return rv_i(1, r, 0, r, 0x13);
    if (!strcmp(name, "mul_dep"))
        return mul(A0);
    if (!strcmp(name, "mul_ind"))
        return mul(r);
    if (!strncmp(name, "div_", 4)) /* by 3 */
        return core_r(1, A4, !strcmp(name, "div_small") ? A6 : A5, 5, A7);
    if (!strcmp(name, "load_dep"))
        return rv_i(0, T3, 2, T3, 0x03);
    if (!strcmp(name, "load_ind"))
        return rv_i(16 * (int)(i % 4), S2, 2, r, 0x03);
    if (!strcmp(name, "store_spread"))
        return rv_s(16 * (int)(i % 4), A0, S2, 2, 0x23);
    return rv_b(4, A0, A0, !strcmp(name, "branch_nt") ? 1 : 0); /* to the next instruction */
}

static void clock_to(core_kernel *k, unsigned rd) { core_word(k, rv_i(0x1F0, S4, 2, rd, 0x03)); }

static void measure(core_kernel *k, const zone *z)
{
    clock_to(k, T1);
    if (z) {
        for (unsigned i = 1; i < z->before; i++)
            addi(k, ZERO, ZERO, 0);
        addi(k, T0, ZERO, (int)z->rounds);
        unsigned round = k->n;
        for (unsigned i = 0; i < z->unroll; i++)
            core_word(k, body(z->name, i));
        for (unsigned i = 2; i < z->per_round; i++)
            addi(k, ZERO, ZERO, 0);
        addi(k, T0, T0, -1);
        core_bne_back(k, T0, ZERO, round);
    }
    clock_to(k, T2);
    core_word(k, core_r(0x20, T1, T2, 0, T2));
    core_word(k, rv_s(0, T2, S1, 2, 0x23));
    addi(k, S1, S1, 4);
}

static void kernel(core_kernel *k, const program *p)
{
    static const uint32_t value[][2] = {
        {S1, RESULTS}, {S2, SCRATCH + 0x800}, {S4, 0xFFB12000}, {A0, 1},      {A1, 2}, {A2, 3}, {A3, 4},
        {A4, 3},       {A5, 0x12345678},      {A6, 0x800},      {T3, SCRATCH}};
    core_start_up(k);
    for (unsigned i = 0; i < sizeof value / sizeof *value; i++)
        core_li(k, value[i][0], value[i][1]);
    measure(k, NULL);
    for (unsigned i = 0; i < p->n; i++)
        measure(k, &p->zone[i]);
    core_li(k, T5, FLAG);
    addi(k, T6, ZERO, 1);
    core_word(k, rv_s(0, T6, T5, 2, 0x23));
    core_word(k, 0x6F);
}

static void run(const program *p, uint32_t *cycles)
{
    core_kernel *k = calloc(1, sizeof *k);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    uint32_t done = 0;
    if (!k || wg_create(&desc, &dev) != WG_OK)
        exit(1);
    for (uint32_t i = 0; i < CHAIN; i++) {
        uint32_t next = SCRATCH + 16 * ((i + 1) % CHAIN);
        wg_write(dev, SCRATCH + 16 * i, &next, 4);
    }
    for (unsigned core = WG_CORE_NC; core <= WG_CORE_T2; core++)
        probe_firmware(dev, WG_ARCH_BH, (wg_core_id)core);
    wg_advance(dev, 3000);
    kernel(k, p);
    wg_write(dev, CODE, k->word, 4 * (size_t)k->n);
    wg_core_release(dev, WG_CORE_B, CODE);
    for (unsigned slice = 0; slice < 100 && !done; slice++) {
        wg_advance(dev, 20000);
        wg_read(dev, FLAG, &done, 4);
    }
    if (!done) {
        fprintf(stderr, "silicon: the program does not end\n");
        exit(1);
    }
    wg_read(dev, RESULTS, cycles, 4 * (p->n + 1u));
    wg_destroy(dev);
    free(k);
}

void wg_silicon_program(struct wg_silicon *s)
{
    static program p;
    uint32_t cycles[ZONES + 1] = {0};
    double card = 0, model = 0;
    wg_silicon_read(s, "program.csv", FIELDS, read_zone, &p);
    run(&p, cycles);
    for (unsigned i = 0; i <= p.n; i++) { /* after the zones: all of them */
        wg_silicon_row r = {.group = "program", .arch = WG_ARCH_BH, .name = "all", .card = card, .model = model};
        r.why = "scattered stores beside cores that poll: the phase in which they meet at L1 is not known";
        if (i < p.n) {
            r.name = p.zone[i].name;
            r.card = p.zone[i].card - MARKER;
            r.model = (double)cycles[i + 1] - cycles[0];
            card += r.card;
            model += r.model;
        }
        wg_silicon_add(s, &r);
    }
}
