/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of `check`: the same run without and with the race detector, interleaved.
 *
 *     check_semaphores_ratio   two threads hand a semaphore back and forth
 *     check_demo_ratio         math and pack threads: MVMUL, SFPSTORE, PACR, with their waits
 *     check_bytes              memory of the detector
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "explain/race.h"
#include "isa/asm.h"

enum { MOST = 32, ROUNDS = 4000, TRIES = 5 };

typedef struct loop {
    uint32_t first[8], word[MOST];
    unsigned firsts, words;
} loop;

static void add(uint32_t *to, unsigned *n, const char *text)
{
    wg_asm_error error;
    if (wg_assemble_line(WG_ARCH_BH, text, strlen(text), &to[*n], &error) != WG_ASM_OK) {
        fprintf(stderr, "%s: %s\n", text, error.message);
        exit(1);
    }
    ++*n;
}

/* Seconds for the loops of three threads; *bytes is the detector's memory if it watches. */
static double run(const loop *l, bool watched, size_t *bytes)
{
    wg_device *dev;
    wg_races *r = watched ? wg_races_new(WG_ARCH_BH, NULL, NULL) : NULL;
    if (wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = WG_ARCH_BH}, &dev) != WG_OK ||
        (watched && (!r || wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r, NULL) != WG_OK)))
        exit(1);
    for (unsigned i = 0; i < 4; i++) /* banks given to the Matrix Unit for the whole run */
        wg_poke(dev, WG_SPACE_SRC_OWNER, i, 1);
    uint64_t at[WG_THREADS] = {0}, most[WG_THREADS];
    for (unsigned t = 0; t < WG_THREADS; t++)
        most[t] = l[t].words ? l[t].firsts + (uint64_t)l[t].words * ROUNDS : l[t].firsts;
    double began = now();
    for (bool more = true; more;) {
        more = false;
        for (unsigned t = 0; t < WG_THREADS; t++) {
            while (at[t] < most[t]) {
                uint32_t word = at[t] < l[t].firsts ? l[t].first[at[t]] : l[t].word[(at[t] - l[t].firsts) % l[t].words];
                if (wg_push(dev, t, word) != WG_OK)
                    break;
                at[t]++;
            }
            more |= at[t] < most[t];
        }
        wg_advance(dev, 16);
    }
    wg_advance(dev, 2000);
    double took = now() - began;
    if (watched) {
        *bytes = wg_races_bytes(r);
        if (wg_races_forgotten(r))
            fprintf(stderr, "the detector forgot %llu\n", (unsigned long long)wg_races_forgotten(r));
    }
    wg_races_free(r);
    wg_destroy(dev);
    return took;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, const loop *l, size_t *bytes)
{
    double ratio[TRIES];
    for (unsigned i = 0; i < TRIES; i++) {
        double plain = run(l, false, bytes);
        ratio[i] = run(l, true, bytes) / plain;
    }
    qsort(ratio, TRIES, sizeof *ratio, compare);
    printf("%s %.2f x\n", name, ratio[TRIES / 2]);
}

int main(void)
{
    loop l[WG_THREADS];
    size_t bytes = 0;
    memset(l, 0, sizeof l);
    add(l[0].first, &l[0].firsts, "seminit 2, 0, SEMAPHORE_1");
    add(l[0].word, &l[0].words, "semwait STALL_THREAD, SEMAPHORE_1, STALL_ON_MAX");
    add(l[0].word, &l[0].words, "sempost SEMAPHORE_1");
    add(l[1].word, &l[1].words, "semwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO");
    add(l[1].word, &l[1].words, "semget SEMAPHORE_1");
    measure("check_semaphores_ratio", l, &bytes);

    memset(l, 0, sizeof l);
    add(l[1].first, &l[1].firsts, "seminit 1, 0, SEMAPHORE_1");
    add(l[1].first, &l[1].firsts, "sfploadi 0, 0, 0x3F80");
    add(l[1].word, &l[1].words, "semwait STALL_SYNC|STALL_MATH|STALL_SFPU, SEMAPHORE_1, STALL_ON_MAX");
    for (unsigned i = 0; i < 8; i++) {
        char text[64];
        snprintf(text, sizeof text, "mvmul 0, 0, 0, %u", 8 * i);
        add(l[1].word, &l[1].words, text);
    }
    add(l[1].word, &l[1].words, "stallwait STALL_SFPU, MATH");
    for (unsigned i = 0; i < 8; i++) {
        char text[64];
        snprintf(text, sizeof text, "sfpstore 0, 2, 0, %u", 4 * i);
        add(l[1].word, &l[1].words, text);
    }
    add(l[1].word, &l[1].words, "stallwait STALL_SYNC, MATH|WAIT_SFPU");
    add(l[1].word, &l[1].words, "sempost SEMAPHORE_1");
    add(l[2].first, &l[2].firsts, "setadcxx 4, 15, 0");
    add(l[2].word, &l[2].words, "semwait STALL_TDMA|STALL_SYNC, SEMAPHORE_1, STALL_ON_ZERO");
    for (unsigned i = 0; i < 4; i++)
        add(l[2].word, &l[2].words, ".word 0x41000F01"); /* PACR of four rows */
    add(l[2].word, &l[2].words, "stallwait STALL_SYNC, PACK");
    add(l[2].word, &l[2].words, "semget SEMAPHORE_1");
    measure("check_demo_ratio", l, &bytes);
    printf("check_bytes %zu B\n", bytes);
    return 0;
}
