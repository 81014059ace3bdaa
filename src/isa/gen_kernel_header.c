/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes wg_kernel.h, the header that C and assembly kernels include: TT_OP_<NAME>, TT_<NAME> and
 * TTI_<NAME> for every instruction, symbolic operands, configuration fields, addresses. A build tool;
 * everything it prints comes from the tables. Usage: gen_kernel_header OUTPUT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "isa/config_fields.h"
#include "isa/isa.h"
#include "isa/symbols.h"
#include "isa/tile_regs.h"

static const char prologue[] =
    "/* SPDX-License-Identifier: Apache-2.0 */\n"
    "/*\n"
    " * For kernels that run on the emulated tile, in C or assembly. Generated from the instruction tables.\n"
    " *\n"
    " * Kernels are compiled with -DWG_ARCH_BH (the default) or -DWG_ARCH_WH. A host program that includes it beside\n"
    " * <waitgate/waitgate.h> is compiled with neither, and gets Blackhole's.\n"
    " *\n"
    " *   TT_OP_<NAME>(operands)   the instruction's word; operands in the public toolchain's order\n"
    " *   TT_<NAME>(operands)      pushes it by a store to the core's own instruction buffer\n"
    " *   TTI_<NAME>(operands)     pushes it as a .ttinsn; operands have to be constants\n"
    " */\n"
    "#ifndef WG_KERNEL_H\n"
    "#define WG_KERNEL_H\n"
    "\n"
    "\n"
    "/* A word as a core fetches it: rotated left by two. Words from 0xC0000000 on have no such form. */\n"
    "#ifndef __ASSEMBLER__\n"
    "#define WG_TTINSN(insn) (((__UINT32_TYPE__)(insn) << 2) | ((__UINT32_TYPE__)(insn) >> 30))\n"
    "#ifndef WG_INSTRN_BUF /* B pushes to threads 1 and 2 by INSTRN1_BUF_BASE and INSTRN2_BUF_BASE */\n"
    "#define WG_INSTRN_BUF INSTRN_BUF_BASE\n"
    "#endif\n"
    "#define TT_INSN(insn) (*(volatile __UINT32_TYPE__ *)(WG_INSTRN_BUF) = (insn))\n"
    "/* A word is data to the assembler, and has a source line only if it has a label. */\n"
    "#ifdef __clang__\n"
    "#define WG_TTI_LINE\n"
    "#define WG_TTI_LINE_END\n"
    "#else\n"
    "#define WG_TTI_LINE \".loc_mark_labels 1\\n.Ltti%=: \"\n"
    "#define WG_TTI_LINE_END \"\\n.loc_mark_labels 0\"\n"
    "#endif\n"
    "#define TTI_INSN(insn) \\\n"
    "    __extension__({ \\\n"
    "        _Static_assert((insn) < 0xC0000000, \"this word has no .ttinsn form\"); \\\n"
    "        __asm__ volatile(WG_TTI_LINE \".word %0\" WG_TTI_LINE_END : : \"i\"(WG_TTINSN(insn)) : \"memory\"); \\\n"
    "    })\n"
    "#else\n"
    "#define WG_TTINSN(insn) ((((insn) << 2) | ((insn) >> 30)) & 0xFFFFFFFF)\n"
    "#define TTI_INSN(insn) .word WG_TTINSN(insn)\n"
    "#endif\n";

/* ---- instructions ---- */

static void print_parameters(FILE *out, const wg_isa_insn *insn)
{
    for (unsigned i = 0; i < insn->field_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", insn->fields[i].name);
}

static void print_insn(FILE *out, const wg_isa_insn *insn)
{
    if (insn->field_count == 0) { /* without parentheses, as in the public headers */
        fprintf(out, "#define TT_OP_%s 0x%02X000000\n", insn->name, insn->opcode);
        fprintf(out, "#define TT_%s TT_INSN(TT_OP_%s)\n", insn->name, insn->name);
        fprintf(out, "#define TTI_%s TTI_INSN(TT_OP_%s)\n", insn->name, insn->name);
        return;
    }
    fprintf(out, "#define TT_OP_%s(", insn->name);
    print_parameters(out, insn);
    fprintf(out, ") \\\n    (0x%02X000000", insn->opcode);
    for (unsigned i = 0; i < insn->field_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        fprintf(out, " + (((%s) & 0x%X) << %u)", f->name, (1u << f->width) - 1, f->lo);
    }
    fprintf(out, ")\n");
    for (const char *const *form = (const char *const[]){"TT_", "TTI_", NULL}; *form; form++) {
        fprintf(out, "#define %s%s(", *form, insn->name);
        print_parameters(out, insn);
        fprintf(out, ") %sINSN(TT_OP_%s(", *form, insn->name);
        print_parameters(out, insn);
        fprintf(out, "))\n");
    }
}

static bool same_syntax(const wg_isa_insn *a, const wg_isa_insn *b)
{
    if (a->opcode != b->opcode || a->field_count != b->field_count)
        return false;
    for (unsigned i = 0; i < a->field_count; i++)
        if (strcmp(a->fields[i].name, b->fields[i].name) != 0 || a->fields[i].lo != b->fields[i].lo ||
            a->fields[i].width != b->fields[i].width)
            return false;
    return true;
}

static void print_insns(FILE *out)
{
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *bh = wg_isa_by_id(WG_ARCH_BH, (wg_insn_id)id),
                          *wh = wg_isa_by_id(WG_ARCH_WH, (wg_insn_id)id);
        fprintf(out, "\n");
        if (bh && wh && same_syntax(bh, wh)) {
            print_insn(out, bh);
            continue;
        }
        fprintf(out, "#ifdef WG_ARCH_WH\n");
        if (wh)
            print_insn(out, wh);
        fprintf(out, "#else\n");
        if (bh)
            print_insn(out, bh);
        fprintf(out, "#endif\n");
    }
}

/* ---- constants ---- */

static void print_symbols(FILE *out)
{
#define SYMBOL(name, value) fprintf(out, "#define %s 0x%X\n", "WG_" #name, (unsigned)(value));
    fprintf(out, "\n/* Symbolic operands: WG_STALL_CFG, WG_MATH, … */\n");
    WG_SYMBOLS_block(SYMBOL) WG_SYMBOLS_sem(SYMBOL) WG_SYMBOLS_semcond(SYMBOL) fprintf(out, "#ifdef WG_ARCH_WH\n");
    WG_SYMBOLS_wait_wh(SYMBOL) fprintf(out, "#else\n");
    WG_SYMBOLS_wait_bh(SYMBOL) WG_SYMBOLS_resource(SYMBOL) fprintf(out, "#endif\n");
    fprintf(out, "\n/* Semaphore indices by logical name; 1 << index is the mask. */\n");
#undef SYMBOL
#define SYMBOL(name, value) fprintf(out, "#define %s 0x%X\n", "WG_SEM_" #name, (unsigned)(value));
    WG_SYMBOLS_sem_index(SYMBOL)
#undef SYMBOL
}

/* The line before each architecture's part, in order. */
static const char *const arch_opens[] = {[WG_ARCH_BH] = "#ifndef WG_ARCH_WH\n", [WG_ARCH_WH] = "#else\n"};

static void print_upper(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

static void print_addresses(FILE *out)
{
    /* The public headers' names, and the regions they denote. */
    static const struct {
        const char *name;
        wg_region_id region;
    } names[] = {
        {"REGFILE_BASE", WG_REGION_tensix_regfile},
        {"INSTRN_BUF_BASE", WG_REGION_tensix_inst},
        {"INSTRN1_BUF_BASE", WG_REGION_tensix_inst1},
        {"INSTRN2_BUF_BASE", WG_REGION_tensix_inst2},
        {"PC_BUF_BASE", WG_REGION_tensix_pc_buf},
        {"PC1_BUF_BASE", WG_REGION_tensix_pc1_buf},
        {"PC2_BUF_BASE", WG_REGION_tensix_pc2_buf},
        {"TENSIX_MAILBOX0_BASE", WG_REGION_tensix_mailbox0},
        {"TENSIX_MAILBOX1_BASE", WG_REGION_tensix_mailbox1},
        {"TENSIX_MAILBOX2_BASE", WG_REGION_tensix_mailbox2},
        {"TENSIX_MAILBOX3_BASE", WG_REGION_tensix_mailbox3},
        {"TENSIX_CFG_BASE", WG_REGION_tensix_cfg},
        {"TENSIX_MOP_CFG_BASE", WG_REGION_tensix_mop_cfg},
        {"MEM_LOCAL_BASE", WG_REGION_riscv_local_mem},
        {"RISCV_TDMA_REGS_START_ADDR", WG_REGION_riscv_tdma_regs},
        {"RISCV_DEBUG_REGS_START_ADDR", WG_REGION_riscv_debug_regs},
        {"NOC0_REGS_START_ADDR", WG_REGION_noc0_regs},
        {"NOC1_REGS_START_ADDR", WG_REGION_noc1_regs},
        {"NOC_OVERLAY_START_ADDR", WG_REGION_noc_overlay},
    };
    fprintf(out, "\n/* Addresses, as cores see them. */\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(out, "#define %s 0x%08llX\n", names[i].name,
                (unsigned long long)wg_region_ranges[WG_ARCH_BH][names[i].region].first);
    fprintf(out, "#ifndef WG_ARCH_WH\n#define TENSIX_DST_BASE 0x%08llX\n#endif\n",
            (unsigned long long)wg_region_ranges[WG_ARCH_BH][WG_REGION_tensix_dst].first);

    for (unsigned arch = 0; arch < 2; arch++) {
        fputs(arch_opens[arch], out);
        for (unsigned id = 0; id < WG_REG_COUNT; id++) {
            const wg_tile_reg *r = &wg_tile_regs[arch][id];
            if (r->count == 0 || (r->list != WG_REGS_TDMA && r->list != WG_REGS_DEBUG))
                continue;
            bool tdma = r->list == WG_REGS_TDMA;
            fprintf(out, "#define %s", tdma ? "RISCV_TDMA_REG_" : "RISCV_DEBUG_REG_");
            print_upper(out, r->name);
            fprintf(out, " 0x%08llX\n",
                    (unsigned long long)
                            wg_region_ranges[arch][tdma ? WG_REGION_riscv_tdma_regs : WG_REGION_riscv_debug_regs]
                                .first +
                        r->offset);
        }
    }
    fprintf(out, "#endif\n");
}

static void print_config(FILE *out)
{
    fprintf(out, "\n/* Configuration fields: word, lowest bit and mask of each. */\n");
    for (unsigned arch = 0; arch < 2; arch++) {
        fputs(arch_opens[arch], out);
        for (unsigned i = 0; i < WG_TCFG_COUNT + WG_CFG_COUNT; i++) {
            bool thread = i < WG_TCFG_COUNT;
            const wg_cfg_field *f = thread ? &wg_tcfg_fields[arch][i] : &wg_cfg_fields[arch][i - WG_TCFG_COUNT];
            const char *name = thread ? wg_tcfg_names[i] : wg_cfg_names[i - WG_TCFG_COUNT];
            if (!wg_cfg_present(f))
                continue;
            fprintf(out, "#define %s_ADDR32 %u\n#define %s_SHAMT %u\n#define %s_MASK 0x%X\n", name, f->word, name,
                    f->shift, name, f->mask << f->shift);
        }
    }
    fprintf(out, "#endif\n");
}

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: gen_kernel_header OUTPUT\n");
        return 1;
    }
    fputs(prologue, out);
    print_addresses(out);
    print_symbols(out);
    print_config(out);
    fprintf(out, "\n/* Instructions. */");
    print_insns(out);
    fprintf(out, "\n#endif\n");
    return fclose(out) == 0 ? 0 : 1;
}
