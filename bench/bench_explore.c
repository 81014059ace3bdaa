/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `explore` does in a second, on one host process and on two, interleaved. The rate uses the largest processor time of
 * any process: the wall time on cores of their own, whatever else the host does.
 *
 *     explore_runs_per_second   timings of a small program, one process
 *     explore_two_ratio         the same with two processes, relative to one
 *     explore_two_runs_per_second   the product of both
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 5, RUNS = 4000 };

/* Timings per second. */
static double explore(unsigned jobs)
{
    char command[1024], line[256];
    double timings = 0, busiest = 0;
    snprintf(command, sizeof command, "\"%s\" explore --json --jobs %u --runs %u --budget 600 \"%s\"", WG_PROGRAM, jobs,
             RUNS, WG_EXPLORED);
    FILE *out = popen(command, "r");
    while (out && fgets(line, sizeof line, out)) {
        sscanf(line, " \"timings\": %lf", &timings);
        sscanf(line, " \"busiest_microseconds\": %lf", &busiest);
    }
    if (!out || pclose(out) != 0 || timings <= 0 || busiest <= 0) {
        fprintf(stderr, "%s failed\n", command);
        exit(1);
    }
    return 1e6 * timings / busiest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    double one[TRIES], ratio[TRIES];
    for (unsigned i = 0; i < TRIES; i++) {
        one[i] = explore(1);
        ratio[i] = explore(2) / one[i];
    }
    qsort(one, TRIES, sizeof *one, compare);
    qsort(ratio, TRIES, sizeof *ratio, compare);
    printf("explore_runs_per_second %.0f 1/s\n", one[TRIES / 2]);
    printf("explore_two_ratio %.2f x\n", ratio[TRIES / 2]);
    printf("explore_two_runs_per_second %.0f 1/s\n", one[TRIES / 2] * ratio[TRIES / 2]);
    return 0;
}
