/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled durations; see machine/what_if.h. */
#include "machine/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "arch/constants.h"
#include "machine/device.h"
#include "machine/fast.h"

/* ---- Constants ------------------------------------------------------------------------------------------------ */

/* Members of each group, by their names in constants.def. A rate is divided by the factor. */
typedef struct member {
    const char *name;
    bool rate;
} member;

enum { MEMBERS = 8 };
static const struct group {
    const char *name;
    member of[MEMBERS];
} groups[WG_COST_GROUPS] = {
    [WG_COST_NOC] = {"noc",
                     {{"noc_niu", 0},
                      {"noc_hop", 0},
                      {"noc_reserve", 0},
                      {"noc_read", 0},
                      {"noc_serve", 0},
                      {"noc_data", 0},
                      {"noc_ack", 0}}},
    [WG_COST_DRAM] = {"dram",
                      {{"dram_rate", 1},
                       {"dram_write_rate", 1},
                       {"dram_latency", 0},
                       {"dram_request", 0},
                       {"dram_partial", 0},
                       {"dram_answer", 0}}},
    [WG_COST_L1] = {"l1", {{"path[L1]", 0}, {"atomic_extra", 0}, {"narrow_write", 0}}},
    [WG_COST_SYNC] = {"sync",
                      {{"path[SYNC]", 0}, {"sync_extra", 0}, {"path[MAILBOX_READ]", 0}, {"path[MAILBOX_WRITE]", 0}}},
    [WG_COST_GPR] = {"gpr", {{"path[GPR]", 0}}},
    [WG_COST_CONFIG] = {"config", {{"path[CONFIG]", 0}}},
    [WG_COST_REGISTERS] =
        {"registers",
         {{"path[TILE_REGS]", 0}, {"path[TDMA]", 0}, {"path[NIU0]", 0}, {"path[NIU1]", 0}, {"path[OVERLAY]", 0}}},
    [WG_COST_FETCH] = {"fetch",
                       {{"tensix.core[WG_CORE_B].fetch_back", 0},
                        {"tensix.core[WG_CORE_NC].fetch_back", 0},
                        {"tensix.core[WG_CORE_T0].fetch_back", 0},
                        {"tensix.core[WG_CORE_T1].fetch_back", 0},
                        {"tensix.core[WG_CORE_T2].fetch_back", 0}}},
    [WG_COST_BRANCH] = {"branch", {{"mispredict_bubble", 0}}},
    [WG_COST_CLEAR] = {"clear", {{"ram_clear_cycles", 0}}},
    [WG_COST_ETH] = {"eth", {{"eth_latency", 0}, {"eth_rate", 1}}},
};

const char *wg_cost_group_name(unsigned group) { return group < WG_COST_GROUPS ? groups[group].name : NULL; }

static uint64_t scale(uint64_t cycles, uint32_t factor)
{
    return (cycles * factor + WG_FACTOR_ONE / 2) / WG_FACTOR_ONE;
}

static uint32_t scale_constant(uint32_t value, uint32_t factor, bool rate, unsigned width)
{
    const uint64_t most = width == 1 ? UINT8_MAX : UINT16_MAX;
    uint64_t to = rate ? factor ? (uint64_t)value * WG_FACTOR_ONE / factor : most : scale(value, factor);
    if (value && !to) /* a phase takes a cycle; 0 may have a special meaning */
        to = 1;
    return (uint32_t)(to < most ? to : most);
}

static void scale_group(wg_arch *arch, wg_profile profile, const struct group *g, uint32_t factor)
{
    for (unsigned m = 0; m < MEMBERS && g->of[m].name; m++)
        for (unsigned i = 0; i < wg_constant_count; i++) {
            const wg_constant *c = &wg_constants[i];
            char *at = (c->timing ? (char *)&arch->timing[profile] : (char *)arch) + c->offset;
            for (unsigned k = 0; strcmp(c->name, g->of[m].name) == 0 && k < c->bytes / c->width; k++, at += c->width) {
                uint32_t value = 0;
                memcpy(&value, at, c->width);
                value = scale_constant(value, factor, g->of[m].rate, c->width);
                memcpy(at, &value, c->width);
            }
        }
}

static bool scales_constants(const wg_what_if *w)
{
    for (unsigned i = 0; i < WG_COST_GROUPS; i++)
        if (w->group[i] != WG_FACTOR_ONE)
            return true;
    return false;
}

static bool scales_agents(const wg_what_if *w)
{
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (w->agent[i] != WG_FACTOR_ONE)
            return true;
    return w->places != 0;
}

static void use_arch(wg_device *dev, const wg_arch *arch)
{
    wg_tile *t = dev->tile;
    t->spec = t->spec->kind == WG_TILE_ETH ? &arch->ethernet : &arch->tensix;
    t->arch = arch;
    t->timing = &arch->timing[dev->profile];
    dev->arch = arch;
}

wg_arch *wg_what_if_arch(const wg_arch *unscaled, wg_profile profile, const wg_what_if *w, bool *ok)
{
    wg_arch *own = w && scales_constants(w) ? malloc(sizeof *own) : NULL;
    *ok = own || !w || !scales_constants(w);
    if (!own)
        return NULL;
    *own = *unscaled;
    for (unsigned i = 0; i < WG_COST_GROUPS; i++)
        if (w->group[i] != WG_FACTOR_ONE)
            scale_group(own, profile, &groups[i], w->group[i]);
    return own;
}

wg_status wg_device_what_if(wg_device *dev, const wg_what_if *w)
{
    bool ok;
    const wg_arch *unscaled = wg_arch_of(dev->arch->id);
    wg_arch *own = wg_what_if_arch(unscaled, dev->profile, w, &ok);
    if (!ok)
        return wg_fail(dev, WG_ERR_NO_MEMORY, "out of memory");
    wg_act(dev);
    use_arch(dev, own ? own : unscaled);
    free(dev->scaled_arch);
    dev->scaled_arch = own;
    dev->tile->what_if = w && scales_agents(w) ? w : NULL;
    memset(dev->tile->carry, 0, sizeof dev->tile->carry);
    wg_fast_update(dev->tile);
    wg_poll_reset(dev->tile);
    return WG_OK;
}

/* ---- Other instructions ---------------------------------------------------------------------------------------- */

void wg_device_rewrite(wg_device *dev, const wg_rewrite *r)
{
    wg_act(dev);
    dev->tile->rewrite = r;
    wg_fast_update(dev->tile);
}

/* ---- Units and cores ------------------------------------------------------------------------------------------- */

void wg_what_if_begin(wg_what_if *w)
{
    *w = (wg_what_if){0};
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        w->agent[i] = WG_FACTOR_ONE;
    for (unsigned i = 0; i < WG_COST_GROUPS; i++)
        w->group[i] = WG_FACTOR_ONE;
}

int wg_scaled_pc_order(const void *left, const void *right)
{
    const wg_scaled_pc *a = left, *b = right;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    return WG_IS_HOST_PC(a->pc) ? 0 : a->core - b->core;
}

const char *wg_cost_fixed(unsigned agent)
{
    switch (agent) {
    case WG_AGENT_UNPACK0:
    case WG_AGENT_UNPACK1:
    case WG_AGENT_MATRIX:
    case WG_AGENT_VECTOR:
    case WG_AGENT_PACK:
    case WG_AGENT_SCALAR: return NULL;
    case WG_AGENT_MOVER: return "moves 16 bytes per cycle as L1's ports allow";
    case WG_AGENT_CONFIG: return "is a pipeline of fixed stages, one cycle each";
    default:
        if (agent < WG_CORES)
            return NULL;
        return "takes one cycle per instruction";
    }
}

static const wg_scaled_pc *place_of(const wg_what_if *w, unsigned core, uint32_t pc)
{
    const wg_scaled_pc key = {.pc = pc, .core = (uint8_t)core};
    return w->places ? bsearch(&key, w->place, w->places, sizeof key, wg_scaled_pc_order) : NULL;
}

uint32_t wg_takes_scaled(const wg_what_if *w, unsigned agent, unsigned core, uint32_t pc, uint32_t cycles,
                         uint32_t least)
{
    const wg_scaled_pc *found = place_of(w, core, pc);
    uint64_t to = scale(cycles, w->agent[agent]);
    if (found)
        to = scale(to, found->factor);
    if (to < least)
        to = cycles < least ? cycles : least;
    return to < UINT32_MAX ? (uint32_t)to : UINT32_MAX;
}

/* In thousandths of a cycle. */
static int64_t cost_of(const wg_what_if *w, unsigned agent, unsigned core, uint32_t pc, uint32_t cycles)
{
    const wg_scaled_pc *found = place_of(w, core, pc);
    const uint64_t cost = (uint64_t)cycles * w->agent[agent];
    return (int64_t)(found ? scale(cost, found->factor) : cost);
}

uint32_t wg_takes_carried(const wg_what_if *w, wg_carry *carry, unsigned agent, unsigned core, uint32_t pc,
                          uint32_t cycles, uint32_t least)
{
    enum { DEBT_MOST = 8 * WG_FACTOR_ONE }; /* a wait that cannot be shortened is not made up for much later */
    const int64_t cost = cost_of(w, agent, core, pc, cycles);
    if (cost == (int64_t)cycles * WG_FACTOR_ONE)
        return cycles;
    int64_t due = cost + carry->rest, to = due > 0 ? due / WG_FACTOR_ONE : 0;
    if (to < least)
        to = cycles < least ? cycles : least;
    due -= to * WG_FACTOR_ONE;
    carry->rest = (int32_t)(due > -DEBT_MOST ? due : -DEBT_MOST);
    return (uint32_t)to;
}

uint32_t wg_result_carried(const wg_what_if *w, const wg_carry *carry, unsigned core, uint32_t pc, uint32_t cycles)
{
    wg_carry left = {.rest = carry->rest > 0 ? carry->rest : 0};
    return wg_takes_carried(w, &left, core, core, pc, cycles, 0);
}
