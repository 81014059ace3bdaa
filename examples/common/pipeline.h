/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the examples with arithmetic: a tile of 32 x 32 datums goes from L1 to L1 through all three threads.
 *
 *     T0  Unpackers ──> SrcA, SrcB ──> T1  Matrix Unit, Vector Unit ──> Dst (32 bits) ──> T2  Packer ──> L1, FP32
 *
 * B configures the backend before it starts the T cores; each T core configures its own thread. A tile in L1 is four
 * consecutive faces of 16 x 16 datums: top left, top right, bottom left, bottom right.
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "tile.h"

/* Addresses in L1. Parameters and the tile's inputs come from the host. */
#define IN0 0x30000
#define IN1 0x31000
#define OUT 0x32000
#define PARAMETER(n) RESULT(n)
#define DONE RESULT(8)

enum { FP32 = 0, TF32 = 4, BF16 = 5 };
enum { TO_SRCA = 0, TO_SRCB = 1 };
enum { TILE_DATUMS = 1024, TILE_ROWS = 64 };
#define DST_FREE WG_SEMAPHORE_1 /* posted when Dst holds a finished tile, taken when it is packed */

/* ---- Configuration, by B ---- */

#define CFG(word) WORD(TENSIX_CFG_BASE + 4 * (word))
#define SET_CFG(field, value) \
    (CFG(field##_ADDR32) = (CFG(field##_ADDR32) & ~(u32)field##_MASK) | ((u32)(value) << field##_SHAMT & field##_MASK))
#define SET_SEC(unpacker, field, value) \
    ((unpacker) == TO_SRCA ? SET_CFG(THCON_SEC0_##field, value) : SET_CFG(THCON_SEC1_##field, value))

/* Uncompressed datums of format `in` at `address`, to `out` in the source register. */
static inline void configure_unpacker(u32 unpacker, u32 in, u32 out, u32 address)
{
    u32 descriptor =
        unpacker == TO_SRCA ? THCON_SEC0_REG0_TileDescriptor_ADDR32 : THCON_SEC1_REG0_TileDescriptor_ADDR32;
    CFG(descriptor) = in | 1 << 4 | 256u << 16; /* 1 << 4: not compressed; 256 datums per face */
    CFG(descriptor + 1) = 1 | 4 << 16;          /* four of them; the rest is zero */
    SET_SEC(unpacker, REG2_Out_data_format, out);
    SET_SEC(unpacker, REG2_Throttle_mode, 2);
    SET_SEC(unpacker, REG2_Disable_zero_compress_cntx0, 1);
    SET_SEC(unpacker, REG3_Base_address, address / 16 - 1); /* in 16 bytes, minus one */
    if (unpacker == TO_SRCA) {
        SET_CFG(THCON_SEC0_REG5_Tile_x_dim_cntx0, 256);
        SET_CFG(THCON_SEC0_REG5_Dest_cntx0_address, 4 * 16); /* row 0 of SrcA */
    }
}

/* Formats of SrcA and SrcB as the Matrix Unit sees them; Dst holds 32 bits. */
static inline void configure_math(u32 format)
{
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, format);
    SET_CFG(ALU_FORMAT_SPEC_REG1_SrcB, format);
    SET_CFG(ALU_ACC_CTRL_Fp32_enabled, 1);
    SET_CFG(ALU_ACC_CTRL_SFPU_Fp32_enabled, 1);
}

/*
 * Datums of format `in` in Dst to `out` at `address`: first the lines of exponents (of 16 bytes), if any, then four faces of
 * `face_lines`. On Wormhole each of the four packers packs a face.
 */
static inline void configure_packer_for(u32 in, u32 out, u32 address, u32 face_lines, u32 exponent_lines)
{
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, 1);
    SET_CFG(ALU_FORMAT_SPEC_REG2_Dstacc, in);
#define PACKER(n, section) \
    do { \
        SET_CFG(section##_In_data_format, in); \
        SET_CFG(section##_Out_data_format, out); \
        SET_CFG(section##_Disable_zero_compress, 1); \
        /* A line of exponents per face; its datums follow at that distance. */ \
        SET_CFG(section##_L1_Dest_addr, address / 16 - 1 + (exponent_lines ? (n) : face_lines * (n))); \
        SET_CFG(section##_Exp_section_size, exponent_lines ? exponent_lines + (face_lines - 1) * (n) : 0); \
        SET_CFG(PACK_COUNTERS_SEC##n##_pack_reads_per_xy_plane, 16); \
    } while (0)
#ifdef WG_ARCH_WH
    CFG(DEST_TARGET_REG_CFG_PACK_SEC1_Offset_ADDR32) = 16 * 1;
    CFG(DEST_TARGET_REG_CFG_PACK_SEC2_Offset_ADDR32) = 16 * 2;
    CFG(DEST_TARGET_REG_CFG_PACK_SEC3_Offset_ADDR32) = 16 * 3;
    PACKER(1, THCON_SEC0_REG8);
    PACKER(2, THCON_SEC1_REG1);
    PACKER(3, THCON_SEC1_REG8);
#endif
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * 4);
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_0_Zstride, 256 * 4);
    SET_CFG(PCK_EDGE_OFFSET_SEC0_mask, 0xFFFF); /* no column is hidden */
    PACKER(0, THCON_SEC0_REG1);
#undef PACKER
}

/* FP32 in Dst to FP32 at `address`. */
static inline void configure_packer(u32 address) { configure_packer_for(FP32, FP32, address, 64, 0); }

/* Everything is configured: starts T0 and T1. T1 starts T2 when the semaphore is initialised. */
static inline void let_go(void)
{
    /* The last word stored, read back: a load of another word might overtake that store. */
    stored(&CFG(PACK_COUNTERS_SEC0_pack_reads_per_xy_plane_ADDR32));
    MAILBOX(1) = 1;
    MAILBOX(2) = 1;
}

/* ---- The T cores ---- */

static inline void wait_for(u32 core) { stored(&MAILBOX(core)); }

/* T0: whole tiles, each handed to the Matrix Unit. */
static inline void unpack_setup(void)
{
    wait_for(0);
    TTI_SETC16(SRCA_SET_SetOvrdWithAddr_ADDR32, 1 << SRCA_SET_SetOvrdWithAddr_SHAMT);
    TTI_SETADCXX(3, TILE_DATUMS - 1, 0);
}
#define UNPACK_TILE(unpacker) TTI_UNPACR(unpacker, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1)

/* T1; Dst holds this many results at a time. */
static inline void math_setup(u32 results)
{
    wait_for(0);
    TT_SEMINIT(results, 0, DST_FREE);
#ifndef WG_ARCH_WH
    TTI_SETC16(DISABLE_IMPLIED_SRCA_FMT_Base_ADDR32, 1);
    TTI_SETC16(DISABLE_IMPLIED_SRCB_FMT_Base_ADDR32, 1);
#endif
    tensix_sync();
    MAILBOX(3) = 1;
}
/* Waits until Dst is packed, and clears it. */
static inline void dst_acquire(void)
{
    TTI_SEMWAIT(WG_STALL_MATH | WG_STALL_SFPU, DST_FREE, WG_STALL_ON_MAX);
#ifdef WG_ARCH_WH
    TTI_ZEROACC(3, 0, 0);
#else
    TTI_ZEROACC(3, 0, 0, 0, 0);
#endif
}
static inline void dst_release(void)
{
    TTI_STALLWAIT(WG_STALL_SYNC, WG_MATH | WG_SFPU);
    TTI_SEMPOST(DST_FREE);
}
/* Copies a tile of SrcA unchanged into a free half of Dst. */
static inline void srca_to_dst(void)
{
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 0);
    TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32, 0);
    dst_acquire();
    for (u32 row = 0; row < TILE_ROWS; row += 8)
        TT_MOVA2D(0, row, 0, 2, row); /* 2: eight rows */
    TTI_SETRWC(1, 0, 0, 0, 0, 0);     /* gives SrcA's bank back */
}

/* T2 */
static inline void pack_setup(void)
{
#ifdef WG_ARCH_WH
    TTI_SETADCXX(4, TILE_DATUMS / 4 - 1, 0);
#else
    TTI_SETADCXX(4, 15, 0);
    TTI_SETC16(ADDR_MOD_PACK_SEC0_YsrcIncr_ADDR32, 4 << ADDR_MOD_PACK_SEC0_YsrcIncr_SHAMT);
    /* A MOP of sixteen PACRs, each of four rows, advancing by four; the last one ends the tile. */
    u32 nop = TT_OP_NOP, more = TT_OP_PACR(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), last = more | 1;
    u32 mop[9] = {1, TILE_ROWS / 4, nop, nop, nop, more, nop, last, last};
    for (u32 i = 0; i < 9; i++)
        WORD(TENSIX_MOP_CFG_BASE + 4 * i) = mop[i];
#endif
}
static inline void pack_tile(void)
{
    TTI_SEMWAIT(WG_STALL_PACK, DST_FREE, WG_STALL_ON_ZERO);
    TTI_SETADCXY(4, 0, 0, 0, 0, 0xA); /* Y only */
#ifdef WG_ARCH_WH
    TTI_PACR(0, 0, 15, 0, 0, 0, 1);
#else
    TTI_MOP(1, 0, 0);
#endif
    TTI_STALLWAIT(WG_STALL_SYNC, WG_PACK);
    TTI_SEMGET(DST_FREE);
}
static inline void pack_all(u32 tiles)
{
    wait_for(2);
    pack_setup();
    while (tiles--)
        pack_tile();
    tensix_sync();
    DONE = 1;
}

#endif
