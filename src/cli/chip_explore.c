/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploring a chip file: the whole chip under many legal timings.
 *
 *     unperturbed run ──races and sites of each tile──► delays at one tile, seeds ──workers──► outcomes ──shrink──► report
 *
 * Every run opens the file again, so a run of a worker is the run that the printed command repeats.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/chip_internal.h"
#include "cli/explore.h"
#include "cli/meter.h"
#include "machine/device.h"

enum { MOST_RUNS = 1 << 20, MOST_JOBS = 64, SHRINKING_RUNS = 100, DIFFERENCES = 8 };

/* Result memory: L1 of a tile, or memory that the file dumps. */
typedef struct region {
    unsigned x, y;
    uint64_t address, bytes;
    uint8_t *expected; /* of the unperturbed run */
} region;

typedef struct word {
    unsigned x, y;
    uint64_t address;
    uint32_t expected, found;
} word;

/* What a run leaves, as the workers hand it over. */
typedef struct result {
    wg_outcome outcome;
    uint64_t words; /* that differ */
    word word[WG_DIFFERENT_WORDS];
} result;

typedef struct board {
    atomic_size_t next;
    atomic_bool stop, failed;
    result at[];
} board;

typedef struct kind {
    wg_difference d;
    result shown;
} kind;

typedef struct explorer {
    const wg_args *args;
    wg_chip_run base;
    wg_text *error;
    region *region;
    size_t regions;
    result base_result;
    uint64_t limit;
    wg_trial *trial;
    size_t trials, directed, at_races, finished;
    struct {
        size_t tile, race;
        const wg_trial *witness; /* NULL: none was found */
        size_t tried;
    } * race;
    size_t races;
    kind kind[DIFFERENCES];
    size_t kinds, kinds_dropped, differing;
    wg_delay_list *drawn; /* of the run that collects them; NULL: none does */
    unsigned jobs;
    bool interrupted;
    double seconds, busiest; /* busiest: processor time of the busiest process */
} explorer;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(const struct timeval *t) { return (double)t->tv_sec + 1e-6 * (double)t->tv_usec; }

/* ---- Outcomes ---------------------------------------------------------------------------------------------- */

static void add_region(explorer *x, unsigned tile_x, unsigned tile_y, uint64_t address, uint64_t bytes)
{
    x->region[x->regions++] = (region){tile_x, tile_y, address, bytes, NULL};
}

/* L1 of the tiles that run a program, or --result there; and what the file dumps from other tiles. */
static bool find_regions(explorer *x)
{
    const wg_chip_run *r = &x->base;
    size_t most = r->tiles;
    uint64_t address = 0, bytes = 0;
    const char *text = x->args->value[WG_OPT_RESULT], *colon = text ? strchr(text, ':') : NULL;
    for (size_t i = 0, given = 0; i < x->args->givens; i++)
        if (x->args->given[i].option == WG_OPT_RESULT && given++) {
            wg_textf(x->error, "waitgate: --result: a chip file takes one\n");
            return false;
        }
    if (text && (!colon || !wg_parse_number(text, (size_t)(colon - text), &address) ||
                 !wg_parse_number(colon + 1, strlen(colon + 1), &bytes) || !bytes)) {
        wg_textf(x->error, "waitgate: --result: `%s` is not ADDR:LEN\n", text);
        return false;
    }
    for (size_t i = 0; i < r->file.tiles; i++)
        most += r->file.tile[i].dumps * r->file.tile[i].places;
    x->region = wg_calloc(most + 1, sizeof *x->region);
    for (size_t i = 0; x->region && i < r->tiles; i++) {
        const uint32_t l1 = wg_l1_bytes(r->tile[i].s.dev);
        if (address > l1 || bytes > l1 - address) {
            wg_textf(x->error, "waitgate: --result: `%s` is not within L1 (0x%x bytes)\n", text, l1);
            return false;
        }
        add_region(x, r->tile[i].x, r->tile[i].y, address, text ? bytes : l1);
    }
    for (size_t i = 0; x->region && i < r->file.tiles; i++)
        for (size_t k = 0; k < r->file.tile[i].places; k++) {
            const wg_chip_place at = r->file.tile[i].place[k];
            for (size_t d = 0; !wg_grid_peek(r->grid, at.x, at.y) && d < r->file.tile[i].dumps; d++)
                add_region(x, at.x, at.y, r->file.tile[i].dump[d].address, r->file.tile[i].dump[d].length);
        }
    if (!x->region)
        wg_textf(x->error, "waitgate: out of memory\n");
    return x->region;
}

/* Codes and places of findings, without times and counts: order does not matter. */
static uint64_t hash_findings(const wg_chip_run *r)
{
    uint64_t h = 0;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            const wg_device *dev = wg_grid_peek(r->grid, x, y);
            for (size_t i = 0; dev && i < wg_finding_count(dev); i++) {
                const wg_finding *f = wg_finding_at(dev, i);
                const uint64_t at = wg_outcome_mix(wg_outcome_mix(1 + wg_delay_tile(x, y), f->code), f->agent);
                h += wg_outcome_mix(at, f->has_pc ? f->pc : 0);
            }
        }
    for (size_t i = 0; i < wg_card_finding_count(r->card); i++) {
        wg_where at;
        const wg_finding *f = wg_card_finding_at(r->card, i, &at);
        h += wg_outcome_mix(wg_outcome_mix(2, f->code), at.x << 8 | at.y);
    }
    return h;
}

static void compare(const region *g, const uint8_t *found, result *out)
{
    for (uint64_t k = 0; k < g->bytes; k += 4) {
        uint32_t want = 0, is = 0, n = g->bytes - k < 4 ? (uint32_t)(g->bytes - k) : 4;
        memcpy(&want, g->expected + k, n);
        memcpy(&is, found + k, n);
        if (want != is && out->words++ < WG_DIFFERENT_WORDS)
            out->word[out->words - 1] = (word){g->x, g->y, g->address + k, want, is};
    }
}

/* The outcome of a run that has ended. The first one's memory is kept. False: out of memory. */
static bool inspect(explorer *x, wg_chip_run *r, result *out)
{
    wg_outcome *o = &out->outcome;
    *out = (result){.outcome = {.valid = true, .cycles = wg_grid_cycle(r->grid), .findings = hash_findings(r)}};
    o->ended = (uint8_t)(r->ended == WG_ENDED_UNTIL ? WG_ENDED_DONE : r->ended);
    for (size_t i = 0; i < x->regions; i++) {
        region *g = &x->region[i];
        uint8_t *found = wg_malloc((size_t)g->bytes);
        if (!found || wg_grid_read(r->grid, g->x, g->y, g->address, found, (size_t)g->bytes) != WG_OK) {
            wg_textf(x->error, "waitgate: %s\n", found ? wg_grid_error(r->grid) : "out of memory");
            free(found);
            return false;
        }
        if (!g->expected) {
            g->expected = found;
            continue;
        }
        if (memcmp(g->expected, found, (size_t)g->bytes)) {
            uint64_t h = i;
            for (uint64_t k = 0; k < g->bytes; k++)
                h = wg_outcome_mix(h, found[k]);
            o->memory += h;
            compare(g, found, out);
        }
        free(found);
    }
    return true;
}

/* Delays of a tile, into the list of the chip. */
typedef struct collector {
    wg_delay_list *list;
    uint16_t tile;
} collector;
static void collect(void *user, const wg_event *event)
{
    const collector *c = user;
    size_t before = c->list->count;
    wg_shrink_collect(c->list, event);
    if (c->list->count > before)
        c->list->item[before].tile = c->tile;
}

static bool run_again(explorer *x, uint64_t seed, const wg_delay *delays, size_t count, result *out)
{
    wg_chip_run v;
    bool ok = wg_chip_open_again(&v, &x->base, seed, delays, count, x->limit, x->error);
    collector *c = ok && x->drawn ? wg_calloc(v.tiles + 1, sizeof *c) : NULL;
    for (size_t i = 0; c && ok && i < v.tiles; i++) {
        c[i] = (collector){x->drawn, wg_delay_tile(v.tile[i].x, v.tile[i].y)};
        ok = wg_observe(v.tile[i].s.dev, WG_EV_BIT(WG_EV_DELAYED), collect, &c[i], NULL) == WG_OK;
    }
    ok = ok && wg_chip_drive(&v, x->error) && inspect(x, &v, out);
    wg_text_add(x->error, wg_text_of(&v.file.report), v.file.report.size);
    wg_chip_end(&v);
    free(c);
    return ok;
}

/* ---- The unperturbed run and the plan ------------------------------------------------------------------------ */

static bool run_base(explorer *x, wg_sites **sites)
{
    wg_chip_run *r = &x->base;
    const bool limited = r->file.max_cycles != UINT64_MAX;
    const wg_exploration none = {.base = {.valid = false}};
    for (size_t i = 0; i < r->tiles; i++)
        if (!(sites[i] = wg_sites_new()) ||
            wg_observe(r->tile[i].s.dev, WG_SITES_EVENTS, wg_sites_event, sites[i], NULL) != WG_OK) {
            wg_textf(x->error, "waitgate: out of memory\n");
            return false;
        }
    if (!limited)
        r->file.max_cycles = wg_exploration_limit(&none);
    if (!wg_chip_drive(r, x->error))
        return false;
    if (r->ended == WG_ENDED_LIMIT || r->ended == WG_ENDED_INTERRUPT) {
        wg_textf(x->error,
                 "waitgate: the unperturbed run does not end within %llu cycles; give an `until` condition or a larger "
                 "--max-cycles\n",
                 (unsigned long long)wg_grid_cycle(r->grid));
        return false;
    }
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].s.races)
            wg_races_end(r->tile[i].s.races, wg_grid_cycle(r->grid), r->ended == WG_ENDED_DONE);
    if (!inspect(x, r, &x->base_result))
        return false;
    const wg_exploration base = {.base = x->base_result.outcome};
    x->limit = limited ? r->file.max_cycles : wg_exploration_limit(&base);
    return true;
}

static bool ignored(void *session, const wg_race *race) { return wg_check_ignores(session, race); }

/* The delays at one tile's races (`at_races`), or at its other sites. */
static void take(explorer *x, const wg_exploration *of_tile, size_t tile, size_t first_race, bool at_races, size_t most)
{
    const wg_chip_tile *t = &x->base.tile[tile];
    const unsigned width = wg_grid_width(x->base.grid);
    const size_t from = at_races ? 0 : of_tile->at_races, to = at_races ? of_tile->at_races : of_tile->directed;
    for (size_t i = from; i < to && x->trials < most; i++) {
        wg_trial *trial = &x->trial[x->trials++];
        *trial = of_tile->trial[i];
        const unsigned number = trial->delay.tile ? trial->delay.tile - 1u : t->s.tile;
        trial->delay.tile = wg_delay_tile(number % width, number / width);
        if (trial->race)
            trial->race += (uint32_t)first_race;
    }
}

static bool plan(explorer *x, wg_sites **sites, size_t runs, uint64_t seed)
{
    wg_chip_run *r = &x->base;
    wg_exploration *of = wg_calloc(r->tiles + 1, sizeof *of);
    wg_sites **by_number = wg_calloc((size_t)wg_grid_width(r->grid) * wg_grid_height(r->grid), sizeof *by_number);
    size_t *first = wg_calloc(r->tiles + 1, sizeof *first);
    bool ok = of && first && by_number && (x->trial = wg_calloc(runs + 1, sizeof *x->trial));
    for (size_t i = 0; ok && i < r->tiles; i++) {
        by_number[r->tile[i].s.tile] = sites[i];
        wg_sites_of_chip(sites[i], by_number);
    }
    for (size_t i = 0; ok && i < r->tiles; i++) {
        const wg_races *races = r->tile[i].s.races;
        first[i] = x->races;
        x->races += races ? wg_races_count(races) : 0;
        if ((ok = (of[i].trial = wg_calloc(runs + 1, sizeof *of[i].trial)) != NULL))
            wg_plan(&of[i], sites[i], races, ignored, &r->tile[i].s, runs, seed);
    }
    ok = ok && (x->race = wg_calloc(x->races + 1, sizeof *x->race));
    for (size_t i = 0; ok && i < r->tiles; i++) {
        const size_t end = i + 1 < r->tiles ? first[i + 1] : x->races;
        for (size_t k = first[i]; k < end; k++) {
            x->race[k].tile = i;
            x->race[k].race = k - first[i];
        }
        take(x, &of[i], i, first[i], true, (i + 1) * (runs + 1) / 2 / r->tiles);
    }
    if (ok)
        x->at_races = x->trials;
    const size_t left = ok ? 3 * runs / 4 - (x->trials < 3 * runs / 4 ? x->trials : 3 * runs / 4) : 0;
    for (size_t i = 0; ok && i < r->tiles; i++)
        take(x, &of[i], i, first[i], false, x->at_races + (i + 1) * left / r->tiles);
    if (ok)
        x->directed = x->trials;
    while (ok && x->trials < runs)
        x->trial[x->trials++] = (wg_trial){.seed = seed++};
    for (size_t i = 0; of && i < r->tiles; i++)
        free(of[i].trial);
    free(of);
    free(first);
    free(by_number);
    if (!ok)
        wg_textf(x->error, "waitgate: out of memory\n");
    return ok;
}

/* ---- Workers --------------------------------------------------------------------------------------------------- */

static _Atomic(board *) shared;
static void on_interrupt(int number)
{
    (void)number;
    board *b = atomic_load(&shared);
    if (b)
        atomic_store(&b->stop, true);
}

static void work(explorer *x, board *b, double until)
{
    while (!atomic_load(&b->stop) && seconds_now() < until) {
        const size_t i = atomic_fetch_add(&b->next, 1);
        if (i >= x->trials)
            break;
        const wg_trial *t = &x->trial[i];
        result out;
        if (!run_again(x, t->seed, t->directed ? &t->delay : NULL, t->directed, &out)) {
            atomic_store(&b->failed, true);
            break;
        }
        b->at[i] = out;
    }
}

static void show_progress(const explorer *x, size_t begun, double began, double until)
{
    const double now = seconds_now(), rate = (double)begun / (now - began > 0.01 ? now - began : 0.01);
    const double left = begun && begun < x->trials ? (double)(x->trials - begun) / rate : 0;
    fprintf(stderr, "\r\033[K%zu of %zu timings, %.0f per second, %.0f s left", begun < x->trials ? begun : x->trials,
            x->trials, rate,
            left < until - now ? left
            : until - now > 0  ? until - now
                               : 0);
    fflush(stderr);
}

static bool run_workers(explorer *x, board *b, double budget)
{
    pid_t child[MOST_JOBS];
    unsigned children = 0;
    const pid_t parent = getpid();
    const double began = seconds_now(), until = began + budget;
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    bool crashed = false;
    atomic_store(&shared, b);
    sigaction(SIGINT, &action, &before);
    fflush(NULL);
    for (; children < x->jobs; children++) {
        child[children] = fork();
        if (child[children] < 0)
            break;
        if (child[children] == 0) {
            signal(SIGINT, SIG_IGN);
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the parent dies, nothing collects the results */
            if (getppid() != parent)
                _exit(1);
            work(x, b, until);
            if (atomic_load(&b->failed))
                fprintf(stderr, "%s", wg_text_of(x->error));
            _exit(0);
        }
    }
    if (!children)
        work(x, b, until); /* no further process: works in this one */
    const bool terminal = wg_meter_on();
    for (unsigned waiting = children; waiting;) {
        int status;
        struct rusage usage;
        const pid_t ended = wait4(-1, &status, terminal ? WNOHANG : 0, &usage);
        if (ended < 0 && errno != EINTR)
            break;
        for (unsigned i = 0; ended > 0 && i < children; i++)
            if (child[i] == ended) {
                const double own = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
                waiting--;
                x->busiest = own > x->busiest ? own : x->busiest;
                crashed |= !WIFEXITED(status) || WEXITSTATUS(status);
            }
        if (terminal && ended == 0) {
            show_progress(x, atomic_load(&b->next), began, until);
            usleep(100000);
        }
    }
    if (terminal)
        fprintf(stderr, "\r\033[K");
    sigaction(SIGINT, &before, NULL);
    atomic_store(&shared, NULL);
    x->seconds = seconds_now() - began;
    x->interrupted = atomic_load(&b->stop);
    if (crashed || atomic_load(&b->failed))
        wg_textf(x->error, "waitgate: a worker process ended unexpectedly; its timings are not counted\n");
    return !crashed && !atomic_load(&b->failed);
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static void sort_results(explorer *x, const board *b)
{
    for (size_t i = 0; i < x->trials; i++) {
        const wg_outcome *o = &b->at[i].outcome;
        const wg_trial *t = &x->trial[i];
        x->finished += o->valid;
        const bool differs = o->valid && !wg_outcome_same(o, &x->base_result.outcome);
        if (o->valid && t->race)
            x->race[t->race - 1].tried++;
        if (differs && t->race && !x->race[t->race - 1].witness)
            x->race[t->race - 1].witness = t;
        if (!differs)
            continue;
        x->differing++;
        size_t k = 0;
        while (k < x->kinds && !wg_outcome_same(o, &x->kind[k].d.outcome))
            k++;
        if (k == DIFFERENCES) {
            x->kinds_dropped++;
            continue;
        }
        wg_difference *d = &x->kind[k].d;
        if (k == x->kinds)
            x->kind[x->kinds++] = (kind){.d = {.outcome = *o, .first = *t}, .shown = b->at[i]};
        if (!t->directed && d->seeds < WG_SEEDS_LISTED)
            d->seed_list[d->seeds++] = t->seed;
        d->runs++;
    }
}

static bool once(void *user, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    result r = {0};
    const bool ok = run_again(user, seed, delays, count, &r);
    *out = r.outcome;
    return ok;
}

static bool draws(void *user, uint64_t seed, wg_delay_list *list)
{
    explorer *x = user;
    result ignored_result;
    x->drawn = list;
    const bool ok = run_again(x, seed, NULL, 0, &ignored_result);
    x->drawn = NULL;
    return ok;
}

static void progress(void *user, unsigned runs)
{
    (void)user;
    if (wg_meter_on())
        fprintf(stderr, "\r\033[Klooking for the fewest delays that change the result: at most %u more runs", runs);
}

static bool shrink_all(explorer *x)
{
    const wg_shrinking how = {x, once, draws, progress};
    for (size_t i = 0; i < x->kinds; i++) {
        wg_difference *d = &x->kind[i].d;
        static const wg_delay none;
        if (!wg_shrink(&how, d, SHRINKING_RUNS) ||
            !run_again(x, d->seed, d->delays.count ? d->delays.item : &none, d->delays.count, &x->kind[i].shown)) {
            if (!x->error->size)
                wg_textf(x->error, "waitgate: out of memory\n");
            return false;
        }
        d->outcome.cycles = x->kind[i].shown.outcome.cycles;
    }
    if (x->kinds && wg_meter_on())
        fprintf(stderr, "\r\033[K");
    return true;
}

/* ---- Report -------------------------------------------------------------------------------------------------------- */

static void replay(const explorer *x, uint64_t seed, uint8_t ended, const wg_delay *delays, size_t count, wg_text *out)
{
    wg_textf(out, "waitgate run");
    for (size_t i = 0; i < x->args->givens; i++) {
        const wg_option option = x->args->given[i].option;
        const wg_option_info *info = wg_option_info_at(option);
        if (!(info->commands >> WG_CMD_RUN & 1) || option == WG_OPT_SEED || option == WG_OPT_JSON)
            continue;
        wg_textf(out, " --%s", info->name);
        if (info->value) {
            wg_text_add(out, " ", 1);
            wg_explore_quoted(out, x->args->given[i].value);
        }
    }
    if (ended == WG_ENDED_LIMIT && !x->args->value[WG_OPT_MAX_CYCLES])
        wg_textf(out, " --max-cycles %llu", (unsigned long long)x->limit);
    if (seed)
        wg_textf(out, " --seed %llu", (unsigned long long)seed);
    wg_textf(out, " --delays ");
    wg_delays_print(delays, count, out);
    for (size_t i = 0; i < x->args->files; i++) {
        wg_text_add(out, " ", 1);
        wg_explore_quoted(out, x->args->file[i]);
    }
}

static void differs_in(const explorer *x, const wg_outcome *o, wg_text *out)
{
    const wg_outcome *base = &x->base_result.outcome;
    const char *part[3];
    unsigned count = 0;
    if (o->ended != base->ended)
        part[count++] = "the way it ends";
    if (o->memory != base->memory)
        part[count++] = "the result memory";
    if (o->findings != base->findings)
        part[count++] = "the findings";
    for (unsigned i = 0; i < count; i++)
        wg_textf(out, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", part[i]);
}

static void kind_text(const explorer *x, size_t index, wg_text *out)
{
    const wg_difference *d = &x->kind[index].d;
    const result *shown = &x->kind[index].shown;
    wg_textf(out, "\n%zu. ", index + 1);
    differs_in(x, &d->outcome, out);
    wg_textf(out, ": %llu of %zu timings, first with ", (unsigned long long)d->runs, x->finished);
    if (d->first.directed)
        wg_delays_print(&d->first.delay, 1, out);
    else
        wg_textf(out, "seed %llu", (unsigned long long)d->first.seed);
    wg_textf(out, "\n   it %s after %llu cycles\n", wg_explore_ended(d->outcome.ended),
             (unsigned long long)d->outcome.cycles);
    for (size_t i = 0; i < shown->words && i < WG_DIFFERENT_WORDS; i++)
        wg_textf(out, "   tile %u-%u, 0x%06llx holds 0x%08x instead of 0x%08x\n", shown->word[i].x, shown->word[i].y,
                 (unsigned long long)shown->word[i].address, shown->word[i].found, shown->word[i].expected);
    if (shown->words > WG_DIFFERENT_WORDS)
        wg_textf(out, "   and %llu more words differ\n", (unsigned long long)(shown->words - WG_DIFFERENT_WORDS));
    wg_textf(out, "   replay: ");
    replay(x, d->seed, d->outcome.ended, d->delays.item, d->delays.count, out);
    wg_text_add(out, "\n", 1);
}

static const wg_race *race_at(const explorer *x, size_t i)
{
    return wg_races_at(x->base.tile[x->race[i].tile].s.races, x->race[i].race);
}

static void races_text(explorer *x, wg_text *out)
{
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < x->races; i++) {
        wg_chip_tile *t = &x->base.tile[x->race[i].tile];
        const wg_race_words w = wg_check_words(&t->s);
        const wg_trial *witness = x->race[i].witness;
        if (wg_check_ignores(&t->s, race_at(x, i)))
            continue;
        if (!count++)
            wg_textf(out, "\nRaces that check reports:\n");
        wg_textf(out, " %s", t->name);
        wg_race_line(&w, race_at(x, i), out);
        shown += witness != NULL;
        if (witness) {
            wg_textf(out, "      witness: ");
            replay(x, 0, WG_ENDED_DONE, &witness->delay, 1, out);
            wg_text_add(out, "\n", 1);
        } else {
            wg_textf(out, "      no timing tried shows it (%zu with a delay at its parties)\n", x->race[i].tried);
        }
    }
    if (count)
        wg_textf(out, "%zu of %zu races made visible\n", shown, count);
}

static void report_text(explorer *x, wg_text *out)
{
    wg_textf(out,
             "%s: %s after %llu cycles; %zu other timings (%zu with a single delay, %zu of them at races) in %.1f s, "
             "on %u host %s\n",
             x->base.file.name, wg_explore_ended(x->base_result.outcome.ended),
             (unsigned long long)x->base_result.outcome.cycles, x->finished,
             x->finished < x->directed ? x->finished : x->directed,
             x->finished < x->at_races ? x->finished : x->at_races, x->seconds, x->jobs,
             x->jobs == 1 ? "process" : "processes");
    if (x->finished < x->trials)
        wg_textf(out, "%zu timings were not tried: %s\n", x->trials - x->finished,
                 x->interrupted ? "interrupted" : "the budget was used up");
    for (size_t i = 0; i < x->kinds; i++)
        kind_text(x, i, out);
    if (x->kinds_dropped)
        wg_textf(out, "\n%zu further timings differ in yet other ways\n", x->kinds_dropped);
    races_text(x, out);
    if (x->kinds)
        wg_textf(out, "\nSUMMARY: %zu of %zu timings give another result, in %zu%s way%s\n", x->differing, x->finished,
                 x->kinds, x->kinds_dropped ? " or more" : "", x->kinds + x->kinds_dropped == 1 ? "" : "s");
    else
        wg_textf(out, "SUMMARY: every timing gives the same result\n");
}

static void kind_json(const explorer *x, const kind *k, wg_json *j)
{
    const wg_difference *d = &k->d;
    const wg_outcome *base = &x->base_result.outcome;
    wg_text line = {0};
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "result", wg_explore_ended(d->outcome.ended));
    wg_json_uint(j, "cycles", d->outcome.cycles);
    wg_json_uint(j, "timings", d->runs);
    wg_json_open(j, "seeds", '[');
    for (size_t i = 0; i < d->seeds; i++)
        wg_json_uint(j, NULL, d->seed_list[i]);
    wg_json_close(j, ']');
    wg_json_bool(j, "memory", d->outcome.memory != base->memory);
    wg_json_bool(j, "findings", d->outcome.findings != base->findings);
    wg_json_bool(j, "expectations", false);
    wg_json_uint(j, "words", k->shown.words);
    wg_json_open(j, "first_words", '[');
    for (size_t i = 0; i < k->shown.words && i < WG_DIFFERENT_WORDS; i++) {
        const word *w = &k->shown.word[i];
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "x", w->x);
        wg_json_uint(j, "y", w->y);
        wg_json_textf(j, "address", "0x%08llx", (unsigned long long)w->address);
        wg_json_hex(j, "expected", w->expected);
        wg_json_hex(j, "found", w->found);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_uint(j, "seed", d->seed);
    wg_json_open(j, "delays", '[');
    for (size_t i = 0; i < d->delays.count; i++) {
        wg_text_free(&line);
        wg_json_open(j, NULL, '{');
        wg_delays_print(&d->delays.item[i], 1, &line);
        wg_json_text(j, "delay", wg_text_of(&line));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text_free(&line);
    replay(x, d->seed, d->outcome.ended, d->delays.item, d->delays.count, &line);
    wg_json_text(j, "replay", wg_text_of(&line));
    wg_json_close(j, '}');
    wg_text_free(&line);
}

static void races_json(explorer *x, wg_json *j)
{
    wg_text line = {0};
    wg_json_open(j, "races", '[');
    for (size_t i = 0; i < x->races; i++) {
        wg_chip_tile *t = &x->base.tile[x->race[i].tile];
        const wg_race_words w = wg_check_words(&t->s);
        const wg_trial *witness = x->race[i].witness;
        if (wg_check_ignores(&t->s, race_at(x, i)))
            continue;
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "x", t->x);
        wg_json_uint(j, "y", t->y);
        wg_race_json(&w, race_at(x, i), j);
        wg_json_uint(j, "tried", x->race[i].tried);
        if (witness) {
            wg_json_open(j, "witness", '{');
            wg_json_uint(j, "seed", 0);
            wg_text_free(&line);
            wg_delays_print(&witness->delay, 1, &line);
            wg_json_text(j, "delays", wg_text_of(&line));
            wg_text_free(&line);
            replay(x, 0, WG_ENDED_DONE, &witness->delay, 1, &line);
            wg_json_text(j, "replay", wg_text_of(&line));
            wg_json_close(j, '}');
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text_free(&line);
}

static void report_json(explorer *x, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", x->base.file.name);
    wg_json_text(j, "result", wg_explore_ended(x->base_result.outcome.ended));
    wg_json_uint(j, "cycles", x->base_result.outcome.cycles);
    wg_json_bool(j, "expectations_hold", true);
    wg_json_uint(j, "timings", x->finished);
    wg_json_uint(j, "planned", x->trials);
    wg_json_uint(j, "directed", x->directed);
    wg_json_uint(j, "at_races", x->at_races);
    wg_json_uint(j, "jobs", x->jobs);
    wg_json_uint(j, "milliseconds", (uint64_t)(1000 * x->seconds));
    wg_json_uint(j, "busiest_microseconds", (uint64_t)(1e6 * x->busiest));
    wg_json_bool(j, "interrupted", x->interrupted);
    wg_json_uint(j, "differing", x->differing);
    wg_json_open(j, "differences", '[');
    for (size_t i = 0; i < x->kinds; i++)
        kind_json(x, &x->kind[i], j);
    wg_json_close(j, ']');
    races_json(x, j);
    wg_json_close(j, '}');
}

/* ---- The command ---------------------------------------------------------------------------------------------------- */

static bool number(const explorer *x, wg_option option, const char *name, uint64_t least, uint64_t most,
                   uint64_t *value)
{
    const char *text = x->args->value[option];
    if (!text || (wg_parse_number(text, strlen(text), value) && *value >= least && *value <= most))
        return true;
    wg_textf(x->error, "waitgate: --%s: `%s` is not a number from %llu to %llu\n", name, text,
             (unsigned long long)least, (unsigned long long)most);
    return false;
}

static bool explore(explorer *x)
{
    uint64_t runs = 1000, budget = 60, seed = 1, jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    jobs = jobs < 1 || jobs > MOST_JOBS ? 1 : jobs;
    if (!number(x, WG_OPT_RUN_COUNT, "runs", 1, MOST_RUNS, &runs) ||
        !number(x, WG_OPT_BUDGET, "budget", 0, UINT32_MAX, &budget) ||
        !number(x, WG_OPT_FIRST_SEED, "first-seed", 1, UINT64_MAX - MOST_RUNS, &seed) ||
        !number(x, WG_OPT_JOBS, "jobs", 1, MOST_JOBS, &jobs) || !wg_chip_open_run(&x->base, x->args, x->error))
        return false;
    x->jobs = (unsigned)jobs;
    if (wg_ranks_started()) {
        wg_textf(x->error, "waitgate: %s: one process explores a chip file\n", x->base.file.name);
        return false;
    }
    if (x->base.metal) {
        wg_textf(x->error, "waitgate: %s: programs of tt-metal are not explored\n", x->base.file.name);
        return false;
    }
    const size_t bytes = sizeof(board) + runs * sizeof(result);
    wg_sites **sites = wg_calloc(x->base.tiles + 1, sizeof *sites);
    board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = sites && b != MAP_FAILED;
    if (!ok)
        wg_textf(x->error, "waitgate: out of memory\n");
    ok = ok && find_regions(x) && run_base(x, sites) && plan(x, sites, (size_t)runs, seed) &&
         run_workers(x, b, (double)budget);
    if (ok)
        sort_results(x, b);
    ok = ok && shrink_all(x);
    for (size_t i = 0; sites && i < x->base.tiles; i++)
        wg_sites_free(sites[i]);
    free(sites);
    if (b != MAP_FAILED)
        munmap(b, bytes);
    return ok;
}

int wg_explore_chip(const wg_args *args, wg_text *out, wg_text *error)
{
    explorer *x = wg_calloc(1, sizeof *x);
    int status = WG_EXIT_ERROR;
    if (!x) {
        wg_textf(error, "waitgate: out of memory\n");
        return status;
    }
    x->args = args;
    x->error = error;
    if (explore(x)) {
        if (args->value[WG_OPT_JSON])
            report_json(x, out);
        else
            report_text(x, out);
        status = x->kinds ? WG_EXIT_FINDINGS : x->interrupted ? WG_EXIT_INTERRUPTED : WG_EXIT_DONE;
    }
    wg_text_add(error, wg_text_of(&x->base.file.report), x->base.file.report.size);
    wg_chip_end(&x->base);
    for (size_t i = 0; i < x->kinds; i++)
        wg_delays_free(&x->kind[i].d.delays);
    for (size_t i = 0; i < x->regions; i++)
        free(x->region[i].expected);
    free(x->region);
    free(x->trial);
    free(x->race);
    free(x);
    return status;
}
