/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that watches its own run: two tiles of a chip, a trace, a profile and a page; then it continues unwatched.
 *
 *     watch SOURCE.elf SINK.elf FOLDER
 *
 * The programs are those of examples/relay.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waitgate/chip.h>
#include <waitgate/tools.h>

static char error[512];

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "watch: %s: %s\n", what, error);
    exit(1);
}

static wg_elf *load(wg_grid *grid, unsigned x, const char *path)
{
    wg_elf *elf = wg_elf_open_file(path, error, sizeof error);
    must(elf, path);
    must(wg_elf_load(elf, wg_grid_tile(grid, x, 2), WG_CORE_B, true, error, sizeof error) == WG_OK, path);
    return elf;
}

int main(int argc, char **argv)
{
    char trace[512], page[512];
    wg_grid *grid;
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    must(argc == 4, "usage: watch SOURCE.elf SINK.elf FOLDER");
    snprintf(trace, sizeof trace, "%s/watch.pftrace", argv[3]);
    snprintf(page, sizeof page, "%s/watch.html", argv[3]);
    must(wg_grid_create(&chip, &grid) == WG_OK, "chip");

    const wg_watch_desc desc = {
        .struct_size = sizeof desc, .grid = grid, .title = "relay", .trace = trace, .profile = true, .timeline = true};
    wg_watch *watch = wg_watch_begin(&desc, error, sizeof error);
    must(watch, "watch");
    for (unsigned x = 1; x <= 2; x++)
        must(wg_watch_tile(watch, x, 2, error, sizeof error), "tile");
    wg_elf *elf[2] = {load(grid, 1, argv[1]), load(grid, 2, argv[2])};
    for (unsigned x = 1; x <= 2; x++)
        must(wg_watch_elf(watch, x, 2, WG_CORE_B, elf[x - 1]), "symbols");

    wg_stop stop;
    must(wg_grid_run(grid, 10000, &stop) == WG_OK, "run");
    must(wg_watch_end(watch, error, sizeof error), "end");
    must(wg_grid_run(grid, 1000000, &stop) == WG_OK && stop == WG_STOP_DONE, "the rest of the run");

    char *profile = wg_watch_profile(watch, false), *timeline = wg_watch_timeline_text(watch);
    must(profile && timeline && wg_watch_report(watch, page, error, sizeof error), "report");
    fputs(profile, stdout);
    fputs(timeline, stdout);
    must(strstr(profile, "Profile of cycles 0 to 10000, 2 tiles") && strstr(profile, "relay.c:"),
         "the profile names lines");
    must(strstr(profile, "waiting for tile 1-2"), "the profile names who waits for whom");
    must(strstr(timeline, "tile 2-2"), "the timeline shows both tiles");
    wg_free(profile);
    wg_free(timeline);
    wg_watch_free(watch);
    wg_grid_destroy(grid);
    for (unsigned i = 0; i < 2; i++)
        wg_elf_close(elf[i]);
    return 0;
}
