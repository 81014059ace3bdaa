/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about a Tensix instruction. */
#ifndef WG_INSN_FINDING_H
#define WG_INSN_FINDING_H

#include "report/findings.h"
#include "report/emit.h"

static inline wg_finding wg_insn_finding(const wg_insn *insn, uint64_t subject, uint64_t value)
{
    return (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                        .pc = insn->pc,
                        .has_pc = insn->pc != 0,
                        .word = insn->word,
                        .has_word = true,
                        .subject = subject,
                        .value = value};
}

static inline void wg_find_insn(wg_tile *t, wg_finding_code code, const wg_insn *insn, uint64_t subject, uint64_t value)
{
    wg_finding f = wg_insn_finding(insn, subject, value);
    wg_find(t, code, &f);
}

#endif
