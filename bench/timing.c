/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every measured number of the timing table as a microkernel in profile `silicon`, on Blackhole unless it says WH: model,
 * silicon, difference. Status 1 if one is off by more than five per cent.
 *
 *     timing                 a line for each
 *     timing --markdown      the table of docs/accuracy.md, with the mechanism behind each
 */
#include <math.h>
#include <stdio.h>

#include "core_rows.h"
#include "noc_rows.h"

typedef struct row {
    const char *name;
    double silicon;
    double (*measure)(unsigned argument);
    unsigned argument;
    const char *how;
} row;

static wg_device *device(void)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_SILICON};
    wg_device *dev = NULL;
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    return dev;
}

/* ---- the queue of a thread ----------------------------------------------------------------------------------------
 */

/* Does T0 get beyond a burst of `pushes` pushes while its thread's gate is shut? */
static bool burst_passes(unsigned pushes)
{
    enum { SEMWAIT = 0xA6, ALL = 0x1FF, ZERO_OF_0 = 1 << 2 | 1, NOP = 0x02000000, FLAG = 0x3000, CODE = 0x10000 };
    wg_device *dev = device();
    rv p = rv_at(CODE);
    rv_li(&p, T0, 1 << 18); /* cfg0.DisTriscCache, as the card's start-up code sets it */
    rv_word(&p, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
    rv_tt(&p, (uint32_t)SEMWAIT << 24 | ALL << 15 | ZERO_OF_0);
    for (unsigned i = 0; i < 20; i++) /* it is latched, and its slot in the queue is free */
        rv_nop(&p);
    for (unsigned i = 0; i < pushes; i++)
        rv_tt(&p, NOP);
    rv_store(&p, FLAG, 1);
    rv_done(&p);
    uint32_t flag = 0;
    wg_stop stop;
    bool ok = rv_load(dev, &p) && wg_core_release(dev, WG_CORE_T0, CODE) == WG_OK &&
              wg_run(dev, 100000, &stop) == WG_OK && wg_read(dev, FLAG, &flag, 4) == WG_OK;
    wg_destroy(dev);
    return ok && flag;
}
static double queue_depth(unsigned argument)
{
    (void)argument;
    unsigned n = 0;
    while (n < 100 && burst_passes(n + 1))
        n++;
    return n;
}

/* ---- the Mover -----------------------------------------------------------------------------------------------------
 */

enum { COPY = 0, FILL = 1, ALONE = 0, CONTENDED = 2 };
typedef struct seen {
    uint64_t from, to;
} seen;
static void mover_event(void *user, const wg_event *e)
{
    seen *s = user;
    if (e->word >> 24 == 0x40)
        s->from = e->cycle;
    else if (e->word >> 24 == 0x45)
        s->to = e->cycle;
}

/* Loads from L1 forever, as many as a core can have in flight. */
static void load_for_ever(wg_device *dev, wg_core_id core)
{
    rv p = rv_at(0x10000 + 0x1000 * core);
    rv_li(&p, A0, 0x100000 + 0x800 * core);
    unsigned loop = p.n;
    for (unsigned i = 0; i < 64; i++)
        rv_lw(&p, T0 + i % 3, 16 * (int)i, A0);
    rv_beq(&p, ZERO, ZERO, loop);
    if (!rv_load(dev, &p) || wg_core_release(dev, core, p.base) != WG_OK)
        exit(1);
}

/* Cycles of an XMOV of `units` units of 16 bytes, from its issue until a wait for the Mover is released. */
static uint64_t mover_cycles(unsigned how, uint32_t units)
{
    enum { REG6 = 88, XMOV = 0x40000000, L0_TO_L1 = 0, L1_TO_L1 = 3 };
    wg_device *dev = device();
    wg_stop stop;
    seen s = {0};
    int observer;
    uint32_t direction = how & FILL ? L0_TO_L1 : L1_TO_L1;
    uint32_t config[3] = {0x40000 / 16, 0x80000 / 16, units | direction << 30};
    for (unsigned i = 0; i < 3; i++)
        wg_poke(dev, WG_SPACE_CONFIG, REG6 + i, config[i]);
    if (how & CONTENDED) /* the cores on the port that the Mover's reads, or its writes, use */
        for (unsigned core = 0; core < WG_CORES; core++)
            if ((how & FILL) == (core >= WG_CORE_T1))
                load_for_ever(dev, (wg_core_id)core);
    wg_advance(dev, 3000);
    wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED), mover_event, &s, &observer);
    wg_push(dev, 0, XMOV);
    wg_push(dev, 0, 0xA2000000 | 0x1FF << 15 | 1 << 9); /* STALLWAIT all, on the Mover */
    wg_push(dev, 0, 0x45000008);                        /* SETDMAREG */
    for (unsigned i = 0; i < 100 && !s.to; i++)
        wg_run(dev, 1000, &stop);
    wg_destroy(dev);
    return s.to - s.from;
}
/* Per unit. */
static double mover(unsigned how) { return (double)(mover_cycles(how, 1608) - mover_cycles(how, 8)) / 1600; }

/* ---- all ------------------------------------------------------------------------------------------------------------
 */

static const row rows[] = {
    {"queue of a thread, by bursts", 31.5, queue_depth, 0,
     "29 in the FIFO by single pushes; the rest is in flight in the core's store path"},
    {"Mover, copy, per 16 bytes", 11.0 / 8, mover, COPY | ALONE,
     "eight reads, each written three cycles later, then the next eight"},
    {"Mover, copy, port contended", 4, mover, COPY | CONTENDED,
     "its reads have one of four turns at L1 port 2, with cores B, NC and T0"},
    {"Mover, fill of L1, per 16 bytes", 1, mover, FILL | ALONE, "a write per cycle"},
    {"Mover, fill of L1, port contended", 3, mover, FILL | CONTENDED,
     "its writes have one of three turns at L1 port 3, with cores T1 and T2"},
};

static unsigned off;
static void report(const char *name, double model, double silicon, const char *how, bool markdown)
{
    double difference = 100 * (model - silicon) / silicon;
    off += !(fabs(difference) <= 5);
    if (markdown)
        printf("| %s | %.3f | %.3f | %+.1f %% | %s |\n", name, model, silicon, difference, how);
    else
        printf("%-44s model %8.3f   silicon %8.3f   %+5.1f %%%s\n", name, model, silicon, difference,
               fabs(difference) <= 5 ? "" : "   MISSED");
}

int main(int argc, char **argv)
{
    bool markdown = argc == 2 && !strcmp(argv[1], "--markdown");
    if (argc > 1 && !markdown) {
        fprintf(stderr, "usage: timing [--markdown]\n");
        return 1;
    }
    if (markdown)
        printf("| What | Model | Silicon | Difference | Mechanism |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < CORE_ROWS; i++)
        report(core_rows[i].name, core_row_cycles(&core_rows[i], WG_PROFILE_SILICON), core_rows[i].silicon,
               core_rows[i].how, markdown);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        report(rows[i].name, rows[i].measure(rows[i].argument), rows[i].silicon, rows[i].how, markdown);
    for (unsigned i = 0; i < NOC_ROWS; i++)
        report(noc_rows[i].name, noc_rows[i].measure(noc_rows[i].argument), noc_rows[i].silicon, noc_rows[i].how,
               markdown);
    if (off)
        fprintf(stderr, "%u rows are off by more than five per cent\n", off);
    return off != 0;
}
