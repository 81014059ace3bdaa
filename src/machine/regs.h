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
 * What host vectors work on comes first, from lines of its own: Dst's and SrcA's rows and LRegs lie on multiples of
 * their size, or of 64 (wg_create() sees to where they begin; nothing depends on it but time).
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
