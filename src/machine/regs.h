/* SPDX-License-Identifier: Apache-2.0 */
/* Register files shared by the units: one struct per file, by value. */
#ifndef WG_REGS_H
#define WG_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/adc.h"
#include "machine/config_regs.h"
#include "machine/dst.h"
#include "machine/exphist.h"
#include "machine/gpr.h"
#include "machine/lreg.h"
#include "machine/rwc.h"
#include "machine/src.h"

/*
 * Operands of host vector code come first, on cache lines of their own: rows of Dst and SrcA and LRegs are aligned to their
 * size, or to 64 bytes (wg_create() aligns the start; only speed depends on it).
 */
typedef struct wg_regs {
    wg_dst dst;
    wg_lreg lreg;
    uint8_t to_line[64 - sizeof(wg_lreg) % 64];
    wg_src src;
    wg_gpr gpr;
    wg_config config;
    wg_adc adc;
    wg_rwc rwc;
    wg_exphist exphist;
} wg_regs;
static_assert(sizeof(wg_dst) % 64 == 0 && offsetof(wg_regs, src) % 64 == 0, "lines");

#endif
