/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the regions of a tile, made by hand: the answers that a core's load or store would get. */
#ifndef WG_TILE_ASK_H
#define WG_TILE_ASK_H

#include "machine/device.h"
#include "report/findings.h"
#include "arch/address_map.h"
#include "wgtest.h"

static inline wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    /* Only a core that a program releases runs; requests are made by hand here, in phase C. */
    dev->tile->sched.now = 100;
    dev->tile->sched.phase = WG_PHASE_REGIONS;
    return dev;
}

/* The answer to the last request. */
typedef struct answer {
    wg_region_answer what;
    uint32_t value;
    wg_stall why;
} answer;

static inline answer ask(wg_device *dev, unsigned core, wg_request_kind kind, uint32_t address, unsigned bytes,
                         uint32_t data)
{
    wg_tile *t = dev->tile;
    wg_route r = wg_address_route(t->spec, core, address, kind == WG_REQ_WRITE);
    wg_request req = {.seen_at = t->sched.now,
                      .address = address,
                      .pc = 0x4000,
                      .data = {data},
                      .kind = (uint8_t)kind,
                      .path = r.path,
                      .bytes = (uint8_t)bytes,
                      .core = (uint8_t)core,
                      .index = r.index};
    uint32_t value[4] = {0};
    answer a = {.why = {.retry_at = 0}};
    assert_non_null(wg_region_handlers[r.path]);
    a.what = wg_region_handlers[r.path](t, &req, value, &a.why);
    a.value = value[0];
    return a;
}

static inline answer load(wg_device *dev, unsigned core, uint32_t address)
{
    answer a = ask(dev, core, WG_REQ_READ, address, 4, 0);
    dev->tile->sched.now += 8; /* each load completes before the next */
    return a;
}

static inline answer store(wg_device *dev, unsigned core, uint32_t address, uint32_t value)
{
    answer a = ask(dev, core, WG_REQ_WRITE, address, 4, value);
    dev->tile->sched.now += 8;
    return a;
}

static inline const wg_finding *found(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return wg_finding_at(dev, i);
    return NULL;
}

#endif
