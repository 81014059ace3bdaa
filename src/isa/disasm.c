/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensix words to text: operands in descending bit position, decimal, separated by comma and space
 * (GATE-24), or by name. Written straight into the caller's buffer; no formatted printing.
 */
#include "isa/asm.h"

#include <string.h>
#include "isa/config_fields.h"

/* Mnemonics in lower case, computed by the compiler: 16 bytes each, copied whole. */
#define LOWER(c) ((char)((c) >= 'A' && (c) <= 'Z' ? (c) + 32 : (c)))
#define PADDED(literal) (literal "\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
#define LETTERS(p) \
    { \
        't', 't', LOWER(p[0]), LOWER(p[1]), LOWER(p[2]), LOWER(p[3]), LOWER(p[4]), LOWER(p[5]), LOWER(p[6]), \
            LOWER(p[7]), LOWER(p[8]), LOWER(p[9]), LOWER(p[10]), LOWER(p[11]), LOWER(p[12]), LOWER(p[13]) \
    }
enum { MNEMONIC_BYTES = 16 };

static const struct {
    char text[MNEMONIC_BYTES];
    uint8_t length;
} mnemonics[WG_I_COUNT] = {
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) [WG_I_##insn] = {LETTERS(PADDED(#insn)), sizeof #insn - 1 + 2},
#define WG_DEF_BH
#include "isa/insns.def"
};
#define WG_FIELD(role, name, lo, width, symbols)
#define WG_INSN(insn, ...) _Static_assert(sizeof #insn - 1 + 2 <= MNEMONIC_BYTES, #insn " is too long");
#define WG_DEF_BH
#include "isa/insns.def"

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_decimal(char *at, uint32_t value)
{
    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    char digits[10];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (n)
        *at++ = digits[--n];
    return at;
}

static char *put_hex(char *at, uint32_t value, unsigned least)
{
    unsigned n = 8;
    while (n > least && value >> 4 * (n - 1) == 0)
        n--;
    *at++ = '0';
    *at++ = 'x';
    while (n--)
        *at++ = "0123456789ABCDEF"[value >> 4 * n & 15];
    return at;
}

/* One name for the whole value, or names for its bits and a number for the rest. */
static char *put_mask(char *at, const wg_isa_symbol *symbols, uint32_t value)
{
    for (const wg_isa_symbol *s = symbols; s->name; s++)
        if (s->value == value)
            return put_text(at, s->name);
    const char *start = at;
    uint32_t rest = value;
    for (const wg_isa_symbol *s = symbols; s->name; s++) {
        bool one_bit = (s->value & (s->value - 1)) == 0;
        if (!one_bit || (rest & s->value) == 0)
            continue;
        if (at != start)
            *at++ = '|';
        at = put_text(at, s->name);
        rest &= ~s->value;
    }
    if (rest != 0 || at == start) {
        if (at != start)
            *at++ = '|';
        at = put_decimal(at, rest);
    }
    return at;
}

/* Names a configuration word by its first field with one of these bits, or else by its first field. */
static char *put_word_index(char *at, const wg_cfg_field *fields, const char *const *names, unsigned count,
                            uint32_t word, uint32_t bits)
{
    const char *name = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (!wg_cfg_present(&fields[i]) || fields[i].word != word)
            continue;
        bool meant = fields[i].mask << fields[i].shift & bits;
        if (meant || !name)
            name = names[i];
        if (meant)
            break;
    }
    return name ? put_text(put_text(at, name), "_ADDR32") : put_decimal(at, word);
}

/* The bits of its configuration word that an instruction writes. */
static uint32_t written_bits(wg_insn_id id, uint32_t word)
{
    if (id < WG_I_RMWCIB0 || id > WG_I_RMWCIB3)
        return UINT32_MAX;
    return (word >> 16 & 0xFF) << 8 * (id - WG_I_RMWCIB0);
}

static char *put_symbolic(char *at, wg_arch_id arch, const wg_isa_field *field, uint32_t value, uint32_t bits)
{
    switch ((wg_field_role)field->role) {
    case WG_FIELD_MASK: return put_mask(at, field->symbols, value);
    case WG_FIELD_CONFIG_WORD: return put_word_index(at, wg_cfg_fields[arch], wg_cfg_names, WG_CFG_COUNT, value, bits);
    case WG_FIELD_THREAD_WORD:
        return put_word_index(at, wg_tcfg_fields[arch], wg_tcfg_names, WG_TCFG_COUNT, value, bits);
    case WG_FIELD_SIGNED:
        if (value >> (field->width - 1)) {
            *at++ = '-';
            value = (1u << field->width) - value;
        }
        return put_decimal(at, value);
    case WG_FIELD_UNSIGNED:
    case WG_FIELD_EXTRA: break;
    }
    return put_decimal(at, value);
}

static char *put_line(char *at, wg_arch_id arch, uint32_t word, unsigned flags)
{
    const wg_isa_insn *insn = wg_isa_decode(arch, word);
    if (insn->id == WG_I_INVALID) {
        at = put_text(at, ".word ");
        return put_hex(at, word, 8);
    }
    memcpy(at, mnemonics[insn->id].text, MNEMONIC_BYTES);
    at += mnemonics[insn->id].length;

    const wg_isa_field *field = insn->fields, *operands_end = field + insn->field_count;
    for (; field != operands_end; field++) {
        *at++ = field == insn->fields ? ' ' : ',';
        if (at[-1] == ',')
            *at++ = ' ';
        uint32_t value = wg_isa_field_get(field, word);
        at = (flags & WG_DIS_SYMBOLIC) ? put_symbolic(at, arch, field, value, written_bits(insn->id, word))
                                       : put_decimal(at, value);
    }
    for (const wg_isa_field *end = field + insn->extra_count; field != end; field++) {
        uint32_t value = wg_isa_field_get(field, word);
        if (value == 0)
            continue;
        at = put_text(at, insn->field_count ? ", " : " ");
        at = put_text(at, field->name);
        *at++ = '=';
        at = put_decimal(at, value);
    }
    uint32_t spare = wg_isa_spare(insn, word);
    if (spare != 0 && !(flags & WG_DIS_NO_COMMENT)) {
        at = put_text(at, " ; spare bits ");
        at = put_hex(at, spare, 1);
    }
    return at;
}

size_t wg_disassemble(wg_arch_id arch, uint32_t word, unsigned flags, char *out, size_t size)
{
    if (size >= WG_DIS_MAX) {
        char *end = put_line(out, arch, word, flags);
        *end = '\0';
        return (size_t)(end - out);
    }
    char line[WG_DIS_MAX];
    size_t length = (size_t)(put_line(line, arch, word, flags) - line);
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(out, line, copied);
        out[copied] = '\0';
    }
    return length;
}

uint32_t wg_disassemble_spare(wg_arch_id arch, uint32_t word)
{
    const wg_isa_insn *insn = wg_isa_decode(arch, word);
    return insn->id == WG_I_INVALID ? 0 : wg_isa_spare(insn, word);
}
