/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in the Chrome trace-event JSON that Perfetto and chrome://tracing open. One cycle is one microsecond of the
 * viewer's time.
 *
 * Facts: the trace-event format's public description.
 */
#include "observe/trace_file.h"

#include <waitgate/waitgate.h>

/* Readers in JavaScript keep whole numbers exactly up to here; larger ones are written as text. */
static const uint64_t MOST_NUMBER = UINT64_C(1) << 53;

static void open_record(wg_trace_file *f, const char *phase, const char *name, wg_trace_at at)
{
    wg_sink_text(&f->out, f->begun ? ",\n{\"ph\":\"" : "{\"ph\":\"");
    wg_sink_text(&f->out, phase);
    wg_sink_text(&f->out, "\",\"pid\":");
    wg_sink_number(&f->out, at.pid);
    wg_sink_text(&f->out, ",\"tid\":");
    wg_sink_number(&f->out, at.tid);
    wg_sink_text(&f->out, ",\"name\":");
    wg_sink_json(&f->out, name);
    f->begun = true;
}

static void time_of(wg_trace_file *f, uint64_t cycle)
{
    wg_sink_text(&f->out, ",\"ts\":");
    wg_sink_number(&f->out, cycle);
}

static void json_begin(wg_trace_file *f, const char *arch)
{
    wg_sink_printf(&f->out,
                   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"waitgate %s\",\"arch\":\"%s\","
                   "\"time\":\"one cycle is one microsecond\"},\"traceEvents\":[\n",
                   wg_version(), arch);
}

static void named(wg_trace_file *f, const char *what, wg_trace_at at, const char *name)
{
    open_record(f, "M", what, at);
    wg_sink_text(&f->out, ",\"args\":{\"name\":");
    wg_sink_json(&f->out, name);
    wg_sink_text(&f->out, "}}");
}

static void json_process(wg_trace_file *f, unsigned pid, const char *name)
{
    named(f, "process_name", (wg_trace_at){pid, 0}, name);
    open_record(f, "M", "process_sort_index", (wg_trace_at){pid, 0});
    wg_sink_printf(&f->out, ",\"args\":{\"sort_index\":%u}}", pid);
}

static void json_track(wg_trace_file *f, wg_trace_at at, const char *name)
{
    named(f, "thread_name", at, name);
    open_record(f, "M", "thread_sort_index", at);
    wg_sink_printf(&f->out, ",\"args\":{\"sort_index\":%u}}", at.tid);
}

static void json_slice(wg_trace_file *f, const wg_trace_box *box)
{
    open_record(f, "X", box->name, box->at);
    wg_sink_text(&f->out, ",\"cat\":\"");
    wg_sink_text(&f->out, box->category);
    wg_sink_text(&f->out, "\"");
    time_of(f, box->from);
    wg_sink_text(&f->out, ",\"dur\":");
    wg_sink_number(&f->out, box->to - box->from);
    if (box->arrow_out || box->arrow_in) {
        wg_sink_text(&f->out, ",\"bind_id\":\"");
        wg_sink_number(&f->out, box->arrow_out ? box->arrow_out : box->arrow_in);
        wg_sink_text(&f->out, box->arrow_out ? "\",\"flow_out\":true" : "\",\"flow_in\":true");
    }
    wg_sink_text(&f->out, ",\"args\":{");
    for (unsigned i = 0; i < box->args; i++) {
        wg_sink_text(&f->out, i ? ",\"" : "\"");
        wg_sink_text(&f->out, box->arg[i].key);
        wg_sink_text(&f->out, "\":");
        if (box->arg[i].text)
            wg_sink_json(&f->out, box->arg[i].text);
        else if (box->arg[i].number > MOST_NUMBER)
            wg_sink_printf(&f->out, "\"%llu\"", (unsigned long long)box->arg[i].number);
        else
            wg_sink_number(&f->out, box->arg[i].number);
    }
    wg_sink_text(&f->out, "}}");
}

static void json_instant(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle)
{
    open_record(f, "i", name, at);
    wg_sink_text(&f->out, ",\"s\":\"t\"");
    time_of(f, cycle);
    wg_sink_text(&f->out, "}");
}

static void json_counter(wg_trace_file *f, wg_trace_at at, const char *name)
{
    (void)f;
    (void)at;
    (void)name; /* a counter is known by its name */
}

static void json_value(wg_trace_file *f, wg_trace_at at, const char *name, uint64_t cycle, uint64_t value)
{
    open_record(f, "C", name, (wg_trace_at){at.pid, 0});
    time_of(f, cycle);
    wg_sink_text(&f->out, ",\"args\":{\"value\":");
    wg_sink_number(&f->out, value);
    wg_sink_text(&f->out, "}}");
}

static void flow_end(wg_trace_file *f, const char *phase, const char *name, wg_trace_at at, uint64_t cycle)
{
    open_record(f, phase, name, at);
    wg_sink_text(&f->out, ",\"cat\":\"flow\",\"id\":");
    wg_sink_number(&f->out, f->flows);
    time_of(f, cycle);
    wg_sink_text(&f->out, *phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void json_arrow(wg_trace_file *f, const char *name, wg_trace_at from, uint64_t from_cycle, wg_trace_at to,
                       uint64_t to_cycle)
{
    flow_end(f, "s", name, from, from_cycle);
    flow_end(f, "f", name, to, to_cycle);
}

static void json_end(wg_trace_file *f) { wg_sink_text(&f->out, "\n]}\n"); }

const wg_trace_format wg_trace_json = {json_begin,   json_process, json_track, json_slice, json_instant,
                                       json_counter, json_value,   json_arrow, json_end};

void wg_trace_file_begin(wg_trace_file *f, const wg_trace_format *format, const char *arch)
{
    f->format = format;
    f->flows = 0;
    f->names = 0;
    f->begun = false;
    format->begin(f, arch);
}

void wg_trace_file_end(wg_trace_file *f)
{
    f->format->end(f);
    wg_sink_flush(&f->out);
}
