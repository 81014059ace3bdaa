/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of the architectural state: whatever software, a host or the NoC can read or will read of a tile. Instructions,
 * requests and packets under way are not in it (they are once they land), nor are caches, times and what the emulator keeps
 * for itself. test_state_hash.c has the list of what is left out, and why.
 *
 * Rings are taken from their head and as far as they are filled, so that equal contents have equal hashes.
 */
#include <string.h>

#include "machine/device.h"
#include "riscv/lsu.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}

/* Four chains, so that the host need not wait for one. */
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

/* A member without padding, whole. */
#define HASH(member) h = hash_bytes(h, &(member), sizeof(member))

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
    const wg_csrs *c = &k->csr;
    wg_core_sync(t, core);
    if (k->run.halt != WG_IN_RESET)
        wg_lsu_drain_private(t, core, t->sched.now);
    h = hash_bytes(h, k->run.r, sizeof *k->run.r * WG_REG_SINK);
    h = mix(h, (uint64_t)k->run.pc << 8 | k->run.halt);
    h = mix(h, k->run.number + k->run.pushes);                                  /* minstret, but for its offset */
    h = hash_bytes(h, c, offsetof(wg_csrs, restore_pc) + sizeof c->restore_pc); /* words without a gap */
    HASH(c->mhpmcounter);
    h = mix(mix(h, c->cycle_offset), c->instret_offset);
    HASH(k->v);
    h = mix(h, k->in_interrupt | (uint64_t)k->interrupt_pc << 8);
    h = mix(h, k->stepping | (uint64_t)k->slow << 1 | (uint64_t)k->breakpoints << 8 | (uint64_t)k->watch_reads << 16 |
                   (uint64_t)k->watch_writes << 24 | (uint64_t)k->breakpoint_hits << 32);
    HASH(k->breakpoint);
    HASH(k->ram);
    return h;
}

static uint64_t hash_frontend(uint64_t h, const wg_frontend *f)
{
    const wg_auto_ttsync *a = &f->ttsync;
    h = mix(h, f->fifo_count | wg_replay_count(f) << 8 | wg_gate_count(f) << 16 | (uint64_t)f->mop_active << 24 |
                   (uint64_t)f->b_valid << 25 | (uint64_t)f->debug_valid << 26 | (uint64_t)f->debug_control << 27);
    for (unsigned i = 0; i < f->fifo_count; i++)
        h = mix(h, wg_fifo_at(f, i)->word);
    for (unsigned i = 0; i < wg_replay_count(f); i++)
        h = mix(h, wg_replay_fifo_at(f, i)->word);
    for (unsigned i = 0; i < wg_gate_count(f); i++)
        h = mix(h, wg_gate_fifo_at(f, i)->word);
    h = mix(h, f->latch.kind);
    if (f->latch.kind)
        h = mix(h, f->latch.word | (uint64_t)f->latch.target << 32);
    if (f->mop_active) {
        h = mix(h, f->mop.insn.word | (uint64_t)f->mop.mask << 32);
        h = mix(h, f->mop.i | (uint64_t)f->mop.j << 16 | (uint64_t)f->mop.step << 24);
    }
    h = mix(h, f->mop.mask_hi);
    if (f->b_valid)
        h = mix(h, f->from_b.word);
    if (f->debug_valid)
        h = mix(h, f->from_debug.word);
    HASH(f->replay.slot);
    if (f->replay.play_left)
        h = mix(h, 1u | (uint64_t)f->replay.play_left << 8 | (uint64_t)f->replay.play_at << 16);
    if (f->replay.record_left)
        h = mix(h, 2u | (uint64_t)f->replay.record_left << 8 | (uint64_t)f->replay.record_at << 16 |
                       (uint64_t)f->replay.execute << 24);
    HASH(f->mop_cfg);
    h = mix(h, a->state_id | (uint64_t)a->state_known << 1);
    HASH(a->resources);
    HASH(a->linger);
    return h;
}

/* What it has gathered for the next 16 bytes is part of L1 to be. */
static uint64_t hash_packer(uint64_t h, const wg_packer *p)
{
    HASH(p->prng);
    h = mix(h, p->placed | (uint64_t)p->tile_start << 32);
    for (unsigned i = 0; i < WG_PACK_STREAMS; i++)
        if (p->placed >> i & 1) {
            h = mix(h, p->stream[i].fill | (uint64_t)p->stream[i].address << 32);
            h = hash_bytes(h, p->stream[i].bytes, p->stream[i].fill < 16 ? p->stream[i].fill : 16);
        }
    return mix(h, p->tile_x | (uint64_t)p->tile_y << 8 | (uint64_t)p->tile_z << 16 | (uint64_t)p->datums << 32);
}

static uint64_t hash_backend(uint64_t h, const wg_backend *b)
{
    const wg_tdma *d = &b->tdma;
    HASH(b->sync.value);
    HASH(b->sync.max);
    HASH(b->sync.mutex);
    h = mix(h, b->sync.slot_turn);
    HASH(b->sync.mutex_turn);
    HASH(b->turn);
    HASH(b->unpack.held_format);
    h = mix(h, b->pack.held | (uint64_t)b->pack.context << 8 | (uint64_t)b->pack.context_planes << 16 |
                   (uint64_t)b->pack.setreg_data << 32);
    for (unsigned i = 0; i < WG_PACKERS; i++)
        h = hash_packer(h, &b->pack.packer[i]);
    h = mix(h, b->unpack.after_dst | (uint64_t)b->matrix.last_srca_row << 8);
    HASH(b->matrix.prng);
    h = mix(h, b->scalar.held | (uint64_t)b->mover.held << 1 | (uint64_t)d->held << 2 |
                   (uint64_t)b->config.thcon_reset << 3);
    HASH(d->cmd_params);
    HASH(d->mov_cmd_base);
    h = mix(h, d->count);
    for (unsigned i = 0; i < d->count; i++)
        HASH(d->queue[(d->head + i) % WG_TDMA_QUEUE]);
    h = mix(mix(h, d->unpack_reg_addr_raw), d->pack_reg_addr_raw | (uint64_t)d->scaler2_raw << 32);
    HASH(d->unpack_set_reg_base);
    HASH(d->pack_set_reg_base);
    HASH(d->set_reg_acc);
    HASH(d->set_reg_hi_scaler);
    for (unsigned i = 0; i < 4; i++) {
        const wg_packer_sideband *p = &d->packer[i];
        HASH(p->acc_tile_size);
        h = mix(h, p->last_tile_size | (uint64_t)p->last_thread << 16 | (uint64_t)p->l1_dest_addr_offset << 24 |
                       (uint64_t)p->fifo_count << 40);
        h = mix(h, p->all_zero_flags);
        for (unsigned j = 0; j < p->fifo_count; j++)
            h = mix(h, p->fifo[(p->fifo_head + j) % WG_METADATA_FIFO].tile_size |
                           (uint64_t)p->fifo[(p->fifo_head + j) % WG_METADATA_FIFO].all_zero_flags << 32);
    }
    return h;
}

static uint64_t hash_regs(uint64_t h, const wg_regs *r)
{
    const wg_src *s = &r->src;
    HASH(r->dst);
    HASH(r->lreg.l);
    HASH(r->lreg.pred);
    HASH(r->lreg.lane_config);
    for (unsigned i = 0; i < WG_LANE_COLUMNS; i++) {
        HASH(r->lreg.macro[i].instruction);
        HASH(r->lreg.macro[i].sequence);
        h = mix(h, r->lreg.macro[i].misc);
    }
    HASH(r->lreg.prng);
    HASH(r->lreg.shuffle_last);
    h = hash_bytes(h, s, offsetof(wg_src, changes_a)); /* bytes and words without a gap */
    HASH(s->held);
    HASH(s->frozen);
    HASH(r->gpr.r);
    HASH(r->config.bank);
    HASH(r->config.thread);
    HASH(r->config.unpack_context);
    HASH(r->adc);
    HASH(r->rwc);
    HASH(r->exphist.bins);
    for (unsigned i = 0; i < 4; i++)
        h = mix(h, wg_exphist_max(&r->exphist, i));
    return h;
}

static uint64_t hash_control(uint64_t h, const wg_tile_control *c)
{
    const wg_timestamper *s = &c->timestamper;
    HASH(c->word);
    h = mix(h, c->soft_reset | (uint64_t)c->soft_reset_seen << 32);
    HASH(c->entry);
    h = mix(h, c->entry_given);
    h = mix(mix(h, c->config_rddata), c->instrn_ctrl0 | (uint64_t)c->instrn_ctrl1 << 32);
    HASH(c->risc_debug);
    for (unsigned i = 0; i < 2; i++) {
        h = mix(h, s->buf[i].start | (uint64_t)s->buf[i].end << 32);
        h = mix(h, s->buf[i].position | (uint64_t)s->buf[i].valid << 32 | (uint64_t)s->buf[i].full << 33 |
                       (uint64_t)s->buf[i].overflow << 34);
    }
    HASH(s->accum);
    h = mix(h, s->accum_position | (uint64_t)s->event_size << 8 | (uint64_t)s->reset_streams << 16);
    h = mix(h, s->cntl | (uint64_t)s->counter_high_at << 32);
    HASH(c->pic.sw);
    h = mix(h, c->pic.hw | (uint64_t)c->pic.raised << 32);
    HASH(c->pic.handler);
    HASH(c->pic.sw_enable);
    HASH(c->pic.hw_enable);
    HASH(c->pic.number);
    HASH(c->pic.turn);
    h = mix(h, c->pic.pending | (uint64_t)c->pic.enable << 32);
    h = mix(h, c->pic.clkgt_en | (uint64_t)c->pic.clkgt_hyst << 32);
    HASH(c->pic.stream_type);
    return mix(h, c->pic.last_iterated);
}

static uint64_t hash_stream(uint64_t h, const wg_stream *s)
{
    h = mix(h, s->messages | (uint64_t)s->reads << 8 | (uint64_t)s->state << 16 | (uint64_t)s->next_config << 24 |
                   (uint64_t)s->left << 32 | (uint64_t)s->config_at << 48);
    h = mix(h, s->config_from | (uint64_t)s->load_at << 32);
    h = mix(h, s->held | (uint64_t)s->unsent << 32);
    h = mix(h, s->sent | (uint64_t)s->credit << 32);
    h = mix(h, s->ready | (uint64_t)s->ready_phase << 32);
    return mix(h, s->group | (uint64_t)s->part << 8 | (uint64_t)s->round << 16 | (uint64_t)s->grouped << 32 |
                      (uint64_t)s->source_meets << 33 | (uint64_t)s->dest_meets << 34 | (uint64_t)s->waits_ready << 35 |
                      (uint64_t)s->asks << 36 | (uint64_t)s->greet << 37 | (uint64_t)s->got_data << 38);
}

static uint64_t hash_regions(uint64_t h, const wg_regions *r)
{
    HASH(r->memory.iram);
    for (unsigned i = 0; i < WG_MAILBOX_CORES * WG_MAILBOX_CORES; i++)
        h = hash_fifo(h, &r->mailbox.fifo[i / WG_MAILBOX_CORES][i % WG_MAILBOX_CORES]);
    for (unsigned i = 0; i < WG_THREADS; i++)
        h = hash_fifo(h, &r->pcbuf.fifo[i]);
    h = mix(h, r->pcbuf.override);
    h = hash_control(h, &r->control);
    HASH(r->niu.word);
    HASH(r->niu.overlay);
    h = mix(h, r->niu.streams.done);
    h = mix(h, r->niu.streams.last_done);
    for (unsigned i = 0; i < WG_OVERLAY_STREAMS; i++)
        h = hash_stream(h, &r->niu.streams.stream[i]);
    return mix(h, r->niu.coordinate);
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
    return hash_bytes(h, t->l1, dev->arch->l1_bytes);
}
