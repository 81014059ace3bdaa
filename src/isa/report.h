/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction table as a document: for `waitgate isa`, and for docs/isa.md. */
#ifndef WG_ISA_REPORT_H
#define WG_ISA_REPORT_H

#include "isa/isa.h"

/* Receives the document piece by piece. */
typedef void (*wg_isa_writer)(void *user, const char *text, size_t length);

typedef struct wg_isa_report_options {
    bool json; /* else Markdown */
    /* Both may be NULL; the columns are then omitted. */
    bool (*implemented)(void *user, wg_arch_id arch, const wg_isa_insn *insn);
    bool (*tested)(void *user, wg_arch_id arch, const wg_isa_insn *insn);
    void *user; /* for the two above */
} wg_isa_report_options;

/* Every instruction of one architecture in opcode order. `options` may be NULL. */
void wg_isa_report(wg_arch_id arch, const wg_isa_report_options *options, wg_isa_writer write, void *user);

/* docs/isa.md: the meaning of the columns, and the table of each architecture. */
void wg_isa_document(const wg_isa_report_options *options, wg_isa_writer write, void *user);

/* "Matrix Unit" …, for people. */
const char *wg_unit_name(wg_unit unit);

#endif
