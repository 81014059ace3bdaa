/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile: all of its units by value, and the schedule that drives them.
 *
 *      B  NC  T0  T1  T2         five baby cores (src/riscv), each with RAM, caches, load/store unit
 *      |   |   |   |   |
 *   ---+---+---+---+---+---      requests to the regions (src/tile)
 *      |       |   |   |
 *      |     FIFO FIFO FIFO      three frontends (src/frontend)
 *      |     MOP  MOP  MOP
 *      +-mux-+-mux-+-mux
 *           Replay … gate
 *      Sync Unpack Matrix Pack Vector Scalar Config Mover Misc   nine unit kinds (src/backend)
 *
 * Everything below `env` is state: a snapshot copies it. No pointers in there, only indices.
 */
#ifndef WG_TILE_H
#define WG_TILE_H

#include "arch/arch.h"
#include "machine/units_state.h"
#include "machine/agents.h"
#include "machine/poll.h"
#include "machine/frontend.h"
#include "machine/niu.h"
#include "machine/regs.h"
#include "machine/core.h"
#include "machine/regions.h"
#include "machine/rewrite.h"
#include "machine/what_if.h"

#ifndef WG_EVENTS
#define WG_EVENTS 1 /* 0 compiles the events out, to measure what they cost */
#endif

typedef struct wg_tile wg_tile;
struct wg_device;

enum { WG_SHORTCUTS_MOST = 16 }; /* shortcuts */
enum { WG_ROWS_FOUND = 4 };      /* rows of the address map that a core used last */

struct wg_tile {
    /* Environment: set at creation, not part of a snapshot. */
    struct wg_device *dev;
    const wg_arch *arch;
    const wg_tile_spec *spec; /* what the tile is made of */
    const wg_timing *timing;
    const wg_what_if *what_if; /* scaled durations; NULL: none */
    const wg_rewrite *rewrite; /* an instruction that expanders make otherwise; NULL: none */
    /* Of scaled cores; of gates, for instructions of the Matrix Unit; of cores' stores that hold L1. */
    wg_carry carry[2 * WG_CORES + WG_THREADS];
    uint8_t passed_free,
        passes_free;  /* threads whose head passed its gate in no time; whose next head may pass in the same cycle */
    uint64_t watched; /* event kinds that are observed */
    uint64_t limit;   /* the run ends before this cycle; until then nobody outside reads L1 */
    uint64_t ahead_limit; /* cores run ahead with private work up to this cycle */
    uint64_t horizon;     /* everything that arrives from outside before this cycle is known */
    bool lockstep;
    uint32_t fast, fast_wanted; /* shortcuts that may be taken now, and in general (machine/fast.h) */
    uint64_t fast_uses[WG_SHORTCUTS_MOST],
        fast_cycles[WG_SHORTCUTS_MOST]; /* how often each was taken, and for how long */
    bool l1_watched; /* the run ends when a word of L1 has a value: no write may run ahead of its cycle */
    uint8_t simd;    /* wg_simd: the host vector code in use */
    uint8_t index;
    uint8_t *l1;              /* spec->l1_bytes */
    wg_noc_box *box;          /* packets of this tile; part of a snapshot, like L1 */
    wg_noc_box *const *boxes; /* of all tiles of the chip; NULL: the tile is alone */
    struct wg_eth_link *link; /* of an Ethernet tile, and part of a snapshot; NULL: it has none */
    wg_poll poll;
    /* State of the cores' shortcuts; the plain machine does not use it. */
    uint8_t lines_wait[WG_CORES]; /* instructions before whole lines are tried again (fast/ahead.c) */
    uint32_t
        l1_turns; /* since l1_turns_from: requests of cores that L1 processed, and ticks of cores with a queued store
                               to L1. They decide whether a group of cores is worthwhile (fast/core_groups.c). */
    uint64_t l1_turns_from;
    uint32_t l1_undos; /* entries of l1_undo: lines written by a core that runs ahead through L1 */
    wg_l1_undo l1_undo[WG_L1_UNDO];
    struct {
        uint64_t port_free, emitted, bank_free[WG_L1_MAX_BANKS];
        wg_request_queue queue;
        uint32_t active;
        uint8_t turn;
    } l1_saved;                                                     /* the rest of that core's checkpoint of L1 */
    const struct wg_map_row *row_found[WG_CORES][2][WG_ROWS_FOUND]; /* of the address map, for wg_tile_route() */
    const wg_delay *delay; /* the delays of this run, in order; NULL: the seed draws them */
    size_t delays;
    wg_insn acting; /* the instruction that touches are attributed to, while they are observed (report/touch.h) */
    uint8_t acting_agent;
    uint64_t expander_stalled[WG_THREADS]
                             [2]; /* since when, for observers: MOP Expander, Replay Expander; 0: it is not */
    wg_unconsumed unconsumed[WG_CORES];
    uint16_t
        unmet[WG_THREADS]; /* for observers: what the latched wait is still for, see WG_EV_UNMET; all ones: anything */

    /* State. */
    wg_schedule sched;
    uint64_t seed;
    bool perturbed; /* by a seed or by delays */
    wg_core core[WG_CORES];
    wg_frontend frontend[WG_THREADS];
    wg_backend backend;
    _Alignas(64) wg_regs regs; /* on whole lines of the host */
    wg_regions regions;
};
#define WG_TILE_STATE_OFFSET offsetof(wg_tile, sched)

/* Queries of a core to its tile: is its branch predictor off (backend configuration, DISABLE_RISC_BP: word 2 of both
 * architectures), and may its prefetcher request this line (src/tile/prefetch.c)? */
static inline bool wg_tile_predictor_off(const wg_tile *t, unsigned core)
{
    return t->regs.config.bank[0][2] & t->spec->core[core].predictor_off;
}
bool wg_tile_may_prefetch(const wg_tile *t, unsigned core, uint32_t line);
/* As wg_address_route(), for accesses that happen. */
wg_route wg_tile_route(wg_tile *t, unsigned core, uint32_t address, bool is_write);
/* May the core emit another write on this path? Decided here: a path holds as many as it has stages. */
static inline bool wg_memory_room(const wg_tile *t, unsigned core, unsigned path, unsigned index)
{
    return t->regions.memory.queue[core][wg_queue_of(path, index)].count <= t->timing->path[path].travel;
}

/* How long a core's load or atomic travels there, or back. */
static inline uint32_t wg_load_travels(wg_tile *t, unsigned core, uint32_t pc, uint32_t cycles)
{
    return __builtin_expect(t->what_if != NULL, 0)
               ? wg_takes_carried(t->what_if, &t->carry[core], core, core, pc, cycles, 1)
               : cycles;
}

/* One cycle's phases for all agents that are due (time.md rule 2). */
void wg_tile_cycle(wg_tile *t);
/* The same, and further cycles before `end` while only units and threads have something to do. */
void wg_tile_cycles(wg_tile *t, uint64_t end);
/* The earliest cycle at which any agent could act; WG_NEVER if none can. */
uint64_t wg_tile_next(const wg_tile *t);
/* Is an agent other than cores and their requests due in this cycle? False negatives are possible. */
static inline bool wg_tile_others_due(const wg_tile *t)
{
    const wg_schedule *s = &t->sched;
    uint32_t others = s->soon & ~(WG_SCHED_CORES | WG_AGENT_BIT(WG_AGENT_REGIONS));
    return others && s->next[__builtin_ctz(others)] <= s->now;
}
/* Changes when an instruction moves in a frontend, or a request of a core is processed. */
uint64_t wg_tile_progress(const wg_tile *t);
void wg_tile_reset(wg_tile *t); /* power-on, of a tile whose state is zero */
/* Zeroed memory for a tile, released with free(); NULL: out of memory. */
wg_tile *wg_tile_new(void);

/* Perturbation (time.md rule 13): extra cycles for this agent's event number `event`; 0 in the unperturbed run. */
uint32_t wg_perturb_delay(wg_tile *t, wg_site site, unsigned agent, uint64_t event);
static inline uint32_t wg_perturb(wg_tile *t, wg_site site, unsigned agent, uint64_t event)
{
    return __builtin_expect(t->perturbed, 0) ? wg_perturb_delay(t, site, agent, event) : 0;
}
/* The event number of an instruction in a unit, where the instructions of three threads meet. */
static inline uint64_t wg_unit_event(const wg_insn *insn) { return insn->id << 2 | insn->thread; }

/* How long an instruction takes in its unit: `cycles`, or what they are scaled to (what_if.h), but at least `least`. */
static inline uint32_t wg_takes(const wg_tile *t, unsigned agent, const wg_insn *insn, uint32_t cycles, uint32_t least)
{
    return __builtin_expect(t->what_if != NULL, 0)
               ? wg_takes_scaled(t->what_if, agent, insn->source, insn->pc, cycles, least)
               : cycles;
}

#endif
