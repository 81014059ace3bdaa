/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's subject and value in words. */
#ifndef WG_FINDING_WORDS_H
#define WG_FINDING_WORDS_H

#include <stddef.h>
#include <waitgate/waitgate.h>

#include "isa/config_fields.h"

/* "BF16": a data format's code in configuration, its low four bits. */
const char *wg_format_name(unsigned format);
/*
 * "Unpacker 0 cannot turn FP32 into INT8, into SrcA or SrcB"; the finding's detail if nothing more is known. Returns `room`.
 */
const char *wg_finding_words(wg_arch_id arch, const wg_finding *f, char *room, size_t bytes);

/* The configuration behind a finding, so that the report can name its writer. */
typedef struct wg_finding_field {
    wg_cfg_id id;
    uint32_t mask; /* of the word, in place */
    uint16_t word;
    const char *what; /* "the output format" */
} wg_finding_field;
enum { WG_FINDING_FIELDS = 3 };
/* How many there are; `out` has room for WG_FINDING_FIELDS. */
unsigned wg_finding_fields(wg_arch_id arch, const wg_finding *f, wg_finding_field *out);

#endif
