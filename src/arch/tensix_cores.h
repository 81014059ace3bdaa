/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The five cores of a Tensix tile, as far as both architectures agree. Facts: SoftReset.md, DebugInterface.md,
 * BackendConfiguration.md (DISABLE_RISC_BP is word 2 of both, RISC_PREFETCH_CTRL has one bit per core).
 */
#ifndef WG_TENSIX_CORES_H
#define WG_TENSIX_CORES_H

#include "arch/address_map.h"
#include "isa/config_fields.h"
#include "isa/tile_regs.h"

#define WG_IS_B \
    .name = "B", .thread = WG_NONE, .debug = 0, .daisy = 5, .keeps = 6, .reset_bit = 1 << 11, \
    .predictor_off = 1 << 22, .prefetch_on = 1 << 3
#define WG_IS_NC \
    .name = "NC", .thread = WG_NONE, .debug = WG_NONE, .daisy = 12, .keeps = 8, .reset_bit = 1 << 18, \
    .predictor_off = 1 << 26, .prefetch_on = 1 << 4
#define WG_IS_T(i) \
    .name = "T" #i, .thread = i, .debug = 1 + i, .daisy = 6 + i, .keeps = 2 * i, .reset_bit = 1 << (12 + i), \
    .predictor_off = 1 << (23 + i), .prefetch_on = 1 << i

/* Reset vectors: BH has them among its debug registers, WH in backend configuration. */
#define WG_START_NC 0x12000
#define WG_START_T(i) (0x06000 + 0x4000 * (i))

#endif
