/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event stream: one record per event, in the order (cycle, phase, agent, sequence). Traces, statistics, the race detector
 * and tests read it; units do not know their observers.
 */
#ifndef WAITGATE_EVENT_H
#define WAITGATE_EVENT_H

#include <stdint.h>

/* Agents. Their order is the order of arbitration and reporting within a phase. */
typedef enum wg_agent {
    WG_AGENT_CORE_B,
    WG_AGENT_CORE_NC,
    WG_AGENT_CORE_T0,
    WG_AGENT_CORE_T1,
    WG_AGENT_CORE_T2,
    WG_AGENT_THREAD0,
    WG_AGENT_THREAD1,
    WG_AGENT_THREAD2,
    WG_AGENT_SYNC,
    WG_AGENT_UNPACK0,
    WG_AGENT_UNPACK1,
    WG_AGENT_MATRIX,
    WG_AGENT_PACK,
    WG_AGENT_VECTOR,
    WG_AGENT_SCALAR,
    WG_AGENT_CONFIG,
    WG_AGENT_MOVER,
    WG_AGENT_MISC,
    WG_AGENT_REGIONS, /* memory requests in flight to L1 and the memory-mapped regions */
    WG_AGENT_PUSHES,  /* pushes in flight to the instruction FIFOs */
    WG_AGENT_NIU0,
    WG_AGENT_NIU1,
    WG_AGENT_HOST,
    WG_AGENT_LINK, /* of an Ethernet tile */
    WG_AGENT_COUNT,
    WG_AGENT_NONE = 0xFF
} wg_agent;

/* The phases of a cycle, in order; see docs/architecture.md. */
typedef enum wg_phase {
    WG_PHASE_ARRIVALS,
    WG_PHASE_COMPLETIONS,
    WG_PHASE_REGIONS,
    WG_PHASE_LATCHES,
    WG_PHASE_GATES,
    WG_PHASE_REPLAY,
    WG_PHASE_MOP,
    WG_PHASE_PUSH,
    WG_PHASE_LOAD_STORE,
    WG_PHASE_PIPELINES
} wg_phase;

typedef enum wg_event_kind {
    WG_EV_PUSHED,       /* a word entered a thread's FIFO: word, id; c: core that pushed it */
    WG_EV_EXPANDED,     /* MOP or REPLAY produced an instruction: word, id, parent; c: core that pushed the parent */
    WG_EV_LOST,         /* the mux discarded an instruction: word, id */
    WG_EV_STALL_BEGIN,  /* a stall began: stall; word, id for a gate, c: core that pushed it */
    WG_EV_STALL_END,    /* a: cycle the stall began */
    WG_EV_ISSUED,       /* passed the gate into agent b: word, id */
    WG_EV_COMPLETED,    /* left its unit: word, id */
    WG_EV_LATCHED,      /* a wait was latched: word, id; c: core that pushed it */
    WG_EV_RELEASED,     /* the latched wait was released: word, id; a: banks of wg_touch_space's pointers, by bit */
    WG_EV_SEMAPHORE,    /* a: semaphore, b: new value, c: new max */
    WG_EV_MUTEX,        /* a: mutex, b: 0 released, 1 taken */
    WG_EV_BANK,         /* a: 0..3 SrcA0 SrcA1 SrcB0 SrcB1, b: new owner; id: the instruction that did it */
    WG_EV_TOUCH,        /* a location was read or written: a space, b first, c count or mask, how; see wg_touch_space */
    WG_EV_CORE_RETIRE,  /* a core executed an instruction: pc in a, word; b: its result, if any; parent: rs1's value */
    WG_EV_CORE_REQUEST, /* a memory request was emitted: a address, b data, c kind, word: see WG_REQUEST_WORD;
                            parent: older pushes of the core that it overtakes */
    WG_EV_CORE_RESPONSE, /* a memory request was processed: likewise */
    WG_EV_CORE_STATE,    /* a: 0 held in reset, 1 released, 2 parked, 3 running */
    WG_EV_DELAYED,       /* perturbation: event a of the agent takes b cycles longer at site c */
    WG_EV_FINDING,       /* a: finding index, b: its code in the catalogue */
    WG_EV_CORE_CONSUMED, /* an instruction used the value of a load that left the core: a address, word as above */
    WG_EV_CORE_FENCE,    /* fence or atomic: the store queue is empty and every load has its value */
    WG_EV_TRACKED,       /* Auto TTSync let an instruction (id) or a core's access pass: a resources read, b written */
    WG_EV_HOST,          /* the host read or wrote at a cycle boundary: a address, b bytes, c 0 read, 1 write */
    WG_EV_NOC_SENT,      /* a packet left the NIU: a transaction, b address there, c kind | bytes << 8 | tile << 48,
                            parent: address of its data here, part: its request's virtual channel if software
                            chose it (1 + channel, 9: linked requests), else 0 */
    WG_EV_NOC_ARRIVED,   /* its last flit arrived and was processed: a transaction, b address, c kind | bytes << 8 |
                            sending tile << 48, parent: the cycle in which it left, word: links it took | cycles for
                            which it waited for links << 8, part: as above */
    WG_EV_TOUCH_L1, /* for wg_observe(): of WG_EV_TOUCH only those of L1, which cost less. No event has this kind */
    WG_EV_UNMET,    /* a latched wait for several things: a: those that have not held since it was latched (STALLWAIT:
                       conditions, SEMWAIT: semaphores), whenever they become fewer; b: the agent that must act for the
                       lowest of them; word, id */
    WG_EV_LINK_COMMAND, /* a core ordered a transfer over an Ethernet link: a queue; pc */
    WG_EV_LINK_SENT, /* a frame is read from L1, and leaves next: a its number, b address there, c 1: a register, 0: a block |
                           bytes << 8 | queue << 48, parent: this end of the link, chip << 16 | channel */
    WG_EV_LINK_ARRIVED, /* it was stored: likewise; parent: the end that it came from */
    WG_EV_COUNT
} wg_event_kind;
#define WG_EV_BIT(kind) (UINT64_C(1) << (kind))
#define WG_EV_ALL (~UINT64_C(0))

/* Of a core's request: its path (wg_path), index (mailbox, thread …), bytes, and the register a load writes. */
#define WG_REQUEST_WORD(path, index, bytes, rd) \
    ((uint32_t)(path) | (uint32_t)(index) << 8 | (uint32_t)(bytes) << 16 | (uint32_t)(rd) << 24)
#define WG_REQUEST_PATH(word) ((uint8_t)(word))
#define WG_REQUEST_RD(word) ((uint8_t)((word) >> 24))
/* Of an arrived packet. */
#define WG_NOC_LINKS(word) ((uint32_t)(word)&0xFF)
#define WG_NOC_WAITED(word) ((uint32_t)(word) >> 8)

/* Spaces of touches. `first` and `count` of an event count these units; with "mask", `c` is a mask of 32 bits. */
typedef enum wg_touch_space {
    WG_TOUCH_L1,            /* bytes */
    WG_TOUCH_CONFIG,        /* bank * 256 + word; mask of bits */
    WG_TOUCH_THREAD_CONFIG, /* thread * 256 + word; mask of bits */
    WG_TOUCH_GPR,           /* (thread * 64 + register) * 2 + half */
    WG_TOUCH_DST,          /* stored rows of 16 bits; a 32-bit row is two of them, WG_TOUCH_WIDE: and those 8 further */
    WG_TOUCH_SRC,          /* (file * 2 + bank) * 64 + row */
    WG_TOUCH_LREG,         /* 0; mask of LRegs, 17: flags and lane configuration */
    WG_TOUCH_ADC,          /* ((thread * 3 + unit) * 2 + channel) * 4 + dimension */
    WG_TOUCH_RWC,          /* thread */
    WG_TOUCH_SEM_VALUE,    /* 0; mask of semaphores */
    WG_TOUCH_SEM_MAX,      /* 0; mask of semaphores */
    WG_TOUCH_MOP_CFG,      /* thread * 9 + word */
    WG_TOUCH_REPLAY,       /* thread * 32 + slot */
    WG_TOUCH_PACKER,       /* packer: its output streams and tile position */
    WG_TOUCH_UNPACKER,     /* unpacker * 3 + thread: context counter */
    WG_TOUCH_BANK_OWNER,   /* file * 2 + bank: its owner */
    WG_TOUCH_BANK_POINTER, /* 0, 1: the Matrix Unit's bank of SrcA, SrcB; 2, 3: the unpackers' */
    WG_TOUCH_SPACES
} wg_touch_space;

/* How it was touched: flags in `how`. */
enum {
    WG_TOUCH_READ = 1,
    WG_TOUCH_WRITE = 2,
    WG_TOUCH_AT_GATE = 4, /* sampled when the instruction passed the gate */
    WG_TOUCH_ATOMIC = 8,  /* a hardware read-modify-write: an atomic, SEMPOST, SEMGET */
    WG_TOUCH_LATE = 16,   /* by work of the unit after it has released the instruction's thread */
    WG_TOUCH_WIDE = 32,   /* Dst: also the low halves */
    WG_TOUCH_CACHED = 64, /* L1: an L0 data cache hit */
    WG_TOUCH_POST = 128,
    WG_TOUCH_GET = 256,
    WG_TOUCH_INIT = 512,      /* semaphores */
    WG_TOUCH_BUFFERED = 1024, /* L1: written by the packer once it flushes */
    WG_TOUCH_WAITED = 2048,   /* source banks: the instruction waited until its unit owned the bank */
    WG_TOUCH_SAME = 4096,     /* a write that changes nothing */
    WG_TOUCH_PLANNED = 8192   /* LRegs: so many cycles later, whatever is issued then; see `part` */
};

/* Reasons of stalls, which name the resource and its holder (GATE-21). */
typedef enum wg_stall_reason {
#define WG_STALL(id, ended_by, text) WG_STALL_##id,
#include <waitgate/stalls.def>
#undef WG_STALL
    WG_STALL_COUNT
} wg_stall_reason;

typedef struct wg_stall {
    uint16_t reason;   /* wg_stall_reason */
    uint16_t resource; /* meaning by reason: condition mask, mutex, semaphore mask, unit, register … */
    uint8_t holder;    /* wg_agent that must move first, or WG_AGENT_NONE */
    uint64_t retry_at; /* the cycle at which it ends by itself; UINT64_MAX: only another agent can end it */
} wg_stall;

typedef struct wg_event {
    uint64_t cycle;
    uint64_t id;     /* instruction id, unique per thread; 0: none */
    uint64_t parent; /* id of the MOP or REPLAY it comes from; 0: none */
    uint64_t a, b, c;
    uint32_t word;
    uint32_t pc;   /* of the push, where known */
    uint8_t kind;  /* wg_event_kind */
    uint8_t phase; /* wg_phase */
    uint8_t agent; /* wg_agent */
    uint8_t tile;
    uint8_t thread; /* of the instruction, if id is not 0 */
    uint8_t part;   /* of a touch: the packer; of a source bank that was waited for: 1 + the bank tested; of a
                       planned one: cycles, and 128 if it writes; of a packet: see above */
    uint16_t how;   /* of a touch: WG_TOUCH_READ … */
    union {
        wg_stall stall;
        uint32_t kept; /* of a touch that writes configuration: bits that it did not change */
    };
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
