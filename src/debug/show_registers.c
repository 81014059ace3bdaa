/* SPDX-License-Identifier: Apache-2.0 */
/* Registers as text: of cores, of the Tensix units, configuration with its writers. */
#include "debug/commands.h"

#include <stdlib.h>
#include <string.h>

#include "debug/registers.h"
#include "isa/asm.h"
#include "isa/config_fields.h"
#include "num/formats.h"
#include "text/finding_words.h"

/* ---- Cores ---- */

void wg_show_registers(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)rest;
    wg_device *dev = wg_debug_device(d, who);
    unsigned column = 0;
    if (who.agent > WG_AGENT_CORE_T2) {
        wg_textf(out, "a Tensix thread has GPRs: `gprs %u`\n", who.agent - (unsigned)WG_AGENT_THREAD0);
        return;
    }
    for (unsigned i = 0; i < WG_REGISTERS; i++) {
        const wg_register_info *r = wg_register_at(i);
        uint8_t bytes[16];
        if (!wg_register_read(dev, who.agent, i, bytes))
            continue;
        wg_textf(out, "%-16s 0x", r->name);
        for (unsigned k = r->bytes; k-- > 0;)
            wg_textf(out, "%02x", bytes[k]);
        bool ends = ++column % 4 == 0 || r->bytes > 4 || i == WG_REGISTER_PC;
        wg_textf(out, ends ? "\n" : "  ");
        column = ends ? 0 : column;
    }
    if (column)
        wg_textf(out, "\n");
}

/* ---- Numbers ---- */

static double of_fp32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* An FP16 in CPU order as FP32. */
static uint32_t fp32_of_fp16(uint32_t x)
{
    uint32_t sign = (x & 0x8000) << 16, exponent = x >> 10 & 31, mantissa = x & 0x3FF;
    if (exponent == 31)
        return sign | UINT32_C(0x7F800000) | mantissa << 13;
    if (!exponent && !mantissa)
        return sign;
    for (exponent += exponent ? 112 : 113; !(mantissa & 0x400) && !(x & 0x7C00); exponent--)
        mantissa <<= 1;
    return sign | exponent << 23 | (mantissa & 0x3FF) << 13;
}

typedef enum form { HEX, BF16, FP16, INT16, TF32, INT8, HEX32, FP32, INT32, FORMS } form;

static form form_of(const char *word, size_t length)
{
    static const char *const names[FORMS] = {"hex", "bf16", "fp16", "int16", "tf32", "int8", "hex32", "fp32", "int32"};
    unsigned i = 0;
    while (length && i < FORMS && !wg_is_word(word, length, names[i]))
        i++;
    return (form)i;
}

static void dst_text(uint32_t bits, form f, wg_text *out)
{
    uint16_t half = (uint16_t)bits, magnitude = wg_dst16_to_bf16(half) & 0x7FFF;
    switch (f) {
    case HEX32: wg_textf(out, " %08x", bits); break;
    case BF16: wg_textf(out, " %g", of_fp32((uint32_t)wg_dst16_to_bf16(half) << 16)); break;
    case FP16: wg_textf(out, " %g", of_fp32(fp32_of_fp16(wg_dst16_to_fp16(half)))); break;
    case INT16: wg_textf(out, " %d", half & 0x8000 ? -magnitude : magnitude); break;
    case FP32: wg_textf(out, " %g", of_fp32(wg_dst32_to_fp32(bits))); break;
    case INT32: wg_textf(out, " %d", wg_dst32_to_int(bits)); break;
    default: wg_textf(out, " %04x", bits); break;
    }
}

static void src_text(uint32_t bits, form f, wg_text *out)
{
    uint32_t fp16 = (bits >> 3 & 0x8000) | (bits & 31) << 10 | (bits >> 8 & 0x3FF);
    switch (f) {
    case TF32:
    case BF16: wg_textf(out, " %g", of_fp32(wg_src_to_fp32(bits))); break;
    case FP16: wg_textf(out, " %g", of_fp32(fp32_of_fp16(fp16))); break;
    case INT8: wg_textf(out, " %d", wg_src_to_int(bits)); break;
    default: wg_textf(out, " %05x", bits); break;
    }
}

void wg_show_dst(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t row;
    size_t length;
    bool ok = wg_number(&rest, &row) && row < WG_DST_ROWS;
    const char *word = wg_word(&rest, &length);
    form f = form_of(word, length);
    bool wide = f == HEX32 || f == FP32 || f == INT32;
    if (!ok || *rest || f == FORMS || f == TF32 || f == INT8 || (wide && row >= WG_DST_ROWS / 2)) {
        wg_textf(out, "dst ROW [hex|bf16|fp16|int16|hex32|fp32|int32]; there are %d rows of 16 bits, %d of 32\n",
                 WG_DST_ROWS, WG_DST_ROWS / 2);
        return;
    }
    wg_textf(out, "Dst row %u:", (unsigned)row);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t bits = 0;
        wg_peek(wg_debug_device(d, who), wide ? WG_SPACE_DST32 : WG_SPACE_DST, (uint32_t)row * 16 + i, &bits);
        dst_text(bits, f, out);
    }
    wg_textf(out, "\n");
}

static void show_src(wg_debug *d, wg_who who, const char *rest, wg_text *out, wg_space space)
{
    uint64_t bank, row;
    size_t length;
    uint32_t owner = 0;
    const char *name = space == WG_SPACE_SRCA ? "SrcA" : "SrcB";
    bool ok = wg_number(&rest, &bank) && wg_number(&rest, &row) && bank < 2 && row < WG_SRC_ROWS;
    const char *word = wg_word(&rest, &length);
    form f = form_of(word, length);
    if (!ok || *rest || (f != HEX && f != TF32 && f != BF16 && f != FP16 && f != INT8)) {
        wg_textf(out, "%s BANK ROW [hex|tf32|bf16|fp16|int8]; there are 2 banks of %d rows\n", name, WG_SRC_ROWS);
        return;
    }
    wg_peek(wg_debug_device(d, who), WG_SPACE_SRC_OWNER, (space == WG_SPACE_SRCB ? 2 : 0) + (uint32_t)bank, &owner);
    wg_textf(out, "%s bank %u (of the %s) row %u:", name, (unsigned)bank, owner ? "Matrix Unit" : "unpackers",
             (unsigned)row);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t bits = 0;
        wg_peek(wg_debug_device(d, who), space, (uint32_t)(bank * WG_SRC_ROWS + row) * 16 + i, &bits);
        src_text(bits, f, out);
    }
    wg_textf(out, "\n");
}

void wg_show_srca(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    show_src(d, who, rest, out, WG_SPACE_SRCA);
}
void wg_show_srcb(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    show_src(d, who, rest, out, WG_SPACE_SRCB);
}

void wg_show_lreg(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t n;
    size_t length;
    bool ok = wg_number(&rest, &n) && n < WG_LREGS;
    const char *word = wg_word(&rest, &length);
    form f = form_of(word, length);
    if (!ok || *rest || (f != HEX && f != FP32 && f != INT32)) {
        wg_textf(out, "lreg N [hex|fp32|int32]; there are %d LRegs\n", WG_LREGS);
        return;
    }
    for (uint32_t i = 0; i < WG_LANES; i++) {
        uint32_t bits = 0;
        wg_peek(wg_debug_device(d, who), WG_SPACE_LREG, (uint32_t)n * WG_LANES + i, &bits);
        if (i % 8 == 0)
            wg_textf(out, "LReg %u lanes %2u to %2u:", (unsigned)n, i, i + 7);
        if (f == FP32)
            wg_textf(out, " %g", of_fp32(bits));
        else if (f == INT32) /* sign and magnitude (LReg.md) */
            wg_textf(out, " %s%u", bits >> 31 ? "-" : "", bits & 0x7FFFFFFF);
        else
            wg_textf(out, " %08x", bits);
        if (i % 8 == 7)
            wg_textf(out, "\n");
    }
}

void wg_show_gprs(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t thread = who.agent >= WG_AGENT_THREAD0 ? who.agent - (unsigned)WG_AGENT_THREAD0 : WG_THREADS;
    if ((*rest && !wg_number(&rest, &thread)) || *rest || thread >= WG_THREADS) {
        wg_textf(out, "gprs THREAD; THREAD is 0, 1 or 2\n");
        return;
    }
    for (uint32_t i = 0; i < WG_GPRS; i++) {
        uint32_t value = 0;
        wg_peek(wg_debug_device(d, who), WG_SPACE_GPR, (uint32_t)thread * WG_GPRS + i, &value);
        if (i % 8 == 0)
            wg_textf(out, "GPR %2u:", i);
        wg_textf(out, " %08x%s", value, i % 8 == 7 ? "\n" : "");
    }
}

/* ---- Configuration ---- */

enum { WORDS = 256 };
typedef struct setter {
    bool known;
    uint8_t agent, thread;
    uint32_t pc, word;
    uint64_t cycle;
} setter;
typedef struct setters {
    unsigned space;
    setter last[WG_THREADS * WORDS]; /* last writer of any bit of the word */
} setters;

static void wrote(void *user, const wg_event *e)
{
    setters *s = user;
    if (e->a == s->space && e->how & WG_TOUCH_WRITE && e->b < WG_THREADS * WORDS)
        s->last[e->b] = (setter){true, e->agent, e->id ? e->thread : (uint8_t)WG_THREADS, e->pc, e->word, e->cycle};
}

static void setter_text(wg_debug *d, wg_who who, const setter *s, wg_text *out)
{
    char place[256] = "", text[WG_DIS_MAX];
    if (!s->known) {
        wg_textf(out, "; not set since the history begins\n");
        return;
    }
    bool pushed = s->thread < WG_THREADS;
    unsigned core = pushed ? WG_CORE_T0 + s->thread : s->agent;
    wg_textf(out, "; set at cycle %llu by ", (unsigned long long)s->cycle);
    if (pushed) {
        wg_debug_insn_text(d, (wg_who){.agent = WG_AGENT_THREAD0}, s->pc, s->word, text, sizeof text);
        wg_textf(out, "thread %u's %s", s->thread, text);
    } else {
        wg_textf(out, "%s%s", s->agent <= WG_AGENT_CORE_T2 ? "core " : "", wg_agent_name(s->agent));
    }
    if (s->pc && core < WG_CORES && *wg_debug_place(d, who, core, s->pc, place, sizeof place))
        wg_textf(out, " at %s", place);
    else if (s->pc)
        wg_textf(out, " at 0x%08x", s->pc);
    wg_textf(out, "\n");
}

/* Is it the code of a data format? */
static bool is_format(const char *name, uint32_t mask)
{
    return mask == 15 && (strstr(name, "data_format") || strncmp(name, "ALU_FORMAT_SPEC_", 16) == 0);
}

/* A word of each bank, or of each thread: its fields, and its writer. */
static void config_word(wg_debug *d, wg_who who, const setters *all, uint32_t word, const char *only, wg_text *out)
{
    const bool threads = all->space == WG_TOUCH_THREAD_CONFIG;
    const wg_cfg_field *fields = threads ? wg_tcfg_fields[d->arch->id] : wg_cfg_fields[d->arch->id];
    const char *const *names = threads ? wg_tcfg_names : wg_cfg_names;
    const unsigned count = threads ? WG_TCFG_COUNT : WG_CFG_COUNT, sets = threads ? WG_THREADS : 2;
    for (unsigned set = 0; set < sets; set++) {
        uint32_t value = 0;
        if (wg_peek(wg_debug_device(d, who), threads ? WG_SPACE_THREAD_CONFIG : WG_SPACE_CONFIG, set << 16 | word,
                    &value) != WG_OK)
            return;
        wg_textf(out, "%s word %u of %s %u: 0x%0*x", threads ? "ThreadConfig" : "Config", word,
                 threads ? "thread" : "bank", set, threads ? 4 : 8, value);
        setter_text(d, who, &all->last[set * WORDS + word % WORDS], out);
        for (unsigned i = 0; i < count; i++) {
            uint32_t field = value >> fields[i].shift & fields[i].mask;
            if (!wg_cfg_present(&fields[i]) || fields[i].word != word || (only && strcmp(only, names[i]) != 0))
                continue;
            wg_textf(out, "    %s = %u (0x%x)", names[i], field, field);
            if (is_format(names[i], fields[i].mask))
                wg_textf(out, ", %s", wg_format_name(field));
            wg_textf(out, "\n");
        }
    }
}

void wg_show_config(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    size_t length = strlen(rest);
    wg_cfg_id id = wg_cfg_by_name(rest, length);
    wg_tcfg_id tid = wg_tcfg_by_name(rest, length);
    uint64_t number = 0;
    bool thread = tid != WG_TCFG_COUNT && wg_cfg_present(&wg_tcfg_fields[d->arch->id][tid]),
         named = id != WG_CFG_COUNT && wg_cfg_present(&wg_cfg_fields[d->arch->id][id]);
    if (!length ||
        (!named && !thread && (!wg_parse_number(rest, length, &number) || number >= d->arch->config_words))) {
        wg_textf(out, "config NAME|WORD: a field's name, as THCON_SEC0_REG2_Out_data_format, or a word below %u\n",
                 d->arch->config_words);
        return;
    }
    uint32_t word = named    ? wg_cfg_fields[d->arch->id][id].word
                    : thread ? wg_tcfg_fields[d->arch->id][tid].word
                             : (uint32_t)number;
    setters *all = wg_calloc(1, sizeof *all);
    if (!all)
        return;
    all->space = thread && !named ? WG_TOUCH_THREAD_CONFIG : WG_TOUCH_CONFIG;
    if (!wg_debug_replay(d, wg_debug_index(d, who), 0, WG_EV_BIT(WG_EV_TOUCH), wrote, all))
        wg_textf(out, "%s\n", d->error);
    else
        config_word(d, who, all, word, named || thread ? rest : NULL, out);
    free(all);
}
