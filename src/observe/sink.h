/* SPDX-License-Identifier: Apache-2.0 */
/* Output of the sinks: buffered, and passed to the caller's function. No sink opens a file. */
#ifndef WG_SINK_H
#define WG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef bool (*wg_sink_write)(void *user, const char *text, size_t bytes);

/* `failed` stays set after the first write that failed. */
typedef struct wg_sink_out {
    wg_sink_write write;
    void *write_user;
    bool failed;
    size_t used;
    char buffer[32768];
} wg_sink_out;
void wg_sink_printf(wg_sink_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wg_sink_much(wg_sink_out *out, const void *bytes, size_t count);
static inline void wg_sink_bytes(wg_sink_out *out, const void *bytes, size_t count)
{
    if (count > sizeof out->buffer - out->used) {
        wg_sink_much(out, bytes, count);
        return;
    }
    memcpy(out->buffer + out->used, bytes, count);
    out->used += count;
}
static inline void wg_sink_text(wg_sink_out *out, const char *text) { wg_sink_bytes(out, text, strlen(text)); }
void wg_sink_number(wg_sink_out *out, uint64_t value); /* decimal */
void wg_sink_json(wg_sink_out *out, const char *text); /* quoted and escaped */
void wg_sink_flush(wg_sink_out *out);

/* Texts for instructions, from the owner of the programs; any may be NULL. All return `room`. */
typedef struct wg_sink_words {
    /* The instruction as text; `agent` tells whether the word is a core's or a thread's. */
    const char *(*text)(void *user, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes);
    /* "kernel.cc:42 compute_tile", or "". */
    const char *(*place)(void *user, unsigned core, uint32_t pc, char *room, size_t bytes);
    /* The function around `pc` and its addresses [*low, *high), or "". */
    const char *(*function)(void *user, unsigned core, uint32_t pc, uint32_t *low, uint32_t *high, char *room,
                            size_t bytes);
    /* An agent's name; NULL: wg_agent_name(). */
    const char *(*agent)(void *user, unsigned agent);
    void *user;
} wg_sink_words;
const char *wg_sink_agent(const wg_sink_words *w, unsigned agent);
/* In valid UTF-8, whatever the file's name is. */
const char *wg_sink_place(const wg_sink_words *w, unsigned core, uint32_t pc, char *room, size_t bytes);
const char *wg_sink_insn(const wg_sink_words *w, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes);

#endif
