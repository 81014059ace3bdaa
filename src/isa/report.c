/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the instruction table, as Markdown for people or as JSON for programs. */
#include "isa/report.h"

#include <stdio.h>
#include <string.h>

static const char *const unit_names[WG_UNIT_COUNT] = {
    [WG_UNIT_FRONTEND] = "Frontend",  [WG_UNIT_NONE] = "none",
    [WG_UNIT_INVALID] = "invalid",    [WG_UNIT_SYNC] = "Sync Unit",
    [WG_UNIT_UNPACK] = "Unpackers",   [WG_UNIT_MATRIX] = "Matrix Unit",
    [WG_UNIT_PACK] = "Packers",       [WG_UNIT_VECTOR] = "Vector Unit",
    [WG_UNIT_SCALAR] = "Scalar Unit", [WG_UNIT_CONFIG] = "Configuration Unit",
    [WG_UNIT_MOVER] = "Mover",        [WG_UNIT_MISC] = "Miscellaneous Unit"};

const char *wg_unit_name(wg_unit unit) { return unit_names[(unsigned)unit < WG_UNIT_COUNT ? unit : WG_UNIT_INVALID]; }

typedef struct wg_output {
    wg_isa_writer write;
    void *user;
} wg_output;

static void put(const wg_output *o, const char *text) { o->write(o->user, text, strlen(text)); }

static void put_number(const wg_output *o, const char *format, unsigned value)
{
    char text[32];
    (void)snprintf(text, sizeof text, format, value);
    put(o, text);
}

const char *const wg_isa_page_trees[2] = {[WG_ARCH_BH] = "BlackholeA0", [WG_ARCH_WH] = "WormholeB0"};

const char *wg_isa_page_tree(wg_arch_id arch, const wg_isa_insn *insn)
{
    bool has_own = insn->page_trees >> arch & 1;
    return wg_isa_page_trees[has_own ? arch : !arch];
}

static void put_page(const wg_output *o, wg_arch_id arch, const wg_isa_insn *insn)
{
    bool elsewhere = strncmp(insn->page, "../", 3) == 0;
    put(o, wg_isa_page_tree(arch, insn));
    put(o, elsewhere ? "/TensixTile/" : "/TensixTile/TensixCoprocessor/");
    put(o, elsewhere ? insn->page + 3 : insn->page);
}

/* A value that is the same in both timing profiles is shown once; 0 is variable. */
static void put_timing(const wg_output *o, const uint8_t value[2])
{
    if (value[WG_PROFILE_DOCUMENTED] == 0)
        put(o, "variable");
    else
        put_number(o, "%u", value[WG_PROFILE_DOCUMENTED]);
    if (value[WG_PROFILE_SILICON] != value[WG_PROFILE_DOCUMENTED])
        put_number(o, " (silicon %u)", value[WG_PROFILE_SILICON]);
}

static void put_row(const wg_output *o, wg_arch_id arch, const wg_isa_insn *insn, const wg_isa_report_options *options)
{
    put_number(o, "| 0x%02X", insn->opcode);
    put(o, " | ");
    put(o, insn->name);
    put(o, " | ");
    for (unsigned i = 0; i < (unsigned)insn->field_count + insn->extra_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        put(o, i ? ", " : "");
        put(o, i >= insn->field_count ? "(" : "");
        put(o, f->name);
        put_number(o, " [%u:", f->lo + f->width - 1u);
        put_number(o, "%u]", f->lo);
        put(o, i >= insn->field_count ? ")" : "");
    }
    put(o, " | ");
    put(o, wg_unit_name(insn->unit));
    put(o, " | ");
    if (insn->block_bits == WG_B_ANY)
        put(o, "any");
    else
        for (unsigned bit = 0, first = 1; bit < 9; bit++)
            if (insn->block_bits >> bit & 1) {
                put_number(o, first ? "B%u" : " B%u", bit);
                first = 0;
            }
    put(o, " | ");
    if (insn->ttsync_class != WG_TTSYNC_NONE)
        put_number(o, "%u", insn->ttsync_class);
    put(o, " | ");
    put_timing(o, insn->latency);
    put(o, " | ");
    put_timing(o, insn->interval);
    put(o, " | ");
    if (insn->page) {
        put(o, "`");
        put_page(o, arch, insn);
        put(o, "`");
    }
    if (options->implemented)
        put(o, options->implemented(options->user, arch, insn) ? " | yes" : " | no");
    if (options->tested)
        put(o, options->tested(options->user, arch, insn) ? " | yes" : " | no");
    put(o, " |\n");
}

static void put_object(const wg_output *o, wg_arch_id arch, const wg_isa_insn *insn,
                       const wg_isa_report_options *options, bool first)
{
    put(o, first ? "\n  {\"name\": \"" : ",\n  {\"name\": \"");
    put(o, insn->name);
    put_number(o, "\", \"opcode\": %u", insn->opcode);
    put(o, ", \"unit\": \"");
    put(o, wg_unit_name(insn->unit));
    put_number(o, "\", \"block_bits\": %u", insn->block_bits);
    put(o, ", \"ttsync_class\": ");
    if (insn->ttsync_class != WG_TTSYNC_NONE)
        put_number(o, "%u", insn->ttsync_class);
    else
        put(o, "null");
    put_number(o, ", \"latency\": [%u", insn->latency[WG_PROFILE_DOCUMENTED]);
    put_number(o, ", %u]", insn->latency[WG_PROFILE_SILICON]);
    put_number(o, ", \"interval\": [%u", insn->interval[WG_PROFILE_DOCUMENTED]);
    put_number(o, ", %u]", insn->interval[WG_PROFILE_SILICON]);
    put_number(o, ", \"spare_bits\": %u", insn->spare_bits);
    put(o, ", \"operands\": [");
    for (unsigned i = 0; i < (unsigned)insn->field_count + insn->extra_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        put(o, i ? ", {\"name\": \"" : "{\"name\": \"");
        put(o, f->name);
        put_number(o, "\", \"lo\": %u", f->lo);
        put_number(o, ", \"width\": %u", f->width);
        put(o, wg_isa_field_is_signed(f) ? ", \"signed\": true" : "");
        put(o, f->role == WG_FIELD_EXTRA ? ", \"syntax\": false}" : "}");
    }
    put(o, "], \"page\": ");
    if (insn->page) {
        put(o, "\"");
        put_page(o, arch, insn);
        put(o, "\"");
    } else {
        put(o, "null");
    }
    if (options->implemented)
        put(o,
            options->implemented(options->user, arch, insn) ? ", \"implemented\": true" : ", \"implemented\": false");
    if (options->tested)
        put(o, options->tested(options->user, arch, insn) ? ", \"tested\": true" : ", \"tested\": false");
    put(o, "}");
}

void wg_isa_report(wg_arch_id arch, const wg_isa_report_options *options, wg_isa_writer write, void *user)
{
    static const wg_isa_report_options none = {false, NULL, NULL, NULL};
    wg_output o = {write, user};
    if (options == NULL)
        options = &none;
    if (options->json) {
        put(&o, "[");
    } else {
        put(&o, "| Opcode | Name | Operands | Unit | Blocked by | TTSync class | Latency | Interval | Page |");
        put(&o, options->implemented ? " Implemented |" : "");
        put(&o, options->tested ? " Tested |" : "");
        put(&o, "\n|---|---|---|---|---|---|---|---|---|");
        put(&o, options->implemented ? "---|" : "");
        put(&o, options->tested ? "---|" : "");
        put(&o, "\n");
    }
    bool first = true;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *insn = wg_isa_by_opcode(arch, (uint8_t)opcode);
        if (insn->id == WG_I_INVALID)
            continue;
        if (options->json)
            put_object(&o, arch, insn, options, first);
        else
            put_row(&o, arch, insn, options);
        first = false;
    }
    if (options->json)
        put(&o, "\n]\n");
}

static const char introduction[] =
    "# The instruction set\n"
    "\n"
    "Every Tensix instruction of Blackhole A0 and Wormhole B0, from the one list that the decoder, the\n"
    "assembler and the units use, `src/isa/insns.def`. This page is generated (`waitgate isa --markdown`).\n"
    "\n"
    "- **Operands** in the order in which the assembler takes them, each with its bits. In parentheses:\n"
    "  documented fields that the public syntax has no operand for; write `Name=value` after the others.\n"
    "- **Blocked by**: the bits of a STALLWAIT, SEMWAIT or STREAMWAIT that hold it at the Wait Gate.\n"
    "  NOP is held only if all nine are set; frontend instructions never reach the gate.\n"
    "- **TTSync class**: Auto TTSync's class (Blackhole only).\n"
    "- **Latency** and **Interval** in cycles; *variable* where operands, memory or other threads decide. The\n"
    "  latency is the time until others can read the result. On silicon, waits see an instruction of the Matrix\n"
    "  Unit for longer: `waitgate explain MVMUL`, and `matrix_stages` in [timing constants](timing_constants.md).\n"
    "- **Page** of the public ISA documentation. A Wormhole page speaks for Blackhole where that has none.\n"
    "- **Implemented**: its unit has a handler for it. **Tested**: value and timing tests registered for it\n"
    "  passed in the last whole run of the tests. Both are derived, never declared.\n";

void wg_isa_document(const wg_isa_report_options *options, wg_isa_writer write, void *user)
{
    wg_output o = {write, user};
    put(&o, introduction);
    put(&o, "\n## Blackhole\n\n");
    wg_isa_report(WG_ARCH_BH, options, write, user);
    put(&o, "\n## Wormhole\n\n");
    wg_isa_report(WG_ARCH_WH, options, write, user);
}
