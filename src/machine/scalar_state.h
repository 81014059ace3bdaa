/* SPDX-License-Identifier: Apache-2.0 */
/* The Scalar Unit's state: the one instruction that executes, and the memory requests it has sent. */
#ifndef WG_SCALAR_STATE_H
#define WG_SCALAR_STATE_H

#include "machine/insn.h"

enum { WG_SCALAR_REQUESTS = 8 };

/* The action of a request when it reaches its memory. */
typedef enum wg_scalar_request_kind {
    WG_SCALAR_LOAD,
    WG_SCALAR_STORE,
    WG_SCALAR_LOAD_MMIO,
    WG_SCALAR_STORE_MMIO,
    WG_SCALAR_INCREMENT,    /* ATINCGET */
    WG_SCALAR_MASKED_STORE, /* ATSWAP */
    WG_SCALAR_COMPARE_SET,  /* ATCAS */
    WG_SCALAR_FIFO_STEP,    /* ATINCGETPTR */
} wg_scalar_request_kind;

typedef struct wg_scalar_request {
    wg_insn insn;
    uint64_t reaches_at; /* the memory sees it in this cycle */
    uint64_t answers_at; /* its result is written, or its confirmation arrives, in this cycle */
    uint32_t address;
    uint32_t data[4]; /* the data to store, then the data read */
    uint32_t mask;    /* of the counter for increments; of halves for ATSWAP */
    uint8_t kind;     /* wg_scalar_request_kind */
    uint8_t bytes;    /* 1, 2, 4, 16 */
    uint8_t reg;      /* register of the result */
    bool reached;     /* the memory access has taken place */
    bool failed;      /* conditional atomics: the comparison failed */
} wg_scalar_request;

typedef struct wg_scalar {
    wg_insn insn; /* the instruction that executes */
    bool executing;
    bool asking;            /* it has sent a request and waits for the answer (ATCAS, ATINCGETPTR) */
    bool answered, refused; /* the answer has arrived; it was a refusal */
    uint32_t refusals;      /* count so far */
    bool waiting;           /* it waits for others: a source bank, other units, memory */
    wg_stall stall;         /* what it waits for midway; WG_STALL_NONE: nothing */
    uint64_t stalled_at;
    uint64_t since;      /* accepted in this cycle */
    uint64_t until;      /* its next step is due in this cycle */
    uint32_t operand[4]; /* captured when it was accepted */
    uint32_t address;
    uint64_t port_free;               /* its L1 port takes the next request from this cycle on */
    uint64_t last_reach, last_answer; /* requests stay in order */
    uint64_t sent;                    /* requests so far: the event number for perturbation */
    uint8_t count;                    /* requests in flight, oldest first */
    uint8_t outstanding[3];           /* of each thread */
    bool held;                        /* soft reset: only DMANOP and SETDMAREG start */
    wg_scalar_request request[WG_SCALAR_REQUESTS];
} wg_scalar;

#endif
