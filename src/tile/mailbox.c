/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes: FIFOs of four words from each of B, T0, T1, T2 to each of them.
 *
 *     store at 0xFFEC0000 + 0x1000·i   push to core i
 *     load there                       pop a word from core i; stalls while empty
 *     load at +4                       1 if not empty, else 0, at once
 *
 * A sender has four words in total over its four mailboxes. A further store stalls in the memory subsystem, and the
 * sender's later stores to mailboxes stall after it; the same holds for loads.
 *
 * Facts: BabyRISCV/Mailboxes.md (the same for both architectures), PIPE-30.
 */
#include "report/findings.h"
#include "arch/address_map.h"
#include "machine/tile.h"
#include "tile/windows.h"

/* The mailboxes' numbering of cores; NC has none. */
static unsigned mailbox_of(unsigned core) { return core == WG_CORE_B ? 0 : core - WG_CORE_T0 + 1; }
static uint8_t agent_of(unsigned mailbox)
{
    return (uint8_t)(mailbox == 0 ? WG_AGENT_CORE_B : WG_AGENT_CORE_T0 + mailbox - 1);
}

void wg_mailboxes_reset(wg_tile *t)
{
    for (unsigned from = 0; from < WG_MAILBOX_CORES; from++)
        for (unsigned to = 0; to < WG_MAILBOX_CORES; to++)
            wg_fifo_clear(&t->regions.mailbox.fifo[from][to]);
}

void wg_mailboxes_discard(wg_tile *t, unsigned core)
{
    if (core == WG_CORE_NC)
        return;
    for (unsigned to = 0; to < WG_MAILBOX_CORES; to++)
        wg_fifo_clear(&t->regions.mailbox.fifo[mailbox_of(core)][to]);
}

wg_region_answer wg_mailbox_write(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)value;
    uint64_t now = t->sched.now;
    unsigned from = mailbox_of(req->core) % WG_MAILBOX_CORES;
    unsigned to = wg_address_route(t->spec, req->core, req->address, true).index % WG_MAILBOX_CORES;
    wg_fifo *sent = t->regions.mailbox.fifo[from];
    unsigned taken = 0;
    for (unsigned i = 0; i < WG_MAILBOX_CORES; i++)
        taken += wg_fifo_taken(&sent[i], now);
    if (taken >= WG_MAILBOX_DEPTH) {
        /* The holder is the reader of the fullest mailbox. */
        unsigned holder = to;
        for (unsigned i = 0; i < WG_MAILBOX_CORES; i++)
            if (sent[i].count > sent[holder].count)
                holder = i;
        *why = (wg_stall){WG_STALL_MAILBOX_FULL, (uint16_t)(from << 4 | to), agent_of(holder), WG_NEVER};
        return WG_REGION_WAIT;
    }
    wg_fifo_push(&sent[to], now, req->data[0]);
    wg_wake(&t->sched, WG_AGENT_REGIONS);
    return WG_REGION_DONE;
}

wg_region_answer wg_mailbox_read(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    uint64_t now = t->sched.now;
    unsigned to = mailbox_of(req->core) % WG_MAILBOX_CORES;
    unsigned from = wg_address_route(t->spec, req->core, req->address, false).index % WG_MAILBOX_CORES;
    wg_fifo *f = &t->regions.mailbox.fifo[from][to];
    bool any = wg_fifo_readable(f, now) != 0;
    uint32_t got = any;
    if (!(req->address & 4)) {
        if (!any) {
            *why = (wg_stall){WG_STALL_MAILBOX_EMPTY, (uint16_t)(from << 4 | to), agent_of(from), WG_NEVER};
            return WG_REGION_WAIT;
        }
        got = wg_fifo_pop(f, now);
        wg_wake(&t->sched, WG_AGENT_REGIONS);
    }
    value[0] = wg_manual_ttsync_overlaps(t, req) ? ~got : got;
    return WG_REGION_DONE;
}
