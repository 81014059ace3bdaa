/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of the architectural state: everything that software, a host or the NoC can read of a tile, now or later. It excludes
 * instructions, requests and packets in flight (until they land), caches, times and the emulator's internal data. state.def
 * marks the hashed members (A_); test_state_hash.c lists the others, with reasons.
 *
 * Conditional members are hashed here by hand: the filled part of rings, from their head on, and members that are meaningful
 * only while another is set. So equal contents have equal hashes.
 */
#include <string.h>

#include "engine/state_check.h"
#include "machine/device.h"
#include "riscv/lsu.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}

/* Four independent chains, for the host's instruction-level parallelism. */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t v, lane[4] = {h, 1, 2, 3};
    for (; bytes >= 32; p += 32, bytes -= 32)
        for (unsigned i = 0; i < 4; i++) {
            memcpy(&v, p + 8 * i, 8);
            lane[i] = mix(lane[i], v);
        }
    for (unsigned i = 1; i < 4; i++)
        lane[0] = mix(lane[0], lane[i]);
    for (; bytes; p += bytes < 8 ? bytes : 8, bytes -= bytes < 8 ? bytes : 8) {
        v = 0;
        memcpy(&v, p, bytes < 8 ? bytes : 8);
        lane[0] = mix(lane[0], v);
    }
    return lane[0];
}

/* The architectural members of a structure. */
static uint64_t hash_state(uint64_t h, const wg_state_table *table, const void *data)
{
    for (const wg_state_field *f = table->field; f < table->field + table->fields; f++) {
        const unsigned char *p = (const unsigned char *)data + f->offset, *end = p + f->bytes;
        if (!f->hashed)
            continue;
        if (f->part) {
            for (; p < end; p += f->width)
                h = hash_state(h, f->part, p);
        } else if (f->bytes == 1) {
            h = mix(h, *p);
        } else if (f->bytes == 4) {
            uint32_t word;
            memcpy(&word, p, sizeof word);
            h = mix(h, word);
        } else {
            h = hash_bytes(h, p, f->bytes);
        }
    }
    return h;
}

static uint64_t hash_fifo(uint64_t h, const wg_fifo *f)
{
    h = mix(h, f->count);
    for (unsigned i = 0; i < f->count; i++)
        h = mix(h, f->word[(f->head + i) % WG_FIFO_WORDS]);
    return h;
}

static uint64_t hash_core(uint64_t h, wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    if (k->run.halt != WG_IN_RESET)
        wg_lsu_drain_private(t, core, t->sched.now);
    h = hash_bytes(h, k->run.r, sizeof *k->run.r * WG_REG_SINK);
    h = mix(h, k->run.number + k->run.pushes); /* minstret without its offset */
    return hash_state(h, &wg_state_core, k);
}

static uint64_t hash_frontend(uint64_t h, const wg_frontend *f)
{
    h = mix(h, wg_replay_count(f) | wg_gate_count(f) << 8 | (uint64_t)f->b_valid << 16 |
                   (uint64_t)f->debug_valid << 17 | (uint64_t)f->debug_control << 18);
    h = hash_state(h, &wg_state_frontend, f);
    for (unsigned i = 0; i < f->fifo_count; i++)
        h = mix(h, wg_fifo_at(f, i)->word);
    for (unsigned i = 0; i < wg_replay_count(f); i++)
        h = mix(h, wg_replay_fifo_at(f, i)->word);
    for (unsigned i = 0; i < wg_gate_count(f); i++)
        h = mix(h, wg_gate_fifo_at(f, i)->word);
    if (f->latch.kind)
        h = hash_state(h, &wg_state_latch, &f->latch);
    if (f->mop_active)
        h = hash_state(h, &wg_state_mop_state, &f->mop);
    h = mix(h, f->mop.mask_hi);
    if (f->b_valid)
        h = mix(h, f->from_b.word);
    if (f->debug_valid)
        h = mix(h, f->from_debug.word);
    h = hash_state(h, &wg_state_replay_state, &f->replay);
    if (f->replay.play_left)
        h = mix(h, 1u | (uint64_t)f->replay.play_left << 8 | (uint64_t)f->replay.play_at << 16);
    if (f->replay.record_left)
        h = mix(h, 2u | (uint64_t)f->replay.record_left << 8 | (uint64_t)f->replay.record_at << 16 |
                       (uint64_t)f->replay.execute << 24);
    return h;
}

static uint64_t hash_backend(uint64_t h, const wg_backend *b)
{
    const wg_tdma *d = &b->tdma;
    h = hash_state(h, &wg_state_backend, b);
    for (unsigned i = 0; i < WG_PACKERS; i++) {
        const wg_packer *p = &b->pack.packer[i];
        h = hash_state(h, &wg_state_packer, p);
        for (unsigned k = 0; k < WG_PACK_STREAMS; k++) /* bytes gathered for the next 16 will be part of L1 */
            if (p->placed >> k & 1) {
                h = hash_state(h, &wg_state_pack_stream, &p->stream[k]);
                h = hash_bytes(h, p->stream[k].bytes, p->stream[k].fill < 16 ? p->stream[k].fill : 16);
            }
    }
    for (unsigned i = 0; i < d->count; i++)
        h = hash_bytes(h, &d->queue[(d->head + i) % WG_TDMA_QUEUE], sizeof d->queue[0]);
    for (unsigned i = 0; i < 4; i++) {
        const wg_packer_sideband *p = &d->packer[i];
        h = hash_state(h, &wg_state_packer_sideband, p);
        for (unsigned j = 0; j < p->fifo_count; j++)
            h = mix(h, p->fifo[(p->fifo_head + j) % WG_METADATA_FIFO].tile_size |
                           (uint64_t)p->fifo[(p->fifo_head + j) % WG_METADATA_FIFO].all_zero_flags << 32);
    }
    return h;
}

static uint64_t hash_regs(uint64_t h, const wg_regs *r)
{
    h = hash_state(h, &wg_state_regs, r);
    for (unsigned i = 0; i < WG_LANE_COLUMNS; i++) {
        const wg_load_macro *m = &r->lreg.macro[i];
        h = hash_bytes(h, m->instruction, sizeof m->instruction);
        h = hash_bytes(h, m->sequence, sizeof m->sequence);
        h = mix(h, m->misc);
    }
    h = hash_bytes(h, r->exphist.bins, sizeof r->exphist.bins);
    for (unsigned i = 0; i < 4; i++)
        h = mix(h, wg_exphist_max(&r->exphist, i));
    return h;
}

static uint64_t hash_regions(uint64_t h, const wg_regions *r)
{
    const wg_timestamper *s = &r->control.timestamper;
    h = hash_state(h, &wg_state_regions, r);
    for (unsigned i = 0; i < WG_MAILBOX_CORES * WG_MAILBOX_CORES; i++)
        h = hash_fifo(h, &r->mailbox.fifo[i / WG_MAILBOX_CORES][i % WG_MAILBOX_CORES]);
    for (unsigned i = 0; i < WG_THREADS; i++)
        h = hash_fifo(h, &r->pcbuf.fifo[i]);
    for (unsigned i = 0; i < 2; i++) {
        h = mix(h, s->buf[i].start | (uint64_t)s->buf[i].end << 32);
        h = mix(h, s->buf[i].position | (uint64_t)s->buf[i].valid << 32 | (uint64_t)s->buf[i].full << 33 |
                       (uint64_t)s->buf[i].overflow << 34);
    }
    return h;
}

uint64_t wg_state_hash(wg_device *dev)
{
    wg_look(dev);
    wg_tile *t = dev->tile;
    uint64_t h = mix(dev->arch->id + UINT64_C(1), t->sched.now);
    for (unsigned i = 0; i < WG_CORES; i++)
        h = hash_core(h, t, i);
    for (unsigned i = 0; i < WG_THREADS; i++)
        h = hash_frontend(h, &t->frontend[i]);
    h = hash_backend(h, &t->backend);
    h = hash_regs(h, &t->regs);
    h = hash_regions(h, &t->regions);
    return hash_bytes(h, t->l1, dev->tile->spec->l1_bytes);
}
