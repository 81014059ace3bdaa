/* SPDX-License-Identifier: Apache-2.0 */
/* waitgate: prints what a command has to say, and exits with its status. */
#include <stdio.h>

#include "cli/commands.h"

int main(int argc, char **argv)
{
    wg_text out = {0}, error = {0};
    int status = wg_command_main(argc, argv, &out, &error);
    if (out.size)
        fwrite(out.data, 1, out.size, stdout);
    bool written = fflush(stdout) == 0;
    if (error.size)
        fwrite(error.data, 1, error.size, stderr);
    if (!written)
        perror("waitgate: standard output");
    wg_text_free(&out);
    wg_text_free(&error);
    return written ? status : WG_EXIT_ERROR;
}
