/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libttsim ABI: a card (card.c) for hosts that load a simulator as a shared library. One library per
 * architecture; WG_TTSIM_ARCH selects it.
 *
 * The ABI is a process-wide singleton, so its state is the one static object below. Nothing here ends the host's process
 * unless requested: findings go to standard error, each once.
 *
 *     WAITGATE_ON_FINDING=continue   (default) report and continue
 *                         stop       time stands still after a finding at or above a warning
 *                         exit       end the process with status 2
 *     WAITGATE_CLOCKS_PER_READ=N     every read from a BAR is followed by N clocks (default 0)
 *     WAITGATE_THREADS=N             host threads that compute (default 1); results do not depend on it
 *     WAITGATE_HARVESTED=MASK        fused-off columns (BH) or rows (WH) of NoC 0 coordinates
 *     WAITGATE_CHECK=FILE            a race detector for every tile; its report goes to FILE when libttsim_exit is called or
 *                                    the process ends ("-": standard error; .json: JSON; %p: process id) WAITGATE_CHECKS=LIST
 *                                    its checks: race (default), memory, init, sync, separated by commas
 *                                    WAITGATE_HANG_REPORT=FILE      the full report of a hang goes there, named likewise
 *                                    (default: the verdict, to standard
 *                                    error)
 *     WAITGATE_TRACE=FILE            a trace (.json, .pftrace, .zst), WAITGATE_COST_PROFILE=FILE what each line cost (text, or .json),
 *                                    WAITGATE_REPORT=FILE the page of `waitgate report`; of every tile, written likewise
 *     WAITGATE_GDB=PORT              gdb may connect to this port of the loopback address (0: any) and stops the run between two cycles,
 *                                    in the host's calls that advance time; PORT,wait: the first of them waits for it
 *     WAITGATE_ELF=LIST              ELF files for its symbols: [CORE=]FILE, separated by commas
 *     WAITGATE_PROFILE=silicon|documented   WAITGATE_SEED=N   WAITGATE_LOCKSTEP=1
 *
 * An invalid value is reported, and counts as a warning (WAITGATE_ON_FINDING).
 *
 * Facts: the ABI's public description, libttsim_api.md. Differences: device accesses that lead
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
#include <unistd.h>

#include "abi/abi_check.h"
#include "abi/abi_gdb.h"
#include "abi/abi_hang.h"
#include "abi/abi_watch.h"
#include "chip/card.h"
#include "explain/race.h"
#include "machine/device.h"
#include "text/finding_words.h"

#ifndef WG_TTSIM_ARCH
#define WG_TTSIM_ARCH WG_ARCH_BH
#endif
#define ABI __attribute__((visibility("default")))

/* STRETCH: a call that advances time checks for signals after this many clocks. */
enum { MOST_THREADS = 256, STRETCH = 1 << 20 };
typedef enum on_finding { CONTINUE, STOP, EXIT } on_finding;

static struct {
    wg_card *card; /* NULL: not running */
    bool stopped;  /* by a finding, WAITGATE_ON_FINDING=stop */
    on_finding on_finding;
    uint32_t clocks_per_read;
    wg_abi_check *check; /* NULL: not requested */
    wg_abi_watch *watch; /* likewise */
    wg_abi_hang *hang;
    wg_abi_symbols *symbols; /* NULL: none */
    wg_abi_gdb *gdb;         /* NULL: not requested */
    bool inside;             /* a call is active: a further call comes from a DMA callback */
    bool exit_later;         /* … and a callback has called libttsim_exit */
    size_t said;             /* findings of the card already printed */
    uint16_t said_tile[WG_GRID_MAX_TILES];
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
    if (!abi.card)
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
    else
        answer_signal();
}

/* ---- Signals -------------------------------------------------------------------------------------- */

/*
 * SIGINT and SIGTERM, unless the host handles or ignores them: the report is made in the host's next call, and then the
 * signal takes its normal effect. A second one ends the process at once.
 */
static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };
static volatile sig_atomic_t signalled; /* its number */

static void note_signal(int number)
{
    static const char said[] =
        "\nwaitgate: the report follows in the host's next call; a second signal ends the process\n";
    int before = errno;
    signalled = number;
    ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);
    (void)written;
    errno = before;
}

static bool is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == note_signal;
}

static void take_signals(void)
{
    struct sigaction now, ours = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&ours.sa_mask);
    signalled = 0;
    for (unsigned i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

static void give_signals_back(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigemptyset(&normal.sa_mask);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (is_ours(signals[i]))
            sigaction(signals[i], &normal, NULL);
}

static void answer_signal(void)
{
    char error[512];
    int number = signalled;
    if (!number || !abi.card)
        return;
    signalled = 0;
    if (!wg_abi_hang_asked(abi.hang, error, sizeof error))
        say("WAITGATE_HANG_REPORT: %s", error);
    give_signals_back();
    raise(number);
}

/* ---- Findings ------------------------------------------------------------------------------------- */

/* True for a warning or worse. */
static bool print_finding(unsigned x, unsigned y, const wg_device *dev, const wg_finding *f)
{
    const wg_finding_info *info = wg_finding_info_at(f->code);
    char pc[24] = "", tile[40] = "", words[256];
    if (f->has_pc)
        snprintf(pc, sizeof pc, " pc 0x%08" PRIx32, f->pc);
    wg_finding_words(WG_TTSIM_ARCH, f, words, sizeof words);
    if (x != WG_NOWHERE)
        snprintf(tile, sizeof tile, "%s %u-%u ", dev ? dev->tile->spec->title : "tile", x, y);
    say("%s: %scycle %" PRIu64 " %s%s: %s%s%s", info ? info->code : "finding", tile, f->cycle,
        wg_agent_name_of(dev, f->agent), pc, info ? info->cause : "", *words ? " " : "", words);
    return info && info->severity >= WG_SEVERITY_WARNING;
}

/* Prints what is new; true if any of it is a warning or worse. */
static bool print_findings(void)
{
    const wg_grid *grid = abi.card->grid;
    bool serious = false;
    for (; abi.said < wg_card_finding_count(abi.card); abi.said++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(abi.card, abi.said, &at);
        serious |= print_finding(at.x, at.y, NULL, f);
    }
    for (unsigned i = grid->first_made; i < grid->end_made; i++) {
        const wg_device *dev = grid->tile[i];
        for (; dev && abi.said_tile[i] < wg_finding_count(dev); abi.said_tile[i]++)
            serious |=
                print_finding(i % grid->plan->width, i / grid->plan->width, dev, wg_finding_at(dev, abi.said_tile[i]));
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
    if (print_findings())
        warned();
}

/* After an access of the host, which itself stops nothing. */
static void report_access(void)
{
    if (abi.said < wg_card_finding_count(abi.card))
        print_findings();
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

static wg_profile profile_from(bool *bad)
{
    const char *text = getenv("WAITGATE_PROFILE");
    if (!text)
        return WG_PROFILE_DEFAULT;
    if (!strcmp(text, "silicon"))
        return WG_PROFILE_SILICON;
    if (!strcmp(text, "documented"))
        return WG_PROFILE_DOCUMENTED;
    say("WAITGATE_PROFILE=%s is none of documented, silicon: ignored", text);
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

static bool host_read(void *user, uint64_t address, void *to, size_t bytes)
{
    (void)user;
    if (abi.dma_read)
        abi.dma_read(address, to, (uint32_t)bytes);
    return abi.dma_read != NULL;
}

static bool host_write(void *user, uint64_t address, const void *from, size_t bytes)
{
    (void)user;
    if (abi.dma_write)
        abi.dma_write(address, from, (uint32_t)bytes);
    return abi.dma_write != NULL;
}

static void tile_made(void *user, wg_device *dev, unsigned x, unsigned y)
{
    (void)user;
    if (abi.check && dev->tile->spec->kind == WG_TILE_TENSIX) /* the detector knows the agents of a Tensix tile */
        wg_abi_check_made(abi.check, dev, x, y);
    if (abi.watch)
        wg_abi_watch_made(abi.watch, x, y);
    wg_abi_hang_made(abi.hang, dev, x, y);
}

static const char *file_from(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

static void begin_watch(bool *bad)
{
    const char *trace = file_from("WAITGATE_TRACE"), *profile = file_from("WAITGATE_COST_PROFILE"),
               *report = file_from("WAITGATE_REPORT");
    char error[512];
    if (!trace && !profile && !report)
        return;
    abi.watch = wg_abi_watch_begin(abi.card->grid, trace, profile, report, abi.symbols, error, sizeof error);
    if (abi.watch)
        return;
    say("WAITGATE_TRACE, WAITGATE_COST_PROFILE and WAITGATE_REPORT are ignored: %s", error);
    *bad = true;
}

static void begin_gdb(bool *bad)
{
    const char *text = getenv("WAITGATE_GDB");
    char error[256];
    uint16_t port;
    if (!text)
        return;
    if ((abi.gdb = wg_abi_gdb_begin(abi.card->grid, text, abi.symbols, &port, error, sizeof error))) {
        say("gdb may connect: target remote 127.0.0.1:%u", port);
        return;
    }
    say("WAITGATE_GDB=%s is ignored: %s", text, error);
    *bad = true;
}

/* Creates the observers of the tiles; false if there is no memory. */
static bool begin_reports(bool *bad)
{
    const char *check = getenv("WAITGATE_CHECK"), *report = getenv("WAITGATE_HANG_REPORT"),
               *elf = getenv("WAITGATE_ELF");
    const char *checks = getenv("WAITGATE_CHECKS");
    unsigned which = WG_CHECK_RACE;
    char error[1024];
    if (report && !*report) {
        say("WAITGATE_HANG_REPORT=%s is not the name of a file: ignored", report);
        *bad = true;
        report = NULL;
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
    if (check && *check && !(abi.check = wg_abi_check_begin(abi.card->grid, check, which, abi.symbols)))
        say("WAITGATE_CHECK: %s", wg_status_text(WG_ERR_NO_MEMORY));
    begin_gdb(bad);
    begin_watch(bad);
    abi.hang = wg_abi_hang_begin(abi.card->grid, report, abi.symbols);
    abi.card->grid->made = abi.hang ? tile_made : NULL;
    return abi.hang != NULL;
}

ABI void libttsim_init(void)
{
    bool bad = false;
    if (abi.card) {
        say("libttsim_init: called again without libttsim_exit");
        return;
    }
    const wg_grid_desc grid = {.struct_size = sizeof grid,
                               .arch = WG_TTSIM_ARCH,
                               .seed = number_from("WAITGATE_SEED", UINT64_MAX, &bad),
                               .profile = profile_from(&bad),
                               .lockstep = number_from("WAITGATE_LOCKSTEP", 1, &bad) != 0,
                               .shortcuts = shortcuts_from(&bad),
                               .threads = (unsigned)number_from("WAITGATE_THREADS", MOST_THREADS, &bad),
                               .harvested = (uint32_t)number_from("WAITGATE_HARVESTED", UINT32_MAX, &bad)};
    const wg_card_desc desc = {
        .struct_size = sizeof desc, .grid = &grid, .host_read = host_read, .host_write = host_write};
    abi.stopped = false;
    abi.said = 0;
    memset(abi.said_tile, 0, sizeof abi.said_tile);
    abi.exit_later = false;
    abi.on_finding = finding_policy(&bad);
    abi.clocks_per_read = (uint32_t)number_from("WAITGATE_CLOCKS_PER_READ", UINT32_MAX, &bad);
    wg_status status = wg_card_create(&desc, &abi.card);
    if (status != WG_OK) {
        abi.card = NULL;
        say("libttsim_init: %s", wg_status_text(status));
        return;
    }
    if (!begin_reports(&bad)) {
        say("libttsim_init: %s", wg_status_text(WG_ERR_NO_MEMORY));
        end_card();
        return;
    }
    take_signals();
    if (bad)
        warned();
}

/* Also when the process ends without libttsim_exit. */
__attribute__((destructor)) static void end_reports(void)
{
    char error[512];
    if (abi.check && !wg_abi_check_end(abi.check, error, sizeof error))
        say("WAITGATE_CHECK: %s", error);
    if (abi.watch && !wg_abi_watch_end(abi.watch, error, sizeof error))
        say("WAITGATE_TRACE, WAITGATE_COST_PROFILE, WAITGATE_REPORT: %s", error);
    abi.watch = NULL;
    if (abi.hang && !wg_abi_hang_end(abi.hang, error, sizeof error))
        say("WAITGATE_HANG_REPORT: %s", error);
    wg_abi_gdb_end(abi.gdb);
    abi.gdb = NULL;
    wg_abi_symbols_close(abi.symbols);
    abi.check = NULL;
    abi.hang = NULL;
    abi.symbols = NULL;
    if (abi.card)
        abi.card->grid->made = NULL;
    give_signals_back();
}

static void end_card(void)
{
    abi.exit_later = false;
    end_reports();
    wg_card_destroy(abi.card);
    abi.card = NULL;
}

/* Called from a DMA callback, the card is destroyed at the end of the call that made the callback. */
ABI void libttsim_exit(void)
{
    if (abi.card && abi.inside)
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

/* `clocks` cycles, or fewer if a finding stops the run. */
static void advance_until_finding(uint32_t clocks)
{
    wg_grid *grid = abi.card->grid;
    uint64_t end = wg_grid_cycle(grid) + clocks;
    wg_stop why = WG_STOP_CYCLES;
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        if (grid->tile[i])
            wg_stop_on(grid->tile[i], WG_SEVERITY_WARNING);
    wg_grid_run(grid, clocks, &why);
    if (why != WG_STOP_FINDING && wg_grid_cycle(grid) < end)
        wg_grid_advance(grid, end - wg_grid_cycle(grid)); /* at rest: waiting for the host */
}

static void clock_on(uint32_t clocks)
{
    char error[512];
    while (clocks && !abi.stopped && !signalled) {
        uint32_t step = clocks < STRETCH ? clocks : STRETCH;
        clocks -= step;
        uint64_t end = wg_grid_cycle(abi.card->grid) + step;
        if (abi.gdb && wg_abi_gdb_advance(abi.gdb, end))
            step = 0;
        else
            step = (uint32_t)(end - wg_grid_cycle(abi.card->grid));
        if (step && abi.on_finding == STOP)
            advance_until_finding(step);
        else if (step)
            wg_grid_advance(abi.card->grid, step);
        report();
        if (!wg_abi_hang_clocked(abi.hang, error, sizeof error))
            say("WAITGATE_HANG_REPORT: %s", error);
    }
}

ABI void libttsim_clock(uint32_t clocks)
{
    if (!enter("libttsim_clock"))
        return;
    clock_on(clocks);
    leave();
}

/* ---- Configuration space and BARs ----------------------------------------------------------------- */

static bool this_device(uint32_t bus_device_function, uint32_t offset)
{
    return bus_device_function == 0 && offset % 4 == 0;
}

ABI uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    if (!this_device(bus_device_function, offset) || !enter("libttsim_pci_config_rd32"))
        return UINT32_MAX; /* no such device */
    uint32_t value = wg_card_config_read(abi.card, offset);
    report_access();
    leave();
    return value;
}

ABI void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data)
{
    if (!this_device(bus_device_function, offset) || !enter("libttsim_pci_config_wr32"))
        return;
    wg_card_config_write(abi.card, offset, data);
    report_access();
    leave();
}

ABI void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *to, uint32_t size)
{
    if (!enter("libttsim_pci_mem_rd_bytes")) {
        if (abi.inside)
            memset(to, 0, size);
        return;
    }
    wg_card_read(abi.card, paddr, to, size);
    report_access();
    if (abi.clocks_per_read)
        clock_on(abi.clocks_per_read);
    leave();
}

ABI void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *from, uint32_t size)
{
    if (!enter("libttsim_pci_mem_wr_bytes"))
        return;
    wg_card_write(abi.card, paddr, from, size);
    wg_abi_hang_written(abi.hang);
    report_access();
    leave();
}

ABI void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *to, uint32_t size)
{
    if (!enter("libttsim_tile_rd_bytes")) {
        if (abi.inside)
            memset(to, 0, size);
        return;
    }
    wg_card_tile_read(abi.card, x, y, address, to, size);
    report_access();
    leave();
}

ABI void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *from, uint32_t size)
{
    if (!enter("libttsim_tile_wr_bytes"))
        return;
    wg_card_tile_write(abi.card, x, y, address, from, size);
    wg_abi_hang_written(abi.hang);
    report_access();
    leave();
}
