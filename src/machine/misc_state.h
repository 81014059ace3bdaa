/* SPDX-License-Identifier: Apache-2.0 */
/* The Miscellaneous Unit's state: one instruction per thread, accepted in the last cycle. */
#ifndef WG_MISC_STATE_H
#define WG_MISC_STATE_H

#include "machine/insn.h"

typedef struct wg_misc {
    wg_insn insn[3];
    uint8_t pending; /* bit per thread */
} wg_misc;

#endif
