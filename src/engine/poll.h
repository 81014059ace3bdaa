/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling by arithmetic (time.md rule 10): when nothing in the tile acts but cores in loops that store
 * nothing, and the tile's whole state comes back relative to time, whole periods are skipped.
 */
#ifndef WG_POLL_H
#define WG_POLL_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

/*
 * To be called between cycles. Advances t->sched.now by whole periods, to at most `limit` and not beyond
 * the next appointment of anybody else. True if nothing else can ever act: the polling never ends by itself.
 */
bool wg_poll_skip(struct wg_tile *t, uint64_t limit);
/* Is the core in a loop that was found to repeat itself exactly, up to now? */
bool wg_core_is_polling(const struct wg_tile *t, unsigned core);

#endif
