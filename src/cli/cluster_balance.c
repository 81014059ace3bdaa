/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns chips to processes. At first by the programs that the cluster file puts on each; then, between stretches of
 * the run, by the processor time that each chip took: a chip moves from the busiest process to the idlest if that saves
 * more than it costs.
 *
 *     loads of all chips ──everyone──► the same plan ──► snapshot, findings, history ──► the other process
 *
 * Every process computes the plan from the same numbers. The placement of chips affects no result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_run.h"
#include "machine/device.h"

/* ---- At first ---------------------------------------------------------------------------------------------------- */

/* Cores with programs, and one for the chip itself. */
static uint64_t weight_of(const wg_cluster_member *m)
{
    uint64_t weight = 1;
    for (size_t i = 0; i < m->chip.tiles; i++)
        for (unsigned core = 0; core < WG_CORES; core++)
            weight += m->chip.tile[i].program[core] ? m->chip.tile[i].places : 0;
    return weight + (m->path ? WG_CORES : 0); /* the contents of its file are not known yet */
}

/*
 * Gives each rank consecutive chips with a total weight of at most `most`, if possible; returns the number of ranks
 * needed.
 */
static unsigned divide(const wg_cluster_file *f, uint64_t most, unsigned ranks, unsigned *rank)
{
    unsigned used = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < f->chips; i++) {
        const uint64_t weight = weight_of(&f->chip[i]);
        const bool must = f->chips - i <= ranks - 1 - used && sum; /* every rank gets one */
        if (i && used < ranks - 1 && (sum + weight > most || must)) {
            used++;
            sum = 0;
        }
        sum += weight;
        rank[i] = used;
        if (sum > most)
            used += used < ranks - 1 ? 0 : ranks; /* too little */
        if (used >= ranks)
            return used;
    }
    return used + 1;
}

unsigned *wg_cluster_placement(const wg_cluster_file *f, unsigned ranks)
{
    unsigned *rank = wg_calloc(f->chips, sizeof *rank);
    uint64_t low = 1, high = 0;
    for (unsigned i = 0; i < f->chips; i++)
        high += weight_of(&f->chip[i]);
    while (rank && low < high) { /* binary search for the least that suffices */
        const uint64_t middle = low + (high - low) / 2;
        if (divide(f, middle, ranks, rank) <= ranks)
            high = middle;
        else
            low = middle + 1;
    }
    if (rank)
        divide(f, high, ranks, rank);
    return rank;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

typedef struct load {
    uint64_t chip, busy, bytes; /* nanoseconds in the last stretch; of its snapshot */
} load;

typedef struct move {
    unsigned chip, from, to;
} move;

/* The cost of a move: a millisecond, plus a number of nanoseconds per byte. */
enum { MOVE_COSTS = 1000000, BYTE_COSTS = 3 };

bool wg_cluster_moves_always(void)
{
    const char *text = getenv("WAITGATE_MOVE_CHIPS");
    return text && strcmp(text, "always") == 0;
}

static bool plan_forced(const wg_cluster_job *r, const unsigned *chips_of, move *m)
{
    const unsigned ranks = r->ranks->ranks, chip = (unsigned)(r->stretches * 5 % r->file.chips);
    *m = (move){chip, wg_cluster_rank(r->cluster, chip), 0};
    m->to = (m->from + 1 + (unsigned)(r->stretches % (ranks - 1))) % ranks;
    return chips_of[m->from] > 1;
}

static bool plan(const wg_cluster_job *r, const load *of, move *best)
{
    const unsigned ranks = r->ranks->ranks;
    uint64_t *sum = wg_calloc(ranks, sizeof *sum), saves = 0;
    unsigned *chips_of = wg_calloc(ranks, sizeof *chips_of), most = 0, least = 0;
    for (unsigned i = 0; sum && chips_of && i < r->file.chips; i++) {
        sum[wg_cluster_rank(r->cluster, i)] += of[i].busy;
        chips_of[wg_cluster_rank(r->cluster, i)]++;
    }
    for (unsigned i = 0; sum && i < ranks; i++) {
        most = sum[i] > sum[most] ? i : most;
        least = sum[i] < sum[least] ? i : least;
    }
    bool found = false;
    if (sum && chips_of && wg_cluster_moves_always()) {
        found = plan_forced(r, chips_of, best);
    } else if (sum && chips_of && chips_of[most] > 1) {
        for (unsigned i = 0; i < r->file.chips; i++) {
            if (wg_cluster_rank(r->cluster, i) != most)
                continue;
            const uint64_t here = sum[most] - of[i].busy, there = sum[least] + of[i].busy,
                           then = here > there ? here : there;
            if (then < sum[most] && sum[most] - then > saves) {
                saves = sum[most] - then;
                *best = (move){i, most, least};
                found = true;
            }
        }
        /* The run is expected to last as long again. */
        found =
            found && saves > sum[most] / 10 && saves * r->stretches > MOVE_COSTS + BYTE_COSTS * of[best->chip].bytes;
    }
    free(sum);
    free(chips_of);
    return found;
}

/* ---- What a chip takes along ------------------------------------------------------------------------------------ */

static bool add_number(wg_message *m, uint64_t value) { return wg_message_add(m, &value, sizeof value); }

/* Packs the machine; then each tile's findings, and the history if there is one. */
static bool pack(wg_chip_run *chip, wg_message *m)
{
    const uint64_t bytes = wg_grid_snapshot_size(chip->grid);
    uint8_t *copy = wg_malloc(bytes);
    bool ok = copy && wg_grid_snapshot(chip->grid, copy, bytes) == WG_OK && add_number(m, bytes) &&
              wg_message_add(m, copy, bytes);
    free(copy);
    for (unsigned i = 0; ok && i < wg_grid_width(chip->grid) * wg_grid_height(chip->grid); i++) {
        const wg_device *dev = wg_grid_peek(chip->grid, i % wg_grid_width(chip->grid), i / wg_grid_width(chip->grid));
        ok = add_number(m, dev ? dev->findings : 0) && add_number(m, dev ? dev->findings_dropped : 0) &&
             (!dev || wg_message_add(m, dev->finding, dev->findings * sizeof *dev->finding));
    }
    for (size_t i = 0; ok && i < chip->tiles; i++)
        ok = wg_message_add(m, &chip->tile[i].s.history, sizeof chip->tile[i].s.history);
    return ok;
}

typedef struct reader {
    const wg_message *from;
    size_t at;
    bool failed;
} reader;

static const uint8_t *take(reader *r, uint64_t bytes)
{
    r->failed |= bytes > r->from->bytes - r->at;
    const uint8_t *at = r->from->data + r->at;
    r->at += r->failed ? 0 : bytes;
    return r->failed ? NULL : at;
}

static uint64_t number(reader *r)
{
    uint64_t value = 0;
    const uint8_t *at = take(r, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

/* Pointers that belong to this process are kept. */
static void take_history(reader *r, wg_history *own)
{
    wg_history h;
    const uint8_t *at = take(r, sizeof h);
    if (!at)
        return;
    memcpy(&h, at, sizeof h);
    h.place = own->place;
    h.place_user = own->place_user;
    h.source = own->source;
    h.pages = own->pages;
    h.metal_layout = own->metal_layout;
    *own = h;
}

static bool unpack(wg_chip_run *chip, const wg_message *m)
{
    reader r = {.from = m};
    const uint64_t bytes = number(&r);
    const uint8_t *machine = take(&r, bytes);
    if (!machine || wg_grid_restore(chip->grid, machine, bytes) != WG_OK)
        return false;
    for (unsigned i = 0; !r.failed && i < wg_grid_width(chip->grid) * wg_grid_height(chip->grid); i++) {
        wg_device *dev = wg_grid_peek(chip->grid, i % wg_grid_width(chip->grid), i / wg_grid_width(chip->grid));
        const uint64_t count = number(&r), dropped = number(&r);
        r.failed |= count > (dev ? WG_MAX_FINDINGS : 0);
        const uint8_t *at = take(&r, r.failed ? 0 : count * sizeof(wg_finding));
        if (!dev || !at)
            continue;
        memcpy(dev->finding, at, count * sizeof(wg_finding));
        dev->findings = count;
        dev->findings_dropped = dropped;
    }
    for (size_t i = 0; !r.failed && i < chip->tiles; i++)
        take_history(&r, &chip->tile[i].s.history);
    return !r.failed;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------- */

/* The chip leaves this process; its file is kept, in case the chip returns. */
static void give_up(wg_cluster_job *r, unsigned chip)
{
    wg_cluster_leaves(r->cluster, chip);
    if (!r->file.chip[chip].path) {
        r->file.chip[chip].chip = r->chip[chip]->file;
        r->chip[chip]->file = (wg_chip_file){.name = NULL};
    }
    for (unsigned k = 0; k < WG_CLUSTER_NAMES; k++) {
        free(r->own[chip].name[k]);
        r->own[chip].name[k] = NULL;
    }
    wg_chip_end(r->chip[chip]);
    free(r->chip[chip]);
    r->chip[chip] = NULL;
}

static bool carry_out(wg_cluster_job *r, const move *m, bool *peers, wg_message *out, wg_message *in, wg_text *error)
{
    const unsigned rank = r->ranks->rank;
    uint64_t failed[1] = {1};
    bool ok = true;
    memset(peers, 0, r->ranks->ranks * sizeof *peers);
    if (rank == m->from) {
        peers[m->to] = true;
        out[m->to].bytes = 0;
        ok = pack(r->chip[m->chip], &out[m->to]);
        failed[0] = ok;
    } else if (rank == m->to) {
        peers[m->from] = true;
        out[m->from].bytes = 0;
    }
    if (!r->ranks->exchange(r->ranks, peers, out, in, failed, 1) || !failed[0])
        ok = false;
    if (ok && rank == m->to)
        ok = wg_cluster_open_chip(r, m->chip, error) && wg_cluster_comes(r->cluster, m->chip, r->chip[m->chip]->grid) &&
             unpack(r->chip[m->chip], &in[m->from]);
    if (ok && rank == m->from) {
        give_up(r, m->chip);
        if (getenv("WAITGATE_MOVE_CHIPS"))
            fprintf(stderr, "waitgate: chip %u moves to process %u\n", m->chip, m->to);
    }
    wg_cluster_moved(r->cluster, m->chip, m->to);
    if (!ok && !error->size)
        wg_textf(error, "waitgate: chip %u could not be moved to another process: out of memory\n", m->chip);
    return ok;
}

static bool share_loads(wg_cluster_job *r, load *of, bool *peers, wg_message *out, wg_message *in)
{
    wg_message mine = {0};
    uint64_t agreed = 0; /* nothing else to agree on */
    bool ok = true;
    for (unsigned i = 0; ok && i < r->file.chips; i++)
        if (r->chip[i]) {
            const load l = {i, wg_cluster_load(r->cluster, i), wg_grid_snapshot_size(r->chip[i]->grid)};
            of[i] = l;
            ok = wg_message_add(&mine, &l, sizeof l);
        }
    for (unsigned i = 0; ok && i < r->ranks->ranks; i++) {
        peers[i] = i != r->ranks->rank;
        out[i].bytes = 0;
        ok = !peers[i] || wg_message_add(&out[i], mine.data, mine.bytes);
    }
    ok = ok && r->ranks->exchange(r->ranks, peers, out, in, &agreed, 1);
    for (unsigned i = 0; ok && i < r->ranks->ranks; i++)
        for (size_t at = 0; peers[i] && at + sizeof(load) <= in[i].bytes; at += sizeof(load)) {
            load l;
            memcpy(&l, in[i].data + at, sizeof l);
            if (l.chip < r->file.chips)
                of[l.chip] = l;
        }
    wg_message_free(&mine);
    return ok;
}

bool wg_cluster_balance(wg_cluster_job *r, wg_text *error)
{
    const unsigned ranks = r->ranks ? r->ranks->ranks : 1;
    move m = {0};
    r->stretches++;
    if (ranks < 2 || r->stays)
        return true;
    load *of = wg_calloc(r->file.chips, sizeof *of);
    bool *peers = wg_calloc(ranks, sizeof *peers);
    wg_message *out = wg_calloc(ranks, sizeof *out), *in = wg_calloc(ranks, sizeof *in);
    bool ok = of && peers && out && in && share_loads(r, of, peers, out, in);
    if (!ok)
        wg_textf(error, "waitgate: the loads of the processes could not be compared\n");
    if (ok && plan(r, of, &m))
        ok = carry_out(r, &m, peers, out, in, error);
    for (unsigned i = 0; out && in && i < ranks; i++) {
        wg_message_free(&out[i]);
        wg_message_free(&in[i]);
    }
    free(out);
    free(in);
    free(peers);
    free(of);
    return ok;
}
