/* SPDX-License-Identifier: Apache-2.0 */
/* The same program once more, on another device: with a remedy inserted, with costs scaled, without a wait. */
#ifndef WG_AGAIN_H
#define WG_AGAIN_H

#include "cli/session.h"
#include "explain/exploration.h"
#include "machine/what_if.h"

/* A session that shares the programs of `s`, loaded into a new device, which has not run; `scaled`
 * (what_if.h) may be NULL. wg_again_end() either way. */
bool wg_again_begin(wg_session *v, const wg_session *s, uint64_t seed, const wg_what_if *scaled, wg_text *error);
void wg_again_end(wg_session *v);

/* The cycle limit for repeating a run of this length; a longer one counts as stuck. */
uint64_t wg_again_limit(uint64_t cycles);
/* Do the program's expectations of values hold? The way to them may differ. */
bool wg_again_values_hold(wg_session *v);

#endif
