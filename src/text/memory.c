/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation for programs: records that an allocation failed. The library uses memory_library.c instead. */
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

static _Thread_local bool memory_failed;

static void *note(void *p)
{
    memory_failed |= !p;
    return p;
}

void *wg_malloc(size_t bytes) { return note(malloc(bytes)); }
void *wg_calloc(size_t count, size_t bytes) { return note(calloc(count, bytes)); }
void *wg_realloc(void *old, size_t bytes) { return note(realloc(old, bytes)); }
char *wg_strdup(const char *text) { return note(strdup(text)); }
char *wg_strndup(const char *text, size_t most) { return note(strndup(text, most)); }
bool wg_memory_failed(void) { return memory_failed; }
void wg_memory_lost(void) { memory_failed = true; }
void wg_memory_begin(void) { memory_failed = false; }
