/* SPDX-License-Identifier: Apache-2.0 */
/* docs/timing_constants.md, from the tables of src/arch and src/isa. */
#include "cli/constants.h"

#include "arch/arch.h"
#include "arch/constants.h"
#include "isa/report.h"

static void put_source(wg_text *out, wg_basis s)
{
    switch ((wg_certainty)s.certainty) {
    case WG_DOCUMENTED: wg_textf(out, "documented"); break;
    case WG_MEASURED: wg_textf(out, "measured on %u row%s", s.rows, s.rows == 1 ? "" : "s"); break;
    case WG_INFERRED: wg_textf(out, "inferred from %u row%s", s.rows, s.rows == 1 ? "" : "s"); break;
    default: wg_textf(out, "**assumed**"); break;
    }
}

static void put_values(wg_text *out, const wg_constant *c, wg_arch_id arch, wg_profile profile)
{
    for (unsigned i = 0; i < (unsigned)c->bytes / c->width; i++)
        wg_textf(out, "%s%u", i ? ", " : "", wg_constant_value(c, arch, profile, i));
}

/* Value and source; also those of profile documented, where they differ. */
static void put_constant(wg_text *out, const wg_constant *c, wg_arch_id arch)
{
    bool differs = false;
    for (unsigned i = 0; i < (unsigned)c->bytes / c->width; i++)
        differs |=
            wg_constant_value(c, arch, WG_PROFILE_DOCUMENTED, i) != wg_constant_value(c, arch, WG_PROFILE_SILICON, i);
    put_values(out, c, arch, WG_PROFILE_SILICON);
    wg_textf(out, " | ");
    put_source(out, c->source[arch][WG_PROFILE_SILICON]);
    if (!differs)
        return;
    wg_textf(out, "; in profile `documented` ");
    put_values(out, c, arch, WG_PROFILE_DOCUMENTED);
    wg_textf(out, ", ");
    put_source(out, c->source[arch][WG_PROFILE_DOCUMENTED]);
}

static bool has_latency(wg_insn_id id)
{
    const wg_isa_insn *insn = wg_isa_by_id(WG_ARCH_BH, id);
    return insn && insn->unit != WG_UNIT_INVALID && insn->unit != WG_UNIT_FRONTEND;
}

static void put_number(wg_text *out, unsigned value)
{
    if (value)
        wg_textf(out, "%u", value);
    else
        wg_textf(out, "varies");
}

static void put_latency(wg_text *out, wg_arch_id arch, wg_insn_id id)
{
    const wg_isa_insn *insn = wg_isa_by_id(arch, id);
    if (!insn) {
        wg_textf(out, " | ");
        return;
    }
    put_number(out, insn->latency[WG_PROFILE_SILICON]);
    wg_textf(out, ", ");
    put_number(out, insn->interval[WG_PROFILE_SILICON]);
    wg_textf(out, " | ");
    put_source(out, wg_latency_source(arch, insn));
}

/* ---- JSON ---- */

static void source_json(wg_json *j, wg_basis s)
{
    static const char *const names[] = {"documented", "measured", "inferred", "assumed"};
    wg_json_text(j, "certainty", names[s.certainty]);
    if (s.rows)
        wg_json_uint(j, "rows", s.rows);
}

static void constant_json(wg_json *j, const wg_constant *c, wg_arch_id arch)
{
    wg_json_open(j, wg_arch_of(arch)->name, '{');
    for (unsigned profile = 0; profile < 2; profile++) {
        wg_json_open(j, profile == WG_PROFILE_SILICON ? "silicon" : "documented", '{');
        wg_json_open(j, "values", '[');
        for (unsigned i = 0; i < (unsigned)c->bytes / c->width; i++)
            wg_json_uint(j, NULL, wg_constant_value(c, arch, (wg_profile)profile, i));
        wg_json_close(j, ']');
        source_json(j, c->source[arch][profile]);
        wg_json_close(j, '}');
    }
    wg_json_close(j, '}');
}

/* 0: it varies. */
static void latency_json(wg_json *j, wg_arch_id arch, wg_insn_id id)
{
    const wg_isa_insn *insn = wg_isa_by_id(arch, id);
    if (!insn)
        return;
    wg_json_open(j, wg_arch_of(arch)->name, '{');
    wg_json_uint(j, "latency", insn->latency[WG_PROFILE_SILICON]);
    wg_json_uint(j, "interval", insn->interval[WG_PROFILE_SILICON]);
    source_json(j, wg_latency_source(arch, insn));
    wg_json_close(j, '}');
}

static void document_json(wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_open(j, "constants", '[');
    for (const wg_constant *c = wg_constants; c < wg_constants + wg_constant_count; c++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", c->name);
        wg_json_text(j, "what", c->what);
        constant_json(j, c, WG_ARCH_BH);
        constant_json(j, c, WG_ARCH_WH);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_open(j, "latencies", '[');
    for (unsigned id = 0; id < WG_I_COUNT; id++) {
        if (!has_latency((wg_insn_id)id))
            continue;
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "name", wg_isa_by_id(WG_ARCH_BH, (wg_insn_id)id)->name);
        latency_json(j, WG_ARCH_BH, (wg_insn_id)id);
        latency_json(j, WG_ARCH_WH, (wg_insn_id)id);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

void wg_constants_document(wg_text *out, bool json)
{
    if (json) {
        document_json(out);
        return;
    }
    wg_textf(out, "# Timing constants\n\n"
                  "Every constant that affects timing, with its value, its source and its certainty. `make docs` "
                  "writes this page\n"
                  "(`waitgate isa --timing`) from `src/arch/bh.c`, `wh.c`, `constants.def`, `unit_times.def` and\n"
                  "`src/isa/insns.def`.\n\n"
                  "- *documented*: a page gives the value, or a bound that it meets;\n"
                  "- *measured on n rows*: n public rows of a card show it;\n"
                  "- *inferred from n rows*: n rows fit it; the mechanism is not known;\n"
                  "- *assumed*: neither measured nor documented. `--stats` says how many cycles of a run rest on "
                  "such a\n"
                  "  latency ([what that means](accuracy.md#cycles-that-rest-on-assumptions)).\n\n"
                  "| Constant | What | Blackhole | Source | Wormhole | Source |\n|---|---|---|---|---|---|\n");
    for (const wg_constant *c = wg_constants; c < wg_constants + wg_constant_count; c++) {
        wg_textf(out, "| `%s` | %s | ", c->name, c->what);
        put_constant(out, c, WG_ARCH_BH);
        wg_textf(out, " | ");
        put_constant(out, c, WG_ARCH_WH);
        wg_textf(out, " |\n");
    }
    wg_textf(out, "\n## Units\n\nThe same on both architectures and in both profiles.\n\n"
                  "| Constant | What | Value | Source |\n|---|---|---|---|\n");
    for (const wg_unit_time *u = wg_unit_times; u < wg_unit_times + wg_unit_time_count; u++) {
        wg_textf(out, "| `%s` | %s | %u | ", u->name, u->what, u->value);
        put_source(out, u->source);
        wg_textf(out, " |\n");
    }
    wg_textf(out, "\n## Instructions\n\nLatency, and cycles between two of them.\n\n"
                  "| Instruction | Blackhole | Source | Wormhole | Source |\n|---|---|---|---|---|\n");
    for (unsigned id = 0; id < WG_I_COUNT; id++) {
        if (!has_latency((wg_insn_id)id))
            continue;
        wg_textf(out, "| %s | ", wg_isa_by_id(WG_ARCH_BH, (wg_insn_id)id)->name);
        put_latency(out, WG_ARCH_BH, (wg_insn_id)id);
        wg_textf(out, " | ");
        put_latency(out, WG_ARCH_WH, (wg_insn_id)id);
        wg_textf(out, " |\n");
    }
}
