/* SPDX-License-Identifier: Apache-2.0 */
/* SrcA and SrcB: change of bank owners, columns in reset. Facts: SrcASrcB.md, SETDVALID.md, CLEARDVALID.md, SoftReset.md. */
#include "machine/src.h"

#include "isa/config_fields.h"
#include "report/touch.h"
#include "machine/tile.h"

/* They were zero before, and later writes are discarded. */
void wg_src_clear_held(wg_src *s, wg_src_file file, unsigned bank)
{
    uint32_t(*rows)[16] = wg_src_rows(s, file, bank);
    for (unsigned row = 0; row < WG_SRC_ROWS; row++)
        for (unsigned column = 0; column < 16; column++)
            if (s->held[file & 1] >> column & 1)
                rows[row][column] = 0;
}

static void give(wg_tile *t, wg_src_file file, unsigned bank, unsigned agent, wg_src_owner owner)
{
    wg_src *s = &t->regs.src;
    bank &= 1;
    uint8_t *now = &(file == WG_SRCA ? s->owner_a : s->owner_b)[bank];
    if (owner == WG_SRC_MATRIX)
        wg_src_touched(s, file, bank);
    s->leaving[file & 1] &= (uint8_t) ~(1u << bank);
    if (*now == owner || s->frozen[file & 1])
        return;
    *now = (uint8_t)owner;
    WG_EMIT(t, WG_EV_BANK, agent, .a = (unsigned)file * 2 + bank, .b = owner, .id = t->acting.id,
            .thread = t->acting.thread);
    wg_wake_waiting(&t->sched, WG_CAUSE_SRC);
    if (owner == WG_SRC_UNPACKERS) {
        wg_wake(&t->sched, WG_AGENT_UNPACK0); /* ticks both unpackers */
        if (t->backend.scalar.executing)
            wg_wake(&t->sched, WG_AGENT_SCALAR); /* STOREIND to Src waits for the bank */
    }
}

void wg_src_give_to_matrix(wg_tile *t, wg_src_file file, unsigned bank, unsigned agent)
{
    give(t, file, bank, agent, WG_SRC_MATRIX);
}

void wg_src_give_to_unpackers(wg_tile *t, wg_src_file file, unsigned bank, unsigned agent)
{
    give(t, file, bank, agent, WG_SRC_UNPACKERS);
}

void wg_src_unpacked(wg_tile *t, wg_src_file file, unsigned thread, unsigned agent)
{
    wg_src *s = &t->regs.src;
    thread %= WG_THREADS;
    const uint16_t *config = t->regs.config.thread[thread];
    uint8_t *bank = file == WG_SRCA ? &s->unpack_bank_a : &s->unpack_bank_b;
    wg_touch(t, WG_TOUCH_WRITE, WG_TOUCH_BANK_OWNER, (unsigned)file * 2 + (*bank & 1u), 1);
    wg_touch(t, WG_TOUCH_WRITE, WG_TOUCH_BANK_POINTER, 2u + (unsigned)file, 1);
    wg_src_give_to_matrix(t, file, *bank, agent);
    *bank ^= !s->frozen[file & 1];
    wg_tcfg_id base = file == WG_SRCA ? WG_TCFG_SRCA_SET_Base : WG_TCFG_SRCB_SET_Base;
    (file == WG_SRCA ? s->unpack_row_a : s->unpack_row_b)[thread] =
        (uint8_t)(wg_tcfg_get(t->arch->id, base, config) << 4);
    wg_wake_waiting(&t->sched, WG_CAUSE_SRC); /* C5 and C6 test the unpacker's new bank */
    wg_wake(&t->sched, WG_AGENT_UNPACK0);
}

void wg_src_reset_owners(wg_tile *t, unsigned agent)
{
    wg_src *s = &t->regs.src;
    for (unsigned bank = 0; bank < 2; bank++) {
        wg_src_give_to_unpackers(t, WG_SRCA, bank, agent);
        wg_src_give_to_unpackers(t, WG_SRCB, bank, agent);
    }
    s->matrix_bank_a = s->matrix_bank_b = s->unpack_bank_a = s->unpack_bank_b = 0;
    wg_wake_waiting(&t->sched, WG_CAUSE_SRC);
    wg_wake(&t->sched, WG_AGENT_UNPACK0);
}
