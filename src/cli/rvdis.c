/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RISC-V instructions that some baby core executes: RV32IM, Zicsr, Zaamo, Zba, Zbb, the bits of Zbkb
 * and of the older bit manipulation draft, and the parts of F and Zfh. Decided here: our own table instead
 * of binutils' libopcodes, which Debian builds for the host's architecture only; the tests hold it against
 * the RISC-V objdump.
 *
 * Facts: the RISC-V unprivileged specification; BabyRISCV/InstructionSet.md for which there are.
 */
#include "cli/rvdis.h"

#include <stdio.h>
#include <string.h>

/*
 * Operands: d rd, s rs1, t rs2, D/S/T/R the same as floating-point registers (R: rs3), j I-immediate, > shift
 * amount, u U-immediate, p branch target, a jump target, o(s) load, q(s) store, 0(s) no offset, Z CSR
 * immediate, E CSR, P Q fence sets, r rounding mode. Everything else stands for itself.
 */
typedef struct rv_op {
    const char *name;
    uint32_t mask, match;
    const char *operands;
} rv_op;

#define R 0xFE00707Fu
#define I 0x0000707Fu
#define RM 0xFE00007Fu
#define RM2 0xFFF0007Fu
#define ALL 0xFFFFFFFFu
#define UN 0xFFF0707Fu
static const rv_op ops[] = {
    {"lui", 0x7F, 0x37, "d,u"},
    {"auipc", 0x7F, 0x17, "d,u"},
    {"jal", 0x7F, 0x6F, "d,a"},
    {"jalr", I, 0x67, "d,o(s)"},
    {"beq", I, 0x0063, "s,t,p"},
    {"bne", I, 0x1063, "s,t,p"},
    {"blt", I, 0x4063, "s,t,p"},
    {"bge", I, 0x5063, "s,t,p"},
    {"bltu", I, 0x6063, "s,t,p"},
    {"bgeu", I, 0x7063, "s,t,p"},
    {"lb", I, 0x0003, "d,o(s)"},
    {"lh", I, 0x1003, "d,o(s)"},
    {"lw", I, 0x2003, "d,o(s)"},
    {"lbu", I, 0x4003, "d,o(s)"},
    {"lhu", I, 0x5003, "d,o(s)"},
    {"sb", I, 0x0023, "t,q(s)"},
    {"sh", I, 0x1023, "t,q(s)"},
    {"sw", I, 0x2023, "t,q(s)"},
    {"addi", I, 0x0013, "d,s,j"},
    {"slti", I, 0x2013, "d,s,j"},
    {"sltiu", I, 0x3013, "d,s,j"},
    {"xori", I, 0x4013, "d,s,j"},
    {"ori", I, 0x6013, "d,s,j"},
    {"andi", I, 0x7013, "d,s,j"},
    {"slli", R, 0x00001013, "d,s,>"},
    {"srli", R, 0x00005013, "d,s,>"},
    {"srai", R, 0x40005013, "d,s,>"},
    {"add", R, 0x00000033, "d,s,t"},
    {"sub", R, 0x40000033, "d,s,t"},
    {"sll", R, 0x00001033, "d,s,t"},
    {"slt", R, 0x00002033, "d,s,t"},
    {"sltu", R, 0x00003033, "d,s,t"},
    {"xor", R, 0x00004033, "d,s,t"},
    {"srl", R, 0x00005033, "d,s,t"},
    {"sra", R, 0x40005033, "d,s,t"},
    {"or", R, 0x00006033, "d,s,t"},
    {"and", R, 0x00007033, "d,s,t"},
    {"fence.tso", 0xFFF0707F, 0x8330000F, ""},
    {"fence", 0xF000707F, 0x0000000F, "P,Q"},
    {"fence.i", I, 0x0000100F, ""},
    {"ecall", ALL, 0x00000073, ""},
    {"ebreak", ALL, 0x00100073, ""},
    {"mret", ALL, 0x30200073, ""},
    {"wfi", ALL, 0x10500073, ""},
    {"csrrw", I, 0x1073, "d,E,s"},
    {"csrrs", I, 0x2073, "d,E,s"},
    {"csrrc", I, 0x3073, "d,E,s"},
    {"csrrwi", I, 0x5073, "d,E,Z"},
    {"csrrsi", I, 0x6073, "d,E,Z"},
    {"csrrci", I, 0x7073, "d,E,Z"},
    {"mul", R, 0x02000033, "d,s,t"},
    {"mulh", R, 0x02001033, "d,s,t"},
    {"mulhsu", R, 0x02002033, "d,s,t"},
    {"mulhu", R, 0x02003033, "d,s,t"},
    {"div", R, 0x02004033, "d,s,t"},
    {"divu", R, 0x02005033, "d,s,t"},
    {"rem", R, 0x02006033, "d,s,t"},
    {"remu", R, 0x02007033, "d,s,t"},
    {"amoswap.w", 0xF800707F, 0x0800202F, "A"},
    {"amoadd.w", 0xF800707F, 0x0000202F, "A"},
    {"amoxor.w", 0xF800707F, 0x2000202F, "A"},
    {"amoand.w", 0xF800707F, 0x6000202F, "A"},
    {"amoor.w", 0xF800707F, 0x4000202F, "A"},
    {"amomin.w", 0xF800707F, 0x8000202F, "A"},
    {"amomax.w", 0xF800707F, 0xA000202F, "A"},
    {"amominu.w", 0xF800707F, 0xC000202F, "A"},
    {"amomaxu.w", 0xF800707F, 0xE000202F, "A"},
    {"sh1add", R, 0x20002033, "d,s,t"},
    {"sh2add", R, 0x20004033, "d,s,t"},
    {"sh3add", R, 0x20006033, "d,s,t"},
    {"andn", R, 0x40007033, "d,s,t"},
    {"orn", R, 0x40006033, "d,s,t"},
    {"xnor", R, 0x40004033, "d,s,t"},
    {"clz", UN, 0x60001013, "d,s"},
    {"ctz", UN, 0x60101013, "d,s"},
    {"cpop", UN, 0x60201013, "d,s"},
    {"max", R, 0x0A006033, "d,s,t"},
    {"maxu", R, 0x0A007033, "d,s,t"},
    {"min", R, 0x0A004033, "d,s,t"},
    {"minu", R, 0x0A005033, "d,s,t"},
    {"sext.b", UN, 0x60401013, "d,s"},
    {"sext.h", UN, 0x60501013, "d,s"},
    {"zext.h", UN, 0x08004033, "d,s"},
    {"pack", R, 0x08004033, "d,s,t"},
    {"rol", R, 0x60001033, "d,s,t"},
    {"ror", R, 0x60005033, "d,s,t"},
    {"rori", R, 0x60005013, "d,s,>"},
    {"orc.b", UN, 0x28705013, "d,s"},
    {"rev8", UN, 0x69805013, "d,s"},
    {"brev8", UN, 0x68705013, "d,s"},
    {"grevi", R, 0x68005013, "d,s,>"},
    {"flw", I, 0x2007, "D,o(s)"},
    {"fsw", I, 0x2027, "T,q(s)"},
    {"flh", I, 0x1007, "D,o(s)"},
    {"fsh", I, 0x1027, "T,q(s)"},
#define FP(suffix, f)                                                                                                  \
    {"fmadd." suffix, 0x0600007F, (f) << 25 | 0x43, "D,S,T,Rr"},                                                       \
        {"fmsub." suffix, 0x0600007F, (f) << 25 | 0x47, "D,S,T,Rr"},                                                   \
        {"fnmsub." suffix, 0x0600007F, (f) << 25 | 0x4B, "D,S,T,Rr"},                                                  \
        {"fnmadd." suffix, 0x0600007F, (f) << 25 | 0x4F, "D,S,T,Rr"},                                                  \
        {"fadd." suffix, RM, (f) << 25 | 0x00000053u, "D,S,Tr"},                                                       \
        {"fsub." suffix, RM, (f) << 25 | 0x08000053u, "D,S,Tr"},                                                       \
        {"fmul." suffix, RM, (f) << 25 | 0x10000053u, "D,S,Tr"},                                                       \
        {"fsgnj." suffix, R, (f) << 25 | 0x20000053u, "D,S,T"},                                                        \
        {"fsgnjn." suffix, R, (f) << 25 | 0x20001053u, "D,S,T"},                                                       \
        {"fsgnjx." suffix, R, (f) << 25 | 0x20002053u, "D,S,T"},                                                       \
        {"fmin." suffix, R, (f) << 25 | 0x28000053u, "D,S,T"}, {"fmax." suffix, R, (f) << 25 | 0x28001053u, "D,S,T"},  \
        {"feq." suffix, R, (f) << 25 | 0xA0002053u, "d,S,T"}, {"flt." suffix, R, (f) << 25 | 0xA0001053u, "d,S,T"},    \
        {"fle." suffix, R, (f) << 25 | 0xA0000053u, "d,S,T"}, {"fclass." suffix, UN, (f) << 25 | 0xE0001053u, "d,S"},  \
        {"fcvt.w." suffix, RM2, (f) << 25 | 0xC0000053u, "d,Sr"},                                                      \
        {"fcvt.wu." suffix, RM2, (f) << 25 | 0xC0100053u, "d,Sr"},                                                     \
        {"fcvt." suffix ".w", RM2, (f) << 25 | 0xD0000053u, "D,sr"},                                                   \
    {                                                                                                                  \
        "fcvt." suffix ".wu", RM2, (f) << 25 | 0xD0100053u, "D,sr"                                                     \
    }
    FP("s", 0u),
    FP("h", 2u),
#undef FP
    {"fmv.x.w", UN, 0xE0000053, "d,S"},
    {"fmv.w.x", UN, 0xF0000053, "D,s"},
    {"fmv.x.h", UN, 0xE4000053, "d,S"},
    {"fmv.h.x", UN, 0xF4000053, "D,s"},
    {"fcvt.s.h", UN, 0x40200053, "D,S"},
    {"fcvt.h.s", RM2, 0x44000053, "D,Sr"},
};
#undef R
#undef I
#undef RM
#undef RM2
#undef ALL
#undef UN

static const char *const x_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                        "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                        "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[32] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                        "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                        "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

typedef struct line {
    char *out;
    size_t size, used;
} line;

static void put(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(line *l, const char *format, ...)
{
    if (l->used >= l->size)
        return;
    __builtin_va_list args;
    __builtin_va_start(args, format);
    int n = vsnprintf(l->out + l->used, l->size - l->used, format, args);
    __builtin_va_end(args);
    if (n > 0)
        l->used += (size_t)n;
}

static int32_t imm_i(uint32_t w) { return (int32_t)w >> 20; }
static int32_t imm_s(uint32_t w) { return ((int32_t)(w & 0xFE000000u) >> 20) | (int32_t)(w >> 7 & 31); }
static int32_t imm_b(uint32_t w)
{
    return ((int32_t)(w & 0x80000000u) >> 19) | (int32_t)((w & 0x80) << 4 | (w >> 20 & 0x7E0) | (w >> 7 & 0x1E));
}
static int32_t imm_j(uint32_t w)
{
    return ((int32_t)(w & 0x80000000u) >> 11) | (int32_t)((w & 0xFF000) | (w >> 9 & 0x800) | (w >> 20 & 0x7FE));
}

static void put_fence(line *l, unsigned set)
{
    if (!set)
        put(l, "unknown");
    for (unsigned i = 0; i < 4; i++)
        if (set >> (3 - i) & 1)
            put(l, "%c", "iorw"[i]);
}

static void put_csr(line *l, unsigned csr)
{
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {{0x001, "fflags"},   {0x002, "frm"},       {0x003, "fcsr"},      {0x300, "mstatus"},
                 {0x304, "mie"},      {0x305, "mtvec"},     {0x340, "mscratch"},  {0x341, "mepc"},
                 {0x342, "mcause"},   {0x343, "mtval"},     {0x344, "mip"},       {0xB00, "mcycle"},
                 {0xB02, "minstret"}, {0xB80, "mcycleh"},   {0xB82, "minstreth"}, {0xC00, "cycle"},
                 {0xC01, "time"},     {0xC02, "instret"},   {0xC80, "cycleh"},    {0xC81, "timeh"},
                 {0xC82, "instreth"}, {0xF11, "mvendorid"}, {0xF12, "marchid"},   {0xF13, "mimpid"},
                 {0xF14, "mhartid"},  {0x301, "misa"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == csr) {
            put(l, "%s", names[i].name);
            return;
        }
    put(l, "0x%x", csr);
}

static void put_rounding(line *l, unsigned mode)
{
    static const char *const names[8] = {"rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", NULL};
    if (names[mode])
        put(l, ",%s", names[mode]);
}

static void put_operand(line *l, char c, uint32_t pc, uint32_t w)
{
    unsigned rd = w >> 7 & 31, rs1 = w >> 15 & 31, rs2 = w >> 20 & 31;
    switch (c) {
    case 'd':
        put(l, "%s", x_names[rd]);
        break;
    case 's':
        put(l, "%s", x_names[rs1]);
        break;
    case 't':
        put(l, "%s", x_names[rs2]);
        break;
    case 'D':
        put(l, "%s", f_names[rd]);
        break;
    case 'S':
        put(l, "%s", f_names[rs1]);
        break;
    case 'T':
        put(l, "%s", f_names[rs2]);
        break;
    case 'R':
        put(l, "%s", f_names[w >> 27]);
        break;
    case 'j':
    case 'o':
        put(l, "%d", imm_i(w));
        break;
    case 'q':
        put(l, "%d", imm_s(w));
        break;
    case '>':
        put(l, "0x%x", rs2);
        break;
    case 'u':
        put(l, "0x%x", w >> 12);
        break;
    case 'p':
        put(l, "0x%x", pc + (uint32_t)imm_b(w));
        break;
    case 'a':
        put(l, "0x%x", pc + (uint32_t)imm_j(w));
        break;
    case 'E':
        put_csr(l, w >> 20);
        break;
    case 'Z':
        put(l, "%u", rs1);
        break;
    case 'P':
        put_fence(l, w >> 24 & 15);
        break;
    case 'Q':
        put_fence(l, rs2 & 15);
        break;
    case 'r':
        put_rounding(l, w >> 12 & 7);
        break;
    case 'A':
        put(l, "%s,%s,(%s)", x_names[rd], x_names[rs2], x_names[rs1]);
        break;
    default:
        put(l, "%c", c);
        break;
    }
}

/* The assembler's shorter names for the commonest instructions. */
static bool put_alias(line *l, uint32_t pc, uint32_t w)
{
    unsigned rd = w >> 7 & 31, rs1 = w >> 15 & 31, rs2 = w >> 20 & 31, opcode = w & 0x7F, funct3 = w >> 12 & 7;
    if (w == 0x13)
        put(l, "nop");
    else if (opcode == 0x13 && funct3 == 0 && rs1 == 0)
        put(l, "li\t%s,%d", x_names[rd], imm_i(w));
    else if (opcode == 0x13 && funct3 == 0 && imm_i(w) == 0)
        put(l, "mv\t%s,%s", x_names[rd], x_names[rs1]);
    else if (w == 0x8067)
        put(l, "ret");
    else if (opcode == 0x67 && funct3 == 0 && rd == 0 && imm_i(w) == 0)
        put(l, "jr\t%s", x_names[rs1]);
    else if (opcode == 0x6F && rd == 0)
        put(l, "j\t0x%x", pc + (uint32_t)imm_j(w));
    else if (opcode == 0x63 && funct3 < 2 && rs2 == 0)
        put(l, "%s\t%s,0x%x", funct3 ? "bnez" : "beqz", x_names[rs1], pc + (uint32_t)imm_b(w));
    else if ((w & 0xFFF0707F) == 0x00103013)
        put(l, "seqz\t%s,%s", x_names[rd], x_names[rs1]);
    else
        return false;
    return true;
}

static const rv_op *find(uint32_t word)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if ((word & ops[i].mask) == ops[i].match)
            return &ops[i];
    return NULL;
}

bool wg_riscv_text(uint32_t pc, uint32_t word, unsigned flags, char *out, size_t size)
{
    line l = {out, size, 0};
    if (size)
        out[0] = 0;
    const rv_op *op = find(word);
    if (!op) {
        put(&l, ".word\t0x%08x", word);
        return false;
    }
    if ((flags & WG_RVDIS_ALIASES) && put_alias(&l, pc, word))
        return true;
    put(&l, "%s", op->name);
    if (op->operands[0] == 'A')
        put(&l, "%s", (const char *const[]){"", ".rl", ".aq", ".aqrl"}[word >> 25 & 3]);
    if (*op->operands)
        put(&l, "\t");
    for (const char *c = op->operands; *c; c++)
        put_operand(&l, *c, pc, word);
    return true;
}
