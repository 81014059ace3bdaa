/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "arch/arch.h"
#include "text/delays.h"
#include "cli/outputs.h"
#include "cli/saved.h"
#include "cli/waits.h"
#include "cli/what_if.h"
#include "text/core_name.h"
#include "text/rvdis.h"
#include "machine/device.h"
#include "machine/fast.h"
#include "isa/asm.h"
#include "num/simd.h"

const char *wg_arch_title(wg_arch_id arch) { return wg_arch_of(arch)->long_name; }

static bool complain(wg_text *error, const char *option, const char *value, const char *want)
{
    wg_textf(error, "waitgate: --%s: `%s` is not %s\n", option, value, want);
    return false;
}

bool wg_option_number(const wg_args *args, wg_option option, const char *name, uint64_t *value, wg_text *error)
{
    const char *text = args->value[option];
    if (text && !wg_parse_number(text, strlen(text), value))
        return complain(error, name, text, "a number");
    return true;
}

/* One of the words in `choices`; the index goes to *value. */
bool wg_option_choice(const wg_args *args, wg_option option, const char *name, const char *const *choices,
                      unsigned count, unsigned *value, wg_text *error)
{
    const char *text = args->value[option];
    if (!text)
        return true;
    wg_near near;
    wg_near_begin(&near, text, strlen(text));
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return true;
        }
        wg_near_offer(&near, choices[i]);
    }
    wg_textf(error, "waitgate: --%s: `%s` is none of", name, text);
    for (unsigned i = 0; i < count; i++)
        wg_textf(error, "%s %s", i ? "," : "", choices[i]);
    if (wg_near_best(&near))
        wg_textf(error, "; did you mean `%s`?", wg_near_best(&near));
    wg_text_add(error, "\n", 1);
    return false;
}

static bool read_options(wg_session *s, wg_text *error)
{
    static const char *const profiles[] = {"silicon", "documented"};
    const wg_args *a = s->args;
    unsigned profile = WG_PROFILE_DEFAULT;
    s->max_cycles = UINT64_MAX;
    s->desc = (wg_device_desc){.struct_size = sizeof s->desc};
    if (!wg_args_arch(a, &s->desc.arch, error) ||
        !wg_option_choice(a, WG_OPT_PROFILE, "profile", profiles, 2, &profile, error) ||
        !wg_option_number(a, WG_OPT_MAX_CYCLES, "max-cycles", &s->max_cycles, error) ||
        !wg_option_number(a, WG_OPT_SEED, "seed", &s->desc.seed, error))
        return false;
    s->desc.profile = (wg_profile)profile;
    return wg_lockstep_wanted(&s->desc.lockstep, error) && wg_shortcuts_wanted(&s->desc.shortcuts, error) &&
           wg_simd_wanted(&s->desc.simd, error);
}

bool wg_lockstep_wanted(bool *lockstep, wg_text *error)
{
    const char *text = getenv("WAITGATE_LOCKSTEP");
    *lockstep = text && strcmp(text, "1") == 0;
    if (!text || *lockstep || strcmp(text, "0") == 0)
        return true;
    wg_textf(error, "waitgate: WAITGATE_LOCKSTEP: `%s` is neither 0 nor 1\n", text);
    return false;
}

bool wg_shortcuts_wanted(const char **names, wg_text *error)
{
    uint32_t wanted;
    *names = getenv("WAITGATE_FAST");
    if (wg_shortcuts_parse(*names, &wanted))
        return true;
    wg_textf(error, "waitgate: WAITGATE_FAST: `%s` is neither `none` nor a list of shortcuts:", *names);
    for (unsigned i = 0; wg_shortcut_name(i); i++)
        wg_textf(error, "%s %s", i ? "," : "", wg_shortcut_name(i));
    wg_textf(error, " (-NAME: all but this one)\n");
    return false;
}

bool wg_simd_wanted(const char **level, wg_text *error)
{
    wg_simd found;
    *level = getenv("WAITGATE_SIMD");
    if (wg_simd_parse(*level, &found))
        return true;
    wg_textf(error, "waitgate: WAITGATE_SIMD: `%s` is none of this host's levels:", *level);
    for (unsigned i = 0; i <= (unsigned)wg_simd_best(); i++)
        wg_textf(error, "%s %s", i ? "," : "", wg_simd_name((wg_simd)i));
    wg_textf(error, "\n");
    return false;
}

static bool read_tasm(wg_session *s, const char *path, wg_text *error)
{
    char message[512];
    size_t size;
    if (s->has_tasm) {
        wg_textf(error, "waitgate: a run takes one .tasm program; `%s` is a second\n", path);
        return false;
    }
    if (!(s->tasm_source = wg_args_read(s->args, path, &size, message, sizeof message))) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    if (wg_elf_is_elf(s->tasm_source, size)) {
        wg_textf(error, "waitgate: %s is an ELF file: --brisc %s, say, runs it on a core\n", path, path);
        return false;
    }
    s->has_tasm = true;
    s->program[WG_CORES] = path;
    bool ok = wg_tasm_parse(&s->tasm, path, (const char *)s->tasm_source, size, s->desc.arch);
    ok = ok && wg_tasm_link(&s->tasm);
    if (!ok) {
        wg_tasm_report(&s->tasm, error);
        return false;
    }
    if (s->args->value[WG_OPT_ARCH] && s->tasm.arch != s->desc.arch) {
        wg_textf(error, "waitgate: %s is for %s, but --arch is %s\n", path, wg_arch_title(s->tasm.arch),
                 wg_arch_title(s->desc.arch));
        return false;
    }
    s->desc.arch = s->tasm.arch;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (s->tasm.core[i].elf) {
            s->elf[i] = s->tasm.core[i].elf;
            s->borrowed[i] = true;
        }
    return true;
}

static bool read_elf(wg_session *s, unsigned core, const char *path, wg_text *error)
{
    char message[512];
    if (s->elf[core]) {
        wg_textf(error, "waitgate: core %s has a program already; `%s` is a second\n", wg_agent_name(core), path);
        return false;
    }
    s->elf[core] = s->args->input && strcmp(path, "-") == 0
                       ? wg_elf_open(path, s->args->input, s->args->input_bytes, message, sizeof message)
                       : wg_elf_open_file(path, message, sizeof message);
    s->program[core] = path;
    if (!s->elf[core])
        wg_textf(error, "waitgate: %s\n", message);
    return s->elf[core] != NULL;
}

static bool is_tasm(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".tasm") == 0;
}

/* Reads the programs that a snapshot names; a missing one is skipped. */
static bool read_named(wg_session *s, wg_text *error)
{
    const char *path;
    unsigned core;
    for (unsigned i = 0; i <= WG_CORES && (path = wg_saved_program(s, i, &core)) != NULL; i++) {
        if (access(path, R_OK) != 0) {
            fprintf(stderr, "waitgate: %s: its program %s does not exist: no source lines\n", s->saved_path, path);
            continue;
        }
        if (!(s->saved_program[core] = wg_strdup(path)) ||
            !(core < WG_CORES ? read_elf(s, core, s->saved_program[core], error)
                              : read_tasm(s, s->saved_program[core], error)))
            return false;
    }
    return true;
}

static bool read_files(wg_session *s, wg_text *error)
{
    static const wg_option core_option[WG_CORES] = {WG_OPT_BRISC, WG_OPT_NCRISC, WG_OPT_TRISC0, WG_OPT_TRISC1,
                                                    WG_OPT_TRISC2};
    for (size_t i = 0; i < s->args->files; i++) {
        const char *path = s->args->file[i];
        if (!s->title)
            s->title = path;
        if (wg_is_saved(path)) {
            if (!wg_saved_read(s, path, error))
                return false;
            continue;
        }
        const bool chip = wg_is_chip_argument(s->args, path);
        if (is_tasm(path) || (strcmp(path, "-") == 0 && !chip)) {
            if (!read_tasm(s, path, error))
                return false;
            continue;
        }
        unsigned core = wg_core_of_file_name(path);
        if (core == WG_CORES && chip) {
            wg_textf(error, "waitgate: %s is a chip file; this command takes the programs of one tile\n", path);
            return false;
        }
        if (core == WG_CORES) {
            wg_textf(error,
                     "waitgate: which core is `%s` for? Use --brisc, --ncrisc, --trisc0, --trisc1 or --trisc2 (or "
                     "name the file so); a Tensix program ends in .tasm\n",
                     path);
            return false;
        }
        if (!read_elf(s, core, path, error))
            return false;
    }
    for (unsigned i = 0; i < WG_CORES; i++) {
        const char *path = s->args->value[core_option[i]];
        if (path && !read_elf(s, i, path, error))
            return false;
        if (path && !s->title)
            s->title = path;
    }
    const char *resume = s->args->value[WG_OPT_RESUME];
    if (resume && !wg_saved_read(s, resume, error))
        return false;
    bool named = s->has_tasm;
    for (unsigned i = 0; i < WG_CORES; i++)
        named |= s->elf[i] != NULL;
    if (s->saved && !s->title)
        s->title = s->saved_path;
    if (s->saved && !named)
        return read_named(s, error);
    if (!s->title) {
        wg_textf(error, "waitgate: nothing to run; give a .tasm program or ELF files\n");
        return false;
    }
    return true;
}

static bool read_release(wg_session *s, wg_text *error)
{
    const char *list = s->args->value[WG_OPT_RELEASE];
    for (unsigned i = 0; !list && i < WG_CORES; i++)
        s->release |= (unsigned)(s->elf[i] != NULL) << i;
    while (list && *list) {
        static const char *const names[WG_CORES] = {"b", "nc", "t0", "t1", "t2"};
        size_t n = strcspn(list, ",");
        unsigned core = 0;
        while (core < WG_CORES && !(strlen(names[core]) == n && strncasecmp(names[core], list, n) == 0))
            core++;
        if (core == WG_CORES)
            return complain(error, "release", s->args->value[WG_OPT_RELEASE], "a list of b, nc, t0, t1, t2");
        s->release |= 1u << core;
        list += n + (list[n] == ',');
    }
    return true;
}

bool wg_session_observe(wg_session *s, uint64_t kinds, wg_observer_fn fn, void *user, wg_text *error)
{
    int id;
    if (wg_observe(s->dev, kinds, fn, user, &id) != WG_OK) {
        wg_textf(error, "waitgate: %s\n", wg_error(s->dev));
        return false;
    }
    if (s->observers < sizeof s->observer / sizeof *s->observer)
        s->observer[s->observers++] = id;
    return true;
}

void wg_session_unobserve(wg_session *s)
{
    while (s->observers)
        wg_unobserve(s->dev, s->observer[--s->observers]);
}

unsigned wg_idle_cores(const wg_session *s)
{
    unsigned idle = 0;
    for (unsigned i = 0; i < WG_CORES; i++) {
        wg_core_info info;
        if (wg_core_state(s->dev, (wg_core_id)i, &info) != WG_OK)
            idle |= 1u << i; /* the tile has no such core */
        else if (info.parked)
            idle |= info.in_reset ? 1u << i : 1u << (8 + i);
    }
    return idle;
}

static const char *place(void *user, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    return wg_place(user, core, pc, room, bytes);
}

static_assert(!(WG_HISTORY_EVENTS & (WG_FAST_CORE_KINDS | WG_FAST_POLL_KINDS)),
              "in an ordinary run cores run ahead, and polling loops are skipped");

bool wg_watch_history(wg_session *s, wg_text *error)
{
    s->history.place = place;
    s->history.place_user = s;
    s->history.source = wg_session_source;
    return wg_session_observe(s, WG_HISTORY_EVENTS, wg_history_event, &s->history, error);
}

bool wg_watch_pages(wg_session *s, wg_text *error)
{
    s->pages.dev = s->dev;
    s->history.pages = &s->pages;
    return wg_session_observe(s, WG_PAGES_EVENTS, wg_pages_event, &s->pages, error);
}

bool wg_watch_stats(wg_session *s, wg_text *error)
{
    if (!(s->stats = wg_calloc(1, sizeof *s->stats))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    wg_stats_begin(s->stats, wg_cycle(s->dev), wg_idle_cores(s), s->desc.arch, s->desc.profile);
    return wg_session_observe(s, WG_STATS_EVENTS, wg_stats_event, s->stats, error);
}

bool wg_watch_timeline(wg_session *s, wg_text *error)
{
    if (!(s->timeline = wg_calloc(1, sizeof *s->timeline))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    wg_timeline_begin(s->timeline, wg_cycle(s->dev), wg_idle_cores(s));
    return wg_session_observe(s, WG_TRACKS_EVENTS, wg_timeline_event, s->timeline, error);
}

static bool open_sinks(wg_session *s, wg_text *error)
{
    const wg_args *a = s->args;
    if (a->command == WG_CMD_EXPLORE) /* its runs are many, and are not shown one by one */
        return true;
    if (a->command == WG_CMD_GDB || a->command == WG_CMD_DEBUG || a->command == WG_CMD_WHY) /* runs again on request */
        return true;
    const wg_trace_tile alone = {.pid = 1, .alone = true, .name = "tile 0", .arch = s->desc.arch};
    if (!(s->outputs = wg_calloc(1, sizeof *s->outputs))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    bool profiled = a->command == WG_CMD_PROFILE || a->command == WG_CMD_REPORT;
    return wg_outputs_open(s->outputs, wg_trace_wanted(a), a->value[WG_OPT_LOG], s->desc.arch, false, error) &&
           wg_watch_history(s, error) && (!profiled || wg_profile_open(s, wg_idle_cores(s), error)) &&
           (a->command != WG_CMD_REPORT || wg_page_open(s, error)) &&
           (!a->value[WG_OPT_STATS] || wg_watch_stats(s, error)) &&
           (!a->value[WG_OPT_TIMELINE] || wg_watch_timeline(s, error)) &&
           wg_outputs_watch(s->outputs, s, &alone, error);
}

/* ADDR=VALUE[/MASK] */
static bool set_until(wg_session *s, wg_text *error)
{
    const char *text = s->args->value[WG_OPT_UNTIL];
    if (!text)
        return true;
    size_t equals = strcspn(text, "="), slash = strcspn(text, "/");
    uint64_t address, value, mask = UINT32_MAX;
    if (!text[equals] || !wg_parse_number(text, equals, &address) || slash < equals ||
        !wg_parse_number(text + equals + 1, slash - equals - 1, &value) ||
        (text[slash] && !wg_parse_number(text + slash + 1, strlen(text + slash + 1), &mask)) || address > UINT32_MAX ||
        value > UINT32_MAX || mask > UINT32_MAX || mask == 0)
        return complain(error, "until", text, "ADDR=VALUE or ADDR=VALUE/MASK");
    if (wg_until(s->dev, (uint32_t)address, (uint32_t)value, (uint32_t)mask) == WG_OK)
        return true;
    wg_textf(error, "waitgate: --until: %s\n", wg_error(s->dev));
    return false;
}

bool wg_session_open(wg_session *s, const wg_args *args, wg_text *error)
{
    *s = (wg_session){.args = args, .expectations_hold = true};
    unsigned stop_on = WG_SEVERITY_NEVER;
    if (!read_options(s, error) || !wg_save_check(args, error) || !read_files(s, error) || !read_release(s, error) ||
        !wg_option_choice(args, WG_OPT_STOP_ON, "stop-on", wg_severity_names, WG_SEVERITY_NEVER, &stop_on, error))
        return false;
    wg_status status = wg_create(&s->desc, &s->dev);
    if (status != WG_OK) {
        wg_textf(error, "waitgate: %s\n", wg_status_text(status));
        return false;
    }
    wg_stop_on(s->dev, (wg_severity)stop_on);
    if (args->value[WG_OPT_DELAYS]) {
        wg_delay_list list;
        if (!wg_delays_parse(args->value[WG_OPT_DELAYS], false, &list, error))
            return false;
        static const wg_delay none;
        status = wg_perturb_with(s->dev, s->desc.seed, list.item ? list.item : &none, list.count);
        wg_delays_free(&list);
        if (status != WG_OK) {
            wg_textf(error, "waitgate: --delays: %s\n", wg_error(s->dev));
            return false;
        }
    }
    if (wg_check_wanted(args) && !wg_check_open(s, error))
        return false;
    if (s->saved) /* observation starts where the snapshot does */
        return wg_session_load(s, error) && open_sinks(s, error);
    return open_sinks(s, error) && wg_session_load(s, error);
}

bool wg_session_load(wg_session *s, wg_text *error)
{
    const wg_args *args = s->args;
    if (!set_until(s, error) || (wg_check_wanted(args) && !wg_check_attach(s, error)))
        return false;
    if (!wg_load_programs(s, error))
        return false;
    for (size_t i = 0; i < args->givens; i++) /* replaces the contents that a program reserves there */
        if (args->given[i].option == WG_OPT_LOAD && !wg_load_memory(s, args->given[i].value, error))
            return false;
    return !s->saved || wg_saved_apply(s, error);
}

bool wg_session_run(wg_session *s, wg_text *error) { return wg_drive(s, error) && wg_session_inspect(s, error); }

bool wg_session_inspect(wg_session *s, wg_text *error)
{
    uint64_t now = wg_cycle(s->dev);
    if (s->stats)
        wg_stats_end(s->stats, now);
    if (s->timeline)
        wg_timeline_end(s->timeline, now);
    wg_outputs_end(s, now);
    if (s->outputs && !wg_outputs_close(s->outputs, error))
        return false;
    if (s->costs && !wg_profile_close(s, error))
        return false;
    if (s->ended == WG_ENDED_HUNG || s->ended == WG_ENDED_INTERRUPT || s->ended == WG_ENDED_LIMIT) {
        if (!(s->hang = wg_calloc(1, sizeof *s->hang))) {
            wg_textf(error, "waitgate: out of memory\n");
            return false;
        }
        wg_hang_inspect(s->dev, &s->history, s->ended == WG_ENDED_HUNG, s->hang);
        if (s->ended != WG_ENDED_INTERRUPT && !wg_blame_stalls(s, error))
            return false;
        if (s->ended == WG_ENDED_LIMIT)
            wg_progress_verdict(s, true);
    }
    if (s->args->command != WG_CMD_EXPLORE && !s->saved && !wg_blame_findings(s, error))
        return false;
    if (!wg_check_expectations(s)) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    const char *failure = s->args->value[WG_OPT_SAVE_ON_FAILURE];
    if (failure && (s->ended == WG_ENDED_HUNG || !s->expectations_hold) && !wg_saved_write(s, failure, error))
        return false;
    if (s->costs && !wg_what_if_run(&(wg_profiled){&s, 1}, wg_cycle(s->dev), NULL, NULL, error))
        return false;
    const bool judge = wg_check_wanted(s->args) && s->args->command != WG_CMD_EXPLORE;
    return !judge || (wg_verify_races(s, error) && wg_grade_races(s, error) && wg_waits_judge(s, error));
}

bool wg_session_dump(wg_session *s, wg_text *error)
{
    for (size_t i = 0; i < s->args->givens; i++)
        if (s->args->given[i].option == WG_OPT_DUMP && !wg_dump_memory(s, s->args->given[i].value, error))
            return false;
    return true;
}

bool wg_session_lost_memory(const wg_session *s)
{
    for (unsigned i = 0; i < WG_CORES; i++)
        if (s->elf[i] && wg_elf_out_of_memory(s->elf[i]))
            wg_memory_lost();
    return wg_memory_failed();
}

void wg_session_close(wg_session *s)
{
    wg_destroy(s->dev);
    wg_check_close(s);
    wg_outputs_free(s->outputs);
    free(s->outputs);
    for (unsigned i = 0; i < WG_CORES; i++)
        if (!s->borrowed[i])
            wg_elf_close(s->elf[i]);
    for (size_t i = 0; s->expect_found && i < s->tasm.expects; i++)
        wg_text_free(&s->expect_found[i]);
    if (s->has_tasm)
        wg_tasm_free(&s->tasm);
    free(s->tasm_source);
    wg_saved_free(s);
    for (unsigned i = 0; i <= WG_CORES; i++)
        free(s->saved_program[i]);
    free(s->inputs.list);
    free(s->expect_holds);
    free(s->expect_found);
    free(s->stats);
    free(s->timeline);
    if (s->costs)
        wg_costs_free(s->costs);
    free(s->costs);
    wg_page_free(s->page);
    wg_what_if_free(s->scaled);
    wg_waits_free(s->waits);
    free(s->log);
    free(s->trace);
    free(s->konata);
    free(s->hang);
    free(s->rounds);
    wg_blame_free(s->blame);
    free(s->found);
    memset(s, 0, sizeof *s);
}

wg_elf *wg_session_elf(const wg_session *s, unsigned core, uint32_t pc, uint32_t *address)
{
    *address = pc;
    if (s->host_elf)
        return wg_watch_program(s->host_elf, s, core, pc, address);
    return core < WG_CORES ? s->elf[core] : NULL;
}

bool wg_session_source(void *session, unsigned core, uint32_t pc, wg_source *out)
{
    wg_session *s = session;
    uint32_t address;
    wg_elf *elf[WG_CORES] = {0}, *own = wg_session_elf(s, core, pc, &address);
    *out = (wg_source){0};
    if (WG_IS_HOST_PC(pc) && s->has_tasm)
        *out = (wg_source){.file = s->tasm.name, .line = pc - WG_HOST_PC};
    if (WG_IS_HOST_PC(pc) || !own)
        return out->file != NULL;
    const wg_overlay *over = &s->overlay[core];
    const bool within = over->elf && pc - over->address < over->bytes;
    elf[core] = within ? over->elf : own;
    return wg_source_in(elf, core, within ? pc - over->address + over->link : address, out);
}

const char *wg_place(wg_session *s, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source;
    wg_session_source(s, core, pc, &source);
    return wg_source_text(&source, room, bytes);
}

const char *wg_insn_text(void *session, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes)
{
    const wg_session *s = session;
    /* Every fetched word without the two low bits set is a .ttinsn (PIPE-09). */
    if (agent > WG_AGENT_CORE_T2)
        wg_disassemble(s->desc.arch, word, 0, room, bytes);
    else if ((word & 3) != 3)
        wg_disassemble(s->desc.arch, wg_ttinsn_decode(word), 0, room, bytes);
    else
        wg_riscv_text(pc, word, room, bytes);
    for (char *p = room; *p; p++)
        if (*p == '\t')
            *p = ' ';
    return room;
}
