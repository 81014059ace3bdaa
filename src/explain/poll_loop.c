/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/poll_loop.h"

#include <string.h>

#include "explain/pages.h"
#include "isa/riscv_word.h"
#include "machine/overlay.h"

#define OWN_RAM UINT32_C(0xFFB00000)
#define SEMAPHORE_WINDOW UINT32_C(0xFFE80020) /* of T cores */
enum { LOOP_MOST = 64 };                      /* instructions */

/* The loop ends with the first jump, at the pc or later, whose target is the pc or earlier. */
bool wg_poll_loop_find(const wg_tile *t, unsigned core, uint32_t pc, wg_poll_loop *out)
{
    uint32_t rv;
    *out = (wg_poll_loop){.t = t, .core = core};
    memcpy(out->r, t->core[core].run.r, sizeof out->r);
    for (uint32_t at = pc; at < pc + 4 * LOOP_MOST && wg_code_word(t, at, &rv); at += 4) {
        const uint32_t op = wg_rv_opcode(rv), target = at + (op == WG_RV_BRANCH ? wg_rv_imm_b(rv) : wg_rv_imm_j(rv));
        if (op == WG_RV_JALR || wg_rv_is_ttinsn(rv))
            return false;
        if ((op != WG_RV_BRANCH && op != WG_RV_JAL) || target > pc || at - target > 4 * LOOP_MOST)
            continue;
        out->from = target;
        out->to = at;
        for (uint32_t i = target; i <= at && wg_code_word(t, i, &rv); i += 4)
            if (wg_rv_opcode(rv) != WG_RV_STORE && wg_rv_opcode(rv) != WG_RV_BRANCH)
                out->written |= 1u << wg_rv_rd(rv);
        out->written &= ~1u;
        return true;
    }
    return false;
}

bool wg_poll_loop_load(const wg_poll_loop *l, uint32_t pc, uint32_t *address)
{
    uint32_t rv;
    if (!wg_code_word(l->t, pc, &rv) || wg_rv_opcode(rv) != WG_RV_LOAD)
        return false;
    *address = l->r[wg_rv_rs1(rv)] + wg_rv_imm_i(rv);
    return !(l->written >> (wg_rv_rs1(rv)) & 1);
}

bool wg_poll_is_own_ram(const wg_tile *t, unsigned core, uint32_t address)
{
    return address - OWN_RAM < t->spec->core[core].ram_bytes;
}

bool wg_poll_value(const wg_tile *t, unsigned core, uint32_t address, unsigned kind, uint32_t *value)
{
    const uint32_t own = address - OWN_RAM;
    uint32_t rv = 0, aligned = address & ~3u;
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(t->arch, aligned, &cb, &popped))
        rv = wg_overlay_stream_read(t, cb,
                                    wg_overlay_number(t->arch, popped ? WG_SR_DEST_BUF_START : WG_SR_DEST_BUF_SIZE));
    else if (aligned <= t->spec->l1_bytes - 4)
        memcpy(&rv, t->l1 + aligned, 4);
    else if (own < t->spec->core[core].ram_bytes)
        memcpy(&rv, (const uint8_t *)t->core[core].ram + (own & ~3u), 4);
    else if (core >= WG_CORE_T0 && aligned - SEMAPHORE_WINDOW < 4 * WG_SEMAPHORES)
        rv = t->backend.sync.value[(aligned - SEMAPHORE_WINDOW) / 4];
    else
        return false;
    rv >>= 8 * (address & 3);
    *value = kind == 0   ? (uint32_t)(int8_t)rv
             : kind == 1 ? (uint32_t)(int16_t)rv
             : kind == 4 ? rv & 0xFF
             : kind == 5 ? rv & 0xFFFF
                         : rv;
    return true;
}

/* A load of what others can change. The core's own RAM holds its variables, unless nothing else is polled. */
static void load(wg_poll_loop *l, uint32_t pc, uint32_t rv, uint32_t address, uint32_t *value, wg_poll_load *from)
{
    const unsigned kind = wg_rv_funct3(rv);
    const bool known = wg_poll_value(l->t, l->core, address, kind, value);
    if (l->own_ram || !wg_poll_is_own_ram(l->t, l->core, address))
        *from = (wg_poll_load){true, false, pc, address, 1u << (kind & 3), known ? *value : l->r[wg_rv_rd(rv)]};
}

/* Runs the loop's straight code up to `end`, so that its registers have the values of that place. */
static void run_to(wg_poll_loop *l, uint32_t end)
{
    uint32_t rv;
    for (uint32_t at = l->from; at < end && wg_code_word(l->t, at, &rv); at += 4) {
        const unsigned rd = wg_rv_rd(rv), rs1 = wg_rv_rs1(rv), rs2 = wg_rv_rs2(rv), funct7 = wg_rv_funct7(rv);
        const uint32_t a = l->r[rs1], b = l->r[rs2];
        uint32_t value = l->r[rd];
        wg_poll_load from = {0};
        switch (wg_rv_opcode(rv)) {
        case WG_RV_LOAD: load(l, at, rv, a + wg_rv_imm_i(rv), &value, &from); break;
        case WG_RV_IMMEDIATE:
            value = wg_rv_compute(rv, a, wg_rv_imm_i(rv));
            from = l->depends[rs1];
            break;
        case WG_RV_LUI: value = wg_rv_imm_u(rv); break;
        case WG_RV_ALU:
            if (funct7 == 0 || funct7 == 0x20)
                value = wg_rv_compute(rv, a, b);
            else if (funct7 == 4 && wg_rv_funct3(rv) == 4) /* zext.h */
                value = a & 0xFFFF;
            from = l->depends[rs1].used ? l->depends[rs1] : l->depends[rs2];
            from.more |=
                l->depends[rs1].used && l->depends[rs2].used && l->depends[rs1].address != l->depends[rs2].address;
            break;
        default: continue;
        }
        if (rd) {
            l->r[rd] = value;
            l->depends[rd] = from;
        }
    }
}

/* A branch that leaves the loop or repeats it. It compares a loaded value with one that no other party changes. */
static bool ending_of(const wg_poll_loop *l, uint32_t at, uint32_t rv, wg_poll_ending *out)
{
    const unsigned left = wg_rv_rs1(rv), right = wg_rv_rs2(rv), kind = wg_rv_funct3(rv);
    const uint32_t target = at + wg_rv_imm_b(rv);
    const bool back = target >= l->from && target <= at, out_of = target > l->to || target < l->from;
    const bool left_changes = l->depends[left].used, right_changes = l->depends[right].used;
    if ((!back && !out_of) || left_changes == right_changes || (back && at != l->to))
        return false;
    out->now = l->r[left_changes ? left : right];
    out->wanted = l->r[left_changes ? right : left];
    out->load = l->depends[left_changes ? left : right];
    const bool less = kind == WG_RV_BLT || kind == WG_RV_BLTU,
               compares = less || kind == WG_RV_BGE || kind == WG_RV_BGEU;
    if (!compares) { /* goes on while equal: any other value ends it */
        out->how = (kind == WG_RV_BEQ) == back ? WG_POLL_UNEQUAL : WG_POLL_EQUAL;
        return kind == WG_RV_BEQ || kind == WG_RV_BNE;
    }
    /* The loop goes on while left < right, or while left >= right. */
    const bool stays_less = less == back;
    if (left_changes) {
        out->how = stays_less ? WG_POLL_AT_LEAST : WG_POLL_AT_MOST;
        out->wanted -= stays_less ? 0 : 1;
    } else {
        out->how = stays_less ? WG_POLL_AT_MOST : WG_POLL_AT_LEAST;
        out->wanted += stays_less ? 0 : 1;
    }
    return true;
}

bool wg_poll_loop_ends(wg_poll_loop *l, wg_poll_ending *out)
{
    uint32_t rv;
    for (uint32_t at = l->from; at <= l->to && wg_code_word(l->t, at, &rv); at += 4) {
        if (wg_rv_opcode(rv) != WG_RV_BRANCH)
            continue;
        wg_poll_loop trial = *l;
        run_to(&trial, at);
        if (ending_of(&trial, at, rv, out)) {
            *l = trial;
            return true;
        }
    }
    return false;
}
