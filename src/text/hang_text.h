/* SPDX-License-Identifier: Apache-2.0 */
/* The hang report, and the state report of a run that was cut short, as text and as JSON. */
#ifndef WG_HANG_TEXT_H
#define WG_HANG_TEXT_H

#include "explain/hang.h"
#include "text/race_text.h"

/* `hung`: as passed to the inspection. The verdict with its source lines, then the waits and the state. */
void wg_hang_verdict_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out);
void wg_hang_state_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out);
void wg_hang_text(const wg_race_words *w, const wg_hang *h, bool hung, wg_text *out);
/* A member "hang", or "state", of the object that is open. */
void wg_hang_json(const wg_race_words *w, const wg_hang *h, bool hung, wg_json *j);

#endif
