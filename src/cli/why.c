/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate why`: who wrote a location, and where that came from, as a tree that ends at what was there before the run, at a core's
 * store or at the NoC. Many instructions of one line that did the same are one branch.
 */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "isa/asm.h"
#include "observe/origin.h"

enum { DEEPEST = 12, READS = 4096, BRANCHES = 64 };

/* ---- A branch: instructions of one line and kind, and what they left of what is asked about ---- */

typedef struct branch {
    bool known; /* false: nobody wrote it in this run */
    uint8_t agent, thread, space;
    uint32_t pc, word;
    uint32_t first, end; /* the smallest range that holds all of it */
    uint64_t from, to;   /* cycles */
    size_t instructions;
    size_t latest;  /* touch */
    size_t *writes; /* touches, as many as fit */
    size_t count;
} branch;

typedef struct tree {
    wg_session *s;
    const wg_origin *o;
    wg_text *out; /* NULL: JSON */
    wg_json *j;
    branch branch[BRANCHES];
    unsigned branches;
    bool more; /* there were more than fit */
} tree;

static void add_write(void *user, size_t touch, uint32_t first, uint32_t count)
{
    tree *t = user;
    const wg_data_touch *w = touch == SIZE_MAX ? NULL : &t->o->touch[touch];
    unsigned i = 0;
    for (; i < t->branches; i++) {
        const branch *b = &t->branch[i];
        if (b->known == (w != NULL) && (!w || (b->agent == w->agent && b->pc == w->pc && b->space == w->space &&
                                               (!w->pc ? b->word == w->word : true))))
            break;
    }
    if (i == BRANCHES) {
        t->more = true;
        return;
    }
    branch *b = &t->branch[i];
    if (i == t->branches) {
        *b = (branch){.known = w != NULL, .first = first, .end = first + count, .from = UINT64_MAX};
        b->writes = wg_calloc(READS, sizeof *b->writes);
        t->branches++;
        if (w) {
            b->agent = w->agent;
            b->thread = w->thread;
            b->space = w->space;
            b->pc = w->pc;
            b->word = w->word;
        }
    }
    b->first = first < b->first ? first : b->first;
    b->end = first + count > b->end ? first + count : b->end;
    if (!w || !b->writes)
        return;
    b->from = w->cycle < b->from ? w->cycle : b->from;
    b->to = w->cycle > b->to ? w->cycle : b->to;
    for (size_t k = 0; k < b->count; k++) /* one instruction may write in several pieces */
        if (w->id && t->o->touch[b->writes[k]].id == w->id && t->o->touch[b->writes[k]].thread == w->thread)
            return;
    b->instructions++;
    if (b->count < READS)
        b->writes[b->count++] = touch;
}

/* ---- Words ---- */

static void location_text(unsigned space, uint32_t first, uint32_t end, char *room, size_t bytes)
{
    static const char *const banks[4] = {"SrcA bank 0", "SrcA bank 1", "SrcB bank 0", "SrcB bank 1"};
    uint32_t last = end - 1;
    switch (space) {
    case WG_TOUCH_L1: snprintf(room, bytes, "L1 0x%05x to 0x%05x", first, last); break;
    case WG_TOUCH_DST: snprintf(room, bytes, first == last ? "Dst row %u" : "Dst rows %u to %u", first, last); break;
    case WG_TOUCH_SRC:
        if (first >> 6 == last >> 6)
            snprintf(room, bytes, "%s rows %u to %u", banks[first >> 6 & 3], first & 63, last & 63);
        else
            snprintf(room, bytes, "%s to %s", banks[first >> 6 & 3], banks[last >> 6 & 3]);
        break;
    case WG_TOUCH_LREG: snprintf(room, bytes, first == last ? "LReg %u" : "LRegs %u to %u", first, last); break;
    default:
        if (first == last)
            snprintf(room, bytes, "the %s half of GPR %u of thread %u", first & 1 ? "high" : "low", first >> 1 & 63,
                     first >> 7);
        else if (first >> 1 == last >> 1)
            snprintf(room, bytes, "GPR %u of thread %u", first >> 1 & 63, first >> 7);
        else
            snprintf(room, bytes, "GPRs %u to %u of thread %u", first >> 1 & 63, last >> 1 & 63, first >> 7);
        break;
    }
}

static unsigned program_of(const branch *b)
{
    if (b->agent <= WG_AGENT_CORE_T2)
        return b->agent;
    return WG_CORE_T0 + b->thread % WG_THREADS;
}

static void branch_text(tree *t, const branch *b, unsigned space, unsigned depth)
{
    char where[160], place[256], text[WG_DIS_MAX] = "";
    location_text(space, b->first, b->end, where, sizeof where);
    wg_textf(t->out, "%*s%s: ", (int)(2 * depth), "", where);
    if (!b->known) {
        wg_textf(t->out, "there before %s\n",
                 t->o->begins ? "what is remembered of the run" : "the run, or written by the host");
        return;
    }
    wg_place(t->s, program_of(b), b->pc, place, sizeof place);
    if (b->word)
        wg_insn_text(t->s, b->agent, b->pc, b->word, text, sizeof text);
    wg_textf(t->out, "%s", wg_agent_name(b->agent));
    if (*text)
        wg_textf(t->out, ", %s", text);
    if (*place)
        wg_textf(t->out, ", at %s", place);
    if (b->instructions > 1)
        wg_textf(t->out, "; %zu instructions, cycles %llu to %llu\n", b->instructions, (unsigned long long)b->from,
                 (unsigned long long)b->to);
    else
        wg_textf(t->out, "; cycle %llu\n", (unsigned long long)b->from);
}

static void branch_json(tree *t, const branch *b, unsigned space)
{
    char where[160], place[256], text[WG_DIS_MAX] = "";
    location_text(space, b->first, b->end, where, sizeof where);
    wg_json_open(t->j, NULL, '{');
    wg_json_text(t->j, "location", where);
    wg_json_bool(t->j, "written", b->known);
    if (b->known) {
        wg_json_text(t->j, "who", wg_agent_name(b->agent));
        wg_json_text(t->j, "place", wg_place(t->s, program_of(b), b->pc, place, sizeof place));
        if (b->word)
            wg_json_text(t->j, "instruction", wg_insn_text(t->s, b->agent, b->pc, b->word, text, sizeof text));
        wg_json_uint(t->j, "instructions", b->instructions);
        wg_json_uint(t->j, "from", b->from);
        wg_json_uint(t->j, "to", b->to);
    }
}

/* ---- The way back ---- */

typedef struct reads {
    size_t *touch;
    size_t count;
} reads;

static void add_read(void *user, size_t touch)
{
    reads *r = user;
    if (r->count < READS)
        r->touch[r->count++] = touch;
}

static void explain(tree *t, const branch *from, unsigned depth, const branch *const *above);

/* The branches under what one space's reads touched. */
static void explain_reads(tree *t, const reads *r, unsigned space, unsigned depth, const branch *const *above)
{
    tree *sub = wg_calloc(1, sizeof *sub);
    if (!sub)
        return;
    sub->s = t->s;
    sub->o = t->o;
    sub->out = t->out;
    sub->j = t->j;
    for (size_t i = 0; i < r->count; i++) {
        const wg_data_touch *read = &t->o->touch[r->touch[i]];
        if (read->space == space)
            wg_origin_writers(t->o, space, read->first, read->count, r->touch[i], add_write, sub);
    }
    for (unsigned i = 0; i < sub->branches; i++) {
        const branch *b = &sub->branch[i];
        bool again = false; /* it adds to what it, or its like, left before */
        for (unsigned k = 0; above[k]; k++)
            again |= b->known && above[k]->agent == b->agent && above[k]->pc == b->pc && above[k]->space == b->space;
        if (again)
            continue;
        if (t->out)
            branch_text(t, b, space, depth);
        else
            branch_json(t, b, space);
        if (b->known)
            explain(sub, b, depth + 1, above);
        if (!t->out)
            wg_json_close(t->j, '}');
    }
    if (sub->more && t->out)
        wg_textf(t->out, "%*s… and more\n", (int)(2 * depth), "");
    for (unsigned i = 0; i < sub->branches; i++)
        free(sub->branch[i].writes);
    free(sub);
}

static void explain(tree *t, const branch *from, unsigned depth, const branch *const *above)
{
    static const uint8_t spaces[] = {WG_TOUCH_DST, WG_TOUCH_SRC, WG_TOUCH_LREG, WG_TOUCH_GPR, WG_TOUCH_L1};
    const branch *chain[DEEPEST + 2] = {from};
    unsigned n = 1;
    for (unsigned i = 0; above[i] && n < DEEPEST + 1; i++)
        chain[n++] = above[i];
    chain[n] = NULL;
    reads r = {wg_calloc(READS, sizeof *r.touch), 0};
    if (r.touch && depth <= DEEPEST)
        for (size_t i = 0; i < from->count; i++)
            wg_origin_reads(t->o, from->writes[i], add_read, &r);
    if (!t->out)
        wg_json_open(t->j, "from_data", '[');
    for (unsigned i = 0; i < sizeof spaces; i++)
        explain_reads(t, &r, spaces[i], depth, chain);
    if (!t->out)
        wg_json_close(t->j, ']');
    free(r.touch);
}

/* ---- What is asked about ---- */

typedef struct question {
    unsigned space;
    uint32_t first, count;
} question;

/* l1:ADDRESS[+BYTES], dst:ROW[+ROWS], srca:BANK:ROW, srcb:BANK:ROW, lreg:N, gpr:THREAD:N */
static bool parse_question(const char *text, question *q)
{
    size_t name = strcspn(text, ":");
    const char *rest = text[name] ? text + name + 1 : "";
    size_t one = strcspn(rest, ":+");
    uint64_t a = 0, b = 0;
    bool second = rest[one] != 0;
    if (!wg_parse_number(rest, one, &a) || (second && !wg_parse_number(rest + one + 1, strlen(rest + one + 1), &b)) ||
        a > UINT32_MAX || b > UINT32_MAX)
        return false;
    bool bank = second && rest[one] == ':', plus = second && rest[one] == '+';
    if (strncmp(text, "l1:", 3) == 0 && !bank && (!plus || b))
        *q = (question){WG_TOUCH_L1, (uint32_t)a, plus ? (uint32_t)b : 4};
    else if (strncmp(text, "dst:", 4) == 0 && !bank && a < 1024 && (!plus || (b && b <= 1024 - a)))
        *q = (question){WG_TOUCH_DST, (uint32_t)a, plus ? (uint32_t)b : 1};
    else if ((strncmp(text, "srca:", 5) == 0 || strncmp(text, "srcb:", 5) == 0) && bank && a < 2 && b < 64)
        *q = (question){WG_TOUCH_SRC, (uint32_t)((text[3] == 'b' ? 128 : 0) + a * 64 + b), 1};
    else if (strncmp(text, "lreg:", 5) == 0 && !second && a < 16)
        *q = (question){WG_TOUCH_LREG, (uint32_t)a, 1};
    else if (strncmp(text, "gpr:", 4) == 0 && bank && a < WG_THREADS && b < 64)
        *q = (question){WG_TOUCH_GPR, (uint32_t)((a * 64 + b) * 2), 2};
    else
        return false;
    return true;
}

static size_t first_after(const wg_origin *o, uint64_t cycle)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->touch[middle].cycle < cycle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void answer(wg_session *s, const wg_origin *o, const question *q, uint64_t at, wg_text *out)
{
    bool as_json = s->args->value[WG_OPT_JSON] != NULL;
    wg_json json = {.out = out};
    tree *t = wg_calloc(1, sizeof *t);
    const branch *const none[1] = {NULL};
    if (!t)
        return;
    t->s = s;
    t->o = o;
    t->out = as_json ? NULL : out;
    t->j = &json;
    wg_origin_writers(o, q->space, q->first, q->count, first_after(o, at), add_write, t);
    if (as_json) {
        wg_json_open(&json, NULL, '{');
        wg_json_uint(&json, "schema", 1);
        wg_json_text(&json, "program", s->title);
        wg_json_text(&json, "of", s->args->value[WG_OPT_OF]);
        wg_json_uint(&json, "cycle", at);
        wg_json_open(&json, "writers", '[');
    } else {
        wg_textf(out, "%s: %s at cycle %llu\n", s->title, s->args->value[WG_OPT_OF], (unsigned long long)at);
    }
    for (unsigned i = 0; i < t->branches; i++) {
        if (as_json)
            branch_json(t, &t->branch[i], q->space);
        else
            branch_text(t, &t->branch[i], q->space, 1);
        if (t->branch[i].known)
            explain(t, &t->branch[i], 2, none);
        if (as_json)
            wg_json_close(&json, '}');
    }
    if (as_json) {
        wg_json_close(&json, ']');
        wg_json_close(&json, '}');
    }
    for (unsigned i = 0; i < t->branches; i++)
        free(t->branch[i].writes);
    free(t);
}

int wg_command_why(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_session s;
    wg_origin origin = {0};
    question q;
    uint64_t at = UINT64_MAX;
    int status = WG_EXIT_ERROR;
    const char *of = args->value[WG_OPT_OF];
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_chip_file(args->file[i])) {
            wg_textf(error, "waitgate: why takes the programs of one tile, not a chip file\n");
            return WG_EXIT_ERROR;
        }
    if (!of || !parse_question(of, &q)) {
        wg_textf(error,
                 "waitgate: --of %s%s%sl1:ADDRESS[+BYTES], dst:ROW[+ROWS], srca:BANK:ROW, srcb:BANK:ROW, lreg:N or "
                 "gpr:THREAD:N says what to explain\n",
                 of ? "`" : "", of ? of : "", of ? "` is not understood: " : "is missing: ");
        return WG_EXIT_ERROR;
    }
    if (!wg_option_number(args, WG_OPT_AT, "at", &at, error))
        return WG_EXIT_ERROR;
    if (wg_session_open(&s, args, error)) {
        if (wg_observe(s.dev, WG_ORIGIN_EVENTS, wg_origin_event, &origin, NULL) != WG_OK)
            wg_textf(error, "waitgate: %s\n", wg_error(s.dev));
        else if (wg_session_run(&s, error) && !origin.failed) {
            uint64_t end = wg_cycle(s.dev);
            answer(&s, &origin, &q, at < end ? at : end, out);
            status = WG_EXIT_DONE;
        }
        if (origin.failed)
            wg_memory_lost();
    }
    wg_session_lost_memory(&s);
    wg_session_close(&s);
    wg_origin_free(&origin);
    return status;
}
