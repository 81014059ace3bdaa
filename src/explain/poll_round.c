/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/poll_round.h"

#include <stdlib.h>

#include "explain/poll_loop.h"
#include "riscv/follow.h"

enum { MOST = 1024 /* instructions of a round */, PLACES = 512 };

typedef struct round_of {
    wg_poll_round *out;
    uint32_t place[PLACES]; /* the code of the round */
    unsigned places;
    uint32_t loads; /* words that it loads; those beyond WG_POLLED are too many */
    bool counts;    /* it is the round: words and places are noted */
    int changed;    /* the word that has another value; negative: none */
    uint32_t value;
} round_of;

static bool load(wg_follow *f, uint32_t address, unsigned size, wg_held *value)
{
    round_of *r = f->user;
    wg_poll_round *out = r->out;
    unsigned i = 0;
    value->known = wg_poll_value(f->t, f->core, address, size, &value->value);
    if (wg_poll_is_own_ram(f->t, f->core, address))
        return true;
    while (i < r->loads && out->word[i].address != address)
        i++;
    if (i == WG_POLLED)
        return false;
    if (r->counts && i == r->loads) {
        out->word[i].address = address;
        out->word[i].value = value->value;
        out->word[i].pc = f->pc;
        r->loads++;
    }
    value->from = i < r->loads ? 1u << i : 0;
    if ((int)i == r->changed)
        value->value = r->value;
    return true;
}

static bool was_here(const round_of *r, uint32_t pc)
{
    for (unsigned i = 0; i < r->places; i++)
        if (r->place[i] == pc)
            return true;
    return false;
}

static bool same_state(const wg_follow *a, const wg_follow *b)
{
    for (unsigned i = 1; i < 32; i++)
        if (a->x[i].known && b->x[i].known && a->x[i].value != b->x[i].value)
            return false;
    return a->pc == b->pc;
}

/* Values that have not arrived are those of memory. */
static bool begin(wg_follow *f, const wg_tile *t, unsigned core, round_of *r)
{
    const wg_core_run *run = &t->core[core].run;
    if (!wg_follow_begin(f, t, core, run->pc))
        return false;
    f->load = load;
    f->user = r;
    for (unsigned i = 0; i < WG_LOADS; i++) {
        wg_held *x = &f->x[run->load[i].rd & 31];
        if (run->load[i].used && run->load[i].done == WG_NEVER && run->load[i].rd && run->load[i].rd < 32)
            x->known = wg_poll_value(t, core, run->load[i].address, run->load[i].size, &x->value);
    }
    if (run->ex1.kind == WG_EX1_LOAD && run->ex1.rd && run->ex1.rd < 32) {
        wg_held *x = &f->x[run->ex1.rd];
        x->known = wg_poll_value(t, core, run->ex1.address, run->ex1.size, &x->value);
    }
    for (unsigned n = 0; n < MOST; n++)
        if (!wg_follow_step(f))
            return false;
    return true;
}

/* One round, until the state in which it begins. *decided: the words that its branches depend on. */
static bool go_round(wg_follow *f, round_of *r, uint32_t *decided)
{
    const wg_follow from = *f;
    *decided = 0;
    for (unsigned n = 0; n < MOST; n++) {
        if (r->places < PLACES && !was_here(r, f->pc))
            r->place[r->places++] = f->pc;
        if (!wg_follow_step(f) || r->places == PLACES)
            return false;
        if (f->branch_pc)
            *decided |= f->decided;
        if (same_state(f, &from))
            return true;
    }
    return false;
}

/* Does the core go elsewhere if the word has this value? */
static bool leaves(const wg_follow *from, round_of *r, unsigned word, uint32_t value)
{
    wg_follow f = *from;
    bool left = false;
    r->changed = (int)word;
    r->value = value;
    for (unsigned n = 0; n < MOST && !left && wg_follow_step(&f); n++)
        left = !was_here(r, f.pc);
    r->changed = -1;
    return left;
}

static int by_address(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b; /* the first member */
    return x < y ? -1 : x > y;
}

bool wg_poll_round_find(const wg_tile *t, unsigned core, wg_poll_round *out)
{
    round_of r = {.out = out, .changed = -1};
    wg_follow from;
    uint32_t decided;
    bool any = false;
    *out = (wg_poll_round){0};
    if (!begin(&from, t, core, &r))
        return false;
    r.counts = true;
    if (!go_round(&from, &r, &decided) ||
        !go_round(&from, &r, &decided)) /* behind the first, all is named that it holds */
        return false;
    r.counts = false;
    for (unsigned i = 0; i < r.loads; i++)
        for (unsigned k = 0; k < r.loads && decided >> i & 1; k++)
            out->word[i].missing |= decided >> k & 1 && out->word[k].value != out->word[i].value &&
                                    leaves(&from, &r, i, out->word[k].value);
    for (unsigned i = 0; i < r.loads; i++)
        any |= out->word[i].missing;
    for (unsigned i = 0; i < r.loads && !any; i++)
        out->word[i].missing = decided >> i & 1 && leaves(&from, &r, i, out->word[i].value + 1);
    for (unsigned i = 0; i < r.loads; i++)
        if (decided >> i & 1)
            out->word[out->words++] = out->word[i];
    qsort(out->word, out->words, sizeof *out->word, by_address);
    return out->words != 0;
}
