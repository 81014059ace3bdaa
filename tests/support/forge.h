/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forged snapshots: of a device in the middle of any activity, with fields changed and the checksum corrected. Bytes
 * from `source` decide everything; after the last one all is zero.
 */
#ifndef FORGE_H
#define FORGE_H

#include <stdlib.h>
#include <string.h>

#include "machine/device.h"
#include "engine/state_check.h"

typedef struct forge {
    const uint8_t *data;
    size_t size;
} forge;

static inline uint32_t forge_word(forge *f)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4 && f->size; i++, f->data++, f->size--)
        v |= (uint32_t)*f->data << 8 * i;
    return v;
}
static inline uint32_t forge_below(forge *f, uint32_t n) { return forge_word(f) % n; }

/* Random numbers for a device's past, independent of the forging. */
static inline uint32_t forge_next(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*s >> 32);
}

/* Threads with any contents, cores that execute anything, a request to the tile itself in flight. */
static inline wg_device *forge_device(wg_arch_id arch, uint64_t seed)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed % 3 ? 0 : seed};
    wg_device *dev = NULL;
    if (wg_create(&desc, &dev) != WG_OK)
        abort();
    uint64_t s = seed + 1;
    static const uint32_t low[16] = {0x13, 0x13, 0x33, 0x03, 0x23, 0x23, 0x63, 0x37,
                                     0x6F, 0x13, 0x2F, 0x33, 0x03, 0x67, 0x73, 0x57};
    for (uint32_t at = 0; at < 0x4000; at += 4) {
        uint32_t word = (forge_next(&s) & ~UINT32_C(0x7F)) | low[forge_next(&s) % 16];
        wg_write(dev, at, &word, 4);
    }
    for (unsigned i = 0; i < 300; i++)
        wg_poke(dev, i % 3 ? WG_SPACE_CONFIG : WG_SPACE_THREAD_CONFIG, (i & 1) << 16 | forge_next(&s) % 220,
                forge_next(&s) % 4 ? forge_next(&s) : 0);
    for (unsigned core = 0; core < WG_CORES; core++)
        if (forge_next(&s) % 4)
            wg_core_release(dev, (wg_core_id)core, forge_next(&s) % 0x3000 & ~UINT32_C(3));
    const uint32_t niu = 0xFFB20000u, command = arch == WG_ARCH_BH ? 0x40 : 0x28;
    const uint32_t regs[][2] = {{0x00, 0x100}, {0x0C, 0x2000}, {0x1C, 0x2 | 0x10}, {0x20, 256}, {command, 1}};
    for (unsigned i = 0; i < 5; i++)
        wg_write(dev, niu + regs[i][0], &regs[i][1], 4);
    for (unsigned i = 0, rounds = 5 + forge_next(&s) % 60; i < rounds; i++) {
        for (unsigned thread = 0; thread < WG_THREADS; thread++) {
            uint32_t word = forge_next(&s), op = word >> 24;
            if ((op >= 0xA0 && op <= 0xA7 && forge_next(&s) % 16) || (op == 1 && forge_next(&s) % 4))
                word = 0x02000000;
            (void)wg_push(dev, thread, word);
        }
        wg_advance(dev, forge_next(&s) % 3);
    }
    return dev;
}

/* Sets one field of `table`, or one element of it, in `data` to some value. */
static inline void forge_field(forge *f, const wg_state_table *table, char *data)
{
    for (;;) {
        const wg_state_field *field = &table->field[forge_below(f, table->fields)];
        char *p = data + field->offset + forge_below(f, field->bytes / field->width) * field->width;
        if (field->part) {
            table = field->part;
            data = p;
            continue;
        }
        uint32_t how = forge_word(f);
        uint64_t v = how % 8 == 0   ? field->max
                     : how % 8 == 1 ? field->also
                     : how % 8 == 2 ? 0
                     : how % 8 == 3 ? how >> 8 & 31
                                    : (uint64_t)forge_word(f) << (field->width == 8 ? how >> 3 & 31 : 0);
        if (how >> 27 == 0) /* rarely out of range, since the first such value gets the snapshot refused */
            v = field->max + 1;
        else if (how % 8 > 2 && field->max < UINT64_MAX)
            v %= field->max + 1;
        memcpy(p, &v, field->width);
        return;
    }
}

/* The checksum follows eight letters and covers everything after it. */
static inline void forge_sum(char *snapshot, size_t bytes)
{
    uint64_t sum = wg_checksum(snapshot + 16, bytes - 16);
    memcpy(snapshot + 8, &sum, sizeof sum);
}

enum { FORGE_HEADER = 64 };

/* The number of bytes of a snapshot's state, L1, packets and loops; or of the whole, including the header. */
static inline size_t forge_part(const char *snapshot, unsigned part)
{
    static const uint8_t at[4][2] = {{32, 8}, {40, 8}, {48, 8}, {28, 4}};
    uint64_t bytes = 0;
    memcpy(&bytes, snapshot + at[part][0], at[part][1]);
    return bytes;
}
static inline size_t forge_bytes(const char *snapshot)
{
    size_t all = FORGE_HEADER;
    for (unsigned part = 0; part < 4; part++)
        all += forge_part(snapshot, part);
    return all;
}

static inline void forge_snapshot(forge *f, char *snapshot)
{
    const size_t state = forge_part(snapshot, 0), l1 = forge_part(snapshot, 1), box = forge_part(snapshot, 2),
                 loops = forge_part(snapshot, 3);
    char *tile = snapshot + FORGE_HEADER - WG_TILE_STATE_OFFSET;
    do {
        uint32_t how = forge_word(f);
        if (how % 8 == 0) /* any bit */
            snapshot[FORGE_HEADER + forge_below(f, (uint32_t)state)] ^= (char)(1u << (how >> 8 & 7));
        else if (how % 8 == 2)
            snapshot[FORGE_HEADER + state + l1 + box + forge_below(f, (uint32_t)loops)] ^= (char)(1u << (how >> 8 & 7));
        else if (how % 8 == 1 && box)
            forge_field(f, &wg_state_noc_box, snapshot + FORGE_HEADER + state + l1);
        else
            forge_field(f, &wg_state_tile, tile);
    } while (f->size > 12);
    forge_sum(snapshot, forge_bytes(snapshot));
}

#endif
