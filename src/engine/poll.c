/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/poll.h"

#include "tile/tile.h"

bool wg_poll_skip(wg_tile *t, uint64_t limit)
{
    (void)t, (void)limit;
    return false;
}

bool wg_core_is_polling(const wg_tile *t, unsigned core)
{
    (void)t, (void)core;
    return false;
}
