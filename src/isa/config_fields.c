/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration fields' tables, from config_fields.def and thread_config_fields.def. */
#include "isa/config_fields.h"

#include <string.h>

/* A position is one macro argument consisting of an initializer's parts; an absent field is all zero. */
#define PLACE(word, shift, width) \
    { \
        (uint32_t)(((width) >= 32 ? UINT64_C(0x100000000) : UINT64_C(1) << (width) % 32) - 1), word, shift, width \
    }
#define IS_INSIDE(word, shift, width) \
    ((width) > 0 && ((shift) + (width) <= 32 || ((shift) == 0 && (width) % 32 == 0 && (width) <= 128)))

const wg_cfg_field wg_cfg_fields[2][WG_CFG_COUNT] = {[WG_ARCH_BH] =
                                                         {
#define AT PLACE
#define NOT_HERE \
    { \
        0, 0, 0, 0 \
    }
#define WG_CFG(name, bh, wh) [WG_CFG_##name] = bh,
#include "isa/config_fields.def"
                                                         },
                                                     [WG_ARCH_WH] = {
#define AT PLACE
#define NOT_HERE \
    { \
        0, 0, 0, 0 \
    }
#define WG_CFG(name, bh, wh) [WG_CFG_##name] = wh,
#include "isa/config_fields.def"
                                                     }};

const wg_cfg_field wg_tcfg_fields[2][WG_TCFG_COUNT] = {[WG_ARCH_BH] =
                                                           {
#define AT PLACE
#define NOT_HERE \
    { \
        0, 0, 0, 0 \
    }
#define WG_TCFG(name, bh, wh) [WG_TCFG_##name] = bh,
#include "isa/thread_config_fields.def"
                                                           },
                                                       [WG_ARCH_WH] = {
#define AT PLACE
#define NOT_HERE \
    { \
        0, 0, 0, 0 \
    }
#define WG_TCFG(name, bh, wh) [WG_TCFG_##name] = wh,
#include "isa/thread_config_fields.def"
                                                       }};

#define AT IS_INSIDE
#define NOT_HERE 1
#define WG_CFG(name, bh, wh) _Static_assert((bh) && (wh), #name ": the field leaves its word");
#include "isa/config_fields.def"
#define AT(word, shift, width) ((width) > 0 && (shift) + (width) <= 16)
#define NOT_HERE 1
#define WG_TCFG(name, bh, wh) _Static_assert((bh) && (wh), #name ": the field leaves its word");
#include "isa/thread_config_fields.def"

const char *const wg_cfg_names[WG_CFG_COUNT] = {
#define AT(word, shift, width)
#define NOT_HERE
#define WG_CFG(name, bh, wh) #name,
#include "isa/config_fields.def"
};

const char *const wg_tcfg_names[WG_TCFG_COUNT] = {
#define AT(word, shift, width)
#define NOT_HERE
#define WG_TCFG(name, bh, wh) #name,
#include "isa/thread_config_fields.def"
};

/* The lengths are a compact prefilter: most names are rejected without being read. */
static const uint8_t cfg_lengths[WG_CFG_COUNT] = {
#define AT(word, shift, width)
#define NOT_HERE
#define WG_CFG(name, bh, wh) sizeof #name - 1,
#include "isa/config_fields.def"
};

static const uint8_t tcfg_lengths[WG_TCFG_COUNT] = {
#define AT(word, shift, width)
#define NOT_HERE
#define WG_TCFG(name, bh, wh) sizeof #name - 1,
#include "isa/thread_config_fields.def"
};

static unsigned find(const char *const *names, const uint8_t *lengths, unsigned count, const char *name, size_t length)
{
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] == length && memcmp(names[i], name, length) == 0)
            return i;
    return count;
}

wg_cfg_id wg_cfg_by_name(const char *name, size_t length)
{
    return (wg_cfg_id)find(wg_cfg_names, cfg_lengths, WG_CFG_COUNT, name, length);
}

wg_tcfg_id wg_tcfg_by_name(const char *name, size_t length)
{
    return (wg_tcfg_id)find(wg_tcfg_names, tcfg_lengths, WG_TCFG_COUNT, name, length);
}
