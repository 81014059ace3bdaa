/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugger as a library: a core sums numbers, and the sum is wrong. The program runs to the end, goes back to the
 * wrong store, reads the registers of that time, and asks for the writer of the word.
 *
 *     debug_host bh|wh FOLDER
 */
#include <stdio.h>
#include <string.h>
#include <waitgate/debug.h>

enum { SUM = 0x3000, CODE = 0x4000, BAD = CODE + 10 * 4 };

/* a1 = 10 … 1, added to a word of L1; 3 is added twice. */
static const uint32_t program[] = {
    0x00003537, /*       lui  a0, 3          */
    0x00a00593, /*       li   a1, 10         */
    0x00300693, /*       li   a3, 3          */
    0x00052603, /* loop: lw   a2, 0(a0)      */
    0x00b60633, /*       add  a2, a2, a1     */
    0x00c52023, /*       sw   a2, 0(a0)      */
    0x0ff0000f, /*       fence               */
    0x00d59a63, /*       bne  a1, a3, next   */
    0x00052603, /*       lw   a2, 0(a0)      */
    0x00b60633, /*       add  a2, a2, a1     */
    0x00c52023, /* bad:  sw   a2, 0(a0)      */
    0x0ff0000f, /*       fence               */
    0xfff58593, /* next: addi a1, a1, -1     */
    0xfc059ce3, /*       bnez a1, loop       */
    0x0000006f, /* end:  j    end            */
};

static uint32_t sum_of(wg_device *dev)
{
    uint32_t sum = 0;
    wg_read(dev, SUM, &sum, sizeof sum);
    return sum;
}

static int debug(wg_debug *d, wg_device *dev)
{
    wg_debug_state s;
    uint32_t a1 = 0, wrong = 0;
    char text[4096];
    if (wg_debug_continue(d) != WG_PAUSE_ENDED)
        return 1;
    wg_debug_state_get(d, &s);
    printf("cycle %llu: the sum is %u, not 55\n", (unsigned long long)s.cycle, sum_of(dev));

    /* Back from write to write, to the first one that adds 3. */
    wg_debug_watch(d, SUM, 4, WG_WATCH_WRITE, true);
    for (uint32_t after = sum_of(dev); !wrong && wg_debug_back(d) == WG_PAUSE_WATCH; after = sum_of(dev))
        wrong = after - sum_of(dev) == 3;
    wg_debug_watch(d, SUM, 4, WG_WATCH_WRITE, false);
    wg_debug_state_get(d, &s);
    printf("cycle %llu: 3 is about to be added to %u\n", (unsigned long long)s.cycle, sum_of(dev));

    /* And to the point where the core was about to execute the store, with the registers of that time. */
    wg_debug_break(d, BAD, true);
    if (wg_debug_back(d) != WG_PAUSE_BREAK)
        return 1;
    wg_debug_break(d, BAD, false);
    wg_peek(dev, WG_SPACE_CORE_X, 11, &a1);
    wg_debug_state_get(d, &s);
    printf("cycle %llu: core %s is at 0x%x, a1 is %u\n", (unsigned long long)s.cycle, wg_agent_name(s.who.agent), BAD,
           a1);

    /* One instruction of the core back and forth gives the same state. */
    wg_who b = {.agent = WG_AGENT_CORE_B};
    wg_debug_go(d, s.cycle + 20);
    uint64_t hash = wg_state_hash(dev);
    wg_debug_step_back(d, b);
    wg_debug_go(d, s.cycle + 20);
    bool same = wg_state_hash(dev) == hash;

    size_t length = wg_debug_why(d, b, "l1:0x3000", WG_REPORT_JSON, text, sizeof text);
    printf("%s", length ? text : wg_debug_error(d));
    printf("\nthe same state again: %s\n", same ? "yes" : "no");
    return wrong && a1 == 3 && same && length && strstr(text, "\"B\"") ? 0 : 1;
}

int main(int count, char **args)
{
    wg_device_desc desc = {.struct_size = sizeof desc,
                           .arch = count > 1 && strcmp(args[1], "wh") == 0 ? WG_ARCH_WH : WG_ARCH_BH};
    wg_device *dev;
    wg_debug *d;
    int status = 1;
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    wg_write(dev, CODE, program, sizeof program);
    wg_core_release(dev, WG_CORE_B, CODE);
    wg_debug_desc how = {.struct_size = sizeof how, .device = dev, .history = UINT64_C(64) << 20};
    if (wg_debug_open(&how, &d) == WG_OK) {
        status = debug(d, dev);
        wg_debug_close(d);
    }
    wg_destroy(dev);
    return status;
}
