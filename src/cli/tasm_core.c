/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .tasm: sections of RISC-V assembly, one per core. Tensix mnemonics in them become the .ttinsn form
 * of their word (PIPE-09); everything else goes to the RISC-V assembler, with line marks and the program's constants
 * (tasm_link.c).
 */
#include "cli/tasm_internal.h"

#include <string.h>
#include <strings.h>

const char *const wg_tasm_core_names[WG_CORES] = {"B", "NC", "T0", "T1", "T2"};

/* Emits the word in its .ttinsn form, or an error. */
static void tensix_line(wg_tasm *t, wg_tasm_line *l, unsigned core, size_t start)
{
    wg_asm_env env = wg_tasm_env(t);
    wg_asm_error error = {0};
    uint32_t word = 0;
    wg_asm_code code = wg_assemble_line_env(t->arch, l->text + start, l->length - start, &env, &word, &error);
    if (code != WG_ASM_OK && code != WG_ASM_BLANK)
        wg_tasm_fail(t, l->number, start + error.column, "%s", error.message);
    else if (word >= UINT32_C(0xC0000000))
        wg_tasm_fail(t, l->number, start + 1, "0x%08x has no .ttinsn form: only words below 0xC0000000 have one", word);
    else
        /* A word is data to the assembler and carries no mark: the second mark flushes the first at the word's address. */
        wg_textf(&t->core[core].source, ".loc 1 %u; .loc 1 %u; .word 0x%08x\n", l->number, l->number,
                 wg_ttinsn_encode(word));
}

static bool is_tensix(const wg_tasm *t, const char *name, size_t length)
{
    if (wg_tasm_is(name, length, ".ttinsn"))
        return true;
    return length > 2 && strncasecmp(name, "tt", 2) == 0 && wg_isa_by_name(t->arch, name, length) != NULL;
}

/* Probably an instruction: not a directive, and not empty. */
static bool is_instruction(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && (text[at] == ' ' || text[at] == '\t'))
        at++;
    if (at == length || text[at] == '#')
        return false;
    return text[at] != '.' || (length - at > 5 && strncmp(text + at, ".insn", 5) == 0);
}

/* The number of digits of a local label such as "1:", which may occur several times. Moves l to it. */
static size_t local_label(wg_tasm_line *l)
{
    size_t at = l->at, n = 0;
    while (at < l->length && (l->text[at] == ' ' || l->text[at] == '\t'))
        at++;
    while (at + n < l->length && l->text[at + n] >= '0' && l->text[at + n] <= '9')
        n++;
    if (!n || at + n == l->length || l->text[at + n] != ':')
        return 0;
    l->at = at;
    return n;
}

static bool is_one_of(const char *name, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (wg_tasm_is(name, length, *words))
            return true;
    return false;
}

/* Tracks sections, and reports data words among the instructions, which would be executed as pushes. */
static void directive(wg_tasm *t, wg_tasm_line *l, unsigned core, const char *name, size_t length, size_t start)
{
    static const char *const data[] = {".data", ".bss", ".rodata", NULL};
    static const char *const words[] = {".word", ".long", ".4byte", ".int", NULL};
    wg_asm_env env = wg_tasm_env(t);
    wg_asm_error error = {0};
    int64_t value;
    size_t used;
    if (is_one_of(name, length, data) || wg_tasm_is(name, length, ".text")) {
        t->core[core].data = !wg_tasm_is(name, length, ".text");
    } else if (wg_tasm_is(name, length, ".section")) {
        const char *section;
        size_t n = wg_tasm_name(l, &section);
        t->core[core].data = n < 5 || strncmp(section, ".text", 5) != 0;
    } else if (!t->core[core].data && is_one_of(name, length, words) &&
               wg_asm_expression(t->arch, l->text + l->at, l->length - l->at, &env, &value, &used, &error) ==
                   WG_ASM_OK &&
               (value & 3) != 3) {
        wg_tasm_fail(t, l->number, start + 1,
                     "among instructions this word pushes 0x%08x: write `.ttinsn` to push a Tensix word, or put data "
                     "after `.data`",
                     wg_ttinsn_decode((uint32_t)value));
    }
}

void wg_tasm_core_line(wg_tasm *t, wg_tasm_line *l, unsigned core)
{
    wg_text *out = &t->core[core].source;
    const char *name;
    size_t digits = local_label(l);
    if (digits) {
        wg_textf(out, "%.*s:", (int)digits, l->text + l->at);
        l->at += digits + 1;
    }
    size_t length = wg_tasm_name(l, &name), start = l->at - length;
    if (length && wg_tasm_accept(l, ':')) {
        wg_textf(out, "%.*s:", (int)length, name);
        start = l->at;
        length = wg_tasm_name(l, &name);
        start = length ? l->at - length : start;
    }
    if (length && is_tensix(t, name, length)) {
        tensix_line(t, l, core, start);
    } else {
        if (length && *name == '.')
            directive(t, l, core, name, length, start);
        if (is_instruction(l->text + start, l->length - start))
            wg_textf(out, ".loc 1 %u;", l->number);
        wg_text_add(out, " ", 1);
        wg_text_add(out, l->text + start, l->length - start);
        wg_text_add(out, "\n", 1);
    }
    t->out_of_memory |= out->failed;
}
