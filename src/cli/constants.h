/* SPDX-License-Identifier: Apache-2.0 */
/* The timing constants as a page. */
#ifndef WG_CLI_CONSTANTS_H
#define WG_CLI_CONSTANTS_H

#include "text/text.h"

/* docs/timing_constants.md, or the same as JSON. */
void wg_constants_document(wg_text *out, bool json);

#endif
