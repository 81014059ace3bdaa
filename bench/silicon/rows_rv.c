/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RISC-V instructions, pushes, branches, instruction fetch and the queue that takes the pushes: riscvbench, phases r,
 * t, c, f, g, q and s.
 */
#include "probe.h"

#define TT(word) ((uint32_t)(word) << 2 | (uint32_t)(word) >> 30)
#define I(imm, rs1, f3, rd, op) ((uint32_t)(imm) << 20 | (rs1) << 15 | (f3) << 12 | (rd) << 7 | (op))
#define ADDI(r) I(1, r, 0, r, 0x13)
#define ADDI4 ADDI(A0), ADDI(A0), ADDI(A0), ADDI(A0)
#define ADDI16 ADDI4, ADDI4, ADDI4, ADDI4
#define MUL(r) (1u << 25 | A4 << 20 | (r) << 15 | (r) << 7 | 0x33)
#define DIVU (1u << 25 | A4 << 20 | A5 << 15 | 5u << 12 | A7 << 7 | 0x33)
#define LW(rd, offset, rs) I(offset, rs, 2u, rd, 0x03)
#define SW(rs, offset, base) \
    ((uint32_t)(offset) >> 5 << 25 | (rs) << 20 | (base) << 15 | 2u << 12 | ((uint32_t)(offset)&31) << 7 | 0x23)
#define XORI I(1, A6, 4u, A6, 0x13)
/* A branch to the next instruction, taken or not. */
#define NEXT(f3, rs1, rs2) ((rs2) << 20 | (rs1) << 15 | (uint32_t)(f3) << 12 | 4 << 7 | 0x63)
#define BNE_NEVER NEXT(1, A0, A0)
#define BEQ_ALWAYS NEXT(0, A0, A0)
#define BEQZ_TOGGLE NEXT(0, A6, ZERO)
#define J_NEXT (2u << 21 | 0x6F)

#define ONE(label, of, body) \
    { \
        .name = label, .unroll = of, .times = of, .words = 1, .word = { body } \
    }
#define TWO(label, ...) \
    { \
        .name = label, .unroll = 64, .times = 64, .words = 2, .word = { __VA_ARGS__ } \
    }
#define FOUR(label, ...) \
    { \
        .name = label, .unroll = 64, .times = 16, .words = 4, .word = { __VA_ARGS__ } \
    }
#define GROUP_OF(label, n, ...) \
    { \
        .name = label, .unroll = 16, .times = 16, .words = n, .word = { __VA_ARGS__ } \
    }
#define EMPTY \
    { \
        .name = "loop_overhead", .unroll = 64 \
    }
#define NOP TT(PUSH_NOP)
#define ADD TT(PUSH_ADDDMAREG)

static const probe straight[] = {
    EMPTY,
    FOUR("rv_addi_indep", ADDI(A0), ADDI(A1), ADDI(A2), ADDI(A3)),
    ONE("rv_addi_dep", 64, ADDI(A0)),
    FOUR("rv_mul_indep", MUL(A0), MUL(A1), MUL(A2), MUL(A3)),
    ONE("rv_mul_dep", 64, MUL(A0)),
    ONE("rv_div", 64, DIVU),
    ONE("rv_load_chase", 64, LW(T3, 0, T3)),
    FOUR("rv_load_indep", LW(A0, 0, S2), LW(A1, 16, S2), LW(A2, 32, S2), LW(A3, 48, S2)),
    FOUR("rv_store_spread", SW(A0, 0, S2), SW(A0, 16, S2), SW(A0, 32, S2), SW(A0, 48, S2)),
    FOUR("rv_store_coalesce", SW(A0, 0, S2), SW(A0, 4, S2), SW(A0, 0, S2), SW(A0, 4, S2)),
    ONE("rv_load_stack", 64, LW(T4, 0, T4)),
    ONE("rv_store_stack", 64, SW(A0, 0, T4)),
};
static const probe pushes[] = {
    EMPTY,
    ONE("tt_nop", 64, NOP),
    ONE("tt_sfpnop", 64, TT(PUSH_SFPNOP)),
    ONE("tt_setdmareg", 64, TT(PUSH_SETDMAREG)),
    ONE("tt_adddmareg", 64, ADD),
    GROUP_OF("tt_pad", 16, ADDI16),
    GROUP_OF("tt_fuse2", 18, NOP, NOP, ADDI16),
    GROUP_OF("tt_fuse4", 20, NOP, NOP, NOP, NOP, ADDI16),
    GROUP_OF("tt_spread4", 20, NOP, ADDI(A0), NOP, ADDI(A0), NOP, ADDI(A0), NOP, ADDI(A0), ADDI4, ADDI4, ADDI4),
};
static const probe control[] = {
    EMPTY,
    ONE("c_ctrl_xor", 64, XORI),
    ONE("c_nt", 64, BNE_NEVER),
    ONE("c_t", 64, BEQ_ALWAYS),
    TWO("c_xor_nt", XORI, BNE_NEVER),
    TWO("c_xor_t", XORI, BEQ_ALWAYS),
    TWO("c_xor_alt", XORI, BEQZ_TOGGLE),
    ONE("c_jal", 64, J_NEXT),
};
static const probe footprints[] = {
    EMPTY,
    ONE("f_64", 64, ADDI(A0)),
    ONE("f_128", 128, ADDI(A0)),
    ONE("f_256", 256, ADDI(A0)),
    ONE("f_512", 512, ADDI(A0)),
    ONE("f_1024", 1024, ADDI(A0)),
    ONE("f_2048", 2048, ADDI(A0)),
};
static const probe between[] = {
    EMPTY,
    ONE("g_1024", 1024, ADDI(A0)),
    ONE("g_1280", 1280, ADDI(A0)),
};
#define BURST(label, how, body) \
    { \
        .name = label, .form = how, .points = 8, .words = 1, .times = 1, .word = { body } \
    }
#define ROUNDS(label, how, block, n, body) \
    { \
        .name = label, .form = how, .points = n, .unroll = block, .times = block, .words = 1, .word = { body } \
    }
static const probe queue[] = {
    EMPTY,
    {.name = "q_ctrl", .form = PROBE_CASCADE, .points = 8},
    BURST("q_nop", PROBE_CASCADE, NOP),
    BURST("q_setdmareg", PROBE_CASCADE, TT(PUSH_SETDMAREG)),
    BURST("q_adddmareg", PROBE_CASCADE, ADD),
    BURST("q_adddmareg_sync", PROBE_CASCADE_SYNC, ADD),
    ROUNDS("q_loop_addi", PROBE_LOOP, 16, 7, ADDI(A0)),
    ROUNDS("q_loop_adddmareg", PROBE_LOOP, 16, 7, ADD),
    {.name = "q_loop_adddmareg_sync",
     .form = PROBE_LOOP_SYNC,
     .points = 7,
     .unroll = 16,
     .times = 16,
     .words = 1,
     .predrained = true,
     .word = {ADD}},
};
static const probe shared[] = {
    EMPTY,
    ROUNDS("s_loop_addi", PROBE_LOOP, 4, 8, ADDI(A0)),
    ROUNDS("s_co_plain", PROBE_LOOP, 4, 8, ADD),
    ROUNDS("s_co_repeat", PROBE_LOOP, 4, 8, ADD),
    ROUNDS("s_co_sync", PROBE_LOOP_SYNC, 4, 8, ADD),
    ROUNDS("s_solo_plain", PROBE_SOLO, 4, 8, ADD),
    ROUNDS("s_solo_sync", PROBE_SOLO_SYNC, 4, 8, ADD),
};

#define PHASE(label, of, where) \
    { \
        .name = label, .group = where, .probes = of, .count = sizeof(of) / sizeof *(of) \
    }
#define BURSTS(label, of) \
    { \
        .name = label, .group = "bursts", .probes = of, .count = sizeof(of) / sizeof *(of), .scatter = 23 \
    }
static const probe_phase phases[] = {
    PHASE("r", straight, "rv"), PHASE("t", pushes, "rv"), PHASE("c", control, "rv"), PHASE("f", footprints, "rv"),
    PHASE("g", between, "rv"),  BURSTS("q", queue),       BURSTS("s", shared),
};
enum { SEVERAL = 1 << 2 | 1 << 3 };
#define LONG_LOOP "the loop is longer than T1's instruction cache: where the compiler put it decides"
#define BEGINNING "the cycles in which the threads begin are not known"
static const probe_reason reasons[] = {
    {NULL, "r", "rv_store", SEVERAL,
     "cores at one port of L1 and at its banks: the phase in which they meet is not known"},
    {NULL, "r", "rv_load", 0, "cores at one port of L1: the phase in which they meet is not known"},
    {NULL, "r", "rv_store", 0, "the same, with a core that polls"},
    {"bh", "t", "tt_setdmareg", 0, "scatter of the card: tensix SETDMAREG, the same words, took 0.998"},
    {"wh", "f", "f_128", 0, LONG_LOOP},
    {"wh", "t", "tt_", 0, LONG_LOOP},
    {"wh", "c", "c_xor", 0, LONG_LOOP},
    {NULL, "q", "q_loop", 0, BEGINNING},
    {NULL, "s", "s_solo", 0, "a wait of four cycles at the burst's beginning, which one that fills the queue hides"},
    {NULL, "s", "s_", 0, BEGINNING},
    {NULL, "q", "q_", 0, "one cold burst: its page says that the card scatters by 6 to 23 cycles"},
};

void wg_silicon_rv(struct wg_silicon *s)
{
    probe_rows(s, &(probe_set){.file = "rv.csv",
                               .phases = phases,
                               .count = sizeof phases / sizeof *phases,
                               .reasons = reasons,
                               .reason_count = sizeof reasons / sizeof *reasons});
}
