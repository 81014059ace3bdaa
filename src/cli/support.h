/* SPDX-License-Identifier: Apache-2.0 */
/* The support matrix: architecture × instruction × mode. */
#ifndef WG_SUPPORT_H
#define WG_SUPPORT_H

#include "text/text.h"

/* docs/support.md, or the same as JSON. False if a device could not be made. */
bool wg_support_document(wg_text *out, bool json);

#endif
