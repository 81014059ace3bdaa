/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks other than races. Synchronisation: leftovers at the end of the run. Memory: accesses of cores to L1 that does not
 * belong to them. A core's memory consists of the sections of its program, memory that the host wrote or declared, and memory
 * that a unit or the NoC has touched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/race_words.h"
#include "isa/riscv_word.h"

/*
 * Per word: it belongs to somebody; 1 + the core whose section it is; it is in a line of the host's, whose gaps may be read; a stray
 * store to it is noted.
 */
enum { SOMEBODY = 0x80, NOTED = 0x40, HOST_LINE = 0x20, OWNER = 0x07 };
enum { STRAYS = 1024 };

/* An access to what belonged to nobody then. The host may still come for it: this is judged at the end. */
typedef struct stray {
    uint64_t cycle, address, bytes;
    uint32_t party;
    bool stack;
} stray;
struct wg_race_strays {
    unsigned count;
    stray at[STRAYS];
};

static const char *const check_names[] = {"race", "memory", "init", "sync"}; /* by bit */
enum { CHECKS = sizeof check_names / sizeof *check_names };

bool wg_checks_parse(const char *text, unsigned *checks)
{
    *checks = 0;
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, ",");
        unsigned i = 0;
        while (i < CHECKS && !(strlen(check_names[i]) == length && strncmp(check_names[i], p, length) == 0))
            i++;
        if (i == CHECKS)
            return false;
        *checks |= 1u << i;
        p += length + (p[length] == ',');
    }
    return *checks != 0;
}

const char *wg_check_name(unsigned check) { return check_names[__builtin_ctz(check) % CHECKS]; }

const char *wg_race_check_name(unsigned kind)
{
    const unsigned checks = wg_race_check(kind);
    return wg_check_name(checks ? checks : WG_CHECK_RACE);
}

void wg_races_select(wg_races *r, unsigned checks)
{
    r->checks = checks;
    if (checks & WG_CHECK_INIT && !r->init && !wg_race_init_make(r))
        r->forgotten++;
    if (checks & WG_CHECK_MEMORY && !r->given) {
        r->given = calloc(r->arch->tensix.l1_bytes / 4, 1);
        r->strays = calloc(1, sizeof *r->strays); /* NULL: each is told at once */
        if (r->given)
            r->bytes += r->arch->tensix.l1_bytes / 4;
        else
            r->forgotten++;
    }
}

/* ---- Synchronisation ------------------------------------------------------------------------------------------- */

static void endless_waits(wg_races *r, uint64_t cycle)
{
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        const wg_race_thread *t = &r->thread[thread];
        wg_race_insn *i = t->latched ? wg_race_insn_at(r, thread, t->latch_id) : NULL;
        if (!i || wg_opcode(t->latch_word) != WG_OPCODE_SEMWAIT || !(WG_GET(SEMWAIT, wait_sem_cond, t->latch_word) & 2))
            continue;
        for (uint32_t left = WG_GET(SEMWAIT, sem_sel, t->latch_word); left; left &= left - 1) {
            unsigned index = (unsigned)__builtin_ctz(left);
            char place[64], why[160];
            if (r->semaphore[index].inits)
                continue;
            snprintf(place, sizeof place, "semaphore %u (%s)", index, wg_race_semaphore_name(index));
            snprintf(why, sizeof why,
                     "Semaphore %u was never initialised: its maximum is 0, so that this wait for room never ends.",
                     index);
            wg_race_rule(r, WG_RACE_SEMAPHORE_UNINIT, 0, wg_race_insn_party(r, WG_AGENT_SYNC, thread, i, false, cycle),
                         cycle, place, why, "SEMINIT, with its capacity as the maximum, before the first wait.");
        }
    }
}

static void semaphores_left(wg_races *r, uint64_t cycle)
{
    for (unsigned i = 0; i < 8; i++) {
        const wg_race_semaphore *s = &r->semaphore[i];
        uint32_t value = s->posts - s->gets, began = s->inits ? s->value : 0;
        char place[64], why[200];
        if (value == began || !s->posts)
            continue;
        snprintf(place, sizeof place, "semaphore %u (%s)", i, wg_race_semaphore_name(i));
        snprintf(why, sizeof why, "It began as %u and is %u at the end: it was %s %u time%s more often than %s.", began,
                 value, value > began ? "posted" : "taken", value > began ? value - began : began - value,
                 (value > began ? value - began : began - value) == 1 ? "" : "s", value > began ? "taken" : "posted");
        uint32_t last = s->post_party[(s->posts - 1) % WG_SEM_LOG];
        wg_race_rule(r, WG_RACE_SEMAPHORE_LEFT, 0, last, cycle, place, why,
                     value > began ? "SEMWAIT on zero and SEMGET for each SEMPOST." : "SEMPOST for each SEMGET.");
    }
}

static void mutexes_kept(wg_races *r, uint64_t cycle)
{
    for (unsigned i = 0; i < 8; i++) {
        char place[32];
        if (!r->mutex_party[i])
            continue;
        snprintf(place, sizeof place, "mutex %u", i);
        wg_race_rule(
            r, WG_RACE_MUTEX_KEPT, 0, r->mutex_party[i], cycle, place,
            "It was taken and is still held at the end of the run: the next thread that wants it waits forever.",
            "ATRELM on every path after the ATGETM.");
    }
}

static void banks_kept(wg_races *r, uint64_t cycle)
{
    for (unsigned i = 0; i < 4; i++) {
        char place[32], why[200];
        if (!r->bank_party[i])
            continue;
        snprintf(place, sizeof place, "Src%c bank %u", i < 2 ? 'A' : 'B', i & 1);
        snprintf(why, sizeof why,
                 "It was given to the Matrix Unit %u time%s, and the last time not given back: the next program would "
                 "compute with its contents.",
                 r->bank_given[i], r->bank_given[i] == 1 ? "" : "s");
        wg_race_rule(r, WG_RACE_BANK_KEPT, 0, r->bank_party[i], cycle, place, why,
                     "SETRWC or CLEARDVALID, or the bits of the last instruction that reads it, once for each time.");
    }
}

static void words_left(wg_races *r, uint64_t cycle)
{
    char place[80], why[120];
    for (unsigned from = 0; from < WG_CORES; from++)
        for (unsigned to = 0; to < WG_CORES; to++) {
            const wg_ref_fifo *f = &r->mailbox[from][to];
            if (!f->count)
                continue;
            snprintf(place, sizeof place, "the mailbox from core %s to core %s", wg_agent_name(from),
                     wg_agent_name(to));
            snprintf(why, sizeof why, "%u word%s nobody has read.", f->count,
                     f->count == 1 ? " is left that" : "s are left that");
            wg_race_rule(r, WG_RACE_MAILBOX_LEFT, 0, f->party, cycle, place, why,
                         "Read as many words as are sent: the next program would read the rest first.");
        }
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        const wg_ref_fifo *f = &r->pcbuf[thread];
        if (!f->count)
            continue;
        snprintf(place, sizeof place, "the PC buffer of core %s", wg_agent_name(WG_CORE_T0 + thread));
        snprintf(why, sizeof why, "%u word%s nobody has read.", f->count,
                 f->count == 1 ? " is left that" : "s are left that");
        wg_race_rule(r, WG_RACE_MAILBOX_LEFT, 0, f->party, cycle, place, why,
                     "Read as many words as are sent: the next program would read the rest first.");
    }
}

/* Does some core know of the whole stream? */
static bool is_known(const wg_races *r, unsigned k)
{
    for (unsigned core = 0; core < WG_CORES; core++)
        if (r->core[core].p.v[k] >= r->noc_count[k - WG_K_NOC])
            return true;
    return false;
}

/* Did a core poll for "nothing in flight" with a load that may overtake the last command? */
static bool polled_early(const wg_races *r, unsigned noc)
{
    bool any = false;
    for (unsigned core = 0; core < WG_CORES; core++)
        any |= r->core[core].command[wg_race_command_at(WG_PATH_NIU0 + noc)].looked;
    return any;
}

static void requests_left(wg_races *r, uint64_t cycle)
{
    for (unsigned noc = 0; noc < 2; noc++)
        for (unsigned answer = 0; answer < 2; answer++) {
            unsigned k = (answer ? WG_K_ANSWER : WG_K_SOURCE) + noc;
            if (!r->noc_party[k - WG_K_NOC] || is_known(r, k))
                continue;
            if (polled_early(r, noc)) {
                wg_race_rule(
                    r, WG_RACE_NOC_UNWAITED, 0, r->noc_party[k - WG_K_NOC], cycle,
                    answer ? "what the answers of the NoC write" : "what the requests to the NoC read",
                    "A core polls a counter of requests in flight, but that load may overtake the store of the last "
                    "command, and find nothing in flight.",
                    "Load NOC_CMD_CTRL of the last command until it is 0, then poll the counter.");
                continue;
            }
            wg_race_rule(
                r, WG_RACE_NOC_UNWAITED, 0, r->noc_party[k - WG_K_NOC], cycle,
                answer ? "what the answers of the NoC write" : "what the requests to the NoC read",
                answer ? "No core has waited for the last answers: whoever uses the memory next may come before them."
                       : "No core has waited until the last writes had left: whoever uses their source next may change "
                         "it.",
                answer
                    ? "Poll NIU_MST_RD_RESP_RECEIVED (atomics: NIU_MST_ATOMIC_RESP_RECEIVED) in a loop before the end."
                    : "Poll NIU_MST_WR_ACK_RECEIVED or NIU_MST_NONPOSTED_WR_REQ_SENT (posted: "
                      "NIU_MST_POSTED_WR_REQ_SENT) in a loop before the end.");
        }
}

static void strays_left(wg_races *r);

void wg_races_end(wg_races *r, uint64_t cycle, bool finished)
{
    if (r->ended == cycle + 1)
        return;
    r->ended = cycle + 1;
    strays_left(r);
    endless_waits(r, cycle);
    if (!finished)
        return;
    semaphores_left(r, cycle);
    mutexes_kept(r, cycle);
    banks_kept(r, cycle);
    words_left(r, cycle);
    requests_left(r, cycle);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void mark(wg_races *r, uint64_t address, uint64_t bytes, unsigned owner)
{
    uint32_t l1 = r->arch->tensix.l1_bytes;
    if (!r->given || address >= l1 || !bytes)
        return;
    uint64_t end = bytes > l1 - address ? l1 : address + bytes;
    for (uint64_t word = address / 4; word <= (end - 1) / 4; word++)
        r->given[word] =
            (uint8_t)((r->given[word] & (NOTED | HOST_LINE)) | SOMEBODY | (owner ? owner : r->given[word] & OWNER));
}

void wg_races_give(wg_races *r, unsigned core, uint32_t address, uint32_t bytes)
{
    mark(r, address, bytes, core < WG_CORES ? core + 1 : 0);
    wg_race_init_given(r, core, address, bytes);
}

void wg_race_given(wg_races *r, uint64_t address, uint64_t bytes) { mark(r, address, bytes, 0); }

void wg_race_given_by_host(wg_races *r, uint64_t address, uint64_t bytes)
{
    const uint64_t l1 = r->arch->tensix.l1_bytes;
    if (bytes >= l1 / 2) /* it looks at all of it, not at a buffer */
        return;
    mark(r, address, bytes, 0);
    for (uint64_t word = address / 16 * 4; r->given && bytes && word <= (address + bytes - 1) / 16 * 4 + 3; word++)
        if (word < l1 / 4)
            r->given[word] |= HOST_LINE;
}

void wg_races_ask_memory(wg_races *r, wg_races_memory_fn memory) { r->memory = memory; }

uint64_t wg_races_events(const wg_races *r) { return WG_RACES_EVENTS | (r->init ? WG_EV_BIT(WG_EV_CORE_RETIRE) : 0); }

/* Does the access go through sp? */
static bool by_stack_pointer(const wg_races *r, unsigned core, uint32_t pc)
{
    enum { SP = 2 };
    uint32_t word;
    return r->code && r->code(r->user, core, pc, &word) &&
           (wg_rv_opcode(word) == WG_RV_LOAD || wg_rv_opcode(word) == WG_RV_STORE) && wg_rv_rs1(word) == SP;
}

static void tell_stray(wg_races *r, const stray *s)
{
    char place[64], why[240];
    snprintf(place, sizeof place, "L1 0x%06llx-0x%06llx", (unsigned long long)s->address,
             (unsigned long long)(s->address + s->bytes - 1));
    snprintf(why, sizeof why,
             "No section of a program covers it, and neither the host nor a unit nor the NoC has touched it.%s",
             s->stack ? " The access goes through sp: the stack has left its memory." : "");
    wg_race_rule(r, WG_RACE_STRAY, 0, s->party, s->cycle, place, why,
                 s->stack ? "Give the stack more room, or keep less on it."
                          : "Check the pointer and the index; --buffer declares memory that the program may use.");
}

/* Those whose memory still belongs to nobody. */
static void strays_left(wg_races *r)
{
    for (unsigned i = 0; r->strays && i < r->strays->count; i++)
        if (!(r->given[r->strays->at[i].address / 4] & SOMEBODY))
            tell_stray(r, &r->strays->at[i]);
    if (r->strays)
        r->strays->count = 0;
}

static void note_stray(wg_races *r, const stray *s)
{
    struct wg_race_strays *all = r->strays;
    for (unsigned i = 0; all && i < all->count; i++)
        if (all->at[i].party == s->party && all->at[i].address / 4 == s->address / 4)
            return;
    if (all && all->count < STRAYS)
        all->at[all->count++] = *s;
    else
        tell_stray(r, s);
}

void wg_race_memory(wg_races *r, unsigned core, uint32_t party, const wg_event *e)
{
    uint64_t address = e->b, bytes = e->c;
    bool write = e->how & WG_TOUCH_WRITE;
    char place[64], why[240];
    if (!r->given || address >= r->arch->tensix.l1_bytes || !bytes)
        return;
    uint8_t state = r->given[address / 4];
    unsigned owner = state & OWNER;
    bool stray_access = !(state & (SOMEBODY | NOTED)) && (write || !(state & HOST_LINE)),
         foreign = write && owner && owner != core + 1;
    uint32_t from, more;
    if (stray_access && r->memory && r->memory(r->user, (uint32_t)address, &from, &more)) {
        mark(r, from, more, 0);
        return;
    }
    if (stray_access) {
        note_stray(r, &(stray){e->cycle, address, bytes, party, by_stack_pointer(r, core, e->pc)});
        for (uint64_t word = address / 4; write && word <= (address + bytes - 1) / 4; word++)
            r->given[word] |= NOTED;
        return;
    }
    if (!foreign)
        return;
    bool stack = by_stack_pointer(r, core, e->pc);
    snprintf(place, sizeof place, "L1 0x%06llx-0x%06llx", (unsigned long long)address,
             (unsigned long long)(address + bytes - 1));
    snprintf(why, sizeof why, "It belongs to the program of core %s.%s", wg_agent_name(owner - 1),
             stack ? " The access goes through sp: the stack has grown into it." : "");
    wg_race_rule(r, WG_RACE_FOREIGN, 0, party, e->cycle, place, why,
                 stack ? "Give the stack more room, or keep less on it."
                       : "Check the pointer and the index; --buffer declares memory that the program may use.");
}
