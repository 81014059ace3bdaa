/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a file with a path, for functions that read files: one per process, rewritten each time. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static inline const char *memory_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0)
        fd = memfd_create("fuzz", 0);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return NULL;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

#endif
