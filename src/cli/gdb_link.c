/* SPDX-License-Identifier: Apache-2.0 */
/* The line to gdb: packets with their checksums, and the command that listens. */
#include "cli/gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/commands.h"

enum { INTERRUPT = 3 };

static void write_all(wg_gdb *g, const char *bytes, size_t count)
{
    while (count && !g->closed) {
        ssize_t n = write(g->out, bytes, count);
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

/* The next byte; -1 when the other side is gone. */
static int next_byte(wg_gdb *g)
{
    if (g->used == g->filled) {
        ssize_t n;
        do
            n = read(g->in, g->buffer, sizeof g->buffer);
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
    /* Until acknowledgements are switched off, a packet is sent again when the other side says so; three times are enough. */
    for (unsigned tries = 0; tries < 3 && !g->closed; tries++) {
        write_all(g, wg_text_of(&packet), packet.size);
        if (g->no_acks)
            break;
        int c = next_byte(g);
        while (c >= 0 && c != '+' && c != '-' && c != '$')
            c = next_byte(g);
        if (c == '$')
            g->used--; /* it goes on without one */
        if (c != '-')
            break;
    }
    wg_text_free(&packet);
}

static int hex_value(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The next packet; false: the other side is gone. What is damaged or too long is asked for again. */
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
        bool good = hex_value(high) >= 0 && hex_value(low) >= 0 &&
                    (unsigned)(hex_value(high) << 4 | hex_value(low)) == (sum & 0xFF) && length < WG_GDB_PACKET;
        if (!g->no_acks)
            write_all(g, good ? "+" : "-", 1);
        if (good)
            return true;
        if (g->closed)
            return false;
    }
}

/* While the machine runs: has an interrupt come, or is the other side gone? */
static bool interrupted(void *user)
{
    wg_gdb *g = user;
    struct pollfd ready = {.fd = g->in, .events = POLLIN};
    while (g->used < g->filled)
        if (g->buffer[g->used++] == INTERRUPT)
            return true;
    if (poll(&ready, 1, 0) <= 0)
        return false;
    int c = next_byte(g);
    return c < 0 || c == INTERRUPT;
}

void wg_gdb_serve(wg_gdb *g)
{
    char packet[WG_GDB_PACKET + 1];
    bool stays = true;
    g->d.interrupted = interrupted;
    g->d.user = g;
    while (stays && receive(g, packet)) {
        wg_text answer = {0};
        stays = wg_gdb_packet(g, packet, &answer);
        wg_text_free(&answer);
    }
}

/* ---- The command ---- */

static bool serve_stdio(wg_gdb *g)
{
    g->in = STDIN_FILENO;
    g->out = STDOUT_FILENO;
    wg_gdb_serve(g);
    return true;
}

/* One debugger after the other: whoever leaves may come back. */
static bool serve_port(wg_gdb *g, uint16_t port, wg_text *error)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (listener >= 0)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
        wg_textf(error, "waitgate: --listen: port %u: %s\n", port, strerror(errno));
        if (listener >= 0)
            close(listener);
        return false;
    }
    fprintf(stderr, "waitgate: gdb may connect: target remote 127.0.0.1:%u (Ctrl-C ends this)\n",
            ntohs(address.sin_port));
    wg_interrupt_begin();
    while (!wg_interrupted()) {
        int line = accept(listener, NULL, NULL);
        if (line < 0 && errno == EINTR)
            continue;
        if (line < 0) {
            wg_textf(error, "waitgate: --listen: %s\n", strerror(errno));
            break;
        }
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        g->in = g->out = line;
        g->no_acks = g->closed = false;
        g->used = g->filled = 0;
        wg_gdb_serve(g);
        close(line);
    }
    bool ok = wg_interrupted();
    wg_interrupt_end();
    close(listener);
    return ok;
}

int wg_command_gdb(const wg_args *args, wg_text *out, wg_text *error)
{
    (void)out;
    wg_session s;
    wg_gdb g = {.core = WG_CORE_B};
    uint64_t port = 3333, history = UINT64_C(512) << 20;
    const char *listen_on = args->value[WG_OPT_LISTEN];
    bool stdio = listen_on && strcmp(listen_on, "stdio") == 0, ok = false;
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_chip_file(args->file[i])) {
            wg_textf(error, "waitgate: gdb takes the programs of one tile, not a chip file\n");
            return WG_EXIT_ERROR;
        }
    if ((listen_on && !stdio && (!wg_parse_number(listen_on, strlen(listen_on), &port) || port > UINT16_MAX))) {
        wg_textf(error, "waitgate: --listen: `%s` is neither a port nor `stdio`\n", listen_on);
        return WG_EXIT_ERROR;
    }
    if (!wg_option_number(args, WG_OPT_HISTORY, "history", &history, error))
        return WG_EXIT_ERROR;
    if (wg_session_open(&s, args, error)) {
        signal(SIGPIPE, SIG_IGN);
        while (g.core < WG_CORES - 1 && !(s.release >> g.core & 1)) /* the first that has a program */
            g.core++;
        ok = wg_debug_open(&g.d, &s, history);
        if (!ok)
            wg_textf(error, "waitgate: out of memory\n");
        ok = ok && (stdio ? serve_stdio(&g) : serve_port(&g, (uint16_t)port, error));
        wg_debug_close(&g.d);
    }
    wg_session_close(&s);
    return ok ? WG_EXIT_DONE : WG_EXIT_ERROR;
}
