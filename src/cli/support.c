/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The support matrix, found by experiment: every instruction is executed with every value of every operand of up to four bits
 * (its modes; one operand at a time, the others 0) on a tile that is ready for it, and the values reported as undefined or
 * unimplemented are listed. Nothing here is declared by hand.
 *
 *     instruction × operand × value ──push, run──► findings ──► "all", or the exceptions
 */
#include "cli/support.h"

#include <string.h>
#include <waitgate/waitgate.h>

#include "backend/coverage.h"
#include "isa/config_fields.h"
#include "isa/isa.h"
#include "isa/report.h"

enum { MODE_BITS = 4, CYCLES = 600, BF16 = 5, CODES = 8 };

/* The codes of findings that say "undefined" or "unimplemented". */
typedef struct codes {
    uint16_t code[CODES];
    unsigned count;
} codes;

static bool has(const codes *c, uint16_t code)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->code[i] == code)
            return true;
    return false;
}

static void set_config(wg_device *dev, wg_arch_id arch, wg_cfg_id id, uint32_t value)
{
    const wg_cfg_field *f = &wg_cfg_fields[arch][id];
    for (unsigned bank = 0; bank < 2 && wg_cfg_present(f); bank++) {
        uint32_t word = 0;
        (void)wg_peek(dev, WG_SPACE_CONFIG, bank << 16 | f->word, &word);
        word = (word & ~(15u << f->shift)) | value << f->shift;
        (void)wg_poke(dev, WG_SPACE_CONFIG, bank << 16 | f->word, word);
    }
}

/* BF16 everywhere; source banks belong to the unit that needs them. */
static void make_ready(wg_device *dev, wg_arch_id arch, const wg_isa_insn *insn)
{
    static const wg_cfg_id formats[] = {WG_CFG_THCON_SEC0_REG0_TileDescriptor,  WG_CFG_THCON_SEC1_REG0_TileDescriptor,
                                        WG_CFG_THCON_SEC0_REG2_Out_data_format, WG_CFG_THCON_SEC1_REG2_Out_data_format,
                                        WG_CFG_THCON_SEC0_REG1_In_data_format,  WG_CFG_THCON_SEC0_REG1_Out_data_format,
                                        WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA,       WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB,
                                        WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        set_config(dev, arch, formats[i], BF16);
    for (uint32_t bank = 0; bank < 4; bank++)
        (void)wg_poke(dev, WG_SPACE_SRC_OWNER, bank, insn->unit == WG_UNIT_MATRIX);
    /* Templates of NOPs for MOP, 32 recorded NOPs for REPLAY. */
    enum { NOP = 0x02000000, RECORD_32 = 0x04000001 };
    for (uint32_t i = 0; i < 9; i++)
        (void)wg_poke(dev, WG_SPACE_MOP_CFG, i, i < 2 ? 1 : NOP);
    for (unsigned i = 0; insn->id == WG_I_REPLAY && i < 33; i++) {
        (void)wg_push(dev, 0, i ? NOP : RECORD_32);
        (void)wg_advance(dev, 2);
    }
}

static codes try_word(wg_device *dev, wg_arch_id arch, const wg_isa_insn *insn, uint32_t word)
{
    codes found = {.count = 0};
    wg_stop stop;
    (void)wg_reset(dev);
    make_ready(dev, arch, insn);
    (void)wg_push(dev, 0, word);
    (void)wg_run(dev, CYCLES, &stop);
    for (size_t i = 0; i < wg_finding_count(dev) && found.count < CODES; i++) {
        uint16_t code = wg_finding_at(dev, i)->code;
        if (wg_finding_info_at(code)->severity >= WG_SEVERITY_UNDEFINED && !has(&found, code))
            found.code[found.count++] = code;
    }
    return found;
}

/* "0-3, 7": the values whose bits are set. */
static void put_values(wg_text *out, uint32_t values)
{
    const char *comma = "";
    for (unsigned i = 0; i < 1u << MODE_BITS; i++) {
        if (!(values >> i & 1))
            continue;
        unsigned last = i;
        while (last + 1 < 1u << MODE_BITS && values >> (last + 1) & 1)
            last++;
        wg_textf(out, last > i ? "%s%u–%u" : "%s%u", comma, i, last);
        comma = ", ";
        i = last;
    }
}

static void put_cell(wg_text *out, wg_device *dev, wg_arch_id arch, const wg_isa_insn *insn)
{
    if (!wg_insn_implemented(arch, insn)) {
        wg_textf(out, "not implemented");
        return;
    }
    const char *comma = "";
    unsigned tried = 0;
    codes always = try_word(dev, arch, insn, (uint32_t)insn->opcode << 24);
    for (unsigned i = 0; i < always.count; i++, comma = "; ")
        wg_textf(out, "%sall operands 0: `%s`", comma, wg_finding_info_at(always.code[i])->code);
    for (unsigned k = 0; k < (unsigned)insn->field_count + insn->extra_count; k++) {
        const wg_isa_field *f = &insn->fields[k];
        if (f->width > MODE_BITS)
            continue;
        uint16_t seen[CODES];
        uint32_t values[CODES];
        unsigned count = 0;
        for (uint32_t value = 1; value < 1u << f->width; value++, tried++) {
            codes found = try_word(dev, arch, insn, (uint32_t)insn->opcode << 24 | value << f->lo);
            for (unsigned i = 0; i < found.count; i++) {
                unsigned at = 0;
                if (has(&always, found.code[i]))
                    continue;
                while (at < count && seen[at] != found.code[i])
                    at++;
                if (at == CODES)
                    continue;
                if (at == count) {
                    seen[count] = found.code[i];
                    values[count++] = 0;
                }
                values[at] |= 1u << value;
            }
        }
        for (unsigned i = 0; i < count; i++, comma = "; ") {
            wg_textf(out, "%s%s ", comma, f->name);
            put_values(out, values[i]);
            wg_textf(out, ": `%s`", wg_finding_info_at(seen[i])->code);
        }
    }
    if (!*comma)
        wg_textf(out, tried ? "all" : "yes");
}

bool wg_support_document(wg_text *out)
{
    wg_device *dev[2] = {NULL, NULL};
    bool ok = true;
    for (unsigned arch = 0; arch < 2; arch++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = (wg_arch_id)arch};
        ok = wg_create(&desc, &dev[arch]) == WG_OK && ok;
    }
    wg_textf(out,
             "# What is supported\n\n"
             "Architecture × instruction × mode, found by experiment (`waitgate isa --support`): every instruction was "
             "executed with every value of each\noperand of up to four bits, one at a time, with BF16 data and its "
             "units ready. *all*: every value does what the\ndocumentation says. Otherwise the values are listed that "
             "give a [finding](findings.md), which says whether hardware leaves\nthem undefined or Waitgate does not "
             "implement them. *yes*: there is no such operand. *–*: the architecture has no such\ninstruction. Wider "
             "operands (addresses, counts, registers, masks) and timing are in [the instruction list](isa.md).\n\n"
             "| Instruction | Unit | Blackhole | Wormhole |\n|---|---|---|---|\n");
    for (unsigned opcode = 0; ok && opcode < 256; opcode++) {
        const wg_isa_insn *insn[2] = {wg_isa_by_opcode(WG_ARCH_BH, (uint8_t)opcode),
                                      wg_isa_by_opcode(WG_ARCH_WH, (uint8_t)opcode)};
        const wg_isa_insn *any = insn[0]->id != WG_I_INVALID ? insn[0] : insn[1];
        if (any->id == WG_I_INVALID)
            continue;
        wg_textf(out, "| %s | %s |", any->name, wg_unit_name((wg_unit)any->unit));
        for (unsigned arch = 0; arch < 2; arch++) {
            wg_textf(out, " ");
            if (insn[arch]->id == WG_I_INVALID)
                wg_textf(out, "–");
            else
                put_cell(out, dev[arch], (wg_arch_id)arch, insn[arch]);
            wg_textf(out, " |");
        }
        wg_textf(out, "\n");
    }
    wg_destroy(dev[0]);
    wg_destroy(dev[1]);
    return ok;
}
