/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of waits: one table of block bits, one of STALLWAIT's conditions. The assembler's symbols, the
 * Wait Gate, the hang report and the race detector follow from them. A new condition is a line here, its predicate in
 * frontend/wait_gate.c, and its order in explain/race.c; without these it does not compile. Facts: STALLWAIT.md; GATE-07,
 * GATE-10, GATE-27, GATE-28.
 */
#ifndef WG_ISA_WAITS_H
#define WG_ISA_WAITS_H

/* B(S, bit, symbol, text): the block mask, the same on both architectures. */
#define WG_BLOCKS(B, S) \
    B(S, 0, STALL_TDMA, "TDMA instructions") \
    B(S, 1, STALL_SYNC, "synchronisation") \
    B(S, 2, STALL_PACK, "packing") \
    B(S, 3, STALL_UNPACK, "unpacking") \
    B(S, 4, STALL_XMOV, "the Mover") \
    B(S, 5, STALL_THCON, "the Scalar Unit") \
    B(S, 6, STALL_MATH, "Matrix Unit instructions") \
    B(S, 7, STALL_CFG, "configuration") \
    B(S, 8, STALL_SFPU, "Vector Unit instructions")

/*
 * BOTH(S, id, symbol, Blackhole's bit, Wormhole's bit, holder, wake-up, text), or BH and WH with one bit. The holder is the
 * agent that must act. Wake-up of the gate: UNIT, any event in the holder's unit; SRC, a source bank changes hands; ANY. `S`
 * is passed on to the entries.
 */
#define WG_WAITS(BOTH, BH, WH, S) \
    BOTH(S, SCALAR_MEMORY, THCON, 0, 0, SCALAR, ANY, \
         "the Scalar Unit has no memory request of this thread outstanding") \
    BOTH(S, UNPACK0, UNPACK0, 1, 1, UNPACK0, UNIT, "Unpacker 0 is idle for this thread") \
    BOTH(S, UNPACK1, UNPACK1, 2, 2, UNPACK1, UNIT, "Unpacker 1 is idle for this thread") \
    BOTH(S, PACK0, PACK0, 3, 3, PACK, UNIT, "Packer 0 is idle for this thread") \
    WH(S, PACK1, PACK1, 4, PACK, UNIT, "Packer 1 is idle for this thread") \
    WH(S, PACK2, PACK2, 5, PACK, UNIT, "Packer 2 is idle for this thread") \
    WH(S, PACK3, PACK3, 6, PACK, UNIT, "Packer 3 is idle for this thread") \
    BOTH(S, MATRIX, MATH, 4, 7, MATRIX, UNIT, "the Matrix Unit is idle for this thread") \
    BOTH(S, SRCA_UNPACKERS, SRCA_CLR, 5, 8, MATRIX, SRC, "SrcA's next bank is the unpackers'") \
    BOTH(S, SRCB_UNPACKERS, SRCB_CLR, 6, 9, MATRIX, SRC, "SrcB's next bank is the unpackers'") \
    BOTH(S, SRCA_MATRIX, SRCA_VLD, 7, 10, UNPACK0, SRC, "SrcA's bank is the Matrix Unit's") \
    BOTH(S, SRCB_MATRIX, SRCB_VLD, 8, 11, UNPACK1, SRC, "SrcB's bank is the Matrix Unit's") \
    BOTH(S, MOVER, XMOV, 9, 12, MOVER, ANY, "the Mover is idle") \
    BOTH(S, RISCV_REQUESTS, TRISC_CFG, 10, 13, CORE_T0, ANY, \
         "the core's requests to GPRs, configuration and TDMA are processed") \
    BOTH(S, VECTOR, SFPU1, 11, 14, VECTOR, UNIT, "the Vector Unit is idle for this thread") \
    BH(S, CONFIG, CFGEXU, 12, CONFIG, UNIT, "the Configuration Unit is idle")

/* The same entry for every condition of either architecture: ROW(id, holder, wake-up, text). */
#define WG_EACH_WAIT(ROW) WG_WAITS(WG_WAIT_BOTH_, WG_WAIT_ONE_, WG_WAIT_ONE_, ROW)
#define WG_WAIT_BOTH_(ROW, id, symbol, bh, wh, holder, wakes, text) ROW(id, holder, wakes, text)
#define WG_WAIT_ONE_(ROW, id, symbol, bit, holder, wakes, text) ROW(id, holder, wakes, text)

/* The conditions of one architecture: ROW(id, symbol, bit). */
#define WG_EACH_WAIT_BH(ROW) WG_WAITS(WG_WAIT_AT_BH_, WG_WAIT_AT_, WG_WAIT_ABSENT_, ROW)
#define WG_EACH_WAIT_WH(ROW) WG_WAITS(WG_WAIT_AT_WH_, WG_WAIT_ABSENT_, WG_WAIT_AT_, ROW)
#define WG_WAIT_AT_BH_(ROW, id, symbol, bh, wh, holder, wakes, text) ROW(id, symbol, bh)
#define WG_WAIT_AT_WH_(ROW, id, symbol, bh, wh, holder, wakes, text) ROW(id, symbol, wh)
#define WG_WAIT_AT_(ROW, id, symbol, bit, holder, wakes, text) ROW(id, symbol, bit)
#define WG_WAIT_ABSENT_(ROW, id, symbol, bit, holder, wakes, text)

#endif
