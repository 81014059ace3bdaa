/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate why`: runs to the end, or to a cycle, and asks the debugger for the writers of a location. */
#include "cli/commands.h"
#include "cli/inputs.h"
#include "debug/why.h"

#include <stdlib.h>
#include <string.h>

/* Which tile: of DRAM, any; else one that is in use. */
static bool whose(wg_debugging *g, const char *of, const char *tile, wg_text *error)
{
    uint64_t x, y;
    const bool dram = strncmp(of, "dram:", 5) == 0;
    const size_t dash = tile ? strcspn(tile, "-") : 0;
    if (dram && g->chip && tile && tile[dash] && wg_parse_number(tile, dash, &x) &&
        wg_parse_number(tile + dash + 1, strlen(tile + dash + 1), &y) && x < wg_grid_width(wg_chip_grid(g->chip)) &&
        y < wg_grid_height(wg_chip_grid(g->chip)) &&
        wg_grid_kind(wg_chip_grid(g->chip), (unsigned)x, (unsigned)y) == WG_TILE_DRAM) {
        g->who = (wg_who){.x = (uint8_t)x, .y = (uint8_t)y, .agent = WG_AGENT_NONE};
        return true;
    }
    if (dram) {
        wg_textf(error, "waitgate: --of dram: goes with --tile X-Y, a DRAM tile of a chip file\n");
        return false;
    }
    if (!tile || wg_debugging_who(g, tile, &g->who))
        return true;
    wg_textf(error, "waitgate: --tile: `%s` is not a tile in use, as X-Y\n", tile);
    return false;
}

static bool explain(wg_debugging *g, const wg_args *args, const char *of, const wg_element *element, wg_type unknown,
                    uint64_t at, wg_text *out, wg_text *error)
{
    const char *asked = args->value[WG_OPT_OF];
    if (!whose(g, of, args->value[WG_OPT_TILE], error))
        return false;
    wg_suspects *suspects = wg_suspects_new(g, g->who, element, unknown);
    bool ok = suspects && wg_debug_continue_to(g->d, at) != WG_PAUSE_FAILED &&
              wg_why_text(g->d, g->who,
                          &(wg_why_desc){.title = g->title,
                                         .of = of,
                                         .of_text = asked,
                                         .json = args->value[WG_OPT_JSON] != NULL,
                                         .user = suspects,
                                         .input = wg_suspects_input,
                                         .verdict = wg_suspects_verdict},
                          out);
    if (!ok)
        wg_textf(error, "waitgate: %s\n", suspects ? wg_debug_error(g->d) : "out of memory");
    wg_suspects_free(suspects);
    return ok;
}

/* --of, --at and --not-finite as given. */
typedef struct question {
    char *place; /* of an element; NULL: --of is a location */
    wg_element element;
    wg_type unknown;
    uint64_t at;
} question;

static bool read_question(const wg_args *args, question *q, wg_text *error)
{
    static const char *const formats[] = {"bf16", "fp16", "fp32"};
    static const wg_type format_of[] = {WG_TYPE_BF16, WG_TYPE_FP16, WG_TYPE_FP32};
    unsigned format = 3;
    const char *of = args->value[WG_OPT_OF];
    *q = (question){.element.type = WG_TYPE_RAW, .at = UINT64_MAX};
    wg_text why = {0};
    if (of && !wg_element_parse(of, &q->place, &q->element, &why)) {
        wg_textf(error, "waitgate: --of: %s\n", wg_text_of(&why));
        wg_text_free(&why);
        return false;
    }
    if (!of || !wg_why_understands(q->place ? q->place : of)) {
        wg_textf(error, "waitgate: --of %s%s%s" WG_WHY_LOCATIONS " says what to explain\n", of ? "`" : "", of ? of : "",
                 of ? "` is not understood: " : "is missing: ");
        return false;
    }
    if (!wg_option_number(args, WG_OPT_AT, "at", &q->at, error) ||
        !wg_option_choice(args, WG_OPT_NOT_FINITE, "not-finite", formats, 3, &format, error))
        return false;
    q->unknown = format < 3 ? format_of[format] : wg_type_is_float(q->element.type) ? q->element.type : WG_TYPE_RAW;
    return true;
}

bool wg_why_asked(const wg_args *args, wg_text *error)
{
    question q;
    const bool ok = read_question(args, &q, error);
    free(q.place);
    return ok;
}

int wg_command_why(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_debugging g = {0};
    question q;
    bool ok = read_question(args, &q, error);
    if (ok) {
        wg_interrupt_forget();
        ok = wg_debugging_open(&g, args, wg_debugging_interrupted, error);
        g.meter = wg_meter_begin(NULL, 0, UINT64_MAX);
        ok = ok && explain(&g, args, q.place ? q.place : args->value[WG_OPT_OF], q.place ? &q.element : NULL, q.unknown,
                           q.at, out, error);
        wg_meter_end(&g.meter);
        if (!g.chip)
            wg_session_lost_memory(&g.s);
        wg_debugging_close(&g);
    }
    free(q.place);
    return ok ? WG_EXIT_DONE : WG_EXIT_ERROR;
}

bool wg_why_json(const wg_args *args, wg_text *out, wg_text *error)
{
    static const wg_option of_the_run[] = {WG_OPT_LOG, WG_OPT_TRACE_FILE, WG_OPT_STATS, WG_OPT_TIMELINE};
    wg_args why = *args;
    why.command = WG_CMD_WHY;
    why.value[WG_OPT_JSON] = "";
    for (unsigned i = 0; i < sizeof of_the_run / sizeof *of_the_run; i++)
        why.value[of_the_run[i]] = NULL;
    return wg_command_why(&why, out, error) == WG_EXIT_DONE;
}
