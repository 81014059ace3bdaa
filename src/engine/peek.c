/* SPDX-License-Identifier: Apache-2.0 */
/* Architectural state by space and index, without side effects: what debuggers, tests and `.expect` lines see. */
#include <string.h>

#include "machine/device.h"
#include "report/emit.h"
#include "machine/bus.h"

/* An element's location and width; cores have their own functions. */
typedef struct element {
    void *at;
    uint8_t bytes; /* 0: no such element */
    uint32_t mask; /* bits that exist */
} element;

static element none(void) { return (element){NULL, 0, 0}; }

static element word_of(uint32_t *base, uint32_t index, uint32_t count, uint32_t mask)
{
    return index < count ? (element){base + index, 4, mask} : none();
}

static element half_of(uint16_t *base, uint32_t index, uint32_t count)
{
    return index < count ? (element){base + index, 2, UINT32_C(0xFFFF)} : none();
}

static element byte_of(uint8_t *base, uint32_t index, uint32_t count, uint32_t mask)
{
    return index < count ? (element){base + index, 1, mask} : none();
}

static element adc_counter(wg_adc *adc, uint32_t index)
{
    if (index >= 3 * 3 * 16)
        return none();
    wg_adc_channel *c = &adc->unit[index / 48][index / 16 % 3][index / 8 % 2];
    switch (index % 8) {
    case 0: return (element){&c->x, 4, 0x3FFFF};
    case 1: return (element){&c->x_cr, 4, 0x3FFFF};
    case 2: return (element){&c->y, 2, 0x1FFF};
    case 3: return (element){&c->y_cr, 2, 0x1FFF};
    case 4: return (element){&c->z, 1, 0xFF};
    case 5: return (element){&c->z_cr, 1, 0xFF};
    case 6: return (element){&c->w, 1, 0xFF};
    default: return (element){&c->w_cr, 1, 0xFF};
    }
}

static element rwc_counter(wg_rwc *rwc, uint32_t index)
{
    if (index >= 3 * 16)
        return none();
    wg_rwc_thread *c = &rwc->thread[index / 16];
    switch (index % 16) {
    case 0: return (element){&c->dst, 2, 0x3FF};
    case 1: return (element){&c->dst_cr, 2, 0x3FF};
    case 2: return (element){&c->srca, 1, 0x3F};
    case 3: return (element){&c->srca_cr, 1, 0x3F};
    case 4: return (element){&c->srcb, 1, 0x3F};
    case 5: return (element){&c->srcb_cr, 1, 0x3F};
    case 6: return (element){&c->fidelity, 1, 3};
    case 7: return (element){&c->extra_addr_mod, 1, 1};
    default: return none();
    }
}

static element find(wg_tile *t, wg_space space, uint32_t index)
{
    const wg_arch *arch = t->arch;
    wg_regs *r = &t->regs;
    uint32_t high = index >> 16, low = index & 0xFFFF;
    switch (space) {
    case WG_SPACE_L1: return byte_of(t->l1, index, t->spec->l1_bytes, 0xFF);
    case WG_SPACE_GPR: return word_of(&r->gpr.r[0][0], index, 3 * WG_GPRS, UINT32_MAX);
    case WG_SPACE_CONFIG: return high < 2 ? word_of(r->config.bank[high], low, arch->config_words, UINT32_MAX) : none();
    case WG_SPACE_THREAD_CONFIG:
        return high < WG_THREADS ? half_of(r->config.thread[high], low, arch->thread_config_words) : none();
    case WG_SPACE_SEM_VALUE: return byte_of(t->backend.sync.value, index, WG_SEMAPHORES, 15);
    case WG_SPACE_SEM_MAX: return byte_of(t->backend.sync.max, index, WG_SEMAPHORES, 15);
    case WG_SPACE_MUTEX:
        return index < WG_MUTEXES && arch->mutex_valid >> index & 1
                   ? byte_of(t->backend.sync.mutex, index, WG_MUTEXES, 3)
                   : none();
    case WG_SPACE_DST: return half_of(&r->dst.bits[0][0], index, WG_DST_ROWS * 16);
    case WG_SPACE_SRCA: return word_of(&r->src.a[0][0][0], index, 2 * 64 * 16, 0x7FFFF);
    case WG_SPACE_SRCB: return word_of(&r->src.b[0][0][0], index, 2 * 64 * 16, 0x7FFFF);
    case WG_SPACE_SRC_OWNER:
        return index < 2   ? byte_of(r->src.owner_a, index, 2, 1)
               : index < 4 ? byte_of(r->src.owner_b, index - 2, 2, 1)
                           : none();
    case WG_SPACE_LREG: return word_of(&r->lreg.l[0][0], index, sizeof r->lreg.l / 4, UINT32_MAX);
    case WG_SPACE_ADC: return adc_counter(&r->adc, index);
    case WG_SPACE_RWC: return rwc_counter(&r->rwc, index);
    case WG_SPACE_MOP_CFG:
        return index < 27 ? word_of(t->frontend[index / 9].mop_cfg, index % 9, 9, UINT32_MAX) : none();
    default: return none();
    }
}

/* Which core, and the index within it. */
static bool core_space(wg_space space, uint32_t index, unsigned *core, uint32_t *rest)
{
    uint32_t n, i;
    switch (space) {
    case WG_SPACE_CORE_X:
    case WG_SPACE_CORE_F:
        n = index / 32;
        i = index % 32;
        break;
    case WG_SPACE_CORE_PC:
        n = index;
        i = 0;
        break;
    case WG_SPACE_CORE_CSR:
        n = index >> 12;
        i = index & 0xFFF;
        break;
    case WG_SPACE_CORE_RAM:
        n = index >> 16;
        i = index & 0xFFFF;
        break;
    default: return false;
    }
    *core = n;
    *rest = i;
    return true;
}

/* A word of a core's vector registers; NULL: there is none. */
static uint32_t *vector_word(wg_tile *t, uint32_t index)
{
    uint32_t core = index / 128;
    if (core >= t->spec->cores || !(t->spec->core[core].extensions & WG_EXT_V))
        return NULL;
    wg_core_sync(t, core);
    return &t->core[core].v[index / 4 % 32][index % 4];
}

static wg_status no_element(wg_device *dev, wg_space space, uint32_t index)
{
    return wg_fail(dev, WG_ERR_ADDRESS, "space %u has no element %u on %s", (unsigned)space, index,
                   dev->arch->long_name);
}

wg_status wg_peek(wg_device *dev, wg_space space, uint32_t index, uint32_t *value)
{
    wg_look(dev);
    unsigned core;
    uint32_t rest;
    if (core_space(space, index, &core, &rest))
        return core < dev->tile->spec->cores && wg_core_peek(dev->tile, core, space, rest, value)
                   ? WG_OK
                   : no_element(dev, space, index);
    if (space == WG_SPACE_CORE_V) {
        const uint32_t *word = vector_word(dev->tile, index);
        *value = word ? *word : 0;
        return word ? WG_OK : no_element(dev, space, index);
    }
    if (space == WG_SPACE_DST32) {
        if (index >= WG_DST_ROWS / 2 * 16)
            return no_element(dev, space, index);
        *value = wg_dst_peek32(dev->tile, index / 16, index % 16);
        return WG_OK;
    }
    element e = find(dev->tile, space, index);
    if (!e.bytes)
        return no_element(dev, space, index);
    *value = 0;
    memcpy(value, e.at, e.bytes);
    return WG_OK;
}

wg_status wg_poke(wg_device *dev, wg_space space, uint32_t index, uint32_t value)
{
    wg_act(dev);
    wg_tile *t = dev->tile;
    unsigned core;
    uint32_t rest;
    if (core_space(space, index, &core, &rest))
        return core < dev->tile->spec->cores && wg_core_poke(t, core, space, rest, value)
                   ? WG_OK
                   : no_element(dev, space, index);
    if (space == WG_SPACE_CORE_V) {
        uint32_t *word = vector_word(t, index);
        if (!word)
            return no_element(dev, space, index);
        *word = value;
        wg_wake_all(&t->sched);
        return WG_OK;
    }
    if (space == WG_SPACE_DST32) {
        if (index >= WG_DST_ROWS / 2 * 16)
            return no_element(dev, space, index);
        wg_dst_poke32(t, index / 16, index % 16, value);
        return WG_OK;
    }
    element e = find(t, space, index);
    if (!e.bytes)
        return no_element(dev, space, index);
    value &= e.mask;
    memcpy(e.at, &value, e.bytes);
    if (space == WG_SPACE_SRCA || space == WG_SPACE_SRCB)
        wg_src_touched(&t->regs.src, space == WG_SPACE_SRCA ? WG_SRCA : WG_SRCB, index / (64 * 16));
    wg_wake_all(&t->sched);
    return WG_OK;
}

/*
 * Like wg_reach(), for reads of memory only. Run-ahead never changes memory, and a tile lags behind the chip's clock only while
 * it has nothing to do.
 */
static void reach_memory(wg_device *dev)
{
    const wg_tile *t = dev->tile;
    if (t->poll.settled || t->spec->heartbeat || wg_any_watched(t))
        wg_reach(dev);
}

wg_status wg_read(wg_device *dev, uint64_t address, void *to, size_t bytes)
{
    if (address < dev->tile->spec->l1_bytes)
        reach_memory(dev);
    else /* the read may consume something */
        wg_act(dev);
    if (!wg_tile_bus_read(dev->tile, address, to, bytes))
        return wg_fail(dev, WG_ERR_ADDRESS, "nothing readable at 0x%08llx (%zu bytes)", (unsigned long long)address,
                       bytes);
    WG_EMIT(dev->tile, WG_EV_HOST, WG_AGENT_HOST, .a = address, .b = bytes, .c = 0);
    return WG_OK;
}

wg_status wg_write(wg_device *dev, uint64_t address, const void *from, size_t bytes)
{
    wg_act(dev);
    if (!wg_tile_bus_write(dev->tile, address, from, bytes))
        return wg_fail(dev, WG_ERR_ADDRESS, "nothing writable at 0x%08llx (%zu bytes)", (unsigned long long)address,
                       bytes);
    if (address >= dev->tile->spec->l1_bytes) /* only polling cores wait for a word in L1 */
        wg_wake_all(&dev->tile->sched);
    WG_EMIT(dev->tile, WG_EV_HOST, WG_AGENT_HOST, .a = address, .b = bytes, .c = 1);
    return WG_OK;
}

wg_status wg_core_release(wg_device *dev, wg_core_id core, uint32_t entry)
{
    wg_act(dev);
    if ((unsigned)core >= dev->tile->spec->cores)
        return wg_fail(dev, WG_ERR_ARGUMENT, "core %u does not exist", (unsigned)core);
    wg_soft_reset_release(dev->tile, core, entry);
    return WG_OK;
}

wg_status wg_core_hold(wg_device *dev, wg_core_id core)
{
    wg_act(dev);
    if ((unsigned)core >= dev->tile->spec->cores)
        return wg_fail(dev, WG_ERR_ARGUMENT, "core %u does not exist", (unsigned)core);
    wg_soft_reset_hold(dev->tile, core);
    return WG_OK;
}

wg_status wg_core_state(wg_device *dev, wg_core_id core, wg_core_info *out)
{
    wg_look(dev);
    if ((unsigned)core >= dev->tile->spec->cores)
        return wg_fail(dev, WG_ERR_ARGUMENT, "core %u does not exist", (unsigned)core);
    wg_core_info_get(dev->tile, core, out);
    return WG_OK;
}
