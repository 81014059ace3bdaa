/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baby core: registers, pipeline timing, caches, load/store unit.
 *
 *     icache ── frontend ── EX1 ──┬── EX2 ──────────────┬── retire queue (8, in order)
 *       │       (predictor)       └── load/store unit ──┘
 *      L1                              store queue (4), loads in flight (4), L0 data cache
 *                                            │
 *                                     own RAM, or a request to a region (machine/memory.h)
 *
 * An instruction takes effect when it enters EX1. Everything that others can see happens in its own cycle. A shortcut lets
 * private work (registers, own RAM, cache hits) run ahead of the common clock (fast/ahead.c). The state it changes is in
 * `run`; wg_core_sync() rolls it back.
 *
 * Facts: BabyRISCV/README.md, MemoryOrdering.md, CSRs.md, InstructionCache.md of each architecture;
 * time.md rules 8 to 11.
 */
#ifndef WG_CORE_H
#define WG_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/l1.h"
#include "machine/request.h"

struct wg_tile;

enum {
    WG_REG_F = 32,    /* f0 in wg_core_run.r; x0 is 0 */
    WG_REG_SINK = 64, /* where writes to x0 go */
    WG_STORE_QUEUE = 4,
    WG_LOADS = 4,
    WG_RETIRE_QUEUE = 8,
    WG_RETIRE_RING = 16, /* retired instructions are remembered a little longer */
    WG_L0_LINES = 4,
    WG_LINE_OPS = 4,
    WG_ICACHE_LINES = 256,
    WG_TARGETS = 16,
    WG_BRANCHES = 256,
    WG_RETURNS = 8,
    WG_RAM_MAX = 8192,
    WG_UNDO = 1024,
    WG_FETCHES = 2,
    WG_BREAKPOINTS = 8,
    WG_L1_TURNS = 24
};

/* A predecoded instruction. */
typedef struct wg_op {
    uint8_t code;         /* wg_op_code (riscv/decode.h) */
    uint8_t rd, rs1, rs2; /* into wg_core_run.r; unused ones are 0, a discarded rd is WG_REG_SINK */
    uint32_t imm;
    uint32_t word;
    uint8_t at;         /* cycles from the line's first instruction entering EX1 to this one, at best */
    uint8_t waited_for; /* the next instruction of the line reads rd */
    uint8_t rs3;
    uint8_t spare;
} wg_op;

typedef struct wg_icache_line {
    uint32_t tag;       /* line address | WG_LINE_VALID, | WG_LINE_STALE once L1 differs; 0: empty */
    uint32_t checked;   /* wg_core.epoch at which the following lines were known to be present */
    uint64_t lag_dests; /* after these destinations, with the lag and first instruction of lag_key, */
    uint8_t lag_key;    /* nothing in the line stalls; 0: unknown */
    uint8_t set, way;
    uint16_t next; /* byte offset, from the first line, of the line found after this one */
    wg_op op[WG_LINE_OPS + 1];
} wg_icache_line;
enum { WG_LINE_VALID = 1, WG_LINE_STALE = 2 };
enum { WG_IRAM_LINES = 128 }; /* predecoded lines of NC's instruction RAM, after the cache's own */

/* An entry of the store queue. For L1, `data` is the 16-byte line and `mask` says which bytes. */
typedef struct wg_store {
    uint64_t first;   /* the cycle it entered the queue */
    uint64_t entered; /* the cycle in which the last store merged into it */
    uint32_t address; /* of the last store merged into it */
    uint32_t pc;
    uint32_t data[4];
    uint16_t mask; /* L1: bytes of the line */
    uint8_t path, bytes, index;
} wg_store;

/* A load or atomic, from its emission to the cycle in which its value is usable. */
typedef struct wg_load {
    uint64_t done;     /* cycle from which EX1 can use the value; WG_NEVER: not processed yet */
    uint64_t earliest; /* it cannot complete before this cycle */
    uint64_t number;   /* of the instruction */
    uint32_t address, pc;
    uint32_t line[4];          /* L1: the data that will fill the L0 line */
    uint8_t rd;                /* WG_REG_SINK once a later instruction has overwritten the register */
    uint8_t size, path, index; /* size: funct3 of the load */
    bool used, fills, stale;
    bool flushed; /* the L0 line must not be filled: own store, fence or atomic since */
} wg_load;

typedef struct wg_l0_line {
    uint32_t tag; /* line address | 1; 0: empty */
    uint32_t data[4];
    bool stale; /* another agent has changed these bytes in L1 */
} wg_l0_line;

/* A memory instruction that waits in EX1 for the load/store unit. */
typedef struct wg_ex1 {
    uint64_t entered;
    uint64_t number;
    uint32_t address, pc;
    uint32_t data[4];
    uint8_t kind; /* wg_ex1_kind; 0: none */
    uint8_t size, rd, op, path, bytes, index;
} wg_ex1;
typedef enum wg_ex1_kind { WG_EX1_NONE, WG_EX1_LOAD, WG_EX1_STORE, WG_EX1_ATOMIC, WG_EX1_FENCE } wg_ex1_kind;

typedef enum wg_halt {
    WG_RUNNING,
    WG_IN_RESET,
    WG_PARKED_BREAK, /* ebreak or ecall */
    WG_PARKED_LOOP,  /* a branch to itself */
    WG_HUNG,         /* an access that hardware never completes */
    WG_HALTED        /* by a debugger */
} wg_halt;

typedef struct wg_fetch {
    uint64_t emit_at; /* WG_NEVER once emitted */
    uint64_t ready;   /* usable in EX1 from; WG_NEVER: not processed yet */
    uint64_t earliest;
    uint32_t line;
    uint32_t word[WG_LINE_OPS];
    bool used, stale, prefetch;
} wg_fetch;

/* All state that run-ahead can change, except what the undo log covers. */
typedef struct wg_core_run {
    uint32_t r[WG_REG_SINK + 1];
    uint32_t pc;
    uint64_t at;       /* earliest cycle for the next instruction to enter EX1 */
    uint64_t refilled; /* `at`, if the pipeline refills until then: after a misprediction or an interrupt */
    uint64_t last;     /* cycle in which the newest instruction entered EX1 */
    uint64_t stored;   /* polling: when a store entered EX1 last */
    uint64_t number;   /* instructions that have entered EX1 since reset, plus WG_RETIRE_QUEUE */
    uint64_t pushes;   /* further instructions that were fused with another */
    union {
        uint32_t hindered; /* is any of these set? */
        struct {
            uint8_t halt;  /* wg_halt */
            uint8_t loads; /* entries of load[] in use */
            bool ordered;  /* the newest instruction must retire before another enters EX1 */
        };
    };
    uint8_t late; /* register whose value is ready at late_at; 0: none */
    uint8_t lag;  /* unless queued: cycles from the newest one's entry into EX1 to its retirement; 0: at once */
    uint8_t sq_head, sq_count;
    bool queued; /* retired[], filled[] and dests hold: instructions are issued one by one */
    uint8_t l0_victim, returns_top;
    uint64_t late_at;
    uint64_t mux_free;       /* first cycle in which the store queue may use the memory mux */
    uint64_t wait_e, wait_m; /* the load that entered EX1 in wait_e enters the load/store unit no sooner than wait_m */
    uint32_t l0_requests;    /* through the L0 data cache */
    uint64_t retired[WG_RETIRE_RING]; /* by number % 16: cycle in which it leaves; WG_NEVER: unknown */
    uint64_t filled[WG_RETIRE_RING];  /* by number % 16: cycle from which its value can be forwarded */
    uint64_t dests;                   /* destination registers of the last eight, the newest in the low byte */
    wg_ex1 ex1;
    wg_load load[WG_LOADS];
    wg_store sq[WG_STORE_QUEUE];
    wg_l0_line l0[WG_L0_LINES];
    wg_fetch fetch[WG_FETCHES];
    uint32_t returns[WG_RETURNS];
    uint8_t lru[WG_ICACHE_LINES / 2]; /* per set: the way used last */
} wg_core_run;

typedef struct wg_undo {
    uint32_t where; /* own RAM offset, or a table's index with WG_UNDO_* on top */
    uint32_t old;
} wg_undo;

typedef struct wg_csrs {
    uint32_t cfg0, cfg1, pmacfg[2], hwa_mask, hwa_cfg, vgsrc, fcsr, vxsat, vxrm, vl, vtype, vlenb;
    uint32_t mcountinhibit, mhpmevent[2], tt_status[10], restore_pc;
    uint64_t mhpmcounter[2];
    uint64_t cycle_offset, instret_offset; /* counter = cycle or number + offset */
} wg_csrs;

/*
 * The state of shortcuts (saved to l1_until, undo) is here because it describes the core; the plain machine never reads
 * it.
 */
typedef struct wg_core {
    wg_core_run run;
    wg_core_run saved; /* the checkpoint of a run-ahead, as of saved_at */
    uint64_t saved_at; /* WG_NEVER: the core has not run ahead */
    uint64_t reached;  /* since saved_at, the core has acted for an instruction that may enter EX1 in this cycle */
    uint32_t saved_fcsr;
    uint64_t stop;      /* the present run-ahead ends before this cycle, and so do its effects on later ones */
    uint64_t l1_until;  /* if l1_ahead: the cycle up to which it ran ahead */
    uint64_t ram_ready; /* own RAM is being zeroed before this cycle */
    uint32_t undo_count;
    uint32_t epoch; /* counts changes of the instruction cache */
    wg_csrs csr;
    uint32_t v[32][4];
    bool acted; /* the last instruction cannot be rolled back */
    union {
        uint32_t special; /* is any of these set? */
        struct {
            bool l1_ahead; /* the run-ahead went through L1: a rollback restores L1, too (wg_tile.l1_saved, l1_undo) */
            bool stepping; /* a debugger single-steps it */
            bool slow;     /* slow execution mode of the debug interface */
            uint8_t breakpoints; /* bit i: breakpoint or memory watchpoint i is set */
        };
    };
    uint8_t watch_reads, watch_writes; /* … those that are watchpoints, for loads and for stores */
    uint8_t breakpoint_hits;           /* those that have just been hit */
    uint32_t breakpoint[WG_BREAKPOINTS];
    bool in_interrupt;
    uint32_t interrupt_pc; /* where mret goes */
    wg_stall stall;        /* last reported */
    uint64_t stall_since;
    wg_undo undo[WG_UNDO];
    uint32_t targets[WG_TARGETS][2]; /* pc, target */
    uint32_t branches[WG_BRANCHES];  /* pc | 1, and | 2 if it was taken; 0: empty */
    uint8_t ram[WG_RAM_MAX];
    wg_icache_line icache[WG_ICACHE_LINES];
} wg_core;

/* For observers. Of touches: registers loaded from outside the core and not used since. */
typedef struct wg_unconsumed {
    uint64_t loaded;                /* of instructions: registers last written by a load or atomic; bit per wg_op.rd */
    uint64_t x, f;                  /* bit per register */
    uint64_t number[64];            /* of the load */
    uint32_t address[64], word[64]; /* of the load: as in WG_EV_CORE_REQUEST */
} wg_unconsumed;

void wg_core_reset(struct wg_tile *t, unsigned core);              /* power-on: held in soft reset */
void wg_core_start(struct wg_tile *t, unsigned core, uint32_t pc); /* soft reset released (phase A) */
void wg_core_stop(struct wg_tile *t, unsigned core);               /* soft reset asserted (phase A) */
/* Phases I and J for the cores in `due` (bit i: core i), setting sched.phase. The engine has taken their wake-ups. */
void wg_cores_tick(struct wg_tile *t, unsigned due);
/* A region processed this core's request in the current cycle; value for reads and atomics. */
void wg_core_respond(struct wg_tile *t, const wg_request *req, const uint32_t value[4]);
/* Something that the load/store unit may wait for has changed (a queue has room, Auto TTSync released it). */
void wg_core_wake(struct wg_tile *t, unsigned core);

/*
 * Outside effects. Each first brings a core that ran ahead to exactly the current cycle (time.md rule 9); wg_core_sync() does
 * only that, for mere reads.
 */
void wg_core_sync(struct wg_tile *t, unsigned core);
uint32_t wg_core_pc(struct wg_tile *t, unsigned core); /* pc snapshot */
void wg_core_invalidate_icache(struct wg_tile *t, unsigned core);
/* The core's instruction RAM has changed. */
void wg_core_iram_changed(struct wg_tile *t, unsigned core);
void wg_core_interrupt(struct wg_tile *t, unsigned core, uint32_t handler);
void wg_core_halt(struct wg_tile *t, unsigned core);
void wg_core_resume(struct wg_tile *t, unsigned core);          /* after a halt, ebreak or ecall */
void wg_core_step(struct wg_tile *t, unsigned core);            /* … for one instruction */
void wg_core_slow(struct wg_tile *t, unsigned core, bool slow); /* one instruction at a time, without forwarding */
/* The core halts after an instruction at one of these addresses, or, for those in `reads` and `writes`, after one that loads
 * from or stores to it; `address` may be NULL if none is enabled. */
void wg_core_breakpoints(struct wg_tile *t, unsigned core, uint8_t enabled, uint8_t reads, uint8_t writes,
                         const uint32_t address[WG_BREAKPOINTS]);
/* Own RAM by its slow address, or from the host. False if not all bytes exist. */
bool wg_core_ram_read(struct wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, void *to);
bool wg_core_ram_write(struct wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, const void *from);
/* The 16-byte line at `line` was written, which cores in the mask may hold in a cache; `writer`: a core, or WG_CORES. */
void wg_core_l1_changed(struct wg_tile *t, unsigned cores, uint32_t line, unsigned writer);

/* Converts to a normal form: equal states become equal bytes, whichever executor ran. The result cannot be run. */
void wg_core_normalize(const struct wg_tile *t, unsigned core, wg_core_run *run);

/* In reset, at ebreak or ecall, or at a branch to itself (time.md rule 11). */
bool wg_core_parked(const struct wg_tile *t, unsigned core);
bool wg_core_in_interrupt(const struct wg_tile *t, unsigned core);
/* Why the core stalls in the current cycle; WG_STALL_NONE if it does not. */
void wg_core_why(const struct wg_tile *t, unsigned core, wg_stall *why);
void wg_core_info_get(struct wg_tile *t, unsigned core, wg_core_info *out);
bool wg_core_peek(struct wg_tile *t, unsigned core, wg_space space, uint32_t index, uint32_t *value);
bool wg_core_poke(struct wg_tile *t, unsigned core, wg_space space, uint32_t index, uint32_t value);

#endif
