/* SPDX-License-Identifier: Apache-2.0 */
/* Touches of the cores' requests, in the cycle in which their region processes them. */
#include "backend/config.h"
#include "report/touch.h"
#include "machine/tile.h"

static void touch_config(wg_tile *t, const wg_request *req, unsigned how)
{
    uint32_t offset = (req->address & 0xFFFF) / 4;
    unsigned banks = wg_config_window_banks(t, offset), thread = wg_config_window_thread(t, offset);
    unsigned word = wg_config_window_word(t, offset);
    for (unsigned bank = 0; bank < 2; bank++)
        if (banks >> bank & 1) {
            if (req->kind == WG_REQ_WRITE)
                wg_touch_core_config(t, req->core, req->pc, bank * 256 + word,
                                     ~(t->regs.config.bank[bank][word] ^ req->data[0]));
            else
                wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_CONFIG, bank * 256 + word, UINT32_MAX);
        }
    if (thread < WG_THREADS)
        wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_THREAD_CONFIG,
                      thread * 256 + wg_config_window_word(t, offset), 0xFFFF);
}

static void touch_l1(wg_tile *t, const wg_request *req, unsigned how)
{
    uint32_t line = req->address & ~15u;
    if (req->kind != WG_REQ_WRITE) {
        wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_L1, req->address, req->bytes);
        return;
    }
    for (unsigned i = 0, n; i < 16; i += n) {
        unsigned rest = (unsigned)req->byte_mask >> i;
        n = rest & 1 ? (unsigned)__builtin_ctz(~rest) : rest ? (unsigned)__builtin_ctz(rest) : 16 - i;
        if (rest & 1)
            wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_L1, line + i, n);
    }
}

void wg_request_touch(wg_tile *t, const wg_request *req)
{
    unsigned how = req->kind == WG_REQ_READ    ? WG_TOUCH_READ
                   : req->kind == WG_REQ_WRITE ? WG_TOUCH_WRITE
                                               : WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_ATOMIC;
    wg_route r = wg_address_route(t->spec, req->core, req->address, req->kind == WG_REQ_WRITE);
    if (req->rd == 0xFF)
        return;
    switch (req->path) {
    case WG_PATH_L1: touch_l1(t, req, how); break;
    case WG_PATH_CONFIG: touch_config(t, req, how); break;
    case WG_PATH_GPR:
        wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_GPR, (r.index * 256u + r.offset) / 2, (req->bytes + 1u) / 2);
        break;
    case WG_PATH_MOP_CFG:
        wg_touch_core(t, req->core, req->pc, how, WG_TOUCH_MOP_CFG,
                      r.index % WG_THREADS * WG_MOP_CFG_WORDS + r.offset / 4 % WG_MOP_CFG_WORDS, 1);
        break;
    case WG_PATH_DST: {
        bool wide;
        unsigned row = wg_dst_window_row(t, r.index, r.offset, &wide);
        wg_touch_core(t, req->core, req->pc, how | (wide ? WG_TOUCH_WIDE : 0u), WG_TOUCH_DST, row, 1);
        break;
    }
    case WG_PATH_SYNC:
        if (req->core >= WG_CORE_T0 && (req->address & 0xFFFF) >= 0x20 && req->kind == WG_REQ_READ)
            wg_touch_core(t, req->core, req->pc, WG_TOUCH_READ | WG_TOUCH_ATOMIC, WG_TOUCH_SEM_VALUE, 0,
                          1u << ((req->address & 0xFFFF) - 0x20) / 4 % 8);
        break;
    default: break;
    }
}
