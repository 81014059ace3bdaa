/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a run writes while it lasts: --trace and --log. Their formats follow from their names; the tiles of a chip share
 * them.
 *
 *   FILE.json     Chrome's trace events      FILE.pftrace  Perfetto's protocol buffers
 *   FILE.kanata   the Konata viewer's log    FILE.zst      any of them, compressed
 */
#ifndef WG_CLI_OUTPUTS_H
#define WG_CLI_OUTPUTS_H

#include "cli/session.h"

typedef struct wg_outputs {
    wg_file_out trace_file, log_file;
    struct wg_packed *packed; /* NULL: the trace is not compressed */
    wg_trace_file *trace;     /* NULL: none */
    bool konata;
    wg_sink_out *log; /* NULL: none */
    wg_merge merge;   /* the log of a chip */
    bool several;     /* tiles */
} wg_outputs;

/* The names of the files; NULL: none. `several`: more than one tile will write. */
bool wg_outputs_open(wg_outputs *o, const char *trace, const char *log, wg_arch_id arch, bool several, wg_text *error);
/* Watches the session's device. */
bool wg_outputs_watch(wg_outputs *o, wg_session *s, const wg_trace_tile *tile, wg_text *error);
/* The run is over. First for each session, then for the files. */
void wg_outputs_end(wg_session *s, uint64_t cycle);
bool wg_outputs_close(wg_outputs *o, wg_text *error);
void wg_outputs_free(wg_outputs *o); /* files not closed are never created */

/* The trace's name: --trace, or the output of `waitgate trace`. NULL: none. */
const char *wg_trace_wanted(const wg_args *args);
bool wg_trace_is_konata(const char *path);

/* packed.c: compression with zstd. */
struct wg_packed *wg_packed_new(wg_file_out *to); /* NULL: out of memory, or this build has no zstd */
bool wg_packed_add(struct wg_packed *p, const void *bytes, size_t count);
bool wg_packed_end(struct wg_packed *p);
void wg_packed_free(struct wg_packed *p);

#endif
