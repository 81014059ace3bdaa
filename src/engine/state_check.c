/* SPDX-License-Identifier: Apache-2.0 */
/* Validates a snapshot's state: the tables of fields, relations between fields, derived data. */
#include "engine/state_check.h"

#include <stdio.h>
#include <string.h>

#include "backend/scalar.h"
#include "machine/unit.h"
#include "noc/floorplan.h"
#include "riscv/decode.h"

static uint64_t load(const unsigned char *p, unsigned width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

static bool all_hold(const wg_state_table *table, wg_arch_id arch, const unsigned char *data, size_t count, char *what,
                     size_t room)
{
    for (; count--; data += table->bytes) {
        for (const wg_state_field *f = table->field; f < table->field + table->fields; f++) {
            const unsigned char *p = data + f->offset, *end = p + f->bytes;
            if (f->part) {
                if (!all_hold(f->part, arch, p, f->bytes / f->width, what, room))
                    return false;
                continue;
            }
            if (f->max == UINT64_MAX)
                continue;
            for (; p < end; p += f->width) {
                uint64_t v = load(p, f->width);
                if (__builtin_expect(v > f->max && v != f->also, 0)) {
                    (void)snprintf(what, room, "%s.%s is %llu", table->name, f->name, (unsigned long long)v);
                    return false;
                }
            }
        }
        if (table->holds && !table->holds(arch, data)) {
            (void)snprintf(what, room, "the fields of a %s contradict each other", table->name);
            return false;
        }
    }
    return true;
}

bool wg_state_fields_hold(const wg_state_table *table, wg_arch_id arch, const void *data, char *what, size_t room)
{
    return all_hold(table, arch, data, 1, what, room);
}

/* ---- Relations ---- */

static bool contradiction(char *what, size_t room, const char *text)
{
    (void)snprintf(what, room, "%s", text);
    return false;
}

static bool route_holds(const wg_tile *t, unsigned core, uint32_t address, bool is_write, unsigned path, unsigned index)
{
    wg_route r = wg_address_route(t->spec, core, address, is_write);
    return r.path == path && (r.index == index || path <= WG_PATH_OWN_RAM); /* there is only one L1 and one own RAM */
}

static bool icache_holds(const wg_core *k)
{
    for (unsigned i = 0; i < WG_ICACHE_LINES; i++)
        if (k->icache[i].tag & 12 || k->icache[i].next % sizeof k->icache[0] || k->icache[i].next >= sizeof k->icache)
            return false;
    return true;
}

static bool run_holds(const wg_tile *t, unsigned core)
{
    const wg_core_run *r = &t->core[core].run;
    unsigned loads = 0;
    for (unsigned i = 0; i < WG_LOADS; i++) {
        const wg_load *l = &r->load[i];
        loads += l->used;
        if (l->used && !route_holds(t, core, l->address, false, l->path, l->index))
            return false;
    }
    for (unsigned i = 0; i < r->sq_count; i++) {
        const wg_store *s = &r->sq[(r->sq_head + i) % WG_STORE_QUEUE];
        if (!s->bytes || !route_holds(t, core, s->address, true, s->path, s->index))
            return false;
    }
    const wg_ex1 *e = &r->ex1;
    if (e->kind != WG_EX1_NONE && e->kind != WG_EX1_FENCE &&
        !route_holds(t, core, e->address, e->kind == WG_EX1_STORE, e->path, e->index))
        return false;
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (r->fetch[i].used && (r->fetch[i].line % 16 || r->fetch[i].line >= t->spec->l1_bytes))
            return false;
    return loads == r->loads && !r->r[0] && r->number >= WG_RETIRE_QUEUE && !(r->hindered >> 24);
}

static bool memory_holds(const wg_tile *t, unsigned core)
{
    const wg_memory *m = &t->regions.memory;
    for (unsigned i = 0; i < WG_REQUEST_QUEUES; i++) {
        const wg_request_queue *queue = &m->queue[core][i];
        if ((m->active[core] >> i & 1) != (queue->count != 0))
            return false;
        for (unsigned k = 0; k < queue->count; k++) {
            const wg_request *q = &queue->ring[(queue->head + k) % WG_QUEUE_DEPTH];
            if (q->core != core || wg_queue_of(q->path, q->index) != i || !q->bytes ||
                !route_holds(t, core, q->address, q->kind == WG_REQ_WRITE, q->path, q->index))
                return false;
        }
    }
    return !(m->active[core] >> WG_REQUEST_QUEUES);
}

/* Every place of the pool that a FIFO names is in use, and named once; entries agree with their instructions. */
static bool frontend_holds(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    const unsigned behind = (uint8_t)(f->down_end - f->down_head);
    if (f->fifo_count > t->arch->fifo_depth[thread] || wg_gate_count(f) > WG_GATE_FIFO ||
        wg_replay_count(f) > WG_REPLAY_FIFO || behind > WG_DOWN_RING || f->mux_busy >> 11)
        return false;
    for (unsigned unit = 0; unit < WG_UNIT_COUNT; unit++)
        if ((f->holders >> unit & 1) && (!wg_units[unit] || !wg_units[unit]->holds))
            return false;
    uint64_t taken = 0;
    for (unsigned i = 0; i < f->fifo_count + behind; i++) {
        unsigned e = i < f->fifo_count ? f->fifo[(f->fifo_head + i) % WG_FIFO_RING]
                                       : f->down[(f->down_head + i - f->fifo_count) % WG_DOWN_RING];
        const wg_insn *insn = &f->pool[e & WG_E_PLACE];
        uint64_t bit = UINT64_C(1) << (e & WG_E_PLACE);
        enum { OF_KIND = WG_E_MOP | WG_E_REPLAY | WG_E_PASSES };
        if (taken & bit || insn->thread != thread ||
            (e & OF_KIND) != (wg_insn_kinds[t->arch->id][insn->word >> 24].marks & OF_KIND))
            return false;
        taken |= bit;
    }
    return f->free == ~taken;
}

static bool pack_holds(const wg_pack *p)
{
    unsigned used = 0;
    for (unsigned i = 0; i < p->count; i++) {
        if (used >> p->order[i] & 1)
            return false;
        used |= 1u << p->order[i];
    }
    return used == p->used;
}

static bool vector_holds(const wg_vector *v)
{
    unsigned scheduled = 0;
    for (unsigned u = 0; u < WG_MACRO_UNITS; u++)
        for (unsigned i = 0; i < WG_MACRO_SLOTS; i++)
            scheduled += (unsigned)__builtin_popcount(v->slot[u][i].present);
    return scheduled == v->scheduled && v->waiting <= v->scheduled;
}

/* One more link to this entry; 0 is none. */
static bool link_holds(uint32_t entry, uint32_t used, uint64_t *seen)
{
    if (!entry)
        return true;
    uint64_t bit = UINT64_C(1) << entry % 64;
    if (entry > used || seen[entry / 64] & bit)
        return false;
    seen[entry / 64] |= bit;
    return true;
}

bool wg_packets_hold(const wg_packet *pool, uint32_t used, const uint32_t *root, unsigned roots, uint64_t *seen)
{
    memset(seen, 0, (used / 64 + 1) * sizeof *seen);
    for (unsigned i = 0; i < roots; i++)
        if (!link_holds(root[i], used, seen))
            return false;
    for (uint32_t e = 1; e <= used; e++)
        if (!link_holds(pool[e].child, used, seen) || !link_holds(pool[e].next, used, seen))
            return false;
    return true;
}

static bool packet_holds(const wg_packet *p, const wg_floorplan *plan, unsigned tiles)
{
    return p->from < tiles && p->to < tiles && p->back < tiles && p->payload + p->bytes <= WG_NOC_RING &&
           (!(p->flags & WG_PACKET_BROADCAST) ||
            (p->x0 < plan->width && p->x1 < plan->width && p->y0 < plan->height && p->y1 < plan->height));
}

bool wg_state_packets_hold(const wg_packet *pool, uint32_t count, wg_arch_id arch, unsigned tiles)
{
    const wg_floorplan *plan = wg_floorplan_of(arch);
    for (uint32_t i = 0; i < count; i++)
        if (!packet_holds(&pool[i], plan, tiles))
            return false;
    return true;
}

bool wg_state_box_holds(const wg_noc_box *box, wg_arch_id arch, unsigned tiles, char *what, size_t room)
{
    uint64_t seen[WG_NOC_POOL / 64 + 1];
    if (!wg_state_fields_hold(&wg_state_noc_box, arch, box, what, room))
        return false;
    const uint32_t root[5] = {box->unused, box->inbox[0], box->inbox[1], box->answers[0], box->answers[1]};
    if (!wg_packets_hold(box->pool, box->used, root, 5, seen))
        return contradiction(what, room, "the lists of packets are broken");
    for (unsigned noc = 0; noc < 2; noc++) {
        uint32_t last = box->answers[noc];
        while (last && box->pool[last].next)
            last = box->pool[last].next;
        if (last && box->last_answer[noc] != last)
            return contradiction(what, room, "the queue of answers is broken");
        const wg_noc_ring *r = &box->ring[noc];
        if (r->first > r->end || r->first_slot > r->end_slot || r->end_slot - r->first_slot > WG_NOC_SLOTS)
            return contradiction(what, room, "a ring of packets' data is broken");
    }
    if (!wg_state_packets_hold(box->pool + 1, box->used, arch, tiles) ||
        !wg_state_packets_hold(box->out, box->outgoing, arch, tiles))
        return contradiction(what, room, "a packet is of no tile");
    return true;
}

static bool relations_hold(const wg_tile *t, char *what, size_t room)
{
    static const char *const text[] = {"the instruction cache is broken", "a core's queues are broken",
                                       "the queues of requests are broken"};
    const wg_schedule *s = &t->sched;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (s->next[i] < s->now)
            return contradiction(what, room, "a wake-up is in the past");
    for (unsigned core = 0; core < WG_CORES; core++) {
        unsigned bad = !icache_holds(&t->core[core]) ? 1 : !run_holds(t, core) ? 2 : !memory_holds(t, core) ? 3 : 0;
        if (bad)
            return contradiction(what, room, text[bad - 1]);
        if (core >= t->spec->cores && t->core[core].run.halt != WG_IN_RESET)
            return contradiction(what, room, "a core runs that the tile does not have");
    }
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        if (!frontend_holds(t, thread))
            return contradiction(what, room, "a thread's FIFOs are broken");
    const wg_scalar *scalar = &t->backend.scalar;
    if (scalar->executing && !wg_scalar_implements((wg_insn_id)scalar->insn.op, t->arch->id))
        return contradiction(what, room, "the Scalar Unit executes what it cannot");
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        if (((t->backend.misc.pending >> thread & 1) && t->backend.misc.insn[thread].unit != WG_UNIT_MISC) ||
            ((t->backend.config.setc16_pending >> thread & 1) &&
             t->backend.config.setc16[thread].unit != WG_UNIT_CONFIG))
            return contradiction(what, room, "an instruction is in another unit than its own");
    const wg_matrix *m = &t->backend.matrix;
    if (m->tail - m->head > WG_MATRIX_FLIGHTS)
        return contradiction(what, room, "the Matrix Unit's queue is broken");
    if (!pack_holds(&t->backend.pack))
        return contradiction(what, room, "the packers' queue is broken");
    if (!vector_holds(&t->backend.vector))
        return contradiction(what, room, "the Vector Unit's schedule is broken");
    for (unsigned from = 0; from < WG_MAILBOX_CORES; from++)
        for (unsigned to = 0; to < WG_MAILBOX_CORES; to++)
            if (t->regions.mailbox.fifo[from][to].count > WG_MAILBOX_DEPTH)
                return contradiction(what, room, "a mailbox holds too much");
    return true;
}

bool wg_state_holds(const wg_tile *t, char *what, size_t room)
{
    return wg_state_fields_hold(&wg_state_tile, t->arch->id, t, what, room) && relations_hold(t, what, room);
}

/* ---- Derived data ---- */

void wg_state_derive(wg_tile *t)
{
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_core *k = &t->core[core];
        for (unsigned i = 0; i < WG_ICACHE_LINES; i++) {
            wg_icache_line *l = &k->icache[i], old = *l;
            if (!l->tag)
                continue;
            uint32_t word[WG_LINE_OPS];
            for (unsigned n = 0; n < WG_LINE_OPS; n++)
                word[n] = l->op[n].word;
            wg_decode_line(t, core, l->tag & ~UINT32_C(15), word, l);
            l->tag = old.tag;
            l->checked = old.checked;
        }
        /* Nobody is ahead of the clock in a snapshot. */
        k->saved_at = WG_NEVER;
        k->undo_count = 0;
        k->l1_ahead = false;
    }
    wg_backend *b = &t->backend;
    memset(b->matrix.settings, 0, sizeof b->matrix.settings);
    memset(b->matrix.cache.a_valid, 0, sizeof b->matrix.cache.a_valid);
    memset(b->matrix.cache.b_valid, 0, sizeof b->matrix.cache.b_valid);
    memset(b->vector.places, 0, sizeof b->vector.places);
    memset(b->unpack.form, 0, sizeof b->unpack.form);
    memset(b->pack.form, 0, sizeof b->pack.form);
    memset(b->pack.setup, 0, sizeof b->pack.setup);
    for (unsigned i = 0; i < WG_PACK_IN_FLIGHT; i++)
        b->pack.job[i].serial = 0;
    for (unsigned i = 0; i < 2 * WG_UNPACK_QUEUE; i++)
        b->unpack.job[i / WG_UNPACK_QUEUE][i % WG_UNPACK_QUEUE].serial = 0;
}
