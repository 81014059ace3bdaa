/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate why`: runs to the end, or to a cycle, and asks the debugger for the writers of a location. */
#include "cli/commands.h"
#include "cli/debugging.h"
#include "debug/why.h"
#include "num/formats.h"

int wg_command_why(const wg_args *args, wg_text *out, wg_text *error)
{
    static const char *const formats[] = {"bf16", "fp16", "fp32"};
    static const unsigned format_of[] = {WG_FMT_BF16, WG_FMT_FP16, WG_FMT_FP32, 0};
    wg_debugging g = {0};
    uint64_t at = UINT64_MAX;
    unsigned format = 3;
    const char *of = args->value[WG_OPT_OF], *tile = args->value[WG_OPT_TILE];
    if (!of || !wg_why_understands(of)) {
        wg_textf(error, "waitgate: --of %s%s%s" WG_WHY_LOCATIONS " says what to explain\n", of ? "`" : "", of ? of : "",
                 of ? "` is not understood: " : "is missing: ");
        return WG_EXIT_ERROR;
    }
    if (!wg_option_number(args, WG_OPT_AT, "at", &at, error) ||
        !wg_option_choice(args, WG_OPT_NOT_FINITE, "not-finite", formats, 3, &format, error))
        return WG_EXIT_ERROR;
    size_t said = error->size;
    if (wg_debugging_open(&g, args, NULL, error)) {
        if (tile && !wg_debugging_who(&g, tile, &g.who))
            wg_textf(error, "waitgate: --tile: `%s` is not a tile in use, as X-Y\n", tile);
        else if (wg_debug_continue_to(g.d, at) == WG_PAUSE_FAILED)
            wg_textf(error, "waitgate: %s\n", wg_debug_error(g.d));
        else if (!wg_why_text(g.d, g.who,
                              &(wg_why_desc){.title = g.title,
                                             .of = of,
                                             .json = args->value[WG_OPT_JSON] != NULL,
                                             .looks = format < 3,
                                             .format = format_of[format]},
                              out))
            wg_textf(error, "waitgate: %s\n", wg_debug_error(g.d));
        if (!g.chip)
            wg_session_lost_memory(&g.s);
    }
    int status = error->size == said ? WG_EXIT_DONE : WG_EXIT_ERROR;
    wg_debugging_close(&g);
    return status;
}
