/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of the small RISC-V assembler (rv_assemble.c). Facts: the RISC-V unprivileged specification. */
#include <string.h>

#include "cli/rv_assemble.h"

#define OP(f7, f3) ((uint32_t)(f7) << 25 | (uint32_t)(f3) << 12 | 0x33)
#define OPI(f3) ((uint32_t)(f3) << 12 | 0x13)
#define SHI(f7, f3) ((uint32_t)(f7) << 25 | (uint32_t)(f3) << 12 | 0x13)
#define UNARY(f12, f3) ((uint32_t)(f12) << 20 | (uint32_t)(f3) << 12 | 0x13)
#define AMO(f5) ((uint32_t)(f5) << 27 | 2u << 12 | 0x2F)
#define CSR(f3) ((uint32_t)(f3) << 12 | 0x73)

static const wg_rv_insn insns[] = {
    {"lui", 0x37, WG_RV_UPPER, NULL},
    {"auipc", 0x17, WG_RV_UPPER, NULL},
    {"jal", 0x6F, WG_RV_JAL, NULL},
    {"j", 0x6F, WG_RV_J, NULL},
    {"jalr", 0x67, WG_RV_JALR, NULL},
    {"jr", 0x67, WG_RV_JR, NULL},
    {"ret", 0x8067, WG_RV_NONE, NULL},
    {"beq", 0x0063, WG_RV_BRANCH, NULL},
    {"bne", 0x1063, WG_RV_BRANCH, NULL},
    {"blt", 0x4063, WG_RV_BRANCH, NULL},
    {"bge", 0x5063, WG_RV_BRANCH, NULL},
    {"bltu", 0x6063, WG_RV_BRANCH, NULL},
    {"bgeu", 0x7063, WG_RV_BRANCH, NULL},
    {"bgt", 0x4063, WG_RV_SWAPPED, NULL},
    {"ble", 0x5063, WG_RV_SWAPPED, NULL},
    {"bgtu", 0x6063, WG_RV_SWAPPED, NULL},
    {"bleu", 0x7063, WG_RV_SWAPPED, NULL},
    {"beqz", 0x0063, WG_RV_BRANCH_Z, NULL},
    {"bnez", 0x1063, WG_RV_BRANCH_Z, NULL},
    {"bltz", 0x4063, WG_RV_BRANCH_Z, NULL},
    {"bgez", 0x5063, WG_RV_BRANCH_Z, NULL},
    {"bgtz", 0x4063, WG_RV_Z_BRANCH, NULL},
    {"blez", 0x5063, WG_RV_Z_BRANCH, NULL},
    {"lb", 0x0003, WG_RV_LOAD, NULL},
    {"lh", 0x1003, WG_RV_LOAD, NULL},
    {"lw", 0x2003, WG_RV_LOAD, NULL},
    {"lbu", 0x4003, WG_RV_LOAD, NULL},
    {"lhu", 0x5003, WG_RV_LOAD, NULL},
    {"sb", 0x0023, WG_RV_STORE, NULL},
    {"sh", 0x1023, WG_RV_STORE, NULL},
    {"sw", 0x2023, WG_RV_STORE, NULL},
    {"addi", OPI(0), WG_RV_I, NULL},
    {"slti", OPI(2), WG_RV_I, NULL},
    {"sltiu", OPI(3), WG_RV_I, NULL},
    {"xori", OPI(4), WG_RV_I, NULL},
    {"ori", OPI(6), WG_RV_I, NULL},
    {"andi", OPI(7), WG_RV_I, NULL},
    {"slli", SHI(0, 1), WG_RV_SHIFT, NULL},
    {"srli", SHI(0, 5), WG_RV_SHIFT, NULL},
    {"srai", SHI(0x20, 5), WG_RV_SHIFT, NULL},
    {"rori", SHI(0x30, 5), WG_RV_SHIFT, NULL},
    {"add", OP(0, 0), WG_RV_R, "addi"},
    {"sub", OP(0x20, 0), WG_RV_R, NULL},
    {"sll", OP(0, 1), WG_RV_R, "slli"},
    {"slt", OP(0, 2), WG_RV_R, "slti"},
    {"sltu", OP(0, 3), WG_RV_R, "sltiu"},
    {"xor", OP(0, 4), WG_RV_R, "xori"},
    {"srl", OP(0, 5), WG_RV_R, "srli"},
    {"sra", OP(0x20, 5), WG_RV_R, "srai"},
    {"or", OP(0, 6), WG_RV_R, "ori"},
    {"and", OP(0, 7), WG_RV_R, "andi"},
    {"mul", OP(1, 0), WG_RV_R, NULL},
    {"mulh", OP(1, 1), WG_RV_R, NULL},
    {"mulhsu", OP(1, 2), WG_RV_R, NULL},
    {"mulhu", OP(1, 3), WG_RV_R, NULL},
    {"div", OP(1, 4), WG_RV_R, NULL},
    {"divu", OP(1, 5), WG_RV_R, NULL},
    {"rem", OP(1, 6), WG_RV_R, NULL},
    {"remu", OP(1, 7), WG_RV_R, NULL},
    {"sh1add", OP(0x10, 2), WG_RV_R, NULL},
    {"sh2add", OP(0x10, 4), WG_RV_R, NULL},
    {"sh3add", OP(0x10, 6), WG_RV_R, NULL},
    {"andn", OP(0x20, 7), WG_RV_R, NULL},
    {"orn", OP(0x20, 6), WG_RV_R, NULL},
    {"xnor", OP(0x20, 4), WG_RV_R, NULL},
    {"min", OP(5, 4), WG_RV_R, NULL},
    {"minu", OP(5, 5), WG_RV_R, NULL},
    {"max", OP(5, 6), WG_RV_R, NULL},
    {"maxu", OP(5, 7), WG_RV_R, NULL},
    {"rol", OP(0x30, 1), WG_RV_R, NULL},
    {"ror", OP(0x30, 5), WG_RV_R, "rori"},
    {"pack", OP(4, 4), WG_RV_R, NULL},
    {"packh", OP(4, 7), WG_RV_R, NULL},
    {"clz", UNARY(0x600, 1), WG_RV_RD_RS1, NULL},
    {"ctz", UNARY(0x601, 1), WG_RV_RD_RS1, NULL},
    {"cpop", UNARY(0x602, 1), WG_RV_RD_RS1, NULL},
    {"sext.b", UNARY(0x604, 1), WG_RV_RD_RS1, NULL},
    {"sext.h", UNARY(0x605, 1), WG_RV_RD_RS1, NULL},
    {"zext.h", OP(4, 4), WG_RV_RD_RS1, NULL},
    {"zext.b", 0x0FF00000 | OPI(7), WG_RV_RD_RS1, NULL},
    {"orc.b", UNARY(0x287, 5), WG_RV_RD_RS1, NULL},
    {"rev8", UNARY(0x698, 5), WG_RV_RD_RS1, NULL},
    {"brev8", UNARY(0x687, 5), WG_RV_RD_RS1, NULL},
    {"zip", UNARY(0x08F, 1), WG_RV_RD_RS1, NULL},
    {"unzip", UNARY(0x08F, 5), WG_RV_RD_RS1, NULL},
    {"mv", OPI(0), WG_RV_RD_RS1, NULL},
    {"move", OPI(0), WG_RV_RD_RS1, NULL},
    {"not", 0xFFF00000 | OPI(4), WG_RV_RD_RS1, NULL},
    {"seqz", 0x00100000 | OPI(3), WG_RV_RD_RS1, NULL},
    {"sltz", OP(0, 2), WG_RV_RD_RS1, NULL},
    {"neg", OP(0x20, 0), WG_RV_RD_RS2, NULL},
    {"snez", OP(0, 3), WG_RV_RD_RS2, NULL},
    {"sgtz", OP(0, 2), WG_RV_RD_RS2, NULL},
    {"lr.w", AMO(2), WG_RV_LR, NULL},
    {"sc.w", AMO(3), WG_RV_ATOMIC, NULL},
    {"amoswap.w", AMO(1), WG_RV_ATOMIC, NULL},
    {"amoadd.w", AMO(0), WG_RV_ATOMIC, NULL},
    {"amoxor.w", AMO(4), WG_RV_ATOMIC, NULL},
    {"amoand.w", AMO(12), WG_RV_ATOMIC, NULL},
    {"amoor.w", AMO(8), WG_RV_ATOMIC, NULL},
    {"amomin.w", AMO(16), WG_RV_ATOMIC, NULL},
    {"amomax.w", AMO(20), WG_RV_ATOMIC, NULL},
    {"amominu.w", AMO(24), WG_RV_ATOMIC, NULL},
    {"amomaxu.w", AMO(28), WG_RV_ATOMIC, NULL},
    {"csrrw", CSR(1), WG_RV_CSR, NULL},
    {"csrrs", CSR(2), WG_RV_CSR, NULL},
    {"csrrc", CSR(3), WG_RV_CSR, NULL},
    {"csrrwi", CSR(5), WG_RV_CSR_I, NULL},
    {"csrrsi", CSR(6), WG_RV_CSR_I, NULL},
    {"csrrci", CSR(7), WG_RV_CSR_I, NULL},
    {"csrr", CSR(2), WG_RV_CSR_RD, NULL},
    {"csrw", CSR(1), WG_RV_CSR_RS, NULL},
    {"csrs", CSR(2), WG_RV_CSR_RS, NULL},
    {"csrc", CSR(3), WG_RV_CSR_RS, NULL},
    {"csrwi", CSR(5), WG_RV_CSR_IMM, NULL},
    {"csrsi", CSR(6), WG_RV_CSR_IMM, NULL},
    {"csrci", CSR(7), WG_RV_CSR_IMM, NULL},
    {"rdcycle", 0xC0000000 | CSR(2), WG_RV_RD, NULL},
    {"rdtime", 0xC0100000 | CSR(2), WG_RV_RD, NULL},
    {"rdinstret", 0xC0200000 | CSR(2), WG_RV_RD, NULL},
    {"rdcycleh", 0xC8000000 | CSR(2), WG_RV_RD, NULL},
    {"rdtimeh", 0xC8100000 | CSR(2), WG_RV_RD, NULL},
    {"rdinstreth", 0xC8200000 | CSR(2), WG_RV_RD, NULL},
    {"nop", OPI(0), WG_RV_NONE, NULL},
    {"ecall", 0x00000073, WG_RV_NONE, NULL},
    {"ebreak", 0x00100073, WG_RV_NONE, NULL},
    {"mret", 0x30200073, WG_RV_NONE, NULL},
    {"wfi", 0x10500073, WG_RV_NONE, NULL},
    {"unimp", 0xC0001073, WG_RV_NONE, NULL},
    {"fence", 0x0000000F, WG_RV_FENCE, NULL},
    {"fence.i", 0x0000100F, WG_RV_NONE, NULL},
    {"fence.tso", 0x8330000F, WG_RV_NONE, NULL},
    {"li", OPI(0), WG_RV_LI, NULL},
    {"la", OPI(0), WG_RV_LA, NULL},
    {"lla", OPI(0), WG_RV_LA, NULL},
    {"call", 0x0E7, WG_RV_CALL, NULL},
    {"tail", 0x067, WG_RV_CALL, NULL},
};

static bool is(const char *word, const char *name, size_t length)
{
    return strlen(word) == length && memcmp(word, name, length) == 0;
}

const wg_rv_insn *wg_rv_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof insns / sizeof *insns; i++)
        if (is(insns[i].name, name, length))
            return &insns[i];
    return NULL;
}

bool wg_rv_is_float(const char *name, size_t length)
{
    static const char *const begin[] = {"flw",   "fsw",    "flh",   "fsh",   "fadd", "fsub", "fmul", "fdiv",
                                        "fsqrt", "fsgnj",  "fmin",  "fmax",  "fcvt", "fmv",  "feq",  "flt",
                                        "fle",   "fclass", "fmadd", "fmsub", "fnm",  "fabs", "fneg"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (length >= strlen(begin[i]) && memcmp(name, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

uint32_t wg_rv_i(int64_t imm) { return (uint32_t)imm << 20; }
uint32_t wg_rv_s(int64_t imm) { return ((uint32_t)imm & 0xFE0) << 20 | ((uint32_t)imm & 31) << 7; }

uint32_t wg_rv_b(int64_t offset)
{
    const uint32_t o = (uint32_t)offset;
    return (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7;
}

uint32_t wg_rv_j(int64_t offset)
{
    const uint32_t o = (uint32_t)offset;
    return (o >> 20 & 1) << 31 | (o >> 1 & 1023) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 255) << 12;
}
