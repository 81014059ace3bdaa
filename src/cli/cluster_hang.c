/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster_hang.h"

#include <stdlib.h>

static wg_session *session_of(wg_chip_run *r, unsigned x, unsigned y)
{
    for (size_t i = 0; i < r->tiles; i++)
        if (r->tile[i].x == x && r->tile[i].y == y)
            return &r->tile[i].s;
    return NULL;
}

bool wg_cluster_parties(wg_chip_run *r, wg_message *out)
{
    bool ok = true;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; ok && x < wg_grid_width(r->grid); x++) {
            wg_session *s = session_of(r, x, y);
            wg_party p;
            if (!wg_grid_peek(r->grid, x, y))
                continue;
            wg_party_describe(r->grid, r->of_cluster ? (int)r->number : -1, x, y, s ? s->hang : NULL,
                              s ? &s->history : NULL, &p);
            ok = wg_message_add(out, &p, sizeof p);
        }
    return ok;
}

/* The chip's parties, if its run hangs; freed by the caller. NULL: none. */
static wg_party *parties_of(wg_chip_run *r, size_t *count)
{
    wg_message all = {0};
    if (r->of_cluster || r->ended != WG_ENDED_HUNG || !wg_cluster_parties(r, &all)) {
        wg_message_free(&all);
        return NULL;
    }
    *count = all.bytes / sizeof(wg_party);
    return (wg_party *)all.data;
}

void wg_chip_verdict(wg_chip_run *r, wg_text *out)
{
    size_t count;
    wg_party *all = parties_of(r, &count);
    if (all)
        wg_parties_verdict(all, count, out);
    free(all);
}

void wg_chip_verdict_json(wg_chip_run *r, wg_json *j)
{
    size_t count;
    wg_party *all = parties_of(r, &count);
    if (all)
        wg_parties_verdict_json(all, count, j);
    free(all);
}
