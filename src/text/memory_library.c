/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation for the library, which has no globals: the caller alone learns of a failure. */
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

void *wg_malloc(size_t bytes) { return malloc(bytes); }
void *wg_calloc(size_t count, size_t bytes) { return calloc(count, bytes); }
void *wg_realloc(void *old, size_t bytes) { return realloc(old, bytes); }
char *wg_strdup(const char *text) { return strdup(text); }
char *wg_strndup(const char *text, size_t most) { return strndup(text, most); }
bool wg_memory_failed(void) { return false; }
