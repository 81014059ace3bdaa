/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/assumed.h"

#include <string.h>
#include "machine/packet.h"
#include "machine/request.h"
#include "noc/floorplan.h"

void wg_assumed_begin(wg_assumed *a, wg_arch_id arch, wg_profile profile)
{
    memset(a, 0, sizeof *a);
    a->arch = arch;
    a->profile = profile;
    for (unsigned i = 0; i < WG_CORES; i++)
        a->core[i].what = WG_ASSUMED_NOT;
}

static void begins(wg_assumed *a, uint64_t cycle)
{
    if (!a->active++)
        a->since = cycle > a->counted ? cycle : a->counted;
}

static void ends(wg_assumed *a, uint64_t cycle)
{
    if (--a->active || cycle <= a->since)
        return;
    a->cycles += cycle - a->since;
    a->counted = cycle;
}

static void issued(wg_assumed *a, const wg_event *e)
{
    const wg_isa_insn *insn = wg_isa_decode(a->arch, e->word);
    if (e->b < WG_AGENT_SYNC || e->b > WG_AGENT_MISC || wg_latency_source(a->arch, insn).certainty != WG_ASSUMED)
        return;
    for (unsigned i = 0; i < WG_ASSUMED_INSIDE; i++)
        if (!a->inside[i].used) {
            a->inside[i].used = true;
            a->inside[i].id = e->id;
            a->inside[i].since = e->cycle;
            a->inside[i].insn = (uint16_t)insn->id;
            a->inside[i].unit = (uint8_t)e->b;
            begins(a, e->cycle);
            return;
        }
}

/* It occupied its unit until `cycle`; at least in the cycle of its acceptance. */
static void left(wg_assumed *a, unsigned i, uint64_t cycle)
{
    uint64_t until = cycle > a->inside[i].since ? cycle : a->inside[i].since + 1;
    a->latency[a->inside[i].insn] += until - a->inside[i].since;
    a->inside[i].used = false;
    ends(a, until);
}

static void completed(wg_assumed *a, const wg_event *e)
{
    for (unsigned i = 0; i < WG_ASSUMED_INSIDE; i++)
        if (a->inside[i].used && a->inside[i].id == e->id && a->inside[i].unit == e->agent) {
            left(a, i, e->cycle);
            return;
        }
}

static bool is_assumed(const wg_assumed *a, const wg_constant *c)
{
    return c && c->source[a->arch][a->profile].certainty == WG_ASSUMED;
}

/* The assumption behind a core's wait. */
static uint8_t waits_for(const wg_assumed *a, const wg_event *e)
{
    if (e->stall.reason == WG_STALL_INSTRUCTION_FETCH)
        return is_assumed(a, wg_fetch_constant(e->agent)) ? WG_ASSUMED_FETCH : WG_ASSUMED_NOT;
    if ((e->stall.reason != WG_STALL_LOAD_RESPONSE && e->stall.reason != WG_STALL_OPERAND) || e->stall.resource > 31)
        return WG_ASSUMED_NOT;
    uint8_t path = a->path[e->agent][e->stall.resource];
    return is_assumed(a, wg_path_constant(path)) ? path : WG_ASSUMED_NOT;
}

static void goes_on(wg_assumed *a, unsigned core, uint64_t cycle)
{
    unsigned what = a->core[core].what;
    if (what == WG_ASSUMED_NOT)
        return;
    a->core[core].what = WG_ASSUMED_NOT;
    a->wait[what] += cycle - a->core[core].since;
    ends(a, cycle);
}

/* ---- traffic ------------------------------------------------------------------------------------------------- */

static void sent(wg_assumed *a, const wg_event *e)
{
    const wg_floorplan *f = wg_floorplan_of(a->arch);
    unsigned kind = e->c & 0xFF, to = (unsigned)(e->c >> 48);
    bool read = kind == WG_PACKET_READ;
    a->traffic |= read || kind == WG_PACKET_DATA ? WG_TRAFFIC_READ : WG_TRAFFIC_OTHER;
    if (kind <= WG_PACKET_ATOMIC && to < (unsigned)f->width * f->height &&
        wg_floorplan_kind(f, 0, to % f->width, to / f->width) == WG_TILE_DRAM)
        a->traffic |= read ? WG_TRAFFIC_DRAM_READ : WG_TRAFFIC_DRAM_WRITE;
}

static void requested(wg_assumed *a, const wg_event *e)
{
    if (e->c == WG_REQ_READ)
        a->path[e->agent][WG_REQUEST_RD(e->word) & 31] = WG_REQUEST_PATH(e->word);
    else if (WG_REQUEST_PATH(e->word) == WG_PATH_ETH && e->a >> 16 == 0xFFB9)
        a->traffic |= WG_TRAFFIC_ETH;
}

unsigned wg_assumed_traffic_of(const wg_constant *c)
{
    enum { DRAM = WG_TRAFFIC_DRAM_READ | WG_TRAFFIC_DRAM_WRITE, ALL = WG_TRAFFIC_READ | WG_TRAFFIC_OTHER };
    static const struct {
        const char *begin;
        unsigned traffic;
    } of[] = {{"noc.dram", WG_TRAFFIC_DRAM_WRITE},
              {"noc_read", WG_TRAFFIC_READ},
              {"noc_serve", WG_TRAFFIC_READ},
              {"noc_data", WG_TRAFFIC_READ},
              {"noc_ack", WG_TRAFFIC_OTHER},
              {"noc", ALL},
              {"dram_request", WG_TRAFFIC_DRAM_READ},
              {"dram_latency", WG_TRAFFIC_DRAM_READ},
              {"dram_write", WG_TRAFFIC_DRAM_WRITE},
              {"dram_partial", WG_TRAFFIC_DRAM_WRITE},
              {"dram_answer", WG_TRAFFIC_DRAM_WRITE},
              {"dram", DRAM},
              {"eth", WG_TRAFFIC_ETH}};
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++)
        if (strncmp(c->name, of[i].begin, strlen(of[i].begin)) == 0)
            return of[i].traffic;
    return 0;
}

const wg_constant *wg_assumed_constant_at(const wg_assumed *a, unsigned i)
{
    for (const wg_constant *c = wg_constants; c < wg_constants + wg_constant_count; c++)
        if (wg_assumed_traffic_of(c) & a->traffic && is_assumed(a, c) && !i--)
            return c;
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- */

void wg_assumed_event(wg_assumed *a, const wg_event *e)
{
    bool core = e->agent <= WG_AGENT_CORE_T2;
    if (e->kind == WG_EV_ISSUED)
        issued(a, e);
    else if (e->kind == WG_EV_COMPLETED)
        completed(a, e);
    else if (e->kind == WG_EV_NOC_SENT)
        sent(a, e);
    else if (!core)
        return;
    else if (e->kind == WG_EV_CORE_REQUEST)
        requested(a, e);
    else if (e->kind == WG_EV_STALL_END)
        goes_on(a, e->agent, e->cycle);
    else if (e->kind == WG_EV_STALL_BEGIN) {
        goes_on(a, e->agent, e->cycle);
        a->core[e->agent].what = waits_for(a, e);
        a->core[e->agent].since = e->cycle;
        if (a->core[e->agent].what != WG_ASSUMED_NOT)
            begins(a, e->cycle);
    }
}

void wg_assumed_end(wg_assumed *a, uint64_t cycle)
{
    for (unsigned i = 0; i < WG_ASSUMED_INSIDE; i++)
        if (a->inside[i].used)
            left(a, i, cycle);
    for (unsigned i = 0; i < WG_CORES; i++)
        goes_on(a, i, cycle);
}

bool wg_assumed_part_at(const wg_assumed *a, unsigned i, wg_assumed_part *part)
{
    enum { ALL = WG_I_COUNT + WG_PATH_COUNT + 1 };
    for (unsigned k = 0; k < ALL; k++) {
        uint64_t cycles = k < WG_I_COUNT ? a->latency[k] : a->wait[k - WG_I_COUNT];
        unsigned before = 0;
        for (unsigned j = 0; j < ALL && cycles; j++) {
            uint64_t other = j < WG_I_COUNT ? a->latency[j] : a->wait[j - WG_I_COUNT];
            before += other > cycles || (other == cycles && j < k);
        }
        if (!cycles || before != i)
            continue;
        part->cycles = cycles;
        if (k < WG_I_COUNT) {
            part->kind = "latency";
            part->what = wg_isa_insns[a->arch][k].name;
        } else if (k - WG_I_COUNT == WG_ASSUMED_FETCH) {
            part->kind = "fetch";
            part->what = "instruction fetches";
        } else {
            part->kind = "load";
            part->what = wg_path_constant(k - WG_I_COUNT)->what;
        }
        return true;
    }
    return false;
}
