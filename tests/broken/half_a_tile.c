// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: uninitialised-value
// says: L1 0x0304
// says: An unpacker took it
#include "pipeline.h"

#ifndef FIXED
#define FILLED (TILE_DATUMS / 2)
#endif

static inline void b_ends(void) {}
static inline void t2_ends(void) { tensix_sync(); }

#include "common/one_tile.h"
