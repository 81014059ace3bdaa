/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the host; see pages.h. */
#include "engine/pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/state_check.h"

#if defined(__SANITIZE_ADDRESS__)
#define BOUNDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOUNDED 1
#endif
#endif

enum { ASKED = 512 }; /* pages per query */

static uintptr_t page_bytes(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

#ifdef BOUNDED /* malloc reuses memory */
static bool ask_touched(uintptr_t first, size_t pages, bool *touched)
{
    (void)first, (void)pages, (void)touched;
    return false;
}
#else
/*
 * Asks the kernel's page map which pages of anonymous memory the process has ever touched: those that are present or swapped
 * out. False: unknown.
 */
static bool ask_touched(uintptr_t first, size_t pages, bool *touched)
{
    const uint64_t present = UINT64_C(1) << 63, swapped = UINT64_C(1) << 62;
    uint64_t entry[ASKED];
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0)
        return false;
    ssize_t got = pread(map, entry, pages * sizeof *entry, (off_t)(first * sizeof *entry));
    close(map);
    if (got != (ssize_t)(pages * sizeof *entry))
        return false;
    for (size_t i = 0; i < pages; i++)
        touched[i] = (entry[i] & (present | swapped)) != 0;
    return true;
}
#endif

#ifdef BOUNDED /* the sanitizer knows the bounds of memory from malloc */
enum { ALIGNMENT = 64 };

void *wg_pages_new(size_t bytes)
{
    void *pages = calloc(1, bytes); /* does not clear fresh memory again */
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
 * Clearing a few pages is faster than returning them to the kernel and faulting them in again. False, with nothing done: there
 * are many, or their number is unknown.
 */
static bool clear_few(uintptr_t first, uintptr_t last, uintptr_t page)
{
    enum { FEW = 96 };
    bool touched[ASKED];
    uintptr_t few[FEW];
    unsigned count = 0;
    for (uintptr_t at = first; at < last; at += ASKED * page) {
        size_t pages = last - at < ASKED * page ? (last - at) / page : ASKED;
        if (!ask_touched(at / page, pages, touched))
            return false;
        for (size_t i = 0; i < pages; i++) {
            if (!touched[i])
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
    const uintptr_t page = page_bytes(), start = (uintptr_t)from, end = start + bytes;
    const uintptr_t first = (start + page - 1) / page * page, last = end / page * page;
    if (first >= last || (!clear_few(first, last, page) && madvise((void *)first, last - first, MADV_DONTNEED))) {
        memset(from, 0, bytes);
        return;
    }
    memset(from, 0, first - start);
    memset((void *)last, 0, end - last);
}
#endif

/* ---- copies ---- */

/* The part of a host page that belongs to a copy. */
typedef struct part {
    size_t from, bytes;
} part;

static size_t pages_of(const wg_pages_copy *c)
{
    const uintptr_t page = page_bytes(), first = (uintptr_t)c->of / page;
    return ((uintptr_t)c->of + c->bytes + page - 1) / page - first;
}

static part part_of(const wg_pages_copy *c, size_t i)
{
    const uintptr_t page = page_bytes(), before = (uintptr_t)c->of % page;
    size_t from = i ? i * page - before : 0, to = (i + 1) * page - before;
    return (part){from, (to < c->bytes ? to : c->bytes) - from};
}

/* Calls `visit` for each page that is touched, or is not zero in the copy, until it returns false. */
static bool each_page(const wg_pages_copy *c, bool (*visit)(const wg_pages_copy *c, size_t page, part p))
{
    const uintptr_t first = (uintptr_t)c->of / page_bytes();
    const size_t pages = pages_of(c);
    bool touched[ASKED];
    for (size_t i = 0; i < pages; i++) {
        if (i % ASKED == 0 && !ask_touched(first + i, pages - i < ASKED ? pages - i : ASKED, touched))
            memset(touched, true, sizeof touched);
        if ((!c->blank[i] || touched[i % ASKED]) && !visit(c, i, part_of(c, i)))
            return false;
    }
    return true;
}

static bool is_zero(const uint8_t *p, size_t bytes) { return !p[0] && memcmp(p, p + 1, bytes - 1) == 0; }

static bool take(const wg_pages_copy *c, size_t page, part p)
{
    memcpy(c->copy + p.from, c->of + p.from, p.bytes);
    c->blank[page] = is_zero(c->copy + p.from, p.bytes);
    return true;
}

static bool give_back(const wg_pages_copy *c, size_t page, part p)
{
    (void)page;
    memcpy(c->of + p.from, c->copy + p.from, p.bytes);
    return true;
}

static bool is_same(const wg_pages_copy *c, size_t page, part p)
{
    (void)page;
    return memcmp(c->of + p.from, c->copy + p.from, p.bytes) == 0;
}

bool wg_pages_copy_take(wg_pages_copy *c, void *of, size_t bytes)
{
    *c = (wg_pages_copy){.of = of, .bytes = bytes};
    const size_t pages = pages_of(c);
    c->copy = calloc(1, bytes);
    c->blank = malloc(pages * sizeof *c->blank);
    if (!c->copy || !c->blank) {
        wg_pages_copy_free(c);
        return false;
    }
    memset(c->blank, true, pages * sizeof *c->blank);
    wg_pages_copy_renew(c);
    return true;
}

void wg_pages_copy_renew(wg_pages_copy *c) { each_page(c, take); }
void wg_pages_copy_back(const wg_pages_copy *c) { each_page(c, give_back); }
bool wg_pages_copy_equal(const wg_pages_copy *c) { return each_page(c, is_same); }

uint64_t wg_pages_copy_hash(const wg_pages_copy *c)
{
    uint64_t h = 0;
    for (size_t i = 0; i < pages_of(c); i++) {
        const part p = part_of(c, i);
        if (!c->blank[i])
            h = (h ^ i ^ wg_checksum(c->copy + p.from, p.bytes)) * UINT64_C(0x9FB21C651E98DF25);
    }
    return h;
}

void wg_pages_copy_free(wg_pages_copy *c)
{
    free(c->copy);
    free(c->blank);
    *c = (wg_pages_copy){0};
}
