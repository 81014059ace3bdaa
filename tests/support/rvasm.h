/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small RISC-V programs for tests: words appended one by one, labels as indices.
 *
 *     rv p = rv_at(0x1000);
 *     rv_li(&p, T0, 0xFFEC1000);
 *     rv_sw(&p, A0, 0, T0);
 *     rv_done(&p);                     // branch to itself
 *     rv_load(dev, &p);
 */
#ifndef RVASM_H
#define RVASM_H

#include <assert.h>
#include <waitgate/waitgate.h>

enum {
    ZERO,
    RA,
    SP,
    GP,
    TP,
    T0,
    T1,
    T2,
    S0,
    S1,
    A0,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    A7,
    S2,
    S3,
    S4,
    S5,
    S6,
    S7,
    S8,
    S9,
    S10,
    S11,
    T3,
    T4,
    T5,
    T6
};

typedef struct rv {
    uint32_t base;
    unsigned n;
    uint32_t word[512];
} rv;

static inline rv rv_at(uint32_t base) { return (rv){.base = base}; }
static inline unsigned rv_word(rv *p, uint32_t word)
{
    assert(p->n < sizeof p->word / sizeof *p->word);
    p->word[p->n] = word;
    return p->n++;
}
static inline uint32_t rv_i(int imm, unsigned rs1, unsigned f3, unsigned rd, unsigned op)
{
    return ((uint32_t)imm & 0xFFF) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
static inline uint32_t rv_s(int imm, unsigned rs2, unsigned rs1, unsigned f3, unsigned op)
{
    return ((uint32_t)imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | ((uint32_t)imm & 31) << 7 | op;
}
static inline void rv_lui(rv *p, unsigned rd, uint32_t imm) { rv_word(p, (imm & 0xFFFFF000) | rd << 7 | 0x37); }
static inline void rv_addi(rv *p, unsigned rd, unsigned rs1, int imm) { rv_word(p, rv_i(imm, rs1, 0, rd, 0x13)); }
static inline void rv_andi(rv *p, unsigned rd, unsigned rs1, int imm) { rv_word(p, rv_i(imm, rs1, 7, rd, 0x13)); }
static inline void rv_add(rv *p, unsigned rd, unsigned rs1, unsigned rs2)
{
    rv_word(p, rs2 << 20 | rs1 << 15 | rd << 7 | 0x33);
}
static inline void rv_nop(rv *p) { rv_addi(p, ZERO, ZERO, 0); }
static inline void rv_fence(rv *p) { rv_word(p, 0x0FF0000F); }
static inline void rv_li(rv *p, unsigned rd, uint32_t value)
{
    uint32_t high = (value + 0x800) & 0xFFFFF000;
    rv_lui(p, rd, high);
    rv_addi(p, rd, rd, (int)(value - high));
}
static inline void rv_lw(rv *p, unsigned rd, int imm, unsigned rs1) { rv_word(p, rv_i(imm, rs1, 2, rd, 0x03)); }
static inline void rv_lhu(rv *p, unsigned rd, int imm, unsigned rs1) { rv_word(p, rv_i(imm, rs1, 5, rd, 0x03)); }
static inline void rv_lbu(rv *p, unsigned rd, int imm, unsigned rs1) { rv_word(p, rv_i(imm, rs1, 4, rd, 0x03)); }
static inline void rv_sw(rv *p, unsigned rs2, int imm, unsigned rs1) { rv_word(p, rv_s(imm, rs2, rs1, 2, 0x23)); }
static inline void rv_sh(rv *p, unsigned rs2, int imm, unsigned rs1) { rv_word(p, rv_s(imm, rs2, rs1, 1, 0x23)); }
static inline void rv_sb(rv *p, unsigned rs2, int imm, unsigned rs1) { rv_word(p, rv_s(imm, rs2, rs1, 0, 0x23)); }
static inline uint32_t rv_b(int offset, unsigned rs1, unsigned rs2, unsigned f3)
{
    uint32_t o = (uint32_t)offset;
    return (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (o >> 1 & 15) << 8 |
           (o >> 11 & 1) << 7 | 0x63;
}
/* Branches to an earlier place. */
static inline void rv_bne(rv *p, unsigned rs1, unsigned rs2, unsigned label)
{
    rv_word(p, rv_b(4 * ((int)label - (int)p->n), rs1, rs2, 1));
}
static inline void rv_beq(rv *p, unsigned rs1, unsigned rs2, unsigned label)
{
    rv_word(p, rv_b(4 * ((int)label - (int)p->n), rs1, rs2, 0));
}
static inline void rv_done(rv *p) { rv_word(p, 0x0000006F); }
/* A Tensix instruction in its `.ttinsn` form. */
static inline void rv_tt(rv *p, uint32_t word) { rv_word(p, word << 2 | word >> 30); }
/* Stores `value` to `address`, through T5 and T6. */
static inline void rv_store(rv *p, uint32_t address, uint32_t value)
{
    rv_li(p, T5, address);
    rv_li(p, T6, value);
    rv_sw(p, T6, 0, T5);
}
static inline bool rv_load(wg_device *dev, const rv *p)
{
    return wg_write(dev, p->base, p->word, 4 * (size_t)p->n) == WG_OK;
}

#endif
