/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Scalar Unit's memory instructions.
 *
 *     accepted c ── operands ── sent at c + 3 (later if the port is busy) ── memory at + 3 ── result at + 7
 *                                                                                             (atomics: + 24)
 *
 * The instruction is complete when its request is sent; ATCAS and ATINCGETPTR hold the unit until the memory has confirmed,
 * and retry if the comparison failed. Requests stay in order.
 *
 * Decided here, from the pages' numbers: LOADIND's and LOADREG's seven DMANOPs are the round trip, as are ATINCGET's
 * twenty-four; two atomics in flight then give its one per 12 cycles; a narrow write or an atomic occupies the L1 port for
 * five cycles (L1.md); 12 of ATCAS's 15 cycles are after sending.
 *
 * Facts: LOADIND.md, LOADREG.md, STOREIND_*.md, STOREREG.md, ATINCGET.md, ATINCGETPTR.md, ATSWAP.md, ATCAS.md, L1.md.
 */
#include "backend/scalar_internal.h"

#include <string.h>

#include "arch/unit_times.h"
#include "backend/insn_finding.h"
#include "backend/config.h"
#include "backend/tdma.h"
#include "machine/bus.h"
#include "machine/l1.h"

#define MMIO_FIRST UINT32_C(0xFFB11000) /* below, a core's own RAM: not reachable from here */
#define OVERLAY_FIRST UINT32_C(0xFFB40000)
#define OVERLAY_LAST UINT32_C(0xFFB7FFFF)

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The same operand in LOADIND, STOREIND and the atomics. */
static unsigned data_reg(uint32_t word) { return WG_GET(STOREIND, DataRegIndex, word); }
static unsigned addr_reg(uint32_t word) { return WG_GET(STOREIND, AddrRegIndex, word); }

/* ---- Requests --------------------------------------------------------------------------------------- */

static bool is_atomic(unsigned kind) { return kind >= WG_SCALAR_INCREMENT; }
static bool is_mmio(unsigned kind) { return kind == WG_SCALAR_LOAD_MMIO || kind == WG_SCALAR_STORE_MMIO; }
static bool is_load(unsigned kind) { return kind == WG_SCALAR_LOAD || kind == WG_SCALAR_LOAD_MMIO; }

static unsigned port_cycles(const wg_scalar_request *r)
{
    if (is_atomic(r->kind) || (r->kind == WG_SCALAR_STORE && r->bytes < 16))
        return WG_TIME_SCALAR_READ_MODIFY_WRITE;
    return WG_TIME_SCALAR_PORT;
}

static unsigned answer_after(unsigned kind)
{
    if (is_load(kind))
        return WG_TIME_SCALAR_LOAD_ANSWER;
    if (kind == WG_SCALAR_INCREMENT || kind == WG_SCALAR_MASKED_STORE)
        return WG_TIME_SCALAR_ATOMIC_ANSWER;
    return is_atomic(kind) ? WG_TIME_SCALAR_CONFIRMATION : WG_TIME_SCALAR_TRAVEL;
}

/* When can a request like this be sent? This cycle, a later one, or (WG_NEVER) once another one is answered. */
static uint64_t can_send(const wg_tile *t, const wg_scalar_request *r)
{
    const wg_scalar *u = &t->backend.scalar;
    unsigned atomics = 0;
    for (unsigned i = 0; i < u->count; i++)
        atomics += is_atomic(u->request[i].kind);
    if (u->count == WG_SCALAR_REQUESTS || (is_atomic(r->kind) && atomics >= WG_TIME_SCALAR_ATOMICS))
        return WG_NEVER;
    if (!is_mmio(r->kind) && u->port_free > t->sched.now + WG_TIME_SCALAR_TRAVEL)
        return u->port_free - WG_TIME_SCALAR_TRAVEL;
    return t->sched.now;
}

/* Sends the request, or sets the cycle to retry. */
static bool send(wg_tile *t, wg_scalar *u, wg_scalar_request r)
{
    uint64_t when = can_send(t, &r), now = t->sched.now;
    if (when != now) {
        if (when == WG_NEVER)
            return wg_scalar_wait(t, WG_STALL_MEMORY, u->count, WG_AGENT_SCALAR);
        u->until = when;
        return false;
    }
    uint64_t event = u->sent++;
    r.insn = u->insn;
    r.reaches_at =
        later(now + WG_TIME_SCALAR_TRAVEL + wg_perturb(t, WG_SITE_TRAVEL, WG_AGENT_SCALAR, event), u->last_reach);
    r.answers_at =
        later(r.reaches_at - WG_TIME_SCALAR_TRAVEL + wg_takes(t, WG_AGENT_SCALAR, &r.insn, answer_after(r.kind), 1),
              r.reaches_at);
    if (answer_after(r.kind) > WG_TIME_SCALAR_TRAVEL)
        r.answers_at = later(r.answers_at + wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_SCALAR, event), u->last_answer);
    u->last_reach = r.reaches_at;
    u->last_answer = later(u->last_answer, is_load(r.kind) || is_atomic(r.kind) ? r.answers_at : 0);
    if (!is_mmio(r.kind))
        u->port_free = r.reaches_at + port_cycles(&r);
    u->request[u->count++] = r;
    u->outstanding[u->insn.thread]++;
    wg_gpr_settle(t, u->insn.thread);
    return true;
}

static void l1_get(const wg_tile *t, uint32_t address, void *to, unsigned bytes) { wg_l1_read(t, address, bytes, to); }
static void l1_put(wg_tile *t, uint32_t address, const void *from, unsigned bytes)
{
    wg_l1_write(t, WG_L1_SCALAR, address, bytes, from);
}

/* Emits a request's touches when it reaches L1. ATCAS and ATINCGETPTR block their thread until then. */
static void touch_memory(wg_tile *t, const wg_scalar_request *r)
{
    unsigned how = is_atomic(r->kind) ? WG_TOUCH_ATOMIC | WG_TOUCH_READ | WG_TOUCH_WRITE : 0;
    wg_touch_by(t, WG_AGENT_SCALAR, &r->insn);
    switch (r->kind) {
    case WG_SCALAR_LOAD: how = WG_TOUCH_READ | WG_TOUCH_LATE; break;
    case WG_SCALAR_STORE: how = WG_TOUCH_WRITE | WG_TOUCH_LATE; break;
    case WG_SCALAR_INCREMENT: how |= WG_TOUCH_LATE; break;
    case WG_SCALAR_MASKED_STORE:
        for (unsigned i = 0; i < 8; i++)
            if (r->mask >> i & 1)
                wg_touch_l1(t, WG_TOUCH_WRITE | WG_TOUCH_LATE, r->address + 2 * i, 2);
        return;
    case WG_SCALAR_FIFO_STEP: wg_touch_l1(t, how, r->address, 16); return;
    case WG_SCALAR_COMPARE_SET: break;
    default: return;
    }
    wg_touch_l1(t, how, r->address, r->bytes);
}

static bool mmio(wg_tile *t, wg_scalar_request *r)
{
    unsigned core = WG_CORE_T0 + r->insn.thread;
    uint32_t offset = r->address - MMIO_FIRST;
    bool write = r->kind == WG_SCALAR_STORE_MMIO;
    if (offset < 0x1000) {
        wg_stall why;
        if (!wg_tdma_has_register(offset)) {
            wg_findf(t, WG_F_TDMA_REGISTER, wg_insn_finding(&r->insn, offset, r->data[0]), "offset 0x%x", offset);
            r->failed = true;
            return true;
        }
        wg_region_answer answer = write ? wg_tdma_write(t, core, offset, r->data[0], r->insn.pc, &why)
                                        : wg_tdma_read(t, core, offset, r->data, r->insn.pc, &why);
        return answer != WG_REGION_WAIT;
    }
    if (!write && r->address >= OVERLAY_FIRST && r->address <= OVERLAY_LAST)
        wg_config_overlay_busy(t);
    bool mapped = write ? wg_tile_bus_write(t, r->address, r->data, 4) : wg_tile_bus_read(t, r->address, r->data, 4);
    r->failed = !mapped;
    if (!mapped)
        wg_findf(t, WG_F_SCALAR_ADDRESS, wg_insn_finding(&r->insn, r->address, 0), "nothing at 0x%08x", r->address);
    return true;
}

/* ATINCGETPTR on two adjacent counters: read pointer and write pointer. */
static bool fifo_step(wg_tile *t, wg_scalar_request *r)
{
    uint32_t word = r->insn.word, pointers[4];
    unsigned which = WG_GET(ATINCGETPTR, Sel32b, word), width = WG_GET(ATINCGETPTR, WrapVal, word);
    l1_get(t, r->address, pointers, 16);
    uint32_t size = pointers[1] - pointers[0];
    uint32_t capacity = width ? UINT32_C(1) << (width - 1) : 0x8000;
    if (which & 1 ? size && size % capacity == 0 : !size)
        return false;
    r->data[0] = pointers[which];
    uint32_t step = (uint32_t)!WG_GET(ATINCGETPTR, NoIncr, word) << WG_GET(ATINCGETPTR, IncrVal, word);
    uint32_t mask = (UINT32_C(1) << width) - 1;
    uint32_t next = ((pointers[which] + step) & mask) | (pointers[which] & ~mask);
    l1_put(t, r->address + 4 * which, &next, 4);
    return true;
}

/* Performs a request that has reached its memory; false: not possible before *retry. */
static bool access_memory(wg_tile *t, wg_scalar_request *r, uint64_t *retry)
{
    uint32_t old, next;
    *retry = t->sched.now + 1;
    if (!is_mmio(r->kind)) {
        wg_l1_access access = port_cycles(r) > 1 ? WG_L1_NARROW : r->kind == WG_SCALAR_LOAD ? WG_L1_READ : WG_L1_WRITE;
        if (!wg_l1_ask(t, WG_L1_SCALAR, r->address, access, retry))
            return false;
        t->backend.scalar.port_free = later(t->backend.scalar.port_free, t->sched.now + port_cycles(r));
    }
    if (wg_touch_l1_watched(t))
        touch_memory(t, r);
    switch (r->kind) {
    case WG_SCALAR_LOAD: l1_get(t, r->address, r->data, r->bytes); break;
    case WG_SCALAR_STORE: l1_put(t, r->address, r->data, r->bytes); break;
    case WG_SCALAR_INCREMENT:
        l1_get(t, r->address, &old, 4);
        next = ((old + r->data[0]) & r->mask) | (old & ~r->mask);
        l1_put(t, r->address, &next, 4);
        r->data[0] = old;
        break;
    case WG_SCALAR_MASKED_STORE:
        for (unsigned i = 0; i < 8; i++)
            if (r->mask >> i & 1)
                l1_put(t, r->address + 2 * i, (const uint8_t *)r->data + 2 * i, 2);
        break;
    case WG_SCALAR_COMPARE_SET:
        l1_get(t, r->address, &old, 4);
        next = WG_GET(ATCAS, SwapVal, r->insn.word);
        r->failed = old != WG_GET(ATCAS, CmpVal, r->insn.word);
        if (!r->failed)
            l1_put(t, r->address, &next, 4);
        break;
    case WG_SCALAR_FIFO_STEP: r->failed = !fifo_step(t, r); break;
    default: return mmio(t, r);
    }
    return true;
}

static void deliver(wg_tile *t, const wg_scalar_request *r)
{
    unsigned thread = r->insn.thread, count = r->bytes == 16 ? 4 : 1;
    if (is_load(r->kind) && r->failed)
        return; /* nothing answered: the register stays as it is */
    if (is_load(r->kind) && r->bytes == 16) {
        for (unsigned i = 0; i < 4; i++)
            wg_scalar_deliver(t, thread, r->reg + i, r->data[i]);
    } else if (is_load(r->kind) || r->kind == WG_SCALAR_INCREMENT) {
        uint32_t keep = r->bytes < 4 ? UINT32_MAX << 8 * r->bytes : 0;
        wg_scalar_deliver(t, thread, r->reg, (t->regs.gpr.r[thread][r->reg] & keep) | (r->data[0] & ~keep));
    } else {
        return;
    }
    wg_touch_by(t, WG_AGENT_SCALAR, &r->insn);
    wg_touch_gpr(t, WG_TOUCH_WRITE | WG_TOUCH_LATE, thread, r->reg, count);
}

static void drop(wg_scalar *u, unsigned i)
{
    u->outstanding[u->request[i].insn.thread]--;
    u->count--;
    memmove(&u->request[i], &u->request[i + 1], (u->count - i) * sizeof u->request[0]);
}

void wg_scalar_serve_requests(wg_tile *t)
{
    wg_scalar *u = &t->backend.scalar;
    uint64_t now = t->sched.now;
    for (unsigned i = 0; i < u->count; i++) {
        wg_scalar_request *r = &u->request[i];
        if (r->reached || r->reaches_at > now)
            continue;
        uint64_t retry;
        if (!access_memory(t, r, &retry)) {
            r->answers_at += retry - r->reaches_at;
            r->reaches_at = retry;
            break; /* in order: no later request is served */
        }
        r->reached = true;
    }
    for (unsigned i = 0; i < u->count;) {
        wg_scalar_request r = u->request[i];
        if (!r.reached || r.answers_at > now) {
            i++;
            continue;
        }
        deliver(t, &r);
        drop(u, i);
        wg_gpr_settle(t, r.insn.thread);
        wg_wake_threads(&t->sched);
        wg_wake_idle_watchers(&t->sched);
        if (u->waiting)
            u->until = now; /* it may be waiting for this answer */
        if (u->asking && u->executing && r.insn.id == u->insn.id && r.insn.thread == u->insn.thread) {
            u->asking = false;
            u->answered = true;
            u->refused = r.failed;
            u->operand[0] = r.data[0];
            u->until = now;
        }
    }
}

uint64_t wg_scalar_next_request(const wg_tile *t)
{
    const wg_scalar *u = &t->backend.scalar;
    uint64_t next = WG_NEVER;
    for (unsigned i = 0; i < u->count; i++) {
        uint64_t due = u->request[i].reached ? u->request[i].answers_at : u->request[i].reaches_at;
        next = due < next ? due : next;
    }
    return next;
}

/* ---- Addresses -------------------------------------------------------------------------------------- */

static bool in_l1(wg_tile *t, const wg_insn *insn, uint64_t address)
{
    if (address < t->spec->l1_bytes)
        return true;
    wg_findf(t, WG_F_SCALAR_ADDRESS, wg_insn_finding(insn, address, 0), "address 0x%llx; L1 ends at 0x%x",
             (unsigned long long)address, t->spec->l1_bytes);
    return false;
}

static uint32_t align(wg_tile *t, const wg_insn *insn, uint32_t address, unsigned bytes)
{
    if (address & (bytes - 1))
        wg_findf(t, WG_F_SCALAR_MISALIGNED, wg_insn_finding(insn, address, bytes), "%u bytes at 0x%x", bytes, address);
    return address & ~(uint32_t)(bytes - 1);
}

static bool in_mmio(wg_tile *t, const wg_insn *insn, uint32_t address)
{
    if (address >= MMIO_FIRST)
        return true;
    wg_findf(t, WG_F_SCALAR_ADDRESS, wg_insn_finding(insn, address, 0), "address 0x%08x; registers begin at 0x%08x",
             address, MMIO_FIRST);
    return false;
}

static uint32_t offset_of(wg_tile *t, const wg_insn *insn)
{
    return wg_gpr_half_operand(t, insn, WG_GET(STOREIND, OffsetIndex, insn->word));
}

/* Advances the offset's half register after the instruction by 0, 2, 4 or 16. */
static void step_offset(wg_tile *t, const wg_scalar *u)
{
    static const uint8_t increments[4] = {0, 2, 4, 16};
    unsigned half = WG_GET(STOREIND, OffsetIndex, u->insn.word);
    unsigned increment = increments[WG_GET(STOREIND, AutoIncSpec, u->insn.word)];
    uint32_t old = t->regs.gpr.r[u->insn.thread][half >> 1 & 0x3F], shift = half & 1 ? 16 : 0;
    uint32_t value = ((old >> shift) + increment) & 0xFFFF;
    if (!increment)
        return;
    wg_scalar_deliver(t, u->insn.thread, half >> 1, (old & ~(UINT32_C(0xFFFF) << shift)) | value << shift);
    wg_touch(t, WG_TOUCH_WRITE, WG_TOUCH_GPR, u->insn.thread * 2u * WG_GPRS + half, 1);
}

/* ---- LOADIND, STOREIND ------------------------------------------------------------------------------ */

/* STOREIND's target: L1, else registers, else SrcA or SrcB. */
static bool to_l1(uint32_t word) { return WG_GET(STOREIND, MemHierSel, word); }
static bool to_mmio(uint32_t word) { return WG_GET(STOREIND, SizeSel, word); }

unsigned wg_scalar_start_indirect(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    bool store = insn->op == WG_I_STOREIND;
    uint32_t base = wg_gpr_operand(t, insn, addr_reg(insn->word)), offset = offset_of(t, insn);
    bool bytes_addressed = !store || to_l1(insn->word);
    u->address = bytes_addressed ? base * 16 + offset : base + (offset >> 4);
    if (!store)
        return WG_TIME_SCALAR_SEND;
    unsigned reg = data_reg(insn->word), count = 1;
    if (to_l1(insn->word) && WG_GET(STOREIND, Size, insn->word) >= 2) {
        u->operand[0] = wg_gpr_half_operand(t, insn, 2 * reg);
        return WG_TIME_SCALAR_SEND;
    }
    if (to_l1(insn->word))
        count = WG_GET(STOREIND, Size, insn->word) ? 1 : 4;
    else if (!to_mmio(insn->word))
        count = 2;
    for (unsigned i = 0; i < count; i++)
        u->operand[i] = wg_gpr_operand(t, insn, (count > 1 ? reg & ~3u : reg) + i);
    return WG_TIME_SCALAR_SEND;
}

/* Size 0 to 3: 16, 4, 2, 1 bytes. */
static wg_scalar_request l1_request(wg_tile *t, const wg_scalar *u, unsigned kind, unsigned size)
{
    static const uint8_t bytes[4] = {16, 4, 2, 1};
    wg_scalar_request r = {
        .kind = (uint8_t)kind, .bytes = bytes[size], .reg = (uint8_t)(data_reg(u->insn.word) & (size ? 0x3Fu : 0x3Cu))};
    r.address = align(t, &u->insn, u->address, r.bytes);
    memcpy(r.data, u->operand, sizeof r.data);
    return r;
}

bool wg_scalar_step_loadind(wg_tile *t, wg_scalar *u)
{
    if (!in_l1(t, &u->insn, u->address))
        return true;
    if (!send(t, u, l1_request(t, u, WG_SCALAR_LOAD, WG_GET(LOADIND, SizeSel, u->insn.word))))
        return false;
    step_offset(t, u);
    return true;
}

static uint32_t bf16_low(uint32_t x) { return (x & 0x8000) << 3 | (x & 0x7F00) << 3 | (x & 0xFF); }
static uint32_t bf16_high(uint32_t x) { return x >> 31 << 18 | (x >> 16 & 0x7F) << 11 | (x >> 23 & 0xFF); }

typedef enum store_outcome { AGAIN, STORED, UNDEFINED } store_outcome;

/* Stores four BF16 to the bank that the unpackers write next; stalls until they own it. */
static store_outcome store_to_src(wg_tile *t, wg_scalar *u)
{
    wg_src *src = &t->regs.src;
    unsigned thread = u->insn.thread;
    bool b = WG_GET(STOREIND, RegSizeSel, u->insn.word);
    wg_src_file file = b ? WG_SRCB : WG_SRCA;
    uint32_t address = u->address & 0xFFFFF;
    unsigned bank = (b ? src->unpack_bank_b : src->unpack_bank_a) & 1;
    if (wg_src_is_matrix(src, file, bank)) {
        wg_scalar_wait(t, WG_STALL_SRC_BANK_NOT_UNPACKERS, file * 2 + bank, WG_AGENT_MATRIX);
        return AGAIN;
    }
    int32_t row = (int32_t)(address >> 2) - (b ? 0 : 4);
    bool whole = !b && wg_thread_config_get(t, thread, WG_TCFG_SRCA_SET_SetOvrdWithAddr);
    if (address & 0xF0000 || row >= (whole ? 64 : 16)) {
        wg_findf(t, WG_F_SCALAR_SRC_ROW, wg_insn_finding(&u->insn, address, (uint64_t)(uint32_t)row), "row %d of %s",
                 (int)row, b ? "SrcB" : "SrcA");
        return UNDEFINED;
    }
    if (row < 0)
        return STORED; /* the four rows before SrcA's first do not exist */
    unsigned at = (unsigned)row + (whole ? 0u : b ? src->unpack_row_b[thread] : src->unpack_row_a[thread]);
    uint32_t *to = &wg_src_rows(src, file, bank)[at & 63][(address & 3) * 4];
    wg_touch_src(t, WG_TOUCH_WRITE, file, bank, at, 1);
    to[0] = bf16_low(u->operand[0]);
    to[1] = bf16_high(u->operand[0]);
    to[2] = bf16_low(u->operand[1]);
    to[3] = bf16_high(u->operand[1]);
    wg_src_wrote(src, file, bank);
    return STORED;
}

/* An undefined form does not change the offset either. */
bool wg_scalar_step_storeind(wg_tile *t, wg_scalar *u)
{
    uint32_t word = u->insn.word;
    if (to_l1(word)) {
        if (!in_l1(t, &u->insn, u->address))
            return true;
        if (!send(t, u, l1_request(t, u, WG_SCALAR_STORE, WG_GET(STOREIND, Size, word))))
            return false;
    } else if (to_mmio(word)) {
        uint32_t address = WG_MMIO_BASE + (u->address & 0xFFFFC);
        if (WG_GET(STOREIND, RegSizeSel, word)) {
            wg_findf(t, WG_F_SCALAR_MODE, wg_insn_finding(&u->insn, 3, 0), "a size for a store to registers");
            return true;
        }
        if (!in_mmio(t, &u->insn, address))
            return true;
        if (!send(t, u,
                  (wg_scalar_request){
                      .kind = WG_SCALAR_STORE_MMIO, .bytes = 4, .address = address, .data = {u->operand[0]}}))
            return false;
    } else {
        store_outcome outcome = store_to_src(t, u);
        if (outcome != STORED)
            return outcome == UNDEFINED;
    }
    step_offset(t, u);
    return true;
}

/* ---- LOADREG, STOREREG ------------------------------------------------------------------------------ */

unsigned wg_scalar_start_direct(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    u->address = wg_reg_address(insn->word);
    if (insn->op == WG_I_STOREREG)
        u->operand[0] = wg_gpr_operand(t, insn, WG_GET(STOREREG, TdmaDataRegIndex, insn->word));
    return WG_TIME_SCALAR_SEND;
}

bool wg_scalar_step_direct(wg_tile *t, wg_scalar *u)
{
    bool store = u->insn.op == WG_I_STOREREG;
    if (!in_mmio(t, &u->insn, u->address))
        return true;
    return send(t, u,
                (wg_scalar_request){.kind = store ? WG_SCALAR_STORE_MMIO : WG_SCALAR_LOAD_MMIO,
                                    .bytes = 4,
                                    .address = u->address,
                                    .reg = (uint8_t)WG_GET(LOADREG, TdmaDataRegIndex, u->insn.word),
                                    .data = {u->operand[0]}});
}

/* ---- Atomics ---------------------------------------------------------------------------------------- */

unsigned wg_scalar_start_atomic(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    uint32_t word = insn->word;
    u->address = wg_gpr_operand(t, insn, addr_reg(word));
    unsigned reg = data_reg(word);
    switch (insn->op) {
    case WG_I_ATINCGET: u->operand[0] = wg_gpr_operand(t, insn, reg); break;
    case WG_I_ATSWAP:
        for (unsigned i = 0; i < 4; i++) {
            bool single = WG_GET(ATSWAP, SingleDataReg, word);
            u->operand[i] = single && i != (reg & 3) ? 0 : wg_gpr_operand(t, insn, (reg & ~3u) + i);
        }
        break;
    default: break;
    }
    return WG_TIME_SCALAR_SEND;
}

/* GPRs[AddrReg] * 16 + Ofs * 4. Ruling: MemHierSel 1 has no page; it is reported and nothing is accessed. */
static bool atomic_address(wg_tile *t, const wg_scalar *u, unsigned offset, uint32_t *address)
{
    *address = u->address * 16 + offset * 4;
    if (WG_GET(ATINCGET, MemHierSel, u->insn.word)) {
        wg_findf(t, WG_F_SCALAR_MODE, wg_insn_finding(&u->insn, 1, 0), "MemHierSel 1");
        return false;
    }
    return in_l1(t, &u->insn, *address);
}

bool wg_scalar_step_atincget(wg_tile *t, wg_scalar *u)
{
    uint32_t address, word = u->insn.word;
    if (!atomic_address(t, u, WG_GET(ATINCGET, Sel32b, word), &address))
        return true;
    return send(t, u,
                (wg_scalar_request){.kind = WG_SCALAR_INCREMENT,
                                    .bytes = 4,
                                    .address = address,
                                    .reg = (uint8_t)data_reg(word),
                                    .data = {u->operand[0]},
                                    .mask = (uint32_t)((UINT64_C(2) << WG_GET(ATINCGET, WrapVal, word)) - 1)});
}

bool wg_scalar_step_atswap(wg_tile *t, wg_scalar *u)
{
    uint32_t address;
    if (!atomic_address(t, u, 0, &address))
        return true;
    wg_scalar_request r = {.kind = WG_SCALAR_MASKED_STORE,
                           .bytes = 16,
                           .address = address,
                           .mask = WG_GET(ATSWAP, SwapMask, u->insn.word)};
    memcpy(r.data, u->operand, sizeof r.data);
    return send(t, u, r);
}

/* Sends the request, waits for the confirmation, and retries after a failed comparison, another 15 cycles each. */
bool wg_scalar_step_conditional(wg_tile *t, wg_scalar *u)
{
    bool fifo = u->insn.op == WG_I_ATINCGETPTR;
    if (u->answered) {
        u->answered = false;
        if (u->refused) {
            u->refusals++;
            u->until = t->sched.now + WG_TIME_SCALAR_SEND;
            return false;
        }
        if (fifo)
            wg_scalar_write(t, u->insn.thread, data_reg(u->insn.word), u->operand[0]);
        return true;
    }
    uint32_t address;
    u->address = t->regs.gpr.r[u->insn.thread][addr_reg(u->insn.word)];
    if (!atomic_address(t, u, fifo ? 0 : WG_GET(ATCAS, Sel32b, u->insn.word), &address))
        return true;
    wg_scalar_request r = {.kind = fifo ? WG_SCALAR_FIFO_STEP : WG_SCALAR_COMPARE_SET, .bytes = 4, .address = address};
    if (send(t, u, r)) {
        u->asking = true;
        u->until = WG_NEVER;
    }
    return false;
}
