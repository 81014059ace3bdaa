/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_beside.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The host may have functions with the names of those that these libraries call (tt-metal's library has libdwarf's, some of which
 * libdw has, too): each finds its own first. The address sanitizer does not permit that.
 */
static void *load(const char *path)
{
    const bool sanitized = dlsym(RTLD_DEFAULT, "__asan_init") != NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | (sanitized ? 0 : RTLD_DEEPBIND));
}

static void *load_from_folder_of(const char *file, const char *name)
{
    char path[4096];
    const char *slash = file ? strrchr(file, '/') : NULL;
    const int length = slash ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file), file, name) : 0;
    return length > 0 && (size_t)length < sizeof path ? load(path) : NULL;
}

void *wg_abi_load_beside(const char *name)
{
    Dl_info here;
    void *library = dladdr((const void *)&wg_abi_load_beside, &here) ? load_from_folder_of(here.dli_fname, name) : NULL;
    if (!library)
        library = load_from_folder_of(getenv("TT_METAL_SIMULATOR"), name);
    return library ? library : load(name);
}
