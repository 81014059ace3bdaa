/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a debugger's packets: the server answers, asks again, or finds the connection closed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/debugging.h"
#include "debug/gdb.h"

static const char program[] = ".thread 0\n ttsetdmareg 0, 7, 0, 8\n .repeat 40\n ttdmanop\n .endr\n"
                              ".core B\n li a0, 0x3000\n sw a0, 0(a0)\nstop:\n j stop\n";

static wg_debugging session;

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
    args.value[WG_OPT_HISTORY] = "16M";
    if (!wg_debugging_open(&session, &args, NULL, &error))
        abort();
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int line[2];
    wg_gdb *g;
    if (!session.d)
        open_session();
    if (size > 16384 || pipe(line) != 0 || write(line[1], data, size) != (ssize_t)size)
        abort();
    close(line[1]);
    int out = open("/dev/null", O_WRONLY);
    /* Changes by an input persist; time restarts. */
    wg_debug_go(session.d, 0);
    session.d->breakpoints = session.d->watches = 0;
    if (wg_gdb_open(session.d, line[0], out, &g) != WG_OK)
        abort();
    wg_gdb_serve(g);
    wg_gdb_close(g);
    close(line[0]);
    close(out);
    return 0;
}
