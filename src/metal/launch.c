/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching a program: each of its tiles gets its kernel configuration, a launch message with the addresses of its
 * parts, and a go message.
 *
 *     configuration: own arguments of each core │ common ones │ semaphores │ circular buffers │ code of each core
 *
 * Facts: tt-metal, impl/program/dispatch.cpp (finalize_*), llrt/llrt.cpp (write_launch_msg_to_core). Parts are at the
 * same offsets on all tiles of a program, as there.
 */
#include "metal/metal.h"
#include "machine/sized.h"

#include <stdlib.h>
#include <string.h>

enum { SEMAPHORES = 16, MESSAGE = 4096 };

/* The parts of a program on one tile. */
typedef struct on_tile {
    const wg_metal_kernel *kernel[WG_CORES];
    size_t index[WG_CORES]; /* the index of this place in the kernel's list */
    const wg_metal_cb *cb[64];
    const wg_metal_semaphore *semaphore[SEMAPHORES];
} on_tile;

/* Offsets common to all tiles. */
typedef struct parts {
    uint32_t common, semaphores, cbs, text;
    unsigned cb_end; /* the end of the last circular buffer */
} parts;

static bool find(const wg_metal_place *at, size_t places, wg_metal_place here, size_t *index)
{
    for (size_t i = 0; i < places; i++)
        if (at[i].x == here.x && at[i].y == here.y) {
            *index = i;
            return true;
        }
    return false;
}

static wg_status gather(wg_metal *m, const wg_metal_program *p, wg_metal_place here, on_tile *out)
{
    size_t i, which;
    *out = (on_tile){0};
    for (i = 0; i < p->kernels; i++) {
        const wg_metal_kernel *k = &p->kernel[i];
        if (!find(k->at, k->places, here, &which))
            continue;
        if (out->kernel[k->core])
            return wg_metal_fail(m, WG_ERR_ARGUMENT, "two kernels for core %u of the tile at column %u, row %u",
                                 k->core, here.x, here.y);
        out->kernel[k->core] = k;
        out->index[k->core] = which;
    }
    for (i = 0; i < p->cbs; i++)
        if (find(p->cb[i].at, p->cb[i].places, here, &which))
            out->cb[p->cb[i].id] = &p->cb[i];
    for (i = 0; i < p->semaphores; i++)
        if (find(p->semaphore[i].at, p->semaphore[i].places, here, &which))
            out->semaphore[p->semaphore[i].id] = &p->semaphore[i];
    return WG_OK;
}

static uint32_t aligned(const wg_metal *m, size_t bytes)
{
    const uint32_t to = WG_METAL_OF(m, l1_align) ? WG_METAL_OF(m, l1_align) : 1;
    return (uint32_t)((bytes + to - 1) / to * to);
}

/* Words taken by arguments: with the Watcher's assertions, their number comes first. */
static uint32_t words(const wg_metal *m, size_t args)
{
    return args ? (uint32_t)args + (WG_METAL_OF(m, args_counted) ? 1 : 0) : 0;
}

static uint32_t args_bytes(const wg_metal *m, const on_tile *t, bool common)
{
    uint32_t bytes = 0;
    for (unsigned c = 0; c < WG_CORES; c++)
        if (t->kernel[c])
            bytes += aligned(m, 4 * words(m, common ? t->kernel[c]->commons : t->kernel[c]->args_each));
    return bytes;
}

/* ---- One tile -------------------------------------------------------------------------------------------- */

typedef struct building {
    wg_metal *m;
    const parts *at;
    uint8_t *config, *message; /* of the tile */
    uint32_t used;             /* bytes of config */
    uint32_t kernel[WG_CORES]; /* their code addresses */
} building;

static bool fits(const building *b, uint32_t offset, size_t bytes)
{
    return offset <= WG_METAL_OF(b->m, config_bytes) && bytes <= WG_METAL_OF(b->m, config_bytes) - offset;
}

/* Sets a field of the launch message. */
static void tell(building *b, uint32_t offset, unsigned bytes, uint64_t value)
{
    if (offset <= MESSAGE - 8)
        wg_metal_put(b->message, offset, bytes, value);
}

static bool put_args(building *b, uint32_t offset, const uint32_t *from, size_t args)
{
    const uint32_t all = words(b->m, args), before = all - (uint32_t)args;
    if (!fits(b, offset, 4 * (size_t)all))
        return false;
    if (before)
        wg_metal_put(b->config, offset, 4, args);
    if (args)
        memcpy(b->config + offset + 4 * (size_t)before, from, 4 * args);
    return true;
}

static bool place_args(building *b, const on_tile *t)
{
    const wg_metal *m = b->m;
    uint32_t own = 0, common = b->at->common;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const wg_metal_kernel *k = t->kernel[c];
        const uint32_t none = WG_METAL_OF(m, no_args), field = WG_METAL_OF(m, args) + 4 * c;
        tell(b, field, 2, k && k->args_each ? own : none);
        tell(b, field + 2, 2, k && k->commons ? common : none);
        if (!k)
            continue;
        if (!put_args(b, own, k->args + t->index[c] * k->args_each, k->args_each) ||
            !put_args(b, common, k->common, k->commons))
            return false;
        own += aligned(m, 4 * words(m, k->args_each));
        common += aligned(m, 4 * words(m, k->commons));
    }
    return true;
}

static bool place_semaphores_and_cbs(building *b, const on_tile *t)
{
    const wg_metal *m = b->m;
    const uint32_t step = aligned(m, 4), size = 4 * WG_METAL_OF(m, cb_words);
    uint64_t mask = 0;
    for (unsigned i = 0; i < SEMAPHORES; i++)
        if (t->semaphore[i]) {
            if (!fits(b, b->at->semaphores + i * step, 4))
                return false;
            wg_metal_put(b->config, b->at->semaphores + i * step, 4, t->semaphore[i]->value);
        }
    for (unsigned i = 0; i < 64; i++)
        if (t->cb[i]) {
            const wg_metal_cb *cb = t->cb[i];
            const uint32_t at = b->at->cbs + i * size;
            if (size < 16 || !fits(b, at, size))
                return false;
            wg_metal_put(b->config, at, 4, cb->address);
            wg_metal_put(b->config, at + 4, 4, cb->bytes);
            wg_metal_put(b->config, at + 8, 4, cb->bytes / cb->page_bytes);
            wg_metal_put(b->config, at + 12, 4, cb->page_bytes);
            mask |= UINT64_C(1) << i;
        }
    tell(b, WG_METAL_OF(m, semaphores), 2, b->at->semaphores);
    tell(b, WG_METAL_OF(m, local_cbs), 2, b->at->cbs);
    tell(b, WG_METAL_OF(m, remote_cbs), 2, b->at->cbs + b->at->cb_end * size);
    tell(b, WG_METAL_OF(m, remote_cb_first), 1, WG_METAL_OF(m, cbs));
    tell(b, WG_METAL_OF(m, cb_mask), 8, mask);
    return true;
}

static bool place_kernels(building *b, const on_tile *t)
{
    const wg_metal *m = b->m;
    const uint32_t iram = WG_METAL_OF(m, nc_iram);
    uint32_t text = b->at->text, enables = 0;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const wg_metal_kernel *k = t->kernel[c];
        if (!k)
            continue;
        if (!fits(b, text, k->bytes))
            return false;
        memcpy(b->config + text, k->image, k->bytes);
        b->kernel[c] = iram && c == WG_CORE_NC ? iram : WG_METAL_OF(m, config) + text;
        for (size_t i = 0; i < k->fixups; i++) {
            uint32_t word;
            memcpy(&word, b->config + text + k->fixup[i], 4);
            wg_metal_put(b->config, text + k->fixup[i], 4, word + b->kernel[c]);
        }
        tell(b, WG_METAL_OF(m, text) + 4 * c, 4, text);
        tell(b, WG_METAL_OF(m, text_bytes) + 4 * c, 4, k->bytes);
        if (iram && c == WG_CORE_NC)
            tell(b, WG_METAL_OF(m, nc_text_16), 2, (k->text_bytes + 15) / 16);
        if (c == WG_CORE_B)
            tell(b, WG_METAL_OF(m, b_noc), 1, k->noc);
        enables |= 1u << c;
        text += aligned(m, k->bytes);
    }
    tell(b, WG_METAL_OF(m, enables), 4, enables);
    b->used = text;
    return true;
}

static wg_status launch_tile(building *b, const on_tile *t, wg_metal_place here)
{
    wg_metal *m = b->m;
    memset(b->config, 0, WG_METAL_OF(m, config_bytes));
    memset(b->message, 0, MESSAGE);
    memset(b->kernel, 0, sizeof b->kernel);
    tell(b, WG_METAL_OF(m, config_base), 4, WG_METAL_OF(m, config));
    tell(b, WG_METAL_OF(m, mode), 1, WG_METAL_OF(m, mode_host));
    tell(b, WG_METAL_OF(m, dfbs), 2, WG_METAL_OF(m, dfbs_none));
    tell(b, WG_METAL_OF(m, b_noc_mode), 1, 0);
    tell(b, WG_METAL_OF(m, host_id), 4, m->programs);
    if (!place_args(b, t) || !place_semaphores_and_cbs(b, t) || !place_kernels(b, t))
        return wg_metal_fail(m, WG_ERR_ARGUMENT,
                             "the kernels of the tile at column %u, row %u and what they need exceed %u bytes", here.x,
                             here.y, WG_METAL_OF(m, config_bytes));
    wg_status status = wg_metal_tile_write(m, here, WG_METAL_OF(m, config), b->config, b->used);
    if (status == WG_OK)
        status = wg_metal_tile_write(m, here, WG_METAL_OF(m, launch), b->message, WG_METAL_OF(m, launch_bytes));
    if (status == WG_OK)
        memcpy(m->worker[here.y][here.x].kernel, b->kernel, sizeof b->kernel);
    return status;
}

/* ---- The program ----------------------------------------------------------------------------------------- */

static wg_status check(wg_metal *m, const wg_metal_program *p)
{
    for (size_t i = 0; i < p->kernels; i++) {
        const wg_metal_kernel *k = &p->kernel[i];
        if (k->core >= WG_CORES || k->text_bytes > k->bytes)
            return wg_metal_fail(m, WG_ERR_ARGUMENT, "a kernel is for one of %d cores, and has code", WG_CORES);
        for (size_t n = 0; n < k->fixups; n++)
            if (k->fixup[n] > k->bytes || k->bytes - k->fixup[n] < 4)
                return wg_metal_fail(m, WG_ERR_ARGUMENT, "a kernel's word at %u is outside of its %u bytes",
                                     k->fixup[n], k->bytes);
        for (size_t n = 0; n < k->places; n++) {
            const wg_metal_place at = k->at[n];
            if (at.x >= m->columns || at.y >= m->rows || !m->worker[at.y][at.x].booted)
                return wg_metal_fail(m, WG_ERR_STATE, "no firmware runs on a tile at column %u, row %u", at.x, at.y);
        }
    }
    for (size_t i = 0; i < p->cbs; i++) {
        const wg_metal_cb *cb = &p->cb[i];
        if (cb->id >= WG_METAL_OF(m, cbs) || cb->id >= 64 || !cb->page_bytes || !cb->bytes ||
            cb->bytes % cb->page_bytes)
            return wg_metal_fail(m, WG_ERR_ARGUMENT,
                                 "circular buffer %u: %u bytes with pages of %u; there are %u buffers, of whole pages",
                                 cb->id, cb->bytes, cb->page_bytes, WG_METAL_OF(m, cbs));
    }
    for (size_t i = 0; i < p->semaphores; i++)
        if (p->semaphore[i].id >= SEMAPHORES)
            return wg_metal_fail(m, WG_ERR_ARGUMENT, "semaphore %u: there are %d", p->semaphore[i].id, SEMAPHORES);
    if (WG_METAL_OF(m, config_bytes) > 1u << 20 || WG_METAL_OF(m, launch_bytes) > MESSAGE)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "the layout's configuration or launch message is too large");
    return WG_OK;
}

/* Sizes common to all tiles: the largest that any tile needs. */
static wg_status plan(wg_metal *m, const wg_metal_program *p, parts *out)
{
    uint32_t own = 0, common = 0, semaphores = 0;
    *out = (parts){0};
    for (unsigned y = 0; y < m->rows; y++)
        for (unsigned x = 0; x < m->columns; x++) {
            on_tile t;
            wg_status status = gather(m, p, (wg_metal_place){(uint8_t)x, (uint8_t)y}, &t);
            if (status != WG_OK)
                return status;
            const uint32_t a = args_bytes(m, &t, false), c = args_bytes(m, &t, true);
            own = a > own ? a : own;
            common = c > common ? c : common;
        }
    for (size_t i = 0; i < p->semaphores; i++)
        if (p->semaphore[i].id >= semaphores)
            semaphores = p->semaphore[i].id + 1;
    for (size_t i = 0; i < p->cbs; i++)
        if (p->cb[i].id >= out->cb_end)
            out->cb_end = p->cb[i].id + 1;
    out->common = own;
    out->semaphores = own + common;
    out->cbs = out->semaphores + semaphores * aligned(m, 4);
    out->text = aligned(m, out->cbs + out->cb_end * 4 * WG_METAL_OF(m, cb_words));
    return WG_OK;
}

static bool has_kernel(const on_tile *t)
{
    for (unsigned c = 0; c < WG_CORES; c++)
        if (t->kernel[c])
            return true;
    return false;
}

/* On each tile with a kernel: configuration and launch message, or (`go`) the go message. */
static wg_status each_tile(wg_metal *m, const wg_metal_program *p, building *b, bool go)
{
    wg_status status = WG_OK;
    for (unsigned y = 0; status == WG_OK && y < m->rows; y++)
        for (unsigned x = 0; status == WG_OK && x < m->columns; x++) {
            const wg_metal_place here = {(uint8_t)x, (uint8_t)y};
            const uint32_t signal = WG_METAL_OF(m, signal_go) << 24;
            on_tile t;
            status = gather(m, p, here, &t);
            if (status == WG_OK && has_kernel(&t))
                status = go ? wg_metal_tile_write(m, here, WG_METAL_OF(m, go), &signal, 4) : launch_tile(b, &t, here);
        }
    return status;
}

static wg_status launch(wg_metal *m, const wg_metal_program *p)
{
    wg_metal_place busy;
    parts at;
    wg_status status = check(m, p);
    if (status == WG_OK && wg_metal_busy_tile(m, &busy))
        status = wg_metal_fail(m, WG_ERR_STATE, "the tile at column %u, row %u has not finished what it runs", busy.x,
                               busy.y);
    if (status == WG_OK)
        status = plan(m, p, &at);
    if (status != WG_OK)
        return status;
    building b = {.m = m, .at = &at, .config = malloc(WG_METAL_OF(m, config_bytes)), .message = malloc(MESSAGE)};
    m->programs++;
    status = b.config && b.message ? each_tile(m, p, &b, false) : wg_metal_fail(m, WG_ERR_NO_MEMORY, "out of memory");
    if (status == WG_OK)
        status = each_tile(m, p, &b, true);
    free(b.config);
    free(b.message);
    return status;
}

/* A copy of the caller's array; `count` 0: none. Free it. */
static wg_status copied(wg_metal *m, const void *given, size_t count, size_t bytes, size_t least, void **out)
{
    *out = calloc(count + 1, bytes);
    if (!*out)
        return wg_metal_fail(m, WG_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!wg_take_sized((char *)*out + i * bytes, bytes, given, i, least))
            return wg_metal_size_fail(m, given);
    return WG_OK;
}

wg_status wg_metal_launch(wg_metal *m, const wg_metal_program *given)
{
    wg_metal_program own;
    void *kernels = NULL, *cbs = NULL, *semaphores = NULL;
    if (!wg_take_sized(&own, sizeof own, given, 0, sizeof own))
        return wg_metal_size_fail(m, given);
    wg_status status = copied(m, own.kernel, own.kernels, sizeof *own.kernel, offsetof(wg_metal_kernel, noc), &kernels);
    if (status == WG_OK)
        status = copied(m, own.cb, own.cbs, sizeof *own.cb, sizeof *own.cb, &cbs);
    if (status == WG_OK)
        status = copied(m, own.semaphore, own.semaphores, sizeof *own.semaphore, sizeof *own.semaphore, &semaphores);
    own.kernel = kernels;
    own.cb = cbs;
    own.semaphore = semaphores;
    if (status == WG_OK)
        status = launch(m, &own);
    free(kernels);
    free(cbs);
    free(semaphores);
    return status;
}

uint32_t wg_metal_kernel_address(const wg_metal *m, wg_metal_place at, unsigned core)
{
    return at.x < m->columns && at.y < m->rows && core < WG_CORES ? m->worker[at.y][at.x].kernel[core] : 0;
}
