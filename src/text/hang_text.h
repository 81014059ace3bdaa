/* SPDX-License-Identifier: Apache-2.0 */
/* The hang report, and the state report of a run that was cut short, as text and as JSON. */
#ifndef WG_HANG_TEXT_H
#define WG_HANG_TEXT_H

#include "explain/hang.h"
#include "text/text.h"

typedef struct wg_hang_words {
    wg_arch_id arch;
    void *user;
    /* Where a pc is in the source; "" if that is not known. NULL: nobody knows. */
    const char *(*place)(void *user, unsigned core, uint32_t pc, char *room, size_t bytes);
} wg_hang_words;

/* `hung`: as it was inspected with. */
void wg_hang_text(const wg_hang_words *w, const wg_hang *h, bool hung, wg_text *out);
/* A member "hang", or "state", of the object that is open. */
void wg_hang_json(const wg_hang_words *w, const wg_hang *h, bool hung, wg_json *j);

#endif
