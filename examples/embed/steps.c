/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run in steps of a host: a .tasm program, a chip file or a cluster file, loaded as `waitgate run` loads it. After each step the host looks at the
 * threads of one tile (of a cluster: of chip 0); here it could change anything, too. At the end it prints the command's own report.
 *
 *     steps CYCLES X Y WORD…        steps 10 0 0 run deadlock.tasm
 */
#include <stdio.h>
#include <stdlib.h>
#include <waitgate/cluster.h>
#include <waitgate/tools.h>

static const char *const ends[] = {[WG_STOP_CYCLES] = "",
                                   [WG_STOP_DONE] = ": done",
                                   [WG_STOP_HUNG] = ": nothing can move",
                                   [WG_STOP_UNTIL] = ": until",
                                   [WG_STOP_FINDING] = ": a finding"};

/* What core B executes, and the semaphores that are not 0. */
static void look(wg_program *program, wg_device *dev, wg_stop stop)
{
    wg_core_info core;
    wg_source source = {.struct_size = sizeof source};
    printf("cycle %llu%s", (unsigned long long)wg_cycle(dev), ends[stop]);
    if (wg_core_state(dev, WG_CORE_B, &core) == WG_OK && !core.in_reset) {
        printf("; core B at 0x%08x", (unsigned)core.pc);
        if (wg_program_source(program, WG_CORE_B, core.pc, &source) && source.line)
            printf(" (%s:%u)", source.file, source.line);
    }
    for (unsigned i = 0; i < 8; i++) {
        uint32_t value;
        if (wg_peek(dev, WG_SPACE_SEM_VALUE, i, &value) == WG_OK && value)
            printf("; semaphore %u is %u", i, (unsigned)value);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    char *errors = NULL;
    if (argc < 5) {
        fprintf(stderr, "usage: steps CYCLES X Y WORD…\n");
        return 1;
    }
    const uint64_t step = strtoull(argv[1], NULL, 0);
    const unsigned x = (unsigned)strtoul(argv[2], NULL, 0), y = (unsigned)strtoul(argv[3], NULL, 0);
    wg_program *program = wg_program_open((size_t)argc - 4, (const char *const *)(argv + 4), NULL, &errors);
    if (!program) {
        fputs(errors ? errors : "out of memory\n", stderr);
        wg_free(errors);
        return 1;
    }
    wg_device *dev = wg_program_device(program);
    wg_grid *chip =
        wg_program_cluster(program) ? wg_cluster_chip(wg_program_cluster(program), 0) : wg_program_chip(program);
    if (!dev)
        dev = wg_grid_tile(chip, x, y);
    wg_stop stop = WG_STOP_CYCLES;
    while (dev && stop == WG_STOP_CYCLES) {
        if (wg_program_run(program, step, &stop) != WG_OK) {
            fprintf(stderr, "%s\n", wg_program_error(program));
            break;
        }
        look(program, dev, stop);
    }
    int status = wg_program_end(program, &errors);
    char *report = wg_program_report(program, false);
    fputs(report ? report : "", stdout);
    if (!report)
        status = 1;
    fputs(errors ? errors : "", stderr);
    wg_free(report);
    wg_free(errors);
    wg_program_close(program);
    return status;
}
