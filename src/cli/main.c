/* SPDX-License-Identifier: Apache-2.0 */
/* waitgate: prints a command's output, and exits with its status. */
#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/meter.h"
#include "cli/ranks.h"

int main(int argc, char **argv)
{
    wg_text out = {0}, error = {0};
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like any other */
    wg_meter_enable();
    out.colour = wg_terminal_colour() && !wg_ranks_started();
    int status = WG_EXIT_ERROR;
    if (!wg_ranks_started() || wg_ranks_share(argc, argv, &out, &error))
        status = wg_command_main(argc, argv, &out, &error);
    FILE *to = out.aside ? stderr : stdout;
    if (out.prose)
        wg_text_fold(&out, wg_fold_width(to), NULL);
    wg_text_fold(&error, wg_fold_width(stderr), "waitgate: ");
    bool written = fwrite(out.data ? out.data : "", 1, out.size, to) == out.size;
    written = fflush(stdout) == 0 && !ferror(stdout) && written;
    if (!written)
        perror("waitgate: standard output");
    if (error.size)
        fwrite(error.data, 1, error.size, stderr);
    if (error.failed)
        fprintf(stderr, "waitgate: out of memory\n");
    wg_text_free(&out);
    wg_text_free(&error);
    return written ? status : WG_EXIT_ERROR;
}
