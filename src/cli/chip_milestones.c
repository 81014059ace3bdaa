/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --from and --to of a chip file as symbols or stores. Events of different tiles are not in one order, so a separate
 * run finds the cycles, which the profiled run then uses.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/chip_internal.h"
#include "cli/profile.h"
#include "machine/device.h"

typedef struct milestone_search {
    const char *text; /* NULL: a cycle is given */
    wg_milestone stone;
    uint64_t after, found; /* UINT64_MAX: nowhere */
    bool known;            /* a program has this symbol */
} milestone_search;

typedef struct tile_search {
    milestone_search *search; /* --from, --to */
    wg_session *s;
    const wg_elf *elf[WG_CORES]; /* the owner of the symbol at `pc` */
    uint32_t pc[2][WG_CORES];    /* 0: none */
} tile_search;

/* Programs of tt-metal arrive during the run, and run where the host puts them. */
static void look_up(tile_search *t, unsigned core)
{
    const wg_overlay *o = &t->s->overlay[core];
    const wg_elf *elf = o->elf ? o->elf : t->s->elf[core];
    if (elf == t->elf[core])
        return;
    t->elf[core] = elf;
    for (unsigned i = 0; i < 2; i++) {
        milestone_search *m = &t->search[i];
        const wg_elf_symbol *symbol = elf && m->text && !m->stone.kind ? wg_elf_symbol_named(elf, m->text) : NULL;
        t->pc[i][core] = symbol ? symbol->address + (o->elf ? o->address - o->link : 0) : 0;
        m->known |= symbol != NULL;
    }
}

static void event(void *user, const wg_event *e)
{
    tile_search *t = user;
    if (e->agent >= WG_CORES)
        return;
    look_up(t, e->agent);
    for (unsigned i = 0; i < 2; i++) {
        milestone_search *m = &t->search[i];
        const uint32_t pc = t->pc[i][e->agent];
        const wg_milestone stone =
            m->stone.kind ? m->stone : (wg_milestone){pc ? WG_MILESTONE_PC : WG_MILESTONE_NONE, pc, 0};
        if (m->text && e->cycle < m->found && e->cycle > m->after && wg_milestone_is(&stone, e, t->s->dev->tile->l1))
            m->found = e->cycle;
    }
}

/* Runs the chip, and records when each milestone is reached first. */
static bool search(const wg_args *args, milestone_search m[2], wg_text *error)
{
    static const wg_option not_now[] = {WG_OPT_FROM,     WG_OPT_TO,   WG_OPT_LOG,    WG_OPT_TRACE_FILE, WG_OPT_STATS,
                                        WG_OPT_TIMELINE, WG_OPT_JSON, WG_OPT_CHECKS, WG_OPT_ANNOTATE};
    wg_args run = *args;
    wg_stop stop;
    run.command = WG_CMD_RUN;
    for (unsigned i = 0; i < sizeof not_now / sizeof *not_now; i++)
        run.value[not_now[i]] = NULL;
    wg_chip_run *r = wg_chip_open(&run, error);
    tile_search *tile = r ? wg_calloc(r->tiles + 1, sizeof *tile) : NULL;
    bool ok = tile;
    for (size_t i = 0; ok && i < r->tiles; i++) {
        wg_session *s = &r->tile[i].s;
        tile[i] = (tile_search){.search = m, .s = s};
        for (unsigned core = 0; core < WG_CORES; core++)
            look_up(&tile[i], core);
        ok = wg_session_observe(
            s, WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_TOUCH_L1), event,
            &tile[i], error);
    }
    if (ok && wg_chip_advance(r, UINT64_MAX, &stop) != WG_OK) {
        wg_textf(error, "waitgate: %s\n", wg_grid_error(r->grid));
        ok = false;
    }
    if (r)
        wg_chip_close(r);
    free(tile);
    return ok;
}

bool wg_chip_milestones(wg_args *args, char number[2][24], wg_text *error)
{
    static const wg_option option[2] = {WG_OPT_FROM, WG_OPT_TO};
    milestone_search m[2] = {{.found = UINT64_MAX}, {.found = UINT64_MAX}};
    uint64_t cycle[2] = {0, UINT64_MAX};
    bool any = false;
    for (unsigned i = 0; i < 2; i++) {
        const char *text = args->value[option[i]];
        const bool read = !text || wg_milestone_parse(text, &cycle[i], &m[i].stone);
        m[i].text = !text || (read && !m[i].stone.kind) ? NULL : text;
        any |= m[i].text != NULL;
    }
    if (!any)
        return true;
    m[1].after = cycle[0];
    if (!search(args, m, error))
        return false;
    if (m[0].text && m[1].text && m[1].found <= m[0].found && m[0].found != UINT64_MAX) { /* the end lies after it */
        m[1].after = m[0].found;
        m[1].found = UINT64_MAX;
        if (!search(args, m, error))
            return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!m[i].text)
            continue;
        if (!m[i].stone.kind && !m[i].known) {
            wg_textf(error, "waitgate: --%s: `%s` is neither a cycle, ADDR=VALUE, nor a symbol of a loaded program\n",
                     i ? "to" : "from", m[i].text);
            return false;
        }
        snprintf(number[i], 24, "%llu", (unsigned long long)m[i].found);
        args->value[option[i]] = number[i];
    }
    return true;
}
