/* SPDX-License-Identifier: Apache-2.0 */
/* The table of constants.def; see constants.h. */
#include "arch/constants.h"

#include <stddef.h>
#include <string.h>

#define DOCUMENTED \
    { \
        WG_DOCUMENTED, 0 \
    }
#define MEASURED(n) \
    { \
        WG_MEASURED, n \
    }
#define INFERRED(n) \
    { \
        WG_INFERRED, n \
    }
#define ASSUMED \
    { \
        WG_ASSUMED, 0 \
    }

#define TIMING(member, text, bh0, bh1, wh0, wh1) \
    {#member, \
     text, \
     offsetof(wg_timing, member), \
     sizeof((wg_timing *)0)->member, \
     sizeof((wg_timing *)0)->member, \
     true, \
     {[WG_ARCH_BH] = {[WG_PROFILE_DOCUMENTED] = bh0, [WG_PROFILE_SILICON] = bh1}, \
      [WG_ARCH_WH] = {[WG_PROFILE_DOCUMENTED] = wh0, [WG_PROFILE_SILICON] = wh1}}},
#define PATH(id, text, bh, wh) \
    {"path[" #id "]", \
     text, \
     offsetof(wg_timing, path[WG_PATH_##id]), \
     sizeof(wg_path_timing), \
     1, \
     true, \
     {[WG_ARCH_BH] = {bh, bh}, [WG_ARCH_WH] = {wh, wh}}},
#define SHAPE(member, text, bh, wh) \
    {#member, \
     text, \
     offsetof(wg_arch, member), \
     sizeof((wg_arch *)0)->member, \
     sizeof((wg_arch *)0)->member, \
     false, \
     {[WG_ARCH_BH] = {bh, bh}, [WG_ARCH_WH] = {wh, wh}}},
#define BYTES(member, text, bh, wh) \
    {#member, \
     text, \
     offsetof(wg_arch, member), \
     sizeof((wg_arch *)0)->member, \
     1, \
     false, \
     {[WG_ARCH_BH] = {bh, bh}, [WG_ARCH_WH] = {wh, wh}}},
#define LATENCY(insn, bh, wh)
const wg_constant wg_constants[] = {
#include "arch/constants.def"
};
const unsigned wg_constant_count = sizeof wg_constants / sizeof *wg_constants;

#define UNIT_TIME(name, value, what, source) {#name, what, value, source},
const wg_unit_time wg_unit_times[] = {
#include "arch/unit_times.def"
};
#undef UNIT_TIME
const unsigned wg_unit_time_count = sizeof wg_unit_times / sizeof *wg_unit_times;

#define TIMING(...)
#define PATH(...)
#define SHAPE(...)
#define BYTES(...)
#define LATENCY(insn, bh, wh) {WG_I_##insn, {[WG_ARCH_BH] = bh, [WG_ARCH_WH] = wh}},
static const struct latency {
    uint16_t insn;
    wg_basis source[2];
} latencies[] = {
#include "arch/constants.def"
};

uint32_t wg_constant_value(const wg_constant *c, wg_arch_id arch, wg_profile profile, unsigned i)
{
    const wg_arch *a = wg_arch_of(arch);
    const char *from = (c->timing ? (const char *)&a->timing[profile] : (const char *)a) + c->offset + i * c->width;
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    memcpy(&byte, from, 1);
    if (c->width == 1)
        return byte;
    memcpy(&half, from, 2);
    if (c->width == 2)
        return half;
    memcpy(&word, from, 4);
    return word;
}

static const wg_constant *find(bool timing, size_t offset)
{
    for (const wg_constant *c = wg_constants; c < wg_constants + wg_constant_count; c++)
        if (c->timing == timing && c->offset == offset)
            return c;
    return NULL;
}

const wg_constant *wg_path_constant(unsigned path)
{
    return find(true, offsetof(wg_timing, path) + path * sizeof(wg_path_timing));
}

const wg_constant *wg_fetch_constant(unsigned core)
{
    return find(false, offsetof(wg_arch, tensix.core[0].fetch_back) + core * sizeof(wg_core_spec));
}

wg_basis wg_latency_source(wg_arch_id arch, const wg_isa_insn *insn)
{
    for (unsigned i = 0; i < sizeof latencies / sizeof *latencies; i++)
        if (latencies[i].insn == insn->id)
            return latencies[i].source[arch];
    return insn->page ? (wg_basis)DOCUMENTED : (wg_basis)ASSUMED;
}
