/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a .tasm program, on both architectures: it parses and is assembled, or the error has a
 * position.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cli/tasm_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned arch = 0; arch < 2; arch++) {
        wg_tasm t;
        bool ok = wg_tasm_parse(&t, "fuzz", (const char *)data, size, (wg_arch_id)arch);
        for (unsigned i = 0; ok && i < WG_CORES; i++)
            ok = !t.core[i].present || wg_tasm_assemble(&t, i);
        wg_text report = {0};
        wg_tasm_report(&t, &report);
        if (!ok && !t.out_of_memory && !report.size)
            abort();
        wg_text_free(&report);
        wg_tasm_free(&t);
    }
    return 0;
}
