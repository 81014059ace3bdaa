/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the backend units, by value, in the order of their enum. */
#ifndef WG_UNITS_STATE_H
#define WG_UNITS_STATE_H

#include "backend/config_state.h"
#include "backend/matrix_state.h"
#include "backend/misc_state.h"
#include "backend/mover_state.h"
#include "backend/pack_state.h"
#include "backend/scalar_state.h"
#include "backend/sync.h"
#include "backend/unit.h"
#include "backend/unpack_state.h"
#include "backend/vector_state.h"

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
