/* SPDX-License-Identifier: Apache-2.0 */
/* .tasm: the small assembler builds the image of a core section. */
#include <string.h>

#include "cli/rv_assemble.h"
#include "cli/tasm_internal.h"

static bool is_identifier(const char *name) { return strspn(name, ".") == 0; }

void wg_tasm_core_text(const wg_tasm *t, unsigned core, wg_text *out)
{
    wg_textf(out, ".file 1 \"");
    wg_tasm_quote(out, t->name);
    wg_textf(out, "\"\n.option norelax\n.option norvc\n.text\n.globl _start\n_start:\n");
    for (size_t i = 0; i < t->symbols; i++)
        if (!t->symbol[i].label && is_identifier(t->symbol[i].name))
            wg_textf(out, ".set %s, %lld\n", t->symbol[i].name, (long long)t->symbol[i].value);
    wg_text_add(out, t->core[core].source.data, t->core[core].source.size);
}

static void tell(void *tasm, uint32_t line, const char *message) { wg_tasm_fail(tasm, line, 0, "%s", message); }

bool wg_tasm_assemble(wg_tasm *t, unsigned core)
{
    wg_text all = {0};
    const size_t errors = t->errors;
    wg_tasm_core_text(t, core, &all);
    t->core[core].elf =
        all.failed ? NULL : wg_rv_assemble(t->name, wg_text_of(&all), all.size, t->core[core].address, tell, t);
    wg_text_free(&all);
    t->out_of_memory |= !t->core[core].elf && t->errors == errors;
    return t->core[core].elf != NULL;
}
