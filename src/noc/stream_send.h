/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by stream.c and stream_send.c: a phase's configuration, and the packets of streams. */
#ifndef WG_STREAM_SEND_H
#define WG_STREAM_SEND_H

#include "machine/stream.h"

/* STREAM_MISC_CFG, and on BH STREAM_ONETIME_MISC_CFG. */
typedef struct wg_stream_flags {
    bool out_noc, update_noc;                 /* the NoC of messages, and of flow control */
    bool gathers, from_software, from_stream; /* source */
    bool to_software, to_gather, to_stream;   /* destination; none: nowhere */
    bool source_changes, dest_changes;        /* with the next phase */
    bool no_flow_control, dest_no_flow_control, no_flush, from_multicast;
    bool auto_config, auto_advance;
    bool undocumented;
} wg_stream_flags;
wg_stream_flags wg_stream_flags_of(const struct wg_tile *t, unsigned stream);

void wg_stream_complain(struct wg_tile *t, unsigned stream, uint32_t value, const char *what);
/* Pops messages off the metadata FIFO; frees room in a buffer. */
void wg_stream_take(struct wg_tile *t, unsigned stream, unsigned messages);
void wg_stream_release(struct wg_tile *t, unsigned source, uint32_t size);

/* All receivers are ready for this phase. */
bool wg_stream_met(struct wg_tile *t, unsigned stream);
/* The transmitter's side of the handshake: asks the receivers. */
void wg_stream_ask(struct wg_tile *t, unsigned stream);
/* Sends at most one packet of a running stream. Returns when to retry; WG_NEVER: nothing can be sent. */
uint64_t wg_stream_send_step(struct wg_tile *t, unsigned stream);
/* Is the phase's data sent and, where the phase must wait for it, acknowledged by the destination? */
bool wg_stream_settled(struct wg_tile *t, unsigned stream);

#endif
