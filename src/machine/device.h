/* SPDX-License-Identifier: Apache-2.0 */
/* A device: a tile, its observers, its findings, and when to stop. */
#ifndef WG_DEVICE_H
#define WG_DEVICE_H

#include "machine/tile.h"

enum { WG_MAX_OBSERVERS = 8, WG_MAX_FINDINGS = 1024 };

typedef struct wg_observer {
    uint64_t kinds; /* 0: free */
    wg_observer_fn fn;
    void *user;
} wg_observer;

struct wg_device {
    const wg_arch *arch;  /* the architecture's, or scaled_arch */
    wg_arch *scaled_arch; /* the device's own copy (what_if.h); NULL: none */
    wg_profile profile;
    wg_tile *tile;
    wg_observer observer[WG_MAX_OBSERVERS];
    wg_finding *finding; /* WG_MAX_FINDINGS */
    size_t findings;
    uint64_t findings_dropped; /* distinct ones beyond the capacity */
    wg_severity stop_at;
    wg_delay *delay;      /* wg_perturb_with() */
    uint8_t *poll_memory; /* poll.c: a copy of L1 and of the cores' RAM, or room for one */
    uint32_t refusals;    /* retries_for_ever(): the Scalar Unit's refusals when no other agent could act … */
    uint64_t progress;    /* … and the tile's progress then */
    bool stop_requested;  /* a finding of at least stop_at was recorded */
    struct {
        uint32_t address, value, mask;
    } until;
    uint64_t *touches;     /* of the chip: how often a host accessed one of its tiles; NULL: no chip */
    const uint64_t *clock; /* of the chip: a tile with nothing to do may be behind it */
    uint32_t harvested;    /* of the chip */
    bool touched;
    uint64_t hung_at; /* the cycle in which wg_run() reported that nothing can move; 0: none */
    uint64_t rest_at; /* the cycle since which a tile of a chip has been idle; WG_NEVER: it is not */
    char error[256];
};

/* As wg_create(), for a tile of this kind: WG_TILE_TENSIX or WG_TILE_ETH. */
wg_status wg_create_tile(const wg_device_desc *desc, wg_tile_kind kind, wg_device **out);

/* Brings a tile of a chip up to the chip's clock. */
void wg_device_catch_up(wg_device *dev);

/* State was read from outside, which rolls back run-ahead: the chip checks this tile again. */
static inline void wg_look(wg_device *dev)
{
    if (dev->touches) {
        ++*dev->touches;
        dev->touched = true;
        if (dev->tile->sched.now < *dev->clock)
            wg_device_catch_up(dev);
    }
}

/* Somebody outside may observe every cycle from here on, or accesses state; an endless loop is run again. */
static inline void wg_reach(wg_device *dev)
{
    wg_look(dev);
    dev->tile->poll.settled = false;
}

/* State is about to be changed from outside: earlier rounds and refusals say nothing about later ones. */
static inline void wg_act(wg_device *dev)
{
    wg_reach(dev);
    wg_poll_disturb(dev->tile);
    dev->refusals = 0;
    dev->hung_at = 0;
}

/*
 * Runs a tile of a chip up to cycle `end`, or to the first cycle in which a packet it sends could be answered. All packets that
 * arrive before that are known. Returns the cycle it reached. The chip's clock stops at `limit`: cores may run ahead up to
 * there.
 */
uint64_t wg_device_window(wg_device *dev, uint64_t end, uint64_t limit);
/* Does the chip's run end once it is found to be endless? */
void wg_device_may_stop(wg_device *dev, bool may_stop);
/* Nothing can move: is the device done, or hung (time.md rule 11)? */
wg_stop wg_device_at_rest(const wg_device *dev);
/* Is something unfinished, and can nothing move except cores that poll? */
bool wg_device_hangs(wg_device *dev);
/* Is every released core parked, and has everything drained? */
bool wg_device_is_done(wg_device *dev);
bool wg_device_until_holds(const wg_device *dev);

/* shortcuts.c: parses a list as for wg_shortcuts(); false: it is malformed. */
bool wg_shortcuts_parse(const char *text, uint32_t *wanted);

/* Sets the error text and returns the status. */
wg_status wg_fail(wg_device *dev, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
