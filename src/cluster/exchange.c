/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames at the end of a window: from the chips that sent them to those at the other ends, of this process or of
 * another.
 *
 * A tile receives frames only from the tile at the other end of its link, in the order in which they were sent. So
 * every tile gets its frames in the order of (cycle, chip, channel, number), whatever the order of chips and ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

bool wg_message_add(wg_message *m, const void *data, size_t bytes)
{
    if (m->room - m->bytes < bytes) {
        size_t room = (m->bytes + bytes) * 2;
        uint8_t *more = realloc(m->data, room);
        if (!more)
            return false;
        m->data = more;
        m->room = room;
    }
    if (bytes)
        memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
    return true;
}

void wg_message_free(wg_message *m)
{
    free(m->data);
    *m = (wg_message){0};
}

/* A frame between processes: this header, followed by its payload. */
typedef struct parcel {
    uint32_t chip, channel;
    wg_frame frame;
} parcel;

typedef struct sender {
    wg_cluster *c;
    unsigned chip;
    bool failed;
} sender;

static bool hand_over(wg_cluster *c, unsigned chip, unsigned channel, const wg_frame *frame, const void *bytes)
{
    wg_grid *g = c->chip[chip].grid;
    if (!g || !wg_grid_frame(g, channel, frame, bytes)) {
        wg_cluster_fail(c, WG_ERR_NO_MEMORY, "a frame for chip %u, channel %u, has no room", chip, channel);
        return false;
    }
    return true;
}

static void sent(void *user, unsigned channel, const wg_frame *frame, const wg_frames *ring)
{
    sender *s = user;
    wg_cluster *c = s->c;
    uint8_t bytes[WG_ETH_FRAME];
    const wg_cluster_peer *to = &c->chip[s->chip].peer[channel];
    if (!to->there)
        return;
    wg_frame_bytes(ring, frame, bytes);
    c->frame_at = frame->at < c->frame_at ? frame->at : c->frame_at;
    if (frame->kind != WG_FRAME_UPDATE)
        c->lively_at = frame->at < c->lively_at ? frame->at : c->lively_at;
    const unsigned rank = c->chip[to->chip].rank;
    if (!c->ranks || rank == c->ranks->rank) {
        s->failed |= !hand_over(c, to->chip, to->channel, frame, bytes);
        return;
    }
    parcel p;
    memset(&p, 0, sizeof p);
    p.chip = to->chip;
    p.channel = to->channel;
    p.frame = *frame;
    if (!wg_message_add(&c->out[rank], &p, sizeof p) || !wg_message_add(&c->out[rank], bytes, frame->bytes)) {
        wg_cluster_fail(c, WG_ERR_NO_MEMORY, "no memory for frames to another process");
        s->failed = true;
    }
}

/* Delivers frames from another process. */
static bool unpack(wg_cluster *c, const wg_message *m)
{
    for (size_t at = 0; at < m->bytes;) {
        parcel p;
        if (m->bytes - at < sizeof p)
            break;
        memcpy(&p, m->data + at, sizeof p);
        at += sizeof p;
        if (p.chip >= c->chips || p.channel >= c->channels || p.frame.bytes > WG_ETH_FRAME ||
            p.frame.bytes > m->bytes - at) {
            wg_cluster_fail(c, WG_ERR_STATE, "another process has sent a broken frame");
            return false;
        }
        if (!hand_over(c, p.chip, p.channel, &p.frame, m->data + at))
            return false;
        at += p.frame.bytes;
    }
    return true;
}

bool wg_cluster_exchange(wg_cluster *c, uint64_t value[WG_CLUSTER_VALUES])
{
    bool ok = true;
    for (unsigned i = 0; i < c->chips; i++) {
        sender s = {.c = c, .chip = i};
        if (c->chip[i].grid)
            wg_grid_frames(c->chip[i].grid, sent, &s);
        ok &= !s.failed;
    }
    value[WG_CLUSTER_FAILED] = ok ? value[WG_CLUSTER_FAILED] : 0;
    value[WG_CLUSTER_LIVELY] = c->lively_at;
    value[WG_CLUSTER_NEXT] = c->frame_at < value[WG_CLUSTER_NEXT] ? c->frame_at : value[WG_CLUSTER_NEXT];
    if (!c->ranks)
        return ok;
    for (unsigned i = 0; i < c->ranks->ranks; i++)
        c->in[i].bytes = 0;
    if (!c->ranks->exchange(c->ranks, c->peers, c->out, c->in, value, WG_CLUSTER_VALUES)) {
        wg_cluster_fail(c, WG_ERR_STATE, "the connection to other processes is broken");
        return false;
    }
    for (unsigned i = 0; i < c->ranks->ranks; i++) {
        c->out[i].bytes = 0;
        ok &= !c->peers[i] || unpack(c, &c->in[i]);
    }
    return ok;
}

bool wg_cluster_least(wg_cluster *c, uint64_t *value, unsigned values)
{
    return !c->ranks || c->ranks->exchange(c->ranks, NULL, NULL, NULL, value, values);
}
