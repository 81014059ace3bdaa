/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the host; see pages.h. */
#include "engine/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define BOUNDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOUNDED 1
#endif
#endif

#ifdef BOUNDED /* the sanitizer knows the bounds of what malloc gives out */
enum { ALIGNMENT = 64 };

void *wg_pages_new(size_t bytes)
{
    void *pages = calloc(1, bytes); /* fresh memory is not cleared again */
    if ((uintptr_t)pages % ALIGNMENT == 0)
        return pages;
    free(pages);
    return posix_memalign(&pages, ALIGNMENT, bytes) ? NULL : memset(pages, 0, bytes);
}

void wg_pages_free(void *pages, size_t bytes)
{
    (void)bytes;
    free(pages);
}

void wg_pages_clear(void *from, size_t bytes) { memset(from, 0, bytes); }
#else
void *wg_pages_new(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void wg_pages_free(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}

/*
 * A few pages are cleared faster than they are given back and taken up again. False: there are many, or nobody knows; nothing
 * has been done.
 */
static bool clear_few(uintptr_t first, uintptr_t last, uintptr_t page)
{
    enum { ASKED = 1024, FEW = 96 };
    unsigned char there[ASKED];
    uintptr_t few[FEW];
    unsigned count = 0;
    for (uintptr_t at = first; at < last; at += ASKED * page) {
        size_t bytes = last - at < ASKED * page ? last - at : ASKED * page;
        if (mincore((void *)at, bytes, there))
            return false;
        for (size_t i = 0; i < bytes / page; i++) {
            if (!(there[i] & 1))
                continue;
            if (count == FEW)
                return false;
            few[count++] = at + i * page;
        }
    }
    for (unsigned i = 0; i < count; i++)
        memset((void *)few[i], 0, page);
    return true;
}

void wg_pages_clear(void *from, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from, end = start + bytes;
    const uintptr_t first = (start + page - 1) / page * page, last = end / page * page;
    if (first >= last || (!clear_few(first, last, page) && madvise((void *)first, last - first, MADV_DONTNEED))) {
        memset(from, 0, bytes);
        return;
    }
    memset(from, 0, first - start);
    memset((void *)last, 0, end - last);
}
#endif
