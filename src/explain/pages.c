/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a polling loop: what it loads from, and which value ends it. The registers at the hang tell the rest.
 *
 *     loop: lw  a5, 0(a4)       a4: the count's address
 *           sub a5, a5, a3      a5 changes in the loop: what has come
 *           bltu a5, a2, loop   a2 does not: what is wanted
 */
#include "explain/pages.h"

#include <string.h>

#include "isa/isa.h"
#include "machine/overlay.h"

#define STREAMS UINT32_C(0xFFB40000)
#define OWN_RAM UINT32_C(0xFFB00000)
enum {
    STREAM_BYTES = 0x1000,
    LOOP_MOST = 64, /* instructions */
    OP_LOAD = 0x03,
    OP_IMMEDIATE = 0x13,
    OP_ALU = 0x33,
    OP_LUI = 0x37,
    OP_STORE = 0x23,
    OP_BRANCH = 0x63,
    OP_JALR = 0x67,
    OP_JAL = 0x6F
};
/* Branches. */
enum { BEQ = 0, BNE = 1, BLT = 4, BGE = 5, BLTU = 6, BGEU = 7 };

/* ---- Counts ---------------------------------------------------------------------------------------------- */

bool wg_pages_is_count(const wg_arch *arch, uint32_t address, unsigned *cb, bool *popped)
{
    const uint32_t offset = address - STREAMS, number = offset % STREAM_BYTES / 4;
    *cb = offset / STREAM_BYTES;
    *popped = number == wg_overlay_number(arch, WG_SR_DEST_BUF_START);
    return offset < WG_CBS * STREAM_BYTES && (*popped || number == wg_overlay_number(arch, WG_SR_DEST_BUF_SIZE));
}

static void changed(wg_pages *p, uint32_t address, uint32_t value, const wg_event *e)
{
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(p->dev->arch, address, &cb, &popped)) { /* firmware clears counts before a program */
        wg_pages_by *by = popped ? &p->popped[cb] : &p->pushed[cb];
        *by = value ? (wg_pages_by){.cycle = e->cycle, .pc = e->pc, .agent = e->agent} : (wg_pages_by){0};
    } else if (p->semaphore_step && address >= p->semaphores && address < p->semaphores_end) {
        const uint32_t i = (address - p->semaphores) / p->semaphore_step;
        if (i < WG_PROGRAM_SEMAPHORES)
            p->semaphore[i] =
                (wg_pages_by){.cycle = e->cycle, .pc = e->pc, .agent = e->agent, .tile = (uint16_t)(e->c >> 48)};
    }
}

void wg_pages_event(void *user, const wg_event *e)
{
    wg_pages *p = user;
    if (e->kind == WG_EV_CORE_REQUEST) {
        if (e->c == WG_REQ_WRITE)
            changed(p, (uint32_t)e->a, (uint32_t)e->b, e);
    } else if (e->kind == WG_EV_NOC_ARRIVED) {
        changed(p, (uint32_t)e->b, 1, e);
    } else if (wg_opcode(e->word) == WG_OPCODE_STOREREG) {
        /* The count is in a GPR that was set just before; only a kernel pushes and pops in this way. */
        changed(p, wg_reg_address(e->word), 1, e);
    }
}

/* ---- Loops ----------------------------------------------------------------------------------------------- */

typedef struct loop {
    const wg_tile *t;
    uint32_t r[32];    /* the core's registers */
    uint32_t from, to; /* its first and last instruction */
    uint32_t written;  /* registers that it writes, by bit */
} loop;

static uint32_t branch_target(uint32_t pc, uint32_t i)
{
    const uint32_t offset = (i >> 8 & 0xF) << 1 | (i >> 25 & 0x3F) << 5 | (i >> 7 & 1) << 11 | (i >> 31) << 12;
    return pc + (offset | (i >> 31 ? 0xFFFFE000u : 0));
}

static uint32_t jump_target(uint32_t pc, uint32_t i)
{
    const uint32_t offset = (i >> 21 & 0x3FF) << 1 | (i >> 20 & 1) << 11 | (i >> 12 & 0xFF) << 12 | (i >> 31) << 20;
    return pc + (offset | (i >> 31 ? 0xFFE00000u : 0));
}

/* The innermost loop around the pc: it ends with the first jump behind it that leads to it or before it. */
static bool find_loop(const wg_tile *t, unsigned core, uint32_t pc, loop *out)
{
    uint32_t rv;
    *out = (loop){.t = t};
    memcpy(out->r, t->core[core].run.r, sizeof out->r);
    for (uint32_t at = pc; at < pc + 4 * LOOP_MOST && wg_code_word(t, at, &rv); at += 4) {
        const uint32_t op = rv & 0x7F, target = op == OP_BRANCH ? branch_target(at, rv) : jump_target(at, rv);
        if (op == OP_JALR || (rv & 3) != 3)
            return false;
        if ((op != OP_BRANCH && op != OP_JAL) || target > pc || at - target > 4 * LOOP_MOST)
            continue;
        out->from = target;
        out->to = at;
        for (uint32_t i = target; i <= at && wg_code_word(t, i, &rv); i += 4)
            if ((rv & 0x7F) != OP_STORE && (rv & 0x7F) != OP_BRANCH)
                out->written |= 1u << (rv >> 7 & 31);
        out->written &= ~1u;
        return true;
    }
    return false;
}

/* What a load of the loop reads now; false: not known. */
static bool value_at(const loop *l, unsigned core, uint32_t address, unsigned kind, uint32_t *value)
{
    const wg_tile *t = l->t;
    const uint32_t own = address - OWN_RAM;
    uint32_t rv = 0, aligned = address & ~3u;
    unsigned cb;
    bool popped;
    if (wg_pages_is_count(t->arch, aligned, &cb, &popped))
        rv = wg_overlay_stream_read(t, cb,
                                    wg_overlay_number(t->arch, popped ? WG_SR_DEST_BUF_START : WG_SR_DEST_BUF_SIZE));
    else if (aligned <= t->spec->l1_bytes - 4)
        memcpy(&rv, t->l1 + aligned, 4);
    else if (own < t->spec->core[core].ram_bytes)
        memcpy(&rv, (const uint8_t *)t->core[core].ram + (own & ~3u), 4);
    else
        return false;
    rv >>= 8 * (address & 3);
    *value = kind == 0   ? (uint32_t)(int8_t)rv
             : kind == 1 ? (uint32_t)(int16_t)rv
             : kind == 4 ? rv & 0xFF
             : kind == 5 ? rv & 0xFFFF
                         : rv;
    return true;
}

static bool compute(uint32_t rv, uint32_t a, uint32_t b, uint32_t *value)
{
    const bool alternate = rv >> 30 & 1, immediate = (rv & 0x7F) == OP_IMMEDIATE;
    switch (rv >> 12 & 7) {
    case 0: *value = alternate && !immediate ? a - b : a + b; return true;
    case 1: *value = a << (b & 31); return true;
    case 2: *value = (int32_t)a < (int32_t)b; return true;
    case 3: *value = a < b; return true;
    case 4: *value = a ^ b; return true;
    case 5: *value = alternate ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31); return true;
    case 6: *value = a | b; return true;
    default: *value = a & b; return true;
    }
}

/* Runs the loop's straight code up to `end`, so that its registers have the values of that place. */
static void run_to(loop *l, unsigned core, uint32_t end)
{
    uint32_t rv;
    for (uint32_t at = l->from; at < end && wg_code_word(l->t, at, &rv); at += 4) {
        const unsigned rd = rv >> 7 & 31;
        const uint32_t a = l->r[rv >> 15 & 31], b = l->r[rv >> 20 & 31],
                       immediate = rv >> 20 | (rv >> 31 ? 0xFFFFF000u : 0), funct7 = rv >> 25;
        uint32_t value = l->r[rd];
        switch (rv & 0x7F) {
        case OP_LOAD: value_at(l, core, a + immediate, rv >> 12 & 7, &value); break;
        case OP_IMMEDIATE: compute(rv, a, immediate, &value); break;
        case OP_LUI: value = rv & 0xFFFFF000u; break;
        case OP_ALU:
            if (funct7 == 0 || funct7 == 0x20)
                compute(rv, a, b, &value);
            else if (funct7 == 4 && (rv >> 12 & 7) == 4) /* zext.h */
                value = a & 0xFFFF;
            break;
        default: continue;
        }
        if (rd)
            l->r[rd] = value;
    }
}

/* How the loop ends: when `changes` is at least, at most or equal to `fixed`, plus or minus one. */
typedef struct ending {
    enum { AT_LEAST, AT_MOST, EQUAL, UNEQUAL } how;
    uint32_t now, wanted;
} ending;

/* A branch that leaves the loop, or leads back: the condition under which the loop goes on is `stays`. */
static bool ending_of(const loop *l, uint32_t at, uint32_t rv, ending *out)
{
    const unsigned left = rv >> 15 & 31, right = rv >> 20 & 31, kind = rv >> 12 & 7;
    const uint32_t target = branch_target(at, rv);
    const bool back = target >= l->from && target <= at, out_of = target > l->to || target < l->from;
    const bool left_changes = l->written >> left & 1, right_changes = l->written >> right & 1;
    if ((!back && !out_of) || left_changes == right_changes || (back && at != l->to))
        return false;
    out->now = l->r[left_changes ? left : right];
    out->wanted = l->r[left_changes ? right : left];
    const bool less = kind == BLT || kind == BLTU, compares = less || kind == BGE || kind == BGEU;
    if (!compares) { /* goes on while equal: any other value ends it */
        out->how = (kind == BEQ) == back ? UNEQUAL : EQUAL;
        return kind == BEQ || kind == BNE;
    }
    /* The loop goes on while left < right, or while left >= right. */
    const bool stays_less = less == back;
    if (left_changes) {
        out->how = stays_less ? AT_LEAST : AT_MOST;
        out->wanted -= stays_less ? 0 : 1;
    } else {
        out->how = stays_less ? AT_MOST : AT_LEAST;
        out->wanted += stays_less ? 0 : 1;
    }
    return true;
}

/* The address that an instruction of the loop loads from; its register is set before the loop. */
static bool load_of(const loop *l, uint32_t rv, uint32_t *address)
{
    const unsigned base = rv >> 15 & 31;
    const uint32_t offset = rv >> 20 | (rv >> 31 ? 0xFFFFF000u : 0);
    *address = l->r[base] + offset;
    return (rv & 0x7F) == OP_LOAD && !(l->written >> base & 1);
}

static bool loop_ends(loop *l, unsigned core, ending *out)
{
    uint32_t rv;
    for (uint32_t at = l->from; at <= l->to && wg_code_word(l->t, at, &rv); at += 4)
        if ((rv & 0x7F) == OP_BRANCH && ending_of(l, at, rv, out)) {
            run_to(l, core, at);
            return ending_of(l, at, rv, out);
        }
    return false;
}

bool wg_pages_line(const wg_source *s, const char **file, unsigned *line)
{
    unsigned frame = s->calls; /* number of the function: 0 is the innermost */
    for (unsigned i = 0; i < s->calls; i++)
        if (s->call[i].function && strcmp(s->call[i].function, "kernel_main") == 0)
            frame = i;
    *file = frame ? s->call[frame - 1].file : s->file;
    *line = frame ? s->call[frame - 1].line : s->line;
    return *file != NULL;
}

/* ---- Waits ----------------------------------------------------------------------------------------------- */

/* From the loop's end to pages: by what its changing register holds now. */
static void count_wanted(wg_pages_wait *w, const ending *e, uint32_t capacity)
{
    const uint16_t used = (uint16_t)(w->pushed - w->popped);
    const uint32_t room = capacity - used;
    w->known = true;
    if (e->how == UNEQUAL)
        w->wanted = (w->space && !capacity ? 0 : w->space ? room : used) + 1; /* any change is enough */
    else if (!w->space && e->how != AT_MOST && (uint16_t)e->now == used)
        w->wanted = (uint16_t)e->wanted;
    else if (!w->space && e->how != AT_MOST && (uint16_t)e->now == w->pushed)
        w->wanted = (uint16_t)(e->wanted - w->popped);
    else if (w->space && e->how == AT_LEAST && capacity && e->now == room)
        w->wanted = e->wanted;
    else if (w->space && e->how == AT_MOST && capacity && (uint16_t)e->now == used && e->wanted <= capacity)
        w->wanted = capacity - e->wanted;
    else
        w->known = false;
}

bool wg_pages_waits(const wg_tile *t, unsigned core, uint32_t pc, uint32_t (*capacity)(void *user, unsigned cb),
                    void *user, wg_pages_wait *out)
{
    loop l;
    uint32_t rv, address;
    if (!find_loop(t, core, pc, &l))
        return false;
    for (uint32_t at = l.from; at <= l.to && wg_code_word(t, at, &rv); at += 4) {
        unsigned cb;
        bool popped;
        ending e;
        if (!load_of(&l, rv, &address) || !wg_pages_is_count(t->arch, address, &cb, &popped))
            continue;
        *out = (wg_pages_wait){
            .cb = (uint8_t)cb,
            .space = popped,
            .pushed = (uint16_t)wg_overlay_stream_read(t, cb, wg_overlay_number(t->arch, WG_SR_DEST_BUF_SIZE)),
            .popped = (uint16_t)wg_overlay_stream_read(t, cb, wg_overlay_number(t->arch, WG_SR_DEST_BUF_START))};
        if (loop_ends(&l, core, &e))
            count_wanted(out, &e, capacity(user, cb));
        return true;
    }
    return false;
}

bool wg_pages_semaphore(const wg_tile *t, unsigned core, uint32_t pc, uint32_t first, uint32_t end, uint32_t step,
                        unsigned *semaphore, bool *known, uint32_t *wanted)
{
    loop l;
    ending e;
    uint32_t rv, address;
    if (!step || !find_loop(t, core, pc, &l))
        return false;
    for (uint32_t at = l.from; at <= l.to && wg_code_word(t, at, &rv); at += 4) {
        if (!load_of(&l, rv, &address) || address < first || address >= end)
            continue;
        *semaphore = (address - first) / step;
        *known = loop_ends(&l, core, &e) && e.how != UNEQUAL;
        *wanted = *known ? e.wanted : 0;
        return *semaphore < WG_PROGRAM_SEMAPHORES;
    }
    return false;
}
