/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three frontends and the Sync Unit on a tile without cores, for tests to the cycle.
 *
 *     sources of pushes (phase H) ──> frontends ──> Sync Unit, and model units for the eight other kinds
 *     a callback (phase C) replaces the regions
 *
 * A model unit takes one instruction per `interval` cycles and completes it after `latency`; a test may
 * also declare it busy, or let it hold a thread, from outside. Time starts at cycle FR_START. A word that
 * a source offers from cycle c on arrives in phase H of c, and on an idle frontend passes the gate in c + 3.
 */
#ifndef FRONTEND_RIG_H
#define FRONTEND_RIG_H

#include "wgtest.h"

#include "machine/sync.h"
#include "machine/unit.h"
#include "machine/device.h"
#include "report/findings.h"

enum { FR_START = 100, FR_SOURCE = 1 << 12, FR_IN_FLIGHT = 64 };

typedef struct fr_request {
    uint32_t word[4];
    uint8_t count;
    uint64_t from;  /* not before this cycle */
    uint64_t taken; /* the cycle in which it was; WG_NEVER: not yet */
} fr_request;

typedef struct fr_source {
    fr_request *request; /* FR_SOURCE */
    unsigned head, count;
} fr_source;

typedef struct fr_unit {
    unsigned latency, interval;
    uint64_t free_at;
    wg_insn insn[FR_IN_FLIGHT];
    uint64_t done_at[FR_IN_FLIGHT];
    unsigned head, count;
    uint8_t declared_busy[4]; /* per part: threads */
    uint8_t declared_hold;    /* threads */
    uint16_t hold_reason;
    bool refuses; /* "unit busy", until reset */
} fr_unit;

typedef struct fr {
    wg_device dev; /* first: a tile's `dev` leads here */
    wg_tile *t;
    fr_unit unit[WG_UNIT_COUNT];
    fr_source from_t[3], from_b[3];
    uint64_t offer_from;           /* for the next offers */
    void (*regions)(struct fr *r); /* phase C, in every cycle; with `only_when_due`, when WG_AGENT_REGIONS is due */
    void (*cores)(struct fr *r);   /* phase I, when WG_AGENT_CORE_T0 is due */
    bool only_when_due;
    void *user;
    wg_event *event;
    size_t events, room;
    bool lockstep;
} fr;

fr *fr_new(wg_arch_id arch);
void fr_free(fr *r);
/* Offers words to a thread's FIFO, one request each; or `count` words in one fused request; or by B. */
void fr_push(fr *r, unsigned thread, uint32_t word);
void fr_push_fused(fr *r, unsigned thread, const uint32_t *words, unsigned count);
void fr_push_b(fr *r, unsigned thread, uint32_t word);
void fr_cycle(fr *r);
void fr_run(fr *r, uint64_t cycles);
/* The number of requests accepted from the source. */
unsigned fr_taken(const fr *r, unsigned thread);
uint64_t fr_taken_at(const fr *r, unsigned thread, unsigned n);
/* The n-th event of a kind by an agent (-1: any); NULL: fewer than that. */
const wg_event *fr_event(const fr *r, wg_event_kind kind, int agent, unsigned n);
unsigned fr_event_count(const fr *r, wg_event_kind kind, int agent);
/* The cycle in which the thread's n-th instruction passed the gate, relative to FR_START; WG_NEVER: it has not. */
uint64_t fr_issued(const fr *r, unsigned thread, unsigned n);
uint32_t fr_issued_word(const fr *r, unsigned thread, unsigned n);
/* Occurrences of a finding. */
uint64_t fr_found(const fr *r, wg_finding_code code);
const wg_finding *fr_finding(const fr *r, wg_finding_code code);
/* Called from outside, at a cycle boundary. */
void fr_busy(fr *r, wg_unit unit, unsigned part, unsigned thread, bool busy);
void fr_hold(fr *r, wg_unit unit, unsigned thread, bool hold, wg_stall_reason reason);

/* Instructions. For each unit one without operands of interest. */
#define I_NOP UINT32_C(0x02000000)
#define I_MOP(template_, count1, mask) \
    (UINT32_C(0x01000000) | (uint32_t)(template_) << 23 | (uint32_t)(count1) << 16 | (mask))
#define I_MOP_CFG(hi) (UINT32_C(0x03000000) | (hi))
#define I_REPLAY(index, count, exec, load) \
    (UINT32_C(0x04000000) | (uint32_t)(index) << 14 | (uint32_t)(count) << 4 | (uint32_t)(exec) << 1 | (uint32_t)(load))
#define I_RESOURCEDECL(linger, resources, class_) \
    (UINT32_C(0x05000000) | (uint32_t)(linger) << 13 | (uint32_t)(resources) << 4 | (uint32_t)(class_))
#define I_ATGETM(m) (UINT32_C(0xA0000000) | (m))
#define I_ATRELM(m) (UINT32_C(0xA1000000) | (m))
#define I_STALLWAIT(block, cond) (UINT32_C(0xA2000000) | (uint32_t)(block) << 15 | (uint32_t)(cond))
#define I_SEMINIT(max, value, mask) \
    (UINT32_C(0xA3000000) | (uint32_t)(max) << 20 | (uint32_t)(value) << 16 | (uint32_t)(mask) << 2)
#define I_SEMPOST(mask) (UINT32_C(0xA4000000) | (uint32_t)(mask) << 2)
#define I_SEMGET(mask) (UINT32_C(0xA5000000) | (uint32_t)(mask) << 2)
#define I_SEMWAIT(block, mask, cond) \
    (UINT32_C(0xA6000000) | (uint32_t)(block) << 15 | (uint32_t)(mask) << 2 | (uint32_t)(cond))
#define I_STREAMWAIT(block, target, index, select) \
    (UINT32_C(0xA7000000) | (uint32_t)(block) << 15 | (uint32_t)(target) << 4 | (uint32_t)(index) << 3 | \
     (uint32_t)(select))
#define I_SETC16(reg, value) (UINT32_C(0xB2000000) | (uint32_t)(reg) << 16 | (value))
#define I_MISC UINT32_C(0x50000000)   /* SETADC */
#define I_CONFIG UINT32_C(0xB3000000) /* RMWCIB0 */
#define I_SCALAR UINT32_C(0x60000000) /* DMANOP */
#define I_VECTOR UINT32_C(0x8F000000) /* SFPNOP */
#define I_MATRIX UINT32_C(0x37000000) /* SETRWC */
#define I_UNPACK UINT32_C(0x42000000) /* UNPACR */
#define I_PACK UINT32_C(0x41000000)   /* PACR */
#define I_MOVER UINT32_C(0x40000000)  /* XMOV */

#endif
