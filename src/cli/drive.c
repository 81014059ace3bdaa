/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a run: the streams of a .tasm program are pushed, one word per thread and cycle while the FIFO has room, and the run
 * continues until it ends by itself, at the limit, or by Ctrl-C.
 */
#include "cli/drive.h"
#include "cli/saved.h"
#include "machine/device.h"
#include "report/findings.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 17 };

static volatile sig_atomic_t interrupted;
static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static struct sigaction before_interrupt;

void wg_interrupt_begin(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    interrupted = 0;
    sigaction(SIGINT, &action, &before_interrupt);
}

void wg_interrupt_end(void) { sigaction(SIGINT, &before_interrupt, NULL); }
void wg_interrupt_forget(void) { interrupted = 0; }
bool wg_interrupted(void) { return interrupted; }

/* ---- Pace ---- */

wg_pace wg_pace_begin(uint64_t least, uint64_t most)
{
    wg_pace p = {.cycles = least, .least = least, .most = most};
    clock_gettime(CLOCK_MONOTONIC, &p.since);
    return p;
}

void wg_pace_adapt(wg_pace *p)
{
    enum { SHORT = 50, LONG = 200 }; /* milliseconds */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t took = (now.tv_sec - p->since.tv_sec) * 1000 + (now.tv_nsec - p->since.tv_nsec) / 1000000;
    if (took < SHORT && p->cycles <= p->most / 2)
        p->cycles *= 2;
    else if (took > LONG && p->cycles >= p->least * 2)
        p->cycles /= 2;
    p->since = now;
}

static const wg_tasm_stream *stream_of(const wg_driving *d, unsigned thread) { return &d->s->tasm.stream[thread]; }

static bool pending(const wg_driving *d, unsigned thread)
{
    return d->s->has_tasm && d->feed[thread].next < stream_of(d, thread)->words;
}

/* Pushes all words possible in this cycle; true if some stream has more. */
static bool push_words(wg_driving *d)
{
    bool more = false;
    uint64_t now = wg_cycle(d->s->dev);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_feed *f = &d->feed[i];
        f->refused = false;
        if (!pending(d, i))
            continue;
        const wg_tasm_word *w = &stream_of(d, i)->word[f->next];
        if (now >= f->not_before) {
            f->refused = wg_push_from(d->s->dev, i, w->word, WG_HOST_PC + w->line) != WG_OK;
            if (!f->refused) {
                f->next++;
                f->not_before = now + 1 + (pending(d, i) ? w[1].delay : 0);
            }
        }
        more |= pending(d, i);
    }
    return more;
}

/* The first cycle at which a stream that was not refused can push; UINT64_MAX if none. */
static uint64_t next_push(const wg_driving *d)
{
    uint64_t at = UINT64_MAX;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (pending(d, i) && !d->feed[i].refused && d->feed[i].not_before < at)
            at = d->feed[i].not_before;
    return at;
}

bool wg_runs_away(const wg_device *dev)
{
    uint64_t zeros[WG_CORES] = {0};
    bool any = false;
    for (size_t i = 0; i < wg_finding_count(dev); i++) {
        const wg_finding *f = wg_finding_at(dev, i);
        if (f->code == WG_F_CORE_NO_CODE && f->agent < WG_CORES)
            any |= (zeros[f->agent] += f->count) > dev->tile->spec->l1_bytes / 4;
    }
    return any;
}

/* Runs one stretch; true when the run has ended, as s->ended says. */
static bool stretch(wg_driving *d, bool *failed)
{
    wg_session *s = d->s;
    uint64_t now = wg_cycle(s->dev);
    if (interrupted) {
        s->ended = WG_ENDED_INTERRUPT;
        return true;
    }
    if (now >= d->limit) {
        s->ended = WG_ENDED_LIMIT;
        return true;
    }
    bool more = push_words(d);                  /* a stop sees only pushes of earlier cycles */
    const uint64_t chunk = CHUNK - now % CHUNK; /* its end is the same wherever the run began */
    uint64_t cycles = d->limit - now < chunk ? d->limit - now : chunk;
    if (now < d->watch_from && d->watch_from - now < cycles)
        cycles = d->watch_from - now;
    if (now < d->save_at && d->save_at - now < cycles)
        cycles = d->save_at - now;
    uint64_t wanted = next_push(d);
    bool refused = d->feed[0].refused || d->feed[1].refused || d->feed[2].refused;
    if (refused)
        cycles = 1; /* room can appear in any cycle */
    else if (wanted != UINT64_MAX && wanted - now < cycles)
        cycles = wanted > now ? wanted - now : 1;
    wg_stop stop;
    *failed = wg_run(s->dev, cycles, &stop) != WG_OK;
    if (*failed)
        return true;
    uint64_t after = wg_cycle(s->dev);
    switch (stop) {
    case WG_STOP_UNTIL: s->ended = WG_ENDED_UNTIL; return true;
    case WG_STOP_FINDING: s->ended = WG_ENDED_FINDING; return true;
    case WG_STOP_CYCLES:
        if (after % CHUNK || !wg_runs_away(s->dev))
            return false;
        s->ended = WG_ENDED_FINDING;
        return true;
    case WG_STOP_DONE:
    case WG_STOP_HUNG:
        /* A stream that can still push may resume the run. */
        if (more && (wanted != UINT64_MAX || stop == WG_STOP_DONE)) {
            *failed = wg_advance(s->dev, cycles - (after - now)) != WG_OK;
            return *failed;
        }
        s->ended = stop == WG_STOP_DONE ? WG_ENDED_DONE : WG_ENDED_HUNG;
        return true;
    }
    return false;
}

/* The state at the start of a run. */
wg_driving wg_drive_begin(wg_session *s)
{
    wg_driving d = {.s = s, .watch_from = UINT64_MAX, .save_at = UINT64_MAX};
    uint64_t start = wg_cycle(s->dev);
    d.limit = s->max_cycles < UINT64_MAX - start ? start + s->max_cycles : UINT64_MAX;
    for (unsigned i = 0; i < WG_THREADS; i++)
        d.feed[i].not_before = start + (pending(&d, i) ? stream_of(&d, i)->word[0].delay : 0);
    if (s->saved)
        memcpy(d.feed, s->feed, sizeof d.feed);
    return d;
}

bool wg_drive_to(wg_driving *d, uint64_t cycle, bool *failed)
{
    uint64_t limit = d->limit;
    bool ended = false;
    *failed = false;
    d->limit = cycle < limit ? cycle : limit;
    while (!stretch(d, failed))
        ;
    ended = *failed || d->s->ended != WG_ENDED_LIMIT || wg_cycle(d->s->dev) >= limit;
    d->limit = limit;
    return ended;
}

bool wg_drive_silently(wg_session *s)
{
    wg_driving d = wg_drive_begin(s);
    bool failed = false;
    wg_interrupt_forget();
    while (!stretch(&d, &failed))
        if (s->meter)
            wg_meter_show(s->meter, wg_cycle(s->dev));
    if (s->meter)
        s->meter->done += wg_cycle(s->dev);
    if (s->races)
        wg_races_end(s->races, wg_cycle(s->dev), s->ended == WG_ENDED_DONE);
    return !failed;
}

void wg_drive_end(wg_driving *d)
{
    wg_session *s = d->s;
    memcpy(s->feed, d->feed, sizeof d->feed);
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (pending(d, i))
            s->history.pending[i] = (wg_pending){&stream_of(d, i)->word[d->feed[i].next].word,
                                                 stream_of(d, i)->words - d->feed[i].next, sizeof(wg_tasm_word)};
    if (s->races)
        wg_races_end(s->races, wg_cycle(s->dev), s->ended == WG_ENDED_DONE);
}

/* Writes the snapshots of this cycle; false: it failed. */
static bool saves(wg_driving *d, bool *saved, wg_text *error)
{
    uint64_t now = wg_cycle(d->s->dev);
    if (now != d->save_at)
        return true;
    memcpy(d->s->feed, d->feed, sizeof d->feed);
    d->save_at = wg_save_next(d->s->args, now + 1);
    return *saved = wg_save_due(d->s->args, now, wg_saved_write, d->s, error);
}

bool wg_drive(wg_session *s, wg_text *error)
{
    wg_driving d = wg_drive_begin(s);
    wg_meter meter = wg_meter_begin(NULL, wg_cycle(s->dev), d.limit);
    wg_interrupt_begin();
    bool failed = false;
    d.watch_from = wg_progress_from(wg_cycle(s->dev), d.limit);
    d.save_at = wg_save_next(s->args, wg_cycle(s->dev));
    bool saved = true;
    while (saves(&d, &saved, error) && !stretch(&d, &failed)) {
        wg_meter_show(&meter, wg_cycle(s->dev));
        if (wg_cycle(s->dev) >= d.watch_from) {
            d.watch_from = UINT64_MAX;
            wg_progress_watch(s);
        }
    }
    wg_interrupt_end();
    if (saved && !failed)
        saved = wg_save_missed(s->args, wg_cycle(s->dev), d.save_at, error);
    wg_drive_end(&d);
    wg_meter_end(&meter);
    if (failed)
        wg_textf(error, "waitgate: %s\n", wg_error(s->dev));
    return !failed && saved;
}
