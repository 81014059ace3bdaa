/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of the cores' instruction prefetchers: RISC_PREFETCH_CTRL and the limit addresses in backend
 * configuration; in Ethernet tiles, ETH_RISC_PREFECTH_CTRL and ETH_RISC_PREFECTH_PC.
 *
 * Facts: InstructionCache.md of each architecture. Decided here: an unwritten control word means enabled, with the hardware's
 * maximum number of requests.
 */
#include "machine/tile.h"

enum { ETH_CTRL = 0x0B8, ETH_END = 0x0BC }; /* offsets from 0xFFB12000 */

bool wg_tile_may_prefetch(const wg_tile *t, unsigned core, uint32_t line)
{
    const wg_core_spec *k = &t->spec->core[core];
    const bool eth = t->spec->eth;
    const uint32_t *word = eth ? t->regions.control.word : t->regs.config.bank[0];
    const uint32_t ctrl = word[eth ? ETH_CTRL / 4 : t->arch->config_prefetch];
    const uint32_t end = word[eth ? ETH_END / 4 : k->prefetch_end];
    return (!ctrl || ctrl & (eth ? 1 : k->prefetch_on)) && (!end || line <= end);
}
