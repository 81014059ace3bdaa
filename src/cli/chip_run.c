/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a chip file: a card with its tiles, a session for each Tensix tile that the file names, time for
 * all of them together, and one report.
 *
 *     chip.yaml ──parse──► card, sessions ──load──► run ──► report per tile, dumps
 */
#include <stdlib.h>
#include <string.h>

#include "chip/what_if.h"
#include "cli/again.h"
#include "cli/drive.h"
#include "cli/metal_run.h"
#include "cli/waits.h"
#include "machine/device.h"
#include "text/chip_hang.h"
#include "text/delays.h"

/* Cycles between two checks of conditions; without any, between two checks for Ctrl-C. */
enum { STRETCH = 1 << 17, LEAST_STRETCH = 1 << 7, UNTIL_STRETCH = 100 };

bool wg_is_chip_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

wg_elf *wg_chip_program(wg_chip_run *r, const char *path, wg_chip_mark mark)
{
    char message[512], *full = wg_chip_path(r, path, NULL);
    for (size_t i = 0; full && i < r->elfs; i++)
        if (strcmp(r->elf[i].path, full) == 0) {
            free(full);
            return r->elf[i].elf;
        }
    wg_shared_elf *more = full ? wg_realloc(r->elf, (r->elfs + 1) * sizeof *r->elf) : NULL;
    if (!more) {
        free(full);
        r->file.out_of_memory = true;
        return NULL;
    }
    r->elf = more;
    wg_elf *elf = wg_elf_open_file(full, message, sizeof message);
    if (!elf) {
        wg_chip_complain(&r->file, mark, "%s", message);
        free(full);
        return NULL;
    }
    r->elf[r->elfs++] = (wg_shared_elf){full, elf};
    return elf;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

/* Options for a single tile do not apply here. */
bool wg_chip_refuse(const wg_args *args, wg_text *error)
{
    static const struct {
        wg_option option;
        const char *name, *instead;
    } refused[] = {{WG_OPT_BRISC, "brisc", "set it in the file"},   {WG_OPT_NCRISC, "ncrisc", "set it in the file"},
                   {WG_OPT_TRISC0, "trisc0", "set it in the file"}, {WG_OPT_TRISC1, "trisc1", "set it in the file"},
                   {WG_OPT_TRISC2, "trisc2", "set it in the file"}, {WG_OPT_RELEASE, "release", "set it in the file"},
                   {WG_OPT_LOAD, "load", "set it in the file"},     {WG_OPT_DUMP, "dump", "set it in the file"},
                   {WG_OPT_UNTIL, "until", "set it in the file"}};
    const unsigned takes = 1u << WG_CMD_RUN | 1u << WG_CMD_CHECK | 1u << WG_CMD_TRACE | 1u << WG_CMD_PROFILE |
                           1u << WG_CMD_REPORT | 1u << WG_CMD_GDB | 1u << WG_CMD_DEBUG | 1u << WG_CMD_WHY |
                           1u << WG_CMD_EXPLORE;
    if (!(takes >> args->command & 1)) {
        wg_textf(error, "waitgate: a chip file can be run, checked, traced, profiled, reported, explored and debugged; "
                        "this command "
                        "takes the programs of one tile\n");
        return false;
    }
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        if (args->value[refused[i].option]) {
            wg_textf(error, "waitgate: --%s does not go with a chip file: %s\n", refused[i].name, refused[i].instead);
            return false;
        }
    return true;
}

bool wg_chip_options(const wg_args *args, wg_chip_file *file, wg_text *error)
{
    static const char *const profiles[] = {"silicon", "documented"};
    wg_grid_desc *g = &file->grid;
    unsigned profile = g->profile;
    wg_arch_id arch = g->arch;
    if (!wg_args_arch(args, &arch, error) ||
        !wg_option_choice(args, WG_OPT_PROFILE, "profile", profiles, 2, &profile, error) ||
        !wg_option_number(args, WG_OPT_MAX_CYCLES, "max-cycles", &file->max_cycles, error) ||
        !wg_option_number(args, WG_OPT_SEED, "seed", &g->seed, error))
        return false;
    if (args->value[WG_OPT_ARCH] && arch != g->arch) {
        wg_textf(error, "waitgate: %s is for %s, but --arch is %s\n", file->name, wg_arch_title(g->arch),
                 wg_arch_title(arch));
        return false;
    }
    g->profile = (wg_profile)profile;
    return wg_lockstep_wanted(&g->lockstep, error) && wg_shortcuts_wanted(&g->shortcuts, error) &&
           wg_simd_wanted(&g->simd, error);
}

wg_chip_tile *wg_chip_tile_at(wg_chip_run *r, wg_chip_place at, wg_text *error)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].x == at.x && r->tile[i].y == at.y)
            return &r->tile[i];
    wg_chip_tile *t = &r->tile[r->tiles];
    wg_device *dev = wg_grid_tile(r->grid, at.x, at.y);
    if (!dev) {
        wg_textf(error, "waitgate: %s\n", wg_grid_error(r->grid));
        return NULL;
    }
    const wg_grid_desc *g = &r->file.grid;
    *t = (wg_chip_tile){.x = at.x,
                        .y = at.y,
                        .s = {.args = r->args,
                              .dev = dev,
                              .title = r->file.name,
                              .expectations_hold = true,
                              .desc = {.struct_size = sizeof t->s.desc, .arch = g->arch, .profile = g->profile}}};
    const char *kind = wg_grid_kind(r->grid, at.x, at.y) == WG_TILE_ETH ? "Ethernet tile" : "tile";
    t->s.of_chip = r->of_cluster ? 1 + r->number : 0;
    if (r->of_cluster)
        snprintf(t->name, sizeof t->name, "chip %u, %s %u-%u", r->number, kind, at.x, at.y);
    else
        snprintf(t->name, sizeof t->name, "%s %u-%u", kind, at.x, at.y);
    r->tiles++;
    return t;
}

static bool place_programs(wg_chip_run *r, const wg_chip_tiles *entry, wg_chip_tile *t)
{
    bool right = true;
    for (unsigned c = 0; c < WG_CORES; c++) {
        if (!entry->program[c])
            continue;
        if (t->s.elf[c]) {
            wg_chip_complain(&r->file, entry->program_mark[c], "core %s of tile [%u, %u] has a program already",
                             wg_agent_name_of(t->s.dev, c), t->x, t->y);
            right = false;
            continue;
        }
        t->s.elf[c] = wg_chip_program(r, entry->program[c], entry->program_mark[c]);
        t->s.borrowed[c] = true;
        right = right && t->s.elf[c];
        if (!t->s.elf[c])
            break;
    }
    t->s.release |= entry->release;
    return right;
}

static bool open_tiles(wg_chip_run *r, wg_text *error)
{
    size_t most = wg_metal_kernel_tiles(&r->file);
    for (size_t i = 0; i < r->file.tiles; i++)
        most += r->file.tile[i].places;
    if (!(r->tile = wg_calloc(most + 1, sizeof *r->tile))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    bool right = true;
    for (size_t i = 0; i < r->file.tiles; i++)
        for (size_t k = 0; k < r->file.tile[i].places; k++) {
            wg_chip_place at = r->file.tile[i].place[k];
            wg_tile_kind kind = wg_grid_kind(r->grid, at.x, at.y);
            if (kind != WG_TILE_TENSIX && (kind != WG_TILE_ETH || !wg_chip_runs(&r->file.tile[i])))
                continue;
            wg_chip_tile *t = wg_chip_tile_at(r, at, error);
            if (!t)
                return false;
            right = place_programs(r, &r->file.tile[i], t) && right;
        }
    return right;
}

/* A race detector for each tile of the file; packets carry their senders' clocks. */
static bool open_check(wg_chip_run *r, wg_text *error)
{
    if (!(r->races = wg_races_group_new())) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    for (size_t i = 0; i < r->tiles; i++) {
        if (wg_grid_kind(r->grid, r->tile[i].x, r->tile[i].y) != WG_TILE_TENSIX)
            continue; /* the detector knows the agents of a Tensix tile */
        if (!wg_check_open(&r->tile[i].s, error) || !wg_check_attach(&r->tile[i].s, error))
            return false;
        wg_races_group_add(r->races, r->tile[i].s.races, r->tile[i].y * wg_grid_width(r->grid) + r->tile[i].x);
    }
    return true;
}

/* The run of tile number `index`; NULL: the file does not name it. */
static wg_session *of_tile(void *chip, unsigned index)
{
    wg_chip_run *r = chip;
    unsigned width = wg_grid_width(r->grid);
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].y * width + r->tile[i].x == index)
            return &r->tile[i].s;
    return NULL;
}

/* Restores the state of the snapshot; the limit counts from there. */
static bool goes_on(wg_chip_run *r, wg_text *error)
{
    if (!wg_saved_chip_apply(&r->saved, r->grid, r->host, r->file.host_bytes, error))
        return false;
    const uint64_t now = wg_grid_cycle(r->grid);
    r->file.max_cycles = r->file.max_cycles < UINT64_MAX - now ? r->file.max_cycles + now : UINT64_MAX;
    return true;
}

static bool load_tiles(wg_chip_run *r, wg_text *error)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (!wg_load_programs(&r->tile[i].s, error))
            return false;
    return true;
}

/* A Konata log covers one tile: its name says which. */
static bool open_konata(wg_chip_run *r, const char *path, wg_text *error)
{
    if (r->tiles > 1 && (!strstr(path, "{x}") || !strstr(path, "{y}"))) {
        wg_textf(error, "waitgate: --trace: a Konata log is of one tile: put {x} and {y} into the name, as in "
                        "`tile-{x}-{y}.kanata`\n");
        return false;
    }
    for (size_t i = 0; i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        char *name = wg_chip_name(path, &r->tile[i], NULL);
        bool ok = name && (s->outputs = wg_calloc(1, sizeof *s->outputs)) &&
                  wg_outputs_open(s->outputs, name, NULL, s->desc.arch, false, error);
        free(name);
        if (!ok)
            return false;
    }
    return true;
}

enum { PROCESSES = 1024 }; /* of a trace, for each chip of a cluster */

static bool watch_tile(wg_chip_run *r, wg_chip_tile *t, wg_text *error)
{
    wg_session *s = &t->s;
    const unsigned number = t->y * wg_grid_width(r->grid) + t->x;
    /* Traces of several chips can be shown together. */
    const wg_trace_tile at = {1 + number + r->number * PROCESSES, number, false, t->name, r->file.grid.arch};
    const bool page = r->args->command == WG_CMD_REPORT, profiled = page || r->args->command == WG_CMD_PROFILE;
    return wg_watch_history(s, error) && (!r->metal || wg_watch_pages(s, error)) &&
           (!profiled || wg_profile_open(s, wg_idle_cores(s), error)) && (!page || wg_page_open(s, error)) &&
           (!r->args->value[WG_OPT_STATS] || wg_watch_stats(s, error)) &&
           (!r->args->value[WG_OPT_TIMELINE] || wg_watch_timeline(s, error)) &&
           wg_outputs_watch(&r->outputs, s, &at, error) && (!s->outputs || wg_outputs_watch(s->outputs, s, &at, error));
}

static bool watch_tiles(wg_chip_run *r, wg_text *error)
{
    const wg_args *args = r->args;
    const char *trace = wg_trace_wanted(args);
    if (r->unseen || args->command == WG_CMD_GDB || args->command == WG_CMD_DEBUG || args->command == WG_CMD_WHY)
        return true; /* runs again on request */
    if (r->of_cluster && !r->tiles)
        return true; /* nothing to observe */
    bool konata = wg_trace_is_konata(trace);
    if (!wg_outputs_open(&r->outputs, konata ? NULL : trace, args->value[WG_OPT_LOG], r->file.grid.arch, true, error) ||
        (konata && !open_konata(r, trace, error)))
        return false;
    if (r->outputs.trace)
        r->outputs.trace->flows = (uint64_t)r->number << 32;
    for (size_t i = 0; i < r->tiles; i++)
        if (!watch_tile(r, &r->tile[i], error))
            return false;
    return true;
}

bool wg_chip_outputs_close(wg_chip_run *r, wg_text *error)
{
    for (size_t i = 0; i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        wg_outputs_end(s, wg_cycle(s->dev));
        if (s->outputs && !wg_outputs_close(s->outputs, error))
            return false;
    }
    return wg_outputs_close(&r->outputs, error);
}

static bool scale_tiles(wg_chip_run *r, const wg_what_if *of_tile, wg_text *error)
{
    bool ok = wg_grid_what_if(r->grid, of_tile) == WG_OK; /* only factors of lines differ from tile to tile */
    for (size_t i = 0; ok && i < r->tiles; i++)
        ok = wg_device_what_if(r->tile[i].s.dev, &of_tile[i]) == WG_OK;
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    return ok;
}

/* The delays of each tile, out of those of the chip. A tile without any has none. */
static bool perturb(wg_chip_run *r, const wg_delay *delays, size_t count, wg_text *error)
{
    wg_delay *own = wg_malloc((count + 1) * sizeof *own);
    size_t used = 0;
    bool ok = own != NULL;
    for (size_t i = 0; ok && i < r->tiles; i++) {
        wg_device *dev = r->tile[i].s.dev;
        const uint16_t tile = wg_delay_tile(r->tile[i].x, r->tile[i].y);
        size_t n = 0;
        for (size_t k = 0; k < count; k++)
            if (delays[k].tile == tile)
                own[n++] = delays[k];
        ok = wg_perturb_with(dev, dev->tile->seed, own, n) == WG_OK;
        used += n;
    }
    free(own);
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    else if (used < count)
        wg_textf(error, "waitgate: --delays: %s does not name every tile of the list\n", r->file.name);
    return ok && used == count;
}

static bool perturb_tiles(wg_chip_run *r, wg_text *error)
{
    const char *text = r->args->value[WG_OPT_DELAYS];
    wg_delay_list list = {0};
    if (r->delays)
        return perturb(r, r->delays, r->delay_count, error);
    if (!text)
        return true;
    bool ok = wg_delays_parse(text, true, &list, error) && perturb(r, list.item, list.count, error);
    wg_delays_free(&list);
    return ok;
}

static bool read_file(wg_chip_run *r, wg_text *error)
{
    const wg_args *args = r->args;
    char message[512];
    size_t size;
    const char *chip;
    if (!wg_chip_refuse(args, error) || !wg_save_check(args, error) ||
        !wg_saved_chip_files(args, &r->saved, &chip, error))
        return false;
    if (!(r->source = wg_args_read(args, chip, &size, message, sizeof message))) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    if (!wg_chip_parse(&r->file, chip, (const char *)r->source, size) || !wg_chip_options(args, &r->file, error) ||
        (r->saved.file && !wg_saved_chip_fits(&r->saved, &r->file.grid, chip, error)))
        return false;
    return true;
}

/* NULL `scaled`: the run itself; else a run unseen, with factors for each tile. */
static bool open_run(wg_chip_run *r, const wg_args *args, const wg_what_if *scaled, wg_text *error)
{
    *r = (wg_chip_run){.args = args, .scaled = scaled, .unseen = scaled};
    return read_file(r, error) && wg_chip_begin(r, error);
}

bool wg_chip_open_run(wg_chip_run *r, const wg_args *args, wg_text *error) { return open_run(r, args, NULL, error); }

bool wg_chip_open_again(wg_chip_run *v, const wg_chip_run *r, uint64_t seed, const wg_delay *delays, size_t count,
                        uint64_t max_cycles, wg_text *error)
{
    *v = (wg_chip_run){.args = r->args, .unseen = true, .delays = delays, .delay_count = count};
    if (!read_file(v, error))
        return false;
    v->file.grid.seed = seed;
    v->file.grid.threads = 1;
    v->file.max_cycles = max_cycles;
    return wg_chip_begin(v, error);
}

bool wg_chip_begin(wg_chip_run *r, wg_text *error)
{
    const wg_args *args = r->args;
    unsigned stop_on = WG_SEVERITY_NEVER;
    if (r->file.metal && (args->value[WG_OPT_SAVE_AT] || args->value[WG_OPT_SAVE_EVERY] ||
                          (r->saved.file && args->command == WG_CMD_RUN))) {
        wg_textf(error,
                 "waitgate: %s: programs of tt-metal cannot be resumed: what their host has done is not in a "
                 "snapshot; --save-on-failure leaves one for `waitgate gdb`\n",
                 r->file.name);
        return false;
    }
    if (!wg_option_choice(args, WG_OPT_STOP_ON, "stop-on", wg_severity_names, WG_SEVERITY_NEVER, &stop_on, error))
        return false;
    wg_card_desc desc = {.struct_size = sizeof desc,
                         .grid = &r->file.grid,
                         .host_read = wg_chip_host_read,
                         .host_write = wg_chip_host_write,
                         .host = r};
    wg_status status = wg_card_create(&desc, &r->card);
    if (status != WG_OK || (r->file.host_bytes && !(r->host = wg_calloc(1, (size_t)r->file.host_bytes)))) {
        wg_textf(error, "waitgate: %s\n", wg_status_text(status == WG_OK ? WG_ERR_NO_MEMORY : status));
        return false;
    }
    r->grid = wg_card_grid(r->card);
    if (!open_tiles(r, error) || (r->scaled && !scale_tiles(r, r->scaled, error)) ||
        (r->file.metal && !wg_metal_open(r, error)) || !perturb_tiles(r, error) ||
        (wg_check_wanted(args) && (!r->unseen || args->value[WG_OPT_WAITS]) && !open_check(r, error)) ||
        (r->metal && !wg_metal_start(r, error)) || !wg_chip_images(r, false, error))
        return false;
    for (size_t i = 0; i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        s->chip_width = wg_grid_width(r->grid);
        s->tile = r->tile[i].y * s->chip_width + r->tile[i].x;
        s->of_tile = of_tile;
        s->chip = r;
        wg_stop_on(s->dev, (wg_severity)stop_on);
    }
    if (r->saved.file) /* observation starts where the snapshot does */
        return load_tiles(r, error) && goes_on(r, error) && watch_tiles(r, error);
    return watch_tiles(r, error) && load_tiles(r, error);
}

void wg_chip_end(wg_chip_run *r)
{
    for (size_t i = 0; i < r->tiles; i++) {
        r->tile[i].s.dev = NULL; /* the grid owns it */
        wg_session_close(&r->tile[i].s);
    }
    for (size_t i = 0; i < r->elfs; i++) {
        wg_elf_close(r->elf[i].elf);
        free(r->elf[i].path);
    }
    wg_outputs_free(&r->outputs);
    free(r->profiled);
    free(r->elf);
    free(r->tile);
    wg_metal_close(r->metal);
    wg_races_group_free(r->races);
    wg_waits_free(r->waits);
    wg_card_destroy(r->card);
    free(r->host);
    free(r->inputs.list);
    wg_text_free(&r->trouble);
    wg_saved_chip_free(&r->saved);
    wg_chip_free(&r->file);
    free(r->source);
}

/* ---- Time ------------------------------------------------------------------------------------------------ */

bool wg_chip_has_until(const wg_chip_run *r)
{
    for (size_t i = 0; i < r->file.tiles; i++)
        if (r->file.tile[i].until.mask)
            return true;
    return false;
}

bool wg_chip_until_holds(wg_chip_run *r)
{
    for (size_t i = 0; i < r->file.tiles; i++) {
        const wg_chip_tiles *entry = &r->file.tile[i];
        for (size_t k = 0; entry->until.mask && k < entry->places; k++) {
            uint32_t value = 0;
            if (wg_grid_read(r->grid, entry->place[k].x, entry->place[k].y, entry->until.address, &value, 4) != WG_OK ||
                (value & entry->until.mask) != entry->until.value)
                return false;
        }
    }
    return true;
}

static bool save(void *run, const char *path, wg_text *error)
{
    wg_chip_run *r = run;
    return wg_saved_chip_write(r->grid, &r->file.grid, r->file.name, r->host, r->file.host_bytes, path, error);
}

static bool runs_away(const wg_chip_run *r)
{
    bool any = false;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            const wg_device *dev = wg_grid_peek(r->grid, x, y);
            any |= dev && wg_runs_away(dev);
        }
    return any;
}

bool wg_chip_drive(wg_chip_run *r, wg_text *error)
{
    bool until = wg_chip_has_until(r), saved = true;
    uint64_t stretch = until || r->metal ? UNTIL_STRETCH : STRETCH,
             save_at = wg_save_next(r->args, wg_grid_cycle(r->grid));
    uint64_t watch_from = wg_progress_from(wg_grid_cycle(r->grid), r->file.max_cycles);
    wg_pace pace = wg_pace_begin(stretch < LEAST_STRETCH ? stretch : LEAST_STRETCH, stretch);
    wg_meter meter = wg_meter_begin(r->unseen ? "running again" : NULL, wg_grid_cycle(r->grid), r->file.max_cycles);
    if (r->unseen && r->args->command == WG_CMD_EXPLORE)
        meter.terminal = false; /* it shows how many runs are left */
    wg_interrupt_begin();
    for (bool going = true; going;) {
        wg_meter_show(&meter, wg_grid_cycle(r->grid));
        uint64_t now = wg_grid_cycle(r->grid), left = r->file.max_cycles - now;
        if (now == save_at) {
            saved = saved && wg_save_due(r->args, now, save, r, error);
            save_at = wg_save_next(r->args, now + 1);
        }
        if (save_at - now < left)
            left = save_at - now;
        if (stretch - now % stretch < left) /* conditions are checked in the same cycles, wherever the run began */
            left = stretch - now % stretch;
        if (pace.cycles - now % pace.cycles < left)
            left = pace.cycles - now % pace.cycles;
        for (size_t i = 0; now >= watch_from && !r->unseen && i < r->tiles; i++)
            wg_progress_watch(&r->tile[i].s);
        if (now >= watch_from)
            watch_from = UINT64_MAX;
        else if (watch_from - now < left)
            left = watch_from - now;
        wg_stop stop;
        if (wg_grid_run(r->grid, left, &stop) != WG_OK) {
            wg_interrupt_end();
            wg_meter_end(&meter);
            wg_textf(error, "waitgate: %s\n", wg_grid_error(r->grid));
            return false;
        }
        wg_pace_adapt(&pace);
        going = false;
        const bool looks = stop != WG_STOP_CYCLES || wg_grid_cycle(r->grid) % stretch == 0 ||
                           wg_grid_cycle(r->grid) >= r->file.max_cycles;
        const wg_metal_turn turn = r->metal && looks ? wg_metal_look(r, error) : WG_METAL_WAITS;
        if (turn == WG_METAL_FAILED) {
            wg_interrupt_end();
            wg_meter_end(&meter);
            return false;
        }
        if (until && looks && wg_chip_until_holds(r))
            r->ended = WG_ENDED_UNTIL;
        else if (turn == WG_METAL_FINISHED)
            r->ended = WG_ENDED_DONE;
        else if (turn == WG_METAL_LAUNCHED)
            going = true;
        else if (stop == WG_STOP_FINDING || (wg_grid_cycle(r->grid) % STRETCH == 0 && runs_away(r)))
            r->ended = WG_ENDED_FINDING;
        else if (stop == WG_STOP_DONE || stop == WG_STOP_HUNG)
            r->ended = stop == WG_STOP_DONE ? WG_ENDED_DONE : WG_ENDED_HUNG;
        else if (wg_interrupted())
            r->ended = WG_ENDED_INTERRUPT;
        else if (wg_grid_cycle(r->grid) >= r->file.max_cycles)
            r->ended = WG_ENDED_LIMIT;
        else
            going = true;
    }
    wg_interrupt_end();
    wg_meter_end(&meter);
    if (saved)
        saved = wg_save_missed(r->args, wg_grid_cycle(r->grid), save_at, error);
    const char *failure = r->args->value[WG_OPT_SAVE_ON_FAILURE];
    return saved && (!failure || r->ended != WG_ENDED_HUNG || save(r, failure, error));
}

/* The turn of tt-metal's host, if there is one. True: the run ends here, with this stop and status. */
static bool host_ends(wg_chip_run *r, wg_metal_turn *turn, wg_stop *stop, wg_status *status)
{
    *turn = wg_metal_look(r, &r->trouble);
    *status = *turn == WG_METAL_FAILED ? WG_ERR_STATE : WG_OK;
    if (*turn == WG_METAL_FINISHED)
        *stop = WG_STOP_DONE;
    return *turn == WG_METAL_FINISHED || *turn == WG_METAL_FAILED;
}

/*
 * The host acts in the same cycles as in wg_chip_drive(). Its turn in such a cycle is part of what follows, so it is repeated
 * after a debugger has gone back.
 */
wg_status wg_chip_advance(wg_chip_run *r, uint64_t cycle, wg_stop *stop)
{
    const bool until = wg_chip_has_until(r), looks = until || r->metal;
    cycle = cycle < r->file.max_cycles ? cycle : r->file.max_cycles;
    for (;;) {
        const uint64_t now = wg_grid_cycle(r->grid), next = (now / UNTIL_STRETCH + 1) * UNTIL_STRETCH;
        const bool here = looks && now % UNTIL_STRETCH == 0 && now;
        wg_metal_turn turn = WG_METAL_LAUNCHED;
        wg_status status = WG_OK;
        *stop = here && until && wg_chip_until_holds(r) ? WG_STOP_UNTIL : WG_STOP_CYCLES;
        if (*stop == WG_STOP_UNTIL || now >= cycle)
            return WG_OK;
        if (here && r->metal && host_ends(r, &turn, stop, &status))
            return status;
        status = wg_grid_run(r->grid, (looks && next < cycle ? next : cycle) - now, stop);
        if (status == WG_OK && *stop == WG_STOP_CYCLES)
            continue;
        if (status != WG_OK || !r->metal || *stop == WG_STOP_FINDING)
            return status;
        /* Everything is idle, perhaps until the host continues. */
        const uint64_t then = wg_grid_cycle(r->grid);
        if (then % UNTIL_STRETCH == 0 && then != now)
            continue;
        if (then == now && turn == WG_METAL_WAITS)
            return WG_OK;
        if (host_ends(r, &turn, stop, &status) || turn == WG_METAL_WAITS)
            return status;
    }
}

wg_chip_run *wg_chip_open(const wg_args *args, wg_text *error)
{
    wg_chip_run *r = wg_calloc(1, sizeof *r);
    if (r && open_run(r, args, NULL, error))
        return r;
    if (r) {
        wg_text_add(error, wg_text_of(&r->file.report), r->file.report.size);
        wg_chip_close(r);
    }
    return NULL;
}

void wg_chip_close(wg_chip_run *r)
{
    if (r)
        wg_chip_end(r);
    free(r);
}

wg_grid *wg_chip_grid(wg_chip_run *r) { return r->grid; }

wg_session *wg_chip_session(wg_chip_run *r, unsigned x, unsigned y)
{
    return of_tile(r, y * wg_grid_width(r->grid) + x);
}

const wg_inputs *wg_chip_inputs(const wg_chip_run *r) { return &r->inputs; }

size_t wg_chip_host_bytes(const wg_chip_run *r) { return (size_t)r->file.host_bytes + wg_metal_state_bytes(r->metal); }

void wg_chip_host_save(const wg_chip_run *r, void *to)
{
    if (r->file.host_bytes)
        memcpy(to, r->host, (size_t)r->file.host_bytes);
    if (r->metal)
        wg_metal_state_save(r->metal, (uint8_t *)to + r->file.host_bytes);
}

void wg_chip_host_load(wg_chip_run *r, const void *from)
{
    if (r->file.host_bytes)
        memcpy(r->host, from, (size_t)r->file.host_bytes);
    if (r->metal)
        wg_metal_state_load(r->metal, (const uint8_t *)from + r->file.host_bytes);
}

bool wg_chip_inspect(wg_chip_run *r, wg_text *error)
{
    for (size_t i = 0; i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        s->ended = r->ended;
        if (s->races)
            wg_races_end(s->races, wg_grid_cycle(r->grid), r->ended == WG_ENDED_DONE);
        if (s->races)
            wg_races_fold(s->races, NULL, NULL);
        if (s->stats)
            wg_stats_end(s->stats, wg_cycle(s->dev));
        if (s->timeline)
            wg_timeline_end(s->timeline, wg_cycle(s->dev));
        if (r->ended != WG_ENDED_HUNG && r->ended != WG_ENDED_INTERRUPT && r->ended != WG_ENDED_LIMIT)
            continue;
        if (!(s->hang = wg_calloc(1, sizeof *s->hang))) {
            wg_textf(error, "waitgate: out of memory\n");
            return false;
        }
        wg_hang_inspect(s->dev, &s->history, r->ended == WG_ENDED_HUNG, s->hang);
        if (r->ended == WG_ENDED_LIMIT)
            wg_progress_verdict(s, false);
        if (!wg_hang_tells(s->hang)) {
            free(s->hang);
            s->hang = NULL;
        }
    }
    return true;
}

bool wg_chip_again(void *run, const wg_what_if *of_tile, wg_scaled_run *result, wg_text *error)
{
    const wg_chip_run *r = run;
    wg_chip_run v;
    bool ok = open_run(&v, r->args, of_tile, error);
    v.file.max_cycles = wg_again_limit(wg_grid_cycle(r->grid));
    ok = ok && wg_chip_drive(&v, error);
    if (ok) {
        result->cycles = wg_grid_cycle(v.grid);
        result->ended = v.ended;
        result->equal = v.ended == r->ended;
    }
    for (size_t i = 0; ok && i < r->tiles; i++)
        result->equal &= wg_outcome_l1(v.tile[i].s.dev) == wg_outcome_l1(r->tile[i].s.dev);
    wg_chip_end(&v);
    return ok;
}

int wg_chip_finish(wg_chip_run *r, wg_run_result *result, wg_text *out, wg_text *error)
{
    if (!wg_chip_inspect(r, error) || !wg_chip_outputs_close(r, error) || !wg_chip_profile_end(r, error) ||
        !wg_chip_judge_waits(r, error) ||
        (r->profiled && !wg_what_if_run(&(wg_profiled){r->profiled, (unsigned)r->tiles}, wg_grid_cycle(r->grid),
                                        wg_chip_again, r, error)))
        return WG_EXIT_ERROR;
    const bool read = wg_metal_end(r, error);
    if (!wg_chip_grade_races(r, error))
        return WG_EXIT_ERROR;
    const int status = wg_chip_status(r);
    wg_text page = {0};
    result->cycles = wg_grid_cycle(r->grid);
    /* Files first: the report says what could not be written. */
    const bool paged = r->args->command != WG_CMD_REPORT || wg_chip_page(r, status, &page, error);
    const bool written = read && wg_chip_images(r, true, error) && wg_chip_sarif(r, status, result->sarif, error);
    const int ends = paged && written ? status : WG_EXIT_ERROR;
    if (r->args->value[WG_OPT_JSON])
        wg_chip_report_json(r, ends, error, out);
    else
        wg_chip_report_text(r, status, out);
    wg_text_add(out, wg_text_of(&page), page.size);
    wg_text_free(&page);
    return ends;
}

int wg_run_chip(const wg_args *given, wg_run_result *result, wg_text *out, wg_text *error)
{
    wg_chip_run r;
    int status = WG_EXIT_ERROR;
    char number[2][24];
    wg_args marked = *given;
    const wg_args *args = &marked;
    if (!wg_chip_milestones(&marked, number, error))
        return status;
    if (open_run(&r, args, NULL, error) && wg_chip_drive(&r, error))
        status = wg_chip_finish(&r, result, out, error);
    wg_text_add(error, wg_text_of(&r.file.report), r.file.report.size);
    wg_chip_end(&r);
    return status;
}
