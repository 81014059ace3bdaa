/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TDMA-RISC: a queue of four commands for the Mover, registers used by PACR_SETREG and UNPACR_NOP, and tile metadata from
 * packers and unpackers.
 *
 *     cores ── registers ── queue (4) ── command processor ── Mover, L1
 *
 * The processor takes one command per cycle, from the cycle after it was written on.
 *
 * Facts: TDMA-RISC.md (shared by both architectures), SoftReset.md. Decided here: the metadata FIFO's depth, four;
 * bits [31:8] of UnpackRegAddr have the layout of PackRegAddr's [23:0], as in its read-back in MetadataFIFOStatus;
 * a written L1 word or pair arrives after three cycles.
 */
#include "backend/tdma.h"

#include "arch/unit_times.h"
#include "backend/insn_finding.h"
#include "backend/mover.h"
#include "report/touch.h"
#include "machine/l1.h"

enum { CMD_MOVE = 0x40, CMD_WAIT = 0x46, CMD_WRITE = 0x66, CMD_NOP = 0x89 };

/* Offsets in the window; the per-packer ones repeat every 0x100, the per-thread ones every 0x40. */
enum {
    REG_PARAMS = 0x00,
    REG_COMMAND = 0x10,
    REG_STATUS = 0x14,
    REG_PACKED_SIZE = 0x18,
    REG_ACC_SIZE = 0x1C,
    REG_ZERO_FLAGS = 0x20,
    REG_UNPACK_ADDR = 0x24,
    REG_SCALER_3 = 0x28,
    REG_MOV_BASE = 0x2C,
    REG_FIFO_PEEK = 0x30,
    REG_FIFO_POP = 0x34,
    REG_PACK_ADDR = 0x38,
    REG_SCALERS = 0x3C
};

/* B, T0, T1, T2; other agents count as T0. */
static unsigned base_index(unsigned core)
{
    if (core == WG_CORE_B)
        return 0;
    return core >= WG_CORE_T0 ? core - WG_CORE_T0 + 1 : 1;
}

/* ---- Commands --------------------------------------------------------------------------------------- */

static wg_region_answer enqueue(wg_tile *t, unsigned core, uint32_t word, uint32_t pc, wg_stall *why)
{
    wg_tdma *d = &t->backend.tdma;
    if (d->count == WG_TDMA_QUEUE) {
        *why = (wg_stall){
            .reason = WG_STALL_UNIT_BUSY, .resource = WG_UNIT_MOVER, .holder = WG_AGENT_MOVER, .retry_at = WG_NEVER};
        return WG_REGION_WAIT;
    }
    wg_tdma_command *c = &d->queue[(d->head + d->count) % WG_TDMA_QUEUE];
    *c = (wg_tdma_command){.word = word, .base = d->mov_cmd_base[base_index(core)]};
    if (!(word >> 31)) {
        if (d->credits == WG_TDMA_PARAMETER_CREDITS) {
            WG_FIND(t, WG_F_TDMA_CREDITS, WG_AGENT_CORE_B + core, .pc = pc, .has_pc = true, .subject = word);
            return WG_REGION_DONE; /* undefined. Decided here: the command is lost */
        }
        d->credits++;
        for (unsigned i = 0; i < 4; i++)
            c->params[i] = d->cmd_params[i];
    }
    if (!d->count++)
        d->ready_at = t->sched.now + 1;
    wg_wake_at(&t->sched, WG_AGENT_MOVER, t->sched.now + 1);
    return WG_REGION_DONE;
}

static void start_move(wg_tile *t, const wg_tdma_command *c)
{
    uint32_t src = c->params[0], dst = c->params[1], count = c->params[2] & 0xFFFF, mode = c->params[3] & 3;
    if (c->word >> 31) {
        src = c->base + (c->word >> 8 & 0xFF);
        dst = c->word >> 16 & 0xFF;
        count = c->word >> 24 & 0x3F;
        mode = c->word >> 30 & 1 ? WG_XMOV_L1_TO_L1 : WG_XMOV_L1_TO_L0;
    }
    wg_mover_start(t, WG_AGENT_MOVER, NULL, dst << 4, src << 4, count << 4, mode);
}

static void start_write(wg_tile *t, const wg_tdma_command *c)
{
    wg_tdma *d = &t->backend.tdma;
    unsigned bytes = c->word & 0x100 ? 8 : 4;
    if (c->word >> 31 || (c->word & 0x600) != 0x600 || !wg_l1_holds(t->spec->l1_bytes, c->params[0], bytes)) {
        wg_findf(t, WG_F_TDMA_COMMAND, (wg_finding){.agent = WG_AGENT_MOVER, .subject = c->word, .value = c->params[0]},
                 "command 0x%x with the address 0x%x", c->word, c->params[0]);
        return;
    }
    d->write_address = c->params[0];
    d->write_data[0] = c->params[2];
    d->write_data[1] = c->params[3];
    d->write_bytes = (uint8_t)bytes;
    d->write_at = t->sched.now + WG_TIME_TDMA_WRITE_TRAVEL;
}

/* False: the command stalls on the Mover or on the previous write. */
static bool process(wg_tile *t, const wg_tdma_command *c)
{
    wg_tdma *d = &t->backend.tdma;
    switch (c->word & 0xFF) {
    case CMD_MOVE:
        if (wg_mover_busy(t))
            return false;
        start_move(t, c);
        return true;
    case CMD_WAIT: return !wg_mover_busy(t);
    case CMD_WRITE:
        if (d->write_bytes)
            return false;
        start_write(t, c);
        return true;
    case CMD_NOP: return true;
    default:
        wg_findf(t, WG_F_TDMA_COMMAND, (wg_finding){.agent = WG_AGENT_MOVER, .subject = c->word}, "command 0x%x",
                 c->word);
        return true;
    }
}

void wg_tdma_step(wg_tile *t)
{
    wg_tdma *d = &t->backend.tdma;
    uint64_t now = t->sched.now, retry;
    if (d->write_bytes && d->write_at <= now) {
        if (wg_l1_ask(t, WG_L1_TDMA, d->write_address, WG_L1_NARROW, &retry)) {
            wg_l1_write(t, WG_L1_TDMA, d->write_address, d->write_bytes, d->write_data);
            if (wg_touch_l1_watched(t))
                wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                                       .agent = WG_AGENT_MOVER,
                                       .thread = WG_THREADS,
                                       .a = WG_TOUCH_L1,
                                       .b = d->write_address,
                                       .c = d->write_bytes,
                                       .how = WG_TOUCH_WRITE | WG_TOUCH_LATE});
            d->write_bytes = 0;
        } else {
            d->write_at = retry;
        }
    }
    if (d->count && d->ready_at <= now && process(t, &d->queue[d->head])) {
        if (!(d->queue[d->head].word >> 31))
            d->credits--;
        d->head = (uint8_t)((d->head + 1) % WG_TDMA_QUEUE);
        d->count--;
        d->ready_at = now + 1;
        wg_wake(&t->sched, WG_AGENT_REGIONS);
    }
    if (d->write_bytes)
        wg_wake_at(&t->sched, WG_AGENT_MOVER, d->write_at);
    /* A stalled head is retried whenever the Mover or the write progresses; both belong to this agent. */
    if (d->count && d->ready_at > now)
        wg_wake_at(&t->sched, WG_AGENT_MOVER, d->ready_at);
}

bool wg_tdma_idle(const wg_tile *t) { return !t->backend.tdma.count && !t->backend.tdma.write_bytes; }

/* ---- Sideband --------------------------------------------------------------------------------------- */

void wg_tdma_tile_packed(wg_tile *t, unsigned packer, unsigned thread, uint16_t tile_size, uint32_t all_zero_flags,
                         bool add_header, bool into_fifo)
{
    wg_packer_sideband *p = &t->backend.tdma.packer[packer & 3];
    p->last_thread = (uint8_t)thread;
    p->last_tile_size = tile_size;
    p->all_zero_flags = all_zero_flags;
    p->acc_tile_size[thread] = (uint16_t)(p->acc_tile_size[thread] + tile_size + add_header);
    if (into_fifo && p->fifo_count < WG_METADATA_FIFO) {
        unsigned at = (p->fifo_head + p->fifo_count++) % WG_METADATA_FIFO;
        p->fifo[at].tile_size = tile_size;
        p->fifo[at].all_zero_flags = all_zero_flags;
        wg_wake(&t->sched, WG_AGENT_REGIONS);
    }
}

/* Popping an empty FIFO gives undefined data: 0 here, and it is reported. */
static uint32_t pop(wg_tile *t, unsigned packer, unsigned core, uint32_t pc)
{
    wg_packer_sideband *p = &t->backend.tdma.packer[packer];
    if (!p->fifo_count) {
        WG_FIND(t, WG_F_TDMA_FIFO_EMPTY, WG_AGENT_CORE_B + core, .pc = pc, .has_pc = true, .subject = packer);
        return 0;
    }
    uint32_t flags = p->fifo[p->fifo_head].all_zero_flags;
    p->fifo_head = (uint8_t)((p->fifo_head + 1) % WG_METADATA_FIFO);
    wg_poll_disturb(t);
    p->fifo_count--;
    return flags;
}

/* Two register addresses of 12 bits each: ten middle bits, and two high bits after all middle bits. */
static void set_bases(uint32_t base[2], uint32_t packed)
{
    for (unsigned i = 0; i < 2; i++)
        base[i] = (packed >> (20 + 2 * i) & 3) << 18 | (packed >> 10 * i & 0x3FF) << 2;
}

static void reset_acc(wg_tdma *d, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        if (!(value >> (16 + i) & 1))
            continue;
        wg_packer_sideband *p = &d->packer[i];
        p->acc_tile_size[0] = p->acc_tile_size[1] = p->acc_tile_size[2] = 0;
        p->l1_dest_addr_offset = (uint16_t)value;
    }
}

static uint32_t status(const wg_tile *t)
{
    const wg_tdma *d = &t->backend.tdma;
    uint32_t room = WG_TDMA_QUEUE - (uint32_t)d->count;
    return (uint32_t)wg_mover_busy(t) | (uint32_t)(room == 0) << 2 | (uint32_t)(d->count == 0) << 3 |
           (uint32_t)(d->credits == WG_TDMA_PARAMETER_CREDITS) << 4 | (uint32_t)(d->credits == 0) << 5 | room << 8;
}

static uint32_t scalers_and_status(const wg_tile *t, unsigned unpacker)
{
    const wg_tdma *d = &t->backend.tdma;
    const wg_unit_ops *pack = wg_units[WG_UNIT_PACK];
    uint32_t result = 0;
    for (unsigned i = 0; i < 3; i++)
        result |= (uint32_t)d->set_reg_hi_scaler[i] << 9 * i;
    for (unsigned i = 0; i < 4; i++)
        if (pack->part_busy ? pack->part_busy(t, 2, i) : pack->busy(t, 2))
            result |= UINT32_C(1) << (27 + i);
    return result | (d->set_reg_acc[unpacker] & 0x10000) << 15;
}

static uint32_t fifo_status(const wg_tdma *d)
{
    uint32_t result = d->pack_reg_addr_raw << 8;
    for (unsigned i = 0; i < 4; i++)
        result |= (uint32_t)(d->packer[i].fifo_count == 0) << 2 * i |
                  (uint32_t)(d->packer[i].fifo_count == WG_METADATA_FIFO) << (2 * i + 1);
    return result;
}

/* ---- Registers -------------------------------------------------------------------------------------- */

static void no_register(wg_tile *t, unsigned core, uint32_t offset, uint32_t value, uint32_t pc)
{
    wg_findf(
        t, WG_F_TDMA_REGISTER,
        (wg_finding){
            .agent = (uint8_t)(WG_AGENT_CORE_B + core), .pc = pc, .has_pc = true, .subject = offset, .value = value},
        "offset 0x%x", offset);
}

/* Reads and writes reach the same registers. */
bool wg_tdma_has_register(uint32_t offset)
{
    unsigned packer = offset >> 8 & 3, thread = offset >> 6 & 3, reg = offset & 0x3F;
    if (offset >= 0x400 || thread == 3)
        return false;
    switch (reg) {
    case REG_PACKED_SIZE:
    case REG_ACC_SIZE: return true;
    case REG_ZERO_FLAGS:
    case REG_FIFO_PEEK:
    case REG_FIFO_POP: return thread == 0;
    case REG_SCALERS: return thread == 0 && packer < 2;
    default: return offset < 0x40;
    }
}

wg_region_answer wg_tdma_write(wg_tile *t, unsigned core, uint32_t offset, uint32_t value, uint32_t pc, wg_stall *why)
{
    wg_tdma *d = &t->backend.tdma;
    unsigned packer = offset >> 8 & 3, thread = offset >> 6 & 3, reg = offset & 0x3F;
    bool first = offset < 0x40, first_thread = thread == 0;
    if (d->held)
        return WG_REGION_DONE;
    if (!wg_tdma_has_register(offset)) {
        no_register(t, core, offset, value, pc);
    } else if (first && reg < REG_COMMAND) {
        d->cmd_params[reg / 4 & 3] = value;
    } else if (first && reg == REG_COMMAND) {
        return enqueue(t, core, value, pc, why);
    } else if (first && reg == REG_UNPACK_ADDR) {
        d->unpack_reg_addr_raw = value & 0xFFFFFF7F;
        set_bases(d->unpack_set_reg_base, value >> 8);
    } else if (first && reg == REG_SCALER_3) {
        d->scaler2_raw = value & 0x01FF007F;
        d->set_reg_hi_scaler[3] = (uint16_t)(value >> 16 & 0x1FF);
    } else if (first && reg == REG_MOV_BASE) {
        d->mov_cmd_base[base_index(core)] = value;
    } else if (first && reg == REG_PACK_ADDR) {
        d->pack_reg_addr_raw = value;
        set_bases(d->pack_set_reg_base, value);
    } else if (packer < 2 && first_thread && reg == REG_SCALERS) {
        for (unsigned i = 0; i < 3; i++)
            d->set_reg_hi_scaler[i] = (uint16_t)(value >> 9 * i & 0x1FF);
    } else if (reg == REG_ACC_SIZE) {
        reset_acc(d, value);
    } else if (first_thread && reg == REG_FIFO_POP) {
        (void)pop(t, packer, core, pc);
    }
    return WG_REGION_DONE;
}

wg_region_answer wg_tdma_read(wg_tile *t, unsigned core, uint32_t offset, uint32_t *value, uint32_t pc, wg_stall *why)
{
    const wg_tdma *d = &t->backend.tdma;
    unsigned packer = offset >> 8 & 3, thread = offset >> 6 & 3, reg = offset & 0x3F;
    const wg_packer_sideband *p = &d->packer[packer];
    bool first = offset < 0x40, first_thread = thread == 0;
    *value = 0;
    if (!wg_tdma_has_register(offset)) {
        no_register(t, core, offset, 0, pc);
    } else if (reg == REG_PACKED_SIZE) {
        *value = p->last_thread == thread ? p->last_tile_size : 0;
    } else if (reg == REG_ACC_SIZE) {
        *value = (d->set_reg_acc[packer & 1] & 0xFFFF) << 16 | p->acc_tile_size[thread];
    } else if (first && reg == REG_STATUS) {
        *value = status(t);
    } else if (first && reg == REG_UNPACK_ADDR) {
        *value = d->unpack_reg_addr_raw;
    } else if (first && reg == REG_SCALER_3) {
        *value = d->scaler2_raw;
    } else if (first && reg == REG_MOV_BASE) {
        *value = d->mov_cmd_base[base_index(core)];
    } else if (first && reg == REG_PACK_ADDR) {
        *value = fifo_status(d);
    } else if (packer < 2 && first_thread && reg == REG_SCALERS) {
        *value = scalers_and_status(t, packer);
    } else if (first_thread && reg == REG_ZERO_FLAGS) {
        *value = p->all_zero_flags;
    } else if (first_thread && reg == REG_FIFO_PEEK) {
        if (!p->fifo_count) {
            *why = (wg_stall){
                .reason = WG_STALL_MEMORY, .resource = (uint16_t)packer, .holder = WG_AGENT_PACK, .retry_at = WG_NEVER};
            return WG_REGION_WAIT;
        }
        *value = p->fifo[p->fifo_head].tile_size;
    } else if (first_thread && reg == REG_FIFO_POP) {
        *value = pop(t, packer, core, pc);
    }
    return WG_REGION_DONE;
}

void wg_tdma_soft_reset(wg_tile *t, bool held)
{
    wg_tdma *d = &t->backend.tdma;
    if (held && !d->held) {
        d->head = d->count = d->credits = 0;
        for (unsigned i = 0; i < 4; i++)
            d->cmd_params[i] = 0;
        wg_wake(&t->sched, WG_AGENT_REGIONS);
    }
    d->held = held;
}

void wg_tdma_reset(wg_tile *t) { t->backend.tdma = (wg_tdma){0}; }
