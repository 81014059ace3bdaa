/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why nothing moves on a chip, or on any chip of a cluster: the tiles are parties, which wait for each other over
 * links and NoCs. Each process describes its tiles; the first one gets all of them, and finds the cause.
 *
 *     chip 0, e8 ──link──► chip 1, e0 ──NoC──► chip 1, e1 ──link──► chip 0, e9 …
 */
#ifndef WG_CLUSTER_HANG_H
#define WG_CLUSTER_HANG_H

#include "cli/chip_internal.h"
#include "cluster/transport.h"

typedef enum wg_party_state {
    WG_PARTY_IDLE,    /* its cores are in reset */
    WG_PARTY_STOPPED, /* its cores have ended */
    WG_PARTY_WAITS,   /* for something from outside the tile */
    WG_PARTY_STUCK    /* the cause is in the tile */
} wg_party_state;

/* A tile of a cluster that hangs, in the form exchanged between processes. */
typedef struct wg_party {
    uint64_t down_since;              /* its link; UINT64_MAX: it is up */
    uint32_t chip, x, y, state;       /* wg_party_state */
    uint32_t linked, channel;         /* linked: it has a link, … */
    uint32_t peer_chip, peer_channel; /* … to this channel */
    uint32_t unsent, unacknowledged;  /* packets of its TX queues */
    uint32_t sends_to[8];             /* bit i: tile i of this chip was the target of its NIUs */
    uint32_t tile;                    /* its number, y * width + x */
    uint32_t alone;                   /* its chip is not of a cluster */
    char name[64];                    /* "chip 1, Ethernet tile 9-0 (e8)"; alone: "tile 1-2" */
    char who[24];                     /* "core E0" */
    char place[256], why[640];
} wg_party;

/* Adds the parties of this chip, whose run has hung. False: no memory. */
bool wg_cluster_parties(wg_chip_run *chip, wg_message *out);
/* The verdict over all of them, in the order of chips and tiles; nothing if no chip waits for another. */
void wg_cluster_verdict(const wg_party *party, size_t parties, wg_text *out);
void wg_cluster_verdict_json(const wg_party *party, size_t parties, wg_json *j);
/* Likewise for one chip, whose run has ended; nothing unless several tiles are involved. */
void wg_chip_verdict(wg_chip_run *chip, wg_text *out);
void wg_chip_verdict_json(wg_chip_run *chip, wg_json *j);

#endif
