/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of an Ethernet tile: commands that its TX queues have accepted, frames on their way to it, and frames that
 * have left for the other end.
 *
 *     ETH_TXQ_CMD ──> transfer ──> packets ──> fetch from L1 ──> wire ──> out      (src/chip takes it from there)
 *     in ──> RX queue ──> L1, registers, buffer
 *
 * It ticks in phase A (WG_AGENT_LINK). A tile without a link has no such state.
 */
#ifndef WG_ETH_LINK_H
#define WG_ETH_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

enum {
    WG_ETH_QUEUES = 3,    /* maximum number of TX queues */
    WG_ETH_UNACKED = 128, /* maximum number of unacknowledged packets of a TX queue */
    WG_ETH_FRAMES =
        1024, /* maximum number of frames in flight in one direction: twice the longest window, at the shortest frame */
    WG_ETH_BYTES = 1 << 18, /* … and room for their contents */
    WG_ETH_FRAME = 9216,    /* maximum number of bytes that a frame carries */
    WG_ETH_ENDS = 4         /* frames read from L1 and not yet sent */
};

/* The content of a frame. */
typedef enum wg_frame_kind { WG_FRAME_RAW, WG_FRAME_DATA, WG_FRAME_REGISTER, WG_FRAME_UPDATE } wg_frame_kind;

typedef struct wg_frame {
    uint64_t at;    /* arrival of its last bit */
    uint64_t order; /* its number at the sender */
    uint32_t to;    /* address at the receiver */
    uint32_t data;  /* of a register */
    uint32_t bytes; /* bytes that it carries, */
    uint32_t begin; /* … from here on in the ring */
    uint8_t kind;   /* wg_frame_kind */
    uint8_t queue;
    uint8_t sequence, acknowledged; /* TT-link: its number, and the one that the sender expects next */
    uint32_t wire;                  /* bytes of headers and contents, as the queues' counters see them */
} wg_frame;

/* A ring of frames, and of their contents. Positions grow; an index is a position modulo the ring's size. */
typedef struct wg_frames {
    uint32_t first, end;           /* frames */
    uint64_t first_byte, end_byte; /* contents */
    wg_frame frame[WG_ETH_FRAMES];
    uint8_t bytes[WG_ETH_BYTES];
} wg_frames;

typedef struct wg_tx_packet {
    uint32_t from, to, bytes, data;
    uint8_t kind; /* wg_frame_kind */
} wg_tx_packet;

typedef struct wg_tx_queue {
    /* The rest of the transfer that software ordered: what is not yet in packets. */
    uint32_t from, to, left, data;
    uint8_t kind;
    bool pending;
    bool missing;  /* a TT-link packet was lost on the way, and has not been sent again */
    bool told_any; /* a TT-link packet was sent since the link came up */
    uint8_t told;  /* the acknowledgement in the last one */
    /* TT-link packets, by number: acknowledged < head <= next <= end. Their sequence numbers are these modulo 256. */
    uint32_t head, next, end;
    uint64_t ordered_at; /* when the last command was written */
    uint64_t told_at;    /* when the last TT-link packet was sent */
    uint64_t heard_at;   /* when the oldest unacknowledged one was sent, or an acknowledgement arrived */
    wg_tx_packet packet[WG_ETH_UNACKED];
} wg_tx_queue;

/* The other end, for the words that base firmware leaves. */
typedef struct wg_eth_end {
    uint32_t chip, channel;
} wg_eth_end;

typedef struct wg_eth_link {
    uint64_t up_at, cut_at, again_at; /* up in the cycles [up_at, cut_at), and again from again_at on */
    uint64_t lose_every;              /* one frame in lose_every is lost, on average; 0: none */
    wg_eth_end self, peer;
    bool up;             /* as software sees it */
    uint8_t turn;        /* the TX queue that goes first */
    uint8_t ends;        /* entries of end[] */
    uint64_t fetch_free; /* the cycle from which L1 is read for the next packet */
    uint64_t begun;      /* when the last packet starts on the wire */
    uint64_t wire_free;  /* in tenths of a cycle */
    uint64_t store_free; /* when RX has stored the last frame */
    uint64_t sent, sent_bytes, received, received_bytes, resent, lost; /* frames, and their contents; for statistics */
    struct {
        uint64_t at;
        uint32_t queue, pad;
    } end[WG_ETH_ENDS];
    wg_tx_queue tx[WG_ETH_QUEUES];
    wg_frames in, out;
} wg_eth_link;

/*
 * The properties of a link: up from cycle `up_at` on, cut from `cut_at` on (WG_NEVER: never), trained again at `again_at`
 * (likewise), its ends, and its losses.
 */
typedef struct wg_eth_terms {
    uint64_t up_at, cut_at, again_at, lose_every;
    wg_eth_end self, peer;
} wg_eth_terms;
/* Creates the link's state. */
void wg_eth_link_begin(struct wg_tile *t, const wg_eth_terms *terms);
void wg_eth_link_tick(struct wg_tile *t);
/* A command of a TX queue, already checked. */
void wg_eth_link_command(struct wg_tile *t, unsigned queue, uint32_t command);
/* Is the link quiet? Only acknowledgements and their timers may remain. */
bool wg_eth_link_quiet(const struct wg_tile *t);
/* Is the queue's last command still being accepted? */
static inline bool wg_eth_link_busy(const wg_eth_link *l, unsigned queue) { return l->tx[queue].pending; }
/* The minimum time from a command at one end to an effect at the other. */
uint64_t wg_eth_link_least(const struct wg_tile *t);
/* Accepts a frame from the other end. False: there is no room. */
bool wg_eth_link_deliver(struct wg_tile *t, const wg_frame *frame, const void *bytes);
/* Frames that have left since the last call of wg_eth_link_taken(). Their contents may wrap around the ring's end. */
static inline uint32_t wg_eth_link_outgoing(const wg_eth_link *l) { return l->out.end - l->out.first; }
void wg_frame_bytes(const wg_frames *ring, const wg_frame *frame, void *to);
void wg_eth_link_taken(wg_eth_link *l);
/* Are the indices and counts of a restored state in range? */
bool wg_eth_link_holds(const wg_eth_link *l, uint32_t l1_bytes, unsigned queues);

#endif
