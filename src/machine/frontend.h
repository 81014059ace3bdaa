/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's frontend.
 *
 *     T core ──> FIFO ──> MOP Expander ──┐
 *                (fifo.c)   (mop.c)      mux ──> FIFO, 8 ──> Replay Expander ──> FIFO, 2 ──> Wait Gate ──> units
 *     B, debug bus ──────────────────────┘                     (replay.c)                   (wait_gate.c)
 *
 * In a cycle the stages run from the gate backwards (phases D to G), then pushes arrive (H): an
 * instruction moves one stage per cycle, and a slot freed in a cycle can be refilled in it. A word pushed
 * in cycle c passes an idle frontend's gate in c + 3.
 *
 * Facts: TensixCoprocessor/README.md and its frontend diagrams, MOPExpander.md, REPLAY.md, WaitGate.md,
 * PushTensixInstruction.md; PIPE-*, GATE-*.
 */
#ifndef WG_FRONTEND_H
#define WG_FRONTEND_H

#include <stddef.h>

#include "machine/auto_ttsync.h"
#include "machine/insn.h"

struct wg_tile;

/*
 * The first FIFO's ring fits the deepest one of any architecture (wg_arch has the depths); the FIFOs in front of the Replay
 * Expander and of the gate are the same everywhere (PIPE-04).
 */
enum { WG_FIFO_RING = 32, WG_REPLAY_FIFO = 8, WG_GATE_FIFO = 2, WG_MOP_CFG_WORDS = 9, WG_REPLAY_SLOTS = 32 };
/*
 * An instruction stays in its place in the thread's pool until it has left the gate; the FIFOs hold two-byte entries (WG_E_…).
 * The FIFOs in front of the gate and of the Replay Expander are one ring,
 *
 *     down_head          gate_end             down_end
 *        | before the gate | before the expander |
 *
 * so that an entry which the expander passes on does not move. The pool has more places than all FIFOs have entries.
 */
enum { WG_POOL = WG_E_PLACE + 1, WG_DOWN_RING = 16 };
enum { WG_FREED_CYCLES = 16 };           /* wg_frontend.freed goes back so far */
enum { WG_WAITS_T = 1, WG_WAITS_B = 2 }; /* wg_frontend.push_waits: the T core was refused, B was */
static_assert(WG_POOL == 64 && WG_POOL > WG_FIFO_RING + WG_DOWN_RING, "wg_frontend.free has a bit for each");

typedef enum wg_latch_kind { WG_LATCH_EMPTY, WG_LATCH_STALLWAIT, WG_LATCH_SEMWAIT, WG_LATCH_STREAMWAIT } wg_latch_kind;

/* The latched wait (GATE-02). */
typedef struct wg_latch {
    uint64_t id;
    uint32_t word, pc;
    uint32_t target;       /* STREAMWAIT */
    uint32_t causes;       /* that can fulfil it (WG_CAUSE_…) */
    uint16_t block;        /* B0…B8, and WG_BLOCK_ALL_NINE if all are set; 0 if there is no wait */
    uint16_t conditions;   /* STALLWAIT: mask by the architecture's numbering; SEMWAIT: 1 zero, 2 max */
    uint8_t kind;          /* wg_latch_kind */
    uint8_t semaphores;    /* SEMWAIT */
    uint8_t stream_select; /* STREAMWAIT: which STREAM_ID_SYNC_SEC */
    uint8_t stream_index;  /* STREAMWAIT: 0 phase, 1 messages received */
    uint8_t holder;        /* wg_agent that must act first, according to the last phase D */
    bool met;              /* phase D of this cycle found it fulfilled: empty from the next cycle on */
} wg_latch;

/* Steps of an outer iteration of template 1. */
enum { WG_MOP_START, WG_MOP_LOOP, WG_MOP_END0, WG_MOP_END1 };

/* The MOP Expander, while it expands. */
typedef struct wg_mop {
    wg_insn insn;      /* the MOP */
    uint64_t ready_at; /* the first cycle after the idle gap that follows an expansion */
    uint32_t mask;     /* template 0: bits still to come */
    uint16_t inner;    /* template 1: iterations of the inner loop, doubled if it alternates */
    uint16_t i;        /* template 0: iteration; template 1: of the inner loop */
    uint8_t j, outer;  /* template 1: of the outer loop; template 0: outer is the iteration count */
    uint8_t step;      /* position in the iteration; template 1: WG_MOP_… */
    uint8_t flags;     /* template 0: HasB, HasA123 */
    uint8_t template;
    bool alternates, first;
    uint16_t mask_hi; /* from MOP_CFG */
} wg_mop_state;

/* The Replay Expander. */
typedef struct wg_replay_state {
    wg_insn insn; /* the REPLAY being played */
    uint32_t slot[WG_REPLAY_SLOTS];
    uint8_t play_left, play_at;
    uint8_t record_left, record_at;
    bool execute;     /* while recording */
    bool carry_first; /* Auto TTSync checks the next instruction in place of a swallowed one */
} wg_replay_state;

enum { WG_MUX_MOP_ALONE = 1 }; /* mux_busy: the MOP Expander expands, and nobody else wants the mux */

typedef struct wg_frontend {
    /* Used in every cycle. */
    uint64_t free;               /* bit per place of the pool */
    uint8_t down_head, gate_end; /* modulo the ring */
    bool moved;                  /* something moved in this cycle: tick again in the next */
    uint8_t down_end;            /* modulo the ring */
    uint8_t fifo_head;
    uint8_t direct_downstream; /* instructions past the FIFO that the T core pushed and no expander made (PIPE-04) */
    uint8_t fifo_count;
    uint8_t mops_queued;
    union {
        struct {
            union {
                struct {
                    bool mop_active;        /* the MOP Expander expands */
                    bool b_valid : 1;       /* `from_b` waits at the mux */
                    bool debug_valid : 1;   /* `from_debug` waits at the mux */
                    bool debug_control : 1; /* the debug bus owns the FIFO in front of the Replay Expander */
                };
                uint16_t mux_busy; /* 0: the MOP Expander passes on everything but MOPs; or WG_MUX_MOP_ALONE */
            };
            bool replay_busy;   /* the Replay Expander plays, records, or carries a mark */
            uint8_t push_waits; /* WG_WAITS_T, WG_WAITS_B */
            union {
                struct {
                    uint16_t holders; /* bit per wg_unit that may hold the whole thread (wg_unit_ops.holds) */
                    bool stalled;     /* the gate's head waits: `stall` says why */
                    bool blocks_all;  /* the latched wait blocks even NOP (GATE-08) */
                };
                uint32_t gate_busy; /* 0: NOP passes */
            };
        };
        uint64_t busy; /* 0: every stage only passes instructions on */
    };
    uint64_t next_id; /* the last id given */
    uint16_t down[WG_DOWN_RING];
    uint16_t fifo[WG_FIFO_RING];
    uint8_t push_needs; /* with bit 0 of `push_waits`: places that the smallest of those requests needs */
    uint8_t held;       /* places of the first FIFO that are taken, as of the last push or free */
    uint64_t freed_at;  /* the last cycle in which some became free */
    uint64_t freed;     /* how many did, four bits per cycle, that cycle's the lowest */
    uint64_t accept_at; /* perturbation: the gate's head passes no earlier than this */
    uint64_t take_at;   /* perturbation: the FIFO's head is taken no earlier than this */
    wg_latch latch;
    wg_stall stall; /* why the gate's head waits */
    uint64_t stalled_since;
    wg_mop_state mop;
    wg_replay_state replay;
    uint32_t mop_cfg[WG_MOP_CFG_WORDS];
    wg_insn from_b, from_debug;
    wg_insn pool[WG_POOL];
    wg_auto_ttsync ttsync;
} wg_frontend;

/* The parts of `busy` that do not affect the expanders: only the MOP Expander active, a refused push, a stalled head. */
#define WG_F_BYTE(member) (UINT64_C(1) << 8 * (offsetof(wg_frontend, member) - offsetof(wg_frontend, busy)))
#define WG_F_WORKS (WG_F_BYTE(mop_active) | WG_F_BYTE(push_waits) | WG_F_BYTE(holders) * 0xFFFF | WG_F_BYTE(stalled))

/* The i-th instruction of each FIFO, from the head, and how many there are. */
static inline const wg_insn *wg_fifo_at(const wg_frontend *f, unsigned i)
{
    return &f->pool[f->fifo[(f->fifo_head + i) % WG_FIFO_RING] & WG_E_PLACE];
}
static inline const wg_insn *wg_replay_fifo_at(const wg_frontend *f, unsigned i)
{
    return &f->pool[f->down[(f->gate_end + i) % WG_DOWN_RING] & WG_E_PLACE];
}
static inline const wg_insn *wg_gate_fifo_at(const wg_frontend *f, unsigned i)
{
    return &f->pool[f->down[(f->down_head + i) % WG_DOWN_RING] & WG_E_PLACE];
}
static inline unsigned wg_replay_count(const wg_frontend *f) { return (uint8_t)(f->down_end - f->gate_end); }
static inline unsigned wg_gate_count(const wg_frontend *f) { return (uint8_t)(f->gate_end - f->down_head); }

/* The FIFOs are empty and the MOP Expander is idle: a precondition for an idle thread. */
static inline bool wg_frontend_empty(const wg_frontend *f)
{
    return f->down_head == f->down_end && !f->fifo_count && !f->mop_active;
}

void wg_frontend_reset(struct wg_tile *t, unsigned thread);
/*
 * Phases D to G for the threads in `due` (bit i: thread i), setting sched.phase; makes their next wake-ups. The engine
 * has consumed the old ones.
 */
void wg_frontends(struct wg_tile *t, unsigned due);
/* Phase D: is the latched wait fulfilled? Then phases E, F and G. `observed`: as in stages.h. */
bool wg_gate_latch(struct wg_tile *t, unsigned thread, bool observed);
void wg_gates(struct wg_tile *t, unsigned due, bool observed);
void wg_replay(struct wg_tile *t, unsigned thread, bool observed);
void wg_mop(struct wg_tile *t, unsigned thread, bool observed);
/*
 * Phase H (or, from the host, at a cycle boundary): enqueues up to `count` words pushed by `core` into
 * `thread`; returns how many were taken. A request of at most four words is taken entirely or not at all. If it is refused,
 * the caller retries when WG_AGENT_PUSHES is woken.
 */
unsigned wg_push_words(struct wg_tile *t, unsigned thread, wg_core_id core, uint32_t pc, const uint32_t *words,
                       unsigned count, wg_stall *why);
/* Would a T core's next push of `count` words be refused unless something leaves? Then refuses it before it arrives. */
/* The first cycle from now on in which the T core knows of `count` free places; WG_NEVER if there are not as many. */
uint64_t wg_push_known_at(const struct wg_tile *t, unsigned thread, unsigned count);
bool wg_push_refused(struct wg_tile *t, unsigned thread, wg_core_id core, unsigned count, wg_stall *why);
/* The thread has no instruction between the emission of its push and its completion (PIPE-28). */
bool wg_thread_idle(const struct wg_tile *t, unsigned thread);
/* Has the thread's own core emitted a MOP that has not arrived? */
bool wg_mop_under_way(const struct wg_tile *t, unsigned thread);
/* No MOP queued or expanding (PIPE-28). */
bool wg_thread_mop_idle(const struct wg_tile *t, unsigned thread);
/* T<thread> enters soft reset: the contents of its first FIFO and its MOP Expander are lost (SoftReset.md). */
void wg_frontend_discard(struct wg_tile *t, unsigned thread);
/* The FIFO in front of the Replay Expander, as RISCV_DEBUG_REG_INSTRN_BUF_STATUS shows it. */
bool wg_replay_fifo_full(const struct wg_tile *t, unsigned thread);
bool wg_replay_fifo_empty(const struct wg_tile *t, unsigned thread);
/* RISCV_DEBUG_REG_INSTRN_BUF_STATUS of all threads. */
uint32_t wg_instrn_buf_status(const struct wg_tile *t);

/* MOP configuration (PIPE-17); reading is undefined: 0, and reported. `pc` of the store or load. */
void wg_mop_cfg_write(struct wg_tile *t, unsigned thread, unsigned word, uint32_t value, uint32_t pc);
uint32_t wg_mop_cfg_read(struct wg_tile *t, unsigned thread, unsigned word, uint32_t pc);

/*
 * The debug bus (RISCV_DEBUG_REG_INSTRN_BUF_CTRL0/1): takes or releases the FIFO in front of the Replay Expander, and pushes
 * into it. Instructions that cores push meanwhile are lost at the mux.
 */
void wg_debug_control(struct wg_tile *t, unsigned thread, bool debug_bus);
void wg_debug_push(struct wg_tile *t, unsigned thread, uint32_t word);

/* tt_cfg_qstatus, tt_cfg_bstatus: the 11-bit masks of instruction types of one thread (CSRs.md). */
uint32_t wg_frontend_queue_status(const struct wg_tile *t, unsigned thread);
uint32_t wg_frontend_busy_status(const struct wg_tile *t, unsigned thread);

/* For the hang report and the debugger. */
typedef struct wg_gate_info {
    uint8_t fifo, replay_fifo, gate_fifo; /* entries */
    uint8_t direct_downstream;
    bool has_head;
    wg_insn head; /* the instruction at the gate */
    bool expanding;
    wg_insn mop;                   /* the MOP being expanded */
    uint32_t mop_outer, mop_inner; /* its present iterations */
    uint8_t replaying, recording;  /* instructions still to come */
    wg_insn replay;
    wg_latch latch;
    uint16_t unmet;       /* of a latched wait: conditions, or semaphores, that do not hold yet */
    uint8_t unmet_holder; /* wg_agent that must act first */
    wg_stall stall;       /* why the head waits; reason NONE: it does not */
    uint64_t stalled_since;
} wg_gate_info;
void wg_gate_state(const struct wg_tile *t, unsigned thread, wg_gate_info *out);

#endif
