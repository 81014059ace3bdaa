/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows measured on a card that kernels of this repository can reproduce.
 *
 * A group is one function in its own file, rows_<group>.c, named in silicon.def:
 *
 *     void wg_silicon_noc(struct wg_silicon *s)
 *     {
 *         wg_silicon_read(s, "noc.csv", line);     // the card's rows: line() runs each and calls wg_silicon_add()
 *     }
 *
 * Rows of one group and architecture are scored together. The driver (silicon.c) prints and scores; a group only adds.
 */
#ifndef SILICON_H
#define SILICON_H

#include <stdbool.h>
#include <waitgate/waitgate.h>

struct wg_silicon;

typedef struct wg_silicon_row {
    const char *group; /* a literal */
    const char *name;  /* copied */
    wg_arch_id arch;
    double card, model; /* in the same unit */
    const char *why;    /* a literal: why the row may be off; NULL: unknown */
} wg_silicon_row;

void wg_silicon_add(struct wg_silicon *s, const wg_silicon_row *row);

/*
 * Calls line() for every line of bench/silicon/<file> after the heading, split at its commas. Ends the program if there
 * is no such file, or a line does not have `fields` of them.
 */
void wg_silicon_read(struct wg_silicon *s, const char *file, unsigned fields,
                     void (*line)(struct wg_silicon *s, char **field, void *user), void *user);
/* Calls work(user, i) for all i < n, on two host threads. */
void wg_silicon_each(unsigned n, void (*work)(void *user, unsigned i), void *user);
wg_arch_id wg_silicon_arch(const char *name); /* "bh" or "wh" */

#define GROUP(name) void wg_silicon_##name(struct wg_silicon *s);
#include "silicon.def"
#undef GROUP

#endif
