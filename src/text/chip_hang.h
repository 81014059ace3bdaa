/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why nothing moves on a chip, or on any chip of a cluster: the tiles are parties, which wait for each other over
 * links and NoCs.
 *
 *     chip 0, e8 ──link──► chip 1, e0 ──NoC──► chip 1, e1 ──link──► chip 0, e9 …
 */
#ifndef WG_CHIP_HANG_H
#define WG_CHIP_HANG_H

#include <waitgate/chip.h>

#include "explain/hang.h"
#include "text/text.h"

typedef enum wg_party_state {
    WG_PARTY_IDLE,    /* its cores are in reset */
    WG_PARTY_STOPPED, /* its cores have ended */
    WG_PARTY_WAITS,   /* for something from outside the tile */
    WG_PARTY_STUCK    /* the cause is in the tile */
} wg_party_state;

/* A tile of a chip that hangs; processes exchange it as it is. */
typedef struct wg_party {
    uint64_t down_since;              /* its link; UINT64_MAX: it is up */
    uint32_t chip, x, y, state;       /* wg_party_state */
    uint32_t linked, channel;         /* linked: it has a link, … */
    uint32_t peer_chip, peer_channel; /* … to this channel */
    uint32_t unsent, unacknowledged;  /* packets of its TX queues */
    uint32_t sends_to[8];             /* bit i: tile i of this chip was the target of its NIUs */
    uint32_t tile;                    /* its number, y * width + x */
    uint32_t launched;                /* kernels of tt-metal: those of other tiles have not ended, but are idle */
    uint32_t alone;                   /* its chip is not of a cluster */
    char name[64];                    /* "chip 1, Ethernet tile 9-0 (e8)"; alone: "tile 1-2" */
    char who[24];                     /* "core E0" */
    char place[256], why[640];
} wg_party;

/*
 * A tile in use. `chip`: its number in a cluster, negative: alone. `hang`: why the tile does not move, NULL: it does not wait.
 * `places` names source lines.
 */
void wg_party_describe(const wg_grid *grid, int chip, unsigned x, unsigned y, const wg_hang *hang,
                       const wg_history *places, wg_party *out);
/* Has this inspected tile anything to say: does it wait, or would a core move? */
bool wg_hang_tells(const wg_hang *hang);
/* The verdict over all of them, in the order of chips and tiles; nothing unless several tiles are involved. */
void wg_parties_verdict(const wg_party *party, size_t parties, wg_text *out);
void wg_parties_verdict_json(const wg_party *party, size_t parties, wg_json *j);

#endif
