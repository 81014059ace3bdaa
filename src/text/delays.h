/* SPDX-License-Identifier: Apache-2.0 */
/* Delays as text: SITE:AGENT:EVENT:CYCLES, in a chip with @X-Y for the tile, separated by commas; `none` is the empty list. */
#ifndef WG_CLI_DELAYS_H
#define WG_CLI_DELAYS_H

#include "explain/exploration.h"
#include "text/text.h"

typedef struct wg_delay_list {
    wg_delay *item;
    size_t count, room;
} wg_delay_list;

bool wg_delay_add(wg_delay_list *list, wg_delay delay); /* false: out of memory */
void wg_delays_free(wg_delay_list *list);
/* False, with a sentence in `error`, if the text is not such a list. `of_chip`: every delay has a tile; else none has. */
bool wg_delays_parse(const char *text, bool of_chip, wg_delay_list *list, wg_text *error);
void wg_delays_print(const wg_delay *delay, size_t count, wg_text *out);
/* The instruction of the event; false if it has none. */
bool wg_delay_insn(const wg_delay *delay, unsigned *thread, uint64_t *id);

#endif
