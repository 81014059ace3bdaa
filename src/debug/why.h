/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of a location and the origin of their data, as text or JSON. */
#ifndef WG_DEBUG_WHY_H
#define WG_DEBUG_WHY_H

#include <waitgate/debug.h>

#include "text/text.h"

#define WG_WHY_LOCATIONS \
    "l1:ADDRESS[+BYTES], dst:ROW[+ROWS], srca:BANK:ROW, srcb:BANK:ROW, lreg:N, gpr:THREAD:N, config:BANK:WORD, " \
    "threadconfig:THREAD:WORD or semaphore:N"

typedef struct wg_why_desc {
    const char *title; /* of the run; NULL: none */
    const char *of;    /* the location */
    bool json;
    bool looks;      /* report elements of inputs that are not finite numbers, … */
    unsigned format; /* … in this wg_format: FP32, FP16 or BF16 */
} wg_why_desc;

bool wg_why_understands(const char *of);
/* Replays the history and answers for the current cycle. False: it failed; wg_debug_error() says why. */
bool wg_why_text(wg_debug *d, wg_who who, const wg_why_desc *desc, wg_text *out);

#endif
