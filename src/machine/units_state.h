/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the backend units, by value, in the order of their enum. */
#ifndef WG_UNITS_STATE_H
#define WG_UNITS_STATE_H

#include "machine/config_state.h"
#include "machine/matrix_state.h"
#include "machine/misc_state.h"
#include "machine/mover_state.h"
#include "machine/pack_state.h"
#include "machine/scalar_state.h"
#include "machine/sync.h"
#include "machine/unit.h"
#include "machine/unpack_state.h"
#include "machine/vector_state.h"

typedef struct wg_backend {
    wg_sync sync;
    wg_unpack unpack;
    wg_vector vector;
    wg_matrix matrix;
    wg_pack pack;
    wg_scalar scalar;
    wg_config_pipeline config;
    wg_mover mover;
    wg_tdma tdma;
    wg_misc misc;
    wg_round_robin turn[WG_UNIT_COUNT]; /* whose turn it is at each unit kind */
} wg_backend;

#endif
