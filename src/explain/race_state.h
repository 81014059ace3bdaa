/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the race detector: clocks, instructions in flight, shadow.
 *
 * A clock has one number per stream of ordered events; a larger number means knowledge of more of them:
 *
 *     I(thread)        instructions that passed the gate         X(thread)         MOPs taken by the expander
 *     D(unit, thread)  of these, those completed by the unit     P(core)           memory instructions, program order
 *     M(core, region)  requests that the region processed; where nothing is touched, regions share a number
 *     N                the NoC's streams and the Mover's for TDMA-RISC (race_noc.c)
 *     E(core)          its acquisitions of knowledge of other tiles (race_far.c)
 *
 * A touch is stamped with one of these streams and its number there. It is before b if b's clock has that number; or,
 * for instructions, if race_order.c says that the units keep them in order.
 */
#ifndef WG_RACE_STATE_H
#define WG_RACE_STATE_H

#include <string.h>
#include "arch/arch.h"
#include "explain/pages.h"
#include "explain/race.h"
#include "isa/isa.h"

/* Where an instruction executes, for the purpose of ordering. */
typedef enum wg_race_unit {
    WG_RU_UNPACK0,
    WG_RU_UNPACK1,
    WG_RU_MATRIX,
    WG_RU_VECTOR,
    WG_RU_PACK0,
    WG_RU_PACK1,
    WG_RU_PACK2,
    WG_RU_PACK3,
    WG_RU_SCALAR,
    WG_RU_MEMORY, /* the Scalar Unit's execution, and its memory requests */
    WG_RU_CONFIG,
    WG_RU_CONFIG_LATE,   /* RMWCIB and SETC16; WRCFG and CFGSHIFTMASK */
    WG_RU_CONFIG_SLOW,   /* STREAMWRCFG */
    WG_RU_CONFIG_RESULT, /* RDCFG's write to a GPR */
    WG_RU_MOVER,
    WG_RU_MISC,
    WG_RU_SYNC,
    /* Configuration that these read while they work. */
    WG_RU_READ_UNPACK0,
    WG_RU_READ_UNPACK1,
    WG_RU_READ_MATRIX,
    WG_RU_READ_VECTOR,
    WG_RU_READ_PACK,
    WG_RACE_UNITS
} wg_race_unit;

enum {
    WG_RACE_QUEUES = 24, /* wg_queue_of(): a core's paths, without mailboxes */
    WG_RACE_REGIONS = 8, /* of these, those whose order matters, and one for all others */
    WG_RACE_STREAMS = WG_THREADS,
    WG_K_I = 0,
    WG_K_X = WG_K_I + WG_THREADS,
    WG_K_D = WG_K_X + WG_THREADS,
    WG_K_P = WG_K_D + WG_RACE_UNITS * WG_RACE_STREAMS,
    WG_K_M = WG_K_P + WG_CORES,
    WG_K_NOC = WG_K_M + WG_CORES * WG_RACE_REGIONS, /* race_noc.c: */
    WG_K_SOURCE = WG_K_NOC,                         /* … reads by requests, by NoC */
    WG_K_ANSWER = WG_K_SOURCE + 2,                  /* … writes by answers, by NoC */
    WG_K_RMT = WG_K_ANSWER + 2,                     /* … other tiles, several to one number if there are many */
    WG_K_LOOSE = WG_K_RMT + 16,                     /* … those of their packets that may overtake each other */
    WG_K_TDMA = WG_K_LOOSE + 16,                    /* … the Mover for TDMA-RISC */
    WG_K_EPOCH = WG_K_TDMA + 1,                     /* race_far.c */
    WG_K_NONE = WG_K_EPOCH + WG_CORES,              /* a stamp known to all: the host's */
    WG_CLOCK = (WG_K_NONE + 1 + 7) / 8 * 8
};
/* Touches of one of these streams are in no order among themselves. */
static inline bool wg_k_unordered(unsigned k)
{
    return (k >= WG_K_ANSWER && k < WG_K_RMT) || (k >= WG_K_LOOSE && k < WG_K_TDMA);
}
static inline unsigned wg_k_d(unsigned unit, unsigned thread) { return WG_K_D + unit * WG_RACE_STREAMS + thread; }
/* The queues of the regions 1 to 7. */
static const uint8_t wg_race_region_queue[WG_RACE_REGIONS] = {
    0, WG_PATH_L1, WG_PATH_SYNC, WG_PATH_GPR, WG_PATH_CONFIG, WG_PATH_TDMA, WG_PATH_MOP_CFG, WG_PATH_DST};
static inline unsigned wg_k_m(unsigned core, unsigned queue)
{
    static const uint8_t region[WG_RACE_QUEUES] = {
        [WG_PATH_L1] = 1,   [WG_PATH_SYNC] = 2,    [WG_PATH_GPR] = 3, [WG_PATH_CONFIG] = 4,
        [WG_PATH_TDMA] = 5, [WG_PATH_MOP_CFG] = 6, [WG_PATH_DST] = 7};
    return WG_K_M + core * WG_RACE_REGIONS + region[queue];
}

typedef struct wg_clock {
    uint32_t v[WG_CLOCK];
} wg_clock;

/* Each returns whether it added anything. */
bool wg_clock_join(wg_clock *to, const wg_clock *from); /* race_clock.c */
static inline bool wg_clock_see(wg_clock *c, unsigned k, uint32_t value)
{
    if (c->v[k] >= value)
        return false;
    c->v[k] = value;
    return true;
}

/* A stored clock: a copy in the pool, and up to two numbers on top of it. */
typedef struct wg_ref {
    uint32_t snap; /* 0: none */
    uint16_t k1, k2;
    uint32_t v1, v2;
} wg_ref;

/* The queues covered by the wait for a core's requests. */
enum { WG_WAITED_QUEUES = 3 };
static const uint8_t wg_race_waited_queue[WG_WAITED_QUEUES] = {WG_PATH_GPR, WG_PATH_CONFIG, WG_PATH_TDMA};

enum {
    WG_SNAPS = 4096, /* clocks in the pool */
    WG_INSNS = 2048, /* instructions remembered per thread */
    WG_PARENTS = 1024,
    WG_PARTIES = 16384,
    WG_CELLS = 8, /* touches remembered per granule */
    WG_MAX_RACES = 256,
    WG_SEM_LOG = 32,
    WG_FIFO_LOG = 32,
    WG_FLAGS = 64,
    WG_TOLD = 256
};

typedef struct wg_snap {
    uint32_t id;
    wg_clock clock;
} wg_snap;

/* An instruction from push to completion. */
typedef struct wg_race_insn {
    uint64_t id;
    uint32_t seq; /* in the order of passing the gate; 0: has not */
    uint32_t word, pc, parent;
    uint32_t snap;                          /* its thread's clock when it passed */
    uint32_t push_snap;                     /* clock of the core that pushed it */
    uint32_t push_p, push_mop;              /* that core's program order, and its stores to MOP configuration */
    uint32_t push_number;                   /* of the thread's pushes, for Auto TTSync */
    uint32_t push_before[WG_WAITED_QUEUES]; /* requests of the thread's core that were certainly emitted before */
    uint32_t party[2];                      /* cached, of reads and of writes; 0: none */
    uint8_t party_agent[2];
    uint8_t source; /* core; WG_CORES: the host */
    bool boot;      /* pushed by B before any T core ran */
} wg_race_insn;

/* Locations with individual names: a report lists each of them. For rows and addresses it gives an example. */
static inline bool wg_race_by_name(unsigned space)
{
    return space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG || space == WG_TOUCH_GPR;
}

/* In a cell's `how`: complete before the thread issues anything else, whatever the unit. */
enum { WG_RACE_PROMPT = 0x8000 };

/* A touch in the shadow. */
typedef struct wg_cell {
    uint16_t k;     /* stream */
    uint8_t unit;   /* wg_race_unit of an instruction; WG_RACE_UNITS: none */
    uint8_t thread; /* of an instruction, else core | 0x80; race_noc.c has further codes after the cores */
    uint32_t value; /* number in the stream */
    uint32_t mask;  /* bits or bytes of the granule */
    uint32_t snap;  /* its author's clock */
    uint16_t party; /* at most WG_PARTIES */
    uint16_t how;
    uint16_t core_k; /* P(core) that did it, or pushed the instruction; WG_K_NONE: the host */
    uint16_t spare;
    uint32_t core_v; /* its number there; another tile's packet (core_k is WG_K_NONE): its number, 0: not known */
    uint32_t pushes; /* of an instruction: the number of its push; of an access: pushes before it */
    uint32_t kept;   /* of a write to configuration: bits that it did not change */
    uint32_t cycle;  /* its low half: wg_race_cycle() */
} wg_cell;

/* The cycle of a touch from its low half in the cell, seen from a cycle not before it. */
static inline uint64_t wg_race_cycle(uint32_t low, uint64_t now) { return now - (uint32_t)((uint32_t)now - low); }

typedef struct wg_granule {
    wg_cell cell[WG_CELLS];
    uint32_t written; /* bits or bytes that were ever written */
    uint8_t cells;
    bool host; /* the host has written some of it */
} wg_granule;

/* Granules: L1 lines of 16 bytes, configuration words, registers, rows … */
typedef struct wg_shadow {
    wg_granule *granule;
    uint32_t granules;
} wg_shadow;

typedef struct wg_race_semaphore {
    uint32_t inits;
    wg_clock init;        /* the last SEMINIT's clock */
    uint32_t posts, gets; /* since SEMINIT, whose value counts as posts */
    uint32_t value, max;
    wg_ref post[WG_SEM_LOG], get[WG_SEM_LOG];
    uint32_t post_party[WG_SEM_LOG];
    uint8_t post_core[WG_SEM_LOG]; /* that posted, or pushed the post */
} wg_race_semaphore;

typedef struct wg_ref_fifo {
    wg_ref ref[WG_FIFO_LOG];
    uint32_t head, count;
    uint32_t party; /* that stored the last one */
} wg_ref_fifo;

/* A request between emission and processing. */
typedef struct wg_race_request {
    uint32_t snap, p, fences, mop;     /* pushes before the last fence, stores to MOP configuration before it */
    uint32_t pushes;                   /* of the core before it, in program order */
    uint32_t before[WG_WAITED_QUEUES]; /* of a push: wg_race_insn's push_before */
    uint32_t address, pc;
    bool early; /* a load that may have overtaken the core's last command to the NIU or TDMA-RISC it polls */
} wg_race_request;

enum { WG_EMISSIONS = 64 };
typedef struct wg_race_queue {
    wg_race_request ring[16];
    uint32_t head, count;
    uint32_t processed;
    uint32_t emitted;
    struct {
        uint32_t p, pushes;   /* as of the request */
    } emission[WG_EMISSIONS]; /* the last ones, by number */
} wg_race_queue;

/* Knowledge of other tiles: race_far.c. NULL: none. */
typedef struct wg_far wg_far;
enum { WG_FAR_EPOCHS = 32, WG_RACE_PACKETS = 1024 };

typedef struct wg_race_core {
    wg_clock p;
    uint32_t snap;  /* of p, if nothing was learnt since; 0: none */
    uint32_t count; /* memory instructions so far */
    wg_race_queue queue[WG_RACE_QUEUES];
    bool released;
    /* Loads in flight or unused, by destination register. */
    uint64_t waiting;   /* bit per register: processed, and not used yet */
    uint64_t has_clock; /* of these, those that carry more than their queue's number */
    uint16_t pend_k[64];
    uint32_t pend_v[64];
    wg_clock pend[64];
    wg_far *pend_far[64];
    uint32_t epochs; /* times that it has acquired knowledge of other tiles */
    wg_far *far[WG_FAR_EPOCHS];
    uint32_t ttsync_pc; /* a manual TTSync load whose value is unused; 0: none */
    uint8_t ttsync_rd;
    uint32_t pushes, fenced_pushes; /* requests emitted; as of the last fence */
    uint32_t stores;                /* emitted */
    struct {
        uint32_t address, stores;
        bool open, looked; /* looked: its completion has been polled meanwhile */
    } command[3];          /* the last one to either NIU and to TDMA-RISC; open: a load may still overtake it */
    wg_race_request now;   /* the request just processed */
    unsigned now_queue;
    uint32_t now_value;
    wg_race_request sync; /* the last store to the semaphore window */
    uint32_t sync_value;
    wg_clock tracked; /* clock that Auto TTSync gave the request just processed */
    bool fresh_tracked, has_tracked;
} wg_race_core;

enum { WG_PLANNED = 16 };
typedef struct wg_race_thread {
    wg_clock clock; /* of the gate */
    uint32_t snap;
    uint32_t seq;      /* passed the gate */
    uint32_t expander; /* MOPs begun */
    uint32_t pushes;
    uint32_t push_snap;              /* last one learnt */
    wg_race_insn insn[WG_INSNS];     /* by id */
    uint64_t by_seq[WG_INSNS];       /* id of the instruction with that number */
    wg_race_insn parent[WG_PARENTS]; /* MOPs and REPLAYs, by id */
    uint32_t last[WG_RACE_UNITS];    /* number of the last one that went there */
    /* The latched wait. */
    bool latched, held; /* held: its release waits for the first instruction it catches */
    uint32_t latch_word;
    uint64_t latch_id;
    uint32_t latch_seq, latch_block;
    wg_clock release;
    uint32_t flush;       /* the FLUSHDMA that passed last, known to its successors; 0: it was something else */
    wg_clock unpacked[2]; /* clocks acquired by each unpacker's instructions, known to later ones in the unpacker */
    uint32_t long_flip;   /* the last one that flips a bank, and takes longer than a cycle; 0: none */
    uint32_t rdcfg, rdcfg_party;               /* WH: the last RDCFG's number; 0: none */
    uint32_t late_lregs, late_seq, late_party; /* the last two-cycle result of the Vector Unit */
    /* Parts of SFPLOADMACRO that count cycles: they run `delay` cycles after the instruction `seq`. */
    struct {
        uint32_t lregs, seq, party;
        uint8_t delay;
        bool writes;
    } planned[WG_PLANNED];
    unsigned next_planned;
    uint32_t unpacking[2]; /* the last UNPACR_NOP of each unpacker that clears */
    /* Auto TTSync, per resource. */
    bool tracks; /* it has held, or could have held, something */
    uint32_t store_n[8], load_n[8], load_pushes[8];
    struct {
        uint32_t snap, seq, push;
    } passed[8], wrote[8];
} wg_race_thread;

/* The party that stored a command of a NIU or of TDMA-RISC, and its clock. */
typedef struct wg_race_command_by {
    wg_ref ref;
    uint32_t pc;
    uint8_t core;
    bool known;
} wg_race_command_by;

enum { WG_RACE_COMMANDS = 16, WG_RACE_SENT = 1024, WG_RACE_TILES = 256, WG_RACE_NOC_CODE = 0x10 };
typedef struct wg_race_commands {
    wg_race_command_by by[WG_RACE_COMMANDS];
    uint32_t head, count;
} wg_race_commands;

/* A request that has left. */
typedef struct wg_race_sent {
    uint64_t transaction;
    wg_race_command_by by;
    wg_far *far;        /* what its issuer knows, and has done */
    wg_far *got;        /* released to it where it is performed: an atomic's word, a declared flag */
    uint32_t there, to; /* in the pool of tile `to`: what `far` says of it; 0: not yet */
} wg_race_sent;

/* A write to L1 by another tile's packet. */
typedef struct wg_race_packet {
    uint32_t number; /* 0: none */
    unsigned tile;
    wg_race_command_by by;
    wg_far *far; /* what it brings */
} wg_race_packet;

struct wg_races {
    wg_arch_id arch_id;
    const wg_arch *arch;
    wg_races_code_fn code;
    wg_races_memory_fn memory; /* NULL: none is given at run time */
    void *user;
    wg_snap *snap;
    uint32_t next_snap;
    wg_race_thread *thread;
    wg_race_core *core;
    /* race_noc.c */
    uint32_t tdma; /* touches by the Mover for TDMA-RISC */
    wg_race_command_by tdma_by;
    wg_race_commands command[2];
    wg_race_sent *sent;
    uint32_t noc_count[WG_K_TDMA - WG_K_NOC];
    wg_races_group *group;
    unsigned index; /* in the group */
    wg_race_packet *packet;
    uint32_t packets;    /* so far */
    wg_far *old_packets; /* brought by those that have left the ring */
    wg_far *answered[2]; /* by NoC: what the answers so far have brought */
    wg_far *registers;   /* what packets to registers have brought */
    wg_clock *asked;     /* clocks acquired by this tile's NoC reads of its own declared flags; NULL: none */
    wg_shadow shadow[WG_TOUCH_SPACES];
    wg_race_semaphore semaphore[8];
    wg_ref mutex[8];
    /* race_end.c */
    unsigned checks;                         /* WG_CHECK_RACE … */
    uint64_t ended;                          /* 1 + the cycle in which the end was examined */
    uint32_t mutex_party[8];                 /* that holds it; 0: it is free */
    uint32_t bank_party[4];                  /* that gave it to the Matrix Unit; 0: it is the unpackers' */
    uint32_t bank_given[4];                  /* times that it was given to it */
    uint32_t noc_party[WG_K_RMT - WG_K_NOC]; /* party of the stream's last request */
    struct wg_race_init *init;               /* race_init.c; NULL: not requested */
    struct wg_race_marks *marks;             /* race_marks.c; likewise */
    struct wg_race_strays *strays;           /* accesses to be judged at the end */
    uint8_t *given;                          /* per word of L1: its owner; NULL: not requested */
    wg_ref valid[4], freed[4];               /* banks: the last handover each way */
    wg_ref pages[WG_CBS][2];                 /* the last to change a circular buffer's count: pushed, popped */
    wg_ref_fifo mailbox[WG_CORES][WG_CORES], pcbuf[WG_THREADS];
    wg_race_party *party;
    uint32_t *party_index; /* hash */
    uint32_t parties;
    struct {
        uint32_t first, last;
    } flag[WG_FLAGS];
    uint32_t flags;
    wg_race *race;
    uint64_t *race_key;
    size_t races;
    struct {
        uint32_t address, bytes, party;
    } buffered[4][4]; /* contents of each packer's buffers */
    uint8_t buffers[4];
    /* Pairs of a touch and a stream that have been reported recently: further conflicts between the two are the same bug. */
    struct {
        uint32_t value, at;
        uint16_t k;
        uint8_t thread, space;
    } told[WG_TOLD];
    uint64_t forgotten;
    size_t bytes;
    struct wg_race_code *looked_at; /* race_spin.c */
    struct {
        uint32_t pc;
        uint8_t core, spins;
    } spin[1024];
};

/* The current actor: the stamp of its touches and its knowledge. */
typedef struct wg_actor {
    uint16_t k;
    uint8_t unit, thread; /* as in wg_cell */
    uint32_t value;
    uint32_t seq;                   /* of an instruction: its own number in I(thread) */
    const wg_clock *clock, *clock2; /* clock2 may be NULL */
    uint32_t snap;
    uint32_t party;
    uint32_t own_k, own_v; /* one more number that it knows: P of the core that did it, or pushed it */
    uint32_t mask, kept;   /* of the touch; kept as in wg_cell */
    uint32_t pushes;       /* as in wg_cell */
    uint32_t value2, max2; /* SEMINIT's operands */
    uint64_t cycle;
    const wg_race_command_by *by; /* another tile's request: its issuer, of tile by_tile; NULL: not known */
    unsigned by_tile;
    bool boot;
} wg_actor;

/* race_end.c */
void wg_race_given(wg_races *r, uint64_t address, uint64_t bytes);
void wg_race_given_by_host(wg_races *r, uint64_t address, uint64_t bytes);
void wg_race_memory(wg_races *r, unsigned core, uint32_t party, const wg_event *e); /* a core touches L1 */

/* race_init.c */
bool wg_race_init_make(wg_races *r);
void wg_race_init_free(wg_races *r);
void wg_race_init_given(wg_races *r, unsigned core, uint32_t address, uint32_t bytes);
void wg_race_init_started(wg_races *r, unsigned core); /* its stack is empty */
void wg_race_init_written(wg_races *r, uint64_t address, uint64_t bytes);
void wg_race_init_touch(wg_races *r, const wg_event *e);
void wg_race_init_retire(wg_races *r, const wg_event *e);
void wg_race_init_unit(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask, const char *place);

/* race_marks.c */
bool wg_race_marks_make(wg_races *r);
void wg_race_marks_free(wg_races *r);
void wg_race_marks_touch(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, bool write);
void wg_race_marks_unwritten(wg_races *r, const wg_actor *b, unsigned space, uint32_t at,
                             uint32_t mask); /* it is read */
/* Does the instruction store the value of such a register where others can read it? */
bool wg_race_passes_on(const wg_race_party *p, unsigned space);

/* race_clock.c */
uint32_t wg_race_snap(wg_races *r, const wg_clock *c);
const wg_clock *wg_race_clock(wg_races *r, uint32_t snap); /* never NULL; a forgotten one is empty */
bool wg_race_join(wg_races *r, wg_clock *to, const wg_ref *ref);
uint32_t wg_race_thread_snap(wg_races *r, unsigned thread);
uint32_t wg_race_core_snap(wg_races *r, unsigned core);
/* Everything that is complete, as the host sees it. */
uint32_t wg_race_host_snap(wg_races *r);
/* Adds the numbers that follow if all of a thread's instructions have completed. */
void wg_race_all_done(wg_races *r, wg_clock *to, unsigned thread);

/* The owner of a cell: the thread, for its instructions and its T core's accesses alike; others are their own owners. */
static inline unsigned wg_race_owner(unsigned thread)
{
    return thread >= (0x80 | WG_CORE_T0) && thread < (0x80 | WG_CORES) ? thread - (0x80 | WG_CORE_T0) : thread;
}

/* Of two instructions of one thread: did one core (or the host) push both? */
static inline bool wg_race_one_pusher(const wg_cell *a, const wg_actor *b) { return a->core_k == b->own_k; }

/* race_order.c */
bool wg_race_ordered(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, unsigned how);
/* The run observed b last, but b was complete before a could begin. */
bool wg_race_was_over(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, unsigned how);
const char *wg_race_unit_text(unsigned unit);

/* race_shadow.c: tests and records a touch. */
bool wg_shadow_make(wg_races *r);
void wg_shadow_free(wg_races *r);
void wg_race_touch(wg_races *r, const wg_actor *b, unsigned space, uint32_t first, uint32_t count, unsigned how);
/* Acquires the clocks of the writes of these bytes of L1 that a spinning read sees, and what they brought. */
void wg_race_acquire_l1(wg_races *r, wg_clock *to, wg_far **far, uint32_t address, uint32_t bytes);
/* The same for a request of the NoC. `k`: only the atomics of this stream; WG_K_NONE: all writes. */
void wg_race_released_l1(wg_races *r, wg_clock *to, wg_far **far, uint32_t address, uint32_t bytes, unsigned k);
void wg_race_host_write(wg_races *r, uint64_t address, uint64_t bytes);
enum { WG_HOST_FLAG = 64 }; /* bytes: more than this are data */

/* race.c: instructions in flight; NULL: not known. */
wg_race_insn *wg_race_insn_at(wg_races *r, unsigned thread, uint64_t id);
uint32_t wg_race_insn_party(wg_races *r, unsigned agent, unsigned thread, wg_race_insn *i, bool write, uint64_t cycle);
wg_ref wg_race_insn_ref(const wg_race_insn *i, unsigned thread);
/* The thread's gate has acquired a clock; the instruction being issued has it, too. */
void wg_race_learnt(wg_races *r, unsigned thread, wg_race_insn *i);

/* race_units.c */
void wg_race_unit_touch(wg_races *r, const wg_event *e);

/* race.c: posts, gets or initialisation of the semaphores in the mask. `core` did it, or pushed the instruction. */
void wg_race_semaphores(wg_races *r, const wg_actor *b, uint32_t mask, unsigned how, const wg_ref *ref, unsigned core);

/* race_core.c */
void wg_race_core_event(wg_races *r, const wg_event *e);
void wg_race_core_touch(wg_races *r, const wg_event *e);
bool wg_race_declared(const wg_races *r, uint32_t address); /* as a flag */

/* race_core.c: a store to a circular buffer's count of pages releases what its writer knows; a spinning load acquires it. */
void wg_race_pages(wg_races *r, uint32_t address, const wg_ref *ref);

/* race_spin.c: does the load at pc, which reads the address, spin? */
bool wg_race_spins(wg_races *r, unsigned core, uint32_t pc, uint32_t address);
bool wg_race_code_make(wg_races *r);
void wg_race_code_free(wg_races *r);

/* race_noc.c */
static inline unsigned wg_race_command_at(unsigned path) { return path == WG_PATH_TDMA ? 2 : path == WG_PATH_NIU1; }
void wg_race_command(wg_races *r, unsigned core, const wg_event *e, const wg_ref *ref);
bool wg_race_polled(wg_races *r, const wg_event *e, bool early, wg_clock *to, wg_far **far);
bool wg_race_is_command(const wg_races *r, unsigned path, uint32_t address);
void wg_race_noc_sent(wg_races *r, const wg_event *e);
void wg_race_noc_arrived(wg_races *r, const wg_event *e);
void wg_race_tdma_touch(wg_races *r, const wg_event *e);
wg_races *wg_race_member(const wg_races *r, unsigned tile); /* of the group; NULL: nobody watches that tile */
void wg_race_noc_free(wg_races *r);

/* race_far.c */
void wg_far_drop(wg_far **f);
void wg_far_add(wg_races *r, wg_far **to, wg_far *f);
void wg_far_add_clock(wg_races *r, wg_far **to, unsigned tile, const wg_clock *clock);
const wg_clock *wg_far_of(const wg_far *f, unsigned tile); /* NULL: nothing */
/* The core acquires it. */
void wg_race_far_learn(wg_races *r, unsigned core, wg_far *f);
/* What a party of this tile with this clock knows of other tiles; and that of this tile, for a party of another. */
void wg_race_far_known(wg_races *r, wg_far **to, const wg_clock *clock);
void wg_race_far_here(wg_races *r, wg_far **to, const wg_clock *clock);
/* The core of the tile that knows this number of one of r's streams; WG_CORES: none does. */
unsigned wg_race_far_who(const wg_races *r, unsigned tile, unsigned k, uint32_t value);
/* A packet from the tile writes L1: its number. */
uint32_t wg_race_packet_new(wg_races *r, unsigned tile, const wg_race_command_by *by, wg_far *far);
void wg_race_packet_acquire(wg_races *r, wg_far **to, uint32_t number);
/* Was it issued before b, another tile's request? Packets of one virtual channel are then in order. */
bool wg_race_packet_before(const wg_races *r, uint32_t number, const wg_actor *b);
void wg_race_far_free(wg_races *r);

/* race_report.c */
const char *wg_race_semaphore_name(unsigned semaphore);
uint32_t wg_race_party_of(wg_races *r, const wg_race_party *p);
void wg_race_found(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, uint32_t last,
                   uint32_t mask, unsigned how);
void wg_race_unwritten(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask);
/* A rule that one instruction broke; `a` may be 0. */
void wg_race_rule(wg_races *r, wg_race_kind kind, uint32_t a, uint32_t b, uint64_t cycle, const char *location,
                  const char *why, const char *remedy);

#endif
