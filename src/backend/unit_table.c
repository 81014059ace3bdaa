/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the table of units by kind: a test that needs other units defines the table itself, and then this file is not linked.
 */
#include "backend/config.h"
#include "backend/matrix.h"
#include "backend/misc.h"
#include "backend/mover.h"
#include "backend/pack.h"
#include "backend/scalar.h"
#include "machine/unit.h"
#include "backend/unpack.h"
#include "backend/vector.h"

const wg_unit_ops *const wg_units[WG_UNIT_COUNT] = {
    [WG_UNIT_SYNC] = &wg_sync_unit,     [WG_UNIT_UNPACK] = &wg_unpack_unit, [WG_UNIT_MATRIX] = &wg_matrix_unit,
    [WG_UNIT_PACK] = &wg_pack_unit,     [WG_UNIT_VECTOR] = &wg_vector_unit, [WG_UNIT_SCALAR] = &wg_scalar_unit,
    [WG_UNIT_CONFIG] = &wg_config_unit, [WG_UNIT_MOVER] = &wg_mover_unit,   [WG_UNIT_MISC] = &wg_misc_unit,
};
