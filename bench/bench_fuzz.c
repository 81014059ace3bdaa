/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer's loop (examples/embed/fuzz.c): random programs on one device that is created once and reset between them.
 *
 *     fuzz_programs_per_second
 */
#include <stdio.h>

int main(void)
{
    char line[256];
    double found, rate = 0;
    FILE *out = popen("\"" WG_FUZZ "\" 20000 2>&1", "r");
    while (out && fgets(line, sizeof line, out)) {
        int end = 0;
        if (sscanf(line, "%lf programs per second%n", &found, &end) == 1 && end)
            rate = found;
    }
    if (!out || pclose(out) != 0 || rate <= 0) {
        fprintf(stderr, "%s failed\n", WG_FUZZ);
        return 1;
    }
    printf("fuzz_programs_per_second %.0f 1/s\n", rate);
    return 0;
}
