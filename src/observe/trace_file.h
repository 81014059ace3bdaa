/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a file: processes, tracks, slices, arrows and counters, in the format of one viewer. The traces of all tiles of
 * a chip (trace.c) write into one file, each as a process.
 *
 *   wg_trace_json    Chrome's trace events in JSON (trace_json.c)
 *   wg_trace_proto   Perfetto's protocol buffers (trace_proto.c): smaller, and read as a stream
 */
#ifndef WG_TRACE_FILE_H
#define WG_TRACE_FILE_H

#include "observe/sink.h"

/* A track: numbers of its process and within it. */
typedef struct wg_trace_at {
    unsigned pid, tid;
} wg_trace_at;

/* A detail of a slice. */
typedef struct wg_trace_arg {
    const char *key;
    const char *text; /* NULL: the number */
    uint64_t number;
} wg_trace_arg;

typedef struct wg_trace_box {
    wg_trace_at at;
    const char *name, *category;
    uint64_t from, to; /* [from, to) */
    const wg_trace_arg *arg;
    unsigned args;
    uint64_t arrow_out, arrow_in; /* the arrow that leads from it, or to it; 0: none. Not both */
} wg_trace_box;

/* Texts that are written once and then referred to by a number. */
enum { WG_TRACE_NAMES = 4096, WG_TRACE_NAME_BYTES = 116 };
typedef struct wg_trace_name {
    uint32_t number; /* 0: none */
    uint32_t list;
    char text[WG_TRACE_NAME_BYTES];
} wg_trace_name;

typedef struct wg_trace_file {
    const struct wg_trace_format *format;
    wg_sink_out out;
    uint64_t flows;                     /* arrows so far */
    uint8_t traced[256];                /* tiles of the grid that write into this file */
    bool begun;                         /* JSON: a record was written; protobuf: a packet */
    uint32_t names;                     /* protobuf */
    wg_trace_name name[WG_TRACE_NAMES]; /* protobuf: by a hash of the text */
} wg_trace_file;

/* All texts are copied. Successive `cycle`s need not increase. */
typedef struct wg_trace_format {
    void (*begin)(wg_trace_file *f, const char *arch);
    void (*process)(wg_trace_file *f, unsigned pid, const char *name);
    void (*track)(wg_trace_file *f, wg_trace_at at, const char *name);
    void (*slice)(wg_trace_file *f, const wg_trace_box *box);
    void (*instant)(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle);
    /* A counter is named once by its number within the process; then its values follow. */
    void (*counter)(wg_trace_file *f, wg_trace_at at, const char *name);
    void (*value)(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle, uint64_t value);
    /* An arrow between the slices of these tracks in these cycles. */
    void (*arrow)(wg_trace_file *f, const char *name, wg_trace_at from, uint64_t from_cycle, wg_trace_at to,
                  uint64_t to_cycle);
    void (*end)(wg_trace_file *f);
} wg_trace_format;
extern const wg_trace_format wg_trace_json, wg_trace_proto;

void wg_trace_file_begin(wg_trace_file *f, const wg_trace_format *format, const char *arch);
void wg_trace_file_end(wg_trace_file *f);

#endif
