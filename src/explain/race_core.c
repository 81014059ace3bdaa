/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cores' side of the clocks: the clock of a request when it left, and of a load when its value is used.
 *
 *     emitted ──(in order per queue)──> processed: M(core, queue) + 1 ──load──> used: P(core) learns M and its clock
 *
 * A load that spins (its loop stores nothing and ends when the value is right) acquires the clock of the value's writer; so
 * do atomics, mailboxes, PC buffers, manual TTSync and reads of semaphores that spin.
 *
 * Facts: MemoryOrdering.md, ManualTTSync.md, Mailboxes.md, PCBufs.md, SyncUnit.md.
 */
#include "explain/race_state.h"

#include <stdio.h>

#include "isa/config_fields.h"
#include "machine/memory.h"

enum { TTSYNC_DONE = 4, TTSYNC_MOP = 8, SEMAPHORES = 0x20 };

/* ---- Flags ---------------------------------------------------------------------------------------------------- */

bool wg_races_declare_flag(wg_races *r, uint32_t address, uint32_t bytes)
{
    if (r->flags == WG_FLAGS || !bytes)
        return false;
    r->flag[r->flags].first = address;
    r->flag[r->flags++].last = address + bytes - 1;
    return true;
}

bool wg_race_declared(const wg_races *r, uint32_t address)
{
    for (unsigned i = 0; i < r->flags; i++)
        if (address >= r->flag[i].first && address <= r->flag[i].last)
            return true;
    return false;
}

/* ---- Requests ------------------------------------------------------------------------------------------------- */

static unsigned path_of(const wg_event *e) { return e->word & 0xFF; }
static unsigned index_of(const wg_event *e) { return e->word >> 8 & 0xFF; }
static unsigned rd_of(const wg_event *e) { return e->word >> 24; }
static bool is_fetch(const wg_event *e) { return rd_of(e) == 0xFF; }
static wg_race_queue *queue_of(wg_races *r, unsigned core, const wg_event *e, unsigned *queue)
{
    *queue = wg_queue_of(path_of(e), index_of(e)) % WG_RACE_QUEUES;
    return &r->core[core].queue[*queue];
}

static uint32_t core_party(wg_races *r, unsigned core, uint32_t pc, bool write, uint64_t cycle)
{
    return wg_race_party_of(r, &(wg_race_party){.agent = (uint8_t)core,
                                                .thread = WG_THREADS,
                                                .core = (uint8_t)core,
                                                .write = write,
                                                .pc = pc,
                                                .cycle = cycle});
}

/*
 * A load may overtake an older store in the store queue, unless the store has the same address, or a fence (BH) or
 * three more stores lie between them (MemoryOrdering.md). Applies this to the last command store.
 */
static bool may_be_early(wg_races *r, wg_race_core *c, const wg_event *e)
{
    enum { QUEUE = 4 };
    unsigned path = path_of(e);
    if (e->c == WG_REQ_WRITE)
        c->stores++;
    if (path != WG_PATH_NIU0 && path != WG_PATH_NIU1 && path != WG_PATH_TDMA)
        return false;
    unsigned at = wg_race_command_at(path);
    if (e->c == WG_REQ_WRITE && wg_race_is_command(r, path, (uint32_t)e->a)) {
        c->command[at].address = (uint32_t)e->a;
        c->command[at].stores = c->stores;
        c->command[at].open = true;
        c->command[at].looked = false;
    } else if (e->c == WG_REQ_READ &&
               (c->command[at].address == (uint32_t)e->a || c->stores - c->command[at].stores >= QUEUE - 1)) {
        c->command[at].open = false;
    }
    return c->command[at].open;
}

/*
 * The number of requests of the thread's core to this queue that were certainly emitted before a push: those earlier
 * in program order or, if B pushes, those that B knows of.
 */
static uint32_t emitted_before(wg_races *r, unsigned pusher, unsigned thread, unsigned queue)
{
    const wg_race_core *c = &r->core[pusher];
    const wg_race_queue *l = &r->core[WG_CORE_T0 + thread].queue[queue];
    bool own = pusher == (unsigned)WG_CORE_T0 + thread;
    uint32_t known = c->p.v[WG_K_P + WG_CORE_T0 + thread], n = l->emitted;
    for (unsigned back = 0; n && back < WG_EMISSIONS; back++, n--) {
        uint32_t at = n % WG_EMISSIONS;
        if (own ? l->emission[at].pushes < c->pushes : l->emission[at].p <= known)
            return n;
    }
    r->forgotten += n != 0;
    return n;
}

static void emitted(wg_races *r, unsigned core, const wg_event *e)
{
    wg_race_core *c = &r->core[core];
    unsigned queue;
    wg_race_queue *l = queue_of(r, core, e, &queue);
    unsigned offset = e->a & 0xFFFF;
    bool load = e->c == WG_REQ_READ, ours = core >= WG_CORE_T0;
    bool window = ours && (path_of(e) == WG_PATH_SYNC || path_of(e) == WG_PATH_MAILBOX_READ);
    if (load && window && c->ttsync_pc && !is_fetch(e)) {
        char place[160];
        snprintf(place, sizeof place, "the load of 0x%08llx", (unsigned long long)e->a);
        wg_race_rule(
            r, WG_RACE_TTSYNC_OVERLAP, core_party(r, core, c->ttsync_pc, false, e->cycle),
            core_party(r, core, e->pc, false, e->cycle), e->cycle, place,
            "The load of manual TTSync may still be waiting: nothing has used its result, and fewer than seven "
            "instructions lie in between.",
            "Use the result of the TTSync load first: andi t1, t1, 0 after it.");
    }
    if (load && ours && path_of(e) == WG_PATH_SYNC && (offset == TTSYNC_DONE || offset == TTSYNC_MOP)) {
        c->ttsync_pc = e->pc;
        c->ttsync_rd = (uint8_t)(rd_of(e) & 63);
    }
    if (path_of(e) == WG_PATH_PUSH)
        c->pushes++;
    bool early = may_be_early(r, c, e);
    c->count += !is_fetch(e);
    uint32_t pushes = c->pushes + (uint32_t)e->parent;
    l->emitted++;
    l->emission[l->emitted % WG_EMISSIONS].p = c->count;
    l->emission[l->emitted % WG_EMISSIONS].pushes = pushes;
    if (l->count == sizeof l->ring / sizeof l->ring[0]) {
        r->forgotten++;
        return;
    }
    wg_race_request *q = &l->ring[(l->head + l->count++) % 16];
    *q = (wg_race_request){.snap = wg_race_core_snap(r, core),
                           .p = c->count,
                           .fences = c->fenced_pushes,
                           .mop = c->queue[WG_PATH_MOP_CFG].emitted,
                           .pushes = pushes,
                           .address = (uint32_t)e->a,
                           .pc = e->pc,
                           .early = early};
    unsigned thread = ours ? core - WG_CORE_T0 : index_of(e) % WG_THREADS;
    for (unsigned k = 0; path_of(e) == WG_PATH_PUSH && k < WG_WAITED_QUEUES; k++)
        q->before[k] = emitted_before(r, core, thread, wg_race_waited_queue[k]);
}

static wg_ref request_ref(unsigned core, const wg_race_request *q, unsigned queue, uint32_t n)
{
    return (wg_ref){q->snap, (uint16_t)(WG_K_P + core), (uint16_t)wg_k_m(core, queue), q->p, n};
}

static void fifo_put(wg_races *r, wg_ref_fifo *f, wg_ref ref, uint32_t party)
{
    f->party = party;
    if (f->count == WG_FIFO_LOG) {
        f->head++;
        f->count--;
        r->forgotten++;
    }
    f->ref[(f->head + f->count++) % WG_FIFO_LOG] = ref;
}

static bool fifo_take(wg_ref_fifo *f, wg_ref *ref)
{
    if (!f->count)
        return false;
    *ref = f->ref[f->head++ % WG_FIFO_LOG];
    f->count--;
    return true;
}

/* Does the clock imply that this post or get has been performed? Being pushed or emitted is not enough. */
static bool was_done(const wg_clock *known, const wg_ref *ref)
{
    return ref->k1 < WG_K_X ? known->v[ref->k1] >= ref->v1 : known->v[ref->k2] >= ref->v2;
}
static uint32_t known_of(const wg_clock *known, const wg_ref *log, uint32_t count)
{
    uint32_t n = count > WG_SEM_LOG ? count - WG_SEM_LOG : 0; /* operations that have left the log are old */
    for (uint32_t i = n; i < count; i++)
        n += was_done(known, &log[i % WG_SEM_LOG]);
    return n;
}
static void join_first(wg_races *r, wg_clock *to, const wg_ref *log, uint32_t count, uint32_t first)
{
    for (uint32_t i = count > WG_SEM_LOG ? count - WG_SEM_LOG : 0; i < count && i < first; i++)
        wg_race_join(r, to, &log[i % WG_SEM_LOG]);
}

/* A semaphore's value is posts minus gets. From the gets that it knows, the core learns a lower bound of the posts; and of gets likewise. */
static void semaphore_read(wg_races *r, unsigned core, const wg_race_semaphore *s, uint32_t value, wg_clock *to)
{
    const wg_race_core *c = &r->core[core];
    wg_clock known = *wg_race_clock(r, c->now.snap);
    wg_clock_see(&known, wg_k_m(core, c->now_queue), c->now_value); /* the window is one region, in order */
    uint32_t posts = known_of(&known, s->post, s->posts), gets = known_of(&known, s->get, s->gets);
    join_first(r, to, s->post, s->posts, gets + value);
    join_first(r, to, s->get, s->gets, posts > value ? posts - value : 0);
}

void wg_race_pages(wg_races *r, uint32_t address, const wg_ref *ref)
{
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(r->arch, address, &cb, &popped))
        r->pages[cb][popped] = *ref;
}

/* Puts the knowledge from the load's value, apart from its queue's number, into *to and *far. False: none. */
static bool brings(wg_races *r, unsigned core, const wg_event *e, wg_clock *to, wg_far **far)
{
    unsigned offset = e->a & 0xFFFF, thread = index_of(e) % WG_THREADS;
    wg_ref ref;
    switch (path_of(e)) {
    case WG_PATH_L1:
        if (!wg_race_spins(r, core, e->pc, (uint32_t)e->a) && e->c != WG_REQ_ATOMIC &&
            !wg_race_declared(r, (uint32_t)e->a))
            return false;
        wg_race_acquire_l1(r, to, far, (uint32_t)e->a, e->word >> 16 & 0xFF);
        return true;
    case WG_PATH_MAILBOX_READ: {
        unsigned peer = index_of(e) ? WG_CORE_T0 + index_of(e) - 1u : WG_CORE_B;
        if (offset & 4 || !fifo_take(&r->mailbox[peer % WG_CORES][core], &ref))
            return false;
        wg_race_join(r, to, &ref);
        return true;
    }
    case WG_PATH_SYNC:
        if (core == WG_CORE_B) {
            wg_race_all_done(r, to, thread);
            wg_clock_join(to, &r->core[WG_CORE_T0 + thread].p);
            wg_clock_see(to, WG_K_P + WG_CORE_T0 + thread, r->core[WG_CORE_T0 + thread].count);
            return true;
        }
        if (offset < TTSYNC_DONE) {
            if (!fifo_take(&r->pcbuf[thread], &ref))
                return false;
            wg_race_join(r, to, &ref);
            return true;
        }
        if (offset == TTSYNC_DONE) {
            wg_race_all_done(r, to, core - WG_CORE_T0);
            return true;
        }
        if (offset == TTSYNC_MOP) {
            wg_clock_see(to, WG_K_X + core - WG_CORE_T0, r->thread[core - WG_CORE_T0].expander);
            return true;
        }
        if (offset >= SEMAPHORES && wg_race_spins(r, core, e->pc, (uint32_t)e->a)) {
            semaphore_read(r, core, &r->semaphore[(offset - SEMAPHORES) / 4 % 8], (uint32_t)e->b, to);
            return true;
        }
        return false;
    case WG_PATH_OVERLAY: { /* pages pushed or popped */
        unsigned cb;
        bool popped;
        if (!wg_race_spins(r, core, e->pc, (uint32_t)e->a))
            return false;
        if (wg_pages_is_count(r->arch, (uint32_t)e->a, &cb, &popped))
            wg_race_join(r, to, &r->pages[cb][popped]);
        wg_far_add(r, far, r->registers);
        return true;
    }
    case WG_PATH_NIU0:
    case WG_PATH_NIU1:
    case WG_PATH_TDMA:
        if (!wg_race_spins(r, core, e->pc, (uint32_t)e->a))
            return false;
        if (!wg_race_polled(r, e, r->core[core].now.early, to, far)) {
            r->core[core].command[wg_race_command_at(path_of(e))].looked |= r->core[core].now.early;
            return false;
        }
        return true;
    default: return false;
    }
}

static void processed(wg_races *r, unsigned core, const wg_event *e)
{
    wg_race_core *c = &r->core[core];
    unsigned queue;
    wg_race_queue *l = queue_of(r, core, e, &queue);
    uint32_t n = ++l->processed;
    wg_race_request q = {.pc = e->pc, .address = (uint32_t)e->a};
    if (l->count) {
        q = l->ring[l->head++ % 16];
        l->count--;
    }
    c->has_tracked = c->fresh_tracked;
    c->fresh_tracked = false;
    c->now = q;
    c->now_queue = queue;
    c->now_value = n;
    if (is_fetch(e))
        return;
    if (e->c == WG_REQ_WRITE) {
        wg_ref ref = request_ref(core, &q, queue, n);
        if (path_of(e) == WG_PATH_NIU0 || path_of(e) == WG_PATH_NIU1 || path_of(e) == WG_PATH_TDMA)
            wg_race_command(r, core, e, &ref);
        else if (path_of(e) == WG_PATH_OVERLAY)
            wg_race_pages(r, (uint32_t)e->a, &ref);
        else if (path_of(e) == WG_PATH_MAILBOX_WRITE)
            fifo_put(r, &r->mailbox[core][(index_of(e) ? WG_CORE_T0 + index_of(e) - 1u : WG_CORE_B) % WG_CORES], ref,
                     core_party(r, core, q.pc, true, e->cycle));
        else if (path_of(e) == WG_PATH_SYNC && core == WG_CORE_B)
            fifo_put(r, &r->pcbuf[index_of(e) % WG_THREADS], ref, core_party(r, core, q.pc, true, e->cycle));
        else if (path_of(e) == WG_PATH_SYNC) {
            c->sync = q;
            c->sync_value = n;
        }
        return;
    }
    unsigned rd = rd_of(e);
    if (rd >= 64 || !rd)
        return;
    wg_clock got = {0};
    wg_far_drop(&c->pend_far[rd]);
    bool has = brings(r, core, e, &got, &c->pend_far[rd]);
    if (wg_far_of(c->pend_far[rd], r->index)) /* of this tile, by way of another */
        wg_clock_join(&got, wg_far_of(c->pend_far[rd], r->index));
    if (c->has_tracked) { /* Auto TTSync held it until those had passed */
        wg_clock_join(&got, &c->tracked);
        has = true;
    }
    uint64_t bit = UINT64_C(1) << rd;
    c->waiting |= bit;
    c->pend_k[rd] = (uint16_t)wg_k_m(core, queue);
    c->pend_v[rd] = n;
    c->has_clock &= ~bit;
    if (has) {
        c->has_clock |= bit;
        c->pend[rd] = got;
    }
}

static void used(wg_races *r, unsigned core, unsigned rd)
{
    wg_race_core *c = &r->core[core];
    uint64_t bit = UINT64_C(1) << (rd & 63);
    if (c->ttsync_pc && c->ttsync_rd == rd)
        c->ttsync_pc = 0;
    if (!(c->waiting & bit))
        return;
    c->waiting &= ~bit;
    bool news = wg_clock_see(&c->p, c->pend_k[rd & 63], c->pend_v[rd & 63]);
    if (c->has_clock & bit)
        news |= wg_clock_join(&c->p, &c->pend[rd & 63]);
    if (news)
        c->snap = 0;
    wg_race_far_learn(r, core, c->pend_far[rd & 63]);
    wg_far_drop(&c->pend_far[rd & 63]);
}

/*
 * Where a core starts may be in configuration, which it reads as it leaves reset. The store that lets it go is to another region: it
 * may be processed before stores to configuration of which B does not know that they have been.
 */
static void reads_start(wg_races *r, unsigned core, const wg_event *e)
{
    const wg_start *s = &r->arch->tensix.core[core].start;
    const uint16_t fields[2] = {s->enable, s->pc};
    for (unsigned i = 0; s->from == WG_START_CONFIG && i < 2; i++) {
        const wg_cfg_field *f = &wg_cfg_fields[r->arch_id][fields[i]];
        const wg_granule *g = &r->shadow[WG_TOUCH_CONFIG].granule[f->word];
        const uint32_t mask = i ? f->mask << f->shift : UINT32_C(1) << (f->shift + s->bit);
        for (unsigned k = 0; k < g->cells; k++) {
            const wg_cell *c = &g->cell[k];
            char place[96], why[240];
            if (!(c->how & WG_TOUCH_WRITE) || !(c->mask & ~c->kept & mask) || c->thread != (0x80 | WG_CORE_B) ||
                r->core[WG_CORE_B].p.v[c->k] >= c->value)
                continue;
            snprintf(place, sizeof place, "%s of bank 0", wg_cfg_names[fields[i]]);
            snprintf(
                why, sizeof why,
                "Core %s reads it as it leaves reset. Core B's store that lets it go is to another region, and may be "
                "processed before the store to configuration.",
                wg_agent_name(core));
            wg_race_rule(r, WG_RACE_CONFIG, c->party, core_party(r, core, e->pc, false, e->cycle), e->cycle, place, why,
                         "Load the word back and use its value before the store to RISCV_DEBUG_REG_SOFT_RESET_0.");
            return;
        }
    }
}

/* A core starts. It knows what B knows, which released it or was running before. Its streams continue. */
static void state(wg_races *r, unsigned core, const wg_event *e)
{
    wg_race_core *c = &r->core[core];
    wg_race_init_started(r, core);
    if (e->a == 1) {
        if (core != WG_CORE_B && r->core[WG_CORE_B].released) {
            if (!c->released)
                reads_start(r, core, e);
            wg_clock_join(&c->p, &r->core[WG_CORE_B].p);
            wg_clock_see(&c->p, WG_K_P + WG_CORE_B, r->core[WG_CORE_B].count);
            for (unsigned queue = 0; queue < WG_RACE_QUEUES;
                 queue++) /* the release follows all of B's earlier stores */
                wg_clock_see(&c->p, wg_k_m(WG_CORE_B, queue), r->core[WG_CORE_B].queue[queue].processed);
        }
        c->released = true;
        c->snap = 0;
    } else if (e->a == 0) {
        c->released = false;
        c->waiting = 0;
        c->ttsync_pc = 0;
        for (unsigned queue = 0; queue < WG_RACE_QUEUES; queue++) { /* requests in flight are lost */
            c->queue[queue].count = 0;
            c->queue[queue].emitted = c->queue[queue].processed;
        }
    }
}

void wg_race_core_event(wg_races *r, const wg_event *e)
{
    unsigned core = e->agent - WG_AGENT_CORE_B;
    wg_race_core *c = &r->core[core];
    switch (e->kind) {
    case WG_EV_CORE_REQUEST: emitted(r, core, e); break;
    case WG_EV_CORE_RESPONSE: processed(r, core, e); break;
    case WG_EV_CORE_CONSUMED: used(r, core, rd_of(e)); break;
    case WG_EV_CORE_FENCE:
        for (uint64_t left = c->waiting; left; left &= left - 1)
            used(r, core, (unsigned)__builtin_ctzll(left));
        c->ttsync_pc = 0;
        c->fenced_pushes = c->pushes;
        c->command[0].open = c->command[1].open = c->command[2].open = false;
        break;
    case WG_EV_CORE_STATE: state(r, core, e); break;
    default: break;
    }
}

/* ---- Touches -------------------------------------------------------------------------------------------------- */

void wg_race_core_touch(wg_races *r, const wg_event *e)
{
    unsigned core = e->agent - WG_AGENT_CORE_B, how = e->how;
    wg_race_core *c = &r->core[core];
    bool cached = how & WG_TOUCH_CACHED, posts = how & (WG_TOUCH_POST | WG_TOUCH_GET);
    const wg_race_request *q = posts ? &c->sync : &c->now;
    wg_clock known;
    wg_actor b = {.unit = WG_RACE_UNITS,
                  .thread = (uint8_t)(0x80 | core),
                  .kept = e->kept,
                  .mask = (uint32_t)e->c,
                  .cycle = e->cycle,
                  .party = core_party(r, core, posts ? q->pc : e->pc,
                                      how & (WG_TOUCH_WRITE | WG_TOUCH_POST | WG_TOUCH_GET), e->cycle)};
    if (cached) {
        b.k = (uint16_t)(WG_K_P + core);
        b.value = ++c->count;
        b.clock = &c->p;
        b.snap = wg_race_core_snap(r, core);
    } else {
        b.k = (uint16_t)wg_k_m(core, posts ? (unsigned)WG_PATH_SYNC : c->now_queue);
        b.value = posts ? c->sync_value : c->now_value;
        b.clock = wg_race_clock(r, q->snap);
        b.snap = q->snap;
    }
    b.own_k = WG_K_P + core;
    b.own_v = q->p;
    b.pushes = q->pushes;
    if (c->has_tracked && !posts) {
        known = *b.clock;
        wg_clock_join(&known, &c->tracked);
        b.clock = &known;
        b.snap = wg_race_snap(r, &known);
    }
    if (posts) {
        wg_ref ref = request_ref(core, q, WG_PATH_SYNC, b.value);
        wg_race_semaphores(r, &b, (uint32_t)e->c, how, &ref, core);
    }
    if (e->a == WG_TOUCH_L1)
        wg_race_memory(r, core, b.party, e);
    bool flag = e->a == WG_TOUCH_L1 && !(how & WG_TOUCH_WRITE) &&
                (wg_race_spins(r, core, e->pc, (uint32_t)e->b) || wg_race_declared(r, (uint32_t)e->b));
    if (e->a == WG_TOUCH_L1 && wg_race_declared(r, (uint32_t)e->b))
        how |= WG_TOUCH_ATOMIC;
    if (flag)
        return; /* the touch takes part in races; the value read is acquired */
    wg_race_touch(r, &b, (unsigned)e->a, (uint32_t)e->b, (uint32_t)e->c, how);
}
