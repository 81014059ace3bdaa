/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/coverage.h"

#include "backend/config.h"
#include "backend/matrix.h"
#include "backend/misc.h"
#include "backend/mover.h"
#include "backend/pack.h"
#include "backend/scalar.h"
#include "backend/unpack.h"
#include "backend/vector.h"

bool wg_insn_implemented(wg_arch_id arch, const wg_isa_insn *insn)
{
    switch ((wg_unit)insn->unit) {
    case WG_UNIT_UNPACK: return wg_unpack_implements(insn->id, arch);
    case WG_UNIT_MATRIX: return wg_matrix_implements(insn->id, arch);
    case WG_UNIT_PACK: return wg_pack_implements(insn->id, arch);
    case WG_UNIT_VECTOR: return wg_vector_implements(insn->id);
    case WG_UNIT_SCALAR: return wg_scalar_implements(insn->id, arch);
    case WG_UNIT_CONFIG: return wg_config_implements(insn->id, arch);
    case WG_UNIT_MOVER: return wg_mover_implements(insn->id, arch);
    case WG_UNIT_MISC: return wg_misc_implements(insn->id, arch);
    /* The Sync Unit and the frontends accept all of their instructions; a NOP has no effect. */
    case WG_UNIT_SYNC:
    case WG_UNIT_FRONTEND:
    case WG_UNIT_NONE: return true;
    default: return false;
    }
}
