/* SPDX-License-Identifier: Apache-2.0 */
#include "riscv/follow.h"

#include "isa/riscv_word.h"
#include "machine/memory.h"
#include "riscv/lsu.h"

enum { FENCE = 0x0F };

static bool put_variable(wg_follow *f, uint32_t address, unsigned bytes, wg_held is)
{
    unsigned i = 0;
    while (i < f->variables && f->variable[i].address != (address & ~3u))
        i++;
    if (i == WG_FOLLOW_VARIABLES)
        return false;
    f->variables += i == f->variables;
    f->variable[i].address = address & ~3u;
    f->variable[i].is = bytes == 4 ? is : (wg_held){.from = is.from};
    return true;
}

wg_held wg_follow_memory(const wg_follow *f, uint32_t address, unsigned size)
{
    const uint32_t own = address - WG_RAM_BASE;
    uint32_t line[4];
    if (own < f->t->spec->core[f->core].ram_bytes)
        memcpy(line, f->t->core[f->core].ram + (own & ~15u), WG_L1_LINE);
    else if (address < f->t->spec->l1_bytes)
        memcpy(line, f->t->l1 + (address & ~15u), WG_L1_LINE);
    else
        return (wg_held){0};
    return (wg_held){.value = wg_load_value(line, address, (uint8_t)size), .known = true};
}

static bool load(wg_follow *f, uint32_t rv, wg_held *value)
{
    const wg_held base = f->x[wg_rv_rs1(rv)];
    const uint32_t address = base.value + wg_rv_imm_i(rv);
    const unsigned size = wg_rv_funct3(rv);
    if (!base.known)
        return false;
    for (unsigned i = 0; i < f->variables; i++)
        if (f->variable[i].address == (address & ~3u)) {
            *value = size == 2 ? f->variable[i].is : (wg_held){.from = f->variable[i].is.from};
            return true;
        }
    return f->load(f, address, size, value);
}

static bool store(wg_follow *f, uint32_t rv)
{
    const wg_held base = f->x[wg_rv_rs1(rv)];
    const uint32_t address = base.value + wg_rv_imm_s(rv);
    f->shares |= !base.known || address - WG_RAM_BASE >= f->t->spec->core[f->core].ram_bytes;
    return base.known && put_variable(f, address, 1u << (wg_rv_funct3(rv) & 3), f->x[wg_rv_rs2(rv)]);
}

static wg_held computed(const wg_follow *f, uint32_t rv)
{
    const bool immediate = wg_rv_opcode(rv) == WG_RV_IMMEDIATE, shifts = wg_rv_funct3(rv) % 4 == 1;
    const wg_held a = f->x[wg_rv_rs1(rv)],
                  b = immediate ? (wg_held){.value = wg_rv_imm_i(rv), .known = true} : f->x[wg_rv_rs2(rv)];
    const bool base = (immediate && !shifts) || !(wg_rv_funct7(rv) & 0x5F);
    return (wg_held){
        .value = wg_rv_compute(rv, a.value, b.value), .known = base && a.known && b.known, .from = a.from | b.from};
}

static bool taken(uint32_t rv, uint32_t a, uint32_t b)
{
    const unsigned kind = wg_rv_funct3(rv);
    const bool holds = kind < WG_RV_BLT ? a == b : kind < WG_RV_BLTU ? (int32_t)a < (int32_t)b : a < b;
    return holds != (kind & 1);
}

bool wg_follow_step(wg_follow *f)
{
    uint32_t rv, next = f->pc + 4;
    if (!wg_code_word(f->t, f->pc, &rv) || wg_rv_is_ttinsn(rv))
        return false;
    const wg_held a = f->x[wg_rv_rs1(rv)], b = f->x[wg_rv_rs2(rv)];
    wg_held value = {0};
    unsigned rd = wg_rv_rd(rv);
    f->branch_pc = 0;
    switch (wg_rv_opcode(rv)) {
    case WG_RV_IMMEDIATE:
    case WG_RV_ALU: value = computed(f, rv); break;
    case WG_RV_LUI: value = (wg_held){.value = wg_rv_imm_u(rv), .known = true}; break;
    case WG_RV_AUIPC: value = (wg_held){.value = f->pc + wg_rv_imm_u(rv), .known = true}; break;
    case WG_RV_LOAD:
        if (!load(f, rv, &value))
            return false;
        break;
    case WG_RV_STORE:
        if (!store(f, rv))
            return false;
        rd = 0;
        break;
    case FENCE:
        f->fenced |= wg_rv_funct3(rv) == 0;
        rd = 0;
        break;
    case WG_RV_BRANCH:
        if (!a.known || !b.known)
            return false;
        next = taken(rv, a.value, b.value) ? f->pc + wg_rv_imm_b(rv) : next;
        f->decided = a.from | b.from;
        f->branch_pc = f->pc;
        rd = 0;
        break;
    case WG_RV_JAL:
    case WG_RV_JALR:
        if (wg_rv_opcode(rv) == WG_RV_JALR && !a.known)
            return false;
        value = (wg_held){.value = next, .known = true};
        next = wg_rv_opcode(rv) == WG_RV_JAL ? f->pc + wg_rv_imm_j(rv) : (a.value + wg_rv_imm_i(rv)) & ~1u;
        break;
    default: return false;
    }
    if (rd)
        f->x[rd] = value;
    f->pc = next;
    return true;
}

bool wg_follow_begin(wg_follow *f, const wg_tile *t, unsigned core, uint32_t pc)
{
    const wg_core_run *run = &t->core[core].run;
    *f = (wg_follow){.t = t, .core = core, .pc = pc};
    for (unsigned i = 0; i < 32; i++)
        f->x[i] = (wg_held){.value = run->r[i], .known = true};
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].done == WG_NEVER && run->load[i].rd && run->load[i].rd < 32)
            f->x[run->load[i].rd] = (wg_held){0};
    if (run->ex1.kind == WG_EX1_LOAD && run->ex1.rd && run->ex1.rd < 32)
        f->x[run->ex1.rd] = (wg_held){0};
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = wg_sq_peek(run, i);
        if (s->path == WG_PATH_OWN_RAM &&
            !put_variable(f, s->address, s->bytes, (wg_held){.value = s->data[0], .known = true}))
            return false;
    }
    return true;
}
