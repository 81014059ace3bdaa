/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of `matmul_tiles`: see rows_kernels.c. Compiled once for each architecture (MATMUL_ARCH, MATMUL_WH): the
 * instruction words are those of wg_kernel.h.
 */
#include "matmul.h"

#include "isa/config_fields.h"

#ifdef MATMUL_WH
#define MATMUL_ARCH WG_ARCH_WH
#define MATMUL_NAME(name) name##_wh
#else
#define MATMUL_ARCH WG_ARCH_BH
#define MATMUL_NAME(name) name##_bh
#endif

enum { CONFIG_WORDS = 512 };
static void set(uint32_t *bank, wg_cfg_id id, uint32_t value)
{
    wg_cfg_insert(&wg_cfg_fields[MATMUL_ARCH][id], bank, value);
}
static unsigned word_of(wg_cfg_id id) { return wg_cfg_fields[MATMUL_ARCH][id].word; }

static void unpacker(uint32_t *bank, wg_cfg_id descriptor)
{
    uint32_t *tile = &bank[word_of(descriptor)];
    tile[0] = 5 | 1u << 4 | 256u << 16; /* BF16, not compressed, 256 datums per face */
    tile[1] = 1 | 4u << 16;
}

/* The library's initial configuration. */
static void configuration(uint32_t *bank)
{
    unpacker(bank, WG_CFG_THCON_SEC0_REG0_TileDescriptor);
    unpacker(bank, WG_CFG_THCON_SEC1_REG0_TileDescriptor);
#define BOTH(field, value) \
    do { \
        set(bank, WG_CFG_THCON_SEC0_##field, value); \
        set(bank, WG_CFG_THCON_SEC1_##field, value); \
    } while (0)
    BOTH(REG2_Out_data_format, 5);
    BOTH(REG2_Throttle_mode, 2);
    BOTH(REG2_Disable_zero_compress_cntx0, 1);
    BOTH(REG2_Disable_zero_compress_cntx1, 1);
    BOTH(REG2_Unpack_limit_address, 0x1FFFF);
#undef BOTH
    set(bank, WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0, 256);
    set(bank, WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx1, 256);
    set(bank, WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address, 64);
    set(bank, WG_CFG_THCON_SEC0_REG5_Dest_cntx1_address, 64);
    set(bank, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA, 5);
    set(bank, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB, 5);
}

/* Below, the architecture's names are macros; of WG_ARCH_WH the header only asks whether it is one. */
#ifdef MATMUL_WH
#define WG_ARCH_WH WG_ARCH_WH
#endif
#include "isa/wg_kernel.h"

enum {
    OWN_RAM = (int)0xFFB00000,
    WALL_CLOCK = (int)0xFFB121F0,
    UNPACK_SYNC = 5,
    SEMAPHORES = (int)PC_BUF_BASE + 0x20,
    INSTRN_BUF = (int)0xFFE40000,
    THCON_BASE = 52, /* REG2FLOP counts words from here */
};
enum { READ_0 = 0, READ_1 = 4, PAGE_0 = 8, PAGE_1 = 12, STATE = 16, CONTEXT = 20 }; /* in own RAM */

static void start_up(rv *p)
{
#ifndef MATMUL_WH
    rv_li(p, T0, 1 << 18 | 1 << 3); /* cfg0.DisTriscCache, cfg0.DisLowCache */
    rv_word(p, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
#endif
    rv_li(p, S0, (uint32_t)WALL_CLOCK);
}

static void store(rv *p, uint32_t address, uint32_t value)
{
    rv_li(p, T0, address);
    rv_li(p, T1, value);
    rv_sw(p, T1, 0, T0);
}

static void wait_for(rv *p, uint32_t flag)
{
    rv_li(p, T0, flag);
    unsigned wait = p->n;
    rv_lw(p, T1, 0, T0);
    rv_beq(p, T1, ZERO, wait);
}

static void mop(rv *p, const uint32_t *words)
{
    for (unsigned i = 0; i < 9; i++)
        store(p, TENSIX_MOP_CFG_BASE + 4 * i, words[i]);
}

static void note_time(rv *p, unsigned thread, unsigned point)
{
    rv_lw(p, T0, 0, S0);
    rv_li(p, T1, MATMUL_RESULT + 8 * thread + 4 * point);
    rv_sw(p, T0, 0, T1);
}

#ifdef MATMUL_WH
enum { REPLAYED = 5 };
#else
enum { REPLAYED = 6 };
#endif
/* Unpacks a tile to SrcA, and advances the context's base address by one tile. */
static void replayed(rv *p, unsigned base)
{
    rv_tt(p, TT_OP_UNPACR(0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1));
    rv_tt(p, TT_OP_RDCFG(16, base));
    rv_tt(p, TT_OP_ADDDMAREG(0, 16, 16, 17));
#ifdef MATMUL_WH
    rv_tt(p, TT_OP_REG2FLOP(1, 0, 0, 0, base - THCON_BASE, 16));
#else
    rv_tt(p, TT_OP_STALLWAIT(WG_STALL_CFG, WG_THCON));
    rv_tt(p, TT_OP_WRCFG(16, 0, base));
#endif
    rv_tt(p, TT_OP_NOP);
}

/*
 * One call: T0 and T1, the buffers' read pointers and page sizes, the configuration's state and the context are in own
 * RAM, at GP. S2: the tile's position in its buffer; S3 the semaphore, S4 configuration, S6 the instruction buffer.
 */
static void unpack_call(rv *p, unsigned context)
{
    rv_lw(p, A0, PAGE_0, GP);
    rv_lw(p, A1, PAGE_1, GP);
    rv_lw(p, T0, READ_0, GP);
    rv_lw(p, T1, READ_1, GP);
    rv_word(p, 1u << 25 | A0 << 20 | S2 << 15 | A0 << 7 | 0x33); /* mul */
    rv_word(p, 1u << 25 | A1 << 20 | S2 << 15 | A1 << 7 | 0x33);
    rv_lw(p, T2, STATE, GP);
    rv_word(p, rv_b(4, T2, ZERO, 1)); /* which state's configuration? */
    rv_addi(p, T0, T0, -1);
    rv_addi(p, T1, T1, -1);
    rv_add(p, T0, T0, A0);
    rv_add(p, T1, T1, A1);
    unsigned taken = p->n;
    rv_lw(p, T2, 0, S3);
    rv_word(p, rv_i(2, T2, 3, T2, 0x13)); /* sltiu */
    rv_beq(p, T2, ZERO, taken);
    rv_lw(p, T2, CONTEXT, GP);
    rv_word(p, rv_b(4, T2, ZERO, context ? 0 : 1)); /* which context? */
    rv_sw(p, T0, 4 * (context ? THCON_SEC0_REG3_Base_cntx1_address_ADDR32 : THCON_SEC0_REG3_Base_address_ADDR32), S4);
    rv_sw(p, T1, 4 * (context ? THCON_SEC1_REG3_Base_cntx1_address_ADDR32 : THCON_SEC1_REG3_Base_address_ADDR32), S4);
    rv_sw(p, ZERO, 0, S3);
    rv_tt(p, TT_OP_STALLWAIT(WG_STALL_UNPACK, WG_TRISC_CFG));
    rv_tt(p, TT_OP_UNPACR(1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1));
    rv_li(p, T2, TT_OP_MOP(0, 0, context ? 0xFFu : 0u));
    rv_sw(p, T2, 0, S6);
    rv_tt(p, TT_OP_SEMGET(1 << UNPACK_SYNC));
    rv_addi(p, T2, ZERO, !context);
    rv_sw(p, T2, CONTEXT, GP);
    rv_tt(p, TT_OP_SETC16(UNPACK_MISC_CFG_CfgContextOffset_0_ADDR32, context ? 0u : 0x0101u));
}

void MATMUL_NAME(matmul_unpack)(rv *p)
{
    uint32_t bank[CONFIG_WORDS] = {0};
    configuration(bank);
    start_up(p);
    for (unsigned i = 0; i < CONFIG_WORDS; i++)
        if (bank[i])
            store(p, TENSIX_CFG_BASE + 4 * i, bank[i]);
    rv_li(p, GP, (uint32_t)OWN_RAM);
    rv_li(p, T0, MATMUL_TILES / 16);
    rv_li(p, T1, 128);
    rv_sw(p, T0, READ_0, GP);
    rv_sw(p, T0, READ_1, GP);
    rv_sw(p, T1, PAGE_0, GP);
    rv_sw(p, T1, PAGE_1, GP);
    rv_sw(p, ZERO, STATE, GP);
    rv_sw(p, ZERO, CONTEXT, GP);
    rv_li(p, S6, (uint32_t)INSTRN_BUF);
    rv_li(p, S2, 0);
    rv_li(p, S3, (uint32_t)SEMAPHORES + 4 * UNPACK_SYNC);
    rv_li(p, S4, TENSIX_CFG_BASE);
    rv_tt(p, TT_OP_SEMINIT(2, 0, 1 << UNPACK_SYNC));
    rv_tt(p, TT_OP_SETC16(SRCA_SET_SetOvrdWithAddr_ADDR32, 1 << SRCA_SET_SetOvrdWithAddr_SHAMT));
    rv_tt(p, TT_OP_SETC16(UNPACK_MISC_CFG_CfgContextOffset_0_ADDR32, 0));
    rv_tt(p, TT_OP_SETADCXX(3, 1023, 0));
    rv_tt(p, TT_OP_SETDMAREG(0, 0, 0, 2 * 17));
    rv_tt(p, TT_OP_SETDMAREG(0, 0, 0, 2 * 17 + 1));
    rv_tt(p, TT_OP_REPLAY(0, 2 * REPLAYED, 0, 1));
    replayed(p, THCON_SEC0_REG3_Base_address_ADDR32);
    replayed(p, THCON_SEC0_REG3_Base_cntx1_address_ADDR32);
    const uint32_t nop = TT_OP_NOP, words[9] = {0,   0,   nop, TT_OP_REPLAY(0, REPLAYED, 0, 0),
                                                nop, nop, nop, TT_OP_REPLAY(REPLAYED, REPLAYED, 0, 0),
                                                nop};
    mop(p, words);
    store(p, MATMUL_CONFIGURED, 1);
    wait_for(p, MATMUL_READY);
    for (unsigned part = 0; part < 2; part++) {
        rv_li(p, S5, (part ? MATMUL_CALLS : MATMUL_FIRST) / 2);
        unsigned loop = p->n;
        unpack_call(p, 0);
        unpack_call(p, 1);
        rv_addi(p, S5, S5, -1);
        rv_bne(p, S5, ZERO, loop);
        note_time(p, 0, part);
    }
    rv_done(p);
}

static void move(rv *p, unsigned section, uint32_t ab, uint32_t dst)
{
    const unsigned ab_at = ADDR_MOD_AB_SEC1_SrcAIncr_ADDR32 - ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32,
                   dst_at = ADDR_MOD_DST_SEC1_DestIncr_ADDR32 - ADDR_MOD_DST_SEC0_DestIncr_ADDR32;
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32 + section * ab_at, ab));
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32 + section * dst_at, dst));
}

#ifdef MATMUL_WH
/* Two banks of four address modes: an instruction whose mode has a bias makes the next one use the other bank. */
static void record(rv *p, unsigned phases)
{
    static const uint32_t order[16] = {0, 1, 0, 2, 0, 1, 3, 0, 0, 1, 0, 2, 0, 1, 3, 1};
    const uint32_t a_cr = 1u << ADDR_MOD_AB_SEC0_SrcACR_SHAMT, b_cr = 1u << ADDR_MOD_AB_SEC0_SrcBCR_SHAMT,
                   b = 1u << ADDR_MOD_AB_SEC0_SrcBIncr_SHAMT, dst_cr = 1u << ADDR_MOD_DST_SEC0_DestCR_SHAMT,
                   clear_ab = 1u << ADDR_MOD_AB_SEC0_SrcAClear_SHAMT | 1u << ADDR_MOD_AB_SEC0_SrcBClear_SHAMT;
    move(p, 0, 8 * b, 8);
    move(p, 1, 16 | b_cr, 8);
    move(p, 2, a_cr | 32 * b | b_cr, 8);
    move(p, 3, 8 * b, 8);
    move(p, 4, 32 | a_cr | 48 * b | b_cr, dst_cr);
    move(p, 5, clear_ab | a_cr | b_cr,
         1u << ADDR_MOD_DST_SEC0_DestClear_SHAMT | dst_cr |
             (phases > 1 ? 1u << ADDR_MOD_DST_SEC0_FidelityIncr_SHAMT : 0));
    for (unsigned i = 0; i < 6; i++)
        rv_tt(p, TT_OP_SETC16(ADDR_MOD_BIAS_SEC0_BiasIncr_ADDR32 + i, i >= 3 ? 1u : 0u));
    rv_tt(p, TT_OP_REPLAY(16, 16, 0, 1));
    for (unsigned i = 0; i < 16; i++)
        rv_tt(p, TT_OP_MVMUL(i == 15 && phases == 1 ? 1u : 0u, 0, order[i], 0));
}
#else
enum { NEXT_HALF, NEXT_BELOW, NEXT_FACE, NEXT_COLUMN, NEXT_PASS };
static void record(rv *p, unsigned phases)
{
    const unsigned b = ADDR_MOD_AB_SEC0_SrcBIncr_SHAMT;
    rv_tt(p, TT_OP_SETC16(DISABLE_IMPLIED_SRCA_FMT_Base_ADDR32, 1));
    rv_tt(p, TT_OP_SETC16(DISABLE_IMPLIED_SRCB_FMT_Base_ADDR32, 1));
    move(p, NEXT_HALF, 8u << b, 0);
    move(p, NEXT_BELOW, 24u << b, 0);
    move(p, NEXT_FACE, 16 | 24u << b, 0);
    move(p, NEXT_COLUMN, 16 | 40u << b, 0);
    move(p, NEXT_PASS, 1u << ADDR_MOD_AB_SEC0_SrcAClear_SHAMT | 1u << ADDR_MOD_AB_SEC0_SrcBClear_SHAMT,
         phases > 1 ? 1u << ADDR_MOD_DST_SEC0_FidelityIncr_SHAMT : 0);
    rv_tt(p, TT_OP_REPLAY(16, 16, 0, 1));
    for (unsigned i = 0; i < 16; i++) {
        static const unsigned order[] = {NEXT_HALF, NEXT_BELOW, NEXT_HALF, NEXT_FACE};
        unsigned how = i == 15 ? NEXT_PASS : i == 7 ? NEXT_FACE : i == 11 ? NEXT_COLUMN : order[i % 4];
        how = i == 3 ? NEXT_FACE : i == 7 ? NEXT_COLUMN : i == 11 ? NEXT_FACE : how;
        unsigned row = 16 * (i / 4 % 2) + 8 * (i % 2) + 32 * (i / 2 % 2);
        rv_tt(p, TT_OP_MVMUL(i == 15 && phases == 1 ? 1u : 0u, 0, how, row));
    }
}
#endif

void MATMUL_NAME(matmul_math)(rv *p, unsigned phases, bool apart)
{
    start_up(p);
    wait_for(p, MATMUL_CONFIGURED);
    record(p, phases);
    const uint32_t nop = TT_OP_NOP, play = TT_OP_REPLAY(16, 16, 0, 0),
                   end = phases > 1 ? TT_OP_SETRWC(1, 0, 0, 0, 0, 15) : nop,
                   words[9] = {1, phases, nop, end, nop, play, nop, play, play};
    mop(p, words);
    if (apart)
        rv_tt(p, TT_OP_CLEARDVALID(3, 0));
    store(p, MATMUL_READY, 1);
    rv_li(p, S2, (uint32_t)INSTRN_BUF);
    rv_li(p, S3, TT_OP_SETC16(DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 0));
    for (unsigned part = 0; part < 2; part++) {
        rv_li(p, S5, part ? MATMUL_CALLS : MATMUL_FIRST);
        unsigned loop = p->n;
        rv_addi(p, T0, S3, 0);
        rv_sw(p, T0, 0, S2);
        rv_tt(p, TT_OP_MOP(1, 0, 0));
        rv_tt(p, TT_OP_SETRWC(2, 0, 0, 0, 0, 15));
        rv_addi(p, S5, S5, -1);
        rv_bne(p, S5, ZERO, loop);
        note_time(p, 1, part);
    }
    rv_done(p);
}
