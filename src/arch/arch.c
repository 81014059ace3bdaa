/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the architectures. */
#include "arch/arch.h"

#include <string.h>
#include <strings.h>

const wg_arch *const wg_archs[WG_ARCHS] = {[WG_ARCH_BH] = &wg_arch_bh, [WG_ARCH_WH] = &wg_arch_wh};

static bool same(const char *name, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp(name, text, length) == 0;
}

bool wg_arch_by_name(const char *name, size_t length, wg_arch_id *id)
{
    for (unsigned i = 0; i < WG_ARCHS; i++)
        if (same(name, length, wg_archs[i]->name)) {
            *id = (wg_arch_id)i;
            return true;
        }
    return false;
}

bool wg_arch_by_metal_name(const char *name, size_t length, wg_arch_id *id)
{
    for (unsigned i = 0; i < WG_ARCHS; i++)
        for (unsigned k = 0; k < 2; k++)
            if (wg_archs[i]->metal_names[k] && same(name, length, wg_archs[i]->metal_names[k])) {
                *id = (wg_arch_id)i;
                return true;
            }
    return false;
}
