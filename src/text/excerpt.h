/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of a report, with a mark under the position. */
#ifndef WG_EXCERPT_H
#define WG_EXCERPT_H

#include <waitgate/report.h>

#include "text/text.h"

enum { WG_SNIPPET = 200 }; /* room for a source line; a longer one is cut */

/* Debug information may name anything: only regular files of moderate size are read. */
bool wg_is_source(const char *file);

/* The file that was read last, so that many reports about one file read it once. */
typedef struct wg_excerpts {
    char *file;
    uint8_t *text; /* NULL: it cannot be read */
    size_t size;
} wg_excerpts;
void wg_excerpts_free(wg_excerpts *e);

/*
 * The line, printable: tabs and control characters become spaces. "" if the file cannot be read or has no such line. Returns
 * `room`, which has WG_SNIPPET bytes.
 */
const char *wg_excerpt_line(wg_excerpts *e, const wg_source *source, char *room);
/*
 * "   42 |     TTI_SEMPOST(1);" and "      |     ^ sempost 2", the instruction, which may be "". Nothing if there is no line.
 * A chain of inlined calls follows, if it is longer than the location can show.
 */
void wg_excerpt_text(wg_excerpts *e, const wg_source *source, const char *instruction, wg_text *out);

#endif
