/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNPACR_NOP: side effects ordered after the earlier UNPACRs of the same unpacker.
 *
 *     WH, bits [2:0]                         BH, bits [1:0]
 *     0      messages of the thread's stream 0  the same
 *     1, 5   clear SrcA or SrcB              1  clear; [3:2] to 0, minus infinity, 1, an immediate; then give
 *     2      nothing                         2  nothing
 *     3      messages of a given stream      3  the same; with bit 2: write a register
 *     4      write a register
 *     7      give the bank to the Matrix Unit   [7:6] = 3 (not with 3): only give the bank
 *
 * Clearing waits for a bank: the Matrix Unit's current one, or (WaitLikeUnpacr) the unpacker's own. Only giving a bank away
 * waits for nothing.
 *
 * Facts: UNPACR_NOP_*.md; BH's fields from the assembly description. Ruling: 7 gives a bank on WH only; on BH its fields make
 * it a register write.
 */
#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/tdma.h"
#include "backend/unpack_internal.h"
#include "num/formats.h"
#include "machine/bus.h"

#define TDMA_FIRST UINT32_C(0xFFB11000) /* below: the cores' own RAMs */
#define OVERLAY_FIRST UINT32_C(0xFFB40000)

static void find(wg_tile *t, wg_finding_code code, const wg_insn *insn, const char *what)
{
    wg_findf(t, code,
             wg_insn_finding(insn, WG_OPERAND(WH, UNPACR_NOP, NoOp, insn->word),
                             WG_OPERAND(BH, UNPACR_NOP, Unpacker_Select, insn->word)),
             "%s", what);
}

static void messages(wg_tile *t, unsigned unpacker, wg_unpack_job *job, unsigned stream, unsigned count)
{
    find(t, WG_F_UNPACK_WEAK, &job->insn, "UNPACR_NOP that clears overlay messages");
    job->what = WG_UNPACK_CLEAR_MESSAGES;
    if (!count)
        stream = wg_thread_config_get(t, job->insn.thread,
                                      unpacker ? WG_TCFG_NOC_OVERLAY_MSG_CLEAR_StreamId_1
                                               : WG_TCFG_NOC_OVERLAY_MSG_CLEAR_StreamId_0);
    job->address = OVERLAY_FIRST + stream * 0x1000 + t->arch->unpack.message_clear * 4u;
}

static void set_register(wg_tile *t, wg_unpack_job *job, unsigned select)
{
    uint32_t word = job->insn.word;
    find(t, WG_F_UNPACK_WEAK, &job->insn, "UNPACR_NOP that writes a register");
    if (select > 1) {
        find(t, WG_F_UNIMPLEMENTED_INSN, &job->insn, "register addresses 2 and 3 of UNPACR_NOP are not documented");
        return;
    }
    job->what = WG_UNPACK_SET_REGISTER;
    job->address =
        WG_MMIO_BASE + t->backend.tdma.unpack_set_reg_base[select] + (WG_GET(UNPACR_NOP, Stream_Id, word) << 12);
    job->value = WG_GET(UNPACR_NOP, Value11, word);
}

static void clear(wg_unpack_job *job, uint32_t value, bool both, bool wait_like_unpacr)
{
    job->what = WG_UNPACK_CLEAR;
    job->value = value & WG_SRC_MASK;
    job->banks = both ? 3 : 0;
    job->waits = true;
    job->waits_like_matrix = !wait_like_unpacr;
}

static void plan_number(wg_tile *t, unsigned unpacker, wg_unpack_job *job)
{
    uint32_t word = job->insn.word;
    switch (WG_OPERAND(WH, UNPACR_NOP, Mode, word)) {
    case 0: messages(t, unpacker, job, 0, 0); break;
    case 1:
    case 5:
        /* On WH SrcB is cleared to 0 whatever bit 2 says. */
        clear(job, WG_OPERAND(WH, UNPACR_NOP, Mode, word) == 5 && !unpacker ? WG_SRC_MASK : 0,
              WG_OPERAND(WH, UNPACR_NOP, BothBanks, word), WG_OPERAND(WH, UNPACR_NOP, WaitLikeUnpacr, word));
        if (WG_OPERAND(WH, UNPACR_NOP, SetDatValid, word))
            find(t, WG_F_UNPACK_NOP_MODE, &job->insn, "clearing and giving in one does not work; it only cleared");
        break;
    case 2: break;
    case 3:
        messages(t, unpacker, job, WG_OPERAND(WH, UNPACR_NOP, Stream_Id, word),
                 WG_OPERAND(WH, UNPACR_NOP, Value11, word));
        break;
    case 4: set_register(t, job, WG_OPERAND(WH, UNPACR_NOP, SetReg, word)); break;
    case 7: job->what = WG_UNPACK_GIVE; break;
    default: find(t, WG_F_UNPACK_NOP_MODE, &job->insn, "mode 6 is reserved; it did nothing"); break;
    }
}

/* The value 1 as FP16, BF16 or an 8-bit integer (the newest assembly description calls this reserved). */
static uint32_t one_in(unsigned format)
{
    static const uint32_t ones[4] = {15, 127, 1 << 8 | 16, 0};
    return ones[format & 3];
}

static void plan_fields(wg_tile *t, unsigned unpacker, wg_unpack_job *job)
{
    uint32_t word = job->insn.word;
    unsigned pop = WG_OPERAND(BH, UNPACR_NOP, Unpack_Pop, word), to = WG_OPERAND(BH, UNPACR_NOP, Src_ClrVal_Ctrl, word);
    unsigned format = WG_OPERAND(BH, UNPACR_NOP, Clr_to1_fmt_Ctrl, word);
    if (pop != 3 && format == 3) {
        job->what = WG_UNPACK_GIVE;
        return;
    }
    switch (pop) {
    case 0: messages(t, unpacker, job, 0, 0); break;
    case 1: {
        uint32_t value = 0;
        if (to == 1)
            value = WG_SRC_MASK;
        else if (to == 2)
            value = one_in(format);
        else if (to == 3) /* Decided here: the low 19 bits, in Src's layout */
            value = wg_config_get(t, job->insn.thread,
                                  unpacker ? WG_CFG_UNP1_NOP_REG_CLR_VAL_nop_reg_clr_val
                                           : WG_CFG_UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val);
        if (to >= 2)
            find(t, WG_F_UNPACK_WEAK, &job->insn, "UNPACR_NOP that clears to 1 or to an immediate");
        clear(job, value, WG_OPERAND(BH, UNPACR_NOP, Bank_Clr_Ctrl, word),
              WG_OPERAND(BH, UNPACR_NOP, Stall_Clr_Cntrl, word));
        job->flip = WG_OPERAND(BH, UNPACR_NOP, Set_Dvalid, word);
        break;
    }
    case 2: break;
    default:
        if (WG_OPERAND(BH, UNPACR_NOP, SetReg, word))
            set_register(
                t, job, WG_OPERAND(BH, UNPACR_NOP, SetRegHigh, word) * 2 + WG_OPERAND(BH, UNPACR_NOP, SetRegLow, word));
        else
            messages(t, unpacker, job, WG_OPERAND(BH, UNPACR_NOP, Stream_Id, word),
                     WG_OPERAND(BH, UNPACR_NOP, Msg_Clr_Cnt, word));
        break;
    }
}

void wg_unpack_plan_nop(wg_tile *t, unsigned unpacker, wg_unpack_job *job)
{
    job->what = WG_UNPACK_NOTHING;
    job->banks = 0;
    if (t->arch->unpack.nop_in_fields)
        plan_fields(t, unpacker, job);
    else
        plan_number(t, unpacker, job);
    job->flip |= job->what == WG_UNPACK_GIVE;
    if (job->banks)
        find(t, WG_F_UNPACK_WEAK, &job->insn, "UNPACR_NOP that clears both banks");
    wg_cfg_id format = unpacker ? WG_CFG_THCON_SEC1_REG2_Out_data_format : WG_CFG_THCON_SEC0_REG2_Out_data_format;
    if (job->flip)
        job->out_format = (uint8_t)wg_config_get(t, job->insn.thread, format);
    job->src_base =
        (uint8_t)(wg_thread_config_get(t, job->insn.thread, unpacker ? WG_TCFG_SRCB_SET_Base : WG_TCFG_SRCA_SET_Base)
                  << 4);
    if (!unpacker && t->backend.unpack.after_dst && job->what >= WG_UNPACK_CLEAR && job->what <= WG_UNPACK_GIVE)
        find(t, WG_F_UNPACK_AFTER_DST, &job->insn, "the last UNPACR of Unpacker 0 wrote Dst");
}

/*
 * A ZEROSRC that takes effect in the same cycle and does not choose banks by the unpacker's pointer overrides the
 * banks of this clearing. Returns those banks; 0: there is no such ZEROSRC.
 */
static unsigned chosen_by_zerosrc(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    const wg_matrix *m = &t->backend.matrix;
    for (uint32_t i = m->head; i != m->tail; i++) {
        const wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        bool both_banks = WG_GET(ZEROSRC, bank_mask, op->insn.word);
        if (op->effect != WG_EFFECT_ZEROSRC || op->effect_at != t->sched.now ||
            !(both_banks || WG_GET(ZEROSRC, write_mode, op->insn.word)))
            continue;
        wg_find_insn(t, WG_F_UNPACK_ZEROSRC, &job->insn, unpacker, op->insn.word);
        if (both_banks)
            return 3;
        return 1u << ((unpacker ? t->regs.src.matrix_bank_b : t->regs.src.matrix_bank_a) & 1);
    }
    return 0;
}

void wg_unpack_clear(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    wg_src *s = &t->regs.src;
    wg_src_file file = unpacker ? WG_SRCB : WG_SRCA;
    unsigned banks = chosen_by_zerosrc(t, unpacker, job);
    if (!banks)
        banks = job->banks | 1u << wg_unpack_bank(s, unpacker);
    for (unsigned bank = 0; bank < 2; bank++) {
        if (!(banks >> bank & 1))
            continue;
        if (wg_src_is_matrix(s, file, bank))
            wg_find_insn(t, WG_F_UNPACK_BOTH_BANKS, &job->insn, (unsigned)file * 2 + bank, 0);
        if (wg_touch_watched(t)) {
            unsigned seen = !job->waits_like_matrix ? 0u : (unpacker ? s->matrix_bank_b : s->matrix_bank_a) & 1u;
            wg_touch_emit(t, WG_TOUCH_WRITE | WG_TOUCH_WAITED, WG_TOUCH_SRC, ((unsigned)file * 2 + bank) * 64,
                          WG_SRC_ROWS, job->waits_like_matrix ? (unsigned)file * 2 + seen + 1 : 0);
        }
        uint32_t(*rows)[16] = wg_src_rows(s, file, bank);
        for (unsigned row = 0; row < WG_SRC_ROWS; row++)
            for (unsigned column = 0; column < 16; column++)
                rows[row][column] = job->value;
        wg_src_wrote(s, file, bank);
    }
}

static void write_mmio(wg_tile *t, const wg_unpack_job *job, uint32_t value)
{
    wg_stall why;
    uint32_t address = job->address;
    if (address >= TDMA_FIRST && address < TDMA_FIRST + 0x1000) {
        /* Decided here: a command for the Mover's full queue is lost. */
        if (wg_tdma_write(t, WG_CORE_T0 + job->insn.thread, address - TDMA_FIRST, value, job->insn.pc, &why) ==
            WG_REGION_WAIT)
            wg_find_insn(t, WG_F_UNPACK_REGISTER, &job->insn, address, value);
    } else if (address < TDMA_FIRST || !wg_tile_bus_write(t, address, &value, 4)) {
        wg_find_insn(t, WG_F_UNPACK_REGISTER, &job->insn, address, value);
    }
}

void wg_unpack_set_register(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    uint32_t value = job->value;
    if (WG_GET(UNPACR_NOP, Accumulate, job->insn.word)) {
        uint32_t *sum = &t->backend.tdma.set_reg_acc[unpacker];
        if (!value) {
            *sum = 0;
            return;
        }
        value = *sum = (*sum + value) & 0x1FFFF;
    }
    write_mmio(t, job, value);
}

void wg_unpack_clear_messages(wg_tile *t, const wg_unpack_job *job) { write_mmio(t, job, 1); }
