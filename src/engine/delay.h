/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a list of delays: by event, then site and agent. For qsort() and bsearch(). */
#ifndef WG_DELAY_H
#define WG_DELAY_H

#include <waitgate/waitgate.h>

static inline int wg_delay_order(const void *a, const void *b)
{
    const wg_delay *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->site << 8 | x->agent) - (y->site << 8 | y->agent);
}

#endif
