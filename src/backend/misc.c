/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Miscellaneous Unit: sets and steps the address counters of packers and unpackers, hands source banks to the
 * Matrix Unit (SETDVALID). One instruction per thread and cycle, one cycle each.
 *
 * Where two threads move the same counters in one cycle (ThreadOverride), the higher thread comes last.
 *
 * Facts: MiscellaneousUnit.md, SETADC*.md, INCADC*.md, ADDRCR*.md, SETDVALID.md.
 */
#include "backend/misc.h"
#include "backend/tdma.h"

#include "backend/insn_finding.h"
#include "report/touch.h"

/* 0: the thread itself; else the thread's number plus one. */
static unsigned overridden(const wg_insn *insn, unsigned choice) { return choice ? choice - 1 : insn->thread; }

static void setadc(wg_tile *t, const wg_insn *insn)
{
    /*
     * SETADC.md's model, which calls itself weak there, keeps the override's two bits in the value; public kernels rely on them
     * not being part of it.
     */
    uint32_t word = insn->word, value = WG_GET(SETADC, Value16, word);
    unsigned thread = overridden(insn, WG_GET(SETADC, ThreadOverride, word));
    unsigned channel = WG_GET(SETADC, ChannelIndex, word), dimension = WG_GET(SETADC, DimensionIndex, word);
    for (unsigned unit = 0; unit < 3; unit++)
        if (WG_GET(SETADC, CntSetMask, word) >> unit & 1) {
            wg_touch_adc(t, WG_TOUCH_WRITE, thread, unit, channel, dimension, 1);
            wg_adc_set(&t->regs.adc.unit[thread][unit][channel], dimension, value);
        }
}

static void setadcxx(wg_tile *t, const wg_insn *insn)
{
    for (unsigned unit = 0; unit < 3; unit++) {
        if (!(WG_GET(SETADCXX, CntSetMask, insn->word) >> unit & 1))
            continue;
        wg_touch_adc(t, WG_TOUCH_WRITE, insn->thread, unit, 0, WG_ADC_X, 1);
        wg_touch_adc(t, WG_TOUCH_WRITE, insn->thread, unit, 1, WG_ADC_X, 1);
        wg_adc_set(&t->regs.adc.unit[insn->thread][unit][0], WG_ADC_X, WG_GET(SETADCXX, x_start, insn->word));
        wg_adc_set(&t->regs.adc.unit[insn->thread][unit][1], WG_ADC_X, WG_GET(SETADCXX, x_end2, insn->word));
    }
}

typedef void (*move_fn)(wg_adc_channel *c, wg_adc_dimension dimension, uint32_t value);

/* The instructions on a pair of dimensions of both channels; `selected` selects among the four. */
static void move_pair(wg_tile *t, const wg_insn *insn, wg_adc_dimension first, unsigned selected, move_fn move)
{
    const uint32_t word = insn->word;
    const uint32_t value[4] = {WG_GET(SETADCXY, Ch0_X, word), WG_GET(SETADCXY, Ch0_Y, word),
                               WG_GET(SETADCXY, Ch1_X, word),
                               WG_GET(SETADCXY, Ch1_Y, word)}; /* all six have them in the same positions */
    unsigned thread = overridden(insn, WG_GET(SETADCXY, ThreadOverride, word));
    for (unsigned unit = 0; unit < 3; unit++) {
        if (!(WG_GET(SETADCXY, CntSetMask, word) >> unit & 1))
            continue;
        for (unsigned i = 0; i < 4; i++)
            if (selected >> i & 1) {
                wg_touch_adc(t, WG_TOUCH_WRITE, thread, unit, i / 2, first + i % 2, 1);
                move(&t->regs.adc.unit[thread][unit][i / 2], first + i % 2, value[i]);
            }
    }
}

static unsigned chosen(const wg_insn *insn) { return WG_GET(SETADCXY, BitMask, insn->word); }
static void setadcxy(wg_tile *t, const wg_insn *insn) { move_pair(t, insn, WG_ADC_X, chosen(insn), wg_adc_set); }
static void setadczw(wg_tile *t, const wg_insn *insn) { move_pair(t, insn, WG_ADC_Z, chosen(insn), wg_adc_set); }
static void incadcxy(wg_tile *t, const wg_insn *insn) { move_pair(t, insn, WG_ADC_X, 15, wg_adc_increment); }
static void incadczw(wg_tile *t, const wg_insn *insn) { move_pair(t, insn, WG_ADC_Z, 15, wg_adc_increment); }
static void addrcrxy(wg_tile *t, const wg_insn *insn)
{
    move_pair(t, insn, WG_ADC_X, chosen(insn), wg_adc_carriage_return);
}
static void addrcrzw(wg_tile *t, const wg_insn *insn)
{
    move_pair(t, insn, WG_ADC_Z, chosen(insn), wg_adc_carriage_return);
}

static void setdvalid(wg_tile *t, const wg_insn *insn)
{
    const wg_src *src = &t->regs.src;
    for (unsigned file = WG_SRCA; file <= WG_SRCB; file++) {
        if (!(WG_GET(SETDVALID, setvalid, insn->word) >> file & 1))
            continue;
        unsigned bank = file == WG_SRCA ? src->unpack_bank_a : src->unpack_bank_b;
        if (wg_src_is_matrix(src, file, bank))
            wg_find_insn(t, WG_F_SRC_GIVEN_TWICE, insn, file * 2 + (bank & 1), 0);
        if (t->arch->unpack.records_format) { /* underspecified: left by the last UNPACR */
            uint8_t format = t->backend.unpack.held_format[file];
            wg_find_insn(t, WG_F_SETDVALID_FORMAT, insn, file, format);
            (file == WG_SRCA ? t->regs.src.format_a : t->regs.src.format_b)[bank & 1] = format;
        }
        wg_src_unpacked(t, file, insn->thread, WG_AGENT_MISC);
    }
}

/*
 * Decided here: no page has RSTDMA; the public headers call it "soft reset of TDMA engine". It acts like asserting and
 * releasing the TDMA-RISC bit of SOFT_RESET_0 (SoftReset.md), and is reported.
 */
static void rstdma(wg_tile *t, const wg_insn *insn)
{
    wg_find_insn(t, WG_F_INSN_ASSUMED, insn, wg_opcode(insn->word), 0);
    bool held = t->backend.tdma.held;
    wg_tdma_soft_reset(t, true);
    wg_tdma_soft_reset(t, held);
}

typedef void handler(wg_tile *t, const wg_insn *insn);

static handler *const handlers[WG_I_COUNT] = {
    [WG_I_SETADC] = setadc,     [WG_I_SETADCXX] = setadcxx,   [WG_I_SETADCXY] = setadcxy, [WG_I_SETADCZW] = setadczw,
    [WG_I_INCADCXY] = incadcxy, [WG_I_INCADCZW] = incadczw,   [WG_I_ADDRCRXY] = addrcrxy, [WG_I_ADDRCRZW] = addrcrzw,
    [WG_I_RSTDMA] = rstdma,     [WG_I_SETDVALID] = setdvalid,
};

bool wg_misc_implements(wg_insn_id id, wg_arch_id arch)
{
    (void)arch; /* the same on both */
    return id < WG_I_COUNT && handlers[id];
}

static bool misc_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    (void)t, (void)insn, (void)why;
    return true;
}

static void misc_accept(wg_tile *t, const wg_insn *insn)
{
    wg_misc *u = &t->backend.misc;
    u->insn[insn->thread] = *insn;
    u->pending |= (uint8_t)(1u << insn->thread);
    wg_wake_at(&t->sched, WG_AGENT_MISC, t->sched.now + 1);
}

static void misc_tick(wg_tile *t)
{
    wg_misc *u = &t->backend.misc;
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        if (!(u->pending >> thread & 1))
            continue;
        u->pending &= (uint8_t) ~(1u << thread);
        const wg_insn *insn = &u->insn[thread];
        wg_touch_by(t, WG_AGENT_MISC, insn);
        handlers[insn->op](t, insn); /* the ISA table routes no other here */
        wg_unit_completed(t, WG_AGENT_MISC, insn);
    }
}

static bool misc_busy(const wg_tile *t, unsigned thread) { return t->backend.misc.pending >> thread & 1; }

static void misc_reset(wg_tile *t)
{
    t->backend.misc = (wg_misc){0};
    t->regs.adc = (wg_adc){0};
}

const wg_unit_ops wg_misc_unit = {
    .name = "Miscellaneous Unit",
    .agent = WG_AGENT_MISC,
    .reset = misc_reset,
    .check = misc_check,
    .accept = misc_accept,
    .tick = misc_tick,
    .busy = misc_busy,
};
