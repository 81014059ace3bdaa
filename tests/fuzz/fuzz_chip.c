/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a chip file, and as a cluster file: they parse, or the error has a position. On standard input a cluster file is recognised. */
#include <stdlib.h>

#include "cli/cluster_yaml.h"
#include "cli/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const wg_args args = {.input = (const char *)data, .input_bytes = size};
    if (wg_is_cluster_argument(&args, "-") && !wg_is_chip_argument(&args, "-"))
        abort(); /* a cluster file goes wherever a chip file does */
    wg_chip_file chip;
    if (!wg_chip_parse(&chip, "fuzz", (const char *)data, size) && !chip.report.size)
        abort();
    wg_chip_free(&chip);

    wg_cluster_file cluster;
    if (!wg_cluster_parse(&cluster, "fuzz", (const char *)data, size) && !cluster.base.report.size)
        abort();
    wg_cluster_file_free(&cluster);
    return 0;
}
