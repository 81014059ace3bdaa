/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the ISA suites: finding the tree, and comparing our tables with the shared data files. */
#ifndef TEST_ISA_SUPPORT_H
#define TEST_ISA_SUPPORT_H

#include <stdio.h>
#include <unistd.h>
#include "wgtest.h"

/* The repository's root, wherever the suite runs; NULL outside the tree. */
static inline const char *isa_root(void)
{
    static const char *const candidates[] = {".", "..", "../..", "../../..", "../../../.."};
    static char path[256];
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        (void)snprintf(path, sizeof path, "%s/src/isa/insns.def", candidates[i]);
        if (access(path, R_OK) == 0)
            return candidates[i];
    }
    return NULL;
}

/*
 * Passes a dump of our tables to test_isa_tables.py, which compares it with ../shared/data; true if they agree, or if
 * there is no such folder (which is reported).
 */
static inline bool isa_compare(const char *what, wg_arch_id arch, void (*dump)(FILE *to, wg_arch_id arch))
{
    const char *root = isa_root();
    char path[600];
    (void)snprintf(path, sizeof path, "%s/../shared/data", root ? root : ".");
    if (root == NULL || access(path, R_OK) != 0) {
        print_message("SKIPPED: %s is not here; tables not compared\n", path);
        return true;
    }
    char name[] = "/tmp/wg_isa_XXXXXX";
    int fd = mkstemp(name);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL)
        return false;
    dump(f, arch);
    (void)fclose(f);
    (void)snprintf(path, sizeof path, "python3 %s/tests/unit/test_isa_tables.py %s %s %s %s/../shared/data", root, what,
                   arch == WG_ARCH_BH ? "bh" : "wh", name, root);
    int status = system(path);
    (void)remove(name);
    return status == 0;
}

#endif
