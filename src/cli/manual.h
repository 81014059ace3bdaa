/* SPDX-License-Identifier: Apache-2.0 */
/* docs/cli.md, the man pages and the shells' completions, all from the list in options.def. */
#ifndef WG_MANUAL_H
#define WG_MANUAL_H

#include "cli/options.h"

/*
 * --help-markdown; --help-man [COMMAND]; --help-completion bash|zsh|fish. False if `option` is none of these or `which` is
 * unknown.
 */
bool wg_manual(const char *option, const char *which, wg_text *out);

#endif
