/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *load_from_folder_of(const char *file, const char *name)
{
    char path[4096];
    const char *slash = file ? strrchr(file, '/') : NULL;
    const int length = slash ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file), file, name) : 0;
    return length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

void *wg_abi_load_beside(const char *name)
{
    Dl_info here;
    void *library = dladdr((const void *)&wg_abi_load_beside, &here) ? load_from_folder_of(here.dli_fname, name) : NULL;
    if (!library)
        library = load_from_folder_of(getenv("TT_METAL_SIMULATOR"), name);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
