/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a chip file: it parses, or says where it does not. */
#include <stdlib.h>

#include "cli/chip_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wg_chip_file f;
    bool ok = wg_chip_parse(&f, "fuzz", (const char *)data, size);
    if (!ok && !f.report.size)
        abort();
    wg_chip_free(&f);
    return 0;
}
