/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races in words: who, where, why nothing orders them, and what to insert. A remedy is an edge of the model: it is
 * added to what the second party knows, and the order test is run again; only then it is called verified.
 */
#include "explain/race_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "isa/asm.h"
#include "isa/config_fields.h"

static const struct {
    const char *name, *summary, *remedy;
    wg_severity severity;
} kinds[WG_RACE_KINDS] = {
#define WG_RACE(id, name, severity, summary, remedy) {name, summary, remedy, WG_SEVERITY_##severity},
#include "explain/races.def"
#undef WG_RACE
};
const char *wg_race_kind_name(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].name : "unknown"; }
const char *wg_race_kind_summary(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].summary : ""; }
const char *wg_race_kind_remedy(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].remedy : ""; }
wg_severity wg_race_severity(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].severity : WG_SEVERITY_NOTE; }

const char *wg_race_semaphore_name(unsigned semaphore)
{
    static const char *const names[8] = {"FPU_SFPU",  "MATH_PACK",   "UNPACK_TO_DEST",   "UNPACK_OPERAND_SYNC",
                                         "PACK_DONE", "UNPACK_SYNC", "UNPACK_MATH_DONE", "MATH_DONE"};
    return names[semaphore & 7];
}

/* ---- Parties -------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

uint32_t wg_race_party_of(wg_races *r, const wg_race_party *p)
{
    uint64_t h = mix(mix(mix(p->word + ((uint64_t)p->tile << 32), p->pc),
                         (uint64_t)p->agent << 24 | (uint64_t)p->thread << 16 | (uint64_t)p->core << 8 | p->write),
                     (uint64_t)p->parent << 1 | p->atomic);
    for (unsigned probe = 0; probe < 2 * WG_PARTIES; probe++) {
        uint32_t *slot = &r->party_index[(h + probe) % (2 * WG_PARTIES)];
        if (!*slot) {
            if (r->parties == WG_PARTIES) {
                r->forgotten++;
                return 0;
            }
            r->party[r->parties] = *p;
            *slot = r->parties++;
            return *slot;
        }
        const wg_race_party *q = &r->party[*slot];
        if (q->word == p->word && q->pc == p->pc && q->agent == p->agent && q->thread == p->thread &&
            q->core == p->core && q->write == p->write && q->parent == p->parent && q->tile == p->tile)
            return *slot;
    }
    return 0;
}

/* ---- Places --------------------------------------------------------------------------------------------------- */

/* Text into a buffer, as much as fits. */
typedef struct text {
    char *at;
    size_t left;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...)
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

static void say_fields(text *t, const wg_cfg_field *fields, const char *const *names, unsigned count, unsigned word,
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
            say(t, "%s%s", named > 1 ? ", " : "", names[i]);
        else
            more++;
    }
    if (!named)
        say(t, "word %u", word);
    if (more)
        say(t, " and %u more", more);
}

static void say_location(const wg_races *r, text *t, unsigned space, uint32_t first, uint32_t last, uint32_t mask)
{
    static const char *const dimensions = "XYZW";
    unsigned low = mask ? (unsigned)__builtin_ctz(mask) : 0, high = mask ? 31u - (unsigned)__builtin_clz(mask) : 0;
    switch (space) {
    case WG_TOUCH_L1:
        say(t, "L1 0x%06x-0x%06x", first * 16 + (first == last ? low : 0), last * 16 + (first == last ? high : 15));
        break;
    case WG_TOUCH_CONFIG:
        say_fields(t, wg_cfg_fields[r->arch_id], wg_cfg_names, WG_CFG_COUNT, first & 255, mask);
        if ((first & 255) < r->arch->config_global_from)
            say(t, " of bank %u", first >> 8);
        say(t, " (word %u, bits 0x%x)", first & 255, mask);
        break;
    case WG_TOUCH_THREAD_CONFIG:
        say_fields(t, wg_tcfg_fields[r->arch_id], wg_tcfg_names, WG_TCFG_COUNT, first & 255, mask);
        say(t, " of thread %u", first >> 8);
        break;
    case WG_TOUCH_GPR: say(t, "GPR %u of thread %u", first & 63, first >> 6); break;
    case WG_TOUCH_DST:
        say(t, first == last ? "Dst row %u" : "Dst rows %u-%u", first, last);
        say(t, ", bank %u", first >> 9);
        break;
    case WG_TOUCH_SRC:
        say(t, "Src%c rows %u-%u, bank %u", 'A' + (first >> 7), first & 63, last & 63, first >> 6 & 1);
        break;
    case WG_TOUCH_LREG:
        if (first < 17)
            say(t, "LReg %u", first);
        else
            say(t, "the Vector Unit's flags and lane configuration");
        break;
    case WG_TOUCH_ADC: {
        unsigned unit = first / 8 % 3;
        say(t, "address counter %c of channel %u of %s, thread %u", dimensions[first & 3], first >> 2 & 1,
            unit == 2 ? "the packers"
            : unit    ? "Unpacker 1"
                      : "Unpacker 0",
            first / 24);
        break;
    }
    case WG_TOUCH_SEM_VALUE:
    case WG_TOUCH_SEM_MAX:
        say(t, "%s of semaphore %u (%s)", space == WG_TOUCH_SEM_VALUE ? "value" : "maximum", first,
            wg_race_semaphore_name(first));
        break;
    case WG_TOUCH_MOP_CFG:
        say(t, first == last ? "MOP configuration word %u" : "MOP configuration words %u-%u", first % 9, last % 9);
        say(t, " of thread %u", first / 9);
        break;
    case WG_TOUCH_RWC: say(t, "the register window counters of thread %u", first); break;
    case WG_TOUCH_REPLAY:
        say(t, first == last ? "replay slot %u" : "replay slots %u-%u", first % 32, last % 32);
        say(t, " of thread %u", first / 32);
        break;
    case WG_TOUCH_UNPACKER: say(t, "the context counter of Unpacker %u, thread %u", first / 3, first % 3); break;
    case WG_TOUCH_PACKER: say(t, "the output streams of packer %u", first); break;
    case WG_TOUCH_BANK_OWNER: say(t, "Src%c bank %u", 'A' + (first >> 1), first & 1); break;
    case WG_TOUCH_BANK_POINTER:
        say(t, "the %s bank pointer of Src%c", first < 2 ? "Matrix Unit's" : "unpackers'", 'A' + (first & 1));
        break;
    default: say(t, "location %u", first); break;
    }
}

/* ---- Instructions in words -------------------------------------------------------------------------------------- */

static void say_insn(const wg_races *r, text *t, uint32_t word)
{
    char line[WG_DIS_MAX];
    unsigned op = word >> 24, mask = word >> 2 & 0xFF;
    if (op >= 0xA3 && op <= 0xA5 && mask && !(mask & (mask - 1))) {
        static const char *const names[3] = {"SEMINIT", "SEMPOST", "SEMGET"};
        say(t, "%s %s", names[op - 0xA3], wg_race_semaphore_name((unsigned)__builtin_ctz(mask)));
        return;
    }
    wg_disassemble(r->arch_id, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, line, sizeof line);
    say(t, "%s", line);
}

static void say_party(const wg_races *r, text *t, const wg_race_party *p)
{
    if (p->thread < WG_THREADS) {
        say_insn(r, t, p->word);
        say(t, " (thread %u)", p->thread);
    } else {
        say(t, "the %s of core %s", p->write ? "store" : "load", wg_agent_name(p->agent));
    }
}

static const char *condition_of(const wg_races *r, unsigned unit)
{
    bool bh = r->arch_id == WG_ARCH_BH;
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
    case WG_RU_READ_PACK: return bh ? "PACK" : "PACK0";
    case WG_RU_PACK1: return "PACK1";
    case WG_RU_PACK2: return "PACK2";
    case WG_RU_PACK3: return "PACK3";
    case WG_RU_MEMORY: return "THCON";
    case WG_RU_MOVER: return "XMOV";
    case WG_RU_CONFIG:
    case WG_RU_CONFIG_LATE:
    case WG_RU_CONFIG_SLOW:
    case WG_RU_CONFIG_RESULT: return bh ? "CFGEXU" : NULL;
    default: return NULL;
    }
}

/* The block bit that catches this instruction and as few others as possible. */
static const char *block_name(const wg_races *r, uint32_t word)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } names[] = {{WG_B1, "STALL_SYNC"}, {WG_B2, "STALL_PACK"},  {WG_B3, "STALL_UNPACK"},
                 {WG_B4, "STALL_XMOV"}, {WG_B5, "STALL_THCON"}, {WG_B6, "STALL_MATH"},
                 {WG_B7, "STALL_CFG"},  {WG_B8, "STALL_SFPU"},  {WG_B0, "STALL_TDMA"}};
    uint16_t bits = wg_isa_decode(r->arch_id, word)->block_bits;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (bits & names[i].bit)
            return names[i].name;
    return "STALL_THREAD";
}

/* ---- Why, and what to do ----------------------------------------------------------------------------------------- */

typedef struct remedy {
    wg_clock adds; /* the edge */
    bool disjoint; /* it takes the conflict away instead */
} remedy;

static uint32_t passed_of(const wg_actor *b, unsigned thread)
{
    uint32_t v = b->clock->v[WG_K_I + thread];
    if (b->clock2 && b->clock2->v[WG_K_I + thread] > v)
        v = b->clock2->v[WG_K_I + thread];
    return b->seq && b->thread == thread && b->seq > v ? b->seq : v;
}

static void same_thread(const wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                        const wg_race_party *pb, text *why, text *how, remedy *fix)
{
    bool next = b->seq == a->value + 1;
    if (a->unit == WG_RU_CONFIG_LATE && next) {
        say(why, "The instruction behind ");
        say_insn(r, why, pa->word);
        say(why, " starts before the configuration is written.");
        say(how, "NOP after ");
        say_insn(r, how, pa->word);
        say(how, ".");
        wg_clock_see(&fix->adds, a->k, a->value);
        return;
    }
    const char *condition = condition_of(r, a->unit);
    say(why, "Both are thread %u's, but nothing waits for %s, which may still be at work on ", a->thread,
        wg_race_unit_text(a->unit));
    say_insn(r, why, pa->word);
    say(why, ".");
    if (condition) {
        say(how, "STALLWAIT(%s, %s) before ", block_name(r, pb->word), condition);
        say_insn(r, how, pb->word);
        say(how, ".");
    } else {
        say(how, "Drain the thread (load PC_BUF_BASE+4 and use the value) before pushing ");
        say_insn(r, how, pb->word);
        say(how, ".");
    }
    wg_clock_see(&fix->adds, a->k, a->value);
}

static const char *pusher_name(const wg_race_party *p)
{
    return p->core < WG_CORES ? wg_agent_name(p->core) : "the host";
}

static void two_pushers(wg_races *r, const wg_cell *a, const wg_actor *b, const wg_race_party *pa,
                        const wg_race_party *pb, text *why, text *how, remedy *fix)
{
    say(why, "Both are thread %u's, but pushed by %s and %s: nothing tells which comes first.", b->thread,
        pusher_name(pa), pusher_name(pb));
    say(how, "Let %s drain the thread (%s) and then tell %s, before it pushes ", pusher_name(pa),
        pa->core == WG_CORE_B ? "load the thread's PC buffer and use the value"
                              : "load PC_BUF_BASE+4 and use the value",
        pusher_name(pb));
    say_insn(r, how, pb->word);
    say(how, ".");
    wg_clock_see(&fix->adds, a->k, a->value);
    wg_clock_see(&fix->adds, WG_K_I + b->thread, a->value + 1);
}

/* b has seen something that thread a's did later: that is what should have waited. */
static bool behind_release(wg_races *r, const wg_cell *a, const wg_actor *b, text *why, text *how, remedy *fix)
{
    uint32_t passed = passed_of(b, a->thread);
    if (passed < a->value)
        return false;
    const wg_race_thread *t = &r->thread[a->thread];
    const wg_race_insn *s = NULL;
    if (t->seq - passed < WG_INSNS) {
        uint64_t id = t->by_seq[passed % WG_INSNS];
        s = &t->insn[id % WG_INSNS];
        if (s->id != id || s->seq != passed)
            s = NULL;
    }
    const char *condition = condition_of(r, a->unit);
    if (s && s->seq == a->value) {
        say_insn(r, why, s->word);
        say(why, " is over for its thread before %s is done.", wg_race_unit_text(a->unit));
        say(how, "STALLWAIT(STALL_THREAD, %s) and NOP after ", condition ? condition : "…");
        say_insn(r, how, s->word);
        say(how, ", before anybody waits for the thread.");
        wg_clock_see(&fix->adds, a->k, a->value);
        return true;
    }
    if (s) {
        say_insn(r, why, s->word);
        say(why, " follows, but does not wait for %s.", wg_race_unit_text(a->unit));
    } else {
        say(why, "What it waited for does not wait for %s.", wg_race_unit_text(a->unit));
    }
    if (condition)
        say(how, "STALLWAIT(STALL_SYNC, %s) before ", condition);
    else
        say(how, "Drain the thread (load PC_BUF_BASE+4 and use the value) before ");
    if (s)
        say_insn(r, how, s->word);
    else
        say(how, "what tells the other side");
    say(how, " (thread %u).", a->thread);
    wg_clock_see(&fix->adds, a->k, a->value);
    return true;
}

static void instruction_first(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                              const wg_race_party *pb, unsigned space, text *why, text *how, remedy *fix)
{
    bool by_insn = !(b->thread & 0x80);
    if (by_insn && b->thread == a->thread && !wg_race_one_pusher(a, b)) {
        two_pushers(r, a, b, pa, pb, why, how, fix);
        return;
    }
    if (by_insn && b->thread == a->thread) {
        same_thread(r, a, pa, b, pb, why, how, fix);
        return;
    }
    const char *condition = condition_of(r, a->unit);
    bool own_core = !by_insn && (b->thread & 0x7F) == (unsigned)WG_CORE_T0 + a->thread;
    if (own_core && passed_of(b, a->thread) < a->value) {
        const wg_race_thread *t = &r->thread[a->thread];
        bool tracked = t->tracks;
        bool load = !pb->write;
        say(why, "Core %s goes on while its thread's instruction is still to be executed.", wg_agent_name(pb->agent));
        if (tracked && load && a->unit != WG_RU_MEMORY && (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR))
            say(how, "fence between the push and the load (Auto TTSync holds a load only for what has left the store "
                     "queue).");
        else
            say(how, "Load PC_BUF_BASE+4 and use its value before the %s.", load ? "load" : "store");
        wg_clock_see(&fix->adds, a->k, a->value);
        return;
    }
    if (behind_release(r, a, b, why, how, fix))
        return;
    if (by_insn && space == WG_TOUCH_CONFIG && pa->word >> 24 >= 0xB3 && pa->word >> 24 <= 0xB6 &&
        pb->word >> 24 >= 0xB3 && pb->word >> 24 <= 0xB6) {
        say(why, "Threads %u and %u change the same bits, and no mutex or semaphore orders them.", a->thread,
            b->thread);
        say(how, "ATGETM and ATRELM of one mutex around both.");
    } else if (by_insn) {
        say(why, "Nothing in thread %u waits for anything that thread %u does after it.", b->thread, a->thread);
        if (condition)
            say(how, "STALLWAIT(STALL_SYNC, %s) and SEMPOST in thread %u after it; ", condition, a->thread);
        else
            say(how, "SEMPOST in thread %u after it; ", a->thread);
        say(how, "SEMWAIT(%s, that semaphore, STALL_ON_ZERO) in thread %u before ", block_name(r, pb->word), b->thread);
        say_insn(r, how, pb->word);
        say(how, ".");
    } else {
        say(why, "Core %s has not waited for thread %u.", wg_agent_name(pb->agent), a->thread);
        say(how, "Let core T%u drain its thread (load PC_BUF_BASE+4 and use the value), then tell core %s.", a->thread,
            wg_agent_name(pb->agent));
    }
    wg_clock_see(&fix->adds, a->k, a->value);
    wg_clock_see(&fix->adds, WG_K_I + a->thread, a->value + 1);
}

static void core_first(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                       const wg_race_party *pb, unsigned space, text *why, text *how, remedy *fix)
{
    unsigned core = a->thread & 0x7F;
    bool by_insn = !(b->thread & 0x80), own = by_insn && core == (unsigned)WG_CORE_T0 + b->thread;
    wg_clock_see(&fix->adds, a->k, a->value);
    if (own && (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR)) {
        say(why,
            "The %s of core %s and its push go to different regions: the instruction may start before the %s is "
            "processed.",
            pa->write ? "store" : "load", wg_agent_name(pa->agent), pa->write ? "store" : "load");
        say(how, "STALLWAIT(%s, TRISC_CFG) before ", block_name(r, pb->word));
        say_insn(r, how, pb->word);
        say(how, ".");
        return;
    }
    if (by_insn && core < WG_CORES && (b->own_k == (unsigned)WG_K_P + core || own)) {
        say(why, "The %s of core %s and the push behind it go to different regions, which are not in order.",
            pa->write ? "store" : "load", wg_agent_name(pa->agent));
        say(how, "%s before the push of ", pa->write ? "Load the word back and use the value" : "Use the loaded value");
        say_insn(r, how, pb->word);
        say(how, ".");
        return;
    }
    say(why, "Nothing that ");
    say_party(r, why, pb);
    say(why, " waited for comes after the %s of core %s is sure to be done.", pa->write ? "store" : "load",
        wg_agent_name(pa->agent));
    say(how, "Hand over by a mailbox, a semaphore, or a flag that is read in a spinning loop; before that, %s.",
        pa->write ? "load the word back and use the value" : "use the loaded value");
}

/* The NoC, or the Mover for TDMA-RISC? */
static bool is_noc(unsigned thread) { return thread & 0x80 && (thread & 0x7F) >= WG_RACE_NOC_CODE; }

static void noc_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                      const wg_race_party *pb, text *why, text *how, remedy *fix)
{
    wg_clock_see(&fix->adds, a->k, a->value);
    if (!is_noc(a->thread)) {
        if (pb->core == pa->core && !pb->tile) {
            say(why, "The %s of core %s and its command go to different regions, which are not in order.",
                pa->write ? "store" : "load", wg_agent_name(pa->agent));
            say(how, "%s before the command.",
                pa->write ? "Load the word back and use the value" : "Use the loaded value");
        } else {
            say(why, "Nothing that the requester waited for comes after the %s of core %s is sure to be done.",
                pa->write ? "store" : "load", wg_agent_name(pa->agent));
            say(how, "%s, then tell the requester (a NoC write or atomic to a flag that it reads in a spinning loop).",
                pa->write ? "Load the word back and use the value" : "Use the loaded value");
        }
        return;
    }
    const char *before = !is_noc(b->thread) && b->thread & 0x80 ? "the access" : "what follows";
    unsigned path = a->k == WG_K_TDMA ? WG_PATH_TDMA : pa->agent == WG_AGENT_NIU1 ? WG_PATH_NIU1 : WG_PATH_NIU0;
    if (!pa->tile && pa->core < WG_CORES && r->core[pa->core].command[wg_race_command_at(path)].looked) {
        say(why, "Core %s has asked whether it is done, but perhaps before its command had left the store queue.",
            wg_agent_name(pa->core));
        say(how, r->arch_id == WG_ARCH_BH
                     ? "fence, or a load of the command register, between the command and the first look."
                     : "Three more stores (TDMA-RISC's status ignores them), or a load of the command "
                       "register, between the command and the first look.");
        return;
    }
    if (a->k < WG_K_ANSWER) {
        say(why, "The NIU reads it until the request has left, and nothing has waited for that.");
        say(how,
            "Poll NIU_MST_NONPOSTED_WR_REQ_SENT (posted: NIU_MST_POSTED_WR_REQ_SENT) or NIU_MST_WR_ACK_RECEIVED in a "
            "loop before %s.",
            before);
    } else if (a->k < WG_K_RMT) {
        say(why, "The answer to the request may still be on its way: nothing has waited for it.");
        say(how, "Poll NIU_MST_RD_RESP_RECEIVED (atomics: NIU_MST_ATOMIC_RESP_RECEIVED) in a loop before %s.", before);
    } else if (a->k < WG_K_TDMA && pa->tile) {
        say(why, "Nothing that was waited for comes behind the other tile's request.");
        say(how,
            "Let the other tile write a flag behind it, on the same NoC and static virtual channel or when it has been "
            "answered, and read that in a spinning loop before %s.",
            before);
    } else if (a->k < WG_K_TDMA) {
        say(why, "The request to the own tile may still be on its way: nothing has waited for its answer.");
        say(how, "Poll NIU_MST_WR_ACK_RECEIVED in a loop before %s.", before);
    } else {
        say(why, "The Mover may still be at work on the command of core %s.",
            pa->core < WG_CORES ? wg_agent_name(pa->core) : "B");
        say(how, "Poll TDMA-RISC's status in a loop, or STALLWAIT(…, TRISC_CFG) and STALLWAIT(…, XMOV), before %s.",
            before);
    }
}

/* A Matrix Unit instruction that gives a bank back and does not wait for it by itself (GATE-22). */
static bool gives_unasked(const wg_race_party *p)
{
    unsigned op = p->word >> 24;
    return p->agent == WG_AGENT_MATRIX && (op == 0x37 || op == 0x36 || op == 0x10); /* SETRWC, CLEARDVALID, ZEROACC */
}

/*
 * One of two has not waited for the bank: the Matrix Unit's instruction, unless it knows of the last handover; then it is
 * the unpacker's.
 */
static void owner_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                        const wg_race_party *pb, uint32_t first, text *why, text *how)
{
    char file = (char)('A' + (first >> 1));
    bool b_back = pb->agent == WG_AGENT_MATRIX, back = b_back || gives_unasked(pa);
    const wg_race_party *giver = b_back && !gives_unasked(pa) ? pb : pa, *other = giver == pa ? pb : pa;
    const wg_clock *known = giver == pb ? b->clock : wg_race_clock(r, a->snap);
    const wg_ref *valid = &r->valid[first & 3];
    bool waited = other->agent != WG_AGENT_MATRIX && valid->v1 && known->v[valid->k1] >= valid->v1;
    if (back && !waited) {
        say_insn(r, why, giver->word);
        say(why, " gives Src%c back without having waited until it was handed over.", file);
        say(how, "STALLWAIT(STALL_MATH, SRC%c_VLD) before ", file);
    } else {
        giver = back ? other : pb;
        say_insn(r, why, giver->word);
        say(why, " hands Src%c over without having waited until it was given back.", file);
        say(how, "STALLWAIT(STALL_UNPACK, SRC%c_CLR) before ", file);
    }
    say_insn(r, how, giver->word);
    say(how, " (thread %u).", giver->thread);
}

static void special(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b, const wg_race_party *pb,
                    unsigned space, uint32_t first, text *why, text *how, remedy *fix)
{
    char file = (char)('A' + (first & 1));
    wg_clock_see(&fix->adds, a->k, a->value);
    switch (space) {
    case WG_TOUCH_BANK_POINTER:
        say_insn(r, why, pa->word);
        say(why, " moves on to the other bank when it is done; until then the wait looks at the bank that it is about "
                 "to leave.");
        say(how,
            first < 2 ? "Wait for both: STALLWAIT(%s, MATH|SRC%c_VLD)."
                      : "Wait for both: STALLWAIT(%s, UNPACK|SRC%c_CLR).",
            first < 2 ? "STALL_MATH" : "STALL_UNPACK", file);
        break;
    case WG_TOUCH_BANK_OWNER: owner_words(r, a, pa, b, pb, first, why, how); break;
    case WG_TOUCH_MOP_CFG:
        say(why,
            "The MOP Expander reads its configuration while it expands, and the MOP may still be queued or expanding.");
        say(how, "Load PC_BUF_BASE+8 and use its value before the store.");
        break;
    default:
        say(why,
            "SEMINIT starts the counts anew; whoever uses the semaphore must be known to come before or after it.");
        say(how, "Initialise it before the other side starts, or tell the other side afterwards (mailbox, mutex, "
                 "another semaphore).");
        wg_clock_see(&fix->adds, WG_K_I + (a->thread & 3u), a->value + 1);
        break;
    }
}

/* Words from which UNPACR makes its first address: base and offset of each context. */
static bool makes_unpack_address(const wg_races *r, uint32_t word)
{
    static const uint16_t firsts[] = {WG_CFG_THCON_SEC0_REG3_Base_address, WG_CFG_THCON_SEC0_REG7_Offset_address,
                                      WG_CFG_THCON_SEC1_REG3_Base_address, WG_CFG_THCON_SEC1_REG7_Offset_address};
    enum { CONTEXTS = 4 };
    for (unsigned i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if ((word & 255) - wg_cfg_fields[r->arch_id][firsts[i]].word < CONTEXTS)
            return true;
    return false;
}

/*
 * Decided here: the Matrix Unit reads MATH_Offset as an instruction enters its pipeline. No page says so, and S3's
 * sixth pattern waits for it; but every public kernel moves MATH_Offset from tile to tile without, so it is a note (of
 * formats and modes nothing of the kind is known, and kernels wait). So is a context's address that the unpack thread
 * itself changes: UNPACR keeps its thread for as long as it works out the first address (UNPACR_Regular.md,
 * "Performance"), and public matrix products rely on it.
 */
static bool read_at_start(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first)
{
    if (b->thread & 0x80 || a->how & WG_TOUCH_WRITE)
        return false;
    if (a->unit == WG_RU_READ_MATRIX)
        return passed_of(b, a->thread) >= a->value && space == WG_TOUCH_THREAD_CONFIG &&
               (first & 255) == wg_tcfg_fields[r->arch_id][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word;
    return (a->unit == WG_RU_READ_UNPACK0 || a->unit == WG_RU_READ_UNPACK1) && a->thread == b->thread &&
           b->seq > a->value && space == WG_TOUCH_CONFIG && makes_unpack_address(r, first);
}

static wg_race_kind kind_of(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first,
                            unsigned how, uint32_t mask)
{
    bool both = a->how & WG_TOUCH_WRITE && how & WG_TOUCH_WRITE;
    if ((space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG) && read_at_start(r, a, b, space, first))
        return WG_RACE_IN_FLIGHT;
    switch (space) {
    case WG_TOUCH_CONFIG:
        if (a->unit == WG_RU_CONFIG_LATE && b->seq == a->value + 1 && b->thread == a->thread)
            return WG_RACE_LATE_RESULT;
        if (both && wg_race_owner(a->thread) != wg_race_owner(b->thread) && mask != UINT32_MAX)
            return WG_RACE_CLOBBER; /* corrected by the caller, who knows both masks */
        return WG_RACE_CONFIG;
    case WG_TOUCH_THREAD_CONFIG: return WG_RACE_CONFIG;
    case WG_TOUCH_GPR:
        return a->unit == WG_RU_MEMORY || a->unit == WG_RU_CONFIG_RESULT ? WG_RACE_LATE_RESULT : WG_RACE_DATA;
    case WG_TOUCH_BANK_OWNER: return WG_RACE_BANK_OWNER;
    case WG_TOUCH_BANK_POINTER: return WG_RACE_BANK_POINTER;
    case WG_TOUCH_SEM_VALUE:
    case WG_TOUCH_SEM_MAX: return WG_RACE_SEMAPHORE_INIT;
    case WG_TOUCH_MOP_CFG: return WG_RACE_MOP_CONFIG;
    default: return WG_RACE_DATA;
    }
}

/* ---- Keeping ------------------------------------------------------------------------------------------------------
 */

static wg_race *keep(wg_races *r, uint64_t key)
{
    for (size_t i = 0; i < r->races; i++)
        if (r->race_key[i] == key) {
            r->race[i].count++;
            return NULL;
        }
    if (r->races == WG_MAX_RACES) {
        r->forgotten++;
        return NULL;
    }
    r->race_key[r->races] = key;
    wg_race *race = &r->race[r->races++];
    memset(race, 0, sizeof *race);
    race->id = (uint32_t)r->races;
    race->count = 1;
    return race;
}

/* A core's access before its own thread's instruction, in a region that the wait on RISC-V requests is about. */
static bool waits_for_core(const wg_cell *a, const wg_actor *b, unsigned space)
{
    return a->thread & 0x80 && !(b->thread & 0x80) && wg_race_owner(a->thread) == b->thread &&
           (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR);
}

/* A further location of a report that is there already. */
static void add_place(wg_races *r, uint64_t key, unsigned space, uint32_t first, uint32_t last, uint32_t mask)
{
    wg_race *race = NULL;
    for (size_t i = 0; i < r->races && !race; i++)
        if (r->race_key[i] == key)
            race = &r->race[i];
    char place[160];
    text t = {place, sizeof place};
    say_location(r, &t, space, first, last, mask);
    if (!race || strstr(race->location, place) || strstr(race->location, "; …"))
        return;
    size_t used = strlen(race->location);
    bool fits = used + strlen(place) + 8 < sizeof race->location;
    snprintf(race->location + used, sizeof race->location - used, fits ? "; %s" : "; …%s", fits ? place : "");
}

/*
 * A fence lies between the push and the load, and Auto TTSync is on: it would hold the load, if RMWCIB's class counted
 * as writing configuration (class 15 does not by default).
 */
static bool untracked(wg_races *r, const wg_cell *a, const wg_actor *b)
{
    const wg_race_thread *t = &r->thread[a->thread < WG_THREADS ? a->thread : 0];
    if (a->unit != WG_RU_CONFIG || b->thread != (0x80u | (WG_CORE_T0 + a->thread)) || t->seq - a->value >= WG_INSNS)
        return false;
    const wg_race_insn *i = &t->insn[t->by_seq[a->value % WG_INSNS] % WG_INSNS];
    return t->tracks && i->seq == a->value && i->push_number &&
           i->push_number <= r->core[WG_CORE_T0 + a->thread].now.fences;
}

static void found(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, uint32_t last,
                  uint32_t mask, unsigned how, uint64_t now)
{
    const wg_race_party *pa = &r->party[a->party], *pb = &r->party[b->party];
    /* One whole word, the other some of its bits: the other bits are what matters. */
    bool partial = space == WG_TOUCH_CONFIG && (a->mask == UINT32_MAX) != (b->mask == UINT32_MAX) &&
                   a->how & WG_TOUCH_WRITE && how & WG_TOUCH_WRITE;
    wg_race_kind kind = kind_of(r, a, b, space, first, how, mask);
    if (kind == WG_RACE_CLOBBER && !partial)
        kind = WG_RACE_CONFIG;
    if (kind == WG_RACE_CONFIG && untracked(r, a, b))
        kind = WG_RACE_UNTRACKED;
    uint32_t where = space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG ? first : 0;
    uint64_t key = mix(mix(mix(kind, space), where), (uint64_t)a->party << 32 | b->party);
    if (kind == WG_RACE_IN_FLIGHT) /* one note for all that a thread does with it */
        key = mix(mix(mix(kind, space), where), a->thread);
    bool missing_wait = waits_for_core(a, b, space);
    if (missing_wait) /* one wait before b is missing, however many stores it is for */
        key = mix(mix(mix(kind, 0xFFFE), a->thread), b->party);
    wg_race *race = keep(r, key);
    if (!race) {
        if (missing_wait)
            add_place(r, key, space, first, last, mask);
        return;
    }
    race->kind = kind;
    race->a = *pa;
    race->b = *pb;
    race->a.cycle = wg_race_cycle(a->cycle, now);
    race->b.cycle = b->cycle;
    race->a.write = a->how & WG_TOUCH_WRITE;
    race->b.write = how & WG_TOUCH_WRITE;
    race->a.atomic = a->how & WG_TOUCH_ATOMIC;
    race->b.atomic = how & WG_TOUCH_ATOMIC;
    race->has_a = true;
    race->space = (uint8_t)space;
    race->first = first;
    race->last = last;
    race->mask = mask;
    text place = {race->location, sizeof race->location}, why = {race->why, sizeof race->why},
         cure = {race->remedy, sizeof race->remedy};
    say_location(r, &place, space, first, last, mask);
    remedy fix;
    memset(&fix, 0, sizeof fix);
    if (kind == WG_RACE_CLOBBER) {
        const wg_race_party *whole = a->mask == UINT32_MAX ? pa : pb;
        say_insn(r, &why, whole->word);
        say(&why, " writes the whole word, and with it bits that thread %u owns.",
            whole == pa ? (unsigned)pb->thread : (unsigned)pa->thread);
        say(&cure, "RMWCIB of the own bits instead of ");
        say_insn(r, &cure, whole->word);
        say(&cure, ".");
        fix.disjoint = true;
    } else if (space >= WG_TOUCH_BANK_OWNER || space == WG_TOUCH_SEM_VALUE || space == WG_TOUCH_SEM_MAX ||
               space == WG_TOUCH_MOP_CFG) {
        special(r, a, pa, b, pb, space, first, &why, &cure, &fix);
    } else if (is_noc(a->thread) || (a->thread & 0x80 && is_noc(b->thread))) {
        noc_words(r, a, pa, b, pb, &why, &cure, &fix);
    } else if (a->thread & 0x80) {
        core_first(r, a, pa, b, pb, space, &why, &cure, &fix);
    } else {
        instruction_first(r, a, pa, b, pb, space, &why, &cure, &fix);
    }
    if (fix.disjoint) {
        race->verified = true;
        return;
    }
    wg_actor after = *b;
    wg_clock_join(&fix.adds, b->clock);
    after.clock = &fix.adds;
    race->verified = wg_race_ordered(r, a, &after, space, how);
}

void wg_race_found(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, uint32_t last,
                   uint32_t mask, unsigned how)
{
    /*
     * The run may have seen them in the other order than the program means: then the earlier one knows that the later
     * one had been set going (its core emitted it, or pushed it), and the remedy goes by that.
     */
    uint32_t a_knows = b->own_k < WG_K_NONE ? wg_race_clock(r, a->snap)->v[b->own_k] : 0;
    uint32_t b_knows = a->core_k < WG_K_NONE ? b->clock->v[a->core_k] : 0;
    if (a->core_k == b->own_k) { /* one core's: in program order */
        bool a_acts = a->thread & 0x80, b_acts = b->thread & 0x80;
        bool b_first = a_acts && !b_acts   ? b->pushes <= a->pushes
                       : !a_acts && b_acts ? a->pushes > b->pushes
                                           : b->own_v < a->core_v;
        a_knows = b_first ? b->own_v : 0;
        b_knows = b_first ? 0 : a->core_v;
    }
    bool meant = b->own_k < WG_K_NONE && a_knows >= b->own_v && !(a->core_k < WG_K_NONE && b_knows >= a->core_v);
    if (b->seq && a->thread == b->thread && a->thread < WG_THREADS &&
        a->k < WG_K_P) /* one thread's: as it issued them */
        meant = b->seq < a->value;
    if (!meant) {
        found(r, a, b, space, first, last, mask, how, b->cycle);
        return;
    }
    wg_cell earlier = {.k = b->k,
                       .unit = b->unit,
                       .thread = b->thread,
                       .value = b->value,
                       .mask = b->mask,
                       .party = (uint16_t)b->party,
                       .how = (uint16_t)how,
                       .core_k = (uint16_t)b->own_k,
                       .core_v = b->own_v,
                       .cycle = (uint32_t)b->cycle};
    wg_actor later = {.k = a->k,
                      .unit = a->unit,
                      .thread = a->thread,
                      .value = a->value,
                      .seq = a->thread < WG_THREADS && a->k < WG_K_P ? a->value : 0,
                      .clock = wg_race_clock(r, a->snap),
                      .party = a->party,
                      .own_k = a->core_k,
                      .own_v = a->core_v,
                      .mask = a->mask,
                      .cycle = wg_race_cycle(a->cycle, b->cycle)};
    found(r, &earlier, &later, space, first, last, mask, a->how, b->cycle);
}

void wg_race_unwritten(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask)
{
    char place[160];
    text t = {place, sizeof place};
    say_location(r, &t, space, at, at, mask);
    wg_race_rule(r, WG_RACE_UNWRITTEN, 0, b->party, b->cycle, place,
                 "Nothing has written it since reset, and what reset leaves there is not to be relied on.",
                 "Initialise it.");
}

void wg_race_rule(wg_races *r, wg_race_kind kind, uint32_t a, uint32_t b, uint64_t cycle, const char *location,
                  const char *why, const char *cure)
{
    wg_race *race = keep(r, mix(mix(mix(kind, 0xFFFF), 1), (uint64_t)a << 32 | b));
    if (!race)
        return;
    race->kind = kind;
    race->space = WG_TOUCH_SPACES;
    race->has_a = a != 0;
    race->a = r->party[a];
    race->b = r->party[b];
    race->b.cycle = cycle;
    race->verified = true;
    snprintf(race->location, sizeof race->location, "%s", location);
    snprintf(race->why, sizeof race->why, "%s", why);
    snprintf(race->remedy, sizeof race->remedy, "%s", cure);
}
