/* SPDX-License-Identifier: Apache-2.0 */
/* Stored clocks: a pool of copies, one per change, and references into it. */
#include "explain/race_state.h"

/* Sanitizers are not initialised yet when the loader resolves the ifunc, and clang 14 mangles the clones' names. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define ONE_FORM
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(ONE_FORM)
__attribute__((target_clones("avx2", "default"))) /* AVX2 has a vector maximum of unsigned words */
#endif
bool wg_clock_join(wg_clock *to, const wg_clock *from)
{
    uint32_t news = 0;
    for (unsigned i = 0; i < WG_CLOCK; i++) {
        uint32_t v = to->v[i] > from->v[i] ? to->v[i] : from->v[i];
        news |= v ^ to->v[i];
        to->v[i] = v;
    }
    return news != 0;
}

uint32_t wg_race_snap(wg_races *r, const wg_clock *c)
{
    uint32_t id = ++r->next_snap;
    if (!id)
        id = ++r->next_snap;
    wg_snap *s = &r->snap[id % WG_SNAPS];
    s->id = id;
    s->clock = *c;
    return id;
}

const wg_clock *wg_race_clock(wg_races *r, uint32_t snap)
{
    static const wg_clock empty;
    const wg_snap *s = &r->snap[snap % WG_SNAPS];
    if (!snap)
        return &empty;
    if (s->id == snap)
        return &s->clock;
    /* A dropped clock counts as empty: its contents have long been known to all. */
    r->forgotten++;
    return &r->snap[(r->next_snap + 1) % WG_SNAPS].clock;
}

/* Will the clock stay in the pool for a while? A clock that stays current for long is copied again. */
static bool kept(const wg_races *r, uint32_t snap) { return snap && r->next_snap - snap < WG_SNAPS / 2; }

bool wg_race_join(wg_races *r, wg_clock *to, const wg_ref *ref)
{
    /* Knowing the author's own numbers implies knowing all that the author knew. */
    bool news = ref->v1 && wg_clock_see(to, ref->k1, ref->v1);
    news |= ref->v2 && wg_clock_see(to, ref->k2, ref->v2);
    return (news && ref->snap && wg_clock_join(to, wg_race_clock(r, ref->snap))) || news;
}

uint32_t wg_race_thread_snap(wg_races *r, unsigned thread)
{
    wg_race_thread *t = &r->thread[thread];
    if (!kept(r, t->snap))
        t->snap = wg_race_snap(r, &t->clock);
    return t->snap;
}

uint32_t wg_race_core_snap(wg_races *r, unsigned core)
{
    wg_race_core *c = &r->core[core];
    if (!kept(r, c->snap))
        c->snap = wg_race_snap(r, &c->p);
    return c->snap;
}

void wg_race_all_done(wg_races *r, wg_clock *to, unsigned thread)
{
    const wg_race_thread *t = &r->thread[thread];
    wg_clock_join(to, &t->clock);
    wg_clock_see(to, WG_K_I + thread, t->seq);
    wg_clock_see(to, WG_K_X + thread, t->expander);
    for (unsigned unit = 0; unit < WG_RACE_UNITS; unit++)
        if (unit != WG_RU_MOVER) /* XMOV is complete once the Mover has its command */
            wg_clock_see(to, wg_k_d(unit, thread), t->seq);
}

uint32_t wg_race_host_snap(wg_races *r)
{
    wg_clock all = {0};
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        wg_race_all_done(r, &all, thread);
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_clock_join(&all, &r->core[core].p);
        wg_clock_see(&all, WG_K_P + core, r->core[core].count);
        for (unsigned queue = 0; queue < WG_RACE_QUEUES; queue++)
            wg_clock_see(&all, wg_k_m(core, queue), r->core[core].queue[queue].processed);
    }
    for (unsigned k = WG_K_NOC; k < WG_K_TDMA; k++)
        wg_clock_see(&all, k, r->noc_count[k - WG_K_NOC]);
    wg_clock_see(&all, WG_K_TDMA, r->tdma);
    return wg_race_snap(r, &all);
}
