/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlay streams that carry messages.
 *
 *     software ──┐                 receive buffer (L1)                    ┌──> software
 *     NoC ───────┼──> header array (L1) ──> metadata FIFO ──> [transmit] ─┼──> NoC: another stream, DRAM
 *     gather ────┘                                                │       ├──> gather
 *                 <── flow control ── read pointer <── reads done ┘       └──> nowhere
 *
 * A phase is a number of messages. The registers are in the tile's overlay (overlay.c); the state here is what a stream keeps
 * in addition. Sizes and addresses are in units of 16 bytes.
 *
 * Facts: NoC/Overlay/ of Wormhole, which also covers Blackhole; register numbers and fields from the public overlay
 * parameters. Decided here: a stream performs one action of each kind per cycle, from the cycle after its cause on; its
 * packets leave after answers and the initiators' requests; only the recipient's NIU counts them.
 */
#ifndef WG_STREAM_H
#define WG_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

enum { WG_STREAM_FIFO = 8 };

typedef enum wg_stream_state { /* STREAM_CURR_STATE */
                               WG_STREAM_IDLE = 0,
                               WG_STREAM_LOADING = 1,
                               WG_STREAM_LOADED = 3,
                               WG_STREAM_FLUSHING = 4,
                               WG_STREAM_RUNNING = 5
} wg_stream_state;

typedef struct wg_stream {
    struct {
        uint32_t address, size; /* of a message */
        uint32_t header[4];
        uint8_t source; /* the stream in whose buffer it is */
    } message[WG_STREAM_FIFO];
    struct {
        uint64_t at; /* when the NIU has read it; software: WG_NEVER */
        uint32_t size;
        uint8_t source;
    } read[WG_STREAM_FIFO];
    uint8_t messages, reads;
    uint8_t state;               /* wg_stream_state */
    bool source_met, dest_met;   /* no handshake precedes the next phase */
    bool waits_ready;            /* receivers are not all known to be ready */
    bool asks;                   /* a handshake request has to be sent */
    bool greet;                  /* a handshake response has to be sent */
    bool got_data;               /* in this phase */
    uint8_t next_config;         /* NextConfigSize */
    uint16_t left;               /* messages of this phase that have not been forwarded */
    uint16_t config_at;          /* words of configuration loaded, from … */
    uint32_t config_from;        /* … there */
    uint32_t load_at;            /* offset in the buffer of the message that is loaded next */
    uint32_t held, unsent;       /* in the buffer: not free yet; not forwarded yet */
    uint32_t sent;               /* of the first message */
    uint32_t credit;             /* freed, not yet reported to the transmitter */
    uint32_t ready, ready_phase; /* receivers that are ready for that phase */
    uint8_t group, part;         /* gather: its position */
    uint16_t round;
    bool grouped; /* gather: a group has been chosen */
} wg_stream;

typedef struct wg_streams {
    uint64_t due;      /* the next cycle in which a stream may act; UINT64_MAX: only after another event */
    uint64_t active;   /* bit i: stream i has something to do */
    uint64_t done;     /* STREAM_BLOB_AUTO_CFG_DONE */
    uint8_t last_done; /* where STREAM_BLOB_NEXT_AUTO_CFG_DONE continues */
    wg_stream stream[64];
} wg_streams;

void wg_streams_reset(wg_streams *s);
/* Phase A, with NIU 0. Returns the cycle of the next call. */
uint64_t wg_streams_tick(struct wg_tile *t);
/* Something about a stream has changed; it acts from the next cycle on. */
void wg_stream_stir(struct wg_tile *t, unsigned stream);

/* Register writes with an effect (overlay.c). */
bool wg_stream_auto_config(const struct wg_tile *t, unsigned stream);
void wg_stream_advance(struct wg_tile *t, unsigned stream);
void wg_stream_configured(struct wg_tile *t, unsigned stream); /* miscellaneous configuration was written */
void wg_stream_restart(struct wg_tile *t, unsigned stream);    /* STREAM_RESET */
void wg_stream_push(struct wg_tile *t, unsigned stream, uint32_t messages, uint32_t size);
void wg_stream_push_one(struct wg_tile *t, unsigned stream, uint32_t address, uint32_t size);
void wg_stream_pop(struct wg_tile *t, unsigned stream, uint32_t messages);
void wg_stream_free(struct wg_tile *t, unsigned stream);
void wg_stream_is_ready(struct wg_tile *t, unsigned stream, uint32_t value);
void wg_stream_is_asked(struct wg_tile *t, unsigned stream);
void wg_stream_clear_done(struct wg_tile *t, uint64_t mask);
uint32_t wg_stream_next_done(struct wg_tile *t);

/* A packet of a message has been written to L1. */
void wg_stream_delivered(struct wg_tile *t, unsigned stream, uint32_t bytes, bool first, bool last);

unsigned wg_stream_capacity(const struct wg_tile *t, unsigned stream);
static inline bool wg_stream_has_headers(unsigned stream) { return stream == 4 || stream == 5; }
static inline bool wg_stream_to_dram(unsigned stream) { return stream < 4 || (stream >= 8 && stream < 12); }

#endif
