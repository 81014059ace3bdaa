/* SPDX-License-Identifier: Apache-2.0 */
/* Recording findings. The catalogue is findings.def, one line per code. */
#ifndef WG_FINDINGS_H
#define WG_FINDINGS_H

#include "machine/tile.h"

typedef enum wg_finding_code {
#define WG_FINDING(id, code, severity, cause, remedy, source) WG_F_##id,
#include "report/findings.def"
#undef WG_FINDING
    WG_F_COUNT
} wg_finding_code;

/*
 * Records one occurrence; equal ones (code, agent, pc, word) become one record with a count. Set the members of `f` that
 * apply: agent, pc/has_pc, word/has_word, subject, value, detail. The others are filled in.
 */
void wg_find(wg_tile *t, wg_finding_code code, const wg_finding *f);

#define WG_FIND(t, code, agent_, ...) wg_find((t), (code), &(wg_finding){.agent = (uint8_t)(agent_), __VA_ARGS__})
/* As wg_find(), with a formatted detail. */
/* A finding about a request counts for who gave the command. */
static inline wg_finding wg_asker_finding(wg_asker asker, wg_finding f)
{
    f.agent = asker.agent;
    f.pc = asker.pc;
    f.has_pc = asker.agent <= WG_AGENT_CORE_T2;
    return f;
}
void wg_findf(wg_tile *t, wg_finding_code code, wg_finding f, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
