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
#include <time.h>
#include <unistd.h>

#include "cli/chip_explore.h"
#include "cli/meter.h"
#include "cli/processes.h"
#include "machine/device.h"

enum { MOST_RUNS = 1 << 20, SHRINKING_RUNS = 100 };

typedef struct board {
    atomic_size_t next;
    atomic_bool stop, failed;
    wg_chip_result at[];
} board;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Outcomes ---------------------------------------------------------------------------------------------- */

static void add_region(wg_chip_explorer *x, unsigned tile_x, unsigned tile_y, uint64_t address, uint64_t bytes)
{
    x->region[x->regions++] = (wg_chip_region){tile_x, tile_y, address, bytes, NULL};
}

/* L1 of the tiles that run a program, or --result there; and what the file dumps from other tiles. */
static bool find_regions(wg_chip_explorer *x)
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
        h += wg_outcome_mix(wg_outcome_mix(2, f->code), (uint64_t)at.x << 8 | at.y);
    }
    return h;
}

static void compare(const wg_chip_region *g, const uint8_t *found, wg_chip_result *out)
{
    for (uint64_t k = 0; k < g->bytes; k += 4) {
        uint32_t want = 0, is = 0, n = g->bytes - k < 4 ? (uint32_t)(g->bytes - k) : 4;
        memcpy(&want, g->expected + k, n);
        memcpy(&is, found + k, n);
        if (want != is && out->words++ < WG_DIFFERENT_WORDS)
            out->word[out->words - 1] = (wg_chip_word){g->x, g->y, g->address + k, want, is};
    }
}

/* The outcome of a run that has ended. The first one's memory is kept. False: out of memory. */
static bool inspect(wg_chip_explorer *x, wg_chip_run *r, wg_chip_result *out)
{
    wg_outcome *o = &out->outcome;
    *out = (wg_chip_result){.outcome = {.valid = true, .cycles = wg_grid_cycle(r->grid), .findings = hash_findings(r)}};
    o->ended = (uint8_t)(r->ended == WG_ENDED_UNTIL ? WG_ENDED_DONE : r->ended);
    for (size_t i = 0; i < x->regions; i++) {
        wg_chip_region *g = &x->region[i];
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

static bool run_again(wg_chip_explorer *x, uint64_t seed, const wg_delay *delays, size_t count, wg_chip_result *out)
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

static bool run_base(wg_chip_explorer *x, wg_sites **sites)
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

static bool plan(wg_chip_explorer *x, wg_sites **sites, size_t runs, uint64_t seed)
{
    wg_chip_run *r = &x->base;
    wg_chip_plan p = {.width = wg_grid_width(r->grid)};
    wg_chip_site *site = wg_calloc(r->tiles + 1, sizeof *site);
    for (size_t i = 0; site && i < r->tiles; i++)
        site[i] = (wg_chip_site){sites[i], r->tile[i].s.races, r->tile[i].s.tile, &r->tile[i].s, 0};
    bool ok = site && wg_plan_chip(&p, site, r->tiles, ignored, runs, seed) &&
              (x->race = wg_calloc(p.races + 1, sizeof *x->race));
    x->trial = p.trial;
    x->trials = p.trials;
    x->directed = p.directed;
    x->at_races = p.at_races;
    x->races = ok ? p.races : 0;
    for (size_t i = 0; ok && i < r->tiles; i++) {
        const size_t end = i + 1 < r->tiles ? site[i + 1].first_race : x->races;
        for (size_t k = site[i].first_race; k < end; k++) {
            x->race[k].tile = i;
            x->race[k].race = k - site[i].first_race;
        }
    }
    free(site);
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

static void work(wg_chip_explorer *x, board *b, double until)
{
    while (!atomic_load(&b->stop) && seconds_now() < until) {
        const size_t i = atomic_fetch_add(&b->next, 1);
        if (i >= x->trials)
            break;
        const wg_trial *t = &x->trial[i];
        wg_chip_result out;
        if (!run_again(x, t->seed, t->directed ? &t->delay : NULL, t->directed, &out)) {
            atomic_store(&b->failed, true);
            break;
        }
        b->at[i] = out;
    }
}

static void show_progress(const wg_chip_explorer *x, size_t begun, double began, double until)
{
    const double now = seconds_now(), rate = (double)begun / (now - began > 0.01 ? now - began : 0.01);
    const double left = !begun ? until - now : begun < x->trials ? (double)(x->trials - begun) / rate : 0;
    fprintf(stderr, "\r\033[K%zu of %zu timings, %.0f per second, %.0f s left", begun < x->trials ? begun : x->trials,
            x->trials, rate,
            left < until - now ? left
            : until - now > 0  ? until - now
                               : 0);
    fflush(stderr);
}

/* What the workers do, until when. */
typedef struct shift {
    wg_chip_explorer *x;
    board *b;
    double began, until;
} shift;

static void work_shift(void *user)
{
    const shift *s = user;
    work(s->x, s->b, s->until);
    if (atomic_load(&s->b->failed))
        fprintf(stderr, "%s", wg_text_of(s->x->error));
}

static void show_shift(void *user)
{
    const shift *s = user;
    show_progress(s->x, atomic_load(&s->b->next), s->began, s->until);
}

static bool run_workers(wg_chip_explorer *x, board *b, double budget)
{
    const bool terminal = wg_meter_on();
    shift s = {x, b, seconds_now(), 0};
    wg_processes w = {.count = x->jobs, .work = work_shift, .progress = terminal ? show_shift : NULL, .user = &s};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    s.until = s.began + budget;
    atomic_store(&shared, b);
    sigaction(SIGINT, &action, &before);
    const bool whole = wg_processes_run(&w);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    sigaction(SIGINT, &before, NULL);
    atomic_store(&shared, NULL);
    x->busiest = w.busiest;
    x->seconds = seconds_now() - s.began;
    x->interrupted = atomic_load(&b->stop);
    if (!whole || atomic_load(&b->failed))
        wg_textf(x->error, "waitgate: a worker process ended unexpectedly; its timings are not counted\n");
    return whole && !atomic_load(&b->failed);
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static void sort_results(wg_chip_explorer *x, const board *b)
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
        if (k == WG_CHIP_DIFFERENCES) {
            x->kinds_dropped++;
            continue;
        }
        wg_difference *d = &x->kind[k].d;
        if (k == x->kinds)
            x->kind[x->kinds++] = (wg_chip_difference){.d = {.outcome = *o, .first = *t}, .shown = b->at[i]};
        if (!t->directed && d->seeds < WG_SEEDS_LISTED)
            d->seed_list[d->seeds++] = t->seed;
        d->runs++;
    }
}

static bool once(void *user, uint64_t seed, const wg_delay *delays, size_t count, wg_outcome *out)
{
    wg_chip_result r = {0};
    const bool ok = run_again(user, seed, delays, count, &r);
    *out = r.outcome;
    return ok;
}

static bool draws(void *user, uint64_t seed, wg_delay_list *list)
{
    wg_chip_explorer *x = user;
    wg_chip_result ignored_result;
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

static bool shrink_all(wg_chip_explorer *x)
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

/* ---- The command ---------------------------------------------------------------------------------------------------- */

static bool number(const wg_chip_explorer *x, wg_option option, const char *name, uint64_t least, uint64_t most,
                   uint64_t *value)
{
    const char *text = x->args->value[option];
    if (!text || (wg_parse_number(text, strlen(text), value) && *value >= least && *value <= most))
        return true;
    wg_textf(x->error, "waitgate: --%s: `%s` is not a number from %llu to %llu\n", name, text,
             (unsigned long long)least, (unsigned long long)most);
    return false;
}

static bool explore(wg_chip_explorer *x)
{
    uint64_t runs = 1000, budget = 60, seed = 1, jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    jobs = jobs < 1 || jobs > WG_PROCESSES_MOST ? 1 : jobs;
    if (!number(x, WG_OPT_RUN_COUNT, "runs", 1, MOST_RUNS, &runs) ||
        !number(x, WG_OPT_BUDGET, "budget", 0, UINT32_MAX, &budget) ||
        !number(x, WG_OPT_FIRST_SEED, "first-seed", 1, UINT64_MAX - MOST_RUNS, &seed) ||
        !number(x, WG_OPT_JOBS, "jobs", 1, WG_PROCESSES_MOST, &jobs) || !wg_chip_open_run(&x->base, x->args, x->error))
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
    const size_t bytes = sizeof(board) + runs * sizeof(wg_chip_result);
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
    wg_chip_explorer *x = wg_calloc(1, sizeof *x);
    int status = WG_EXIT_ERROR;
    if (!x) {
        wg_textf(error, "waitgate: out of memory\n");
        return status;
    }
    x->args = args;
    x->error = error;
    if (explore(x)) {
        if (args->value[WG_OPT_JSON])
            wg_chip_explore_json(x, out);
        else
            wg_chip_explore_text(x, out);
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
