/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the host for what is large and mostly unused: it is zero, begins on a page, and takes up the pages that are
 * touched, whatever the process has freed before. (Memory that malloc uses again has to be cleared, and is then all there.)
 */
#ifndef WG_PAGES_H
#define WG_PAGES_H

#include <stddef.h>

void *wg_pages_new(size_t bytes); /* NULL: no memory */
void wg_pages_free(void *pages, size_t bytes);
/* These bytes of such memory are zero again; whole pages of them are not taken up any more, unless they are few. */
void wg_pages_clear(void *from, size_t bytes);

#endif
