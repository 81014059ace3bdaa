/* SPDX-License-Identifier: Apache-2.0 */
/* Mailboxes: sixteen FIFOs, from each of B, T0, T1, T2 to each (PIPE-30). */
#ifndef WG_MAILBOX_H
#define WG_MAILBOX_H

#include "machine/fifo.h"

enum { WG_MAILBOX_CORES = 4, WG_MAILBOX_DEPTH = 4 };

typedef struct wg_mailboxes {
    wg_fifo fifo[WG_MAILBOX_CORES][WG_MAILBOX_CORES]; /* [from][to]; 0 B, 1 T0, 2 T1, 3 T2 */
} wg_mailboxes;

struct wg_tile;
void wg_mailboxes_reset(struct wg_tile *t);
/* A core enters soft reset: the messages it has sent are lost (SoftReset.md). */
void wg_mailboxes_discard(struct wg_tile *t, unsigned core);

#endif
