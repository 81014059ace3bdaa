/* SPDX-License-Identifier: Apache-2.0 */
/* Register files shared by the units: one struct per file, by value. */
#ifndef WG_REGS_H
#define WG_REGS_H

#include "regs/adc.h"
#include "regs/config.h"
#include "regs/dst.h"
#include "regs/exphist.h"
#include "regs/gpr.h"
#include "regs/lreg.h"
#include "regs/rwc.h"
#include "regs/src.h"

typedef struct wg_regs {
    wg_gpr gpr;
    wg_config config;
    wg_adc adc;
    wg_rwc rwc;
    wg_src src;
    wg_lreg lreg;
    wg_dst dst;
    wg_exphist exphist;
} wg_regs;

#endif
