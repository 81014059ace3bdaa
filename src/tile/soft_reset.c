/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Soft reset: RISCV_DEBUG_REG_SOFT_RESET_0, reset vectors, and the effects of entering and leaving reset.
 *
 * A write is stored at once; its edges are taken in phase A of the next cycle. A host writes in phase A,
 * between two cycles: its edges are taken at once.
 *
 * Facts: SoftReset.md of each architecture. BH takes the vectors of T0–T2 and NC from debug
 * registers, WH from backend configuration; B starts at 0; cores of Ethernet tiles start at the address in a register of
 * their own.
 */
#include "backend/config.h"
#include "backend/matrix.h"
#include "backend/mover.h"
#include "backend/pack.h"
#include "backend/unpack.h"
#include "backend/scalar.h"
#include "backend/tdma.h"
#include "machine/unit.h"
#include "report/findings.h"
#include "isa/tile_regs.h"
#include "report/emit.h"
#include "machine/tile.h"

enum {
    RESET_PACKERS = 15 << 2,
    RESET_MOVER = 1 << 6,
    RESET_TDMA = 1 << 8,
    RESET_THCON = 1 << 9,
    RESET_FPU = 1 << 10,
    RESET_SRCA_OWNER = 1 << 15,
    RESET_SRCB = 1 << 16,
    RESET_DST = WG_RESET_DST,
    RESET_SRCA_COLUMNS = 15 << 19,
    RESET_UNPACKERS = 1 << 0 | 1 << 1 | 1 << 7
};

static uint32_t core_bit(const wg_tile *t, unsigned core) { return t->spec->core[core].reset_bit; }

/* The value of a register that holds a reset vector. */
static uint32_t start_word(const wg_tile *t, wg_start_from from, uint16_t id)
{
    if (from == WG_START_CONFIG)
        return wg_cfg_get(t->arch->id, (wg_cfg_id)id, t->regs.config.bank[0]);
    return t->regions.control.word[wg_tile_regs[t->arch->id][id].offset / 4 % WG_TILE_REG_WORDS];
}

uint32_t wg_reset_vector(const wg_tile *t, unsigned core)
{
    const wg_start *s = &t->spec->core[core].start;
    const wg_start_from from = (wg_start_from)s->from;
    if (from == WG_START_ETH_REG) {
        unsigned word = 0, block;
        wg_eth_reg_at(t->spec->eth, s->fixed, &word, &block);
        return t->regions.eth.word[word];
    }
    return from != WG_START_FIXED && start_word(t, from, s->enable) >> s->bit & 1 ? start_word(t, from, s->pc)
                                                                                  : s->fixed;
}

/* RISCV_DEBUG_REG_DISABLE_RESET: bit 0 for the RAM, bit 1 for the debug registers. WH has no such register: 0. */
static uint32_t reset_disabled(const wg_tile *t, unsigned core)
{
    const wg_tile_reg *r = &wg_tile_regs[t->arch->id][WG_REG_DEBUG_disable_reset];
    return r->count ? t->regions.control.word[r->offset / 4 % WG_TILE_REG_WORDS] >> t->spec->core[core].keeps & 3 : 0;
}

bool wg_reset_clears_ram(const wg_tile *t, unsigned core)
{
    return t->arch->ram_clear_cycles && !(reset_disabled(t, core) & 1);
}

bool wg_reset_clears_debug(const wg_tile *t, unsigned core) { return !(reset_disabled(t, core) & 2); }

void wg_soft_reset_write(wg_tile *t, uint32_t value)
{
    t->regions.control.soft_reset = value;
    if (t->sched.phase == WG_PHASE_ARRIVALS)
        wg_soft_reset_edges(t); /* a host may assert and release without a cycle in between */
    else
        wg_arrive(&t->sched);
}

void wg_soft_reset_release(wg_tile *t, unsigned core, uint32_t entry)
{
    wg_tile_control *c = &t->regions.control;
    if (entry != UINT32_MAX) {
        c->entry[core] = entry;
        c->entry_given |= (uint8_t)(1u << core);
    }
    wg_soft_reset_write(t, c->soft_reset & ~core_bit(t, core));
}

void wg_soft_reset_hold(wg_tile *t, unsigned core)
{
    wg_soft_reset_write(t, t->regions.control.soft_reset | core_bit(t, core));
}

static void core_enters(wg_tile *t, unsigned core)
{
    wg_core_stop(t, core);
    wg_risc_debug_core_reset(t, core);
    wg_mailboxes_discard(t, core);
    const unsigned thread = t->spec->core[core].thread;
    if (thread != WG_NONE) {
        wg_pcbuf_stop(t, thread);
        wg_frontend_discard(t, thread);
    }
    WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 0);
}

static void core_leaves(wg_tile *t, unsigned core)
{
    wg_tile_control *c = &t->regions.control;
    if (t->spec->core[core].thread != WG_NONE)
        wg_pcbuf_discard(t, t->spec->core[core].thread);
    uint32_t pc = c->entry_given >> core & 1 ? c->entry[core] : wg_reset_vector(t, core);
    c->entry_given &= (uint8_t) ~(1u << core);
    wg_core_start(t, core, pc);
    wg_pic_returned(t);
    WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 1, .pc = pc);
}

/* Units that can be held in reset, by bit. */
static const struct {
    uint32_t bit;
    void (*hold)(wg_tile *t, bool held);
} held_units[] = {
    {RESET_MOVER, wg_mover_soft_reset},
    {RESET_TDMA, wg_tdma_soft_reset},
    {RESET_THCON, wg_config_thcon_reset},
    {RESET_THCON, wg_scalar_soft_reset},
};

/*
 * Source registers, bank ownership, Dst validity: the parts of unit resets that are registers. While held, the state stays as
 * upon entering: columns are zero, the unpackers own the banks, pointers select bank 0.
 */
static void registers_edge(wg_tile *t, uint32_t rising)
{
    wg_src *src = &t->regs.src;
    const uint32_t now = t->regions.control.soft_reset_seen;
    uint16_t columns = now & RESET_FPU ? 0xFFFF : 0;
    for (unsigned i = 0; i < 4; i++)
        if (now >> (19 + i) & 1)
            columns |= (uint16_t)(15u << 4 * i);
    src->held[WG_SRCA] = columns;
    src->held[WG_SRCB] = now & RESET_SRCB ? 0xFFFF : 0;
    src->frozen[WG_SRCA] = (now & RESET_SRCA_OWNER) != 0;
    src->frozen[WG_SRCB] = (now & RESET_SRCB) != 0;
    for (unsigned bank = 0; bank < 2; bank++) {
        wg_src_wrote(src, WG_SRCA, bank);
        wg_src_wrote(src, WG_SRCB, bank);
    }
    if (rising & RESET_SRCA_OWNER) {
        src->owner_a[0] = src->owner_a[1] = WG_SRC_UNPACKERS;
        src->matrix_bank_a = src->unpack_bank_a = 0;
        src->leaving[WG_SRCA] = 0;
        wg_matrix_forget_flips(t, WG_SRCA);
    }
    if (rising & RESET_SRCB) {
        src->owner_b[0] = src->owner_b[1] = WG_SRC_UNPACKERS;
        src->matrix_bank_b = src->unpack_bank_b = 0;
        src->leaving[WG_SRCB] = 0;
        wg_matrix_forget_flips(t, WG_SRCB);
    }
    if (rising & RESET_DST)
        for (unsigned i = 0; i < sizeof t->regs.dst.undefined / sizeof *t->regs.dst.undefined; i++)
            t->regs.dst.undefined[i] = 0; /* as ZEROACC with Revert */
    wg_wake_threads(&t->sched);
}

/* Drops the unit's instructions in flight. Decided here: the Vector Unit's registers get their reset values. */
static void abort_unit(wg_tile *t, unsigned unit)
{
    wg_units[unit]->abort(t);
    wg_wake_idle_watchers(&t->sched);
}

bool wg_unit_held(const wg_tile *t, unsigned unit)
{
    static const uint32_t bits[WG_UNIT_COUNT] = {
        [WG_UNIT_UNPACK] = RESET_UNPACKERS | RESET_TDMA,
        [WG_UNIT_MATRIX] = RESET_FPU,
        [WG_UNIT_VECTOR] = RESET_FPU,
        [WG_UNIT_PACK] = RESET_TDMA,
        [WG_UNIT_SCALAR] = RESET_TDMA,
        [WG_UNIT_MOVER] = RESET_TDMA, /* "glue" */
    };
    return wg_in_soft_reset(&t->regions.control, bits[unit % WG_UNIT_COUNT]);
}

void wg_soft_reset_edges(wg_tile *t)
{
    wg_tile_control *c = &t->regions.control;
    uint32_t rising = c->soft_reset & ~c->soft_reset_seen, falling = c->soft_reset_seen & ~c->soft_reset;
    if (!rising && !falling)
        return;
    c->soft_reset_seen = c->soft_reset;
    for (unsigned core = 0; core < WG_CORES; core++) {
        if (rising & core_bit(t, core))
            core_enters(t, core);
        if (falling & core_bit(t, core))
            core_leaves(t, core);
    }
    if (!t->spec->threads) /* the other bits concern only a coprocessor */
        return;
    for (unsigned i = 0; i < sizeof held_units / sizeof *held_units; i++)
        if ((rising | falling) & held_units[i].bit)
            held_units[i].hold(t, (rising & held_units[i].bit) != 0);
    if ((rising | falling) & RESET_PACKERS)
        wg_pack_soft_reset(t, (rising & RESET_PACKERS) >> 2, (falling & RESET_PACKERS) >> 2);
    if (rising & RESET_DST)
        t->regs.exphist = (wg_exphist){0};
    if (falling & RESET_DST)
        wg_pack_reset_random(t);
    if ((rising | falling) & (RESET_FPU | RESET_SRCA_OWNER | RESET_SRCB | RESET_DST | RESET_SRCA_COLUMNS))
        registers_edge(t, rising);
    if ((rising & RESET_UNPACKERS) && (c->soft_reset & RESET_UNPACKERS) == RESET_UNPACKERS)
        wg_unpack_abort(t);
    if (rising & RESET_FPU) {
        abort_unit(t, WG_UNIT_MATRIX);
        abort_unit(t, WG_UNIT_VECTOR);
    }
    if ((rising | falling) & (RESET_UNPACKERS | RESET_FPU | RESET_TDMA))
        wg_wake_threads(&t->sched);
    if (rising & RESET_DST) /* "behave strangely": undocumented how */
        wg_findf(
            t, WG_F_UNIMPLEMENTED_REGISTER,
            (wg_finding){.agent = WG_AGENT_HOST, .subject = 0xFFB121B0, .value = c->soft_reset},
            "soft reset of the Packers' connection to Dst (bit 17): a PACR that reads Dst meanwhile reads it as ever");
}
