/* SPDX-License-Identifier: Apache-2.0 */
/* The list of wanted shortcuts, by name. */
#include <string.h>

#include "machine/device.h"
#include "machine/fast.h"

static const char *const names[] = {
#define WG_FAST_PATH(id, name, needs, what) name,
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

static const uint32_t needs[] = {
#define WG_FAST_PATH(id, name, needs, what) needs,
#include "machine/fast.def"
#undef WG_FAST_PATH
};

/* With what those in `wanted` need. Each stands below what it needs. */
static uint32_t complete(uint32_t wanted)
{
    for (unsigned i = WG_FAST_PATHS; i-- > 0;)
        if (wanted >> i & 1)
            wanted |= needs[i];
    return wanted;
}

bool wg_shortcuts_parse(const char *text, uint32_t *wanted)
{
    uint32_t named = 0;
    if (!text || !*text) {
        *wanted = WG_FAST_ALL;
        return true;
    }
    if (strcmp(text, "none") == 0) {
        *wanted = 0;
        return true;
    }
    bool except = *text == '-';
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
        named |= 1u << i;
        text += length;
        if (*text == ',' && !*++text)
            return false;
    }
    *wanted = except ? WG_FAST_ALL & ~named : complete(named);
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
