/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's state between cycles, without its registers (machine/lreg.h): pending results, sequencing rules,
 * and the instructions that SFPLOADMACRO has scheduled. vector.h explains its use.
 */
#ifndef WG_VECTOR_STATE_H
#define WG_VECTOR_STATE_H

#include "machine/insn.h"
#include "machine/dst.h"
#include "machine/lreg.h"

/* At most 8 registers each from the simple and MAD sub-units and 4 from the round one, in three cycles. */
enum { WG_VECTOR_WRITES = 64, WG_VECTOR_FLIGHTS = 16, WG_MACRO_UNITS = 4, WG_MACRO_SLOTS = 8 };

/* A result that becomes visible at the start of cycle `land`. */
typedef struct wg_vector_write {
    uint64_t land;
    uint32_t lanes;
    uint32_t lreg;
    uint32_t data[WG_LANES];
} wg_vector_write;

/*
 * The last multiply-add may have written its result early. Readers in the next cycle, `next`, must get `old`
 * (wg_vector_take_back). Few programs read that early, so most results never enter a queue.
 */
typedef struct wg_vector_early {
    uint64_t next; /* 0: none */
    uint32_t lanes;
    uint32_t lreg;
    uint32_t old[WG_LANES];
} wg_vector_early;

/* SFPSWAP compares in its first cycle and exchanges in its second. */
typedef struct wg_vector_swap {
    uint64_t at;      /* the second cycle; 0: none */
    uint32_t lanes;   /* lanes that exchange */
    uint32_t indexed; /* those of them in index mode */
    uint8_t vc, vd;
} wg_vector_swap;

/* A load samples Dst at the end of its cycle. */
typedef struct wg_vector_load_step {
    uint64_t at; /* the cycle in whose phase B it does; 0: none */
    uint64_t id;
    uint32_t word, pc;
    uint32_t lanes;
    uint16_t insn, address;
    uint8_t thread, vd, format;
} wg_vector_load_step;

/*
 * An SFPSTORE delayed by perturbation: it writes Dst when it completes, at the Dst base of that cycle. At most one:
 * the unit's next access to Dst performs it first.
 */
typedef struct wg_vector_late {
    uint64_t at; /* the cycle in whose phase B it does; 0: none */
    uint32_t lanes;
    uint16_t address, base; /* on acceptance: the address, and the Dst base in it */
    uint8_t thread, format;
    uint32_t data[WG_LANES];
} wg_vector_late;

/* An instruction that SFPLOADMACRO has scheduled for some columns of lanes. */
typedef struct wg_macro_entry {
    uint64_t id, parent;
    uint32_t word, pc;
    uint16_t address; /* SFPSTORE: the row that SFPLOADMACRO read */
    uint8_t columns;
    uint8_t thread, source;
    uint8_t va, vb, vc, vd, mod;
    uint8_t by_instruction; /* WaitForElapsedInstructions */
} wg_macro_entry;

typedef struct wg_macro_slot {
    uint8_t present; /* bit i: entry[i] is scheduled (i is its lowest column) */
    wg_macro_entry entry[WG_LANE_COLUMNS];
} wg_macro_slot;

/* A thread's configuration for the addresses of loads and stores (vector_memory.c). */
typedef struct wg_vector_places {
    uint64_t changes; /* 1 + that of the configuration it was made from */
    uint32_t offset, base, stack_base, stack_step;
    uint8_t format; /* the meaning of MOD0_FMT_SRCB */
    wg_dst_access access;
    uint32_t debug; /* the register that is part of `access` */
} wg_vector_places;

typedef struct wg_vector {
    uint64_t free_at;      /* the first cycle in which an instruction can be accepted */
    uint64_t only_nop_at;  /* in this cycle only SFPNOP is accepted (0: none) */
    uint64_t interlock_at; /* in this cycle the interlock stalls readers of interlock_lregs */
    uint64_t shuffle_at;   /* WH: the cycle after a lane shuffle, which software has to keep clear (0: none) */
    uint64_t backdoor_at;  /* the cycle after a change of DISABLE_BACKDOOR_LOAD (0: none) */
    uint64_t done_at[3];   /* per thread: the cycle in which its last instruction is complete */
    uint32_t interlock_lregs;
    uint32_t shuffle_lregs; /* that shuffle's results */
    uint8_t last_thread;
    uint8_t unfused; /* see wg_mad_lanes */

    uint64_t used;          /* bit i: write[i] is in flight */
    uint64_t newest_land;   /* the latest `land` so far */
    uint32_t newest_lregs;  /* registers with a write of that `land` */
    uint32_t pending_lregs; /* registers with a write in flight */
    wg_vector_write write[WG_VECTOR_WRITES];
    wg_vector_early early;
    wg_vector_swap swap;
    wg_vector_load_step load;
    wg_vector_late late;
    wg_vector_places places[3];       /* per thread */
    uint64_t done[WG_VECTOR_FLIGHTS]; /* a ring: when the instructions in flight are complete, in order */
    wg_insn insn[WG_VECTOR_FLIGHTS];  /* those instructions; kept for the event, if it is observed */
    uint64_t last_done;               /* of the newest of them */
    uint8_t first_flight, flights;

    /* Scheduled instructions: slot[unit][(base + delay) % 8]. */
    uint64_t counted;  /* the last cycle whose countdown has been done */
    uint64_t ran_at;   /* the cycle in which scheduled instructions ran last */
    uint64_t flags_at; /* the cycle in which flags written by one become visible (0: none) */
    wg_lane_flags flags;
    uint32_t scheduled; /* how many entries */
    uint32_t waiting;   /* entries that wait for instructions, not cycles */
    uint8_t base;
    uint8_t ran;          /* which sub-units they occupied: 1 << wg_vector_subunit */
    uint8_t ran_bonus;    /* those of them that wrote LReg 16 */
    uint32_t ran_pending; /* pending_lregs before they ran: too early to read in that cycle */
    uint8_t ran_swap;     /* an SFPSWAP was among them */
    wg_macro_slot slot[WG_MACRO_UNITS][WG_MACRO_SLOTS];
} wg_vector;

#endif
