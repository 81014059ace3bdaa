/* SPDX-License-Identifier: Apache-2.0 */
/* The log of all Tensix instructions that the Konata viewer shows: see konata.c. */
#ifndef WG_KONATA_H
#define WG_KONATA_H

#include <waitgate/event.h>

#include "observe/sink.h"

enum { WG_KONATA_INSIDE = 1024, WG_KONATA_ENDS = 16 };
/* An instruction between its entry and its retirement. */
typedef struct wg_konata_insn {
    uint64_t id;     /* of the event stream, 0: none */
    uint64_t number; /* in the file */
    char stage;      /* on lane 0; 0: none */
    bool in_unit;
} wg_konata_insn;
/* A stage that ends unless it continues. */
typedef struct wg_konata_end {
    uint64_t number, at;
    char stage; /* 0: none */
} wg_konata_end;

/* The texts of an instruction at its place: looking them up costs more than the rest of its rows. */
enum { WG_KONATA_TEXTS = 512 };
typedef struct wg_konata_text {
    uint32_t pc, word;
    uint8_t core, thread;
    bool used;
    char insn[160], place[160];
} wg_konata_text;

typedef struct wg_konata {
    wg_sink_out *out;
    wg_sink_words words;
    uint64_t cycle, now; /* of the file so far; of the event */
    uint64_t instructions, retired;
    wg_konata_insn inside[3][WG_KONATA_INSIDE]; /* by thread and id */
    uint64_t parent[3][2];                      /* those being expanded by the MOP and Replay Expanders; ids */
    uint64_t latch[3], post[8];                 /* numbers, plus 1; 0: none */
    wg_konata_end end[WG_KONATA_ENDS];
    wg_konata_text text[WG_KONATA_TEXTS]; /* by pc and word */
} wg_konata;
#define WG_KONATA_EVENTS \
    (WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_ISSUED) | \
     WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_LATCHED) | WG_EV_BIT(WG_EV_RELEASED) | \
     WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_SEMAPHORE))
/* `k` has its output and words, and is otherwise zero. */
void wg_konata_begin(wg_konata *k, uint64_t cycle);
void wg_konata_event(void *konata, const wg_event *e);
void wg_konata_end_of_run(wg_konata *k, uint64_t cycle);

#endif
