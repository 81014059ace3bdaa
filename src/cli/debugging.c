/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/debugging.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- A tile alone: streams of a .tasm program are pushed while time advances ---- */

static wg_status tile_advance(void *user, uint64_t cycle, wg_stop *stop)
{
    wg_debugging *g = user;
    bool failed = false;
    *stop = WG_STOP_CYCLES;
    if (!wg_drive_to(&g->drive, cycle, &failed))
        return WG_OK;
    static const wg_stop stops[] = {
        [WG_ENDED_DONE] = WG_STOP_DONE,    [WG_ENDED_UNTIL] = WG_STOP_UNTIL,     [WG_ENDED_HUNG] = WG_STOP_HUNG,
        [WG_ENDED_LIMIT] = WG_STOP_CYCLES, [WG_ENDED_FINDING] = WG_STOP_FINDING, [WG_ENDED_INTERRUPT] = WG_STOP_CYCLES};
    *stop = stops[g->s.ended];
    return failed ? WG_ERR_STATE : WG_OK;
}

static void tile_save(void *user, void *to)
{
    memcpy(to, ((wg_debugging *)user)->drive.feed, sizeof(wg_feed) * WG_THREADS);
}
static void tile_load(void *user, const void *from)
{
    memcpy(((wg_debugging *)user)->drive.feed, from, sizeof(wg_feed) * WG_THREADS);
}

/* ---- A chip: the host has memory, and launches programs of tt-metal ---- */

static wg_status chip_advance(void *user, uint64_t cycle, wg_stop *stop)
{
    return wg_chip_advance(((wg_debugging *)user)->chip, cycle, stop);
}

static void chip_save(void *user, void *to) { wg_chip_host_save(((wg_debugging *)user)->chip, to); }
static void chip_load(void *user, const void *from) { wg_chip_host_load(((wg_debugging *)user)->chip, from); }

static void *chip_tile(void *user, unsigned x, unsigned y)
{
    return wg_chip_session(((wg_debugging *)user)->chip, x, y);
}

/* A tile that the file does not name has no programs. */
static bool chip_source(void *session, unsigned core, uint32_t pc, wg_source *out)
{
    return session && wg_session_source(session, core, pc, out);
}

/* ---- Both ---- */

static bool opens_machine(wg_debugging *g, const wg_args *args, wg_text *error)
{
    if (wg_is_chip_run(args)) {
        g->chip = wg_chip_open(args, error);
        g->title = args->files ? args->file[0] : args->value[WG_OPT_RESUME];
        return g->chip != NULL;
    }
    if (!wg_session_open(&g->s, args, error))
        return false;
    g->drive = wg_drive_begin(&g->s);
    g->title = g->s.title;
    return true;
}

bool wg_debugging_open(wg_debugging *g, const wg_args *args, bool (*interrupted)(void *user), wg_text *error)
{
    uint64_t history = UINT64_C(512) << 20;
    *g = (wg_debugging){0};
    if (!wg_option_number(args, WG_OPT_HISTORY, "history", &history, error) || !opens_machine(g, args, error))
        return false;
    const size_t host = g->chip ? wg_chip_host_bytes(g->chip) : 0;
    const wg_debug_host tile = {sizeof tile, sizeof(wg_feed) * WG_THREADS, tile_advance, tile_save, tile_load};
    const wg_debug_host chip = {sizeof chip, host, chip_advance, chip_save, chip_load};
    const wg_debug_desc desc = {.struct_size = sizeof desc,
                                .device = g->chip ? NULL : g->s.dev,
                                .grid = g->chip ? wg_chip_grid(g->chip) : NULL,
                                .history = history ? history : 1,
                                .host = g->chip ? &chip : &tile,
                                .user = g,
                                .interrupted = interrupted,
                                .source = g->chip ? chip_source : wg_session_source,
                                .source_user = g->chip ? (void *)g : &g->s,
                                .of_tile = g->chip ? chip_tile : NULL};
    if (wg_debug_open(&desc, &g->d) != WG_OK) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    g->who = wg_debug_first(g->d);
    return true;
}

void wg_debugging_close(wg_debugging *g)
{
    wg_debug_close(g->d);
    if (g->chip)
        wg_chip_close(g->chip);
    else
        wg_session_close(&g->s);
}

/* Is it the name of this core of the tile? Cores of Ethernet tiles have names of their own. */
static bool is_core(const wg_debugging *g, wg_who tile, unsigned core, const char *text)
{
    const wg_device *dev = g->chip ? wg_grid_peek(wg_chip_grid(g->chip), tile.x, tile.y) : g->s.dev;
    return dev && core < dev->tile->spec->cores && strcasecmp(text, dev->tile->spec->core[core].name) == 0;
}

bool wg_debugging_who(const wg_debugging *g, const char *text, wg_who *who)
{
    static const char *const names[WG_WHO_OF_TILE] = {"b", "nc", "t0", "t1", "t2", "0", "1", "2"};
    size_t length = strcspn(text, " "), dash = strcspn(text, "-");
    uint64_t x, y;
    if (dash < length) {
        if (!wg_parse_number(text, dash, &x) || !wg_parse_number(text + dash + 1, length - dash - 1, &y) ||
            x > UINT8_MAX || y > UINT8_MAX || !g->chip ||
            !wg_grid_peek(wg_chip_grid(g->chip), (unsigned)x, (unsigned)y))
            return false;
        who->x = (uint8_t)x;
        who->y = (uint8_t)y;
        text += length + strspn(text + length, " ");
        if (!*text)
            return true;
    }
    for (unsigned i = 0; i < WG_WHO_OF_TILE; i++)
        if (strcasecmp(text, names[i]) == 0 || is_core(g, *who, i, text)) {
            who->agent = (uint8_t)i;
            return true;
        }
    return false;
}

bool wg_debugging_interrupted(void *user)
{
    wg_debugging *g = user;
    wg_meter_at(&g->meter, g->chip ? wg_grid_cycle(wg_chip_grid(g->chip)) : wg_cycle(g->s.dev));
    return wg_interrupted();
}

bool wg_debugging_obey(wg_debugging *g, const char *line, wg_text *out)
{
    line += strspn(line, " \t");
    const size_t length = strcspn(line, " \t\r\n");
    if (length == 4 && strncmp(line, "quit", 4) == 0)
        return false;
    if (length == 6 && strncmp(line, "thread", 6) == 0) {
        char name[40] = "";
        const char *rest = line + 6 + strspn(line + 6, " \t");
        wg_who who = g->who;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "\r\n"), rest);
        if (wg_debugging_who(g, name, &who))
            g->who = who;
        else
            wg_textf(out, "thread [X-Y] b|nc|t0|t1|t2|0|1|2\n");
        return true;
    }
    if (!length)
        return true;
    /* A command that advances time cannot be repeated: allocates room for a long answer from the start. */
    char *answer = NULL;
    size_t room = 1 << 22;
    g->meter = wg_meter_begin(NULL, 0, UINT64_MAX);
    wg_interrupt_begin();
    while (room && !(answer = wg_malloc(room)))
        room /= 2;
    if (answer) {
        wg_debug_command(g->d, g->who, line, answer, room);
        wg_textf(out, "%s", answer);
        wg_debug_state s;
        wg_debug_state_get(g->d, &s);
        if (s.who.agent < WG_WHO_OF_TILE && (s.pause == WG_PAUSE_BREAK || s.pause == WG_PAUSE_WATCH))
            g->who = s.who;
    }
    free(answer);
    wg_meter_end(&g->meter);
    wg_interrupt_end();
    return true;
}
