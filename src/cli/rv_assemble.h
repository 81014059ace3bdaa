/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small RISC-V assembler, for where the RISC-V binutils are not installed, and for browsers: RV32IMA, Zicsr, Zifencei, Zba, Zbb, Zbkb,
 * pseudo-instructions, labels, constants, data, .rept and .irp, written as for GNU as. Floating point is refused by name.
 *
 *     source, with .loc lines (tasm_core.c) ──► wg_elf
 */
#ifndef WG_RV_ASSEMBLE_H
#define WG_RV_ASSEMBLE_H

#include "elf/elf.h"
#include "text/rv_text.h"
#include "text/text.h"

/* An error, on a line as the source's .loc lines count them. */
typedef void (*wg_rv_tell_fn)(void *user, uint32_t line, const char *message);

/* `name`: of the program, in source lines. NULL: `tell` has been called, or there is no memory. */
wg_elf *wg_rv_assemble(const char *name, const char *source, size_t bytes, uint32_t address, wg_rv_tell_fn tell,
                       void *user);

/* ---- rv_encode.c ---- */

/* How the operands of a mnemonic are written, and where they go. */
typedef enum wg_rv_form {
    WG_RV_R,        /* rd, rs1, rs2 */
    WG_RV_I,        /* rd, rs1, imm */
    WG_RV_SHIFT,    /* rd, rs1, 0…31 */
    WG_RV_LOAD,     /* rd, imm(rs1) */
    WG_RV_STORE,    /* rs2, imm(rs1) */
    WG_RV_BRANCH,   /* rs1, rs2, target */
    WG_RV_SWAPPED,  /* rs2, rs1, target */
    WG_RV_BRANCH_Z, /* rs1, target */
    WG_RV_Z_BRANCH, /* rs2, target */
    WG_RV_UPPER,    /* rd, imm */
    WG_RV_JAL,      /* rd, target; or target: rd is ra */
    WG_RV_J,        /* target */
    WG_RV_JALR,     /* rs1; rd, rs1; rd, rs1, imm; rd, imm(rs1): rd is ra */
    WG_RV_JR,       /* rs1; imm(rs1) */
    WG_RV_NONE,
    WG_RV_FENCE, /* nothing; or before, after */
    WG_RV_RD_RS1,
    WG_RV_RD_RS2,
    WG_RV_ATOMIC,  /* rd, rs2, (rs1) */
    WG_RV_LR,      /* rd, (rs1) */
    WG_RV_CSR,     /* rd, csr, rs1 */
    WG_RV_CSR_I,   /* rd, csr, 0…31 */
    WG_RV_CSR_RD,  /* rd, csr */
    WG_RV_CSR_RS,  /* csr, rs1 */
    WG_RV_CSR_IMM, /* csr, 0…31 */
    WG_RV_RD,      /* rd */
    WG_RV_LI,      /* rd, constant: one or two instructions */
    WG_RV_LA,      /* rd, address: two */
    WG_RV_CALL,    /* address: two, by `match`'s rd */
} wg_rv_form;

typedef struct wg_rv_insn {
    const char *name;
    uint32_t match;
    uint8_t form;         /* wg_rv_form */
    const char *with_imm; /* WG_RV_R: the mnemonic if the last operand is a number; NULL: none */
} wg_rv_insn;

/* NULL: not known. */
const wg_rv_insn *wg_rv_find(const char *name, size_t length);
/* Is it an instruction that exists, though not here (floating point)? */
bool wg_rv_is_float(const char *name, size_t length);
/* Fields of an instruction, by their formats. */
uint32_t wg_rv_i(int64_t imm);
uint32_t wg_rv_s(int64_t imm);
uint32_t wg_rv_b(int64_t offset);
uint32_t wg_rv_j(int64_t offset);
static inline uint32_t wg_rv_rd(unsigned r) { return (uint32_t)r << 7; }
static inline uint32_t wg_rv_rs1(unsigned r) { return (uint32_t)r << 15; }
static inline uint32_t wg_rv_rs2(unsigned r) { return (uint32_t)r << 20; }

#endif
