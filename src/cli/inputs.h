/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory contents that the host wrote before a run, element by element: for `waitgate why`, which names the
 * elements that a value came from, and finds out which of them made a result NaN or infinite.
 */
#ifndef WG_CLI_INPUTS_H
#define WG_CLI_INPUTS_H

#include "cli/debugging.h"
#include "text/types.h"

typedef struct wg_suspects wg_suspects;
/*
 * `unknown`: the type of inputs without one; WG_TYPE_RAW: they are skipped. `element`: NULL, or the element to explain.
 */
wg_suspects *wg_suspects_new(wg_debugging *g, wg_who who, const wg_element *element, wg_type unknown);
void wg_suspects_free(wg_suspects *s);
/* For wg_why_desc. */
void wg_suspects_input(void *suspects, unsigned x, unsigned y, uint64_t first, uint64_t bytes, wg_text *out);
bool wg_suspects_verdict(void *suspects, wg_text *out, wg_json *j);

#endif
