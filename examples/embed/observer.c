/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A custom observer: for each backend unit, the number of instructions accepted, and the cycles that threads stalled on it,
 * by reason. Events arrive in order and change nothing; the run takes the same number of cycles without the observer.
 *
 *     observer
 */
#include <stdio.h>
#include <string.h>
#include <waitgate/asm.h>

typedef struct tally {
    unsigned long taken[WG_AGENT_COUNT];
    unsigned long waited[WG_STALL_COUNT];
    unsigned reason[WG_THREADS]; /* current stall of the thread */
} tally;

static void seen(void *user, const wg_event *event)
{
    tally *t = user;
    if (event->agent < WG_AGENT_THREAD0 || event->agent > WG_AGENT_THREAD2)
        return;
    unsigned thread = event->agent - WG_AGENT_THREAD0;
    if (event->kind == WG_EV_ISSUED && event->b < WG_AGENT_COUNT)
        t->taken[event->b]++;
    else if (event->kind == WG_EV_STALL_BEGIN)
        t->reason[thread] = event->stall.reason;
    else if (event->kind == WG_EV_STALL_END)
        t->waited[t->reason[thread]] += event->cycle - event->a;
}

int main(void)
{
    static const char *const program[WG_THREADS][6] = {
        {"ttseminit 2, 0, SEMAPHORE_1", "ttsetdmareg 0, 5, 0, 8", "ttadddmareg 1, 6, 3, 4", "ttsempost SEMAPHORE_1"},
        {"ttsemwait STALL_THCON, SEMAPHORE_1, STALL_ON_ZERO", "ttmuldmareg 1, 7, 9, 6", "ttsemget SEMAPHORE_1"},
    };
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    wg_device *dev;
    wg_stop stop;
    tally t = {0};
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_STALL_END), seen, &t,
               NULL);
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        for (unsigned i = 0; i < 6 && program[thread][i]; i++) {
            uint32_t word;
            wg_asm_error error;
            const char *line = program[thread][i];
            if (wg_assemble_line(WG_ARCH_BH, line, strlen(line), &word, &error) != WG_ASM_OK) {
                fprintf(stderr, "%s: %s\n", line, error.message);
                return 1;
            }
            wg_push(dev, thread, word);
        }
    if (wg_run(dev, 1000, &stop) != WG_OK || stop != WG_STOP_DONE)
        return 1;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (t.taken[i])
            printf("%-14s %lu instructions\n", wg_agent_name(i), t.taken[i]);
    for (unsigned i = 0; i < WG_STALL_COUNT; i++)
        if (t.waited[i])
            printf("%lu cycles: %s\n", t.waited[i], wg_stall_text(i));
    wg_destroy(dev);
    return 0;
}
