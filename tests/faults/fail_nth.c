/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: makes one call of a kind fail, as a machine might.
 *
 *     WG_FAIL_KIND   alloc, read, write, open or process
 *     WG_FAIL_AT     the call that fails, from 1 on; 0: none. Each process counts for itself, from its parent's count on.
 *     WG_FAIL_LOG    a file to which each process that ends appends its count, and "failed" where a call did
 *
 * Calls within the C library are not seen, so files are intercepted at the calls of stdio's functions. Allocations
 * of libelf, libdw, libbfd and libopcodes are left alone: those libraries crash when one fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum kind { NONE, ALLOC, READ, WRITE, OPEN, PROCESS } kind;

static kind chosen;
static unsigned long count, fail_at;
static int log_fd = -1;
static bool quiet; /* the library's own lookups are not counted */

static void note(const char *text)
{
    if (log_fd >= 0)
        dprintf(log_fd, "%s", text);
}

/* Is the caller a library that cannot cope with failures? Their code lies between these addresses. */
static bool from_fragile(const void *caller)
{
    static struct {
        const char *base;
        bool fragile;
    } known[64];
    static unsigned count_known;
    Dl_info info;
    if (chosen != ALLOC || !dladdr(caller, &info) || !info.dli_fname)
        return false;
    for (unsigned i = 0; i < count_known; i++)
        if (known[i].base == info.dli_fbase)
            return known[i].fragile;
    bool fragile = strstr(info.dli_fname, "libelf") || strstr(info.dli_fname, "libdw") ||
                   strstr(info.dli_fname, "libbfd") || strstr(info.dli_fname, "libopcodes");
    if (count_known < 64) {
        known[count_known].base = info.dli_fbase;
        known[count_known++].fragile = fragile;
    }
    return fragile;
}

/* Must this call fail? */
static bool fails_for(kind k, const void *caller)
{
    if (quiet || k != chosen || from_fragile(caller))
        return false;
    if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != fail_at)
        return false;
    quiet = true;
    note("failed\n");
    quiet = false;
    return true;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"", "alloc", "read", "write", "open", "process"};
    const char *name = getenv("WG_FAIL_KIND"), *at = getenv("WG_FAIL_AT"), *log = getenv("WG_FAIL_LOG");
    quiet = true;
    log_fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    quiet = false;
    fail_at = at ? strtoul(at, NULL, 10) : 0;
    for (unsigned i = 1; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            chosen = (kind)i;
    unsetenv("LD_PRELOAD"); /* an executed program is not instrumented */
}

__attribute__((destructor)) static void end(void)
{
    char text[40];
    quiet = true;
    (void)snprintf(text, sizeof text, "%lu\n", count);
    note(text);
}

#define fails(k) fails_for(k, __builtin_return_address(0))
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) { \
        bool was = quiet; \
        quiet = true; \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        quiet = was; \
    }

/* dlsym() may allocate before initialisation: a small buffer for that. */
static char early[4096];
static size_t early_used;

void *malloc(size_t bytes)
{
    REAL(malloc)
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(bytes);
}
void *calloc(size_t n, size_t bytes)
{
    static bool looking;
    if (looking) {
        void *p = early + early_used;
        early_used += (n * bytes + 15) & ~(size_t)15;
        return early_used <= sizeof early ? p : NULL;
    }
    looking = true;
    REAL(calloc)
    looking = false;
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(n, bytes);
}
void *realloc(void *old, size_t bytes)
{
    REAL(realloc)
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(old, bytes);
}
void free(void *p)
{
    REAL(free)
    if ((char *)p >= early && (char *)p < early + sizeof early)
        return;
    real(p);
}
void *aligned_alloc(size_t align, size_t bytes)
{
    REAL(aligned_alloc)
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(align, bytes);
}
int posix_memalign(void **out, size_t align, size_t bytes)
{
    REAL(posix_memalign)
    return fails(ALLOC) ? ENOMEM : real(out, align, bytes);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    REAL(mmap)
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(at, bytes, protection, flags, file, offset);
}
/* Inside the C library they call a malloc() other than this one. */
char *strdup(const char *s)
{
    size_t bytes = strlen(s) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, s, bytes) : NULL;
}
char *realpath(const char *path, char *to)
{
    REAL(realpath)
    if (fails(ALLOC)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(path, to);
}

ssize_t read(int fd, void *to, size_t bytes)
{
    REAL(read)
    if (fails(READ)) {
        errno = EIO;
        return -1;
    }
    return real(fd, to, bytes);
}
ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    REAL(pread)
    if (fails(READ)) {
        errno = EIO;
        return -1;
    }
    return real(fd, to, bytes, at);
}
/* stdio: closing its descriptor leaves the stream in error. */
static void spoil(FILE *f) { close(fileno(f)); }
size_t fread(void *to, size_t size, size_t n, FILE *f)
{
    REAL(fread)
    if (fails(READ))
        spoil(f);
    return real(to, size, n, f);
}
char *fgets(char *to, int n, FILE *f)
{
    REAL(fgets)
    if (fails(READ))
        spoil(f);
    return real(to, n, f);
}
int getc(FILE *f)
{
    REAL(getc)
    if (fails(READ))
        spoil(f);
    return real(f);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    REAL(write)
    if (fails(WRITE)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, from, bytes);
}
static int full(void)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    return fd;
}
/* The disk is full from now on. */
static void fill(FILE *f)
{
    bool was = quiet;
    quiet = true;
    int fd = full();
    if (f != stderr && fd >= 0)
        dup2(fd, fileno(f));
    if (fd >= 0)
        close(fd);
    quiet = was;
}
size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
    REAL(fwrite)
    if (f != stderr && fails(WRITE))
        fill(f);
    return real(from, size, n, f);
}
int fputs(const char *s, FILE *f)
{
    REAL(fputs)
    if (f != stderr && fails(WRITE))
        fill(f);
    return real(s, f);
}
int fflush(FILE *f)
{
    REAL(fflush)
    if (f && f != stderr && fails(WRITE))
        fill(f);
    return real(f);
}
int fclose(FILE *f)
{
    REAL(fclose)
    if (fails(WRITE))
        fill(f);
    return real(f);
}
int fsync(int fd)
{
    REAL(fsync)
    if (fails(WRITE)) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}
int rename(const char *from, const char *to)
{
    REAL(rename)
    if (fails(WRITE)) {
        errno = EACCES;
        return -1;
    }
    return real(from, to);
}
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    REAL(linkat)
    if (fails(WRITE)) {
        errno = EACCES;
        return -1;
    }
    return real(from_dir, from, to_dir, to, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen)
    if (fails(OPEN)) {
        errno = EMFILE;
        return NULL;
    }
    return real(path, mode);
}
FILE *fdopen(int fd, const char *mode)
{
    REAL(fdopen)
    if (fails(OPEN)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(fd, mode);
}
int open(const char *path, int flags, ...)
{
    REAL(open)
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    if (fails(OPEN)) {
        errno = EMFILE;
        return -1;
    }
    return real(path, flags, mode);
}
char *mkdtemp(char *name)
{
    REAL(mkdtemp)
    if (fails(OPEN)) {
        errno = ENOSPC;
        return NULL;
    }
    return real(name);
}
pid_t fork(void)
{
    REAL(fork)
    if (fails(PROCESS)) {
        errno = EAGAIN;
        return -1;
    }
    return real();
}
int pipe2(int fds[2], int flags)
{
    REAL(pipe2)
    if (fails(PROCESS)) {
        errno = EMFILE;
        return -1;
    }
    return real(fds, flags);
}
int pipe(int fds[2])
{
    REAL(pipe)
    if (fails(PROCESS)) {
        errno = EMFILE;
        return -1;
    }
    return real(fds);
}
