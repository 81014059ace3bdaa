// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: SrcA
// says: one_tile.h:
#include "pipeline.h"

#ifndef FIXED
#define UNPACKS 2
#endif

static inline void b_ends(void) {}
static inline void t2_ends(void) { tensix_sync(); }

#include "common/one_tile.h"
