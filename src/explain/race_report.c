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

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

/* From what UNPACR computes its first address: base and offset of each context, and the dimensions of a tile. */
static bool makes_unpack_address(const wg_races *r, uint32_t index, uint32_t mask)
{
    static const uint16_t tiles[] = {WG_CFG_THCON_SEC0_REG0_TileDescriptor, WG_CFG_THCON_SEC1_REG0_TileDescriptor};
    static const uint32_t dimensions[] = {0xFFFF0000, 0x00FF00FF, 0x000000FF}; /* X; Y, Z; W */
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const uint32_t word = (index & 255) - wg_cfg_fields[r->arch_id][tiles[i]].word;
        if (word < sizeof dimensions / sizeof *dimensions)
            return !(mask & ~dimensions[word]);
    }
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
 * (for formats and modes no such use is known, and kernels wait). So is what UNPACR computes its first address from, if a later
 * instruction of its own thread changes it: UNPACR blocks the thread until then (UNPACR_Regular.md, "Performance"), and public matrix
 * products rely on it. For a core that only knows of a SEMGET, and for the address of PACR, it stays a race: kernels have failed there.
 */
static bool read_at_start(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first,
                          uint32_t mask)
{
    if (b->thread & 0x80 || a->how & WG_TOUCH_WRITE)
        return false;
    if (a->unit == WG_RU_READ_MATRIX)
        return wg_race_passed(b, a->thread) >= a->value && space == WG_TOUCH_THREAD_CONFIG &&
               (first & 255) == wg_tcfg_fields[r->arch_id][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word;
    return (a->unit == WG_RU_READ_UNPACK0 || a->unit == WG_RU_READ_UNPACK1) && a->thread == b->thread &&
           b->seq > a->value && space == WG_TOUCH_CONFIG && makes_unpack_address(r, first, mask);
}

static wg_race_kind kind_of(const wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first,
                            unsigned how, uint32_t mask)
{
    bool both = a->how & WG_TOUCH_WRITE && how & WG_TOUCH_WRITE;
    if ((space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG) && read_at_start(r, a, b, space, first, mask))
        return WG_RACE_IN_FLIGHT;
    switch ((wg_touch_space)space) {
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
    case WG_TOUCH_L1:
    case WG_TOUCH_DST:
    case WG_TOUCH_SRC:
    case WG_TOUCH_LREG:
    case WG_TOUCH_ADC:
    case WG_TOUCH_RWC:
    case WG_TOUCH_REPLAY:
    case WG_TOUCH_PACKER:
    case WG_TOUCH_UNPACKER:
    case WG_TOUCH_SPACES: break;
    }
    return WG_RACE_DATA;
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
    } else {
        wg_race_reason(r, a, b, space, first, &why, &cure, race);
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
    wg_race_init_unit(r, b, space, at, mask, place);
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
    if (kind == WG_RACE_VECTOR_HAZARD || kind == WG_RACE_DATA) /* a part of SFPLOADMACRO */
        wg_race_insert_insn(r, race, &race->b, false, "ttsfpnop");
    else if (kind == WG_RACE_TTSYNC_OVERLAP && race->has_a)
        wg_race_insert(race, &race->a, true, WG_INSERT_USE, 0);
    else if (kind == WG_RACE_UNTRACKED)
        wg_race_insert(race, &race->b, false, WG_INSERT_DRAIN, 0);
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

void wg_races_ungraded(wg_races *r, size_t index, const char *reason)
{
    for (size_t i = 0; i < r->races; i++) {
        wg_race *race = &r->race[i];
        const bool needs_one =
            wg_race_severity(race->kind) > WG_SEVERITY_NOTE && wg_race_check(race->kind) == WG_CHECK_RACE;
        if (i == index && race->grade != WG_GRADE_WRONG)
            race->grade = WG_GRADE_NONE;
        if (needs_one && (i == index || index == SIZE_MAX) && race->grade == WG_GRADE_NONE && !race->ungraded)
            race->ungraded = reason;
    }
}

void wg_races_explain(wg_races *r, size_t cause, size_t index)
{
    if (cause >= r->races || index >= r->races)
        return;
    r->race[cause].explains++;
    r->race[index].explained_by = r->race[cause].id;
}

static bool same_agent(const wg_race_party *a, const wg_race_party *b)
{
    return a->agent == b->agent && a->thread == b->thread && a->core == b->core && a->tile == b->tile;
}

bool wg_race_same_parties(const wg_race *a, const wg_race *b)
{
    if (!a->has_a || !b->has_a)
        return a->has_a == b->has_a && same_agent(&a->b, &b->b);
    return (same_agent(&a->a, &b->a) && same_agent(&a->b, &b->b)) ||
           (same_agent(&a->a, &b->b) && same_agent(&a->b, &b->a));
}

/* The same pair elsewhere, as in an unrolled loop: equal opcodes and one location; operands may differ. */
static bool same_instructions(const wg_race *a, const wg_race *b)
{
    return a->a.thread < WG_THREADS && a->b.thread < WG_THREADS && wg_opcode(a->a.word) == wg_opcode(b->a.word) &&
           wg_opcode(a->b.word) == wg_opcode(b->b.word) && a->a.agent == b->a.agent && a->b.agent == b->b.agent &&
           strcmp(a->location, b->location) == 0;
}

static bool same_cause(const wg_race *cause, const wg_race *race)
{
    return cause->has_a && race->has_a && cause->kind == race->kind && wg_race_same_parties(cause, race) &&
           (((cause->a.pc == race->a.pc || cause->b.pc == race->b.pc) && strcmp(cause->remedy, race->remedy) == 0) ||
            same_instructions(cause, race));
}

void wg_races_fold(wg_races *r, wg_race_skip_fn skip, void *user)
{
    for (size_t i = 0; i < r->races; i++) {
        if (r->race[i].explained_by || (skip && skip(user, &r->race[i])))
            continue;
        for (size_t k = i + 1; k < r->races; k++)
            if (!r->race[k].explained_by && !(skip && skip(user, &r->race[k])) && same_cause(&r->race[i], &r->race[k]))
                wg_races_explain(r, i, k);
    }
}
