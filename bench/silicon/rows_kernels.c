/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole kernels: tensixbench's `matmul_tiles` (README.md), products of BF16 tiles in L1, cycles of each thread per
 * call.
 *
 * T0 and T1 are written to the description of the low-level kernel library: a call of T0 waits for a configuration
 * context, stores both addresses, unpacks both tiles and switches contexts; one of T1 sets the position in Dst, issues
 * sixteen MVMULs per fidelity phase from a MOP and gives both banks back. `apart`: an earlier phase left the Matrix
 * Unit at other banks than the unpackers, so that two tiles are unpacked and then two multiplied. `same`: both start at
 * the same bank.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/config_fields.h"
#include "rvasm.h"
#include "silicon.h"

enum { CONFIG_WORDS = 512 };
static const wg_arch_id blackhole = WG_ARCH_BH;
static void set(uint32_t *bank, wg_cfg_id id, uint32_t value)
{
    wg_cfg_insert(&wg_cfg_fields[blackhole][id], bank, value);
}
static unsigned word_of(wg_cfg_id id) { return wg_cfg_fields[blackhole][id].word; }

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

/* Below, the architecture's names are macros. */
#include "isa/wg_kernel.h"

enum {
    CODE = 0x10000,
    CODE_BYTES = 0x1000,
    TILES = 0x40000,
    RESULT = 0x8000,
    CONFIGURED = 0x8100,
    MATH_READY = 0x8110,
    OWN_RAM = (int)0xFFB00000,
    WALL_CLOCK = (int)0xFFB121F0,
    UNPACK_SYNC = 5,
    SEMAPHORES = (int)PC_BUF_BASE + 0x20,
    INSTRN_BUF = (int)0xFFE40000,
    FIRST = 256, /* calls before the clock is read, and after */
    CALLS = 1024,
};
enum { READ_0 = 0, READ_1 = 4, PAGE_0 = 8, PAGE_1 = 12, STATE = 16, CONTEXT = 20 }; /* in own RAM */

static void start_up(rv *p)
{
    rv_li(p, T0, 1 << 18 | 1 << 3); /* cfg0.DisTriscCache, cfg0.DisLowCache */
    rv_word(p, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
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
    rv_li(p, T1, RESULT + 8 * thread + 4 * point);
    rv_sw(p, T0, 0, T1);
}

/* Unpacks a tile to SrcA, and advances the context's base address by one tile. */
static void replayed(rv *p, unsigned base)
{
    rv_tt(p, TT_OP_UNPACR(0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1));
    rv_tt(p, TT_OP_RDCFG(16, base));
    rv_tt(p, TT_OP_ADDDMAREG(0, 16, 16, 17));
    rv_tt(p, TT_OP_STALLWAIT(WG_STALL_CFG, WG_THCON));
    rv_tt(p, TT_OP_WRCFG(16, 0, base));
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

static void unpack(rv *p)
{
    uint32_t bank[CONFIG_WORDS] = {0};
    configuration(bank);
    start_up(p);
    for (unsigned i = 0; i < CONFIG_WORDS; i++)
        if (bank[i])
            store(p, TENSIX_CFG_BASE + 4 * i, bank[i]);
    rv_li(p, GP, (uint32_t)OWN_RAM);
    rv_li(p, T0, TILES / 16);
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
    rv_tt(p, TT_OP_REPLAY(0, 12, 0, 1));
    replayed(p, THCON_SEC0_REG3_Base_address_ADDR32);
    replayed(p, THCON_SEC0_REG3_Base_cntx1_address_ADDR32);
    const uint32_t nop = TT_OP_NOP,
                   words[9] = {0, 0, nop, TT_OP_REPLAY(0, 6, 0, 0), nop, nop, nop, TT_OP_REPLAY(6, 6, 0, 0), nop};
    mop(p, words);
    store(p, CONFIGURED, 1);
    wait_for(p, MATH_READY);
    for (unsigned part = 0; part < 2; part++) {
        rv_li(p, S5, (part ? CALLS : FIRST) / 2);
        unsigned loop = p->n;
        unpack_call(p, 0);
        unpack_call(p, 1);
        rv_addi(p, S5, S5, -1);
        rv_bne(p, S5, ZERO, loop);
        note_time(p, 0, part);
    }
    rv_done(p);
}

enum { NEXT_HALF, NEXT_BELOW, NEXT_FACE, NEXT_COLUMN, NEXT_PASS };
static void move(rv *p, unsigned section, uint32_t ab, uint32_t dst)
{
    static const unsigned stride = ADDR_MOD_AB_SEC1_SrcAIncr_ADDR32 - ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32;
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32 + section * stride, ab));
    rv_tt(p, TT_OP_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32 + section * stride, dst));
}

static void math(rv *p, unsigned phases, bool apart)
{
    const unsigned b = ADDR_MOD_AB_SEC0_SrcBIncr_SHAMT;
    start_up(p);
    wait_for(p, CONFIGURED);
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
    const uint32_t nop = TT_OP_NOP, play = TT_OP_REPLAY(16, 16, 0, 0),
                   end = phases > 1 ? TT_OP_SETRWC(1, 0, 0, 0, 0, 15) : nop,
                   words[9] = {1, phases, nop, end, nop, play, nop, play, play};
    mop(p, words);
    if (apart)
        rv_tt(p, TT_OP_CLEARDVALID(3, 0));
    store(p, MATH_READY, 1);
    rv_li(p, S2, (uint32_t)INSTRN_BUF);
    rv_li(p, S3, TT_OP_SETC16(DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 0));
    for (unsigned part = 0; part < 2; part++) {
        rv_li(p, S5, part ? CALLS : FIRST);
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

typedef struct times {
    double thread[2];
} times;

static times product(unsigned phases, bool apart)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = blackhole, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    wg_stop stop;
    uint32_t point[2][2] = {{0}};
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    for (unsigned i = 0; i < 2; i++) {
        rv p = rv_at(CODE + i * CODE_BYTES);
        if (i)
            math(&p, phases, apart);
        else
            unpack(&p);
        if (!rv_load(dev, &p) || wg_core_release(dev, i ? WG_CORE_T1 : WG_CORE_T0, p.base) != WG_OK)
            exit(1);
    }
    wg_run(dev, 2000000, &stop);
    wg_read(dev, RESULT, point, sizeof point);
    wg_destroy(dev);
    return (times){{(double)(point[0][1] - point[0][0]) / CALLS, (double)(point[1][1] - point[1][0]) / CALLS}};
}

enum { ARCH, KERNEL, FIDELITY, BANKS, THREAD, CYCLES, FIELDS };

static void line(struct wg_silicon *s, char **field, void *user)
{
    (void)user;
    unsigned phases = (unsigned)strtoul(field[FIDELITY], NULL, 10), thread = field[THREAD][0] == '1';
    times took = product(phases, strcmp(field[BANKS], "apart") == 0);
    char name[48];
    snprintf(name, sizeof name, "%s, %u phases, banks %s, T%u", field[KERNEL], phases, field[BANKS], thread);
    wg_silicon_add(s, &(wg_silicon_row){.group = "kernels",
                                        .name = name,
                                        .arch = wg_silicon_arch(field[ARCH]),
                                        .card = strtod(field[CYCLES], NULL),
                                        .model = took.thread[thread],
                                        .why = "what the compiler made of the threads' own code is not known"});
}

void wg_silicon_kernels(struct wg_silicon *s) { wg_silicon_read(s, "kernels.csv", FIELDS, line, NULL); }
