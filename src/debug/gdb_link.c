/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to gdb: packets with their checksums. */
#include "debug/gdb.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INTERRUPT = 3 };

static void write_all(wg_gdb *g, const char *bytes, size_t count)
{
    while (count && !g->closed) {
        ssize_t n = send(g->out, bytes, count, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK)
            n = write(g->out, bytes, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            g->closed = true;
            return;
        }
        bytes += n;
        count -= (size_t)n;
    }
}

/* Does the host want this to end, as after Ctrl-C at its terminal? Then the connection is closed. */
static bool ends(wg_gdb *g)
{
    const wg_debug_desc *desc = &g->d->desc;
    g->closed |= desc->interrupted && desc->interrupted(desc->user);
    return g->closed;
}

/* The next byte; -1 if the other side has disconnected. */
static int next_byte(wg_gdb *g)
{
    if (g->used == g->filled) {
        ssize_t n;
        do
            n = ends(g) ? 0 : read(g->in, g->buffer, sizeof g->buffer);
        while (n < 0 && errno == EINTR);
        if (n <= 0) {
            g->closed = true;
            return -1;
        }
        g->used = 0;
        g->filled = (size_t)n;
    }
    return (unsigned char)g->buffer[g->used++];
}

void wg_gdb_send(wg_gdb *g, const char *text)
{
    wg_text packet = {0};
    unsigned sum = 0;
    wg_textf(&packet, "$");
    for (const char *at = text; *at; at++) {
        if (strchr("#$}*", *at)) {
            const char escaped[2] = {'}', (char)(*at ^ 0x20)};
            wg_text_add(&packet, escaped, 2);
            sum += (unsigned)'}' + (unsigned char)escaped[1];
        } else {
            wg_text_add(&packet, at, 1);
            sum += (unsigned char)*at;
        }
    }
    wg_textf(&packet, "#%02x", sum & 0xFF);
    /* Until acknowledgements are switched off, a packet is resent when the other side requests it, three times at most. */
    for (unsigned tries = 0; tries < 3 && !g->closed; tries++) {
        write_all(g, wg_text_of(&packet), packet.size);
        if (g->no_acks)
            break;
        int c = next_byte(g);
        while (c >= 0 && c != '+' && c != '-' && c != '$')
            c = next_byte(g);
        if (c == '$')
            g->used--; /* it continues without an acknowledgement */
        if (c != '-')
            break;
    }
    wg_text_free(&packet);
}

/* The next packet; false: the other side has disconnected. Requests a damaged or too long packet again. */
static bool receive(wg_gdb *g, char *packet)
{
    for (;;) {
        size_t length = 0;
        unsigned sum = 0;
        int c = next_byte(g);
        while (c >= 0 && c != '$')
            c = next_byte(g); /* acknowledgements, an interrupt while nothing runs */
        while (c >= 0 && (c = next_byte(g)) >= 0 && c != '#') {
            if (c == '$') { /* a new one begins */
                length = 0;
                sum = 0;
                continue;
            }
            sum += (unsigned)c;
            if (length < WG_GDB_PACKET)
                packet[length++] = (char)c;
        }
        int high = c < 0 ? -1 : next_byte(g), low = high < 0 ? -1 : next_byte(g);
        if (low < 0)
            return false;
        packet[length] = 0;
        bool good = wg_hex_digit(high) >= 0 && wg_hex_digit(low) >= 0 &&
                    (unsigned)(wg_hex_digit(high) << 4 | wg_hex_digit(low)) == (sum & 0xFF) && length < WG_GDB_PACKET;
        if (!g->no_acks)
            write_all(g, good ? "+" : "-", 1);
        if (good)
            return true;
        if (g->closed)
            return false;
    }
}

/* While the machine runs: has an interrupt arrived, has the other side disconnected, or does the host end this? */
static bool interrupted(void *user)
{
    wg_gdb *g = user;
    struct pollfd ready = {.fd = g->in, .events = POLLIN};
    if (ends(g))
        return true;
    while (g->used < g->filled)
        if (g->buffer[g->used++] == INTERRUPT)
            return true;
    if (poll(&ready, 1, 0) <= 0)
        return false;
    int c = next_byte(g);
    return c < 0 || c == INTERRUPT;
}

/* Answers packets until gdb requests an action; false: it has disconnected. */
static bool listen_to(wg_gdb *g)
{
    char packet[WG_GDB_PACKET + 1];
    while (g->action == WG_GDB_NOTHING) {
        wg_text answer = {0};
        bool stays = receive(g, packet) && wg_gdb_packet(g, packet, &answer);
        wg_text_free(&answer);
        if (!stays)
            return false;
    }
    return true;
}

void wg_gdb_serve(wg_gdb *g)
{
    while (!g->closed && listen_to(g))
        wg_gdb_act(g);
}

bool wg_gdb_advance(wg_gdb *g, uint64_t cycle)
{
    bool stays = true;
    g->d->limit = cycle;
    for (bool going = true; going && stays;) {
        stays = !g->closed && listen_to(g);
        going = stays && wg_gdb_act(g);
    }
    g->d->limit = UINT64_MAX;
    return stays && !g->closed;
}

wg_status wg_gdb_open(wg_debug *d, int in, int out, wg_gdb **server)
{
    wg_gdb *g = calloc(1, sizeof *g);
    *server = g;
    if (!g)
        return WG_ERR_NO_MEMORY;
    g->d = d;
    g->in = in;
    g->out = out;
    g->who = g->selected = wg_debug_first(d);
    d->interrupted = interrupted;
    d->interrupted_user = g;
    return WG_OK;
}

void wg_gdb_close(wg_gdb *g)
{
    if (g) {
        wg_text_free(&g->libraries);
        wg_gdb_leave(g);
        g->d->interrupted = g->d->desc.interrupted;
        g->d->interrupted_user = g->d->desc.user;
    }
    free(g);
}
