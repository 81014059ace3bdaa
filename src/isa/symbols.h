/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic operands and constants per architecture, as X-macro lists: the assembler accepts them, the
 * disassembler prints them (of several names for one bit, the first), wg_kernel.h defines them.
 *
 * A list is the set of names that belong to one kind of operand. Facts: GATE-27, GATE-28, SEM-09.
 */
#ifndef WG_ISA_SYMBOLS_H
#define WG_ISA_SYMBOLS_H

#include "isa/waits.h"

/* Block mask: which instructions are held (both architectures). */
#define WG_BLOCK_SYMBOL_(S, bit, symbol, text) S(symbol, 1 << (bit))
#define WG_SYMBOLS_block(S) WG_BLOCKS(WG_BLOCK_SYMBOL_, S) S(STALL_THREAD, 0x1FF)

/* STALLWAIT's conditions; then other names for the same bits, and combinations. */
#define WG_WAIT_SYMBOL_BH_(S, id, symbol, bh, wh, holder, wakes, text) S(symbol, 1 << (bh))
#define WG_WAIT_SYMBOL_WH_(S, id, symbol, bh, wh, holder, wakes, text) S(symbol, 1 << (wh))
#define WG_WAIT_SYMBOL_(S, id, symbol, bit, holder, wakes, text) S(symbol, 1 << (bit))
#define WG_SYMBOLS_wait_bh(S) \
    WG_WAITS(WG_WAIT_SYMBOL_BH_, WG_WAIT_SYMBOL_, WG_WAIT_ABSENT_, S) \
    S(WAIT_SFPU, 0x0800) \
    S(SFPU, 0x0800) \
    S(UNPACK, 0x0006) \
    S(PACK, 0x0008) \
    S(ALL_THREAD_RES, 0x021F)

/* Wormhole: a bit per packer, other numbers (GATE-27), none for the Configuration Unit. */
#define WG_SYMBOLS_wait_wh(S) \
    WG_WAITS(WG_WAIT_SYMBOL_WH_, WG_WAIT_ABSENT_, WG_WAIT_SYMBOL_, S) \
    S(WAIT_SFPU, 0x4000) \
    S(SFPU, 0x4000) \
    S(UNPACK, 0x0006) \
    S(PACK, 0x0078) \
    S(ALL_THREAD_RES, 0x10FF)

/* Semaphore mask. */
#define WG_SYMBOLS_sem(S) \
    S(SEMAPHORE_0, 0x01) \
    S(SEMAPHORE_1, 0x02) \
    S(SEMAPHORE_2, 0x04) \
    S(SEMAPHORE_3, 0x08) \
    S(SEMAPHORE_4, 0x10) \
    S(SEMAPHORE_5, 0x20) \
    S(SEMAPHORE_6, 0x40) \
    S(SEMAPHORE_7, 0x80) \
    S(SEMAPHORE_BIAS, 0x10)

/* SEMWAIT's condition. */
#define WG_SYMBOLS_semcond(S) \
    S(STALL_ON_ZERO, 0x1) \
    S(STALL_ON_MAX, 0x2)

/* Blackhole: the resources that RESOURCEDECL declares for a class of instructions (docs/auto_ttsync.md). */
#define WG_SYMBOLS_resource(S) \
    S(RESOURCE_CFG_READ, 0x001) \
    S(RESOURCE_CFG_WRITE, 0x002) \
    S(RESOURCE_CFG_UNPACK0, 0x004) \
    S(RESOURCE_CFG_UNPACK1, 0x008) \
    S(RESOURCE_CFG_REST, 0x010) \
    S(RESOURCE_GPR_READ, 0x020) \
    S(RESOURCE_GPR_WRITE, 0x040) \
    S(RESOURCE_TDMA_READ, 0x080) \
    S(RESOURCE_TDMA_WRITE, 0x100)

/* Semaphore indices by their logical names (SEM-09): 1 << MATH_PACK is the mask. */
#define WG_SYMBOLS_sem_index(S) \
    S(FPU_SFPU, 0) \
    S(MATH_PACK, 1) \
    S(UNPACK_TO_DEST, 2) \
    S(UNPACK_OPERAND_SYNC, 3) \
    S(PACK_DONE, 4) \
    S(UNPACK_SYNC, 5) \
    S(UNPACK_MATH_DONE, 6) \
    S(MATH_DONE, 7)

/* All names, valid in every operand. */
#define WG_SYMBOLS_BH(S) \
    WG_SYMBOLS_block(S) WG_SYMBOLS_wait_bh(S) WG_SYMBOLS_sem(S) WG_SYMBOLS_semcond(S) WG_SYMBOLS_resource(S) \
        WG_SYMBOLS_sem_index(S)
#define WG_SYMBOLS_WH(S) \
    WG_SYMBOLS_block(S) WG_SYMBOLS_wait_wh(S) WG_SYMBOLS_sem(S) WG_SYMBOLS_semcond(S) WG_SYMBOLS_sem_index(S)

#endif
