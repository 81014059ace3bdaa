/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only makes the machine faster. The plain machine is complete without it: `meson setup -Dfast=false` compiles none
 * of it, WAITGATE_FAST switches it off by name, and states and cycles are the same with and without.
 *
 *     plain machine ──"does somebody take this?"──> fast.h ──> src/fast/
 *
 * This is the one header of it that the plain machine includes.
 */
#ifndef WG_FAST_H
#define WG_FAST_H

#include "observe/emit.h"
#include "tile/tile.h"

#ifndef WG_FAST
#define WG_FAST 1
#endif

typedef enum wg_fast_path {
#define WG_FAST_PATH(id, name, what) WG_FAST_##id,
#include "fast/fast.def"
#undef WG_FAST_PATH
    WG_FAST_PATHS
} wg_fast_path;
#define WG_FAST_ALL ((1u << WG_FAST_PATHS) - 1)

/*
 * The one place that says when shortcuts may be taken: nobody watches, nothing is perturbed, and it is not lockstep. To
 * be called whenever one of these changes. Cycles of units and threads may follow each other whoever watches.
 */
static inline void wg_fast_update(wg_tile *t)
{
    bool plain = t->lockstep, observed = t->perturbed || (WG_EVENTS && t->watched);
    t->fast = !WG_FAST || plain ? 0 : observed ? t->fast_wanted & 1u << WG_FAST_PIPELINE : t->fast_wanted;
}

/* May this shortcut be taken now? */
static inline bool wg_fast(const wg_tile *t, wg_fast_path path) { return WG_FAST && t->fast >> path & 1; }

#if WG_FAST
/* Cycles from the current one on in which nobody acts but units and threads, to before `end` at most. */
void wg_fast_pipeline(wg_tile *t, uint64_t end);
/* Phases D to G of the threads that are due; false: nothing was done. */
bool wg_fast_frontends(wg_tile *t, unsigned due);
#else
static inline void wg_fast_pipeline(wg_tile *t, uint64_t end) { (void)t, (void)end; }
static inline bool wg_fast_frontends(wg_tile *t, unsigned due)
{
    (void)t, (void)due;
    return false;
}
#endif

#endif
