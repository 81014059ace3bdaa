/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gdb remote server: packets in gdb.c, the description of the machine in gdb_target.c, the connection in gdb_link.c.
 */
#ifndef WG_DEBUG_GDB_H
#define WG_DEBUG_GDB_H

#include "debug/debug.h"

enum { WG_GDB_PACKET = 0x4000 }; /* maximum bytes of a packet */

typedef enum wg_gdb_action {
    WG_GDB_NOTHING,
    WG_GDB_CONTINUE,
    WG_GDB_STEP,
    WG_GDB_BACK,
    WG_GDB_STEP_BACK
} wg_gdb_action;

typedef struct wg_gdb_breaks {
    uint32_t pc[WG_DEBUG_BREAKPOINTS];
    wg_watch watch[WG_DEBUG_WATCHES];
    unsigned pcs, watches;
} wg_gdb_breaks;

struct wg_gdb {
    wg_debug *d;
    wg_who who;           /* the thread for registers and memory */
    wg_who selected;      /* the thread that moves if gdb names none: it stopped last, or the user chose it */
    wg_gdb_action action; /* the action gdb waits for */
    bool step_alone;      /* gdb steps a thread over a breakpoint, and expects no stop of another one */
    bool postponed;       /* there was one in that step (wg_stops.other), … */
    uint64_t ended;       /* … which ended in this cycle */
    enum { WG_GDB_UNWATCHED, WG_GDB_WATCH_TOLD, WG_GDB_WATCH_REMOVED } watched; /* see act() */
    wg_gdb_breaks set;  /* breakpoints and watches of this gdb; they go when it leaves */
    wg_gdb_breaks gone; /* breakpoints that it has removed since it last continued */
    wg_text libraries;  /* ELF files with symbols, as XML */
    bool no_acks;
    int in, out; /* file descriptors */
    bool closed; /* the other side has disconnected */
    char buffer[1024];
    size_t used, filled; /* of the buffer */
};

/* Answers a packet; false: the debugger has left. */
bool wg_gdb_packet(wg_gdb *g, const char *text, wg_text *out);
/* Performs the action gdb waits for, and reports it. True: done; false: the time limit was reached. */
bool wg_gdb_act(wg_gdb *g);
void wg_gdb_send(wg_gdb *g, const char *text);
/* Removes the breakpoints and watches of this gdb, and lets everybody move. */
void wg_gdb_leave(wg_gdb *g);

/* Characters and numbers. A number at *text; advances past it. False if there is none, or it is too long. */
int wg_hex_digit(int c);
bool wg_hex_number(const char **text, uint64_t *value);
void wg_hex_bytes(wg_text *out, const void *bytes, size_t count);
bool wg_bytes_of(const char *text, uint8_t *bytes, size_t count); /* false if there are too few */

/* gdb_target.c. Threads: tile * 8 + agent + 1. */
uint64_t wg_gdb_thread(const wg_gdb *g, wg_who who);
bool wg_gdb_who(const wg_gdb *g, uint64_t thread, wg_who *who);
bool wg_gdb_qxfer(wg_gdb *g, const char *text, wg_text *out); /* false: it is none of these */
void wg_gdb_thread_list(wg_gdb *g, wg_text *out);
void wg_gdb_registers(wg_gdb *g, const char *text, wg_text *out);
void wg_gdb_read_memory(wg_gdb *g, const char *text, wg_text *out);
void wg_gdb_write_memory(wg_gdb *g, const char *text, wg_text *out);

#endif
