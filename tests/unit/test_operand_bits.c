/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operand bit of the control units', unpackers' and packers' instructions matters: from the same state, the word
 * with the bit flipped leads to other registers, other memory, another time or another finding. Bits for which no state
 * shows a difference are listed below, with the page that explains why; a listed bit for which one does fails, too.
 */
#include "pack_rig.h"

#include "backend/coverage.h"
#include "machine/overlay.h"

enum { SEEN_L1 = 0x10000, TRIALS = 3000, CYCLES = 3000 };

/* The outcome of an instruction. */
typedef struct outcome {
    wg_regs regs;
    wg_tdma tdma;
    wg_packer packer[WG_PACKERS];
    uint32_t setreg_data;
    uint8_t context;
    uint8_t l1[SEEN_L1];
    uint64_t completions; /* a hash of which instruction completed when */
    struct {
        uint32_t code;
        uint64_t subject;
    } finding[8];
    size_t findings;
} outcome;

/* `before` is pushed first, if it is not 0. */
static void run(ur *r, const wg_tile *start, const uint8_t *l1, unsigned thread, uint32_t before, uint32_t word,
                outcome *o)
{
    memcpy(r->t, start, sizeof *r->t);
    memcpy(r->t->l1, l1, SEEN_L1);
    r->dev.findings = 0;
    r->events = 0;
    uint64_t from = r->t->sched.now;
    if (before)
        ur_push(r, thread, before);
    ur_push(r, thread, word);
    ur_skip_to(r, from + CYCLES);
    memset(o, 0, sizeof *o);
    o->regs = r->t->regs;
    o->tdma = r->t->backend.tdma;
    memcpy(o->packer, r->t->backend.pack.packer, sizeof o->packer);
    for (unsigned i = 0; i < WG_PACKERS; i++) /* times of the last instruction: visible as completions */
        o->packer[i].free_at = o->packer[i].last_done = 0;
    o->setreg_data = r->t->backend.pack.setreg_data;
    o->context = r->t->backend.pack.context;
    memcpy(o->l1, r->t->l1, SEEN_L1);
    for (unsigned i = 0; i < r->events; i++)
        o->completions = o->completions * UINT64_C(1000003) + r->event[i].cycle * 64 + r->event[i].agent;
    o->findings = r->dev.findings;
    for (size_t i = 0; i < r->dev.findings && i < 8; i++) {
        o->finding[i].code = r->dev.finding[i].code;
        o->finding[i].subject = r->dev.finding[i].subject;
    }
}

/* A state in which the instructions have work to do. */
static void prepare(ur *r, wg_rng *rng)
{
    wg_tile *t = r->t;
    static const uint8_t formats[] = {WG_FMT_BF16, WG_FMT_BFP8, WG_FMT_FP16, WG_FMT_FP32};
    for (unsigned u = 0; u < 2; u++) {
        unsigned f = formats[wg_rng_below(rng, 3)];
        ur_face(r, u, f, f, 0x8000 + 0x100 * wg_rng_below(rng, 16));
        UR_SEC(r, u, REG2_Context_count, wg_rng_below(rng, 4));
        UR_SEC(r, u, REG3_Base_cntx1_address, 0x700 + wg_rng_below(rng, 64));
        UR_SEC(r, u, REG2_Disable_zero_compress_cntx1, 1);
        UR_UNP(r, u, ADDR_CTRL_ZW_REG_1_Zstride, 64);
        t->backend.tdma.unpack_set_reg_base[u] = 0x11000 + 0x100 * wg_rng_below(rng, 4);
    }
    ur_set(r, WG_CFG_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr, 1);
    unsigned out = formats[wg_rng_below(rng, 4)];
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, out == WG_FMT_FP16 ? WG_FMT_BF16 : out);
    unsigned first = wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr].word;
    for (unsigned thread = 0; thread < 3; thread++) {
        for (unsigned i = 0; i < 4; i++)
            t->regs.config.thread[thread][first + i] = (uint16_t)(0x1041 + 0x0145 * i);
        for (unsigned u = 0; u < 3; u++)
            for (unsigned c = 0; c < 2; c++) {
                wg_adc_channel *a = &t->regs.adc.unit[thread][u][c];
                a->x = c ? (u == 2 && t->arch->pack.interfaces ? 11 : 40) + thread : 0;
                a->x_cr = wg_rng_below(rng, 100);
                a->y = (uint16_t)wg_rng_below(rng, 4);
                a->y_cr = (uint16_t)wg_rng_below(rng, 100);
                a->z = (uint8_t)wg_rng_below(rng, 3);
                a->z_cr = (uint8_t)wg_rng_below(rng, 100);
                a->w = 0;
                a->w_cr = (uint8_t)wg_rng_below(rng, 100);
            }
        for (unsigned i = 0; i < 64; i++) {
            uint32_t x = (uint32_t)wg_rng_next(rng);
            unsigned style = wg_rng_below(rng, 4);
            t->regs.gpr.r[thread][i] = style == 0 ? x : style == 1 ? x & 0xFFF : style == 2 ? x & 0x3F : x & 0xFF00FF;
        }
        t->regs.rwc.thread[thread] = (wg_rwc_thread){.dst = (uint16_t)(wg_rng_next(rng) & 0x3FF),
                                                     .dst_cr = (uint16_t)(wg_rng_next(rng) & 0x3FF),
                                                     .srca = 5,
                                                     .srca_cr = 9,
                                                     .srcb = 17,
                                                     .srcb_cr = 33,
                                                     .fidelity = 1};
    }
    for (unsigned i = 0; i < 4; i++) {
        PR_SET(r, i, L1_Dest_addr, (PR_L1 + 0x1000 * i) / 16 - 1);
        PR_SET(r, i, Disable_zero_compress, wg_rng_below(rng, 3) != 0);
        PR_SET(r, i, Exp_section_size, 1 + i);
        PR_SET(r, i, Row_start_section_size, 1);
        t->backend.tdma.packer[i].l1_dest_addr_offset = 0;
        if (!t->arch->pack.interfaces)
            PR_SET(r, i, Addr_cnt_context, (i + 1) % 3);
    }
    for (unsigned i = 0; i < 2; i++)
        t->backend.tdma.pack_set_reg_base[i] = 0x11000 + 0x40 * wg_rng_below(rng, 8);
    for (unsigned i = 0; i < 4; i++)
        t->backend.tdma.set_reg_hi_scaler[i] = (uint8_t)wg_rng_below(rng, 8);
    for (unsigned i = 0; i < SEEN_L1; i++)
        t->l1[i] = (uint8_t)wg_rng_next(rng);
    for (unsigned row = 0; row < 1024; row++)
        for (unsigned i = 0; i < 16; i++)
            t->regs.dst.bits[row][i] = (uint16_t)((wg_rng_next(rng) & 0xFF00) | (120 + wg_rng_below(rng, 8)));
    for (unsigned i = 0; i < 4 * 64 * 16; i++)
        (&t->regs.src.a[0][0][0])[i % (2 * 64 * 16)] = (uint32_t)wg_rng_next(rng) & WG_SRC_MASK;
    t->regs.src.owner_a[0] = t->regs.src.owner_b[1] = (uint8_t)wg_rng_below(rng, 2);
    t->regs.src.unpack_bank_a = t->regs.src.unpack_bank_b = (uint8_t)wg_rng_below(rng, 2);
    t->regs.src.matrix_bank_a = t->regs.src.matrix_bank_b = (uint8_t)wg_rng_below(rng, 2);
    for (unsigned i = 0; i < 0x400; i += 4) /* small numbers to compare with */
        t->l1[i + 1] = t->l1[i + 2] = t->l1[i + 3] = 0, t->l1[i] &= 15;
    if (t->arch->id == WG_ARCH_BH) {
        ur_set(r, WG_CFG_SCRATCH_SEC0_val, (uint32_t)wg_rng_next(rng));
        ur_set(r, WG_CFG_SCRATCH_SEC1_val, (uint32_t)wg_rng_next(rng));
        ur_set(r, WG_CFG_SCRATCH_SEC2_val, (uint32_t)wg_rng_next(rng));
        for (unsigned select = 0; select < 3; select++)
            ur_thread(r, wg_rng_below(rng, 3), (wg_tcfg_id)(WG_TCFG_STREAM_ID_SYNC_SEC0_BankSel + select), select);
    }
    ur_touch(r);
}

/* An instruction that must be in flight for this one to make a difference. */
static uint32_t preface(ur *r, wg_rng *rng, const wg_isa_insn *isa)
{
    if (isa->id == WG_I_STREAMWRCFG)
        for (unsigned stream = 0; stream < 4; stream++)
            for (unsigned i = 0; i < 1024; i++)
                wg_overlay_stream_write(r->t, stream, i, (uint32_t)wg_rng_next(rng));
    if (isa->id == WG_I_PACR_SETREG) /* something in the buffers */
        return PR_PACR(r->t->arch->pack.interfaces ? 1 : 15, 0);
    if (isa->id != WG_I_FLUSHDMA)
        return 0;
    switch (wg_rng_below(rng, 4)) {
    case 0: return UR_UNPACR(0, 0);
    case 1: return UR_UNPACR(1, 0);
    case 2: return PR_PACR(1, PR_LAST);
    default: return UINT32_C(0x61000000) | wg_rng_below(rng, 64) << 6; /* ATINCGET */
    }
}

/* Bits that never make a difference. */
typedef struct exception {
    wg_insn_id id;
    uint8_t archs;
    uint32_t bits;
    const char *why;
} exception;
static const exception exceptions[] = {
    {WG_I_XMOV, WG_BH | WG_WH, 1 << 0, "XMOV.md: Last has no part in the functional model"},
    {WG_I_UNPACR, WG_BH | WG_WH, 1 << 0, "UNPACR_Regular.md: Last has no part in the functional model"},
    {WG_I_PACR_SETREG, WG_BH | WG_WH, 1 << 0, "PACR_SETREG.md: Last has no part; assembly table: not used"},
    {WG_I_ATCAS, WG_BH | WG_WH, 0x3F << 6, "ATCAS.md: the syntax has a 0 there"},
    {WG_I_PACR_SETREG, WG_BH, 7 << 19, "assembly table: unused"},
};

static uint32_t excepted(wg_insn_id id, unsigned arch)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].id == id && exceptions[i].archs & arch)
            mask |= exceptions[i].bits;
    return mask;
}

static bool speaks_of(const wg_isa_insn *isa, wg_arch_id arch)
{
    if (isa->id == WG_I_SETRWC || isa->id == WG_I_INCRWC)
        return true;
    if (isa->unit != WG_UNIT_CONFIG && isa->unit != WG_UNIT_SCALAR && isa->unit != WG_UNIT_MISC &&
        isa->unit != WG_UNIT_MOVER && isa->unit != WG_UNIT_UNPACK && isa->unit != WG_UNIT_PACK)
        return false;
    return wg_insn_implemented(arch, isa);
}

static void test_operand_bits(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    ur *r = pr_new(arch, 16);
    wg_tile *start = wg_tile_new();
    outcome *original = malloc(sizeof *original), *flipped = malloc(sizeof *flipped);
    uint8_t *l1 = malloc(SEEN_L1);
    wg_rng rng = {99};
    unsigned bad = 0;
    r->t->watched = WG_EV_BIT(WG_EV_COMPLETED);
    wg_tile *fresh = wg_tile_new();
    *fresh = *r->t;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *isa = wg_isa_by_opcode(arch, (uint8_t)opcode);
        if (!speaks_of(isa, arch))
            continue;
        uint32_t left = ~isa->spare_bits & 0xFFFFFF, listed = excepted(isa->id, arch == WG_ARCH_BH ? WG_BH : WG_WH);
        for (unsigned trial = 0; left && trial < TRIALS; trial++) {
            wg_test_round(isa->name, trial);
            *r->t = *fresh;
            prepare(r, &rng);
            unsigned thread = wg_rng_below(&rng, 3);
            uint32_t before = preface(r, &rng, isa);
            *start = *r->t;
            memcpy(l1, r->t->l1, SEEN_L1);
            uint32_t operands = (uint32_t)(wg_rng_next(&rng) & wg_rng_next(&rng)) & ~isa->spare_bits & 0xFFFFFF;
            uint32_t word = (uint32_t)opcode << 24 | operands;
            run(r, start, l1, thread, before, word, original);
            for (unsigned bit = 0; bit < 24; bit++) {
                if (!(left >> bit & 1))
                    continue;
                run(r, start, l1, thread, before, word ^ 1u << bit, flipped);
                if (memcmp(original, flipped, sizeof *original))
                    left &= ~(1u << bit);
            }
            if (left == listed) /* every other bit has made a difference */
                break;
        }
        if (left != listed) {
            print_error("%s: bits %06x make no difference, those of the list are %06x\n", isa->name, left, listed);
            bad++;
        }
    }
    free(start);
    free(fresh);
    free(original);
    free(flipped);
    free(l1);
    ur_free(r);
    assert_int_equal(bad, 0);
}

static const wg_test tests[] = {
    WG_TEST(test_operand_bits, WG_BH | WG_WH, ""),
};
WG_MAIN("operand_bits", tests)
