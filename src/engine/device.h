/* SPDX-License-Identifier: Apache-2.0 */
/* A device: a tile, its observers, its findings, and when to stop. */
#ifndef WG_DEVICE_H
#define WG_DEVICE_H

#include "tile/tile.h"

enum { WG_MAX_OBSERVERS = 8, WG_MAX_FINDINGS = 1024 };

typedef struct wg_observer {
    uint64_t kinds;      /* 0: free */
    wg_observer_fn fn;
    void *user;
} wg_observer;

struct wg_device {
    const wg_arch *arch;
    wg_profile profile;
    wg_tile *tile;
    char *block;               /* the memory that holds the tile */
    wg_observer observer[WG_MAX_OBSERVERS];
    wg_finding *finding;            /* WG_MAX_FINDINGS */
    size_t findings;
    uint64_t findings_dropped;      /* distinct ones beyond the capacity */
    wg_severity stop_at;
    wg_delay *delay;                /* wg_perturb_with() */
    uint32_t refusals;              /* retries_for_ever(): the Scalar Unit's when nobody else could act any more … */
    uint64_t progress;              /* … and how far everybody was */
    bool stop_requested;            /* a finding of at least stop_at was recorded */
    struct { uint32_t address, value, mask; } until;
    char error[256];
};

/* Sets the error text and gives the status back. */
wg_status wg_fail(wg_device *dev, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
