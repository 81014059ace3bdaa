/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libttsim ABI: a card (card.c), or several that are connected (abi_cluster.h), for hosts that load a simulator as a shared
 * library. One library per architecture; WG_TTSIM_ARCH selects it.
 *
 * The ABI is a process-wide singleton, so its state is the one static object below. Nothing here ends the host's process
 * unless requested: findings go to standard error, each once.
 *
 *     WAITGATE_ON_FINDING=continue   (default) report and continue
 *                         stop       time stands still after a finding at or above a warning
 *                         exit       end the process with status 2
 *     WAITGATE_CLOCKS_PER_READ=N     every read from a BAR is followed by N clocks (default 0)
 *     WAITGATE_CLOCKS_PER_CALL=N     libttsim_clock advances no fewer than N clocks (default 0)
 *     WAITGATE_THREADS=N             host threads that compute (default 1); results do not depend on it
 *     WAITGATE_HARVESTED=MASK        fused-off columns (BH) or rows (WH) of NoC 0 coordinates
 *     WAITGATE_CHECK=FILE            a race detector for every tile; its report goes to FILE when libttsim_exit is called or
 *                                    the process ends ("-": standard error; .json: JSON; %p: process id)
 *     WAITGATE_CHECKS=LIST           its checks: race (default), memory, init, sync, separated by commas
 *     WAITGATE_VERIFY=CYCLES         for replays with delays that grade its races (default 20 million; 0: none)
 *     WAITGATE_DELAYS=LIST           delays SITE:AGENT:EVENT:CYCLES@X-Y of the first chip, as such a report gives them
 *     WAITGATE_HANG_REPORT=FILE      the full report of a hang goes there, named likewise (default: the verdict, to standard error)
 *     WAITGATE_TRACE=FILE            a trace (.json, .pftrace, .zst), WAITGATE_COST_PROFILE=FILE what each line cost (text, or .json),
 *                                    WAITGATE_REPORT=FILE the page of `waitgate report`; of every tile, written likewise
 *     WAITGATE_LOG=FILE              every instruction and wait, as for --log; WAITGATE_TIMELINE=FILE, as for --timeline; likewise
 *     WAITGATE_PROFILE_FROM, _TO     the part of the run for these, of each tile by itself: a cycle, ADDR=VALUE or a symbol
 *     WAITGATE_WHAT_IF=LIST          the run has these costs: WHAT=FACTOR, as for `waitgate profile --what-if`
 *     WAITGATE_CLUSTER=NAME|FILE     several chips: a topology (p300, t3000 …), or a cluster descriptor (default:
 *                                    cluster_descriptor.yaml beside the library). Names of files then have %c, the chip's number
 *     WAITGATE_GDB=PORT              gdb may connect to this port of the loopback address (0: any) and stops the run between two cycles,
 *                                    in the host's calls that advance time; PORT,wait: the first of them waits for it
 *     WAITGATE_ELF=LIST              ELF files for its symbols: [CORE=]FILE, separated by commas
 *                                    (or a folder in which they are found by their code)
 *     WAITGATE_PROFILE=silicon|documented   WAITGATE_SEED=N   WAITGATE_LOCKSTEP=1
 *
 * An invalid value is reported, and counts as a warning (WAITGATE_ON_FINDING).
 *
 * Facts: the ABI's public description; docs/abi.md. Differences: device accesses that lead
 * nowhere read as zero, libttsim_init() after libttsim_exit() works, the tile-relative functions
 * work as well, tiles are allocated when first used.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi_check.h"
#include "abi/abi_cluster.h"
#include "abi/abi_gdb.h"
#include "abi/abi_hang.h"
#include "abi/abi_signals.h"
#include "abi/abi_watch.h"
#include "chip/card.h"
#include "explain/race.h"
#include "machine/device.h"
#include "num/simd.h"
#include "text/finding_words.h"

#ifndef WG_TTSIM_ARCH
#define WG_TTSIM_ARCH WG_ARCH_BH
#endif
#define ABI __attribute__((visibility("default")))

/* STRETCH: a call that advances time checks for signals after this many clocks. */
enum { MOST_THREADS = 256, STRETCH = 1 << 20, VERIFY_CYCLES = 20 * 1000 * 1000 };
typedef enum on_finding { CONTINUE, STOP, EXIT } on_finding;

enum { CHECK_FILE, HANG_FILE, TRACE_FILE, PROFILE_FILE, REPORT_FILE, LOG_FILE, TIMELINE_FILE, FILES };

typedef struct chip {
    wg_card *card;
    wg_abi_check *check; /* NULL: not requested */
    wg_abi_watch *watch; /* likewise */
    wg_abi_hang *hang;
    size_t said; /* findings of the card printed so far */
    uint16_t said_tile[WG_GRID_MAX_TILES];
    char file[FILES][1024]; /* names of its files; "": not requested */
} chip;

static struct {
    chip chip[WG_ABI_CHIPS];
    unsigned chips;      /* 0: not running */
    wg_cluster *cluster; /* NULL: there is one chip */
    bool stopped;        /* by a finding, WAITGATE_ON_FINDING=stop */
    on_finding on_finding;
    uint32_t clocks_per_read, clocks_per_call;
    wg_grid_desc grid;       /* of each chip */
    uint64_t verify;         /* cycles */
    wg_abi_record *record;   /* the host's calls, for the checks; NULL: none is kept */
    wg_delay_list delays;    /* WAITGATE_DELAYS */
    wg_abi_symbols *symbols; /* NULL: none */
    wg_abi_gdb *gdb;         /* NULL: not requested */
    bool inside;             /* a call is active: a further call comes from a DMA callback */
    bool exit_later;         /* … and a callback has called libttsim_exit */
    void (*dma_read)(uint64_t, void *, uint32_t);
    void (*dma_write)(uint64_t, const void *, uint32_t);
} abi;

ABI void libttsim_init(void);
ABI void libttsim_exit(void);
ABI void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                            void (*write)(uint64_t, const void *, uint32_t));
ABI uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset);
ABI void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data);
ABI void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size);
ABI void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size);
ABI void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size);
ABI void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size);
ABI void libttsim_clock(uint32_t clocks);

/* One line on standard error. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[600];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "waitgate: %s\n", line);
}

/*
 * Begins a call that needs the card; leave() ends it. A call from a DMA callback, in the middle of the card's work, is
 * refused.
 */
static bool enter(const char *function)
{
    if (!abi.chips)
        say("%s: libttsim_init has not been called", function);
    else if (abi.inside)
        say("%s: called from a DMA callback: ignored", function);
    else
        return abi.inside = true;
    return false;
}

static void end_card(void);
static void answer_signal(void);

static void leave(void)
{
    abi.inside = false;
    if (abi.exit_later)
        end_card();
    else if (wg_abi_signalled)
        answer_signal();
}

/* ---- Signals -------------------------------------------------------------------------------------- */

static void answer_signal(void)
{
    char error[512];
    int number = wg_abi_signalled;
    if (!number || !abi.chips)
        return;
    wg_abi_signalled = 0;
    for (unsigned i = 0; i < abi.chips; i++)
        if (!wg_abi_hang_asked(abi.chip[i].hang, error, sizeof error))
            say("WAITGATE_HANG_REPORT: %s", error);
    wg_abi_give_signals_back();
    raise(number);
}

/* ---- Findings ------------------------------------------------------------------------------------- */

/* True for a warning or worse. */
static bool print_finding(const chip *of, unsigned x, unsigned y, const wg_device *dev, const wg_finding *f)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    char pc[24] = "", tile[40] = "", number[16] = "", words[256];
    if (abi.chips > 1)
        snprintf(number, sizeof number, "chip %u ", (unsigned)(of - abi.chip));
    if (f->has_pc)
        snprintf(pc, sizeof pc, " pc 0x%08" PRIx32, f->pc);
    wg_finding_words(WG_TTSIM_ARCH, f, words, sizeof words);
    if (x != WG_NOWHERE)
        snprintf(tile, sizeof tile, "%s %u-%u ", dev ? dev->tile->spec->title : "tile", x, y);
    say("%s: %s%scycle %" PRIu64 " %s%s: %s%s%s", info ? info->code : "finding", number, tile, f->cycle,
        wg_agent_name_of(dev, f->agent), pc, info ? info->cause : "", *words ? " " : "", words);
    return info && info->severity >= WG_SEVERITY_WARNING;
}

/* Prints new findings of a chip; true if any of them is a warning or worse. */
static bool print_card(chip *c)
{
    bool serious = false;
    for (; c->said < wg_card_finding_count(c->card); c->said++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(c->card, c->said, &at);
        serious |= print_finding(c, at.x, at.y, NULL, f);
    }
    return serious;
}

static bool print_findings(chip *c)
{
    const wg_grid *grid = c->card->grid;
    bool serious = print_card(c);
    for (unsigned k = 0; k < grid->made_tiles; k++) {
        const unsigned i = grid->made_at[k];
        const wg_device *dev = grid->tile[i];
        for (; c->said_tile[i] < wg_finding_count(dev); c->said_tile[i]++)
            serious |= print_finding(c, i % grid->plan->width, i / grid->plan->width, dev,
                                     wg_finding_at(dev, c->said_tile[i]));
    }
    return serious;
}

/* A warning or worse has been reported. */
static void warned(void)
{
    if (abi.on_finding == CONTINUE)
        return;
    if (abi.on_finding == EXIT)
        exit(2);
    if (!abi.stopped)
        say("time stops here (WAITGATE_ON_FINDING=stop)");
    abi.stopped = true;
}

static void report(void)
{
    bool serious = false;
    for (unsigned i = 0; i < abi.chips; i++)
        serious |= print_findings(&abi.chip[i]);
    if (serious)
        warned();
}

/* After an access of the host, which itself stops nothing. */
static void report_access(chip *c)
{
    if (c->said < wg_card_finding_count(c->card))
        print_findings(c);
}

/* ---- Life cycle and time -------------------------------------------------------------------------- */

static on_finding finding_policy(bool *bad)
{
    const char *text = getenv("WAITGATE_ON_FINDING");
    if (!text || !strcmp(text, "continue"))
        return CONTINUE;
    if (!strcmp(text, "stop"))
        return STOP;
    if (!strcmp(text, "exit"))
        return EXIT;
    say("WAITGATE_ON_FINDING=%s is none of continue, stop, exit: continuing", text);
    *bad = true;
    return CONTINUE;
}

/* A number up to `most`; anything else is reported, counts as a warning, and is ignored. */
static uint64_t number_from(const char *name, uint64_t most, bool *bad)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text)
        return 0;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (*text >= '0' && *text <= '9' && !*end && !errno && value <= most)
        return value;
    say("%s=%s is not a number from 0 to %" PRIu64 ": ignored", name, text, most);
    *bad = true;
    return 0;
}

/* WAITGATE_PROFILE names a timing or, with a dot or a slash in it, the file of a cost profile. */
static const char *file_of_profile(void)
{
    const char *text = getenv("WAITGATE_PROFILE");
    return text && strpbrk(text, "./") ? text : NULL;
}

static wg_profile profile_from(bool *bad)
{
    const char *text = getenv("WAITGATE_PROFILE");
    if (!text || file_of_profile())
        return WG_PROFILE_DEFAULT;
    if (!strcmp(text, "silicon"))
        return WG_PROFILE_SILICON;
    if (!strcmp(text, "documented"))
        return WG_PROFILE_DOCUMENTED;
    say("WAITGATE_PROFILE=%s is ignored: it is documented, silicon, or a cost profile's file, with a dot or slash in "
        "its name",
        text);
    *bad = true;
    return WG_PROFILE_DEFAULT;
}

/* WAITGATE_FAST, if it is a list of shortcuts. */
static const char *shortcuts_from(bool *bad)
{
    const char *text = getenv("WAITGATE_FAST");
    uint32_t wanted;
    if (wg_shortcuts_parse(text, &wanted))
        return text;
    say("WAITGATE_FAST: `%s` is neither `none` nor a list of shortcuts; all of them are on", text);
    *bad = true;
    return NULL;
}

/* WAITGATE_SIMD, if this host has the level. */
static const char *simd_from(bool *bad)
{
    const char *text = getenv("WAITGATE_SIMD");
    wg_simd level;
    if (wg_simd_parse(text, &level))
        return text;
    say("WAITGATE_SIMD: `%s` is no level of this host, whose best is %s; that is used", text, wg_simd_name(level));
    *bad = true;
    return NULL;
}

static bool host_read(void *user, uint64_t address, void *to, size_t bytes)
{
    (void)user;
    wg_abi_record_spoil(abi.record, "the card has read or written the host's memory");
    if (abi.dma_read)
        abi.dma_read(address, to, (uint32_t)bytes);
    return abi.dma_read != NULL;
}

static bool host_write(void *user, uint64_t address, const void *from, size_t bytes)
{
    (void)user;
    wg_abi_record_spoil(abi.record, "the card has read or written the host's memory");
    if (abi.dma_write)
        abi.dma_write(address, from, (uint32_t)bytes);
    return abi.dma_write != NULL;
}

static void tile_made(void *user, wg_device *dev, unsigned x, unsigned y)
{
    const chip *c = user;
    if (c == abi.chip)
        wg_abi_delay(&abi.delays, abi.grid.seed, dev, x, y);
    if (c->check && dev->tile->spec->kind == WG_TILE_TENSIX) /* the detector knows the agents of a Tensix tile */
        wg_abi_check_made(c->check, dev, x, y);
    if (c->watch)
        wg_abi_watch_made(c->watch, x, y);
    wg_abi_hang_made(c->hang, dev, x, y);
}

/* The names of the chip's files: %c is its number. */
static void name_files(chip *c, bool *bad)
{
    static const char *const variables[FILES] = {"WAITGATE_CHECK",        "WAITGATE_HANG_REPORT", "WAITGATE_TRACE",
                                                 "WAITGATE_COST_PROFILE", "WAITGATE_REPORT",      "WAITGATE_LOG",
                                                 "WAITGATE_TIMELINE"};
    const unsigned number = (unsigned)(c - abi.chip);
    for (unsigned k = 0; k < FILES; k++) {
        const char *text = getenv(variables[k]);
        size_t n = 0;
        if (k == PROFILE_FILE && !text)
            text = file_of_profile();
        c->file[k][0] = 0;
        if (!text || !*text)
            continue;
        if (abi.chips > 1 && strcmp(text, "-") != 0 && !strstr(text, "%c")) {
            if (!number)
                say("%s=%s has no %%c for the number of the chip, of which there are several: ignored", variables[k],
                    text);
            *bad = true;
            continue;
        }
        for (; *text && n < sizeof c->file[k] - 12; text++) {
            if (abi.chips > 1 && text[0] == '%' && text[1] == 'c') {
                n += (size_t)snprintf(c->file[k] + n, 12, "%u", number);
                text++;
            } else {
                c->file[k][n++] = *text;
            }
        }
        c->file[k][n] = 0;
    }
}

static const char *file_of(const chip *c, unsigned k) { return c->file[k][0] ? c->file[k] : NULL; }

static void begin_watch(chip *c, bool *bad)
{
    const wg_abi_watched wanted = {.trace = file_of(c, TRACE_FILE),
                                   .log = file_of(c, LOG_FILE),
                                   .timeline = file_of(c, TIMELINE_FILE),
                                   .profile = file_of(c, PROFILE_FILE),
                                   .report = file_of(c, REPORT_FILE),
                                   .what_if = getenv("WAITGATE_WHAT_IF"),
                                   .from = getenv("WAITGATE_PROFILE_FROM"),
                                   .to = getenv("WAITGATE_PROFILE_TO")};
    char error[512];
    if (!wanted.trace && !wanted.log && !wanted.timeline && !wanted.profile && !wanted.report && !wanted.what_if)
        return;
    c->watch = wg_abi_watch_begin(c->card->grid, &wanted, abi.symbols, error, sizeof error);
    if (c->watch)
        return;
    say("WAITGATE_TRACE, _LOG, _TIMELINE, _COST_PROFILE, _REPORT and _WHAT_IF are ignored: %s", error);
    *bad = true;
}

static void begin_gdb(bool *bad)
{
    const char *text = getenv("WAITGATE_GDB");
    char error[256];
    uint16_t port;
    if (!text)
        return;
    if (abi.chips > 1) {
        say("WAITGATE_GDB=%s is ignored: there are %u chips", text, abi.chips);
        *bad = true;
        return;
    }
    if ((abi.gdb = wg_abi_gdb_begin(abi.chip[0].card->grid, text, abi.symbols, &port, error, sizeof error))) {
        say("gdb may connect: target remote 127.0.0.1:%u", port);
        return;
    }
    say("WAITGATE_GDB=%s is ignored: %s", text, error);
    *bad = true;
}

/* What grades races, and what repeats the timing of a grade. */
static void begin_replays(bool *bad)
{
    const char *delays = getenv("WAITGATE_DELAYS");
    wg_text error = {0};
    abi.verify = getenv("WAITGATE_VERIFY") ? number_from("WAITGATE_VERIFY", UINT64_MAX, bad) : VERIFY_CYCLES;
    if (delays && !wg_delays_parse(delays, true, &abi.delays, &error)) {
        say("WAITGATE_DELAYS is ignored: %s", wg_text_of(&error));
        *bad = true;
    }
    wg_text_free(&error);
    if (!getenv("WAITGATE_CHECK") || !abi.verify || !(abi.record = wg_abi_record_new()))
        return;
    if (abi.chips > 1)
        wg_abi_record_spoil(abi.record, "there are several chips");
    if (abi.gdb)
        wg_abi_record_spoil(abi.record, "gdb may have stopped the run");
    if (abi.delays.count)
        wg_abi_record_spoil(abi.record, "WAITGATE_DELAYS is set");
}

/* Creates the observers of the tiles; false if there is no memory. */
static bool begin_reports(bool *bad)
{
    const char *report = getenv("WAITGATE_HANG_REPORT"), *elf = getenv("WAITGATE_ELF"),
               *checks = getenv("WAITGATE_CHECKS");
    unsigned which = WG_CHECK_RACE;
    char error[1024];
    bool ok = true;
    if (report && !*report) {
        say("WAITGATE_HANG_REPORT=%s is not the name of a file: ignored", report);
        *bad = true;
    }
    if (elf && !(abi.symbols = wg_abi_symbols_open(elf, error, sizeof error))) {
        say("WAITGATE_ELF=%s is ignored: %s", elf, error);
        *bad = true;
    }
    if (checks && !wg_checks_parse(checks, &which)) {
        say("WAITGATE_CHECKS=%s is not a list of race, memory, init, sync: ignored", checks);
        *bad = true;
        which = WG_CHECK_RACE;
    }
    begin_gdb(bad);
    begin_replays(bad);
    for (unsigned i = 0; i < abi.chips; i++) {
        chip *c = &abi.chip[i];
        wg_grid *grid = c->card->grid;
        name_files(c, bad);
        if (file_of(c, CHECK_FILE) &&
            !(c->check = wg_abi_check_begin(grid, file_of(c, CHECK_FILE), which, abi.symbols)))
            say("WAITGATE_CHECK: %s", wg_status_text(WG_ERR_NO_MEMORY));
        begin_watch(c, bad);
        c->hang = wg_abi_hang_begin(grid, file_of(c, HANG_FILE), abi.symbols);
        grid->made = c->hang ? tile_made : NULL;
        grid->made_user = c;
        ok &= c->hang != NULL;
    }
    return ok;
}

/* Each chip's BARs are a window of this size above those of the previous chip, as in other simulators. */
#define BUS_STRIDE (UINT64_C(64) << 30)

/* The chips and the links between them. */
static wg_status make_chips(wg_grid_desc *grid, const wg_abi_cluster *all)
{
    const unsigned threads = grid->threads;
    wg_status status = WG_OK;
    if (all->chips > 1)
        grid->threads = 1; /* threads compute chips, not tiles */
    for (unsigned i = 0; status == WG_OK && i < all->chips; i++) {
        const wg_card_desc desc = {.struct_size = sizeof desc,
                                   .grid = grid,
                                   .host_read = host_read,
                                   .host_write = host_write,
                                   .bus_offset = i * BUS_STRIDE};
        memset(&abi.chip[i], 0, sizeof abi.chip[i]);
        status = wg_card_create(&desc, &abi.chip[i].card);
        abi.chips += status == WG_OK;
    }
    if (status != WG_OK || all->chips == 1)
        return status;
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = all->chips, .threads = threads};
    status = wg_cluster_create(&desc, &abi.cluster);
    for (unsigned i = 0; status == WG_OK && i < all->chips; i++)
        status = wg_cluster_place(abi.cluster, i, abi.chip[i].card->grid);
    for (unsigned i = 0; status == WG_OK && i < all->links; i++)
        status = wg_cluster_connect(abi.cluster, &all->link[i], NULL);
    if (status != WG_OK && abi.cluster && *wg_cluster_error(abi.cluster))
        say("the links of the cluster: %s", wg_cluster_error(abi.cluster));
    return status;
}

ABI void libttsim_init(void)
{
    bool bad = false;
    char error[512];
    wg_abi_cluster all;
    const char *named = getenv("WAITGATE_CLUSTER");
    if (abi.chips) {
        say("libttsim_init: called again without libttsim_exit");
        return;
    }
    wg_grid_desc grid = {.struct_size = sizeof grid,
                         .arch = WG_TTSIM_ARCH,
                         .seed = number_from("WAITGATE_SEED", UINT64_MAX, &bad),
                         .profile = profile_from(&bad),
                         .lockstep = number_from("WAITGATE_LOCKSTEP", 1, &bad) != 0,
                         .shortcuts = shortcuts_from(&bad),
                         .simd = simd_from(&bad),
                         .threads = (unsigned)number_from("WAITGATE_THREADS", MOST_THREADS, &bad),
                         .harvested = (uint32_t)number_from("WAITGATE_HARVESTED", UINT32_MAX, &bad)};
    abi.stopped = false;
    abi.exit_later = false;
    abi.on_finding = finding_policy(&bad);
    abi.clocks_per_read = (uint32_t)number_from("WAITGATE_CLOCKS_PER_READ", UINT32_MAX, &bad);
    abi.clocks_per_call = (uint32_t)number_from("WAITGATE_CLOCKS_PER_CALL", UINT32_MAX, &bad);
    if (!wg_abi_cluster_read(&all, WG_TTSIM_ARCH, named && *named ? named : NULL, error, sizeof error)) {
        say("%s is ignored, there is one chip: %s", named && *named ? named : "cluster_descriptor.yaml", error);
        wg_abi_cluster_free(&all);
        bad = true;
    }
    abi.grid = grid;
    abi.grid.threads = 1;
    wg_status status = make_chips(&grid, &all);
    wg_abi_cluster_free(&all);
    if (status == WG_OK && !begin_reports(&bad))
        status = WG_ERR_NO_MEMORY;
    if (status != WG_OK) {
        say("libttsim_init: %s", wg_status_text(status));
        end_card();
        return;
    }
    wg_abi_take_signals();
    if (bad)
        warned();
}

static void end_chip(chip *c)
{
    char error[512];
    const wg_abi_replays how = {abi.record, abi.grid, abi.verify};
    if (c->check && !wg_abi_check_end(c->check, &how, error, sizeof error))
        say("WAITGATE_CHECK: %s", error);
    if (c->watch && !wg_abi_watch_end(c->watch, error, sizeof error))
        say("WAITGATE_TRACE, _LOG, _TIMELINE, _COST_PROFILE, _REPORT, _WHAT_IF: %s", error);
    if (c->hang && !wg_abi_hang_end(c->hang, error, sizeof error))
        say("WAITGATE_HANG_REPORT: %s", error);
    c->check = NULL;
    c->watch = NULL;
    c->hang = NULL;
    c->card->grid->made = NULL;
}

/* Also runs when the process ends without libttsim_exit. */
__attribute__((destructor)) static void end_reports(void)
{
    for (unsigned i = 0; i < abi.chips; i++)
        end_chip(&abi.chip[i]);
    wg_abi_record_free(abi.record);
    abi.record = NULL;
    wg_delays_free(&abi.delays);
    wg_abi_gdb_end(abi.gdb);
    abi.gdb = NULL;
    wg_abi_symbols_close(abi.symbols);
    abi.symbols = NULL;
    wg_abi_give_signals_back();
}

static void end_card(void)
{
    abi.exit_later = false;
    end_reports();
    wg_cluster_destroy(abi.cluster);
    abi.cluster = NULL;
    for (; abi.chips; abi.chips--)
        wg_card_destroy(abi.chip[abi.chips - 1].card);
}

/* Called from a DMA callback, the card is destroyed at the end of the call that made the callback. */
ABI void libttsim_exit(void)
{
    if (abi.chips && abi.inside)
        abi.exit_later = true;
    else if (enter("libttsim_exit")) {
        abi.inside = false;
        end_card();
    }
}

ABI void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                            void (*write)(uint64_t, const void *, uint32_t))
{
    abi.dma_read = read;
    abi.dma_write = write;
}

/* All chips have one clock. */
static uint64_t cycle_now(void) { return wg_grid_cycle(abi.chip[0].card->grid); }

static void advance(uint64_t clocks)
{
    if (abi.cluster)
        wg_cluster_advance(abi.cluster, clocks);
    else
        wg_grid_advance(abi.chip[0].card->grid, clocks);
}

/* `clocks` cycles, or fewer if a finding stops the run. */
static void advance_until_finding(uint32_t clocks)
{
    const uint64_t end = cycle_now() + clocks;
    wg_stop why = WG_STOP_CYCLES;
    for (unsigned k = 0; k < abi.chips; k++) {
        const wg_grid *grid = abi.chip[k].card->grid;
        for (unsigned i = 0; i < grid->made_tiles; i++)
            wg_stop_on(grid->tile[grid->made_at[i]], WG_SEVERITY_WARNING);
    }
    if (abi.cluster)
        wg_cluster_run(abi.cluster, clocks, &why);
    else
        wg_grid_run(abi.chip[0].card->grid, clocks, &why);
    if (why != WG_STOP_FINDING && cycle_now() < end)
        advance(end - cycle_now()); /* idle: waiting for the host */
}

/* A chip that polls may be waiting for another one: the run hangs only when no chip moves. */
static bool all_hang(void)
{
    uint64_t since;
    for (unsigned i = 0; i < abi.chips; i++)
        if (abi.chips > 1 && !wg_grid_hangs(abi.chip[i].card->grid, &since))
            return false;
    return true;
}

static void clock_on(uint32_t clocks)
{
    char error[512];
    while (clocks && !abi.stopped && !wg_abi_signalled) {
        uint32_t step = clocks < STRETCH ? clocks : STRETCH;
        clocks -= step;
        const uint64_t begin = cycle_now(), end = begin + step;
        if (abi.gdb && wg_abi_gdb_advance(abi.gdb, end))
            step = 0;
        else
            step = (uint32_t)(end - cycle_now());
        if (step && abi.on_finding == STOP)
            advance_until_finding(step);
        else if (step)
            advance(step);
        wg_abi_record_clock(abi.record, cycle_now() - begin);
        report();
        for (unsigned i = 0; i < abi.chips && all_hang(); i++)
            if (!wg_abi_hang_clocked(abi.chip[i].hang, error, sizeof error))
                say("WAITGATE_HANG_REPORT: %s", error);
    }
}

ABI void libttsim_clock(uint32_t clocks)
{
    if (!enter("libttsim_clock"))
        return;
    clock_on(clocks > abi.clocks_per_call ? clocks : abi.clocks_per_call);
    leave();
}

/* ---- Configuration space and BARs ----------------------------------------------------------------- */

/* The chip of a device number; NULL: there is none, or no such register. */
static chip *of_device(uint32_t bus_device_function, uint32_t offset)
{
    const uint32_t device = bus_device_function >> 3;
    return bus_device_function % 8 == 0 && device < (abi.chips ? abi.chips : 1) && offset % 4 == 0 ? &abi.chip[device]
                                                                                                   : NULL;
}

/* The chip whose BARs contain a bus address; the first one gets unclaimed addresses. */
static chip *of_address(uint64_t address)
{
    const uint64_t device = address / BUS_STRIDE;
    return &abi.chip[device < abi.chips ? device : 0];
}

/* A chip that polls may see what the host has written. */
static void written(void)
{
    for (unsigned i = 0; i < abi.chips; i++)
        wg_abi_hang_written(abi.chip[i].hang);
}

ABI uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    chip *c = of_device(bus_device_function, offset);
    if (!c || !enter("libttsim_pci_config_rd32"))
        return UINT32_MAX; /* no such device */
    uint32_t value = wg_card_config_read(c->card, offset);
    wg_abi_record_read(abi.record, WG_CALL_CONFIG, 0, 0, offset, &value, sizeof value);
    report_access(c);
    leave();
    return value;
}

ABI void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data)
{
    chip *c = of_device(bus_device_function, offset);
    if (!c || !enter("libttsim_pci_config_wr32"))
        return;
    wg_card_config_write(c->card, offset, data);
    wg_abi_record_write(abi.record, WG_CALL_CONFIG, 0, 0, offset, &data, sizeof data, false);
    report_access(c);
    leave();
}

ABI void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size)
{
    if (!enter("libttsim_pci_mem_rd_bytes")) {
        if (abi.inside)
            memset(to, 0, size);
        return;
    }
    chip *c = of_address(paddr);
    wg_card_read(c->card, paddr, to, size);
    wg_abi_record_read(abi.record, WG_CALL_BAR, 0, 0, paddr, to, size);
    report_access(c);
    if (abi.clocks_per_read)
        clock_on(abi.clocks_per_read);
    leave();
}

ABI void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size)
{
    if (!enter("libttsim_pci_mem_wr_bytes"))
        return;
    chip *c = of_address(paddr);
    const bool aims = wg_card_aims(c->card, paddr); /* tt-umd aims a window before each read */
    wg_card_write(c->card, paddr, from, size);
    wg_abi_record_write(abi.record, WG_CALL_BAR, 0, 0, paddr, from, size, aims);
    if (!aims)
        written();
    report_access(c);
    leave();
}

/* Tiles of the first chip: these functions cannot address another. */
ABI void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size)
{
    if (!enter("libttsim_tile_rd_bytes")) {
        if (abi.inside)
            memset(to, 0, size);
        return;
    }
    wg_card_tile_read(abi.chip[0].card, x, y, address, to, size);
    wg_abi_record_read(abi.record, WG_CALL_TILE, x, y, address, to, size);
    report_access(&abi.chip[0]);
    leave();
}

ABI void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size)
{
    if (!enter("libttsim_tile_wr_bytes"))
        return;
    wg_card_tile_write(abi.chip[0].card, x, y, address, from, size);
    wg_abi_record_write(abi.record, WG_CALL_TILE, x, y, address, from, size, false);
    written();
    report_access(&abi.chip[0]);
    leave();
}
