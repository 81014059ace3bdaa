/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/race_words.h"

#include <stdarg.h>
#include <stdio.h>

#include "isa/asm.h"
#include "isa/config_fields.h"

const char *wg_race_semaphore_name(unsigned semaphore)
{
    static const char *const names[8] = {"FPU_SFPU",  "MATH_PACK",   "UNPACK_TO_DEST",   "UNPACK_OPERAND_SYNC",
                                         "PACK_DONE", "UNPACK_SYNC", "UNPACK_MATH_DONE", "MATH_DONE"};
    return names[semaphore & 7];
}

/* ---- Places --------------------------------------------------------------------------------------------------- */

void wg_say(wg_words *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    if (n > 0) {
        size_t used = (size_t)n < t->left ? (size_t)n : t->left - 1;
        t->at += used;
        t->left -= used;
    }
}

static void say_fields(wg_words *t, const wg_cfg_field *fields, const char *const *names, unsigned count, unsigned word,
                       uint32_t mask)
{
    unsigned named = 0, more = 0;
    for (unsigned i = 0; i < count; i++) {
        const wg_cfg_field *f = &fields[i];
        unsigned words = (f->shift + f->width + 31u) / 32;
        if (!f->width || word < f->word || word >= f->word + words)
            continue;
        uint32_t bits = words > 1 ? UINT32_MAX : f->mask << f->shift;
        if (!(bits & mask))
            continue;
        if (named++ < 2)
            wg_say(t, "%s%s", named > 1 ? ", " : "", names[i]);
        else
            more++;
    }
    if (!named)
        wg_say(t, "word %u", word);
    if (more)
        wg_say(t, " and %u more", more);
}

void wg_say_location(const wg_races *r, wg_words *t, unsigned space, uint32_t first, uint32_t last, uint32_t mask)
{
    static const char *const dimensions = "XYZW";
    unsigned low = mask ? (unsigned)__builtin_ctz(mask) : 0, high = mask ? 31u - (unsigned)__builtin_clz(mask) : 0;
    switch ((wg_touch_space)space) {
    case WG_TOUCH_L1:
        wg_say(t, "L1 0x%06x-0x%06x", first * 16 + (first == last ? low : 0), last * 16 + (first == last ? high : 15));
        break;
    case WG_TOUCH_CONFIG:
        say_fields(t, wg_cfg_fields[r->arch_id], wg_cfg_names, WG_CFG_COUNT, first & 255, mask);
        if ((first & 255) < r->arch->config_global_from)
            wg_say(t, " of bank %u", first >> 8);
        wg_say(t, " (word %u, bits 0x%x)", first & 255, mask);
        break;
    case WG_TOUCH_THREAD_CONFIG:
        say_fields(t, wg_tcfg_fields[r->arch_id], wg_tcfg_names, WG_TCFG_COUNT, first & 255, mask);
        wg_say(t, " of thread %u", first >> 8);
        break;
    case WG_TOUCH_GPR: wg_say(t, "GPR %u of thread %u", first & 63, first >> 6); break;
    case WG_TOUCH_DST:
        wg_say(t, first == last ? "Dst row %u" : "Dst rows %u-%u", first, last);
        wg_say(t, ", bank %u", first >> 9);
        break;
    case WG_TOUCH_SRC:
        wg_say(t, "Src%c rows %u-%u, bank %u", 'A' + (first >> 7), first & 63, last & 63, first >> 6 & 1);
        break;
    case WG_TOUCH_LREG:
        if (first < 17)
            wg_say(t, "LReg %u", first);
        else
            wg_say(t, "the Vector Unit's flags and lane configuration");
        break;
    case WG_TOUCH_ADC: {
        unsigned unit = first / 8 % 3;
        wg_say(t, "address counter %c of channel %u of %s, thread %u", dimensions[first & 3], first >> 2 & 1,
               unit == 2 ? "the packers"
               : unit    ? "Unpacker 1"
                         : "Unpacker 0",
               first / 24);
        break;
    }
    case WG_TOUCH_SEM_VALUE:
    case WG_TOUCH_SEM_MAX:
        wg_say(t, "%s of semaphore %u (%s)", space == WG_TOUCH_SEM_VALUE ? "value" : "maximum", first,
               wg_race_semaphore_name(first));
        break;
    case WG_TOUCH_MOP_CFG:
        wg_say(t, first == last ? "MOP configuration word %u" : "MOP configuration words %u-%u", first % 9, last % 9);
        wg_say(t, " of thread %u", first / 9);
        break;
    case WG_TOUCH_RWC: wg_say(t, "the register window counters of thread %u", first); break;
    case WG_TOUCH_REPLAY:
        wg_say(t, first == last ? "replay slot %u" : "replay slots %u-%u", first % 32, last % 32);
        wg_say(t, " of thread %u", first / 32);
        break;
    case WG_TOUCH_UNPACKER: wg_say(t, "the context counter of Unpacker %u, thread %u", first / 3, first % 3); break;
    case WG_TOUCH_PACKER: wg_say(t, "the output streams of packer %u", first); break;
    case WG_TOUCH_BANK_OWNER: wg_say(t, "Src%c bank %u", 'A' + (first >> 1), first & 1); break;
    case WG_TOUCH_BANK_POINTER:
        wg_say(t, "the %s bank pointer of Src%c", first < 2 ? "Matrix Unit's" : "unpackers'", 'A' + (first & 1));
        break;
    case WG_TOUCH_SPACES: break;
    }
}

/* ---- Instructions in words -------------------------------------------------------------------------------------- */

void wg_say_insn(const wg_races *r, wg_words *t, uint32_t word)
{
    char line[WG_DIS_MAX];
    unsigned op = wg_opcode(word), mask = WG_GET(SEMPOST, sem_sel, word);
    if (op >= WG_OPCODE_SEMINIT && op <= WG_OPCODE_SEMGET && mask && !(mask & (mask - 1))) {
        static const char *const names[3] = {"SEMINIT", "SEMPOST", "SEMGET"};
        wg_say(t, "%s %s", names[op - WG_OPCODE_SEMINIT], wg_race_semaphore_name((unsigned)__builtin_ctz(mask)));
        return;
    }
    wg_disassemble(r->arch_id, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, line, sizeof line);
    wg_say(t, "%s", line);
}

void wg_say_party(const wg_races *r, wg_words *t, const wg_race_party *p)
{
    if (p->thread < WG_THREADS) {
        wg_say_insn(r, t, p->word);
        wg_say(t, " (thread %u)", p->thread);
    } else {
        wg_say(t, "the %s of core %s", p->write ? "store" : "load", wg_agent_name(p->agent));
    }
}

/* Does STALLWAIT have this condition? */
static bool waits_for(const wg_arch *arch, wg_wait_condition condition)
{
    for (unsigned i = 0; i < arch->wait_condition_bits; i++)
        if (arch->wait_conditions[i] == condition)
            return true;
    return false;
}

const char *wg_race_condition(const wg_races *r, unsigned unit)
{
    switch (unit) {
    case WG_RU_UNPACK0:
    case WG_RU_READ_UNPACK0: return "UNPACK0";
    case WG_RU_UNPACK1:
    case WG_RU_READ_UNPACK1: return "UNPACK1";
    case WG_RU_MATRIX:
    case WG_RU_READ_MATRIX: return "MATH";
    case WG_RU_VECTOR:
    case WG_RU_READ_VECTOR: return "WAIT_SFPU";
    case WG_RU_PACK0:
    case WG_RU_PACK1:
    case WG_RU_PACK2:
    case WG_RU_PACK3:
    case WG_RU_READ_PACK: return "PACK"; /* one PACR may occupy several packers */
    case WG_RU_MEMORY: return "THCON";
    case WG_RU_MOVER: return "XMOV";
    case WG_RU_CONFIG:
    case WG_RU_CONFIG_LATE:
    case WG_RU_CONFIG_SLOW:
    case WG_RU_CONFIG_RESULT: return waits_for(r->arch, WG_WAIT_CONFIG) ? "CFGEXU" : NULL;
    default: return NULL;
    }
}

/* Bit 0 is the broadest and comes last. */
uint32_t wg_race_block_bit(const wg_races *r, uint32_t word)
{
    const uint32_t bits = wg_isa_decode(r->arch_id, word)->block_bits;
    return bits & ~1u ? (bits & ~1u) & -(bits & ~1u) : bits & 1u;
}

const char *wg_race_block_name(const wg_races *r, uint32_t word)
{
#define NAME(S, bit, symbol, text) [bit] = #symbol,
    static const char *const names[] = {WG_BLOCKS(NAME, )};
#undef NAME
    const uint32_t bit = wg_race_block_bit(r, word);
    return bit ? names[__builtin_ctz(bit)] : "STALL_THREAD";
}
