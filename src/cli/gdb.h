/* SPDX-License-Identifier: Apache-2.0 */
/* The gdb remote server: gdb.c knows the packets, gdb_link.c the line that they come over, gdb_monitor.c the commands of ours. */
#ifndef WG_GDB_H
#define WG_GDB_H

#include "cli/debugger.h"

enum { WG_GDB_PACKET = 0x4000 };        /* bytes of a packet, at most */
#define WG_GDB_RAM UINT32_C(0xFFB00000) /* where every core sees its own RAM */

typedef struct wg_gdb {
    wg_debugger d;
    unsigned core; /* the one that registers and memory are about */
    wg_pause halt;
    bool no_acks;
    int in, out; /* file descriptors */
    bool closed; /* the other side is gone */
    char buffer[1024];
    size_t used, filled; /* of the buffer */
} wg_gdb;

/* Answers a packet; false: the debugger has left. */
bool wg_gdb_packet(wg_gdb *g, const char *text, wg_text *out);
void wg_gdb_send(wg_gdb *g, const char *text);
/* Speaks with one debugger until it leaves. */
void wg_gdb_serve(wg_gdb *g);
/* A command of `monitor`. */
void wg_gdb_monitor(wg_gdb *g, const char *command, wg_text *out);
/* The state of threads, cores and semaphores, as a hang report has it. */
void wg_gdb_state(wg_gdb *g, wg_text *out);

#endif
