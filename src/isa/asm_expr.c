/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operand expressions: C's operators and precedences over 64-bit integers, with names. Two small
 * stacks instead of recursion, so that input cannot nest arbitrarily deep.
 */
#include "isa/asm_internal.h"

#include <string.h>
#include "isa/config_fields.h"
#include "isa/symbols.h"

/* ---- names -------------------------------------------------------------------------------------------- */

#define SYMBOL(name, value) {#name, value},
static const wg_isa_symbol symbols_bh[] = {WG_SYMBOLS_BH(SYMBOL){NULL, 0}};
static const wg_isa_symbol symbols_wh[] = {WG_SYMBOLS_WH(SYMBOL){NULL, 0}};
const wg_isa_symbol *const wg_asm_symbols[2] = {[WG_ARCH_BH] = symbols_bh, [WG_ARCH_WH] = symbols_wh};

static bool find_symbol(const wg_isa_symbol *symbols, const char *name, size_t length, int64_t *value)
{
    for (; symbols->name; symbols++)
        if (strncmp(symbols->name, name, length) == 0 && symbols->name[length] == '\0') {
            *value = symbols->value;
            return true;
        }
    return false;
}

static bool ends_with(const char *name, size_t length, const char *suffix, size_t suffix_length)
{
    return length > suffix_length && memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

/* NAME_ADDR32, NAME_SHAMT and NAME_MASK of a configuration field in either space. */
static bool find_config(wg_arch_id arch, const char *name, size_t length, int64_t *value)
{
    enum { ADDR32, SHAMT, MASK } what;
    if (ends_with(name, length, "_ADDR32", 7)) {
        what = ADDR32;
        length -= 7;
    } else if (ends_with(name, length, "_SHAMT", 6)) {
        what = SHAMT;
        length -= 6;
    } else if (ends_with(name, length, "_MASK", 5)) {
        what = MASK;
        length -= 5;
    } else {
        return false;
    }
    const wg_cfg_field *f = NULL;
    unsigned id = wg_cfg_by_name(name, length);
    if (id < WG_CFG_COUNT) {
        f = &wg_cfg_fields[arch][id];
    } else {
        id = wg_tcfg_by_name(name, length);
        if (id < WG_TCFG_COUNT)
            f = &wg_tcfg_fields[arch][id];
    }
    if (f == NULL || !wg_cfg_present(f))
        return false;
    *value = what == ADDR32 ? (int64_t)f->word : what == SHAMT ? (int64_t)f->shift : (int64_t)(f->mask << f->shift);
    return true;
}

bool wg_asm_symbol(wg_arch_id arch, const char *name, size_t length, int64_t *value)
{
    return find_symbol(wg_asm_symbols[arch], name, length, value) || find_config(arch, name, length, value);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static int digit_value(char c)
{
    if (wg_asm_is_digit(c))
        return c - '0';
    c = wg_asm_upper(c);
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static wg_asm_code read_number(wg_asm_line *l, int64_t *value)
{
    size_t start = l->at;
    int base = 10;
    if (l->text[l->at] == '0' && l->at + 1 < l->length) {
        char next = wg_asm_upper(l->text[l->at + 1]);
        base = next == 'X' ? 16 : next == 'B' ? 2 : next == 'O' || wg_asm_is_digit(next) ? 8 : 10;
        if (base != 10)
            l->at += wg_asm_is_digit(next) ? 1 : 2;
    }
    uint64_t sum = 0;
    size_t digits = l->at;
    for (; l->at < l->length; l->at++) {
        int digit = digit_value(l->text[l->at]);
        if (digit >= base)
            break;
        if (sum > ((uint64_t)INT64_MAX - (uint64_t)digit) / (uint64_t)base)
            return wg_asm_fail(l, WG_ASM_RANGE, start, "this number does not fit 64 bits");
        sum = sum * (uint64_t)base + (uint64_t)digit;
    }
    if (l->at == digits || wg_asm_is_letter(wg_asm_peek(l)) || wg_asm_is_digit(wg_asm_peek(l)))
        return wg_asm_fail(l, WG_ASM_SYNTAX, start, "this is not a %s number",
                           base == 16  ? "hexadecimal"
                           : base == 8 ? "octal"
                           : base == 2 ? "binary"
                                       : "decimal");
    *value = (int64_t)sum;
    return WG_ASM_OK;
}

static wg_asm_code read_name(wg_asm_line *l, const wg_isa_field *field, int64_t *value)
{
    size_t start = l->at;
    while (l->at < l->length && (wg_asm_is_letter(l->text[l->at]) || wg_asm_is_digit(l->text[l->at]) ||
                                 l->text[l->at] == '.' || l->text[l->at] == '$'))
        l->at++;
    const char *name = l->text + start;
    size_t length = l->at - start;
    if (field && field->symbols && find_symbol(field->symbols, name, length, value))
        return WG_ASM_OK;
    if (wg_asm_symbol(l->arch, name, length, value))
        return WG_ASM_OK;
    if (l->env && l->env->resolve && l->env->resolve(l->env->user, name, length, value))
        return WG_ASM_OK;
    return wg_asm_fail_symbol(l, start, name, length, field);
}

/* ---- operators ---------------------------------------------------------------------------------------- */

typedef enum wg_operator {
    OP_OPEN,
    OP_OR,
    OP_XOR,
    OP_AND,
    OP_SHL,
    OP_SHR,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_NEG,
    OP_NOT,
    OP_NONE
} wg_operator;
static const uint8_t precedence[] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7};

enum { DEPTH = 64 };
typedef struct wg_evaluation {
    int64_t values[DEPTH];
    uint8_t operators[DEPTH];
    uint32_t columns[DEPTH]; /* position of each operator */
    unsigned value_count, operator_count;
} wg_evaluation;

static wg_operator read_operator(wg_asm_line *l)
{
    char c = wg_asm_peek(l), next = l->at + 1 < l->length ? l->text[l->at + 1] : '\0';
    wg_operator op = OP_NONE;
    switch (c) {
    case '|': op = OP_OR; break;
    case '^': op = OP_XOR; break;
    case '&': op = OP_AND; break;
    case '+': op = OP_ADD; break;
    case '-': op = OP_SUB; break;
    case '*': op = OP_MUL; break;
    case '/': op = OP_DIV; break;
    case '%': op = OP_MOD; break;
    case '<':
    case '>':
        if (next != c)
            return OP_NONE;
        op = c == '<' ? OP_SHL : OP_SHR;
        l->at++;
        break;
    default: return OP_NONE;
    }
    l->at++;
    return op;
}

/* Applies the topmost operator. */
static wg_asm_code reduce(wg_asm_line *l, wg_evaluation *e)
{
    wg_operator op = e->operators[--e->operator_count];
    size_t at = e->columns[e->operator_count];
    int64_t *top = &e->values[e->value_count - 1];
    if (op == OP_NOT) {
        *top = ~*top;
        return WG_ASM_OK;
    }
    if (op == OP_NEG) {
        if (*top == INT64_MIN)
            return wg_asm_fail(l, WG_ASM_RANGE, at, "the result does not fit 64 bits");
        *top = -*top;
        return WG_ASM_OK;
    }
    int64_t right = *top--, *left = top;
    bool overflow = false;
    e->value_count--;
    switch (op) {
    case OP_OR: *left |= right; break;
    case OP_XOR: *left ^= right; break;
    case OP_AND: *left &= right; break;
    case OP_ADD: overflow = __builtin_add_overflow(*left, right, left); break;
    case OP_SUB: overflow = __builtin_sub_overflow(*left, right, left); break;
    case OP_MUL: overflow = __builtin_mul_overflow(*left, right, left); break;
    case OP_SHL:
    case OP_SHR:
        if (right < 0 || right > 63)
            return wg_asm_fail(l, WG_ASM_RANGE, at, "a shift by %lld is not possible", (long long)right);
        if (op == OP_SHR) {
            *left >>= right;
        } else {
            int64_t shifted = (int64_t)((uint64_t)*left << right);
            overflow = shifted >> right != *left;
            *left = shifted;
        }
        break;
    default:
        if (right == 0)
            return wg_asm_fail(l, WG_ASM_RANGE, at, "division by zero");
        if (right == -1) { /* INT64_MIN / -1 would trap */
            overflow = op == OP_DIV && *left == INT64_MIN;
            *left = op == OP_DIV && !overflow ? -*left : 0;
        } else {
            *left = op == OP_DIV ? *left / right : *left % right;
        }
        break;
    }
    return overflow ? wg_asm_fail(l, WG_ASM_RANGE, at, "the result does not fit 64 bits") : WG_ASM_OK;
}

static wg_asm_code push_operator(wg_asm_line *l, wg_evaluation *e, wg_operator op, size_t at)
{
    if (e->operator_count == DEPTH)
        return wg_asm_fail(l, WG_ASM_TOO_DEEP, at, "the expression is nested too deeply");
    e->operators[e->operator_count] = (uint8_t)op;
    e->columns[e->operator_count++] = (uint32_t)at;
    return WG_ASM_OK;
}

static wg_asm_code push_value(wg_asm_line *l, wg_evaluation *e, int64_t value)
{
    if (e->value_count == DEPTH)
        return wg_asm_fail(l, WG_ASM_TOO_DEEP, l->at, "the expression is nested too deeply");
    e->values[e->value_count++] = value;
    return WG_ASM_OK;
}

/* Prefix operators and one number, name or opening parenthesis; sets *complete if a value was read. */
static wg_asm_code read_operand(wg_asm_line *l, const wg_isa_field *field, wg_evaluation *e, bool *complete)
{
    size_t at = l->at;
    char c = wg_asm_peek(l);
    *complete = false;
    if (wg_asm_at_end(l) || c == ',')
        return wg_asm_fail(l, WG_ASM_SYNTAX, at, "an operand is missing here");
    switch (c) {
    case '(': l->at++; return push_operator(l, e, OP_OPEN, at);
    case '-': l->at++; return push_operator(l, e, OP_NEG, at);
    case '~': l->at++; return push_operator(l, e, OP_NOT, at);
    case '+': l->at++; return WG_ASM_OK;
    default: break;
    }
    int64_t value = 0;
    wg_asm_code code;
    if (wg_asm_is_digit(c))
        code = read_number(l, &value);
    else if (wg_asm_is_letter(c) || c == '.' || c == '$')
        code = read_name(l, field, &value);
    else if (c >= ' ' && c <= '~')
        return wg_asm_fail(l, WG_ASM_SYNTAX, at, "'%c' cannot start an operand", c);
    else
        return wg_asm_fail(l, WG_ASM_SYNTAX, at, "character 0x%02X cannot start an operand", (unsigned)(uint8_t)c);
    *complete = true;
    return code != WG_ASM_OK ? code : push_value(l, e, value);
}

wg_asm_code wg_asm_evaluate(wg_asm_line *l, const wg_isa_field *field, int64_t *value)
{
    wg_evaluation e;
    e.value_count = e.operator_count = 0;
    bool want_operand = true;
    wg_asm_code code;
    for (;;) {
        wg_asm_skip_space(l);
        size_t at = l->at;
        if (want_operand) {
            bool complete;
            if ((code = read_operand(l, field, &e, &complete)) != WG_ASM_OK)
                return code;
            want_operand = !complete;
            continue;
        }
        bool ends = wg_asm_at_end(l) || wg_asm_peek(l) == ',';
        if (ends || wg_asm_peek(l) == ')') {
            while (e.operator_count && e.operators[e.operator_count - 1] != OP_OPEN)
                if ((code = reduce(l, &e)) != WG_ASM_OK)
                    return code;
            if (!ends) {
                if (e.operator_count == 0)
                    return wg_asm_fail(l, WG_ASM_SYNTAX, at, "this ')' has no '('");
                e.operator_count--;
                l->at++;
                continue;
            }
            if (e.operator_count)
                return wg_asm_fail(l, WG_ASM_SYNTAX, e.columns[e.operator_count - 1], "this '(' has no ')'");
            *value = e.values[0];
            return WG_ASM_OK;
        }
        wg_operator op = read_operator(l);
        if (op == OP_NONE)
            return wg_asm_fail(l, WG_ASM_SYNTAX, at, "an operator or a comma is missing here");
        while (e.operator_count && precedence[e.operators[e.operator_count - 1]] >= precedence[op])
            if ((code = reduce(l, &e)) != WG_ASM_OK)
                return code;
        if ((code = push_operator(l, &e, op, at)) != WG_ASM_OK)
            return code;
        want_operand = true;
    }
}

wg_asm_code wg_asm_expression(wg_arch_id arch, const char *text, size_t length, const wg_asm_env *env, int64_t *value,
                              size_t *used, wg_asm_error *error)
{
    wg_asm_line line = {arch, text, length, 0, env, error};
    wg_asm_code code = wg_asm_evaluate(&line, NULL, value);
    if (used)
        *used = line.at;
    if (code == WG_ASM_OK && error) {
        error->code = WG_ASM_OK;
        error->column = 0;
        error->message[0] = error->suggestion[0] = '\0';
    }
    return code;
}
