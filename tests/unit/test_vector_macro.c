/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SFPLOADMACRO against a second, naive model: lane by lane, cycle by cycle, every scheduled instruction an entry with
 * its own counter, as in SFPLOADMACRO.md. Random configuration, different between columns, and random programs; the
 * model takes only the cycle of acceptance from the unit.
 */
#include "vector_rig.h"

#include "num/fma.h"

enum { SIMPLE, MAD, ROUND, STORE, SUBUNITS, LOAD = SUBUNITS };
enum { GROUPS = 512, INT32 = 4 };

/* An instruction with its operands resolved; `op` is the opcode. */
typedef struct insn {
    uint8_t op, va, vb, vc, vd, mod;
    uint16_t imm12, imm16, address;
} insn;

typedef struct entry {
    bool used, by_instruction;
    uint8_t delay;
    insn what;
} entry;

typedef struct model {
    wg_arch_id arch;
    uint64_t now;
    uint32_t l[17][32], dst[GROUPS][32], enabled;
    wg_load_macro config[8];
    entry future[SUBUNITS][32][8]; /* [sub-unit][lane]: no two of one delay */
    struct {
        bool used;
        uint64_t land;
        uint32_t value;
    } late[17][32][3];
} model;

/* ---- One lane ---- */

static int subunit_of(uint8_t op)
{
    switch (op) {
    case 0x79:
    case 0x7C:
    case 0x7D:
    case 0x80:
    case 0x8D: return SIMPLE;
    case 0x74:
    case 0x75:
    case 0x84: return MAD;
    case 0x94: return ROUND;
    case 0x72: return STORE;
    default: return LOAD;
    }
}

/* VB or VC is VD if the instruction has no such operand. */
static insn parse(uint32_t word)
{
    insn i = {.op = (uint8_t)(word >> 24),
              .va = word >> 16 & 15,
              .vb = word >> 12 & 15,
              .vc = word >> 8 & 15,
              .vd = word >> 4 & 15,
              .mod = word & 15,
              .imm12 = word >> 12 & 0xFFF,
              .imm16 = word >> 8 & 0xFFFF};
    if (i.op >= 0x70 && i.op <= 0x73) {
        i.vd = word >> 20 & 15;
        i.mod = word >> 16 & 15;
        i.imm16 = word & 0xFFFF;
    }
    if (subunit_of(i.op) == SIMPLE)
        i.vb = i.vd;
    if (i.op == 0x74 || i.op == 0x75)
        i.vb = i.vc = i.vd;
    return i;
}

static uint32_t fma1(const model *m, uint32_t a, uint32_t b, uint32_t c)
{
    return m->arch == WG_ARCH_BH ? wg_fma_bh(a, b, c) : wg_fma_wh(a, b, c);
}

/* The lane's result; it reads the values at the start of the cycle, or for an issued instruction the current ones. */
static uint32_t value(const model *m, const insn *i, unsigned lane)
{
    uint32_t a = m->l[i->va][lane], b = m->l[i->vb][lane], c = m->l[i->vc][lane];
    int32_t by;
    switch (i->op) {
    case 0x71: return (uint32_t)i->imm16 << 16;
    case 0x74: return fma1(m, (uint32_t)i->imm16 << 16, c, 0);
    case 0x75: return fma1(m, 0x3F800000, (uint32_t)i->imm16 << 16, c);
    case 0x79: return i->mod & 1 ? c + (uint32_t)((int32_t)((uint32_t)i->imm12 << 20) >> 20) : c + b;
    case 0x7C: return i->mod == 1 ? c ^ 0x80000000 : c;
    case 0x7D: return i->mod == 0 && c >> 31 ? 0 - c : c;
    case 0x80: return ~c;
    case 0x84: return fma1(m, a, b, c);
    case 0x8D: return b ^ c;
    case 0x94: /* mode 5: VB shifted by VC, right if VC is negative */
        by = (int32_t)c;
        return by >= 0 ? b << (by & 31) : b >> (-by & 31);
    default: return 0;
    }
}

static void write_late(model *m, unsigned reg, unsigned lane, uint32_t x, uint64_t land)
{
    if (!(reg < 8 || reg == 16))
        return;
    for (unsigned k = 0; k < 3; k++) /* if two land in one cycle, the younger stays */
        if (m->late[reg][lane][k].used && m->late[reg][lane][k].land == land)
            m->late[reg][lane][k].used = false;
    for (unsigned k = 0; k < 3; k++)
        if (!m->late[reg][lane][k].used) {
            m->late[reg][lane][k].used = true;
            m->late[reg][lane][k].land = land;
            m->late[reg][lane][k].value = x;
            return;
        }
    fail_msg("more than three results on their way to one register");
}

static void execute(model *m, const insn *i, unsigned lane)
{
    if (!(m->enabled >> lane & 1) || i->op == 0x8F)
        return;
    if (i->op == 0x72)
        m->dst[i->address >> 1 & 511][lane] = m->l[i->vd][lane];
    else
        write_late(m, i->vd, lane, value(m, i, lane), m->now + (subunit_of(i->op) == MAD ? 2 : 1));
}

/* ---- The unit ---- */

static void schedule(model *m, unsigned lane, uint32_t word)
{
    const wg_load_macro *c = &m->config[lane & 7];
    unsigned vd = (word & 1) << 2 | (word >> 20 & 3), macro = word >> 22 & 3;
    for (unsigned unit = 0; unit < SUBUNITS; unit++) {
        unsigned bits = c->sequence[macro] >> (unit * 8) & 0xFF, delay = bits >> 3 & 7;
        entry *future = m->future[unit][lane];
        if (!(bits & 7)) /* differs from the page: see decisions.md */
            continue;
        for (unsigned k = 0; delay != 7 && k < 8; k++)
            if (future[k].used && future[k].delay == delay)
                future[k].used = false;
        insn i = parse((bits & 7) == 2 ? 0x8F000000u : (bits & 7) == 3 ? 0x72000000u : c->instruction[(bits & 7) - 4]);
        if (subunit_of(i.op) != (int)unit)
            i = parse(0x8F000000u);
        if (unit == STORE) {
            i.vd = (uint8_t)(bits & 0x40 ? 16 : bits & 0x80 ? i.vd : vd);
            i.address = word & 0x3FF;
        } else {
            if (bits & 0x80)
                i.vb = (uint8_t)vd;
            else
                i.vc = (uint8_t)vd;
            i.vd = (uint8_t)(bits & 0x40 ? 16 : vd);
        }
        for (unsigned k = 0; k < 8; k++)
            if (!future[k].used) {
                future[k] = (entry){true, c->misc >> (8 + unit) & 1, (uint8_t)delay, i};
                break;
            }
    }
}

static void count_down(model *m, bool issued)
{
    bool by_instruction = false;
    for (unsigned unit = 0; unit < SUBUNITS; unit++)
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned k = 0; k < 8; k++)
                by_instruction |= m->future[unit][lane][k].used && m->future[unit][lane][k].by_instruction;
    if (by_instruction && !issued)
        return;
    for (unsigned unit = 0; unit < SUBUNITS; unit++)
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned k = 0; k < 8; k++)
                if (m->future[unit][lane][k].used && m->future[unit][lane][k].delay)
                    m->future[unit][lane][k].delay--;
}

/* One cycle; word 0: nothing is issued in it. */
static void cycle(model *m, uint32_t word)
{
    for (unsigned reg = 0; reg < 17; reg++)
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned k = 0; k < 3; k++)
                if (m->late[reg][lane][k].used && m->late[reg][lane][k].land <= m->now) {
                    m->l[reg][lane] = m->late[reg][lane][k].value;
                    m->late[reg][lane][k].used = false;
                }
    /* Entries that reached zero in an earlier cycle run. */
    unsigned ran = 0;
    for (unsigned unit = 0; unit < SUBUNITS; unit++)
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned k = 0; k < 8; k++) {
                entry *e = &m->future[unit][lane][k];
                if (!e->used || e->delay)
                    continue;
                ran |= 1u << unit;
                execute(m, &e->what, lane);
                e->used = false;
            }
    if (word) {
        insn i = parse(word);
        int unit = subunit_of(i.op);
        if (i.op == 0x93) {
            unsigned vd = (word & 1) << 2 | (word >> 20 & 3);
            count_down(m, true);
            for (unsigned lane = 0; lane < 32; lane++) {
                if (m->enabled >> lane & 1)
                    write_late(m, vd, lane, m->dst[word >> 1 & 511][lane], m->now + 1);
                schedule(m, lane, word);
            }
        } else {
            count_down(m, true);
            i.address = word & 0x3FF;
            if (i.op != 0x8F && !(unit < SUBUNITS && ran >> unit & 1)) /* else a scheduled one occupies it */
                for (unsigned lane = 0; lane < 32; lane++)
                    execute(m, &i, lane);
        }
    } else {
        count_down(m, false);
    }
    m->now++;
}

/* ---- Random programs ---- */

static uint32_t number(wg_rng *rng)
{
    return ((uint32_t)wg_rng_next(rng) & 0x807FFFFF) | (120 + wg_rng_below(rng, 14)) << 23;
}

static uint32_t some_template(wg_rng *rng)
{
    unsigned a = wg_rng_below(rng, 8), b = wg_rng_below(rng, 8), c = wg_rng_below(rng, 8), d = wg_rng_below(rng, 8);
    switch (wg_rng_below(rng, 10)) {
    case 0: return SFPMOV(c, d, wg_rng_below(rng, 2));
    case 1: return SFPIADD(wg_rng_below(rng, 0x1000), c, d, 5);
    case 2: return SFPIADD(0, c, d, 4);
    case 3: return I_ABC(0x80, 0, 0, c, d, 0);
    case 4: return I_ABC(0x8D, 0, 0, c, d, 0);
    case 5: return SFPMAD(a, b, c, d, 0);
    case 6: return SFPMULI(0x3F80 + wg_rng_below(rng, 0x100), d, 0);
    case 7: return (0x75u << 24) | (0x3F80 + wg_rng_below(rng, 0x100)) << 8 | d << 4;
    case 8: return SFPSHFT2(b, c, d, 5);
    default: return SFPSTORE(d, INT32, 0);
    }
}

static void configure(wg_rng *rng, wg_load_macro *c)
{
    for (unsigned i = 0; i < 4; i++)
        c->instruction[i] = some_template(rng);
    for (unsigned i = 0; i < 4; i++) {
        c->sequence[i] = 0;
        for (unsigned unit = 0; unit < SUBUNITS; unit++) {
            unsigned choice = wg_rng_below(rng, 8);
            choice = choice == 1 ? 0 : choice; /* 1 is undefined */
            if (unit == STORE)                 /* a store, or nothing: equal in all lanes */
                choice = i & 1 ? 3 : 0;
            unsigned flags = wg_rng_below(rng, 4) << 6;
            c->sequence[i] |= (flags | wg_rng_below(rng, 8) << 3 | choice) << (unit * 8);
        }
    }
    c->misc = (uint16_t)(INT32 | wg_rng_below(rng, 16) << 4 | (wg_rng_below(rng, 3) ? 0 : wg_rng_below(rng, 16)) << 8);
}

static uint32_t some_regular(wg_rng *rng)
{
    unsigned d = wg_rng_below(rng, 8);
    switch (wg_rng_below(rng, 6)) {
    case 0: return SFPMOV(wg_rng_below(rng, 8), d, 0);
    case 1: return SFPLOADI(d, 0, 0x3F80 + wg_rng_below(rng, 0x100));
    case 2: return SFPSTORE(d, INT32, wg_rng_below(rng, 64) * 2);
    case 3: return SFPMAD(wg_rng_below(rng, 8), wg_rng_below(rng, 8), wg_rng_below(rng, 8), d, 0);
    case 4: return SFPIADD(wg_rng_below(rng, 0x1000), wg_rng_below(rng, 8), d, 5);
    default: return SFPNOP;
    }
}

static void program(wg_arch_id arch, wg_rng *rng, unsigned number_of)
{
    static model m;
    rig *r = rig_new(arch);
    memset(&m, 0, sizeof m);
    m.arch = arch;
    m.enabled = wg_rng_below(rng, 3) ? ~0u : (uint32_t)wg_rng_next(rng);
    rig_enable(r, m.enabled);
    wg_load_macro base;
    configure(rng, &base);
    for (unsigned c = 0; c < 8; c++) {
        if (wg_rng_below(rng, 4) == 0) { /* another column differs, except for the stores */
            wg_load_macro other;
            configure(rng, &other);
            for (unsigned i = 0; i < 4; i++)
                other.sequence[i] = (other.sequence[i] & 0xFFFFFF) | (base.sequence[i] & 0xFF000000);
            other.misc = base.misc;
            m.config[c] = other;
        } else {
            m.config[c] = base;
        }
        r->t->regs.lreg.macro[c] = m.config[c];
    }
    memcpy(m.l, r->t->regs.lreg.l, sizeof m.l);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned reg = 0; reg < 8; reg++)
            m.l[reg][lane] = r->t->regs.lreg.l[reg][lane] = number(rng);
    for (unsigned g = 0; g < 64; g++) {
        rig_fill(r, 0, number(rng));
        uint32_t keep[32];
        memcpy(keep, m.l[0], sizeof keep);
        r->t->regs.lreg.pred.use = 0;
        rig_do(r, SFPSTORE(0, INT32, g * 2));
        memcpy(m.dst[g], rig_lreg(r, 0), sizeof m.dst[g]);
        memcpy(rig_lreg(r, 0), keep, sizeof keep);
        rig_enable(r, m.enabled);
    }
    m.now = r->t->sched.now;
    for (unsigned step = 0; step < 40; step++) {
        if (wg_rng_below(rng, 4) == 0) {
            rig_idle(r, 1);
            cycle(&m, 0);
            continue;
        }
        unsigned macro = wg_rng_below(rng, 4), vd = wg_rng_below(rng, 8), group = wg_rng_below(rng, 64);
        uint32_t word = wg_rng_below(rng, 3) ? some_regular(rng) : SFPLOADMACRO(macro, vd, INT32, group * 2);
        uint64_t at = rig_issue(r, word);
        while (m.now < at)
            cycle(&m, 0);
        cycle(&m, word);
    }
    for (unsigned i = 0; i < 24; i++) { /* provide instructions for those that count them */
        uint64_t at = rig_issue(r, SFPNOP);
        while (m.now < at)
            cycle(&m, 0);
        cycle(&m, SFPNOP);
    }
    rig_idle(r, 4);
    for (unsigned i = 0; i < 4; i++)
        cycle(&m, 0);
    for (unsigned reg = 0; reg < 17; reg++)
        for (unsigned lane = 0; lane < 32; lane++)
            if ((reg < 8 || reg == 16) && m.l[reg][lane] != rig_lreg(r, reg)[lane])
                fail_msg("program %u: LReg %u, lane %u: %08x, by the page %08x", number_of, reg, lane,
                         rig_lreg(r, reg)[lane], m.l[reg][lane]);
    r->t->regs.lreg.pred.use = 0;
    for (unsigned g = 0; g < 64; g++) {
        rig_do(r, SFPLOAD(0, INT32, g * 2));
        for (unsigned lane = 0; lane < 32; lane++)
            if (rig_lreg(r, 0)[lane] != m.dst[g][lane])
                fail_msg("program %u: Dst group %u, lane %u: %08x, by the page %08x", number_of, g, lane,
                         rig_lreg(r, 0)[lane], m.dst[g][lane]);
    }
    rig_free(r);
}

static void test_against_the_page(void **state)
{
    wg_rng rng = {31};
    for (unsigned i = 0; i < 1500; i++) {
        wg_test_round("program", i);
        program(wg_test_arch(state), &rng, i);
    }
}

/*
 * A macro that skips a sub-unit also leaves alone what others have scheduled there, even in the very cycle of its delay
 * field; one that has SFPNOP run there replaces it.
 */
static void test_left_alone(void **state)
{
    enum { NOTHING = 0, A_NOP = 2, TEMPLATE = 4 };
    for (unsigned second = NOTHING; second <= A_NOP; second += A_NOP) {
        rig *r = rig_new(wg_test_arch(state));
        rig_enable(r, ~0u);
        for (unsigned c = 0; c < 8; c++)
            r->t->regs.lreg.macro[c] = (wg_load_macro){
                .instruction = {SFPMULI(0x4000, 0, 0)},                           /* times 2 */
                .sequence = {(2u << 3 | TEMPLATE) << 8, (0u << 3 | second) << 8}, /* MAD: three cycles on, one on */
                .misc = INT32 | 15u << 4};
        rig_fill(r, 0, 0x3F800000);
        rig_do(r, SFPSTORE(0, INT32, 0));
        rig_fill(r, 3, 0);
        rig_issue(r, SFPLOADMACRO(0, 3, INT32, 0));
        rig_issue(r, SFPNOP);
        rig_issue(r, SFPLOADMACRO(1, 4, INT32, 0));
        rig_idle(r, 6);
        assert_int_equal(rig_lreg(r, 3)[5], second == NOTHING ? 0x40000000 : 0x3F800000);
        rig_free(r);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_left_alone, WG_BH | WG_WH, ""),
    WG_COVERS(test_against_the_page, WG_BH | WG_WH, "", "SFPLOADMACRO:value SFPLOADMACRO:timing"),
};
WG_MAIN("vector_macro", tests)
