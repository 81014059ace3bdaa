/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensix text to words, one line at a time. The most frequent operand, a decimal number, is read here; asm_expr.c reads all
 * others.
 */
#include "isa/asm_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- errors in operands ------------------------------------------------------------------------------- */

static wg_asm_code fail_count(wg_asm_line *l, size_t at, const wg_isa_insn *insn, unsigned given)
{
    if (insn->field_count == 0)
        return wg_asm_fail(l, WG_ASM_OPERAND_COUNT, at, "%s takes no operands", insn->name);
    char names[160];
    size_t used = 0;
    for (unsigned i = 0; i < insn->field_count && used + 1 < sizeof names; i++) {
        int n = snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", insn->fields[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    bool more = given > insn->field_count;
    return wg_asm_fail(l, WG_ASM_OPERAND_COUNT, at, "%s takes %u operand%s (%s%s), not %s%u", insn->name,
                       insn->field_count, insn->field_count == 1 ? "" : "s", names, used >= sizeof names ? "…" : "",
                       more ? "more than " : "", more ? insn->field_count : given);
}

static wg_asm_code fail_range(wg_asm_line *l, size_t at, const wg_isa_field *field, int64_t value)
{
    long long highest = (1ll << field->width) - 1;
    long long lowest = wg_isa_field_is_signed(field) ? -(1ll << (field->width - 1)) : 0;
    return wg_asm_fail(l, WG_ASM_RANGE, at, "%s is %lld, but it has %u bit%s: %lld to %lld", field->name,
                       (long long)value, field->width, field->width == 1 ? "" : "s", lowest, highest);
}

/* ---- operands ----------------------------------------------------------------------------------------- */

static wg_asm_code put_value(wg_asm_line *l, size_t at, const wg_isa_field *field, int64_t value, uint32_t *word)
{
    int64_t limit = INT64_C(1) << field->width;
    if (value < 0 ? !wg_isa_field_is_signed(field) || value < -(limit >> 1) : value >= limit)
        return fail_range(l, at, field, value);
    *word |= ((uint32_t)value & (uint32_t)(limit - 1)) << field->lo;
    return WG_ASM_OK;
}

/* A decimal number that stands alone between commas; the cursor moves only if there is one. */
static bool read_plain_number(wg_asm_line *l, int64_t *value)
{
    const char *c = l->text + l->at, *end = l->text + l->length;
    if (c == end || !wg_asm_is_digit(*c) || (*c == '0' && c + 1 < end && wg_asm_is_digit(c[1])))
        return false;
    uint32_t sum = 0;
    unsigned digits = 0;
    for (; c != end && wg_asm_is_digit(*c) && digits < 9; c++, digits++)
        sum = sum * 10 + (uint32_t)(*c - '0');
    while (c != end && wg_asm_is_space(*c))
        c++;
    if (c != end && *c != ',' && *c != ';' && *c != '\n')
        return false;
    l->at = (size_t)(c - l->text);
    *value = sum;
    return true;
}

/* "name =" before an operand: skips it and returns the field it names. */
static wg_asm_code read_field_name(wg_asm_line *l, const wg_isa_insn *insn, const wg_isa_field **field)
{
    *field = NULL;
    size_t end = l->at;
    while (end < l->length && (wg_asm_is_letter(l->text[end]) || wg_asm_is_digit(l->text[end])))
        end++;
    size_t length = end - l->at, equals = end;
    while (equals < l->length && wg_asm_is_space(l->text[equals]))
        equals++;
    if (length == 0 || equals == l->length || l->text[equals] != '=')
        return WG_ASM_OK;
    const char *name = l->text + l->at;
    for (unsigned i = 0; i < insn->field_count + insn->extra_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        if (strncmp(f->name, name, length) == 0 && f->name[length] == '\0') {
            *field = f;
            l->at = equals + 1;
            return WG_ASM_OK;
        }
    }
    return wg_asm_fail(l, WG_ASM_UNKNOWN_SYMBOL, l->at, "%s has no field %.*s", insn->name,
                       (int)(length < 60 ? length : 60), name);
}

static wg_asm_code read_operands(wg_asm_line *l, const wg_isa_insn *insn, uint32_t *word)
{
    unsigned given = 0;      /* operands so far, by position or by name */
    unsigned positional = 0; /* … of them by position */
    uint32_t named = 0;      /* which of insn->fields were given by name */
    wg_asm_skip_space(l);
    if (wg_asm_at_end(l))
        return insn->field_count ? fail_count(l, l->at, insn, 0) : WG_ASM_OK;
    for (;;) {
        wg_asm_skip_space(l);
        size_t at = l->at;
        if (wg_asm_at_end(l))
            return wg_asm_fail(l, WG_ASM_SYNTAX, at, "an operand is missing here");
        const wg_isa_field *field = NULL;
        wg_asm_code code;
        if (l->at < l->length && wg_asm_is_letter(l->text[l->at]) &&
            (code = read_field_name(l, insn, &field)) != WG_ASM_OK)
            return code;
        if (field) {
            unsigned index = (unsigned)(field - insn->fields);
            if (named >> index & 1 || index < positional)
                return wg_asm_fail(l, WG_ASM_SYNTAX, at, "%s is given twice", field->name);
            named |= 1u << index;
            given += index < insn->field_count;
            wg_asm_skip_space(l);
        } else if (named) {
            return wg_asm_fail(l, WG_ASM_SYNTAX, at, "after an operand with a name, all have to have one");
        } else if (given == insn->field_count) {
            return fail_count(l, at, insn, given + 1);
        } else {
            field = &insn->fields[given++];
            positional++;
        }
        at = l->at;
        int64_t value = 0;
        if (!read_plain_number(l, &value) && (code = wg_asm_evaluate(l, field, &value)) != WG_ASM_OK)
            return code;
        if ((code = put_value(l, at, field, value, word)) != WG_ASM_OK)
            return code;
        if (wg_asm_peek(l) != ',')
            break;
        l->at++;
    }
    return given == insn->field_count ? WG_ASM_OK : fail_count(l, l->at, insn, given);
}

/* ---- lines -------------------------------------------------------------------------------------------- */

static bool is_directive(const char *name, size_t length, const char *directive)
{
    if (length != strlen(directive))
        return false;
    for (size_t i = 0; i < length; i++)
        if (wg_asm_upper(name[i]) != directive[i])
            return false;
    return true;
}

static wg_asm_code read_raw_word(wg_asm_line *l, uint32_t limit, uint32_t *word)
{
    int64_t value = 0;
    wg_asm_skip_space(l);
    size_t at = l->at;
    wg_asm_code code = wg_asm_evaluate(l, NULL, &value);
    if (code != WG_ASM_OK)
        return code;
    if (!wg_asm_at_end(l))
        return wg_asm_fail(l, WG_ASM_OPERAND_COUNT, l->at, "one word per line");
    if (value < 0 || value > limit)
        return wg_asm_fail(l, WG_ASM_RANGE, at, "the word is %lld, but it has to be 0 to 0x%X", (long long)value,
                           (unsigned)limit);
    *word = (uint32_t)value;
    return WG_ASM_OK;
}

static wg_asm_code assemble(wg_asm_line *l, uint32_t *word)
{
    wg_asm_skip_space(l);
    if (wg_asm_at_end(l))
        return WG_ASM_BLANK;
    size_t start = l->at;
    while (l->at < l->length &&
           (wg_asm_is_letter(l->text[l->at]) || wg_asm_is_digit(l->text[l->at]) || l->text[l->at] == '.'))
        l->at++;
    const char *name = l->text + start;
    size_t length = l->at - start;
    if (length == 0)
        return wg_asm_fail(l, WG_ASM_SYNTAX, start, "an instruction is expected here");
    if (name[0] == '.') {
        if (is_directive(name, length, ".WORD"))
            return read_raw_word(l, UINT32_MAX, word);
        if (is_directive(name, length, ".TTINSN"))
            return read_raw_word(l, 0xBFFFFFFF, word);
        return wg_asm_fail(l, WG_ASM_UNKNOWN_MNEMONIC, start, "there is no directive %.*s; .word and .ttinsn are known",
                           (int)(length < 60 ? length : 60), name);
    }
    const wg_isa_insn *insn = wg_isa_by_name(l->arch, name, length);
    if (insn == NULL)
        return wg_asm_fail_mnemonic(l, start, name, length);
    uint32_t result = (uint32_t)insn->opcode << 24;
    wg_asm_code code = read_operands(l, insn, &result);
    if (code == WG_ASM_OK)
        *word = result;
    return code;
}

wg_asm_code wg_assemble_line_env(wg_arch_id arch, const char *text, size_t length, const wg_asm_env *env,
                                 uint32_t *word, wg_asm_error *error)
{
    wg_asm_line line = {arch, text, length, 0, env, error};
    wg_asm_code code = assemble(&line, word);
    if (error && code <= WG_ASM_BLANK) {
        error->code = code;
        error->column = 0;
        error->message[0] = error->suggestion[0] = '\0';
    }
    return code;
}

wg_asm_code wg_assemble_line(wg_arch_id arch, const char *text, size_t length, uint32_t *word, wg_asm_error *error)
{
    return wg_assemble_line_env(arch, text, length, NULL, word, error);
}
