/* SPDX-License-Identifier: Apache-2.0 */
/* The same program once more, on a device of its own: with a remedy inserted, with costs scaled, without a wait. */
#ifndef WG_AGAIN_H
#define WG_AGAIN_H

#include "cli/session.h"
#include "machine/what_if.h"

/* A session that shares the programs of `s`, loaded into a new device, which has not run; `scaled`
 * (what_if.h) may be NULL. wg_again_end() either way. */
bool wg_again_begin(wg_session *v, const wg_session *s, uint64_t seed, const wg_what_if *scaled, wg_text *error);
void wg_again_end(wg_session *v);

uint64_t wg_again_hash(wg_device *dev); /* of L1 */
static inline uint64_t wg_again_mix(uint64_t hash, uint64_t value)
{
    uint64_t h = (hash ^ value) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}
/* Do the program's expectations of values hold? How it got there may differ. */
bool wg_again_values_hold(wg_session *v);

#endif
