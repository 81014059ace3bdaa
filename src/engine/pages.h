/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory for large, mostly unused data: zeroed and page-aligned. Only touched pages take up memory, whatever the process
 * has freed before. (Memory that malloc reuses has to be cleared, which touches all of it.)
 */
#ifndef WG_PAGES_H
#define WG_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *wg_pages_new(size_t bytes); /* NULL: no memory */
void wg_pages_free(void *pages, size_t bytes);
/* Zeroes these bytes of such memory; whole pages are returned to the kernel, unless they are few. */
void wg_pages_clear(void *from, size_t bytes);

/* A copy of such memory, or of a part of it. Untouched pages that are zero in the copy cost nothing. */
typedef struct wg_pages_copy {
    uint8_t *of, *copy;
    size_t bytes;
    bool *blank; /* per host page of `of`: the copy is zero there */
} wg_pages_copy;

bool wg_pages_copy_take(wg_pages_copy *c, void *of, size_t bytes); /* false: no memory */
void wg_pages_copy_renew(wg_pages_copy *c);                        /* of the same memory, as it is now */
void wg_pages_copy_back(const wg_pages_copy *c);
uint64_t wg_pages_copy_hash(const wg_pages_copy *c); /* of the copy's contents and their positions */
bool wg_pages_copy_equal(const wg_pages_copy *c);    /* is the memory unchanged? */
void wg_pages_copy_free(wg_pages_copy *c);

#endif
