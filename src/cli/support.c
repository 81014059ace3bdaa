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

#include "arch/arch.h"
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

/* The values of an operand that give a finding. */
typedef struct exception {
    const char *operand; /* NULL: the instruction with all operands 0 */
    uint16_t code;
    uint32_t values; /* bit i: value i */
} exception;

enum { EXCEPTIONS = 128 };
typedef struct cell {
    bool implemented;
    unsigned tried; /* values of operands */
    unsigned count;
    exception at[EXCEPTIONS];
} cell;

static void add(cell *c, const char *operand, uint16_t code, uint32_t values)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->at[i].code == code && c->at[i].operand == operand) {
            c->at[i].values |= values;
            return;
        }
    if (c->count < EXCEPTIONS)
        c->at[c->count++] = (exception){operand, code, values};
}

static void try_all(cell *c, wg_device *dev, wg_arch_id arch, const wg_isa_insn *insn)
{
    const uint32_t word = (uint32_t)insn->opcode << 24;
    *c = (cell){.implemented = wg_insn_implemented(arch, insn)};
    if (!c->implemented)
        return;
    const codes always = try_word(dev, arch, insn, word);
    for (unsigned i = 0; i < always.count; i++)
        add(c, NULL, always.code[i], 1);
    for (unsigned k = 0; k < (unsigned)insn->field_count + insn->extra_count; k++) {
        const wg_isa_field *f = &insn->fields[k];
        for (uint32_t value = 1; f->width <= MODE_BITS && value < 1u << f->width; value++, c->tried++) {
            const codes found = try_word(dev, arch, insn, word | value << f->lo);
            for (unsigned i = 0; i < found.count; i++)
                if (!has(&always, found.code[i]))
                    add(c, f->name, found.code[i], 1u << value);
        }
    }
}

static void put_cell(wg_text *out, const cell *c)
{
    if (!c->implemented || !c->count)
        wg_textf(out, !c->implemented ? "not implemented" : c->tried ? "all" : "yes");
    for (unsigned i = 0; i < c->count; i++) {
        const exception *e = &c->at[i];
        wg_textf(out, "%s%s", i ? "; " : "", e->operand ? e->operand : "all operands 0");
        if (e->operand) {
            wg_textf(out, " ");
            put_values(out, e->values);
        }
        wg_textf(out, ": `%s`", wg_finding_info_at(e->code)->code);
    }
}

static void cell_json(wg_json *j, const char *arch, const cell *c)
{
    wg_json_open(j, arch, '{');
    wg_json_bool(j, "implemented", c->implemented);
    wg_json_uint(j, "tried", c->tried);
    wg_json_open(j, "findings", '[');
    for (unsigned i = 0; i < c->count; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "code", wg_finding_info_at(c->at[i].code)->code);
        if (c->at[i].operand) {
            wg_json_text(j, "operand", c->at[i].operand);
            wg_json_open(j, "values", '[');
            for (unsigned value = 0; value < 1u << MODE_BITS; value++)
                if (c->at[i].values >> value & 1)
                    wg_json_uint(j, NULL, value);
            wg_json_close(j, ']');
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

static void put_row(wg_text *out, wg_json *j, wg_device *const dev[2], const wg_isa_insn *const insn[2])
{
    const wg_isa_insn *any = insn[0]->id != WG_I_INVALID ? insn[0] : insn[1];
    if (j) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", any->name);
        wg_json_text(j, "unit", wg_unit_name((wg_unit)any->unit));
    } else {
        wg_textf(out, "| %s | %s |", any->name, wg_unit_name((wg_unit)any->unit));
    }
    for (unsigned arch = 0; arch < 2; arch++) {
        cell c;
        const bool exists = insn[arch]->id != WG_I_INVALID;
        if (exists)
            try_all(&c, dev[arch], (wg_arch_id)arch, insn[arch]);
        if (exists && j)
            cell_json(j, wg_arch_of(arch)->name, &c);
        if (j)
            continue;
        wg_textf(out, " ");
        if (exists)
            put_cell(out, &c);
        else
            wg_textf(out, "–");
        wg_textf(out, " |");
    }
    if (j)
        wg_json_close(j, '}');
    else
        wg_textf(out, "\n");
}

static void put_head(wg_text *out)
{
    wg_textf(out,
             "# What is supported\n\n"
             "Architecture × instruction × mode, found by experiment (`waitgate isa --support`): every instruction was "
             "executed with every value of each\noperand of up to four bits, one at a time, with BF16 data and its "
             "units ready. *all*: every value does what the\ndocumentation says. Otherwise the values are listed that "
             "give a [finding](findings.md), which says whether hardware leaves\nthem undefined or Waitgate does not "
             "implement them. *yes*: there is no such operand. *–*: the architecture has no such\ninstruction. Wider "
             "operands (addresses, counts, registers, masks) and timing are in [the instruction list](isa.md).\n\n"
             "| Instruction | Unit | Blackhole | Wormhole |\n|---|---|---|---|\n");
}

bool wg_support_document(wg_text *out, bool as_json)
{
    wg_json json = {.out = out}, *j = as_json ? &json : NULL;
    wg_device *dev[2] = {NULL, NULL};
    bool ok = true;
    for (unsigned arch = 0; arch < 2; arch++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = (wg_arch_id)arch};
        ok = wg_create(&desc, &dev[arch]) == WG_OK && ok;
    }
    if (j) {
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "schema", 1);
        wg_json_text(j, "waitgate", wg_version());
        wg_json_open(j, "support", '[');
    } else {
        put_head(out);
    }
    for (unsigned opcode = 0; ok && opcode < 256; opcode++) {
        const wg_isa_insn *const insn[2] = {wg_isa_by_opcode(WG_ARCH_BH, (uint8_t)opcode),
                                            wg_isa_by_opcode(WG_ARCH_WH, (uint8_t)opcode)};
        if (insn[0]->id != WG_I_INVALID || insn[1]->id != WG_I_INVALID)
            put_row(out, j, dev, insn);
    }
    if (j) {
        wg_json_close(j, ']');
        wg_json_close(j, '}');
    }
    wg_destroy(dev[0]);
    wg_destroy(dev[1]);
    return ok;
}
