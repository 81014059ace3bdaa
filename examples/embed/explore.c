/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the result luck? Two threads set the same bits of a configuration word, 20 instructions apart. wg_explore() runs
 * them under many legal timings, and reads the word's value after each of them.
 *
 *     explore [mutex]          mutex: around both, a mutex and a semaphore that puts thread 0 first
 */
#include <stdio.h>
#include <string.h>
#include <waitgate/asm.h>
#include <waitgate/explore.h>

enum { WORD = 28 }; /* any word of the configuration */

typedef struct tally {
    unsigned runs, others;
    uint32_t expected;
    uint64_t seed; /* the first that shows another value */
    wg_delay delay;
} tally;

static bool ended(void *user, wg_device *dev, const wg_explored *run)
{
    tally *t = user;
    uint32_t value = 0;
    wg_peek(dev, WG_SPACE_CONFIG, WORD, &value);
    if (!run->number)
        t->expected = value;
    else
        t->runs++;
    if (value == t->expected)
        return true;
    if (!t->others++ && run->delay)
        t->delay = *run->delay;
    else if (t->others == 1)
        t->seed = run->seed;
    return true;
}

static void push(wg_device *dev, unsigned thread, const char *line)
{
    uint32_t word;
    wg_asm_error error;
    if (wg_assemble_line(WG_ARCH_BH, line, strlen(line), &word, &error) == WG_ASM_OK)
        wg_push(dev, thread, word);
    else
        fprintf(stderr, "%s: %s\n", line, error.message);
}

int main(int argc, char **argv)
{
    const bool ordered = argc > 1 && strcmp(argv[1], "mutex") == 0;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    wg_explore_desc how = {.struct_size = sizeof how, .runs = 200};
    wg_device *dev;
    tally t = {0};
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    if (ordered) {
        push(dev, 0, "ttseminit 1, 0, SEMAPHORE_1");
        push(dev, 0, "ttatgetm 2");
    }
    push(dev, 0, "ttrmwcib0 15, 1, 28");
    if (ordered) {
        push(dev, 0, "ttatrelm 2");
        push(dev, 0, "ttstallwait STALL_SYNC, CFGEXU");
        push(dev, 0, "ttsempost SEMAPHORE_1");
    }
    for (unsigned i = 0; i < 20; i++)
        push(dev, 1, "ttnop");
    if (ordered) {
        push(dev, 1, "ttsemwait STALL_SYNC|STALL_CFG, SEMAPHORE_1, STALL_ON_ZERO");
        push(dev, 1, "ttatgetm 2");
    }
    push(dev, 1, "ttrmwcib0 15, 2, 28");
    if (ordered)
        push(dev, 1, "ttatrelm 2");
    if (wg_explore(dev, &how, ended, &t) != WG_OK) {
        fprintf(stderr, "%s\n", wg_error(dev));
        return 1;
    }
    printf("the word is %u; under %u other timings it is something else in %u\n", t.expected, t.runs, t.others);
    if (t.others && t.seed)
        printf("first with seed %llu\n", (unsigned long long)t.seed);
    else if (t.others)
        printf("first with event %llu of %s at site %s %u cycles longer\n", (unsigned long long)t.delay.event,
               wg_agent_name(t.delay.agent), wg_site_name(t.delay.site), t.delay.cycles);
    wg_destroy(dev);
    return t.others != 0;
}
