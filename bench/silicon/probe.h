/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels written to the description of riscvbench and tensixbench (README.md): a phase is one kernel on one to three T
 * cores, which runs its probes back to back.
 *
 * A slope probe runs blocks of instructions between two reads of the wall clock, 32, 64, 96 and 128 blocks; the cores
 * meet before each. Its row is the slope over the four, minus the slope of the empty loop, per instruction. A burst
 * pushes n instructions once; its row for n above 32 is the extra time over half as many, so that the compiler's code
 * between the two reads of the clock cancels out. A shorter burst is that code for the most part, and runs from a cold
 * cache: its row, in the group `cold`, is the time between the two reads.
 */
#ifndef PROBE_H
#define PROBE_H

#include "core_rows.h"
#include "silicon.h"

enum { PROBE_POINTS = 8, PROBE_MAX = 32, PROBE_THREADS = 3, PROBE_WORDS = 20 };

typedef enum probe_form {
    PROBE_SLOPE,
    PROBE_CASCADE,      /* 1, 2, 4 … 128 instructions in a row */
    PROBE_CASCADE_SYNC, /* … and until the thread is idle */
    PROBE_LOOP,         /* 1, 2, 4 … rounds of a loop, after draining the queue */
    PROBE_LOOP_SYNC,
    PROBE_SOLO, /* the same on T1, while the others run the same loop four times as often */
    PROBE_SOLO_SYNC
} probe_form;

typedef struct probe {
    const char *name;
    uint16_t unroll; /* slope probes: divisor of a block's cycles; loops: instructions per round */
    uint16_t times;  /* how often a block or round repeats these words */
    uint8_t words;
    uint8_t form, points; /* bursts */
    bool wants_sources;   /* T1 gives SrcA and SrcB to the Matrix Unit first */
    bool predrained;      /* PROBE_LOOP_SYNC: drained once, before the first */
    uint32_t word[PROBE_WORDS];
} probe;

typedef struct probe_phase {
    const char *name, *group;
    const probe *probes; /* the first one is the empty loop */
    unsigned count;
    void (*prepare)(wg_device *dev, wg_arch_id arch);
    double scatter; /* cycles; a row that is more off has another reason; 0: no limit */
} probe_phase;

/* Reasons why rows are off: the first match applies. NULL or 0 matches everything; the name matches by prefix. */
typedef struct probe_reason {
    const char *arch, *phase, *probe;
    unsigned threads; /* bit i: with i threads */
    const char *why;
} probe_reason;

typedef struct probe_set {
    const char *file; /* arch, phase, threads, probe, thread, n, cycles */
    const probe_phase *phases;
    unsigned count;
    const probe_reason *reasons;
    unsigned reason_count;
} probe_set;

/* Makes the core wait as the card's firmware does. */
void probe_firmware(wg_device *dev, wg_arch_id arch, wg_core_id core);

void probe_rows(struct wg_silicon *s, const probe_set *set);

#endif
