/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads that spin: a loop that stores nothing reads one location repeatedly and ends when the value is right.
 *
 *     again:  lw t0, 0(t1)        the code decides, not the run: it spins even if the first read ends the loop
 *             bne t0, t2, again
 *
 * The code after the load is analysed as a graph. At each place, each register holds a known number or a name for its
 * computation, so that two loads of one location are recognised whatever registers they use. It is also known whether a
 * register depends on the load's value. The stack is private to the core: stores there are allowed and tracked. Calls are
 * followed one level deep.
 *
 *     direct    a path leads back to the load, and a branch that depends on its value decides whether it is taken
 *     peeled    there is no such path, but another load of the location that spins directly comes next, always or by
 *               a branch that depends on the value (compilers peel the first iteration)
 */
#include "explain/race_state.h"
#include "isa/riscv_word.h"

#include <stdlib.h>

enum { LOOK = 96, SLOTS = 8, SP = 2, RA = 1, S0 = 8, PROLOGUE = 64, BLOCK = 16, VARIABLES = 4 };
enum {
    KNOWN = 1,
    ON_STACK = 2,
    FROM_LOAD = 4
}; /* of a value: it is a number; an offset from sp; computed from the load */

/* What a register holds. */
typedef struct value {
    uint64_t name; /* equal names mean equal values; 0: unknown */
    uint32_t number;
    uint8_t is;
} value;

typedef struct rv {
    uint32_t word;
    uint8_t op, rd, rs1, rs2, kind; /* kind: funct3 */
} rv;

/* A place in the code, and the knowledge on reaching it. */
typedef struct spot {
    uint32_t pc, back_to; /* back_to: in a function that was called from here, where it returns to; 0: it is not */
    uint32_t pointer;     /* value of the load's address register … */
    bool numbered;        /* … if it is a number */
    bool moved;           /* the pointer would be computed from other values than before the load */
    rv i;
    int8_t next[2]; /* -1: none, or outside the code examined */
    bool reached, same_place;
    bool home;          /* the load itself can be reached */
    bool counts;        /* a load of the location that belongs to the spin */
    bool again, always; /* some path leads to one of those; none leaves without it */
    value x[32];
    struct {
        int32_t at; /* from sp, as it was at the load */
        bool used;
        value held;
    } slot[SLOTS];
} spot;

struct wg_race_code {
    spot spot[LOOK];
    unsigned count;
    value computed;              /* the load's pointer as the code just before it computes it; no name: it does not */
    uint32_t inputs;             /* registers that it computes the pointer from, by bit … */
    int32_t variable[VARIABLES]; /* … and words of the stack */
    unsigned variables;
};

bool wg_race_code_make(wg_races *r)
{
    r->looked_at = calloc(2, sizeof *r->looked_at); /* one for the load examined, one for the load it leads to */
    r->bytes += 2 * sizeof *r->looked_at;
    return r->looked_at != NULL;
}
void wg_race_code_free(wg_races *r) { free(r->looked_at); }

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

static bool fetch(wg_races *r, unsigned core, uint32_t pc, rv *out)
{
    uint32_t w;
    if (!r->code || !r->code(r->user, core, pc, &w))
        return false;
    *out = (rv){w, w & 0x7F, w >> 7 & 31, w >> 15 & 31, w >> 20 & 31, w >> 12 & 7};
    return true;
}

static bool is_load(const rv *i) { return i->op == 0x03 || i->op == 0x07; }
static bool is_branch(const rv *i) { return i->op == 0x63; }

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return (h ^ h >> 29) | 1;
}

static value number(uint32_t n) { return (value){mix(1, n), n, KNOWN}; }
static value stack(int32_t at) { return (value){mix(2, (uint32_t)at), (uint32_t)at, ON_STACK}; }
static value named(uint64_t what, value from, uint64_t with)
{
    return (value){from.name ? mix(mix(from.name, what), with) : 0, 0, from.is & FROM_LOAD};
}

static value plus(value v, uint32_t n)
{
    value out;
    if (!n)
        return v;
    if (v.is & KNOWN)
        out = number(v.number + n);
    else if (v.is & ON_STACK)
        out = stack((int32_t)(v.number + n));
    else
        return named(3, v, n);
    out.is |= v.is & FROM_LOAD;
    return out;
}

static value joined(value a, value b)
{
    uint8_t tainted = (a.is | b.is) & FROM_LOAD;
    value out = a.name == b.name ? a : (value){0};
    out.is = (uint8_t)((out.is & ~FROM_LOAD) | tainted);
    return out;
}

/* Arithmetic. Equal operations on equal operands give equal values. */
static value result(const spot *s)
{
    const rv *i = &s->i;
    value a = s->x[i->rs1], b = i->op == 0x33 ? s->x[i->rs2] : number(wg_rv_imm_i(i->word));
    bool adds = i->kind == 0 && !(i->op == 0x33 && i->word >> 25);
    uint8_t tainted = (a.is | b.is) & FROM_LOAD;
    value out;
    if (adds && b.is & KNOWN)
        out = plus(a, b.number);
    else if (adds && a.is & KNOWN)
        out = plus(b, a.number);
    else if (i->kind == 1 && a.is & KNOWN && b.is & KNOWN)
        out = number(a.number << (b.number & 31));
    else if (!a.name || !b.name)
        out = (value){0};
    else
        out = named(0x1000u | (uint64_t)i->op << 16 | (uint64_t)i->kind << 4 | i->word >> 30, a, b.name);
    out.is |= tainted;
    return out;
}

/* Memory does not change as long as only the stack is stored to. */
static value loaded(const spot *s)
{
    value at = plus(s->x[s->i.rs1], wg_rv_imm_i(s->i.word));
    for (unsigned k = 0; at.is & ON_STACK && k < SLOTS; k++)
        if (s->slot[k].used && s->slot[k].at == (int32_t)at.number)
            return s->i.kind == 2 ? s->slot[k].held : (value){.is = s->slot[k].held.is & FROM_LOAD};
    at.is &= (uint8_t)~FROM_LOAD;
    return named(4, at, s->i.kind);
}

/* False: not a store to the stack, or no room to track it. */
static bool store(spot *after, const spot *s)
{
    value at = plus(s->x[s->i.rs1], wg_rv_imm_s(s->i.word));
    if (s->i.op != 0x23 || !(at.is & ON_STACK))
        return false;
    int room = -1;
    for (int k = SLOTS - 1; k >= 0; k--)
        if (!after->slot[k].used || after->slot[k].at == (int32_t)at.number)
            room = k;
    for (int k = 0; k < SLOTS; k++)
        if (after->slot[k].used && after->slot[k].at == (int32_t)at.number)
            room = k;
    if (room < 0)
        return false;
    after->slot[room].at = (int32_t)at.number;
    after->slot[room].used = true;
    after->slot[room].held = s->i.kind == 2 ? s->x[s->i.rs2] : (value){.is = s->x[s->i.rs2].is & FROM_LOAD};
    return true;
}

/* ---- The graph ------------------------------------------------------------------------------------------------- */

/*
 * Does the load read the same address in every iteration? The run gives the address as a number; code that recomputes
 * it gives it a name. If the code just before the load computes it, too, the names must be equal.
 */
static bool same_pointer(const struct wg_race_code *c, const spot *after)
{
    const spot *load = &c->spot[0];
    value now = after->x[load->i.rs1], was = load->x[load->i.rs1];
    return now.name &&
           (now.name == was.name || (!(now.is & KNOWN) && (!c->computed.name || now.name == c->computed.name)));
}

/* What the stack holds at the load. */
static value held_at_first(int32_t at) { return named(4, stack(at), 2); }

static bool has_moved(const struct wg_race_code *c, const spot *after)
{
    for (uint32_t left = c->inputs; left; left &= left - 1) {
        const unsigned k = (unsigned)__builtin_ctz(left);
        if (!(c->spot[0].x[k].is & ON_STACK) && after->x[k].name != c->spot[0].x[k].name)
            return true;
    }
    for (unsigned n = 0; n < c->variables; n++)
        for (unsigned k = 0; k < SLOTS; k++)
            if (after->slot[k].used && after->slot[k].at == c->variable[n] &&
                after->slot[k].held.name != held_at_first(c->variable[n]).name)
                return true;
    return false;
}

/* The place after `after`, one for each value that the load's pointer may have. -1: none is examined. */
static int8_t spot_at(struct wg_race_code *c, uint32_t pc, uint32_t back_to, const spot *after)
{
    const spot *load = &c->spot[0];
    value pointer = after->x[load->i.rs1];
    if (pc == load->pc && back_to == load->back_to && same_pointer(c, after))
        return 0;
    if (pc == load->pc && c->computed.name && pointer.name && !(pointer.is & KNOWN))
        return -1; /* the loop reads another location next */
    const bool moved = has_moved(c, after);
    for (unsigned i = 1; i < c->count; i++)
        if (c->spot[i].pc == pc && c->spot[i].back_to == back_to && c->spot[i].numbered == !!(pointer.is & KNOWN) &&
            c->spot[i].pointer == (pointer.is & KNOWN ? pointer.number : 0) && c->spot[i].moved == moved)
            return (int8_t)i;
    if (c->count == LOOK)
        return -1;
    c->spot[c->count] = (spot){.pc = pc,
                               .back_to = back_to,
                               .next = {-1, -1},
                               .pointer = pointer.is & KNOWN ? pointer.number : 0,
                               .numbered = pointer.is & KNOWN,
                               .moved = moved};
    return (int8_t)c->count++;
}

/*
 * Merges the knowledge after one place into the next. Only facts common to all paths remain. True: something changed.
 */
static bool flow_into(spot *to, const spot *after, bool is_load_again)
{
    if (!to->reached) {
        to->reached = true;
        memcpy(to->x, after->x, sizeof to->x);
        memcpy(to->slot, after->slot, sizeof to->slot);
        return true;
    }
    bool changed = false;
    for (unsigned k = 1; k < 32; k++) {
        value v = joined(to->x[k], after->x[k]);
        if (is_load_again && k == to->i.rs1)
            v = to->x[k];
        changed |= v.name != to->x[k].name || v.is != to->x[k].is;
        to->x[k] = v;
    }
    for (unsigned k = 0; k < SLOTS; k++)
        for (unsigned side = 0; side < 2; side++) {
            const spot *from = side ? after : to, *other = side ? to : after;
            if (!from->slot[k].used)
                continue;
            int found = -1, room = -1;
            for (int n = 0; n < SLOTS; n++) {
                if (other->slot[n].used && other->slot[n].at == from->slot[k].at)
                    found = n;
                else if (!other->slot[n].used && room < 0)
                    room = n;
            }
            value theirs = found >= 0 ? other->slot[found].held : held_at_first(from->slot[k].at);
            value v = joined(from->slot[k].held, theirs);
            int mine = side ? (found >= 0 ? found : room) : (int)k;
            if (mine < 0)
                continue;
            changed |= !to->slot[mine].used || v.name != to->slot[mine].held.name || v.is != to->slot[mine].held.is;
            to->slot[mine].at = from->slot[k].at;
            to->slot[mine].used = true;
            to->slot[mine].held = v;
        }
    return changed;
}

/* Computes the knowledge after s, and its successors: at most two. Returns their number. */
static unsigned step(const spot *s, spot *after, uint32_t to[2], uint32_t back_to[2], bool first)
{
    const rv *i = &s->i;
    memcpy(after->x, s->x, sizeof after->x);
    memcpy(after->slot, s->slot, sizeof after->slot);
    to[0] = s->pc + 4;
    back_to[0] = back_to[1] = s->back_to;
    value put = {0};
    bool puts = true;
    if ((i->word & 3) != 3)
        return 0; /* a Tensix instruction is a store */
    switch (i->op) {
    case 0x13:
    case 0x33: put = result(s); break;
    case 0x37: put = number(i->word & 0xFFFFF000u); break;
    case 0x17: put = number(s->pc + (i->word & 0xFFFFF000u)); break;
    case 0x03: put = first ? (value){mix(5, 0), 0, FROM_LOAD} : loaded(s); break;
    case 0x07:
    case 0x0F: puts = false; break;
    case 0x23:
        puts = false;
        if (!store(after, s))
            return 0;
        break;
    case 0x63: to[1] = s->pc + wg_rv_imm_b(i->word); return 2;
    case 0x6F:
        to[0] = s->pc + wg_rv_imm_j(i->word);
        put = number(s->pc + 4);
        if (i->rd && s->back_to)
            return 0; /* calls are followed one level deep */
        if (i->rd)
            back_to[0] = s->pc + 4;
        break;
    case 0x67:
        if (i->rd || i->rs1 != RA || !s->back_to || !(s->x[RA].is & KNOWN) || s->x[RA].number != s->back_to)
            return 0;
        to[0] = s->back_to;
        back_to[0] = 0;
        puts = false;
        break;
    case 0x73: /* a CSR's value is unknown; CSR writes do not affect memory */ break;
    default: return 0;
    }
    if (puts && i->rd)
        after->x[i->rd] = put;
    return 1;
}

/* At -O0 the function's prologue computes the frame pointer from sp. */
static value frame_pointer(wg_races *r, unsigned core, uint32_t pc)
{
    rv i;
    for (unsigned k = 1; k <= PROLOGUE && fetch(r, core, pc - 4 * k, &i); k++) {
        if (i.op == 0x67)
            break; /* the end of the previous function */
        if (i.op == 0x13 && i.kind == 0 && i.rd == S0)
            return i.rs1 == SP ? stack((int32_t)wg_rv_imm_i(i.word)) : (value){mix(6, S0), 0, 0};
    }
    return (value){mix(6, S0), 0, 0};
}

/* An instruction that only computes, other than sp. */
static bool computes(const rv *i)
{
    return (i->op == 0x03 || i->op == 0x13 || i->op == 0x17 || i->op == 0x33 || i->op == 0x37) && i->rd != SP;
}

/* Names registers as the code just before the load computes them. */
static void compute_before(wg_races *r, struct wg_race_code *c, unsigned core)
{
    spot *load = &c->spot[0], s = *load, after;
    uint32_t to[2], back_to[2], read = 0, written = 1;
    c->variables = 0;
    while (load->pc - s.pc < 4 * BLOCK && s.pc >= 4 && fetch(r, core, s.pc - 4, &s.i) && computes(&s.i))
        s.pc -= 4;
    for (; s.pc != load->pc && fetch(r, core, s.pc, &s.i); s.pc += 4) {
        const value at = plus(s.x[s.i.rs1], wg_rv_imm_i(s.i.word));
        if (is_load(&s.i) && at.is & ON_STACK && c->variables < VARIABLES)
            c->variable[c->variables++] = (int32_t)at.number;
        step(&s, &after, to, back_to, false);
        memcpy(s.x, after.x, sizeof s.x);
        read |= (s.i.op & 0x1F) == 0x17 ? 0 : 1u << s.i.rs1 | (s.i.op == 0x33 ? 1u << s.i.rs2 : 0);
        written |= 1u << s.i.rd;
    }
    memcpy(load->x, s.x, sizeof load->x);
    c->computed = written >> load->i.rs1 & 1 && !(s.x[load->i.rs1].is & KNOWN) ? s.x[load->i.rs1] : (value){0};
    c->inputs = c->computed.name ? read & ~written : 0;
    c->variables = c->computed.name ? c->variables : 0;
}

/* Examines the code after the load at pc, which read `address`. False: there is no load. */
static bool look_around(wg_races *r, struct wg_race_code *c, unsigned core, uint32_t pc, uint32_t address)
{
    spot *load = &c->spot[0];
    c->count = 1;
    *load = (spot){.pc = pc, .next = {-1, -1}};
    if (!fetch(r, core, pc, &load->i) || !is_load(&load->i) || !load->i.rd)
        return false;
    for (unsigned k = 1; k < 32; k++)
        load->x[k] = (value){mix(6, k), 0, 0};
    load->x[0] = number(0);
    load->x[SP] = stack(0);
    load->x[S0] = frame_pointer(r, core, pc);
    compute_before(r, c, core);
    load->x[load->i.rs1] = number(address - wg_rv_imm_i(load->i.word));
    load->reached = true;
    for (unsigned rounds = 0, more = 1; more && rounds < LOOK; rounds++) {
        more = 0;
        for (unsigned at = 0; at < c->count; at++) {
            spot *s = &c->spot[at];
            if (!s->reached || (at && !s->i.word && !fetch(r, core, s->pc, &s->i)))
                continue;
            spot after;
            uint32_t to[2], back_to[2];
            unsigned ways = step(s, &after, to, back_to, at == 0);
            for (unsigned k = 0; k < 2; k++) {
                int8_t next = k < ways ? spot_at(c, to[k], back_to[k], &after) : -1;
                more |= next != s->next[k];
                s->next[k] = next;
                if (next >= 0)
                    more |= flow_into(&c->spot[next], &after, next == 0);
            }
        }
    }
    return true;
}

/* Finds the loads that read the location, and the places from which the load itself can be reached. */
static void find_places(struct wg_race_code *c, uint32_t address)
{
    const rv *load = &c->spot[0].i;
    for (unsigned at = 0; at < c->count; at++) {
        spot *s = &c->spot[at];
        value from = plus(s->x[s->i.rs1], wg_rv_imm_i(s->i.word));
        s->same_place = at == 0 || (s->reached && s->i.op == load->op && s->i.kind == load->kind && from.is & KNOWN &&
                                    from.number == address);
        s->home = false;
    }
    for (bool more = true; more;) {
        more = false;
        for (unsigned at = 0; at < c->count; at++) {
            spot *s = &c->spot[at];
            bool home = false;
            for (unsigned k = 0; k < 2; k++)
                home |= s->next[k] == 0 || (s->next[k] > 0 && c->spot[s->next[k]].home);
            more |= home != s->home;
            s->home = home;
        }
    }
}

/*
 * Finds the places from which some path leads to such a load, and those from which none leaves without it: it may go round
 * another load of the loop for as long as it likes.
 */
static void find_ways(struct wg_race_code *c)
{
    for (unsigned at = 0; at < c->count; at++)
        c->spot[at].again = false;
    for (bool more = true; more;) {
        more = false;
        for (unsigned at = 0; at < c->count; at++) {
            spot *s = &c->spot[at];
            bool again = false;
            for (unsigned k = 0; k < 2; k++)
                again |= s->next[k] >= 0 && (c->spot[s->next[k]].counts || c->spot[s->next[k]].again);
            more |= again != s->again;
            s->again = again;
        }
    }
    for (unsigned at = 0; at < c->count; at++)
        c->spot[at].always = c->spot[at].again;
    for (bool more = true; more;) {
        more = false;
        for (unsigned at = 0; at < c->count; at++) {
            spot *s = &c->spot[at];
            bool always = s->always;
            for (unsigned k = 0; k < (is_branch(&s->i) ? 2u : 1u); k++)
                always &= s->next[k] >= 0 && (c->spot[s->next[k]].counts || c->spot[s->next[k]].always);
            more |= always != s->always;
            s->always = always;
        }
    }
}

/*
 * Is there a branch that depends on the load, with one path back to the location and the other leading, or possibly leading,
 * elsewhere?
 */
static bool decides(const struct wg_race_code *c)
{
    for (unsigned at = 1; at < c->count; at++) {
        const spot *s = &c->spot[at];
        if (!s->reached || !is_branch(&s->i) || !((s->x[s->i.rs1].is | s->x[s->i.rs2].is) & FROM_LOAD))
            continue;
        bool again[2], always[2];
        for (unsigned k = 0; k < 2; k++) {
            const spot *to = s->next[k] < 0 ? NULL : &c->spot[s->next[k]];
            again[k] = to && (to->counts || to->again);
            always[k] = to && (to->counts || to->always);
        }
        for (unsigned k = 0; k < 2; k++)
            if (again[k] && (!again[!k] || (always[k] && !always[!k])))
                return true;
    }
    return false;
}

static bool spins_directly(struct wg_race_code *c, uint32_t address)
{
    find_places(c, address);
    for (unsigned at = 0; at < c->count; at++) /* those of the loop */
        c->spot[at].counts = c->spot[at].same_place && c->spot[at].home;
    find_ways(c);
    return c->spot[0].home && decides(c);
}

static bool spins(wg_races *r, unsigned core, uint32_t pc, uint32_t address)
{
    struct wg_race_code *here = &r->looked_at[0], *there = &r->looked_at[1];
    if (!look_around(r, here, core, pc, address))
        return false;
    if (spins_directly(here, address))
        return true;
    bool any = false;
    for (unsigned at = 0; at < here->count; at++) {
        spot *s = &here->spot[at];
        s->counts =
            at && s->same_place && look_around(r, there, core, s->pc, address) && spins_directly(there, address);
        any |= s->counts;
    }
    if (!any)
        return false;
    find_ways(here);
    return here->spot[0].always || decides(here);
}

bool wg_race_spins(wg_races *r, unsigned core, uint32_t pc, uint32_t address)
{
    unsigned slot = (pc >> 2 ^ core * 131) % (sizeof r->spin / sizeof r->spin[0]);
    if (r->spin[slot].pc != pc || r->spin[slot].core != core) {
        r->spin[slot].pc = pc;
        r->spin[slot].core = (uint8_t)core;
        r->spin[slot].spins = spins(r, core, pc, address);
    }
    return r->spin[slot].spins;
}
