/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensix instructions pushed singly by one to three threads: tensixbench, phase A. `clean`: address modifiers as after
 * reset; `left`: thread 1's are those that a matrix product left behind, which advance to the next block of Dst.
 */
#include "probe.h"

#define TT(word) ((uint32_t)(word) << 2 | (uint32_t)(word) >> 30)
#define PUSH(label, of) \
    { \
        .name = label, .unroll = 64, .times = 64, .words = 1, .word = { TT(of) } \
    }

static const probe instructions[] = {
    {.name = "loop_overhead", .unroll = 64},
    PUSH("NOP", PUSH_NOP),
    PUSH("DMANOP", 0x60000000u),
    PUSH("SFPNOP", PUSH_SFPNOP),
    PUSH("SFPMOV", 0x7C000000u | 1 << 4),
    PUSH("SFPADD", 0x85000000u | 1 << 12 | 2 << 8 | 3 << 4),
    PUSH("SFPMUL", 0x86000000u | 1 << 12 | 2 << 8 | 3 << 4),
    PUSH("SFPMAD", 0x84000000u | 1 << 12 | 2 << 8 | 3 << 4),
    PUSH("SFPABS", 0x7D000000u | 1 << 4),
    PUSH("SETDMAREG", PUSH_SETDMAREG),
    PUSH("ADDDMAREG", PUSH_ADDDMAREG),
    PUSH("MULDMAREG", 0x5A000000u | 1 << 23 | 61 << 12 | 1 << 6 | 60),
    PUSH("SHIFTDMAREG", 0x5C000000u | 1 << 23 | 61 << 12 | 1 << 6 | 60),
    PUSH("CMPDMAREG", 0x5D000000u | 1 << 23 | 62 << 12 | 1 << 6 | 60),
    PUSH("RDCFG", PUSH_RDCFG),
    PUSH("SETRWC", 0x37000000u),
    PUSH("INCRWC", 0x38000000u),
    {.name = "MVMUL", .unroll = 64, .times = 64, .words = 1, .wants_sources = true, .word = {TT(PUSH_MVMUL)}},
    PUSH("ELWADD", PUSH_ELWADD),
    PUSH("ELWMUL", PUSH_ELWMUL),
};

static void left(wg_device *dev, wg_arch_id arch)
{
    const uint32_t addr_mod_dst_sec0 = arch == WG_ARCH_WH ? 23 : 28;
    wg_poke(dev, WG_SPACE_THREAD_CONFIG, 1 << 16 | addr_mod_dst_sec0, 8);
}

static const probe_phase phases[] = {
    {.name = "clean", .group = "tensix", .probes = instructions, .count = sizeof instructions / sizeof *instructions},
    {.name = "left",
     .group = "tensix",
     .probes = instructions,
     .count = sizeof instructions / sizeof *instructions,
     .prepare = left},
};

void wg_silicon_tensix(struct wg_silicon *s)
{
    probe_rows(s, &(probe_set){.file = "tensix.csv", .phases = phases, .count = sizeof phases / sizeof *phases});
}
