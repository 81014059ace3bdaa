/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event stream: one record per thing that happened, in the order (cycle, phase, agent,
 * sequence). Traces, statistics, the race detector and tests read it; no unit knows who does.
 */
#ifndef WAITGATE_EVENT_H
#define WAITGATE_EVENT_H

#include <stdint.h>

/* Who acts. The order is the arbitration and reporting order inside a phase. */
typedef enum wg_agent {
    WG_AGENT_CORE_B, WG_AGENT_CORE_NC, WG_AGENT_CORE_T0, WG_AGENT_CORE_T1, WG_AGENT_CORE_T2,
    WG_AGENT_THREAD0, WG_AGENT_THREAD1, WG_AGENT_THREAD2,
    WG_AGENT_SYNC, WG_AGENT_UNPACK0, WG_AGENT_UNPACK1, WG_AGENT_MATRIX, WG_AGENT_PACK,
    WG_AGENT_VECTOR, WG_AGENT_SCALAR, WG_AGENT_CONFIG, WG_AGENT_MOVER, WG_AGENT_MISC,
    WG_AGENT_REGIONS,   /* memory requests under way to L1 and the memory-mapped regions */
    WG_AGENT_PUSHES,    /* pushes under way to the instruction FIFOs */
    WG_AGENT_NIU0, WG_AGENT_NIU1,
    WG_AGENT_HOST,
    WG_AGENT_COUNT,
    WG_AGENT_NONE = 0xFF
} wg_agent;

/* The phases of a cycle, in order; docs/architecture.md says why. */
typedef enum wg_phase {
    WG_PHASE_ARRIVALS, WG_PHASE_COMPLETIONS, WG_PHASE_REGIONS, WG_PHASE_LATCHES, WG_PHASE_GATES,
    WG_PHASE_REPLAY, WG_PHASE_MOP, WG_PHASE_PUSH, WG_PHASE_LOAD_STORE, WG_PHASE_PIPELINES
} wg_phase;

typedef enum wg_event_kind {
    WG_EV_PUSHED,        /* a word entered a thread's FIFO: word, id */
    WG_EV_EXPANDED,      /* MOP or REPLAY made an instruction: word, id, parent */
    WG_EV_LOST,          /* the mux discarded an instruction: word, id */
    WG_EV_STALL_BEGIN,   /* waiting-because: stall; word, id for a gate */
    WG_EV_STALL_END,     /* a: cycle the stall began */
    WG_EV_ISSUED,        /* passed the gate into agent b: word, id */
    WG_EV_COMPLETED,     /* left its unit: word, id */
    WG_EV_LATCHED,       /* a wait was latched: word, id */
    WG_EV_RELEASED,      /* the latched wait was forgotten: word, id */
    WG_EV_SEMAPHORE,     /* a: semaphore, b: new value, c: new max */
    WG_EV_MUTEX,         /* a: mutex, b: 0 released, 1 taken */
    WG_EV_BANK,          /* a: 0..3 SrcA0 SrcA1 SrcB0 SrcB1, b: new owner */
    WG_EV_TOUCH,         /* a location read or written by a unit: see src/observe/touch.h */
    WG_EV_CORE_RETIRE,   /* a core executed an instruction: pc in a, word; b: result if it wrote one */
    WG_EV_CORE_REQUEST,  /* a memory request was emitted: a address, b data, c kind */
    WG_EV_CORE_RESPONSE, /* a memory request was processed: a address, b data, c kind */
    WG_EV_CORE_STATE,    /* a: 0 held in reset, 1 released, 2 parked, 3 running */
    WG_EV_POLL,          /* b further identical polling iterations of length a cycles */
    WG_EV_DELAYED,       /* perturbation: event a of the agent takes b cycles longer at site c */
    WG_EV_FINDING,       /* a: finding index, b: its code in the catalogue */
    WG_EV_COUNT
} wg_event_kind;
#define WG_EV_BIT(kind) (UINT64_C(1) << (kind))
#define WG_EV_ALL (~UINT64_C(0))

/* Why something waits, naming the resource and its holder (GATE-21). */
typedef enum wg_stall_reason {
#define WG_STALL(id, text) WG_STALL_##id,
#include <waitgate/stalls.def>
#undef WG_STALL
    WG_STALL_COUNT
} wg_stall_reason;

typedef struct wg_stall {
    uint16_t reason;     /* wg_stall_reason */
    uint16_t resource;   /* meaning by reason: condition mask, mutex, semaphore mask, unit, register … */
    uint8_t holder;      /* wg_agent that must move first, or WG_AGENT_NONE */
    uint64_t retry_at;   /* the cycle at which it ends by itself; UINT64_MAX: only somebody else can end it */
} wg_stall;

typedef struct wg_event {
    uint64_t cycle;
    uint64_t id;         /* instruction id, unique per thread; 0: none */
    uint64_t parent;     /* id of the MOP or REPLAY that made it; 0: none */
    uint64_t a, b, c;
    uint32_t word;
    uint32_t pc;         /* of the push, where known */
    uint8_t kind;        /* wg_event_kind */
    uint8_t phase;       /* wg_phase */
    uint8_t agent;       /* wg_agent */
    uint8_t tile;
    uint8_t thread;      /* whose instruction it is, where id is not 0 */
    wg_stall stall;
} wg_event;

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) const char *wg_agent_name(unsigned agent);
__attribute__((visibility("default"))) const char *wg_event_name(unsigned kind);
__attribute__((visibility("default"))) const char *wg_stall_name(unsigned reason);
/* A sentence fragment: "the Matrix Unit is busy". */
__attribute__((visibility("default"))) const char *wg_stall_text(unsigned reason);
#ifdef __cplusplus
}
#endif
#endif
