/* SPDX-License-Identifier: Apache-2.0 */
/* Writes docs/isa.md from the instruction tables. A build tool. Usage: gen_isa_doc OUTPUT */
#include <stdio.h>
#include "isa/report.h"

static void write_file(void *user, const char *text, size_t length) { (void)fwrite(text, 1, length, user); }

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: gen_isa_doc OUTPUT\n");
        return 1;
    }
    wg_isa_document(NULL, write_file, out);
    return fclose(out) == 0 ? 0 : 1;
}
