/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the page of `waitgate report`, for a tile alone (page.c) and for a chip (chip_page.c). */
#ifndef WG_CLI_PAGE_H
#define WG_CLI_PAGE_H

#include "cli/session.h"

enum { WG_PAGE_BOXES = 120000, WG_PAGE_SOURCES = 48 }; /* boxes on a page unless --boxes is given: some 3 MB */

typedef struct wg_page_boxes {
    wg_json *j;
    wg_cost_table kinds;
    unsigned row[WG_TRACKS]; /* index of the track on the page */
} wg_page_boxes;

/* Files whose text is on the page. */
typedef struct wg_page_sources {
    const char *seen[WG_PAGE_SOURCES];
    size_t count;
} wg_page_sources;

/* The first cycle from which the links are known, and the number of those between two cycles. */
uint64_t wg_page_reach(const wg_session *s);
size_t wg_page_links(const wg_chain *c, uint64_t from, uint64_t to);
/* "tracks", and the kinds of their boxes in b->kinds; "kinds" */
void wg_page_tracks(const wg_session *s, wg_page_boxes *b, uint64_t from, uint64_t to);
void wg_page_kinds(wg_session *s, const wg_page_boxes *b);
/* "causes" and "units": their names */
void wg_page_causes(wg_json *j);
/* The text of files that the kinds name, unless they are there already. */
bool wg_page_add_sources(wg_session *s, const wg_cost_table *kinds, wg_page_sources *sources, wg_json *j,
                         wg_text *error);
/* "why", if --of asks for it: the command why runs the program again. */
bool wg_page_why(const wg_args *args, wg_json *j, wg_text *error);
/* Writes the file, and says so in `out`. */
bool wg_page_file(const wg_args *args, const char *title, const wg_text *data, wg_text *out, wg_text *error);

#endif
