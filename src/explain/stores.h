/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a core's program still store to an address? Its code is followed from the current pc with the current registers; a register is
 * known as long as every path computes the same value for it.
 */
#ifndef WG_STORES_H
#define WG_STORES_H

#include "explain/reachable.h"

/*
 * SURELY: a store to the word at `address` is reachable, at *pc. MAYBE: stores whose address is not known are (*pc is 0), or one
 * whose address comes from memory as it is now (*pc). Both directions of every branch are followed.
 */
wg_reachable wg_core_stores_to(const wg_device *dev, unsigned core, uint32_t from, uint32_t address, uint32_t *pc);

#endif
