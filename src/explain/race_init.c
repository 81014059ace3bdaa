/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation: does an uninitialised value decide a branch, form an address, or enter a result? Decided here: mere copies
 * are not reported. Registers of cores carry a mark from the load of such a value on; a store passes the mark on to L1, or to the
 * core's own RAM. Own RAM itself counts as written unless the caller knows what was loaded there (wg_races_know_ram()).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/race_words.h"
#include "isa/riscv_word.h"

enum { LOADS = 16, STORES = 16 };
enum {
    LOAD = 0x03,
    LOAD_FP = 0x07, /* and of vectors, as STORE_FP */
    IMMEDIATE = 0x13,
    AUIPC = 0x17,
    STORE = 0x23,
    STORE_FP = 0x27,
    ATOMIC = 0x2F,
    REGISTER = 0x33,
    LUI = 0x37,
    BRANCH = 0x63,
    JALR = 0x67,
    JAL = 0x6F
};

#define RAM UINT32_C(0xFFB00000) /* each core's own */
enum { RAM_BYTES = 8192 /* at most */, VECTOR_BYTES = 64 };

typedef struct init_core {
    uint32_t marked;   /* registers that hold uninitialised values */
    uint32_t computed; /* … that arithmetic has made */
    struct {
        uint32_t pc, address; /* of the load that brought it */
    } from[32];
    struct {
        uint32_t pc;
        uint8_t rd; /* 0: free */
    } load[LOADS];  /* in flight, oldest first from `next` on */
    unsigned next_load;
    struct {
        uint32_t pc;
        bool marked;
    } store[STORES];
    unsigned next_store, last_store; /* put, taken */
    struct {
        uint32_t pc, address;
        uint64_t cycle;
        bool marked;
    } touched; /* the last load from L1 that was seen */
} init_core;

struct wg_race_init {
    init_core core[WG_CORES];
    uint8_t *defined; /* a bit per byte of L1 */
    bool knows_ram;
    uint8_t ram[WG_CORES][RAM_BYTES / 8]; /* likewise */
    uint32_t saver[WG_CORES]
                  [RAM_BYTES / 4]; /* the pc of the store of a return address that is still to be loaded; 0: none */
};

bool wg_race_init_make(wg_races *r)
{
    r->init = calloc(1, sizeof *r->init);
    if (r->init)
        r->init->defined = calloc(r->arch->tensix.l1_bytes / 8, 1);
    if (r->init && r->init->defined) {
        r->bytes += sizeof *r->init + r->arch->tensix.l1_bytes / 8;
        return wg_race_marks_make(r);
    }
    free(r->init);
    r->init = NULL;
    return false;
}

void wg_race_init_free(wg_races *r)
{
    wg_race_marks_free(r);
    if (r->init)
        free(r->init->defined);
    free(r->init);
}

/* ---- Memory ---------------------------------------------------------------------------------------------------------- */

static void set_bits(uint8_t *bits, uint64_t room, uint64_t address, uint64_t bytes, bool defined)
{
    for (; bytes && address < room; address++, bytes--) {
        uint8_t bit = (uint8_t)(1u << (address & 7));
        if (defined)
            bits[address / 8] |= bit;
        else
            bits[address / 8] &= (uint8_t)~bit;
    }
}

static bool all_bits(const uint8_t *bits, uint64_t room, uint64_t address, uint64_t bytes)
{
    for (; bytes && address < room; address++, bytes--)
        if (!(bits[address / 8] >> (address & 7) & 1))
            return false;
    return true;
}

static void define(wg_races *r, uint64_t address, uint64_t bytes, bool defined)
{
    set_bits(r->init->defined, r->arch->tensix.l1_bytes, address, bytes, defined);
}

static bool is_defined(const wg_races *r, uint64_t address, uint64_t bytes)
{
    return all_bits(r->init->defined, r->arch->tensix.l1_bytes, address, bytes);
}

/* The core's own RAM that it names; 0: it is not there. */
static uint32_t own_ram(const wg_races *r, unsigned core, uint32_t address)
{
    return address - RAM < r->arch->tensix.core[core].ram_bytes ? address - RAM + 1 : 0;
}

void wg_races_know_ram(wg_races *r)
{
    if (r->init)
        r->init->knows_ram = true;
}

void wg_race_init_given(wg_races *r, unsigned core, uint32_t address, uint32_t bytes)
{
    if (r->init && core < WG_CORES && own_ram(r, core, address))
        set_bits(r->init->ram[core], RAM_BYTES, address - RAM, bytes, true);
}

void wg_race_init_written(wg_races *r, uint64_t address, uint64_t bytes)
{
    if (r->init)
        define(r, address, bytes, true);
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static void tell(wg_races *r, unsigned core, uint32_t pc, uint64_t cycle, unsigned reg, const char *why)
{
    const init_core *c = &r->init->core[core];
    wg_race_party b = {.agent = (uint8_t)core, .thread = WG_THREADS, .core = (uint8_t)core, .pc = pc, .cycle = cycle};
    wg_race_party a = b;
    char place[64];
    a.pc = c->from[reg].pc;
    if (own_ram(r, core, c->from[reg].address))
        snprintf(place, sizeof place, "own RAM of core %s, 0x%08x", wg_agent_name(core), c->from[reg].address);
    else
        snprintf(place, sizeof place, "L1 0x%06x", c->from[reg].address);
    wg_race_rule(r, WG_RACE_UNINITIALISED, wg_race_party_of(r, &a), wg_race_party_of(r, &b), cycle, place, why,
                 "Write the memory before it is read, or wait for whoever writes it.");
}

/* A unit reads an unwritten register or row. */
void wg_race_init_unit(wg_races *r, const wg_actor *b, unsigned space, uint32_t at, uint32_t mask, const char *place)
{
    const wg_race_party *p = &r->party[b->party];
    if (!r->init || p->thread >= WG_THREADS)
        return;
    wg_race_marks_unwritten(r, b, space, at, mask);
    if (wg_race_passes_on(p, space))
        wg_race_rule(r, WG_RACE_UNINITIALISED, 0, b->party, b->cycle, place,
                     "Nobody has written it, and the instruction stores it where others can read it.",
                     "Write it first, or do not store it.");
}

/* ---- Cores ------------------------------------------------------------------------------------------------------- */

static void mark(init_core *c, unsigned rd, bool marked, uint32_t pc, uint32_t address)
{
    c->marked &= ~(1u << rd);
    c->computed &= ~(1u << rd);
    if (!marked || !rd)
        return;
    c->marked |= 1u << rd;
    c->from[rd].pc = pc;
    c->from[rd].address = address;
}

/* The value of a load in flight is known. */
static void arrived(init_core *c, uint32_t pc, uint32_t address, bool marked)
{
    for (unsigned i = 0; i < LOADS; i++) {
        unsigned at = (c->next_load + i) % LOADS;
        if (!c->load[at].rd || c->load[at].pc != pc)
            continue;
        mark(c, c->load[at].rd, marked, pc, address);
        c->load[at].rd = 0;
        return;
    }
}

void wg_race_init_touch(wg_races *r, const wg_event *e)
{
    unsigned core = e->agent - WG_AGENT_CORE_B;
    if (!r->init || core >= WG_CORES || e->a != WG_TOUCH_L1)
        return;
    init_core *c = &r->init->core[core];
    if (e->how & WG_TOUCH_WRITE) {
        bool marked = false;
        for (unsigned i = c->last_store; i != c->next_store; i++)
            if (c->store[i % STORES].pc == e->pc) {
                marked = c->store[i % STORES].marked;
                c->last_store = i + 1;
                break;
            }
        define(r, e->b, e->c, !marked);
    }
    if (!(e->how & WG_TOUCH_READ))
        return;
    c->touched.pc = e->pc;
    c->touched.address = (uint32_t)e->b;
    c->touched.cycle = e->cycle;
    c->touched.marked = !(e->how & WG_TOUCH_ATOMIC) && !is_defined(r, e->b, e->c);
    arrived(c, e->pc, (uint32_t)e->b, c->touched.marked);
}

/* A load in flight to the register no longer counts. */
static void overwritten(init_core *c, unsigned rd)
{
    for (unsigned i = 0; i < LOADS; i++)
        if (c->load[i].rd == rd)
            c->load[i].rd = 0;
    mark(c, rd, false, 0, 0);
}

static void loads(init_core *c, const wg_event *e, unsigned rd)
{
    uint32_t pc = (uint32_t)e->a;
    overwritten(c, rd);
    if (c->touched.pc == pc && c->touched.cycle == e->cycle) { /* from the L0 cache: it has arrived */
        mark(c, rd, c->touched.marked, pc, c->touched.address);
        return;
    }
    c->load[c->next_load % LOADS].pc = pc;
    c->load[c->next_load++ % LOADS].rd = (uint8_t)rd;
}

static unsigned access_bytes(uint32_t word) { return 1u << (wg_rv_funct3(word) & 3); }

/*
 * A function saves its return address, and loads it before it returns. A store of anything else meanwhile is an overflow; after
 * the load, the word is free again.
 */
static void return_address(wg_races *r, unsigned core, const wg_event *e, bool store, uint32_t at)
{
    enum { RA = 1, SP = 2, WORD_ACCESS = 2 };
    uint32_t *saver = &r->init->saver[core][at / 4];
    const bool own = wg_rv_rs1(e->word) == SP && wg_rv_funct3(e->word) == WORD_ACCESS;
    char place[64];
    if (!store) {
        if (wg_rv_rd(e->word) == RA)
            *saver = 0;
        return;
    }
    const uint32_t saved = *saver;
    *saver = own && wg_rv_rs2(e->word) == RA ? (uint32_t)e->a : 0;
    if (!saved || *saver)
        return;
    wg_race_party b = {.agent = (uint8_t)core,
                       .thread = WG_THREADS,
                       .core = (uint8_t)core,
                       .write = true,
                       .pc = (uint32_t)e->a,
                       .cycle = e->cycle};
    wg_race_party a = b;
    a.pc = saved;
    snprintf(place, sizeof place, "own RAM of core %s, 0x%08x", wg_agent_name(core), RAM + at);
    wg_race_rule(r, WG_RACE_RETURN_ADDRESS, wg_race_party_of(r, &a), wg_race_party_of(r, &b), e->cycle, place,
                 "The function that saved it there has not returned: it will return to the value that is stored now.",
                 "Check the index and the size of the local array that the store is meant for.");
}

void wg_race_init_started(wg_races *r, unsigned core)
{
    if (r->init)
        memset(r->init->saver[core], 0, sizeof r->init->saver[core]);
}

/* A load or store of the core's own RAM. False: it is elsewhere. */
static bool in_own_ram(wg_races *r, unsigned core, const wg_event *e, bool store, bool marked)
{
    init_core *c = &r->init->core[core];
    const uint32_t imm = store ? wg_rv_imm_s(e->word) : wg_rv_imm_i(e->word);
    const uint32_t address = (uint32_t)e->parent + imm, at = own_ram(r, core, address), bytes = access_bytes(e->word);
    const unsigned rd = wg_rv_rd(e->word);
    if (!at)
        return false;
    return_address(r, core, e, store, at - 1);
    if (store) {
        set_bits(r->init->ram[core], RAM_BYTES, at - 1, bytes, !marked);
        return true;
    }
    overwritten(c, rd);
    mark(c, rd, r->init->knows_ram && !all_bits(r->init->ram[core], RAM_BYTES, at - 1, bytes), (uint32_t)e->a, address);
    return true;
}

/* Floating point and vectors: their values are not tracked, and a vector may be anywhere from here on. */
static void stores_other(wg_races *r, unsigned core, const wg_event *e)
{
    const bool scalar = wg_rv_funct3(e->word) == 1 || wg_rv_funct3(e->word) == 2;
    const uint32_t address = (uint32_t)e->parent + (scalar ? wg_rv_imm_s(e->word) : 0), at = own_ram(r, core, address);
    if (at && scalar)
        set_bits(r->init->ram[core], RAM_BYTES, at - 1, access_bytes(e->word), true);
    else if (at)
        memset(r->init->ram[core], 0xFF, sizeof r->init->ram[core]);
}

/* Does the instruction compute, rather than move, mask or shift? */
static bool computes(uint32_t word)
{
    const unsigned f3 = wg_rv_funct3(word);
    if (wg_rv_opcode(word) == IMMEDIATE)
        return (f3 == 0 && wg_rv_imm_i(word)) || f3 == 2 || f3 == 3;
    return wg_rv_funct7(word) == 1 || f3 == 0 || f3 == 2 || f3 == 3;
}

/* xor and sub of one register. */
static bool is_constant(uint32_t word)
{
    const unsigned f3 = wg_rv_funct3(word);
    return wg_rv_opcode(word) == REGISTER && wg_rv_rs1(word) == wg_rv_rs2(word) &&
           (f3 == 4 || (f3 == 0 && wg_rv_funct7(word) == 0x20));
}

static void arithmetic(init_core *c, const wg_event *e)
{
    const unsigned rd = wg_rv_rd(e->word), rs1 = wg_rv_rs1(e->word), rs2 = wg_rv_rs2(e->word);
    const bool two = wg_rv_opcode(e->word) == REGISTER, first = c->marked >> rs1 & 1,
               second = two && c->marked >> rs2 & 1;
    const bool marked = !is_constant(e->word) && (first || second);
    const unsigned from = first ? rs1 : rs2;
    const bool computed = marked && (computes(e->word) || c->computed >> from & 1);
    const uint32_t pc = c->from[from].pc, address = c->from[from].address;
    overwritten(c, rd);
    mark(c, rd, marked, pc, address);
    c->computed |= (uint32_t)(computed && rd) << rd;
}

void wg_race_init_retire(wg_races *r, const wg_event *e)
{
    unsigned core = e->agent - WG_AGENT_CORE_B, op = wg_rv_opcode(e->word);
    if (!r->init || core >= WG_CORES)
        return;
    init_core *c = &r->init->core[core];
    uint32_t pc = (uint32_t)e->a;
    unsigned rd = wg_rv_rd(e->word), rs1 = wg_rv_rs1(e->word), rs2 = wg_rv_rs2(e->word);
    bool first = c->marked >> rs1 & 1, second = c->marked >> rs2 & 1;
    switch (op) {
    case BRANCH:
        if (first || second)
            tell(r, core, pc, e->cycle, first ? rs1 : rs2, "The branch depends on a value that nobody has written.");
        break;
    case JALR:
        if (first)
            tell(r, core, pc, e->cycle, rs1, "The jump's target comes from a value that nobody has written.");
        overwritten(c, rd);
        break;
    case LOAD:
    case ATOMIC:
        if (first)
            tell(r, core, pc, e->cycle, rs1, "The address comes from a value that nobody has written.");
        if (op != LOAD || !in_own_ram(r, core, e, false, false))
            loads(c, e, rd);
        break;
    case LOAD_FP: break;
    case STORE_FP: stores_other(r, core, e); break;
    case STORE:
        if (first)
            tell(r, core, pc, e->cycle, rs1, "The address comes from a value that nobody has written.");
        if (in_own_ram(r, core, e, true, second))
            break;
        if (second && (uint32_t)e->parent + wg_rv_imm_s(e->word) >= r->arch->tensix.l1_bytes) {
            tell(r, core, pc, e->cycle, rs2, "It goes to a register, or to another core, and nobody has written it.");
            break;
        }
        if (c->computed >> rs2 & 1)
            tell(r, core, pc, e->cycle, rs2, "The stored value was computed from one that nobody has written.");
        if (c->next_store - c->last_store == STORES)
            c->last_store++;
        c->store[c->next_store % STORES].pc = pc;
        c->store[c->next_store++ % STORES].marked = second;
        break;
    case IMMEDIATE:
    case REGISTER: arithmetic(c, e); break;
    case LUI:
    case AUIPC:
    case JAL: overwritten(c, rd); break;
    default:
        if (!wg_rv_is_ttinsn(e->word))
            overwritten(c, rd);
        break;
    }
}
