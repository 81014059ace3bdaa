/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a debugger sends: the server answers, asks again, or finds that the other side is gone. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gdb.h"

static const char program[] = ".thread 0\n ttsetdmareg 0, 7, 0, 8\n .repeat 40\n ttdmanop\n .endr\n";

static wg_session s;
static void *beginning; /* a snapshot */

/* One device for all inputs. */
static void open_session(void)
{
    static char path[96];
    static const char *file[1] = {path};
    static wg_args args = {.command = WG_CMD_GDB, .file = file, .files = 1};
    wg_text error = {0};
    snprintf(path, sizeof path, "/tmp/wg_fuzz_gdb_%ld.tasm", (long)getpid());
    FILE *f = fopen(path, "w");
    if (!f || fwrite(program, 1, sizeof program - 1, f) != sizeof program - 1 || fclose(f) != 0)
        abort();
    args.value[WG_OPT_MAX_CYCLES] = "300";
    wg_memory_begin();
    if (!wg_session_open(&s, &args, &error))
        abort();
    unlink(path);
    beginning = malloc(wg_snapshot_size(s.dev));
    if (!beginning || wg_snapshot(s.dev, beginning, wg_snapshot_size(s.dev)) != WG_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int line[2];
    if (!beginning)
        open_session();
    if (size > 16384 || pipe(line) != 0 || write(line[1], data, size) != (ssize_t)size)
        abort();
    close(line[1]);
    wg_gdb g = {.in = line[0], .out = open("/dev/null", O_WRONLY)};
    if (wg_restore(s.dev, beginning, wg_snapshot_size(s.dev)) != WG_OK || !wg_debug_open(&g.d, &s, UINT64_C(16) << 20))
        abort();
    wg_gdb_serve(&g);
    wg_debug_close(&g.d);
    close(line[0]);
    close(g.out);
    return 0;
}
