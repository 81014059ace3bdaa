/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of races: the parties, the location, why nothing orders them, and what to insert. A remedy is given as a sentence
 * and as insertions. A caller that can run the program again with the insertions records the outcome (wg_races_tried()).
 */
#include "explain/race_words.h"

#include <stdio.h>

#include "isa/asm.h"
#include "isa/config_fields.h"

static const struct {
    const char *name, *summary, *remedy;
    wg_severity severity;
    unsigned check;
} kinds[WG_RACE_KINDS] = {
#define WG_RACE(id, name, check, severity, summary, remedy) \
    {name, summary, remedy, WG_SEVERITY_##severity, WG_CHECK_##check},
#include "explain/races.def"
#undef WG_RACE
};
const char *wg_race_kind_name(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].name : "unknown"; }
const char *wg_race_kind_summary(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].summary : ""; }
const char *wg_race_kind_remedy(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].remedy : ""; }
wg_severity wg_race_severity(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].severity : WG_SEVERITY_NOTE; }

unsigned wg_race_check(unsigned kind) { return kind < WG_RACE_KINDS ? kinds[kind].check : 0; }

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

/* ---- Why, and what to do ----------------------------------------------------------------------------------------- */

/* The remedy: inserts `what` before or after `at`. */
static void insert(wg_race *race, const wg_race_party *at, bool behind, wg_insert what, uint32_t word)
{
    if (race->inserts < WG_INSERTIONS)
        race->insert[race->inserts++] =
            (wg_insertion){.at = *at, .behind = behind, .what = (uint8_t)what, .word = word};
}

/* As insert(), with a Tensix instruction as text. */
static void insert_insn(const wg_races *r, wg_race *race, const wg_race_party *at, bool behind, const char *text)
{
    uint32_t word;
    wg_asm_error error;
    if (wg_assemble_line(r->arch_id, text, strlen(text), &word, &error) == WG_ASM_OK)
        insert(race, at, behind, WG_INSERT_WORD, word);
}

static void insert_wait(const wg_races *r, wg_race *race, const wg_race_party *at, bool behind, const char *block,
                        const char *condition)
{
    char text[80];
    snprintf(text, sizeof text, "ttstallwait %s, %s", block, condition);
    insert_insn(r, race, at, behind, text);
}

static uint32_t passed_of(const wg_actor *b, unsigned thread)
{
    uint32_t v = b->clock->v[WG_K_I + thread];
    if (b->clock2 && b->clock2->v[WG_K_I + thread] > v)
        v = b->clock2->v[WG_K_I + thread];
    return b->seq && b->thread == thread && b->seq > v ? b->seq : v;
}

static void same_thread(const wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                        const wg_race_party *pb, wg_words *why, wg_words *how, wg_race *race)
{
    bool next = b->seq == a->value + 1;
    if (a->unit == WG_RU_CONFIG_LATE && next) {
        wg_say(why, "The instruction behind ");
        wg_say_insn(r, why, pa->word);
        wg_say(why, " starts before the configuration is written.");
        wg_say(how, "NOP after ");
        wg_say_insn(r, how, pa->word);
        wg_say(how, ".");
        insert_insn(r, race, pa, true, "ttnop");
        return;
    }
    const char *condition = wg_race_condition(r, a->unit);
    wg_say(why, "Both are thread %u's, but nothing waits for %s, which may still be working on ", a->thread,
           wg_race_unit_text(a->unit));
    wg_say_insn(r, why, pa->word);
    wg_say(why, ".");
    if (condition) {
        wg_say(how, "STALLWAIT(%s, %s) before ", wg_race_block_name(r, pb->word), condition);
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
        insert_wait(r, race, pb, false, wg_race_block_name(r, pb->word), condition);
    } else {
        insert(race, pb, false, WG_INSERT_DRAIN, 0);
        wg_say(how, "Drain the thread (load PC_BUF_BASE+4 and use the value) before pushing ");
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
    }
}

static const char *pusher_name(const wg_race_party *p)
{
    return p->core < WG_CORES ? wg_agent_name(p->core) : "the host";
}

static void two_pushers(const wg_races *r, const wg_actor *b, const wg_race_party *pa, const wg_race_party *pb,
                        wg_words *why, wg_words *how)
{
    wg_say(why, "Both are thread %u's, but pushed by %s and %s: nothing tells which comes first.", b->thread,
           pusher_name(pa), pusher_name(pb));
    wg_say(how, "Let %s drain the thread (%s) and then tell %s, before it pushes ", pusher_name(pa),
           pa->core == WG_CORE_B ? "load the thread's PC buffer and use the value"
                                 : "load PC_BUF_BASE+4 and use the value",
           pusher_name(pb));
    wg_say_insn(r, how, pb->word);
    wg_say(how, ".");
}

static wg_race_party party_at(unsigned thread, const wg_race_insn *i)
{
    return (wg_race_party){
        .thread = (uint8_t)thread, .core = i->source, .word = i->word, .pc = i->pc, .parent = i->parent};
}

/* b has synchronised with a later instruction of thread a: that instruction should have waited. */
static bool behind_release(wg_races *r, const wg_cell *a, const wg_actor *b, wg_words *why, wg_words *how,
                           wg_race *race)
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
    const char *condition = wg_race_condition(r, a->unit);
    if (s && s->seq == a->value) {
        wg_say_insn(r, why, s->word);
        wg_say(why, " counts as complete for its thread before %s is done.", wg_race_unit_text(a->unit));
        wg_say(how, "STALLWAIT(STALL_THREAD, %s) and NOP after ", condition ? condition : "…");
        wg_say_insn(r, how, s->word);
        wg_say(how, ", before anybody waits for the thread.");
        wg_race_party site = party_at(a->thread, s);
        if (condition) {
            insert_wait(r, race, &site, true, "STALL_THREAD", condition);
            insert_insn(r, race, &site, true, "ttnop");
        }
        return true;
    }
    if (s) {
        wg_say_insn(r, why, s->word);
        wg_say(why, " follows, but does not wait for %s.", wg_race_unit_text(a->unit));
    } else {
        wg_say(why, "What it waited for does not wait for %s.", wg_race_unit_text(a->unit));
    }
    if (condition)
        wg_say(how, "STALLWAIT(STALL_SYNC, %s) before ", condition);
    else
        wg_say(how, "Drain the thread (load PC_BUF_BASE+4 and use the value) before ");
    if (s) {
        wg_race_party site = party_at(a->thread, s);
        wg_say_insn(r, how, s->word);
        if (condition)
            insert_wait(r, race, &site, false, "STALL_SYNC", condition);
        else
            insert(race, &site, false, WG_INSERT_DRAIN, 0);
    } else {
        wg_say(how, "what tells the other side");
    }
    wg_say(how, " (thread %u).", a->thread);
    return true;
}

/*
 * Inserts a wait for the bank of SrcA or SrcB before `at`. The wider remedy also waits for the unit, in case a flip by
 * the thread is in flight.
 */
static void bank_remedy(const wg_races *r, wg_race *race, const wg_race_party *at, char file, bool valid, wg_words *how)
{
    const char *block = valid ? "STALL_MATH" : "STALL_UNPACK", *unit = valid ? "MATH" : "UNPACK";
    wg_words wider = {race->wider, sizeof race->wider}, *text[2] = {how, &wider};
    char condition[24];
    for (unsigned wide = 0; wide < 2; wide++) {
        snprintf(condition, sizeof condition, "%s%sSRC%c_%s", wide ? unit : "", wide ? "|" : "", file,
                 valid ? "VLD" : "CLR");
        wg_say(text[wide], "STALLWAIT(%s, %s) before ", block, condition);
        wg_say_insn(r, text[wide], at->word);
        wg_say(text[wide], " (thread %u).", at->thread);
        insert_wait(r, race, at, false, block, condition);
    }
    if (race->inserts == 2) /* one or the other */
        race->wider_word = race->insert[--race->inserts].word;
}

static bool is_rmwcib(uint32_t word)
{
    return wg_opcode(word) >= WG_OPCODE_RMWCIB0 && wg_opcode(word) <= WG_OPCODE_RMWCIB3;
}

/* Between the unpackers and the Matrix Unit, source banks are handed over by their own wait conditions. */
static bool by_bank(const wg_races *r, const wg_race_party *pa, const wg_race_party *pb, uint32_t first, wg_words *why,
                    wg_words *how, wg_race *race)
{
    bool filled = pa->agent == WG_AGENT_UNPACK0 || pa->agent == WG_AGENT_UNPACK1;
    if (pb->agent != (filled ? WG_AGENT_MATRIX : pb->agent) || (!filled && pa->agent != WG_AGENT_MATRIX))
        return false;
    wg_say_insn(r, why, pb->word);
    wg_say(why, " does not wait until the bank is %s.", filled ? "the Matrix Unit's" : "given back");
    bank_remedy(r, race, pb, (char)('A' + (first >> 7)), filled, how);
    return true;
}

static void instruction_first(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                              const wg_race_party *pb, unsigned space, uint32_t first, wg_words *why, wg_words *how,
                              wg_race *race)
{
    bool by_insn = !(b->thread & 0x80);
    if (by_insn && b->thread == a->thread && !wg_race_one_pusher(a, b)) {
        two_pushers(r, b, pa, pb, why, how);
        return;
    }
    if (by_insn && b->thread == a->thread) {
        same_thread(r, a, pa, b, pb, why, how, race);
        return;
    }
    const char *condition = wg_race_condition(r, a->unit);
    bool own_core = !by_insn && (b->thread & 0x7F) == (unsigned)WG_CORE_T0 + a->thread;
    if (own_core && a->unit == WG_RU_MEMORY && passed_of(b, a->thread) >= a->value) {
        wg_say(why, "The result of ");
        wg_say_insn(r, why, pa->word);
        wg_say(why, " comes from memory, after the instruction counts as complete for its thread and for Auto TTSync.");
        wg_say(how, "Load PC_BUF_BASE+4 and use its value before the %s.", pb->write ? "store" : "load");
        insert(race, pb, false, WG_INSERT_DRAIN, 0);
        return;
    }
    if (own_core && passed_of(b, a->thread) < a->value) {
        const wg_race_thread *t = &r->thread[a->thread];
        bool tracked = t->tracks;
        bool load = !pb->write;
        wg_say(why, "Core %s continues before its thread's instruction has executed.", wg_agent_name(pb->agent));
        bool by_fence =
            tracked && load && a->unit != WG_RU_MEMORY && (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR);
        if (by_fence)
            wg_say(how,
                   "fence between the push and the load (Auto TTSync holds a load only for what has left the store "
                   "queue).");
        else
            wg_say(how, "Load PC_BUF_BASE+4 and use its value before the %s.", load ? "load" : "store");
        insert(race, pb, false, by_fence ? WG_INSERT_FENCE : WG_INSERT_DRAIN, 0);
        return;
    }
    if (behind_release(r, a, b, why, how, race))
        return;
    if (by_insn && space == WG_TOUCH_SRC && by_bank(r, pa, pb, first, why, how, race))
        return;
    if (by_insn && space == WG_TOUCH_CONFIG && is_rmwcib(pa->word) && is_rmwcib(pb->word)) {
        wg_say(why, "Threads %u and %u change the same bits, and no mutex or semaphore orders them.", a->thread,
               b->thread);
        wg_say(how, "ATGETM and ATRELM of one mutex around both.");
        insert(race, pa, false, WG_INSERT_TAKE, 0);
        insert(race, pa, true, WG_INSERT_GIVE, 0);
        insert(race, pb, false, WG_INSERT_TAKE, 0);
        insert(race, pb, true, WG_INSERT_GIVE, 0);
    } else if (by_insn) {
        wg_say(why, "Nothing in thread %u waits for anything that thread %u does after it.", b->thread, a->thread);
        if (condition)
            wg_say(how, "STALLWAIT(STALL_SYNC, %s) and SEMPOST in thread %u after it; ", condition, a->thread);
        else
            wg_say(how, "SEMPOST in thread %u after it; ", a->thread);
        wg_say(how, "SEMWAIT(STALL_SYNC|%s, that semaphore, STALL_ON_ZERO) and SEMGET in thread %u before ",
               wg_race_block_name(r, pb->word), b->thread);
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
        if (condition)
            insert_wait(r, race, pa, true, "STALL_SYNC", condition);
        insert(race, pa, true, WG_INSERT_POST, 0);
        insert(race, pb, false, WG_INSERT_WAIT_POST, WG_B1 | wg_isa_decode(r->arch_id, pb->word)->block_bits);
    } else {
        wg_say(why, "Core %s has not waited for thread %u.", wg_agent_name(pb->agent), a->thread);
        wg_say(how, "Let core T%u drain its thread (load PC_BUF_BASE+4 and use the value), then tell core %s.",
               a->thread, wg_agent_name(pb->agent));
    }
}

static void core_first(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                       const wg_race_party *pb, unsigned space, wg_words *why, wg_words *how, wg_race *race)
{
    unsigned core = a->thread & 0x7F;
    bool by_insn = !(b->thread & 0x80);
    bool own = by_insn && core == (unsigned)WG_CORE_T0 + b->thread && pb->core != WG_CORE_B;
    if (own && (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR)) {
        wg_say(why,
               "The %s of core %s and its push go to different regions: the instruction may start before the %s is "
               "processed.",
               pa->write ? "store" : "load", wg_agent_name(pa->agent), pa->write ? "store" : "load");
        insert_wait(r, race, pb, false, wg_race_block_name(r, pb->word), "TRISC_CFG");
        wg_say(how, "STALLWAIT(%s, TRISC_CFG) before ", wg_race_block_name(r, pb->word));
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
        return;
    }
    if (by_insn && core < WG_CORES && (b->own_k == (unsigned)WG_K_P + core || own)) {
        wg_say(why, "The %s of core %s and the push behind it go to different regions, which are not in order.",
               pa->write ? "store" : "load", wg_agent_name(pa->agent));
        insert(race, pa, true, pa->write ? WG_INSERT_READ_BACK : WG_INSERT_USE, 0);
        wg_say(how, "%s before the push of ",
               pa->write ? "Load the word back and use the value" : "Use the loaded value");
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
        return;
    }
    wg_say(why, "Nothing that ");
    wg_say_party(r, why, pb);
    wg_say(why, " waited for comes after the %s of core %s is sure to be done.", pa->write ? "store" : "load",
           wg_agent_name(pa->agent));
    wg_say(how, "Hand over by a mailbox, a semaphore, or a flag that is read in a spinning loop; before that, %s.",
           pa->write ? "load the word back and use the value" : "use the loaded value");
}

/* The NoC, or the Mover for TDMA-RISC? */
static bool is_noc(unsigned thread) { return thread & 0x80 && (thread & 0x7F) >= WG_RACE_NOC_CODE; }

static void noc_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                      const wg_race_party *pb, wg_words *why, wg_words *how, wg_race *race)
{
    if (!is_noc(a->thread)) {
        if (pb->core == pa->core && !pb->tile) {
            wg_say(why, "The %s of core %s and its command go to different regions, which are not in order.",
                   pa->write ? "store" : "load", wg_agent_name(pa->agent));
            insert(race, pa, true, pa->write ? WG_INSERT_READ_BACK : WG_INSERT_USE, 0);
            wg_say(how, "%s before the command.",
                   pa->write ? "Load the word back and use the value" : "Use the loaded value");
        } else {
            wg_say(why, "Nothing that the requester waited for comes after the %s of core %s is sure to be done.",
                   pa->write ? "store" : "load", wg_agent_name(pa->agent));
            wg_say(how,
                   "%s, then tell the requester (a NoC write or atomic to a flag that it reads in a spinning loop).",
                   pa->write ? "Load the word back and use the value" : "Use the loaded value");
        }
        return;
    }
    const char *before = !is_noc(b->thread) && b->thread & 0x80 ? "the access" : "what follows";
    unsigned path = a->k == WG_K_TDMA ? WG_PATH_TDMA : pa->agent == WG_AGENT_NIU1 ? WG_PATH_NIU1 : WG_PATH_NIU0;
    if (!pa->tile && pa->core < WG_CORES && r->core[pa->core].command[wg_race_command_at(path)].looked) {
        wg_say(why, "Core %s polled for completion, possibly before its command had left the store queue.",
               wg_agent_name(pa->core));
        wg_say(how, r->arch->fence_orders
                        ? "fence, or a load of the command register, between the command and the first look."
                        : "Three more stores (TDMA-RISC's status ignores them), or a load of the command "
                          "register, between the command and the first look.");
        return;
    }
    if (a->k < WG_K_ANSWER) {
        wg_say(why, "The NIU reads it until the request has left, and nothing has waited for that.");
        wg_say(
            how,
            "Poll NIU_MST_NONPOSTED_WR_REQ_SENT (posted: NIU_MST_POSTED_WR_REQ_SENT) or NIU_MST_WR_ACK_RECEIVED in a "
            "loop before %s.",
            before);
    } else if (a->k < WG_K_RMT) {
        wg_say(why, "The answer to the request may still be on its way: nothing has waited for it.");
        wg_say(how, "Poll NIU_MST_RD_RESP_RECEIVED (atomics: NIU_MST_ATOMIC_RESP_RECEIVED) in a loop before %s.",
               before);
    } else if (a->k < WG_K_TDMA && pa->tile) {
        wg_say(why, "Nothing that was waited for comes behind the other tile's request.");
        wg_say(
            how,
            "Let the other tile write a flag behind it, on the same NoC and static virtual channel or when it has been "
            "answered, and read that in a spinning loop before %s.",
            before);
    } else if (a->k < WG_K_TDMA) {
        wg_say(why, "The request to the own tile may still be on its way: nothing has waited for its answer.");
        wg_say(how, "Poll NIU_MST_WR_ACK_RECEIVED in a loop before %s.", before);
    } else {
        wg_say(why, "The Mover may still be working on the command of core %s.",
               pa->core < WG_CORES ? wg_agent_name(pa->core) : "B");
        wg_say(how, "Poll TDMA-RISC's status in a loop, or STALLWAIT(…, TRISC_CFG) and STALLWAIT(…, XMOV), before %s.",
               before);
    }
}

/* A Matrix Unit instruction that hands back a bank without waiting for it itself (GATE-22). */
static bool gives_unasked(const wg_race_party *p)
{
    unsigned op = wg_opcode(p->word);
    return p->agent == WG_AGENT_MATRIX &&
           (op == WG_OPCODE_SETRWC || op == WG_OPCODE_CLEARDVALID || op == WG_OPCODE_ZEROACC);
}

/*
 * One side has not waited for the bank: the Matrix Unit's instruction or, if it knows of the last handover, the unpacker's.
 */
static void owner_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                        const wg_race_party *pb, uint32_t first, wg_words *why, wg_words *how, wg_race *race)
{
    char file = (char)('A' + (first >> 1));
    bool b_back = pb->agent == WG_AGENT_MATRIX, back = b_back || gives_unasked(pa);
    const wg_race_party *giver = b_back && !gives_unasked(pa) ? pb : pa, *other = giver == pa ? pb : pa;
    const wg_clock *known = giver == pb ? b->clock : wg_race_clock(r, a->snap);
    const wg_ref *valid = &r->valid[first & 3];
    bool waited = other->agent != WG_AGENT_MATRIX && valid->v1 && known->v[valid->k1] >= valid->v1;
    bool unasked = back && !waited;
    if (!unasked)
        giver = back ? other : pb;
    wg_say_insn(r, why, giver->word);
    wg_say(why,
           unasked ? " gives Src%c back without having waited until it was handed over."
                   : " hands Src%c over without having waited until it was given back.",
           file);
    bank_remedy(r, race, giver, file, unasked, how);
}

static void special(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b, const wg_race_party *pb,
                    unsigned space, uint32_t first, wg_words *why, wg_words *how, wg_race *race)
{
    char condition[24], file = (char)('A' + (first & 1));
    switch (space) {
    case WG_TOUCH_BANK_POINTER:
        wg_say_insn(r, why, pa->word);
        wg_say(why,
               " moves on to the other bank when it is done; until then the wait looks at the bank that it is about "
               "to leave.");
        wg_say(how,
               first < 2 ? "Wait for both: STALLWAIT(%s, MATH|SRC%c_VLD)."
                         : "Wait for both: STALLWAIT(%s, UNPACK|SRC%c_CLR).",
               first < 2 ? "STALL_MATH" : "STALL_UNPACK", file);
        snprintf(condition, sizeof condition, first < 2 ? "MATH|SRC%c_VLD" : "UNPACK|SRC%c_CLR", file);
        insert_wait(r, race, pb, false, first < 2 ? "STALL_MATH" : "STALL_UNPACK", condition);
        break;
    case WG_TOUCH_BANK_OWNER: owner_words(r, a, pa, b, pb, first, why, how, race); break;
    case WG_TOUCH_MOP_CFG:
        wg_say(
            why,
            "The MOP Expander reads its configuration while it expands, and the MOP may still be queued or expanding.");
        wg_say(how, "Load PC_BUF_BASE+8 and use its value before the store.");
        insert(race, pb, false, WG_INSERT_DRAIN_MOPS, 0);
        break;
    default:
        wg_say(why,
               "SEMINIT starts the counts anew; whoever uses the semaphore must be known to come before or after it.");
        wg_say(how, "Initialise it before the other side starts, or tell the other side afterwards (mailbox, mutex, "
                    "another semaphore).");
        break;
    }
}

/* Words from which UNPACR computes its first address: base and offset of each context. */
static bool makes_unpack_address(const wg_races *r, uint32_t index)
{
    static const uint16_t firsts[] = {WG_CFG_THCON_SEC0_REG3_Base_address, WG_CFG_THCON_SEC0_REG7_Offset_address,
                                      WG_CFG_THCON_SEC1_REG3_Base_address, WG_CFG_THCON_SEC1_REG7_Offset_address};
    enum { CONTEXTS = 4 };
    for (unsigned i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if ((index & 255) - wg_cfg_fields[r->arch_id][firsts[i]].word < CONTEXTS)
            return true;
    return false;
}

/*
 * Decided here: the Matrix Unit reads MATH_Offset as an instruction enters its pipeline. No page says so, and S3's
 * sixth pattern waits for it; but every public kernel changes MATH_Offset from tile to tile without waiting, so it is a note
 * (for formats and modes no such use is known, and kernels wait). So is a context's address that the unpack thread itself
 * changes: UNPACR blocks its thread while it computes the first address (UNPACR_Regular.md, "Performance"), and public matrix
 * products rely on it.
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
            return WG_RACE_CLOBBER; /* the caller, which knows both masks, corrects it */
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

static wg_race *keep(wg_races *r, unsigned kind, uint64_t key)
{
    if (!(r->checks & kinds[kind].check))
        return NULL;
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

/* A core's access before an instruction of its own thread, to a region that the wait on RISC-V requests covers. */
static bool waits_for_core(const wg_cell *a, const wg_actor *b, unsigned space)
{
    return a->thread & 0x80 && !(b->thread & 0x80) && wg_race_owner(a->thread) == b->thread &&
           (space == WG_TOUCH_CONFIG || space == WG_TOUCH_GPR);
}

/* Another location of an existing report. */
static void add_place(wg_races *r, uint64_t key, unsigned space, uint32_t first, uint32_t last, uint32_t mask)
{
    wg_race *race = NULL;
    for (size_t i = 0; i < r->races && !race; i++)
        if (r->race_key[i] == key)
            race = &r->race[i];
    char place[160];
    wg_words t = {place, sizeof place};
    wg_say_location(r, &t, space, first, last, mask);
    if (!race || strstr(race->location, place) || strstr(race->location, "; …"))
        return;
    size_t used = strlen(race->location);
    bool fits = used + strlen(place) + 8 < sizeof race->location;
    snprintf(race->location + used, sizeof race->location - used, fits ? "; %s" : "; …%s", fits ? place : "");
}

/*
 * There is a fence between push and load, and Auto TTSync is on. It would hold the load if RMWCIB's class were
 * declared to write configuration (class 15 is not by default).
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
    /* One side writes the whole word, the other some of its bits: the whole-word write clobbers. */
    bool partial = space == WG_TOUCH_CONFIG && (a->mask == UINT32_MAX) != (b->mask == UINT32_MAX) &&
                   a->how & WG_TOUCH_WRITE && how & WG_TOUCH_WRITE;
    wg_race_kind kind = kind_of(r, a, b, space, first, how, mask);
    if (kind == WG_RACE_CLOBBER && !partial)
        kind = WG_RACE_CONFIG;
    if (kind == WG_RACE_CONFIG && untracked(r, a, b))
        kind = WG_RACE_UNTRACKED;
    uint32_t where = space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG ? first : 0;
    uint64_t key = mix(mix(mix(kind, space), where), (uint64_t)a->party << 32 | b->party);
    if (kind == WG_RACE_IN_FLIGHT) /* one note per thread and location */
        key = mix(mix(mix(kind, space), where), a->thread);
    if (waits_for_core(a, b, space)) /* one missing wait before b, however many stores it covers */
        key = mix(mix(mix(kind, 0xFFFE), a->thread), b->party);
    wg_race *race = keep(r, kind, key);
    if (!race) {
        if (wg_race_by_name(space))
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
    wg_words place = {race->location, sizeof race->location}, why = {race->why, sizeof race->why},
             cure = {race->remedy, sizeof race->remedy};
    wg_say_location(r, &place, space, first, last, mask);
    if (kind == WG_RACE_CLOBBER) {
        const wg_race_party *whole = a->mask == UINT32_MAX ? pa : pb;
        wg_say_insn(r, &why, whole->word);
        wg_say(&why, " writes the whole word, and with it bits that thread %u owns.",
               whole == pa ? (unsigned)pb->thread : (unsigned)pa->thread);
        wg_say(&cure, "Use RMWCIB on the thread's own bits instead of ");
        wg_say_insn(r, &cure, whole->word);
        wg_say(&cure, ".");
    } else if (space >= WG_TOUCH_BANK_OWNER || space == WG_TOUCH_SEM_VALUE || space == WG_TOUCH_SEM_MAX ||
               space == WG_TOUCH_MOP_CFG) {
        special(r, a, pa, b, pb, space, first, &why, &cure, race);
    } else if (is_noc(a->thread) || (a->thread & 0x80 && is_noc(b->thread))) {
        noc_words(r, a, pa, b, pb, &why, &cure, race);
    } else if (a->thread & 0x80) {
        core_first(r, a, pa, b, pb, space, &why, &cure, race);
    } else {
        instruction_first(r, a, pa, b, pb, space, first, &why, &cure, race);
    }
}

void wg_race_found(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, uint32_t last,
                   uint32_t mask, unsigned how)
{
    /*
     * The run may have seen the two in the opposite of the intended order. Then the earlier one knows that the later
     * one had been started (emitted or pushed), and the remedy follows the intended order.
     */
    uint32_t a_knows = b->own_k < WG_K_NONE ? wg_race_clock(r, a->snap)->v[b->own_k] : 0;
    uint32_t b_knows = a->core_k < WG_K_NONE ? b->clock->v[a->core_k] : 0;
    if (a->core_k == b->own_k) { /* one core: program order */
        bool a_acts = a->thread & 0x80, b_acts = b->thread & 0x80;
        bool b_first = a_acts && !b_acts   ? b->pushes <= a->pushes
                       : !a_acts && b_acts ? a->pushes > b->pushes
                                           : b->own_v < a->core_v;
        a_knows = b_first ? b->own_v : 0;
        b_knows = b_first ? 0 : a->core_v;
    }
    bool meant = b->own_k < WG_K_NONE && a_knows >= b->own_v && !(a->core_k < WG_K_NONE && b_knows >= a->core_v);
    if (b->seq && a->thread == b->thread && a->thread < WG_THREADS && a->k < WG_K_P) /* one thread: order of issue */
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
    wg_words t = {place, sizeof place};
    wg_say_location(r, &t, space, at, at, mask);
    wg_race_rule(r, WG_RACE_UNWRITTEN, 0, b->party, b->cycle, place,
                 "Nothing has written it since reset, and its value after reset is not guaranteed.", "Initialise it.");
    wg_race_init_unit(r, b, space, place);
}

void wg_race_rule(wg_races *r, wg_race_kind kind, uint32_t a, uint32_t b, uint64_t cycle, const char *location,
                  const char *why, const char *cure)
{
    wg_race *race = keep(r, kind, mix(mix(mix(kind, 0xFFFF), 1), (uint64_t)a << 32 | b));
    if (!race)
        return;
    race->kind = kind;
    race->space = WG_TOUCH_SPACES;
    race->has_a = a != 0;
    race->a = r->party[a];
    race->b = r->party[b];
    race->b.cycle = cycle;
    if (kind == WG_RACE_VECTOR_HAZARD)
        insert_insn(r, race, &race->b, false, "ttsfpnop");
    else if (kind == WG_RACE_TTSYNC_OVERLAP && race->has_a)
        insert(race, &race->a, true, WG_INSERT_USE, 0);
    else if (kind == WG_RACE_UNTRACKED)
        insert(race, &race->b, false, WG_INSERT_DRAIN, 0);
    snprintf(race->location, sizeof race->location, "%s", location);
    snprintf(race->why, sizeof race->why, "%s", why);
    snprintf(race->remedy, sizeof race->remedy, "%s", cure);
}

bool wg_races_widen(wg_races *r, size_t index)
{
    wg_race *race = index < r->races ? &r->race[index] : NULL;
    if (!race || !race->wider_word || !race->inserts)
        return false;
    race->insert[0].word = race->wider_word;
    race->wider_word = 0;
    memcpy(race->remedy, race->wider, sizeof race->remedy);
    return true;
}

void wg_races_tried(wg_races *r, size_t index, wg_remedy_is outcome)
{
    if (index < r->races)
        r->race[index].remedy_is = (uint8_t)outcome;
}

void wg_races_grade(wg_races *r, size_t index, uint32_t timings, const wg_delay *witness)
{
    if (index >= r->races)
        return;
    wg_race *race = &r->race[index];
    race->timings = timings;
    race->grade = witness ? WG_GRADE_WRONG : WG_GRADE_UNORDERED;
    if (witness)
        race->witness = *witness;
}

void wg_races_explain(wg_races *r, size_t cause, size_t index)
{
    if (cause >= r->races || index >= r->races)
        return;
    r->race[cause].explains++;
    r->race[index].explained_by = r->race[cause].id;
}
