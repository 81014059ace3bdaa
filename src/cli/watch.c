/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's run, watched: traces, logs, profile, timeline and report for a device or a chip that a program drives itself
 * (<waitgate/tools.h>). The tiles are sessions, like those of a chip file, but not opened from files.
 */
#include <stdlib.h>
#include <string.h>
#include <waitgate/tools.h>

#include "chip/what_if.h"
#include "cli/chip_internal.h"
#include "cli/profile.h"
#include "cli/scaling.h"
#include "machine/device.h"

/* Of each track of a chip's tile: at most 1 MB. */
enum { LINKS_OF_A_TILE = 1 << 14 };

struct wg_watch {
    wg_args args;
    wg_chip_run run; /* of a tile alone: that tile */
    wg_device *device;
    char *title, *trace, *log, *report;
    char *part[2]; /* of the run, for the profile: from, to; NULL: not given */
    char *what_if; /* NULL: its own costs */
    wg_scaling scaling;
    wg_tile_scaling *scaled; /* by tile */
    bool profile, timeline, stats, ended;
    wg_host_elf *elf; /* programs; the caller's */
    size_t elfs;
    wg_watch_finder find; /* NULL: others are not searched for */
    void *find_user;
};

/* The code that each core of a tile is in. */
enum { PAGE_BITS = 8, PAGES = WG_L1_MAX_LINES * 16 >> PAGE_BITS };
typedef struct wg_code_found {
    wg_watch *watch;
    wg_chip_tile *tile;
    uint32_t low[WG_CORES], bytes[WG_CORES];       /* a program that was found, or a page of something else */
    uint64_t unknown[WG_CORES][(PAGES + 63) / 64]; /* pages whose program is not found */
} wg_code_found;

static bool fail(wg_text *message, char *error, size_t bytes)
{
    const char *from = wg_text_of(message);
    if (strncmp(from, "waitgate: ", 10) == 0)
        from += 10;
    if (bytes)
        snprintf(error, bytes, "%.*s", (int)strcspn(from, "\n"), *from ? from : "out of memory");
    wg_text_free(message);
    return false;
}

static bool copy_of(char **to, const char *text) { return !text || (*to = strdup(text)); }

static bool add_elf(wg_watch *w, const wg_host_elf *elf)
{
    wg_host_elf *more = wg_realloc(w->elf, (w->elfs + 1) * sizeof *more);
    if (!more)
        return false;
    w->elf = more;
    w->elf[w->elfs++] = *elf;
    return true;
}

static bool is_here(const wg_watch *w, const wg_chip_tile *t, const wg_host_elf *e)
{
    return w->device || (e->x == WG_ANYWHERE && e->y == WG_ANYWHERE) || (e->x == t->x && e->y == t->y);
}

/* A program arrives: the profile's part may begin or end at a symbol of it, and the costs of its lines may be scaled. */
static void program_arrives(wg_watch *w, wg_chip_tile *t, const wg_host_elf *e)
{
    wg_costs *p = t->s.costs;
    wg_milestone *stone[2] = {p ? &p->from_stone : NULL, p ? &p->to_stone : NULL};
    const bool open[2] = {p && p->from == UINT64_MAX, p && p->to == UINT64_MAX};
    uint32_t address;
    for (unsigned i = 0; i < 2; i++)
        if (open[i] && stone[i]->kind == WG_MILESTONE_NONE && w->part[i] &&
            wg_watch_symbol(w, &t->s, w->part[i], &address))
            *stone[i] = (wg_milestone){WG_MILESTONE_PC, address, 0};
    if (w->what_if) /* out of memory: they are not scaled, and wg_watch_end() says that they were not found */
        wg_scaling_code(&w->scaling, &t->s, e->core, &(wg_scaled_code){e->elf, e->moved, e->low, e->high},
                        &w->scaled[t - w->run.tile]);
}

/* The core is about to execute code outside of what it was in: which program is that? */
static void enters_code(wg_code_found *f, unsigned core, uint32_t pc)
{
    wg_watch *w = f->watch;
    wg_chip_tile *const t = f->tile;
    const uint32_t page = pc >> PAGE_BITS;
    uint32_t known = pc, address = pc;
    f->low[core] = page << PAGE_BITS;
    f->bytes[core] = 1 << PAGE_BITS;
    if (page >= PAGES || f->unknown[core][page / 64] >> page % 64 & 1)
        return;
    const wg_elf *own = wg_watch_program(w, &t->s, core, pc, &known);
    wg_elf *elf = w->find(w->find_user, t->x, t->y, (wg_core_id)core, pc, &address);
    for (size_t i = 0; elf && i < wg_elf_segments(elf); i++) {
        const wg_elf_segment *g = wg_elf_segment_at(elf, i);
        if (!g->executable || address - g->address >= g->file_bytes)
            continue;
        f->low[core] = g->address + (pc - address);
        f->bytes[core] = g->file_bytes;
        const wg_host_elf found = {elf, core, t->x, t->y, f->low[core], f->low[core] + f->bytes[core], pc - address};
        if ((elf != own || address != known) && add_elf(w, &found)) /* out of memory: its lines stay unknown */
            program_arrives(w, f->tile, &found);
        return;
    }
    f->unknown[core][page / 64] |= UINT64_C(1) << page % 64;
}

static void on_code(void *user, const wg_event *e)
{
    wg_code_found *f = user;
    if (e->agent < WG_CORES && e->pc - f->low[e->agent] >= f->bytes[e->agent])
        enters_code(f, e->agent, e->pc);
}

static bool find_programs(wg_watch *w, wg_chip_tile *t, wg_text *error)
{
    if (!w->find || t->s.dev->tile->spec->kind != WG_TILE_TENSIX)
        return true;
    if (!(t->s.found = wg_calloc(1, sizeof *t->s.found))) {
        wg_textf(error, "out of memory");
        return false;
    }
    *t->s.found = (wg_code_found){.watch = w, .tile = t};
    return wg_session_observe(&t->s, WG_EV_BIT(WG_EV_CORE_RETIRE), on_code, t->s.found, error);
}

/* Before time passes for the tile. */
static bool scale_tile(wg_watch *w, wg_chip_tile *t, wg_text *error)
{
    wg_tile_scaling *own = &w->scaled[t - w->run.tile];
    if (!w->what_if)
        return true;
    t->s.scaling = &w->scaling;
    bool ok = wg_scaling_tile(&w->scaling, &t->s, own);
    for (size_t i = 0; ok && i < w->elfs; i++) {
        const wg_host_elf *e = &w->elf[i];
        if (is_here(w, t, e))
            ok =
                wg_scaling_code(&w->scaling, &t->s, e->core, &(wg_scaled_code){e->elf, e->moved, e->low, e->high}, own);
    }
    /* With lines whose program is not here yet, the tile looks for them from the beginning. */
    ok = ok && (own->places || !w->scaling.lines || wg_scaling_nowhere(own)) &&
         wg_device_what_if(t->s.dev, &own->what_if) == WG_OK;
    if (!ok)
        wg_textf(error, "out of memory");
    return ok;
}

static bool watch_tile(wg_watch *w, wg_chip_tile *t, wg_device *dev, wg_text *error)
{
    const bool alone = w->device;
    const unsigned width = alone ? 0 : wg_grid_width(w->run.grid), number = t->y * width + t->x;
    wg_session *s = &t->s;
    *s = (wg_session){.args = &w->args,
                      .dev = dev,
                      .title = w->title,
                      .expectations_hold = true,
                      .max_cycles = UINT64_MAX,
                      .chip_width = width,
                      .tile = number,
                      .chip = &w->run,
                      .host_elf = w,
                      .desc = {.struct_size = sizeof s->desc, .arch = dev->arch->id, .profile = dev->profile}};
    if (alone)
        snprintf(t->name, sizeof t->name, "tile 0");
    else
        snprintf(t->name, sizeof t->name, "%s %u-%u", dev->tile->spec->kind == WG_TILE_ETH ? "Ethernet tile" : "tile",
                 t->x, t->y);
    const wg_trace_tile at = {1 + number, number, alone, t->name, s->desc.arch};
    bool ok = scale_tile(w, t, error) && find_programs(w, t, error); /* before anyone asks for their lines */
    ok = ok && (!w->profile || (wg_profile_open(s, wg_idle_cores(s), error) && wg_page_open(s, error)));
    if (ok && s->costs && !alone) /* a chip may have 140 of them */
        s->costs->chain.most = LINKS_OF_A_TILE;
    return ok && (!w->stats || wg_watch_stats(s, error)) && (!w->timeline || wg_watch_timeline(s, error)) &&
           wg_outputs_watch(&w->run.outputs, s, &at, error);
}

wg_watch *wg_watch_begin(const wg_watch_desc *given, char *error, size_t bytes)
{
    wg_watch_desc desc = {0};
    wg_text message = {0};
    if (!given || given->struct_size < offsetof(wg_watch_desc, title) || given->struct_size > sizeof desc) {
        wg_textf(&message, "wg_watch_desc.struct_size is not that of any version");
        fail(&message, error, bytes);
        return NULL;
    }
    memcpy(&desc, given, given->struct_size);
    wg_watch *w = wg_calloc(1, sizeof *w);
    if (!desc.device == !desc.grid)
        wg_textf(&message, "give a device or a grid");
    const size_t most = desc.grid ? (size_t)wg_grid_width(desc.grid) * wg_grid_height(desc.grid) : 1;
    bool ok = w && !message.size && (w->run.tile = wg_calloc(most, sizeof *w->run.tile)) &&
              (w->run.profiled = wg_calloc(most, sizeof *w->run.profiled)) &&
              copy_of(&w->title, desc.title ? desc.title : "host") && copy_of(&w->trace, desc.trace) &&
              copy_of(&w->log, desc.log) && copy_of(&w->what_if, desc.what_if) && copy_of(&w->part[0], desc.from) &&
              copy_of(&w->part[1], desc.to) && (w->scaled = wg_calloc(most, sizeof *w->scaled));
    if (ok) {
        w->args = (wg_args){.command = WG_CMD_PROFILE};
        w->args.value[WG_OPT_FROM] = w->part[0];
        w->args.value[WG_OPT_TO] = w->part[1];
        w->run.args = &w->args;
        w->run.grid = desc.grid;
        w->run.file.name = w->title;
        w->device = desc.device;
        w->profile = desc.profile;
        w->timeline = desc.timeline;
        w->stats = desc.stats;
        const wg_arch_id arch = desc.grid ? wg_grid_arch(desc.grid) : desc.device->arch->id;
        w->run.file.grid.arch = arch;
        ok = wg_outputs_open(&w->run.outputs, w->trace, w->log, arch, desc.grid, &message);
        if (ok && w->run.outputs.konata && desc.grid) {
            wg_textf(&message, "a Konata log is of one tile: watch its device");
            ok = false;
        }
    }
    ok = ok && (!w->what_if || wg_scaling_read(&w->scaling, w->what_if, &message)) &&
         (!w->what_if || !desc.grid || wg_grid_what_if(desc.grid, &w->scaling.all) == WG_OK);
    if (ok && desc.device) {
        w->run.tiles = 1;
        w->run.profiled[0] = &w->run.tile[0].s;
        ok = watch_tile(w, &w->run.tile[0], desc.device, &message);
    }
    if (ok)
        return w;
    fail(&message, error, bytes);
    wg_watch_free(w);
    return NULL;
}

bool wg_watch_tile(wg_watch *w, unsigned x, unsigned y, char *error, size_t bytes)
{
    wg_text message = {0};
    wg_device *dev = w->run.grid ? wg_grid_tile(w->run.grid, x, y) : NULL;
    if (!dev)
        wg_textf(&message, "there is no tile with cores at (%u, %u) of a chip", x, y);
    for (size_t i = 0; dev && i < w->run.tiles; i++)
        if (w->run.tile[i].x == x && w->run.tile[i].y == y)
            return true;
    if (w->ended)
        wg_textf(&message, "the watch has ended");
    if (message.size)
        return fail(&message, error, bytes);
    wg_chip_tile *t = &w->run.tile[w->run.tiles];
    t->x = x;
    t->y = y;
    w->run.profiled[w->run.tiles++] = &t->s;
    w->run.file.grid.profile = dev->profile;
    return watch_tile(w, t, dev, &message) || fail(&message, error, bytes);
}

bool wg_watch_elf(wg_watch *w, unsigned x, unsigned y, wg_core_id core, wg_elf *elf)
{
    const wg_host_elf added = {elf, core, x, y, 0, UINT32_MAX, 0};
    if (!elf || (unsigned)core >= WG_CORES || !add_elf(w, &added))
        return false;
    for (size_t i = 0; i < w->run.tiles && !w->ended; i++)
        if (is_here(w, &w->run.tile[i], &added))
            program_arrives(w, &w->run.tile[i], &added);
    return true;
}

void wg_watch_find(wg_watch *w, wg_watch_finder find, void *user)
{
    w->find = find;
    w->find_user = user;
}

/* The program of a core of this session that has code at `pc`. */
wg_elf *wg_watch_program(const wg_watch *w, const wg_session *s, unsigned core, uint32_t pc, uint32_t *address)
{
    const wg_chip_tile *t = (const wg_chip_tile *)(const void *)((const char *)s - offsetof(wg_chip_tile, s));
    for (size_t i = w->elfs; i-- > 0;) { /* the program loaded last */
        const wg_host_elf *e = &w->elf[i];
        if (is_here(w, t, e) && e->core == core && pc >= e->low && pc < e->high &&
            wg_elf_function(e->elf, pc - e->moved)) {
            *address = pc - e->moved;
            return e->elf;
        }
    }
    return NULL;
}

bool wg_watch_symbol(const wg_watch *w, const wg_session *s, const char *name, uint32_t *address)
{
    const wg_chip_tile *t = (const wg_chip_tile *)(const void *)((const char *)s - offsetof(wg_chip_tile, s));
    for (size_t i = w->elfs; i-- > 0;) {
        const wg_host_elf *e = &w->elf[i];
        const wg_elf_symbol *symbol = is_here(w, t, e) ? wg_elf_symbol_named(e->elf, name) : NULL;
        if (symbol) {
            *address = symbol->address + e->moved;
            return true;
        }
    }
    return false;
}

bool wg_watch_end(wg_watch *w, char *error, size_t bytes)
{
    wg_text message = {0};
    bool ok = !w->what_if || w->ended || wg_scaling_found(&w->scaling, &message);
    if (w->ended)
        return true;
    w->ended = true;
    const uint64_t now = w->device ? wg_cycle(w->device) : wg_grid_cycle(w->run.grid);
    w->run.ended = WG_ENDED_DONE;
    for (size_t i = 0; i < w->run.tiles; i++) {
        wg_session *s = &w->run.tile[i].s;
        s->ended = wg_device_is_done(s->dev) ? WG_ENDED_DONE : WG_ENDED_UNTIL;
        w->run.ended = s->ended == WG_ENDED_DONE ? w->run.ended : WG_ENDED_UNTIL;
        wg_session_unobserve(s);
        wg_outputs_end(s, now);
        if (s->stats)
            wg_stats_end(s->stats, now);
        if (s->timeline)
            wg_timeline_end(s->timeline, now);
        ok = ok && (!s->costs || wg_profile_end(s, now, &message));
    }
    ok = ok && wg_outputs_close(&w->run.outputs, &message);
    return ok || fail(&message, error, bytes);
}

static char *words(wg_text *text)
{
    if (!text->data && !text->failed)
        return strdup("");
    if (text->failed)
        wg_text_free(text);
    return text->data;
}

char *wg_watch_profile(wg_watch *w, bool json)
{
    wg_text out = {0};
    if (!w->profile || !w->ended || !w->run.tiles)
        return NULL;
    wg_session *s = &w->run.tile[0].s;
    if (json && w->device)
        wg_report_json(s, WG_EXIT_DONE, NULL, &out);
    else if (json)
        wg_chip_report_json(&w->run, WG_EXIT_DONE, NULL, &out);
    else if (w->device)
        wg_report_profile(s, &out);
    else
        wg_chip_profile_text(&w->run, &out);
    return words(&out);
}

char *wg_watch_timeline_text(wg_watch *w)
{
    wg_text out = {0};
    if (!w->timeline || !w->ended)
        return NULL;
    for (size_t i = 0; i < w->run.tiles; i++) {
        if (!w->device)
            wg_textf(&out, "%s\n", w->run.tile[i].name);
        wg_report_timeline(&w->run.tile[i].s, &out, false);
    }
    return words(&out);
}

char *wg_watch_statistics(wg_watch *w, bool json)
{
    wg_text out = {0};
    if (!w->stats || !w->ended || !w->run.tiles)
        return NULL;
    if (json && w->device)
        wg_report_json(&w->run.tile[0].s, WG_EXIT_DONE, NULL, &out);
    else if (json)
        wg_chip_report_json(&w->run, WG_EXIT_DONE, NULL, &out);
    for (size_t i = 0; !json && i < w->run.tiles; i++) {
        if (!w->device)
            wg_textf(&out, "%s\n", w->run.tile[i].name);
        wg_report_stats(&w->run.tile[i].s, &out);
    }
    return words(&out);
}

bool wg_watch_report(wg_watch *w, const char *path, char *error, size_t bytes)
{
    wg_text message = {0}, out = {0};
    if (!w->profile || !w->ended || !w->run.tiles)
        wg_textf(&message, "a report is of a watch with a profile that has ended and has a tile");
    free(w->report);
    w->report = strdup(path);
    w->args.value[WG_OPT_OUTPUT] = w->report;
    bool ok = !message.size && w->report &&
              (w->device ? wg_page_write(&w->run.tile[0].s, WG_EXIT_DONE, &out, &message)
                         : wg_chip_page(&w->run, WG_EXIT_DONE, &out, &message));
    wg_text_free(&out);
    return ok || fail(&message, error, bytes);
}

void wg_watch_free(wg_watch *w)
{
    if (w && w->what_if && w->run.grid)
        wg_grid_what_if(w->run.grid, NULL);
    for (size_t i = 0; w && i < w->run.tiles; i++) {
        wg_session *s = &w->run.tile[i].s;
        if (w->what_if && w->device)
            wg_device_what_if(w->device, NULL);
        if (!w->ended)
            wg_session_unobserve(s);
        s->dev = NULL; /* the host owns it */
        wg_session_close(s);
    }
    if (w) {
        wg_outputs_free(&w->run.outputs);
        free(w->run.tile);
        free(w->run.profiled);
        free(w->elf);
        free(w->title);
        free(w->trace);
        free(w->log);
        free(w->report);
        free(w->part[0]);
        free(w->part[1]);
        for (size_t i = 0; w->scaled && i < w->run.tiles; i++)
            free(w->scaled[i].place);
        free(w->scaled);
        wg_scaling_free(&w->scaling);
        free(w->what_if);
    }
    free(w);
}
