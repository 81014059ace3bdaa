/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of a location and the origin of their data, as text or JSON. */
#ifndef WG_DEBUG_WHY_H
#define WG_DEBUG_WHY_H

#include <waitgate/debug.h>

#include "text/text.h"

#define WG_WHY_LOCATIONS \
    "l1:ADDRESS[+BYTES], dram:ADDRESS[+BYTES], dst:ROW[+ROWS], srca:BANK:ROW, srcb:BANK:ROW, lreg:N, gpr:THREAD:N, " \
    "config:BANK:WORD, " \
    "threadconfig:THREAD:WORD or semaphore:N, or several with commas between"

typedef struct wg_why_desc {
    const char *title;   /* of the run; NULL: none */
    const char *of;      /* the location */
    const char *of_text; /* what it is called; NULL: as in `of` */
    bool json;
    void *user; /* of the functions */
    /* Describes an input in a tile's memory; writes nothing if it is unknown. */
    void (*input)(void *user, unsigned x, unsigned y, uint64_t first, uint64_t bytes, wg_text *out);
    /* The conclusion from all inputs, as lines or as members of a JSON object (the other is NULL); false: it failed. */
    bool (*verdict)(void *user, wg_text *out, wg_json *j);
} wg_why_desc;

bool wg_why_understands(const char *of);
/* Replays the history and answers for the current cycle. False: it failed; wg_debug_error() says why. */
bool wg_why_text(wg_debug *d, wg_who who, const wg_why_desc *desc, wg_text *out);

#endif
