/* SPDX-License-Identifier: Apache-2.0 */
/* The small RISC-V assembler's expressions, with the precedence of GNU as, and the operands of instructions. */
#include <stdlib.h>
#include <string.h>

#include "cli/rv_internal.h"

enum { DEEPEST = 64 };

int64_t wg_rv_address(const wg_rv *a, const wg_rv_value *v)
{
    return v->section < WG_RV_SECTIONS ? (int64_t)a->base[v->section] + v->value : v->value;
}

/* ---- expressions ---- */

static bool expression(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out, unsigned depth);

/* "1b" and "1f": the nearest local label of this number, backwards or forwards. */
static bool local(wg_rv *a, const char *word, size_t length, wg_rv_value *out)
{
    const unsigned long number = strtoul(word, NULL, 10);
    const bool back = word[length - 1] == 'b';
    const size_t here = a->second ? a->locals_seen : a->locals;
    *out = (wg_rv_value){0, WG_RV_UNKNOWN};
    for (size_t i = 0; i < a->locals; i++)
        if (a->local[i].number == number && (back ? i < here : i >= here)) {
            *out = (wg_rv_value){a->local[i].at, a->local[i].section};
            if (!back)
                break;
        }
    if (a->second && out->section == WG_RV_UNKNOWN)
        wg_rv_fail(a, "there is no label `%.*s'", (int)length, word);
    return true;
}

static bool primary(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out, unsigned depth)
{
    const char *word;
    wg_rv_skip(c);
    if (c->end - c->at >= 3 && *c->at == '\'' && c->at[2] == '\'') {
        *out = (wg_rv_value){c->at[1], WG_RV_ABSOLUTE};
        c->at += 3;
        return true;
    }
    if (depth > DEEPEST) {
        wg_rv_fail(a, "an expression is nested too deep");
        return false;
    }
    for (const char *sign = "-~+!("; *sign; sign++) {
        if (!wg_rv_take(c, *sign))
            continue;
        if (*sign == '(') {
            if (expression(a, c, out, depth + 1) && wg_rv_take(c, ')'))
                return true;
            wg_rv_fail(a, "missing `)'");
            return false;
        }
        if (!primary(a, c, out, depth + 1))
            return false;
        if (out->section < WG_RV_SECTIONS && *sign != '+') {
            wg_rv_fail(a, "an address cannot be negated");
            return false;
        }
        out->value = *sign == '-' ? -out->value : *sign == '~' ? ~out->value : *sign == '!' ? !out->value : out->value;
        return true;
    }
    const size_t length = wg_rv_name(c, &word);
    if (!length) {
        wg_rv_fail(a, "an operand is missing");
        return false;
    }
    if (length == 1 && *word == '.') {
        *out = (wg_rv_value){a->at[a->section], a->section};
        return true;
    }
    if (*word >= '0' && *word <= '9') {
        char number[32], *end = number;
        if (length > 1 && strspn(word, "0123456789") == length - 1 &&
            (word[length - 1] == 'b' || word[length - 1] == 'f'))
            return local(a, word, length, out);
        snprintf(number, sizeof number, "%.*s", (int)length, word);
        const bool binary = length > 2 && word[0] == '0' && (word[1] == 'b' || word[1] == 'B');
        *out = (wg_rv_value){(int64_t)strtoull(binary ? number + 2 : number, &end, binary ? 2 : 0), WG_RV_ABSOLUTE};
        if (length >= sizeof number || *end) {
            wg_rv_fail(a, "`%.*s' is not a number", (int)length, word);
            return false;
        }
        return true;
    }
    const wg_rv_symbol *s = wg_rv_symbol_of(a, word, length, false);
    *out = s ? (wg_rv_value){s->value, s->section} : (wg_rv_value){0, WG_RV_UNKNOWN};
    if (a->second && out->section == WG_RV_UNKNOWN) {
        wg_rv_fail(a, "`%.*s' is not defined", (int)length, word);
        return false;
    }
    return true;
}

/* The precedence of the operator at the cursor, 0: none. */
static unsigned operator_at(wg_rv_cursor *c, char *which)
{
    wg_rv_skip(c);
    if (c->at == c->end)
        return 0;
    *which = *c->at;
    if ((*which == '<' || *which == '>') && c->at + 1 < c->end && c->at[1] == *which)
        return 3;
    if (*which == '*' || *which == '/' || *which == '%')
        return 3;
    if (*which == '|' || *which == '&' || *which == '^')
        return 2;
    return *which == '+' || *which == '-';
}

static bool combine(wg_rv *a, char which, wg_rv_value *left, const wg_rv_value *right)
{
    const bool address_left = left->section < WG_RV_SECTIONS, address_right = right->section < WG_RV_SECTIONS;
    if (left->section == WG_RV_UNKNOWN || right->section == WG_RV_UNKNOWN) {
        left->section = WG_RV_UNKNOWN;
        return true;
    }
    const int64_t x = left->value, y = right->value;
    if (which == '-' && address_left && left->section == right->section) {
        *left = (wg_rv_value){x - y, WG_RV_ABSOLUTE};
        return true;
    }
    if ((address_left && (address_right || (which != '+' && which != '-'))) || (address_right && which != '+')) {
        wg_rv_fail(a, "addresses can be subtracted in one section, and a number can be added to one");
        return false;
    }
    if ((which == '/' || which == '%') && !y) {
        wg_rv_fail(a, "division by zero");
        return false;
    }
    left->section = address_right ? right->section : left->section;
    switch (which) {
    case '+': left->value = (int64_t)((uint64_t)x + (uint64_t)y); break;
    case '-': left->value = (int64_t)((uint64_t)x - (uint64_t)y); break;
    case '*': left->value = (int64_t)((uint64_t)x * (uint64_t)y); break;
    case '/': left->value = y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; break;
    case '%': left->value = y == -1 ? 0 : x % y; break;
    case '<': left->value = (uint64_t)y < 64 ? (int64_t)((uint64_t)x << y) : 0; break;
    case '>': left->value = (uint64_t)y < 64 ? (int64_t)((uint64_t)x >> y) : 0; break;
    case '|': left->value = x | y; break;
    case '&': left->value = x & y; break;
    default: left->value = x ^ y; break;
    }
    return true;
}

static bool from_precedence(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out, unsigned least, unsigned depth)
{
    char which = 0;
    unsigned precedence;
    if (!primary(a, c, out, depth + 1))
        return false;
    while ((precedence = operator_at(c, &which)) >= least && precedence) {
        wg_rv_value right;
        c->at += which == '<' || which == '>' ? 2 : 1;
        if (!from_precedence(a, c, &right, precedence + 1, depth + 1) || !combine(a, which, out, &right))
            return false;
    }
    return true;
}

static bool expression(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out, unsigned depth)
{
    return from_precedence(a, c, out, 1, depth);
}

bool wg_rv_expression(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out) { return expression(a, c, out, 0); }

bool wg_rv_constant(wg_rv *a, wg_rv_cursor *c, int64_t least, int64_t most, int64_t *out)
{
    wg_rv_value v;
    *out = 0;
    if (!wg_rv_expression(a, c, &v))
        return false;
    if (v.section == WG_RV_UNKNOWN)
        return !a->second;
    if (v.section != WG_RV_ABSOLUTE || v.value < least || v.value > most) {
        wg_rv_fail(a, v.section != WG_RV_ABSOLUTE ? "an address is no constant" : "%lld is not from %lld to %lld",
                   (long long)v.value, (long long)least, (long long)most);
        return false;
    }
    *out = v.value;
    return true;
}

/* ---- operands ---- */

static bool comma(wg_rv *a, wg_rv_cursor *c)
{
    if (wg_rv_take(c, ','))
        return true;
    wg_rv_fail(a, "an operand is missing");
    return false;
}

static bool reg(wg_rv *a, wg_rv_cursor *c, unsigned *out)
{
    const char *name;
    const size_t length = wg_rv_name(c, &name);
    const int number = wg_rv_register(name, length);
    if (number < 0) {
        wg_rv_fail(a, "`%.*s' is not a register", length ? (int)length : (int)(c->end - name), name);
        return false;
    }
    *out = (unsigned)number;
    return true;
}

static bool is_register(wg_rv_cursor c)
{
    const char *name;
    const size_t length = wg_rv_name(&c, &name);
    wg_rv_skip(&c);
    return wg_rv_register(name, length) >= 0 && (c.at == c.end || *c.at == ',' || *c.at == ')');
}

/* Twelve bits with a sign, also written as 32 bits; %lo(…) of an address. */
static bool imm12(wg_rv *a, wg_rv_cursor *c, int64_t *out)
{
    wg_rv_value v;
    wg_rv_skip(c);
    if (c->end - c->at > 3 && memcmp(c->at, "%lo", 3) == 0) {
        c->at += 3;
        if (!wg_rv_expression(a, c, &v))
            return false;
        *out = (wg_rv_address(a, &v) & 0xFFF) - ((wg_rv_address(a, &v) & 0x800) << 1);
        return true;
    }
    if (!wg_rv_constant(a, c, INT64_MIN, INT64_MAX, out))
        return false;
    if (*out >= INT64_C(0xFFFFF800) && *out <= INT64_C(0xFFFFFFFF))
        *out -= INT64_C(1) << 32;
    if (*out >= -2048 && *out <= 2047)
        return true;
    wg_rv_fail(a, "%lld does not fit the twelve bits of an immediate", (long long)*out);
    return false;
}

/* imm(reg), (reg). */
static bool place(wg_rv *a, wg_rv_cursor *c, int64_t *imm, unsigned *base)
{
    *imm = 0;
    wg_rv_cursor after = *c;
    if (!wg_rv_take(&after, '(') || !is_register(after))
        if (!imm12(a, c, imm))
            return false;
    if (!wg_rv_take(c, '(') || !reg(a, c, base) || !wg_rv_take(c, ')')) {
        wg_rv_fail(a, "a place in memory is written OFFSET(REGISTER)");
        return false;
    }
    return true;
}

/* How far a branch or jump goes. */
static bool offset(wg_rv *a, wg_rv_cursor *c, unsigned bits, int64_t *out)
{
    wg_rv_value v;
    const int64_t here = (int64_t)a->base[a->section] + a->at[a->section], limit = INT64_C(1) << (bits - 1);
    *out = 0;
    if (!wg_rv_expression(a, c, &v))
        return false;
    if (!a->second || v.section == WG_RV_UNKNOWN)
        return true;
    *out = (int32_t)(wg_rv_address(a, &v) - here);
    if (*out < -limit || *out >= limit || *out & 1) {
        wg_rv_fail(a, "the target is %lld bytes away, which does not fit", (long long)*out);
        return false;
    }
    return true;
}

static bool csr(wg_rv *a, wg_rv_cursor *c, uint32_t *out)
{
    wg_rv_cursor after = *c;
    const char *name;
    int64_t number;
    const size_t length = wg_rv_name(&after, &name);
    int known = wg_rv_csr(name, length);
    if (known >= 0)
        *c = after;
    else if (!wg_rv_constant(a, c, 0, 0xFFF, &number))
        return false;
    else
        known = (int)number;
    *out = (uint32_t)known << 20;
    return true;
}

/* The bits of "iorw", as far as they are named. */
static bool fence_set(wg_rv *a, wg_rv_cursor *c, uint32_t *out)
{
    const char *name, all[] = "wroi";
    const size_t length = wg_rv_name(c, &name);
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        const char *bit = strchr(all, name[i]);
        if (!bit || !*bit) {
            wg_rv_fail(a, "a fence orders i, o, r and w");
            return false;
        }
        *out |= 1u << (bit - all);
    }
    return length > 0;
}

/* ---- instructions of several words ---- */

static void load_constant(wg_rv *a, wg_rv_cursor *c)
{
    unsigned rd;
    int64_t v;
    if (!reg(a, c, &rd) || !comma(a, c) || !wg_rv_constant(a, c, INT32_MIN, UINT32_MAX, &v))
        return;
    const int32_t value = (int32_t)(uint32_t)v;
    const uint32_t low = (uint32_t)value & 0xFFF, high = ((uint32_t)value + 0x800) & 0xFFFFF000;
    if (value >= -2048 && value <= 2047) {
        wg_rv_insn_put(a, 0x13 | wg_rv_rd(rd) | wg_rv_i(value));
        return;
    }
    wg_rv_insn_put(a, 0x37 | wg_rv_rd(rd) | high);
    if (low || !rd) /* as GNU as writes it */
        wg_rv_insn_put(a, 0x13 | wg_rv_rd(rd) | wg_rv_rs1(rd) | low << 20);
}

/* auipc and what adds the rest: `la`, `call`, `tail`. */
static void far(wg_rv *a, wg_rv_cursor *c, const wg_rv_insn *insn)
{
    unsigned rd = insn->match == 0x67 ? 6 : 1; /* tail: t1; call: ra */
    wg_rv_value v;
    if (insn->form == WG_RV_LA && (!reg(a, c, &rd) || !comma(a, c)))
        return;
    if (!wg_rv_expression(a, c, &v))
        return;
    const int64_t away = wg_rv_address(a, &v) - ((int64_t)a->base[a->section] + a->at[a->section]);
    const uint32_t low = (uint32_t)away & 0xFFF, high = ((uint32_t)away + 0x800) & 0xFFFFF000;
    wg_rv_insn_put(a, 0x17 | wg_rv_rd(rd) | high);
    wg_rv_insn_put(a, (insn->form == WG_RV_LA ? insn->match | wg_rv_rd(rd) : insn->match) | wg_rv_rs1(rd) | low << 20);
}

static bool upper(wg_rv *a, wg_rv_cursor *c, uint32_t *bits)
{
    int64_t imm;
    wg_rv_value v;
    wg_rv_skip(c);
    if (c->end - c->at > 3 && memcmp(c->at, "%hi", 3) == 0) {
        c->at += 3;
        if (!wg_rv_expression(a, c, &v))
            return false;
        *bits = (uint32_t)(wg_rv_address(a, &v) + 0x800) & 0xFFFFF000;
        return true;
    }
    if (!wg_rv_constant(a, c, 0, 0xFFFFF, &imm))
        return false;
    *bits = (uint32_t)imm << 12;
    return true;
}

static bool jalr(wg_rv *a, wg_rv_cursor *c, bool is_jr, uint32_t *w)
{
    unsigned r, base = 0, link = is_jr ? 0 : 1;
    int64_t imm = 0;
    if (!is_register(*c)) {
        if (!place(a, c, &imm, &base))
            return false;
    } else {
        if (!reg(a, c, &r))
            return false;
        base = r;
        if (!is_jr && wg_rv_take(c, ',')) {
            link = r;
            if (!is_register(*c)) {
                if (!place(a, c, &imm, &base))
                    return false;
            } else if (!reg(a, c, &base) || (wg_rv_take(c, ',') && !imm12(a, c, &imm))) {
                return false;
            }
        }
    }
    *w |= wg_rv_rd(link) | wg_rv_rs1(base) | wg_rv_i(imm);
    return true;
}

/* ---- instructions of one word ---- */

/* Branches, and jumps to a label. */
static bool encode_jump(wg_rv *a, unsigned form, wg_rv_cursor *c, uint32_t *w)
{
    unsigned x = 0, y = 0;
    int64_t away;
    switch (form) {
    case WG_RV_BRANCH:
    case WG_RV_SWAPPED:
        if (!reg(a, c, &x) || !comma(a, c) || !reg(a, c, &y) || !comma(a, c) || !offset(a, c, 13, &away))
            return false;
        *w |= wg_rv_b(away) | (form == WG_RV_BRANCH ? wg_rv_rs1(x) | wg_rv_rs2(y) : wg_rv_rs1(y) | wg_rv_rs2(x));
        return true;
    case WG_RV_BRANCH_Z:
    case WG_RV_Z_BRANCH:
        if (!reg(a, c, &x) || !comma(a, c) || !offset(a, c, 13, &away))
            return false;
        *w |= wg_rv_b(away) | (form == WG_RV_BRANCH_Z ? wg_rv_rs1(x) : wg_rv_rs2(x));
        return true;
    case WG_RV_JAL:
        x = 1;
        if (is_register(*c) && (!reg(a, c, &x) || !comma(a, c)))
            return false;
        /* fall through */
    case WG_RV_J:
        if (!offset(a, c, 21, &away))
            return false;
        *w |= wg_rv_j(away) | wg_rv_rd(x);
        return true;
    default: return jalr(a, c, form == WG_RV_JR, w);
    }
}

static bool encode_csr(wg_rv *a, unsigned form, wg_rv_cursor *c, uint32_t *w)
{
    unsigned x = 0, y = 0;
    uint32_t which = 0;
    int64_t imm = 0;
    const bool has_rd = form == WG_RV_CSR || form == WG_RV_CSR_I || form == WG_RV_CSR_RD;
    if (has_rd && (!reg(a, c, &x) || !comma(a, c)))
        return false;
    if (!csr(a, c, &which))
        return false;
    if (form != WG_RV_CSR_RD && !comma(a, c))
        return false;
    if ((form == WG_RV_CSR || form == WG_RV_CSR_RS) && !reg(a, c, &y))
        return false;
    if ((form == WG_RV_CSR_I || form == WG_RV_CSR_IMM) && !wg_rv_constant(a, c, 0, 31, &imm))
        return false;
    *w |= wg_rv_rd(x) | which | wg_rv_rs1(form == WG_RV_CSR_I || form == WG_RV_CSR_IMM ? (unsigned)imm : y);
    return true;
}

static bool encode_memory(wg_rv *a, unsigned form, wg_rv_cursor *c, uint32_t *w)
{
    unsigned x, y = 0, base;
    int64_t imm = 0;
    if (!reg(a, c, &x) || !comma(a, c))
        return false;
    if (form == WG_RV_ATOMIC && (!reg(a, c, &y) || !comma(a, c)))
        return false;
    if (!place(a, c, &imm, &base))
        return false;
    if (imm && (form == WG_RV_ATOMIC || form == WG_RV_LR)) {
        wg_rv_fail(a, "an atomic instruction has no offset");
        return false;
    }
    *w |= wg_rv_rs1(base);
    *w |= form == WG_RV_STORE  ? wg_rv_rs2(x) | wg_rv_s(imm)
          : form == WG_RV_LOAD ? wg_rv_rd(x) | wg_rv_i(imm)
                               : wg_rv_rd(x) | wg_rv_rs2(y);
    return true;
}

static bool encode_registers(wg_rv *a, const wg_rv_insn *insn, wg_rv_cursor *c, uint32_t *w)
{
    unsigned x, y = 0, z;
    int64_t imm;
    if (!reg(a, c, &x))
        return false;
    *w |= wg_rv_rd(x);
    if (insn->form == WG_RV_RD)
        return true;
    if (!comma(a, c) || !reg(a, c, &y))
        return false;
    if (insn->form == WG_RV_RD_RS1 || insn->form == WG_RV_RD_RS2) {
        *w |= insn->form == WG_RV_RD_RS1 ? wg_rv_rs1(y) : wg_rv_rs2(y);
        return true;
    }
    *w |= wg_rv_rs1(y);
    if (!comma(a, c))
        return false;
    if (insn->form == WG_RV_SHIFT) {
        if (!wg_rv_constant(a, c, 0, 31, &imm))
            return false;
        *w |= wg_rv_rs2((unsigned)imm);
        return true;
    }
    if (insn->form == WG_RV_I) {
        if (!imm12(a, c, &imm))
            return false;
        *w |= wg_rv_i(imm);
        return true;
    }
    if (!reg(a, c, &z))
        return false;
    *w |= wg_rv_rs2(z);
    return true;
}

/* "add rd, rs, 5" is addi. */
static const wg_rv_insn *with_number(const wg_rv_insn *insn, wg_rv_cursor c)
{
    for (unsigned commas = 0; insn->with_imm && c.at < c.end; c.at++)
        if (*c.at == ',' && ++commas == 2) {
            c.at++;
            wg_rv_skip(&c);
            return is_register(c) || c.at == c.end ? insn : wg_rv_find(insn->with_imm, strlen(insn->with_imm));
        }
    return insn;
}

static bool encode(wg_rv *a, const wg_rv_insn *insn, wg_rv_cursor *c, uint32_t *w)
{
    uint32_t bits, after;
    unsigned rd;
    switch (insn->form) {
    case WG_RV_NONE: return true;
    case WG_RV_FENCE:
        wg_rv_skip(c);
        if (c->at == c->end) {
            *w |= 0x0FF00000;
            return true;
        }
        if (!fence_set(a, c, &bits) || !comma(a, c) || !fence_set(a, c, &after))
            return false;
        *w |= bits << 24 | after << 20;
        return true;
    case WG_RV_UPPER:
        if (!reg(a, c, &rd) || !comma(a, c) || !upper(a, c, &bits))
            return false;
        *w |= wg_rv_rd(rd) | bits;
        return true;
    case WG_RV_BRANCH:
    case WG_RV_SWAPPED:
    case WG_RV_BRANCH_Z:
    case WG_RV_Z_BRANCH:
    case WG_RV_JAL:
    case WG_RV_J:
    case WG_RV_JALR:
    case WG_RV_JR: return encode_jump(a, insn->form, c, w);
    case WG_RV_LOAD:
    case WG_RV_STORE:
    case WG_RV_ATOMIC:
    case WG_RV_LR: return encode_memory(a, insn->form, c, w);
    case WG_RV_CSR:
    case WG_RV_CSR_I:
    case WG_RV_CSR_RD:
    case WG_RV_CSR_RS:
    case WG_RV_CSR_IMM: return encode_csr(a, insn->form, c, w);
    default: return encode_registers(a, insn, c, w);
    }
}

void wg_rv_instruction(wg_rv *a, const char *name, size_t length, wg_rv_cursor *c)
{
    const wg_rv_insn *insn = wg_rv_find(name, length);
    if (!insn) {
        wg_rv_fail(a, "%s `%.*s'%s",
                   wg_rv_is_float(name, length) ? "the small assembler has no floating point:" : "unrecognized opcode",
                   (int)length, name, wg_rv_is_float(name, length) ? "; install the RISC-V binutils" : "");
        return;
    }
    const size_t errors = a->errors;
    insn = with_number(insn, *c);
    if (insn->form == WG_RV_LI) {
        load_constant(a, c);
    } else if (insn->form == WG_RV_LA || insn->form == WG_RV_CALL) {
        far(a, c, insn);
    } else {
        uint32_t word = insn->match;
        if (encode(a, insn, c, &word) || !a->second)
            wg_rv_insn_put(a, word);
    }
    wg_rv_skip(c);
    if (c->at < c->end && errors == a->errors)
        wg_rv_fail(a, "junk at end of line: `%.*s'", (int)(c->end - c->at), c->at);
}
