/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing orders the two parties of a race, and what to insert: as sentences, and as insertions that can be tried.
 */
#include "explain/race_words.h"

#include <stdio.h>

#include "isa/asm.h"
#include "isa/config_fields.h"

/* The remedy: inserts `what` before or after `at`. */
void wg_race_insert(wg_race *race, const wg_race_party *at, bool behind, wg_insert what, uint32_t word)
{
    if (race->inserts < WG_INSERTIONS)
        race->insert[race->inserts++] =
            (wg_insertion){.at = *at, .behind = behind, .what = (uint8_t)what, .word = word};
}

/* As wg_race_insert(), with a Tensix instruction as text. */
void wg_race_insert_insn(const wg_races *r, wg_race *race, const wg_race_party *at, bool behind, const char *text)
{
    uint32_t word;
    wg_asm_error error;
    if (wg_assemble_line(r->arch_id, text, strlen(text), &word, &error) == WG_ASM_OK)
        wg_race_insert(race, at, behind, WG_INSERT_WORD, word);
}

static void insert_wait(const wg_races *r, wg_race *race, const wg_race_party *at, bool behind, const char *block,
                        const char *condition)
{
    char text[80];
    snprintf(text, sizeof text, "ttstallwait %s, %s", block, condition);
    wg_race_insert_insn(r, race, at, behind, text);
}

static void same_thread(const wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                        const wg_race_party *pb, wg_words *why, wg_words *how, wg_race *race)
{
    bool next = b->seq == a->value + 1;
    if (a->unit == WG_RU_CONFIG_LATE && next) {
        wg_say(why, "The instruction after ");
        wg_say_insn(r, why, pa->word);
        wg_say(why, " starts before the configuration is written.");
        wg_say(how, "NOP after ");
        wg_say_insn(r, how, pa->word);
        wg_say(how, ".");
        wg_race_insert_insn(r, race, pa, true, "ttnop");
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
        wg_race_insert(race, pb, false, WG_INSERT_DRAIN, 0);
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
    uint32_t passed = wg_race_passed(b, a->thread);
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
            wg_race_insert_insn(r, race, &site, true, "ttnop");
        }
        return true;
    }
    if (s) {
        wg_say_insn(r, why, s->word);
        wg_say(why, " follows, but does not wait for %s.", wg_race_unit_text(a->unit));
    } else {
        wg_say(why, "What it waited for does not wait for %s.", wg_race_unit_text(a->unit));
    }
    const char *block = s ? wg_race_block_name(r, s->word) : "STALL_SYNC";
    if (condition)
        wg_say(how, "STALLWAIT(%s, %s) before ", block, condition);
    else
        wg_say(how, "Drain the thread (load PC_BUF_BASE+4 and use the value) before ");
    if (s) {
        wg_race_party site = party_at(a->thread, s);
        wg_say_insn(r, how, s->word);
        if (condition)
            insert_wait(r, race, &site, false, block, condition);
        else
            wg_race_insert(race, &site, false, WG_INSERT_DRAIN, 0);
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

/* Instruction number `seq` of a thread; NULL: it is too long ago. */
static const wg_race_insn *insn_at(const wg_races *r, unsigned thread, uint32_t seq)
{
    const wg_race_thread *t = &r->thread[thread];
    const uint64_t id = t->by_seq[seq % WG_INSNS];
    const wg_race_insn *i = &t->insn[id % WG_INSNS];
    return seq && t->seq - seq < WG_INSNS && i->id == id && i->seq == seq ? i : NULL;
}

/*
 * Before an instruction its thread passed a wait for a semaphore, but the wait's block mask does not hold the instruction back. False: there is no such wait.
 */
static bool widen_wait(const wg_races *r, unsigned thread, uint32_t seq, const wg_race_party *party, wg_words *why,
                       wg_words *how, wg_race *race)
{
    enum { NEAR = 512 };
    const uint32_t bit = wg_race_block_bit(r, party->word), bits = wg_isa_decode(r->arch_id, party->word)->block_bits;
    const wg_race_insn *wait = NULL;
    for (uint32_t k = 1; k < NEAR && k < seq && !wait; k++) {
        wait = insn_at(r, thread, seq - k);
        wait = wait && wg_opcode(wait->word) == WG_OPCODE_SEMWAIT ? wait : NULL;
    }
    if (!wait || !bit || WG_GET(SEMWAIT, stall_res, wait->word) & bits)
        return false;
    wg_say_insn(r, why, wait->word);
    wg_say(why, ", which thread %u passed before, does not hold ", thread);
    wg_say_insn(r, why, party->word);
    wg_say(why, " back.");
    wg_say(how, "Add %s to the block mask of ", wg_race_block_name(r, party->word));
    wg_say_insn(r, how, wait->word);
    wg_say(how, " (thread %u).", thread);
    /* Tried as a wider wait before it, which also holds the wait itself: on Wormhole it would replace the wider one. */
    const wg_race_party site = party_at(thread, wait);
    wg_race_insert(race, &site, false, WG_INSERT_WORD, wait->word | (bit | WG_B1) << 15);
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
    if (own_core && a->unit == WG_RU_MEMORY && wg_race_passed(b, a->thread) >= a->value) {
        wg_say(why, "The result of ");
        wg_say_insn(r, why, pa->word);
        wg_say(why, " comes from memory, after the instruction counts as complete for its thread and for Auto TTSync.");
        wg_say(how, "Load PC_BUF_BASE+4 and use its value before the %s.", pb->write ? "store" : "load");
        wg_race_insert(race, pb, false, WG_INSERT_DRAIN, 0);
        return;
    }
    if (own_core && wg_race_passed(b, a->thread) < a->value) {
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
        wg_race_insert(race, pb, false, by_fence ? WG_INSERT_FENCE : WG_INSERT_DRAIN, 0);
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
        wg_race_insert(race, pa, false, WG_INSERT_TAKE, 0);
        wg_race_insert(race, pa, true, WG_INSERT_GIVE, 0);
        wg_race_insert(race, pb, false, WG_INSERT_TAKE, 0);
        wg_race_insert(race, pb, true, WG_INSERT_GIVE, 0);
    } else if (by_insn && (widen_wait(r, b->thread, b->seq, pb, why, how, race) ||
                           widen_wait(r, a->thread, a->value, pa, why, how, race))) {
        return;
    } else if (by_insn) {
        wg_say(why, "Thread %u waits for nothing that thread %u does after it.", b->thread, a->thread);
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
        wg_race_insert(race, pa, true, WG_INSERT_POST, 0);
        wg_race_insert(race, pb, false, WG_INSERT_WAIT_POST, WG_B1 | wg_isa_decode(r->arch_id, pb->word)->block_bits);
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
        wg_say(why, "The %s of core %s and the push after it go to different regions, which are not in order.",
               pa->write ? "store" : "load", wg_agent_name(pa->agent));
        wg_race_insert(race, pa, true, pa->write ? WG_INSERT_READ_BACK : WG_INSERT_USE, 0);
        wg_say(how, "%s before the push of ",
               pa->write ? "Load the word back and use the value" : "Use the loaded value");
        wg_say_insn(r, how, pb->word);
        wg_say(how, ".");
        return;
    }
    wg_say(why, "Nothing that ");
    wg_say_party(r, why, pb);
    wg_say(why, " waits for shows that the %s of core %s is done.", pa->write ? "store" : "load",
           wg_agent_name(pa->agent));
    wg_say(how, "Hand over by a mailbox, a semaphore, or a flag that is read in a spinning loop; before that, %s.",
           pa->write ? "load the word back and use the value" : "use the loaded value");
}

/* The NoC, or the Mover for TDMA-RISC? */
static bool is_noc(unsigned thread) { return thread & 0x80 && (thread & 0x7F) >= WG_RACE_NOC_CODE; }

/* A request from another tile, where a different core is better synchronised than the one that issued it. */
static bool sibling_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b, wg_words *why,
                          wg_words *how)
{
    if (!b->by || !b->by->known)
        return false;
    unsigned knows = wg_race_far_who(r, b->by_tile, a->k, a->value);
    const char *asks = wg_agent_name(b->by->core);
    if (knows < WG_CORES && knows != b->by->core) {
        wg_say(why, "Core %s of that tile knows that it is done; core %s has not synchronised with it since.",
               wg_agent_name(knows), asks);
        wg_say(how,
               "Let core %s tell core %s before the request: a mailbox, or a flag that it reads in a spinning loop.",
               wg_agent_name(knows), asks);
        return true;
    }
    if (pa->tile == b->by_tile + 1 && pa->core < WG_CORES && pa->core != b->by->core) {
        wg_say(why, "Two cores of one tile request it, and nothing puts their requests in order.");
        wg_say(how,
               "Let core %s wait until its request has left, on the same NoC and static virtual channel, or has been "
               "answered, and then tell core %s.",
               wg_agent_name(pa->core), asks);
        return true;
    }
    return false;
}

static void noc_words(wg_races *r, const wg_cell *a, const wg_race_party *pa, const wg_actor *b,
                      const wg_race_party *pb, wg_words *why, wg_words *how, wg_race *race)
{
    if (sibling_words(r, a, pa, b, why, how))
        return;
    if (!is_noc(a->thread)) {
        if (pb->core == pa->core && !pb->tile) {
            wg_say(why, "The %s of core %s and its command go to different regions, which are not in order.",
                   pa->write ? "store" : "load", wg_agent_name(pa->agent));
            wg_race_insert(race, pa, true, pa->write ? WG_INSERT_READ_BACK : WG_INSERT_USE, 0);
            wg_say(how, "%s before the command.",
                   pa->write ? "Load the word back and use the value" : "Use the loaded value");
        } else {
            wg_say(why, "Nothing that the requester waits for shows that the %s of core %s is done.",
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
        wg_say(why, "No wait shows that the other tile's request is done.");
        wg_say(
            how,
            "Let the other tile write a flag after it, on the same NoC and static virtual channel or when it has been "
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
    bool waited = other->agent != WG_AGENT_MATRIX && valid->v2 && known->v[valid->k2] >= valid->v2;
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
        wg_race_insert(race, pb, false, WG_INSERT_DRAIN_MOPS, 0);
        break;
    default:
        wg_say(why,
               "SEMINIT starts the counts anew; whoever uses the semaphore must be known to come before or after it.");
        wg_say(how, "Initialise it before the other side starts, or tell the other side afterwards (mailbox, mutex, "
                    "another semaphore).");
        break;
    }
}

void wg_race_reason(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, wg_words *why,
                    wg_words *how, wg_race *race)
{
    const wg_race_party *pa = &r->party[a->party], *pb = &r->party[b->party];
    if (space >= WG_TOUCH_BANK_OWNER || space == WG_TOUCH_SEM_VALUE || space == WG_TOUCH_SEM_MAX ||
        space == WG_TOUCH_MOP_CFG)
        special(r, a, pa, b, pb, space, first, why, how, race);
    else if (is_noc(a->thread) || (a->thread & 0x80 && is_noc(b->thread)))
        noc_words(r, a, pa, b, pb, why, how, race);
    else if (a->thread & 0x80)
        core_first(r, a, pa, b, pb, space, why, how, race);
    else
        instruction_first(r, a, pa, b, pb, space, first, why, how, race);
}
