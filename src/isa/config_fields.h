/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of the Tensix backend's configuration, as data: Config (32-bit words, two banks) has
 * WG_CFG_<name>, ThreadConfig (16-bit words, one set per thread) has WG_TCFG_<name>, over both
 * architectures. Names and positions are in config_fields.def and thread_config_fields.def.
 */
#ifndef WG_ISA_CONFIG_FIELDS_H
#define WG_ISA_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

typedef enum wg_cfg_id {
#define WG_CFG(name, bh, wh) WG_CFG_##name,
#define AT(word, shift, width)
#define NOT_HERE
#include "isa/config_fields.def"
    WG_CFG_COUNT
} wg_cfg_id;

typedef enum wg_tcfg_id {
#define WG_TCFG(name, bh, wh) WG_TCFG_##name,
#define AT(word, shift, width)
#define NOT_HERE
#include "isa/thread_config_fields.def"
    WG_TCFG_COUNT
} wg_tcfg_id;

/* A field lies in one word; one wider than 32 bits occupies whole words from `word` on. */
typedef struct wg_cfg_field {
    uint32_t mask; /* of the value, at bit 0; 0 on an architecture that has no such field */
    uint16_t word; /* "ADDR32" */
    uint8_t shift; /* "SHAMT" */
    uint8_t width; /* in bits, up to 128; 0: not on this architecture */
} wg_cfg_field;

/* Indexed by wg_arch_id, then by wg_cfg_id or wg_tcfg_id. */
extern const wg_cfg_field wg_cfg_fields[2][WG_CFG_COUNT];
extern const wg_cfg_field wg_tcfg_fields[2][WG_TCFG_COUNT];
extern const char *const wg_cfg_names[WG_CFG_COUNT];
extern const char *const wg_tcfg_names[WG_TCFG_COUNT];

static inline bool wg_cfg_present(const wg_cfg_field *f) { return f->width != 0; }

/* The field's value (of a wide field, its lowest 32 bits); 0 if the architecture has no such field. */
static inline uint32_t wg_cfg_extract(const wg_cfg_field *f, const uint32_t *words)
{
    return (words[f->word] >> f->shift) & f->mask;
}
static inline uint32_t wg_tcfg_extract(const wg_cfg_field *f, const uint16_t *words)
{
    return ((uint32_t)words[f->word] >> f->shift) & f->mask;
}
static inline uint32_t wg_cfg_get(wg_arch_id arch, wg_cfg_id id, const uint32_t *words)
{
    return wg_cfg_extract(&wg_cfg_fields[arch][id], words);
}
static inline uint32_t wg_tcfg_get(wg_arch_id arch, wg_tcfg_id id, const uint16_t *words)
{
    return wg_tcfg_extract(&wg_tcfg_fields[arch][id], words);
}

/* Put a value into its field; bits that do not fit are dropped, an absent field stays absent. */
static inline void wg_cfg_insert(const wg_cfg_field *f, uint32_t *words, uint32_t value)
{
    if (f->mask)
        words[f->word] = (words[f->word] & ~(f->mask << f->shift)) | (value & f->mask) << f->shift;
}
static inline void wg_tcfg_insert(const wg_cfg_field *f, uint16_t *words, uint32_t value)
{
    if (f->mask)
        words[f->word] = (uint16_t)((words[f->word] & ~(f->mask << f->shift)) | (value & f->mask) << f->shift);
}

/* A whole field of any width, low bits first; bits beyond it are 0. */
static inline void wg_cfg_extract_wide(const wg_cfg_field *f, const uint32_t *words, uint32_t out[4])
{
    out[0] = wg_cfg_extract(f, words);
    for (unsigned i = 1; i < 4; i++)
        out[i] = f->width > 32 * i ? words[f->word + i] : 0;
}

/* Case matters. WG_CFG_COUNT or WG_TCFG_COUNT if there is no such field on either architecture. */
wg_cfg_id wg_cfg_by_name(const char *name, size_t length);
wg_tcfg_id wg_tcfg_by_name(const char *name, size_t length);

#endif
