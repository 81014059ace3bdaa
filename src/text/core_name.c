/* SPDX-License-Identifier: Apache-2.0 */
#include "text/core_name.h"

#include <string.h>
#include <waitgate/waitgate.h>

unsigned wg_core_of_file_name(const char *path)
{
    static const char *const names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
    static const char *const roles[WG_THREADS] = {"unpack", "math", "pack"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (unsigned i = WG_CORES; i-- > 0;) /* "trisc0" before "brisc": a name may contain both */
        if (strstr(base, names[i]))
            return i;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (strncmp(base, roles[i], strlen(roles[i])) == 0)
            return WG_CORE_T0 + i;
    return WG_CORES;
}
