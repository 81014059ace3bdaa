/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the host for what is large and mostly unused: it is zero, begins on a page, and takes up the pages that are
 * touched, whatever the process has freed before. (Memory that malloc uses again has to be cleared, and is then all there.)
 */
#ifndef WG_PAGES_H
#define WG_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *wg_pages_new(size_t bytes); /* NULL: no memory */
void wg_pages_free(void *pages, size_t bytes);
/* These bytes of such memory are zero again; whole pages of them are not taken up any more, unless they are few. */
void wg_pages_clear(void *from, size_t bytes);

/* A copy of such memory, or of a part of it. Pages that nobody has touched and that the copy has as zero cost nothing. */
typedef struct wg_pages_copy {
    uint8_t *of, *copy;
    size_t bytes;
    bool *blank; /* per page of the host that `of` has a part in: the copy is zero there */
} wg_pages_copy;

bool wg_pages_copy_take(wg_pages_copy *c, void *of, size_t bytes); /* false: no memory */
void wg_pages_copy_renew(wg_pages_copy *c);                        /* of the same memory, as it is now */
void wg_pages_copy_back(const wg_pages_copy *c);
uint64_t wg_pages_copy_hash(const wg_pages_copy *c); /* of what the copy holds and where */
bool wg_pages_copy_equal(const wg_pages_copy *c);    /* is the memory what it was? */
void wg_pages_copy_free(wg_pages_copy *c);

#endif
