/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions have a handler: derived from the units' own tables, never declared. */
#ifndef WG_COVERAGE_H
#define WG_COVERAGE_H

#include "isa/isa.h"

bool wg_insn_implemented(wg_arch_id arch, const wg_isa_insn *insn);

#endif
