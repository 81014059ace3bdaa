/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the writer of the configuration behind a finding, and of the words that cores poll when a run hangs, and since when they
 * poll. Recording all of this would slow down every run. Instead the program is run again, up to that cycle, with an
 * observer: the same run, cycle for cycle.
 */
#include "cli/again.h"
#include "cli/meter.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"
#include "machine/device.h"

enum { BANKS = 2, WORDS = 256, MOST_CYCLES = 20 * 1000 * 1000 };

struct wg_blame {
    size_t count;
    wg_blamed *entry;
};

typedef struct watch {
    const wg_session *s; /* the first run */
    wg_session *again;
    wg_blamed last[BANKS * WORDS][32]; /* writer of each bit */
    wg_blame *blame;
    bool failed;
} watch;

static void wrote(watch *w, const wg_event *e)
{
    for (uint32_t left = (uint32_t)e->c; left; left &= left - 1)
        w->last[e->b % (BANKS * WORDS)][__builtin_ctz(left)] = (wg_blamed){.known = true,
                                                                           .agent = e->agent,
                                                                           .thread = e->id ? e->thread : WG_THREADS,
                                                                           .pc = e->pc,
                                                                           .word = e->word,
                                                                           .cycle = e->cycle};
}

static void found(watch *w, const wg_event *e)
{
    const wg_finding *f = wg_finding_at(w->s->dev, e->a);
    wg_finding_field field[WG_FINDING_FIELDS];
    if (!f || f->code != e->b || f->cycle != e->cycle || f->agent < WG_AGENT_THREAD0 || f->agent > WG_AGENT_THREAD2)
        return;
    unsigned n = wg_finding_fields(w->s->desc.arch, f, field);
    unsigned bank =
        w->again->dev->tile->regs.config.thread[f->agent - WG_AGENT_THREAD0][0] & 1; /* CFG_STATE_ID_StateID */
    for (unsigned i = 0; i < n; i++) {
        wg_blamed *more = wg_realloc(w->blame->entry, (w->blame->count + 1) * sizeof *more);
        if (!more) {
            w->failed = true;
            return;
        }
        w->blame->entry = more;
        wg_blamed *b = &more[w->blame->count++];
        *b = w->last[bank * WORDS + field[i].word % WORDS][__builtin_ctz(field[i].mask)];
        b->finding = (size_t)e->a;
        b->field = field[i];
    }
}

static void event(void *user, const wg_event *e)
{
    watch *w = user;
    if (e->kind == WG_EV_FINDING)
        found(w, e);
    else if (e->a == WG_TOUCH_CONFIG && e->how & WG_TOUCH_WRITE)
        wrote(w, e);
}

/* The cycle of the last finding whose writer is to be found; 0: none. */
static uint64_t wanted_until(const wg_session *s)
{
    wg_finding_field field[WG_FINDING_FIELDS];
    uint64_t until = 0;
    for (size_t i = 0; i < wg_finding_count(s->dev); i++) {
        const wg_finding *f = wg_finding_at(s->dev, i);
        if (wg_finding_fields(s->desc.arch, f, field) && f->cycle + 1 > until && f->cycle < MOST_CYCLES)
            until = f->cycle + 1;
    }
    return until;
}

/* Runs the program again, up to a cycle, with an observer. */
static bool run_again(const wg_session *s, wg_session *again, uint64_t until, uint64_t events, wg_observer_fn fn,
                      void *user, wg_text *error)
{
    bool ok = wg_again_begin(again, s, s->desc.seed, NULL, error);
    wg_meter meter = wg_meter_begin("looking for writers", 0, until);
    again->max_cycles = until;
    again->meter = &meter;
    ok = ok && wg_observe(again->dev, events, fn, user, NULL) == WG_OK && wg_drive_silently(again);
    wg_meter_end(&meter);
    wg_again_end(again);
    return ok;
}

bool wg_blame_findings(wg_session *s, wg_text *error)
{
    uint64_t until = wanted_until(s);
    if (!until || s->args->value[WG_OPT_DELAYS])
        return true;
    watch *w = wg_calloc(1, sizeof *w);
    wg_session again;
    if (w) {
        w->s = s;
        w->again = &again;
        w->blame = s->blame = wg_calloc(1, sizeof *s->blame);
    }
    bool ok = w && w->blame &&
              run_again(s, &again, until, WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_FINDING), event, w, error) &&
              !w->failed;
    free(w);
    if (!ok)
        wg_textf(error, "waitgate: out of memory\n");
    return ok;
}

static void stall_event(void *user, const wg_event *e)
{
    wg_session *s = user;
    if (WG_HISTORY_STALL_EVENTS >> e->kind & 1)
        wg_history_event(&s->history, e);
    else
        wg_last_writes_event(&s->polled, e);
}

/* Did a core leave its program from an unknown pc? */
static bool is_lost(const wg_session *s)
{
    bool is = false;
    for (size_t i = 0; i < wg_finding_count(s->dev); i++)
        is |= wg_finding_at(s->dev, i)->code == WG_F_CORE_NO_CODE && !wg_finding_at(s->dev, i)->has_pc;
    return is;
}

/* The words that the core polls, as far as there is room. */
static void watch_words(wg_last_writes *writes, const wg_hang_core *c)
{
    for (unsigned i = 0; i < (c->words ? c->words : c->polled != 0) && writes->count < WG_LAST_WRITES; i++)
        writes->at[writes->count++] = (wg_last_write){.address = c->words ? c->word[i] : c->polled};
}

bool wg_blame_stalls(wg_session *s, wg_text *error)
{
    const bool hung = s->ended == WG_ENDED_HUNG;
    wg_last_writes *writes = &s->polled;
    wg_session again;
    writes->count = 0;
    bool polls = false;
    for (unsigned i = 0; hung && i < WG_CORES; i++) {
        polls |= s->hang->core[i].poll_pc != 0;
        watch_words(writes, &s->hang->core[i]);
    }
    if ((!polls && !is_lost(s)) || s->saved || s->args->value[WG_OPT_DELAYS] || wg_cycle(s->dev) > MOST_CYCLES)
        return true;
    if (!run_again(s, &again, wg_cycle(s->dev), WG_LAST_WRITES_EVENTS | WG_HISTORY_STALL_EVENTS, stall_event, s,
                   error)) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    s->history.writes = writes;
    wg_hang_inspect(s->dev, &s->history, hung, s->hang);
    return true;
}

const wg_blamed *wg_blame_at(const wg_session *s, const wg_finding *f, unsigned index)
{
    for (size_t i = 0; s->blame && i < s->blame->count; i++)
        if (wg_finding_at(s->dev, s->blame->entry[i].finding) == f && !index--)
            return &s->blame->entry[i];
    return NULL;
}

void wg_blame_free(struct wg_blame *blame)
{
    if (blame)
        free(blame->entry);
    free(blame);
}

/* "the output format (THCON_SEC0_REG2_Out_data_format) was set at cycle 40 by core B at main (kernel.c:12)" */
void wg_blame_text(wg_session *s, const wg_blamed *b, wg_text *out)
{
    char place[256] = "", text[WG_DIS_MAX];
    wg_textf(out, "%s (%s) ", b->field.what, wg_cfg_names[b->field.id]);
    if (!b->known) {
        wg_textf(out, "was not set in this run");
        return;
    }
    bool pushed = b->thread < WG_THREADS;
    unsigned core = pushed ? WG_CORE_T0 + b->thread : b->agent;
    wg_textf(out, "was set at cycle %llu by ", (unsigned long long)b->cycle);
    if (pushed)
        wg_textf(out, "thread %u's %s", b->thread, wg_insn_text(s, b->agent, b->pc, b->word, text, sizeof text));
    else
        wg_textf(out, "%s%s", b->agent <= WG_AGENT_CORE_T2 ? "core " : "", wg_agent_name(b->agent));
    if (b->pc && core < WG_CORES && *wg_place(s, core, b->pc, place, sizeof place))
        wg_textf(out, " at %s", place);
    else if (b->pc)
        wg_textf(out, " at 0x%08x", b->pc);
}
