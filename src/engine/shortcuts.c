/* SPDX-License-Identifier: Apache-2.0 */
/* The list of wanted shortcuts, by name. */
#include <string.h>

#include "machine/device.h"
#include "machine/fast.h"

static const char *const names[] = {
#define WG_FAST_PATH(id, name, what) name,
#include "machine/fast.def"
#undef WG_FAST_PATH
};

const char *wg_shortcut_name(unsigned index) { return index < WG_FAST_PATHS ? names[index] : NULL; }

uint64_t wg_shortcut_uses(const wg_device *dev, unsigned index)
{
    return index < WG_FAST_PATHS ? dev->tile->fast_uses[index] : 0;
}

uint64_t wg_shortcut_cycles(const wg_device *dev, unsigned index)
{
    return index < WG_FAST_PATHS ? dev->tile->fast_cycles[index] : 0;
}

bool wg_shortcuts_parse(const char *text, uint32_t *wanted)
{
    if (!text || !*text) {
        *wanted = WG_FAST_ALL;
        return true;
    }
    if (strcmp(text, "none") == 0) {
        *wanted = 0;
        return true;
    }
    bool except = *text == '-';
    *wanted = except ? WG_FAST_ALL : 0;
    while (*text) {
        unsigned i = 0;
        if ((*text == '-') != except)
            return false;
        text += except;
        size_t length = strcspn(text, ",");
        while (i < WG_FAST_PATHS && !(strlen(names[i]) == length && strncmp(names[i], text, length) == 0))
            i++;
        if (i == WG_FAST_PATHS)
            return false;
        *wanted ^= 1u << i;
        text += length;
        if (*text == ',' && !*++text)
            return false;
    }
    return true;
}

wg_status wg_shortcuts(wg_device *dev, const char *text)
{
    uint32_t wanted;
    if (!wg_shortcuts_parse(text, &wanted))
        return wg_fail(dev, WG_ERR_ARGUMENT, "`%s` is neither `none` nor a list of shortcuts, or of -shortcuts", text);
    wg_reach(dev);
    dev->tile->fast_wanted = wanted;
    wg_fast_update(dev->tile);
    return WG_OK;
}
