/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RISC-V text without libopcodes, as it would be with it: RV32IMA, Zicsr, Zifencei, Zba, Zbb. Other words are unknown. Facts: the RISC-V
 * unprivileged specification; the aliases are those of binutils.
 */
#include "text/rv_text.h"

#include <stdio.h>
#include <string.h>

static const char *const registers[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                          "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                          "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const struct {
    const char *name;
    int number;
} csrs[] = {{"fflags", 0x001},  {"frm", 0x002},      {"fcsr", 0x003},     {"vstart", 0x008},   {"vxsat", 0x009},
            {"vxrm", 0x00A},    {"vcsr", 0x00F},     {"mstatus", 0x300},  {"misa", 0x301},     {"mie", 0x304},
            {"mtvec", 0x305},   {"mscratch", 0x340}, {"mepc", 0x341},     {"mcause", 0x342},   {"mtval", 0x343},
            {"mip", 0x344},     {"mcycle", 0xB00},   {"minstret", 0xB02}, {"mcycleh", 0xB80},  {"minstreth", 0xB82},
            {"cycle", 0xC00},   {"time", 0xC01},     {"instret", 0xC02},  {"vl", 0xC20},       {"vtype", 0xC21},
            {"vlenb", 0xC22},   {"cycleh", 0xC80},   {"timeh", 0xC81},    {"instreth", 0xC82}, {"mvendorid", 0xF11},
            {"marchid", 0xF12}, {"mimpid", 0xF13},   {"mhartid", 0xF14}};

static bool is(const char *word, const char *name, size_t length)
{
    return strlen(word) == length && memcmp(word, name, length) == 0;
}

int wg_rv_register(const char *name, size_t length)
{
    for (int i = 0; i < 32; i++)
        if (is(registers[i], name, length))
            return i;
    if (is("fp", name, length))
        return 8;
    if (length < 2 || length > 3 || name[0] != 'x' || (name[1] == '0' && length > 2))
        return -1;
    int number = 0;
    for (size_t i = 1; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        number = 10 * number + name[i] - '0';
    }
    return number < 32 ? number : -1;
}

int wg_rv_csr(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof csrs / sizeof *csrs; i++)
        if (is(csrs[i].name, name, length))
            return csrs[i].number;
    return -1;
}

static const char *csr_name(unsigned number)
{
    for (size_t i = 0; i < sizeof csrs / sizeof *csrs; i++)
        if (csrs[i].number == (int)number)
            return csrs[i].name;
    return NULL;
}

/* ---- one instruction ---- */

typedef struct word {
    uint32_t w, pc;
    unsigned rd, rs1, rs2, f3, f7;
    int32_t imm; /* of an I type */
    const char *d, *s, *t;
    char *out;
    size_t size;
} word;

static bool put(const word *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool put(const word *i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(i->out, i->size, format, args);
    va_end(args);
    return true;
}

/* An address that an offset alone makes, or one from the thread pointer, is shown behind the instruction. */
static bool put_place(const word *i, const char *name, const char *reg, int32_t offset)
{
    if (i->rs1 == 0 || i->rs1 == 4)
        return put(i, "%s\t%s,%d(%s) # 0x%x", name, reg, offset, i->s, (unsigned)offset);
    return put(i, "%s\t%s,%d(%s)", name, reg, offset, i->s);
}

static bool branch(const word *i)
{
    static const char *const names[8] = {"beq", "bne", NULL, NULL, "blt", "bge", "bltu", "bgeu"};
    static const char *const right_zero[8] = {"beqz", "bnez", NULL, NULL, "bltz", "bgez", NULL, NULL};
    const uint32_t w = i->w;
    const int32_t offset =
        (int32_t)(((w >> 31) * 0xFFFFF000u) | (w >> 7 & 1) << 11 | (w >> 25 & 63) << 5 | (w >> 8 & 15) << 1);
    const unsigned to = i->pc + (unsigned)offset;
    if (!names[i->f3])
        return false;
    if (i->f3 == 5 && i->rs1 == 0)
        return put(i, "blez\t%s,0x%x", i->t, to);
    if (i->rs2 == 0 && right_zero[i->f3])
        return put(i, "%s\t%s,0x%x", right_zero[i->f3], i->s, to);
    if (i->f3 == 4 && i->rs1 == 0)
        return put(i, "bgtz\t%s,0x%x", i->t, to);
    return put(i, "%s\t%s,%s,0x%x", names[i->f3], i->s, i->t, to);
}

static bool jump(const word *i)
{
    const uint32_t w = i->w;
    const int32_t offset =
        (int32_t)(((w >> 31) * 0xFFF00000u) | (w >> 12 & 255) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 1023) << 1);
    const unsigned to = i->pc + (unsigned)offset;
    if (i->rd == 0)
        return put(i, "j\t0x%x", to);
    return i->rd == 1 ? put(i, "jal\t0x%x", to) : put(i, "jal\t%s,0x%x", i->d, to);
}

static bool jump_register(const word *i)
{
    char place[40];
    if (i->f3)
        return false;
    if (i->rd == 0 && i->rs1 == 1 && i->imm == 0)
        return put(i, "ret");
    if (i->imm == 0)
        snprintf(place, sizeof place, "%s", i->s);
    else if (i->rs1 == 0 || i->rs1 == 4)
        snprintf(place, sizeof place, "%d(%s) # 0x%x", i->imm, i->s, (unsigned)i->imm);
    else
        snprintf(place, sizeof place, "%d(%s)", i->imm, i->s);
    if (i->rd == 0)
        return put(i, "jr\t%s", place);
    return i->rd == 1 ? put(i, "jalr\t%s", place) : put(i, "jalr\t%s,%s", i->d, place);
}

static bool unary(const word *i)
{
    static const struct {
        unsigned top, f3;
        const char *name;
    } all[] = {{0x600, 1, "clz"},    {0x601, 1, "ctz"},   {0x602, 1, "cpop"}, {0x604, 1, "sext.b"},
               {0x605, 1, "sext.h"}, {0x287, 5, "orc.b"}, {0x698, 5, "rev8"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (i->w >> 20 == all[k].top && i->f3 == all[k].f3)
            return put(i, "%s\t%s,%s", all[k].name, i->d, i->s);
    return false;
}

static bool with_immediate(const word *i)
{
    static const char *const names[8] = {"add", NULL, "slti", "sltiu", "xor", NULL, "or", "and"};
    if (i->w == 0x13)
        return put(i, "nop");
    if (i->f3 == 0 && i->rs1 == 0)
        return put(i, "li\t%s,%d", i->d, i->imm);
    if (i->f3 == 0 && i->imm == 0)
        return put(i, "mv\t%s,%s", i->d, i->s);
    if (i->f3 == 0 && i->rs1 == 4)
        return put(i, "add\t%s,%s,%d # 0x%x", i->d, i->s, i->imm, (unsigned)i->imm);
    if (i->f3 == 3 && i->imm == 1)
        return put(i, "seqz\t%s,%s", i->d, i->s);
    if (i->f3 == 4 && i->imm == -1)
        return put(i, "not\t%s,%s", i->d, i->s);
    if (i->f3 == 7 && i->imm == 255)
        return put(i, "zext.b\t%s,%s", i->d, i->s);
    if (names[i->f3])
        return put(i, "%s\t%s,%s,%d", names[i->f3], i->d, i->s, i->imm);
    const char *shift = i->f3 == 1 && i->f7 == 0      ? "sll"
                        : i->f3 == 5 && i->f7 == 0    ? "srl"
                        : i->f3 == 5 && i->f7 == 0x20 ? "sra"
                        : i->f3 == 5 && i->f7 == 0x30 ? "ror"
                                                      : NULL;
    return shift ? put(i, "%s\t%s,%s,0x%x", shift, i->d, i->s, i->rs2) : unary(i);
}

static bool of_registers(const word *i)
{
    static const struct {
        unsigned f7;
        const char *name[8];
    } all[] = {{0x00, {"add", "sll", "slt", "sltu", "xor", "srl", "or", "and"}},
               {0x20, {"sub", NULL, NULL, NULL, "xnor", "sra", "orn", "andn"}},
               {0x01, {"mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"}},
               {0x10, {NULL, NULL, "sh1add", NULL, "sh2add", NULL, "sh3add", NULL}},
               {0x05, {NULL, NULL, NULL, NULL, "min", "minu", "max", "maxu"}},
               {0x30, {NULL, "rol", NULL, NULL, NULL, "ror", NULL, NULL}}};
    const unsigned which = i->f7 << 3 | i->f3;
    if (which == (0x20 << 3 | 0) && i->rs1 == 0)
        return put(i, "neg\t%s,%s", i->d, i->t);
    if (which == 3 && i->rs1 == 0)
        return put(i, "snez\t%s,%s", i->d, i->t);
    if (which == 2 && i->rs2 == 0)
        return put(i, "sltz\t%s,%s", i->d, i->s);
    if (which == 2 && i->rs1 == 0)
        return put(i, "sgtz\t%s,%s", i->d, i->t);
    if (which == (4 << 3 | 4) && i->rs2 == 0)
        return put(i, "zext.h\t%s,%s", i->d, i->s);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (i->f7 == all[k].f7 && all[k].name[i->f3])
            return put(i, "%s\t%s,%s,%s", all[k].name[i->f3], i->d, i->s, i->t);
    return false;
}

static const char *fence_set(uint32_t bits, char room[5])
{
    char *p = room;
    for (unsigned k = 0; k < 4; k++)
        if (bits >> (3 - k) & 1)
            *p++ = "iorw"[k];
    *p = 0;
    return bits ? room : "unknown";
}

static bool fence(const word *i)
{
    char before[5], after[5];
    if (i->w == 0x0000100F)
        return put(i, "fence.i");
    if (i->w == 0x0FF0000F)
        return put(i, "fence");
    if (i->w == 0x8330000F)
        return put(i, "fence.tso");
    if (i->f3 || i->rd || i->rs1 || i->w >> 28 || i->w == 0x0100000F)
        return false;
    return put(i, "fence\t%s,%s", fence_set(i->w >> 24 & 15, before), fence_set(i->w >> 20 & 15, after));
}

static bool system_word(const word *i)
{
    static const char *const names[8] = {NULL, "w", "s", "c", NULL, "w", "s", "c"};
    static const struct {
        uint32_t word;
        const char *name;
    } whole[] = {{0x00000073, "ecall"},
                 {0x00100073, "ebreak"},
                 {0x30200073, "mret"},
                 {0x10500073, "wfi"},
                 {0xC0001073, "unimp"}};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        if (i->w == whole[k].word)
            return put(i, "%s", whole[k].name);
    const char *csr = csr_name(i->w >> 20), *what = names[i->f3];
    const bool counter = csr && i->w >> 28 == 0xC && (i->w >> 20 & 0x7F) < 3;
    char value[16];
    if (!what || !csr)
        return false;
    if (i->f3 == 2 && i->rs1 == 0 && counter)
        return put(i, "rd%s\t%s", csr, i->d);
    if (i->f3 == 2 && i->rs1 == 0)
        return put(i, "csrr\t%s,%s", i->d, csr);
    if (i->w >> 20 < 4 && i->w >> 20) /* the floating-point registers have aliases of their own */
        return false;
    if (i->f3 > 4)
        snprintf(value, sizeof value, "%u", i->rs1);
    else
        snprintf(value, sizeof value, "%s", i->s);
    if (i->rd == 0)
        return put(i, "csr%s%s\t%s,%s", what, i->f3 > 4 ? "i" : "", csr, value);
    return put(i, "csrr%s\t%s,%s,%s", what, i->d, csr, value);
}

static bool atomic(const word *i)
{
    static const char *const names[32] = {
        [0] = "amoadd.w",  [1] = "amoswap.w", [2] = "lr.w",      [3] = "sc.w",       [4] = "amoxor.w",  [8] = "amoor.w",
        [12] = "amoand.w", [16] = "amomin.w", [20] = "amomax.w", [24] = "amominu.w", [28] = "amomaxu.w"};
    static const char *const order[4] = {"", ".rl", ".aq", ".aqrl"};
    const char *name = names[i->w >> 27];
    if (i->f3 != 2 || !name || (i->w >> 27 == 2 && i->rs2))
        return false;
    if (i->w >> 27 == 2)
        return put(i, "%s%s\t%s,(%s)", name, order[i->w >> 25 & 3], i->d, i->s);
    return put(i, "%s%s\t%s,%s,(%s)", name, order[i->w >> 25 & 3], i->d, i->t, i->s);
}

bool wg_rv_text(uint32_t pc, uint32_t w, char *out, size_t size)
{
    static const char *const loads[8] = {"lb", "lh", "lw", NULL, "lbu", "lhu", NULL, NULL};
    static const char *const stores[8] = {"sb", "sh", "sw"};
    const word i = {.w = w,
                    .pc = pc,
                    .rd = w >> 7 & 31,
                    .rs1 = w >> 15 & 31,
                    .rs2 = w >> 20 & 31,
                    .f3 = w >> 12 & 7,
                    .f7 = w >> 25,
                    .imm = (int32_t)w >> 20,
                    .d = registers[w >> 7 & 31],
                    .s = registers[w >> 15 & 31],
                    .t = registers[w >> 20 & 31],
                    .out = out,
                    .size = size};
    switch (w & 0x7F) {
    case 0x37: return put(&i, "lui\t%s,0x%x", i.d, w >> 12);
    case 0x17: return put(&i, "auipc\t%s,0x%x", i.d, w >> 12);
    case 0x6F: return jump(&i);
    case 0x67: return jump_register(&i);
    case 0x63: return branch(&i);
    case 0x03: return loads[i.f3] && put_place(&i, loads[i.f3], i.d, i.imm);
    case 0x23:
        return stores[i.f3] && put_place(&i, stores[i.f3], i.t, (int32_t)((uint32_t)i.imm & ~31u) | (int32_t)i.rd);
    case 0x13: return with_immediate(&i);
    case 0x33: return of_registers(&i);
    case 0x0F: return fence(&i);
    case 0x73: return system_word(&i);
    case 0x2F: return atomic(&i);
    default: return false;
    }
}
