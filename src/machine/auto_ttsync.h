/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto TTSync (Blackhole): keeps the order between a T core's accesses to GPRs, backend configuration and
 * TDMA-RISC on one side and the Tensix instructions it pushes on the other.
 *
 *     T core ──emits──> push ──────────────> queue of pushed instructions ──> … ──> Wait Gate
 *            └─emits──> GPR/config/TDMA ──> queue of accesses ──> region
 *
 * Order is the order of emission (phase I). An instruction waits at the gate for the accesses emitted
 * before its push; an access waits at its region for the instructions pushed before its emission. A load
 * that leaves the load/store unit while an older push is still in the store queue precedes that push:
 * this is the documented hole (TTS-07), a consequence of the order of emission.
 *
 * Facts: BabyRISCV/AutoTTSync.md, the assembly tables' RESOURCEDECL; TTS-01…TTS-20.
 */
#ifndef WG_AUTO_TTSYNC_H
#define WG_AUTO_TTSYNC_H

#include "arch/arch.h"
#include "machine/insn.h"

struct wg_tile;

/* The eight resources (TTS-02), as bits. */
enum {
    WG_TTS_CFG0_UNPACK0 = 1 << 0,
    WG_TTS_CFG0_UNPACK1 = 1 << 1,
    WG_TTS_CFG0_REST = 1 << 2,
    WG_TTS_CFG1_UNPACK0 = 1 << 3,
    WG_TTS_CFG1_UNPACK1 = 1 << 4,
    WG_TTS_CFG1_REST = 1 << 5,
    WG_TTS_GPR = 1 << 6,
    WG_TTS_TDMA = 1 << 7,
    WG_TTS_CFG0 = 7,
    WG_TTS_CFG1 = 7 << 3,
    WG_TTS_CFG = 63
};

/* Marks in wg_insn.ttsync. */
enum {
    WG_TTS_FIRST = 1, /* checked at the gate against its entry */
    WG_TTS_LAST = 2   /* the last instruction of its entry to pass the gate */
};

enum { WG_TTS_ENTRIES = 64, WG_TTS_ACCESSES = 16, WG_TTS_PATHS = 3, WG_TTS_CLASSES = 16 };

/* A pushed instruction (a MOP or REPLAY with its whole expansion) that has not entirely passed the gate. */
typedef struct wg_tts_entry {
    uint64_t id;                 /* of the pushed instruction */
    uint64_t order;              /* number of its push request */
    uint64_t gprs;               /* which GPRs it names; 0: not known (statistics only) */
    uint8_t reads, writes;       /* resources */
    uint8_t may_read, may_write; /* under the other setting, if `doubt` */
    uint8_t doubt;               /* WG_TTS_DOUBT_* */
    uint8_t linger;
} wg_tts_entry;
enum { WG_TTS_DOUBT_STATE_ID = 1, WG_TTS_DOUBT_TRACKING = 2 };

/* An access that was emitted and has not been processed; `count` > 1 if several had to share a place. */
typedef struct wg_tts_access {
    uint64_t order; /* number of push requests emitted before it */
    uint32_t address;
    uint8_t resources; /* 0: not tracked */
    bool is_write;
    bool unsettled; /* emitted while a change of the tracking bits was in flight */
    bool asked;     /* its region has asked whether it must wait */
    uint8_t count;
} wg_tts_access;

typedef struct wg_auto_ttsync {
    uint64_t emitted, arrived; /* push requests: left the store queue, entered the FIFO */
    uint64_t hold_until;       /* the gate: linger */
    uint64_t wrote_at,
        wrote_order;      /* configuration's last tracked store: the cycle in which it was processed, its order … */
    uint8_t wrote;        /* … and its resources */
    uint64_t settled_at;  /* a change of the tracking bits is in flight until this cycle */
    uint64_t settling_id; /* the SETC16 that changes them */
    uint8_t pending;      /* accesses emitted and not processed, on both architectures (GATE-17) */
    uint8_t entries, entry_head;
    bool stalled;               /* an access held the gate's head at the last check */
    bool state_id, state_known; /* CFG_STATE_ID as set by the pushes (TTS-20) */
    uint8_t access_head[WG_TTS_PATHS], access_count[WG_TTS_PATHS];
    uint16_t resources[WG_TTS_CLASSES]; /* as RESOURCEDECL encodes them */
    uint8_t linger[WG_TTS_CLASSES];
    wg_tts_access access[WG_TTS_PATHS][WG_TTS_ACCESSES];
    wg_tts_entry entry[WG_TTS_ENTRIES];
    /* Statistics (TTS-03). */
    uint64_t gate_stalls, core_stalls, spurious_stalls;
} wg_auto_ttsync;

/* ---- Called by the load/store units and the regions ------------------------------------------------ */
/*
 * Calls for cores other than T0…T2 and for other paths are ignored, so callers need not check. These functions must be called
 * on both architectures: they also keep the count of requests for the wait condition "RISC-V requests" (GATE-17).
 */

/*
 * Phase I: core emitted a request on path WG_PATH_GPR, _CONFIG, _TDMA or _PUSH (for a push: once per
 * request, fused or not; the address is ignored).
 */
void wg_ttsync_note_emitted(struct wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write);
/*
 * Phase I, for a load on one of the three tracked paths, once for each older pushed word that is still in
 * the store queue: the load overtakes it. Reports the hole if Auto TTSync would have held the load.
 */
void wg_ttsync_load_overtakes(struct wg_tile *t, unsigned core, wg_path path, uint32_t address, uint32_t pc,
                              uint32_t word);
/*
 * Phase C, with the request at the head of its core's queue for that path: must it wait for an instruction? Then *why is
 * filled, and WG_AGENT_REGIONS is woken when that instruction has passed.
 */
bool wg_ttsync_core_blocked(struct wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write,
                            wg_stall *why);
/* Phase C: the region has processed the request (a read: its value is determined). */
void wg_ttsync_note_processed(struct wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write);
/* The core enters soft reset: its requests in flight are lost. */
void wg_ttsync_core_stopped(struct wg_tile *t, unsigned core);

/* ---- Called by the frontend ------------------------------------------------------------------------- */

void wg_ttsync_reset(struct wg_tile *t, unsigned thread);
/* Phase H: a request enters the FIFO of a tracking thread. Data common to its instructions. */
typedef struct wg_tts_bundle {
    bool attends; /* every instruction goes through wg_ttsync_pushed(), not only some opcodes */
    bool tracked, settling, subdivided;
    bool state_id, state_set;
} wg_tts_bundle;
void wg_ttsync_arrived(struct wg_tile *t, unsigned thread, wg_tts_bundle *bundle);
/*
 * One of its instructions, in order. Sets its marks and makes an entry; true if Auto TTSync consumes it (RESOURCEDECL): it
 * must not be queued.
 */
bool wg_ttsync_pushed(struct wg_tile *t, unsigned thread, wg_insn *insn, wg_tts_bundle *bundle);
/* Phase E: must the gate's head, marked WG_TTS_FIRST, wait? Updates the linger register, and *why if it must. */
bool wg_ttsync_gate_blocked(struct wg_tile *t, unsigned thread, wg_stall *why);
/* For observers: a marked instruction passes the gate. */
void wg_ttsync_passes(struct wg_tile *t, const wg_insn *insn);
/* Phase E: an instruction marked WG_TTS_LAST passes the gate. */
void wg_ttsync_passed(struct wg_tile *t, unsigned thread);
/* The entry of pushed instruction `id` will produce nothing more: swallowed, lost or discarded. */
void wg_ttsync_dropped(struct wg_tile *t, unsigned thread, uint64_t id);
/* Phase E: a SETC16 passes the gate (its change of the tracking bits settles). */
void wg_ttsync_setc16_passed(struct wg_tile *t, unsigned thread, uint64_t id);
/* GATE-17: does the thread's core have a request in flight that is not itself waiting for an instruction? */
bool wg_ttsync_requests_pending(const struct wg_tile *t, unsigned thread);

/*
 * Does Auto TTSync order the core's stores to configuration after the thread's instructions? Then a unit sees the values
 * from before such a store, however late it reads them (TTS-06).
 */
bool wg_ttsync_tracks_config(const struct wg_tile *t, unsigned thread);
/* The resources that an access touches under the thread's present settings; 0: not tracked (TTS-11…TTS-13). */
uint8_t wg_ttsync_access_resources(const struct wg_tile *t, unsigned thread, wg_path path, uint32_t address);
/* The parts (bit 0 unpacker 0, 1 unpacker 1, 2 remainder) that the subdivided map gives to a Config word. */
uint8_t wg_ttsync_config_parts(const wg_arch *arch, unsigned word);

#endif
