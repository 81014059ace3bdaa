/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operand bit of every instruction of the Matrix and the Vector Unit matters: for each there is a state in which
 * the instruction with the bit flipped leaves other registers, other findings or another completion time. Bits that the
 * pages declare ignored are listed, and must not matter.
 */
#include "matrix_rig.h"

#include "backend/vector.h"
#include "isa/isa.h"

enum { TRIALS = 400 };

typedef struct outcome {
    wg_regs regs;
    uint64_t cycles, found;
} outcome;

static void any_state(mrig *r, wg_rng *rng)
{
    wg_tile *t = r->t;
    wg_regs *regs = &t->regs;
    uint32_t *words = (uint32_t *)(void *)regs;
    for (size_t i = 0; i < sizeof *regs / 4; i++)
        words[i] = (uint32_t)wg_rng_next(rng);
    memset(&regs->config, 0, sizeof regs->config);
    regs->src.matrix_bank_a = (uint8_t)wg_rng_below(rng, 2);
    regs->src.matrix_bank_b = (uint8_t)wg_rng_below(rng, 2);
    regs->src.unpack_bank_a = (uint8_t)wg_rng_below(rng, 2);
    regs->src.unpack_bank_b = (uint8_t)wg_rng_below(rng, 2);
    memset(regs->src.held, 0, sizeof regs->src.held);
    memset(regs->src.frozen, 0, sizeof regs->src.frozen);
    for (unsigned file = 0; file < 2; file++)
        for (unsigned bank = 0; bank < 2; bank++) {
            uint32_t(*rows)[16] = wg_src_rows(&regs->src, (wg_src_file)file, bank);
            for (unsigned i = 0; i < 64 * 16; i++) {
                uint32_t x = (uint32_t)wg_rng_next(rng);
                rows[i / 16][i % 16] = (x & 0x7FF00) | (120 + x % 14);
            }
        }
    static const uint8_t formats[] = {WG_FMT_BF16, WG_FMT_FP16, WG_FMT_TF32, WG_FMT_INT8};
    unsigned format = formats[wg_rng_below(rng, 4)];
    mrig_formats(r, format, format);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, wg_rng_below(rng, 2));
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, format == WG_FMT_INT8);
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 5; i < 56; i++) /* address modifiers, and thereby all kinds of settings */
            regs->config.thread[thread][i] = (uint16_t)(wg_rng_next(rng) & wg_rng_next(rng));
    mrig_tcfg(r, WG_TCFG_FP16A_FORCE_Enable, 0);
    memset(regs->dst.undefined, 0, sizeof regs->dst.undefined);
    if (wg_rng_below(rng, 2))
        for (unsigned i = 0; i < 16; i++)
            regs->dst.undefined[i] = wg_rng_next(rng);
    mrig_own(r);
    for (unsigned i = 0; i < 3; i++) {
        wg_rwc_thread *w = &regs->rwc.thread[i];
        *w = (wg_rwc_thread){.dst = (uint16_t)wg_rng_below(rng, 1024),
                             .dst_cr = (uint16_t)wg_rng_below(rng, 1024),
                             .srca = (uint8_t)wg_rng_below(rng, 64),
                             .srca_cr = (uint8_t)wg_rng_below(rng, 64),
                             .srcb = (uint8_t)wg_rng_below(rng, 64),
                             .srcb_cr = (uint8_t)wg_rng_below(rng, 64),
                             .fidelity = (uint8_t)wg_rng_below(rng, 4)};
    }
    wg_lreg *l = &regs->lreg;
    for (unsigned i = 0; i < 17; i++)
        for (unsigned lane = 0; lane < WG_LANES; lane++) {
            uint32_t x = l->l[i][lane];
            unsigned kind = x >> 8 & 3;
            l->l[i][lane] = kind == 0 ? x % 40 : kind == 1 ? x : (x & 0x807FFFFF) | (115 + x % 20) << 23;
        }
    memset(l->lane_config, 0, sizeof l->lane_config);
    for (unsigned i = 0; i < WG_LANE_CONFIG_BITS; i++)
        l->lane_config[i] = wg_rng_below(rng, 6) ? 0 : (uint8_t)wg_rng_next(rng);
    memset(&l->pred, 0, sizeof l->pred);
    l->pred.use = wg_rng_below(rng, 2) ? ~0u : 0;
    l->pred.flags = (uint32_t)wg_rng_next(rng);
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++)
        l->pred.depth[c] = (uint8_t)wg_rng_below(rng, 8);
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++) {
        wg_load_macro *m = &l->macro[c];
        for (unsigned i = 0; i < 4; i++) {
            m->instruction[i] &= i & 1 ? 0x771 : 0x77770;
            m->instruction[i] |= i & 1 ? 0x7C000000u : 0x84000000u; /* SFPMOV, SFPMAD */
            m->sequence[i] &= 0x8F8F8F8F;
        }
        m->misc &= 0xFF;
    }
    memset(&regs->exphist, 1, sizeof regs->exphist);
}

/* Runs one word on a tile in the given state. */
static void run_word(mrig *r, const wg_regs *from, uint32_t word, const wg_unit_ops *unit, unsigned agent, outcome *out)
{
    wg_tile *t = r->t;
    memset(&t->backend, 0, sizeof t->backend);
    unit->reset(t);
    t->regs = *from;
    r->dev.findings = 0;
    t->sched.now = 1000;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        t->sched.next[i] = WG_NEVER;
    const wg_isa_insn *isa = wg_isa_decode(t->arch->id, word);
    wg_insn insn = {.word = word, .id = 1, .unit = isa->unit, .op = (uint16_t)isa->id};
    wg_stall why;
    t->sched.phase = WG_PHASE_GATES;
    out->cycles = 0;
    if (unit->check(t, &insn, &why)) {
        unit->accept(t, &insn);
        for (unsigned i = 0; i < 16; i++) {
            t->sched.now++;
            t->sched.phase = WG_PHASE_COMPLETIONS;
            t->sched.next[agent] = WG_NEVER;
            unit->tick(t);
            out->cycles += unit->busy(t, 0);
        }
    }
    out->regs = t->regs;
    out->found = 0;
    for (size_t i = 0; i < r->dev.findings; i++)
        out->found |= UINT64_C(1) << (r->dev.finding[i].code % 64);
}

/*
 * Bits of the assembly table's operands to which the pages give no meaning: a constant in the page's syntax (the moves,
 * ELWMUL, DOTPV, GAPOOL, GMPOOL, SHIFTXA), or part of an instruction that does nothing but add zero (MatrixUnit.md, the
 * convolutions and average pools), throw away a cache that is not visible (GATESRCRST.md) or is left over
 * (decisions.md).
 */
static uint32_t ignored(wg_insn_id id)
{
    switch (id) {
    case WG_I_MOVD2A:
    case WG_I_MOVD2B:
    case WG_I_MOVA2D:
    case WG_I_MOVDBGA2D:
    case WG_I_MOVB2A: return 1u << 12;
    case WG_I_SHIFTXA: return 3u << 2;
    case WG_I_CONV3S1:
    case WG_I_CONV3S2:
    case WG_I_MFCONV3S1: return 1u << 17;
    case WG_I_APOOL3S1:
    case WG_I_APOOL3S2: return 1u << 14;
    case WG_I_ELWMUL: return 1u << 21;
    case WG_I_DOTPV: return 7u << 19;
    case WG_I_GMPOOL: return 1u << 19;
    case WG_I_GAPOOL: return 1u << 19 | 1u << 14;
    case WG_I_GATESRCRST: return 3;
    case WG_I_SETASHRMH:
    case WG_I_SETASHRMH0:
    case WG_I_SETASHRMH1: return 0x1FFFF;
    case WG_I_SETASHRMV: return 0xFFFFF;
    case WG_I_SETPKEDGOF: return 0xFFFF;
    case WG_I_SETIBRWC: return 0xFFFF3C; /* all but set, move and two bits of the value */
    default: return 0;
    }
}

static uint32_t operand_bits(const wg_isa_insn *isa)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < isa->field_count; i++)
        mask |= (uint32_t)(((UINT64_C(1) << isa->fields[i].width) - 1) << isa->fields[i].lo);
    return mask;
}

static void every_bit(void **state, unsigned which, const wg_unit_ops *unit, unsigned agent)
{
    static wg_regs from;
    static outcome with, without;
    wg_arch_id arch = wg_test_arch(state);
    wg_rng rng = {99};
    mrig *r = mrig_new(arch);
    unsigned silent = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *isa = wg_isa_by_opcode(arch, (uint8_t)opcode);
        bool done = which == WG_UNIT_MATRIX ? wg_matrix_implements(isa->id, arch) : wg_vector_implements(isa->id);
        if (isa->unit != which || !done)
            continue;
        uint32_t left = operand_bits(isa) & ~ignored(isa->id);
        for (unsigned trial = 0; trial < TRIALS && left; trial++) {
            if (trial % 8 == 0) {
                any_state(r, &rng);
                from = r->t->regs;
            }
            uint32_t word = (uint32_t)opcode << 24 | ((uint32_t)wg_rng_next(&rng) & operand_bits(isa));
            if (trial & 1) /* small operands, too */
                word &= (uint32_t)wg_rng_next(&rng) | 0xFF000000u;
            run_word(r, &from, word, unit, agent, &without);
            for (uint32_t bits = left; bits; bits &= bits - 1) {
                uint32_t bit = bits & (0 - bits);
                run_word(r, &from, word ^ bit, unit, agent, &with);
                if (with.cycles != without.cycles || with.found != without.found ||
                    memcmp(&with.regs, &without.regs, sizeof with.regs))
                    left &= ~bit;
            }
        }
        if (left) {
            print_error("%s: bits %06x make no difference\n", isa->name, left);
            silent++;
        }
    }
    mrig_free(r);
    assert_int_equal(silent, 0);
}

static void test_matrix_operands(void **state) { every_bit(state, WG_UNIT_MATRIX, &wg_matrix_unit, WG_AGENT_MATRIX); }
static void test_vector_operands(void **state) { every_bit(state, WG_UNIT_VECTOR, &wg_vector_unit, WG_AGENT_VECTOR); }

static const wg_test tests[] = {
    WG_TEST(test_matrix_operands, WG_BH | WG_WH, ""),
    WG_TEST(test_vector_operands, WG_BH | WG_WH, ""),
};
WG_MAIN("math_operands", tests)
