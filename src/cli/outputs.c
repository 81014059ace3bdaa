/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "machine/device.h"

static bool ends_in(const char *path, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length > n && memcmp(path + length - n, suffix, n) == 0;
}

static size_t without_zst(const char *path)
{
    size_t n = strlen(path);
    return ends_in(path, n, ".zst") ? n - 4 : n;
}

static bool has_ending(const char *path, size_t length)
{
    while (length && path[length - 1] != '/' && path[length - 1] != '.')
        length--;
    return length && path[length - 1] == '.';
}

bool wg_trace_is_konata(const char *path) { return path && ends_in(path, without_zst(path), ".kanata"); }

const char *wg_trace_wanted(const wg_args *args)
{
    if (args->command != WG_CMD_TRACE)
        return args->value[WG_OPT_TRACE_FILE];
    return args->value[WG_OPT_OUTPUT] ? args->value[WG_OPT_OUTPUT] : "trace.json";
}

static bool out_of_memory(wg_text *error)
{
    wg_textf(error, "waitgate: out of memory\n");
    return false;
}

static bool write_file(void *user, const char *text, size_t bytes) { return wg_file_add(user, text, bytes); }
static bool write_packed(void *user, const char *text, size_t bytes) { return wg_packed_add(user, text, bytes); }

static bool begin_file(wg_file_out *file, const char *path, wg_sink_out *out, wg_text *error)
{
    char message[512];
    if (!wg_file_begin(file, path, message, sizeof message)) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    out->write = write_file;
    out->write_user = file;
    return true;
}

static bool open_trace(wg_outputs *o, const char *path, wg_arch_id arch, wg_text *error)
{
    const size_t length = without_zst(path);
    if (!(o->trace = wg_calloc(1, sizeof *o->trace)))
        return out_of_memory(error);
    if (!begin_file(&o->trace_file, path, &o->trace->out, error))
        return false;
    if (path[length]) {
        if (!(o->packed = wg_packed_new(&o->trace_file))) {
            wg_textf(error, "waitgate: %s: this build cannot compress; leave out .zst\n", path);
            return false;
        }
        o->trace->out.write = write_packed;
        o->trace->out.write_user = o->packed;
    }
    o->konata = wg_trace_is_konata(path);
    if (!o->konata && has_ending(path, length) && !ends_in(path, length, ".pftrace") &&
        !ends_in(path, length, ".json")) {
        wg_textf(error, "waitgate: %s: a trace's name ends in .json, .pftrace or .kanata, and .zst after that\n", path);
        return false;
    }
    if (!o->konata)
        wg_trace_file_begin(o->trace, ends_in(path, length, ".pftrace") ? &wg_trace_proto : &wg_trace_json,
                            wg_arch_of(arch)->name);
    return true;
}

bool wg_outputs_open(wg_outputs *o, const char *trace, const char *log, wg_arch_id arch, bool several, wg_text *error)
{
    o->several = several;
    if (trace && !open_trace(o, trace, arch, error))
        return false;
    if (!log)
        return true;
    if (!(o->log = wg_calloc(1, sizeof *o->log)))
        return out_of_memory(error);
    o->merge.out = o->log;
    return begin_file(&o->log_file, log, o->log, error);
}

/* ---- Words ---- */

/* "kernel.c:42 compute_tile" */
static const char *place(void *user, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    wg_source source = {0};
    if (!wg_session_source(user, core, pc, &source) || !source.file)
        return wg_place(user, core, pc, room, bytes);
    const char *slash = strrchr(source.file, '/'), *function = source.calls ? source.call[0].function : source.function;
    snprintf(room, bytes, "%s:%u%s%s", slash ? slash + 1 : source.file, source.line, function ? " " : "",
             function ? function : "");
    return room;
}

/* The first address after a function or label. */
static uint32_t end_of(const wg_elf *elf, const wg_elf_symbol *s)
{
    if (s->bytes)
        return s->address + s->bytes;
    for (size_t i = 0; i < wg_elf_symbols(elf); i++)
        if (wg_elf_symbol_at(elf, i)->address > s->address)
            return wg_elf_symbol_at(elf, i)->address;
    return UINT32_MAX;
}

static const char *function(void *user, unsigned core, uint32_t pc, uint32_t *low, uint32_t *high, char *room,
                            size_t bytes)
{
    const wg_session *s = user;
    uint32_t address;
    const wg_elf *elf = wg_session_elf(s, core, pc, &address);
    const wg_elf_symbol *symbol = elf ? wg_elf_function(elf, address) : NULL;
    if (bytes)
        room[0] = 0;
    if (!elf && !s->host_elf) { /* no address is known */
        *low = 0;
        *high = UINT32_MAX;
    }
    if (!symbol)
        return room;
    *low = symbol->address + (pc - address);
    *high = end_of(elf, symbol);
    *high = *high == UINT32_MAX ? *high : *high + (pc - address);
    snprintf(room, bytes, "%s", symbol->name);
    return room;
}

static const char *agent_name(void *user, unsigned agent)
{
    const wg_session *s = user;
    return wg_agent_name_of(s->dev, agent);
}

/* ---- Watching ---- */

bool wg_outputs_watch(wg_outputs *o, wg_session *s, const wg_trace_tile *tile, wg_text *error)
{
    const wg_sink_words words = {wg_insn_text, place, function, agent_name, s};
    const uint64_t now = wg_cycle(s->dev);
    if ((o->log && !(s->log = wg_calloc(1, sizeof *s->log))) ||
        (o->trace && !o->konata && !(s->trace = wg_calloc(1, sizeof *s->trace))) ||
        (o->konata && !(s->konata = wg_calloc(1, sizeof *s->konata))))
        return out_of_memory(error);
    if (s->log) {
        *s->log = (wg_commit_log){.out = o->log, .words = words, .number = tile->number};
        if (o->several) {
            s->log->merge = &o->merge;
            s->log->tile = strrchr(tile->name, ' ') ? strrchr(tile->name, ' ') + 1 : tile->name;
        }
    }
    if (s->trace) {
        s->trace->file = o->trace;
        s->trace->words = words;
        s->trace->tile = *tile;
        wg_trace_begin(s->trace, now, wg_idle_cores(s));
    }
    if (s->konata) {
        s->konata->out = &o->trace->out;
        s->konata->words = words;
        wg_konata_begin(s->konata, now);
    }
    return (!s->log || wg_session_observe(s, WG_COMMIT_LOG_EVENTS, wg_commit_log_event, s->log, error)) &&
           (!s->trace || wg_session_observe(s, WG_TRACE_EVENTS, wg_trace_event, s->trace, error)) &&
           (!s->konata || wg_session_observe(s, WG_KONATA_EVENTS, wg_konata_event, s->konata, error));
}

void wg_outputs_end(wg_session *s, uint64_t cycle)
{
    if (s->trace)
        wg_trace_end(s->trace, cycle);
    if (s->konata)
        wg_konata_end_of_run(s->konata, cycle);
}

static bool commit(wg_file_out *file, wg_text *error)
{
    char message[512];
    if (wg_file_commit(file, message, sizeof message))
        return true;
    wg_textf(error, "waitgate: %s\n", message);
    return false;
}

bool wg_outputs_close(wg_outputs *o, wg_text *error)
{
    bool ok = true;
    if (o->trace) {
        if (!o->konata)
            wg_trace_file_end(o->trace);
        if (o->packed && !o->trace->out.failed && !wg_packed_end(o->packed) && !o->trace_file.failure) {
            wg_textf(error, "waitgate: the trace could not be compressed\n");
            return false;
        }
        ok = commit(&o->trace_file, error);
    }
    if (o->log && ok) {
        wg_merge_end(&o->merge);
        wg_sink_flush(o->log);
        ok = o->merge.failed ? out_of_memory(error) : commit(&o->log_file, error);
    }
    return ok;
}

void wg_outputs_free(wg_outputs *o)
{
    if (!o)
        return;
    wg_file_abandon(&o->log_file);
    wg_file_abandon(&o->trace_file);
    wg_packed_free(o->packed);
    wg_merge_free(&o->merge);
    free(o->trace);
    free(o->log);
    memset(o, 0, sizeof *o);
}
