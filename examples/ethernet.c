/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core of an Ethernet tile sends a text to a Tensix tile over NoC 0, and reports how many packets the first TX queue has
 * sent: none, since the link is down.
 *
 *     waitgate run ethernet.yaml
 */
#include "noc.h"

#define TXQ0_PACKETS WORD(0xFFB9003C) /* ETH_TXQ_PKT_END_CNT */
#ifndef WG_ARCH_WH
#define TENSIX (1 | 2 << 6) /* translated coordinates */
#else
#define TENSIX (18 | 18 << 6)
#endif

static const char text[32] __attribute__((aligned(16))) = "Hello from an Ethernet tile!\n";

int main(void)
{
    RESULT(0) = TXQ0_PACKETS;
    noc_write_to(0, TENSIX, sizeof text);
    noc_write(0, (u32)&RESULT(1), (u32)text, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
