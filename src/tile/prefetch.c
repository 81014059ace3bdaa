/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of the cores' instruction prefetchers: RISC_PREFETCH_CTRL and the limit addresses.
 *
 * Facts: InstructionCache.md of each architecture. Decided here: an unwritten control word means enabled, with as many
 * requests as the hardware has.
 */
#include "machine/tile.h"

bool wg_tile_may_prefetch(const wg_tile *t, unsigned core, uint32_t line)
{
    const wg_core_spec *k = &t->spec->core[core];
    const uint32_t *config = t->regs.config.bank[0];
    const uint32_t ctrl = config[t->arch->config_prefetch], end = config[k->prefetch_end];
    return (!ctrl || ctrl & k->prefetch_on) && (!end || line <= end);
}
