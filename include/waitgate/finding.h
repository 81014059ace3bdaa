/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding: behaviour that software must not rely on, or that is not implemented. Codes are stable; src/report/findings.def
 * is the one list of them (name, severity, cause, remedy, source).
 */
#ifndef WAITGATE_FINDING_H
#define WAITGATE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

typedef enum wg_severity {
    WG_SEVERITY_NOTE,          /* legal, worth knowing */
    WG_SEVERITY_WARNING,       /* a documented rule was broken; this run may still be right */
    WG_SEVERITY_UNDEFINED,     /* the hardware's behaviour is undefined or a documented hang */
    WG_SEVERITY_UNIMPLEMENTED, /* hardware does it, this emulator does not */
    WG_SEVERITY_NEVER
} wg_severity;

typedef struct wg_finding {
    uint16_t code; /* index into the catalogue: wg_finding_info() */
    uint8_t agent; /* wg_agent that caused it */
    uint8_t tile;
    uint32_t pc; /* of the core, or of the push; valid if has_pc */
    bool has_pc;
    uint32_t word; /* the instruction, RISC-V or Tensix; valid if has_word */
    bool has_word;
    uint64_t cycle; /* of the first occurrence */
    uint64_t count;
    uint64_t subject; /* its subject: an address, a register, an index */
    uint64_t value;
    char detail[120]; /* details in words, possibly empty */
} wg_finding;

typedef struct wg_finding_info {
    const char *code; /* stable, e.g. "core-unmapped-load" */
    wg_severity severity;
    const char *cause;  /* one sentence */
    const char *remedy; /* one sentence */
    const char *source; /* the clause or documentation page */
} wg_finding_info;

#ifdef __cplusplus
extern "C" {
#endif
/* NULL past the end. */
__attribute__((visibility("default"))) const wg_finding_info *wg_finding_info_at(unsigned code);
#ifdef __cplusplus
}
#endif
#endif
