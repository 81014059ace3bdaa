/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto TTSync, from both sides: the gate, and the hooks that load/store units and regions call. An access is emitted at
 * a cycle boundary; a region processes it when the hooks allow it.
 */
#ifndef WG_TEST_TTSYNC_RIG_H
#define WG_TEST_TTSYNC_RIG_H

#include "frontend_rig.h"

#include "machine/frontend.h"
#include "isa/config_fields.h"

enum { GPR = 0xFFE00000, CFG = 0xFFEF0000, TDMA = 0xFFB11000 };
enum { TRACK_CFG = 1, SUBDIVIDE = 2, TRACK_GPR = 4, TRACK_TDMA = 8, TRACK_INSNS = 16, TRACK_ALL = 29 };
#define I_ADDDMAREG(result, b, a) (UINT32_C(0x58000000) | (uint32_t)(result) << 12 | (uint32_t)(b) << 6 | (uint32_t)(a))
#define I_WRCFG(gpr, word) (UINT32_C(0xB0000000) | (uint32_t)(gpr) << 16 | (uint32_t)(word))
#define I_RDCFG(gpr, word) (UINT32_C(0xB1000000) | (uint32_t)(gpr) << 16 | (uint32_t)(word))
#define I_STOREREG UINT32_C(0x67000000)
#define I_LOADREG UINT32_C(0x68000000)

static inline void track(fr *r, unsigned thread, unsigned bits)
{
    unsigned word = wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_TENSIX_TRISC_SYNC_TrackGPR].word;
    r->t->regs.config.thread[thread][word] = (uint16_t)bits;
    r->t->frontend[thread].ttsync.state_known = true;
}

static inline fr *tracked(wg_arch_id arch)
{
    fr *r = fr_new(arch);
    track(r, 0, TRACK_ALL);
    return r;
}

/* Core T0's accesses, in order per path; `from` is when the region first sees them. */
typedef struct access {
    wg_path path;
    uint32_t address;
    bool is_write;
    uint64_t from, processed;
    wg_stall why;
} access;
typedef struct region {
    access a[8];
    unsigned count;
} region;

static inline void process(fr *r)
{
    region *g = r->user;
    unsigned stuck = 0;
    for (unsigned i = 0; i < g->count; i++) {
        access *a = &g->a[i];
        if (a->processed || stuck >> a->path & 1)
            continue;
        if (r->t->sched.now < a->from ||
            wg_ttsync_core_blocked(r->t, WG_CORE_T0, a->path, a->address, a->is_write, &a->why)) {
            stuck |= 1u << a->path;
            continue;
        }
        wg_ttsync_note_processed(r->t, WG_CORE_T0, a->path, a->address, a->is_write);
        a->processed = r->t->sched.now - FR_START;
    }
}

/* Emitted now; the region sees it after `travel` cycles. */
static inline access *emit(fr *r, region *g, wg_path path, uint32_t address, bool is_write, unsigned travel)
{
    access *a = &g->a[g->count++];
    *a = (access){.path = path, .address = address, .is_write = is_write, .from = r->t->sched.now + travel};
    wg_ttsync_note_emitted(r->t, WG_CORE_T0, path, address, is_write);
    r->regions = process;
    r->user = g;
    return a;
}

#endif
