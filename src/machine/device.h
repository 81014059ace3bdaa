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
    const wg_arch *arch;
    wg_profile profile;
    wg_tile *tile;
    wg_observer observer[WG_MAX_OBSERVERS];
    wg_finding *finding; /* WG_MAX_FINDINGS */
    size_t findings;
    uint64_t findings_dropped; /* distinct ones beyond the capacity */
    wg_severity stop_at;
    wg_delay *delay;      /* wg_perturb_with() */
    uint8_t *poll_memory; /* poll.c: a copy of L1 and of the cores' RAM, or room for one */
    uint32_t refusals;    /* retries_for_ever(): the Scalar Unit's when nobody else could act any more … */
    uint64_t progress;    /* … and how far everybody was */
    bool stop_requested;  /* a finding of at least stop_at was recorded */
    struct {
        uint32_t address, value, mask;
    } until;
    uint64_t *touches;     /* of the chip: how often somebody reached into one of its tiles; NULL: no chip */
    const uint64_t *clock; /* of the chip: a tile with nothing to do may be behind it */
    uint32_t harvested;    /* of the chip */
    bool touched;
    uint64_t hung_at; /* wg_run() has said in this cycle that nothing can move any more; 0: it has not */
    uint64_t rest_at; /* of a tile of a chip that has nothing to do: since when; WG_NEVER: it has */
    char error[256];
};

/* As wg_create(), of a tile of this kind: WG_TILE_TENSIX or WG_TILE_ETH. */
wg_status wg_create_tile(const wg_device_desc *desc, wg_tile_kind kind, wg_device **out);

/* A tile of a chip comes to the chip's clock. */
void wg_device_catch_up(wg_device *dev);

/* Somebody outside looked in, which takes back what cores had prepared: the chip looks at this tile again. */
static inline void wg_look(wg_device *dev)
{
    if (dev->touches) {
        ++*dev->touches;
        dev->touched = true;
        if (dev->tile->sched.now < *dev->clock)
            wg_device_catch_up(dev);
    }
}

/* Somebody outside may want to see every cycle from here on, or reaches in; a loop that never ends goes on. */
static inline void wg_reach(wg_device *dev)
{
    wg_look(dev);
    dev->tile->poll.settled = false;
}

/* Somebody outside is about to change something: rounds and refusals before that say nothing about those to come. */
static inline void wg_act(wg_device *dev)
{
    wg_reach(dev);
    wg_poll_disturb(dev->tile);
    dev->refusals = 0;
    dev->hung_at = 0;
}

/*
 * A tile of a chip up to cycle `end`, or to where what it sends could be answered if that is earlier; what arrives
 * before that is known. Returns how far it came. `limit` is where the chip's clock stops: the cores may prepare private
 * work up to there.
 */
uint64_t wg_device_window(wg_device *dev, uint64_t end, uint64_t limit);
/* Does the chip's run end where it can never end by itself? */
void wg_device_may_stop(wg_device *dev, bool may_stop);
/* Nothing can move any more: done, or hung (time.md rule 11)? */
wg_stop wg_device_at_rest(const wg_device *dev);
/* Can nothing move any more, except cores that poll, and is something unfinished? */
bool wg_device_hangs(wg_device *dev);
/* Is every released core parked, and has everything drained? */
bool wg_device_is_done(wg_device *dev);
bool wg_device_until_holds(const wg_device *dev);

/* shortcuts.c: a list as for wg_shortcuts(); false: it is none. */
bool wg_shortcuts_parse(const char *text, uint32_t *wanted);

/* Sets the error text and gives the status back. */
wg_status wg_fail(wg_device *dev, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
